-- Entities of records that hang together by thousands are refused, and what was written goes back.
CREATE SCHEMA entities_large;
SET search_path = entities_large, public;
SET client_min_messages = error;
CREATE TABLE person AS SELECT i AS id, md5(i::text) AS name, 'x' || i AS town FROM generate_series(1, 10001) AS i;
ALTER TABLE person ADD PRIMARY KEY (id);
CREATE TABLE fitted AS SELECT bloom_model_fit('person', 'id', '{name:text,town:text}', '{}') AS model;
SELECT bloom_register_create(model, 'person', 'id') FROM fitted;
SELECT bloom_decisions_create('decision');
INSERT INTO decision (a, b, decision) SELECT i::text, (i + 1)::text, 'same' FROM generate_series(1, 10000) AS i;
SELECT bloom_entities_create('person_register', 'ent', 0.5, 'components', decisions => 'decision');
SELECT to_regclass('ent'), to_regclass('ent_changes');
-- One of them less, and there are two.
DELETE FROM decision WHERE a = '6000';
SELECT bloom_entities_create('person_register', 'ent', 0.5, 'components', decisions => 'decision');
SELECT count(*), count(DISTINCT entity) FROM ent;
INSERT INTO decision (a, b, decision) VALUES ('1', '10001', 'same');
SELECT count(*) FROM decision WHERE a = '1' AND b = '10001';
DROP SCHEMA entities_large CASCADE;
