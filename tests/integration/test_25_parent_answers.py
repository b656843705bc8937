"""What a parent proxy says, or does not: it is told, and never a reason to go directly."""

import pathlib
import socket

import pytest

from support.parent import BANNER, NAME, through

BYTES = pathlib.Path(__file__).resolve().parents[1] / "data" / "bytes"


def test_a_parent_that_wants_credentials_of_a_plain_request(gateway, parent):
    up = parent(answer=b"HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\n"
                       b"Content-Length: 0\r\n\r\n")  # fmt: skip
    weir = gateway(through(up.url))
    answer = weir.raw(f"GET http://{NAME}/ HTTP/1.1\r\nHost: x\r\n"
                      "Connection: close\r\n\r\n".encode())  # fmt: skip
    assert answer.startswith(b"HTTP/1.1 502 ") and b"Proxy-Authenticate" not in answer


# What stands in PRO-28's files, and what the client then sees.
ANSWERS = {
    "PRO-28-upstream-http10.bin": 200,
    "PRO-28-upstream-close.bin": 200,
    "PRO-28-upstream-te.bin": 200,
    "PRO-28-upstream-nophrase.bin": 200,
    "PRO-28-upstream-204.bin": 200,
    "PRO-28-upstream-100then200.bin": 200,
    "PRO-28-upstream-302.bin": "refused: 302 Found",
    "PRO-28-upstream-407.bin": "wants credentials",
    "PRO-28-upstream-lfonly.bin": "not HTTP",
    "PRO-28-upstream-long.bin": "more than 16384 bytes",
    "PRO-28-upstream-truncated.bin": "in the middle of its answer",
}


def test_PRO_28_all_files_are_looked_at():
    assert {path.name for path in BYTES.glob("PRO-28-*")} == set(ANSWERS)


@pytest.mark.parametrize("name", ANSWERS)
def test_PRO_28_what_a_parent_may_answer(gateway, parent, name):
    """A whole 2xx head opens the tunnel, and every byte behind it is the server's."""
    first = b"\r\nHTTP/1.1 200 OK\r\n\r\nof the server"
    opens = ANSWERS[name] == 200
    up = parent(answer=(BYTES / name).read_bytes() + (first if opens else b""), stay=opens)
    weir = gateway(through(up.url))
    with weir.connect(f"{NAME}:443") as tunnel:
        if opens:
            assert tunnel.status == 200
            assert tunnel.read(len(first)) == first
            assert "content-length" not in tunnel.headers
            return
        assert tunnel.status == 502
        assert "error=" in tunnel.headers["proxy-status"]
        assert ANSWERS[name].encode() in tunnel.body and up.url.encode() in tunnel.body
    (line,) = weir.audit()
    refused = "refused" in ANSWERS[name] or "credentials" in ANSWERS[name]
    assert line["reason"] == ("parent-refused" if refused else "parent-failure")
    assert line["via"] == up.url


def test_the_answer_comes_byte_by_byte(gateway, server):
    def slowly(connection):
        while b"\r\n\r\n" not in connection.recv(65536):
            pass
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in b"HTTP/1.1 200 Fine\r\nA: b\r\n\r\nrest":
            connection.sendall(bytes([byte]))
        connection.recv(1)

    up = server(slowly)
    weir = gateway(through(f"http://127.0.0.1:{up.port}"))
    with weir.connect(f"{NAME}:443") as tunnel:
        assert tunnel.read(4) == b"rest"


@pytest.mark.parametrize("kind", ["http", "socks5"])
def test_a_silent_parent(gateway, server, kind):
    up = server(lambda connection: connection.recv(65536) and connection.recv(1))
    weir = gateway(through(f"{kind}://127.0.0.1:{up.port}"), limits={"connectSeconds": 1})
    with weir.connect(f"{NAME}:443", timeout=30) as tunnel:
        assert tunnel.status == 504
        assert b"did not answer in time" in tunnel.body
    assert weir.audit()[0]["reason"] == "timeout"


def test_a_parent_whose_queue_is_full_is_waited_for(gateway, closing, tmp_path):
    """A Unix socket does not wait by itself, as TCP does."""
    path, many = str(tmp_path / "busy.sock"), 6
    listener = closing(socket.socket(socket.AF_UNIX))
    listener.bind(path)
    listener.listen(0)
    listener.settimeout(30)
    weir = gateway(
        {"allowedDomains": [NAME], "mitmProxy": {"socketPath": path, "domains": [NAME]}},
    )
    clients = [closing(weir.dial(30)) for _ in range(many)]
    for client in clients:
        client.sendall(f"CONNECT {NAME}:443 HTTP/1.1\r\n\r\n".encode())
    # The one that comes last has been read, so the others have met the full queue.
    with weir.connect("b.test:443") as tunnel:
        assert tunnel.status == 403
    for _ in range(many):
        asked = closing(listener.accept()[0])
        while b"\r\n\r\n" not in asked.recv(65536):
            pass
        asked.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    assert {client.recv(100)[:13] for client in clients} == {b"HTTP/1.1 200 "}
    listener.close()
    with weir.connect(f"{NAME}:443") as tunnel:
        assert tunnel.status == 502 and b"cannot be reached" in tunnel.body


def closed_port():
    """A port on which nobody listens, and that stays taken while the socket is kept."""
    held = socket.socket()
    held.bind(("127.0.0.1", 0))
    return held


@pytest.mark.parametrize("kind", ["http", "socks5", "https"])
def test_never_directly(gateway, origin, dns_server, kind):
    """Nobody is there, the name does not exist, what is there speaks something else."""
    names = dns_server({"a.test": ["127.0.0.1"]})
    held = closed_port()
    port = origin.port
    for where, reason in (
        (f"127.0.0.1:{held.getsockname()[1]}", b"the connection was refused"),
        ("nowhere.test:3128", b"could not be resolved"),
        (f"127.0.0.1:{port}", b""),  # the origin itself, which is no proxy
    ):
        before = origin.connections
        weir = gateway(
            {
                "allowedDomains": [f"a.test:{port}", f"127.0.0.1:{port}"],
                "parentProxy": {"http": f"{kind}://{where}"},
            },
            resolver=names,
        )
        with weir.connect(f"a.test:{port}") as tunnel:
            assert tunnel.status == 502, where
            assert reason in tunnel.body
            assert f"the parent proxy {kind}://{where} ".encode() in tunnel.body
        plain = weir.raw(f"GET http://a.test:{port}/ HTTP/1.1\r\nHost: a\r\n"
                         "Connection: close\r\n\r\n".encode())  # fmt: skip
        assert plain.startswith(b"HTTP/1.1 502 ")
        reached = origin.connections - before
        assert reached == (2 if where.endswith(f":{port}") else 0)
        assert {line["reason"] for line in weir.audit(2)} <= {"parent-failure", "bad-response"}
    held.close()


def test_socks_refusals(gateway, parent):
    for code, text in ((2, b"not allowed by its rules"), (5, b"connection refused")):
        up = parent("socks5", answer=bytes([5, code, 0, 1, 0, 0, 0, 0, 0, 0]))
        weir = gateway(through(up.url))
        with weir.connect(f"{NAME}:443") as tunnel:
            assert tunnel.status == 502 and b"refused: " + text in tunnel.body
        assert weir.audit()[0]["reason"] == "parent-refused"
    up = parent("socks5", login="user:wrong@")
    up.login = ("user", "right")
    weir = gateway(through(up.url))
    with weir.connect(f"{NAME}:443") as tunnel:
        assert tunnel.status == 502 and b"does not accept the credentials" in tunnel.body
        assert b"wrong" not in tunnel.body
    assert up.asked == []


def test_a_parent_within_tls(gateway, tls_parent, http_server, origin, authority):
    up = tls_parent(["127.0.0.1"], to=origin.port)
    weir = gateway(through(up.url, caFile=authority.ca))
    with weir.connect(f"{NAME}:443") as tunnel:
        assert tunnel.read(len(BANNER)) == BANNER
        tunnel.send(b"x" * 300000)
        assert tunnel.read(300000) == b"x" * 300000
    web = http_server({"*": b"page\n"})
    up.to = web.port
    answer = weir.raw(f"GET http://{NAME}/ HTTP/1.1\r\nHost: x\r\n"
                      "Connection: close\r\n\r\n".encode())  # fmt: skip
    assert answer.endswith(b"page\n"), answer
    assert [head.split()[0] for head in up.asked] == ["CONNECT", "GET"]


@pytest.mark.parametrize("names, ca", [(["other.test"], True), (["127.0.0.1"], False)])
def test_a_parent_that_is_not_who_it_says(gateway, tls_parent, authority, names, ca):
    up = tls_parent(names, answer=b"HTTP/1.1 200 OK\r\n\r\n")
    weir = gateway(through(up.url, **({"caFile": authority.ca} if ca else {})))
    with weir.connect(f"{NAME}:443") as tunnel:
        assert tunnel.status == 502
        assert b"certificate verify failed" in tunnel.body
        assert "tls_certificate_error" in tunnel.headers["proxy-status"]
    plain = weir.raw(f"GET http://{NAME}/ HTTP/1.1\r\nHost: x\r\n"
                     "Connection: close\r\n\r\n".encode())  # fmt: skip
    assert plain.startswith(b"HTTP/1.1 502 ") and b"certificate verify failed" in plain
    assert up.asked == []


def test_a_bad_parent_starts_nothing(gateway):
    weir = gateway({"parentProxy": {"http": "http://u:secret@p.test/path"}}, expect_fail=True)
    assert weir.status == 2
    assert "network.parentProxy.http: expected nothing behind the port" in weir.log()
    assert "secret" not in weir.log()
