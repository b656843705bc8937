"""H17: whatever the listener and whatever the form, one decision. Each refusal there is
for a target is asked for in every form, on every kind of listener."""

import socket
import ssl

import pytest

from support.doorway import head
from support.socks import (
    DENIED, DENIED4, FAILED, HOST, NO_LOGIN, OK, OK4, REFUSED, address4, address5, name4,
    name5, reply4, reply5,
)  # fmt: skip
from support.tunnel import read_to_end

GET = b"GET /told HTTP/1.0\r\n\r\n"
BODY = b"hello from behind\n"
LISTENERS = ["tcp", "tcp6", "unix", "tls", "proxied"]

# Names that the list allows, and what they resolve to.
ALLOWED = {
    "inner.test": ["127.0.0.5"], "link.test": ["169.254.3.4"],
    "meta.test": ["100.100.100.200"], "zero.test": ["0.0.0.0"],
    "cast.test": ["224.0.0.1"], "private.test": ["10.1.2.3"],
    "listed.test": ["203.0.113.9"], "mapped.test": ["::ffff:127.0.0.5"],
    "nat64.test": ["64:ff9b::7f00:5"], "gone.test": "NXDOMAIN",
    "shut.test": ["127.0.0.1"], "no.wild.test": ["127.0.0.1"],
}  # fmt: skip

# Host, reason, HTTP status, code of SOCKS 5. By its name, whatever that resolves to.
NAMES = [
    ("evil.test", "not-on-allow-list", 403, DENIED),
    ("EVIL.test.", "not-on-allow-list", 403, DENIED),
    ("wild.test", "not-on-allow-list", 403, DENIED),
    ("denied.test", "deny-list", 403, DENIED),
    ("no.wild.test", "deny-list", 403, DENIED),
    ("inner.test", "address-loopback", 403, DENIED),
    ("mapped.test", "address-loopback", 403, DENIED),
    ("nat64.test", "address-loopback", 403, DENIED),
    ("link.test", "address-link-local", 403, DENIED),
    ("meta.test", "address-metadata", 403, DENIED),
    ("zero.test", "address-unspecified", 403, DENIED),
    ("cast.test", "address-multicast", 403, DENIED),
    ("private.test", "address-private", 403, DENIED),
    ("listed.test", "address-listed", 403, DENIED),
    ("gone.test", "dns-failure", 502, HOST),
    ("good.test..", "malformed-host", 400, FAILED),
    ("good_test..x", "malformed-host", 400, FAILED),
    ("0x7f.1", "malformed-host", 400, FAILED),
    ("2130706433", "malformed-host", 400, FAILED),
    ("[good.test]", "malformed-host", 400, FAILED),
    ("good.test%00", "malformed-host", 400, FAILED),
]
ADDRESSES = [
    ("127.0.0.5", "address-loopback"), ("::1", "address-loopback"),
    ("::ffff:127.0.0.5", "address-loopback"), ("169.254.169.254", "address-link-local"),
    ("100.100.100.200", "address-metadata"), ("0.0.0.0", "address-unspecified"),
    ("255.255.255.255", "address-multicast"), ("ff02::1", "address-multicast"),
    ("192.0.2.1", "address-private"), ("2001:db8::1", "address-private"),
    ("203.0.113.9", "address-listed"), ("192.175.48.1", "not-on-allow-list"),
    ("127.0.0.66", "deny-list"),
]  # fmt: skip


def bracketed(host):
    return f"[{host}]" if ":" in host else host


def connect(host, port):
    return head(f"{bracketed(host)}:{port}")


def plain(host, port):
    return head(f"http://{bracketed(host)}:{port}/told", method="GET", version="HTTP/1.0")


def socks5(host, port):
    return NO_LOGIN + name5(host, port)


def socks5_address(host, port):
    return NO_LOGIN + address5(host, port)


# Form: what is sent, and the audit's word for it.
BY_NAME = {
    "connect": (connect, "connect"), "plain": (plain, "http"),
    "socks5": (socks5, "socks5"), "socks4a": (name4, "socks4"),
}  # fmt: skip
BY_ADDRESS = {
    **BY_NAME, "socks5 address": (socks5_address, "socks5"),
    "socks4 address": (address4, "socks4"),
}  # fmt: skip


def refused(form, said, status, code):
    """The answer to that form is this refusal, and nothing behind it."""
    if form.startswith("socks5"):
        return said == b"\x05\x00" + reply5(code)
    if form.startswith("socks4"):
        return said == reply4(DENIED4)
    top, _, body = said.partition(b"\r\n\r\n")
    length = f"\r\nContent-Length: {len(body)}\r\n".encode()
    return top.startswith(b"HTTP/1.1 %d " % status) and length in top


def allowed(form, said):
    """It is the answer of the server, behind that of the proxy."""
    before = {
        "connect": b"HTTP/1.1 200 Connection Established\r\n\r\n", "plain": b"",
        "socks5": b"\x05\x00" + reply5(OK), "socks4": reply4(OK4),
    }[form.split(" ")[0].rstrip("a")]  # fmt: skip
    return (
        said.startswith(before) and said.endswith(BODY)
        and said[len(before):].startswith(b"HTTP/1.")
    )  # fmt: skip


class Entrance:
    """A gateway with one listener of a kind, and how to reach it."""

    def __init__(self, kind, gateway, dns, authority, folder, network):
        self.kind = kind
        self.asked = 0
        self.context = authority.client_context()
        self.path = str(folder / "proxy.sock")
        cert, key = authority.leaf(["proxy.test"])
        listen = {
            "tcp": "127.0.0.1:0", "tcp6": "[::1]:0", "unix": f"unix:{self.path}",
            "tls": {"address": "127.0.0.1:0", "tls": {"cert": cert, "key": key}},
            "proxied": {"address": "127.0.0.1:0", "proxyProtocol": ["127.0.0.1"]},
        }[kind]  # fmt: skip
        # The first one is where the test looks for the port; it is not asked.
        self.weir = gateway(network, resolver=dns, listen=["127.0.0.1:0", listen])
        self.port = int(self.weir.log().rsplit(":", 1)[1]) if kind != "unix" else None

    def dial(self):
        if self.kind == "unix":
            sock = socket.socket(socket.AF_UNIX)
            sock.settimeout(20)
            sock.connect(self.path)
            return sock
        host = "::1" if self.kind == "tcp6" else "127.0.0.1"
        sock = socket.create_connection((host, self.port), 20)
        if self.kind == "tls":
            return self.context.wrap_socket(sock, server_hostname="proxy.test")
        if self.kind == "proxied":
            sock.sendall(b"PROXY TCP4 192.0.2.7 192.0.2.8 1111 2222\r\n")
        return sock

    def answer(self, data):
        self.asked += 1
        with self.dial() as sock:
            sock.sendall(data)
            return read_to_end(sock)

    def line(self):
        """What the audit says of the last answer; each has one line."""
        lines = self.weir.audit(self.asked)
        assert len(lines) == self.asked
        return lines[-1]


@pytest.fixture(params=LISTENERS)
def entrance(request, gateway, dns_server, http_server, authority, tmp_path):
    site = http_server({"/told": BODY})
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        shut = taken.getsockname()[1]
        dns = dns_server({"good.test": ["127.0.0.1"], **ALLOWED})
        network = {
            "allowedDomains": [
                "good.test", *ALLOWED, f"127.0.0.1:{site.port}", f"127.0.0.1:{shut}",
                "*.wild.test",
            ],
            "deniedDomains": ["denied.test", "no.wild.test", "127.0.0.66"],
            "deniedResolvedAddresses": ["203.0.113.0/24"], "privateAddresses": "deny",
        }  # fmt: skip
        made = Entrance(request.param, gateway, dns, authority, tmp_path, network)
        made.site, made.shut, made.dns = site, shut, dns
        yield made


def ask_all(entrance, rows, forms):
    """Each row in each form; the lines of the audit that these made."""
    wrong = []
    for host, port, reason, status, code in rows:
        for form, (ask, front) in forms.items():
            if form == "socks4 address" and ":" in host:
                continue
            said = entrance.answer(ask(host, port))
            line = entrance.line()
            told = (line["verdict"], line["reason"], line["front"])
            if not refused(form, said, status, code) or told != ("deny", reason, front):
                wrong.append((host, form, said[:100], told))
    assert not wrong, wrong


def test_H17_refused_by_name(entrance):
    ask_all(entrance, [(host, 443, *rest) for host, *rest in NAMES], BY_NAME)
    assert entrance.site.connections == 0
    looked_up = {name for name, *_ in entrance.dns.queries}
    assert looked_up and not looked_up & {"evil.test", "denied.test", "no.wild.test"}


def test_H17_refused_by_address(entrance):
    rows = [(host, 80, reason, 403, DENIED) for host, reason in ADDRESSES]
    ask_all(entrance, rows, BY_ADDRESS)
    assert entrance.site.connections == 0 and entrance.dns.queries == []


def test_H17_its_own_listener(entrance):
    """Also where the list would open it, were it another's."""
    ports = [port for port in (entrance.weir.port, entrance.port) if port is not None]
    rows = [("127.0.0.1", port, "address-own", 403, DENIED) for port in ports[:1]]
    ask_all(entrance, rows, BY_ADDRESS)


def test_H17_nobody_listens_there(entrance):
    rows = [("shut.test", entrance.shut, "connect-failure", 502, REFUSED)]
    ask_all(entrance, rows, BY_NAME)


def test_H17_allowed(entrance):
    for form, (ask, front) in BY_NAME.items():
        request = b"" if form == "plain" else GET
        said = entrance.answer(ask("good.test", entrance.site.port) + request)
        assert allowed(form, said), (form, said)
        line = entrance.line()
        assert (line["front"], line["verdict"]) == (front, "allow")
    for form, (ask, front) in BY_ADDRESS.items():
        request = b"" if form == "plain" else GET
        said = entrance.answer(ask("127.0.0.1", entrance.site.port) + request)
        assert allowed(form, said), (form, said)
        assert entrance.line()["verdict"] == "allow"


def hello(name):
    """The first bytes of a TLS client that asks for `name`."""
    out = ssl.MemoryBIO()
    context = ssl.create_default_context()
    try:
        context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        return out.read()
    raise AssertionError("a handshake without a server")


def test_H17_another_server_name(entrance):
    """In a tunnel that stands: what is behind it sees nothing of the hello."""
    for form, (ask, front) in BY_NAME.items():
        if form == "plain":
            continue
        said = entrance.answer(ask("good.test", entrance.site.port) + hello("evil.test"))
        assert said.endswith(b"\x15\x03\x03\x00\x02\x02\x70"), (form, said)
        line = entrance.line()
        assert (line["reason"], line["front"]) == ("sni-mismatch", front)
    assert entrance.site.requests == []
