-- Columns that the newest rule set would compute otherwise: counted by the texts of rows, with the statements to move.
CREATE SCHEMA stale_columns;
SET search_path = stale_columns, public;
CREATE TABLE person (
    id int PRIMARY KEY, given text, surname text, tenant int,
    sig bloom(7,43,3) GENERATED ALWAYS AS (bloom_signature(given || ' ' || surname)) STORED,
    plain bloom GENERATED ALWAYS AS (bloom_signature(surname, ngram => 2, max_chars => 60)) STORED,
    both_names bloom GENERATED ALWAYS AS (bloom_signature(given) | bloom_signature(upper(surname), rules => 1)) STORED,
    fields bloom GENERATED ALWAYS AS (bloom_signature_of_fields(given, surname)) STORED,
    shaped bloom GENERATED ALWAYS AS (bloom_signature_of_fields(2, 20, 0.05, true, VARIADIC ARRAY[given, surname])) STORED,
    filter counting_bloom(7,43,3) GENERATED ALWAYS AS (counting_signature(given)) STORED,
    normal text GENERATED ALWAYS AS (ident_normalize(given, true)) STORED,
    newest bloom(7,43,3,2) GENERATED ALWAYS AS (bloom_signature(given, rules => 2)) STORED,
    other int GENERATED ALWAYS AS (length(given)) STORED
);
INSERT INTO person (id, given, surname, tenant) VALUES (1, 'Zoë', 'Müller', 1), (2, 'Anna', 'Berg', 1), (3, 'Noël', NULL, 2), (4, 'Chloé', 'Citroën', 2), (5, NULL, 'Zwölfer', 3);
CREATE INDEX ON person USING sigfile (sig) WITH (tail_limit = 100);
CREATE INDEX ON person USING sigfile (tenant, sig);
CREATE INDEX ON person USING gist (sig) WHERE id > 3;
CREATE INDEX ON person (bloom_bits(plain));
ALTER TABLE person ADD CONSTRAINT few CHECK (bloom_bits(plain) < 300), ADD CONSTRAINT alone EXCLUDE USING sigfile ((bloom_query(plain, 1)) WITH %);
SELECT "column", rules, newest, rows, step, statement FROM bloom_stale_columns('person');
-- The statements do what they say.
CREATE TABLE before AS SELECT id, sig, fields FROM person;
SELECT statement FROM bloom_stale_columns('person') WHERE "column" IN ('sig', 'fields', 'shaped', 'filter', 'normal', 'both_names', 'plain') \gexec
SELECT DISTINCT "column" FROM bloom_stale_columns('person');
SELECT id, sig = bloom_signature(given || ' ' || surname, rules => 2) AS sig, fields = bloom_signature_of_fields(3, 30, 0.01, false, 2, given, surname) AS fields, normal,
    shaped = bloom_signature_of_fields(2, 20, 0.05, true, 2, given, surname) AS shaped, both_names = bloom_signature(given, rules => 2) | bloom_signature(upper(surname), rules => 2) AS both_names FROM person ORDER BY id;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'person'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attname COLLATE "C";
SELECT indexdef FROM pg_indexes WHERE schemaname = 'stale_columns' ORDER BY indexdef COLLATE "C";
-- Nothing is to be done where no text has another normal form.
CREATE TABLE fine (name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
INSERT INTO fine VALUES ('Jürgen Müller'), ('Łukasz'), (NULL);
SELECT * FROM bloom_stale_columns('fine');
-- A name that is long, quoted, and taken.
CREATE TABLE "Odd ""one""" ("wörd $1 $$ '" text, "ein sehr langer Name für eine Spalte mit Signaturen, fast zu lang" bloom GENERATED ALWAYS AS (bloom_signature("wörd $1 $$ '")) STORED, "ein sehr langer Name für eine Spalte mit Signaturen, fas_rules2" int);
INSERT INTO "Odd ""one""" VALUES ('Zoë');
CREATE INDEX ON "Odd ""one""" USING sigfile ("ein sehr langer Name für eine Spalte mit Signaturen, fast zu lang");
SELECT statement FROM bloom_stale_columns('"Odd ""one"""');
SELECT statement FROM bloom_stale_columns('"Odd ""one"""') \gexec
-- Functions of others run for their owner alone.
CREATE ROLE regress_stale_owner;
GRANT USAGE, CREATE ON SCHEMA stale_columns TO regress_stale_owner;
SET ROLE regress_stale_owner;
CREATE FUNCTION of_others(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'runs as %', current_user; RETURN $1; END $$;
SET client_min_messages = warning;
CREATE TABLE theirs (name text, sig bloom GENERATED ALWAYS AS (bloom_signature(of_others(name))) STORED, plain bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
INSERT INTO theirs VALUES ('Zoë');
SELECT "column", rows FROM bloom_stale_columns('theirs') WHERE step = 1;
RESET ROLE;
RESET client_min_messages;
SELECT "column", rows FROM bloom_stale_columns('theirs') WHERE step = 1;
CREATE ROLE regress_stale_stranger;
GRANT USAGE ON SCHEMA stale_columns TO regress_stale_stranger;
SET ROLE regress_stale_stranger;
SELECT "column" FROM bloom_stale_columns('person');
SELECT "column" FROM bloom_stale_columns('theirs');
RESET ROLE;
SELECT * FROM bloom_stale_columns(NULL);
SELECT * FROM bloom_stale_columns(0);
SELECT * FROM bloom_stale_columns('pg_class_oid_index');
CREATE VIEW of_fine AS SELECT * FROM fine;
SELECT * FROM bloom_stale_columns('of_fine');
SET client_min_messages = warning;
DROP SCHEMA stale_columns CASCADE;
DROP ROLE regress_stale_owner, regress_stale_stranger;
