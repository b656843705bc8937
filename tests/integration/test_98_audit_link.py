"""A command that may write where the audit file is could have put a link there, in an
earlier run: what it asks for would be written to a file of its choice, ~/.bashrc for one."""


def test_a_link_in_a_writable_folder(box):
    profile = box.write(".bashrc", "before\n", box.home)
    box.link("audit.jsonl", profile)
    box.link("logs", box.home)
    tree = {"filesystem": {"allowWrite": ["."]}}
    for name in ("audit.jsonl", "logs/.bashrc"):
        done = box.run("--audit", name, "touch", "ran", settings=tree)
        assert done.returncode == 125 and "leads through the link" in done.stderr, done.stderr
    assert profile.read_text() == "before\n" and not (box.work / "ran").exists()


def test_links_elsewhere_are_followed(box):
    """They are the user's, as is what /dev/fd leads to."""
    target = box.write("real.jsonl", "", box.home)
    link = box.link("audit.jsonl", target, box.home)
    tree = {"filesystem": {"allowWrite": ["."]}}
    assert box.run("--audit", link, "touch", "ran", settings=tree).returncode == 0
    assert (box.work / "ran").exists()
    done = box.run(
        "bash", "-c", f"{box.weir} run -q --audit >(cat) true", weirless=True
    )
    assert done.returncode == 0, done.stderr
