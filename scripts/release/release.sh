# shellcheck shell=bash
# Sourced by the scripts beside it: what is released, for which servers and processors, and where its parts are left.
#
#   for_target MAJOR ARCH   sets MAJOR, ARCH (as Debian says it), TRIPLE (as gcc and Debian's directories do), RUST_TARGET, BUILT and STAGE
#   VERSION                 that of bloom_ident.control
#   PACKAGES                the directory that all packages go to
#   SOURCE_DATE_EPOCH       the time that everything in a package has: that of the commit
#
# Each script can be run alone, as scripts/release/deb.sh 15 amd64, once what is before it in packages.sh has run.

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/common.sh
source "$here/../common.sh"
# shellcheck source=scripts/packages.sh
source "$here/../packages.sh"
# shellcheck source=scripts/postgres.sh
source "$here/../postgres.sh"
# shellcheck source=scripts/cargo.sh
source "$here/../cargo.sh"

# What packages are made for; MAJORS="15 18" or ARCHES=amd64 makes fewer of them.
read -ra MAJORS <<<"${MAJORS:-15 16 17 18}"
read -ra ARCHES <<<"${ARCHES:-amd64 arm64}"
# The newest glibc that a library may ask for: that of RHEL 9, which is the oldest system that the packages are for.
# shellcheck disable=SC2034
GLIBC_MOST=${GLIBC_MOST:-2.34}

VERSION=$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$ROOT/bloom_ident.control")
RELEASE=$ROOT/target/release-work
PACKAGES=$ROOT/target/packages
# Who answers for the packages, with the address that Debian asks for. It is in the source, so that whoever builds the same commit makes the same bytes.
MAINTAINER=$(sed -n 's/^  "maintainer": "\(.*\)",$/\1/p' "$ROOT/META.json")
export VERSION RELEASE PACKAGES MAINTAINER

# The same bytes whenever and wherever they are made, of one commit. An archive of the source has no commit: its changes are as old as it is.
: "${SOURCE_DATE_EPOCH:=$(git -C "$ROOT" log -1 --format=%ct 2>/dev/null || stat -c %Y "$ROOT/CHANGELOG.md")}"
export SOURCE_DATE_EPOCH
export TZ=UTC

for_target() {
    MAJOR=${1:-} ARCH=${2:-}
    [[ $MAJOR =~ ^1[5678]$ ]] || die "'$MAJOR' is no major of PostgreSQL that packages are made for: 15, 16, 17 or 18"
    case $ARCH in
        amd64) TRIPLE=x86_64-linux-gnu ;;
        arm64) TRIPLE=aarch64-linux-gnu ;;
        *) die "'$ARCH' is no processor that packages are made for: amd64 or arm64" ;;
    esac
    RUST_TARGET=${TRIPLE/-linux/-unknown-linux}
    BUILT=$RELEASE/pg$MAJOR-$ARCH
    # What is installed, below a root of its own.
    STAGE=$BUILT/stage
    mkdir -p "$BUILT" "$PACKAGES"
    export MAJOR ARCH TRIPLE RUST_TARGET BUILT STAGE
}

# tool NAME: that one of the binutils that reads this target's files.
tool() {
    if [[ $(uname -m) == "${TRIPLE%%-*}" ]]; then echo "$1"; else echo "$TRIPLE-$1"; fi
}

# Every file of a tree as old as the commit, so that archives of it are equal.
same_times() {
    find "$@" -depth -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
}

# cargo_tool CRATE VERSION: that program into target/tools, compiled once.
TOOLS=$ROOT/target/tools
cargo_tool() {
    ! "$TOOLS/bin/$1" --version 2>/dev/null | grep -qF " $2" || return 0
    need_cargo
    say "cargo: compiling $1 $2, once"
    (cd "$ROOT" && CARGO_TARGET_DIR=$ROOT/target/tools-build cargo install --locked --quiet --root "$TOOLS" "$1@$2")
    rm -rf "$ROOT/target/tools-build"
}

# foreign ARCH: whether this machine cannot run its programs by itself.
foreign() {
    [[ $1 != "$(dpkg --print-architecture)" ]]
}
