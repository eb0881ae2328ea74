-- A model whose bits are too many, and what answers make of it. Of a pair that the model gives x bits, about as many are right as x / 2 - 1 bits say.
CREATE SCHEMA model_calibrate;
SET search_path = model_calibrate, public;
CREATE TABLE person (id text, given_name text, surname text, dob text);
INSERT INTO person SELECT 'p' || i, 'name' || i % 50, 'family' || i % 70, (1950 + i % 40)::text || '-0' || 1 + i % 9 || '-1' || i % 7 FROM generate_series(1, 300) AS i;
INSERT INTO person SELECT 'd' || i, given_name, surname || 'x', dob FROM person, generate_series(1, 40) AS i WHERE id = 'p' || i;
CREATE TABLE model AS SELECT bloom_model_fit('person', 'id', '{given_name,surname,dob}', '{given_name,dob}') AS model;
SELECT model->'calibration' AS calibration FROM model;
CREATE TABLE pair AS SELECT 'a' || i AS a, 'b' || i AS b, i / 25.0 - 4 AS bits, 1 / (1 + 2 ^ (4 - i / 25.0)) AS probability FROM generate_series(1, 400) AS i;
SELECT bloom_decisions_create('decided');
INSERT INTO decided (a, b, decision) SELECT b, a, CASE WHEN (i * 0.618034) % 1 < 1 / (1 + 2 ^ (1 - bits / 2)) THEN 'same' ELSE 'different' END
    FROM pair, LATERAL (SELECT substr(a, 2)::int AS i) AS n;
CREATE TABLE calibrated AS SELECT bloom_model_calibrate(model, 'decided', 'pair') AS model FROM model;
SELECT round((model->'calibration'->>'slope')::numeric, 1) AS slope, round((model->'calibration'->>'shift')::numeric, 1) AS shift, model->'calibration'->>'answers' AS answers FROM calibrated;
-- Nothing else has changed, and every pair has its new bits: in the job, and in its reasons.
SELECT c.model - 'calibration' = m.model - 'calibration' AS same FROM calibrated AS c, model AS m;
CREATE TABLE found AS SELECT p.* FROM model, bloom_model_duplicates('person', 'id', model, 0.05) AS p;
CREATE TABLE corrected AS SELECT p.* FROM calibrated, bloom_model_duplicates('person', 'id', model, 0.000001) AS p;
SELECT count(*) > 30 AS some, max(abs(c.bits - (f.bits * (model->'calibration'->>'slope')::float8 + (model->'calibration'->>'shift')::float8))) < 1e-9 AS as_said,
    max(abs(c.probability - 1 / (1 + 2 ^ -c.bits))) < 1e-9 AS probable
    FROM calibrated, found AS f JOIN corrected AS c USING (a, b);
SELECT field, level, round(e.bits::numeric, 3) = round(((model->'calibration'->>'slope')::float8 * raw + (model->'calibration'->>'shift')::float8 - raw)::numeric, 3) AS as_said
    FROM calibrated, LATERAL (SELECT *, sum(bits) FILTER (WHERE field <> '(calibration)') OVER () AS raw
        FROM bloom_model_explain(model, (SELECT to_jsonb(p) FROM person AS p WHERE id = 'p1'), (SELECT to_jsonb(p) FROM person AS p WHERE id = 'd1'))) AS e
    WHERE field = '(calibration)';
-- Calibrated once more, with the pairs that it finds now, it is what it is; decisions that have their probabilities need no pairs.
CREATE VIEW pair_now AS SELECT a, b, 1 / (1 + 2 ^ -(bits * (model->'calibration'->>'slope')::float8 + (model->'calibration'->>'shift')::float8)) AS probability FROM pair, calibrated;
CREATE VIEW decided_pair AS SELECT d.*, probability FROM decided AS d JOIN pair_now AS p ON (p.b, p.a) = (d.a, d.b);
SELECT abs((again->'calibration'->>'slope')::float8 - (model->'calibration'->>'slope')::float8) < 1e-6 AS slope, abs((again->'calibration'->>'shift')::float8 - (model->'calibration'->>'shift')::float8) < 1e-6 AS shift
    FROM calibrated, LATERAL (VALUES (bloom_model_calibrate(model, 'decided', 'pair_now')), (bloom_model_calibrate(model, 'decided_pair'))) AS v(again);
-- Unsure answers, and those about other pairs, say nothing. Too few are refused, with what is missing.
CREATE TABLE few AS SELECT * FROM decided WHERE substr(a, 2)::int % 25 = 7;
SELECT bloom_model_calibrate(model, 'few', 'pair') FROM model;
INSERT INTO few (a, b, decision, at) SELECT a, b, 'unsure', now() FROM pair;
SELECT bloom_model_calibrate(model, 'few', 'pair') FROM model;
CREATE VIEW others AS SELECT 'x' || a AS a, b, decision, at FROM decided;
SELECT bloom_model_calibrate(model, 'others', 'pair') FROM model;
CREATE VIEW one_kind AS SELECT * FROM decided WHERE decision = 'same';
SELECT bloom_model_calibrate(model, 'one_kind', 'pair') FROM model;
-- Pairs of probability 1 and 0 have bits, too.
CREATE VIEW certain AS SELECT a, b, round(probability::numeric) AS probability FROM pair;
SELECT bloom_model_calibrate(model, 'decided', 'certain')->'calibration'->>'answers' AS answers FROM model;
-- A pair that is there twice counts once, in whatever order its keys and the rows come; a probability counts before a similarity.
CREATE VIEW twice AS SELECT b AS a, a AS b, probability, 1 - probability AS similarity FROM (SELECT * FROM pair UNION ALL SELECT * FROM pair) AS p ORDER BY md5(a || b) DESC;
SELECT bloom_model_calibrate(model, 'decided', 'twice') = bloom_model_calibrate(model, 'decided', 'pair') AS same FROM model;
-- Answers that nobody would expect have a correction, too.
CREATE VIEW contrary AS SELECT a, b, CASE WHEN decision = 'same' THEN 0 ELSE 1 END AS probability, decision, at FROM decided;
SELECT (calibrated->'calibration'->>'slope')::float8 < 0.2 AS flat, count(*) AS levels FROM (SELECT bloom_model_calibrate(model, 'contrary') AS calibrated FROM model OFFSET 0) AS m, bloom_model_levels(calibrated) GROUP BY 1;
-- What cannot be.
CREATE VIEW with_itself AS SELECT a, a AS b, probability FROM pair;
SELECT bloom_model_calibrate(model, 'decided', 'with_itself') FROM model;
SELECT bloom_model_calibrate(NULL, 'decided', 'pair');
SELECT bloom_model_calibrate(model, NULL, 'pair') FROM model;
SELECT bloom_model_calibrate(model, 'decided') FROM model;
SELECT bloom_model_calibrate(model, 'pair', 'pair') FROM model;
SELECT bloom_model_calibrate('{}', 'decided', 'pair');
SELECT bloom_model_calibrate(jsonb_set(model, '{calibration,slope}', '0'), 'decided', 'pair') FROM calibrated;
-- As the caller.
CREATE ROLE calibrate_nobody;
GRANT USAGE ON SCHEMA model_calibrate TO calibrate_nobody;
GRANT SELECT ON model, pair TO calibrate_nobody;
SET ROLE calibrate_nobody;
SELECT bloom_model_calibrate(model, 'decided', 'pair') FROM model;
RESET ROLE;
DROP OWNED BY calibrate_nobody;
DROP ROLE calibrate_nobody;
SET client_min_messages = warning;
DROP SCHEMA model_calibrate CASCADE;
