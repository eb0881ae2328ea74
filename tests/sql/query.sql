-- bloom_query: a signature and its threshold.
SELECT bloom_query('(2,5,3):1f03', 0.85), '0.85 (2,5,3):1f03'::bloom_query, ' 1   (2,5,3):1F03 '::bloom_query, bloom_query('(2,5,3):1f03', 0), bloom_query(NULL, 0.5) IS NULL AS none;
SELECT q::text::bloom_query::text = q::text AS round_trip FROM unnest('{0,1,0.1,0.3333333333333333,1e-300}'::float8[]) AS t, bloom_query(bloom_signature('Erika'), t) AS q;
SELECT bloom_query_send(bloom_query('(2,5,3):1f03', 0.5));
CREATE TABLE queries (q bloom_query);
INSERT INTO queries SELECT bloom_query(bloom_signature('name ' || i), i / 10.0) FROM generate_series(0, 10) AS i;
\getenv results PG_ABS_BUILDDIR
\set file :results '/results/query.copy'
COPY queries TO :'file' (FORMAT binary);
CREATE TABLE copied (LIKE queries);
COPY copied FROM :'file' (FORMAT binary);
SELECT count(*) FROM (SELECT q::text FROM queries EXCEPT SELECT q::text FROM copied) AS d;
DROP TABLE queries, copied;
-- What no similarity reaches is made by comparisons alone, but stored, dumped and restored like the rest.
SELECT q, q::text::bloom_query::text = q::text AS text, '(2,5,3):1f03'::bloom % q AS matches FROM bloom_query_above('(2,5,3):1f03', 2) AS q;
COPY (SELECT bloom_query_at_least('(2,5,3):1f03', 'NaN')) TO :'file' (FORMAT binary);
CREATE TEMP TABLE never (q bloom_query);
COPY never FROM :'file' (FORMAT binary);
SELECT q FROM never;
-- Bad input.
SELECT '2.0000000000000004 (2,5,3):1f03'::bloom_query;
SELECT '1.5 (2,5,3):1f03'::bloom_query;
SELECT bloom_query('(2,5,3):1f03', 2);
SELECT '(2,5,3):1f03'::bloom_query;
SELECT '0.5'::bloom_query;
SELECT ''::bloom_query;
SELECT 'x (2,5,3):1f03'::bloom_query;
SELECT '1.1 (2,5,3):1f03'::bloom_query;
SELECT '-0.1 (2,5,3):1f03'::bloom_query;
SELECT 'NaN (2,5,3):1f03'::bloom_query;
SELECT '0.5 (2,4,3):1f03'::bloom_query;
SELECT bloom_query('(2,5,3):1f03', 1.1);
SELECT bloom_query('(2,5,3):1f03', -0.1);
SELECT bloom_query('(2,5,3):1f03', 'NaN');

-- %: inclusive, commuted, and between two queries by the larger threshold.
SELECT t, s % bloom_query(e, t) AS "s % q", bloom_query(e, t) % s AS "q % s", bloom_query(s, 0.1) % bloom_query(e, t) AS "q % q", bloom_query(e, t) % bloom_query(s, 0.1) AS commuted,
       bloom_sim(s, e) >= t AS sim
FROM unnest('{0,0.1,0.4444444444444444,0.4444444444444445,1}'::float8[]) AS t, bloom_signature('erika') AS s, bloom_signature('erica') AS e;
SELECT s % bloom_query(s, 1) AS itself, e % bloom_query(e, 0) AS empty_0, e % bloom_query(e, 1e-300) AS empty, e % NULL::bloom_query IS NULL AS none FROM bloom_signature('erika') AS s, bloom_signature('') AS e;
SELECT bloom_signature('erika') % bloom_query(bloom_signature('erika', 2), 0.5);
SELECT bloom_query(bloom_signature('erika'), 0.5) % bloom_signature('erika', 2);
SELECT bloom_query(bloom_signature('erika'), 0.5) % bloom_query(bloom_signature('erika', 2), 0.5);
SELECT oprleft::regtype, oprright::regtype, oprcom::regoperator, provolatile FROM pg_operator JOIN pg_proc ON pg_proc.oid = oprcode
WHERE oprname = '%' AND 'bloom_query'::regtype IN (oprleft, oprright) ORDER BY 1, 2;

-- The named forms.
SELECT t, bloom_sim_above(a, b, t), bloom_sim_at_least(a, b, t), bloom_dice_above(a, b, t), bloom_dice_at_least(a, b, t)
FROM unnest('{-1,0,0.4444444444444444,0.6153846153846154,1,NaN}'::float8[]) AS t, bloom_signature('erika') AS a, bloom_signature('erica') AS b;
