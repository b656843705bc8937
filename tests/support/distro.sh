#!/bin/bash
# Makes a new, minimal Debian and runs a command in it, on a clean clone in /src/weir.
#
#   distro.sh make SUITE FOLDER REPOSITORY   debootstrap into FOLDER, clone REPOSITORY
#   distro.sh run FOLDER COMMAND...          as root, in /src/weir
#
# The new system is entered by pivot_root in namespaces of its own, not by chroot: the
# kernel refuses user namespaces to a chrooted process. It shares nothing but the network
# and the devices; when the command ends, every process and mount of it is gone. Packages
# come from where this machine has its own from.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fail() {
    echo "distro.sh: $*" >&2
    exit 1
}

# What this machine's apt needs to reach its sources, and nothing that runs programs.
copy_apt_configuration() {
    local root=$1 sources=$2
    rm -f "$root"/etc/apt/sources.list "$root"/etc/apt/sources.list.d/*
    cp "$sources"/next.* "$root/etc/apt/sources.list.d/"
    apt-config dump | grep -E '^Acquire::(http|https|Check|Retries|Force|Allow|Max)' \
        >"$root/etc/apt/apt.conf.d/90machine" || true
}

make_root() {
    local suite=$1 root=$2 repository=$3 mirror sources
    sources=$root.sources
    mkdir -p "$sources"
    python3 "$here/../../cmake/next_release.py" "$suite" "$sources"
    mirror=$(grep -hoE 'https?://[^ ]+' "$sources"/next.* | head -n 1)
    [ -n "$mirror" ] || fail "no http mirror among this machine's sources"
    debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$root.log" 2>&1 ||
        { tail -n 20 "$root.log" >&2 && fail "debootstrap failed for $suite"; }
    copy_apt_configuration "$root" "$sources"
    cp /etc/hosts /etc/resolv.conf "$root/etc/"
    copy_certificates "$root"
    mkdir -p "$root/src"
    git -c safe.directory='*' clone -q --no-hardlinks "$repository" "$root/src/weir"
    chown -R 0:0 "$root/src/weir"
    rm -rf "$sources" "$root.log"
}

# Whom this machine trusts beyond the usual, for clients of registries.
copy_certificates() {
    local root=$1 certificates=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
    [ ! -r "$certificates" ] || cp "$certificates" "$root/etc/machine-ca.crt"
}

# Runs in the new namespaces, as process 1.
enter() {
    local root=$1
    shift
    mount --make-rprivate /
    mount --bind "$root" "$root"
    mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs -o nosuid,nodev tmpfs "$root/run"
    mkdir -p "$root/.host"
    cd "$root"
    pivot_root . .host
    umount -l /.host
    rmdir /.host
    cd /src/weir
    # Process 1 reaps what its children leave, so it stays and does not exec.
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
        CI=true TERM=dumb LC_ALL=C.UTF-8 NODE_EXTRA_CA_CERTS=/etc/machine-ca.crt \
        "$@" </dev/null
}

run_inside() {
    local root=$1
    shift
    unshare --mount --pid --fork --kill-child --ipc --uts \
        bash "$here/distro.sh" enter "$root" "$@"
}

[ "$EUID" -eq 0 ] || fail "needs root"
verb=${1:-}
[ $# -lt 2 ] || shift
case $verb in
make) make_root "$@" ;;
run) run_inside "$@" ;;
enter) enter "$@" ;;
*) fail "usage: distro.sh make SUITE FOLDER REPOSITORY | run FOLDER COMMAND..." ;;
esac
