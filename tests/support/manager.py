"""A stand-in for a service manager: it passes sockets on as systemd does, and listens to
what the service tells.

Run as a script, it is what stands between fork and exec: NAMES FD... -- COMMAND...
"""

import os
import socket
import sys

FIRST = 3


def prefix(passed):
    """The words in front of a command that is to get (name, socket) pairs."""
    if not passed:
        return []
    names = ":".join(name for name, _ in passed)
    numbers = [str(sock.fileno()) for _, sock in passed]
    return [sys.executable, __file__, names, *numbers, "--"]


def main(names, words):
    at = words.index("--")
    numbers, command = [int(word) for word in words[:at]], words[at + 1 :]
    # Out of the way first: one may lie where another belongs.
    numbers = [os.dup(number) for number in numbers]
    high = [os.open("/dev/null", os.O_RDONLY) for _ in range(FIRST + 2 * len(numbers))]
    numbers = [os.dup(number) for number in numbers]
    for fd in high:
        os.close(fd)
    for offset, number in enumerate(numbers):
        os.dup2(number, FIRST + offset, inheritable=True)
    os.environ["LISTEN_PID"] = str(os.getpid())
    os.environ["LISTEN_FDS"] = str(len(numbers))
    os.environ["LISTEN_FDNAMES"] = names
    os.execv(command[0], command)


class Ear:
    """NOTIFY_SOCKET: `path`, and what was told, message by message."""

    def __init__(self, path):
        self.path = str(path)
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sock.bind(self.path)

    def hear(self, timeout=20):
        """The next message, as a dict."""
        self.sock.settimeout(timeout)
        text = self.sock.recv(4096).decode()
        return dict(line.split("=", 1) for line in text.splitlines())

    def close(self):
        self.sock.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
