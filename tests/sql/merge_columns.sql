-- What triggers change of rows that are redirected is written down, and comes back with them.
SET client_min_messages = warning;
\set SHOW_CONTEXT never
\pset null '-'
CREATE SCHEMA merge_columns;
SET search_path = merge_columns, public;
CREATE TABLE person (id int PRIMARY KEY, name text, boss int REFERENCES person, version int DEFAULT 1);
INSERT INTO person VALUES (1, 'A', NULL), (2, 'B', NULL), (3, 'C', 2), (4, 'D', NULL), (5, 'E', 4);
CREATE TABLE visit (id int, day date, person int REFERENCES person, other int REFERENCES person, third int REFERENCES person, version int DEFAULT 1, note text, total int GENERATED ALWAYS AS (version * 10) STORED, PRIMARY KEY (id, day));
INSERT INTO visit VALUES (1, '2025-01-01', 2, 4, 2), (2, '2025-01-02', 2, NULL, NULL), (3, '2025-01-03', NULL, 4, 1), (4, '2025-01-04', 5, NULL, NULL);
CREATE FUNCTION count_up() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.version := OLD.version + 1; RETURN NEW; END $$;
CREATE TRIGGER up BEFORE UPDATE ON visit FOR EACH ROW EXECUTE FUNCTION count_up();
CREATE TRIGGER up BEFORE UPDATE ON person FOR EACH ROW EXECUTE FUNCTION count_up();
-- and one that changes the row again when it is changed
CREATE FUNCTION annotate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE visit SET note = concat(OLD.note, 'from ', OLD.person, '/', OLD.other, ' ') WHERE id = NEW.id; RETURN NULL; END $$;
CREATE TRIGGER zz AFTER UPDATE OF person, other ON visit FOR EACH ROW EXECUTE FUNCTION annotate();
CREATE TABLE clusters (cluster int, key int, keep bool);
INSERT INTO clusters VALUES (1, 1, true), (1, 2, false), (2, 3, true), (2, 4, false);
CREATE TABLE before AS SELECT v.* FROM visit AS v;
CREATE TABLE people AS SELECT * FROM person;
CREATE FUNCTION back(VARIADIC ids int[]) RETURNS TABLE (place text, other_row text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM setval('bloom_merges_id_seq', 1, false);
    PERFORM bloom_merge('clusters', 'person', 'id');
    ALTER TABLE visit DISABLE TRIGGER USER;
    ALTER TABLE person DISABLE TRIGGER USER;
    PERFORM bloom_unmerge(i) FROM unnest(ids) AS i;
    ALTER TABLE visit ENABLE TRIGGER USER;
    ALTER TABLE person ENABLE TRIGGER USER;
    RETURN QUERY SELECT 'visit', visit::text FROM visit EXCEPT SELECT 'visit', before::text FROM before;
    RETURN QUERY SELECT 'person', person::text FROM person EXCEPT SELECT 'person', people::text FROM people;
END $$;
SELECT bloom_merges_create('bloom_merges');
BEGIN;
SELECT id, key, deleted, redirected FROM bloom_merge('clusters', 'person', 'id');
SELECT id, reference, key, old, new FROM bloom_merges WHERE action = 'redirect' ORDER BY entry;
SELECT * FROM visit ORDER BY id;
ROLLBACK;
-- each order
BEGIN;
SELECT * FROM back(1, 2) ORDER BY 1, 2;
ROLLBACK;
BEGIN;
SELECT * FROM back(2, 1) ORDER BY 1, 2;
ROLLBACK;
-- the one that stands keeps what it has changed
BEGIN;
SELECT * FROM back(1) ORDER BY 1, 2;
SELECT id, reference, key, old, new FROM bloom_merges WHERE action = 'redirect' AND unmerged IS NULL ORDER BY entry;
ROLLBACK;
-- several runs
BEGIN;
SELECT setval('bloom_merges_id_seq', 1, false);
CREATE TEMP VIEW one AS SELECT * FROM clusters WHERE cluster = 1;
CREATE TEMP VIEW two AS SELECT * FROM clusters WHERE cluster = 2;
SELECT id FROM bloom_merge('one', 'person', 'id');
SELECT id FROM bloom_merge('two', 'person', 'id');
ALTER TABLE visit DISABLE TRIGGER USER;
ALTER TABLE person DISABLE TRIGGER USER;
SELECT bloom_unmerge(1), bloom_unmerge(2);
SELECT count(*) AS same FROM visit JOIN before ON visit *= before;
SELECT count(*) AS same FROM person JOIN people ON person *= people;
ROLLBACK;
-- a trigger that changes the row whatever happens has its way
BEGIN;
SELECT setval('bloom_merges_id_seq', 1, false);
SELECT id FROM bloom_merge('clusters', 'person', 'id');
SELECT bloom_unmerge(2), bloom_unmerge(1);
SELECT id, person, other, third, version FROM visit ORDER BY id;
ROLLBACK;
DROP SCHEMA merge_columns CASCADE;
