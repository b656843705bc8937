"""Where it is measured: the origin, the load generator, and what lies between them and
the proxies: loopback, or a cable between two network namespaces."""

import contextlib
import json
import socket
import subprocess
import sys
from pathlib import Path

from .program import Program

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from support.netns import NetnsPair  # noqa: E402

FIRST_PORT = 20000  # of namespaces that are ours alone
LOAD_TIMEOUT = 150


class Loopback:
    ends = proxies = "127.0.0.1"
    ends_prefix = proxies_prefix = ()
    far_direct = False  # the direct path is that of the others
    spliced = False  # Weir copies between addresses of its own host
    # All of the proxies' clients and servers are on this address as well.
    about = "loopback"

    def port(self):
        with socket.socket() as probe:
            probe.bind((self.ends, 0))
            return probe.getsockname()[1]

    def close(self):
        pass


class Cable:
    """The origin and the load generator in one namespace, the proxies in another. Both
    go with the processes that hold them."""

    about = "two network namespaces and a veth pair"
    far_direct = True  # where the proxies are, so that it crosses the cable
    spliced = True

    def __init__(self):
        self.pair = NetnsPair()
        self.ends, self.proxies = "203.0.113.1", "203.0.113.2"
        self.ends_prefix = tuple(self.pair.a.prefix)
        self.proxies_prefix = tuple(self.pair.b.prefix)
        self.next_port = FIRST_PORT
        # As it is for loopback anyway: a port whose connection has ended is free after a
        # second. Else connecting would soon be a search for the last free one.
        for end in (self.pair.a, self.pair.b):
            end.run("sh", "-c", "echo 1 >/proc/sys/net/ipv4/tcp_tw_reuse")

    def port(self):
        self.next_port += 1
        return self.next_port

    def close(self):
        self.pair.close()


class World:
    """`build` is where CMake has put the programs, `folder` one for files that go."""

    def __init__(self, build, folder, cable=False):
        self.build, self.folder = build, folder
        self.net = Cable() if cable else Loopback()
        self.closing = contextlib.ExitStack()
        self.closing.callback(self.net.close)
        self.origin = self.start(
            "origin", [build / "bench/weir_bench_origin", f"{self.net.ends}:0"], far=False
        )
        match = self.origin.wait_for_line(r"listening ([\d.]+:\d+)")
        self.target = match.group(1)
        self.target_port = int(self.target.rpartition(":")[2])

    def command(self, command, far):
        prefix = self.net.proxies_prefix if far else self.net.ends_prefix
        return [*prefix, *map(str, command)]

    def start(self, name, command, far=True, **options):
        """A program that ends with this world; `far`: where the proxies are."""
        program = Program(name, self.command(command, far), self.folder, **options)
        self.closing.callback(program.stop)
        return program

    def load_command(self, mode, way, proxy, target=None, **options):
        words = [self.build / "bench/weir_bench_load", "--mode", mode, "--way", way]
        if way != "direct":
            words += ["--proxy", proxy]
        for key, value in options.items():
            words += [f"--{key}"] if value is True else [f"--{key}", str(value)]
        return [*words, target or (proxy if way == "direct" and proxy else self.target)]

    def load(self, mode, way, proxy=None, far=False, **options):
        """One run of the load generator; what it printed, as a dict. `way` direct with
        a proxy is a relay that knows where to go."""
        if self.origin.process.poll() is not None:
            raise RuntimeError(f"the origin has ended: {self.origin.process.returncode}")
        command = self.load_command(mode, way, proxy, **options)
        done = subprocess.run(
            self.command(command, far), stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=LOAD_TIMEOUT,
        )  # fmt: skip
        if done.returncode not in (0, 1) or not done.stdout:
            raise OSError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def close(self):
        self.closing.close()
