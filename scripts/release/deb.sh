#!/usr/bin/env bash
# scripts/release/deb.sh MAJOR ARCH: makes the Debian packages of what library.sh has built: the extension, and its debug symbols.

# shellcheck source=scripts/release/release.sh
source "$(dirname "${BASH_SOURCE[0]}")/release.sh"

for_target "$@"
need_packages dpkg-dev xz-utils
[[ -e $BUILT/bloom_ident.so ]] || die "nothing is built for PostgreSQL $MAJOR on $ARCH: scripts/release/library.sh $MAJOR $ARCH"

package=postgresql-$MAJOR-bloom-ident
deb_version=$VERSION-1
tree=$BUILT/deb

# fill FILE SIZE: the values of this package into one of the files of packaging/debian.
fill() {
    sed -e "s|@PACKAGE@|$package|g; s|@DEB_VERSION@|$deb_version|g; s|@ARCH@|$ARCH|g; s|@MAJOR@|$MAJOR|g; s|@GLIBC@|$GLIBC_MOST|g" \
        -e "s|@MAINTAINER@|$MAINTAINER|g; s|@BUILD_ID@|$(<"$BUILT/build-id")|g; s|@SIZE@|$2|g" "$ROOT/packaging/debian/$1"
}

# pack CONTROL FILE: makes the package FILE of $tree.
pack() {
    local size
    size=$(find "$tree" -type f -printf '%s\n' | awk '{ kb += int(($1 + 1023) / 1024) } END { print kb }')
    mkdir "$tree/DEBIAN"
    fill "$1" "$size" >"$tree/DEBIAN/control"
    (cd "$tree" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
    find "$tree" -type d -exec chmod 755 {} +
    same_times "$tree"
    # One thread, since several compress to other bytes.
    dpkg-deb --root-owner-group -Zxz -z4 --threads-max=1 --build "$tree" "$PACKAGES/$2" >/dev/null
    say "made $PACKAGES/$2"
}

rm -rf "$tree"
cp -a "$STAGE" "$tree"
docs=$tree/usr/share/doc/$package
mkdir -p "$docs/examples"
# What the first statements of README.md read.
cp "$ROOT/docs/data/register.csv" "$docs/examples/"
"$here/copyright.sh" >"$docs/copyright"
gzip -9n <"$ROOT/CHANGELOG.md" >"$docs/changelog.gz"
gzip -9n >"$docs/changelog.Debian.gz" <<END
bloom-ident ($deb_version) unstable; urgency=medium

  * Version $VERSION; what it changes is in changelog.gz.

 -- $MAINTAINER  $(date -R -d "@$SOURCE_DATE_EPOCH")
END
chmod 644 "$docs"/{*.gz,copyright,examples/*}
pack control "bloom-ident-v$VERSION-pg$MAJOR-$ARCH-linux-gnu.deb"

rm -rf "$tree"
cp -a "$BUILT/debug" "$tree"
mkdir -p "$tree/usr/share/doc"
ln -s "$package" "$tree/usr/share/doc/$package-dbgsym"
pack control.dbgsym "bloom-ident-v$VERSION-pg$MAJOR-$ARCH-linux-gnu-dbgsym.deb"
rm -rf "$tree"
