"""Clients of a gateway: who somebody is, and what that one may ask for."""

import base64
import json
import os
import pathlib
import re
import socket
import subprocess

import pytest

from support.program import weir_path
from support.tunnel import read_to_end

DATA = pathlib.Path(__file__).resolve().parents[1] / "data/clients"
TOKENS = {
    "ci": "ci-token-0123456789",
    "new": "ci-token-9876543210",
    "lab": "lab-token-0123456789",
}


def basic(user, password, scheme="Basic"):
    pair = base64.b64encode(f"{user}:{password}".encode()).decode()
    return f"Proxy-Authorization: {scheme} {pair}\r\n"


class Fleet:
    """A gateway with clients. Names under test lead to a server that echoes."""

    def __init__(self, gateway, dns_server, echo_server, tmp_path, clients, **network):
        self.port = echo_server()
        names = ["all.test", "ci.test", "lab.test", "evil.test", "other.test"]
        dns = dns_server({name: ["127.0.0.1"] for name in names})
        network.setdefault("allowedDomains", ["all.test", f"127.0.0.1:{self.port}"])
        limits = network.pop("limits", {})
        listen = network.pop("listen", ["127.0.0.1:0"])
        self.weir = gateway(
            network, resolver=dns, extra={"clients": clients}, limits=limits, listen=listen
        )

    def ask(self, host="all.test", login="", source="127.0.0.1"):
        """The answer to a CONNECT, and the connection."""
        sock = socket.create_connection(
            ("127.0.0.1", self.weir.port), 10, source_address=(source, 0)
        )
        sock.sendall(f"CONNECT {host}:{self.port} HTTP/1.1\r\n{login}\r\n".encode())
        return sock

    def answer(self, *args, **kwargs):
        """All that is said before a tunnel stands, or before it is refused."""
        with self.ask(*args, **kwargs) as sock:
            return read_answer(sock)

    def weir_answer(self, head):
        with self.weir.dial() as sock:
            sock.sendall(head)
            return read_answer(sock)

    def status(self, *args, **kwargs):
        """The status of the answer; None when there is none."""
        said = self.answer(*args, **kwargs)
        return int(said.split(b" ", 2)[1]) if said else None


def read_answer(sock):
    said = b""
    while b"\r\n\r\n" not in said:
        piece = sock.recv(65536)
        if not piece:
            assert said == b"", said
            return said
        said += piece
    top, body = said.split(b"\r\n\r\n", 1)
    for line in top.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            while len(body) < int(line.split(b":")[1]):
                body += sock.recv(65536)
    return top + b"\r\n\r\n" + body


@pytest.fixture
def token_file(tmp_path):
    """token_file(name, *tokens, mode=) is the path of a file with these lines."""

    def write(name, *tokens, mode=0o600):
        path = tmp_path / f"{name}.token"
        path.write_text("".join(f"{token}\n" for token in tokens))
        path.chmod(mode)
        return str(path)

    return write


@pytest.fixture
def fleet(gateway, dns_server, echo_server, tmp_path):
    def start(*clients, **network):
        return Fleet(gateway, dns_server, echo_server, tmp_path, list(clients), **network)

    return start


def test_a_token_opens_and_nothing_else_does(fleet, token_file):
    file = token_file("ci", TOKENS["ci"])
    gate = fleet({"name": "ci", "tokenFile": file})
    for login in basic("ci", TOKENS["ci"]), basic("", TOKENS["ci"]):
        assert gate.status(login=login) == 200
    first = gate.answer()
    assert first.startswith(b"HTTP/1.1 407 ")
    assert b'\r\nProxy-Authenticate: Basic realm="weir"\r\n' in first
    assert b"\r\nConnection: keep-alive\r\n" in first
    lines = gate.weir.audit(3)
    assert [line["session"] for line in lines if line["verdict"] == "allow"] == ["ci"] * 2
    (refused,) = [line for line in lines if line["verdict"] == "deny"]
    assert refused["reason"] == "auth" and refused["session"] == "gateway"
    assert TOKENS["ci"] not in json.dumps(lines) + gate.weir.log()


def test_whatever_is_wrong_with_a_login_the_answer_is_the_same(fleet, token_file):
    gate = fleet(
        {"name": "ci", "tokenFile": token_file("ci", TOKENS["ci"])},
        {
            "name": "lab",
            "tokenFile": token_file("lab", TOKENS["lab"]),
            "from": ["127.0.0.9"],
        },
    )
    right = basic("ci", TOKENS["ci"])
    wrong = [
        basic("ci", TOKENS["ci"][:-1]),
        basic("ci", TOKENS["ci"] + "x"),
        basic("ci", TOKENS["ci"].upper()),
        basic("ci", ""),
        basic("nobody", TOKENS["ci"]),
        basic("lab", TOKENS["ci"]),
        basic("ci", TOKENS["lab"]),
        basic("lab", TOKENS["lab"]),
        basic("CI", TOKENS["ci"]),
        basic(TOKENS["ci"], ""),
        basic("ci", TOKENS["ci"], "Bearer"),
        "Proxy-Authorization: Basic\r\n",
        "Proxy-Authorization: Basic !!!\r\n",
        "Proxy-Authorization: \r\n",
        right + right,
    ]
    answers = {gate.answer(login=login) for login in wrong}
    assert len(answers) == 1 and answers.pop().startswith(b"HTTP/1.1 407 ")
    assert gate.status(login=right) == 200
    assert gate.status(login=basic("lab", TOKENS["lab"]), source="127.0.0.9") == 200
    lines = gate.weir.audit(len(wrong) + 2)
    assert [line["reason"] for line in lines].count("auth") == len(wrong)


def test_a_connection_may_log_in_after_a_refusal(fleet, token_file):
    gate = fleet({"name": "ci", "tokenFile": token_file("ci", TOKENS["ci"])})
    with gate.ask() as sock:
        assert read_answer(sock).startswith(b"HTTP/1.1 407 ")
        again = f"CONNECT all.test:{gate.port} HTTP/1.1\r\n"
        sock.sendall(f"{again}{basic('ci', 'x' * 20)}\r\n".encode())
        assert read_answer(sock).startswith(b"HTTP/1.1 407 ")
        sock.sendall(f"{again}{basic('ci', TOKENS['ci'])}\r\n".encode())
        assert read_answer(sock).startswith(b"HTTP/1.1 200 ")
        sock.sendall(b"hello")
        assert sock.recv(5) == b"hello"


RECORDED = sorted(DATA.glob("*407*.bin"))
RECORDED_HEAD = re.compile(rb"CONNECT (\S+) HTTP/1\.[01]\r\n(?:[^\r\n]+\r\n)*\r\n")
RECORDED_LOGIN = re.compile(rb"Proxy-Authorization: Basic \S+")


def recorded_heads(path, port):
    """The CONNECTs of a client, for a host and with a token of ours, and what it is to
    be answered."""
    login = basic("sb", TOKENS["ci"]).strip().encode()
    for match in RECORDED_HEAD.finditer(path.read_bytes()):
        head = match.group(0).replace(match.group(1), b"all.test:%d" % port)
        wanted = 200 if RECORDED_LOGIN.search(head) else 407
        yield RECORDED_LOGIN.sub(login, head), wanted


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_PRO_04_recorded_clients_log_in(fleet, token_file, path):
    gate = fleet({"name": "sb", "tokenFile": token_file("sb", TOKENS["ci"])})
    heads = list(recorded_heads(path, gate.port))
    assert heads
    for head, wanted in heads:
        said = gate.weir_answer(head)
        assert said.startswith(b"HTTP/1.1 %d " % wanted), (head, said)


def test_PRO_04_git_asks_once_without_credentials(fleet, token_file):
    """Two CONNECTs on one connection."""
    gate = fleet({"name": "sb", "tokenFile": token_file("sb", TOKENS["ci"])})
    (path,) = [path for path in RECORDED if path.stem == "git-https-407-urlcreds"]
    heads = list(recorded_heads(path, gate.port))
    assert [wanted for _, wanted in heads] == [407, 200]
    with gate.weir.dial() as sock:
        for head, wanted in heads:
            sock.sendall(head)
            said = read_answer(sock)
            assert said.startswith(b"HTTP/1.1 %d " % wanted)
            if wanted == 407:
                body = said.split(b"\r\n\r\n", 1)[1]
                assert b"\r\nContent-Length: %d\r\n" % len(body) in said
                assert b"\r\nProxy-Authenticate: Basic " in said


def test_guessing_on_one_connection_has_an_end(fleet, token_file):
    gate = fleet({"name": "ci", "tokenFile": token_file("ci", TOKENS["ci"])})
    with gate.ask() as sock:
        guess = f"CONNECT all.test:{gate.port} HTTP/1.1\r\n{basic('ci', 'x' * 20)}\r\n"
        sock.sendall(guess.encode() * 20)
        said = read_to_end(sock)
    assert 1 <= said.count(b"HTTP/1.1 407 ") < 20
    assert b"HTTP/1.1 200 " not in said


def test_an_address_opens_and_another_one_is_closed(fleet):
    gate = fleet({"name": "lan", "from": ["127.0.0.2"]})
    assert gate.status(source="127.0.0.2") == 200
    assert gate.status(source="127.0.0.3") is None
    # Nobody has a token here, so what looks like a login means nothing.
    assert gate.status(source="127.0.0.2", login=basic("a", "b")) == 200
    lines = gate.weir.audit(3)
    assert [line["session"] for line in lines if line["verdict"] == "allow"] == ["lan"] * 2
    (closed,) = [line for line in lines if line["verdict"] == "deny"]
    assert closed["reason"] == "auth" and closed["client"] == "127.0.0.3"
    assert closed["session"] == "gateway"


def test_the_longest_prefix_counts(fleet):
    gate = fleet(
        {"name": "wide", "from": ["127.0.0.0/8"]},
        {"name": "one", "from": ["127.0.0.5"]},
        {"name": "narrow", "from": ["127.0.0.0/29"]},
    )
    for source in "5", "6", "8":
        assert gate.status(source=f"127.0.0.{source}") == 200
    lines = {line["client"]: line["session"] for line in gate.weir.audit(3)}
    assert lines == {"127.0.0.5": "one", "127.0.0.6": "narrow", "127.0.0.8": "wide"}


def test_token_and_address_must_both_hold(fleet, token_file):
    gate = fleet(
        {"name": "ci", "tokenFile": token_file("ci", TOKENS["ci"]), "from": ["127.0.0.2"]}
    )
    login = basic("ci", TOKENS["ci"])
    assert gate.status(login=login, source="127.0.0.2") == 200
    assert gate.status(login=login, source="127.0.0.3") == 407
    assert gate.status(source="127.0.0.2") == 407


def test_a_token_comes_before_an_address(fleet, token_file):
    gate = fleet(
        {"name": "ci", "tokenFile": token_file("ci", TOKENS["ci"])},
        {"name": "lan", "from": ["127.0.0.2"]},
    )
    assert gate.status(source="127.0.0.2") == 200
    assert gate.status(source="127.0.0.2", login=basic("ci", TOKENS["ci"])) == 200
    # A wrong token is not forgiven for the address.
    assert gate.status(source="127.0.0.2", login=basic("ci", "x" * 20)) == 407
    assert gate.status(source="127.0.0.3") == 407
    sessions = [line["session"] for line in gate.weir.audit(4)]
    assert sorted(sessions) == ["ci", "gateway", "gateway", "lan"]


def test_two_tokens_while_one_takes_over(fleet, token_file):
    file = token_file("ci", f"  {TOKENS['ci']}\t\r", "", TOKENS["new"])
    gate = fleet({"name": "ci", "tokenFile": file})
    assert gate.status(login=basic("ci", TOKENS["ci"])) == 200
    assert gate.status(login=basic("ci", TOKENS["new"])) == 200
    assert gate.status(login=basic("ci", TOKENS["lab"])) == 407


VERDICTS = [
    # Client, host, status, rule.
    ("plain", "all.test", 200, "network.allowedDomains[0]"),
    ("plain", "ci.test", 403, None),
    ("plain", "evil.test", 403, "network.deniedDomains[0]"),
    ("ci", "ci.test", 200, "clients[1].network.allowedDomains[0]"),
    ("ci", "all.test", 403, None),
    ("ci", "evil.test", 403, "network.deniedDomains[0]"),
    ("lab", "all.test", 403, "clients[2].network.deniedDomains[0]"),
    ("lab", "lab.test", 403, None),
    ("lab", "evil.test", 403, "network.deniedDomains[0]"),
    ("shut", "all.test", 403, None),
    ("loud", "other.test", 403, None),
]


@pytest.fixture
def many(fleet):
    return lambda **network: fleet(
        {"name": "plain", "from": ["127.0.0.10"]},
        {
            "name": "ci",
            "from": ["127.0.0.11"],
            "network": {"allowedDomains": ["ci.test", "evil.test", "127.0.0.1"]},
        },
        {"name": "lab", "from": ["127.0.0.12"], "network": {"deniedDomains": ["all.test"]}},
        {"name": "shut", "from": ["127.0.0.13"], "network": {"allowedDomains": []}},
        {"name": "loud", "from": ["127.0.0.14"], "network": {"mode": "report"}},
        allowedDomains=["all.test", "127.0.0.1"], deniedDomains=["evil.test"], mode="enforce", **network,
    )  # fmt: skip


SOURCES = {"plain": 10, "ci": 11, "lab": 12, "shut": 13, "loud": 14}


def test_each_client_has_its_own_policy(many):
    gate = many()
    for client, host, status, _ in VERDICTS:
        got = gate.status(host, source=f"127.0.0.{SOURCES[client]}")
        assert got == status, (client, host, got)
    lines = {(line["session"], line["host"]): line for line in gate.weir.audit(len(VERDICTS))}
    assert len(lines) == len(VERDICTS)
    for client, host, status, rule in VERDICTS:
        line = lines[client, host]
        assert line["verdict"] == ("allow" if status == 200 else "deny"), line
        assert line.get("rule") == rule, line


def test_check_answers_for_a_client(weir, many):
    gate = many()
    file = str(gate.weir.file)
    for client, host, status, rule in VERDICTS:
        done = weir("check", "-f", file, "--as", client, "--json", f"{host}:443")
        said = json.loads(done.stdout)
        assert done.returncode == (0 if status == 200 else 1), (client, host, said)
        assert said["client"] == client and said.get("rule") == rule, said
    done = weir("check", "-f", file, "all.test")
    assert done.returncode == 2 and done.stdout == ""
    assert "for which client? see --as; there are: plain, ci, lab, shut, loud" in done.stderr
    done = weir("check", "-f", file, "--as", "plan", "all.test")
    assert done.returncode == 2 and 'did you mean "plain"?' in done.stderr
    done = weir("check", "-f", file, "--as", "ci", "other.test")
    assert "to clients[1].network.allowedDomains of" in done.stdout
    done = weir("check", "-f", file)
    assert done.returncode == 0
    assert "clients[1].name: ci, told by 1 address range" in done.stdout


def test_a_client_is_bounded_by_its_name(fleet, token_file):
    gate = fleet(
        {"name": "ci", "tokenFile": token_file("ci", TOKENS["ci"])},
        {"name": "lab", "tokenFile": token_file("lab", TOKENS["lab"])},
        limits={"connectionsPerClient": 2},
    )
    login = basic("ci", TOKENS["ci"])
    first = [gate.ask(login=login, source=f"127.0.0.{n}") for n in (2, 3)]
    for sock in first:
        assert read_answer(sock).startswith(b"HTTP/1.1 200 ")
    said = gate.answer(login=login, source="127.0.0.4")
    assert said.startswith(b"HTTP/1.1 503 this client has too many connections")
    assert gate.status(login=basic("lab", TOKENS["lab"]), source="127.0.0.4") == 200
    for sock in first:
        sock.close()
    gate.weir.audit(4)
    assert gate.status(login=login, source="127.0.0.4") == 200
    refused = [line for line in gate.weir.audit(5) if line["verdict"] == "deny"]
    assert [(line["session"], line["reason"]) for line in refused] == [("ci", "limit")]


def test_the_gateway_is_nobodys_target(fleet):
    gate = fleet({"name": "lan", "from": ["127.0.0.0/8"]}, allowedDomains=["127.0.0.1"])
    with gate.ask() as sock:
        read_answer(sock)
    sock = socket.create_connection(("127.0.0.1", gate.weir.port), 10)
    with sock:
        sock.sendall(f"CONNECT 127.0.0.1:{gate.weir.port} HTTP/1.1\r\n\r\n".encode())
        assert read_answer(sock).startswith(b"HTTP/1.1 403 ")
    assert gate.weir.audit(2)[-1]["reason"] == "address-own"


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
