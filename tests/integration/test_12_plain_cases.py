"""Handed cases of plain HTTP: what servers do that proxies get wrong."""

import pathlib
import socket
import struct

import pytest

from support.plain import Client, Script, Site, Stream, get, ok

RECORDED = pathlib.Path(__file__).resolve().parents[1] / "data/clients"


@pytest.fixture
def site(gateway, server):
    return lambda answer=None, **more: Site(gateway, server, answer, **more)


def early(function):
    """Answers before it has read the body."""
    function.early = True
    return function


EXPECTS = ("Expect: 100-continue", "Content-Length: 300000")
BODY = b"b" * 300000


def test_PRO_21_the_server_says_continue(site):
    @early
    def answer(request, connection):
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        stream = Stream(connection)
        assert stream.body(request[0]) == BODY
        connection.sendall(ok())

    at = site(answer)
    with at.client() as client:
        client.send(get(at.url, *EXPECTS, method="PUT"))
        assert client.answer(interim=True).status == 100
        client.send(BODY)
        assert client.answer().status == 200
    assert b"Expect: 100-continue\r\n" in at.heads()[0]


def test_PRO_21_the_server_does_not_want_it(site):
    @early
    def answer(request, connection):
        connection.sendall(b"HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")

    at = site(answer)
    with at.client() as client:
        client.send(get(at.url, *EXPECTS, method="PUT"))
        answer = client.answer(interim=True)
        assert answer.status == 417 and answer.get("connection") == "close"
        # A body, or the next request: nobody could tell what comes now.
        assert client.is_closed()
    assert at.script.heard[0].endswith(b"\r\n\r\n")


def test_PRO_21_the_server_says_nothing(site):
    """The client does not wait for ever, and sends it; it passes."""
    at = site(lambda request, _: ok(b"%d" % len(request[1])))
    with at.client() as client:
        client.send(get(at.url, *EXPECTS, method="PUT"))
        client.send(BODY + get(at.url))
        assert client.answer().body == b"300000"
        assert client.answer().status == 200


def test_PRO_21_denied(site):
    at = site()
    with at.client() as client:
        answer = client.ask(get("http://evil.test/o", *EXPECTS, method="PUT"), interim=True)
        assert answer.status == 403 and client.is_closed()
    assert at.server.connections == 0


def test_PRO_21_as_recorded(site):
    recorded = (RECORDED / "curl-plain-put-expect.head").read_bytes()
    at = site(lambda request, _: ok(b"%d" % len(request[1])))
    url = f"localhost:{at.port}".encode()
    with at.client() as client:
        client.send(recorded.replace(b"up.example.test", url) + BODY)
        assert client.answer().body == b"300000"


def test_PRO_23_413_and_closed(site):
    """The answer arrives although the server has not read the body, and closes."""

    @early
    def answer(request, connection):
        stream = Stream(connection)
        stream.exactly(16384)
        connection.sendall(
            b"HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbig\n"
        )

    at = site(answer)
    body = bytes(3_000_000)
    with at.client() as client:
        client.send(get(at.url, f"Content-Length: {len(body)}", method="POST") + body)
        answer = client.answer()
        assert (answer.status, answer.body) == (413, b"big\n")
        assert answer.get("connection") != "close" or client.is_closed()


def test_PRO_23_200_and_reads_on(site):
    @early
    def answer(request, connection):
        if request[0].startswith(b"POST"):
            connection.sendall(ok(b"early"))
            stream = Stream(connection)
            stream.exactly(3_000_000)
            if stream.head() is None:
                return
        connection.sendall(ok(b"next"))

    at = site(answer)
    with at.client() as client:
        client.send(get(at.url, "Content-Length: 3000000", method="POST"))
        assert client.answer().body == b"early"
        client.send(bytes(3_000_000))
        # Whichever connection it goes by, it is answered.
        assert client.ask(get(at.url, method="PUT")).body == b"next"


BODILESS = {
    "HEAD": ("HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 1192\r\n\r\n", "1192"),
    "HEAD, chunked": ("HEAD", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", None),
    "HEAD, until close": ("HEAD", b"HTTP/1.1 200 OK\r\n\r\n", None),
    "304": ("GET", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "5"),
    "304, chunked": ("GET", b"HTTP/1.1 304 No\r\nTransfer-Encoding: chunked\r\n\r\n", None),
    "204": ("GET", b"HTTP/1.1 204 No Content\r\n\r\n", None),
    "204, length": ("GET", b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", None),
}


@pytest.mark.parametrize("kind", BODILESS)
def test_PRO_24_answers_without_a_body(site, kind):
    method, said, length = BODILESS[kind]
    at = site(lambda request, _: said if b"/first" in request[0] else ok())
    with at.client() as client:
        answer = client.ask(get(f"{at.url}/first", method=method), bodyless=True)
        assert answer.get("content-length") == length
        assert answer.get("transfer-encoding") is None
        assert client.ask(get(at.url)).body == b"ok\n"
    # Who says a body where none may be could send it nevertheless.
    assert at.server.connections == (2 if kind == "204, length" else 1)


WEBSOCKET = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")  # fmt: skip
SWITCH = (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
          b"Connection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
          b"\r\n")  # fmt: skip


def switching(first=b""):
    """Switches to a WebSocket that echoes."""

    @early
    def answer(request, connection):
        connection.sendall(SWITCH + first)
        while piece := connection.recv(65536):
            connection.sendall(piece)

    return answer


def test_PRO_26_the_first_frame_comes_with_the_101(site):
    """F15 too: what was read past the head belongs to the tunnel, both ways."""
    at = site(switching(b"\x81\x05hello"))
    with at.client() as client:
        client.send(get(f"{at.url}/ws", *WEBSOCKET) + b"\x81\x85maskedearly")
        answer = client.answer(interim=True)
        assert answer.status == 101 and answer.get("upgrade") == "websocket"
        assert answer.get("connection") == "Upgrade"
        assert client.stream.exactly(7) == b"\x81\x05hello"
        assert client.stream.exactly(13) == b"\x81\x85maskedearly"
        big = bytes(1_000_000)
        client.send(big)
        assert client.stream.exactly(len(big)) == big
        client.end()
        assert client.stream.rest() == b""
    head = at.heads()[0]
    for field in (b"Upgrade: websocket", b"Connection: Upgrade", b"Sec-WebSocket-Version: 13"):
        assert head.count(field + b"\r\n") == 1
    (line,) = at.weir.audit()
    assert line["front"] == "http" and line["bytes_down"] > 1_000_000
    assert line["close"] in ("client", "server")


def test_F14_an_upgrade_that_is_refused(site):
    at = site(ok(b"no\n", "Upgrade: websocket", "Connection: Upgrade"))
    with at.client() as client:
        answer = client.ask(get(at.url, *WEBSOCKET))
        assert (answer.status, answer.body) == (200, b"no\n")
        assert "upgrade" not in answer.names() and "connection" not in answer.names()
        assert client.ask(get(at.url)).status == 200


@pytest.mark.parametrize("fields", [
    (), ("Upgrade: h2c", "Connection: Upgrade"), ("Upgrade: websocket",),
    ("Connection: Upgrade",), ("Upgrade: websocket, h2c", "Connection: Upgrade"),
])  # fmt: skip
def test_F14_F16_a_101_that_was_not_asked_for(site, fields):
    at = site(SWITCH + b"\x81\x05hello")
    with at.client() as client:
        answer = client.ask(get(at.url, *fields))
        assert answer.status == 502 and b"hello" not in answer.raw
    assert b"pgrade" not in at.heads()[0]
    assert at.weir.audit()[0]["reason"] == "bad-response"


def test_F14_a_101_to_something_else(site):
    at = site(b"HTTP/1.1 101 Go\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n")
    with at.client() as client:
        assert client.ask(get(at.url, *WEBSOCKET)).status == 502


def test_PRO_32_apt_as_recorded(site):
    """Three requests on one connection, without a Connection field."""
    at = site(ok(b"{}\n"))
    recorded = (RECORDED / "apt-407.bin").read_bytes()
    url = f"localhost:{at.port}".encode()
    with at.client() as client:
        client.send(recorded.replace(b"deb.example.test", url))
        assert [client.answer().status for _ in range(3)] == [200] * 3
    heads = at.heads(3)
    assert [head.split(b"\r\n")[0] for head in heads] == [
        b"GET /debian/dists/stable/%s HTTP/1.1" % name
        for name in (b"InRelease", b"Release", b"Release.gpg")
    ]
    assert b"roxy-" not in b"".join(heads) and at.server.connections == 1


def test_PRO_36_a_body_that_ends_with_the_connection(site):
    """To HTTP/1.1 it can be said where it ends, and the connection goes on."""

    @early
    def answer(request, connection):
        connection.sendall(b"HTTP/1.0 200 OK\r\n\r\nto the ")
        connection.sendall(b"end\n")
        connection.shutdown(socket.SHUT_WR)

    at = site(answer)
    with at.client() as client:
        for _ in range(2):
            answer_ = client.ask(get(at.url))
            assert (answer_.body, answer_.version) == (b"to the end\n", "HTTP/1.1")
            assert answer_.get("transfer-encoding") == "chunked"
    with at.client() as client:
        answer_ = client.ask(get(at.url, version="HTTP/1.0"))
        assert answer_.body == b"to the end\n" == answer_.raw and client.is_closed()
    assert at.server.connections == 3


def test_PRO_36_http10_with_keep_alive(site):
    """It is not asked for, so its connection is not used again."""
    at = site(b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nok\n")
    with at.client() as client:
        assert [client.ask(get(at.url)).body for _ in range(3)] == [b"ok\n"] * 3
    assert at.server.connections == 3


def test_PRO_36_chunks_with_extension_and_trailer(site):
    """F23: neither reaches the client."""
    at = site(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
              b"5;ext=1\r\nhello\r\n0\r\nX-Sum: 5d41\r\nContent-Length: 9\r\n\r\n")  # fmt: skip
    with at.client() as client:
        for _ in range(2):
            answer = client.ask(get(at.url))
            assert answer.raw == b"5\r\nhello\r\n0\r\n\r\n"
            assert answer.names() == ["transfer-encoding"]
    assert at.server.connections == 1


def test_PRO_36_two_ways_to_say_how_long(site):
    at = site(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
              b"3\r\nok\n\r\n0\r\n\r\n")  # fmt: skip
    with at.client() as client:
        assert client.ask(get(at.url)).status == 502


def test_interim_answers_pass(site):
    at = site(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n"
              b"Link: </a>; rel=preload\r\nConnection: X\r\nX: y\r\n\r\n" + ok())  # fmt: skip
    with at.client() as client:
        client.send(get(at.url))
        assert client.answer(interim=True).status == 100
        hints = client.answer(interim=True)
        assert hints.status == 103 and hints.names() == ["link"]
        assert client.answer(interim=True).status == 200


def test_answers_that_break_off(site):
    """What is not whole must not look so: a reset, or a body that lacks its end."""

    def reset(connection):
        linger = struct.pack("ii", 1, 0)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

    for said, abrupt in [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", False),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", False),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", True),
    ]:
        @early
        def answer(request, connection, said=said, abrupt=abrupt):
            connection.sendall(said)
            if abrupt:
                reset(connection)

        at = site(answer)
        with at.client() as client:
            client.send(get(at.url))
            with pytest.raises((AssertionError, ConnectionResetError)):
                client.answer()


def test_server_that_says_nothing_and_goes(site):
    at = site(lambda *_: None)
    with at.client() as client:
        assert client.ask(get(at.url)).status == 502
        post = get(at.url, "Content-Length: 1", method="POST", body=b"x")
        assert client.ask(post).status == 502
    assert {line["reason"] for line in at.weir.audit(2)} == {"bad-response"}


def test_client_that_leaves_in_its_body(site):
    """The server must not take half a body for the whole."""
    at = site(ok())
    with at.client() as client:
        client.send(get(at.url, "Content-Length: 100", method="POST", body=b"half"))
    line = at.weir.audit()[0]
    assert line["reason"] == "client-left" and at.script.requests == []


def test_sessions_and_clients_leave_nothing(gateway, server):
    """D4: clients that go in the middle; the next ones are served."""
    script = Script(lambda request, _: ok(bytes(5_000_000)))
    port = server(script).port
    weir = gateway({"allowedDomains": [f"localhost:{port}"]})
    for _ in range(20):
        with Client(weir) as client:
            client.send(get(f"http://localhost:{port}/"))
            client.stream.head()
    with Client(weir) as client:
        assert len(client.ask(get(f"http://localhost:{port}/")).body) == 5_000_000
    assert len(weir.audit(21)) == 21
