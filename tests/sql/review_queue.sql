-- Pairs that are worth an answer: some of each band of probability, evenly within it.
CREATE SCHEMA review_queue;
SET search_path = review_queue, public;
CREATE TABLE pairs (a text, b text, probability float8);
INSERT INTO pairs SELECT 'a' || i, 'b' || i, 0.05 FROM generate_series(1, 50) AS i;
INSERT INTO pairs SELECT 'a' || i, 'b' || i, 0.1 + 0.01 * (i % 40) FROM generate_series(100, 219) AS i;
INSERT INTO pairs SELECT 'a' || i, 'b' || i, 0.6 FROM generate_series(300, 399) AS i;
INSERT INTO pairs SELECT 'a' || i, 'b' || i, 0.81 + i % 3 * 0.05 FROM generate_series(400, 402) AS i;
INSERT INTO pairs SELECT 'a' || i, 'b' || i, 0.97 FROM generate_series(500, 599) AS i;
INSERT INTO pairs SELECT 'a' || i, 'b' || i, 0.9995 + i % 3 * 0.0002 FROM generate_series(600, 699) AS i;
-- There are three in one band and none in another, so others have more.
CREATE TABLE queue AS SELECT * FROM bloom_review_queue('pairs', 21);
SELECT width_bucket(probability, '{0.1,0.5,0.8,0.95,0.99,0.999}') AS band, count(*), count(DISTINCT probability), min(probability), max(probability), min(alike), max(alike) FROM queue GROUP BY band ORDER BY band;
SELECT bool_and(probability <= before) AS falls FROM (SELECT probability, lag(probability) OVER () AS before FROM queue) AS q;
-- Neither the order of the rows nor memory changes anything.
CREATE TABLE shuffled AS SELECT * FROM pairs ORDER BY md5(a);
(SELECT * FROM bloom_review_queue('shuffled', 21) EXCEPT TABLE queue) UNION ALL (TABLE queue EXCEPT SELECT * FROM bloom_review_queue('shuffled', 21));
SET maintenance_work_mem = '1MB';
(SELECT * FROM bloom_review_queue('shuffled', 21) EXCEPT TABLE queue) UNION ALL (TABLE queue EXCEPT SELECT * FROM bloom_review_queue('shuffled', 21));
RESET maintenance_work_mem;
-- What is decided is not asked again, whichever way round it was; it counts for its band.
SELECT bloom_decisions_create('decided');
INSERT INTO decided (a, b, decision) SELECT b, a, (ARRAY['same', 'different', 'unsure'])[1 + length(a || b) % 3] FROM queue;
SELECT count(*) AS asked_again FROM bloom_review_queue('pairs', 1000, 'decided') AS q JOIN queue USING (a, b);
INSERT INTO decided (a, b, decision) SELECT a, b, 'same' FROM pairs WHERE probability = 0.6;
SELECT width_bucket(probability, '{0.1,0.5,0.8,0.95,0.99,0.999}') AS band, count(*) FROM bloom_review_queue('pairs', 12, 'decided') GROUP BY band ORDER BY band;
-- More than there are: all of them, once.
SELECT count(*), count(DISTINCT a) FROM bloom_review_queue('pairs', 100000);
-- Its page is that of all pairs.
CREATE TABLE person AS SELECT a AS id, 'Anna' AS name FROM pairs UNION SELECT b, 'Anne' FROM pairs;
SELECT length(bloom_report_pairs('queue', 'person', 'id')) > 10000 AS has_page;
-- Similarities are asked about in the same way.
CREATE VIEW similar_pairs AS SELECT a, b, probability AS similarity FROM pairs;
SELECT count(*) FROM bloom_review_queue('similar_pairs', 21) AS q JOIN queue USING (a, b, probability);
-- A pair that is there twice is asked about once.
CREATE VIEW twice AS SELECT a, b, probability FROM pairs UNION ALL SELECT b, a, probability FROM pairs;
SELECT count(*) > 0 AS some, count(*) = count(DISTINCT least(a, b) || ' ' || greatest(a, b)) AS once FROM bloom_review_queue('twice', 100000);
-- Nothing to ask, and what cannot be.
CREATE TABLE none AS TABLE pairs WITH NO DATA;
SELECT * FROM bloom_review_queue('none', 5);
SELECT * FROM bloom_review_queue('pairs', 0);
SELECT * FROM bloom_review_queue('pairs', 100001);
SELECT * FROM bloom_review_queue('pairs', NULL);
SELECT * FROM bloom_review_queue(NULL, 5);
SELECT * FROM bloom_review_queue('decided', 5);
SELECT * FROM bloom_review_queue('pairs', 5, 'pairs');
INSERT INTO none VALUES ('a', 'a', 0.5);
SELECT * FROM bloom_review_queue('none', 5);
UPDATE none SET b = NULL;
SELECT * FROM bloom_review_queue('none', 5);
UPDATE none SET b = 'b', probability = 'NaN';
SELECT * FROM bloom_review_queue('none', 5);
-- As the caller.
CREATE ROLE review_queue_nobody;
GRANT USAGE ON SCHEMA review_queue TO review_queue_nobody;
SET ROLE review_queue_nobody;
SELECT * FROM bloom_review_queue('pairs', 5);
RESET ROLE;
DROP OWNED BY review_queue_nobody;
DROP ROLE review_queue_nobody;
SET client_min_messages = warning;
DROP SCHEMA review_queue CASCADE;
