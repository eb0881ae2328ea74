-- bloom_guard: what each action does.
CREATE TABLE person (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
CREATE INDEX person_sig ON person USING sigfile (sig);
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON person
    FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject');
INSERT INTO person (id, name) VALUES
    (1, 'Erika Mustermann'), (2, 'Otto Normalverbraucher'), (3, NULL), (4, NULL), (5, ''), (6, '-');
\set VERBOSITY verbose
INSERT INTO person (id, name) VALUES (7, 'Erica Mustermann');
\set VERBOSITY default
DO $$
DECLARE
    state text; message text; detail text; hint text; of_schema text; of_table text; of_constraint text;
BEGIN
    INSERT INTO person (id, name) VALUES (7, 'Erica Mustermann');
EXCEPTION WHEN integrity_constraint_violation THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
        hint = PG_EXCEPTION_HINT, of_schema = SCHEMA_NAME, of_table = TABLE_NAME, of_constraint = CONSTRAINT_NAME;
    RAISE NOTICE '% % % % | % | % | %', state, of_schema, of_table, of_constraint, message, detail, hint;
END $$;
-- Within one statement; several matches, best first, five at most.
INSERT INTO person (id, name) VALUES (8, 'Max Meier'), (9, 'max meier');
ALTER TABLE person DISABLE TRIGGER guard;
INSERT INTO person (id, name) SELECT 10 + i, 'Anna Arkadjewna Karenina ' || left('bcdfghjk', i) FROM generate_series(1, 8) AS i;
ALTER TABLE person ENABLE TRIGGER guard;
INSERT INTO person (id, name) VALUES (30, 'Anna Arkadjewna Karenina bcd');
-- Updates: one that touches no signature is not checked, and a row is never its own duplicate.
UPDATE person SET id = id + 100 WHERE name LIKE 'Anna%';
UPDATE person SET name = upper(name) WHERE id = 1;
UPDATE person SET name = 'Erika Mustermannn' WHERE id = 1;
UPDATE person SET name = 'Erika Mustermann' WHERE id = 2;
UPDATE person SET name = 'Anna Karenina' WHERE id = 112;
UPDATE person SET name = 'Anna Arkadjewna Karenina' WHERE id = 112;
-- A row that is deleted, or rolled back, keeps nothing out; a savepoint neither.
BEGIN;
DELETE FROM person WHERE id = 1;
INSERT INTO person (id, name) VALUES (7, 'Erika Mustermann');
SAVEPOINT a;
INSERT INTO person (id, name) VALUES (8, 'Sean O''Brien');
ROLLBACK TO a;
INSERT INTO person (id, name) VALUES (9, 'sean o''brien');
SAVEPOINT b;
INSERT INTO person (id, name) VALUES (10, 'Sean O''Brien');
ROLLBACK TO b;
COMMIT;
SELECT id, name FROM person WHERE id < 100 ORDER BY id;
-- COPY, upserts, MERGE.
COPY person (id, name) FROM stdin;
40	Hans Wurst
41	hans wurst
\.
COPY person (id, name) FROM stdin;
40	Hans Wurst
41	Max Moritz
\.
INSERT INTO person (id, name) VALUES (40, 'Erika Mustermann') ON CONFLICT DO NOTHING;
INSERT INTO person (id, name) VALUES (40, 'Erika Mustermann') ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name;
INSERT INTO person (id, name) VALUES (40, 'Hans  Wurst') ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name;
INSERT INTO person (id, name) VALUES (42, 'Max moritz') ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name;
MERGE INTO person USING (VALUES (41, 'Max Moritzz'), (43, 'Erika Mustermann')) AS s (id, name) ON s.id = person.id
    WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, s.name);
SELECT id, name FROM person WHERE id BETWEEN 40 AND 99 ORDER BY id;
-- Another transaction level looks no less.
BEGIN ISOLATION LEVEL SERIALIZABLE;
INSERT INTO person (id, name) VALUES (50, 'Hans Wurst');
ROLLBACK;
DROP TRIGGER guard ON person;

-- warn, with a message of one's own; a trigger WHEN and OF a column.
CREATE TRIGGER guard AFTER INSERT OR UPDATE OF name ON person FOR EACH ROW WHEN (NEW.id < 1000)
    EXECUTE FUNCTION bloom_guard('sig', '0.8', 'warn', 'message', 'perhaps a customer already');
INSERT INTO person (id, name) VALUES (51, 'Hans Wurst');
INSERT INTO person (id, name) VALUES (1051, 'Hans Wurst');
DELETE FROM person WHERE id IN (51, 1051);
DROP TRIGGER guard ON person;

-- skip: a BEFORE trigger, which computes the generated column by itself.
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON person
    FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'skip');
INSERT INTO person (id, name) VALUES (60, 'Hans Wurst'), (61, 'Jutta Lampe'), (62, 'jutta lampe'), (63, NULL), (64, '');
COPY person (id, name) FROM stdin;
65	Bruno Ganz
66	bruno ganz
67	Otto Sander
\.
UPDATE person SET name = 'Bruno Ganz' WHERE id IN (65, 67);
UPDATE person SET id = 68, name = 'Otto Sander!' WHERE id = 67;
SELECT id, name FROM person WHERE id BETWEEN 60 AND 99 ORDER BY id;
DROP TRIGGER guard ON person;
-- over an ordinary column
CREATE TABLE plain (id int PRIMARY KEY, sig bloom);
CREATE INDEX ON plain USING gist (sig);
CREATE TRIGGER guard BEFORE INSERT ON plain FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '1', 'skip');
INSERT INTO plain SELECT i, bloom_signature('n' || i % 3) FROM generate_series(1, 5) AS i;
SELECT id FROM plain ORDER BY id;

-- flag: pairs go to the review table, each once.
CREATE TABLE review (key text, duplicate text, similarity float8, found_at timestamptz, decision text, PRIMARY KEY (key, duplicate));
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON person
    FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'flag', 'review', 'public.review');
INSERT INTO person (id, name) VALUES (70, 'Hans Wurst'), (71, 'hans wurst'), (72, 'Paul Klee');
UPDATE person SET name = 'HANS WURST' WHERE id = 70;
UPDATE person SET name = 'Paul Klee' WHERE id = 70;
SELECT key, duplicate, round(similarity::numeric, 3) AS similarity, found_at <= now() AS found, decision FROM review ORDER BY 1, 2;
DROP TRIGGER guard ON person;
-- the key of several columns is its row text
CREATE TABLE person2 (a int, b text, sig bloom, PRIMARY KEY (b, a));
CREATE INDEX ON person2 USING sigfile (sig);
CREATE TRIGGER guard AFTER INSERT ON person2
    FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'flag', 'review', 'review');
TRUNCATE review;
INSERT INTO person2 VALUES (1, 'x y', bloom_signature('Hans Wurst')), (2, '(', bloom_signature('hans wurst'));
SELECT key, duplicate FROM review;
CREATE TRIGGER reject AFTER INSERT ON person2
    FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject');
INSERT INTO person2 VALUES (3, '', bloom_signature('Hans  Wurst'));
DROP TABLE person2;
-- that of a type whose cast to text wants to know more
CREATE TYPE ward AS ENUM ('a', 'b', 'c', 'd');
CREATE FUNCTION ward_text(ward, integer, boolean) RETURNS text LANGUAGE plpgsql AS $$
BEGIN RETURN concat('ward ', $1, ' ', $2, ' ', $3); END $$;
CREATE FUNCTION ward_text(ward, integer) RETURNS text LANGUAGE sql AS $$ SELECT 'ward ' || $2 $$;
CREATE CAST (ward AS text) WITH FUNCTION ward_text(ward, integer, boolean);
CREATE TABLE bed (ward ward PRIMARY KEY, sig bloom);
CREATE INDEX ON bed USING sigfile (sig);
CREATE TRIGGER guard AFTER INSERT ON bed FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject');
INSERT INTO bed VALUES ('a', bloom_signature('Hans Wurst'));
INSERT INTO bed VALUES ('b', bloom_signature('Hans Wurst'));
DROP CAST (ward AS text);
CREATE CAST (ward AS text) WITH FUNCTION ward_text(ward, integer);
INSERT INTO bed VALUES ('b', bloom_signature('Hans Wurst'));
DROP TABLE bed;
DROP TYPE ward CASCADE;

-- Deferred: the check is of the row as it is in the end.
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON person DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject');
BEGIN;
INSERT INTO person (id, name) VALUES (80, 'Paul Klee');
UPDATE person SET name = 'August Macke' WHERE id = 80;
INSERT INTO person (id, name) VALUES (81, 'Paul Klee');
DELETE FROM person WHERE id = 81;
COMMIT;
BEGIN;
INSERT INTO person (id, name) VALUES (82, 'Paul Klee');
UPDATE person SET id = 83 WHERE id = 82;
COMMIT;
BEGIN;
INSERT INTO person (id, name) VALUES (82, 'Paul Klee');
SET CONSTRAINTS guard IMMEDIATE;
ROLLBACK;
SELECT id, name FROM person WHERE id >= 80 AND id < 100;
DROP TRIGGER guard ON person;
-- the same for a row that another trigger changes before the guard has seen it
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN UPDATE person SET id = id + 1000 WHERE id = NEW.id; RETURN NULL; END $$;
CREATE TRIGGER a_touch AFTER INSERT ON person FOR EACH ROW EXECUTE FUNCTION touch();
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON person
    FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject');
INSERT INTO person (id, name) VALUES (84, 'Paul Klee');
-- and if the guard does not fire for that change: not for this column, nor for any
DROP TRIGGER guard ON person;
CREATE TRIGGER guard AFTER INSERT OR UPDATE OF name ON person
    FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject');
INSERT INTO person (id, name) VALUES (84, 'Paul Klee');
DROP TRIGGER guard ON person;
CREATE TRIGGER guard AFTER INSERT ON person FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject');
INSERT INTO person (id, name) VALUES (84, 'Paul Klee');
DROP TRIGGER guard ON person;
DROP TRIGGER a_touch ON person;
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE OF name ON person DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject');
BEGIN;
INSERT INTO person (id, name) VALUES (84, 'Paul Klee');
UPDATE person SET id = 85 WHERE id = 84;
UPDATE person SET id = 86 WHERE id = 85;
COMMIT;
BEGIN;
INSERT INTO person (id, name) VALUES (84, 'Paul Klee');
UPDATE person SET id = 85 WHERE id = 84;
UPDATE person SET name = 'Lucas Cranach' WHERE id = 85;
INSERT INTO person (id, name) VALUES (86, 'Paul Klee');
UPDATE person SET id = 87 WHERE id = 86;
DELETE FROM person WHERE id = 87;
COMMIT;
DELETE FROM person WHERE id = 85;
DROP TRIGGER guard ON person;
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON person
    FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject');

-- The index: GiST, one that leaves out NULLs, one of several columns; not one for some rows, or on something else.
DROP INDEX person_sig;
CREATE INDEX person_some ON person USING sigfile (sig) WHERE id > 1000;
CREATE INDEX person_query ON person USING gist (bloom_query(sig, 0.8));
INSERT INTO person (id, name) VALUES (85, 'Paul Klee');
CREATE INDEX person_sig ON person USING gist (sig) WHERE sig IS NOT NULL;
INSERT INTO person (id, name) VALUES (85, 'Paul Klee');
-- which index is used is seen from what reads it
SELECT pg_stat_force_next_flush() IS NULL AS x \gset
SELECT idx_scan > 0 AS used FROM pg_stat_user_indexes WHERE indexrelname = 'person_sig';
DROP INDEX person_sig, person_some, person_query;
-- No index: a warning, once for each table and session.
INSERT INTO person (id, name) VALUES (85, 'Paul Klee');
CREATE TABLE bare (sig bloom);
CREATE TRIGGER "Guard" AFTER INSERT ON bare FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject');
INSERT INTO bare VALUES (bloom_signature('Paul Klee'));
INSERT INTO bare VALUES (bloom_signature('August Macke')), (bloom_signature('Paul Klee'));
-- Another shape.
INSERT INTO bare VALUES (bloom_signature('Paul Klee', 2));
-- At threshold 0 all are similar but the empty ones.
CREATE TRIGGER zero AFTER INSERT ON bare FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0', 'warn');
DROP TRIGGER "Guard" ON bare;
INSERT INTO bare VALUES (bloom_signature('')), (NULL);
INSERT INTO bare VALUES (bloom_signature('something'));
DROP TABLE bare;

-- Large signatures are out of line.
CREATE TABLE wide (id int PRIMARY KEY, sig bloom);
ALTER TABLE wide ALTER sig SET STORAGE EXTERNAL;
CREATE INDEX ON wide USING sigfile (sig);
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON wide FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject');
INSERT INTO wide SELECT i, bloom_signature(repeat('word ' || i, 30), max_chars => 2000) FROM generate_series(1, 3) AS i;
INSERT INTO wide SELECT 4, bloom_signature(repeat('word ' || 3, 31), max_chars => 2000);
UPDATE wide SET id = id + 10;
SELECT count(*), min(pg_column_size(sig)) > 2000 AS wide FROM wide;

-- Temporary tables.
CREATE TEMP TABLE temporary (id int PRIMARY KEY, sig bloom);
CREATE TEMP TABLE temporary_review (LIKE review);
CREATE INDEX ON temporary USING sigfile (sig);
CREATE TRIGGER guard AFTER INSERT ON temporary FOR EACH ROW
    EXECUTE FUNCTION bloom_guard('sig', '0.8', 'flag', 'review', 'temporary_review');
INSERT INTO temporary VALUES (1, bloom_signature('Paul Klee')), (2, bloom_signature('paul klee'));
SELECT key, duplicate FROM temporary_review;

-- Things change under a trigger that is in use.
CREATE TABLE moving (id int, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON moving FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject');
CREATE INDEX moving_sig ON moving USING sigfile (sig);
INSERT INTO moving VALUES (1, 'Paul Klee');
INSERT INTO moving VALUES (2, 'Paul Klee');
ALTER TABLE moving ADD PRIMARY KEY (id);
INSERT INTO moving VALUES (2, 'Paul Klee');
ALTER TABLE moving RENAME TO moved;
ALTER TRIGGER guard ON moved RENAME TO watch;
REINDEX INDEX moving_sig;
INSERT INTO moved VALUES (2, 'Paul Klee');
BEGIN;
DROP INDEX moving_sig;
INSERT INTO moved VALUES (2, 'August Macke');
ROLLBACK;
INSERT INTO moved VALUES (2, 'Paul Klee');
CREATE OR REPLACE TRIGGER watch AFTER INSERT OR UPDATE ON moved FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '1', 'warn');
INSERT INTO moved VALUES (2, 'Paul Kleee');
INSERT INTO moved VALUES (3, 'Paul Klee');
ALTER TABLE moved RENAME sig TO signature;
INSERT INTO moved VALUES (4, 'Paul Klee');
DROP TABLE moved;
DROP TABLE person, plain, review, wide;
DROP FUNCTION touch;
