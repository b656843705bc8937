"""websockets, through a proxy of the environment or of SOCKS_PROXY: URL, says what comes
back to "hello"."""

import asyncio
import base64
import os
import socket
import ssl
import sys
import urllib.parse

import websockets

target = urllib.parse.urlsplit(sys.argv[1])


def by_connect(proxy):
    sock = socket.create_connection((proxy.hostname, proxy.port), timeout=30)
    login = ""
    if proxy.username:
        pair = base64.b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
        login = f"Proxy-Authorization: Basic {pair}\r\n"
    name = f"{target.hostname}:{target.port}"
    sock.sendall(f"CONNECT {name} HTTP/1.1\r\nHost: {name}\r\n{login}\r\n".encode())
    head = b""
    while b"\r\n\r\n" not in head:
        head += sock.recv(1) or sys.exit("closed")
    if head.split(b" ")[1] != b"200":
        sys.exit(head.split(b"\r\n")[0].decode())
    return sock


def by_socks(proxy):
    import socks

    sock = socks.socksocket()
    sock.set_proxy(socks.SOCKS5, proxy.hostname, proxy.port, True, proxy.username, proxy.password)
    sock.settimeout(30)
    sock.connect((target.hostname, target.port))
    return sock


async def main():
    if "SOCKS_PROXY" in os.environ:
        sock = by_socks(urllib.parse.urlsplit(os.environ["SOCKS_PROXY"]))
    else:
        sock = by_connect(urllib.parse.urlsplit(os.environ["HTTP_PROXY"]))
    sock.setblocking(False)
    tls = {}
    if target.scheme == "wss":
        tls = {"ssl": ssl.create_default_context(), "server_hostname": target.hostname}
    async with websockets.connect(sys.argv[1], sock=sock, **tls) as channel:
        for word in ("hello", "x" * 300_000):
            await channel.send(word)
            assert await channel.recv() == word[::-1]
    print("hello from the socket")


asyncio.run(main())
