"""Heads that two readers could take for two things: rows F1 to F27 of the attacks, in
what concerns CONNECT, and D2."""

import pytest

from support.doorway import head
from support.tunnel import read_to_end

SMUGGLED = b"GET /admin HTTP/1.1\r\nHost: good.test\r\n\r\n"


@pytest.fixture
def door(doorway):
    return doorway(deniedDomains=["denied.test"])


def refuses_each(door, fields, behind=b"", statuses=(400,)):
    """Each a field, or several, of a CONNECT that would be allowed without."""
    for field in fields:
        field = (field,) if isinstance(field, str) else field
        for version in ("HTTP/1.1", "HTTP/1.0"):
            door.refused(head(door.good, *field, version=version) + behind, *statuses)
        within = head(door.good, "Host: x", *field, "Accept: */*")
        door.refused(within + behind, *statuses)
    assert {line["reason"] for line in door.untouched()} == {"malformed-request"}


def test_F1_two_ways_to_say_how_long(door):
    refuses_each(door, [
        ("Content-Length: 4", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: chunked", "Content-Length: 4"),
        ("Transfer-Encoding: chunked", "Content-Length: 0"),
        ("content-length: 0", "TRANSFER-ENCODING: Chunked"),
    ], SMUGGLED)  # fmt: skip


def test_F2_lengths_that_are_none(door):
    refuses_each(door, [
        ("Content-Length: 4", "Content-Length: 5"), ("Content-Length: 0",
        "Content-Length: 0"),
        ("Content-Length: 0", "content-length: 4"), "Content-Length: 4, 4",
        "Content-Length: 0, 0",
        "Content-Length: +4", "Content-Length: +0", "Content-Length: -0",
        "Content-Length: 0x0",
        "Content-Length:", "Content-Length: ", "Content-Length: 0 0",
        "Content-Length: 0;",
        "Content-Length: 99999999999999999999", "Content-Length: 18446744073709551616",
        "Content-Length: 0.0", "Content-Length: 0e1", "Content-Length: \t0x4",
        "Content-Length: \"0\"",
        "Content-Length: \xb2", "Content-Length: 4\t4",
    ], SMUGGLED)  # fmt: skip


def test_F2_no_body_may_be_said(door):
    """Some clients send it on every request."""
    for field in ("Content-Length: 0", "content-length:0", "Content-Length:\t0 ",
                  "CONTENT-LENGTH: 000"):
        door.opens(head(door.good, field))


def test_F3_transfer_codings(door):
    refuses_each(door, [
        "Transfer-Encoding: chunked", "transfer-encoding: CHUNKED", "Transfer-Encoding:",
        ("Transfer-Encoding: chunked", "Transfer-Encoding: chunked-false"),
        "Transfer-Encoding: chunkedx",
        ("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
        "Transfer-Encoding: xchunked", "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: identity", "Transfer-Encoding: gzip",
        "Transfer-Encoding: gzip, chunked", "Transfer-Encoding:\r\n chunked",
        "Transfer-Encoding: \"chunked\"", "Transfer-Encoding:\x0bchunked",
        "Transfer-Encoding\t: chunked", "Transfer-Encoding: chunked\x00",
        "Transfer-Encoding : chunked", "Transfer-Encoding: ,chunked",
        "Transfer-Encoding: chunked;q=1", "Transfer-Encoding: \xa0chunked",
    ], b"0\r\n\r\n" + SMUGGLED)  # fmt: skip


def test_F4_ends_of_lines(door):
    whole = head(door.good, "Host: x", "Accept: */*")
    old = b"\r\n"
    for new in (b"\n", b"\r", b"\n\r", b"\r\r\n"):
        parts = whole.split(old)
        for i in range(1, len(parts)):
            data = old.join(parts[:i]) + new + old.join(parts[i:])
            door.refused(data + b"X: y\r\n\r\n" + SMUGGLED, 400)
        door.refused(whole.replace(old, new) + b"\r\n\r\n", 400)
    for field in ("X: a\rb", "X: a\nb", "X: a\r", "X: a\n", "X\r: a", "X\n: a",
                  "X: a\r\rb", "X: a\nContent-Length: 4",
                  "X: a\rTransfer-Encoding: chunked"):  # fmt: skip
        door.refused(head(door.good, field), 400)
    door.refused(head(door.good, "X: y")[:-2] + b"\rX", 400)
    door.untouched()


def test_F4_empty_lines_in_front(door):
    """RFC 9112 2.2 wants them ignored; without an end they are not (D2)."""
    door.opens(b"\r\n" + head(door.good))
    door.opens(b"\r\n\r\n" + head(door.good))
    asked = door.asked
    for data in (b"\n" + head(door.good), b"\r" + head(door.good),
                 b"\r\n" * 3 + head(door.good), b"\r\n" * 100000, b"\n" * 1000,
                 b"\r\n \r\n" + head(door.good)):  # fmt: skip
        door.refused(data, 400)
    assert {line["verdict"] for line in door.lines()[asked:]} == {"deny"}


def test_F7_names_of_fields(door):
    refuses_each(door, [
        ": value", " : value", "Host : a", " Host: a", "\tHost: a", "Content-Length : 5",
        "Host\t: a", "X", "X Y: z", "X\x00: a", "X\xe9: a", "X(: a", "X[]: a", "X@: a",
        "X/: a", "X\": a", "X=: a", "X,: a", "X;: a", "X{: a", "\x7f: a", "X\x01Y: a",
        "=",
    ])  # fmt: skip


def test_F7_what_fields_may_be(door):
    """Odd, and legal."""
    for fields in [
        ["host:good.test"], ["HOST:\tgood.test\t"], ["Host:", "Accept:"],
        ["Host:   good.test   "],
        ["x!#$%&'*+-.^_`|~9: 1"], ["X: caf\xe9"], ["User-Agent: \xc3\xa9\xe2\x82\xac"],
        ["X: a:b:c"], ["X: \"a\\\"b\""], ["X: a", "x: b", "X: c"], ["1: 2"],
        ["X: " + "y" * 8000],
        ["Proxy-Connection: Keep-Alive"], ["Connection: keep-alive, Proxy-Connection"],
        ["TE: trailers", "Trailer: X"], ["Expect: 100-continue"],
        ["Upgrade-Insecure-Requests: 1"],
        ["Accept: text/html, image/gif, image/jpeg, */*; q=0.2"],
        ["Proxy-Authorization: Basic eDp5"],
        [f"X-{i}: y" for i in range(99)], ["X:\ty\tz"], ["Cookie: a=b; c=d",
        "Cookie: e=f"],
        ["Range: bytes=0-1"], ["Authorization: Bearer x"], ["Content-Type: text/plain"],
    ]:  # fmt: skip
        for version in ("HTTP/1.1", "HTTP/1.0"):
            door.opens(head(door.good, *fields, version=version))


def test_F7_controls_in_values(door):
    controls = [*range(9), 11, 12, *range(14, 32), 127]
    refuses_each(door, [f"X: a{chr(c)}b" for c in controls])


REQUEST_LINES = [
    "CONNECT  {} HTTP/1.1", "CONNECT {}  HTTP/1.1", "CONNECT {} HTTP/1.1 ",
    " CONNECT {} HTTP/1.1", "CONNECT\t{} HTTP/1.1", "CONNECT {}\tHTTP/1.1",
    "CONNECT {} x HTTP/1.1", "CONNECT {} {} HTTP/1.1", "CONNECT {}\t HTTP/1.1",
    "CONNECT \t{} HTTP/1.1", "CONNECT {}\x0bHTTP/1.1", "CONNECT {}", "CONNECT {} ",
    "CONNECT", "CONNECT ", "CONNECT  HTTP/1.1", "CONNECT HTTP/1.1", "{} HTTP/1.1",
    "CONNECT {}HTTP/1.1", "CONNECT{} HTTP/1.1", "CONNECT {} HTTP/1.1\x00",
    "CONNECT {}\xa0HTTP/1.1",
]  # fmt: skip


def test_F8_blanks_in_the_request_line(door):
    for line in REQUEST_LINES:
        line = line.format(door.good, door.good).encode("latin1")
        door.refused(line + b"\r\nHost: x\r\n\r\n", 400)
    door.untouched()


@pytest.mark.parametrize("version", [
    "HTTP/2.0", "HTTP/1.2", "HTTP/1.9", "HTTP/0.9", "HTTP/3.0", "HTTP/1", "HTTP/1.",
    "HTTP/.1", "HTTP/1.10", "HTTP/1.01", "HTTP/01.1", "HTTP/11", "HTTP/+1.1", "HTTP/1,1",
    "HTTP1.1", "http/1.1", "Http/1.1", "HTTPS/1.1", "ICE/1.0", "RTSP/1.0", "HTTP /1.1",
    "HTTP/ 1.1", "HTTP/1.1x", "HTTP/1.1/", "HTTP/1.-1", "XHTTP/1.1",
])  # fmt: skip
def test_F8_versions(door, version):
    door.refused(head(door.good, version=version), 400)
    door.untouched()


def test_F9_two_hosts(door):
    refuses_each(door, [
        ("Host: good.test", "Host: evil.test"), ("Host: good.test", "Host: good.test"),
        ("host: a", "HOST: a"), ("Host:", "Host:"), ("Host: a", "X: y", "Host: b"),
    ])  # fmt: skip


def test_F9_host_is_as_it_likes(door):
    """For CONNECT; and there may be none, also in HTTP/1.1."""
    for fields in [(), ("Host: evil.test",), (f"Host: {door.good}",), ("Host:",)]:
        door.opens(head(door.good, *fields))


def test_F11_one_connection_many_requests(door):
    denied = head("denied.test:443")
    for first in (denied, head("evil.test:443"), head("good.test"), head("x", method="GET"),
                  head(door.good, "Content-Length: 1")):  # fmt: skip
        for second in (head(door.good), denied, SMUGGLED, b"\x16\x03\x01\0\x05",
                       b"x" * 20000):
            door.refused(first + second, 400, 403, 501)
    door.untouched()


def test_F12_early_data(door):
    """It goes to the server behind our 200, and nowhere when refused."""
    hello = b"SSH-2.0-client\r\n"
    for early in (hello, SMUGGLED, b"\r\n", b"\n", b"\0", b"e" * 30000):
        assert door.opens(head(door.good) + early) == early
        assert door.opens(None, [head(door.good)[:-1], b"\n" + early]) == early
    before = door.server.connections
    for early in (hello, SMUGGLED, b"e" * 60000):
        door.refused(head("denied.test:443") + early, 403)
    assert door.server.connections == before


def test_F13_a_connect_with_a_body(door):
    refuses_each(door, [
        "Content-Length: 45", "Content-Length: 1", "content-length: 0045",
        "Transfer-Encoding: chunked",
    ], b"GET /admin HTTP/1.1\r\nHost: good.test\r\n\r\n12345")  # fmt: skip


def test_F13_the_connection_ends_after_a_refusal(door):
    for fields in ([], ["Connection: keep-alive"], ["Proxy-Connection: keep-alive"],
                   ["Keep-Alive: timeout=600", "Connection: Keep-Alive"]):  # fmt: skip
        for version in ("HTTP/1.0", "HTTP/1.1"):
            door.refused(head("denied.test:443", *fields, version=version), 403)
            door.refused(head("denied.test", *fields, version=version), 400)
    door.untouched()


def test_F16_upgrades(door):
    """On a CONNECT they are one more field; without one they lead nowhere."""
    h2c = ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c",
        "HTTP2-Settings: AAMAAABkAAQAAP__"]
    ws = ["Connection: Upgrade", "Upgrade: websocket",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]
    for fields in (h2c, ws):
        door.refused(head("http://good.test/", "Host: x", *fields, method="GET"), 403)
        door.refused(head("denied.test:443", *fields), 403)
        door.refused(head("/", "Host: good.test", *fields, method="GET"), 400)
    door.refused(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 400)
    door.untouched()
    for fields in (h2c, ws):
        door.opens(head(door.good, *fields))


def test_F17_fields_that_name_fields(door):
    for value in ("close, Authorization, Host, Content-Length, X-Injected", "Connection",
                  "Host", ",,,", ", ".join(f"t{i}" for i in range(1500))):  # fmt: skip
        door.opens(head(door.good, "Host: x", f"Connection: {value}", "X-Injected: 1"))
    door.refused(head(door.good, f"Connection: {'a, ' * 10000}"), 431)


SECRET = "s3cr3t-t0ken"


def test_F18_F19_nothing_of_the_request_is_repeated(door):
    """Not in an answer, not in the record, not in the log, not at the server."""
    fields = [f"Proxy-Authorization: Basic {SECRET}", f"Authorization: Bearer {SECRET}",
              f"Cookie: {SECRET}", f"X-{SECRET}: y", f"Host: {SECRET}.test",
              f"User-Agent: {SECRET}"]  # fmt: skip
    assert door.opens(head(door.good, *fields)) == b""
    for data in (
        head("denied.test:443", *fields), head("a.b", *fields), head("unknown.test:1",
        *fields),
        head("denied.test:443", *fields, "X"), head(f"x:{SECRET}@good.test:443", *fields),
        head(f"http://good.test/?k={SECRET}", *fields, method="GET"), head(door.good,
        *fields, "Content-Length: 4"),
        head(f"http://u:{SECRET}@good.test/{SECRET}", *fields, method="GET"),
        head(door.good, *fields, "Host: y"),
        head(door.good, *fields, version="HTTP/9.9"), head(door.good, *fields,
        "X: " + "y" * 20000),
    ):  # fmt: skip
        said, status = door.answer(data)
        assert status >= 400 and SECRET.encode() not in said, said
    door.lines()
    text = (door.weir.folder / "audit.jsonl").read_text() + door.weir.log()
    assert SECRET not in text


METHODS = ["connect", "Connect", "CONNECt", "CONNECTX", "XCONNECT", "CONNECT\x00", "get",
           "Get", "FOO", "TRACK", "CONN ECT", "", "*", "GET,CONNECT",
           "\u212aCONNECT"]  # fmt: skip


def test_F21_methods(door):
    for method in METHODS:
        line = f"{method} {door.good} HTTP/1.1\r\nHost: x\r\n\r\n"
        door.refused(line.encode(), 400)
    for method in ("TRACE", "GET", "POST", "PROPFIND", "PURGE", "LOCK"):
        door.refused(head("http://good.test/", "Host: x", method=method), 403, 501)
        data = head(door.good, "X-HTTP-Method-Override: CONNECT", method=method)
        door.refused(data, 400, 501)
    door.untouched()
    door.opens(head(door.good, "X-HTTP-Method-Override: DELETE"))


FOREIGN = {
    "tls": b"\x16\x03\x01\x00\x05\x01",
    "ssh": b"SSH-2.0-x\r\n",
    "proxy v1": b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n" + head("good.test:443"),
    "proxy v1, unknown": b"PROXY UNKNOWN\r\n",
    "proxy v1, long": b"PROXY TCP6 " + b"f" * 300 + b"\r\n",
    "proxy v2": b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c" + b"\1\2\3\4" * 3,
    "http/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "nul": b"\0\0\0\0",
    "bom": b"\xef\xbb\xbfCONNECT a.b:1 HTTP/1.1\r\n\r\n",
    "sslv2": b"\x80\x2e\x01\x03\x01", "rdp": b"\x03\x00\x00\x13\x0e",
    "dns": b"\x00\x1d\x12\x34\x01\x00\x00\x01",
    "redis": b"*1\r\n$4\r\nPING\r\n", "smtp": b"EHLO x\r\n", "json": b"{\"a\": 1}\r\n",
}  # fmt: skip


@pytest.mark.parametrize("kind", FOREIGN)
def test_F27_other_protocols(door, kind):
    door.refused(FOREIGN[kind], 400)
    (line,) = door.untouched()
    assert line["reason"] in ("not-supported", "malformed-request")


def test_D2_large_heads(door):
    """One answer, also to a client that goes on sending what nobody reads."""
    refused = [
        head(door.good, "X: " + "y" * 17000), head(door.good, "X: " + "y" * 1000000),
        head(door.good, *[f"X-{i}: y" for i in range(101)]), b"CONNECT " + b"a" * 100000,
        head(door.good, *[f"X-{i}: y" for i in range(5000)]), head("a" * 9000 + ":443"),
        head(door.good, "X" * 20000 + ": y"), head(door.good, *["X: " + "y" * 4000] * 5),
    ]  # fmt: skip
    for data in refused:
        door.refused(data, 400, 431)
    door.untouched()
    door.opens(head(door.good, *[f"X-{i}: y" for i in range(100)]))
    door.opens(head(door.good, "X: " + "y" * 16000))


def test_P17_names_that_collide(door):
    """Fields are few, and nothing is hashed by name."""
    fields = [f"{'Aa' * (i % 7)}{'BB' * (7 - i % 7)}{i}: y" for i in range(100)]
    door.opens(head(door.good, *fields))
    door.refused(head(door.good, *fields * 100), 431)


def test_any_split_is_the_same(door):
    """Whatever TCP makes of a request: every place where it can be cut in two."""
    good, bad = head(door.good, "Host: x"), head("denied.test:443", "Host: good.test")
    for cut in range(1, len(good), 3):
        door.opens(None, [good[:cut], good[cut:]])
    for cut in range(1, len(bad), 3):
        door.refused(None, 403, pieces=[bad[:cut], bad[cut:]])
    with door.weir.dial() as sock:
        for byte in bad:
            sock.sendall(bytes([byte]))
        assert read_to_end(sock).startswith(b"HTTP/1.1 403 ")
