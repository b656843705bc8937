"""Packages for package managers, made on the spot: an npm registry and a Python index
of one package each, and a git repository to clone by plain files."""

import base64
import hashlib
import io
import json
import subprocess
import tarfile
import zipfile

NPM = "registry.example.test"
PYPI = "pypi.example.test"
GIT = "git.example.test"


def npm_routes():
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, text in (
            ("package.json", json.dumps({"name": "tiny", "version": "1.0.0"})),
            ("index.js", "module.exports = 'tiny works';\n"),
        ):
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    body = data.getvalue()
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(body).digest()).decode()
    version = {
        "name": "tiny", "version": "1.0.0",
        "dist": {"tarball": f"https://{NPM}/tiny/-/tiny-1.0.0.tgz",
                 "integrity": integrity},
    }  # fmt: skip
    packument = {
        "name": "tiny", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}
    }  # fmt: skip
    kind = {"Content-Type": "application/json"}
    return {
        "/tiny": (200, kind, json.dumps(packument).encode()),
        "/tiny/-/tiny-1.0.0.tgz": (200, {}, body),
    }


def pypi_routes():
    data = io.BytesIO()
    info = "tiny-1.0.dist-info"
    with zipfile.ZipFile(data, "w") as wheel:
        wheel.writestr("tiny.py", "TEXT = 'tiny works'\n")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny\n"
                       "Version: 1.0\n")  # fmt: skip
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: weir\n"
                       "Root-Is-Purelib: true\nTag: py3-none-any\n")  # fmt: skip
        wheel.writestr(f"{info}/RECORD", "")
    name = "tiny-1.0-py3-none-any.whl"
    page = f'<!DOCTYPE html><html><body><a href="/files/{name}">{name}</a></body></html>'
    return {
        "/simple/tiny/": (200, {"Content-Type": "text/html"}, page.encode()),
        f"/files/{name}": (200, {}, data.getvalue()),
    }


def git_routes(folder):
    """A repository with one file `hello`, as files of git's plain protocol."""
    work, bare = folder / "work", folder / "repo.git"
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.test"]
    (work).mkdir(parents=True)
    (work / "hello").write_text("hello from git\n")
    for command in (
        ["init", "-q", "-b", "main", str(work)],
        ["-C", str(work), "add", "hello"],
        ["-C", str(work), *identity, "commit", "-q", "-m", "first"],
        ["clone", "-q", "--bare", str(work), str(bare)],
        ["-C", str(bare), "update-server-info"],
    ):
        subprocess.run(["git", *command], check=True, stdin=subprocess.DEVNULL)
    return {
        f"/repo.git/{path.relative_to(bare)}": path.read_bytes()
        for path in bare.rglob("*")
        if path.is_file()
    }


def by_host(tables):
    """One route for all: looks at the Host, then in that host's table."""

    def route(handler):
        host = handler.headers.get("Host", "").split(":")[0].lower().rstrip(".")
        path = handler.path.split("?")[0]
        answer = tables.get(host, {}).get(path, (404, {}, b"no such path\n"))
        answer = answer(handler) if callable(answer) else answer
        status, headers, body = (200, {}, answer) if isinstance(answer, bytes) else answer
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return {"*": route}
