"""`weir check` and the gateway say the same, of random policies and targets."""

import json
import random
import re

import pytest

NAMES = ["a.test", "b.a.test", "c.b.a.test", "x.test", "deep.x.test", "localhost",
         "svc.localhost", "_u.test"]  # fmt: skip
HOSTS = """127.0.0.1 a.test localhost
::1 b.a.test
10.0.0.1 x.test
127.0.0.2 c.b.a.test svc.localhost
127.0.0.1 svc.localhost
192.168.1.1 deep.x.test
127.0.0.1 _u.test notx.test
"""
ADDRESSES = ["127.0.0.1", "127.0.0.2", "[::1]", "0.0.0.0", "10.0.0.1", "169.254.169.254",
             "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "192.168.1.1", "[fe80::1]",
             "224.0.0.1", "[2002:7f00:1::]", "[fd00:ec2::254]"]  # fmt: skip
WILD = ["*.a.test", "*.x.test", "*.b.a.test", "c.*.a.test"]
PORTS = [7, 9, 80, 443]
TARGETS = [f"{host}:{port}" for host in [*NAMES, *ADDRESSES, "A.TEST", "a.test.", "notx.test"]
           for port in PORTS]  # fmt: skip
REASON = re.compile('details="([a-z-]+)"')


def pattern(dice):
    host = dice.choice(dice.choice([NAMES, WILD, ADDRESSES]))
    return host + dice.choice(["", "", "", ":443", ":80", ":7", ":1-100", ":400-500"])


def network(dice):
    tree = {
        "allowedDomains": [pattern(dice) for _ in range(dice.randint(0, 6))],
        "deniedDomains": [pattern(dice) for _ in range(dice.randint(0, 3))],
        "mode": dice.choice(["enforce", "enforce", "enforce", "report"]),
        "privateAddresses": dice.choice(["allow", "deny"]),
    }
    if dice.random() < 0.3:
        listed = dice.choice(["10.0.0.0/8", "127.0.0.0/8", "192.168.0.0/16", "::1/128"])
        tree["deniedResolvedAddresses"] = [listed]
    return tree


def may_leave(answer):
    """Somebody else could be connected to, who is not this test's."""
    if answer["verdict"] != "allow":
        return False
    addresses = [a["addr"] for a in answer.get("addresses", [])] or [answer["host"]]
    return not all(a == "::1" or a.startswith("127.") for a in addresses)


@pytest.mark.parametrize("seed", range(30))
def test_check_and_gateway_agree(weir, gateway, tmp_path, seed):
    """Whoever asks check before relies on it: verdict and reason are those of a request."""
    dice = random.Random(seed)
    hosts = tmp_path / "hosts"
    hosts.write_text(HOSTS)
    running = gateway(
        network(dice),
        resolver={"hostsFile": str(hosts), "servers": ["127.0.0.1:9"]},
        extra={"clients": [{"name": "lab", "from": ["127.0.0.0/8"], "network": network(dice)}]},
    )
    asked = dice.sample(TARGETS, 50)
    done = weir("check", "-f", running.file, "--as", "lab", "--json", "--resolve", *asked)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(asked), done.stderr
    for target, answer in zip(asked, answers):
        if may_leave(answer):
            continue
        with running.connect(target, timeout=30) as tunnel:
            found = REASON.search(tunnel.headers.get("proxy-status", ""))
            denied = found and found[1] not in ("connect-failure",)
            if answer["verdict"] == "allow":
                assert not denied, (target, answer, tunnel.headers)
            else:
                assert denied and answer["reason"] == found[1], (target, answer, tunnel.headers)
