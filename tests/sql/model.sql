-- Match models: what is learned of people with typing errors, which pairs that gives, and what is refused.
CREATE SCHEMA model_test;
SET search_path = model_test, public;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE febrl (rec_id text, cluster_id int, given_name text, surname text, street_number text, address_1 text, address_2 text, suburb text, postcode text, state text, date_of_birth text, soc_sec_id text);
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/data/febrl3.csv'
COPY febrl FROM :'file' (FORMAT csv, HEADER);
CREATE TABLE people AS SELECT * FROM febrl WHERE cluster_id < 140;
CREATE VIEW truth AS SELECT rec_id AS key, cluster_id AS cluster FROM people;
-- What of a model does not change with the next improvement of the fit.
CREATE FUNCTION shown(model jsonb, OUT status text, OUT fields text, OUT per_1000 numeric, OUT left_out jsonb) LANGUAGE sql AS $$
    SELECT model ->> 'status', (SELECT string_agg((f ->> 'name') || ':' || (f ->> 'kind') || CASE WHEN (f ->> 'personal')::boolean THEN '!' ELSE '' END, ' ' ORDER BY n)
               FROM jsonb_array_elements(model -> 'fields') WITH ORDINALITY AS e (f, n)),
           round((model ->> 'matches_per_record')::numeric * 1000, -2), model -> 'left_out' $$;
-- Fits a model and says what it finds, though it be forced to.
CREATE FUNCTION tried(rel regclass, fields text[] DEFAULT NULL, personal name[] DEFAULT NULL, OUT status text, OUT per_1000 numeric, OUT pairs bigint, OUT left_out jsonb) LANGUAGE plpgsql AS $$
DECLARE model jsonb := bloom_model_fit(rel, 'rec_id', fields, personal);
BEGIN
    SELECT s.status, s.per_1000, s.left_out INTO tried.status, tried.per_1000, tried.left_out FROM shown(model) AS s;
    SELECT count(*) INTO pairs FROM bloom_model_duplicates(rel, 'rec_id', model, options => '{"force": true}');
END $$;

CREATE TABLE models (name text PRIMARY KEY, model jsonb);
INSERT INTO models VALUES ('guessed', bloom_model_fit('people', 'rec_id')),
    ('given', bloom_model_fit('people', 'rec_id', '{given_name,surname:name,date_of_birth,suburb:text,postcode:number,soc_sec_id:code}', '{given_name,date_of_birth}')),
    ('none personal', bloom_model_fit('people', 'rec_id', '{given_name,surname,date_of_birth,suburb,soc_sec_id}', '{}'));
SELECT name, s.* FROM models, shown(model) AS s ORDER BY name;
-- the same again, and as a text
SELECT model = bloom_model_fit('people', 'rec_id') AS same, model::text::jsonb = model AS stored FROM models WHERE name = 'guessed';
CREATE TABLE pairs AS SELECT p.* FROM models, bloom_model_duplicates('people', 'rec_id', model) AS p WHERE name = 'guessed';
CREATE VIEW similar_pairs AS SELECT a, b, probability AS similarity FROM pairs;
SELECT round(precision::numeric, 2) AS precision, round(recall::numeric, 2) AS recall FROM bloom_quality('similar_pairs', 'truth');
SELECT count(*) AS wrong FROM pairs WHERE a >= b OR probability NOT BETWEEN 0.5 AND 1 OR bits NOT BETWEEN 0 AND 1000;
SELECT count(*) - count(DISTINCT (a, b)) AS twice FROM pairs;
-- probability and bits say the same
SELECT max(abs(probability - 1 / (1 + 2 ^ -bits))) < 1e-9 AS consistent FROM pairs;
SELECT count(*) AS differ FROM (SELECT * FROM pairs WHERE probability >= 0.95 EXCEPT SELECT p.* FROM models, bloom_model_duplicates('people', 'rec_id', model, 0.95) AS p WHERE name = 'guessed') AS d;

-- Two tables.
CREATE TABLE first_ones AS SELECT * FROM people WHERE rec_id LIKE '%org';
CREATE TABLE others AS SELECT * FROM people WHERE rec_id NOT LIKE '%org';
INSERT INTO models VALUES ('linkage', bloom_model_fit_linkage('first_ones', 'rec_id', 'others', 'rec_id'));
SELECT name, s.status, s.fields FROM models, shown(model) AS s WHERE name = 'linkage';
SELECT one_to_one, round(avg((substring(p.a FROM '\d+') = substring(p.b FROM '\d+'))::int), 2) AS precision, count(*) = count(DISTINCT p.a) AS each_a_once, count(*) = count(DISTINCT p.b) AS each_b_once,
    bool_and(p.a LIKE '%org' AND p.b NOT LIKE '%org') AS sides
FROM models, unnest('{false,true}'::boolean[]) AS one_to_one, bloom_model_linkage('first_ones', 'rec_id', 'others', 'rec_id', model, 0.5, one_to_one) AS p WHERE name = 'linkage' GROUP BY one_to_one ORDER BY one_to_one;
-- a model of the other sort
\set guessed '(SELECT model FROM models WHERE name = ''guessed'')'
SELECT count(*) FROM bloom_model_duplicates('people', 'rec_id', (SELECT model FROM models WHERE name = 'linkage'));
SELECT count(*) FROM bloom_model_linkage('first_ones', 'rec_id', 'others', 'rec_id', :guessed);
SELECT count(*) > 0 AS forced FROM bloom_model_linkage('first_ones', 'rec_id', 'others', 'rec_id', :guessed, options => '{"force": true}');
-- columns of other names
CREATE VIEW renamed AS SELECT rec_id, given_name AS vorname FROM people;
SELECT bloom_model_fit_linkage('people', 'rec_id', 'renamed', 'rec_id');
SELECT bloom_model_fit_linkage('people', 'rec_id', 'renamed', 'rec_id', '{given_name}');
CREATE VIEW half_renamed AS SELECT rec_id, given_name AS vorname, surname, date_of_birth, suburb AS town, postcode, '{}'::jsonb AS state FROM others;
SELECT s.fields, s.left_out FROM bloom_model_fit_linkage('first_ones', 'rec_id', 'half_renamed', 'rec_id') AS model, shown(model) AS s;

-- Relations of all sorts.
CREATE TABLE parted (LIKE people) PARTITION BY HASH (rec_id);
CREATE TABLE part_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE part_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted TABLE people;
CREATE TABLE parent (LIKE people);
CREATE TABLE child () INHERITS (parent);
INSERT INTO parent SELECT * FROM people WHERE cluster_id % 2 = 0;
INSERT INTO child SELECT * FROM people WHERE cluster_id % 2 = 1;
CREATE VIEW seen AS TABLE people;
CREATE TEMPORARY TABLE people_now AS TABLE people;
SELECT rel, bloom_model_fit(rel, 'rec_id', '{surname,suburb,date_of_birth}') = bloom_model_fit('people', 'rec_id', '{surname,suburb,date_of_birth}') AS same FROM unnest('{parted,parent,seen,people_now}'::regclass[]) AS rel;
-- dropped columns, generated ones, other orders
ALTER TABLE people_now DROP COLUMN state, ADD COLUMN whole text GENERATED ALWAYS AS (given_name || ' ' || surname) STORED;
SELECT fields FROM shown(bloom_model_fit('people_now', 'rec_id', '{whole,suburb,date_of_birth}'));

-- Fields.
SELECT bloom_model_fit('people', 'no_key');
SELECT bloom_model_fit('people', 'rec_id', '{no_field}');
SELECT bloom_model_fit('people', 'rec_id', '{surname,given_name,surname:text}');
SELECT bloom_model_fit('people', 'rec_id', '{surname:no_kind}');
SELECT bloom_model_fit('people', 'rec_id', '{surname:}');
SELECT bloom_model_fit('people', 'rec_id', '{surname,NULL}');
SELECT bloom_model_fit('people', 'rec_id', '{}');
SELECT bloom_model_fit('people', 'rec_id', '{surname}', '{given_name}');
SELECT bloom_model_fit('people', 'rec_id', '{surname}', '{NULL}');
SELECT bloom_model_fit('people', 'rec_id', array_fill('surname'::text, ARRAY[1000]));
SELECT bloom_model_fit('people', 'rec_id', ARRAY['surname" FROM people; DROP TABLE people --']);
SELECT bloom_model_fit(NULL, 'rec_id');
SELECT bloom_model_fit('people', NULL);
SELECT bloom_model_fit('pg_class_oid_index', 'rec_id');
CREATE VIEW odd AS SELECT rec_id, given_name, surname, date_of_birth, suburb, postcode, soc_sec_id, 'x'::text AS constant, surname AS surname_2, CASE WHEN cluster_id % 2 = 0 THEN address_1 END AS half,
    md5(rec_id) AS always_new, cluster_id % 7 AS number, NULL::text AS nothing, ' - '::text AS empty, '{}'::text[] AS list, true AS yes FROM people;
SELECT status, pairs > 0 AS some, left_out FROM tried('odd');
SELECT fields, t.status, t.pairs FROM (VALUES ('{constant}'::text[]), ('{always_new}'), ('{half}'), ('{rec_id}'), ('{constant,always_new}')) AS v (fields), tried('odd', fields) AS t;
SELECT tried('odd', '{nothing}');
SELECT tried('odd', '{empty}');
SELECT tried('odd', '{list}');
SELECT fields, t.status FROM (VALUES ('{surname:date,given_name:number,soc_sec_id:email,postcode:phone,suburb:code}'::text[])) AS v (fields), tried('odd', fields) AS t;

SELECT bloom_model_fit('people', 'rec_id', personal => '{nobody}');
-- types whose text depends on the session's settings
CREATE VIEW unsettled AS SELECT rec_id, surname, interval '1 day' AS span, 1::money AS price, int4range(1, 2) AS range, '{1.5}'::float8[] AS list, '\x00'::bytea AS bytes, 'people'::regclass AS class, point '(1,2)' AS place, '{a}'::text[] AS words,
    p AS whole FROM people AS p;
SELECT bloom_model_fit('unsettled', 'rec_id', '{surname,span}');
SELECT bloom_model_fit('unsettled', 'rec_id', '{surname,price:number}');
SELECT bloom_model_fit('unsettled', 'rec_id', '{surname,range}');
SELECT bloom_model_fit('unsettled', 'rec_id', '{surname,list}');
SELECT bloom_model_fit('unsettled', 'rec_id', '{surname,bytes}');
SELECT bloom_model_fit('unsettled', 'rec_id', '{surname,class}');
SELECT bloom_model_fit('unsettled', 'rec_id', '{surname,place}');
SELECT bloom_model_fit('unsettled', 'rec_id', '{surname,whole}');
SELECT bloom_model_fit('unsettled', 'rec_id', '{words}') ->> 'status' AS status;

-- Settings of the session change nothing, neither the model nor the pairs.
CREATE DOMAIN height AS real;
CREATE TABLE measured AS SELECT rec_id, given_name, surname, suburb, ('0' || postcode)::float8 / 7 AS f8, ((('0' || postcode)::float8 / 3)::real)::height AS f4,
    timestamptz '1950-01-01 23:30+00' + interval '1 day' * (cluster_id * 37 + length(given_name) / 9) AS z, timestamp '1950-01-01 23:30' + interval '1 day' * (cluster_id * 37) AS t FROM people;
SET extra_float_digits = -15; SET TimeZone = 'Pacific/Auckland'; SET DateStyle = 'German'; SET IntervalStyle = 'iso_8601'; SET bytea_output = 'escape';
CREATE TABLE settings_one AS SELECT bloom_model_fit('measured', 'rec_id') AS model;
CREATE TABLE pairs_one AS SELECT p.* FROM settings_one, bloom_model_duplicates('measured', 'rec_id', model) AS p;
SET extra_float_digits = 3; SET TimeZone = 'America/Los_Angeles'; SET DateStyle = 'SQL, DMY'; SET IntervalStyle = 'sql_standard'; SET bytea_output = 'hex';
SELECT f ->> 'name' AS name, f ->> 'kind' AS kind FROM settings_one, jsonb_array_elements(model -> 'fields') AS f;
SELECT model = bloom_model_fit('measured', 'rec_id') AS same FROM settings_one;
SELECT (SELECT count(*) FROM pairs_one) > 300 AS some, count(*) AS others FROM (TABLE pairs_one EXCEPT SELECT p.* FROM settings_one, bloom_model_duplicates('measured', 'rec_id', model) AS p) AS d;
RESET extra_float_digits; RESET TimeZone; RESET DateStyle; RESET IntervalStyle; RESET bytea_output;

-- Records.
CREATE TABLE few (rec_id int, given_name text, surname text, born date, city text);
SELECT tried('few');
INSERT INTO few VALUES (1, 'Ann', 'Lee', '1990-01-01', 'Bonn');
SELECT tried('few');
SELECT count(*) FROM bloom_model_duplicates('few', 'rec_id', bloom_model_fit('few', 'rec_id'));
INSERT INTO few VALUES (2, 'Ann', 'Lee', '1990-01-01', 'Bonn');
SELECT status, pairs FROM tried('few');
UPDATE few SET given_name = 'Bob', surname = 'Miller', born = '1955-12-12', city = 'Ulm' WHERE rec_id = 2;
SELECT status, pairs FROM tried('few');
INSERT INTO few (rec_id, city) VALUES (2, 'x');
SELECT tried('few');
UPDATE few SET rec_id = NULL WHERE city = 'x';
SELECT tried('few');
TRUNCATE few;
INSERT INTO few (rec_id) SELECT generate_series(1, 100);
SELECT tried('few');
TRUNCATE few;
INSERT INTO few SELECT i, 'Ann', 'Lee', '1990-01-01', 'Bonn' FROM generate_series(1, 3000) AS i;
SELECT count(*) FROM bloom_model_duplicates('few', 'rec_id', bloom_model_fit('few', 'rec_id', '{given_name,city}'));
-- one record many times among others: nothing else changes
CREATE VIEW often AS SELECT rec_id, given_name, surname, date_of_birth, suburb, postcode FROM people UNION ALL SELECT 'x' || i, 'Ann', 'Lee', '19900101', 'Bonn', '12345' FROM generate_series(1, 300) AS i;
SELECT count(*) FILTER (WHERE a LIKE 'x%' AND b LIKE 'x%') AS equal, count(*) FILTER (WHERE (a LIKE 'x%') <> (b LIKE 'x%')) AS mixed, count(*) FILTER (WHERE b LIKE 'rec%') > 300 AS others
FROM bloom_model_duplicates('often', 'rec_id', bloom_model_fit('often', 'rec_id'));
-- dates and numbers at their ends
CREATE TABLE ends (rec_id int, d date, t timestamp, z timestamptz, f float8, n numeric);
INSERT INTO ends VALUES (1, 'infinity', 'infinity', 'infinity', 'NaN', 'NaN'), (2, '-infinity', '-infinity', '-infinity', '-infinity', 'infinity'), (3, '4713-01-01 BC', '4713-01-01 BC', '4713-01-01 BC', 1e308, 1e300),
    (4, '5874897-12-31', '294276-12-31', '294276-12-31', -0.0, -1e-300), (5, '2000-01-01', '2000-01-01', '2000-01-01', 5, 5);
SELECT status FROM tried('ends');
-- No duplicates.
CREATE TABLE different AS SELECT i AS rec_id, left(md5('g' || i % 300), 6) AS given_name, left(md5('s' || i * 7 % 311), 8) AS surname, date '1930-01-01' + i * 7919 % 25000 AS born, left(md5('c' || i % 20), 7) AS city FROM generate_series(1, 600) AS i;
INSERT INTO models VALUES ('different', bloom_model_fit('different', 'rec_id'));
SELECT count(*) FROM bloom_model_duplicates('different', 'rec_id', (SELECT model FROM models WHERE name = 'different'));
SELECT count(*) > 400 AS forced FROM bloom_model_duplicates('people', 'rec_id', (SELECT jsonb_set(model, '{status}', '"none_expected"') FROM models WHERE name = 'guessed'), options => '{"force": true}');
-- People of whom nothing personal is known. How many duplicates are expected is not said here.
\set VERBOSITY terse
CREATE VIEW households AS SELECT rec_id, surname, suburb, postcode, state FROM people;
INSERT INTO models VALUES ('households', bloom_model_fit('households', 'rec_id'));
SELECT count(*) FROM bloom_model_duplicates('households', 'rec_id', (SELECT model FROM models WHERE name = 'households'));
SELECT status FROM tried('households', personal => '{}');
\set VERBOSITY default

-- What is refused of a model, of a probability and of options.
CREATE FUNCTION refused(model jsonb, lowest float8 DEFAULT 0.5, options jsonb DEFAULT NULL) RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM bloom_model_duplicates('people', 'rec_id', model, lowest, options) $$;
SELECT refused(NULL);
SELECT refused('{}');
SELECT refused('[]');
SELECT refused('1');
SELECT refused('"NaN"');
SELECT refused('null');
SELECT refused(jsonb_set(:guessed, '{matches_per_record}', '"NaN"'));
SELECT refused(jsonb_set(:guessed, '{matches_per_record}', '1e300'));
SELECT refused(jsonb_set(:guessed, '{bloom_ident_model}', '99'));
SELECT refused(jsonb_set(:guessed, '{fields}', '[]'));
SELECT refused(jsonb_set(:guessed, '{fields,0,m}', (SELECT jsonb_agg(0) FROM generate_series(1, 100000))));
SELECT refused(jsonb_set(:guessed, '{fields,0,name}', '"no_field"'));
SELECT refused(jsonb_set(:guessed, '{swap}', 'null') #- '{searches}');
SELECT refused(jsonb_set(:guessed, '{searches}', '[{"equal": ["state"], "most": 4294967295, "recall": 1, "pairs_per_record": 0, "matches_per_record": 0}]'));
SELECT refused(jsonb_set(:guessed, '{searches}', '[{"equal": ["state"], "most": 1000, "recall": 1, "pairs_per_record": 0, "matches_per_record": 0}]'), options => '{"pair_limit": 1000}');
SELECT refused(jsonb_set(:guessed, '{status}', '"stopped"'));
SELECT refused(jsonb_set(:guessed, '{status}', '"degenerate"'));
SELECT refused(jsonb_set(:guessed, '{status}', '"fine"'));
-- nothing is looked for
SELECT refused(jsonb_set(:guessed, '{searches}', '[]'));
SELECT refused(:guessed, 1.5);
SELECT refused(:guessed, 'NaN');
SELECT refused(:guessed, NULL);
SELECT refused(:guessed, options => '{"no_option": 1}');
SELECT refused(:guessed, options => '[]');
SELECT refused(:guessed, options => '{"force": 1}');
SELECT refused(:guessed, options => '{"pair_limit": 0}');
SELECT refused(:guessed, options => '{"pair_limit": "many"}');
SELECT bloom_model_fit('people', 'rec_id', options => '{"pair_limit": 1e300}');
-- what does not fit into the limit is left out
SELECT refused(:guessed, options => '{"pair_limit": 2500}') > 400 AS most;
SELECT refused(:guessed, options => '{"pair_limit": 10}') <= 10 AS few;

-- Only what the caller may read; and nobody's functions with another's rights.
CREATE ROLE regress_model_user;
GRANT SELECT (rec_id, surname, suburb, date_of_birth, given_name) ON people TO regress_model_user;
GRANT SELECT ON models, others TO regress_model_user;
ALTER TABLE others ENABLE ROW LEVEL SECURITY;
CREATE POLICY half ON others USING (cluster_id % 2 = 0);
CREATE SCHEMA hostile;
CREATE FUNCTION hostile.fooled(date, date) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'fooled'; END $$;
CREATE OPERATOR hostile.< (LEFTARG = date, RIGHTARG = date, FUNCTION = hostile.fooled);
CREATE FUNCTION hostile.to_char(timestamp, text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'fooled'; END $$;
CREATE DOMAIN hostile.text AS integer;
CREATE DOMAIN hostile.date AS integer;
GRANT USAGE ON SCHEMA hostile, model_test TO regress_model_user;
SET ROLE regress_model_user;
SELECT s.fields, s.left_out FROM shown(bloom_model_fit('people', 'rec_id')) AS s;
SELECT bloom_model_fit('people', 'rec_id', '{surname,soc_sec_id}');
SELECT count(*) FROM bloom_model_duplicates('people', 'rec_id', (SELECT model FROM models WHERE name = 'guessed'));
SELECT bool_and(substring(b FROM '\d+')::int % 2 = 0) AS own_rows, count(*) > 50 AS some FROM bloom_model_duplicates('others', 'rec_id', (SELECT model FROM models WHERE name = 'guessed'));
RESET ROLE;
SET search_path = hostile, model_test, public, pg_catalog;
SELECT status FROM tried('ends');
SELECT count(*) = (SELECT count(*) FROM pairs) AS same FROM bloom_model_duplicates('people', 'rec_id', (SELECT model FROM models WHERE name = 'guessed'));
SET search_path = model_test, public;
SELECT has_function_privilege('public', oid, 'execute') AS everybody, provolatile, proparallel, prosecdef, proname FROM pg_proc WHERE proname LIKE 'bloom\_model\_%' ORDER BY proname;
\set VERBOSITY terse
SET client_min_messages = warning;
DROP OWNED BY regress_model_user;
DROP ROLE regress_model_user;
DROP SCHEMA model_test, hostile CASCADE;
