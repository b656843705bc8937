"""ssh's ProxyCommand: HOST PORT by CONNECT through the proxy of the environment."""

import os
import select
import socket
import sys
import urllib.parse

proxy = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"])
sock = socket.create_connection((proxy.hostname, proxy.port), timeout=20)
sock.sendall(f"CONNECT {sys.argv[1]}:{sys.argv[2]} HTTP/1.1\r\n\r\n".encode())
head = b""
while b"\r\n\r\n" not in head:
    piece = sock.recv(1)
    if not piece:
        sys.exit("no answer")
    head += piece
status = head.split(b" ", 2)[1]
if status != b"200":
    sys.exit(head.split(b"\r\n")[0].decode())
sock.settimeout(None)
sources = [sock, sys.stdin.buffer.raw]
# Until ssh has closed as well: were nobody there to read what it still says, it would end
# for that, and not print what it was told.
while sources:
    for source in select.select(sources, [], [])[0]:
        data = source.recv(65536) if source is sock else source.read(65536)
        if not data:
            sources.remove(source)
            if source is sock:
                os.close(1)
            elif sock in sources:
                sock.shutdown(socket.SHUT_WR)
        elif source is sock:
            os.write(1, data)
        elif sock in sources:
            sock.sendall(data)
