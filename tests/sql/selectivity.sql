-- Row estimates from the sample of signatures that ANALYZE keeps.
CREATE TABLE febrl (rec_id text, cluster_id int, given_name text, surname text, street_number text, address_1 text, address_2 text, suburb text, postcode text, state text, date_of_birth text, soc_sec_id text);
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/data/febrl3.csv'
COPY febrl FROM :'file' (FORMAT csv, HEADER);
-- 90,000 names of given names and surnames as often as they are
CREATE TABLE person AS
SELECT row_number() OVER () AS id, bloom_signature(g.given_name || ' ' || s.surname) AS sig
FROM (SELECT given_name, row_number() OVER (ORDER BY rec_id) AS n FROM febrl WHERE given_name IS NOT NULL) AS g
JOIN (SELECT surname, row_number() OVER (ORDER BY rec_id DESC) AS n FROM febrl WHERE surname IS NOT NULL) AS s ON (g.n * 7 + s.n) % 251 = 0;
CREATE FUNCTION rows_of(condition text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) SELECT FROM ' || condition INTO plan;
    RETURN (plan->0->'Plan'->>'Plan Rows')::float8;
END $$;
CREATE FUNCTION counted(condition text) RETURNS float8 LANGUAGE plpgsql AS $$ DECLARE n float8; BEGIN EXECUTE 'SELECT count(*) FROM ' || condition INTO n; RETURN n; END $$;
SET max_parallel_workers_per_gather = 0;
-- Without statistics: a constant.
SELECT rows_of($$person WHERE sig % bloom_query(bloom_signature('mitchell green'), 0.8)$$) < 200 AS unknown;
SELECT setseed(0.5);
ANALYZE person;
-- factor by which estimate and truth differ, over queries of the table
CREATE TABLE asked AS SELECT id, sig FROM person WHERE id % 1009 = 0;
ANALYZE asked;
SELECT t, percentile_cont(0.5) WITHIN GROUP (ORDER BY factor) < 5 AS median_below_5, percentile_cont(0.95) WITHIN GROUP (ORDER BY factor) < 40 AS p95_below_40
FROM (SELECT t, greatest(estimate / truth, truth / estimate) AS factor
      FROM asked, unnest('{0.9,0.8,0.7,0.6,0.5}'::float8[]) AS t,
           LATERAL (SELECT greatest(1, count(*))::float8 AS truth FROM person WHERE bloom_sim_at_least(person.sig, asked.sig, t)) AS c,
           rows_of(format('person WHERE sig %% bloom_query(%L::bloom, %s)', asked.sig, t)) AS estimate) AS f
GROUP BY t ORDER BY t DESC;
-- Every form of the same question has the same estimate.
SELECT count(DISTINCT rows_of('person WHERE ' || condition)) AS estimates FROM unnest(ARRAY[
    'sig % bloom_query(bloom_signature(''mitchell green''), 0.5)', 'bloom_query(bloom_signature(''mitchell green''), 0.5) % sig',
    'bloom_sim(sig, bloom_signature(''mitchell green'')) >= 0.5', '0.5 <= bloom_sim(bloom_signature(''mitchell green''), sig)',
    'bloom_sim_at_least(sig, bloom_signature(''mitchell green''), 0.5)']) AS condition;
SET bloom_ident.threshold = 0.5;
SELECT rows_of('person WHERE sig % bloom_signature(''mitchell green'')') = rows_of('person WHERE bloom_sim(sig, bloom_signature(''mitchell green'')) >= 0.5') AS same;
RESET bloom_ident.threshold;
-- The ends, NULLs, other shapes.
SELECT rows_of('person WHERE bloom_sim(sig, bloom_signature(''x'')) >= 0') = (SELECT reltuples FROM pg_class WHERE relname = 'person') AS everything,
       rows_of('person WHERE bloom_sim(sig, bloom_signature(''x'')) > 1') AS nothing,
       rows_of('person WHERE bloom_sim(sig, NULL::bloom) > 0.5') AS by_null, rows_of('person WHERE sig % NULL::bloom_query') AS by_null_query,
       rows_of('person WHERE bloom_sim(sig, bloom_signature(''x'', 2)) > 0.5') < 100 AS other_shape;
-- Joins.
SELECT t, greatest(estimate / truth, truth / estimate) < 20 AS within_20
FROM unnest('{0.9,0.8,0.7,0.6,0.5}'::float8[]) AS t,
     LATERAL (SELECT count(*)::float8 AS truth FROM asked JOIN person ON bloom_sim_at_least(person.sig, asked.sig, t)) AS c,
     rows_of(format('asked JOIN person ON bloom_sim(person.sig, asked.sig) >= %s', t)) AS estimate
ORDER BY t DESC;
-- Semi and anti joins: rows that have any match.
CREATE TABLE first AS SELECT id, sig FROM person WHERE id % 18 = 0;
CREATE TABLE same AS TABLE first;
CREATE TABLE other AS SELECT i AS id, bloom_signature(md5(i::text)) AS sig FROM generate_series(1, 3000) AS i;
ANALYZE first; ANALYZE same; ANALYZE other;
SELECT i, filter, c, kind, greatest(estimate / greatest(truth, 1), greatest(truth, 1) / estimate) < 5 AS within_5
FROM (VALUES ('same', 'true'), ('other', 'true'), ('same', 'i.id < 9000')) AS v (i, filter),
     unnest('{EXISTS,NOT EXISTS}'::text[]) AS kind,
     unnest('{bloom_sim(o.sig\, i.sig) >= 0.8,bloom_dice(i.sig\, o.sig) > 0.9}'::text[]) AS c,
     LATERAL format('first AS o WHERE %s (SELECT FROM %s AS i WHERE %s AND %s)', kind, i, filter, c) AS q,
     rows_of(q) AS estimate, counted(q) AS truth
ORDER BY i, filter, c, kind;
SET bloom_ident.threshold = 0.8;
SELECT rows_of('first AS o WHERE EXISTS (SELECT FROM same AS i WHERE o.sig % i.sig)') > 2500 AS semi, rows_of('first AS o WHERE NOT EXISTS (SELECT FROM same AS i WHERE i.sig % o.sig)') < 2500 AS anti,
       rows_of('first AS o WHERE EXISTS (SELECT FROM other AS i WHERE o.sig % i.sig)') < 500 AS none,
       rows_of('first AS o WHERE EXISTS (SELECT FROM same AS i JOIN other USING (id) WHERE o.sig % i.sig)') > 500 AS joined,
       rows_of('first AS o WHERE EXISTS (SELECT FROM person AS i WHERE o.sig % i.sig)') > 700 AS large;
RESET bloom_ident.threshold;
DROP TABLE first, same, other;
-- Values that many rows share are known by their frequency.
CREATE TABLE frequent AS SELECT i, bloom_signature(CASE WHEN i <= 26 * 50 THEN 'common name ' || md5((i % 50)::text) ELSE md5(i::text) END) AS sig FROM generate_series(1, 60000) AS i;
INSERT INTO frequent SELECT 0, NULL FROM generate_series(1, 20000);
ALTER TABLE frequent ALTER sig SET STATISTICS 1000;
ANALYZE frequent;
SELECT t, max(greatest(estimate / truth, truth / estimate)) < 3 AS within_3, min(truth), max(truth)
FROM unnest('{1,0.95}'::float8[]) AS t, generate_series(1, 50, 7) AS i,
     LATERAL (SELECT bloom_signature('common name ' || md5((i % 50)::text)) AS sig) AS q,
     LATERAL (SELECT count(*)::float8 AS truth FROM frequent AS f WHERE bloom_sim_at_least(f.sig, q.sig, t)) AS c,
     rows_of(format('frequent WHERE sig %% bloom_query(%L::bloom, %s)', q.sig, t)) AS estimate
GROUP BY t ORDER BY t;
SELECT rows_of('frequent WHERE sig % bloom_query(bloom_signature(md5(50000::text)), 0.9)') < 8 AS rare,
       rows_of('frequent WHERE sig % bloom_query(bloom_signature(''x''), 0)') BETWEEN 57000 AND 63000 AS everything;
DROP TABLE frequent;
-- All values are common ones.
CREATE TABLE few AS SELECT bloom_signature('name ' || i % 5) AS sig FROM generate_series(1, 1000) AS i;
ANALYZE few;
SELECT rows_of('few WHERE sig % bloom_query(bloom_signature(''name 3''), 1)') AS common, rows_of('few WHERE sig % bloom_query(bloom_signature(''name 7''), 1)') AS absent;
DROP TABLE few;
-- The sample has a size in bytes as they are when they are not compressed, and comes from the whole table.
CREATE TABLE sparse AS SELECT i, bloom_signature(CASE WHEN i <= 1500 THEN 'a' ELSE 'b' END || i % 100, max_chars => 5900) AS sig FROM generate_series(1, 3000) AS i;
ANALYZE sparse;
CREATE FUNCTION sample_of(relation regclass) RETURNS SETOF bloom LANGUAGE plpgsql AS $$
DECLARE s pg_statistic;
BEGIN
    FOR s IN SELECT * FROM pg_statistic WHERE starelid = relation LOOP
        RETURN QUERY SELECT unnest(CASE 21045 WHEN s.stakind1 THEN s.stavalues1::text WHEN s.stakind2 THEN s.stavalues2::text WHEN s.stakind3 THEN s.stavalues3::text
            WHEN s.stakind4 THEN s.stavalues4::text WHEN s.stakind5 THEN s.stavalues5::text END::bloom[]);
    END LOOP;
END $$;
SELECT max(pg_column_size(sig)) < 1000 AS compressed, max(octet_length(sig::bytea)) AS bytes FROM sparse;
SELECT sum(octet_length(s::bytea)) BETWEEN 900000 AND 1100000 AS within, count(DISTINCT s) > 70 AS everywhere FROM sample_of('sparse') AS s;
DROP TABLE sparse;
DROP FUNCTION sample_of;
-- Few rows, none, NULLs only, large signatures, a domain.
CREATE DOMAIN signature AS bloom;
CREATE TABLE odd (a bloom, b bloom, c signature);
ANALYZE odd;
SELECT rows_of('odd WHERE bloom_sim(a, bloom_signature(''x'')) > 0.5') >= 1 AS empty;
INSERT INTO odd SELECT NULL, bloom_signature(i::text, max_chars => 5900), bloom_signature(i::text) FROM generate_series(1, 3) AS i;
ANALYZE odd;
SELECT rows_of('odd WHERE bloom_sim(a, bloom_signature(''x'')) > 0.5') >= 1 AS nulls, rows_of('odd WHERE bloom_sim(b, bloom_signature(''1'', max_chars => 5900)) > 0.5') AS large,
       rows_of('odd WHERE bloom_sim(c, bloom_signature(''1'')) > 0.5') AS domain, rows_of('odd WHERE c % bloom_query(bloom_signature(''1''), 0.5)') AS domain_query;
-- Who may not see the values gets no estimate from them.
CREATE ROLE bloom_ident_reader;
CREATE VIEW behind WITH (security_barrier) AS SELECT sig FROM person WHERE id < 0;
GRANT SELECT ON behind TO bloom_ident_reader;
GRANT EXECUTE ON FUNCTION rows_of TO bloom_ident_reader;
SET ROLE bloom_ident_reader;
SELECT rows_of('behind WHERE sig % bloom_query(bloom_signature(''mitchell green''), 0)') <= 30 AS hidden;
RESET ROLE;
-- Nor does row-level security let an estimate tell of a row that it hides, by a sample or by the lists of an index.
CREATE TABLE policed AS SELECT i % 100 = 0 AS seen, bloom_signature(CASE WHEN i % 2 = 1 THEN 'hidden' ELSE 'name ' || i END) AS sig FROM generate_series(1, 3000) AS i;
CREATE INDEX ON policed USING sigfile (sig);
ANALYZE policed;
ALTER TABLE policed ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON policed USING (seen);
GRANT SELECT ON policed TO bloom_ident_reader;
CREATE VIEW told AS SELECT condition, rows_of('policed WHERE ' || replace(condition, 'NAME', quote_literal('hidden'))) = rows_of('policed WHERE ' || replace(condition, 'NAME', quote_literal('absent'))) AS same
    FROM (VALUES ('sig % bloom_query(bloom_signature(NAME), 0.9)'), ('bloom_sim(sig, bloom_signature(NAME)) > 0.9'), ('sig = bloom_signature(NAME)')) AS c (condition);
GRANT SELECT ON told TO bloom_ident_reader;
SELECT * FROM told;
SET ROLE bloom_ident_reader;
SELECT * FROM told;
RESET ROLE;
DROP VIEW behind, told;
DROP TABLE febrl, person, asked, odd, policed;
DROP DOMAIN signature;
DROP FUNCTION rows_of, counted;
DROP ROLE bloom_ident_reader;
