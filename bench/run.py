#!/usr/bin/python3
"""Measures Weir beside the reference relay and every peer that is installed, and says
which goals are met. README.md in this folder tells how to read it.
usage: run.py [--help]
"""

import argparse
import json
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from measure import endurance, machine, memory, names, policy, sandbox, traffic  # noqa: E402
from measure.proxies import Contest  # noqa: E402
from measure.world import ROOT, World  # noqa: E402

METRICS = {
    "connect": traffic.connect,
    "socks": traffic.socks,
    "keep": traffic.keep,
    "message": traffic.message,
    "down": traffic.down,
    "up": traffic.up,
    "idle": memory.idle,
    "policy": policy.policy,
    "resolve": names.resolve,
    "start": sandbox.start,
    "sandbox": sandbox.sandbox,
    "steady": endurance.steady,
    "crowd": endurance.crowd,
    "slow": endurance.slow,
}
ROUNDS, QUICK_ROUNDS = 5, 2
SECONDS, QUICK_SECONDS = 1, 1


class Bench:
    """What every metric gets."""

    def __init__(self, world, contest, options):
        self.world, self.contest = world, contest
        self.quick = options.quick
        self.rounds = options.rounds or (QUICK_ROUNDS if self.quick else ROUNDS)
        self.seconds = QUICK_SECONDS if self.quick else SECONDS


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("usage")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build", metavar="FOLDER",
                        help="where the release preset was built (build)")  # fmt: skip
    parser.add_argument("--only", action="append", choices=METRICS, metavar="METRIC",
                        help=f"of {', '.join(METRICS)}; may be repeated")  # fmt: skip
    parser.add_argument("--peer", action="append", metavar="NAME",
                        help="measure no other peer; may be repeated")  # fmt: skip
    parser.add_argument("--rounds", type=int, help=f"of each metric ({ROUNDS})")
    parser.add_argument("--quick", action="store_true", help="fewer and smaller rounds")
    parser.add_argument("--veth", action="store_true",
                        help="over a veth pair instead of loopback")  # fmt: skip
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all rounds there")
    return parser.parse_args()


def measure(bench, names):
    tables = {}
    for name in names:
        start = time.monotonic()
        try:
            tables[name] = METRICS[name](bench)
        except OSError as e:
            print(f"\n{name}: skipped: {e}", flush=True)
            continue
        tables[name].print()
        print(f"  ({time.monotonic() - start:.0f} s)", flush=True)
    return tables


def summary(tables):
    goals = [(name, goal) for name, table in tables.items() for goal in table.goals]
    print("\ngoals")
    for name, goal in goals:
        print(f"  {name:8}{goal.line().strip()}")
    missed = sum(goal.verdict == "MISSED" for _, goal in goals)
    met = sum(goal.verdict == "met" for _, goal in goals)
    print(f"{met} met, {missed} missed, {len(goals) - met - missed} not judged")


def main():
    options = parse()
    # So that everything is cleaned up then as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("run.py: ended"))
    if not (options.build / "bench/weir_bench_load").exists():
        sys.exit(f"{options.build}: build the release preset first: ./bootstrap.sh")
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        world = World(options.build.resolve(), folder, options.veth)
        try:
            contest = Contest(world, options.peer)
            facts = machine.facts(world, contest)
            machine.show(facts, contest)
            tables = measure(Bench(world, contest, options), options.only or list(METRICS))
        finally:
            world.close()
    summary(tables)
    if options.json:
        all_of_it = {name: table.as_dict() for name, table in tables.items()}
        options.json.write_text(json.dumps({"machine": facts, "metrics": all_of_it}, indent=1))


if __name__ == "__main__":
    main()
