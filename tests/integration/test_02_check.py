"""weir check: what would be decided, by which rule and why."""

import json
import os
import pathlib
import re
import subprocess

import pytest
from support.program import weir_path

SOURCE = pathlib.Path(os.environ.get("WEIR_SOURCE") or pathlib.Path(__file__).parents[2])


@pytest.fixture
def settings(tmp_path):
    """settings(tree or text) -> path of a settings file."""

    def write(tree, name="settings.json"):
        path = tmp_path / name
        path.write_text(tree if isinstance(tree, str) else json.dumps(tree, indent=1))
        return path

    return write


@pytest.fixture
def allow(settings):
    """allow(*entries, **more of `network`) -> path of a settings file."""
    return lambda *entries, **more: settings(
        {"network": {"allowedDomains": list(entries), **more}}
    )


def verdicts(done):
    """{asked: object} of the lines that --json printed."""
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["asked"]: line for line in lines}


def test_exit_status_and_lines(weir, allow):
    file = allow("a.test", "*.b.test:8443")
    done = weir("check", "-s", file, "a.test:80", "x.b.test:8443")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.splitlines() == [
        'allowed  a.test:80  allow-list, network.allowedDomains[0] "a.test"',
        'allowed  x.b.test:8443  allow-list, network.allowedDomains[1] "*.b.test:8443"',
    ]
    done = weir("check", "-s", file, "a.test:80", "x.b.test:443")
    assert done.returncode == 1 and done.stderr == ""
    assert done.stdout.splitlines()[1].startswith("denied   x.b.test:443  ")
    assert "(not-on-allow-list)" in done.stdout
    assert f'to allow it: add "x.b.test:443" to network.allowedDomains of {file}' in (
        done.stdout
    )
    # No entry could hold a name without a dot: nobody is told to add one.
    done = weir("check", "-s", file, "db:5432", "localhost:80")
    assert 'add "db:5432"' not in done.stdout and "have a dot" in done.stdout
    assert 'add "localhost:80"' in done.stdout
    assert "remedy" not in verdicts(weir("check", "-j", "-s", file, "db:5432"))["db:5432"]
    # What cannot be read weighs more than what is denied, wherever it stands.
    for targets in (["a.test:0", "evil.test"], ["evil.test", "a.test:0"]):
        done = weir("check", "-s", file, *targets)
        assert done.returncode == 2 and '"a.test:0"' in done.stderr
        assert done.stdout.startswith("denied   evil.test:443")


def test_a_denial_tells_the_users_own_reason(weir, allow):
    file = allow(
        "*.a.test", deniedDomains=["t.a.test"], deniedDomainReasons={"t.a.test": "no!"}
    )
    done = weir("check", "-s", file, "t.a.test")
    assert done.returncode == 1
    assert '(deny-list), network.deniedDomains[0] "t.a.test": no!' in done.stdout
    done = weir("check", "--json", "-s", file, "t.a.test")
    assert verdicts(done)["t.a.test"]["text"] == "no!"


def test_json_is_one_object_a_line(weir, allow):
    done = weir("check", "-j", "-s", allow("a.test"), "https://a.test/ü\"", "[::1]:80")
    assert done.returncode == 1
    url, literal = (json.loads(line) for line in done.stdout.splitlines())
    assert url == {
        "asked": 'https://a.test/ü"',
        "host": "a.test",
        "port": 443,
        "verdict": "allow",
        "reason": "allow-list",
        "rule": "network.allowedDomains[0]",
        "entry": "a.test",
    }
    assert literal["host"] == "::1" and literal["verdict"] == "deny"
    assert '"[::1]:80"' in literal["remedy"]


@pytest.mark.parametrize(
    "target, asked",
    [
        ("a.test:80", ("a.test", 80)),
        ("A.Test.:80", ("a.test", 80)),
        ("a.test", ("a.test", 443)),
        ("http://a.test", ("a.test", 80)),
        ("HTTPS://a.test/x?y#z", ("a.test", 443)),
        ("https://a.test:8443/x:1", ("a.test", 8443)),
        ("https://user:pass@a.test/x@y", ("a.test", 443)),
        ("https://a.test?u=b@c", ("a.test", 443)),
        ("ssh://git@a.test/x", ("a.test", 22)),
        ("git://a.test/x", ("a.test", 9418)),
        ("ws://a.test", ("a.test", 80)),
        ("wss://a.test", ("a.test", 443)),
        ("ftp://a.test", ("a.test", 21)),
        ("other://a.test:7", ("a.test", 7)),
        ("192.0.2.1", ("192.0.2.1", 443)),
        ("[2001:db8::0:1]:8", ("2001:db8::1", 8)),
        ("https://[::ffff:192.0.2.1]/", ("192.0.2.1", 443)),
        ("bücher.test:1", ("xn--bcher-kva.test", 1)),
        ("https://BÜCHER.test", ("xn--bcher-kva.test", 443)),
    ],
)
def test_targets_as_people_write_them(weir, allow, target, asked):
    done = weir("check", "--json", "-s", allow(), target)
    assert done.returncode == 1, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["host"], answer["port"]) == asked
    assert answer.get("portAssumed", False) == (target in ("a.test", "192.0.2.1"))


def test_an_assumed_port_is_said(weir, allow):
    done = weir("check", "-s", allow("a.test"), "a.test")
    assert done.returncode == 0 and "(no port was given: 443)" in done.stdout


@pytest.mark.parametrize(
    "target",
    [
        "", " ", "a.test:", "a.test:0", "a.test:65536", "a.test:0443", "a.test:+1",
        "a.test:x", "::1", "::1:443", "[::1", "[::1]80", "[a.test]:80", "[[::1]]:80",
        "a.test/x", "u@a.test", "a.test#x", "a..test", ".a.test", "a.test..", "1.2.3",
        "127.1:80", "0x7f.1:80", "2130706433:80", "[fe80::1%lo]:80", "a b.test",
        "a.test\n", "https://", "https:///x", "https://a.test:/", "other://a.test",
        "https://a.test:443@b.test@c.test/", "https://evil.test\\@a.test/",
        "a%2etest:80", "*.a.test:80", "a" * 64 + ".test:80", "ü" * 300, "a\u2024test:80",
    ],
)  # fmt: skip
def test_no_targets(weir, allow, target):
    done = weir("check", "-s", allow("a.test"), target)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("weir: check: ") and done.stderr.count("\n") == 1


def test_targets_from_standard_input(weir, allow):
    file = allow("a.test")
    text = "# comment\n\na.test:80\r\n  https://a.test  \nb.test"
    done = weir("check", "--json", "-s", file, "-", "c.test", input=text)
    assert done.returncode == 1
    answers = verdicts(done)
    assert list(answers) == ["a.test:80", "https://a.test", "b.test", "c.test"]
    done = weir("check", "-s", file, "-", input="a.test\nb.test:x\n")
    assert done.returncode == 2 and "line 2 of standard input" in done.stderr
    # A list that came out empty is a mistake of whoever made it, not a pass.
    for empty in ("", "\n# nothing\n"):
        done = weir("check", "-s", file, "-", input=empty)
        assert done.returncode == 2 and "no target on standard input" in done.stderr
    done = weir("check", "-s", file, "-", input="a" * 5000)
    assert done.returncode == 2 and "more than 4096 bytes" in done.stderr
    longest = "http://a.test/".ljust(4096, "x")
    for text in (f"#{'x' * 5000}\n{longest}\r\n", f"{longest}\na.test"):
        assert weir("check", "-q", "-s", file, "-", input=text).returncode == 0


def test_a_line_without_end_is_not_kept(allow, tmp_path):
    """Who feeds a list cannot make check hold all of it."""
    file, used = allow("a.test"), []
    for size in (5000, 256 << 20):
        # All zeros. Made without memory: the child's peak begins with that of its parent.
        with (tmp_path / "list").open("wb") as text:
            text.truncate(size)
        with (tmp_path / "list").open("rb") as text:
            process = subprocess.Popen(
                [weir_path(), "check", "-q", "-s", str(file), "-"],
                stdin=text, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 2
        used.append(usage.ru_maxrss)
    assert used[1] < used[0] + (64 << 10), used  # in KiB


def test_quiet_leaves_the_status(weir, settings):
    file = settings({"allowPty": True, "network": {"allowedDomains": ["a.test"]}})
    for target, status in [("a.test", 0), ("b.test", 1)]:
        done = weir("check", "-q", "-s", file, target)
        assert (done.returncode, done.stdout, done.stderr) == (status, "", "")
    assert weir("check", "-q", "-s", file, "a.test:x").returncode == 2


def test_answers_that_cannot_be_written_are_no_pass(weir, allow):
    file = allow("a.test")
    done = weir("check", "-s", file, "a.test")
    assert done.returncode == 0
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [weir_path(), "check", "-s", file, "a.test"], stdout=full, timeout=60,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
    assert done.returncode == 2


def test_options_that_do_not_go_together(weir, allow):
    file = allow("a.test")
    done = weir("check", "-s", file, "-f", file, "a.test")
    assert done.returncode == 2 and "only one of" in done.stderr
    done = weir("check", "-s", file, "--as", "ci", "a.test")
    assert done.returncode == 2 and "--as names a client of a gateway" in done.stderr
    done = weir("check", "-s", file, "a.test", "--json")
    assert done.returncode == 2 and '"--json"' in done.stderr


def test_without_a_target_the_file_is_checked(weir, allow, settings):
    done = weir("check", "-s", allow("a.test", "*.b.test"))
    assert done.returncode == 0
    assert "loads" in done.stdout and "allowedDomains: 2 patterns" in done.stdout
    done = weir("check", "-s", settings('{"network": {"allowedDomains": ["*.com"]}}'))
    assert done.returncode == 2 and done.stdout == "" and '"*.com"' in done.stderr


def test_without_a_target_the_files_are_checked_too(weir, settings, tmp_path):
    for filesystem, says in [
        ({"denyWrites": []}, 'unknown key "denyWrites" (did you mean "denyWrite"?)'),
        ({"allowWrite": "."}, "filesystem.allowWrite"),
        ({"denyRead": [7]}, "filesystem.denyRead[0]"),
    ]:
        file = settings({"filesystem": filesystem})
        done = weir("check", "-s", file, cwd=tmp_path)
        assert done.returncode == 2 and done.stdout == "", filesystem
        assert f"{file}: line " in done.stderr and says in done.stderr
    file = settings({"filesystem": {"allowWrite": ["."], "denyRead": ["settings.json"]}})
    assert weir("check", "-s", file, cwd=tmp_path).returncode == 0


def test_default_places(weir, tmp_path):
    home = {"HOME": tmp_path, "XDG_CONFIG_HOME": None}
    done = weir("check", "a.test", env=home)
    assert done.returncode == 1 and "(not-on-allow-list)" in done.stdout
    file = tmp_path / ".srt-settings.json"
    file.write_text('{"network": {"allowedDomains": ["a.test"]}}')
    assert weir("check", "a.test", env=home).returncode == 0
    # Never from the current directory.
    inside = tmp_path / "project"
    inside.mkdir()
    for name in (".srt-settings.json", "settings.json", "weir.json"):
        (inside / name).write_text('{"network": {"allowedDomains": ["b.test"]}}')
    assert weir("check", "b.test", env=home, cwd=inside).returncode == 1
    file.write_text("{")
    done = weir("check", "a.test", env=home)
    assert done.returncode == 2 and str(file) in done.stderr and done.stdout == ""


def gateway_file(settings, server, *allowed, **network):
    tree = {
        "listen": ["127.0.0.1:3128", "127.0.0.1:0"],
        "network": {"allowedDomains": list(allowed), **network},
        "resolver": {"servers": [server.address], "hostsFile": ""},
    }
    return settings(tree, "gateway.json")


def test_resolve_judges_each_address(weir, settings, dns_server):
    server = dns_server({
        "out.test": ["192.0.2.7", "2001:db8::7"],
        "in.test": ["127.0.0.1", "::1"],
        "both.test": ["127.0.0.1", "192.0.2.8"],
        "gone.test": "NXDOMAIN",
        "broken.test": "SERVFAIL",
    })  # fmt: skip
    file = gateway_file(
        settings, server, "out.test", "in.test", "both.test", "gone.test", "broken.test"
    )
    done = weir("check", "--resolve", "--json", "-f", file, "out.test", "both.test")
    assert done.returncode == 0, done.stdout + done.stderr
    answers = verdicts(done)
    assert {a["addr"] for a in answers["out.test"]["addresses"]} == {
        "192.0.2.7", "2001:db8::7",
    }  # fmt: skip
    both = {a["addr"]: a["reason"] for a in answers["both.test"]["addresses"]}
    assert both == {"127.0.0.1": "address-loopback", "192.0.2.8": "allow-list"}

    done = weir("check", "--resolve", "-f", file, "in.test:80")
    assert done.returncode == 1 and "(address-loopback)" in done.stdout
    assert 'add the address itself, "' in done.stdout
    for name in ("gone.test", "broken.test"):
        done = weir("check", "--resolve", "-f", file, name)
        assert done.returncode == 1 and "(dns-failure)" in done.stdout
    # Denied by name: nobody needs to know its address.
    before = len(server.queries)
    assert weir("check", "--resolve", "-f", file, "evil.test").returncode == 1
    assert len(server.queries) == before


def test_of_several_refusals_the_same_one_is_told(weir, settings, gateway, dns_server):
    """The order of answers means nothing, neither here nor there."""
    network = {"allowedDomains": ["a.test"], "deniedDomains": ["127.0.0.3"]}
    for addresses in ["127.0.0.2", "127.0.0.3"], ["127.0.0.3", "127.0.0.2"]:
        names = dns_server({"a.test": addresses})
        running = gateway(network, resolver=names)
        with running.connect("a.test:443") as tunnel:
            assert tunnel.status == 403
            reason = re.search('details="([a-z-]+)"', tunnel.headers["proxy-status"])[1]
        done = weir("check", "--resolve", "--json", "-f", running.file, "a.test:443")
        assert verdicts(done)["a.test:443"]["reason"] == reason == "deny-list"


def test_the_gateways_own_listener_is_denied(weir, settings, dns_server):
    file = gateway_file(settings, dns_server(), "127.0.0.1")
    done = weir("check", "--json", "-f", file, "127.0.0.1:3128", "127.0.0.1:3129")
    assert done.returncode == 1
    answers = verdicts(done)
    assert answers["127.0.0.1:3128"]["reason"] == "address-own"
    assert answers["127.0.0.1:3129"]["verdict"] == "allow"


def test_the_examples_load(weir):
    done = weir("check", "-s", SOURCE / "proxy/data/settings.json", "x.example.com")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    done = weir("check", "-f", SOURCE / "proxy/data/gateway.json", "x.example.com")
    assert done.returncode == 0 and done.stderr == "", done.stderr
