"""`weir gateway` as a test sees it: started, asked, read, ended."""

import json
import re
import signal
import socket
import subprocess

from . import manager
from .admin import Admin
from .program import assert_sane, merged, weir_path
from .tunnel import Tunnel, read_to_end
from .wait import wait_until

ADMIN = re.compile(r"admin on (?:127\.0\.0\.1|\[::1\]):(\d+)")
LISTENING = re.compile(r"listening on (?:127\.0\.0\.1|0\.0\.0\.0):(\d+)")
# Nobody answers there, so a lookup fails at once and no question leaves the machine.
NO_RESOLVER = {"servers": ["127.0.0.1:9"]}
START_TIMEOUT = 30
STOP_TIMEOUT = 30
AUDIT_KEYS = {"t", "v", "id", "verdict", "reason"}


def gateway_settings(folder, network, limits, resolver, audit, listen, extra):
    """The tree of a gateway file. `resolver`: a DnsServer, an address, a dict, None for
    one that never answers, False to leave the key out."""
    tree = {"listen": listen or ["127.0.0.1:0"], "network": network}
    tree["limits"] = {"drainSeconds": 2, **(limits or {})}
    # Of several workers each writes its lines when it comes to it: their order would
    # depend on who is quicker. Tests of several ask for them.
    tree["workers"] = 1
    if resolver is None:
        tree["resolver"] = NO_RESOLVER
    elif isinstance(resolver, (dict, str)):
        tree["resolver"] = (
            resolver if isinstance(resolver, dict) else {"servers": [resolver]}
        )
    elif resolver is not False:
        tree["resolver"] = {"servers": [resolver.address]}
    if audit == "file":
        tree["audit"] = {"file": str(folder / "audit.jsonl")}
    elif audit == "stdout":
        tree["audit"] = {"file": "-"}
    elif audit:
        tree["audit"] = audit
    tree.update(extra or {})
    return tree


class Gateway:
    """A gateway that runs: `port`, `pid`, and ways to ask it.

    `netns` is the namespace (netns.py) in which it runs and from which it is asked;
    `passed` are sockets, with names, that it gets from its manager (manager.py).
    """

    def __init__(self, folder, settings, env=None, preexec=None, netns=None,
                 expect_fail=False, passed=()):  # fmt: skip
        self.folder = folder
        self.netns = netns
        self.tunnels = []
        self.status = None
        self.file = folder / "gateway.json"
        text = settings if isinstance(settings, str) else json.dumps(settings, indent=1)
        self.file.write_text(text)
        with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
            self.process = subprocess.Popen(
                [*(netns.prefix if netns else []), *manager.prefix(passed), weir_path(),
                 "gateway", "-f", str(self.file)],
                stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=merged(env),
                preexec_fn=preexec, pass_fds=[sock.fileno() for _, sock in passed],
            )  # fmt: skip
        self.pid = self.process.pid
        if expect_fail:
            self.port = None
            self.status = self.process.wait(timeout=START_TIMEOUT)
            assert_sane(self.log())
        else:
            self.port = self.wait_for_port()

    def wait_for_port(self):
        def listening():
            match = LISTENING.search(self.log())
            assert match or self.process.poll() is None, (
                f"gateway ended with {self.process.returncode}: {self.log()}"
            )
            return match

        match = wait_until(listening, START_TIMEOUT, self.log)
        return int(match.group(1))

    def log(self):
        """What it wrote to stderr so far."""
        return (self.folder / "stderr").read_text(errors="replace")

    def audit(self, n=1, timeout=20):
        """The audit lines, at least `n` of them; each is checked for its form."""
        settings = json.loads(self.file.read_text())
        file = settings.get("audit", {}).get("file", "-")
        path = self.folder / "stdout" if file == "-" else self.folder / file

        def whole_lines():
            if not path.exists():
                return []
            text = path.read_text(errors="surrogateescape")
            return text[: text.rfind("\n") + 1].splitlines()

        def enough():
            lines = whole_lines()
            return lines if len(lines) >= n else None

        if n:
            lines = wait_until(
                enough, timeout,
                lambda: f"{n} audit lines; there are: {whole_lines()}; log: {self.log()}",
            )  # fmt: skip
        else:
            lines = whole_lines()
        events = [json.loads(line) for line in lines]
        for event in events:
            assert AUDIT_KEYS <= event.keys(), f"audit line lacks keys: {event}"
        return events

    def admin(self):
        """The admin server, with "admin" in the gateway file; see support/admin.py."""
        match = wait_until(lambda: ADMIN.search(self.log()), START_TIMEOUT, self.log)
        return Admin(int(match.group(1)))

    def write(self, settings):
        """The gateway file anew, at once as an editor does it."""
        new = self.folder / "gateway.json.new"
        new.write_text(settings if isinstance(settings, str) else json.dumps(settings, indent=1))
        new.rename(self.file)

    def settings(self):
        return json.loads(self.file.read_text())

    def generation(self):
        """The last one that all workers have."""
        said = re.findall(r"generation (\d+) holds", self.log())
        return int(said[-1]) if said else 1

    def reload(self, settings=None, timeout=30):
        """SIGHUP, after the file was written anew, and waits until it holds."""
        before = self.generation()
        if settings is not None:
            self.write(settings)
        self.process.send_signal(signal.SIGHUP)
        wait_until(lambda: self.generation() > before, timeout, self.log)

    def dial(self, timeout=20, port=None):
        """A plain connection to the gateway."""
        where = ("127.0.0.1", port or self.port)
        if self.netns:
            return self.netns.connect(*where, timeout=timeout)
        return socket.create_connection(where, timeout=timeout)

    def raw(self, data, timeout=20):
        """Sends `data`, does not half-close, and returns all that comes."""
        with self.dial(timeout) as sock:
            sock.sendall(data)
            return read_to_end(sock)

    def connect(self, authority, headers=(), early=b"", version="1.1", host=True,
                timeout=20):  # fmt: skip
        """CONNECT. `headers` are (name, value) pairs; `host` is the Host field: True for
        the authority, a text, or None for none."""
        sock = self.dial(timeout)
        try:
            tunnel = Tunnel(sock, authority, tuple(headers), early, version, host)
        except BaseException:
            sock.close()
            raise
        self.tunnels.append(tunnel)
        return tunnel

    def stop(self, number=signal.SIGTERM):
        """Ends it and returns its exit status. May be called again."""
        for tunnel in self.tunnels:
            tunnel.close()
        if self.status is None:
            self.process.send_signal(number)
            try:
                self.status = self.process.wait(timeout=STOP_TIMEOUT)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise AssertionError(f"did not end on {number!r}: {self.log()}") from None
            assert_sane(self.log())
        return self.status
