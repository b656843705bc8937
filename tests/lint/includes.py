"""Who may include whom (README, "Layers").

Each layer sees proxy/base and itself, and only the outside libraries of its row; the
core joins all. Every include of ours is written from the root. A .c whose header stands
beside it includes that one first. usage: includes.py ROOT
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.tree import assert_samples, c_files, line_of, report  # noqa: E402

LEAVES = ("proxy/policy", "dns", "tls", "filters", "launcher")
# Outside libraries by the start of their headers' names; other headers are libc's or
# the kernel's and free for all.
LIBRARIES = {
    "ev.h": "libev", "llhttp.h": "llhttp", "cjson/": "cJSON", "idn2.h": "libidn2",
    "libpsl.h": "libpsl", "ares": "c-ares", "openssl/": "OpenSSL", "nghttp2/": "nghttp2",
    "seccomp.h": "libseccomp", "libmnl/": "libmnl", "libnftnl/": "libnftnl",
    "cmocka.h": "cmocka",
}  # fmt: skip
ROWS = {
    "proxy/base": {"libev", "llhttp", "cJSON", "libidn2"},
    "proxy/policy": {"cJSON", "libpsl"},
    "dns": {"c-ares", "libev"},
    "tls": {"OpenSSL", "nghttp2"},
    "filters": {"cJSON", "OpenSSL", "libev"},
    "launcher": {"cJSON", "libseccomp", "libmnl", "libnftnl"},
    "proxy": {"libev"},
}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)


def layer_of(path):
    """The row that a file of ours belongs to; None for tests and benchmarks of all."""
    unit = re.match(r"tests/unit/([a-z]+)/", path)
    if unit:
        name = unit.group(1)
        return f"proxy/{name}" if name in ("base", "policy") else name
    for row in ROWS:
        if row != "proxy" and path.startswith(row + "/"):
            return row
    return "proxy" if path.startswith("proxy/") else None


def may_see(layer, other):
    return layer in ("proxy", None) or other in (layer, "proxy/base", None)


def check_line(path, layer, quote, name, exists):
    if quote == "<":
        library = next((v for k, v in LIBRARIES.items() if name.startswith(k)), None)
        allowed = layer is None or library in ROWS[layer] | {None}
        if library == "cmocka":
            allowed = path.startswith("tests/")
        elif path.startswith("tests/"):
            allowed = True  # a test may look behind its layer, it links no other
        return None if allowed else f"{layer} may not use {library} (<{name}>)"
    if "/" not in name or name.startswith("."):
        return f'"{name}" is not written from the root'
    if not exists(name):
        return f'"{name}" does not exist'
    if not may_see(layer, layer_of(name)):
        return f'{layer} may not include "{name}"'
    return None


def check(path, text, exists):
    problems = []
    layer = layer_of(path)
    includes = list(INCLUDE.finditer(text))
    for match in includes:
        problem = check_line(path, layer, match.group(1), match.group(2), exists)
        if problem:
            problems.append(f"{path}:{line_of(text, match.start())}: {problem}")
    own = path[:-2] + ".h"
    if path.endswith(".c") and exists(own):
        if not includes or includes[0].group(2) != own:
            problems.append(f'{path}:1: its own header "{own}" does not come first')
    return problems


EXIST = {"proxy/base/fd.h", "proxy/policy/policy.h", "dns/resolver.h", "proxy/core.h",
         "tls/hello.h", "proxy/cmd/cmd.h", "tests/unit/check.h"}  # fmt: skip
SAMPLES = [
    ("dns/x.c", '#include "tls/hello.h"\n', 'dns may not include "tls/hello.h"'),
    ("proxy/base/x.c", '#include "proxy/core.h"\n', "proxy/base may not include"),
    ("proxy/policy/x.c", '#include "proxy/cmd/cmd.h"\n', "proxy/policy may not include"),
    ("tests/unit/dns/test_x.c", '#include "tls/hello.h"\n', "dns may not include"),
    ("dns/x.c", "# include <openssl/ssl.h>\n", "dns may not use OpenSSL"),
    ("proxy/x.c", "#include <seccomp.h>\n", "proxy may not use libseccomp"),
    ("proxy/x.c", "#include <cmocka.h>\n", "may not use cmocka"),
    ("dns/x.c", '#include "resolver.h"\n', "not written from the root"),
    ("dns/x.c", '#include "dns/nothing.h"\n', "does not exist"),
    ("dns/resolver.c", '#include <ev.h>\n#include "dns/resolver.h"\n', "come first"),
    ("dns/resolver.c", '#include "dns/resolver.h"\n#include <ares.h>\n', None),
    ("proxy/cmd/x.c", '#include "tls/hello.h"\n#include <stdio.h>\n', None),
    ("tests/fuzz/x.c", '#include "tls/hello.h"\n#include "dns/resolver.h"\n', None),
]


def main(root):
    assert_samples(lambda p, t: check(p, t, EXIST.__contains__), SAMPLES)
    files = c_files(root)
    names = {path for path, _ in files}
    if "proxy/main.c" not in names:
        sys.exit(f"{root}: no sources of weir there")
    report([p for path, text in files for p in check(path, text, names.__contains__)])


main(sys.argv[1])
