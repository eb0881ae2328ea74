-- Pairs, clusters and estimates over sampled sketches are those of a comparison of each with each, with an index and without.
CREATE TABLE note (id int PRIMARY KEY, tenant int, bits minhash_bits(96));
INSERT INTO note SELECT i, i % 3, CASE WHEN i % 37 <> 0 THEN minhash_bits(CASE i % 41 WHEN 0 THEN '{}' ELSE
        ARRAY(SELECT md5((CASE WHEN t <= i % 9 THEN i ELSE i / 6 END)::text || t) FROM generate_series(1, 20) AS t) END, 96) END
    FROM generate_series(1, 700) AS i;
CREATE FUNCTION check_pairs(t float8) RETURNS TABLE (expected bigint, found bigint, missing bigint, wrong bigint) LANGUAGE sql AS $$
    WITH expected AS MATERIALIZED (SELECT a.id AS a, b.id AS b, minhash_sim(a.bits, b.bits)::float8 AS similarity FROM note AS a JOIN note AS b ON a.id < b.id WHERE minhash_sim(a.bits, b.bits)::float8 >= t),
    found AS MATERIALIZED (SELECT least(a::int, b::int) AS a, greatest(a::int, b::int) AS b, similarity FROM bloom_duplicates('note', 'id', 'bits', t))
    SELECT (SELECT count(*) FROM expected), (SELECT count(*) FROM found), (SELECT count(*) FROM (TABLE expected EXCEPT TABLE found) AS m), (SELECT count(*) FROM (TABLE found EXCEPT TABLE expected) AS w)
$$;
SELECT t, c.* FROM unnest('{1,0.9,0.8,0.5,0.25,0.01,0}'::float8[]) AS t, check_pairs(t) AS c;
CREATE INDEX note_bits ON note USING sigfile (bits) WITH (tail_limit = 64);
INSERT INTO note SELECT id + 1000, tenant, bits FROM note WHERE id % 50 = 1;
SELECT t, c.missing, c.wrong, c.expected > 0 FROM unnest('{1,0.9,0.8,0.5,0.25,0.01,0}'::float8[]) AS t, check_pairs(t) AS c;
-- within: rows of one tenant
WITH expected AS (SELECT a.id AS a, b.id AS b, minhash_sim(a.bits, b.bits)::float8 AS similarity FROM note AS a JOIN note AS b USING (tenant) WHERE a.id < b.id AND minhash_sim(a.bits, b.bits)::float8 >= 0.5),
found AS (SELECT least(a::int, b::int) AS a, greatest(a::int, b::int) AS b, similarity FROM bloom_duplicates('note', 'id', 'bits', 0.5, '{tenant}'))
SELECT (SELECT count(*) FROM (TABLE expected EXCEPT TABLE found) AS m), (SELECT count(*) FROM (TABLE found EXCEPT TABLE expected) AS w), (SELECT count(*) > 100 FROM found);
-- linkage, clusters, quality, the report
CREATE VIEW odd AS SELECT * FROM note WHERE id % 2 = 1;
CREATE VIEW even AS SELECT * FROM note WHERE id % 2 = 0;
SELECT count(*) = (SELECT count(*) FROM odd AS a, even AS b WHERE minhash_sim(a.bits, b.bits) >= 0.6) FROM bloom_linkage('odd', 'id', 'bits', 'even', 'id', 'bits', 0.6);
SELECT count(*), max(size) FROM bloom_clusters('note', 'id', 'bits', 0.7);
SELECT pairs BETWEEN 0.3 * n AND 3 * n FROM bloom_pairs_estimate('note', 'bits', 0.5), (SELECT count(*) AS n FROM bloom_duplicates('note', 'id', 'bits', 0.5)) AS d;
SELECT length(bloom_report('note', 'id', 'bits', 0.7)) > 1000;
-- two types, and profiles
CREATE TABLE person (id int PRIMARY KEY, sig bloom);
SELECT * FROM bloom_linkage('note', 'id', 'bits', 'person', 'id', 'sig', 0.6);
SELECT * FROM bloom_duplicates('note', 'id', '{bits,bits}', '{1,2}', 0.6);
DROP TABLE person, note CASCADE;
DROP FUNCTION check_pairs;
