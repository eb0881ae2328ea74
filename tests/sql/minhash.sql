-- Sketches of sets of tokens: minhash, minhash_bits and minhash_query.

-- The sketch of a set: order, repetitions and NULLs do not matter.
SELECT minhash('{the,world}', 2), minhash('{the,world}', 2, 7) AS other_family, minhash_bits('{the,world}', 20);
SELECT minhash('{a,b,c}', 64) = minhash('{c,NULL,b,a,a}', 64) AS minima, minhash_bits('{a,b,c}', 64) = minhash_bits('{c,NULL,b,a,a}', 64) AS bits,
       minhash_bits(minhash('{a,b,c}', 64)) = minhash_bits('{a,b,c}', 64) AS of_minima, minhash('{a,b,c}', 64)::minhash_bits = minhash_bits('{a,b,c}', 64) AS cast;
SELECT minhash('{a}', 64) = minhash('{A}', 64) AS letter, minhash('{ä}', 64) = minhash('{a}', 64) AS accent, minhash('{""}', 64) = minhash('{}', 64) AS empty_token;
SELECT minhash(NULL, 64), minhash('{a}', NULL), minhash_bits(NULL::text[], 64), minhash_bits('{a}', 64, NULL), minhash_bits(NULL::minhash);
SELECT pg_column_size(minhash('{a}', 128)) AS minima, pg_column_size(minhash_bits('{a}', 192)) AS bits;
CREATE TEMP TABLE stored AS SELECT minhash_bits('{a}', 192) AS bits, minhash('{a}', 1024) AS minima;
SELECT pg_column_size(bits) AS bits, pg_column_size(minima) AS minima, minima = minhash('{a}', 1024) AS same FROM stored;
-- Dimensions and bounds of an array
SELECT minhash_bits('[5:6]={a,b}'::text[], 8) = minhash_bits('{a,b}', 8) AS same;
SELECT minhash_bits('{{a,b},{c,d}}', 8);
-- Elements that are long, compressed and out of line
SELECT minhash_bits(ARRAY[repeat('long ', 100000), 'a'], 64) = minhash_bits(ARRAY['a', repeat('long ', 100000)], 64) AS long_token;

SELECT minhash('{a}', 0);
SELECT minhash('{a}', 1025);
SELECT minhash_bits('{a}', -1);
SELECT minhash_bits('{a}', 8, -1);
SELECT minhash_bits('{a}', 8, 65536);

-- Empty sets: similar to nothing, equal to each other, last in nearest order.
SELECT minhash('{}', 8), minhash_bits('{NULL}', 8), minhash_bits(minhash('{}', 8)), minhash('{}', 8) = minhash('{NULL}', 8) AS equal;
SELECT minhash_sim(e, e), minhash_sim(e, a), minhash_sim(a, a), e <-> e AS to_itself, e <-> a AS to_another, e = e AS equal
FROM minhash_bits('{}', 64) AS e, minhash_bits('{a}', 64) AS a;
SELECT minhash_sim(e, e), minhash_sim(e, a), minhash_sim(a, a), e <-> e AS to_itself, e <-> a AS to_another, e = e AS equal
FROM minhash('{}', 64) AS e, minhash('{a}', 64) AS a;
SELECT e % minhash_query(e, 0) AS at_0, e % minhash_query(e, 1e-300) AS above_0, a % minhash_query(e, 0) AS a_at_0, a % minhash_query(e, 1e-300) AS a_above_0,
       minhash_sim(e, a) > -0.5 AS "> -0.5", minhash_sim(e, a) >= 0 AS ">= 0", minhash_sim(e, a) > 0 AS "> 0"
FROM minhash_bits('{}', 64) AS e, minhash_bits('{a}', 64) AS a;

-- Similarity: an estimate, not clamped.
SELECT minhash_sim(minhash_bits(a, 1024), minhash_bits(b, 1024)) AS bits, minhash_sim(minhash(a, 1024), minhash(b, 1024)) AS minima, round(3 / 11.0, 3) AS exact
FROM (SELECT '{the,world,is,for,you,to,get,over,with}'::text[] AS a, '{lets,take,over,the,world}'::text[] AS b) AS sentences;
SELECT minhash_sim(minhash_bits('{a}', 16), minhash_bits(ARRAY[t], 16)) AS bits, minhash_bits('{a}', 16) <-> minhash_bits(ARRAY[t], 16) AS differ,
       minhash('{a}', 16) <-> minhash(ARRAY[t], 16) AS minima
FROM unnest('{a,b,c,d,e,f}'::text[]) AS t;
SELECT pg_typeof(minhash_sim(b, b)), pg_typeof(minhash_sim(m, m)), pg_typeof(b <-> b) FROM minhash_bits('{a}', 8) AS b, minhash('{a}', 8) AS m;
-- The mean of many estimates, and their spread, which the standard error tells.
SELECT abs(avg(e.bits) - 1 / 3.0) < 0.01 AS bits, abs(avg(e.minima) - 1 / 3.0) < 0.01 AS minima,
       abs(stddev(e.bits) / minhash_standard_error(1 / 3.0, 192) - 1) < 0.1 AS error_of_bits,
       abs(stddev(e.minima) / minhash_standard_error(1 / 3.0, 192, bits => false) - 1) < 0.1 AS error_of_minima
FROM generate_series(1, 2000) AS i, minhash(ARRAY[i || 'a', i || 'b'], 192) AS a, minhash(ARRAY[i || 'b', i || 'c'], 192) AS b,
     LATERAL (SELECT minhash_sim(a, b) AS minima, minhash_sim(minhash_bits(a), minhash_bits(b)) AS bits) AS e;
SELECT minhash_standard_error(0, 100), minhash_standard_error(1, 100), minhash_standard_error(0.5, 100, false), minhash_standard_error(NULL, 1);
SELECT minhash_standard_error(1.01, 100);
SELECT minhash_standard_error('NaN', 100);
SELECT minhash_standard_error(0.5, 0);

-- What does not compare
SELECT minhash_sim(minhash_bits('{a}', 64), minhash_bits('{a}', 65));
SELECT minhash_sim(minhash_bits('{a}', 64), minhash_bits('{a}', 64, 1));
SELECT minhash_bits('{a}', 64) <-> minhash_bits('{a}', 65);
SELECT minhash_sim(minhash('{a}', 64), minhash('{a}', 64, 65535));
SELECT minhash('{a}', 64) <-> minhash('{a}', 32);
SELECT minhash_union(minhash('{a}', 64), minhash('{a}', 32));
SELECT minhash_union(minhash('{a}', 8 * i)) FROM generate_series(1, 2) AS i;
SELECT minhash_bits('{a}', 64) % minhash_query(minhash_bits('{a}', 65), 0.5);
SELECT minhash_sim_at_least(minhash_bits('{}', 64), minhash_bits('{}', 65), 0);

-- Union
SELECT minhash_union(minhash('{a,b}', 64), minhash('{b,c}', 64)) = minhash('{a,b,c}', 64) AS two,
       minhash_union(minhash('{a}', 64), minhash('{}', 64)) = minhash('{a}', 64) AS with_empty,
       minhash_union(minhash('{}', 64), minhash('{}', 64)) = minhash('{}', 64) AS both_empty;
SELECT minhash_union(m) = minhash(array_agg(i::text), 100) AS many, minhash_union(m) FILTER (WHERE i < 0) AS none,
       minhash_union(CASE WHEN i % 2 = 0 THEN m END) = minhash(array_agg(i::text) FILTER (WHERE i % 2 = 0), 100) AS nulls
FROM (SELECT i, minhash(ARRAY[i::text], 100) AS m FROM generate_series(1, 500) AS i) AS sets;
-- The state of one group is not another's, and the values stay as they are.
SELECT count(*), bool_and(u = minhash(tokens, 16)) FROM (
    SELECT i % 7 AS g, minhash_union(minhash(ARRAY[i::text], 16)) AS u, array_agg(i::text) AS tokens FROM generate_series(1, 100) AS i GROUP BY i % 7) AS groups;
SELECT minhash_union_step(minhash('{a}', 8), minhash('{b}', 8)) = minhash('{a,b}', 8) AS called_by_hand;
-- In parallel
CREATE TABLE minhash_test (id int PRIMARY KEY, tokens text[], m minhash(64), bits minhash_bits(64) GENERATED ALWAYS AS (minhash_bits(tokens, 64)) STORED);
INSERT INTO minhash_test SELECT i, ARRAY[(i / 2)::text, (i / 4)::text, (i / 8)::text, (i / 16)::text] FROM generate_series(0, 1999) AS i;
UPDATE minhash_test SET m = minhash(tokens, 64);
INSERT INTO minhash_test VALUES (2000, '{}', minhash('{}', 64)), (2001, NULL, NULL);
VACUUM ANALYZE minhash_test;
SELECT minhash_union(m) AS serial FROM minhash_test \gset
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT minhash_union(m) FROM minhash_test;
SELECT minhash_union(m) = :'serial' AS parallel FROM minhash_test;
ROLLBACK;

-- Equality, order, hashing: never an error.
SELECT b, h.* FROM (VALUES (minhash_bits('{a}', 8)), (minhash_bits('{b}', 8)), (minhash_bits('{}', 8)), (minhash_bits('{a}', 9)), (minhash_bits('{a}', 8, 1))) AS v(b),
     LATERAL (SELECT minhash_bits_hash(b) = minhash_bits_hash(b::text::minhash_bits) AS hash) AS h ORDER BY b;
SELECT count(*), bool_and((a < b) = (minhash_bits_cmp(a, b) < 0)) AS lt, bool_and((a <= b) = (minhash_bits_cmp(a, b) <= 0)) AS le,
       bool_and((a > b) = (minhash_bits_cmp(a, b) > 0)) AS gt, bool_and((a >= b) = (minhash_bits_cmp(a, b) >= 0)) AS ge,
       bool_and((a = b) = (minhash_bits_cmp(a, b) = 0)) AS eq, bool_and((a <> b) = (minhash_bits_cmp(a, b) <> 0)) AS ne,
       bool_and((a = b) = (a::text = b::text)) AS text
FROM (SELECT minhash_bits(ARRAY[i::text], 3 + i % 2, i % 3) FROM generate_series(1, 40) AS i) AS x(a),
     (SELECT minhash_bits(ARRAY[i::text], 3 + i % 2, i % 3) FROM generate_series(1, 40) AS i) AS y(b);
SELECT count(DISTINCT m), count(DISTINCT bits) FROM minhash_test;
SELECT minhash('{a}', 8) < minhash('{}', 8) AS empty_first, minhash('{a}', 8) <> minhash('{a}', 9) AS other, minhash_cmp(minhash('{a}', 8), minhash('{a}', 8)) AS same,
       minhash_hash_extended(minhash('{a}', 8), 0)::int8 & 4294967295 = minhash_hash(minhash('{a}', 8))::int8 & 4294967295 AS extended;
CREATE INDEX minhash_btree ON minhash_test (bits);
CREATE INDEX minhash_hash ON minhash_test USING hash (bits);
CREATE INDEX minhash_minima ON minhash_test (m);
CREATE INDEX minhash_minima_hash ON minhash_test USING hash (m);
BEGIN;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM minhash_test ORDER BY bits LIMIT 1;
SELECT count(*) FROM minhash_test WHERE bits = minhash_bits('{0}', 64);
SELECT id FROM minhash_test WHERE bits = minhash_bits('{}', 64);
SELECT id FROM minhash_test WHERE m = minhash('{}', 64);
ROLLBACK;
CREATE TEMP TABLE hashed (bits minhash_bits, UNIQUE (bits)) ;
INSERT INTO hashed VALUES (minhash_bits('{a}', 8)), (minhash_bits('{a}', 16)), (minhash_bits('{}', 8));
INSERT INTO hashed VALUES (minhash_bits('{}', 8));

-- Modifiers
CREATE TEMP TABLE shaped (m minhash(8), b minhash_bits(8), o minhash_bits(8,7), a minhash_bits(8)[]);
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'shaped'::regclass AND attnum > 0;
INSERT INTO shaped VALUES (minhash('{a}', 8), minhash_bits('{a}', 8), minhash_bits('{a}', 8, 7), ARRAY[minhash_bits('{a}', 8)]);
INSERT INTO shaped (m) VALUES (minhash('{a}', 9));
INSERT INTO shaped (b) VALUES (minhash_bits('{a}', 8, 1));
INSERT INTO shaped (o) VALUES (minhash_bits('{a}', 8));
INSERT INTO shaped (a) VALUES (ARRAY[minhash_bits('{a}', 16)]);
INSERT INTO shaped (b) VALUES ('(16):0000');
SELECT minhash_bits('{a}', 16)::minhash_bits(16) IS NOT NULL AS ok, minhash('{a}', 16)::minhash_bits(16) IS NOT NULL AS of_minima;
SELECT minhash_bits('{a}', 16)::minhash_bits(17);
SELECT '(8):00'::minhash_bits(0);
SELECT '(8):00'::minhash_bits(1025);
SELECT '(8):00'::minhash_bits(8,65536);
SELECT '(8):00'::minhash_bits(x);
SELECT '(8):00'::minhash_bits(8,0,0);
SELECT format_type('minhash_bits'::regtype, t) FROM unnest('{-1,8,14344,0,2047}'::int[]) AS t;

-- Text and binary forms
SELECT '(8):1f'::minhash_bits, ' (8,7):1F '::minhash_bits, '( 8 , 0 ):empty'::minhash_bits, '(1):0a1b2c3d'::minhash, '(2,9):empty'::minhash;
SELECT bits::text::minhash_bits = bits AS bits, m::text::minhash = m AS minima, count(*) FROM minhash_test GROUP BY 1, 2 ORDER BY 1;
SELECT ''::minhash_bits;
SELECT '(8)'::minhash_bits;
SELECT '(8):1'::minhash_bits;
SELECT '(8):1g'::minhash_bits;
SELECT '(8):1ü'::minhash_bits;
SELECT '(7):80'::minhash_bits;
SELECT '(0):'::minhash_bits;
SELECT '(8,65536):00'::minhash_bits;
SELECT '(8,1,2):00'::minhash_bits;
SELECT '(-8):00'::minhash_bits;
SELECT '(1025):empty'::minhash;
SELECT '(1):EMPTY'::minhash;
SELECT '(1):000000'::minhash;
CREATE TEMP TABLE binary_form AS SELECT * FROM minhash_test LIMIT 0;
SELECT minhash_bits_send('(9,7):ff01'), minhash_send('(1):0a1b2c3d'), minhash_bits_send('(9):empty'), minhash_query_send('0.5 (8):1f');
\getenv abs_builddir PG_ABS_BUILDDIR
\set file :abs_builddir '/results/minhash.bin'
COPY (SELECT id, tokens, m FROM minhash_test) TO :'file' (FORMAT binary);
ALTER TABLE binary_form DROP COLUMN bits;
COPY binary_form (id, tokens, m) FROM :'file' (FORMAT binary);
SELECT count(*) FROM binary_form JOIN minhash_test AS t USING (id) WHERE binary_form.m IS NOT DISTINCT FROM t.m;
COPY (SELECT bits FROM minhash_test) TO :'file' (FORMAT binary);
ALTER TABLE binary_form ADD COLUMN wrong minhash_bits(63), ADD COLUMN bits minhash_bits(64);
COPY binary_form (bits) FROM :'file' (FORMAT binary);
SELECT count(*), count(bits) FROM binary_form WHERE id IS NULL;
COPY binary_form (wrong) FROM :'file' (FORMAT binary);
COPY (SELECT '\x0100'::bytea) TO :'file' (FORMAT binary);
COPY binary_form (bits) FROM :'file' (FORMAT binary);
COPY (SELECT '\x010108000000ff'::bytea) TO :'file' (FORMAT binary);
COPY binary_form (bits) FROM :'file' (FORMAT binary);
COPY (SELECT '\x0200080000001f'::bytea) TO :'file' (FORMAT binary);
COPY binary_form (bits) FROM :'file' (FORMAT binary);
COPY (SELECT '\x0102080000001f'::bytea) TO :'file' (FORMAT binary);
COPY binary_form (bits) FROM :'file' (FORMAT binary);
COPY (SELECT '\x010007000000ff'::bytea) TO :'file' (FORMAT binary);
COPY binary_form (wrong) FROM :'file' (FORMAT binary);

-- Queries
SELECT minhash_query('(8):1f', 0.8), '0.8 (8):1f'::minhash_query, '-0.25 (8):1f'::minhash_query, '2 (8,7):empty'::minhash_query;
SELECT minhash_query('(8):1f', -0.1);
SELECT minhash_query('(8):1f', 1.1);
SELECT minhash_query('(8):1f', 'NaN');
SELECT '1.5 (8):1f'::minhash_query;
SELECT '-1.5 (8):1f'::minhash_query;
SELECT 'x (8):1f'::minhash_query;
SELECT '0.5(8):1f'::minhash_query;
SELECT '0.5 (8):1'::minhash_query;
-- Every threshold finds what the comparison finds, next to every estimate, by all its forms.
WITH estimates AS (SELECT bits, minhash_sim(bits, minhash_bits('{0}', 64)) AS estimate FROM minhash_test),
     thresholds AS (SELECT DISTINCT estimate + d AS t FROM estimates, unnest('{0,1e-16,-1e-16}'::float8[]) AS d WHERE estimate IS NOT NULL
                    UNION SELECT unnest('{-2,-1,-0.5,0,0.5,1,1.5,Infinity,-Infinity,NaN}'::float8[]))
SELECT count(*), bool_and((estimate >= t) = (bits % minhash_query_at_least(minhash_bits('{0}', 64), t))) AS at_least,
       bool_and((estimate > t) = (bits % minhash_query_above(minhash_bits('{0}', 64), t))) AS above,
       bool_and((estimate >= t) = minhash_sim_at_least(bits, minhash_bits('{0}', 64), t)) AS at_least_function,
       bool_and((estimate > t) = minhash_sim_above(minhash_bits('{0}', 64), bits, t)) AS above_function,
       bool_and((estimate >= t) = (bits % minhash_query(minhash_bits('{0}', 64), t))) FILTER (WHERE t BETWEEN 0 AND 1) AS users
FROM estimates, LATERAL (SELECT t FROM thresholds ORDER BY md5(t::text) LIMIT 40) AS t;
SELECT count(*) FILTER (WHERE bits % q) AS bits_q, count(*) FILTER (WHERE q % bits) AS q_bits, count(*) FILTER (WHERE q % minhash_query(bits, 0)) AS q_q,
       count(*) FILTER (WHERE minhash_query(bits, 1) % q) AS larger
FROM minhash_test, minhash_query(minhash_bits('{3,6,12,1}', 64), 0.5) AS q;

-- A comparison is rewritten to what an index can answer. An index-only scan is planned only if nobody, such as autovacuum, held a snapshot when rows were vacuumed.
SET enable_indexonlyscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM minhash_test WHERE minhash_sim(bits, '(64):00ff00ff00ff00ff') > 0.5;
EXPLAIN (COSTS OFF) SELECT id FROM minhash_test WHERE 0.5 <= minhash_sim('(64):00ff00ff00ff00ff', bits) OR id = 1;
EXPLAIN (COSTS OFF) SELECT a.id FROM minhash_test AS a JOIN minhash_test AS b ON minhash_sim(a.bits, b.bits) > 0.9::numeric;
EXPLAIN (COSTS OFF) SELECT id FROM minhash_test WHERE minhash_sim(m, m) > 0.9;
RESET enable_indexonlyscan;
SELECT count(*) FILTER (WHERE minhash_sim(bits, q) > 0.3) AS above, (SELECT count(*) FROM minhash_test WHERE minhash_sim(bits, q) > 0.3) AS rewritten
FROM minhash_test, minhash_bits('{3,6,12,1}', 64) AS q GROUP BY q;
SELECT id, minhash_sim(bits, minhash_bits(ARRAY['50', '25', '12', '6'], 64)) FROM minhash_test
WHERE minhash_sim(bits, minhash_bits(ARRAY['50', '25', '12', '6'], 64)) >= 0.5 ORDER BY 2 DESC, 1;
SELECT a.id, b.id FROM minhash_test AS a JOIN minhash_test AS b ON minhash_sim(a.bits, b.bits) > 0.75 AND a.id < b.id WHERE b.id < 6 ORDER BY 1, 2;
-- Nearest first; the empty set is last, and NULL behind it.
SELECT id, bits <-> minhash_bits(ARRAY['50', '25', '12', '6'], 64) AS differ FROM minhash_test ORDER BY 2, 1 LIMIT 3;
SELECT id, bits <-> minhash_bits(ARRAY['50', '25', '12', '6'], 64) AS differ FROM minhash_test ORDER BY 2 DESC, 1 LIMIT 2;

EXPLAIN (COSTS OFF) SELECT id FROM minhash_test WHERE bits % minhash_query('(64):00ff00ff00ff00ff', 0.5);
-- The functions are found wherever the extension is, and others of their names are left alone.
CREATE SCHEMA minhash_elsewhere;
ALTER EXTENSION bloom_ident SET SCHEMA minhash_elsewhere;
CREATE FUNCTION minhash_sim(text, text) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT AS 'SELECT 0.5';
CREATE FUNCTION minhash_sim_above(minhash_elsewhere.minhash_bits, minhash_elsewhere.minhash_bits, float8) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE ''not ours''; END';
EXPLAIN (COSTS OFF) SELECT id FROM minhash_test WHERE minhash_elsewhere.minhash_sim(bits, '(64):00ff00ff00ff00ff') > 0.5 AND minhash_sim(id::text, 'x') > 0.4;
DROP FUNCTION minhash_sim, minhash_sim_above;
ALTER EXTENSION bloom_ident SET SCHEMA public;
DROP SCHEMA minhash_elsewhere;
DROP TABLE minhash_test;
-- planning: 192 bits, of which an index of five million rows makes nine chunks
SELECT n, round(threshold::numeric, 3) AS threshold, round(margin::numeric, 3) AS margin, round(expected_recall::numeric, 4) AS recall, bytes, chunks, probes, scans FROM minhash_plan(5000000, 0.8);
SELECT n, threshold, expected_recall, chance < 1e-15 AS never_by_chance, scans FROM minhash_plan(100, 1, 1) WHERE n IN (64, 1024);
SELECT * FROM minhash_plan(0, 0.8);
SELECT * FROM minhash_plan(1000, 0);
SELECT * FROM minhash_plan(1000, 0.8, 1.5);
SELECT count(*) FROM minhash_plan(NULL, 0.8);
