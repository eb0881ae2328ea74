-- Rates by formula, and shapes to choose from. (The values are tested in core/signature/tests/rates.rs; the last digits of a power depend on the machine.)
SELECT k, m, n, round(fpr::numeric, 12) AS fpr, round(exact::numeric, 12) AS exact
FROM (VALUES (7, 301, 32), (8, 1000, 100), (1, 5, 0), (1, 1, 1), (3, 5, 4), (NULL, 5, 4)) AS v (k, m, n), bloom_expected_fpr(k, m, n);
SELECT m AS "m/n", k, round(fpr::numeric, 6) AS fpr FROM generate_series(2, 15) AS m, bloom_optimal_k(m, 1) AS k, bloom_expected_fpr(k, 1000 * m, 1000);
SELECT bloom_optimal_k(301, 32), bloom_optimal_k(1, 1000), bloom_optimal_k(1000000000000, 100000000000), bloom_optimal_k(NULL, 1);
SELECT bloom_distinct_ngrams(301, 7), bloom_distinct_ngrams(0, 0), bloom_distinct_ngrams(3, 4), bloom_distinct_ngrams(10, 10), bloom_distinct_ngrams(524224, 64);
SELECT model, bloom_segment_length(model, 30, 3, 0.1) AS p FROM (VALUES ('birthday'), ('fpr'), ('coll'), (NULL)) AS v (model);
SELECT k, m, n, round(expected::numeric, 9) AS expected, round("any"::numeric, 9) AS "any"
FROM (VALUES (7, 301, 32), (1, 100, 50), (4, 64, 300), (5, 40, 0), (1, 1, 2), (8, 20000000000, 1000000000), (4, 4, 9223372036854775807), (NULL, 1, 1)) AS v (k, m, n), bloom_omissions(k, m, n);
SELECT bloom_expected_fpr(0, 1, 1);
SELECT bloom_expected_fpr(1, 0, 1);
SELECT bloom_expected_fpr(1, 1, -1);
SELECT bloom_omissions(1, 1, -1);
SELECT bloom_optimal_k(0, 1);
SELECT bloom_optimal_k(9223372036854775807, 1);
SELECT bloom_distinct_ngrams(-1, 1);
SELECT bloom_distinct_ngrams(9223372036854775807, 1001);
SELECT bloom_segment_length('birthdays', 30, 3, 0.1);
SELECT bloom_segment_length('fpr', 30, 3, 0);
SELECT bloom_segment_length('fpr', 30, 3, 'NaN');
SELECT bloom_segment_length('fpr', 0, 3, 0.1);
SELECT bloom_segment_length('birthday', 2147483647, 1, 1e-9);

-- What a row says of its shape is what the other functions say, and what takes the space.
CREATE TABLE shape AS SELECT s.*, bloom_signature('a', 3, planned_chars, fpr) AS sig FROM bloom_shapes() AS s;
SELECT count(*) > 5 AS some, bool_and(row(s.k, s.p, s.m) = row(b.k, b.p, b.m)) AS planned, bool_and(s.bytes = pg_column_size(s.sig)) AS bytes,
       bool_and(s.collision_rate = bloom_collision_rate('coll', s.p, 32, s.k)) AS collision, bool_and(abs(s.actual_fpr - e.fpr) < 1e-12) AS fpr, bool_and(s.deviation >= s.bias) AS deviation
FROM shape AS s, bloom_plan(s.planned_chars, 3, s.fpr) AS b, bloom_expected_fpr(s.k, s.m, 32) AS e;
DROP TABLE shape;
SELECT planned_chars, fpr, k, p, bytes, round(bias::numeric, 2) AS bias, round(unrelated::numeric, 2) AS unrelated FROM bloom_shapes(20, 0);
SELECT count(*) FROM bloom_shapes(1, 2);
SELECT count(*) FROM bloom_shapes(5000, 3);
SELECT * FROM bloom_shapes(10000, 3);
SELECT * FROM bloom_shapes(30, 1);
SELECT count(*) FROM bloom_shapes(NULL, 3);
