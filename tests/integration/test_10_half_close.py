"""Each side of a tunnel may say its last while the other goes on (F24)."""

import socket
import struct

from support.tunnel import read_to_end
from support.wait import wait_until


def test_client_says_its_last_first(gateway, tcp_server):
    def count(connection):
        total = len(read_to_end(connection))
        connection.sendall(f"{total} bytes".encode())

    port = tcp_server(count)
    weir = gateway({"allowedDomains": [f"127.0.0.1:{port}"]})
    with weir.connect(f"127.0.0.1:{port}") as tunnel:
        tunnel.send(b"z" * 1_000_000)
        tunnel.end()
        assert tunnel.read_all() == b"1000000 bytes"
    assert weir.audit()[0]["close"] == "client"


def test_server_says_its_last_first(gateway, tcp_server):
    got = []

    def speak(connection):
        connection.sendall(b"all I have to say")
        connection.shutdown(socket.SHUT_WR)
        got.append(read_to_end(connection))

    port = tcp_server(speak)
    weir = gateway({"allowedDomains": [f"127.0.0.1:{port}"]})
    with weir.connect(f"127.0.0.1:{port}") as tunnel:
        assert tunnel.rest + tunnel.read_all() == b"all I have to say"
        tunnel.send(b"and now me")
        tunnel.end()
        line = weir.audit()[0]
    # The server's thread may be a moment behind.
    assert wait_until(lambda: got, 30, "the server heard nothing") == [b"and now me"]
    assert line["close"] == "server"


def test_reset_of_the_server_is_no_clean_end(gateway, tcp_server):
    def reset(connection):
        connection.sendall(b"half of")
        connection.recv(10)
        linger = struct.pack("ii", 1, 0)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

    port = tcp_server(reset)
    weir = gateway({"allowedDomains": [f"127.0.0.1:{port}"]})
    with weir.connect(f"127.0.0.1:{port}") as tunnel:
        assert tunnel.read(7) == b"half of"
        tunnel.send(b"go on")
        try:
            ended = tunnel.sock.recv(10)
        except ConnectionResetError:
            ended = "reset"
        assert ended == "reset"
    assert weir.audit()[0]["close"] == "error"


def test_early_answer_of_the_server_arrives(gateway, tcp_server):
    """It answers and closes before it has read all: the answer is not lost to a reset."""

    def answer(connection):
        connection.recv(1000)
        connection.sendall(b"413 too large")

    port = tcp_server(answer)
    weir = gateway({"allowedDomains": [f"127.0.0.1:{port}"]})
    with weir.connect(f"127.0.0.1:{port}") as tunnel:
        try:
            for _ in range(200):
                tunnel.send(b"b" * 5000)
        except OSError:
            pass
        assert tunnel.read_all() == b"413 too large"
