"""Writes apt sources of another release, made from this machine's own.

usage: next_release.py --suites           the releases to try for llhttp, best first
       next_release.py SUITE FOLDER       writes FOLDER/next.list and next.sources

A source is taken when it serves this release's main suite (bookworm, not
bookworm-updates, -security or -backports, which the next release may not have and which
llhttp does not need) with a component of the distribution, is not disabled, and is
signed by the distribution's keyring; where none is signed so (a private mirror), by any.
Options, Signed-By among them, are kept.
"""

import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ.get("WEIR_APT_ROOT", "/"))
# Debian 13 is the first release with llhttp; of Ubuntu 25.04 is.
NEWER = {"debian": ["trixie"], "ubuntu": ["resolute", "questing", "plucky"]}
COMPONENTS = {"main", "universe"}
OFFICIAL = re.compile(r"/(debian|ubuntu)-archive-[\w.-]*$")
ONE_LINE = re.compile(r"deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+(.+)")


def os_release():
    text = (ROOT / "etc/os-release").read_text()
    pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line)
    return {key: value.strip().strip('"') for key, value in pairs}


def files(ending):
    parts = sorted((ROOT / "etc/apt/sources.list.d").glob(f"*{ending}"))
    main = ROOT / "etc/apt/sources.list"
    return ([main] if ending == ".list" and main.exists() else []) + parts


def from_lines(text, current, suite):
    """(line for the other suite, what it is signed by) of each line that will do."""
    for line in text.splitlines():
        match = ONE_LINE.match(line.split("#")[0].strip())
        if not match:
            continue
        options, uri, served, components = match.groups()
        kept = [word for word in components.split() if word in COMPONENTS]
        if served == current and kept:
            signed = re.search(r"signed-by=(\S+)", options or "", re.I)
            head = f"deb [{options}]" if options else "deb"
            line = f"{head} {uri} {suite} {' '.join(kept)}"
            yield line, signed.group(1) if signed else ""


def fields_of(stanza):
    """The fields of a deb822 stanza; the lines of one field stay together."""
    fields = {}
    key = None
    for line in stanza.splitlines():
        if line.startswith("#"):
            continue
        if line[:1] in (" ", "\t") and key:
            fields[key] += "\n" + line
        elif ":" in line:
            key, value = line.split(":", 1)
            key = key.strip().lower()
            fields[key] = value.strip()
    return fields


def from_stanzas(text, current, suite):
    # Only an empty line parts stanzas, a comment does not.
    for stanza in re.split(r"\n[ \t]*\n", text):
        fields = fields_of(stanza)
        kept = [c for c in fields.get("components", "").split() if c in COMPONENTS]
        enabled = fields.get("enabled", "yes").lower() not in ("no", "false", "0", "off")
        if (
            enabled
            and kept
            and "deb" in fields.get("types", "").split()
            and current in fields.get("suites", "").split()
        ):
            fields.update(types="deb", suites=suite, components=" ".join(kept))
            made = "".join(f"{key.title()}: {value}\n" for key, value in fields.items())
            yield made, fields.get("signed-by", "")


def is_official(signed):
    return not signed or bool(OFFICIAL.search(signed.strip()))


def write(current, suite, folder):
    found = {}
    for ending, read, join in (
        (".list", from_lines, "\n"),
        (".sources", from_stanzas, "\n"),
    ):
        texts = [path.read_text() for path in files(ending)]
        found[ending] = [one for text in texts for one in read(text, current, suite)]
    official = any(is_official(signed) for made in found.values() for _, signed in made)
    for ending, made in found.items():
        chosen = [text for text, by in made if not official or is_official(by)]
        if chosen:
            (folder / f"next{ending}").write_text("\n".join(chosen) + "\n")
    return any(found.values())


def main():
    release = os_release()
    family = release.get("ID", "")
    if family not in NEWER:
        likes = release.get("ID_LIKE", "").split()
        family = next((like for like in likes if like in NEWER), "")
    if sys.argv[1:] == ["--suites"]:
        print("\n".join(NEWER.get(family, [])))
        return
    suite, folder = sys.argv[1:]
    # A derivative (ID_LIKE) has code names of its own, and often says whose it follows.
    current = release.get("UBUNTU_CODENAME") or release.get("VERSION_CODENAME", "")
    current = release.get("DEBIAN_CODENAME") or current
    if not write(current, suite, pathlib.Path(folder)):
        sys.exit(f"weir: none of the apt sources here serves {current or 'a known suite'}")


main()
