"""Parent proxies behind every front, for each client, after a reload; and tinyproxy as one."""

import json
import shutil
import socket
import subprocess

import pytest

from support import servers
from support.parent import BANNER, LIST, NAME, read_exactly, through
from support.tunnel import read_to_end
from support.wait import wait_until


def ask_socks(weir, host, port=443):
    """The reply to a SOCKS5 CONNECT by name, and the connection."""
    sock = weir.dial(30)
    sock.sendall(b"\x05\x01\x00")
    assert read_exactly(sock, 2) == b"\x05\x00"
    name = host.encode()
    sock.sendall(b"\x05\x01\x00\x03" + bytes([len(name)]) + name + port.to_bytes(2, "big"))
    return read_exactly(sock, 10)[1], sock


@pytest.mark.parametrize("kind", ["http", "socks5"])
def test_a_client_of_socks(gateway, parent, origin, kind):
    up = parent(kind, to=origin.port)
    weir = gateway(through(up.url))
    reply, sock = ask_socks(weir, NAME)
    with sock:
        assert reply == 0 and read_exactly(sock, len(BANNER)) == BANNER
    assert NAME in up.asked[0]
    (line,) = weir.audit()
    assert (line["front"], line["via"]) == ("socks5", up.name)


def held_port():
    """A port on which nobody listens, as long as the socket is kept."""
    held = socket.socket()
    held.bind(("127.0.0.1", 0))
    return held


def test_what_a_client_of_socks_is_told(gateway, parent):
    """What a parent says of the target is passed on; of itself it is a general failure."""
    refused = b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"
    with held_port() as held:
        nobody = f"http://127.0.0.1:{held.getsockname()[1]}"
        for url, more, reply in (
            (parent(answer=refused).url, {}, 4),
            (parent("socks5", answer=b"\x05\x05\x00\x01").url, {}, 5),
            (parent("socks5", answer=b"\x05\x03\x00\x01").url, {}, 3),
            (nobody, {}, 1),
            (nobody, {"privateAddresses": "deny"}, 2),
        ):
            weir = gateway({**through(url), **more})
            got, sock = ask_socks(weir, NAME)
            sock.close()
            assert got == reply, (url, more)


def ask_from(weir, source, host):
    """All that is said to a CONNECT from this address, up to the banner."""
    with socket.create_connection(
        ("127.0.0.1", weir.port), 30, source_address=(source, 0)
    ) as sock:
        sock.sendall(f"CONNECT {host} HTTP/1.1\r\n\r\n".encode())
        said = b""
        while BANNER not in said and (piece := sock.recv(4096)):
            said += piece
        return said


def test_each_client_has_its_own(gateway, parent, server, dns_server):
    """Its own stands in the place of the gateway's; an empty one is none."""
    origin = server(servers.banner(BANNER))
    ours, theirs = parent(to=origin.port), parent(to=origin.port)
    names = dns_server({"a.test": ["127.0.0.1"]})
    port = origin.port
    shared = {**through(ours.url), "allowedDomains": [f"a.test:{port}", f"127.0.0.1:{port}"]}
    clients = [
        {"name": "plain", "from": ["127.0.0.1"]},
        {"name": "own", "from": ["127.0.0.2"], "network": {"parentProxy": {"http": theirs.url}}},
        {"name": "none", "from": ["127.0.0.3"], "network": {"parentProxy": {}}},
    ]
    weir = gateway(shared, extra={"clients": clients}, resolver=names)
    for number in (1, 2, 3):
        assert BANNER in ask_from(weir, f"127.0.0.{number}", f"a.test:{port}")
    assert len(ours.asked) == 1 and len(theirs.asked) == 1 and origin.connections == 3
    via = {line["session"]: line.get("via") for line in weir.audit(3)}
    assert via == {"plain": ours.name, "own": theirs.name, "none": None}


def test_a_reload_changes_the_way(gateway, parent, http_server, dns_server):
    """Also of a connection that was kept for the next request."""
    web = http_server({"*": b"page\n"})
    names = dns_server({"a.test": ["127.0.0.1"]})
    port = web.port
    direct = {"allowedDomains": [f"a.test:{port}", f"127.0.0.1:{port}"]}
    up = parent(to=web.port)
    weir = gateway(direct, resolver=names)

    def get(sock):
        sock.sendall(f"GET http://a.test:{port}/ HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        said = b""
        while not said.endswith(b"page\n"):
            piece = sock.recv(4096)
            assert piece, said
            said += piece

    def settle(network):
        tree = json.loads(weir.file.read_text())
        weir.file.write_text(json.dumps({**tree, "network": network}))
        weir.reload()

    with weir.dial() as sock:
        get(sock)
        get(sock)
        assert (web.connections, up.asked) == (1, [])
        settle({**direct, "parentProxy": {"http": up.url}})
        get(sock)
        assert len(up.asked) == 1
        settle(direct)
        get(sock)
        assert len(up.asked) == 1
    assert [line.get("via") for line in weir.audit(4)] == [None, None, up.name, None]


def test_a_reload_within_a_request_changes_the_way_of_the_next(
    gateway, parent, http_server, dns_server
):
    """What the first one came over is not kept: the next goes another way."""
    web = http_server({"*": b"page\n"})
    up = parent(to=web.port)
    slow = socket.create_server(("127.0.0.1", 0))
    slow.settimeout(30)
    port = slow.getsockname()[1]
    host = f"a.test:{port}"
    direct = {"allowedDomains": [host, f"127.0.0.1:{port}"]}
    weir = gateway(direct, resolver=dns_server({"a.test": ["127.0.0.1"]}))
    request = f"GET http://{host}/ HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    with weir.dial() as sock, slow:
        sock.sendall(request)
        server, _ = slow.accept()
        with server:
            server.recv(4096)
            tree = json.loads(weir.file.read_text())
            tree["network"] = {**direct, "parentProxy": {"http": up.url}}
            weir.file.write_text(json.dumps(tree))
            weir.reload()
            answer = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"
            server.sendall(answer + b"slow")
            assert read_exactly(sock, len(answer) + 4).endswith(b"slow")
            sock.sendall(request)
            server.settimeout(30)
            assert server.recv(4096) == b""
        assert read_exactly(sock, 15) == b"HTTP/1.1 200 OK"
    assert len(up.asked) == 1
    assert [line.get("via") for line in weir.audit(2)] == [None, up.name]


def test_a_tunnel_that_nobody_checked_is_cut_by_a_rule(gateway, parent, origin):
    up = parent(to=origin.port)
    weir = gateway(through(up.url))
    with weir.connect(f"{NAME}:443") as tunnel:
        assert tunnel.read(len(BANNER)) == BANNER
        tree = json.loads(weir.file.read_text())
        tree["network"]["deniedResolvedAddresses"] = ["10.0.0.0/8"]
        weir.file.write_text(json.dumps(tree))
        weir.reload()
        assert tunnel.read_all() == b""
    (line,) = weir.audit()
    assert line["reason"] == "policy-revoked" and line["via"] == up.name


@pytest.fixture
def tinyproxy(tmp_path, closing):
    """tinyproxy on a free port, with a login. It is looked for where Debian has it."""
    program = shutil.which("tinyproxy", path="/usr/bin:/usr/sbin")
    if program is None:
        pytest.skip("tinyproxy is not installed (package tinyproxy-bin)")
    for _ in range(5):
        with held_port() as held:
            port = held.getsockname()[1]
        file = tmp_path / "tinyproxy.conf"
        file.write_text(
            f"Port {port}\nListen 127.0.0.1\nTimeout 60\nMaxClients 20\n"
            f'Allow 127.0.0.1\nBasicAuth user pass\nLogLevel Warning\nLogFile "{tmp_path}/log"\n'
        )
        process = subprocess.Popen([program, "-d", "-c", str(file)],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)  # fmt: skip
        process.close = lambda process=process: (process.terminate(), process.wait(30))
        closing(process)

        def answers():
            try:
                socket.create_connection(("127.0.0.1", port), 5).close()
                return True
            except ConnectionRefusedError:
                return process.poll() is not None

        wait_until(answers, 30, "tinyproxy does not listen")
        if process.poll() is None:
            return port
    raise AssertionError("tinyproxy finds no free port")


def test_tinyproxy(gateway, tinyproxy, origin, http_server, dns_server):
    """A program of others as the parent. It resolves nothing here: names are ours."""
    web = http_server({"*": b"page\n"})
    names = dns_server({name: ["127.0.0.1"] for name in LIST})
    ports = (origin.port, web.port)
    network = {
        "allowedDomains": ["a.test", *(f"127.0.0.1:{port}" for port in ports)],
        "parentProxy": {"http": f"http://user:pass@127.0.0.1:{tinyproxy}", "resolve": "local"},
    }
    weir = gateway(network, resolver=names)
    with weir.connect(f"a.test:{origin.port}") as tunnel:
        assert tunnel.status == 200
        assert tunnel.read(len(BANNER)) == BANNER
    with weir.dial() as sock:
        sock.sendall(f"GET http://a.test:{web.port}/ HTTP/1.1\r\nHost: x\r\n"
                     "Connection: close\r\n\r\n".encode())  # fmt: skip
        assert read_to_end(sock).endswith(b"page\n")
    assert {line["via"] for line in weir.audit(2)} == {f"http://127.0.0.1:{tinyproxy}"}
    network["parentProxy"]["http"] = f"http://user:wrong@127.0.0.1:{tinyproxy}"
    weir = gateway(network, resolver=names)
    with weir.connect(f"a.test:{origin.port}") as tunnel:
        # Some versions answer 401 to wrong credentials, and 407 to none.
        assert tunnel.status == 502 and b"(parent-refused)" in tunnel.body
