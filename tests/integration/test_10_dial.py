"""What becomes of a target that policy has allowed."""

import errno
import socket

import pytest

from support.servers import echo
from support.wait import wait_until


@pytest.mark.parametrize("record", ["NXDOMAIN", "SERVFAIL", []])
def test_names_without_an_address(gateway, dns_server, record):
    """A13: no address is not an allowed address."""
    weir = gateway(
        {"allowedDomains": ["gone.test"]}, resolver=dns_server({"gone.test": record})
    )
    refused = weir.connect("gone.test:443")
    assert refused.status == 502 and "dns_error" in refused.headers["proxy-status"]
    assert weir.audit()[0]["reason"] == "dns-failure"


def test_name_server_that_never_answers(gateway, dns_server):
    weir = gateway(
        {"allowedDomains": ["slow.test"]}, resolver=dns_server({"slow.test": "DROP"}),
        limits={"connectSeconds": 0.5},
    )  # fmt: skip
    refused = weir.connect("slow.test:443", timeout=20)
    assert refused.status == 504 and "dns_timeout" in refused.headers["proxy-status"]
    assert weir.audit()[0]["reason"] == "timeout"


def test_name_server_that_refuses(gateway):
    """It is no time-out, and not known only after one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.connect(("127.0.0.1", 9))  # others are refused
        weir = gateway(
            {"allowedDomains": ["gone.test"]},
            resolver={"servers": [f"127.0.0.1:{deaf.getsockname()[1]}"]},
        )
        refused = weir.connect("gone.test:443", timeout=20)
    assert (refused.status, refused.phrase) == (
        502, "connection refused by the DNS server",
    )  # fmt: skip
    assert "dns_error" in refused.headers["proxy-status"]
    assert weir.audit()[0]["reason"] == "dns-failure"


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def test_server_that_refuses(gateway):
    port = free_port()
    weir = gateway({"allowedDomains": [f"127.0.0.1:{port}"]})
    refused = weir.connect(f"127.0.0.1:{port}")
    assert (refused.status, refused.phrase) == (502, "the server refused the connection")
    assert "connection_refused" in refused.headers["proxy-status"]
    (line,) = weir.audit()
    assert line["reason"] == "connect-failure" and line["addr"] == "127.0.0.1"


def test_server_that_is_silent(gateway):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        where = listener.getsockname()
        fillers = [socket.socket() for _ in range(8)]
        for filler in fillers:
            filler.setblocking(False)
            assert filler.connect_ex(where) in (0, errno.EINPROGRESS)
        weir = gateway(
            {"allowedDomains": [f"127.0.0.1:{where[1]}"]}, limits={"connectSeconds": 0.5}
        )
        refused = weir.connect(f"127.0.0.1:{where[1]}", timeout=20)
        assert refused.status == 504
        assert weir.audit()[0]["reason"] == "timeout"
        for filler in fillers:
            filler.close()


def test_only_judged_addresses_are_dialled(gateway, dns_server, server):
    """A12: of {denied, allowed} in any order only the allowed one is tried."""
    good = server(echo)
    bad = server(echo, host="127.0.0.2", port=good.port)
    for answer in (["127.0.0.2", "127.0.0.1"], ["127.0.0.1", "127.0.0.2"]):
        weir = gateway(
            {"allowedDomains": [f"two.test:{good.port}", f"127.0.0.1:{good.port}"]},
            resolver=dns_server({"two.test": answer}),
        )
        with weir.connect(f"two.test:{good.port}") as tunnel:
            assert tunnel.status == 200
        assert weir.audit()[0]["addr"] == "127.0.0.1"
    # The kernel takes a connection before the server does.
    wait_until(lambda: good.connections == 2, 30, lambda: str(good.connections))
    assert bad.connections == 0


def test_name_that_changes_its_mind(gateway, dns_server, server):
    """A11: one lookup a dial, and what it gave is what is dialled."""
    there = server(echo)
    names = dns_server({}, ttl=0)
    names.sequence("swap.test", [["127.0.0.1"], ["127.0.0.2"]])
    weir = gateway(
        {"allowedDomains": [f"swap.test:{there.port}", f"127.0.0.1:{there.port}"]},
        resolver=names,
    )
    with weir.connect(f"swap.test:{there.port}") as tunnel:
        assert tunnel.status == 200
        tunnel.send(b"x")
        assert tunnel.read(1) == b"x"  # so the server has taken the connection
    assert names.queries.count(("swap.test", "A")) == 1
    assert there.connections == 1


def test_next_address_when_one_refuses(gateway, dns_server, server):
    there = server(echo)
    weir = gateway(
        {"allowedDomains": [f"two.test:{there.port}", f"127.0.0.1:{there.port}",
                            f"127.0.0.9:{there.port}", f"[::1]:{there.port}"]},
        resolver=dns_server({"two.test": ["127.0.0.9", "127.0.0.1", "::1"]}),
    )  # fmt: skip
    with weir.connect(f"two.test:{there.port}") as tunnel:
        assert tunnel.status == 200
    assert weir.audit()[0]["addr"] == "127.0.0.1"


def test_public_addresses_through_a_namespace(gateway, netns_pair, server, tmp_path):
    """Addresses that are not this host's need no entry of their own."""
    pair = netns_pair()
    four = server(echo, host="203.0.113.2", netns=pair.b)
    six = server(echo, host="2001:db8:1::2", port=four.port, netns=pair.b)
    hosts = tmp_path / "hosts"
    hosts.write_text("203.0.113.2 far.test\n2001:db8:1::2 far.test\n")
    weir = gateway(
        {"allowedDomains": [f"far.test:{four.port}"]}, netns=pair.a,
        resolver={"servers": ["127.0.0.1:9"], "hostsFile": str(hosts)},
    )  # fmt: skip
    with weir.connect(f"far.test:{four.port}") as tunnel:
        assert tunnel.status == 200
        tunnel.send(b"far away")
        assert tunnel.read(8) == b"far away"
    assert weir.audit()[0]["addr"] == "2001:db8:1::2"
    six.close()
    with weir.connect(f"far.test:{four.port}") as tunnel:
        assert tunnel.status == 200
    assert weir.audit(2)[1]["addr"] == "203.0.113.2"
