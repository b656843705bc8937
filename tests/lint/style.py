"""The part of the style that a program can check. usage: style.py ROOT

No // comments, files to 500 lines, functions to 60, no function that invites a mistake,
no name of a person's machine or folder, a licence line of ours or none.
"""

import os
import pathlib
import re
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.tree import (  # noqa: E402
    COMMENT, LITERAL, assert_samples, find, line_of, report, without_literals,
)  # fmt: skip

FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 60
ENDINGS = (".c", ".h", ".py", ".sh", ".cmake", ".md", ".json", ".txt")
CODE = (".c", ".h", ".py", ".sh")
# What to use instead stands behind each.
BANNED = {
    "goto": "a function, or autofd and autofree",
    "strcpy": "str or snprintf",
    "stpcpy": "str or snprintf",
    "strcat": "buf or snprintf",
    "sprintf": "snprintf",
    "vsprintf": "vsnprintf",
    "gets": "fgets",
    "alloca": "an arena or a fixed size",
    "atoi": "a parser that can refuse",
    "atol": "a parser that can refuse",
    "strtok": "str",
    "system": "execve, without a shell",
    "popen": "execve, without a shell",
}
WORD = re.compile(r"\b(" + "|".join(BANNED) + r")\b(?=\s*\()|\bgoto\b")
LICENCE = "SPDX-License-Identifier: Apache-2.0"
# Where anybody may have a checkout: such a path tells nothing about a machine.
COMMON_FOLDERS = {"src", "tmp", "var", "opt", "srv", "usr", "build", "builds", "mnt"}
PERSONAL = re.compile(r"(?<![\w.])(/Users/\w+|[A-Z]:\\Users\\\w+)")


def check_comments(path, text):
    for match in re.finditer(f"{LITERAL}|{COMMENT}", text, re.S):
        if match.group(0).startswith("//"):
            yield f"{path}:{line_of(text, match.start())}: a // comment; use /* */"


def check_words(path, text):
    code = without_literals(text)
    for match in WORD.finditer(code):
        word = match.group(0)
        at = line_of(code, match.start())
        yield f"{path}:{at}: {word} is not used here; instead: {BANNED[word]}"


def check_functions(path, text):
    """Formatted code has a function's braces alone in the first column."""
    start = None
    lines = without_literals(text).split("\n")
    for number, line in enumerate(lines, 1):
        if line.rstrip() == "{":
            start = number
        elif line.startswith("}") and start:
            length = number - start + 2  # with the line that names it
            if length > FUNCTION_LINES_MAX:
                yield f"{path}:{start - 1}: a function of {length} lines; at most {FUNCTION_LINES_MAX}"
            start = None


def check_licence(path, text):
    for number, line in enumerate(text.split("\n")[:20], 1):
        if "SPDX-" in line and (number > 2 or LICENCE not in line):
            yield f"{path}:{number}: the licence line is \"{LICENCE}\", in the first line"
        if re.search(r"\bCopyright\b|@author", line):
            yield f"{path}:{number}: no names and no dates in the head of a file"


def check_places(path, text, places):
    patterns = [re.compile(r"(?<![\w./-])" + re.escape(p) + r"(?![\w-])") for p in places]
    for pattern in [PERSONAL, *patterns]:
        match = pattern.search(text)
        if match:
            at = line_of(text, match.start())
            yield f"{path}:{at}: {match.group(0)!r} is a place on one machine only"


def check(path, text, places=()):
    problems = list(check_places(path, text, places))
    if path.endswith(CODE):
        count = text.count("\n")
        if count > FILE_LINES_MAX:
            problems.append(f"{path}:{count}: {count} lines; at most {FILE_LINES_MAX}")
        problems += check_licence(path, text)
    if path.endswith((".c", ".h")):
        for one in (check_comments, check_words, check_functions):
            problems += one(path, text)
    return problems


def places_of(root):
    """This checkout, this person's home and this machine's name: whoever runs the lint
    finds their own."""
    home = os.path.expanduser("~")
    checkout = pathlib.Path(root).resolve()
    places = [] if checkout.parts[1] in COMMON_FOLDERS else [str(checkout)]
    if home.count("/") >= 2:
        places.append(home)
    name = socket.gethostname()
    if len(name) > 5 and name not in ("localhost", "debian", "ubuntu"):
        places.append(name)
    return [place for place in places if place.count("/") != 1]


LONG = "static int f(void)\n{\n" + "    g();\n" * 58 + "}\n"
SAMPLES = [
    ("a.c", "int a; // no\n", "a // comment"),
    ("a.c", 'const char *a = "http://b.test";\n/* http://c.test */\n', None),
    ("a.c", "x\n" * 501, "501 lines"),
    ("a.py", "x\n" * 501, "501 lines"),
    ("a.c", LONG, "a function of 61 lines"),
    ("a.c", LONG.replace("    g();\n", "", 1), None),
    ("a.c", "    goto out;\n", "goto is not used"),
    ("a.c", "    strcpy (a, b);\n", "strcpy is not used"),
    ("a.c", '    err_set(e, "system (1)"); /* sprintf() */\n', None),
    ("a.c", "    return system(a);\n", "system is not used"),
    ("a.c", "bool atoi_strict(void);\nint file_system;\n", None),
    ("a.c", "/* SPDX-License-Identifier: MIT */\n", "the licence line is"),
    ("a.c", "/* SPDX-License-Identifier: Apache-2.0 */\n", None),
    ("a.c", "/* Copyright 2001 A. Nobody */\n", "no names"),
    ("a.md", "see /Users/" + "someone/weir\n", "one machine only"),
    ("a.md", "cd /srv/builds/weir && make\n", "one machine only"),
    ("a.md", "cd ../srv/builds/weir; x/srv/builds/weir\n", None),
]


def main(root):
    assert_samples(lambda p, t: check(p, t, ["/srv/builds/weir"]), SAMPLES)
    files = find(root, ENDINGS)
    for name in ("README.md", "bootstrap.sh", ".ci/run", "CMakeLists.txt"):
        path = pathlib.Path(root) / name
        if path.exists():
            files.append((name, path.read_text()))
    itself = "tests/lint/style.py"
    places = places_of(root)
    report([p for f, t in files if f != itself for p in check(f, t, places)])


main(sys.argv[1])
