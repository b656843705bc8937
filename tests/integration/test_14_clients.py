"""Real programs whose way out is Weir: behind the gateway, and inside `weir run` as root
and as an ordinary user. Each reaches an allowed name by CONNECT or SOCKS, and none
reaches one that is not.

Needs root: the servers have addresses of their own in network namespaces, and a hosts
file is mounted for the names.
"""

import os
import pathlib
import shutil
import subprocess
import time

import pytest
from support import registry, servers, world
from support.gateway import Gateway, gateway_settings

PROGRAMS = pathlib.Path(__file__).resolve().parents[1] / "data/programs"
API = "api.example.test"
NAMES = [API, registry.NPM, registry.PYPI, registry.GIT, "ssh.example.test"]
# ssh waits for its own banner and shows nothing of an HTTP refusal: a program says it.
SSH_NAME = "ssh.example.test"
ALLOWED = {"allowedDomains": ["*.example.test:443", f"{API}:80", f"{SSH_NAME}:22"]}
OTHER = {"allowedDomains": ["other.example.test"],
         "deniedDomains": [SSH_NAME],
         "deniedDomainReasons": {SSH_NAME: "no shells from here"}}  # fmt: skip

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="needs root: mounts a hosts file and makes namespaces"
)


def needs(program, package):
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"needs {program} (Debian package {package})")
    return path


class Site:
    """The world with its servers; one for the file, since it takes a while to build."""

    def __init__(self, authority):
        self.world = world.World(authority, NAMES)
        self.servers = []
        self.sshd = None
        b = self.world.pair.b
        tables = {
            API: {"/": b"hello from the api\n"},
            registry.NPM: registry.npm_routes(),
            registry.PYPI: registry.pypi_routes(),
            registry.GIT: registry.git_routes(self.world.folder / "git"),
        }
        context = authority.server_context(NAMES)
        for port, tls in ((443, context), (80, None)):
            listener = servers.listen_on(world.SERVER, port, b)
            self.servers.append(
                servers.serve_http(listener, registry.by_host(tables), tls)
            )
        self.programs = self.world.folder / "programs"
        shutil.copytree(PROGRAMS, self.programs)
        self.gateways = {}

    def start_gateway(self, name, network):
        folder = self.world.folder / name
        folder.mkdir()
        resolver = {"servers": ["127.0.0.1:9"], "hostsFile": str(self.world.hosts)}
        tree = gateway_settings(folder, network, None, resolver, "file", None, None)
        self.gateways[name] = Gateway(folder, tree, netns=self.world.pair.a)

    def start_sshd(self):
        if self.sshd is not None:
            return
        folder = self.world.folder / "ssh"
        folder.mkdir()
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
                            str(folder / key)], check=True)  # fmt: skip
        config = folder / "sshd_config"
        config.write_text(
            f"HostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\n"
            "StrictModes no\nPermitRootLogin yes\nPasswordAuthentication no\n"
            "UsePAM no\nPidFile none\n"
            f"ListenAddress {world.SERVER}:22\n"
        )
        os.makedirs("/run/sshd", exist_ok=True)
        self.sshd = subprocess.Popen(
            [*self.world.pair.b.prefix, "/usr/sbin/sshd", "-D", "-e", "-f", str(config)],
            stdin=subprocess.DEVNULL, stderr=open(folder / "log", "wb"),
        )  # fmt: skip
        for _ in range(100):
            if "listening" in (folder / "log").read_text():
                return
            time.sleep(0.1)
        raise AssertionError((folder / "log").read_text())

    def user_key(self, mode):
        """ssh wants its key to belong to whoever uses it."""
        key = self.world.work / f"key-{mode}"
        shutil.copy(self.world.folder / "ssh/user", key)
        key.chmod(0o600)
        if mode == "run-as-user":
            os.chown(key, world.USER, world.USER)
        return key

    def run(self, mode, network, argv, **more):
        which = "allowed" if network is ALLOWED else "other"
        if mode == "gateway" and which not in self.gateways:
            self.start_gateway(which, network)
        self.world.proxy = self.gateways.get(which)
        return self.world.run(mode, network, argv, **more)

    def connections(self):
        return sum(server.connections for server in self.servers)

    def close(self):
        statuses = [gateway.stop() for gateway in self.gateways.values()]
        if self.sshd is not None:
            self.sshd.terminate()
            self.sshd.wait(timeout=20)
        for server in self.servers:
            server.close()
        self.world.close()
        assert all(status == 0 for status in statuses)


@pytest.fixture(scope="module")
def site(authority):
    try:
        made = Site(authority)
    except (OSError, AssertionError) as error:
        pytest.skip(f"no world of namespaces here: {error}")
    yield made
    made.close()


@pytest.fixture(params=world.MODES)
def mode(request):
    return request.param


def good(done, text):
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert text in done.stdout, (done.stdout, done.stderr)


def test_curl_https(site, mode):
    good(site.run(mode, ALLOWED, ["curl", "-sS", f"https://{API}/"]), "hello from the api")


def test_curl_tunnels_http(site, mode):
    done = site.run(mode, ALLOWED, ["curl", "-sSp", f"http://{API}/"])
    good(done, "hello from the api")


def test_curl_names_who_refused(site, mode):
    before = site.connections()
    done = site.run(mode, OTHER, ["curl", "-sS", f"https://{API}/"])
    assert done.returncode != 0 and done.stdout == ""
    assert "403" in done.stderr
    if mode != "gateway":
        assert f"{API}:443" in done.stderr and "allowedDomains" in done.stderr
    assert site.connections() == before


def test_git_clones(site, mode):
    target = site.world.work / f"clone-{mode}"
    good(site.run(mode, ALLOWED, ["git", "clone", "-q", f"https://{registry.GIT}/repo.git",
                                  target]), "")  # fmt: skip
    assert (target / "hello").read_text() == "hello from git\n"


def test_git_is_refused(site, mode):
    done = site.run(mode, OTHER, ["git", "ls-remote", f"https://{registry.GIT}/repo.git"])
    assert done.returncode != 0 and "403" in done.stderr


def test_npm_installs(site, mode):
    needs("npm", "npm")
    folder = site.world.work / f"npm-{mode}"
    folder.mkdir()
    folder.chmod(0o777)
    env = {
        "npm_config_registry": f"https://{registry.NPM}/", "npm_config_audit": "false",
        "npm_config_fund": "false", "npm_config_update_notifier": "false",
        "npm_config_cafile": site.world.ca,
    }  # fmt: skip
    done = site.run(mode, ALLOWED, ["npm", "install", "--prefix", folder, "tiny"], env=env)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "tiny works" in (folder / "node_modules/tiny/index.js").read_text()


def test_pip_downloads(site, mode):
    if subprocess.run(["/usr/bin/python3", "-m", "pip", "--version"],
                      capture_output=True).returncode != 0:  # fmt: skip
        pytest.skip("needs pip (Debian package python3-pip)")
    folder = site.world.work / f"pip-{mode}"
    folder.mkdir()
    folder.chmod(0o777)
    done = site.run(mode, ALLOWED, [
        "/usr/bin/python3", "-m", "pip", "download", "-q", "--no-deps", "--no-cache-dir",
        "--disable-pip-version-check", "-d", folder, "--index-url",
        f"https://{registry.PYPI}/simple/", "tiny",
    ])  # fmt: skip
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert (folder / "tiny-1.0-py3-none-any.whl").exists()


def test_python_urllib(site, mode):
    script = site.programs / "urllib_get.py"
    done = site.run(mode, ALLOWED, ["/usr/bin/python3", script, f"https://{API}/"])
    good(done, "hello from the api")
    done = site.run(mode, OTHER, ["/usr/bin/python3", script, f"https://{API}/"])
    assert done.returncode != 0 and "403" in done.stderr


def test_node_with_an_agent(site, mode):
    node = needs("node", "nodejs")
    script = site.programs / "agent.js"
    good(site.run(mode, ALLOWED, [node, script, f"https://{API}/"]), "hello from the api")
    done = site.run(mode, OTHER, [node, script, f"https://{API}/"])
    assert done.returncode == 1 and "403 " in done.stderr


def test_java(site, mode):
    java, keytool = needs("javac", "default-jdk-headless"), needs("keytool", "a JDK")
    java = java[: -len("javac")] + "java"
    store = site.world.folder / "trust.p12"
    if not store.exists():
        subprocess.run(
            [keytool, "-importcert", "-noprompt", "-alias", "ca", "-file", site.world.ca,
             "-keystore", str(store), "-storepass", "changeit"],
            check=True, capture_output=True,
        )  # fmt: skip
        subprocess.run(["javac", "-d", site.programs, site.programs / "Get.java"],
                       check=True)  # fmt: skip
        store.chmod(0o644)
    options = [f"-Djavax.net.ssl.trustStore={store}",
               "-Djavax.net.ssl.trustStorePassword=changeit"]  # fmt: skip
    if mode == "gateway":
        site.run(mode, ALLOWED, ["true"])
        options += ["-Dhttps.proxyHost=127.0.0.1",
                    f"-Dhttps.proxyPort={site.world.proxy.port}"]  # fmt: skip
    argv = [java, *options, "-cp", site.programs, "Get", f"https://{API}/"]
    good(site.run(mode, ALLOWED, argv), "hello from the api")


def ssh_command(site, mode):
    connect = f"/usr/bin/python3 {site.programs}/connect.py %h %p"
    return ["ssh", "-o", f"ProxyCommand={connect}", "-o", "BatchMode=yes",
            "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
            "-o", "LogLevel=ERROR", "-i", site.user_key(mode),
            f"root@{SSH_NAME}", "echo hello from $(whoami)"]  # fmt: skip


def test_ssh_by_a_proxy_command(site, mode):
    needs("ssh", "openssh-client")
    if not os.path.exists("/usr/sbin/sshd"):
        pytest.skip("needs sshd (Debian package openssh-server)")
    site.start_sshd()
    good(site.run(mode, ALLOWED, ssh_command(site, mode)), "hello from root")
    done = site.run(mode, OTHER, ssh_command(site, mode))
    assert done.returncode == 255
    assert "no shells from here" in done.stderr


def ports_of(site, mode):
    """Where the two proxies listen, which speak SOCKS as well: [(network, port)]."""
    networks = {"allowed": ALLOWED, "other": OTHER}
    for network in networks.values():
        site.run(mode, network, ["true"])
    if mode != "gateway":
        return [(network, 3128) for network in networks.values()]
    return [(network, site.gateways[name].port) for name, network in networks.items()]


@pytest.mark.parametrize("scheme", ["socks5h", "socks4a"])
def test_curl_by_socks(site, mode, scheme):
    for network, port in ports_of(site, mode):
        curl = ["curl", "-sS", "--proxy", f"{scheme}://127.0.0.1:{port}"]
        for url in (f"https://{API}/", f"http://{API}/"):
            done = site.run(mode, network, [*curl, url])
            if network is ALLOWED:
                good(done, "hello from the api")
            else:
                assert done.returncode == 97 and done.stdout == "", done.stderr


def test_git_by_socks(site, mode):
    url = f"https://{registry.GIT}/repo.git"
    for network, port in ports_of(site, mode):
        target = site.world.work / f"socks-clone-{mode}-{network is ALLOWED}"
        git = ["git", "-c", f"http.proxy=socks5h://127.0.0.1:{port}"]
        done = site.run(mode, network, [*git, "clone", "-q", url, target])
        if network is ALLOWED:
            good(done, "")
            assert (target / "hello").read_text() == "hello from git\n"
        else:
            assert done.returncode != 0 and "SOCKS5" in done.stderr


def test_PRO_06_ssh_by_nc(site, mode):
    """BSD nc offers no login and shows no answer; ssh prints why a host is denied."""
    nc = needs("nc.openbsd", "netcat-openbsd")
    if not os.path.exists("/usr/sbin/sshd"):
        pytest.skip("needs sshd (Debian package openssh-server)")
    site.start_sshd()
    for network, port in ports_of(site, mode):
        command = ssh_command(site, mode)
        command[2] = f"ProxyCommand={nc} -X 5 -x 127.0.0.1:{port} %h %p"
        done = site.run(mode, network, command)
        if network is ALLOWED:
            good(done, "hello from root")
        else:
            assert done.returncode == 255 and "no shells from here" in done.stderr


def test_python_requests_by_socks(site, mode):
    code = (
        "import sys, requests\n"
        "proxies = {'http': sys.argv[1], 'https': sys.argv[1]}\n"
        "print(requests.get(sys.argv[2], proxies=proxies, timeout=60).text)"
    )
    check = ["/usr/bin/python3", "-c", "import requests, socks"]
    if subprocess.run(check, capture_output=True).returncode != 0:
        pytest.skip("needs requests with SOCKS (Debian: python3-requests, python3-socks)")
    for network, port in ports_of(site, mode):
        done = site.run(mode, network, ["/usr/bin/python3", "-c", code,
                                        f"socks5h://127.0.0.1:{port}", f"https://{API}/"])  # fmt: skip
        if network is ALLOWED:
            good(done, "hello from the api")
        else:
            assert done.returncode != 0 and "not allowed by ruleset" in done.stderr


def test_apt_by_socks(site, mode):
    helper = "/usr/lib/apt/apt-helper"
    if not os.path.exists(helper):
        pytest.skip("needs apt (Debian package apt)")
    for network, port in ports_of(site, mode):
        file = site.world.work / f"apt-{mode}-{port}-{network is ALLOWED}"
        done = site.run(mode, network, [
            helper, "-o", f"Acquire::http::Proxy=socks5h://127.0.0.1:{port}",
            "-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=0",
            "download-file", f"http://{API}/", file,
        ])  # fmt: skip
        assert (done.returncode == 0) == (network is ALLOWED), done.stderr
        assert file.exists() == (network is ALLOWED)
        if network is ALLOWED:
            assert file.read_bytes() == b"hello from the api\n"
