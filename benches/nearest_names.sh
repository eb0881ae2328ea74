#!/usr/bin/env bash
# Nearest names: bloom_nearest_names among names of persons and companies, beside the nearest signatures alone and beside pg_trgm by GIN at its default threshold.
# Three of ten names are of companies, which share 40 words of business. BENCH_ROWS: names. Milliseconds a call, of which the least of three counts, over 200 names of
# the table, companies in the same share, with a typing error or none: mean, median, and what one of ten is above; warm, one backend.

# The server's parameters look like the shell's.
# shellcheck disable=SC2016

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

dropdb --if-exists bench 2>/dev/null
createdb bench
export PGDATABASE=bench PGOPTIONS='-c max_parallel_workers_per_gather=0 -c jit=off -c client_min_messages=warning'
load_febrl
load_words
rows=${BENCH_ROWS:-1000000}
business='Trading Shipping Holding Group Invest Capital Industries Services Solutions Systems Energy Logistics Transport Consulting Engineering Construction Steel Oil Gas Mining Foods
    Pharma Medical Software Media Electric Motors Marine Aviation Bank Insurance Partners Ventures Resources Chemicals Textiles Metals Paper Travel International'
sql -v business="$business" -c "
    CREATE FUNCTION measured(statement text, OUT mean numeric, OUT median numeric, OUT tenth numeric) LANGUAGE plpgsql AS \$\$
    DECLARE
        q record; started timestamptz; least_ms float8; times float8[] := '{}';
    BEGIN
        EXECUTE 'DEALLOCATE ALL';
        EXECUTE 'PREPARE q(text) AS ' || statement;
        FOR q IN SELECT * FROM asked ORDER BY id LOOP
            least_ms := 'Infinity';
            FOR i IN 1..3 LOOP
                started := clock_timestamp();
                EXECUTE format('EXECUTE q(%L)', q.name);
                least_ms := least(least_ms, extract(epoch FROM clock_timestamp() - started)::float8 * 1000);
            END LOOP;
            times := times || least_ms;
        END LOOP;
        SELECT round(avg(t)::numeric, 1), round(percentile_cont(0.5) WITHIN GROUP (ORDER BY t)::numeric, 1), round(percentile_cont(0.9) WITHIN GROUP (ORDER BY t)::numeric, 1)
        INTO mean, median, tenth FROM unnest(times) AS t;
    END \$\$"
sql -v business="$business" <<SQL
CREATE TABLE business AS SELECT row_number() OVER () - 1 AS n, word FROM regexp_split_to_table(trim(:'business'), '\s+') AS word;
CREATE TABLE party AS SELECT id, CASE WHEN id % 10 < 3
    THEN initcap(surname) || ' ' || (SELECT word FROM business WHERE n = abs(hashint4(id)) % 40) || ' ' || (SELECT word FROM business WHERE n = abs(hashint4(id + 1)) % 40)
        || (ARRAY[' GmbH', ' Ltd', ' S.A.', ' Inc', ''])[1 + id % 5]
    ELSE initcap(given_name || ' ' || surname) END AS name
FROM (SELECT id, $(pick 1 given_name) AS given_name, $(pick 2 surname) AS surname FROM (SELECT i::int AS id, i AS person FROM generate_series(1, $rows) AS i) AS p) AS named;
ALTER TABLE party ADD PRIMARY KEY (id), ADD sig bloom GENERATED ALWAYS AS (bloom_signature(name, by_word => true)) STORED;
CREATE INDEX ON party USING sigfile (sig);
CREATE TABLE asked AS SELECT id, overlay(name PLACING chr(97 + id % 26) FROM 1 + id % length(name) FOR (id / 7) % 2) AS name FROM party WHERE id % ($rows / 200) = id / ($rows / 200) % 10;
CREATE EXTENSION pg_trgm;
CREATE INDEX ON party USING gin (name gin_trgm_ops);
VACUUM ANALYZE party;
SQL
echo "$(sql -c 'SELECT count(*) FROM party') names of $(sql -c 'SELECT round(avg(length(name)), 1) FROM party') letters, $(sql -c 'SELECT count(*) FROM asked') asked, PostgreSQL $(sql -c 'SHOW server_version'), load $(cut -d ' ' -f 1 /proc/loadavg)"
echo '| the ten nearest | mean ms | median ms | one of ten is above |'
echo '|---|---|---|---|'
row() { echo "| $1 | $(sql -c "$2" -c "SELECT * FROM measured(\$s\$$3\$s\$)" | tail -n 1 | sed 's/|/ | /g') |"; }
row 'bloom_nearest_names' '' "SELECT * FROM bloom_nearest_names('party', 'id', 'sig', 'name', \$1, 10)"
row 'the 50 nearest signatures alone' '' 'SELECT id, name FROM party ORDER BY sig <-> bloom_signature($1, by_word => true) LIMIT 50'
row 'pg_trgm, name % text ORDER BY similarity' '' 'SELECT id, name FROM party WHERE name % $1 ORDER BY similarity(name, $1) DESC LIMIT 10'
dropdb bench
