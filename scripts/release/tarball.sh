#!/usr/bin/env bash
# scripts/release/tarball.sh MAJOR ARCH: an archive of what library.sh has built, for systems without Debian's packages, and for PostgreSQL 18's
# extension_control_path: lib and share in one folder, as CloudNativePG mounts an extension, too.

# shellcheck source=scripts/release/release.sh
source "$(dirname "${BASH_SOURCE[0]}")/release.sh"

for_target "$@"
[[ -e $BUILT/bloom_ident.so ]] || die "nothing is built for PostgreSQL $MAJOR on $ARCH: scripts/release/library.sh $MAJOR $ARCH"
name=bloom-ident-v$VERSION-pg$MAJOR-$ARCH-linux-gnu
tree=$BUILT/tar/$name
rm -rf "$BUILT/tar"
mkdir -p "$tree"/{lib,share}
cp "$STAGE/usr/lib/postgresql/$MAJOR/lib/bloom_ident.so" "$tree/lib/"
cp -r "$STAGE/usr/share/postgresql/$MAJOR/extension" "$tree/share/"
cp "$ROOT"/{LICENSE,THIRD-PARTY.txt,CHANGELOG.md} "$ROOT/docs/data/register.csv" "$tree/"
cp "$ROOT/packaging/README.tarball" "$tree/README"
find "$tree" -type f -exec chmod 644 {} +
# Sorted, of nobody's, and as old as the commit.
tar -C "$BUILT/tar" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=gnu -cf - "$name" | gzip -9n >"$PACKAGES/$name.tar.gz"
rm -rf "$BUILT/tar"
say "made $PACKAGES/$name.tar.gz"
