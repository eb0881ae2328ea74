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
DROP TABLE article, low, worded;
DROP FUNCTION long_text;
