"""What a client sends before it has its answer (F12)."""

import socket

import pytest

from support.servers import echo
from support.tunnel import read_to_end
from support.wait import wait_until


def test_it_reaches_the_server_after_the_answer(gateway, echo_server):
    port = echo_server()
    weir = gateway({"allowedDomains": [f"127.0.0.1:{port}"]})
    with weir.connect(f"127.0.0.1:{port}", early=b"first words") as tunnel:
        assert tunnel.status == 200
        assert tunnel.read(11) == b"first words"


def test_it_is_kept_while_a_name_is_looked_up(gateway, echo_server, dns_server):
    port = echo_server()
    names = dns_server({"good.test": ["127.0.0.1"]})
    weir = gateway(
        {"allowedDomains": [f"good.test:{port}", f"127.0.0.1:{port}"]}, resolver=names
    )
    early = b"e" * 60000
    with weir.connect(f"good.test:{port}", early=early) as tunnel:
        assert tunnel.read(60000) == early


def test_it_is_thrown_away_when_refused(gateway, tcp_server):
    seen = []
    port = tcp_server(lambda connection: seen.append(connection.recv(100)))
    weir = gateway({"allowedDomains": [f"good.test:{port}"]})
    refused = weir.connect(f"127.0.0.1:{port}", early=b"GET / HTTP/1.1\r\n\r\n")
    assert refused.status == 403 and refused.body.count(b"HTTP/1.1") == 0
    assert seen == [] and len(weir.audit()) == 1


def test_too_much_of_it_ends_the_connection(gateway, dns_server):
    names = dns_server({"slow.test": "DROP"})
    weir = gateway({"allowedDomains": ["slow.test"]}, resolver=names)
    with weir.dial() as sock:
        sock.sendall(b"CONNECT slow.test:443 HTTP/1.1\r\n\r\n")

        def refused():
            try:
                sock.sendall(b"x" * 4096)
            except (BrokenPipeError, ConnectionResetError):
                return True

        wait_until(refused, 30, "all of it was taken")
    (line,) = weir.audit()
    assert line["reason"] == "limit"


def test_no_more_than_a_relay_takes(gateway):
    """A gateway that took more of it than one relay can hold would abort when the server
    is slow to read."""
    weir = gateway({}, limits={"earlyBytes": 262145}, expect_fail=True)
    assert weir.status == 2
    assert "limits.earlyBytes: expected a whole number from 1024 to 262144" in weir.log()


def test_leaving_before_the_answer(gateway, dns_server, server):
    """Nothing is dialled for a client that has gone, nor for one that sends no more and
    has sent nothing."""
    there = server(echo)
    names = dns_server({"late.test": "DROP"})
    weir = gateway(
        {"allowedDomains": [f"late.test:{there.port}", f"127.0.0.1:{there.port}"]},
        resolver=names,
    )
    with weir.dial() as sock:
        sock.sendall(f"CONNECT late.test:{there.port} HTTP/1.1\r\n\r\n".encode())
        wait_until(lambda: names.queries, 30, lambda: "no question came")
        sock.shutdown(socket.SHUT_WR)
        assert sock.recv(100) == b""
        names.set("late.test", ["127.0.0.1"])
    (line,) = weir.audit()
    assert (line["reason"], line["close"]) == ("client-left", "client")
    assert there.connections == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "good.test"])
@pytest.mark.parametrize("size", [1, 60000])
def test_all_that_is_said_at_once(gateway, dns_server, echo_server, host, size):
    """`nc -N`: request, data and end in one go; the end is passed on behind the data."""
    port = echo_server()
    names = dns_server({"good.test": ["127.0.0.1"]})
    weir = gateway(
        {"allowedDomains": [f"good.test:{port}", f"127.0.0.1:{port}"]}, resolver=names
    )
    with weir.dial() as sock:
        sock.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\n\r\n".encode() + b"x" * size)
        sock.shutdown(socket.SHUT_WR)
        said = read_to_end(sock)
    assert said.startswith(b"HTTP/1.1 200 ") and said.endswith(b"\r\n\r\n" + b"x" * size)
    (line,) = weir.audit()
    assert (line["bytes_up"], line["bytes_down"]) == (size, size)


@pytest.mark.parametrize("asked, status", [
    ("CONNECT evil.test:443 HTTP/1.1\r\n\r\n", 403), ("CONNECT evil.test HTTP/1.1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\n\r\n", 400), ("CONNECT evil.test:443 HTTP/1.1\r\n\r\nx", 403),
])  # fmt: skip
def test_a_refusal_is_heard_by_who_says_no_more(gateway, asked, status):
    weir = gateway({"allowedDomains": ["good.test"]})
    with weir.dial() as sock:
        sock.sendall(asked.encode())
        sock.shutdown(socket.SHUT_WR)
        assert read_to_end(sock).startswith(b"HTTP/1.1 %d " % status)
