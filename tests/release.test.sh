#!/usr/bin/env bash
# What a release is made of, as far as that takes seconds: versions agree wherever they are named, the library asks for no newer glibc than packages may, META.json is one, and
# the workflow of a release is one that GitHub would take.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

"$ROOT/scripts/release/check.sh" --source >/dev/null

# A library that was built here, with this machine's C library.
"$ROOT/scripts/release/glibc.sh" "$(built_library)" >/dev/null

# Whoever would try an older library sees what it lacks.
message=$(GLIBC_MOST=2.2 "$ROOT/scripts/release/glibc.sh" "$(built_library)" 2>&1) && die 'a library that asks for a newer glibc than allowed passes'
[[ $message == *'which is newer than 2.2: '*@GLIBC_2.* ]] || die "of a library that asks for a newer glibc: $message"

# A version that is not the same everywhere is found.
copy=$SCRATCH/release_copy
mkdir "$copy"
mkdir "$copy/tests"
cp -R "$ROOT/tests/released" "$copy/tests/"
cp -R "$ROOT"/{scripts,sql,citus,Cargo.toml,Cargo.lock,rust-toolchain.toml,CHANGELOG.md,bloom_ident.control,META.json} "$copy/"
sed -i "s/^default_version = .*/default_version = '999.0.0'/" "$copy/bloom_ident.control"
message=$(GITHUB_REF_TYPE=tag GITHUB_REF_NAME=v999.0.0 "$copy/scripts/release/check.sh" --source 2>&1) && die 'versions that differ pass'
for place in Cargo.toml Cargo.lock META.json citus/bloom_ident_citus.control; do
    [[ $message == *"$place says "* ]] || die "$place with another version is not found: $message"
done
[[ $message == *'no script of bloom_ident leads from 0.1.0 to 999.0.0'* && $message == *'no script of bloom_ident_citus leads from 0.1.0 to 999.0.0'* && $message == *'CHANGELOG.md has no section "## 999.0.0"'* ]] || die "what a new version lacks is not found: $message"
# And so is a release for which nobody answers, until somebody does.
nobody='META.json names as maintainer'
[[ $message == *"$nobody"* ]] || die "a release with a placeholder for its maintainer passes: $message"
sed -i 's/"maintainer": .*/"maintainer": "A. Person <person@registers.org>",/' "$copy/META.json"
message=$(GITHUB_REF_TYPE=tag "$copy/scripts/release/check.sh" --source 2>&1) && die 'versions that differ pass'
[[ $message != *"$nobody"* ]] || die "a maintainer is refused: $message"
rm -rf "$copy"

"$ROOT/scripts/release/meta.sh" --here >/dev/null
"$ROOT/scripts/release/workflow.sh" >/dev/null
