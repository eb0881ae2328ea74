# shellcheck shell=bash
# Sourced by tests/citus*.test.sh and benches/citus.sh: clusters of Citus. Citus is built from the tarball of its source that
# $CITUS_SOURCE names, once for each PostgreSQL, into target/citus; it is no part of the project.
# Needs test-env.sh.
#
#   citus_install      Citus into the private copy of PostgreSQL
#   citus_start N      a coordinator and N workers: clusters coordinator, worker1, worker2, …, with both extensions in the database "citus"
#   citus_add N        one more worker, workerN
#   citus_use NAME     its database "citus"
#
# Nodes talk through sockets; with CITUS_TCP=1 by addresses of 127.0.0.0/8, which a network namespace of their own must give them. CITUS_CONF has more
# settings of all nodes.

# citus_available: prints why Citus cannot be tested here, and returns 1 then.
citus_available() {
    if [[ -z ${CITUS_SOURCE:-} ]]; then
        say 'citus: CITUS_SOURCE names no source of Citus, so nothing of it is tested'
    elif ((PG_MAJOR > 17)); then
        say "citus: this one does not know PostgreSQL $PG_MAJOR, so nothing of it is tested"
    else
        return 0
    fi
    return 1
}

# citus_install: builds it, unless that was done for a PostgreSQL at the same place, and unpacks it into the private copy of PostgreSQL.
citus_install() {
    local built
    [[ -r $CITUS_SOURCE ]] || die "CITUS_SOURCE=$CITUS_SOURCE cannot be read"
    built=$ROOT/target/citus/$PG_MAJOR-$({ cat "$CITUS_SOURCE" && declare -f citus_build && "$PG_CONFIG" --version --configure --pkglibdir --sharedir; } | sha256sum | head -c 12).tar
    [[ -e $built ]] || alone citus_build "$built"
    tar -C "$SCRATCH/stage" -xf "$built"
    chmod -R a+rX "$SCRATCH/stage"
}

citus_build() {
    local built=$1 work
    [[ ! -e $built ]] || return 0
    need_packages build-essential flex libssl-dev perl xz-utils
    need_headers
    say "building Citus from $(basename "$CITUS_SOURCE"): some two minutes on two cores, once"
    mkdir -p "$(dirname "$built")"
    work=$(mktemp -d "$(dirname "$built")/source.XXXXXX")
    tar -C "$work" --strip-components=1 -xf "$CITUS_SOURCE"
    # In a subshell, since what cargo and make are told by their callers means something to configure and to make, too.
    (
        unset MAKEFLAGS MAKELEVEL MFLAGS GNUMAKEFLAGS CFLAGS CPPFLAGS LDFLAGS
        cd "$work"
        # Newer minor releases of 15 declare this function themselves, and Citus has a static one, which its code for 16 and 17 has not.
        ! grep -qs have_createdb_privilege "$("$PG_CONFIG" --includedir-server)/commands/dbcommands.h" || sed -i 's/^have_createdb_privilege(void)/citus_have_createdb_privilege(void)/' \
            src/include/pg_version_compat.h
        # The headers of the server say what it was built with, and nothing here compresses columns.
        grep -rl HAVE_LIBZSTD src/backend/columnar | xargs sed -i 's/\bHAVE_LIBZSTD\b/HAVE_CITUS_LIBZSTD/'
        # The server's headers want those of Kerberos, for pointers that Citus does not follow.
        mkdir -p stub
        if ! echo '#include <gssapi/gssapi.h>' | gcc -E - >/dev/null 2>&1; then
            mkdir -p stub/gssapi
            echo 'typedef struct { unsigned long length; void *value; } gss_buffer_desc; typedef void *gss_cred_id_t; typedef void *gss_ctx_id_t; typedef void *gss_name_t;' >stub/gssapi/gssapi.h
        fi
        ./configure --quiet PG_CONFIG="$PG_CONFIG" --without-libcurl --without-lz4 --without-zstd CFLAGS='-O2 -g0 -Wno-error' CPPFLAGS="-I$work/stub"
        make --silent -j "$(nproc)" with_llvm=no
        make --silent install-extension with_llvm=no DESTDIR="$work/installed"
    ) >"$work/log" 2>&1 || {
        grep -n -i error "$work/log" | head -n 20 >&2
        tail -n 10 "$work/log" >&2
        die "Citus could not be built (see above; all of it: $work/log)"
    }
    tar -C "$work/installed" -cf "$work/citus.tar" .
    mv "$work/citus.tar" "$built"
    rm -rf "$work"
}

# citus_start N: a coordinator and N workers, with both extensions in the database "citus" of each, which is the one in use afterwards.
citus_start() {
    local i
    citus_node coordinator 1
    psql -XAtq -v ON_ERROR_STOP=1 -c "SELECT citus_set_coordinator_host('$(citus_host coordinator)', 5432)" >/dev/null
    for ((i = 1; i <= $1; i++)); do citus_add "$i"; done
    psql -XAtq -v ON_ERROR_STOP=1 -c 'CREATE EXTENSION bloom_ident' -c 'CREATE EXTENSION bloom_ident_citus'
}

# citus_add N: one more worker, workerN.
citus_add() {
    citus_node "worker$1" $(($1 + 1))
    citus_use coordinator
    psql -XAtq -v ON_ERROR_STOP=1 -c "SELECT citus_add_node('$(citus_host "worker$1")', 5432)" >/dev/null
}

# citus_node NAME N: a server with Citus, the N-th one.
citus_node() {
    [[ -z ${CITUS_TCP:-} ]] || CLUSTER_ADDRESS[$1]=127.0.0.$2
    cluster_init "$1"
    cluster_conf "$1" "shared_preload_libraries = 'citus'" 'max_prepared_transactions = 100' 'max_connections = 200' 'max_worker_processes = 16' 'wal_level = logical' \
        'shared_buffers = 64MB' 'citus.shard_count = 8' 'citus.max_adaptive_executor_pool_size = 2' 'citus.enable_statistics_collection = off' \
        "citus.local_hostname = '$(citus_host "$1")'"
    [[ -z ${CITUS_CONF:-} ]] || cluster_conf "$1" "$CITUS_CONF"
    cluster_start "$1"
    cluster_use "$1"
    createdb citus
    citus_use "$1"
    psql -XAtq -v ON_ERROR_STOP=1 -c 'CREATE EXTENSION citus'
}

# citus_host NAME: what the other nodes call it.
citus_host() { echo "${CLUSTER_ADDRESS[$1]:-$SCRATCH/$1}"; }

# citus_use NAME: its database.
citus_use() {
    cluster_use "$1"
    export PGDATABASE=citus
}
