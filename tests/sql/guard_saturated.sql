-- Signatures with more than 90 % of their bits set say little: an index build warns of them, and a guard does not go by them.
CREATE TABLE article (id int PRIMARY KEY, body text, sig bloom GENERATED ALWAYS AS (bloom_signature(body, max_chars => 20)) STORED);
CREATE FUNCTION long_text(seed int) RETURNS text LANGUAGE sql AS $$ SELECT string_agg(md5(seed || '-' || i), ' ') FROM generate_series(1, 12) AS i $$;
INSERT INTO article SELECT i, CASE WHEN i % 10 = 0 THEN long_text(i) ELSE 'Title ' || md5(i::text) END FROM generate_series(1, 40) AS i;
SELECT count(*) FILTER (WHERE bloom_fill(sig) > 0.9) FROM article;
CREATE INDEX article_sig ON article USING sigfile (sig);
REINDEX INDEX article_sig;
SELECT bloom_sigfile_check('article_sig');
-- rows that are dead, and those without a signature, do not count
DELETE FROM article WHERE id = 10;
INSERT INTO article VALUES (50, NULL);
DROP INDEX article_sig;
CREATE INDEX article_sig ON article USING sigfile (sig);
-- none is full: nothing is said
CREATE INDEX article_some ON article USING sigfile (sig) WHERE id % 10 <> 0;
DROP INDEX article_some;
-- long texts that have nothing to do with each other
SELECT bloom_sim(bloom_signature(long_text(100), max_chars => 20), sig) > 0.8 AS similar FROM article WHERE id = 20;
SELECT bloom_guard_create('article', 'sig', 0.8, 'reject');
INSERT INTO article VALUES (100, long_text(100)), (101, long_text(101)), (102, 'Title of something else');
INSERT INTO article VALUES (103, 'Title of something else');
-- an UPDATE that leaves the signature alone says nothing
UPDATE article SET id = 110 WHERE id = 100;
UPDATE article SET body = long_text(104) WHERE id = 110;
DROP TRIGGER article_sig_guard ON article;
SELECT bloom_guard_create('article', 'sig', 0.8, 'skip', 'saturated', 'ignore');
INSERT INTO article VALUES (105, long_text(105)), (106, long_text(106)), (107, 'Title of something else');
SELECT id FROM article WHERE id > 100 ORDER BY id;
-- with the option they are compared
DROP TRIGGER article_sig_guard ON article;
SELECT bloom_guard_create('article', 'sig', 0.8, 'reject', 'saturated', 'reject');
INSERT INTO article VALUES (108, long_text(108));
-- a full one that is there does not keep another out, at the lowest of thresholds
CREATE TABLE low (id int PRIMARY KEY, sig bloom);
CREATE INDEX ON low USING sigfile (sig);
INSERT INTO low VALUES (1, bloom_signature(long_text(1), max_chars => 20));
SELECT bloom_guard_create('low', 'sig', 0.3, 'reject');
INSERT INTO low VALUES (2, bloom_signature('Title of something', max_chars => 20));
DROP TRIGGER low_sig_guard ON low;
DELETE FROM low WHERE id = 2;
SELECT bloom_guard_create('low', 'sig', 0.3, 'reject', 'saturated', 'reject');
INSERT INTO low VALUES (2, bloom_signature('Title of something', max_chars => 20));
-- where tokens decide, a full signature does no harm
CREATE TABLE worded (id int PRIMARY KEY, tokens text[], sig bloom GENERATED ALWAYS AS (bloom_signature_of_tokens(tokens, 4)) STORED);
CREATE INDEX ON worded USING sigfile (sig);
SELECT bloom_guard_create('worded', 'sig', 0.8, 'reject', 'verify', 'tokens');
INSERT INTO worded SELECT i, ident_words(long_text(i)) || ARRAY(SELECT md5(i || '/' || t) FROM generate_series(1, 40) AS t) FROM generate_series(1, 3) AS i;
INSERT INTO worded SELECT 9, tokens FROM worded WHERE id = 1;
-- bad input
SELECT bloom_guard_create('low', 'sig', 0.3, 'reject', 'saturated', 'maybe');
SELECT bloom_guard_create('low', 'sig', 0.3, 'reject', 'saturated', 'ignore', 'saturated', 'ignore');
-- a guard's creation tells of the rows that are there, of a block list, too, and of those of all partitions
CREATE TABLE parted (id int PRIMARY KEY, body text, sig bloom GENERATED ALWAYS AS (bloom_signature(body, max_chars => 20)) STORED) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (20);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (20) TO (100);
INSERT INTO parted SELECT i, CASE WHEN i % 8 = 0 THEN long_text(i) WHEN i > 1 THEN 'Title ' || md5(i::text) END FROM generate_series(1, 40) AS i;
CREATE INDEX ON parted USING sigfile (sig);
SELECT bloom_guard_create('parted', 'sig', 0.99, 'warn', 'saturated', 'reject');
SELECT bloom_guard_create('parted', 'sig', 0.99, 'warn', 'blocklist', 'low');
SELECT bloom_guard_create('parted_1', 'sig', 0.99, 'warn');
CREATE ROLE bloom_ident_maker;
GRANT TRIGGER ON low TO bloom_ident_maker;
SET ROLE bloom_ident_maker;
-- who may not read a table is told nothing of its rows
SELECT bloom_guard_create('low', 'sig', 0.99, 'warn');
RESET ROLE;
DROP TRIGGER low_sig_guard ON low;
GRANT SELECT (sig) ON low TO bloom_ident_maker;
SET ROLE bloom_ident_maker;
SELECT bloom_guard_create('low', 'sig', 0.99, 'warn');
RESET ROLE;
-- rows of a table that inherits from it are not the guard's
CREATE TABLE low_child () INHERITS (low);
INSERT INTO low_child SELECT i, bloom_signature(long_text(i), max_chars => 20) FROM generate_series(1, 5) AS i;
SELECT bloom_guard_create('low', 'sig', 0.99, 'warn');
DROP TABLE low_child;
-- of a large table a sample is read
CREATE TABLE large (id int, sig bloom, filler text) WITH (fillfactor = 10);
INSERT INTO large SELECT i, bloom_signature(long_text(1), max_chars => 20), repeat('x', 700) FROM generate_series(1, 4500) AS i;
CREATE INDEX ON large USING gist (sig);
SELECT pg_relation_size('large') / 8192 > 2000 AS is_large;
\set VERBOSITY terse
SELECT bloom_guard_create('large', 'sig', 0.99, 'warn');
\set VERBOSITY default
-- A GiST index is built without a word: its operator class is not told when a build ends
CREATE TABLE texts (id int, sig bloom);
INSERT INTO texts SELECT i, bloom_signature(long_text(i), max_chars => 20) FROM generate_series(1, 40) AS i;
CREATE INDEX texts_sig ON texts USING gist (sig);
REINDEX INDEX texts_sig;
CREATE INDEX texts_slowly ON texts USING gist (sig) WITH (buffering = on);
DROP TABLE article, low, worded, parted, large, texts;
DROP ROLE bloom_ident_maker;
DROP FUNCTION long_text;
