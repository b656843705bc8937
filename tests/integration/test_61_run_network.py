"""Programs inside reach what is allowed, by the proxy, and nothing else; the summary and the
audit tell of it."""

import json
import shutil

import pytest

from support.wait import wait_until


def needs(program):
    return pytest.mark.skipif(not shutil.which(program), reason=f"{program} is not installed")


def allow(port, *more):
    """Loopback is opened by its literal address and port."""
    return ["--allow", f"127.0.0.1:{port}", *more]


@pytest.fixture
def web(https_server):
    return https_server(["127.0.0.1"], {"/": b"hello from inside\n"})


@needs("curl")
def test_curl(box, web):
    ca = box.write("ca.pem", open(web.ca).read())
    url = f"https://127.0.0.1:{web.port}/"
    # NO_PROXY names loopback; a service of the host on loopback is reached by the proxy.
    fetch = ["curl", "-sS", "--noproxy", "none.example", "--cacert", ca, url]
    done = box.run(*allow(web.port), *fetch, quiet=False)
    assert (done.stdout, done.stderr) == ("hello from inside\n", ""), done
    denied = box.run(*fetch, quiet=False)
    assert denied.returncode == 56 and "403" in denied.stderr
    assert f"denied 1 connection: 127.0.0.1:{web.port} is a loopback" in denied.stderr
    assert len(web.requests) == 1
    assert "denied" not in box.run(*fetch).stderr  # -q


@needs("curl")
def test_curl_plain_http(box, http_server):
    server = http_server({"/": b"hello"})
    fetch = ["curl", "-sS", "--noproxy", "none.example", "-f"]
    url = f"http://127.0.0.1:{server.port}/"
    for way in ([], ["-p"]):
        assert box.run(*allow(server.port), *fetch, *way, url).stdout == "hello"
    assert len(server.requests) == 2
    done = box.run(*fetch, url, quiet=False)
    assert done.returncode == 22 and f"127.0.0.1:{server.port}" in done.stderr
    assert len(server.requests) == 2


@needs("git")
def test_git(box, https_server, tmp_path):
    """A repository served as files, over TLS and by CONNECT."""
    source, bare = box.folder("source"), box.folder("bare.git")
    script = (
        f"cd {source} && git init -q && echo x > file && git add file && "
        "git -c user.name=a -c user.email=a@example.test commit -qm first && "
        f"git clone -q --bare . {bare} && cd {bare} && git update-server-info"
    )
    done = box.sh(script, weirless=True)
    assert done.returncode == 0, done.stderr
    routes = {
        f"/r.git/{path.relative_to(bare)}": path.read_bytes()
        for path in bare.rglob("*") if path.is_file()
    }  # fmt: skip
    server = https_server(["127.0.0.1"], routes)
    ca = box.write("ca.pem", open(server.ca).read())
    done = box.run(
        *allow(server.port), "-s", box.settings({"filesystem": {"allowWrite": ["."]}}),
        "git", "-c", f"http.sslCAInfo={ca}", "clone", "-q",
        f"https://127.0.0.1:{server.port}/r.git", "copy",
        env={"GIT_CONFIG_NOSYSTEM": "1"},
    )  # fmt: skip
    # git takes loopback for local (NO_PROXY) and then finds nobody there: it must be told.
    if done.returncode != 0:
        done = box.run(
            *allow(server.port), "-s", box.settings({"filesystem": {"allowWrite": ["."]}}),
            "sh", "-c", "unset NO_PROXY no_proxy; "
            f"exec git -c http.sslCAInfo={ca} clone -q https://127.0.0.1:{server.port}/r.git copy",
            env={"GIT_CONFIG_NOSYSTEM": "1"},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (box.work / "copy/file").read_text() == "x\n"


@needs("ssh")
def test_ssh_with_a_proxy_command(box, banner_server):
    """ssh starts for an ordinary user too, and speaks through CONNECT to whoever is allowed."""
    port = banner_server(b"SSH-2.0-test\r\n")
    code = (
        "import os, socket, sys, threading\n"
        "s = socket.create_connection(('127.0.0.1', 3128))\n"
        "s.sendall(f'CONNECT {sys.argv[1]}:{sys.argv[2]} HTTP/1.1\\r\\n"
        "Host: {sys.argv[1]}:{sys.argv[2]}\\r\\n\\r\\n'.encode())\n"
        "head = b''\n"
        "while not head.endswith(b'\\r\\n\\r\\n'): head += s.recv(1)\n"
        "sys.stderr.write(head.decode().splitlines()[0] + chr(10))\n"
        "os.write(1, s.recv(100))\n"
    )
    helper = box.write("connect.py", code)
    done = box.run(
        *allow(port), "ssh", "-F", "/dev/null", "-o", "BatchMode=yes", "-o",
        f"ProxyCommand=/usr/bin/python3 {helper} %h %p", "-p", str(port), "127.0.0.1",
        env={"SHELL": "/bin/sh"},
    )  # fmt: skip
    assert done.returncode == 255
    if "No user exists" in done.stderr:
        pytest.skip("ssh wants an account for the user that runs it")
    assert "HTTP/1.1 200" in done.stderr


@needs("node")
def test_node(box, web):
    ca = box.write("ca.pem", open(web.ca).read())
    code = (
        "const net = require('net'), tls = require('tls'), fs = require('fs');"
        f"const s = net.connect(3128, '127.0.0.1', () => s.write('CONNECT 127.0.0.1:{web.port} "
        f"HTTP/1.1\\r\\nHost: 127.0.0.1:{web.port}\\r\\n\\r\\n'));"
        "s.once('data', (d) => { console.log(String(d).split('\\r\\n')[0]);"
        f"const t = tls.connect({{socket: s, host: '127.0.0.1', ca: fs.readFileSync('{ca}')}}, () => "
        "t.write('GET / HTTP/1.0\\r\\n\\r\\n')); t.on('data', (d) => process.stdout.write(d)); });"
    )
    done = box.run(*allow(web.port), "node", "-e", code)
    assert "200" in done.stdout and "hello from inside" in done.stdout, done.stderr


def test_python(box, web):
    ca = box.write("ca.pem", open(web.ca).read())
    code = (
        "import ssl, sys, urllib.request as r\n"
        "r.proxy_bypass = lambda host: False\n"
        f"c = ssl.create_default_context(cafile='{ca}')\n"
        "print(r.build_opener(r.ProxyHandler({'https': 'http://127.0.0.1:3128'}), "
        "r.HTTPSHandler(context=c)).open(sys.argv[1]).read())"
    )
    url = f"https://127.0.0.1:{web.port}/"
    done = box.run(*allow(web.port), "/usr/bin/python3", "-c", code, url)
    assert "hello from inside" in done.stdout, done.stderr
    done = box.run("/usr/bin/python3", "-c", code, url)
    assert done.returncode != 0 and "403" in done.stderr


@needs("curl")
def test_pro_30_the_summary(box, web):
    """Counted, with reasons, on standard error only, and silent when asked."""
    tree = {
        "network": {"deniedDomains": ["bad.test"], "allowedDomains": ["a.test"]},
    }
    script = (
        "curl -s https://evil.test/; curl -s https://evil.test/; curl -s https://bad.test/; "
        "curl -s https://[2001:db8::1]/; true"
    )
    done = box.sh(script, settings=tree, quiet=False)
    assert done.stdout == "" and done.returncode == 0
    first, second = done.stderr.splitlines()
    assert first == (
        "weir: denied 4 connections: evil.test:443 is not on the allow list (2), "
        "bad.test:443 is on the deny list, "
        "[2001:db8::1]:443 is not on the allow list"
    )
    assert "--allow evil.test:443" in second and "settings1.json" in second
    assert box.sh(script, settings=tree).stderr == ""


@needs("curl")
def test_audit(box, web):
    ca = box.write("ca.pem", open(web.ca).read())
    audit = box.work / "audit.jsonl"
    url = f"https://127.0.0.1:{web.port}/"
    script = f"curl -sS --noproxy none.example --cacert {ca} {url}; curl -s https://evil.test/"
    box.run("--audit", audit, *allow(web.port), "-c", script)
    # A tunnel is recorded at its end, which the client does not wait for.
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    lines.sort(key=lambda line: line["verdict"])
    assert [line["verdict"] for line in lines] == ["allow", "deny"]
    assert lines[0]["rule"] == "--allow: network.allowedDomains[0]"
    assert lines[1]["reason"] == "not-on-allow-list" and lines[1]["host"] == "evil.test"
    assert all(line["session"].startswith("run-") for line in lines)
    assert audit.stat().st_mode & 0o777 == 0o600
    done = box.run("--audit", "-", "-c", "curl -s https://evil.test/; echo out")
    texts = done.stdout.splitlines()
    assert "out" in texts and any("not-on-allow-list" in text for text in texts)


@needs("curl")
def test_allow_adds_to_the_settings(box):
    tree = {"network": {"allowedDomains": ["a.test"], "deniedDomains": ["d.test"]}}
    done = box.run("--explain", "--allow", "b.test", "--allow", "d.test", "true", settings=tree)
    assert "a.test  (network.allowedDomains[0])" in done.stdout
    assert "b.test  (--allow)" in done.stdout
    done = box.run("--allow", "d.test", "curl", "-sS", "https://d.test/", settings=tree, quiet=False)
    assert "d.test:443 is on the deny list" in done.stderr


def test_a_server_inside_is_reached_inside(box):
    done = box.python(
        "import socket, threading\n"
        "l = socket.create_server(('127.0.0.1', 8000))\n"
        "c = socket.create_connection(('127.0.0.1', 8000))\n"
        "a, _ = l.accept(); a.send(b'x'); print(c.recv(1))"
    )
    assert done.stdout == "b'x'\n"


def test_the_commands_own_port_is_not_the_proxys(box):
    """The proxy's port is taken, and by nobody else."""
    done = box.python("import socket; socket.create_server(('127.0.0.1', 3128))")
    assert "Address already in use" in done.stderr


def test_tunnels_end_with_the_command(box, echo_server):
    """A tunnel that something in the background holds does not hold up the end."""
    port = echo_server()
    code = (
        "import socket, os, time\n"
        "s = socket.create_connection(('127.0.0.1', 3128))\n"
        f"s.sendall(b'CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')\n"
        "print(s.recv(12).decode())\n"
        "if os.fork() == 0: os.setsid(); time.sleep(300)"
    )
    audit = box.work / "audit.jsonl"
    done = box.run("--audit", audit, *allow(port), "/usr/bin/python3", "-c", code)
    assert done.stdout.startswith("HTTP/1.1 200"), done.stdout
    wait_until(lambda: audit.read_text().count("\n") == 1, 30, audit.read_text)
