"""The processes around the command are out of its reach, and so are all others."""

import os
import pathlib
import signal
import subprocess

import pytest

from support.sandbox import PYTHON, probe


def test_process_1(box):
    results = probe(box, "processes")
    pids, parent = results.pop("pids"), results.pop("parent")
    for name, result in results.items():
        assert result in ("EACCES", "EPERM", "ENOENT", "ESRCH"), f"{name}: {result}"
    # init and the prober; the supervisor, its parent, has no number here.
    assert pids[0] == 1 and len(pids) == 2 and parent == 0


def test_the_prober_reads_its_own(box):
    """The positive control: the same files of a process of one's own are readable."""
    done = box.sh("sleep 5 & cat /proc/$!/environ | grep -c SANDBOX; ls /proc/$!/fd | wc -l")
    assert done.stdout.split()[0] == "1"
    done = box.python(
        "import ctypes, os, subprocess\n"
        "p = subprocess.Popen(['sleep', '5'])\n"
        "print(ctypes.CDLL(None).ptrace(16, p.pid, 0, 0))"
    )
    assert done.stdout == "0\n"


def test_nobody_else_is_seen(box):
    with subprocess.Popen(["sleep", "300"]) as other:
        try:
            done = box.sh(f"ls -d /proc/[0-9]* | wc -l; kill -0 {other.pid}; ps ax | grep -c 'sleep 300'")
            assert int(done.stdout.split()[0]) <= 5
            assert other.poll() is None
        finally:
            other.kill()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("target", [0, -1])
def test_signals_to_the_group(box, number, target):
    """They end what is inside; the core outlives them and tells the status."""
    code = (
        "import os, time\n"
        f"try: os.kill({target}, {int(number)})\n"
        "except ProcessLookupError: pass\n"
        "time.sleep(0.1)"
    )
    done = box.python(code)
    assert done.returncode == (128 + number if target == 0 else 0), done.stderr


def landlock_version():
    import ctypes

    return ctypes.CDLL(None, use_errno=True).syscall(444, None, 0, 1)


def test_signals_to_the_group_under_a_terminal(box):
    """There the command shares our group. Landlock keeps it from signalling us."""
    if landlock_version() < 6:
        pytest.skip("this kernel's Landlock does not bound signals (before version 6)")
    code = "import os, signal; signal.signal(15, signal.SIG_IGN); os.kill(0, 15); print('on')"
    script = (
        f"import pty, sys; sys.exit(pty.spawn(['{box.weir}', 'run', '-q', '{PYTHON}', '-c', "
        f'"""{code}"""]) >> 8)'
    )
    done = box.run(PYTHON, "-c", script, weirless=True)
    assert "on" in done.stdout and done.returncode == 0, done.stdout


def test_the_core_cannot_be_read_by_others_of_the_same_user(box):
    """Neither core nor supervisor: what they hold is nobody's but theirs."""
    process = box.popen("-q", "sh", "-c", "echo ready; read x", stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE)  # fmt: skip
    assert process.stdout.readline() == b"ready\n"
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    for pid in [process.pid, *map(int, children.split())]:
        if box.who == "user":
            done = box.sh(f"cat /proc/{pid}/environ; ls /proc/{pid}/fd", weirless=True)
            assert done.returncode != 0
        assert os.stat(f"/proc/{pid}/mem").st_uid == 0
    process.communicate(b"\n", timeout=30)


def test_no_control_socket(box):
    """Nothing of the hand-off is left inside: no descriptor, no name."""
    done = box.sh("ls -l /proc/self/fd | grep -c socket:; sed 1d /proc/net/unix")
    lines = done.stdout.splitlines()
    assert lines.pop(0) == "0"
    assert all(len(line.split()) == 7 for line in lines), lines  # an eighth is a name
