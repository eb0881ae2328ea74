-- Rule sets of normal forms: the first one unless another one is asked for; what is made by one this version does not have is read, compared and written, and no more.
CREATE SCHEMA rule_sets;
SET search_path = rule_sets, public;
SET client_min_messages = warning;
SELECT text, ident_normalize(text), ident_normalize(text, rules => 1) AS one, ident_normalize(text, true, rules => 2) AS two
FROM (VALUES ('Zoë Müller'), ('Noël'), ('Anaïs ÿ'), ('Träger'), ('Straße')) AS v (text);
SELECT bloom_signature('Zoë'), bloom_signature('Zoë', rules => 1) = bloom_signature('Zoë') AS first, bloom_signature('Zoë', rules => 2);
SELECT bloom_signature('Zoë', rules => 2) = bloom_signature('zoe', rules => 2) AS equal, bloom_signature('Zoë', rules => 2) = bloom_signature('zoe') AS other_shape;
SELECT bloom_signature('x', rules => 0);
SELECT bloom_signature('x', rules => 3);
SELECT bloom_signature('x', rules => NULL) IS NULL;
-- Nothing mixes them.
SELECT bloom_sim(bloom_signature('zoe', rules => 2), bloom_signature('zoe'));
SELECT bloom_signature('zoe', rules => 2) | bloom_signature('zoe');
SELECT bloom_signature('zoe', rules => 2)::bloom(7,43,3);
SELECT bloom_signature('zoe')::bloom(7,43,3,2);
-- Functions that are given a signature and a text take the signature's rules.
SELECT bloom_contains(bloom_signature('Zoë', rules => r), text) AS holds, r, text FROM generate_series(1, 2) AS r, (VALUES ('zoe'), ('zoee')) AS v (text) ORDER BY 2, 3;
SELECT bloom_add(bloom_signature('Anna', rules => 2), 'Zoë') = bloom_signature('Anna', rules => 2) | bloom_signature('zoe', rules => 2) AS added;
SELECT counting_remove(counting_signature('Zoë', rules => 2), 'zoe')::text = counting_signature('', rules => 2)::text AS removed, counting_contains(counting_signature('Zoë', rules => 2), 'zoee') AS holds, counting_signature('Zoë', rules => 2)::bloom = bloom_signature('Zoë', rules => 2) AS same;
SELECT bloom_signature_of_fields(3, 30, 0.01, false, 2, 'Zoë', NULL, 'Müller') = bloom_signature_of_fields(3, 30, 0.01, false, 2, 'zoe', 'mueller') AS fields;
SELECT bloom_signature_of_fields(3, 30, 0.01, false, 1, 'Zoë') = bloom_signature_of_fields('Zoë') AS as_before;
SET client_min_messages = error;
SELECT bloom_secret_import('rule_sets', 'a secret that everybody knows') IS NOT NULL AS imported \g /dev/null
SET client_min_messages = warning;
SELECT bloom_clk('{"name": "Zoë"}', s, 'rule_sets') = bloom_clk('{"name": "zoe"}', s, 'rule_sets') AS keyed, bloom_clk_id(s, 'rule_sets') = bloom_clk_id(s - 'rules', 'rule_sets') AS same_id, bloom_id(bloom_clk('{"name": "Zoë"}', s, 'rule_sets')) = bloom_clk_id(s, 'rule_sets') AS has_it,
    bloom_clk('{"name": "Zoë"}', s, 'rule_sets')::bloom(keyed,7,43,3,2) IS NOT NULL AS declared
FROM (SELECT '{"bloom_ident": 1, "rules": 2, "features": ["name"]}'::jsonb AS s) AS of_schema;
SELECT bloom_clk('{"name": "Zoë"}', '{"bloom_ident": 1, "rules": 3, "features": ["name"]}', 'rule_sets');
SELECT bloom_clk('{"name": "Zoë"}', '{"bloom_ident": 1, "rules": 2, "ngram": 0, "features": ["name"]}', 'rule_sets');
-- Columns.
CREATE TABLE person (id int PRIMARY KEY, name text, sig bloom(7,43,3,2) GENERATED ALWAYS AS (bloom_signature(name, rules => 2)) STORED, first bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED, filter counting_bloom(7,43,3,2) DEFAULT counting_signature('', rules => 2));
SELECT attname, format_type(atttypid, atttypmod), atttypmod FROM pg_attribute WHERE attrelid = 'person'::regclass AND attnum > 2 ORDER BY attnum;
SELECT '1'::bloom(7,43,3,0);
SELECT '1'::bloom(7,43,3,17);
SELECT '1'::bloom(7,43);
INSERT INTO person (id, name) SELECT i, (ARRAY['Zoë', 'Noël', 'Chloé', 'Jürgen'])[i % 4 + 1] || ' ' || left(md5((i / 8)::text), 6) FROM generate_series(1, 800) AS i;
INSERT INTO person (id, name) VALUES (1001, 'Zoe Achtelfass'), (1002, 'Zoë Achtelfass');
CREATE INDEX person_sigfile ON person USING sigfile (sig);
CREATE INDEX person_gist ON person USING gist (sig);
SET enable_seqscan = off;
SELECT id FROM person WHERE bloom_sim(sig, bloom_signature('zoe achtelfass', rules => 2)) >= 1 ORDER BY id;
SELECT a, b FROM bloom_duplicates('person', 'id', 'sig', 1) WHERE a IN ('1001', '1002');
SELECT id FROM person WHERE bloom_sim(sig, bloom_signature('zoe achtelfass')) >= 1;
INSERT INTO person (id, name) SELECT 2000, 'x' RETURNING sig = bloom_signature('x', rules => 2);
\set VERBOSITY terse
ALTER TABLE person ADD CONSTRAINT alone EXCLUDE USING sigfile ((bloom_query(sig, 1)) WITH %);
\set VERBOSITY default
-- Edit distances are those of rule set 1, so signatures of another one imply nothing.
DROP INDEX person_sigfile, person_gist;
CREATE INDEX person_sigfile ON person USING sigfile (sig);
RESET enable_seqscan;
EXPLAIN (COSTS OFF) SELECT id FROM person WHERE ident_edit_within(name, 'Zoe Achtelfass', 1);
SET enable_seqscan = off;
CREATE INDEX person_first ON person USING sigfile (first);
SELECT id FROM person WHERE ident_edit_within(name, 'Zoe Achtelfass', 1);
RESET enable_seqscan;
-- Another rule set, as another version of the library would have stored it.
CREATE TABLE later AS SELECT '(2,5,3,rules=9):1f03'::bloom AS sig, '(2,5,0,rules=9,hash=1):1f03'::bloom AS tokens, '(2,5,3,rules=9):0102000003'::counting_bloom AS filter, '(2,5,3,rules=9,hash=3,id=00000000000000ab):1f03'::bloom AS keyed;
SELECT sig, tokens, filter, keyed, sig::bloom(2,5,3,9), sig::bytea::bloom = sig AS bytes, bloom_to_jsonb(sig) FROM later;
SELECT bloom_sim(sig, sig), bloom_bits(sig), sig @> sig, sig | sig = sig, bloom_query(sig, 0.5), (SELECT counting_merge(filter)::text = min(filter::text) FROM later) FROM later;
CREATE INDEX ON later USING sigfile (sig);
CREATE INDEX ON later USING gist (sig);
SET enable_seqscan = off;
SELECT sig FROM later WHERE sig % bloom_query('(2,5,3,rules=9):1f03', 0.9);
RESET enable_seqscan;
SELECT bloom_contains(sig, 'x') FROM later;
SELECT bloom_add(sig, 'x') FROM later;
SELECT bloom_contains(tokens, ARRAY['x']) FROM later;
SELECT bloom_add(tokens, ARRAY['x']) FROM later;
SELECT counting_add(filter, 'x') FROM later;
SELECT bloom_sim(sig, '(2,5,3):1f03') FROM later;
SELECT '(2,5,3,rules=0):1f03'::bloom;
SELECT '(2,5,3,rules=256):1f03'::bloom;
SELECT '(1,64,0,rules=2,hash=2,id=00000000000000ab):0000000000000000'::bloom;
SELECT bloom_secret_drop('rule_sets');
DROP SCHEMA rule_sets CASCADE;
