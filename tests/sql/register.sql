-- Registers: one record against those of a table, by a model; the keys of all records kept by triggers.
CREATE SCHEMA register;
SET client_min_messages = warning;
SET search_path = register, public;
CREATE TABLE people AS SELECT i AS id, given, surname, dob, city, phone FROM (
    SELECT i, (ARRAY['Anna','Otto','Maria','Jan','Eva','Karl','Lena','Paul','Ida','Emil'])[1 + (i * 7 + i / 13) % 10] AS given,
        (ARRAY['Kowalski','Berger','Steinbacher','Novak','Lindqvist','Moreau','Rossi','Jansen','Wagner','Petrov','Haas','Keller','Vogt'])[1 + (i * 11 + i / 7) % 13]
            || (ARRAY['','mann','son','s'])[1 + (i / 5) % 4] AS surname,
        date '1940-01-01' + (i * 7919) % 25000 AS dob, (ARRAY['Berlin','Bonn','Köln','Graz','Wien'])[1 + (i * 3) % 5] AS city,
        '030' || 1000000 + (i * 104729) % 8999999 AS phone
    FROM generate_series(1, 1500) AS i) AS original;
INSERT INTO people SELECT id + 10000, given, overlay(surname PLACING 'x' FROM 3 FOR 1), dob, 'Linz', phone FROM people WHERE id <= 150;
INSERT INTO people SELECT id + 20000, surname, given, dob, city, NULL FROM people WHERE id BETWEEN 151 AND 220;
INSERT INTO people SELECT id + 30000, given, surname, NULL, city, phone FROM people WHERE id BETWEEN 221 AND 300;
CREATE TABLE fitted AS SELECT bloom_model_fit('people', 'id', '{given:name,surname:name,dob:date,city,phone:phone}', '{given,dob,phone}') AS model;
-- With searches of every kind.
UPDATE fitted SET model = jsonb_set(model, '{searches}', (SELECT jsonb_agg(to_jsonb(s) || '{"pairs_per_record": 1, "matches_per_record": 0.1}') FROM (VALUES
    ('{"equal": ["given", "surname"], "most": 40}'::jsonb), ('{"equal": ["dob"], "most": 5}'), ('{"equal": ["phone"], "most": 3}'),
    ('{"crosswise": ["city"], "most": 40}'), ('{"crosswise": [], "most": 20}'),
    ('{"similar": ["surname"], "least": 40, "most": 20}'), ('{"similar": ["given", "surname"], "least": 40, "most": 20}'),
    ('{"similar": ["surname", "dob"], "least": 55, "most": 20}')) AS v (s)));
-- What a register needs.
SELECT bloom_register_create(model, 'people', 'id') FROM fitted;
ALTER TABLE people ADD PRIMARY KEY (id);
SELECT bloom_register_create(model, 'people', 'number') FROM fitted;
SELECT bloom_register_create(model, 'people', 'id', repeat('x', 60)::name) FROM fitted;
SELECT bloom_register_create(model, 'people', 'id', options => '{"record": 1}') FROM fitted;
SELECT bloom_register_create(model, 'people', 'id', options => '{"records": 1}') FROM fitted;
SELECT bloom_register_create(model, 'people', 'id', options => '[]') FROM fitted;
SELECT bloom_register_create(jsonb_set(model, '{linkage}', 'true'), 'people', 'id') FROM fitted;
SELECT bloom_register_create('{}', 'people', 'id');
SELECT bloom_register_create(NULL, 'people', 'id');
CREATE VIEW seen AS TABLE people;
SELECT bloom_register_create(model, 'seen', 'id') FROM fitted;
DROP VIEW seen;
CREATE TABLE parted (id int PRIMARY KEY, given text, surname text, dob date, city text, phone text) PARTITION BY RANGE (id);
SELECT bloom_register_create(model, 'parted', 'id') FROM fitted;
CREATE TABLE parent (LIKE people INCLUDING ALL);
CREATE TABLE child () INHERITS (parent);
SELECT bloom_register_create(model, 'parent', 'id') FROM fitted;
CREATE TABLE lacking (id int PRIMARY KEY, given text, surname text, dob date, city text);
SELECT bloom_register_create(model, 'lacking', 'id') FROM fitted;
CREATE TEMPORARY TABLE passing (LIKE people INCLUDING ALL);
SELECT bloom_register_create(model, 'passing', 'id') FROM fitted;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT bloom_register_create(model, 'people', 'id') FROM fitted;
ROLLBACK;
-- A register, and what it finds: for every record exactly the pairs of the batch by these searches.
SELECT bloom_register_create(model, 'people', 'id') FROM fitted;
SELECT bloom_register_create(model, 'people', 'id') FROM fitted;
\d people
SELECT relation, key, records, types, keys, options FROM people_register;
CREATE FUNCTION matches() RETURNS TABLE (a text, b text, bits float8, probability float8) LANGUAGE sql AS $$
    SELECT least(p.id::text, m.key), greatest(p.id::text, m.key), m.bits, m.probability FROM people AS p, bloom_register_match('people_register', to_jsonb(p), 0, NULL) AS m $$;
CREATE FUNCTION batch() RETURNS TABLE (a text, b text, bits float8, probability float8) LANGUAGE sql AS $$
    SELECT least(d.a, d.b), greatest(d.a, d.b), d.bits, d.probability FROM people_register AS r, bloom_model_duplicates('people', 'id', r.model, 0, options => '{"force": true}') AS d $$;
SELECT count(*) > 40000 AS many, count(*) FILTER (WHERE n <> 2) AS of_one_side FROM (SELECT count(*) AS n FROM matches() GROUP BY a, b) AS pair;
SELECT count(*) AS differ FROM (SELECT DISTINCT * FROM matches()) AS m FULL JOIN batch() AS d USING (a, b) WHERE m.bits IS DISTINCT FROM d.bits OR m.probability IS DISTINCT FROM d.probability;
SELECT * FROM bloom_register_check('people_register');
-- One record, as JSON, as text, and as a row.
SELECT key, round(probability::numeric, 6) AS probability, round(bits::numeric, 2) AS bits, search FROM bloom_register_match('people_register', '{"given": "Emil", "surname": "Kowalskiman", "dob": "1954-11-16"}');
SELECT key, search FROM bloom_register_match('people_register', (SELECT to_jsonb(p) FROM people AS p WHERE id = 7));
SELECT m.key, search FROM people AS p, bloom_register_match('people_register', p) AS m WHERE p.id = 7;
SELECT count(*) FROM bloom_register_match('people_register', '{"given": "Emil", "surname": "Kowalskimann"}', 0, 3);
SELECT count(*) FROM bloom_register_match('people_register', '{}', 0, NULL);
-- Not one member is a column.
SET client_min_messages = notice;
SELECT count(*) FROM bloom_register_match('people_register', '{"Given": "Emil", "last name": "Kowalski", "more": {"surname": "Kowalski"}}', 0, NULL);
SET client_min_messages = warning;
-- However many there are, the session does not remember that they are none.
SELECT sum(used_bytes) AS used FROM pg_backend_memory_contexts WHERE name = 'CacheMemoryContext' \gset
SELECT count(*) FROM bloom_register_match('people_register', (SELECT jsonb_object_agg('member' || i, i) FROM generate_series(1, 100000) AS i), 0, NULL);
SELECT sum(used_bytes) - :used < 4000000 AS forgotten FROM pg_backend_memory_contexts WHERE name = 'CacheMemoryContext';
SELECT round(bits::numeric, 2) AS bits, left(finding, 70) AS finding, reason FROM bloom_register_why('people_register', '7', '10007');
SELECT reason, finding FROM bloom_register_why('people_register', '221', '30221') WHERE bits IS NULL;
BEGIN;
UPDATE people SET surname = ' ' WHERE id IN (7, 10007);
SELECT finding FROM bloom_register_why('people_register', '7', '10007') WHERE reason LIKE 'search 0%';
ROLLBACK;
-- Bad input.
SELECT * FROM bloom_register_match('people_register', '[]');
SELECT * FROM bloom_register_match('people_register', 'Emil');
SELECT * FROM bloom_register_match('people_register', NULL::jsonb);
SELECT * FROM bloom_register_match(NULL, '{}');
SELECT * FROM bloom_register_match('people_register', '{"given": ["Emil"]}');
SELECT * FROM bloom_register_match('people_register', '{}', 1.5);
SELECT * FROM bloom_register_match('people_register', '{}', 0.5, 0);
SELECT * FROM bloom_register_match('people', '{}');
SELECT * FROM bloom_register_match('pg_class', '{}');
SELECT * FROM bloom_register_match(0, '{}');
SELECT * FROM bloom_register_why('people_register', '7', '8888888');
SELECT * FROM bloom_register_why('people_register', '7', 'x');
SELECT bloom_register_drop('people');
CREATE TRIGGER not_after BEFORE INSERT ON lacking FOR EACH ROW EXECUTE FUNCTION bloom_register_keep('people_register');
INSERT INTO lacking VALUES (1);
DROP TRIGGER not_after ON lacking;
CREATE TRIGGER of_another AFTER INSERT ON lacking FOR EACH ROW EXECUTE FUNCTION bloom_register_keep('people_register');
INSERT INTO lacking VALUES (1);
DROP TRIGGER of_another ON lacking;
CREATE TRIGGER unknown AFTER INSERT ON lacking FOR EACH ROW EXECUTE FUNCTION bloom_register_keep('nowhere');
INSERT INTO lacking VALUES (1);
DROP TRIGGER unknown ON lacking;
CREATE TRIGGER nameless AFTER INSERT ON lacking FOR EACH ROW EXECUTE FUNCTION bloom_register_keep();
INSERT INTO lacking VALUES (1);
DROP TRIGGER nameless ON lacking;
SELECT bloom_register_keep();
-- Whatever is written, the register has what a new one would have, but for blocks that were closed.
CREATE FUNCTION state(OUT missing bigint, OUT surplus bigint, OUT large bigint) LANGUAGE sql AS $$
    SELECT max(number) FILTER (WHERE finding = 'keys missing'), max(number) FILTER (WHERE finding = 'keys of no record'), max(number) FILTER (WHERE finding = 'blocks open that are too large')
    FROM bloom_register_check('people_register') $$;
INSERT INTO people SELECT id + 50000, given, surname, dob, 'Ulm', phone FROM people WHERE id < 200;
UPDATE people SET surname = surname || 'x' WHERE id % 7 = 0;
UPDATE people SET city = city WHERE id % 3 = 0;
UPDATE people SET id = id + 100000 WHERE id % 11 = 0;
UPDATE people SET dob = NULL, phone = NULL WHERE id % 17 = 0;
DELETE FROM people WHERE id % 13 = 0;
SELECT * FROM state();
COPY people FROM stdin;
900001	Emil	Kowalskiman	1954-11-16	Bonn	0301733103
900002	\N	\N	\N	\N	\N
\.
INSERT INTO people SELECT * FROM people WHERE id = 900001 ON CONFLICT (id) DO UPDATE SET given = 'Emilia';
BEGIN;
SAVEPOINT s;
INSERT INTO people SELECT id + 2000000, given, surname, dob, city, phone FROM people;
ROLLBACK TO s;
UPDATE people SET given = surname, surname = given WHERE id < 50;
COMMIT;
SET session_replication_role = replica;
UPDATE people SET surname = 'Ohnsorg' WHERE id = 900002;
RESET session_replication_role;
WITH gone AS (DELETE FROM people WHERE id IN (1, 2, 3) RETURNING *) INSERT INTO people SELECT id, surname, given, dob, city, phone FROM gone;
SELECT * FROM state();
SELECT key FROM bloom_register_match('people_register', '{"given": "Emilia", "surname": "Kowalskiman", "dob": "1954-11-16", "phone": "0301733103"}');
-- An UPDATE that changes nothing that the model reads writes nothing.
CREATE FUNCTION versions() RETURNS text LANGUAGE sql AS $$ SELECT md5(string_agg(ctid::text || key || xmin, ' ' ORDER BY ctid)) FROM people_register_keys $$;
SELECT versions() AS before \gset
ALTER TABLE people ADD remark text;
UPDATE people SET remark = 'seen';
SELECT versions() = :'before' AS same;
-- A block closes when it has more records than its search allows, and stays closed until the register is mended.
SELECT finding, number > 0 AS some FROM bloom_register_check('people_register', repair => true) WHERE finding IN ('blocks closed that a new register has open', 'pairs in these');
CREATE FUNCTION found(id int) RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM bloom_register_match('people_register', (SELECT to_jsonb(p) - 'given' - 'surname' - 'city' - 'phone' FROM people AS p WHERE p.id = $1), 0, NULL) $$;
INSERT INTO people SELECT 950000 + i, 'G' || i, 'S' || i, '2024-02-29' FROM generate_series(1, 5) AS i;
SELECT found(950001);
INSERT INTO people VALUES (950006, 'G6', 'S6', '2024-02-29');
SELECT found(950001);
SELECT reason, finding FROM bloom_register_why('people_register', '950001', '950006') WHERE reason LIKE 'search 1%';
DELETE FROM people WHERE id = 950006;
SELECT found(950001);
SELECT finding, number FROM bloom_register_check('people_register', repair => true) WHERE finding IN ('blocks closed that a new register has open', 'pairs in these');
SELECT found(950001);
-- The same within one statement of many rows, and when it is rolled back.
BEGIN;
INSERT INTO people SELECT 960000 + i, 'G' || i, 'S' || i, '2024-02-29' FROM generate_series(1, 20) AS i;
SELECT found(950001);
SELECT * FROM state();
ROLLBACK;
SELECT found(950001);
-- TRUNCATE.
BEGIN;
TRUNCATE people;
SELECT count(*) FROM people_register_keys;
INSERT INTO people VALUES (1, 'Emil', 'Kowalski', '1954-11-16', 'Bonn', '0301733103');
SELECT key FROM bloom_register_match('people_register', '{"given": "Emil", "surname": "Kowalski", "dob": "1954-11-16", "phone": "0301733103"}', 0);
ROLLBACK;
SELECT * FROM state();
-- A trigger that was disabled: rows may be missing, so nothing is said until the register is mended.
ALTER TABLE people DISABLE TRIGGER ALL;
INSERT INTO people VALUES (970000, 'Hans', 'Unbemerkt', '1954-11-16', 'Bonn', '0301733103');
SELECT * FROM bloom_register_match('people_register', '{"surname": "Unbemerkt"}', 0);
ALTER TABLE people ENABLE TRIGGER ALL;
SELECT * FROM bloom_register_match('people_register', '{"surname": "Unbemerkt"}', 0);
SELECT finding, number > 0 AS some FROM bloom_register_check('people_register', repair => true) WHERE finding IN ('keys missing', 'records repaired');
SELECT count(*) > 0 AS some FROM bloom_register_match('people_register', '{"surname": "Unbemerkt", "given": "Hans"}', 0);
-- Columns that are renamed, dropped, or of another type.
ALTER TABLE people RENAME surname TO family_name;
SELECT * FROM bloom_register_match('people_register', '{"surname": "Unbemerkt"}', 0);
INSERT INTO people (id) VALUES (970001);
ALTER TABLE people RENAME family_name TO surname;
BEGIN;
ALTER TABLE people ALTER city TYPE varchar(40);
SELECT * FROM bloom_register_match('people_register', '{"surname": "Unbemerkt"}', 0);
ROLLBACK;
BEGIN;
ALTER TABLE people DROP city;
INSERT INTO people (id) VALUES (970001);
ROLLBACK;
-- Names are not what a register goes by, but for its own.
BEGIN;
ALTER TABLE people RENAME TO persons;
ALTER TABLE people_register_keys RENAME TO other_keys;
INSERT INTO persons VALUES (970002, 'Hans', 'Umbenannt', '1954-11-16', 'Bonn', '0301733103');
SELECT key FROM bloom_register_match('people_register', '{"given": "Hans", "surname": "Umbenannt", "dob": "1954-11-16", "phone": "0301733103"}', 0, 1);
ALTER TABLE people_register RENAME TO other;
SAVEPOINT s;
INSERT INTO persons VALUES (970003, 'Hans', 'Umbenannt', '1954-11-16', 'Bonn', '0301733103');
ROLLBACK TO s;
SELECT key FROM bloom_register_match('other', '{"surname": "Umbenannt"}', 0, 1);
ROLLBACK TO s;
SELECT number FROM bloom_register_check('other', repair => true) WHERE finding = 'keys missing';
INSERT INTO persons VALUES (970003, 'Hans', 'Umbenannt', '1954-11-16', 'Bonn', '0301733103');
SELECT key FROM bloom_register_match('other', '{"given": "Hans", "surname": "Umbenannt", "dob": "1954-11-16", "phone": "0301733103"}', 0, 2);
SELECT tgname FROM pg_trigger WHERE tgrelid = 'persons'::regclass ORDER BY 1;
ROLLBACK;
-- NULL and repeated keys, in a table that has lost its constraint.
BEGIN;
ALTER TABLE people DROP CONSTRAINT people_pkey, ALTER id DROP NOT NULL;
INSERT INTO people (id, given) VALUES (NULL, 'Hans');
ROLLBACK;
-- A trigger that enters a row of the same key again while it is deleted, or gets another key.
CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO people VALUES (OLD.*); RETURN NULL; END $$;
CREATE TRIGGER aaa AFTER DELETE ON people FOR EACH ROW WHEN (OLD.id = 14) EXECUTE FUNCTION again();
CREATE TRIGGER aab AFTER UPDATE OF id ON people FOR EACH ROW WHEN (OLD.id = 15) EXECUTE FUNCTION again();
DELETE FROM people WHERE id = 14;
UPDATE people SET id = 990015 WHERE id = 15;
SELECT id FROM people WHERE id IN (14, 15, 990015) ORDER BY 1;
SELECT * FROM state();
DROP TRIGGER aaa ON people;
DROP TRIGGER aab ON people;
-- Two rows in a register, and none.
BEGIN;
INSERT INTO people_register SELECT * FROM people_register;
SAVEPOINT s;
SELECT bloom_register_drop('people_register');
ROLLBACK TO s;
SELECT * FROM bloom_register_match('people_register', '{}');
ROLLBACK;
BEGIN;
DELETE FROM people_register;
SAVEPOINT s;
INSERT INTO people (id) VALUES (990100);
ROLLBACK TO s;
SELECT bloom_register_drop('people_register');
INSERT INTO people (id) VALUES (990100);
SELECT to_regclass('people_register_keys');
ROLLBACK;
-- An index that would need the executor; a schema that is renamed; an owner who changes.
BEGIN;
CREATE INDEX ON people_register_keys ((key % 10));
INSERT INTO people (id) VALUES (990100);
ROLLBACK;
BEGIN;
ALTER SCHEMA register RENAME TO renamed;
INSERT INTO renamed.people (id, given, surname, dob) VALUES (990100, 'Emil', 'Umgezogen', '1931-01-01');
SELECT key FROM bloom_register_match('renamed.people_register', '{"given": "Emil", "surname": "Umgezogen", "dob": "1931-01-01"}', 0, 1);
ROLLBACK;
-- Rights: writers need none on the register; readers need those on the table, and see no row that they may not see.
CREATE ROLE regress_register_clerk;
CREATE ROLE regress_register_other;
GRANT USAGE ON SCHEMA register TO regress_register_clerk, regress_register_other;
GRANT INSERT, UPDATE, DELETE, SELECT ON people TO regress_register_clerk;
GRANT INSERT ON people TO regress_register_other;
SET ROLE regress_register_clerk;
INSERT INTO people VALUES (980000, 'Rosa', 'Schreiber', '1960-01-01', 'Bonn', '0309999999');
UPDATE people SET given = 'Rosalie' WHERE id = 980000;
SELECT key FROM bloom_register_match('people_register', '{"given": "Rosalie", "surname": "Schreiber", "dob": "1960-01-01", "phone": "0309999999"}', 0, 1);
SELECT * FROM people_register;
SELECT * FROM people_register_keys;
SELECT * FROM bloom_register_check('people_register');
SELECT bloom_register_drop('people_register');
SELECT bloom_register_create(model, 'people', 'id', 'mine') FROM (SELECT '{}'::jsonb AS model) AS m;
-- A table that looks like a register, and names what belongs to another user.
RESET ROLE;
CREATE TABLE treasure (key bigint, id int);
CREATE INDEX ON treasure (key);
CREATE TABLE forged AS TABLE people_register;
ALTER TABLE forged OWNER TO regress_register_other;
GRANT TRIGGER ON people TO regress_register_other;
SET ROLE regress_register_other;
UPDATE forged SET keys = 'treasure';
CREATE TRIGGER forger AFTER INSERT ON people FOR EACH ROW EXECUTE FUNCTION bloom_register_keep('forged');
INSERT INTO people VALUES (980003, 'Rosa', 'Schreiber', '1960-01-02', 'Bonn', '0309999998');
RESET ROLE;
DROP TRIGGER forger ON people;
SET ROLE regress_register_other;
INSERT INTO people VALUES (980001, 'Rosa', 'Schreiber', '1960-01-02', 'Bonn', '0309999998');
SELECT * FROM bloom_register_match('people_register', '{}');
SELECT * FROM bloom_register_why('people_register', '1', '2');
RESET ROLE;
ALTER TABLE people ENABLE ROW LEVEL SECURITY;
CREATE POLICY those ON people TO regress_register_clerk USING (id < 980000) WITH CHECK (true);
SET ROLE regress_register_clerk;
SELECT count(*) FROM bloom_register_match('people_register', '{"given": "Rosalie", "surname": "Schreiber", "dob": "1960-01-01", "phone": "0309999999"}', 0.5);
SELECT count(*) FROM bloom_register_why('people_register', '980000', '980001');
INSERT INTO people VALUES (980002, 'Rosa', 'Schreiber', '1960-01-03', 'Bonn', '0309999997');
RESET ROLE;
SELECT * FROM state();
ALTER TABLE people DISABLE ROW LEVEL SECURITY;
-- Keys of other types, and a register of a name of its own, beside the first one.
CREATE TABLE texts AS SELECT 'K-' || id AS code, gen_random_uuid() AS number, given, surname, dob, city, phone FROM people;
ALTER TABLE texts ALTER code TYPE varchar, ADD PRIMARY KEY (code), ADD UNIQUE (number);
SELECT bloom_register_create(model, 'texts', 'code') FROM fitted;
SELECT bloom_register_create(model, 'texts', 'number', 'by number', '{"records": 5000}') FROM fitted;
SELECT records FROM "by number";
SELECT x.n = y.n AS same, x.n > 1000 AS many FROM (SELECT count(*) AS n FROM texts AS t, bloom_register_match('texts_register', t, 0) AS m) AS x, (SELECT count(*) AS n FROM texts AS t, bloom_register_match('"by number"', t, 0) AS m) AS y;
UPDATE texts SET code = code || 'x', number = gen_random_uuid() WHERE code LIKE '%7';
SELECT finding, number FROM bloom_register_check('texts_register') WHERE finding LIKE 'keys %';
SELECT finding, number FROM bloom_register_check('"by number"') WHERE finding LIKE 'keys %';
CREATE DOMAIN id AS int CHECK (VALUE > 0);
CREATE TABLE domains (id id PRIMARY KEY, given text, surname text, dob date, city text, phone text);
SELECT bloom_register_create(model, 'domains', 'id') FROM fitted;
INSERT INTO domains SELECT id, given, surname, dob, city, phone FROM people WHERE id % 10000 < 20;
SELECT count(*) > 10 AS some FROM domains AS d, bloom_register_match('domains_register', d);
SELECT number FROM bloom_register_check('domains_register') WHERE finding LIKE 'keys %';
-- Who may read all of a table may read the row of its register, and nobody else.
GRANT SELECT ON domains TO regress_register_clerk;
GRANT SELECT (id) ON domains TO regress_register_other;
SELECT bloom_register_create(model, 'domains', 'id', 'second') FROM fitted;
SELECT grantee, has_table_privilege(grantee, 'second', 'SELECT') AS row, has_table_privilege(grantee, 'second_keys', 'SELECT') AS keys FROM unnest('{regress_register_clerk,regress_register_other}'::text[]) AS grantee;
CREATE TABLE padded (id char(5) PRIMARY KEY, given text, surname text, dob date, city text, phone text);
INSERT INTO padded SELECT 'a' || id, given, surname, dob, city, phone FROM people WHERE id < 300;
INSERT INTO padded SELECT 'b' || id, given, surname, dob, city, phone FROM people WHERE id < 300;
SELECT bloom_register_create(model, 'padded', 'id') FROM fitted;
SELECT count(*) > 200 AS both_ways FROM padded AS p, bloom_register_match('padded_register', p, 0.9) AS m WHERE rtrim(substr(m.key, 2)) = substr(p.id, 2);
SELECT reason, bits > 0 AS for FROM bloom_register_why('padded_register', 'a7', 'b7') LIMIT 1;
-- Whoever has the key that a record gives is not found by it, however the record and the session write that.
CREATE TABLE moments (id timestamptz PRIMARY KEY, given text, surname text, dob date, city text, phone text);
SELECT bloom_register_create(model, 'moments', 'id') FROM fitted;
INSERT INTO moments VALUES ('2020-01-05 12:00+00', 'Emil', 'Einmalig', '1931-01-01'), ('2020-01-06 12:00+00', 'Emil', 'Einmalig', '1931-01-01');
BEGIN;
SET LOCAL TimeZone = 'Asia/Tokyo';
SET LOCAL DateStyle = 'German';
SELECT m.id::date AS own, left(o.key, 10) AS other FROM moments AS m, bloom_register_match('moments_register', m) AS o ORDER BY 1;
SELECT left(key, 10) AS key FROM bloom_register_match('moments_register', '{"id": "2020-01-05T14:00:00+02:00", "given": "Emil", "surname": "Einmalig", "dob": "1931-01-01"}'::jsonb);
ROLLBACK;
INSERT INTO padded VALUES ('c', 'Emil', 'Einmalig', '1931-01-01'), ('d', 'Emil', 'Einmalig', '1931-01-01');
SELECT own, key FROM unnest('{c,"c    ","c        ",cccccc,null}'::text[]) AS own, bloom_register_match('padded_register', jsonb_build_object('id', own, 'given', 'Emil', 'surname', 'Einmalig', 'dob', '1931-01-01')) ORDER BY 1, 2;
INSERT INTO domains VALUES (55, 'Emil', 'Einmalig', '1931-01-01');
SELECT own, count(key) FROM unnest('{"55","55.0","\"55.00\"","\"055\"","\" 55\"","55.5","-55","99999999999","null","\"new\"","[55]"}'::jsonb[]) AS own LEFT JOIN LATERAL bloom_register_match('domains_register', jsonb_build_object('id', own, 'given', 'Emil', 'surname', 'Einmalig', 'dob', '1931-01-01')) ON true GROUP BY own ORDER BY own::text;
-- Who asks by JSON learns what is not compared, once a statement; rows have columns of their own.
SET client_min_messages = notice;
SELECT count(key) FROM generate_series(1, 3), bloom_register_match('domains_register', '{"givn": "Emil", "surname": "Einmalig", "dob": "1. Jan 1931"}'::jsonb);
SELECT count(key) FROM bloom_register_match('domains_register', ROW('Emil', 'Einmalig', '1. Jan 1931'));
SELECT count(key) FROM (SELECT 'Emil' AS given, 'Einmalig' AS surname, '1. Jan 1931' AS dob, 1 AS other) AS f, bloom_register_match('domains_register', f);
SET client_min_messages = warning;
-- A key of a collation of its own is compared by its bytes.
CREATE TABLE sorted (id text COLLATE "POSIX" PRIMARY KEY, given text, surname text, dob date, city text, phone text);
INSERT INTO sorted SELECT 'ä' || id, given, surname, dob, city, phone FROM people WHERE id < 300;
SELECT bloom_register_create(model, 'sorted', 'id') FROM fitted;
UPDATE sorted SET id = 'B' || id WHERE id < 'ä2';
SELECT finding, number FROM bloom_register_check('sorted_register', true) WHERE finding LIKE 'keys %' OR finding LIKE 'triggers %';
CREATE TABLE arrays (id int[] PRIMARY KEY, given text, surname text, dob date, city text, phone text);
SELECT bloom_register_create(model, 'arrays', 'id') FROM fitted;
CREATE TABLE floats (id float8 PRIMARY KEY, given text, surname text, dob date, city text, phone text);
INSERT INTO floats VALUES (1e-7, 'Emil', 'Einmalig', '1931-01-01'), (2e-7, 'Emil', 'Einmalig', '1931-01-01');
SELECT bloom_register_create(model, 'floats', 'id') FROM fitted;
ALTER TABLE floats ALTER id TYPE numeric;
SELECT bloom_register_create(model, 'floats', 'id') FROM fitted;
ALTER TABLE floats ALTER id TYPE numeric(10, 7);
SELECT bloom_register_create(model, 'floats', 'id') FROM fitted;
SELECT f.id, m.key FROM floats AS f, bloom_register_match('floats_register', f, 0) AS m ORDER BY 1;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT * FROM bloom_register_check('floats_register', true);
ROLLBACK;
-- An empty table, an unlogged one.
CREATE UNLOGGED TABLE fresh (LIKE people INCLUDING ALL);
SELECT bloom_register_create(model, 'fresh', 'id') FROM fitted;
INSERT INTO fresh SELECT * FROM people WHERE id < 100;
SELECT finding, number FROM bloom_register_check('fresh_register') WHERE finding LIKE 'keys %';
SELECT relname, relpersistence FROM pg_class WHERE relname LIKE 'fresh\_register%' AND relkind = 'r' ORDER BY 1;
-- The end: with the register go its tables and triggers.
SELECT bloom_register_drop('people_register');
\d people
SELECT relname FROM pg_class WHERE relname LIKE 'people\_register%';
DROP TABLE fresh;
SELECT * FROM bloom_register_match('fresh_register', '{}');
SELECT bloom_register_drop('fresh_register');
DROP TABLE texts_register;
INSERT INTO texts (code) VALUES ('x');
DROP SCHEMA register CASCADE;
DROP ROLE regress_register_clerk, regress_register_other;
