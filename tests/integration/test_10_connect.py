"""CONNECT: who is let through, who is not, and what each is told."""

import socket

import pytest

from support.tunnel import read_to_end


def test_literal_that_is_listed(gateway, echo_server):
    port = echo_server()
    weir = gateway({"allowedDomains": [f"127.0.0.1:{port}"]})
    with weir.connect(f"127.0.0.1:{port}") as tunnel:
        assert tunnel.status == 200
        tunnel.send(b"through")
        assert tunnel.read(7) == b"through"
        tunnel.end()
        assert tunnel.read_all() == b""
    (line,) = weir.audit()
    assert line["verdict"] == "allow" and line["reason"] == "allow-list"
    assert line["rule"] == "network.allowedDomains[0]"
    assert (line["host"], line["port"], line["addr"]) == ("127.0.0.1", port, "127.0.0.1")
    assert (line["bytes_up"], line["bytes_down"], line["close"]) == (7, 7, "client")
    assert line["front"] == "connect" and line["client"] == "127.0.0.1"


def test_name_that_leads_to_a_listed_address(gateway, banner_server, dns_server):
    port = banner_server(b"hello from the server\n")
    names = dns_server({"good.test": ["127.0.0.1"]})
    weir = gateway(
        {"allowedDomains": [f"good.test:{port}", f"127.0.0.1:{port}"]}, resolver=names
    )
    with weir.connect(f"GOOD.test.:{port}") as tunnel:
        assert tunnel.status == 200
        assert tunnel.read(22) == b"hello from the server\n"
    (line,) = weir.audit()
    assert line["host"] == "good.test" and line["addr"] == "127.0.0.1"
    assert line["ms_dns"] >= 0 and line["ms_connect"] >= 0 and line["ms"] >= 0


def test_denied_name_is_not_looked_up(gateway, dns_server):
    names = dns_server({"evil.test": ["127.0.0.1"]})
    weir = gateway({"allowedDomains": ["good.test"]}, resolver=names)
    refused = weir.connect("evil.test:443")
    assert refused.status == 403
    assert refused.phrase == "host is not on the allow list"
    assert refused.headers["x-proxy-error"] == "blocked-by-allowlist"
    assert b"evil.test:443" in refused.body
    assert names.queries == []
    (line,) = weir.audit()
    assert line["verdict"] == "deny" and line["reason"] == "not-on-allow-list"


def test_denied_name_in_the_users_words(gateway):
    weir = gateway({
        "allowedDomains": ["*.corp.test"], "deniedDomains": ["x.corp.test"],
        "deniedDomainReasons": {"x.corp.test": "telemetry is off here"},
    })  # fmt: skip
    refused = weir.connect("x.corp.test:443")
    assert (refused.status, refused.phrase) == (403, "telemetry is off here")
    assert weir.audit()[0]["rule"] == "network.deniedDomains[0]"


def test_ssh_is_told_in_its_own_language(gateway):
    weir = gateway({
        "deniedDomains": ["git.corp.test"],
        "deniedDomainReasons": {"git.corp.test": "use https"},
    })  # fmt: skip
    tunnel = weir.connect("git.corp.test:22")
    assert tunnel.status == 200
    said = tunnel.rest + tunnel.read_all()
    assert said.startswith(b"SSH-2.0-") and b"use https" in said
    assert weir.audit()[0]["verdict"] == "deny"


def test_any_port_of_an_allowed_name_is_not_allowed(gateway):
    """H16: a rule without a port is for the web's ports, one with it for that alone."""
    weir = gateway({"allowedDomains": ["good.test:443"]})
    assert weir.connect("good.test:22").status == 403


@pytest.mark.parametrize("authority", [
    "good.test:65979", "good.test:0", "good.test:+443", "good.test:0443",
    "good.test:443abc", "good.test", "good.test:", ":443", "good.test:443:443",
])  # fmt: skip
def test_ports_that_are_none(gateway, authority):
    """H15: 65979 is 443 modulo 65536."""
    weir = gateway({"allowedDomains": ["good.test"]})
    answer = weir.raw(f"CONNECT {authority} HTTP/1.1\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert weir.audit()[0]["verdict"] == "deny"


def test_second_request_behind_a_refusal_is_never_read(gateway, echo_server):
    """F11, F12: after a refusal the connection ends."""
    port = echo_server()
    weir = gateway({"allowedDomains": [f"127.0.0.1:{port}"]})
    answer = weir.raw(
        b"CONNECT evil.test:443 HTTP/1.1\r\n\r\n"
        + f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode()
    )
    assert answer.count(b"HTTP/1.1 ") == 1 and answer.startswith(b"HTTP/1.1 403")
    assert len(weir.audit()) == 1


@pytest.mark.parametrize("field", ["Content-Length: 45", "Transfer-Encoding: chunked"])
def test_connect_with_a_body(gateway, field):
    """F13."""
    weir = gateway({"allowedDomains": ["good.test"]})
    answer = weir.raw(
        f"CONNECT good.test:443 HTTP/1.1\r\n{field}\r\n\r\nGET /admin HTTP/1.1\r\n".encode()
    )
    assert answer.startswith(b"HTTP/1.1 400 ")


def test_tls_to_a_plain_listener(gateway):
    weir = gateway({"allowedDomains": ["good.test"]})
    assert weir.raw(b"\x16\x03\x01\x02\x00").startswith(b"HTTP/1.1 400 ")
    (line,) = weir.audit()
    assert (line["front"], line["reason"]) == ("tls", "not-supported")


def test_verdict_does_not_depend_on_fields(gateway):
    """H18: no header, and none in whatever order, changes who may go where."""
    weir = gateway({"allowedDomains": ["good.test"]})
    for headers in [
        [("Host", "good.test")],
        [("Proxy-Connection", "keep-alive"), ("HOST", "good.test:443")],
        [("X-Forwarded-Host", "good.test"), ("Proxy-Authorization", "Basic eDp5")],
    ]:
        assert weir.connect("evil.test:443", headers).status == 403


def test_large_refused_client_reads_why(gateway):
    """What it still sends is drained, so that no reset destroys the answer."""
    weir = gateway({"allowedDomains": []})
    with weir.dial() as sock:
        sock.sendall(b"CONNECT evil.test:443 HTTP/1.1\r\n\r\n" + b"x" * 30000)
        assert read_to_end(sock).startswith(b"HTTP/1.1 403 ")


def test_own_listeners_are_never_reached(gateway):
    """A15: also when the list says so."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    weir = gateway(
        {"allowedDomains": ["127.0.0.1", f"127.0.0.1:{port}", f"localhost:{port}"]},
        listen=["127.0.0.1:0", f"127.0.0.1:{port}"],
    )
    for authority in [f"127.0.0.1:{port}", f"localhost:{port}", f"[::ffff:127.0.0.1]:{port}"]:
        assert weir.connect(authority).status == 403, authority
    assert {line["reason"] for line in weir.audit(3)} == {"address-own"}
