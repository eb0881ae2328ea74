-- What a merge has deleted comes back byte by byte: xml, which a server may be built without. Then nothing is tested, and the output is the other one.
SET client_min_messages = warning;
DO $$ BEGIN
    PERFORM '<a/>'::xml;
    PERFORM set_config('test.xml', 'on', false);
EXCEPTION WHEN feature_not_supported THEN
    PERFORM set_config('test.xml', 'off', false);
END $$;
SELECT current_setting('test.xml') AS xml \gset
\if :xml
\else
\echo this server has no xml
\quit
\endif
CREATE TABLE person (id int PRIMARY KEY, x xml, xs xml[]);
INSERT INTO person VALUES (1, NULL, NULL), (2, '<?xml version="1.0" encoding="utf-8"?><a>1</a>', ARRAY[xml '<a/>', NULL]), (3, '<!-- content -->x<a/>', '{}');
CREATE TABLE before AS SELECT id, x::text, xs::text FROM person;
CREATE TABLE clusters AS SELECT 1 AS cluster, id AS key, id = 1 AS keep FROM person;
SET xmloption = document;
SELECT id, deleted FROM bloom_merge('clusters', 'person', 'id');
SELECT id, x FROM person;
SET xmloption = content;
SELECT bloom_unmerge(1);
SELECT count(*) AS rows, count(*) FILTER (WHERE (p.x::text, p.xs::text) IS NOT DISTINCT FROM (b.x, b.xs)) AS same FROM person AS p JOIN before AS b USING (id);
DROP TABLE person, before, clusters, bloom_merges;
