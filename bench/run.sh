#!/bin/bash
# Installs the peers that Weir is compared with, builds the release preset, measures all.
# As root or with sudo, on Debian. Options are those of run.py. usage: bench/run.sh [OPTION]...
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Package and service; "-" where the package brings none.
readonly PEERS=("squid squid" "tinyproxy-bin -" "privoxy privoxy" "microsocks -"
    "dante-server danted" "haproxy haproxy" "3proxy 3proxy")
# Package and command: npm may have come with a node of another origin.
readonly TOOLS=("strace strace" "bubblewrap bwrap" "socat socat" "ripgrep rg" "npm npm")

as_root() {
    if [ "$EUID" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

is_installed() {
    dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

# A service that comes with a package is not started, now or later: what is measured here
# is started by run.py. One that was installed before is left as it is.
install_quietly() {
    local package=$1 service=$2 systemd=no

    is_installed "$package" && return
    if ! apt-cache show "$package" >/dev/null 2>&1; then
        echo "$package: not in this distribution, left out"
        return
    fi
    [ ! -d /run/systemd/system ] || [ "$service" = - ] || systemd=yes
    [ $systemd = no ] || as_root systemctl mask --runtime --quiet "$service"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package"
    [ $systemd = no ] || as_root systemctl unmask --runtime --quiet "$service"
    [ $systemd = no ] || as_root systemctl disable --quiet "$service"
}

./bootstrap.sh
as_root apt-get update -qq
for peer in "${PEERS[@]}"; do
    # shellcheck disable=SC2086 # two words
    install_quietly $peer
done
for tool in "${TOOLS[@]}"; do
    command -v "${tool#* }" >/dev/null || install_quietly "${tool% *}" -
done
npm install --silent --no-fund --no-audit --prefix build/peers @anthropic-ai/sandbox-runtime ||
    echo "srt: npm could not install it, left out"
# As root where that is to be had: other users cannot read the memory of peers that change
# theirs, and have no cgroup.
as_root /usr/bin/python3 bench/run.py "$@"
