"""Clients of a gateway: who somebody is, and what that one may ask for."""

import json
import pathlib
import re
import socket

import pytest

from support.fleet import TOKENS, basic, read_answer
from support.plain import Site, get
from support.tunnel import read_to_end

DATA = pathlib.Path(__file__).resolve().parents[1] / "data/clients"


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


RECORDED_ALL = sorted(DATA.glob("*407*.bin"))
RECORDED = [path for path in RECORDED_ALL if b"CONNECT " in path.read_bytes()]
RECORDED_PLAIN = [path for path in RECORDED_ALL if path not in RECORDED]
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


@pytest.mark.parametrize("path", RECORDED_PLAIN, ids=lambda path: path.stem)
def test_PRO_04_recorded_plain_clients_log_in(gateway, server, token_file, path):
    clients = [{"name": "sb", "tokenFile": token_file("sb", TOKENS["ci"])}]
    at = Site(gateway, server, extra={"clients": clients})
    heads = re.findall(rb"GET http://[^/]+(/\S+) HTTP/1\.1\r\n((?:[^\r\n]+\r\n)*)\r\n",
                       path.read_bytes())  # fmt: skip
    assert heads
    with at.client() as client:
        for place, fields in heads:
            fields = RECORDED_LOGIN.sub(basic("sb", TOKENS["ci"]).strip().encode(), fields)
            wanted = 200 if b"Proxy-Authorization: " in fields else 407
            line = f"GET {at.url}{place.decode()} HTTP/1.1\r\n".encode()
            assert client.ask(line + fields + b"\r\n").status == wanted


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


def ask_socks5(sock, host, port, name, token):
    """The byte that answers a SOCKS 5 request; with a token after a login."""
    sock.sendall(b"\5\2\0\2" if token else b"\5\1\0")
    assert sock.recv(2, socket.MSG_WAITALL) == (b"\5\2" if token else b"\5\0")
    if token:
        user, password = name.encode(), token.encode()
        sock.sendall(b"\1%c%b%c%b" % (len(user), user, len(password), password))
        if sock.recv(2, socket.MSG_WAITALL) != b"\1\0":
            return None
    sock.sendall(b"\5\1\0\3%c%b%b" % (len(host), host.encode(), port.to_bytes(2, "big")))
    return sock.recv(10, socket.MSG_WAITALL)[1]


def ask_socks4a(sock, host, port, name, token):
    sock.sendall(b"\4\1%b\0\0\0\1user\0%b\0" % (port.to_bytes(2, "big"), host.encode()))
    return sock.recv(8, socket.MSG_WAITALL)[1] - 90


def ask_plain(sock, host, port, name, token):
    login = basic(name, token) if token else ""
    sock.sendall(f"GET http://{host}:{port}/ HTTP/1.1\r\nHost: x\r\n{login}\r\n".encode())
    # What echoes is no web server: who comes so far was let through.
    said = read_answer(sock)
    return {502: 0, 403: 2}.get(int(said.split(b" ")[1]))


FORMS = [
    ("socks5", ask_socks5, False), ("socks4", ask_socks4a, False),
    ("http", ask_plain, False), ("socks5", ask_socks5, True), ("http", ask_plain, True),
]  # fmt: skip


@pytest.mark.parametrize("form, ask, tokens", FORMS, ids=lambda value: str(value)[:12])
def test_each_policy_holds_in_each_form(fleet, token_file, form, ask, tokens):
    """Client, form and verdict; CONNECT stands above."""
    networks = {
        "plain": {},
        "ci": {"network": {"allowedDomains": ["ci.test", "evil.test", "127.0.0.1"]}},
        "lab": {"network": {"deniedDomains": ["all.test"]}},
        "shut": {"network": {"allowedDomains": []}},
        "loud": {"network": {"mode": "report"}},
    }
    secrets = {name: f"token-of-{name}-0123456789" for name in networks}
    clients = [
        {"name": name, **keys, "tokenFile": token_file(name, secrets[name])}
        if tokens
        else {"name": name, **keys, "from": [f"127.0.0.{SOURCES[name]}"]}
        for name, keys in networks.items()
    ]
    gate = fleet(
        *clients, allowedDomains=["all.test", "127.0.0.1"], deniedDomains=["evil.test"],
        mode="enforce",
    )  # fmt: skip
    for client, host, status, _ in VERDICTS:
        source = (f"127.0.0.{SOURCES[client]}", 0)
        token = secrets[client] if tokens else None
        with socket.create_connection(("127.0.0.1", gate.weir.port), 10, source) as sock:
            got = ask(sock, host, gate.port, client, token)
        assert (got == 0) == (status == 200), (client, host, got)
    lines = {(line["session"], line["host"]): line for line in gate.weir.audit(len(VERDICTS))}
    assert len(lines) == len(VERDICTS)
    for client, host, status, rule in VERDICTS:
        line = lines[client, host]
        assert line["front"].startswith(form), line
        if status == 403:
            assert line["verdict"] == "deny" and line.get("rule") == rule, line
        else:
            assert line["reason"] in ("allow-list", "bad-response"), line


def test_a_wrong_socks_login_opens_nothing(fleet, token_file):
    gate = fleet(
        {"name": "ci", "tokenFile": token_file("ci", TOKENS["ci"])},
        {"name": "lan", "from": ["127.0.0.2"]},
    )
    for source in "127.0.0.1", "127.0.0.2":
        for name, token in ("ci", TOKENS["ci"] + "x"), ("lan", TOKENS["ci"]), ("x", "y" * 20):
            with gate.dial(source) as sock:
                assert ask_socks5(sock, "all.test", gate.port, name, token) is None
    with gate.dial("127.0.0.2") as sock:
        assert ask_socks5(sock, "all.test", gate.port, "ci", TOKENS["ci"]) == 0
    with gate.dial("127.0.0.2") as sock:
        assert ask_socks5(sock, "all.test", gate.port, "lan", None) == 0
    lines = gate.weir.audit(8)
    assert sorted(line["session"] for line in lines) == ["ci", *["gateway"] * 6, "lan"]
    assert [line["reason"] for line in lines].count("auth") == 6


@pytest.mark.parametrize(
    "client, host, remedy",
    [
        ("plain", "ci.test", 'add "ci.test:{}" to network.allowedDomains'),
        ("ci", "all.test", 'add "all.test:{}" to clients[1].network.allowedDomains'),
        ("ci", "evil.test", "take it out of network.deniedDomains"),
        ("lab", "all.test", "take it out of clients[2].network.deniedDomains"),
    ],
)
def test_the_remedy_names_the_list_that_counts(many, client, host, remedy):
    gate = many()
    said = gate.answer(host, source=f"127.0.0.{SOURCES[client]}").decode()
    assert f"To allow it, {remedy.format(gate.port)}.\n" in said


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


def field_of(user, password):
    return basic(user, password).strip()


def test_each_plain_request_says_who_asks(gateway, server, token_file):
    """On one connection: nobody, one client, another one, nobody again."""
    clients = [
        {"name": "ci", "tokenFile": token_file("ci", TOKENS["ci"])},
        {
            "name": "lab",
            "tokenFile": token_file("lab", TOKENS["lab"]),
            "network": {"deniedDomains": ["denied.test"]},
        },
    ]
    at = Site(gateway, server, extra={"clients": clients}, allowed=["denied.test"])
    logins = [
        ((), 407),
        ((field_of("ci", TOKENS["ci"]),), 200),
        ((field_of("lab", TOKENS["lab"]),), 200),
        ((field_of("ci", TOKENS["lab"]),), 407),
        ((), 407),
        ((field_of("ci", TOKENS["ci"]), field_of("ci", TOKENS["ci"])), 407),
        ((field_of("", TOKENS["ci"]),), 200),
    ]
    with at.client() as client:
        for fields, status in logins:
            assert client.ask(get(at.url, *fields)).status == status, fields
        denied = get("http://denied.test/", field_of("lab", TOKENS["lab"]))
        assert client.ask(denied).status == 403
    lines = at.weir.audit(len(logins) + 1)
    sessions = ["gateway", "ci", "lab", "gateway", "gateway", "gateway", "ci", "lab"]
    assert [line["session"] for line in lines] == sessions
    assert lines[-1]["rule"] == "clients[1].network.deniedDomains[0]"
    # No server's connection is shared by two clients, and none hears of the login.
    assert at.server.connections == 2
    assert b"roxy-" not in b"".join(at.script.heard)


def test_too_many_plain_requests_of_a_client_end(gateway, server, token_file):
    """One that is over the limit holds no place for another try."""
    clients = [{"name": "ci", "tokenFile": token_file("ci", TOKENS["ci"])}]
    at = Site(
        gateway, server, extra={"clients": clients, "limits": {"connectionsPerClient": 2}}
    )
    asks = get(at.url, field_of("ci", TOKENS["ci"]))
    with at.client() as first:
        assert first.ask(asks).status == 200
        source = ("127.0.0.2", 0)
        with socket.create_connection(("127.0.0.1", at.weir.port), 10, source) as second:
            second.sendall(asks)
            assert b" 200 " in second.recv(100)
            third = ("127.0.0.3", 0)
            with socket.create_connection(("127.0.0.1", at.weir.port), 10, third) as sock:
                sock.sendall(asks)
                assert b"HTTP/1.1 503 this client has too many" in read_to_end(sock)
        assert first.ask(asks).status == 200


def test_what_follows_a_refused_login_is_no_request(gateway, server, token_file):
    """The body of a request that is answered with 407."""
    clients = [{"name": "ci", "tokenFile": token_file("ci", TOKENS["ci"])}]
    at = Site(gateway, server, extra={"clients": clients})
    inner = get(at.url + "/inner", field_of("ci", TOKENS["ci"]))
    outer = get(at.url, f"Content-Length: {len(inner)}", method="POST", body=inner)
    with at.client() as client:
        client.send(outer)
        assert client.answer().status == 407
        client.end()
        assert client.stream.rest() == b""
    assert at.script.heard == []
    assert len(at.weir.audit(1)) == 1


def test_an_address_is_asked_for_each_plain_request(gateway, server):
    clients = [{"name": "lan", "from": ["127.0.0.1"], "network": {"allowedDomains": []}}]
    at = Site(gateway, server, extra={"clients": clients})
    with at.client() as client:
        assert client.ask(get(at.url)).status == 403
        assert client.ask(get(at.url, field_of("ci", "x" * 20))).status == 403
    assert {line["session"] for line in at.weir.audit(2)} == {"lan"}


def test_the_gateway_is_nobodys_target(fleet):
    gate = fleet({"name": "lan", "from": ["127.0.0.0/8"]}, allowedDomains=["127.0.0.1"])
    with gate.ask() as sock:
        read_answer(sock)
    sock = socket.create_connection(("127.0.0.1", gate.weir.port), 10)
    with sock:
        sock.sendall(f"CONNECT 127.0.0.1:{gate.weir.port} HTTP/1.1\r\n\r\n".encode())
        assert read_answer(sock).startswith(b"HTTP/1.1 403 ")
    assert "address-own" in {line["reason"] for line in gate.weir.audit(2)}
