"""Under a terminal the command is in the process group of its caller, and with it the core
and the caller's script. It has no number for the group, but 0 names it."""

import platform

NUMBERS = {"x86_64": (141, 251), "aarch64": (140, 30)}

CODE = """
import ctypes, errno, sys
libc = ctypes.CDLL(None, use_errno=True)
for number, which, value in ((int(sys.argv[1]), 1, 10), (int(sys.argv[2]), 2, 3 << 13)):
    for high in (0, 1 << 32):
        result = libc.syscall(ctypes.c_long(number), ctypes.c_ulong(which | high),
                              ctypes.c_ulong(high), ctypes.c_ulong(value))
        print("open" if result == 0 else errno.errorcode[ctypes.get_errno()])
    # One's own process stays one's own affair.
    print(libc.syscall(ctypes.c_long(number), ctypes.c_ulong(which - 1), 0, ctypes.c_ulong(value)))
"""


def test_priorities(box):
    done = box.python(CODE, *NUMBERS[platform.machine()])
    assert done.stdout.split() == ["EPERM", "EPERM", "0"] * 2, done.stdout + done.stderr
