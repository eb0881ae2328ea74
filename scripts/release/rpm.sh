#!/usr/bin/env bash
# scripts/release/rpm.sh MAJOR ARCH: makes an RPM of what library.sh has built, with cargo-generate-rpm.

# shellcheck source=scripts/release/release.sh
source "$(dirname "${BASH_SOURCE[0]}")/release.sh"

for_target "$@"
[[ -e $BUILT/bloom_ident.so ]] || die "nothing is built for PostgreSQL $MAJOR on $ARCH: scripts/release/library.sh $MAJOR $ARCH"
# rpm brings what finds the libraries that a library asks for.
need_packages rpm
cargo_tool cargo-generate-rpm 0.21.1

sed "s|@MAJOR@|$MAJOR|g; s|@VERSION@|$VERSION|g; s|@STAGE@|$STAGE|g; s|@ROOT@|$ROOT|g" "$ROOT/packaging/rpm.toml" >"$BUILT/rpm.toml"
file=$PACKAGES/bloom-ident-v$VERSION-pg$MAJOR-$ARCH-linux-gnu.rpm
(
    cd "$ROOT"
    "$TOOLS/bin/cargo-generate-rpm" generate-rpm --metadata-overwrite "$BUILT/rpm.toml" --arch "${TRIPLE%%-*}" --auto-req find-requires \
        --payload-compress gzip --source-date "$SOURCE_DATE_EPOCH" --output "$file"
)
say "made $file"
