-- Constraints whose threshold stands in the constraint.
CREATE TABLE person (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED,
    CONSTRAINT no_duplicate EXCLUDE USING gist ((bloom_query(sig, 0.85)) WITH %));
INSERT INTO person (id, name) VALUES (1, 'Erika Mustermann'), (2, 'Otto Normalverbraucher'), (3, NULL), (4, NULL), (5, ''), (6, '');
INSERT INTO person (id, name) VALUES (7, 'Erika Mustermannn');
INSERT INTO person (id, name) VALUES (7, 'Erika Mustermannn') ON CONFLICT DO NOTHING;
INSERT INTO person (id, name) VALUES (7, 'Erica Mustermann');
UPDATE person SET name = 'Erika Mustermann!' WHERE id = 7;
UPDATE person SET name = 'Erika Musterman' WHERE id = 1;
DELETE FROM person WHERE id = 1;
INSERT INTO person (id, name) VALUES (8, 'Erika Mustermann');
-- Within one statement.
INSERT INTO person (id, name) VALUES (9, 'Max Meier'), (10, 'max meier');
SELECT id, name FROM person ORDER BY id;
-- No setting changes it.
SET bloom_ident.threshold = 1;
INSERT INTO person (id, name) VALUES (11, 'Erika Mustermann');
RESET bloom_ident.threshold;
\d person
-- Deferred.
CREATE TABLE later (sig bloom, EXCLUDE USING gist ((bloom_query(sig, 0.85)) WITH %) DEFERRABLE INITIALLY DEFERRED);
BEGIN;
INSERT INTO later VALUES (bloom_signature('Erika Mustermann')), (bloom_signature('erika mustermann'));
COMMIT;
SELECT count(*) FROM later;
-- An operator that a setting governs is refused.
\set VERBOSITY sqlstate
CREATE TABLE refused (sig bloom, EXCLUDE USING gist (sig WITH %));
CREATE TABLE refused (sig bloom, EXCLUDE USING gist (sig WITH ~%));
\set VERBOSITY default
CREATE TABLE refused (sig bloom, EXCLUDE USING gist ((bloom_query(sig, 1.5)) WITH %));
INSERT INTO refused VALUES (bloom_signature('x'));
DROP TABLE refused;
-- On a table that has duplicates already: one pair is shown.
CREATE TABLE old (id int, sig bloom);
INSERT INTO old SELECT i, bloom_signature('name ' || i) FROM generate_series(1, 3) AS i;
INSERT INTO old VALUES (4, bloom_signature('name 1'));
\set VERBOSITY terse
ALTER TABLE old ADD CONSTRAINT no_old_duplicate EXCLUDE USING gist ((bloom_query(sig, 0.99)) WITH %);
\set VERBOSITY default
DELETE FROM old WHERE id = 4;
ALTER TABLE old ADD CONSTRAINT no_old_duplicate EXCLUDE USING gist ((bloom_query(sig, 0.99)) WITH %);
-- An index on the query serves no search on the signature, but queries on the query.
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM old WHERE bloom_query(sig, 0.99) % bloom_query(bloom_signature('name 1'), 0.5);
SELECT id FROM old WHERE bloom_query(sig, 0.99) % bloom_query(bloom_signature('name 1'), 0.5);
SELECT id FROM old WHERE bloom_query(sig, 0.99) % bloom_signature('name 1');
SELECT id FROM old WHERE bloom_query(sig, 0.99) % bloom_query(bloom_signature('name 1', 2), 0.5);
RESET enable_seqscan;
DROP TABLE person, later, old;
