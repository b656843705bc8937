"""A small internet for real programs: a machine that runs weir, and a server machine
that it reaches by names under example.test and addresses that are not its own.

A program is run in one of the ways of MODES: behind the gateway, or inside `weir run`,
as root or as an ordinary user.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from . import netns, program

SERVER = "203.0.113.2"
# An account that every Debian has and whose id is not the one that foreign files show
# inside a user namespace.
USER = 1
MODES = ("gateway", "run", "run-as-user")
# Mounts the hosts file in a mount namespace of its own, then becomes the command.
WITH_HOSTS = 'mount --bind "$0" /etc/hosts && exec "$@"'


class World:
    def __init__(self, authority, names):
        # Outside pytest's folder: that is closed to the ordinary user.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-world-"))
        self.folder.chmod(0o755)
        self.pair = netns.NetnsPair()
        self.ca = str(self.folder / "ca.pem")
        shutil.copy(authority.ca, self.ca)
        self.weir = str(self.folder / "weir")
        shutil.copy(program.weir_path(), self.weir)
        self.hosts = self.folder / "hosts"
        self.hosts.write_text(f"127.0.0.1 localhost\n{SERVER} {' '.join(names)}\n")
        self.work = self.folder / "work"
        self.work.mkdir(mode=0o777)
        self.work.chmod(0o777)
        self.proxy = None

    def close(self):
        self.pair.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def settings(self, network):
        file = self.folder / "settings.json"
        tree = {
            "network": network,
            "filesystem": {"denyRead": [], "allowWrite": [str(self.work)],
                           "denyWrite": []},
        }  # fmt: skip
        file.write_text(json.dumps(tree))
        file.chmod(0o644)
        return str(file)

    def command(self, mode, network, argv):
        inner = argv
        if mode != "gateway":
            inner = [self.weir, "run", "-s", self.settings(network), "--", *argv]
        if mode == "run-as-user":
            inner = ["setpriv", f"--reuid={USER}", f"--regid={USER}",
                     "--clear-groups", "--", *inner]  # fmt: skip
        return [*self.pair.a.prefix, "unshare", "--mount", "sh", "-c", WITH_HOSTS,
                str(self.hosts), *inner]  # fmt: skip

    def environment(self, mode, more):
        home = self.work / f"home-{mode}"
        if not home.exists():
            home.mkdir()
            home.chmod(0o777)
            # In a writable home the files that could hold the next run's rules must
            # exist, or Weir refuses to start: it could not protect them.
            (home / ".config/weir").mkdir(parents=True)
            (home / ".config/weir/settings.json").write_text("{}")
            (home / ".srt-settings.json").write_text("{}")
        env = {
            "PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_SSL_CAINFO": self.ca,
            "CURL_CA_BUNDLE": self.ca, "SSL_CERT_FILE": self.ca, "PIP_CERT": self.ca,
            "REQUESTS_CA_BUNDLE": self.ca, "NODE_EXTRA_CA_CERTS": self.ca,
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", ""),
        }  # fmt: skip
        if mode == "gateway":
            url = f"http://127.0.0.1:{self.proxy.port}"
            for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
                env[name] = url
        env.update(more or {})
        return env

    def run(self, mode, network, argv, env=None, timeout=120, input=None):
        """Runs a client to its end. In gateway mode `self.proxy` must be the gateway."""
        return subprocess.run(
            self.command(mode, network, [str(word) for word in argv]),
            env=self.environment(mode, env), cwd=self.work, timeout=timeout,
            capture_output=True, text=True, errors="replace",
            input=input, stdin=subprocess.DEVNULL if input is None else None,
        )  # fmt: skip
