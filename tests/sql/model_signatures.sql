-- Match models over fields that are keyed signatures, each of a single field.
CREATE SCHEMA model_signatures;
SET search_path = model_signatures, public;
SET client_min_messages = warning;
SELECT length(bloom_secret_import('model_signatures', sha256('model_signatures'))), length(bloom_secret_import('model_signatures_other', sha256('other')));
CREATE FUNCTION schema_of(tokens jsonb, l int DEFAULT 512) RETURNS jsonb IMMUTABLE LANGUAGE sql RETURN jsonb_build_object('version', 3,
    'clkConfig', jsonb_build_object('l', l, 'kdf', '{"type": "HKDF"}'::jsonb), 'features', jsonb_build_array(jsonb_build_object('identifier', 'v', 'format', '{"type": "string"}'::jsonb,
    'hashing', jsonb_build_object('comparison', '{"type": "ngram"}' || tokens, 'strategy', '{"bitsPerToken": 12}'::jsonb, 'missingValue', '{"sentinel": ""}'::jsonb))));
CREATE FUNCTION sign(v text, tokens jsonb DEFAULT '{"n": 2}', secret name DEFAULT 'model_signatures') RETURNS bloom STABLE LANGUAGE sql
    RETURN bloom_clk(jsonb_build_object('v', lower(v)), schema_of(tokens), secret);
CREATE TABLE plain AS SELECT i AS id, given, surname, dob, city FROM (
    SELECT i, (ARRAY['Anna','Otto','Maria','Jan','Eva','Karl','Lena','Paul','Ida','Emil'])[1 + (i * 7 + i / 13) % 10] AS given,
        (ARRAY['Kowalski','Berger','Steinbacher','Novak','Lindqvist','Moreau','Rossi','Jansen','Wagner','Petrov','Haas','Keller','Vogt'])[1 + (i * 11 + i / 7) % 13]
            || (ARRAY['','mann','son','s'])[1 + (i / 5) % 4] AS surname,
        to_char(date '1940-01-01' + (i * 7919) % 25000, 'YYYYMMDD') AS dob, (ARRAY['Berlin','Bonn','Cologne','Graz','Vienna'])[1 + (i * 3) % 5] AS city
    FROM generate_series(1, 1500) AS i) AS original;
-- Duplicates: misspelt, moved, with names that have changed places, with values missing.
INSERT INTO plain SELECT id + 10000, given, overlay(surname PLACING 'x' FROM 3 FOR 1), dob, 'Linz' FROM plain WHERE id <= 150;
INSERT INTO plain SELECT id + 20000, surname, given, dob, city FROM plain WHERE id BETWEEN 151 AND 220;
INSERT INTO plain SELECT id + 30000, given, surname, NULL, city FROM plain WHERE id BETWEEN 221 AND 300;
CREATE TABLE person AS SELECT id, sign(given) AS given_name, sign(surname) AS surname,
    CASE WHEN dob IS NOT NULL OR id % 2 = 0 THEN sign(coalesce(dob, ''), '{"n": 1, "positional": true}') END AS birth, sign(city) AS city FROM plain;
-- A signature without bits is missing as one that is NULL.
SELECT count(*) FILTER (WHERE birth IS NULL) > 0 AS "null", count(*) FILTER (WHERE bloom_bits(birth) = 0) > 0 AS no_bits FROM person;
CREATE VIEW truth AS SELECT id AS key, id % 10000 AS cluster FROM plain;
-- The kind by itself.
CREATE TABLE fitted AS SELECT bloom_model_fit('person', 'id') AS model;
SELECT model ->> 'status' AS status, model -> 'left_out' AS left_out, model -> 'swap' AS swap, jsonb_array_length(model -> 'warnings') AS warnings FROM fitted;
SELECT f.name, kind, personal, round(filled, 3) AS filled, f.reading = format('(1,512,0,hash=2,id=%s)', bloom_id(p.s)) AS has_id
FROM fitted, jsonb_to_recordset(model -> 'fields') AS f(name text, kind text, personal boolean, filled numeric, reading text),
    (SELECT given_name, birth FROM person WHERE id = 2) AS one, LATERAL (SELECT CASE f.name WHEN 'birth' THEN birth ELSE given_name END) AS p (s);
-- What is frequent has a hash, and no bits.
SELECT f ->> 'name' AS name, count(*), bool_and(length(frequent) = 16) AS hashes FROM fitted, jsonb_array_elements(model -> 'fields') AS f, jsonb_object_keys(f -> 'frequent') AS frequent GROUP BY 1 ORDER BY 1;
CREATE TABLE pair AS SELECT pair.* FROM fitted, bloom_model_duplicates('person', 'id', model) AS pair;
SELECT found, true_pairs, correct FROM bloom_quality('pair', 'truth');
-- As good as by the texts.
CREATE TABLE plain_pair AS SELECT * FROM bloom_model_duplicates('plain', 'id', (SELECT bloom_model_fit('plain', 'id', '{given,surname,dob,city}', '{given,dob}')));
SELECT found, true_pairs, correct FROM bloom_quality('plain_pair', 'truth');
-- What is learned, and why a pair is one.
SELECT field, meaning, weak FROM fitted, bloom_model_levels(model) WHERE field IN ('surname', 'birth') ORDER BY field DESC, level;
SELECT field, a, b, level FROM fitted, bloom_model_explain(model, (SELECT to_jsonb(p) FROM person AS p WHERE id = 7), (SELECT to_jsonb(p) FROM person AS p WHERE id = 10007)) WHERE field NOT LIKE '(%';
SELECT field, a, b, level FROM fitted, bloom_model_explain(model, (SELECT to_jsonb(p) FROM person AS p WHERE id = 160), (SELECT to_jsonb(p) FROM person AS p WHERE id = 20160)) WHERE field NOT LIKE '(%';
SELECT field, a, b, level FROM fitted, bloom_model_explain(model, (SELECT to_jsonb(p) FROM person AS p WHERE id = 231), (SELECT to_jsonb(p) FROM person AS p WHERE id = 30231)) WHERE field = 'birth';
-- Single records have the bits that the table has, and the keys that find them.
SELECT count(*), bool_and(abs(score.bits - pair.bits) < 1e-9) AS same FROM fitted, pair JOIN person AS x ON x.id::text = pair.a::text JOIN person AS y ON y.id::text = pair.b::text,
    bloom_model_score(model, to_jsonb(x), to_jsonb(y)) AS score;
CREATE TABLE searched AS SELECT jsonb_set(model, '{searches}', (SELECT jsonb_agg(to_jsonb(s) || '{"pairs_per_record": 1, "matches_per_record": 0.1}') FROM (VALUES
    ('{"equal": ["given_name", "surname"], "most": 40}'::jsonb), ('{"equal": ["birth"], "most": 5}'), ('{"crosswise": ["birth"], "most": 40}'),
    ('{"similar": ["surname", "birth"], "least": 40, "most": 20}'), ('{"similar": ["birth"], "least": 55, "most": 20}')) AS v (s))) AS model FROM fitted;
CREATE TABLE by_search AS SELECT n, count(*) AS found, count(*) FILTER (WHERE a::int % 10000 = b::int % 10000) AS correct FROM searched, jsonb_array_elements(model -> 'searches') WITH ORDINALITY AS s (search, n),
    bloom_model_duplicates('person', 'id', jsonb_set(model, '{searches}', jsonb_build_array(search)), 0.5) AS pair GROUP BY n;
SELECT * FROM by_search ORDER BY n;
-- Two tables, one to one.
CREATE TABLE register AS SELECT * FROM person WHERE id < 10000;
CREATE TABLE applicant AS SELECT * FROM person WHERE id > 10000;
CREATE TABLE linkage AS SELECT bloom_model_fit_linkage('applicant', 'id', 'register', 'id') AS model;
SELECT count(*), count(*) FILTER (WHERE a::int % 10000 = b::int) AS correct FROM linkage, bloom_model_linkage('applicant', 'id', 'register', 'id', model, 0.1, true);
-- A register, which searches by keys, explains and guards.
ALTER TABLE person ADD PRIMARY KEY (id);
SELECT bloom_register_create(model, 'person', 'id') FROM fitted;
SELECT key, probability > 0.99 AS sure FROM bloom_register_match('person_register', (SELECT to_jsonb(p) - 'id' - 'city' || jsonb_build_object('surname', sign('Bergermann')) FROM person AS p WHERE id = 7)) ORDER BY key;
SELECT reason, a, b, left(finding, 60) AS finding FROM bloom_register_why('person_register', '7', '10007') WHERE reason NOT LIKE '(%' AND reason NOT LIKE 'search%';
SELECT bloom_register_guard('person_register', 0.9, 'reject');
INSERT INTO person SELECT 50001, given_name, surname, birth, city FROM person WHERE id = 500;
INSERT INTO person VALUES (50002, sign('Rosalinde'), sign('Unbekannt'), sign('19991231', '{"n": 1, "positional": true}'), NULL);
SELECT count(*) FROM person WHERE id > 50000;
-- A report has no column of signatures to show.
SELECT bloom_report_pairs('pair', 'person', 'id', model => model) LIKE '%similar, Dice 0.%' AS says_why, bloom_report_pairs('pair', 'person', 'id', model => model) ~ ':[0-9a-f]{64}' AS shows_bits FROM fitted;
-- Has the table moved away?
SELECT field, what FROM fitted, bloom_model_check(model, 'person') WHERE advice IS NOT NULL;
-- Another secret, another schema.
CREATE TABLE mixed AS SELECT id, given_name, CASE WHEN id = 700 THEN sign('Novak', '{"n": 2}', 'model_signatures_other') ELSE surname END AS surname, birth, city FROM person;
CREATE FUNCTION said(query text, OUT state text, OUT message text, OUT detail text, OUT hint text) LANGUAGE plpgsql AS $$ BEGIN
    EXECUTE query;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
END $$;
CREATE VIEW other_register AS SELECT id, given_name, sign('Novak', '{"n": 2}', 'model_signatures_other') AS surname, birth, city FROM register;
CREATE TABLE wide AS SELECT i AS id, ('(64,8191,3):' || repeat('01', 65528))::bloom AS a, ('(64,8191,3):' || repeat('02', 65528))::bloom AS b FROM generate_series(1, 2) AS i;
SELECT said.* FROM unnest(ARRAY[
    'SELECT bloom_model_fit(''mixed'', ''id'')',
    'SELECT bloom_model_fit_linkage(''applicant'', ''id'', ''other_register'', ''id'')',
    'SELECT count(*) FROM fitted, bloom_model_duplicates(''mixed'', ''id'', model)',
    'SELECT count(*) FROM linkage, bloom_model_linkage(''applicant'', ''id'', ''other_register'', ''id'', model)',
    'SELECT count(*) FROM fitted, bloom_model_check(model, ''mixed'')',
    'SELECT bloom_model_score(model, to_jsonb(x), to_jsonb(y)) FROM fitted, mixed AS x, mixed AS y WHERE x.id = 700 AND y.id = 701',
    'SELECT bloom_model_score(model, to_jsonb(x), ''{"surname": "Novak"}'') FROM fitted, mixed AS x WHERE x.id = 1',
    'SELECT bloom_model_score(model, to_jsonb(x), to_jsonb(x) || jsonb_build_object(''surname'', x.surname || ''0'')) FROM fitted, mixed AS x WHERE x.id = 1',
    'SELECT count(*) FROM fitted, bloom_model_keys(model, (SELECT to_jsonb(x) FROM mixed AS x WHERE id = 700))',
    'INSERT INTO person SELECT 50003, given_name, surname, birth, city FROM mixed WHERE id = 700',
    'SELECT bloom_model_fit(''plain'', ''id'', ''{given,surname:signature}'')',
    'SELECT bloom_model_fit_linkage(''applicant'', ''id'', ''register'', ''id'', one_to_one => ''both'')',
    'SELECT bloom_model_fit_linkage(''applicant'', ''id'', ''register'', ''id'', ''{surname,city}'', one_to_one => ''both'')',
    'SELECT bloom_model_fit_linkage(''applicant'', ''id'', ''register'', ''id'', ''{surname:signature}'', one_to_one => ''both'')',
    'SELECT bloom_model_fit(''wide'', ''id'')',
    'SELECT count(*) FROM fitted, bloom_model_duplicates(''person'', ''id'', jsonb_set(model, ''{fields,1,reading}'', ''"(1,512,0"''))',
    'SELECT count(*) FROM fitted, bloom_model_duplicates(''person'', ''id'', model #- ''{fields,1,reading}'')']) AS query, said(query);
-- Which columns are taken where nobody names them: not a single signature, nor those that are computed from columns of the row.
CREATE TABLE kept AS SELECT id, given AS v, surname, dob, city FROM plain;
SELECT bloom_clk_column('kept', 'given_sig', schema_of('{"n": 2}'), 'model_signatures'), bloom_clk_column('kept', 'given_sig_2', schema_of('{"n": 2}'), 'model_signatures_other');
ALTER TABLE kept ADD surname_sig bloom GENERATED ALWAYS AS (bloom_signature(surname)) STORED;
SELECT bloom_model_fit('kept', 'id', personal => '{v,dob}') -> 'left_out' AS left_out;
CREATE TABLE single AS SELECT kept.id, given_sig, dob, city, kept.surname FROM kept;
SELECT bloom_model_fit('single', 'id', personal => '{dob}') -> 'left_out' AS left_out;
SELECT jsonb_path_query_array(bloom_model_fit('single', 'id', '{given_sig,surname,dob,city}', '{given_sig,dob}'), '$.fields[*].kind') AS kinds;
-- Signatures that everybody can make are compared, too, and so are fields of both sorts.
CREATE TABLE unkeyed AS SELECT id, bloom_signature(given, max_chars => 20) AS given_name, bloom_signature(surname, max_chars => 20) AS surname, dob AS birth, city FROM plain;
CREATE TABLE unkeyed_pair AS SELECT pair.* FROM bloom_model_duplicates('unkeyed', 'id', (SELECT bloom_model_fit('unkeyed', 'id'))) AS pair;
SELECT found, true_pairs, correct FROM bloom_quality('unkeyed_pair', 'truth');
SELECT bloom_secret_drop(name) FROM unnest('{model_signatures,model_signatures_other}'::name[]) AS name;
DROP SCHEMA model_signatures CASCADE;
