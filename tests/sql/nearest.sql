-- Nearest neighbours far down the list, in little memory: what does not fit is sorted in temporary files.
CREATE TABLE person AS SELECT i AS id, CASE WHEN i % 50 > 0 THEN bloom_signature(left(md5((i % 20000)::text), 12)) END AS sig FROM generate_series(1, 40000) AS i;
CREATE INDEX person_sig ON person USING sigfile (sig) WITH (tail_limit = 2000);
INSERT INTO person SELECT i, bloom_signature(left(md5((i % 20000)::text), 12)) FROM generate_series(40001, 42000) AS i;
DELETE FROM person WHERE id % 7 = 3;
VACUUM ANALYZE person;
INSERT INTO person SELECT i, bloom_signature(left(md5((i % 20000)::text), 12)) FROM generate_series(42001, 43000) AS i;
SET work_mem = '64kB';
SET max_parallel_workers_per_gather = 0;
CREATE FUNCTION q(i int) RETURNS bloom IMMUTABLE LANGUAGE sql AS $$ SELECT bloom_signature(left(md5(i::text), 12)) $$;
-- the statement with the index, and without it, where the tid decides between rows of one distance as it does in the index
CREATE FUNCTION same(condition text, keys text, many int) RETURNS TABLE (rows int, same boolean) LANGUAGE plpgsql AS $$
DECLARE
    one text := format('SELECT array_agg(id ORDER BY n) FROM (SELECT id, row_number() OVER () AS n FROM (SELECT id FROM person WHERE %s ORDER BY %s', condition, keys);
    indexed int[];
    sorted int[];
BEGIN
    SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off;
    EXECUTE format('%s LIMIT %s) AS a) AS b', one, many) INTO indexed;
    SET LOCAL enable_seqscan = on; SET LOCAL enable_sort = on; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off;
    EXECUTE format('%s, ctid LIMIT %s) AS a) AS b', one, many) INTO sorted;
    RETURN QUERY SELECT cardinality(indexed), indexed = sorted;
    SET LOCAL enable_indexscan = on; SET LOCAL enable_indexonlyscan = on;
END $$;
SELECT many, rows, same FROM unnest('{10,64,65,500,600,5000,20000,30000}'::int[]) AS many, same('sig IS NOT NULL', 'sig <-> q(17)', many);
SELECT rows = (SELECT count(sig) FROM person) AS all, same FROM same('sig IS NOT NULL', 'sig <-> q(4711)', 100000);
SELECT rows, same FROM same('sig % bloom_query(q(17), 0.1)', 'sig <-> q(17)', 20000);
SELECT rows, same FROM same('id % 3 = 0 AND sig IS NOT NULL', 'sig <-> q(17), sig <-> q(18)', 12000);
SELECT rows, same FROM same('sig IS NOT NULL', 'sig <-> q(1), sig <-> q(2), sig <-> q(3), sig <-> q(4)', 30000);
-- Rows without a signature come last, each once.
SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off;
SELECT count(*) = (SELECT count(*) FROM person) AS all, count(DISTINCT id) = count(*) AS once, min(n) FILTER (WHERE sig IS NULL) > max(n) FILTER (WHERE sig IS NOT NULL) AS nulls_last
FROM (SELECT id, sig, row_number() OVER () AS n FROM (SELECT id, sig FROM person ORDER BY sig <-> q(17) OFFSET 0) AS a) AS b;
-- An index-only scan.
EXPLAIN (COSTS OFF) SELECT sig FROM person ORDER BY sig <-> q(17);
SELECT count(*), bool_and(d >= before) AS ordered FROM (SELECT d, lag(d, 1, 0) OVER () AS before FROM (SELECT sig <-> q(17) AS d FROM person WHERE sig IS NOT NULL ORDER BY sig <-> q(17) OFFSET 0) AS a) AS b;
-- Only those who read on pay for the sort.
CREATE FUNCTION temp_written(many int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE format('EXPLAIN (ANALYZE, BUFFERS, FORMAT json) SELECT id FROM person ORDER BY sig <-> q(17) LIMIT %s', many) INTO plan;
    RETURN (plan->0->'Plan'->>'Temp Written Blocks')::int > 0;
END $$;
SELECT many, temp_written(many) FROM unnest('{10,100,20000}'::int[]) AS many;
-- Scans that begin again, and that end before the last row.
SELECT n, count(*), count(DISTINCT id), sum(id) = (SELECT sum(id) FROM (SELECT id FROM person ORDER BY sig <-> q(n), ctid LIMIT 9000) AS f) AS same
FROM generate_series(1, 3) AS n, LATERAL (SELECT id FROM person ORDER BY sig <-> q(n) LIMIT 9000) AS f GROUP BY n ORDER BY n;
-- A cursor outlives a subtransaction, and goes with its transaction.
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM person ORDER BY sig <-> q(17);
FETCH 2 FROM c;
MOVE 10000 FROM c;
SAVEPOINT s;
FETCH 2 FROM c;
SELECT 1 / 0;
ROLLBACK TO s;
FETCH 2 FROM c;
MOVE 5000 FROM c;
CLOSE c;
DECLARE c CURSOR FOR SELECT id FROM person ORDER BY sig <-> q(17);
SAVEPOINT s;
MOVE 10000 FROM c;
ROLLBACK TO s;
FETCH 1 FROM c;
ROLLBACK;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM person ORDER BY sig <-> q(17);
MOVE 10000 FROM c;
COMMIT;
BEGIN;
DECLARE held CURSOR WITH HOLD FOR SELECT id FROM person ORDER BY sig <-> q(17) LIMIT 15000;
MOVE 1000 FROM held;
COMMIT;
MOVE 20000 FROM held;
CLOSE held;
-- Errors in the middle of reading what was sorted, in a transaction, in a subtransaction, and beneath a cursor.
SELECT count(1 / (n - 12000)) FROM (SELECT row_number() OVER () AS n FROM (SELECT id FROM person ORDER BY sig <-> q(17) OFFSET 0) AS a) AS b;
DO $$
DECLARE r record; n int := 0;
BEGIN
    FOR r IN SELECT id FROM person ORDER BY sig <-> q(17) LOOP
        n := n + 1;
        BEGIN
            IF n % 4000 = 0 THEN PERFORM 1 / (n - n); END IF;
        EXCEPTION WHEN division_by_zero THEN
            BEGIN
                PERFORM count(1 / (m - 9000)) FROM (SELECT row_number() OVER () AS m FROM (SELECT id FROM person ORDER BY sig <-> q(18) OFFSET 0) AS a) AS b;
            EXCEPTION WHEN division_by_zero THEN NULL;
            END;
        END;
    END LOOP;
    RAISE NOTICE '% rows', n;
END $$;
BEGIN;
DECLARE c CURSOR FOR SELECT 1 / (n - 12000) FROM (SELECT row_number() OVER () AS n FROM (SELECT id FROM person ORDER BY sig <-> q(17) OFFSET 0) AS a) AS b;
SAVEPOINT s;
MOVE 20000 FROM c;
ROLLBACK TO s;
FETCH c;
ROLLBACK;
SELECT count(*) AS temporary_files FROM pg_ls_tmpdir();
RESET enable_seqscan; RESET enable_sort; RESET enable_bitmapscan; RESET work_mem;
DROP TABLE person;
DROP FUNCTION same, temp_written, q;
