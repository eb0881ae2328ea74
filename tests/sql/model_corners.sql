-- Match models at their corners: keys of all sorts, limits, and records that hardly differ.
CREATE SCHEMA model_corners;
SET search_path = model_corners, public;
CREATE TABLE febrl (rec_id text, cluster_id int, given_name text, surname text, street_number text, address_1 text, address_2 text, suburb text, postcode text, state text, date_of_birth text, soc_sec_id text);
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/data/febrl3.csv'
COPY febrl FROM :'file' (FORMAT csv, HEADER);
CREATE TABLE people AS SELECT * FROM febrl WHERE cluster_id < 140;

-- The key may be a field, too, and a column may be named as SQL names an expression.
SELECT model ->> 'status' AS status, (SELECT count(*) > 100 FROM bloom_model_duplicates('people', 'rec_id', model)) AS found
FROM bloom_model_fit('people', 'rec_id', '{rec_id:code,given_name,surname,suburb,postcode}') AS model;
CREATE VIEW odd AS SELECT rec_id AS "case", given_name, surname, suburb, ident_normalize(date_of_birth, true)::date AS born FROM people WHERE date_of_birth ~ '^\d{4}0[1-9]0[1-9]$';
SELECT model ->> 'status' AS status, (SELECT count(*) > 10 FROM bloom_model_duplicates('odd', 'case', model)) AS found FROM bloom_model_fit('odd', 'case') AS model;

-- Labels have keys as the type writes them, and not as a cast does.
CREATE TABLE typed AS SELECT row_number() OVER (ORDER BY rec_id) AS n, given_name, surname, suburb, postcode FROM people;
CREATE VIEW padded AS SELECT ('k' || n)::char(8) AS id, given_name, surname, suburb, postcode FROM typed;
CREATE VIEW address AS SELECT '10.0.0.0'::inet + n AS id, given_name, surname, suburb, postcode FROM typed;
CREATE VIEW padded_label AS SELECT x.id AS a, y.id AS b, false AS same FROM padded x, padded y WHERE x.id = 'k1' AND y.id = 'k2';
CREATE VIEW address_label AS SELECT '10.0.0.1'::inet AS a, '10.0.0.2'::inet AS b, false AS same;
SELECT bloom_model_fit('padded', 'id', labels => 'padded_label') = bloom_model_fit('address', 'id', labels => 'address_label') AS same;

-- A column in which hardly any record has a value does no harm: no pair of records has two.
CREATE VIEW nearly AS SELECT rec_id, given_name, surname, suburb, postcode, CASE WHEN rec_id = 'rec-1-org' THEN 'Izzy' END AS nick FROM people;
CREATE TABLE nearly_model AS SELECT bloom_model_fit('nearly', 'rec_id') AS model, bloom_model_fit('nearly', 'rec_id', '{given_name,surname,suburb,postcode}') AS without;
SELECT model ->> 'status' AS status, abs((model ->> 'matches_per_record')::float8 / (without ->> 'matches_per_record')::float8 - 1) < 0.05 AS as_without,
    (SELECT count(*) > 100 FROM bloom_model_duplicates('nearly', 'rec_id', model)) AS found FROM nearly_model;
CREATE VIEW three AS SELECT n AS id, CASE n WHEN 1 THEN 'a' END AS x, CASE n WHEN 2 THEN 'b' END AS y FROM generate_series(1, 3) AS n;
SELECT bloom_model_fit('three', 'id') ->> 'status' AS status;

-- Records that are equal are as many as they are, though eight of them count: the pairs of all are too many for a look at each.
CREATE VIEW alike AS SELECT n * 100 + copy AS id, given_name, surname, suburb, postcode FROM typed, generate_series(1, 30) AS copy WHERE n <= 300;
SELECT m.model ->> 'status' AS status, jsonb_path_exists(m.model, '$.searches[*].scan') AS scanned, (m.model ->> 'records')::int AS records, (m.model ->> 'pairs')::bigint < 25e6 AS few_that_count
FROM (SELECT bloom_model_fit('alike', 'id') AS model OFFSET 0) AS m;

-- Casts that a user has made run nothing when another one reads a table.
CREATE TYPE colour AS ENUM ('red', 'green', 'blue');
CREATE FUNCTION trap(colour) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'run as %', current_user; END $$;
CREATE FUNCTION trap_boolean(colour) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'run as %', current_user; END $$;
CREATE FUNCTION trap_number(colour) RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'run as %', current_user; END $$;
CREATE CAST (colour AS text) WITH FUNCTION trap(colour);
-- values without an order
CREATE TYPE spot AS (n int, at point);
CREATE FUNCTION trap(spot) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'run as %', current_user; END $$;
CREATE CAST (spot AS text) WITH FUNCTION trap(spot);
CREATE CAST (colour AS boolean) WITH FUNCTION trap_boolean(colour);
CREATE CAST (colour AS float8) WITH FUNCTION trap_number(colour);
CREATE TABLE painted AS SELECT n, given_name, surname, suburb, CASE n % 4 WHEN 0 THEN 'red'::colour WHEN 1 THEN 'green' WHEN 2 THEN 'blue' END AS colour,
    ARRAY['red'::colour] AS colours, ROW(n, point(1, 1))::spot AS spot FROM typed;
CREATE TABLE painted_model AS SELECT bloom_model_fit('painted', 'n', '{given_name,surname,suburb,colour,colours}') AS model;
SELECT field ->> 'name' AS field, round((field ->> 'filled')::numeric, 2) AS filled, field -> 'frequent' ? 'red' AS red FROM painted_model, jsonb_array_elements(model -> 'fields') AS field;
SELECT count(*) > 100 AS found, count(*) = (SELECT count(*) FROM bloom_model_duplicates('painted', 'spot', model)) AS same_by_spot
FROM painted_model, bloom_model_duplicates('painted', 'n', model) GROUP BY model;
CREATE TABLE painted_pair AS SELECT a, b, 'red'::colour AS similarity FROM painted_model, bloom_model_duplicates('painted', 'n', model);
\set VERBOSITY terse
SELECT bloom_report_pairs('painted_pair', 'painted', 'n');
ALTER TABLE painted_pair ALTER similarity TYPE float8 USING 0.9;
SELECT bloom_report_pairs('painted_pair', 'painted', 'n', model => model) LIKE '%</html>%' AS page FROM painted_model;
CREATE VIEW painted_label AS SELECT 1 AS a, 2 AS b, 'red'::colour AS same;
SELECT bloom_model_fit('painted', 'n', labels => 'painted_label');
\set VERBOSITY default

-- A run that brings more pairs than the model expects, and passes the limit, says of each search what it has found.
CREATE TABLE model AS SELECT bloom_model_fit('people', 'rec_id') AS model;
CREATE FUNCTION searched(searches jsonb, pair_limit int) RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM model, bloom_model_duplicates('people', 'rec_id', jsonb_set(model, '{searches}',
        (SELECT jsonb_agg(s || '{"recall": 1, "pairs_per_record": 0.125, "matches_per_record": 0}') FROM jsonb_array_elements(searches) AS s)),
        options => jsonb_build_object('pair_limit', pair_limit)) $$;
SELECT searched('[{"equal": ["given_name", "surname"], "most": 40}, {"equal": ["state"], "most": 1000}]', 1000);
SELECT searched('[{"equal": ["given_name", "surname"], "most": 40}, {"similar": ["suburb"], "least": 55, "most": 1000}]', 300);
SELECT search FROM model, bloom_model_candidates('people', 'rec_id', jsonb_set(model, '{searches}', '[{"scan": 100, "recall": 1, "pairs_per_record": 0, "matches_per_record": 0}]'));

-- A small table compared with a large one: the duplicates are few for the records of both, and many for those of the small one.
CREATE TABLE few AS SELECT * FROM febrl WHERE rec_id ~ '^rec-[0-9]*57-org$' AND cluster_id < 1000;
CREATE TABLE many AS SELECT * FROM febrl WHERE rec_id !~ '-org$';
SELECT (SELECT count(*) FROM few) AS few, (SELECT count(*) FROM many) AS many;
CREATE TABLE few_to_many AS SELECT bloom_model_fit_linkage('few', 'rec_id', 'many', 'rec_id') AS model;
SELECT model ->> 'status' AS status FROM few_to_many;
SELECT count(*) FILTER (WHERE split_part(a, '-', 2) = split_part(b, '-', 2)) AS correct, count(*) AS found,
    (SELECT count(*) FROM few, many WHERE split_part(few.rec_id, '-', 2) = split_part(many.rec_id, '-', 2)) AS duplicates
FROM few_to_many, bloom_model_linkage('few', 'rec_id', 'many', 'rec_id', model);

-- A number that each record has for itself is no field, unless somebody says so; a date of birth is one even if nobody shares his.
CREATE TABLE numbered AS SELECT rec_id, given_name, surname, suburb, postcode, md5(rec_id) AS token, 'K-' || row_number() OVER (ORDER BY rec_id) AS customer,
    date '1900-01-01' + row_number() OVER (ORDER BY rec_id)::int AS birth FROM febrl;
SELECT model -> 'left_out' AS left_out, (SELECT jsonb_agg(field -> 'name') FROM jsonb_array_elements(model -> 'fields') AS field) AS fields FROM bloom_model_fit('numbered', 'rec_id') AS model;
SELECT model -> 'left_out' ? 'customer' AS is_left_out FROM bloom_model_fit('numbered', 'rec_id', '{given_name,surname,suburb,customer}') AS model;

-- Who may read nothing of a table is told so.
CREATE ROLE regress_model_reader;
GRANT USAGE ON SCHEMA model_corners TO regress_model_reader;
GRANT SELECT (rec_id) ON few TO regress_model_reader;
SET ROLE regress_model_reader;
SELECT bloom_model_fit('few', 'rec_id');
RESET ROLE;
-- A model of two tables says nothing of the searches in one.
SELECT * FROM few_to_many, bloom_model_candidates('many', 'rec_id', model);

SET client_min_messages = warning;
DROP OWNED BY regress_model_reader;
DROP ROLE regress_model_reader;
DROP SCHEMA model_corners CASCADE;
