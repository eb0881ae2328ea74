-- What was found, held against what is true.
-- True are {a,b,c} and {d,e}, and f by itself; found a-b, d-f, and a-b once more.
CREATE TABLE truth (key text, cluster integer);
INSERT INTO truth VALUES ('a', 1), ('b', 1), ('c', 1), ('d', 2), ('e', 2), ('f', 3);
CREATE TABLE pairs (a text, b text, similarity float8);
INSERT INTO pairs VALUES ('a', 'b', 0.9), ('d', 'f', 0.7), ('b', 'a', 0.8);
\x
SELECT * FROM bloom_quality('pairs', 'truth');
-- The truth as pairs gives the same, and so do labels on both sides.
CREATE VIEW true_pairs AS SELECT x.key AS a, y.key AS b FROM truth x JOIN truth y ON x.cluster = y.cluster AND x.key < y.key;
SELECT * FROM bloom_quality('pairs', 'true_pairs');
CREATE TABLE clusters AS SELECT * FROM bloom_clusters('pairs', 0.5);
SELECT * FROM bloom_quality('clusters', 'truth');
SELECT * FROM bloom_quality('clusters', 'true_pairs');
-- Itself.
SELECT * FROM bloom_quality('truth', 'truth');
SELECT * FROM bloom_quality('true_pairs', 'truth');
\x
-- B-cubed, the example of Bagga and Baldwin (1998): entities of 5, 2 and 5 mentions; once those of 2 and 5 are taken
-- for one, once those of 5 and 5. Precision is 16/21 and 7/12, recall 1.
CREATE VIEW mentions AS SELECT i AS key, CASE WHEN i <= 5 THEN 1 WHEN i <= 7 THEN 2 ELSE 3 END AS cluster FROM generate_series(1, 12) AS i;
CREATE VIEW small AS SELECT key, CASE cluster WHEN 3 THEN 2 ELSE cluster END AS cluster FROM mentions;
CREATE VIEW large AS SELECT key::text, CASE cluster WHEN 3 THEN 'one' ELSE cluster::text END AS cluster
FROM (SELECT key, CASE cluster WHEN 1 THEN 3 ELSE cluster END AS cluster FROM mentions) AS both_of_5;
SELECT answer, b_cubed_precision, b_cubed_precision = expected AS exact, b_cubed_recall, b_cubed_f1
FROM (VALUES ('small', 16 / 21.0::float8), ('large', 7 / 12.0::float8)) AS v (answer, expected), bloom_quality(answer::regclass, 'mentions');
-- Pairs are their connected components for B-cubed: a chain is as good as all pairs.
CREATE VIEW chain AS SELECT i AS a, i + 1 AS b FROM generate_series(1, 11) AS i WHERE i NOT IN (5, 7);
SELECT found, correct, recall, b_cubed_precision, b_cubed_recall FROM bloom_quality('chain', 'mentions');

-- Where there is nothing to be wrong about, nothing is wrong.
CREATE TABLE no_pairs (a text, b text, similarity float8);
CREATE TABLE no_labels (key text, cluster text);
SELECT found, true_pairs, correct, precision, recall, f1, b_cubed_f1 FROM bloom_quality('no_pairs', 'no_labels');
SELECT found, true_pairs, correct, precision, recall, f1, b_cubed_precision, b_cubed_recall FROM bloom_quality('no_pairs', 'truth');
SELECT found, true_pairs, correct, precision, recall, f1 FROM bloom_quality('pairs', 'no_pairs');
-- Records that the labels of the truth do not name: nobody knows, so they do not count.
DELETE FROM truth WHERE key = 'f';
SELECT found, true_pairs, correct, precision FROM bloom_quality('pairs', 'truth');
SELECT found, true_pairs, correct, precision FROM bloom_quality('clusters', 'truth');
SELECT found, true_pairs, correct, precision FROM bloom_quality('pairs', 'no_labels');
SELECT max(found) AS found FROM bloom_threshold_sweep('pairs', 'truth', 0.1);
INSERT INTO truth VALUES ('f', 3);
-- A key names one record, even if it comes twice with the same cluster.
INSERT INTO truth VALUES ('f', 3);
SELECT found, true_pairs, correct FROM bloom_quality('pairs', 'truth');
DELETE FROM truth WHERE ctid = (SELECT max(ctid) FROM truth WHERE key = 'f');

-- Thresholds: from the greatest that all pairs reach.
SELECT threshold, found, correct, round(precision::numeric, 3) AS precision, recall, round(f1::numeric, 3) AS f1
FROM bloom_threshold_sweep('pairs', 'truth', 0.1);
SELECT threshold, found, correct FROM bloom_threshold_sweep('pairs', 'true_pairs', 0.1);
SELECT threshold, found, correct FROM bloom_threshold_sweep('pairs', 'truth', 0.3);
SELECT threshold, found, correct, precision, recall FROM bloom_threshold_sweep('no_pairs', 'truth');
SELECT count(*), min(threshold) FROM bloom_threshold_sweep('pairs', 'truth');
-- Thresholds are inclusive, and quotients: 0.29 is 29/100, not 29 times 0.01.
INSERT INTO no_pairs VALUES ('a', 'b', 0.29), ('b', 'c', 0.57);
SELECT threshold, found FROM bloom_threshold_sweep('no_pairs', 'truth') WHERE threshold IN (0.29, 0.3, 0.57, 0.58);
-- Each row is what bloom_quality says of the pairs of that threshold.
CREATE TABLE many AS SELECT i % 97 AS a, 100 + i % 89 AS b, i % 101 / 100.0 AS similarity FROM generate_series(1, 3000) AS i;
CREATE VIEW of_many AS SELECT i AS key, i % 7 AS cluster FROM generate_series(0, 200) AS i;
CREATE VIEW above AS SELECT * FROM many WHERE similarity >= current_setting('test.threshold')::numeric;
CREATE FUNCTION quality_at(float8) RETURNS record LANGUAGE plpgsql AS
    $$ DECLARE r record; BEGIN PERFORM set_config('test.threshold', $1::text, true);
       SELECT q.found, q.correct, q.precision, q.recall, q.f1 INTO r FROM bloom_quality('above', 'of_many') AS q; RETURN r; END $$;
SELECT count(*), count(DISTINCT found) > 20 AS various, bool_and(quality_at(threshold)::text = ROW(found, correct, precision, recall, f1)::text) AS same
FROM bloom_threshold_sweep('many', 'of_many', 0.02);
-- The order of the rows changes nothing, to the last digit.
CREATE TABLE mixed AS SELECT b AS a, a AS b, similarity FROM many ORDER BY md5(a || ' ' || b);
SELECT (SELECT q::text FROM bloom_quality('many', 'of_many') AS q) = (SELECT q::text FROM bloom_quality('mixed', 'of_many') AS q) AS same;

-- Errors.
CREATE TABLE wrong (a text, cluster text);
CREATE TABLE both_forms (a text, b text, key text, cluster text);
SELECT * FROM bloom_quality('wrong', 'truth');
SELECT * FROM bloom_quality('pairs', 'wrong');
SELECT * FROM bloom_quality('both_forms', 'truth');
SELECT * FROM bloom_threshold_sweep('true_pairs', 'truth');
SELECT * FROM bloom_threshold_sweep('pairs', 'wrong');
SELECT * FROM bloom_quality('pairs', 'pg_class_oid_index');
INSERT INTO truth VALUES ('a', 9);
\set VERBOSITY verbose
\set SHOW_CONTEXT never
SELECT * FROM bloom_quality('pairs', 'truth');
\set VERBOSITY default
SELECT * FROM bloom_quality('truth', 'pairs');
SELECT * FROM bloom_threshold_sweep('pairs', 'truth');
UPDATE truth SET cluster = NULL WHERE cluster = 9;
SELECT * FROM bloom_quality('pairs', 'truth');
UPDATE truth SET key = NULL, cluster = 1 WHERE cluster IS NULL;
SELECT * FROM bloom_quality('pairs', 'truth');
DELETE FROM truth WHERE key IS NULL;
INSERT INTO pairs VALUES ('a', NULL, 1);
SELECT * FROM bloom_quality('pairs', 'truth');
SELECT * FROM bloom_quality('truth', 'pairs');
DELETE FROM pairs WHERE b IS NULL;
SELECT * FROM bloom_threshold_sweep('pairs', 'truth', 0);
SELECT * FROM bloom_threshold_sweep('pairs', 'truth', 'NaN');
SELECT * FROM bloom_threshold_sweep('pairs', 'truth', 1.1);
-- Memory is bounded by a setting.
CREATE TABLE wide AS SELECT i AS key, i AS cluster FROM generate_series(1, 30000) AS i;
SET maintenance_work_mem = '1MB';
\set VERBOSITY sqlstate
SELECT * FROM bloom_quality('pairs', 'wide');
\set VERBOSITY default
RESET maintenance_work_mem;

-- A step that is no part of 1: thresholds are its multiples as decimals. In float8 0.07 * 12 is more than 0.84.
CREATE TABLE few AS SELECT * FROM (VALUES ('a', 'b', 0.84::float8), ('b', 'a', 0.84), ('c', 'd', 0.9), ('e', 'f', 0.95), ('f', 'e', 0.95)) AS p(a, b, similarity);
SELECT * FROM bloom_threshold_sweep('few', 'few', 0.07);
-- What is not counted, is not counted as often as it comes.
CREATE TABLE some_known AS SELECT * FROM (VALUES ('a', 1), ('b', 1), ('c', 2), ('d', 2)) AS t(key, cluster);
SELECT found, correct FROM bloom_quality('few', 'some_known');
SELECT max(found) AS found, max(correct) AS correct FROM bloom_threshold_sweep('few', 'some_known');
-- The truth takes memory, too.
CREATE TABLE names AS SELECT 'record ' || i AS key, i AS cluster FROM generate_series(1, 20000) AS i;
CREATE TABLE rest AS SELECT 'record ' || i AS a, 'record ' || i + 1 AS b, 0.9::float8 AS similarity FROM generate_series(1, 10000) AS i;
SET maintenance_work_mem = '1500kB';
\set VERBOSITY terse
SELECT found FROM bloom_threshold_sweep('rest', 'names', 1);
\set VERBOSITY default
RESET maintenance_work_mem;
DROP TABLE few, some_known, names, rest;

-- The caller's privileges and policies; nothing of the search_path.
CREATE ROLE regress_quality;
GRANT SELECT ON pairs TO regress_quality;
SET ROLE regress_quality;
SELECT * FROM bloom_quality('pairs', 'truth');
SELECT * FROM bloom_threshold_sweep('pairs', 'truth');
RESET ROLE;
GRANT SELECT ON truth TO regress_quality;
ALTER TABLE truth ENABLE ROW LEVEL SECURITY;
CREATE POLICY first ON truth USING (cluster = 1);
SET ROLE regress_quality;
SELECT found, true_pairs, correct FROM bloom_quality('pairs', 'truth');
RESET ROLE;
CREATE SCHEMA evil;
CREATE FUNCTION evil.attack(anyelement, anyelement) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'attacked'; END $$;
CREATE OPERATOR evil.= (LEFTARG = anyelement, RIGHTARG = anyelement, FUNCTION = evil.attack);
CREATE OPERATOR evil.< (LEFTARG = anyelement, RIGHTARG = anyelement, FUNCTION = evil.attack);
CREATE DOMAIN evil.float8 AS text CHECK (VALUE IS NULL);
CREATE VIEW evil.pairs AS SELECT 1 / 0 AS a, 1 AS b, 1 AS similarity;
CREATE VIEW evil.truth AS SELECT 1 / 0 AS key, 1 AS cluster;
SET search_path = evil, public, pg_catalog;
SELECT found, correct FROM public.bloom_quality('public.pairs', 'public.truth');
SELECT count(*) FROM public.bloom_threshold_sweep('public.pairs', 'public.truth');
RESET search_path;
DROP SCHEMA evil CASCADE;
DROP TABLE truth, pairs, clusters, no_pairs, no_labels, many, mixed, wrong, both_forms, wide CASCADE;
DROP VIEW mentions, of_many, chain CASCADE;
DROP FUNCTION quality_at;
DROP ROLE regress_quality;
