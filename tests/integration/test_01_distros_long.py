"""A clean clone on a new Debian: one command shows the main job, one runs every test.
Nothing is installed by hand."""

import os
import shutil
import subprocess
import tempfile

import pytest
from support.program import SOURCE

DISTRO = SOURCE / "tests/support/distro.sh"
USER = "visitor"


@pytest.fixture(scope="module", params=["bookworm", "trixie"])
def system(request):
    """The root folder of a new system."""
    if os.geteuid() != 0:
        pytest.skip("making a system needs root")
    for tool in ("debootstrap", "git"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
    # Not under /tmp, which may be small or mounted nodev.
    with tempfile.TemporaryDirectory(prefix="weir-distro-", dir="/var/tmp") as folder:
        root = f"{folder}/root"
        done = subprocess.run(
            ["bash", DISTRO, "make", request.param, root, SOURCE],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1800,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        yield root


def run(root, *command, timeout):
    done = subprocess.run(
        ["bash", DISTRO, "run", root, *command],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", timeout=timeout,
    )  # fmt: skip
    print(done.stdout)  # pytest shows it when something fails
    return done


def test_the_demo_needs_one_command(system):
    done = run(system, "./bootstrap.sh", "demo", timeout=3600)
    assert done.returncode == 0
    assert "that is the main job" in done.stdout
    assert "cannot be shown" not in done.stdout


def test_the_demo_works_for_an_ordinary_user(system):
    """With what is needed installed, neither root nor sudo is asked for."""
    script = (
        f"useradd -m {USER} && cp -r /src/weir /home/{USER}/weir"
        f" && chown -R {USER} /home/{USER}/weir"
        f" && su {USER} -c 'cd ~/weir && rm -rf build && ./bootstrap.sh demo'"
    )
    done = run(system, "sh", "-c", script, timeout=1800)
    assert done.returncode == 0
    assert "that is the main job" in done.stdout


def test_every_test_passes(system):
    done = run(system, "bash", ".ci/run", timeout=7200)
    assert done.returncode == 0
    assert " 0 failed" in done.stdout.strip().splitlines()[-1]
