-- Whether a table has moved away from a match model that was fitted to it.
CREATE SCHEMA model_check;
SET search_path = model_check, public;
CREATE TABLE febrl (rec_id text, cluster_id int, given_name text, surname text, street_number text, address_1 text, address_2 text, suburb text, postcode text, state text, date_of_birth text, soc_sec_id text);
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/data/febrl3.csv'
COPY febrl FROM :'file' (FORMAT csv, HEADER);
CREATE TABLE people AS
    SELECT rec_id, given_name, surname, address_1 AS street, suburb, postcode, date_of_birth AS born, hashtext(rec_id) & 1023 AS n FROM febrl;
CREATE TABLE models AS SELECT bloom_model_fit('people', 'rec_id', '{given_name,surname,street,suburb,postcode,born}') AS model;
-- Which random pairs are looked at depends on the order of the rows, which is not the same in all releases of PostgreSQL: what is found of them is rounded.
CREATE FUNCTION found(rel regclass, OUT field text, OUT what text, OUT fitted numeric, OUT now numeric, OUT bits numeric, OUT advice text) RETURNS SETOF record LANGUAGE sql AS $$
    SELECT field, what, round(c.fitted::numeric, 5), CASE WHEN c.now <= 1 THEN round(c.now::numeric * 20) / 20 ELSE c.now END::numeric(12, 2), round(c.bits::numeric), advice
    FROM models, bloom_model_check(model, rel) AS c $$;
CREATE FUNCTION advised(rel regclass, OUT field text, OUT what text, OUT fitted numeric, OUT now numeric, OUT bits numeric, OUT advice text) RETURNS SETOF record LANGUAGE sql AS $$
    SELECT * FROM found(rel) WHERE advice IS NOT NULL $$;

-- The table as it was: all that is looked at, and nothing to be done.
SELECT * FROM found('people') WHERE field IS NULL OR field IN ('given_name', 'born');
SELECT count(*) FROM advised('people');
-- Nor in a view of it, and in half of it no more than that there are fewer records. Where each has been entered ten times, matches are what makes pairs equal.
CREATE VIEW seen AS SELECT * FROM people;
SELECT count(*) FROM advised('seen');
CREATE VIEW half AS SELECT * FROM people WHERE n < 512;
SELECT * FROM advised('half');
CREATE VIEW again AS SELECT people.* FROM people, generate_series(1, 10);
SELECT * FROM advised('again') WHERE field IS NOT NULL;
-- The result is the same each time, whatever memory there is.
CREATE TABLE first_time AS SELECT c.* FROM models, bloom_model_check(model, 'people') AS c;
SET maintenance_work_mem = '1MB';
SELECT count(*) AS all, count(f) AS same FROM models, bloom_model_check(model, 'people') AS c LEFT JOIN first_time AS f ON f IS NOT DISTINCT FROM c;
RESET maintenance_work_mem;

-- More values are missing.
CREATE VIEW missing AS SELECT rec_id, given_name, surname, CASE WHEN n % 3 > 0 THEN street END AS street, suburb, CASE WHEN n % 10 > 0 THEN postcode END AS postcode, NULL::text AS born FROM people;
SELECT * FROM advised('missing');
-- A default value has become frequent.
CREATE VIEW with_default AS SELECT rec_id, given_name, surname, street, suburb, postcode, CASE WHEN n % 12 = 1 THEN '19000101' ELSE born END AS born FROM people;
SELECT * FROM advised('with_default');
-- One that was frequent is so no more.
CREATE VIEW renamed AS SELECT rec_id, given_name, surname, street, suburb, replace(replace(postcode, '4', '7'), '2', '9') AS postcode, born FROM people;
SELECT field, what, fitted, now, bits, left(advice, 40) AS advice FROM found('renamed') WHERE field = 'postcode' AND what LIKE 'value%';
-- The values of a field are written otherwise: half of them, all of them, or by nobody.
CREATE VIEW half_german AS SELECT rec_id, given_name, surname, street, suburb, postcode, CASE WHEN n % 2 = 1 THEN right(born, 2) || '.' || substr(born, 5, 2) || '.' || left(born, 4) ELSE born END AS born FROM people;
SELECT * FROM advised('half_german') WHERE what LIKE 'values%';
CREATE VIEW german AS SELECT rec_id, given_name, surname, street, suburb, postcode, right(born, 2) || '.' || substr(born, 5, 2) || '.' || left(born, 4) AS born FROM people;
SELECT * FROM advised('german') WHERE what LIKE 'values%';
CREATE VIEW unknown AS SELECT rec_id, given_name, surname, street, suburb, postcode, CASE WHEN n % 50 = 1 THEN 'unknown' ELSE born END AS born FROM people;
SELECT * FROM advised('unknown');
-- What the fit has said a word of is not said again, unless it has become more.
CREATE TABLE told AS SELECT bloom_model_fit('unknown', 'rec_id', '{given_name,surname,street,suburb,born}') AS model;
SELECT field, what, round(fitted::numeric, 4) AS fitted, round(now::numeric, 4) AS now, advice FROM told, bloom_model_check(model, 'unknown') WHERE what LIKE 'values%' OR advice IS NOT NULL;
CREATE VIEW more_unknown AS SELECT rec_id, given_name, surname, street, suburb, postcode, CASE WHEN n % 15 = 1 THEN 'unknown' ELSE born END AS born FROM people;
SELECT field, what, round(fitted::numeric, 4) AS fitted, round(now::numeric, 4) AS now, advice FROM told, bloom_model_check(model, 'more_unknown') WHERE what LIKE 'values%';
-- All values are short.
CREATE VIEW short AS SELECT rec_id, left(given_name, 1) AS given_name, surname, street, suburb, postcode, born FROM people;
SELECT * FROM advised('short');

-- There are ten times as many records, of other people.
CREATE TABLE grown AS SELECT rec_id || '-' || i AS rec_id, given_name, surname, street, suburb, postcode, to_char(to_date(left(born, 4) || '0101', 'YYYYMMDD') + (hashtext(rec_id || i) & 255), 'YYYYMMDD') AS born
    FROM people, generate_series(1, 10) AS i WHERE born ~ '^(19|20)';
SELECT * FROM advised('grown') WHERE field IS NULL;
-- Of more than 100,000 records a sample is looked at, also where nobody knows how many there are.
CREATE TABLE large AS SELECT rec_id || '-' || i AS rec_id, given_name, surname, street, suburb, postcode, born FROM people, generate_series(1, 50) AS i;
SELECT what, fitted, now BETWEEN 240000 AND 260000 AS as_many, bits, regexp_replace(advice, '\d{6}', 'N') AS advice FROM found('large') WHERE field IS NULL;
ANALYZE large;
SELECT what, fitted, now BETWEEN 240000 AND 260000 AS as_many FROM found('large') WHERE field IS NULL;
SELECT field, fitted, abs(fitted - now) < 0.005 AS as_filled, advice FROM found('large') WHERE what = 'filled';
CREATE VIEW large_view AS SELECT * FROM large;
SELECT what, fitted, now FROM found('large_view') WHERE field IS NULL;
SELECT field, fitted, abs(fitted - now) < 0.005 AS as_filled, advice FROM found('large_view') WHERE what = 'filled';
CREATE TABLE parts (LIKE large) PARTITION BY HASH (rec_id);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parts SELECT * FROM large;
ANALYZE parts;
SELECT what, fitted, now BETWEEN 240000 AND 260000 AS as_many FROM found('parts') WHERE field IS NULL;
DROP TABLE parts;
-- No records, one, and two.
CREATE TABLE few (LIKE people);
SELECT * FROM found('few');
INSERT INTO few SELECT * FROM people ORDER BY rec_id LIMIT 1;
SELECT field, what, fitted, now, bits, advice FROM found('few') WHERE what = 'filled' OR advice IS NOT NULL;
INSERT INTO few SELECT * FROM people ORDER BY rec_id DESC LIMIT 1;
SELECT field, what, fitted, now, bits, advice FROM found('few') WHERE advice IS NOT NULL;

-- Errors: a lost column, one of another type, no relation, no model, a model of two tables or of things, NULL.
CREATE VIEW lost AS SELECT rec_id, given_name, surname, street, suburb, postcode FROM people;
SELECT * FROM found('lost');
CREATE VIEW otherwise AS SELECT rec_id, given_name, surname, street, suburb, postcode, born::interval AS born FROM people;
SELECT * FROM found('otherwise');
SELECT bloom_model_check(model, 0) FROM models;
SELECT bloom_model_check('{"bloom_ident_model": 1}', 'people');
SELECT bloom_model_check('1', 'people');
CREATE VIEW left_half AS SELECT * FROM people WHERE n < 300;
CREATE VIEW right_half AS SELECT * FROM people WHERE n > 700;
CREATE TABLE linkage AS SELECT bloom_model_fit_linkage('left_half', 'rec_id', 'right_half', 'rec_id', '{given_name,surname,street,born}', options => '{"force": true}') AS model;
SELECT bloom_model_check(model, 'people') FROM linkage;
CREATE TABLE things AS SELECT bloom_model_fit_linkage('left_half', 'rec_id', 'right_half', 'rec_id', '{surname,street,suburb}', one_to_one => 'both') AS model;
SELECT bloom_model_check(model, 'people') FROM things;
SELECT bloom_model_check(NULL, 'people');
SELECT bloom_model_check(model, NULL) FROM models;

-- It reads as the caller: without rights, without those of a column, and by policies.
CREATE ROLE model_check_user;
GRANT USAGE ON SCHEMA model_check TO model_check_user;
GRANT SELECT ON models TO model_check_user;
SET ROLE model_check_user;
SELECT * FROM advised('people');
RESET ROLE;
GRANT SELECT (rec_id, given_name, surname, street, suburb, postcode) ON people TO model_check_user;
SET ROLE model_check_user;
SELECT * FROM advised('people');
RESET ROLE;
GRANT SELECT ON people TO model_check_user;
ALTER TABLE people ENABLE ROW LEVEL SECURITY;
CREATE POLICY lower_half ON people USING (n < 512);
SET ROLE model_check_user;
SELECT field, what, fitted, now FROM found('people') WHERE field IS NULL;
RESET ROLE;

SET client_min_messages = warning;
DROP SCHEMA model_check CASCADE;
DROP ROLE model_check_user;
