"""A mount goes with the file that it covers. When somebody outside puts another file in
its place, as git and editors do whenever they save, the new one is protected soon too."""

import os
import pathlib
import re
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).parents[2]

# Tries for at most 10 s, until the attempt fails; says how it ended.
INSIDE = """
import os, sys, time
print("ready", flush=True)
sys.stdin.readline()
def bare(action):
    for _ in range(1000):
        try:
            action()
        except OSError:
            return False
        time.sleep(0.01)
    return True
for path in sys.argv[1:]:
    read = path.startswith("read:")
    path = path.partition(":")[2]
    if bare(lambda: os.close(os.open(path, os.O_RDONLY if read else os.O_WRONLY))):
        print("BARE", path)
print("end")
"""


def too_many():
    """How many folders are too many to be watched by dnotify."""
    header = (ROOT / "launcher/namewatch.h").read_text()
    return 1 + int(re.search(r"NAMEWATCH_DESCRIPTORS = (\d+)", header).group(1))


@pytest.fixture(params=["few", "many"], autouse=True)
def folders(request, box):
    """In both ways of watching: many protected files in many folders make it inotify."""
    for i in range(too_many() if request.param == "many" else 0):
        box.write(f"crowd/{i}/.bashrc")
    return request.param


def saved(path, text):
    """By rename, as git does."""
    new = path.with_name("new")
    new.write_text(text)
    new.rename(path)


def moved_away(path, text):
    """The old file keeps its mount under another name, as some editors do."""
    path.rename(path.with_name(path.name + "~"))
    path.write_text(text)


def removed(path, text):
    path.unlink()
    path.write_text(text)


def folder_replaced(path, text):
    path.parent.rename(path.parent.with_name("old"))
    path.parent.mkdir()
    path.write_text(text)


def linked(path, text):
    other = path.with_name("other")
    other.write_text(text)
    path.unlink()
    os.link(other, path)


def exchange(box, settings, change, path, attempts):
    """What is bare at the end, after `change` was done outside while it ran."""
    process = box.popen("-q", "/usr/bin/python3", "-c", INSIDE, *attempts, settings=settings,
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    change(path, "NEW")
    for made in (path.parent, path):
        box.own(made)
    out, _ = process.communicate("\n", timeout=60)
    assert process.returncode == 0 and path.read_text() == "NEW"
    return out


@pytest.mark.parametrize("change", [saved, moved_away, removed, folder_replaced, linked])
def test_what_is_hidden(box, change):
    path = box.write("folder/secret", "SECRET")
    tree = {"filesystem": {"allowWrite": ["."], "denyRead": ["folder/secret"]}}
    assert exchange(box, tree, change, path, [f"read:{path}"]) == "end\n"


def test_default_secrets(box, folders):
    """git's own store of passwords is replaced whenever one is added."""
    path = box.write(".git-credentials", "SECRET", box.home)
    tree = {"filesystem": {"allowWrite": ["."]}} if folders == "many" else None
    assert exchange(box, tree, saved, path, [f"read:{path}"]) == "end\n"


@pytest.mark.parametrize("change", [saved, moved_away, removed, folder_replaced])
def test_what_is_kept(box, change):
    path = box.write(".git/config", "old")
    box.write(".git/hooks/hook", "old")
    tree = {"filesystem": {"allowWrite": ["."]}}
    assert exchange(box, tree, change, path, [f"write:{path}"]) == "end\n"


def test_a_hidden_folder(box):
    secret = box.write("secrets/key", "SECRET")
    tree = {"filesystem": {"allowWrite": ["."], "denyRead": ["secrets"]}}
    attempts = [f"read:{secret}", f"read:{box.work / 'old' / 'key'}"]
    assert exchange(box, tree, folder_replaced, secret, attempts) == "end\n"


def test_another_kind_of_thing(box):
    """A file where a hidden folder was, and the other way round."""
    secret = box.write("secrets/key", "SECRET")
    file = box.write("file", "SECRET")

    def turn(path, text):
        path.parent.rename(path.parent.with_name("old"))
        path.parent.write_text("SECRET")
        path.parent.rename(file.with_name("now"))
        file.unlink()
        file.mkdir()
        box.own(file)
        box.write("file/key", "SECRET")
        path.parent.mkdir()
        path.write_text(text)

    tree = {"filesystem": {"allowWrite": ["."], "denyRead": ["secrets", "file"]}}
    attempts = [f"read:{secret}", f"read:{file / 'key'}"]
    assert exchange(box, tree, turn, secret, attempts) == "end\n"


def test_many_times(box):
    path = box.write("secret", "SECRET")

    def often(path, text):
        for _ in range(2000):
            saved(path, text)

    tree = {"filesystem": {"allowWrite": ["."], "denyRead": ["secret"]}}
    assert exchange(box, tree, often, path, [f"read:{path}"]) == "end\n"


def test_a_folder_that_may_not_be_listed(box):
    """Its owner may still watch it, which the supervisor keeps up without any rights."""
    path = box.write("folder/secret", "SECRET")
    path.parent.chmod(0o311)

    def often(path, text):
        for _ in range(20):
            saved(path, text)
            box.own(path)
            time.sleep(0.02)  # so that they are noticed one by one

    tree = {"filesystem": {"allowWrite": ["."], "denyRead": ["folder/secret"]}}
    assert exchange(box, tree, often, path, [f"read:{path}"]) == "end\n"
