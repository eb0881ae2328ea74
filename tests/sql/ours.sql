-- Which functions, types and operators are the extension's is not a question of their names.
-- A database of its own, in which the extension can be dropped. Look-alikes are there before it comes.
SELECT current_database() AS regress \gset
CREATE DATABASE regress_ours;
\c regress_ours
CREATE SCHEMA early;
CREATE TYPE early.bloom AS (n int);
CREATE FUNCTION early.bloom_sim(a early.bloom, b early.bloom) RETURNS float8
    IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN 0.9; END $$;
CREATE FUNCTION early.bloom_sim_above(a early.bloom, b early.bloom, t float8) RETURNS boolean
    IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN true; END $$;
CREATE FUNCTION early.bloom_sim_at_least(a early.bloom, b early.bloom, t float8) RETURNS boolean
    IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN true; END $$;
CREATE TABLE early.t AS SELECT ROW(i)::early.bloom AS sig FROM generate_series(1, 3) i;

CREATE SCHEMA ext;
CREATE EXTENSION bloom_ident SCHEMA ext;
-- the library is loaded, and its hook there
SELECT ext.bloom_bits(ext.bloom_signature('Erika')) > 0 AS loaded;

CREATE SCHEMA late;
CREATE TYPE late.bloom AS (n int);
CREATE FUNCTION late.bloom_dice(a late.bloom, b late.bloom) RETURNS float8
    IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN 0.9; END $$;
CREATE FUNCTION late.bloom_dice_above(a late.bloom, b late.bloom, t float8) RETURNS boolean
    IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN true; END $$;
CREATE FUNCTION late.bloom_dice_at_least(a late.bloom, b late.bloom, t float8) RETURNS boolean
    IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN true; END $$;
CREATE TABLE late.t AS SELECT ROW(i)::late.bloom AS sig FROM generate_series(1, 3) i;

-- 0.9 is neither above nor at least 0.95, whatever their other functions say
SELECT count(*) FROM early.t WHERE early.bloom_sim(sig, ROW(1)::early.bloom) > 0.95;
SELECT count(*) FROM early.t WHERE early.bloom_sim(sig, ROW(1)::early.bloom) >= 0.95;
SELECT count(*) FROM late.t WHERE late.bloom_dice(sig, ROW(1)::late.bloom) > 0.95;
SELECT count(*) FROM late.t WHERE 0.95 <= late.bloom_dice(sig, ROW(1)::late.bloom);
EXPLAIN (COSTS OFF) SELECT 1 FROM early.t WHERE early.bloom_sim(sig, ROW(1)::early.bloom) > 0.95;
EXPLAIN (COSTS OFF) SELECT 1 FROM late.t WHERE 0.95 <= late.bloom_dice(sig, ROW(1)::late.bloom);

-- ours are found by any path, since the schema is on none
CREATE TABLE person (id int PRIMARY KEY, sig ext.bloom);
INSERT INTO person SELECT i, ext.bloom_signature('number ' || md5(i::text)) FROM generate_series(1, 300) i;
CREATE INDEX person_sig ON person USING sigfile (sig);
SET enable_seqscan = off;
PREPARE search AS SELECT id FROM person WHERE ext.bloom_sim(sig, ext.bloom_signature('number ' || md5('7')))
    OPERATOR(pg_catalog.>) 0.9::float8;
CREATE FUNCTION by_index(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line ~ 'Index.* person_sig' THEN RETURN true; END IF;
    END LOOP;
    RETURN false;
END $$;
SELECT by_index('EXECUTE search');
EXECUTE search;

-- another schema, in the same session
ALTER EXTENSION bloom_ident SET SCHEMA public;
DEALLOCATE search;
PREPARE search AS SELECT id FROM person WHERE bloom_sim(sig, bloom_signature('number ' || md5('7'))) > 0.9;
SELECT by_index('EXECUTE search');
EXECUTE search;
SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', 0.99);
SELECT key FROM bloom_blocklist(bloom_signature('number ' || md5('7')), 'person', 'sig', 0.99);
-- functions that were moved away by themselves are not found, and nothing else is taken for them
CREATE SCHEMA away;
ALTER FUNCTION bloom_sim_above(bloom, bloom, float8) SET SCHEMA away;
CREATE FUNCTION bloom_sim_above(bloom, bloom, float8) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN true; END $$;
EXECUTE search;
SELECT by_index('EXECUTE search');
DROP FUNCTION bloom_sim_above(bloom, bloom, float8);
ALTER FUNCTION away.bloom_sim_above(bloom, bloom, float8) SET SCHEMA public;
SELECT by_index($$SELECT id FROM person WHERE bloom_sim(sig, bloom_signature('number ' || md5('7'))) > 0.9$$);
ALTER OPERATOR % (bloom, bloom_query) SET SCHEMA away;
SELECT key FROM bloom_blocklist(bloom_signature('number ' || md5('7')), 'person', 'sig', 0.99);
ALTER OPERATOR away.% (bloom, bloom_query) SET SCHEMA public;

-- dropped and made again, in the same session
DEALLOCATE search;
DROP EXTENSION bloom_ident CASCADE;
SELECT count(*) FROM early.t WHERE early.bloom_sim(sig, ROW(1)::early.bloom) > 0.95;
CREATE EXTENSION bloom_ident;
ALTER TABLE person ADD sig bloom;
UPDATE person SET sig = bloom_signature('number ' || md5(id::text));
CREATE INDEX person_sig ON person USING sigfile (sig);
SELECT by_index($$SELECT id FROM person WHERE bloom_sim(sig, bloom_signature('number ' || md5('7'))) > 0.9$$);
SELECT id FROM person WHERE bloom_sim(sig, bloom_signature('number ' || md5('7'))) > 0.9;
SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', 0.99);
CREATE TRIGGER guard AFTER INSERT ON person FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.9', 'reject');
\set VERBOSITY terse
INSERT INTO person SELECT 1000, sig FROM person WHERE id = 7;
INSERT INTO person VALUES (1000, bloom_signature('somebody else'));

-- a look-alike of bloom_query puts another signature into an index than that of the row
CREATE SCHEMA wrong;
CREATE DOMAIN wrong.bloom AS bloom;
CREATE FUNCTION wrong.bloom_query(s wrong.bloom, t float8) RETURNS bloom_query IMMUTABLE LANGUAGE plpgsql
    AS $$ BEGIN RETURN public.bloom_query(public.bloom_signature('something else'), t); END $$;
CREATE TABLE wrong.t (id int PRIMARY KEY, sig wrong.bloom);
INSERT INTO wrong.t SELECT i, bloom_signature(md5((i / 2)::text)) FROM generate_series(2, 5) i;
CREATE INDEX ON wrong.t USING sigfile (wrong.bloom_query(sig, 0.9));
SELECT id FROM wrong.t WHERE bloom_sim(sig, bloom_signature(md5('1'))) >= 0.9 ORDER BY id;
SELECT a, b FROM bloom_duplicates('wrong.t', 'id', 'sig', 0.9) ORDER BY a;
-- the same with ours
CREATE INDEX ON wrong.t USING sigfile (bloom_query(sig, 0.9));
SELECT id FROM wrong.t WHERE bloom_sim(sig, bloom_signature(md5('1'))) >= 0.9 ORDER BY id;
SELECT a, b FROM bloom_duplicates('wrong.t', 'id', 'sig', 0.9) ORDER BY a;
-- and one of bloom_sim for the domain in a block list
CREATE FUNCTION public.bloom_sim(wrong.bloom, bloom) RETURNS float8 IMMUTABLE LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'called for the caller of bloom_blocklist'; END $$;
SELECT key FROM bloom_blocklist(bloom_signature(md5('1')), 'wrong.t', 'sig', 0.9);
DROP FUNCTION public.bloom_sim(wrong.bloom, bloom);

-- an operator class with an operator of somebody else at the number of %
CREATE FUNCTION wrong.never(bloom, bloom_query) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN false; END $$;
CREATE OPERATOR wrong.% (LEFTARG = bloom, RIGHTARG = bloom_query, FUNCTION = wrong.never, COMMUTATOR = OPERATOR(wrong.%));
CREATE OPERATOR CLASS wrong.gist_bloom_ops FOR TYPE bloom USING gist AS
    OPERATOR 2 wrong.% (bloom, bloom_query),
    FUNCTION 1 bloom_gist_consistent(internal, bloom, smallint, oid, internal),
    FUNCTION 2 bloom_gist_union(internal, internal),
    FUNCTION 3 bloom_gist_compress(internal),
    FUNCTION 5 bloom_gist_penalty(internal, internal, internal),
    FUNCTION 6 bloom_gist_picksplit(internal, internal),
    FUNCTION 7 bloom_gist_same(bloom_gist_key, bloom_gist_key, internal),
    FUNCTION 9 bloom_gist_fetch(internal),
    STORAGE bloom_gist_key;
DROP INDEX person_sig;
CREATE INDEX person_sig ON person USING gist (sig wrong.gist_bloom_ops);
SELECT by_index($$SELECT id FROM person WHERE bloom_sim(sig, bloom_signature('number ' || md5('7'))) > 0.9$$);
SELECT id FROM person WHERE bloom_sim(sig, bloom_signature('number ' || md5('7'))) > 0.9;
-- nor does the guard use that index
\set VERBOSITY default
INSERT INTO person SELECT 1001, sig FROM person WHERE id = 7;
\set VERBOSITY terse

-- the estimators for an operator of other types
ANALYZE person;
CREATE FUNCTION public.odd(bloom, bigint) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN $2 > 0; END $$;
CREATE FUNCTION public.odd(bloom, text) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN true; END $$;
CREATE OPERATOR public.%% (LEFTARG = bloom, RIGHTARG = bigint, FUNCTION = public.odd,
    RESTRICT = bloom_match_sel, JOIN = bloom_match_joinsel);
CREATE OPERATOR public.%% (LEFTARG = bloom, RIGHTARG = text, FUNCTION = public.odd,
    RESTRICT = bloom_match_sel, JOIN = bloom_match_joinsel);
SELECT count(*) FROM person WHERE sig %% 5::bigint;
SELECT count(*) FROM person WHERE sig %% 'x'::text;
SELECT count(*) FROM person p JOIN generate_series(1, 2) AS g ON p.sig %% g::bigint WHERE p.id < 5;
-- a support function given to a function with other arguments knows that it is not meant
CREATE FUNCTION public.other(int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql SUPPORT bloom_sim_above_support AS $$ BEGIN RETURN $1 < 3; END $$;
SELECT count(*) FROM person WHERE public.other(id);
-- and a function in C that is declared with other arguments than those of ours is none of ours
CREATE FUNCTION public.alone(bloom) RETURNS float8 IMMUTABLE STRICT LANGUAGE c AS '$libdir/bloom_ident', 'bloom_sim_wrapper';
RESET enable_seqscan;
EXPLAIN (COSTS OFF) SELECT id FROM person WHERE public.alone(sig) > 0.5;

\c :regress
DROP DATABASE regress_ours;
