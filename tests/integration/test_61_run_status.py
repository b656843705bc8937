"""The command's own end is the end of `weir run`; Weir's refusals are told apart."""

import json
import re

import pytest


@pytest.mark.parametrize("status", [0, 1, 2, 42, 125, 126, 127, 255])
def test_the_commands_status(box, status):
    assert box.sh(f"exit {status}").returncode == status


@pytest.mark.parametrize("number", [1, 2, 6, 9, 11, 15])
def test_the_commands_signal(box, number):
    assert box.sh(f"ulimit -c 0; kill -{number} $$").returncode == 128 + number


def test_not_found(box):
    done = box.run("no-such-program-here")
    assert done.returncode == 127 and "no-such-program-here" in done.stderr


def test_not_executable(box):
    path = box.write("plain", "#!/bin/sh\n")
    done = box.run(path)
    assert done.returncode == 126 and str(path) in done.stderr


def test_options_of_the_command_are_its_own(box):
    done = box.run("printf", "%s|", "-s", "-q", "--allow", "--")
    assert done.stdout == "-s|-q|--allow|--|"
    assert box.run("--", "echo", "-n", "x").stdout == "x"


def test_a_script(box):
    done = box.run("-c", "echo $((6 * 7)); exit 3")
    assert (done.stdout, done.returncode) == ("42\n", 3)
    done = box.run("-c", "true", "left", "over")
    assert done.returncode == 125 and "left" in done.stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "expected a command"),
        (["--alow", "a.test", "true"], "--allow"),
        (["--launcher", "bwrap", "true"], "not supported yet"),
        (["--launcher", "namespaes", "true"], "namespaces"),
        (["--launcher", "other", "true"], "unknown launcher"),
        (["-s", "/does/not/exist.json", "true"], "/does/not/exist.json"),
        (["--allow", "*.com", "true"], 'weir: --allow: network.allowedDomains[0]: "*.com"'),
        (["--audit", "/does/not/exist/a", "true"], "/does/not/exist/a"),
    ],
)
def test_refusals(box, args, words):
    mark = box.work / "ran"
    done = box.run(*[f"touch {mark}" if arg == "true" else arg for arg in args])
    assert done.returncode == 125 and words in done.stderr
    assert not mark.exists()


def test_the_settings_are_not_blamed_for_an_option(box):
    tree = {"network": {"allowedDomains": ["a.test"]}}
    done = box.run("--allow", "https://b.test/", "true", settings=tree)
    assert done.stderr.startswith("weir: --allow: network.allowedDomains[0]: ")
    done = box.run("--allow", "*.github.io", "true", settings=tree, quiet=False)
    assert done.stderr.startswith("weir: warning: --allow: network.allowedDomains[0]: ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("{", "line 1"),
        ('{"netwrok": {}}', "network"),
        ('{"network":\n {"allowedDomains": ["*.com"]}}', "line 2: network.allowedDomains[0]"),
        ('{"filesystem":\n {"denyRead": [7]}}', "line 2: filesystem.denyRead[0]"),
        ('{"filesystem":\n {"allowRaed": []}}', "allowRead"),
        ('{"filesystem": {"denyRead": "x"}}', "filesystem.denyRead: expected a list"),
        ('{"filesystem": {"denyRead": [""]}}', "empty"),
        ('{"filesystem": {"denyRead": [{"path": "x", "literl": true}]}}', "literal"),
        ('{"filesystem": {"denyRead": [{"path": "x", "literal": false}]}}', "literal"),
    ],
)
def test_broken_settings_start_nothing(box, text, words):
    done = box.sh("touch ran", settings=text)
    assert done.returncode == 125 and words in done.stderr, done.stderr
    assert "settings1.json" in done.stderr
    assert not (box.work / "ran").exists()


CSI = "\u009b"  # what "ESC [" is, in one character


def test_nothing_that_is_printed_steers_the_terminal(box):
    """Names of files, words of the command and of the settings are others' texts."""
    box.write(f"x{CSI}2J")
    file = box.write(f"s{CSI}.json", json.dumps({
        "network": {"deniedDomains": ["evil.test"], "deniedDomainReasons": {"evil.test": f"no{CSI}2J"}},
        "filesystem": {"denyRead": [f"x{CSI}2J"], "allowWrite": [f"absent{CSI}"]},
    }))  # fmt: skip
    through = box.write("through.json", json.dumps(
        {"network": {"mitmProxy": {"socketPath": f"/p{CSI}", "domains": ["a.test"]}}}
    ))  # fmt: skip
    for words in (["check", "-s", file, "evil.test:1"], ["check", "--json", "-s", file, "evil.test:1"],
                  ["check", "-s", file], ["run", "--explain", "-s", file, f"a{CSI}\nb"],
                  ["run", "-s", file, f"nix{CSI}"], ["run", "-s", f"{file}{CSI}", "true"],
                  ["run", "--explain", "-s", through, "true"],
                  [f"nix{CSI}"], ["run", f"--nix{CSI}"]):  # fmt: skip
        done = box.run(box.weir, *words, weirless=True)
        said = done.stdout + done.stderr
        assert not re.search("[\u0080-\u009f]", said), (words, said)
        assert "9b" in said, (words, said)


def test_explain_runs_nothing(box):
    box.write("secret")
    tree = {
        "network": {"allowedDomains": ["a.test:443"], "deniedDomains": ["b.test"]},
        "filesystem": {"allowWrite": ["."], "denyRead": ["secret"]},
    }
    done = box.run("--explain", "--allow", "c.test", "touch", "ran", settings=tree)
    assert done.returncode == 0, done.stderr
    for word in (
        str(box.work), f"hidden     {box.work}/secret", "filesystem.denyRead[0]",
        "network.allowedDomains[0]", "network.deniedDomains[0]", "c.test  (--allow)",
        "http_proxy=http://127.0.0.1:3128", "TIOCSTI", "io_uring_setup",
    ):  # fmt: skip
        assert word in done.stdout, word
    assert not (box.work / "ran").exists()
