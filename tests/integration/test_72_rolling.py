"""Two gateways behind HAProxy, each in a namespace of its own: one is killed, both are
restarted one after the other."""

import contextlib
import shutil
import socket
import subprocess
import threading

import pytest

from support.servers import echo
from support.wait import wait_until

PATIENCE = 60
PORT, FRONT = 3128, 8080
HERE, THERE = "203.0.113.1", "203.0.113.2"
CONFIG = f"""
global
    stats socket {{folder}}/control level admin
defaults
    mode tcp
    timeout connect 2s
    timeout client 60s
    timeout server 60s
    retries 3
    option redispatch
frontend clients
    bind 127.0.0.1:{FRONT}
    default_backend gateways
backend gateways
    balance roundrobin
    default-server check inter 200ms fall 1 rise 1 send-proxy-v2
    server here {HERE}:{PORT}
    server there {THERE}:{PORT}
"""


class Pair:
    """Clients ask HAProxy in namespace `a`; gateways listen in both; the server that all
    want is in `b`."""

    def __init__(self, netns, gateway, server, folder):
        self.netns, self.start_gateway, self.folder = netns, gateway, folder
        self.port = server(echo, host=THERE, netns=netns.b).port
        self.gateways = {name: self.start(name) for name in ("here", "there")}
        file = folder / "haproxy.cfg"
        file.write_text(CONFIG.format(folder=folder))
        self.haproxy = subprocess.Popen(
            [*netns.a.prefix, HAPROXY, "-db", "-f", str(file)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wait_until(lambda: self.is_up("here") and self.is_up("there"), PATIENCE, "two servers")

    def start(self, name):
        listen = {"address": f"0.0.0.0:{PORT}", "proxyProtocol": [HERE]}
        return self.start_gateway(
            {"allowedDomains": [f"{THERE}:{self.port}"]},
            listen=[listen], netns=self.netns.a if name == "here" else self.netns.b,
        )  # fmt: skip

    def command(self, text):
        """An answer of HAProxy's control socket; empty while there is none."""
        with socket.socket(socket.AF_UNIX) as sock, contextlib.suppress(OSError):
            sock.settimeout(PATIENCE)
            sock.connect(str(self.folder / "control"))
            sock.sendall(f"{text}\n".encode())
            return b"".join(iter(lambda: sock.recv(65536), b"")).decode()
        return ""

    def look(self, name, column):
        lines = [line.split(",") for line in self.command("show stat").splitlines()]
        return [line[column] for line in lines if line[:2] == ["gateways", name]]

    def is_up(self, name):
        return self.look(name, 17) == ["UP"]

    def is_empty(self, name):
        return self.look(name, 4) == ["0"]

    def tunnel(self):
        """One that stands, and has echoed."""
        sock = self.netns.a.connect("127.0.0.1", FRONT, timeout=PATIENCE)
        try:
            sock.sendall(f"CONNECT {THERE}:{self.port} HTTP/1.1\r\n\r\n".encode())
            said = b""
            while not said.endswith(b"\r\n\r\n"):
                piece = sock.recv(4096)
                assert piece, f"closed after {said!r}"
                said += piece
            assert said.startswith(b"HTTP/1.1 200 "), said
            self.assert_echoes(sock)
        except BaseException:
            sock.close()
            raise
        return sock

    def assert_echoes(self, sock):
        sock.sendall(b"hello")
        assert sock.recv(5, socket.MSG_WAITALL) == b"hello"

    def close(self):
        self.haproxy.terminate()
        self.haproxy.wait(timeout=PATIENCE)


HAPROXY = shutil.which("haproxy", path="/usr/sbin:/usr/bin")


@pytest.fixture
def pair(netns_pair, gateway, server, tmp_path, closing):
    if HAPROXY is None:
        pytest.skip("haproxy is not installed")
    return closing(Pair(netns_pair(), gateway, server, tmp_path))


def was_cut(sock):
    try:
        sock.sendall(b"hello")
        return sock.recv(5) == b""
    except (ConnectionResetError, BrokenPipeError):
        return True


def test_one_is_killed_and_clients_go_on(pair):
    tunnels = [pair.tunnel() for _ in range(6)]
    killed = pair.gateways["there"]
    killed.process.kill()
    killed.status = killed.process.wait(timeout=PATIENCE)
    cut = [sock for sock in tunnels if was_cut(sock)]
    assert len(cut) == 3
    # Whoever was cut asks again, and needs no second try: HAProxy asks the other one.
    again = [pair.tunnel() for _ in range(6)]
    for sock in [*again, *(sock for sock in tunnels if sock not in cut)]:
        pair.assert_echoes(sock)
    for sock in [*tunnels, *again]:
        sock.close()
    assert len(pair.gateways["here"].audit(9)) == 9


def test_a_rolling_restart_loses_no_connection(pair):
    """Each is taken out of balance, ended and started again, while clients ask."""
    stop, failures, count = threading.Event(), [], [0]

    def ask():
        while not stop.is_set() and not failures:
            try:
                pair.tunnel().close()
                count[0] += 1
            except (OSError, AssertionError) as error:
                failures.append(repr(error))

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for name in "here", "there":
            before = count[0]
            wait_until(lambda n=before: count[0] > n + 5 or failures, PATIENCE, "clients")
            pair.command(f"set server gateways/{name} state drain")
            wait_until(lambda n=name: pair.is_empty(n), PATIENCE, f"{name} empty")
            assert pair.gateways[name].stop() == 0
            pair.gateways[name] = pair.start(name)
            pair.command(f"set server gateways/{name} state ready")
            wait_until(lambda n=name: pair.is_up(n) or failures, PATIENCE, f"{name} up")
    finally:
        stop.set()
        asking.join(timeout=PATIENCE)
    assert failures == [] and count[0] > 10
    with pair.tunnel() as one, pair.tunnel() as other:
        pair.assert_echoes(one)
        pair.assert_echoes(other)
    for weir in pair.gateways.values():
        assert {line["verdict"] for line in weir.audit(1)} == {"allow"}
