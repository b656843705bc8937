"""Ways out, tried: runs inside a sandbox as `python3 -c SOURCE GROUP [ARG...]` and prints
one JSON object, name of the attempt to "open" or to the error that refused it.

Only the standard library, and no file of the tests: it must run from its text alone.
"""

import ctypes
import errno
import fcntl
import json
import os
import platform
import signal
import socket
import struct
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
X86 = platform.machine() == "x86_64"
results = {}


def attempt(name, action):
    """`action` raises OSError when it is refused."""
    try:
        action()
        results[name] = "open"
    except OSError as error:
        results[name] = errno.errorcode.get(error.errno, str(error))
    except Exception as error:  # whatever else is no way out either, but must be seen
        results[name] = f"{type(error).__name__}: {error}"


def call(number, *args):
    """A system call by its number, with full 64-bit arguments."""
    wide = [ctypes.c_uint64(a & (2**64 - 1)) if isinstance(a, int) else a for a in args]
    wide += [ctypes.c_uint64(0)] * (6 - len(wide))
    result = LIBC.syscall(ctypes.c_long(number), *wide)
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def in_child(action):
    """Runs `action` in a child; raises OSError with what it died of or failed with."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 0
        try:
            action()
        except OSError as error:
            code = error.errno or 1
        os.write(write, bytes([code % 256]))
        os._exit(0)
    os.close(write)
    said = os.read(read, 1)
    os.close(read)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        raise OSError(None, f"killed by {signal.Signals(os.WTERMSIG(status)).name}")
    if said != b"\0":
        raise OSError(said[0], "refused")


NUMBERS = {  # x86-64, aarch64
    "socket": (41, 198), "socketpair": (53, 199), "clone": (56, 220), "ptrace": (101, 117),
    "ioctl": (16, 29), "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40),
    "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "open_by_handle_at": (304, 265), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "reboot": (169, 142), "swapon": (167, 224),
    "swapoff": (168, 225), "quotactl": (179, 60), "acct": (163, 89),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "sethostname": (170, 161),
    "setdomainname": (171, 162), "syslog": (103, 116), "fanotify_init": (300, 262),
    "kcmp": (312, 272), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "iopl": (172, None), "ioperm": (173, None),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "pidfd_open": (434, 434), "clone3": (435, 435),
    "pidfd_getfd": (438, 438), "mount_setattr": (442, 442), "quotactl_fd": (443, 443),
    "open_tree_attr": (467, 467),
}  # fmt: skip


def number(name):
    return NUMBERS[name][0 if X86 else 1]


# ---- groups


def families():
    """Every family, type and protocol that could be: what can be made is listed."""
    made = []
    for family in range(64):
        for kind in range(1, 11):
            for protocol in (0, 1, 6, 17, 33, 58, 115, 132, 136, 255, 262):
                if family == 16 and protocol:
                    continue
                try:
                    fd = call(number("socket"), family, kind, protocol)
                except OSError:
                    continue
                os.close(fd)
                made.append(f"{family}/{kind}/{protocol}")
    for protocol in range(64):
        try:
            os.close(call(number("socket"), 16, 3, protocol))
            made.append(f"netlink {protocol}")
        except OSError:
            pass
    results["made"] = made


def sockets():
    high = 1 << 32
    for name, args in {
        "unix stream": (1, 1, 0), "unix datagram": (1, 2, 0), "unix seqpacket": (1, 5, 0),
        "unix, high bits": (high | 1, 1, 0), "unix, negative bits": (-high | 1, 1, 0),
        "unix, flags": (1, 1 | os.O_CLOEXEC, 0), "vsock": (40, 1, 0), "packet": (17, 3, 3),
        "packet, datagram": (17, 2, 0x300), "xdp": (44, 3, 0), "alg": (38, 5, 0),
        "raw": (2, 3, 255), "raw 6": (10, 3, 58), "raw, high bits": (2, high | 3, 255),
        "icmp": (2, 2, 1), "icmp 6": (10, 2, 58), "mptcp": (2, 1, 262),
        "mptcp 6": (10, 1, 262), "mptcp, high bits": (2, 1, high | 262),
        "sctp": (2, 1, 132), "sctp, seqpacket": (2, 5, 132), "dccp": (2, 6, 33),
        "udplite": (2, 2, 136), "l2tp": (2, 2, 115), "netlink audit": (16, 3, 9),
        "netlink netfilter": (16, 3, 12), "netlink generic": (16, 3, 16),
        "netlink diag": (16, 3, 4), "netlink uevent": (16, 3, 15),
        "netlink, high bits": (16, 3, high | 16), "bluetooth": (31, 3, 1),
        "can": (29, 3, 1), "kcm": (41, 2, 0), "tipc": (30, 2, 0), "smc": (43, 1, 0),
        "qipcrtr": (42, 2, 0), "rds": (21, 5, 0), "x25": (9, 5, 0),
    }.items():  # fmt: skip
        attempt(name, lambda a=args: os.close(call(number("socket"), *a)))
    pair = (ctypes.c_int * 2)()
    for name, args in {
        "pair of datagrams": (1, 2), "pair of seqpackets": (1, 5),
        "pair, high bits": (high | 1, 2), "pair, raw": (1, 3), "pair of tipc": (30, 2),
        "pair, type with high bits": (1, high | 2),
    }.items():  # fmt: skip
        attempt(name, lambda a=args: call(number("socketpair"), *a, 0, pair))


def useful_sockets():
    """What must go on working."""
    for name, args in {
        "tcp": (2, 1, 0), "tcp, named": (2, 1, 6), "tcp 6": (10, 1, 6), "udp": (2, 2, 17),
        "udp 6": (10, 2, 0), "flags": (2, 1 | 0o2000000 | 0o4000, 0), "route": (16, 3, 0),
        "route, datagram": (16, 2, 0),
    }.items():  # fmt: skip
        attempt(name, lambda a=args: os.close(call(number("socket"), *a)))
    attempt("pair", lambda: socket.socketpair())
    attempt("interfaces", lambda: socket.if_nameindex())


def unix(path, abstract):
    """A socket that the host listens on."""
    for name, address in (("path", path), ("abstract", "\0" + abstract)):

        def connect(address=address):
            with socket.socket(socket.AF_UNIX) as sock:
                sock.connect(address)

        attempt(name, connect)


def reach(*addresses):
    """TCP and UDP to "host port" pairs, and by TCP fast open."""
    for text in addresses:
        host, port = text.split()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET

        def tcp():
            with socket.socket(family) as sock:
                sock.settimeout(5)
                sock.connect((host, int(port)))

        def fast():
            with socket.socket(family) as sock:
                sock.settimeout(5)
                sock.sendto(b"x", 0x20000000, (host, int(port)))
                sock.send(b"y")
                sock.recv(1)

        def udp():
            with socket.socket(family, socket.SOCK_DGRAM) as sock:
                sock.settimeout(5)
                sock.connect((host, int(port)))
                sock.send(b"x")
                sock.recv(1)

        for name, action in (("tcp", tcp), ("fast open", fast), ("udp", udp)):
            attempt(f"{name} {text}", action)


def processes():
    """Process 1 is Weir's; nothing else of Weir's is to be seen."""
    for name in ("environ", "mem", "maps", "auxv", "stack", "syscall", "io"):
        attempt(f"/proc/1/{name}", lambda n=name: open(f"/proc/1/{n}", "rb").read(1))
    # Root may list the numbers in fd, as they belong to it; none of them leads anywhere.
    attempt("open /proc/1/fd/0", lambda: open("/proc/1/fd/0", "rb").close())
    attempt("link /proc/1/fd/0", lambda: os.readlink("/proc/1/fd/0"))
    for name in ("fdinfo", "map_files", "root/", "cwd/"):
        attempt(f"/proc/1/{name}", lambda n=name: os.listdir(f"/proc/1/{n}"))
    for name in ("exe", "ns/mnt", "ns/net", "root"):
        attempt(f"link /proc/1/{name}", lambda n=name: os.readlink(f"/proc/1/{n}"))
    attempt("attach to 1", lambda: call(number("ptrace"), 16, 1, 0, 0))
    attempt("seize 1", lambda: call(number("ptrace"), 0x4206, 1, 0, 0))
    buf = ctypes.create_string_buffer(16)
    vector = (ctypes.c_uint64 * 2)(ctypes.addressof(buf), 16)
    for name in ("process_vm_readv", "process_vm_writev"):
        attempt(name, lambda n=name: call(number(n), 1, ctypes.byref(vector), 1,
                                          ctypes.byref(vector), 1, 0))  # fmt: skip

    def take():
        fd = call(number("pidfd_open"), 1, 0)
        os.close(call(number("pidfd_getfd"), fd, 0, 0))

    attempt("pidfd_getfd", take)
    for name in ("SIGTERM", "SIGKILL", "SIGSTOP"):
        try:
            os.kill(1, getattr(signal, name))
        except PermissionError:
            pass  # the kernel lets it pass and ignores it, or Landlock refuses it
    results["pids"] = sorted(int(n) for n in os.listdir("/proc") if n.isdigit())
    results["parent"] = os.getppid()


def namespaces():
    flags = {
        "time": 0x80, "mount": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000,
        "ipc": 0x8000000, "user": 0x10000000, "pid": 0x20000000, "net": 0x40000000,
        "user and net": 0x50000000, "user, high bits": 1 << 40 | 0x10000000,
    }  # fmt: skip
    for name, flag in flags.items():
        attempt(f"unshare {name}", lambda f=flag: in_child(lambda: call(number("unshare"), f)))
        if name == "time":
            continue

        def clone(flag=flag):
            pid = call(number("clone"), flag | signal.SIGCHLD, 0, 0, 0, 0)
            if pid == 0:
                os._exit(0)
            os.waitpid(pid, 0)

        attempt(f"clone {name}", clone)
    args = (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, signal.SIGCHLD)

    def clone3():
        if call(number("clone3"), ctypes.byref(args), 88) == 0:
            os._exit(0)

    attempt("clone3", clone3)
    for name in ("user", "mnt", "net", "pid", "ipc", "uts"):
        def enter(name=name):
            fd = os.open(f"/proc/self/ns/{name}", os.O_RDONLY)
            call(number("setns"), fd, 0)

        attempt(f"setns {name}", lambda e=enter: in_child(e))
    text = ctypes.c_char_p
    where = os.environ["TMPDIR"].encode() if "TMPDIR" in os.environ else b"/tmp"
    attempt("mount tmpfs", lambda: call(number("mount"), text(b"x"), text(where), text(b"tmpfs"), 0, 0))
    attempt("mount proc", lambda: call(number("mount"), text(b"x"), text(where), text(b"proc"), 0, 0))
    attempt("remount", lambda: call(number("mount"), text(b"x"), text(b"/"), None, 0x1020, None))
    attempt("bind", lambda: call(number("mount"), text(b"/etc"), text(where), None, 4096, None))
    attempt("umount", lambda: call(number("umount2"), text(b"/proc/sys"), 2))
    attempt("umount /dev", lambda: call(number("umount2"), text(b"/dev"), 2))
    attempt("pivot_root", lambda: call(number("pivot_root"), text(b"."), text(b".")))
    attempt("chroot", lambda: in_child(lambda: os.chroot(where)))
    attempt("open_tree", lambda: call(number("open_tree"), -100, text(b"/"), 1))
    attempt("open_tree_attr", lambda: call(number("open_tree_attr"), -100, text(b"/"), 1, 0, 0))
    attempt("move_mount", lambda: call(number("move_mount"), -100, text(b"/"), -100, text(where), 0))
    attempt("fsopen", lambda: call(number("fsopen"), text(b"tmpfs"), 0))
    attempt("fsconfig", lambda: call(number("fsconfig"), 0, 6, None, None, 0))
    attempt("fsmount", lambda: call(number("fsmount"), 0, 0, 0))
    attempt("fspick", lambda: call(number("fspick"), -100, text(b"/"), 0))
    attempt("mount_setattr", lambda: call(number("mount_setattr"), -100, text(b"/"), 0, None, 0))


def kernel():
    buf = ctypes.create_string_buffer(4096)
    text = ctypes.c_char_p
    plain = {
        "io_uring_setup": (1, buf), "io_uring_enter": (0, 0), "io_uring_register": (0, 0),
        "keyctl": (0, -3, 0), "add_key": (text(b"user"), text(b"a"), text(b"b"), 1, -2),
        "request_key": (text(b"user"), text(b"a"), None, 0), "bpf": (5, buf, 72),
        "perf_event_open": (buf, 0, -1, -1, 0), "userfaultfd": (1,),
        "open_by_handle_at": (-100, buf, 0), "kexec_load": (0, 0, 0, 0),
        "kexec_file_load": (-1, -1, 0, None, 0), "init_module": (buf, 0, buf),
        "finit_module": (-1, buf, 0), "delete_module": (text(b"x"), 0),
        "reboot": (0xfee1dead, 672274793, 0), "swapon": (text(b"/x"), 0),
        "swapoff": (text(b"/x"),), "quotactl": (0x800001 << 8, None, 0, None),
        "quotactl_fd": (0, 0, 0, None), "acct": (text(b"/dev/shm/a"),),
        "settimeofday": (buf, None), "clock_settime": (0, buf),
        "sethostname": (text(b"x"), 1), "setdomainname": (text(b"x"), 1),
        "syslog": (3, buf, 100), "fanotify_init": (0, 0), "kcmp": (1, 1, 0, 0, 0),
        "iopl": (3,), "ioperm": (0x80, 1, 1),
    }  # fmt: skip
    for name, args in plain.items():
        if number(name) is not None:
            attempt(name, lambda n=name, a=args: call(number(n), *a))
    for unknown in (470, 480, 500, 1000, 0x3fffffff):
        attempt(f"call {unknown}", lambda u=unknown: call(u))


def foreign():
    """The same calls by other entries of the kernel (x86-64 only)."""
    if not X86:
        return
    attempt("x32 getpid", lambda: in_child(lambda: call(0x40000000 | 39)))
    attempt("x32 socket", lambda: in_child(lambda: call(0x40000000 | 41, 1, 1, 0)))
    import mmap

    # mov eax, 20 (getpid); int 0x80; ret
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    function = ctypes.CFUNCTYPE(ctypes.c_int)(address)

    def int80():
        if function() != os.getpid():
            raise OSError(errno.ENOSYS, "no such entry")

    attempt("int 0x80", lambda: in_child(int80))


def terminal(path="/dev/tty"):
    fd = os.open(path, os.O_RDWR)
    byte = ctypes.create_string_buffer(b"x")
    for name, request in {
        "TIOCSTI": 0x5412, "TIOCSTI, high bits": 1 << 32 | 0x5412,
        "TIOCSTI, negative": -(1 << 32) | 0x5412, "TIOCLINUX": 0x541C,
        "TIOCLINUX, high bits": 5 << 32 | 0x541C, "TIOCSETD": 0x5423, "TIOCCONS": 0x541D,
    }.items():  # fmt: skip
        attempt(name, lambda r=request: call(number("ioctl"), fd, r, byte))
    attempt("TIOCGWINSZ", lambda: fcntl.ioctl(fd, 0x5413, struct.pack("HHHH", 0, 0, 0, 0)))


def write(*paths):
    """Opens for writing what must not be."""
    for path in paths:
        attempt(path, lambda p=path: os.close(os.open(p, os.O_WRONLY)))


def read(*paths):
    for path in paths:

        def look(path=path):
            if os.path.isdir(path):
                os.listdir(path)
            else:
                with open(path, "rb") as file:
                    file.read(1)

        attempt(path, look)


def devices(folder):
    """Device nodes: none can be made, and none of the host's are there."""
    for name, mode, device in (
        ("mem", 0o20666, os.makedev(1, 1)), ("kmsg", 0o20666, os.makedev(1, 11)),
        ("disk", 0o60666, os.makedev(254, 0)), ("null", 0o20666, os.makedev(1, 3)),
    ):  # fmt: skip
        attempt(f"mknod {name}", lambda n=name, m=mode, d=device: os.mknod(f"{folder}/{n}", m, d))
    results["dev"] = sorted(os.listdir("/dev"))


def main():
    globals()[sys.argv[1]](*sys.argv[2:])
    print(json.dumps(results))


main()
