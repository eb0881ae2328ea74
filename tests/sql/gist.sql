-- gist_bloom_ops: the index gives what the table gives.
CREATE TABLE febrl (rec_id text, cluster_id int, given_name text, surname text, street_number text, address_1 text, address_2 text, suburb text, postcode text, state text, date_of_birth text, soc_sec_id text);
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/data/febrl3.csv'
COPY febrl FROM :'file' (FORMAT csv, HEADER);
CREATE TABLE person (id int, tenant int, name text, sig bloom);
INSERT INTO person SELECT row_number() OVER (ORDER BY rec_id), cluster_id % 3, given_name || ' ' || surname, bloom_signature(given_name || ' ' || surname) FROM febrl;
INSERT INTO person SELECT 5000 + row_number() OVER (ORDER BY rec_id), cluster_id % 3, given_name || ' ' || suburb, bloom_signature(given_name || ' ' || suburb) FROM febrl;
INSERT INTO person SELECT 20000 + i, i % 3, '', bloom_signature('') FROM generate_series(1, 20) AS i;
SELECT count(*), count(sig), count(DISTINCT sig) FROM person;
CREATE INDEX person_sig ON person USING gist (sig);
VACUUM ANALYZE person;

-- differences(way): queries whose rows differ between the table and the index, read in that way.
-- Whether a query is read in one way: from the table, or by the index in a bitmap, an index scan, or an index-only scan.
CREATE FUNCTION read_by(way text, query text, q bloom, k int DEFAULT NULL) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    line text;
    plan text := '';
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query USING q, k LOOP
        plan := plan || line || E'\n';
    END LOOP;
    RETURN CASE way WHEN 'table' THEN plan ~ 'Seq Scan' AND plan !~ 'Index' WHEN 'bitmap' THEN plan ~ 'Bitmap Index Scan' AND plan !~ 'Seq Scan'
        WHEN 'only' THEN plan ~ 'Index Only Scan' ELSE plan ~ 'Index (Only )?Scan using' END;
END $$;
CREATE FUNCTION differences(way text, relation text DEFAULT 'person', OUT asked bigint, OUT hits bigint, OUT differ bigint, OUT other_plans bigint) LANGUAGE plpgsql AS $$
DECLARE
    q record;
    condition text;
    by_table text[];
    by_index text[];
    query text;
BEGIN
    asked := 0; hits := 0; differ := 0; other_plans := 0;
    FOR q IN SELECT sig FROM person WHERE id % 997 = 0 AND sig IS NOT NULL
             UNION ALL SELECT bloom_signature(n) FROM unnest('{"",x,"mitchel green","zzzz zzzz"}'::text[]) AS n
             UNION ALL SELECT bloom_union(sig) FROM person WHERE id < 100 LOOP
        FOREACH condition IN ARRAY ARRAY['sig % bloom_query($1, 0)', 'sig % bloom_query($1, 0.1)', 'sig % bloom_query($1, 1.0 / 3)', 'sig % bloom_query($1, 0.5)', 'sig % bloom_query($1, 0.8)', 'sig % bloom_query($1, 1)',
                'bloom_sim(sig, $1) > 0.8', 'bloom_dice(sig, $1) >= 0.9', 'sig % $1', 'sig = $1', 'sig @> $1', 'sig <@ $1', 'sig @> ($1 & bloom_signature(''green''))', 'sig <@ ($1 | bloom_signature(''green''))'] LOOP
            query := format('SELECT array_agg(%1$s::text ORDER BY %1$s) FROM %2$I WHERE ', CASE way WHEN 'only' THEN 'sig' ELSE 'id' END, relation) || condition;
            SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off;
            other_plans := other_plans + (NOT read_by('table', query, q.sig))::int;
            EXECUTE query INTO by_table USING q.sig;
            SET LOCAL enable_seqscan = off;
            PERFORM set_config('enable_bitmapscan', (way = 'bitmap')::text, true), set_config('enable_indexscan', (way IN ('index', 'only'))::text, true),
                set_config('enable_indexonlyscan', (way = 'only')::text, true);
            other_plans := other_plans + (NOT read_by(way, query, q.sig))::int;
            EXECUTE query INTO by_index USING q.sig;
            asked := asked + 1;
            hits := hits + coalesce(array_length(by_table, 1), 0);
            differ := differ + (by_index IS DISTINCT FROM by_table)::int;
        END LOOP;
    END LOOP;
END $$;
SELECT * FROM differences('bitmap');
SELECT * FROM differences('index');
SELECT * FROM differences('only');
-- The same through the planner's eyes: index-only, for the signature alone.
SET enable_seqscan = off; SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT sig FROM person WHERE sig % bloom_query(bloom_signature('mitchell green'), 0.5);
SELECT count(*), bloom_union(sig) = (SELECT bloom_union(p.sig) FROM person AS p WHERE bloom_sim(sig, bloom_signature('mitchell green')) > 0.4999999999) AS same
FROM person WHERE sig % bloom_query(bloom_signature('mitchell green'), 0.5);
-- The column on the right.
EXPLAIN (COSTS OFF) SELECT id FROM person WHERE bloom_signature('mitchell green') % sig;
SELECT count(*) AS commuted, (SELECT count(*) FROM person WHERE sig % bloom_signature('mitchell green')) AS column_first FROM person WHERE bloom_signature('mitchell green') % sig;
-- Nearest neighbours: the distances of the table, whatever the ties.
EXPLAIN (COSTS OFF) SELECT id FROM person ORDER BY sig <-> bloom_signature('mitchel green') LIMIT 10;
CREATE FUNCTION nearest(q bloom, k int, OUT same boolean, OUT planned boolean, OUT first float8, OUT last float8) LANGUAGE plpgsql AS $$
DECLARE
    by_index float8[];
    by_table float8[];
    query text := 'SELECT array_agg(d) FROM (SELECT sig <-> $1 AS d FROM person ORDER BY sig <-> $1 LIMIT $2) AS n';
BEGIN
    planned := read_by('index', query, q, k);
    EXECUTE query INTO by_index USING q, k;
    SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_seqscan = on;
    planned := planned AND read_by('table', query, q, k);
    EXECUTE query INTO by_table USING q, k;
    SET LOCAL enable_indexscan = on; SET LOCAL enable_indexonlyscan = on; SET LOCAL enable_seqscan = off;
    same := by_index IS NOT DISTINCT FROM by_table;
    first := by_table[1]; last := by_table[array_length(by_table, 1)];
END $$;
SELECT name, k, n.* FROM unnest('{mitchel green,harley mccarthy,"",x}'::text[]) AS name, unnest('{1,10,1000,20000}'::int[]) AS k, nearest(bloom_signature(name), k) AS n;
EXPLAIN (COSTS OFF) SELECT id FROM person WHERE sig % bloom_query(bloom_signature('mitchel green'), 0.3) ORDER BY sig <-> bloom_signature('mitchel green') LIMIT 3;
SELECT id, name FROM person WHERE sig % bloom_query(bloom_signature('mitchel green'), 0.3) ORDER BY sig <-> bloom_signature('mitchel green'), id LIMIT 3;
RESET enable_seqscan; RESET enable_bitmapscan;

-- Another shape is an error, asked for or inserted.
SET enable_seqscan = off;
SELECT count(*) FROM person WHERE sig % bloom_query(bloom_signature('x', 2), 0.5);
SELECT count(*) FROM person WHERE bloom_sim(sig, bloom_signature('x', 2)) > 0.9;
SELECT count(*) FROM person WHERE sig = bloom_signature('x', 2);
INSERT INTO person VALUES (30000, 0, 'x', bloom_signature('x', 2));
SELECT id FROM person ORDER BY sig <-> bloom_signature('x', 2) LIMIT 1;
RESET enable_seqscan;
-- whatever the index has: nothing, a page, many; and in one statement
CREATE TABLE shaped (id int, sig bloom, threshold float8);
CREATE INDEX shaped_sig ON shaped USING gist (sig);
CREATE INDEX shaped_query ON shaped USING gist ((bloom_query(sig, threshold)));
INSERT INTO shaped VALUES (0, NULL);
INSERT INTO shaped SELECT i, bloom_signature('name ' || i, CASE i % 4 WHEN 0 THEN 2 ELSE 3 END), 0.5 FROM generate_series(1, 5) AS i;
-- what was rolled back is still in the index
INSERT INTO shaped VALUES (1, bloom_signature('x', 2), 0.5);
REINDEX TABLE shaped;
INSERT INTO shaped VALUES (1, bloom_signature('x', 2), 0.5);
INSERT INTO shaped VALUES (2, bloom_signature('x'), 0.5);
INSERT INTO shaped SELECT i, bloom_signature('name ' || i, 2), 0.5 FROM generate_series(3, 1000) AS i;
INSERT INTO shaped VALUES (2, bloom_signature('x'), 0.5);
UPDATE shaped SET sig = bloom_signature('x', max_chars => 60) WHERE id = 17;
SELECT count(sig) FROM shaped;
DROP INDEX shaped_sig, shaped_query;
INSERT INTO shaped VALUES (2, bloom_signature('x'), 0.5);
CREATE INDEX ON shaped USING gist (sig);
DELETE FROM shaped WHERE id = 2;
VACUUM shaped;
CREATE INDEX ON shaped USING gist (sig, sig);
INSERT INTO shaped VALUES (2, bloom_signature('x'), 0.5);
-- Two columns can have each its own. Rows of another shape that nobody sees break nothing, whatever their number:
-- searches, inserts, splits.
CREATE TABLE reshaped (id int, sig bloom, other bloom);
CREATE INDEX reshaped_sig ON reshaped USING gist (sig, other);
INSERT INTO reshaped VALUES (-1, bloom_signature('name'), bloom_signature('name', 2));
CREATE FUNCTION reshaped_differ(OUT hits bigint, OUT differ bigint, OUT other_plans bigint) LANGUAGE plpgsql AS $$
DECLARE
    query text;
    q bloom;
    condition text;
    by_index text;
    by_table text;
BEGIN
    hits := 0; differ := 0; other_plans := 0;
    FOREACH q IN ARRAY ARRAY[bloom_signature('name 7'), bloom_signature('name 1000'), bloom_signature('')] LOOP
        FOREACH condition IN ARRAY ARRAY['WHERE sig % bloom_query($1, 0)', 'WHERE sig % bloom_query($1, 0.7)', 'WHERE sig % $1', 'WHERE sig = $1', 'WHERE sig @> $1', 'WHERE sig <@ $1',
                'WHERE sig IS NOT NULL ORDER BY sig <-> $1 LIMIT 5'] LOOP
            query := 'SELECT array_agg(d ORDER BY d) FROM (SELECT sig <-> $1 AS d, id FROM reshaped ' || condition || ') AS f';
            SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_seqscan = on;
            other_plans := other_plans + (NOT read_by('table', query, q))::int;
            EXECUTE query INTO by_table USING q;
            SET LOCAL enable_indexscan = on; SET LOCAL enable_seqscan = off;
            other_plans := other_plans + (NOT read_by('index', query, q))::int;
            EXECUTE query INTO by_index USING q;
            hits := hits + coalesce(array_length(by_table::float8[], 1), 0);
            differ := differ + (by_table IS DISTINCT FROM by_index)::int;
        END LOOP;
    END LOOP;
    SET LOCAL enable_bitmapscan = on; SET LOCAL enable_seqscan = on;
END $$;
-- one on a first page, rolled back; then splits
BEGIN; INSERT INTO reshaped SELECT 0, bloom_signature('x', 2); ROLLBACK;
INSERT INTO reshaped SELECT i, bloom_signature('name ' || i) FROM generate_series(1, 5) AS i;
SELECT * FROM reshaped_differ();
INSERT INTO reshaped SELECT i, bloom_signature('name ' || i) FROM generate_series(6, 3000) AS i;
SELECT * FROM reshaped_differ();
-- many, rolled back and deleted, among the others and before them
BEGIN; INSERT INTO reshaped SELECT 0, bloom_signature('y' || i, 2) FROM generate_series(1, 1000) AS i; ROLLBACK;
INSERT INTO reshaped SELECT i, CASE i % 3 WHEN 0 THEN NULL ELSE bloom_signature('name ' || i) END FROM generate_series(3001, 4000) AS i;
SELECT * FROM reshaped_differ();
VACUUM reshaped;
INSERT INTO reshaped SELECT i, bloom_signature('name ' || i) FROM generate_series(4001, 5000) AS i;
SELECT * FROM reshaped_differ();
TRUNCATE reshaped;
INSERT INTO reshaped VALUES (-1, bloom_signature('name'), bloom_signature('name', 2));
INSERT INTO reshaped SELECT i, bloom_signature('z' || i, 2) FROM generate_series(1, 500) AS i;
DELETE FROM reshaped;
INSERT INTO reshaped SELECT i, bloom_signature('name ' || i) FROM generate_series(1, 1000) AS i;
SELECT * FROM reshaped_differ();
VACUUM reshaped;
SELECT * FROM reshaped_differ();
-- a table changes its shape row by row, and fails while both are seen
UPDATE reshaped SET sig = bloom_signature('name ' || id, 2) WHERE id <= 500;
SELECT * FROM reshaped_differ();
SET enable_seqscan = off;
SELECT count(*) FROM reshaped WHERE sig % bloom_query(bloom_signature('name 7'), 0.9);
SELECT id FROM reshaped ORDER BY sig <-> bloom_signature('name 7') LIMIT 1;
SELECT sig IS NULL FROM reshaped WHERE sig @> bloom_signature('name 7') LIMIT 1;
SELECT id FROM reshaped WHERE sig = bloom_signature('name 7', 2);
SELECT id FROM reshaped WHERE sig = bloom_signature('name 700');
RESET enable_seqscan;
UPDATE reshaped SET sig = bloom_signature('name ' || id, 2) WHERE id > 500;
SELECT count(*) FROM reshaped WHERE sig % bloom_query(bloom_signature('name 7', 2), 0.9);
UPDATE reshaped SET sig = bloom_signature('name ' || id);
SELECT * FROM reshaped_differ();
-- an index cannot be built over both
UPDATE reshaped SET sig = bloom_signature('x', 2) WHERE id = 1;
REINDEX INDEX reshaped_sig;
DELETE FROM reshaped WHERE id = 1;
SELECT * FROM reshaped_differ();
-- A constraint's index, too.
CREATE TABLE reshaped_once (id int, sig bloom, EXCLUDE USING gist ((bloom_query(sig, 0.99)) WITH %));
BEGIN; INSERT INTO reshaped_once SELECT i, bloom_signature(md5(i::text), 2) FROM generate_series(1, 300) AS i; ROLLBACK;
INSERT INTO reshaped_once SELECT i, bloom_signature(md5(i::text)) FROM generate_series(1, 300) AS i;
REINDEX TABLE reshaped_once;
INSERT INTO reshaped_once SELECT i, bloom_signature(md5(i::text)) FROM generate_series(1, 300) AS i;
INSERT INTO reshaped_once VALUES (0, bloom_signature('x', 2));
INSERT INTO reshaped_once VALUES (0, bloom_signature(md5('7'))) ON CONFLICT DO NOTHING;
SELECT count(*) FROM reshaped_once;
DROP TABLE shaped, reshaped, reshaped_once;
DROP FUNCTION reshaped_differ;

-- Rows come and go.
DELETE FROM person WHERE id % 3 = 0;
SELECT * FROM differences('index');
VACUUM person;
SELECT * FROM differences('bitmap');
UPDATE person SET sig = bloom_signature(name || ' x') WHERE id % 5 = 0;
INSERT INTO person SELECT 40000 + id, tenant, name, bloom_signature('y ' || name) FROM person WHERE id < 3000;
SELECT * FROM differences('index');
REINDEX INDEX CONCURRENTLY person_sig;
SELECT * FROM differences('index');
-- Built row by row: penalty and picksplit at work.
TRUNCATE person;
INSERT INTO person SELECT row_number() OVER (ORDER BY rec_id), cluster_id % 3, given_name || ' ' || surname, bloom_signature(given_name || ' ' || surname) FROM febrl;
SELECT * FROM differences('index');
-- In parallel.
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;
SELECT * FROM differences('bitmap');
RESET max_parallel_workers_per_gather;

-- Unlogged, temporary and partitioned tables; many columns; large and small shapes.
CREATE UNLOGGED TABLE unlogged AS TABLE person;
CREATE INDEX ON unlogged USING gist (sig);
SELECT * FROM differences('index', 'unlogged');
CREATE TEMP TABLE temporary AS TABLE person;
CREATE INDEX ON temporary USING gist (sig);
SELECT * FROM differences('index', 'temporary');
CREATE TABLE parted (id int, tenant int, name text, sig bloom) PARTITION BY LIST (tenant);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES IN (0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1, 2);
CREATE INDEX ON parted USING gist (sig);
INSERT INTO parted SELECT * FROM person;
SELECT * FROM differences('bitmap', 'parted');
DROP TABLE unlogged, temporary, parted;
CREATE TABLE shapes (id int, sig bloom);
SET enable_seqscan = off;
DO $$
DECLARE
    shape record;
    wrong int := 0;
    other_plans int := 0;
    n int;
    query text := 'SELECT count(*) FROM shapes WHERE sig % bloom_query($1, 0.5)';
BEGIN
    FOR shape IN SELECT q, chars, fpr FROM unnest('{2,3,8}'::int[]) AS q, unnest('{1,5,30,120,350}'::int[]) AS chars, unnest('{0.0001,0.01,0.5}'::float8[]) AS fpr LOOP
        TRUNCATE shapes;
        INSERT INTO shapes SELECT i, bloom_signature(repeat(md5((i % 50)::text), i % 7), shape.q, shape.chars, shape.fpr) FROM generate_series(1, 300) AS i;
        -- some of the shapes are too small for what is signed
        SET LOCAL client_min_messages = error;
        CREATE INDEX shapes_sig ON shapes USING gist (sig);
        SET LOCAL client_min_messages = notice;
        INSERT INTO shapes SELECT i, bloom_signature(md5((i % 50)::text), shape.q, shape.chars, shape.fpr) FROM generate_series(301, 600) AS i;
        FOR n IN SELECT i FROM unnest('{1,7,300,599}'::int[]) AS i LOOP
            SELECT wrong + count(*) INTO wrong FROM unnest('{0,0.2,0.5,0.9,1}'::float8[]) AS t, shapes AS q,
                LATERAL (SELECT count(*) AS by_index FROM shapes AS s WHERE s.sig % bloom_query(q.sig, t)) AS i,
                LATERAL (SELECT count(*) AS by_table FROM shapes AS s WHERE bloom_sim(s.sig, q.sig)::float8 + 0 >= t) AS s
            WHERE q.id = n AND by_index <> by_table;
            other_plans := other_plans + (SELECT count(*) FROM shapes WHERE id = n AND NOT read_by('bitmap', query, sig) AND NOT read_by('only', query, sig));
        END LOOP;
        DROP INDEX shapes_sig;
    END LOOP;
    RAISE NOTICE 'wrong: %, other plans: %', wrong, other_plans;
END $$;
RESET enable_seqscan;
TRUNCATE shapes;
INSERT INTO shapes VALUES (1, bloom_signature('x', max_chars => 2000));
CREATE INDEX ON shapes USING gist (sig);
INSERT INTO shapes VALUES (1, bloom_signature('x', max_chars => 2000));
DROP TABLE shapes, person, febrl;
DROP FUNCTION differences;
DROP FUNCTION nearest, read_by;
