"""New settings for a run that goes on, by --control-fd: each line is a whole document, counts
at once for what is asked and for what is open, or changes nothing."""

import json
import os
import socket
import subprocess

import pytest

from support.sandbox import PYTHON
from support.wait import wait_until

# Asks for what the lines of its input name, "PORT" for a tunnel that is opened and closed,
# "keep PORT" for one that stays, "probe" for whether that one still stands; answers on a line.
ASKER = """
import socket, sys
kept = None
def tunnel(port):
    s = socket.create_connection(("127.0.0.1", 3128), 60)
    s.sendall(f"CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n".encode())
    return s, s.recv(4096).split()[1].decode()
def probe():
    try:
        kept.sendall(b"ping")
        return "stands" if kept.recv(4) == b"ping" else "cut"
    except OSError:
        return "cut"
for line in sys.stdin:
    words = line.split()
    if words[0] == "keep":
        kept, answer = tunnel(words[1])
    elif words[0] == "probe":
        answer = probe()
    else:
        s, answer = tunnel(words[0])
        s.close()
    print(answer, flush=True)
"""


def network(*allowed, **more):
    return {"network": {"allowedDomains": list(allowed), **more}}


class Run:
    """A run with a channel, and its command, which asks for what it is told."""

    def __init__(self, box, *words, settings=None, channel=None):
        self.mine, theirs = channel or socket.socketpair()
        options = [] if settings is None else ["-s", box.settings(settings)]
        self.log = box.top / "log"
        with open(self.log, "w") as log:
            self.process = box.popen(
                box.weir, "run", "-v", *options, "--control-fd", theirs.fileno(),
                *(words or (PYTHON, "-c", ASKER)), weirless=True, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True,
                pass_fds=[theirs.fileno()],
            )  # fmt: skip
        theirs.close()
        self.sent = 0

    def ask(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        return self.process.stdout.readline().strip()

    def told(self):
        return self.log.read_text()

    def send(self, tree, says=None):
        """One line; back when the run has said what became of it."""
        self.sent += 1
        text = tree if isinstance(tree, str) else json.dumps(tree)
        self.mine.sendall(text.encode() + b"\n")
        says = says or f"settings: message {self.sent} is in force"
        wait_until(lambda: says in self.told(), 30, self.told)

    def end(self):
        self.process.stdin.close()
        return self.process.wait(timeout=30)

    def close(self):
        self.process.kill()
        self.process.wait()
        for file in (self.process.stdin, self.process.stdout, self.mine):
            file.close()


@pytest.fixture
def run(box):
    started = []

    def start(*words, **more):
        started.append(Run(box, *words, **more))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture
def ports(echo_server):
    return echo_server(), echo_server()


def test_allowed_and_denied_while_it_goes_on(run, ports):
    a, b = (f"127.0.0.1:{port}" for port in ports)
    at = run(settings=network(a))
    assert (at.ask(ports[0]), at.ask(ports[1])) == ("200", "403")
    at.send(network(b))
    assert (at.ask(ports[0]), at.ask(ports[1])) == ("403", "200")
    at.send(network(a, b))
    assert (at.ask(ports[0]), at.ask(ports[1])) == ("200", "200")
    at.send(network(a, b, deniedDomains=[a]))
    assert (at.ask(ports[0]), at.ask(ports[1])) == ("403", "200")
    at.send({})
    assert (at.ask(ports[0]), at.ask(ports[1])) == ("403", "403")
    assert at.end() == 0


def test_what_is_open_is_judged_again(run, ports):
    a, b = (f"127.0.0.1:{port}" for port in ports)
    at = run(settings=network(a, b))
    assert at.ask("keep", ports[0]) == "200" and at.ask("probe") == "stands"
    at.send(network(a))
    assert at.ask("probe") == "stands"
    at.send(network(b))
    assert at.ask("probe") == "cut"
    assert "policy-revoked" in at.told()


@pytest.mark.parametrize("line, says", [
    ("{", "message 1: line 1, column"),
    ("[]", "message 1: line 1"),
    ('{"network": {"allowedDomain": []}}', 'did you mean "allowedDomains"'),
    ('{"network": {"allowedDomains": ["*.com"]}}', "line 1: network.allowedDomains[0]"),
    ('{"filesystem": {"allowWrite": ["/"]}}', "filesystem: cannot change while the command"),
    ('{"network": {"parentProxy": {"http": "http://p.test:1"}}}', "parentProxy: cannot change"),
    ('{"network": {"parentProxy": {}}}', "parentProxy: cannot change"),
    ('{"network": {"tlsTerminate": {}, "deniedDomains": []}, "x": 1}', "message 1: line 1: "),
    ("\xff\xfe", "message 1: line 1"),
])  # fmt: skip
def test_a_bad_line_changes_nothing(run, ports, line, says):
    at = run(settings=network(f"127.0.0.1:{ports[0]}"))
    at.send(line, "what was in force before it stays")
    assert says in at.told() and at.told().count("stays") == 1
    assert (at.ask(ports[0]), at.ask(ports[1])) == ("200", "403")
    at.send(network(f"127.0.0.1:{ports[1]}"))
    assert (at.ask(ports[0]), at.ask(ports[1])) == ("403", "200")


def test_settings_that_stay_are_sent_along(run, box, ports):
    fixed = {"filesystem": {"allowWrite": [str(box.work)]}}
    at = run(settings={**fixed, **network()})
    at.send({**fixed, **network(f"127.0.0.1:{ports[0]}")})
    assert at.ask(ports[0]) == "200"


def test_many_lines_at_once_and_the_end(run, ports):
    """The last one counts, blank ones and CR are nothing, and after the end it goes on."""
    lines = [json.dumps(network(f"127.0.0.1:{port}")) for port in ports]
    at = run()
    at.mine.sendall(f"{lines[0]}\r\n\n{lines[0]}\n{lines[1]}".encode())
    at.mine.close()
    wait_until(lambda: "message 4 is in force" in at.told(), 30, at.told)
    assert (at.ask(ports[0]), at.ask(ports[1])) == ("403", "200")
    assert at.end() == 0


def test_what_the_command_line_allows_stays(run, box, ports):
    at = run("--allow", f"127.0.0.1:{ports[0]}", PYTHON, "-c", ASKER)
    at.send(network(f"127.0.0.1:{ports[1]}"))
    assert (at.ask(ports[0]), at.ask(ports[1])) == ("200", "200")


@pytest.fixture
def unread():
    """A channel that is reset when our end is closed."""
    mine, theirs = socket.socketpair()
    theirs.sendall(b"never read")
    return mine, theirs


def test_a_channel_lost_before_the_first_line(run, unread):
    """Nobody can take back what the command was given: it ends, SIGTERM first.

    The handler writes past print(), which may be at work when the signal comes."""
    code = (
        "import os, signal, time; signal.signal(signal.SIGTERM, lambda *_: os.write(1, b'asked\\n'))\n"
        "print('ready', flush=True)\nfor _ in range(600): time.sleep(0.1)"
    )
    at = run(PYTHON, "-c", code, channel=unread)
    assert at.process.stdout.readline() == "ready\n"
    at.mine.close()
    assert at.process.wait(timeout=30) == 125
    assert at.process.stdout.read() == "asked\n", at.told()
    assert "cannot be read: Connection reset by peer; the command was ended" in at.told()


def test_a_channel_lost_later(run, ports, unread):
    at = run(channel=unread)
    at.send(network(f"127.0.0.1:{ports[0]}"))
    at.mine.close()
    wait_until(lambda: "the last ones stay in force" in at.told(), 30, at.told)
    assert at.ask(ports[0]) == "200" and at.end() == 0


def test_it_is_not_in_the_sandbox(run):
    """Not under its number, nor under another."""
    mine, theirs = socket.socketpair()
    link = f"socket:[{os.fstat(theirs.fileno()).st_ino}]"
    code = "import os; print([os.readlink(f'/proc/self/fd/{n}') for n in range(200) " \
        "if os.path.lexists(f'/proc/self/fd/{n}')])"  # fmt: skip
    at = run(PYTHON, "-c", code, channel=(mine, theirs))
    assert link not in at.process.stdout.read() and at.process.wait(timeout=30) == 0


def test_nobody_else_has_it(run):
    """Neither the supervisor: when the run has read to the end, the channel is closed."""
    at = run()
    at.mine.settimeout(30)
    at.mine.shutdown(socket.SHUT_WR)
    assert at.mine.recv(1) == b"" and at.end() == 0


def asking(port):
    """A script that asks until it is let through, for half a minute at most."""
    return f"""
        for i in {{1..300}}; do
            exec 3<>/dev/tcp/127.0.0.1/3128
            printf 'CONNECT 127.0.0.1:{port} HTTP/1.0\\r\\n\\r\\n' >&3
            read -r line <&3
            [[ $line == *" 200 "* ]] && break
            sleep 0.1
        done
        echo "$line"
    """


def test_a_file_and_a_pipe(box, ports):
    a, b = (json.dumps(network(f"127.0.0.1:{port}")) for port in ports)
    path = box.write("lines", f"{a}\n{b}\n")
    script = asking(ports[1])
    for source in (f"3<{path}", f"3< <(cat {path})"):
        done = box.run(
            "bash", "-c", f'"$0" run -v --control-fd 3 bash -c "$1" {source}', box.weir, script,
            weirless=True,
        )  # fmt: skip
        assert done.stdout.startswith("HTTP/1.1 200"), done.stderr
        assert "message 2 is in force" in done.stderr


@pytest.mark.parametrize("number, says", [
    ("3", "descriptor 3 cannot be read: Bad file descriptor"), ("2", "3 or higher"),
    ("x", "3 or higher"), ("-1", "3 or higher"), ("", "empty"),
])  # fmt: skip
def test_no_such_descriptor(box, number, says):
    done = box.run(f"--control-fd={number}", "echo", "started")
    assert (done.returncode, done.stdout) == (125, "") and says in done.stderr


def test_as_srt(box, ports):
    path = box.top / "srt"
    path.symlink_to(box.weir)
    a = box.write("lines", json.dumps(network(f"127.0.0.1:{ports[0]}")))
    script = asking(ports[0])
    done = box.run(
        "bash", "-c", f'"$0" -d --control-fd 3 -c "$1" 3<{a}', path, script, weirless=True
    )
    assert done.stdout.startswith("HTTP/1.1 200"), done.stderr
