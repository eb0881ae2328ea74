-- bloom_guard_create: the trigger, if it will be able to do what its arguments say.
CREATE TABLE person (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
CREATE INDEX ON person USING sigfile (sig);
CREATE TABLE review (key text, duplicate text, similarity float8, found_at timestamptz, PRIMARY KEY (key, duplicate));
CREATE TABLE list (id int PRIMARY KEY, other bloom);
CREATE INDEX ON list USING gist (other);
INSERT INTO list VALUES (1, bloom_signature('Max Moritz'));
INSERT INTO person VALUES (1, 'Erika Mustermann');
\set triggers 'SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal AND tgparentid = 0 ORDER BY tgname;'
-- every action
SELECT bloom_guard_create('person', 'sig', 0.8, 'reject');
INSERT INTO person VALUES (2, 'Erica Mustermann');
DROP TRIGGER person_sig_guard ON person;
SELECT bloom_guard_create('person', 'sig', 0.8, 'warn', 'message', 'look, it''s \there');
INSERT INTO person VALUES (2, 'Erica Mustermann');
SELECT bloom_guard_create('person', 'sig', 0.8, 'flag', 'review', 'review');
INSERT INTO person VALUES (3, 'Erica  Mustermann');
SELECT key, duplicate FROM review ORDER BY duplicate;
SELECT bloom_guard_create('person', 'sig', 0.8, 'skip');
INSERT INTO person VALUES (4, 'Erica Mustermann');
SELECT bloom_guard_create('person', 'sig', 0.7, 'reject', 'blocklist', 'public.list', 'blocklist_column', 'other');
INSERT INTO person VALUES (5, 'Max  Moritz');
:triggers
-- all of it, as one array; as arguments by name
SELECT bloom_guard_create('person', 'sig', 1, 'reject', VARIADIC ARRAY['blocklist', 'list', 'message', 'm', 'blocklist_column', 'other']);
SELECT bloom_guard_create(action => 'warn', rel => 'person', signature => 'sig', threshold => 0, VARIADIC options => ARRAY['message', 'm']);
SELECT bloom_guard_create('person', 'sig', 0.30000000000000004, 'reject', VARIADIC '{}');
SET extra_float_digits = -15;
SELECT bloom_guard_create('person', 'sig', 1e-7, 'reject');
SELECT bloom_guard_create('person', 'sig', '-0', 'reject');
RESET extra_float_digits;
SELECT tgname, encode(tgargs, 'escape') FROM pg_trigger WHERE tgrelid = 'person'::regclass ORDER BY length(tgname), tgname;
DROP TABLE person;

-- What the trigger would say at its first row is said at once, and word by word.
CREATE TABLE person (id int PRIMARY KEY, name text, sig bloom);
CREATE TABLE bare (name text, sig bloom);
CREATE VIEW view AS SELECT * FROM person;
CREATE MATERIALIZED VIEW matview AS SELECT * FROM person;
CREATE SEQUENCE sequence;
SET client_min_messages = error;
CREATE FUNCTION says(what text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE state text; message text; detail text; hint text;
BEGIN
    EXECUTE what;
    -- takes the trigger back
    RAISE 'nothing to say';
EXCEPTION WHEN others THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(E'\n', state || ': ' || message, nullif(detail, ''), nullif(hint, ''));
END $$;
CREATE FUNCTION creates(args text) RETURNS text LANGUAGE sql AS $$
    -- who enters a row has not named the column
    SELECT regexp_replace(says('SELECT bloom_guard_create(' || args || ')'), E'\nPerhaps you meant the column .*', '') $$;
-- the same, when the trigger fires
CREATE FUNCTION fires(rel text, args text, timing text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE said text;
BEGIN
    EXECUTE format('CREATE TRIGGER guard %s INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION bloom_guard(%s)', timing, rel, args);
    said := says(format('INSERT INTO %s (name, sig) VALUES (''x'', bloom_signature(''x''))', rel));
    EXECUTE format('DROP TRIGGER guard ON %s', rel);
    -- who creates a trigger need not be told which it is
    RETURN regexp_replace(said, E'\\nIt is named in the arguments of trigger .*', '');
END $$;
ALTER TABLE person ALTER id ADD GENERATED ALWAYS AS IDENTITY;
\pset format unaligned
\pset tuples_only
CREATE TABLE wrong (n int GENERATED ALWAYS AS IDENTITY, rel text, signature text, threshold text, rest text);
INSERT INTO wrong (rel, signature, threshold, rest) VALUES
    ('person', 'sig', '80', $$'reject'$$),
    ('person', 'sig', '-0.1', $$'reject'$$),
    ('person', 'sig', 'NaN', $$'reject'$$),
    ('person', 'sig', '0.8', $$'deny'$$),
    ('person', 'sig', '0.8', $$'Reject'$$),
    ('person', 'sig', '0.8', $$''$$),
    ('person', 'sig', '0.8', $$'reject', 'review'$$),
    ('person', 'sig', '0.8', $$'reject', 'colour', 'red'$$),
    ('person', 'sig', '0.8', $$'reject', 'message', 'a', 'message', 'b'$$),
    ('person', 'sig', '0.8', $$'reject', 'review', 'review'$$),
    ('person', 'sig', '0.8', $$'skip', 'review', 'review'$$),
    ('person', 'sig', '0.8', $$'flag'$$),
    ('person', 'sig', '0.8', $$'flag', 'review', 'review', 'message', 'x'$$),
    ('person', 'sig', '0.8', $$'reject', 'blocklist_column', 'sig'$$),
    ('person', 'signature', '0.8', $$'reject'$$),
    ('person', 'name', '0.8', $$'reject'$$),
    ('person', 'ctid', '0.8', $$'skip'$$),
    ('person', 'sig', '0.8', $$'reject', 'blocklist', 'a.b.c'$$),
    ('person', 'sig', '0.8', $$'reject', 'blocklist', 'nowhere.list'$$),
    ('person', 'sig', '0.8', $$'skip', 'blocklist', 'nothing'$$),
    ('person', 'sig', '0.8', $$'reject', 'blocklist', 'view'$$),
    ('person', 'sig', '0.8', $$'reject', 'blocklist', 'list'$$),
    ('person', 'sig', '0.8', $$'reject', 'blocklist', 'list', 'blocklist_column', 'id'$$),
    ('person', 'sig', '0.8', $$'flag', 'review', 'nothing'$$),
    ('person', 'sig', '0.8', $$'flag', 'review', 'view'$$),
    ('person', 'sig', '0.8', $$'flag', 'review', 'list'$$),
    ('bare', 'sig', '0.8', $$'flag', 'review', 'review'$$),
    ('person', 'sig', '0.8', $$'flag', 'review', 'review', 'blocklist', 'bare'$$);
SELECT creates(format('%L, %L, %L, %s', rel, signature, threshold, rest)) FROM wrong ORDER BY n;
SELECT format('%s %s %s %s', rel, signature, threshold, rest) AS "other words" FROM wrong
WHERE creates(format('%L, %L, %L, %s', rel, signature, threshold, rest))
    <> fires(rel, format('%L, %L, %s', signature, threshold, rest), CASE WHEN rest LIKE '''skip''%' THEN 'BEFORE' ELSE 'AFTER' END) ORDER BY n;
-- the other way round, none of them is refused that would have fired
SELECT creates($$'person', 'sig', 0.8, 'reject'$$), fires('person', $$'sig', '0.8', 'reject'$$, 'AFTER');
-- what has no such triggers, or is not there
SELECT creates($$'view', 'sig', 0.8, 'reject'$$);
SELECT creates($$'view', 'sig', 0.8, 'reject', 'blocklist', 'person'$$);
SELECT creates($$'matview', 'sig', 0.8, 'reject'$$);
SELECT creates($$'sequence', 'sig', 0.8, 'reject'$$);
SELECT creates($$'person_pkey', 'sig', 0.8, 'reject'$$);
SELECT creates($$0, 'sig', 0.8, 'reject'$$);
SELECT creates($$'nothing', 'sig', 0.8, 'reject'$$);
SELECT creates($$'pg_class', 'relname', 0.8, 'reject'$$);
-- NULL
SELECT creates($$NULL, 'sig', 0.8, 'reject'$$);
SELECT creates($$'person', NULL, 0.8, 'reject'$$);
SELECT creates($$'person', 'sig', NULL, 'reject'$$);
SELECT creates($$'person', 'sig', 0.8, NULL$$);
SELECT creates($$'person', 'sig', 0.8, 'reject', VARIADIC NULL::text[]$$);
SELECT creates($$'person', 'sig', 0.8, 'reject', 'message', NULL$$);
SELECT creates($$'person', 'sig', 0.8, 'reject', VARIADIC ARRAY[['message', 'x']]$$);
\pset tuples_only off
\pset format aligned
-- none has been left behind
:triggers
SET client_min_messages = notice;
-- without an index one is told at once, and in this session only once
CREATE TABLE bare2 (sig bloom);
SELECT bloom_guard_create('bare2', 'sig', 0.8, 'reject');
INSERT INTO bare2 VALUES (bloom_signature('x'));
DROP VIEW view;
DROP MATERIALIZED VIEW matview;
DROP SEQUENCE sequence;
DROP TABLE person, bare, bare2, wrong;
DROP FUNCTION says, creates, fires;

-- Names.
CREATE SCHEMA "my ""own"" schema";
CREATE TABLE "my ""own"" schema"."Per'son\" (id int PRIMARY KEY, "the.signature, or 'so' \ ""it"" is" bloom);
CREATE TABLE "my ""own"" schema"."re.view" (key text, duplicate text, similarity float8, found_at timestamptz);
INSERT INTO "my ""own"" schema"."Per'son\" VALUES (1, bloom_signature('Max Moritz'));
SET standard_conforming_strings = off;
SET escape_string_warning = off;
SET client_min_messages = error;
SELECT bloom_guard_create('"my ""own"" schema"."Per''son\\"', 'the.signature, or ''so'' \\ "it" is', 0.8, 'flag', 'review', '"re.view"');
SELECT bloom_guard_create('"my ""own"" schema"."Per''son\\"', 'the.signature, or ''so'' \\ "it" is', 0.9, 'warn', 'message', E'a ''b'' \\ $$ "c"\n''');
RESET standard_conforming_strings;
RESET client_min_messages;
INSERT INTO "my ""own"" schema"."Per'son\" VALUES (2, bloom_signature('Max Moritz'));
SELECT key, duplicate FROM "my ""own"" schema"."re.view";
:triggers
DROP SCHEMA "my ""own"" schema" CASCADE;
-- as long as names can be, and longer: cut between letters, and still different
CREATE TABLE "täääääääääääääääääääääääääääääääble" (id int PRIMARY KEY, "cölüüüüüüüüüüüüüüüüüüüüüüüüüüüümn" bloom);
CREATE INDEX ON "täääääääääääääääääääääääääääääääble" USING sigfile ("cölüüüüüüüüüüüüüüüüüüüüüüüüüüüümn");
SELECT name, octet_length(name::text) FROM generate_series(1, 12) AS i,
    bloom_guard_create('täääääääääääääääääääääääääääääääble', 'cölüüüüüüüüüüüüüüüüüüüüüüüüüüüümn', i::float8 / 12, 'reject') AS name ORDER BY i;
DROP TABLE "täääääääääääääääääääääääääääääääble";

-- A partitioned table: one trigger for all of it; what it needs, each partition must have.
CREATE TABLE person (id int, land text, sig bloom) PARTITION BY LIST (land);
SELECT bloom_guard_create('person', 'sig', 0.8, 'reject');
CREATE TABLE person_de PARTITION OF person (PRIMARY KEY (id)) FOR VALUES IN ('de');
CREATE TABLE person_at (sig bloom, land text, id int PRIMARY KEY) PARTITION BY LIST (id);
ALTER TABLE person_at DROP CONSTRAINT person_at_pkey;
ALTER TABLE person ATTACH PARTITION person_at FOR VALUES IN ('at');
CREATE TABLE person_at_1 PARTITION OF person_at FOR VALUES IN (1);
CREATE INDEX ON person USING sigfile (sig);
INSERT INTO person VALUES (1, 'de', bloom_signature('Max Moritz'));
INSERT INTO person VALUES (1, 'at', bloom_signature('Max Moritz'));
SELECT bloom_guard_create('person', 'sig', 0.8, 'flag', 'review', 'review');
ALTER TABLE person_at_1 ADD PRIMARY KEY (id);
SELECT bloom_guard_create('person', 'sig', 0.8, 'flag', 'review', 'review');
DROP TRIGGER person_sig_guard ON person;
TRUNCATE review;
INSERT INTO person VALUES (1, 'at', bloom_signature('Max Moritz'));
SELECT key, duplicate FROM review;
-- a name that a partition has
ALTER TRIGGER person_sig_guard1 ON person RENAME TO other;
CREATE TRIGGER person_sig_guard BEFORE UPDATE ON person_at_1 FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
SELECT bloom_guard_create('person', 'sig', 0.9, 'warn');
-- of one partition
SELECT bloom_guard_create('person_de', 'sig', 0.9, 'reject');
:triggers
DROP TABLE person;
-- a foreign table, and a partition on another server: not to be searched, but to be checked against a list
CREATE FOREIGN DATA WRAPPER nowhere;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nowhere;
CREATE FOREIGN TABLE far (id int, sig bloom) SERVER nowhere;
CREATE TABLE person (id int, sig bloom) PARTITION BY LIST (id);
CREATE FOREIGN TABLE person_1 PARTITION OF person FOR VALUES IN (1) SERVER nowhere;
SELECT bloom_guard_create('far', 'sig', 0.8, 'reject');
SELECT bloom_guard_create('person', 'sig', 0.8, 'reject');
SELECT bloom_guard_create('far', 'sig', 0.8, 'reject', 'blocklist', 'list', 'blocklist_column', 'other');
SELECT bloom_guard_create('person', 'sig', 0.8, 'reject', 'blocklist', 'list', 'blocklist_column', 'other');
SELECT bloom_guard_create('person', 'sig', 0.8, 'flag', 'blocklist', 'list', 'blocklist_column', 'other', 'review', 'review');
INSERT INTO far VALUES (1, bloom_signature('Max Moritz'));
DROP TABLE person;
DROP FOREIGN DATA WRAPPER nowhere CASCADE;
-- a temporary table, with tables beside it
CREATE TEMPORARY TABLE person (id int PRIMARY KEY, sig bloom);
CREATE TEMPORARY TABLE pairs (key text, duplicate text, similarity float8, found_at timestamptz);
CREATE INDEX ON person USING sigfile (sig);
SELECT bloom_guard_create('person', 'sig', 0.8, 'flag', 'review', 'pairs');
SELECT bloom_guard_create('person', 'sig', 0.8, 'skip', 'blocklist', 'public.list', 'blocklist_column', 'other');
INSERT INTO person SELECT i, bloom_signature(n) FROM (VALUES (1, 'Hans Wurst'), (2, 'hans wurst'), (3, 'Max Moritz')) AS v (i, n);
SELECT key, duplicate FROM pairs;
DROP TABLE person, pairs;

-- Review tables that would refuse every pair, and one that those write who enter rows.
CREATE TABLE person (id int PRIMARY KEY, sig bloom);
CREATE TABLE needs (key text, duplicate text, similarity float8, found_at timestamptz, by text NOT NULL);
CREATE TABLE defers (key text, duplicate text, similarity float8, found_at timestamptz, PRIMARY KEY (key, duplicate) DEFERRABLE);
CREATE TABLE itself (key text PRIMARY KEY, duplicate text, similarity float8, found_at timestamptz, sig bloom);
SELECT bloom_guard_create('person', 'sig', 0.8, 'flag', 'review', 'needs');
SELECT bloom_guard_create('person', 'sig', 0.8, 'flag', 'review', 'defers');
SELECT bloom_guard_create('itself', 'sig', 0.8, 'flag', 'review', 'itself');
SELECT bloom_guard_create('person', 'sig', 0.8, 'flag', 'review', 'person');
SELECT bloom_guard_create('person', 'sig', 0.8, 'flag', 'p_review');
ALTER TABLE needs ALTER by SET DEFAULT current_user;
SELECT bloom_guard_create('person', 'sig', 0.8, 'flag', 'review', 'needs');
ALTER TABLE needs ENABLE ROW LEVEL SECURITY;
SELECT bloom_guard_create('person', 'sig', 0.9, 'flag', 'review', 'needs');
DROP TABLE person, needs, defers, itself;

-- The caller's privileges, and none else.
CREATE ROLE create_owner;
CREATE ROLE create_clerk;
CREATE SCHEMA own AUTHORIZATION create_owner;
GRANT USAGE ON SCHEMA own TO create_clerk;
SET ROLE create_owner;
CREATE TABLE own.person (id int PRIMARY KEY, sig bloom);
CREATE INDEX ON own.person USING sigfile (sig);
SET ROLE create_clerk;
SELECT bloom_guard_create('own.person', 'sig', 0.8, 'reject');
SELECT bloom_guard_create('own.person', 'nothing', 0.8, 'reject');
SET ROLE create_owner;
GRANT TRIGGER ON own.person TO create_clerk;
SET ROLE create_clerk;
SELECT bloom_guard_create('own.person', 'sig', 0.8, 'reject');
RESET ROLE;
REVOKE EXECUTE ON FUNCTION bloom_guard() FROM PUBLIC;
SET ROLE create_clerk;
SELECT bloom_guard_create('own.person', 'sig', 0.8, 'reject');
RESET ROLE;
GRANT EXECUTE ON FUNCTION bloom_guard() TO PUBLIC;
-- a block list that the owner of the table may not read
SET ROLE create_owner;
SELECT bloom_guard_create('own.person', 'sig', 0.8, 'reject', 'blocklist', 'public.list', 'blocklist_column', 'other');
RESET ROLE;
GRANT SELECT ON list TO create_clerk;
SET ROLE create_clerk;
SELECT bloom_guard_create('own.person', 'sig', 0.8, 'reject', 'blocklist', 'public.list', 'blocklist_column', 'other');
RESET ROLE;
GRANT SELECT ON list TO create_owner;
SET ROLE create_clerk;
SELECT bloom_guard_create('own.person', 'sig', 0.8, 'reject', 'blocklist', 'public.list', 'blocklist_column', 'other');
RESET ROLE;
BEGIN READ ONLY;
SELECT bloom_guard_create('own.person', 'sig', 0.8, 'reject');
ROLLBACK;
-- No search_path decides what is called, and the extension may be anywhere.
CREATE SCHEMA elsewhere;
ALTER EXTENSION bloom_ident SET SCHEMA elsewhere;
CREATE SCHEMA evil;
CREATE FUNCTION evil.bloom_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE TABLE evil.person (id int PRIMARY KEY, sig elsewhere.bloom);
SET search_path = evil, pg_catalog;
SELECT elsewhere.bloom_guard_create('own.person', 'sig', 0.9, 'warn');
RESET search_path;
:triggers
ALTER EXTENSION bloom_ident SET SCHEMA public;
SET client_min_messages = warning;
DROP SCHEMA own, evil, elsewhere CASCADE;
DROP TABLE list, review;
DROP ROLE create_owner;
DROP ROLE create_clerk;
