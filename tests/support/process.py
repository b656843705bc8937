"""What the kernel tells of a process."""

import os
import pathlib

from .wait import wait_until


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def open_files(pid):
    """What they lead to, with the state of those that are TCP sockets."""
    table = {}
    for name in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]:
            words = line.split()
            table[f"socket:[{words[9]}]"] = " ".join(words[1:4])
    folder = pathlib.Path(f"/proc/{pid}/fd")
    links = sorted(os.readlink(path) for path in folder.iterdir() if path.is_symlink())
    return [f"{link} {table.get(link, '')}".strip() for link in links]


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
        lambda: f"{descriptors(pid)} descriptors, {before} before: {open_files(pid)}",
    )  # fmt: skip
