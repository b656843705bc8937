"""Listeners to which clients speak TLS, and clients who are told by a certificate."""

import json
import os
import signal
import socket
import ssl
import subprocess

import pytest

from support.certs import openssl
from support.tunnel import read_to_end
from support.wait import wait_until

PROXY_NAMES = ["proxy.test", "127.0.0.1"]
TOKEN = "ci-token-0123456789"


def client_cert(authority, name, san=None, extra=()):
    """Paths of a certificate for a client and its key, signed by `authority`."""
    stem = f"{authority.folder}/client-{name}"
    if not os.path.exists(f"{stem}.pem"):
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", f"{stem}.key", "-out", f"{stem}.csr", "-subj", f"/CN={name}")  # fmt: skip
        with open(f"{stem}.ext", "w") as file:
            file.write("basicConstraints=critical,CA:FALSE\n")
            file.write(f"subjectAltName={san}\n" if san else "")
        openssl("x509", "-req", "-in", f"{stem}.csr", "-CA", authority.ca, "-CAkey",
                authority.key, "-CAcreateserial", "-days", "30", "-extfile",
                f"{stem}.ext", "-out", f"{stem}.pem", *extra)  # fmt: skip
    return f"{stem}.pem", f"{stem}.key"


class Encrypted:
    """A gateway with one TLS listener; names under test lead to a server that echoes."""

    def __init__(self, gateway, dns_server, echo_server, authority, clients=None, ca=None,
                 head_seconds=20, **listen):  # fmt: skip
        self.authority = authority
        self.port = echo_server()
        cert, key = authority.leaf(PROXY_NAMES)
        tls = {"cert": cert, "key": key}
        if ca:
            tls["clientCa"] = ca
        network = {"allowedDomains": ["all.test", f"127.0.0.1:{self.port}"]}
        self.weir = gateway(
            network, resolver=dns_server({"all.test": ["127.0.0.1"]}),
            listen=[{"address": "127.0.0.1:0", "tls": tls, **listen}],
            extra={"clients": clients} if clients else None, limits={"headSeconds": head_seconds},
        )  # fmt: skip

    def dial(self, cert=None, before=b"", ca=None):
        context = ssl.create_default_context(cafile=ca or self.authority.ca)
        if cert:
            context.load_cert_chain(*cert)
        sock = socket.create_connection(("127.0.0.1", self.weir.port), 20)
        sock.sendall(before)
        return context.wrap_socket(sock, server_hostname="proxy.test")

    def connect(self, cert=None, login="", before=b""):
        """The answer to a CONNECT, as text, "" when there is none, and the socket."""
        try:
            sock = self.dial(cert, before)
            head = f"CONNECT all.test:{self.port} HTTP/1.1\r\n{login}\r\n"
            sock.sendall(head.encode())
            said = b""
            while b"\r\n\r\n" not in said:
                piece = sock.recv(4096)
                if not piece:
                    break
                said += piece
        except (ssl.SSLError, ConnectionError) as error:
            return f"TLS: {error}", None
        return said.decode(), sock


@pytest.fixture
def encrypted(gateway, dns_server, echo_server, authority):
    return lambda **kwargs: Encrypted(
        gateway, dns_server, echo_server, authority, **kwargs
    )


def test_a_head_in_one_record(encrypted):
    """It is longer than one read of a head, and nothing comes behind it."""
    gate = encrypted()
    said, sock = gate.connect(login=f"X-Long: {'x' * 12000}\r\n")
    assert said.startswith("HTTP/1.1 200 ")
    sock.close()


def test_a_tunnel_through_tls(encrypted):
    """Bytes both ways, more than any buffer holds, and an end in each direction."""
    gate = encrypted()
    said, sock = gate.connect()
    assert said.startswith("HTTP/1.1 200 ")
    sent = os.urandom(3 * 1024 * 1024)
    got = bytearray()
    sock.settimeout(30)
    at = 0
    while len(got) < len(sent):
        if at < len(sent):
            at += sock.send(sent[at : at + 65536])
        got += sock.recv(65536)
    assert bytes(got) == sent
    # SOCKS and plain requests come through the same listener.
    with gate.dial() as other:
        other.sendall(b"\x05\x01\x00\x05\x01\x00\x03\x08all.test" + gate.port.to_bytes(2, "big"))
        reply = b""
        while len(reply) < 12:
            reply += other.recv(12 - len(reply))
        assert reply == b"\x05\x00\x05\x00\x00\x01" + bytes(6)


def test_half_close_through_tls(encrypted):
    """close_notify of the client reaches the server, whose answer still comes back."""
    gate = encrypted()
    _, sock = gate.connect()
    sock.sendall(b"all of it")
    raw = sock.unwrap
    sock.settimeout(20)
    got = sock.recv(100)
    assert got == b"all of it"
    # unwrap() sends our close_notify and waits for the one of the other side.
    assert isinstance(raw(), socket.socket)
    (line,) = gate.weir.audit()
    assert line["bytes_up"] == 9 and line["close"] in ("client", "server")


def test_curl_speaks_https_to_the_proxy(encrypted, http_server):
    port = http_server({"/": b"hello"}).port
    gate = encrypted()
    done = subprocess.run(
        ["curl", "-sS", "-m", "20", "--proxy-cacert", gate.authority.ca, "-x",
         f"https://127.0.0.1:{gate.weir.port}", "-p", f"http://127.0.0.1:{port}/"],
        capture_output=True, text=True, timeout=60, env={"PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    # Its port is not on the list, which it can only know from us.
    assert done.returncode == 56 and "403" in done.stderr, done.stderr
    assert gate.weir.audit()[0]["reason"].startswith("address-")


def test_in_clear_is_not_answered(encrypted):
    gate = encrypted()
    answer = gate.weir.raw(f"CONNECT all.test:{gate.port} HTTP/1.1\r\n\r\n".encode())
    assert b"HTTP/1.1 200" not in answer and b"HTTP/1.1 4" not in answer
    assert gate.connect()[0].startswith("HTTP/1.1 200 ")


def test_old_versions_are_refused(encrypted):
    gate = encrypted()
    done = subprocess.run(
        ["openssl", "s_client", "-connect", f"127.0.0.1:{gate.weir.port}", "-tls1_1",
         "-cipher", "ALL:@SECLEVEL=0"], input=b"", capture_output=True, timeout=60,
    )  # fmt: skip
    assert done.returncode != 0
    for version, good in (("-tls1_2", 0), ("-tls1_3", 0)):
        done = subprocess.run(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{gate.weir.port}", version],
            input=b"", capture_output=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == good, done.stderr


def test_silent_handshake_is_not_waited_for(encrypted):
    gate = encrypted(head_seconds=1)
    with gate.weir.dial() as sock:
        sock.settimeout(30)
        sock.sendall(b"\x16\x03\x01\x02\x00\x01\x00")
        assert read_to_end(sock) == b""


def clients():
    return [
        {"name": "agent", "certName": "agent-7.test"},
        {"name": "plain", "certName": "agent-8"},
        {"name": "both", "certName": "agent-9.test", "from": ["127.0.0.9"]},
    ]


def test_a_certificate_tells_who_it_is(encrypted, authority):
    gate = encrypted(clients=clients(), ca=authority.ca)
    agent = client_cert(authority, "agent-7", "DNS:agent-7.test,DNS:agent-8")
    plain = client_cert(authority, "agent-8")
    both = client_cert(authority, "agent-9", "DNS:agent-9.test")
    nobody = client_cert(authority, "nobody", "DNS:nobody.test,DNS:agent-7.test")
    for cert in agent, plain:
        assert gate.connect(cert)[0].startswith("HTTP/1.1 200 ")
    for cert in both, nobody:
        assert gate.connect(cert)[0] == ""
    assert gate.connect()[0].startswith("TLS: ")
    lines = gate.weir.audit(2 + 3)
    assert sorted(line["session"] for line in lines) == [
        "agent", "gateway", "gateway", "gateway", "plain",
    ]  # fmt: skip
    assert {line["reason"] for line in lines} == {"allow-list", "auth"}


def test_certificates_of_others_are_refused(encrypted, authority, tmp_path):
    gate = encrypted(clients=clients(), ca=authority.ca)
    other = type(authority)(tmp_path)
    forged = client_cert(other, "agent-7", "DNS:agent-7.test")
    assert gate.connect(forged)[0].startswith("TLS: ")
    server = authority.leaf(["agent-7.test"])  # for servers only
    assert gate.connect(server)[0].startswith("TLS: ")
    assert gate.connect()[0].startswith("TLS: ")
    for line in gate.weir.audit(3):
        assert (line["session"], line["verdict"], line["reason"]) == ("gateway", "deny", "auth")
    # What is no TLS has not shown that it wants anything.
    with gate.weir.dial() as sock:
        sock.sendall(b"CONNECT all.test:443 HTTP/1.1\r\n\r\n")
        assert b"200" not in read_to_end(sock)
    assert len(gate.weir.audit(3)) == 3


def test_certificate_and_token(encrypted, authority, tmp_path):
    """Who must have both has nothing with one of them."""
    file = tmp_path / "ci.token"
    file.write_text(TOKEN + "\n")
    file.chmod(0o600)
    gate = encrypted(
        clients=[{"name": "ci", "tokenFile": str(file), "certName": "agent-7.test"}],
        ca=authority.ca,
    )
    right = client_cert(authority, "agent-7", "DNS:agent-7.test,DNS:agent-8")
    wrong = client_cert(authority, "agent-9", "DNS:agent-9.test")
    login = "Proxy-Authorization: Basic OmNpLXRva2VuLTAxMjM0NTY3ODk=\r\n"
    assert gate.connect(right, login)[0].startswith("HTTP/1.1 200 ")
    assert gate.connect(right)[0].startswith("HTTP/1.1 407 ")
    assert gate.connect(wrong, login)[0].startswith("HTTP/1.1 407 ")


def test_proxy_header_in_front_of_tls(encrypted, authority):
    """It comes in clear, and its address counts."""
    gate = encrypted(
        clients=[{"name": "far", "from": ["192.0.2.0/24"]}], proxyProtocol=["127.0.0.1"]
    )
    header = b"PROXY TCP4 192.0.2.7 192.0.2.1 5 6\r\n"
    assert gate.connect(before=header)[0].startswith("HTTP/1.1 200 ")
    assert gate.connect(before=header.replace(b".2.7", b".3.7"))[0] == ""
    assert gate.connect()[0].startswith("TLS: ")
    assert [line.get("client") for line in gate.weir.audit(3)] == [
        "192.0.2.7", "192.0.3.7", "127.0.0.1",
    ]  # fmt: skip


def test_reload_takes_another_certificate(encrypted, authority, tmp_path):
    gate = encrypted()
    _, old = gate.connect()
    other = type(authority)(tmp_path)
    tree = json.loads(gate.weir.file.read_text())
    cert, key = other.leaf(PROXY_NAMES)
    tree["listen"][0]["tls"].update(cert=cert, key=key)
    gate.weir.file.write_text(json.dumps(tree))
    gate.weir.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "holds in" in gate.weir.log(), 20, gate.weir.log)
    assert gate.connect()[0].startswith("TLS: ")
    with gate.dial(ca=other.ca) as sock:
        assert sock.version() == "TLSv1.3"
    old.sendall(b"still there")
    assert old.recv(100) == b"still there"


@pytest.mark.parametrize("change, said", [
    ({"cert": "/nowhere.pem"}, 'cannot read the certificate "/nowhere.pem": No such file'),
    ({"key": "CERT"}, "cannot use the key"),
    ({"key": "OTHER"}, "key values mismatch"),
    ({"key": "LOCKED"}, "has a pass phrase, and nobody is there to type it"),
    ({"clientCa": "KEY"}, "cannot read the authorities"),
])  # fmt: skip
def test_files_that_do_not_fit(gateway, authority, tmp_path, change, said):
    cert, key = authority.leaf(PROXY_NAMES)
    other = authority.leaf(["other.test"])[1]
    locked = str(tmp_path / "locked.key")
    openssl("pkey", "-in", key, "-aes128", "-passout", "pass:x", "-out", locked)
    places = {"CERT": cert, "KEY": key, "OTHER": other, "LOCKED": locked}
    tls = {"cert": cert, "key": key}
    tls.update({name: places.get(path, path) for name, path in change.items()})
    weir = gateway({}, listen=[{"address": "127.0.0.1:0", "tls": tls}], expect_fail=True)
    assert weir.status == 2
    assert "listen[0].tls: " in weir.log() and said in weir.log()


def test_names_that_nobody_is_asked_for(gateway, authority):
    cert, key = authority.leaf(PROXY_NAMES)
    weir = gateway(
        {}, listen=[{"address": "127.0.0.1:0", "tls": {"cert": cert, "key": key}}],
        extra={"clients": clients()}, expect_fail=True,
    )  # fmt: skip
    assert "no listener asks for certificates" in weir.log()


def test_a_key_that_everybody_reads(gateway, authority, tmp_path):
    cert, key = authority.leaf(PROXY_NAMES)
    copy = tmp_path / "open.key"
    copy.write_bytes(open(key, "rb").read())
    copy.chmod(0o644)
    listen = [{"address": "127.0.0.1:0", "tls": {"cert": cert, "key": str(copy)}}]
    weir = gateway({}, listen=listen)
    assert "listen[0].tls.key: everybody may read it" in weir.log()
