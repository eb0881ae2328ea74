#!/usr/bin/env bash
# scripts/release/try-tarball.sh [18]: PostgreSQL 18 reads the extension from the unpacked archive (extension_control_path), with nothing of it installed.

# shellcheck source=scripts/release/release.sh
source "$(dirname "${BASH_SOURCE[0]}")/release.sh"
# shellcheck source=scripts/release/servers.sh
source "$(dirname "${BASH_SOURCE[0]}")/servers.sh"
# shellcheck source=scripts/release/chroots.sh
source "$(dirname "${BASH_SOURCE[0]}")/chroots.sh"

for_target "${1:-18}" "$(dpkg --print-architecture)"
((MAJOR >= 18)) || die 'extension_control_path is a setting of PostgreSQL 18'
name=bloom-ident-v$VERSION-pg$MAJOR-$ARCH-linux-gnu
chroot_new "$(chroot_suite "$MAJOR")"
in_chroot sh -c "apt-get -q update && apt-get -q install -y --no-install-recommends postgresql-$MAJOR" >"$BUILT/apt.log" 2>&1 ||
    die "PostgreSQL $MAJOR cannot be installed: $(tail -n 5 "$BUILT/apt.log")"
mkdir -p "$CHROOT/opt"
tar -C "$CHROOT/opt" -xzf "$PACKAGES/$name.tar.gz"
answer=$(in_chroot bash -euc "
    mkdir -p /run/postgresql && chown postgres: /run/postgresql
    pg_conftool $MAJOR main set extension_control_path '\$system:/opt/$name/share'
    pg_conftool $MAJOR main set dynamic_library_path '\$libdir:/opt/$name/lib'
    pg_ctlcluster $MAJOR main start -o '-c listen_addresses='
    cd /tmp
    runuser -u postgres -- psql -XAtq -v ON_ERROR_STOP=1 -c 'CREATE EXTENSION bloom_ident' -c \"SELECT bloom_sim(bloom_signature('Erika'), bloom_signature('Erika'))\"
    pg_ctlcluster $MAJOR main stop")
[[ $answer == 1 ]] || die "from the archive, bloom_sim says: $answer"
say "PostgreSQL $MAJOR: extension_control_path and dynamic_library_path lead to the unpacked archive, and the extension works"
