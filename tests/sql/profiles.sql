-- Pairs of weighted profiles: by any columns with and without indexes the pairs are those of bloom_profile_sim over all pairs, with the same numbers.
SELECT setseed(0.17);
CREATE TABLE word AS SELECT i, substr(md5((i % 40)::text), 1, 5) || ' ' || substr(md5((i % 17)::text), 1, 4 + i % 3) || CASE WHEN i % 7 = 0 THEN 'x' ELSE '' END AS w FROM generate_series(0, 119) AS i;
CREATE FUNCTION random_signature(filled float8, n int) RETURNS bloom LANGUAGE sql AS $$
    SELECT CASE WHEN random() < filled THEN (SELECT bloom_signature(w, max_chars => 12) FROM word WHERE i = (SELECT floor(random() * n)::int)) END
$$;
CREATE TABLE two_sides AS
SELECT side, id, random_signature(0.9, 120) AS s1, random_signature(0.7, 60) AS s2, random_signature(0.5, 120) AS s3, random_signature(0.97, 2) AS s4, random_signature(0.3, 30) AS s5, random_signature(0.8, 9) AS s6
FROM generate_series(1, 2) AS side, generate_series(1, 130) AS id;
CREATE TABLE a_side AS SELECT * FROM two_sides WHERE side = 1;
CREATE TABLE b_side AS SELECT * FROM two_sides WHERE side = 2;
-- a record without any signature
UPDATE a_side SET s1 = NULL, s2 = NULL, s3 = NULL, s4 = NULL, s5 = NULL, s6 = NULL WHERE id = 5;
CREATE TABLE rule (number int GENERATED ALWAYS AS IDENTITY, n int, weights float8[]);
INSERT INTO rule (n, weights) VALUES (1, '{2}'), (2, '{1,1}'), (2, '{0.3,0.7}'), (3, '{0.1,0.2,0.3}'), (3, '{1,0,1}'), (4, '{3,2,1,1}'), (4, '{1,1,1,9}'), (5, '{1,2,0,0.5,4}'), (6, '{3,2,1,1,0.5,0.25}'), (6, '{1,1,1,1,1,1}'), (6, '{0,0,0,0,0,1}');
CREATE TABLE profile_pair (rule int, linkage boolean, a text, b text, similarity float8, coverage float8);
INSERT INTO profile_pair
SELECT r.number, l, x.id::text, y.id::text, bloom_profile_sim(px.p[:n], py.p[:n], weights), bloom_profile_coverage(px.p[:n], py.p[:n], weights)
FROM rule AS r, unnest('{f,t}'::boolean[]) AS l, a_side AS x, LATERAL (SELECT ARRAY[x.s1, x.s2, x.s3, x.s4, x.s5, x.s6]) AS px (p),
    LATERAL (SELECT * FROM a_side WHERE NOT l AND id > x.id UNION ALL SELECT * FROM b_side WHERE l) AS y, LATERAL (SELECT ARRAY[y.s1, y.s2, y.s3, y.s4, y.s5, y.s6]) AS py (p);
CREATE INDEX ON profile_pair (rule, linkage);
CREATE FUNCTION profiles_differ(OUT calls bigint, OUT pairs_found bigint, OUT differ bigint) LANGUAGE plpgsql AS $$
DECLARE
    r record;
    here record;
    columns name[];
BEGIN
    SELECT 0, 0, 0 INTO calls, pairs_found, differ;
    FOR r IN SELECT number, n, weights, l, t, c FROM rule, unnest('{f,t}'::boolean[]) AS l,
        unnest('{0,0.5,0.75,0.9,1}'::float8[], '{0,0.4,0.7,0.85,1}'::float8[]) AS at (t, other), unnest('{0,0.3,0.5,0.9,1}'::float8[]) AS c WHERE t > 0 OR c IN (0, 0.5)
    LOOP
        SELECT array_agg('s' || i ORDER BY i) FROM generate_series(1, r.n) AS i INTO columns;
        CREATE TEMP TABLE pairs AS SELECT * FROM bloom_duplicates('a_side', 'id', columns, r.weights, r.t, coverage => r.c) WHERE NOT r.l
            UNION ALL SELECT * FROM bloom_linkage('a_side', 'id', columns, 'b_side', 'id', columns, r.weights, r.t, coverage => r.c) WHERE r.l;
        WITH wanted AS (SELECT a, b, similarity FROM profile_pair AS p WHERE p.rule = r.number AND linkage = r.l AND similarity >= r.t AND coverage > r.c - 1e-12)
        SELECT (SELECT count(*) FROM pairs) AS found, (SELECT count(*) FROM ((TABLE pairs EXCEPT ALL TABLE wanted) UNION ALL (TABLE wanted EXCEPT ALL TABLE pairs)) AS d) AS differ INTO here;
        DROP TABLE pairs;
        SELECT calls + 1, pairs_found + here.found, differ + here.differ INTO calls, pairs_found, differ;
    END LOOP;
END $$;
SELECT * FROM profiles_differ();
-- an index of some columns: other columns are read with all records
CREATE INDEX a1 ON a_side USING sigfile (s1);
CREATE INDEX a4 ON a_side USING sigfile (s4);
CREATE INDEX b1 ON b_side USING sigfile (s1);
CREATE INDEX b3 ON b_side USING sigfile (s3);
SELECT * FROM profiles_differ();
-- an index of each column: records are read by tid
CREATE INDEX a2 ON a_side USING sigfile (s2);
CREATE INDEX a3 ON a_side USING sigfile (s3);
CREATE INDEX a5 ON a_side USING sigfile (s5);
CREATE INDEX a6 ON a_side USING sigfile (s6);
CREATE INDEX b2 ON b_side USING sigfile (s2);
CREATE INDEX b4 ON b_side USING sigfile (s4);
CREATE INDEX b5 ON b_side USING sigfile (s5);
CREATE INDEX b6 ON b_side USING sigfile (s6);
SELECT * FROM profiles_differ();
-- rows in tails, and versions that are gone
UPDATE a_side SET side = 3 WHERE id % 3 = 0;
DELETE FROM b_side WHERE id % 5 = 0;
INSERT INTO b_side SELECT * FROM two_sides WHERE side = 2 AND id % 5 = 0;
SET maintenance_work_mem = '1MB';
SELECT * FROM profiles_differ();
RESET maintenance_work_mem;
-- what is new: by the indexes of the columns, by some, and without
CREATE VIEW changed AS SELECT id::text AS key FROM a_side WHERE id % 4 = 1;
CREATE FUNCTION new_differs(OUT pairs_found bigint, OUT differ bigint) LANGUAGE sql AS $$
    WITH rules AS (SELECT number, n, weights, t, c, (SELECT array_agg('s' || i ORDER BY i) FROM generate_series(1, n) AS i)::name[] AS columns FROM rule, unnest('{0.5,0.75,1}'::float8[]) AS t, unnest('{0,0.5,1}'::float8[]) AS c),
         pairs AS MATERIALIZED (SELECT number, t, c, d.* FROM rules, bloom_duplicates('a_side', 'id', columns, weights, t, new => 'changed', coverage => c) AS d),
         wanted AS (SELECT number, t, c, a, b, similarity FROM rules, profile_pair AS p WHERE p.rule = number AND NOT linkage AND similarity >= t AND coverage > c - 1e-12 AND (a::int % 4 = 1 OR b::int % 4 = 1))
    SELECT (SELECT count(*) FROM pairs), (SELECT count(*) FROM ((TABLE pairs EXCEPT ALL TABLE wanted) UNION ALL (TABLE wanted EXCEPT ALL TABLE pairs)) AS d)
$$;
SELECT * FROM new_differs();
DROP INDEX a2, a5;
SELECT * FROM new_differs();
DROP INDEX a1, a3, a4, a6;
SELECT * FROM new_differs();

-- Enough rows for posting lists and parallel workers, in two partitions of which one has its columns in another order.
CREATE TABLE spread (id int, s1 bloom, s2 bloom, s3 bloom) PARTITION BY RANGE (id);
CREATE TABLE spread_1 PARTITION OF spread FOR VALUES FROM (0) TO (3000);
CREATE TABLE spread_2 (s3 bloom, gone int, s2 bloom, id int, s1 bloom);
ALTER TABLE spread_2 DROP COLUMN gone;
ALTER TABLE spread ATTACH PARTITION spread_2 FOR VALUES FROM (3000) TO (9000);
INSERT INTO spread SELECT id, bloom_signature(substr(md5((id % 2500)::text), 1, 12), max_chars => 12), CASE WHEN id % 4 > 0 THEN bloom_signature(md5((id % 1700)::text)) END, bloom_signature('town' || (id % 2)) FROM generate_series(1, 6000) AS id;
CREATE FUNCTION spread_pairs(OUT pairs bigint, OUT checksum numeric, OUT wrong bigint) LANGUAGE sql AS $$
    SELECT count(*), sum(hashtextextended(a || ' ' || b || ' ' || similarity, 0)), count(*) FILTER (WHERE similarity <> bloom_profile_sim(ARRAY[x.s1, x.s2, x.s3], ARRAY[y.s1, y.s2, y.s3], '{3,3,1}'))
    FROM bloom_duplicates('spread', 'id', '{s1,s2,s3}', '{3,3,1}', 0.7) JOIN spread AS x ON x.id = a::int JOIN spread AS y ON y.id = b::int
$$;
SELECT * FROM spread_pairs();
CREATE INDEX ON spread USING sigfile (s1);
CREATE INDEX ON spread USING sigfile (s2);
SELECT * FROM spread_pairs();
SET max_parallel_workers_per_gather = 0;
SELECT * FROM spread_pairs();
RESET max_parallel_workers_per_gather;
CREATE INDEX ON spread USING sigfile (s3);
SELECT * FROM spread_pairs();
-- through a view only a query reads the rows
CREATE VIEW spread_view AS SELECT * FROM spread;
SELECT count(*) = (SELECT pairs FROM spread_pairs()) AS same FROM bloom_duplicates('spread_view', 'id', '{s1,s2,s3}', '{3,3,1}', 0.7);

-- A column of few values is not searched where coverage allows that, and what is searched for then is less similar. A search of some seconds would say how far it is.
CREATE VIEW spread_half AS SELECT * FROM spread WHERE id <= 3000;
SET client_min_messages = debug1;
SELECT count(*) FROM bloom_duplicates('spread_view', 'id', '{s1,s2,s3}', '{3,3,1}', 0.7);
SELECT count(*) FROM bloom_duplicates('spread_half', 'id', '{s1,s3}', '{3,1}', 0.99, coverage => 0.2);
SELECT count(*) FROM bloom_linkage('spread_1', 'id', '{s1,s3}', 'spread_2', 'id', '{s1,s3}', '{3,1}', 0.9);
-- a few new ones are searched in the indexes
CREATE VIEW few AS SELECT id::text AS key FROM spread WHERE id IN (7, 4321);
SELECT count(*) FROM bloom_duplicates('spread', 'id', '{s1,s2,s3}', '{3,3,1}', 0.7, new => 'few');
RESET client_min_messages;

-- Coverage: a nearly empty record, with a town alone, draws no strangers into a cluster.
CREATE TABLE townsman (id int, name bloom, born bloom, town bloom);
INSERT INTO townsman SELECT i, bloom_signature(md5(i::text)), bloom_signature((i * 7919)::text), bloom_signature('Musterstadt') FROM generate_series(1, 50) AS i;
INSERT INTO townsman VALUES (51, NULL, NULL, bloom_signature('Musterstadt')), (52, bloom_signature(md5('1')), NULL, bloom_signature('Musterstadt')), (53, bloom_signature(md5('2')), bloom_signature('15838'), NULL);
CREATE FUNCTION drawn(share float8, OUT pairs bigint, OUT largest bigint) LANGUAGE sql AS $$
    WITH found AS MATERIALIZED (SELECT * FROM bloom_duplicates('townsman', 'id', '{name,born,town}', '{3,2,1}', 0.8, coverage => share))
    SELECT count(*), max(n) FROM (SELECT count(*) AS n FROM (SELECT a AS k FROM found UNION ALL SELECT b FROM found) AS u GROUP BY k) AS d, (SELECT 1) AS one
$$;
SELECT a, b, similarity FROM bloom_duplicates('townsman', 'id', '{name,born,town}', '{3,2,1}', 0.8) ORDER BY a::int, b::int;
SELECT share, (drawn(share)).* FROM unnest('{0,0.16,0.17,0.5,0.83,0.84,1}'::float8[]) AS share;
SELECT a, b FROM bloom_linkage('townsman', 'id', '{name,born,town}', 'townsman', 'id', '{name,born,town}', '{3,2,1}', 0.8, coverage => 0.5) WHERE a = '51' OR b = '51';
SELECT count(*) FROM bloom_linkage('townsman', 'id', '{name,born,town}', 'townsman', 'id', '{name,born,town}', '{3,2,1}', 0.8, coverage => 0) WHERE a = '51' OR b = '51';
-- exactly half is enough, whatever the weights are in binary
SELECT weights, count(*) FROM (VALUES ('{1,1}'::float8[]), ('{0.3,0.3}'), ('{1,1.0001}')) AS v (weights), LATERAL (SELECT * FROM bloom_duplicates('townsman', 'id', '{name,born}', weights, 0.8) WHERE a = '1') AS d GROUP BY weights ORDER BY weights;

-- The share by itself.
SELECT bloom_profile_coverage(ARRAY[x.name, x.born, x.town], ARRAY[y.name, y.born, y.town], '{3,2,1}') AS coverage, bloom_profile_sim(ARRAY[x.name, x.born, x.town], ARRAY[y.name, y.born, y.town], '{3,2,1}') AS similarity
FROM townsman AS x, townsman AS y WHERE (x.id, y.id) IN ((1, 2), (1, 51), (51, 53), (53, 52), (2, 53)) ORDER BY x.id, y.id;
SELECT bloom_profile_coverage(ARRAY[NULL]::bloom[], ARRAY[NULL]::bloom[], '{1}'), bloom_profile_coverage(NULL, ARRAY[NULL]::bloom[], '{1}') IS NULL, bloom_profile_coverage(ARRAY[bloom_signature('')], ARRAY[bloom_signature('x', 2)], '{5}');
SELECT bloom_profile_coverage('{}', '{}', '{}');
SELECT bloom_profile_coverage(ARRAY[NULL]::bloom[], ARRAY[NULL, NULL]::bloom[], '{1,2}');
SELECT bloom_profile_coverage(ARRAY[NULL]::bloom[], ARRAY[NULL]::bloom[], '{-1}');
SELECT bloom_profile_coverage(ARRAY[NULL]::bloom[], ARRAY[NULL]::bloom[], '{NULL}');

-- Errors.
SELECT * FROM bloom_duplicates('townsman', 'id', '{name,born}', '{1,1}', 0.8, coverage => -0.1);
SELECT * FROM bloom_duplicates('townsman', 'id', '{name,born}', '{1,1}', 0.8, coverage => 1.5);
SELECT * FROM bloom_duplicates('townsman', 'id', '{name,born}', '{1,1}', 0.8, coverage => 'NaN');
SELECT * FROM bloom_duplicates('townsman', 'id', '{name,born}', '{1,1}', 0.8, coverage => 'Infinity');
SELECT * FROM bloom_duplicates('townsman', 'id', '{name,born}', '{1,1}', 0.8, coverage => NULL);
SELECT * FROM bloom_linkage('townsman', 'id', '{name,born}', 'townsman', 'id', '{name,born}', '{1,1}', 0.8, coverage => '-Infinity');
SELECT * FROM bloom_linkage('townsman', 'id', '{name,born}', 'townsman', 'id', '{name,born}', '{1,1}', 0.8, coverage => NULL);
-- two shapes in a column, searched or not
UPDATE townsman SET town = bloom_signature('Musterstadt', 2) WHERE id = 7;
SELECT count(*) FROM bloom_duplicates('townsman', 'id', '{name,born,town}', '{3,2,1}', 0.8);
CREATE INDEX ON townsman USING sigfile (name);
CREATE INDEX ON townsman USING sigfile (born);
INSERT INTO townsman SELECT 60, name, born, town FROM townsman WHERE id = 8;
INSERT INTO townsman SELECT 61, name, born, bloom_signature('Musterstadt', 2) FROM townsman WHERE id = 8;
SELECT count(*) FROM bloom_duplicates('townsman', 'id', '{name,born,town}', '{3,2,1}', 0.8);
-- a key that two records have is told where records are read by their places, too
DELETE FROM townsman WHERE id IN (7, 61);
INSERT INTO townsman (id, name) VALUES (3, bloom_signature('nobody'));
SELECT count(*) FROM bloom_duplicates('townsman', 'id', '{name,born,town}', '{3,2,1}', 0.8);
DELETE FROM townsman WHERE id = 3;
-- columns that the caller may not read
CREATE ROLE bloom_ident_columns;
GRANT SELECT (id, name, born) ON townsman TO bloom_ident_columns;
SET ROLE bloom_ident_columns;
SELECT count(*) FROM bloom_duplicates('townsman', 'id', '{name,born}', '{3,2}', 0.8);
SELECT count(*) FROM bloom_duplicates('townsman', 'id', '{name,born,town}', '{3,2,1}', 0.8);
RESET ROLE;
-- rows that a policy hides are not read by an index
GRANT SELECT ON townsman TO bloom_ident_columns;
CREATE POLICY shown ON townsman USING (id <> 60);
ALTER TABLE townsman ENABLE ROW LEVEL SECURITY;
SELECT count(*) FROM bloom_duplicates('townsman', 'id', '{name,born,town}', '{3,2,1}', 0.8);
SET ROLE bloom_ident_columns;
SELECT count(*) FROM bloom_duplicates('townsman', 'id', '{name,born,town}', '{3,2,1}', 0.8);
RESET ROLE;
-- a canceled search
SET statement_timeout = '50ms';
SELECT count(*) FROM bloom_duplicates('spread', 'id', '{s1,s2,s3}', '{3,3,1}', 0.01, coverage => 0);
RESET statement_timeout;
DROP TABLE word, two_sides, a_side, b_side, rule, profile_pair, spread, townsman CASCADE;
DROP FUNCTION random_signature, profiles_differ, new_differs, spread_pairs, drawn;
DROP ROLE bloom_ident_columns;
