-- Pairs of two tables of which each record is in one at the most.
CREATE TEMP TABLE pair (a text, b text, similarity float8);
INSERT INTO pair VALUES ('1', '1', 0.9), ('1', '2', 0.8), ('2', '1', 0.8), ('3', '4', 0.5), ('4', '4', 0.5), ('5', '6', 0), ('6', '7', 1);

-- The same key on both sides is two records. The best pair is kept first; the greatest sum gives it up. A pair of nothing in common is a pair.
SELECT * FROM bloom_assign('pair');
SELECT * FROM bloom_assign('pair', 'optimal');
SELECT * FROM bloom_assign(pairs => 'pair', method => 'greedy') EXCEPT SELECT * FROM bloom_assign('pair');

-- Equal pairs go by the bytes of the keys.
CREATE TEMP TABLE equal AS SELECT a::text, b::text, 0.75::float8 AS similarity FROM generate_series(9, 12) AS a, generate_series(9, 12) AS b;
SELECT * FROM bloom_assign('equal');
SELECT * FROM bloom_assign('equal', 'optimal') EXCEPT SELECT * FROM bloom_assign('equal');

-- Of pairs with one probability the bits decide, where there are any.
CREATE TEMP TABLE scored (a integer, b integer, probability float8, bits float8);
INSERT INTO scored VALUES (1, 1, 1, 30), (1, 2, 1, 60), (2, 1, 1, NULL), (2, 2, 1, 20), (3, 2, 1, 'NaN'), (4, 4, 1, 'Infinity');
SELECT * FROM bloom_assign('scored');
SELECT * FROM bloom_assign('scored', 'optimal');
CREATE TEMP VIEW without_bits AS SELECT a, b, probability FROM scored;
SELECT * FROM bloom_assign('without_bits');

-- A pair that is there twice counts with the greater similarity, whatever the order of the rows.
CREATE TEMP TABLE twice (a text, b text, similarity float8);
INSERT INTO twice VALUES ('x', 'y', 0.25), ('x', 'y', 0.75), ('x', 'z', 0.5), ('y', 'y', 0.5);
SELECT * FROM bloom_assign('twice');
SELECT * FROM bloom_assign('twice', 'optimal');
SELECT count(*) FROM (VALUES (1), (2), (3), (4), (5)) AS run(i), LATERAL (SELECT 1 FROM bloom_assign('twice') HAVING count(*) <> 1) AS other;

-- one_to_one keeps the same, also at threshold 0.
CREATE TABLE one_side (id text, sig bloom);
CREATE TABLE other_side (id text, sig bloom);
INSERT INTO one_side VALUES ('x', bloom_signature('')), ('y', bloom_signature('Erika'));
INSERT INTO other_side VALUES ('1', bloom_signature('zzz')), ('2', bloom_signature('Erica'));
CREATE TEMP TABLE all_pairs AS SELECT * FROM bloom_linkage('one_side', 'id', 'sig', 'other_side', 'id', 'sig', 0);
SELECT count(*), min(similarity) FROM all_pairs;
SELECT a, b, similarity > 0 AS similar FROM bloom_linkage('one_side', 'id', 'sig', 'other_side', 'id', 'sig', 0, one_to_one => true);
SELECT a, b, similarity > 0 AS similar FROM bloom_assign('all_pairs');
SELECT a, b, similarity > 0 AS similar FROM bloom_assign('all_pairs', 'optimal');
DROP TABLE one_side, other_side;
-- Pairs without similarity never cost one with: the greatest sum comes first, then the number of pairs.
CREATE TEMP TABLE nothing (a text, b text, similarity float8);
INSERT INTO nothing VALUES ('x', 'y', 1e-13), ('x', 'z', 0), ('w', 'y', 0), ('v', 'u', 0), ('v', 't', 0), ('s', 'u', 0);
SELECT * FROM bloom_assign('nothing', 'optimal');

-- What is hardly similar is still a pair.
CREATE TEMP TABLE hardly (a text, b text, similarity float8);
INSERT INTO hardly VALUES ('x', 'y', 1e-300), ('y', 'x', '-0');
SELECT a, b, method FROM unnest('{greedy,optimal}'::text[]) AS method, bloom_assign('hardly', method);

-- Random pairs: each record once, and no sum is less than that of the best first. By other means: the sum over all ways for six records of one side.
CREATE TEMP TABLE random AS
SELECT a::text, b::text, (hashint4(a * 1009 + b) & 1023) / 1023.0::float8 AS similarity
FROM generate_series(1, 60) AS a, generate_series(1, 60) AS b WHERE hashint4(a * 7919 + b * 31) % 10 IN (0, 1);
SELECT count(*) = count(DISTINCT a) AND count(*) = count(DISTINCT b) AS each_once FROM bloom_assign('random', 'optimal');
SELECT (SELECT sum(similarity) FROM bloom_assign('random', 'optimal')) > (SELECT sum(similarity) FROM bloom_assign('random')) AS more_than_greedy;
CREATE TEMP VIEW small AS SELECT * FROM random WHERE a::integer <= 6 AND b::integer <= 20;
WITH RECURSIVE way(a, used, sum) AS (
    SELECT 0, '{}'::text[], 0::float8
    UNION ALL
    SELECT way.a + 1, CASE WHEN b IS NULL THEN used ELSE used || b END, sum + coalesce(similarity, 0)
    FROM way, LATERAL (SELECT b, similarity FROM small WHERE small.a = (way.a + 1)::text AND b <> ALL (used) UNION ALL SELECT NULL, 0) AS next
    WHERE way.a < 6)
SELECT round(max(sum)::numeric, 9) = (SELECT round(sum(similarity)::numeric, 9) FROM bloom_assign('small', 'optimal')) AS the_greatest_sum FROM way;

-- What is no method, no table of pairs, no pair.
SELECT * FROM bloom_assign('pair', 'best');
SELECT * FROM bloom_assign('pair', NULL);
SELECT * FROM bloom_assign('pg_class');
CREATE TEMP TABLE odd (a text, b text, similarity float8);
SELECT count(*) FROM bloom_assign('odd') AS greedy FULL JOIN bloom_assign('odd', 'optimal') AS optimal USING (a, b);
INSERT INTO odd VALUES ('1', NULL, 1);
SELECT * FROM bloom_assign('odd');
UPDATE odd SET b = '1', similarity = 1.5;
SELECT * FROM bloom_assign('odd');
UPDATE odd SET similarity = NULL;
SELECT * FROM bloom_assign('odd');
ALTER TABLE odd ALTER similarity TYPE text;
SELECT * FROM bloom_assign('odd');
SET maintenance_work_mem = '1MB';
CREATE TEMP TABLE many AS SELECT i::text AS a, (i / 2)::text AS b, 0.5::float8 AS similarity FROM generate_series(1, 20000) AS i;
SELECT count(*) FROM bloom_assign('many', 'optimal');
SELECT count(*) FROM bloom_assign('many');
RESET maintenance_work_mem;
SELECT count(*) FROM bloom_assign('many', 'optimal');

-- The caller's privileges, and row security.
CREATE TABLE hidden (a text, b text, similarity float8);
INSERT INTO hidden VALUES ('1', '1', 1), ('2', '2', 1);
CREATE ROLE bloom_ident_reader;
SET ROLE bloom_ident_reader;
SELECT * FROM bloom_assign('hidden');
RESET ROLE;
GRANT SELECT ON hidden TO bloom_ident_reader;
ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;
CREATE POLICY one ON hidden USING (a = '1');
SET ROLE bloom_ident_reader;
SELECT * FROM bloom_assign('hidden');
RESET ROLE;
DROP TABLE hidden;
DROP ROLE bloom_ident_reader;

-- one_to_one in a linkage gives what bloom_assign makes of it.
CREATE TEMP TABLE this (id integer PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
CREATE TEMP TABLE that (LIKE this INCLUDING ALL);
INSERT INTO this (id, name) VALUES (1, 'Erika Mustermann'), (2, 'Erika Musterfrau'), (3, 'Max Mustermann'), (4, 'Max Mustermann');
INSERT INTO that (id, name) VALUES (1, 'Erika Mustermann'), (2, 'Erica Mustermann'), (3, 'Max Mustermann'), (5, 'Mustermann');
CREATE TEMP TABLE linked AS SELECT * FROM bloom_linkage('this', 'id', 'sig', 'that', 'id', 'sig', 0.3);
SELECT count(*) FROM linked;
SELECT * FROM bloom_linkage('this', 'id', 'sig', 'that', 'id', 'sig', 0.3, one_to_one => true);
SELECT * FROM bloom_linkage('this', 'id', 'sig', 'that', 'id', 'sig', 0.3, one_to_one => true) EXCEPT SELECT * FROM bloom_assign('linked');
SELECT a, b FROM bloom_linkage('this', 'id', ARRAY['sig', 'sig']::name[], 'that', 'id', ARRAY['sig', 'sig']::name[], ARRAY[1, 2], 0.3, one_to_one => true)
EXCEPT SELECT a, b FROM bloom_assign('linked');
SELECT count(*) FROM bloom_linkage('this', 'id', 'sig', 'that', 'id', 'sig', 0.3, one_to_one => NULL);
