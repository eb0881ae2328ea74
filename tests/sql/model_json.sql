-- What a stored match model says. This one is made by hand.
CREATE TABLE models (model jsonb);
INSERT INTO models VALUES ($$
{
 "bloom_ident_model": 1,
 "library": "0.1.0",
 "rules": 1,
 "status": "converged",
 "linkage": false,
 "records": 1000,
 "pairs": 499500,
 "matches_per_record": 0.2,
 "duplicates_per_1000": 200,
 "rounds": 99,
 "fields": [
  {"name": "given_name", "kind": "name", "segment": 23, "personal": true, "filled": 0.9, "bits": 9,
   "m": [0.3, 0.15, 0.1, 0.05, 0.1, 0.07, 0.05, 0.04, 0.02, 0.02, 0.01, 0.1],
   "u": [0.0001, 0.0004, 0.001, 0.002, 0.0015, 0.002, 0.003, 0.01, 0.08, 0.76, 1e-05, 0.14],
   "rare_level": 0, "frequent": {"anna": 0.011}},
  {"name": "surname", "kind": "name", "segment": 23, "personal": false, "filled": 0.9, "bits": 9,
   "m": [0.3, 0.15, 0.1, 0.05, 0.1, 0.07, 0.05, 0.04, 0.02, 0.02, 1, 0.1],
   "u": [0.0001, 0.0004, 0.001, 0.002, 0.0015, 0.002, 0.003, 0.01, 0.08, 0.76, 1, 0.14],
   "rare_level": 0, "frequent": {}},
  {"name": "dob", "kind": "date", "segment": 23, "personal": true, "filled": 0.9, "bits": 9,
   "m": [0.3, 0.15, 0.1, 0.05, 0.1, 0.07, 0.05, 0.04, 0.02, 0.02, 0, 0.1],
   "u": [0.0001, 0.0004, 0.001, 0.002, 0.0015, 0.002, 0.003, 0.01, 0.08, 0.76, 0, 0.14],
   "rare_level": 0, "frequent": {}},
  {"name": "city", "kind": "text", "segment": 29, "personal": false, "filled": 0.9, "bits": 9,
   "m": [0.3, 0.15, 0.1, 0.05, 0.1, 0.07, 0.05, 0.04, 0.02, 0.02, 0, 0.1],
   "u": [0.0001, 0.0004, 0.001, 0.002, 0.0015, 0.002, 0.003, 0.01, 0.08, 0.76, 0, 0.14],
   "rare_level": 2, "frequent": {"berlin": 0.1}},
  {"name": "pass", "kind": "code", "segment": 23, "personal": true, "filled": 0.9, "bits": 9,
   "m": [0.3, 0.15, 0.1, 0.05, 0.1, 0.07, 0.05, 0.04, 0.02, 0.02, 0, 0.1],
   "u": [0.0001, 0.0004, 0.001, 0.002, 0.0015, 0.002, 0.003, 0.01, 0.08, 0.76, 0, 0.14],
   "rare_level": 0, "frequent": {}}
 ],
 "swap": ["given_name", "surname"],
 "together": [
  {"fields": ["surname", "city"], "information": 0.01,
   "logs": [[0, 0, 0, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]}
 ],
 "classes": [
  {"differ": ["given_name", "dob", "pass"], "pairs_per_record": 0.5,
   "levels": {
    "surname": [0.3, 0.15, 0.1, 0.05, 0.1, 0.07, 0.05, 0.04, 0.02, 0.02, 1, 0.1],
    "city": [0.3, 0.15, 0.1, 0.05, 0.1, 0.07, 0.05, 0.04, 0.02, 0.02, 0, 0.1]}},
  {"differ": ["dob", "city", "pass"], "pairs_per_record": 1.5,
   "levels": {"given_name": [0.3, 0.15, 0.1, 0.05, 0.1, 0.07, 0.05, 0.04, 0.02, 0.02, 0.01, 0.1],
    "surname": [0.3, 0.15, 0.1, 0.05, 0.1, 0.07, 0.05, 0.04, 0.02, 0.02, 1, 0.1]}}
 ],
 "searches": [
  {"equal": ["surname", "dob"], "most": 40, "pairs_per_record": 0.4, "matches_per_record": 0.15, "recall": 0.8},
  {"scan": 30, "pairs_per_record": 3, "matches_per_record": 0.03, "recall": 0.97}
 ],
 "left_out": {"id": "it is the key"}
}
$$);
-- The texts of numbers are rounded here, as logarithms may differ in the last digit.
SET extra_float_digits = -3;
SELECT field, level, meaning, m, u, bits::numeric(6,2), round(pairs::numeric, 6) AS pairs, weak
FROM models, bloom_model_levels(model);
SELECT v.* FROM models, bloom_model_classes(model) AS v;
CREATE VIEW explained AS
SELECT v.* FROM models, bloom_model_explain(model,
    '{"given_name": "Anna", "surname": "Kowalski", "dob": "1990-01-02", "city": "Berlin", "pass": 4711, "other": [1, {}]}',
    '{"given_name": "ANNA", "surname": "Kowalsky", "dob": "1990-02-01", "city": "berlin", "pass": null}') AS v;
SELECT field, a, b, level, bits::numeric(6,2) FROM explained;
-- Of a million million pairs of records there are as many matches per record, so they are rarer among the pairs.
SELECT x.field, x.level, x.bits::numeric(6,2)
FROM models, bloom_model_explain(model, '{"surname": "Kowalski", "pass": 4711}', '{"pass": "4711", "surname": "Kowalski"}', 1e12) AS x
WHERE x.bits <> 0;
-- Names that have changed places speak once. A pass number is text, and so are true and 0.10.
SELECT field, a, b, level, bits::numeric(6,2)
FROM models, bloom_model_explain(model, '{"given_name": "Anna", "surname": "Kowalski", "city": true, "pass": 0.10}',
    '{"given_name": "Kowalski", "surname": "Anna", "city": "TRUE", "pass": "010"}');
-- Records of a table; nothing on either side.
CREATE TABLE persons (id integer, given_name text, surname text, dob date, city text, pass bigint);
INSERT INTO persons VALUES (1, 'Anna', 'Kowalski', '1990-01-02', 'Berlin', 12345678901234), (2, 'Anna', 'Kowalski', '1990-01-03', NULL, 12345678901235);
SELECT e.field, e.a, e.b, e.level
FROM models, persons x, persons y, bloom_model_explain(model, to_jsonb(x), to_jsonb(y)) AS e
WHERE (x.id, y.id) = (1, 2);
SELECT round(sum(bits)::numeric, 6) AS bits FROM models, bloom_model_explain(model, '{}', '{}');
-- Another model in the next row is another model.
INSERT INTO models SELECT jsonb_set(model, '{matches_per_record}', '0.4') FROM models;
SELECT level FROM models, bloom_model_explain(model, '{}', '{}') WHERE field = '(prior)' ORDER BY 1;
DELETE FROM models WHERE model->>'matches_per_record' = '0.4';

-- NULL.
SELECT * FROM bloom_model_levels(NULL);
SELECT * FROM bloom_model_classes(NULL);
SELECT * FROM bloom_model_explain(NULL, '{}', '{}');
SELECT v.* FROM models, bloom_model_explain(model, NULL, '{}') AS v;
SELECT v.* FROM models, bloom_model_explain(model, '{}', NULL) AS v;
-- What is no record.
SELECT v.* FROM models, bloom_model_explain(model, '[]', '{}') AS v;
SELECT v.* FROM models, bloom_model_explain(model, '{}', '"x"') AS v;
SELECT v.* FROM models, bloom_model_explain(model, '{}', '{"city": ["Berlin"]}') AS v;
SELECT v.* FROM models, bloom_model_explain(model, '{}', '{}', 0) AS v;
SELECT v.* FROM models, bloom_model_explain(model, '{}', '{}', 'NaN') AS v;
-- What is no model.
CREATE FUNCTION broken(path text[], value jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text; detail text; hint text; state text;
BEGIN
    PERFORM bloom_model_levels(jsonb_set(model, path, value)) FROM models;
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT, state = RETURNED_SQLSTATE;
    RETURN concat_ws(' | ', state, message, detail, hint);
END $$;
\pset format unaligned
\t on
SELECT broken('{bloom_ident_model}', '7');
SELECT broken('{rules}', '2');
SELECT broken('{status}', '"done"');
SELECT broken('{fields,1,m,0}', '"NaN"');
SELECT broken('{fields,1,m,0}', '-0.5');
SELECT broken('{fields,1,u}', '[]');
SELECT broken('{fields,1,segment}', '24');
SELECT broken('{fields,1,name}', '"given_name"');
SELECT broken('{swap,1}', '"city"');
SELECT broken('{classes,0,levels,city}', 'null');
SELECT broken('{searches,0,equal}', '[]');
SELECT broken('{together,0,fields,0}', '"town"');
SELECT broken('{fields,0,frequent}', (SELECT jsonb_object_agg(i::text, 0.001) FROM generate_series(1, 100001) AS i));
SELECT broken('{later}', '{"more": [1, 2]}');
SELECT broken('{}', '0');
\t off
\pset format aligned
SELECT bloom_model_levels('{}');
SELECT bloom_model_classes('[1, 2]');
SELECT bloom_model_explain('null', '{}', '{}');
-- A model is stored as it is.
SELECT count(*) FROM bloom_model_levels((SELECT model::text::jsonb FROM models)) AS a JOIN bloom_model_levels((SELECT model FROM models)) AS b USING (field, level, m, u, bits, pairs);
DROP FUNCTION broken;
DROP VIEW explained;
DROP TABLE models, persons;
