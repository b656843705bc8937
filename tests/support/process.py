"""What the kernel tells of a process."""

import os
import pathlib

from .wait import wait_until


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def status(pid, key):
    """A number of /proc/PID/status, such as VmRSS in KiB or Threads."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1])
    raise AssertionError(f"no {key}")


def settle(pid, before, timeout=30):
    """Everything that was opened is closed again."""
    wait_until(
        lambda: descriptors(pid) <= before, timeout,
        lambda: f"{descriptors(pid)} descriptors, {before} before",
    )  # fmt: skip
