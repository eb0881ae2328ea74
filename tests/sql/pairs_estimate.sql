-- How many pairs there will be: within a factor of three of what is found.
CREATE FUNCTION near(estimate float8, truth float8) RETURNS boolean LANGUAGE sql AS 'SELECT estimate BETWEEN truth / 3 AND truth * 3';
CREATE FUNCTION estimated(rel regclass, threshold float8, OUT found bigint, OUT pairs boolean, OUT seconds boolean) LANGUAGE sql AS $$
    WITH found AS MATERIALIZED (SELECT count(*) AS n FROM bloom_duplicates(rel, 'id', 'sig', threshold)),
         estimate AS MATERIALIZED (SELECT * FROM bloom_pairs_estimate(rel, 'sig', threshold))
    SELECT n, near(e.pairs, n), e.seconds > 0 AND e.seconds < 600 FROM found, estimate AS e
$$;
CREATE TABLE febrl (rec_id text, cluster_id int, given_name text, surname text, street_number text, address_1 text, address_2 text, suburb text, postcode text, state text, date_of_birth text, soc_sec_id text);
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/data/febrl3.csv'
COPY febrl FROM :'file' (FORMAT csv, HEADER);
CREATE TABLE person (id int PRIMARY KEY, sig bloom);
INSERT INTO person SELECT row_number() OVER (ORDER BY rec_id), bloom_signature(concat_ws(' ', given_name, surname, date_of_birth, suburb), max_chars => 60) FROM febrl;
INSERT INTO person VALUES (10001, NULL), (10002, NULL);
-- without an index: all rows are few enough to be compared
SELECT t, (estimated('person', t)).* FROM unnest('{1,0.9,0.8,0.7,0.5}'::float8[]) AS t;
SELECT pairs FROM bloom_pairs_estimate('person', 'sig', 0.8);
CREATE INDEX person_sig ON person USING sigfile (sig);
SELECT t, (estimated('person', t)).* FROM unnest('{1,0.9,0.8,0.7,0.5}'::float8[]) AS t;
SET maintenance_work_mem = '1MB';
SELECT t, (estimated('person', t)).* FROM unnest('{0.9,0.7}'::float8[]) AS t;
RESET maintenance_work_mem;
-- several segments, a tail, dead rows
CREATE TABLE grown (LIKE person);
CREATE INDEX grown_sig ON grown USING sigfile (sig) WITH (tail_limit = 300);
INSERT INTO grown SELECT * FROM person WHERE id % 2 = 0;
INSERT INTO grown SELECT * FROM person WHERE id % 2 = 1;
DELETE FROM grown WHERE id % 7 = 0;
SELECT segments > 1 AS segments, tail_rows > 0 AS tail FROM bloom_sigfile_stats('grown_sig');
SELECT t, (estimated('grown', t)).* FROM unnest('{0.9,0.7}'::float8[]) AS t;
VACUUM grown;
SELECT t, (estimated('grown', t)).* FROM unnest('{0.9,0.7}'::float8[]) AS t;
-- an index all of whose rows are loose
CREATE TABLE loose AS SELECT * FROM person WHERE id <= 1500;
CREATE INDEX loose_sig ON loose USING sigfile (sig);
SELECT t, (estimated('loose', t)).* FROM unnest('{0.9,0.7}'::float8[]) AS t;
-- one cluster of 20,000 equal rows among 80,000, which has nearly all pairs: too many to be found here
CREATE TABLE crowd (id int PRIMARY KEY, sig bloom);
INSERT INTO crowd SELECT i, bloom_signature(CASE WHEN i % 5 = 0 THEN 'Erika Mustermann 19640812 Köln' ELSE 'p' || md5(i::text) END, max_chars => 60) FROM generate_series(1, 100000) AS i;
CREATE INDEX crowd_sig ON crowd USING sigfile (sig);
SELECT near(pairs, 20000.0 * 19999 / 2) AS pairs, seconds > 1 AS seconds FROM bloom_pairs_estimate('crowd', 'sig', 0.9);
DROP INDEX crowd_sig;
SELECT near(pairs, 20000.0 * 19999 / 2) AS pairs, seconds > 1 AS seconds FROM bloom_pairs_estimate('crowd', 'sig', 0.9);
-- who has a pair is too rare to be seen
CREATE TABLE rare AS SELECT * FROM crowd WHERE id % 5 <> 0 OR id <= 15;
SELECT pairs FROM bloom_pairs_estimate('rare', 'sig', 0.9);
CREATE INDEX rare_sig ON rare USING sigfile (sig);
SELECT pairs FROM bloom_pairs_estimate('rare', 'sig', 0.9);
-- no rows, one row, no signatures
CREATE TABLE few (id int, sig bloom);
SELECT pairs, seconds >= 0 AS seconds FROM bloom_pairs_estimate('few', 'sig', 0.8);
CREATE INDEX few_sig ON few USING sigfile (sig);
SELECT pairs, seconds >= 0 AS seconds FROM bloom_pairs_estimate('few', 'sig', 0.8);
INSERT INTO few VALUES (1, NULL), (2, NULL);
SELECT pairs, seconds >= 0 AS seconds FROM bloom_pairs_estimate('few', 'sig', 0.8);
INSERT INTO few VALUES (3, bloom_signature('Erika Mustermann'));
SELECT pairs, seconds >= 0 AS seconds FROM bloom_pairs_estimate('few', 'sig', 0.8);
INSERT INTO few VALUES (4, bloom_signature('Erika Mustermann')), (5, bloom_signature('Erika Mustermann'));
SELECT pairs, seconds >= 0 AS seconds FROM bloom_pairs_estimate('few', 'sig', 0.8);
SELECT t, pairs FROM unnest('{0,1}'::float8[]) AS t, bloom_pairs_estimate('few', 'sig', t);
DROP INDEX few_sig;
SELECT t, pairs FROM unnest('{0,1}'::float8[]) AS t, bloom_pairs_estimate('few', 'sig', t);
-- partitions, with indexes and without one of them; a view
CREATE TABLE parted (id int, sig bloom) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (2500);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (2500) TO (20000);
INSERT INTO parted TABLE person;
CREATE INDEX parted_sig ON parted USING sigfile (sig);
SELECT t, (estimated('parted', t)).* FROM unnest('{0.9,0.7}'::float8[]) AS t;
CREATE TABLE parted_3 PARTITION OF parted FOR VALUES FROM (20000) TO (30000);
SELECT t, (estimated('parted', t)).* FROM unnest('{0.9,0.7}'::float8[]) AS t;
CREATE VIEW seen AS SELECT * FROM person WHERE id <= 3000;
SELECT t, (estimated('seen', t)).* FROM unnest('{0.9,0.7}'::float8[]) AS t;
-- arguments
SELECT bloom_pairs_estimate(NULL, 'sig', 0.8);
SELECT bloom_pairs_estimate('person', NULL, 0.8);
SELECT bloom_pairs_estimate('person', 'sig', NULL);
SELECT bloom_pairs_estimate('person', 'id', 0.8);
SELECT bloom_pairs_estimate('person', 'nothing', 0.8);
SELECT bloom_pairs_estimate('person_sig', 'sig', 0.8);
INSERT INTO few VALUES (6, bloom_signature('Erika Mustermann', max_chars => 60));
SELECT bloom_pairs_estimate('few', 'sig', 0.8);
-- privileges: the column of the signatures is all that is read
CREATE ROLE regress_estimate;
SET ROLE regress_estimate;
SELECT bloom_pairs_estimate('person', 'sig', 0.8);
SELECT bloom_pairs_estimate('crowd', 'sig', 0.8);
RESET ROLE;
GRANT SELECT (sig) ON person TO regress_estimate;
SET ROLE regress_estimate;
SELECT pairs > 0 AS pairs FROM bloom_pairs_estimate('person', 'sig', 0.8);
RESET ROLE;
-- row security: only what the caller sees is counted
ALTER TABLE few ENABLE ROW LEVEL SECURITY;
CREATE POLICY four ON few USING (id <= 4);
GRANT SELECT ON few TO regress_estimate;
SET ROLE regress_estimate;
SELECT pairs FROM bloom_pairs_estimate('few', 'sig', 0.8);
RESET ROLE;
DROP OWNED BY regress_estimate;
DROP ROLE regress_estimate;
DROP VIEW seen;
DROP TABLE febrl, person, grown, loose, crowd, rare, few, parted;
DROP FUNCTION near, estimated;
