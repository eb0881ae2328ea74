-- Keys and scores of single records: what a model finds in a table, from its keys alone.
CREATE SCHEMA model_single;
SET client_min_messages = warning;
SET search_path = model_single, public;
CREATE TABLE people AS SELECT i AS id, given, surname, dob, city, phone FROM (
    SELECT i, (ARRAY['Anna','Otto','Maria','Jan','Eva','Karl','Lena','Paul','Ida','Emil'])[1 + (i * 7 + i / 13) % 10] AS given,
        (ARRAY['Kowalski','Berger','Steinbacher','Novak','Lindqvist','Moreau','Rossi','Jansen','Wagner','Petrov','Haas','Keller','Vogt'])[1 + (i * 11 + i / 7) % 13]
            || (ARRAY['','mann','son','s'])[1 + (i / 5) % 4] AS surname,
        to_char(date '1940-01-01' + (i * 7919) % 25000, 'YYYY-MM-DD') AS dob, (ARRAY['Berlin','Bonn','Köln','Graz','Wien'])[1 + (i * 3) % 5] AS city,
        '030' || 1000000 + (i * 104729) % 8999999 AS phone
    FROM generate_series(1, 1500) AS i) AS original;
-- Duplicates: misspelt, moved, with names that have changed places, with values missing.
INSERT INTO people SELECT id + 10000, given, overlay(surname PLACING 'x' FROM 3 FOR 1), dob, 'Linz', phone FROM people WHERE id <= 150;
INSERT INTO people SELECT id + 20000, surname, given, dob, city, NULL FROM people WHERE id BETWEEN 151 AND 220;
INSERT INTO people SELECT id + 30000, given, surname, NULL, city, phone FROM people WHERE id BETWEEN 221 AND 300;
CREATE TABLE fitted AS SELECT bloom_model_fit('people', 'id', '{given:name,surname:name,dob:date,city,phone:phone}', '{given,dob,phone}') AS model;
-- With searches of every kind.
UPDATE fitted SET model = jsonb_set(model, '{searches}', (SELECT jsonb_agg(to_jsonb(s) || '{"pairs_per_record": 1, "matches_per_record": 0.1}') FROM (VALUES
    ('{"equal": ["given", "surname"], "most": 40}'::jsonb), ('{"equal": ["dob"], "most": 5}'), ('{"equal": ["phone"], "most": 3}'),
    ('{"crosswise": ["city"], "most": 40}'), ('{"crosswise": [], "most": 20}'),
    ('{"similar": ["surname"], "least": 40, "most": 20}'), ('{"similar": ["given", "surname"], "least": 40, "most": 20}'),
    ('{"similar": ["surname", "dob"], "least": 55, "most": 20}')) AS v (s)));
SELECT jsonb_pretty(model -> 'searches' -> 0) FROM fitted;
CREATE FUNCTION pairs_by_keys(model jsonb, records bigint DEFAULT NULL, OUT a int, OUT b int) RETURNS SETOF record STABLE LANGUAGE sql AS $$
    WITH keys AS MATERIALIZED (SELECT id, k.search, k.key FROM people, bloom_model_keys(model, to_jsonb(people), records) AS k),
        block AS (SELECT search, key FROM keys GROUP BY search, key HAVING count(*) BETWEEN 2 AND (model #>> ARRAY['searches', search::text, 'most'])::int)
    SELECT DISTINCT least(x.id::text, y.id::text)::int, greatest(x.id::text, y.id::text)::int FROM block JOIN keys AS x USING (search, key) JOIN keys AS y USING (search, key) WHERE x.id < y.id $$;
CREATE TABLE batch AS SELECT a::int, b::int, probability, bits FROM fitted, bloom_model_duplicates('people', 'id', model, 0, options => '{"force": true}');
CREATE TABLE single AS SELECT a, b, score.* FROM fitted, pairs_by_keys(model) AS pair (a, b), LATERAL bloom_model_score(model, (SELECT to_jsonb(p) FROM people p WHERE id = pair.a),
    (SELECT to_jsonb(p) FROM people p WHERE id = pair.b)) AS score;
-- The same pairs, and the same bits to the last one.
SELECT count(*) > 3000 AS many, count(*) FILTER (WHERE probability >= 0.5) > 200 AS matches FROM batch;
SELECT count(*) AS differ FROM (SELECT least(a::text, b::text), greatest(a::text, b::text), probability, bits FROM batch) AS x (a, b, probability, bits)
    FULL JOIN (SELECT a::text, b::text, probability, bits FROM single) AS y USING (a, b) WHERE x.bits IS DISTINCT FROM y.bits OR x.probability IS DISTINCT FROM y.probability;
-- Each search by itself.
SELECT n - 1 AS search, s - 'pairs_per_record' - 'matches_per_record' AS search_is, batch.pairs > 0 AS finds, batch.pairs = single.pairs AS same
FROM fitted, jsonb_array_elements(model -> 'searches') WITH ORDINALITY AS all_of (s, n),
    LATERAL (SELECT count(*) AS pairs FROM bloom_model_duplicates('people', 'id', jsonb_set(model, '{searches}', jsonb_build_array(s)), 0, options => '{"force": true}')) AS batch,
    LATERAL (SELECT count(*) AS pairs FROM pairs_by_keys(jsonb_set(model, '{searches}', jsonb_build_array(s)))) AS single ORDER BY n;
-- A scan has no keys, and the others have theirs all the same.
SELECT count(DISTINCT search) AS searches, min(search) AS first FROM fitted, bloom_model_keys(jsonb_set(model, '{searches}', '[{"scan": 30, "pairs_per_record": 1, "matches_per_record": 0}]' || (model -> 'searches')),
    '{"given": "Anna", "surname": "Berger", "dob": "1990-01-02", "city": "Bonn", "phone": "0301234567"}');
-- Searches that would bring too many pairs in a larger table are not made there.
SELECT records, count(DISTINCT search) AS searches FROM fitted, (VALUES (NULL), (1800), (100000000)) AS v (records),
    bloom_model_keys(jsonb_set(model, '{searches,3,pairs_per_record}', '6'), '{"given": "Anna", "surname": "Berger", "dob": "1990-01-02", "city": "Bonn", "phone": "0301234567"}', records) GROUP BY 1 ORDER BY 1;
-- What the score is the sum of; with another number of records, too.
SELECT records, bool_and(abs(bits - sum) < 1e-9) AS is_sum FROM (SELECT records, score.bits, (SELECT sum(e.bits) FROM bloom_model_explain(model, to_jsonb(x), to_jsonb(y), records => records) AS e)
    FROM fitted, (VALUES (NULL), (2), (1000000)) AS v (records), people AS x JOIN people AS y ON y.id = x.id + 10000, LATERAL bloom_model_score(model, to_jsonb(x), to_jsonb(y), records) AS score WHERE x.id <= 20) AS s
    GROUP BY 1 ORDER BY 1;
-- A calibrated model.
SELECT count(*) > 100 AS many, count(*) FILTER (WHERE score.bits <> batch.bits OR score.probability <> batch.probability) AS differ FROM (SELECT jsonb_set(model, '{calibration}', '{"slope": 0.5, "shift": -1, "answers": 30}') AS model FROM fitted) AS m,
    LATERAL bloom_model_duplicates('people', 'id', model, 0.5, options => '{"force": true}') AS batch JOIN people AS x ON x.id::text = a JOIN people AS y ON y.id::text = b,
    LATERAL bloom_model_score(model, to_jsonb(x), to_jsonb(y)) AS score;
-- Missing members, null, and members that are none of the model's.
SELECT count(*) AS keys FROM fitted, bloom_model_keys(model, '{}');
SELECT array_agg(DISTINCT search) FROM fitted, bloom_model_keys(model, '{"dob": "1990-01-02", "given": null, "height": [1]}');
SELECT bits < 0 AS against FROM fitted, bloom_model_score(model, '{}', '{"height": {}}');
-- The same values have the same keys, however they are written.
SELECT array_agg(key ORDER BY search, key) = (SELECT array_agg(key ORDER BY search, key) FROM fitted, bloom_model_keys(model, '{"surname": "MÜLLER", "given": "anna", "dob": 19900102}')) AS same
FROM fitted, bloom_model_keys(model, '{"surname": "Mueller", "given": " Anna", "dob": "1990-01-02"}', side => 'stored');
-- Bad input.
SELECT bloom_model_keys(model, '[]') FROM fitted;
SELECT bloom_model_keys(model, NULL) FROM fitted;
SELECT bloom_model_keys(model, '{"given": ["Anna"]}') FROM fitted;
SELECT bloom_model_keys(model, '{}', 1) FROM fitted;
SELECT bloom_model_keys(model, '{}', side => 'left') FROM fitted;
SELECT bloom_model_keys('{}', '{}');
SELECT bloom_model_score(model, '{}', '"x"') FROM fitted;
SELECT bloom_model_score(model, '{}', NULL) FROM fitted;
SELECT bloom_model_score(NULL, '{}', '{}');
SELECT bloom_model_score(model, '{}', '{}', -5) FROM fitted;
SELECT bloom_model_explain(model, '{}', '{}', 10, 10) FROM fitted;
SELECT bloom_model_score(jsonb_set(model, '{linkage}', 'true'), '{}', '{}') FROM fitted;
SELECT bloom_model_keys(jsonb_set(model, '{linkage}', 'true'), '{}') FROM fitted;
SELECT bloom_model_explain(jsonb_set(model, '{linkage}', 'true'), '{}', '{}', records => 10) FROM fitted;
SELECT count(*) AS of_two_tables FROM fitted, bloom_model_explain(jsonb_set(model, '{linkage}', 'true'), '{}', '{}');
-- A model is read once: many models in turn, one that changes in a loop, one that is rolled back.
CREATE FUNCTION with_records(model jsonb, n int) RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$ SELECT jsonb_set(model, '{matches_per_record}', to_jsonb(n * 0.001)) $$;
CREATE TABLE many AS SELECT n, with_records(model, n) AS model FROM fitted, generate_series(1, 1000) AS n;
CREATE FUNCTION bits_of(model jsonb) RETURNS float8 STABLE LANGUAGE sql AS $$
    SELECT bits FROM bloom_model_score(model, '{"given": "Anna", "surname": "Berger", "dob": "1990-01-02"}', '{"given": "Anna", "surname": "Bergers", "dob": "1990-01-02"}') $$;
CREATE TABLE right_bits AS SELECT n, bits_of(model) AS bits FROM many;
SELECT count(DISTINCT bits) AS different FROM right_bits;
SELECT count(*) AS wrong FROM many JOIN right_bits USING (n), generate_series(1, 2) AS again WHERE bits_of(model) <> bits;
CREATE FUNCTION session_state() RETURNS TABLE (name text, key text, until text, bytes bigint) VOLATILE LANGUAGE c AS 'bloom_ident', 'test_session_state_wrapper';
SELECT bytes BETWEEN 1000000 AND 40000000 AS bounded FROM session_state() WHERE name = 'models of single records';
DO $$
DECLARE m jsonb; wanted float8; r record;
BEGIN
    FOR r IN SELECT n, model, bits FROM many JOIN right_bits USING (n) WHERE n <= 50 ORDER BY n LOOP
        m := r.model;
        -- a simple expression, which PL/pgSQL prepares once
        wanted := (bloom_model_score(m, '{"given": "Anna", "surname": "Berger", "dob": "1990-01-02"}', '{"given": "Anna", "surname": "Bergers", "dob": "1990-01-02"}')).bits;
        IF wanted <> r.bits THEN RAISE EXCEPTION 'model % has the bits of another', r.n; END IF;
    END LOOP;
END $$;
BEGIN;
UPDATE fitted SET model = with_records(model, 700);
SELECT bits_of(model) = bits AS is_changed FROM fitted, right_bits WHERE n = 700;
SAVEPOINT s;
UPDATE fitted SET model = with_records(model, 800);
SELECT bits_of(model) = bits AS is_changed FROM fitted, right_bits WHERE n = 800;
ROLLBACK TO s;
SELECT bits_of(model) = bits AS is_back FROM fitted, right_bits WHERE n = 700;
UPDATE fitted SET model = with_records(model, 900);
SELECT bits_of(model) = bits AS is_changed FROM fitted, right_bits WHERE n = 900;
ROLLBACK;
SELECT bits_of(model) <> ALL (SELECT bits FROM right_bits WHERE n IN (700, 800, 900)) AS is_back FROM fitted;
-- Within one statement, too.
DO $$
DECLARE got float8[];
BEGIN
    FOR n IN 1 .. 3 LOOP
        BEGIN
            UPDATE fitted SET model = with_records(fitted.model, 100 * n);
            got := got || (SELECT bits_of(fitted.model) FROM fitted);
            RAISE EXCEPTION USING ERRCODE = 'P0099';
        EXCEPTION WHEN SQLSTATE 'P0099' THEN NULL;
        END;
    END LOOP;
    IF got <> (SELECT array_agg(bits ORDER BY n) FROM right_bits WHERE n IN (100, 200, 300)) THEN RAISE EXCEPTION 'a model has the bits of another'; END IF;
END $$;
PREPARE score(jsonb) AS SELECT bits FROM bloom_model_score($1, '{"given": "Anna", "surname": "Berger", "dob": "1990-01-02"}', '{"given": "Anna", "surname": "Bergers", "dob": "1990-01-02"}');
SET plan_cache_mode = force_generic_plan;
DO $$
DECLARE got float8; r record;
BEGIN
    FOR r IN SELECT n, model, bits FROM many JOIN right_bits USING (n) WHERE n <= 5 ORDER BY n LOOP
        EXECUTE format('EXECUTE score(%L)', r.model) INTO got;
        IF got <> r.bits THEN RAISE EXCEPTION 'model % has the bits of another', r.n; END IF;
    END LOOP;
END $$;
-- Values that to_jsonb writes by the settings of the session, as dates, numbers and texts.
CREATE TABLE measured AS SELECT i AS id, 'N' || (i * 7919) % 600 AS name, (timestamptz '2020-01-01 22:30:00.25+00' + (i * 7919) % 700 * interval '7 hours') AS seen, (timestamp '2019-05-01 10:00' + (i * 104729) % 300 * interval '1 day') AS noted,
    date '1950-01-01' + (i * 7919) % 9000 AS born, ((i * 31) % 500)::real / 7 AS weight, ((i * 17) % 900)::float8 / 3 + 0.1 AS amount FROM generate_series(1, 1000) AS i;
INSERT INTO measured SELECT id + 10000, name, seen, noted + interval '1 minute', born, weight, amount + 1e-14 FROM measured WHERE id <= 200;
UPDATE measured SET born = 'infinity', seen = '-infinity', noted = 'infinity', weight = 'NaN' WHERE id % 50 = 0;
UPDATE measured SET born = '0044-03-15 BC', amount = 1e20 WHERE id % 50 = 1;
SET TimeZone = 'Asia/Kolkata';
SET extra_float_digits = 3;
CREATE TABLE measured_models AS SELECT fields, bloom_model_fit('measured', 'id', fields::text[]) AS model FROM (VALUES ('{name,seen:date,noted:day,born:date,weight:number,amount:number}'),
    ('{name,seen:text,noted:code,born:text,weight:text,amount:code}')) AS v (fields);
SELECT left(fields, 16) AS fields, count(*) > 200 AS many, count(*) FILTER (WHERE score.bits <> batch.bits) AS differ FROM measured_models, bloom_model_duplicates('measured', 'id', model, 0, options => '{"force": true}') AS batch
    JOIN measured AS x ON x.id::text = a JOIN measured AS y ON y.id::text = b, LATERAL bloom_model_score(model, to_jsonb(x), to_jsonb(y)) AS score GROUP BY 1 ORDER BY 1;
RESET TimeZone;
RESET extra_float_digits;
DROP SCHEMA model_single CASCADE;
