"""Two network namespaces joined by a cable, for addresses that are not weir's own.

Nothing is visible outside: no name under /run, no interface on the host. They need root
or the right to make user namespaces.
"""

import os
import pathlib
import socket
import subprocess

HOLDER = pathlib.Path(__file__).with_name("netns_holder.py")


class Netns:
    """One namespace. `prefix` in front of a command line runs it inside."""

    def __init__(self, enter, make):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control = ours
        with theirs:
            self.process = subprocess.Popen(
                [*enter, *make, "/usr/bin/python3", str(HOLDER), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
        ours.settimeout(20)
        if ours.recv(16) != b"ready":
            self.process.wait()
            raise OSError(self.process.stderr.read().strip() or "no namespace")
        self.pid = self.process.pid
        user = ["-U", "--preserve-credentials"] if os.geteuid() != 0 else []
        self.prefix = ["nsenter", "-t", str(self.pid), *user, "-n", "--"]

    def run(self, *command):
        """Runs a short command inside and insists on its success."""
        done = subprocess.run(
            [*self.prefix, *command], stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=20,
        )  # fmt: skip
        if done.returncode != 0:
            raise OSError(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout

    def socket(self, family=socket.AF_INET, kind=socket.SOCK_STREAM):
        """A socket of this namespace."""
        self.control.send(f"{int(family)} {int(kind)}".encode())
        _, fds, _, _ = socket.recv_fds(self.control, 16, 1)
        return socket.socket(fileno=fds[0])

    def connect(self, host, port, timeout=20):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        sock = self.socket(family)
        sock.settimeout(timeout)
        sock.connect((host, port))
        return sock

    def add_address(self, address):
        """`address` with its prefix length, as in 203.0.113.9/24, on the cable."""
        nodad = ["nodad"] if ":" in address else []
        self.run("ip", "address", "add", address, "dev", "cable", *nodad)

    def close(self):
        self.control.close()
        self.process.wait(timeout=20)
        self.process.stderr.close()


class NetnsPair:
    """`a` has 203.0.113.1 and 2001:db8:1::1, `b` has 203.0.113.2 and 2001:db8:1::2."""

    def __init__(self):
        root = os.geteuid() == 0
        user = [] if root else ["--user", "--map-root-user"]
        self.a = Netns([], ["unshare", *user, "--net"])
        try:
            # The second one belongs to the first one's user namespace, so that one
            # identity may lay the cable.
            enter = [] if root else self.a.prefix
            self.b = Netns(enter, ["unshare", "--net"])
        except OSError:
            self.a.close()
            raise
        try:
            self.lay_cable()
        except OSError:
            self.close()
            raise

    def lay_cable(self):
        self.a.run("ip", "link", "add", "cable", "type", "veth", "peer", "name", "cable",
                   "netns", str(self.b.pid))  # fmt: skip
        for number, end in enumerate((self.a, self.b), 1):
            end.run("ip", "link", "set", "lo", "up")
            end.run("ip", "link", "set", "cable", "up")
            end.add_address(f"203.0.113.{number}/24")
            end.add_address(f"2001:db8:1::{number}/64")

    def close(self):
        self.b.close()
        self.a.close()
