"""SOCKS 4, 4a and 5 as the way to ask: what is answered, byte for byte, and that it
opens what CONNECT opens and nothing else."""

import shutil
import socket
import struct
import subprocess

import pytest

from support.socks import (
    DENIED, FAILED, HOST, LOGIN, NO_LOGIN, OK, REFUSED, address4, address5, name4, name5,
    reply4, reply5,
)  # fmt: skip
from support.tunnel import read_to_end

TOKEN = "ci-token-0123456789"


def read_exactly(sock, size):
    said = b""
    while len(said) < size:
        piece = sock.recv(size - len(said))
        assert piece, said
        said += piece
    return said


@pytest.fixture
def door(doorway):
    return doorway(
        allowedDomains=["gone.test", "free.test", "named.test"],
        deniedDomains=["denied.test", "secret.test"],
        deniedDomainReasons={"secret.test": "ask Ada for a deploy key"},
    )


def forms(host, port):
    """Every way to ask for a name, with how its answer starts when it is a yes."""
    return {
        "socks5": (NO_LOGIN + name5(host, port), b"\x05\x00" + reply5(OK)),
        "socks4a": (name4(host, port), reply4(0x5A)),
    }


@pytest.mark.parametrize("form", ["socks5", "socks4a"])
@pytest.mark.parametrize("pieces", ["whole", "bytes"])
def test_F26_a_tunnel(door, form, pieces):
    """In one segment, with data behind it, and byte by byte."""
    data, yes = forms("good.test", door.port)[form]
    with door.weir.dial() as sock:
        if pieces == "whole":
            sock.sendall(data + b"early, ")
        else:
            for at in range(len(data)):
                sock.sendall(data[at : at + 1])
            sock.sendall(b"early, ")
        assert read_exactly(sock, len(yes)) == yes
        sock.sendall(b"late")
        sock.shutdown(socket.SHUT_WR)
        assert read_to_end(sock) == b"early, late"
    (line,) = door.weir.audit()
    assert line["front"] == form[:6] and line["verdict"] == "allow"
    assert (line["host"], line["bytes_up"]) == ("good.test", 11)


@pytest.mark.parametrize("host", ["127.0.0.1", "::ffff:127.0.0.1"])
def test_a_tunnel_to_an_address(door, host):
    asks = [NO_LOGIN + address5(host, door.port), NO_LOGIN + name5(host, door.port)]
    yes = b"\x05\x00" + reply5(OK)
    if ":" not in host:
        asks.append(address4(host, door.port))
    for data in asks:
        if data[0] == 4:
            yes = reply4(0x5A)
        with door.weir.dial() as sock:
            sock.sendall(data)
            assert read_exactly(sock, len(yes)) == yes
    assert {line["host"] for line in door.weir.audit(len(asks))} == {"127.0.0.1"}


MATRIX = [
    # host, reason, SOCKS 5 code
    ("evil.test", "not-on-allow-list", DENIED),
    ("denied.test", "deny-list", DENIED),
    ("EVIL.test.", "not-on-allow-list", DENIED),
    ("127.0.0.2", "address-loopback", DENIED),
    ("evil.test\0.good.test", "malformed-host", FAILED),
    ("good.test..", "malformed-host", FAILED),
    ("[good.test]", "malformed-host", FAILED),
    ("good.test:443", "malformed-host", FAILED),
    ("0x7f.1", "malformed-host", FAILED),
    ("2130706433", "malformed-host", FAILED),
    ("", "malformed-host", FAILED),
]


@pytest.mark.parametrize("host, reason, code", MATRIX)
def test_H17_refusals_are_those_of_connect(door, host, reason, code):
    assert door.answer(NO_LOGIN + name5(host, 443))[0] == b"\x05\x00" + reply5(code)
    if "\0" not in host:
        assert door.answer(name4(host, 443))[0] == reply4(0x5B)
    lines = door.untouched()
    assert {line["reason"] for line in lines} == {reason}
    assert {line["front"] for line in lines} <= {"socks5", "socks4"}


def test_an_address_that_no_list_opens(door):
    for data in (NO_LOGIN + address5("127.0.0.1", 9), NO_LOGIN + address5("::1", 443),
                 NO_LOGIN + address5("169.254.169.254", 80)):  # fmt: skip
        assert door.answer(data)[0] == b"\x05\x00" + reply5(DENIED)
    assert door.answer(address4("169.254.169.254", 80))[0] == reply4(0x5B)
    door.untouched()


def test_a_name_that_leads_to_loopback(gateway, dns_server):
    dns = dns_server({"inner.test": ["127.0.0.1"]})
    weir = gateway({"allowedDomains": ["inner.test"]}, resolver=dns)
    with weir.dial() as sock:
        sock.sendall(NO_LOGIN + name5("inner.test", 80))
        assert read_to_end(sock) == b"\x05\x00" + reply5(DENIED)
    (line,) = weir.audit()
    assert line["reason"] in ("address-loopback", "address-own")


def test_what_the_server_does_is_told(gateway, dns_server):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        dns = dns_server({"shut.test": ["127.0.0.1"], "gone.test": "NXDOMAIN"})
        hosts = ["shut.test", "gone.test", f"127.0.0.1:{port}"]
        weir = gateway({"allowedDomains": hosts}, resolver=dns)
        for host, code in (("shut.test", REFUSED), ("gone.test", HOST)):
            with weir.dial() as sock:
                sock.sendall(NO_LOGIN + name5(host, port))
                assert read_to_end(sock) == b"\x05\x00" + reply5(code)
        with weir.dial() as sock:
            sock.sendall(name4("gone.test", port))
            assert read_to_end(sock) == reply4(0x5B)


WRONG = {
    "no methods": (b"\x05\x00", b"\x05\xff"),
    "unknown methods": (b"\x05\x03\x01\x03\x80", b"\x05\xff"),
    "255 methods, one is known": (
        b"\x05\xff" + b"\x80" * 254 + b"\x00" + name5("evil.test", 1),
        b"\x05\x00" + reply5(DENIED),
    ),
    "BIND": (NO_LOGIN + name5("good.test", 1, command=2), b"\x05\x00" + reply5(7)),
    "UDP": (NO_LOGIN + name5("good.test", 1, command=3), b"\x05\x00" + reply5(7)),
    "address type 2": (NO_LOGIN + b"\x05\x01\x00\x02\1\2\3\4\5", b"\x05\x00" + reply5(8)),
    "port 0": (NO_LOGIN + name5("good.test", 0), b"\x05\x00" + reply5(FAILED)),
    "version 4 inside": (NO_LOGIN + b"\x04\x01\x00\x50\1\2\3\4\0", b"\x05\x00" + reply5(1)),
    "HTTP inside": (NO_LOGIN + b"GET / HTTP/1.1\r\n\r\n", b"\x05\x00" + reply5(FAILED)),
    "SOCKS 4 BIND": (name4("good.test", 80, command=2), reply4(0x5B)),
    "SOCKS 4 endless id": (b"\x04\x01\x00\x50\x00\x00\x00\x01" + b"a" * 999, reply4(0x5B)),
    "SOCKS 4 endless name": (
        b"\x04\x01\x00\x50\x00\x00\x00\x01\0" + b"a" * 999, reply4(0x5B),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_F26_what_is_no_connect(door, what):
    data, answer = WRONG[what]
    assert door.answer(data)[0] == answer
    door.untouched()


@pytest.mark.parametrize("data", [b"\x05", b"\x05\x02\x00", NO_LOGIN, NO_LOGIN + b"\x05\x01",
                                  b"\x04\x01", name4("good.test", 80)[:-1]])  # fmt: skip
def test_half_a_request(gateway, data):
    """Whoever says no more in time is not waited for."""
    weir = gateway({"allowedDomains": ["good.test"]}, limits={"headSeconds": 1})
    with weir.dial() as sock:
        sock.sendall(data)
        read_to_end(sock)
    (line,) = weir.audit()
    assert line["reason"] == "timeout"


def ssh_reason(said):
    """The text of SSH_MSG_DISCONNECT behind a banner."""
    banner, packet = said.split(b"\r\n", 1)
    assert banner.startswith(b"SSH-2.0-")
    (size,) = struct.unpack(">I", packet[10:14])
    assert packet[5] == 1
    return packet[14 : 14 + size].decode()


def test_ssh_is_told_in_its_own_words(door):
    said = door.answer(NO_LOGIN + name5("secret.test", 22))[0]
    assert said.startswith(b"\x05\x00" + reply5(OK))
    assert "ask Ada for a deploy key" in ssh_reason(said[12:])
    said = door.answer(name4("secret.test", 22))[0]
    assert said.startswith(reply4(0x5A))
    assert "ask Ada for a deploy key" in ssh_reason(said[8:])
    assert {line["reason"] for line in door.untouched()} == {"deny-list"}


@pytest.fixture
def logins(gateway, dns_server, echo_server, tmp_path):
    """A gateway whose client "ci" has a token, and a port that echoes."""
    port = echo_server()
    file = tmp_path / "ci.token"
    file.write_text(TOKEN + "\n")
    file.chmod(0o600)
    dns = dns_server({"good.test": ["127.0.0.1"], "secret.test": ["127.0.0.1"]})
    weir = gateway(
        {"allowedDomains": ["good.test", f"127.0.0.1:{port}"],
         "deniedDomains": ["secret.test"],
         "deniedDomainReasons": {"secret.test": "ask Ada for a deploy key"}},
        resolver=dns, extra={"clients": [{"name": "ci", "tokenFile": str(file)}]},
    )  # fmt: skip
    return weir, port


def login(user, password):
    user, password = user.encode(), password.encode()
    return bytes([1, len(user)]) + user + bytes([len(password)]) + password


def said_to(weir, data):
    with weir.dial() as sock:
        sock.sendall(data)
        return read_to_end(sock)


def test_a_login(logins):
    weir, port = logins
    with weir.dial() as sock:
        sock.sendall(LOGIN)
        assert read_exactly(sock, 2) == b"\x05\x02"
        sock.sendall(login("ci", TOKEN))
        assert read_exactly(sock, 2) == b"\x01\x00"
        sock.sendall(name5("good.test", port))
        assert read_exactly(sock, 10) == reply5(OK)
        sock.sendall(b"x")
        assert sock.recv(1) == b"x"
    (line,) = weir.audit()
    assert (line["session"], line["verdict"]) == ("ci", "allow")


@pytest.mark.parametrize("user, password", [("ci", "wrong-token-0000000"), ("ci", ""),
                                            ("", ""), ("other", TOKEN), ("ci", TOKEN + "x")])
def test_a_wrong_login(logins, user, password):
    weir, port = logins
    data = LOGIN + login(user, password) + name5("good.test", port)
    assert said_to(weir, data) == b"\x05\x02\x01\x01"
    (line,) = weir.audit()
    assert line["reason"] == "auth" and "host" not in line
    assert TOKEN not in str(line) + weir.log()


def test_PRO_06_a_client_that_cannot_log_in(logins):
    """It is let ask, and refused, so that ssh can show why a host is denied."""
    weir, port = logins
    data = NO_LOGIN + name5("good.test", port)
    assert said_to(weir, data) == b"\x05\x00" + reply5(DENIED)
    assert said_to(weir, name4("good.test", port)) == reply4(0x5D)
    assert said_to(weir, name4("good.test", port, TOKEN.encode())) == reply4(0x5D)
    assert said_to(weir, NO_LOGIN + name5("good.test", 22)) == b"\x05\x00" + reply5(DENIED)
    assert {line["reason"] for line in weir.audit(4)} == {"auth"}
    said = said_to(weir, NO_LOGIN + name5("secret.test", 22))
    assert "ask Ada for a deploy key" in ssh_reason(said[12:])
    assert weir.audit(5)[4]["reason"] == "deny-list"


def test_ssh_is_told_after_a_login_too(logins):
    weir, _ = logins
    said = said_to(weir, LOGIN + login("ci", TOKEN) + name5("secret.test", 22))
    assert said.startswith(b"\x05\x02\x01\x00" + reply5(OK))
    assert "ask Ada for a deploy key" in ssh_reason(said[14:])


def curl(*args):
    return subprocess.run(
        ["curl", "-sS", "-m", "20", *args], capture_output=True, text=True, timeout=60,
        env={"PATH": "/usr/bin:/bin"},
    )  # fmt: skip


@pytest.fixture
def site(gateway, dns_server, http_server, tmp_path):
    port = http_server({"/": b"hello"}).port
    file = tmp_path / "ci.token"
    file.write_text(TOKEN + "\n")
    file.chmod(0o600)

    def start(**extra):
        dns = dns_server({"good.test": ["127.0.0.1"], "evil.test": ["127.0.0.1"]})
        network = {"allowedDomains": ["good.test", f"127.0.0.1:{port}"]}
        weir = gateway(network, resolver=dns, extra=extra)
        return weir, port

    start.clients = [{"name": "ci", "tokenFile": str(file)}]
    return start


@pytest.mark.parametrize("option, host", [
    ("--socks5-hostname", "good.test"), ("--socks5", "127.0.0.1"),
    ("--socks4a", "good.test"), ("--socks4", "127.0.0.1"),
])  # fmt: skip
def test_curl(site, option, host):
    weir, port = site()
    proxy = f"127.0.0.1:{weir.port}"
    done = curl(option, proxy, f"http://{host}:{port}/")
    assert (done.returncode, done.stdout) == (0, "hello"), done.stderr
    done = curl("--socks5-hostname", proxy, f"http://evil.test:{port}/")
    assert done.returncode == 97 and done.stdout == ""


def test_PRO_08_names_that_the_client_resolves(site):
    """With socks5:// only an address is asked for: that is judged, and no name guessed."""
    weir, port = site()
    at = f"good.test:{port}:127.0.0.3"
    done = curl("--resolve", at, "--socks5", f"127.0.0.1:{weir.port}", f"http://good.test:{port}/")
    assert done.returncode == 97
    (line,) = weir.audit()
    assert (line["host"], line["reason"]) == ("127.0.0.3", "address-loopback")


def test_curl_with_a_login(site):
    weir, port = site(clients=site.clients)
    url, proxy = f"http://good.test:{port}/", f"127.0.0.1:{weir.port}"
    done = curl("--socks5-hostname", f"ci:{TOKEN}@{proxy}", url)
    assert (done.returncode, done.stdout) == (0, "hello"), done.stderr
    assert curl("--socks5-hostname", f"ci:wrong@{proxy}", url).returncode == 97
    assert curl("--socks5-hostname", proxy, url).returncode == 97


def test_PRO_06_nc_as_a_proxy_command(door):
    """BSD nc speaks SOCKS 5 without a login, and SOCKS 4."""
    nc = shutil.which("nc.openbsd")
    if nc is None:
        pytest.skip("needs nc.openbsd (Debian package netcat-openbsd)")
    for version in ("5", "4"):
        host = "good.test" if version == "5" else "127.0.0.1"
        done = subprocess.run(
            [nc, "-N", "-X", version, "-x", f"127.0.0.1:{door.weir.port}", host,
             str(door.port)], input=b"through", capture_output=True, timeout=60,
        )  # fmt: skip
        assert done.stdout == b"through", done.stderr
