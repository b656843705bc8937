"""What a SOCKS client sends and what it is told, in bytes."""

import socket
import struct

NO_LOGIN, LOGIN = b"\x05\x01\x00", b"\x05\x01\x02"
OK, FAILED, DENIED, HOST, REFUSED = 0, 1, 2, 4, 5
OK4, DENIED4 = 0x5A, 0x5B


def name5(host, port, command=1):
    host = host if isinstance(host, bytes) else host.encode()
    return bytes([5, command, 0, 3, len(host)]) + host + struct.pack(">H", port)


def address5(address, port):
    six = ":" in address
    packed = socket.inet_pton(socket.AF_INET6 if six else socket.AF_INET, address)
    return bytes([5, 1, 0, 4 if six else 1]) + packed + struct.pack(">H", port)


def name4(host, port, user=b"", command=1):
    return (
        bytes([4, command]) + struct.pack(">H", port) + b"\0\0\0\1" + user + b"\0"
        + host.encode() + b"\0"
    )  # fmt: skip


def address4(address, port):
    return bytes([4, 1]) + struct.pack(">H", port) + socket.inet_aton(address) + b"\0"


def reply5(code):
    return bytes([5, code, 0, 1]) + bytes(6)


def reply4(code):
    return bytes([0, code]) + bytes(6)
