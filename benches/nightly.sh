#!/usr/bin/env bash
# Only what is new: the records of benches/duplicates.sh, of which BENCH_NIGHTLY (1,000) are new, against all BENCH_ROWS (a million): their pairs by an index, and without one;
# linkage with an index on the large side only; the refresh of a table of all pairs, and the update of its clusters; and, of 100,000 records, the pairs of a match model.

# The server's parameters look like the shell's.
# shellcheck disable=SC2016

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

rows=${BENCH_ROWS:-1000000}
new=${BENCH_NIGHTLY:-1000}
dropdb --if-exists bench 2>/dev/null
createdb bench
export PGDATABASE=bench PGOPTIONS='-c jit=off -c client_min_messages=warning'
load_febrl
load_words

# measure NAME QUERY
measure() { echo "| $1 | $(run "$2") |"; }
# run QUERY: result, seconds of a first and a second run in a session, its peak memory with shared buffers
run() {
    sql -c '\timing on' -c "$1" -c "$1" -c '\timing off' -c "SELECT pg_read_file('/proc/' || pg_backend_pid() || '/status')" | awk '
        /^Time:/ { took[++n] = $2 / 1000; next }
        /^VmHWM/ { mb = $2 / 1024 }
        n < 2 { result = $0 }
        END { printf "%s | %.3f | %.3f | %d MB", result, took[1], took[2], mb }'
}

sql -c "
    CREATE TABLE person AS
    SELECT i AS id, person AS cluster, name, birth, town, bloom_signature(concat_ws(' ', name, birth, town), 3, 60) AS sig
    FROM (SELECT i, person, concat_ws(' ', $(broken 1 given), $(broken 2 family)) AS name, $(broken 3 born) AS birth, $(broken 4 place) AS town
        FROM (SELECT i, person, $(pick 1 given_name) AS given, $(pick 2 surname) AS family, $(pick 4 suburb) AS place,
                $(born 3) AS born
            FROM (SELECT i, CASE WHEN i % 5 = 0 THEN i - 1 - abs(hashint8(i)) % 4 ELSE i END AS person FROM generate_series(1, $rows) AS i) AS n) AS p) AS r" \
    -c 'ALTER TABLE person ADD PRIMARY KEY (id)' -c 'VACUUM ANALYZE person' -c 'CREATE INDEX person_sig ON person USING sigfile (sig)' \
    -c "CREATE TABLE fresh AS SELECT id::text AS key FROM person WHERE id % ($rows / $new) = 0" \
    -c "CREATE TABLE many AS SELECT id::text AS key FROM person WHERE id % 10 = 0" \
    -c "CREATE TABLE delivery AS SELECT id, sig FROM person WHERE id % ($rows / $new) = 0" -c 'ALTER TABLE delivery ADD PRIMARY KEY (id)' -c 'VACUUM ANALYZE' \
    -c "CREATE TABLE pairs AS SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.9)" \
    -c "CREATE TABLE clusters AS SELECT * FROM bloom_clusters('pairs', 0.9)"

echo "$new new records, $rows in all; $(nproc) cores, no workers but for all pairs; shared_buffers 2 GB, warm"
echo '| | pairs, or rows | s, first run of a session | s, second | peak memory of the session, shared buffers included |'
echo '|---|---|---|---|---|'
duplicates() { echo "SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', $1${2:+, new => '$2'})"; }
for t in 0.9 0.8 0.7; do measure "new, by the index, $t" "$(duplicates $t fresh)"; done
measure "$((rows / 10)) new, by the index, 0.9" "$(duplicates 0.9 many)"
for t in 0.9 0.8; do measure "linkage with a table without an index, $t" "SELECT count(*) FROM bloom_linkage('delivery', 'id', 'sig', 'person', 'id', 'sig', $t)"; done
measure 'bloom_pairs_refresh, 0.9' "SELECT inserted FROM bloom_pairs_refresh('pairs', 'person', 'id', 'sig', 0.9, 'fresh')"
measure 'bloom_clusters_update, 0.9' "SELECT count(*) FROM bloom_clusters_update('clusters', 'pairs', 0.9)"
measure 'all pairs, by the index, 0.9' "$(duplicates 0.9)"
sql -c 'DROP INDEX person_sig'
for t in 0.9 0.8; do measure "new, without an index, $t" "$(duplicates $t fresh)"; done
sql -c 'CREATE TABLE part AS SELECT id, name, birth, town FROM person WHERE id <= 100000' -c "CREATE TABLE model AS SELECT bloom_model_fit('part', 'id') AS model" -c 'ANALYZE part' \
    -c "CREATE TABLE part_fresh AS SELECT id::text AS key FROM part WHERE id % 100 = 0"
measure '1,000 new of 100,000, match model' "SELECT count(*) FROM bloom_model_duplicates('part', 'id', (SELECT model FROM model), new => 'part_fresh')"
measure 'all of 100,000, match model' "SELECT count(*) FROM bloom_model_duplicates('part', 'id', (SELECT model FROM model))"
dropdb bench
