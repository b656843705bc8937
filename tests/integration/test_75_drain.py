"""The end of a gateway: nothing new is taken, what goes on may go on, and with sockets
that outlive it nobody is refused."""

import concurrent.futures
import contextlib
import os
import signal
import threading
import time

import pytest

from support.plain import Site, get
from support.servers import listen_on
from support.tunnel import read_to_end
from support.wait import wait_until

LONG = {"drainSeconds": 3600}


@pytest.fixture
def place(gateway, echo_server):
    def make(**more):
        port = echo_server()
        extra = {"admin": "127.0.0.1:0", "workers": 2}
        return gateway({"allowedDomains": [f"127.0.0.1:{port}"]}, extra=extra, **more), port

    return make


def end(weir):
    os.kill(weir.pid, signal.SIGTERM)
    wait_until(lambda: "active_at_termination" in weir.log(), 20, weir.log)


@contextlib.contextmanager
def moving(tunnel):
    """While it is moved it is not idle: idle ones are closed at the end."""
    over = threading.Event()

    def move():
        while not over.wait(0.2):
            tunnel.send(b"on")
            assert tunnel.read(2) == b"on"

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        moved = pool.submit(move)
        try:
            yield
        finally:
            over.set()
    moved.result()


def refused(weir):
    """Each worker closes its socket when its own turn comes."""
    try:
        weir.dial().close()
    except ConnectionRefusedError:
        return True
    return False


def test_nothing_new_and_all_else_goes_on(place):
    """D13: told in the log, on the admin pages and in the audit."""
    weir, port = place(limits=LONG)
    tunnel = weir.connect(f"127.0.0.1:{port}", timeout=20)
    assert weir.admin().get("/readyz").status == 200
    with moving(tunnel):
        end(weir)
        wait_until(lambda: refused(weir), 20, "the gateway still accepts")
        page = weir.admin().get("/readyz")
        assert page.status == 503 and "ending" in page.body
        health = weir.admin().get("/healthz")
        assert health.status == 200 and "degraded: ending" in health.body
        assert weir.admin().metrics()["weir_ending"] == 1
    tunnel.send(b"on")
    assert tunnel.read(2) == b"on"
    tunnel.close()
    assert weir.process.wait(timeout=20) == 0
    (line,) = weir.audit()
    assert line["close"] in ("client", "error") and line["bytes_down"] >= 2


def test_idle_ones_are_closed(place):
    weir, port = place(limits=LONG)
    tunnel = weir.connect(f"127.0.0.1:{port}", timeout=20)
    silent = weir.dial(20)
    end(weir)
    assert tunnel.read_all() == b"" and read_to_end(silent) == b""
    assert weir.process.wait(timeout=20) == 0
    (line,) = weir.audit()
    assert line["close"] == "shutdown" and line["verdict"] == "allow"


def test_an_idle_client_between_two_requests_is_closed(gateway, server):
    """It may keep its connection for a minute, but nothing is lost by its end."""
    at = Site(gateway, server, limits=LONG)
    with at.client() as client:
        assert client.ask(get(at.url)).status == 200
        end(at.weir)
        assert client.is_closed()
    assert at.weir.process.wait(timeout=20) == 0


def test_a_busy_client_is_told_that_it_is_the_last_answer(gateway, server):
    """One that keeps its connection and always asks again would hold it up for ever."""
    at = Site(gateway, server, limits=LONG)
    with at.client() as client:
        assert client.ask(get(at.url)).get("connection") is None
        end(at.weir)
        answers = []
        while not answers or answers[-1].get("connection") != "close":
            answers.append(client.ask(get(at.url)))
            assert answers[-1].status == 200 and len(answers) < 1000
        assert client.sock.recv(1) == b""
    assert at.weir.process.wait(timeout=20) == 0


def test_no_reload_at_the_end(place):
    weir, port = place(limits=LONG)
    tunnel = weir.connect(f"127.0.0.1:{port}", timeout=20)
    with moving(tunnel):
        end(weir)
        weir.write({**weir.settings(), "network": {}})
        os.kill(weir.pid, signal.SIGHUP)
        wait_until(lambda: "SIGHUP" in weir.log(), 20, weir.log)
    tunnel.send(b"on")
    assert tunnel.read(2) == b"on"
    assert "reload" not in weir.log()
    tunnel.close()
    assert weir.process.wait(timeout=20) == 0


def test_the_end_in_the_middle_of_a_reload(place):
    """The workers carry it out when the sockets of the main thread are closed already."""
    weir, port = place(limits=LONG)
    tunnel = weir.connect(f"127.0.0.1:{port}", timeout=20)
    weir.write({**weir.settings(), "listen": ["127.0.0.1:0", "127.0.0.1:0"]})
    with moving(tunnel):
        # Stopped, it hears both at once, and the lower number first.
        for number in (signal.SIGSTOP, signal.SIGHUP, signal.SIGTERM, signal.SIGCONT):
            os.kill(weir.pid, number)
        wait_until(lambda: "active_at_termination" in weir.log(), 30, weir.log)
        assert "reload: SIGHUP" in weir.log()
        wait_until(lambda: refused(weir), 30, "the gateway still accepts")
        assert weir.admin().metrics()["weir_ending"] == 1  # it goes on, and tells nothing
        assert "generation 2" not in weir.log()
    tunnel.send(b"on")
    assert tunnel.read(2) == b"on"
    tunnel.close()
    assert weir.process.wait(timeout=20) == 0


class Visitors(threading.Thread):
    """Connects and asks, again and again. `failures` has what was not served."""

    def __init__(self, address, port, ended):
        super().__init__()
        self.address, self.port, self.ended = address, port, ended
        self.served, self.failures = 0, []

    def visit(self):
        import socket

        start = time.monotonic()
        try:
            with socket.create_connection(self.address, 60) as sock:
                sock.sendall(f"CONNECT 127.0.0.1:{self.port} HTTP/1.1\r\n\r\n".encode())
                answer = sock.recv(4096)
        except OSError as error:
            answer = repr(error).encode()
        if answer.startswith(b"HTTP/1.1 200 "):
            self.served += 1
        elif time.monotonic() - start < 1:
            self.failures.append(answer)
        # Else this machine held the visitor up between its connection and its request,
        # for longer than the gateway waits at its end.

    def run(self):
        while not self.ended.is_set():
            self.visit()


@pytest.mark.parametrize("overlap", [True, False], ids=["side by side", "one after another"])
def test_rolling_restart(gateway, echo_server, closing, overlap):
    """With a socket that is passed on no new connection is lost: also none that the old
    one has accepted just before its end."""
    port = echo_server()
    listener = closing(listen_on())
    listener.listen(4096)
    settings = {
        "listen": ["systemd"], "network": {"allowedDomains": [f"127.0.0.1:{port}"]},
        "workers": 2, "limits": {"drainSeconds": 30},
    }  # fmt: skip

    def start():
        return gateway(settings=settings, passed=[("proxy", listener)])

    ended = threading.Event()
    running = start()
    visitors = [Visitors(listener.getsockname(), port, ended) for _ in range(4)]
    for visitor in visitors:
        visitor.start()
    try:
        for _ in range(6):
            before = sum(visitor.served for visitor in visitors)
            old, running = running, start() if overlap else None
            assert old.stop() == 0
            running = running or start()
            wait_until(lambda: sum(v.served for v in visitors) > before + 50, 60, running.log)
    finally:
        ended.set()
        for visitor in visitors:
            visitor.join()
    assert [failure for visitor in visitors for failure in visitor.failures] == []
