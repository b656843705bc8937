"""Addresses asked for as such, and what names lead to: rows A1 to A10 and A15 of the
attacks. test_10_dial.py, test_20_names.py and test_21_addresses.py have the others."""

import pytest

from support.doorway import head

# One address in spellings that some library takes for it.
NO_SPELLINGS = [
    "127.1", "127.0.1", "127", "2130706433", "0x7f000001", "0x7f.1", "0x7f.0.0.1",
    "0177.0.0.1", "017700000001", "0177.1", "127.0.0.1.", "127.0.0.1..", "127.0.0.01",
    "127.0.0.001", "127.0.0.0x1", "0127.0.0.1", "127.0.0.256", "127.0.0.1.1", "0", "0x0",
    "00", "0.0", "127.0.0.+1", "0X7F000001", "0x7f000001.", "good.0x1", "good.1",
    "a.b.c.0", "127.0.0.", "1.", "127..1", ".127.0.0.1", "4294967295", "4294967296",
    "18446744073709551617", "0x", "good.0x", "[127.0.0.1]",
    "\u0661.1.1.1".encode().decode("latin1"), "1.1.1.1%00", "127.0.0.1%lo",
]  # fmt: skip
NO_V6 = [
    "::1", "[::1", "::1]", "[::1%lo]", "[::1%25lo]", "[::1%]", "[fe80::1%eth0]",
    "[fe80::1%1]", "[::g]", "[:::1]", "[1::2::3]", "[1:2:3:4:5:6:7]",
    "[1:2:3:4:5:6:7:8:9]", "[12345::]", "[::127.1]", "[::ffff:127.0.0.01]",
    "[::ffff:0x7f.0.0.1]", "[::ffff:2130706433]", "[::1/128]", "[ ::1]", "[::1 ]",
    "[0x0::1]", "[::1.]", "[::ffff:127.0.0.1.]", "[v6.::1]", "[::ffff:1.2.3.4:5]",
    "[+::1]",
]  # fmt: skip


def test_A1_numbers_that_are_no_address(doorway):
    """Every entry stands for 127.0.0.1 with somebody; here it is on the list even."""
    door = doorway(allowedDomains=["0.0.0.0", "[::1]", "*.good.test"], mode="report")
    for host in NO_SPELLINGS:
        door.refused(head(f"{host}:{door.port}"), 400)
    reasons = {line["reason"] for line in door.untouched()}
    assert reasons <= {"malformed-host", "malformed-request"}
    door.opens(head(f"127.0.0.1:{door.port}"))


def test_A1_numbers_in_lists(gateway):
    """A spelling that is none would be an entry that never matches: it is refused."""
    for entry in ("127.1", "0x7f.0.0.1", "2130706433", "0177.0.0.1", "127.0.0.256",
                  "good.1", "::1:80"):
        for key in ("allowedDomains", "deniedDomains"):
            weir = gateway({key: [entry]}, expect_fail=True)
            assert weir.status == 2 and f"{key}[0]" in weir.log(), weir.log()


# What each means for an IPv4 or IPv6 destination inside, in any notation.
WRAPPED_LOOPBACK = [
    "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::FFFF:127.0.0.1]",
    "[0:0:0:0:0:ffff:7f00:0001]", "[0000:0000:0000:0000:0000:ffff:7f00:0001]",
    "[::0:ffff:7f00:1]",
]  # fmt: skip


def test_A2_A3_mapped_addresses_are_the_ipv4_address(doorway):
    """Listed they open, denied they do not, in whatever spelling: 16 bytes decide."""
    door = doorway()
    for host in WRAPPED_LOOPBACK:
        door.opens(head(f"{host}:{door.port}"))
    assert {line["host"] for line in door.lines()} == {"127.0.0.1"}
    for deny in ("127.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"):
        door = doorway(deniedDomains=[deny])
        for host in [*WRAPPED_LOOPBACK, "127.0.0.1"]:
            door.refused(head(f"{host}:{door.port}"), 403)
        assert {line["reason"] for line in door.untouched()} == {"deny-list"}


def test_A3_one_ipv6_address_in_its_spellings(gateway):
    spellings = ["[2001:db8::1]", "[2001:DB8::1]", "[2001:0db8:0:0:0:0:0:1]",
                 "[2001:db8:0::0:1]", "[2001:0db8:0000:0000:0000:0000:0000:0001]",
                 "[2001:db8::0.0.0.1]"]  # fmt: skip
    for entry in spellings:
        weir = gateway({"mode": "report", "deniedDomains": [entry]})
        for host in spellings:
            refused = weir.connect(f"{host}:443")
            assert refused.status == 403, (entry, host)
        lines = weir.audit(len(spellings))
        assert {line["host"] for line in lines} == {"2001:db8::1"}
        assert {line["reason"] for line in lines} == {"deny-list"}


# Row by row: what must not be reached although everything is let through that is not
# closed for what it is ("report"), with the private ranges closed too.
CLOSED = {
    "A2": ["[::ffff:127.0.0.1]", "[::ffff:169.254.169.254]", "[::ffff:10.0.0.1]",
           "[::ffff:0.0.0.0]"],
    "A4": ["[::127.0.0.1]", "[::a9fe:a9fe]", "[::ffff:0:7f00:1]", "[::ffff:0:a9fe:a9fe]",
           "[::7f00:1]", "[::10.0.0.1]", "[::ffff:0:10.0.0.1]"],
    "A5": ["[64:ff9b::7f00:1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b::10.0.0.1]",
           "[64:ff9b::127.0.0.1]"],
    "A6": ["[64:ff9b:1::a9fe:a9fe]", "[64:ff9b:1::7f00:1]", "[64:ff9b:1:fffe::1]"],
    "A7": ["[2002:7f00:1::]", "[2002:a9fe:a9fe::]", "[2002:a00:1::1]",
           "[2001:0:4136:e378:8000:63bf:80ff:fffe]", "[2001:db8::5efe:7f00:1]",
           "[fe80::200:5efe:a00:1]", "[2001:0:7f00:1:8000:63bf:f7f7:f7f7]",
           "[2600::200:5efe:a9fe:a9fe]"],
    "A9": ["[fec0::1]", "[fd00:ec2::254]", "[fc00::1]", "[ff02::1]", "[fe80::1]",
           "[ff0e::1]", "[::]", "[::1]", "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1",
           "127.0.0.1", "127.255.255.254", "169.254.0.1", "172.16.0.1", "172.31.255.255",
           "192.168.0.1", "224.0.0.1", "239.255.255.250", "255.255.255.255", "[100::1]",
           "[2001:db8::1]", "[3fff::1]", "[5f00::1]", "[2001:2::1]", "192.0.0.1",
           "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "240.0.0.1"],
    "A10": ["168.63.129.16", "100.100.100.200", "192.0.0.192", "169.254.170.2",
            "169.254.169.254", "[fd00:ec2::254]", "[fd20:ce::254]",
            "[::ffff:168.63.129.16]", "[64:ff9b::a83f:8110]", "[2002:a83f:8110::1]"],
}  # fmt: skip


@pytest.fixture
def far(gateway, dns_server, netns_pair):
    """far(answers, **network): a gateway in a namespace without a way to the world, so
    that what is let through fails there (502) instead of reaching somebody."""
    pair = netns_pair()

    def start(answers, **network):
        names = dns_server(answers, host="203.0.113.2", netns=pair.b)
        return gateway(network, resolver=names, netns=pair.a)

    return start


@pytest.mark.parametrize("row", CLOSED)
def test_A2_to_A10_closed_addresses(far, row):
    """As a literal, and as what an allowed name leads to."""
    answers = {f"n{i}.good.test": [a.strip("[]")] for i, a in enumerate(CLOSED[row])}
    weir = far(
        answers, allowedDomains=["*.good.test"], mode="report", privateAddresses="deny"
    )
    for address, name in zip(CLOSED[row], answers):
        for host in (address, name):
            refused = weir.connect(f"{host}:80")
            assert refused.status == 403, (address, host, refused.phrase)
            assert refused.headers["x-proxy-error"] == "blocked-by-sandbox-runtime"
    for line in weir.audit(2 * len(answers)):
        assert line["reason"].startswith("address-"), line


def test_A5_nat64_to_a_public_address_stays_usable(far):
    usable = ["64:ff9b::808:808", "::ffff:8.8.8.8", "2002:808:808::1",
              "2606:4700:4700::1111", "8.8.8.8"]  # fmt: skip
    answers = {f"n{i}.good.test": [address] for i, address in enumerate(usable)}
    weir = far(answers, allowedDomains=["*.good.test"], privateAddresses="deny")
    for name in answers:
        assert weir.connect(f"{name}:9").status == 502, name
    assert {line["reason"] for line in weir.audit(len(usable))} == {"connect-failure"}


@pytest.mark.parametrize("bits, wrapped", [
    (32, "2001:db8:7f00:1::"), (40, "2001:db8:107f:0:1::"), (48,
    "2001:db8:1:7f00:0:100::"),
    (56, "2001:db8:1:27f:0:1::"), (64, "2001:db8:1:2:7f:0:100:0"), (96,
    "2001:db8:1:2::7f00:1"),
])  # fmt: skip
def test_A6_nat64_prefixes_of_ones_own(far, bits, wrapped):
    """RFC 6052: bits 64 to 71 are left out of the address, in each length."""
    prefix = {32: "2001:db8::", 40: "2001:db8:1000::", 48: "2001:db8:1::",
        56: "2001:db8:1:200::",
              64: "2001:db8:1:2::", 96: "2001:db8:1:2::"}[bits]  # fmt: skip
    for prefixes, status in [([f"{prefix}/{bits}"], 403), ([], 502)]:
        weir = far({"n.good.test": [wrapped]}, allowedDomains=["*.good.test"],
                   nat64Prefixes=prefixes)  # fmt: skip
        assert weir.connect("n.good.test:9").status == status, prefixes


def test_A8_zones_and_other_ipv6_nonsense(doorway):
    door = doorway(mode="report", allowedDomains=["[::1]", "[fe80::1]"])
    for host in NO_V6:
        door.refused(head(f"{host}:443"), 400)
    door.refused(head("http://[::1%25eth0]/", method="GET"), 400)
    door.untouched()


def test_A10_metadata_names_and_ranges(far):
    """Only the exact literal opens an address of a cloud's metadata service."""
    listed = ["metadata.google.internal", "metadata.azure.internal", "meta.good.test"]
    names = {name: ["169.254.169.254"] for name in [*listed, "metadata"]}
    names["azure.good.test"] = ["168.63.129.16"]
    weir = far(names, allowedDomains=[*listed, "*.good.test"], mode="report")
    for name in names:
        assert weir.connect(f"{name}:80").status == 403, name
    weir = far(names, allowedDomains=["*.good.test", "168.63.129.16:80"])
    assert weir.connect("azure.good.test:80").status == 502
    assert weir.connect("azure.good.test:81").status == 403
    assert weir.connect("meta.good.test:80").status == 403


def test_A15_two_gateways_do_not_chase_each_other(gateway):
    """Each allows the other: a chain of CONNECTs ends where one would call itself."""
    first = gateway({"allowedDomains": ["127.0.0.1"]})
    second = gateway({"allowedDomains": ["127.0.0.1"]})
    ring = f"CONNECT 127.0.0.1:{first.port} HTTP/1.1\r\n\r\n".encode()
    with first.connect(f"127.0.0.1:{second.port}") as tunnel:
        assert tunnel.status == 200
        tunnel.send(ring)
        assert tunnel.read(13) == b"HTTP/1.1 200 "
        while b"\r\n\r\n" not in tunnel.rest:
            tunnel.rest += tunnel.sock.recv(4096)
        tunnel.send(ring)
        assert b"HTTP/1.1 403 " in tunnel.read_all()
    assert "address-own" in {line["reason"] for line in first.audit(2)}
