-- bloom_guard and many rows of one statement, which it searches for together: the outcome is that of a search for each.
SET client_min_messages = warning;
CREATE TABLE review (key text, duplicate text, similarity float8, found_at timestamptz, PRIMARY KEY (key, duplicate));
CREATE TABLE review2 (LIKE review INCLUDING ALL);
-- A name of 16 letters; one in ten is that of another row, with a letter behind it.
CREATE FUNCTION name_of(i int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN i % 10 = 3 THEN name_of((i * 7) % 1000 * 10) || 'x'
        ELSE translate(left(md5(i::text), 16), '0123456789', 'ghijklmnop') END $$;
CREATE FUNCTION make(more text = '', rest text = '') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS person;
    EXECUTE format('CREATE TABLE person (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED %s) %s', more, rest);
    CREATE INDEX person_sig ON person USING sigfile (sig);
    TRUNCATE review, review2;
END $$;
CREATE FUNCTION guard(definition text = 'TRIGGER guard AFTER INSERT OR UPDATE ON person FOR EACH ROW', threshold text = '0.8', into_table text = 'review')
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE %s EXECUTE FUNCTION bloom_guard(''sig'', %L, ''flag'', ''review'', %L)', definition, threshold, into_table);
END $$;
-- Pairs that were flagged, those that a comparison of all rows finds, and how many are only in one of both.
CREATE FUNCTION pairs(threshold float8 = 0.8, from_table regclass = 'review', exempt int = 2147483647)
RETURNS TABLE (flagged bigint, expected bigint, different bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('
        WITH flagged AS (SELECT DISTINCT least(key::int, duplicate::int) AS a, greatest(key::int, duplicate::int) AS b FROM %s),
            expected AS (SELECT a.id AS a, b.id AS b FROM person AS a JOIN person AS b ON a.id < b.id AND bloom_sim(a.sig, b.sig) >= $1 WHERE a.id < $2)
        SELECT (SELECT count(*) FROM flagged), (SELECT count(*) FROM expected),
            (SELECT count(*) FROM (TABLE flagged EXCEPT TABLE expected) AS x) + (SELECT count(*) FROM (TABLE expected EXCEPT TABLE flagged) AS x)',
        from_table) USING threshold, exempt;
END $$;
CREATE FUNCTION scans() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN pg_stat_get_xact_numscans('person_sig'::regclass); END $$;

-- one statement; most rows are not searched for by themselves
SELECT make();
SELECT guard();
INSERT INTO person SELECT i, name_of(i) FROM generate_series(1, 300) AS i;
BEGIN;
INSERT INTO person SELECT i, name_of(i) FROM generate_series(301, 2500) AS i;
SELECT scans() < 1000 AS few, scans() > 100 AS some;
COMMIT;
SELECT * FROM pairs() WHERE flagged >= 200;
-- an UPDATE of all rows, whose old versions are similar to the new ones; then one that changes little
TRUNCATE review;
UPDATE person SET name = translate(name, 'abcdefghijklmnop', 'bcdefghijklmnopa');
SELECT * FROM pairs();
TRUNCATE review;
UPDATE person SET name = 'Erika Mustermann ' || id % 2 WHERE id % 1000 = 0;
SELECT key, duplicate FROM review;
-- upserts
SELECT make();
SELECT guard();
INSERT INTO person SELECT i, name_of(-i) FROM generate_series(1, 1000) AS i;
TRUNCATE review;
INSERT INTO person SELECT i, name_of(i) FROM generate_series(1, 2500) AS i ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name;
SELECT * FROM pairs() WHERE flagged > 200;
-- with a reference, whose check is a command of its own after each row
CREATE TABLE ward (id int PRIMARY KEY);
INSERT INTO ward VALUES (1);
SELECT make(', ward int DEFAULT 1 REFERENCES ward');
SELECT guard();
BEGIN;
INSERT INTO person SELECT i, name_of(i) FROM generate_series(1, 2500) AS i;
SELECT scans() < 1000 AS few;
COMMIT;
SELECT * FROM pairs() WHERE flagged > 200;

-- deferred: rows of several statements and savepoints, as they are in the end
SELECT make();
SELECT guard('CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON person DEFERRABLE INITIALLY DEFERRED FOR EACH ROW');
BEGIN;
INSERT INTO person SELECT i, name_of(i) FROM generate_series(1, 1500) AS i;
SAVEPOINT a;
INSERT INTO person SELECT i, name_of(i - 1000) FROM generate_series(1501, 2500) AS i;
ROLLBACK TO a;
INSERT INTO person SELECT i, name_of(i) FROM generate_series(1501, 2500) AS i;
UPDATE person SET name = name_of(id - 600) WHERE id BETWEEN 700 AND 800;
UPDATE person SET id = id + 5000 WHERE id BETWEEN 900 AND 950;
DELETE FROM person WHERE id % 7 = 0;
COMMIT;
SELECT * FROM pairs() WHERE flagged > 200;

-- partitions, with columns in another order
SELECT make('', 'PARTITION BY RANGE (id)');
CREATE TABLE person1 PARTITION OF person FOR VALUES FROM (1) TO (1000);
CREATE TABLE person2 (name text, id int NOT NULL, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
ALTER TABLE person ATTACH PARTITION person2 FOR VALUES FROM (1000) TO (2000);
CREATE TABLE person3 PARTITION OF person FOR VALUES FROM (2000) TO (9999);
SELECT guard();
INSERT INTO person SELECT i * 37 % 2503 + 1, name_of(i * 37 % 2503 + 1) FROM generate_series(1, 2400) AS i;
SELECT * FROM pairs() WHERE flagged > 200;
TRUNCATE review;
-- rows that stay in their partition, with their signature, are not checked
UPDATE person SET id = id + 4000 WHERE id < 3000;
SELECT * FROM pairs() WHERE flagged > 200;

-- An AFTER trigger before it changes rows that are still to be checked, and enters others that are not checked themselves.
CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.id % 250 = 100 THEN
        UPDATE person SET name = name_of(NEW.id) WHERE id = NEW.id + 70;
        INSERT INTO person SELECT NEW.id + 10000, name || 'q' FROM person WHERE id = NEW.id + 40;
    ELSIF NEW.id % 250 = 200 THEN
        DELETE FROM person WHERE id = NEW.id + 3;
    ELSIF NEW.id % 250 = 240 THEN
        -- a similar row is deleted for a while
        BEGIN
            DELETE FROM person WHERE id < 2000 AND id % 10 <> 3;
            INSERT INTO person SELECT 20000, name_of(1);
            RAISE 'take it back';
        EXCEPTION WHEN raise_exception THEN
        END;
    END IF;
    RETURN NULL;
END $$;
SELECT make();
SELECT guard('TRIGGER guard AFTER INSERT OR UPDATE ON person FOR EACH ROW WHEN (NEW.id < 10000)');
CREATE TRIGGER a_meddle AFTER INSERT ON person FOR EACH ROW WHEN (NEW.id < 10000) EXECUTE FUNCTION meddle();
INSERT INTO person SELECT i, name_of(i) FROM generate_series(1, 3000) AS i;
-- A row of a pair may be gone or different now that was there when the other one was checked.
SELECT count(*) AS missing FROM (
    SELECT a.id AS a, b.id AS b FROM person AS a JOIN person AS b ON a.id < b.id AND bloom_sim(a.sig, b.sig) >= 0.8 WHERE a.id < 10000
    EXCEPT SELECT least(key::int, duplicate::int), greatest(key::int, duplicate::int) FROM review) AS x;
SELECT count(*) AS entered FROM review WHERE duplicate::int > 10000 AND key::int = duplicate::int - 10000 + 40;

-- An AFTER trigger before it enters rows that are not checked, and does nothing else: what was found before does not hold any more.
CREATE FUNCTION enter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO person VALUES (NEW.id + 10000, name_of(NEW.id + 40) || 'q');
    RETURN NULL;
END $$;
SELECT make();
SELECT guard('TRIGGER guard AFTER INSERT OR UPDATE ON person FOR EACH ROW WHEN (NEW.id < 10000)');
CREATE TRIGGER a_enter AFTER INSERT ON person FOR EACH ROW WHEN (NEW.id < 10000 AND NEW.id % 250 = 100) EXECUTE FUNCTION enter();
INSERT INTO person SELECT i, name_of(i) FROM generate_series(1, 3000) AS i;
SELECT count(*) AS entered FROM review WHERE duplicate::int > 10000 AND key::int = duplicate::int - 10000 + 40;
SELECT count(*) AS similar FROM person AS a JOIN person AS b ON b.id = a.id + 9960 WHERE bloom_sim(a.sig, b.sig) >= 0.8;

-- two triggers with different thresholds; one that is seldom called
SELECT make();
SELECT guard();
SELECT guard('TRIGGER guard2 AFTER INSERT OR UPDATE ON person FOR EACH ROW', '0.9', 'review2');
INSERT INTO person SELECT i, name_of(i) FROM generate_series(1, 2500) AS i;
SELECT * FROM pairs() WHERE flagged > 200;
SELECT * FROM pairs(0.9, 'review2');
SELECT make();
SELECT guard('TRIGGER guard AFTER INSERT ON person FOR EACH ROW WHEN (NEW.id % 5 = 0)');
INSERT INTO person SELECT i, name_of(i % 900) FROM generate_series(1, 2500) AS i;
SELECT count(DISTINCT key) FROM review;
-- row by row in a loop, and many small statements
SELECT make();
SELECT guard();
DO $$ BEGIN FOR i IN 1 .. 1000 LOOP INSERT INTO person VALUES (i, name_of(i)); END LOOP; END $$;
DO $$ BEGIN FOR i IN 1 .. 20 LOOP INSERT INTO person SELECT j, name_of(j) FROM generate_series(1000 + i * 50, 1049 + i * 50) AS j; END LOOP; END $$;
SELECT * FROM pairs() WHERE flagged > 50;

-- a row of the statement that is similar to another one of it, or to one that is there, is refused
SELECT make();
SELECT bloom_guard_create('person', 'sig', 0.8, 'reject');
INSERT INTO person SELECT i, name_of(i * 10) FROM generate_series(1, 1500) AS i;
INSERT INTO person SELECT i, CASE i WHEN 3400 THEN 'X' || name_of(70) ELSE name_of(i * 10 + 1) END FROM generate_series(2001, 3500) AS i;
INSERT INTO person SELECT i, CASE i WHEN 3400 THEN name_of(32001) || 'v' ELSE name_of(i * 10 + 1) END FROM generate_series(2001, 3500) AS i;
INSERT INTO person SELECT i, name_of(i * 10 + 1) FROM generate_series(2001, 3500) AS i;
DELETE FROM person WHERE id > 2000;
INSERT INTO person SELECT i, name_of(i * 10 + 1) FROM generate_series(2001, 3500) AS i;
SELECT count(*) FROM person;
DROP TRIGGER person_sig_guard ON person;
-- a block list
CREATE TABLE list (id int PRIMARY KEY, sig bloom);
CREATE INDEX ON list USING sigfile (sig);
INSERT INTO list SELECT i, bloom_signature(name_of(i * 10)) FROM generate_series(1, 200) AS i;
TRUNCATE person;
SELECT bloom_guard_create('person', 'sig', 0.8, 'flag', 'review', 'review', 'blocklist', 'list');
INSERT INTO person SELECT i, name_of(i) FROM generate_series(1, 2500) AS i;
SELECT count(*) = (SELECT count(*) FROM person AS p, list AS l WHERE bloom_sim(p.sig, l.sig) >= 0.8) AS all_of_them, count(*) > 200 AS many FROM review;
DROP TRIGGER person_sig_guard ON person;
-- GiST: row by row
SELECT make();
DROP INDEX person_sig;
CREATE INDEX person_sig ON person USING gist (sig);
SELECT guard();
INSERT INTO person SELECT i, name_of(i) FROM generate_series(1, 400) AS i;
SELECT * FROM pairs();

-- signatures out of line
DROP TABLE person;
CREATE TABLE person (id int PRIMARY KEY, sig bloom);
ALTER TABLE person ALTER sig SET STORAGE EXTERNAL;
CREATE INDEX person_sig ON person USING sigfile (sig);
TRUNCATE review;
SELECT guard();
INSERT INTO person SELECT i, bloom_signature((SELECT string_agg(md5((i % 390 * 100 + j)::text), '') FROM generate_series(1, 90) AS j), max_chars => 3000) FROM generate_series(1, 400) AS i;
SELECT pg_column_size(sig) > 2000 AS toasted FROM person LIMIT 1;
SELECT * FROM pairs();
-- little memory
SET work_mem = '64kB';
SELECT make();
SELECT guard();
INSERT INTO person SELECT i, name_of(i) FROM generate_series(1, 2500) AS i;
SELECT * FROM pairs() WHERE flagged > 200;
RESET work_mem;
DROP FUNCTION make, guard, pairs, scans;
DROP TABLE person, list, review, review2, ward;
DROP FUNCTION name_of, meddle;
