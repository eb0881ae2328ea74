#!/usr/bin/env bash
# Names within k edits: ident_edit_within by an index on signatures, and without; beside it what is usual with contrib: levenshtein_less_equal over all names,
# and over those that pg_trgm finds at its default threshold, which loses some. BENCH_ROWS: names. BENCH_TRE: the source of pg_tre, where it is to be measured.
# At the end how many rows the index finds for each name, most of which are further away.
# Milliseconds a prepared statement: medians over names of the table that have one or two typing errors, warm, one backend; and how many rows were found in all.

# The server's parameters look like the shell's.
# shellcheck disable=SC2016

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

dropdb --if-exists bench 2>/dev/null
createdb bench
export PGDATABASE=bench PGOPTIONS='-c max_parallel_workers_per_gather=0 -c jit=off -c client_min_messages=warning'
load_febrl
rows=${BENCH_ROWS:-1000000}
asked=${BENCH_ASKED:-200}
sql -c "
    CREATE FUNCTION measured(statement text, most int, OUT ms numeric, OUT slowest numeric, OUT total bigint) LANGUAGE plpgsql AS \$\$
    DECLARE
        q record; started timestamptz; times float8[] := '{}'; n bigint;
    BEGIN
        total := 0;
        EXECUTE 'DEALLOCATE ALL';
        EXECUTE 'PREPARE q(text) AS ' || statement;
        FOR q IN SELECT * FROM asked ORDER BY id LIMIT most LOOP
            FOR i IN 1..3 LOOP
                started := clock_timestamp();
                EXECUTE format('EXECUTE q(%L)', q.name) INTO n;
                IF i > 1 THEN times := times || extract(epoch FROM clock_timestamp() - started)::float8 * 1000; END IF;
            END LOOP;
            total := total + n;
        END LOOP;
        SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY t)::numeric, 2), round(max(t)::numeric, 1) INTO ms, slowest FROM unnest(times) AS t;
    END \$\$" -c "
    CREATE TABLE person AS SELECT row_number() OVER ()::int AS id, name FROM (
        SELECT g.given_name || ' ' || s.surname AS name
        FROM (SELECT given_name, row_number() OVER (ORDER BY rec_id) AS n FROM febrl WHERE given_name IS NOT NULL) AS g
        JOIN (SELECT surname, row_number() OVER (ORDER BY rec_id DESC) AS n FROM febrl WHERE surname IS NOT NULL) AS s
          ON (g.n * 7 + s.n) % greatest(1, 22000000 / $rows) = 0
        ORDER BY (g.n * 31 + s.n * 17) % 1009 LIMIT $rows) AS names" \
    -c 'ALTER TABLE person ADD sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED' \
    -c "CREATE TABLE asked AS SELECT id, overlay(name PLACING chr(97 + id % 26) FROM 1 + id % length(name) FOR id % 2) AS name FROM person WHERE id % ($rows / $asked) = 1" \
    -c "CREATE INDEX ON person USING sigfile (sig)" -c 'VACUUM ANALYZE person'
for extension in pg_trgm fuzzystrmatch; do sql -c "CREATE EXTENSION $extension"; done
sql -c "CREATE INDEX ON person USING gin (name gin_trgm_ops)"
echo "$(sql -c 'SELECT count(*) FROM person') names of $(sql -c 'SELECT round(avg(length(name)), 1) FROM person') letters, PostgreSQL $(sql -c 'SHOW server_version')"
echo '| k | way | median ms | slowest ms | names asked | rows found |'
echo '|---|---|---|---|---|---|'
# row K WAY SETTINGS STATEMENT MOST
row() { echo "| $1 | $2 | $(sql -c "$3" -c "SELECT ms, slowest, least($5, (SELECT count(*) FROM asked)), total FROM measured(\$s\$$4\$s\$, $5)" | tail -n 1 | sed 's/|/ | /g') |"; }
few=10
for k in 1 2 3; do
    within="SELECT count(*) FROM person WHERE ident_edit_within(name, \$1, $k)"
    # three edits leave so little in common that each search takes a good part of a second
    ((k == 3)) || row "$k" 'ident_edit_within, sigfile' 'SET enable_seqscan = off' "$within" "$asked"
    row "$k" "the same, the first $few names" 'SET enable_seqscan = off' "$within" "$few"
    row "$k" 'ident_edit_within, sequential scan' 'SET enable_indexscan = off; SET enable_bitmapscan = off' "${within/(name,/(name || \'\',}" "$few"
    less="levenshtein_less_equal(lower(name), lower(\$1), $k) <= $k"
    row "$k" 'levenshtein_less_equal, sequential scan' '' "SELECT count(*) FROM person WHERE $less" "$few"
    ((k == 3)) || row "$k" 'pg_trgm GIN at .3, then levenshtein_less_equal' 'SET enable_seqscan = off; SET pg_trgm.similarity_threshold = 0.3' "SELECT count(*) FROM person WHERE name % \$1 AND $less" "$asked"
done
echo '| k | rows that the index finds, median | rows as similar as the bound, median | rows within k edits, median |'
echo '|---|---|---|---|'
for k in 1 2; do
    echo "| $k | $(sql -c "
        SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY n), percentile_disc(0.5) WITHIN GROUP (ORDER BY alike), percentile_disc(0.5) WITHIN GROUP (ORDER BY within) FROM asked AS a,
            LATERAL (SELECT bloom_signature(a.name) AS sig, bloom_edit_bound(a.name, $k) AS bound OFFSET 0) AS q,
            LATERAL (SELECT count(*) AS alike, count(*) FILTER (WHERE p.sig % bloom_query_edit(q.sig, q.bound, a.name, $k)) AS n, count(*) FILTER (WHERE ident_edit_within(p.name, a.name, $k)) AS within
                FROM person AS p WHERE p.sig % bloom_query(q.sig, q.bound)) AS found" | sed 's/|/ | /g') |"
done
dropdb bench
