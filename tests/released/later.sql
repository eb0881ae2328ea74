-- What is done in a database of tests/released/objects.sql after an upgrade: what was kept before decides, constraints and guards hold, merges come back.
\pset format unaligned
\pset tuples_only
\set VERBOSITY sqlstate
INSERT INTO one_of_each VALUES (10, 3, 'Erica Mustermann');
INSERT INTO one_of_each VALUES (10, 2, 'Lukasz Kowalsky'), (11, 9, 'Wilhelmine Achtelfass');
INSERT INTO patient VALUES (10, 'Erika Musterman');
INSERT INTO patient VALUES (11, 'Hans Wurst');
INSERT INTO patient VALUES (12, 'Wilhelmine Achtelfass'), (13, 'Wilhelmina Achtelfass');
SELECT key, duplicate, round(similarity::numeric, 4) FROM patient_review ORDER BY 1, 2;
INSERT INTO basket (id, items) SELECT 400, items FROM basket WHERE id = 7;
INSERT INTO client SELECT id + 100000, given, surname, dob, suburb, postcode FROM client WHERE id = 100;
INSERT INTO client VALUES (300000, 'wilhelmine', 'achtelfass', '19110101', 'graz', '8010');
SELECT * FROM bloom_register_check('client_register');
SELECT count(DISTINCT entity), count(*) FROM client_entity;
DELETE FROM decision;
SELECT count(DISTINCT entity), count(*) FROM client_entity;
SELECT change, entity IS NOT NULL AS known, size FROM bloom_register_preview('client_register', (SELECT to_jsonb(c) || '{"id": 400000}' FROM client AS c WHERE id = 100));
INSERT INTO twin_changed VALUES ('1');
SELECT * FROM bloom_pairs_refresh('twin_pair', 'twin', 'id', 'sig', 0.2, 'twin_changed');
SELECT bloom_unmerge(1, 'merges'), bloom_unmerge(2, 'merges');
SELECT id, name, weight, day FROM twin ORDER BY id;
SELECT * FROM visit ORDER BY id;
SELECT bloom_unmerge(1, 'merges');
SELECT bloom_merge('twin_merged', 'twin', 'id', '{"name": "longest"}', audit => 'merges');
INSERT INTO person (id, given, surname) VALUES (200001, 'brooke', 'simpson');
UPDATE person SET surname = surname || 'y' WHERE id % 11 = 0;
DELETE FROM person WHERE id % 17 = 0;
VACUUM person;
SELECT bloom_sigfile_check('person_sigfile') = count(*), bloom_sigfile_check('person_within') = count(*) FROM person;
SET enable_seqscan = off;
SELECT count(*), sum(b.id) FROM person AS a, person AS b WHERE a.id % 20 = 0 AND b.sig % bloom_query(a.sig, 0.6);
REFRESH MATERIALIZED VIEW nearest;
SELECT count(*) FROM nearest;
