"""A set-user-ID file in a writable folder would make whoever runs it outside the user, or
root. By whatever call: none comes to be. Other modes can be had."""

import json
import platform

import pytest

CODE = r"""
import ctypes, errno, json, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
X86 = sys.argv[1] == "x86_64"
MODE = int(sys.argv[2], 8)
results = {}
def attempt(name, number, *args):
    values = [ctypes.c_char_p(a) if isinstance(a, bytes) else ctypes.c_ulong(a & (2**64 - 1))
              for a in args]
    got = libc.syscall(ctypes.c_long(number), *values)
    results[name] = "open" if got >= 0 else errno.errorcode[ctypes.get_errno()]
    return got
HERE, HIGH = -100, 1 << 32
open("file", "w").close()
fd = os.open("file", os.O_RDWR)
attempt("fchmod", 91 if X86 else 52, fd, MODE)
attempt("fchmod high", 91 if X86 else 52, fd, MODE | HIGH)
attempt("fchmodat", 268 if X86 else 53, HERE, b"file", MODE)
attempt("fchmodat2", 452, HERE, b"file", MODE, 0)
attempt("openat", 257 if X86 else 56, HERE, b"openat", os.O_CREAT | os.O_WRONLY, MODE)
attempt("openat high", 257 if X86 else 56, HERE, b"high", os.O_CREAT | os.O_WRONLY | HIGH, MODE)
attempt("openat nameless", 257 if X86 else 56, HERE, b".", os.O_TMPFILE | os.O_WRONLY, MODE)
attempt("mknodat", 259 if X86 else 33, HERE, b"mknodat", 0o100000 | MODE, 0)
if X86:
    attempt("chmod", 90, b"file", MODE)
    attempt("open", 2, b"open", os.O_CREAT | os.O_WRONLY, MODE)
    attempt("open nameless", 2, b".", os.O_TMPFILE | os.O_WRONLY, MODE)
    attempt("creat", 85, b"creat", MODE)
    attempt("mknod", 133, b"mknod", 0o100000 | MODE, 0)
print(json.dumps(results))
"""


def results_of(box, mode, **more):
    tree = {"filesystem": {"allowWrite": ["."]}}
    done = box.python(CODE, platform.machine(), oct(mode), settings=tree, **more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("mode", [0o4755, 0o6711, 0o4000])
def test_no_call_makes_one(box, mode):
    results = results_of(box, mode)
    assert set(results.values()) == {"EPERM"}, results
    assert not [p for p in box.work.iterdir() if p.stat().st_mode & 0o4000]


def test_other_modes(box):
    results = results_of(box, 0o2755)
    assert set(results.values()) <= {"open", "ENOSYS", "EEXIST"}, results


def test_openat2_is_not_there(box):
    """What it makes cannot be seen by a filter. Programs go on with openat()."""
    code = (
        "import ctypes, errno\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "libc.syscall(437, -100, b'/', (ctypes.c_uint64 * 3)(0o4000000), 24)\n"
        "print(errno.errorcode[ctypes.get_errno()])"
    )
    assert box.python(code).stdout == "ENOSYS\n"


def test_programs(box):
    """What copies modes says so and goes on: nothing but the bit is lost."""
    tree = {"filesystem": {"allowWrite": ["."]}}
    done = box.sh("cp /usr/bin/id id; chmod 4755 id; chmod 755 id && chmod g+s . && ./id -u", settings=tree)
    assert done.stdout == f"{box.uid}\n" and "not permitted" in done.stderr
    assert (box.work / "id").stat().st_mode & 0o7777 == 0o755


def test_the_terminal_stays_open_to_others(box):
    """TIOCEXCL on the caller's terminal would outlive the command."""
    code = (
        "import fcntl, os, pty\n"
        "_, slave = pty.openpty()\n"
        "try: fcntl.ioctl(slave, 0x540C); print('open')\n"
        "except OSError as error: print(error.strerror)"
    )
    assert box.python(code).stdout == "Operation not permitted\n"
