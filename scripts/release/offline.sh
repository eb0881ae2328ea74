#!/usr/bin/env bash
# scripts/release/offline.sh: builds and installs from source, by "make install" and by a plain "cargo build", in a system that has all that this takes, but no sources of packages,
# no apt-get and no network. It compiles with little optimisation, since that is not the question.

# shellcheck source=scripts/release/release.sh
source "$(dirname "${BASH_SOURCE[0]}")/release.sh"
# shellcheck source=scripts/release/servers.sh
source "$(dirname "${BASH_SOURCE[0]}")/servers.sh"
# shellcheck source=scripts/release/chroots.sh
source "$(dirname "${BASH_SOURCE[0]}")/chroots.sh"

for_target 15 "$(dpkg --print-architecture)"
chroot_new bookworm
in_chroot sh -c 'apt-get -q update && apt-get -q install -y --no-install-recommends gcc libc6-dev make libclang-dev postgresql-15 postgresql-server-dev-15' >"$BUILT/apt.log" 2>&1 ||
    die "what a build takes cannot be installed: $(tail -n 5 "$BUILT/apt.log")"
rm -rf "$CHROOT"/etc/apt/sources.list* "$CHROOT"/var/lib/apt/lists
printf '#!/bin/sh\necho "apt-get was called: $*" >&2\nexit 1\n' >"$CHROOT/usr/bin/apt-get"

mkdir -p "$CHROOT/usr/src/bloom_ident"
git -C "$ROOT" ls-files -z | (cd "$ROOT" && tar --null -cf - -T -) | tar -C "$CHROOT/usr/src/bloom_ident" -xf -
BINDS=("$(cd "$ROOT" && rustc --print sysroot):/opt/rust" "${CARGO_HOME:-$HOME/.cargo}/registry:/opt/cargo/registry")
APART=(--net)
say 'building and installing from source, without apt and without a network'
in_chroot bash -euc '
    export PATH=/opt/rust/bin:$PATH CARGO_HOME=/opt/cargo CARGO_NET_OFFLINE=true CARGO_TERM_COLOR=never
    export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
    cd /usr/src/bloom_ident
    make install PG_CONFIG=/usr/lib/postgresql/15/bin/pg_config
    # As README.md says it, without make.
    PGRX_PG_CONFIG_PATH=/usr/lib/postgresql/15/bin/pg_config cargo build --release
    mkdir -p /run/postgresql && chown postgres: /run/postgresql
    pg_ctlcluster 15 main start -o "-c listen_addresses="
    cd /tmp
    runuser -u postgres -- psql -XAtq -v ON_ERROR_STOP=1 -c "CREATE EXTENSION bloom_ident" -c "SELECT extversion FROM pg_extension WHERE extname = \$\$bloom_ident\$\$"
    pg_ctlcluster 15 main stop' >"$BUILT/offline.log" 2>&1 || {
    tail -n 20 "$BUILT/offline.log" >&2
    die 'without apt and network the source cannot be built and installed (see above)'
}
grep -qx "$VERSION" "$BUILT/offline.log" || die "not the version that was installed: $(tail -n 5 "$BUILT/offline.log")"
say 'make install and cargo build need neither apt nor a network where all is there'
