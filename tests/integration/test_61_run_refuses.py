"""SBX-36, SBX-10, SBX-39, P2: what cannot be sandboxed is not run, and no helper is used."""

import os
import shutil
import subprocess

import pytest

from support.program import assert_sane

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to set the scene")


# One whole /proc anywhere is enough for the kernel to let us mount our own. What other
# mounts of it the machine has is covered, so that the scene alone decides.
ALONE = (
    "sed -n 's|^[^ ]* [^ ]* [^ ]* / \\([^ ]*\\) .* - proc .*|\\1|p' /proc/self/mountinfo | "
    "grep -vx /proc | while read -r at; do "
    'mount -t tmpfs none "$(printf %b "$at")" || echo "unshare: $at failed" >&2; done; '
)


def run_in(box, scene, *args):
    """`weir run ARGS` inside of what `scene`, a shell script ending in "$@", sets up."""
    process = subprocess.run(
        ["unshare", "-Urm", "--propagation", "private", "sh", "-c", scene, "sh",
         str(box.weir), "run", *args],
        env=box.environment(), cwd=box.work, preexec_fn=box.become, capture_output=True,
        text=True, timeout=60,
    )  # fmt: skip
    if "unshare:" in process.stderr and "failed" in process.stderr:
        pytest.skip(f"the scene cannot be set: {process.stderr.strip()}")
    assert_sane(process.stderr)
    return process


def test_sbx_36_no_namespaces(box):
    ran = box.work / "ran"
    done = run_in(
        box, 'echo 0 > /proc/sys/user/max_user_namespaces || exit 77; exec "$@"',
        "touch", str(ran),
    )  # fmt: skip
    if done.returncode == 77:
        pytest.skip("user.max_user_namespaces cannot be set in a namespace here")
    assert done.returncode == 125
    assert "user.max_user_namespaces" in done.stderr and "sysctl" in done.stderr
    assert not ran.exists()


@root_only
def test_sbx_36_in_a_chroot(box):
    """The kernel lets nobody make a user namespace there; that is said."""
    ran = box.work / "ran"
    done = subprocess.run(
        ["unshare", "-m", "--propagation", "private", "sh", "-c",
         'mkdir -p "$0/root" && mount --rbind / "$0/root" && exec chroot "$0/root" "$@"',
         str(box.top), str(box.weir), "run", "touch", str(ran)],
        env=box.environment(), cwd="/", capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    if done.returncode == 0:
        pytest.skip("this kernel allows it")
    assert done.returncode == 125 and "chroot" in done.stderr, done.stderr
    assert not ran.exists()


def test_sbx_10_a_covered_proc(box):
    """As containers have it: no /proc of our own can be had, and nothing runs."""
    ran = box.work / "ran"
    done = run_in(
        box,
        ALONE + "exec unshare -Urpf --mount-proc sh -c 'mount --bind /proc/sys /proc/sys && "
        'mount -o remount,ro,bind /proc/sys && exec "$@"\' sh "$@"',
        "-q", "touch", str(ran),
    )  # fmt: skip
    assert done.returncode == 125 and "/proc" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not ran.exists()


def test_sbx_10_a_bind_over_proc(box):
    ran = box.work / "ran"
    scene = ALONE + 'mount -t tmpfs none /proc/sys && exec "$@"'
    done = run_in(box, scene, "-q", "touch", str(ran))
    assert done.returncode == 125 and "systempaths=unconfined" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not ran.exists()


def test_sbx_39_planted_helpers(box):
    planted = box.folder("bin", box.work)
    mark = box.home / "pwned"
    names = ["bwrap", "socat", "git", "sh", "ip", "newuidmap", "newgidmap", "mount", "rg",
             "nft", "weir", "unshare", "fusermount"]  # fmt: skip
    for name in names:
        box.write(f"bin/{name}", f"#!/bin/sh\necho {name} >> {mark}\n").chmod(0o755)
    done = box.run("/bin/true", env={"PATH": f"{planted}:{os.environ['PATH']}"})
    assert done.returncode == 0, done.stderr
    assert not mark.exists()
    done = box.run("-c", "true", env={"PATH": f"{planted}:{os.environ['PATH']}"})
    assert done.returncode == 0 and not mark.exists()


def test_a_sandbox_in_a_sandbox(box):
    done = box.run(box.weir, "run", "true")
    assert done.returncode == 125 and "inside another weir run" in done.stderr


def test_sbx_36_an_empty_path(box):
    done = box.run("/bin/sh", "-c", "echo $((1 + 1))", env={"PATH": "/nonexistent"})
    assert (done.stdout, done.returncode) == ("2\n", 0)


def test_sbx_24_resolv_conf_is_a_dead_link(box):
    """Start does not depend on it, and look-ups inside fail at once."""
    if not shutil.which("getent"):
        pytest.skip("getent is not installed")
    done = subprocess.run(
        ["unshare", "-Urm", "--propagation", "private", "sh", "-c",
         'mount -t tmpfs none /etc && ln -s /nowhere /etc/resolv.conf && exec "$@"', "sh",
         str(box.weir), "run", "-q", "getent", "hosts", "x.test"],
        env=box.environment(), cwd=box.work, preexec_fn=box.become, capture_output=True,
        text=True, timeout=9,
    )  # fmt: skip
    if "unshare:" in done.stderr:
        pytest.skip(f"the scene cannot be set: {done.stderr.strip()}")
    assert done.returncode == 2, done.stderr
