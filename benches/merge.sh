#!/usr/bin/env bash
# Merging 100,000 clusters of 210,000 records of a million, to which 1,900,000 rows of two tables refer: plan, merge, and taking 100 merges back one by one.

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

export PGOPTIONS='-c jit=off -c client_min_messages=warning'
dropdb --if-exists bench
createdb bench
export PGDATABASE=bench
sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
sql <<'SQL'
CREATE EXTENSION bloom_ident;
CREATE TABLE person (id bigint PRIMARY KEY, name text, birth date, city text, source text, updated timestamptz);
INSERT INTO person SELECT i, 'name ' || i % 100000, date '1950-01-01' + (i % 20000)::int, CASE WHEN i % 3 > 0 THEN 'city ' || i % 500 END, CASE i % 2 WHEN 0 THEN 'crm' ELSE 'web' END, timestamptz '2020-01-01' + i * interval '1 s'
    FROM generate_series(0, 999999) AS i;
CREATE TABLE visit (id bigint PRIMARY KEY, person bigint REFERENCES person ON DELETE CASCADE, day date);
INSERT INTO visit SELECT i, i * 7919 % 1000000, '2025-01-01' FROM generate_series(1, 1000000::bigint) AS i;
CREATE INDEX ON visit (person);
CREATE TABLE tag (person bigint REFERENCES person, tag text, PRIMARY KEY (person, tag));
INSERT INTO tag SELECT i * 13 % 1000000, 't' || i % 7 FROM generate_series(1, 900000::bigint) AS i;
CREATE TABLE clusters AS SELECT i % 100000 AS cluster, i::text AS key, i < 100000 AS keep FROM generate_series(0, 209999) AS i;
SQL
sql -c 'VACUUM ANALYZE'
seconds() { sql -c '\timing on' -c "$1" | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | awk '{ printf "%.1f", $1 / 1000 }'; }

plan=$(seconds "SELECT count(*) FROM bloom_merge_plan('clusters', 'person', 'id')")
merge=$(seconds "SELECT count(*), sum(redirected), sum(dropped) FROM bloom_merge('clusters', 'person', 'id', '{\"updated\": {\"sql\": \"max(updated)\"}}', on_collision => 'drop')")
rows=$(sql -F ' | ' -c "SELECT count(*) FILTER (WHERE action = 'delete'), count(*) FILTER (WHERE action = 'redirect'), count(*) FILTER (WHERE action = 'drop') FROM bloom_merges")
# Each a statement and a transaction of its own, as somebody takes one back; medians.
undo() {
    sql -c "SELECT format('SELECT bloom_unmerge(%s)', id) FROM bloom_merges WHERE action = 'keep' AND unmerged IS NULL ORDER BY hashint8(id) LIMIT 100" >"$SCRATCH/undo.sql"
    { echo '\timing on'; sed 's/$/;/' "$SCRATCH/undo.sql"; } | sql | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | sort -n | awk '{ t[NR] = $1 } END { printf "%.1f", t[int((NR + 1) / 2)] }'
}
bare=$(undo)
sql -c 'ANALYZE bloom_merges'
analyzed=$(undo)
echo '| records deleted | rows redirected | dropped | plan, s | merge, s | a merge taken back, ms | after ANALYZE of the table of merges, ms |'
echo '|---|---|---|---|---|---|---|'
echo "| $rows | $plan | $merge | $bare | $analyzed |"
dropdb bench
