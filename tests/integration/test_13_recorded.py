"""What real clients wrote to a recording proxy, replayed byte for byte: each CONNECT of
theirs gets a 200, and what they sent behind it arrives unchanged.

A recording holds one or more requests: one a connection, or two on one where the first
was answered with 407. Here nobody wants credentials, so that each of them is replayed on
a connection of its own.
"""

import pathlib
import re
import threading

import pytest

RECORDINGS = pathlib.Path(__file__).resolve().parents[1] / "data/clients"
PORTS = (443, 6443)


def requests_of(recording):
    """(head, what came behind it) for each CONNECT."""
    starts = [m.start() for m in re.finditer(rb"CONNECT ", recording)]
    ends = starts[1:] + [len(recording)]
    for start, end in zip(starts, ends):
        head, behind = recording[start:end].split(b"\r\n\r\n", 1)
        yield head + b"\r\n\r\n", behind


@pytest.fixture(scope="module")
def cases():
    return {
        f"{path.stem}-{number}": request
        for path in sorted(RECORDINGS.glob("*.bin"))
        for number, request in enumerate(requests_of(path.read_bytes()), 1)
    }


class Sink:
    """Keeps what each connection sends, up to its end."""

    def __init__(self):
        self.received = []
        self.arrived = threading.Condition()

    def __call__(self, connection):
        data = b""
        while piece := connection.recv(65536):
            data += piece
        with self.arrived:
            self.received.append(data)
            self.arrived.notify_all()

    def wait_for(self, count):
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.received) >= count, 10)
            return self.received[-1]


@pytest.fixture
def replay(gateway, netns_pair, server, tmp_path):
    pair = netns_pair()
    sink = Sink()
    for port in PORTS:
        server(sink, host="203.0.113.2", port=port, netns=pair.b)
    hosts = tmp_path / "hosts"
    names = "api git deb sts index pypi registry k8s xn--bcher-kva".split()
    names = [f"{name}.example.test" for name in names] + ["oauth2.googleapis.com"]
    hosts.write_text(f"203.0.113.2 {' '.join(names)}\n")
    allowed = [f"*.example.test:{port}" for port in PORTS] + ["oauth2.googleapis.com"]
    return pair, sink, lambda denied=(): gateway(
        {"allowedDomains": allowed, "deniedDomains": list(denied)},
        resolver={"servers": ["127.0.0.1:9"], "hostsFile": str(hosts)},
        netns=pair.a,
    )


def head_of_answer(sock):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = sock.recv(65536)
        assert piece, data
        data += piece
    return data.split(b"\r\n\r\n", 1)


def test_there_are_recordings(cases):
    assert len(cases) >= 40


def test_each_gets_a_tunnel_and_its_bytes_arrive(cases, replay):
    _, sink, start = replay
    proxy = start()
    for count, (name, (head, behind)) in enumerate(cases.items(), 1):
        with proxy.dial() as sock:
            sock.sendall(head)
            answer, rest = head_of_answer(sock)
            assert answer.startswith(b"HTTP/1.1 200 "), (name, answer)
            assert rest == b"", name
            sock.sendall(behind)
            sock.shutdown(1)
            assert sock.recv(10) == b"", name
        assert sink.wait_for(count) == behind, name
    events = proxy.audit(len(cases))
    assert {event["verdict"] for event in events} == {"allow"}
    assert {event["front"] for event in events} == {"connect"}


def test_each_may_send_its_hello_before_the_answer(cases, replay):
    _, sink, start = replay
    proxy = start()
    for count, (name, (head, behind)) in enumerate(cases.items(), 1):
        with proxy.dial() as sock:
            sock.sendall(head + behind)
            answer, _ = head_of_answer(sock)
            assert answer.startswith(b"HTTP/1.1 200 "), (name, answer)
            sock.shutdown(1)
            assert sock.recv(10) == b"", name
        assert sink.wait_for(count) == behind, name


def test_each_is_told_no_and_nothing_arrives(cases, replay):
    _, sink, start = replay
    proxy = start(denied=["*"])
    for name, (head, behind) in cases.items():
        with proxy.dial() as sock:
            sock.sendall(head + behind)
            answer, body = head_of_answer(sock)
            assert answer.startswith(b"HTTP/1.1 403 "), (name, answer)
            assert b"X-Proxy-Error: blocked-by-allowlist" in answer, name
            length = int(re.search(rb"(?i)content-length: (\d+)", answer).group(1))
            while len(body) < length:
                piece = sock.recv(65536)
                assert piece, name
                body += piece
            assert len(body) == length, name
            assert sock.recv(10) == b"", name
    assert {event["reason"] for event in proxy.audit(len(cases))} == {"deny-list"}
    assert sink.received == []
