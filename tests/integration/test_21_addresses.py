"""Where a name turns out to be decides, whatever the name; see also test_20_names.py."""

import pytest

from support.wait import wait_until

HERE, THERE, MOVING = "203.0.113.1", "203.0.113.2", "203.0.113.9"
MOVING6 = "2001:db8:1::9"
GREETING = b"220 the server\r\n"


class Place:
    """A gateway in one namespace; servers and a name server in the other."""

    def __init__(self, pair, gateway, dns_server, banner_server):
        self.pair = pair
        self.start_gateway = gateway
        self.dns = dns_server(host=THERE, netns=pair.b)
        self.serve = banner_server
        self.port = banner_server(GREETING, host="::", netns=pair.b)
        self.asked = 0

    def gateway(self, *allowed, hosts="", **network):
        network["allowedDomains"] = ["*.names.test", *allowed]
        resolver = {"servers": [self.dns.address], "hostsFile": hosts}
        return self.start_gateway(network, resolver=resolver, netns=self.pair.a)

    def name(self, *answer):
        """A new name, so that no cache has a say."""
        self.asked += 1
        name = f"n{self.asked}.names.test"
        self.dns.set(name, list(answer))
        return name


@pytest.fixture
def place(netns_pair, gateway, dns_server, banner_server):
    return Place(netns_pair(), gateway, dns_server, banner_server)


def ask(weir, authority):
    """The status, and the audit line of this request."""
    before = len(weir.audit(0))
    with weir.connect(authority, timeout=20) as tunnel:
        if tunnel.status == 200:
            assert tunnel.read(len(GREETING)) == GREETING
    return tunnel.status, weir.audit(before + 1)[before]


# From the vectors of the semantics, and rows A2 to A10 of the attacks: what a name may
# resolve to, and as what it is refused.
CLASSES = {
    "address-loopback": ["127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1",
                         "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1",
                         "2002:7f00:1::1"],
    "address-unspecified": ["0.0.0.0", "::"],
    "address-link-local": ["169.254.1.1", "fe80::1"],
    "address-multicast": ["224.0.0.1", "ff02::1", "255.255.255.255"],
    "address-metadata": ["100.100.100.200", "168.63.129.16", "192.0.0.192",
                         "fd00:ec2::254", "fd20:ce::254", "fd00:c1::a9fe:a9fe",
                         "fd00:42::42", "fd00:a9fe:a9fe::1", "fd00:100::100:200"],
    "address-this-host": [HERE, f"::ffff:{HERE}", "2001:db8:1::1"],
}  # fmt: skip


def test_an_address_of_a_closed_class_is_refused(place):
    weir = place.gateway()
    for reason, addresses in CLASSES.items():
        for address in addresses:
            status, event = ask(weir, f"{place.name(address)}:{place.port}")
            assert (status, event["reason"]) == (403, reason), (address, event)
    status, event = ask(weir, f"{place.name('169.254.169.254')}:80")
    assert status == 403 and event["reason"] in (
        "address-link-local",
        "address-metadata",
    )


def test_a_private_address_is_reached_unless_it_is_closed(place):
    """There is no way to these from here: allowed and failed is 502, denied 403."""
    private = ["10.0.0.1", "192.168.1.1", "fc00::1"]
    weir = place.gateway()
    for address in private:
        status, event = ask(weir, f"{place.name(address)}:{place.port}")
        assert (status, event["reason"]) == (502, "connect-failure"), (address, event)
    weir = place.gateway(privateAddresses="deny")
    for address in private:
        status, event = ask(weir, f"{place.name(address)}:{place.port}")
        assert (status, event["reason"]) == (403, "address-private"), (address, event)


def expect_this_host(weir, authority):
    """The kernel may let a new IPv6 address wait for a moment before it belongs to the
    host at all. Until then nothing is reached there; afterwards it is denied."""

    def denied():
        status, event = ask(weir, authority)
        if (status, event["reason"]) == (502, "connect-failure"):
            return None
        return status, event["reason"]

    assert wait_until(denied, 30, "still 502") == (403, "address-this-host")


@pytest.mark.parametrize("address", [MOVING, MOVING6])
def test_an_address_that_this_host_gets_later_is_denied_from_then_on(place, address):
    """The very next lookup knows, and the one after it is taken away again too."""
    bits = 64 if ":" in address else 24
    a, b = place.pair.a, place.pair.b
    b.add_address(f"{address}/{bits}")
    weir = place.gateway()
    status, event = ask(weir, f"{place.name(address)}:{place.port}")
    assert (status, event["addr"]) == (200, address)

    b.run("ip", "address", "del", f"{address}/{bits}", "dev", "cable")
    a.add_address(f"{address}/{bits}")
    expect_this_host(weir, f"{place.name(address)}:{place.port}")
    # Of several only the others are dialled.
    status, event = ask(weir, f"{place.name(address, THERE)}:{place.port}")
    assert (status, event["addr"]) == (200, THERE)

    a.run("ip", "address", "del", f"{address}/{bits}", "dev", "cable")
    a.run("ip", "neigh", "flush", "dev", "cable")
    b.add_address(f"{address}/{bits}")
    status, event = ask(weir, f"{place.name(address)}:{place.port}")
    assert (status, event["addr"]) == (200, address)


def test_an_address_outlives_no_cache(place):
    """The answer is remembered, what it means is not: it is judged at each request."""
    place.pair.b.add_address(f"{MOVING}/24")
    weir = place.gateway()
    name = place.name(MOVING)
    assert ask(weir, f"{name}:{place.port}")[0] == 200
    place.pair.b.run("ip", "address", "del", f"{MOVING}/24", "dev", "cable")
    place.pair.a.add_address(f"{MOVING}/24")
    status, event = ask(weir, f"{name}:{place.port}")
    assert (status, event["reason"]) == (403, "address-this-host")
    assert len([1 for asked, _ in place.dns.queries if asked == name]) == 2


def test_the_gateway_itself_is_nobodys_target(place):
    """Row A15, also where loopback and this port are on the allow list."""
    weir = place.gateway("127.0.0.1", "localhost")
    for host in ("127.0.0.1", place.name("127.0.0.1"), place.name("::ffff:127.0.0.1")):
        status, event = ask(weir, f"{host}:{weir.port}")
        assert (status, event["reason"]) == (403, "address-own"), event
    # Of the two addresses of localhost the other one is dialled, where nobody listens.
    status, event = ask(weir, f"localhost:{weir.port}")
    assert (status, event["addr"]) == (502, "::1"), event


def test_a_literal_opens_its_own_address_and_port_only(place):
    inside = place.serve(GREETING, netns=place.pair.a)
    other = place.serve(GREETING, netns=place.pair.a)
    weir = place.gateway(f"127.0.0.1:{inside}")
    for answer, port, expected in [
        ("127.0.0.1", inside, 200),
        ("::ffff:127.0.0.1", inside, 200),
        ("127.0.0.1", other, 403),
        ("64:ff9b::7f00:1", inside, 403),  # a decoded form only ever adds denials
        ("127.0.0.2", inside, 403),
    ]:
        status, event = ask(weir, f"{place.name(answer)}:{port}")
        assert status == expected, (answer, port, event)


def test_a_localhost_name_is_loopback_or_nothing(place, tmp_path):
    """RFC 6761: no server is asked, and a hosts file cannot lead it elsewhere."""
    inside = place.serve(GREETING, netns=place.pair.a)
    hosts = tmp_path / "hosts"
    hosts.write_text(f"{THERE} localhost\n")
    weir = place.gateway("localhost", hosts=str(hosts))
    status, event = ask(weir, f"localhost:{place.port}")
    assert (status, event["reason"]) == (403, "address-not-loopback"), event
    weir = place.gateway("localhost", f"127.0.0.1:{inside}")
    status, event = ask(weir, f"localhost:{inside}")
    assert (status, event["addr"]) == (200, "127.0.0.1"), event
    assert place.dns.queries == []


def test_what_is_routed_to_this_host_is_this_host(place):
    """A balancer's address stands on no interface and ends here all the same. A local
    route of another table is a transparent proxy's, and says nothing of this host."""
    inside = place.serve(GREETING, host="::", netns=place.pair.a)
    weir = place.gateway()
    here, far = ["203.0.113.77", "2001:db8:9::5"], ["198.51.100.5", "2001:db8:1::2"]
    names = {answer: place.name(answer) for answer in here}
    place.pair.b.run("ip", "address", "add", f"{far[0]}/32", "dev", "lo")
    place.pair.a.run("ip", "route", "add", far[0], "via", THERE)
    assert ask(weir, f"{place.name(far[0])}:{place.port}")[0] == 200
    for route in ("203.0.113.77/32", "2001:db8:9::/64"):
        place.pair.a.run("ip", "route", "add", "local", route, "dev", "lo")
    for everything in ("0.0.0.0/0", "::/0"):
        place.pair.a.run(
            "ip", "route", "add", "local", everything, "dev", "lo", "table", "100"
        )
    for answer in here:
        status, event = ask(weir, f"{names[answer]}:{inside}")
        assert (status, event["reason"]) == (403, "address-this-host"), event
    for answer in far:
        assert ask(weir, f"{place.name(answer)}:{place.port}")[0] == 200
    place.pair.a.run("ip", "route", "del", "local", "203.0.113.77/32", "dev", "lo")
    status, event = ask(weir, f"{names[here[0]]}:{place.port}")
    assert event["reason"] == "connect-failure", event
