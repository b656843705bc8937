"""The demo shows what it promises, with and without namespaces."""

import subprocess

import pytest
from support.program import SOURCE, run_weir, weir_path

DEMO = SOURCE / "tests/support/demo.py"


def demo(*args):
    done = subprocess.run(
        ["/usr/bin/python3", DEMO, weir_path(), *args], stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def assert_shows_the_main_job(text):
    assert "hello from outside" in text
    assert "is on the deny list" in text
    assert "resolved to a link-local address" in text
    for reason in ("allow-list", "deny-list", "address-link-local"):
        assert f'"reason":"{reason}"' in text


def test_through_the_gateway():
    text = demo("gateway")
    assert_shows_the_main_job(text)
    assert "through `weir gateway`" in text


def test_through_run(netns_pair):
    netns_pair()  # skips where there are none
    why = run_weir("run", "true")
    if why.returncode != 0:
        pytest.skip(f"weir run cannot be had here: {why.stderr.strip()}")
    text = demo()
    assert "cannot be shown" not in text
    assert_shows_the_main_job(text)
