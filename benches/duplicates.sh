#!/usr/bin/env bash
# All pairs of similar records: records of given name, surname, date of birth and town, q = 3, 60 characters (7 segments of 83 bits), a
# fifth of them copies of another record with errors. BENCH_DUPLICATES says how many records. The same of names alone: each record is one of
# 2,331 given names, one of 4,120 surnames and one of 3,447 towns (those of FEBRL 3 and 4), without copies. What bloom_pairs_estimate says before.
# Weighted profiles of name, date of birth, street and town (BENCH_PROFILES says how many), with and without a minimum coverage and indexes.
# Then the join of 100,000 names by pg_trgm, where that is installed (BENCH_TRGM_JOIN= leaves it out), and what is made of the pairs.

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
# join TABLE ROWS BUILT THRESHOLD…: all pairs of a table with an index, which took so many milliseconds, and what was estimated
join() {
    local table=$1 rows=$2 built=$3 result estimate t
    shift 3
    for t; do
        estimate=$(sql -F ' | ' -c "SELECT round(pairs), round(seconds::numeric, 1) FROM bloom_pairs_estimate('$table', 'sig', $t)")
        result=$(sql -c "SELECT count(*) FROM $table WHERE sig IS NOT NULL" -c '\timing on' \
            -c "SELECT count(*) FROM bloom_duplicates('$table', 'id', 'sig', $t)" -c '\timing off' \
            -c "SELECT pg_read_file('/proc/' || pg_backend_pid() || '/status')" | awk '
            NR == 2 { pairs = $1 } /^Time:/ { s = $2 / 1000 } /^VmHWM/ { mb = $2 / 1024 }
            END { printf "%d | %.1f | %d MB", pairs, s, mb }')
        echo "| $table, $rows | $((built / 1000)).$((built % 1000 / 100)) | $t | $result | $estimate |"
    done
}
# of_values COLUMN: its distinct values, in FEBRL 3 and 4, numbered from 0
of_values() { echo "(SELECT v, row_number() OVER (ORDER BY v) - 1 AS n FROM (SELECT $1 AS v FROM febrl UNION SELECT $1 FROM febrl4) AS u WHERE v > '')"; }

echo "two workers at most besides the leader on $(nproc) cores; shared_buffers 2 GB, warm"
echo '| records | index built, s | threshold | pairs | s | peak memory of the leader, shared buffers included | estimated pairs | estimated s |'
echo '|---|---|---|---|---|---|---|---|'
sql -c 'CREATE TABLE febrl4 (LIKE febrl)'
for half in a b; do
    gunzip -c "$ROOT/tests/data/quality/febrl4$half.csv.gz" >"$SCRATCH/bench.csv"
    sql -c "COPY febrl4 FROM '$SCRATCH/bench.csv' (FORMAT csv, HEADER)"
done
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
    low=(0.7 0.6 0.5)
    ((rows <= 200000)) || low=()
    join person "$rows" "$built" 0.95 0.9 0.85 0.8 "${low[@]}"
    used "$rows"
    started=${EPOCHREALTIME/./}
    pairs=$(sql -c 'DROP INDEX person_sig' -c "SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', 0.9)")
    echo "| person, $rows | no index | 0.9 | $pairs | $(((${EPOCHREALTIME/./} - started) / 1000000)) | | | |"
    sql -c 'DROP TABLE IF EXISTS names' -c "
        CREATE TABLE names AS
        WITH given AS MATERIALIZED $(of_values given_name), family AS MATERIALIZED $(of_values surname), town AS MATERIALIZED $(of_values suburb)
        SELECT i AS id, bloom_signature(concat_ws(' ', given.v, family.v, town.v), 3, 60) AS sig
        FROM generate_series(1, $rows) AS i
        JOIN given ON given.n = abs(hashint8(i * 4)) % (SELECT count(*) FROM given)
        JOIN family ON family.n = abs(hashint8(i * 4 + 1)) % (SELECT count(*) FROM family)
        JOIN town ON town.n = abs(hashint8(i * 4 + 2)) % (SELECT count(*) FROM town)" \
        -c 'ALTER TABLE names ADD PRIMARY KEY (id)' -c 'VACUUM ANALYZE names'
    started=${EPOCHREALTIME/./}
    sql -c 'CREATE INDEX names_sig ON names USING sigfile (sig)'
    join names "$rows" $(((${EPOCHREALTIME/./} - started) / 1000)) 0.95 0.9 0.85 0.8
done
echo
echo 'weighted profiles of name, date of birth, street and one of 300 towns, weights 3, 2, 1, 1:'
echo '| records | indexes | threshold | coverage | pairs | s |'
echo '|---|---|---|---|---|---|'
for rows in ${BENCH_PROFILES:-200000}; do
    sql -c 'DROP TABLE IF EXISTS profile' -c "
        CREATE TABLE profile AS
        SELECT i AS id, bloom_signature(name) AS name, bloom_signature(birth, 2, 10) AS birth, bloom_signature(street) AS street, bloom_signature(town) AS town
        FROM (SELECT i, concat_ws(' ', $(broken 1 given), $(broken 2 family)) AS name, $(broken 3 born) AS birth, $(broken 5 street) AS street, $(broken 4 place) AS town
            FROM (SELECT i, person, $(pick 1 given_name) AS given, $(pick 2 surname) AS family, (SELECT suburb FROM word WHERE n = abs(hashint8(person * 16 + 4)) % 300) AS place, $(pick 5 surname) || ' street ' || abs(hashint8(person)) % 60 AS street,
                    $(born 3) AS born
                FROM (SELECT i, CASE WHEN i % 5 = 0 THEN i - 1 - abs(hashint8(i)) % 4 ELSE i END AS person FROM generate_series(1, $rows) AS i) AS n) AS p) AS r" \
        -c 'ALTER TABLE profile ADD PRIMARY KEY (id)' -c 'VACUUM ANALYZE profile'
    for indexed in none all; do
        [[ $indexed == none ]] || for column in name birth street town; do
            sql -c "CREATE INDEX ON profile USING sigfile ($column)"
        done
        for t in 0.9 0.8; do
            for coverage in 0 0.5 0.8; do
                result=$(sql -c "SET maintenance_work_mem = '256MB'" -c '\timing on' -c "SELECT count(*) FROM bloom_duplicates('profile', 'id', '{name,birth,street,town}', '{3,2,1,1}', $t, coverage => $coverage)" | awk '
                    NR == 1 { pairs = $1 } /^Time:/ { s = $2 / 1000 } END { printf "%d | %.1f", pairs, s }')
                echo "| $rows | $indexed | $t | $coverage | $result |"
            done
        done
    done
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
