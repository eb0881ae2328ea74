#!/usr/bin/env bash
# All pairs of similar records: records of given name, surname, date of birth and town, q = 3, 60 characters (7 segments of 83 bits), a
# fifth of them copies of another record with errors. BENCH_DUPLICATES says how many records; and the join of
# 100,000 names by pg_trgm, where that is installed (BENCH_TRGM_JOIN= leaves it out). Then what is made of the pairs.

# The server's parameters look like the shell's.
# shellcheck disable=SC2016

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

dropdb --if-exists bench 2>/dev/null
createdb bench
export PGDATABASE=bench PGOPTIONS='-c jit=off -c client_min_messages=warning'
load_febrl
load_words

# milliseconds SQL…
milliseconds() {
    local started=${EPOCHREALTIME/./}
    sql -c "SET maintenance_work_mem = '256MB'" -c "CREATE TEMP TABLE made AS $1" >/dev/null
    echo $(((${EPOCHREALTIME/./} - started) / 1000))
}
# used ROWS: clusters, quality and report of the pairs at 0.85
used() {
    sql -c 'DROP TABLE IF EXISTS pair' -c "CREATE TABLE pair AS SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.85)" \
        -c 'CREATE OR REPLACE VIEW truth AS SELECT id AS key, cluster FROM person'
    pairs=$(sql -c 'SELECT count(*) FROM pair')
    for method in components centre average; do
        made+=("| $1 | $pairs | bloom_clusters, $method | $(milliseconds "SELECT * FROM bloom_clusters('pair', 0.85, '$method')") |")
    done
    made+=("| $1 | $pairs | bloom_quality | $(milliseconds "SELECT * FROM bloom_quality('pair', 'truth')") |")
    made+=("| $1 | $pairs | bloom_threshold_sweep | $(milliseconds "SELECT * FROM bloom_threshold_sweep('pair', 'truth')") |")
    made+=("| $1 | $pairs | bloom_report, search included | $(milliseconds "SELECT bloom_report('person', 'id', 'sig', 0.9, '{id,name}', 'truth')") |")
    sql -c 'DROP VIEW truth'
}
made=()

echo "two workers at most besides the leader on $(nproc) cores; shared_buffers 2 GB, warm"
echo '| records | index built, s | threshold | pairs | s | peak memory of the leader, shared buffers included |'
echo '|---|---|---|---|---|---|'
for rows in ${BENCH_DUPLICATES:-100000 1000000}; do
    sql -c 'DROP TABLE IF EXISTS person' -c "
        CREATE TABLE person AS
        SELECT i AS id, person AS cluster, name, bloom_signature(concat_ws(' ', name, birth, town), 3, 60) AS sig
        FROM (SELECT i, person, concat_ws(' ', $(broken 1 given), $(broken 2 family)) AS name, $(broken 3 born) AS birth, $(broken 4 place) AS town
            FROM (SELECT i, person, $(pick 1 given_name) AS given, $(pick 2 surname) AS family, $(pick 4 suburb) AS place,
                    $(born 3) AS born
                FROM (SELECT i, CASE WHEN i % 5 = 0 THEN i - 1 - abs(hashint8(i)) % 4 ELSE i END AS person FROM generate_series(1, $rows) AS i) AS n) AS p) AS r" \
        -c 'ALTER TABLE person ADD PRIMARY KEY (id)' -c 'VACUUM ANALYZE person'
    started=${EPOCHREALTIME/./}
    sql -c 'CREATE INDEX person_sig ON person USING sigfile (sig)'
    built=$(((${EPOCHREALTIME/./} - started) / 1000))
    for t in 0.95 0.9 0.85 0.8 0.7 0.6 0.5; do
        if ((rows > 200000)) && [[ $t < 0.8 ]]; then
            continue
        fi
        result=$(sql -c "SELECT count(*) FROM person WHERE sig IS NOT NULL" -c '\timing on' \
            -c "SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', $t)" -c '\timing off' \
            -c "SELECT pg_read_file('/proc/' || pg_backend_pid() || '/status')" | awk '
            NR == 2 { pairs = $1 } /^Time:/ { s = $2 / 1000 } /^VmHWM/ { mb = $2 / 1024 }
            END { printf "%d | %.1f | %d MB", pairs, s, mb }')
        echo "| $rows | $((built / 1000)).$((built % 1000 / 100)) | $t | $result |"
    done
    used "$rows"
    started=${EPOCHREALTIME/./}
    pairs=$(sql -c 'DROP INDEX person_sig' -c "SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', 0.9)")
    echo "| $rows | no index | 0.9 | $pairs | $(((${EPOCHREALTIME/./} - started) / 1000000)) | |"
done
if [[ -n ${BENCH_TRGM_JOIN-1} && $(sql -c "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_trgm'") == 1 ]]; then
    sql -c 'CREATE EXTENSION pg_trgm' -c 'CREATE TABLE name AS SELECT id, name FROM person LIMIT 100000' \
        -c 'CREATE INDEX ON name USING gin (name gin_trgm_ops)' -c 'VACUUM ANALYZE name'
    started=${EPOCHREALTIME/./}
    pairs=$(sql -c 'SET pg_trgm.similarity_threshold = 0.8' -c 'SET enable_seqscan = off' -c 'SELECT count(*) FROM name a JOIN name b ON a.id < b.id AND a.name % b.name')
    echo "pg_trgm GIN, 100,000 names joined at 0.8: $pairs pairs in $(((${EPOCHREALTIME/./} - started) / 1000000)) s"
fi
echo 'of the pairs at 0.85 (the report: of the table at 0.9):'
echo '| records | pairs | function | ms |'
echo '|---|---|---|---|'
printf '%s\n' "${made[@]}"
dropdb bench
