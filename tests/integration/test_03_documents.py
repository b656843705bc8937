"""What README and the manual page say is what the program does."""

import re

import pytest
from support.program import SOURCE

README = (SOURCE / "README.md").read_text()
MANUAL = (SOURCE / "proxy/data/weir.1").read_text().replace("\\-", "-")


def table(name):
    """The first two cells of each row of a table between its two comments."""
    text = README.split(f"<!-- {name}:")[1].split("<!-- end of")[0]
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def test_every_reason_is_explained_and_no_other():
    source = (SOURCE / "proxy/policy/reasons.c").read_text()
    words = re.findall(r'\[REASON_\w+\]\s*=\s*\{\s*"([a-z-]+)"', source)
    enum = (SOURCE / "proxy/policy/policy.h").read_text().split("enum reason {")[1]
    declared = re.findall(r"^    (REASON_\w+)", enum.split("};")[0], re.M)
    declared.remove("REASON_COUNT")
    assert len(declared) > 20 and len(words) == len(declared)
    assert not [name for name in declared if f"[{name}]" not in source]
    assert sorted(row[0].strip("`") for row in table("reasons")) == sorted(words)


def test_the_layers_are_those_of_the_lint():
    lint = (SOURCE / "tests/lint/includes.py").read_text()
    rows = eval(re.search(r"^ROWS = (\{.*?^\})", lint, re.S | re.M).group(1))
    stated = {row[0].strip("`"): set(row[2].split(", ")) for row in table("layers")}
    assert stated == rows


def options_of(weir):
    """{command: {option, ...}} as the program itself lists them."""
    result = {}
    for line in weir("help", "--list").stdout.splitlines():
        command, option = line.split(" ")[:2]
        result.setdefault(command, set()).update({option} - {"."})
    return result


def test_the_manual_page_has_every_option_of_every_command(weir):
    for command, options in options_of(weir).items():
        section = re.search(rf'^\.SS "?weir {command}\b.*?(?=^\.S[SH]|\Z)', MANUAL, re.S | re.M)
        assert section, f"weir.1 has no section for weir {command}"
        stated = set(re.findall(r"(?<![\w-])--[a-z-]+", section.group(0)))
        assert stated == options, command


@pytest.mark.parametrize(
    "file",
    ["proxy/settings.c", "proxy/gateway_settings.c", "proxy/limits.c", "proxy/policy/network_keys.c"],
)
def test_every_key_of_a_file_is_in_the_reference(file):
    path = SOURCE / file
    assert path.exists(), f"{file} has gone: name the file with the keys here"
    keys = set(re.findall(r'\{"([a-zA-Z0-9]+)", (?:KEY|FATE)_', path.read_text()))
    stated = set(re.findall(r"`(?:\w+\.)?([a-zA-Z0-9]+)`|^### (\w+)$", README, re.M))
    stated = {word for pair in stated for word in pair}
    stated |= set(re.findall(r"`(\w+)\.\w+`", README))  # `audit.file` names audit too
    assert len(keys) > 5 and keys <= stated
