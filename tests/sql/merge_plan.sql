-- bloom_merge_plan: which record of each cluster is kept, what it has afterwards, and what points to the others.
CREATE TABLE person (id int PRIMARY KEY GENERATED ALWAYS AS IDENTITY, code text UNIQUE, name text, city text, source text, updated date, score numeric(5,2), parent int REFERENCES person,
    shout text GENERATED ALWAYS AS (upper(name)) STORED);
INSERT INTO person (code, name, city, source, updated, score) VALUES
    ('a', 'Erika Mustermann', NULL, 'web', '2024-01-01', 1), ('b', 'Erica Mustermann', 'Koeln', 'crm', '2025-01-01', NULL), ('c', 'Erika M.', 'Köln', 'crm', NULL, 2.50),
    ('d', 'Otto', ' ', 'web', '2023-05-05', NULL), ('e', 'Otto', NULL, 'erp', '2022-05-05', NULL), ('f', 'alone', NULL, NULL, NULL, NULL), ('g', 'child', NULL, NULL, NULL, NULL);
UPDATE person SET parent = 2 WHERE id = 7;
UPDATE person SET parent = 5 WHERE id = 1;
CREATE TABLE clusters AS SELECT * FROM (VALUES (1, '1', true), (1, '2', false), (1, '3', false), (2, '4', false), (2, '5', true), (3, '6', true)) AS c (cluster, key, keep);
CREATE TABLE visit (id int PRIMARY KEY, person int REFERENCES person);
INSERT INTO visit VALUES (1, 1), (2, 2), (3, 2), (4, 3), (5, 5), (6, 4), (7, 6);
CREATE TABLE card (code text PRIMARY KEY REFERENCES person (code), note text);
INSERT INTO card VALUES ('a', 'of a'), ('b', 'of b'), ('c', 'of c'), ('d', 'of d');
CREATE TABLE friend (a int REFERENCES person ON DELETE CASCADE, b int REFERENCES person ON DELETE CASCADE, PRIMARY KEY (a, b));
INSERT INTO friend VALUES (1, 5), (2, 4), (3, 5), (6, 7);
\pset null '-'
SELECT * FROM bloom_merge_plan('clusters', 'person', 'id');
SELECT cluster, key FROM unnest(ARRAY['most complete', 'oldest', 'newest', 'updated', 'oldest by updated', 'newest by "updated"', 'clusters', 'score']) WITH ORDINALITY AS b (by, i),
    bloom_merge_plan('clusters', 'person', 'id', keep_by => by) WHERE action = 'keep' ORDER BY i, cluster;
-- every rule
SELECT cluster, "column", value, source FROM bloom_merge_plan('clusters', 'person', 'id', '{"name": "longest", "city": {"newest": "updated"}, "source": "most frequent", "updated": {"oldest": "id"},
    "score": {"sql": "sum(score) + 1.005"}}') WHERE action = 'value' AND "column" IN ('name', 'city', 'source', 'updated', 'score') ORDER BY cluster, "column";
SELECT cluster, "column", value, source FROM bloom_merge_plan('clusters', 'person', 'id', '{"*": "keep", "name": {"priority": {"column": "source", "order": ["erp", "crm"]}}, "city": "most complete", "score": "fill"}')
    WHERE action = 'value' AND "column" IN ('name', 'city', 'source', 'updated', 'score') ORDER BY cluster, "column";
DROP TABLE person, clusters, visit, card, friend;
-- settings do not make the plan another one than the merge
BEGIN;
CREATE TABLE measure (id int PRIMARY KEY, value float8, day date);
INSERT INTO measure VALUES (1, 0.3, '2024-02-03'), (2, 0.1::float8 + 0.2::float8, NULL);
CREATE TABLE pair AS SELECT 1 AS cluster, id AS key, id = 1 AS keep FROM measure;
SET LOCAL extra_float_digits = -10;
SET LOCAL datestyle = 'German, DMY';
SELECT "column", value, source FROM bloom_merge_plan('pair', 'measure', 'id', '{"value": "longest"}') WHERE action = 'value';
SET LOCAL client_min_messages = warning;
SELECT deleted FROM bloom_merge('pair', 'measure', 'id', '{"value": "longest"}');
RESET extra_float_digits;
SELECT * FROM measure;
ROLLBACK;
