-- Who learns what from bloom_guard, and as whom it acts.
CREATE ROLE guard_owner;
CREATE ROLE guard_clerk;
CREATE ROLE guard_list;
CREATE SCHEMA register AUTHORIZATION guard_owner;
CREATE SCHEMA lists AUTHORIZATION guard_list;
GRANT USAGE ON SCHEMA register TO guard_clerk;
SET ROLE guard_owner;
CREATE TABLE register.person (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
CREATE INDEX ON register.person USING sigfile (sig);
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON register.person
    FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject');
INSERT INTO register.person VALUES (1, 'Erika Mustermann'), (2, 'Hans Wurst');
GRANT INSERT, UPDATE, DELETE ON register.person TO guard_clerk;
-- keys and similarities are for those who may SELECT both columns
SET ROLE guard_clerk;
INSERT INTO register.person VALUES (3, 'Erica Mustermann');
SET ROLE guard_owner;
GRANT SELECT (id, name) ON register.person TO guard_clerk;
SET ROLE guard_clerk;
INSERT INTO register.person VALUES (3, 'Erica Mustermann');
SET ROLE guard_owner;
GRANT SELECT (sig) ON register.person TO guard_clerk;
SET ROLE guard_clerk;
INSERT INTO register.person VALUES (3, 'Erica Mustermann');
-- row-level security hides no row from the guard, but all of them from the message
SET ROLE guard_owner;
GRANT SELECT ON register.person TO guard_clerk;
ALTER TABLE register.person ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON register.person USING (id > 100) WITH CHECK (true);
SET ROLE guard_clerk;
SELECT count(*) FROM register.person;
INSERT INTO register.person VALUES (3, 'Erica Mustermann');
INSERT INTO register.person VALUES (103, 'Max Moritz');
INSERT INTO register.person VALUES (104, 'max moritz');
SET ROLE guard_owner;
INSERT INTO register.person VALUES (3, 'Erica Mustermann');
ALTER TABLE register.person FORCE ROW LEVEL SECURITY;
INSERT INTO register.person VALUES (3, 'Erica Mustermann');
ALTER TABLE register.person NO FORCE ROW LEVEL SECURITY;
ALTER TABLE register.person DISABLE ROW LEVEL SECURITY;
-- skip and warn say no more
DROP TRIGGER guard ON register.person;
CREATE TRIGGER guard AFTER INSERT ON register.person FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'warn');
CREATE TRIGGER skip BEFORE INSERT ON register.person FOR EACH ROW WHEN (NEW.id > 1000) EXECUTE FUNCTION bloom_guard('sig', '0.8', 'skip');
REVOKE SELECT ON register.person FROM guard_clerk;
SET ROLE guard_clerk;
INSERT INTO register.person VALUES (3, 'Erica Mustermann'), (1003, 'Erica Mustermann');
DELETE FROM register.person;
SET ROLE guard_owner;
TRUNCATE register.person;
INSERT INTO register.person VALUES (1, 'Erika Mustermann'), (2, 'Hans Wurst');
DROP TRIGGER guard ON register.person;
DROP TRIGGER skip ON register.person;

-- flag writes as the owner of the guarded table, not as who inserts
CREATE TABLE register.review (key text, duplicate text, similarity float8, found_at timestamptz, by name DEFAULT current_user);
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON register.person FOR EACH ROW
    EXECUTE FUNCTION bloom_guard('sig', '0.8', 'flag', 'review', 'register.review');
SET ROLE guard_clerk;
INSERT INTO register.person VALUES (3, 'Erica Mustermann');
SELECT current_user;
INSERT INTO register.review VALUES ('1', '2', 1, now());
SET ROLE guard_owner;
SELECT key, duplicate, by FROM register.review;
-- so what the owner may not write it cannot
RESET ROLE;
ALTER TABLE register.review OWNER TO guard_list;
SET ROLE guard_clerk;
INSERT INTO register.person VALUES (4, 'Erica Mustermann');
SELECT current_user;
RESET ROLE;
ALTER TABLE register.review OWNER TO guard_owner;
DROP TRIGGER guard ON register.person;

-- a block list that the owner of the guarded table may not read
SET ROLE guard_list;
CREATE TABLE lists.blocked (id int PRIMARY KEY, sig bloom);
CREATE INDEX ON lists.blocked USING sigfile (sig);
INSERT INTO lists.blocked VALUES (1, bloom_signature('Paul Klee'));
SET ROLE guard_owner;
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON register.person FOR EACH ROW
    EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject', 'blocklist', 'lists.blocked');
INSERT INTO register.person VALUES (5, 'Paul Klee');
SET ROLE guard_list;
GRANT SELECT (sig) ON lists.blocked TO guard_owner;
SET ROLE guard_clerk;
INSERT INTO register.person VALUES (5, 'Paul Klee');
SET ROLE guard_owner;
INSERT INTO register.person VALUES (5, 'Paul Klee');
SET ROLE guard_list;
GRANT SELECT (id) ON lists.blocked TO guard_owner;
SET ROLE guard_owner;
INSERT INTO register.person VALUES (5, 'Paul Klee');
SET ROLE guard_list;
ALTER TABLE lists.blocked ENABLE ROW LEVEL SECURITY;
SET ROLE guard_owner;
INSERT INTO register.person VALUES (5, 'Paul Klee');
SET ROLE guard_list;
ALTER TABLE lists.blocked DISABLE ROW LEVEL SECURITY;
REVOKE SELECT (sig) ON lists.blocked FROM guard_owner;
SET ROLE guard_owner;
INSERT INTO register.person VALUES (5, 'Paul Klee');
INSERT INTO register.person VALUES (6, NULL);

-- the function reads what its caller may
SET ROLE guard_clerk;
SELECT * FROM bloom_blocklist(bloom_signature('Paul Klee'), 'register.person', 'sig', 0.5);
RESET ROLE;
GRANT USAGE ON SCHEMA lists TO guard_clerk;
GRANT SELECT ON lists.blocked TO guard_clerk;
SET ROLE guard_clerk;
SELECT key FROM bloom_blocklist(bloom_signature('Paul Klee'), 'lists.blocked', 'sig', 0.5);
SET ROLE guard_list;
ALTER TABLE lists.blocked ENABLE ROW LEVEL SECURITY;
SET ROLE guard_clerk;
SELECT key FROM bloom_blocklist(bloom_signature('Paul Klee'), 'lists.blocked', 'sig', 0.5);
RESET ROLE;

-- Nothing of what a search_path puts first is called or read.
DROP TRIGGER guard ON register.person;
CREATE SCHEMA evil;
CREATE FUNCTION evil.trap() RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
CREATE FUNCTION evil.bloom_sim(bloom, bloom) RETURNS bloom_score LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.trap(); RETURN 1; END $$;
CREATE FUNCTION evil.bloom_query(bloom, float8) RETURNS bloom_query LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.trap(); RETURN NULL; END $$;
CREATE FUNCTION evil.now() RETURNS timestamptz LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.trap(); RETURN NULL; END $$;
CREATE FUNCTION evil.matches(bloom, bloom_query) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.trap(); RETURN true; END $$;
CREATE FUNCTION evil.same(text, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.trap(); RETURN true; END $$;
CREATE FUNCTION evil.more(float8, float8) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.trap(); RETURN true; END $$;
CREATE OPERATOR evil.% (LEFTARG = bloom, RIGHTARG = bloom_query, FUNCTION = evil.matches);
CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.same);
CREATE OPERATOR evil.> (LEFTARG = float8, RIGHTARG = float8, FUNCTION = evil.more);
CREATE DOMAIN evil.text AS pg_catalog.text CHECK (VALUE IS NULL);
CREATE DOMAIN evil.float8 AS pg_catalog.float8 CHECK (VALUE IS NULL);
CREATE TABLE evil.review (key text, duplicate text, similarity float8, found_at timestamptz);
CREATE TABLE evil.blocked (id int PRIMARY KEY, sig bloom);
INSERT INTO evil.blocked VALUES (1, bloom_signature('August Macke'));
GRANT USAGE ON SCHEMA evil TO PUBLIC;
GRANT ALL ON ALL TABLES IN SCHEMA evil TO PUBLIC;
CREATE TABLE register.blocked (id int PRIMARY KEY, sig bloom);
ALTER TABLE register.blocked OWNER TO guard_owner;
CREATE TRIGGER listed AFTER INSERT ON register.person FOR EACH ROW
    EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject', 'blocklist', 'blocked');
CREATE TRIGGER guard AFTER INSERT ON register.person FOR EACH ROW
    EXECUTE FUNCTION bloom_guard('sig', '0.8', 'flag', 'review', 'review');
SET search_path = evil, pg_catalog, public;
-- that it would work
SELECT 'a'::pg_catalog.text = 'b'::pg_catalog.text;
TRUNCATE register.review;
SET ROLE guard_clerk;
INSERT INTO register.person VALUES (8, 'August Macke'), (9, 'august macke');
RESET ROLE;
SELECT pg_catalog.count(*) FROM evil.review;
SELECT key, duplicate FROM register.review;
SELECT key FROM public.bloom_blocklist(public.bloom_signature('Paul Klee'), 'lists.blocked', 'sig', 0.5);
RESET search_path;
DROP SCHEMA evil, register, lists CASCADE;
DROP ROLE guard_owner;
DROP ROLE guard_clerk;
DROP ROLE guard_list;
-- What fits a domain better than the functions of bloom is not called.
CREATE DOMAIN close_bloom AS bloom;
CREATE TABLE domain_list (id int PRIMARY KEY, sig close_bloom);
INSERT INTO domain_list VALUES (1, bloom_signature('Erika Mustermann'));
CREATE FUNCTION bloom_sim(close_bloom, bloom) RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN RAISE 'bloom_sim of others'; END $$;
CREATE FUNCTION matches(close_bloom, bloom_query) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE '%% of others'; END $$;
CREATE OPERATOR % (LEFTARG = close_bloom, RIGHTARG = bloom_query, FUNCTION = matches);
SELECT * FROM bloom_blocklist(bloom_signature('Erika Mustermann'), 'domain_list', 'sig', 0.5);
DROP OPERATOR % (close_bloom, bloom_query);
DROP FUNCTION matches(close_bloom, bloom_query), bloom_sim(close_bloom, bloom);
DROP TABLE domain_list;
DROP DOMAIN close_bloom;
-- Nor is a cast that the owner of a block list has for its keys.
CREATE ROLE guard_list;
CREATE SCHEMA lists AUTHORIZATION guard_list;
CREATE TABLE entered (id int PRIMARY KEY, sig bloom);
SET ROLE guard_list;
CREATE TYPE lists.number AS ENUM ('one');
CREATE FUNCTION lists.shown(lists.number) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'run by %', current_user; END $$;
CREATE CAST (lists.number AS text) WITH FUNCTION lists.shown(lists.number);
CREATE TABLE lists.blocked (id lists.number PRIMARY KEY, sig bloom);
CREATE INDEX ON lists.blocked USING sigfile (sig);
INSERT INTO lists.blocked VALUES ('one', bloom_signature('Erika Mustermann'));
RESET ROLE;
CREATE TRIGGER guard AFTER INSERT ON entered FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'warn', 'blocklist', 'lists.blocked');
INSERT INTO entered VALUES (1, bloom_signature('Erika Mustermann'));
DROP TABLE entered;
DROP SCHEMA lists CASCADE;
DROP ROLE guard_list;
