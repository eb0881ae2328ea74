-- Pairs: the same as a nested loop over the table finds, with an index and without.
SET client_min_messages = warning;
CREATE TABLE febrl (rec_id text, cluster_id int, given_name text, surname text, street_number text, address_1 text, address_2 text, suburb text, postcode text, state text, date_of_birth text, soc_sec_id text);
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/data/febrl3.csv'
COPY febrl FROM :'file' (FORMAT csv, HEADER);
CREATE TABLE person (id int PRIMARY KEY, sig bloom);
INSERT INTO person SELECT row_number() OVER (ORDER BY rec_id), bloom_signature(concat_ws(' ', given_name, surname, date_of_birth, suburb), max_chars => 60) FROM febrl;
INSERT INTO person VALUES (10001, NULL), (10002, NULL), (10003, bloom_signature('', max_chars => 60)), (10004, bloom_signature('', max_chars => 60));
CREATE TABLE truth AS
SELECT x.id::text AS a, y.id::text AS b, bloom_sim(x.sig, y.sig)::float8 AS similarity FROM person AS x JOIN person AS y ON x.id < y.id WHERE bloom_sim(x.sig, y.sig) + 0 >= 0.6;
SELECT count(*), min(similarity) FROM truth;
-- found, and how many pairs are missing, too many, twice, or have another similarity
CREATE FUNCTION differ(relation regclass, threshold float8, OUT found bigint, OUT differ bigint) LANGUAGE sql AS $$
    WITH pairs AS MATERIALIZED (SELECT * FROM bloom_duplicates(relation, 'id', 'sig', threshold)),
         wanted AS (SELECT * FROM truth WHERE similarity >= threshold)
    SELECT (SELECT count(*) FROM pairs), (SELECT count(*) FROM ((TABLE pairs EXCEPT ALL TABLE wanted) UNION ALL (TABLE wanted EXCEPT ALL TABLE pairs)) AS d)
$$;
SELECT t, (differ('person', t)).* FROM unnest('{1,0.95,0.85,0.7,0.6}'::float8[]) AS t;
CREATE INDEX person_sig ON person USING sigfile (sig);
SELECT t, (differ('person', t)).* FROM unnest('{1,0.95,0.85,0.7,0.6}'::float8[]) AS t;
-- one scan of the index each time; what was counted before goes to the statistics first
SELECT pg_stat_force_next_flush() IS NULL AS x \gset
BEGIN;
SELECT count(*) > 0 AS found FROM bloom_duplicates('person', 'id', 'sig', 0.95);
SELECT pg_stat_get_xact_numscans('person_sig'::regclass) AS scans;
COMMIT;
-- with workers, and in little memory
SET maintenance_work_mem = '1MB';
SET max_parallel_workers_per_gather = 2;
SELECT t, (differ('person', t)).* FROM unnest('{1,0.85,0.6}'::float8[]) AS t;
SET max_parallel_workers_per_gather = 0;
SELECT t, (differ('person', t)).* FROM unnest('{1,0.85,0.6}'::float8[]) AS t;
-- several segments, a tail, dead rows; rows of the same transaction
CREATE TABLE grown (LIKE person);
CREATE INDEX grown_sig ON grown USING sigfile (sig) WITH (tail_limit = 300);
-- in one transaction, which keeps replaced pages from being used again, so that little is merged
BEGIN;
INSERT INTO grown SELECT * FROM person WHERE id % 2 = 0;
SAVEPOINT s; INSERT INTO grown TABLE person; ROLLBACK TO s;
INSERT INTO grown SELECT * FROM person WHERE id % 2 = 1;
DELETE FROM grown WHERE id % 7 = 0;
INSERT INTO grown SELECT * FROM person WHERE id % 7 = 0;
UPDATE grown SET id = id WHERE id % 11 = 0;
COMMIT;
SELECT segments > 2 AS segments, tail_rows > 0 AS tail FROM bloom_sigfile_stats('grown_sig');
SELECT t, (differ('grown', t)).* FROM unnest('{1,0.85,0.6}'::float8[]) AS t;
VACUUM grown;
SELECT (differ('grown', 0.85)).*;
BEGIN;
DELETE FROM grown WHERE id % 2 = 0;
SELECT (SELECT count(*) FROM truth WHERE a::int % 2 = 1 AND b::int % 2 = 1) = count(*) AS as_deleted FROM bloom_duplicates('grown', 'id', 'sig', 0.6);
ROLLBACK;
-- an index of another kind, on an expression, in part or not valid is none
DROP INDEX grown_sig;
CREATE INDEX ON grown USING gist (sig);
CREATE INDEX ON grown USING sigfile (sig) WHERE id > 100;
CREATE INDEX ON grown USING sigfile ((sig | sig));
CREATE INDEX ON grown USING sigfile ((bloom_query(sig, 0.8)));
SELECT t, (differ('grown', t)).* FROM unnest('{0.85,0.6}'::float8[]) AS t;
RESET maintenance_work_mem;
RESET max_parallel_workers_per_gather;
-- Partitions, inheritance, views, temporary and unlogged tables, materialised views.
CREATE TABLE parted (id int, sig bloom) PARTITION BY LIST ((id % 3));
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES IN (0);
CREATE TABLE parted_1 (gone int, sig bloom, id int);
ALTER TABLE parted_1 DROP COLUMN gone;
ALTER TABLE parted ATTACH PARTITION parted_1 FOR VALUES IN (1);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES IN (2);
INSERT INTO parted TABLE person;
SELECT (differ('parted', 0.85)).*;
CREATE INDEX ON parted USING sigfile (sig);
SELECT (differ('parted', 0.85)).*;
DROP INDEX parted_sig_idx;
CREATE INDEX ON parted_1 USING sigfile (sig);
SELECT (differ('parted', 0.85)).*;
-- of both classes, whose pages are not alike
CREATE INDEX ON parted_0 USING sigfile (sig);
CREATE INDEX ON parted_2 USING sigfile ((bloom_query(sig, 0.8))) WITH (tail_limit = 300);
SELECT (differ('parted', 0.85)).*;
DROP INDEX parted_0_sig_idx;
CREATE INDEX ON parted_0 USING sigfile ((bloom_query(sig, 0.8)));
INSERT INTO parted VALUES (20001, bloom_signature('nobody', max_chars => 60)), (20002, bloom_signature('no one', max_chars => 60)), (20003, NULL);
SELECT (differ('parted', 0.85)).*;
CREATE TABLE parent (id int, sig bloom);
CREATE INDEX ON parent USING sigfile (sig);
CREATE TABLE child () INHERITS (parent);
CREATE INDEX ON child USING sigfile (sig);
INSERT INTO parent SELECT * FROM person WHERE id % 2 = 0;
INSERT INTO child SELECT * FROM person WHERE id % 2 = 1;
SELECT (differ('parent', 0.85)).*;
CREATE VIEW seen AS TABLE person;
SELECT (differ('seen', 0.85)).*;
CREATE MATERIALIZED VIEW materialised AS TABLE person;
CREATE INDEX ON materialised USING sigfile (sig);
SELECT (differ('materialised', 0.85)).*;
CREATE UNIQUE INDEX ON materialised (id);
REFRESH MATERIALIZED VIEW materialised WITH NO DATA;
SELECT * FROM bloom_duplicates('materialised', 'id', 'sig', 0.85);
CREATE TEMP TABLE passing AS TABLE person;
CREATE INDEX ON passing USING sigfile (sig);
SELECT (differ('passing', 0.85)).*;
-- in a transaction that may not write, behind a cursor, beside other sets
BEGIN READ ONLY;
SELECT (differ('person', 0.95)).*;
DECLARE c CURSOR FOR SELECT a FROM bloom_duplicates('person', 'id', 'sig', 0.9) LIMIT 3;
MOVE 2 FROM c;
CLOSE c;
COMMIT;
SELECT count(*) FROM (SELECT bloom_duplicates('person', 'id', 'sig', 0.95)) AS f;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT (differ('person', 0.95)).*;
COMMIT;
-- None, one, empty ones, equal ones by the thousand.
CREATE TABLE few (id int, sig bloom);
SELECT * FROM bloom_duplicates('few', 'id', 'sig', 0);
CREATE INDEX few_sig ON few USING sigfile (sig);
SELECT * FROM bloom_duplicates('few', 'id', 'sig', 0);
INSERT INTO few VALUES (1, bloom_signature('Erika')), (2, NULL);
SELECT * FROM bloom_duplicates('few', 'id', 'sig', 0);
INSERT INTO few VALUES (3, bloom_signature('')), (4, bloom_signature(''));
SELECT * FROM bloom_duplicates('few', 'id', 'sig', 0) ORDER BY 1, 2;
INSERT INTO few SELECT 4 + i, bloom_signature('Erika') FROM generate_series(1, 2999) AS i;
SELECT count(*) = 3000 * 2999 / 2 AS all_pairs, count(DISTINCT similarity) AS similarities FROM bloom_duplicates('few', 'id', 'sig', 0.5);
VACUUM few;
SELECT count(*) = 3000 * 2999 / 2 AS all_pairs FROM bloom_duplicates('few', 'id', 'sig', 1);
DROP INDEX few_sig;
SELECT count(*) = 3000 * 2999 / 2 AS all_pairs FROM bloom_duplicates('few', 'id', 'sig', 1);
-- Keys: in their own order, as text; with the default order of no type as text, too.
CREATE TABLE keyed (number numeric, name text COLLATE "C", pair point, kind name, sig bloom);
INSERT INTO keyed VALUES (10, 'z', '(2,1)', 'b', bloom_signature('Erika')), (9, 'y', '(10,1)', 'a', bloom_signature('Erika'));
CREATE INDEX keyed_sig ON keyed USING sigfile (sig);
SELECT key, (bloom_duplicates('keyed', key, 'sig', 1)).* FROM unnest('{number,name,pair,kind}'::name[]) AS key;
DROP INDEX keyed_sig;
SELECT key, (bloom_duplicates('keyed', key, 'sig', 1)).* FROM unnest('{number,name,pair,kind}'::name[]) AS key;
CREATE TYPE whole AS (number int, name text);
CREATE VIEW composite AS SELECT ROW(number, name)::whole AS whole, sig FROM keyed;
SELECT * FROM bloom_duplicates('composite', 'whole', 'sig', 1);
-- Between two tables.
CREATE TABLE left_side AS SELECT 'l' || id AS id, sig FROM person WHERE id % 2 = 0;
CREATE TABLE right_side AS SELECT id AS code, sig AS signature FROM person WHERE id % 3 = 0;
CREATE FUNCTION linkage_differs(threshold float8, OUT found bigint, OUT differ bigint) LANGUAGE sql AS $$
    WITH pairs AS MATERIALIZED (SELECT * FROM bloom_linkage('left_side', 'id', 'sig', 'right_side', 'code', 'signature', threshold)),
         wanted AS (SELECT id AS a, code::text AS b, bloom_sim(sig, signature)::float8 AS similarity FROM left_side JOIN right_side ON bloom_sim(sig, signature) + 0 >= threshold)
    SELECT (SELECT count(*) FROM pairs), (SELECT count(*) FROM ((TABLE pairs EXCEPT ALL TABLE wanted) UNION ALL (TABLE wanted EXCEPT ALL TABLE pairs)) AS d)
$$;
SELECT t, (linkage_differs(t)).* FROM unnest('{1,0.7}'::float8[]) AS t;
CREATE INDEX ON left_side USING sigfile (sig);
SELECT t, (linkage_differs(t)).* FROM unnest('{1,0.7}'::float8[]) AS t;
CREATE INDEX ON right_side USING sigfile (signature) WITH (tail_limit = 300);
SELECT t, (linkage_differs(t)).* FROM unnest('{1,0.7}'::float8[]) AS t;
INSERT INTO right_side SELECT -code, signature FROM right_side WHERE code % 9 = 0;
SELECT t, (linkage_differs(t)).* FROM unnest('{1,0.7}'::float8[]) AS t;
SET maintenance_work_mem = '1MB';
DROP INDEX left_side_sig_idx;
SELECT t, (linkage_differs(t)).* FROM unnest('{1,0.7}'::float8[]) AS t;
RESET maintenance_work_mem;
-- Profiles: a missing attribute takes no part.
CREATE TABLE profiled AS
SELECT row_number() OVER (ORDER BY rec_id)::int AS id, bloom_signature(given_name) AS given, bloom_signature(surname) AS "sur name", CASE WHEN soc_sec_id::int % 5 > 0 THEN bloom_signature(date_of_birth, 2, 10) END AS born
FROM febrl WHERE suburb < 'h';
CREATE TABLE profile_truth AS
SELECT x.id::text AS a, y.id::text AS b, bloom_profile_sim(ARRAY[x.given, x."sur name", x.born], ARRAY[y.given, y."sur name", y.born], '{1,2,0.5}')::float8 AS similarity
FROM profiled AS x JOIN profiled AS y ON x.id < y.id WHERE bloom_profile_sim(ARRAY[x.given, x."sur name", x.born], ARRAY[y.given, y."sur name", y.born], '{1,2,0.5}') >= 0.6;
CREATE FUNCTION profile_differs(threshold float8, OUT found bigint, OUT differ bigint) LANGUAGE sql AS $$
    WITH pairs AS MATERIALIZED (SELECT * FROM bloom_duplicates('profiled', 'id', '{given,sur name,born}', '{1,2,0.5}', threshold, coverage => 0)),
         wanted AS (SELECT * FROM profile_truth WHERE similarity >= threshold)
    SELECT (SELECT count(*) FROM pairs), (SELECT count(*) FROM ((TABLE pairs EXCEPT ALL TABLE wanted) UNION ALL (TABLE wanted EXCEPT ALL TABLE pairs)) AS d)
$$;
SELECT t, (profile_differs(t)).* FROM unnest('{1,0.9,0.75,0.6}'::float8[]) AS t;
SET maintenance_work_mem = '1MB';
SELECT t, (profile_differs(t)).* FROM unnest('{1,0.6}'::float8[]) AS t;
RESET maintenance_work_mem;
WITH pairs AS MATERIALIZED (SELECT * FROM bloom_linkage('profiled', 'id', '{given,sur name,born}', 'profiled', 'id', '{given,sur name,born}', '{1,2,0.5}', 0.75, coverage => 0))
SELECT count(*) FILTER (WHERE a = b) = (SELECT count(*) FROM profiled WHERE num_nonnulls(given, "sur name", born) > 0) AS itself,
       count(*) FILTER (WHERE a <> b) = (SELECT 2 * count(*) FROM profile_truth WHERE similarity >= 0.75) AS others FROM pairs;
-- an attribute without weight
SELECT count(*) = (SELECT count(*) FROM bloom_duplicates('profiled', 'id', 'given', 0.9)) AS same FROM bloom_duplicates('profiled', 'id', '{given,born}', '{3,0}', 0.9);
-- Errors.
SELECT * FROM bloom_duplicates('person', 'id', 'sig', 1.5);
SELECT * FROM bloom_duplicates('person', 'id', 'sig', 'NaN');
SELECT * FROM bloom_duplicates('person', 'id', 'sig', NULL);
SELECT * FROM bloom_duplicates('person', 'no such', 'sig', 0.9);
SELECT * FROM bloom_duplicates('person', 'id', 'no such', 0.9);
SELECT * FROM bloom_duplicates('person', 'sig', 'id', 0.9);
SELECT * FROM bloom_duplicates('person', 'ctid', 'sig', 0.9);
SELECT * FROM bloom_duplicates('person_sig', 'id', 'sig', 0.9);
SELECT * FROM bloom_duplicates(0::oid, 'id', 'sig', 0.9);
SELECT * FROM bloom_duplicates('profiled', 'id', '{given,born}', '{1}', 0.9);
SELECT * FROM bloom_duplicates('profiled', 'id', '{}', '{}', 0.9);
SELECT * FROM bloom_duplicates('profiled', 'id', '{given,born}', '{1,-1}', 0.9);
SELECT * FROM bloom_duplicates('profiled', 'id', '{given,born}', '{0,0}', 0.9);
SELECT * FROM bloom_duplicates('profiled', 'id', '{given,NULL}', '{1,1}', 0.9);
SELECT * FROM bloom_linkage('person', 'id', 'sig', 'few', 'id', 'sig', 0.9);
CREATE TABLE mixed AS SELECT 1 AS id, bloom_signature('x') AS sig UNION ALL SELECT 2, bloom_signature('x', 2);
SELECT * FROM bloom_duplicates('mixed', 'id', 'sig', 0.9);
CREATE TABLE nameless AS SELECT NULL::int AS id, bloom_signature('x') AS sig FROM generate_series(1, 2);
SELECT * FROM bloom_duplicates('nameless', 'id', 'sig', 0.9);
CREATE INDEX ON nameless USING sigfile (sig);
SELECT * FROM bloom_duplicates('nameless', 'id', 'sig', 0.9);
CREATE TABLE wide AS SELECT i AS id, bloom_signature('x', max_chars => 5000, fpr => 0.000001) AS sig FROM generate_series(1, 2) AS i;
SELECT * FROM bloom_duplicates('wide', 'id', 'sig', 0.9);
SET statement_timeout = '20ms';
SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', 0.1);
RESET statement_timeout;
-- Privileges: of the columns that are read, policies included; names of every kind.
CREATE ROLE bloom_ident_reader;
CREATE SCHEMA "Odd Schema";
CREATE TABLE "Odd Schema"."a ""table" ("the key" int, "S" bloom, secret text);
INSERT INTO "Odd Schema"."a ""table" SELECT i, bloom_signature('Erika'), 'x' FROM generate_series(1, 3) AS i;
CREATE INDEX ON "Odd Schema"."a ""table" USING sigfile ("S");
SELECT * FROM bloom_duplicates('"Odd Schema"."a ""table"', 'the key', 'S', 1) ORDER BY 1, 2;
-- with all privileges on the table, but none on its schema, neither with an index nor without
GRANT SELECT ON "Odd Schema"."a ""table" TO bloom_ident_reader;
SELECT '"Odd Schema"."a ""table"'::regclass::oid AS odd \gset
SET ROLE bloom_ident_reader;
SELECT * FROM bloom_duplicates(:odd, 'the key', 'S', 1);
SELECT * FROM bloom_duplicates(:odd, 'the key', '{S}', '{1}', 1);
RESET ROLE;
REVOKE SELECT ON "Odd Schema"."a ""table" FROM bloom_ident_reader;
GRANT USAGE ON SCHEMA "Odd Schema" TO bloom_ident_reader;
SET ROLE bloom_ident_reader;
SELECT * FROM bloom_duplicates('"Odd Schema"."a ""table"', 'the key', 'S', 1);
RESET ROLE;
GRANT SELECT ("the key") ON "Odd Schema"."a ""table" TO bloom_ident_reader;
SET ROLE bloom_ident_reader;
SELECT * FROM bloom_duplicates('"Odd Schema"."a ""table"', 'the key', 'S', 1);
RESET ROLE;
GRANT SELECT ("S") ON "Odd Schema"."a ""table" TO bloom_ident_reader;
SET ROLE bloom_ident_reader;
SELECT count(*) FROM bloom_duplicates('"Odd Schema"."a ""table"', 'the key', 'S', 1);
SELECT * FROM bloom_duplicates('"Odd Schema"."a ""table"', 'secret', 'S', 1);
RESET ROLE;
ALTER TABLE "Odd Schema"."a ""table" ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible ON "Odd Schema"."a ""table" USING ("the key" < 3);
SET ROLE bloom_ident_reader;
SELECT * FROM bloom_duplicates('"Odd Schema"."a ""table"', 'the key', 'S', 1);
SET row_security = off;
SELECT * FROM bloom_duplicates('"Odd Schema"."a ""table"', 'the key', 'S', 1);
RESET row_security;
RESET ROLE;
SELECT count(*) FROM bloom_duplicates('"Odd Schema"."a ""table"', 'the key', 'S', 1);
-- What lies first on the search_path is not called.
CREATE SCHEMA evil;
CREATE FUNCTION evil.caught(int, int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'caught'; END $$;
CREATE OPERATOR evil.< (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.caught);
CREATE TABLE evil.person (id int, sig bloom);
SELECT 'public.seen'::regclass::oid AS seen \gset
SET search_path = evil, pg_catalog, public;
SELECT count(*) > 0 AS found FROM public.bloom_duplicates(:seen, 'id', 'sig', 0.9);
RESET search_path;
DROP SCHEMA evil, "Odd Schema" CASCADE;
DROP ROLE bloom_ident_reader;
DROP TABLE febrl, person, truth, grown, parted, parent, few, keyed, left_side, right_side, profiled, profile_truth, mixed, nameless, wide CASCADE;
DROP TYPE whole;
DROP FUNCTION differ, linkage_differs, profile_differs;
