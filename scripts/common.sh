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

# rustup writes PATH to the login shell's profile only; a plain shell may lack it.
if ! command -v cargo >/dev/null && [[ -x ${CARGO_HOME:-$HOME/.cargo}/bin/cargo ]]; then
    PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH
fi

# One target directory for all majors: cargo keeps the builds of pgrx for each
# major apart (by feature), and they share every other crate.
export CARGO_TARGET_DIR=$ROOT/target
# For pgrx's own tooling; nothing reads it in a plain cargo build.
export CARGO_PGRX_DISABLE_GC_SECTIONS_WORKAROUND=1
