-- bloom_model_duplicates, argument new: only pairs of which one record at least is among those that a relation names.
SET client_min_messages = warning;
CREATE SCHEMA new_model;
SET search_path = new_model, public;
CREATE TABLE record AS SELECT i AS id, left(md5('g' || i % 500 * 7), 7) AS given_name, left(md5('s' || i % 4000 % 997), 9) || CASE WHEN i % 9 = 0 THEN 'x' ELSE '' END AS surname,
    date '1930-01-01' + i % 4000 % 2501 AS born, left(md5('t' || i % 4000 / 4 + i / 6000), 12) AS street, left(md5('c' || i % 4000 % 307), 8) AS city, i AS "key", i AS new
    FROM generate_series(1, 7000) AS i;
CREATE TABLE model AS SELECT bloom_model_fit('record', 'id', '{given_name,surname,born,street,city}') AS model;
SELECT model->>'status' AS status FROM model;
CREATE TABLE fresh AS SELECT (i * 37 % 7000 + 1)::text AS key FROM generate_series(1, 300) AS i;
INSERT INTO fresh VALUES ('99999'), ('38'), ('38');
CREATE FUNCTION compare(new text, lowest float8 DEFAULT 0.5, of_key name DEFAULT 'id') RETURNS TABLE (found bigint, different bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('
        WITH found AS (SELECT * FROM bloom_model_duplicates(''record'', %1$L, (SELECT model FROM model), %2$s, new => %3$L)),
            expected AS (SELECT * FROM bloom_model_duplicates(''record'', %1$L, (SELECT model FROM model), %2$s) WHERE a IN (SELECT key FROM %3$s) OR b IN (SELECT key FROM %3$s))
        SELECT (SELECT count(*) FROM found),
            (SELECT count(*) FROM ((TABLE found EXCEPT ALL TABLE expected) UNION ALL (TABLE expected EXCEPT ALL TABLE found)) AS x)', of_key, lowest, new);
END $$;
SELECT * FROM compare('fresh');
SELECT * FROM compare('fresh', 0.01, 'key');
SELECT * FROM compare('fresh', 0.9, 'new');
CREATE VIEW all_of_them AS SELECT id::text AS key FROM record;
SELECT * FROM compare('all_of_them');
CREATE VIEW nothing AS SELECT key FROM fresh WHERE false;
SELECT * FROM compare('nothing');
-- in little memory
SET maintenance_work_mem = '1MB';
SELECT * FROM compare('fresh');
RESET maintenance_work_mem;
-- a table that is small enough for a look at all pairs
DELETE FROM record WHERE id % 5 > 0;
SELECT * FROM compare('fresh');
-- bad input
SELECT * FROM bloom_model_duplicates('record', 'id', (SELECT model FROM model), new => 'record');
SELECT * FROM bloom_model_duplicates('record', 'id', (SELECT model FROM model), new => 'model');
INSERT INTO fresh VALUES (NULL);
SELECT * FROM bloom_model_duplicates('record', 'id', (SELECT model FROM model), new => 'fresh');
UPDATE fresh SET key = 'no number' WHERE key IS NULL;
\set VERBOSITY terse
SELECT * FROM bloom_model_duplicates('record', 'id', (SELECT model FROM model), new => 'fresh');
-- the new keys are read as the caller
CREATE ROLE new_model_reader;
GRANT USAGE ON SCHEMA new_model TO new_model_reader;
GRANT SELECT ON record, model TO new_model_reader;
SET ROLE new_model_reader;
SELECT * FROM bloom_model_duplicates('record', 'id', (SELECT model FROM model), new => 'fresh');
RESET ROLE;
DROP SCHEMA new_model CASCADE;
DROP ROLE new_model_reader;
