"""The sandbox: how long it takes to start, and what a program inside gets."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

from .proxies import find
from .table import Table, interleave

BENCH = Path(__file__).resolve().parents[1]
START_ROUNDS, START_ROUNDS_QUICK = 30, 5
INSIDE = "127.0.0.1:3128"  # where either sandbox has its proxy
TIMEOUT = 60


def start(bench):
    """By bench/run_start.py, which interleaves by itself."""
    rounds = START_ROUNDS_QUICK if bench.quick else START_ROUNDS
    done = subprocess.run(
        [sys.executable, BENCH / "run_start.py", bench.world.build / "weir", str(rounds)],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    table = Table("start", "the start of a sandbox, until its command has ended",
                  [("ms", "ms", ".2f")], base="bwrap")  # fmt: skip
    for name, median in re.findall(r"^(\S.*?) +median +([\d.]+) ms", done.stdout, re.M):
        table.add(name, {"ms": float(median)})
    if done.returncode != 0:
        table.notes.append(f"  {(done.stderr or done.stdout).strip()}")
    table.judge_ratio("bwrap", 1.0, who="weir run", what="time")
    return table


def srt_command(bench):
    """srt in front of a command, or why not."""
    missing = [name for name in ("srt", "bwrap", "socat", "rg") if not find(name)]
    if missing or "srt" in bench.contest.missing:
        return None, f"{', '.join(missing) or 'srt'} is not installed"
    file = bench.world.folder / "srt.json"
    file.write_text(json.dumps({
        "network": {"allowedDomains": ["localhost"], "deniedDomains": []},
        "filesystem": {"denyRead": [], "allowWrite": [], "denyWrite": []},
    }))  # fmt: skip
    return [find("srt"), "--settings", str(file), "-c"], ""


def weir_command(bench):
    file = bench.world.folder / "run.json"
    target = f"localhost:{bench.world.target_port}"
    file.write_text(json.dumps({"network": {"allowedDomains": [target]}}))
    return [str(bench.world.build / "weir"), "run", "-q", "-s", str(file), "--"]


def inside(bench, prefix, mode, **options):
    target = f"localhost:{bench.world.target_port}"
    words = bench.world.load_command(mode, "connect", INSIDE, target=target, **options)
    words = list(map(str, words))
    if prefix[-1] == "-c":  # srt, which wants one text for a shell, and a login
        words = [shlex.join([sys.executable, str(BENCH / "inside_srt.py"), *words])]
    done = subprocess.run(
        [*prefix, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=TIMEOUT, cwd=bench.world.folder,
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        raise OSError(f"{prefix[0]}: {(done.stderr or done.stdout).strip()[-500:]}")
    return json.loads(lines[-1])


def sandbox(bench):
    """A download and new connections inside, beside the same through a gateway."""
    if bench.world.net.far_direct:
        raise OSError("not over a veth pair: a sandbox is on the host of its proxy")
    table = Table("sandbox", "one download, then one connection after the other",
                  [("new", "us a new one", ".0f"), ("rate", "GB/s", ".2f")],
                  base="gateway")  # fmt: skip
    gateway = bench.contest.get("weir")

    def figures(load):
        down = load("down", connections=1, bytes=1 << 40, seconds=bench.seconds)
        new = load("open", connections=1, seconds=bench.seconds)
        return {"rate": down["bytes"] / down["seconds"] / 1e9, "new": new["latency_us"]["p50"],
                "errors": down["errors"]["total"] + new["errors"]["total"]}  # fmt: skip

    def through_gateway(mode, **options):
        return bench.world.load(mode, "connect", gateway.ways["connect"], **options)

    contestants = [("gateway", lambda: figures(through_gateway))]
    prefixes = {"weir run": weir_command(bench)}
    srt, why = srt_command(bench)
    if srt:
        prefixes["srt"] = srt
    else:
        table.notes.append(f"  srt: {why}")
    for who, prefix in prefixes.items():
        contestants.append(
            (who, lambda p=prefix: figures(lambda mode, **o: inside(bench, p, mode, **o)))
        )
    interleave(table, contestants, bench.rounds)
    slower = table.ratio("gateway", "weir run", "rate")
    table.judge("throughput of the gateway / weir run", slower, 1 / 0.9)
    table.judge("time of a new connection, weir run / srt", table.ratio("weir run", "srt"), 0.05,
                why)  # fmt: skip
    return table
