#!/usr/bin/env bash
# scripts/release/try-rpm.sh MAJOR ARCH: the RPM can be read by rpm, has the files that were built, and asks for what such a system has.

# shellcheck source=scripts/release/release.sh
source "$(dirname "${BASH_SOURCE[0]}")/release.sh"

for_target "$@"
need_packages rpm cpio
file=$PACKAGES/bloom-ident-v$VERSION-pg$MAJOR-$ARCH-linux-gnu.rpm
rpm --checksig --nosignature "$file" >/dev/null || die "rpm cannot read $file"
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
# rpm2cpio compares what it has written with a size in the header that cargo-generate-rpm leaves out, and its exit status is 1 then. cpio finds out whether all is there.
{ rpm2cpio "$file" || true; } | (cd "$tree" && cpio -idm --quiet) || die "the archive within $file cannot be unpacked"
cmp "$tree/usr/pgsql-$MAJOR/lib/bloom_ident.so" "$STAGE/usr/lib/postgresql/$MAJOR/lib/bloom_ident.so"
diff -r "$tree/usr/pgsql-$MAJOR/share/extension" "$STAGE/usr/share/postgresql/$MAJOR/extension"
asks=$(rpm -qp --requires "$file" 2>/dev/null)
grep -qx "postgresql$MAJOR-server" <<<"$asks" || die "the RPM does not ask for postgresql$MAJOR-server: $asks"
say "$file: has the files that were built, and asks for postgresql$MAJOR-server"
