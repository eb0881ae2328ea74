#!/usr/bin/env bash
# make install and make uninstall, into a directory: all files come and go; without cargo the current build serves.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

dest=$SCRATCH/dest
files() { (cd "$dest" && find . -type f -path '*bloom_ident*' -printf '%f\n' | sort | tr '\n' ' '); }
makes() { make --no-print-directory -C "$ROOT" "$@" PG_CONFIG="$PG_CONFIG" DESTDIR="$dest"; }
without_cargo() {
    local dir path=
    while read -rd: dir; do [[ -x $dir/cargo ]] || path+=${path:+:}$dir; done <<<"$PATH:"
    env -u SUDO_UID CARGO_HOME=/nonexistent PATH="$path" "$@"
}
export -f makes

version=$(extension_version bloom_ident)
upgrades() { (cd "$ROOT" && basename -a "$1/$2"--*--*.sql); }
expected=$({ upgrades sql bloom_ident && upgrades citus bloom_ident_citus && printf '%s\n' LICENSE THIRD-PARTY.txt bloom_ident{,_citus}{"--$version.sql",.control} bloom_ident.so; } | sort | tr '\n' ' ')
export ROOT PG_CONFIG dest
without_cargo bash -c 'makes install' >/dev/null
[[ $(files) == "$expected" ]] || die "installed without cargo: $(files)"
makes uninstall >/dev/null
[[ -z $(files) ]] || die "left behind: $(files)"
makes uninstall >/dev/null || die 'nothing to uninstall is no error'
# A build older than its sources is not taken.
library=$(built_library)
touch -r "$library" "$SCRATCH/stamp"
touch -d '2000-01-01' "$library"
status=0
message=$(without_cargo bash -c 'makes install' 2>&1) || status=$?
touch -r "$SCRATCH/stamp" "$library"
[[ $status != 0 && $message == *'no current build'* ]] || die "an old build was installed: $message"
rm -rf "$dest"
