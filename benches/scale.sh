#!/usr/bin/env bash
# How sigfile grows: searches over BENCH_SCALE rows (a million and ten million names), and over records of
# nearly 1,024 bits (name, birth date, street, city) against pg_trgm's GIN over the same text; and the
# pages that a search reads from a cold cache.

# The server's parameters look like the shell's.
# shellcheck disable=SC2016

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

dropdb --if-exists bench 2>/dev/null
createdb bench
export PGDATABASE=bench PGOPTIONS='-c max_parallel_workers_per_gather=0 -c jit=off -c client_min_messages=warning -c maintenance_work_mem=1GB'
load_febrl
sql -c "
    CREATE TABLE word AS
        SELECT row_number() OVER (ORDER BY rec_id) - 1 AS n, given_name, surname, date_of_birth, address_1, suburb FROM febrl
        WHERE given_name || surname || date_of_birth || address_1 || suburb IS NOT NULL" -c 'CREATE UNIQUE INDEX ON word (n)' -c "
    CREATE FUNCTION mean_ms(statement text) RETURNS text LANGUAGE plpgsql AS \$\$
    DECLARE
        q record; started timestamptz; best float8; times float8[] := '{}';
    BEGIN
        EXECUTE 'DEALLOCATE ALL';
        PERFORM set_config('plan_cache_mode', 'force_generic_plan', true);
        EXECUTE 'PREPARE q(bloom, text) AS ' || statement;
        FOR q IN SELECT * FROM asked LOOP
            best := 'infinity';
            FOR i IN 1..4 LOOP
                started := clock_timestamp();
                EXECUTE format('EXECUTE q(%L, %L)', q.sig, q.text);
                best := least(best, extract(epoch FROM clock_timestamp() - started)::float8 * 1000);
            END LOOP;
            times := times || best;
        END LOOP;
        RETURN (SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY t)::numeric, 3) || ' (mean '
            || round(avg(t)::numeric, 3) || ')' FROM unnest(times) AS t);
    END \$\$"
words=$(sql -c 'SELECT count(*) FROM word')
# pick I SALT: the row of word for column number SALT of record I
pick() { echo "(SELECT $2 FROM word WHERE n = abs(hashint8(i * 16 + $1)) % $words)"; }

search() {
    local t
    for t in 0.9 0.85 0.8 0.7; do
        echo "| $1 | $t | $(sql -c "${2//:t/$t}" -c "SELECT mean_ms(\$s\$${3//:t/$t}\$s\$)" | tail -n 1) |"
    done
}

for rows in ${BENCH_SCALE:-1000000 10000000}; do
    sql -c 'DROP TABLE IF EXISTS person, asked' -c "
        CREATE TABLE person AS SELECT bloom_signature($(pick 1 given_name) || ' ' || $(pick 2 surname)
            || ' ' || $(pick 3 suburb)) AS sig FROM generate_series(1, $rows) AS i" -c "
        CREATE TABLE asked AS SELECT sig, ''::text AS text FROM person TABLESAMPLE SYSTEM (1) LIMIT 100" -c 'VACUUM ANALYZE'
    started=${EPOCHREALTIME/./}
    sql -c 'CREATE INDEX i ON person USING sigfile (sig)'
    echo "$rows signatures of name and town, 301 bits: built in $(((${EPOCHREALTIME/./} - started) / 1000)) ms, $(sql -c "SELECT round(bytes::numeric / rows, 1) || ' bytes a row, chunks of ' || array_to_string(chunk_bits, ' ') FROM bloom_sigfile_stats('i')")"
    search "$rows rows" 'SET enable_seqscan = off' 'SELECT count(*) FROM person WHERE bloom_sim(sig, $1) >= :t'
    cluster_stop main
    cluster_start main
    for t in 0.9 0.8; do
        echo "| cold, pages read by the first search at $t | $(sql -c 'SET enable_seqscan = off' -c "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, COSTS OFF) SELECT count(*) FROM person WHERE sig % bloom_query((SELECT sig FROM asked LIMIT 1), $t)" | grep -o 'Buffers: .*' | head -n 1) |"
    done
done

rows=${BENCH_RECORDS:-1000000}
sql -c 'DROP TABLE IF EXISTS person, asked' -c "
    CREATE TABLE person AS SELECT text, bloom_signature(text, 3, 102, 0.01) AS sig FROM (
        SELECT concat_ws(' ', $(pick 1 given_name), $(pick 2 surname), $(pick 3 date_of_birth), abs(hashint8(i)) % 200,
            $(pick 4 address_1), $(pick 5 suburb)) AS text
        FROM generate_series(1, $rows) AS i) AS records" -c "
    CREATE TABLE asked AS SELECT sig, text FROM person TABLESAMPLE SYSTEM (1) LIMIT 40" -c 'VACUUM ANALYZE'
started=${EPOCHREALTIME/./}
sql -c 'CREATE INDEX i ON person USING sigfile (sig)'
echo "$rows records, $(sql -c "SELECT shape || ', ' || round(bytes::numeric / rows, 1) || ' bytes a row' FROM bloom_sigfile_stats('i')"): built in $(((${EPOCHREALTIME/./} - started) / 1000)) ms"
search 'records, sigfile' 'SET enable_seqscan = off' 'SELECT count(*) FROM person WHERE bloom_sim(sig, $1) >= :t'
if [[ $(sql -c "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_trgm'") == 1 ]]; then
    sql -c 'CREATE EXTENSION pg_trgm'
    started=${EPOCHREALTIME/./}
    sql -c 'CREATE INDEX g ON person USING gin (text gin_trgm_ops)'
    echo "pg_trgm GIN built in $(((${EPOCHREALTIME/./} - started) / 1000)) ms"
    search 'records, pg_trgm GIN' 'SET enable_seqscan = off; SET pg_trgm.similarity_threshold = :t' 'SELECT count(*) FROM person WHERE text % $2'
fi
dropdb bench
