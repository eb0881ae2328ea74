-- bloom_duplicates, argument new: only pairs of which one record at least is among those that a relation names.
SET client_min_messages = warning;
CREATE SCHEMA new_records;
SET search_path = new_records, public;
CREATE FUNCTION name_of(i int) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$ SELECT translate(left(md5((i / 4)::text), 12), '0123456789', 'ghijklmnop') || repeat('x', i % 4) $$;
CREATE TABLE person (id int PRIMARY KEY, tenant int, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED,
    tokens text[] GENERATED ALWAYS AS (regexp_split_to_array(name, '')) STORED, note text);
INSERT INTO person SELECT i, CASE WHEN i % 7 > 0 THEN i % 3 END, name_of(i) FROM generate_series(1, 600) AS i;
INSERT INTO person (id, name) VALUES (601, NULL), (602, ''), (603, '');
-- with keys that are not there, one that comes twice, and one of a record without a signature
CREATE TABLE fresh (key text, at timestamptz DEFAULT now());
INSERT INTO fresh SELECT (i * 37 % 600 + 1)::text FROM generate_series(1, 40) AS i;
INSERT INTO fresh VALUES ('601'), ('602'), ('603'), ('99999'), ('-5'), ('38'), ('38');
CREATE FUNCTION raised(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE state text; message text; hint text; n bigint;
BEGIN
    EXECUTE 'SELECT count(*) FROM (' || query || ') AS q' INTO n;
    RETURN n || ' rows';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' | ', state, message, nullif(hint, ''));
END $$;
-- the pairs that are found, and how many are only in one of these and of all pairs with a key that is new
CREATE FUNCTION compare(arguments text, new text DEFAULT 'fresh') RETURNS TABLE (found bigint, different bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('
        WITH found AS (SELECT * FROM bloom_duplicates(%1$s, new => %2$L)),
            expected AS (SELECT * FROM bloom_duplicates(%1$s) WHERE a IN (SELECT key FROM %2$s) OR b IN (SELECT key FROM %2$s))
        SELECT (SELECT count(*) FROM found),
            (SELECT count(*) FROM ((TABLE found EXCEPT ALL TABLE expected) UNION ALL (TABLE expected EXCEPT ALL TABLE found)) AS x)', arguments, new);
END $$;
CREATE VIEW seen AS SELECT * FROM person;
CREATE FUNCTION compare_all(rel text) RETURNS TABLE (threshold float8, arguments text, found bigint, different bigint) LANGUAGE sql AS $$
    SELECT t, a, c.* FROM unnest('{1,0.9,0.7,0.4,0.15}'::float8[]) AS t,
        unnest('{""," within => ''{tenant}''"," verify => ''tokens''"," verify => ''tokens'', margin => 0.2, within => ''{tenant}''"}'::text[]) AS a,
        compare(format('%L, ''id'', ''sig'', %s%s', rel, t, ',' || nullif(a, ''))) AS c ORDER BY 2, 1 DESC $$;
-- without an index, by an index with all rows in its tail, by one of a segment and a tail, and by one of several segments
SELECT * FROM compare_all('seen');
CREATE INDEX person_sig ON person USING sigfile (sig);
SELECT * FROM compare_all('person') EXCEPT SELECT * FROM compare_all('seen');
INSERT INTO person (id, tenant, name) SELECT i, i % 3, name_of(i) FROM generate_series(4001, 5500) AS i;
INSERT INTO fresh SELECT i FROM generate_series(4001, 5500, 50) AS i;
SELECT * FROM compare_all('person') EXCEPT SELECT * FROM compare_all('seen');
SELECT * FROM compare('''person'', ''id'', ''sig'', 0');
REINDEX INDEX person_sig;
SELECT * FROM compare_all('person');
-- versions that the index knows by the place of another one, dead rows
UPDATE person SET note = 'x' WHERE id % 3 = 0;
UPDATE person SET name = name || 'y' WHERE id % 5 = 0;
DELETE FROM person WHERE id % 11 = 0;
SELECT * FROM compare_all('person') EXCEPT SELECT * FROM compare_all('seen');
-- many new records, which are searched for together; and too many for the memory
CREATE VIEW all_of_them AS SELECT id::text AS key FROM person;
SELECT * FROM compare('''person'', ''id'', ''sig'', 0.6', 'all_of_them');
SELECT * FROM compare('''seen'', ''id'', ''sig'', 0.6', 'all_of_them');
SET maintenance_work_mem = '1MB';
SELECT * FROM compare('''person'', ''id'', ''sig'', 0.5', 'all_of_them');
SELECT * FROM compare('''seen'', ''id'', ''sig'', 0.5');
RESET maintenance_work_mem;
-- none
CREATE VIEW nothing AS SELECT key FROM fresh WHERE false;
SELECT * FROM compare('''person'', ''id'', ''sig'', 0.5', 'nothing');
SELECT * FROM compare('''seen'', ''id'', ''sig'', 0.5', 'nothing');
-- weighted
ALTER TABLE person ADD other bloom GENERATED ALWAYS AS (bloom_signature(right(name, 8))) STORED;
UPDATE person SET name = NULL WHERE id % 17 = 0;
SELECT t, c.* FROM unnest('{0.9,0.7,0.4}'::float8[]) AS t, compare(format('''person'', ''id'', ''{sig,other}'', ''{2,1}'', %s', t)) AS c;
-- linkage where one side has an index, or both, or none
CREATE TABLE night AS SELECT id + 10000 AS id, tenant, sig, tokens FROM person WHERE id % 9 = 0;
CREATE TABLE night_indexed AS SELECT * FROM night;
CREATE INDEX ON night_indexed USING sigfile (sig);
CREATE FUNCTION compare_linkage(left_rel text, right_rel text, arguments text) RETURNS TABLE (found bigint, different bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('
        WITH found AS (SELECT * FROM bloom_linkage(%1$L, ''id'', ''sig'', %2$L, ''id'', ''sig'', %3$s)),
            expected AS (SELECT * FROM bloom_linkage(%4$L, ''id'', ''sig'', %5$L, ''id'', ''sig'', %3$s))
        SELECT (SELECT count(*) FROM found), (SELECT count(*) FROM ((TABLE found EXCEPT ALL TABLE expected) UNION ALL (TABLE expected EXCEPT ALL TABLE found)) AS x)',
        left_rel, right_rel, arguments, replace(replace(left_rel, 'person', 'seen'), '_indexed', ''), replace(replace(right_rel, 'person', 'seen'), '_indexed', ''));
END $$;
SELECT l, r, a, c.* FROM (VALUES ('person', 'night'), ('night', 'person'), ('seen', 'night_indexed'), ('night_indexed', 'seen'), ('person', 'person'), ('person', 'night_indexed')) AS v (l, r),
    unnest('{1,0.8,0.4,"0.4, ''{tenant}''","0.6, verify => ''tokens''","0.4, one_to_one => true"}'::text[]) AS a, compare_linkage(l, r, a) AS c ORDER BY 1, 2, 3;
-- a key that two records have, on either side
INSERT INTO night SELECT * FROM night ORDER BY id LIMIT 1;
SELECT raised($$SELECT * FROM bloom_linkage('person', 'id', 'sig', 'night', 'id', 'sig', 0.9)$$);
SELECT raised($$SELECT * FROM bloom_linkage('night_indexed', 'tenant', 'sig', 'seen', 'id', 'sig', 0.9)$$);
-- partitions, each with an index; inheritance, and one without
CREATE TABLE part (id int, sig bloom, tenant int) PARTITION BY HASH (id);
CREATE TABLE part_0 PARTITION OF part FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE part_1 (tenant int, sig bloom, id int);
ALTER TABLE part ATTACH PARTITION part_1 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE INDEX ON part USING sigfile (sig);
INSERT INTO part SELECT id, sig, tenant FROM person;
SELECT t, c.*, w.* FROM unnest('{0.9,0.5}'::float8[]) AS t, compare(format('''part'', ''id'', ''sig'', %s', t)) AS c, compare(format('''part'', ''id'', ''sig'', %s, ''{tenant}''', t)) AS w;
-- keys of other types
CREATE TYPE colour AS ENUM ('red', 'green');
CREATE DOMAIN numbered AS int;
CREATE TABLE kinds (t text COLLATE "C", n numeric, u uuid, d timestamptz, v varchar(20), c char(10), j json, x xid, p point, f float8, o numbered, b bytea, r int4range, sig bloom);
INSERT INTO kinds SELECT 'key ' || i, i / 4.0, md5(i::text)::uuid, '2024-01-01'::timestamptz + i * interval '1 s', 'v' || i, 'c' || i, json_build_object('a', i), i::text::xid, point(i, i), i / 3.0::float8, i,
    decode(md5(i::text), 'hex'), int4range(i, i + 2), bloom_signature(name_of(i)) FROM generate_series(1, 60) AS i;
CREATE VIEW kinds_seen AS SELECT * FROM kinds;
CREATE INDEX ON kinds USING sigfile (sig);
CREATE TABLE of_kind (key text);
CREATE FUNCTION compare_kind(rel text, k name) RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE of_kind;
    EXECUTE format('INSERT INTO of_kind SELECT %I::text FROM kinds WHERE n > 12 OR n < 1', k);
    RETURN QUERY SELECT * FROM compare(format('%L, %L, ''sig'', 0.6', rel, k), 'of_kind');
END $$;
SELECT rel, k, c.* FROM unnest('{kinds,kinds_seen}'::text[]) AS rel, unnest('{t,n,u,d,v,c,j,x,p,f,o,b,r}'::name[]) AS k, compare_kind(rel, k) AS c (found bigint, different bigint);
-- an enum could have a cast of a user's, which would run as the one who calls
CREATE TABLE coloured AS SELECT c::colour AS id, bloom_signature('same') AS sig FROM unnest('{red,green}'::text[]) AS c;
CREATE FUNCTION evil(text) RETURNS colour LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'a cast of a user''s ran'; END $$;
CREATE CAST (text AS colour) WITH FUNCTION evil(text);
TRUNCATE of_kind;
INSERT INTO of_kind VALUES ('red'), ('blue');
SELECT * FROM bloom_duplicates('coloured', 'id', 'sig', 0.9, new => 'of_kind');
-- bad input
SELECT raised($$SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.9, new => 'person')$$);
CREATE VIEW wrong_type AS SELECT id AS key FROM person;
SELECT raised($$SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.9, new => 'wrong_type')$$);
SELECT raised($$SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.9, new => 'person_sig')$$);
SELECT raised($$SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.9, new => 99999)$$);
TRUNCATE of_kind;
INSERT INTO of_kind VALUES ('1'), (NULL);
SELECT rel, raised(format('SELECT * FROM bloom_duplicates(%L, ''id'', ''sig'', 0.9, new => ''of_kind'')', rel)) FROM unnest('{person,seen}'::text[]) AS rel;
SELECT raised($$SELECT * FROM bloom_duplicates('seen', 'id', 'sig', 0.9, '{tenant}', new => 'of_kind')$$);
SELECT raised($$SELECT * FROM bloom_duplicates('person', 'id', '{sig,other}', '{1,1}', 0.9, new => 'of_kind')$$);
UPDATE of_kind SET key = 'no number' WHERE key IS NULL;
SELECT rel, raised(format('SELECT * FROM bloom_duplicates(%L, ''id'', ''sig'', 0.9, new => ''of_kind'')', rel)) FROM unnest('{person,seen}'::text[]) AS rel;
-- a key that two of the new records have, or two of a pair
CREATE TABLE twice AS SELECT * FROM (VALUES (1, bloom_signature('one')), (1, bloom_signature('two')), (2, bloom_signature('two'))) AS v (id, sig);
TRUNCATE of_kind;
INSERT INTO of_kind VALUES ('1');
SELECT raised($$SELECT * FROM bloom_duplicates('twice', 'id', 'sig', 0.9, new => 'of_kind')$$);
CREATE INDEX ON twice USING sigfile (sig);
SELECT raised($$SELECT * FROM bloom_duplicates('twice', 'id', 'sig', 0.9, new => 'of_kind')$$);
UPDATE twice SET id = NULL WHERE id = 2;
DELETE FROM twice WHERE sig = bloom_signature('one');
SELECT raised($$SELECT * FROM bloom_duplicates('twice', 'id', 'sig', 0.9, new => 'of_kind')$$);
-- who may not read the new keys, or sees some of the records
CREATE ROLE new_records_reader;
GRANT USAGE ON SCHEMA new_records TO new_records_reader;
GRANT SELECT ON person, seen TO new_records_reader;
SET ROLE new_records_reader;
SELECT raised($$SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.9, new => 'fresh')$$);
SELECT raised($$SELECT * FROM bloom_duplicates('seen', 'id', 'sig', 0.9, new => 'fresh')$$);
RESET ROLE;
GRANT SELECT (at) ON fresh TO new_records_reader;
SET ROLE new_records_reader;
SELECT raised($$SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.9, new => 'fresh')$$);
RESET ROLE;
GRANT SELECT ON fresh TO new_records_reader;
-- some columns are enough
REVOKE SELECT ON person FROM new_records_reader;
GRANT SELECT (id, sig) ON person TO new_records_reader;
SET ROLE new_records_reader;
SELECT * FROM compare('''person'', ''id'', ''sig'', 0.5');
SELECT raised($$SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.9, '{tenant}', new => 'fresh')$$);
RESET ROLE;
GRANT SELECT ON person TO new_records_reader;
ALTER TABLE fresh ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON fresh FOR SELECT USING (length(key) < 3);
SET ROLE new_records_reader;
SELECT raised($$SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.9, new => 'fresh')$$) = raised($$SELECT * FROM bloom_duplicates('seen', 'id', 'sig', 0.9, new => 'fresh')$$) AS same,
    raised($$SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.9, new => 'fresh')$$);
SET row_security = off;
SELECT raised($$SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.9, new => 'fresh')$$);
RESET row_security;
RESET ROLE;
ALTER TABLE person ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON person FOR SELECT USING (tenant = 1);
SET ROLE new_records_reader;
SELECT * FROM compare('''person'', ''id'', ''sig'', 0.5');
RESET ROLE;
ALTER TABLE person DISABLE ROW LEVEL SECURITY;
DROP SCHEMA new_records CASCADE;
DROP ROLE new_records_reader;
