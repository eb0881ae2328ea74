#!/usr/bin/env bash
# The server is killed while sessions write to sigfile indexes, merge, rebuild and vacuum them: after recovery the indexes
# are sound and answer as the tables do. CRASHES says how often.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"
# shellcheck source=tests/sigfile.sh
source "$(dirname "${BASH_SOURCE[0]}")/sigfile.sh"

rounds=${CRASHES:-6}
killed=0

cluster_init sigfile_crash
cluster_conf sigfile_crash 'checkpoint_timeout = 30s' 'max_wal_size = 32MB' 'min_wal_size = 32MB' \
    'shared_buffers = 2MB' 'bgwriter_delay = 10ms' 'autovacuum_naptime = 1s' 'deadlock_timeout = 100ms'
cluster_start sigfile_crash
cluster_use sigfile_crash
sigfile_setup

for ((round = 1; round <= rounds; round++)); do
    sigfile_start sigfile_writing sigfile_writing sigfile_writing sigfile_maintaining sigfile_maintaining
    sleep "$((RANDOM % 2)).$((RANDOM % 9 + 1))"
    ((round % 3)) || ask -c CHECKPOINT
    cluster_kill sigfile_crash
    sigfile_stop
    cluster_start sigfile_crash
    # an index that was being built, and the table without a log
    for index in $(ask -c "SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid"); do
        ask -c "DROP INDEX $index"
    done
    sigfile_verify "after crash $round"
    [[ $(ask -c 'SELECT count(*) FROM unlogged') == 0 ]] || die "after crash $round the unlogged table has rows"
done
# A VACUUM that sleeps at every page is killed in each of its phases: its process, which ends all others, and the whole server.
for phase in 'vacuuming indexes' 'vacuuming heap' 'cleaning up indexes' 'vacuuming indexes' 'cleaning up indexes'; do
    # Rows at the end of the table go, so that it is cut off.
    last=$(ask -c 'SELECT max(id) FROM person')
    ask -c "INSERT INTO person (sig) SELECT name_of(i) FROM generate_series(1, 3000) AS i" -c "DELETE FROM person WHERE id > $last OR id % 7 = $((last % 7))"
    psql -XAtq -c "SET vacuum_cost_delay = '2ms'; SET vacuum_cost_limit = 20" -c 'VACUUM person' >/dev/null 2>&1 &
    vacuum=$! process=
    while [[ -z $process ]] && kill -0 $vacuum 2>/dev/null; do
        process=$(ask -c "SELECT pid FROM pg_stat_progress_vacuum WHERE phase = '$phase' AND relid = 'person'::regclass" 2>/dev/null) || true
    done
    if [[ -n $process ]] && ((killed++ % 2 == 0)); then
        kill -KILL "$process" || true
        wait $vacuum || true
        until ask -c 'SELECT 1' >/dev/null 2>&1; do sleep 0.1; done
    else
        cluster_kill sigfile_crash
        wait $vacuum || true
        cluster_start sigfile_crash
    fi
    sigfile_verify "after a kill while $phase"
done
((killed > 0)) || die 'no VACUUM was there to be killed'
sigfile_complaints 'deadlock detected|connection to server|postmaster exit|the database system is|person_other|could not open relation with OID|tuple concurrently updated'
# Where a parallel VACUUM notices that the postmaster is gone while it ends its transaction, the server asserts of itself what is not so.
# Other processes may write between both lines, so the process tells that they belong together.
if awk 'match($0, /\[[0-9]+\]/) && /postmaster exited during a parallel transaction/ { said[substr($0, RSTART + 1, RLENGTH - 2)] = 1 }
    { process = $0; sub(/.*PID: /, "", process); sub(/[^0-9].*/, "", process) } !/TRAP.*"pgstat.c"/ || !(process in said)' "$SCRATCH/sigfile_crash/log" |
    grep -E -B 5 'PANIC|TRAP|terminated by signal (6|11)'; then die 'the server crashed by itself'; fi
ask -c 'DELETE FROM person WHERE id % 2 = 0' -c 'VACUUM person' -c 'VACUUM person'
sigfile_verify 'at the end'
say "$rounds crashes; at the end $(ask -c "SELECT format('%s rows, %s segments, %s kB, %s of them free', rows + null_rows, segments, bytes / 1024, free_bytes / 1024) FROM bloom_sigfile_stats('person_sig')")"
