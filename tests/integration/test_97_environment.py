"""P12: programs that ignore or undo the proxy variables reach nothing. What makes programs
load code is taken out of the environment."""

import shutil

import pytest

curl = pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")


@curl
@pytest.mark.parametrize(
    "command",
    [
        "env -u HTTPS_PROXY -u https_proxy -u ALL_PROXY -u all_proxy curl -sS URL",
        "curl -sS --noproxy '*' URL",
        "NO_PROXY='*' no_proxy='*' curl -sS URL",
        "HTTPS_PROXY= https_proxy= ALL_PROXY= all_proxy= curl -sS URL",
        "curl -sS --connect-to ::127.0.0.1:PORT URL",
        "curl -sS --proxy http://127.0.0.1:PORT URL",
        "curl -sS --resolve evil.test:PORT:127.0.0.1 --noproxy '*' URL",
        "curl -sS --interface lo --noproxy '*' URL",
        "curl -sS --socks5-hostname 127.0.0.1:3128 URL",
    ],
)
def test_p12(box, https_server, command):
    server = https_server("evil.test")
    script = command.replace("URL", f"https://evil.test:{server.port}/").replace(
        "PORT", str(server.port)
    )
    done = box.sh(script + " --max-time 20")
    assert done.returncode != 0 and "hello" not in done.stdout
    assert server.requests == []


def test_what_loads_code_is_taken_out(box):
    planted = {
        "LD_PRELOAD": "", "LD_LIBRARY_PATH": "/x", "ld_audit": "/x", "DYLD_INSERT_LIBRARIES": "/x",
        "BASH_ENV": "/x", "ENV": "/x", "PERL5OPT": "-Mx", "RUBYOPT": "-rx",
        "GIT_SSH_COMMAND": "x",
        "PYTHONSTARTUP": "/x", "OPENSSL_CONF": "/x", "BASH_FUNC_ls%%": "() { echo x; }",
        "npm_config_https_proxy": "http://x", "Some_Proxy": "http://x", "PROMPT_COMMAND": "x",
    }  # fmt: skip
    # These are options of the user's for what runs inside, and programs fail without.
    kept = {"KEPT": "1", "PYTHONPATH": "/y", "NODE_OPTIONS": "--max-old-space-size=99",
            "GIT_CONFIG_COUNT": "0"}  # fmt: skip
    done = box.run("env", "-0", env={**planted, **kept})
    names = {entry.split("=", 1)[0] for entry in done.stdout.split("\0")}
    assert not names & set(planted)
    assert {*kept, "PATH", "HOME"} <= names


def test_what_leads_to_the_proxy_is_set(box):
    env = {"HTTP_PROXY": "http://elsewhere.example:1", "no_proxy": "*", "TMP": "/tmp",
           "JAVA_TOOL_OPTIONS": "-Xmx1g", "TMPDIR": "/var/tmp"}  # fmt: skip
    done = box.run("env", "-0", env=env)
    values = dict(entry.split("=", 1) for entry in done.stdout.split("\0") if "=" in entry)
    proxy = "http://127.0.0.1:3128"
    for name in ("http", "https", "all", "ftp", "grpc"):
        assert values[f"{name}_proxy"] == values[f"{name}_proxy".upper()] == proxy
    assert values["NO_PROXY"] == values["no_proxy"] == "localhost,127.0.0.1,::1"
    assert values["JAVA_TOOL_OPTIONS"].startswith("-Xmx1g -Dhttp.proxyHost=127.0.0.1")
    assert values["NODE_USE_ENV_PROXY"] == values["SANDBOX_RUNTIME"] == "1"
    assert values["RSYNC_PROXY"] == "127.0.0.1:3128"
    assert values["TMPDIR"] == values["TMP"] and "TEMP" not in values
    assert len([entry for entry in done.stdout.split("\0") if entry.startswith("TMPDIR=")]) == 1
