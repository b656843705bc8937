"""Connections to servers that wait for another plain request: whose they are, for how long
they are kept, and for whom they make room."""

import itertools
import os
import resource
import threading
import time

import pytest

from support.fleet import TOKENS, basic
from support.plain import Client, Script, get, ok
from support.process import open_files
from support.servers import echo
from support.wait import wait_until

ADMIN = {"admin": "127.0.0.1:0"}
EACH = 16  # fewer than a session may keep
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


def reused(script):
    """How many requests came on each connection."""
    return [said.count(b"\r\n\r\n") for said in script.heard]


def test_one_client_and_one_target_need_one_connection(place):
    weir, origin, _ = place()
    for _ in range(3):
        with Client(weir) as client:
            for _ in range(5):
                assert client.ask(get(f"http://127.0.0.1:{origin.port}/")).status == 200
    assert reused(origin.script) == [15]


@pytest.fixture
def two_clients(gateway, server, token_file):
    """A gateway with two clients, and an origin that both may reach."""
    origin = Origin(server)
    clients = [
        {"name": name, "tokenFile": token_file(name, TOKENS[name])} for name in ("ci", "lab")
    ]
    weir = gateway(
        {"allowedDomains": [f"127.0.0.1:{origin.port}"]}, extra={"clients": clients}
    )
    return weir, origin


def test_two_clients_never_share_one(two_clients):
    """By turns, and within one connection of theirs: each of them has its own."""
    weir, origin = two_clients
    with Client(weir) as client:
        for _ in range(6):
            for name in ("ci", "lab"):
                login = basic(name, TOKENS[name]).strip()
                url = f"http://127.0.0.1:{origin.port}/{name}"
                assert client.ask(get(url, login)).status == 200
    assert reused(origin.script) == [6, 6]
    for said, own, other in zip(origin.script.heard, (b"/ci", b"/lab"), (b"/lab", b"/ci")):
        assert own in said and other not in said
        assert b"Proxy-Authorization" not in said


def test_another_policy_empties_it(place, server):
    """What it denies is closed at once; what it allows as before stays."""
    weir, origin, _ = place()
    other = Origin(server)

    def network(*servers):
        names = [f"127.0.0.1:{one.port}" for one in servers]
        return {**weir.settings(), "network": {"allowedDomains": names}}

    weir.reload(network(origin, other))
    with Client(weir) as client:
        for one in (origin, other):
            assert client.ask(get(f"http://127.0.0.1:{one.port}/")).status == 200
        assert kept(weir, origin) == kept(weir, other) == 1
        weir.reload(network(other))
        wait_until(origin.script.all_ended, 20, "its connection is still open")
        assert kept(weir, origin) == 0 and kept(weir, other) == 1
        assert client.ask(get(f"http://127.0.0.1:{origin.port}/")).status == 403
        assert client.ask(get(f"http://127.0.0.1:{other.port}/")).status == 200
    assert reused(origin.script) == [1] and reused(other.script) == [2]
    assert [line["verdict"] for line in weir.audit(5)[-2:]] == ["deny", "allow"]


BEGINNINGS = {
    "length": b"Content-Length: 100\r\n\r\nstart",
    "chunked": b"Transfer-Encoding: chunked\r\n\r\n5\r\nstart\r\n",
    "until it closes": b"\r\nstart",
}


def was_cut(sock):
    """The end is no end: what a client with no other means takes for a whole body."""
    try:
        said = sock.recv(1000)
    except ConnectionResetError:
        return True
    raise AssertionError(f"after the cut: {said!r}")


@pytest.mark.parametrize("version", ["HTTP/1.1", "HTTP/1.0"])
@pytest.mark.parametrize("beginning", BEGINNINGS.values(), ids=BEGINNINGS)
def test_another_policy_cuts_what_is_under_way(gateway, server, beginning, version):
    """In the middle of a body: neither the client nor the server takes it for whole."""
    ended, done = [], threading.Event()

    def start(request, connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\n" + beginning)
        try:
            ended.append(connection.recv(1))
        except ConnectionResetError:
            ended.append("reset")
        done.set()

    there = server(Script(start))
    weir = gateway({"allowedDomains": [f"127.0.0.1:{there.port}"]})
    with Client(weir) as client:
        client.send(get(f"http://127.0.0.1:{there.port}/", version=version))
        while b"start" not in client.stream.data:
            assert client.stream.more()
        if b"chunked" in client.stream.data.lower():
            while not client.stream.data.endswith(b"start\r\n"):
                assert client.stream.more()
        weir.reload({**weir.settings(), "network": {"allowedDomains": ["other.test"]}})
        assert was_cut(client.sock)
        assert b"\r\n0\r\n\r\n" not in client.stream.data
    assert done.wait(20) and ended == ["reset"]
    (line,) = weir.audit(1)
    assert (line["verdict"], line["reason"]) == ("deny", "policy-revoked"), line
    assert line["close"] == "revoked" and line["bytes_down"] > 0


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
