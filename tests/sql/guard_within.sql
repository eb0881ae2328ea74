-- bloom_guard, option within: only rows that are equal in these columns are compared.
SET client_min_messages = warning;
CREATE SCHEMA guard_within;
SET search_path = guard_within, public;
CREATE TABLE person (id int PRIMARY KEY, tenant int, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
SELECT bloom_guard_create('person', 'sig', 0.8, 'reject', 'within', 'tenant');
SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'person'::regclass;
-- the same without an index, with one, and with one that has the column too
CREATE FUNCTION try(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE detail text;
BEGIN
    EXECUTE statement;
    RETURN 'done';
EXCEPTION WHEN integrity_constraint_violation THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RETURN detail;
END $$;
CREATE FUNCTION all_ways() RETURNS TABLE (n bigint, statement text, outcome text) LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE person;
    RETURN QUERY SELECT s.n, s.statement, try(s.statement) FROM unnest(ARRAY[
        'INSERT INTO person VALUES (1, 1, ''Erika Mustermann''), (2, 2, ''Erika Mustermann''), (3, NULL, ''Erika Mustermann''), (4, NULL, ''Erika Mustermann'')',
        'INSERT INTO person VALUES (5, 1, ''Erica Mustermann'')',
        'INSERT INTO person VALUES (5, 3, ''Erica Mustermann'')',
        'INSERT INTO person VALUES (6, 4, ''Paul Klee''), (7, 5, ''Paul Klee''), (8, 4, ''Paul  Klee'')',
        'INSERT INTO person VALUES (6, 4, ''Paul Klee''), (7, 5, ''Paul Klee''), (8, 4, ''Otto Dix'')',
        -- to another tenant, and into a tenant, without a change of the signature
        'UPDATE person SET tenant = 4 WHERE id = 7',
        'UPDATE person SET tenant = 1 WHERE id = 3',
        'UPDATE person SET tenant = 9 WHERE id = 3',
        'UPDATE person SET tenant = NULL WHERE id = 1',
        'UPDATE person SET tenant = 1 WHERE id = 5',
        'UPDATE person SET tenant = 1 WHERE id = 1',
        -- the tenant stays, so it is not checked
        'UPDATE person SET id = 10, tenant = 4 WHERE id = 6',
        'INSERT INTO person VALUES (8, 8, ''Otto Dix'') ON CONFLICT (id) DO UPDATE SET tenant = 1, name = ''Erika Mustermann''',
        'INSERT INTO person SELECT i, i, ''Hans Wurst'' FROM generate_series(100, 400) AS i',
        'INSERT INTO person SELECT i + 400, i, ''Hans Wurst'' FROM generate_series(401, 800) AS i UNION ALL SELECT 2000, 150, ''Hans Wurst''',
        'INSERT INTO person SELECT i + 400, i, ''Hans Wurst'' FROM generate_series(401, 800) AS i UNION ALL SELECT 2000, 700, ''Hans Wurst'''])
        WITH ORDINALITY AS s (statement, n);
END $$;
SELECT * FROM all_ways();
CREATE TABLE way AS SELECT * FROM all_ways();
CREATE INDEX person_sig ON person USING sigfile (sig);
SELECT * FROM all_ways() EXCEPT TABLE way;
DROP INDEX person_sig;
CREATE INDEX person_gist ON person USING gist (sig);
SELECT * FROM all_ways() EXCEPT TABLE way;
DROP INDEX person_gist;
SELECT id, tenant, name FROM person WHERE id < 100 ORDER BY id;

-- more columns, quoted names, and values that are equal and not the same
CREATE TABLE client (id int PRIMARY KEY, "Tenant, ID" text, "a""b" numeric, branch varchar(9), name text,
    sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
CREATE INDEX ON client USING sigfile (sig);
SELECT bloom_guard_create('client', 'sig', 0.8, 'reject', 'within', ' "Tenant, ID" ,"a""b", BRANCH');
INSERT INTO client VALUES (1, 'north', 1.0, 'x', 'Erika Mustermann'), (2, 'south', 1, 'x', 'Erika Mustermann'),
    (3, 'north', 2, 'x', 'Erika Mustermann'), (4, 'north', 1, 'X', 'Erika Mustermann'), (5, 'north', 1, NULL, 'Erika Mustermann');
INSERT INTO client VALUES (6, 'north', 1.00, 'x', 'Erika Mustermann');
INSERT INTO client VALUES (6, 'north', 1.00, 'x ', 'Erika Mustermann');
UPDATE client SET "a""b" = 1.000 WHERE id = 3;
-- many rows at once, by hashes of values that are equal and not the same
INSERT INTO client SELECT i, 't' || i, i, 'x', 'Hans Wurst' FROM generate_series(100, 500) AS i;
INSERT INTO client SELECT 1000 + i, 't' || i, i::numeric(9, 2), 'x', CASE i WHEN 400 THEN 'Hans Wurst' ELSE 'Lucas ' || i END FROM generate_series(100, 500) AS i;
-- a type without a hash function, and one that compares by its elements
CREATE TABLE paid (id int PRIMARY KEY, price money, parts int[], sig bloom);
CREATE INDEX ON paid USING sigfile (sig);
SELECT bloom_guard_create('paid', 'sig', 0.8, 'warn', 'within', 'price,parts');
INSERT INTO paid SELECT i, i, ARRAY[1, i], bloom_signature('Hans Wurst') FROM generate_series(100, 299) AS i;
INSERT INTO paid VALUES (1, 150::money, '{1,150}', bloom_signature('Hans Wurst')), (2, 150::money, '{1,151}', bloom_signature('Hans Wurst'));

-- other actions; what keep compares is the row itself, whatever its tenant
CREATE TABLE review (key text, duplicate text, similarity float8, found_at timestamptz, PRIMARY KEY (key, duplicate));
CREATE TABLE flagged (LIKE person INCLUDING ALL);
SELECT bloom_guard_create('flagged', 'sig', 0.8, 'flag', 'review', 'review', 'keep', '0.3', 'within', 'tenant');
INSERT INTO flagged SELECT i, i % 7, 'Otto Dix' FROM generate_series(1, 21) AS i;
SELECT a.tenant AS a, b.tenant AS b, count(*) FROM review JOIN flagged AS a ON a.id = key::int JOIN flagged AS b ON b.id = duplicate::int GROUP BY 1, 2 ORDER BY 1, 2;
TRUNCATE review;
UPDATE flagged SET tenant = 6 WHERE id = 7;
UPDATE flagged SET tenant = 5, name = 'Paul Klee' WHERE id = 1;
SELECT key, duplicate, round(similarity::numeric, 3) AS similarity FROM review ORDER BY 1, 2;
-- rows that are searched for together: what is flagged is what a query finds
CREATE TABLE bulk (id int PRIMARY KEY, tenant text, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
CREATE INDEX ON bulk USING sigfile (sig);
SELECT bloom_guard_create('bulk', 'sig', 0.8, 'flag', 'review', 'review', 'within', 'tenant');
TRUNCATE review;
INSERT INTO bulk SELECT i, CASE WHEN i % 17 = 0 THEN NULL ELSE chr(97 + i * i % 23) END,
    translate(left(md5((i % 700)::text), 14), '0123456789', 'ghijklmnop') || CASE i % 3 WHEN 0 THEN 'x' ELSE '' END FROM generate_series(1, 2000) AS i;
INSERT INTO bulk SELECT i + 2000, chr(97 + i % 29), translate(left(md5((i % 1100)::text), 14), '0123456789', 'ghijklmnop') FROM generate_series(1, 2000) AS i;
UPDATE bulk SET tenant = chr(97 + id % 31) WHERE id % 5 = 0;
WITH flagged AS (SELECT DISTINCT least(key::int, duplicate::int) AS a, greatest(key::int, duplicate::int) AS b FROM review
        JOIN bulk AS a ON a.id = key::int JOIN bulk AS b ON b.id = duplicate::int WHERE a.tenant = b.tenant),
    expected AS (SELECT a.id AS a, b.id AS b FROM bulk AS a JOIN bulk AS b ON a.id < b.id AND a.tenant = b.tenant AND bloom_sim(a.sig, b.sig) >= 0.8)
SELECT (SELECT count(*) FROM flagged) AS flagged, (SELECT count(*) FROM expected) AS expected,
    (SELECT count(*) FROM ((TABLE flagged EXCEPT TABLE expected) UNION ALL (TABLE expected EXCEPT TABLE flagged)) AS d) AS different;
SET client_min_messages = notice;
CREATE TABLE skipped (id int, unit text, tenant text GENERATED ALWAYS AS (lower(unit)) STORED, name text,
    sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED) PARTITION BY LIST (unit);
CREATE TABLE skipped_a PARTITION OF skipped FOR VALUES IN ('a', 'A');
CREATE TABLE skipped_b PARTITION OF skipped (sig, name, tenant, unit, id) DEFAULT;
CREATE INDEX ON skipped USING sigfile (sig);
SELECT bloom_guard_create('skipped', 'sig', 0.8, 'skip', 'within', 'tenant');
INSERT INTO skipped VALUES (1, 'a', DEFAULT, 'Otto Dix'), (2, 'b', DEFAULT, 'Otto Dix'), (3, 'A', DEFAULT, 'Otto Dix'), (4, NULL, DEFAULT, 'Otto Dix'), (5, NULL, DEFAULT, 'Otto Dix');
UPDATE skipped SET unit = 'A' WHERE id IN (1, 2);
UPDATE skipped SET unit = 'c' WHERE id = 1;
UPDATE skipped SET unit = 'C' WHERE id = 2;
SELECT tableoid::regclass, id, unit, tenant, name FROM skipped ORDER BY id;
-- partitions, whose columns have other numbers: rows of one tenant may be in several
CREATE TABLE part (tenant int, id int, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED, PRIMARY KEY (id)) PARTITION BY RANGE (id);
CREATE TABLE part1 PARTITION OF part FOR VALUES FROM (0) TO (1000);
CREATE TABLE part2 (name text, id int NOT NULL, tenant int, dropped int, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
ALTER TABLE part2 DROP dropped;
ALTER TABLE part ATTACH PARTITION part2 FOR VALUES FROM (1000) TO (2000);
CREATE INDEX ON part USING sigfile (sig);
SELECT bloom_guard_create('part', 'sig', 0.8, 'reject', 'within', 'tenant');
INSERT INTO part VALUES (1, 1, 'Otto Dix'), (2, 1001, 'Otto Dix');
INSERT INTO part VALUES (1, 1002, 'Otto Dix');
INSERT INTO part VALUES (2, 2, 'Otto Dix');
INSERT INTO part VALUES (3, 2, 'Otto Dix');
UPDATE part SET id = 1002, tenant = 2 WHERE id = 2;
UPDATE part SET id = 1002, tenant = 4 WHERE id = 2;
-- deferred triggers check what the rows are in the end; one that does not fire for the move looks for the newest version
CREATE TABLE late (id int PRIMARY KEY, tenant int, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
CREATE INDEX ON late USING sigfile (sig);
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON late DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject', 'within', 'tenant');
BEGIN;
INSERT INTO late VALUES (1, 1, 'Otto Dix'), (2, 1, 'Otto Dix');
UPDATE late SET tenant = 2 WHERE id = 2;
COMMIT;
BEGIN;
UPDATE late SET tenant = 1 WHERE id = 2;
UPDATE late SET tenant = 3 WHERE id = 1;
COMMIT;
BEGIN;
UPDATE late SET tenant = 3 WHERE id = 2;
COMMIT;
DROP TRIGGER guard ON late;
CREATE CONSTRAINT TRIGGER guard AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject', 'within', 'tenant');
BEGIN;
INSERT INTO late VALUES (4, NULL, 'Otto Dix');
UPDATE late SET tenant = 3 WHERE id = 4;
COMMIT;

-- a block list has the columns, too
CREATE TABLE blocked (key int PRIMARY KEY, tenant int, sig bloom);
INSERT INTO blocked VALUES (1, 1, bloom_signature('Hans Wurst')), (2, NULL, bloom_signature('Franz Marc'));
CREATE INDEX ON blocked USING sigfile (sig);
CREATE TABLE guest (id int PRIMARY KEY, tenant int, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
SELECT bloom_guard_create('guest', 'sig', 0.8, 'reject', 'blocklist', 'blocked', 'within', 'tenant');
INSERT INTO guest VALUES (1, 1, 'Hans Wurst');
INSERT INTO guest VALUES (1, 2, 'Hans Wurst'), (2, NULL, 'Hans Wurst'), (3, NULL, 'Franz Marc');
ALTER TABLE blocked RENAME tenant TO mandant;
INSERT INTO guest VALUES (4, 1, 'Otto Dix');
ALTER TABLE blocked ADD tenant bigint;
INSERT INTO guest VALUES (4, 1, 'Otto Dix');

-- errors
\set VERBOSITY verbose
SELECT bloom_guard_create('guest', 'sig', 0.8, 'reject', 'within', 'mandant');
SELECT bloom_guard_create('guest', 'sig', 0.8, 'reject', 'within', 'Sig');
SELECT bloom_guard_create('guest', 'sig', 0.8, 'reject', 'within', 'tenant,ctid');
SELECT bloom_guard_create('guest', 'sig', 0.8, 'reject', 'within', 'tenant, TENANT');
SELECT bloom_guard_create('guest', 'sig', 0.8, 'reject', 'within', '');
SELECT bloom_guard_create('guest', 'sig', 0.8, 'reject', 'within', 'tenant,');
SELECT bloom_guard_create('guest', 'sig', 0.8, 'reject', 'within', '"tenant');
SELECT bloom_guard_create('guest', 'sig', 0.8, 'reject', 'within');
SELECT bloom_guard_create('guest', 'sig', 0.8, 'reject', 'within', 'tenant', 'within', 'tenant');
\set VERBOSITY default
ALTER TABLE guest ADD place point, ADD doc json;
SELECT bloom_guard_create('guest', 'sig', 0.8, 'reject', 'within', 'place');
SELECT bloom_guard_create('guest', 'sig', 0.8, 'reject', 'within', 'tenant, doc');
-- the column is renamed, or its type changed
ALTER TABLE client RENAME branch TO office;
INSERT INTO client VALUES (7, 'west', 1, 'x', 'Otto Dix');
ALTER TABLE client RENAME office TO branch;
ALTER TABLE client ALTER branch TYPE text;
INSERT INTO client VALUES (7, 'north', 1.00, 'x', 'Erika Mustermann');

-- what a row tells of another: that it is of the same tenant, too
CREATE ROLE within_clerk;
GRANT USAGE ON SCHEMA guard_within TO within_clerk;
GRANT INSERT, UPDATE ON person TO within_clerk;
GRANT SELECT (id, sig) ON person TO within_clerk;
CREATE INDEX person_sig ON person USING sigfile (sig);
SET ROLE within_clerk;
INSERT INTO person VALUES (3000, 4, 'Paul Klee');
RESET ROLE;
GRANT SELECT (tenant) ON person TO within_clerk;
SET ROLE within_clerk;
INSERT INTO person VALUES (3000, 4, 'Paul Klee');
RESET ROLE;
-- signatures of another shape, in another tenant, are not looked at
CREATE TABLE mixed (id int PRIMARY KEY, tenant int, sig bloom);
SELECT bloom_guard_create('mixed', 'sig', 0.8, 'reject', 'within', 'tenant');
SET client_min_messages = warning;
INSERT INTO mixed VALUES (1, 1, bloom_signature('Otto Dix')), (2, 2, bloom_signature('Otto Dix', ngram => 2));
INSERT INTO mixed VALUES (3, 2, bloom_signature('Otto Dix'));
DROP OWNED BY within_clerk;
DROP ROLE within_clerk;
SET client_min_messages = warning;
-- rows that another trigger brings to the tenant in the middle of a statement, without an UPDATE that the guard sees and without a new index entry: of the same
-- table, and of a block list
CREATE TABLE moving (id int PRIMARY KEY, tenant int, sig bloom) WITH (fillfactor = 50);
CREATE INDEX ON moving USING sigfile (sig);
CREATE TABLE moving_list (id int PRIMARY KEY, tenant int, sig bloom) WITH (fillfactor = 50);
CREATE INDEX ON moving_list USING sigfile (sig);
CREATE FUNCTION move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE moving SET tenant = 1 WHERE id BETWEEN 10800 AND 10809;
    UPDATE moving_list SET tenant = 1 WHERE id BETWEEN 10900 AND 10909;
    RETURN NULL;
END $$;
CREATE TRIGGER z_move AFTER INSERT ON moving FOR EACH ROW WHEN (NEW.id = 500) EXECUTE FUNCTION move();
CREATE TABLE moving_review (key text, duplicate text, similarity float8, found_at timestamptz, PRIMARY KEY (key, duplicate));
INSERT INTO moving SELECT 10000 + i, 2, bloom_signature(md5(i::text)) FROM generate_series(1, 1000) AS i;
INSERT INTO moving_list SELECT 10000 + i, 2, bloom_signature(md5(i::text)) FROM generate_series(1, 1000) AS i;
CREATE TRIGGER a_guard AFTER INSERT ON moving FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.9', 'flag', 'review', 'guard_within.moving_review', 'within', 'tenant');
CREATE TRIGGER b_guard AFTER INSERT OR UPDATE ON moving FOR EACH ROW
    EXECUTE FUNCTION bloom_guard('sig', '0.9', 'flag', 'review', 'guard_within.moving_review', 'within', 'tenant', 'blocklist', 'guard_within.moving_list');
INSERT INTO moving SELECT i, 1, bloom_signature(md5(i::text)) FROM generate_series(1, 1000) AS i;
SELECT min(key), max(key), min(duplicate), max(duplicate), count(*) FROM moving_review;
DROP SCHEMA guard_within CASCADE;
