"""The metrics of the data path: connections, requests, messages and bulk, by CPU time of
the proxy for each."""

import time

from .strace import calls_per_operation
from .table import Table, interleave

SETTLE = 0.1  # seconds after a round, for what a proxy closes when its clients have gone
MILLI, MICRO = 1e3, 1e6
LATENCY = [("rate", "per s", ".0f"), ("p50", "p50 us", ".0f"), ("p99", "p99 us", ".0f")]


def best_way(proxy, ways):
    return next(way for way in ways if way in proxy.ways)


def one_round(world, proxy, mode, way, scale, seconds, **options):
    """The figures of a round through `proxy`; None stands for the direct path."""
    start = proxy.program.cpu() if proxy else 0.0
    addr = proxy.ways[way] if proxy else None
    got = world.load(mode, way, addr, far=not proxy and world.net.far_direct,
                     seconds=seconds, **options)  # fmt: skip
    time.sleep(SETTLE)
    used = proxy.program.cpu() - start if proxy else None
    bulk = mode in ("down", "up")
    units = got["bytes"] / 1e9 if bulk else got["operations"]
    figures = {
        "cpu": used * scale / units if proxy and units else None,
        "errors": got["errors"]["total"],
        "rate": units / got["seconds"],
        "p50": got["latency_us"]["p50"],
        "p99": got["latency_us"]["p99"],
    }
    if got["errors"]["total"] and proxy:
        figures["kinds"] = got["errors"]
    return figures


def compare(bench, table, mode, ways, scale, extra=(), **options):
    """Everybody who can do it, and the direct path as the limit."""

    def round_of(proxy, way):
        done = mode if mode != "keep" or not proxy or proxy.keeps else "open"
        return lambda: one_round(
            bench.world, proxy, done, way, scale, bench.seconds, **options
        )

    proxies = [*bench.contest.able(*ways), *extra]
    contestants = [(p.name, round_of(p, best_way(p, ways))) for p in proxies]
    contestants.append(("direct", round_of(None, "direct")))
    return interleave(table, contestants, bench.rounds)


def connect(bench):
    table = Table("connect", "CONNECT, GET and close; 32 at a time",
                  [("cpu", "CPU ms", ".4f"), *LATENCY])  # fmt: skip
    two = bench.contest.get("weir", "weir, 2 workers", workers=2)
    compare(bench, table, "open", ("connect", "direct"), MILLI, [two], connections=32)
    table.judge_ratio("ref", 1.30)
    table.judge_ratio("tinyproxy", 0.65)
    table.judge_ratio("squid", 0.5)
    calls = calls_per_operation(bench, ("connect", "direct"), table)
    table.judge("system calls of weir", calls.get("weir"), 24, "strace is not installed")
    return table


def socks(bench):
    table = Table("socks", "SOCKS5, GET and close; 32 at a time",
                  [("cpu", "CPU ms", ".4f"), *LATENCY])  # fmt: skip
    compare(bench, table, "open", ("socks5",), MILLI, connections=32)
    table.judge_ratio("ref", 1.30)
    table.judge_ratio("microsocks", 0.75)
    return table


def keep(bench):
    table = Table("keep", "GET with an absolute URL on 32 connections that stay",
                  [("cpu", "CPU us", ".1f"), *LATENCY])  # fmt: skip
    compare(bench, table, "keep", ("http",), MICRO, connections=32)
    table.notes.append("  tinyproxy closes after each request: its row is a connection for each")
    table.judge_ratio("ref", 1.5)
    table.judge_ratio("squid", 0.25)
    table.judge_ratio("ref", 1.2, key="p99", what="p99")
    return table


def message(bench):
    table = Table("message", "64 bytes and their echo in 32 open tunnels",
                  [("cpu", "CPU us", ".1f"), *LATENCY])  # fmt: skip
    ways = ("connect", "socks5", "direct")
    compare(bench, table, "message", ways, MICRO, connections=32)
    table.judge_ratio("ref", 1.10)
    table.judge_ratio("ref", 1.10, key="p50", what="p50")
    return table


def bulk(bench, mode, title):
    table = Table(mode, title, [("cpu", "CPU s/GB", ".3f"), ("rate", "GB/s", ".2f")])
    ways = ("connect", "socks5", "direct")
    compare(bench, table, mode, ways, 1, connections=4, bytes=1 << 40)
    if bench.world.net.spliced:
        table.judge_ratio("ref", 0.75)
        table.judge_ratio("squid", 0.4)
    else:
        table.judge_ratio("ref", 1.10)
    return table


def down(bench):
    return bulk(bench, "down", "bytes to the client in 4 tunnels")


def up(bench):
    return bulk(bench, "up", "bytes to the server in 4 tunnels")
