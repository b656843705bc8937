"""SBX-13 and SBX-14: a terminal behaves as if nothing stood between."""

import contextlib
import fcntl
import os
import pathlib
import pty
import select
import signal
import struct
import subprocess
import termios

import pytest

from support.sandbox import children
from support.wait import wait_until


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return None


class Terminal:
    """A session of its own on a pseudo-terminal, with `command` in it."""

    def __init__(self, box, *args, weirless=False):
        self.output = b""
        self.ended = False
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                box.become()
                os.chdir(box.work)
                command = list(args) if weirless else box.arguments(["-q", *args])
                os.execvpe(command[0], command, box.environment())
            finally:
                os._exit(99)

    def read(self):
        while self.fd >= 0 and select.select([self.fd], [], [], 0)[0]:
            try:
                piece = os.read(self.fd, 65536)
            except OSError:
                return
            if not piece:
                return
            self.output += piece

    def expect(self, text, count=1, timeout=30):
        def seen():
            self.read()
            return self.output.count(text.encode()) >= count

        wait_until(seen, timeout, lambda: f"{text!r} in {self.output!r}")

    def type(self, text):
        os.write(self.fd, text.encode())

    def foreground(self):
        """The name of the program that leads the group which the keys go to."""
        return name_of(os.tcgetpgrp(self.fd))

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait(self, timeout=30):
        """(what waitpid says); reads on, so that nobody blocks on output."""

        def ended():
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            return [status] if pid else None

        status = wait_until(ended, timeout, lambda: f"{self.output!r}")[0]
        self.ended = True
        return status

    def close(self):
        if not self.ended:
            for pid in [self.pid, *children(self.pid)]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        self.hang_up()

    def hang_up(self):
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1


@pytest.fixture
def terminal(box, closing):
    return lambda *args, **more: closing(Terminal(box, *args, **more))


def test_sbx_13_reads_a_line(terminal):
    tty = terminal("sh", "-c", "echo ready; read x; echo got $x")
    tty.expect("ready")
    tty.type("hello\n")
    tty.expect("got hello")
    assert os.waitstatus_to_exitcode(tty.wait()) == 0


def test_sbx_13_settings_stay(terminal):
    """Those of the terminal are neither changed nor lost when the command changes them."""
    tty = terminal("sh", "-c", "read x; old=$(stty -g); stty raw -echo; stty $old; echo done")
    before = termios.tcgetattr(tty.fd)
    tty.type("x\n")
    tty.expect("done")
    assert os.waitstatus_to_exitcode(tty.wait()) == 0
    assert termios.tcgetattr(tty.fd) == before


def test_sbx_14_interrupt_window_and_term(box, terminal):
    tty = terminal(
        "bash", "-c",
        "trap 'echo INT' INT; trap 'stty size' WINCH; echo ready; while :; do sleep .1; done",
    )  # fmt: skip
    tty.expect("ready")
    tty.type("\x03")
    tty.expect("INT")
    tty.resize(33, 77)
    tty.expect("33 77")
    inside = children(tty.pid)
    assert inside
    os.kill(tty.pid, signal.SIGTERM)
    assert os.waitstatus_to_exitcode(tty.wait()) == 128 + signal.SIGTERM
    assert tty.output.count(b"INT") == 1
    assert not [pid for pid in inside if os.path.exists(f"/proc/{pid}")]


@pytest.mark.parametrize("key", ["\x03", "\x1c"])
def test_sbx_14_a_key_ends_it(terminal, key):
    tty = terminal("sh", "-c", "ulimit -c 0; echo ready; exec sleep 300")
    tty.expect("ready")
    wait_until(
        lambda: "sleep" in map(name_of, children(tty.pid)), 30, "sh has not become sleep"
    )
    tty.type(key)
    number = signal.SIGINT if key == "\x03" else signal.SIGQUIT
    assert os.waitstatus_to_exitcode(tty.wait()) == 128 + number


def test_sbx_14_under_a_shell(box, terminal):
    """A shell with job control: stopped, listed, in the foreground again."""
    tty = terminal("bash", "--norc", "--noprofile", "-i", weirless=True)
    tty.type("PS1='$ '; unset PROMPT_COMMAND; echo sta''rted\n")
    tty.expect("started")
    tty.type(f"{box.weir} run -q sh -c 'echo rea''dy; read x; echo got-$x'\n")
    tty.expect("ready\r\n")
    tty.type("\x1a")
    tty.expect("Stopped")
    tty.type("jobs; echo li''sted\n")
    tty.expect("listed\r\n")
    tty.type("fg\n")
    # A line typed before the shell has handed the terminal over is the shell's own.
    wait_until(lambda: tty.foreground() == "weir", 30, tty.foreground)
    tty.type("line\n")
    tty.expect("got-line")
    tty.type("echo status $?; exit\n")
    tty.expect("status 0")
    tty.wait()


def test_sbx_14_the_terminal_goes_away(box, terminal):
    """The first process of the session is told, and that is us; the command must hear."""
    tree = {"filesystem": {"allowWrite": ["."]}}
    settings = box.settings(tree)
    tty = terminal(
        "-s", settings, "sh", "-c",
        "trap 'echo HUP > heard; exit' HUP; echo ready; while :; do sleep .05; done",
    )  # fmt: skip
    tty.expect("ready")
    tty.hang_up()
    tty.wait()
    assert (box.work / "heard").read_text() == "HUP\n"


def test_a_shell_inside_has_job_control(box, terminal):
    """It takes the foreground for its jobs; outside gets it back at its end."""
    tty = terminal(
        "sh", "-c",
        f"{box.weir} run -q bash --norc --noprofile -i; echo back; read x; echo got-$x",
        weirless=True,
    )  # fmt: skip
    tty.type("PS1='$ '; sleep 300 & jobs; fg\n")
    tty.expect("Running")
    wait_until(lambda: tty.foreground() == "sleep", 30, tty.foreground)
    tty.type("\x1a")
    tty.expect("Stopped")
    # A shell with a stopped job refuses its first `exit`, so the job has to be gone.
    tty.type(
        "kill -9 %1; i=0; while [ -n \"$(jobs -s)\" ] && [ $((i += 1)) -lt 300 ]; "
        "do sleep .1; done; exit\n"
    )
    tty.expect("back")
    tty.type("line\n")
    tty.expect("got-line")
    tty.wait()


def test_a_background_job_that_reads_stops_until_it_is_fetched(box, terminal):
    """The signal for that goes to the whole group, us in it: one `fg` must be enough."""
    tty = terminal(
        "bash", "-c",
        f"set -m; {box.weir} run -q sh -c 'read x; echo got-$x' & "
        "until jobs | grep -q Stopped; do sleep .1; done; fg; echo end-$?",
        weirless=True,
    )  # fmt: skip
    tty.expect("run -q")
    tty.type("line\n")
    tty.expect("got-line")
    tty.expect("end-0")
    tty.wait()


def test_signals_go_once_without_a_terminal(box):
    """There the command leads a group of its own: a signal to our group is passed on."""
    process = box.popen(
        "-q", "bash", "-c",
        "trap 'echo USR1' USR1; trap 'echo HUP; exit 7' HUP; echo ready; "
        "while :; do sleep .05; done",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert process.stdout.readline() == b"ready\n"
    os.killpg(process.pid, signal.SIGUSR1)
    assert process.stdout.readline() == b"USR1\n"
    os.kill(process.pid, signal.SIGHUP)
    assert process.stdout.read() == b"HUP\n"
    assert process.wait(timeout=30) == 7


def test_stop_and_go_on_without_a_terminal(box):
    process = box.popen(
        "-q", "sh", "-c", "echo ready; read x; kill -STOP $$; echo on", stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert process.stdout.readline() == b"ready\n"
    process.stdin.write(b"\n")
    process.stdin.flush()
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    os.kill(process.pid, signal.SIGCONT)
    assert process.stdout.read() == b"on\n"
    assert process.wait(timeout=30) == 0


@pytest.mark.parametrize("ignored", [signal.SIGINT, signal.SIGHUP])
def test_an_ignored_signal_stays_ignored(box, ignored):
    """As nohup and shells without job control leave it."""

    def ignore():
        signal.signal(ignored, signal.SIG_IGN)

    process = subprocess.Popen(
        [
            "sh", "-c",
            f"trap '' {ignored.value}; exec {box.weir} run -q sh -c 'echo ready; read x; echo on'",
        ],
        env=box.environment(), cwd=box.work, preexec_fn=box.become,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout.readline() == b"ready\n"
    os.kill(process.pid, ignored)
    out, _ = process.communicate(b"\n", timeout=30)
    assert (out, process.returncode) == (b"on\n", 0)
