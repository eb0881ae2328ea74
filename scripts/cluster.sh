# shellcheck shell=bash
# Sourced: scratch clusters that leave the system's PostgreSQL alone.
# Needs common.sh, packages.sh, postgres.sh, cargo.sh and a selected PostgreSQL.
#
#   scratch_cluster [CONF...] the next five, and cluster_use, for a cluster "main"
#   scratch_open              temporary directory $SCRATCH; removed on exit with all clusters
#   stage_install             private copy of PostgreSQL plus the extension; sets $PGBIN
#   cluster_init NAME         initdb, socket only, no authentication
#   cluster_conf NAME 'a = b' append to postgresql.conf (the last setting wins)
#   cluster_start NAME        start and wait; log in $SCRATCH/NAME/log
#   cluster_use NAME          PGHOST, PGPORT, PGUSER, PGDATABASE for psql
#   cluster_stop NAME [MODE]  MODE as for pg_ctl: fast (default), immediate, smart
#   cluster_kill NAME         crash: SIGKILL to every process of the server
#   cluster_dir NAME          its data directory
#   cluster_standby NAME      a streaming standby of the cluster in use, not started yet
#   cluster_caught_up A B     waits until standby B has replayed what primary A has written; uses B
#   cluster_prepare NAME      in place of cluster_init: the data directory is made by
#                             other means (as_server pg_basebackup -D "$(cluster_dir NAME)")
#   as_server COMMAND...      run as the server's user, in $SCRATCH
#
# The script that opened the scratch directory exports what others need to make
# clusters in it: see test-env.sh.

CLUSTERS=()
# By the name of a cluster: the address that it listens at besides its socket, which only those have that are told.
declare -A CLUSTER_ADDRESS=()
SCRATCH_OWNED=
SCRATCH_KEEP=

# PostgreSQL refuses to run as root.
server_user() {
    if ((EUID != 0)); then
        id -un
    elif id postgres >/dev/null 2>&1; then
        echo postgres
    else
        echo nobody
    fi
}

as_server() (
    # That user may not be able to enter the caller's directory or home.
    cd "${AS_SERVER_DIR:-$SCRATCH}" || exit
    if ((EUID == 0)); then
        HOME=$PWD exec runuser -u "$(server_user)" -- "$@"
    else
        exec "$@"
    fi
)

scratch_open() {
    local name base=${TMPDIR:-/tmp}
    # Settings meant for another server must not reach this one.
    for name in $(compgen -v PG); do
        case $name in
            PG_CONFIG | PG_MAJOR | PGRX_*) ;;
            *) unset "$name" ;;
        esac
    done
    # With it, errors of the server would carry stack traces.
    unset RUST_BACKTRACE
    # Socket paths end at 107 bytes, and the server's user must get there.
    # Commas and quotes mean something in socket paths, to the server and to libpq.
    if ((${#base} > 60)) || [[ $base == *[^[:alnum:]/._+-]* ]] || ! AS_SERVER_DIR=/ as_server test -x "$base" 2>/dev/null; then
        base=/tmp
    fi
    SCRATCH=$(mktemp -d "$base/bloom_ident.XXXXXX")
    SCRATCH_OWNED=1
    scratch_trap
    chmod 755 "$SCRATCH"
    : >"$SCRATCH/.bloom_ident-scratch"
    export SCRATCH
}

scratch_trap() {
    trap scratch_close EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap 'exit 129' HUP
}

# Runs on exit: stops this script's clusters; removes what it made.
scratch_close() {
    local name
    # make passes a signal on that the whole group has got already: it must not cut this short.
    trap '' INT TERM HUP
    [[ -z $SCRATCH_KEEP ]] || return 0
    for name in "${CLUSTERS[@]}"; do
        cluster_stop "$name" immediate || true
        rm -rf "${SCRATCH:?}/$name"
    done
    [[ -z $SCRATCH_OWNED ]] || rm -rf "${SCRATCH:?}"
}

# PostgreSQL finds its files relative to its executable, so a copy that keeps the
# relative paths is an installation of its own.
stage_install() {
    local stage=$SCRATCH/stage dir libs bindir pkglibdir sharedir
    bindir=$("$PG_CONFIG" --bindir)
    pkglibdir=$("$PG_CONFIG" --pkglibdir)
    sharedir=$("$PG_CONFIG" --sharedir)
    # By name: with some distributions this directory is /usr/bin.
    mkdir -p "$stage$bindir"
    cp -L "$bindir"/{postgres,initdb,psql,createdb,dropdb,vacuumdb,reindexdb,pgbench,pg_*} "$stage$bindir"
    for dir in "$pkglibdir" "$sharedir"; do
        mkdir -p "$stage$dir"
        # Bitcode is for JIT inlining only, and large.
        tar -C "$dir" --exclude=./bitcode --exclude=./man -cf - . | tar -C "$stage$dir" -xf -
    done
    # A PostgreSQL from a Python wheel has its libraries beside the package.
    for libs in "$bindir"/../../../*.libs; do
        [[ -d $libs ]] || continue
        libs=$(readlink -f "$libs")
        mkdir -p "$stage$libs"
        cp -R "$libs/." "$stage$libs"
    done
    place_extension "$stage"
    chmod -R a+rX "$stage"
    PGBIN=$stage$bindir
    PGXS_TEST=$stage$pkglibdir/pgxs/src/test
    [[ -z ${VALGRIND:-} ]] || under_valgrind
    PATH=$PGBIN:$PATH
    export PGBIN PGXS_TEST PATH
    [[ $("$PGBIN/pg_config" --sharedir) == "$stage$sharedir" ]] ||
        die "the PostgreSQL of $PG_CONFIG cannot be copied (its directories are fixed), so there is no private installation to test in"
}

# Servers run under valgrind, which writes what it finds to $SCRATCH/valgrind.PID.log; what only makes or asks for one runs without. It knows
# what memory the server has given out if that is built with SOURCE_FLAGS=-DUSE_VALGRIND.
under_valgrind() {
    local known
    known=$("$PG_CONFIG" --sharedir)/valgrind.supp
    mv "$PGBIN/postgres" "$PGBIN/postgres.alone"
    cat >"$PGBIN/postgres" <<EOF
#!/bin/sh
case " \$* " in
    *" -D "*) ;;
    *) exec "$PGBIN/postgres.alone" "\$@" ;;
esac
case " \$* " in
    *" --boot "* | *" --single "* | *" --check "* | *" -C "*) exec "$PGBIN/postgres.alone" "\$@" ;;
esac
exec valgrind --quiet --trace-children=yes --track-origins=yes --read-var-info=no --leak-check=no --gen-suppressions=all \\
    --num-callers=30 --error-markers=VALGRINDERROR-BEGIN,VALGRINDERROR-END --log-file="$SCRATCH/valgrind.%p.log" \\
    --suppressions="$known" --suppressions="$ROOT/tests/valgrind.supp" "$PGBIN/postgres.alone" "\$@"
EOF
    chmod 755 "$PGBIN/postgres"
    # Its server writes there.
    ((EUID != 0)) || chown "$(server_user)" "$SCRATCH"
}

# cluster_dir NAME: where a data directory made by other means (pg_basebackup) belongs.
cluster_dir() { echo "$SCRATCH/$1/data"; }

# cluster_prepare NAME: directory and registration without initdb.
cluster_prepare() {
    local name=$1
    mkdir -m 700 "$SCRATCH/$name"
    ((EUID != 0)) || chown "$(server_user)" "$SCRATCH/$name"
    ((${#CLUSTERS[@]} > 0)) || [[ -n $SCRATCH_OWNED ]] || scratch_trap
    CLUSTERS+=("$name")
}

# cluster_init NAME [INITDB_OPTION...]
cluster_init() {
    local name=$1 data
    data=$(cluster_dir "$name")
    shift
    cluster_prepare "$name"
    as_server "$PGBIN/initdb" -D "$data" -E UTF8 --locale=C.UTF-8 -A trust -U postgres \
        --no-sync "$@" >"$SCRATCH/$name/initdb.log" 2>&1 || {
        tail -n 20 "$SCRATCH/$name/initdb.log" >&2
        die "initdb of cluster $name failed"
    }
    # Plans that are forced have costs beyond measure, and each would be compiled.
    cluster_conf "$name" 'fsync = off' 'jit = off'
    # What one run wants of every server, such as SERVER_CONF='debug_discard_caches = 1'.
    [[ -z ${SERVER_CONF:-} ]] || cluster_conf "$name" "$SERVER_CONF"
    # A superuser without a password may act as the server's user: nobody else must reach it.
    cluster_conf "$name" 'unix_socket_permissions = 0700'
}

# cluster_conf NAME 'setting = value'...
cluster_conf() {
    local name=$1
    shift
    printf '%s\n' "$@" | as_server tee -a "$(cluster_dir "$name")/postgresql.conf" >/dev/null
}

cluster_start() {
    local name=$1 data
    data=$(cluster_dir "$name")
    # On the command line, so that a copied postgresql.conf (standby) cannot win.
    as_server "$PGBIN/pg_ctl" start -w -t 60 -s -D "$data" -l "$SCRATCH/$name/log" \
        -o "-c listen_addresses='${CLUSTER_ADDRESS[$name]:-}' -c unix_socket_directories='$SCRATCH/$name' -c port=5432" \
        2>"$SCRATCH/$name/pg_ctl.log" || {
        cat "$SCRATCH/$name/pg_ctl.log" >&2
        tail -n 30 "$SCRATCH/$name/log" >&2
        die "cluster $name did not start"
    }
}

# Zombies count as gone: in a container nobody may reap them.
alive() {
    grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$1/status"
}

cluster_stop() {
    local name=$1 mode=${2:-fast} data pid
    data=$(cluster_dir "$name")
    # The file outlives a killed server.
    pid=$(head -n 1 "$data/postmaster.pid" 2>/dev/null) || return 0
    alive "$pid" || return 0
    as_server "$PGBIN/pg_ctl" stop -w -s -D "$data" -m "$mode"
}

# cluster_standby NAME
cluster_standby() {
    cluster_prepare "$1"
    as_server "$PGBIN/pg_basebackup" -h "$PGHOST" -p "$PGPORT" -U postgres -R -c fast -D "$(cluster_dir "$1")"
}

# cluster_caught_up PRIMARY STANDBY
cluster_caught_up() {
    local position i
    cluster_use "$1"
    position=$(psql -XAtqc 'SELECT pg_current_wal_insert_lsn()')
    cluster_use "$2"
    for ((i = 0; i < 600; i++)); do
        [[ $(psql -XAtqc "SELECT pg_last_wal_replay_lsn() >= '$position'") != t ]] || return 0
        sleep 0.1
    done
    die "the standby $2 does not catch up: $(grep -E 'FATAL|PANIC' "$SCRATCH/$2/log" | tail -n 5)"
}

# As after a power cut: the processes get no chance to write anything.
cluster_kill() {
    local data pid pids
    data=$(cluster_dir "$1")
    pid=$(head -n 1 "$data/postmaster.pid")
    # One born after the children were counted would wait for ever for a lock that a dead one holds.
    kill -STOP "$pid"
    while alive "$pid" && ! grep -qs '^State:[[:space:]]*T' "/proc/$pid/status"; do sleep 0.01; done
    # The children would notice that the postmaster is dead, but not at once.
    read -ra pids <<<"$pid $(cat "/proc/$pid/task/$pid/children")"
    kill -KILL "${pids[@]}" 2>/dev/null || true
    for pid in "${pids[@]}"; do
        while alive "$pid"; do sleep 0.1; done
    done
}

cluster_use() {
    export PGHOST=$SCRATCH/$1 PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
}

scratch_cluster() {
    say "scratch cluster, $("$PG_CONFIG" --version)"
    scratch_open
    stage_install
    cluster_init main
    # What the run wants of every server wins (see cluster_init).
    (($# == 0)) || cluster_conf main "$@" ${SERVER_CONF:+"$SERVER_CONF"}
    cluster_start main
    cluster_use main
}
