"""Clients while the gateway file and their tokens change, in a gateway of two workers."""

import json
import os
import signal

import pytest

from support.fleet import TOKENS, basic, read_answer
from support.tunnel import read_to_end
from support.wait import wait_until

OLD, NEW = basic("ci", TOKENS["ci"]), basic("ci", TOKENS["new"])


@pytest.fixture
def gate(fleet, token_file):
    """Tunnels are opened until each worker is likely to have one."""
    file = token_file("ci", TOKENS["ci"])
    return fleet({"name": "ci", "tokenFile": file}, workers=2)


def opened(gate, login, count=8, **how):
    socks = [gate.ask(login=login, **how) for _ in range(count)]
    for sock in socks:
        assert read_answer(sock).startswith(b"HTTP/1.1 200 ")
    return socks


def assert_stand(socks):
    for sock in socks:
        sock.sendall(b"hello")
        assert sock.recv(5) == b"hello"


def assert_cut(socks):
    for sock in socks:
        assert read_to_end(sock) == b""
        sock.close()


def with_clients(gate, *clients):
    tree = json.loads(gate.weir.file.read_text())
    return {**tree, "clients": list(clients)}


def test_a_token_takes_over_from_another(gate, token_file):
    old = opened(gate, OLD)
    token_file("ci", TOKENS["ci"], TOKENS["new"])
    gate.weir.reload()
    new = opened(gate, NEW) + opened(gate, OLD, count=1)
    assert_stand(old + new)
    token_file("ci", TOKENS["new"])
    gate.weir.reload()
    assert_cut(old + new[8:])
    assert_stand(new[:8])
    assert gate.status(login=OLD) == 407
    assert gate.status(login=NEW) == 200
    revoked = [line for line in gate.weir.audit(9) if line["reason"] == "policy-revoked"]
    assert len(revoked) == 9 and {line["session"] for line in revoked} == {"ci"}
    assert {line["close"] for line in revoked} == {"revoked"}


def test_clients_come_and_go(gate, token_file):
    ci = opened(gate, OLD)
    stays = json.loads(gate.weir.file.read_text())["clients"]
    lab = {"name": "lab", "from": ["127.0.0.9"]}
    gate.weir.reload(with_clients(gate, lab, *stays))
    guests = opened(gate, "", source="127.0.0.9")
    assert_stand(ci + guests)
    gate.weir.reload(with_clients(gate, lab))
    assert_cut(ci)
    assert_stand(guests)
    assert gate.status(login=OLD) is None
    gate.weir.reload(with_clients(gate, {**lab, "from": ["127.0.0.10"]}))
    assert_cut(guests)
    assert gate.status(source="127.0.0.9") is None
    assert gate.status(source="127.0.0.10") == 200


def test_what_a_client_may_not_any_more_is_cut(gate):
    tunnels = opened(gate, OLD)
    (ci,) = json.loads(gate.weir.file.read_text())["clients"]
    gate.weir.reload(with_clients(gate, {**ci, "network": {"deniedDomains": ["x.test"]}}))
    assert_stand(tunnels)
    gate.weir.reload(with_clients(gate, {**ci, "network": {"allowedDomains": ["x.test"]}}))
    assert_cut(tunnels)
    assert gate.status(login=OLD) == 403


def test_a_token_file_that_is_wrong_changes_nothing(gate, token_file):
    tunnels = opened(gate, OLD)
    token_file("ci", TOKENS["new"], mode=0o644)
    os.kill(gate.weir.pid, signal.SIGHUP)
    wait_until(lambda: "everybody may read it" in gate.weir.log(), 30, gate.weir.log)
    assert f"{gate.weir.file}: line " in gate.weir.log()
    assert_stand(tunnels)
    assert gate.status(login=OLD) == 200
    assert gate.status(login=NEW) == 407


def test_the_limit_of_a_name_holds_over_workers(fleet, token_file):
    gate = fleet(
        {"name": "ci", "tokenFile": token_file("ci", TOKENS["ci"])},
        limits={"connectionsPerClient": 8}, workers=2,
    )  # fmt: skip
    tunnels = [gate.ask(login=OLD, source=f"127.0.0.{n}") for n in range(10, 18)]
    for sock in tunnels:
        assert read_answer(sock).startswith(b"HTTP/1.1 200 ")
    for n in range(20, 24):
        said = gate.answer(login=OLD, source=f"127.0.0.{n}")
        assert said.startswith(b"HTTP/1.1 503 this client has too many")
    assert_stand(tunnels)
    for sock in tunnels:
        sock.close()
    gate.weir.audit(12)
    assert gate.status(login=OLD, source="127.0.0.30") == 200
