"""A client of a plain request that leaves before it has its answer costs nothing any more;
one that has only said its last gets all of it."""

import socket
import struct
import threading

import pytest

from support.plain import PATIENCE, Client, Script, get, ok
from support.process import descriptors, settle
from support.wait import wait_until

HEAD = b"HTTP/1.1 200 OK\r\n\r\nstart"


class Slow:
    """A server that begins a body which its close ends, goes on with each release, and
    keeps whatever comes of it."""

    def __init__(self, server):
        self.steps = threading.Semaphore(0)
        self.script = Script(self.answer)
        self.server = server(self.script)
        self.port = self.server.port
        self.url = f"http://127.0.0.1:{self.port}/"

    def answer(self, request, connection):
        if request[0].startswith(b"GET /short"):
            return ok(b"ok\n", "Connection: close")
        connection.sendall(HEAD)
        for piece in (b" more", b" end"):
            assert self.steps.acquire(timeout=60)
            connection.sendall(piece)
        return None


@pytest.fixture
def slow(server):
    return Slow(server)


@pytest.fixture
def weir(gateway, slow):
    weir = gateway(
        {"allowedDomains": [f"127.0.0.1:{slow.port}"]}, limits={"idleSeconds": 3600}
    )
    with Client(weir) as client:
        assert client.ask(get(slow.url + "short", "Connection: close")).status == 200
        assert client.is_closed()
    return weir


def begin(weir, slow, more):
    """A client that has the start of the body, behind whose request `more` was sent."""
    client = Client(weir, PATIENCE)
    client.send(get(slow.url) + more)
    while b"start" not in client.stream.data:
        assert client.stream.more()
    return client


def few(slow):
    return get(slow.url) * 3


def many(slow):
    """More than is read ahead."""
    return get(slow.url, "X: " + "x" * 900) * 60


def reset(client):
    client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


@pytest.mark.parametrize("pipelined", [few, many])
@pytest.mark.parametrize("leave", [Client.close, reset], ids=["closes", "resets"])
def test_that_it_left_is_seen_at_once(weir, slow, pipelined, leave):
    """The server is silent afterwards; nothing waits until the tunnel is idle."""
    wait_until(lambda: len(weir.audit(0)) == 1, 20, weir.log)
    before = descriptors(weir.pid)
    client = begin(weir, slow, pipelined(slow))
    leave(client)
    if leave is Client.close:
        slow.steps.release()  # one write shows it
    settle(weir.pid, before)
    line = weir.audit(2)[1]
    assert (line["verdict"], line["close"]) == ("allow", "client")
    slow.steps.release(2)


@pytest.mark.parametrize("more", [b"", b"half of a head"])
def test_half_a_close_is_none(weir, slow, more):
    """It gets the whole answer, and that it is whole."""
    client = begin(weir, slow, more)
    client.end()
    for text in (b" more", b" end"):
        slow.steps.release()
        while text not in client.stream.data:
            assert client.stream.more()
    data = client.stream.rest()
    assert data.endswith(b"0\r\n\r\n") or b"0\r\n\r\nHTTP/1.1 400 " in data
    client.close()
    line = weir.audit(2)[1]
    assert line["verdict"] == "allow" and "close" not in line, line


def test_pipelined_and_half_closed(weir, slow):
    """All answers, of all that it had asked."""
    with Client(weir) as client:
        client.send(get(slow.url + "short") * 2 + get(slow.url))
        client.end()
        slow.steps.release(2)
        assert [client.answer().body for _ in range(2)] == [b"ok\n"] * 2
        assert client.answer().body == b"start more end"
        assert client.is_closed()
