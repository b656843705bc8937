"""Whether it holds: a steady rate for long, many tunnels, clients that hardly read."""

import threading
import time

from .proxies import CONNECTIONS
from .table import Table

SHARE = 0.7  # of the rate that the yardstick reaches
STEADY, STEADY_QUICK = 60, 5  # seconds
STEADY_CONNECTIONS = 512
CROWDS, CROWDS_QUICK = (32, 1000, 10000), (32, 1000)
SPARE = 100  # where the system lets a proxy hold fewer than that
SLOW, SLOW_BYTES = 100, 64 << 20
FLAT_WAIT = 10


def row(got, due=None):
    return {
        "rate": got["operations"] / got["seconds"],
        "p50": got["latency_us"]["p50"],
        "p99": got["latency_us"]["p99"],
        "p999": got["latency_us"]["p999"],
        "share": got["operations"] / due * 100 if due else None,
        "errors": got["errors"]["total"],
    }


def steady(bench):
    table = Table("steady", f"CONNECT, GET and close at {SHARE:.0%} of the yardstick's rate",
                  [("p99", "p99 us", ".0f"), ("p50", "p50 us", ".0f"), ("p999", "p99.9 us", ".0f"),
                   ("rate", "per s", ".0f"), ("share", "started %", ".1f")])  # fmt: skip
    ref, weir = bench.contest.get("ref"), bench.contest.get("weir", "weir, 2 workers", workers=2)
    rates = sorted(bench.world.load("open", "connect", ref.ways["connect"])["operations"] / 2
                   for _ in range(3))  # fmt: skip
    rate = int(rates[1] * SHARE)
    seconds = STEADY_QUICK if bench.quick else STEADY
    for proxy, length in ((ref, min(seconds, 10)), (weir, seconds)):
        got = bench.world.load("open", "connect", proxy.ways["connect"], rate=rate, seconds=length,
                               connections=STEADY_CONNECTIONS)  # fmt: skip
        table.add(proxy.name, row(got, rate * length))
    table.notes.append(f"  {rate} a second, weir for {seconds} s")
    table.judge("errors of weir", table.median(weir.name, "errors"), 0)
    return table


def wait_flat(program, descriptors):
    """Until it has no more descriptors than before, or it is clear that it keeps some."""
    end = time.monotonic() + FLAT_WAIT
    while program.descriptors() > descriptors and time.monotonic() < end:
        time.sleep(0.1)
    return program.descriptors() - descriptors


def crowd(bench):
    table = Table("crowd", "messages in many open tunnels",
                  [("p99", "p99 us", ".0f"), ("p50", "p50 us", ".0f"), ("rate", "per s", ".0f"),
                   ("kept", "fds kept", ".0f"), ("grown", "MB grown", ".1f")],
                  base="32 tunnels")  # fmt: skip
    weir = bench.contest.get("weir", "weir, 2 workers", workers=2)
    bench.world.load("message", "connect", weir.ways["connect"], seconds=1)
    descriptors, memory = weir.program.descriptors(), weir.program.user_bytes()
    for wanted in CROWDS_QUICK if bench.quick else CROWDS:
        count = min(wanted, CONNECTIONS - SPARE)
        got = bench.world.load("message", "connect", weir.ways["connect"], connections=count,
                               seconds=4)  # fmt: skip
        kept = wait_flat(weir.program, descriptors)
        grown = (weir.program.user_bytes() - memory) / 1e6
        table.add(f"{count} tunnels", {**row(got), "kept": kept, "grown": grown})
    rows = [r for rounds in table.rows.values() for r in rounds]
    table.judge("errors", sum(r["errors"] for r in rows), 0)
    table.judge("descriptors kept afterwards", max(r["kept"] for r in rows), 0)
    table.judge("MB that it has grown by afterwards", max(r["grown"] for r in rows), 16)
    return table


class Peak:
    """The most memory that a program had while the block lasted."""

    def __init__(self, program):
        self.program, self.bytes, self.over = program, 0, threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        while not self.over.wait(0.1):
            self.bytes = max(self.bytes, self.program.user_bytes())

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def slow(bench):
    """16 KiB ten times a second, from an origin that sends as fast as it can, and to it."""
    table = Table("slow", f"{SLOW} clients that read, or write, 160 KiB a second",
                  [("peak", "MB more", ".1f"), ("moved", "MB moved", ".1f"),
                   ("kept", "fds kept", ".0f")], base="down")  # fmt: skip
    weir = bench.contest.get("weir", "weir, 2 workers", workers=2)
    program = weir.program
    descriptors, memory = program.descriptors(), program.user_bytes()
    for mode in ("down", "up"):
        with Peak(program) as peak:
            got = bench.world.load(mode, "connect", weir.ways["connect"], connections=SLOW,
                                   bytes=SLOW_BYTES, slow=True, seconds=4)  # fmt: skip
        table.add(mode, {
            "peak": max(0, peak.bytes - memory) / 1e6, "moved": got["bytes"] / 1e6,
            "kept": wait_flat(program, descriptors), "errors": got["errors"]["total"],
        })  # fmt: skip
    table.judge("MB that leftovers take", table.median("down", "peak"), 64 * 1.048576)
    table.judge("errors", sum(r["errors"] for one in table.rows.values() for r in one), 0)
    table.judge("descriptors kept afterwards", table.median("up", "kept"), 0)
    return table
