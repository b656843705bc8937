"""Parent proxies for tests: they keep what they were asked, answer as they are told, or
connect to where the test says."""

import socket
import struct
import threading

from . import servers

BANNER = b"hello from the server\n"
NAME = "far.test"  # nobody here can resolve it
LIST = [f"{name}.test" for name in ("a", "b", "far", "near", "good", "bad", "deep", "*.deep")]


def through(url, **more):
    """A `network` whose connections all go through one parent."""
    return {"allowedDomains": LIST, "parentProxy": {"http": url, **more}}


def by_host(lines):
    """A line is written when its connection ends; the order says nothing."""
    return {line["host"]: line for line in lines}


def read_head(connection):
    """Byte by byte, so that nothing behind the head is taken."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte:
            raise EOFError
        head += byte
    return head


def read_exactly(connection, count):
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def relay(one, other):
    thread = threading.Thread(target=pump, args=(one, other), daemon=True)
    thread.start()
    pump(other, one)
    thread.join(servers.SERVER_TIMEOUT)


class Parent:
    """Asked for anything it connects to `to`, a port of 127.0.0.1.

    `asked` holds a head or, of SOCKS, the target as "host:port" for each request.
    `answer` (bytes) is sent instead of connecting; `stay`: and the connection is kept.
    """

    def __init__(self, to=None, answer=None, stay=False, login=None):
        self.to, self.answer, self.stay, self.login = to, answer, stay, login
        self.asked = []
        self.logins = []

    def reach(self, connection, early=b""):
        with socket.create_connection(("127.0.0.1", self.to), timeout=30) as server:
            server.sendall(early)
            relay(connection, server)

    def say(self, connection):
        connection.sendall(self.answer)
        if self.stay:
            connection.recv(1)  # until the other end goes

    def http(self, connection):
        head = read_head(connection).decode("latin1")
        self.asked.append(head)
        if self.answer is not None:
            self.say(connection)
        elif head.startswith("CONNECT "):
            connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            self.reach(connection)
        else:
            # What is asked in absolute form reaches the server as it is.
            self.reach(connection, head.encode("latin1"))

    def socks(self, connection):
        methods = read_exactly(connection, read_exactly(connection, 2)[1])
        if self.login is None:
            connection.sendall(b"\x05\x00")
        else:
            assert 2 in methods
            connection.sendall(b"\x05\x02")
            user = read_exactly(connection, read_exactly(connection, 2)[1])
            password = read_exactly(connection, read_exactly(connection, 1)[0])
            self.logins.append((user.decode(), password.decode()))
            connection.sendall(b"\x01" + (b"\x00" if self.logins[-1] == self.login else b"\x01"))
            if self.logins[-1] != self.login:
                return
        kind = read_exactly(connection, 4)[3]
        if kind == 3:
            host = read_exactly(connection, read_exactly(connection, 1)[0]).decode()
        elif kind == 1:
            host = socket.inet_ntop(socket.AF_INET, read_exactly(connection, 4))
        else:
            host = socket.inet_ntop(socket.AF_INET6, read_exactly(connection, 16))
        (port,) = struct.unpack(">H", read_exactly(connection, 2))
        self.asked.append(f"{host}:{port}")
        if self.answer is not None:
            self.say(connection)
            return
        connection.sendall(b"\x05\x00\x00\x03\x04name\x00\x50")
        self.reach(connection)
