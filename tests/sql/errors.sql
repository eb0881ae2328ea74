-- What user code raises beneath the extension arrives as it was raised: every field of it, so that EXCEPTION WHEN finds it.

CREATE SCHEMA errors;
SET search_path = errors, public;
\set VERBOSITY terse
-- Guards warn of tables without an index, whichever row they see first.
SET client_min_messages = error;

-- An error with all fields, for a name that is bad.
CREATE FUNCTION signed(name text) RETURNS bloom IMMUTABLE LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    IF name = 'bad' THEN
        RAISE EXCEPTION 'bad name' USING ERRCODE = 'AB123', DETAIL = 'the detail', HINT = 'the hint',
            COLUMN = 'a column', CONSTRAINT = 'a constraint', DATATYPE = 'a type', TABLE = 'a table', SCHEMA = 'a schema';
    END IF;
    RETURN bloom_signature(name);
END $$;

-- The fields of the error that a statement fails with, and whether its context begins as that of `signed` does.
CREATE TYPE fields AS (state text, message text, detail text, hint text, "column" text, "constraint" text, type text, "table" text,
    schema text, context boolean);
CREATE FUNCTION caught(statement text) RETURNS fields LANGUAGE plpgsql AS $$
DECLARE f fields; context text;
BEGIN
    EXECUTE statement;
    RETURN NULL;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS f.state = RETURNED_SQLSTATE, f.message = MESSAGE_TEXT, f.detail = PG_EXCEPTION_DETAIL,
        f.hint = PG_EXCEPTION_HINT, f."column" = COLUMN_NAME, f."constraint" = CONSTRAINT_NAME, f.type = PG_DATATYPE_NAME,
        f."table" = TABLE_NAME, f.schema = SCHEMA_NAME, context = PG_EXCEPTION_CONTEXT;
    f.context = context ~ '^PL/pgSQL function (errors\.)?signed\(text\) line 4 at RAISE';
    RETURN f;
END $$;
SELECT * FROM caught($$SELECT errors.signed('bad')$$);

-- Whether it is the same error as without the extension in between.
CREATE FUNCTION same(statement text) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN c IS NULL THEN 'no error'
        WHEN c IS NOT DISTINCT FROM errors.caught($q$SELECT errors.signed('bad')$q$) THEN 'the same' ELSE c::text END
    FROM errors.caught(statement) c $$;

-- Building and checking an index over an expression.
CREATE TABLE person (id int PRIMARY KEY, name text);
INSERT INTO person VALUES (1, 'Erika Mustermann'), (2, 'bad');
SELECT same('CREATE INDEX ON errors.person USING gist (errors.signed(name))');
SELECT same('CREATE INDEX ON errors.person USING sigfile (errors.signed(name))');
SELECT same('CREATE INDEX ON errors.person USING sigfile (bloom_signature(name)) WHERE errors.signed(name) IS NOT NULL');
UPDATE person SET name = 'good' WHERE id = 2;
CREATE INDEX person_signed ON person USING sigfile (signed(name));
SELECT same($$INSERT INTO errors.person VALUES (3, 'bad')$$);
-- The function changes, and what is in the table becomes bad.
CREATE FUNCTION later(name text) RETURNS bloom IMMUTABLE LANGUAGE sql AS $$ SELECT errors.signed(name) $$;
CREATE INDEX person_later ON person USING sigfile (later(name));
CREATE OR REPLACE FUNCTION later(name text) RETURNS bloom IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN errors.signed('bad'); END $$;
SELECT same($$SELECT bloom_sigfile_check('errors.person_later')$$);
SELECT same('REINDEX INDEX errors.person_later');
DROP INDEX person_later;

-- Jobs over a view.
UPDATE person SET name = 'Erika Mustermann';
CREATE VIEW bad AS SELECT id, signed(CASE id WHEN 2 THEN 'bad' ELSE name END) AS sig, 1.0::float8 AS similarity,
    id::text AS a, (id + 1)::text AS b, name FROM person;
CREATE VIEW bad_pairs AS SELECT a, b, CASE WHEN sig IS NULL THEN 0 ELSE similarity END AS similarity FROM bad;
CREATE TABLE good AS SELECT id, bloom_signature(name) AS sig FROM person;
SELECT same($$SELECT * FROM bloom_duplicates('errors.bad', 'id', 'sig', 0.5)$$);
SELECT same($$SELECT * FROM bloom_linkage('errors.bad', 'id', 'sig', 'errors.good', 'id', 'sig', 0.5)$$);
SELECT same($$SELECT * FROM bloom_linkage('errors.good', 'id', 'sig', 'errors.bad', 'id', 'sig', 0.5)$$);
SELECT same($$SELECT * FROM bloom_clusters('errors.bad_pairs', 0.5)$$);
SELECT same($$SELECT bloom_report('errors.bad', 'id', 'sig', 0.5)$$);
-- A query in the error's place.
CREATE FUNCTION divides(id int) RETURNS bloom IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN bloom_signature((1 / (id - id))::text); END $$;
CREATE VIEW divided AS SELECT id, divides(id) AS sig FROM person;
\set VERBOSITY default
SELECT divides(1);
SELECT * FROM bloom_duplicates('divided', 'id', 'sig', 0.5);
DO $$
BEGIN
    PERFORM * FROM bloom_duplicates('errors.divided', 'id', 'sig', 0.5);
EXCEPTION WHEN division_by_zero THEN
    CREATE TABLE found_by_its_name ();
END $$;
SELECT 'found_by_its_name'::regclass;
\set VERBOSITY terse

-- A block list whose policy fails, and a key whose cast to text does.
CREATE TABLE list (id int PRIMARY KEY, sig bloom);
INSERT INTO list VALUES (1, bloom_signature('Erika Mustermann'));
CREATE VIEW bad_list AS SELECT * FROM list WHERE signed('bad') IS NOT NULL;
CREATE TABLE policed (id int PRIMARY KEY, sig bloom);
INSERT INTO policed VALUES (1, bloom_signature('Erika Mustermann'));
ALTER TABLE policed ENABLE ROW LEVEL SECURITY;
CREATE POLICY bad ON policed USING (signed(CASE id WHEN 1 THEN 'bad' END) IS NOT NULL);
CREATE ROLE regress_errors;
GRANT USAGE ON SCHEMA errors TO regress_errors;
GRANT SELECT ON ALL TABLES IN SCHEMA errors TO regress_errors;
SET ROLE regress_errors;
SELECT same($$SELECT * FROM bloom_blocklist(bloom_signature('Erika Mustermann'), 'errors.policed', 'sig', 0.5)$$);
SELECT same($$SELECT * FROM bloom_duplicates('errors.policed', 'id', 'sig', 0.5)$$);
RESET ROLE;
CREATE TYPE number AS (n int);
CREATE FUNCTION shown(n number) RETURNS text LANGUAGE sql AS $$ SELECT errors.signed('bad')::text $$;
CREATE CAST (number AS text) WITH FUNCTION shown(number);
CREATE TABLE numbered (id number PRIMARY KEY, sig bloom);
CREATE TRIGGER guard AFTER INSERT ON numbered FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.5', 'reject');
INSERT INTO numbered VALUES (row(1), bloom_signature('Erika Mustermann'));
SELECT same($$INSERT INTO errors.numbered VALUES (row(2), bloom_signature('Erika Mustermann'))$$);

-- A generated column under skip.
CREATE TABLE generated (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (signed(name)) STORED);
CREATE TRIGGER guard BEFORE INSERT ON generated FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.5', 'skip');
SELECT same($$INSERT INTO errors.generated VALUES (1, 'bad')$$);
CREATE FUNCTION constant(name text) RETURNS bloom IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN errors.signed(name); END $$;
CREATE TABLE folded (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (constant('good')) STORED);
CREATE TRIGGER guard BEFORE INSERT ON folded FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.5', 'skip');
CREATE OR REPLACE FUNCTION constant(name text) RETURNS bloom IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN errors.signed('bad'); END $$;
SELECT same($$INSERT INTO errors.folded VALUES (1, 'good')$$);

-- Triggers and constraints of a review table.
CREATE TABLE watched (id int PRIMARY KEY, sig bloom);
CREATE TABLE review (key text, duplicate text, similarity float8, found_at timestamptz, PRIMARY KEY (key, duplicate));
CREATE TRIGGER guard AFTER INSERT ON watched FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.5', 'flag', 'review', 'errors.review');
INSERT INTO watched VALUES (1, bloom_signature('Erika Mustermann'));
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM errors.signed('bad'); RETURN new; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON review FOR EACH ROW EXECUTE FUNCTION refuse();
SELECT same($$INSERT INTO errors.watched VALUES (2, bloom_signature('Erika Mustermann'))$$);
DROP TRIGGER refuse ON review;
CREATE TRIGGER refuse AFTER INSERT ON review FOR EACH ROW EXECUTE FUNCTION refuse();
SELECT same($$INSERT INTO errors.watched VALUES (2, bloom_signature('Erika Mustermann'))$$);
DROP TRIGGER refuse ON review;
ALTER TABLE review ADD CONSTRAINT only_small CHECK (similarity < 0.1);
SELECT state, "constraint", "table", schema FROM caught($$INSERT INTO errors.watched VALUES (2, bloom_signature('Erika Mustermann'))$$);
ALTER TABLE review DROP CONSTRAINT only_small;

-- A guard beneath a guard keeps its state and its names.
ALTER TABLE review ADD sig bloom DEFAULT bloom_signature('always the same');
CREATE TRIGGER "beneath" AFTER INSERT ON review FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.5', 'reject');
INSERT INTO watched VALUES (2, bloom_signature('Erika Mustermann'));
SELECT state, message, detail, "constraint", "table", schema
FROM caught($$INSERT INTO errors.watched VALUES (3, bloom_signature('Erika Mustermann'))$$);

-- Errors of the extension's own keep theirs, and the context of where they were raised.
\set VERBOSITY default
DO $$ BEGIN PERFORM bloom_plan(0, 2, 0.01); END $$;

RESET search_path;
DROP SCHEMA errors CASCADE;
DROP ROLE regress_errors;
