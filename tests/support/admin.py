"""The admin server of a gateway, asked as a scraper or a visitor would."""

import re
import socket

from .tunnel import read_to_end

SAMPLE = re.compile(r"^(weir_\w+)(\{[^}]*\})? (\S+)$")


class Page:
    def __init__(self, data):
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin1").split("\r\n")
        self.status = int(lines[0].split(" ")[1])
        fields = (line.split(":", 1) for line in lines[1:])
        self.headers = {name.lower(): value.strip() for name, value in fields}
        self.body = body.decode()


def ask(sock, data, timeout=10):
    """All that comes for `data`, as bytes."""
    with sock:
        sock.settimeout(timeout)
        sock.sendall(data)
        return read_to_end(sock)


class Admin:
    def __init__(self, port, path=None):
        self.port = port
        self.path = path  # of a Unix socket

    def dial(self):
        if self.path is None:
            return socket.create_connection(("127.0.0.1", self.port), 10)
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(str(self.path))
        return sock

    def get(self, path, host=None, method="GET", fields=""):
        host = f"127.0.0.1:{self.port}" if host is None else host
        data = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n"
        return Page(ask(self.dial(), data.encode("latin1")))

    def metrics(self):
        """Every sample as a number, by its name with its labels."""
        page = self.get("/metrics")
        assert page.status == 200
        samples = {}
        for line in page.body.splitlines():
            if line.startswith("#"):
                continue
            match = SAMPLE.match(line)
            assert match, f"no sample: {line!r}"
            samples[match.group(1) + (match.group(2) or "")] = float(match.group(3))
        return samples
