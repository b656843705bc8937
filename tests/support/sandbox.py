"""`weir run` as a test sees it: as root or as an ordinary user, in a folder of its own."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from .program import assert_sane, weir_path

USER = 4242  # no account has it; it stands for any user
PYTHON = "/usr/bin/python3"
# What a refusal for lack of namespaces looks like: then there is nothing to test here.
NO_NAMESPACES = ("cannot make namespaces", "cannot mount the sandbox's /proc")


def identities():
    """Who can run weir here: root runs it as both."""
    return ["root", "user"] if os.geteuid() == 0 else ["user"]


class Box:
    """A home, a folder to work in, and `run`.

    All lie in a folder that every user can reach, with a copy of the program: neither
    pytest's folders nor the checkout need be reachable for an ordinary user.
    """

    def __init__(self, who):
        self.who = who
        self.uid = USER if who == "user" and os.geteuid() == 0 else os.geteuid()
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="weir-test-"))
        self.top.chmod(0o755)
        self.weir = self.top / "bin" / "weir"
        self.home = self.folder("home")
        self.work = self.folder("work")
        self.weir.parent.mkdir()
        shutil.copy(weir_path(), self.weir)
        self.files = 0

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)

    def own(self, path):
        if self.uid != os.geteuid():
            os.chown(path, self.uid, self.uid, follow_symlinks=False)
        return path

    def folder(self, name, base=None):
        path = (base or self.top) / name
        missing = [p for p in (path, *path.parents) if not p.exists()]
        path.mkdir(parents=True, exist_ok=True)
        for made in missing:
            self.own(made)
        return path

    def write(self, name, text="", base=None):
        """A file of the user's, in the work folder unless `base` says otherwise."""
        path = (base or self.work) / name
        self.folder(path.parent)
        path.write_text(text)
        return self.own(path)

    def link(self, name, target, base=None):
        path = (base or self.work) / name
        path.symlink_to(target)
        return self.own(path)

    def settings(self, tree):
        """The path of a settings file that holds `tree`."""
        self.files += 1
        text = tree if isinstance(tree, str) else json.dumps(tree)
        return self.write(f"settings{self.files}.json", text, self.top)

    def become(self):
        if self.uid != os.geteuid():
            os.setgroups([])
            os.setgid(self.uid)
            os.setuid(self.uid)

    def environment(self, env=None):
        result = {"HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                result[name] = os.environ[name]
        result.update({k: str(v) for k, v in (env or {}).items() if v is not None})
        for name in [k for k, v in (env or {}).items() if v is None]:
            result.pop(name, None)
        return result

    def arguments(self, args, settings=None):
        options = [] if settings is None else ["-s", str(self.settings(settings))]
        return [str(self.weir), "run", *options, *map(str, args)]

    def popen(self, *args, settings=None, env=None, cwd=None, weirless=False, **more):
        """Starts `weir run ARGS`, or ARGS alone, as this user."""
        command = [*map(str, args)] if weirless else self.arguments(args, settings)
        return subprocess.Popen(
            command, env=self.environment(env), cwd=str(cwd or self.work),
            preexec_fn=self.become, **more,
        )  # fmt: skip

    def run(self, *args, settings=None, input=None, timeout=60, quiet=True, **more):
        """To its end, with output as text. `quiet`: the warnings are left out."""
        if quiet and not more.get("weirless"):
            args = ("-q", *args)
        process = self.popen(
            *args, settings=settings,
            stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
            start_new_session=True, **more,
        )  # fmt: skip
        try:
            out, err = process.communicate(input, timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"still running after {timeout} s: {out} {err}") from None
        assert_sane(err)
        if process.returncode == 125 and any(text in err for text in NO_NAMESPACES):
            pytest.skip(f"no sandbox can be made here: {err.strip()}")
        return subprocess.CompletedProcess(args, process.returncode, out, err)

    def sh(self, script, **more):
        return self.run("sh", "-c", script, **more)

    def python(self, code, *args, **more):
        return self.run(PYTHON, "-c", code, *args, **more)


def processes(word):
    """Process numbers, on the host, whose command line holds `word`."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if word.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def children(pid):
    """Children of a process, and theirs, parents first."""
    try:
        text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    direct = [int(word) for word in text.split()]
    return direct + [below for one in direct for below in children(one)]


PROBER = pathlib.Path(__file__).with_name("prober.py")


def probe(box, group, *args, **more):
    """What the attempts of a group of prober.py came to: {name: "open" or an error}."""
    done = box.run(PYTHON, "-c", PROBER.read_text(), group, *args, **more)
    assert done.returncode == 0, f"{done.returncode}: {done.stderr}"
    return json.loads(done.stdout)


def assert_refused(results, *errors):
    """Each attempt was refused, with one of these errors when any are given."""
    for name, result in results.items():
        assert result != "open", f"{name} is open: {results}"
        if errors:
            assert result in errors, f"{name}: {result}"
