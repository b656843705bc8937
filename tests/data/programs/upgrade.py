"""A WebSocket over plain HTTP proxying, without a tunnel: HOST PORT. Says what comes back to
"hello"."""

import base64
import os
import socket
import struct
import sys
import urllib.parse

host, port = sys.argv[1:]
proxy = urllib.parse.urlsplit(os.environ["HTTP_PROXY"])
sock = socket.create_connection((proxy.hostname, proxy.port), timeout=60)
login = ""
if proxy.username:
    pair = base64.b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
    login = f"Proxy-Authorization: Basic {pair}\r\n"
sock.sendall(
    f"GET http://{host}:{port}/ HTTP/1.1\r\nHost: {host}:{port}\r\n{login}"
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: MDEyMzQ1Njc4OTAxMjM0NQ==\r\n\r\n".encode()
)
answer = sock.makefile("rb")
status = answer.readline().decode().strip()
for line in answer:
    if line == b"\r\n":
        break
if " 101 " not in status:
    sys.exit(status)
# One masked frame of text (RFC 6455, section 5.2); the mask is zero, so it can be read.
sock.sendall(struct.pack(">BB4x", 0x81, 0x80 | 5) + b"hello")
kind, length = answer.read(2)
print(hex(kind), answer.read(length).decode())
