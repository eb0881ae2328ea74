#!/usr/bin/env bash
# scripts/release/reproducible.sh MAJOR ARCH: builds this commit a second time, in a clone in another folder and with nothing that was compiled before, and compares the
# packages byte by byte with those of target/packages. With QUICK=1, which must have built those as well, it takes less time.

# shellcheck source=scripts/release/release.sh
source "$(dirname "${BASH_SOURCE[0]}")/release.sh"

for_target "$@"
[[ -z $(git -C "$ROOT" status --porcelain) ]] || warn 'what is not committed is not in the clone'
again=$(mktemp -d "${TMPDIR:-/tmp}/bloom_ident-again.XXXXXX")
trap 'rm -rf "$again"' EXIT
git clone --quiet "$ROOT" "$again/source"
# The same compiler and headers, which are unpacked and not built.
mkdir -p "$again/source/target/release-work"
for unpacked in "$RELEASE"/compiler-*; do [[ ! -d $unpacked ]] || ln -s "$unpacked" "$again/source/target/release-work/"; done
ln -s "$ROOT/target/tools" "$again/source/target/tools"
for step in library deb tarball rpm; do "$again/source/scripts/release/$step.sh" "$MAJOR" "$ARCH"; done
differ=()
for file in "$again"/source/target/packages/bloom*; do
    cmp --quiet "$file" "$PACKAGES/$(basename "$file")" || differ+=("$(basename "$file")")
done
((${#differ[@]} == 0)) || die "not the same bytes: ${differ[*]}"
say "PostgreSQL $MAJOR on $ARCH: built again in another folder, every package has the same bytes"
