"""Connections to servers that wait for another plain request: whose they are, for how long
they are kept, and for whom they make room."""

import itertools
import os
import resource
import threading
import time

import pytest

from support.plain import Client, Script, get, ok
from support.process import open_files
from support.servers import echo
from support.wait import wait_until

ADMIN = {"admin": "127.0.0.1:0"}
EACH = 16  # of a session: UPSTREAMS_EACH
CLIENTS = 64  # that fit into 256 descriptors
SHED_SOON = {"shedSeconds": 0.1, "idleSeconds": 3600}
SILENT = 0.15  # seconds after which a tunnel may be shed


class Origin:
    """A server that answers when all of `count` requests are there, so that each of them
    has a connection of its own."""

    def __init__(self, server):
        self.together = threading.Barrier(1)
        self.script = Script(self.answer)
        self.server = server(self.script)
        self.port = self.server.port

    def answer(self, request, connection):
        self.together.wait(60)
        return ok()


def fill(weir, origin, count, host="127.0.0.1"):
    """Requests at once: as many connections wait afterwards. Returns their clients."""
    origin.together = threading.Barrier(count)
    clients = [Client(weir) for _ in range(count)]
    for client in clients:
        client.send(get(f"http://{host}:{origin.port}/"))
    for client in clients:
        assert client.answer().status == 200
    origin.together = threading.Barrier(1)
    return clients


def kept(weir, origin):
    """Connections of the gateway to the origin."""
    there = f":{origin.port:04X} 01"
    return sum(name.endswith(there) for name in open_files(weir.pid))


def leave(weir, count):
    """From now on only `count` more descriptors can be opened."""
    taken = {int(name) for name in os.listdir(f"/proc/{weir.pid}/fd")}
    free = (number for number in itertools.count() if number not in taken)
    limit = resource.prlimit(weir.pid, resource.RLIMIT_NOFILE)
    few = next(itertools.islice(free, count, None))
    return resource.prlimit(weir.pid, resource.RLIMIT_NOFILE, (few, limit[1]))


def few():
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))


@pytest.fixture
def place(gateway, server):
    """place(**more): a gateway, an origin for plain requests, and the port of an echo."""

    def make(**more):
        origin, there = Origin(server), server(echo)
        names = [f"127.0.0.1:{origin.port}", f"127.0.0.1:{there.port}"]
        weir = gateway({"allowedDomains": names}, extra=ADMIN, **more)
        with weir.connect(f"127.0.0.1:{there.port}") as tunnel:
            assert tunnel.status == 200
        wait_until(lambda: weir.admin().metrics()["weir_connections_active"] == 0, 20, weir.log)
        return weir, origin, there.port

    return make


def open_tunnel(weir, port):
    tunnel = weir.connect(f"127.0.0.1:{port}", timeout=60)
    assert tunnel.status == 200, tunnel.body
    tunnel.send(b"x")
    assert tunnel.read(1) == b"x"
    return tunnel


def shed(weir):
    return weir.admin().metrics()["weir_shed_total"]


def test_they_make_room_before_any_tunnel_does(place):
    """D3: tunnels that are silent for long enough are cut, but not as long as servers
    wait for nobody."""
    weir, origin, port = place(preexec=few, limits=SHED_SOON)
    for client in fill(weir, origin, EACH):
        client.close()
    wait_until(lambda: weir.admin().metrics()["weir_connections_active"] == 0, 20, weir.log)
    assert kept(weir, origin) == EACH
    tunnels = []
    for _ in range(CLIENTS):
        tunnels.append(open_tunnel(weir, port))
        if len(tunnels) % 16 == 1:
            time.sleep(SILENT)
    assert shed(weir) == 0
    assert kept(weir, origin) == 0
    for tunnel in tunnels:
        tunnel.send(b"y")
        assert tunnel.read(1) == b"y"
    time.sleep(SILENT)
    open_tunnel(weir, port)
    assert shed(weir) == 1


@pytest.mark.parametrize("free", [0, 1], ids=["for a client", "for its server"])
def test_they_make_room_when_nothing_else_is_left(place, free):
    """Something has eaten the descriptors: the client, or the connection to its server,
    gets one of theirs."""
    weir, origin, port = place(limits=SHED_SOON)
    tunnel = open_tunnel(weir, port)
    clients = fill(weir, origin, EACH)
    assert kept(weir, origin) == EACH
    time.sleep(SILENT)
    limit = leave(weir, free)
    other = open_tunnel(weir, port)
    assert kept(weir, origin) == 0
    resource.prlimit(weir.pid, resource.RLIMIT_NOFILE, limit)
    assert shed(weir) == 0
    for stays in (tunnel, other):
        stays.send(b"y")
        assert stays.read(1) == b"y"
    for client in clients:
        assert client.ask(get(f"http://127.0.0.1:{origin.port}/")).status == 200
        client.close()
