#!/usr/bin/env bash
# The SQL is written by hand: every function of the library is bound there, and every one bound exists.

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
