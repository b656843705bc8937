#!/bin/bash
# Installs what Weir needs, builds it, shows it, tests it: see usage() below.
#
# Works as root, or as a user with sudo; with or without a terminal; without systemd.
# Nothing is installed but packages of the machine's own distribution, and of the next
# release only llhttp, which is unpacked into .deps/ here and not installed at all.
set -euo pipefail

readonly CALLED_FROM=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")"
readonly LLHTTP_MIN=9.2
readonly BUILD_PACKAGES=(gcc libc6-dev cmake ninja-build pkg-config python3 libev-dev
    libc-ares-dev libcjson-dev libidn2-dev libunistring-dev libpsl-dev libseccomp-dev
    libssl-dev zlib1g-dev libzstd-dev)
readonly DEMO_PACKAGES=(curl openssl iproute2 util-linux)
readonly TEST_PACKAGES=(libcmocka-dev python3-pytest clang git bubblewrap openssh-client
    openssh-server procps haproxy tinyproxy-bin netcat-openbsd)
# Tests that need one of these are skipped, and say so, where it is not to be had.
readonly WISHED_PACKAGES=(libclang-rt-dev clang-format-14 shellcheck python3-requests
    python3-socks python3-websockets python3-pip default-jdk-headless nodejs wget chromium
    zsh fish)
readonly LONG_PACKAGES=(debootstrap valgrind)
# What the packages above bring, for systems without apt: header, name of the project.
readonly HEADERS=(ev.h:libev ares.h:c-ares cjson/cJSON.h:cJSON idn2.h:libidn2
    unistr.h:libunistring libpsl.h:libpsl seccomp.h:libseccomp openssl/ssl.h:OpenSSL
    "llhttp.h:llhttp $LLHTTP_MIN or later")

usage() {
    cat <<'END'
usage: ./bootstrap.sh [VERB]

  (none)               install what is missing, build build/weir
  demo                 the same, then show the main job in under a minute, offline
  test                 the same with the test tools, then run every test
  test --long          also the tests that take hours
  install [PREFIX]     build, and copy to PREFIX (/usr/local)
  uninstall [PREFIX]   remove what install copied there
  help                 this text
END
}

say() {
    echo "weir: $*"
}

fail() {
    echo "weir: $*" >&2
    exit 1
}

# Runs a command without its noise; when it fails, the end of the noise is shown.
quietly() {
    if ! "$@" >"$scratch/log" 2>&1 </dev/null; then
        tail -n 60 "$scratch/log" >&2
        fail "failed: $*"
    fi
}

can_be_root() {
    [ "$EUID" -eq 0 ] || { command -v sudo >/dev/null && { has_terminal || sudo -n true 2>/dev/null; }; }
}

has_terminal() {
    (: </dev/tty) 2>/dev/null
}

as_root() {
    if [ "$EUID" -eq 0 ]; then
        "$@"
    elif ! can_be_root; then
        fail "this user is not root and may not use sudo without a password; run as root: $*"
    else
        sudo "$@" # asks for a password on the terminal, if it must
    fi
}

# --- packages ---------------------------------------------------------------------

have_apt() {
    command -v apt-get >/dev/null && command -v dpkg-query >/dev/null
}

is_installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

has_candidate() {
    [[ $(apt-cache policy "$1" 2>/dev/null) =~ Candidate:\ [^\(] ]]
}

missing_of() {
    local package
    for package in "$@"; do
        is_installed "$package" || echo "$package"
    done
}

update_lists() {
    # Whoever may not read them anew goes on with those that are there.
    [ -z "${lists_are_fresh:-}" ] && can_be_root || return 0
    lists_are_fresh=yes
    say "reading the package lists"
    if ! as_root apt-get -o Acquire::Retries=3 update >"$scratch/log" 2>&1 </dev/null; then
        # One broken third-party source must not stop what needs the others only.
        tail -n 5 "$scratch/log" >&2
        say "not every package list could be read; going on with those that could"
    fi
}

install_packages() {
    local missing
    mapfile -t missing < <(missing_of "$@")
    [ ${#missing[@]} -gt 0 ] || return 0
    can_be_root || fail "these packages are missing, and only root may install them: ${missing[*]}"
    update_lists
    say "installing: ${missing[*]}"
    quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 \
        -o Acquire::Retries=3 install -y --no-install-recommends "${missing[@]}"
}

install_wished() {
    local missing package available=() absent=()
    mapfile -t missing < <(missing_of "$@")
    # Other sources than the distribution's bring npm within their nodejs.
    command -v npm >/dev/null || missing+=(npm)
    [ ${#missing[@]} -gt 0 ] || return 0
    if ! can_be_root; then
        say "not root, so not installed, tests that need it are skipped: ${missing[*]}"
        return
    fi
    update_lists
    for package in "${missing[@]}"; do
        if has_candidate "$package"; then available+=("$package"); else absent+=("$package"); fi
    done
    [ ${#available[@]} -eq 0 ] || install_packages "${available[@]}"
    [ ${#absent[@]} -eq 0 ] || say "not in this release, tests that need it are skipped: ${absent[*]}"
}

# Without apt nothing is installed; what is missing is named.
check_by_hand() {
    local entry tool missing=()
    for tool in cc cmake ninja python3; do
        command -v "$tool" >/dev/null || missing+=("the program $tool")
    done
    if command -v cc >/dev/null; then
        for entry in "${HEADERS[@]}"; do
            echo "#include <${entry%%:*}>" | cc -I.deps/usr/include -E -x c - >/dev/null 2>&1 ||
                missing+=("${entry#*:} with its header ${entry%%:*}")
        done
    fi
    [ ${#missing[@]} -gt 0 ] || return 0
    say "there is no apt here; install these by other means and run this again:" >&2
    printf '  %s\n' "${missing[@]}" >&2
    exit 1
}

# --- llhttp -----------------------------------------------------------------------

have_llhttp() {
    [ -e .deps/usr/include/llhttp.h ] || is_installed libllhttp-dev
}

llhttp_candidate_will_do() {
    local version
    version=$(apt-cache policy libllhttp-dev | sed -n 's/^ *Candidate: \([^(]*\)$/\1/p')
    [ -n "$version" ] && dpkg --compare-versions "$version" ge "$LLHTTP_MIN"
}

# apt with its lists, its cache and its sources in the scratch folder.
private_apt() {
    local tool=$1
    shift
    "$tool" -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$scratch/sources" \
        -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
        -o Dir::State="$scratch/state" -o Dir::Cache="$scratch/cache" \
        -o Acquire::Languages=none -o Acquire::Retries=3 -o APT::Default-Release= "$@"
}

# Downloads the two packages of one suite into $scratch/debs; false when it lacks them.
download_llhttp() {
    local suite=$1 library
    rm -rf "$scratch"/{sources,state,cache,debs}
    mkdir -p "$scratch"/{sources,state/lists/partial,cache/archives/partial,debs}
    python3 cmake/next_release.py "$suite" "$scratch/sources" || return 1
    # apt drops to this user for downloads and must be able to write there.
    [ "$EUID" -ne 0 ] || ! id _apt >/dev/null 2>&1 || chown _apt "$scratch/debs"
    # Another source that has no such suite makes this fail, which does not matter.
    private_apt apt-get update >"$scratch/log" 2>&1 </dev/null || true
    library=$(private_apt apt-cache depends libllhttp-dev 2>/dev/null |
        sed -n 's/^ *Depends: \(libllhttp[0-9.a-z+]*\)$/\1/p')
    [ -n "$library" ] || return 1
    (cd "$scratch/debs" && quietly private_apt apt-get download libllhttp-dev "$library")
}

get_llhttp() {
    local suite file
    ! have_llhttp || return 0
    update_lists
    if llhttp_candidate_will_do; then
        install_packages libllhttp-dev
        return
    fi
    for suite in $(python3 cmake/next_release.py --suites); do
        say "fetching llhttp from $suite; this release has none"
        download_llhttp "$suite" || continue
        rm -rf .deps .deps.new
        for file in "$scratch"/debs/*.deb; do
            quietly dpkg-deb -x "$file" .deps.new
        done
        mv .deps.new .deps
        return
    done
    tail -n 5 "$scratch/log" >&2 || true
    fail "llhttp $LLHTTP_MIN or later cannot be had by apt here; unpack it into .deps/usr"
}

# --- the verbs --------------------------------------------------------------------

# At most `count` arguments behind the verb.
takes() {
    local verb=$1 count=$2
    shift 2
    [ $# -le "$count" ] || fail "$verb: \"${*:count + 1:1}\" is not expected; see ./bootstrap.sh help"
}

prepare() {
    [ -w . ] || fail "cannot write in $PWD, where it is built: clone it into a folder of your own"
    if have_apt; then
        install_packages "${BUILD_PACKAGES[@]}" "$@"
        get_llhttp
    else
        check_by_hand
    fi
}

build() {
    local preset=$1
    shift
    say "building $preset"
    quietly cmake --preset "$preset" -G Ninja "$@"
}

build_program() {
    build release -DWEIR_TESTS=OFF
    quietly cmake --build build --target weir
    say "built: build/weir"
}

verb_build() {
    takes build 0 "$@"
    prepare
    build_program
}

verb_demo() {
    takes demo 0 "$@"
    prepare "${DEMO_PACKAGES[@]}"
    build_program
    python3 tests/support/demo.py build/weir
}

run_ctest() {
    local folder=$1
    shift
    say "testing $folder"
    ctest --test-dir "$folder" --output-on-failure --output-junit "$scratch/$folder.xml" \
        -j "$(nproc)" "$@" </dev/null || failed=yes
}

verb_test() {
    local select=(-L ci) seconds=10 folder failed=
    if [ "${1:-}" = --long ]; then
        select=()
        seconds=3600
        prepare "${DEMO_PACKAGES[@]}" "${TEST_PACKAGES[@]}" "${LONG_PACKAGES[@]}"
    elif [ $# -gt 0 ]; then
        fail "test: unknown option \"$1\"; it takes --long"
    else
        prepare "${DEMO_PACKAGES[@]}" "${TEST_PACKAGES[@]}"
    fi
    ! have_apt || install_wished "${WISHED_PACKAGES[@]}"
    build release -DWEIR_TESTS=ON
    build dev -DWEIR_TESTS=ON
    build fuzz -DWEIR_TESTS=ON -DWEIR_FUZZ_SECONDS="$seconds"
    for folder in build build-dev build-fuzz; do
        quietly cmake --build "$folder"
    done
    for folder in build build-dev build-fuzz; do
        run_ctest "$folder" "${select[@]}"
    done
    python3 tests/support/totals.py "$scratch"/build*.xml
    [ -z "$failed" ] || fail "some tests failed"
}

# As root only where this user may not write.
for_prefix() {
    local prefix=$1 nearest=$1
    shift
    while [ ! -e "$nearest" ]; do
        nearest=$(dirname "$nearest")
    done
    if [ -w "$nearest" ] && { [ ! -d "$prefix/bin" ] || [ -w "$prefix/bin" ]; }; then
        "$@"
    else
        as_root "$@"
    fi
}

# A relative prefix starts where the caller is, not here.
absolute() {
    case $1 in
    /*) echo "$1" ;;
    *) echo "$CALLED_FROM/$1" ;;
    esac
}

verb_install() {
    local prefix
    takes install 1 "$@"
    prefix=$(absolute "${1:-/usr/local}")
    prepare
    build_program
    quietly for_prefix "$prefix" cmake --install build --prefix "$prefix"
    say "installed: $prefix/bin/weir; to remove it: ./bootstrap.sh uninstall ${prefix@Q}"
}

verb_uninstall() {
    local prefix
    takes uninstall 1 "$@"
    prefix=$(absolute "${1:-/usr/local}")
    for_prefix "$prefix" sh cmake/uninstall.sh "$prefix"
}

main() {
    local verb=${1:-build}
    [ $# -eq 0 ] || shift
    scratch=$(mktemp -d)
    chmod 755 "$scratch"
    trap 'rm -rf "$scratch"' EXIT
    case $verb in
    build | demo | test | install | uninstall) "verb_$verb" "$@" ;;
    help | -h | --help) usage ;;
    *)
        usage >&2
        fail "unknown verb \"$verb\""
        ;;
    esac
}

main "$@"
