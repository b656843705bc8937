"""What of /proc and /sys would be a way out, above all for root."""

import os
import pathlib
import subprocess

import pytest

from support.sandbox import assert_refused, probe

WRITES = [
    "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hostname",
    "/proc/sys/vm/overcommit_memory", "/proc/sys/net/ipv4/ip_forward",
    "/proc/sys/user/max_user_namespaces", "/proc/sys/fs/suid_dumpable",
    "/proc/sys/kernel/randomize_va_space", "/proc/sysrq-trigger", "/proc/irq/default_smp_affinity",
    "/proc/sys/fs/binfmt_misc/register", "/sys/kernel/uevent_helper",
    "/sys/power/state", "/sys/class/net/lo/mtu", "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/fs/cgroup/release_agent", "/sys/fs/cgroup/cgroup.procs",
]  # fmt: skip
READS = [
    "/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/kmsg", "/proc/timer_list",
    "/proc/sched_debug", "/proc/acpi", "/proc/scsi", "/proc/kpageflags", "/proc/kpagecount",
]  # fmt: skip


def test_nothing_there_is_writable(box):
    results = probe(box, "write", *WRITES)
    assert_refused(results, "EROFS", "EACCES", "ENOENT", "EPERM")
    assert results["/proc/sys/kernel/core_pattern"] in ("EROFS", "EACCES")
    assert results["/proc/sysrq-trigger"] in ("EROFS", "EACCES", "ENOENT")


def test_the_prober_could(box):
    """The positive control: root outside may open core_pattern for writing."""
    if box.who == "root":
        path = "/proc/sys/kernel/core_pattern"
        assert probe(box, "write", path, weirless=True)[path] == "open"


def test_nothing_secret_is_readable(box):
    there = [path for path in READS if os.path.exists(path)]
    assert_refused(probe(box, "read", *there), "EACCES", "EPERM")


@pytest.mark.parametrize("folder", ["/proc/sys", "/sys", "/proc/irq", "/proc/bus", "/proc/fs"])
def test_whole_trees(box, folder):
    done = box.sh(
        f"find {folder} -type f -perm /222 2>/dev/null | while read f; do "
        "if [ -w \"$f\" ] && (: >> \"$f\") 2>/dev/null; then echo $f; fi; done"
    )
    assert done.stdout == ""


def test_core_pattern_is_what_it_was(box):
    path = pathlib.Path("/proc/sys/kernel/core_pattern")
    before = path.read_text()
    box.sh("echo '|/bin/touch /tmp/pwned' > /proc/sys/kernel/core_pattern; kill -ABRT $$")
    assert path.read_text() == before


def test_own_processes_stay_adjustable(box):
    """What programs write about themselves goes on working."""
    done = box.sh("echo 500 > /proc/self/oom_score_adj && cat /proc/self/oom_score_adj; "
                  "echo name > /proc/$$/comm && cat /proc/$$/comm")  # fmt: skip
    assert done.stdout.split() == ["500", "name"]


def test_the_host_sees_no_mount(box):
    tree = {"filesystem": {"allowWrite": ["."]}}
    process = box.popen("-q", "sh", "-c", "grep -c . /proc/self/mountinfo; read x",
                        settings=tree, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
    assert int(process.stdout.readline()) > 5
    assert str(box.work) not in pathlib.Path("/proc/self/mountinfo").read_text()
    process.communicate(b"\n", timeout=30)
