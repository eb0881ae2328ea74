-- Names as they are typed: records whose names begin so.
CREATE SCHEMA register_prefix;
SET client_min_messages = warning;
SET search_path = register_prefix, public;
CREATE TABLE person AS SELECT i AS id, initcap(left(word, 6)) AS given, initcap(substr(word, 7, 9)) AS surname, date '1940-01-01' + (i * 7919) % 25000 AS dob,
    (ARRAY['Berlin','Bonn','Köln','Graz','Wien'])[1 + (i * 3) % 5] AS city
    FROM (SELECT i, translate(md5('person ' || i), '0123456789', 'ghijklmnop') AS word FROM generate_series(1, 1000) AS i) AS of_word;
INSERT INTO person SELECT id + 10000, given, overlay(surname PLACING 'x' FROM 3 FOR 1), dob, 'Linz' FROM person WHERE id <= 60;
INSERT INTO person SELECT id + 20000, given, surname, dob, city FROM person WHERE id BETWEEN 61 AND 120;
INSERT INTO person SELECT id + 30000, given, surname, dob + 1, 'Linz' FROM person WHERE id BETWEEN 121 AND 150;
ALTER TABLE person ADD PRIMARY KEY (id);
CREATE TABLE fitted AS SELECT bloom_model_fit('person', 'id', '{given:name,surname:name,dob:date,city}', '{given,dob}') AS model;
INSERT INTO person VALUES (50001, 'Erika', 'Mustermann', '1964-08-12', 'Köln'), (50002, 'Erich', 'Mustermann', '1930-01-02', 'Köln'), (50003, 'Erika', 'Musterfrau', '1971-03-04', 'Bonn'),
    (50004, 'Jörg', 'Müller-Lüdenscheidt', '1950-05-05', 'Bonn'), (50005, 'Eva', 'Müller', '1951-05-05', 'Bonn'), (50006, NULL, 'Mülle', NULL, NULL), (50007, 'Li', 'Ng', NULL, NULL), (50008, 'Ludwig', 'van Beethoven', '1770-12-17', 'Bonn');
SELECT bloom_register_create(model, 'person', 'id', options => '{"prefix": 1}') FROM fitted;
SELECT bloom_register_create(bloom_model_fit('person', 'id', '{dob:date,city}', '{dob}'), 'person', 'id', options => '{"prefix": true}');
SELECT bloom_register_create(model, 'person', 'id', 'without') FROM fitted;
SELECT bloom_register_create(model, 'person', 'id', options => '{"prefix": true}') FROM fitted;
SET client_min_messages = notice;
CREATE FUNCTION typed(jsonb) RETURNS TABLE (key text, given text, surname text) LANGUAGE sql AS $$
    SELECT m.key, p.given, p.surname FROM bloom_register_match('person_register', $1, prefix => true) WITH ORDINALITY AS m JOIN person AS p ON p.id::text = m.key ORDER BY ordinality $$;
SELECT * FROM typed('{"surname": "Mül"}');
SELECT * FROM typed('{"surname": "mUELLER"}');
SELECT * FROM typed('{"given": "Eri", "surname": "Mus"}');
SELECT * FROM typed('{"given": "E", "surname": "Muster"}');
SELECT * FROM typed('{"given": "E", "surname": "Mustermann"}');
SELECT * FROM typed('{"given": "Erika", "city": "Bonn"}');
SELECT * FROM typed('{"surname": "ng"}');
SELECT * FROM typed('{"surname": "van b"}');
SELECT * FROM typed('{"surname": "Mustermannx"}');
SELECT * FROM bloom_register_match('person_register', '{"surname": "Muster"}', prefix => true, "limit" => 2);
SELECT key FROM bloom_register_match('person_register', '{"id": 50001, "surname": "Muster"}', prefix => true);
SELECT key FROM bloom_register_match('person_register', (SELECT p FROM person AS p WHERE id = 50001), prefix => true);
-- Each record by each beginning of its names.
SELECT count(*) AS asked, count(*) FILTER (WHERE NOT found) AS not_found FROM (SELECT EXISTS (SELECT FROM bloom_register_match('person_register', jsonb_build_object('surname', left(surname, n)), "limit" => NULL, prefix => true) AS m WHERE m.key = id::text) AS found
    FROM person, generate_series(2, 8) AS n WHERE n <= length(surname) AND id % 20 = 1) AS each;
-- Too little, and what too many have; two names at once are fewer.
SELECT * FROM typed('{}');
SELECT * FROM typed('{"surname": "M"}');
INSERT INTO person SELECT 60000 + i, chr(96 + i % 26 + 1) || 'eta', 'Schmidt', NULL, NULL FROM generate_series(1, 120) AS i;
SELECT * FROM typed('{"surname": "Schm"}');
SELECT count(*), min(given), max(given) FROM typed('{"surname": "Schmidt", "given": "c"}');
-- Matches, guards and reports go by the searches alone.
SELECT count(*) FROM (SELECT p.id, m.key, m.bits FROM person AS p, bloom_register_match('person_register', to_jsonb(p), 0, NULL) AS m EXCEPT SELECT p.id, m.key, m.bits FROM person AS p, bloom_register_match('without', to_jsonb(p), 0, NULL) AS m) AS more;
SELECT count(*) FROM bloom_register_why('person_register', '50001', '50002') WHERE reason LIKE 'search %';
SELECT finding, number FROM bloom_register_check('person_register') WHERE finding NOT LIKE '%keys' AND finding NOT LIKE 'closed%' AND finding <> 'records';
UPDATE person SET surname = 'Neumann' WHERE id % 3 = 0;
DELETE FROM person WHERE id % 7 = 0;
SELECT finding, number FROM bloom_register_check('person_register') WHERE finding IN ('keys missing', 'keys of no record', 'blocks open that are too large');
-- They stay when the model changes, if its names do.
SELECT count(*) > 0 AS opened FROM fitted, bloom_register_refit('person_register', model, true);
SELECT change, was = now AS same, now > 0 AS some FROM fitted, bloom_register_refit('person_register', model) WHERE change LIKE 'beginnings%' OR change = 'keys written';
SELECT change, was > 0 AS was, now > 0 AS now FROM bloom_register_refit('person_register', bloom_model_fit('person', 'id', '{surname:name,dob:date,city}', '{dob}'), true) WHERE change LIKE 'beginnings%';
SELECT count(*) FROM typed('{"surname": "Muster"}');
SELECT finding, number FROM bloom_register_check('person_register') WHERE finding IN ('keys missing', 'keys of no record', 'blocks open that are too large');
-- A register without them says so.
SELECT * FROM bloom_register_match('without', '{"surname": "Muster"}', prefix => true);
SELECT count(*) FROM bloom_register_match('without', '{"surname": "Mustermann"}', 0, prefix => NULL);
SET client_min_messages = warning;
DROP SCHEMA register_prefix CASCADE;
