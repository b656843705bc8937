"""Waiting for something that will happen: a bound, never a measure of speed."""

import time

PAUSE = 0.005


def wait_until(ready, timeout, what):
    """Calls `ready` until it returns something true, and returns that.

    `what` is a text, or a function that makes one, for the failure.
    """
    end = time.monotonic() + timeout
    while True:
        result = ready()
        if result:
            return result
        if time.monotonic() > end:
            text = what() if callable(what) else what
            raise AssertionError(f"not within {timeout} s: {text}")
        time.sleep(PAUSE)
