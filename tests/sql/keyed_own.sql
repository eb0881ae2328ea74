-- The own family of keyed signatures: n-grams of normal texts, as unkeyed signatures have them, with a key. core/clk/tests/own.rs has which bits are set.
CREATE SCHEMA own;
SET search_path = own, public;
SET client_min_messages = error;
SELECT bloom_secret_import('own', 'a secret that everybody knows'), bloom_secret_import('other', 'another one that everybody knows');
RESET client_min_messages;
CREATE VIEW s AS SELECT '{"bloom_ident": 1, "features": ["given", "surname"]}'::jsonb AS pair, '{"bloom_ident": 1, "features": ["name"]}'::jsonb AS one,
    '{"bloom_ident": 1, "ngram": 0, "max_chars": 20, "fpr": 0.001, "features": ["name"]}'::jsonb AS words;
SELECT left(bloom_clk('{"given": "Erika", "surname": "Mustermann"}', pair, 'own')::text, 60) FROM s;
-- As normal as unkeyed ones; names may be swapped, and stand in one member or two.
SELECT bloom_clk('{"given": "Jürgen", "surname": "MÜLLER"}', pair, 'own') = bloom_clk('{"surname": "juergen", "given": "Mueller"}', pair, 'own'), bloom_clk_id(pair, 'own') = bloom_clk_id(one, 'own'),
    bloom_clk('{"given": "Jürgen", "surname": null}', pair, 'own') = bloom_clk('{"name": "juergen"}', one, 'own'), bloom_clk_id(pair, 'own') = bloom_clk_id(pair, 'other'), bloom_clk_id(one, 'own') = bloom_clk_id(words, 'own') FROM s;
-- About as similar as unkeyed ones, which have as many bits.
CREATE FUNCTION keyed(name text, secret name) RETURNS bloom STABLE LANGUAGE sql AS $$ SELECT bloom_clk(jsonb_build_object('name', name), one, secret) FROM s $$;
SELECT a, b, round(bloom_sim(bloom_signature(a), bloom_signature(b))::numeric, 2) AS unkeyed, round(bloom_sim(keyed(a, 'own'), keyed(b, 'own'))::numeric, 2) AS own, round(bloom_sim(keyed(a, 'other'), keyed(b, 'other'))::numeric, 2) AS other
FROM (VALUES ('Erika Mustermann', 'Erika Musterman'), ('Erika Mustermann', 'Erica Mustermann'), ('Otto Kowalski', 'Anna Berg')) AS v (a, b);
SELECT keyed('Erika', 'own') % bloom_signature('Erika');
SELECT bloom_sim(keyed('Erika', 'own'), keyed('Erika', 'other'));
SELECT bloom_add(keyed('Erika', 'own'), 'Otto');
SELECT bloom_contains(keyed('Erika', 'own'), 'Otto');
-- Stored, read, declared.
SELECT keyed('Erika', 'own')::text::bloom = keyed('Erika', 'own'), keyed('Erika', 'own')::bytea::bloom = keyed('Erika', 'own'), keyed('Erika', 'own')::bloom(keyed,7,43,3) = keyed('Erika', 'own');
SELECT keyed('Erika', 'own')::bloom(7,43,3);
SELECT keyed('Erika', 'own')::bloom(keyed,7,43,2);
SELECT bloom_signature('Erika')::bloom(keyed,7,43,3);
-- A column, indexes, constraint, nearest, duplicates and linkage, with the answers of comparing all.
CREATE TABLE person (id int PRIMARY KEY, given text, surname text);
INSERT INTO person SELECT i, (ARRAY['Erika', 'Otto', 'Jürgen', 'Anna', 'Zoë'])[i % 5 + 1], md5((i / 2)::text) FROM generate_series(1, 2000) AS i;
SELECT bloom_clk_column('person', 'sig', pair, 'own') FROM s;
SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'person'::regclass AND attname = 'sig';
CREATE FUNCTION answers() RETURNS TABLE (found bigint, nearest bigint) LANGUAGE sql AS $$
    SELECT (SELECT count(*) FROM person AS a, person AS b WHERE a.id % 40 = 0 AND b.sig % bloom_query(a.sig, 0.6)),
        (SELECT count(*) FROM person AS a, LATERAL (SELECT id FROM person AS b ORDER BY b.sig <-> a.sig, id LIMIT 2) AS b WHERE a.id % 400 = 0 AND b.id IN (a.id, (a.id # 1))) $$;
SELECT * FROM answers();
CREATE INDEX by_sigfile ON person USING sigfile (sig);
SET enable_seqscan = off;
SELECT * FROM answers();
DROP INDEX by_sigfile;
CREATE INDEX ON person USING gist (sig);
SELECT * FROM answers();
RESET enable_seqscan;
SELECT count(*), min(similarity) >= 0.6 FROM bloom_duplicates('person', 'id', 'sig', 0.6);
SELECT count(*) FROM person AS a JOIN person AS b ON a.id < b.id AND bloom_sim(a.sig, b.sig) >= 0.6;
-- Hardened; what is wrong.
SELECT bloom_bits(bloom_clk('{"name": "Erika"}', one, 'own', '{"balance": true}')), bloom_id(bloom_clk('{"name": "Erika", "born": "1964"}', one, 'own', '{"salt": ["born"], "diffusion": 4}')) = bloom_clk_id(one, 'own', '{"salt": ["born"], "diffusion": 4}') FROM s;
SELECT bloom_clk('{"name": "Erika"}', '{"bloom_ident": 2, "features": ["name"]}', 'own');
SELECT bloom_clk('{"name": "Erika"}', '{"bloom_ident": 1, "features": ["name"], "l": 1024}', 'own');
SELECT bloom_clk('{"name": "Erika"}', '{"bloom_ident": 1, "features": []}', 'own');
SELECT bloom_clk('{"name": "Erika"}', '{"bloom_ident": 1, "features": ["name"], "ngram": 1}', 'own');
SELECT bloom_clk('{"name": "Erika"}', '{"bloom_ident": 1, "features": ["name"], "max_chars": 10000, "fpr": 1e-30}', 'own');
SELECT bloom_clk('{"surname": "Erika"}', '{"bloom_ident": 1, "features": ["name"]}', 'own');
SELECT bloom_secret_drop(name) FROM unnest('{own,other}'::name[]) AS name;
SET client_min_messages = warning;
DROP SCHEMA own CASCADE;
