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
SELECT regexp_replace(statement, '^-- then: ', '') FROM bloom_stale_columns('person') WHERE "column" IN ('sig', 'fields', 'shaped', 'filter', 'normal', 'both_names', 'plain') \gexec
SELECT DISTINCT "column" FROM bloom_stale_columns('person');
SELECT id, sig = bloom_signature(given || ' ' || surname, rules => 2) AS sig, fields = bloom_signature_of_fields(3, 30, 0.01, false, 2, given, surname) AS fields, normal,
    shaped = bloom_signature_of_fields(2, 20, 0.05, true, 2, given, surname) AS shaped, both_names = bloom_signature(given, rules => 2) | bloom_signature(upper(surname), rules => 2) AS both_names FROM person ORDER BY id;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'person'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attname COLLATE "C";
SELECT indexdef FROM pg_indexes WHERE schemaname = 'stale_columns' ORDER BY indexdef COLLATE "C";
-- Nothing is to be done where no text has another normal form.
CREATE TABLE fine (name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
INSERT INTO fine VALUES ('Jürgen Müller'), ('Łukasz'), (NULL);
SELECT * FROM bloom_stale_columns('fine');
-- But for what is compared with a column that moves.
ALTER TABLE fine ALTER sig SET STATISTICS 300;
SELECT * FROM bloom_stale_columns('fine', unchanged => true);
-- A name that is long, quoted, and taken.
CREATE TABLE "Odd ""one""" ("wörd $1 $$ '" text, "ein sehr langer Name für eine Spalte mit Signaturen, fast zu lang" bloom GENERATED ALWAYS AS (bloom_signature("wörd $1 $$ '")) STORED, "ein sehr langer Name für eine Spalte mit Signaturen, fas_rules2" int);
INSERT INTO "Odd ""one""" VALUES ('Zoë');
CREATE INDEX ON "Odd ""one""" USING sigfile ("ein sehr langer Name für eine Spalte mit Signaturen, fast zu lang");
SELECT statement FROM bloom_stale_columns('"Odd ""one"""');
SELECT statement FROM bloom_stale_columns('"Odd ""one"""') \gexec
-- What is computed of constants is computed by the newest rules, too, and what functions in SQL make; texts without a collation are compared.
CREATE FUNCTION in_sql(text) RETURNS bloom IMMUTABLE LANGUAGE sql AS 'SELECT bloom_signature($1)';
CREATE DOMAIN fixed AS bloom(7,43,3);
CREATE TABLE computed (a text COLLATE "C", b text COLLATE "POSIX",
    zoe float8 GENERATED ALWAYS AS (bloom_sim(bloom_signature(a), bloom_signature('Zoë'))) STORED,
    joined bloom GENERATED ALWAYS AS (bloom_signature(a || b)) STORED,
    filled bloom GENERATED ALWAYS AS (COALESCE(bloom_signature(a, rules => 2 - 1), bloom_signature(fpr => 0.012345678901234567, text => 'Noël'))) STORED,
    ours bloom GENERATED ALWAYS AS (in_sql(a)) STORED,
    of_domain fixed GENERATED ALWAYS AS (bloom_signature(a)) STORED);
INSERT INTO computed (a, b) VALUES ('Zoë', 'Noël'), (NULL, 'x');
SET extra_float_digits = -10;
SELECT statement FROM bloom_stale_columns('computed') WHERE step = 1;
RESET extra_float_digits;
SELECT statement FROM bloom_stale_columns('computed') \gexec
SELECT a, zoe, joined = bloom_signature(a || b, rules => 2) AS joined, filled = COALESCE(bloom_signature(a, rules => 2), bloom_signature('Noël', fpr => 0.012345678901234567, rules => 2)) AS filled,
    ours = bloom_signature(a, rules => 2) AS ours, of_domain = bloom_signature(a, rules => 2) AS of_domain FROM computed;
-- The old column stays if the new one could not be made.
CREATE TABLE kept (name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
INSERT INTO kept VALUES ('Zoë');
SELECT statement FROM bloom_stale_columns('kept') WHERE step > 1 \gexec
SELECT attname FROM pg_attribute WHERE attrelid = 'kept'::regclass AND attnum > 0 AND NOT attisdropped;
-- What is said in a comment ends with its line, whatever names there are.
CREATE TABLE lines (name text, "sig
SELECT 1 / 0; --" bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
ALTER TABLE lines ADD CHECK ("sig
SELECT 1 / 0; --" IS NOT NULL OR name IS NULL);
INSERT INTO lines VALUES ('Zoë');
SELECT step, statement ~ '^--' AS is_comment, statement ~ '[\n\r]' AS has_lines FROM bloom_stale_columns('lines');
-- What a column is besides its type, and indexes that say more than their columns.
CREATE TABLE marked (id int, name text, normal text COLLATE "C" GENERATED ALWAYS AS (ident_normalize(name)) STORED NOT NULL);
INSERT INTO marked VALUES (1, 'Zoë');
CREATE INDEX marked_descending ON marked (normal DESC NULLS LAST);
CREATE INDEX marked_included ON marked (normal) INCLUDE (id);
CREATE INDEX marked_collated ON marked (normal COLLATE "POSIX");
CREATE INDEX marked_plain ON marked (normal, name) WITH (fillfactor = 50);
CREATE STATISTICS marked_both ON id, normal FROM marked;
SELECT statement FROM bloom_stale_columns('marked');
-- Who inherits a column is moved with the table that has it; what is on it there is said.
CREATE TABLE parted (id int, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (id);
CREATE TABLE parted_2 PARTITION OF parted_1 FOR VALUES FROM (0) TO (10);
CREATE INDEX ON parted USING sigfile (sig);
CREATE INDEX parted_own ON parted_2 USING gist (sig);
ALTER TABLE parted_2 ADD CONSTRAINT parted_check CHECK (bloom_bits(sig) < 300);
INSERT INTO parted VALUES (1, 'Zoë');
SELECT * FROM bloom_stale_columns('parted_2');
SELECT statement FROM bloom_stale_columns('parted');
SELECT regexp_replace(statement, '^-- then: ', '') FROM bloom_stale_columns('parted') \gexec
SELECT * FROM bloom_stale_columns('parted');
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
