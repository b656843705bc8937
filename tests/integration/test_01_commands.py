"""The table of commands: help, version, and what is no command."""

import subprocess

from support.program import weir_path


def run_as(name, *args, stdout=subprocess.PIPE):
    """weir under another argv[0]."""
    return subprocess.run(
        [name, *args], executable=weir_path(), stdout=stdout,
        stderr=subprocess.PIPE, text=True, timeout=60,
    )  # fmt: skip


def listed(weir):
    """{command: {option: (letter, value)}} as `weir help --list` tells programs."""
    commands = {}
    for line in weir("help", "--list").stdout.splitlines():
        command, option, letter, value, text = line.split(" ", 4)
        assert text.strip()
        commands.setdefault(command, {})
        if option != ".":
            commands[command][option] = (letter, value)
    return commands


def test_help_lists_each_command_and_tells_more_of_each(weir):
    overview = weir("help")
    assert overview.returncode == 0 and overview.stderr == ""
    commands = listed(weir)
    assert {"help", "version"} <= commands.keys()
    for command, options in commands.items():
        assert f"\n  {command} " in overview.stdout
        by_name, by_option = weir("help", command), weir(command, "--help")
        assert by_name.returncode == by_option.returncode == 0
        assert by_name.stdout == by_option.stdout
        assert f"weir {command}" in by_name.stdout
        for option in options:
            assert option in by_name.stdout


def test_version(weir):
    for word in ("version", "--version", "-V"):
        done = weir(word)
        assert done.returncode == 0
        name, number = done.stdout.split()
        assert name == "weir" and number[0].isdigit()


def test_what_is_no_command_is_refused_with_the_nearest(weir):
    for words, says in [
        ((), "expected a command"),
        (("hepl",), 'did you mean "help"?'),
        (("frobnicate",), 'no command "frobnicate"'),
        (("help", "versoin"), 'did you mean "version"?'),
        (("help", "help", "more"), '"more" is not expected'),
        (("version", "--frobnicate"), "unknown option --frobnicate"),
        (("version", "more"), '"more" is not expected'),
    ]:
        done = weir(*words)
        assert done.returncode == 2 and done.stdout == "", words
        assert says in done.stderr and done.stderr.startswith("weir: ")
        assert done.stderr.count("\n") == 1


def test_answers_that_cannot_be_written_are_an_error():
    with open("/dev/full", "w") as full:
        done = run_as("weir", "help", stdout=full)
    assert done.returncode == 2 and "standard output" in done.stderr
