"""SBX-19: standard input and output are the command's own, not copies."""

import os
import socket
import subprocess

import pytest

MEGA = 1 << 20


def test_sbx_19_a_pipe(box):
    assert box.run("cat", input="data\n").stdout == "data\n"


def test_sbx_19_closed(box):
    """Closed input reads as empty, and no descriptor of ours takes its place."""
    process = box.popen(
        "-q", "cat", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        pass_fds=(), stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.communicate(timeout=60)[0] == ""
    shell = box.popen(
        "sh", "-c", f"{box.weir} run -q -- cat <&-", weirless=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    out, err = shell.communicate(timeout=60)
    assert (out, shell.returncode) == ("", 0), err


def test_sbx_19_the_same_file(box):
    assert box.sh("readlink /proc/self/fd/0").stdout == "/dev/null\n"


def test_sbx_19_much(box):
    head = subprocess.Popen(
        ["head", "-c", str(200 * MEGA), "/dev/zero"], stdout=subprocess.PIPE
    )
    count = box.popen("-q", "wc", "-c", stdin=head.stdout, stdout=subprocess.PIPE, text=True)
    head.stdout.close()
    assert count.communicate(timeout=120)[0].strip() == str(200 * MEGA)
    assert head.wait() == 0


def test_sbx_19_the_rest_of_a_file(box):
    """The same open file: what the command does not read is there for the next one."""
    path = box.write("lines", "one\ntwo\n")
    with open(path) as lines:
        for expected in ("one", "two"):
            process = box.popen(
                "-q", "/usr/bin/python3", "-c",
                "import os\nb=b''\nwhile not b.endswith(b'\\n'): b+=os.read(0,1)\nos.write(1,b)",
                stdin=lines, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
            assert process.communicate(timeout=60)[0] == expected + "\n"


def test_a_closed_pipe_is_felt(box):
    """When the command closes its output, the reader sees the end though it runs on."""
    process = box.popen(
        "-q", "sh", "-c", "echo x; exec >&-; read line", stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout.read() == b"x\n"
    process.communicate(b"\n", timeout=60)
    assert process.returncode == 0


def test_output_can_be_opened_again(box):
    path = box.write("log")
    with open(path, "w") as log:
        process = box.popen("-q", "sh", "-c", "echo a >/dev/stderr; echo b >&2", stderr=log)
        assert process.wait(timeout=60) == 0
    # Opened by its name it is cut to nothing first, as without Weir.
    assert "b\n" in path.read_text()


@pytest.mark.parametrize("kind", ["folder", "path", "udp", "tcp", "datagram"])
def test_what_leads_out_is_refused(box, kind):
    things = {
        "folder": lambda: os.open("/", os.O_RDONLY),
        "path": lambda: os.open("/etc/passwd", os.O_PATH),
        "udp": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).detach(),
        "tcp": lambda: socket.socket().detach(),
        "datagram": lambda: socket.socketpair(type=socket.SOCK_DGRAM)[0].detach(),
    }
    fd = things[kind]()
    try:
        process = box.popen("-q", "touch", "ran", stdin=fd, stderr=subprocess.PIPE, text=True)
        err = process.communicate(timeout=60)[1]
    finally:
        os.close(fd)
    assert process.returncode == 125 and "standard input is a" in err
    assert not (box.work / "ran").exists()


def test_a_stream_pair_is_fine(box):
    """As Node gives it to its children."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = box.popen("-q", "cat", stdin=theirs, stdout=theirs)
        theirs.close()
        ours.sendall(b"ping")
        ours.shutdown(socket.SHUT_WR)
        assert ours.recv(100) == b"ping"
        assert process.wait(timeout=60) == 0


def test_descriptors_are_closed(box):
    with open("/etc/passwd") as file:
        os.set_inheritable(file.fileno(), True)
        process = box.popen(
            "-q", "sh", "-c", "ls /proc/self/fd | tr '\\n' ' '", pass_fds=(file.fileno(),),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        out = process.communicate(timeout=60)[0]
    assert out == "0 1 2 3 "  # 3 is what ls reads the folder by


def test_sbx_09_a_long_argument(box):
    word = "x" * (120 * 1024)
    assert box.run("printf", "%s", word).stdout == word
