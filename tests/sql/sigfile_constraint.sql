-- The index of a constraint also serves searches of the signatures in it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloom_ident;
RESET client_min_messages;
CREATE SCHEMA sigfile_constraint;
SET search_path = sigfile_constraint, public;
CREATE TABLE person (id int PRIMARY KEY, name text, sig bloom);
INSERT INTO person
    SELECT i, name, bloom_signature(name)
    FROM (SELECT i, substr(md5((i / 2)::text), 1, 6) || substr(md5(i::text), 1, 4) AS name FROM generate_series(1, 3000) AS i) AS n;
INSERT INTO person VALUES (3001, NULL, NULL), (3002, '', bloom_signature('')), (3003, ' ', bloom_signature(' '));
ALTER TABLE person ADD CONSTRAINT one EXCLUDE USING sigfile ((bloom_query(sig, 0.95)) WITH %);
ANALYZE person;
-- a few rows in the unsorted tail
INSERT INTO person SELECT i, name, bloom_signature(name) FROM (SELECT i, 'tail' || md5(i::text) AS name FROM generate_series(3004, 3050) AS i) AS n;

-- Both classes are of one family.
SELECT opcname, opfname, amvalidate(c.oid)
FROM pg_opclass AS c JOIN pg_opfamily AS f ON f.oid = opcfamily WHERE opcname LIKE 'sigfile%' ORDER BY 1;

-- What uses it.
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || query;
END $$;
SET enable_seqscan = off;
SELECT regexp_replace(plan, '[0-9a-f]{40,}', '…', 'g') AS plan FROM unnest(ARRAY[
    'SELECT id FROM person WHERE bloom_sim(sig, bloom_signature(''abc'')) > 0.6',
    'SELECT id FROM person WHERE bloom_dice(bloom_signature(''abc''), sig) >= 0.6',
    'SELECT id FROM person WHERE sig % bloom_query(bloom_signature(''abc''), 0.7)',
    'SELECT id FROM person WHERE sig = bloom_signature(''abc'')',
    'SELECT id FROM person WHERE sig IS NULL',
    'SELECT id FROM person ORDER BY sig <-> bloom_signature(''abc'') LIMIT 3',
    -- as it stands
    'SELECT id FROM person WHERE bloom_query(sig, 0.95) % bloom_query(bloom_signature(''abc''), 0.5)',
    -- another threshold is another expression
    'SELECT id FROM person WHERE bloom_query(sig, 0.9) % bloom_query(bloom_signature(''abc''), 0.5)',
    -- the index holds no signature by itself
    'SELECT sig FROM person WHERE sig = bloom_signature(''abc'')'
]) AS query, plan(query) WHERE plan NOT LIKE '%Disabled: true';
RESET enable_seqscan;

-- The same rows as without. The row's own threshold does not count, unless its query is asked.
CREATE TABLE question AS
    SELECT id, bloom_signature(left(name, 8 + id % 3)) AS q FROM person WHERE id % 100 = 0
    UNION ALL SELECT 3001, NULL UNION ALL SELECT 3002, bloom_signature('');
CREATE FUNCTION compare(condition text) RETURNS TABLE (found bigint, missing bigint, surplus bigint) LANGUAGE plpgsql AS $$
DECLARE query text := format('SELECT question.id AS a, person.id AS b FROM question JOIN person ON %s', condition);
BEGIN
    SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_seqscan = on;
    EXECUTE 'CREATE TEMP TABLE by_table AS ' || query;
    SET LOCAL enable_indexscan = on; SET LOCAL enable_bitmapscan = on; SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
    EXECUTE 'CREATE TEMP TABLE by_index AS ' || query;
    RETURN QUERY SELECT (SELECT count(*) FROM by_index), (SELECT count(*) FROM (TABLE by_table EXCEPT TABLE by_index) AS m),
        (SELECT count(*) FROM (TABLE by_index EXCEPT ALL TABLE by_table) AS s);
    DROP TABLE by_table, by_index;
END $$;
SELECT t, missing, surplus, found > 0 AS some FROM unnest('{0, 0.01, 0.3, 0.5, 0.8, 0.95, 1}'::float8[]) AS t, compare(format('bloom_sim(sig, q) >= %s', t));
SELECT op, missing, surplus, found > 0 AS some
FROM unnest('{q = sig,sig @> q,sig <@ q,sig IS NULL AND question.id = 3001,"bloom_query(sig, 0.95) % bloom_query(q, 0.2)","sig % q AND sig % bloom_query(q, 0.4)"}'::text[]) AS op, compare(op);

-- Nearest neighbours: the same distances.
SELECT count(*) AS questions, count(*) FILTER (WHERE by_index = by_table) AS equal
FROM question,
     LATERAL (SELECT array_agg(d) AS by_index FROM (SELECT round((sig <-> q)::numeric, 12) AS d FROM person ORDER BY sig <-> q LIMIT 7) AS n) AS i,
     LATERAL (SELECT array_agg(d) AS by_table FROM (SELECT round((sig <-> q)::numeric, 12) AS d FROM person ORDER BY (sig <-> q) + 0 LIMIT 7) AS n) AS t
WHERE q IS NOT NULL;

-- The constraint is what it was.
INSERT INTO person VALUES (4000, 'x', (SELECT sig FROM person WHERE id = 17));

-- A guard takes it, without a warning.
CREATE TRIGGER guard AFTER INSERT ON person FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.6', 'reject');
INSERT INTO person SELECT 4001, name || 'x', bloom_signature(name || 'x') FROM person WHERE id = 17;
DROP TRIGGER guard ON person;

-- All pairs by it are those of the table.
SELECT pg_stat_force_next_flush() IS NULL AS x \gset
SELECT pg_stat_reset_single_table_counters('one'::regclass) IS NULL AS x \gset
CREATE TEMP TABLE by_index AS SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.5);
SELECT pg_stat_force_next_flush() IS NULL AS x \gset
SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelid = 'one'::regclass;
CREATE VIEW person_view AS TABLE person;
CREATE TEMP TABLE by_table AS SELECT * FROM bloom_duplicates('person_view', 'id', 'sig', 0.5);
SELECT count(*) > 100 AS many, (SELECT count(*) FROM (TABLE by_index EXCEPT ALL TABLE by_table) AS d) AS surplus,
       (SELECT count(*) FROM (TABLE by_table EXCEPT ALL TABLE by_index) AS d) AS missing FROM by_index;

-- Partial, on an expression, on a domain, in partitions.
CREATE DOMAIN signature AS bloom;
CREATE TABLE other (id int, name text, active bool, sig signature,
    EXCLUDE USING sigfile ((bloom_query(sig, 0.9)) WITH %) WHERE (active),
    EXCLUDE USING sigfile ((bloom_query(bloom_signature(name), 0.9)) WITH %));
INSERT INTO other SELECT id, name, id % 3 = 0, sig FROM person WHERE id <= 1000;
ANALYZE other;
CREATE TABLE part (id int, tenant int, sig bloom) PARTITION BY LIST (tenant);
CREATE TABLE part_1 PARTITION OF part (EXCLUDE USING sigfile ((bloom_query(sig, 0.9)) WITH %)) FOR VALUES IN (1);
CREATE TABLE part_2 PARTITION OF part (EXCLUDE USING sigfile ((bloom_query(sig, 0.9)) WITH %)) FOR VALUES IN (2);
INSERT INTO part SELECT id, 1 + id % 2, sig FROM person WHERE id <= 1000;
ANALYZE part;
SET enable_seqscan = off;
SELECT regexp_replace(plan, '[0-9a-f]{40,}', '…', 'g') AS plan FROM unnest(ARRAY[
    'SELECT id FROM other WHERE bloom_sim(sig, bloom_signature(''abc'')) > 0.8 AND active',
    'SELECT id FROM other WHERE bloom_sim(bloom_signature(name), bloom_signature(''abc'')) > 0.8',
    'SELECT id FROM part WHERE bloom_sim(sig, bloom_signature(''abc'')) > 0.8'
]) AS query, plan(query) WHERE plan NOT LIKE '%Disabled: true';
SELECT count(*) FROM other, question WHERE bloom_sim(sig, q) > 0.5 AND active;
SELECT count(*) FROM other, question WHERE bloom_sim(bloom_signature(name), q) > 0.5;
SELECT count(*) FROM part, question WHERE bloom_sim(sig, q) > 0.5;
SET enable_seqscan = on;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT count(*) FROM other, question WHERE bloom_sim(sig, q) > 0.5 AND active;
SELECT count(*) FROM other, question WHERE bloom_sim(bloom_signature(name), q) > 0.5;
SELECT count(*) FROM part, question WHERE bloom_sim(sig, q) > 0.5;
RESET enable_indexscan;
RESET enable_bitmapscan;

-- A threshold that a row brings along may be NULL, and the query with it: such an index is not offered.
CREATE TABLE loose (sig bloom, t float8);
CREATE INDEX ON loose USING sigfile ((bloom_query(sig, t)));
INSERT INTO loose VALUES (bloom_signature('abc'), NULL), (bloom_signature('abd'), 0.5);
SET enable_seqscan = off;
SELECT count(*) FROM loose WHERE bloom_sim(sig, bloom_signature('abc')) >= 0;
RESET enable_seqscan;

-- A family that does not fit.
BEGIN;
ALTER OPERATOR FAMILY sigfile_bloom_ops USING sigfile ADD OPERATOR 3 pg_catalog.= (int, int);
SELECT opcname, amvalidate(oid) FROM pg_opclass WHERE opcname LIKE 'sigfile%' ORDER BY 1;
ROLLBACK;
SET client_min_messages = warning;
DROP SCHEMA sigfile_constraint CASCADE;
