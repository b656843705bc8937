"""The admin server: what it tells, to whom, and that clients of the proxy never reach it."""

import resource
import socket
import time

import pytest

from support.admin import Admin, Page, ask
from support.process import descriptors, settle
from support.tunnel import read_to_end
from support.wait import wait_until


@pytest.fixture
def weir(gateway):
    return gateway({}, extra={"admin": "127.0.0.1:0"})


def test_pages(weir):
    admin = weir.admin()
    assert admin.get("/healthz").body == "ok\n"
    assert admin.get("/readyz").body == "ready\n"
    page = admin.get("/metrics?name=x")
    assert page.status == 200 and page.headers["content-type"].startswith("text/plain")
    assert int(page.headers["content-length"]) == len(page.body)
    head = admin.get("/metrics", method="HEAD")
    assert head.status == 200 and head.body == ""
    assert int(head.headers["content-length"]) > 1000


NAMES = [
    "weir_decisions_total", "weir_connections_active", "weir_bytes_total",
    "weir_dns_seconds_bucket", "weir_connect_seconds_bucket", "weir_accept_errors_total",
    "weir_sni_total", "weir_audit_dropped_total", "weir_reloads_total",
]  # fmt: skip


def test_metrics(gateway, echo_server):
    port = echo_server()
    weir = gateway(
        {"allowedDomains": [f"127.0.0.1:{port}"]}, extra={"admin": "127.0.0.1:0"}
    )
    admin = weir.admin()
    before = admin.metrics()
    assert all(any(key.startswith(name) for key in before) for name in NAMES)
    with weir.connect(f"127.0.0.1:{port}") as tunnel:
        tunnel.send(b"12345")
        assert tunnel.read(5) == b"12345"
        assert admin.metrics()["weir_connections_active"] == 1
    assert weir.connect("evil.test:443").status == 403
    weir.audit(2)
    after = admin.metrics()
    changed = {key: after[key] - before[key] for key in after if after[key] != before.get(key)}
    assert changed.pop('weir_decisions_total{verdict="allow",reason="allow-list"}') == 1
    assert changed.pop('weir_decisions_total{verdict="deny",reason="not-on-allow-list"}') == 1
    assert changed.pop('weir_bytes_total{direction="up"}') == 5
    assert changed.pop('weir_bytes_total{direction="down"}') == 5
    assert changed.pop('weir_sni_total{category="not-tls"}') == 1
    assert changed.pop("weir_connect_seconds_count") == 1


def test_bytes_count_as_they_go(gateway, echo_server, server):
    """Of a tunnel, and of the body of an answer, that have not ended."""

    def start(connection):
        connection.recv(1000)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + b"x" * 5000)
        connection.recv(1)

    port, there = echo_server(), server(start)
    names = [f"127.0.0.1:{port}", f"127.0.0.1:{there.port}"]
    weir = gateway({"allowedDomains": names}, extra={"admin": "127.0.0.1:0"})
    admin = weir.admin()

    def counted():
        metrics = admin.metrics()
        return [metrics[f'weir_bytes_total{{direction="{way}"}}'] for way in ("up", "down")]

    with weir.connect(f"127.0.0.1:{port}") as tunnel, weir.dial() as client:
        for sent in (100_000, 200_000):
            tunnel.send(b"x" * 100_000)
            tunnel.read(100_000)
            wait_until(lambda: counted() == [sent, sent], 20, lambda: str(counted()))
        client.sendall(f"GET http://127.0.0.1:{there.port}/ HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        wait_until(lambda: counted()[1] >= sent + 5000, 20, lambda: str(counted()))
        assert counted()[0] > sent
        assert weir.audit(0) == []
    lines = weir.audit(2)
    for way, key in enumerate(("bytes_up", "bytes_down")):
        assert counted()[way] == sum(line[key] for line in lines)


def test_labels_are_a_closed_set(weir):
    """P7: nothing that a client sends becomes one."""
    admin = weir.admin()
    before = set(admin.metrics())
    for host in ("a.test", "b.test", 'x"y.test', "192.0.2.7"):
        weir.raw(f"CONNECT {host}:443 HTTP/1.1\r\n\r\n".encode())
    weir.audit(4)
    assert set(admin.metrics()) == before


@pytest.mark.parametrize("host", [
    "evil.test", "evil.test:{port}", "127.0.0.1", "127.0.0.1:1", "localhost", "127.0.0.2:{port}",
    "[::1]:{port}", "", "127.0.0.1:{port}.evil.test",
])  # fmt: skip
def test_other_names(weir, host):
    """P15: a web page may have a name of its own resolve to loopback (DNS rebinding)."""
    admin = weir.admin()
    page = admin.get("/metrics", host=host.format(port=admin.port))
    assert page.status == 421 and "weir_" not in page.body


def test_own_names(weir):
    admin = weir.admin()
    for host in (f"127.0.0.1:{admin.port}", f"localhost:{admin.port}"):
        assert admin.get("/healthz", host=host).status == 200


@pytest.mark.parametrize("request_, status", [
    ("GET /healthz HTTP/1.1\r\n\r\n", 421),
    ("GET /healthz HTTP/1.1\r\nHost: {own}\r\nHost: evil.test\r\n\r\n", 400),
    ("POST /healthz HTTP/1.1\r\nHost: {own}\r\nContent-Length: 0\r\n\r\n", 405),
    ("DELETE /metrics HTTP/1.1\r\nHost: {own}\r\n\r\n", 405),
    ("CONNECT {own} HTTP/1.1\r\nHost: {own}\r\n\r\n", 405),
    ("GET /healthz HTTP/1.1\r\nHost: {own}\r\nContent-Length: 5\r\n\r\nhello", 400),
    ("GET / HTTP/1.1\r\nHost: {own}\r\n\r\n", 404),
    ("GET /../metrics HTTP/1.1\r\nHost: {own}\r\n\r\n", 404),
    ("GET //metrics HTTP/1.1\r\nHost: {own}\r\n\r\n", 404),
    ("GET http://{own}/metrics HTTP/1.1\r\nHost: {own}\r\n\r\n", 404),
    ("nonsense\r\n\r\n", 400),
    ("GET /healthz HTTP/1.1\r\nHost: {own}\r\nX: " + "y" * 9000 + "\r\n\r\n", 431),
    ("GET /healthz HTTP/1.1\r\nHost: {own}\r\n" + "X: y\r\n" * 200 + "\r\n", 431),
], ids=["no host", "two hosts", "post", "delete", "connect", "body", "root", "dots", "slashes",
        "absolute", "nonsense", "long field", "many fields"])  # fmt: skip
def test_other_requests(weir, request_, status):
    admin = weir.admin()
    data = request_.format(own=f"127.0.0.1:{admin.port}").encode()
    assert Page(ask(admin.dial(), data)).status == status
    assert admin.get("/healthz").status == 200


def test_slow_visitors(weir):
    """Byte by byte is served; who never ends is cut, and the oldest make room."""
    admin = weir.admin()
    before = descriptors(weir.pid)
    data = f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{admin.port}\r\n\r\n".encode()
    with admin.dial() as sock:
        for at in range(len(data)):
            sock.sendall(data[at : at + 1])
        assert b"200 OK" in read_to_end(sock)
    crowd = [admin.dial() for _ in range(200)]
    for sock in crowd[::2]:
        sock.sendall(b"GET /hea")
    assert admin.get("/healthz").status == 200
    assert descriptors(weir.pid) <= before + 20
    for sock in crowd:
        sock.settimeout(30)
        assert read_to_end(sock) == b""
        sock.close()
    settle(weir.pid, before)


def test_unix_socket(gateway, tmp_path):
    path = tmp_path / "admin.sock"
    weir = gateway({}, extra={"admin": f"unix:{path}"})
    wait_until(lambda: "admin on" in weir.log(), 20, weir.log)
    assert path.stat().st_mode & 0o777 == 0o600
    admin = Admin(None, path)
    assert admin.get("/healthz", host="whatever").body == "ok\n"
    assert admin.metrics()["weir_workers"] >= 1
    assert weir.stop() == 0
    assert not path.exists()


@pytest.mark.parametrize("value", ["0.0.0.0:9128", "192.0.2.1:9128", "[::]:9128", "localhost:1",
                                   "unix:relative", "127.0.0.1", 9128, ["127.0.0.1:9128"]],
                         ids=str)  # fmt: skip
def test_only_this_host(gateway, value):
    weir = gateway({}, extra={"admin": value}, expect_fail=True)
    assert weir.status == 2 and "admin" in weir.log() and ": line " in weir.log()


@pytest.mark.parametrize("workers", [1, 3])
def test_not_through_the_proxy(gateway, workers):
    """P15: whatever the lists say, in every worker."""
    weir = gateway(
        {}, resolver={"hostsFile": "/etc/hosts", "servers": ["127.0.0.1:9"]},
        extra={"admin": "127.0.0.1:0", "workers": workers},
    )  # fmt: skip
    port = weir.admin().port
    allowed = [f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"]
    weir.reload({**weir.settings(), "network": {"allowedDomains": allowed}})
    assert weir.admin().get("/healthz").status == 200
    forms = [f"127.0.0.1:{port}", f"localhost:{port}", f"[::ffff:127.0.0.1]:{port}",
             f"[::ffff:7f00:1]:{port}"]  # fmt: skip
    for authority in forms * 4:
        assert weir.connect(authority).status == 403
    reasons = {line["reason"] for line in weir.audit(len(forms) * 4)}
    assert reasons == {"address-own"}


def test_port_in_use(gateway):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        weir = gateway({}, extra={"admin": f"127.0.0.1:{other.getsockname()[1]}"},
                       expect_fail=True)  # fmt: skip
    assert weir.status == 2 and "admin" in weir.log() and "in use" in weir.log()
    assert not (weir.folder / "audit.jsonl").exists()


def test_it_tells_that_descriptors_have_run_out(gateway, echo_server):
    """D3: it answers all the same, again and again, and says so; then all is well again."""
    port = echo_server()
    weir = gateway(
        {"allowedDomains": [f"127.0.0.1:{port}"]},
        extra={"admin": "127.0.0.1:0", "workers": 1},
    )
    admin = weir.admin()
    with weir.connect(f"127.0.0.1:{port}") as tunnel:
        assert tunnel.status == 200
    weir.audit()
    limit = resource.prlimit(weir.pid, resource.RLIMIT_NOFILE)
    wait_until(lambda: admin.metrics()["weir_connections_active"] == 0, 20, "it is over")
    resource.prlimit(weir.pid, resource.RLIMIT_NOFILE, (descriptors(weir.pid), limit[1]))
    waiting = [weir.dial(60) for _ in range(5)]
    wait_until(lambda: "accepting rests" in weir.log(), 20, weir.log)
    health = wait_until(lambda: admin.get("/healthz").body != "ok\n", 20, "it tells")
    assert health
    for _ in range(20):
        page = admin.get("/healthz")
        assert page.status == 200 and "descriptors or memory" in page.body
    assert admin.get("/readyz").status == 503
    assert admin.metrics()['weir_accept_errors_total{errno="EMFILE"}'] >= 1
    resource.prlimit(weir.pid, resource.RLIMIT_NOFILE, limit)
    for sock in waiting:
        sock.sendall(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode())
        assert sock.recv(100).startswith(b"HTTP/1.1 200 ")
        sock.close()
    wait_until(lambda: admin.get("/healthz").body == "ok\n", 40, lambda: admin.get("/healthz").body)
    assert admin.get("/readyz").status == 200


def test_it_tells_that_the_audit_fails(gateway):
    """P16."""
    weir = gateway({}, audit={"file": "/dev/full", "onFull": "refuse"},
                   extra={"admin": "127.0.0.1:0"})  # fmt: skip
    admin = weir.admin()
    assert admin.get("/readyz").status == 200
    weir.raw(b"CONNECT a.test:443 HTTP/1.1\r\n\r\n")
    wait_until(lambda: admin.get("/readyz").status == 503, 20, weir.log)
    assert "requests are refused" in admin.get("/healthz").body
    assert admin.metrics()["weir_audit_failing"] == 1


def test_it_tells_of_lost_lines(gateway):
    weir = gateway({}, audit={"file": "/dev/full", "onFull": "count"},
                   extra={"admin": "127.0.0.1:0"})  # fmt: skip
    admin = weir.admin()
    host = b"x" * 60 + b"." + b"y" * 60 + b"." + b"z" * 60 + b".test"
    end = time.monotonic() + 60
    while admin.metrics()["weir_audit_dropped_total"] == 0 and time.monotonic() < end:
        for _ in range(200):
            with weir.dial() as sock:
                sock.sendall(b"CONNECT " + host + b":443 HTTP/1.1\r\n\r\n")
                sock.recv(100)
    assert admin.metrics()["weir_audit_dropped_total"] > 0
    assert admin.get("/readyz").status == 200
