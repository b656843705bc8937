"""System calls for one connection, counted by strace in a round of its own."""

import re
import shutil
import signal
import subprocess
import time

OPERATIONS, AT_ONCE = 400, 8
ATTACH_TIMEOUT = 20
TOTAL = re.compile(r"^\s*100\.00\s+\S+\s+(?:\d+\s+)?(\d+)\s+(?:\d+\s+)?total$", re.M)


def attach(world, proxy):
    report = world.folder / f"strace.{proxy.program.pid}"
    words = ["strace", "-c", "-f", "-o", str(report)]
    for pid in proxy.program.pids():
        words += ["-p", str(pid)]
    tracer = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)  # fmt: skip
    for line in tracer.stderr:
        if "attached" in line:
            break
    time.sleep(0.2)  # the other threads
    return tracer, report


def calls_of(world, proxy, way):
    tracer, report = attach(world, proxy)
    got = world.load("open", way, proxy.ways[way], connections=AT_ONCE, seconds=20,
                     operations=OPERATIONS)  # fmt: skip
    time.sleep(0.2)
    tracer.send_signal(signal.SIGINT)
    tracer.wait(timeout=ATTACH_TIMEOUT)
    tracer.stderr.close()
    match = TOTAL.search(report.read_text())
    return int(match.group(1)) / got["operations"] if match and got["operations"] else None


def calls_per_operation(bench, ways, table):
    """By name of the proxy; a note of the table lists them."""
    if not shutil.which("strace"):
        return {}
    found = {}
    for proxy in bench.contest.able(*ways):
        way = next(way for way in ways if way in proxy.ways)
        found[proxy.name] = calls_of(bench.world, proxy, way)
    listed = sorted((calls, who) for who, calls in found.items() if calls)
    table.notes.append(
        "  system calls a connection: " + ", ".join(f"{who} {n:.1f}" for n, who in listed)
    )
    return found
