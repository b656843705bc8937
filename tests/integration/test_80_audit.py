"""The audit: a line for each request, whatever it holds, wherever it goes (P7, P16, F19)."""

import base64
import json
import os
import re
import signal
import stat
import threading

import pytest

from support.tunnel import read_to_end
from support.wait import wait_until

ORDER = [
    "t", "v", "session", "client", "id", "front", "host", "port", "raw", "verdict",
    "reason", "rule", "sni", "addr", "bytes_up", "bytes_down", "ms_dns", "ms_connect",
    "ms", "close",
]  # fmt: skip
MOMENT = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
# Half of the queue and a pipe hold fewer lines than this.
ENOUGH = 4000  # to fill the queue of a MiB
MIB = 1024 * 1024
LONG_HOST = ".".join(["a" * 60] * 4)


def lines_of(weir):
    return (weir.folder / "audit.jsonl").read_text().splitlines()


def deny_many(weir, count, host="denied.test", stop=lambda status: False):
    """The statuses of `count` requests for a host that is not allowed; ends early when
    `stop` says so."""
    statuses = []
    for _ in range(count):
        with weir.connect(f"{host}:443") as tunnel:
            statuses.append(tunnel.status)
        if stop(statuses[-1]):
            break
    return statuses


def parsed(data):
    """Each line of `data` is whole."""
    assert data.endswith(b"\n")
    return [json.loads(line) for line in data.splitlines()]


@pytest.fixture
def allowed(gateway, echo_server):
    """A gateway that allows the address of an echo server."""
    authority = f"127.0.0.1:{echo_server()}"
    return gateway({"allowedDomains": [authority]}), authority


def test_line_of_a_tunnel(allowed):
    weir, authority = allowed
    with weir.connect(authority, early=b"early ") as tunnel:
        tunnel.send(b"late")
        tunnel.end()
        assert tunnel.rest + tunnel.read_all() == b"early late"
    (event,) = weir.audit(1)
    assert list(event) == [key for key in ORDER if key in event]
    assert MOMENT.fullmatch(event["t"])
    host, port = authority.split(":")
    expected = {
        "v": 1, "session": "gateway", "front": "connect", "host": host,
        "port": int(port), "verdict": "allow", "reason": "allow-list",
        "rule": "network.allowedDomains[0]", "addr": host, "bytes_up": 10,
        "bytes_down": 10,
    }  # fmt: skip
    assert {key: event[key] for key in expected} == expected
    assert event["ms"] >= event["ms_connect"] >= 0
    assert "raw" not in event and "sni" not in event


def test_line_of_a_refusal(allowed):
    weir, _ = allowed
    assert deny_many(weir, 2) == [403, 403]
    first, second = weir.audit(2)
    assert list(first) == [key for key in ORDER if key in first]
    assert (first["host"], first["port"]) == ("denied.test", 443)
    assert (first["verdict"], first["reason"]) == ("deny", "not-on-allow-list")
    assert first["id"] != second["id"]
    assert "addr" not in first and "rule" not in first
    assert (first["bytes_up"], first["bytes_down"]) == (0, 0)


@pytest.mark.parametrize(("request_bytes", "raw"), [
    (b"CONNECT evil.test\x00.good.test:443 HTTP/1.1\r\n\r\n", "evil.test\0.good.test:443"),
    (b"CONNECT a\x1b[2J:443 HTTP/1.1\r\n\r\n", "a\x1b[2J:443"),
    (b'CONNECT a","verdict":"allow:443 HTTP/1.1\r\n\r\n', 'a","verdict":"allow:443'),
    (b"CONNECT a\\u0041{}|:443 HTTP/1.1\r\n\r\n", "a\\u0041{}|:443"),
    (b"CONNECT caf\xc3\xa9\xff:443 HTTP/1.1\r\n\r\n", "caf\xc3\xa9\xff:443"),
    (b"CONNECT " + b"x" * 300 + b":443 HTTP/1.1\r\n\r\n", "x" * 64),
    (b"CONNECT me:secret@a.test:443 HTTP/1.1\r\n\r\n", "@a.test:443"),
], ids=["nul", "escape", "quotes", "backslash", "high", "long", "userinfo"])  # fmt: skip
def test_what_was_malformed_is_escaped(allowed, request_bytes, raw):
    weir, _ = allowed
    assert weir.raw(request_bytes).startswith(b"HTTP/1.1 400 ")
    (event,) = weir.audit(1)
    assert event["raw"] == raw
    assert "host" not in event and "port" not in event
    assert event["verdict"] == "deny" and event["reason"].startswith("malformed-")
    (line,) = lines_of(weir)
    assert line.isascii() and line.isprintable()


def test_no_secret_reaches_audit_log_or_answer(allowed):
    """Rows F19 and F18: values of header fields never do."""
    weir, authority = allowed
    token = "c2VjcmV0LXRva2Vu"
    headers = [
        ("Authorization", f"Bearer {token}"), ("Cookie", f"id={token}"),
        ("Proxy-Authorization", f"Basic {token}"), ("X-Token", token),
        ("User-Agent", f"agent/{token}"),
    ]  # fmt: skip
    fields = "".join(f"{name}: {value}\r\n" for name, value in headers)
    answers = b""
    with weir.connect("denied.test:443", headers) as tunnel:
        answers += tunnel.body
    with weir.connect(authority, headers) as tunnel:
        tunnel.end()
        answers += tunnel.read_all()
    for line in (
        "CONNECT bad..host:443 HTTP/1.1", f"CONNECT {token}@x:1 HTTP/1.1",
        "CONNECT a.test:443 HTTP/1.9", f"GET /?{token} HTTP/1.1",
        f"GET http://a.test/{token} HTTP/1.1", f"GET http://u:{token}@a.test/ HTTP/1.1",
    ):  # fmt: skip
        answers += weir.raw(f"{line}\r\n{fields}\r\n".encode())
    weir.audit(8)
    seen = answers.decode("latin1") + "\n".join(lines_of(weir)) + weir.log()
    assert token not in seen
    assert base64.b64decode(token).decode() not in seen


def test_all_that_was_asked_is_there_at_the_end(allowed):
    """A queue that is not empty at SIGTERM is written out."""
    weir, _ = allowed
    deny_many(weir, 300)
    assert weir.stop() == 0
    assert len(weir.audit(300)) == 300


def test_mode_and_append(allowed, gateway):
    weir, _ = allowed
    deny_many(weir, 1)
    weir.audit(1)
    path = weir.folder / "audit.jsonl"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    weir.stop()
    again = gateway({}, audit={"file": str(path)})
    deny_many(again, 1)
    assert len(again.audit(2)) == 2


def test_rotation(allowed):
    """Renamed, and told so by SIGHUP: later lines are in the new file, none is lost."""
    weir, _ = allowed
    path = weir.folder / "audit.jsonl"
    deny_many(weir, 3, "first.test")
    weir.audit(3)
    path.rename(weir.folder / "audit.1")
    deny_many(weir, 1, "between.test")  # still into the file that was renamed
    wait_until(
        lambda: "between.test" in (weir.folder / "audit.1").read_text(), 5, weir.log
    )
    os.kill(weir.pid, signal.SIGHUP)
    wait_until(path.exists, 30, weir.log)
    deny_many(weir, 2, "second.test")
    assert [event["host"] for event in weir.audit(2)] == ["second.test"] * 2
    assert len((weir.folder / "audit.1").read_text().splitlines()) == 4


def test_rotation_that_fails_keeps_the_old_file(gateway, tmp_path):
    folder = tmp_path / "log"
    folder.mkdir()
    weir = gateway({}, audit={"file": str(folder / "audit.jsonl")})
    deny_many(weir, 1)
    weir.audit(1)
    folder.rename(tmp_path / "moved")
    os.kill(weir.pid, signal.SIGHUP)
    wait_until(lambda: "SIGHUP: audit file" in weir.log(), 30, weir.log)
    deny_many(weir, 1)
    moved = tmp_path / "moved" / "audit.jsonl"
    wait_until(lambda: len(moved.read_text().splitlines()) == 2, 30, weir.log)


class Pipe:
    """A FIFO as the audit's file, with a reader that may or may not read."""

    def __init__(self, path):
        os.mkfifo(path)
        self.path = str(path)
        self.end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.data = b""

    def start_reading(self):
        os.set_blocking(self.end, True)

        def read():
            while piece := os.read(self.end, 65536):
                self.data += piece

        self.reader = threading.Thread(target=read)
        self.reader.start()

    def finish(self):
        self.reader.join(30)
        assert not self.reader.is_alive()
        return parsed(self.data)

    def close(self):
        os.close(self.end)


@pytest.fixture
def pipe(tmp_path, closing):
    return closing(Pipe(tmp_path / "pipe"))


def test_nobody_reads_and_requests_are_refused(gateway, pipe):
    """No line, no request: and when somebody reads again, all is as before."""
    weir = gateway({}, audit={"file": pipe.path, "onFull": "refuse", "queueBytes": MIB})
    statuses = deny_many(weir, ENOUGH, LONG_HOST, stop=lambda status: status != 403)
    assert statuses[-1] == 503, f"{len(statuses)} requests were answered"
    with weir.connect("denied.test:443") as tunnel:
        assert tunnel.status == 503 and b"audit" in tunnel.body
    pipe.start_reading()
    wait_until(lambda: deny_many(weir, 1) == [403], 30, weir.log)
    assert weir.stop() == 0
    events = pipe.finish()
    # What was refused for want of room had its line in the other half of the queue.
    assert [e["reason"] for e in events].count("not-on-allow-list") == len(statuses)
    assert "limit" in [e["reason"] for e in events]


def test_nobody_reads_and_lines_are_counted(gateway, pipe, echo_server):
    authority = f"127.0.0.1:{echo_server()}"
    weir = gateway(
        {"allowedDomains": [authority]},
        audit={"file": pipe.path, "onFull": "count", "queueBytes": MIB},
    )
    with weir.connect(authority) as tunnel:
        assert set(deny_many(weir, ENOUGH, LONG_HOST)) == {403}
        tunnel.send(b"still here")  # the loop was never held up
        assert tunnel.read(10) == b"still here"
    pipe.start_reading()
    assert weir.stop() == 0
    assert 100 < len(pipe.finish()) < ENOUGH


def test_reader_that_has_gone(gateway, pipe):
    """Neither SIGPIPE nor an end without a deadline."""
    weir = gateway({}, audit={"file": pipe.path, "onFull": "count"})
    deny_many(weir, 1)
    os.close(pipe.end)
    deny_many(weir, 20)
    wait_until(lambda: "Broken pipe" in weir.log(), 30, weir.log)
    assert weir.log().count("Broken pipe") == 1
    pipe.end = os.open(pipe.path, os.O_RDONLY | os.O_NONBLOCK)  # a new one
    pipe.start_reading()
    wait_until(lambda: "writing again" in weir.log(), 30, weir.log)
    assert weir.stop() == 0
    assert len(pipe.finish()) >= 19


def test_pipe_without_a_reader_is_an_error_at_the_start(gateway, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    weir = gateway({}, audit={"file": str(tmp_path / "pipe")}, expect_fail=True)
    assert weir.status == 2
    assert str(tmp_path / "pipe") in weir.log()


def test_disk_is_full(gateway):
    """/dev/full takes nothing. It ends in time all the same."""
    weir = gateway({}, audit={"file": "/dev/full", "onFull": "refuse"})
    wait_until(lambda: deny_many(weir, 1) == [503], 30, weir.log)
    # Requests are refused a moment before it is told.
    wait_until(lambda: weir.log().count("No space left on device") == 1, 30, weir.log)
    assert weir.stop() == 0
    assert "could not be written" in weir.log()


def test_disk_is_full_and_lines_are_counted(gateway):
    weir = gateway({}, audit={"file": "/dev/full", "onFull": "count"})
    assert set(deny_many(weir, 50)) == {403}
    assert weir.stop() == 0


def test_client_that_sends_nothing_has_no_line(allowed):
    weir, _ = allowed
    weir.dial().close()
    with weir.dial() as sock:
        sock.sendall(b"CONNECT a.test:443 HTTP/1.1\r\n")
        sock.shutdown(1)
        assert read_to_end(sock) == b""
    (event,) = weir.audit(1)
    assert (event["verdict"], event["reason"]) == ("deny", "client-left")
