"""What an idle tunnel holds: memory of the process, and of the kernel for it."""

import json
import os
import subprocess
import time
from pathlib import Path

from .program import read
from .proxies import CONNECTIONS
from .table import Table

MANY, MANY_QUICK = 10000, 2000
SOME, SOME_QUICK = 2000, 500
SPARE = 100  # where the system lets a proxy hold fewer than that
REST = 3  # seconds during which the CPU of idle tunnels is counted
SETTLE = 0.5
REMOVE_TIMEOUT = 10
ROOT = Path("/sys/fs/cgroup")


class Group:
    """A memory cgroup of its own for one proxy, of either version; `why` it has none."""

    def __init__(self, name):
        self.first = (ROOT / "memory").is_dir()
        self.path = (ROOT / "memory" if self.first else ROOT) / f"weir-bench-{os.getpid()}-{name}"
        self.why = ""
        try:
            self.path.mkdir()
            if self.bytes() is None:
                self.why = "no memory controller"
        except OSError as e:
            self.why = str(e)

    def enter(self):
        if not self.why:
            (self.path / "cgroup.procs").write_text("0")

    def bytes(self):
        """Kernel memory of its members: sockets, descriptors, timers, page tables."""
        if self.first:
            text = read(self.path / "memory.kmem.usage_in_bytes")
            return int(text) if text else None
        for line in read(self.path / "memory.stat").splitlines():
            if line.startswith("kernel "):
                return int(line.split()[1])
        return None

    def remove(self):
        """Its members have ended, or are about to."""
        end = time.monotonic() + REMOVE_TIMEOUT
        while self.path.is_dir():
            try:
                self.path.rmdir()
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)


def way_of(proxy):
    return next(way for way in ("connect", "socks5", "direct") if way in proxy.ways)


class Held:
    """Tunnels that are open and idle for as long as the block lasts."""

    def __init__(self, world, proxy, count):
        way = way_of(proxy)
        command = world.load_command("idle", way, proxy.ways[way], connections=count)
        self.process = subprocess.Popen(world.command(command, far=False), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)  # fmt: skip

    def __enter__(self):
        return json.loads(self.process.stdout.readline())

    def __exit__(self, *_):
        self.process.communicate(timeout=60)


def hold(bench, kind, count):
    """Figures of a proxy that is new and holds `count` tunnels."""
    group = Group(kind)
    try:
        proxy = bench.contest.start(kind, f"{kind}-{count}", before=group.enter)
        program = proxy.program
        try:
            # What it makes at its first connections belongs to none of them.
            bench.world.load("open", way_of(proxy), proxy.ways[way_of(proxy)], connections=4,
                             seconds=10, operations=100)  # fmt: skip
            time.sleep(SETTLE)
            user, kernel = program.user_bytes(), group.bytes()
            with Held(bench.world, proxy, count) as got:
                time.sleep(SETTLE)
                held = max(got["held"], 1)
                total = program.user_bytes()
                cpu = program.cpu()
                time.sleep(REST)
                figures = {
                    "user": (total - user) / held,
                    "kernel": (group.bytes() - kernel) / held if not group.why else None,
                    "cpu": (program.cpu() - cpu) / REST * 100,
                    "total": (total + (group.bytes() - kernel if not group.why else 0)) / 1e6,
                    "held": got["held"],
                    "errors": got["errors"]["total"],
                }
        finally:
            program.stop()
    finally:
        group.remove()
    return figures


def idle(bench):
    many = min(MANY_QUICK if bench.quick else MANY, CONNECTIONS - SPARE)
    some = SOME_QUICK if bench.quick else SOME
    table = Table("idle", f"tunnels that are open and idle: {some}, and {many} where it says so",
                  [("user", "user B", ".0f"), ("kernel", "kernel B", ".0f"),
                   ("cpu", "CPU %", ".3f"), ("total", "all in MB", ".1f"),
                   ("held", "held", ".0f")])  # fmt: skip
    for kind in ("ref", "weir", *bench.contest.peers):
        try:
            table.add(kind, hold(bench, kind, some))
        except OSError as e:
            table.notes.append(f"  {kind}: not measured: {str(e).splitlines()[0]}")
    large = f"weir, {many}"
    table.add(large, hold(bench, "weir", many))
    why = Group("probe")
    why.remove()
    table.judge("user bytes of a tunnel", table.median(large, "user"), 1024)
    table.judge("kernel bytes of a tunnel", table.median(large, "kernel"), 5700, why.why)
    if not bench.quick:
        table.judge(f"MB of {many} tunnels", table.median(large, "total"), 70 * many / MANY)
    table.judge("per cent of CPU while idle", table.median(large, "cpu"), 0.01)
    return table
