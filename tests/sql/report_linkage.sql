-- The report of pairs of two tables.
CREATE SCHEMA report_linkage;
SET search_path = report_linkage, public;
-- Both have records 1 and 2, which are other persons.
CREATE TABLE customer (id integer, name text, city text);
CREATE TABLE patient (no integer, name text, ward text);
INSERT INTO customer VALUES (1, 'Anna Meier', 'Wien'), (2, 'Otto Huber', 'Linz'), (3, 'Eva Lang', '<b>Graz</b>');
INSERT INTO patient VALUES (1, 'Otto Hubert', 'A'), (2, 'Ana Meier', 'B'), (4, 'Eva Lang', NULL);
CREATE TABLE link (a text, b text, similarity float8);
INSERT INTO link VALUES ('1', '2', 0.7), ('2', '1', 0.8), ('3', '4', 1), ('1', '1', 0.3);
CREATE FUNCTION words(page text) RETURNS text LANGUAGE sql AS $$ SELECT regexp_replace(regexp_replace(page, '<[^>]*>', ' ', 'g'), '\s+', ' ', 'g') $$;
CREATE FUNCTION page(columns name[] DEFAULT NULL, truth regclass DEFAULT NULL, decisions regclass DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    SELECT bloom_report_linkage('link', 'customer', 'id', 'patient', 'no', columns, NULL, truth, decisions) $$;
-- Columns of either table; a key of one table is none of the other.
SELECT words(m[1]) FROM page() AS page, regexp_matches(page, '<thead>(<tr><th scope="col" class="num">similarity</th><th scope="col"></th>.*?)</thead>') AS m;
SELECT words(m[1]) FROM page() AS page, regexp_matches(page, '<tbody class="pair">(.*?)</tbody>', 'g') AS m;
SELECT words(m[1]) FROM page() AS page, regexp_matches(page, '<div class="group">(.*?)</div>', 'g') AS m;
SELECT words(m[1]) FROM page() AS page, regexp_matches(page, '<dl class="key">(.*)</dl>') AS m;
SELECT s[1] FROM page('{name,ward}') AS page, regexp_matches(page, '<pre><code>(.*?)</code></pre>') AS s;
-- Truth and decisions are of the first table's record and the second's, in this order.
CREATE TABLE truth (a text, b text);
INSERT INTO truth VALUES ('1', '2'), ('2', '1'), ('3', '4'), ('3', '1');
SELECT words(m[1]) FROM page(truth => 'truth') AS page, regexp_matches(page, '<h2 id="quality">.*?<p>(.*?)</p>') AS m;
CREATE TABLE decided AS SELECT '1' AS a, '2' AS b, 'same' AS decision, now() AS at UNION ALL SELECT '2', '1', 'different', now() - interval '1 day' UNION ALL SELECT '1', '1', 'unsure', now();
SELECT words(m[1]) FROM page(decisions => 'decided') AS page, regexp_matches(page, '<tbody class="pair">(.*?)</tbody>', 'g') AS m;
-- Records judged the same are in one group, though no pair says so; a key means the record of its side.
CREATE TABLE joined AS SELECT '3' AS a, '2' AS b, 'same' AS decision, now() AS at UNION ALL SELECT '1', '9', 'same', now() UNION ALL SELECT '1', '8', 'same', now() UNION ALL SELECT '2', '1', 'different', now();
SELECT words(m[1]) FROM page(decisions => 'joined') AS page, regexp_matches(page, '<div class="group">(.*?)</div>', 'g') AS m;
DROP TABLE joined;
-- A model, whose fields both tables must have.
CREATE TABLE models (model jsonb);
INSERT INTO models SELECT jsonb_build_object('bloom_ident_model', 1, 'library', '0.1.0', 'rules', 1, 'status', 'converged', 'linkage', true, 'records', 1000, 'pairs', 499500,
    'matches_per_record', 0.2, 'duplicates_per_1000', 200, 'rounds', 9, 'fields', jsonb_agg(jsonb_build_object('name', name, 'kind', kind, 'segment', 23, 'personal', true, 'filled', 0.9, 'bits', 9,
        'm', '[0.3, 0.15, 0.1, 0.05, 0.1, 0.07, 0.05, 0.04, 0.02, 0.02, 0, 0.1]'::jsonb, 'u', '[0.0001, 0.0004, 0.001, 0.002, 0.0015, 0.002, 0.003, 0.01, 0.08, 0.76, 0, 0.14]'::jsonb,
        'rare_level', 0, 'frequent', '{}'::jsonb)), 'swap', NULL, 'together', '[]'::jsonb, 'classes', '[]'::jsonb, 'searches', '[]'::jsonb, 'left_out', '{}'::jsonb)
FROM unnest('{name}'::text[], '{name}'::text[]) AS f (name, kind);
SELECT count(*) AS waterfalls FROM models, regexp_matches(bloom_report_linkage('link', 'customer', 'id', 'patient', 'no', model => model), '<table class="why">', 'g');
UPDATE models SET model = jsonb_set(model, '{fields,0,name}', '"city"');
SELECT bloom_report_linkage('link', 'customer', 'id', 'patient', 'no', model => model) FROM models;
-- Errors.
SELECT bloom_report_linkage('link', 'customer', 'id', 'patient', 'id');
SELECT page('{nobody}');
SELECT page(truth => 'customer');
SELECT page(decisions => 'truth');
SELECT bloom_report_linkage('link', 'customer', 'id', 'patient', NULL);
INSERT INTO patient VALUES (4, 'Another');
SELECT page();
-- As the caller.
CREATE ROLE regress_report_linkage;
GRANT USAGE ON SCHEMA report_linkage TO regress_report_linkage;
GRANT SELECT ON link, customer TO regress_report_linkage;
SET ROLE regress_report_linkage;
\set VERBOSITY terse
SELECT page();
\set VERBOSITY default
RESET ROLE;
DELETE FROM patient WHERE name = 'Another';
GRANT SELECT ON patient TO regress_report_linkage;
SET ROLE regress_report_linkage;
SELECT page() ~ 'Otto' AS seen;
\set VERBOSITY terse
SELECT page(decisions => 'decided');
RESET ROLE;
DROP OWNED BY regress_report_linkage;
DROP ROLE regress_report_linkage;
SET client_min_messages = warning;
DROP SCHEMA report_linkage CASCADE;
