"""Under a service manager: sockets that it passes on, and what it is told."""

import os
import signal
import socket
import time

import pytest

from support.manager import Ear
from support.servers import listen_on
from support.wait import wait_until


@pytest.fixture
def ear(tmp_path, closing):
    return closing(Ear(tmp_path / "notify"))


def settings(**more):
    return {"listen": ["systemd"], "network": {}, "audit": {"file": "-"}, **more}


def refused(address, family=socket.AF_INET):
    with socket.socket(family) as sock:
        sock.settimeout(20)
        sock.connect(address)
        sock.sendall(b"CONNECT evil.test:443 HTTP/1.1\r\n\r\n")
        return sock.recv(100).startswith(b"HTTP/1.1 403 ")


def test_sockets_that_are_passed_on(gateway, closing, tmp_path):
    tcp = closing(listen_on())
    path = str(tmp_path / "proxy.sock")
    unix = closing(socket.socket(socket.AF_UNIX))
    unix.bind(path)
    unix.listen()
    weir = gateway(settings=settings(listen=["systemd", "127.0.0.1:0"]),
                   passed=[("proxy", tcp), ("local", unix)])  # fmt: skip
    assert refused(tcp.getsockname())
    assert refused(path, socket.AF_UNIX)
    assert refused(("127.0.0.1", weir.port))
    assert "a Unix socket that was passed on" in weir.log()
    environment = open(f"/proc/{weir.pid}/environ").read()
    assert "LISTEN_FDS" in environment  # as it was started; programs of its own get none
    # The file of a socket that somebody else made stays.
    assert weir.stop() == 0 and os.path.exists(path)


def test_own_addresses_are_denied(gateway, closing):
    """address-own, of sockets that are passed on too."""
    tcp = closing(listen_on())
    own = f"127.0.0.1:{tcp.getsockname()[1]}"
    weir = gateway(
        settings=settings(network={"allowedDomains": [own]}), passed=[("proxy", tcp)]
    )
    with socket.create_connection(tcp.getsockname(), 20) as sock:
        sock.sendall(f"CONNECT {own} HTTP/1.1\r\n\r\n".encode())
        assert sock.recv(100).startswith(b"HTTP/1.1 403 ")
    assert weir.audit()[0]["reason"] == "address-own"


def test_a_descriptor_by_its_number(gateway, closing):
    tcp = closing(listen_on())
    gateway(settings=settings(listen=["fd:3"]), passed=[("proxy", tcp)])
    assert refused(tcp.getsockname())


def test_sockets_that_nobody_asks_for(gateway, closing):
    tcp = closing(listen_on())
    weir = gateway(settings=settings(listen=["127.0.0.1:0"]), passed=[("proxy", tcp)])
    wait_until(lambda: "no entry of listen asks for" in weir.log(), 20, weir.log)


@pytest.mark.parametrize("listen, passed, says", [
    (["systemd"], [], "no socket was passed on"),
    (["fd:77"], [], "descriptor 77 is not a listening stream socket"),
    (["systemd"], ["datagram"], "is not a listening stream socket"),
    (["systemd"], ["not listening"], "is not a listening stream socket"),
])  # fmt: skip
def test_what_cannot_be_used(gateway, closing, listen, passed, says):
    kinds = {"datagram": socket.SOCK_DGRAM, "not listening": socket.SOCK_STREAM}
    sockets = [(name, closing(socket.socket(socket.AF_INET, kinds[name]))) for name in passed]
    weir = gateway(settings=settings(listen=listen), passed=sockets, expect_fail=True)
    assert weir.status == 2
    assert says in weir.log() and "listen[0]" in weir.log()


def test_a_reload_keeps_them(gateway, closing):
    tcp = closing(listen_on())
    weir = gateway(settings=settings(), passed=[("proxy", tcp)])
    weir.reload(settings(listen=["systemd", "127.0.0.1:0"]))
    assert refused(tcp.getsockname())
    weir.reload(settings())
    assert refused(tcp.getsockname())


def test_what_the_manager_is_told(gateway, ear, closing):
    weir = gateway(settings=settings(listen=["127.0.0.1:0"]), env={"NOTIFY_SOCKET": ear.path})
    assert ear.hear() == {"READY": "1", "STATUS": "serving"}
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    os.kill(weir.pid, signal.SIGHUP)
    reloading = ear.hear()
    after = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    assert reloading["RELOADING"] == "1"
    assert before <= int(reloading["MONOTONIC_USEC"]) <= after
    assert ear.hear()["READY"] == "1"
    weir.write("{")
    os.kill(weir.pid, signal.SIGHUP)
    assert ear.hear()["RELOADING"] == "1"
    failed = ear.hear()
    assert failed["READY"] == "1" and "the last reload failed" in failed["STATUS"]
    os.kill(weir.pid, signal.SIGTERM)
    assert ear.hear()["STOPPING"] == "1"
    assert weir.process.wait(timeout=20) == 0


def test_an_abstract_name(gateway, closing):
    ear = closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    ear.bind("")  # the kernel gives it one
    name = ear.getsockname().decode().replace("\0", "@")
    ear.settimeout(20)
    gateway(settings=settings(listen=["127.0.0.1:0"]), env={"NOTIFY_SOCKET": name})
    assert ear.recv(1000).startswith(b"READY=1\n")


def test_signs_of_life(gateway, ear):
    gateway(settings=settings(listen=["127.0.0.1:0"]),
            env={"NOTIFY_SOCKET": ear.path, "WATCHDOG_USEC": "200000"})  # fmt: skip
    assert ear.hear()["READY"] == "1"
    for _ in range(3):
        assert ear.hear() == {"WATCHDOG": "1"}


def test_a_manager_that_has_gone(gateway, tmp_path):
    """That nobody listens is no reason to fail."""
    weir = gateway(settings=settings(listen=["127.0.0.1:0"]),
                   env={"NOTIFY_SOCKET": str(tmp_path / "nobody")})  # fmt: skip
    assert refused(("127.0.0.1", weir.port))


def test_variables_for_another_process(gateway):
    """They were left in the environment by a manager of somebody else."""
    weir = gateway(settings=settings(listen=["127.0.0.1:0"]),
                   env={"LISTEN_PID": "1", "LISTEN_FDS": "5"})  # fmt: skip
    assert refused(("127.0.0.1", weir.port))
