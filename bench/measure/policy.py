"""What the rules cost: a lookup by itself (bench/policy.c), and CONNECT with few and with
many of them."""

import subprocess

from .table import Table, interleave
from .traffic import MILLI, one_round

FEW, MANY = 10, 100000


def lookups(world, table):
    """Rows of weir_bench_policy: kind, count, hit, miss and build time."""
    done = subprocess.run([world.build / "bench/weir_bench_policy"], capture_output=True,
                          text=True, check=True)  # fmt: skip
    found = {}
    for line in done.stdout.splitlines()[1:]:
        kind, count, *figures = line.split()
        found[kind, int(count)] = list(map(float, figures))
    for (kind, count), (hit, miss, build) in found.items():
        table.notes.append(f"  {count:7} {kind:7} found {hit:6.1f} ns, not found "
                           f"{miss:6.1f} ns, built in {build:.1f} ms")  # fmt: skip
    table.judge("ns of a lookup among 1,000", found["hosts", 1000][0], 150)
    table.judge("ns of a lookup among 100,000", found["hosts", MANY][0], 400)
    table.judge("ms to build a policy of 100,000", found["hosts", MANY][2], 100)


def policy(bench):
    table = Table("policy", "CONNECT, GET and close by the number of rules",
                  [("cpu", "CPU ms", ".4f"), ("rate", "per s", ".0f")],
                  base=f"{FEW} rules")  # fmt: skip

    def round_of(count):
        weir = bench.contest.get("weir", f"weir {count} rules", rule_count=count)
        return f"{count} rules", lambda: one_round(
            bench.world, weir, "open", "connect", MILLI, bench.seconds
        )

    interleave(table, [round_of(FEW), round_of(MANY)], bench.rounds)
    table.judge_ratio(f"{FEW} rules", 1.03, who=f"{MANY} rules")
    lookups(bench.world, table)
    return table
