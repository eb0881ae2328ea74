# shellcheck shell=bash
# Sourced by every script: project root, messages, environment of cargo.

set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
export ROOT

# Messages, sorting and psql's "(1 row)" must not depend on the caller's language.
export LC_ALL=C.UTF-8
# What is installed or staged must be readable for other users, above all the server's.
umask 022

say() { printf '==> %s\n' "$*"; }
warn() { printf 'warning: %s\n' "$*" >&2; }
die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# alone COMMAND...: runs when no other run of this project's scripts is installing something.
alone() (
    mkdir -p "$ROOT/target"
    if command -v flock >/dev/null; then
        exec 9>"$ROOT/target/.installing"
        flock 9
    fi
    "$@" 9>&-
)

# extension_version NAME: the version that CREATE EXTENSION makes.
extension_version() {
    local file=$ROOT/$1.control
    [[ -e $file ]] || file=$ROOT/citus/$1.control
    sed -n "s/^default_version = '\(.*\)'/\1/p" "$file"
}

# rustup writes PATH to the login shell's profile only; a plain shell may lack it.
if ! command -v cargo >/dev/null && [[ -x ${CARGO_HOME:-$HOME/.cargo}/bin/cargo ]]; then
    PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH
fi

# One target directory for all majors: cargo keeps the builds of pgrx for each
# major apart (by feature), and they share every other crate.
export CARGO_TARGET_DIR=$ROOT/target
# For pgrx's own tooling; nothing reads it in a plain cargo build.
export CARGO_PGRX_DISABLE_GC_SECTIONS_WORKAROUND=1

# rust-toolchain.toml names the compiler that the project is built and tested with. Where rustup has another one that is new
# enough, that one is used, since a download is slow, or impossible without a network.
if command -v rustup >/dev/null && [[ -z ${RUSTUP_TOOLCHAIN:-} ]]; then
    wanted=$(sed -n 's/^channel *= *"\(.*\)"/\1/p' "$ROOT/rust-toolchain.toml")
    if ! rustup toolchain list 2>/dev/null | grep -q "^$wanted-"; then
        # Outside of the project, where rustup does not look for the file.
        present=$(cd / && rustc --version 2>/dev/null | awk '{ print $2 }') || true
        if [[ -n $present && $(printf '%s\n' "$wanted" "${present%%-*}" | sort -V | head -n 1) == "$wanted" ]]; then
            RUSTUP_TOOLCHAIN=$(cd / && rustup show active-toolchain | awk '{ print $1 }')
            export RUSTUP_TOOLCHAIN
        fi
    fi
    unset wanted present
fi
