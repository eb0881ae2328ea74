-- Records that stand for more: a fit to some of the records, or to some and all that have something in common with them, says what a fit to all of them says.
CREATE SCHEMA model_records;
SET client_min_messages = error;
SET search_path = model_records, public;
CREATE TABLE people AS SELECT i AS id, (ARRAY['Anna','Otto','Maria','Jan','Eva','Karl','Lena','Paul','Ida','Emil'])[1 + (i * 7 + i / 13) % 10] AS given,
    (ARRAY['Kowalski','Berger','Steinbacher','Novak','Lindqvist','Moreau','Rossi','Jansen','Wagner','Petrov','Haas','Keller','Vogt'])[1 + (i * 11 + i / 7) % 13]
        || (ARRAY['','mann','son','s'])[1 + (i / 5) % 4] AS surname,
    to_char(date '1940-01-01' + (i * 7919) % 25000, 'YYYY-MM-DD') AS dob, (ARRAY['Berlin','Bonn','Köln','Graz','Wien'])[1 + (i * 3) % 5] AS city,
    '030' || 1000000 + (i::bigint * 104729) % 8999999 AS phone
FROM generate_series(1, 16000) AS i;
INSERT INTO people SELECT id + 100000, given, overlay(surname PLACING 'x' FROM 3 FOR 1), dob, 'Linz', phone FROM people WHERE id <= 2000;
INSERT INTO people SELECT id + 200000, given, surname, NULL, city, phone FROM people WHERE id BETWEEN 2001 AND 4000;
INSERT INTO people SELECT id + 300000, given, surname, dob, city, NULL FROM people WHERE id BETWEEN 4001 AND 5000;
CREATE FUNCTION fitted(rel regclass, options jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT bloom_model_fit(rel, 'id', '{given:name,surname:name,dob:date,city,phone:phone}', '{given,dob,phone}', options => options) $$;
CREATE TABLE models AS SELECT 'all' AS of_records, fitted('people', NULL) AS model;
-- All records stand for themselves.
SELECT count(*) AS records, count(*) = 21000 AS as_many FROM people;
CREATE TABLE everybody AS SELECT id::text AS key FROM people;
SELECT fitted('people', '{"records": 21000}') = model AS same, fitted('people', '{"records": 21000, "sample": "everybody"}') = model AS same_of_a_sample FROM models;
-- A quarter of them, and all that have a telephone or the names in common with one of these.
CREATE TABLE part AS SELECT * FROM people WHERE hashint4(id) % 4 = 0;
CREATE TABLE "the Sample" AS SELECT id::text AS key FROM part;
CREATE TABLE around AS SELECT p.* FROM people AS p WHERE EXISTS (SELECT FROM part AS s WHERE s.id = p.id OR s.phone = p.phone OR (s.given, s.surname) = (p.given, p.surname) OR (s.surname, s.dob) = (p.surname, p.dob));
INSERT INTO models SELECT 'part', fitted('part', '{"records": 21000}') UNION ALL SELECT 'part as it is', fitted('part', NULL) UNION ALL SELECT 'around', fitted('around', '{"records": 21000, "sample": "\"the Sample\""}');
SELECT of_records, (model ->> 'records')::int AS records, 
    round((model ->> 'matches_per_record')::numeric * 21000 / 5000, 1) AS duplicates_of_true FROM models ORDER BY 1;
-- What the job says of a sample are the odds of so many records.
CREATE TABLE found AS SELECT d.* FROM models, bloom_model_duplicates('part', 'id', model, 0.2, '{"records": 21000}') AS d WHERE of_records = 'all';
SELECT count(*) > 100 AS many, bool_and(probability = (SELECT s.probability FROM models, bloom_model_score(model, (SELECT to_jsonb(p) FROM people AS p WHERE id::text = a), (SELECT to_jsonb(p) FROM people AS p WHERE id::text = b), 21000) AS s WHERE of_records = 'all')) AS same FROM found;
-- A pair that searches have come across: whether one of them is for it.
SELECT v.searches, p.bits = s.bits AND p.probability = s.probability AS same, p.taken FROM models, (VALUES (1), (2), (3), (0)) AS v (searches),
    (SELECT to_jsonb(people) FROM people WHERE id = 7) AS x (a), (SELECT to_jsonb(people) FROM people WHERE id = 100007) AS y (b),
    bloom_model_pair(jsonb_set(model, '{searches}', '[{"similar": ["surname"], "least": 85, "most": 20, "pairs_per_record": 1, "matches_per_record": 1},
        {"equal": ["dob"], "most": 5, "pairs_per_record": 1, "matches_per_record": 1}]'), v.searches, a, b, 21000) AS p, bloom_model_score(model, a, b, 21000) AS s
WHERE of_records = 'all' ORDER BY 1;
SELECT bloom_model_pair(model, NULL, '{}', '{}') FROM models LIMIT 1;
-- What cannot be.
\set VERBOSITY default
SELECT fitted('part', '{"records": 10}');
SELECT fitted('part', '{"records": 1}');
SELECT fitted('part', '{"records": "many"}');
SELECT fitted('part', '{"sample": "everybody"}');
SELECT fitted('part', '{"records": 21000, "sample": "nobody"}');
SELECT fitted('part', '{"records": 21000, "sample": "people"}');
SELECT fitted('part', '{"records": 21000, "sample": 1}');
SELECT fitted('part', '{"records": 21000, "sample": "a.b.c"}');
SELECT fitted('part', '{"records": 21000, "sample": "everybody", "searches": [{"equal": ["surname"], "most": 0}]}');
CREATE TABLE empty AS SELECT key FROM everybody LIMIT 0;
SELECT fitted('part', '{"records": 21000, "sample": "empty"}');
SELECT fitted('part', '{"sampel": 1}');
SELECT d.* FROM models, bloom_model_duplicates('people', 'id', model, 0.5, '{"records": 20999}') AS d;
SELECT d.* FROM models, bloom_model_duplicates('people', 'id', model, 0.5, '{"records": 21000, "sample": "everybody"}') AS d;
SELECT bloom_model_fit_linkage('part', 'id', 'people', 'id', '{given,surname,dob}', options => '{"records": 21000}');
SELECT bloom_model_fit_linkage('part', 'id', 'people', 'id', '{given,surname,dob}', options => '{"records": 21000}', one_to_one => 'both');
DROP SCHEMA model_records CASCADE;
