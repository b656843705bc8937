"""Nobody inside types on the user's terminal."""

import json

from support.sandbox import PROBER, PYTHON

SPAWN = """
import os, pty, sys
got = []
def read(fd):
    data = os.read(fd, 65536)
    got.append(data)
    return data
status = pty.spawn(sys.argv[1:], read)
sys.exit(status >> 8)
"""


def results_of(box, *command):
    done = box.run(PYTHON, "-c", SPAWN, *command, weirless=True)
    line = [text for text in done.stdout.splitlines() if text.startswith("{")]
    assert line, done.stdout + done.stderr
    return json.loads(line[-1])


def test_terminal(box):
    results = results_of(
        box, box.weir, "run", "-q", PYTHON, "-c", PROBER.read_text(), "terminal"
    )
    assert results.pop("TIOCGWINSZ") == "open"
    assert set(results.values()) == {"EPERM"}, results


def test_terminals_of_others_are_not_there(box):
    done = box.sh("ls /dev/pts; ls /dev | tr '\\n' ' '")
    assert done.stdout.splitlines()[0] == "ptmx"
    assert "console" not in done.stdout and "tty0" not in done.stdout
