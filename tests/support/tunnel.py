"""A client of the proxy that sends what it is told, and keeps what comes back."""

import socket

HEAD_MAX = 65536


class Tunnel:
    """A connection on which CONNECT was sent and an answer has come.

    With status 200 the tunnel stands: `sock` is the way to the server and `rest` what
    came behind the head already. Else `body` is everything up to the end.
    """

    def __init__(self, sock, authority, headers, early, version, host):
        self.sock = sock
        lines = [f"CONNECT {authority} HTTP/{version}"]
        names = {name.lower() for name, _ in headers}
        if host and version != "1.0" and "host" not in names:
            lines.append(f"Host: {authority if host is True else host}")
        lines += [f"{name}: {value}" for name, value in headers]
        head = "\r\n".join(lines).encode("latin1") + b"\r\n\r\n"
        sock.sendall(head + early)
        self.read_head()
        self.body = b"" if self.status == 200 else self.rest + self.read_all()

    def read_head(self):
        data = b""
        while b"\r\n\r\n" not in data:
            piece = self.sock.recv(65536)
            assert piece, f"closed before the end of a head: {data!r}"
            data += piece
            assert len(data) < HEAD_MAX, "a head without end"
        head, self.rest = data.split(b"\r\n\r\n", 1)
        first, *fields = head.decode("latin1").split("\r\n")
        words = first.split(" ", 2)
        assert words[0].startswith("HTTP/1."), first
        self.status = int(words[1])
        self.phrase = words[2] if len(words) > 2 else ""
        pairs = (field.split(":", 1) for field in fields)
        # Names in lower case; of a repeated field the last one.
        self.headers = {name.strip().lower(): value.strip() for name, value in pairs}

    def send(self, data):
        self.sock.sendall(data)

    def end(self):
        """Says that no more will be sent; reading goes on."""
        self.sock.shutdown(socket.SHUT_WR)

    def read(self, count):
        """Exactly `count` bytes, those behind the head first."""
        while len(self.rest) < count:
            piece = self.sock.recv(65536)
            assert piece, f"closed after {len(self.rest)} of {count} bytes"
            self.rest += piece
        data, self.rest = self.rest[:count], self.rest[count:]
        return data

    def read_all(self):
        """Everything up to the end of the stream; a reset counts as one."""
        return read_to_end(self.sock)

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def read_to_end(sock):
    data = b""
    while True:
        try:
            piece = sock.recv(65536)
        except ConnectionResetError:
            return data
        if not piece:
            return data
        data += piece
