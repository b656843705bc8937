"""Root inside owns files of the kernel that the host has too, and needs no capability to
change their modes: neither by name nor by a descriptor of the host does it come to that."""

import json
import os
import stat

import pytest

CHMOD = """
import json, os, stat, sys
def same_mode(path):
    try:
        os.chmod(path, stat.S_IMODE(os.stat(path).st_mode))
        return "open"
    except OSError as error:
        return error.strerror
print(json.dumps({path: same_mode(path) for path in sys.argv[1:]}))
"""


def results_of(box, *paths):
    done = box.python(CHMOD, *paths)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_device_nodes(box):
    paths = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"]
    results = results_of(box, *paths)
    assert set(results.values()) <= {"Read-only file system", "Operation not permitted"}, results
    done = box.sh("echo x > /dev/null && head -c 1 /dev/zero | wc -c && head -c 1 /dev/urandom | wc -c")
    assert done.stdout.split() == ["1", "1"], done.stderr  # they work all the same


def test_files_of_proc(box):
    """Their modes are kept once for all instances of /proc, the host's too."""
    names = [n for n in os.listdir("/proc") if not n.isdigit() and not os.path.islink(f"/proc/{n}")]
    there = [f"/proc/{n}" for n in names if os.access(f"/proc/{n}", os.F_OK)]
    assert len(there) > 20
    assert "open" not in results_of(box, *there).values()


def test_own_processes_stay_adjustable(box):
    done = box.sh("echo 500 > /proc/self/oom_score_adj && chmod 600 /dev/pts/ptmx; cat /proc/meminfo")
    assert done.returncode == 0 and "MemTotal" in done.stdout, done.stderr


@pytest.mark.parametrize("access", [os.O_RDONLY, os.O_RDWR])
def test_a_null_device_that_was_handed_in(box, access):
    """As cron, CI and services do. The mode is changed to what it is, should it work."""
    mode = stat.S_IMODE(os.stat("/dev/null").st_mode)
    null = os.open("/dev/null", access)
    code = (
        "import os, sys\n"
        f"try: os.fchmod(0, {mode})\n"
        "except OSError: sys.exit(7)\n"
    )
    process = box.popen("-q", "/usr/bin/python3", "-c", code, stdin=null)
    os.close(null)
    assert process.wait(timeout=60) == 7
