"""A full disk under --audit: nothing more is let through without its line, the user is
told, and the command ends as it does."""

import re
import subprocess

import pytest

# A disk of its own, and no byte of it free.
FULL = """
set -e
mount -t tmpfs -o size=64k,mode=1777 none "$1"
dd if=/dev/zero of="$1/filler" bs=4k 2>/dev/null || true
shift
exec "$@"
"""

# Asks until it is refused for the audit's sake, then ends with a status of its own.
ASKS = """
import socket, sys, time
for _ in range(400):
    with socket.create_connection(("127.0.0.1", 3128)) as s:
        s.sendall(b"CONNECT denied.test:443 HTTP/1.1\\r\\n\\r\\n")
        status = s.makefile("rb").readline().split(b" ")[1]
    if status == b"503":
        print("refused")
        sys.exit(7)
    assert status == b"403", status
    time.sleep(0.05)
"""


@pytest.fixture
def full(box):
    """full(*words): runs them with a full disk at box.home/disk."""
    disk = box.folder("disk", box.home)
    enter = ["unshare", "-m"] if box.uid == 0 else ["unshare", "-rm"]
    probe = subprocess.run(
        [*enter, "true"], preexec_fn=box.become, capture_output=True, text=True
    )
    if probe.returncode != 0:
        pytest.skip(f"no disk can be made for the test: {probe.stderr.strip()}")
    return lambda *words: box.run(
        *enter, "sh", "-c", FULL, "sh", disk, *words, weirless=True
    )


def test_full_audit(box, full):
    audit = box.home / "disk/audit.jsonl"
    done = full(box.weir, "run", "--audit", audit, "/usr/bin/python3", "-c", ASKS)
    assert (done.returncode, done.stdout) == (7, "refused\n"), done.stderr
    told = [line for line in done.stderr.splitlines() if "audit:" in line]
    assert len(told) == 2, done.stderr
    assert "cannot write to the audit file: No space left on device" in told[0]
    assert "requests are refused until then" in told[0]
    assert re.fullmatch(r"weir: audit: \d+ lines could not be written in time, and are lost",
                        told[1])  # fmt: skip


def test_a_command_that_asks_for_nothing(box, full):
    done = full(box.weir, "run", "--audit", box.home / "disk/audit.jsonl", "sh", "-c", "exit 3")
    assert (done.returncode, done.stderr) == (3, "")
