"""Calls that widen the kernel's face: refused whole; other entries: killed."""

from support.sandbox import assert_refused, probe


def test_refused(box):
    results = probe(box, "kernel")
    for name, result in results.items():
        wanted = "ENOSYS" if name.startswith(("io_uring", "call ")) else "EPERM"
        assert result == wanted, f"{name}: {result}"


def test_other_entries_are_killed(box):
    results = probe(box, "foreign")
    assert_refused(results)
    for name, result in results.items():
        assert "SIGSYS" in result, f"{name}: {result}"


def test_threads_and_children_are_filtered_too(box):
    done = box.python(
        "import threading, socket, subprocess, sys\n"
        "def f():\n"
        "    try: socket.socket(socket.AF_UNIX); print('open')\n"
        "    except OSError: print('shut')\n"
        "t = threading.Thread(target=f); t.start(); t.join()\n"
        "if len(sys.argv) == 1: subprocess.run([sys.executable, '-c', open('/proc/self/cmdline')"
        ".read().split(chr(0))[2], 'child'])"
    )
    assert done.stdout == "shut\nshut\n", done.stdout + done.stderr
