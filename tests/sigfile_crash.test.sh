#!/usr/bin/env bash
# The server is killed while sessions write to sigfile indexes, merge, rebuild and vacuum them: after recovery the indexes
# are sound and answer as the tables do. CRASHES says how often.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"
# shellcheck source=tests/sigfile.sh
source "$(dirname "${BASH_SOURCE[0]}")/sigfile.sh"

rounds=${CRASHES:-6}

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
sigfile_complaints 'deadlock detected|connection to server|postmaster exit|the database system is|person_other|could not open relation with OID|tuple concurrently updated'
# Where a parallel VACUUM notices that the postmaster is gone while it ends its transaction, the server asserts of itself what is not so.
if awk '!/TRAP.*"pgstat.c"/ || before !~ /postmaster exited during a parallel transaction/; { before = $0 }' "$SCRATCH/sigfile_crash/log" |
    grep -E 'PANIC|TRAP|terminated by signal (6|11)'; then die 'the server crashed by itself'; fi
ask -c 'DELETE FROM person WHERE id % 2 = 0' -c 'VACUUM person' -c 'VACUUM person'
sigfile_verify 'at the end'
say "$rounds crashes; at the end $(ask -c "SELECT format('%s rows, %s segments, %s kB, %s of them free', rows + null_rows, segments, bytes / 1024, free_bytes / 1024) FROM bloom_sigfile_stats('person_sig')")"
