-- Merges are taken back in any order, also when rows that one of them has dropped are like rows that another one has changed.
SET client_min_messages = warning;
\set SHOW_CONTEXT never
\pset null '-'
CREATE SCHEMA merge_order;
SET search_path = merge_order, public;
CREATE TABLE person (id int PRIMARY KEY, name text);
INSERT INTO person SELECT i, chr(64 + i) FROM generate_series(1, 7) AS i;
CREATE TABLE v (person int REFERENCES person, other int REFERENCES person, x text, PRIMARY KEY (person, other));
INSERT INTO v VALUES (1, 4, 'a'), (2, 5, 'b'), (3, 4, 'c'), (2, 4, 'd'), (1, 5, 'e'), (5, 2, 'f'), (4, 1, 'g'), (4, 3, 'h'), (5, 1, 'i'), (2, 7, 'j'), (6, 4, 'k'), (7, 5, 'l');
CREATE TABLE clusters (cluster int, key int, keep bool);
INSERT INTO clusters VALUES (1, 1, true), (1, 2, false), (1, 3, false), (2, 4, true), (2, 5, false), (3, 6, true), (3, 7, false);
SELECT bloom_merges_create('bloom_merges');
CREATE TABLE before AS SELECT * FROM v;
CREATE TABLE people AS SELECT * FROM person;
SET client_min_messages = notice;
BEGIN;
SELECT id, deleted, redirected, dropped FROM bloom_merge('clusters', 'person', 'id', on_collision => 'drop');
SELECT id, key, old FROM bloom_merges WHERE action = 'drop' ORDER BY entry;
SELECT bloom_unmerge(1);
SELECT * FROM v ORDER BY x;
SELECT bloom_unmerge(2);
SELECT * FROM v ORDER BY x;
SELECT bloom_unmerge(3);
SELECT count(*) AS same FROM v JOIN before ON v *= before;
ROLLBACK;
SET client_min_messages = warning;
-- each order
CREATE FUNCTION back(VARIADIC ids int[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    first int;
BEGIN
    SELECT min(id) - 1 INTO first FROM bloom_merge('clusters', 'person', 'id', on_collision => 'drop');
    FOR i IN 1 .. 3 LOOP
        PERFORM bloom_unmerge(first + ids[i]);
    END LOOP;
    RETURN (SELECT count(*) FROM v JOIN before ON v *= before) || ' of ' || (SELECT count(*) FROM v) || ', ' || (SELECT count(*) FROM person JOIN people ON person *= people);
END $$;
SELECT back(1, 2, 3), back(1, 3, 2), back(2, 1, 3), back(2, 3, 1), back(3, 1, 2), back(3, 2, 1);
-- in the way is a row of somebody else
BEGIN;
SELECT min(id) AS first FROM bloom_merge('clusters', 'person', 'id', on_collision => 'drop') \gset
SELECT bloom_unmerge(:first + 2), bloom_unmerge(:first + 1);
ALTER TABLE v DROP CONSTRAINT v_person_fkey;
INSERT INTO v VALUES (2, 4, 'new');
SELECT bloom_unmerge(:first);
ROLLBACK;
-- a record that a dropped row refers to was merged since
BEGIN;
CREATE TEMP VIEW one AS SELECT * FROM clusters WHERE cluster = 1;
CREATE TEMP VIEW two AS SELECT * FROM clusters WHERE cluster = 2;
SELECT id AS first FROM bloom_merge('one', 'person', 'id', on_collision => 'drop') \gset
SELECT id AS then FROM bloom_merge('two', 'person', 'id', on_collision => 'drop') \gset
SELECT bloom_unmerge(:first), bloom_unmerge(:then);
SELECT count(*) AS same FROM v JOIN before ON v *= before;
ROLLBACK;
-- a refusal names the merge to take back first
BEGIN;
ALTER TABLE person ADD parent int REFERENCES person;
UPDATE person SET parent = 5 WHERE id = 1;
CREATE TEMP VIEW one AS SELECT * FROM clusters WHERE cluster = 1;
CREATE TEMP VIEW two AS SELECT * FROM clusters WHERE cluster = 2;
SELECT id AS first FROM bloom_merge('one', 'person', 'id', on_collision => 'drop') \gset
SELECT id AS then FROM bloom_merge('two', 'person', 'id', on_collision => 'drop') \gset
SAVEPOINT merged;
SELECT bloom_unmerge(:first);
ROLLBACK TO merged;
SELECT bloom_unmerge(:then), bloom_unmerge(:first);
ROLLBACK;
DROP SCHEMA merge_order CASCADE;
