"""Real programs that log in to the gateway, over HTTP proxying and over SOCKS: each of them
gets what its client may, and without a login nothing, and says so. What a client is that
cannot log in, its address tells."""

import os

import pytest
from support import registry
from support import site as sites
from support.fleet import TOKENS
from support.site import (
    ALLOWED, API, SSH_NAME, WITHOUT_PROXY, good, java_command, needs, needs_module,
    npm_environment, npm_install, pip_download,
)  # fmt: skip

PAGE = "hello from the api"
LOGIN = f"ci:{TOKENS['ci']}"
# What a program says that was asked for a login, by HTTP and by SOCKS.
WANTED = {
    "http": ("407", "Proxy Authentication Required", "Proxy tunneling failed"),
    "socks": ("not allowed by ruleset", "NotAllowed", "No matching distribution", "SOCKS5",
              "SOCKS : authentication failed", "Authentication failed"),
}  # fmt: skip


class Door:
    """A gateway of two clients: one logs in, and one has an address of its own."""

    def __init__(self, site):
        self.site = site
        tokens = site.world.folder / "tokens"
        tokens.write_text(TOKENS["ci"] + "\n")
        tokens.chmod(0o600)
        clients = [
            {"name": "ci", "tokenFile": str(tokens), "network": ALLOWED},
            {"name": "desk", "from": ["127.0.0.9"], "network": ALLOWED},
        ]
        self.gateway = site.start_gateway("logins", {}, clients)

    def url(self, scheme, login=LOGIN):
        at = f"127.0.0.1:{self.gateway.port}"
        return f"{scheme}://{login}@{at}" if login else f"{scheme}://{at}"

    def run(self, argv, **more):
        return self.site.run_by(self.gateway, [*WITHOUT_PROXY, *argv], **more)

    def let_in(self, session):
        self.site.tells(self.gateway, session=session, verdict="allow")

    def kept_out(self):
        self.site.tells(self.gateway, verdict="deny", reason="auth")

    def tells(self, login):
        self.let_in("ci") if login else self.kept_out()


@pytest.fixture(scope="module")
def door(authority):
    site = sites.make(authority)
    yield Door(site)
    site.close()


@pytest.fixture(params=["http", "socks"])
def way(request):
    return request.param


def both(door, way, command, socks="socks5h"):
    """Runs `command` of a proxy's URL with a login and without."""
    scheme = socks if way == "socks" else "http"
    yield door.run(command(door.url(scheme))), True
    door.let_in("ci")
    before = door.site.connections()
    yield door.run(command(door.url(scheme, None))), False
    door.kept_out()
    assert door.site.connections() == before


def check(door, way, command, text=PAGE, **more):
    for done, logged_in in both(door, way, command, **more):
        if logged_in:
            good(done, text)
            continue
        told = done.stdout + done.stderr
        assert done.returncode != 0 and text not in done.stdout, told
        assert any(word in told for word in WANTED[way]), told


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_curl(door, way, scheme):
    check(door, way, lambda proxy: ["curl", "-sSf", "--proxy", proxy, f"{scheme}://{API}/"])


def test_curl_that_is_asked_first(door):
    """It sends no login until it gets a 407, and goes on over the same connection."""
    command = ["curl", "-sS", "-v", "--proxy-anyauth", "--proxy", door.url("http")]
    for scheme in ("http", "https"):
        done = door.run([*command, f"{scheme}://{API}/"])
        good(done, PAGE)
        assert " 407 " in done.stderr and "left intact" in done.stderr
        assert done.stderr.count("Connected to 127.0.0.1") == 1, done.stderr


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_wget(door, scheme):
    wget = [needs("wget", "wget"), "-nv", "-O", "-", f"--ca-certificate={door.site.world.ca}",
            "--tries=1", "--timeout=60"]  # fmt: skip
    check(door, "http", lambda proxy: [*wget, "-e", f"{scheme}_proxy={proxy}/", f"{scheme}://{API}/"])


def test_git(door, way):
    url = f"https://{registry.GIT}/repo.git"
    check(door, way, lambda proxy: ["git", "-c", f"http.proxy={proxy}", "ls-remote", url],
          text="refs/heads/main")  # fmt: skip


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_python_requests(door, way, scheme):
    needs_module("requests, socks", "python3-requests, python3-socks")
    code = (
        "import sys, requests\n"
        "proxies = {'http': sys.argv[1], 'https': sys.argv[1]}\n"
        "answer = requests.get(sys.argv[2], proxies=proxies, timeout=60)\n"
        "answer.raise_for_status()\n"
        "print(answer.text)"
    )
    check(door, way, lambda proxy: ["/usr/bin/python3", "-c", code, proxy, f"{scheme}://{API}/"])


@pytest.mark.parametrize("scheme", ["ws", "wss"])
def test_python_websockets_ask_for_what_they_may(door, way, scheme):
    """Nobody listens there: that they came so far is what the login was for."""
    needs_module("websockets, socks", "python3-websockets, python3-socks")
    program = door.site.programs / "websocket.py"
    name = "SOCKS_PROXY" if way == "socks" else "HTTP_PROXY"
    for login, says in ((LOGIN, ("502", "refused")), (None, WANTED[way])):
        proxy = door.url("socks5" if way == "socks" else "http", login)
        done = door.run(["env", f"{name}={proxy}", "/usr/bin/python3", program,
                         f"{scheme}://{API}:8080/"])  # fmt: skip
        assert done.returncode != 0 and any(word in done.stderr for word in says), done.stderr


def test_upgrade_to_websocket_without_a_tunnel(door):
    """As above."""
    program = door.site.programs / "upgrade.py"
    for login, says in ((LOGIN, ("502",)), (None, WANTED["http"])):
        done = door.run(["env", f"HTTP_PROXY={door.url('http', login)}", "/usr/bin/python3",
                         program, API, "8080"])  # fmt: skip
        assert done.returncode != 0 and any(word in done.stderr for word in says), done.stderr


@pytest.mark.parametrize("program,scheme", [("http_get.js", "http"), ("fetch.js", "http"),
                                            ("fetch.js", "https")])  # fmt: skip
def test_node(door, program, scheme):
    check(door, "http", lambda proxy: ["env", f"HTTP_PROXY={proxy}", needs("node", "nodejs"),
                                       door.site.programs / program, f"{scheme}://{API}/"])  # fmt: skip


def test_npm(door, way):
    for number, login in enumerate((LOGIN, None)):
        proxy = door.url("socks5h" if way == "socks" else "http", login)
        command, folder = npm_install(door.site, f"npm-{way}-{number}", proxy)
        done = door.run(command, env=npm_environment(door.site))
        told = done.stdout + done.stderr
        assert (done.returncode == 0) == (folder / "node_modules/tiny/index.js").exists(), told
        assert (done.returncode == 0) == (login is not None), told
        assert login or any(word in told for word in WANTED[way]), told
        door.tells(login)


def test_pip(door, way):
    needs_module("pip, socks", "python3-pip, python3-socks")
    for number, login in enumerate((LOGIN, None)):
        proxy = door.url("socks5h" if way == "socks" else "http", login)
        command, file = pip_download(door.site, f"pip-{way}-{number}", "--proxy", proxy)
        done = door.run(command)
        told = done.stdout + done.stderr
        assert (done.returncode == 0) == file.exists() == (login is not None), told
        assert login or any(word in told for word in (*WANTED[way], "No matching")), told
        door.tells(login)


def test_apt(door, way):
    helper = "/usr/lib/apt/apt-helper"
    if not os.path.exists(helper):
        pytest.skip("needs apt (Debian package apt)")
    for number, login in enumerate((LOGIN, None)):
        proxy = door.url("socks5h" if way == "socks" else "http", login)
        file = door.site.world.work / f"apt-{way}-{number}"
        done = door.run([
            helper, "-o", f"Acquire::http::Proxy={proxy}", "-o", "APT::Sandbox::User=root",
            "-o", "Acquire::Retries=0", "download-file", f"http://{API}/", file,
        ])  # fmt: skip
        assert (done.returncode == 0) == file.exists() == (login is not None), done.stderr
        door.tells(login)


def test_java(door, way):
    """URLConnection and HttpClient by HTTP, plain and by CONNECT; a socket by SOCKS, with a
    name."""
    port = door.gateway.port
    asks = [["Ask", *how, f"{scheme}://{API}/"] for how in ([], ["client"])
            for scheme in ("http", "https")]  # fmt: skip
    options = [f"-D{scheme}.proxy{what}={value}" for scheme in ("http", "https")
               for what, value in (("Host", "127.0.0.1"), ("Port", port))]  # fmt: skip
    # Basic is switched off for CONNECT unless one asks for it.
    options.append("-Djdk.http.auth.tunneling.disabledSchemes=")
    if way == "socks":
        asks = [["Ask", "name", API, "80"]]
        options = ["-DsocksProxyHost=127.0.0.1", f"-DsocksProxyPort={port}"]
    login = ["-Dweir.user=ci", f"-Dweir.password={TOKENS['ci']}"]
    for ask in asks:
        good(door.run([*java_command(door.site, *options, *login), *ask]), PAGE)
        done = door.run([*java_command(door.site, *options), *ask])
        told = done.stdout + done.stderr
        assert done.returncode != 0 and any(word in told for word in WANTED[way]), told
        door.kept_out()


def test_who_cannot_log_in_is_told_by_the_address(door):
    """As a browser without a window."""
    curl = ["curl", "-sS", "--interface", "127.0.0.9", "--proxy"]
    for scheme in ("http", "socks5h", "socks4a"):
        good(door.run([*curl, door.url(scheme, None), f"https://{API}/"]), PAGE)
        door.let_in("desk")


def test_ssh_without_a_login(door):
    """PRO-06: nc offers no login, and prints what SOCKS says of that."""
    nc = needs("nc.openbsd", "netcat-openbsd")
    proxy = f"{nc} -X 5 -x 127.0.0.1:{door.gateway.port} %h %p"
    done = door.run([needs("ssh", "openssh-client"), "-o", f"ProxyCommand={proxy}", "-o",
                     "BatchMode=yes", "-o", "UserKnownHostsFile=/dev/null", SSH_NAME])  # fmt: skip
    assert done.returncode == 255 and "not allowed by ruleset" in done.stderr, done.stderr
