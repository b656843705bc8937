"""Files that say who the clients of a gateway are, and those that cannot be used."""

import json
import os
import subprocess

import pytest

from support.fleet import TOKENS
from support.program import weir_path


def client_of(**keys):
    return {"name": "ci", "from": ["127.0.0.1"], **keys}


@pytest.mark.parametrize(
    "clients, says",
    [
        ([], "clients: expected a list with at least one client"),
        ({}, "clients: expected a list"),
        ([1], "clients[0]: expected an object with a name"),
        ([{}], "clients[0].name: expected 1 to 64 letters"),
        ([{"name": "ci"}], "clients[0]: nothing tells who it is"),
        ([{"name": "a b", "from": ["::1"]}], "clients[0].name: expected 1 to 64"),
        ([{"name": "gateway", "from": ["::1"]}], "what those are called who are no"),
        ([client_of(), client_of(**{"from": ["::1"]})],
         'clients[1].name: "ci" is the name of clients[0] already'),
        ([client_of(tokenfile="x")], 'unknown key "tokenfile" (did you mean "tokenFile"?)'),
        ([client_of(token="x" * 20)], 'unknown key "token"'),
        ([client_of(tokenFile=1)], "clients[0].tokenFile: expected the path"),
        ([client_of(tokenFile="none")], "none: cannot open it: No such file"),
        ([client_of(**{"from": []})], "clients[0].from: expected a list"),
        ([client_of(**{"from": "127.0.0.1"})], "clients[0].from: expected a list"),
        ([client_of(**{"from": ["lan.test"]})], 'clients[0].from[0]: "lan.test": expected'),
        ([client_of(**{"from": ["10.0.0.1/8"]})], "bits set beyond the prefix"),
        ([client_of(**{"from": ["::ffff:10.0.0.1"]})], "write it as IPv4"),
        ([client_of(**{"from": ["10.0.0.0/8", "10.0.0.0/8"]})], "is in the list already"),
        ([client_of(), client_of(name="b")],
         'clients[1].from[0]: "127.0.0.1" is in that of clients[0] too'),
        ([client_of(certName="x")], "no listener asks for certificates"),
        ([client_of(network=[])], "clients[0].network: expected an object"),
        ([client_of(network={"allowedDomains": ["*.com"]})],
         "clients[0].network.allowedDomains[0]"),
        ([client_of(network={"alowedDomains": []})], "clients[0].network"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_starts_nothing(gateway, clients, says):
    settings = {"listen": ["127.0.0.1:0"], "network": {}, "clients": clients}
    weir = gateway(settings=settings, expect_fail=True)
    assert weir.status == 2 and says in weir.log(), weir.log()
    assert str(weir.file) in weir.log() and "line " in weir.log()


@pytest.mark.parametrize(
    "lines, mode, says",
    [
        ([], 0o600, "no token in it"),
        (["x" * 15], 0o600, "line 1: 15 bytes can be guessed"),
        (["x" * 256], 0o600, "line 1: 256 bytes; clients can send 255"),
        (["", "x" * 16, "y y" * 8], 0o600, "line 3: a byte that is no printable"),
        (["x" * 16, "y" * 16, "z" * 16], 0o600, "line 3: more than 2 tokens"),
        (["x" * 16, "x" * 16], 0o600, "line 2: the same token twice"),
        (["\u00e4" * 16], 0o600, "no printable ASCII"),
        (["x" * 5000], 0o600, "more than 4096 bytes"),
        (["x" * 16], 0o604, "everybody may read it"),
        (["x" * 16], 0o620, "others than its owner may write"),
        (["x" * 16], 0o602, "others than its owner may write"),
    ],
)  # fmt: skip
def test_token_files_that_are_refused(gateway, token_file, lines, mode, says):
    file = token_file("ci", *lines, mode=mode)
    clients = [{"name": "ci", "tokenFile": file}]
    weir = gateway(settings={"listen": ["127.0.0.1:0"], "clients": clients}, expect_fail=True)
    assert weir.status == 2 and f"clients[0].tokenFile: {file}: " in weir.log()
    assert says in weir.log(), weir.log()
    assert not any(line in weir.log() for line in lines if len(line) > 3)


def test_a_token_of_two_clients_is_refused(gateway, token_file):
    clients = [
        {"name": "a", "tokenFile": token_file("a", TOKENS["ci"], TOKENS["lab"])},
        {"name": "b", "tokenFile": token_file("b", TOKENS["new"], TOKENS["ci"])},
    ]
    weir = gateway(settings={"listen": ["127.0.0.1:0"], "clients": clients}, expect_fail=True)
    assert weir.status == 2
    assert "clients[1].tokenFile: a token in it is that of clients[0] too" in weir.log()


def test_token_files_lie_beside_the_gateway_file(tmp_path, token_file):
    """Wherever it was started."""
    token_file("ci", TOKENS["ci"])
    file = tmp_path / "gateway.json"
    clients = [{"name": "ci", "tokenFile": "ci.token"}]
    file.write_text(json.dumps({"listen": ["127.0.0.1:0"], "clients": clients}))
    for name, folder in (str(file), "/"), ("gateway.json", tmp_path), ("./gateway.json", tmp_path):
        done = subprocess.run(
            [weir_path(), "check", "-f", name], cwd=folder, capture_output=True, text=True
        )
        assert done.returncode == 0 and "ci, told by 1 token" in done.stdout, done.stderr


def test_a_group_may_read_what_root_owns(tmp_path, token_file, weir):
    file = tmp_path / "gateway.json"
    clients = [{"name": "ci", "tokenFile": token_file("ci", TOKENS["ci"], mode=0o640)}]
    file.write_text(json.dumps({"listen": ["127.0.0.1:0"], "clients": clients}))
    done = weir("check", "-f", str(file))
    if os.geteuid() == 0:
        assert done.returncode == 0
    else:
        assert "its group may read it, and it is not root's" in done.stderr


def test_tokens_in_clear_are_warned_of(gateway, token_file):
    file = token_file("ci", TOKENS["ci"])
    for listen, clients, says in [
        (["0.0.0.0:0"], None, "whoever reaches this address may use the gateway"),
        (["0.0.0.0:0"], [{"name": "ci", "tokenFile": file}], "come in clear to this address"),
        (["0.0.0.0:0"], [{"name": "lan", "from": ["10.0.0.0/8"]}], None),
        (["127.0.0.1:0"], [{"name": "ci", "tokenFile": file}], None),
    ]:
        extra = {"clients": clients} if clients else {}
        weir = gateway(settings={"listen": listen, "audit": {"file": "-"}, **extra})
        assert ("listen[0]: " in weir.log()) == (says is not None), weir.log()
        assert says is None or says in weir.log()
