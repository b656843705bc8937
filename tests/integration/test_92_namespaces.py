"""No new namespace, no mount, no other root: EPERM, clone3 as if there were none."""

from support.sandbox import assert_refused, probe


def test_refused(box):
    results = probe(box, "namespaces")
    assert results.pop("clone3") == "ENOSYS"
    assert_refused(results, "EPERM", "EINVAL")  # EINVAL: a flag that no kernel knows
    bad = {n: r for n, r in results.items() if r != "EPERM" and "high bits" not in n}
    assert not bad


def test_the_prober_can(box):
    """The positive control: outside of Weir a user namespace can be made."""
    outside = probe(box, "namespaces", weirless=True) if box.who == "user" else None
    assert outside is None or outside["unshare user"] == "open"


def test_programs_that_make_namespaces_say_so(box):
    done = box.sh("unshare -Ur true")
    assert done.returncode != 0 and "not permitted" in done.stderr.lower()
