-- What a merge has deleted or changed comes back byte by byte, whatever the settings of the two sessions, and users' casts and triggers.
SET client_min_messages = warning;
\set SHOW_CONTEXT never
\pset null '-'
CREATE SCHEMA a;
CREATE SCHEMA b;
CREATE TABLE a.t (x int);
CREATE TABLE b.t (x int);
CREATE FUNCTION a.f(int) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION a.f(text) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE FUNCTION all_good(text) RETURNS mood LANGUAGE sql IMMUTABLE AS $$ SELECT 'good'::mood $$;
CREATE CAST (text AS mood) WITH FUNCTION all_good(text);
CREATE TYPE pair AS (m mood, n numeric, r regclass);
CREATE DOMAIN moods AS mood[];
CREATE TYPE span AS RANGE (subtype = mood);
CREATE TABLE person (id int PRIMARY KEY, rel regclass, fn regproc, op regoper, typ regtype, arr text[], low int[], m mood, ms moods, p pair, ps pair[], s span, doc json, b bytea, f4 float4, f8 float8, n numeric, c money,
    ts timestamptz, iv interval, d date, ch char(5), bit varbit, tv tsvector, q int4multirange, sig bloom, pt point, tz timetz);
INSERT INTO person (id) VALUES (1);
INSERT INTO person VALUES (2, 'a.t', 'a.f(int)'::regprocedure::oid, 'pg_catalog.+(int,int)'::regoperator::oid, 'a.t', '{x,NULL,"NULL"}', '[2:3]={1,NULL}', 'bad', '{bad,NULL,good}', '(bad,1.50,a.t)', '{"(bad,1.0,a.t)",NULL}', '[bad,bad]',
    '{"b": 1,  "b":2}', '\x00ff', 0.1::float4, 1e-5 / 3, 1.500, '1000.50', '2024-02-03 04:05:06.789+00', '-1 mon 2 days -00:00:00.5', '2024-02-03', 'ab', '101', '''a b'':3A c:2', '{[1,3),[5,7)}',
    bloom_signature('Erika'), point(1e-5 / 3, '-0'), '10:00:00+01:02:03'), (3, 'b.t', NULL, 0, NULL, '{}', NULL, NULL, '{}', '(,,)', '{}', 'empty', '[]', '', 'NaN', '-infinity', 'NaN', '-0.01', 'infinity', '0', '-infinity', '', '', '', '{}', NULL, NULL, NULL);
CREATE TABLE before AS SELECT * FROM person;
CREATE TABLE visit (id int PRIMARY KEY, person int REFERENCES person, at regclass DEFAULT 'a.t');
INSERT INTO visit VALUES (1, 2), (2, 3);
-- what triggers see is written down
CREATE TABLE seen (what text, settings text[]);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SET client_min_messages = error AS $$
BEGIN
    INSERT INTO public.seen VALUES (TG_TABLE_NAME || ' ' || TG_WHEN || ' ' || TG_OP, (SELECT pg_catalog.array_agg(pg_catalog.current_setting(n) ORDER BY n)
        FROM pg_catalog.unnest('{search_path,array_nulls,xmloption,quote_all_identifiers,extra_float_digits,datestyle,intervalstyle,timezone,bytea_output,lc_monetary}'::text[]) AS n));
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;
CREATE TRIGGER z BEFORE INSERT OR UPDATE OR DELETE ON person FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER zz AFTER INSERT OR UPDATE OR DELETE ON person FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER z BEFORE UPDATE ON visit FOR EACH ROW EXECUTE FUNCTION note();
CREATE TABLE clusters AS SELECT 1 AS cluster, id AS key, id = 1 AS keep FROM person;
SET search_path = public, a;
SET datestyle = 'German, DMY';
SET intervalstyle = 'iso_8601';
SET extra_float_digits = -5;
SET timezone = 'Asia/Kathmandu';
SET bytea_output = 'escape';
SET xmloption = document;
SET quote_all_identifiers = on;
SELECT id, deleted, redirected FROM bloom_merge('clusters', 'person', 'id');
SELECT DISTINCT what, settings FROM seen ORDER BY 1;
TRUNCATE seen;
SET search_path = public, b;
SET array_nulls = off;
SET datestyle = 'SQL, MDY';
SET intervalstyle = 'sql_standard';
SET extra_float_digits = 0;
SET timezone = 'America/New_York';
SET bytea_output = 'hex';
SET xmloption = content;
SET quote_all_identifiers = off;
SELECT bloom_unmerge(1);
SELECT DISTINCT what, settings FROM seen ORDER BY 1;
RESET ALL;
\pset null '-'
SELECT count(*) AS same FROM person AS now JOIN before AS was ON now *= was;
SELECT p.id, p.rel::oid = q.rel::oid AS rel, p.fn::oid = q.fn::oid AS fn, p.ch::text, p.m, p.arr FROM person AS p JOIN before AS q USING (id) ORDER BY 1;
SELECT * FROM visit ORDER BY id;
SELECT old ->> 'rel' AS rel, old ->> 'fn' AS fn, old ->> 'op' AS op, old ->> 'ts' AS ts FROM bloom_merges WHERE key = '2' AND action = 'delete';
SET client_min_messages = warning;
DROP TABLE person, before, visit, seen, clusters, bloom_merges;
DROP TYPE pair, span, mood CASCADE;
DROP FUNCTION note();
DROP SCHEMA a, b CASCADE;
