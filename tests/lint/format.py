"""The sources are as clang-format leaves them. Versions differ in what they leave, so
only the one that the style file is written for counts. usage: format.py ROOT
"""

import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.tree import SKIP, c_files  # noqa: E402

VERSION = "14"


def find_formatter():
    for name in (f"clang-format-{VERSION}", "clang-format"):
        path = shutil.which(name)
        if path:
            text = subprocess.run([path, "--version"], capture_output=True, text=True)
            if re.search(rf"version {VERSION}\.", text.stdout):
                return path
    return None


def complains(formatter, root, *args, text=None):
    done = subprocess.run(
        [formatter, "--style=file", "--dry-run", "-Werror", *args],
        cwd=root, input=text, capture_output=True, text=True,
    )  # fmt: skip
    return done.stderr if done.returncode != 0 else ""


def main(root):
    formatter = find_formatter()
    if not formatter:
        print(f"skipped: clang-format {VERSION} is not installed")
        sys.exit(SKIP)
    if not complains(formatter, root, "--assume-filename=a.c", text="int  a ;\n"):
        sys.exit("self-test: a badly formatted sample was not noticed")
    if complains(formatter, root, "--assume-filename=a.c", text="int a;\n"):
        sys.exit("self-test: a well formatted sample was found fault with")
    problems = complains(formatter, root, *[path for path, _ in c_files(root)])
    print(problems, end="")
    sys.exit(1 if problems else 0)


main(sys.argv[1])
