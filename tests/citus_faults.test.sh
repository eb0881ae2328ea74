#!/usr/bin/env bash
# bloom_ident_citus where something goes wrong or goes on meanwhile: roles that may not read, policies, jobs that are canceled, rolled back or run at once, workers
# that are killed within a job and within its commit, shards that move, and a job that is asked of a worker. Citus is built from the source that CITUS_SOURCE names.

# shellcheck source=tests/citus.sh
source "$(dirname "${BASH_SOURCE[0]}")/citus.sh"

nodes='coordinator worker1 worker2'

# nothing_left WHAT [FILES]: no tables of a grid, sessions that work for one, prepared transactions or files are left on any node; files may be with FILES=may.
nothing_left() {
    local node left i
    # A session that is told to stop needs a moment.
    for ((i = 0; i < 100; i++)); do
        left=$(for node in $nodes; do
            citus_use "$node"
            sql -c "SELECT '$node has ' || relname FROM pg_class WHERE relname ~ '^(_bloom_citus|none)'" \
                -c "SELECT '$node works at ' || query FROM pg_stat_activity WHERE state <> 'idle' AND query LIKE '%bloom\_citus%' AND pid <> pg_backend_pid() AND query NOT LIKE '%pg_stat_activity%'" \
                -c "SELECT '$node has prepared ' || gid FROM pg_prepared_xacts"
            [[ ${2:-} == may ]] || find "$(cluster_dir "$node")/base/pgsql_job_cache" "$(cluster_dir "$node")/base/pgsql_tmp" -type f 2>/dev/null || true
        done)
        citus_use coordinator
        [[ -n $left ]] || return 0
        sleep 0.1
    done
    die "$1: $left"
}
# job PAIRS THRESHOLD: all pairs of the table person in the table PAIRS.
job() { psql -XAtq -c "SELECT bloom_citus_duplicates('person', 'n', 'sig', $2, '$1', 4)"; }
# wait_for NODE STATEMENT: until the statement gives t on the node.
wait_for() {
    local i found
    citus_use "$1"
    for ((i = 0; i < 600; i++)); do
        found=$(sql -c "$2" 2>/dev/null) || true
        [[ $found != t ]] || break
        sleep 0.05
    done
    citus_use coordinator
    [[ $found == t ]] || die "in vain: $2 on $1"
}
# of_the_job: whether a session of a worker compares cells.
of_the_job="SELECT count(*) > 0 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%_bloom_citus_cell(%' AND pid <> pg_backend_pid()"

citus_start 2
sql -c "CREATE TABLE plain AS SELECT n, n % 3 AS tenant, bloom_signature(md5((n / 2)::text) || CASE WHEN n % 2 = 0 THEN 'x' ELSE '' END) AS sig FROM generate_series(1, ${CITUS_ROWS:-6000}) AS n" -c 'CREATE TABLE person AS TABLE plain' \
    -c "SELECT create_distributed_table('person', 'n')" -c "CREATE TABLE truth AS SELECT * FROM bloom_duplicates('plain', 'n', 'sig', 0.8)" >/dev/null
[[ $(sql -c 'SELECT count(*) FROM truth') -gt 1000 ]] || die 'there are few pairs'

# Whoever may not read the table learns nothing, not from what cells do either, with whatever relation; and a role that may read some rows has their pairs.
sql -c 'CREATE ROLE stranger LOGIN' -c 'GRANT CREATE ON SCHEMA public TO stranger' -c 'CREATE TABLE own AS SELECT * FROM plain LIMIT 10' -c 'ALTER TABLE own OWNER TO stranger'
refused 42501 "SET ROLE stranger; SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.9, 'none')"
of_job="jsonb_build_object('threshold', 0.8, 'a_key', 'n', 'a_sig', 'sig', 'b_key', 'n', 'b_sig', 'sig')"
for side in "'public.plain', NULL, true, false" "'public.own', 'public.plain', false, false" "'public.own', 'public.plain', false, true"; do
    refused 42501 "SET ROLE stranger; SELECT * FROM _bloom_citus_cell($side, false, $of_job)"
done
shard=$(sql -c "SELECT min(shard_name::text) FROM citus_shards WHERE table_name = 'person'::regclass AND nodename = '$(citus_host worker1)'")
citus_use worker1
refused 42501 "SET ROLE stranger; SELECT * FROM _bloom_citus_cell('public.$shard', NULL, true, false, false, $of_job)"
citus_use coordinator
sql -c 'CREATE TABLE ruled AS TABLE plain' -c "SELECT create_distributed_table('ruled', 'n')" -c 'GRANT SELECT ON ruled TO stranger' -c 'ALTER TABLE ruled ENABLE ROW LEVEL SECURITY' \
    -c 'CREATE POLICY of_tenant ON ruled FOR SELECT TO stranger USING (tenant < 2)' >/dev/null
sql -c 'SET ROLE stranger' -c "SELECT bloom_citus_duplicates('ruled', 'n', 'sig', 0.8, 'of_stranger', 3)" >/dev/null
sql -c 'CREATE TABLE truth_of_stranger AS SELECT t.* FROM truth AS t JOIN plain AS a ON a.n = t.a::integer JOIN plain AS b ON b.n = t.b::integer WHERE a.tenant < 2 AND b.tenant < 2'
same of_stranger truth_of_stranger 'row security'
say 'roles have the pairs of what they may read'

# Taken back, canceled, out of time.
sql -c 'BEGIN' -c "SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.9, 'none', 2)" -c ROLLBACK >/dev/null
nothing_left 'a job that was rolled back'
refused 57014 "SET statement_timeout = 400; SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.05, 'none', 2)"
nothing_left 'a job that was out of time'
job none 0.05 >"$SCRATCH/canceled" 2>&1 &
wait_for worker1 "$of_the_job"
sql -c "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE query LIKE 'SELECT bloom_citus_duplicates%'" >/dev/null
! wait $! || grep -q 'canceling statement due to user request' "$SCRATCH/canceled" || die "a job that was canceled: $(<"$SCRATCH/canceled")"
nothing_left 'a job that was canceled'

# The other jobs are out of time ever later, until they are done: each ends soon then, wherever it is, and leaves nothing, as it has found its tables.
# ever_later FIRST STATEMENT: the time begins at FIRST milliseconds.
ever_later() {
    local time=$1 begun took told status
    while :; do
        begun=$(date +%s%N) status=0
        told=$(sql -v VERBOSITY=sqlstate -c "SET statement_timeout = $time" -c "$2" 2>&1) || status=$?
        took=$((($(date +%s%N) - begun) / 1000000))
        ((status > 0)) || break
        # Citus begins a subtransaction to see who owns what DROP TABLE is to drop, and takes every error there for its answer: of one that is out of time there, the next
        # statement says that the transaction has failed. With PostgreSQL 17 it lets go of what its calls of workers have waited for too late, so that there is a second error.
        [[ $told == 'ERROR:  57014'* || $told == 'ERROR:  25P02' ]] || die "$2: out of time after $time ms, it says $told"
        ((took < time + 2000)) || [[ $told == 'ERROR:  25P02' ]] || die "$2: it was to end after $time ms, and has ended after $took"
        nothing_left "$2: out of time after $time ms"
        time=$((time * 2))
    done
}
sql -c "CREATE TABLE who AS SELECT n, 'name' || n / 2 % 700 AS surname, 'first' || n / 2 % 90 AS given_name, (date '1950-01-01' + n / 2)::text AS dob, bloom_signature(md5((n / 2)::text)) AS sig FROM generate_series(1, 7200) AS n" \
    -c 'ALTER TABLE who ADD PRIMARY KEY (n)' -c "SELECT create_distributed_table('who', 'n')" -c 'CREATE INDEX ON who USING sigfile (sig)' \
    -c 'CREATE TABLE model (model jsonb)' -c "SELECT bloom_citus_duplicates('who', 'n', 'sig', 0.8, 'of_who')" -c 'CREATE TABLE changed AS SELECT n::text AS key FROM who WHERE n % 3 = 0' >/dev/null
pairs=$(sql -c 'SELECT count(*) FROM of_who')
ever_later 300 "INSERT INTO model SELECT bloom_citus_model_fit('who', 'n', '{surname,given_name,dob}', sample => 5000)"
ever_later 100 "SELECT bloom_citus_model_duplicates('who', 'n', model, 'of_model', 0.5, '{\"force\": true}') FROM model"
ever_later 100 "SELECT bloom_citus_pairs_refresh('of_who', 'who', 'n', 'sig', 0.8, 'changed')"
[[ $(sql -c 'SELECT count(*) FROM of_who') == "$pairs" ]] || die 'pairs that were brought up to date are otherwise'
ever_later 50 "SELECT bloom_citus_guard_create('who', 'sig', 0.8, 'reject', 'none_of_who'); SELECT bloom_citus_guard_drop('none_of_who')"
nothing_left 'a guard that was dropped'
say "jobs that are out of time leave nothing: $(sql -c 'SELECT count(*) FROM of_model') pairs of a model, $pairs of signatures"

# A session of a worker is killed within the job, and so the worker starts anew; or the worker ends at once.
for how in session worker; do
    job none 0.05 >"$SCRATCH/killed" 2>&1 &
    wait_for worker2 "$of_the_job"
    citus_use worker2
    pid=$(sql -c "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%_bloom_citus_cell(%' AND pid <> pg_backend_pid() LIMIT 1")
    citus_use coordinator
    if [[ $how == session ]]; then kill -KILL "$pid"; else cluster_stop worker2 immediate; fi
    wait $! || true
    grep -q ERROR "$SCRATCH/killed" || die "a job whose $how was killed: $(<"$SCRATCH/killed")"
    [[ $how == session ]] || cluster_start worker2
    wait_for worker2 'SELECT NOT pg_is_in_recovery()'
    sql -c 'SELECT recover_prepared_transactions()' >/dev/null
    # Citus takes the files of sessions that have crashed away when the server starts, and not when it begins again by itself.
    nothing_left "a job whose $how was killed" "$([[ $how == worker ]] || echo may)"
done
sql -c "SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.8, 'after_kill')" >/dev/null
same after_kill truth 'a job after a worker was killed'
say 'what fails, is canceled or killed leaves nothing'

# Within the commit: the first worker is held while it prepares, then the coordinator, when all have prepared; the second worker ends at once then. The
# coordinator commits, and what the second worker has prepared is committed when it is there again.
mkfifo "$SCRATCH/fifo"
psql -XAtq <"$SCRATCH/fifo" >"$SCRATCH/commit" 2>&1 &
session=$!
exec 9>"$SCRATCH/fifo"
printf '%s\n' 'BEGIN;' "SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.8, 'at_commit');" 'SELECT pg_backend_pid();' >&9
for ((i = 0; i < 600; i++)); do
    [[ $(wc -l <"$SCRATCH/commit") -lt 2 ]] || break
    sleep 0.1
done
backend=$(tail -n 1 "$SCRATCH/commit")
citus_use worker1
mapfile -t held < <(sql -c "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'citus_internal%' AND xact_start IS NOT NULL AND state = 'idle in transaction'")
((${#held[@]} > 0)) || die 'no session of a worker is within the transaction'
kill -STOP "${held[@]}"
printf 'COMMIT;\n' >&9
wait_for worker2 'SELECT count(*) > 0 FROM pg_prepared_xacts'
kill -STOP "$backend"
kill -CONT "${held[@]}"
wait_for worker1 'SELECT count(*) > 0 FROM pg_prepared_xacts'
cluster_stop worker2 immediate
kill -CONT "$backend"
exec 9>&-
wait "$session" || true
cluster_start worker2
wait_for worker2 'SELECT count(*) > 0 FROM pg_prepared_xacts'
sql -c 'SELECT recover_prepared_transactions()' >/dev/null
nothing_left 'a worker that ended within the commit'
same at_commit truth 'a worker that ended within the commit'
say 'a worker that ends within the commit has its part of the pairs afterwards'

# Two jobs at once, and the shards go to other nodes before, meanwhile and afterwards.
# move N: the N-th shard of person to the other worker.
move() {
    sql -c "SELECT citus_move_shard_placement(s.shardid, s.nodename, s.nodeport, n.nodename, n.nodeport, 'block_writes')
        FROM (SELECT * FROM citus_shards WHERE table_name = 'person'::regclass ORDER BY shardid OFFSET $1 LIMIT 1) AS s, pg_dist_node AS n WHERE n.nodename <> s.nodename AND n.noderole = 'primary' AND n.groupid > 0" >/dev/null
}
move 0
job first 0.8 >/dev/null &
first=$!
job second 0.8 >/dev/null &
second=$!
move 1
move 2
wait "$first" || die 'the first of two jobs at once has failed'
wait "$second" || die 'the second of two jobs at once has failed'
same first truth 'the first of two jobs at once'
same second truth 'the second of two jobs at once'
move 1
job moved 0.8 >/dev/null
same moved truth 'shards that were moved'
say 'two jobs at once, with shards that move'

# A worker cannot make distributed tables.
citus_use worker1
refused 0A000 "SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.9, 'none')"
citus_use coordinator

# Many rows that are equal: each is a pair with each other one. No worker takes much memory for that.
equal=${CITUS_EQUAL:-1500}
sql -c "CREATE TABLE equal AS SELECT n, bloom_signature('Erika Mustermann') AS sig FROM generate_series(1, $equal) AS n" -c "SELECT create_distributed_table('equal', 'n')" >/dev/null
pairs=$(sql -c "SELECT bloom_citus_duplicates('equal', 'n', 'sig', 0.9, 'equal_pairs', 3)")
[[ $pairs == $((equal * (equal - 1) / 2)) && $(sql -c 'SELECT count(DISTINCT (a, b)) FROM equal_pairs') == "$pairs" ]] || die "$equal equal rows have $pairs pairs"
say "$equal equal rows: $pairs pairs"
