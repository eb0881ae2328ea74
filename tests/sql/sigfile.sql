-- Access method sigfile: the index gives what the table gives, whatever has happened to both.

-- Definition and options.
CREATE TABLE person (id int, tenant int, name text, sig bloom) WITH (autovacuum_enabled = off);
CREATE UNIQUE INDEX ON person USING sigfile (sig);
CREATE INDEX ON person USING sigfile (sig, tenant);
CREATE INDEX ON person USING sigfile (sig) INCLUDE (id);
CREATE INDEX ON person USING sigfile (sig DESC);
CREATE INDEX ON person USING sigfile (name);
CREATE INDEX ON person USING sigfile (sig gist_bloom_ops);
CREATE INDEX ON person USING sigfile (sig) WITH (chunks = 129);
CREATE INDEX ON person USING sigfile (sig) WITH (chunks = -1);
CREATE INDEX ON person USING sigfile (sig) WITH (chunks = 'many');
CREATE INDEX ON person USING sigfile (sig) WITH (tail_limit = 100001);
CREATE INDEX ON person USING sigfile (sig) WITH (fillfactor = 90);
CREATE INDEX person_sig ON person USING sigfile (sig) WITH (chunks = 128, tail_limit = 100000);
ALTER INDEX person_sig SET (chunks = 200);
ALTER INDEX person_sig SET (chunks = 0, tail_limit = 64);
ALTER INDEX person_sig RESET (chunks);
SELECT reloptions, amname FROM pg_class JOIN pg_am ON pg_am.oid = relam WHERE relname = 'person_sig';
SELECT opcname, amvalidate(oid) FROM pg_opclass WHERE opcname LIKE 'sigfile%' ORDER BY 1;
CLUSTER person USING person_sig;
SELECT p, pg_indexam_has_property(oid, p) FROM pg_am, unnest('{can_order,can_unique,can_multi_col,can_exclude,can_include}'::text[]) AS p WHERE amname = 'sigfile';
SELECT p, pg_index_column_has_property('person_sig', 1, p) FROM unnest('{distance_orderable,returnable,search_array,search_nulls}'::text[]) AS p;
SELECT p, pg_index_has_property('person_sig', p) FROM unnest('{clusterable,index_scan,bitmap_scan,backward_scan}'::text[]) AS p;
-- Classes that do not fit.
CREATE OPERATOR CLASS wrong_ops FOR TYPE bloom USING sigfile AS OPERATOR 3 =;
CREATE OPERATOR CLASS wrong_too_ops FOR TYPE bloom USING sigfile AS OPERATOR 1 % (bloom, bloom), OPERATOR 2 <>, OPERATOR 6 <, OPERATOR 5 % (bloom, bloom_query);
SELECT opcname, amvalidate(oid) FROM pg_opclass WHERE opcname LIKE 'wrong%' ORDER BY 1;
CREATE OPERATOR CLASS wrong_number_ops FOR TYPE bloom USING sigfile AS OPERATOR 10 =;
DROP OPERATOR FAMILY wrong_ops USING sigfile; DROP OPERATOR FAMILY wrong_too_ops USING sigfile;

-- How plans read the table: its index in one way only, or not at all.
CREATE FUNCTION read_by(way text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('enable_seqscan', (way = 'table')::text, false), set_config('enable_bitmapscan', (way = 'bitmap')::text, false),
        set_config('enable_indexscan', (way IN ('index', 'only'))::text, false), set_config('enable_indexonlyscan', (way = 'only')::text, false);
END $$;
-- answer(way, query, signature, threshold): the query's one value, and whether its plan was as wanted.
CREATE FUNCTION answer(way text, query text, q bloom, t float8, OUT value text, OUT used boolean) LANGUAGE plpgsql AS $$
DECLARE
    line text;
    plan text := '';
BEGIN
    PERFORM read_by(way);
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query USING q, t LOOP
        plan := plan || line;
    END LOOP;
    used := plan ~ CASE way WHEN 'table' THEN 'Seq Scan' WHEN 'bitmap' THEN 'Bitmap Index Scan' WHEN 'index' THEN 'Index Scan' ELSE 'Index Only Scan' END;
    EXECUTE query INTO value USING q, t;
    PERFORM read_by('table');
END $$;
-- verify(table, index): queries whose answers differ between the table and its index, or were not read from it as
-- wanted; and whether the index holds as many rows as the table. Distances are compared where rows may tie.
CREATE FUNCTION verify(relation regclass, index regclass, OUT asked bigint, OUT hits bigint, OUT differ bigint, OUT unused bigint, OUT sound boolean) LANGUAGE plpgsql AS $$
DECLARE
    q bloom;
    t float8;
    condition text;
    by_table text;
    by_index record;
    way text;
    queries bloom[];
    rows bigint;
BEGIN
    asked := 0; hits := 0; differ := 0; unused := 0;
    EXECUTE format('SELECT count(*), array_agg(sig ORDER BY id) FILTER (WHERE id %% 2999 = 7 AND sig IS NOT NULL) FROM %s', relation) INTO rows, queries;
    queries := queries || ARRAY[bloom_signature('mitchel green'), bloom_signature(''), (SELECT bloom_union(s) FROM unnest(queries) AS s)];
    FOREACH q IN ARRAY array_remove(queries, NULL) LOOP
        -- a similarity that some row has
        EXECUTE format('SELECT coalesce(max(s), 0.7) FROM (SELECT bloom_sim(sig, $1) AS s FROM %s) AS f WHERE s < 0.9', relation) INTO t USING q;
        FOREACH condition IN ARRAY ARRAY['sig % bloom_query($1, 0)', 'sig % bloom_query($1, 0.5)', 'sig % bloom_query($1, 0.8)', 'sig % bloom_query($1, 1)', 'sig % bloom_query($1, $2)',
                'bloom_sim(sig, $1) >= $2', 'bloom_sim(sig, $1) > $2', 'sig % $1', '$1 % sig', 'sig = $1', 'sig @> $1', 'sig <@ $1', 'sig @> ($1 & bloom_signature(''green''))',
                'sig <@ ($1 | bloom_signature(''green'')) AND sig % bloom_query($1, 0.6)', 'sig IS NULL', 'sig IS NOT NULL'] LOOP
            SELECT value INTO by_table FROM answer('table', format('SELECT count(*) || '' rows '' || coalesce(sum(bloom_hash(sig)::numeric), 0) FROM %s WHERE ', relation) || condition, q, t);
            FOREACH way IN ARRAY ARRAY['bitmap', 'index', 'only'] LOOP
                by_index := answer(way, format('SELECT count(*) || '' rows '' || coalesce(sum(bloom_hash(sig)::numeric), 0) FROM %s WHERE ', relation) || condition, q, t);
                asked := asked + 1;
                differ := differ + (by_index.value IS DISTINCT FROM by_table)::int;
                unused := unused + (NOT by_index.used)::int;
            END LOOP;
            hits := hits + split_part(by_table, ' ', 1)::bigint;
        END LOOP;
        -- nearest neighbours
        FOREACH condition IN ARRAY ARRAY['ORDER BY sig <-> $1', 'ORDER BY sig <-> $1 LIMIT 10', 'WHERE sig % bloom_query($1, 0.3) ORDER BY sig <-> $1 LIMIT 100', 'WHERE sig % bloom_query($1, $2) ORDER BY sig <-> $1',
                'WHERE sig IS NOT NULL ORDER BY sig <-> $1 LIMIT 300', 'WHERE sig IS NULL ORDER BY sig <-> $1', 'ORDER BY sig <-> $1, sig <-> bloom_signature(''green'') LIMIT 50'] LOOP
            SELECT value INTO by_table FROM answer('table', format('SELECT array_agg(d) FROM (SELECT sig <-> $1 AS d FROM %s %s) AS f', relation, condition), q, t);
            FOREACH way IN ARRAY ARRAY['index', 'only'] LOOP
                by_index := answer(way, format('SELECT array_agg(d) FROM (SELECT sig <-> $1 AS d%s FROM %s %s) AS f', CASE way WHEN 'index' THEN ', id' END, relation, condition), q, t);
                asked := asked + 1;
                differ := differ + (by_index.value IS DISTINCT FROM by_table)::int;
                unused := unused + (NOT by_index.used)::int;
            END LOOP;
            hits := hits + coalesce(array_length(by_table::text[], 1), 0);
        END LOOP;
    END LOOP;
    sound := bloom_sigfile_check(index) = rows;
END $$;

-- Nothing; one row; NULL only; empty signatures; duplicates.
SELECT * FROM verify('person', 'person_sig');
SELECT * FROM bloom_sigfile_stats('person_sig');
INSERT INTO person VALUES (7, 0, 'mitchel green', bloom_signature('mitchel green'));
SELECT * FROM verify('person', 'person_sig');
SELECT * FROM bloom_sigfile_stats('person_sig');
TRUNCATE person;
INSERT INTO person SELECT i, 0, NULL, NULL FROM generate_series(1, 1000) AS i;
SELECT * FROM verify('person', 'person_sig');
SELECT segments, rows, null_rows, tail_rows < 1000 AS sealed, shape FROM bloom_sigfile_stats('person_sig');
REINDEX INDEX person_sig;
SELECT * FROM verify('person', 'person_sig');
TRUNCATE person;
INSERT INTO person SELECT i, 0, '', bloom_signature('') FROM generate_series(1, 300) AS i;
SELECT * FROM verify('person', 'person_sig');
INSERT INTO person SELECT i, 0, 'x', bloom_signature('mitchel green') FROM generate_series(301, 5000) AS i;
SELECT asked, differ, unused, sound FROM verify('person', 'person_sig');
TRUNCATE person;

-- Names: inserted, so that the tail is sealed and segments are merged; or built.
CREATE TABLE febrl (rec_id text, cluster_id int, given_name text, surname text, street_number text, address_1 text, address_2 text, suburb text, postcode text, state text, date_of_birth text, soc_sec_id text);
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/data/febrl3.csv'
COPY febrl FROM :'file' (FORMAT csv, HEADER);
INSERT INTO person SELECT row_number() OVER (ORDER BY rec_id), cluster_id % 3, given_name || ' ' || surname, bloom_signature(given_name || ' ' || surname) FROM febrl;
SELECT count(*), count(sig), count(DISTINCT sig) FROM person;
SELECT * FROM verify('person', 'person_sig');
SELECT segments > 1 AS several, rows, dead_rows, null_rows, bytes > free_bytes AND free_bytes > 0 AS freed, shape FROM bloom_sigfile_stats('person_sig');
SELECT bloom_sigfile_merge('person_sig');
SELECT * FROM verify('person', 'person_sig');
SELECT segments, rows, dead_rows, tail_rows, null_rows, array_length(chunk_bits, 1) > 8 AS chunks, (SELECT sum(b) FROM unnest(chunk_bits) AS b) AS bits, entropy BETWEEN 100 AND 300 AS entropy FROM bloom_sigfile_stats('person_sig');
SELECT bloom_sigfile_merge('person_sig');
DELETE FROM person WHERE id % 3 = 0;
SELECT * FROM verify('person', 'person_sig');
VACUUM person;
-- Dead rows are left where another session's snapshot keeps space.
SELECT segments, rows, dead_rows * 2 <= rows AS few_dead, tail_rows, null_rows FROM bloom_sigfile_stats('person_sig');
UPDATE person SET sig = bloom_signature(name || ' x') WHERE id % 5 = 0;
UPDATE person SET sig = NULL WHERE id % 11 = 0;
INSERT INTO person SELECT 10000 + id, tenant, name, sig FROM person WHERE id < 2000;
SELECT * FROM verify('person', 'person_sig');
-- rows that were never there, and some that were
BEGIN;
INSERT INTO person SELECT 20000 + id, tenant, name, bloom_signature('z ' || name) FROM person WHERE id < 2000;
SAVEPOINT a;
DELETE FROM person WHERE id < 1000;
UPDATE person SET sig = bloom_signature('y ' || name) WHERE id < 3000;
SELECT count(*) > 0 AS seen FROM person WHERE sig % bloom_query(bloom_signature('y mitchell green'), 0.6);
ROLLBACK TO a;
SELECT asked, differ, unused, sound FROM verify('person', 'person_sig');
ROLLBACK;
SELECT * FROM verify('person', 'person_sig');
VACUUM person;
SELECT bloom_sigfile_check('person_sig') = count(*) FROM person;
DELETE FROM person WHERE id % 2 = 0;
VACUUM person;
SELECT bloom_sigfile_merge('person_sig');
VACUUM person;
SELECT * FROM verify('person', 'person_sig');
SELECT segments, rows, dead_rows, tail_rows, null_rows FROM bloom_sigfile_stats('person_sig');
-- all rows gone: the next may have another shape
DELETE FROM person;
INSERT INTO person VALUES (1, 0, 'x', bloom_signature('x', 2));
VACUUM person;
INSERT INTO person VALUES (1, 0, 'x', bloom_signature('x', 2));
SELECT * FROM bloom_sigfile_check('person_sig');
DELETE FROM person; VACUUM person;

-- Built; with little memory, so that rows and postings are sorted on disk.
INSERT INTO person SELECT row_number() OVER (ORDER BY rec_id), cluster_id % 3, given_name || ' ' || surname, bloom_signature(given_name || ' ' || surname) FROM febrl;
INSERT INTO person SELECT 10000 + i, i, 'duplicate', bloom_signature('duplicate') FROM generate_series(1, 15000) AS i;
SET maintenance_work_mem = '1MB';
REINDEX INDEX person_sig;
SELECT bloom_sigfile_check('person_sig') = count(*) FROM person;
SELECT bloom_sigfile_merge('person_sig');
DELETE FROM person WHERE id > 10000 AND id % 30 > 0;
VACUUM person;
SELECT bloom_sigfile_merge('person_sig'), bloom_sigfile_check('person_sig') = count(*) AS sound FROM person;
SET work_mem = '64kB';
SELECT * FROM verify('person', 'person_sig');
RESET work_mem; RESET maintenance_work_mem;
-- number of chunks
ALTER INDEX person_sig SET (chunks = 16);
SELECT bloom_sigfile_merge('person_sig');
INSERT INTO person VALUES (30000, 0, 'x', bloom_signature('x'));
SELECT bloom_sigfile_merge('person_sig');
SELECT array_length(chunk_bits, 1) AS chunks FROM bloom_sigfile_stats('person_sig');
SELECT asked, differ, unused, sound FROM verify('person', 'person_sig');
ALTER INDEX person_sig SET (chunks = 128);
REINDEX INDEX person_sig;
SELECT array_length(chunk_bits, 1) AS chunks FROM bloom_sigfile_stats('person_sig');
SELECT asked, differ, unused, sound FROM verify('person', 'person_sig');
ALTER INDEX person_sig RESET (chunks);
REINDEX INDEX CONCURRENTLY person_sig;
SELECT asked, differ, unused, sound FROM verify('person', 'person_sig');
CREATE INDEX CONCURRENTLY person_other ON person USING sigfile (sig);
SELECT bloom_sigfile_check('person_other') = count(*) FROM person;
DROP INDEX person_other;
VACUUM FULL person;
SELECT bloom_sigfile_check('person_sig') = count(*) FROM person;
ANALYZE person;
SELECT reltuples FROM pg_class WHERE relname = 'person_sig';

-- Plans.
SELECT read_by('index');
EXPLAIN (COSTS OFF) SELECT id FROM person WHERE sig % bloom_query(bloom_signature('mitchell green'), 0.5) AND sig @> bloom_signature('green');
EXPLAIN (COSTS OFF) SELECT id FROM person WHERE sig % bloom_query(bloom_signature('mitchell green'), 0.5) ORDER BY sig <-> bloom_signature('mitchell green') LIMIT 3;
-- NULL as an argument
PREPARE search(bloom, float8) AS SELECT count(*) FROM person WHERE sig % bloom_query($1, $2);
PREPARE nearest(bloom) AS SELECT count(*), count(d) FROM (SELECT sig <-> $1 AS d FROM person ORDER BY sig <-> $1 LIMIT 5000) AS f;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE nearest(NULL);
EXECUTE search(NULL, 0.5);
EXECUTE search(bloom_signature('mitchell green'), NULL);
EXECUTE search(bloom_signature('mitchell green'), 0.5);
EXECUTE nearest(NULL);
EXECUTE nearest(bloom_signature('x'));
RESET plan_cache_mode;
SELECT count(*) FROM person WHERE sig = NULL::bloom OR sig % NULL::bloom;
-- keys that exclude each other, and several
SELECT count(*) FROM person WHERE sig IS NULL AND sig % bloom_query(bloom_signature('mitchell green'), 0.5);
SELECT count(*) FROM person WHERE sig IS NULL AND sig IS NOT NULL;
SELECT count(*) FROM person WHERE sig = bloom_signature('mitchell green') AND sig = bloom_signature('harley mccarthy');
SELECT count(*) FROM person WHERE sig % bloom_query(bloom_signature('mitchell green'), 0.15) AND sig % bloom_query(bloom_signature('harley mccarthy'), 0.1) AND sig @> (bloom_signature('mitchell green') & bloom_signature('harley mccarthy'));
SELECT read_by('table');
SELECT count(*) FROM person WHERE sig % bloom_query(bloom_signature('mitchell green'), 0.15) AND sig % bloom_query(bloom_signature('harley mccarthy'), 0.1) AND sig @> (bloom_signature('mitchell green') & bloom_signature('harley mccarthy'));
-- another shape: the table's error
SELECT count(*) FROM person WHERE sig % bloom_query(bloom_signature('x', 2), 0.5);
SELECT id FROM person ORDER BY sig <-> bloom_signature('x', 2) LIMIT 1;
SELECT read_by('index');
SELECT count(*) FROM person WHERE sig % bloom_query(bloom_signature('x', 2), 0.5);
SELECT id FROM person ORDER BY sig <-> bloom_signature('x', 2) LIMIT 1;
SELECT count(*) FROM person WHERE sig = bloom_signature('x', 2);
SELECT read_by('bitmap');
SELECT count(*) FROM person WHERE sig @> bloom_signature('x', 2);
SELECT count(*) FROM person WHERE sig % bloom_signature('x', 2);
INSERT INTO person VALUES (0, 0, 'x', bloom_signature('x', 2));
UPDATE person SET sig = bloom_signature('x', 2) WHERE id = 7;
SELECT count(*) FROM person WHERE id = 0;
-- two indexes for one table
CREATE INDEX person_tenant ON person ((id % 50));
ANALYZE person;
EXPLAIN (COSTS OFF) SELECT count(*) FROM person WHERE sig % bloom_query(bloom_signature('mitchell green'), 0.2) AND id % 50 = 7;
SELECT count(*) FROM person WHERE sig % bloom_query(bloom_signature('mitchell green'), 0.2) AND id % 50 = 7;
SELECT count(*) FROM person WHERE sig % bloom_query(bloom_signature('mitchell green'), 0.8) OR sig % bloom_query(bloom_signature('harley mccarthy'), 0.8);
SELECT read_by('table');
SELECT count(*) FROM person WHERE sig % bloom_query(bloom_signature('mitchell green'), 0.2) AND id % 50 = 7;
SELECT count(*) FROM person WHERE sig % bloom_query(bloom_signature('mitchell green'), 0.8) OR sig % bloom_query(bloom_signature('harley mccarthy'), 0.8);
DROP INDEX person_tenant;
-- rescans: correlated, lateral, EXISTS
CREATE VIEW pairs AS SELECT a.id, b.id AS other FROM person AS a, LATERAL (SELECT id FROM person AS p WHERE p.sig % bloom_query(a.sig, 0.8) ORDER BY p.sig <-> a.sig, p.id LIMIT 5) AS b WHERE a.id % 61 = 0;
CREATE VIEW nearest AS SELECT a.id, (SELECT min(d) FROM (SELECT p.sig <-> a.sig AS d FROM person AS p WHERE p.id <> a.id ORDER BY p.sig <-> a.sig LIMIT 2) AS f) AS d FROM person AS a WHERE a.id % 97 = 0;
CREATE VIEW alone AS SELECT a.id FROM person AS a WHERE a.id % 53 = 0 AND NOT EXISTS (SELECT FROM person AS p WHERE p.sig % bloom_query(a.sig, 0.7) AND p.id <> a.id);
SELECT read_by('index');
CREATE TABLE pairs_by_index AS TABLE pairs; CREATE TABLE nearest_by_index AS TABLE nearest; CREATE TABLE alone_by_index AS TABLE alone;
SELECT read_by('table');
SELECT count(*) FROM pairs_by_index;
SELECT count(*) FROM ((TABLE pairs EXCEPT ALL TABLE pairs_by_index) UNION ALL (TABLE pairs_by_index EXCEPT ALL TABLE pairs)) AS f;
SELECT count(*) FROM ((TABLE nearest EXCEPT ALL TABLE nearest_by_index) UNION ALL (TABLE nearest_by_index EXCEPT ALL TABLE nearest)) AS f;
SELECT count(*) FROM ((TABLE alone EXCEPT ALL TABLE alone_by_index) UNION ALL (TABLE alone_by_index EXCEPT ALL TABLE alone)) AS f;
DROP VIEW pairs, nearest, alone; DROP TABLE pairs_by_index, nearest_by_index, alone_by_index;
-- cursors, while rows come and pages are replaced
SELECT read_by('index');
CREATE FUNCTION rest(c refcursor, OUT rows bigint, OUT new bigint) LANGUAGE plpgsql AS $$
DECLARE
    row record;
BEGIN
    rows := 0; new := 0;
    LOOP
        FETCH c INTO row;
        EXIT WHEN NOT FOUND;
        rows := rows + 1; new := new + (row.id >= 40000)::int;
    END LOOP;
END $$;
SELECT count(*), count(sig) FROM person;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM person WHERE sig % bloom_query(bloom_signature('x'), 0);
DECLARE d CURSOR FOR SELECT id FROM person ORDER BY sig <-> bloom_signature('x');
DECLARE e SCROLL CURSOR FOR SELECT id FROM person WHERE sig % bloom_query(bloom_signature('mitchell green'), 0.5);
MOVE 2 FROM e; MOVE BACKWARD 1 FROM e;
MOVE 10 FROM c; MOVE 10 FROM d;
INSERT INTO person SELECT 40000 + id, tenant, name, bloom_signature('new ' || name) FROM person WHERE id < 3000;
SELECT bloom_sigfile_merge('person_sig');
DELETE FROM person WHERE id >= 40000;
INSERT INTO person SELECT 40000 + id, tenant, name, bloom_signature('newer ' || name) FROM person WHERE id < 3000;
SELECT * FROM rest('c');
SELECT * FROM rest('d');
FETCH BACKWARD 1 FROM c;
ROLLBACK;
SELECT read_by('table');
SELECT bloom_sigfile_check('person_sig') = count(*) FROM person;

-- Kinds of tables.
CREATE UNLOGGED TABLE unlogged (LIKE person);
CREATE INDEX unlogged_sig ON unlogged USING sigfile (sig) WITH (tail_limit = 64);
INSERT INTO unlogged SELECT * FROM person WHERE id % 4 = 3;
SELECT asked, differ, unused, sound FROM verify('unlogged', 'unlogged_sig');
ALTER TABLE unlogged SET LOGGED;
SELECT bloom_sigfile_check('unlogged_sig') = count(*) FROM unlogged;
DROP TABLE unlogged;
CREATE TEMP TABLE temporary (LIKE person) ON COMMIT DELETE ROWS;
CREATE INDEX temporary_sig ON temporary USING sigfile (sig) WITH (tail_limit = 64);
BEGIN;
INSERT INTO temporary SELECT * FROM person WHERE id % 4 = 3;
SELECT asked, differ, unused, sound FROM verify('temporary', 'temporary_sig');
COMMIT;
SELECT bloom_sigfile_check('temporary_sig');
BEGIN;
INSERT INTO temporary SELECT * FROM person WHERE id < 1000;
TRUNCATE temporary;
INSERT INTO temporary VALUES (7, 0, 'x', bloom_signature('x', 2));
SELECT bloom_sigfile_check('temporary_sig');
ROLLBACK;
DROP TABLE temporary;
CREATE TABLE parted (LIKE person) PARTITION BY LIST (tenant);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES IN (0);
CREATE TABLE parted_1 PARTITION OF parted DEFAULT;
CREATE INDEX parted_sig ON parted USING sigfile (sig) WITH (tail_limit = 64);
INSERT INTO parted SELECT * FROM person WHERE id % 4 = 3;
SELECT asked, differ, unused FROM verify('parted', 'parted_0_sig_idx');
SELECT bloom_sigfile_check('parted_0_sig_idx') + bloom_sigfile_check('parted_1_sig_idx') = count(*) FROM parted;
SELECT bloom_sigfile_check('parted_sig');
DROP TABLE parted;
-- on an expression, for a part of the rows
CREATE INDEX person_part ON person USING sigfile ((bloom_signature(name))) WITH (tail_limit = 64) WHERE tenant = 1;
SELECT read_by('index');
EXPLAIN (COSTS OFF) SELECT id FROM person WHERE bloom_signature(name) % bloom_query(bloom_signature('mitchell green'), 0.5) AND tenant = 1;
SELECT count(*) FROM person WHERE bloom_signature(name) % bloom_query(bloom_signature('mitchell green'), 0.3) AND tenant = 1;
SELECT read_by('table');
SELECT count(*) FROM person WHERE bloom_signature(name) % bloom_query(bloom_signature('mitchell green'), 0.3) AND tenant = 1;
UPDATE person SET tenant = 1 WHERE id % 10 = 0;
VACUUM person;
SELECT reltuples = (SELECT count(*) FROM person WHERE tenant = 1) AND reltuples = bloom_sigfile_check('person_part') AS counted FROM pg_class WHERE relname = 'person_part';
DROP INDEX person_part;
-- files: another tablespace, gone and back
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE sigfile_space LOCATION '';
ALTER INDEX person_sig SET TABLESPACE sigfile_space;
SELECT bloom_sigfile_check('person_sig') = count(*) FROM person;
ALTER INDEX person_sig SET TABLESPACE pg_default;
DROP TABLESPACE sigfile_space;
BEGIN; DROP INDEX person_sig; ROLLBACK;
BEGIN; TRUNCATE person; INSERT INTO person VALUES (1, 0, 'x', bloom_signature('x', 2)); SELECT bloom_sigfile_check('person_sig'); ROLLBACK;
BEGIN; REINDEX INDEX person_sig; INSERT INTO person SELECT 60000 + i, 0, 'x', bloom_signature('x' || i) FROM generate_series(1, 500) AS i; ROLLBACK;
SELECT bloom_sigfile_check('person_sig') = count(*) FROM person;
-- an index over two shapes is not built, and an invalid one is in nobody's way
CREATE TABLE shapes (id int, sig bloom);
INSERT INTO shapes VALUES (1, bloom_signature('x')), (2, bloom_signature('x', 2));
CREATE INDEX shapes_sig ON shapes USING sigfile (sig);
CREATE INDEX CONCURRENTLY shapes_sig ON shapes USING sigfile (sig);
INSERT INTO shapes VALUES (3, bloom_signature('y', 2));
DELETE FROM shapes WHERE id = 1;
REINDEX INDEX CONCURRENTLY shapes_sig;
SELECT bloom_sigfile_check('shapes_sig');
-- from a few bits to the most that fit a page
DO $$
DECLARE
    shape record;
    wrong bigint := 0;
    found record;
BEGIN
    FOR shape IN SELECT q, chars, fpr FROM (VALUES (2, 1, 0.5), (8, 5, 0.01), (3, 350, 0.01), (3, 350, 0.0001)) AS s (q, chars, fpr) LOOP
        TRUNCATE shapes;
        INSERT INTO shapes SELECT i, bloom_signature(repeat(md5((i % 50)::text), i % 7), shape.q, shape.chars, shape.fpr) FROM generate_series(1, 300) AS i;
        PERFORM bloom_sigfile_merge('shapes_sig');
        INSERT INTO shapes SELECT i, bloom_signature(md5((i % 50)::text), shape.q, shape.chars, shape.fpr) FROM generate_series(301, 400) AS i;
        FOR found IN SELECT t, (answer(way, 'SELECT sum(id) FROM shapes WHERE sig % bloom_query($1, $2)', s.sig, t)).value AS by_index, (answer('table', 'SELECT sum(id) FROM shapes WHERE sig % bloom_query($1, $2)', s.sig, t)).value AS by_table
                FROM shapes AS s, unnest('{0,0.5,0.8,1}'::float8[]) AS t, unnest('{index,bitmap}'::text[]) AS way WHERE id IN (1, 7, 350) LOOP
            wrong := wrong + (found.by_index IS DISTINCT FROM found.by_table)::int;
        END LOOP;
        wrong := wrong + abs(bloom_sigfile_check('shapes_sig') - 400);
    END LOOP;
    RAISE NOTICE 'wrong: %', wrong;
END $$;
TRUNCATE shapes;
INSERT INTO shapes VALUES (1, bloom_signature('x', max_chars => 5000, fpr => 0.000001));
CREATE INDEX ON shapes USING sigfile (sig);
SELECT count(*) FROM shapes;
DROP TABLE shapes;

-- Constraints.
CREATE TABLE once (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED,
    CONSTRAINT no_duplicate EXCLUDE USING sigfile ((bloom_query(sig, 0.85)) WITH %) WITH (tail_limit = 64));
INSERT INTO once (id, name) VALUES (1, 'Erika Mustermann'), (2, 'Otto Normalverbraucher'), (3, NULL), (4, NULL), (5, ''), (6, '');
INSERT INTO once (id, name) VALUES (1, 'Erika Mustermann'), (2, 'Otto Normalverbraucher'), (3, NULL), (4, NULL), (5, '');
INSERT INTO once (id, name) VALUES (7, 'Erika Mustermannn');
INSERT INTO once (id, name) VALUES (7, 'Erika Mustermannn') ON CONFLICT DO NOTHING;
INSERT INTO once (id, name) VALUES (7, 'Erica Mustermann');
UPDATE once SET name = 'Erika Mustermann!' WHERE id = 7;
UPDATE once SET name = 'Erika Musterman' WHERE id = 1;
DELETE FROM once WHERE id = 1;
INSERT INTO once (id, name) VALUES (9, 'Max Meier'), (10, 'max meier');
INSERT INTO once (id, name) SELECT i, md5((i % 1000)::text) FROM generate_series(100, 4099) AS i ON CONFLICT DO NOTHING;
SELECT count(*), bloom_sigfile_check('no_duplicate') FROM once;
SELECT count(*) FROM once AS a JOIN once AS b ON a.id < b.id AND bloom_sim(a.sig, b.sig)::float8 + 0 >= 0.85 WHERE a.id < 400;
UPDATE once SET id = id + 10000;
VACUUM once;
SELECT count(*), bloom_sigfile_check('no_duplicate') FROM once;
INSERT INTO once (id, name) VALUES (20000, md5('500')) ON CONFLICT DO NOTHING;
SELECT read_by('index');
EXPLAIN (COSTS OFF) SELECT id FROM once WHERE bloom_query(sig, 0.85) % bloom_query(bloom_signature('otto normalverbraucher'), 0.5);
SELECT id FROM once WHERE bloom_query(sig, 0.85) % bloom_query(bloom_signature('otto normalverbraucher'), 0.5);
SELECT id FROM once WHERE bloom_query(sig, 0.85) % bloom_signature('otto normalverbraucher');
SELECT bloom_query(sig, 0.85) FROM once WHERE bloom_query(sig, 0.85) % bloom_query(bloom_signature('otto normalverbraucher'), 0.9);
SELECT id FROM once WHERE bloom_query(sig, 0.85) % bloom_query(bloom_signature('x', 2), 0.5);
SELECT read_by('table');
DROP TABLE once;
-- thresholds of the rows' own
CREATE TABLE own (id int, query bloom_query);
CREATE INDEX own_query ON own USING sigfile (query) WITH (tail_limit = 64);
INSERT INTO own SELECT id, bloom_query(sig, (id % 11) / 10.0) FROM person WHERE id < 3000;
INSERT INTO own SELECT i, NULL FROM generate_series(1, 200) AS i;
DO $$
DECLARE
    q bloom;
    t float8;
    condition text;
    way text;
    by_table text;
    by_index record;
    asked int := 0; hits bigint := 0; differ int := 0; unused int := 0;
BEGIN
    FOR q IN SELECT sig FROM person WHERE id IN (7, 500, 1234) UNION ALL SELECT bloom_signature('') LOOP
        FOREACH t IN ARRAY '{0,0.3,0.8,1}'::float8[] LOOP
            FOREACH condition IN ARRAY ARRAY['query % bloom_query($1, $2)', 'query % $1', 'query IS NULL', 'query IS NOT NULL'] LOOP
                SELECT value INTO by_table FROM answer('table', 'SELECT array_agg(id ORDER BY id) FROM own WHERE ' || condition, q, t);
                FOREACH way IN ARRAY '{index,bitmap}'::text[] LOOP
                    by_index := answer(way, 'SELECT array_agg(id ORDER BY id) FROM own WHERE ' || condition, q, t);
                    asked := asked + 1; hits := hits + coalesce(array_length(by_table::int[], 1), 0);
                    differ := differ + (by_index.value IS DISTINCT FROM by_table)::int; unused := unused + (NOT by_index.used)::int;
                END LOOP;
            END LOOP;
        END LOOP;
    END LOOP;
    RAISE NOTICE 'asked %, hits %, differ %, unused %', asked, hits, differ, unused;
END $$;
SELECT bloom_sigfile_check('own_query') = count(*) FROM own;
DROP TABLE own;
-- deferred
CREATE TABLE later (sig bloom, EXCLUDE USING sigfile ((bloom_query(sig, 0.85)) WITH %) DEFERRABLE INITIALLY DEFERRED);
BEGIN;
INSERT INTO later VALUES (bloom_signature('Erika Mustermann')), (bloom_signature('erika mustermann'));
COMMIT;
BEGIN;
INSERT INTO later VALUES (bloom_signature('Erika Mustermann')), (bloom_signature('erika mustermann'));
DELETE FROM later WHERE ctid = (SELECT max(ctid) FROM later);
INSERT INTO later VALUES (bloom_signature('erika mustermann'));
SET CONSTRAINTS ALL IMMEDIATE;
ROLLBACK;
BEGIN;
INSERT INTO later VALUES (bloom_signature('Erika Mustermann')), (bloom_signature('erika mustermann'));
DELETE FROM later WHERE ctid = (SELECT max(ctid) FROM later);
COMMIT;
SELECT count(*) FROM later;
-- an operator that a setting governs is refused
\set VERBOSITY sqlstate
CREATE TABLE refused (sig bloom, EXCLUDE USING sigfile (sig WITH %));
\set VERBOSITY terse
-- on a table that has duplicates already: one pair is shown
CREATE TABLE old (id int, sig bloom);
INSERT INTO old SELECT i, bloom_signature('name ' || i) FROM generate_series(1, 3) AS i;
INSERT INTO old VALUES (4, bloom_signature('name 1'));
ALTER TABLE old ADD CONSTRAINT no_old_duplicate EXCLUDE USING sigfile ((bloom_query(sig, 0.99)) WITH %);
\set VERBOSITY default
DELETE FROM old WHERE id = 4;
ALTER TABLE old ADD CONSTRAINT no_old_duplicate EXCLUDE USING sigfile ((bloom_query(sig, 0.99)) WITH %);
DROP TABLE later, old;

-- Functions for the DBA: wrong objects, privileges, transactions.
CREATE INDEX person_id ON person (id);
CREATE VIEW seen AS SELECT 1 AS one;
SELECT bloom_sigfile_stats('person');
SELECT bloom_sigfile_check('person_id');
SELECT bloom_sigfile_merge('seen');
SELECT bloom_sigfile_merge(0);
SELECT bloom_sigfile_check(NULL) IS NULL AND bloom_sigfile_merge(NULL) IS NULL AND bloom_sigfile_stats(NULL) IS NULL AS strict;
CREATE ROLE sigfile_user;
SET ROLE sigfile_user;
SELECT segments > 0 AS shown FROM bloom_sigfile_stats('person_sig');
SELECT bloom_sigfile_check('person_sig');
SELECT bloom_sigfile_merge('person_sig');
RESET ROLE;
-- the table's owner runs the expressions of its indexes, not who checks it
GRANT CREATE ON SCHEMA public TO sigfile_user;
SET ROLE sigfile_user;
CREATE TABLE mine (id int, name text);
INSERT INTO mine SELECT i, 'name ' || i FROM generate_series(1, 10) AS i;
CREATE FUNCTION who(text) RETURNS bloom IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN IF current_user <> 'sigfile_user' THEN RAISE 'run by %', current_user; END IF; RETURN public.bloom_signature($1); END $$;
CREATE INDEX mine_who ON mine USING sigfile (who(name));
RESET ROLE;
SELECT bloom_sigfile_check('mine_who'), current_user = session_user AS back;
SELECT bloom_sigfile_merge('mine_who');
DROP TABLE mine; DROP FUNCTION who; REVOKE CREATE ON SCHEMA public FROM sigfile_user; DROP ROLE sigfile_user;
BEGIN READ ONLY;
SELECT bloom_sigfile_check('person_sig') > 0 AS sound, segments > 0 AS shown FROM bloom_sigfile_stats('person_sig');
ROLLBACK;
BEGIN; SELECT bloom_sigfile_merge('person_sig'); INSERT INTO person SELECT 70000 + i, 0, 'x', bloom_signature('x' || i) FROM generate_series(1, 500) AS i; SELECT bloom_sigfile_merge('person_sig'); ROLLBACK;
SELECT * FROM verify('person', 'person_sig');
DROP VIEW seen;

-- Time-outs end whatever runs; the index is as it was. The work is more than can be done in the time.
CREATE TABLE many (id int, sig bloom) WITH (autovacuum_enabled = off);
INSERT INTO many SELECT i, bloom_signature(md5(i::text)) FROM generate_series(1, 60000) AS i;
CREATE FUNCTION ended(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    began timestamptz := clock_timestamp();
    how text := 'done';
BEGIN
    BEGIN
        EXECUTE command;
    EXCEPTION WHEN query_canceled THEN how := 'canceled';
    END;
    RETURN how || CASE WHEN clock_timestamp() - began > '2 s' THEN ' late' ELSE '' END;
END $$;
SET statement_timeout = '25ms';
SELECT ended('CREATE INDEX many_sig ON many USING sigfile (sig) WITH (chunks = 100, tail_limit = 64)');
RESET statement_timeout;
CREATE INDEX many_sig ON many USING sigfile (sig) WITH (chunks = 100, tail_limit = 64);
INSERT INTO many SELECT i, bloom_signature(md5(i::text)) FROM generate_series(60001, 60300) AS i;
SET statement_timeout = '15ms';
SELECT ended('SELECT bloom_sigfile_merge(''many_sig'')');
SELECT read_by('index');
SELECT ended('SELECT count(*) FROM many AS a JOIN many AS b ON a.sig % bloom_query(b.sig, 0.5)');
SELECT ended('SELECT count(*) FROM (SELECT FROM many, (SELECT bloom_signature(i::text) AS q FROM generate_series(1, 50) AS i) AS q ORDER BY sig <-> q) AS f');
SELECT ended('SELECT count(*) FROM generate_series(1, 1000) AS i, LATERAL (SELECT id FROM many ORDER BY sig <-> bloom_signature(md5(i::text)) OFFSET 20000 LIMIT 1) AS f');
RESET statement_timeout;
SELECT read_by('table');
DELETE FROM many WHERE id % 3 = 0;
\set VERBOSITY terse
SET statement_timeout = '5ms';
VACUUM many;
SELECT bloom_sigfile_check('many_sig');
RESET statement_timeout;
\set VERBOSITY default
SELECT bloom_sigfile_check('many_sig') = count(*) FROM many;
VACUUM many;
-- What the interrupted ones have replaced is free when a transaction has begun and ended since.
SELECT pg_current_xact_id() IS NOT NULL AS begun;
VACUUM many;
SELECT rows, dead_rows * 4 < rows AS few_dead, free_bytes > 0 AS freed FROM bloom_sigfile_stats('many_sig');
SELECT bloom_sigfile_check('many_sig') = count(*) FROM many;
DROP TABLE many, person, febrl;
DROP FUNCTION verify, answer, read_by, rest, ended;

-- Several distances, one of them NULL: the others give the order.
CREATE TABLE near (id int, sig bloom);
INSERT INTO near SELECT i, bloom_signature(md5(i::text)) FROM generate_series(1, 3000) AS i;
CREATE TABLE near_sorted AS SELECT id FROM near ORDER BY sig <-> bloom_signature(md5('7')), id LIMIT 5;
CREATE INDEX near_sig ON near USING sigfile (sig);
SET enable_seqscan = off;
SET plan_cache_mode = force_generic_plan;
PREPARE two(bloom, bloom) AS SELECT array_agg(id ORDER BY id) = (SELECT array_agg(id ORDER BY id) FROM near_sorted) AS same
    FROM (SELECT id FROM near ORDER BY sig <-> $1, sig <-> $2 LIMIT 5) AS f;
EXECUTE two(NULL, bloom_signature(md5('7')));
EXECUTE two(bloom_signature(md5('7')), NULL);
EXECUTE two(bloom_signature(md5('7')), bloom_signature(md5('8')));
-- more than the method can order by
SELECT count(*) FROM (SELECT id FROM near ORDER BY sig <-> bloom_signature('a'), sig <-> bloom_signature('b'),
    sig <-> bloom_signature('c'), sig <-> bloom_signature('d'), sig <-> bloom_signature('e') LIMIT 3) AS f;
-- another shape is an error as soon as there is a row, and not before
SELECT id FROM near ORDER BY sig <-> bloom_signature('x', 2) LIMIT 1;
DELETE FROM near;
SELECT id FROM near ORDER BY sig <-> bloom_signature('x', 2) LIMIT 1;
-- an index is made over rows of the new shape, whatever old snapshots still see
INSERT INTO near VALUES (1, NULL);
VACUUM near;
INSERT INTO near SELECT i, bloom_signature(md5(i::text)) FROM generate_series(1, 300) AS i;
DROP INDEX near_sig;
BEGIN;
DELETE FROM near;
INSERT INTO near SELECT i, bloom_signature(md5(i::text), 2) FROM generate_series(1, 300) AS i;
CREATE INDEX near_sig ON near USING sigfile (sig);
COMMIT;
SELECT rows, shape FROM bloom_sigfile_stats('near_sig');
SELECT bloom_sigfile_check('near_sig');
-- as much memory as can be
SET maintenance_work_mem = '64GB';
ALTER INDEX near_sig SET (tail_limit = 300);
INSERT INTO near SELECT i, bloom_signature(md5(i::text), 2) FROM generate_series(1, 9000) AS i;
SELECT bloom_sigfile_merge('near_sig');
REINDEX INDEX near_sig;
SELECT bloom_sigfile_check('near_sig');
RESET maintenance_work_mem;
-- who may read the table may look at the index
CREATE ROLE sigfile_reader;
GRANT SELECT ON near TO sigfile_reader;
SET ROLE sigfile_reader;
SELECT rows FROM bloom_sigfile_stats('near_sig');
SELECT bloom_sigfile_merge('near_sig');
RESET ROLE;
DROP TABLE near, near_sorted;
DROP ROLE sigfile_reader;
RESET enable_seqscan;
RESET plan_cache_mode;
-- Scans are counted, one each time that keys are given: plain, bitmap, nearest, the inner side of a loop.
CREATE TABLE counted AS SELECT i AS id, bloom_signature(md5((i / 2)::text)) AS sig FROM generate_series(1, 300) AS i;
CREATE INDEX counted_sig ON counted USING sigfile (sig);
BEGIN;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;
SELECT count(*) FROM counted WHERE sig % bloom_query(bloom_signature(md5('1')), 0.9);
SELECT pg_stat_get_xact_numscans('counted_sig'::regclass) AS scans, pg_stat_get_xact_tuples_returned('counted_sig'::regclass) AS rows;
SELECT count(*) FROM (SELECT id FROM counted ORDER BY sig <-> bloom_signature('x') LIMIT 5) AS f;
SELECT pg_stat_get_xact_numscans('counted_sig'::regclass) AS scans, pg_stat_get_xact_tuples_returned('counted_sig'::regclass) AS rows;
SELECT count(*) FROM counted AS x, LATERAL (SELECT FROM counted WHERE sig % bloom_query(x.sig, 0.9) OFFSET 0) AS y WHERE x.id < 11;
SELECT pg_stat_get_xact_numscans('counted_sig'::regclass) AS scans, pg_stat_get_xact_tuples_returned('counted_sig'::regclass) AS rows;
SET LOCAL enable_indexscan = off;
SET LOCAL enable_indexonlyscan = off;
SET LOCAL enable_bitmapscan = on;
SELECT count(*) FROM counted WHERE sig % bloom_query(bloom_signature(md5('1')), 0.9);
SELECT pg_stat_get_xact_numscans('counted_sig'::regclass) AS scans, pg_stat_get_xact_tuples_returned('counted_sig'::regclass) AS rows;
COMMIT;
DROP TABLE counted;

-- An index that a canceled DROP INDEX CONCURRENTLY has left is not maintained, so there is nothing to check.
CREATE TABLE left_over AS SELECT i AS id, bloom_signature(i::text) AS sig FROM generate_series(1, 100) AS i;
CREATE INDEX left_over_sig ON left_over USING sigfile (sig);
UPDATE pg_index SET indisready = false, indisvalid = false WHERE indexrelid = 'left_over_sig'::regclass;
SELECT bloom_sigfile_check('left_over_sig');
DROP TABLE left_over;

-- Postings that do not fit into the memory of a build, a merge or a job at once are read in several turns.
CREATE TABLE little (id int, sig bloom, bits minhash_bits);
INSERT INTO little SELECT i, bloom_signature(md5((i / 2)::text)), minhash_bits(ARRAY[(i / 2)::text], 64) FROM generate_series(1, 140000) AS i;
SET maintenance_work_mem = '1MB';
CREATE INDEX little_sig ON little USING sigfile (sig);
CREATE INDEX little_bits ON little USING sigfile (bits);
SELECT bloom_sigfile_check('little_sig'), bloom_sigfile_check('little_bits');
SELECT count(*) FROM bloom_duplicates('little', 'id', 'sig', 1);
SELECT count(*) FROM bloom_duplicates('little', 'id', 'bits', 1);
INSERT INTO little SELECT i, bloom_signature(md5((i / 2)::text)), minhash_bits(ARRAY[(i / 2)::text], 64) FROM generate_series(140001, 150000) AS i;
SELECT bloom_sigfile_merge('little_sig'), bloom_sigfile_merge('little_bits');
SELECT bloom_sigfile_check('little_sig'), bloom_sigfile_check('little_bits');
RESET maintenance_work_mem;
DROP TABLE little;
