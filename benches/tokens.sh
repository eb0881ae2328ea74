#!/usr/bin/env bash
# Sketches of short messages (tests/data/campaigns.sql): messages signed a second by one backend, and a message searched among a million sketches of
# 192 bits, in milliseconds, medians of prepared statements, warm. The same by datasketch and rensa, whose packages pip loads, and pg_trgm.
# BENCH_MESSAGES: how many messages are searched. BENCH_PEERS= leaves the peers out. The core alone: cargo bench -p sigfile -- minhash

# The server's parameters look like the shell's.
# shellcheck disable=SC2016

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"
# shellcheck source=scripts/peers.sh
source "$ROOT/scripts/peers.sh"

rows=${BENCH_MESSAGES:-1000000}
dropdb --if-exists bench 2>/dev/null
createdb bench
export PGDATABASE=bench PGOPTIONS='-c jit=off -c client_min_messages=warning -c maintenance_work_mem=256MB -c max_parallel_workers_per_gather=0'
sql -c 'CREATE EXTENSION bloom_ident' -f "$ROOT/tests/data/campaigns.sql"
generating=(-c 'SET max_parallel_workers_per_gather = 2' -c 'SET parallel_setup_cost = 0' -c 'SET parallel_tuple_cost = 0' -c 'SET min_parallel_table_scan_size = 0')

signed=200000
sql -c "CREATE TABLE number AS SELECT i FROM generate_series(1, $signed) AS i" -c 'ANALYZE number' "${generating[@]}" \
    -c "CREATE TABLE message AS SELECT i, body, string_to_array(body, ' ') AS words FROM (SELECT i, campaign_body(7, i, i, 20, 20, 0) AS body FROM number OFFSET 0) AS b" \
    -c 'VACUUM ANALYZE message'
# rate EXPRESSION: messages a second, the best of five, reading the table included
rate() {
    for _ in 1 2 3 4 5; do
        sql -c '\timing on' -c "SELECT count($1) FROM message"
    done | awk -v n="$signed" '/^Time:/ { if (!best || $2 < best) best = $2 } END { printf "%.0f", n / best * 1000 }'
}
echo "$signed messages of 20 words, one backend: messages a second"
echo '| | messages a second |'
echo '|---|---|'
for expression in words 'minhash(words, 128)' 'minhash_bits(words, 128)' 'minhash_bits(words, 192)' 'minhash_bits(ident_words(body), 128)' 'minhash_bits(ident_words(body), 192)'; do
    echo "| \`$expression\` | $(rate "$expression") |"
done
if [[ -n ${BENCH_PEERS-1} ]] && peers_ready; then
    sql -F $'\t' -c 'SELECT i, body FROM message LIMIT 100000' >"$SCRATCH/messages.tsv"
    peers_python "$ROOT/benches/peers.py" sign "$SCRATCH/messages.tsv"
fi

# Four messages each are copies of a text; the messages that are searched for are further copies.
sql -c 'DROP TABLE message, number' -c "CREATE TABLE number AS SELECT i FROM generate_series(1, $rows) AS i" -c 'ANALYZE number' "${generating[@]}" \
    -c "CREATE TABLE message AS SELECT i AS id, campaign_body(3, i / 4, i, 10, 40, 0.3) AS body FROM number" \
    -c 'ALTER TABLE message ADD bits minhash_bits(192)' -c 'UPDATE message SET bits = minhash_bits(ident_words(body), 192)' -c 'VACUUM FULL message' \
    -c "CREATE TABLE asked AS SELECT i AS id, body, minhash_bits(ident_words(body), 192) AS bits FROM (SELECT i, campaign_body(3, i * ($rows / 160)::bigint, $rows + i, 10, 40, 0.3) AS body FROM generate_series(1, 39) AS i) AS b" \
    -c 'VACUUM ANALYZE' -c "
    CREATE FUNCTION median_ms(statement text) RETURNS text LANGUAGE plpgsql AS \$\$
    DECLARE
        q record; started timestamptz; times float8[] := '{}'; n bigint; found bigint := 0;
    BEGIN
        EXECUTE 'DEALLOCATE ALL';
        PERFORM set_config('plan_cache_mode', 'force_generic_plan', true);
        EXECUTE 'PREPARE q(minhash_bits, text) AS ' || statement;
        FOR q IN SELECT * FROM asked ORDER BY id LOOP
            FOR i IN 1..6 LOOP
                started := clock_timestamp();
                EXECUTE format('EXECUTE q(%L, %L)', q.bits, q.body) INTO n;
                IF i > 1 THEN times := times || extract(epoch FROM clock_timestamp() - started)::float8 * 1000; END IF;
            END LOOP;
            found := found + n;
        END LOOP;
        RETURN (SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY t)::numeric, 3) || ' | ' || round(found / (SELECT count(*) FROM asked)::numeric, 1) FROM unnest(times) AS t);
    END \$\$"
# asked SETTINGS STATEMENT: its median, and how many rows a search finds
asked() { sql -c "$1" -c "SELECT median_ms(\$s\$$2\$s\$)" | tail -n 1; }
echo "a message among $rows"
echo '| | searched at an estimate of | ms | rows found |'
echo '|---|---|---|---|'
margin() { sql -c "SELECT round(threshold::numeric, 4) FROM minhash_plan($rows, $1, 0.99) WHERE n = 192"; }
started=${EPOCHREALTIME/./}
sql -c 'CREATE INDEX i ON message USING sigfile (bits)'
built=$(((${EPOCHREALTIME/./} - started) / 1000))
for t in "0.8" "0.7" "$(margin 0.8) (0.8 with recall 0.99)" "$(margin 0.7) (0.7 with recall 0.99)" 0.5; do
    echo "| sigfile, built in $built ms, $(sql -c "SELECT pg_relation_size('i') / 1048576") MB | $t | $(asked 'SET enable_seqscan = off' "SELECT count(*) FROM message WHERE minhash_sim(bits, \$1) >= ${t%% *}") |"
done
echo "| sigfile, the ten nearest | | $(asked 'SET enable_seqscan = off' 'SELECT count(*) FROM (SELECT id FROM message ORDER BY bits <-> $1 LIMIT 10) AS f') |"
echo "| sequential scan | 0.8 | $(asked 'SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off' 'SELECT count(*) FROM message WHERE minhash_sim(bits, $1) >= 0.8') |"
if [[ -n ${BENCH_PEERS-1} ]]; then
    if [[ $(sql -c "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_trgm'") == 1 ]]; then
        # It takes a second for each.
        sql -c 'CREATE TABLE few_asked AS SELECT * FROM asked WHERE id <= 5' -c 'ALTER TABLE asked RENAME TO all_asked' -c 'ALTER TABLE few_asked RENAME TO asked'
        started=${EPOCHREALTIME/./}
        sql -c 'CREATE EXTENSION pg_trgm' -c 'CREATE INDEX g ON message USING gin (body gin_trgm_ops)'
        built=$(((${EPOCHREALTIME/./} - started) / 1000))
        echo "| pg_trgm GIN, built in $built ms, $(sql -c "SELECT pg_relation_size('g') / 1048576") MB, by trigrams | 0.7 | $(asked 'SET enable_seqscan = off; SET pg_trgm.similarity_threshold = 0.7' 'SELECT count(*) FROM message WHERE body % $2') |"
        sql -c 'DROP TABLE asked' -c 'ALTER TABLE all_asked RENAME TO asked'
    fi
    if peers_ready; then
        some=$((rows < 100000 ? rows : 100000))
        sql -F $'\t' -c "SELECT id, body FROM message WHERE id <= $some" >"$SCRATCH/messages.tsv"
        sql -F $'\t' -c 'SELECT id, body FROM asked' >"$SCRATCH/asked.tsv"
        peers_python "$ROOT/benches/peers.py" search "$SCRATCH/messages.tsv" 0.7 "$SCRATCH/asked.tsv"
    fi
fi
dropdb bench
