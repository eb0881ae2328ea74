#!/usr/bin/env bash
# A streaming standby searches sigfile indexes while the primary inserts, merges, removes and uses pages again, and crashes
# once: searches may be canceled by conflicts with recovery, but are never wrong. Then the standby takes over. STANDBY_SECONDS says how long.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"
# shellcheck source=tests/sigfile.sh
source "$(dirname "${BASH_SOURCE[0]}")/sigfile.sh"

seconds=${STANDBY_SECONDS:-9}

cluster_init sigfile_primary
# The standby compares each page that it replays with the primary's.
cluster_conf sigfile_primary 'wal_level = replica' 'autovacuum = off' 'shared_buffers = 4MB' 'wal_keep_size = 1GB' 'wal_consistency_checking = all'
cluster_start sigfile_primary
cluster_use sigfile_primary
sigfile_setup
cluster_standby sigfile_standby
cluster_conf sigfile_standby 'hot_standby_feedback = off' 'max_standby_streaming_delay = 1s' 'wal_retrieve_retry_interval = 100ms'
cluster_start sigfile_standby

# Rows are added only; then all kinds of writing, until the primary crashes, and after that.
for third in 1 2 3; do
    rm -f "$LOGS/stop"
    loops=()
    writers=(adding)
    ((third == 1)) || writers=(writing rebuilding)
    for what in "${writers[@]}"; do
        cluster_use sigfile_primary
        sigfile_loop "primary-${#loops[@]}" "sigfile_$what" &
        loops+=($!)
    done
    for n in 1 2 3; do
        cluster_use sigfile_standby
        sigfile_loop "standby-$n" sigfile_searching &
        loops+=($!)
    done
    sleep "$((seconds / 3))"
    if ((third == 2)); then
        cluster_kill sigfile_primary
        cluster_start sigfile_primary
    fi
    touch "$LOGS/stop"
    wait "${loops[@]}" || true
    cluster_use sigfile_primary
    ask -c 'VACUUM person'
    for index in $(ask -c "SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid"); do
        ask -c "DROP INDEX $index"
    done
    sigfile_verify "on the primary, $third"
    cluster_caught_up sigfile_primary sigfile_standby
    sigfile_verify "on the standby, $third"
done
conflicts=$(cat "$LOGS"/standby-*.err | grep -c 'conflict with recovery') || true
sigfile_complaints 'conflict with recovery|deadlock detected|connection to server|postmaster exit|the database system is|person_other|could not open relation with OID'
searches=$(sigfile_searches)
((searches > 0)) || die "only $searches comparisons"
rebuilt=$(cat "$LOGS"/*.out | grep -c '^REBUILT') || true

as_server "$PGBIN/pg_ctl" promote -w -s -D "$(cluster_dir sigfile_standby)"
cluster_use sigfile_standby
[[ $(ask -c 'SELECT pg_is_in_recovery()') == f ]] || die 'the standby was not promoted'
sigfile_verify 'promoted'
sigfile_writing 7 | ask >/dev/null
ask -c 'VACUUM person' -c "SELECT bloom_sigfile_merge('person_sig')" -c 'VACUUM person' >/dev/null
sigfile_writing 77 | ask >/dev/null
sigfile_verify 'promoted and written to'
say "$searches comparisons on the standby, $conflicts canceled by conflicts with recovery, $rebuilt older than a rebuilt index"
