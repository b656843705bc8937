"""The completions of the shells offer what the program offers."""

import os
import shutil
import subprocess

import pytest
from support.program import SOURCE, weir_path

DATA = SOURCE / "proxy/data"


def listed(weir):
    """[(command, option, letter, value)] as the program tells them."""
    lines = weir("help", "--list").stdout.splitlines()
    return [tuple(line.split(" ", 4)[:4]) for line in lines]


def options_of(weir, command):
    rows = [row for row in listed(weir) if row[0] == command and row[1] != "."]
    return {word for row in rows for word in row[1:3] if word != "."}


@pytest.fixture
def path(tmp_path):
    """An environment in which `weir` is the program under test."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/weir").symlink_to(weir_path())
    return {**os.environ, "PATH": f"{tmp_path}/bin:/usr/bin:/bin", "HOME": str(tmp_path)}


@pytest.fixture
def bash(path, tmp_path):
    """bash(*words) -> what is offered for the last of them."""
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "a file.json").write_text("{}")
    script = f"""
        source {DATA}/weir.bash
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${{#COMP_LINE}}
        _weir
        ((${{#COMPREPLY[@]}} == 0)) || printf '%s\\n' "${{COMPREPLY[@]}}"
    """

    def complete(*words):
        done = subprocess.run(
            ["bash", "--norc", "-c", script, "bash", *words], env=path, cwd=folder,
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0 and done.stderr == "", done.stderr
        return set(done.stdout.splitlines())

    return complete


def test_bash_offers_commands(weir, bash):
    commands = {row[0] for row in listed(weir)}
    assert {"check", "help", "version"} <= commands
    assert bash("weir", "") == commands | {"--help", "--version"}
    assert bash("weir", "che") == {"check"}
    assert bash("weir", "help", "") == commands


def test_bash_offers_each_option_of_each_command(weir, bash):
    for command in {row[0] for row in listed(weir)}:
        offered = bash("weir", command, "-")
        assert offered == options_of(weir, command) | {"--help"}, command
        assert bash("weir", command, "--help", "--") >= {"--help"}


def test_bash_offers_files_where_a_file_belongs(bash):
    for words in [
        ("weir", "check", "-s", ""),
        ("weir", "check", "--settings", "a"),
        ("weir", "check", "--settings", "=", "a"),
        ("weir", "check", "--settings", "="),
        ("weir", "check", "-q", "--file", "a f"),
    ]:
        assert bash(*words) == {"a file.json"}, words
    assert bash("weir", "check", "-s", "x", "-") > {"--json"}
    assert bash("weir", "check", "--settings", "=", "x", "-") > {"--json"}
    assert not bash("weir", "check", "--as", "")


def test_bash_stops_at_the_first_word_that_is_no_option(bash):
    assert not bash("weir", "check", "a.test", "--js")
    assert not bash("weir", "check", "--", "--js")
    assert not bash("weir", "frobnicate", "")
    assert "--json" in bash("weir", "check", "-q", "--js")


def test_bash_offers_programs_where_run_takes_one(bash):
    assert "true" in bash("weir", "run", "-q", "tru")
    assert "true" in bash("weir", "run", "--", "tru")
    assert bash("weir", "run", "cat", "a f") == {"a file.json"}
    assert bash("weir", "run", "-s", "a") == {"a file.json"}


def shell(name):
    found = shutil.which(name) or pytest.skip(f"{name} is not installed")
    return found


def test_zsh_can_read_its_completion():
    done = subprocess.run(
        [shell("zsh"), "-n", DATA / "_weir"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and done.stderr == ""


def test_fish_offers_each_option_of_each_command(weir, path):
    def complete(line):
        script = f"source {DATA}/weir.fish; complete -C '{line}'"
        done = subprocess.run(
            [shell("fish"), "--no-config", "-c", script], env=path,
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return {entry.split("\t")[0] for entry in done.stdout.splitlines()}

    commands = {row[0] for row in listed(weir)}
    assert complete("weir ") >= commands
    for command in commands:
        long_ones = {word for word in options_of(weir, command) if word.startswith("--")}
        assert complete(f"weir {command} --") >= long_ones | {"--help"}
    lines = weir("help", "--list", "srt").stdout.splitlines()
    assert complete("srt --") >= {line.split(" ")[1] for line in lines} | {"--help"}
    assert "true" in complete("srt -d tru")
