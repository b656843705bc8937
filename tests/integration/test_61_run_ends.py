"""SBX-17, and kill -9 of each of the four processes: nothing stays."""

import os
import pathlib
import signal
import subprocess
import time

import pytest

from support.sandbox import children, processes
from support.wait import wait_until

# In the command line of whatever the tests start, so that it is found again.
MARK = "weir-test-left-{}-{}"


def mark(box):
    return MARK.format(os.getpid(), box.top.name)


SLEEPER = """
import os, signal, sys, time
if "stubborn" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "stopped" in sys.argv:
    os.kill(os.getpid(), signal.SIGSTOP)
time.sleep(300)
"""


@pytest.mark.parametrize(
    "left",
    [
        "PY &",
        "setsid PY &",
        "(PY &);",
        "setsid sh -c 'PY & PY &';",
        "nohup PY >/dev/null 2>&1 &",
        "PY stubborn &",
        "PY stopped &",
    ],
)
def test_sbx_17_background(box, left):
    """The pipe closes and the caller goes on, also past those that ignore SIGTERM."""
    path = box.write("sleeper.py", SLEEPER)
    script = left.replace("PY", f"/usr/bin/python3 {path} {mark(box)}")
    start = time.monotonic()
    done = box.sh(f"{script} echo started; sleep 0.2", timeout=60)
    assert done.stdout == "started\n", done.stderr
    assert time.monotonic() - start < 30  # not the 300 s of what was left
    assert processes(mark(box)) == []


def test_sbx_17_term_comes_first(box):
    done = box.sh(
        "(trap 'echo cleaned; exit' TERM; echo up; touch up; while :; do sleep .05; done) & "
        "while ! [ -e up ]; do sleep .05; done",
        settings={"filesystem": {"allowWrite": ["."]}},
    )
    assert done.stdout == "up\ncleaned\n"


def is_python(pid):
    return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"/usr/bin/python3")


@pytest.fixture
def running(box):
    """A sandbox with something in the background: (core, supervisor, init, command)."""
    started = []

    def start():
        process = box.popen(
            "-q", "sh", "-c",
            f"setsid /usr/bin/python3 -c "
            f"'import time; time.sleep(300)' {mark(box)} & echo ready; exec /usr/bin/python3 "
            f"-c 'import time; time.sleep(300)' {mark(box)}",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        started.append(process)
        assert process.stdout.readline() == b"ready\n"
        (supervisor,) = [int(p) for p in direct(process.pid)]
        # The process that bore both may not be collected yet.
        wait_until(lambda: len(direct(supervisor)) == 2, 30, "three children")
        both = direct(supervisor)
        wait_until(lambda: any(map(is_python, both)), 30, "the command has not begun")
        command = next(filter(is_python, both))
        init = next(pid for pid in both if pid != command)
        return process, supervisor, init, command

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def direct(pid):
    text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def snapshot(box):
    """What could be left: mounts of the host, and files of the folders at hand. Other tests
    may run at the same time, so only what is ours counts."""
    mounts = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
    files = sorted(str(p) for p in box.top.rglob("*"))
    return [line for line in mounts if str(box.top) in line], files


@pytest.mark.parametrize("victim", ["core", "supervisor", "init", "command"])
def test_kill_9(box, running, victim):
    before = snapshot(box)
    process, supervisor, init, command = running()
    everyone = [supervisor, *children(supervisor)]
    number = {"core": process.pid, "supervisor": supervisor, "init": init, "command": command}
    os.kill(number[victim], signal.SIGKILL)
    status = process.wait(timeout=30)
    wait_until(
        lambda: not [pid for pid in everyone if os.path.exists(f"/proc/{pid}")]
        and not processes(mark(box)),
        30, lambda: f"still there: {processes(mark(box))}",
    )  # fmt: skip
    expected = {"core": -9, "supervisor": 125, "init": 137, "command": 137}
    assert status == expected[victim]
    assert process.stdout.read() == b""
    assert snapshot(box) == before


def test_kill_9_at_any_time(box):
    """Also while the sandbox is being made."""
    for delay in [0, 0.001, 0.002, 0.003, 0.005, 0.008, 0.012, 0.02, 0.04]:
        process = box.popen(
            "-q", "/usr/bin/python3", "-c", "import time; time.sleep(300)", mark(box),
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(delay)
        process.kill()
        process.wait()
    wait_until(lambda: not processes(mark(box)), 30, lambda: str(processes(mark(box))))


def test_a_full_temporary_folder_goes_too(box):
    done = box.sh("head -c 1000000 /dev/zero > $TMPDIR/x; ls -l $TMPDIR/x; stat -c %a $TMPDIR")
    assert "1000000" in done.stdout and done.stdout.endswith("700\n")
    size = box.sh("df -B1 --output=size $TMPDIR | tail -1; stat -f -c %c $TMPDIR").stdout.split()
    assert int(size[0]) <= 2 << 30 and int(size[1]) <= 1 << 20
    again = box.sh("ls -A $TMPDIR | wc -l; echo $TMPDIR")
    assert again.stdout.startswith("0\n")
    assert not os.path.exists(again.stdout.split()[1])
