-- A guard that keeps to decisions: rows that are judged different do not count. And setting bloom_ident.decide, by which a user says so.
SET client_min_messages = warning;
CREATE TABLE citizen (id integer PRIMARY KEY, name text, born date, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
CREATE INDEX ON citizen USING sigfile (sig);
SELECT bloom_decisions_create('citizen_decision');
SELECT bloom_guard_create('citizen', 'sig', 0.6, 'reject', 'decisions', 'citizen_decision');
CREATE FUNCTION again(name text) RETURNS void LANGUAGE sql AS $$ DELETE FROM citizen WHERE id = 2; INSERT INTO citizen VALUES (2, $1, '2001-05-04') $$;
INSERT INTO citizen VALUES (1, 'Anna Zwilling', '2001-05-04');
INSERT INTO citizen VALUES (2, 'Anne Zwilling', '2001-05-04');
-- in either order; unsure lets in, same does not; the newest counts, and of one time the most cautious one
INSERT INTO citizen_decision (a, b, decision, at) VALUES ('2', '1', 'different', '2026-01-01');
INSERT INTO citizen VALUES (2, 'Anne Zwilling', '2001-05-04');
INSERT INTO citizen_decision (a, b, decision, at) VALUES ('1', '2', 'same', '2026-01-02');
SELECT again('Anna Zwillinge');
INSERT INTO citizen_decision (a, b, decision, at) VALUES ('1', '2', 'unsure', '2026-01-02');
SELECT again('Anna Zwillinge');
INSERT INTO citizen VALUES (3, 'Anna Zwilling', '2001-05-04');
-- a decision of this transaction counts, and is taken back with it
BEGIN;
INSERT INTO citizen_decision (a, b, decision) VALUES ('1', '3', 'different'), ('3', '2', 'different');
INSERT INTO citizen VALUES (3, 'Anna Zwilling', '2001-05-04');
ROLLBACK;
INSERT INTO citizen VALUES (3, 'Anna Zwilling', '2001-05-04');

-- the user decides
SET bloom_ident.decide = 'different';
INSERT INTO citizen SELECT i, 'Anna Zwilling', '2001-05-04' FROM generate_series(3, 12) AS i;
RESET bloom_ident.decide;
SELECT a, b, decision FROM citizen_decision WHERE '12' IN (a, b) ORDER BY a::int, b::int;
SELECT count(*) FROM citizen_decision WHERE at > now() - interval '1 day';
INSERT INTO citizen VALUES (13, 'Anna Zwilling', '2001-05-04');
SET bloom_ident.decide = 'same';

-- only who may enter decisions
CREATE ROLE clerk;
GRANT INSERT, SELECT ON citizen TO clerk;
SET ROLE clerk;
SET bloom_ident.decide = 'different';
INSERT INTO citizen VALUES (13, 'Anna Zwilling', '2001-05-04');
RESET ROLE;
GRANT INSERT (a, b, decision) ON citizen_decision TO clerk;
SET ROLE clerk;
INSERT INTO citizen VALUES (13, 'Anna Zwilling', '2001-05-04');
RESET ROLE;
SELECT DISTINCT who FROM citizen_decision WHERE '13' IN (a, b);
-- whoever enters rows need not be able to read decisions
SET ROLE clerk;
RESET bloom_ident.decide;
INSERT INTO citizen VALUES (14, 'Otto Feld', '1950-05-05');
INSERT INTO citizen VALUES (15, 'Otto Felde', '1950-05-05');
RESET ROLE;
INSERT INTO citizen_decision (a, b, decision) VALUES ('14', '15', 'different');
SET ROLE clerk;
INSERT INTO citizen VALUES (15, 'Otto Felde', '1950-05-05');
RESET ROLE;
-- a trigger that keeps decisions out does not make the guard search for ever
CREATE FUNCTION keep_out() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER keep_out BEFORE INSERT ON citizen_decision FOR EACH ROW EXECUTE FUNCTION keep_out();
SET bloom_ident.decide = 'different';
INSERT INTO citizen VALUES (16, 'Otto Felde', '1950-05-05');
RESET bloom_ident.decide;
DROP TRIGGER keep_out ON citizen_decision;

-- hashes: the decision holds as long as both records are as they were
TRUNCATE citizen, citizen_decision;
INSERT INTO citizen VALUES (1, 'Anna Zwilling', '2001-05-04');
CREATE TABLE draft AS SELECT 2 AS id, 'Anne Zwilling'::text AS name, date '2001-05-04' AS born;
INSERT INTO citizen_decision (a, b, decision, hash) SELECT '2', '1', 'different', x.hash || ' ' || y.hash
    FROM bloom_record_hash('draft', 'id', '{name,born}') x, bloom_record_hash('citizen', 'id', '{name,born}') y;
SET datestyle = 'German';
INSERT INTO citizen SELECT * FROM draft;
RESET datestyle;
SELECT again('Anna Zwillinge');
UPDATE citizen SET born = '2001-05-05' WHERE id = 1;
DELETE FROM citizen WHERE id = 2;
INSERT INTO citizen SELECT * FROM draft;
UPDATE citizen SET born = '2001-05-04' WHERE id = 1;
INSERT INTO citizen SELECT * FROM draft;
ALTER TABLE citizen RENAME born TO date_of_birth;
SELECT again('Anna Zwillinge');
ALTER TABLE citizen RENAME date_of_birth TO born;
UPDATE citizen_decision SET hash = 'what?';
SELECT again('Anna Zwillinge');
UPDATE citizen_decision SET hash = NULL;
SELECT again('Anna Zwillinge');

-- the other actions; a generated column in the hash, which BEFORE triggers do not see yet
DO $$ BEGIN EXECUTE format('DROP TRIGGER %I ON citizen', (SELECT tgname FROM pg_trigger WHERE tgrelid = 'citizen'::regclass)); END $$;
TRUNCATE citizen, citizen_decision;
ALTER TABLE citizen ADD upper_name text GENERATED ALWAYS AS (upper(name)) STORED;
SELECT bloom_guard_create('citizen', 'sig', 0.6, 'skip', 'decisions', 'citizen_decision');
INSERT INTO citizen VALUES (1, 'Anna Zwilling', '2001-05-04');
INSERT INTO citizen VALUES (2, 'Anne Zwilling', '2001-05-04');
DROP TABLE draft;
CREATE TABLE draft AS SELECT 2 AS id, 'ANNE ZWILLING'::text AS upper_name;
INSERT INTO citizen_decision (a, b, decision, hash) SELECT '1', '2', 'different', y.hash || ' ' || x.hash
    FROM bloom_record_hash('draft', 'id', '{upper_name}') x, bloom_record_hash('citizen', 'id', '{upper_name}') y;
INSERT INTO citizen VALUES (2, 'Anne Zwilling', '2001-05-04');
SET bloom_ident.decide = 'different';
INSERT INTO citizen VALUES (3, 'Anne Zwilling', '2001-05-04');
RESET bloom_ident.decide;
SELECT id FROM citizen ORDER BY id;
SELECT a, b FROM citizen_decision ORDER BY a, b;
DO $$ BEGIN EXECUTE format('DROP TRIGGER %I ON citizen', (SELECT tgname FROM pg_trigger WHERE tgrelid = 'citizen'::regclass)); END $$;

-- a block list: a is the row, b that of the list
CREATE TABLE wanted (id integer PRIMARY KEY, sig bloom);
INSERT INTO wanted VALUES (7, bloom_signature('Otto Feld'));
SELECT bloom_guard_create('citizen', 'sig', 0.6, 'reject', 'decisions', 'citizen_decision', 'blocklist', 'wanted');
INSERT INTO citizen_decision (a, b, decision) VALUES ('7', '20', 'different');
INSERT INTO citizen VALUES (20, 'Otto Feld', '1950-05-05');
INSERT INTO citizen_decision (a, b, decision) VALUES ('20', '7', 'different');
INSERT INTO citizen VALUES (20, 'Otto Feld', '1950-05-05');
DO $$ BEGIN EXECUTE format('DROP TRIGGER %I ON citizen', (SELECT tgname FROM pg_trigger WHERE tgrelid = 'citizen'::regclass)); END $$;

-- what cannot be the decisions of a guard
CREATE VIEW judged AS SELECT * FROM citizen_decision;
SELECT bloom_guard_create('citizen', 'sig', 0.6, 'reject', 'decisions', 'judged');
SELECT bloom_guard_create('citizen', 'sig', 0.6, 'reject', 'decisions', 'citizen');
SELECT bloom_guard_create('citizen', 'sig', 0.6, 'reject', 'decisions', 'nothing');
SELECT bloom_guard_create('citizen', 'sig', 0.6, 'reject', 'decisions');
CREATE TABLE own_judged (a text, b text, decision text, at timestamptz);
SELECT bloom_guard_create('citizen', 'sig', 0.6, 'reject', 'decisions', 'own_judged');
CREATE INDEX ON own_judged (b, a) WHERE decision <> 'same';
SELECT bloom_guard_create('citizen', 'sig', 0.6, 'reject', 'decisions', 'own_judged');
CREATE INDEX ON own_judged (b COLLATE "POSIX", a, at);
ALTER TABLE own_judged ENABLE ROW LEVEL SECURITY;
SELECT bloom_guard_create('citizen', 'sig', 0.6, 'reject', 'decisions', 'own_judged');
ALTER TABLE own_judged DISABLE ROW LEVEL SECURITY;
ALTER TABLE own_judged OWNER TO clerk;
SELECT bloom_guard_create('citizen', 'sig', 0.6, 'reject', 'decisions', 'own_judged');
ALTER TABLE own_judged OWNER TO CURRENT_USER;
ALTER TABLE own_judged ALTER at TYPE text;
SELECT bloom_guard_create('citizen', 'sig', 0.6, 'reject', 'decisions', 'own_judged');
ALTER TABLE own_judged ALTER at TYPE date USING NULL;
CREATE TYPE verdict AS ENUM ('unsure', 'same', 'different');
DROP INDEX own_judged_b_a_idx;
ALTER TABLE own_judged ALTER decision TYPE verdict USING NULL;
SELECT bloom_guard_create('citizen', 'sig', 0.6, 'reject', 'decisions', 'own_judged');
CREATE TABLE keyless (sig bloom);
SELECT bloom_guard_create('keyless', 'sig', 0.6, 'reject', 'decisions', 'own_judged');
-- a table of one's own, with an enum and dates; NULL is the oldest
TRUNCATE citizen;
INSERT INTO citizen VALUES (1, 'Anna Zwilling', '2001-05-04');
INSERT INTO own_judged VALUES ('1', '2', 'different', NULL);
INSERT INTO citizen VALUES (2, 'Anne Zwilling', '2001-05-04');
INSERT INTO own_judged VALUES ('2', '1', 'same', '1900-01-01');
SELECT again('Anna Zwillinge');
-- a row that a decision let in keeps to it: with another key it is judged anew
TRUNCATE citizen, own_judged;
INSERT INTO citizen VALUES (1, 'Anna Zwilling', '2001-05-04');
INSERT INTO own_judged VALUES ('1', '2', 'different', NULL);
INSERT INTO citizen VALUES (2, 'Anne Zwilling', '2001-05-04');
UPDATE citizen SET id = 3 WHERE id = 2;
UPDATE citizen SET id = 2 WHERE id = 2;
TRUNCATE citizen, own_judged;
INSERT INTO citizen VALUES (1, 'Anna Zwilling', '2001-05-04');
INSERT INTO own_judged VALUES ('1', '2', 'different', NULL);
INSERT INTO citizen VALUES (2, 'Anne Zwilling', '2001-05-04');
-- the guard notices what becomes of the table
ALTER TABLE own_judged ENABLE ROW LEVEL SECURITY;
SELECT again('Anna Zwillinge');
ALTER TABLE own_judged DISABLE ROW LEVEL SECURITY;
DROP INDEX own_judged_b_a_at_idx;
SELECT again('Anna Zwillinge');

DROP TABLE citizen, citizen_decision, own_judged, draft, wanted, keyless CASCADE;
DROP FUNCTION keep_out;
DROP TYPE verdict;
DROP ROLE clerk;
RESET client_min_messages;

-- a row that is different from very many: they are looked for and their decisions looked up a few times, not for every five of them
CREATE TABLE twin (id integer PRIMARY KEY, sig bloom);
CREATE INDEX ON twin USING sigfile (sig);
INSERT INTO twin SELECT i, bloom_signature('Anna Zwilling') FROM generate_series(1, 1000) AS i;
SELECT bloom_decisions_create('twin_decision');
SELECT bloom_guard_create('twin', 'sig', 0.6, 'reject', 'decisions', 'twin_decision');
BEGIN;
SET LOCAL bloom_ident.decide = 'different';
INSERT INTO twin VALUES (1001, bloom_signature('Anna Zwilling'));
SELECT count(*) AS decisions, count(DISTINCT least(a::int, b::int)) AS others FROM twin_decision WHERE '1001' IN (a, b);
SELECT seq_scan + idx_scan BETWEEN 1000 AND 10000 AS is_linear FROM pg_stat_xact_user_tables WHERE relname = 'twin_decision';
COMMIT;
-- in as many searches as the memory asks for
SET work_mem = '64kB';
ALTER TABLE twin DISABLE TRIGGER ALL;
INSERT INTO twin SELECT i, bloom_signature('Anna Zwilling') FROM generate_series(1002, 4000) AS i;
ALTER TABLE twin ENABLE TRIGGER ALL;
SET bloom_ident.decide = 'different';
INSERT INTO twin VALUES (4001, bloom_signature('Anna Zwilling'));
RESET work_mem;
RESET bloom_ident.decide;
SELECT count(*) AS decisions, count(DISTINCT least(a::int, b::int)) AS others FROM twin_decision WHERE '4001' IN (a, b);
DROP TABLE twin, twin_decision;
