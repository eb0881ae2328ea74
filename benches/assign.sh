#!/usr/bin/env bash
# Pairs that give each record one partner (bloom_assign), of 100,000 pairs that are all connected, or nearly so: the median of five runs of either method.

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

export PGOPTIONS='-c jit=off -c client_min_messages=warning'
dropdb --if-exists bench
createdb bench
export PGDATABASE=bench
sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
sql <<'SQL'
CREATE EXTENSION bloom_ident;
CREATE TABLE random AS SELECT (hashint4(i) & 65535) % 20000 AS a, (hashint4(-i) & 65535) % 20000 AS b, ((hashint4(i * 7 + 1) & 1023) + 1) / 1025.0::float8 AS similarity
FROM generate_series(1, 100000) AS i;
CREATE TABLE equal AS SELECT a, b, 1::float8 AS similarity FROM random;
CREATE TABLE chain AS SELECT (i + 1) / 2 AS a, i / 2 AS b, 1 - i / 200000.0::float8 AS similarity FROM generate_series(0, 99999) AS i;
CREATE TABLE complete AS SELECT a, b, (a * b) / 100000.0::float8 AS similarity FROM generate_series(1, 316) AS a, generate_series(1, 316) AS b;
SQL

# median TABLE METHOD: ms
median() {
    for _ in 1 2 3 4 5; do
        sql -c '\timing on' -c "SELECT count(*) FROM bloom_assign('$1', '$2')" | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p'
    done | sort -n | sed -n 3p
}

echo '| 100,000 pairs | pairs kept: greedy | optimal | sum of similarities: greedy | optimal | greedy, ms | optimal, ms |'
echo '|---|---|---|---|---|---|---|'
for pairs in random equal chain complete; do
    kept=$(sql -F ' | ' -c "SELECT g.n, o.n, round(g.s::numeric, 1), round(o.s::numeric, 1) FROM (SELECT count(*) AS n, sum(similarity) AS s FROM bloom_assign('$pairs')) AS g,
        (SELECT count(*) AS n, sum(similarity) AS s FROM bloom_assign('$pairs', 'optimal')) AS o")
    echo "| $pairs | $kept | $(median "$pairs" greedy) | $(median "$pairs" optimal) |"
done
dropdb bench
