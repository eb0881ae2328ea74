-- With whose rights flag writes: the owner's only where no code of others can run.
\set SHOW_CONTEXT never
CREATE ROLE rights_boss SUPERUSER;
CREATE ROLE rights_mallory;
CREATE ROLE rights_clerk;
CREATE SCHEMA reg AUTHORIZATION rights_boss;
CREATE SCHEMA mal AUTHORIZATION rights_mallory;
GRANT USAGE ON SCHEMA reg, mal TO PUBLIC;
-- what code of mallory's has been run by whom
CREATE TABLE seen (what text, who name);
GRANT INSERT ON seen TO PUBLIC;
SET ROLE rights_mallory;
CREATE FUNCTION mal.evil() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.seen VALUES (concat_ws(' ', TG_WHEN, TG_LEVEL, TG_TABLE_NAME), current_user);
    -- no EXCEPTION: in a trigger that is deferred until COMMIT, a server with assertions would stop at the end of its subtransaction
    IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        ALTER ROLE rights_mallory SUPERUSER;
    END IF;
    RETURN NEW;
END $$;
SET ROLE rights_boss;
CREATE TABLE reg.person (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
CREATE INDEX ON reg.person USING sigfile (sig);
INSERT INTO reg.person VALUES (1, 'Erika Mustermann');
GRANT INSERT ON reg.person TO rights_clerk, rights_mallory;
GRANT SELECT, TRIGGER ON reg.person TO rights_mallory;
RESET ROLE;
\set enter 'INSERT INTO reg.person VALUES (2, ''Erica Mustermann'');'
\set clerk_enters 'SET ROLE rights_clerk; :enter RESET ROLE;'
-- mallory is no superuser, and nothing of mallory's has run as rights_boss; the pairs, and who has entered them
\set look 'RESET ROLE; SELECT rolsuper AS super, (SELECT string_agg(DISTINCT what || '' by '' || who, ''; '') FROM seen) AS seen FROM pg_roles WHERE rolname = ''rights_mallory''; TRUNCATE seen; DELETE FROM reg.person WHERE id > 1; SELECT key, duplicate, who FROM :review; DELETE FROM :review;'

-- A review table of mallory's, on a table of the superuser's.
\set review mal.review
SET ROLE rights_mallory;
CREATE TABLE mal.review (key text, duplicate text, similarity float8, found_at timestamptz, who name DEFAULT current_user, PRIMARY KEY (key, duplicate));
CREATE TRIGGER guard AFTER INSERT ON reg.person FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'flag', 'review', 'mal.review');
:enter
:look
SET ROLE rights_mallory;
CREATE TRIGGER evil AFTER INSERT ON mal.review FOR EACH ROW EXECUTE FUNCTION mal.evil();
:enter
:look
SET ROLE rights_mallory;
DROP TRIGGER evil ON mal.review;
CREATE TRIGGER evil BEFORE INSERT ON mal.review FOR EACH ROW EXECUTE FUNCTION mal.evil();
:enter
:look
SET ROLE rights_mallory;
DROP TRIGGER evil ON mal.review;
CREATE CONSTRAINT TRIGGER evil AFTER INSERT ON mal.review DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION mal.evil();
BEGIN;
:enter
COMMIT;
:look
-- by a clerk, who may not write there, and then may
:clerk_enters
GRANT INSERT ON mal.review TO rights_clerk;
:clerk_enters
GRANT SELECT ON mal.review TO rights_clerk;
:clerk_enters
:look
DROP TRIGGER guard ON reg.person;
DROP TABLE mal.review;

-- Both tables are of one owner; mallory has TRIGGER on the review table alone.
\set review reg.review
REVOKE TRIGGER ON reg.person FROM rights_mallory;
SET ROLE rights_boss;
CREATE TABLE reg.review (key text, duplicate text, similarity float8, found_at timestamptz, who name DEFAULT current_user, PRIMARY KEY (key, duplicate));
GRANT TRIGGER ON reg.review TO rights_mallory;
CREATE TRIGGER guard AFTER INSERT ON reg.person FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'flag', 'review', 'reg.review');
:clerk_enters
:look
-- added after the plan was made
SET ROLE rights_mallory;
CREATE TRIGGER evil AFTER INSERT ON reg.review FOR EACH ROW EXECUTE FUNCTION mal.evil();
:clerk_enters
GRANT INSERT, SELECT ON reg.review TO rights_clerk;
:clerk_enters
:look
-- within the transaction
DROP TRIGGER evil ON reg.review;
BEGIN;
SET ROLE rights_clerk;
:enter
SET ROLE rights_mallory;
CREATE TRIGGER evil AFTER INSERT ON reg.review FOR EACH ROW EXECUTE FUNCTION mal.evil();
SET ROLE rights_clerk;
INSERT INTO reg.person VALUES (3, 'Erica  Mustermann');
COMMIT;
:look
DROP TRIGGER evil ON reg.review;
SET ROLE rights_mallory;
CREATE TRIGGER evil BEFORE INSERT ON reg.review FOR EACH ROW EXECUTE FUNCTION mal.evil();
:clerk_enters
:look
DROP TRIGGER evil ON reg.review;
SET ROLE rights_mallory;
CREATE TRIGGER evil BEFORE INSERT ON reg.review FOR EACH STATEMENT EXECUTE FUNCTION mal.evil();
:clerk_enters
:look
DROP TRIGGER evil ON reg.review;
SET ROLE rights_mallory;
CREATE CONSTRAINT TRIGGER evil AFTER INSERT ON reg.review DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION mal.evil();
:clerk_enters
:look
-- the guard itself is deferred, too
DROP TRIGGER guard ON reg.person;
CREATE CONSTRAINT TRIGGER guard AFTER INSERT ON reg.person DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'flag', 'review', 'reg.review');
:clerk_enters
:look
DROP TRIGGER evil ON reg.review;
:clerk_enters
:look
DROP TRIGGER guard ON reg.person;
CREATE TRIGGER guard AFTER INSERT ON reg.person FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'flag', 'review', 'reg.review');
-- the owner and other superusers are no exceptions to themselves
SET ROLE rights_mallory;
CREATE TRIGGER evil AFTER UPDATE ON reg.review FOR EACH ROW EXECUTE FUNCTION mal.evil();
SET ROLE rights_boss;
:enter
:look
:clerk_enters
:look
DROP TRIGGER evil ON reg.review;
-- rules and policies
CREATE RULE evil AS ON DELETE TO reg.review WHERE old.key = 'none' DO ALSO SELECT 1;
:clerk_enters
:look
DROP RULE evil ON reg.review;
CREATE RULE evil AS ON INSERT TO reg.review DO ALSO INSERT INTO seen VALUES ('rule', current_user);
:clerk_enters
:look
DROP RULE evil ON reg.review;
ALTER TABLE reg.review ENABLE ROW LEVEL SECURITY;
:clerk_enters
:look
CREATE POLICY own ON reg.review USING (who = current_user);
:clerk_enters
:look
ALTER TABLE reg.review DISABLE ROW LEVEL SECURITY;
:clerk_enters
:look
-- another owner
ALTER TABLE reg.review OWNER TO rights_mallory;
:clerk_enters
:look
ALTER TABLE reg.review OWNER TO rights_boss;
-- The server's own triggers are no danger: foreign keys from it and to it.
CREATE TABLE reg.known (id text PRIMARY KEY);
ALTER TABLE reg.known OWNER TO rights_mallory;
INSERT INTO reg.known VALUES ('2');
ALTER TABLE reg.review ADD FOREIGN KEY (key) REFERENCES reg.known DEFERRABLE INITIALLY DEFERRED;
CREATE TABLE reg.verdict (key text, duplicate text, FOREIGN KEY (key, duplicate) REFERENCES reg.review ON DELETE CASCADE);
:clerk_enters
:look
SET ROLE rights_clerk;
INSERT INTO reg.person VALUES (3, 'Erica Mustermann');
RESET ROLE;
DROP TABLE reg.verdict, reg.known CASCADE;
-- A child by inheritance is not read: its constraints may be of others.
CREATE TABLE reg.child () INHERITS (reg.review);
ALTER TABLE reg.child OWNER TO rights_mallory;
SET ROLE rights_mallory;
CREATE FUNCTION mal.folded(int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'folded by %', current_user; RETURN true; END $$;
ALTER TABLE reg.child ADD CHECK (mal.folded(1));
RESET ROLE;
SET constraint_exclusion = on;
:clerk_enters
RESET constraint_exclusion;
DROP TABLE reg.child;
:look
-- Functions of the owner's run in the invoking user's session, and find its temporary view in the place of a table: what calls
-- them is written as that user.
CREATE TABLE reg.known (key text);
CREATE FUNCTION reg.plausible(k text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN NOT EXISTS (SELECT FROM known WHERE key = k); END $$;
GRANT TEMPORARY ON DATABASE :"DBNAME" TO rights_mallory;
REVOKE ALL ON reg.review FROM rights_clerk, rights_mallory;
SET ROLE rights_mallory;
CREATE FUNCTION mal.becomes() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.seen VALUES ('becomes', current_user);
    BEGIN
        ALTER ROLE rights_mallory SUPERUSER;
    EXCEPTION WHEN insufficient_privilege THEN NULL;
    END;
    RETURN 'x';
END $$;
CREATE TEMPORARY VIEW known AS SELECT mal.becomes() AS key;
RESET ROLE;
ALTER TABLE reg.review ADD CONSTRAINT plausible CHECK (reg.plausible(key));
SET ROLE rights_mallory;
\set VERBOSITY terse
:enter
RESET ROLE;
GRANT INSERT, SELECT ON reg.review TO rights_mallory;
SET ROLE rights_mallory;
:enter
\set VERBOSITY default
:look
DROP VIEW pg_temp.known;
REVOKE ALL ON reg.review FROM rights_mallory;
ALTER TABLE reg.review DROP CONSTRAINT plausible;
-- In each place, and not with functions of the server's.
SET search_path = reg, public;
CREATE DOMAIN reg.word AS text CHECK (reg.plausible(value));
CREATE FUNCTION public.writes(change text, undo text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    EXECUTE change;
    SET LOCAL ROLE rights_clerk;
    BEGIN
        INSERT INTO reg.person VALUES (2, 'Erica Mustermann');
        result := 'as the owner';
    EXCEPTION WHEN insufficient_privilege THEN
        result := 'as the clerk';
    END;
    RESET ROLE;
    DELETE FROM reg.person WHERE id > 1;
    DELETE FROM reg.review;
    EXECUTE undo;
    RETURN result;
END $$;
SELECT writes('ALTER TABLE review ADD CONSTRAINT c CHECK (plausible(key))', 'ALTER TABLE review DROP CONSTRAINT c') AS "check",
    writes('ALTER TABLE review ADD more boolean DEFAULT plausible(''a'')', 'ALTER TABLE review DROP more') AS "default",
    writes('ALTER TABLE review ADD more boolean GENERATED ALWAYS AS (plausible(key)) STORED', 'ALTER TABLE review DROP more') AS generated,
    writes('ALTER TABLE review ADD more word', 'ALTER TABLE review DROP more') AS domain,
    writes('ALTER TABLE review ADD more text DEFAULT ''a''::word', 'ALTER TABLE review DROP more') AS cast,
    writes('CREATE INDEX more ON review ((plausible(key)))', 'DROP INDEX more') AS index,
    writes('CREATE INDEX more ON review (key) WHERE plausible(key)', 'DROP INDEX more') AS predicate;
SELECT writes('ALTER TABLE review ADD CONSTRAINT c CHECK (upper(key) <> '''')', 'ALTER TABLE review DROP CONSTRAINT c') AS "check",
    writes('ALTER TABLE review ADD more bigserial', 'ALTER TABLE review DROP more') AS "default",
    writes('ALTER TABLE review ADD more text GENERATED ALWAYS AS (key || duplicate) STORED', 'ALTER TABLE review DROP more') AS generated,
    writes('ALTER TABLE review ADD more bigint GENERATED ALWAYS AS IDENTITY', 'ALTER TABLE review DROP more') AS identity,
    writes('CREATE INDEX more ON review (upper(key))', 'DROP INDEX more') AS index,
    writes('CREATE INDEX more ON review (key) WHERE similarity > 0.9', 'DROP INDEX more') AS predicate;
-- A partition key.
ALTER TABLE review RENAME TO kept;
SELECT writes(format('CREATE TABLE review (LIKE kept INCLUDING DEFAULTS) PARTITION BY LIST (%s(key)); CREATE TABLE rest PARTITION OF review DEFAULT;
    ALTER TABLE review OWNER TO rights_boss; ALTER TABLE rest OWNER TO rights_boss', function), 'DROP TABLE review') AS partition_key
FROM unnest('{plausible,upper}'::text[]) AS function;
ALTER TABLE kept RENAME TO review;
RESET search_path;
DROP FUNCTION writes;
DROP DOMAIN reg.word;
DROP FUNCTION reg.plausible;
DROP TABLE reg.known;
REVOKE TEMPORARY ON DATABASE :"DBNAME" FROM rights_mallory;
-- Who has TRIGGER on a table names a review table, but reads no keys there that are not to be read.
SET ROLE rights_boss;
CREATE TABLE reg.secret (id int PRIMARY KEY, sig bloom);
INSERT INTO reg.secret VALUES (4711, bloom_signature('Erika Mustermann'));
CREATE INDEX ON reg.secret USING sigfile (sig);
CREATE TABLE reg.open (id int PRIMARY KEY, sig bloom);
GRANT INSERT, TRIGGER ON reg.open TO rights_mallory;
SET ROLE rights_mallory;
CREATE TABLE mal.told (key text, duplicate text, similarity float8, found_at timestamptz);
SELECT bloom_guard_create('reg.open', 'sig', 0.1, 'flag', 'review', 'mal.told', 'blocklist', 'reg.secret');
INSERT INTO reg.open VALUES (1, bloom_signature('Erika Musterman'));
SELECT key, duplicate FROM mal.told;
RESET ROLE;
GRANT SELECT ON reg.secret TO rights_mallory;
SET ROLE rights_mallory;
INSERT INTO reg.open VALUES (1, bloom_signature('Erika Musterman'));
SELECT key, duplicate FROM mal.told;
RESET ROLE;
DROP TABLE mal.told, reg.open, reg.secret;
-- An error leaves the user and the search_path as they were.
ALTER TABLE reg.review ADD CONSTRAINT none CHECK (key IS NULL);
SET ROLE rights_clerk;
\set VERBOSITY terse
:enter
\set VERBOSITY default
SELECT current_user;
SHOW search_path;
DO $$
DECLARE "constraint" text; "table" text;
BEGIN
    INSERT INTO reg.person VALUES (2, 'Erica Mustermann');
EXCEPTION WHEN check_violation THEN
    GET STACKED DIAGNOSTICS "constraint" = CONSTRAINT_NAME, "table" = TABLE_NAME;
    RAISE NOTICE 'caught % of % by %', "constraint", "table", current_user;
END $$;
SELECT current_user;
RESET ROLE;
ALTER TABLE reg.review DROP CONSTRAINT none;

-- Partitions.
DROP TABLE reg.review;
SET ROLE rights_boss;
CREATE TABLE reg.review (key text, duplicate text, similarity float8, found_at timestamptz, who name DEFAULT current_user) PARTITION BY LIST (key);
CREATE TABLE reg.review_1 PARTITION OF reg.review FOR VALUES IN ('1');
CREATE TABLE reg.review_x PARTITION OF reg.review DEFAULT PARTITION BY LIST (key);
CREATE TABLE reg.review_x_2 PARTITION OF reg.review_x FOR VALUES IN ('2');
GRANT TRIGGER ON reg.review, reg.review_1, reg.review_x, reg.review_x_2 TO rights_mallory;
:clerk_enters
:look
SET ROLE rights_mallory;
CREATE TRIGGER evil AFTER INSERT ON reg.review_x_2 FOR EACH ROW EXECUTE FUNCTION mal.evil();
:clerk_enters
GRANT INSERT, SELECT ON reg.review TO rights_clerk;
:clerk_enters
:look
DROP TRIGGER evil ON reg.review_x_2;
SET ROLE rights_mallory;
CREATE TRIGGER evil BEFORE INSERT ON reg.review FOR EACH ROW EXECUTE FUNCTION mal.evil();
:clerk_enters
:look
DROP TRIGGER evil ON reg.review;
-- where the row does not go, too
SET ROLE rights_mallory;
CREATE CONSTRAINT TRIGGER evil AFTER INSERT ON reg.review_1 DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION mal.evil();
:clerk_enters
:look
DROP TRIGGER evil ON reg.review_1;
:clerk_enters
:look
-- a partition of another owner, attached after the plan was made
SET ROLE rights_mallory;
CREATE TABLE mal.review_3 (key text, duplicate text, similarity float8, found_at timestamptz, who name DEFAULT current_user);
RESET ROLE;
ALTER TABLE reg.review ATTACH PARTITION mal.review_3 FOR VALUES IN ('3');
:clerk_enters
:look
ALTER TABLE reg.review DETACH PARTITION mal.review_3;
-- one on another server
CREATE FOREIGN DATA WRAPPER nowhere;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nowhere;
CREATE FOREIGN TABLE reg.review_4 PARTITION OF reg.review FOR VALUES IN ('4') SERVER nowhere;
ALTER FOREIGN TABLE reg.review_4 OWNER TO rights_boss;
REVOKE INSERT, SELECT ON reg.review FROM rights_clerk;
:clerk_enters
DROP FOREIGN DATA WRAPPER nowhere CASCADE;
:clerk_enters
:look

-- The name now is that of a table of another schema, whose owner has renamed that of the review table.
CREATE SCHEMA lent;
GRANT USAGE ON SCHEMA lent TO PUBLIC;
SET ROLE rights_boss;
CREATE TABLE lent.review (key text, duplicate text, similarity float8, found_at timestamptz, who name DEFAULT current_user);
CREATE OR REPLACE TRIGGER guard AFTER INSERT ON reg.person FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'flag', 'review', 'lent.review');
\set review lent.review
:clerk_enters
:look
ALTER SCHEMA lent RENAME TO returned;
CREATE SCHEMA lent;
GRANT USAGE ON SCHEMA lent TO PUBLIC;
GRANT CREATE ON SCHEMA lent TO rights_mallory;
SET ROLE rights_mallory;
CREATE TABLE lent.review (key text, duplicate text, similarity float8, found_at timestamptz, who name DEFAULT current_user);
CREATE TRIGGER evil BEFORE INSERT ON lent.review FOR EACH ROW EXECUTE FUNCTION mal.evil();
:clerk_enters
GRANT SELECT, INSERT ON lent.review TO rights_clerk;
:clerk_enters
:look
DROP SCHEMA lent, returned CASCADE;
DROP TRIGGER guard ON reg.person;

-- Other code that a guard runs is run by who enters the row: generated columns under skip. A cast of neither the owner nor a superuser is left alone.
DROP TABLE reg.review, reg.person;
SET ROLE rights_boss;
CREATE TABLE reg.review (key text, duplicate text, similarity float8, found_at timestamptz, who name DEFAULT current_user);
RESET ROLE;
CREATE TYPE mal.number AS ENUM ('one', 'two', 'three');
ALTER TYPE mal.number OWNER TO rights_mallory;
SET ROLE rights_mallory;
CREATE FUNCTION mal.shown(mal.number) RETURNS text LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.seen VALUES ('cast', current_user); RETURN $1::varchar; END $$;
CREATE CAST (mal.number AS text) WITH FUNCTION mal.shown(mal.number);
CREATE FUNCTION mal.sign(text) RETURNS bloom IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'generated by %', current_user; RETURN public.bloom_signature($1); END $$;
SET ROLE rights_boss;
CREATE TABLE reg.person (id mal.number PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (mal.sign(name)) STORED);
GRANT INSERT ON reg.person TO rights_clerk;
CREATE INDEX ON reg.person USING sigfile (sig);
INSERT INTO reg.person VALUES ('one', 'Erika Mustermann');
TRUNCATE seen;
CREATE TRIGGER guard AFTER INSERT ON reg.person FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'flag', 'review', 'reg.review');
CREATE TRIGGER skip BEFORE INSERT ON reg.person FOR EACH ROW WHEN (NEW.id = 'three') EXECUTE FUNCTION bloom_guard('sig', '0.8', 'skip');
SET ROLE rights_clerk;
INSERT INTO reg.person VALUES ('two', 'Erica Mustermann'), ('three', 'Erica Mustermann');
RESET ROLE;
SELECT what, who FROM seen GROUP BY 1, 2 ORDER BY 1;
SELECT key, duplicate, who FROM reg.review;
DROP TRIGGER guard ON reg.person;
DROP TRIGGER skip ON reg.person;

-- A block list is read if the owner of the guarded table may read what is told of it: the key of each partition.
SET ROLE rights_mallory;
CREATE TABLE mal.person (id int PRIMARY KEY, sig bloom);
CREATE TABLE mal.review (key text, duplicate text, similarity float8, found_at timestamptz);
SET ROLE rights_boss;
CREATE SCHEMA lists;
CREATE TABLE lists.blocked (id int NOT NULL, ssn int NOT NULL, sig bloom) PARTITION BY LIST (id);
CREATE TABLE lists.blocked_1 PARTITION OF lists.blocked (PRIMARY KEY (id)) FOR VALUES IN (1);
CREATE TABLE lists.blocked_2 PARTITION OF lists.blocked (PRIMARY KEY (ssn)) FOR VALUES IN (2);
CREATE INDEX ON lists.blocked USING sigfile (sig);
INSERT INTO lists.blocked VALUES (2, 12345, bloom_signature('Max Moritz'));
GRANT SELECT (id, sig) ON lists.blocked TO rights_mallory;
SET ROLE rights_mallory;
CREATE TRIGGER guard AFTER INSERT ON mal.person FOR EACH ROW
    EXECUTE FUNCTION bloom_guard('sig', '0.8', 'flag', 'blocklist', 'lists.blocked', 'review', 'mal.review');
INSERT INTO mal.person VALUES (1, bloom_signature('Max Moritz'));
RESET ROLE;
GRANT SELECT (ssn) ON lists.blocked TO rights_mallory;
SET ROLE rights_mallory;
INSERT INTO mal.person VALUES (1, bloom_signature('Max Moritz'));
SELECT key, duplicate FROM mal.review;
RESET ROLE;
DROP TABLE seen;
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA reg, mal, lists CASCADE;
DROP ROLE rights_boss;
DROP ROLE rights_mallory;
DROP ROLE rights_clerk;
