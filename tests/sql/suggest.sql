-- Where to begin with a table: every statement that is proposed runs as it stands, in its order.
SET client_min_messages = error;
CREATE SCHEMA suggest;
SET search_path = suggest, public;
-- Runs what is proposed, and says what fails.
CREATE FUNCTION public.run_suggested(rel regclass, other regclass DEFAULT NULL) RETURNS TABLE (ran bigint, failed text) LANGUAGE plpgsql AS $$
DECLARE
    proposed record;
    statements text[];
BEGIN
    ran := 0;
    IF other IS NULL THEN
        SELECT array_agg(statement ORDER BY step) INTO statements FROM bloom_suggest(rel) AS s WHERE statement IS NOT NULL;
    ELSE
        SELECT array_agg(statement ORDER BY step) INTO statements FROM bloom_suggest(rel, other) AS s WHERE statement IS NOT NULL;
    END IF;
    FOREACH failed IN ARRAY coalesce(statements, '{}') LOOP
        BEGIN
            EXECUTE failed;
            ran := ran + 1;
        EXCEPTION WHEN OTHERS THEN
            failed := failed || ' -- ' || SQLERRM;
            RETURN NEXT;
        END;
    END LOOP;
    failed := NULL;
    RETURN NEXT;
END $$;

-- a register of persons
CREATE TABLE person (id int PRIMARY KEY, given_name text, surname varchar(40), born date, joined text, email text, phone text, street text, town text, country text, note text,
    code text, fax text, full_name text GENERATED ALWAYS AS (given_name || ' ' || surname) STORED, seen timestamptz, score float8);
INSERT INTO person (id, given_name, surname, born, joined, email, phone, street, town, country, note, code, fax, seen, score) SELECT i, (ARRAY['Anna','Ben','Clara','David','Eva','Felix','Greta','Hans'])[1 + p % 8], (ARRAY['Meier','Schulze','Weber','Fischer','Nowak','Braun','Lang'])[1 + p % 7] || p % 31,
    date '1950-01-01' + p * 37 % 20000, to_char(date '2000-01-01' + p * 11 % 5000, 'DD.MM.YYYY'), 'user' || p || '@example.org', CASE WHEN p % 3 = 0 THEN '+49 30 ' ELSE '030 ' END || 1000000 + p * 7919 % 8999999,
    'Street ' || p % 97 || ' ' || p % 13, (ARRAY['Berlin','Hamburg','Kiel'])[1 + p % 3], 'DE', CASE WHEN p % 40 = 0 THEN 'vip' END, 'C' || i * 7919, NULL, timestamptz '2020-01-01 00:00+00' + p * interval '1 day', p % 17 / 4.0
    FROM generate_series(1, 600) AS i, LATERAL (SELECT CASE WHEN i % 10 = 0 THEN i - 1 ELSE i END) AS l (p);
SELECT * FROM bloom_suggest('person');
SELECT * FROM run_suggested('person');
SELECT count(*) > 0 AS pairs FROM person_pair;
SELECT count(*) FROM person_cluster WHERE keep;
-- asked again, it makes use of what is there, and takes other names
SELECT topic, statement FROM bloom_suggest('person') WHERE topic IN ('signature', 'index', 'model', 'pairs');
SELECT * FROM run_suggested('person');

-- companies without a key, and one with a key of two columns
CREATE TABLE company (name text, street text, city text, legal text);
INSERT INTO company SELECT (ARRAY['Alpha','Beta','Gamma','Delta'])[1 + i % 4] || ' Trading ' || i / 2 || (ARRAY[' GmbH',' Ltd'])[1 + i % 2], 'Hauptstr. ' || i / 2, (ARRAY['Wien','Graz'])[1 + i % 2], 'x' FROM generate_series(1, 60) AS i;
SELECT * FROM bloom_suggest('company');
SELECT * FROM run_suggested('company');
CREATE TABLE branch (land text, no int, name text, PRIMARY KEY (land, no));
INSERT INTO branch SELECT 'de', i, 'branch of ' || md5((i / 2)::text) FROM generate_series(1, 20) AS i;
SELECT topic, statement FROM bloom_suggest('branch') WHERE statement IS NOT NULL;
SELECT * FROM run_suggested('branch');

-- messages
CREATE TABLE message (id bigint PRIMARY KEY, body text);
INSERT INTO message SELECT i, 'Dear customer number ' || i % 7 || ', you have won a prize of ' || i * 13 % 9 || '000 pounds, so call 0900 ' || i % 5 || ' now to claim your prize before ' || (ARRAY['Friday','Monday'])[1 + i % 2] FROM generate_series(1, 150) AS i;
SELECT * FROM bloom_suggest('message');
SELECT * FROM run_suggested('message');
-- products, whose descriptions would fill a signature
CREATE TABLE product (sku text PRIMARY KEY, title text, description text, price numeric(10,2), colour text);
INSERT INTO product SELECT 'S' || i, (ARRAY['Chair','Table','Lamp'])[1 + i % 3] || ' ' || md5((i / 2)::text), 'A ' || repeat('very fine piece of furniture, made by hand ', 5) || i, 10 + i % 40, (ARRAY['red','blue'])[1 + i % 2] FROM generate_series(1, 200) AS i;
SELECT topic, reason, statement FROM bloom_suggest('product');
SELECT * FROM run_suggested('product');
-- some names are far longer than the others
CREATE TABLE long_name (id int PRIMARY KEY, name text);
INSERT INTO long_name SELECT i, CASE WHEN i % 50 = 0 THEN repeat('Anna ' || i || ' Maria ', 20) ELSE 'Otto ' || md5(i::text) END FROM generate_series(1, 200) AS i;
SELECT topic, reason FROM bloom_suggest('long_name') WHERE topic IN ('signature', 'saturation');
CREATE TABLE filled (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name, 3, 4)) STORED);
INSERT INTO filled SELECT i, md5(i::text) FROM generate_series(1, 20) AS i;
SELECT topic, reason, statement FROM bloom_suggest('filled');
SELECT * FROM run_suggested('filled');

-- an empty table, one row, only numbers, nothing to compare
CREATE TABLE nothing (id int PRIMARY KEY, name text, born date, amount numeric);
SELECT topic, reason, statement FROM bloom_suggest('nothing');
SELECT * FROM run_suggested('nothing');
CREATE TABLE lonely (name text, born date);
INSERT INTO lonely VALUES ('Erika Mustermann', '1964-08-12');
SELECT topic, statement FROM bloom_suggest('lonely');
SELECT * FROM run_suggested('lonely');
CREATE TABLE number (id int PRIMARY KEY, a int, b numeric, c float8);
INSERT INTO number SELECT i, i % 13, i % 7 / 3.0, i % 5 / 2.0 FROM generate_series(1, 150) AS i;
SELECT topic, reason, statement FROM bloom_suggest('number');
SELECT * FROM run_suggested('number');
CREATE TABLE few_numbers (a int, b int);
INSERT INTO few_numbers VALUES (1, 2), (3, 4);
SELECT topic, reason, statement FROM bloom_suggest('few_numbers');
CREATE TABLE bare (id int PRIMARY KEY, at point);
SELECT topic, reason, statement FROM bloom_suggest('bare');
CREATE TABLE without_columns ();
SELECT topic, reason, statement FROM bloom_suggest('without_columns');

-- names that must be quoted, and values
CREATE SCHEMA "odd "" schema";
CREATE TABLE "odd "" schema"."Kunden 'A'" ("die Nr" int PRIMARY KEY, "Vor""name" text, "Nach:name" text, "geb'datum" text, "bloom_sig" int, "E-Mail" text);
INSERT INTO "odd "" schema"."Kunden 'A'" SELECT i, 'Anna ' || i % 50, 'Meier ' || i % 60, to_char(date '1950-01-01' + i % 90 * 100, 'DD/MM/YYYY'), i % 3, 'a' || i % 90 || '@b.example' FROM generate_series(1, 120) AS i;
SELECT topic, statement FROM bloom_suggest('"odd "" schema"."Kunden ''A''"') WHERE statement IS NOT NULL;
SELECT * FROM run_suggested('"odd "" schema"."Kunden ''A''"');
-- a name with no room behind it
CREATE TABLE "ääääääääääääääääääääääääääääääb" (id int PRIMARY KEY, name text);
INSERT INTO "ääääääääääääääääääääääääääääääb" VALUES (1, 'x y'), (2, 'x z');
SELECT * FROM run_suggested('"ääääääääääääääääääääääääääääääb"');

-- views, materialized views, partitions, inheritance, temporary tables
CREATE VIEW person_view AS SELECT id AS number, given_name, surname, born FROM person;
SELECT topic, reason, statement FROM bloom_suggest('person_view');
SELECT * FROM run_suggested('person_view');
CREATE MATERIALIZED VIEW person_kept AS SELECT id, given_name, surname FROM person;
CREATE UNIQUE INDEX ON person_kept (id);
SELECT topic, statement FROM bloom_suggest('person_kept') WHERE topic IN ('copy', 'key');
SELECT * FROM run_suggested('person_kept');
CREATE TABLE parted (id int, part int, name text, town text, PRIMARY KEY (part, id)) PARTITION BY LIST (part);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES IN (2);
INSERT INTO parted SELECT i, 1 + i % 2, 'name ' || md5((i / 2)::text), 'town ' || i % 9 FROM generate_series(1, 200) AS i;
SELECT topic, statement FROM bloom_suggest('parted') WHERE statement IS NOT NULL;
SELECT * FROM run_suggested('parted');
CREATE TABLE parent (id int, name text);
CREATE TABLE child (extra text) INHERITS (parent);
INSERT INTO child VALUES (1, 'Erika Mustermann', 'x'), (2, 'Erica Mustermann', 'y');
SELECT * FROM run_suggested('parent');
CREATE TEMP TABLE passing (id int PRIMARY KEY, name text);
INSERT INTO passing VALUES (1, 'Erika Mustermann'), (2, 'Erica Mustermann');
SELECT topic, statement FROM bloom_suggest('passing') WHERE topic = 'threshold';
SELECT * FROM run_suggested('passing');

-- a sample of a large table is the same each time
CREATE TABLE large (id int PRIMARY KEY, name text, filler text);
INSERT INTO large SELECT i, 'name ' || md5((i / 2)::text), repeat('x', 300) FROM generate_series(1, 30000) AS i;
SELECT replace(reason, '"', '') ~ 'records of about \d+ were read, those of [\d.]+ % of the table.s blocks' AS sampled FROM bloom_suggest('large') WHERE topic = 'sample';
SELECT count(DISTINCT f) FROM generate_series(1, 2), LATERAL (SELECT string_agg(s::text, '|') AS f FROM bloom_suggest('large') AS s OFFSET 0) AS l;
SELECT * FROM run_suggested('large');

-- a view has no blocks
CREATE VIEW large_view AS SELECT name FROM large;
SELECT reason FROM bloom_suggest('large_view') WHERE topic = 'sample';

-- rights: what the caller may not read is left out, and who owns nothing gets a copy
CREATE ROLE suggest_reader;
GRANT USAGE ON SCHEMA suggest TO suggest_reader;
GRANT SELECT (id, name) ON nothing TO suggest_reader;
GRANT SELECT ON parted, company TO suggest_reader;
SET ROLE suggest_reader;
SELECT * FROM bloom_suggest('person');
SELECT topic, reason, statement FROM bloom_suggest('nothing');
SELECT * FROM run_suggested('nothing');
SELECT * FROM run_suggested('parted');
SELECT * FROM run_suggested('company');
RESET ROLE;
GRANT SELECT (bloom_sig) ON person TO suggest_reader;
SET ROLE suggest_reader;
SELECT topic, reason, statement FROM bloom_suggest('person') WHERE topic <> 'column';
RESET ROLE;
-- row-level security
ALTER TABLE parted ENABLE ROW LEVEL SECURITY;
SET ROLE suggest_reader;
SELECT reason FROM bloom_suggest('parted') WHERE topic = 'sample';
RESET ROLE;

-- Two tables: of one shape, with other names of columns, with nothing in common, one with itself
CREATE TABLE side_a AS SELECT id AS "Nr", given_name AS "First Name", surname, born, email, town FROM person WHERE id % 2 = 0;
ALTER TABLE side_a ADD PRIMARY KEY ("Nr");
CREATE TABLE side_b AS SELECT id, given_name, surname AS last_name, born AS birthday, email, town, 'none' AS remark FROM person WHERE id % 3 = 0;
\pset format unaligned
SELECT topic, reason, statement FROM bloom_suggest('side_a', 'side_b') ORDER BY step;
\pset format aligned
SELECT * FROM public.run_suggested('side_a', 'side_b');
SELECT count(*) > 0 AS linked FROM side_a_link_match;
SELECT topic, reason, statement IS NULL AS said FROM bloom_suggest('side_a', 'pg_am') WHERE topic = 'fields';
SELECT bloom_suggest('side_a', 'side_a');
SELECT bloom_suggest('side_a', NULL);
-- who may only read them
CREATE ROLE link_reader;
GRANT USAGE ON SCHEMA suggest TO link_reader;
GRANT SELECT ON side_a, side_b TO link_reader;
SET ROLE link_reader;
SELECT topic, statement FROM bloom_suggest('side_a', 'side_b') WHERE statement IS NOT NULL ORDER BY step;
SELECT * FROM public.run_suggested('side_a', 'side_b');
RESET ROLE;
-- of one name in two schemas, without keys, so that both are copied
CREATE SCHEMA suggest_too;
CREATE VIEW suggest_too.side_a_view AS SELECT given_name, last_name, town FROM side_b;
CREATE VIEW side_a_view AS SELECT "First Name", surname, born, town FROM side_a;
GRANT USAGE ON SCHEMA suggest_too TO link_reader;
GRANT SELECT ON side_a_view, suggest_too.side_a_view TO link_reader;
SET ROLE link_reader;
SELECT topic, statement FROM bloom_suggest('side_a_view', 'suggest_too.side_a_view') WHERE statement LIKE '%TEMP TABLE%copy%' ORDER BY step;
SELECT * FROM public.run_suggested('side_a_view', 'suggest_too.side_a_view');
RESET ROLE;
DROP OWNED BY link_reader;
DROP ROLE link_reader;
DROP VIEW side_a_view, suggest_too.side_a_view;
DROP SCHEMA suggest_too;
-- a column whose name the other table's key has, and which is called otherwise there: no view could have both
CREATE TABLE with_key (surname text PRIMARY KEY, given_name text, last_name text, town text);
INSERT INTO with_key SELECT id::text, given_name, last_name, town FROM side_b;
SELECT topic, statement FROM bloom_suggest('person', 'with_key') WHERE topic IN ('view', 'model');

-- bad input
SELECT * FROM bloom_suggest(NULL);
SELECT * FROM bloom_suggest(0);
SELECT * FROM bloom_suggest('person_pkey');
CREATE VIEW broken AS SELECT id, 'x' || 1 / (id - 5) AS name FROM generate_series(1, 10) AS id;
SELECT * FROM bloom_suggest('broken');
CREATE SEQUENCE counted;
SELECT * FROM bloom_suggest('counted');
-- a table of the server's
SELECT topic, statement FROM bloom_suggest('pg_catalog.pg_am') WHERE statement IS NOT NULL;
-- outside of the search_path functions have their schema
SET search_path = pg_catalog;
SELECT count(*) FILTER (WHERE statement LIKE '%public.%'), count(*) FROM public.bloom_suggest('suggest.lonely') WHERE topic IN ('estimate', 'threshold', 'guard');
RESET search_path;
RESET client_min_messages;
DROP FUNCTION run_suggested;
SET client_min_messages = warning;
DROP SCHEMA suggest, "odd "" schema" CASCADE;
DROP TABLE passing;
DISCARD TEMP;
DROP OWNED BY suggest_reader;
DROP ROLE suggest_reader;
