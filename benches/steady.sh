#!/usr/bin/env bash
# Steady inserts: single rows, each a transaction of its own, synchronous_commit off, autovacuum off, into an index that begins empty.
# At eight times on the way: how long inserts took (milliseconds), how many segments there are, and what a search costs compared with an
# index that is built over the same rows; beside it what the same inserts take with a B-tree on the number alone. Then the size of an index whose rows change again and again, beside GiST's and B-tree's.
# BENCH_STEADY: rows, two million if not told. Searches are those of a plpgsql loop with a generic plan, the least of 5 rounds over 500
# signatures of the table, of which half are chosen at random and half are the newest.

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

rows=${BENCH_STEADY:-2000000}
dropdb --if-exists bench 2>/dev/null
createdb bench
export PGDATABASE=bench PGOPTIONS='-c max_parallel_workers_per_gather=0 -c jit=off -c client_min_messages=warning -c maintenance_work_mem=512MB'
load_febrl
load_words
sql -c "CREATE TABLE source AS SELECT i AS id, bloom_signature($(pick 1 given_name) || ' ' || $(pick 2 surname) || ' ' || $(pick 3 suburb)) AS sig
        FROM (SELECT i, i AS person FROM generate_series(1, $rows) AS i) AS g" \
    -c 'CREATE TABLE grown (id int, sig bloom) WITH (autovacuum_enabled = off)' -c 'CREATE INDEX grown_sig ON grown USING sigfile (sig)' \
    -c 'CREATE TABLE plain (id int, sig bloom) WITH (autovacuum_enabled = off)' -c 'CREATE INDEX ON plain (id)' -c 'CREATE TABLE took (n int, ms float8)' -c "
    CREATE PROCEDURE enter(tab text, first int, last int) LANGUAGE plpgsql AS \$\$
    DECLARE
        r record;
        began timestamptz;
        times float8[] := '{}';
        ms float8;
        slow int := 0;
        n int := 0;
        worst float8 := 0;
    BEGIN
        PERFORM set_config('synchronous_commit', 'off', false);
        TRUNCATE took;
        FOR i IN first..last LOOP
            -- Not by a cursor, of which the first COMMIT makes a table.
            SELECT * INTO r FROM source WHERE id = i;
            began := clock_timestamp();
            IF tab = 'grown' THEN INSERT INTO grown VALUES (r.id, r.sig); ELSE INSERT INTO plain VALUES (r.id, r.sig); END IF;
            COMMIT;
            ms := extract(epoch FROM clock_timestamp() - began) * 1000;
            n := n + 1;
            worst := greatest(worst, ms);
            slow := slow + (ms > 5)::int;
            -- One in a hundred, for the median; all that are long.
            IF n % 100 = 0 OR ms > 1 THEN INSERT INTO took VALUES (n, ms); END IF;
        END LOOP;
        INSERT INTO took VALUES (-1, worst), (-2, slow), (-3, n);
    END \$\$" -c "
    CREATE FUNCTION search_us(tab regclass, threshold float8, newest int) RETURNS float8 LANGUAGE plpgsql AS \$\$
    DECLARE
        asked bloom[] := (SELECT array_agg(sig) FROM source WHERE id IN (
            SELECT 1 + abs(hashint4(i)) % newest FROM generate_series(1, 250) AS i UNION SELECT newest - i FROM generate_series(1, 250) AS i));
        q bloom;
        began timestamptz;
        best float8 := 'infinity';
    BEGIN
        PERFORM set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true);
        FOR round IN 1..5 LOOP
            began := clock_timestamp();
            FOREACH q IN ARRAY asked LOOP
                IF tab = 'grown'::regclass THEN PERFORM count(*) FROM grown WHERE sig % bloom_query(q, threshold);
                ELSE PERFORM count(*) FROM fresh WHERE sig % bloom_query(q, threshold); END IF;
            END LOOP;
            best := least(best, extract(epoch FROM clock_timestamp() - began) * 1e6 / cardinality(asked));
        END LOOP;
        RETURN best;
    END \$\$" -c 'CREATE INDEX ON source (id)' -c 'VACUUM ANALYZE source' -c 'CREATE TABLE fresh (id int, sig bloom)'

echo "shape (7,43,3), names of three words; $rows rows"
echo '| rows | µs a row | median ms | over 5 ms | worst ms | WAL kB a row | B-tree: over 5 ms | worst ms | WAL kB a row | segments | tail | size/fresh | 0.9 µs | /fresh | 0.8 µs | /fresh |'
echo '|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|'
step=$((rows / 8))
# The WAL since position lsn, in kB a row.
wal() { echo "round((pg_current_wal_insert_lsn() - '$lsn') / 1024 / $step, 2)"; }
for ((last = step; last <= rows; last += step)); do
    # Not at the same place of a merge each time.
    to=$((last - last * 7 % 977))
    from=$((last - step + 1 - (last - step) * 7 % 977))
    lsn=$(sql -c 'SELECT pg_current_wal_insert_lsn()')
    sql -c "CALL enter('plain', $from, $to)"
    plain=$(sql -c "SELECT format('%s | %s | %s', max(ms) FILTER (WHERE n = -2), round(max(ms) FILTER (WHERE n = -1)::numeric, 1), $(wal)) FROM took")
    lsn=$(sql -c 'SELECT pg_current_wal_insert_lsn()')
    began=${EPOCHREALTIME/./}
    sql -c "CALL enter('grown', $from, $to)"
    took=$((${EPOCHREALTIME/./} - began))
    written=$(sql -c "SELECT $(wal)")
    sql -c 'TRUNCATE fresh' -c 'DROP INDEX IF EXISTS fresh_sig' -c 'INSERT INTO fresh SELECT * FROM grown' -c 'CREATE INDEX fresh_sig ON fresh USING sigfile (sig)'
    sql -c "WITH t AS (
                SELECT search_us('grown', 0.9, $to) AS g9, search_us('fresh', 0.9, $to) AS f9, search_us('grown', 0.8, $to) AS g8, search_us('fresh', 0.8, $to) AS f8)
            SELECT format('| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |', $to, round($took::numeric / $step, 1),
                (SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 3) FROM took WHERE n > 0 AND n % 100 = 0),
                (SELECT ms FROM took WHERE n = -2), (SELECT round(ms::numeric, 1) FROM took WHERE n = -1), $written, '$plain', s.segments, s.tail_rows,
                round(pg_relation_size('grown_sig')::numeric / pg_relation_size('fresh_sig'), 2),
                round(g9::numeric, 1), round((g9 / f9)::numeric, 2), round(g8::numeric, 1), round((g8 / f8)::numeric, 2))
            FROM t, bloom_sigfile_stats('grown_sig') AS s"
done
sql -c 'DROP TABLE grown, plain, fresh'

echo
echo 'kB after so many rounds of updating a fifth of 5,000 rows and VACUUM, and of loading 100,000 rows, deleting them and VACUUM'
echo '| rounds | sigfile | GiST | B-tree | loads: sigfile | GiST | B-tree |'
echo '|---|---|---|---|---|---|---|'
for table in changed loaded; do
    sql -c "CREATE TABLE $table (id int, sig bloom, visits int DEFAULT 0) WITH (autovacuum_enabled = off)"
    [[ $table == loaded ]] || sql -c "INSERT INTO changed SELECT id, sig FROM source WHERE id <= 5000"
    sql -c "CREATE INDEX ${table}_sigfile ON $table USING sigfile (sig)" -c "CREATE INDEX ${table}_gist ON $table USING gist (sig)" -c "CREATE INDEX ${table}_btree ON $table (visits, id)"
done
for ((round = 0; round <= 40; round++)); do
    if ((round)); then
        sql -c "UPDATE changed SET visits = visits + 1 WHERE id % 5 = $round % 5" -c 'VACUUM changed'
        ((round % 5)) || sql -c 'INSERT INTO loaded SELECT id, sig FROM source WHERE id <= 100000' -c 'DELETE FROM loaded' -c 'VACUUM loaded'
    fi
    ((round % 5)) || sql -c "SELECT '| ' || concat_ws(' | ', '$round / $((round / 5))', $(
        printf "pg_relation_size('%s') / 1024, " {changed,loaded}_{sigfile,gist,btree}
    )NULL) || ' |'"
done
