"""A program that is measured: started, its CPU time and memory read, ended."""

import ctypes
import os
import re
import signal
import subprocess
import time
from pathlib import Path

START_TIMEOUT = 30
STOP_TIMEOUT = 10
TICKS = os.sysconf("SC_CLK_TCK")
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
LISTEN = "0A"  # the state in /proc/net/tcp


def read(path):
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def children(pid):
    """Of all its threads; the ids may be gone by the time they are used."""
    found = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for thread in threads:
        found += map(int, read(f"/proc/{pid}/task/{thread}/children").split())
    return found


def process_clock(pid):
    """The kernel's clock of all that the threads of `pid` have run, those that have
    ended too, in nanoseconds: the ticks of /proc/PID/stat are 10 ms long. The number is
    what clock_getcpuclockid(3) gives."""
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return 0.0


def reaped(pid):
    """Seconds of its children that have ended, which have no clock any more."""
    fields = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / TICKS if fields else 0.0


def ends_with_us():
    """In a child: whatever ends us ends it as well."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Program:
    def __init__(self, name, command, folder, env=None, before=None, stdin=None):
        self.name = name
        self.log_file = folder / f"{name}.log"
        with open(self.log_file, "wb") as log:
            self.process = subprocess.Popen(
                command, cwd=folder, stdin=stdin or subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, env={**os.environ, **(env or {})},
                preexec_fn=lambda: (ends_with_us(), before and before()),
                start_new_session=True,
            )  # fmt: skip

    @property
    def pid(self):
        return self.process.pid

    def pids(self):
        """The program and all below it."""
        found = [self.pid]
        for pid in found:
            found += [child for child in children(pid) if child not in found]
        return found

    def cpu(self):
        """Seconds of all processes so far."""
        return sum(process_clock(pid) + reaped(pid) for pid in self.pids())

    def user_bytes(self):
        """Memory of its own, shared pages counted by share."""
        found = 0
        for pid in self.pids():
            match = re.search(r"^Pss:\s+(\d+) kB", read(f"/proc/{pid}/smaps_rollup"), re.M)
            found += int(match.group(1)) * 1024 if match else 0
        return found

    def descriptors(self):
        return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in self.pids())

    def fail(self, what):
        self.stop()
        raise OSError(f"{self.name}: {what}\n{read(self.log_file)[-2000:]}")

    def listens(self, port):
        for line in read(f"/proc/{self.pid}/net/tcp").splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
                return True
        return False

    def wait_until(self, condition, what):
        end = time.monotonic() + START_TIMEOUT
        while not condition():
            if self.process.poll() is not None:
                self.fail(f"ended with status {self.process.returncode}")
            if time.monotonic() > end:
                self.fail(f"not {what} after {START_TIMEOUT} seconds")
            time.sleep(0.02)

    def wait_for_port(self, port):
        self.wait_until(lambda: self.listens(port), "listening")

    def wait_for_line(self, pattern):
        """The first match of `pattern` in what the program has written."""
        self.wait_until(lambda: re.search(pattern, read(self.log_file)), "ready")
        return re.search(pattern, read(self.log_file))

    def stop(self):
        """With all that it has started, which is in a session of its own."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self.process.poll() is None:
                for pid in reversed(self.pids()):
                    try:
                        os.kill(pid, number)
                    except ProcessLookupError:
                        pass
                try:
                    self.process.wait(timeout=STOP_TIMEOUT)
                except subprocess.TimeoutExpired:
                    continue
            break
