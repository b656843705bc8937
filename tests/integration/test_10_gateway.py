"""weir gateway: how it starts, why it does not, and how it ends."""

import contextlib
import json
import os
import re
import resource
import signal
import socket
import stat
import subprocess
import time

import pytest

from support.program import weir_path
from support.servers import echo
from support.tunnel import read_to_end
from support.wait import wait_until


@pytest.fixture
def start(gateway, tmp_path):
    """start(**keys of the gateway file) with nothing allowed."""
    return lambda **keys: gateway(
        settings={"listen": ["127.0.0.1:0"], "network": {}, "audit": {"file": "-"}, **keys}
    )


def test_several_listeners(gateway, echo_server):
    port = echo_server()
    weir = gateway(
        {"allowedDomains": [f"127.0.0.1:{port}"]},
        listen=["127.0.0.1:0", "[::1]:0", "127.0.0.2:0"],
    )
    wait_until(lambda: weir.log().count("listening on ") == 3, 30, weir.log)
    ports = re.findall(r"listening on .*:(\d+)", weir.log())
    for host, where in zip(["127.0.0.1", "::1", "127.0.0.2"], ports):
        with socket.create_connection((host, int(where)), 20) as sock:
            sock.sendall(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode())
            assert sock.recv(100).startswith(b"HTTP/1.1 200 ")


def ask_unix(path):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(30)
        sock.connect(str(path))
        sock.sendall(b"CONNECT evil.test:443 HTTP/1.1\r\n\r\n")
        return read_to_end(sock)


def test_unix_listener(start, tmp_path):
    path = tmp_path / "proxy.sock"
    weir = start(listen=["127.0.0.1:0", f"unix:{path}"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ask_unix(path).startswith(b"HTTP/1.1 403 ")
    assert "client" not in weir.audit()[0]
    assert weir.stop() == 0
    assert not path.exists()


def test_unix_socket_that_was_left_behind(start, tmp_path):
    path = tmp_path / "proxy.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    start(listen=["127.0.0.1:0", f"unix:{path}"])
    assert ask_unix(path).startswith(b"HTTP/1.1 403 ")


def listens(path):
    """It is there, and more than a name."""
    with socket.socket(socket.AF_UNIX) as sock:
        return sock.connect_ex(str(path)) == 0


def drain(fd):
    """All that a non-blocking pipe holds now."""
    data = b""
    try:
        while piece := os.read(fd, 1 << 16):
            data += piece
    except BlockingIOError:
        pass
    return data


def test_stderr_that_nobody_reads(tmp_path):
    """The log never holds up the clients: a line without room is dropped and counted."""
    path, file = tmp_path / "proxy.sock", tmp_path / "gateway.json"
    file.write_text(json.dumps({"listen": [f"unix:{path}"], "network": {}}))
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, bytes(4096))
    os.set_blocking(writer, True)
    gateway = subprocess.Popen(
        [weir_path(), "gateway", "-f", file], stderr=writer,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )
    os.close(writer)
    try:
        wait_until(lambda: listens(path), 30, "the socket")
        assert ask_unix(path).startswith(b"HTTP/1.1 403 ")
        gateway.send_signal(signal.SIGHUP)  # another line
        assert ask_unix(path).startswith(b"HTTP/1.1 403 ")
        log = [drain(reader)]  # it may say the first ones while it is emptied

        def told():
            gateway.send_signal(signal.SIGHUP)
            log.append(drain(reader))
            return b"SIGHUP" in b"".join(log)

        wait_until(told, 30, "a line in the log")
        assert b"lines missing here, as nobody read them: " in b"".join(log)
        gateway.terminate()
        assert gateway.wait(timeout=30) == 0
    finally:
        gateway.kill()
        gateway.wait()
        os.close(reader)


def fails(weir, tmp_path, keys):
    import json

    file = tmp_path / "gateway.json"
    file.write_text(
        json.dumps({"listen": ["127.0.0.1:0"], "network": {}, **keys}, indent=1)
    )
    done = weir("gateway", "-f", file)
    assert done.returncode == 2 and done.stdout == ""
    assert "listening" not in done.stderr
    return done.stderr


def test_unix_socket_of_somebody_else(weir, tmp_path):
    path = tmp_path / "proxy.sock"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        other.listen()
        said = fails(weir, tmp_path, {"listen": [f"unix:{path}"]})
    assert "another process listens there" in said and path.exists()


def test_path_that_is_no_socket(weir, tmp_path):
    path = tmp_path / "proxy.sock"
    path.write_text("mine")
    said = fails(weir, tmp_path, {"listen": [f"unix:{path}"]})
    assert "no socket" in said and path.read_text() == "mine"


def test_address_in_use(weir, tmp_path):
    made = tmp_path / "made.sock"
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = f"127.0.0.1:{other.getsockname()[1]}"
        said = fails(weir, tmp_path, {"listen": [f"unix:{made}", taken],
                                      "audit": {"file": str(tmp_path / "audit")}})  # fmt: skip
    assert f"{tmp_path}/gateway.json: line 4: listen[1]: \"{taken}\"" in said
    assert "in use" in said
    # Nothing is left of the start.
    assert not made.exists() and not (tmp_path / "audit").exists()


@pytest.mark.parametrize("keys, expected", [
    ({"listn": []}, "listn"),
    ({"network": {"allowedDomains": ["*.com"]}}, "network.allowedDomains[0]"),
    ({"network": {"allowedHosts": []}}, "allowedDomains"),
    ({"listen": ["localhost"]}, "listen[0]"),
    ({"audit": {"file": "/nonexistent/audit"}}, "/nonexistent/audit"),
    ({"resolver": {"servers": ["not an address"]}}, "not an address"),
], ids=str)  # fmt: skip
def test_file_that_cannot_be_used(weir, tmp_path, keys, expected):
    said = fails(weir, tmp_path, keys)
    assert expected in said and "gateway.json" in said or "audit" in said


def test_arguments(weir, tmp_path):
    assert weir("gateway").returncode == 2
    assert weir("gateway", "-f", tmp_path / "none.json").returncode == 2
    assert weir("gateway", "-f").returncode == 2


def test_check_starts_nothing(weir, tmp_path):
    file = tmp_path / "gateway.json"
    path = tmp_path / "proxy.sock"
    file.write_text('{"listen": ["unix:%s"], "network": {"allowedDomains": ["a.test"]}}' % path)
    assert weir("gateway", "--check", "-f", file).returncode == 0
    assert not path.exists()
    file.write_text('{"listen": ["unix:%s"], "network": {"allowedDomains": ["*"]}}' % path)
    assert weir("gateway", "--check", "-f", file).returncode == 2


def test_check_looks_where_the_audit_would_be(weir, tmp_path):
    """What only the start would tell otherwise, and that names the key as well."""
    file, audit = tmp_path / "gateway.json", tmp_path / "absent/audit.jsonl"
    file.write_text('{"listen": ["127.0.0.1:0"], "audit": {"file": "%s"}}' % audit)
    done = weir("gateway", "--check", "-f", file)
    assert done.returncode == 0
    assert f"audit.file: no file can be made in {audit.parent}: No such file" in done.stderr
    audit.parent.mkdir()
    assert "audit" not in weir("gateway", "--check", "-f", file).stderr
    audit.parent.rmdir()
    done = weir("gateway", "-f", file)
    assert done.returncode == 2 and f"{file}: audit: audit file {audit}" in done.stderr


def test_open_address_warns(start):
    weir = start(listen=["0.0.0.0:0"])
    assert "warning" in weir.log() and "0.0.0.0" in weir.log()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_end_without_connections(start, number):
    weir = start()
    assert weir.stop(number) == 0


def has_ended(sock):
    try:
        return sock.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def test_end_lets_active_tunnels_finish(gateway, server):
    """D13: what is idle is closed, what moves may go on."""
    there = server(echo)
    weir = gateway(
        {"allowedDomains": [f"127.0.0.1:{there.port}"]}, limits={"drainSeconds": 60}
    )
    silent = weir.dial()
    idle = weir.connect(f"127.0.0.1:{there.port}")
    active = weir.connect(f"127.0.0.1:{there.port}")
    active.send(b"a")
    assert active.read(1) == b"a"
    os.kill(weir.pid, signal.SIGTERM)
    # It goes on as long as something moves, well beyond what counts as idle.
    waiting, end = {silent, idle.sock}, time.monotonic() + 30
    for sock in waiting:
        sock.settimeout(0.05)
    while waiting and time.monotonic() < end:
        active.send(b"b")
        assert active.read(1) == b"b"
        waiting = {sock for sock in waiting if not has_ended(sock)}
    assert not waiting, "what was idle was not closed"
    with pytest.raises(ConnectionRefusedError):
        weir.dial()
    active.close()
    assert weir.process.wait(timeout=20) == 0
    assert re.search("active_at_termination=[23]", weir.log())
    assert len(weir.audit(2)) == 2


def test_end_cuts_what_does_not_end(gateway, echo_server):
    port = echo_server()
    weir = gateway(
        {"allowedDomains": [f"127.0.0.1:{port}"]}, limits={"drainSeconds": 0.5}
    )
    tunnel = weir.connect(f"127.0.0.1:{port}")
    os.kill(weir.pid, signal.SIGTERM)
    assert tunnel.read_all() == b""
    assert weir.process.wait(timeout=20) == 0
    (line,) = weir.audit()
    assert line["close"] == "shutdown"


def test_second_signal_ends_at_once(gateway, echo_server):
    port = echo_server()
    weir = gateway(
        {"allowedDomains": [f"127.0.0.1:{port}"]}, limits={"drainSeconds": 3600}
    )
    tunnel = weir.connect(f"127.0.0.1:{port}")
    os.kill(weir.pid, signal.SIGTERM)
    wait_until(lambda: "active_at_termination" in weir.log(), 30, weir.log)
    os.kill(weir.pid, signal.SIGTERM)
    assert weir.process.wait(timeout=30) == 0  # of the hour
    tunnel.close()
    assert len(weir.audit()) == 1


def test_hangup_opens_the_audit_anew(gateway):
    weir = gateway({})
    weir.connect("evil.test:443")
    first = weir.folder / "audit.jsonl"
    wait_until(lambda: first.read_text().count("\n") == 1, 30, "no line")
    first.rename(weir.folder / "audit.old")
    os.kill(weir.pid, signal.SIGHUP)
    wait_until(lambda: "SIGHUP" in weir.log(), 30, weir.log)
    weir.connect("evil.test:443")
    assert len(weir.audit()) == 1
    assert (weir.folder / "audit.old").read_text().count("\n") == 1


def test_few_descriptors_are_said(gateway):
    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

    weir = gateway({}, preexec=few)
    assert "limits.connections: 10000 are cut to 64" in weir.log()
