"""What real clients wrote to a recording proxy for http:// URLs, replayed byte for byte, and
what a server behind this one makes of it."""

import pathlib
import re

import pytest

from support.plain import Client, Script, ok

RECORDINGS = pathlib.Path(__file__).resolve().parents[1] / "data/clients"
SERVER = "203.0.113.2"
START = re.compile(rb"(?:GET|HEAD|PUT|POST) http://([^/:]+)[^ ]* HTTP/1\.1\r\n")
HOP = re.compile(rb"(?i)^(proxy-|connection:|keep-alive:|te:|upgrade:)")
BODY = bytes(300000)


def recordings():
    """Name to the bytes of one connection; of two only the heads are kept here, since
    their bodies are long and hold nothing."""
    found = {}
    for path in sorted(RECORDINGS.iterdir()):
        data = path.read_bytes()
        if START.match(data):
            found[path.stem] = data + (BODY if path.suffix == ".head" else b"")
    return found


def requests_of(data):
    """The heads in a recording, and how the server should be asked instead."""
    for match in START.finditer(data):
        head = data[match.start() : data.index(b"\r\n\r\n", match.start()) + 4]
        method, url, _ = head.split(b" ", 2)
        lines = head.split(b"\r\n")[1:-2]
        fields = [line for line in lines if not HOP.match(line)]
        named = {line.lower() for line in fields if not line.lower().startswith(b"host:")}
        yield method + b" /" + url.split(b"/", 3)[3], match[1], named


@pytest.fixture
def replay(gateway, netns_pair, server, tmp_path):
    pair = netns_pair()
    script = Script(lambda request, _: ok(b"" if request[0].startswith(b"HEAD") else b"ok"))
    listener = server(script, host=SERVER, port=80, netns=pair.b)
    names = set()
    for data in recordings().values():
        names |= {match[1].decode() for match in START.finditer(data)}
    hosts = tmp_path / "hosts"
    hosts.write_text(f"{SERVER} {' '.join(sorted(names))}\n")

    def start(**network):
        weir = gateway({"allowedDomains": ["*.example.test"], **network}, netns=pair.a,
                       resolver={"servers": ["127.0.0.1:9"], "hostsFile": str(hosts)})  # fmt: skip
        return weir, script, listener

    return start


def test_there_are_recordings():
    assert len(recordings()) >= 14


def test_each_is_answered_and_its_server_hears_what_it_said(replay):
    weir, script, _ = replay()
    count = 0
    for name, data in recordings().items():
        with Client(weir) as client:
            client.send(data)
            for line, host, fields in requests_of(data):
                answer = client.answer(bodyless=line.startswith(b"HEAD"))
                assert answer.status == 200, name
                count += 1
                head, body = script.wait_for(count)[count - 1]
                first, host_line, *heard = head[:-4].split(b"\r\n")
                assert first == line + b" HTTP/1.1" and host_line == b"Host: " + host, name
                assert {field.lower() for field in heard} == fields, name
                assert body == (BODY if b"PUT" in line else b""), name
    lines = weir.audit(count)
    assert len(lines) == count and {line["verdict"] for line in lines} == {"allow"}


def test_each_is_told_no(replay):
    weir, script, listener = replay(deniedDomains=["*"])
    for name, data in recordings().items():
        with Client(weir) as client:
            client.send(data)
            for line, _, _ in requests_of(data):
                answer = client.answer(bodyless=line.startswith(b"HEAD"))
                assert answer.status == 403, name
                assert answer.get("x-proxy-error") == "blocked-by-allowlist", name
    assert listener.connections == 0 and script.heard == []
