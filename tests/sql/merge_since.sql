-- What has happened since a merge, and guards that meet their own losers.
\pset null '-'
CREATE TABLE person (id int PRIMARY KEY, name text, city text, changes int DEFAULT 0, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED,
    EXCLUDE USING gist ((bloom_query(sig, 0.8)) WITH %), EXCLUDE USING sigfile ((bloom_query(sig, 0.8)) WITH %));
CREATE TABLE visit (id int PRIMARY KEY, person int REFERENCES person);
INSERT INTO person VALUES (1, 'Erika', NULL), (2, 'Erika Mustermann', 'Bonn'), (3, 'Otto', NULL), (4, 'Otto Normalverbraucher', 'Kiel');
INSERT INTO visit VALUES (1, 1), (2, 2), (3, 4);
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON person FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject');
CREATE TABLE clusters AS SELECT (id + 1) / 2 AS cluster, id AS key, id % 2 = 1 AS keep FROM person;
DO $$ BEGIN PERFORM bloom_merges_create('merges'); END $$;
SELECT indexdef FROM pg_indexes WHERE tablename = 'merges' ORDER BY indexdef;
-- the record that is kept gets the very name of one that goes
SELECT id, cluster, key, deleted, redirected FROM bloom_merge('clusters', 'person', 'id', '{"name": "longest"}', audit => 'merges');
SELECT id, name, city FROM person ORDER BY id;
-- a similar row is refused as before
INSERT INTO person VALUES (9, 'Erika Mustermann');
-- a row that was added since stays with the record that was kept
INSERT INTO visit VALUES (9, 1);
SELECT bloom_unmerge(1, 'merges');
SELECT id, name, city FROM person ORDER BY id;
SELECT * FROM visit ORDER BY id;
-- a trigger that changes the record after each update
CREATE FUNCTION count_changes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE person SET changes = changes + 1 WHERE id = NEW.id; RETURN NULL; END $$;
CREATE TRIGGER z AFTER UPDATE ON person FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION count_changes();
UPDATE person SET city = 'Ulm' WHERE id = 3;
SELECT bloom_unmerge(2, 'merges');
ALTER TABLE person DISABLE TRIGGER z;
UPDATE person SET changes = 0, city = 'Kiel' WHERE id = 3;
-- a trigger that keeps the record out, as a guard may, and how it is let in
CREATE FUNCTION keep_out() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER keep_out BEFORE INSERT ON person FOR EACH ROW EXECUTE FUNCTION keep_out();
SELECT bloom_unmerge(2, 'merges');
BEGIN;
ALTER TABLE person DISABLE TRIGGER keep_out;
SELECT bloom_unmerge(2, 'merges');
SELECT id, name, city FROM person ORDER BY id;
ROLLBACK;
DROP TRIGGER keep_out ON person;
DROP FUNCTION keep_out();
-- a table of merges that has no such index
DO $$ BEGIN EXECUTE (SELECT format('DROP INDEX %s', indexrelid::regclass) FROM pg_index WHERE indrelid = 'merges'::regclass AND indpred IS NOT NULL); END $$;
SELECT bloom_unmerge(2, 'merges');
SELECT id, name, city FROM person ORDER BY id;
SELECT * FROM visit ORDER BY id;
DROP TABLE person, visit, clusters, merges;
DROP FUNCTION count_changes();
-- a table that refers to itself, of many clusters
CREATE TABLE node (id int PRIMARY KEY, name text, parent int REFERENCES node);
INSERT INTO node SELECT i, 'n' || i, CASE WHEN i % 3 = 0 THEN i * 7 % 60000 END FROM generate_series(0, 59999) AS i;
CREATE INDEX ON node (parent);
CREATE TABLE clusters AS SELECT i % 10000 AS cluster, i::text AS key, i < 10000 AS keep FROM generate_series(0, 23999) AS i;
SET statement_timeout = '60s';
SELECT count(*), sum(redirected) FROM bloom_merge('clusters', 'node', 'id');
SELECT count(*) FROM node;
SELECT count(bloom_unmerge(id)) FROM (SELECT id FROM bloom_merges WHERE action = 'keep' ORDER BY id LIMIT 200) AS m;
SELECT count(*) FROM node;
DROP TABLE node, clusters, bloom_merges;
