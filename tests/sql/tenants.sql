-- Columns before the signature.
\pset null NULL
SET client_min_messages = warning;
CREATE TYPE colour AS ENUM ('red', 'green', 'blue', 'black');
CREATE TABLE person (id int, tenant bigint, small smallint, code text COLLATE "C", colour colour, tags int[], uid uuid, share numeric, sig bloom);
-- Tenants of very different sizes, and some NULLs of every column.
CREATE FUNCTION person(i int, salt int DEFAULT 0) RETURNS person LANGUAGE sql AS $$
    SELECT i, nullif((h % 40) * (h / 64 % 40) / 40, 17), nullif(h % 7, 6), CASE WHEN h % 2 = 0 THEN 'T' ELSE 't' END || nullif(h % 9, 8), (enum_range(NULL::colour))[1 + h % 4],
        CASE WHEN h % 13 > 0 THEN ARRAY[h % 3, NULL, h % 2] END, CASE WHEN h % 11 > 0 THEN md5((h % 6)::text)::uuid END, (h % 5)::numeric / 2,
        CASE WHEN h % 29 > 0 THEN bloom_signature(left(md5((h % 400)::text), 8) || ' ' || h % 3) END
    FROM abs(hashint4(i * 7 + salt)::bigint) AS h $$;
INSERT INTO person SELECT (person(i)).* FROM generate_series(1, 6000) AS i;

-- For each condition the first way of reading the table by the index whose answer differs from that of a sequential scan, or which does not use it; $1 is a signature,
-- $2 the threshold.
CREATE FUNCTION differences(index text, conditions text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    condition text; way text; wanted text; query text; plan text; line text; q bloom; t float8; of_table text; of_index text; nearest boolean;
BEGIN
    FOREACH condition IN ARRAY conditions LOOP
        FOR q, t IN SELECT sig, threshold FROM (SELECT sig FROM person WHERE sig IS NOT NULL AND id % 60 = 0 ORDER BY id LIMIT 3) AS f,
                unnest(ARRAY[0, 0.4, 0.8, 0.95]) AS threshold LOOP
            nearest := condition ~ 'ORDER';
            query := CASE WHEN nearest THEN format('SELECT md5(string_agg(coalesce(d::text, ''none''), '' '')) FROM (SELECT sig <-> $1 AS d, id FROM person WHERE %s) AS f', condition)
                ELSE 'SELECT format(''%s %s'', count(*), sum(hashint4extended(id, 1))) FROM person WHERE ' || condition END;
            FOREACH way IN ARRAY ARRAY['table', 'index', 'bitmap'] LOOP
                CONTINUE WHEN nearest AND way = 'bitmap';
                PERFORM set_config('enable_seqscan', (way = 'table')::text, true), set_config('enable_bitmapscan', (way = 'bitmap')::text, true),
                    set_config('enable_indexscan', (way = 'index')::text, true), set_config('enable_sort', (way = 'table')::text, true);
                plan := '';
                FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query USING q, t LOOP plan := plan || line || E'\n'; END LOOP;
                wanted := CASE way WHEN 'table' THEN 'Seq Scan' WHEN 'index' THEN 'Index (Only )?Scan using ' || index ELSE 'Bitmap Index Scan on ' || index END;
                IF plan !~ wanted THEN
                    RETURN NEXT format('%s, %s: %s', condition, way, plan);
                END IF;
                EXECUTE query INTO of_index USING q, t;
                IF way = 'table' THEN of_table := of_index;
                ELSIF of_table <> of_index THEN RETURN NEXT format('%s, %s, %s by %s: %s, not %s', condition, q, t, way, of_index, of_table);
                END IF;
            END LOOP;
        END LOOP;
    END LOOP;
END $$;
CREATE FUNCTION tenant_conditions() RETURNS text[] LANGUAGE sql AS $$ SELECT ARRAY[
    'tenant = 0 AND sig % bloom_query($1, $2)', 'tenant = 5 AND sig % bloom_query($1, $2)', 'tenant = 39::smallint AND sig % bloom_query($1, $2)', 'tenant = 1000000 AND sig % bloom_query($1, $2)',
    'tenant IS NULL AND sig % bloom_query($1, $2)', 'tenant IS NOT NULL AND sig % bloom_query($1, $2)', 'sig % bloom_query($1, $2)', 'tenant = 3', 'tenant = (SELECT 3) AND tenant = (SELECT 4) AND sig = $1',
    'tenant = 3 AND sig IS NULL', 'tenant = 3 AND sig = $1', 'tenant = 2 AND sig @> $1', 'tenant = 2 AND bloom_sim(sig, $1) > $2', 'tenant = (SELECT NULL::int) AND sig % bloom_query($1, $2)',
    'tenant = 1 ORDER BY sig <-> $1 LIMIT 30', 'tenant = 1 ORDER BY sig <-> $1', 'tenant IS NULL ORDER BY sig <-> $1', 'tenant = 4 AND sig % bloom_query($1, $2) ORDER BY sig <-> $1 LIMIT 7',
    'true ORDER BY sig <-> $1 LIMIT 50'] $$;

-- Built at once, and row by row with merges; with and without posting lists.
CREATE INDEX person_tenant ON person USING sigfile (tenant, sig);
SELECT bloom_sigfile_check('person_tenant');
SELECT segments, rows, null_rows, shape FROM bloom_sigfile_stats('person_tenant');
SELECT differences('person_tenant', tenant_conditions());
DROP INDEX person_tenant;
TRUNCATE person;
CREATE INDEX person_tenant ON person USING sigfile (tenant, sig) WITH (tail_limit = 50);
INSERT INTO person SELECT (person(i)).* FROM generate_series(1, 4000) AS i;
SELECT bloom_sigfile_check('person_tenant');
SELECT differences('person_tenant', tenant_conditions());
DELETE FROM person WHERE id % 3 = 0;
VACUUM person;
UPDATE person SET tenant = tenant + 1, sig = (person(id, 5)).sig WHERE id % 5 = 0;
INSERT INTO person SELECT (person(i)).* FROM generate_series(4001, 5000) AS i;
SELECT bloom_sigfile_check('person_tenant');
SELECT differences('person_tenant', tenant_conditions());
SELECT bloom_sigfile_merge('person_tenant');
SELECT bloom_sigfile_check('person_tenant');
SELECT differences('person_tenant', tenant_conditions());
DROP INDEX person_tenant;

-- Little memory: rows are sorted in files.
SET maintenance_work_mem = '1MB';
INSERT INTO person SELECT (person(i)).* FROM generate_series(5001, 30000) AS i;
CREATE INDEX person_tenant ON person USING sigfile (tenant, sig) WITH (chunks = 12);
RESET maintenance_work_mem;
SELECT bloom_sigfile_check('person_tenant');
DELETE FROM person WHERE id > 8000;
VACUUM person;
SELECT differences('person_tenant', tenant_conditions());
DROP INDEX person_tenant;

-- Text, an array, an enum and a uuid; two and three columns, of which a search may leave out some.
CREATE INDEX person_code ON person USING sigfile (code, sig);
SELECT differences('person_code', ARRAY['code = ''t1'' AND sig % bloom_query($1, $2)', 'code = ''T1''', 'code IS NULL AND sig = $1']);
DROP INDEX person_code;
CREATE INDEX person_several ON person USING sigfile (tags, colour, uid, sig);
SELECT differences('person_several', ARRAY['tags = ''{1,NULL,1}'' AND colour = ''red'' AND uid = md5(''3'')::uuid AND sig % bloom_query($1, $2)',
    'tags = ''{1,NULL,1}'' AND colour = ''red'' AND sig % bloom_query($1, $2)', 'uid = md5(''3'')::uuid AND sig % bloom_query($1, $2)', 'tags IS NULL AND colour = ''blue'' AND uid IS NULL AND sig % bloom_query($1, $2)',
    'colour = ''green'' ORDER BY sig <-> $1 LIMIT 9']);
DROP INDEX person_several;
CREATE INDEX person_both ON person USING sigfile (small, (share * 2), sig);
SELECT differences('person_both', ARRAY['small = 3 AND share * 2 = 4 AND sig % bloom_query($1, $2)', 'small = 3::bigint AND share * 2 = 4.00 AND sig % bloom_query($1, $2)', 'small = 2::int AND sig % bloom_query($1, $2)']);
DROP INDEX person_both;
-- A partial index, and a constraint's index that serves searches.
CREATE INDEX person_part ON person USING sigfile (tenant, sig) WHERE small > 2;
SELECT differences('person_part', ARRAY['tenant = 3 AND small > 2 AND sig % bloom_query($1, $2)']);
DROP INDEX person_part;
CREATE INDEX person_query ON person USING sigfile (tenant, (bloom_query(sig, 0.99)));
SELECT differences('person_query', ARRAY['tenant = 3 AND sig % bloom_query($1, $2)', 'tenant IS NULL AND sig % bloom_query($1, $2)', 'sig % bloom_query($1, $2)']);
SELECT bloom_sigfile_check('person_query');
DROP INDEX person_query;

-- Values with equal hashes: what is found is checked again.
SELECT hashtext('t1481') = hashtext('t45040') AS equal;
CREATE TABLE few (tenant text, sig bloom, CONSTRAINT once EXCLUDE USING sigfile (tenant WITH =, (bloom_query(sig, 0.85)) WITH %));
INSERT INTO few VALUES ('t1481', bloom_signature('Erika Mustermann')), ('t45040', bloom_signature('Erika Mustermann'));
SET enable_seqscan = off;
SELECT tenant FROM few WHERE tenant = 't1481' AND sig % bloom_query(bloom_signature('Erika Mustermann'), 0.5);
SELECT tenant FROM few WHERE tenant = 't45040' ORDER BY sig <-> bloom_signature('Otto');
RESET enable_seqscan;
-- A constraint for each tenant. NULL does not conflict, neither as a tenant nor as a signature.
INSERT INTO few VALUES ('t1481', bloom_signature('erika mustermann'));
INSERT INTO few VALUES ('other', bloom_signature('erika mustermann')), (NULL, bloom_signature('erika mustermann')), (NULL, bloom_signature('erika mustermann')), ('t1481', NULL), ('t1481', NULL);
INSERT INTO few VALUES ('t45040', bloom_signature('Erika Musterman')) ON CONFLICT DO NOTHING;
UPDATE few SET tenant = 't1481' WHERE tenant = 'other';
SELECT tenant, count(*), count(sig) FROM few GROUP BY 1 ORDER BY 1;
SELECT bloom_sigfile_check('once');
DROP TABLE few;

-- What cannot be indexed.
CREATE INDEX ON person USING sigfile (tenant, small, code, colour, sig);
CREATE INDEX ON person USING sigfile (sig, tenant);
CREATE INDEX ON person USING sigfile (sig, sig);
CREATE INDEX ON person USING sigfile (tenant);
CREATE INDEX ON person USING sigfile (tenant, small);
CREATE UNLOGGED TABLE wrong (tenant int, sig bloom);
CREATE INDEX ON wrong USING sigfile (sig, tenant);
DROP TABLE wrong;
CREATE TABLE wrong (price money, place point, sig bloom);
CREATE INDEX ON wrong USING sigfile (price, sig);
CREATE INDEX ON wrong USING sigfile (place, sig);
-- An operator class of one's own.
CREATE FUNCTION money_hash(money) RETURNS int IMMUTABLE STRICT PARALLEL SAFE LANGUAGE sql AS 'SELECT hashint8(($1::numeric * 100)::bigint)';
CREATE OPERATOR CLASS money_tenants DEFAULT FOR TYPE money USING sigfile AS OPERATOR 1 =, FUNCTION 1 money_hash(money);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'money_tenants';
CREATE INDEX ON wrong USING sigfile (price, sig);
INSERT INTO wrong SELECT (i % 3)::money, '(0,0)', bloom_signature('same') FROM generate_series(1, 10) AS i;
SET enable_seqscan = off;
SELECT count(*) FROM wrong WHERE price = '1' AND sig = bloom_signature('same');
RESET enable_seqscan;
DROP TABLE wrong;
-- Classes that lack something.
CREATE FUNCTION no_hash(point) RETURNS float8 IMMUTABLE STRICT LANGUAGE sql AS 'SELECT 0.0';
CREATE OPERATOR CLASS point_tenants FOR TYPE point USING sigfile AS OPERATOR 2 ~=, FUNCTION 1 no_hash(point);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'point_tenants';
DROP OPERATOR FAMILY point_tenants USING sigfile;
CREATE OPERATOR CLASS box_tenants FOR TYPE box USING sigfile AS OPERATOR 1 ~=;
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'box_tenants';
DROP OPERATOR FAMILY box_tenants USING sigfile;
DROP OPERATOR FAMILY money_tenants USING sigfile;
DROP FUNCTION money_hash, no_hash;

-- Every class is valid, and there is one for each type that access method hash has one for.
SELECT opcname FROM pg_opclass JOIN pg_am ON pg_am.oid = opcmethod WHERE amname = 'sigfile' AND NOT amvalidate(pg_opclass.oid);
SELECT opcintype::regtype FROM pg_opclass JOIN pg_am ON pg_am.oid = opcmethod WHERE amname = 'hash' AND opcdefault AND opcintype < 16384
EXCEPT SELECT opcintype::regtype FROM pg_opclass JOIN pg_am ON pg_am.oid = opcmethod WHERE amname = 'sigfile' AND opcdefault;
-- Operators and hash functions are those of hash.
SELECT amopopr::regoperator FROM pg_amop JOIN pg_am ON pg_am.oid = amopmethod WHERE amname = 'hash' AND EXISTS (SELECT 1 FROM pg_opclass WHERE opcfamily = amopfamily AND opcdefault AND opcintype < 16384)
    AND amoplefttype < 16384
EXCEPT SELECT amopopr::regoperator FROM pg_amop JOIN pg_am ON pg_am.oid = amopmethod WHERE amname = 'sigfile';

-- The planner knows: rows of a tenant, and what a search in it costs. A parameter whose value is not known, and a join.
CREATE INDEX person_tenant ON person USING sigfile (tenant, sig);
ANALYZE person;
SET plan_cache_mode = force_generic_plan;
PREPARE search(bigint, bloom) AS SELECT id FROM person WHERE tenant = $1 AND sig % bloom_query($2, 0.9);
EXPLAIN (COSTS OFF) EXECUTE search(3, bloom_signature('x'));
RESET plan_cache_mode;
EXPLAIN (COSTS OFF) SELECT a.id FROM (VALUES (1, 2::bigint, bloom_signature('x'))) AS a(id, tenant, sig) JOIN person AS b ON a.tenant = b.tenant AND b.sig % bloom_query(a.sig, 0.9);
EXPLAIN (COSTS OFF) SELECT sig FROM person WHERE sig % bloom_query(bloom_signature('x'), 0.99);
EXPLAIN (COSTS OFF) SELECT sig FROM person WHERE tenant = 3 AND sig % bloom_query(bloom_signature('x'), 0.99);
CREATE FUNCTION cost(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan #>> '{0,Plan,Total Cost}';
END $$;
SET enable_seqscan = off;
SELECT cost('SELECT id FROM person WHERE tenant = 20 AND sig % bloom_query(bloom_signature(''x''), 0.6)') < cost('SELECT id FROM person WHERE sig % bloom_query(bloom_signature(''x''), 0.6)') AS "a tenant costs less";
RESET enable_seqscan;
-- Jobs over all pairs, and guards, take the table or another index.
SELECT count(*) = (SELECT count(*) FROM person AS a JOIN person AS b ON a.id < b.id AND bloom_sim(a.sig, b.sig) >= 0.97 WHERE a.id % 40 = 0 AND b.id % 40 = 0)
FROM bloom_duplicates('person', 'id', 'sig', 0.97) WHERE a::int % 40 = 0 AND b::int % 40 = 0;
DROP FUNCTION person, differences, tenant_conditions, cost;
DROP TABLE person;
DROP TYPE colour;
