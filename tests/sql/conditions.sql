-- Wherever a comparison of a similarity can stand in a query, an index on signatures answers it, with the rows of the table.
CREATE TABLE person (id int, name text, sig bloom);
INSERT INTO person SELECT i, 'name ' || md5(i::text), bloom_signature('name ' || md5(i::text)) FROM generate_series(1, 2000) AS i;
INSERT INTO person VALUES (3001, 'erika', bloom_signature('erika mustermann')), (3002, 'erica', bloom_signature('erica mustermann')), (3003, '', bloom_signature('')), (3004, NULL, NULL);
CREATE TABLE other (LIKE person);
INSERT INTO other SELECT * FROM person WHERE id > 2900 OR id % 50 = 0;
CREATE TABLE part (LIKE person) PARTITION BY RANGE (id);
CREATE TABLE part_low PARTITION OF part FOR VALUES FROM (0) TO (1000);
CREATE TABLE part_high PARTITION OF part FOR VALUES FROM (1000) TO (10000);
INSERT INTO part TABLE person;
CREATE TABLE parent (LIKE person);
INSERT INTO parent TABLE other;
CREATE TABLE child () INHERITS (parent);
INSERT INTO child TABLE person;
CREATE INDEX ON person USING gist (sig);
CREATE INDEX ON other USING gist (sig);
CREATE INDEX ON part USING gist (sig);
CREATE INDEX ON parent USING gist (sig);
CREATE INDEX ON child USING gist (sig);
VACUUM ANALYZE person, other, part, parent, child;
CREATE VIEW view AS SELECT id, sig AS s FROM person WHERE id > 5;
CREATE VIEW everyone AS SELECT id, sig FROM person UNION ALL SELECT id, sig FROM part UNION ALL SELECT id, sig FROM parent;
CREATE VIEW nested AS SELECT id, sig FROM everyone UNION ALL SELECT id, sig FROM other WHERE id > 1;
CREATE FUNCTION inlined(q bloom) RETURNS SETOF int STABLE LANGUAGE sql AS 'SELECT id FROM person WHERE bloom_sim(sig, q) > 0.8';

-- answer(query): the tables whose index is searched, and whether the rows are those without an index.
CREATE FUNCTION answer(query text, OUT searched text, OUT n bigint, OUT same boolean) LANGUAGE plpgsql AS $$
DECLARE
    line text;
    found text[];
    on_table text;
    rows text[];
    plain text[];
BEGIN
    query := replace(query, ':erika', quote_literal(bloom_signature('erika mustermann')) || '::bloom');
    SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        on_table := coalesce(substring(line FROM 'Scan.* on (\w+)'), on_table);
        IF line ~ 'Index Cond: \((sig|s) %' THEN found := found || on_table; END IF;
    END LOOP;
    SELECT string_agg(t, ' ' ORDER BY t) FROM unnest(found) AS t INTO searched;
    IF query ~ '^(SELECT|WITH)' THEN
        EXECUTE format('SELECT array_agg(q::text ORDER BY q::text), count(*) FROM (%s) AS q', query) INTO rows, n;
        SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off;
        EXECUTE format('SELECT array_agg(q::text ORDER BY q::text) FROM (%s) AS q', query) INTO plain;
        SET LOCAL enable_indexscan = on; SET LOCAL enable_indexonlyscan = on;
        same := rows IS NOT DISTINCT FROM plain;
    END IF;
END $$;
-- plan(query): its plan, constants left out.
CREATE FUNCTION plan(query text, OUT line text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        line := regexp_replace(line, '''[^'']{30,}''::bloom', ':q', 'g');
        IF line !~ '^ *Disabled: true' THEN RETURN NEXT; END IF;
    END LOOP;
END $$;
SELECT query, a.* FROM unnest(ARRAY[
    -- one table, and tables of several
    'SELECT id FROM person WHERE bloom_sim(sig, :erika) > 0.8',
    'SELECT id FROM part WHERE 0.8 < bloom_sim(sig, :erika)',
    'SELECT id FROM part WHERE bloom_dice(sig, :erika) >= 0.9 AND id > 1500',
    'SELECT id FROM parent WHERE bloom_sim(sig, :erika) > 0.8',
    'SELECT id FROM ONLY parent WHERE bloom_sim(sig, :erika) > 0.8',
    -- views, subqueries, CTEs
    'SELECT id FROM view WHERE bloom_sim(s, :erika) > 0.8',
    'SELECT id FROM everyone WHERE bloom_sim(sig, :erika) > 0.8',
    'SELECT id FROM nested WHERE bloom_sim(sig, :erika) > 0.8',
    'SELECT id FROM (SELECT DISTINCT id, sig FROM person) AS d WHERE bloom_sim(sig, :erika) > 0.8',
    'SELECT id FROM (SELECT id, sig, row_number() OVER (PARTITION BY sig) FROM person) AS w WHERE bloom_sim(sig, :erika) > 0.8',
    'SELECT id FROM (SELECT id, sig FROM person ORDER BY id LIMIT 5000) AS l WHERE bloom_sim(sig, :erika) > 0.8',
    'SELECT id FROM (SELECT id, sig FROM person UNION SELECT id, sig FROM other) AS u WHERE bloom_sim(sig, :erika) > 0.8',
    'SELECT id FROM (SELECT id, sig FROM person EXCEPT SELECT id, sig FROM other WHERE id = 3001) AS u WHERE bloom_sim(sig, :erika) > 0.8',
    'WITH c AS (SELECT id, sig FROM person) SELECT id FROM c WHERE bloom_sim(sig, :erika) > 0.8',
    'WITH c AS MATERIALIZED (SELECT id, sig FROM other WHERE id > 2900) SELECT person.id, c.id AS other FROM c JOIN person ON bloom_sim(person.sig, c.sig) > 0.8',
    'WITH RECURSIVE r AS (SELECT id, sig FROM person WHERE id = 3001 UNION SELECT p.id, p.sig FROM r JOIN person AS p ON bloom_sim(r.sig, p.sig) > 0.8) SELECT id FROM r',
    'SELECT i FROM inlined(:erika) AS i',
    'SELECT id, count(*) FROM person GROUP BY id, sig HAVING bloom_sim(sig, :erika) > 0.8',
    -- joins
    'SELECT a.id, b.id AS other FROM person AS a JOIN other AS b ON bloom_sim(a.sig, b.sig) > 0.8',
    'SELECT a.id, b.id AS other FROM person AS a, other AS b WHERE bloom_sim(b.sig, a.sig) >= 0.8 AND b.id > 2900',
    'SELECT a.id, b.id AS other FROM other AS a LEFT JOIN person AS b ON bloom_sim(a.sig, b.sig) > 0.8 AND a.id <> b.id',
    'SELECT a.id, b.id AS other FROM person AS a RIGHT JOIN other AS b ON bloom_sim(a.sig, b.sig) > 0.8',
    'SELECT a.id, b.id AS other FROM other AS a LEFT JOIN person AS b ON a.id = b.id WHERE bloom_sim(a.sig, :erika) > 0.8',
    'SELECT a.id, b.id AS other FROM other AS a LEFT JOIN person AS b ON a.id = b.id WHERE bloom_sim(b.sig, :erika) > 0.8',
    'SELECT a.id, c.id AS other FROM other AS a LEFT JOIN other AS b ON a.id = b.id LEFT JOIN person AS c ON bloom_sim(b.sig, c.sig) > 0.8',
    'SELECT a.id FROM other AS a FULL JOIN other AS b USING (id) LEFT JOIN person AS c ON bloom_sim(a.sig, c.sig) > 0.8 AND bloom_sim(b.sig, c.sig) > 0.8',
    'SELECT a.id, b.id AS other FROM other AS a JOIN part AS b ON bloom_sim(a.sig, b.sig) > 0.8',
    'SELECT a.id, b.id AS other FROM other AS a JOIN everyone AS b ON bloom_sim(a.sig, b.sig) > 0.8 WHERE a.id = 3001',
    'SELECT a.id, b.id AS other FROM everyone AS a LEFT JOIN everyone AS b ON bloom_sim(a.sig, b.sig) > 0.8 AND b.id <> a.id WHERE a.id = 3001 OR a.id = 7',
    'SELECT a.id, l.id AS other FROM other AS a, LATERAL (SELECT id FROM person AS b WHERE bloom_sim(b.sig, a.sig) > 0.8 ORDER BY id LIMIT 1) AS l',
    'SELECT a.id, l.id AS other FROM other AS a LEFT JOIN LATERAL (SELECT id FROM person AS b WHERE bloom_sim(b.sig, a.sig) > 0.8 AND b.id > a.id) AS l ON true',
    'SELECT q, id FROM unnest(ARRAY[:erika, NULL, bloom_signature(''erica mustermann'')]) AS q JOIN person ON bloom_sim(sig, q) > 0.8',
    'SELECT id FROM (VALUES (:erika, 0.7::numeric), (bloom_signature(''x''), 0.8)) AS v (q, t) JOIN person ON bloom_sim(sig, q) > t',
    -- EXISTS, IN, scalar subqueries
    'SELECT id FROM other AS a WHERE EXISTS (SELECT FROM person AS b WHERE bloom_sim(a.sig, b.sig) > 0.8 AND a.id <> b.id)',
    'SELECT id FROM other AS a WHERE NOT EXISTS (SELECT FROM person AS b WHERE bloom_sim(a.sig, b.sig) > 0.8)',
    'SELECT id, EXISTS (SELECT FROM person AS b WHERE bloom_sim(a.sig, b.sig) > 0.8 AND b.id <> a.id) AS e FROM other AS a',
    'SELECT id, (SELECT max(id) FROM person AS b WHERE bloom_sim(a.sig, b.sig) > 0.8) AS m FROM other AS a',
    'SELECT id FROM other WHERE id IN (SELECT id FROM person WHERE bloom_sim(sig, :erika) > 0.8)',
    'SELECT id FROM other WHERE id = ANY (ARRAY(SELECT id FROM person WHERE bloom_sim(sig, :erika) > 0.8))',
    'SELECT max(id), min(id) FROM person WHERE bloom_sim(sig, :erika) > 0.8',
    'SELECT id, count(*) FILTER (WHERE bloom_sim(sig, :erika) > 0.9) AS c FROM person WHERE bloom_sim(sig, :erika) > 0.8 GROUP BY GROUPING SETS (id, ())',
    -- what is not a condition by itself
    'SELECT id FROM person WHERE bloom_sim(sig, :erika) > 0.8 OR id = 7',
    'SELECT id FROM person WHERE CASE WHEN bloom_sim(sig, :erika) > 0.8 THEN true ELSE id = 7 END',
    'SELECT id FROM person WHERE (bloom_sim(sig, :erika), id) > (0.8, 10)',
    'SELECT id FROM person WHERE bloom_sim(sig, :erika) > ANY (''{0.8,0.9}'')',
    'SELECT id, bloom_sim(sig, :erika) > 0.8 AS s FROM person ORDER BY bloom_sim(sig, :erika) > 0.8, id']) AS query, answer(query) AS a;
-- The order of these joins is another with every major.
SELECT query, a.n, a.same FROM unnest(ARRAY[
    'SELECT a.id, b.id AS other FROM other AS a LEFT JOIN (person AS b JOIN other AS c USING (id)) ON bloom_sim(a.sig, b.sig) > 0.8',
    'SELECT a.id, b.id AS other FROM everyone AS a JOIN nested AS b ON bloom_sim(a.sig, b.sig) > 0.8 AND a.id = 3001']) AS query, answer(query) AS a;
SET enable_seqscan = off;
SELECT plan('SELECT id FROM person WHERE bloom_sim(sig, bloom_signature(''x'')) > 0.8 OR bloom_sim(sig, bloom_signature(''y'')) > 0.9');
SELECT line, count(*) FROM plan('SELECT id FROM everyone WHERE bloom_sim(sig, bloom_signature(''x'')) > 0.8 OR bloom_sim(sig, bloom_signature(''y'')) > 0.9') AS line WHERE line ~ 'Index Cond' GROUP BY 1;
RESET enable_seqscan;

-- What is rewritten holds for the rows that the comparison holds for, whatever stands on both sides.
SELECT count(*) AS pairs, count(*) FILTER (WHERE (bloom_sim(a.sig, b.sig) > t) IS DISTINCT FROM bloom_sim_above(a.sig, b.sig, t)
        OR (bloom_sim(a.sig, b.sig) >= t) IS DISTINCT FROM bloom_sim_at_least(a.sig, b.sig, t)
        OR (bloom_dice(a.sig, b.sig) > t) IS DISTINCT FROM bloom_dice_above(a.sig, b.sig, t)
        OR (bloom_dice(a.sig, b.sig) >= t) IS DISTINCT FROM bloom_dice_at_least(a.sig, b.sig, t)) AS wrong
FROM other AS a, other AS b, LATERAL (SELECT bloom_sim(a.sig, b.sig)::float8 UNION ALL SELECT bloom_dice(a.sig, b.sig)::float8 UNION ALL SELECT unnest('{-1,0,0.3,1,1.5,NaN,Infinity,-Infinity,NULL}'::float8[])) AS u (t);
-- Commands that change rows.
SELECT query, a.searched FROM unnest(ARRAY[
    'UPDATE person SET name = name WHERE bloom_sim(sig, :erika) > 0.8',
    'UPDATE part SET name = part.name FROM other WHERE bloom_sim(part.sig, other.sig) > 0.8 AND other.id = 3001',
    'DELETE FROM person USING other WHERE bloom_sim(person.sig, other.sig) > 0.8 AND other.id = 3001',
    'DELETE FROM parent WHERE bloom_sim(sig, :erika) > 0.8',
    'INSERT INTO other SELECT * FROM person WHERE bloom_sim(sig, :erika) > 0.8',
    'MERGE INTO person USING other ON bloom_sim(person.sig, other.sig) > 0.8 WHEN MATCHED AND other.id <> person.id THEN DELETE',
    'MERGE INTO person USING other ON bloom_sim(person.sig, other.sig) > 0.8 WHEN MATCHED THEN DO NOTHING WHEN NOT MATCHED THEN INSERT VALUES (other.id)',
    'MERGE INTO part USING other ON bloom_sim(part.sig, other.sig) > 0.8 WHEN NOT MATCHED THEN INSERT VALUES (other.id)']) AS query, answer(query) AS a;
BEGIN;
SET LOCAL enable_seqscan = off;
DELETE FROM person USING other WHERE bloom_sim(person.sig, other.sig) > 0.8 AND other.id = 3001 RETURNING person.id;
UPDATE part SET name = 'found' WHERE bloom_sim(sig, bloom_signature('erika mustermann')) > 0.8 RETURNING id, name;
MERGE INTO person USING other ON bloom_sim(person.sig, other.sig) > 0.8 WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (other.id, 'new');
SELECT count(*), count(*) FILTER (WHERE name = 'new') AS new FROM person;
ROLLBACK;

-- An index on the similarity itself keeps its comparisons, and so does one that has it in its predicate.
SET enable_seqscan = off; SET enable_bitmapscan = off;
CREATE INDEX person_score ON person (bloom_sim(sig, bloom_signature('erika mustermann')));
SELECT plan('SELECT id FROM person WHERE bloom_sim(sig, bloom_signature(''erika mustermann'')) > 0.8');
SELECT plan('SELECT id FROM person WHERE 0.8 <= bloom_sim(sig, bloom_signature(''erika mustermann''))::float8 AND id > 5');
SELECT plan('SELECT id FROM person WHERE bloom_sim(sig, bloom_signature(''erica mustermann'')) > 0.8');
SELECT plan('SELECT a.id FROM other AS a JOIN person AS b ON a.id = b.id WHERE bloom_sim(a.sig, bloom_signature(''erika mustermann'')) > 0.8 AND bloom_sim(b.sig, bloom_signature(''erika mustermann'')) > 0.8');
SELECT id FROM person WHERE bloom_sim(sig, bloom_signature('erika mustermann')) > 0.8 ORDER BY id;
DROP INDEX person_score;
CREATE INDEX part_score ON part ((bloom_sim(sig, bloom_signature('erika mustermann'))::float8));
SELECT plan('SELECT id FROM part WHERE bloom_sim(sig, bloom_signature(''erika mustermann'')) > 0.8');
DROP INDEX part_score;
CREATE INDEX person_near ON person (id) WHERE bloom_sim(sig, bloom_signature('erika mustermann')) > 0.8;
SELECT plan('SELECT id FROM person WHERE bloom_sim(sig, bloom_signature(''erika mustermann'')) > 0.8 AND id < 3002');
SELECT plan('SELECT id FROM person WHERE 0.8 < bloom_sim(sig, bloom_signature(''erika mustermann'')) AND id < 3002');
SELECT plan('SELECT id FROM everyone WHERE bloom_sim(sig, bloom_signature(''erika mustermann'')) > 0.8 AND id < 3002');
SELECT id FROM person WHERE bloom_sim(sig, bloom_signature('erika mustermann')) > 0.8 AND id < 3002;
SELECT plan('SELECT id FROM person WHERE bloom_sim(sig, bloom_signature(''erika mustermann'')) > 0.9 AND id < 3002');
DROP INDEX person_near;
-- Its arbiter in INSERT, which is no condition of a query.
CREATE UNIQUE INDEX person_near ON person (id) WHERE bloom_sim(sig, bloom_signature('erika mustermann')) > 0.8;
INSERT INTO person SELECT 3001, 'again', sig FROM person WHERE bloom_sim(sig, bloom_signature('erika mustermann')) > 0.9
ON CONFLICT (id) WHERE bloom_sim(sig, bloom_signature('erika mustermann')) > 0.8 DO UPDATE SET name = 'erika' WHERE bloom_sim(excluded.sig, person.sig) > 0.8 RETURNING id, name;
DROP INDEX person_near;
RESET enable_seqscan; RESET enable_bitmapscan;

-- The first query of a session; nothing else has loaded the library.
\c -
SET enable_seqscan = off;
SELECT plan('SELECT a.id FROM person AS a, other AS b WHERE bloom_sim(a.sig, b.sig) > 0.8');
\c -
SELECT query, a.* FROM (VALUES ('SELECT id FROM everyone WHERE bloom_dice(sig, (SELECT sig FROM other WHERE id = 3001)) > 0.9')) AS v (query), answer(query) AS a;
\c -
SET enable_seqscan = off;
SET plan_cache_mode = force_generic_plan;
PREPARE search(int, float4) AS SELECT p.id FROM other AS o JOIN person AS p ON bloom_sim(p.sig, o.sig) > $2 WHERE o.id = $1 ORDER BY 1;
SELECT plan('EXECUTE search(3001, 0.8)');
EXECUTE search(3001, 0.8);
EXECUTE search(3001, 0.9);
EXECUTE search(3001, NULL);
SET plan_cache_mode = force_custom_plan;
SELECT plan('EXECUTE search(3001, 0.75)');
EXECUTE search(3001, 0.8);
DEALLOCATE search;
-- A plan that is kept learns of an index on the similarity.
SET plan_cache_mode = force_generic_plan;
PREPARE kept AS SELECT id FROM other WHERE bloom_sim(sig, bloom_signature('erika mustermann')) > 0.8 ORDER BY id;
EXECUTE kept;
CREATE INDEX other_score ON other (bloom_sim(sig, bloom_signature('erika mustermann')));
SELECT plan('EXECUTE kept');
EXECUTE kept;
DROP INDEX other_score;
EXECUTE kept;
DEALLOCATE kept;
RESET plan_cache_mode;
RESET enable_seqscan;

-- Parallel workers.
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET min_parallel_index_scan_size = 0; SET max_parallel_workers_per_gather = 2;
SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off;
SELECT plan('SELECT count(*) FROM person WHERE bloom_sim(sig, bloom_signature(''erika mustermann'')) > 0.8');
SELECT count(*) FROM person WHERE bloom_sim(sig, bloom_signature('erika mustermann')) > 0.8;
RESET ALL;

-- Row-level security: a policy may be a search, and what the user asks sees no row that it hides.
CREATE ROLE bloom_ident_reader;
CREATE FUNCTION seen(bloom) RETURNS bloom LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE NOTICE 'seen'; RETURN $1; END $$;
ALTER TABLE other ENABLE ROW LEVEL SECURITY;
CREATE POLICY near ON other USING (bloom_sim(sig, bloom_signature('erika mustermann')) > 0.9);
GRANT SELECT ON other, person TO bloom_ident_reader;
CREATE VIEW barrier WITH (security_barrier) AS SELECT id, sig FROM person WHERE id = 3002;
GRANT SELECT ON barrier TO bloom_ident_reader;
SET ROLE bloom_ident_reader;
SET enable_seqscan = off;
SELECT plan('SELECT id FROM other');
SELECT id FROM other;
SELECT plan('SELECT id FROM other WHERE bloom_sim(sig, bloom_signature(''erica mustermann'')) > 0.8');
SELECT id FROM other WHERE bloom_sim(seen(sig), bloom_signature('erica mustermann')) > 0.8;
SELECT plan('SELECT id FROM barrier WHERE bloom_sim(sig, bloom_signature(''erika mustermann'')) > 0.8');
SELECT id FROM barrier WHERE bloom_sim(seen(sig), bloom_signature('erika mustermann')) > 0.8;
RESET enable_seqscan;
RESET ROLE;
DROP FUNCTION seen;

-- Others of these names are not ours.
CREATE SCHEMA alien;
CREATE FUNCTION alien.bloom_sim(bloom, bloom) RETURNS float8 IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN 0; END';
CREATE FUNCTION alien.bloom_sim_above(bloom, bloom, float8) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
CREATE FUNCTION bloom_sim(text, text) RETURNS float8 IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
SELECT plan('SELECT id FROM person WHERE alien.bloom_sim(sig, sig) > 0.5 AND bloom_sim(name, ''x'') > 0.5');
SELECT count(*) FROM person WHERE alien.bloom_sim(sig, bloom_signature('x')) > 0.5;
DROP FUNCTION bloom_sim(text, text);
DROP SCHEMA alien CASCADE;
-- Without the function that a comparison would become it is just a comparison.
BEGIN;
ALTER FUNCTION bloom_sim_above RENAME TO bloom_sim_over;
SELECT plan('SELECT id FROM person WHERE bloom_sim(sig, bloom_signature(''erika mustermann'')) > 0.8');
ROLLBACK;
-- A session that has loaded the library, and a database without the extension.
SELECT current_database() AS regress \gset
CREATE DATABASE bloom_ident_without;
\c bloom_ident_without
LOAD 'bloom_ident';
CREATE TABLE t (a float8, b float8 CHECK (b > 0));
CREATE FUNCTION bloom_sim(float8, float8) RETURNS float8 IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
INSERT INTO t VALUES (1, 2), (2, 1);
CREATE INDEX ON t (bloom_sim(a, b)) WHERE bloom_sim(a, b) > 1;
CREATE INDEX t_sim ON t (bloom_sim(a, b));
CLUSTER t USING t_sim;
SELECT * FROM t WHERE bloom_sim(a, b) > 1 OR power(a, b) < 0;
\c :regress
DROP DATABASE bloom_ident_without;
DROP OWNED BY bloom_ident_reader;
DROP ROLE bloom_ident_reader;
DROP VIEW barrier, view, everyone, nested;
DROP TABLE person, other, part, parent, child;
DROP FUNCTION answer, plan, inlined;
