"""Real programs whose way out is Weir: behind the gateway, and inside `weir run` as root
and as an ordinary user. Each reaches an allowed name by CONNECT or SOCKS, and none
reaches one that is not.

Needs root: the servers have addresses of their own in network namespaces, and a hosts
file is mounted for the names.
"""

import os
import subprocess

import pytest
from support import registry, world
from support import site as sites
from support.site import (
    ALLOWED, API, OTHER, SSH_NAME, good, java_command, needs, needs_module,
)  # fmt: skip


@pytest.fixture(scope="module")
def site(authority):
    made = sites.make(authority)
    yield made
    made.close()


@pytest.fixture(params=world.MODES)
def mode(request):
    return request.param


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
    needs_module("pip", "python3-pip")
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
    options = []
    if mode == "gateway":
        site.run(mode, ALLOWED, ["true"])
        options = ["-Dhttps.proxyHost=127.0.0.1",
                   f"-Dhttps.proxyPort={site.world.proxy.port}"]  # fmt: skip
    argv = [*java_command(site, *options), "Get", f"https://{API}/"]
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


@pytest.mark.parametrize("scheme", ["socks5h", "socks4a"])
def test_curl_by_socks(site, mode, scheme):
    for network, port in site.ports(mode):
        curl = ["curl", "-sS", "--proxy", f"{scheme}://127.0.0.1:{port}"]
        for url in (f"https://{API}/", f"http://{API}/"):
            done = site.run(mode, network, [*curl, url])
            if network is ALLOWED:
                good(done, "hello from the api")
            else:
                assert done.returncode == 97 and done.stdout == "", done.stderr


def test_git_by_socks(site, mode):
    url = f"https://{registry.GIT}/repo.git"
    for network, port in site.ports(mode):
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
    for network, port in site.ports(mode):
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
    needs_module("requests, socks", "python3-requests, python3-socks")
    for network, port in site.ports(mode):
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
    for network, port in site.ports(mode):
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
