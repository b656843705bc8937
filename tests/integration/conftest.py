"""What tests/support offers, as fixtures. Whatever a test starts ends with it."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from support import certs, dns, netns, program, sandbox, servers  # noqa: E402
from support.doorway import Doorway  # noqa: E402
from support.fleet import Fleet  # noqa: E402
from support.gateway import Gateway, gateway_settings  # noqa: E402
from support.parent import BANNER, Parent  # noqa: E402


@pytest.fixture
def weir():
    """weir(*args, input=, env=, cwd=, timeout=) runs the program to its end."""
    return program.run_weir


@pytest.fixture
def gateway(tmp_path):
    """gateway(network, ...) starts one and waits until it listens. At the end of the
    test it gets SIGTERM and must exit with 0, unless the test stopped it itself.

    `settings` (a tree or a text) replaces everything that the other arguments say about
    the gateway file; `extra` adds to it.
    """
    started = []

    def start(network=None, *, limits=None, resolver=None, audit="file", listen=None,
              env=None, preexec=None, expect_fail=False, netns=None, extra=None,
              settings=None, passed=()):  # fmt: skip
        folder = tmp_path / f"gateway{len(started)}"
        folder.mkdir()
        tree = settings
        if tree is None:
            tree = gateway_settings(
                folder, network or {}, limits, resolver, audit, listen, extra
            )
        started.append(None)
        started[-1] = Gateway(folder, tree, env, preexec, netns, expect_fail, passed)
        return started[-1]

    yield start
    running = [one for one in started if one is not None and one.status is None]
    statuses = [one.stop() for one in running]
    logs = "\n".join(one.log() for one in running)
    assert all(status == 0 for status in statuses), f"exit {statuses}: {logs}"


@pytest.fixture
def closing():
    """closing(x) returns x, and closes it when the test ends."""
    things = []

    def remember(thing):
        things.append(thing)
        return thing

    yield remember
    for thing in reversed(things):
        thing.close()


@pytest.fixture
def server(closing):
    """server(handler, host=, port=, netns=) runs handler(connection) in a thread for each
    connection. The result is a servers.Server: `.port`, `.connections`, `.close()`."""

    def start(handler, host="127.0.0.1", port=0, netns=None):
        return closing(servers.serve(servers.listen_on(host, port, netns), handler))

    return start


@pytest.fixture
def tcp_server(server):
    """The same, when the port is all that matters: it is the result."""
    return lambda handler, **where: server(handler, **where).port


@pytest.fixture
def echo_server(tcp_server):
    return lambda **where: tcp_server(servers.echo, **where)


@pytest.fixture
def banner_server(tcp_server):
    """banner_server(bytes) speaks first, then echoes."""
    return lambda text, **where: tcp_server(servers.banner(text), **where)


@pytest.fixture
def http_server(closing):
    """http_server(routes): {"/path": bytes | (status, headers, bytes) | function}. It
    has `.requests`."""

    def start(routes, host="127.0.0.1", port=0, netns=None):
        listener = servers.listen_on(host, port, netns)
        return closing(servers.serve_http(listener, routes))

    return start


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    """The tests' certificate authority: `.ca` is a path; see support/certs.py."""
    return certs.Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def https_server(closing, authority):
    """https_server(names, routes=) answers "hello from NAME" without routes. It has
    `.ca` (a path), `.port`, `.requests`."""

    def start(names, routes=None, host="127.0.0.1", port=0, netns=None,
              alpn=("http/1.1",)):  # fmt: skip
        names = [names] if isinstance(names, str) else list(names)
        routes = routes or {"*": f"hello from {names[0]}\n".encode()}
        context = authority.server_context(names, alpn)
        listener = servers.listen_on(host, port, netns)
        return closing(
            servers.serve_http(listener, routes, context, ca=authority.ca, names=names)
        )

    return start


@pytest.fixture
def parent(server):
    """parent(kind, login=, ...) is a proxy to go through: see support/parent.py. Its `.url`
    has the login, its `.name` has not."""

    def start(kind="http", login="", **options):
        one = Parent(**options)
        one.server = server(one.socks if kind.startswith("socks") else one.http)
        one.url = f"{kind}://{login}127.0.0.1:{one.server.port}"
        one.name = f"{kind}://127.0.0.1:{one.server.port}"
        return one

    return start


@pytest.fixture
def tls_parent(closing, authority):
    """tls_parent(names, ...): the same within TLS, certified for `names`."""

    def start(names, **options):
        one = Parent(**options)
        context = authority.server_context(names)

        def handler(connection):
            with context.wrap_socket(connection, server_side=True) as inner:
                one.http(inner)

        one.server = closing(servers.serve(servers.listen_on(), handler))
        one.url = one.name = f"https://127.0.0.1:{one.server.port}"
        return one

    return start


@pytest.fixture
def origin(server):
    """A server behind a parent: it speaks first, then echoes."""
    return server(servers.banner(BANNER))


@pytest.fixture
def dns_server(closing):
    """dns_server(records, ttl=60, host=, netns=): see support/dns.py."""
    return lambda records=None, ttl=60, **where: closing(
        dns.DnsServer(records, ttl, **where)
    )


@pytest.fixture
def netns_pair(closing):
    """netns_pair() makes two namespaces joined by a cable; see support/netns.py."""

    def make():
        try:
            return closing(netns.NetnsPair())
        except (OSError, AssertionError) as error:
            pytest.skip(f"network namespaces cannot be made here: {error}")

    return make


@pytest.fixture(params=sandbox.identities())
def box(request, closing):
    """A place to run `weir run` in, once as root and once as a user: support/sandbox.py."""
    return closing(sandbox.Box(request.param))


@pytest.fixture
def doorway(gateway, closing, dns_server):
    """doorway(**network): a gateway to ask with raw bytes; see support/doorway.py."""
    return lambda **network: Doorway(gateway, closing, dns_server, **network)


@pytest.fixture
def token_file(tmp_path):
    """token_file(name, *tokens, mode=) is the path of a file with these lines."""

    def write(name, *tokens, mode=0o600):
        path = tmp_path / f"{name}.token"
        path.write_text("".join(f"{token}\n" for token in tokens))
        path.chmod(mode)
        return str(path)

    return write


@pytest.fixture
def fleet(gateway, dns_server, echo_server):
    """fleet(*clients, **network): a gateway that has these; see support/fleet.py."""

    def start(*clients, **network):
        return Fleet(gateway, dns_server, echo_server, list(clients), **network)

    return start
