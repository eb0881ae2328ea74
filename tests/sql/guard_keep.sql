-- bloom_guard, option keep: a row that is changed must stay similar to what it was.
CREATE TABLE person (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
CREATE INDEX person_sig ON person USING sigfile (sig);
SELECT bloom_guard_create('person', 'sig', 0.9, 'reject', 'keep', '0.4');
INSERT INTO person (id, name) VALUES
    (1, 'Erika Mustermann'), (2, 'Otto Normalverbraucher'), (3, NULL), (4, ''), (5, 'Paul Klee');
-- corrections, and what leaves the signature alone
UPDATE person SET name = 'Erica Mustermann' WHERE id = 1;
UPDATE person SET id = 11 WHERE id = 1;
-- another person
\set VERBOSITY verbose
UPDATE person SET name = 'Sean O''Brien' WHERE id = 2;
\set VERBOSITY default
UPDATE person SET id = 22, name = 'Sean O''Brien' WHERE id = 2;
-- the similar row is looked for as always, and the old version comes first
UPDATE person SET name = 'Erica Mustermann' WHERE id = 2;
UPDATE person SET name = 'Otto Normalverbraucher ' WHERE id = 5;
-- nobody becomes somebody; somebody becomes nobody
UPDATE person SET name = 'Max Meier' WHERE id = 3;
UPDATE person SET name = 'August Macke' WHERE id = 4;
UPDATE person SET name = NULL WHERE id = 3;
UPDATE person SET name = '' WHERE id = 4;
-- each UPDATE by itself, also of a row of the same transaction or statement
BEGIN;
INSERT INTO person (id, name) VALUES (6, 'Lucas Cranach');
UPDATE person SET name = 'Franz Marc' WHERE id = 6;
ROLLBACK;
INSERT INTO person (id, name) VALUES (2, 'Franz Marc') ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name;
MERGE INTO person USING (VALUES (2, 'Franz Marc')) AS s (id, name) ON s.id = person.id WHEN MATCHED THEN UPDATE SET name = s.name;
DELETE FROM person WHERE id = 2;
SELECT id, name FROM person ORDER BY id;
DROP TRIGGER person_sig_guard ON person;

-- warn: the row is checked against the others, too
SELECT bloom_guard_create('person', 'sig', 0.9, 'warn', 'keep', '0.4', 'message', 'perhaps a customer already');
UPDATE person SET name = 'Max Meier' WHERE id = 5;
DROP TRIGGER person_sig_guard ON person;
-- 0 lets everything be, 1 nothing
SELECT bloom_guard_create('person', 'sig', 1, 'warn', 'keep', '0');
UPDATE person SET name = 'Paul Klee' WHERE id = 5;
UPDATE person SET name = NULL WHERE id = 3;
DROP TRIGGER person_sig_guard ON person;
SELECT bloom_guard_create('person', 'sig', 1, 'warn', 'keep', '1');
UPDATE person SET name = 'Paul Klee.' WHERE id = 5;
UPDATE person SET name = 'Paul Kleee' WHERE id = 5;
DROP TRIGGER person_sig_guard ON person;

-- skip: the row stays as it is
SELECT bloom_guard_create('person', 'sig', 0.9, 'skip', 'keep', '0.4');
UPDATE person SET name = CASE id WHEN 4 THEN 'August Mack' ELSE 'Franz Marc' END WHERE id IN (4, 5);
UPDATE person SET name = NULL WHERE id = 4;
SELECT id, name FROM person ORDER BY id;
DROP TRIGGER person_sig_guard ON person;

-- flag: the row as a pair with itself
CREATE TABLE review (key text, duplicate text, similarity float8, found_at timestamptz, PRIMARY KEY (key, duplicate));
SELECT bloom_guard_create('person', 'sig', 0.9, 'flag', 'review', 'review', 'keep', '0.4');
UPDATE person SET name = 'Erica Mustermann.' WHERE id = 5;
UPDATE person SET name = 'Paul Klee', id = 55 WHERE id = 5;
UPDATE person SET name = NULL WHERE id = 11;
SELECT key, duplicate, round(similarity::numeric, 3) AS similarity FROM review ORDER BY found_at, key, duplicate;
DROP TRIGGER person_sig_guard ON person;

-- a deferred trigger: each UPDATE by itself
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON person DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.9', 'reject', 'keep', '0.4');
BEGIN;
UPDATE person SET name = 'Franz Marc' WHERE id = 55;
UPDATE person SET name = 'Paul Klee' WHERE id = 55;
COMMIT;
DROP TRIGGER guard ON person;
-- who empties rows on purpose
CREATE TRIGGER guard AFTER UPDATE ON person FOR EACH ROW WHEN (NEW.name IS NOT NULL)
    EXECUTE FUNCTION bloom_guard('sig', '0.9', 'reject', 'keep', '0.4');
UPDATE person SET name = NULL WHERE id = 55;
UPDATE person SET name = 'Franz Marc' WHERE id = 55;
UPDATE person SET name = 'Paul Klee' WHERE id = 55;
DROP TRIGGER guard ON person;

-- without a primary key; signatures of two shapes
CREATE TABLE bare (sig bloom);
CREATE INDEX ON bare USING gist (sig);
SELECT bloom_guard_create('bare', 'sig', 0.9, 'reject', 'keep', '0.4');
INSERT INTO bare VALUES (bloom_signature('Paul Klee'));
UPDATE bare SET sig = bloom_signature('Franz Marc');
UPDATE bare SET sig = NULL;
UPDATE bare SET sig = bloom_signature('Paul Klee', max_chars => 60);
DROP TABLE bare;

-- what a user may not read is not told
CREATE ROLE clerk;
GRANT INSERT, UPDATE, SELECT (id) ON person TO clerk;
SELECT bloom_guard_create('person', 'sig', 0.9, 'reject', 'keep', '0.4');
SET ROLE clerk;
UPDATE person SET name = 'Sean O''Brien' WHERE id = 55;
RESET ROLE;
GRANT SELECT (sig) ON person TO clerk;
SET ROLE clerk;
UPDATE person SET name = 'Sean O''Brien' WHERE id = 55;
RESET ROLE;
DROP TRIGGER person_sig_guard ON person;
REVOKE ALL ON person FROM clerk;
DROP ROLE clerk;

-- partitions: skip compares a row that moves, the others cannot
CREATE TABLE branch (at int, id int, name text, sig bloom, PRIMARY KEY (at, id)) PARTITION BY LIST (at);
CREATE TABLE branch1 PARTITION OF branch FOR VALUES IN (1);
CREATE TABLE branch2 (id int NOT NULL, name text, sig bloom, at int NOT NULL);
ALTER TABLE branch ATTACH PARTITION branch2 FOR VALUES IN (2);
CREATE INDEX ON branch USING sigfile (sig);
INSERT INTO branch VALUES (1, 1, 'Paul Klee', bloom_signature('Paul Klee')), (2, 2, 'Franz Marc', bloom_signature('Franz Marc'));
SELECT bloom_guard_create('branch', 'sig', 0.9, 'reject', 'keep', '0.4');
UPDATE branch SET sig = bloom_signature('Max Meier') WHERE id = 1;
UPDATE branch SET sig = bloom_signature('Max Meier') WHERE id = 2;
UPDATE branch SET at = 2, sig = bloom_signature('Max Meier') WHERE id = 1;
SELECT at, id FROM branch ORDER BY id;
DROP TRIGGER branch_sig_guard ON branch;
SELECT bloom_guard_create('branch', 'sig', 0.9, 'skip', 'keep', '0.4');
UPDATE branch SET at = 1, sig = bloom_signature('Erika Mustermann') WHERE id = 2;
UPDATE branch SET at = 1 WHERE id = 2;
SELECT at, id FROM branch ORDER BY id;
DROP TABLE branch;

-- a block list: the row itself is compared with what it was, with an index of any kind or none
CREATE TABLE list (id int PRIMARY KEY, sig bloom);
SELECT bloom_guard_create('person', 'sig', 0.9, 'reject', 'blocklist', 'list', 'keep', '0.4');
UPDATE person SET name = 'Sean O''Brien' WHERE id = 55;
DROP TRIGGER person_sig_guard ON person;

-- arguments
SELECT bloom_guard_create('person', 'sig', 0.9, 'reject', 'keep', 'much');
SELECT bloom_guard_create('person', 'sig', 0.9, 'reject', 'keep', '1.5');
SELECT bloom_guard_create('person', 'sig', 0.9, 'reject', 'keep');
SELECT bloom_guard_create('person', 'sig', 0.9, 'reject', 'keep', '0.4', 'keep', '0.5');
SELECT bloom_guard_create('person', 'sig', 0.9, 'flag', 'review', 'review', 'blocklist', 'list', 'keep', '0.4');
CREATE TRIGGER guard AFTER INSERT ON person FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.9', 'reject', 'keep', '0.4');
INSERT INTO person (id, name) VALUES (77, 'Gabriele Münter');
DROP TABLE person, list, review;
