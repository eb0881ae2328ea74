-- What a session keeps between calls: by what it is found, what ends it, and how large it is. Only tests have the function.
CREATE FUNCTION session_state() RETURNS TABLE (name text, key text, until text, bytes bigint)
    STRICT LANGUAGE c AS '$libdir/bloom_ident', 'test_session_state_wrapper';
CREATE TABLE person (id integer PRIMARY KEY, sig bloom);
INSERT INTO person SELECT i, bloom_signature(md5(i::text)) FROM generate_series(1, 5000) i;
CREATE INDEX person_sig ON person USING sigfile (sig);
CREATE TRIGGER guard AFTER INSERT ON person FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.9', 'reject');
-- A new session keeps nothing but what calls of its own have used.
\c -
SELECT name FROM session_state();
SELECT bloom_signature('Erika') IS NOT NULL AS signed;
SELECT name, key, until FROM session_state() WHERE name = 'planned shapes';
-- Segments, statistics and guards are counted with what they refer to.
ANALYZE person;
SET enable_seqscan = off;
SELECT count(*) FROM person WHERE bloom_sim(sig, bloom_signature(md5('7'))) > 0.95;
INSERT INTO person VALUES (5001, bloom_signature('Erika Mustermann'));
SELECT name, key, until, bytes > 1000 AS large FROM session_state() ORDER BY name COLLATE "C";
-- More guards take more memory, until they are no longer valid and another one is prepared.
CREATE TABLE other (LIKE person INCLUDING ALL);
CREATE TRIGGER guard AFTER INSERT ON other FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.9', 'reject');
SELECT bytes AS one FROM session_state() WHERE name = 'guards' \gset
INSERT INTO other VALUES (1, bloom_signature('Erika Mustermann'));
SELECT bytes > :one AS more FROM session_state() WHERE name = 'guards';
DROP TABLE person;
SELECT bytes > :one AS still_more FROM session_state() WHERE name = 'guards';
ALTER TABLE other SET (fillfactor = 90);
INSERT INTO other VALUES (2, bloom_signature('Max Mustermann'));
SELECT bytes = :one AS again_one FROM session_state() WHERE name = 'guards';
-- Rows that a bulk load is checked with, ahead of their turn, are those of its statement.
INSERT INTO other SELECT i, bloom_signature(md5(i::text)) FROM generate_series(10, 3000) i;
SELECT name, key, until, bytes > 1000 AS large FROM session_state() WHERE name = 'rows ahead';
SELECT count(*) = count(DISTINCT name) AS names_differ, min(bytes) >= 0 AS counted FROM session_state();
DROP TABLE other;
DROP FUNCTION session_state();
