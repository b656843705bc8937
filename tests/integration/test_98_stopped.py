"""The core stops when the command does, as a shell expects, and is not left behind when a
process inside lets the command go on or ends it: nobody outside would know to wake it."""

import pytest

ENDS = {
    "goes on": "(sleep 0.3; kill -CONT $$) & kill -STOP $$; echo on",
    "goes on at once": "i=0; while [ $i -lt 30 ]; do (kill -CONT $$; kill -CONT $$) & "
    "kill -STOP $$; i=$((i+1)); (sleep 0.02; kill -CONT $$) & done; echo on",
    "is killed": "(sleep 0.3; kill -KILL $$) & kill -STOP $$",
}


@pytest.mark.parametrize("end", ENDS)
def test_a_command_that_stopped(box, end):
    script = ENDS[end]
    if end == "goes on at once":
        # Whoever misses the first signals is woken by this one.
        script = "(i=0; while [ $i -lt 200 ]; do sleep 0.01; kill -CONT $$ || exit; i=$((i+1)); done) & " + script
    done = box.sh(script, timeout=30)
    if end == "is killed":
        assert done.returncode == 128 + 9
    else:
        assert done.returncode == 0 and done.stdout == "on\n", done.stderr
