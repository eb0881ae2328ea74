#!/usr/bin/env bash
# The workers of a fit: the model is the same bit for bit for any number of them; whatever happens to one of them or to the leader is an error, leaves nothing
# behind, and the session goes on.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

cluster_init model_workers
cluster_conf model_workers 'autovacuum = off' 'max_worker_processes = 8' 'jit = off' 'client_min_messages = error' 'max_wal_size = 4GB'
cluster_start model_workers
cluster_use model_workers

sql() { timeout -k 5 120 psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

# Values of few kinds that are often missing: next to every pair has a pattern of its own. Four records each have a house in common.
sql -c 'CREATE EXTENSION bloom_ident' -c "CREATE TABLE record AS SELECT i AS id, $(for field in {1..8}; do
    echo "CASE WHEN abs(hashint8extended(i, $field)) % 5 > 0 THEN substr('abcdefghij', 1 + abs(hashint8extended(i, -$field) % 6)::int, 3) END AS f$field,"
done) 'h' || i / 4 AS house FROM generate_series(1, 10000) AS i"
fit="SELECT md5(bloom_model_fit('record', 'id', '{$(printf 'f%s,' {1..8})house}')::text)"

# workers: how many there are
workers="SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker'"

expected=$(sql -c 'SET max_parallel_workers_per_gather = 0' -c "$fit")
for n in 1 2 4; do
    sql -c "SET max_parallel_workers_per_gather = $n" -c "$fit" >"$SCRATCH/model_workers.found" &
    fitting=$!
    most=0
    while alive $fitting; do
        now=$(sql -c "$workers")
        most=$((now > most ? now : most))
        sleep 0.02
    done
    wait $fitting || die "the fit with $n workers failed"
    ((most > 0 && most <= n)) || die "$most workers, not $n"
    [[ $(<"$SCRATCH/model_workers.found") == "$expected" ]] || die "another model with $n workers"
    say "$n workers: the same"
done
# where the patterns have no room in shared memory
[[ $(sql -c "SET max_parallel_workers_per_gather = 2; SET maintenance_work_mem = '1MB'" -c "$fit") == "$expected" ]] || die 'another model in little memory'

# stopped NAME STATEMENT SAID [OVER] [FIT]: STATEMENT is run when a fit has workers, which says so then. The session goes on if it is not OVER.
stopped() {
    local fitting i
    psql -XAtq -c 'SET max_parallel_workers_per_gather = 2' -c "${5:-$fit}" -c "$fit" >"$SCRATCH/model_workers.found" 2>"$SCRATCH/model_workers.said" &
    fitting=$!
    # the server waits itself: a fit may be through before another session has begun
    sql -c "DO \$\$ BEGIN
        FOR i IN 1 .. 5000 LOOP
            PERFORM pg_stat_clear_snapshot();
            EXIT WHEN ($workers) >= 2;
            PERFORM pg_sleep(0.005);
        END LOOP;
    END \$\$" -c "$2" >/dev/null
    wait $fitting || true
    grep -q "$3" "$SCRATCH/model_workers.said" || die "$1: $(cat "$SCRATCH/model_workers.said")"
    # the second fit of the session
    [[ -n ${4:-} || $(<"$SCRATCH/model_workers.found") == "$expected" ]] || die "$1: the session fits another model: $(<"$SCRATCH/model_workers.found")"
    for ((i = 0; i < 100; i++)); do
        (($(sql -c "$workers") > 0)) || break
        sleep 0.02
    done
    ((i < 100)) || die "$1: workers are left"
    say "$1: an error, and nothing is left"
}
leader="backend_type = 'client backend' AND query LIKE '%bloom_model_fit%' AND pid <> pg_backend_pid()"
stopped 'a canceled fit' "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE $leader" 'canceling statement'
stopped 'a worker that is terminated' "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE backend_type = 'parallel worker' LIMIT 1) AS w" \
    'terminating .* due to administrator command'
stopped 'a session that is terminated' "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE $leader" 'terminating connection' over

# A subtransaction takes the workers with it.
stopped 'a fit that is canceled in a subtransaction' "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE $leader" 'it was canceled' '' "
    DO \$\$ BEGIN PERFORM ${fit#SELECT }; EXCEPTION WHEN query_canceled THEN SET client_min_messages = warning; RAISE WARNING 'it was canceled'; END \$\$"
! grep -E 'PANIC|TRAP|terminated by signal' "$SCRATCH/model_workers/log" || die 'a process crashed'
