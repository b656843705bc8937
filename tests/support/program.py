"""The program under test: where it is, and running it."""

import os
import pathlib
import subprocess

SOURCE = pathlib.Path(
    os.environ.get("WEIR_SOURCE") or pathlib.Path(__file__).resolve().parents[2]
)
COMPLAINTS = ("AddressSanitizer", "LeakSanitizer", "ThreadSanitizer", "runtime error:", "Assertion `")


def weir_path():
    """The binary named by WEIR, as ctest sets it; else that of the nearest build."""
    candidates = [os.environ.get("WEIR"), SOURCE / "build-dev/weir", SOURCE / "build/weir"]
    for path in candidates:
        if path and os.access(path, os.X_OK):
            return str(path)
    raise AssertionError("no weir is built: set WEIR to the path of the program")


def assert_sane(text):
    """No sanitizer and no assertion had something to say."""
    for word in COMPLAINTS:
        assert word not in text, text


def run_weir(*args, input=None, env=None, cwd=None, timeout=60):
    """Runs weir to its end. `env` is added to the environment; a value None removes."""
    done = subprocess.run(
        [weir_path(), *map(str, args)],
        input=input,
        stdin=subprocess.DEVNULL if input is None else None,
        env=merged(env),
        cwd=cwd,
        timeout=timeout,
        capture_output=True,
        text=True,
        errors="replace",
    )
    assert_sane(done.stderr)
    return done


PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


def merged(env):
    """This environment and, on top, `env`. The proxies of the machine are no test's."""
    result = {k: v for k, v in os.environ.items() if k.lower() not in PROXY_VARIABLES}
    for name, value in (env or {}).items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = str(value)
    return result
