#!/usr/bin/env bash
# A streaming standby answers by GiST and by sigfile what its primary answers by sequential scans, and so do jobs. It compares each page
# that it replays with the primary's. When it is promoted, pg_rewind makes a standby of the old primary, though that has gone on.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

ask() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

# What is asked of a table, one statement a line; each gives one row that begins with a count.
searches=(
    "SELECT count(*), md5(array_agg(id ORDER BY id)::text) FROM TABLE WHERE sig % bloom_query(bloom_signature('name 77'), 0.3)"
    "SELECT count(*), md5(array_agg(id ORDER BY id)::text) FROM TABLE WHERE sig % bloom_signature('name 1234')"
    "SELECT count(*), md5(array_agg(id ORDER BY id)::text) FROM TABLE WHERE bloom_sim(sig, bloom_signature('changed 40')) > 0.9"
    "SELECT count(*), md5(array_agg(id ORDER BY id)::text) FROM TABLE WHERE sig = bloom_signature('late 5005')"
    "SELECT count(sig), bloom_bits(bloom_union(sig)) FROM TABLE WHERE sig % bloom_query(bloom_signature('name 4321'), 0.1)"
    "SELECT count(*), array_agg(d) FROM (SELECT sig <-> bloom_signature('name 5') AS d FROM TABLE ORDER BY sig <-> bloom_signature('name 5') LIMIT 20) AS n"
)
jobs=(
    "SELECT count(*), bloom_bits(bloom_union(sig)) FROM TABLE"
    "SELECT count(*), md5(string_agg(c::text, ' ')) FROM bloom_clusters('TABLE', 'id', 'sig', 0.9) AS c"
    "SELECT md5(regexp_replace(bloom_report('TABLE', 'id', 'sig', 0.9, format => 'text', title => 'x'), '[^\n]*\n$', ''))"
)
threshold='SET bloom_ident.threshold = 0.3'

# by_table TABLE: the answers by sequential scans.
by_table() {
    local search
    for search in "${searches[@]}"; do
        ask -c "$threshold; SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off" \
            -c "EXPLAIN (COSTS OFF) ${search//TABLE/$1}" -c "${search//TABLE/$1}" >"$SCRATCH/standby.answer"
        if grep -q 'Index' "$SCRATCH/standby.answer"; then die "no sequential scan: $(<"$SCRATCH/standby.answer")"; fi
        tail -n 1 "$SCRATCH/standby.answer"
    done
}

# by_index TABLE INDEX: the answers by that index.
by_index() {
    local search
    for search in "${searches[@]}"; do
        ask -c "$threshold; SET enable_seqscan = off" -c "EXPLAIN (COSTS OFF) ${search//TABLE/$1}" -c "${search//TABLE/$1}" >"$SCRATCH/standby.answer"
        grep -qE "Index (Only )?Scan (using|on) $2\b" "$SCRATCH/standby.answer" || die "another plan: $(<"$SCRATCH/standby.answer")"
        tail -n 1 "$SCRATCH/standby.answer"
    done
}

by_jobs() {
    local job
    for job in "${jobs[@]}"; do ask -c "${job//TABLE/$1}"; done
}

cluster_init primary
cluster_conf primary 'wal_level = replica' 'wal_consistency_checking = all' 'wal_log_hints = on' 'wal_keep_size = 1GB' 'wal_retrieve_retry_interval = 200ms'
cluster_start primary
cluster_use primary
ask -c 'CREATE EXTENSION bloom_ident'
for method in gist sigfile; do
    # the sigfile has a tail and several segments, which are merged
    ask -c "CREATE TABLE by_$method (id int, sig bloom)" -c "CREATE INDEX index_$method ON by_$method USING $method (sig)"
done
ask -c 'ALTER INDEX index_sigfile SET (tail_limit = 500)' -c 'CREATE UNLOGGED TABLE unlogged (id int, sig bloom)' -c 'CREATE INDEX index_unlogged ON unlogged USING sigfile (sig)' \
    -c 'CREATE TABLE cluster (cluster int, key text)' -c 'CREATE TABLE pair (a text, b text, similarity float8)' -c 'CREATE TABLE changed (key text)'
cluster_standby standby
cluster_start standby
for method in gist sigfile; do
    ask -c "INSERT INTO by_$method SELECT i, bloom_signature('name ' || i) FROM generate_series(1, 5000) AS i" \
        -c "UPDATE by_$method SET sig = bloom_signature('changed ' || id) WHERE id % 20 = 0" -c "DELETE FROM by_$method WHERE id % 7 = 0" -c "VACUUM by_$method" \
        -c "INSERT INTO by_$method SELECT i, bloom_signature('late ' || i) FROM generate_series(5001, 6000) AS i"
done
ask -c "SELECT bloom_sigfile_merge('index_sigfile')" -c "INSERT INTO by_sigfile VALUES (6001, bloom_signature('name 5'))" \
    -c "INSERT INTO by_gist VALUES (6001, bloom_signature('name 5'))" >/dev/null
table=$(by_table by_gist)
[[ $(grep -c '^[1-9]' <<<"$table") == "${#searches[@]}" ]] || die "the primary's answers are incomplete:"$'\n'"$table"
diff <(echo "$table") <(by_table by_sigfile) || die 'the two tables differ'
declare -A work
for method in gist sigfile; do
    work[$method]=$(by_jobs "by_$method")
    [[ $(wc -l <<<"${work[$method]}") == "${#jobs[@]}" ]] || die "the primary's jobs are incomplete: ${work[$method]}"
done
# the report names the table
diff <(head -n 2 <<<"${work[gist]}") <(head -n 2 <<<"${work[sigfile]}") || die 'jobs give something else with another index'

cluster_caught_up primary standby
[[ $(ask -c 'SELECT pg_is_in_recovery()') == t ]] || die 'the standby is none'
for method in gist sigfile; do
    diff <(echo "$table") <(by_table "by_$method") || die "the standby's table differs, $method"
    diff <(echo "$table") <(by_index "by_$method" "index_$method") || die "the standby answers differently by $method"
    diff <(echo "${work[$method]}") <(by_jobs "by_$method") || die "jobs of the standby give something else, $method"
done
[[ $(ask -c "SELECT bloom_sigfile_check('index_sigfile') = (SELECT count(*) FROM by_sigfile)") == t ]] || die 'the index of the standby is not sound'

# What writes says so, as the server does, and before anything else; what is not logged has nothing on a standby.
fails() {
    local state=$1 says=$2 said
    said=$(psql -XAtq -v VERBOSITY=verbose -c "$3" 2>&1 | grep '^ERROR') || true
    [[ $said == "ERROR:  $state: $says" ]] || die "$3: $said, not $says"
}
for call in "bloom_sigfile_merge('index_sigfile')" "bloom_guard_create('by_sigfile', 'sig', 0.9, 'reject')" "bloom_decisions_create('decision')" "bloom_merges_create('merges')" \
    "bloom_merge('cluster', 'by_sigfile', 'id')" 'bloom_unmerge(1)' "bloom_pairs_refresh('pair', 'by_sigfile', 'id', 'sig', 0.9, 'changed')"; do
    fails 25006 "cannot execute ${call%%(*}() during recovery" "SELECT $call"
done
for call in "bloom_sigfile_check('index_unlogged')" "bloom_sigfile_stats('index_unlogged')" "bloom_clusters('unlogged', 'id', 'sig', 0.9)"; do
    fails 0A000 'cannot access temporary or unlogged relations during recovery' "SELECT $call"
done

# The standby is promoted, both go on, and the old primary follows the new one: what it has written alone is gone, from its indexes too.
# Replay begins at the last checkpoint that both have had, which is this one: what is older comes from the files.
cluster_use primary
ask -c CHECKPOINT
cluster_caught_up primary standby
ask -c CHECKPOINT
as_server "$PGBIN/pg_ctl" promote -w -s -D "$(cluster_dir standby)"
# One changes pages of every kind, the other only a few of them, which replay would not write over.
cluster_use primary
for method in gist sigfile; do
    ask -c "INSERT INTO by_$method SELECT i, bloom_signature('lost ' || i) FROM generate_series(7001, 9000) AS i" -c "UPDATE by_$method SET sig = bloom_signature('lost ' || id) WHERE id % 30 = 0" \
        -c "DELETE FROM by_$method WHERE id % 11 = 0 AND id % 30 > 0" -c "VACUUM by_$method" -c "INSERT INTO by_$method SELECT i, bloom_signature('lost ' || i) FROM generate_series(9001, 9100) AS i"
done
ask -c "SELECT bloom_sigfile_merge('index_sigfile')" -c 'CHECKPOINT' >/dev/null
searches=("SELECT count(*), md5(array_agg(id ORDER BY id)::text) FROM TABLE WHERE sig % bloom_query(bloom_signature('lost 7007'), 0.5)" "${searches[@]}")
[[ $(by_index by_gist index_gist | head -n 1) == [1-9]* && $(by_index by_sigfile index_sigfile | head -n 1) == [1-9]* ]] || die 'what will be lost is not there'
cluster_stop primary
cluster_use standby
for method in gist sigfile; do ask -c "INSERT INTO by_$method SELECT i, bloom_signature('kept ' || i) FROM generate_series(7007, 7009) AS i" -c "DELETE FROM by_$method WHERE id = 5008"; done
ask -c CHECKPOINT
searches=("SELECT count(*), md5(array_agg(id ORDER BY id)::text) FROM TABLE WHERE sig % bloom_query(bloom_signature('kept 7007'), 0.5)" "${searches[@]}")
table=$(by_table by_gist)
[[ $(sed -n 1p <<<"$table") == [1-9]* && $(sed -n 2p <<<"$table") == '0|' ]] || die "the new primary has not what it should have:"$'\n'"$table"
as_server "$PGBIN/pg_rewind" --write-recovery-conf --source-server="host=$PGHOST port=$PGPORT user=postgres dbname=postgres" -D "$(cluster_dir primary)" >"$SCRATCH/rewind.log" 2>&1 || die "pg_rewind: $(<"$SCRATCH/rewind.log")"
grep -q 'servers diverged at WAL location' "$SCRATCH/rewind.log" || die "pg_rewind had nothing to do: $(<"$SCRATCH/rewind.log")"
cluster_start primary
cluster_caught_up standby primary
for method in gist sigfile; do
    diff <(echo "$table") <(by_table "by_$method") || die "pg_rewind: the table differs, $method"
    diff <(echo "$table") <(by_index "by_$method" "index_$method") || die "pg_rewind: answers differ by $method"
done
[[ $(ask -c "SELECT bloom_sigfile_check('index_sigfile') = (SELECT count(*) FROM by_sigfile)") == t ]] || die 'pg_rewind: the index is not sound'
