#!/usr/bin/env bash
# Measures the costs that searches and the planner work with (core/sigfile/src/costs.rs) anew, in proportion to a unit of the
# planner's cost on this machine, and says which deviate by more than half. BENCH_ROWS (a million) names of 301 bits.

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

rows=${BENCH_ROWS:-1000000}
rows=${rows##* }

dropdb --if-exists bench 2>/dev/null
createdb bench
export PGDATABASE=bench PGOPTIONS='-c max_parallel_workers_per_gather=0 -c jit=off -c client_min_messages=error'
PGOPTIONS+=' -c maintenance_work_mem=256MB'
query="bloom_query(bloom_signature('erika mustermann'), 0.7)"
searches=20000

# milliseconds SETTINGS STATEMENT: the median of five, warm, each in a session of its own
milliseconds() {
    local i
    for i in 1 2 3 4 5 6; do
        sql -c "$1" -c "EXPLAIN (ANALYZE, TIMING OFF) $2" | sed -n 's/^Execution Time: \([0-9.]*\) ms/\1/p'
    done | tail -n 5 | sort -n | sed -n 3p
}
calc() { awk "BEGIN { print $1 }"; }

sql -c 'CREATE EXTENSION bloom_ident' -c "
    CREATE TABLE person AS
        SELECT bloom_signature(translate(left(md5(id::text), 12 + id % 9), '0123456789', 'ghijklmnop')) AS sig
        FROM generate_series(1, $rows) AS id" \
    -c 'CREATE TABLE none (sig bloom)' -c 'CREATE TABLE ten AS SELECT * FROM person LIMIT 10' \
    -c 'CREATE INDEX ON none USING sigfile (sig)' -c 'CREATE INDEX ON ten USING sigfile (sig)' -c 'VACUUM ANALYZE'

statement="SELECT count(*) FROM person WHERE sig % $query"
cost=$(sql -c "EXPLAIN $statement" | sed -n 's/.*Seq Scan.*cost=[0-9.]*\.\.\([0-9.]*\) .*/\1/p')
unit=$(calc "1e6 * $(milliseconds '' "$statement") / $cost")

# A search by an index that has nothing, and by one of a segment of ten rows, again and again in one statement.
again() {
    calc "1e6 * $(milliseconds 'SET enable_seqscan = off; SET enable_material = off; SET enable_bitmapscan = off' \
        "SELECT count(*) FROM generate_series(1, $searches) AS i, LATERAL (SELECT i FROM $1 WHERE sig % $query OFFSET 0) AS found"
    ) / $searches"
}
scan=$(again none)
segment=$(calc "$(again ten) - $scan")

sql -c 'CREATE INDEX person_gist ON person USING gist (sig)'
# At .7 a search reads .92 of the pages.
pages=$(sql -c "SELECT 0.92 * pg_relation_size('person_gist') / current_setting('block_size')::int")
page=$(calc "1e6 * $(milliseconds 'SET enable_seqscan = off' "$statement") / $pages")
dropdb bench

cargo bench --quiet --manifest-path "$ROOT/Cargo.toml" -p sigfile --bench costs -- \
    "UNIT=$unit" "SCAN=$scan" "SEGMENT=$segment" "GIST_PAGE=$page"
