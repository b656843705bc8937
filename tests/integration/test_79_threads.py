"""What threads share is shared rightly: the scenarios of several workers, against a build
with ThreadSanitizer (the profile `tsan`)."""

import os
import pathlib
import subprocess
import sys

import pytest

from support.program import SOURCE

BUILD = SOURCE / "build-tsan"
SCENARIOS = ["test_73_workers", "test_74_reload", "test_75_drain", "test_78_systemd"]


def run(*words, **more):
    return subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, errors="replace",
        stdin=subprocess.DEVNULL, **more,
    )  # fmt: skip


@pytest.fixture(scope="module")
def weir():
    """The program, built anew where something has changed."""
    if os.environ.get("WEIR_PROFILE") == "release":
        pytest.skip("sources are the same in each profile: the run of `dev` has it")
    for words in (["--preset", "tsan", "-G", "Ninja"], ["--build", BUILD, "--target", "weir"]):
        done = run("cmake", *words, cwd=SOURCE, timeout=900)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return BUILD / "weir"


@pytest.fixture(scope="module")
def prefix(weir):
    """Older runtimes cannot start where addresses are spread too widely."""
    for words in ([], ["setarch", "-R"]):
        done = run(*words, weir, "--version")
        if done.returncode == 0:
            return words
    pytest.skip(f"ThreadSanitizer does not start here: {done.stderr.strip()[:200]}")


def run_scenario(weir, prefix, scenario, *more):
    file = pathlib.Path(__file__).with_name(scenario + ".py")
    done = run(
        *prefix, sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", file,
        *more, env={**os.environ, "WEIR": str(weir), "WEIR_PROFILE": "tsan"}, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-8000:]
    assert " passed" in done.stdout


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_clean(weir, prefix, scenario):
    run_scenario(weir, prefix, scenario)
