"""Behind a proxy that says for whom it asks: PROXY protocol, versions 1 and 2."""

import contextlib
import shutil
import socket
import struct
import subprocess

import pytest

from support.servers import echo
from support.tunnel import read_to_end
from support.wait import wait_until

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
LOCAL, PROXY = 0x20, 0x21
TCP4, TCP6, UNIX, UNSPEC = 0x11, 0x21, 0x31, 0
DENIED = b"CONNECT evil.test:443 HTTP/1.1\r\n\r\n"


def v1(source, target="192.0.2.99"):
    family = "TCP6" if ":" in source else "TCP4"
    return f"PROXY {family} {source} {target} 40000 3128\r\n".encode()


def v2(source=None, command=PROXY, family=None, fields=b"", body=None):
    if body is None and source is None:
        family, body = UNSPEC, b""
    elif body is None:
        kind = socket.AF_INET6 if ":" in source else socket.AF_INET
        family = family or (TCP6 if ":" in source else TCP4)
        ip = socket.inet_pton(kind, source)
        body = ip + ip + struct.pack(">HH", 40000, 3128)
    body += fields
    return SIGNATURE + bytes([command, family]) + struct.pack(">H", len(body)) + body


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def with_checksum(source):
    header = v2(source, fields=b"\x03\0\4\0\0\0\0")
    return header[:-4] + struct.pack(">I", crc32c(header))


@pytest.fixture
def behind(gateway):
    """behind(**keys of the gateway file): one that believes the headers of loopback."""

    def start(ranges=("127.0.0.0/8",), **keys):
        listen = {"address": "127.0.0.1:0", "proxyProtocol": list(ranges)}
        return gateway(
            settings={"listen": [listen], "network": {}, "audit": {"file": "-"}, **keys}
        )

    return start


@pytest.mark.parametrize(
    "header, client",
    [
        (v1("192.0.2.1"), "192.0.2.1"),
        (v1("2001:db8::1", "2001:db8::2"), "2001:db8::1"),
        (v2("192.0.2.1"), "192.0.2.1"),
        (v2("2001:db8::1"), "2001:db8::1"),
        (v2("::ffff:192.0.2.1"), "192.0.2.1"),
        (v2("192.0.2.1", fields=b"\x04\0\2\0\0\xe0\0\1x"), "192.0.2.1"),
        (with_checksum("192.0.2.1"), "192.0.2.1"),
        # The proxy's own doing, and clients of which it does not say where they are.
        (v2(command=LOCAL), "127.0.0.1"),
        (b"PROXY UNKNOWN\r\n", None),
        (v2(), None),
        (v2(family=UNIX, body=b"/run/client.sock".ljust(108, b"\0") * 2), None),
    ],
)
def test_the_client_is_whom_the_header_names(behind, header, client):
    weir = behind()
    assert weir.raw(header + DENIED).startswith(b"HTTP/1.1 403 ")
    with weir.dial() as sock:
        sock.sendall(header)
        sock.sendall(DENIED)
        assert read_to_end(sock).startswith(b"HTTP/1.1 403 ")
    for line in weir.audit(2):
        assert line.get("client") == client and line["host"] == "evil.test", line


def test_a_header_in_single_bytes(behind):
    weir = behind()
    for header in v1("192.0.2.1"), v2("192.0.2.1"):
        with weir.dial() as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in header + DENIED:
                sock.sendall(bytes([byte]))
            assert read_to_end(sock).startswith(b"HTTP/1.1 403 ")
    assert [line["client"] for line in weir.audit(2)] == ["192.0.2.1"] * 2


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\n",
        b"PROXY TCP4 192.0.2.1 192.0.2.2 1 65536\r\n",
        b"PROXY TCP4 127.1 192.0.2.2 1 2\r\n",
        b"PROXY UDP4 192.0.2.1 192.0.2.2 1 2\r\n",
        b"PROXY UNKNOWN " + b"x" * 200 + b"\r\n",
        v2("192.0.2.1", family=0x12),
        v2("192.0.2.1", command=0x22),
        v2("192.0.2.1", command=0x31),
        v2("192.0.2.1", family=TCP6),
        v2("192.0.2.1", fields=b"\x01\0\x09h2"),
        v2("192.0.2.1", fields=b"\x01\xff\xff"),
        v2("192.0.2.1", fields=b"\0" * 5000),
        v2("192.0.2.1", fields=b"\x03\0\4\0\0\0\0"),
        with_checksum("192.0.2.1")[:-1] + b"\0",
    ],
)
def test_a_bad_header_ends_the_connection_without_a_word(behind, bad):
    weir = behind()
    assert weir.raw(bad + DENIED) == b""
    (line,) = weir.audit(1)
    assert line["verdict"] == "deny" and line["reason"] == "malformed-request"
    assert line["client"] == "127.0.0.1" and line["front"] == "proxy-header"
    assert "host" not in line


def test_whoever_is_not_listed_is_not_believed(behind):
    weir = behind(["192.0.2.0/24"])
    for header in v1("192.0.2.1"), v2("192.0.2.1"), with_checksum("192.0.2.1"):
        assert weir.raw(header + DENIED).startswith(b"HTTP/1.1 400 ")
    assert weir.raw(DENIED).startswith(b"HTTP/1.1 403 ")
    assert {line["client"] for line in weir.audit(4)} == {"127.0.0.1"}


def test_a_second_header_is_a_bad_request(behind):
    weir = behind()
    for first in v1("192.0.2.1"), v2("192.0.2.1"):
        said = weir.raw(first + v1("192.0.2.2") + DENIED)
        assert said.startswith(b"HTTP/1.1 400 ")
    assert {line["client"] for line in weir.audit(2)} == {"192.0.2.1"}


def test_health_checks_leave_no_line(behind):
    weir = behind()
    weir.dial().close()
    with weir.dial() as sock:
        sock.sendall(v2(command=LOCAL))
        sock.shutdown(socket.SHUT_WR)
        assert read_to_end(sock) == b""
    weir.raw(v1("192.0.2.1") + DENIED)
    assert [line["client"] for line in weir.audit(1)] == ["192.0.2.1"]


def test_a_header_that_does_not_end(behind):
    weir = behind(limits={"headSeconds": 0.5})
    assert weir.raw(v2("192.0.2.1")[:20], timeout=20) == b""
    (line,) = weir.audit(1)
    assert line["reason"] == "timeout" and line["client"] == "127.0.0.1"


def test_limits_are_of_the_named_address(behind, tcp_server):
    port = tcp_server(echo)
    weir = behind(
        network={"allowedDomains": [f"127.0.0.1:{port}"]},
        limits={"connectionsPerClient": 1},
    )
    ask = f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode()
    with weir.dial() as first, weir.dial() as other:
        first.sendall(v1("192.0.2.1") + ask)
        assert first.recv(100).startswith(b"HTTP/1.1 200 ")
        other.sendall(v1("192.0.2.2") + ask)
        assert other.recv(100).startswith(b"HTTP/1.1 200 ")
        assert weir.raw(v1("192.0.2.1") + ask).startswith(b"HTTP/1.1 503 ")
        assert weir.raw(v1("192.0.2.1") + b"\x05\x01\x00") == b"\x05\xff"
    assert [line["client"] for line in weir.audit(1)][:1] == ["192.0.2.1"]


def test_those_over_a_limit_do_not_pile_up(behind):
    """Each of them is closed without a word when too many are being told already."""
    weir = behind(
        limits={"connections": 400, "connectionsPerClient": 1},
        admin="127.0.0.1:0",
        workers=1,
    )
    many = 100
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(weir.dial())
        first.sendall(v1("192.0.2.1") + b"GET http://evil.test/ HTTP/1.1\r\nHost: x\r\n\r\n")
        assert first.recv(100).startswith(b"HTTP/1.1 403 ")
        others = [stack.enter_context(weir.dial()) for _ in range(many)]
        for other in others:
            other.sendall(v1("192.0.2.1"))
        lines = weir.audit(1 + many)
        assert weir.admin().metrics()["weir_cut_short_total"] > 0
    assert {(line["reason"], line["client"]) for line in lines[1:]} == {("limit", "192.0.2.1")}
    assert len(lines) == 1 + many


HAPROXY = """
global
    maxconn 100
defaults
    mode tcp
    timeout connect 10s
    timeout client 30s
    timeout server 30s
frontend clients
    bind fd@{fd}
    default_backend gateways
backend gateways
    server weir 127.0.0.1:{port} {send}
"""


@pytest.fixture
def haproxy(tmp_path):
    """haproxy(port, send) passes connections on to the gateway at that port; its own is
    the result."""
    running = []

    def start(port, send):
        program = shutil.which("haproxy", path="/usr/sbin:/usr/bin")
        if program is None:
            pytest.skip("haproxy is not installed")
        listener = socket.create_server(("127.0.0.1", 0))
        file = tmp_path / f"haproxy{len(running)}.cfg"
        fd = listener.fileno()
        file.write_text(HAPROXY.format(port=port, send=send, fd=fd))
        running.append(
            subprocess.Popen(
                [program, "-db", "-f", str(file)], pass_fds=[fd],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
        )  # fmt: skip
        with listener:
            return listener.getsockname()[1]

    yield start
    for process in running:
        process.terminate()
        process.wait(timeout=30)


@pytest.mark.parametrize(
    "send", ["send-proxy", "send-proxy-v2", "send-proxy-v2 proxy-v2-options crc32c,unique-id"]
)
def test_behind_haproxy(behind, haproxy, tcp_server, send):
    port = tcp_server(echo)
    weir = behind(network={"allowedDomains": [f"127.0.0.1:{port}"]})
    front = haproxy(weir.port, f"{send} check inter 200ms")
    ask = f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode()

    def through():
        """From an address that is not HAProxy's own way to the gateway."""
        sock = socket.create_connection(
            ("127.0.0.1", front), 30, source_address=("127.0.0.7", 0)
        )
        with sock:
            sock.sendall(ask)
            return sock.recv(100).startswith(b"HTTP/1.1 200 ")

    assert wait_until(through, 30, "a tunnel through haproxy")
    assert weir.raw(ask) == b""
    lines = weir.audit(2)
    assert [line["client"] for line in lines if line["verdict"] == "allow"] == ["127.0.0.7"]
    assert [line["client"] for line in lines if line["verdict"] == "deny"] == ["127.0.0.1"]


def test_a_header_that_nobody_expects_is_told(gateway):
    weir = gateway({})
    said = weir.raw(b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\nCONNECT a.test:1 HTTP/1.1\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 400 ") and b"proxyProtocol does not name" in said
