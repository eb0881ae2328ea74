-- What `skip` leaves out is entered into a table, and the first row of a statement is told of.
CREATE TABLE person (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
CREATE INDEX ON person USING sigfile (sig);
CREATE TABLE left_out (record jsonb, duplicate text, similarity double precision, found_at timestamp with time zone, who text, note text DEFAULT 'new');
SELECT bloom_guard_create('person', 'sig', 0.7, 'skip', 'skipped', 'left_out');
INSERT INTO person VALUES (1, 'Erika Mustermann'), (2, 'Jörg Müller');
INSERT INTO person VALUES (3, 'Erica Mustermann'), (4, 'Sean O''Brien'), (5, 'Joerg Mueller'), (6, 'ERIKA MUSTERMANN');
SELECT record, duplicate, round(similarity::numeric, 3), found_at = now() AS is_now, found_at > now() - interval '1 minute' AS recent, who, note FROM left_out ORDER BY record ->> 'id';
SELECT id FROM person ORDER BY id;
-- each statement tells once, also within a function, and of each trigger
DO $$ BEGIN
    INSERT INTO person SELECT i, 'Erika Mustermann' FROM generate_series(10, 12) AS i;
    INSERT INTO person SELECT i, 'Erika Mustermann' FROM generate_series(13, 15) AS i;
    UPDATE person SET name = 'Jörg Müller' WHERE id IN (1, 4);
END $$;
SELECT record ->> 'id' AS id, record ->> 'name' AS name, duplicate FROM left_out ORDER BY 1;
COPY person (id, name) FROM stdin;
20	Erika Mustermann
21	Somebody Else
22	Erika Mustermann
23	Erika Mustermann
\.
PREPARE enter(int) AS INSERT INTO person VALUES ($1, 'Erika Mustermann'), ($1 + 1, 'Erika Mustermann');
EXECUTE enter(30);
EXECUTE enter(32);
SELECT count(*) FROM left_out;
-- An UPDATE counts what it makes similar: a row that has been similar to others is corrected, also where it stays so, and becomes similar to no other one.
BEGIN;
ALTER TABLE person DISABLE TRIGGER USER;
INSERT INTO person VALUES (50, 'Erika Mustermann'), (51, 'Erika Musterman');
ALTER TABLE person ENABLE TRIGGER USER;
COMMIT;
UPDATE person SET name = 'Erica Mustermann' WHERE id = 50;
UPDATE person SET name = 'Joerg Mueller' WHERE id = 51;
UPDATE person SET name = 'Erica Musterman' WHERE id = 51;
SELECT id, name FROM person WHERE id IN (50, 51) ORDER BY id;
-- in the transaction that has entered it, it is a new one
BEGIN;
ALTER TABLE person DISABLE TRIGGER USER;
INSERT INTO person VALUES (52, 'Erika Mustermann');
ALTER TABLE person ENABLE TRIGGER USER;
UPDATE person SET name = 'Erica Mustermann' WHERE id = 52;
SELECT name FROM person WHERE id = 52;
ROLLBACK;
DELETE FROM person WHERE id IN (50, 51);
-- what is rolled back is left out of neither
BEGIN;
INSERT INTO person VALUES (40, 'Erika Mustermann');
ROLLBACK;
SELECT count(*) FROM left_out WHERE record ->> 'id' = '40';
-- a row that was left out enters later
INSERT INTO person (id, name) SELECT (r).id, (r).name || ' the second' FROM (SELECT jsonb_populate_record(NULL::person, record) AS r FROM left_out WHERE record ->> 'id' = '3') AS f;
-- without the option
DROP TRIGGER person_sig_guard ON person;
SELECT bloom_guard_create('person', 'sig', 0.7, 'skip', 'message', 'Schon da.');
INSERT INTO person VALUES (50, 'Erika Mustermann'), (51, 'Erika Mustermann');
-- option keep: the key is the row's own
DROP TRIGGER person_sig_guard ON person;
SELECT bloom_guard_create('person', 'sig', 0.7, 'skip', 'keep', '0.5', 'skipped', 'left_out');
TRUNCATE left_out;
UPDATE person SET name = 'Totally Different ' || id WHERE id < 5;
SELECT record, duplicate, round(similarity::numeric, 2) FROM left_out ORDER BY record ->> 'id';
-- partitions: one notice for all of them, and columns in another order
CREATE TABLE parted (id int, part int, name text, sig bloom, PRIMARY KEY (part, id)) PARTITION BY LIST (part);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE TABLE parted_2 (name text, sig bloom, id int NOT NULL, gone int, part int NOT NULL);
ALTER TABLE parted_2 DROP gone;
ALTER TABLE parted ATTACH PARTITION parted_2 FOR VALUES IN (2);
CREATE INDEX ON parted USING sigfile (sig);
SELECT bloom_guard_create('parted', 'sig', 0.9, 'skip', 'skipped', 'left_out');
TRUNCATE left_out;
INSERT INTO parted SELECT i, 1 + i % 2, 'name ' || i / 3, bloom_signature('name ' || i / 3) FROM generate_series(0, 8) AS i;
SELECT record - 'sig' AS record, record ->> 'sig' = bloom_signature(record ->> 'name')::text AS sig, duplicate FROM left_out ORDER BY record ->> 'id';
-- a block list
CREATE TABLE blocked (code text PRIMARY KEY, sig bloom);
INSERT INTO blocked SELECT 'b1', bloom_signature('Max Schufa');
CREATE INDEX ON blocked USING sigfile (sig);
DROP TRIGGER person_sig_guard ON person;
SELECT bloom_guard_create('person', 'sig', 0.7, 'skip', 'blocklist', 'blocked', 'skipped', 'left_out');
TRUNCATE left_out;
INSERT INTO person VALUES (60, 'Max Schufa'), (61, 'Erika Mustermann');
SELECT record, duplicate FROM left_out;
-- a unique constraint keeps a row from coming twice
CREATE UNIQUE INDEX ON left_out ((record ->> 'name'));
INSERT INTO person VALUES (62, 'Max Schufa');
SELECT record, duplicate FROM left_out;
DROP TRIGGER person_sig_guard ON person;

-- bad input
CREATE TABLE keyless (name text, sig bloom);
CREATE INDEX ON keyless USING sigfile (sig);
CREATE TABLE lacking (record json, duplicate text, who name);
CREATE TABLE demanding (record jsonb, duplicate text, similarity double precision, found_at timestamp with time zone, who text, note text NOT NULL);
CREATE TABLE deferring (record jsonb, duplicate text, similarity double precision, found_at timestamp with time zone, who text, UNIQUE (record) DEFERRABLE);
CREATE VIEW viewed AS SELECT * FROM left_out;
SELECT bloom_guard_create('person', 'sig', 0.7, 'reject', 'skipped', 'left_out');
SELECT bloom_guard_create('person', 'sig', 0.7, 'flag', 'skipped', 'left_out', 'review', 'left_out');
SELECT bloom_guard_create('person', 'sig', 0.7, 'skip', 'skipped', 'person');
SELECT bloom_guard_create('person', 'sig', 0.7, 'skip', 'skipped', 'nowhere');
SELECT bloom_guard_create('person', 'sig', 0.7, 'skip', 'skipped', 'a.b.c');
SELECT bloom_guard_create('person', 'sig', 0.7, 'skip', 'skipped', 'viewed');
SELECT bloom_guard_create('person', 'sig', 0.7, 'skip', 'skipped', 'lacking');
ALTER TABLE lacking ADD similarity double precision, ADD found_at timestamp with time zone;
SELECT bloom_guard_create('person', 'sig', 0.7, 'skip', 'skipped', 'lacking');
SELECT bloom_guard_create('person', 'sig', 0.7, 'skip', 'skipped', 'demanding');
SELECT bloom_guard_create('person', 'sig', 0.7, 'skip', 'skipped', 'deferring');
SELECT bloom_guard_create('keyless', 'sig', 0.7, 'skip', 'skipped', 'left_out');
SELECT bloom_guard_create('person', 'sig', 0.7, 'skip', 'skipped', 'left_out', 'skipped', 'left_out');

-- Rights: those who enter rows need none on the table, and learn nothing by it; nobody's code runs with another's rights.
CREATE ROLE left_owner;
CREATE ROLE left_clerk;
GRANT CREATE, USAGE ON SCHEMA public TO left_owner, left_clerk;
SET ROLE left_owner;
CREATE TABLE client (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
CREATE INDEX ON client USING sigfile (sig);
CREATE TABLE client_left (record jsonb, duplicate text, similarity double precision, found_at timestamp with time zone, who text);
SELECT bloom_guard_create('client', 'sig', 0.7, 'skip', 'skipped', 'client_left');
INSERT INTO client VALUES (1, 'Erika Mustermann');
GRANT INSERT ON client TO left_clerk;
SET ROLE left_clerk;
INSERT INTO client VALUES (2, 'Erika Mustermann');
SELECT * FROM client_left;
RESET ROLE;
SELECT record, duplicate, who FROM client_left;
-- with code of others in it, it is written by who enters the row
CREATE FUNCTION whose() RETURNS text LANGUAGE sql AS 'SELECT current_user::text';
SET ROLE left_owner;
ALTER TABLE client_left ADD by_whom text DEFAULT whose();
DROP TRIGGER client_sig_guard ON client;
SELECT bloom_guard_create('client', 'sig', 0.7, 'skip', 'skipped', 'client_left');
SET ROLE left_clerk;
INSERT INTO client VALUES (3, 'Erika Mustermann');
RESET ROLE;
GRANT INSERT, SELECT ON client_left TO left_clerk;
SET ROLE left_clerk;
INSERT INTO client VALUES (3, 'Erika Mustermann');
RESET ROLE;
SELECT record ->> 'id' AS id, who, by_whom FROM client_left ORDER BY 1;
-- a cast of the row's own types to JSON runs as who enters the row
CREATE TYPE mood AS ENUM ('well', 'ill');
CREATE TABLE watched (who text);
GRANT INSERT ON watched TO left_clerk;
CREATE FUNCTION as_json(mood) RETURNS json LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO watched VALUES (current_user);
    RETURN to_json('cast by ' || current_user);
END $$;
CREATE CAST (mood AS json) WITH FUNCTION as_json(mood);
SET ROLE left_owner;
ALTER TABLE client_left DROP by_whom;
ALTER TABLE client ADD mood mood;
SET ROLE left_clerk;
INSERT INTO client VALUES (4, 'Erika Mustermann', DEFAULT, 'well');
RESET ROLE;
SELECT record ->> 'mood' AS mood, who FROM client_left WHERE record ->> 'id' = '4';
SELECT * FROM watched;
-- whoever owns the table of skipped rows, and not the guarded one, learns no key by it
SET ROLE left_clerk;
CREATE TABLE mine (LIKE client_left);
RESET ROLE;
GRANT TRIGGER ON client TO left_clerk;
DROP TRIGGER client_sig_guard ON client;
SET ROLE left_clerk;
SELECT bloom_guard_create('client', 'sig', 0.7, 'skip', 'skipped', 'mine');
INSERT INTO client VALUES (5, 'Erika Mustermann');
SELECT * FROM mine;
RESET ROLE;
DROP CAST (mood AS json);
DROP TABLE person, left_out, parted, blocked, keyless, lacking, demanding, deferring, client, client_left, mine, watched CASCADE;
DROP FUNCTION whose, as_json;
DROP TYPE mood;
REVOKE CREATE, USAGE ON SCHEMA public FROM left_owner, left_clerk;
DROP ROLE left_owner, left_clerk;
