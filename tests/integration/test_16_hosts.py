"""Host names that two readers could take for two things: rows H1 to H18 of the attacks,
with the policy "good.test on its port, *.good.test there too, nothing else"."""

import pytest

from support.doorway import head

MALFORMED = {"malformed-host", "malformed-request"}


@pytest.fixture
def door(doorway):
    return doorway(
        allowedDomains=["*.good.test", "evil.good.test:443"], deniedDomains=["evil.test"]
    )


def malformed(door, hosts, port=443):
    for host in hosts:
        door.refused(head(f"{host}:{port}"), 400)
    assert {line["reason"] for line in door.untouched()} <= MALFORMED


def test_H1_nul_in_a_socks_name(door):
    for name in (b"evil.com\0.good.test", b"", b"a" * 255, b"good.test\0"):
        asked = b"\x05\x01\x00\x05\x01\x00\x03" + bytes([len(name)]) + name + b"\x01\xbb"
        assert door.answer(asked)[0] == b"\x05\x00\x05\x01\x00\x01" + bytes(6)
    assert {line["reason"] for line in door.untouched()} == {"malformed-host"}


def test_H2_nul_in_a_head(door):
    for at in ("evil.test\0.good.test:443", "\0good.test:443", "a.good.test\0:443",
               "a.good.test:443\0", "a.good.test:4\x0043"):  # fmt: skip
        door.refused(head(at), 400)
    door.refused(head("a.good.test:443", "Host: good.test\0evil.test"), 400)
    door.refused(head("a.good.test:443", "X: \0"), 400)
    door.refused(head("a.good.test:443", "X\0: y"), 400)
    door.refused(b"\0" + head("a.good.test:443"), 400)
    door.untouched()


def test_H3_dots_at_the_end(door):
    for host in ("evil.test", "evil.test.", "EVIL.test."):
        for port in (443, door.port):
            door.refused(head(f"{host}:{port}"), 403)
    for host in ("evil.test..", "evil.test...", "evil..test", ".evil.test", ".", "..",
                 "a..good.test", ".good.test", "good.test.."):  # fmt: skip
        door.refused(head(f"{host}:443"), 400)
    reasons = {line["reason"] for line in door.untouched()}
    assert reasons == {"deny-list", "malformed-host"}
    door.opens(head(f"good.test.:{door.port}"))


def test_H4_brackets_around_a_name(door):
    malformed(door, [
        "[evil.test]", "[good.test]", "[a.good.test]", "[127.0.0.1]", "[1]",
        "[::1.good.test]", "[::1].good.test", "good.test[::1]", "a[.good.test",
        "]a.good.test", "[v1.a:b]", "[a.good.test", "a.good.test]", "[[::1]]", "[]",
        "[:]", "[:::]", "[1:2]",
    ])  # fmt: skip


def test_H5_capitals(door):
    for host in ("EVIL.TEST", "Evil.test", "eViL.tEsT"):
        door.refused(head(f"{host}:443", "Host: GOOD.test"), 403)
    assert {line["host"] for line in door.untouched()} == {"evil.test"}
    for host in ("GOOD.TEST", "gOOD.test", "A.Good.Test"):
        door.opens(head(f"{host}:{door.port}", "Host: EVIL.test"))


def test_H6_capitals_in_long_lists(gateway, dns_server):
    """At 1, 100, 101 and 10,000 entries, in lists of whatever letters, alike."""
    for count in (1, 100, 101, 10000):
        names = [f"{'Host' if i % 2 else 'host'}{i}.Many.test" for i in range(count)]
        proxy = gateway(
            {"allowedDomains": names, "deniedDomains": ["NO.many.test"]},
            resolver=dns_server()
        )
        for host in (names[-1], names[-1].upper(), names[0].lower(),
                     names[count // 2] + "."):
            assert proxy.connect(f"{host}:443").status == 502, (count, host)
        for host in (f"host{count}.many.test", "HOST.many.test", "no.MANY.test"):
            assert proxy.connect(f"{host}:443").status == 403, (count, host)


def test_H7_userinfo(door):
    malformed(door, [
        "good.test:443@evil.test", "a.good.test@evil.test", "evil.test@a.good.test",
        "@a.good.test", "a.good.test@", "me:secret@a.good.test", "a.good.test#@evil.test",
        "a.good.test#", "a.good.test?", "a.good.test?@evil.test", "a.good.test:443:443",
        "a.good.test\\@evil.test", "a.good.test;", "a.good.test,evil.test",
        "a.good.test&evil.test",
    ])  # fmt: skip


def test_H7_no_password_is_recorded(door):
    door.refused(head("me:s3cret@a.good.test:443"), 400)
    door.refused(head("http://me:s3cret@a.good.test/", method="GET"), 400, 501)
    door.untouched()
    text = (door.weir.folder / "audit.jsonl").read_text() + door.weir.log()
    assert "s3cret" not in text


def test_H8_backslash_and_slash(door):
    malformed(door, [
        "evil.test\\@a.good.test", "a.good.test\\", "\\\\a.good.test", "//a.good.test",
        "a.good.test/", "/a.good.test", "http://a.good.test", "https://a.good.test",
        "http:a.good.test", "a.good.test\\.evil.test", "a.good.test/.evil.test",
    ])  # fmt: skip
    for target in ("http://evil.test\\@a.good.test/", "http:/\\evil.test/",
                   "http:///evil.test/", "http:\\\\a.good.test/", "http:/a.good.test/",
                   "http:a.good.test", "http://a.good.test\\x/",
                   "//a.good.test/"):  # fmt: skip
        door.refused(head(target, "Host: a.good.test", method="GET"), 400)
    door.untouched()


def test_H9_percent(door):
    malformed(door, [
        "a%2egood.test", "evil.test%00.good.test", "%61.good.test", "a.good.test%",
        "a%.good.test", "a.good.test%3a443", "a.good%2Etest", "[::1%25lo]", "[::1%lo]",
        "%5b::1%5d", "a%252e.good.test", "127.0.0.1%2e", "a.good.test%20",
        "a.good.test%0d%0a",
    ])  # fmt: skip
    door.refused(head("http://evil%2etest/", method="GET"), 400)


# Dots and letters that look like ours, and what a mapping would make nothing of.
UNICODE = [
    "a\u3002good.test", "a.good\uff0etest", "a\uff61good.test", "\u0430.good.test",
    "\u24d0.good.test", "a\u00ad.good.test", "a\u200b.good.test", "\ufeffa.good.test",
    "a.good.te\u017ft", "a.good.te\u212at", "\u0131.good.test", "b\u00fccher.good.test",
    "a.good.test\u3002", "a\u2024good.test", "\u202ea.good.test", "a.g\u00f3od.test",
]  # fmt: skip


def test_H10_beyond_ascii(door):
    for name in UNICODE:
        for encoded in {name.encode(), name.encode("utf-16-be")}:
            door.refused(b"CONNECT " + encoded + b":443 HTTP/1.1\r\n\r\n", 400)
    for byte in range(0x80, 0x100):
        name = b"a" + bytes([byte]) + b".good.test"
        door.refused(b"CONNECT " + name + b":443 HTTP/1.1\r\n\r\n", 400)
    door.untouched()


def test_H10_the_file_takes_what_has_one_meaning(weir, tmp_path):
    """A list may hold the name as people write it; the wire holds the A-label."""
    file = tmp_path / "settings.json"
    names = '"b\u00fccher.test", "B\u00dccher2.test."'
    file.write_text('{"network": {"allowedDomains": [%s]}}' % names)
    done = weir("check", "-s", file, "xn--bcher-kva.test:443", "xn--bcher2-3ya.test:443")
    assert done.returncode == 0, done.stdout + done.stderr
    for entry in ("a\u3002b.test", "\u202ea.b.test", "a\uff0eb.test", "\u0430.b.test"):
        file.write_text('{"network": {"allowedDomains": ["%s"]}}' % entry)
        assert weir("check", "-s", file, "a.b.test:443").returncode != 0, entry


def test_H11_names_that_end_or_begin_alike(door):
    for host in ("notgood.test", "good.test.evil.test", "xgood.test", "good.test.com",
                 "ood.test", "goodtest", "good.tes", "good.testx", "good-test",
                 "a.good.test.x", "test", "a.xgood.test", "good.test.good", "agood.test",
                 "-good.test"):  # fmt: skip
        for port in (443, door.port):
            door.refused(head(f"{host}:{port}"), 403)
    assert {line["reason"] for line in door.untouched()} == {"not-on-allow-list"}


def test_H12_a_wildcard_is_not_its_apex(gateway, dns_server):
    weir = gateway({"allowedDomains": ["*.good.test"]}, resolver=dns_server())
    for host, status in [("good.test", 403), ("good.test.", 403), ("a.good.test", 502),
                         ("a.b.c.good.test", 502), ("*.good.test", 400)]:  # fmt: skip
        assert weir.connect(f"{host}:443").status == status, host


@pytest.mark.parametrize("entry", [
    "*", "*.", "*.com", "*.co.uk", "*.*.com", "a.*.com", "*evil.test", "*.*",
    "**.test.example", "a*.good.test", "*a.good.test", "good.*", ".*.good.test", "*.uk",
    "*.kawasaki.jp", "*..test",
])  # fmt: skip
def test_H13_wildcards_that_are_too_wide(gateway, entry):
    weir = gateway({"allowedDomains": [entry]}, expect_fail=True)
    assert weir.status == 2
    assert "allowedDomains[0]" in weir.log() and entry in weir.log()


def test_H13_wildcards_over_other_peoples_sites(gateway):
    for entry in ("*.github.io", "*.s3.amazonaws.com", "*.blogspot.com"):
        weir = gateway({"allowedDomains": [entry]})
        assert "warning" in weir.log() and entry in weir.log()


def test_H14_lengths(door):
    """253 bytes and labels of 63 are a name; one more is none. Nobody answers by them."""
    long = ".".join(["a" * 49] * 4)  # 199
    door.refused(head(f"{'c' * 63}.good.test:443"), 502)
    exact = f"{long}.{'b' * 43}.good.test"
    assert len(exact) == 253
    door.refused(head(f"{exact}:443"), 502)
    door.refused(head(f"{exact}.:443"), 502)
    for host in (f"{long}.{'b' * 44}.good.test", f"{'c' * 64}.good.test", "a" * 255,
                 "a" * 4000, f"{'a.' * 127}good.test", f"{'c' * 64}.test"):  # fmt: skip
        door.refused(head(f"{host}:443"), 400)
    assert all(len(line.get("raw", "")) <= 64 for line in door.lines())


def test_H15_ports(door):
    for port in ("65979", "0", "+443", "0443", "-1", "443abc", "65536", "4294967739",
                 "443.0", "18446744073709552059", "", "0x1bb", "443:", "443:443", "443/",
                 "00443", "4e2", "443;", "443,80", "443-445", "*", "https", "443%20",
                 "\u0664".encode().decode("latin1")):  # fmt: skip
        door.refused(head(f"a.good.test:{port}"), 400)
        door.refused(head(f"[::1]:{port}"), 400)
    for authority in ("a.good.test", "[::1]", ":443", "443", "a.good.test: 443",
                      "a.good.test :443", "a.good.test:443 ", ":", "::", ""):  # fmt: skip
        door.refused(head(authority), 400)
    assert {line["reason"] for line in door.untouched()} <= MALFORMED


def test_H16_another_port_of_an_allowed_name(door):
    for port in (22, 80, 443, 25, door.port + 1 if door.port < 65535 else 1):
        door.refused(head(f"good.test:{port}"), 403)
    assert {line["reason"] for line in door.untouched()} == {"not-on-allow-list"}
    door.opens(head(door.good))


def test_H16_ranges_of_ports(gateway, dns_server):
    weir = gateway(
        {"allowedDomains": ["good.test:8000-8003"], "deniedDomains": ["good.test:8002"]},
        resolver=dns_server(),
    )
    ports = range(7999, 8005)
    statuses = {port: weir.connect(f"good.test:{port}").status for port in ports}
    assert statuses == {7999: 403, 8000: 502, 8001: 502, 8002: 403, 8003: 502, 8004: 403}


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS",
                                    "PATCH"])
def test_H17_plain_requests_are_not_let_through(door, method):
    for url in ("http://evil.test/", "http://denied.test/", "http://good.test:22/x"):
        door.refused(head(url, "Host: good.test", method=method), 403)
    door.untouched()


def test_H18_whoever_asks_and_however(door):
    """A relay inside adds fields, other credentials, another order: all one."""
    fields = ["Host: good.test", "Proxy-Connection: keep-alive",
              "X-Forwarded-For: 127.0.0.1", "Proxy-Authorization: Basic eDp5",
              "Forwarded: for=127.0.0.1;host=good.test", "Via: 1.1 weir",
              "X-Forwarded-Host: good.test", "X-Smokescreen-Role: admin"]  # fmt: skip
    for n in range(len(fields)):
        turned = fields[n:] + fields[:n]
        door.refused(head("evil.test:443", *turned), 403)
        door.refused(head("evil.test:443", *[f.upper() for f in turned]), 403)
        door.refused(head("evil.test:443", *[f.lower() for f in turned[:n]]), 403)
    assert {line["reason"] for line in door.untouched()} == {"deny-list"}
