"""No two headers declare the same function or define the same struct. usage: names.py ROOT

The layers are static archives: of two functions with one name the linker silently takes
the first that it meets, whoever meant the other.
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.tree import c_files, line_of, report, without_literals  # noqa: E402

# In a formatted header whatever stands in the first column is at file scope.
FUNCTION = re.compile(r"^(?!typedef|static|#|extern)\w[\w \t\*]*?\b(\w+)\(", re.M)
DEFINITION = re.compile(r"^(?:struct|union|enum) (\w+) \{", re.M)


def declared(text):
    """(name, line) of every function that is declared and every type that is defined."""
    code = without_literals(text)
    for pattern in (FUNCTION, DEFINITION):
        for match in pattern.finditer(code):
            yield match.group(1), line_of(code, match.start(1))


def check(files):
    places = {}
    for path, text in files:
        for name, line in declared(text):
            places.setdefault(name, []).append(f"{path}:{line}")
    return [
        f"{where[-1]}: {name} is also in {', '.join(where[:-1])}"
        for name, where in sorted(places.items())
        if len({place.split(":")[0] for place in where}) > 1
    ]


SAMPLE = "bool keys_check(int a);\nstruct place {\n    int a;\n};\n/* bool b(void); */\n"
OTHER = "typedef bool keys_check_fn(int a);\nstruct place;\nbool b(void);\n"


def main(root):
    if len(check([("a.h", SAMPLE), ("b.h", SAMPLE)])) != 2:
        sys.exit("self-test: a name in two headers was not noticed")
    if check([("a.h", SAMPLE), ("b.h", OTHER)]):
        sys.exit("self-test: fault was found where there is none")
    ours = [(path, text) for path, text in c_files(root) if path.endswith(".h")]
    report(check([one for one in ours if not one[0].startswith("tests/")]))


main(sys.argv[1])
