"""More real programs behind the gateway and inside `weir run`: those of test_14_clients.py
by ways that are not there, and others. As there, each reaches an allowed name, and none
reaches one that is not, and says why."""

import os
import tempfile

import pytest
from support import registry, servers, world
from support import site as sites
from support.site import (
    ALLOWED, API, OTHER, SOCKETS, WITHOUT_PROXY, good, java_command, needs, needs_module,
    npm_environment, npm_install, pip_download,
)  # fmt: skip
from support.websocket import WebSocketServer

PAGE = "hello from the api"


@pytest.fixture(scope="module")
def site(authority):
    made = sites.make(authority)
    yield made
    made.close()


@pytest.fixture(params=world.MODES)
def mode(request):
    return request.param


def refused(site, mode, done, *says, host=API):
    """The program failed and says why, and Weir says so too: in its record, or behind the
    command."""
    assert done.returncode != 0, done.stdout
    told = done.stdout + done.stderr
    assert any(text in told for text in says), told
    if mode == "gateway":
        site.tells(site.gateways["other"], host=host, reason="not-on-allow-list")
    else:
        assert f"{host}:" in done.stderr and "allowedDomains" in done.stderr, told


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_wget(site, mode, scheme):
    wget = [needs("wget", "wget"), "-nv", "-O", "-", f"--ca-certificate={site.world.ca}",
            "--tries=1", "--timeout=60", f"{scheme}://{API}/"]  # fmt: skip
    good(site.run(mode, ALLOWED, wget), PAGE)
    refused(site, mode, site.run(mode, OTHER, wget), "403", "Proxy tunneling failed")


def test_curl_plain_http_and_its_upload(site, mode):
    """A large body is announced with Expect, and comes whole."""
    good(site.run(mode, ALLOWED, ["curl", "-sS", f"http://{API}/"]), PAGE)
    done = site.run(mode, OTHER, ["curl", "-sSf", f"http://{API}/"])
    refused(site, mode, done, "403")
    file = site.world.work / f"upload-{mode}"
    file.write_bytes(os.urandom(3_000_000))
    file.chmod(0o644)
    done = site.run(mode, ALLOWED, [
        "curl", "-sS", "-v", "--data-binary", f"@{file}", "-H", "Expect: 100-continue",
        f"http://{API}/count",
    ])  # fmt: skip
    good(done, "3000000 bytes")
    assert "HTTP/1.1 100 Continue" in done.stderr


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_python_requests(site, mode, scheme):
    needs_module("requests", "python3-requests")
    code = (
        "import sys, requests\n"
        "with requests.Session() as s:\n"
        "    for _ in range(3):\n"
        "        answer = s.get(sys.argv[1], timeout=60)\n"
        "        answer.raise_for_status()\n"
        "print(answer.text)"
    )
    command = ["/usr/bin/python3", "-c", code, f"{scheme}://{API}/"]
    good(site.run(mode, ALLOWED, command), PAGE)
    refused(site, mode, site.run(mode, OTHER, command), "403")


def test_node_plain_http(site, mode):
    command = [needs("node", "nodejs"), site.programs / "http_get.js", f"http://{API}/"]
    good(site.run(mode, ALLOWED, command), PAGE)
    refused(site, mode, site.run(mode, OTHER, command), "403 ")


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_node_fetch(site, mode, scheme):
    command = [needs("node", "nodejs"), site.programs / "fetch.js", f"{scheme}://{API}/"]
    good(site.run(mode, ALLOWED, command), PAGE)
    refused(site, mode, site.run(mode, OTHER, command), "403 ")


@pytest.mark.parametrize("network", [ALLOWED, OTHER], ids=["allowed", "other"])
def test_node_fetch_by_itself(site, network):
    """PRO-13: fetch of node 20 does not look at the variables and asks nobody: inside `weir
    run` it gets nowhere. Newer versions look, as NODE_USE_ENV_PROXY tells them to."""
    code = "fetch(process.argv[1]).then((a) => a.text()).then(console.log)"
    before = site.connections()
    done = site.run("run", network, [needs("node", "nodejs"), "-e", code, f"https://{API}/"])
    if done.returncode == 0:
        good(done, PAGE)
        assert network is ALLOWED
        return
    assert "fetch failed" in done.stderr and site.connections() == before


def test_npm_by_socks(site, mode):
    for network, port in site.ports(mode):
        which = "allowed" if network is ALLOWED else "other"
        command, folder = npm_install(
            site, f"npm-socks-{mode}-{which}", f"socks5h://127.0.0.1:{port}"
        )
        done = site.run(mode, network, [*WITHOUT_PROXY, *command], env=npm_environment(site))
        if network is ALLOWED:
            assert done.returncode == 0, (done.stdout, done.stderr)
            assert "tiny works" in (folder / "node_modules/tiny/index.js").read_text()
        else:
            refused(site, mode, done, "NotAllowed", host=registry.NPM)


def test_pip_by_socks(site, mode):
    needs_module("socks", "python3-socks")
    for network, port in site.ports(mode):
        which = "allowed" if network is ALLOWED else "other"
        command, file = pip_download(
            site, f"pip-socks-{mode}-{which}", "--proxy", f"socks5h://127.0.0.1:{port}"
        )
        done = site.run(mode, network, command)
        if network is ALLOWED:
            assert done.returncode == 0 and file.exists(), (done.stdout, done.stderr)
        else:
            # It keeps to itself what it was told.
            refused(site, mode, done, "No matching distribution", host=registry.PYPI)


def test_java_by_socks_with_a_name(site, mode):
    for network, port in site.ports(mode):
        command = java_command(site, "-DsocksProxyHost=127.0.0.1", f"-DsocksProxyPort={port}")
        done = site.run(mode, network, [*command, "Ask", "name", API, "80"])
        if network is ALLOWED:
            good(done, PAGE)
        else:
            refused(site, mode, done, "not allowed by ruleset")


def test_java_by_socks_with_an_address(site):
    """URLConnection resolves the name itself and gives the proxy an address: that is what
    policy sees, and what has to be allowed. (Inside `weir run` it is told of an HTTP proxy,
    which it prefers.)"""

    def ask(port):
        return [
            *java_command(site, "-DsocksProxyHost=127.0.0.1", f"-DsocksProxyPort={port}"),
            "Ask", f"http://{API}/",
        ]  # fmt: skip

    (_, port), _ = site.ports("gateway")
    done = site.run("gateway", ALLOWED, ask(port))
    assert done.returncode != 0 and "not allowed by ruleset" in done.stderr
    site.tells(site.gateways["allowed"], host=world.SERVER, reason="not-on-allow-list")
    literal = site.start_gateway("literal", {"allowedDomains": [f"{world.SERVER}:80"]})
    good(site.run_by(literal, ask(literal.port)), PAGE)


def test_java_plain_http(site, mode):
    for network, port in site.ports(mode):
        command = java_command(site, "-Dhttp.proxyHost=127.0.0.1", f"-Dhttp.proxyPort={port}",
                               "-Dhttp.nonProxyHosts=")  # fmt: skip
        done = site.run(mode, network, [*command, "Get", f"http://{API}/"])
        if network is ALLOWED:
            good(done, PAGE)
        else:
            refused(site, mode, done, "response code: 403")


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_java_http_client(site, mode, scheme):
    """It takes HTTP proxies only."""
    for network, port in site.ports(mode):
        command = java_command(site, f"-D{scheme}.proxyHost=127.0.0.1",
                               f"-D{scheme}.proxyPort={port}", "-Dhttp.nonProxyHosts=")  # fmt: skip
        done = site.run(mode, network, [*command, "Ask", "client", f"{scheme}://{API}/"])
        if network is ALLOWED:
            good(done, PAGE)
        else:
            refused(site, mode, done, "response code: 403", "got: 403")


@pytest.fixture(scope="module")
def sockets(site, authority):
    """WebSocket servers, without and with TLS."""
    needs_module("websockets, socks", "python3-websockets, python3-socks")
    b = site.world.pair.b
    contexts = [None, authority.server_context([API])]
    made = [
        WebSocketServer(servers.listen_on(world.SERVER, port, b), context)
        for port, context in zip(SOCKETS, contexts)
    ]
    yield
    for server in made:
        server.close()


@pytest.mark.parametrize("scheme", ["ws", "wss"])
def test_python_websockets(site, mode, sockets, scheme):
    url = f"{scheme}://{API}:{SOCKETS[scheme == 'wss']}/"
    program = ["/usr/bin/python3", site.programs / "websocket.py", url]
    for network, port in site.ports(mode):
        for env in ({}, {"SOCKS_PROXY": f"socks5://127.0.0.1:{port}"}):
            done = site.run(mode, network, program, env=env)
            if network is ALLOWED:
                good(done, "hello from the socket")
            else:
                refused(site, mode, done, "403", "not allowed by ruleset")


def test_upgrade_to_websocket_without_a_tunnel(site, mode, sockets):
    command = ["/usr/bin/python3", site.programs / "upgrade.py", API, SOCKETS[0]]
    good(site.run(mode, ALLOWED, command), "0x81 olleh")
    refused(site, mode, site.run(mode, OTHER, command), "403")


CHROMIUM = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
    "--ignore-certificate-errors", "--no-first-run", "--disable-background-networking",
    "--dump-dom", "--virtual-time-budget=10000",
]  # fmt: skip


def chromium(site, proxy, url):
    folder = tempfile.mkdtemp(dir=site.world.work)
    return [needs("chromium", "chromium"), *CHROMIUM, f"--user-data-dir={folder}",
            f"--proxy-server={proxy}", url]  # fmt: skip


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("by", ["http", "socks5"])
def test_chromium(site, scheme, by):
    """Behind the gateway only: inside `weir run` the seccomp program refuses the kind of
    socket pair that its processes talk by, on purpose, as README says. What it asks for in
    the background is refused, and that does not disturb it."""
    for network, port in site.ports("gateway"):
        command = chromium(site, f"{by}://127.0.0.1:{port}", f"{scheme}://{API}/")
        done = site.run("gateway", network, command, timeout=180)
        assert (PAGE in done.stdout) == (network is ALLOWED), (done.stdout, done.stderr[-3000:])
        if network is OTHER:
            site.tells(site.gateways["other"], host=API, reason="not-on-allow-list")
    passed = [line for line in site.gateways["allowed"].audit(0) if line["verdict"] == "allow"]
    assert {line["host"] for line in passed} <= set(sites.NAMES), passed


def test_chromium_is_known_by_its_address(site):
    """Without a window it cannot be told a login. Somebody else's address is nobody's."""
    clients = [{"name": "desk", "from": ["127.0.0.1"], "network": ALLOWED}]
    desk = site.start_gateway("desk", {}, clients)
    command = chromium(site, f"http://127.0.0.1:{desk.port}", f"https://{API}/")
    done = site.run_by(desk, command, timeout=180)
    assert PAGE in done.stdout, (done.stdout, done.stderr[-3000:])
    site.tells(desk, host=API, verdict="allow", session="desk")
    lines = desk.audit(0)
    assert {line["session"] for line in lines} == {"desk"}, lines
    assert {line["host"] for line in lines if line["verdict"] == "allow"} == {API}, lines
    curl = ["curl", "-sS", "--interface", "127.0.0.9", f"https://{API}/"]
    assert site.run_by(desk, curl).returncode != 0
    site.tells(desk, reason="auth")
