"""A WebSocket server of the library that its clients use: says each message backwards."""

import asyncio
import threading


class WebSocketServer:
    """On a listening socket, over TLS when an ssl context is given."""

    def __init__(self, listener, context=None):
        self.loop = asyncio.new_event_loop()
        self.ended = self.loop.create_future()
        self.failure = None
        started = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(listener, context, started))
        self.thread.start()
        started.wait(30)
        if self.failure:
            raise self.failure

    def run(self, listener, context, started):
        async def serve():
            import websockets

            async def answer(channel, *_):
                async for message in channel:
                    await channel.send(message[::-1])

            async with websockets.serve(answer, sock=listener, ssl=context):
                started.set()
                await self.ended

        try:
            self.loop.run_until_complete(serve())
        except Exception as failure:  # noqa: BLE001
            self.failure = failure
        finally:
            started.set()
            self.loop.close()

    def close(self):
        self.loop.call_soon_threadsafe(self.ended.set_result, None)
        self.thread.join(30)
