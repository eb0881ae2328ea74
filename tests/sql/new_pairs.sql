-- bloom_pairs_refresh: a table of pairs is brought up to date after some records have changed.
SET client_min_messages = warning;
CREATE SCHEMA new_pairs;
SET search_path = new_pairs, public;
CREATE FUNCTION name_of(i int) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$ SELECT translate(left(md5((i / 4)::text), 12), '0123456789', 'ghijklmnop') || repeat('x', i % 4) $$;
CREATE TABLE person (id int PRIMARY KEY, tenant int, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED,
    tokens text[] GENERATED ALWAYS AS (regexp_split_to_array(name, '')) STORED);
CREATE INDEX ON person USING sigfile (sig);
INSERT INTO person SELECT i, i % 3, name_of(i) FROM generate_series(1, 300) AS i;
CREATE TABLE pairs AS SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.5);
CREATE TABLE changed (key text);
CREATE FUNCTION raised(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE state text; message text; hint text; n bigint;
BEGIN
    EXECUTE 'SELECT count(*) FROM (' || query || ') AS q' INTO n;
    RETURN n || ' rows';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' | ', state, message, nullif(hint, ''));
END $$;
-- one of each: a new record, a changed one, one that is gone and told, one that is gone and not told
SELECT count(*) FROM pairs;
INSERT INTO person VALUES (1001, 0, name_of(8));
UPDATE person SET name = name_of(16) WHERE id = 20;
DELETE FROM person WHERE id IN (40, 60);
INSERT INTO changed VALUES ('1001'), ('20'), ('40'), ('20'), ('12345');
SELECT count(*) FILTER (WHERE '{20,40,60}' && ARRAY[a, b]) FROM pairs;
SELECT * FROM bloom_pairs_refresh('pairs', 'person', 'id', 'sig', 0.5, 'changed');
CREATE FUNCTION different(arguments text DEFAULT '') RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
    EXECUTE format('WITH fresh AS (SELECT * FROM bloom_duplicates(''person'', ''id'', ''sig'', 0.5%s))
        SELECT count(*) FROM ((TABLE fresh EXCEPT ALL TABLE pairs) UNION ALL (TABLE pairs EXCEPT ALL TABLE fresh)) AS d', arguments) INTO n;
    RETURN n;
END $$;
SELECT different();
-- nothing has changed: the pairs of the records that are named go and come back
SELECT * FROM bloom_pairs_refresh('pairs', 'person', 'id', 'sig', 0.5, 'changed');
SELECT different();
-- many random changes: after each the table is that of a fresh run
CREATE FUNCTION walk(steps int, arguments text DEFAULT '') RETURNS TABLE (steps_done int, wrong int, deleted_any boolean, inserted_any boolean) LANGUAGE plpgsql AS $$
DECLARE d bigint; i bigint; n int; k int;
BEGIN
    wrong := 0; deleted_any := false; inserted_any := false;
    FOR step IN 1 .. steps LOOP
        TRUNCATE changed;
        FOR n IN 1 .. 1 + random() * 8 LOOP
            k := 1 + random() * 330;
            CASE (random() * 4)::int
                WHEN 0 THEN DELETE FROM person WHERE id = k;
                WHEN 1 THEN UPDATE person SET name = NULL WHERE id = k;
                ELSE
                    INSERT INTO person VALUES (k, k % 3, name_of((random() * 300)::int)) ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name;
            END CASE;
            -- of a record that is gone nobody has to tell
            INSERT INTO changed SELECT k::text WHERE EXISTS (SELECT FROM person WHERE id = k) OR random() < 0.5;
        END LOOP;
        EXECUTE format('SELECT * FROM bloom_pairs_refresh(''pairs'', ''person'', ''id'', ''sig'', 0.5, ''changed''%s)', arguments) INTO d, i;
        deleted_any := deleted_any OR d > 0;
        inserted_any := inserted_any OR i > 0;
        wrong := wrong + (different(arguments) > 0)::int;
    END LOOP;
    steps_done := steps;
    RETURN NEXT;
END $$;
SELECT setseed(0.5);
SELECT * FROM walk(150);
TRUNCATE pairs;
INSERT INTO pairs SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.5, within => '{tenant}', verify => 'tokens', margin => 0.1);
SELECT * FROM walk(40, ', within => ''{tenant}'', verify => ''tokens'', margin => 0.1');
TRUNCATE pairs;
-- an empty table is filled, by keys of a view; from a relation without an index; a partitioned table of pairs, with columns in another order and others besides
CREATE VIEW everybody AS SELECT id::text AS key FROM person;
SELECT deleted, inserted > 0 AS inserted FROM bloom_pairs_refresh('pairs', 'person', 'id', 'sig', 0.5, 'everybody');
SELECT different();
CREATE VIEW seen AS SELECT * FROM person;
SELECT deleted = inserted AS same FROM bloom_pairs_refresh('pairs', 'seen', 'id', 'sig', 0.5, 'everybody');
SELECT different();
CREATE TABLE kept (at timestamptz DEFAULT now(), similarity float8, b varchar, a text) PARTITION BY RANGE (similarity);
CREATE TABLE kept_low PARTITION OF kept FOR VALUES FROM (0) TO (0.8);
CREATE TABLE kept_high PARTITION OF kept FOR VALUES FROM (0.8) TO (2);
SELECT deleted, inserted > 0 AS inserted FROM bloom_pairs_refresh('kept', 'person', 'id', 'sig', 0.5, 'everybody');
SELECT count(*) FROM ((SELECT a, b, similarity FROM kept EXCEPT ALL TABLE pairs) UNION ALL (TABLE pairs EXCEPT ALL SELECT a, b, similarity FROM kept)) AS d;
-- it is part of the transaction
BEGIN;
DELETE FROM person WHERE id < 200;
SELECT deleted > 0 AS deleted FROM bloom_pairs_refresh('pairs', 'person', 'id', 'sig', 0.5, 'changed');
SELECT different();
ROLLBACK;
SELECT different();
-- in a transaction that has one snapshot
BEGIN ISOLATION LEVEL REPEATABLE READ;
UPDATE person SET name = name_of(1) WHERE id = (SELECT max(id) FROM person WHERE sig IS NOT NULL);
SELECT deleted = inserted AS same FROM bloom_pairs_refresh('pairs', 'person', 'id', 'sig', 0.5, 'everybody');
SELECT different();
ROLLBACK;
-- bad input
CREATE VIEW pairs_view AS SELECT * FROM pairs;
CREATE TABLE numbered (a int, b int, similarity float8);
CREATE TABLE lacking (a text, b text);
SELECT p, raised(format('SELECT * FROM bloom_pairs_refresh(%L, ''person'', ''id'', ''sig'', 0.5, ''changed'')', p)) FROM unnest('{pairs_view,numbered,lacking,person_pkey}'::text[]) AS p;
SELECT raised($$SELECT * FROM bloom_pairs_refresh('pairs', 'person', 'id', 'sig', 0.5, 'person')$$);
SELECT raised($$SELECT * FROM bloom_pairs_refresh('pairs', 'person', 'id', 'sig', 1.5, 'changed')$$);
SELECT raised($$SELECT * FROM bloom_pairs_refresh('pairs', 'person', 'nothing', 'sig', 0.5, 'changed')$$);
SELECT i, raised(format('SELECT * FROM bloom_pairs_refresh(%s)', (SELECT string_agg(CASE WHEN k = i THEN 'NULL' ELSE a END, ', ' ORDER BY k)
    FROM unnest('{''pairs'',''person'',''id'',''sig'',0.5,''changed''}'::text[]) WITH ORDINALITY AS u (a, k)))) FROM generate_series(0, 6) AS i;
INSERT INTO changed VALUES (NULL);
SELECT raised($$SELECT * FROM bloom_pairs_refresh('pairs', 'person', 'id', 'sig', 0.5, 'changed')$$);
SELECT different();
TRUNCATE changed;
INSERT INTO pairs VALUES ('no number', '1', 1);
SELECT raised($$SELECT * FROM bloom_pairs_refresh('pairs', 'person', 'id', 'sig', 0.5, 'changed')$$);
DELETE FROM pairs WHERE a = 'no number';
-- privileges: as the caller in every respect
CREATE ROLE new_pairs_user;
GRANT USAGE ON SCHEMA new_pairs TO new_pairs_user;
GRANT SELECT ON person, changed TO new_pairs_user;
CREATE FUNCTION as_user() RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    SET LOCAL ROLE new_pairs_user;
    result := raised($q$SELECT * FROM bloom_pairs_refresh('pairs', 'person', 'id', 'sig', 0.5, 'changed')$q$);
    RESET ROLE;
    RETURN result;
END $$;
SELECT as_user();
GRANT SELECT ON pairs TO new_pairs_user;
SELECT as_user();
GRANT DELETE ON pairs TO new_pairs_user;
INSERT INTO changed SELECT a FROM pairs;
SELECT as_user();
GRANT INSERT ON pairs TO new_pairs_user;
SELECT as_user();
REVOKE SELECT ON changed FROM new_pairs_user;
SELECT as_user();
GRANT SELECT ON changed TO new_pairs_user;
REVOKE SELECT ON person FROM new_pairs_user;
SELECT as_user();
GRANT SELECT (id) ON person TO new_pairs_user;
SELECT as_user();
SELECT different();
DROP SCHEMA new_pairs CASCADE;
DROP ROLE new_pairs_user;
