"""tests/CASES.md says for each handed case and each row of attacks which tests show it, or
to which later part it belongs. Each test named there exists, and no row is missing or
there twice. usage: cases.py ROOT
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.tree import report  # noqa: E402

TABLE = "tests/CASES.md"
ROW = re.compile(r"^\| ([A-Z]+-?\d+) \|(.*)\|(.*)\|$", re.M)
TEST = re.compile(r"`([\w/]+\.(?:py|c))::(\w+)`")
LATER = re.compile(r"\bpart \d\b")
# Rows of attacks are numbered from 1 to this; handed cases have gaps, but a number.
SERIES = {"H": 18, "A": 18, "T": 12, "F": 27, "D": 14, "P": 18}
CASES = {"CFG": 9, "PRO": 21, "TLS": 2, "SBX": 18, "BYP": 6}


def functions(path, text):
    """Names of the tests in a file."""
    begin = r"^def (test_\w+)\(" if path.endswith(".py") else r"^static void (test_\w+)\("
    return set(re.findall(begin, text, re.M))


def check_rows(rows, tests):
    for case, _, where in rows:
        named = TEST.findall(where)
        if not named and not LATER.search(where):
            yield f"{TABLE}: {case}: neither a test nor a later part"
        for file, function in named:
            if function not in tests.get(file, set()):
                yield f"{TABLE}: {case}: there is no {file}::{function}"


def check_ids(ids):
    for case in sorted({case for case in ids if ids.count(case) > 1}):
        yield f"{TABLE}: {case} is there twice"
    for letter, last in SERIES.items():
        for case in (f"{letter}{number}" for number in range(1, last + 1)):
            if case not in ids:
                yield f"{TABLE}: {case} is missing"
    for word, count in CASES.items():
        found = len([case for case in ids if case.startswith(word + "-")])
        if found != count:
            yield f"{TABLE}: there are {count} cases {word}-, and {found} rows"


def check(table, tests):
    rows = ROW.findall(table)
    return [*check_rows(rows, tests), *check_ids([case for case, _, _ in rows])]


def self_test():
    row = "| H1 | x | `integration/test_1.py::test_H1_x` |\n"
    tests = {"integration/test_1.py": {"test_H1_x"}}
    for table, word in [
        (row.replace("_x`", "_y`"), "there is no integration/test_1.py::test_H1_y"),
        (row.replace("test_1", "test_2"), "there is no integration/test_2.py::test_H1_x"),
        (row.replace("`", ""), "H1: neither a test nor a later part"),
        (row, "H2 is missing"),
        (row + row, "H1 is there twice"),
        (row, "there are 9 cases CFG-, and 0 rows"),
    ]:
        problems = check(table, tests)
        if not any(word in problem for problem in problems):
            sys.exit(f"self-test: expected {word!r}, got {problems}")
    if any(re.search(r"\bH1\b", problem) for problem in check(row, tests)):
        sys.exit("self-test: fault was found with a row that is right")


def main(root):
    self_test()
    folder = pathlib.Path(root) / "tests"
    files = [*folder.glob("integration/test_*.py"), *folder.glob("unit/*/test_*.c")]
    tests = {
        str(path.relative_to(folder)): functions(path.name, path.read_text()) for path in files
    }
    report(check((pathlib.Path(root) / TABLE).read_text(), tests))


main(sys.argv[1])
