#!/usr/bin/env bash
# How many near-duplicates a search by sketches reaches (tests/data/reach.sql), over 20 hash families; the same on every machine. Of generated messages
# and, with BENCH_SMS, of a CSV with the columns id, label and text, such as the SMS Spam Collection made to one. BENCH_SMS_TRUTH is a CSV with the
# columns id1, id2 and jaccard of its pairs from 0.4 on, with which all exact similarities are compared.

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

export PGOPTIONS='-c jit=off -c client_min_messages=warning'
begin() {
    PGDATABASE=postgres sql -c 'DROP DATABASE IF EXISTS bench' -c 'CREATE DATABASE bench'
    export PGDATABASE=bench
    sql -c 'CREATE EXTENSION bloom_ident'
}
# reach NAME: a row for the table message
reach() {
    sql -c 'ANALYZE message' -f "$ROOT/tests/data/reach.sql"
    echo "| $1 | $(sql -F ' | ' -c "SELECT (SELECT count(*) FROM message), max(pairs), (SELECT count(*) FROM pair WHERE similarity < 1), round(avg(recall)::numeric, 4), round(min(recall)::numeric, 4),
        round(avg(candidates::numeric / pairs), 3), round(max(candidates::numeric / pairs), 3), sum(missing), sum(wrong) FROM reach") |"
}

echo 'searched at an estimate of 0.7 by 192 bits for pairs of 0.8, 20 hash families; tokens are shingles of three words'
echo '| messages | number | pairs | of them below 1 | recall of these, mean | least | candidates a pair, mean | most | pairs missing, all families | wrong after the comparison of tokens |'
echo '|---|---|---|---|---|---|---|---|---|---|'
begin
sql -f "$ROOT/tests/data/campaigns.sql" -c "
    CREATE TABLE message AS
        SELECT i AS id, ident_shingles(ident_words(campaign_body(11, CASE WHEN i % 3 = 0 THEN i ELSE i / 6 END, i, 20, 60, CASE WHEN i % 2 = 0 THEN 0.03 ELSE 0 END)), 3) AS tokens
        FROM generate_series(1, 6000) AS i"
reach generated
if [[ -n ${BENCH_SMS:-} ]]; then
    begin
    sql -c 'CREATE TABLE sms (id int PRIMARY KEY, label text, body text)' -c "\copy sms FROM '$BENCH_SMS' (FORMAT csv, HEADER)" \
        -c 'CREATE TABLE message AS SELECT id, ident_shingles(ident_words(body), 3) AS tokens FROM sms'
    reach "$(basename "$BENCH_SMS")"
    if [[ -n ${BENCH_SMS_TRUTH:-} ]]; then
        sql -c 'CREATE TABLE truth (a int, b int, similarity float8)' -c "\copy truth FROM '$BENCH_SMS_TRUTH' (FORMAT csv, HEADER)"
        echo "exact similarities: of $(sql -c 'SELECT count(*) FROM truth') pairs of the truth $(sql -c "
            SELECT count(*) FILTER (WHERE abs(ident_token_sim(x.tokens, y.tokens) - similarity) < 1e-6) || ' have it, and ' || count(*) FILTER (WHERE cardinality(x.tokens) = 0 AND cardinality(y.tokens) = 0) || ' is of two messages without words'
            FROM truth JOIN message AS x ON x.id = a JOIN message AS y ON y.id = b"); $(sql -c "
            WITH token AS MATERIALIZED (SELECT DISTINCT id, t FROM message, unnest(tokens) AS t)
            SELECT count(*) FROM (SELECT DISTINCT x.id AS a, y.id AS b FROM token AS x JOIN token AS y USING (t) WHERE x.id < y.id) AS c JOIN message AS x ON x.id = a JOIN message AS y ON y.id = b
            WHERE ident_token_sim(x.tokens, y.tokens) >= 0.4 AND NOT EXISTS (SELECT FROM truth WHERE truth.a = c.a AND truth.b = c.b)") pairs from 0.4 on are not in it"
    fi
fi
PGDATABASE=postgres sql -c 'DROP DATABASE bench'
