"""Invoked as `srt`, weir takes the command line of srt."""

import json
import subprocess

import pytest

from support.program import SOURCE


@pytest.fixture
def srt(box):
    """srt(*words) runs weir by that name, to its end."""
    path = box.top / "srt"
    path.symlink_to(box.weir)
    return lambda *words, **more: box.run(path, *words, weirless=True, **more)


def test_a_command_with_its_options(srt):
    assert srt("printf", "%s|", "-s", "-d", "-c", "--control-fd").stdout == (
        "-s|-d|-c|--control-fd|"
    )
    assert srt("-d", "--", "echo", "-n", "a b").stdout == "a b"
    done = srt("echo one")
    assert done.returncode == 127 and "echo one" in done.stderr


def test_a_script_is_for_bash(srt):
    done = srt("-c", "a=(6 7); [[ x == x ]] && echo $((a[0] * a[1])); exit 3")
    assert (done.stdout, done.returncode) == ("42\n", 3)
    assert srt("-dc", "kill -9 $$").returncode == 137
    done = srt("-c", "true", "left", "over")
    assert done.returncode == 125 and "left" in done.stderr


def test_its_own_settings_file_and_no_other(srt, box):
    """What lies where weir itself looks would be an error, were it read."""
    box.write(".config/weir/settings.json", "{ this is none }", box.home)
    writes = ("sh", "-c", "echo x > there")
    assert box.run("true").returncode == 125
    assert srt("true").returncode == 0
    assert srt(*writes).returncode != 0
    tree = {"filesystem": {"allowWrite": [str(box.work)]}}
    box.write(".srt-settings.json", json.dumps(tree), box.home)
    assert srt(*writes).returncode == 0
    assert (box.work / "there").read_text() == "x\n"
    assert srt("-s", box.settings({}), *writes).returncode != 0
    assert srt(f"--settings={box.settings(tree)}", *writes).returncode == 0


@pytest.mark.parametrize("text", ["", "{", '{"network": {"allowedDomain": []}}', "[]"])
def test_a_file_that_does_not_load_is_no_default(srt, box, text):
    path = box.write(".srt-settings.json", text, box.home)
    done = srt("echo", "started")
    assert (done.returncode, done.stdout) == (125, "") and str(path) in done.stderr
    done = srt("-s", box.top / "absent.json", "echo", "started")
    assert (done.returncode, done.stdout) == (125, "") and "absent.json" in done.stderr
    path.unlink()
    box.link(".srt-settings.json", "nowhere", box.home)
    done = srt("echo", "started")
    assert (done.returncode, done.stdout) == (125, "") and str(path) in done.stderr


ASK = "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT a.test:443 HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3"


def test_debugging_tells_each_request(srt, box):
    told = "weir: debug: denied a.test:443 (not-on-allow-list)\n"
    for words, env in [(("-d",), {}), (("--debug",), {}), ((), {"SRT_DEBUG": "0"})]:
        assert told in srt(*words, "-c", ASK, env=env).stderr
    assert told not in srt("-c", ASK, env={"SRT_DEBUG": ""}).stderr
    assert told in box.run("-v", "bash", "-c", ASK, quiet=False).stderr


@pytest.mark.parametrize("words, says", [
    (("--control-fd", "3", "true"), "descriptor 3 cannot be read"),
    (("--control-fd=x", "-c", "true"), "3 or higher"),
    (("proxy",), "weir gateway -f FILE"), (("proxy", "--listen", "x"), "weir gateway"),
    (("windows-install",), "Windows"), (("windows-uninstall", "--force"), "Windows"),
    ((), "expected a command; see srt --help"), (("-d",), "expected a command"),
    (("--sublayer-guid", "x"), "unknown option --sublayer-guid"),
    (("--setings", "x"), "did you mean --settings"), (("-s",), "takes a FILE"),
    (("-c", ""), "empty"),
])  # fmt: skip
def test_what_is_refused_and_what_to_do_instead(srt, words, says):
    done = srt(*words)
    assert (done.returncode, done.stdout) == (125, "")
    assert says in done.stderr and done.stderr.count("\n") == 1


def test_a_command_of_such_a_name(srt, box):
    path = box.write("bin/proxy", "#!/bin/sh\necho it is I\n")
    path.chmod(0o755)
    env = {"PATH": f"{path.parent}:/usr/bin:/bin"}
    assert srt("--", "proxy", env=env).stdout == "it is I\n"


def test_help_and_version(srt, box):
    for word in ("-h", "--help"):
        done = srt(word)
        assert done.returncode == 0 and done.stdout.startswith("usage: srt ")
    assert done.stdout == box.run(box.weir, "help", "srt", weirless=True).stdout
    assert srt("-d", "--version").stdout.startswith("weir ")
    assert srt("printf", "%s", "--version").stdout == "--version"


def test_the_manual_page_and_the_completion_have_its_options(box):
    lines = box.run(box.weir, "help", "--list", "srt", weirless=True).stdout.splitlines()
    options = {line.split(" ")[1] for line in lines}
    assert {"--settings", "--command", "--debug", "--control-fd"} <= options
    manual = (SOURCE / "proxy/data/weir.1").read_text().replace("\\-", "-")
    section = manual.split("\n.SS srt\n")[1].split("\n.SH")[0].split("\n.SS")[0]
    assert all(option in section for option in options)


def test_bash_offers_its_options(box):
    script = f"""
        PATH={box.weir.parent}:$PATH
        source {SOURCE}/proxy/data/weir.bash
        COMP_WORDS=(srt "$@"); COMP_CWORD=$#
        _weir_srt
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """

    def offered(*words):
        done = subprocess.run(["bash", "--norc", "-c", script, "bash", *words],
                              capture_output=True, text=True, timeout=60)  # fmt: skip
        assert done.returncode == 0 and done.stderr == "", done.stderr
        return set(done.stdout.split())

    assert {"-s", "--settings", "-c", "--debug", "--help"} <= offered("-")
    assert offered("-d", "--set") == {"--settings"}
    assert "true" in offered("-d", "tru") and "--settings" not in offered("true", "--set")
