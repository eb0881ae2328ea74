-- Match models: searches for similar values, in a register in which much is missing, so that two records of a person are seldom equal in two fields.
CREATE SCHEMA model_similar;
SET search_path = model_similar, public;
-- One person in four is there twice. A value is missing in one record in four, and misspelt in two in five of the second records.
CREATE FUNCTION draw(salt text, i int, of int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT ('x' || left(md5(salt || i), 7))::bit(28)::int % of $$;
CREATE FUNCTION misspelt(value text, i int, salt text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE draw('misspelt ' || salt, i, 5) WHEN 0 THEN overlay(value PLACING 'x' FROM 4 FOR 1) WHEN 1 THEN overlay(value PLACING '' FROM 5 FOR 1) ELSE value END $$;
CREATE FUNCTION kept(value text, id text, salt text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT CASE WHEN draw('kept ' || salt || id, 0, 4) > 0 THEN value END $$;
CREATE TABLE people AS
    WITH person AS (
        SELECT i, left(md5('g' || draw('given', i, 500)), 8) AS given_name, left(md5('s' || draw('surname', i, 1700)), 10) AS surname,
            date '1930-01-01' + draw('born', i, 27000) AS born, left(md5('t' || draw('street', i, 2500)), 11) || ' ' || draw('number', i, 90) AS street, left(md5('c' || draw('city', i, 200)), 9) AS city
        FROM generate_series(1, 7200) AS i),
    record AS (
        SELECT 'a' || i AS id, given_name, surname, born, street, city FROM person
        UNION ALL
        SELECT 'b' || i, misspelt(given_name, i, 'g'), misspelt(surname, i, 's'), CASE WHEN i % 3 = 0 THEN born + 3 ELSE born END, misspelt(street, i, 't'), misspelt(city, i, 'c')
        FROM person WHERE i % 4 = 0)
    SELECT id, kept(given_name, id, 'g') AS given_name, kept(surname, id, 's') AS surname, kept(to_char(born, 'YYYY-MM-DD'), id, 'b') AS born, kept(street, id, 't') AS street, kept(city, id, 'c') AS city
    FROM record;
-- Some records of which nothing is equal: misspelt in every field, names that have changed places as well, and day and month.
INSERT INTO people VALUES ('x1', 'katharina', 'oberhauser', NULL, NULL, NULL), ('x2', 'kathrina', 'oberhausser', NULL, NULL, NULL),
    ('y1', 'friedrich', 'steinbacher', NULL, NULL, NULL), ('y2', 'steimbacher', 'fredrich', NULL, NULL, NULL),
    ('z1', 'wilhelmine', NULL, '1951-03-12', NULL, NULL), ('z2', 'wilhelmina', NULL, '1951-12-03', NULL, NULL);
CREATE TABLE fitted AS SELECT bloom_model_fit('people', 'id') AS model;
\set model '(SELECT model FROM fitted)'
-- A model with these searches only.
CREATE FUNCTION with_searches(model jsonb, searches jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_set(model, '{searches}', coalesce(searches, '[]')) $$;
CREATE FUNCTION without(model jsonb, way text) RETURNS jsonb LANGUAGE sql AS $$
    SELECT with_searches(model, jsonb_agg(search ORDER BY n)) FROM jsonb_array_elements(model -> 'searches') WITH ORDINALITY AS s (search, n) WHERE NOT search ? way $$;
SELECT model ->> 'status' AS status, count(*) FILTER (WHERE search ? 'equal') > 0 AS equal, count(*) FILTER (WHERE search ? 'similar') > 0 AS similar, count(*) FILTER (WHERE search ? 'scan') AS scan,
    bool_and((search ->> 'least')::int = 40 AND (search ->> 'most')::int = 40 AND jsonb_array_length(search -> 'similar') = 2) FILTER (WHERE search ? 'similar') AS for_so_many,
    -- those by equality come first
    max(n) FILTER (WHERE search ? 'equal') < min(n) FILTER (WHERE search ? 'similar') AS ordered
FROM fitted, jsonb_array_elements(model -> 'searches') WITH ORDINALITY AS s (search, n) GROUP BY 1;

-- What they find besides: pairs of which each is similar in two fields. The other pairs are the same ones, with the same probability.
CREATE TABLE pairs AS SELECT * FROM bloom_model_duplicates('people', 'id', :model);
CREATE TABLE equal_pairs AS SELECT * FROM bloom_model_duplicates('people', 'id', without(:model, 'similar'));
SELECT count(*) - count(DISTINCT (a, b)) AS twice, count(*) > 1.15 * (SELECT count(*) FROM equal_pairs) AS more, avg((substr(a, 2) = substr(b, 2))::int) > 0.97 AS right FROM pairs;
SELECT count(*) FROM (TABLE equal_pairs EXCEPT TABLE pairs) AS other;
SELECT a, b, probability > 0.9 AS sure FROM pairs WHERE a ~ '^[xyz]' ORDER BY a COLLATE "C";
SELECT count(*) FROM equal_pairs WHERE a ~ '^[xyz]';
-- levels of the fields in which a pair has to be similar: of the worst of them the number
CREATE FUNCTION worst(model jsonb, fields jsonb, a text, b text) RETURNS int LANGUAGE sql AS $$
    SELECT max(l.level) FROM people AS x, people AS y, bloom_model_explain(model, to_jsonb(x), to_jsonb(y)) AS e JOIN bloom_model_levels(model) AS l ON l.field = e.field AND l.meaning = e.level
    WHERE x.id = $3 AND y.id = $4 AND fields ? e.field $$;
SELECT count(*) > 200 AS some, avg(((SELECT min(worst(:model, search -> 'similar', a, b)) FROM fitted, jsonb_array_elements(model -> 'searches') AS search WHERE search ? 'similar') IN (0, 1, 2, 3, 4, 5, 6, 7, 10))::int) > 0.95 AS similar
FROM (TABLE pairs EXCEPT TABLE equal_pairs) AS new;
-- their bits are those of their levels
SELECT count(*) AS pairs, count(*) FILTER (WHERE abs(bits - (SELECT sum(e.bits) FROM people AS x, people AS y, bloom_model_explain(:model, to_jsonb(x), to_jsonb(y), 9006.0 * 9005 / 2) AS e WHERE x.id = new.a AND y.id = new.b)) < 1e-6) AS explained
FROM (SELECT * FROM (TABLE pairs EXCEPT TABLE equal_pairs) AS new ORDER BY a COLLATE "C", b COLLATE "C" LIMIT 100) AS new;

-- What the searches will find is what each finds by itself.
CREATE TABLE alone AS
    SELECT search, (SELECT count(*) FROM bloom_model_duplicates('people', 'id', with_searches(model, jsonb_build_array(search)), 0)) AS pairs
    FROM fitted, jsonb_array_elements(model -> 'searches') AS search;
SELECT count(*) FILTER (WHERE c.search LIKE 'similar%, 0.40 or more each, blocks of 40 records at most') = count(*) FILTER (WHERE alone.search ? 'similar') AS all, bool_and(c.pairs = alone.pairs AND c.pairs > 0) AS exact, bool_and(c.runs) AS run
FROM (SELECT c.*, row_number() OVER () AS n FROM fitted, bloom_model_candidates('people', 'id', model) AS c) AS c
    JOIN (SELECT alone.*, row_number() OVER () AS n FROM alone) AS alone USING (n);
-- The promise, and who keeps it: of all pairs of a small table that are similar in both names, four in five or more are found. Their numbers, and those of what is found by the way, are those of a scan.
CREATE TABLE few AS SELECT * FROM people WHERE draw('few' || id, 0, 4) = 0 OR id ~ '^[xyz]';
CREATE TABLE scanned AS SELECT p.*, worst(:model, '["given_name", "surname"]', a, b) AS worst FROM bloom_model_duplicates('few', 'id', with_searches(:model, '[{"scan": 0, "pairs_per_record": 0, "matches_per_record": 0, "recall": 1}]'), 0.01) AS p;
CREATE FUNCTION by_similarity(fields text, lowest int, most int = 40) RETURNS jsonb LANGUAGE sql AS $$
    SELECT format('[{"similar": %s, "least": %s, "most": %s, "pairs_per_record": 0, "matches_per_record": 0, "recall": 1}]', fields, lowest, most)::jsonb $$;
CREATE TABLE similar_pairs AS SELECT p.* FROM bloom_model_duplicates('few', 'id', with_searches(:model, by_similarity('["given_name", "surname"]', 40)), 0.01) AS p;
SELECT count(*) > 20 AS some, count(s.a) > 0.8 * count(*) AS found FROM scanned LEFT JOIN similar_pairs AS s USING (a, b, probability, bits) WHERE worst IN (0, 1, 2, 3, 4, 5, 6, 7, 10);
SELECT count(*) AS others FROM (SELECT a, b, probability, bits FROM similar_pairs EXCEPT SELECT a, b, probability, bits FROM scanned) AS others;
-- a search that the model does not ask for, since it would add too few: day and month have changed places
SELECT a, b FROM bloom_model_duplicates('people', 'id', with_searches(:model, by_similarity('["given_name", "born"]', 40))) WHERE a ~ '^[xyz]' ORDER BY a COLLATE "C";
-- What is found has a key in common, which depends on how similar they have to be; blocks that are too small leave all out
SELECT lowest, most, found FROM (VALUES (40, 40), (55, 40), (70, 40), (86, 40), (40, 2)) AS v (lowest, most), LATERAL (SELECT string_agg(a || b, ' ' ORDER BY a COLLATE "C") AS found
    FROM bloom_model_duplicates('people', 'id', with_searches(:model, by_similarity('["surname", "given_name"]', lowest, most)), 0.01) WHERE a ~ '^[xyz]') AS p;

-- Searches that would bring too many pairs are left out, and those behind them.
\set many '\'[{"equal": ["born"], "most": 5, "pairs_per_record": 0.2, "matches_per_record": 0.07, "recall": 0.6}, {"similar": ["given_name", "surname"], "least": 40, "most": 40, "pairs_per_record": 2, "matches_per_record": 0.01, "recall": 0.7}, {"similar": ["surname", "city"], "least": 40, "most": 40, "pairs_per_record": 0.1, "matches_per_record": 0.003, "recall": 0.8}]\''
SELECT count(*) > 300 AS some, count(*) FILTER (WHERE a ~ '^[xyz]') AS similar FROM bloom_model_duplicates('people', 'id', with_searches(:model, :many), options => '{"pair_limit": 15000}');
SELECT search, runs FROM bloom_model_candidates('people', 'id', with_searches(:model, :many), '{"pair_limit": 15000}');
SELECT count(*) FILTER (WHERE a ~ '^[xy]') AS similar FROM bloom_model_duplicates('people', 'id', with_searches(:model, :many), options => '{"pair_limit": 20000}');
-- pairs that are similar by chance of their sketches alone do not count, those that are compared do
SELECT count(*) > 0 AS some FROM bloom_model_duplicates('people', 'id', with_searches(:model, by_similarity('["given_name", "surname"]', 40)), options => '{"pair_limit": 1000}');
SELECT count(*) FROM bloom_model_duplicates('people', 'id', with_searches(:model, by_similarity('["given_name", "surname"]', 40)), options => '{"pair_limit": 100}');

-- Two tables.
CREATE TABLE first_ones AS SELECT * FROM people WHERE id ~ '^a|1$';
CREATE TABLE others AS SELECT * FROM people WHERE id ~ '^b|2$' AND id !~ '^a';
INSERT INTO others SELECT 'c' || id, upper(given_name), surname, born, street, city FROM people WHERE id ~ '^a' AND substr(id, 2)::int % 4 = 1;
CREATE TABLE linked AS SELECT bloom_model_fit_linkage('first_ones', 'id', 'others', 'id') AS model;
\set linkage '(SELECT model FROM linked)'
SELECT model ->> 'status' AS status, count(*) FILTER (WHERE search ? 'similar') > 0 AS similar FROM linked, jsonb_array_elements(model -> 'searches') AS search GROUP BY 1;
SELECT bool_and(a ~ '^a|1$' AND b ~ '^[bc]|2$') AS sides, count(*) FILTER (WHERE a ~ '^[xyz]') AS both_misspelt FROM bloom_model_linkage('first_ones', 'id', 'others', 'id', :linkage);
SELECT count(*) FILTER (WHERE a ~ '^[xyz]') AS both_misspelt FROM bloom_model_linkage('first_ones', 'id', 'others', 'id', without(:linkage, 'similar'));
SELECT a, b FROM bloom_model_linkage('first_ones', 'id', 'others', 'id', with_searches(:linkage, by_similarity('["given_name", "surname"]', 40)), one_to_one => true) WHERE a ~ '^[xyz]' ORDER BY a COLLATE "C";
SELECT bool_and(pairs > 0) AS some FROM bloom_model_candidates_linkage('first_ones', 'id', 'others', 'id', with_searches(:linkage, by_similarity('["given_name", "surname"]', 40)));
SELECT count(*) FROM bloom_model_linkage('first_ones', 'id', 'others', 'id', with_searches(:linkage, by_similarity('["surname"]', 40)), 0) WHERE a ~ '^x';

-- Fields of all kinds. Values of numbers that are near have nothing in common, so they are not searched for.
CREATE TABLE kinds AS SELECT i AS id, left(md5('n' || draw('n', i, 200)), 9) AS name, to_char(date '1930-01-01' + draw('d', i, 27000), 'YYYY-MM-DD') AS day, draw('q', i, 1000000) + 0.5 AS quantity,
    left(md5('m' || draw('m', i, 300)), 9) || '@' || (ARRAY['mail', 'post'])[1 + i % 2] || '.example' AS email, lpad(draw('p', i, 100000000)::text, 8, '0') AS phone, left(md5('c' || i), 8) AS code FROM generate_series(1, 400) AS i;
INSERT INTO kinds SELECT id + 1000, name, day, quantity, email, phone, code FROM kinds WHERE id % 4 = 0;
INSERT INTO kinds VALUES (2001, 'n', '1950-03-12', 777777.5, 'maximilian@mail.example', '0228 4711', 'abcdefgh'), (2002, 'm', '1950-12-03', 777778.5, 'maximillian@post.example', '0228-4712', 'abcdefgx'), (2003, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE kinds_model AS SELECT bloom_model_fit('kinds', 'id', '{name,day:date,quantity:number,email:email,phone:phone,code:code}', '{}') AS model;
\set kinds '(SELECT model FROM kinds_model)'
SELECT fields, p.found, p.pairs > 90 AS others, c.search FROM (VALUES ('["day"]'), ('["quantity"]'), ('["email"]'), ('["phone"]'), ('["code"]'), ('["email", "day"]'), ('["quantity", "day"]'), ('["code", "phone"]')) AS v (fields),
    LATERAL (SELECT string_agg(b, ' ') FILTER (WHERE a = '2001') AS found, count(*) FROM bloom_model_duplicates('kinds', 'id', with_searches(:kinds, by_similarity(fields, 40)), 0)) AS p (found, pairs),
    bloom_model_candidates('kinds', 'id', with_searches(:kinds, by_similarity(fields, 40))) AS c;

-- What is refused.
\set VERBOSITY terse
SELECT count(*) FROM bloom_model_duplicates('people', 'id', with_searches(:model, by_similarity('["given_name", "surname", "city"]', 40)));
SELECT count(*) FROM bloom_model_duplicates('people', 'id', with_searches(:model, by_similarity('[]', 40)));
SELECT count(*) FROM bloom_model_duplicates('people', 'id', with_searches(:model, by_similarity('["nothing"]', 40)));
SELECT count(*) FROM bloom_model_duplicates('people', 'id', with_searches(:model, by_similarity('["surname"]', 101)));
SELECT count(*) FROM bloom_model_duplicates('people', 'id', with_searches(:model, by_similarity('["surname"]', 40, 1)));
-- Names that have changed places: both of them, or one where the other is missing.
CREATE TABLE moved (id text, given_name text, surname text, born text, street text, city text);
INSERT INTO moved VALUES ('1', 'katharina', 'oberhauser', NULL, NULL, NULL), ('2', 'oberhauser', 'katharina', NULL, NULL, NULL), ('3', 'oberhauser', NULL, NULL, NULL, 'weiden'), ('4', NULL, 'oberhauser', '1951-03-12', NULL, 'weiden'),
    ('5', 'friedrich', 'friedrich', NULL, NULL, 'weiden'), ('6', NULL, 'friedrich', NULL, NULL, 'weiden'), ('7', 'unna', NULL, NULL, NULL, 'weiden');
CREATE FUNCTION found(search text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(a || b, ' ' ORDER BY a, b) FROM bloom_model_duplicates('moved', 'id', with_searches((SELECT model FROM fitted), format('[{%s, "pairs_per_record": 0, "matches_per_record": 0}]', search)::jsonb), 0) $$;
SELECT search, found(search) FROM unnest(ARRAY['"equal": ["given_name", "surname"], "most": 5', '"equal": ["given_name"], "most": 5', '"crosswise": [], "most": 5', '"crosswise": ["city"], "most": 5', '"crosswise": [], "most": 3']) AS search;
SELECT search, pairs FROM bloom_model_candidates('moved', 'id', with_searches(:model, '[{"crosswise": ["city"], "most": 40, "pairs_per_record": 0, "matches_per_record": 0}]'));
-- a pair that two blocks have counts once
SELECT pairs FROM bloom_model_candidates('moved', 'id', with_searches(:model, '[{"crosswise": [], "most": 40, "pairs_per_record": 0, "matches_per_record": 0}]'));
SELECT count(*) FROM bloom_model_duplicates('moved', 'id', with_searches(:model, '[{"crosswise": [], "most": 40, "pairs_per_record": 0, "matches_per_record": 0}]'), 0, '{"pair_limit": 7}');
SELECT count(*) FROM bloom_model_duplicates('moved', 'id', with_searches(:model, '[{"crosswise": [], "most": 40, "pairs_per_record": 0, "matches_per_record": 0}]'), 0, '{"pair_limit": 6}');
-- a scan sees names that have changed places
SELECT found('"scan": 90');
SELECT field, a, b, level FROM bloom_model_explain(:model, '{"given_name": "oberhauser", "city": "weiden"}', '{"given_name": "katharina", "surname": "oberhauser"}') WHERE field IN ('given_name', 'surname');
SELECT found('"crosswise": ["surname"], "most": 5');
SELECT bloom_model_duplicates('moved', 'id', jsonb_set(with_searches(:model, '[{"crosswise": [], "most": 5, "pairs_per_record": 0, "matches_per_record": 0}]'), '{swap}', 'null'));
SET client_min_messages = warning;
DROP SCHEMA model_similar CASCADE;
