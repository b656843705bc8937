"""What one client can use up is bounded, and others do not notice."""

import os
import resource
import socket
import time

import pytest

from support.servers import echo
from support.tunnel import read_to_end
from support.wait import wait_until


def descriptors(weir):
    return len(os.listdir(f"/proc/{weir.pid}/fd"))


def cpu_seconds(weir):
    with open(f"/proc/{weir.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def settle(weir, before):
    """Everything that was opened is closed again."""
    wait_until(
        lambda: descriptors(weir) <= before, 20,
        lambda: f"{descriptors(weir)} descriptors, {before} before",
    )  # fmt: skip


def served(weir, port):
    with weir.connect(f"127.0.0.1:{port}", timeout=20) as tunnel:
        tunnel.send(b"ping")
        return tunnel.status == 200 and tunnel.read(4) == b"ping"


@pytest.fixture
def place(gateway, echo_server):
    """place(**limits): a gateway and the port of a server behind it."""

    def make(preexec=None, **limits):
        port = echo_server()
        weir = gateway(
            {"allowedDomains": [f"127.0.0.1:{port}"]}, limits=limits, preexec=preexec
        )
        assert served(weir, port) and weir.audit()
        return weir, port, descriptors(weir)

    return make


def test_slowloris(place):
    """D1: three hundred clients that never end their head; the deadline is absolute."""
    weir, port, before = place(headSeconds=1.5)
    slow = [weir.dial(20) for _ in range(300)]
    for round in range(3):
        for sock in slow:
            sock.sendall(b"CONNECT a.test:443 HTTP/1.1\r\n"[round * 5 : round * 5 + 5])
        assert served(weir, port)
    for sock in slow:
        try:
            sock.sendall(b"X")
        except OSError:
            pass
        assert read_to_end(sock)[:12] in (b"HTTP/1.1 408", b"")
        sock.close()
    settle(weir, before)
    assert served(weir, port)


@pytest.mark.parametrize("head, statuses", [
    (b"CONNECT a.test:443 HTTP/1.1\r\n" + b"X: y\r\n" * 101 + b"\r\n", [b"431", b"400"]),
    (b"CONNECT a.test:443 HTTP/1.1\r\nX: " + b"y" * 20000 + b"\r\n\r\n", [b"431"]),
    (b"CONNECT " + b"a" * 20000 + b":443 HTTP/1.1\r\n\r\n", [b"431", b"414", b"400"]),
    (b"CONNECT a.test:443 HTTP/1.1\r\n" + b"X: yyyyyyyyyyyyyyyyyyyyyyyyyy\r\n" * 3000,
     [b"431"]),
    (b"\r\n" * 500000, [b"400", b"431"]),
], ids=["fields", "field", "target", "endless", "empty lines"])  # fmt: skip
def test_large_heads(place, head, statuses):
    """D2."""
    weir, port, before = place()
    with weir.dial() as sock:
        try:
            sock.sendall(head)
        except OSError:
            pass  # it was answered before all was sent
        assert read_to_end(sock)[9:12] in statuses
    settle(weir, before)
    assert served(weir, port)


def test_writers_of_single_bytes(place):
    weir, port, before = place()
    head = f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\nping".encode()
    socks = [weir.dial() for _ in range(50)]
    for i in range(len(head)):
        for sock in socks:
            sock.sendall(head[i : i + 1])
    for sock in socks:
        said = b""
        while not said.endswith(b"ping"):
            piece = sock.recv(100)
            assert piece, said
            said += piece
        sock.close()
    settle(weir, before)


def test_slow_readers(gateway, tcp_server):
    """D7: servers that pour into clients that do not read. Memory stays bounded, and a
    client that reads gets all."""
    size = 8_000_000

    def pour(connection):
        connection.recv(1)
        connection.sendall(b"w" * size)

    port = tcp_server(pour)
    weir = gateway({"allowedDomains": [f"127.0.0.1:{port}"]})

    def memory():
        with open(f"/proc/{weir.pid}/status") as file:
            return next(int(x.split()[1]) for x in file if x.startswith("VmRSS")) / 1024

    before, base = descriptors(weir), memory()
    stuck = [weir.connect(f"127.0.0.1:{port}") for _ in range(60)]
    for tunnel in stuck:
        tunnel.send(b"x")
    with weir.connect(f"127.0.0.1:{port}", timeout=60) as tunnel:
        tunnel.send(b"x")
        assert len(tunnel.read(size)) == size
    # 60 tunnels keep at most a buffer each, whatever the allocator makes of it;
    # ThreadSanitizer keeps four bytes for each that it watches.
    factor = 5 if os.environ.get("WEIR_PROFILE") == "tsan" else 1
    assert memory() - base < factor * (60 * 0.75 + 20), f"{memory() - base} MiB more"
    for tunnel in stuck:
        tunnel.close()
    settle(weir, before)


def test_killed_clients(gateway, tcp_server):
    """D4: clients that vanish in the middle leave nothing behind, and nothing spins."""

    def pour(connection):
        connection.recv(1)
        while True:
            connection.sendall(b"w" * 65536)

    port = tcp_server(pour)
    weir = gateway({"allowedDomains": [f"127.0.0.1:{port}"]})
    before = descriptors(weir)
    linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
    for _ in range(40):
        tunnel = weir.connect(f"127.0.0.1:{port}")
        tunnel.send(b"x")
        tunnel.read(1000)
        tunnel.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        tunnel.close()
    settle(weir, before)
    assert len(weir.audit(40)) == 40
    used = cpu_seconds(weir)
    time.sleep(1)
    assert cpu_seconds(weir) - used < 0.3


def test_more_tunnels_than_descriptors(place):
    """D3: those that fit are served, the others are told, and it recovers by itself."""

    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

    weir, port, before = place(preexec=few)
    tunnels = [weir.connect(f"127.0.0.1:{port}", timeout=20) for _ in range(64)]
    assert all(tunnel.status == 200 for tunnel in tunnels)
    refused = 0
    for _ in range(200):
        answer = weir.raw(b"CONNECT a.test:443 HTTP/1.1\r\n\r\n", timeout=20)
        assert answer.startswith(b"HTTP/1.1 503 ") or answer == b""
        refused += 1
    assert refused == 200
    for tunnel in tunnels:
        tunnel.send(b"still")
        assert tunnel.read(5) == b"still"
        tunnel.close()
    settle(weir, before)
    assert served(weir, port)
    assert sum(line["reason"] == "limit" for line in weir.audit(265)) == 200


def test_no_descriptors_at_all(gateway, echo_server):
    """Something else in the process has eaten them: accepting rests, without spinning, and
    goes on when there are some again."""
    port = echo_server()
    weir = gateway({"allowedDomains": [f"127.0.0.1:{port}"]})
    assert served(weir, port) and weir.audit()
    before = descriptors(weir)
    limit = resource.prlimit(weir.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(weir.pid, resource.RLIMIT_NOFILE, (before, limit[1]))
    waiting = [weir.dial(20) for _ in range(20)]
    for sock in waiting:
        sock.sendall(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode())
    wait_until(lambda: "accepting rests" in weir.log(), 30, weir.log)
    used = cpu_seconds(weir)
    time.sleep(1)
    assert cpu_seconds(weir) - used < 0.3
    resource.prlimit(weir.pid, resource.RLIMIT_NOFILE, limit)
    for sock in waiting:
        assert sock.recv(100).startswith(b"HTTP/1.1 200 ")
        sock.close()
    settle(weir, before)
    assert weir.log().count("accepting rests") == 1


def test_connections_of_one_client(place):
    weir, port, before = place(connectionsPerClient=5)
    tunnels = [weir.connect(f"127.0.0.1:{port}") for _ in range(5)]
    refused = weir.connect(f"127.0.0.1:{port}")
    assert refused.status == 503 and refused.phrase == "too many connections"
    with socket.create_connection(("127.0.0.1", weir.port), 5, ("127.0.0.2", 0)) as other:
        other.sendall(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode())
        assert other.recv(100).startswith(b"HTTP/1.1 200 ")
    for tunnel in tunnels:
        tunnel.close()
    settle(weir, before)
    assert served(weir, port)


OVER = [
    (b"CONNECT a.test:443 HTTP/1.1\r\n\r\n", b"HTTP/1.1 503 too many connections\r\n"),
    (b"G", b"HTTP/1.1 503 too many connections\r\n"),
    (b"\x05\x01\x00", b"\x05\xff"),
    (b"\x04\x01\x01\xbb\x7f\x00\x00\x01\x00", b"\x00\x5b\x00\x00\x00\x00\x00\x00"),
    (b"\x16\x03\x01\x02\x00", b""),
    (b"\x00\x00", b""),
    (b"", b""),
]


@pytest.mark.parametrize("limit", ["connections", "connectionsPerClient"])
@pytest.mark.parametrize("said, heard", OVER, ids=["http", "one byte", "socks5", "socks4",
                                                   "tls", "junk", "silence"])  # fmt: skip
def test_over_a_limit_in_the_words_of_the_client(place, limit, said, heard):
    """Each is told in its own protocol, or nothing that it would not understand."""
    weir, port, before = place(**{limit: 2})
    tunnels = [weir.connect(f"127.0.0.1:{port}") for _ in range(2)]
    answer = weir.raw(said)
    assert answer.startswith(heard) if heard.startswith(b"HTTP") else answer == heard
    for tunnel in tunnels:
        tunnel.send(b"ping")
        assert tunnel.read(4) == b"ping"
    (line,) = weir.audit(2)[1:]
    assert (line["verdict"], line["reason"]) == ("deny", "limit")
    for tunnel in tunnels:
        tunnel.close()
    settle(weir, before)
    assert served(weir, port)


def test_flood_over_a_limit(place):
    """Refusing costs little, and never holds more than a few connections."""
    weir, port, before = place(connections=3)
    tunnels = [weir.connect(f"127.0.0.1:{port}") for _ in range(3)]
    flood = [weir.dial() for _ in range(200)]
    wait_until(lambda: len(weir.audit(0)) >= 201, 20, "not all were refused")
    assert descriptors(weir) <= before + 2 * 3 + 40
    for sock in flood:
        sock.close()
    for tunnel in tunnels:
        tunnel.close()
    settle(weir, before)
    assert served(weir, port)


def test_name_server_that_never_answers(gateway, dns_server, server):
    """D9: five hundred clients wait for it; others are served meanwhile."""
    there = server(echo)
    names = dns_server({"good.test": ["127.0.0.1"], "slow.test": "DROP"})
    weir = gateway(
        {"allowedDomains": ["slow.test", f"good.test:{there.port}",
                            f"127.0.0.1:{there.port}"]},
        resolver=names, limits={"connectSeconds": 3},
    )  # fmt: skip
    assert served(weir, there.port) and weir.audit()
    before = descriptors(weir)
    waiting = [weir.dial(30) for _ in range(500)]
    for sock in waiting:
        sock.sendall(b"CONNECT slow.test:443 HTTP/1.1\r\n\r\n")
    assert served(weir, there.port)
    with weir.connect(f"good.test:{there.port}") as tunnel:
        assert tunnel.status == 200
    for sock in waiting:
        assert read_to_end(sock)[9:12] == b"504"
        sock.close()
    asked = [name for name, _ in names.queries if name == "slow.test"]
    assert len(asked) < 50, "equal questions are asked once"
    settle(weir, before + 1)  # the resolver's socket may stay open


def test_idle_tunnels(gateway, echo_server):
    """D6."""
    port = echo_server()
    weir = gateway({"allowedDomains": [f"127.0.0.1:{port}"]}, limits={"idleSeconds": 1})
    before = descriptors(weir)
    tunnels = [weir.connect(f"127.0.0.1:{port}", timeout=20) for _ in range(50)]
    for tunnel in tunnels:
        assert tunnel.read_all() == b""
    settle(weir, before)
    assert {line["close"] for line in weir.audit(50)} == {"idle"}
