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
-- What is decided enters the competition: the rival of a pair that is different is free, and that of one that is the same has no chance. What is unsure changes nothing.
CREATE TABLE rivals AS SELECT f.id AS a, z.id AS b, z.id || 'x' AS rival FROM truth AS t JOIN fodors AS f ON f.id = t.a JOIN zagats AS z ON z.id = t.b JOIN pairs AS p ON (p.a, p.b) = (t.a, t.b) WHERE p.probability > 0.9 ORDER BY p.probability DESC, a LIMIT 3;
CREATE TABLE doubled AS TABLE zagats UNION ALL SELECT rival, z.name, z.addr, z.city, z.phone, z.type FROM rivals AS r JOIN zagats AS z ON z.id = r.b;
CREATE TABLE judged AS SELECT a, b, (ARRAY['different', 'same', 'unsure'])[row_number() OVER (ORDER BY a)] AS decision, now() AS at FROM rivals;
CREATE FUNCTION rivals(one text, decided regclass, OUT decision text, OUT pair numeric, OUT rival numeric) RETURNS SETOF record LANGUAGE sql AS $$
    WITH p AS (SELECT p.* FROM models, bloom_model_linkage('fodors', 'id', 'doubled', 'id', model, 0, decisions => decided) AS p WHERE name = one)
    SELECT j.decision, round(p.probability::numeric, 2), round(q.probability::numeric, 2) FROM rivals AS r JOIN judged AS j USING (a, b) LEFT JOIN p USING (a, b) LEFT JOIN p AS q ON (q.a, q.b) = (r.a, r.rival) ORDER BY 1 $$;
SELECT one, CASE WHEN decided IS NULL THEN 'no' ELSE 'yes' END AS decided, r.* FROM unnest('{both,a,b}'::text[]) AS one, unnest('{NULL,judged}'::regclass[]) AS decided, rivals(one, decided) AS r ORDER BY one, 2, decision;
SELECT count(*) AS expected FROM (SELECT a, b FROM models, bloom_model_linkage('fodors', 'id', 'doubled', 'id', model, 0.3, true, decisions => 'judged') WHERE name = 'both' AND (a, b) IN (SELECT a, rival FROM judged JOIN rivals USING (a, b) WHERE decision = 'different' UNION SELECT a, b FROM judged WHERE decision = 'same')) AS p;
-- Two that compete, and are both judged the same: both are given, and one of them where each record has one partner.
CREATE TABLE twice AS SELECT a, unnest(ARRAY[b, rival]) AS b, 'same' AS decision, now() AS at FROM (SELECT * FROM rivals ORDER BY a COLLATE "C" LIMIT 1) AS r;
SELECT one_to_one, min_probability, count(*) FROM unnest('{f,t}'::bool[]) AS one_to_one, unnest('{0.1,0.9}'::float8[]) AS min_probability, models, bloom_model_linkage('fodors', 'id', 'doubled', 'id', model, min_probability, one_to_one, decisions => 'twice') AS p WHERE name = 'both' AND a IN (SELECT a FROM twice) GROUP BY 1, 2 ORDER BY 1, 2;

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

-- What a model says of itself.
SELECT jsonb_array_length(model -> 'warnings') AS warnings, model -> 'not_known' AS not_known FROM models WHERE name = 'goods';
SELECT field, level, meaning, m BETWEEN 0 AND 1 AS m, u BETWEEN 0 AND 1 AS u, round(bits::numeric) AS bits, weak FROM models, bloom_model_levels(model) WHERE name = 'goods' AND (field <> 'title' OR level IN (0, 4, 13, 15) OR field IS NULL);
SELECT class, meaning, round(pairs::numeric, -2) AS pairs FROM models, bloom_model_classes(model) WHERE name = 'goods';
SELECT bool_and(abs(sum - 1) < 1e-3) AS shares FROM (SELECT sum(m), field FROM models, bloom_model_levels(model) WHERE name = 'goods' AND field IS DISTINCT FROM 'title' AND (level < 14 OR level IS NULL) GROUP BY field) AS s;
-- WARNINGs speak of things, and are in the model
CREATE TABLE numbered AS SELECT sku, title, brand, 'n' || row_number() OVER (ORDER BY sku) AS code FROM goods;
CREATE TABLE numbered_offers AS SELECT sku, title, brand, 'm' || row_number() OVER (ORDER BY sku) AS code FROM offers;
SELECT jsonb_array_elements_text(bloom_model_fit_linkage('numbered', 'sku', 'numbered_offers', 'sku', '{title,brand,code}', one_to_one => 'both') -> 'warnings') AS warning;
SELECT bloom_model_fit_linkage('numbered', 'sku', 'numbered_offers', 'sku', one_to_one => 'both') -> 'left_out' AS left_out;
CREATE TABLE guests AS SELECT i AS no, chr(65 + i % 26) || 'a' || chr(97 + i % 23) || 'o' AS c1, chr(65 + i % 24) || 'u' || chr(97 + i % 19) || 'i' AS c2, date '1930-01-01' + i * 37 % 25000 AS c3 FROM generate_series(1, 400) AS i;
SELECT bloom_model_fit_linkage('guests', 'no', 'guests', 'no', one_to_one => 'both') -> 'warnings' -> 0 AS warning;

-- Pairs that are found are as those of other models: whoever takes pairs takes them.
CREATE TABLE found AS SELECT p.* FROM models, bloom_model_linkage('fodors', 'id', 'zagats', 'id', model, 0.1) AS p WHERE name = 'both';
SELECT length(bloom_report_linkage('found', 'fodors', 'id', 'zagats', 'id')) > 10000 AS reported;
SELECT count(*) AS to_review FROM bloom_review_queue('found', 20);
SELECT count(*) > 0 AS bands FROM bloom_reliability('found', 'truth');
SELECT count(*) > 100 AS assigned FROM bloom_assign('found');
SELECT precision > 0.5 AS precise, recall > 0.9 AS found FROM bloom_quality('found', 'truth');

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
    $$SELECT bloom_report_pairs('found', 'fodors', 'id', model => $1)$$,
    $$SELECT bloom_report_linkage('found', 'fodors', 'id', 'zagats', 'id', model => $1)$$,
    $$SELECT bloom_model_calibrate($1, 'decided')$$]) AS statement;

-- What is refused by the fit.
SELECT bloom_model_fit_linkage('fodors', 'id', 'zagats', 'id', one_to_one => 'one');
SELECT bloom_model_fit_linkage('fodors', 'id', 'zagats', 'id', one_to_one => NULL);
SELECT bloom_model_fit_linkage('fodors', 'id', 'zagats', 'id', personal => '{name}', one_to_one => 'both');
SELECT bloom_model_fit_linkage('fodors', 'id', 'zagats', 'id', labels => 'truth', one_to_one => 'a');
SELECT bloom_model_fit_linkage('fodors', 'id', 'zagats', 'id', '{name:words,city}');
SELECT bloom_model_fit('fodors', 'id', '{name:words,city}');
SELECT bloom_model_fit_linkage('fodors', 'id', 'zagats', 'id', '{name:wrods}', one_to_one => 'both');
SELECT bloom_model_fit('fodors', 'id', '{name:wrods}');
SELECT bloom_model_fit_linkage('fodors', 'id', 'zagats', 'id', '{}', one_to_one => 'both');
SELECT bloom_model_fit('fodors', 'id', '{}');
-- what has no room says how much it needs
CREATE TABLE long AS SELECT id, (SELECT string_agg(substr(md5(id || i), 1, 6), ' ') FROM generate_series(1, 400) AS i) AS words FROM fodors WHERE id < 'f2';
INSERT INTO long SELECT id || 'x', words FROM long;
SET maintenance_work_mem = '1MB';
SELECT bloom_model_fit_linkage('long', 'id', 'long', 'id', '{words}', one_to_one => 'both');
RESET maintenance_work_mem;
-- more pairs than are allowed
SELECT count(*) FROM models, bloom_model_linkage('fodors', 'id', 'zagats', 'id', model, options => '{"pair_limit": 1000}') WHERE name = 'both';
SELECT count(*) > 90 AS enough FROM models, bloom_model_linkage('fodors', 'id', 'zagats', 'id', model, options => '{"pair_limit": 100000}') WHERE name = 'both';
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
SELECT count(*) FROM models, bloom_model_linkage('fodors', 'id', 'zagats', 'id', jsonb_set(model, '{linkage}', 'false')) WHERE name = 'both';
SELECT count(*) FROM models, bloom_model_linkage('fodors', 'id', 'zagats', 'id', jsonb_set(model, '{status}', '"stopped"')) WHERE name = 'both';
SELECT count(*) > 100 AS forced FROM models, bloom_model_linkage('fodors', 'id', 'zagats', 'id', jsonb_set(model, '{status}', '"stopped"'), options => '{"force": true}') WHERE name = 'both';

SET client_min_messages = warning;
DROP SCHEMA model_things CASCADE;
