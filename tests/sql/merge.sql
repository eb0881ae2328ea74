-- bloom_merge and bloom_unmerge: what changes, what is written of it, and that all of it comes back.
\pset null '-'
CREATE TABLE person (id int PRIMARY KEY GENERATED ALWAYS AS IDENTITY, code text UNIQUE, name text, city text, score numeric(5,2), born date, parent int REFERENCES person,
    shout text GENERATED ALWAYS AS (upper(name)) STORED);
INSERT INTO person (code, name, city, score, born) VALUES
    ('a', 'Erika Mustermann', NULL, 1, NULL), ('b', 'Erica Mustermann', 'Koeln', NULL, '1964-08-12'), ('c', 'Erika M.', 'Köln', 2.50, NULL),
    ('d', 'Otto', ' ', NULL, NULL), ('e', 'Otto', NULL, NULL, '1970-01-01'), ('f', 'alone', NULL, NULL, NULL), ('g', 'child', NULL, NULL, NULL);
UPDATE person SET parent = 2 WHERE id = 7;
UPDATE person SET parent = 4 WHERE id = 2;
CREATE TABLE clusters AS SELECT * FROM (VALUES (1, '1', true), (1, '2', false), (1, '3', false), (2, '4', false), (2, '5', true), (3, '6', true)) AS c (cluster, key, keep);
CREATE TABLE visit (id int PRIMARY KEY, person int REFERENCES person ON DELETE CASCADE, note text);
INSERT INTO visit VALUES (1, 1), (2, 2), (3, 2), (4, 3), (5, 5), (6, 4), (7, 6);
CREATE TABLE card (code text PRIMARY KEY REFERENCES person (code) DEFERRABLE INITIALLY DEFERRED, note text, at timestamptz DEFAULT '2024-02-03 04:05:06+00');
INSERT INTO card VALUES ('b', 'of b'), ('c', 'of c'), ('d', 'of d');
CREATE TABLE friend (a int REFERENCES person ON DELETE CASCADE, b int REFERENCES person ON DELETE SET NULL, no int GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (a, b));
INSERT INTO friend VALUES (1, 5), (2, 4), (3, 6), (6, 7), (4, 4);
CREATE TABLE log (id int PRIMARY KEY, subject text);
INSERT INTO log VALUES (1, '2'), (2, '6'), (3, 'person 2');
CREATE FUNCTION state() RETURNS TABLE (of_table text, contents text) LANGUAGE sql AS $$
    SELECT 'person', p::text FROM person p UNION ALL SELECT 'visit', v::text FROM visit v UNION ALL SELECT 'card', c::text FROM card c
    UNION ALL SELECT 'friend', f::text FROM friend f UNION ALL SELECT 'log', l::text FROM log l ORDER BY 1, 2 $$;
CREATE TABLE before AS SELECT * FROM state();
SELECT * FROM bloom_merge('clusters', 'person', 'id');
SELECT * FROM bloom_merge('clusters', 'person', 'id', on_collision => 'drop', redirect => '{log.subject}');
SELECT * FROM person ORDER BY id;
SELECT * FROM visit ORDER BY id;
SELECT * FROM card ORDER BY code;
SELECT * FROM friend ORDER BY a, b;
SELECT * FROM log ORDER BY id;
SELECT id, action, relation, reference, cluster, key, old, new, hash IS NOT NULL AS hashed FROM bloom_merges ORDER BY entry;
-- either way
BEGIN;
SELECT bloom_unmerge(max(id)), bloom_unmerge(min(id)) FROM bloom_merges;
(TABLE before EXCEPT SELECT * FROM state()) UNION ALL (SELECT * FROM state() EXCEPT TABLE before);
SELECT id, count(*) FILTER (WHERE unmerged IS NOT NULL) FROM bloom_merges GROUP BY id ORDER BY id;
ROLLBACK;
BEGIN;
SELECT bloom_unmerge(min(id)), bloom_unmerge(max(id)) FROM bloom_merges;
(TABLE before EXCEPT SELECT * FROM state()) UNION ALL (SELECT * FROM state() EXCEPT TABLE before);
COMMIT;
SELECT bloom_unmerge(max(id)) FROM bloom_merges;
SELECT bloom_unmerge(0);
DROP TABLE person, clusters, visit, card, friend, log, before, bloom_merges;
DROP FUNCTION state();
