"""What it costs to look a name up: CONNECT to names that were never asked for, beside
CONNECT to one whose answer is still known."""

from .table import Table, interleave
from .traffic import MICRO, one_round

APART = 1000000  # numbers of names for one round
TARGET = "bench.test"


def resolve(bench):
    world = bench.world
    names = world.start(
        "names", [world.build / "bench/weir_bench_names", f"{world.net.proxies}:0",
                  world.net.ends])  # fmt: skip
    server = names.wait_for_line(r"listening (\S+)").group(1)
    weir = bench.contest.get("weir", "weir with names",
                             resolver={"servers": [server], "hostsFile": ""})  # fmt: skip
    table = Table("resolve", "CONNECT, GET and close by name, A and AAAA asked for",
                  [("cpu", "CPU us", ".1f"), ("rate", "per s", ".0f"), ("p50", "p50 us", ".0f")],
                  base="known")  # fmt: skip
    first = iter(range(0, 1 << 32, APART))

    def known():
        return one_round(world, weir, "open", "connect", MICRO, bench.seconds,
                         target=f"known.{TARGET}:{world.target_port}")  # fmt: skip

    def unknown():
        return one_round(world, weir, "open", "connect", MICRO, bench.seconds,
                         target=f"{TARGET}:{world.target_port}", unique=next(first))  # fmt: skip

    interleave(table, [("known", known), ("unknown", unknown)], bench.rounds)
    pairs = zip(table.values("unknown", "cpu"), table.values("known", "cpu"))
    costs = sorted(a - b for a, b in pairs)
    table.judge("CPU us of one lookup", costs[len(costs) // 2] if costs else None, 30)
    return table
