-- The guard by the model of a register.
CREATE SCHEMA register_guard;
SET client_min_messages = warning;
SET search_path = register_guard, public;
CREATE TABLE person AS SELECT i AS id, initcap(left(word, 6)) AS given, initcap(substr(word, 7, 9)) AS surname, date '1940-01-01' + (i * 7919) % 25000 AS dob,
    (ARRAY['Berlin','Bonn','Köln','Graz','Wien'])[1 + (i * 3) % 5] AS city
    FROM (SELECT i, translate(md5('person ' || i), '0123456789', 'ghijklmnop') AS word FROM generate_series(1, 1000) AS i) AS of_word;
INSERT INTO person SELECT id + 10000, given, overlay(surname PLACING 'x' FROM 3 FOR 1), dob, 'Linz' FROM person WHERE id <= 60;
INSERT INTO person SELECT id + 20000, given, surname, dob, city FROM person WHERE id BETWEEN 61 AND 120;
INSERT INTO person SELECT id + 30000, given, surname, dob + 1, 'Linz' FROM person WHERE id BETWEEN 121 AND 150;
ALTER TABLE person ADD PRIMARY KEY (id);
CREATE TABLE fitted AS SELECT bloom_model_fit('person', 'id', '{given:name,surname:name,dob:date,city}', '{given,dob}') AS model;
SELECT bloom_register_create(model, 'person', 'id') FROM fitted;
-- reject
SELECT bloom_register_guard('person_register', 0.9, 'reject');
SELECT given, surname, dob FROM person WHERE id = 500 \gset
INSERT INTO person VALUES (1, 'x', 'y');
INSERT INTO person VALUES (50001, :'given', :'surname' || 's', :'dob', 'Ulm');
INSERT INTO person VALUES (50002, :'given', NULL, NULL, 'Ulm'), (50003, 'Rosalinde', 'Unbekannt', '1999-12-31', 'Graz'), (50004, NULL, NULL, NULL, NULL);
UPDATE person SET given = :'given', surname = :'surname', dob = :'dob' WHERE id = 50003;
UPDATE person SET city = 'Ulm' WHERE id = 50003;
UPDATE person SET city = 'Ulm' WHERE id = 20061;
INSERT INTO person VALUES (50005, 'Hugo', 'Einmalig', '1899-12-31', 'Graz'), (50006, 'Hugo', 'Einmalich', '1899-12-31', 'Graz');
INSERT INTO person SELECT 60000 + id, given || 'aa', surname || 'bb', dob + 4000, city FROM person WHERE id BETWEEN 200 AND 300;
COPY person FROM stdin;
50007	Rosalinde	Unbekant	1999-12-31	Graz
\.
SELECT count(*) FROM person WHERE id BETWEEN 50001 AND 50010;
SELECT finding, number FROM bloom_register_check('person_register') WHERE finding LIKE 'keys %';
-- Whatever the triggers are called, and a trigger that changes the row once more.
CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF pg_trigger_depth() = 1 THEN UPDATE person SET surname = NEW.surname || 'x', city = 'Aachen' WHERE id = NEW.id; END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER aaa_first AFTER INSERT ON person FOR EACH ROW EXECUTE FUNCTION change();
INSERT INTO person VALUES (50011, 'Wolfhard', 'Siebenschein', '1911-01-01', 'Graz');
SELECT * FROM person WHERE id = 50011;
SELECT finding, number FROM bloom_register_check('person_register') WHERE finding LIKE 'keys %';
INSERT INTO person VALUES (50012, 'Wolfhard', 'Siebenscheinx', '1911-01-01', 'Graz');
ALTER TRIGGER aaa_first ON person RENAME TO zzz_last;
INSERT INTO person VALUES (50013, 'Kunigunde', 'Achtelfass', '1922-02-02', 'Graz');
SELECT finding, number FROM bloom_register_check('person_register') WHERE finding LIKE 'keys %';
INSERT INTO person VALUES (50014, 'Kunigunde', 'Achtelfas', '1922-02-02', 'Graz');
DROP TRIGGER zzz_last ON person;
CREATE FUNCTION remove() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DELETE FROM person WHERE id = NEW.id; RETURN NULL; END $$;
CREATE TRIGGER aaa_first AFTER INSERT ON person FOR EACH ROW EXECUTE FUNCTION remove();
INSERT INTO person VALUES (50015, 'Adelgunde', 'Verschwunden', '1933-03-03', 'Graz');
SELECT finding, number FROM bloom_register_check('person_register') WHERE finding LIKE 'keys %';
DROP TRIGGER aaa_first ON person;
-- Rows that are there already do not hinder an UPDATE of other columns, nor are they reported.
ALTER TABLE person ADD remark text;
UPDATE person SET remark = 'seen';
-- Who may not read the table learns no more than that.
CREATE ROLE regress_register_typist;
GRANT USAGE ON SCHEMA register_guard TO regress_register_typist;
GRANT INSERT ON person TO regress_register_typist;
SET ROLE regress_register_typist;
INSERT INTO person VALUES (50020, :'given', :'surname' || 's', :'dob', 'Ulm');
INSERT INTO person VALUES (50021, 'Leopoldine', 'Zwischenschritt', '1944-04-04', 'Graz');
RESET ROLE;
DROP TRIGGER person_id_guard ON person;
-- warn, with a message of one's own
SELECT bloom_register_guard('person_register', 0.9, 'warn', 'message', 'look twice');
INSERT INTO person VALUES (50001, :'given', :'surname' || 's', :'dob', 'Ulm');
DELETE FROM person WHERE id = 50001;
DROP TRIGGER person_id_guard ON person;
-- What a row had in common with others before it was changed counts no more, however little is enough.
SELECT bloom_register_guard('person_register', 1e-300, 'warn');
INSERT INTO person VALUES (50060, 'Zacharias', 'Obermoser', '1866-06-06', 'Graz');
INSERT INTO person VALUES (50061, 'Zacharias', 'Obermoser', '1866-06-06', 'Graz');
UPDATE person SET given = 'Ute', surname = 'Pfluegl', dob = '1877-07-07', city = 'Bern' WHERE id = 50061;
INSERT INTO person VALUES (50062, 'Zacharias', 'Obermoser', '1866-06-06', 'Graz');
DELETE FROM person WHERE id IN (50060, 50061, 50062);
DROP TRIGGER person_id_guard ON person;
-- flag, with decisions
CREATE TABLE review (key text, duplicate text, similarity float8, found_at timestamptz, PRIMARY KEY (key, duplicate));
SELECT bloom_decisions_create('decided');
SELECT bloom_register_guard('person_register', 0.9, 'flag', 'review', 'review', 'decisions', 'decided');
INSERT INTO person VALUES (50001, :'given', :'surname' || 's', :'dob', 'Ulm');
SELECT key, duplicate, similarity > 0.9 AS is_match FROM review;
INSERT INTO decided (a, b, decision) VALUES ('50030', '500', 'different'), ('50030', '50001', 'different');
INSERT INTO person VALUES (50030, :'given', :'surname' || 's', :'dob', 'Ulm');
SELECT count(*) FROM review;
DROP TRIGGER person_id_guard ON person;
-- skip
CREATE TABLE skipped (record jsonb, duplicate text, similarity float8, found_at timestamptz, who text);
SELECT bloom_register_guard('person_register', 0.9, 'skip', 'skipped', 'skipped');
INSERT INTO person VALUES (50040, :'given', :'surname', :'dob', 'Ulm'), (50041, 'Ottokar', 'Nirgendwo', '1955-05-05', 'Graz');
SELECT record ->> 'id' AS id, duplicate, similarity > 0.9 AS is_match FROM skipped;
-- Rows of one statement find each other, also those of COPY.
INSERT INTO person SELECT 50050 + i, 'Roswitha', 'Wagenknecht', '1971-03-04', 'Ulm' FROM generate_series(1, 4) AS i;
COPY person (id, given, surname, dob, city) FROM stdin (FORMAT csv);
50060,Roswitha,Wagenknecht,1971-03-04,Ulm
50061,Waldemar,Siebenschein,1933-01-02,Wien
50062,Waldemar,Siebenschein,1933-01-02,Wien
\.
INSERT INTO person SELECT 50070 + i, 'Adelgunde', 'Hinterleitner', '1949-11-12', 'Graz' FROM generate_series(1, 2) AS i ON CONFLICT (id) DO NOTHING;
SELECT id, given, surname FROM person WHERE id BETWEEN 50050 AND 50079 ORDER BY id;
SELECT finding, number FROM bloom_register_check('person_register') WHERE finding LIKE 'keys %';
-- The table is a partition: rows that an UPDATE has let pass are remembered by values of all types.
CREATE TABLE everybody (LIKE person) PARTITION BY RANGE (id);
ALTER TABLE everybody ATTACH PARTITION person FOR VALUES FROM (0) TO (1000000);
UPDATE person SET dob = '1955-05-06', surname = 'Nirgendwohin' WHERE id = 50041;
UPDATE person SET dob = NULL WHERE id = 50041;
UPDATE person SET dob = '1955-05-05', surname = 'Nirgendwo' WHERE id = 50041;
INSERT INTO everybody (id, given, surname, dob, city) VALUES (50083, 'Ottokar', 'Nirgendwo', '1955-05-05', 'Graz');
ALTER TABLE everybody DETACH PARTITION person;
SELECT id, surname, dob FROM person WHERE id IN (50041, 50083);
-- The key gets another type behind a row that was let pass.
BEGIN;
INSERT INTO person VALUES (50080, 'Ottokar', 'Nirgendwo', '1955-05-05', 'Graz');
ALTER TABLE person ALTER id TYPE text;
ALTER TABLE person_register_keys ALTER id TYPE text;
UPDATE person_register SET types = (SELECT array_agg(CASE WHEN n = 1 THEN 'text' ELSE t END ORDER BY n) FROM unnest(types) WITH ORDINALITY AS u (t, n));
INSERT INTO person VALUES ('K-81', 'Ottokar', 'Nirgendwoher', '1955-05-05', 'Graz');
SELECT id, surname FROM person WHERE given = 'Ottokar' AND dob = '1955-05-05' ORDER BY id;
ROLLBACK;
-- A register that is dropped under its guard.
SELECT bloom_register_drop('person_register');
INSERT INTO person VALUES (50042, 'Ottokar', 'Nirgendwo', '1955-05-05', 'Graz');
DROP TRIGGER person_id_guard ON person;
-- What cannot be.
SELECT bloom_register_create(model, 'person', 'id') FROM fitted;
SELECT bloom_register_guard('person_register', 0.9, 'reject', 'within', 'city');
SELECT bloom_register_guard('person_register', 0.9, 'reject', 'keep', '0.5');
SELECT bloom_register_guard('person_register', 0.9, 'reject', 'blocklist', 'review');
SELECT bloom_register_guard('person_register', 90, 'reject');
SELECT bloom_register_guard('person_register', 0.9, 'refuse');
SELECT bloom_register_guard('person_register', 0.9, 'reject', 'colour', 'red');
SELECT bloom_register_guard('person_register', 0.9, 'reject', 'message');
SELECT bloom_register_guard('person_register', 0.9, 'reject', 'message', 'once', 'message', 'twice');
SELECT bloom_register_guard('person_register', 0.9, 'reject', 'margin', '0.1');
SELECT bloom_register_guard('person_register', 0.9, 'reject', 'register', 'person_register');
SELECT bloom_register_guard('person_register', NULL, 'reject');
SELECT bloom_register_guard('person', 0.9, 'reject');
SELECT bloom_guard_create('person', 'id', 0.9, 'reject', 'register', 'review');
ALTER TABLE person ADD other int UNIQUE, ADD code text UNIQUE;
CREATE TRIGGER by_other AFTER INSERT OR UPDATE ON person FOR EACH ROW EXECUTE FUNCTION bloom_guard('other', '0.9', 'reject', 'register', 'person_register');
INSERT INTO person (id, given, surname) VALUES (50090, 'Ottokar', 'Nirgendwo');
DROP TRIGGER by_other ON person;
CREATE TRIGGER by_code AFTER INSERT OR UPDATE ON person FOR EACH ROW EXECUTE FUNCTION bloom_guard('code', '0.9', 'reject', 'register', 'person_register');
INSERT INTO person (id, given, surname) VALUES (50090, 'Ottokar', 'Nirgendwo');
DROP TRIGGER by_code ON person;
-- The key that a register says it has may be another one than that which the guard was made for.
CREATE TRIGGER by_key AFTER INSERT OR UPDATE ON person FOR EACH ROW EXECUTE FUNCTION bloom_guard('id', '0.9', 'reject', 'register', 'person_register');
BEGIN;
INSERT INTO person (id, given, surname) VALUES (50090, 'Leopoldine', 'Wagenschmied');
ALTER TABLE person_register_keys ALTER id TYPE text;
UPDATE person_register SET key = 'code', types = (SELECT array_agg(CASE WHEN n = 1 THEN 'text' ELSE t END ORDER BY n) FROM unnest(types) WITH ORDINALITY AS u (t, n));
INSERT INTO person (id, given, surname, code) VALUES (50091, 'Ottokar', 'Nirgendwo', 'x');
ROLLBACK;
DROP TRIGGER by_key ON person;
-- Triggers that look like the register's own.
CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER aaa AFTER INSERT OR UPDATE OR DELETE ON person FOR EACH ROW EXECUTE FUNCTION audit('person_register');
CREATE TRIGGER aab AFTER INSERT ON person FOR EACH ROW EXECUTE FUNCTION bloom_register_keep('person_register');
SELECT count(*) FROM bloom_register_match('person_register', '{"given": "Ottokar", "surname": "Nirgendwo"}');
ALTER TABLE person ENABLE ALWAYS TRIGGER aaa, ENABLE ALWAYS TRIGGER aab, DISABLE TRIGGER person_register_row;
SELECT count(*) FROM bloom_register_match('person_register', '{"given": "Ottokar", "surname": "Nirgendwo"}');
DROP TRIGGER aaa ON person;
DROP TRIGGER aab ON person;
CREATE TABLE other (LIKE person INCLUDING ALL);
SELECT bloom_guard_create('other', 'id', 0.9, 'reject', 'register', 'person_register');
-- Two records that are probably the same, and that no search brings together, are let in: an UPDATE that has a search do so is refused. Those that one brings together already may be corrected.
CREATE TABLE apart (LIKE person INCLUDING ALL);
SELECT bloom_register_create(jsonb_set(model, '{searches}', '[{"equal": ["city", "dob"], "most": 4, "pairs_per_record": 1, "matches_per_record": 0.1}]'), 'apart', 'id') FROM fitted;
SELECT bloom_register_guard('apart_register', 0.9, 'reject');
INSERT INTO apart (id, given, surname, dob, city) VALUES (1, 'Leopoldine', 'Wagenschmied', '1955-05-05', 'Wien'), (2, 'Leopoldine', 'Wagenschmied', '1955-05-05', 'Graz');
UPDATE apart SET city = 'Wien' WHERE id = 2;
UPDATE apart SET surname = 'Wagenschmid' WHERE id = 2;
ALTER TABLE apart DISABLE TRIGGER apart_id_guard;
UPDATE apart SET city = 'Wien' WHERE id = 2;
ALTER TABLE apart ENABLE TRIGGER apart_id_guard;
UPDATE apart SET surname = 'Wagenschmiedt' WHERE id = 2;
SELECT key, search FROM bloom_register_match('apart_register', '{"given": "Leopoldine", "surname": "Wagenschmied", "dob": "1955-05-05", "city": "Wien"}') ORDER BY key;
DROP SCHEMA register_guard CASCADE;
DROP ROLE regress_register_typist;
