"""The server name of a TLS hello must be the target of its tunnel (T1 to T3, T5)."""

import ssl
import time

import pytest

from support.tunnel import read_to_end
from support.wait import wait_until

ALERT = b"\x15\x03\x03\x00\x02\x02"
UNRECOGNIZED_NAME, ACCESS_DENIED = b"\x70", b"\x31"


def hello(name):
    """The first flight of a TLS client that asks for `name`; None: for none."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(incoming, outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


def vector(data, length_bytes):
    return len(data).to_bytes(length_bytes, "big") + data


def extension(kind, body):
    return kind.to_bytes(2, "big") + vector(body, 2)


def names(*listed):
    """A server_name extension with these entries."""
    entries = b"".join(b"\0" + vector(name, 2) for name in listed)
    return extension(0, vector(entries, 2))


def made_hello(*extensions):
    """A hello with these extensions and no others, in one record."""
    body = b"\x03\x03" + bytes(32) + vector(b"", 1) + vector(b"\x13\x01", 2)
    body += vector(b"\0", 1) + vector(b"".join(extensions), 2)
    return b"\x16\x03\x01" + vector(b"\x01" + vector(body, 3), 2)


TARGET, OTHER = names(b"good.test"), names(b"evil.test")
GREASE = extension(0x2A2A, b"")
# Type outer, a cipher suite, a config id, a key and a payload.
ECH_BODY = b"\0\0\1\0\1\x20" + vector(bytes(32), 2) + vector(bytes(64), 2)
ECH = extension(0xFE0D, ECH_BODY)


class Place:
    """A gateway, and behind good.test a server that keeps what it gets in `got`."""

    def __init__(self, gateway, server, hosts, network, first=b""):
        self.got = []

        def keep(connection):
            connection.sendall(first)
            self.got.append(read_to_end(connection))

        self.port = server(keep).port
        self.authority = f"good.test:{self.port}"
        hosts.write_text("127.0.0.1 good.test\n")
        allowed = [self.authority, f"127.0.0.1:{self.port}"]
        self.weir = gateway(
            {"allowedDomains": allowed, **network},
            resolver={"servers": ["127.0.0.1:9"], "hostsFile": str(hosts)},
        )

    def received(self):
        return wait_until(lambda: self.got, 30, "the server heard nothing")[0]

    def refused(self, data, alert):
        """`data` in a tunnel ends it with `alert`, and the server gets none of it."""
        with self.weir.connect(self.authority, early=data) as tunnel:
            assert tunnel.status == 200
            assert tunnel.rest + tunnel.read_all() == ALERT + alert
        assert self.received() == b""
        (line,) = self.weir.audit()
        assert (line["verdict"], line["reason"]) == ("deny", "sni-mismatch")
        return line


@pytest.fixture
def place(gateway, server, tmp_path):
    def make(network=None, first=b""):
        return Place(gateway, server, tmp_path / "hosts", network or {}, first)

    return make


def passes(where, data, authority=None):
    with where.weir.connect(authority or where.authority) as tunnel:
        tunnel.send(data)
        tunnel.end()
        assert where.received() == data
    (line,) = where.weir.audit()
    assert line["verdict"] == "allow"
    return line


def test_the_target(place):
    assert passes(place(), hello("good.test"))["sni"] == "good.test"


def test_the_target_in_capitals(place):
    assert passes(place(), hello("GOOD.test"))["sni"].lower() == "good.test"


def test_another_name(place):
    line = place().refused(hello("evil.test"), UNRECOGNIZED_NAME)
    assert line["sni"] == "evil.test" and line["bytes_up"] == 0


def test_no_name(place):
    assert "sni" not in passes(place(), hello(None))


def test_no_name_where_one_is_required(place):
    place({"sni": "require"}).refused(hello(None), ACCESS_DENIED)


def test_something_else_where_tls_is_required(place):
    place({"sni": "require"}).refused(b"SSH-2.0-client\r\n", ACCESS_DENIED)


def test_another_name_where_nobody_looks(place):
    assert passes(place({"sni": "off"}), hello("evil.test"))["sni"] == "evil.test"


def test_address_as_the_target(place):
    """There is no name to compare with: it is recorded."""
    where = place()
    line = passes(where, hello("evil.test"), f"127.0.0.1:{where.port}")
    assert line["sni"] == "evil.test"


def test_in_single_bytes(place):
    where, data = place(), hello("good.test")
    with where.weir.connect(where.authority) as tunnel:
        for byte in data:
            tunnel.send(bytes([byte]))
        tunnel.end()
        assert where.received() == data


def test_another_name_in_small_records(place):
    """One record of the hello becomes many, each of 7 bytes."""
    data = hello("evil.test")[5:]
    records = b"".join(
        b"\x16\x03\x01" + len(data[i : i + 7]).to_bytes(2, "big") + data[i : i + 7]
        for i in range(0, len(data), 7)
    )
    place().refused(records, UNRECOGNIZED_NAME)


def nonsense():
    """A hello that is whole by its lengths, whatever size this machine's OpenSSL makes."""
    good = hello("good.test")
    return good[:100] + b"\xff" * (len(good) - 100)


@pytest.mark.parametrize("data", [
    nonsense(),
    b"\x16\x03\x01\x40\x00" + b"\x01\x00\xff\xff" + b"\x00" * 20000,
], ids=["nonsense", "endless"])  # fmt: skip
def test_malformed(place, data):
    place().refused(data, ACCESS_DENIED)


def test_cut_off(place):
    where = place()
    with where.weir.connect(where.authority) as tunnel:
        tunnel.send(hello("evil.test")[:60])
        tunnel.end()
        assert tunnel.rest + tunnel.read_all() == ALERT + ACCESS_DENIED
    assert where.received() == b""


def test_server_that_speaks_first_is_not_held_back(place):
    where = place(first=b"220 ready\r\n")
    with where.weir.connect(where.authority) as tunnel:
        assert tunnel.read(11) == b"220 ready\r\n"
        tunnel.send(b"EHLO me\r\n")
        tunnel.end()
        assert where.received() == b"EHLO me\r\n"


def test_server_that_speaks_while_a_hello_is_unfinished(place):
    where = place(first=b"220 ready\r\n")
    data = hello("good.test")
    with where.weir.connect(where.authority, early=data[:50]) as tunnel:
        assert tunnel.read(11) == b"220 ready\r\n"
        tunnel.send(data[50:])
        tunnel.end()
        assert where.received() == data


def test_hello_that_does_not_end(place):
    """It has ten seconds from its first byte."""
    where = place()
    with where.weir.connect(where.authority, timeout=40) as tunnel:
        tunnel.send(hello("good.test")[:50])
        assert tunnel.read_all() == ALERT + ACCESS_DENIED
    assert where.received() == b""
    assert where.weir.audit()[0]["reason"] == "timeout"


@pytest.mark.parametrize("data", [
    made_hello(GREASE, TARGET, extension(0x1A1A, b"x")),
    made_hello(names(b"good.test.")),
    made_hello(ECH, TARGET),
], ids=["grease", "dot", "ech"])  # fmt: skip
def test_odd_hello_for_the_target(place, data):
    assert passes(place(), data)["sni"].startswith("good.test")


# Of a ServerHello: its record and message headers and version; then comes the random,
# which is this one when it asks for another hello (RFC 8446 4.1.3).
SERVER_HELLO = b"\x16\x03\x03\x00\x58\x02\x00\x00\x54\x03\x03"
RETRY = SERVER_HELLO + bytes.fromhex(
    "cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c"
)
CIPHER_CHANGE = b"\x14\x03\x03\x00\x01\x01"
EARLY_DATA = b"\x17\x03\x03\x00\x01x"


@pytest.fixture
def second(gateway, server, tmp_path):
    """second(answer, *behind) sends a hello for good.test with behind[0] at its heels; the
    server answers; then the rest of `behind` follows. (what the server got behind the
    first hello, what the client got at the end, the audit line)"""

    def play(answer, *behind, network=None, pieces=1):
        first, got = made_hello(TARGET), []

        def speak(connection):
            data = b""
            while len(data) < len(first):
                data += connection.recv(len(first) - len(data))
            size = -(-len(answer) // pieces)
            for start in range(0, len(answer), size):
                connection.sendall(answer[start : start + size])
                time.sleep(0.01 if pieces > 1 else 0)
            got.append(data + read_to_end(connection))

        port = server(speak).port
        hosts = tmp_path / "hosts"
        hosts.write_text("127.0.0.1 good.test\n")
        weir = gateway(
            {"allowedDomains": [f"good.test:{port}", f"127.0.0.1:{port}"],
             **(network or {})},
            resolver={"servers": ["127.0.0.1:9"], "hostsFile": str(hosts)},
        )  # fmt: skip
        with weir.connect(f"good.test:{port}") as tunnel:
            tunnel.send(first + behind[0])
            assert tunnel.read(len(answer)) == answer
            for piece in behind[1:]:
                tunnel.send(piece)
            tunnel.end()
            end = tunnel.rest + tunnel.read_all()
        data = wait_until(lambda: got, 30, "the server heard nothing")[0]
        assert data.startswith(first)
        return data[len(first) :], end, weir.audit()[0]

    return play


@pytest.mark.parametrize("pieces", [1, 43], ids=["at once", "byte by byte"])
@pytest.mark.parametrize("behind", [
    [b"", made_hello(OTHER)],
    [b"", CIPHER_CHANGE + made_hello(OTHER)],
    [CIPHER_CHANGE, made_hello(OTHER)],
    [made_hello(OTHER)],
    [EARLY_DATA + made_hello(OTHER)],
    [EARLY_DATA, CIPHER_CHANGE, EARLY_DATA + made_hello(OTHER)],
    [b"", b"\x15\x03\x03\x00\x02\x01\x5a" + made_hello(OTHER)],
    [b"", made_hello(OTHER)[:20], made_hello(OTHER)[20:]],
    [b"", made_hello(OTHER)[:20]],
    [b"", b"no record at all"],
])  # fmt: skip
def test_another_name_in_the_hello_that_a_server_asks_for(second, behind, pieces):
    """Servers take the name from it: a hello without a key that the server likes could
    open the door to every name behind the same address."""
    data, end, line = second(RETRY, *behind, pieces=pieces)
    assert data == b"" and end[:6] == ALERT
    assert (line["verdict"], line["reason"]) == ("deny", "sni-mismatch")


@pytest.mark.parametrize("behind", [
    [b"", CIPHER_CHANGE + made_hello(TARGET) + EARLY_DATA],
    [EARLY_DATA, CIPHER_CHANGE, made_hello(TARGET)],
    [b"", made_hello(TARGET)[:20], made_hello(TARGET)[20:], EARLY_DATA],
])  # fmt: skip
def test_the_hello_that_a_server_asks_for(second, behind):
    data, end, line = second(RETRY, *behind)
    assert data == b"".join(behind) and end == b""
    assert (line["verdict"], line["sni"]) == ("allow", "good.test")


@pytest.mark.parametrize("answer", [
    SERVER_HELLO + bytes(32), ALERT + ACCESS_DENIED, b"HTTP/1.1 400 Bad Request\r\n",
], ids=["hello", "alert", "no TLS"])  # fmt: skip
@pytest.mark.parametrize("behind", [
    [EARLY_DATA], [b"", made_hello(OTHER)], [b"no record at all"],
])  # fmt: skip
def test_what_comes_behind_the_only_hello(second, answer, behind):
    data, end, line = second(answer, *behind)
    assert data == b"".join(behind) and end == b""
    assert line["verdict"] == "allow"


def test_the_hello_that_a_server_asks_for_where_nobody_looks(second):
    data, _, _ = second(RETRY, b"", made_hello(OTHER), network={"sni": "off"})
    assert data == made_hello(OTHER)


@pytest.mark.parametrize(("data", "alert"), [
    (made_hello(ECH, OTHER), ACCESS_DENIED),
    (made_hello(ECH), ACCESS_DENIED),
    (made_hello(names(b"good.test", b"evil.test")), ACCESS_DENIED),
    (made_hello(names(b"evil.test", b"good.test")), ACCESS_DENIED),
    (made_hello(TARGET, OTHER), ACCESS_DENIED),
    (made_hello(TARGET, TARGET), ACCESS_DENIED),
    (made_hello(names(b"good.test\0.evil.test")), ACCESS_DENIED),
    (made_hello(names(b"")), ACCESS_DENIED),
    (made_hello(names(b"a" * 256)), ACCESS_DENIED),
    (made_hello(names(b"127.0.0.1")), UNRECOGNIZED_NAME),
    (made_hello(names(b"good.test..")), UNRECOGNIZED_NAME),
    (made_hello(names(b".good.test")), UNRECOGNIZED_NAME),
    (made_hello(names(b"xgood.test")), UNRECOGNIZED_NAME),
    (b"\x15\x03\x01\x00\x02\x01\x00" + made_hello(OTHER), ACCESS_DENIED),
    (b"\x16\x03\x01\x00\x00" * 9 + made_hello(TARGET), ACCESS_DENIED),
    (made_hello(TARGET, extension(21, bytes(20000))), ACCESS_DENIED),
], ids=["ech-other", "ech-nameless", "two", "two-swapped", "two-lists", "twice", "nul",
        "empty", "long", "address", "two-dots", "dot-first", "prefix", "alert-first",
        "empty-records", "too-long"])  # fmt: skip
def test_hello_that_could_be_read_in_two_ways(place, data, alert):
    place().refused(data, alert)


def test_encrypted_hello_where_a_name_is_required(place):
    """The name that counts is not shown."""
    place({"sni": "require"}).refused(made_hello(ECH, TARGET), ACCESS_DENIED)


def test_name_that_would_steer_a_terminal(place):
    """Row P7: it is in the audit, as bytes."""
    line = place().refused(made_hello(names(b'\x1b[2J"\n\xff')), UNRECOGNIZED_NAME)
    assert line["sni"] == '\x1b[2J"\n\xff'
