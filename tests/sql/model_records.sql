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
-- Keys that are given bring the same records together as those that the searches would give; NULL brings none. Which pairs count, the limit says.
CREATE TABLE searched AS SELECT jsonb_set(model, '{searches}', '[{"equal": ["surname", "dob"], "most": 40, "pairs_per_record": 0, "matches_per_record": 0.1},
    {"similar": ["dob"], "least": 90, "most": 20, "pairs_per_record": 0, "matches_per_record": 0.1}, {"equal": ["phone"], "most": 5, "pairs_per_record": 0, "matches_per_record": 0.1}]') AS model
    FROM models WHERE of_records = 'all';
CREATE TABLE some_people AS SELECT * FROM people WHERE id % 2000 < 300;
CREATE TABLE keyed AS SELECT p.*, (SELECT array_agg(key & -64 | search) FROM searched, bloom_model_keys(model, to_jsonb(p), 4000)) AS "the Keys" FROM some_people AS p;
CREATE TABLE by_itself AS SELECT d.* FROM searched, bloom_model_duplicates('some_people', 'id', model, 0) AS d;
CREATE TABLE by_keys AS SELECT d.* FROM searched, bloom_model_duplicates('keyed', 'id', model, 0, '{"keys": "the Keys"}') AS d;
SELECT (SELECT count(*) > 500 FROM by_keys) AS many, count(*) AS otherwise FROM ((TABLE by_itself EXCEPT ALL TABLE by_keys) UNION ALL (TABLE by_keys EXCEPT ALL TABLE by_itself)) AS x;
CREATE TABLE counted AS SELECT d.* FROM searched, bloom_model_duplicates('keyed', 'id', model, 0, '{"keys": "the Keys", "counted": true}') AS d;
SELECT count(*) < (SELECT count(*) FROM by_keys) AS fewer, count(*) = (SELECT count(*) FROM searched, bloom_model_duplicates('some_people', 'id', model, 0, '{"counted": true}')) AS as_many FROM counted;
SELECT count(*) FROM counted AS c JOIN by_itself AS d USING (a, b) WHERE (c.bits, c.probability) <> (d.bits, d.probability);
SELECT count(*) = (SELECT count(*) FROM by_itself) AS within_the_limit FROM searched, bloom_model_duplicates('some_people', 'id', model, 0, (SELECT jsonb_build_object('pair_limit', count(*)) FROM counted)) AS d;
DO $$ BEGIN PERFORM bloom_model_duplicates('some_people', 'id', model, 0, (SELECT jsonb_build_object('pair_limit', count(*) - 1) FROM counted)) FROM searched; EXCEPTION WHEN program_limit_exceeded THEN RAISE INFO 'above the limit'; END $$;
UPDATE keyed SET "the Keys" = NULL WHERE id > 200000;
SELECT count(*) > 0 AS some, count(*) FILTER (WHERE greatest(a::int, b::int) > 200000) AS without_keys FROM searched, bloom_model_duplicates('keyed', 'id', model, 0, '{"keys": "the Keys"}');
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
SELECT fitted('part', '{"records": 21000, "sample": "everybody", "searches": [{"equal": ["surname"], "most": 5, "pairs_per_record": 1, "matches_per_record": 1}], "large": "people"}');
SELECT fitted('part', '{"records": 21000, "sample": "everybody", "searches": [{"equal": ["surname"], "most": 5, "pairs_per_record": 1, "matches_per_record": 1}], "large": "everybody"}');
CREATE TABLE empty AS SELECT key FROM everybody LIMIT 0;
SELECT fitted('part', '{"records": 21000, "sample": "empty"}');
SELECT fitted('part', '{"sampel": 1}');
SELECT bloom_model_duplicates('keyed', 'id', model, 0, '{"keys": "id"}') FROM searched;
SELECT bloom_model_duplicates('keyed', 'id', model, 0, '{"keys": "keys"}') FROM searched;
SELECT bloom_model_duplicates('keyed', 'id', model, 0, '{"keys": 1}') FROM searched;
SELECT bloom_model_duplicates('keyed', 'id', model, 0, '{"counted": "yes"}') FROM searched;
SELECT bloom_model_linkage('keyed', 'id', 'keyed', 'id', model, 0, options => '{"keys": "the Keys"}') FROM searched;
CREATE VIEW wrong_keys AS SELECT id, given, surname, dob, city, phone, CASE id WHEN 7 THEN ARRAY[41::bigint, 0] ELSE "the Keys" END AS keys, ARRAY[64, NULL]::bigint[] AS nulls, ARRAY[ARRAY[64::bigint]] AS of_two FROM keyed;
SELECT bloom_model_duplicates('wrong_keys', 'id', model, 0, '{"keys": "keys"}') FROM searched;
SELECT bloom_model_duplicates('wrong_keys', 'id', model, 0, '{"keys": "nulls"}') FROM searched;
SELECT bloom_model_duplicates('wrong_keys', 'id', model, 0, '{"keys": "of_two"}') FROM searched;
SELECT d.* FROM models, bloom_model_duplicates('people', 'id', model, 0.5, '{"records": 20999}') AS d;
SELECT d.* FROM models, bloom_model_duplicates('people', 'id', model, 0.5, '{"records": 21000, "sample": "everybody"}') AS d;
SELECT bloom_model_fit_linkage('part', 'id', 'people', 'id', '{given,surname,dob}', options => '{"records": 21000}');
SELECT bloom_model_fit_linkage('part', 'id', 'people', 'id', '{given,surname,dob}', options => '{"records": 21000}', one_to_one => 'both');
DROP SCHEMA model_records CASCADE;
