"""The shell scripts pass shellcheck. usage: shell.py ROOT"""

import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.tree import SKIP, find  # noqa: E402


def complaints(*args, text=None):
    done = subprocess.run(
        ["shellcheck", "--format=gcc", "--external-sources", *args],
        input=text, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout + done.stderr if done.returncode != 0 else ""


def main(root):
    if not shutil.which("shellcheck"):
        print("skipped: shellcheck is not installed")
        sys.exit(SKIP)
    if "SC2086" not in complaints("--shell=bash", "-", text='rm -r $1\n'):
        sys.exit("self-test: an unquoted variable was not noticed")
    names = ["bootstrap.sh", ".ci/run"] + [path for path, _ in find(root, (".sh",))]
    paths = [pathlib.Path(root) / name for name in names]
    paths = [str(path) for path in paths if path.exists()]
    problems = complaints(*paths) if paths else ""
    print(problems, end="")
    sys.exit(1 if problems else 0)


main(sys.argv[1])
