#!/usr/bin/env bash
# The SQL is written by hand: every function of the library is bound there, and every one bound exists, from whichever crate it is.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

wrappers() { grep -oE '[a-z0-9_]+_wrapper' | sed 's/^pg_finfo_//' | sort -u; }

library=$("$PGBIN/pg_config" --pkglibdir)/bloom_ident.so
diff <(wrappers <"$ROOT/sql/bloom_ident--0.1.0.sql") <(grep -aoE 'pg_finfo_[a-z0-9_]+_wrapper' "$library" | wrappers) ||
    die 'sql/ and the library name different functions (< sql, > library)'
# The control file names the version that sql/ has, and Cargo.toml the same.
version=$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$ROOT/bloom_ident.control")
[[ -e $ROOT/sql/bloom_ident--$version.sql ]] || die "no install script for version $version"
grep -qx "version = \"$version\"" "$ROOT/Cargo.toml" || die "Cargo.toml has another version than $version"
sources=("$ROOT"/{pg,types,access}/src "$ROOT/src")
# Whatever the server calls is an #[entry], so that errors leave it complete. A function pointer to anything else, or a
# function under pgrx's guard, would change the errors of user code beneath it.
bare=$(grep -rnE '#\[(pgrx::)?(pg_guard|pg_extern)|pg_guard_ffi_boundary\(|check_for_interrupts!|pgrx::(error|ereport|notice|warning)!' "${sources[@]}" || true)
[[ -z $bare ]] || die "pgrx's guard where ours belongs:
$bare"
bare=$(find "${sources[@]}" -name '*.rs' -exec awk '
    FNR == 1 { entry = 0 }
    /#\[entry\]/ { entry = 1; next }
    /^ *#\[|^ *\/\// { next }
    /extern "C(-unwind)?" fn [a-z]/ && !entry { print FILENAME ":" FNR ": " $0 }
    { entry = 0 }' {} +)
[[ -z $bare ]] || die "called by the server without #[entry]:
$bare"
