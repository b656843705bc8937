"""Several threads serve, and to the outside they are one gateway."""

import concurrent.futures
import time

import pytest

from support.process import status


@pytest.fixture
def place(gateway, echo_server):
    """place(workers, **limits): a gateway with so many, and the port of a server."""

    def make(workers, **limits):
        port = echo_server()
        weir = gateway(
            {"allowedDomains": [f"127.0.0.1:{port}"]}, limits=limits,
            extra={"workers": workers, "admin": "127.0.0.1:0"},
        )  # fmt: skip
        return weir, port

    return make


def test_one_for_each_processor(gateway):
    weir = gateway(settings={"listen": ["127.0.0.1:0"], "admin": "127.0.0.1:0"})
    workers = weir.admin().metrics()["weir_workers"]
    assert workers >= 1
    # The main thread, the writer of the audit, and they; a sanitizer may have its own.
    assert status(weir.pid, "Threads") >= workers + 2


def burst(weir, port, count):
    """So many tunnels at a time; the statuses of all."""
    tunnels = []
    for _ in range(count):
        tunnels.append(weir.dial(20))
    for sock in tunnels:
        sock.sendall(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode())
    answers = [sock.recv(4096)[9:12] for sock in tunnels]
    for sock in tunnels:
        sock.close()
    return answers


def test_all_of_them_serve_and_count_as_one(place):
    weir, port = place(4)
    asked, ids, end = 0, set(), time.monotonic() + 60
    # Who takes a connection is the kernel's affair, so until two have.
    while len({number % 4 for number in ids}) < 2 and time.monotonic() < end:
        assert set(burst(weir, port, 50)) == {b"200"}
        asked += 50
        ids = {event["id"] for event in weir.audit(asked, timeout=20)}
    assert len(ids) == asked, "an id is one connection, whoever serves it"
    assert len({number % 4 for number in ids}) >= 2
    metrics = weir.admin().metrics()
    allowed = 'weir_decisions_total{verdict="allow",reason="allow-list"}'
    assert metrics[allowed] == asked
    assert metrics["weir_connect_seconds_count"] == asked


@pytest.mark.parametrize("limit", ["connections", "connectionsPerClient"])
def test_limits_hold_over_all(place, limit):
    weir, port = place(4, **{limit: 10})
    tunnels = [weir.connect(f"127.0.0.1:{port}", timeout=20) for _ in range(10)]
    assert [tunnel.status for tunnel in tunnels] == [200] * 10
    for _ in range(20):
        try:
            answer = weir.raw(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode(), 20)
        except ConnectionError:
            answer = b""
        # In words; without when many are being told already.
        assert answer[:12] in (b"HTTP/1.1 503", b"")
    assert weir.admin().metrics()["weir_connections_active"] >= 10
    for tunnel in tunnels:
        tunnel.close()
    weir.audit(30, timeout=20)
    with weir.connect(f"127.0.0.1:{port}", timeout=20) as tunnel:
        assert tunnel.status == 200


def test_a_crowd(place):
    """Many at once from many threads: all are served, and nothing is mixed up."""
    weir, port = place(3)

    def talk(number):
        text = b"%06d" % number * 50
        with weir.connect(f"127.0.0.1:{port}", timeout=60) as tunnel:
            tunnel.send(text)
            return tunnel.read(len(text)) == text

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        assert all(pool.map(talk, range(400)))
    assert len({event["id"] for event in weir.audit(400, timeout=30)}) == 400


@pytest.mark.parametrize("workers", [0, -1, 1.5, "2", 257])
def test_a_number_that_is_none(weir, tmp_path, workers):
    import json

    file = tmp_path / "gateway.json"
    file.write_text(json.dumps({"listen": ["127.0.0.1:0"], "workers": workers}))
    done = weir("gateway", "--check", "-f", file)
    assert done.returncode == 2 and "line 1: workers" in done.stderr
