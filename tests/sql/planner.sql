-- Comparisons of a similarity, as they are written, become index conditions.
CREATE TABLE person (id int, name text, sig bloom);
INSERT INTO person SELECT i, 'name ' || md5(i::text), bloom_signature('name ' || md5(i::text)) FROM generate_series(1, 2000) AS i;
INSERT INTO person VALUES (3001, 'erika', bloom_signature('erika mustermann')), (3002, 'erica', bloom_signature('erica mustermann')), (3003, '', bloom_signature('')), (3004, NULL, NULL);
CREATE INDEX person_sig ON person USING gist (sig);
VACUUM ANALYZE person;
SET enable_seqscan = off;
SET enable_bitmapscan = off;

-- uses(condition): whether the index answers it, and whether its rows are those of the table.
CREATE FUNCTION uses(condition text, OUT by_index boolean, OUT rows int[], OUT same boolean) LANGUAGE plpgsql AS $$
DECLARE
    line text;
    by_table int[];
    erika CONSTANT text := quote_literal(bloom_signature('erika mustermann')) || '::bloom';
    query CONSTANT text := 'SELECT array_agg(id ORDER BY id) FROM person WHERE ' || replace(condition, ':erika', erika);
BEGIN
    by_index := false;
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        by_index := by_index OR line ~ 'Index Cond: \(sig %';
    END LOOP;
    EXECUTE query INTO rows;
    SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off;
    EXECUTE query INTO by_table;
    SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = on; SET LOCAL enable_indexonlyscan = on;
    same := rows IS NOT DISTINCT FROM by_table;
    IF array_length(rows, 1) > 10 THEN rows := ARRAY[array_length(rows, 1)]; END IF;
END $$;

-- Every type that a threshold can have, on both sides.
SELECT condition, u.* FROM unnest(ARRAY[
    'bloom_sim(sig, :erika) > 0.8', 'bloom_sim(sig, :erika) >= 0.8', '0.8 < bloom_sim(sig, :erika)', '0.8 <= bloom_sim(sig, :erika)',
    'bloom_sim(sig, :erika) > 0.8::float8', 'bloom_sim(sig, :erika) >= 0.8::float8', '0.8::float8 < bloom_sim(sig, :erika)', '0.8::float8 <= bloom_sim(sig, :erika)',
    'bloom_sim(sig, :erika) > 0.8::float4', 'bloom_sim(sig, :erika) >= 0.8::float4', '0.8::float4 < bloom_sim(sig, :erika)', '0.8::float4 <= bloom_sim(sig, :erika)',
    'bloom_sim(sig, :erika) > 1::int2', 'bloom_sim(sig, :erika) >= 1::int2', '1::int2 < bloom_sim(sig, :erika)', '1::int2 <= bloom_sim(sig, :erika)',
    'bloom_sim(sig, :erika) > 1', 'bloom_sim(sig, :erika) >= 1', '1 < bloom_sim(sig, :erika)', '1 <= bloom_sim(sig, :erika)',
    'bloom_sim(sig, :erika) > 1::int8', 'bloom_sim(sig, :erika) >= 1::int8', '1::int8 < bloom_sim(sig, :erika)', '1::int8 <= bloom_sim(sig, :erika)',
    'bloom_sim(sig, :erika) > ''0.8''', 'bloom_sim(sig, :erika) >= ''0.8''', '''0.8'' < bloom_sim(sig, :erika)', '''0.8'' <= bloom_sim(sig, :erika)',
    'bloom_sim(sig, :erika) > 0.8::bloom_score', 'bloom_sim(sig, :erika)::float8 > 0.8', 'bloom_sim(sig, :erika)::bloom_score::float8 >= 0.8', 'bloom_sim(:erika, sig) > 0.8', '0.8 <= bloom_sim(:erika, sig)',
    'bloom_sim(sig, :erika) > (SELECT 0.8)', 'bloom_sim(sig, (SELECT :erika)) > 0.8',
    'bloom_sim(sig, :erika) BETWEEN 0.8 AND 0.9', 'NOT bloom_sim(sig, :erika) < 0.8', 'NOT (0.8 >= bloom_sim(sig, :erika) OR id = 1)', 'bloom_sim(sig, :erika) > 0.8 AND id < 3002',
    'bloom_sim_above(sig, :erika, 0.8)', 'bloom_sim_at_least(:erika, sig, 0.8)',
    'bloom_dice(sig, :erika) > 0.9', 'bloom_dice(sig, :erika) >= 1', '0.89 <= bloom_dice(:erika, sig)', 'bloom_dice(sig, :erika) >= 0.8936170212765957', 'bloom_dice(sig, :erika) > 0.8936170212765957',
    'sig % bloom_query(:erika, 0.8)', 'bloom_query(:erika, 0.8) % sig']) AS condition, uses(condition) AS u;
-- Thresholds that a ratio hits exactly, or that lie outside.
SELECT condition, u.* FROM unnest(ARRAY[
    'bloom_sim(sig, :erika) >= 0.8076923076923077', 'bloom_sim(sig, :erika) > 0.8076923076923077', 'bloom_sim(sig, :erika) >= 0.8076923076923078',
    'bloom_sim(sig, :erika) > 1', 'bloom_sim(sig, :erika) >= 1.0000001', 'bloom_sim(sig, :erika) > ''NaN''', 'bloom_sim(sig, :erika) >= ''NaN''', 'bloom_sim(sig, :erika) > ''Infinity''',
    'sig % bloom_query(:erika, 0)', 'sig % bloom_query(:erika, 1)', 'sig % bloom_query(:erika, 0.3333333333333333)']) AS condition, uses(condition) AS u;
-- What loses to the table, and what is no search, goes to the table.
SELECT condition, u.* FROM unnest(ARRAY[
    'bloom_sim(sig, :erika) > 0.5', 'bloom_sim(sig, :erika) > 0', 'bloom_sim(sig, :erika) >= 0', 'bloom_sim(sig, :erika) > -0.1', 'bloom_sim(sig, :erika) > ''-Infinity''',
    'bloom_sim(sig, :erika) < 0.8', 'bloom_sim(sig, :erika) <= 0.8', 'bloom_sim(sig, :erika) = 1', 'bloom_sim(sig, :erika) <> 1', '0.8 > bloom_sim(sig, :erika)', '1 = bloom_sim(sig, :erika)',
    'bloom_sim(sig, sig) > 0.8', 'bloom_sim(sig, :erika) > id', 'bloom_sim(sig, :erika) > bloom_sim(sig, sig)', 'bloom_sim(sig, :erika) IN (1, 0)', 'bloom_cosine(sig, :erika) > 0.9']) AS condition, uses(condition) AS u;
SELECT u.* FROM uses('bloom_sim(sig, bloom_signature(''x'', 2)) > 0.8') AS u;
-- A NULL threshold matches nothing.
SELECT u.* FROM uses('bloom_sim(sig, :erika) > NULL') AS u;

-- Parameters, in custom and generic plans.
PREPARE search(bloom, float8) AS SELECT count(*), sum(id) FROM person WHERE bloom_sim(sig, $1) > $2;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE search(bloom_signature('erika mustermann'), 0.8);
EXECUTE search(bloom_signature('erika mustermann'), 0.8);
EXECUTE search(bloom_signature('erika mustermann'), 1);
SELECT count(*) FROM person WHERE bloom_sim(sig, bloom_signature('erika mustermann')) > 0.05;
PREPARE low(bloom, numeric) AS SELECT count(*) FROM person WHERE bloom_sim(sig, $1) > $2;
EXECUTE low(bloom_signature('erika mustermann'), 0.05);
EXECUTE low(bloom_signature('erika mustermann'), NULL);
SET plan_cache_mode = force_custom_plan;
EXECUTE search(bloom_signature('erika mustermann'), 0.8);
RESET plan_cache_mode;

-- Joins: a nested loop over the index.
SET enable_material = off;
CREATE TABLE asked AS SELECT * FROM person WHERE id > 3000;
SET enable_seqscan = on;
EXPLAIN (COSTS OFF) SELECT a.id, b.id FROM asked AS a JOIN person AS b ON bloom_sim(a.sig, b.sig) > 0.8;
SELECT a.id, b.id FROM asked AS a JOIN person AS b ON bloom_sim(a.sig, b.sig) > 0.8 ORDER BY 1, 2;
SELECT a.id, b.id FROM asked AS a LEFT JOIN person AS b ON bloom_sim(a.sig, b.sig) > 0.8 AND a.id <> b.id ORDER BY 1, 2;
DROP TABLE asked;

-- Two columns of one table leave nothing to an index on signatures; an index or statistics on their similarity get their chance.
CREATE TABLE pair AS SELECT a.id, a.sig AS a, b.sig AS b FROM person AS a JOIN person AS b ON b.id = a.id + a.id % 2 WHERE a.id <= 1000;
CREATE INDEX pair_sim ON pair (bloom_sim(a, b));
CREATE INDEX pair_dice ON pair (bloom_dice(a, b)) WHERE bloom_dice(a, b) > 0.9;
CREATE INDEX pair_a ON pair USING gist (a);
ANALYZE pair;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM pair WHERE bloom_sim(a, b) > 0.999;
EXPLAIN (COSTS OFF) SELECT id FROM pair WHERE 0.999 <= bloom_sim(a, b);
EXPLAIN (COSTS OFF) SELECT id FROM pair WHERE bloom_dice(a, b) > 0.9;
SELECT count(*), count(*) FILTER (WHERE id % 2 = 0) AS equal FROM pair WHERE bloom_sim(a, b) > 0.999;
EXPLAIN (COSTS OFF) SELECT x.id, y.id FROM pair AS x JOIN pair AS y ON bloom_sim(x.a, y.a) >= 0.9 AND bloom_sim(x.a, x.b) > 0.9 WHERE x.id = 2;
DROP INDEX pair_sim, pair_dice;
SET enable_seqscan = on;
CREATE STATISTICS pair_sim ON bloom_sim(a, b) FROM pair;
ANALYZE pair;
CREATE FUNCTION estimated(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN (plan->0->'Plan'->>'Plan Rows')::float8;
END $$;
SELECT estimated('SELECT FROM pair WHERE bloom_sim(a, b) > 0.999') BETWEEN 400 AND 600 AS by_statistics;
DROP FUNCTION estimated;
DROP TABLE pair;

-- The extension's schema need not be on the path.
CREATE SCHEMA ext;
ALTER EXTENSION bloom_ident SET SCHEMA ext;
SET search_path = public;
EXPLAIN (COSTS OFF) SELECT id FROM person WHERE ext.bloom_sim_above(sig, ext.bloom_signature('erika mustermann'), 0.8);
EXPLAIN (COSTS OFF) SELECT id FROM person WHERE ext.bloom_sim(sig, ext.bloom_signature('erika mustermann')) > 0.8;
SELECT id FROM person WHERE 0.9 <= ext.bloom_dice(sig, ext.bloom_signature('erika mustermann'));
RESET search_path;
ALTER EXTENSION bloom_ident SET SCHEMA public;

-- A stored score is an ordinary number with an ordinary index.
CREATE TABLE scores AS SELECT id, bloom_sim(sig, bloom_signature('erika mustermann')) AS score FROM person;
CREATE INDEX ON scores (score);
\d scores
EXPLAIN (COSTS OFF) SELECT id FROM scores WHERE score > 0.99;
EXPLAIN (COSTS OFF) SELECT id FROM scores WHERE 0.99 <= score;
EXPLAIN (COSTS OFF) SELECT id FROM scores WHERE score > 1;
SELECT id FROM scores WHERE score >= 1 ORDER BY id;
SELECT max(score), min(score) FROM scores WHERE score > 0 AND score < 1;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM scores WHERE score > ANY ('{0.99,1}');
SET enable_seqscan = on;
SELECT array_agg(id ORDER BY id) FROM scores WHERE score > ANY ('{0.99,1}');
CREATE INDEX scores_page ON scores (score, id);
EXPLAIN (COSTS OFF) SELECT id FROM scores WHERE (score, id) > (0.99, 3000) ORDER BY score, id LIMIT 3;
CREATE FUNCTION scores_where(condition text, OUT n bigint) LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'SELECT count(*) FROM scores WHERE ' || condition INTO n; END $$;
SELECT condition, n, n = plain AS same FROM (VALUES
    ('(score, id) > (0.5, 10)', 'score > 0.5 OR score = 0.5 AND id > 10'),
    ('(score, id) >= (1::bigint, 3001)', 'score > 1 OR score = 1 AND id >= 3001'),
    ('(score, id) > (1::smallint, 3000)', 'score > 1 OR score = 1 AND id > 3000'),
    ('(score, id) >= (1, 3002)', 'score > 1 OR score = 1 AND id >= 3002'),
    ('(score, id) > (0.25::float4, 3002)', 'score > 0.25 OR score = 0.25 AND id > 3002'),
    ('(score, id) < (''0.5'', 10)', 'score < 0.5 OR score = 0.5 AND id < 10'),
    ('(score, id) <= (score, id)', 'score IS NOT NULL'),
    ('(score, id) > (''NaN''::float8, 10)', 'false'),
    ('(0.25, 10) < (score, id)', 'score > 0.25 OR score = 0.25 AND id > 10'), ('(0.25::float8, 10) <= (score, id)', 'score > 0.25 OR score = 0.25 AND id >= 10'), ('(0.25::float4, 10) < (score, id)', 'score > 0.25 OR score = 0.25 AND id > 10'),
    ('(1::smallint, 3000) < (score, id)', 'score = 1'), ('(1, 3000) <= (score, id)', 'score = 1'), ('(1::bigint, 3002) < (score, id)', 'false'),
    ('(id, score) > (3000, 0.5)', 'id > 3000')) AS v (condition, other),
    scores_where(condition) AS a (n), scores_where(other) AS b (plain);
PREPARE page(float8, int) AS SELECT count(*) FROM scores WHERE (score, id) < ($1, $2);
EXECUTE page(1, 3001);
PREPARE page_untyped AS SELECT count(*) FROM scores WHERE (score, id) > ($1, $2);
EXECUTE page_untyped(0.99, 1);
SELECT id, score FROM scores WHERE score IS NOT NULL ORDER BY score USING >, id LIMIT 2;
SELECT DISTINCT score FROM scores ORDER BY score USING < LIMIT 1;
SELECT id, rank() OVER (ORDER BY score USING >) FROM scores WHERE score > 0.8 ORDER BY 2;
-- What has nothing to do with scores means what it always did: a domain over float8 makes no comparison of numbers ambiguous.
SELECT 1.5 < 2 AS a, 2 > 1.5 AS b, 2::bigint < 1.5 AS c, 1::smallint >= 0.5 AS d, 0.5::float4 < 1 AS e, 1::bigint > 0.5::float4 AS f, avg(i) < 3 AS g, 1 <= sum(i) / 2.0 AS h, (1.5, 2) < (2, 1) AS k
FROM generate_series(1, 4) AS i;
DROP TABLE scores, person;
DROP FUNCTION uses, scores_where;
DROP SCHEMA ext;

-- of a sigfile index and a GiST index on a column the one that takes less time is taken: a search by GiST reads most of its pages
CREATE TABLE two_indexes AS SELECT i AS id, bloom_signature(md5(i::text)) AS sig FROM generate_series(1, 20000) AS i;
CREATE INDEX two_gist ON two_indexes USING gist (sig);
ANALYZE two_indexes;
EXPLAIN (COSTS OFF) SELECT id FROM two_indexes WHERE sig % bloom_query(bloom_signature(md5('77')), 0.8);
CREATE INDEX two_sigfile ON two_indexes USING sigfile (sig);
EXPLAIN (COSTS OFF) SELECT id FROM two_indexes WHERE sig % bloom_query(bloom_signature(md5('77')), 0.8);
EXPLAIN (COSTS OFF) SELECT id FROM two_indexes WHERE sig % bloom_signature(md5('77'));
EXPLAIN (COSTS OFF) SELECT id FROM two_indexes WHERE bloom_sim(sig, bloom_signature(md5('77'))) > 0.9;
EXPLAIN (COSTS OFF) SELECT id FROM two_indexes ORDER BY sig <-> bloom_signature(md5('77')) LIMIT 5;
-- @> by the lists of many bits costs less than a scan, which it is where few bits are asked for, or where a value is not known; what comes in an order reads all in any case
DROP INDEX two_gist;
CREATE FUNCTION before_first_row(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) SELECT * FROM two_indexes WHERE ' || query INTO plan;
    RETURN plan -> 0 -> 'Plan' ->> 'Startup Cost';
END $$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT q.lists < q.scan / 2 AS by_lists, q.lists = q.both AS most_bits, q.unknown, q.first = q.scan AS in_order
FROM (SELECT before_first_row($$sig @> bloom_signature(md5('77'))$$) AS lists, before_first_row($$sig @> bloom_signature('')$$) AS scan,
    before_first_row($$sig @> bloom_signature('') AND sig @> bloom_signature(md5('77'))$$) AS both, before_first_row($$sig @> (SELECT bloom_signature(md5('77')) OFFSET 0)$$) >= before_first_row($$sig @> bloom_signature('')$$) AS unknown,
    before_first_row($$sig @> bloom_signature(md5('77')) ORDER BY sig <-> bloom_signature(md5('77'))$$) AS first) AS q;
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP FUNCTION before_first_row;
DROP TABLE two_indexes;
