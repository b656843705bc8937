"""No socket leads out: neither to the host's own sockets nor by other families."""

import socket
import threading

from support.sandbox import assert_refused, probe

# What a sandbox may make: INET, INET6 (stream, datagram; protocol 0, TCP, UDP), and
# NETLINK_ROUTE.
ALLOWED = {
    f"{family}/{kind}" for family, kind in
    (("2", "1/0"), ("2", "1/6"), ("2", "2/0"), ("2", "2/17"), ("10", "1/0"), ("10", "1/6"),
     ("10", "2/0"), ("10", "2/17"), ("16", "2/0"), ("16", "3/0"))
} | {"netlink 0"}  # fmt: skip


def test_families(box):
    assert set(probe(box, "families")["made"]) == ALLOWED
    outside = set(probe(box, "families", weirless=True)["made"])
    assert {"1/1/0", "1/2/0"} <= outside  # the prober can make what is there


def test_each_way(box):
    assert_refused(
        probe(box, "sockets"), "EAFNOSUPPORT", "EPERM", "EPROTONOSUPPORT", "ESOCKTNOSUPPORT"
    )


def test_what_programs_need(box):
    results = probe(box, "useful_sockets")
    assert set(results.values()) == {"open"}, results


def test_unix_sockets_of_the_host(box):
    """By path and by abstract name (P11: docker.sock, X11, agents)."""
    path, abstract = str(box.work / "host.sock"), f"weir-test-{box.top.name}"
    listeners = []
    for address in (path, "\0" + abstract):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(address)
        listener.listen(8)
        listeners.append(listener)
    (box.work / "host.sock").chmod(0o777)
    outside = probe(box, "unix", path, abstract, weirless=True)
    assert set(outside.values()) == {"open"}, outside
    for settings in (None, {"filesystem": {"allowWrite": ["."]}}):
        assert_refused(probe(box, "unix", path, abstract, settings=settings), "EAFNOSUPPORT")
    for listener in listeners:
        listener.close()


def answer_datagrams(sock):
    while True:
        try:
            data, peer = sock.recvfrom(100)
            sock.sendto(data, peer)
        except OSError:
            return


def host_addresses():
    """Those that this machine has beside loopback, without asking anybody."""
    found = set()
    for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET):
        found.add(info[4][0])
    return sorted(found)


def test_services_of_the_host(box, echo_server):
    """TCP, UDP, and TCP fast open, which no connect() precedes."""
    port = echo_server()
    with socket.socket(type=socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", port))
        thread = threading.Thread(target=answer_datagrams, args=(udp,), daemon=True)
        thread.start()
        outside = probe(box, "reach", f"127.0.0.1 {port}", weirless=True)
        assert outside[f"tcp 127.0.0.1 {port}"] == "open"
        assert outside[f"udp 127.0.0.1 {port}"] == "open"
        targets = [f"{host} {port}" for host in ("127.0.0.1", "127.0.0.2", "::1", *host_addresses())]
        assert_refused(probe(box, "reach", *targets))


def test_the_rest_of_the_world(box):
    """Without a route there is not even a first packet."""
    targets = ["192.0.2.1 53", "198.51.100.7 443", "2001:db8::1 53", "169.254.169.254 80",
               "10.0.0.1 80"]  # fmt: skip
    assert_refused(probe(box, "reach", *targets), "ENETUNREACH", "EADDRNOTAVAIL")


def test_names_do_not_leave(box, dns_server):
    """A name server that the host could ask is not asked; look-ups fail at once."""
    server = dns_server({"leak.test": ["127.0.0.1"]})
    host, port = server.address.split(":")
    assert_refused(probe(box, "reach", f"{host} {port}"))
    done = box.run("getent", "hosts", "leak.test", timeout=9)
    assert done.returncode != 0
    assert server.queries == []


def test_only_loopback_is_there(box):
    done = box.python("import socket; print(socket.if_nameindex())")
    assert done.stdout == "[(1, 'lo')]\n"
    done = box.sh("cat /proc/net/route /proc/net/ipv6_route | grep -v lo | grep -v Iface")
    assert done.stdout == ""
