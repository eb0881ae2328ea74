-- Row estimates of comparisons of sketches, from the sample that ANALYZE keeps: sets of 20 tokens, in families of 11 that share some of them, and 20 campaigns of 500 copies.
CREATE TABLE message AS
SELECT i AS id, minhash_bits(ARRAY(SELECT (hashint4(CASE WHEN t <= 2 * (i % 11) THEN i ELSE i / 11 END * 31 + t))::text FROM generate_series(1, 20) AS t), 192) AS bits
FROM generate_series(1, 50000) AS i
UNION ALL
SELECT 1000000 + i, minhash_bits(ARRAY(SELECT (hashint4(CASE WHEN t <= i % 7 THEN i ELSE i % 20 END * 31 + t + 100))::text FROM generate_series(1, 20) AS t), 192)
FROM generate_series(1, 10000) AS i;
CREATE FUNCTION rows_of(condition text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) SELECT FROM ' || condition INTO plan;
    RETURN (plan->0->'Plan'->>'Plan Rows')::float8;
END $$;
SET max_parallel_workers_per_gather = 0;
-- Without statistics: a constant.
SELECT rows_of('message WHERE bits % minhash_query(minhash_bits(''{a}'', 192), 0.8)') < 200 AS unknown;
SELECT setseed(0.5);
ANALYZE message;
-- factor by which estimate and truth differ
CREATE TABLE asked AS SELECT id, bits FROM message WHERE id % 1009 = 5;
ANALYZE asked;
SELECT t, percentile_cont(0.5) WITHIN GROUP (ORDER BY factor) < 8 AS median_below_8, percentile_cont(0.95) WITHIN GROUP (ORDER BY factor) < 50 AS p95_below_50
FROM (SELECT t, greatest(estimate / truth, truth / estimate) AS factor
      FROM asked, unnest('{0.9,0.8,0.7,0.6,0.5,0.4,0.3,0.2,0.1}'::float8[]) AS t,
           LATERAL (SELECT greatest(1, count(*))::float8 AS truth FROM message WHERE minhash_sim_at_least(message.bits, asked.bits, t)) AS c,
           rows_of(format('message WHERE bits %% minhash_query(%L::minhash_bits, %s)', asked.bits, t)) AS estimate) AS f
GROUP BY t ORDER BY t DESC;
-- Every form of the same question has the same estimate.
SELECT count(DISTINCT rows_of('message WHERE ' || format(condition, (SELECT bits FROM message WHERE id = 1000007)))) AS estimates
FROM unnest(ARRAY['bits %% minhash_query(%L, 0.5)', 'minhash_query(%L, 0.5) %% bits', 'minhash_sim(bits, %L) >= 0.5', '0.5 <= minhash_sim(%L, bits)', 'minhash_sim_at_least(bits, %L, 0.5)']) AS condition;
-- The ends, NULLs, empty sets, other shapes.
SELECT rows_of('message WHERE minhash_sim(bits, minhash_bits(''{a}'', 192)) >= -1') = (SELECT reltuples FROM pg_class WHERE relname = 'message') AS everything,
       rows_of('message WHERE minhash_sim(bits, minhash_bits(''{a}'', 192)) > 1') AS nothing,
       rows_of('message WHERE minhash_sim(bits, NULL::minhash_bits) > 0.5') AS by_null, rows_of('message WHERE bits % NULL::minhash_query') AS by_null_query,
       rows_of('message WHERE minhash_sim(bits, minhash_bits(''{}'', 192)) > 0.5') < 5 AS by_empty,
       rows_of('message WHERE minhash_sim(bits, minhash_bits(''{a}'', 64)) > 0.5') < 100 AS other_shape;
-- Joins.
SELECT t, greatest(estimate / truth, truth / estimate) < 20 AS within_20
FROM unnest('{0.9,0.8,0.7,0.6,0.5}'::float8[]) AS t,
     LATERAL (SELECT count(*)::float8 AS truth FROM asked JOIN message ON minhash_sim_at_least(message.bits, asked.bits, t)) AS c,
     rows_of(format('asked JOIN message ON minhash_sim(message.bits, asked.bits) >= %s', t)) AS estimate
ORDER BY t DESC;
-- What a sample of 300 rows cannot tell, an index knows: the copies of a campaign at 0.9 are some dozens of 60,000 rows.
CREATE FUNCTION worst() RETURNS float8 LANGUAGE sql AS $$
    SELECT max(greatest(estimate / truth, truth / estimate))
    FROM (SELECT bits FROM message WHERE id > 1000000 AND id % 1009 = 5) AS q,
         LATERAL (SELECT greatest(1, count(*))::float8 AS truth FROM message AS m WHERE minhash_sim_at_least(m.bits, q.bits, 0.9)) AS c,
         rows_of(format('message WHERE bits %% minhash_query(%L::minhash_bits, 0.9)', q.bits)) AS estimate
$$;
ALTER TABLE message ALTER bits SET STATISTICS 1;
ANALYZE message (bits);
SELECT worst() > 15 AS sample_is_wrong;
CREATE INDEX message_bits ON message USING sigfile (bits);
SELECT worst() < 8 AS index_is_right;
DROP INDEX message_bits;
DROP FUNCTION worst();
-- GiST over sampled bits is not offered where it reads nearly all its pages.
CREATE INDEX message_gist ON message USING gist (bits);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT FROM message WHERE minhash_sim(bits, '(192):empty') > 0.97;
SET enable_seqscan = on;
EXPLAIN (COSTS OFF) SELECT FROM message WHERE minhash_sim(bits, '(192):empty') > 0.9;
DROP TABLE message, asked;
DROP FUNCTION rows_of(text);
