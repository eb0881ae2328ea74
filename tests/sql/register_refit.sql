-- Another model for a register: what it changes, and the switch to it.
CREATE SCHEMA register_refit;
SET client_min_messages = warning;
SET search_path = register_refit, public;
CREATE TABLE person AS SELECT i AS id, initcap(left(word, 6)) AS given, initcap(substr(word, 7, 9)) AS surname, date '1940-01-01' + (i * 7919) % 25000 AS dob,
    (ARRAY['Berlin','Bonn','Köln','Graz','Wien'])[1 + (i * 3) % 5] AS city, '030' || 1000000 + (i * 104729) % 8999999 AS phone
    FROM (SELECT i, translate(md5('person ' || i), '0123456789', 'ghijklmnop') AS word FROM generate_series(1, 1000) AS i) AS of_word;
INSERT INTO person SELECT id + 10000, given, overlay(surname PLACING 'x' FROM 3 FOR 1), dob, 'Linz', phone FROM person WHERE id <= 60;
INSERT INTO person SELECT id + 20000, given, surname, dob, city, NULL FROM person WHERE id BETWEEN 61 AND 120;
INSERT INTO person SELECT id + 30000, given, surname, dob + 1, 'Linz', phone FROM person WHERE id BETWEEN 121 AND 150;
INSERT INTO person SELECT id + 40000, overlay(given PLACING 'yy' FROM 2 FOR 2), overlay(surname PLACING 'x' FROM 3 FOR 1), NULL, 'Linz', phone FROM person WHERE id BETWEEN 151 AND 180;
ALTER TABLE person ADD PRIMARY KEY (id);
CREATE TABLE fitted AS SELECT bloom_model_fit('person', 'id', '{given:name,surname:name,dob:date,city}', '{given,dob}') AS model;
CREATE FUNCTION searches(model jsonb, VARIADIC searches jsonb[]) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_set(model, '{searches}', jsonb_agg(s || '{"pairs_per_record": 1, "matches_per_record": 0.1}' ORDER BY n)) FROM unnest(searches) WITH ORDINALITY AS u (s, n) $$;
UPDATE fitted SET model = searches(model, '{"equal": ["dob"], "most": 5}', '{"equal": ["given", "surname"], "most": 40}', '{"similar": ["surname"], "least": 40, "most": 20}');
SELECT bloom_register_create(model, 'person', 'id') FROM fitted;
CREATE FUNCTION versions() RETURNS text LANGUAGE sql AS $$ SELECT md5(string_agg(ctid::text || key || xmin, ' ' ORDER BY ctid)) FROM person_register_keys $$;
CREATE FUNCTION matches(register regclass) RETURNS TABLE (a text, b text, bits float8) LANGUAGE sql AS $$
    SELECT p.id::text, m.key, m.bits FROM person AS p, bloom_register_match(register, to_jsonb(p), 0, NULL) AS m $$;
-- The same as a register that is made of the model, and nothing to mend.
CREATE FUNCTION state(OUT differ bigint, OUT missing bigint, OUT surplus bigint, OUT large bigint, OUT closed bigint) LANGUAGE plpgsql AS $$ BEGIN
    PERFORM bloom_register_create(r.model, 'person', 'id', 'fresh', jsonb_build_object('records', r.records)) FROM person_register AS r;
    SELECT count(*) INTO differ FROM (SELECT * FROM matches('person_register')) AS m FULL JOIN (SELECT * FROM matches('fresh')) AS f USING (a, b) WHERE m.bits IS DISTINCT FROM f.bits;
    PERFORM bloom_register_drop('fresh');
    SELECT max(number) FILTER (WHERE finding = 'keys missing'), max(number) FILTER (WHERE finding = 'keys of no record'), max(number) FILTER (WHERE finding = 'blocks open that are too large'),
        max(number) FILTER (WHERE finding = 'blocks closed that a new register has open') INTO missing, surplus, large, closed FROM bloom_register_check('person_register');
END $$;
SELECT * FROM state();
-- The same model changes nothing, and writes nothing.
SELECT versions() AS before \gset
SELECT change, a, b, was, now FROM fitted, bloom_register_refit('person_register', model, apply => true);
SELECT versions() = :'before' AS same;
-- Another one: a search that goes, one that comes, and two that stay, in another order and beside another field. What it shows comes true.
CREATE TABLE other AS SELECT searches(bloom_model_fit('person', 'id', '{phone:phone,city,dob:date,surname:name,given:name}', '{given,dob,phone}'),
    '{"equal": ["phone"], "most": 3}', '{"similar": ["surname"], "least": 40, "most": 20}', '{"equal": ["dob"], "most": 5}', '{"equal": ["city", "surname"], "most": 40}') AS model;
SELECT change, was, now FROM other, bloom_register_refit('person_register', model) WHERE a IS NULL;
SELECT change, count(*), bool_and(coalesce(was, 0) < 0.5) AS new, bool_and(now >= 0.5) AS is_found FROM other, bloom_register_refit('person_register', model) WHERE a IS NOT NULL GROUP BY 1 ORDER BY 1;
SELECT versions() = :'before' AS same;
CREATE TABLE before AS SELECT least(a, b) AS a, greatest(a, b) AS b, min(bits) AS bits FROM matches('person_register') GROUP BY 1, 2;
CREATE TABLE shown AS SELECT r.* FROM other, bloom_register_refit('person_register', model, options => '{"sample": 10000}') AS r;
BEGIN;
SELECT count(*) AS rows, count(a) > 0 AS pairs FROM other, bloom_register_refit('person_register', model, true);
SELECT * FROM state();
ROLLBACK;
SELECT versions() = :'before' AS same;
SELECT * FROM state();
SELECT change, was, now FROM other, bloom_register_refit('person_register', model, true, options => '{"sample": 0}');
SELECT * FROM state();
SELECT searches, records, types FROM person_register;
CREATE TABLE after AS SELECT least(a, b) AS a, greatest(a, b) AS b, min(bits) AS bits FROM matches('person_register') GROUP BY 1, 2;
SELECT count(*) AS differ FROM (SELECT a, b, CASE WHEN n.bits >= 0 THEN 'pair comes' ELSE 'pair goes' END AS change FROM before AS o FULL JOIN after AS n USING (a, b) WHERE (coalesce(o.bits, -1) >= 0) <> (coalesce(n.bits, -1) >= 0)) AS really
    FULL JOIN (SELECT least(a, b) AS a, greatest(a, b) AS b, change FROM shown WHERE a IS NOT NULL) AS told USING (a, b, change) WHERE really IS NULL OR told IS NULL;
-- What is entered afterwards has the keys of the new model.
INSERT INTO person VALUES (50001, 'Rosalinde', 'Achtelfass', '1922-02-02', 'Graz', '0309999991'), (50002, 'Rosa', 'Achtelfas', NULL, 'Ulm', '0309999991');
SELECT key FROM bloom_register_match('person_register', '{"given": "Rosalinde", "phone": "0309999991"}', 0);
SELECT * FROM state();
-- A guard goes by the new model without being made again.
SELECT bloom_register_guard('person_register', 0.5, 'reject');
SELECT count(*) > 0 AS shown FROM fitted, bloom_register_refit('person_register', model, true);
INSERT INTO person VALUES (50003, 'Kunigunde', 'Siebenschein', '1911-11-11', 'Graz', '0309999992'), (50004, 'Otto', 'Niemand', '1933-03-03', 'Graz', '0309999992');
SELECT count(*) > 0 AS shown FROM other, bloom_register_refit('person_register', model, true);
INSERT INTO person VALUES (50005, 'Kunigunde', 'Siebenschein', '1911-11-11', 'Ulm', '0309999992');
DROP TRIGGER person_id_guard ON person;
SELECT * FROM state();
-- A block that is closed opens again: since it has room, and since its search allows more.
INSERT INTO person SELECT 60000 + i, 'G' || i, 'S' || i, '2024-02-29' FROM generate_series(1, 6) AS i;
DELETE FROM person WHERE id = 60006;
SELECT closed FROM state();
SELECT change, was, now FROM other, bloom_register_refit('person_register', model, true) WHERE change IN ('closed blocks that open', 'keys written', 'keys deleted');
SELECT * FROM state();
INSERT INTO person SELECT 60000 + i, 'G' || i, 'S' || i, '2024-02-29' FROM generate_series(6, 8) AS i;
SELECT count(*) FROM bloom_register_match('person_register', '{"dob": "2024-02-29"}', 0);
SELECT change, was, now FROM other, bloom_register_refit('person_register', jsonb_set(model, '{searches,2,most}', '8'), true, options => '{"records": 2000}') WHERE a IS NULL;
SELECT count(*) FROM bloom_register_match('person_register', '{"dob": "2024-02-29"}', 0);
SELECT * FROM state();
SELECT records FROM person_register;
-- By default it fits anew what it compares.
SELECT change, was IS NOT NULL AS was, now > 0 AS now FROM bloom_register_refit('person_register', apply => true) WHERE change IN ('records', 'keys', 'pairs of the sample');
SELECT jsonb_path_query_array(model, '$.fields[*].name') AS fields, jsonb_path_query_array(model, '$.fields[*].kind') AS kinds, jsonb_path_query_array(model, '$.fields[*] ? (@.personal == true).name') AS personal, records FROM person_register;
SELECT * FROM state();
-- Bad input.
SELECT * FROM bloom_register_refit('person');
SELECT * FROM bloom_register_refit('person_register', '{}');
SELECT * FROM bloom_register_refit('person_register', min_probability => 2);
SELECT * FROM bloom_register_refit('person_register', options => '{"records": 1}');
SELECT * FROM bloom_register_refit('person_register', options => '{"sample": -1}');
SELECT * FROM bloom_register_refit('person_register', options => '{"samples": 1}');
SELECT * FROM bloom_register_refit('person_register', options => '[]');
SELECT * FROM other, bloom_register_refit('person_register', jsonb_set(model, '{linkage}', 'true'));
BEGIN;
ALTER TABLE person DISABLE TRIGGER person_register_row;
SELECT * FROM other, bloom_register_refit('person_register', model);
ROLLBACK;
BEGIN;
ALTER TABLE person DROP phone;
SELECT * FROM other, bloom_register_refit('person_register', model);
ROLLBACK;
BEGIN;
UPDATE person_register SET searches = '{0,0}';
SELECT * FROM bloom_register_match('person_register', '{}');
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT * FROM other, bloom_register_refit('person_register', model);
ROLLBACK;
BEGIN;
CREATE FUNCTION spy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'as %', current_user; RETURN NULL; END $$;
CREATE TRIGGER spy AFTER UPDATE ON person_register FOR EACH ROW EXECUTE FUNCTION spy();
SELECT count(*) FROM other, bloom_register_refit('person_register', model, true);
ROLLBACK;
-- A table that has become empty has nothing to learn from.
BEGIN;
TRUNCATE person;
SELECT * FROM bloom_register_refit('person_register');
ROLLBACK;
BEGIN;
DELETE FROM person WHERE id > 40;
SELECT count(*) FROM bloom_register_refit('person_register', apply => true);
ROLLBACK;
-- For the owner only.
CREATE ROLE regress_register_reader;
GRANT USAGE ON SCHEMA register_refit TO regress_register_reader;
GRANT SELECT ON person TO regress_register_reader;
SET ROLE regress_register_reader;
SELECT * FROM bloom_register_refit('person_register', '{}');
RESET ROLE;
DROP SCHEMA register_refit CASCADE;
DROP ROLE regress_register_reader;
