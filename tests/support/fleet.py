"""A gateway with clients, and how each of them asks."""

import base64
import socket

TOKENS = {
    "ci": "ci-token-0123456789",
    "new": "ci-token-9876543210",
    "lab": "lab-token-0123456789",
}


def basic(user, password, scheme="Basic"):
    pair = base64.b64encode(f"{user}:{password}".encode()).decode()
    return f"Proxy-Authorization: {scheme} {pair}\r\n"


class Fleet:
    """A gateway with clients. Names under test lead to a server that echoes."""

    def __init__(self, gateway, dns_server, echo_server, clients, **network):
        self.port = echo_server()
        names = ["all.test", "ci.test", "lab.test", "evil.test", "other.test"]
        dns = dns_server({name: ["127.0.0.1"] for name in names})
        network.setdefault("allowedDomains", ["all.test", f"127.0.0.1:{self.port}"])
        limits = network.pop("limits", {})
        extra = {"clients": clients, "workers": network.pop("workers", 1)}
        self.weir = gateway(network, resolver=dns, extra=extra, limits=limits)

    def dial(self, source="127.0.0.1"):
        return socket.create_connection(
            ("127.0.0.1", self.weir.port), 10, source_address=(source, 0)
        )

    def ask(self, host="all.test", login="", source="127.0.0.1"):
        """A connection on which CONNECT was asked."""
        sock = self.dial(source)
        sock.sendall(f"CONNECT {host}:{self.port} HTTP/1.1\r\n{login}\r\n".encode())
        return sock

    def answer(self, *args, **kwargs):
        """All that is said before a tunnel stands, or before it is refused."""
        with self.ask(*args, **kwargs) as sock:
            return read_answer(sock)

    def weir_answer(self, head):
        with self.weir.dial() as sock:
            sock.sendall(head)
            return read_answer(sock)

    def status(self, *args, **kwargs):
        """The status of the answer; None when there is none."""
        said = self.answer(*args, **kwargs)
        return int(said.split(b" ", 2)[1]) if said else None


def read_answer(sock):
    said = b""
    while b"\r\n\r\n" not in said:
        piece = sock.recv(65536)
        if not piece:
            assert said == b"", said
            return said
        said += piece
    top, body = said.split(b"\r\n\r\n", 1)
    for line in top.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            while len(body) < int(line.split(b":")[1]):
                body += sock.recv(65536)
    return top + b"\r\n\r\n" + body
