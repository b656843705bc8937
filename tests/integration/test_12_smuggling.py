"""What could be read in two ways by two readers, from clients and from servers: it goes
no further, and nothing behind it is taken for a message. Servers here record exact bytes.

Rows F1 to F8, F11, F22 of the attacks, for plain HTTP.
"""

import socket

import pytest

from support.plain import Client, Script, Site, Stream, get, ok

SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
def site(gateway, server):
    return lambda answer=None, **more: Site(gateway, server, answer, **more)


def post(url, *fields, behind=b"", **how):
    return get(url, *fields, method="POST", **how) + behind


def refused(at, data, statuses=(400,)):
    """One answer, the end, and nobody was called."""
    with at.client() as client:
        client.send(data)
        answer = client.answer()
        assert answer.status in statuses, (data[:200], answer.head)
        assert client.is_closed(), data[:200]
    assert at.server.connections == 0 and at.script.heard == []


BOTH_LENGTHS = [
    ("Content-Length: 4", "Transfer-Encoding: chunked"),
    ("Transfer-Encoding: chunked", "Content-Length: 4"),
    ("Content-Length: 0", "Transfer-Encoding: chunked"),
    ("content-length: 4", "TRANSFER-ENCODING: Chunked"),
]
LENGTHS = [
    ("Content-Length: 4", "Content-Length: 5"), ("Content-Length: 4", "Content-Length: 4"),
    ("Content-Length: 4, 4",), ("Content-Length: +4",), ("Content-Length: -4",),
    ("Content-Length: 0x4",), ("Content-Length:",), ("Content-Length: 4 4",),
    ("Content-Length: 4;",), ("Content-Length: 18446744073709551620",),
    ("Content-Length: 4.0",), ("Content-Length : 4",), ("Content-Length\t: 4",),
    ("Content-Length: \x0b4",), ("Content-Length: 4\r\n 4",), ("Content-Length: \xb24",),
]  # fmt: skip
CODINGS = [
    ("Transfer-Encoding: chunked", "Transfer-Encoding: chunked-false"),
    ("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
    ("Transfer-Encoding: chunkedx",), ("Transfer-Encoding: xchunked",),
    ("Transfer-Encoding: chunked, identity",), ("Transfer-Encoding: identity",),
    ("Transfer-Encoding: gzip, chunked",), ("Transfer-Encoding: chunked, chunked",),
    ("Transfer-Encoding:",), ("Transfer-Encoding:\r\n chunked",),
    ("Transfer-Encoding : chunked",), ("Transfer-Encoding:\x0bchunked",),
    ('Transfer-Encoding: "chunked"',), ("Transfer-Encoding: chunked;q=1",),
    ("Transfer-Encoding: ,chunked",), ("Transfer-Encoding: \xa0chunked",),
    ("Transfer-Encoding\x00: chunked",), ("X: y\rTransfer-Encoding: chunked",),
    ("X: y\nTransfer-Encoding: chunked",),
]  # fmt: skip


def test_F1_F2_F3_how_long_a_request_is(site):
    at = site()
    for fields in BOTH_LENGTHS + LENGTHS + CODINGS:
        refused(at, post(at.url, *fields, behind=b"0\r\n\r\n" + SMUGGLED))
        within = ("A: b", *fields, "C: d")
        refused(at, post(at.url, *within, behind=b"0\r\n\r\n" + SMUGGLED))
    chunked = post(at.url, "Transfer-Encoding: chunked", version="HTTP/1.0")
    refused(at, chunked + b"0\r\n\r\n" + SMUGGLED)


def test_F4_F7_F8_lines_fields_and_blanks(site):
    at = site()
    whole = get(at.url, "A: b")
    for new in (b"\n", b"\r", b"\n\r", b"\r\r\n"):
        for n in range(1, 4):
            parts = whole.split(b"\r\n")
            data = b"\r\n".join(parts[:n]) + new + b"\r\n".join(parts[n:])
            refused(at, data + b"X: y\r\n\r\n" + SMUGGLED)
    for field in (": v", "Host : x", " A: b", "A\tB: c", "A", "A: b\x00c", "A: \x7f", "\xe4: b",
                  "A: b\r\n folded", "A(b): c", "Host: a\r\nHost: b"):  # fmt: skip
        refused(at, get(at.url, field) + SMUGGLED)
    for line in (f"GET {at.url}/ x HTTP/1.1", f"GET  {at.url}/ HTTP/1.1",
                 f"GET\t{at.url}/ HTTP/1.1", f"GET {at.url}/ HTTP/1.1 ",
                 f"GET {at.url}/\tx HTTP/1.1", f"GET {at.url}/", f"GET {at.url}/ HTTP/1.2",
                 f"GET {at.url}/ HTTP/2.0", f" GET {at.url}/ HTTP/1.1",
                 f"get {at.url}/ HTTP/1.1", f"TRACK {at.url}/ HTTP/1.1",
                 f"GET {at.url}/\x00 HTTP/1.1", f"GET {at.url}/\x7f HTTP/1.1"):  # fmt: skip
        refused(at, f"{line}\r\nHost: x\r\n\r\n".encode("latin1") + SMUGGLED)


BAD_CHUNKS = [
    b"0x5\r\nhello\r\n", b"5 \r\nhello\r\n", b"5 ;x\r\nhello\r\n", b"5\t\r\nhello\r\n",
    b"FFFFFFFFFFFFFFFF1\r\nhello\r\n", b"-1\r\nhello\r\n", b"+5\r\nhello\r\n",
    b"5;a\rb\r\nhello\r\n", b"5\nhello\n", b"5\r\nhello", b"5\r\nhellohello\r\n",
    b"g\r\nhello\r\n", b"\r\nhello\r\n", b"5;a\nhello\r\n", b"5\r\nhello\r\r\n",
    b"0\r\nno colon\r\n\r\n", b"0\r\nX: y\n\r\n", b"0\r\n X: y\r\n\r\n", b"0\n\r\n",
]  # fmt: skip


@pytest.mark.parametrize("chunks", BAD_CHUNKS)
def test_F5_sizes_of_chunks(site, chunks):
    """What was good before may have reached the server; what is bad, and all behind it,
    has not, and its request has no end."""
    at = site()
    good = b"3\r\nabc\r\n"
    with at.client() as client:
        client.send(post(at.url, "Transfer-Encoding: chunked", behind=good + chunks))
        client.send(b"0\r\n\r\n" + SMUGGLED)
        answer = client.answer()
        assert answer.status == 400 and client.is_closed()
    heard = b"".join(at.script.heard)
    assert b"smuggled" not in heard and b"\r\n0\r\n\r\n" not in heard
    assert at.script.requests == []
    assert at.weir.audit()[0]["reason"] == "malformed-request"


def test_F6_extensions_and_trailers_without_end(site):
    at = site()
    for start, more in ((b"5;", b"x" * 4000), (b"0\r\n", b"A: " + b"y" * 4000 + b"\r\n")):
        with at.client() as client:
            client.send(post(at.url, "Transfer-Encoding: chunked", behind=start))
            for _ in range(10):
                try:
                    client.send(more)
                except (BrokenPipeError, ConnectionResetError):
                    break
            assert client.answer().status == 400
    assert at.script.requests == []


def test_F11_what_follows_a_body_is_the_next_request(site):
    """A body that looks like a request is a body, and reaches the server as one."""
    at = site(lambda request, _: ok(request[0].split(b" ")[1]))
    sized = post(f"{at.url}/1", f"Content-Length: {len(SMUGGLED)}", behind=SMUGGLED)
    chunk = b"%x\r\n%s\r\n0\r\n\r\n" % (len(SMUGGLED), SMUGGLED)
    chunked = post(f"{at.url}/2", "Transfer-Encoding: chunked", behind=chunk)
    with at.client() as client:
        client.send(sized + chunked + get(f"{at.url}/3") + get("http://evil.test/4"))
        assert [client.answer().body for _ in range(3)] == [b"/1", b"/2", b"/3"]
        assert client.answer().status == 403
    requests = at.script.wait_for(3)
    assert [body.count(b"smuggled") for _, body in requests] == [1, 1, 0]
    assert len(requests) == 3 and len(at.weir.audit(4)) == 4


def test_what_the_server_hears_is_exactly_what_was_understood(site):
    at = site()
    with at.client() as client:
        client.send(post(f"{at.url}/a", "Content-Length: 0003", "X-A:   b  ", behind=b"abc"))
        client.send(get(f"{at.url}/b", "tRaNsFeR-eNcOdInG:  chUNKed ", method="PUT",
                        body=b"3;x\r\nabc\r\n0\r\nContent-Length: 7\r\n\r\n"))  # fmt: skip
        assert client.answer().status == client.answer().status == 200
    at.script.wait_for(2)
    host = b"Host: localhost:%d\r\n" % at.port
    assert sorted(at.script.heard) == sorted([
        b"POST /a HTTP/1.1\r\n" + host + b"X-A: b\r\nContent-Length: 3\r\n\r\nabc",
        b"PUT /b HTTP/1.1\r\n" + host
        + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    ])  # fmt: skip


def head(*fields, line="HTTP/1.1 200 OK"):
    return "\r\n".join([line, *fields, "", ""]).encode("latin1")


HOSTILE = [
    *[head(*fields) + b"4\r\nevil\r\n0\r\n\r\n"
      for fields in BOTH_LENGTHS + LENGTHS + CODINGS],
    head("Transfer-Encoding: chunked", line="HTTP/1.0 200 OK") + b"0\r\n\r\n",
    head("A: b\r\n folded"), head(" A: b"), head("A : b"), head(": b"), head("A"),
    head("A: b\x00"), head("A: b\nSet-Cookie: evil"), head("A: b\rSet-Cookie: evil"),
    head("A: \x1b[2J"), head("\xe4: b"),
    head(line="HTTP/0.9 200 OK"), head(line="HTTP/2 200 OK"), head(line="HTTP/1.1 20 OK"),
    head(line="HTTP/1.1 2000 OK"), head(line="HTTP/1.1 099 OK"), head(line="HTTP/1.1 OK"),
    head(line="HTTP/1.1\t200 OK"), head(line="http/1.1 200 OK"), head(line="ICY 200 OK"),
    b"HTTP/1.1 200 OK\nContent-Length: 4\n\nevil", b"<html>evil</html>", b"evil",
    b"\r\n\r\n" + head("Content-Length: 4") + b"evil", b"SSH-2.0-evil\r\n",
    head(*[f"X-{n}: y" for n in range(101)]), head("X: " + "y" * 70000),
    head("Connection: " + ", ".join(f"x{n}" for n in range(100))),
    head(line="HTTP/1.1 407 Proxy Authentication Required") + b"",
    head(line="HTTP/1.1 100 Continue") * 40,
    head(line="HTTP/1.1 102 Processing") + b"evil",
    head("Content-Length: 42", line="HTTP/1.1 103 Early Hints") + ok(b"evil"),
    head("Transfer-Encoding: chunked", line="HTTP/1.1 100 Continue") + ok(b"evil"),
]  # fmt: skip


def test_F22_hostile_servers(site):
    """502, nothing of it reaches the client, and the connection is not used again; the
    client's is."""
    turn = iter(HOSTILE)
    at = site(lambda request, _: ok() if b"/good" in request[0] else next(turn))
    with at.client() as client:
        for number, said in enumerate(HOSTILE, 1):
            answer = client.ask(get(at.url))
            assert answer.status == 502, (said[:200], answer.head)
            assert b"evil" not in answer.head + answer.body.replace(b"evil.test", b"")
            assert at.server.connections == number, said[:200]
    assert {line["reason"] for line in at.weir.audit(len(HOSTILE))} == {"bad-response"}


@pytest.mark.parametrize("extra", [
    ok(b"evil"), b"e", b"\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
])  # fmt: skip
def test_F22_more_than_was_asked_for(site, extra):
    """An answer to nothing is nobody's answer, neither now nor to the next request."""
    at = site(ok(b"one") + extra)
    with at.client() as client:
        for number in range(1, 4):
            assert client.ask(get(at.url)).body == b"one"
            assert at.server.connections == number
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"
        at.script.answer = lambda *_: chunked + extra
        assert client.ask(get(at.url)).body == b"a"
        empty = b"HTTP/1.1 204 No Content\r\n\r\n" + extra
        at.script.answer = lambda *_: empty
        assert client.ask(get(at.url)).status == 204
        at.script.answer = lambda *_: ok(b"", *()) + extra
        assert client.ask(get(at.url)).body == b""
    assert at.server.connections == 6


def test_F22_later_than_was_asked_for(gateway, server):
    """What comes on a connection that waits ends it."""
    later = []

    def answer(request, connection):
        later.append(connection.dup())
        return ok(b"one")

    script = Script(answer)
    listener = server(script)
    weir = gateway({"allowedDomains": [f"localhost:{listener.port}"]})
    with Client(weir) as client:
        assert client.ask(get(f"http://localhost:{listener.port}/")).body == b"one"
        later[0].sendall(ok(b"evil"))
        # Gone, as the server sees: then whatever comes next goes by another one.
        later[0].settimeout(30)
        assert Stream(later[0]).rest() == b""
        assert client.ask(get(f"http://localhost:{listener.port}/")).body == b"one"
    assert listener.connections == 2


@pytest.mark.parametrize("chunks", BAD_CHUNKS)
def test_F22_bad_chunks_of_a_server(site, chunks):
    """The answer has begun by then: it is cut, and does not look whole."""
    said = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n" + chunks
    at = site(said + b"0\r\n\r\n" + ok(b"evil"))
    with at.client() as client:
        client.send(get(at.url))
        with pytest.raises((AssertionError, ConnectionResetError)):
            client.answer()
        assert b"evil" not in client.stream.data


def test_a_body_that_may_be_a_request_ends_its_connection(gateway):
    """A server that does not look for the body of a GET answers what is in it, late."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(30)
        host = f"127.0.0.1:{listener.getsockname()[1]}"
        weir = gateway({"allowedDomains": [host]})
        body = f"GET /evil HTTP/1.1\r\nHost: {host}\r\n\r\n"
        head = f"GET http://{host}/ HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        with weir.dial() as sock:
            sock.sendall((head + body).encode())
            server, _ = listener.accept()
            with server:
                server.settimeout(30)
                seen = b""
                while not seen.endswith(body.encode()):
                    seen += server.recv(4096)
                server.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                assert server.recv(4096) == b""


def test_F22_a_204_that_says_a_body_ends_its_connection(site):
    """It may come late, as an answer to the next request."""
    for said in "Content-Length: 5", "Transfer-Encoding: chunked":
        at = site(f"HTTP/1.1 204 No Content\r\n{said}\r\n\r\n".encode())
        with at.client() as client:
            for number in 1, 2:
                assert client.ask(get(at.url)).status == 204
                assert at.server.connections == number


def test_an_answer_before_the_body_ends_the_connection(gateway):
    """Of the server: it may not know of the body, and take it for the next request, whose
    answer would be that to another client. The client's is kept."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(30)
        host = f"127.0.0.1:{listener.getsockname()[1]}"
        weir = gateway({"allowedDomains": [host]})
        body = f"GET /evil HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
        with Client(weir) as client:
            client.send(get(f"http://{host}/", f"Content-Length: {len(body)}", method="POST"))
            server, _ = listener.accept()
            with server:
                server.settimeout(30)
                assert Stream(server).head() is not None
                server.sendall(ok(b"early"))
                assert client.answer().body == b"early"
                client.send(body + get(f"http://{host}/next"))
                assert Stream(server).exactly(len(body)) == body
                other, _ = listener.accept()
                with other:
                    other.settimeout(30)
                    assert Stream(other).head() is not None
                    other.sendall(ok(b"next"))
                    assert client.answer().body == b"next"
