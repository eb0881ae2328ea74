# shellcheck shell=bash
# Sourced: clusters that stay up when the script that made them ends: the one of the demonstration, and the one to work with (make dev).
# Needs common.sh and cluster.sh.

# target/NAME-cluster has the scratch directory and the PostgreSQL of the cluster NAME, a line each.

# kept_keep NAME: the cluster "main" stays.
kept_keep() {
    SCRATCH_KEEP=1
    printf '%s\n' "$SCRATCH" "${PG_CONFIG:-}" >"$ROOT/target/$1-cluster"
}

# kept_enter NAME: its cluster is the one in use; false if there is none, or if it does not run.
kept_enter() {
    local state=$ROOT/target/$1-cluster stage
    [[ -e $state ]] || return
    # After a reboot the directory is gone; and never take one that is not ours.
    SCRATCH=$(sed -n 1p "$state")
    [[ -e $SCRATCH/.bloom_ident-scratch ]] || return
    PG_CONFIG=$(sed -n 2p "$state")
    stage=$SCRATCH/stage
    PGBIN=$(dirname "$(find "$stage" -name pg_ctl)")
    PGXS_TEST=$stage$("$PG_CONFIG" --pkglibdir)/pgxs/src/test
    PATH=$PGBIN:$PATH
    export SCRATCH PGBIN PGXS_TEST PATH
    cluster_use main
    pg_isready -q
}

# kept_stop NAME: stops and removes its cluster, if there is one.
kept_stop() {
    local state=$ROOT/target/$1-cluster
    if [[ -e $state ]]; then
        if kept_enter "$1" || [[ -e $SCRATCH/.bloom_ident-scratch ]]; then
            say "stopping the $1 cluster"
            cluster_stop main immediate || true
            rm -rf "$SCRATCH"
        fi
        rm -f "$state"
    fi
}

# library_is_loaded FILE: whether a new session has this very file of the library in its memory, and not one that was there before.
library_is_loaded() {
    local installed mapped
    installed=$("$PGBIN/pg_config" --pkglibdir)/bloom_ident.so
    cmp -s "$1" "$installed" || return
    mapped=$(psql -XAtq -c "LOAD 'bloom_ident'" -c "SELECT pg_read_file('/proc/self/maps')")
    grep -qE "^[^ ]+ [^ ]+ [^ ]+ [^ ]+ $(stat -c %i "$installed") .*bloom_ident\.so$" <<<"$mapped"
}
