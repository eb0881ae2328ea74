-- Clusters of pairs, and of what bloom_duplicates finds.
-- A chain a-b-c-d-e, a pair x-y, and p-q below the thresholds used.
CREATE TABLE pairs (a text, b text, similarity float8);
INSERT INTO pairs VALUES ('a', 'b', 0.9), ('c', 'b', 0.8), ('c', 'd', 0.9), ('d', 'e', 0.9), ('x', 'y', 1), ('p', 'q', 0.5);
SELECT * FROM bloom_clusters('pairs', 0.8, 'components');
SELECT * FROM bloom_clusters('pairs', 0.8);
SELECT * FROM bloom_clusters('pairs', 0.8, method => 'average');
-- Known similarities below the threshold count for the mean, here of {a,b} with {c,d}: (0.8 + 0.8 + 0.7 + 0.7) / 4.
CREATE TABLE wide AS VALUES ('a', 'b', 0.95), ('a', 'c', 0.8), ('b', 'c', 0.8), ('a', 'd', 0.7), ('b', 'd', 0.7), ('c', 'd', 0.9);
ALTER TABLE wide RENAME column1 TO a;
ALTER TABLE wide RENAME column2 TO b;
ALTER TABLE wide RENAME column3 TO similarity;
SELECT * FROM bloom_clusters('wide', 0.75, 'average');
SELECT * FROM bloom_clusters('wide', 0.76, 'average');
DELETE FROM wide WHERE similarity < 0.75;
SELECT * FROM bloom_clusters('wide', 0.75, 'average');
-- The threshold is inclusive; 0 takes all, 1 what is equal.
SELECT cluster, array_agg(key) FROM bloom_clusters('pairs', 0.9) GROUP BY cluster ORDER BY cluster;
SELECT cluster, array_agg(key) FROM bloom_clusters('pairs', 0.90000001) GROUP BY cluster ORDER BY cluster;
SELECT method, count(DISTINCT cluster), count(*) FROM unnest('{components,centre,average}'::text[]) AS method, bloom_clusters('pairs', 0, method) GROUP BY method ORDER BY method;

-- Nothing depends on the order of the rows, on the direction of a pair, on repetitions, or on an index.
CREATE TABLE many AS
SELECT x::text AS a, y::text AS b, 0.5 + (x * 7919 + y * 104729) % 500 / 1000.0 AS similarity
FROM generate_series(1, 400) AS x, generate_series(x + 1, least(x + 6, 400)) AS y WHERE (x * y) % 3 = 1;
CREATE TABLE mixed AS SELECT CASE WHEN md5(a || b) < '8' THEN a ELSE b END AS a, CASE WHEN md5(a || b) < '8' THEN b ELSE a END AS b, similarity
FROM many, generate_series(1, 2) AS twice ORDER BY md5(a || b || twice);
CREATE FUNCTION digest(pairs regclass, method text) RETURNS text LANGUAGE sql AS
    $$ SELECT count(*) || ' ' || md5(string_agg(c::text, ' ' ORDER BY n)) FROM bloom_clusters(pairs, 0.6, method) WITH ORDINALITY AS c (cluster, key, size, similarity, keep, n) $$;
SELECT method, digest('many', method) = digest('mixed', method) AS same, digest('many', method) ~ '^[1-9]' AS some
FROM unnest('{components,centre,average}'::text[]) AS method;
CREATE INDEX ON mixed (similarity);
ANALYZE mixed;
SET enable_seqscan = off;
SELECT method, digest('many', method) = digest('mixed', method) AS same FROM unnest('{components,centre,average}'::text[]) AS method;
RESET enable_seqscan;
-- Numbers by size, then least key as bytes: 10 is before 9, Z before a.
CREATE TEMP TABLE ordered (a text, b text, similarity real);
INSERT INTO ordered VALUES ('9', 'k', 1), ('10', 'l', 1), ('a', 'm', 1), ('Z', 'n', 1), ('s', 't', 1), ('t', 'u', 1), ('ä', 'z', 1);
SELECT cluster, key, keep FROM bloom_clusters('ordered', 1);
-- Every method: members of a centre reach the threshold; a record is in one cluster; one record of each is kept.
SELECT method, count(*) = count(DISTINCT key) AS once, bool_and(size = n) AS sizes, bool_and(kept = 1) AS kept,
       bool_and(similarity >= 0.6) FILTER (WHERE method = 'centre') AS reached
FROM unnest('{components,centre,average}'::text[]) AS method,
     LATERAL (SELECT *, count(*) OVER w AS n, count(*) FILTER (WHERE keep) OVER w AS kept
              FROM bloom_clusters('many', 0.6, method) WINDOW w AS (PARTITION BY cluster)) AS c
GROUP BY method ORDER BY method;

-- Keys of any type, views, temporary tables, columns in any order, names that need quotes.
CREATE SCHEMA "Odd ""Schema";
CREATE TABLE "Odd ""Schema"."Pairs; DROP" (similarity numeric, "B" text, b inet, a inet);
INSERT INTO "Odd ""Schema"."Pairs; DROP" VALUES (0.9, NULL, '10.0.0.1', '10.0.0.2');
SELECT * FROM bloom_clusters('"Odd ""Schema"."Pairs; DROP"', 0.8);
CREATE VIEW strong AS SELECT * FROM pairs WHERE similarity > 0.85;
SELECT cluster, key FROM bloom_clusters('strong', 0);

-- Nothing.
CREATE TABLE none (a text, b text, similarity float8);
SELECT * FROM bloom_clusters('none', 0.5);
INSERT INTO none VALUES ('a', 'a', 1);
SELECT * FROM bloom_clusters('none', 0.5);
DELETE FROM none;
SELECT count(*) FROM bloom_clusters(NULL, 0.5);

-- Errors.
\set VERBOSITY verbose
\set SHOW_CONTEXT never
SELECT * FROM bloom_clusters('pairs', 0.5, 'k-means');
SELECT * FROM bloom_clusters('pairs', 1.5);
SELECT * FROM bloom_clusters('pairs', 'NaN');
\set VERBOSITY default
CREATE TABLE wrong (x text, y text, similarity float8);
SELECT * FROM bloom_clusters('wrong', 0.5);
SELECT * FROM bloom_clusters('pg_class_oid_index', 0.5);
SELECT * FROM bloom_clusters(4::oid::regclass, 0.5);
INSERT INTO none VALUES ('a', NULL, 1);
SELECT * FROM bloom_clusters('none', 0.5);
UPDATE none SET b = 'c', similarity = NULL;
SELECT * FROM bloom_clusters('none', 0.5);
UPDATE none SET similarity = 1.01;
SELECT * FROM bloom_clusters('none', 0.5);
UPDATE none SET similarity = 'NaN';
SELECT * FROM bloom_clusters('none', 0.5);
-- Memory is bounded by a setting.
SET maintenance_work_mem = '1MB';
CREATE TABLE large AS SELECT i AS a, i + 1 AS b, 0.9 AS similarity FROM generate_series(1, 30000) AS i;
\set VERBOSITY sqlstate
SELECT count(*) FROM bloom_clusters('large', 0.5);
\set VERBOSITY default
SELECT count(*) FROM bloom_clusters('large', 0.95);
RESET maintenance_work_mem;
SELECT count(*), max(size) FROM bloom_clusters('large', 0.5, 'components');
-- A chain: with the average only pairs are left, for missing ones count as 0.
SELECT count(*), max(size) FROM bloom_clusters('large', 0.5, 'average');
-- It can be cancelled.
SET statement_timeout = 20;
\set VERBOSITY sqlstate
SELECT count(*) FROM generate_series(1, 1000) AS i, bloom_clusters('large', 0.5, CASE WHEN i > 0 THEN 'centre' END);
\set VERBOSITY default
RESET statement_timeout;
-- Large results go to disk.
SET work_mem = '64kB';
SELECT count(*), count(DISTINCT key), max(cluster) FROM bloom_clusters('large', 0.5);
RESET work_mem;

-- From a table: the same as from its pairs.
CREATE TABLE person (id integer, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
INSERT INTO person (id, name) VALUES (1, 'Erika Mustermann'), (2, 'Erica Mustermann'), (10, 'Erika Musterman'), (20, 'Jörg Müller'),
    (21, 'Joerg Mueller'), (30, 'Sean O''Brien'), (40, NULL), (41, '');
CREATE INDEX person_sig ON person USING sigfile (sig);
SELECT c.*, name FROM bloom_clusters('person', 'id', 'sig', 0.7) AS c JOIN person ON id::text = key ORDER BY cluster, keep DESC, key;
CREATE TABLE found AS SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.7);
SELECT method, (SELECT array_agg(c::text) FROM bloom_clusters('person', 'id', 'sig', 0.7, method) AS c)
             = (SELECT array_agg(c::text) FROM bloom_clusters('found', 0.7, method) AS c) AS same
FROM unnest('{components,centre,average}'::text[]) AS method;
DROP INDEX person_sig;
SELECT count(*), max(cluster) FROM bloom_clusters('person', 'id', 'sig', 0.7);
SELECT * FROM bloom_clusters('person', 'id', 'name', 0.7);
SELECT * FROM bloom_clusters('person', 'nobody', 'sig', 0.7);
-- A key has to name one record.
UPDATE person SET id = 1 WHERE id = 2;
SELECT * FROM bloom_clusters('person', 'id', 'sig', 0.7);
UPDATE person SET id = NULL WHERE name = 'Erica Mustermann';
\set VERBOSITY terse
SELECT * FROM bloom_clusters('person', 'id', 'sig', 0.7);
\set VERBOSITY default
UPDATE person SET id = 2 WHERE id IS NULL;

-- Privileges and policies are those of the caller.
CREATE ROLE regress_clusters;
SET ROLE regress_clusters;
SELECT * FROM bloom_clusters('pairs', 0.5);
SELECT * FROM bloom_clusters('person', 'id', 'sig', 0.7);
RESET ROLE;
GRANT SELECT (id, sig) ON person TO regress_clusters;
ALTER TABLE person ENABLE ROW LEVEL SECURITY;
CREATE POLICY low ON person USING (id < 20);
SET ROLE regress_clusters;
SELECT * FROM bloom_clusters('person', 'id', 'sig', 0.7);
RESET ROLE;
GRANT SELECT ON pairs TO regress_clusters;
ALTER TABLE pairs ENABLE ROW LEVEL SECURITY;
CREATE POLICY low ON pairs USING (a < 'b');
SET ROLE regress_clusters;
SELECT * FROM bloom_clusters('pairs', 0.5);
RESET ROLE;

-- A key that several records have.
CREATE TABLE twice (id integer, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
INSERT INTO twice VALUES (1, 'anna meier'), (1, 'otto huber'), (2, 'anna meier'), (2, 'otto huber'), (3, 'otto huber');
SELECT * FROM bloom_clusters('twice', 'id', 'sig', 0.8);
DROP TABLE twice;

-- Equal signatures in great number: what does not fit into memory is an error before all pairs are written to a file.
CREATE TABLE alike AS SELECT i AS id, bloom_signature('anna meier') AS sig FROM generate_series(1, 5000) AS i;
SET maintenance_work_mem = '4MB';
SET temp_file_limit = '10MB';
\set VERBOSITY sqlstate
SELECT * FROM bloom_clusters('alike', 'id', 'sig', 0.8);
SELECT bloom_report('alike', 'id', 'sig', 0.8);
\set VERBOSITY default
RESET maintenance_work_mem;
RESET temp_file_limit;
-- So are keys: this is little for each pair, but too much with what they are called.
CREATE TABLE long_keys AS SELECT i || repeat('k', 20000) AS a, i || repeat('l', 20000) AS b, 0.9::float8 AS similarity FROM generate_series(1, 1000) AS i;
SET maintenance_work_mem = '4MB';
SELECT * FROM bloom_clusters('long_keys', 0.8);
RESET maintenance_work_mem;
DROP TABLE alike, long_keys;

-- What a schema before others on the search_path has is not called.
CREATE SCHEMA evil;
CREATE FUNCTION evil.bloom_duplicates(regclass, name, name, float8, OUT a text, OUT b text, OUT similarity float8) RETURNS SETOF record
    LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'attacked'; END $$;
CREATE FUNCTION evil.attack(anyelement, anyelement) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'attacked'; END $$;
CREATE OPERATOR evil.= (LEFTARG = anyelement, RIGHTARG = anyelement, FUNCTION = evil.attack);
CREATE OPERATOR evil.>= (LEFTARG = anyelement, RIGHTARG = anyelement, FUNCTION = evil.attack);
CREATE OPERATOR evil.< (LEFTARG = anyelement, RIGHTARG = anyelement, FUNCTION = evil.attack);
CREATE DOMAIN evil.float8 AS text CHECK (VALUE IS NULL);
CREATE VIEW evil.pairs AS SELECT 1 / 0 AS a, 1 AS b, 1 AS similarity;
CREATE VIEW evil.person AS SELECT 1 / 0 AS id, NULL::bloom AS sig;
SET search_path = evil, public, pg_catalog;
SELECT count(*) FROM public.bloom_clusters('public.person', 'id', 'sig', 0.7::pg_catalog.float8);
SELECT count(*) FROM public.bloom_clusters('public.pairs', 0.7::pg_catalog.float8);
RESET search_path;
DROP SCHEMA evil, "Odd ""Schema" CASCADE;
DROP TABLE pairs, wide, many, mixed, none, wrong, large, person, found CASCADE;
DROP FUNCTION digest;
DROP ROLE regress_clusters;
SELECT proname, provolatile, proparallel, proisstrict FROM pg_proc WHERE proname ~ '^bloom_(clusters|quality|threshold_sweep)$' ORDER BY 1, pronargs;
