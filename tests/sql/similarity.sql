-- Measures, operators, profiles.
SELECT a, b, bloom_sim(x, y), bloom_dice(x, y), bloom_overlap(x, y), bloom_cosine(x, y), bloom_containment(x, y), bloom_hamming(x, y), x <-> y AS distance
FROM (VALUES ('erika', 'erica'), ('mueller', 'Müller'), ('mustermann', 'mustermanm'), ('li', 'mustermann'), ('anna', ''), ('', ''), ('anna', NULL)) AS v(a, b),
     bloom_signature(a) AS x, bloom_signature(b) AS y;
SELECT pg_typeof(bloom_sim(bloom_signature('a'), bloom_signature('b')));

-- % is sim >= threshold, at 0, at 1 and where a ratio hits it exactly: 28/63 here.
CREATE TEMP TABLE pairs AS SELECT a, b, bloom_signature(a) AS x, bloom_signature(b) AS y
FROM (VALUES ('erika', 'erica'), ('erika', 'erika'), ('erika', ''), ('', ''), ('erika', 'otto'), ('erika', NULL)) AS v(a, b);
SELECT a, b, x % y AS "0.8" FROM pairs;
SET bloom_ident.threshold = 0;
SELECT a, b, x % y AS "0", x ~% y AS "commuted" FROM pairs;
SET bloom_ident.threshold = 1;
SELECT a, b, x % y AS "1" FROM pairs;
SET bloom_ident.threshold = 0.4444444444444444;
SELECT a, b, x % y AS "4/9", bloom_sim(x, y) >= 4.0 / 9 AS sim FROM pairs;
SET bloom_ident.threshold = 0.4444444444444445;
SELECT a, b, x % y AS "above 4/9" FROM pairs WHERE a = 'erika' AND b = 'erica';
RESET bloom_ident.threshold;
SELECT oprname, oprcom::regoperator, oprcode, provolatile FROM pg_operator JOIN pg_proc ON pg_proc.oid = oprcode
WHERE oprleft = 'bloom'::regtype AND oprright = 'bloom'::regtype AND oprname ~ '%' ORDER BY 1;

-- Bits.
SELECT x @> y AS covers, x <@ y AS covered, x @> x AS itself, x @> bloom_signature('') AS empty, bloom_signature('') @> x AS by_empty,
       (x | y) @> x AS either, x @> (x & y) AS both
FROM bloom_signature('Erika Mustermann', by_word => true) AS x, bloom_signature('Mustermann') AS y;
SELECT bloom_bits(x | y) + bloom_bits(x & y) = bloom_bits(x) + bloom_bits(y) AS sum, bloom_bits(x | bloom_signature('')) = bloom_bits(x) AS neutral
FROM bloom_signature('Erika') AS x, bloom_signature('Erica') AS y;

-- Correction for collisions.
SELECT delta, bloom_corrected_threshold(0.75, delta), bloom_sim_corrected(x, y, delta)
FROM unnest('{0,0.01,0.1,1}'::float8[]) AS delta, bloom_signature('erika') AS x, bloom_signature('erica') AS y;
SELECT bloom_corrected_threshold(1, 0.1);
SELECT bloom_corrected_threshold(1.1, 0.1);
SELECT bloom_corrected_threshold(0.5, -0.1);
SELECT bloom_corrected_threshold('NaN', 0.1);
SELECT bloom_sim_corrected(bloom_signature('a'), bloom_signature('b'), 2);

-- Shapes that differ: an error that names both, for everything but equality and order.
CREATE TEMP TABLE shapes AS SELECT bloom_signature('Erika') AS x, bloom_signature('Erika', 2) AS y;
SELECT bloom_sim(x, y) FROM shapes;
SELECT bloom_dice(x, y) FROM shapes;
SELECT bloom_overlap(x, y) FROM shapes;
SELECT bloom_cosine(x, y) FROM shapes;
SELECT bloom_containment(x, y) FROM shapes;
SELECT bloom_hamming(x, y) FROM shapes;
SELECT bloom_sim_corrected(x, y, 0.1) FROM shapes;
SELECT x % y FROM shapes;
SELECT x <-> y FROM shapes;
SELECT x @> y FROM shapes;
SELECT x <@ y FROM shapes;
SELECT x | y FROM shapes;
SELECT x & y FROM shapes;
SELECT bloom_union(s) FROM (SELECT x FROM shapes UNION ALL SELECT y FROM shapes) AS u(s);
SELECT x = y AS eq, x <> y AS ne, x < y AS lt, x > y AS gt FROM shapes;

-- Profiles.
CREATE TEMP TABLE profiles AS SELECT
    ARRAY[bloom_signature('erika'), bloom_signature('mueller', 2), bloom_signature('19640527')] AS a,
    ARRAY[bloom_signature('erica'), bloom_signature('muller', 2), NULL] AS b;
SELECT bloom_profile_sim(a, b, '{0.5,0.3,0.2}') = (0.5 * bloom_sim(a[1], b[1]) + 0.3 * bloom_sim(a[2], b[2])) / (0.5 + 0.3) AS renormalised,
       abs(bloom_profile_sim(a, b, '{5,3,2}') - bloom_profile_sim(b, a, '{0.5,0.3,0.2}')) < 1e-15 AS made_to_sum_to_1,
       bloom_profile_sim(a, a, '{1,1,1}') AS itself, bloom_profile_sim(a, b, '{0,0,1}') AS nothing_left,
       bloom_profile_sim(a, '{NULL,NULL,NULL}', '{1,1,1}') AS all_missing, bloom_profile_sim(NULL, b, '{1,1,1}') AS no_profile,
       bloom_profile_sim(a, ARRAY[bloom_signature(''), NULL, NULL], '{1,1,1}') AS empty
FROM profiles;
SELECT bloom_profile_sim(a, b, '{1,-1,1}') FROM profiles;
SELECT bloom_profile_sim(a, b, '{0,0,0}') FROM profiles;
SELECT bloom_profile_sim(a, b, '{1,NULL,1}') FROM profiles;
SELECT bloom_profile_sim(a, b, '{1,NaN,1}') FROM profiles;
SELECT bloom_profile_sim(a, b, '{1,Infinity,1}') FROM profiles;
SELECT bloom_profile_sim(a, b, '{1e308,1e308,1e308}') FROM profiles;
SELECT bloom_profile_sim(a, b, '{1,1}') FROM profiles;
SELECT bloom_profile_sim(a, b, '{}') FROM profiles;
SELECT bloom_profile_sim(a, b[1:2], '{1,1,1}') FROM profiles;
SELECT bloom_profile_sim('{}', '{}', '{}') FROM profiles;
SELECT bloom_profile_sim(ARRAY[a, a], b, '{1,1,1}') FROM profiles;
SELECT bloom_profile_sim(a, b, '{{1,1,1},{1,1,1}}') FROM profiles;
SELECT bloom_profile_sim(a, ARRAY[b[2], b[1], b[3]], '{1,1,1}') FROM profiles;
-- Stored, toasted or short, with NULLs anywhere and lower bounds other than 1.
CREATE TEMP TABLE stored (p bloom[]);
INSERT INTO stored SELECT a FROM profiles UNION ALL SELECT ARRAY[NULL, a[2], a[3]] FROM profiles UNION ALL SELECT ARRAY[a[1], NULL, NULL] FROM profiles
UNION ALL SELECT ARRAY[bloom_signature(repeat('x', 5000), max_chars => 5900), NULL, a[3]] FROM profiles;
ALTER TABLE stored ALTER p SET STORAGE external;
INSERT INTO stored SELECT array_fill(NULL::bloom, '{3}', '{-5}');
SELECT array_dims(p), bloom_profile_sim(p, p, '{1,2,3}'), bloom_profile_sim(p, ARRAY[p[array_lower(p, 1)], NULL, NULL], '{1,2,3}') FROM stored;
-- A threshold of Dice as one of Jaccard: all pairs that reach it, and no others.
SELECT d, bloom_jaccard_of_dice(d) FROM (VALUES (0), (0.5), (0.8), (1)) AS v (d);
SELECT bool_and((bloom_dice(a, b) >= d) = (bloom_sim(a, b) >= bloom_jaccard_of_dice(d))), count(*) FILTER (WHERE bloom_dice(a, b) = d), count(*) FILTER (WHERE bloom_dice(a, b) = d AND bloom_sim(a, b) < d / (2 - d))
FROM (SELECT bloom_signature_of_tokens(ARRAY(SELECT 'x' || j FROM generate_series(i % 5, i) AS j)) AS a, bloom_signature_of_tokens(ARRAY(SELECT 'x' || j FROM generate_series(1, i + i % 7) AS j)) AS b FROM generate_series(1, 60) AS i) AS p,
    LATERAL (SELECT DISTINCT bloom_dice(a, b)::float8 AS d UNION SELECT unnest('{0,0.1,0.25,0.5,0.6,0.75,0.8,0.9,1}'::float8[])) AS t;
SELECT bloom_jaccard_of_dice(1.1);
SELECT bloom_jaccard_of_dice('NaN');
