-- Names within some edits: exact with the index and without, and by the index wherever signatures of the names are there.
CREATE SCHEMA edits;
SET search_path = edits, public;
SET client_min_messages = warning;

-- what counts: symbols of normal forms
SELECT a, b, k, ident_edit_within(a, b, k) AS within
FROM (VALUES ('Erika', 'Erica', 1), ('Erika', 'Erica', 0), ('Müller', 'Mueller', 0), ('Müller', 'MULLER', 1), ('Straße', 'Strasse', 0), ('Martha', 'Marhta', 1),
    ('Martha', 'Marhta', 2), ('O''Brien', 'OBrien', 0), ('Anna Maria', 'Annamaria', 0), ('', '', 0), ('', 'ab', 1), ('', 'ab', 2), ('ab', 'cd', 2), ('ab', 'cde', 2),
    ('!!', '', 0), ('Meyer', 'Huber', 31)) AS t (a, b, k);
SELECT ident_edit_within(NULL, 'x', 1) IS NULL AND ident_edit_within('x', NULL, 1) IS NULL AND ident_edit_within('x', 'x', NULL) IS NULL AS strict;
SELECT ident_edit_within('a', 'b', -1);
SELECT ident_edit_within('a', 'b', 32);
SELECT bloom_edit_bound('a', 32);
SELECT bloom_edit_bound('Maximilian Hohenstein von Weissenburg', 31);
SELECT bloom_edit_bound('a', 1, ngram => 1);
-- long texts: only what is near the diagonal
SELECT ident_edit_within(repeat('abc', 100000), repeat('abc', 100000) || 'd', 1) AS one, ident_edit_within(repeat('abc', 100000), repeat('abd', 100000), 31) AS many, ident_edit_within(repeat('abc', 1000000), 'abc', 31) AS longer;
SELECT ident_edit_within(repeat('abc', 1000000), repeat('abc', 1000000) || 'd', 1);
-- the bound: what nothing is lost below
SELECT name, k, round(bloom_edit_bound(name, k)::numeric, 3) AS bound
FROM (VALUES ('Bo'), ('Erika'), ('Mustermann'), ('Erika Mustermann'), ('Maximilian Hohenstein')) AS t (name), generate_series(0, 3) AS k ORDER BY length(name), k;

-- A table of names, of which some are close to each other
-- Plans are those of a table that no autovacuum has passed over, however long the test takes.
CREATE TABLE person (id integer PRIMARY KEY, name text, born date, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED) WITH (autovacuum_enabled = false);
INSERT INTO person SELECT i, (ARRAY['Anna','Bernd','Clara','Dietmar','Elisabeth','Friedrich','Günther','Hannelore'])[1 + i * 7 % 8] || ' '
    || (ARRAY['Meier','Schulze','Weber','Fischer','Nowak','Braun','Lang','Großmann','Petrović','O''Connor','Ng','Li'])[1 + i * 11 % 12] || (ARRAY['', 'er', 'ing', 's'])[1 + i * 13 / 17 % 4],
    date '1950-01-01' + i FROM generate_series(1, 4000) AS i;
UPDATE person SET name = overlay(name PLACING chr(97 + id % 26) FROM 1 + id % length(name) FOR id % 2) WHERE id % 3 = 0;
UPDATE person SET name = left(name, id % 4) WHERE id % 50 = 0;
UPDATE person SET name = NULL WHERE id % 97 = 0;
CREATE INDEX person_sig ON person USING sigfile (sig);
ANALYZE person;
EXPLAIN (COSTS off) SELECT id FROM person WHERE ident_edit_within(name, 'Elisabeth Petrovic', 1);
EXPLAIN (COSTS off) SELECT id FROM person WHERE ident_edit_within('Elisabeth Petrovic', name, 2) AND born > '1950-01-01';
-- what has no bound is read as a whole: short names, many edits, a number of edits that is not known
SELECT bloom_edit_bound('Li', 2) = 0 AS none;
EXPLAIN (COSTS off) SELECT id FROM person WHERE ident_edit_within(name, 'Li', 2);
EXPLAIN (COSTS off) SELECT id FROM person WHERE ident_edit_within(name, 'Elisabeth Petrovic', 4);

-- The same rows by index and without, for many names
CREATE FUNCTION compared(from_table text, k integer) RETURNS TABLE (names bigint, rows numeric, different bigint) LANGUAGE plpgsql AS $$
DECLARE
    asked text;
    by_index integer[];
    by_table integer[];
BEGIN
    names := 0; rows := 0; different := 0;
    FOR asked IN SELECT DISTINCT name FROM edits.person WHERE name IS NOT NULL AND id % 17 = 0 LOOP
        SET LOCAL enable_seqscan = off;
        EXECUTE format('SELECT array_agg(id ORDER BY id) FROM %s WHERE public.ident_edit_within(name, %L, %s)', from_table, asked, k) INTO by_index;
        SET LOCAL enable_seqscan = on;
        -- a condition that nothing is found out of
        EXECUTE format('SELECT array_agg(id ORDER BY id) FROM %s WHERE public.ident_edit_within(name || '''', %L, %s)', from_table, asked, k) INTO by_table;
        names := names + 1;
        rows := rows + coalesce(array_length(by_table, 1), 0);
        different := different + (by_index IS DISTINCT FROM by_table)::integer;
    END LOOP;
    RETURN NEXT;
END $$;
SELECT k, c.* FROM generate_series(0, 4) AS k, LATERAL compared('edits.person', k) AS c;

-- The queries behind it: an index finds for each what the operator says of each row, which are fewer than are as similar, and all that are within the edits
CREATE TABLE query AS SELECT id, name, k, bound, bloom_query_edit(bloom_signature(name), bound, name, k) AS query
    FROM person, generate_series(1, 3) AS k, bloom_edit_bound(name, k) AS bound WHERE id % 131 = 0 AND name IS NOT NULL;
SELECT DISTINCT ON (bound = 0, k) k, query FROM query ORDER BY bound = 0, k, id;
CREATE VIEW found AS SELECT count(*), sum(p.id * q.k), count(*) FILTER (WHERE ident_edit_within(p.name, q.name, q.k)) AS within
    FROM query AS q JOIN person AS p ON p.sig % q.query WHERE q.bound > 0;
CREATE VIEW found_by_similarity AS SELECT count(*), sum(p.id * q.k), count(*) FILTER (WHERE ident_edit_within(p.name, q.name, q.k)) AS within
    FROM query AS q JOIN person AS p ON p.sig % bloom_query(bloom_signature(q.name), q.bound) WHERE q.bound > 0;
-- Of a plan what is said of indexes, since 18 says of other nodes that they are disabled
CREATE FUNCTION by_index(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    SET LOCAL enable_seqscan = off;
    FOR line IN EXECUTE 'EXPLAIN (COSTS off) ' || statement LOOP
        IF line ~ 'Index' THEN RETURN NEXT trim(line); END IF;
    END LOOP;
    SET LOCAL enable_seqscan = on;
END $$;
SELECT * FROM by_index('SELECT * FROM found');
SET enable_seqscan = off;
TABLE found;
TABLE found_by_similarity;
RESET enable_seqscan;
SET enable_indexscan = off; SET enable_bitmapscan = off;
TABLE found;
SELECT count(*), sum(p.id * q.k) FROM query AS q JOIN person AS p ON bloom_edit_possible(p.sig, bloom_signature(q.name), q.bound, q.name, q.k) WHERE q.bound > 0;
RESET enable_indexscan; RESET enable_bitmapscan;
-- the text's signature is the second one, and a row's is none of a text
SET enable_seqscan = off;
EXPLAIN (COSTS off) SELECT count(*) FROM person WHERE bloom_edit_possible(bloom_signature('Elisabeth Petrovic'), sig, 0.2, 'Elisabeth Petrovic', 1);
RESET enable_seqscan;
BEGIN;
DROP INDEX person_sig;
CREATE INDEX person_tree ON person USING gist (sig);
SELECT * FROM by_index('SELECT * FROM found');
SET LOCAL enable_seqscan = off;
TABLE found;
DROP INDEX person_tree;
-- rows that have thresholds of their own
CREATE INDEX person_own ON person USING sigfile (bloom_query(sig, 0.8));
SELECT count(*), sum(p.id * q.k) FROM query AS q JOIN person AS p ON bloom_query(p.sig, 0.8) % q.query WHERE q.bound > 0;
SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off;
SELECT count(*), sum(p.id * q.k) FROM query AS q JOIN person AS p ON bloom_query(p.sig, 0.8) % q.query WHERE q.bound > 0;
SELECT count(*), sum(p.id * q.k) FROM query AS q JOIN person AS p ON q.query % bloom_query(p.sig, 0.8) WHERE q.bound > 0;
ROLLBACK;
-- their text form; they are not stored in an index
SELECT count(*) AS queries, count(*) FILTER (WHERE query::text::bloom_query::text = query::text) AS same FROM query;
SELECT '0.5 (1,5,2):00 32 ab'::bloom_query;
SELECT '0.5 (1,5,2):00 2 Ab'::bloom_query;
SELECT '0.5 (1,5,2):00 2 '::bloom_query;
SELECT '0.5 (1,5,2):00 x ab'::bloom_query;
SELECT '0.5 (1,5,2):00 +2 ab'::bloom_query;
SELECT '0.5 (1,5,0):00 2 ab'::bloom_query;
SELECT '0.5 (1,5,2):0 2 ab'::bloom_query;
SELECT '0.5  (1, 5, 2):00  2  ab '::bloom_query;
SELECT bloom_query_edit(bloom_signature('Erika'), 0.5, 'Erika', 32);
SELECT bloom_query_edit(bloom_signature_of_tokens('{a,b}'), 0.5, 'Erika', 2);
SELECT bloom_query_edit('(1,5,2):00', 1.5, 'Erika', 2), bloom_query_edit('(1,5,2):00', 'NaN', 'Erika', 2), bloom_query_edit('(1,5,2):00', -1, 'Erika', 2), bloom_query_edit('(1,5,2):00', 0.5, '!', 2), bloom_query_edit('(1,5,2):00', 0.5, NULL, 2),
    length(bloom_query_edit('(1,5,2):00', 0.5, repeat('x', 255), 2)::text) AS long, bloom_query_edit('(1,5,2):00', 0.5, repeat('x', 256), 2) AS longer;
CREATE INDEX ON query USING sigfile (query);
CREATE INDEX ON query USING gist (query);

-- An expression index, and one of another shape
CREATE TABLE plain AS SELECT id, name::varchar(60) AS name FROM person;
CREATE INDEX plain_sig ON plain USING sigfile (bloom_signature(name, 2, 40));
ANALYZE plain;
EXPLAIN (COSTS off) SELECT id FROM plain WHERE ident_edit_within(name, 'Elisabeth Petrovic', 1);
SELECT k, c.* FROM generate_series(1, 3) AS k, LATERAL compared('edits.plain', k) AS c;
-- those of words by themselves, or with filler, have no such bound
DROP INDEX plain_sig;
CREATE INDEX plain_by_word ON plain USING sigfile (bloom_signature(name, by_word => true));
CREATE INDEX plain_filled ON plain USING sigfile (bloom_signature(name, filler => true));
EXPLAIN (COSTS off) SELECT id FROM plain WHERE ident_edit_within(name, 'Elisabeth Petrovic', 1);

-- Parameters, joins, OR, NOT, outer joins, volatile arguments, sub-queries, views
PREPARE near(text) AS SELECT count(*) FROM person WHERE ident_edit_within(name, $1, 1);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS off) EXECUTE near('Elisabeth Petrovic');
EXECUTE near('Elisabeth Petrovic');
EXECUTE near('Li');
EXECUTE near(NULL);
RESET plan_cache_mode;
DEALLOCATE near;
SET enable_seqscan = off;
EXPLAIN (COSTS off) SELECT * FROM person WHERE ident_edit_within(name, 'Elisabeth Petrovic', 1) OR ident_edit_within(name, 'Hannelore Weber', 1);
RESET enable_seqscan;
SELECT count(*) FROM person WHERE ident_edit_within(name, 'Elisabeth Petrovic', 1) OR ident_edit_within(name, 'Hannelore Weber', 1);
SELECT count(*) FROM person WHERE ident_edit_within(name || '', 'Elisabeth Petrovic', 1) OR ident_edit_within(name || '', 'Hannelore Weber', 1);
SELECT count(*) AS other FROM person WHERE NOT ident_edit_within(name, 'Elisabeth Petrovic', 1);
SELECT count(*) AS other FROM person WHERE NOT ident_edit_within(name || '', 'Elisabeth Petrovic', 1);
CREATE TABLE asked AS SELECT id, name FROM person WHERE id % 101 = 0;
ANALYZE asked;
SET enable_hashjoin = off; SET enable_mergejoin = off;
EXPLAIN (COSTS off) SELECT count(*) FROM asked JOIN person ON ident_edit_within(person.name, asked.name, 1);
SELECT count(*) FROM asked JOIN person ON ident_edit_within(person.name, asked.name, 1);
SELECT count(*) FROM asked JOIN person ON ident_edit_within(person.name || '', asked.name || '', 1);
SELECT count(*), count(person.id) FROM asked LEFT JOIN person ON ident_edit_within(asked.name, person.name, 1) AND person.id <> asked.id;
SELECT count(*), count(person.id) FROM asked LEFT JOIN person ON ident_edit_within(asked.name || '', person.name || '', 1) AND person.id <> asked.id;
SELECT count(*) FROM asked LEFT JOIN person ON person.id = asked.id + 1 WHERE ident_edit_within(person.name, 'Elisabeth Weber', 2) IS NULL;
SELECT count(*) FROM asked LEFT JOIN person ON person.id = asked.id + 1 WHERE ident_edit_within(person.name || '', 'Elisabeth Weber', 2) IS NULL;
SELECT count(*) FROM person AS a, person AS b WHERE a.id < 200 AND b.id < 200 AND a.id < b.id AND ident_edit_within(a.name, b.name, 1);
SELECT count(*) FROM person AS a, person AS b WHERE a.id < 200 AND b.id < 200 AND a.id < b.id AND ident_edit_within(a.name || '', b.name || '', 1);
EXPLAIN (COSTS off) SELECT count(*) FROM person WHERE ident_edit_within(name, CASE WHEN random() < 2 THEN 'Elisabeth Petrovic' END, 1);
CREATE VIEW named AS SELECT id, name AS called FROM person;
EXPLAIN (COSTS off) SELECT * FROM named WHERE ident_edit_within(called, 'Elisabeth Petrovic', 1);
EXPLAIN (COSTS off) UPDATE person SET born = born WHERE ident_edit_within(name, 'Elisabeth Petrovic', 1);
RESET enable_hashjoin; RESET enable_mergejoin;

-- Partitions, which all compute the signature alike
CREATE TABLE parted (id integer, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (2000);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (2000) TO (5000);
CREATE INDEX ON parted USING sigfile (sig);
INSERT INTO parted SELECT id, name FROM person;
ANALYZE parted;
EXPLAIN (COSTS off) SELECT id FROM parted WHERE ident_edit_within(name, 'Elisabeth Petrovic', 1);
SELECT k, c.* FROM generate_series(1, 2) AS k, LATERAL compared('edits.parted', k) AS c;

-- A child that has other columns at the same place, or computes the signature of something else where that is allowed
CREATE TABLE family (id integer, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
CREATE TABLE child (id integer, name text, sig2 bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED, other text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
ALTER TABLE child INHERIT family;
INSERT INTO child (id, name, other) SELECT id, name, 'zzz' FROM person;
ANALYZE child;
SELECT k, c.* FROM generate_series(1, 2) AS k, LATERAL compared('edits.family', k) AS c;

-- What is asked anew for each condition may be another text each time; an index by such a condition stays as it is
SELECT count(*) FROM asked JOIN person ON person.id = asked.id AND ident_edit_within(person.name, (SELECT a.name FROM asked AS a WHERE a.id = asked.id ORDER BY random() LIMIT 1), 0);
CREATE INDEX parted_erika ON parted (id) WHERE ident_edit_within(name, 'Elisabeth Petrovic', 1);
ANALYZE parted;
SELECT count(*) FROM parted WHERE ident_edit_within(name, 'Elisabeth Petrovic', 1) AND id > 0;

-- A column that is generated no more says nothing of the names
ALTER TABLE person ALTER COLUMN sig DROP EXPRESSION;
UPDATE person SET sig = bloom_signature('nobody') WHERE id % 2 = 0;
EXPLAIN (COSTS off) SELECT id FROM person WHERE ident_edit_within(name, 'Elisabeth Petrovic', 1);
SELECT c.* FROM compared('edits.person', 1) AS c;

-- Who may call the function that is written needs no right on those that follow from it, also where a plan is there that somebody else may run
CREATE INDEX plain_sig ON plain USING sigfile (bloom_signature(name));
CREATE ROLE edits_reader;
GRANT USAGE ON SCHEMA edits TO edits_reader;
GRANT SELECT ON plain TO edits_reader;
SET enable_seqscan = off;
SET plan_cache_mode = force_generic_plan;
PREPARE near(text) AS SELECT count(*) FROM plain WHERE ident_edit_within(name, $1, 1);
PREPARE alike(text) AS SELECT count(*) FROM plain WHERE bloom_sim(bloom_signature(name), bloom_signature($1)) >= 0.9;
REVOKE EXECUTE ON FUNCTION bloom_query_at_least, bloom_query_edit FROM PUBLIC;
EXPLAIN (COSTS off) EXECUTE near('Elisabeth Petrovic');
SET ROLE edits_reader;
SELECT count(*) FROM plain WHERE ident_edit_within(name, 'Elisabeth Petrovic', 1);
SELECT count(*) FROM plain WHERE bloom_sim(bloom_signature(name), bloom_signature('Elisabeth Petrovic')) >= 0.9;
EXECUTE near('Elisabeth Petrovic');
EXECUTE alike('Elisabeth Petrovic');
RESET ROLE;
GRANT EXECUTE ON FUNCTION bloom_query_at_least, bloom_query_edit TO PUBLIC;
REVOKE EXECUTE ON FUNCTION bloom_edit_bound FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION bloom_sim_at_least(bloom, bloom, float8), bloom_edit_possible FROM PUBLIC;
EXECUTE near('Elisabeth Petrovic');
EXECUTE alike('Elisabeth Petrovic');
SET ROLE edits_reader;
EXECUTE near('Elisabeth Petrovic');
EXECUTE alike('Elisabeth Petrovic');
SELECT count(*) FROM plain WHERE ident_edit_within(name, 'Elisabeth Petrovic', 1);
SELECT count(*) FROM plain WHERE bloom_sim(bloom_signature(name), bloom_signature('Elisabeth Petrovic')) >= 0.9;
RESET ROLE;
DEALLOCATE near;
DEALLOCATE alike;
RESET enable_seqscan;
RESET plan_cache_mode;
DROP INDEX plain_sig;
GRANT EXECUTE ON FUNCTION bloom_edit_bound TO PUBLIC;
GRANT EXECUTE ON FUNCTION bloom_sim_at_least(bloom, bloom, float8), bloom_edit_possible TO PUBLIC;
REVOKE SELECT ON plain FROM edits_reader;
REVOKE USAGE ON SCHEMA edits FROM edits_reader;
DROP ROLE edits_reader;

-- A table without rows may have signatures that cannot be computed
CREATE TABLE impossible (name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name, 3, 30, 7)) STORED);
CREATE INDEX ON impossible USING sigfile (sig);
SELECT * FROM impossible WHERE ident_edit_within(name, 'Elisabeth Petrovic', 1);

-- A function of the same name that is not ours
CREATE FUNCTION bloom_signature(text text) RETURNS bloom IMMUTABLE LANGUAGE sql AS $$ SELECT public.bloom_signature('always the same') $$;
CREATE INDEX plain_false ON plain USING sigfile (edits.bloom_signature(name));
EXPLAIN (COSTS off) SELECT id FROM plain WHERE ident_edit_within(name, 'Elisabeth Petrovic', 1);

DROP SCHEMA edits CASCADE;
