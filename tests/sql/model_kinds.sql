-- Match models: how fields are read before they are compared, what is guessed of it, and columns that are computed from others.
CREATE SCHEMA model_kinds;
SET search_path = model_kinds, public;
CREATE TABLE febrl (rec_id text, cluster_id int, given_name text, surname text, street_number text, address_1 text, address_2 text, suburb text, postcode text, state text, date_of_birth text, soc_sec_id text);
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/data/febrl3.csv'
COPY febrl FROM :'file' (FORMAT csv, HEADER);
-- Every record is written by another clerk.
CREATE TABLE written AS
    SELECT rec_id, given_name, surname, suburb, born, phone, mail FROM (SELECT *, '40' || 2000000 + cluster_id * 37 AS number, row_number() OVER (ORDER BY rec_id) AS n FROM febrl
        WHERE cluster_id < 400 AND date_of_birth ~ '^\d{8}$') AS f,
    LATERAL (SELECT overlay(overlay(substr(date_of_birth, 7) || '.' || substr(date_of_birth, 5, 2) || '.' PLACING '' FROM 7) PLACING '' FROM 8) || left(date_of_birth, 4) AS born,
        CASE n % 3 WHEN 0 THEN '+49 ' || number WHEN 1 THEN '0' || overlay(number PLACING '/' FROM 3 FOR 0) ELSE '0049 (0)' || number END AS phone,
        CASE n % 3 WHEN 0 THEN 'p.' || cluster_id || '@gmail.com' WHEN 1 THEN 'P' || cluster_id || '+x@googlemail.com' ELSE 'Clerk <p' || cluster_id || '@gmail.com>' END AS mail) AS w;
CREATE FUNCTION fields(model jsonb, OUT name text, OUT kind text, OUT reading text) RETURNS SETOF record LANGUAGE sql AS $$
    SELECT field ->> 'name', field ->> 'kind', field ->> 'reading' FROM jsonb_array_elements(model -> 'fields') AS field $$;
CREATE FUNCTION raised(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE message text; detail text; hint text; state text;
BEGIN
    EXECUTE query;
    RETURN NULL;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT, state = RETURNED_SQLSTATE;
    RETURN concat_ws(' | ', state, message, nullif(detail, ''), nullif(hint, ''));
END $$;
SELECT * FROM written ORDER BY rec_id LIMIT 3;

-- What is guessed.
CREATE TABLE models AS SELECT 'guessed' AS name, bloom_model_fit('written', 'rec_id') AS model;
SELECT f.*, model ->> 'status' AS status FROM models, fields(model) AS f;
-- Where all values are written alike, nothing is read.
CREATE VIEW alike AS SELECT rec_id, given_name, surname, suburb, '040 ' || right(ident_phone(phone, 'DE'), 7) AS phone, ident_email(mail) AS mail, ident_date(born, 'DD.MM.YYYY') AS born
    FROM written WHERE ident_date_or_null(born, 'DD.MM.YYYY') IS NOT NULL;
SELECT f.* FROM fields(bloom_model_fit('alike', 'rec_id')) AS f;
-- What is given counts, and a given kind is read as it is guessed.
SELECT f.* FROM fields(bloom_model_fit('written', 'rec_id', '{given_name,surname,phone:phone,mail:email,born:date}')) AS f;
SELECT f.* FROM fields(bloom_model_fit('written', 'rec_id', '{given_name,surname,phone:phone(at),mail:text(mailbox),"born:date(DD.MM.YYYY)"}')) AS f;
SELECT f.* FROM fields(bloom_model_fit('written', 'rec_id', '{given_name,surname,phone:text,mail:text,born:text}')) AS f;

-- Records are equal in what is read, and what cannot be read is compared as it is written.
SELECT e.field, e.a, e.b, e.level FROM models, bloom_model_explain(model,
    '{"phone": "+49 40 2000037", "mail": "p.1@gmail.com", "born": "27.05.1964"}',
    '{"phone": "040/20 000 37", "mail": "Clerk <P1+news@googlemail.com>", "born": "27.5.1964"}') AS e WHERE e.field IN ('phone', 'mail', 'born');
SELECT e.field, e.a, e.b, e.level FROM models, bloom_model_explain(model,
    '{"phone": "+49 40 2000037", "mail": "p.1@gmail.com", "born": "27.05.1964"}',
    '{"phone": "2000037 (Eva)", "mail": "p.1 at gmail.com", "born": "27.05.19644"}') AS e WHERE e.field IN ('phone', 'mail', 'born');
SELECT e.field, e.a, e.b, e.level FROM models, bloom_model_explain(model,
    '{"born": "03.12.1990"}', '{"born": "12.03.1990"}') AS e WHERE e.field = 'born';
-- Numbers that are equal as they are read make candidates.
SELECT count(*) > 100 AS pairs, count(*) FILTER (WHERE x.phone <> y.phone) > 100 AS written_otherwise
FROM models, bloom_model_duplicates('written', 'rec_id', model) JOIN written AS x ON x.rec_id = a JOIN written AS y ON y.rec_id = b;

-- A model is the same when it has been stored, and one without readings is read as it was fitted: telephones by their digits.
CREATE TABLE stored AS SELECT model::text AS model FROM models;
SELECT count(*) = (SELECT count(*) FROM models, bloom_model_duplicates('written', 'rec_id', model)) AS same FROM stored, bloom_model_duplicates('written', 'rec_id', model::jsonb);
SELECT e.field, e.level FROM (SELECT jsonb_set(model, '{fields}', (SELECT jsonb_agg(field - 'reading') FROM jsonb_array_elements(model -> 'fields') AS field)) AS model FROM models) AS before,
    bloom_model_explain(model, '{"phone": "+49 40 2000037", "mail": "p.1@gmail.com"}', '{"phone": "040/20 000 37", "mail": "p1@gmail.com"}') AS e WHERE e.field IN ('phone', 'mail');
SELECT raised(format('SELECT bloom_model_levels(%L)', jsonb_set(model, ARRAY['fields', (i - 1)::text, 'reading'], to_jsonb(reading))))
FROM models, jsonb_array_elements(model -> 'fields') WITH ORDINALITY AS f (field, i),
    (VALUES ('phone', 'XX'), ('phone', 'mailbox'), ('mail', 'DE'), ('born', 'DD'), ('surname', 'mailbox')) AS v (name, reading) WHERE field ->> 'name' = v.name ORDER BY v.name, reading;

-- Errors.
SELECT raised(format('SELECT bloom_model_fit(''written'', ''rec_id'', %L)', ARRAY['surname', field]))
FROM unnest('{phone:phone(XX),phone:phone(),phone:text(DE),born:date(DD),born:date(),mail:name(mailbox),mail:mailbox,phone:telephone(DE),phone(DE)}'::text[]) AS field;

-- Days on which something happened are compared by the days between, and found where they are near each other. Dates of birth are not: by name, by personal, or since they lie decades apart.
CREATE TABLE visit AS SELECT rec_id, given_name, surname, suburb, date '2020-01-01' + cluster_id * 7 % 900 + CASE WHEN rec_id LIKE '%org' THEN 0 ELSE cluster_id % 4 END AS arrived,
    to_char(date '2019-02-01' + cluster_id % 400, 'DD.MM.YYYY') AS booked, date '2019-02-01' + cluster_id % 400 AS birthday, date_of_birth AS at FROM febrl WHERE cluster_id < 400;
SELECT f.* FROM fields(bloom_model_fit('visit', 'rec_id')) AS f;
SELECT f.* FROM fields(bloom_model_fit('visit', 'rec_id', '{given_name,surname,suburb,arrived,"booked:day(DD.MM.YYYY)"}', personal => '{arrived}')) AS f WHERE kind <> 'name';
CREATE TABLE visited AS SELECT bloom_model_fit('visit', 'rec_id', '{given_name,surname,suburb,arrived}') AS model;
SELECT level, meaning, m > u AS speaks_for FROM visited, bloom_model_levels(model) WHERE field = 'arrived' AND level >= 4;
SELECT x.day AS a, y.day AS b, e.level FROM visited, (VALUES (date '2020-02-28', date '2020-03-02'), ('2019-12-31', '2020-01-01'), ('2020-01-01', '2021-01-01'), ('2020-01-01', 'infinity')) AS v (x, y),
    LATERAL (SELECT v.x AS day) AS x, LATERAL (SELECT v.y AS day) AS y, bloom_model_explain(model, jsonb_build_object('arrived', x.day), jsonb_build_object('arrived', y.day)) AS e WHERE e.field = 'arrived';
-- a point in time has its day, as in the search
SELECT level FROM visited, bloom_model_explain(model, '{"arrived": "2020-01-06T22:30:00"}', '{"arrived": "2020-01-07T01:30:00+02:00"}') WHERE field = 'arrived';
SELECT level FROM visited, bloom_model_explain(model, '{"arrived": "2020-01-06T"}', '{"arrived": "Ten o''clock, on Tuesday"}') WHERE field = 'arrived';
SELECT a, b FROM visited, bloom_model_duplicates('visit', 'rec_id', jsonb_set(model, '{searches}', '[{"similar": ["surname", "arrived"], "least": 70, "most": 40, "pairs_per_record": 0, "matches_per_record": 0}]'), 0.99) ORDER BY a COLLATE "C" LIMIT 3;

-- A generated column is no field besides the one that it is computed from.
CREATE TABLE computed (id int, given_name text, surname text, suburb text, extra jsonb, postcode text GENERATED ALWAYS AS (extra ->> 'postcode') STORED,
    "form ""of"" name" text GENERATED ALWAYS AS (ident_normalize(given_name || ' ' || surname, true)) STORED, sig bloom GENERATED ALWAYS AS (bloom_signature(surname)) STORED,
    dropped text);
ALTER TABLE computed DROP dropped;
INSERT INTO computed SELECT row_number() OVER (ORDER BY rec_id), given_name, surname, suburb, jsonb_build_object('postcode', postcode) FROM febrl WHERE cluster_id < 200;
SELECT f.* FROM fields(bloom_model_fit('computed', 'id')) AS f;
SELECT bloom_model_fit('computed', 'id') -> 'left_out' AS left_out;
SELECT f.* FROM fields(bloom_model_fit('computed', 'id', '{given_name,surname,"form \"of\" name"}')) AS f;
-- Nor is a date that says when a record was entered, unless it is asked for.
ALTER TABLE computed ADD "createdAt" timestamp, ADD angelegt_am date, ADD came timestamptz DEFAULT now(), ADD born date DEFAULT '1900-01-01', ADD updated text;
UPDATE computed SET "createdAt" = date '2001-01-01' + id % 90, angelegt_am = date '2001-01-01' + id % 80, born = date '1940-01-01' + id % 70 * 99, updated = suburb;
SELECT bloom_model_fit('computed', 'id') -> 'left_out' AS left_out;
SELECT count(*) AS asked_for FROM jsonb_array_elements(bloom_model_fit('computed', 'id', '{given_name,surname,came}') -> 'fields') AS f WHERE f ->> 'name' = 'came';
SET client_min_messages = warning;
DROP SCHEMA model_kinds CASCADE;
