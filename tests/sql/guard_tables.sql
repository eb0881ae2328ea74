-- bloom_guard on partitions, inheritance, and against block lists.
CREATE TABLE person (id int, land text, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED, PRIMARY KEY (land, id))
    PARTITION BY LIST (land);
CREATE TABLE person_de PARTITION OF person FOR VALUES IN ('de');
-- other column numbers, and partitions of its own
CREATE TABLE person_at (sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED, dropped int, name text, land text NOT NULL, id int NOT NULL)
    PARTITION BY RANGE (id);
ALTER TABLE person_at DROP dropped;
ALTER TABLE person ATTACH PARTITION person_at FOR VALUES IN ('at');
CREATE TABLE person_at_1 PARTITION OF person_at FOR VALUES FROM (1) TO (100);
CREATE TABLE person_at_2 PARTITION OF person_at FOR VALUES FROM (100) TO (200);
CREATE INDEX ON person USING sigfile (sig);
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON person FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject');
INSERT INTO person VALUES (1, 'de', 'Erika Mustermann'), (2, 'at', 'Otto Normalverbraucher');
INSERT INTO person VALUES (101, 'at', 'Erika Mustermann');
INSERT INTO person_at_2 (id, land, name) VALUES (101, 'at', 'Erica Mustermann');
INSERT INTO person_at (id, land, name) VALUES (101, 'at', 'otto normalverbraucher');
INSERT INTO person VALUES (3, 'de', 'Max Meier'), (103, 'at', 'max meier');
-- from one partition to another
UPDATE person SET land = 'at', id = 150 WHERE id = 1;
UPDATE person SET name = 'Erika  Mustermann', land = 'de' WHERE id = 150;
UPDATE person SET name = 'Otto Normalverbraucher', land = 'at' WHERE id = 150;
SELECT tableoid::regclass, id, name FROM person ORDER BY id;
-- partitions come and go
CREATE TABLE person_ch PARTITION OF person FOR VALUES IN ('ch');
INSERT INTO person VALUES (7, 'ch', 'Otto  Normalverbraucher');
INSERT INTO person VALUES (7, 'ch', 'Urs Meier');
INSERT INTO person VALUES (8, 'de', 'Urs Meier');
ALTER TABLE person DETACH PARTITION person_ch;
INSERT INTO person VALUES (8, 'de', 'Urs Meier');
INSERT INTO person_ch (id, land, name) VALUES (9, 'ch', 'Otto Normalverbraucher');
DROP TABLE person_ch;
-- a trigger of one partition looks in that alone
DROP TRIGGER guard ON person;
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON person_at FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject');
INSERT INTO person VALUES (102, 'at', 'Urs Meier');
INSERT INTO person VALUES (51, 'at', 'Urs Meier');
DROP TRIGGER guard ON person_at;
-- skip and flag
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON person FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'skip');
INSERT INTO person VALUES (52, 'at', 'Urs Meier'), (53, 'at', 'Ursula Andress'), (54, 'de', 'ursula andress');
-- a row that moves is not left out where it arrives, or it would be lost; it is checked where it leaves
ALTER TABLE person DISABLE TRIGGER guard;
INSERT INTO person VALUES (56, 'at', 'urs meier');
ALTER TABLE person ENABLE TRIGGER guard;
CREATE TRIGGER guard2 BEFORE INSERT OR UPDATE ON person FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '1', 'skip');
UPDATE person SET land = 'de' WHERE id = 56;
INSERT INTO person VALUES (57, 'at', 'urs meier');
UPDATE person SET land = 'at', name = 'Ursula Andress' WHERE id = 56;
UPDATE person SET land = 'at', name = 'Paul Klee' WHERE id = 56;
BEGIN;
UPDATE person SET land = 'de' WHERE id = 56;
INSERT INTO person VALUES (57, 'at', 'Paul Klee');
UPDATE person SET name = name WHERE id = 56;
INSERT INTO person VALUES (58, 'at', 'Paul Klee');
ROLLBACK;
SELECT tableoid::regclass, id, name FROM person WHERE id BETWEEN 51 AND 60 ORDER BY id;
DELETE FROM person WHERE id = 56;
DROP TRIGGER guard2 ON person;
DROP TRIGGER guard ON person;
CREATE TABLE review (key text, duplicate text, similarity float8, found_at timestamptz);
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON person
    FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'flag', 'review', 'review');
INSERT INTO person VALUES (55, 'at', 'Ursula Andress'), (155, 'at', 'Ursula andress');
SELECT key, duplicate FROM review ORDER BY key, duplicate;
-- a partition that cannot be looked in
CREATE FOREIGN DATA WRAPPER nowhere;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nowhere;
CREATE TABLE other (id int, sig bloom) PARTITION BY LIST (id);
CREATE TABLE other_1 PARTITION OF other FOR VALUES IN (1);
CREATE FOREIGN TABLE other_2 PARTITION OF other FOR VALUES IN (2) SERVER nowhere;
CREATE TRIGGER guard AFTER INSERT ON other_1 FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject', 'blocklist', 'other');
INSERT INTO other VALUES (1, bloom_signature('x'));
DROP TABLE other;
DROP FOREIGN DATA WRAPPER nowhere CASCADE;
-- Inheritance: the table alone.
CREATE TABLE parent (id int PRIMARY KEY, sig bloom);
CREATE TABLE child () INHERITS (parent);
CREATE INDEX ON parent USING gist (sig);
CREATE TRIGGER guard AFTER INSERT ON parent FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject');
INSERT INTO child VALUES (1, bloom_signature('Max Moritz')), (2, bloom_signature('Max Moritz'));
INSERT INTO parent VALUES (3, bloom_signature('Max Moritz'));
INSERT INTO parent VALUES (4, bloom_signature('Max Moritz'));
SELECT * FROM bloom_blocklist(bloom_signature('Max Moritz'), 'parent', 'sig', 0.8);
DROP TABLE parent, child;

-- Block lists.
CREATE SCHEMA "My lists";
CREATE TABLE "My lists"."Blocked" (id int PRIMARY KEY, "The signature" bloom);
CREATE INDEX ON "My lists"."Blocked" USING sigfile ("The signature");
INSERT INTO "My lists"."Blocked" VALUES (1, bloom_signature('Hans Wurst')), (2, NULL), (3, bloom_signature(''));
CREATE TABLE customer (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
CREATE TRIGGER blocked AFTER INSERT OR UPDATE ON customer FOR EACH ROW
    EXECUTE FUNCTION bloom_guard('sig', '0.7', 'reject', 'blocklist', '"My lists"."Blocked"', 'blocklist_column', 'The signature');
INSERT INTO customer VALUES (1, 'Hanns Wurst');
INSERT INTO customer VALUES (1, 'Erika Mustermann'), (2, 'Erika Mustermann'), (3, NULL), (4, '');
UPDATE customer SET name = 'Hans Wurst' WHERE id = 2;
INSERT INTO "My lists"."Blocked" VALUES (4, bloom_signature('Erika Mustermann'));
UPDATE customer SET id = 5 WHERE id = 2;
\set VERBOSITY verbose
INSERT INTO customer VALUES (6, 'Erica Mustermann');
\set VERBOSITY default
DROP TRIGGER blocked ON customer;
CREATE TRIGGER flagged AFTER INSERT ON customer FOR EACH ROW
    EXECUTE FUNCTION bloom_guard('sig', '0.5', 'flag', 'blocklist', '"My lists"."Blocked"', 'blocklist_column', 'The signature', 'review', 'review');
TRUNCATE review;
INSERT INTO customer VALUES (7, 'Hanns Wurst'), (8, 'Hans Würst'), (9, 'Paul Klee');
SELECT key, duplicate, round(similarity::numeric, 3) AS similarity FROM review ORDER BY key;
CREATE TRIGGER blocked AFTER INSERT OR UPDATE ON customer FOR EACH ROW
    EXECUTE FUNCTION bloom_guard('sig', '0.7', 'reject', 'blocklist', 'person', 'message', 'please ask the manager');
INSERT INTO customer VALUES (10, 'Ursula Andress');
-- as a query
SELECT key, round(similarity::numeric, 3) AS similarity
FROM bloom_blocklist(bloom_signature('Hans Wurst'), '"My lists"."Blocked"', 'The signature', 0.5);
SELECT c.name, b.* FROM customer AS c, bloom_blocklist(c.sig, '"My lists"."Blocked"', 'The signature', 0.7) AS b ORDER BY c.id, b.key;
SELECT key, round(similarity::numeric, 3) AS similarity FROM bloom_blocklist(bloom_signature('Ursula Andress'), 'person', 'sig', 0.8);
SELECT count(*) FROM bloom_blocklist(NULL, 'person', 'sig', 0.8);
SELECT count(*) FROM bloom_blocklist(bloom_signature(''), 'person', 'sig', 0.8);
SELECT * FROM bloom_blocklist(bloom_signature('x'), 'person', 'signature', 0.8);
SELECT * FROM bloom_blocklist(bloom_signature('x'), 'person', 'name', 0.8);
SELECT * FROM bloom_blocklist(bloom_signature('x'), 'person', 'sig', 1.1);
SELECT * FROM bloom_blocklist(bloom_signature('x', 2), 'person', 'sig', 0.9);
SELECT * FROM bloom_blocklist(bloom_signature('x'), 0, 'sig', 0.9);
CREATE VIEW view AS SELECT * FROM person;
SELECT * FROM bloom_blocklist(bloom_signature('x'), 'view', 'sig', 0.9);
DROP VIEW view;
DROP SCHEMA "My lists" CASCADE;
DROP TABLE customer, person, review;

-- A cast of a key that a user has made does not run when somebody else searches the list.
CREATE SCHEMA trap;
CREATE TYPE trap.code AS ENUM ('one', 'two');
CREATE FUNCTION trap.run(trap.code) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'run as %', current_user; END $$;
CREATE CAST (trap.code AS text) WITH FUNCTION trap.run(trap.code);
CREATE TABLE trap.list (code trap.code PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
INSERT INTO trap.list VALUES ('one', 'Paul Klee');
SELECT * FROM bloom_blocklist(bloom_signature('Paul Klee'), 'trap.list', 'sig', 0.5);
SET client_min_messages = warning;
DROP SCHEMA trap CASCADE;
