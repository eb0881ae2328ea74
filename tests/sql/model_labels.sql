-- Labels of a match model, and what its searches will find.
CREATE SCHEMA model_labels;
SET search_path = model_labels, public;
CREATE TABLE febrl (rec_id text, cluster_id int, given_name text, surname text, street_number text, address_1 text, address_2 text, suburb text, postcode text, state text, date_of_birth text, soc_sec_id text);
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/data/febrl3.csv'
COPY febrl FROM :'file' (FORMAT csv, HEADER);
CREATE TABLE people AS SELECT * FROM febrl WHERE cluster_id < 140;
CREATE TABLE label (a text, b text, same boolean);
CREATE FUNCTION fitted() RETURNS jsonb LANGUAGE sql AS $$ SELECT bloom_model_fit('people', 'rec_id', '{given_name,surname,suburb,postcode,date_of_birth}', labels => 'label') $$;
CREATE TABLE models AS SELECT 'none' AS name, fitted() AS model;
-- No label: the model without labels.
SELECT model = bloom_model_fit('people', 'rec_id', '{given_name,surname,suburb,postcode,date_of_birth}') AS same FROM models;
-- Labels of some pairs change the model; rows with a NULL say nothing, and unknown records are told.
INSERT INTO label SELECT x.rec_id, y.rec_id, x.cluster_id = y.cluster_id FROM people x, people y WHERE x.rec_id < y.rec_id AND x.surname = y.surname AND x.given_name <> y.given_name;
INSERT INTO models SELECT 'some', fitted();
INSERT INTO label VALUES ('nobody', 'rec-1-org', true), (NULL, 'x', true);
SELECT fitted() = (SELECT model FROM models WHERE name = 'some') AS same_as_without_unknown;
SELECT count(*) AS different FROM models x, models y WHERE x.name < y.name AND x.model <> y.model;
-- Labels that contradict each other, and no labels at all.
INSERT INTO label SELECT b, a, NOT same FROM label WHERE same AND a LIKE 'rec%' ORDER BY a COLLATE "C", b COLLATE "C" LIMIT 1;
\set VERBOSITY terse
SELECT fitted() IS NULL;
SELECT bloom_model_fit('people', 'rec_id', labels => 'people') IS NULL;
-- What the searches find is counted as SQL counts it, names in either order: a small table is looked at as a whole, and the searches by equality are not done.
CREATE FUNCTION counted(x text, y text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE found bigint;
BEGIN
    EXECUTE format('SELECT coalesce(sum(n * (n - 1) / 2), 0) FROM (SELECT count(*) AS n FROM people WHERE ident_normalize(%1$I, true) <> %3$L AND ident_normalize(%2$I, true) <> %3$L
        GROUP BY CASE WHEN %4$L THEN least(ident_normalize(%1$I, true), ident_normalize(%2$I, true)) ELSE ident_normalize(%1$I, true) END,
            CASE WHEN %4$L THEN greatest(ident_normalize(%1$I, true), ident_normalize(%2$I, true)) ELSE ident_normalize(%2$I, true) END) AS blocks WHERE n <= 40',
        x, y, '', ARRAY[x, y] <@ '{given_name,surname}') INTO found;
    RETURN found;
END $$;
SELECT count(*) > 1 AS some, bool_or(runs) AS runs, count(recall) = 0 AS not_predicted, bool_and(pairs > 0 AND pairs = counted(m[1], m[2])) AS exact
FROM models, bloom_model_candidates('people', 'rec_id', model), regexp_match(search, '^equal (\w+) and (\w+),') AS m WHERE name = 'none' AND m IS NOT NULL;
SELECT search, pairs = (SELECT count(*) * (count(*) - 1) / 2 FROM people) AS all_pairs, runs FROM models, bloom_model_candidates('people', 'rec_id', model) WHERE name = 'none' AND search LIKE 'all%';
-- Below the limit of pairs, the searches by equality take the place of the scan.
SELECT count(*) FILTER (WHERE runs AND search LIKE 'all%') AS scans, count(*) FILTER (WHERE runs) > 0 AS others FROM models, bloom_model_candidates('people', 'rec_id', model, '{"pair_limit": 1500}') WHERE name = 'none';
SET client_min_messages = warning;
DROP SCHEMA model_labels CASCADE;
