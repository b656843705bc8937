"""More real programs behind the gateway and inside `weir run`: those of test_14_clients.py
by ways that are not there, and others. As there, each reaches an allowed name, and none
reaches one that is not, and says why."""

import os

import pytest
from support import servers, world
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


def ports_of(site, mode):
    """[(network, port)] of the two proxies, which speak SOCKS as well."""
    networks = {"allowed": ALLOWED, "other": OTHER}
    for network in networks.values():
        site.run(mode, network, ["true"])
    if mode != "gateway":
        return [(network, 3128) for network in networks.values()]
    return [(network, site.gateways[name].port) for name, network in networks.items()]


def refused(done, *says):
    assert done.returncode != 0, done.stdout
    told = done.stdout + done.stderr
    assert any(text in told for text in says), told


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_wget(site, mode, scheme):
    wget = [needs("wget", "wget"), "-nv", "-O", "-", f"--ca-certificate={site.world.ca}",
            "--tries=1", "--timeout=60", f"{scheme}://{API}/"]  # fmt: skip
    good(site.run(mode, ALLOWED, wget), PAGE)
    refused(site.run(mode, OTHER, wget), "403", "Proxy tunneling failed")


def test_curl_plain_http_and_its_upload(site, mode, tmp_path_factory):
    """A large body is announced with Expect, and comes whole."""
    good(site.run(mode, ALLOWED, ["curl", "-sS", f"http://{API}/"]), PAGE)
    refused(site.run(mode, OTHER, ["curl", "-sSf", f"http://{API}/"]), "403")
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
    refused(site.run(mode, OTHER, command), "403")


def test_node_plain_http(site, mode):
    """Node asks a proxy for a URL when it is told to; by itself it knows of none."""
    code = (
        "const http = require('http'), proxy = new URL(process.env.HTTP_PROXY);\n"
        "http.get({host: proxy.hostname, port: proxy.port, path: process.argv[1],\n"
        "  headers: {Host: new URL(process.argv[1]).host}}, (answer) => {\n"
        "    answer.pipe(process.stdout); process.exitCode = answer.statusCode == 200 ? 0 : 1;\n"
        "});"
    )
    command = [needs("node", "nodejs"), "-e", code, f"http://{API}/"]
    good(site.run(mode, ALLOWED, command), PAGE)
    refused(site.run(mode, OTHER, command), "blocked", API)


def test_npm_by_socks(site, mode):
    for network, port in ports_of(site, mode):
        which = "allowed" if network is ALLOWED else "other"
        command, folder = npm_install(
            site, f"npm-socks-{mode}-{which}", f"socks5h://127.0.0.1:{port}"
        )
        done = site.run(mode, network, [*WITHOUT_PROXY, *command], env=npm_environment(site))
        if network is ALLOWED:
            assert done.returncode == 0, (done.stdout, done.stderr)
            assert "tiny works" in (folder / "node_modules/tiny/index.js").read_text()
        else:
            refused(done, "NotAllowed")


def test_pip_by_socks(site, mode):
    needs_module("socks", "python3-socks")
    for network, port in ports_of(site, mode):
        which = "allowed" if network is ALLOWED else "other"
        command, file = pip_download(
            site, f"pip-socks-{mode}-{which}", "--proxy", f"socks5h://127.0.0.1:{port}"
        )
        done = site.run(mode, network, command)
        if network is ALLOWED:
            assert done.returncode == 0 and file.exists(), (done.stdout, done.stderr)
        else:
            # It keeps to itself what it was told.
            refused(done, "No matching distribution")


def test_java_by_socks_with_a_name(site, mode):
    for network, port in ports_of(site, mode):
        command = java_command(site, "-DsocksProxyHost=127.0.0.1", f"-DsocksProxyPort={port}")
        done = site.run(mode, network, [*command, "GetBySocks", "name", API, "80"])
        if network is ALLOWED:
            good(done, PAGE)
        else:
            refused(done, "not allowed by ruleset")


def test_java_by_socks_with_an_address(site):
    """URLConnection resolves the name itself and gives the proxy an address: that is what
    policy sees, and what has to be allowed. (Inside `weir run` it is told of an HTTP proxy,
    which it prefers.)"""

    def ask(port):
        return [
            *java_command(site, "-DsocksProxyHost=127.0.0.1", f"-DsocksProxyPort={port}"),
            "GetBySocks", f"http://{API}/",
        ]  # fmt: skip

    (_, port), _ = ports_of(site, "gateway")
    refused(site.run("gateway", ALLOWED, ask(port)), "not allowed by ruleset")
    literal = site.start_gateway("literal", {"allowedDomains": [f"{world.SERVER}:80"]})
    good(site.run_by(literal, ask(literal.port)), PAGE)


def test_java_plain_http(site, mode):
    for network, port in ports_of(site, mode):
        command = java_command(site, "-Dhttp.proxyHost=127.0.0.1", f"-Dhttp.proxyPort={port}",
                               "-Dhttp.nonProxyHosts=")  # fmt: skip
        done = site.run(mode, network, [*command, "Get", f"http://{API}/"])
        if network is ALLOWED:
            good(done, PAGE)
        else:
            refused(done, "response code: 403")


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
    for network, port in ports_of(site, mode):
        for env in ({}, {"SOCKS_PROXY": f"socks5://127.0.0.1:{port}"}):
            done = site.run(mode, network, program, env=env)
            if network is ALLOWED:
                good(done, "hello from the socket")
            else:
                refused(done, "403", "not allowed by ruleset")


def test_curl_upgrades_to_websocket(site, mode, sockets):
    """Plain HTTP by the proxy, without a tunnel."""
    key = ["-H", "Connection: Upgrade", "-H", "Upgrade: websocket", "-H",
           "Sec-WebSocket-Version: 13", "-H", "Sec-WebSocket-Key: MDEyMzQ1Njc4OTAxMjM0NQ=="]  # fmt: skip
    done = site.run(mode, ALLOWED, ["curl", "-sS", "-i", "-N", "--max-time", "3", *key,
                                    f"http://{API}:{SOCKETS[0]}/"])  # fmt: skip
    # It waits for more until its time is up.
    assert done.returncode == 28 and "HTTP/1.1 101 Switching Protocols" in done.stdout, done


CHROMIUM = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
    "--ignore-certificate-errors", "--no-first-run", "--disable-background-networking",
    "--dump-dom", "--virtual-time-budget=10000",
]  # fmt: skip


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("by", ["http", "socks5"])
def test_chromium(site, scheme, by):
    """Behind the gateway only: inside `weir run` the seccomp program refuses the kind of
    socket pair that its processes talk by, as README says. What it asks for in the
    background is refused, and that does not disturb it."""
    chromium = needs("chromium", "chromium")
    for network, port in ports_of(site, "gateway"):
        folder = site.world.work / f"chromium-{scheme}-{by}-{port}"
        command = [chromium, *CHROMIUM, f"--user-data-dir={folder}",
                   f"--proxy-server={by}://127.0.0.1:{port}", f"{scheme}://{API}/"]  # fmt: skip
        done = site.run("gateway", network, command, timeout=180)
        assert (PAGE in done.stdout) == (network is ALLOWED), (done.stdout, done.stderr[-3000:])
    lines = site.gateways["allowed"].audit(1)
    hosts = {line["host"] for line in lines if line["verdict"] == "allow"}
    assert hosts <= set(sites.NAMES), hosts
