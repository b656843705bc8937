"""Servers for real programs in a world of their own (world.py): a web site, an npm
registry, an index of Python packages, a git repository, an ssh server; and the gateways
that lead there, or do not."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import pytest

from . import registry, servers, world
from .gateway import Gateway, gateway_settings
from .wait import wait_until

PROGRAMS = pathlib.Path(__file__).resolve().parents[1] / "data/programs"
API = "api.example.test"
# ssh waits for its own banner and shows nothing of an HTTP refusal: a program says it.
SSH_NAME = "ssh.example.test"
NAMES = [API, registry.NPM, registry.PYPI, registry.GIT, SSH_NAME]
SOCKETS = (8080, 8443)  # of the same server, for WebSockets
ALLOWED = {"allowedDomains": ["*.example.test:443", f"{API}:80", f"{SSH_NAME}:22",
                              *(f"{API}:{port}" for port in SOCKETS)]}  # fmt: skip
OTHER = {"allowedDomains": ["other.example.test"],
         "deniedDomains": [SSH_NAME],
         "deniedDomainReasons": {SSH_NAME: "no shells from here"}}  # fmt: skip


def needs(program, package):
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"needs {program} (Debian package {package})")
    return path


def needs_module(names, packages):
    done = subprocess.run(["/usr/bin/python3", "-c", f"import {names}"], capture_output=True)
    if done.returncode != 0:
        pytest.skip(f"needs {names} for Python (Debian: {packages})")


def good(done, text):
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert text in done.stdout, (done.stdout, done.stderr)


def count_body(handler):
    """Says how long the body of the request was."""
    return 200, {}, b"%d bytes\n" % len(handler.request_body)


# What the clients' own settings say counts, and not what is in the environment.
WITHOUT_PROXY = ["env", *(word for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
                          for word in ("-u", name, "-u", name.upper()))]  # fmt: skip


class Site:
    """The world with its servers; one for the file, since it takes a while to build."""

    def __init__(self, authority):
        self.world = world.World(authority, NAMES)
        self.servers = []
        self.sshd = None
        b = self.world.pair.b
        tables = {
            API: {"/": b"hello from the api\n", "/count": count_body},
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
        self.judged = {}

    def start_gateway(self, name, network, clients=None):
        """One more gateway, which the programs use next; `clients` as in its file."""
        folder = self.world.folder / name
        folder.mkdir()
        resolver = {"servers": ["127.0.0.1:9"], "hostsFile": str(self.world.hosts)}
        extra = {"clients": clients} if clients else None
        tree = gateway_settings(folder, network, None, resolver, "file", None, extra)
        self.gateways[name] = Gateway(folder, tree, netns=self.world.pair.a)
        return self.gateways[name]

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
        """A program to its end, under ALLOWED or under OTHER."""
        which = "allowed" if network is ALLOWED else "other"
        if mode == "gateway" and which not in self.gateways:
            self.start_gateway(which, network)
        self.world.proxy = self.gateways.get(which)
        return self.world.run(mode, network, argv, **more)

    def run_by(self, gateway, argv, **more):
        """Behind one of start_gateway()."""
        self.world.proxy = gateway
        return self.world.run("gateway", None, argv, **more)

    def tells(self, gateway, **members):
        """A line with these members came to the gateway's record since this was asked last.
        Others may come late: of a tunnel, when it ends."""
        before = self.judged.get(gateway, 0)

        def found():
            lines = gateway.audit(0)
            self.judged[gateway] = len(lines)
            return any(members.items() <= line.items() for line in lines[before:])

        wait_until(found, 60, lambda: f"{members} in {gateway.audit(0)[before:]}")

    def ports(self, mode):
        """Where the two proxies listen, which speak SOCKS as well: [(network, port)]."""
        networks = {"allowed": ALLOWED, "other": OTHER}
        for network in networks.values():
            self.run(mode, network, ["true"])
        if mode != "gateway":
            return [(network, 3128) for network in networks.values()]
        return [(network, self.gateways[name].port) for name, network in networks.items()]

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


def npm_environment(site):
    # What is in its cache it takes, too, when the network fails.
    cache = tempfile.mkdtemp(dir=site.world.work)
    os.chmod(cache, 0o777)
    return {
        "npm_config_registry": f"https://{registry.NPM}/", "npm_config_audit": "false",
        "npm_config_fund": "false", "npm_config_update_notifier": "false",
        "npm_config_cafile": site.world.ca, "npm_config_fetch_retries": "0",
        "npm_config_cache": cache,
    }  # fmt: skip


def newer_npm():
    """Debian's own, of version 9, is put together from parts that do not fit: it sends a
    proxy no login, and by SOCKS it says "this.connect is not a function"."""
    npm = needs("npm", "npm")
    done = subprocess.run([npm, "--version"], capture_output=True, text=True)
    if int(done.stdout.split(".")[0] or 0) < 10:
        pytest.skip(f"npm {done.stdout.strip()} neither logs in to a proxy nor speaks SOCKS")
    return npm


def npm_install(site, name, proxy):
    folder = site.world.work / name
    folder.mkdir()
    folder.chmod(0o777)
    return [newer_npm(), "install", f"--proxy={proxy}", f"--https-proxy={proxy}",
            "--prefix", folder, "tiny"], folder  # fmt: skip


def pip_download(site, name, *more):
    needs_module("pip", "python3-pip")
    folder = site.world.work / name
    folder.mkdir()
    folder.chmod(0o777)
    return [
        "/usr/bin/python3", "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--retries",
        "0", "--disable-pip-version-check", "-d", folder, "--index-url",
        f"https://{registry.PYPI}/simple/", *more, "tiny",
    ], folder / "tiny-1.0-py3-none-any.whl"  # fmt: skip


def java_command(site, *options):
    """Compiled once; the trust store holds the test's authority."""
    javac, keytool = needs("javac", "default-jdk-headless"), needs("keytool", "a JDK")
    store = site.world.folder / "trust.p12"
    if not store.exists():
        subprocess.run(
            [keytool, "-importcert", "-noprompt", "-alias", "ca", "-file", site.world.ca,
             "-keystore", str(store), "-storepass", "changeit"],
            check=True, capture_output=True,
        )  # fmt: skip
        sources = [site.programs / name for name in ("Get.java", "Ask.java")]
        subprocess.run([javac, "-d", site.programs, *sources], check=True)
        store.chmod(0o644)
    return [javac[: -len("javac")] + "java", f"-Djavax.net.ssl.trustStore={store}",
            "-Djavax.net.ssl.trustStorePassword=changeit", *options, "-cp", site.programs]  # fmt: skip


def make(authority):
    """A Site, or a skip where there can be none."""
    if os.geteuid() != 0:
        pytest.skip("needs root: mounts a hosts file and makes namespaces")
    try:
        return Site(authority)
    except (OSError, AssertionError) as error:
        pytest.skip(f"no world of namespaces here: {error}")
