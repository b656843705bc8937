"""Somebody uses up what there is: others go on, and afterwards everything is as it was."""

import concurrent.futures
import os
import resource
import signal
import socket
import subprocess
import sys
import textwrap
import time

import pytest

from support.process import descriptors, settle, status
from support.tunnel import read_to_end
from support.wait import wait_until

MIB = 1024  # KiB
MANY = 5000


@pytest.fixture
def place(gateway, echo_server):
    """place(limits, preexec): a gateway that has served once, and a port behind it."""

    def make(limits=None, preexec=None, workers=2):
        port = echo_server()
        weir = gateway(
            {"allowedDomains": [f"127.0.0.1:{port}"]}, limits=limits, preexec=preexec,
            extra={"admin": "127.0.0.1:0", "workers": workers},
            # What was freed is kept aside by the sanitizer; here it counts.
            env={"ASAN_OPTIONS": "quarantine_size_mb=1:thread_local_quarantine_size_kb=64"},
        )  # fmt: skip
        assert served(weir, port) and weir.admin().get("/healthz").body == "ok\n"
        wait_until(lambda: weir.admin().metrics()["weir_connections_active"] == 0, 20, weir.log)
        return weir, port, descriptors(weir.pid)

    return make


def served(weir, port):
    with weir.connect(f"127.0.0.1:{port}", timeout=60) as tunnel:
        tunnel.send(b"ping")
        return tunnel.status == 200 and tunnel.read(4) == b"ping"


def moves(tunnel):
    tunnel.send(b"x")
    return tunnel.read(1) == b"x"


@pytest.fixture
def many_descriptors():
    """For this process: a client and its end of 5,000 connections."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4 * MANY
    if before[1] != resource.RLIM_INFINITY and before[1] < wanted:
        pytest.skip(f"only {before[1]} descriptors are allowed here, {wanted} are needed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def crowd(weir, port):
    """5,000 clients that never end their heads, until each has been told or closed."""
    slow = []
    for number in range(MANY):
        slow.append(weir.dial(60))
        slow[-1].sendall(b"CONNECT a.test:443 HTTP/1.1\r\nX-"[: number % 30 + 1])
        if number % 1000 == 999:
            assert served(weir, port)
    assert served(weir, port)
    for sock in slow:
        said = read_to_end(sock)
        assert said == b"" or said.startswith(b"HTTP/1.1 408 ")
        sock.close()


def test_five_thousand_slow_clients(place, many_descriptors):
    """D1: others are served, before and after; the second crowd finds the memory of the
    first one free again."""
    weir, port, before = place(
        {"headSeconds": 5, "connections": 2 * MANY, "connectionsPerClient": 2 * MANY}
    )
    crowd(weir, port)
    settle(weir.pid, before)
    memory = status(weir.pid, "VmRSS")
    crowd(weir, port)
    settle(weir.pid, before)
    assert served(weir, port) and weir.admin().get("/healthz").body == "ok\n"
    more = status(weir.pid, "VmRSS") - memory
    assert more < 16 * MIB, f"{more} KiB more"


def ask(weir, port):
    """A tunnel, or None when it is refused for want of somebody who is silent for long
    enough: in words, or without when too many are being told."""
    try:
        tunnel = weir.connect(f"127.0.0.1:{port}", timeout=60)
    except (ConnectionError, AssertionError):
        return None
    if tunnel.status == 200:
        return tunnel
    assert tunnel.status == 503
    tunnel.close()
    return None


def few():
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))


def test_three_hundred_tunnels_in_256_descriptors(place):
    """D3: those that are silent make room for those that come; one that moves stays."""
    weir, port, before = place({"shedSeconds": 1, "idleSeconds": 3600}, few)
    busy = weir.connect(f"127.0.0.1:{port}", timeout=60)
    held, refused, end = [], 0, time.monotonic() + 120
    while len(held) < 300:
        assert time.monotonic() < end, f"{len(held)} tunnels, {refused} refused"
        tunnel = ask(weir, port)
        if tunnel is not None:
            assert moves(tunnel)
            held.append(tunnel)
        else:
            refused += 1
            time.sleep(0.05)
        assert moves(busy)
    assert descriptors(weir.pid) <= 256
    metrics = weir.admin().metrics()
    assert metrics["weir_shed_total"] >= 300 - 64
    assert moves(held[-1])
    for tunnel in held:
        tunnel.close()
    settle(weir.pid, before + 2)
    assert moves(busy)
    busy.close()
    settle(weir.pid, before)
    lines = [line for line in weir.audit(301, timeout=30) if line["verdict"] == "allow"]
    assert sum(line.get("close") == "shed" for line in lines) >= 300 - 64
    assert served(weir, port) and weir.admin().get("/readyz").status == 200


def test_idle_ones_of_other_workers_make_room(place):
    """Whoever of four workers has the idle ones: in a while no client is refused."""
    weir, port, before = place({"shedSeconds": 1, "idleSeconds": 3600}, few, workers=4)
    idle = []
    while (tunnel := ask(weir, port)) is not None:
        idle.append(tunnel)
    assert len(idle) >= 60

    def is_told():
        tunnel = ask(weir, port)
        if tunnel is not None:
            idle.append(tunnel)
        return "clients are refused" in weir.admin().get("/healthz").body

    wait_until(is_told, 60, weir.log)
    for _ in range(40):
        tunnel = wait_until(lambda: ask(weir, port), 60, lambda: weir.admin().get("/metrics").body)
        assert moves(tunnel)
        idle.append(tunnel)
    for tunnel in idle:
        tunnel.close()
    settle(weir.pid, before)


def test_none_left_but_somebody_idles(place):
    """Something else has eaten them, so that not even a refusal can be said: what idles
    makes room, and who waits in the socket is served."""
    weir, port, before = place({"shedSeconds": 1, "idleSeconds": 3600}, workers=1)
    idle = [weir.connect(f"127.0.0.1:{port}", timeout=60) for _ in range(20)]
    limit = resource.prlimit(weir.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(weir.pid, resource.RLIMIT_NOFILE, (descriptors(weir.pid), limit[1]))
    assert served(weir, port)
    shed = weir.admin().metrics()["weir_shed_total"]
    assert 1 <= shed <= 20
    resource.prlimit(weir.pid, resource.RLIMIT_NOFILE, limit)
    for tunnel in idle:
        tunnel.close()
    settle(weir.pid, before)
    assert sum(line.get("close") == "shed" for line in weir.audit(22)) == shed


def test_single_bytes(place):
    """Clients that write and read one byte at a time get all of what they ask."""
    weir, port, before = place()

    def talk(number):
        with weir.dial(60) as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\nX: {number}\r\n\r\n".encode():
                sock.sendall(bytes([byte]))
            said = b""
            while not said.endswith(b"\r\n\r\n"):
                said += sock.recv(1)
            for byte in b"%05d" % number:
                sock.sendall(bytes([byte]))
            echo = b""
            while len(echo) < 5:
                echo += sock.recv(1)
            return said.startswith(b"HTTP/1.1 200 ") and echo

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        assert list(pool.map(talk, range(200))) == [b"%05d" % n for n in range(200)]
    settle(weir.pid, before)


BOMBS = [
    b"CONNECT a.test:443 HTTP/1.1\r\n" + b"X: y\r\n" * 5000,
    b"CONNECT a.test:443 HTTP/1.1\r\nX: " + b"y" * 200000,
    b"CONNECT " + b"a" * 200000,
    b"\r\n" * 100000,
    b"\x05\xff" + b"\x00" * 255,
    b"\x16\x03\x01\xff\xff" + b"\x00" * 65535,
    os.urandom(100000),
]


def test_bombs(place):
    """D2: a hundred at a time; a neighbour goes on."""
    weir, port, before = place()
    neighbour = weir.connect(f"127.0.0.1:{port}", timeout=60)
    memory = status(weir.pid, "VmRSS")

    def throw(number):
        with weir.dial(60) as sock:
            try:
                sock.sendall(BOMBS[number % len(BOMBS)])
                sock.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # it was refused before it was sent
            try:
                return read_to_end(sock)[:12]
            except OSError:
                return b""

    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        answers = set(pool.map(throw, range(700)))
    assert all(not answer.startswith(b"HTTP/1.1 200") for answer in answers)
    assert moves(neighbour)
    neighbour.close()
    settle(weir.pid, before)
    assert status(weir.pid, "VmRSS") - memory < 60 * MIB


CLIENT = """
    import socket, sys, time
    port, behind = int(sys.argv[1]), sys.argv[2]
    held = []
    for _ in range(100):
        sock = socket.create_connection(("127.0.0.1", port))
        sock.sendall(f"CONNECT 127.0.0.1:{behind} HTTP/1.1\\r\\n\\r\\n".encode())
        assert sock.recv(100).startswith(b"HTTP/1.1 200")
        sock.sendall(b"z" * 1000)
        held.append(sock)
    print("ready", flush=True)
    time.sleep(3600)
"""


def test_killed_clients(place):
    """D4: SIGKILL in the middle of a hundred tunnels, five times."""
    weir, port, before = place()
    for _ in range(5):
        client = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(CLIENT), str(weir.port), str(port)],
            stdout=subprocess.PIPE,
        )
        assert client.stdout.readline() == b"ready\n"
        client.send_signal(signal.SIGKILL)
        client.wait()
        client.stdout.close()
        assert served(weir, port)
    settle(weir.pid, before)
    assert weir.admin().get("/healthz").body == "ok\n"


def test_one_client_over_its_limit_costs_no_other(place):
    """At the limit of descriptors a client with too many of its own makes no room for
    itself at the cost of others."""
    weir, port, before = place(
        {"shedSeconds": 0.1, "connectionsPerClient": 3, "idleSeconds": 3600}, few
    )
    theirs = [weir.connect(f"127.0.0.1:{port}", timeout=60) for _ in range(3)]
    time.sleep(0.2)
    for _ in range(10):
        assert weir.connect(f"127.0.0.1:{port}", timeout=60).status == 503
    assert weir.admin().metrics()["weir_shed_total"] == 0
    for tunnel in theirs:
        assert moves(tunnel)
        tunnel.close()
    settle(weir.pid, before)
