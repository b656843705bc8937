"""The gateway file is read anew while it serves: all of it or nothing, and no verdict is
older than the last reload that was acknowledged."""

import base64
import json
import os
import pathlib
import re
import signal
import socket
import threading
import time

import pytest

from support.tunnel import read_to_end
from support.wait import wait_until

REPLY = b"HTTP/1.1 200 "


@pytest.fixture
def place(gateway, echo_server, tmp_path):
    """place(): a gateway with `network()` to write anew, and a port behind it, which has
    the address and many names."""
    hosts = tmp_path / "hosts"
    hosts.write_text("".join(f"127.0.0.1 n{number}.test\n" for number in range(30)))

    class Place:
        def __init__(self, workers, **extra):
            self.port = echo_server()
            self.weir = gateway(
                self.network(), extra={"workers": workers, "admin": "127.0.0.1:0", **extra},
                resolver={"hostsFile": str(hosts), "servers": ["127.0.0.1:9"]},
            )  # fmt: skip

        def network(self, *hosts, denied=()):
            return {
                "allowedDomains": [f"{host}:{self.port}" for host in ("127.0.0.1", *hosts)],
                "deniedDomains": list(denied),
            }

        def tree(self, *hosts, **keys):
            return {**self.weir.settings(), "network": self.network(*hosts, **keys)}

        def status(self, host, timeout=20):
            with self.weir.connect(f"{host}:{self.port}", timeout=timeout) as tunnel:
                return tunnel.status

    return lambda workers=2, **extra: Place(workers, **extra)


def test_on_signal(place):
    here = place()
    assert here.status("n2.test") == 403
    here.weir.reload(here.tree("n2.test"))
    assert here.status("n2.test") == 200
    here.weir.reload(here.tree())
    assert here.status("n2.test") == 403
    metrics = here.weir.admin().metrics()
    assert metrics['weir_reloads_total{result="success"}'] == 2
    assert metrics["weir_config_generation"] == 3
    assert "generation 3 holds in 2 workers" in here.weir.log()


def test_when_the_file_changes(place):
    """Without a signal; written in place, or replaced by another file."""
    here = place()
    here.weir.write(here.tree("n2.test"))
    wait_until(lambda: here.weir.generation() == 2, 20, here.weir.log)
    assert here.status("n2.test") == 200
    here.weir.file.write_text(json.dumps(here.tree()))
    wait_until(lambda: here.weir.generation() == 3, 20, here.weir.log)
    assert here.status("n2.test") == 403


def test_when_a_token_changes(gateway, echo_server, tmp_path):
    """A file that is named in it counts as much; a tunnel of the old token is cut."""
    port = echo_server()
    token = tmp_path / "ci.token"
    token.write_text("first-token-of-many\n")
    token.chmod(0o600)
    weir = gateway(
        {"allowedDomains": [f"127.0.0.1:{port}"]},
        extra={"clients": [{"name": "ci", "tokenFile": str(token)}]},
    )

    def ask(secret):
        login = base64.b64encode(f"ci:{secret}".encode()).decode()
        sock = weir.dial(20)
        sock.sendall(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n"
                     f"Proxy-Authorization: Basic {login}\r\n\r\n".encode())  # fmt: skip
        return sock, sock.recv(4096)[9:12]

    tunnel, status = ask("first-token-of-many")
    assert status == b"200"
    token.write_text("second-token-of-all\n")
    wait_until(lambda: weir.generation() == 2, 20, weir.log)
    assert read_to_end(tunnel) == b""
    for secret, wanted in (("first-token-of-many", b"407"), ("second-token-of-all", b"200")):
        sock, status = ask(secret)
        assert status == wanted
        sock.close()


def renewed(path):
    """The same again, as a new file: what a tool that renews certificates does."""
    new = path.with_name(path.name + ".new")
    new.write_bytes(path.read_bytes())
    new.chmod(0o600)
    new.rename(path)


def test_when_a_certificate_changes(gateway, authority, tmp_path):
    """Those of a listener, and of who vouches for a parent."""
    cert, key = authority.leaf(["proxy.test"])
    names = ("cert.pem", "key.pem", "ca.pem")
    files = [tmp_path / name for name in names]
    for file, source in zip(files, (cert, key, authority.ca)):
        file.write_bytes(pathlib.Path(source).read_bytes())
        file.chmod(0o600)
    tls = {"cert": str(files[0]), "key": str(files[1])}
    parent = {"https": "https://127.0.0.1:9", "caFile": str(files[2])}
    weir = gateway({"parentProxy": parent},
                   listen=["127.0.0.1:0", {"address": "127.0.0.1:0", "tls": tls}])  # fmt: skip
    for number, file in enumerate(files, start=2):
        renewed(file)
        wait_until(lambda: weir.generation() == number, 20, weir.log)  # noqa: B023


BROKEN = {
    "syntax": '{"listen": ["127.0.0.1:0"], "network": {"allowedDomains": [}',
    "key": {"network": {"allowedHosts": ["a.test"]}},
    "pattern": {"network": {"allowedDomains": ["*.com"]}},
    "limit": {"limits": {"connections": 0}},
}


@pytest.mark.parametrize("how", BROKEN)
def test_errors_change_nothing(place, how):
    """P3: and it says file, line and key."""
    here = place()
    good = here.weir.settings()
    held = here.weir.connect(f"127.0.0.1:{here.port}", timeout=20)
    bad = BROKEN[how]
    here.weir.write(bad if isinstance(bad, str) else {**good, **bad})
    os.kill(here.weir.pid, signal.SIGHUP)
    wait_until(lambda: "everything stays as it was" in here.weir.log(), 20, here.weir.log)
    assert re.search(rf"{here.weir.file}: line \d+", here.weir.log())
    if not isinstance(bad, str):
        assert next(iter(next(iter(bad.values())))) in here.weir.log()
    assert here.status("127.0.0.1") == 200 and here.status("n2.test") == 403
    held.send(b"still")
    assert held.read(5) == b"still"
    admin = here.weir.admin()
    assert admin.metrics()['weir_reloads_total{result="failure"}'] >= 1
    health = admin.get("/healthz")
    assert health.status == 200 and "the last reload failed" in health.body
    assert admin.get("/readyz").status == 200
    here.weir.reload(good)
    assert admin.get("/healthz").body == "ok\n"


@pytest.mark.parametrize("key, value", [
    ("workers", 3), ("admin", "127.0.0.1:9"), ("audit", {"file": "-"}),
    ("resolver", {"servers": ["127.0.0.1:53"]}),
], ids=["workers", "admin", "audit", "resolver"])  # fmt: skip
def test_what_only_a_restart_changes(place, key, value):
    here = place()
    tree = here.tree("n2.test")
    tree[key] = value
    here.weir.write(tree)
    os.kill(here.weir.pid, signal.SIGHUP)
    said = f": {key}: it can be changed by a restart only; everything stays as it was"
    wait_until(lambda: said in here.weir.log(), 20, here.weir.log)
    assert here.status("n2.test") == 403


def test_limits_are_taken_over(place):
    here = place()
    tree = here.tree()
    tree["limits"] = {**tree["limits"], "connections": 2}
    here.weir.reload(tree)
    two = [here.weir.connect(f"127.0.0.1:{here.port}", timeout=20) for _ in range(2)]
    assert [tunnel.status for tunnel in two] == [200, 200]
    assert here.status("127.0.0.1") == 503


def test_listeners_come_and_go(place, tmp_path):
    here = place()
    path = tmp_path / "proxy.sock"
    tree = here.tree()
    tree["listen"].append(f"unix:{path}")

    def ask():
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(20)
            sock.connect(str(path))
            sock.sendall(f"CONNECT 127.0.0.1:{here.port} HTTP/1.1\r\n\r\n".encode())
            return sock.recv(100)

    here.weir.reload(tree)
    assert ask().startswith(REPLY) and here.status("127.0.0.1") == 200
    tree["listen"].pop()
    here.weir.reload(tree)
    assert not path.exists() and here.status("127.0.0.1") == 200
    with pytest.raises(OSError):
        ask()


def test_listener_that_cannot_be_opened(place):
    """Nothing of the new file holds then."""
    here = place()
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        tree = here.tree("n2.test")
        tree["listen"].append(f"127.0.0.1:{other.getsockname()[1]}")
        here.weir.write(tree)
        os.kill(here.weir.pid, signal.SIGHUP)
        wait_until(lambda: "everything stays as it was" in here.weir.log(), 20, here.weir.log)
    assert "listen[1]" in here.weir.log() and "in use" in here.weir.log()
    assert here.status("n2.test") == 403 and here.status("127.0.0.1") == 200


def test_tunnels_that_are_denied_are_cut(place):
    """D12: those that are still allowed notice nothing."""
    here = place()
    here.weir.reload(here.tree("n2.test"))
    kept = [here.weir.connect(f"127.0.0.1:{here.port}", timeout=20) for _ in range(10)]
    lost = [here.weir.connect(f"n2.test:{here.port}", timeout=20) for _ in range(10)]
    here.weir.reload(here.tree())
    at = time.monotonic()
    assert [tunnel.read_all() for tunnel in lost] == [b""] * 10
    # Asked for is a second; they are cut before the reload is said to hold.
    assert time.monotonic() - at < 10
    for tunnel in kept:
        tunnel.send(b"on")
        assert tunnel.read(2) == b"on"
    lines = here.weir.audit(10)
    assert {(line["host"], line["reason"], line["close"]) for line in lines} == {
        ("n2.test", "policy-revoked", "revoked")
    }
    assert here.weir.admin().metrics()[
        'weir_decisions_total{verdict="deny",reason="policy-revoked"}'] == 10  # fmt: skip


def test_signals_in_quick_succession(place):
    """No reload is lost, and none is run into another: the last file holds."""
    here = place()
    for number in range(2, 30):
        here.weir.write(here.tree(f"n{number}.test"))
        os.kill(here.weir.pid, signal.SIGHUP)
    wait_until(lambda: here.status("n29.test") == 200, 20, here.weir.log)
    assert here.status("n28.test") == 403


class Load(threading.Thread):
    """Requests at a steady pace for what every policy allows; `failures` has the others.
    """

    def __init__(self, weir, port, pace, barrier):
        super().__init__()
        self.weir, self.port, self.pace, self.ended = weir, port, pace, barrier
        self.count, self.failures = 0, []

    def run(self):
        while not self.ended.is_set():
            start = time.monotonic()
            try:
                with self.weir.dial(30) as sock:
                    sock.sendall(f"CONNECT 127.0.0.1:{self.port} HTTP/1.1\r\n\r\n".encode())
                    answer = sock.recv(4096)
            except OSError as error:
                answer = repr(error).encode()
            if not answer.startswith(REPLY):
                self.failures.append(answer)
            self.count += 1
            self.ended.wait(max(0, self.pace - (time.monotonic() - start)))


def test_under_load(place, reloads=100):
    """200 requests a second. None is lost that both policies allow, and after each
    acknowledged reload no verdict is older than it."""
    here = place(workers=3)
    ended = threading.Event()
    threads = [Load(here.weir, here.port, 0.02, ended) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for number in range(reloads):
            open_now = number % 2 == 0
            here.weir.reload(here.tree("n2.test") if open_now else here.tree())
            wanted = 200 if open_now else 403
            assert [here.status("n2.test") for _ in range(6)] == [wanted] * 6
            served = sum(thread.count for thread in threads)
            wait_until(lambda: sum(thread.count for thread in threads) > served + 1, 20,
                       "the load goes on")  # fmt: skip
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    failures = [failure for thread in threads for failure in thread.failures]
    assert failures == []
    assert here.weir.admin().metrics()['weir_reloads_total{result="success"}'] >= reloads


def test_memory_after_many_reloads(place):
    """What was replaced is released."""
    from support.process import descriptors, settle

    here = place()
    for _ in range(3):
        here.weir.reload(here.tree("n2.test"))
    before = descriptors(here.weir.pid)
    for _ in range(10):
        here.weir.reload(here.tree())
    settle(here.weir.pid, before)
