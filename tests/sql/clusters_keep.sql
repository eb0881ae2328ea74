-- bloom_clusters chooses the record to keep by keep_by, as bloom_merge does.
\pset null '-'
CREATE TABLE person (id int PRIMARY KEY, name text, city text, source text, updated date, doc json, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
INSERT INTO person (id, name, city, source, updated) VALUES
    (9, 'Erika Mustermann', NULL, 'web', '2024-05-01'), (10, 'Erika Mustermann', 'Köln', 'crm', '2023-02-01'), (100, 'Erika Mustermann', ' ', NULL, NULL), (101, 'Erica Mustermann', NULL, NULL, '2024-05-01'),
    (20, 'Jörg Müller', NULL, 'web', NULL), (3, 'Joerg Mueller', NULL, 'erp', NULL), (50, 'Anna', 'Wien', 'web', NULL);
CREATE TABLE pairs AS SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.5);
CREATE TABLE word (by text, i int);
INSERT INTO word SELECT by, i FROM unnest('{clusters,most complete,oldest,newest,updated,newest by updated,oldest by updated,"newest by \"source\"",source}'::text[]) WITH ORDINALITY AS w (by, i);
INSERT INTO word VALUES (NULL, 0);
-- every method, by each word: what the two forms, bloom_clusters_update and bloom_merge_plan over the clusters keep
CREATE TABLE none (key text, cluster int);
SELECT i, by, method, array_agg(key ORDER BY cluster) AS kept FROM word, unnest('{centre,components,average}'::text[]) AS method, bloom_clusters('person', 'id', 'sig', 0.5, method, keep_by => by)
    WHERE keep GROUP BY i, by, method ORDER BY i, method;
CREATE TABLE plain AS SELECT * FROM bloom_clusters('person', 'id', 'sig', 0.5);
SELECT i, by, (SELECT array_agg(c::text) FROM bloom_clusters('person', 'id', 'sig', 0.5, keep_by => by) AS c)
    = (SELECT array_agg(c::text) FROM bloom_clusters('pairs', 0.5, keep_by => by, rel => CASE WHEN i > 0 THEN 'person' END::regclass, key => CASE WHEN i > 0 THEN 'id' END::name) AS c) AS of_pairs,
    (SELECT array_agg(key ORDER BY cluster) FROM bloom_clusters('person', 'id', 'sig', 0.5, keep_by => by) WHERE keep)
    = (SELECT array_agg(key ORDER BY cluster) FROM bloom_clusters_update('none', 'pairs', 0.5, keep_by => by, rel => CASE WHEN i > 0 THEN 'person' END::regclass, key => CASE WHEN i > 0 THEN 'id' END::name) WHERE keep) AS updated,
    (SELECT array_agg(key ORDER BY cluster) FROM bloom_clusters('person', 'id', 'sig', 0.5, keep_by => by) WHERE keep)
    = (SELECT array_agg(key ORDER BY cluster) FROM bloom_merge_plan('plain', 'person', 'id', keep_by => by) WHERE action = 'keep') AS as_merged
    FROM word ORDER BY i;
-- The clusters stay, the order within them and the similarities are those of the record to keep: NULL where no such pair was found.
SELECT * FROM bloom_clusters('person', 'id', 'sig', 0.5, keep_by => 'newest');
CREATE TABLE chain AS SELECT * FROM (VALUES ('9', '10', 0.9), ('10', '100', 0.8), ('20', '3', 0.7)) AS p (a, b, similarity);
SELECT * FROM bloom_clusters('chain', 0.7);
SELECT * FROM bloom_clusters('chain', 0.7, keep_by => 'oldest', rel => 'person', key => 'id');
SELECT * FROM bloom_clusters('chain', 0.7, 'components', NULL, 'error', NULL, 'newest', 'person', 'id');
-- with decisions
CREATE TABLE decided AS SELECT '9'::text AS a, '10'::text AS b, 'different'::text AS decision, now() AS at;
SELECT * FROM bloom_clusters('chain', 0.7, 'components', 'decided', keep_by => 'oldest', rel => 'person', key => 'id');
-- Many clusters, against SQL; keys of other types, views, partitions, tables that inherit.
CREATE TABLE many (id uuid, no int, a text, b char(3), c int, at timestamptz) PARTITION BY HASH (no);
CREATE TABLE many_0 PARTITION OF many FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE many_1 PARTITION OF many FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO many SELECT md5(i::text)::uuid, i, CASE i * 7 % 5 WHEN 0 THEN NULL WHEN 1 THEN '  ' ELSE 'x' END, CASE i * 11 % 3 WHEN 0 THEN '   ' ELSE 'x' END, nullif(i * 13 % 4, 0),
    CASE WHEN i % 6 > 0 THEN timestamptz '2024-01-01 00:00+00' + i * 7919 % 11 * interval '1 day' END FROM generate_series(0, 2999) AS i;
CREATE VIEW many_view AS SELECT * FROM many;
CREATE TABLE parent (LIKE many);
CREATE TABLE heir () INHERITS (parent);
INSERT INTO heir SELECT * FROM many;
CREATE TABLE links AS SELECT md5(i::text) AS a, md5((i - i % 5)::text) AS b, 0.9 AS similarity FROM generate_series(0, 2999) AS i WHERE i % 5 > 0;
UPDATE links SET a = a::uuid::text, b = b::uuid::text;
CREATE VIEW expected AS
    WITH s AS (SELECT cluster, c.key, keep, m.id, at, (a ~ '[^ ]')::int AS a, (b ~ '[^ ]')::int AS b, (m.c IS NOT NULL)::int AS c, (at IS NOT NULL)::int AS t FROM bloom_clusters('links', 0.5) AS c JOIN many AS m ON m.id::text = c.key),
    f AS (SELECT *, coalesce(a, 0) + coalesce(b, 0) + c + t AS filled FROM s)
    SELECT 'most complete' AS by, (array_agg(key ORDER BY filled DESC, keep DESC, id))[1] AS key, cluster FROM f GROUP BY cluster
    UNION ALL SELECT 'oldest', (array_agg(key ORDER BY id))[1], cluster FROM f GROUP BY cluster
    UNION ALL SELECT 'newest', (array_agg(key ORDER BY id DESC))[1], cluster FROM f GROUP BY cluster
    UNION ALL SELECT 'at', (array_agg(key ORDER BY at DESC NULLS LAST, keep DESC, filled DESC, id))[1], cluster FROM f GROUP BY cluster
    UNION ALL SELECT 'oldest by at', (array_agg(key ORDER BY at NULLS LAST, keep DESC, filled DESC, id))[1], cluster FROM f GROUP BY cluster;
SELECT rel, by, count(*), count(*) FILTER (WHERE c.key = e.key AND c.cluster = e.cluster) AS expected FROM unnest('{many,many_view,parent}'::regclass[]) AS rel, expected AS e
    LEFT JOIN LATERAL bloom_clusters('links', 0.5, keep_by => e.by, rel => rel, key => 'id') AS c ON c.keep AND c.cluster = e.cluster AND e.cluster < 20 WHERE e.cluster < 20 GROUP BY rel, by ORDER BY rel::text, by;
-- It goes to disk where there is little memory.
SET work_mem = '64kB';
SELECT e.by, count(*), count(*) FILTER (WHERE c.key = e.key) AS expected FROM (SELECT DISTINCT by FROM expected) AS w, LATERAL bloom_clusters('links', 0.5, keep_by => w.by, rel => 'many', key => 'id') AS c
    JOIN expected AS e USING (cluster) WHERE c.keep AND e.by = w.by GROUP BY e.by ORDER BY e.by;
RESET work_mem;

-- Errors.
\set VERBOSITY verbose
\set SHOW_CONTEXT never
SELECT * FROM bloom_clusters('person', 'id', 'sig', 0.5, keep_by => ' ');
SELECT * FROM bloom_clusters('person', 'id', 'sig', 0.5, keep_by => 'nothing');
SELECT * FROM bloom_clusters('person', 'id', 'sig', 0.5, keep_by => 'oldest by doc');
SELECT * FROM bloom_merge_plan('plain', 'person', 'id', keep_by => 'doc');
SELECT * FROM bloom_clusters('pairs', 0.5, keep_by => 'oldest');
SELECT * FROM bloom_clusters('pairs', 0.5, keep_by => 'oldest', rel => 'person');
SELECT * FROM bloom_clusters('pairs', 0.5, keep_by => 'oldest', key => 'id');
SELECT * FROM bloom_clusters('pairs', 0.5, rel => 'person', key => 'id');
SELECT * FROM bloom_clusters('pairs', 0.5, key => 'id');
SELECT * FROM bloom_clusters('pairs', 0.5, keep_by => 'oldest', rel => 'person', key => 'nobody');
SELECT * FROM bloom_clusters('pairs', 0.5, keep_by => 'oldest', rel => 'person', key => 'doc');
SELECT * FROM bloom_clusters('pairs', 0.5, keep_by => 'oldest', rel => 'person_pkey', key => 'id');
SELECT * FROM bloom_clusters_update('none', 'pairs', 0.5, keep_by => 'oldest');
DELETE FROM person WHERE id = 10;
SELECT * FROM bloom_clusters('pairs', 0.5, keep_by => 'oldest', rel => 'person', key => 'id');
INSERT INTO person (id, name) VALUES (10, 'back');
ALTER TABLE person DROP CONSTRAINT person_pkey;
INSERT INTO person (id, name) VALUES (10, 'again');
SELECT * FROM bloom_clusters('pairs', 0.5, keep_by => 'oldest', rel => 'person', key => 'id');
\set VERBOSITY default
SELECT * FROM bloom_clusters('pairs', 0.5, keep_by => 'oldest', rel => 'person', key => 'updated');
-- Who asks may read what decides.
DELETE FROM person WHERE name = 'again';
CREATE ROLE clusters_keep_reader;
GRANT SELECT ON pairs TO clusters_keep_reader;
GRANT SELECT (id, name, sig) ON person TO clusters_keep_reader;
SET ROLE clusters_keep_reader;
SELECT key FROM bloom_clusters('pairs', 0.5, keep_by => 'oldest', rel => 'person', key => 'id') WHERE keep;
SELECT key FROM bloom_clusters('person', 'id', 'sig', 0.5, keep_by => 'newest') WHERE keep;
SELECT key FROM bloom_clusters('person', 'id', 'sig', 0.5, keep_by => 'most complete') WHERE keep;
SELECT key FROM bloom_clusters('pairs', 0.5, keep_by => 'updated', rel => 'person', key => 'id') WHERE keep;
RESET ROLE;
GRANT SELECT ON person TO clusters_keep_reader;
ALTER TABLE person ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON person USING (id <> 3);
SET ROLE clusters_keep_reader;
SELECT key FROM bloom_clusters('pairs', 0.5, keep_by => 'most complete', rel => 'person', key => 'id') WHERE keep;
SELECT key FROM bloom_clusters('person', 'id', 'sig', 0.5, keep_by => 'most complete') WHERE keep;
RESET ROLE;
DROP VIEW expected, many_view;
DROP TABLE person, pairs, word, plain, chain, decided, links, heir, parent, none, many;
DROP ROLE clusters_keep_reader;
