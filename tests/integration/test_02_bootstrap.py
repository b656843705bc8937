"""bootstrap.sh and its helpers, as far as they can be tried without a new machine (which
test_01_distros_long.py does)."""

import os
import pathlib
import shutil
import subprocess

import pytest
from support.program import SOURCE

BOOTSTRAP = SOURCE / "bootstrap.sh"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def run(*args, env=None):
    return subprocess.run(
        args, capture_output=True, text=True, stdin=subprocess.DEVNULL,
        env={**os.environ, **(env or {})}, timeout=60,
    )  # fmt: skip


@pytest.fixture
def machine(tmp_path):
    """machine({path under /etc/apt: text}) returns what next_release.py makes of it."""

    def make(files, release="ID=debian\nVERSION_CODENAME=bookworm\n"):
        apt = tmp_path / "etc/apt"
        (apt / "sources.list.d").mkdir(parents=True)
        (tmp_path / "etc/os-release").write_text(release)
        for name, text in files.items():
            (apt / name).write_text(text)
        out = tmp_path / "out"
        out.mkdir()
        done = run("python3", SOURCE / "cmake/next_release.py", "trixie", out,
                   env={"WEIR_APT_ROOT": str(tmp_path)})  # fmt: skip
        made = {path.name: path.read_text() for path in out.iterdir()}
        return done, made

    return make


def test_one_line_sources_keep_options_and_lose_other_suites(machine):
    done, made = machine({
        "sources.list": f"""
deb [arch=amd64 signed-by={KEYRING}] http://mirror.test/debian bookworm main contrib # x
deb-src http://mirror.test/debian bookworm main
# deb http://old.test/debian bookworm main
deb http://mirror.test/debian bookworm-updates main
deb http://security.test/debian-security bookworm-security main
""",
        "sources.list.d/other.list": "deb http://cloud.test/apt cloud-bookworm main\n"
        "deb [signed-by=/etc/apt/keyrings/tool.gpg] http://tool.test bookworm main\n"
        "deb http://docker.test/debian bookworm stable\n",
    })  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert made == {
        "next.list": f"deb [arch=amd64 signed-by={KEYRING}] http://mirror.test/debian"
        " trixie main\n"
    }


def test_stanzas_keep_their_fields_and_the_disabled_are_skipped(machine):
    done, made = machine({
        "sources.list.d/debian.sources": f"""Types: deb deb-src
# a comment is no separator
URIs: http://mirror.test/debian
Suites: bookworm bookworm-updates
Components: main non-free-firmware
Signed-By: {KEYRING}

Types: deb
URIs: http://security.test/debian-security
Suites: bookworm-security
Components: main
Signed-By: {KEYRING}
""",
        "sources.list.d/off.sources": "Enabled: no\nTypes: deb\nURIs: http://off.test/\n"
        "Suites: bookworm\nComponents: main\n",
        "sources.list.d/node.sources": "Types: deb\nURIs: http://node.test/\n"
        "Suites: nodistro\nComponents: main\n",
    })  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert list(made) == ["next.sources"]
    assert made["next.sources"].strip().splitlines() == [
        "Types: deb",
        "Uris: http://mirror.test/debian",
        "Suites: trixie",
        "Components: main",
        f"Signed-By: {KEYRING}",
    ]


def test_a_private_mirror_with_its_own_key_is_taken_when_it_is_all_there_is(machine):
    done, made = machine({
        "sources.list.d/mirror.sources": "Types: deb\nURIs: http://mirror.test/\n"
        "Suites: bookworm\nComponents: main\nSigned-By:\n -----BEGIN PGP-----\n .\n x\n",
    })  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Signed-By: \n -----BEGIN PGP-----\n .\n x\n" in made["next.sources"]


def test_a_machine_without_a_usable_source_is_told(machine):
    done, made = machine({"sources.list": "deb http://x.test/ nodistro main\n"})
    assert done.returncode != 0 and "bookworm" in done.stderr
    assert made == {}


def test_an_unknown_verb_is_an_error_that_shows_the_verbs():
    done = run("bash", BOOTSTRAP, "tset")
    assert done.returncode == 1
    assert 'unknown verb "tset"' in done.stderr and "test --long" in done.stderr
    assert run("bash", BOOTSTRAP, "help").returncode == 0


@pytest.mark.parametrize("args", [("demo", "x"), ("build", "x"), ("install", "/p", "x"),
                                  ("uninstall", "/p", "x"), ("test", "x")])  # fmt: skip
def test_what_a_verb_does_not_take_is_refused(args):
    done = run("bash", BOOTSTRAP, *args)
    assert done.returncode == 1 and f'{args[0]}: ' in done.stderr and '"x"' in done.stderr


def test_a_relative_prefix_starts_where_the_caller_is(tmp_path):
    done = run("sh", "-c", f"cd {tmp_path} && exec bash {BOOTSTRAP} uninstall over/there")
    assert done.returncode == 1 and f"{tmp_path}/over/there/share" in done.stderr


def test_a_clone_that_cannot_be_written_is_told(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root: it mounts the sources read-only")
    done = run("unshare", "-m", "sh", "-c",
               f"mount --bind {SOURCE} {tmp_path} && mount -o remount,bind,ro {tmp_path} && "
               f"exec bash {tmp_path}/bootstrap.sh")  # fmt: skip
    assert done.returncode == 1
    assert f"cannot write in {tmp_path}" in done.stderr


def test_install_copies_and_uninstall_leaves_nothing(tmp_path):
    build = pathlib.Path(os.environ["WEIR"]).parent
    prefix = tmp_path / "prefix"
    copied = tmp_path / "build"
    # The build folder is shared with tests that run at the same time.
    done = run("cmake", "-S", SOURCE, "-B", copied, "-G", "Ninja", "-DWEIR_TESTS=OFF")
    assert done.returncode == 0, done.stderr
    (copied / "weir").write_bytes((build / "weir").read_bytes())
    (copied / "weir").chmod(0o755)
    done = run("cmake", "--install", copied, "--prefix", prefix)
    assert done.returncode == 0, done.stderr
    assert os.access(prefix / "bin/weir", os.X_OK)
    unit = (prefix / "lib/systemd/system/weir.service").read_text()
    assert f"ExecStart={prefix}/bin/weir gateway -f" in unit
    for path in ("share/man/man1/weir.1", "share/doc/weir/README.md",
                 "lib/systemd/system/weir.socket"):  # fmt: skip
        assert (prefix / path).stat().st_size > 0
    (prefix / "share/man/man1/other.1").write_text("somebody else's")
    done = run("sh", SOURCE / "cmake/uninstall.sh", prefix)
    assert done.returncode == 0, done.stderr
    left = [path for path in prefix.rglob("*") if not path.is_dir()]
    assert left == [prefix / "share/man/man1/other.1"]
    assert not (prefix / "share/weir").exists()
    assert run("sh", SOURCE / "cmake/uninstall.sh", prefix).returncode == 1


def test_the_systemd_unit_is_one(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed")
    text = (SOURCE / "proxy/data/weir.service.in").read_text()
    unit = tmp_path / "weir.service"
    unit.write_text(text.replace("@WEIR_BINARY@", "/bin/true"))
    socket = tmp_path / "weir.socket"
    socket.write_text((SOURCE / "proxy/data/weir.socket").read_text())
    done = run("systemd-analyze", "verify", "--man=no", unit, socket)
    assert done.returncode == 0 and not done.stderr, done.stderr
