"""Two million connections through one gateway: memory and descriptors stay flat (D8)."""

import concurrent.futures
import os
import socket
import struct

from support.process import descriptors, settle, status
from support.wait import wait_until

TOTAL, CLIENTS, ROUNDS = 2_000_000, 4, 20
AT_ONCE = struct.pack("ii", 1, 0)


def visit(port, behind, count):
    """So many connections, one after another; the number that were served. Each ends with
    a reset, which leaves no port waiting: there are not as many ports as connections."""
    ask = f"CONNECT 127.0.0.1:{behind} HTTP/1.1\r\n\r\n".encode()
    served = 0
    for number in range(count):
        word = b"%d" % number
        with socket.create_connection(("127.0.0.1", port), 60) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
            sock.sendall(ask + word)
            said = b""
            while not said.endswith(b"\r\n\r\n" + word):
                piece = sock.recv(1000)
                if not piece:
                    break
                said += piece
            served += said.startswith(b"HTTP/1.1 200 ")
    return served


def echo_forever(listener):
    """In a process of its own, so that the test is not slower than the gateway."""
    while True:
        connection, _ = listener.accept()
        with connection:
            try:
                while piece := connection.recv(1000):
                    connection.sendall(piece)
            except ConnectionError:
                pass


def test_two_million(gateway):
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    children = []
    for _ in range(2 * CLIENTS):
        pid = os.fork()
        if pid == 0:
            echo_forever(listener)
        children.append(pid)
    try:
        churn(gateway, listener.getsockname()[1])
    finally:
        for pid in children:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
        listener.close()


def churn(gateway, behind):
    weir = gateway(
        {"allowedDomains": [f"127.0.0.1:{behind}"]},
        audit={"file": "/dev/null"}, extra={"workers": 2, "admin": "127.0.0.1:0"},
        env={"ASAN_OPTIONS": "quarantine_size_mb=1:thread_local_quarantine_size_kb=64"},
    )  # fmt: skip
    each = TOTAL // ROUNDS // CLIENTS
    memory, files = [], []
    with concurrent.futures.ProcessPoolExecutor(CLIENTS) as pool:
        for _ in range(ROUNDS):
            jobs = [pool.submit(visit, weir.port, behind, each) for _ in range(CLIENTS)]
            assert [job.result() for job in jobs] == [each] * CLIENTS
            wait_until(lambda: weir.admin().metrics()["weir_connections_active"] == 0, 60,
                       "connections are left")  # fmt: skip
            memory.append(status(weir.pid, "VmRSS"))
            files.append(descriptors(weir.pid))
            print(f"{memory[-1]} KiB, {files[-1]} descriptors", flush=True)
    # What the first rounds need is there for good; a leak goes on.
    assert max(memory[2:]) <= memory[1] * 1.02 + 1024, memory
    settle(weir.pid, min(files))
    metrics = weir.admin().metrics()
    allowed = metrics['weir_decisions_total{verdict="allow",reason="allow-list"}']
    assert allowed == each * ROUNDS * CLIENTS
