"""How long `weir run -- true` takes, against bubblewrap and a plain start.

Interleaved rounds, so that what else the machine does meets all alike; the ratio of the
medians is what counts. usage: run_start.py [WEIR] [ROUNDS]
"""

import os
import shutil
import statistics
import subprocess
import sys
import time

BWRAP = ["--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
         "--tmpfs", "/tmp", "true"]  # fmt: skip
TARGET = 1.0


def milliseconds(command):
    start = time.monotonic()
    pid = os.posix_spawn(command[0], command, os.environ)
    _, status = os.waitpid(pid, 0)
    taken = (time.monotonic() - start) * 1e3
    if status != 0:
        sys.exit(f"{' '.join(command)}: exit status {os.waitstatus_to_exitcode(status)}")
    return taken


def main():
    weir = sys.argv[1] if len(sys.argv) > 1 else "build/weir"
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    commands = {
        "plain": [shutil.which("true")],
        "weir run": [weir, "run", "-q", "--", "true"],
        "weir --version": [weir, "--version"],
    }
    if shutil.which("bwrap"):
        commands["bwrap"] = [shutil.which("bwrap"), *BWRAP]
    for command in commands.values():
        for _ in range(3):
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    times = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            times[name].append(milliseconds(command))
    for name, all_times in times.items():
        all_times.sort()
        print(f"{name:16} median {statistics.median(all_times):6.2f} ms  "
              f"p10 {all_times[len(all_times) // 10]:6.2f} ms")  # fmt: skip
    if "bwrap" in times:
        ratio = statistics.median(times["weir run"]) / statistics.median(times["bwrap"])
        print(f"weir run / bwrap: {ratio:.2f} (target {TARGET})")
    else:
        print("no ratio: bubblewrap is not installed")


main()
