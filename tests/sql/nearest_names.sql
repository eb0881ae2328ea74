-- The names of a table that are nearest to a name.
CREATE TABLE person (id int PRIMARY KEY, name text, sig bloom(7,43,3) GENERATED ALWAYS AS (bloom_signature(name, by_word => true)::bloom(7,43,3)) STORED);
INSERT INTO person SELECT i, initcap(translate(left(md5(i::text), 6) || ' ' || left(md5((i / 3)::text), 8), '0123456789', 'ghijklmnop')) FROM generate_series(1, 3000) AS i;
INSERT INTO person VALUES (3001, 'Erika Mustermann'), (3002, 'Mustermann, Erika Anna'), (3003, 'Erica Musterman'), (3004, 'Max Mustermann'), (3005, NULL), (3006, ''), (3007, 'Иван Иванов'), (3008, 'Ivanow, Iwan');
CREATE INDEX ON person USING sigfile (sig);
VACUUM ANALYZE person;
SELECT key, name, round(similarity::numeric, 3) AS similarity FROM bloom_nearest_names('person', 'id', 'sig', 'name', 'Erika Mustermann', 4);
SELECT key, name, round(similarity::numeric, 3) AS similarity FROM bloom_nearest_names('person', 'id', 'sig', 'name', 'Iwan Iwanow', 2);
SELECT count(*), count(DISTINCT key), bool_and(similarity BETWEEN 0 AND 1) AS in_range FROM bloom_nearest_names('person', 'id', 'sig', 'name', 'Mustermann');
SELECT count(*) FROM bloom_nearest_names('person', 'id', 'sig', 'name', 'Mustermann', 1000);
-- Without the index, and with it, the same.
CREATE TABLE indexed AS SELECT w.id, n.* FROM person AS w, bloom_nearest_names('person', 'id', 'sig', 'name', w.name, 3) AS n WHERE w.id % 300 = 1;
SET enable_indexscan = off;
SELECT count(*) FROM (SELECT * FROM indexed EXCEPT ALL SELECT w.id, n.* FROM person AS w, bloom_nearest_names('person', 'id', 'sig', 'name', w.name, 3) AS n WHERE w.id % 300 = 1) AS d;
RESET enable_indexscan;
-- A row that is the name itself comes first.
SELECT count(*), count(*) FILTER (WHERE p.key::int = w.id) AS itself FROM person AS w, bloom_nearest_names('person', 'id', 'sig', 'name', w.name, 1) AS p WHERE w.id % 10 = 1;
-- Names that are far by all their words, and share a rare one: a company by its short name and by its initials, with and without the index. A word that more than 300 names have finds none.
CREATE TABLE company (id int PRIMARY KEY, name text, sig bloom(7,43,3) GENERATED ALWAYS AS (bloom_signature(name, by_word => true)::bloom(7,43,3)) STORED);
INSERT INTO company SELECT i, 'Krombusch ' || chr(97 + i % 26) || chr(97 + i / 26) FROM generate_series(1, 400) AS i;
INSERT INTO company SELECT 400 + i, 'Trading Iran ' || chr(97 + i % 26) || chr(97 + i / 26) || ' Shipping' FROM generate_series(1, 400) AS i;
INSERT INTO company VALUES (1001, 'Krombacher Internationale Beteiligungsgesellschaft und Vermögensverwaltung Nordrhein-Westfalen mbH'), (1002, 'IRISL Group'),
    (1003, 'Trading Internationale Beteiligungsgesellschaft und Vermögensverwaltung Rheinland-Pfalz mbH');
CREATE INDEX ON company USING sigfile (sig);
VACUUM ANALYZE company;
SELECT bloom_sim(sig, bloom_signature('Krombacher', by_word => true)) < (SELECT bloom_sim(sig, bloom_signature('Krombacher', by_word => true)) FROM company WHERE id = 300) AS far FROM company WHERE id = 1001;
SELECT w, n.key, n.name, round(n.similarity::numeric, 3) AS similarity FROM unnest('{Krombacher,"Islamic Republic of Iran Shipping Lines","Trading Iran"}'::text[]) AS w,
    LATERAL (SELECT * FROM bloom_nearest_names('company', 'id', 'sig', 'name', w, 5) WHERE key::int > 1000) AS n ORDER BY w, n.key;
SET enable_indexscan = off; SET enable_bitmapscan = off;
SELECT w, n.key FROM unnest('{Krombacher,"Islamic Republic of Iran Shipping Lines","Trading Iran"}'::text[]) AS w,
    LATERAL (SELECT * FROM bloom_nearest_names('company', 'id', 'sig', 'name', w, 5) WHERE key::int > 1000) AS n ORDER BY w, n.key;
RESET enable_indexscan; RESET enable_bitmapscan;
-- What a view reads sees the settings of the session, also where the rows of a word are looked for.
CREATE VIEW settled AS SELECT id, name || ' ' || current_setting('enable_bitmapscan') AS name, sig FROM company;
SELECT key, right(name, 10) AS name FROM bloom_nearest_names('settled', 'id', 'sig', 'name', 'Krombacher', 50) WHERE key = '1001';
SHOW enable_bitmapscan;
DROP VIEW settled;
DROP TABLE company;
-- No text, no rows; nothing but NULL.
SELECT * FROM bloom_nearest_names('person', 'id', 'sig', 'name', NULL, 4);
SELECT count(*), max(similarity) FROM bloom_nearest_names('person', 'id', 'sig', 'name', '', 4);
CREATE TABLE bare (id int, name text, sig bloom);
SELECT * FROM bloom_nearest_names('bare', 'id', 'sig', 'name', 'Erika');
INSERT INTO bare VALUES (1, 'Erika', NULL), (2, NULL, bloom_signature('Erika')), (NULL, 'Erika', bloom_signature('Erika'));
SELECT * FROM bloom_nearest_names('bare', 'id', 'sig', 'name', 'Erika');
-- Names that need quotes, a domain, a view, whole words and not.
CREATE DOMAIN sign AS bloom;
CREATE SCHEMA "My lists";
CREATE TABLE "My lists"."The list" ("The key" text, "a ""name""" varchar(40), "Sig" sign);
INSERT INTO "My lists"."The list" SELECT 'k' || n, n, bloom_signature(n, ngram => 2) FROM unnest('{Anna,Hanna,Johanna,Zoe}'::text[]) AS n;
SELECT key, name, round(similarity::numeric, 3) AS similarity FROM bloom_nearest_names('"My lists"."The list"', 'The key', 'Sig', 'a "name"', 'Hanna', 3, by_word => false);
CREATE VIEW "My lists".v AS SELECT * FROM "My lists"."The list";
SELECT key, name FROM bloom_nearest_names('"My lists".v', 'The key', 'Sig', 'a "name"', 'Hanna', 1);
-- Nothing of the caller's search_path is used.
CREATE FUNCTION no(bloom, bloom) RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN RAISE 'called'; END $$;
CREATE SCHEMA evil;
CREATE OPERATOR evil.<-> (LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = no);
SET search_path = evil, public, pg_catalog;
SELECT key, name FROM bloom_nearest_names('person', 'id', 'sig', 'name', 'Erika Mustermann', 1);
RESET search_path;
-- It reads as its caller does.
CREATE ROLE nearest_reader;
SET ROLE nearest_reader;
SELECT * FROM bloom_nearest_names('person', 'id', 'sig', 'name', 'Erika Mustermann', 1);
-- Without a privilege nothing is told of the columns, and no lock is kept; a text that is NULL makes no difference.
SELECT * FROM bloom_nearest_names('person', 'nothing', 'sig', 'name', NULL, 1);
BEGIN;
SAVEPOINT before;
SELECT * FROM bloom_duplicates('person', 'nothing', 'sig', 0.9);
ROLLBACK TO before;
SELECT * FROM bloom_nearest_names('person', 'id', 'sig', 'name', NULL, 1);
ROLLBACK TO before;
SELECT count(*) FROM pg_locks WHERE relation = 'person'::regclass;
COMMIT;
RESET ROLE;
GRANT SELECT (id, sig) ON person TO nearest_reader;
SET ROLE nearest_reader;
SELECT * FROM bloom_nearest_names('person', 'id', 'sig', 'name', NULL, 1);
SELECT * FROM bloom_nearest_names('person', 'id', 'name', 'name', NULL, 1);
SELECT count(*) FROM bloom_nearest_names('person', 'id', 'sig', 'id', 'Erika Mustermann', 1);
SELECT * FROM bloom_nearest_names('person', 'id', 'sig', 'name', 'Erika Mustermann', 1);
RESET ROLE;
GRANT SELECT ON person TO nearest_reader;
ALTER TABLE person ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON person USING (id > 3001);
SET ROLE nearest_reader;
SELECT key, name FROM bloom_nearest_names('person', 'id', 'sig', 'name', 'Erika Mustermann', 2);
RESET ROLE;
DROP OWNED BY nearest_reader;
DROP ROLE nearest_reader;
-- Errors.
SELECT * FROM bloom_nearest_names('person', 'id', 'sig', 'name', 'a', 0);
SELECT * FROM bloom_nearest_names('person', 'id', 'sig', 'name', 'a', 1001);
SELECT * FROM bloom_nearest_names('person', 'id', 'sig', 'name', 'a', NULL);
SELECT * FROM bloom_nearest_names(NULL, 'id', 'sig', 'name', 'a');
SELECT * FROM bloom_nearest_names('person', NULL, 'sig', 'name', 'a');
SELECT * FROM bloom_nearest_names('person', 'id', 'sig', 'nothing', 'a');
SELECT * FROM bloom_nearest_names('person', 'id', 'name', 'name', 'a');
SELECT * FROM bloom_nearest_names('person_pkey', 'id', 'sig', 'name', 'a');
SELECT * FROM bloom_nearest_names('person', 'ctid', 'sig', 'name', 'a');
SELECT * FROM bloom_nearest_names(4294967295::oid::regclass, 'id', 'sig', 'name', 'a');
CREATE TABLE worded AS SELECT 1 AS id, 'a'::text AS name, bloom_signature_of_tokens('{a}') AS sig;
SELECT * FROM bloom_nearest_names('worded', 'id', 'sig', 'name', 'a');
INSERT INTO bare VALUES (3, 'x', bloom_signature('x', ngram => 2));
SELECT * FROM bloom_nearest_names('bare', 'id', 'sig', 'name', 'a');
DROP TABLE person, indexed, bare, worded;
DROP SCHEMA "My lists", evil CASCADE;
DROP FUNCTION no(bloom, bloom);
DROP DOMAIN sign;
