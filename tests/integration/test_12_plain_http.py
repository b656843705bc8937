"""Plain HTTP requests: passed on, kept apart, and each of them judged."""

import pytest

from support import servers
from support.plain import Client, Script, Site, get, ok, unchunk


@pytest.fixture
def site(gateway, server):
    return lambda answer=None, **more: Site(gateway, server, answer, **more)


def test_a_request_and_its_answer(site):
    at = site(ok(b"hello\n", "X-Kind: test", "Set-Cookie: a=b", "Set-Cookie: c=d"))
    with at.client() as client:
        answer = client.ask(get(f"{at.url}/a/../b?c=d", "User-Agent: me", "Accept: */*"))
        assert (answer.status, answer.phrase, answer.body) == (200, "OK", b"hello\n")
        assert answer.version == "HTTP/1.1"
        assert sorted(answer.names()) == ["content-length", "set-cookie", "set-cookie",
                                          "x-kind"]  # fmt: skip
    (head,) = at.heads()
    assert head == (
        f"GET /a/../b?c=d HTTP/1.1\r\nHost: localhost:{at.port}\r\n"
        "User-Agent: me\r\nAccept: */*\r\n\r\n"
    ).encode()
    (line,) = at.weir.audit()
    assert (line["front"], line["host"], line["port"]) == ("http", "localhost", at.port)
    assert (line["verdict"], line["reason"]) == ("allow", "allow-list")
    assert line["bytes_up"] == len(head) and line["bytes_down"] > 6 and line["ms"] >= 0


def test_both_connections_are_kept(site):
    at = site()
    with at.client() as client:
        for n in range(20):
            assert client.ask(get(f"{at.url}/{n}")).body == b"ok\n"
    assert at.server.connections == 1
    lines = at.weir.audit(20)
    assert len(lines) == 20 and len({line["id"] for line in lines}) == 1


def test_a_servers_connection_serves_the_next_client(site):
    at = site()
    for _ in range(5):
        with at.client() as client:
            assert client.ask(get(at.url)).status == 200
    assert at.server.connections == 1
    assert at.weir.audit(5)[-1]["addr"] == "127.0.0.1"


def test_pipelined_requests_are_answered_in_order(site):
    at = site(lambda request, _: ok(request[0].split(b" ")[1]))
    with at.client() as client:
        client.send(b"".join(get(f"{at.url}/{n}") for n in range(50)))
        assert [client.answer().body for _ in range(50)] == [b"/%d" % n for n in range(50)]
    at.weir.audit(50)


def test_each_request_is_judged(site, server):
    """F11, H17, BYP-07: keep-alive must not let the second ride on the first."""
    at = site()
    with at.client() as client:
        for url, status in [(at.url, 200), ("http://evil.test/", 403), (at.url, 200),
                            (f"http://localhost:{at.port + 1}/", 403)]:  # fmt: skip
            assert client.ask(get(url)).status == status
        client.send(get(at.url) + get("http://evil.test/") + get(at.url))
        assert [client.answer().status for _ in range(3)] == [200, 403, 200]
        # A tunnel may follow; it is judged like the others.
        answer = client.ask(b"CONNECT evil.test:443 HTTP/1.1\r\n\r\n")
        assert answer.status == 403 and client.is_closed()
    verdicts = [line["verdict"] for line in at.weir.audit(8)]
    assert verdicts == ["allow", "deny", "allow", "deny", "allow", "deny", "allow", "deny"]


def test_connections_are_not_shared_between_targets(gateway, server):
    one, other = Script(ok(b"one")), Script(ok(b"other"))
    ports = [server(script).port for script in (one, other)]
    weir = gateway({"allowedDomains": [f"localhost:{port}" for port in ports]})
    with Client(weir) as client:
        for _ in range(3):
            for port, body in zip(ports, (b"one", b"other")):
                assert client.ask(get(f"http://localhost:{port}/")).body == body
    assert len(one.requests) == len(other.requests) == 3


def test_refusal_in_full(site):
    at = site()
    with at.client() as client:
        answer = client.ask(get("http://evil.test/x"))
        assert answer.status == 403 and answer.phrase == "host is not on the allow list"
        assert answer.get("x-proxy-error") == "blocked-by-allowlist"
        assert b"evil.test:80" in answer.body and b"allowedDomains" in answer.body
        assert answer.get("connection") == "keep-alive"
        answer = client.ask(get("http://evil.test/", method="HEAD"), bodyless=True)
        assert answer.status == 403 and int(answer.get("content-length")) > 0
        assert client.ask(get(at.url)).body == b"ok\n"
        # The rest of a small body is read; the next request stands behind it.
        answer = client.ask(get("http://evil.test/", "Content-Length: 5", method="POST"))
        assert answer.status == 403
        client.send(b"hello" + get(at.url))
        assert client.answer().body == b"ok\n"
        # A large one is not.
        large = get("http://evil.test/", "Content-Length: 100000000", method="POST")
        answer = client.ask(large)
        assert answer.status == 403 and answer.get("connection") == "close"
        assert client.is_closed()
    assert at.server.connections == 1


@pytest.mark.parametrize("url, status", [
    ("/", 400), ("*", 400), ("https://localhost/", 400), ("ftp://localhost/", 400),
    ("ws://localhost/", 400), ("http:///", 400), ("http://", 400),
    ("http://me:pw@localhost/", 400), ("http://localhost/#x", 400),
    ("http://localhost/\\x", 400), ("http://localhost?x", 400),
    ("http://localhost:0/", 400), ("http://localhost:65536/", 400),
    ("http://local%68ost/", 400), ("http://[localhost]/", 400), ("localhost:80", 400),
])  # fmt: skip
def test_targets_that_are_refused(site, url, status):
    at = site()
    with at.client() as client:
        answer = client.ask(get(url))
        assert answer.status == status and len(answer.phrase) > 10
        assert client.is_closed()
    assert at.server.connections == 0
    assert "pw" not in (at.weir.folder / "audit.jsonl").read_text()


def test_default_port_is_not_in_host(gateway, netns_pair, server):
    """And one that is named is not either when it is that of the scheme."""
    pair = netns_pair()
    script = Script(ok())
    server(script, host="203.0.113.2", port=80, netns=pair.b)
    weir = gateway({"allowedDomains": ["203.0.113.2"]}, netns=pair.a)
    with Client(weir) as client:
        for url in ("http://203.0.113.2/", "http://203.0.113.2:80/", "http://203.0.113.2"):
            assert client.ask(get(url)).status == 200
    heads = [head for head, _ in script.wait_for(3)]
    assert heads == [b"GET / HTTP/1.1\r\nHost: 203.0.113.2\r\n\r\n"] * 3


def test_host_is_made_from_the_target(site):
    """F9, F10, H5: what the client says of it does not matter."""
    at = site()
    with at.client() as client:
        for host in ("evil.test", "localhost", "LOCALHOST:1", ""):
            assert client.ask(get(f"http://LocalHost.:{at.port}/", host=host)).status == 200
        client.ask(get(at.url, "Connection: Host, close"))
    for head in at.heads(5):
        assert head.count(b"Host: localhost:%d\r\n" % at.port) == 1
        assert b"evil" not in head and head.lower().count(b"\r\nhost:") == 1


def test_fields_for_one_hop_stay_here(site):
    """F17, F18: both ways."""
    at = site(ok(b"ok\n", "Connection: X-Named, keep-alive", "X-Named: 1",
                 "Keep-Alive: timeout=5", "Proxy-Authenticate: Basic", "Trailer: X",
                 "Proxy-Status: other", "Upgrade: h2c", "X-Stays: 1"))  # fmt: skip
    with at.client() as client:
        answer = client.ask(get(
            at.url, "Connection: X-One, authorization, Cookie, Content-Type",
            "X-One: 1", "Keep-Alive: 300", "Proxy-Connection: keep-alive",
            "Proxy-Authorization: Basic eDp5", "TE: trailers", "Trailer: X", "Upgrade: h2c",
            "HTTP2-Settings: AAMAAABk", "Authorization: Bearer x", "Cookie: a=b",
            "Content-Type: text/plain", "X-Stays: 1", "Via: 1.0 me",
        ))  # fmt: skip
        assert sorted(answer.names()) == ["content-length", "x-stays"]
        assert client.ask(get(at.url)).status == 200
    head, _ = at.heads(2)
    names = sorted(line.split(b":")[0].lower() for line in head.split(b"\r\n")[1:-2])
    assert names == [b"authorization", b"content-type", b"cookie", b"host", b"via",
                     b"x-stays"]  # fmt: skip


def test_too_many_names_in_connection(site):
    at = site()
    with at.client() as client:
        names = ", ".join(f"x{n}" for n in range(1000))
        answer = client.ask(get(at.url, f"Connection: {names}"))
        assert answer.status == 400 and client.is_closed()
    assert at.server.connections == 0


def test_uploads(site):
    at = site(lambda request, _: ok(b"%d" % len(request[1])))
    body = bytes(range(256)) * 4000
    with at.client() as client:
        post = get(at.url, f"Content-Length: {len(body)}", method="POST", body=body)
        assert client.ask(post).body == b"%d" % len(body)
        chunked = get(at.url, "Transfer-Encoding: chunked", method="PUT")
        client.send(chunked)
        for n in range(0, len(body), 9999):
            piece = body[n : n + 9999]
            client.send(b"%x;ext=1\r\n%s\r\n" % (len(piece), piece))
        client.send(b"0\r\nX-Trailer: 1\r\n\r\n" + get(at.url))
        assert client.answer().status == 200 and client.answer().status == 200
    first, second, _ = at.script.wait_for(3)
    assert first[1] == body and unchunk(second[1]) == body
    assert b"ext" not in second[1] and second[1].endswith(b"\r\n0\r\n\r\n")
    assert b"Transfer-Encoding: chunked\r\n" in second[0]


def test_single_bytes_both_ways(site):
    """In whatever pieces they come, requests and answers are the same."""

    def answer(request, connection):
        for byte in (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                     b"5\r\nhello\r\n1;x=y\r\n!\r\n0\r\nX: y\r\n\r\n"):  # fmt: skip
            connection.sendall(bytes([byte]))
        return b""

    at = site(answer)
    request = get(at.url, "Transfer-Encoding: chunked", method="POST",
                  body=b"3\r\nabc\r\n0\r\n\r\n")  # fmt: skip
    with at.client() as client:
        for byte in request:
            client.send(bytes([byte]))
        got = client.answer()
        assert got.body == b"hello!" and b"X: y" not in got.raw and b"x=y" not in got.raw
    ((_, body),) = at.script.wait_for(1)
    assert unchunk(body) == b"abc"


def test_downloads(site):
    body = bytes(range(256)) * 20000
    at = site(ok(body))
    with at.client() as client:
        assert client.ask(get(at.url)).body == body
        assert client.ask(get(at.url)).body == body


def test_ranges_pass(site):
    """PRO-32: 206 and 416 as they are."""
    at = site(lambda request, _: ok(
        b"", "Content-Range: bytes */3", status="416 Range Not Satisfiable")
        if b"bytes=9-" in request[0]
        else ok(b"k", "Content-Range: bytes 1-1/3", status="206 Partial Content"))  # fmt: skip
    with at.client() as client:
        answer = client.ask(get(at.url, "Range: bytes=1-1", "If-Range: x"))
        assert (answer.status, answer.body) == (206, b"k")
        assert answer.get("content-range") == "bytes 1-1/3"
        assert client.ask(get(at.url, "Range: bytes=9-")).status == 416
    assert b"Range: bytes=1-1\r\nIf-Range: x\r\n" in at.heads(2)[0]


def test_http10_client(site):
    """RFC 9112 9.3: it gets an answer that ends with the connection, and no chunks."""
    at = site(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"
              b"Transfer-Encoding: chunked\r\n\r\n3\r\nok\n\r\n0\r\n\r\n")  # fmt: skip
    with at.client() as client:
        client.send(get(at.url, "Connection: keep-alive", "Expect: 100-continue",
                        version="HTTP/1.0", host=None))  # fmt: skip
        answer = client.answer(interim=True)
        assert (answer.status, answer.body) == (200, b"ok\n")
        assert answer.get("connection") == "close"
        assert answer.get("transfer-encoding") is None
    assert b"Expect" not in at.heads()[0]


def test_close_is_heeded(site):
    at = site()
    for field in ("Connection: close", "connection: x, Close", "Proxy-Connection: close"):
        with at.client() as client:
            answer = client.ask(get(at.url, field))
            assert answer.get("connection") == "close" and client.is_closed()


def test_half_closed_client_is_answered(site):
    at = site()
    with at.client() as client:
        client.send(get(at.url) + get(at.url))
        client.end()
        assert [client.answer().body for _ in range(2)] == [b"ok\n"] * 2
        assert client.is_closed()


def test_trace_and_max_forwards(site):
    at = site()
    with at.client() as client:
        answer = client.ask(get(at.url, "Max-Forwards: 0", method="OPTIONS"))
        assert answer.status == 200 and answer.body == b""
        assert at.server.connections == 0
        assert client.ask(get(at.url, "Max-Forwards: 3", method="OPTIONS")).status == 200
        assert client.ask(get(at.url, "Max-Forwards: 3")).status == 200
        assert client.ask(get(at.url, method="TRACE")).status == 501
    options, other = at.heads(2)
    assert options.startswith(b"OPTIONS * HTTP/1.1\r\n")
    assert b"Max-Forwards: 2\r\n" in options and b"Max-Forwards: 3\r\n" in other


def test_server_that_closes_idle_connections(gateway, server):
    """D5: a request over a connection that the server has closed goes once more."""
    script = Script(lambda request, connection: connection.sendall(ok()))
    listener = server(script)
    weir = gateway({"allowedDomains": [f"localhost:{listener.port}"]})
    with Client(weir) as client:
        for _ in range(30):
            assert client.ask(get(f"http://localhost:{listener.port}/")).status == 200
    assert listener.connections == 30


def test_unreachable_servers(gateway, server):
    listener = servers.listen_on()
    port = listener.getsockname()[1]
    listener.close()
    weir = gateway({"allowedDomains": [f"localhost:{port}", "nowhere.test"]})
    with Client(weir) as client:
        assert client.ask(get(f"http://localhost:{port}/")).status == 502
        assert client.ask(get("http://nowhere.test/")).status in (502, 504)
    assert [line["reason"] for line in weir.audit(2)] == ["connect-failure", "dns-failure"]


def test_silent_server(site):
    at = site(lambda *_: b"", limits={"responseSeconds": 0.5})
    with at.client() as client:
        answer = client.ask(get(at.url))
        assert answer.status == 504 and client.is_closed()
    assert at.weir.audit()[0]["reason"] == "timeout"


def rss_of(pid):
    """In KiB."""
    with open(f"/proc/{pid}/status") as file:
        return int(next(line for line in file if line.startswith("VmRSS")).split()[1])


def test_slow_reader_holds_up_the_server_only(site):
    """D7: what is kept of an answer is bounded; others are served meanwhile."""
    body = bytes(24 * 1024 * 1024)
    sent = []

    def answer(request, connection):
        if b"/large" not in request[0]:
            return ok()
        connection.sendall(ok(body))
        sent.append(len(body))
        return b""

    at = site(answer)
    with at.client() as slow, at.client() as other:
        assert other.ask(get(at.url)).body == b"ok\n"
        before = rss_of(at.weir.pid)
        slow.send(get(f"{at.url}/large"))
        for _ in range(50):
            assert other.ask(get(at.url)).body == b"ok\n"
        assert sent == [] and rss_of(at.weir.pid) - before < 8 * 1024
        assert slow.answer().body == body
