"""Through another proxy: which way a connection goes, and what the parent is asked."""

import base64
import json
import os
import socket
import ssl

import pytest

from support import servers
from support.parent import BANNER, LIST, NAME, Parent, by_host, through


def test_connect_through_http(gateway, parent, origin, dns_server):
    up = parent(to=origin.port, login="us%40er:p%3Ass@")
    names = dns_server({})
    weir = gateway(through(up.url), resolver=names)
    with weir.connect(f"{NAME}:443") as tunnel:
        assert tunnel.status == 200
        assert tunnel.read(len(BANNER)) == BANNER
        tunnel.send(b"ping")
        assert tunnel.read(4) == b"ping"
        tunnel.end()
        assert tunnel.read_all() == b""
    login = base64.b64encode(b"us@er:p:ss").decode()
    assert up.asked == [
        f"CONNECT {NAME}:443 HTTP/1.1\r\nHost: {NAME}:443\r\n"
        f"Proxy-Authorization: Basic {login}\r\n\r\n"
    ]
    assert names.queries == []
    (line,) = weir.audit()
    assert line["verdict"] == "allow" and line["host"] == NAME
    assert line["via"] == up.name
    assert "addr" not in line and line["bytes_down"] == len(BANNER) + 4
    text = weir.log() + json.dumps(line)
    assert login not in text and "p%3Ass" not in text and "p:ss" not in text


@pytest.mark.parametrize("kind", ["socks5", "socks5h"])
def test_connect_through_socks(gateway, parent, origin, dns_server, kind):
    up = parent(kind, to=origin.port, login="user:pa%20ss@")
    up.login = ("user", "pa ss")
    names = dns_server({})
    weir = gateway(through(up.url), resolver=names)
    with weir.connect(f"{NAME}:443") as tunnel:
        assert tunnel.read(len(BANNER)) == BANNER
    with weir.connect("192.0.2.9:443") as tunnel:
        assert tunnel.status == 403  # an address is judged, whatever the way
    assert up.asked == [f"{NAME}:443"] and names.queries == []
    assert by_host(weir.audit(2))[NAME]["via"] == up.name


def test_an_address_through_a_parent(gateway, parent, origin):
    up = parent(to=origin.port)
    weir = gateway({"allowedDomains": ["192.0.2.9:443"], "parentProxy": {"https": up.url},
                    "deniedResolvedAddresses": ["10.0.0.0/8"]})  # fmt: skip
    with weir.connect("192.0.2.9:443") as tunnel:
        assert tunnel.read(len(BANNER)) == BANNER
    assert up.asked[0].startswith("CONNECT 192.0.2.9:443 HTTP/1.1\r\n")
    assert weir.audit()[0]["addr"] == "192.0.2.9"


@pytest.mark.parametrize("kind", ["http", "socks5"])
def test_plain_http(gateway, parent, http_server, kind):
    """In absolute form to a parent that speaks HTTP; through SOCKS as a tunnel."""
    web = http_server({"*": b"page\n"})
    up = parent(kind, to=web.port, login="u:p@")
    up.login = ("u", "p")
    weir = gateway(through(up.url))
    answer = weir.raw(
        f"GET http://{NAME}/a?b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        "Proxy-Authorization: Basic mine\r\n\r\n".encode()
    )
    assert answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"page\n")
    if kind == "http":
        head = up.asked[0]
        assert head.startswith(f"GET http://{NAME}/a?b HTTP/1.1\r\n")
        assert f"\r\nHost: {NAME}\r\n" in head and "mine" not in head
        assert "\r\nProxy-Authorization: Basic dTpw\r\n" in head
    else:
        assert up.asked == [f"{NAME}:80"]
        ((_, path, headers),) = web.requests
        assert path == "/a?b" and headers["Host"] == NAME
        assert "Proxy-Authorization" not in headers
    assert weir.audit()[0]["via"] == up.name


def test_which_way(gateway, parent, origin, dns_server, closing, tmp_path):
    """Loopback and noProxy directly, mitmProxy before both, tunnels by https."""
    tunnels, plain, mitm = parent(to=origin.port), parent(to=origin.port), Parent(origin.port)
    path = str(tmp_path / "mitm.sock")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(8)
    closing(servers.serve(listener, mitm.http))
    names = dns_server({"near.test": ["127.0.0.1"]})
    port = origin.port
    weir = gateway({
        "allowedDomains": [*LIST, f"127.0.0.1:{port}", "localhost"],
        "parentProxy": {"http": plain.url, "https": tunnels.url, "noProxy": "x.y, near.test:1"},
        "mitmProxy": {"socketPath": path, "domains": ["*.deep.test"]},
    }, resolver=names)  # fmt: skip
    hosts = [f"127.0.0.1:{port}", f"near.test:{port}", f"localhost:{port}", "a.test:443",
             "a.deep.test:443", "deep.test:443"]  # fmt: skip
    for host in hosts:
        with weir.connect(host) as tunnel:
            assert tunnel.status == 200, host
            assert tunnel.read(len(BANNER)) == BANNER
    assert [head.split()[1] for head in tunnels.asked] == ["a.test:443", "deep.test:443"]
    assert [head.split()[1] for head in mitm.asked] == ["a.deep.test:443"]
    assert plain.asked == []
    lines = by_host(weir.audit(len(hosts)))
    via = [lines[host.split(":")[0]].get("via") for host in hosts]
    assert via == [None, None, None, tunnels.url, f"unix:{path}", tunnels.url]


RULES = [
    {"deniedResolvedAddresses": ["10.0.0.0/8"]},
    {"privateAddresses": "deny"},
    {"nat64Prefixes": ["2001:db8:64::/96"]},
    {"deniedDomains": ["192.0.2.1"]},
]


@pytest.mark.parametrize("rule", RULES)
def test_A18_address_rules_and_a_parent_that_resolves(gateway, parent, rule):
    up = parent(answer=b"")
    weir = gateway({**through(up.url), **rule})
    with weir.connect(f"{NAME}:443") as tunnel:
        assert tunnel.status == 403
        assert b'"resolve": "local"' in tunnel.body
    plain = weir.raw(f"GET http://{NAME}/ HTTP/1.1\r\nHost: a\r\n"
                     "Connection: close\r\n\r\n".encode())  # fmt: skip
    assert plain.startswith(b"HTTP/1.1 403 ")
    assert up.server.connections == 0
    for line in weir.audit(2):
        assert line["reason"] == "address-unchecked" and line["via"] == up.url
        assert line["rule"].startswith(f"network.{next(iter(rule))}")


@pytest.mark.parametrize("kind", ["http", "socks5"])
def test_A18_the_parent_gets_the_address_that_was_checked(
    gateway, parent, origin, dns_server, kind
):
    """One lookup, and what passed is what is asked for, in plain HTTP too."""
    names = dns_server({"good.test": ["10.1.2.3", "203.0.113.5"], "bad.test": ["10.0.0.1"]})
    up = parent(kind, to=origin.port)
    weir = gateway(
        {**through(up.url, resolve="local"), "deniedResolvedAddresses": ["10.0.0.0/8"]},
        resolver=names,
    )
    with weir.connect("good.test:443") as tunnel:
        assert tunnel.read(len(BANNER)) == BANNER
    assert sorted(names.queries) == [("good.test", "A"), ("good.test", "AAAA")]
    weir.raw(b"GET http://good.test/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    with weir.connect("bad.test:443") as tunnel:
        assert tunnel.status == 403
    asked = [head.split()[1] if kind == "http" else head for head in up.asked]
    assert asked == ["203.0.113.5:443", "203.0.113.5:80"]
    lines = weir.audit(3)
    assert sorted(line["addr"] for line in lines) == ["10.0.0.1", "203.0.113.5", "203.0.113.5"]
    assert by_host(lines)["bad.test"]["reason"] == "address-listed"


@pytest.mark.parametrize("kind", ["http", "socks5"])
def test_two_gateways_in_a_row(gateway, origin, dns_server, kind):
    """The second one resolves and judges; what it refuses is told by the first."""
    names = dns_server({"a.test": ["127.0.0.1"]})
    port = origin.port
    second = gateway(
        {"allowedDomains": [f"a.test:{port}", f"127.0.0.1:{port}"]}, resolver=names
    )
    first = gateway(through(f"{kind}://127.0.0.1:{second.port}"))
    with first.connect(f"a.test:{port}") as tunnel:
        assert tunnel.status == 200
        assert tunnel.read(len(BANNER)) == BANNER
    with first.connect("b.test:443") as tunnel:
        assert tunnel.status == 502
        assert b"refused: " in tunnel.body
    lines = by_host(second.audit(2))
    assert lines["a.test"]["verdict"] == "allow" and lines["b.test"]["verdict"] == "deny"
    lines = by_host(first.audit(2))
    assert lines["a.test"]["reason"] == "allow-list"
    assert lines["b.test"]["reason"] == "parent-refused"


def test_a_gateway_is_not_its_own_parent(gateway, tmp_path):
    path = f"{tmp_path}/own.sock"
    weir = gateway(
        {
            "allowedDomains": LIST,
            "mitmProxy": {"socketPath": path, "domains": ["a.test"]},
        },
        listen=["127.0.0.1:0", f"unix:{path}"],
    )
    with weir.connect("a.test:443") as tunnel:
        assert tunnel.status == 403
        assert b"is this proxy itself" in tunnel.body
        assert "proxy_loop_detected" in tunnel.headers["proxy-status"]
    (line,) = weir.audit()
    assert line["reason"] == "address-own" and line["via"] == f"unix:{path}"


def test_nor_by_a_socket_that_was_passed_on(gateway, closing, tmp_path):
    """Somebody else has made it, so the kernel names somebody else as its owner."""
    path, link = str(tmp_path / "passed.sock"), str(tmp_path / "link.sock")
    listener = closing(socket.socket(socket.AF_UNIX))
    listener.bind(path)
    listener.listen(16)
    os.symlink(path, link)
    weir = gateway(
        {
            "allowedDomains": LIST,
            "mitmProxy": {"socketPath": link, "domains": ["a.test"]},
        },
        listen=["127.0.0.1:0", "systemd"],
        passed=[("proxy", listener)],
    )
    with weir.connect("a.test:443") as tunnel:
        assert tunnel.status == 403 and b"is this proxy itself" in tunnel.body
    assert [line["reason"] for line in weir.audit()] == ["address-own"]


def test_the_tunnel_is_judged_by_its_hello(gateway, parent, https_server):
    """Name and hello are compared whatever the way is."""
    web = https_server([NAME, "other.test"])
    up = parent(to=web.port)
    weir = gateway(through(up.url))
    context = ssl.create_default_context(cafile=web.ca)
    with weir.connect(f"{NAME}:443") as tunnel:
        with context.wrap_socket(tunnel.sock, server_hostname=NAME) as inner:
            inner.sendall(f"GET / HTTP/1.1\r\nHost: {NAME}\r\nConnection: close\r\n\r\n".encode())
            assert inner.recv(65536).startswith(b"HTTP/1.1 200")
    with weir.connect(f"{NAME}:443") as tunnel, pytest.raises(OSError):
        context.wrap_socket(tunnel.sock, server_hostname="other.test")
    reasons = sorted(line["reason"] for line in weir.audit(2))
    assert reasons == ["allow-list", "sni-mismatch"]


def test_the_gateways_environment_says_nothing(gateway, echo_server):
    port = echo_server()
    env = {name: "http://127.0.0.1:9" for name in ("HTTP_PROXY", "HTTPS_PROXY", "all_proxy")}
    weir = gateway({"allowedDomains": [f"127.0.0.1:{port}"]}, env=env)
    with weir.connect(f"127.0.0.1:{port}") as tunnel:
        assert tunnel.status == 200
    assert "via" not in weir.audit()[0]
