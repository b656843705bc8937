"""Handed cases inside `weir run` that no other file has: which variables lead which
program to the proxy (PRO), and what a sandbox does not open by itself (SBX).

Needs root for those with names: a hosts file is mounted and namespaces are made.
"""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess

import pytest

from support import servers, world
from support.doorway import head

API = "api.example.test"
ALLOWED = {"allowedDomains": [f"{API}:{port}" for port in (80, 443, 50051)]}
PYTHON = "/usr/bin/python3"
PROXY = "http://127.0.0.1:3128"
BYTES = pathlib.Path(__file__).resolve().parents[1] / "data/bytes"


def needs(program):
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"needs {program}")
    return path


class Site:
    def __init__(self, authority):
        self.world = world.World(authority, [API])
        context = authority.server_context([API])
        b = self.world.pair.b
        self.servers = [
            servers.serve_http(
                servers.listen_on(world.SERVER, 443, b), {"*": b"hello from the api\n"},
                context
            ),
            servers.serve_http(
                servers.listen_on(world.SERVER, 80, b), {"*": b"hello from the api\n"}
            ),
            servers.serve(servers.listen_on(world.SERVER, 50051, b), servers.echo),
        ]

    def run(self, mode, argv, env=None):
        return self.world.run(mode, ALLOWED, argv, env)

    def close(self):
        for server in self.servers:
            server.close()
        self.world.close()


@pytest.fixture(scope="module")
def site(authority):
    if os.geteuid() != 0:
        pytest.skip("needs root: mounts a hosts file and makes namespaces")
    try:
        place = Site(authority)
    except (OSError, AssertionError) as error:
        pytest.skip(f"network namespaces cannot be made here: {error}")
    yield place
    place.close()


@pytest.fixture(params=["run", "run-as-user"])
def mode(request):
    return request.param


def environment(site, mode, env=None):
    done = site.run(mode, ["env", "-0"], env)
    assert done.returncode == 0, done.stderr
    return dict(entry.split("=", 1) for entry in done.stdout.split("\0") if entry)


def test_PRO_10_all_proxy_is_http(site, mode):
    """requests fails at construction over a SOCKS URL without its optional modules."""
    code = (
        f"import requests\nfor scheme in ('https', 'http'):\n"
        f"    print(requests.get(scheme + '://{API}/').text)"
    )
    if subprocess.run([PYTHON, "-c", "import requests"], capture_output=True).returncode:
        pytest.skip("needs requests (Debian package python3-requests)")
    done = site.run(mode, [PYTHON, "-c", code])
    assert done.stdout.count("hello from the api") == 2, done.stderr
    env = {"ALL_PROXY": "socks5h://x", "all_proxy": "socks5://y"}
    values = environment(site, mode, env)
    assert values["ALL_PROXY"] == values["all_proxy"] == PROXY
    assert not [name for name, value in values.items() if "socks" in value]


def test_PRO_12_grpc_proxy_is_http_and_http2_passes(site, mode):
    values = environment(site, mode, {"grpc_proxy": "socks5h://localhost:1"})
    assert values["grpc_proxy"] == values["GRPC_PROXY"] == PROXY
    code = (
        "import os, socket, urllib.parse as u\n"
        "s = socket.create_connection(u.urlsplit(os.environ['grpc_proxy']).netloc.split(':'))\n"
        f"s.sendall(b'CONNECT {API}:50051 HTTP/1.1\\r\\n\\r\\n')\n"
        "head = b''\n"
        "while b'\\r\\n\\r\\n' not in head: head += s.recv(1)\n"
        "sent = b'PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n'\n"
        "s.sendall(sent); s.shutdown(1); got = b''\n"
        "while piece := s.recv(99): got += piece\n"
        "print(head.split()[1], got == sent)"
    )
    done = site.run(mode, [PYTHON, "-c", code])
    assert done.stdout == "b'200' True\n", done.stderr


def test_PRO_13_node_is_told_and_starts(site, mode):
    """Versions that do not know the variable ignore it. Nothing of ours is an option,
    which an old one would refuse to start with."""
    node = needs("node")
    values = environment(site, mode)
    assert values["NODE_USE_ENV_PROXY"] == "1" and "NODE_OPTIONS" not in values
    done = site.run(mode, [node, "--version"])
    assert done.returncode == 0 and done.stdout.startswith("v")
    code = f"fetch('https://{API}/').then(r => r.text()).then(console.log)"
    done = site.run(mode, [node, "-e", code])
    version = tuple(map(int, re.findall(r"\d+", os.popen(f"{node} --version").read())))
    if version >= (22, 21):
        assert "hello from the api" in done.stdout, done.stderr
    else:
        assert done.returncode != 0 and "hello" not in done.stdout


def test_PRO_16_java_is_told_by_properties(site, mode):
    """The user's own options stay."""
    java, keytool = needs("java"), needs("keytool")
    store = site.world.folder / f"trust-{mode}.p12"
    subprocess.run(
        [keytool, "-importcert", "-noprompt", "-alias", "ca", "-file", site.world.ca,
         "-keystore", str(store), "-storepass", "changeit"], check=True,
         capture_output=True,
    )  # fmt: skip
    store.chmod(0o644)
    source = site.world.work / "Show.java"
    source.write_text(
        "public class Show { public static void main(String[] a) throws Exception {"
        f'java.io.InputStream in = new java.net.URL("https://{API}/").openStream();'
        'System.out.print(new String(in.readAllBytes()) + System.getProperty("user.x")); } }'
    )
    env = {"JAVA_TOOL_OPTIONS": f"-Duser.x=1 -Djavax.net.ssl.trustStore={store} "
           "-Djavax.net.ssl.trustStorePassword=changeit"}  # fmt: skip
    done = site.run(mode, [java, str(source)], env)
    assert done.stdout == "hello from the api\n1", done.stderr
    assert "Picked up JAVA_TOOL_OPTIONS: -Duser.x=1" in done.stderr


@pytest.mark.parametrize("argv", [["curl", "-sS"], ["wget", "-qO-"]], ids=lambda a: a[0])
@pytest.mark.parametrize("given", ["HTTPS_PROXY", "https_proxy", "nothing"])
def test_PRO_17_upper_and_lower_case(site, mode, argv, given):
    """Whatever the caller had set, and in whichever case the program looks. For weir
    itself that is a parent proxy, which is not for this host."""
    env = {given: "http://elsewhere.example:1", "NO_PROXY": API}
    more = ["--ca-certificate", site.world.ca] if argv[0] == "wget" else []
    done = site.run(mode, [needs(argv[0]), *argv[1:], *more, f"https://{API}/"], env)
    assert done.stdout == "hello from the api\n", done.stderr
    values = environment(site, mode, env)
    for name in ("http", "https", "all", "no", "ftp"):
        upper, lower = values[f"{name.upper()}_PROXY"], values[f"{name}_proxy"]
        assert upper == lower and (name == "no" or upper == PROXY)


def test_PRO_34_each_variable_holds_what_its_tool_takes(site, mode):
    env = {"CLOUDSDK_PROXY_TYPE": "https", "RSYNC_PROXY": "http://localhost:1"}
    values = environment(site, mode, env)
    assert values["RSYNC_PROXY"] == "127.0.0.1:3128" and values["CLOUDSDK_PROXY_TYPE"] == "http"
    code = (
        "import os, socket\n"
        "s = socket.create_connection(os.environ['RSYNC_PROXY'].split(':'))\n"
        f"s.sendall(b'CONNECT {API}:50051 HTTP/1.0\\r\\n\\r\\n')\n"
        "print(s.recv(99).split(b'\\r\\n')[0].decode())"
    )
    done = site.run(mode, [PYTHON, "-c", code], env)
    assert done.stdout.startswith("HTTP/1.1 200 "), done.stderr
    if gcloud := shutil.which("gcloud"):
        config = {"CLOUDSDK_CONFIG": str(site.world.work / f"gcloud-{mode}"), **env}
        done = site.run(mode, [gcloud, "config", "list"], config)
        assert "not valid" not in done.stdout + done.stderr, done.stderr


def test_PRO_30_who_refused(site, mode):
    """Once, on stderr, with the way to allow it; git says so by itself as well."""
    for argv in (["curl", "-sS", "https://denied.test/"],
                 ["git", "ls-remote", "https://denied.test/r"]):  # fmt: skip
        done = site.run(mode, [needs(argv[0]), *argv[1:]])
        assert done.returncode != 0 and done.stdout == ""
        assert "403" in done.stderr
        ours = [line for line in done.stderr.splitlines() if line.startswith("weir: ")]
        told = [line for line in ours if "denied.test:443" in line and "denied 1" in line]
        assert len(told) == 1, done.stderr
        assert any("allow" in line and "denied.test:443" in line for line in ours), ours


ASK = """
import socket, sys
for line in sys.stdin:
    s = socket.create_connection(("127.0.0.1", 3128), 20)
    s.sendall(bytes.fromhex(line)); said = b""
    while piece := s.recv(65536): said += piece
    print(said[:12].decode())
"""


def test_BYP_11_inside_as_outside(box):
    """One core: the bytes that the gateway refuses are refused inside, each in a line."""
    malformed = [file.read_bytes() for file in sorted(BYTES.glob("BYP-11-*"))]
    hosts = ("127.1", "0x7f.1", "a%2etest", "a.test..", "[a.test]")
    malformed += [head(f"{host}:443") for host in hosts]
    malformed += [b"PRI * HTTP/2.0\r\n\r\n"]
    malformed += [head("a.test:443", "Content-Length: 4")]
    hosts = ("evil.test", "A.TEST.", "127.0.0.1", "[::ffff:7f00:1]")
    denied = [head(f"{host}:443") for host in hosts]
    settings = {"network": {"allowedDomains": ["github.com"], "deniedDomains": ["a.test"]}}
    audit = box.work / "audit.jsonl"
    lines = "".join(data.hex() + "\n" for data in [*malformed, *denied])
    done = box.run("--audit", audit, PYTHON, "-c", ASK, settings=settings, input=lines)
    expected = ["HTTP/1.1 400"] * len(malformed) + ["HTTP/1.1 403"] * len(denied)
    assert done.stdout.splitlines() == expected, done.stderr
    events = [json.loads(line) for line in audit.read_text().splitlines()]
    assert [event["verdict"] for event in events] == ["deny"] * len(expected)


def test_SBX_26_a_server_inside_is_seen_by_nobody_outside(box):
    """Also one that binds every address; reaching it on purpose comes later."""
    code = (
        "import socket, sys\n"
        "s = [socket.create_server(('0.0.0.0', 0)), socket.create_server(('127.0.0.1', 0))]\n"
        "print(*[x.getsockname()[1] for x in s], flush=True)\n"
        "sys.stdin.read()"
    )
    process = box.popen(PYTHON, "-c", code, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE, text=True)  # fmt: skip
    try:
        line = process.stdout.readline()
        if not line:
            pytest.skip(f"no sandbox can be made here: {process.stderr.read()}")
        for port in map(int, line.split()):
            with socket.socket() as sock:
                assert sock.connect_ex(("127.0.0.1", port)) != 0
    finally:
        process.communicate("", timeout=60)
    assert process.returncode == 0


def test_SBX_27_a_file_that_may_be_written_is_written_in_place(box):
    """It cannot be replaced, and says so; what it holds is never half of anything. The
    folder has to be listed for that, which opens all that is in it."""
    tool = box.write(".tool.json", "{}", box.home)
    settings = {"filesystem": {"denyRead": [], "allowWrite": ["~/.tool.json"]}}
    replace = (
        "import os, sys\n"
        "p = os.path.expanduser('~/.tool.json')\n"
        "def tried(f):\n"
        "    try: f()\n"
        "    except OSError as e: print(e.strerror)\n"
        "tried(lambda: open(p + '.tmp', 'w').write('new'))\n"
        "tmp = os.environ['TMPDIR'] + '/tmp'; open(tmp, 'w').write('new')\n"
        "tried(lambda: os.replace(tmp, p)); tried(lambda: os.rename(p, p + '2'))\n"
        "tried(lambda: os.unlink(p)); print(open(p).read())\n"
        "open(p, 'w').write('in place')"
    )
    done = box.run(PYTHON, "-c", replace, settings=settings)
    assert done.stdout.splitlines() == [
        "Read-only file system", "Invalid cross-device link", "Read-only file system",
        "Read-only file system", "{}",
    ]  # fmt: skip
    assert tool.read_text() == "in place"
    assert [path.name for path in box.home.iterdir()] == [".tool.json"]

    folder = box.folder("tool", box.home)
    settings["filesystem"]["allowWrite"] = ["~/tool"]
    script = "cd ~/tool && echo new > t.tmp && mv t.tmp t.json; touch ~/x"
    box.sh(script, settings=settings)
    assert (folder / "t.json").read_text() == "new\n" and not (box.home / "x").exists()


def test_SBX_21_no_unix_sockets_yet(box):
    """Refused as a whole until those made inside can be told from the host's."""
    done = box.python("import socket; socket.socket(socket.AF_UNIX)")
    assert done.returncode == 1 and "Address family not supported" in done.stderr
    done = box.python("import socket; a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))")
    assert done.stdout == "b'x'\n"


def patterns_start_nothing(box, key, pattern):
    more = {} if key == "allowWrite" else {"allowWrite": ["."]}
    tree = {"filesystem": {key: [pattern], **more}}
    done = box.sh("touch ran", settings=tree)
    assert done.returncode == 125 and pattern in done.stderr, (pattern, done.stderr)
    assert f"filesystem.{key}[0]" in done.stderr and not (box.work / "ran").exists()


def test_CFG_16_patterns_are_refused_by_name(box):
    """Whoever lists *.pem must not believe that it is closed."""
    box.write("a.key")
    for pattern in ("*.pem", "*.key", "**/kubeconfig", "*-secret.yaml", "~/.*rc",
                    "id_[rd]sa"):
        for key in ("denyRead", "denyWrite"):
            patterns_start_nothing(box, key, pattern)


def test_SBX_34_no_tree_is_walked(box):
    """A pattern over everything is refused before anything is looked at."""
    os.mkfifo(box.work / "fifo")
    box.link("loop", ".")
    for pattern in ("**/.env", "/**/.env", "~/**/.env", "loop/**/.env"):
        patterns_start_nothing(box, "denyRead", pattern)
