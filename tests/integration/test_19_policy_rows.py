"""Rows P1 to P9 of the attacks, as far as one gateway with one policy is concerned."""

import base64

import pytest

from support.doorway import head

ANYTHING = ["a.test:443", "localhost:80", "127.0.0.1:80", "[::1]:80", "8.8.8.8:53", "x.b:1",
            "169.254.169.254:80", "[2001:db8::1]:443", "_dmarc.a.test:25"]  # fmt: skip


@pytest.mark.parametrize("network", [{}, {"allowedDomains": []}, None])
def test_P1_nothing_listed_is_nothing_allowed(gateway, dns_server, network):
    names = dns_server()
    tree = {"listen": ["127.0.0.1:0"], "resolver": {"servers": [names.address]}}
    if network is not None:
        tree["network"] = network
    weir = gateway(settings=tree)
    for authority in ANYTHING:
        assert weir.connect(authority).status == 403, authority
    assert names.queries == []
    assert {line["verdict"] for line in weir.audit(len(ANYTHING))} == {"deny"}


@pytest.mark.parametrize("text, word", [
    ('"network": {"alow": ["a.test"]}', "alow"),
    ('"network": {"AllowedDomains": ["a.test"]}', "allowedDomains"),
    ('"network": {"allowedDomains": "a.test"}', "network.allowedDomains"),
    ('"network": {"allowedDomains": {"a.test": 1}}', "network.allowedDomains"),
    ('"network": {"allowedDomains": [true]}', "network.allowedDomains[0]"),
    ('"network": {"allowedDomains": []}, "network": {}', "network"),
    ('"network": {"mode": "report", "mode": "enforce"}', "mode"),
    ('"network": {"mode": "off"}', "network.mode"), ('"network": []', "network"),
    ('"netwrok": {}', "network"), ('"network": {"deniedDomains": null}', "deniedDomains"),
    ('"network": {"sni": true}', "network.sni"), ('"network": {"nat64Prefixes": ["::/0"]}', "nat64"),
])  # fmt: skip
def test_P3_a_file_that_is_not_understood_starts_nothing(gateway, text, word):
    weir = gateway(settings='{"listen": ["127.0.0.1:0"],\n' + text + "}", expect_fail=True)
    assert weir.status == 2
    assert "gateway.json: line 2" in weir.log() and word in weir.log(), weir.log()
    assert "listening" not in weir.log()


def test_P4_deny_beats_allow(gateway, dns_server):
    """In whatever order, spelling and width; of a port only for that port."""
    for allowed, denied, host in [
        ("a.test", "a.test", "a.test"), ("a.test", "A.TEST.", "a.test"),
        ("a.test:443", "a.test", "a.test"), ("a.test", "a.test:443", "a.test"),
        ("x.a.test", "*.a.test", "x.a.test"), ("*.a.test", "x.a.test", "x.a.test"),
        ("*.a.test", "*.a.test", "y.x.a.test"), ("a.test", "*", "a.test"),
        ("[2001:db8::1]", "[2001:db8:0::1]", "[2001:db8::1]"),
        ("192.0.2.1", "[::ffff:192.0.2.1]", "192.0.2.1"), ("192.0.2.1", "*", "192.0.2.1"),
        ("xn--bcher-kva.test", "b\u00fccher.test", "xn--bcher-kva.test"),
    ]:  # fmt: skip
        weir = gateway({"allowedDomains": [allowed], "deniedDomains": [denied]})
        assert weir.connect(f"{host}:443").status == 403, (allowed, denied)
        (line,) = weir.audit()
        assert (line["reason"], line["rule"]) == ("deny-list", "network.deniedDomains[0]")
    weir = gateway(
        {"allowedDomains": ["a.test"], "deniedDomains": ["a.test:443"]}, resolver=dns_server()
    )
    assert weir.connect("a.test:444").status == 502


def test_P5_no_field_says_who_asks(doorway):
    """Nothing that a client can write changes its policy, or what is recorded of it."""
    door = doorway()
    for field in ("X-Smokescreen-Role: admin", "X-Forwarded-For: 10.0.0.1", "X-Real-IP: ::1",
                  "Forwarded: for=10.0.0.1", "Proxy-Authorization: Basic YWRtaW46eA==",
                  "X-Client: admin", "Cookie: session=admin", "Via: 1.1 weir"):  # fmt: skip
        door.refused(head("denied.test:443", field), 403)
    assert {line["client"] for line in door.untouched()} == {"127.0.0.1"}
    assert {line["session"] for line in door.lines() if "session" in line} <= {"gateway"}


def test_P8_nothing_leaks_by_a_question(doorway):
    """The name is judged before anybody is asked, and name servers are not reached."""
    door = doorway()
    secret = base64.b32encode(b"the secret of the house").decode().strip("=").lower()
    for host in (secret, f"{secret}.evil.test", f"{secret}.{secret}.test", "dns.google",
                 f"{secret}.good.test", "cloudflare-dns.com", "one.one.one.one"):  # fmt: skip
        for port in (443, 53, 853, door.port):
            door.refused(head(f"{host}:{port}"), 403)
    for address in ("8.8.8.8", "1.1.1.1", "[2001:4860:4860::8888]", "127.0.0.53", "9.9.9.9"):
        for port in (53, 443, 853):
            door.refused(head(f"{address}:{port}"), 403)
    door.refused(head(f"127.0.0.1:{door.dns.port}"), 403)
    door.untouched()
