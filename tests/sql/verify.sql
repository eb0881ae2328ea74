-- Pairs by the exact similarity of their tokens are those of a comparison of each with each, as far as their signatures let them be found.
CREATE TABLE doc (id int PRIMARY KEY, tenant int, tokens text[], bits minhash_bits(128) GENERATED ALWAYS AS (minhash_bits(tokens, 128)) STORED,
    sig bloom GENERATED ALWAYS AS (bloom_signature_of_tokens(tokens, 32, 0.01)) STORED);
INSERT INTO doc SELECT i, i % 3, CASE WHEN i % 37 <> 0 THEN CASE i % 41 WHEN 0 THEN '{}' WHEN 1 THEN '{NULL}' ELSE
        ARRAY(SELECT CASE WHEN t = 7 AND i % 5 = 0 THEN NULL ELSE md5((CASE WHEN t <= i % 9 THEN i ELSE i / 6 END)::text || t % (15 + i % 6)) END FROM generate_series(1, 20) AS t) END END
    FROM generate_series(1, 500) AS i;
INSERT INTO doc SELECT id + 500, tenant, tokens FROM doc WHERE id % 25 = 2;
-- All pairs of two relations by their tokens, with the similarities of their signatures. The result is added to the job that is to be called afterwards.
CREATE TABLE every (a int, b int, s float8, bits float8, sig float8);
CREATE FUNCTION compare(a regclass, b regclass, pairs text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
    TRUNCATE every;
    EXECUTE format('INSERT INTO every SELECT a.id, b.id, s, minhash_sim(a.bits, b.bits), bloom_sim(a.sig, b.sig) FROM %s AS a, %s AS b, ident_token_sim(a.tokens, b.tokens) AS s WHERE s >= 0.05 AND %s', a, b, pairs);
    RETURN ''; END $$;
-- How many pairs there are, how many a job misses, how many of them its search should have found, and how many it gives that are none, or again. The similarity is to be the very
-- same float8.
CREATE FUNCTION check_job(job text, sig text, t float8, lowest float8) RETURNS TABLE (expected bigint, missing bigint, unexplained bigint, wrong bigint) LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE format(
    'WITH expected AS MATERIALIZED (SELECT a, b, s FROM every WHERE s >= %s),
    found AS MATERIALIZED (SELECT a::int AS a, b::int AS b, similarity AS s FROM %s)
    SELECT (SELECT count(*) FROM expected), (SELECT count(*) FROM (TABLE expected EXCEPT TABLE found) AS m),
        (SELECT count(*) FROM (TABLE expected EXCEPT TABLE found) AS m JOIN every USING (a, b) WHERE %I >= %s),
        (SELECT count(*) FROM (TABLE found EXCEPT TABLE expected) AS w) + (SELECT count(*) - count(DISTINCT (a, b)) FROM found)', t, job, sig, lowest); END $$;
CREATE FUNCTION check_all(rel regclass, VARIADIC margins float8[] DEFAULT '{NULL,0,0.1,1}') RETURNS TABLE (sig text, t float8, margin float8, missing bigint, unexplained bigint, wrong bigint, enough boolean) LANGUAGE plpgsql AS $$ BEGIN
    PERFORM compare(rel, rel, 'a.id < b.id');
    RETURN QUERY SELECT s, x, m, c.missing, c.unexplained, c.wrong, c.expected > 0 FROM unnest('{bits,sig}'::text[]) AS s, unnest(CASE cardinality(margins) WHEN 4 THEN '{1,0.9,0.8,0.5,0.25,0.05}'::float8[] ELSE '{1,0.7,0.2}' END) AS x, unnest(margins) AS m,
        check_job(format('bloom_duplicates(%L, ''id'', %L, %s, verify => ''tokens'', margin => %L)', rel, s, x, m), s, x, coalesce(x - m, CASE s WHEN 'sig' THEN x - 0.05
            ELSE (SELECT threshold FROM minhash_plan(1, x, 0.99) WHERE n = 128) END)) AS c; END $$;
-- by a query
SELECT * FROM check_all('doc') ORDER BY sig, t DESC, margin NULLS FIRST;
-- by an index, with rows in segments and loose ones, deleted ones, and new versions with other tokens
CREATE INDEX doc_bits ON doc USING sigfile (bits) WITH (tail_limit = 64);
CREATE INDEX doc_sig ON doc USING sigfile (sig);
INSERT INTO doc SELECT id + 1000, tenant, tokens FROM doc WHERE id % 50 = 2;
UPDATE doc SET tokens = tokens || ARRAY['more', 'more'] WHERE id % 20 = 3;
DELETE FROM doc WHERE id % 21 = 5;
SELECT * FROM check_all('doc') WHERE missing + unexplained + wrong > 0 OR NOT enough ORDER BY sig, t DESC, margin NULLS FIRST;
-- a view, and partitions with indexes
CREATE VIEW few_doc AS SELECT * FROM doc WHERE id % 7 <> 0;
SELECT count(*), sum(unexplained), sum(wrong), bool_and(enough) FROM check_all('few_doc', NULL, 0.1);
CREATE TABLE part (LIKE doc INCLUDING GENERATED) PARTITION BY LIST (tenant);
CREATE TABLE part_0 PARTITION OF part FOR VALUES IN (0);
CREATE TABLE part_1 PARTITION OF part FOR VALUES IN (1, 2);
INSERT INTO part SELECT id, tenant, tokens FROM doc;
SELECT count(*), sum(unexplained), sum(wrong), bool_and(enough) FROM check_all('part', NULL, 0.1);
CREATE INDEX ON part USING sigfile (bits);
CREATE INDEX ON part USING sigfile (sig);
SELECT count(*), sum(unexplained), sum(wrong), bool_and(enough) FROM check_all('part', NULL, 0.1);
-- within, by groups that are compared each with each
SELECT rel, t, c.expected > 0 AS enough, c.unexplained, c.wrong FROM unnest('{doc,few_doc,part}'::regclass[]) AS rel, unnest('{0.9,0.5}'::float8[]) AS t, compare(rel, rel, format('a.id < b.id AND a.tenant = b.tenant AND s >= %s', t)) AS x,
    check_job(format('bloom_duplicates(%L, ''id'', ''bits'', %s, ''{tenant}'', ''tokens'', 0.1)', rel, t) || x, 'bits', t, t - 0.1) AS c ORDER BY rel::text, t;
-- linkage: two relations, of which one is a view; one with itself
CREATE VIEW other AS SELECT * FROM doc WHERE id % 7 = 0;
SELECT a, b, c.expected > 0 AS enough, c.missing, c.unexplained, c.wrong FROM (VALUES ('doc'::regclass, 'other'::regclass), ('other', 'part'), ('doc', 'part'), ('doc', 'doc')) AS rels (a, b), compare(a, b, 'true') AS x,
    check_job(format('bloom_linkage(%L, ''id'', ''sig'', %L, ''id'', ''sig'', 0.6, verify => ''tokens'')', a, b) || x, 'sig', 0.6, 0.55) AS c;
SELECT compare('doc', 'part', 'a.tenant = b.tenant');
SELECT expected > 0 AS enough, unexplained, wrong FROM check_job('bloom_linkage(''doc'', ''id'', ''bits'', ''part'', ''id'', ''bits'', 0.6, ''{tenant}'', ''tokens'', 0.2)', 'bits', 0.6, 0.4);
-- candidates that do not fit into memory, and then records that do not
SET maintenance_work_mem = '1MB';
SELECT count(*), sum(unexplained), sum(wrong), bool_and(enough) FROM check_all('doc', NULL, 1);
-- How far it is, is told where it takes long.
SET client_min_messages = warning;
CREATE VIEW padded AS SELECT id || repeat(' x', 1000) AS id, bits, sig, tokens FROM doc;
WITH plain AS MATERIALIZED (SELECT sig, least(a, b) AS a, greatest(a, b) AS b, similarity FROM unnest('{bits,sig}'::name[]) AS sig, bloom_duplicates('doc', 'id', sig, 0.2, verify => 'tokens')),
    padded AS MATERIALIZED (SELECT sig, least(x, y) AS a, greatest(x, y) AS b, similarity FROM unnest('{bits,sig}'::name[]) AS sig, bloom_duplicates('padded', 'id', sig, 0.2, verify => 'tokens'),
        LATERAL (SELECT split_part(a, ' ', 1), split_part(b, ' ', 1)) AS l (x, y))
SELECT (SELECT count(*) > 1000 FROM plain) AS enough, (SELECT count(*) FROM (TABLE plain EXCEPT TABLE padded) AS m) AS missing, (SELECT count(*) FROM (TABLE padded EXCEPT TABLE plain) AS w) AS wrong;
RESET client_min_messages;
RESET maintenance_work_mem;

-- clusters are those of the pairs
CREATE TABLE exact AS SELECT * FROM bloom_duplicates('doc', 'id', 'bits', 0.55, verify => 'tokens');
WITH method AS (SELECT unnest('{components,centre,average}'::text[]) AS method),
    direct AS (SELECT method, c.* FROM method, bloom_clusters('doc', 'id', 'bits', 0.55, method, 'tokens') AS c),
    by_pairs AS (SELECT method, c.* FROM method, bloom_clusters('exact', 0.55, method) AS c)
SELECT (SELECT count(*) > 300 FROM direct) AS enough, (SELECT count(*) FROM (TABLE direct EXCEPT TABLE by_pairs) AS w), (SELECT count(*) FROM (TABLE by_pairs EXCEPT TABLE direct) AS m);
-- the report counts them, and says how it was made
SELECT (regexp_match(r, 'pairs of duplicates *([0-9,]+)'))[1] = (SELECT count(*)::text FROM exact) AS same, r LIKE '%verify => ''tokens'',%margin => 0.2%' AS says, r ~ 'verify => ''tokens'', margin => 0.2\);' AS tables
    FROM bloom_report('doc', 'id', 'bits', 0.55, format => 'text', verify => 'tokens', margin => 0.2) AS r;
SELECT bloom_report('doc', 'id', 'bits', 0.55, verify => 'tokens') LIKE '%verify =&gt; %tokens%' OR bloom_report('doc', 'id', 'bits', 0.55, verify => 'tokens') LIKE '%verify =&#62; %tokens%' AS says;

-- which tokens: other ones than the signatures were made of, in a column of another type, NULL, empty, repeated
CREATE DOMAIN words AS text[];
CREATE DOMAIN word AS varchar(9);
CREATE TABLE kind (id text PRIMARY KEY, sig bloom, t text[], w words, v varchar(9)[], d word[], two text[]);
INSERT INTO kind SELECT n, bloom_signature('the same'), x, x, x, x::varchar[]::word[], ARRAY[x] FROM (VALUES ('a', '{x,y,z}'::text[]), ('b', '{z,NULL,y,y,x,q}'), ('c', NULL), ('d', '{}'), ('e', '{NULL,NULL}'), ('f', '{x,y,z,NULL}'), ('ü', '{u}')) AS k (n, x);
SELECT c, p.* FROM unnest('{t,w,v,d}'::name[]) AS c, bloom_duplicates('kind', 'id', 'sig', 0.01, verify => c) AS p ORDER BY c, a, b;
SELECT * FROM bloom_duplicates('kind', 'id', 'sig', 0.9, verify => 't', margin => 0);
SELECT * FROM bloom_clusters('kind', 'id', 'sig', 0.75, verify => 't');
SELECT * FROM bloom_duplicates('kind', 'id', 'sig', 0.9, verify => 'two');
-- a NULL among the tokens of a record is no token; long keys and long tokens
INSERT INTO kind SELECT repeat(i::text, 5000), bloom_signature('the same'), ARRAY['x', repeat('y', 10000 + i % 2)] FROM generate_series(1, 4) AS i;
SELECT left(a, 3) AS a, length(a), left(b, 3) AS b, length(b), similarity FROM bloom_duplicates('kind', 'id', 'sig', 0.4, verify => 't') AS p WHERE length(a) > 10 OR length(b) > 10 ORDER BY a, b;
DELETE FROM kind WHERE length(id) > 10;
-- rows without a signature take no part, even if they have the key of another one
CREATE TABLE keys (id int, sig bloom, tokens text[]);
INSERT INTO keys VALUES (1, bloom_signature('a'), '{a}'), (2, bloom_signature('a'), '{a}'), (1, NULL, '{b}'), (NULL, NULL, '{a}');
SELECT * FROM bloom_duplicates('keys', 'id', 'sig', 1, verify => 'tokens');
INSERT INTO keys VALUES (1, bloom_signature('b'), '{b}');
SELECT * FROM bloom_duplicates('keys', 'id', 'sig', 1, verify => 'tokens');
DELETE FROM keys WHERE id = 1;
INSERT INTO keys VALUES (NULL, bloom_signature('a'), '{a}');
SELECT * FROM bloom_duplicates('keys', 'id', 'sig', 1, verify => 'tokens');
-- different values with the same text, whether or not there is a pair of them
CREATE TABLE floats AS SELECT 0.1::float8 + i * 1e-17::float8 * 4 AS id, bloom_signature('same') AS sig, ARRAY[i::text] AS tokens FROM generate_series(0, 1) AS i;
INSERT INTO floats VALUES (2, bloom_signature('same'), '{0}');
SET extra_float_digits = 0;
SELECT * FROM bloom_duplicates('floats', 'id', 'sig', 0.9, verify => 'tokens');
SELECT * FROM bloom_linkage('floats', 'id', 'sig', 'kind', 'id', 'sig', 0.9, verify => 'tokens');
ALTER TABLE kind RENAME t TO tokens;
SELECT * FROM bloom_linkage('floats', 'id', 'sig', 'kind', 'id', 'sig', 0.01, verify => 'tokens');
SELECT * FROM bloom_linkage('kind', 'id', 'sig', 'floats', 'id', 'sig', 0.01, verify => 'tokens');
RESET extra_float_digits;

-- errors
SELECT * FROM bloom_duplicates('doc', 'id', 'bits', 0.5, verify => 'nothing');
SELECT * FROM bloom_duplicates('doc', 'id', 'bits', 0.5, verify => 'id');
SELECT * FROM bloom_clusters('doc', 'id', 'bits', 0.5, verify => 'bits');
SELECT * FROM bloom_linkage('doc', 'id', 'sig', 'floats', 'id', 'sig', 0.5, verify => 'tenant');
SELECT * FROM bloom_duplicates('doc', 'id', 'bits', 0.5, margin => 0.1);
SELECT * FROM bloom_clusters('doc', 'id', 'bits', 0.5, margin => 0.1);
SELECT bloom_report('doc', 'id', 'bits', 0.5, margin => 0.1);
SELECT * FROM bloom_linkage('doc', 'id', 'bits', 'doc', 'id', 'bits', 0.5, margin => 0.1);
SELECT * FROM bloom_duplicates('doc', 'id', 'bits', 0.5, verify => 'tokens', margin => 1.5);
SELECT * FROM bloom_duplicates('doc', 'id', 'bits', 0.5, verify => 'tokens', margin => -0.1);
SELECT * FROM bloom_duplicates('doc', 'id', 'bits', 0.5, verify => 'tokens', margin => 'NaN');
SELECT * FROM bloom_duplicates('doc', 'id', 'bits', 0, verify => 'tokens');
SELECT bloom_report('doc', 'id', 'bits', 0, verify => 'tokens');
\set VERBOSITY sqlstate
SELECT * FROM bloom_duplicates('doc', 'id', 'bits', 0.5, verify => 'nothing');
SELECT * FROM bloom_duplicates('doc', 'id', 'bits', 0.5, verify => 'id');
SELECT * FROM bloom_duplicates('doc', 'id', 'bits', 0.5, margin => 0.1);
SELECT * FROM bloom_duplicates('doc', 'id', 'bits', 0.5, verify => 'tokens', margin => 'NaN');
SELECT * FROM bloom_duplicates('doc', 'id', 'bits', 0, verify => 'tokens');
\set VERBOSITY default

-- privileges: the column of the tokens needs SELECT, by an index, by a query, through a view; policies hide rows
CREATE ROLE regress_verify;
GRANT SELECT (id, bits, sig) ON doc TO regress_verify;
GRANT SELECT (id, sig) ON kind TO regress_verify;
CREATE VIEW shown AS SELECT id, sig, tokens FROM kind;
GRANT SELECT (id, sig) ON shown TO regress_verify;
GRANT SELECT ON keys TO regress_verify;
INSERT INTO keys SELECT i, bloom_signature('p'), ARRAY['p'] FROM generate_series(10, 13) AS i;
DELETE FROM keys WHERE id IS NULL;
ALTER TABLE keys ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON keys TO regress_verify USING (id < 12);
CREATE INDEX ON keys USING sigfile (sig);
SET ROLE regress_verify;
SELECT count(*) > 0 FROM bloom_duplicates('doc', 'id', 'bits', 0.5);
SELECT count(*) > 0 FROM bloom_duplicates('doc', 'id', 'bits', 0.5, verify => 'tokens');
SELECT count(*) > 0 FROM bloom_clusters('kind', 'id', 'sig', 0.5, verify => 'tokens');
SELECT count(*) > 0 FROM bloom_duplicates('shown', 'id', 'sig', 0.5, verify => 'tokens');
SELECT * FROM bloom_duplicates('keys', 'id', 'sig', 0.5, verify => 'tokens');
RESET ROLE;
GRANT SELECT (tokens) ON doc, shown TO regress_verify;
SET ROLE regress_verify;
SELECT count(*) > 0 FROM bloom_duplicates('doc', 'id', 'bits', 0.5, verify => 'tokens');
SELECT count(*) > 0 FROM bloom_duplicates('shown', 'id', 'sig', 0.5, verify => 'tokens');
RESET ROLE;
DROP FUNCTION check_all, check_job, compare;
DROP TABLE every, doc, part, kind, keys, floats, exact CASCADE;
DROP DOMAIN words, word;
DROP ROLE regress_verify;
