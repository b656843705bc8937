"""Small servers for clients to reach through weir. One thread a connection."""

import http.server
import socket
import threading

SERVER_TIMEOUT = 60  # seconds; no server of a test waits for ever


class Server:
    """A server that runs: `host` and `port` are where it listens, `address` is both as
    text, `connections` counts what was accepted. Other members are set by its kind.
    """

    def __init__(self, listener, **members):
        self.listener = listener
        name = listener.getsockname()
        # A Unix socket has a path.
        self.host, self.port = (name, 0) if isinstance(name, str) else name[:2]
        host = f"[{self.host}]" if ":" in self.host else self.host
        self.address = f"{host}:{self.port}"
        self.connections = 0
        self.__dict__.update(members)

    def close(self):
        # shutdown() wakes a thread that sits in accept(); close() alone does not.
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()


def listen_on(host="127.0.0.1", port=0, netns=None):
    """A listening socket, in the network namespace `netns` (see netns.py) if given."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    make = netns.socket if netns else socket.socket
    listener = make(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(128)
    return listener


def serve(listener, handler, **members):
    """Runs handler(connection) in a thread for each connection; closes it afterwards."""
    server = Server(listener, **members)

    def one(connection):
        with connection:
            connection.settimeout(SERVER_TIMEOUT)
            try:
                handler(connection)
            except (OSError, EOFError):
                pass  # the client went; a test that cares looks at its own end

    def accept():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            server.connections += 1
            threading.Thread(target=one, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return server


def echo(connection):
    """Sends back what comes, and passes on the half-close."""
    while True:
        data = connection.recv(65536)
        if not data:
            connection.shutdown(socket.SHUT_WR)
            return
        connection.sendall(data)


def banner(text):
    """A handler for a server that speaks first, then echoes."""

    def handler(connection):
        connection.sendall(text)
        echo(connection)

    return handler


class RouteHandler(http.server.BaseHTTPRequestHandler):
    """Answers from the server's `routes`: path to bytes, to (status, headers, body), or
    to a function that gets this handler and answers by itself."""

    protocol_version = "HTTP/1.1"
    timeout = SERVER_TIMEOUT

    def do_GET(self):
        length = int(self.headers.get("Content-Length") or 0)
        self.request_body = self.rfile.read(length)
        self.server.requests.append((self.command, self.path, dict(self.headers)))
        route = self.server.routes.get(self.path.split("?")[0])
        if route is None:
            route = self.server.routes.get("*", (404, {}, b"no such path\n"))
        if callable(route):
            route(self)
            return
        if isinstance(route, str):
            route = route.encode()
        status, headers, body = (
            (200, {}, route) if isinstance(route, bytes) else route
        )
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_GET

    def log_message(self, *args):
        pass


class RouteState:
    """What RouteHandler wants of its server."""

    def __init__(self, routes, listener):
        self.routes = routes
        self.requests = []  # (method, path, headers), in the order in which they came
        self.server_name, self.server_port = listener.getsockname()[:2]


def serve_http(listener, routes, context=None, **members):
    """An HTTP/1.1 server, over TLS when an ssl context is given."""
    state = RouteState(routes, listener)

    def handler(connection):
        if context:
            connection = context.wrap_socket(connection, server_side=True)
        with connection:
            RouteHandler(connection, connection.getpeername(), state)

    members.update(routes=routes, requests=state.requests)
    return serve(listener, handler, **members)
