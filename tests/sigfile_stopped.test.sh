#!/usr/bin/env bash
# A session is stopped while it holds the merge lock. Others enter rows until the tail has no room; then they wait, and when the lock
# is free they merge. Both can be cancelled at once, and the index has all rows.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

cluster_init stopped
cluster_conf stopped 'autovacuum = off' 'max_wal_size = 4GB'
cluster_start stopped
cluster_use stopped
sql -c 'CREATE EXTENSION bloom_ident' -c "
    CREATE TABLE person (id int, sig bloom);
    CREATE INDEX by_sig ON person USING sigfile (sig) WITH (tail_limit = 4096);
    INSERT INTO person SELECT i, bloom_signature(md5(i::text)) FROM generate_series(1, 40000) AS i"

# pid NAME: the process of the session that calls itself so.
pid() { sql -c "SELECT pid FROM pg_stat_activity WHERE application_name = '$1' AND backend_type = 'client backend'"; }
# state NAME: Lock if it waits for the merge lock, which is one of a tuple; elsewhere for what it waits.
state() { within 5 psql -XAtqc "SELECT CASE WHEN wait_event = 'extend' THEN 'LWLock' ELSE coalesce(wait_event_type, '') END FROM pg_stat_activity WHERE application_name = '$1'"; }
merging=
trap '[[ -z $merging ]] || kill -CONT "$merging" 2>/dev/null; scratch_close' EXIT

# within SECONDS COMMAND...: a session that is stopped anywhere may hold a lock of the server's memory, on which others wait without an end.
within() { timeout -k 1 "$@"; }

# stop_merging: a session that holds the lock, stopped.
stop_merging() {
    local tries held
    for ((tries = 0; tries < 200; tries++)); do
        sql -c 'INSERT INTO person SELECT i, bloom_signature(md5(i::text)) FROM generate_series(1, 300) AS i'
        PGAPPNAME=merging sql -c "SELECT bloom_sigfile_merge('by_sig')" >/dev/null 2>&1 &
        while [[ -z ${merging:=$(pid merging)} ]] && jobs -r %% >/dev/null 2>&1 && [[ -n $(jobs -r) ]]; do :; done
        if [[ -n $merging ]]; then
            kill -STOP "$merging" 2>/dev/null || true
            held=$(within 5 psql -XAtqc "SELECT count(*) FROM pg_locks WHERE pid = $merging AND locktype = 'tuple' AND granted") || held=
            [[ $held != 1 ]] || return 0
            kill -CONT "$merging" 2>/dev/null || true
        fi
        wait
        merging=
    done
    die 'no session was stopped with the merge lock'
}

# stop_merging_and_insert: and another session that waits for that lock. What waits for a lock of memory instead, or for that of the
# index's end while it holds one, says nothing of the lock that is meant: such a stop is given up, and the next one tried.
stop_merging_and_insert() {
    local tries looks seen
    for ((tries = 0; tries < 20; tries++)); do
        stop_merging
        insert
        for ((looks = 0; looks < 300; looks++)); do
            seen=$(state inserting) || break
            [[ $seen != Lock ]] || return 0
            [[ $seen != LWLock && $seen != BufferPin ]] || ((looks < 40)) || break
            kill -0 "$inserting" || die "$(<"$SCRATCH/inserting")"
            sleep 0.05
        done
        say 'the session was stopped where others wait for it elsewhere'
        kill -CONT "$merging"
        sql -c "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'inserting'" >/dev/null
        wait
        merging=
    done
    die 'no session waited for the merge lock'
}

# cancelled WHAT: the inserting session ends at once, with the error.
cancelled() {
    local begun=${EPOCHREALTIME/./} took
    [[ $(sql -c "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'inserting'") == t ]] || die "$1: the session is gone: $(<"$SCRATCH/inserting")"
    wait "$inserting" && die "$1: the statement was not cancelled"
    took=$(((${EPOCHREALTIME/./} - begun) / 1000))
    grep -q 'canceling statement due to user request' "$SCRATCH/inserting" || die "$1: $(<"$SCRATCH/inserting")"
    ((took < 1000)) || die "$1: cancelled after $took ms"
    say "$1: cancelled after $took ms"
}
insert() {
    PGAPPNAME=inserting sql -c "INSERT INTO person SELECT i, bloom_signature(md5(i::text)) FROM generate_series(1, 2000000) AS i" >"$SCRATCH/inserting" 2>&1 &
    inserting=$!
}

stop_merging_and_insert
cancelled 'waiting'
insert
until [[ $(state inserting) == Lock ]]; do sleep 0.05; kill -0 "$inserting" || die "$(<"$SCRATCH/inserting")"; done
# It gets the lock, and merges what has come.
kill -CONT "$merging"
until [[ $(state inserting) != Lock ]]; do sleep 0.01; done
sleep 0.1
cancelled 'merging'
wait
merging=
[[ $(sql -c "SELECT bloom_sigfile_check('by_sig') > 0") == t ]] || die 'the check finds no rows'
sql -c "SELECT bloom_sigfile_merge('by_sig')" >/dev/null
rows=$(sql -c 'SELECT count(*) FROM person WHERE id BETWEEN 1 AND 300')
found=$(sql -c 'SET enable_seqscan = off' -c "SELECT count(*) FROM generate_series(1, 300) AS i, LATERAL (SELECT FROM person WHERE sig = bloom_signature(md5(i::text))) AS p")
[[ $rows == "$found" ]] || die "the index has $found rows of $rows"
