"""Runs inside a network namespace, keeps it alive, and makes sockets in it for the test.

A socket belongs for ever to the namespace in which it was made, so the test can use it
from outside. Each message on the descriptor given as argument is "FAMILY TYPE"; each
answer carries one descriptor. It ends when the other end closes.
"""

import socket
import sys


def main():
    control = socket.socket(fileno=int(sys.argv[1]))
    control.send(b"ready")
    while True:
        message = control.recv(64)
        if not message:
            return
        family, kind = map(int, message.split())
        with socket.socket(family, kind) as made:
            socket.send_fds(control, [b"ok"], [made.fileno()])


main()
