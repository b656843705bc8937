"""Plain HTTP through the gateway: servers that follow a script and record exact bytes, and
a client that reads one answer after another."""

import re
import socket
import threading

HEAD_END = b"\r\n\r\n"
LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")
CHUNKED = re.compile(rb"(?i)\r\ntransfer-encoding: *chunked")
PATIENCE = 30


class Script:
    """A handler for servers.serve(): what each connection says is kept in `heard`, and
    `answer(request, connection)` is called with each whole request; it returns bytes, or
    None to end the connection. A request is (head, body), body as it was framed."""

    def __init__(self, answer):
        self.answer = answer if callable(answer) else lambda *_: answer
        self.heard = []  # bytes of each connection
        self.requests = []
        self.ended = 0  # connections that the other side has closed
        self.changed = threading.Condition()

    def __call__(self, connection):
        index = len(self.heard)
        self.heard.append(b"")
        stream = Stream(connection, lambda piece: self.note(index, piece))
        while True:
            head = stream.head()
            if head is None:
                self.ended += 1
                return
            # The body is read before the answer unless the script wants to do that.
            body = b"" if getattr(self.answer, "early", False) else stream.body(head)
            with self.changed:
                self.requests.append((head, body))
                self.changed.notify_all()
            said = self.answer((head, body), connection)
            if said is None:
                return
            connection.sendall(said)
            if getattr(self.answer, "early", False):
                stream.body(head)

    def note(self, index, piece):
        with self.changed:
            self.heard[index] += piece
            self.changed.notify_all()

    def all_ended(self):
        return self.ended == len(self.heard)

    def wait_for(self, count):
        """The requests, once there are so many."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.requests) >= count, PATIENCE)
            return list(self.requests)


class Ended(AssertionError, EOFError):
    """A failure to a test; to a server a client that went."""


class Stream:
    """Messages from a socket, one after another."""

    def __init__(self, sock, note=lambda piece: None):
        self.sock, self.note, self.data = sock, note, b""

    def more(self):
        try:
            piece = self.sock.recv(65536)
        except ConnectionResetError:
            piece = b""
        self.note(piece)
        self.data += piece
        return piece

    def take(self, count):
        taken, self.data = self.data[:count], self.data[count:]
        return taken

    def head(self):
        """Up to the empty line and with it; None at the end."""
        while HEAD_END not in self.data:
            if not self.more():
                return None
        return self.take(self.data.index(HEAD_END) + len(HEAD_END))

    def exactly(self, count):
        while len(self.data) < count:
            if not self.more():
                raise Ended(f"closed after {len(self.data)} of {count} bytes")
        return self.take(count)

    def line(self):
        while b"\r\n" not in self.data:
            if not self.more():
                raise Ended(f"closed within a line: {self.data!r}")
        return self.take(self.data.index(b"\r\n") + 2)

    def chunks(self):
        """The framed bytes of a chunked body."""
        framed = b""
        while True:
            line = self.line()
            framed += line
            size = int(line.split(b";")[0], 16)
            if size == 0:
                break
            framed += self.exactly(size + 2)
        while True:
            line = self.line()
            framed += line
            if line == b"\r\n":
                return framed

    def body(self, head):
        if CHUNKED.search(head):
            return self.chunks()
        length = LENGTH.search(head)
        return self.exactly(int(length[1])) if length else b""

    def rest(self):
        while self.more():
            pass
        return self.take(len(self.data))


def unchunk(framed):
    """The data of a chunked body."""
    data = b""
    while True:
        line, framed = framed.split(b"\r\n", 1)
        size = int(line.split(b";")[0], 16)
        if size == 0:
            return data
        data += framed[:size]
        assert framed[size : size + 2] == b"\r\n", framed[:80]
        framed = framed[size + 2 :]


class Answer:
    def __init__(self, head, body, raw):
        self.head, self.body, self.raw = head, body, raw
        first, *lines = head[: -len(HEAD_END)].decode("latin1").split("\r\n")
        words = first.split(" ", 2)
        self.version, self.status = words[0], int(words[1])
        self.phrase = words[2] if len(words) > 2 else ""
        pairs = [line.split(": ", 1) for line in lines]
        self.fields = [(name.lower(), value) for name, value in pairs]

    def get(self, name):
        values = [value for key, value in self.fields if key == name]
        assert len(values) <= 1, self.head
        return values[0] if values else None

    def names(self):
        return [name for name, _ in self.fields]


class Client:
    """A client of the proxy. A context manager."""

    def __init__(self, weir, timeout=PATIENCE):
        self.sock = weir.dial(timeout)
        self.stream = Stream(self.sock)

    def send(self, data):
        self.sock.sendall(data)

    def answer(self, bodyless=False, interim=False):
        """The next one; 1xx are passed over unless `interim`."""
        while True:
            head = self.stream.head()
            assert head is not None, f"closed instead of an answer: {self.stream.data!r}"
            status = int(head.split(b" ", 2)[1])
            if status >= 200 or interim:
                break
        if bodyless or status < 200 or status in (204, 304):
            return Answer(head, b"", b"")
        if CHUNKED.search(head):
            raw = self.stream.chunks()
            return Answer(head, unchunk(raw), raw)
        if LENGTH.search(head):
            body = self.stream.body(head)
            return Answer(head, body, body)
        body = self.stream.rest()
        return Answer(head, body, body)

    def ask(self, data, **how):
        self.send(data)
        return self.answer(**how)

    def is_closed(self):
        """The proxy has ended the connection, and said nothing more."""
        try:
            return self.stream.data == b"" and self.sock.recv(1) == b""
        except ConnectionResetError:
            return True

    def end(self):
        self.sock.shutdown(socket.SHUT_WR)

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def get(url, *fields, method="GET", version="HTTP/1.1", body=b"", host="x.test"):
    lines = [f"{method} {url} {version}"]
    if host is not None:
        lines.append(f"Host: {host}")
    return "\r\n".join([*lines, *fields, "", ""]).encode("latin1") + body


def ok(body=b"ok\n", *fields, status="200 OK"):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *fields, "", ""]
    return "\r\n".join(lines).encode("latin1") + body


class Site:
    """A gateway, a scripted server that it allows, and a client for it."""

    def __init__(self, gateway, server, answer=None, **more):
        self.script = Script(ok() if answer is None else answer)
        self.server = server(self.script)
        self.port = self.server.port
        self.url = f"http://localhost:{self.port}"
        allowed = [f"localhost:{self.port}", *more.pop("allowed", [])]
        self.weir = gateway({"allowedDomains": allowed, **more.pop("network", {})}, **more)

    def client(self):
        return Client(self.weir)

    def heads(self, count=1):
        """What the server was asked, as heads."""
        return [head for head, _ in self.script.wait_for(count)]
