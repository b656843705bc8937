"""What the other tests lean on does what it says, without weir."""

import socket
import ssl
import struct

import pytest
from support import dns
from support.tunnel import read_to_end
from support.wait import wait_until


def ask(server, name, qtype, tcp=False):
    """(response code, truncated, addresses) of a question put by hand."""
    query = struct.pack(">HHHHHH", 77, 0x0100, 1, 0, 0, 0) + dns.encode_name(name)
    query += struct.pack(">HH", qtype, 1)
    kind = socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM
    with socket.socket(socket.AF_INET, kind) as sock:
        sock.settimeout(30)
        sock.connect(("127.0.0.1", server.port))
        if tcp:
            sock.sendall(struct.pack(">H", len(query)) + query)
            sock.shutdown(socket.SHUT_WR)
            answer = read_to_end(sock)[2:]
        else:
            sock.send(query)
            answer = sock.recv(4096)
    flags, _, count = struct.unpack(">HHH", answer[2:8])
    assert answer[:2] == query[:2]
    size = {dns.A: 4, dns.AAAA: 16}[qtype]
    return flags & 15, bool(flags & 0x0200), count, answer[-size:]


def test_the_name_server_answers_each_type(dns_server):
    server = dns_server({"a.test": ["127.0.0.1", "::1"]})
    assert ask(server, "A.test", dns.A) == (0, False, 1, bytes([127, 0, 0, 1]))
    assert ask(server, "a.test", dns.AAAA) == (0, False, 1, bytes(15) + b"\x01")
    assert server.queries == [("a.test", "A"), ("a.test", "AAAA")]


def test_the_name_server_refuses_as_told(dns_server):
    server = dns_server({"x.test": "NXDOMAIN", "s.test": "SERVFAIL", "d.test": "DROP"})
    assert ask(server, "x.test", dns.A)[0] == 3
    assert ask(server, "unknown.test", dns.A)[0] == 3
    assert ask(server, "s.test", dns.A)[0] == 2
    assert server.answer(query_for("d.test"), stream=False) is None


def query_for(name):
    return bytes(12) + dns.encode_name(name) + struct.pack(">HH", dns.A, 1)


def test_the_name_server_truncates_and_answers_over_tcp(dns_server):
    server = dns_server({"t.test": "TRUNCATE 192.0.2.7"})
    assert ask(server, "t.test", dns.A)[:3] == (0, True, 0)
    assert ask(server, "t.test", dns.A, tcp=True) == (0, False, 1, bytes([192, 0, 2, 7]))


def test_the_name_server_changes_its_answers(dns_server):
    server = dns_server()
    server.sequence("flip.test", [["192.0.2.1"], ["127.0.0.1"]])
    answers = [ask(server, "flip.test", dns.A)[3] for _ in range(3)]
    assert answers == [bytes([192, 0, 2, 1])] + [bytes([127, 0, 0, 1])] * 2
    server.set("flip.test", ["CNAME b.test", "192.0.2.9"])
    assert ask(server, "flip.test", dns.A)[2:] == (2, bytes([192, 0, 2, 9]))


def test_the_https_server_serves_with_its_authority(https_server):
    server = https_server(["a.test", "127.0.0.1"])
    context = ssl.create_default_context(cafile=server.ca)
    with socket.create_connection(("127.0.0.1", server.port), 20) as plain:
        with context.wrap_socket(plain, server_hostname="a.test") as sock:
            sock.sendall(b"GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n")
            assert read_to_end(sock).endswith(b"\r\n\r\nhello from a.test\n")
    assert [path for _, path, _ in server.requests] == ["/"]
    with socket.create_connection(("127.0.0.1", server.port), 20) as plain:
        with pytest.raises(ssl.SSLCertVerificationError):
            context.wrap_socket(plain, server_hostname="b.test")


def test_the_plain_servers_answer(echo_server, banner_server, http_server):
    with socket.create_connection(("127.0.0.1", echo_server()), 20) as sock:
        sock.sendall(b"hello")
        sock.shutdown(socket.SHUT_WR)
        assert read_to_end(sock) == b"hello"
    with socket.create_connection(("127.0.0.1", banner_server(b"220 hi\r\n")), 5) as sock:
        assert sock.recv(100) == b"220 hi\r\n"
    server = http_server({"/a": b"A", "/b": (418, {"X-Kind": "pot"}, b"B")})
    with socket.create_connection((server.host, server.port), 20) as sock:
        sock.sendall(b"GET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answer = read_to_end(sock)
    assert answer.startswith(b"HTTP/1.1 418 ") and b"X-Kind: pot" in answer
    assert server.connections == 1


def test_namespaces_reach_each_other_and_nothing_else(netns_pair, echo_server):
    pair = netns_pair()
    for host in ("203.0.113.2", "2001:db8:1::2"):
        port = echo_server(host=host, netns=pair.b)
        with pair.a.connect(host, port) as sock:
            sock.sendall(b"over the cable")
            sock.shutdown(socket.SHUT_WR)
            assert read_to_end(sock) == b"over the cable"
    with pytest.raises(OSError):
        pair.a.connect("192.0.2.1", 80, timeout=2)
    assert "203.0.113.1" in pair.a.run("ip", "-4", "address", "show", "cable")


def test_waiting_ends_with_a_reason():
    with pytest.raises(AssertionError, match="the moon"):
        wait_until(lambda: False, 0.05, "the moon")
