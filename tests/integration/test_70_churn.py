"""Many connections, one after another and side by side: none fails for a reason of the
proxy's own, and afterwards it is as it was (D5, D8)."""

import os
import threading

from support.wait import wait_until

SEQUENTIAL, THREADS, EACH = 3000, 16, 250


def count_descriptors(weir):
    return len(os.listdir(f"/proc/{weir.pid}/fd"))


def test_many(gateway, echo_server):
    port = echo_server()
    weir = gateway({"allowedDomains": [f"127.0.0.1:{port}"]}, extra={"workers": 3})
    failures = []

    def one(i):
        word = b"%d" % i
        with weir.dial(30) as sock:
            sock.sendall(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode() + word)
            said = b""
            while not said.endswith(b"\r\n\r\n" + word):
                piece = sock.recv(1000)
                if not piece:
                    failures.append(said)
                    return
                said += piece

    def several():
        for i in range(EACH):
            one(i)

    for i in range(SEQUENTIAL):
        one(i)
    wait_until(lambda: len(weir.audit(0)) >= SEQUENTIAL, 20, "lines are missing")
    before = count_descriptors(weir)
    threads = [threading.Thread(target=several) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = SEQUENTIAL + THREADS * EACH
    lines = weir.audit(total, timeout=20)
    assert failures == [] and len(lines) == total
    assert all(line["verdict"] == "allow" for line in lines)
    assert len({line["id"] for line in lines}) == total
    wait_until(lambda: count_descriptors(weir) <= before, 20,
               lambda: f"{count_descriptors(weir)} descriptors, {before} before")  # fmt: skip
