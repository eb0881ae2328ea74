#!/usr/bin/env bash
# Speed in SQL: one backend, warm, a million names. Ratios hold within one run only.
# pgvector is measured on the same bits where the PostgreSQL in use has it.

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

runs=7

dropdb --if-exists bench 2>/dev/null
createdb bench
export PGDATABASE=bench

# median SQL: of the server's execution times in ms, after one warm-up.
median() {
    local i
    for ((i = 0; i <= runs; i++)); do
        sql -c 'SET max_parallel_workers_per_gather = 0' -c 'SET jit = off' \
            -c "EXPLAIN (ANALYZE, TIMING OFF, SUMMARY ON) $1" | sed -n 's/^Execution Time: \(.*\) ms/\1/p'
    done | tail -n +2 | sort -n | sed -n "$((runs / 2 + 1))p"
}

# row WHAT MS REFERENCE: with the ratio to the reference.
row() { awk -v what="$1" -v ms="$2" -v ref="$3" 'BEGIN { printf "| %-58s | %9.1f | %5.2f |\n", what, ms, ms / ref }'; }

load_febrl
sql -c "
    CREATE TABLE names AS SELECT g || ' ' || s AS name
        FROM (SELECT DISTINCT given_name AS g FROM febrl WHERE given_name IS NOT NULL ORDER BY 1 LIMIT 1000) AS g,
             (SELECT DISTINCT surname AS s FROM febrl WHERE surname IS NOT NULL ORDER BY 1 LIMIT 1000) AS s" -c "
    CREATE TABLE signatures AS SELECT bloom_signature(name) AS sig FROM names" -c "
    CREATE TABLE bits AS SELECT sig::bit varying::bit(301) AS bits FROM signatures" -c 'VACUUM ANALYZE'

query="bloom_signature('mitchell green')"
scan=$(median "SELECT count(*) FROM signatures WHERE bloom_sim(sig, $query) > 0.8")
echo "$(sql -c "SELECT count(*) FROM names") names, signatures of 301 bits, $(sql -c 'SHOW server_version'), shared_buffers $(sql -c 'SHOW shared_buffers'); medians of $runs, warm, one backend"
echo '| statement                                                  |        ms | ratio |'
echo '|------------------------------------------------------------|----------:|------:|'
row "count(*) WHERE bloom_sim(sig, const) > 0.8" "$scan" "$scan"
row "count(*)" "$(median 'SELECT count(*) FROM signatures')" "$scan"
if [[ $(sql -c "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'") == 1 ]]; then
    sql -c 'CREATE EXTENSION vector'
    constant=$(sql -c "SELECT $query::bit varying::bit(301)")
    row "pgvector $(sql -c "SELECT extversion FROM pg_extension WHERE extname = 'vector'"): count(*) WHERE bits <%> const < 0.2" \
        "$(median "SELECT count(*) FROM bits WHERE bits <%> '$constant' < 0.2")" "$scan"
else
    echo '| pgvector: not installed in this PostgreSQL                 |           |       |'
fi
length=$(median 'SELECT count(length(name)) FROM names')
sign=$(median 'SELECT count(bloom_signature(name)) FROM names')
row "count(length(name))" "$length" "$scan"
row "count(bloom_signature(name))" "$sign" "$scan"
awk -v a="$sign" -v b="$length" 'BEGIN { printf "a signature costs %.2f us a row above length(name)\n", (a - b) / 1000 }'
sql -c "SELECT 'a signature takes ' || max(pg_column_size(sig)) || ' bytes in the table' FROM signatures"

echo 'sketches of 200,000 sets of 20 words'
sql -c "
    CREATE TABLE message AS SELECT ARRAY(SELECT 'word' || (hashint8(i * 20 + j) & 65535) FROM generate_series(1, 20) AS j) AS tokens
        FROM generate_series(1, 200000) AS i" -c 'VACUUM ANALYZE message' -c "
    CREATE TABLE sketch AS SELECT minhash_bits(tokens, 192) AS bits, minhash(tokens, 128) AS minima FROM message" -c 'VACUUM ANALYZE sketch'
count=$(median 'SELECT count(cardinality(tokens)) FROM message')
minima=$(median 'SELECT count(minhash(tokens, 128)) FROM message')
for what in 'count(cardinality(tokens))' 'count(minhash(tokens, 128))' 'count(minhash_bits(tokens, 128))' 'count(minhash_bits(tokens, 192))'; do
    row "$what" "$(median "SELECT $what FROM message")" "$count"
done
for what in "minhash_sim(bits, minhash_bits('{a}', 192)) > 0.8" "minhash_sim(minima, minhash('{a}', 128)) > 0.8"; do
    row "count(*) WHERE $what" "$(median "SELECT count(*) FROM sketch WHERE $what")" "$count"
done
awk -v ms="$minima" 'BEGIN { printf "minhash(tokens, 128) signs %.0f sets a second\n", 200000 / ms * 1000 }'
dropdb bench
