"""What the lints share: the files of the tree, and how a lint is run.

A lint is a function (path, text) -> problems. Before it looks at the tree it is shown
samples that it must find fault with, so that a lint which has stopped working fails.
"""

import pathlib
import re
import sys

FOLDERS = ("proxy", "dns", "tls", "filters", "launcher", "tests", "bench")
SKIP = 77  # ctest shows "Skipped" for it


def c_files(root):
    return find(root, (".c", ".h"))


def find(root, endings, folders=FOLDERS):
    """(path relative to root as text, text) of each file, sorted."""
    root = pathlib.Path(root)
    paths = [
        path
        for folder in folders
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in endings and "node_modules" not in path.parts
    ]
    return [(str(p.relative_to(root)), p.read_text(errors="replace")) for p in paths]


def blank(match):
    """The same text without what stood in it, line for line."""
    return re.sub(r"[^\n]", " ", match.group(0))


COMMENT = r"/\*.*?\*/|//[^\n]*"
LITERAL = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''


def without_literals(text):
    """C without comments, strings and characters; lines stay where they are."""
    return re.sub(f"{LITERAL}|{COMMENT}", blank, text, flags=re.S)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def assert_samples(check, samples):
    """Each sample is (path, text, word of the expected problem, or None for none)."""
    for path, text, word in samples:
        problems = check(path, text)
        found = any(word in problem for problem in problems) if word else not problems
        if not found:
            sys.exit(f"self-test: {path}: expected {word!r}, got {problems} for:\n{text}")


def report(problems):
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)
