-- bloom_guard_search: the search of a guard alone.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloom_ident;
CREATE SCHEMA guard_search;
SET search_path = guard_search, public;
CREATE TABLE person (id integer PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
CREATE INDEX ON person USING sigfile (sig);
INSERT INTO person SELECT i, md5(i::text) FROM generate_series(1, 500) AS i;
INSERT INTO person VALUES (1001, 'Erika Mustermann'), (1002, 'Erica Mustermann'), (1003, NULL), (1004, '');
SELECT key, round(similarity::numeric, 4) FROM bloom_guard_search('person', 'sig', bloom_signature('Erika Mustermann'), 0.75);
SELECT * FROM bloom_guard_search('person', 'sig', bloom_signature('Erika Mustermann'), 0.9, '1001');
SELECT key FROM bloom_guard_search('person', 'sig', bloom_signature('Erika Mustermann'), 0.75, '1001');
-- As a guard, it goes by no signature that is missing, empty or too full; it gives five rows at most.
SELECT count(*) FROM bloom_guard_search('person', 'sig', NULL, 0);
SELECT count(*) FROM bloom_guard_search('person', 'sig', bloom_signature(''), 0);
INSERT INTO person SELECT 2001, string_agg(md5(i::text), '') FROM generate_series(1, 99) AS i;
SELECT count(*) FROM bloom_guard_search('person', 'sig', (SELECT sig FROM person WHERE id = 2001), 0);
SELECT count(*) FROM bloom_guard_search('person', 'sig', bloom_signature('Erika Mustermann'), 0.01);
-- A row of its own transaction is there, one that it has deleted is not.
BEGIN;
INSERT INTO person VALUES (1005, 'Jörg Müller');
DELETE FROM person WHERE id = 1001;
SELECT key, similarity FROM bloom_guard_search('person', 'sig', bloom_signature('Jörg Müller'), 0.9);
SELECT key FROM bloom_guard_search('person', 'sig', bloom_signature('Erika Mustermann'), 0.75);
ROLLBACK;
-- A key of several columns is the text of a row.
CREATE TABLE two (a text, b integer, sig bloom, PRIMARY KEY (a, b));
INSERT INTO two VALUES ('x, y', 1, bloom_signature('Erika')), ('x', 2, bloom_signature('Erika'));
SELECT key FROM bloom_guard_search('two', 'sig', bloom_signature('Erika'), 1, '(x,2)');
-- In the select list, as queries of other nodes have it.
SELECT bloom_guard_search('two', 'sig', bloom_signature('Erika'), 1, '(x,2)')::text AS row;
-- Whoever may not read all of it learns nothing.
CREATE ROLE guard_search_role;
GRANT USAGE ON SCHEMA guard_search TO guard_search_role;
GRANT SELECT (id) ON person TO guard_search_role;
SET ROLE guard_search_role;
SELECT * FROM bloom_guard_search('person', 'sig', bloom_signature('Erika Mustermann'), 0.75);
RESET ROLE;
GRANT SELECT (sig) ON person TO guard_search_role;
SET ROLE guard_search_role;
SELECT key FROM bloom_guard_search('person', 'sig', bloom_signature('Erika Mustermann'), 0.75);
RESET ROLE;
ALTER TABLE person ENABLE ROW LEVEL SECURITY;
SET ROLE guard_search_role;
SELECT * FROM bloom_guard_search('person', 'sig', bloom_signature('Erika Mustermann'), 0.75);
RESET ROLE;
-- What cannot be.
CREATE TABLE keyless (sig bloom);
CREATE VIEW seen AS TABLE person;
CREATE TABLE parts (id integer, sig bloom, PRIMARY KEY (id)) PARTITION BY RANGE (id);
SELECT * FROM bloom_guard_search('keyless', 'sig', bloom_signature('x'), 0.75);
SELECT * FROM bloom_guard_search('seen', 'sig', bloom_signature('x'), 0.75);
SELECT * FROM bloom_guard_search('parts', 'sig', bloom_signature('x'), 0.75);
SELECT * FROM bloom_guard_search('person', 'name', bloom_signature('x'), 0.75);
SELECT * FROM bloom_guard_search('person', 'signature', bloom_signature('x'), 0.75);
SELECT * FROM bloom_guard_search('person', 'sig', bloom_signature('x'), 1.5);
SELECT * FROM bloom_guard_search('person', 'sig', bloom_signature('x'), 'NaN');
SELECT * FROM bloom_guard_search('person', 'sig', bloom_signature('x', 2), 0.5);
SELECT * FROM bloom_guard_search(NULL, 'sig', bloom_signature('x'), 0.5);
SELECT * FROM bloom_guard_search('person', NULL, bloom_signature('x'), 0.5);
SELECT * FROM bloom_guard_search('person', 'sig', bloom_signature('x'), NULL);
SELECT * FROM bloom_guard_search(0, 'sig', bloom_signature('x'), 0.5);
DROP SCHEMA guard_search CASCADE;
DROP ROLE guard_search_role;
