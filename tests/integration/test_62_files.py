"""What the command may read and write: the handed cases, and the rules around them."""

import os
import subprocess

import pytest


def allow(*paths, **more):
    return {"filesystem": {"allowWrite": list(paths), **more}}


def git(box, *args, cwd=None, weirless=True):
    done = box.run(
        "git", "-c", "user.name=a", "-c", "user.email=a@example.test", *args,
        cwd=cwd, weirless=weirless, env={"GIT_CONFIG_NOSYSTEM": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- the handed cases


def test_sbx_01_no_ghost_files(box):
    git(box, "init", "-q")
    done = box.sh("ls -A; git status --porcelain", settings=allow("."), quiet=False)
    assert done.stdout == ".git\n"
    assert os.listdir(box.work) == [".git"]
    # Nothing is said before it matters, but to those who ask.
    assert done.stderr == ""
    done = box.run("--explain", "true", settings=allow("."))
    assert f"open       {box.work}/.bashrc  (is not there" in done.stdout
    assert f"{box.work}/.git/config  (is not there" not in done.stdout
    done = box.sh("echo x > .bashrc", settings=allow("."), quiet=False)
    assert f'made "{box.work}/.bashrc"' in done.stderr
    assert done.stderr.count("warning") == 1


def test_sbx_03_links(box):
    box.link(".bashrc", "/nonexistent/b")
    box.link(".gitconfig", "/etc/hostname")
    box.link("link", "real")
    box.write("real/.env", "SECRET")
    settings = allow(".", denyRead=["link/.env"])
    assert box.sh("echo ok", settings=settings).stdout == "ok\n"
    for script in ("cat real/.env", "cat link/.env", "rm .bashrc", "echo x > .bashrc",
                   "rm -f .bashrc; echo x > .bashrc", "ln -sfn other link",
                   "rm .gitconfig", "mv real other", "ln real/.env copy"):  # fmt: skip
        done = box.sh(script, settings=settings)
        assert done.returncode != 0 and "SECRET" not in done.stdout, script
    assert (box.work / "real/.env").read_text() == "SECRET"
    assert os.readlink(box.work / ".bashrc") == "/nonexistent/b"


def test_sbx_05_git_points_elsewhere(box):
    other = box.folder("other")
    git(box, "init", "-q", cwd=other)
    box.link(".git", str(other / ".git"))
    done = box.run("git", "status", "--porcelain", settings=allow("."))
    assert done.returncode == 0, done.stderr
    assert box.sh("rm .git", settings=allow(".")).returncode != 0


def test_sbx_05_a_link_is_retargeted(box):
    box.write("a", "A")
    box.write("b", "B")
    box.link("secret", "a")
    settings = allow(".", denyRead=["secret"])
    done = box.sh("cat secret; ln -sfn b secret; cat secret; cat a", settings=settings)
    assert done.stdout == ""
    assert os.readlink(box.work / "secret") == "a"


@pytest.mark.parametrize("relative", [False, True])
def test_sbx_06_a_worktree(box, relative):
    main, _ = box.folder("m"), box.folder("t")
    git(box, "init", "-q", cwd=main)
    git(box, "commit", "-q", "--allow-empty", "-m", "first", cwd=main)
    git(box, "worktree", "add", "-q", "../t/wt", cwd=main)
    tree = box.top / "t/wt"
    if relative:
        (tree / ".git").write_text("gitdir: ../../m/.git/worktrees/wt\n")
        (main / ".git/worktrees/wt/gitdir").write_text("../../../../t/wt/.git\n")
    done = box.run(
        "git", "-c", "user.name=a", "-c", "user.email=a@example.test", "commit",
        "--allow-empty", "-m", "x", cwd=tree, settings=allow("."),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for script in ("echo x > ../../m/.git/hooks/pre-commit", "echo x >> ../../m/.git/config",
                   "echo x > ../../m/file", "rm .git", "echo gitdir: /etc > .git"):  # fmt: skip
        assert box.sh(script, cwd=tree, settings=allow(".")).returncode != 0, script
    assert git(box, "log", "--oneline", cwd=tree).count("\n") == 2


def test_sbx_06_a_false_worktree_opens_nothing(box):
    """A `.git` file is the project's own word; the repository must say the same."""
    main = box.folder("m")
    git(box, "init", "-q", cwd=main)
    private = box.folder(".git/worktrees/wt", main)
    box.write("commondir", "../..\n", private)
    box.write(".git", f"gitdir: {private}\n")
    for gitdir in (None, f"{box.top}/elsewhere/.git\n"):
        if gitdir:
            box.write("gitdir", gitdir, private)
        done = box.sh(f"touch {main}/.git/objects/x", settings=allow("."))
        assert done.returncode != 0
    box.write("gitdir", f"{box.work}/.git\n", private)
    done = box.sh(f"touch {main}/.git/objects/x", settings=allow("."))
    assert done.returncode == 0, done.stderr


def test_sbx_06_a_submodule(box):
    library = box.folder("library")
    for folder in (library, box.work):
        git(box, "init", "-q", cwd=folder)
        git(box, "commit", "-q", "--allow-empty", "-m", "first", cwd=folder)
    done = box.run(
        "git", "-c", "protocol.file.allow=always", "submodule", "add", str(library), "lib",
        settings=allow(".", allowGitConfig=True),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_sbx_09_many_denied_files(box):
    big = box.folder("big")
    names = [f"big/{i}.parquet" for i in range(4000)]
    for name in names:
        box.write(name, "x", box.top)
    paths = [f"{box.top}/{name}" for name in names]
    done = box.sh(f"cat {big}/1.parquet {big}/3999.parquet; echo hello",
                  settings={"filesystem": {"denyRead": paths}})  # fmt: skip
    assert done.stdout == "hello\n", done.stderr
    whole = box.sh(f"ls {big}; cat {big}/1.parquet; echo hello",
                   settings={"filesystem": {"denyRead": [f"{big}/**"]}})  # fmt: skip
    assert whole.stdout == "hello\n"


def test_sbx_30_deny_inside_allow(box):
    box.write("secret.txt", "SECRET")
    tree = {"filesystem": {"denyRead": ["./secret.txt"], "allowRead": ["."],
                           "allowWrite": ["."]}}  # fmt: skip
    done = box.sh("pwd; cat secret.txt; touch n", settings=tree)
    assert done.stdout == f"{box.work}\n" and (box.work / "n").exists()


def test_sbx_30_deny_above(box):
    box.write("sibling/file", "SIBLING", box.top)
    box.write("here", "HERE")
    settings = box.settings(allow(".", denyRead=[".."]))
    settings.rename(box.home / "s.json")
    done = box.sh("pwd; cat here; touch n; ls ..; cat ../sibling/file; stat ../sibling",
                  env={}, settings=(box.home / "s.json").read_text())  # fmt: skip
    assert done.stdout == f"{box.work}\nHERE", done.stderr
    assert (box.work / "n").exists()
    assert "Permission denied" in done.stderr and "No such file" in done.stderr


def test_sbx_30_deny_the_working_folder(box):
    done = box.sh("touch n; echo ran", settings=allow(".", denyWrite=["."]))
    assert done.stdout == "ran\n" and "Read-only" in done.stderr
    done = box.sh("touch ran", settings={"filesystem": {"denyRead": ["."]}})
    assert done.returncode == 125 and "hides the current folder" in done.stderr


# ---- rules


def test_the_longest_path_decides(box):
    for name in ("a/b/c/d/file", "a/file"):
        box.write(name, name)
    tree = allow("a", "a/b/c", denyWrite=["a/b", "a/b/c/d"])
    done = box.sh(
        "for f in a a/b a/b/c a/b/c/d; do touch $f/new 2>/dev/null && echo $f; done",
        settings=tree,
    )
    assert done.stdout == "a\na/b/c\n"
    tree = {"filesystem": {"denyRead": ["a", "a/b/c/d"], "allowRead": ["a/b"]}}
    done = box.sh("cat a/file a/b/c/d/file; ls a; ls a/b/c", settings=tree)
    assert done.stdout == "d\nnew\n"


def test_a_write_into_what_is_hidden_fails(box):
    box.write("hidden/file", "x")
    done = box.sh("echo y > hidden/file; touch hidden/new; ls -ld hidden; echo y > hidden/z",
                  settings=allow(".", denyRead=["hidden"]))  # fmt: skip
    assert "Permission denied" in done.stderr
    assert os.listdir(box.work / "hidden") == ["file"]


def test_default_secrets(box):
    for name in (".ssh/id_rsa", ".aws/credentials", ".config/gh/hosts.yml", ".netrc",
                 ".npmrc", ".cargo/credentials.toml", ".kube/config"):  # fmt: skip
        box.write(name, "SECRET", box.home)
    box.write(".config/other", "open", box.home)
    done = box.sh(
        "cd; cat .ssh/id_rsa .aws/credentials .config/gh/hosts.yml .netrc .npmrc "
        ".cargo/credentials.toml .kube/config; cat .config/other"
    )
    assert done.stdout == "open"
    done = box.sh("cd; cat .netrc", settings={"filesystem": {"denyRead": []}})
    assert done.stdout == "SECRET"


def test_an_allow_that_loses_to_a_default_secret_is_told(box):
    box.write(".netrc", "SECRET", box.home)
    box.write(".ssh/known_hosts", "hosts", box.home)
    tree = {"filesystem": {"allowRead": ["/tmp", "~/.netrc", "~/.ssh/known_hosts"]}}
    done = box.sh("cat ~/.netrc; cat ~/.ssh/known_hosts", settings=tree, quiet=False)
    assert done.stdout == "hosts"  # below a secret an allow wins
    assert done.stderr.count("warning") == 1, done.stderr
    assert f'filesystem.allowRead[1]: "{box.home}/.netrc" stays hidden' in done.stderr
    assert "default secret" in done.stderr
    tree["filesystem"]["denyRead"] = []
    done = box.sh("cat ~/.netrc", settings=tree, quiet=False)
    assert (done.stdout, done.stderr) == ("SECRET", "")


@pytest.mark.parametrize("home", [None, "/nonexistent"])
def test_default_secrets_of_the_account(box, home):
    """HOME is often unset, or another's: under cron, in a container, after su."""
    if box.who != "root":
        pytest.skip("needs root: the test gives the account another home")
    box.write(".ssh/id_rsa", "SECRET", box.home)
    passwd = box.write("passwd", f"other:x:1:1::/:/x\nroot:x:0:0::{box.home}:/bin/sh\n", box.top)
    done = box.run(
        "unshare", "-m", "sh", "-c",
        f"mount --bind {passwd} /etc/passwd && exec {box.weir} run -q cat {box.home}/.ssh/id_rsa",
        env={"HOME": home}, weirless=True,
    )  # fmt: skip
    assert "SECRET" not in done.stdout and "Permission denied" in done.stderr


def test_by_default_only_the_temporary_folder_is_writable(box):
    done = box.sh("touch n || touch ~/n || touch /tmp/n || touch $TMPDIR/n && echo one")
    assert done.stdout == "one\n"
    assert not os.listdir(box.work) and not (box.home / "n").exists()
    found = box.sh("find / -xdev -writable -not -path '/proc/*' -type d 2>/dev/null | head")
    mounted = box.sh("find /dev -type d -exec touch {}/n \\; 2>/dev/null; find /dev -name n")
    assert mounted.stdout.split() == ["/dev/shm/n", "/dev/shm/tmp/n"]
    for path in found.stdout.split():
        assert box.sh(f"touch '{path}/weir-test-n'").returncode != 0, path


def test_spellings(box):
    box.write("with space/x")
    box.write("star*/x")
    box.write("plain/x")
    box.link("alias", "plain")
    literal = {"path": "star*", "literal": True}
    tree = allow("./with space/", literal, f"{box.work}/plain/../plain//", "~/out")
    box.folder("out", box.home)
    done = box.sh(
        "touch 'with space/n' 'star*/n' plain/n ~/out/n && echo all; touch n", settings=tree
    )
    assert done.stdout == "all\n" and not (box.work / "n").exists()


@pytest.mark.parametrize(
    ("filesystem", "words"),
    [
        ({"denyRead": ["**/*.pem"]}, "patterns"),
        ({"denyWrite": ["*.env"], "allowWrite": ["."]}, "patterns"),
        ({"allowWrite": ["build?"]}, "patterns"),
        ({"denyRead": ["absent"], "allowWrite": ["."]}, "does not exist"),
        ({"denyWrite": ["absent/deep"], "allowWrite": ["."]}, "does not exist"),
        ({"denyRead": ["/"]}, "cannot be hidden whole"),
        ({"denyRead": ["/proc/cpuinfo"]}, "/proc of its own"),
        ({"denyWrite": ["/dev/null"]}, "/dev of its own"),
        ({"allowWrite": ["/dev/sda"]}, "/dev of its own"),
        ({"allowWrite": ["/proc/self/mem"]}, "/proc of its own"),
        ({"allowWrite": ["/sys/fs/cgroup"]}, "/sys is never writable"),
        ({"denyRead": ["~nobody/x"]}, "~user"),
    ],
)
def test_what_cannot_be_enforced_is_refused(box, filesystem, words):
    done = box.sh("touch ran", settings={"filesystem": filesystem})
    assert done.returncode == 125 and words in done.stderr, done.stderr
    key = next(iter(filesystem))
    assert f"filesystem.{key}[0]" in done.stderr
    assert not (box.work / "ran").exists()


def test_an_absent_deny_that_holds_loads(box):
    done = box.sh("mkdir -p ~/.absent; ls -A ~", settings=allow(".", denyRead=["~/.absent"]),
                  quiet=False)  # fmt: skip
    assert done.stdout == "" and "~/.absent" in done.stderr
    assert not (box.home / ".absent").exists()


def test_an_absent_allow_is_told(box):
    done = box.sh("touch out", settings=allow("out"), quiet=False)
    assert "filesystem.allowWrite[0]" in done.stderr and "does not exist" in done.stderr
    assert "make it first" in done.stderr
    assert not (box.work / "out").exists()


def test_an_allow_through_a_writable_link_is_refused(box):
    """For the next run the command could turn it to anything."""
    out = box.folder("out")
    box.link("out", str(out))
    done = box.sh("true", settings=allow(".", "out"))
    assert done.returncode == 125 and "leads through a link" in done.stderr
    assert box.sh(f"touch {out}/n", settings=allow("out")).returncode == 0


def test_ancestors_cannot_be_moved_away(box):
    box.write("p/q/secret", "SECRET")
    box.write("p/q/r/s/config", "x")
    tree = allow(".", denyRead=["p/q/secret"], denyWrite=["p/q/r/s/config"])
    for script in ("mv p p2", "mv p/q p/q2", "mv p/q/r x", "rm -r p", "mv p/q/r/s s2",
                   "mv p/q/secret x", "rm p/q/secret", "python3 -c 'import os; os.rename(\"p\", \"x\")'",
                   "mkdir e; mv -T --exchange e p 2>/dev/null || mv -T e p"):  # fmt: skip
        assert box.sh(script, settings=tree).returncode != 0, script
    assert (box.work / "p/q/secret").read_text() == "SECRET"
    assert (box.work / "p/q/r/s/config").read_text() == "x"


def test_mandatory_names_in_a_writable_tree(box):
    git(box, "init", "-q", "sub/deep")
    names = [".bashrc", ".vscode/tasks.json", "sub/.mcp.json", "sub/deep/.git/config",
             "sub/deep/.git/hooks/pre-commit", ".claude/commands/x.md"]  # fmt: skip
    for name in names:
        if not (box.work / name).exists():
            box.write(name, "old")
    for name in names:
        done = box.sh(f"echo new >> {name}", settings=allow("."))
        assert done.returncode != 0, name
        assert "new" not in (box.work / name).read_text()
    assert box.sh("echo x > .claude/settings; echo x > sub/file", settings=allow(".")).returncode == 0
    tree = allow(".", allowGitConfig=True)
    assert box.sh("echo >> sub/deep/.git/config", settings=tree).returncode == 0
    assert box.sh("echo >> sub/deep/.git/hooks/x", settings=tree).returncode != 0
    # A longer allow does not lift what is mandatory.
    tree = allow(".", "sub/deep/.git/hooks/pre-commit", "sub/deep/.git/hooks")
    assert box.sh("echo >> sub/deep/.git/hooks/pre-commit", settings=tree).returncode != 0


def repository_with_submodules(box):
    """In box.work: submodules "lib" and "deep/lib", the first with one of its own."""
    leaf, library = box.folder("leaf"), box.folder("library")
    always = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    for folder in (leaf, library, box.work):
        git(box, "init", "-q", cwd=folder)
        git(box, "commit", "-q", "--allow-empty", "-m", "first", cwd=folder)
    git(box, *always, str(leaf), "nested", cwd=library)
    git(box, "commit", "-q", "-m", "nested", cwd=library)
    git(box, *always, str(library), "lib", cwd=box.work)
    git(box, *always, str(library), "deep/lib", cwd=box.work)
    git(box, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update",
        "--init", "--recursive", cwd=box.work)  # fmt: skip
    return [".git/modules/lib", ".git/modules/deep/lib", ".git/modules/lib/modules/nested"]


def test_submodules_are_kept(box):
    """Git runs the hooks of a submodule from there, and what its config names."""
    places = repository_with_submodules(box)
    for place in places:
        box.write(f"{place}/config.worktree", "old")
        for script in (f"echo '#!/bin/sh' > {place}/hooks/post-checkout",
                       f"echo >> {place}/config", f"rm {place}/config",
                       f"mv {place}/hooks {place}/old", f"mv {place} {place}.old",
                       f"echo x > {place}/config.worktree"):  # fmt: skip
            assert box.sh(script, settings=allow(".")).returncode != 0, script
        script = f"echo >> {place}/config && echo > {place}/config.worktree"
        done = box.sh(script, settings=allow(".", allowGitConfig=True))
        assert done.returncode == 0, done.stderr
        script = f"echo > {place}/hooks/post-checkout"
        done = box.sh(script, settings=allow(".", allowGitConfig=True))
        assert done.returncode != 0
        (box.work / place / "config.worktree").unlink()
    for folder in ("lib", "lib/nested", "deep/lib"):
        done = box.run(
            "git", "-c", "user.name=a", "-c", "user.email=a@example.test", "commit", "-q",
            "--allow-empty", "-m", "x", cwd=box.work / folder, settings=allow(str(box.work)),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr


def test_submodules_cannot_be_hidden(box):
    """What an earlier command made of a repository does not take it off the list."""
    place = box.work / repository_with_submodules(box)[1]
    done = box.sh("rm .git/modules/deep/lib/HEAD; touch .git/modules/deep/HEAD",
                  settings=allow("."))  # fmt: skip
    assert done.returncode == 0 and not (place / "HEAD").exists()
    for name in ("config", "hooks/post-checkout"):
        done = box.sh(f"echo x >> {place}/{name}", settings=allow("."))
        assert done.returncode != 0, name


def test_submodules_of_a_worktree(box):
    repository_with_submodules(box)
    git(box, "commit", "-q", "-m", "submodules", cwd=box.work)
    box.folder("t")
    git(box, "worktree", "add", "-q", "../t/wt", cwd=box.work)
    tree = box.top / "t/wt"
    git(box, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update",
        "--init", cwd=tree)  # fmt: skip
    common = box.work / ".git"
    for place in (common / "modules/lib", common / "worktrees/wt/modules/lib"):
        assert (place / "config").exists()
        for name in ("config", "hooks/post-checkout"):
            done = box.sh(f"echo x >> {place}/{name}", cwd=tree, settings=allow("."))
            assert done.returncode != 0, (place, name)
    done = box.sh(f"touch {common}/objects/x", cwd=tree, settings=allow("."))
    assert done.returncode == 0, done.stderr


def test_git_works_in_a_writable_tree(box):
    git(box, "init", "-q")
    box.write("file", "x")
    script = (
        "git add -A && git -c user.name=a -c user.email=a@example.test commit -qm x && "
        "git checkout -q -b other && git gc -q && git status --porcelain"
    )
    done = box.sh(script, settings=allow("."))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


# ---- Weir's own files


def test_own_files_are_kept(box):
    box.write(".config/weir/settings.json", "{}", box.home)
    box.write(".srt-settings.json", "{}", box.home)
    settings = box.write("mine.json", '{"filesystem": {"allowWrite": ["."]}}')
    audit = box.write("audit.jsonl")
    for path in (box.weir, box.weir.parent):
        box.own(path)
    top = {"filesystem": {"allowWrite": [str(box.top)]}}
    settings.write_text(__import__("json").dumps(top))
    paths = [settings, audit, box.weir, box.home / ".srt-settings.json",
             box.home / ".config/weir/settings.json"]  # fmt: skip
    before = [path.read_bytes() for path in paths]
    for path in paths:
        for script in (f"echo x >> {path}", f"rm -f {path}", f"mv {path} {path}2",
                       f"mv {path.parent} {path.parent}2", f"chmod 777 {path}",
                       f"cp /bin/true {box.top}/t && mv -f {box.top}/t {path}"):  # fmt: skip
            done = box.run("-s", settings, "--audit", audit, "sh", "-c", script)
            assert done.returncode not in (0, 125), (script, done.stderr)
    assert [path.read_bytes() for path in paths] == before


def test_absent_default_settings_cannot_be_made(box):
    done = box.sh("touch ran", settings=allow("~", "."))
    assert done.returncode == 125
    assert ".config/weir/settings.json" in done.stderr and "make that file first" in done.stderr
    assert os.listdir(box.home) == [] and not (box.work / "ran").exists()
    box.write(".config/weir/settings.json", "{}", box.home)
    assert box.sh("touch ~/ran", settings=allow("~")).returncode == 0
    assert box.sh("echo x > ~/.config/weir/settings.json", settings=allow("~")).returncode != 0


def test_everything_writable_still_keeps_the_kernel(box):
    box.write(".config/weir/settings.json", "{}", box.home)
    for filesystem in ({"allowWrite": ["/"]}, {"disabled": True}):
        done = box.sh(
            "touch n && echo wrote; touch /sys/x; echo x > /sys/kernel/uevent_helper; "
            "echo x > /proc/sys/kernel/core_pattern; echo x > ~/.config/weir/settings.json; "
            "find /sys -maxdepth 4 -type d -exec mkdir {}/weir-test \\; -exec echo made {} \\;",
            settings={"filesystem": filesystem},
        )
        assert done.stdout == "wrote\n", done.stdout + done.stderr
        (box.work / "n").unlink()


def test_a_replaced_folder_is_noticed(box):
    """What a path meant when it was looked at is what is mounted, or nothing is."""
    done = subprocess.run(
        ["sh", "-c", f"cd {box.work} && mkdir gone && cd gone && rmdir ../gone && {box.weir} run -q true"],
        env=box.environment(), preexec_fn=box.become, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 125 and "current folder" in done.stderr
