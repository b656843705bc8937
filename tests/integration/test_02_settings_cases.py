"""The handed cases about settings files, through weir check."""

import json
import os
import pathlib
import re
import subprocess
import tempfile

import pytest
from support.program import weir_path

DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "settings"


@pytest.fixture
def check(weir, tmp_path):
    """check(network or file, *targets) -> (exit status, {target: answer}, stderr)."""

    def run(what, *targets, option="-s"):
        path = what
        if isinstance(what, dict):
            path = tmp_path / "settings.json"
            path.write_text(json.dumps({"network": what}))
        done = weir("check", "--json", option, path, *targets)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        return done.returncode, {a["asked"]: a for a in answers}, done.stderr

    return run


def allowed(answers):
    return {asked for asked, a in answers.items() if a["verdict"] == "allow"}


def test_CFG_01_apex_and_wildcard_of_one_domain(check):
    network = {
        "allowedDomains": ["npm.example", "*.npm.example", "registry.npm.example"],
        "deniedDomains": [],
    }
    good = {"npm.example", "registry.npm.example", "a.b.npm.example"}
    status, answers, stderr = check(network, *good)
    assert status == 0 and allowed(answers) == good
    assert stderr.count("\n") <= 1
    status, answers, _ = check(network, "evilnpm.example")
    assert status == 1 and not allowed(answers)


def test_CFG_02_a_wildcard_is_not_its_apex(check, weir, tmp_path):
    network = {"allowedDomains": ["*.ms.test"]}
    asked = ["ms.test", "a.ms.test", "a.b.ms.test", "ms.test.evil.test", "xms.test"]
    status, answers, _ = check(network, *asked)
    assert status == 1 and allowed(answers) == {"a.ms.test", "a.b.ms.test"}
    for name in asked:
        if name in allowed(answers):
            assert answers[name]["rule"] == "network.allowedDomains[0]"
            assert answers[name]["entry"] == "*.ms.test"
        else:
            assert answers[name]["reason"] == "not-on-allow-list"
    # People are told what they probably took it for.
    done = weir("check", "-s", tmp_path / "settings.json", "ms.test")
    assert 'network.allowedDomains[0] "*.ms.test" allows only what is below it' in (
        done.stdout
    )


# What each file allows and what it does not; or that it does not load.
CFG_04 = {
    "alabel": (["xn--bcher-kva.test:1", "bücher.test:1"], ["bcher.test:1"]),
    "cidr": None,
    "comma": None,
    "dot": (["api.a.test:1"], ["a.test:1"]),
    "dots": None,
    "empty": None,
    "hostport": (["localhost:3000"], ["localhost:3001"]),
    "idn": (["xn--bcher-kva.test:1", "bücher.test:1"], ["bcher.test:1"]),
    "ip": (["127.0.0.1:80"], ["127.0.0.2:80"]),
    "ipdec": None,
    "leaddot": None,
    "long": None,
    "nul": None,
    "null": None,
    "number": None,
    "object": None,
    "path": None,
    "port0": None,
    "portstar": None,
    "regex": None,
    "scheme": None,
    "slash": None,
    "spaces": None,
    "star": None,
    "stardot": None,
    "starglued": None,
    "starmid": None,
    "startld": None,
    "startwo": None,
    "upper": (["api.a.test:1", "API.A.TEST:2"], ["a.test:1"]),
    "userinfo": None,
    "v6": (["[::1]:443", "[0:0::1]:443"], ["[::1]:80"]),
    "v6full": (["[::1]:443", "[::1]:80"], ["[::2]:80"]),
    "v6raw": None,
}


def test_CFG_04_all_files_are_looked_at():
    names = {path.stem.removeprefix("CFG-04-") for path in DATA.glob("CFG-04-*.json")}
    assert names == CFG_04.keys()


@pytest.mark.parametrize("name", CFG_04)
def test_CFG_04_entry_spellings_people_type(check, name):
    file = DATA / f"CFG-04-{name}.json"
    if CFG_04[name] is None:
        status, answers, stderr = check(file, "a.test:443", "[::1]:443")
        assert status == 2 and not answers
        assert str(file) in stderr and re.search(r"\bline 4\b", stderr)
        assert "allowedDomains[0]" in stderr
        entry = json.loads(file.read_text())["network"]["allowedDomains"][0]
        if isinstance(entry, str) and entry.isprintable():
            assert json.dumps(entry)[:50] in stderr
        return
    good, bad = CFG_04[name]
    status, answers, _ = check(file, *good)
    assert status == 0 and allowed(answers) == set(good)
    status, answers, _ = check(file, *bad)
    assert status == 1 and not allowed(answers)


@pytest.mark.parametrize("name", ["empty-network", "absent", "empty-list"])
def test_CFG_06_nothing_listed_is_nothing_allowed(check, name):
    targets = ["a.test:443", "127.0.0.1:80", "[::1]:443", "localhost:80", "192.0.2.1:1"]
    status, answers, _ = check(DATA / f"CFG-06-{name}.json", *targets)
    assert status == 1 and len(answers) == len(targets) and not allowed(answers)


@pytest.mark.parametrize("name", ["null", "string", "array", "network-null"])
def test_CFG_06_no_list_is_refused(check, name):
    file = DATA / f"CFG-06-{name}.json"
    status, answers, stderr = check(file, "a.test:443")
    assert status == 2 and not answers and str(file) in stderr and "line" in stderr


def test_CFG_07_comments_commas_and_bom_are_taken(check):
    status, answers, stderr = check(
        DATA / "CFG-07-bom.jsonc", "x.models.test", "tool.test", "telemetry.tool.test"
    )
    assert status == 1 and allowed(answers) == {"x.models.test", "tool.test"}
    assert "allowPty" in stderr and "allowLocalBinding" in stderr
    status, answers, _ = check(DATA / "CFG-07-trailing.json", "a.test:443")
    assert status == 0


@pytest.mark.parametrize(
    "name, says",
    [
        ("cut.jsonc", "line 11, column 7: network.allowedDomains[2]: a string that"),
        ("dupkey.json", 'line 1, column 42: the key "network" stands here'),
        ("latin1.json", "line 1, column 33: network.allowedDomains[0]: the byte 0xfc"),
    ],
)
def test_CFG_07_what_cannot_be_read_is_placed(check, name, says):
    status, answers, stderr = check(DATA / f"CFG-07-{name}", "a.test:443")
    assert status == 2 and not answers and says in stderr


def test_CFG_07_deep(check, tmp_path):
    for text in ("[" * 200000, "[" * 100000 + "]" * 100000, '{"a":' * 40000):
        file = tmp_path / "deep.json"
        file.write_text(text)
        status, answers, stderr = check(file, "a.test")
        assert status == 2 and not answers and "nested deeper than 32" in stderr


def test_CFG_07_a_named_file_must_load(check, tmp_path):
    """Never the defaults, whatever is wrong with what was named."""
    (tmp_path / "empty.json").write_text("")
    (tmp_path / "blank.json").write_text(" \n")
    (tmp_path / "binary.json").write_bytes(bytes(range(256)))
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "fifo")
    with open(tmp_path / "huge.json", "wb") as huge:
        huge.truncate(1 << 40)
    (tmp_path / "large.json").write_text("[" + "1," * 5000000 + "1]")
    for name, says in [
        ("missing.json", "No such file"),
        ("empty.json", "the text is empty"),
        ("blank.json", "the text ends here"),
        ("binary.json", "expected a value"),
        ("folder", "is a directory"),
        ("dangling", "No such file"),
        ("loop", "Too many levels"),
        ("fifo", "the text is empty"),
        ("huge.json", "larger than 67108864 bytes"),
        ("large.json", "more than 4194304 values"),
        ("/dev/zero", "is a device"),
    ]:
        for option in ("-s", "-f"):
            status, answers, stderr = check(tmp_path / name, "a.test", option=option)
            assert status == 2 and not answers, name
            assert says in stderr and str(tmp_path / name) in stderr
            assert stderr.count("\n") == 1


def test_CFG_07_an_unreadable_file():
    """As an ordinary user, since root may read everything."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        file = pathlib.Path(folder) / "secret.json"
        file.write_text("{}")
        file.chmod(0)
        user = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
        try:
            done = subprocess.run(
                [weir_path(), "check", "-s", file, "a.test"],
                capture_output=True, text=True, timeout=60, cwd="/", **user,
            )  # fmt: skip
        except PermissionError:
            pytest.skip("an ordinary user cannot reach the program here")
    assert done.returncode == 2 and done.stdout == ""
    assert f"{file}: Permission denied" in done.stderr


BROKEN = [
    DATA / "CFG-07-cut.jsonc", DATA / "CFG-07-dupkey.json", DATA / "CFG-07-latin1.json",
    DATA / "CFG-06-array.json", DATA / "CFG-06-network-null.json",
    DATA / "CFG-04-star.json", DATA / "CFG-13.json", "/nowhere.json", "/dev/null", "/",
]  # fmt: skip


@pytest.mark.parametrize("file", BROKEN, ids=lambda file: pathlib.Path(file).name)
def test_CFG_07_nothing_starts_with_what_does_not_load(weir, tmp_path, file):
    done = weir("run", "-s", file, "--", "echo", "it runs", cwd=tmp_path)
    assert done.returncode == 125 and done.stdout == ""
    assert f"{file}: " in done.stderr and done.stderr.startswith("weir: ")
    # The same text is no gateway file either: it lacks `listen`, at the least.
    done = weir("gateway", "-f", file)
    assert done.returncode == 2 and done.stdout == ""
    assert f"{file}: " in done.stderr and "listening" not in done.stderr


@pytest.mark.parametrize(
    "pattern",
    [
        "contains.*.in.the.middle", "contains.in.the.end.*", "ex*ample.com", "*.*.com",
        "*.com", "*.co.uk", "*", "*.", "*a.test", "a*.a.test", "**.a.test", "a.*", "*.*",
        "*:443", "*.com:443",
    ],
)  # fmt: skip
def test_CFG_10_globs_that_are_refused(check, pattern):
    targets = ["a.com:443", "contains.x.in.the.middle:443", "a.test:443"]
    status, answers, stderr = check({"allowedDomains": [pattern]}, *targets)
    if pattern == "contains.*.in.the.middle":
        # One whole label in the middle is a form of ours, with one meaning.
        assert allowed(answers) == {"contains.x.in.the.middle:443"}
        return
    assert status == 2 and not answers
    assert "network.allowedDomains[0]" in stderr and json.dumps(pattern) in stderr


def test_CFG_13_a_wrong_key_is_named_with_the_right_one(check, tmp_path):
    status, answers, stderr = check({"allowedHosts": ["a.test"]}, "a.test")
    assert status == 2 and not answers
    assert '"allowedHosts"' in stderr and 'did you mean "allowedDomains"?' in stderr
    status, answers, stderr = check(DATA / "CFG-13.json", "a.test", "b.test")
    assert status == 2 and not answers
    assert re.search(r'unknown key "(sandbox|allowedHosts)"', stderr)


def test_CFG_13_keys_of_a_neighbour_load_with_a_note(check, tmp_path):
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({
        "network": {
            "allowedDomains": ["a.test", "*.a.test"],
            "deniedDomains": [],
            "allowLocalBinding": False,
        },
        "ignoreViolations": {"*": ["/usr/bin"], "git push": ["/usr/bin/nc"]},
        "enableWeakerNestedSandbox": False,
        "enableWeakerNetworkIsolation": False,
    }))  # fmt: skip
    status, answers, stderr = check(file, "a.test", "x.a.test")
    assert status == 0 and len(allowed(answers)) == 2
    for key in ("ignoreViolations", "enableWeakerNestedSandbox"):
        assert key in stderr


CFG_14_TEXT = """\
# A list as other tools keep it.
#
# One a line, or with commas; comments behind and alone.

code.example
raw.code.example

# With commas
googleapis.com, google.com,

.squid.example
registry.npm.example # where packages come from

example.com
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_CFG_14_domain_list_as_plain_text(check, weir, tmp_path, newline):
    file = tmp_path / "domains.txt"
    for text in (CFG_14_TEXT, (DATA / "CFG-14-crlf.txt").read_text()):
        file.write_text(text.replace("\n", newline), newline="")
        good = {"googleapis.com", "google.com", "registry.npm.example", "example.com"}
        status, answers, stderr = check(file, *good, option="--from-list")
        assert status == 0 and allowed(answers) == good and stderr == ""
        status, answers, _ = check(file, "x.example.com", option="--from-list")
        assert status == 1

        # It becomes a settings file that says the same, comments kept.
        done = weir("check", "--from-list", file)
        assert done.returncode == 0 and "\r" not in done.stdout
        (tmp_path / "settings.json").write_text(done.stdout)
        status, answers, _ = check(tmp_path / "settings.json", *good)
        assert status == 0 and allowed(answers) == good


def test_CFG_14_a_leading_dot_is_the_domain_and_all_below(check, tmp_path):
    file = tmp_path / "domains.txt"
    file.write_text(CFG_14_TEXT)
    good = {"squid.example", "a.b.squid.example"}
    status, answers, _ = check(file, *good, option="--from-list")
    assert status == 0 and allowed(answers) == good


@pytest.mark.parametrize("bad", ["exa mple.com", "*.com", "http://a.test", "10.0.0.0/8"])
def test_CFG_14_a_bad_line_is_numbered(check, tmp_path, bad):
    file = tmp_path / "domains.txt"
    file.write_bytes(f"# one\r\na.test,b.test\r\n\r\n{bad}\r\n".encode())
    status, answers, stderr = check(file, "a.test", option="--from-list")
    assert status == 2 and not answers
    assert f"{file}: line 4: " in stderr and f'"{bad}"' in stderr
    assert "\r" not in stderr and "\\r" not in stderr and "\\x0d" not in stderr


BYP_02_REFUSED = """
::1 :: ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:169.254.169.254 ::ffff:10.0.0.1
::ffff:192.168.1.1 ::ffff:0:7f00:1 ::ffff:0:a9fe:a9fe ::127.0.0.1 ::7f00:1
64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b::a00:1 64:ff9b:1::a9fe:a9fe 2002:7f00:1::
2002:a9fe:a9fe::1 2001:0:1:2::80ff:fffe 2001:db8::5efe:a00:1 fe80::1 fc00::1
fd12:3456::1 ff02::1
""".split()
BYP_02_USABLE = "::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::1 2606:4700:4700::1111".split()


def test_BYP_02_ipv4_hidden_in_ipv6(weir, dns_server, tmp_path):
    """As answers to an allowed name. With privateAddresses "deny", since the private
    ranges are among those that the case wants refused."""
    every = BYP_02_REFUSED + BYP_02_USABLE
    names = {f"n{i}.test": [ip] for i, ip in enumerate(every)}
    file = tmp_path / "gateway.json"
    file.write_text(json.dumps({
        "listen": ["127.0.0.1:0"],
        "network": {"allowedDomains": list(names), "privateAddresses": "deny"},
        "resolver": {"servers": [dns_server(names).address], "hostsFile": ""},
    }))  # fmt: skip
    done = weir("check", "--resolve", "--json", "-f", file, *names)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1 and len(answers) == len(every)
    for ip, answer in zip(every, answers):
        assert len(answer["addresses"]) == 1
        if ip in BYP_02_USABLE:
            assert answer["verdict"] == "allow", ip
        else:
            assert answer["verdict"] == "deny", ip
            assert answer["reason"].startswith("address-"), ip


def test_BYP_02_as_literals(check):
    """None is allowed by an allow list of names, nor by a list of all names."""
    literals = [f"[{ip}]:80" for ip in BYP_02_REFUSED]
    for network in ({"allowedDomains": ["a.test"]}, {"mode": "report"}):
        network = {**network, "privateAddresses": "deny"}
        status, answers, _ = check(network, *literals)
        assert status == 1 and len(answers) == len(literals) and not allowed(answers)
    status, answers, _ = check({"mode": "report"}, "[::ffff:8.8.8.8]:80")
    assert status == 0 and len(allowed(answers)) == 1


@pytest.mark.parametrize(
    "target",
    [
        "denied.test.:80", "denied.test..:80", "[denied.test]:80", "[[denied.test]]:80",
        "DENIED.TEST:80", "Denied.Test.:80", "[::1:80", "::1]:80", "[::1]x:80",
    ],
)  # fmt: skip
def test_BYP_04_trailing_dots_and_brackets(check, target):
    network = {"mode": "report", "deniedDomains": ["denied.test", "[::1]"]}
    status, answers, _ = check(network, target)
    assert status in (1, 2) and not allowed(answers)
    status, answers, _ = check(network, "other.test:80")
    assert status == 0, "all but the denied is let through here"


def test_BYP_09_by_address_instead_of_name(check, weir, dns_server, tmp_path):
    status, answers, _ = check({"allowedDomains": ["api.a.test"]}, "127.0.0.2:80")
    assert status == 1 and not allowed(answers)
    status, answers, _ = check({"allowedDomains": ["127.0.0.2"]}, "127.0.0.2:80")
    assert status == 0

    server = dns_server({"api.a.test": ["127.0.0.2"]})
    for entries, status in [
        (["api.a.test"], 1),
        (["api.a.test", "127.0.0.2"], 0),
        (["api.a.test", "127.0.0.2:80"], 0),
        (["api.a.test", "127.0.0.2:81"], 1),
        (["api.a.test", "127.0.0.3"], 1),
    ]:
        file = tmp_path / "gateway.json"
        file.write_text(json.dumps({
            "listen": ["127.0.0.1:0"],
            "network": {"allowedDomains": entries},
            "resolver": {"servers": [server.address], "hostsFile": ""},
        }))  # fmt: skip
        done = weir("check", "--resolve", "-f", file, "api.a.test:80")
        assert done.returncode == status, done.stdout
        assert ("(address-loopback)" in done.stdout) == (status == 1)
