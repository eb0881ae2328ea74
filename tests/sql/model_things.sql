-- Linkages of things: records of two tables compete for their partners, and a model of them says nothing of a pair by itself.
CREATE SCHEMA model_things;
SET search_path = model_things, public;
SET max_parallel_workers_per_gather = 0;

-- Restaurants of two guides.
CREATE TABLE fodors (id text, name text, addr text, city text, phone text, type text);
CREATE TABLE zagats (LIKE fodors);
CREATE TABLE truth (a text, b text);
\copy fodors FROM PROGRAM 'gzip -dc "$PG_ABS_SRCDIR/data/quality/fodors.csv.gz"' (FORMAT csv, HEADER)
\copy zagats FROM PROGRAM 'gzip -dc "$PG_ABS_SRCDIR/data/quality/zagats.csv.gz"' (FORMAT csv, HEADER)
\copy truth FROM PROGRAM 'gzip -dc "$PG_ABS_SRCDIR/data/quality/fodors_zagats.csv.gz"' (FORMAT csv, HEADER)
CREATE TABLE models (name text PRIMARY KEY, model jsonb);
INSERT INTO models SELECT one, bloom_model_fit_linkage('fodors', 'id', 'zagats', 'id', one_to_one => one) FROM unnest('{both,a,b}'::text[]) AS one;
SELECT name, model ->> 'status' AS status, model ->> 'one_to_one' AS one_to_one, model ->> 'bloom_ident_model' AS form, (SELECT string_agg((f ->> 'name') || ':' || (f ->> 'kind'), ' ') FROM jsonb_array_elements(model -> 'fields') AS f) AS fields,
    round((model ->> 'matches_per_record')::numeric * (model ->> 'records')::numeric, -1) AS matches, model -> 'tables' AS tables, model -> 'searches' AS searches
FROM models ORDER BY name;
SELECT model ->> 'about' AS about FROM models WHERE name = 'both';
-- the same again, and within little memory; and as a text
SELECT model = bloom_model_fit_linkage('fodors', 'id', 'zagats', 'id', one_to_one => 'both') AS same, model::text::jsonb = model AS stored FROM models WHERE name = 'both';
SET maintenance_work_mem = '1MB';
SELECT model = bloom_model_fit_linkage('fodors', 'id', 'zagats', 'id', one_to_one => 'both') AS same FROM models WHERE name = 'both';
RESET maintenance_work_mem;

CREATE FUNCTION found(model jsonb, min_probability float8, one_to_one boolean, OUT right_share numeric, OUT recall numeric, OUT each_once boolean) LANGUAGE sql AS $$
    SELECT round(avg((t.a IS NOT NULL)::int), 2), round(count(t.a)::numeric / (SELECT count(*) FROM truth), 2), count(*) = count(DISTINCT p.a) AND count(*) = count(DISTINCT p.b)
    FROM bloom_model_linkage('fodors', 'id', 'zagats', 'id', model, min_probability, one_to_one) AS p LEFT JOIN truth AS t USING (a, b) $$;
SELECT name, least, one_to_one, f.* FROM models, (VALUES (0.5::float8, false), (0.5, true)) AS v (least, one_to_one), found(model, least, one_to_one) AS f ORDER BY 1, 2;
CREATE TABLE pairs AS SELECT p.* FROM models, bloom_model_linkage('fodors', 'id', 'zagats', 'id', model, 0) AS p WHERE name = 'both';
SELECT count(*) - count(DISTINCT (a, b)) AS twice, count(*) FILTER (WHERE probability NOT BETWEEN 0 AND 1 OR bits NOT BETWEEN -60 AND 60) AS wrong,
    bool_and(abs(probability - 1 / (1 + 2 ^ -bits)) < 1e-9) AS consistent, max(per_a) < 1.1 AS competes
FROM (SELECT *, sum(probability) OVER (PARTITION BY a) AS per_a FROM pairs) AS p;
SELECT count(*) AS differ FROM (SELECT * FROM pairs WHERE probability >= 0.5 EXCEPT SELECT p.* FROM models, bloom_model_linkage('fodors', 'id', 'zagats', 'id', model) AS p WHERE name = 'both') AS d;
-- in little memory, and with the tables the other way round
SET maintenance_work_mem = '1MB';
SELECT count(*) AS differ FROM (SELECT * FROM pairs WHERE probability >= 0.5 EXCEPT SELECT p.* FROM models, bloom_model_linkage('fodors', 'id', 'zagats', 'id', model) AS p WHERE name = 'both') AS d;
RESET maintenance_work_mem;
SELECT count(*) AS differ FROM models, bloom_model_linkage('zagats', 'id', 'fodors', 'id', model) AS p FULL JOIN (SELECT * FROM pairs WHERE probability >= 0.5) AS q ON (p.a, p.b) = (q.b, q.a)
WHERE name = 'both' AND (p.a IS NULL OR q.a IS NULL OR abs(p.probability - q.probability) > 1e-5);
-- what people have decided
CREATE TABLE decided AS (SELECT a, b, 'different' AS decision, now() AS at FROM pairs ORDER BY probability DESC, a, b LIMIT 1);
SELECT count(*) AS of_decided FROM models, bloom_model_linkage('fodors', 'id', 'zagats', 'id', model, decisions => 'decided') AS p JOIN decided USING (a, b) WHERE name = 'both';

-- Goods: words in any order, codes with and without a space, prices with their currency; what is missing.
CREATE TABLE goods (sku text, title text, brand text, price text, sold date);
CREATE TABLE offers (LIKE goods);
INSERT INTO goods SELECT 'g' || i, concat_ws(' ', w[1 + i % 7], w[1 + i % 11], w[1 + i % 5], 'model', 'ab' || 100 + i * 7 % 900, w[1 + i % 13]), b[1 + i % 5], CASE WHEN i % 10 > 0 THEN '$' || to_char(5 + i * 37 % 2000, 'FM9,999.00') END, date '2020-01-01' + i % 300
FROM generate_series(1, 300) AS i, (VALUES ('{red,blue,steel,wood,large,small,lamp,table,chair,garden,light,heavy,classic}'::text[], '{Acme,Borel,Cirrus,Dunlin,Erlen}'::text[])) AS v (w, b);
INSERT INTO offers SELECT 'o' || substr(sku, 2), regexp_replace(concat_ws(' ', split_part(title, ' ', 5), split_part(title, ' ', 1), split_part(title, ' ', 3), split_part(title, ' ', 2), 'new'), 'ab(\d)', 'ab \1'),
    CASE WHEN length(sku) % 2 = 0 THEN brand END, replace(replace(price, '$', ''), ',', ''), sold FROM goods WHERE substr(sku, 2)::int <= 200;
INSERT INTO offers SELECT 'x' || i, 'other thing ' || md5(i::text) || ' of steel', 'Acme', (i * 11)::text, NULL FROM generate_series(1, 100) AS i;
INSERT INTO models VALUES ('goods', bloom_model_fit_linkage('goods', 'sku', 'offers', 'sku', one_to_one => 'both')),
    ('given', bloom_model_fit_linkage('goods', 'sku', 'offers', 'sku', '{title:words,brand:name,price:number,sold:text}', one_to_one => 'both'));
SELECT name, model ->> 'status' AS status, (SELECT string_agg((f ->> 'name') || ':' || (f ->> 'kind') || coalesce('(' || (f ->> 'reading') || ')', ''), ' ') FROM jsonb_array_elements(model -> 'fields') AS f) AS fields,
    count(p) AS pairs, count(*) FILTER (WHERE substr(p.a, 2) = substr(p.b, 2) AND p.b LIKE 'o%') AS right
FROM models LEFT JOIN bloom_model_linkage('goods', 'sku', 'offers', 'sku', model) AS p ON true WHERE name IN ('goods', 'given') GROUP BY name, model ORDER BY name;

-- Each record of several has one partner, and each of goods may have several: where it may not, two that are equal have half a chance each.
CREATE TABLE several AS TABLE offers UNION ALL SELECT replace(sku, 'o', 'p'), title, brand, price, sold FROM offers WHERE sku LIKE 'o%';
SELECT one, count(p) AS pairs, count(*) FILTER (WHERE substr(p.a, 2) = substr(p.b, 2)) AS right
FROM unnest('{both,b}'::text[]) AS one, bloom_model_fit_linkage('goods', 'sku', 'several', 'sku', one_to_one => one) AS model LEFT JOIN LATERAL bloom_model_linkage('goods', 'sku', 'several', 'sku', model, 0.6) AS p ON true GROUP BY one ORDER BY one;

-- What needs a pair by itself, or keys, refuses such a model.
\set both '(SELECT model FROM models WHERE name = ''both'')'
\set VERBOSITY verbose
\set SHOW_CONTEXT never
SELECT * FROM bloom_model_explain(:both, '{"name": "a"}', '{"name": "a"}');
\set VERBOSITY default
CREATE FUNCTION refused(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE state text; message text;
BEGIN
    EXECUTE statement USING (SELECT model FROM models WHERE name = 'both');
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
    RETURN state || ' ' || message;
END $$;
SELECT statement, refused(statement) FROM unnest(ARRAY[
    $$SELECT count(*) FROM bloom_model_duplicates('fodors', 'id', $1)$$,
    $$SELECT count(*) FROM bloom_model_candidates('fodors', 'id', $1)$$,
    $$SELECT count(*) FROM bloom_model_candidates_linkage('fodors', 'id', 'zagats', 'id', $1)$$,
    $$SELECT count(*) FROM bloom_model_levels($1)$$,
    $$SELECT count(*) FROM bloom_model_classes($1)$$,
    $$SELECT bloom_model_calibrate($1, 'decided')$$]) AS statement;

-- What is refused by the fit.
SELECT bloom_model_fit_linkage('fodors', 'id', 'zagats', 'id', one_to_one => 'one');
SELECT bloom_model_fit_linkage('fodors', 'id', 'zagats', 'id', one_to_one => NULL);
SELECT bloom_model_fit_linkage('fodors', 'id', 'zagats', 'id', personal => '{name}', one_to_one => 'both');
SELECT bloom_model_fit_linkage('fodors', 'id', 'zagats', 'id', labels => 'truth', one_to_one => 'a');
SELECT bloom_model_fit_linkage('fodors', 'id', 'zagats', 'id', '{name:words,city}');
SELECT bloom_model_fit('fodors', 'id', '{name:words,city}');
SELECT bloom_model_fit_linkage('fodors', 'id', 'zagats', 'id', '{name:wrods}', one_to_one => 'both');
-- empty tables
CREATE TABLE none (LIKE fodors);
SELECT bloom_model_fit_linkage('none', 'id', 'none', 'id', one_to_one => 'both');
SELECT bloom_model_fit_linkage('fodors', 'id', 'none', 'id', one_to_one => 'both') ->> 'status' AS status;
SELECT count(*) FROM models, bloom_model_linkage('fodors', 'id', 'none', 'id', model) WHERE name = 'both';
-- strangers
CREATE TABLE strangers AS SELECT 's' || i AS id, md5(i::text) AS name, md5('a' || i) AS addr, md5('c' || i % 9) AS city, md5('p' || i) AS phone, md5('t' || i % 5) AS type FROM generate_series(1, 200) AS i;
SELECT bloom_model_fit_linkage('fodors', 'id', 'strangers', 'id', one_to_one => 'both') ->> 'status' AS status;
-- a model of another column
SELECT count(*) FROM models, bloom_model_linkage('goods', 'sku', 'offers', 'sku', model) WHERE name = 'both';
SELECT count(*) FROM models, bloom_model_linkage('fodors', 'id', 'zagats', 'id', jsonb_set(model, '{fields,0,u}', '[1]')) WHERE name = 'both';
SELECT count(*) FROM models, bloom_model_linkage('fodors', 'id', 'zagats', 'id', jsonb_set(model, '{status}', '"stopped"')) WHERE name = 'both';
SELECT count(*) > 100 AS forced FROM models, bloom_model_linkage('fodors', 'id', 'zagats', 'id', jsonb_set(model, '{status}', '"stopped"'), options => '{"force": true}') WHERE name = 'both';

SET client_min_messages = warning;
DROP SCHEMA model_things CASCADE;
