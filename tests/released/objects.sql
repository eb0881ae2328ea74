-- One of everything that depends on the extension, as a version leaves it behind. Run by scripts/freeze.sh, as the database's owner, with a table
-- source of people (rec_id, given, surname, dob, suburb, postcode). What tests/released/state.sql asks of it must never change.

-- Signatures in generated columns, checked, in an index of each kind.
CREATE TABLE person (
    id int PRIMARY KEY, given text, surname text, dob text, suburb text, postcode text,
    sig bloom(7,43,3) GENERATED ALWAYS AS (bloom_signature(given || ' ' || surname)) STORED,
    pair bloom(7,23,2) GENERATED ALWAYS AS (bloom_signature(surname, ngram => 2, max_chars => 20)) STORED,
    normal text GENERATED ALWAYS AS (ident_normalize(surname)) STORED,
    CHECK (bloom_bits(sig) < 300), CHECK (NOT bloom_contains(sig, 'test record'))
);
INSERT INTO person (id, given, surname, dob, suburb, postcode) SELECT row_number() OVER (ORDER BY rec_id), given, surname, dob, suburb, postcode FROM source;
INSERT INTO person (id) VALUES (100001), (100002);
CREATE INDEX person_sigfile ON person USING sigfile (sig) WITH (tail_limit = 100);
CREATE INDEX person_gist ON person USING gist (sig);
CREATE INDEX person_btree ON person (sig);
CREATE INDEX person_hash ON person USING hash (sig);
CREATE INDEX person_within ON person USING sigfile (postcode, sig);
CREATE INDEX person_expression ON person USING sigfile (bloom_signature(surname, by_word => true));
CREATE INDEX person_expression_btree ON person (bloom_signature(lower(suburb), ngram => 2));
CREATE INDEX person_partial ON person (id) WHERE bloom_sim(pair, bloom_signature('smith', ngram => 2, max_chars => 20)) > 0.3;
CREATE INDEX person_normal ON person (normal);
CREATE INDEX person_phonetic ON person (ident_phonetic(surname, 'soundex'));
-- Rows that came after the index was made, some of which are gone again: segments of several ages, a tail, dead rows.
INSERT INTO person (id, given, surname, dob, suburb, postcode) SELECT id + 10000, given, surname || 'x', dob, suburb, postcode FROM person WHERE id % 9 = 0 AND id < 10000;
DELETE FROM person WHERE id % 13 = 0;

CREATE VIEW near AS SELECT a.id AS a, b.id AS b, bloom_sim(a.sig, b.sig) AS similarity FROM person AS a JOIN person AS b ON a.id < b.id AND bloom_sim(a.sig, b.sig) > 0.8;
CREATE MATERIALIZED VIEW nearest AS SELECT a.id AS a, b.id AS b FROM person AS a, LATERAL (SELECT id FROM person AS b WHERE b.id <> a.id ORDER BY b.sig <-> a.sig, id LIMIT 2) AS b WHERE a.id % 60 = 0;
CREATE FUNCTION like_name(text) RETURNS SETOF person STABLE LANGUAGE sql
    BEGIN ATOMIC SELECT * FROM person WHERE bloom_sim(sig, bloom_signature($1)) > 0.6; END;

-- Other types that are stored.
CREATE TABLE basket (
    id int PRIMARY KEY, items text[],
    sig bloom(7,43,0) GENERATED ALWAYS AS (bloom_signature_of_tokens(items)) STORED,
    minima minhash(64,7) GENERATED ALWAYS AS (minhash(items, 64, 7)) STORED,
    bits minhash_bits(192) GENERATED ALWAYS AS (minhash_bits(items, 192)) STORED,
    query minhash_query, pattern bloom_query, filter counting_bloom DEFAULT counting_signature('default')
);
INSERT INTO basket (id, items, query, pattern)
    SELECT i, ARRAY['a', 'b', (i / 2)::text, (i % 17)::text, 't' || i / 3], minhash_query(minhash_bits(ARRAY['a', i::text], 192), 0.5), bloom_query(bloom_signature('name ' || i), 0.5 + i / 1000.0)
    FROM generate_series(1, 300) AS i;
INSERT INTO basket VALUES (301, '{}'), (302, NULL);
UPDATE basket SET filter = counting_add(filter, 'name ' || id) WHERE id % 3 = 0;
CREATE INDEX basket_sigfile ON basket USING sigfile (sig);
CREATE INDEX basket_bits_sigfile ON basket USING sigfile (bits);
CREATE INDEX basket_bits_gist ON basket USING gist (bits);
CREATE INDEX basket_query_gist ON basket USING gist (query);
CREATE INDEX basket_minima ON basket USING hash (minima);
CREATE INDEX basket_bits_btree ON basket (bits);
CREATE TABLE several (id int PRIMARY KEY, profile bloom[], wide bloom);
INSERT INTO several SELECT i, ARRAY[bloom_signature('one ' || i), NULL, bloom_signature('two ' || i, ngram => 4)], bloom_signature(repeat('wide ' || i, 50), max_chars => 4000, fpr => 0.0001)
    FROM generate_series(1, 30) AS i;

-- Constraints of both kinds, one within tenants, and a partitioned table.
CREATE TABLE one_of_each (id int PRIMARY KEY, tenant int, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED,
    CONSTRAINT one_of_each_sigfile EXCLUDE USING sigfile ((bloom_query(sig, 0.8)) WITH %),
    CONSTRAINT one_of_each_gist EXCLUDE USING gist ((bloom_query(sig, 0.8)) WITH %),
    CONSTRAINT one_of_each_tenant EXCLUDE USING sigfile (tenant WITH =, (bloom_query(sig, 0.7)) WITH %) DEFERRABLE);
INSERT INTO one_of_each VALUES (1, 1, 'Erika Mustermann'), (2, 1, 'Jörg Müller'), (3, 2, 'Łukasz Kowalski'), (4, 2, NULL);
CREATE TABLE parted (id int, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (200);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (200) TO (1000);
CREATE INDEX parted_sigfile ON parted USING sigfile (sig);
CREATE INDEX parted_gist ON parted USING gist (sig);
INSERT INTO parted SELECT i, md5((i / 2)::text) FROM generate_series(1, 400) AS i;

-- Guards: one that rejects, one that flags, one with a block list and verification.
CREATE TABLE patient (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
CREATE INDEX patient_sigfile ON patient USING sigfile (sig);
INSERT INTO patient VALUES (1, 'Erika Mustermann'), (2, 'Jörg Müller');
CREATE TABLE listed (id int PRIMARY KEY, sig bloom);
INSERT INTO listed VALUES (1, bloom_signature('Hans Wurst'));
CREATE INDEX listed_gist ON listed USING gist (sig);
CREATE TABLE patient_review (key text, duplicate text, similarity float8, found_at timestamptz, decision text, PRIMARY KEY (key, duplicate));
SELECT bloom_decisions_create('verdict');
SELECT bloom_guard_create('patient', 'sig', 0.9, 'reject', 'decisions', 'public.verdict');
SELECT bloom_guard_create('patient', 'sig', 0.7, 'flag', 'review', 'public.patient_review');
CREATE TRIGGER listed AFTER INSERT ON patient FOR EACH ROW
    EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject', 'blocklist', 'public.listed', 'message', 'it''s listed');
INSERT INTO patient VALUES (3, 'Erica Mustermann'), (4, 'Otto Kowalski');
INSERT INTO verdict (a, b, decision, who, at) VALUES ('2', '5', 'different', 'anna', '2026-01-01 00:00:00+00'), ('1', '3', 'same', 'anna', '2026-01-02 00:00:00+00');
INSERT INTO patient VALUES (5, 'Joerg Mueller');
CREATE TRIGGER bits AFTER INSERT OR UPDATE ON basket FOR EACH ROW EXECUTE FUNCTION bloom_guard('bits', '0.95', 'reject', 'verify', 'items', 'margin', '0.1');

-- A model, and what is kept by one.
CREATE TABLE client AS SELECT id, given, surname, dob, suburb, postcode FROM person WHERE id < 10000 ORDER BY id LIMIT 700;
ALTER TABLE client ADD PRIMARY KEY (id);
CREATE TABLE fitted AS SELECT bloom_model_fit('client', 'id', '{given:name,surname:name,dob:date,suburb,postcode}', '{given,surname,dob}') AS model;
SELECT bloom_register_create(model, 'client', 'id') FROM fitted;
SELECT bloom_decisions_create('decision');
SELECT bloom_entities_create('client_register', 'client_entity', decisions => 'decision', notify => false);
INSERT INTO decision (a, b, decision, who, at) SELECT a, b, 'different', 'anna', '2026-01-03 00:00:00+00' FROM fitted, bloom_model_duplicates('client', 'id', model) ORDER BY bits DESC, a, b LIMIT 1;
SELECT bloom_register_guard('client_register', 0.99, 'reject', 'decisions', 'public.decision');
CREATE TABLE by_model AS SELECT d.a, d.b, d.bits FROM fitted, bloom_model_duplicates('client', 'id', model) AS d;

-- Pairs that are kept up to date, clusters, and merges that can be taken back.
CREATE TABLE twin (id int PRIMARY KEY, name text, weight float8, day date, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
CREATE TABLE visit (id int PRIMARY KEY, twin int REFERENCES twin, day date);
INSERT INTO twin (id, name, weight, day) VALUES (1, 'Erika', 0.1, '2024-01-01'), (2, 'Erika Mustermann', NULL, '2024-01-02'), (3, 'Otto', 1e-9, NULL), (4, 'Otto Kowalski', 2, NULL), (5, 'Anna Berg', 3, NULL);
INSERT INTO visit SELECT id, id, '2026-01-01' FROM twin;
CREATE INDEX ON visit (twin);
CREATE TABLE twin_pair AS SELECT * FROM bloom_duplicates('twin', 'id', 'sig', 0.2);
CREATE TABLE twin_changed (key text NOT NULL);
CREATE TABLE twin_cluster AS SELECT * FROM bloom_clusters('twin_pair', 0.25);
CREATE TABLE twin_merged AS SELECT 1 AS cluster, '1' AS key UNION ALL SELECT 1, '2' UNION ALL SELECT 2, '3' UNION ALL SELECT 2, '4';
SELECT bloom_merges_create('merges');
SELECT bloom_merge('twin_merged', 'twin', 'id', '{"name": "longest"}', audit => 'merges') FROM (SELECT) AS once;

-- Keyed signatures, of secrets that everybody knows.
SET client_min_messages = error;
SELECT bloom_secret_import('known', 'a secret that everybody knows');
CREATE TABLE keyed (id int PRIMARY KEY, given text, surname text);
INSERT INTO keyed SELECT id, given, surname FROM person WHERE id < 200;
CREATE TABLE scheme AS SELECT '{"bloom_ident": 1, "features": ["given", "surname"]}'::jsonb AS own;
SELECT bloom_clk_column('keyed', 'sig', own, 'known') FROM scheme;
CREATE INDEX keyed_sigfile ON keyed USING sigfile (sig);
CREATE INDEX keyed_gist ON keyed USING gist (sig);

INSERT INTO ident_abbreviations (language, abbreviation, words) VALUES ('de', 'A.G.', 'Arbeitsgemeinschaft'), ('es', 'Cía.', 'compañía');
DROP TABLE source;
