#!/usr/bin/env bash
# make freeze [PG=15|18]: keeps what a release leaves behind, in tests/released/VERSION, which tests/upgrade.test.sh upgrades from then on: the scripts of
# both extensions, the symbols of the library, and by major a data directory and a dump of the objects of tests/released/objects.sql. Done once for each of
# the two majors, before the tag is set; nothing that is there is ever made anew.

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/common.sh
source "$here/common.sh"
# shellcheck source=scripts/packages.sh
source "$here/packages.sh"
# shellcheck source=scripts/postgres.sh
source "$here/postgres.sh"
# shellcheck source=scripts/cargo.sh
source "$here/cargo.sh"
# shellcheck source=scripts/cluster.sh
source "$here/cluster.sh"
# shellcheck source=scripts/released.sh
source "$here/released.sh"

version=$(extension_version bloom_ident)
kept=$RELEASED/$version
need_packages xz-utils
select_postgres
[[ ! -e $kept/$PG_MAJOR.tar.xz ]] || die "version $version is kept for PostgreSQL $PG_MAJOR already: ${kept#"$ROOT"/}/$PG_MAJOR.tar.xz"
build_extension
scratch_open
stage_install
mkdir -p "$kept"

# keep FILE NAME: FILE becomes NAME there. What the other major has kept is the same, or it is no release.
keep() {
    local name=$kept/$2
    [[ ! -e $name ]] || cmp -s "$1" "$name" || die "${name#"$ROOT"/} was kept by another major, and differs: $(diff "$1" "$name" | head -n 5)"
    cp "$1" "$name"
}
for extension in bloom_ident bloom_ident_citus; do
    keep "$("$PGBIN/pg_config" --sharedir)/extension/$extension--$(extension_version $extension).sql" "$extension--$(extension_version $extension).sql"
done
exported "$("$PGBIN/pg_config" --pkglibdir)/bloom_ident.so" >"$SCRATCH/symbols"
keep "$SCRATCH/symbols" symbols

# The locale that every system has, and as little WAL as there can be. Checksums are as the major has them.
cluster_init kept --locale=C --wal-segsize=1
cluster_conf kept 'min_wal_size = 2MB' 'max_wal_size = 2MB' 'autovacuum = off'
cluster_start kept
cluster_use kept
released_fill "$SCRATCH/filled.out"
released_state registry >"$SCRATCH/state.out"
keep "$SCRATCH/state.out" state.out
pg_dump -d registry --no-sync | xz -9e >"$kept/$PG_MAJOR.sql.xz"
psql -XAtq -c 'VACUUM' -c 'CHECKPOINT' -d registry
cluster_stop kept
# Whoever unpacks it starts it with sockets and files of his own.
(cd "$(cluster_dir kept)" && rm -f postmaster.opts && tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - .) | xz -9e >"$kept/$PG_MAJOR.tar.xz"
(cd "$RELEASED" && find . -mindepth 2 -type f -printf '%P\n' | sort | xargs sha256sum) >"$SCRATCH/sums"
cp "$SCRATCH/sums" "$RELEASED/SHA256SUMS"
say "kept in ${kept#"$ROOT"/}: $(cd "$kept" && du -h --apparent-size -- * | tr '\t\n' '  ')"
