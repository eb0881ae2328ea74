-- What sessions keep of statistics, and what an index tells of rows that are equal.
CREATE FUNCTION rows_of(condition text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) SELECT FROM ' || condition INTO plan;
    RETURN (plan->0->'Plan'->>'Plan Rows')::float8;
END $$;
CREATE FUNCTION kept() RETURNS bigint LANGUAGE sql AS $$ SELECT coalesce(sum(used_bytes), 0)::bigint FROM pg_backend_memory_contexts WHERE name = 'bloom_ident statistics' $$;
SET max_parallel_workers_per_gather = 0;
-- 40 times 26 rows that are equal, among 100,000, of which ANALYZE looks at 3,000.
CREATE TABLE person AS SELECT i, CASE WHEN i <= 40 * 26 THEN 'common name ' || md5((i % 40)::text) ELSE md5(i::text) END AS name, NULL::bloom AS sig FROM generate_series(1, 100000) AS i;
UPDATE person SET sig = bloom_signature(name);
ALTER TABLE person ALTER sig SET STATISTICS 10;
VACUUM (FULL, ANALYZE) person;
CREATE FUNCTION factors(condition text) RETURNS TABLE (t float8, equal_rows bigint, most_within_3 boolean, most_others_within_3 boolean) LANGUAGE sql AS $$
    SELECT t, count(*) FILTER (WHERE i <= 40),
           -- one in 33 is in the sample, and so stands for 33; of some, three are
           count(*) FILTER (WHERE i <= 40 AND rows BETWEEN 26 / 3.0 AND 26 * 3.0) >= 32,
           count(*) FILTER (WHERE i > 40 AND rows > 3) < 8
    FROM person, unnest('{1,0.95,0.9,0.8}'::float8[]) AS t, rows_of(replace(replace(condition, '$1', quote_literal(sig)), '$2', t::text)) AS rows
    WHERE i <= 40 OR i % 5003 = 0 GROUP BY t ORDER BY t DESC $$;
CREATE INDEX person_sig ON person USING sigfile (sig);
SELECT * FROM factors('person WHERE sig % bloom_query($1::bloom, $2)');
SELECT * FROM factors('person WHERE bloom_sim(sig, $1::bloom) >= $2');
-- A partial index knows some rows only.
DROP INDEX person_sig;
CREATE INDEX person_sig ON person USING sigfile (sig) WHERE i < 1000000;
SELECT bool_or(most_within_3) AS any FROM factors('person WHERE sig % bloom_query($1::bloom, $2)');
-- Several segments, and an index on an expression, whose statistics are its own.
DROP INDEX person_sig;
CREATE INDEX person_sig ON person USING sigfile (bloom_signature(name));
ALTER INDEX person_sig ALTER 1 SET STATISTICS 10;
ANALYZE person;
SELECT * FROM factors('person WHERE bloom_sim(bloom_signature(name), $1::bloom) >= $2');
DROP INDEX person_sig;
CREATE TABLE several (sig bloom);
CREATE INDEX several_sig ON several USING sigfile (sig) WITH (tail_limit = 100);
INSERT INTO several SELECT sig FROM person WHERE i % 3 = 0;
SELECT FROM bloom_sigfile_merge('several_sig');
INSERT INTO several SELECT sig FROM person WHERE i % 3 > 0;
SELECT segments > 1 AS several FROM bloom_sigfile_stats('several_sig');
ALTER TABLE several ALTER sig SET STATISTICS 10;
ANALYZE several;
SELECT * FROM factors('several WHERE sig % bloom_query($1::bloom, $2)');
-- ANALYZE tells the same session, in a transaction, and after it was rolled back.
CREATE TABLE changing AS SELECT i, bloom_signature('first ' || i % 4) AS sig FROM generate_series(1, 4000) AS i;
CREATE FUNCTION of_first() RETURNS float8 LANGUAGE sql AS $$ SELECT rows_of('changing WHERE sig % bloom_query(bloom_signature(''first 1''), 0.95)') $$;
ANALYZE changing;
SELECT of_first() AS first, of_first() AS again;
UPDATE changing SET sig = bloom_signature('second ' || i % 4) WHERE i % 4 = 1 AND i > 1000;
ANALYZE changing;
SELECT of_first() AS second;
BEGIN;
UPDATE changing SET sig = bloom_signature('third') WHERE i % 4 = 1;
ANALYZE changing;
SELECT of_first() AS third;
SAVEPOINT s;
UPDATE changing SET sig = bloom_signature('first 1');
ANALYZE changing;
SELECT of_first() AS everything;
ROLLBACK TO s;
SELECT of_first() AS third;
ROLLBACK;
SELECT of_first() AS second;
-- So do other changes of the column; without statistics there is a constant.
CREATE DOMAIN signature AS bloom;
ALTER TABLE changing ALTER sig TYPE signature;
SELECT of_first() AS unknown;
ANALYZE changing;
SELECT of_first() AS second;
ALTER TABLE changing DROP sig;
ALTER TABLE changing ADD sig bloom;
SELECT of_first() AS unknown;
-- A table with what inherits from it.
CREATE TABLE child (LIKE person) INHERITS (person);
INSERT INTO child SELECT i, 'x', bloom_signature('first 1') FROM generate_series(1, 1000) AS i;
ANALYZE person, child;
SELECT rows_of('ONLY person WHERE sig % bloom_query(bloom_signature(''first 1''), 1)') < 10 AS parent,
       rows_of('child WHERE sig % bloom_query(bloom_signature(''first 1''), 1)') AS child,
       rows_of('person WHERE sig % bloom_query(bloom_signature(''first 1''), 1)') BETWEEN 1000 AND 1010 AS all;
DROP TABLE child;

-- What is kept has a bound, of 32 MB, and goes with the tables: 60 partitions with samples of a megabyte.
CREATE TABLE large (i int, sig bloom) PARTITION BY LIST (i);
DO $$ BEGIN FOR n IN 1..60 LOOP
    EXECUTE format('CREATE TABLE large%s PARTITION OF large FOR VALUES IN (%s)', n, n);
END LOOP; END $$;
INSERT INTO large SELECT n, bloom_signature(md5(i::text) || n, max_chars => 5900) FROM generate_series(1, 60) AS n, generate_series(1, 150) AS i;
ANALYZE large;
SELECT count(*) FROM large1 WHERE sig % bloom_query(bloom_signature('x', max_chars => 5900), 0.9);
SELECT kept() > 0 AS kept;
SELECT rows_of('large WHERE sig % bloom_query(bloom_signature(''x'', max_chars => 5900), 0.9)') > 0 AS planned FROM generate_series(1, 3);
SELECT kept() BETWEEN 25000000 AND 32 * 1024 * 1024 AS bounded;
DROP TABLE large;
SELECT kept() < 10000000 AS freed;

-- What one user may know is not told to another in the same session.
CREATE ROLE bloom_ident_other;
CREATE TABLE secret AS SELECT 1 AS i, bloom_signature('secret') AS sig FROM generate_series(1, 26) UNION ALL SELECT i, bloom_signature(md5(i::text)) FROM generate_series(2, 50000) AS i;
ALTER TABLE secret ALTER sig SET STATISTICS 10;
CREATE INDEX ON secret USING sigfile (sig);
ANALYZE secret;
CREATE VIEW open WITH (security_barrier) AS SELECT sig FROM secret WHERE i > 0;
GRANT SELECT ON open TO bloom_ident_other;
CREATE FUNCTION secrets() RETURNS TABLE (of_view float8, everything float8) LANGUAGE sql AS $$
    SELECT rows_of('open WHERE sig % bloom_query(bloom_signature(''secret''), 1)'), rows_of('open WHERE sig % bloom_query(bloom_signature(''secret''), 0)') $$;
SELECT rows_of('secret WHERE sig % bloom_query(bloom_signature(''secret''), 1)') BETWEEN 20 AND 40 AS known;
SET ROLE bloom_ident_other;
SELECT * FROM secrets();
RESET ROLE;
ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON secret USING (i > 0);
GRANT SELECT ON secret TO bloom_ident_other;
SET ROLE bloom_ident_other;
SELECT rows_of('secret WHERE sig % bloom_query(bloom_signature(''secret''), 1)') AS by_policy;
RESET ROLE;
DROP VIEW open;
DROP TABLE secret, person, several, changing;
DROP DOMAIN signature;
DROP FUNCTION rows_of, kept, factors, of_first, secrets;
DROP ROLE bloom_ident_other;
