"""Where and with what it was measured: figures mean nothing without."""

import os
import platform
import re
import subprocess
import time

from .program import read
from .proxies import version


def processor():
    match = re.search(r"^model name\s*: (.*)", read("/proc/cpuinfo"), re.M)
    return match.group(1) if match else platform.machine()


def weir_version(build):
    done = subprocess.run([build / "weir", "--version"], capture_output=True, text=True)
    return done.stdout.strip().split("\n")[0]


def facts(world, contest):
    system = re.search(r'^PRETTY_NAME="?([^"\n]*)', read("/etc/os-release"), re.M)
    return {
        "time": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "system": system.group(1) if system else "",
        "load": os.getloadavg()[0],
        "network": world.net.about,
        "weir": weir_version(world.build),
        "peers": {name: version(name) for name in contest.peers},
        "missing": contest.missing,
    }


def show(found, contest):
    for key in ("time", "processor", "cores", "kernel", "system", "network", "weir"):
        print(f"{key:10} {found[key]}")
    print("peers      " + ", ".join(f"{n} {v}".strip() for n, v in found["peers"].items()))
    for name, why in contest.missing.items():
        print(f"skipped    {name}: {why}")
    if found["load"] > found["cores"] / 2:
        print(f"note       the machine is busy (load {found['load']:.1f}): trust ratios of CPU "
              "time, not rates and latencies")  # fmt: skip
