-- Merging is done with the rights of who merges, and these are looked at before anything changes.
-- OIDs of tables differ
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE ROLE merge_owner;
CREATE ROLE merge_clerk;
CREATE SCHEMA register AUTHORIZATION merge_owner;
GRANT USAGE ON SCHEMA register TO merge_clerk;
CREATE SCHEMA desk AUTHORIZATION merge_clerk;
SET ROLE merge_owner;
CREATE TABLE register.person (id int PRIMARY KEY, name text, secret text);
INSERT INTO register.person VALUES (1, 'a', NULL), (2, 'b', 'hidden'), (3, 'c', NULL);
CREATE TABLE register.visit (id int PRIMARY KEY, person int REFERENCES register.person ON DELETE CASCADE, note text);
INSERT INTO register.visit VALUES (1, 1), (2, 2), (3, 2);
CREATE TABLE register.cluster_of AS SELECT 1 AS cluster, 1 AS key UNION ALL SELECT 1, 2;
SET ROLE merge_clerk;
SET search_path = desk, public;
-- step by step what is needed
SELECT * FROM bloom_merge('register.cluster_of', 'register.person', 'id');
RESET ROLE;
GRANT SELECT ON register.cluster_of TO merge_clerk;
GRANT SELECT (id, name) ON register.person TO merge_clerk;
SET ROLE merge_clerk;
SELECT * FROM bloom_merge('register.cluster_of', 'register.person', 'id');
SELECT * FROM bloom_merge_plan('register.cluster_of', 'register.person', 'id');
RESET ROLE;
GRANT SELECT ON register.person TO merge_clerk;
SET ROLE merge_clerk;
SELECT * FROM bloom_merge_plan('register.cluster_of', 'register.person', 'id');
SELECT * FROM bloom_merge('register.cluster_of', 'register.person', 'id');
RESET ROLE;
GRANT DELETE, UPDATE (name) ON register.person TO merge_clerk;
SET ROLE merge_clerk;
SELECT * FROM bloom_merge('register.cluster_of', 'register.person', 'id');
SELECT * FROM bloom_merge('register.cluster_of', 'register.person', 'id', '{"secret": "keep"}');
RESET ROLE;
GRANT SELECT, UPDATE (person) ON register.visit TO merge_clerk;
SET ROLE merge_clerk;
SELECT * FROM bloom_merge('register.cluster_of', 'register.person', 'id', '{"secret": "keep"}', on_collision => 'drop');
-- what was merged belongs to who merged
SELECT relname, relowner::regrole FROM pg_class WHERE relname = 'bloom_merges';
SELECT action, key FROM bloom_merges ORDER BY entry;
SELECT bloom_unmerge(1);
RESET ROLE;
GRANT INSERT ON register.person TO merge_clerk;
SET ROLE merge_clerk;
SELECT bloom_unmerge(1);
SELECT * FROM register.person ORDER BY id;
SELECT * FROM register.visit ORDER BY id;
-- a table of another is not written unless it is named, and then by its own rights
RESET ROLE;
GRANT USAGE ON SCHEMA desk TO merge_owner;
SET ROLE merge_owner;
SELECT * FROM bloom_merge('register.cluster_of', 'register.person', 'id');
SELECT * FROM bloom_merge('register.cluster_of', 'register.person', 'id', audit => 'desk.bloom_merges');
SELECT bloom_unmerge(1);
-- row-level security: rows of a child that are not seen must not be deleted
ALTER TABLE register.visit ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON register.visit TO merge_clerk USING (id < 3);
SET ROLE merge_clerk;
SELECT * FROM bloom_merge('register.cluster_of', 'register.person', 'id', '{"secret": "keep"}');
RESET ROLE;
ALTER TABLE register.visit DROP CONSTRAINT visit_person_fkey, ADD FOREIGN KEY (person) REFERENCES register.person;
SET ROLE merge_clerk;
SELECT * FROM bloom_merge('register.cluster_of', 'register.person', 'id', '{"secret": "keep"}');
SELECT bloom_unmerge(2);
RESET ROLE;
DROP POLICY own ON register.visit;
ALTER TABLE register.visit DISABLE ROW LEVEL SECURITY;
-- of the records
ALTER TABLE register.person ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON register.person FOR SELECT TO merge_clerk USING (true);
CREATE POLICY changed ON register.person FOR UPDATE TO merge_clerk USING (true);
CREATE POLICY gone ON register.person FOR DELETE TO merge_clerk USING (id <> 1);
SET ROLE merge_clerk;
SELECT * FROM bloom_merge('register.cluster_of', 'register.person', 'id', '{"secret": "keep"}');
RESET ROLE;
DROP POLICY seen ON register.person;
CREATE POLICY seen ON register.person FOR SELECT TO merge_clerk USING (id <> 2);
SET ROLE merge_clerk;
SELECT * FROM bloom_merge('register.cluster_of', 'register.person', 'id', '{"secret": "keep"}');
RESET ROLE;
SELECT count(*) FROM register.person;
-- who may not read a table that refers to the records, takes no lock on it
CREATE TABLE desk.person (id int PRIMARY KEY);
INSERT INTO desk.person VALUES (1), (2);
ALTER TABLE desk.person OWNER TO merge_clerk;
GRANT REFERENCES ON desk.person TO merge_owner;
SET ROLE merge_owner;
CREATE TABLE register.private (id int PRIMARY KEY, person int REFERENCES desk.person);
SET ROLE merge_clerk;
BEGIN;
SELECT action, key, value FROM bloom_merge_plan('register.cluster_of', 'desk.person', 'id') WHERE action = 'stop';
SELECT mode FROM pg_locks WHERE relation = 'register.private'::regclass;
ROLLBACK;
SELECT * FROM bloom_merge('register.cluster_of', 'desk.person', 'id');
-- who may read it, takes no other than a reader's
SET ROLE merge_owner;
GRANT SELECT ON register.private TO merge_clerk;
SET ROLE merge_clerk;
BEGIN;
SELECT * FROM bloom_merge_plan('register.cluster_of', 'desk.person', 'id') WHERE action = 'stop';
SELECT mode FROM pg_locks WHERE relation = 'register.private'::regclass;
SELECT * FROM bloom_merge('register.cluster_of', 'desk.person', 'id');
ROLLBACK;
RESET ROLE;
RESET search_path;
DROP SCHEMA register, desk CASCADE;
DROP ROLE merge_owner, merge_clerk;
