"""Cases of protocol clients (PRO) and of names that get around (BYP), by CONNECT."""

import pathlib
import socket
import threading

import pytest

from support.doorway import head
from support.servers import banner
from support.tunnel import read_to_end

BYTES = pathlib.Path(__file__).resolve().parents[1] / "data/bytes"
MIB = 1024 * 1024


def test_PRO_01_http10_without_host(doorway):
    """What http.client of Python, socat and proxychains send."""
    door = doorway(deniedDomains=["denied.test"])
    door.opens(head(door.good, version="HTTP/1.0"))
    door.opens(head(door.good, "Proxy-Connection: keep-alive", version="HTTP/1.0"))
    door.opens(head(door.good, "Connection: close", version="HTTP/1.0"))
    door.opens(head(door.good, version="HTTP/1.1"))
    door.refused(head("denied.test:443", version="HTTP/1.0"), 403)
    assert [line["verdict"] for line in door.lines()] == ["allow"] * 4 + ["deny"]


@pytest.mark.parametrize("file", ["PRO-01", "PRO-03a", "PRO-03b", "PRO-03c"])
def test_PRO_01_and_PRO_03_as_recorded(doorway, file):
    """They are on the list or not; that nobody answers by their name is 502."""
    door = doorway(allowedDomains=["pypi.example.test", "api.example.test"])
    status = 403 if file == "PRO-03c" else 502
    door.refused((BYTES / f"{file}.bin").read_bytes(), status)


def test_PRO_03_host_is_no_second_vote(doorway):
    door = doorway(deniedDomains=["denied.test"])
    hosts = [
        "good.test", "127.0.0.1:3128", "denied.test:443", "http://good.test/", "",
        "GOOD.TEST", "evil.test, good.test", "[::1]:443", "@%%/\\ x", "good.test:99999",
    ]  # fmt: skip
    for host in hosts:
        door.opens(head(door.good, f"Host: {host}", "Proxy-Connection: keep-alive"))
        door.refused(head("denied.test:443", f"Host: {host}"), 403)
    door.refused(head("denied.test:443", f"Host: {door.good}"), 403)
    assert all(line.get("host") in ("good.test", "denied.test") for line in door.lines())


def test_PRO_04_credentials_that_nobody_wants(doorway):
    """git asks without, and after a 407 with; here the first is answered already."""
    door = doorway()
    for fields in [(), ("Proxy-Authorization: Basic c2I6dDBrZW4=",)]:
        fields = (f"Host: {door.good}", *fields, "User-Agent: git/2.39.5")
        door.opens(head(door.good, *fields, "Proxy-Connection: Keep-Alive"))


def test_PRO_12_prior_knowledge_http2_inside(doorway):
    """The 24 bytes of the preface are no business of the proxy, early or not."""
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    door = doorway()
    assert door.opens(head(door.good) + preface) == preface
    assert door.opens(None, [head(door.good), preface]) == preface


def test_PRO_19_half_close_in_a_tunnel(gateway, tcp_server):
    """`nc -N`: the server answers only when it has seen the end."""
    seen = []

    def after_the_end(connection):
        seen.append(read_to_end(connection))
        connection.sendall(b"x" * MIB)

    port = tcp_server(after_the_end)
    weir = gateway({"allowedDomains": [f"127.0.0.1:{port}"]})
    for sent in (b"x", b"", b"y" * MIB):
        with weir.connect(f"127.0.0.1:{port}", timeout=20) as tunnel:
            tunnel.send(sent)
            tunnel.end()
            assert tunnel.rest + tunnel.read_all() == b"x" * MIB
        assert seen.pop() == sent


def test_PRO_34_rsync_speaks_http10(doorway, server):
    """rsync's CONNECT; its server speaks first."""
    there = server(banner(b"@RSYNCD: 31.0\n"))
    door = doorway(allowedDomains=[f"127.0.0.1:{there.port}"])
    with door.weir.connect(f"127.0.0.1:{there.port}", version="1.0") as tunnel:
        assert tunnel.read(14) == b"@RSYNCD: 31.0\n"
        tunnel.send(b"@RSYNCD: 31.0\n")
        assert tunnel.read(14) == b"@RSYNCD: 31.0\n"


def test_PRO_38_spellings_of_one_name(doorway):
    door = doorway(
        allowedDomains=["bücher.example.test", "*.wild.test"],
        deniedDomains=["no.wild.test", "straße.wild.test"],
    )
    port = door.port
    for host in ("good.test", "GOOD.TEST", "Good.tesT", "good.test.", "GOOD.TEST."):
        door.opens(head(f"{host}:{port}"))
    # On the list, though nobody answers by that name.
    idn = "xn--bcher-kva.example.test"
    for host in (idn, idn.upper() + ".", "a.WILD.test."):
        door.refused(head(f"{host}:443"), 502)
    for host in ("no.wild.test", "NO.wild.TEST", "no.wild.test.",
                 "xn--strae-oqa.wild.test"):
        door.refused(head(f"{host}:443"), 403)
    for host in ("good.test..", ".good.test", "good..test", "bücher.example.test", "."):
        door.refused(head(f"{host}:{port}"), 400)


# Names with a byte that no name has, as far as a request line can carry them.
BYP_01_NAMES = [
    "attacker.example\0.google.com", "attacker.example@.google.com", "a.\\.google.com",
    "attacker.example\r.google.com", "attacker.example/..google.com", ".google.com",
    "attacker.example#.google.com", "attacker.example/.google.com", " .google.com",
    "attacker.example .google.com", "attacker.example\t.google.com", "",
    "attacker.example\xe9.google.com", "attacker.example\n.google.com", "x?.google.com",
    "x;.google.com", "x,.google.com", "x*.google.com", "*.google.com", "x'.google.com",
    "x\x01.google.com", "x\x7f.google.com", "x%00.google.com", "x&.google.com",
    "x(.google.com", "x~.google.com", "x!.google.com", "x$.google.com", "x=.google.com",
    "x+.google.com", "x\".google.com", "x<.google.com", "x{.google.com", "x|.google.com",
    "x^.google.com", "x`.google.com", "a" * 251 + ".google.com", "a" * 64 + ".google.com",
]  # fmt: skip


def test_BYP_01_bytes_that_no_name_has(doorway):
    door = doorway(allowedDomains=["*.google.com"])
    for name in BYP_01_NAMES:
        door.refused(head(f"{name}:443"), 400)
        door.refused(head(f"{name}:443", version="HTTP/1.0"), 400)
    assert {line["reason"] for line in door.untouched()} <= {
        "malformed-host", "malformed-request",
    }  # fmt: skip


def test_BYP_01_by_socks(doorway):
    """SOCKS 4a ends the name at the NUL: what is in front of it is what is judged."""
    door = doorway(allowedDomains=["*.google.com"])
    name = b"attacker.example\0.google.com"
    asked = b"\x05\x01\x00\x05\x01\x00\x03" + bytes([len(name)]) + name + b"\x00\x50"
    assert door.answer(asked)[0] == b"\x05\x00" + b"\x05\x01\x00\x01" + bytes(6)
    asked = b"\x04\x01\x00\x50\x00\x00\x00\x01\0" + name + b"\0"
    assert door.answer(asked)[0] == b"\x00\x5b" + bytes(6)
    reasons = [line["reason"] for line in door.untouched()]
    assert sorted(reasons) == ["malformed-host", "not-on-allow-list"]


@pytest.mark.parametrize("allowed", [[], ["evil.test"], ["[::1]", "a.denied.test"]])
def test_BYP_04_trailing_dots_and_brackets(doorway, allowed):
    door = doorway(allowedDomains=allowed, deniedDomains=["denied.test", "[::1]"])
    for port in (80, door.port):
        for host in ("denied.test.", "DENIED.TEST", "Denied.Test.", "denied.test",
                     "[::1]"):
            door.refused(head(f"{host}:{port}"), 403)
        for host in ("denied.test..", "[denied.test]", "[[denied.test]]", ".denied.test",
                     "[::1", "::1]", "[::1]x", "[[::1]]", "[denied.test", "denied.test]",
                     "[::1].", "[127.0.0.1]", "[]"):  # fmt: skip
            door.refused(head(f"{host}:{port}"), 400)
    door.untouched()


def test_BYP_04_whoever_is_not_denied(doorway):
    """The same with everything let through that is not denied."""
    door = doorway(mode="report", deniedDomains=["denied.test"])
    for host in ("denied.test.", "DENIED.TEST", "Denied.Test."):
        door.refused(head(f"{host}:80"), 403)
    for host in ("denied.test..", "[denied.test]", "[[denied.test]]", "denied.test\t"):
        door.refused(head(f"{host}:80"), 400)
    door.untouched()


def test_BYP_07_every_way_is_refused(doorway):
    """Whatever the way, it is never let through, and each try has its own line."""
    door = doorway(deniedDomains=["denied.test"])
    name = b"denied.test"
    ways = [
        head("http://denied.test/", "Host: denied.test", method="GET"),
        head("http://DENIED.test./", "Host: good.test", method="POST"),
        head("ws://denied.test/", "Upgrade: websocket", method="GET"),
        head("denied.test:443"), head("denied.test:80"), head("denied.test:22"),
        head("/", "Host: denied.test", method="GET"),
        b"\x05\x01\x00\x05\x01\x00\x03" + bytes([len(name)]) + name + b"\x00\x50",
        b"\x05\x01\x00\x05\x01\x00\x01\x7f\0\0\x01\x00\x50",
        b"\x04\x01\x00\x50\x00\x00\x00\x01\0" + name + b"\0",
        b"\x04\x01\x00\x50\x7f\x00\x00\x01\0",
        head("http://denied.test/", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c",
             "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA", method="GET"),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0",
    ]  # fmt: skip
    for way in ways:
        if way[0] in (4, 5):
            said = door.answer(way)[0]
            assert said.removeprefix(b"\x05\x00")[1] in (0x02, 0x5B), (way, said)
        else:
            door.refused(way, 400, 403, 501)
    door.untouched()


def test_BYP_07_behind_something_else(doorway):
    """A second request on one connection, whatever became of the first."""
    door = doorway(deniedDomains=["denied.test"])
    for first in (head("/", method="GET"), head("denied.test:443"), head("evil.test:443"),
                  head("good.test")):
        for second in (head("denied.test:443"), head(door.good),
                       head("http://denied.test/", method="GET")):  # fmt: skip
            door.refused(first + second, 400, 403, 501)
            door.refused(None, 400, 403, 501, pieces=[first, second])
    door.untouched()
    # Behind one that is let through it is bytes for the server.
    second = head("denied.test:443")
    assert door.opens(head(door.good) + second) == second


def test_BYP_09_by_address_instead_of_name(gateway, server, dns_server):
    there = server(banner(b"hi"), host="127.0.0.2")
    names = dns_server({"api.a.test": ["127.0.0.2"]})
    by_name, address = f"api.a.test:{there.port}", f"127.0.0.2:{there.port}"
    mapped = f"[::ffff:127.0.0.2]:{there.port}"
    for allowed, of_address, of_name in [
        (["api.a.test"], 403, 403), (["*.a.test"], 403, 403), (["127.0.0.2"], 200, 403),
        ([address], 200, 403), ([by_name, address], 200, 200),
        (["[::ffff:127.0.0.2]"], 200, 403), (["127.0.0.3", "127.0.0.2:81"], 403, 403),
    ]:
        weir = gateway({"allowedDomains": allowed}, resolver=names)
        expected = [(address, of_address), (mapped, of_address), (by_name, of_name)]
        for asked, status in expected:
            with weir.connect(asked) as tunnel:
                assert tunnel.status == status, (allowed, asked)
                assert status != 200 or tunnel.read(2) == b"hi"
        hosts = sorted(line["host"] for line in weir.audit(3))
        assert hosts == ["127.0.0.2", "127.0.0.2", "api.a.test"]


def test_BYP_11_bytes_that_split_lines_or_names(doorway):
    door = doorway(allowedDomains=["github.com", "evil.test", "[::1]:443"])
    files = sorted(BYTES.glob("BYP-11-*.bin"))
    assert len(files) == 35
    for file in files:
        data = file.read_bytes()
        door.refused(data, 400)
        door.refused(None, 400, pieces=[data[:9], data[9:]])
    door.untouched()
    door.opens(head(door.good))


def test_BYP_11_in_single_bytes(doorway):
    door = doorway(allowedDomains=["github.com", "evil.test"])
    for file in sorted(BYTES.glob("BYP-11-*.bin"))[::4]:
        sock = door.weir.dial()
        with sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            answer = []
            reader = threading.Thread(target=lambda: answer.append(read_to_end(sock)))
            reader.start()
            try:
                for byte in file.read_bytes():
                    sock.sendall(bytes([byte]))
            except OSError:
                pass  # it was answered, and closed, before the end
            reader.join(10)
        assert answer and answer[0].startswith(b"HTTP/1.1 400 "), file.name
    assert door.dns.queries == [] and door.server.connections == 0
