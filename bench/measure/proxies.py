"""What is compared: Weir, the reference relay, and every peer that is installed. Each is
found by the name of its program and gets the least configuration that makes it serve;
what it logs by default it logs here, into a file."""

import json
import os
import re
import resource
import shutil
import subprocess
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]
# bench/run.sh installs srt into the folder of the build, daemons stand in sbin.
SEARCH = ":".join([
    os.environ.get("PATH", ""), "/usr/sbin", "/sbin",
    str(BENCH.parent / "build/peers/node_modules/.bin"),
])  # fmt: skip
DESCRIPTORS = 65536
# More than any measurement opens at a time, where the system allows it.
CONNECTIONS_MAX = 20000
RULES = 100


def raise_limits():
    """For what we start, as far as it goes; returns the connections that a proxy can
    then hold."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
        limit = DESCRIPTORS
    except (ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        limit = hard
    return min(CONNECTIONS_MAX, (limit - 200) // 2)


CONNECTIONS = raise_limits()


def find(program):
    return shutil.which(program, path=SEARCH)


class Place:
    """What a peer's set-up is made from."""

    def __init__(self, world, name):
        self.name = name
        self.host, self.target = world.net.proxies, world.target
        self.port, self.second_port = world.net.port(), world.net.port()
        self.addr = f"{self.host}:{self.port}"
        self.second = f"{self.host}:{self.second_port}"
        # Some peers give up root before they open their log.
        self.folder = world.folder / name
        self.folder.mkdir(exist_ok=True)
        self.folder.chmod(0o777)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path


def rules(count, target):
    """An allow list of `count` entries of which none but the last ones is asked for."""
    host, _, port = target.rpartition(":")
    fill = [f"{'*.' if i % 2 else ''}name{i}.rule{i % 97}.example" for i in range(count - 2)]
    return [*fill, f"*.bench.test:{port}", f"{host}:{port}"]


def weir_settings(place, workers=1, rule_count=RULES, resolver=None):
    return {
        "listen": [place.addr],
        "workers": workers,
        "network": {"allowedDomains": rules(rule_count, place.target)},
        "audit": {"file": str(place.folder / "audit.jsonl")},
        "limits": {"connections": CONNECTIONS, "connectionsPerClient": CONNECTIONS},
        **({"resolver": resolver} if resolver else {}),
    }


def all_ways(addr):
    return {"connect": addr, "socks5": addr, "http": addr}


def http_ways(addr):
    return {"connect": addr, "http": addr}


def start_weir(place, program, **settings):
    file = place.write("gateway.json", json.dumps(weir_settings(place, **settings)))
    return [program, "gateway", "-f", file], all_ways(place.addr)


def start_ref(place, program):
    return [program, place.addr], all_ways(place.addr)


def start_squid(place, program):
    config = place.write("squid.conf", f"""
http_port {place.addr}
http_access allow all
cache deny all
cache_mem 8 MB
access_log daemon:{place.folder}/access.log
cache_log {place.folder}/cache.log
pid_filename {place.folder}/squid.pid
coredump_dir {place.folder}
shutdown_lifetime 0 seconds
max_filedescriptors {2 * CONNECTIONS + 100}
pinger_enable off
""")
    return [program, "-N", "-f", config], http_ways(place.addr)


def start_tinyproxy(place, program):
    """Not with its default log: it waits for the disk after each line, several times a
    connection, and what was measured then would be the disk."""
    config = place.write("tinyproxy.conf", f"""
Listen {place.host}
Port {place.port}
Timeout 600
MaxClients {CONNECTIONS}
LogFile "{place.folder}/tinyproxy.log"
LogLevel Critical
""")
    return [program, "-d", "-c", config], http_ways(place.addr)


def start_privoxy(place, program):
    config = place.write("config", f"""
listen-address {place.addr}
confdir {place.folder}
logdir {place.folder}
logfile privoxy.log
toggle 0
keep-alive-timeout 300
default-server-timeout 60
connection-sharing 1
tolerate-pipelining 1
socket-timeout 600
max-client-connections {CONNECTIONS}
""")
    return [program, "--no-daemon", config], http_ways(place.addr)


def start_3proxy(place, program):
    config = place.write("3proxy.cfg", f"""
maxconn {CONNECTIONS}
auth none
log {place.folder}/3proxy.log
proxy -n -a -p{place.port} -i{place.host}
socks -n -p{place.second_port} -i{place.host}
""")
    return [program, config], {**http_ways(place.addr), "socks5": place.second}


def start_microsocks(place, program):
    return [program, "-i", place.host, "-p", place.port], {"socks5": place.addr}


def start_dante(place, program):
    config = place.write("danted.conf", f"""
logoutput: {place.folder}/danted.log
internal: {place.host} port = {place.port}
external: {place.host}
clientmethod: none
socksmethod: none
user.privileged: root
user.unprivileged: nobody
client pass {{ from: 0.0.0.0/0 to: 0.0.0.0/0 }}
socks pass {{ from: 0.0.0.0/0 to: 0.0.0.0/0 }}
""")
    return [program, "-f", config, "-p", place.folder / "pid"], {"socks5": place.addr}


def start_haproxy(place, program):
    """No proxy that is told where to go, but a relay to the one target: what is left
    of the work when nothing is asked, read or decided."""
    config = place.write("haproxy.cfg", f"""
global
  maxconn {CONNECTIONS}
  nbthread 1
defaults
  mode tcp
  timeout connect 5s
  timeout client 1h
  timeout server 1h
listen relay
  bind {place.addr}
  server target {place.target}
""")
    return [program, "-db", "-f", config], {"direct": place.addr}


def start_hev(place, program):
    config = place.write("hev.yml", f"""
main:
  workers: 1
  port: {place.port}
  listen-address: '{place.host}'
misc:
  tcp-read-write-timeout: 600000
  log-file: {place.folder}/hev.log
  limit-nofile: {2 * CONNECTIONS + 100}
""")
    return [program, config], {"socks5": place.addr}


def start_srt(place, program):
    """The proxy that srt starts outside of its sandbox, as its own modules make it."""
    modules = Path(program).resolve().parent / "sandbox"
    return (
        ["node", BENCH / "srt_proxy.mjs", modules, place.host, place.port,
         place.target.rpartition(":")[0]],
        all_ways(place.addr),
    )  # fmt: skip


# Name, program, how it is set up, how it tells its version.
PEERS = {
    "squid": ("squid", start_squid, "-v"),
    "tinyproxy": ("tinyproxy", start_tinyproxy, "-v"),
    "privoxy": ("privoxy", start_privoxy, "--version"),
    "3proxy": ("3proxy", start_3proxy, "--version"),
    "microsocks": ("microsocks", start_microsocks, None),
    "dante": ("danted", start_dante, "-v"),
    "hev": ("hev-socks5-server", start_hev, "--version"),
    "srt": ("srt", start_srt, "--version"),
    "haproxy": ("haproxy", start_haproxy, "-v"),
}


CLOSING = {"tinyproxy"}  # after each request, whatever the client says


class Proxy:
    """One that runs. `ways`: what the load generator may use, and at which address."""

    def __init__(self, world, name, setup, program, env=None, before=None, **settings):
        place = Place(world, name)
        command, self.ways = setup(place, str(program), **settings)
        self.name, self.place = name, place
        self.keeps = name not in CLOSING
        self.program = world.start(name, command, env=env, before=before)
        self.program.wait_for_port(place.port)


def missing():
    """Name and reason of each peer that cannot be measured here."""
    found = {}
    for name, (program, _, _) in PEERS.items():
        path = find(program)
        if path is None:
            found[name] = f"{program} is not installed"
        elif name == "srt" and not (Path(path).resolve().parent / "sandbox").is_dir():
            found[name] = f"{path} is not Anthropic's sandbox runtime"
    return found


def version(name):
    """As the peer tells it, or "" when it does not."""
    program, _, flag = PEERS[name]
    if flag is None:
        return ""
    try:
        done = subprocess.run(
            [find(program), flag], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=20,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = re.search(r"\d+\.\d+[\w.+-]*", done.stdout + done.stderr)
    return match.group(0) if match else ""


class Contest:
    """The proxies of one run, each started when it is first asked for."""

    def __init__(self, world, only=None):
        self.world = world
        self.missing = missing()
        self.running = {}
        self.peers = [n for n in PEERS if n not in self.missing and (not only or n in only)]

    def start(self, kind, name=None, **options):
        """A proxy that is new; `kind`: weir, ref or a peer."""
        build = self.world.build
        ours = {"weir": (build / "weir", start_weir),
                "ref": (build / "bench/weir_bench_ref", start_ref)}  # fmt: skip
        if kind in ours:
            program, setup = ours[kind]
        else:
            program, setup = find(PEERS[kind][0]), PEERS[kind][1]
        return Proxy(self.world, name or kind, setup, program, **options)

    def get(self, kind, name=None, **options):
        name = name or kind
        if name not in self.running:
            self.running[name] = self.start(kind, name, **options)
        return self.running[name]

    def able(self, *ways):
        """Weir, the yardstick and every peer that knows one of these ways."""
        found = []
        for kind in ("ref", "weir", *self.peers):
            try:
                proxy = self.get(kind)
            except OSError as e:
                print(f"{kind}: left out: {e}")
                self.peers.remove(kind)
                self.missing[kind] = "does not start"
                continue
            if any(way in proxy.ways for way in ways):
                found.append(proxy)
        return found
