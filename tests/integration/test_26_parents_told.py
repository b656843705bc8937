"""Parent proxies of `weir run`, and what `weir check` says of them."""

import json

from support.parent import LIST, NAME, through


CHECKED = "which gets an address that was checked"
UNCHECKED = "which resolves the name: its addresses are not checked"


def check(weir, tmp_path, network, *args, env=None):
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"network": network}))
    return weir("check", "-s", path, *args, env=env)


def test_check_says_which_way(weir, tmp_path):
    network = through("http://u:secret@p.test:3128", noProxy="near.test")
    done = check(weir, tmp_path, network, "a.test")
    assert done.returncode == 0
    assert f"via parent http://p.test:3128, {UNCHECKED}" in done.stdout
    assert "secret" not in done.stdout + done.stderr
    assert "via" not in check(weir, tmp_path, network, "near.test").stdout
    local = check(weir, tmp_path, {**network, "parentProxy": {
        "http": "socks5://p.test", "resolve": "local"}}, "a.test")  # fmt: skip
    assert f"via parent socks5://p.test:1080, {CHECKED}" in local.stdout
    split = {"allowedDomains": LIST, "parentProxy": {"https": "http://p.test"}}
    assert "via parent" in check(weir, tmp_path, split, "https://a.test").stdout
    plain = check(weir, tmp_path, split, "http://a.test")
    assert "via parent" not in plain.stdout and "go directly" in plain.stderr


def test_check_says_what_would_not_be_checked(weir, tmp_path):
    network = {**through("http://p.test"), "privateAddresses": "deny"}
    done = check(weir, tmp_path, network, "a.test")
    assert done.returncode == 1
    assert "every name that goes through the parent proxy http://p.test:80 is" in done.stderr
    assert f"{tmp_path}/settings.json: network: " in done.stderr
    assert "(address-unchecked), network.privateAddresses" in done.stdout
    assert 'to allow it: have "resolve": "local" in network.parentProxy of' in done.stdout
    answer = json.loads(check(weir, tmp_path, network, "--json", "a.test").stdout)
    assert answer["via"] == "http://p.test:80" and answer["addressesChecked"] is False
    assert answer["reason"] == "address-unchecked"


def test_check_reads_the_environment_as_run_does(weir, tmp_path):
    env = {name: None for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
           "http_proxy", "https_proxy", "all_proxy", "no_proxy")}  # fmt: skip
    env["HTTPS_PROXY"] = "proxy.test:3128"
    env["no_proxy"] = "near.test"
    network = {"allowedDomains": LIST}
    done = check(weir, tmp_path, network, "a.test", "near.test", env=env)
    assert done.stdout.count("via parent http://proxy.test:3128") == 1
    off = check(weir, tmp_path, {**network, "parentProxy": {}}, "a.test", env=env)
    assert "via" not in off.stdout
    env["HTTPS_PROXY"] = "gopher://u:secret@proxy.test"
    bad = check(weir, tmp_path, network, "a.test", env=env)
    assert bad.returncode == 2 and "HTTPS_PROXY" in bad.stderr
    assert "secret" not in bad.stderr


def test_run_through_the_parent_of_the_environment(box, parent, origin):
    up = parent(to=origin.port, login="user:s3cret@")
    code = (
        "import os, socket\n"
        "s = socket.create_connection(('127.0.0.1', 3128))\n"
        f"s.sendall(b'CONNECT {NAME}:443 HTTP/1.1\\r\\nHost: {NAME}\\r\\n\\r\\n')\n"
        "data = b''\n"
        "while b'hello' not in data:\n"
        "    piece = s.recv(4096)\n"
        "    assert piece, data\n"
        "    data += piece\n"
        "print(os.environ['HTTPS_PROXY'])\n"
    )
    env = {"HTTPS_PROXY": up.url, "https_proxy": "http://x"}
    done = box.python(code, settings={"network": {"allowedDomains": LIST}}, env=env)
    assert (done.returncode, done.stdout) == (0, "http://127.0.0.1:3128\n"), done.stderr
    assert up.asked[0].startswith(f"CONNECT {NAME}:443 ")
    assert "Proxy-Authorization: Basic dXNlcjpzM2NyZXQ=" in up.asked[0]
    plan = box.run("--explain", "true", env=env)
    assert f"via        {up.name}" in plan.stdout and "s3cret" not in plan.stdout
