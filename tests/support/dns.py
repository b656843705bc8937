"""A name server with answers that a test chooses, on UDP and TCP of one port."""

import ipaddress
import socket
import struct
import threading

A, CNAME, AAAA = 1, 5, 28
TYPES = {A: "A", CNAME: "CNAME", AAAA: "AAAA"}
RCODES = {"SERVFAIL": 2, "NXDOMAIN": 3, "REFUSED": 5}
UDP_MAX = 4096


class DnsServer:
    """Answers from `records`, name to what is there:

    ["127.0.0.1", "::1"]     addresses; the type asked for picks among them
    ["CNAME b.test", ...]    an alias, in front of what follows
    "NXDOMAIN", "SERVFAIL", "REFUSED"
    "DROP"                   no answer at all
    "TRUNCATE 127.0.0.1"     nothing but the TC bit over UDP, the rest over TCP

    A name without a record is NXDOMAIN. `sequence` sets answers that take turns.
    `queries` lists (name, type) in the order in which they came.
    """

    def __init__(self, records=None, ttl=60, host="127.0.0.1", netns=None):
        self.ttl = ttl
        self.queries = []
        self.lock = threading.Lock()
        self.records = {}
        self.turns = {}
        for name, value in (records or {}).items():
            self.set(name, value)
        self.udp, self.tcp = bind_pair(host, netns)
        self.port = self.udp.getsockname()[1]
        self.address = f"{host}:{self.port}"
        for loop in (self.serve_udp, self.serve_tcp):
            threading.Thread(target=loop, daemon=True).start()

    def set(self, name, value, ttl=None):
        self.sequence(name, [value], ttl)

    def sequence(self, name, values, ttl=None):
        """The first question of each type gets values[0], and so on; the last stays."""
        with self.lock:
            self.records[name.lower()] = (list(values), ttl)
            for key in [key for key in self.turns if key[0] == name.lower()]:
                del self.turns[key]

    def close(self):
        for sock in (self.udp, self.tcp):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            sock.close()

    def serve_udp(self):
        while True:
            try:
                query, peer = self.udp.recvfrom(UDP_MAX)
                if not query:
                    return  # close() woke us
                answer = self.answer(query, stream=False)
                if answer:
                    self.udp.sendto(answer, peer)
            except (OSError, ValueError):
                return

    def serve_tcp(self):
        while True:
            try:
                connection, _ = self.tcp.accept()
            except OSError:
                return
            threading.Thread(
                target=self.serve_stream, args=(connection,), daemon=True
            ).start()

    def serve_stream(self, connection):
        with connection, connection.makefile("rb") as stream:
            connection.settimeout(30)
            while True:
                try:
                    head = stream.read(2)
                    if len(head) < 2:
                        return
                    query = stream.read(struct.unpack(">H", head)[0])
                    answer = self.answer(query, stream=True)
                    if answer:
                        connection.sendall(struct.pack(">H", len(answer)) + answer)
                except OSError:
                    return

    def next_value(self, name, qtype):
        with self.lock:
            self.queries.append((name, TYPES.get(qtype, str(qtype))))
            values, ttl = self.records.get(name, (["NXDOMAIN"], None))
            turn = self.turns.get((name, qtype), 0)
            self.turns[(name, qtype)] = turn + 1
            return values[min(turn, len(values) - 1)], self.ttl if ttl is None else ttl

    def answer(self, query, stream):
        """The response message; None when there is to be none."""
        name, qtype, question = read_question(query)
        value, ttl = self.next_value(name, qtype)
        flags, records = 0x8580, []  # a response, authoritative, recursion available
        if value == "DROP":
            return None
        if isinstance(value, str) and value.startswith("TRUNCATE"):
            if stream:
                records = make_records(name, qtype, value.split()[1:], ttl)
            else:
                flags |= 0x0200
        elif isinstance(value, str):
            flags |= RCODES[value]
        else:
            records = make_records(name, qtype, value, ttl)
        head = query[:2] + struct.pack(">HHHHH", flags, 1, len(records), 0, 0)
        return head + question + b"".join(records)


def bind_pair(host, netns):
    """UDP and TCP sockets on the same port of `host`, in that namespace if given."""
    make = netns.socket if netns else socket.socket
    for _ in range(50):
        tcp = make(socket.AF_INET, socket.SOCK_STREAM)
        udp = make(socket.AF_INET, socket.SOCK_DGRAM)
        tcp.bind((host, 0))
        try:
            udp.bind(tcp.getsockname())
        except OSError:
            tcp.close()
            udp.close()
            continue
        tcp.listen(64)
        return udp, tcp
    raise AssertionError("no port is free for both UDP and TCP")


def encode_name(name):
    labels = [label.encode() for label in name.strip(".").split(".") if label]
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


def read_question(query):
    """(lower-case name, type, the question's bytes) of a query with one question."""
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode("latin1"))
        at += 1 + query[at]
    qtype = struct.unpack(">H", query[at + 1 : at + 3])[0]
    return ".".join(labels).lower(), qtype, query[12 : at + 5]


def make_records(name, qtype, values, ttl):
    records = []
    for value in values:
        if value.startswith("CNAME "):
            alias = value.split()[1]
            records.append(record(name, CNAME, ttl, encode_name(alias)))
            name = alias
            continue
        ip = ipaddress.ip_address(value)
        if qtype == (A if ip.version == 4 else AAAA):
            records.append(record(name, qtype, ttl, ip.packed))
    return records


def record(name, qtype, ttl, data):
    return encode_name(name) + struct.pack(">HHIH", qtype, 1, ttl, len(data)) + data
