-- Whether probabilities are ones: of pairs with about the same probability, how many are right.
CREATE SCHEMA reliability;
SET search_path = reliability, public;
CREATE TABLE truth (key text, cluster integer);
INSERT INTO truth SELECT 'r' || i, i / 2 FROM generate_series(0, 399) AS i;
-- Neighbours 2i and 2i + 1 are the same, others are not: of a hundred pairs at .9 eighty are right, and of twenty at .6 five.
CREATE TABLE pairs (a text, b text, probability float8);
INSERT INTO pairs SELECT 'r' || 2 * i, 'r' || 2 * i + CASE WHEN i < 80 THEN 1 ELSE 2 END, 0.9 FROM generate_series(0, 99) AS i;
INSERT INTO pairs SELECT 'r' || 2 * i + CASE WHEN i < 105 THEN 1 ELSE 2 END, 'r' || 2 * i, 0.6 FROM generate_series(100, 119) AS i;
INSERT INTO pairs VALUES ('r0', 'r3', 0), ('r4', 'r7', 0.1), ('r8', 'r9', 1), ('r10', 'r11', 0.95), ('r12', 'r13', 0.9999);
CREATE VIEW rounded AS SELECT NULL::float8 AS probability_from, NULL::float8 AS probability_to, NULL::bigint AS found, NULL::numeric AS claimed, NULL::bigint AS correct, NULL::numeric AS share, NULL::numeric AS share_low, NULL::numeric AS share_high;
CREATE FUNCTION reliability(regclass, regclass) RETURNS SETOF rounded LANGUAGE sql AS $$
    SELECT probability_from, probability_to, found, round(claimed::numeric, 4), correct, round(share::numeric, 4), round(share_low::numeric, 4), round(share_high::numeric, 4)
    FROM bloom_reliability($1, $2) $$;
SELECT * FROM reliability('pairs', 'truth');
-- True pairs, either way round, say the same.
CREATE VIEW true_pairs AS SELECT y.key AS a, x.key AS b FROM truth AS x JOIN truth AS y ON x.cluster = y.cluster AND x.key < y.key;
SELECT count(*) FROM (SELECT * FROM bloom_reliability('pairs', 'truth') EXCEPT SELECT * FROM bloom_reliability('pairs', 'true_pairs')) AS differ;
-- Similarities are looked at in the same way.
CREATE VIEW similar_pairs AS SELECT a, b, probability AS similarity FROM pairs WHERE probability >= 0.9;
SELECT probability_from, found, correct FROM bloom_reliability('similar_pairs', 'truth');
-- Records without a label, and pairs without a decision, are left out and counted.
DELETE FROM truth WHERE key IN ('r0', 'r8');
SELECT probability_from, found, correct FROM bloom_reliability('pairs', 'truth');
CREATE TABLE decided (a text, b text, decision text, at timestamptz DEFAULT now());
INSERT INTO decided VALUES ('r11', 'r10', 'same', NULL), ('r8', 'r9', 'different', now()), ('r12', 'r13', 'unsure', now()), ('r4', 'r7', 'same', '2020-01-01'), ('r7', 'r4', 'different', '2021-01-01');
SELECT probability_from, found, correct FROM bloom_reliability('pairs', 'decided');
-- Nothing to look at.
SELECT * FROM bloom_reliability('pairs', NULL);
CREATE TABLE nothing (key text, cluster text);
SELECT * FROM bloom_reliability('pairs', 'nothing');
DELETE FROM pairs;
SELECT * FROM bloom_reliability('pairs', 'truth');
-- What cannot be.
SELECT * FROM bloom_reliability(NULL, 'truth');
SELECT * FROM bloom_reliability('truth', 'truth');
INSERT INTO pairs VALUES ('a', 'b', 1.5);
SELECT * FROM bloom_reliability('pairs', 'truth');
UPDATE pairs SET probability = NULL;
SELECT * FROM bloom_reliability('pairs', 'truth');
UPDATE pairs SET probability = 0.5, b = 'a';
SELECT * FROM bloom_reliability('pairs', 'truth');
UPDATE pairs SET b = NULL;
SELECT * FROM bloom_reliability('pairs', 'truth');
UPDATE pairs SET b = 'b';
CREATE VIEW undecided AS SELECT 'a' AS a, 'b' AS b, 'maybe' AS decision, now() AS at;
SELECT * FROM bloom_reliability('pairs', 'undecided');
CREATE VIEW timeless AS SELECT 'a' AS a, 'b' AS b, 'same' AS decision;
SELECT * FROM bloom_reliability('pairs', 'timeless');
-- As the caller.
CREATE ROLE reliability_nobody;
GRANT USAGE ON SCHEMA reliability TO reliability_nobody;
SET ROLE reliability_nobody;
SELECT * FROM bloom_reliability('pairs', 'truth');
RESET ROLE;
DROP OWNED BY reliability_nobody;
DROP ROLE reliability_nobody;
SET client_min_messages = warning;
DROP SCHEMA reliability CASCADE;
