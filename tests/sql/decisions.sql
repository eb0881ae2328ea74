-- Decisions about pairs: a table of them, hashes of records, and what jobs do with them.
SET client_min_messages = notice;
SELECT bloom_decisions_create('decided');
\d decided
\set VERBOSITY terse
INSERT INTO decided (a, b, decision) VALUES ('1', '2', 'maybe');
INSERT INTO decided (a, b, decision) VALUES ('1', NULL, 'same');
\set VERBOSITY default

CREATE TABLE person (id integer PRIMARY KEY, name text, born date, note text,
    sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
INSERT INTO person (id, name, born) VALUES
    (1, 'Erika Mustermann', '1964-08-12'), (2, 'Erika Musterman', '1964-08-12'), (3, 'Erica Mustermann', '1964-08-12'),
    (4, 'Rosa Blum', '1990-01-02'), (5, 'Rosa Blum', '1990-01-02'), (6, 'Rosa Blume', NULL), (7, 'Otto Feld', '1950-05-05');
CREATE TABLE plain_pair AS SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.6);
SELECT a, b, round(similarity::numeric, 3) AS similarity FROM plain_pair ORDER BY a, b;

-- a pair is unordered, its newest row counts, and of one time the most cautious
INSERT INTO decided (a, b, decision, at) VALUES
    ('5', '4', 'different', '2026-01-01'), ('4', '5', 'same', '2025-01-01'),
    ('1', '3', 'unsure', '2026-01-01'), ('1', '3', 'same', '2026-01-01'), ('2', '1', 'same', '2026-01-01'),
    ('7', '5', 'different', '2026-01-01'), ('99', '100', 'same', '2026-01-01');
SELECT a, b FROM bloom_duplicates('person', 'id', 'sig', 0.6, decisions => 'decided') ORDER BY a, b;
SELECT a, b FROM bloom_duplicates('person', 'id', ARRAY['sig'], ARRAY[1.0], 0.6, decisions => 'decided') ORDER BY a, b;
-- without an index it is the same, as with one
CREATE INDEX person_sig ON person USING sigfile (sig);
SELECT a, b FROM bloom_duplicates('person', 'id', 'sig', 0.6, decisions => 'decided') ORDER BY a, b;
CREATE VIEW newer AS SELECT a, b, decision, at FROM decided WHERE decision <> 'unsure';
SELECT a, b FROM bloom_duplicates('person', 'id', 'sig', 0.6, decisions => 'newer') ORDER BY a, b;

-- clusters: records judged the same are together although no pair of them is found, if they are there
SELECT cluster, key, size, keep FROM bloom_clusters('person', 'id', 'sig', 0.6) ORDER BY cluster, key;
SELECT cluster, key, size, round(similarity::numeric, 3) AS similarity, keep
    FROM bloom_clusters('person', 'id', 'sig', 0.6, decisions => 'decided') ORDER BY cluster, key;
INSERT INTO decided (a, b, decision, at) VALUES ('7', '4', 'same', '2026-02-01');
SELECT method, cluster, key, size, round(similarity::numeric, 3) AS similarity, keep
    FROM unnest('{components,centre,average}'::text[]) method,
        bloom_clusters('person', 'id', 'sig', 0.6, method, decisions => 'decided') ORDER BY method, cluster, key;
SELECT method, cluster, key, keep FROM unnest('{components,centre,average}'::text[]) method,
        bloom_clusters('plain_pair', 0.6, method, decisions => 'decided') WHERE key NOT IN ('99', '100') ORDER BY method, cluster, key;

-- contradictions
INSERT INTO decided (a, b, decision, at) VALUES ('5', '6', 'same', '2026-01-01'), ('6', '4', 'same', '2026-03-01');
SELECT * FROM bloom_clusters('person', 'id', 'sig', 0.6, decisions => 'decided');
SELECT * FROM bloom_clusters('plain_pair', 0.6, decisions => 'decided');
SELECT cluster, key FROM bloom_clusters('person', 'id', 'sig', 0.6, decisions => 'decided', on_conflict => 'newer') ORDER BY cluster, key;
SELECT * FROM bloom_clusters('person', 'id', 'sig', 0.6, decisions => 'decided', on_conflict => 'older');
DELETE FROM decided WHERE '6' IN (a, b);

-- a largest size
SELECT cluster, key, size FROM bloom_clusters('person', 'id', 'sig', 0.6, max_size => 2) ORDER BY cluster, key;
SELECT cluster, key, size FROM bloom_clusters('plain_pair', 0.6, 'components', max_size => 2) ORDER BY cluster, key;
SELECT * FROM bloom_clusters('plain_pair', 0.6, max_size => 1);

-- hashes: what a record was like
SELECT * FROM bloom_record_hash('person', 'id', '{name,born}') ORDER BY key::integer LIMIT 2;
SET datestyle = 'German'; SET timezone = 'Asia/Tokyo';
SELECT * FROM bloom_record_hash('person', 'id', '{name,born}') ORDER BY key::integer LIMIT 2;
RESET datestyle; RESET timezone;
SELECT count(DISTINCT hash) FROM bloom_record_hash('person', 'id', '{note}');
SELECT * FROM bloom_record_hash('person', 'id', '{name,nothing}');
SELECT * FROM bloom_record_hash('person', 'id', '{}');
SELECT * FROM bloom_record_hash('person', 'id', NULL);
TRUNCATE decided;
INSERT INTO decided (a, b, decision, hash)
    SELECT a, b, 'different', x.hash || ' ' || y.hash FROM plain_pair
        JOIN bloom_record_hash('person', 'id', '{name,born}') x ON a = x.key JOIN bloom_record_hash('person', 'id', '{name,born}') y ON b = y.key;
SELECT a, b FROM bloom_duplicates('person', 'id', 'sig', 0.6, decisions => 'decided') ORDER BY a, b;
UPDATE person SET note = 'nothing that was looked at' WHERE id = 5;
SELECT a, b FROM bloom_duplicates('person', 'id', 'sig', 0.6, decisions => 'decided') ORDER BY a, b;
UPDATE person SET born = '1991-01-02' WHERE id = 5;
SELECT a, b FROM bloom_duplicates('person', 'id', 'sig', 0.6, decisions => 'decided') ORDER BY a, b;
SELECT cluster, key FROM bloom_clusters('person', 'id', 'sig', 0.6, decisions => 'decided') ORDER BY cluster, key;
-- the other way round it is the same pair
UPDATE decided SET (a, b, hash) = (b, a, split_part(hash, ' ', 2) || ' ' || split_part(hash, ' ', 1));
SELECT a, b FROM bloom_duplicates('person', 'id', 'sig', 0.6, decisions => 'decided') ORDER BY a, b;
-- what no longer can be computed has changed
ALTER TABLE person RENAME born TO date_of_birth;
SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', 0.6, decisions => 'decided');
ALTER TABLE person RENAME date_of_birth TO born;
UPDATE decided SET hash = 'd41d8cd98f00b204e9800998ecf8427e';
SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', 0.6, decisions => 'decided');

-- two relations: pairs are ordered, and judged the same comes first
CREATE TABLE other AS SELECT id, name, bloom_signature(name) AS sig FROM person WHERE id <> 6;
TRUNCATE decided;
INSERT INTO decided (a, b, decision) VALUES ('1', '2', 'same'), ('3', '3', 'different'), ('5', '4', 'different'), ('2', '2', 'unsure');
SELECT a, b FROM bloom_linkage('person', 'id', 'sig', 'other', 'id', 'sig', 0.8, decisions => 'decided') ORDER BY a, b;
SELECT a, b, round(similarity::numeric, 3) FROM bloom_linkage('person', 'id', 'sig', 'other', 'id', 'sig', 0.8, one_to_one => true, decisions => 'decided') ORDER BY a, b;
SELECT a, b FROM bloom_linkage('person', 'id', ARRAY['sig'], 'other', 'id', ARRAY['sig'], ARRAY[1.0], 0.8, one_to_one => true, decisions => 'decided') ORDER BY a, b;
UPDATE decided SET hash = x.hash || ' ' || y.hash
    FROM bloom_record_hash('person', 'id', '{name,born}') x, bloom_record_hash('other', 'id', '{name}') y WHERE a = x.key AND b = y.key;
UPDATE other SET name = 'Erica Musterfrau' WHERE id = 3;
SELECT a, b FROM bloom_linkage('person', 'id', 'sig', 'other', 'id', 'sig', 0.8, decisions => 'decided') ORDER BY a, b;

-- what is no relation of decisions
SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.6, decisions => 'person');
CREATE VIEW bad AS SELECT '1'::text AS a, '2'::text AS b, 'SAME' AS decision, 1 AS at;
SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.6, decisions => 'bad');
CREATE OR REPLACE VIEW bad AS SELECT '1'::text AS a, NULL::text AS b, 'same' AS decision, 1 AS at;
SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.6, decisions => 'bad');
CREATE OR REPLACE VIEW bad AS SELECT '1'::text AS a, '1'::text AS b, 'different' AS decision, 1 AS at;
SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.6, decisions => 'bad');
CREATE OR REPLACE VIEW bad AS SELECT '1'::text AS a, '1'::text AS b, 'same' AS decision, 1 AS at;
-- of records that were merged since
SELECT count(*) > 0 AS found FROM bloom_duplicates('person', 'id', 'sig', 0.6, decisions => 'bad');
SELECT * FROM bloom_linkage('person', 'id', 'sig', 'other', 'id', 'sig', 1, decisions => 'bad') WHERE a = '1';
CREATE OR REPLACE VIEW bad AS SELECT '1'::text AS a, '2'::text AS b, 'same' AS decision, 1 / (random() * 0)::integer AS at;
SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.6, decisions => 'bad');
SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.6, decisions => 'nothing');

-- rights: a view is read as the caller, and so are the records that hashes are of
CREATE ROLE judge;
GRANT SELECT (id, sig) ON person TO judge;
SET ROLE judge;
SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', 0.9, decisions => 'decided');
RESET ROLE;
GRANT SELECT ON decided TO judge;
TRUNCATE decided;
INSERT INTO decided (a, b, decision) VALUES ('4', '5', 'different');
SET ROLE judge;
SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', 0.9, decisions => 'decided');
\set VERBOSITY terse
SELECT bloom_decisions_create('public.mine');
\set VERBOSITY default
RESET ROLE;
INSERT INTO decided (a, b, decision, hash) SELECT '4', '5', 'different', x.hash || ' ' || y.hash
    FROM bloom_record_hash('person', 'id', '{name,born}') x, bloom_record_hash('person', 'id', '{name}') y WHERE x.key = '4' AND y.key = '5';
SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', 0.9, decisions => 'decided');
SET ROLE judge;
SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', 0.9, decisions => 'decided');
RESET ROLE;

-- names of tables: schemas, quotes, temporary ones of the same name
CREATE SCHEMA "Judged";
SELECT bloom_decisions_create('"Judged"."My decisions"');
CREATE TEMPORARY TABLE twice (x integer);
SELECT bloom_decisions_create('twice');
SELECT count(*) FROM pg_index WHERE indrelid = 'public.twice'::regclass;
\set VERBOSITY terse
SELECT bloom_decisions_create('public.twice');
\set VERBOSITY default
SELECT bloom_decisions_create('a.b.c.d');
SELECT bloom_decisions_create('nowhere.decided');
SELECT bloom_decisions_create('');
SELECT bloom_decisions_create(NULL);

DROP TABLE person, other, plain_pair, decided, public.twice CASCADE;
DROP VIEW bad;
DROP SCHEMA "Judged" CASCADE;
DROP ROLE judge;
RESET client_min_messages;
