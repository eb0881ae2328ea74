#!/usr/bin/env bash
# Quality of clusters by method: 20,000 names with dates of birth, of 10,000 persons, half of them copies with errors. The same on every machine.

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

rows=20000

dropdb --if-exists bench 2>/dev/null
createdb bench
export PGDATABASE=bench PGOPTIONS='-c jit=off -c client_min_messages=warning'
load_febrl
load_words
sql -c "
    CREATE TABLE person AS
    SELECT i AS id, person AS cluster, bloom_signature(concat_ws(' ', $(broken 1 given), $(broken 2 family), $(broken 3 born))) AS sig
    FROM (SELECT i, person, $(pick 1 given_name) AS given, $(pick 2 surname) AS family, $(born 3) AS born
        FROM (SELECT i, CASE WHEN i > $rows / 2 THEN 1 + abs(hashint8(i)) % ($rows / 2) ELSE i END AS person
            FROM generate_series(1, $rows) AS i) AS n) AS p" \
    -c 'CREATE INDEX ON person USING sigfile (sig)' -c 'VACUUM ANALYZE person' \
    -c "CREATE TABLE pair AS SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.5)" \
    -c 'CREATE VIEW truth AS SELECT id AS key, cluster FROM person'

echo "$rows names with dates of birth, pairs within clusters"
echo '| threshold | method | precision | recall | F1 |'
echo '|---|---|---|---|---|'
for t in 0.5 0.6 0.7; do
    for method in components centre average; do
        sql -c 'DROP TABLE IF EXISTS made' -c "CREATE TABLE made AS SELECT * FROM bloom_clusters('pair', $t, '$method')"
        echo "| $t | $method | $(sql -F ' | ' -c "SELECT round(precision::numeric, 3), round(recall::numeric, 3), round(f1::numeric, 3) FROM bloom_quality('made', 'truth')") |"
    done
done
dropdb bench
