"""A gateway that is asked with raw bytes, and behind it a name server and a server which
must notice nothing of what is refused."""

import re
import socket

from . import servers
from .tunnel import read_to_end

PROBE = b"is anybody there?"
HEAD_END = b"\r\n\r\n"
LENGTH = re.compile(rb"\r\nContent-Length: (\d+)")
KEPT = re.compile(rb"\r\nConnection: keep-alive")
STATUS_LINE = re.compile(rb"HTTP/1\.\d \d{3} ")


def head(authority, *fields, version="HTTP/1.1", method="CONNECT"):
    """A request head; a field is a line of text without its end."""
    lines = [f"{method} {authority} {version}", *fields, "", ""]
    return "\r\n".join(lines).encode("latin1")


def read_answers(sock, bodyless=False):
    """All that comes. Who may ask again says by its half-close that it will not."""
    said, ended = b"", False
    while True:
        top, end, body = said.partition(HEAD_END)
        length = LENGTH.search(top)
        if not ended and end and length and KEPT.search(top):
            if bodyless or len(body) >= int(length[1]):
                sock.shutdown(socket.SHUT_WR)
                ended = True
        try:
            piece = sock.recv(65536)
        except ConnectionResetError:
            return said
        if not piece:
            return said
        said += piece


class Doorway:
    """`good` is allowed by name, leads to a server that echoes, and is HOST:PORT.

    Names under test resolve to loopback, which the list opens for that port alone.
    """

    def __init__(self, start, closing, dns_server, **network):
        self.server = closing(servers.serve(servers.listen_on(), servers.echo))
        self.port = self.server.port
        self.good = f"good.test:{self.port}"
        names = ["good.test", "denied.test", "evil.test", "a.good.test"]
        self.dns = dns_server({name: ["127.0.0.1"] for name in names})
        network.setdefault("allowedDomains", [])
        network["allowedDomains"] = [
            self.good, f"127.0.0.1:{self.port}", *network["allowedDomains"],
        ]  # fmt: skip
        self.weir = start(network, resolver=self.dns)
        self.asked = 0

    def answer(self, data, pieces=None):
        """All that is said up to the close, and the status; None when there is none."""
        self.asked += 1
        with self.weir.dial() as sock:
            for piece in pieces or [data]:
                sock.sendall(piece)
            said = read_answers(sock, data and data.startswith(b"HEAD "))
        words = said.split(b" ", 2)
        known = len(words) > 1 and words[0] in (b"HTTP/1.1", b"HTTP/1.0")
        return said, int(words[1]) if known else None

    def refused(self, data, *statuses, pieces=None):
        """One answer with one of these statuses, a whole one. After a tunnel that is
        refused the connection ends; after a plain request it may go on."""
        said, status = self.answer(data, pieces)
        data = b"".join(pieces)[:200] if pieces else data[:200]
        assert status in statuses, (data, said[:200])
        assert len(STATUS_LINE.findall(said)) == 1, (data, said)
        top, body = said.split(HEAD_END, 1)
        length = int(LENGTH.search(top)[1])
        assert len(body) == (0 if data.startswith(b"HEAD ") else length), said
        close = b"\r\nConnection: close" in top
        assert close or KEPT.search(top) and not data.startswith(b"CONNECT"), said
        return said

    def opens(self, data, pieces=None):
        """A tunnel to the server, through which bytes go both ways unchanged."""
        self.asked += 1
        data = data or b"".join(pieces)
        with self.weir.dial() as sock:
            for piece in pieces or [data]:
                sock.sendall(piece)
            said = b""
            while HEAD_END not in said:
                piece = sock.recv(65536)
                assert piece, (data[:200], said)
                said += piece
            assert said.startswith(b"HTTP/1.1 200 "), (data[:200], said[:200])
            sock.sendall(PROBE)
            sock.shutdown(socket.SHUT_WR)
            said += read_to_end(sock)
        assert said.endswith(PROBE), (data[:200], said[:200])
        return said.split(HEAD_END, 1)[1][: -len(PROBE)]

    def lines(self):
        """The audit: one line for each time that something was asked, no more."""
        lines = self.weir.audit(self.asked)
        assert len(lines) == self.asked
        return lines

    def untouched(self):
        """Nothing was looked up and nobody was called; all of it was denied."""
        lines = self.lines()
        assert {line["verdict"] for line in lines} <= {"deny"}, lines
        assert self.dns.queries == [] and self.server.connections == 0
        return lines
