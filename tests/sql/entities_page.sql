-- The page of entities: the pairs that alone hold one together, with what the review queue and bloom_entities_how say of them.
CREATE SCHEMA entities_page;
SET client_min_messages = error;
SET search_path = entities_page, public;
CREATE TABLE source AS SELECT i AS id, given, surname, dob, city, phone FROM (
    SELECT i, (ARRAY['Anna','Otto','Maria','Jan','Eva','Karl','Lena','Paul','Ida','Emil'])[1 + (i * 7 + i / 13) % 10] AS given,
        (ARRAY['Kowalski','Berger','Steinbacher','Novak','Lindqvist','Moreau','Rossi','Jansen','Wagner','Petrov','Haas','Keller','Vogt'])[1 + (i * 11 + i / 7) % 13]
            || (ARRAY['','mann','son','s'])[1 + (i / 5) % 4] AS surname,
        date '1940-01-01' + (i * 7919) % 25000 AS dob, (ARRAY['Berlin','Bonn','Köln','Graz','Wien'])[1 + (i * 3) % 5] AS city,
        '030' || 1000000 + (i * 104729) % 8999999 AS phone
    FROM generate_series(1, 300) AS i) AS original;
INSERT INTO source SELECT id + 10000, given, overlay(surname PLACING 'x' FROM 3 FOR 1), dob, 'Linz', phone FROM source WHERE id <= 60;
INSERT INTO source SELECT id + 20000, surname, given, dob, city, NULL FROM source WHERE id BETWEEN 31 AND 90;
INSERT INTO source SELECT id + 30000, given, surname, NULL, city, phone FROM source WHERE id BETWEEN 51 AND 110;
CREATE TABLE person (note text, LIKE source, PRIMARY KEY (id));
CREATE TABLE fitted AS SELECT jsonb_set(bloom_model_fit('source', 'id', '{given:name,surname:name,dob:date,city,phone:phone}', '{given,dob,phone}'),
    '{searches}', (SELECT jsonb_agg(to_jsonb(s) || '{"pairs_per_record": 1, "matches_per_record": 0.1}') FROM (VALUES
    ('{"equal": ["given", "surname"], "most": 12}'::jsonb), ('{"equal": ["dob"], "most": 3}'), ('{"equal": ["phone"], "most": 3}'),
    ('{"crosswise": ["city"], "most": 10}'), ('{"similar": ["surname", "dob"], "least": 55, "most": 6}')) AS v (s))) AS model;
INSERT INTO person SELECT '<b>' || id, s.* FROM source AS s WHERE id % 3 <> 0;
SELECT bloom_register_create(model, 'person', 'id') FROM fitted;
SELECT bloom_decisions_create('decision');
SELECT bloom_entities_create('person_register', 'ent', 0.5, 'components', decisions => 'decision');
-- The register goes on to count with the records that it was made of.
INSERT INTO person SELECT '<b>' || id, s.* FROM source AS s WHERE id % 3 = 0;

CREATE FUNCTION data(page text) RETURNS jsonb LANGUAGE sql AS $$ SELECT split_part(regexp_replace(page, '^.*<script type="application/json"[^>]*>', ''), '</script>', 1)::jsonb $$;
CREATE FUNCTION words(page text) RETURNS text LANGUAGE sql AS $$ SELECT regexp_replace(regexp_replace(page, '<[^>]*>', ' ', 'g'), '\s+', ' ', 'g') $$;
CREATE FUNCTION shown(page text) RETURNS TABLE (n bigint, a text, b text, value float8, entity bigint, parts int[], sum float8, was text, cluster bigint, drawn bigint) LANGUAGE sql AS $$
    SELECT n, d.data->'records'->(p->>'a')::int->>'key', d.data->'records'->(p->>'b')::int->>'key', (p->>'value')::float8, (p->'held'->>'number')::bigint,
        ARRAY(SELECT jsonb_array_elements_text(p->'held'->'parts')::int), (p->'why'->>'sum')::float8, p->>'was', (p->>'cluster')::bigint, (p->>'group')::bigint
    FROM (SELECT data(page)) AS d (data), jsonb_array_elements(d.data->'pairs') WITH ORDINALITY AS e (p, n) $$;
CREATE TABLE pages AS SELECT bloom_report_pairs('ent', 'person', 'id') AS page;
CREATE TABLE pair AS SELECT s.* FROM pages, shown(page) AS s;
-- The pairs are those of the queue, in its order, and each has its entity and what would become of it.
SELECT count(*) > 50 AS many, count(*) FILTER (WHERE s.a IS DISTINCT FROM q.a OR s.b IS DISTINCT FROM q.b OR s.value IS DISTINCT FROM q.probability OR s.parts[1] * s.parts[2] IS DISTINCT FROM q.alike) AS otherwise
    FROM pair AS s FULL JOIN bloom_review_queue('ent', 5000) WITH ORDINALITY AS q (a, b, probability, alike, n) USING (n);
SELECT count(*) FILTER (WHERE e.size <> s.parts[1] + s.parts[2] OR NOT s.a = ANY (e.keys) OR NOT s.b = ANY (e.keys)) AS elsewhere, count(*) FILTER (WHERE s.parts[1] < s.parts[2]) AS less_first, count(DISTINCT s.parts) > 3 AS several
    FROM pair AS s LEFT JOIN (SELECT entity, count(*) AS size, array_agg(key::text) AS keys FROM ent GROUP BY 1) AS e USING (entity);
-- Probability and bits are those of bloom_entities_how: for as many records as the register has stored, which are fewer than those of the fit.
SELECT r.records < (f.model->>'records')::bigint AS fewer FROM person_register AS r, fitted AS f;
SELECT count(*) AS found, bool_and(h.alone) AS alone, bool_and(h.probability = s.value) AS probability, bool_and(abs(h.bits - s.sum) < 0.1) AS bits FROM pair AS s, bloom_entities_how('ent', s.entity) AS h WHERE (h.a, h.b) = (s.a, s.b) HAVING count(*) = (SELECT count(*) FROM pair);
-- What the page says without a script: all entities and their sizes, and what to look at first.
SELECT words(m[1]) = format(' Entities %s of %s records Entities of two or more %s records that are one Worth a look %s pairs that alone hold an entity together Surplus records %s if one of each entity is kept ', e.n, e.records, e.joined, (SELECT count(*) FROM pair), e.records - e.n) AS numbers
    FROM pages, regexp_matches(page, '<dl class="key">(.*)</dl>') AS m, (SELECT count(*) AS n, sum(size) AS records, count(*) FILTER (WHERE size > 1) AS joined FROM (SELECT count(*) AS size FROM ent GROUP BY entity) AS e) AS e;
SELECT count(*) FILTER (WHERE entities <> s.m[2] OR records <> s.m[3]) AS otherwise, count(*) = (SELECT count(DISTINCT size) FROM (SELECT count(*) AS size FROM ent GROUP BY entity) AS e) AS every_size
    FROM (SELECT size, count(*)::text AS entities, (size * count(*))::text AS records FROM (SELECT count(*) AS size FROM ent GROUP BY entity) AS e GROUP BY size) AS e JOIN
    (SELECT m FROM pages, regexp_matches(substring(page, 'Entities by size.*?</table>'), '<tr><th scope="row" class="num">(\d+)</th><td class="num">([0-9,]+)</td><td class="num">([0-9,]+)</td>', 'g') AS m) AS s ON s.m[1] = e.size::text;
SELECT count(*) AS near, bool_and(w ~ format('entity %s of %s records, %s and %s without it %s ', s.entity, s.parts[1] + s.parts[2], s.parts[1], s.parts[2], s.a)) AS as_said FROM pair AS s JOIN
    (SELECT n, words(m[1]) AS w FROM pages, regexp_matches(page, '<tbody class="pair">(.*?)</tbody>', 'g') WITH ORDINALITY AS m (m, n)) AS p USING (n);
SELECT page ~ '<h1>Entities of entities_page.person</h1>' AS title, page ~ 'Clusters by size|Largest clusters' AS clusters, page ~ 'method <code>components</code>' AS method, data(page)->>'decisions' AS decisions,
    s[1] AS statement, page ~ format('Reasons on this page count with %s records', records) AS reasons, page ~ '<b>\d' AS markup FROM pages, person_register, regexp_matches(page, '<pre><code>(.*?)</code></pre>') AS s;
-- The columns of the model come first.
SELECT jsonb_path_query_array(data(page), '$.columns[*].name') AS columns, jsonb_path_query_array(data(page), '$.columns[*].used') AS used FROM pages;
-- Entities of three records or more are drawn, with all that they have.
SELECT count(*) > 10 AS drawn, count(*) FILTER (WHERE e.size <> (g->>'size')::int OR e.size <> jsonb_array_length(g->'members')) AS otherwise, count(*) FILTER (WHERE e.pairs <> jsonb_array_length(jsonb_path_query_array(g, 'strict $.edges[*] ? (@[3] > 0)'))) AS other_pairs
    FROM pages, jsonb_array_elements(data(page)->'groups') AS g LEFT JOIN (SELECT entity, count(*) AS size, (SELECT count(*) FROM pair AS p WHERE p.entity = ent.entity) AS pairs FROM ent GROUP BY 1) AS e ON e.entity = (g->>'number')::bigint;
SELECT bool_and(drawn = CASE WHEN parts = '{1,1}' THEN 0 ELSE entity END) AS as_groups, bool_and(cluster = entity) AS as_clusters FROM pair;
-- Who is decided to be the same is held together by that, and by no pair alone.
SELECT a AS one, b AS other, entity AS held FROM pair WHERE parts[1] > 1 ORDER BY n LIMIT 1 \gset
INSERT INTO decision (a, b, decision) VALUES (:'other', :'one', 'same');
SELECT count(*) FILTER (WHERE alone) AS alone, count(*) AS steps FROM bloom_entities_how('ent', :held) WHERE (a, b) = (:'one', :'other');
SELECT count(*) FROM bloom_report_pairs('ent', 'person', 'id') AS page, shown(page) AS s WHERE (a, b) = (:'one', :'other');
-- What is decided otherwise parts the entity. A table that is given stands for that of the entities: what it has is not asked again.
DELETE FROM decision;
INSERT INTO decision (a, b, decision) VALUES (:'one', :'other', 'different');
SELECT count(DISTINCT entity) AS entities FROM ent WHERE key::text IN (:'one', :'other');
DELETE FROM decision;
CREATE TABLE elsewhere (a text, b text, decision text, at timestamptz);
INSERT INTO elsewhere VALUES (:'one', :'other', 'unsure', '2026-01-01');
SELECT data(page)->>'decisions' AS decisions, (data(page)->>'holding')::int - (SELECT count(*) FROM pair) AS fewer, (SELECT count(*) FROM shown(page) WHERE (a, b) = (:'one', :'other')) AS asked,
    jsonb_path_query_array(data(page), '$.columns[*].name') AS columns, words(substring(page, '<pre><code>.*?</code></pre>')) AS statement
FROM bloom_report_pairs('ent', 'person', 'id', '{note,city}', (SELECT model FROM fitted), decisions => 'elsewhere') AS page;
-- Nothing to tell.
CREATE TABLE nobody (LIKE source, PRIMARY KEY (id));
SELECT bloom_register_create(model, 'nobody', 'id') FROM fitted;
SELECT bloom_entities_create('nobody_register', 'no_ent');
SELECT page ~ 'There are no entities' AS none, jsonb_array_length(data(page)->'pairs') AS pairs FROM bloom_report_pairs('no_ent', 'nobody', 'id') AS page;
-- Pairs have nothing to do with what looks like a register beside them.
CREATE TABLE copied AS TABLE person_register;
UPDATE copied SET entities = '5';
CREATE TABLE found AS SELECT a, b, value AS probability FROM pair;
SELECT jsonb_array_length(data(page)->'pairs') = (SELECT count(*) FROM pair) AS shown FROM bloom_report_pairs('found', 'person', 'id') AS page;
SELECT count(*) > 0 AS asked FROM bloom_review_queue('found', 5000);
DROP TABLE copied;
-- Errors.
SELECT bloom_report_pairs('ent', 'nobody', 'id');
SELECT bloom_report_pairs('ent', 'person', 'phone');
SELECT bloom_report_pairs('ent', 'person', 'none');
SELECT bloom_report_pairs('ent_changes', 'person', 'id');
SELECT bloom_report_linkage('ent', 'person', 'id', 'nobody', 'id');
SELECT bloom_report_pairs('ent', 'person', 'id', '{none}');
-- Who may not read the records, the entities or the decisions has no page of them.
CREATE ROLE regress_entities_page;
GRANT USAGE ON SCHEMA entities_page TO regress_entities_page;
SET ROLE regress_entities_page;
\set VERBOSITY terse
SELECT length(bloom_report_pairs('ent', 'person', 'id'));
RESET ROLE;
GRANT SELECT (id, given, surname, dob, city, phone) ON person TO regress_entities_page;
SET ROLE regress_entities_page;
SELECT length(bloom_report_pairs('ent', 'person', 'id'));
RESET ROLE;
GRANT SELECT (entity) ON ent TO regress_entities_page;
SET ROLE regress_entities_page;
SELECT length(bloom_report_pairs('ent', 'person', 'id'));
SELECT count(*) FROM bloom_entities_how('ent', 1);
SELECT count(*) FROM bloom_register_preview('person_register', '{"given": "Erika"}'::jsonb);
RESET ROLE;
GRANT SELECT ON ent TO regress_entities_page;
SET ROLE regress_entities_page;
SELECT length(bloom_report_pairs('ent', 'person', 'id'));
RESET ROLE;
GRANT SELECT ON decision TO regress_entities_page;
ALTER TABLE ent ENABLE ROW LEVEL SECURITY;
SET ROLE regress_entities_page;
SELECT count(*) FROM bloom_entities_how('ent', 1);
RESET ROLE;
ALTER TABLE ent DISABLE ROW LEVEL SECURITY;
SET ROLE regress_entities_page;
SELECT jsonb_path_query_array(data(page), '$.columns[*].name') AS columns FROM bloom_report_pairs('ent', 'person', 'id') AS page;
RESET ROLE;
GRANT SELECT ON person TO regress_entities_page;
ALTER TABLE person ENABLE ROW LEVEL SECURITY;
CREATE POLICY low ON person USING (id <= 30);
SET ROLE regress_entities_page;
SELECT length(bloom_report_pairs('ent', 'person', 'id'));
RESET ROLE;
DROP OWNED BY regress_entities_page;
DROP ROLE regress_entities_page;
DROP SCHEMA entities_page CASCADE;
