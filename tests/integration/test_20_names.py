"""A name is looked up once, what comes back is judged, and that is what is dialled."""

import os
import threading
import time

import pytest

HERE, THERE = "203.0.113.1", "203.0.113.2"
GREETING = b"220 the server\r\n"


class Place:
    """A gateway in one namespace, a server in the other, and a name server beside the
    gateway. The server's addresses are none of the gateway's host."""

    def __init__(self, pair, gateway, dns_server, banner_server):
        self.pair = pair
        self.start_gateway = gateway
        self.dns = dns_server(host=THERE, netns=pair.b)
        self.port = banner_server(GREETING, host="0.0.0.0", netns=pair.b)

    def gateway(self, network=None, hosts="", **more):
        network = {"allowedDomains": ["*.names.test"], **(network or {})}
        resolver = {"servers": [self.dns.address], "hostsFile": hosts}
        return self.start_gateway(network, resolver=resolver, netns=self.pair.a, **more)

    def asked(self, name):
        """How often the addresses of the name were asked for, by type."""
        types = [qtype for asked, qtype in self.dns.queries if asked == name]
        return types.count("A"), types.count("AAAA")


@pytest.fixture
def place(netns_pair, gateway, dns_server, banner_server):
    return Place(netns_pair(), gateway, dns_server, banner_server)


def assert_reaches(weir, authority):
    with weir.connect(authority) as tunnel:
        assert tunnel.status == 200, (tunnel.status, tunnel.phrase, tunnel.body)
        assert tunnel.read(len(GREETING)) == GREETING


def assert_refused(weir, authority, status, reason, lines):
    tunnel = weir.connect(authority, timeout=15)
    assert tunnel.status == status, (tunnel.status, tunnel.phrase, tunnel.body)
    event = weir.audit(lines)[lines - 1]
    assert (event["verdict"], event["reason"]) == ("deny", reason), event
    return tunnel, event


def test_the_answer_that_was_judged_is_dialled(place):
    """Row A11: a second question would have got loopback, TTL 0 or not."""
    place.dns.sequence("rebind.names.test", [[THERE], ["127.0.0.1"]], ttl=0)
    weir = place.gateway()
    assert_reaches(weir, f"rebind.names.test:{place.port}")
    assert place.asked("rebind.names.test") == (1, 1)
    time.sleep(1.2)  # the floor of the cache, and no answer came later than now
    tunnel, _ = assert_refused(
        weir, f"rebind.names.test:{place.port}", 403, "address-loopback", 2
    )
    assert tunnel.headers["x-proxy-error"] == "blocked-by-sandbox-runtime"
    assert place.asked("rebind.names.test") == (2, 2)


@pytest.mark.parametrize(
    "answer",
    [["127.0.0.1", THERE], [THERE, "127.0.0.1"], ["::1", THERE], [THERE, HERE],
     ["10.0.0.1", "169.254.169.254", THERE], ["::ffff:127.0.0.1", THERE]],
)  # fmt: skip
def test_of_a_mixed_answer_only_what_passes_is_dialled(place, answer):
    """Row A12."""
    place.dns.set("mixed.names.test", answer)
    weir = place.gateway({"deniedResolvedAddresses": ["10.0.0.0/8"]})
    assert_reaches(weir, f"mixed.names.test:{place.port}")
    assert weir.audit(1)[0]["addr"] == THERE


@pytest.mark.parametrize(
    "answer, reason",
    [
        (["127.0.0.1", "10.0.0.1"], "address-loopback"),
        (["10.0.0.1"], "address-listed"),
        (["::1", "169.254.169.254"], "address-loopback"),
    ],
)
def test_an_answer_of_which_nothing_passes_is_refused(place, answer, reason):
    place.dns.set("inside.names.test", answer)
    weir = place.gateway({"deniedResolvedAddresses": ["10.0.0.0/8"]})
    assert_refused(weir, f"inside.names.test:{place.port}", 403, reason, 1)


def test_a_resolver_that_fails_lets_nothing_through(place):
    """Row A13; that it is an upstream's failure and no refusal shows in the status."""
    place.dns.set("servfail.names.test", "SERVFAIL")
    place.dns.set("refused.names.test", "REFUSED")
    place.dns.set("empty.names.test", [])
    place.dns.set("silent.names.test", "DROP")
    place.dns.set("dangling.names.test", ["CNAME elsewhere.names.test"])
    weir = place.gateway()
    names = ["servfail", "refused", "empty", "missing", "dangling"]
    for count, name in enumerate(names, 1):
        tunnel, _ = assert_refused(
            weir, f"{name}.names.test:{place.port}", 502, "dns-failure", count
        )
        assert "x-proxy-error" not in tunnel.headers
    assert_refused(weir, f"silent.names.test:{place.port}", 504, "timeout", len(names) + 1)


def test_a_truncated_answer_is_asked_for_again_over_tcp(place):
    place.dns.set("big.names.test", f"TRUNCATE {THERE}")
    weir = place.gateway()
    assert_reaches(weir, f"big.names.test:{place.port}")


def test_the_end_of_a_chain_of_names_is_judged(place):
    """Row A14: allowed is who was asked for, not who that is an alias of."""
    place.dns.set("alias.names.test", ["CNAME internal.corp.example", "127.0.0.1"])
    place.dns.set("good.names.test", ["CNAME a.cdn.example", "CNAME b.cdn.example", THERE])
    weir = place.gateway()
    assert_refused(weir, f"alias.names.test:{place.port}", 403, "address-loopback", 1)
    assert_reaches(weir, f"good.names.test:{place.port}")


def test_the_hosts_file_answers_first_and_is_judged(place, tmp_path):
    """Row A17."""
    hosts = tmp_path / "hosts"
    hosts.write_text(f"127.0.0.1 inside.names.test\n{THERE} listed.names.test\n")
    place.dns.set("inside.names.test", [THERE])
    place.dns.set("listed.names.test", ["127.0.0.1"])
    weir = place.gateway(hosts=str(hosts))
    assert_refused(weir, f"inside.names.test:{place.port}", 403, "address-loopback", 1)
    assert_reaches(weir, f"listed.names.test:{place.port}")
    assert place.dns.queries == []
    hosts.write_text(f"{THERE} inside.names.test\n")
    time.sleep(1.2)  # it is looked at once a second
    assert_reaches(weir, f"inside.names.test:{place.port}")


def test_a_name_is_asked_for_as_it_is(place):
    """Row A17: no search domain is put behind it, and nothing that is denied is asked."""
    weir = place.gateway({"allowedDomains": ["short.test", "*.names.test"]})
    assert_refused(weir, "short.test:443", 502, "dns-failure", 1)
    assert_refused(weir, "denied.example:443", 403, "not-on-allow-list", 2)
    assert_refused(weir, "a.missing.names.test:443", 502, "dns-failure", 3)
    assert {name for name, _ in place.dns.queries} == {"short.test", "a.missing.names.test"}


def test_a_silent_name_stalls_nobody_else(place):
    """Row D9: forty clients wait for one name, and one question is under way for them."""
    many = 40
    place.dns.set("silent.names.test", "DROP")
    place.dns.set("good.names.test", [THERE])
    weir = place.gateway()
    answers = []
    threads = [
        threading.Thread(
            target=lambda: answers.append(
                weir.connect(f"silent.names.test:{place.port}", timeout=20).status
            )
        )
        for _ in range(many)
    ]
    for thread in threads:
        thread.start()
    for number in range(5):
        place.dns.set(f"good{number}.names.test", [THERE])
        assert_reaches(weir, f"good{number}.names.test:{place.port}")
    assert answers == []  # they were served while the others waited
    for thread in threads:
        thread.join(30)
    assert answers == [504] * many
    # Each type was sent again a few times by each worker, however many waited.
    assert max(place.asked("silent.names.test")) <= 4 * os.cpu_count()


def test_a_family_that_is_silent_does_not_take_the_other_down(place):
    """Some name servers drop what they do not know."""
    place.dns.set("half.names.test", [THERE])
    answer = place.dns.answer

    def half(query, stream):
        is_aaaa = b"\4half\5names\4test\0\0\x1c" in query.lower()
        return None if is_aaaa else answer(query, stream)

    place.dns.answer = half
    weir = place.gateway()
    started = time.monotonic()
    assert_reaches(weir, f"half.names.test:{place.port}")
    assert time.monotonic() - started < 4  # the deadline is at 5


def test_a_hosts_file_that_cannot_be_read_closes(place, tmp_path):
    hosts = tmp_path / "hosts"
    hosts.mkdir()
    place.dns.set("a.names.test", [THERE])
    weir = place.gateway(hosts=str(hosts))
    tunnel, _ = assert_refused(weir, f"a.names.test:{place.port}", 502, "dns-failure", 1)
    assert b"hosts file" in tunnel.body
    assert place.dns.queries == []
