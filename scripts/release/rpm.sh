#!/usr/bin/env bash
# scripts/release/rpm.sh MAJOR ARCH: makes an RPM of what library.sh has built, with cargo-generate-rpm.

# shellcheck source=scripts/release/release.sh
source "$(dirname "${BASH_SOURCE[0]}")/release.sh"

for_target "$@"
[[ -e $BUILT/bloom_ident.so ]] || die "nothing is built for PostgreSQL $MAJOR on $ARCH: scripts/release/library.sh $MAJOR $ARCH"
# rpm brings what finds the libraries that a library asks for.
need_packages rpm
cargo_tool cargo-generate-rpm 0.21.1

# cargo-generate-rpm makes files that are newer than the commit as old as that, and leaves older ones, which those of a working copy may be.
files=$BUILT/rpm
rm -rf "$files"
mkdir -p "$files/docs/data"
cp -R "$STAGE" "$files/stage"
cp "$ROOT"/{LICENSE,THIRD-PARTY.txt,CHANGELOG.md} "$files/"
cp "$ROOT/docs/data/register.csv" "$files/docs/data/"
same_times "$files"

sed "s|@MAJOR@|$MAJOR|g; s|@VERSION@|$VERSION|g; s|@STAGE@|$files/stage|g; s|@ROOT@|$files|g" "$ROOT/packaging/rpm.toml" >"$BUILT/rpm.toml"
file=$PACKAGES/bloom-ident-v$VERSION-pg$MAJOR-$ARCH-linux-gnu.rpm
(
    cd "$ROOT"
    "$TOOLS/bin/cargo-generate-rpm" generate-rpm --metadata-overwrite "$BUILT/rpm.toml" --arch "${TRIPLE%%-*}" --auto-req find-requires \
        --payload-compress gzip --source-date "$SOURCE_DATE_EPOCH" --output "$file"
)
say "made $file"
