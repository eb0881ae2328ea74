#!/usr/bin/env bash
# make install [PG_CONFIG=path] [DESTDIR=dir]: build, then install into that PostgreSQL.
# It is always the full release build.

unset QUICK

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/common.sh
source "$here/common.sh"
# shellcheck source=scripts/packages.sh
source "$here/packages.sh"
# shellcheck source=scripts/postgres.sh
source "$here/postgres.sh"
# shellcheck source=scripts/cargo.sh
source "$here/cargo.sh"

# Unlike the other targets this one is about a PostgreSQL that is there already.
check_pg_config
destdir=${DESTDIR:-}

# True under sudo, where a build would leave root's files in the user's target/,
# if root has a cargo at all: the user builds, root installs.
installing_for_user() {
    [[ $EUID == 0 && ${SUDO_UID:-0} != 0 ]]
}

# A build for this major that no source is newer than.
fresh_build() {
    local library
    library=$(built_library)
    [[ -e $library && -z $(cd "$ROOT" &&
        find Cargo.toml Cargo.lock core macros src -newer "$library" -not -type d -print -quit) ]]
}

# The first existing directory on the way up decides whether one can write.
writable() {
    local dir=$1
    while [[ ! -e $dir ]]; do dir=$(dirname "$dir"); done
    [[ -w $dir ]]
}

if installing_for_user; then
    home=$(getent passwd "$SUDO_USER" | cut -d: -f6)
    runuser -u "$SUDO_USER" -- env HOME="$home" PATH="$home/.cargo/bin:$PATH" \
        PG_CONFIG="$PG_CONFIG" "$here/build.sh" ||
        die "the build as $SUDO_USER failed"
elif command -v cargo >/dev/null; then
    build_extension
elif fresh_build; then
    say "no cargo here; installing the build that is there: $(built_library)"
else
    die "no cargo on PATH, and no current build for PostgreSQL $PG_MAJOR. As a user with Rust: make build PG_CONFIG=$PG_CONFIG"
fi

for dir in "$destdir$("$PG_CONFIG" --pkglibdir)" "$destdir$("$PG_CONFIG" --sharedir)/extension" "$destdir$("$PG_CONFIG" --docdir)"; do
    writable "$dir" ||
        die "$dir is not writable for $(id -un). The extension is built; now: sudo make install PG_CONFIG=$PG_CONFIG"
done
place_extension "$destdir"
# The licences ask for their texts to go along.
docs=$destdir$("$PG_CONFIG" --docdir)/extension/bloom_ident
mkdir -p "$docs"
install -m 644 "$ROOT/LICENSE" "$ROOT/THIRD-PARTY.txt" "$docs"
say "installed in $destdir$("$PG_CONFIG" --pkglibdir) and $destdir$("$PG_CONFIG" --sharedir)/extension; the licences are in $docs"
