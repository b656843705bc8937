"""No right beyond the user's, and for root less than that."""

import os
import pathlib

import pytest

from support.sandbox import PYTHON, assert_refused, probe


def status(text):
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def test_no_capabilities(box):
    fields = status(box.sh("cat /proc/self/status").stdout)
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(fields[name], 16) == 0, name
    assert fields["NoNewPrivs"] == "1" and fields["Seccomp"] == "2"
    done = box.python("import ctypes; print(ctypes.CDLL(None).prctl(27))")
    # NOROOT, NO_SETUID_FIXUP, NO_CAP_AMBIENT_RAISE and their locks; KEEP_CAPS locked.
    assert int(done.stdout) == 0b11101111


def test_the_same_user_and_nobody_else(box):
    done = box.sh("id -u; cat /proc/self/uid_map /proc/self/gid_map; cat /proc/self/setgroups")
    words = done.stdout.split()
    assert words == [str(box.uid)] * 3 + ["1"] + [str(box.uid)] * 2 + ["1", "deny"]


def test_setuid_programs_gain_nothing(box):
    if box.who == "root":
        pytest.skip("root has nothing to gain: see the next test")
    program = pathlib.Path("/usr/bin/env")
    copy = box.top / "suid"
    copy.write_bytes(program.read_bytes())
    copy.chmod(0o4755)
    outside = box.run(copy, "id", "-u", weirless=True)
    if outside.stdout != "0\n" and os.geteuid() == 0:
        # A user identity was kept by the mount of this folder.
        pytest.skip("set-user-ID programs do not work here outside either")
    assert box.run(copy, "cat", "/proc/self/status").stdout.count(f"\t{box.uid}\t{box.uid}") >= 1
    assert box.run(copy, "id", "-u").stdout == f"{box.uid}\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_root_is_bound_by_permissions(box):
    if box.who != "root":
        pytest.skip("about root")
    private = box.top / "private"
    private.mkdir()
    for path, mode in ((private / "file", 0o600), (private, 0o700)):
        if path != private:
            path.write_text("SECRET")
        path.chmod(mode)
        os.chown(path, 4243, 4243)
    tree = {"filesystem": {"allowWrite": [str(private)]}}
    done = box.sh(f"cat {private}/file; echo x > {private}/file; touch {private}/n", settings=tree)
    assert "SECRET" not in done.stdout and (private / "file").read_text() == "SECRET"
    assert os.listdir(private) == ["file"]
    done = box.sh("chown 4243 own; chmod 4755 own; mknod n c 1 3; ls",
                  settings={"filesystem": {"allowWrite": ["."]}})  # fmt: skip
    assert "n" not in done.stdout.split()


def test_devices(box):
    tree = {"filesystem": {"allowWrite": ["."]}}
    for folder in ("/dev/shm", str(box.work)):
        results = probe(box, "devices", folder, settings=tree)
        names = results.pop("dev")
        assert_refused(results, "EPERM")
        assert set(names) == {"fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr",
                              "stdin", "stdout", "tty", "urandom", "zero"}  # fmt: skip


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make a device node")
def test_device_nodes_that_lie_about_do_not_work(box):
    """As in the tree of a chroot: a node that even the user may open."""
    node = box.top / "kmsg"
    os.mknod(node, 0o20666, os.makedev(1, 11))
    node.chmod(0o666)
    own = box.work / "zero"
    os.mknod(own, 0o20666, os.makedev(1, 5))
    own.chmod(0o666)
    box.write(".config/weir/settings.json", "{}", box.home)
    for settings in (None, {"filesystem": {"allowWrite": [str(box.top)]}}):
        assert_refused(probe(box, "read", str(node), str(own), settings=settings), "EACCES")
    assert probe(box, "read", str(own), weirless=True)[str(own)] == "open"


def test_a_reading_descriptor_does_not_become_a_writing_one(box):
    """By /proc/self/fd, past the mounts: Landlock is what stops it."""
    import ctypes

    if ctypes.CDLL(None).syscall(444, None, 0, 1) < 2:
        pytest.skip("this kernel has no Landlock, or its first version")
    path = box.write("file", "old", box.home)
    with open(path) as file:
        process = box.popen("-q", "sh", "-c", "echo new > /proc/self/fd/0", stdin=file)
        assert process.wait(timeout=30) != 0
    assert path.read_text() == "old"
    assert box.run(PYTHON, "-c", "print(1)").stdout == "1\n"
