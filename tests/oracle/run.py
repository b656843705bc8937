"""The two tests of tests/oracle, and the way to new vectors (README.md).

usage: run.py compare PROGRAM   the vectors of the tree against Weir's policy
       run.py live FOLDER       makes them anew in FOLDER, compares with the tree
       run.py update FOLDER     makes them anew in FOLDER, replaces those of the tree
"""

import gzip
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FILES = ("names.txt", "addresses.txt")
SKIP = 77
NODE_MIN = 18
# npm says so when it cannot reach its registry, or when the certificate of whoever
# answers in its place is not trusted here; anything else of it is a failure.
UNREACHABLE = re.compile(
    r"\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH"
    r"|ERR_SOCKET_TIMEOUT|E403|E407|E5\d\d|ENOTCACHED|SELF_SIGNED_CERT_IN_CHAIN"
    r"|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?"
    r"|UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERT_UNTRUSTED)\b"
)


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)


def stored(name):
    return gzip.decompress((HERE / "vectors" / f"{name}.gz").read_bytes())


def compare(program):
    """One run over both files, so that every predicate can show that it is needed."""
    vectors = b"".join(stored(name) for name in FILES)
    sys.exit(subprocess.run([program], input=vectors, check=False).returncode)


def need_node():
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            skip(f"no {program} here; the vectors of the tree are compared all the same")
    text = subprocess.run(
        ["node", "--version"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if int(text.lstrip("v").split(".")[0]) < NODE_MIN:
        skip(f"node {text} is too old for the peer, which needs {NODE_MIN}")


def install(folder):
    """The peer as the lock file pins it, into the build folder; no script of it runs."""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, folder / name)
    done = subprocess.run(
        ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--cache",
         str(folder / "cache")],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode == 0:
        return
    print(done.stderr)
    if UNREACHABLE.search(done.stderr):
        skip("npm cannot reach its registry (its message stands above)")
    sys.exit("npm ci failed")


def generate(folder):
    need_node()
    folder.mkdir(parents=True, exist_ok=True)
    install(folder)
    # The modules stand beside the peer: what they import is found from there.
    subprocess.run(
        ["node", str(HERE / "generate.mjs"), str(folder / "node_modules"), str(folder)],
        check=True,
    )


def first_difference(old, new):
    pairs = zip(old.splitlines() + [b"(end)"], new.splitlines() + [b"(end)"])
    for number, (a, b) in enumerate(pairs, 1):
        if a != b:
            return f"line {number}: the tree has {a!r}, srt now says {b!r}"
    return "the files end differently"


def live(folder):
    generate(folder)
    wrong = 0
    for name in FILES:
        old, new = stored(name), (folder / name).read_bytes()
        if old != new:
            print(f"{name}: {first_difference(old, new)}")
            wrong += 1
        else:
            print(f"{name}: {len(new.splitlines())} lines, all as in the tree")
    sys.exit(1 if wrong else 0)


def update(folder):
    generate(folder)
    for name in FILES:
        packed = gzip.compress((folder / name).read_bytes(), 9, mtime=0)
        (HERE / "vectors" / f"{name}.gz").write_bytes(packed)


def main(verb, where):
    if verb == "compare":
        compare(where)
    elif verb == "live":
        live(pathlib.Path(where))
    elif verb == "update":
        update(pathlib.Path(where))
    else:
        sys.exit(__doc__)


if len(sys.argv) != 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
