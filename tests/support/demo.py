"""The main job, shown: what an allow list lets out, what it refuses, and the record.

Offline: the servers, their certificate and their names are made here. Two network
namespaces stand for this machine and for the internet. Where they cannot be had the same
is shown through `weir gateway` on loopback, and with a second argument at once.
usage: demo.py PATH-OF-WEIR [gateway]
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from support import certs, dns, gateway, netns, servers  # noqa: E402
from support.program import merged  # noqa: E402

ALLOWED, LURED, DENIED = "api.example.test", "cdn.example.test", "evil.example.test"
TIMEOUT = 30
# Of what curl -v tells only the proxy's answer matters here.
CHATTER = re.compile(r"[*>{}] ?|< (?!HTTP/1.1 4|X-Proxy-Error)")
LURE_TEXT = "3. A name that is allowed, but leads to a cloud's metadata service:"
failures = []


def say(text=""):
    print(text, flush=True)


def show(command, shown):
    """Prints a command as somebody would type it, runs it, prints what it says."""
    say(f"  $ {shown}")
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT, env=merged(None),
    )  # fmt: skip
    for line in done.stdout.splitlines():
        if not CHATTER.match(line):
            say(f"    {line}")
    say(f"    (exit status {done.returncode})")
    return done


def expect(done, ok, text):
    if (done.returncode == 0) != ok or text not in done.stdout:
        failures.append(f"expected {'success' if ok else 'a refusal'} with {text!r}")
        say(f"  ! {failures[-1]}")


def show_audit(path, verdicts):
    say("The record, one line a request:")
    lines = path.read_text().splitlines() if path.exists() else []
    # A line is written when its request ends; the gateway numbers them as they begin.
    lines.sort(key=lambda line: json.loads(line)["id"])
    for line in lines:
        say(f"    {line}")
    if [json.loads(line)["verdict"] for line in lines] != verdicts:
        failures.append(f"expected the verdicts {verdicts} in {path}")
        say(f"  ! {failures[-1]}")


class Inside:
    """`weir run` beside an internet of our own: its servers, and the hosts file that
    names them, laid over /etc/hosts in a mount namespace."""

    def __init__(self, weir, folder, authority):
        self.weir = weir
        self.folder = folder
        self.ca = authority.ca
        self.pair = netns.NetnsPair()
        self.audit = folder / "audit.jsonl"
        listener = servers.listen_on("203.0.113.2", 443, self.pair.b)
        context = authority.server_context([ALLOWED])
        self.server = servers.serve_http(listener, {"*": b"hello from outside\n"}, context)
        self.settings = folder / "settings.json"
        self.settings.write_text(json.dumps(SETTINGS, indent=2))
        hosts = folder / "hosts"
        hosts.write_text(
            f"127.0.0.1 localhost\n203.0.113.2 {ALLOWED}\n169.254.169.254 {LURED}\n"
        )
        mount = f"mount --bind {shlex.quote(str(hosts))} /etc/hosts && exec \"$@\""
        self.prefix = [
            *self.pair.a.prefix, "unshare", "--mount", "sh", "-c", mount, "sh",
        ]  # fmt: skip

    def works(self):
        """None, or why `weir run` cannot be had here."""
        done = subprocess.run(
            [*self.prefix, self.weir, "run", "-s", str(self.settings), "true"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT,
            env=merged(None),
        )  # fmt: skip
        return None if done.returncode == 0 else done.stderr.strip()

    def fetch(self, host):
        run = [self.weir, "run", "-s", str(self.settings), "--audit", str(self.audit)]
        curl = ["curl", "-sS", "--cacert", self.ca, f"https://{host}/"]
        return show([*self.prefix, *run, *curl],
                    f"weir run -s settings.json --audit audit.jsonl curl -sS https://{host}/")  # fmt: skip

    def close(self):
        self.server.close()
        self.pair.close()


SETTINGS = {"network": {"allowedDomains": ["*.example.test"], "deniedDomains": [DENIED]}}


def show_run(weir, folder, authority):
    """None when shown, else why not."""
    try:
        inside = Inside(weir, folder, authority)
    except (OSError, AssertionError) as error:
        return f"network namespaces cannot be made here: {error}"
    try:
        why = inside.works()
        if why:
            return why
        say(f"settings.json: {json.dumps(SETTINGS)}")
        say()
        say("1. A name that is allowed:")
        expect(inside.fetch(ALLOWED), True, "hello from outside")
        say("2. A name that is denied:")
        expect(inside.fetch(DENIED), False, "deny list")
        say(LURE_TEXT)
        expect(inside.fetch(LURED), False, "link-local address")
        show_audit(inside.audit, ["allow", "deny", "deny"])
        return None
    finally:
        inside.close()


def show_gateway(folder, authority):
    """The same by `weir gateway`. This host's own addresses are denied to every name but
    localhost, so that is the name which is allowed."""
    listener = servers.listen_on()
    context = authority.server_context(["localhost"])
    server = servers.serve_http(listener, {"*": b"hello from outside\n"}, context)
    names = dns.DnsServer({LURED: ["169.254.169.254"], DENIED: ["192.0.2.1"]})
    network = {"allowedDomains": [f"localhost:{server.port}", "*.example.test"],
               "deniedDomains": [DENIED]}  # fmt: skip
    tree = gateway.gateway_settings(folder, network, None, names, "file", None, None)
    say(f"gateway.json: {json.dumps(tree)}")
    proxy = gateway.Gateway(folder, tree)
    try:
        for number, host, ok, word in (
            ("1. A name that is allowed:", "localhost", True, "hello from outside"),
            ("2. A name that is denied:", DENIED, False, "deny list"),
            (LURE_TEXT, LURED, False, "link-local address"),
        ):
            say(number)
            url = f"https://{host}:{server.port}/"
            shown = f"curl -sSv -x http://127.0.0.1:{proxy.port} {url}"
            curl = ["curl", "-sSv", "--noproxy", "", "--cacert", authority.ca]
            expect(show([*curl, "-x", f"http://127.0.0.1:{proxy.port}", url], shown), ok, word)
        proxy.audit(3)
    finally:
        status = proxy.stop()
        server.close()
        names.close()
    if status != 0:
        failures.append(f"the gateway ended with {status}: {proxy.log()}")
    show_audit(folder / "audit.jsonl", ["allow", "deny", "deny"])


def main(weir, only_gateway=None):
    weir = str(pathlib.Path(weir).resolve())
    with tempfile.TemporaryDirectory(prefix="weir-demo-") as name:
        folder = pathlib.Path(name)
        authority = certs.Authority(folder)
        why = only_gateway and "it was not asked for"
        why = why or show_run(weir, folder, authority)
        if why:
            say(f"`weir run` cannot be shown here: {why}")
            say("so the same through `weir gateway`, the proxy alone:")
            say()
            gateway.weir_path = lambda: weir
            show_gateway(folder, authority)
    say()
    if failures:
        sys.exit(f"weir: the demo failed: {'; '.join(failures)}")
    say("weir: that is the main job. Next: README.md, \"Examples\"")


main(*sys.argv[1:])
