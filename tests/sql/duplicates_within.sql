-- bloom_duplicates and bloom_linkage, argument within: only records that are equal in these columns are pairs.
SET client_min_messages = warning;
CREATE SCHEMA duplicates_within;
SET search_path = duplicates_within, public;
CREATE FUNCTION name_of(i int) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$ SELECT translate(left(md5((i % 50)::text), 12), '0123456789', 'ghijklmnop') || CASE i % 3 WHEN 0 THEN 'x' ELSE '' END $$;
CREATE TABLE person (id int PRIMARY KEY, tenant int, branch text, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
-- groups of one record, of some, and of many; NULL in either column
INSERT INTO person SELECT i, CASE WHEN i % 11 = 0 THEN NULL WHEN i < 1000 THEN i / 3 ELSE 400 + i % 7 END,
    CASE WHEN i % 13 = 0 THEN NULL ELSE chr(97 + i % 2) END, name_of(i) FROM generate_series(1, 2000) AS i;
INSERT INTO person VALUES (3001, 1, 'a', NULL), (3002, 1, 'a', ''), (3003, 1, 'a', '');
-- pairs that are found, those of a nested loop, and how many are only in one of both
CREATE FUNCTION compare(threshold float8, within name[]) RETURNS TABLE (found bigint, expected bigint, different bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('
        WITH found AS (SELECT * FROM bloom_duplicates(''person'', ''id'', ''sig'', $1, within => $2)),
            expected AS (SELECT a.id::text AS a, b.id::text AS b, bloom_sim(a.sig, b.sig) AS similarity FROM person AS a JOIN person AS b
                ON a.id < b.id AND bloom_sim(a.sig, b.sig) >= $1 AND %s)
        SELECT (SELECT count(*) FROM found), (SELECT count(*) FROM expected),
            (SELECT count(*) FROM (TABLE found EXCEPT ALL TABLE expected) AS x) + (SELECT count(*) FROM (TABLE expected EXCEPT ALL TABLE found) AS x)',
        (SELECT string_agg(format('a.%I = b.%I', c, c), ' AND ') FROM unnest(within) AS c)) USING threshold, within;
END $$;
SELECT threshold, within, c.* FROM unnest('{1,0.9,0.8,0.5,0.1}'::float8[]) AS threshold,
    (VALUES ('{tenant}'::name[]), ('{branch,tenant}'), ('{branch}')) AS w (within), compare(threshold, within) AS c ORDER BY 2, 1 DESC;
SELECT * FROM compare(0, '{tenant,branch}');
-- the same with an index, and in groups that are too large to compare each with each
CREATE INDEX ON person USING sigfile (sig);
SELECT * FROM compare(0.8, '{tenant}');
INSERT INTO person SELECT i, i % 2, 'c', translate(left(md5((i / 3)::text), 16), '0123456789', 'ghijklmnop') || CASE i % 5 WHEN 0 THEN 'x' ELSE '' END FROM generate_series(10001, 19000) AS i;
ANALYZE person;
SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', 0.85, '{tenant}');
SELECT count(*) FROM (SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.85)) AS d
    JOIN person AS x ON x.id = a::int JOIN person AS y ON y.id = b::int WHERE x.tenant = y.tenant;
WITH within AS (SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.85, '{tenant}')),
    filtered AS (SELECT d.* FROM bloom_duplicates('person', 'id', 'sig', 0.85) AS d JOIN person AS x ON x.id = a::int JOIN person AS y ON y.id = b::int
        WHERE x.tenant = y.tenant)
SELECT count(*) FROM ((TABLE within EXCEPT TABLE filtered) UNION ALL (TABLE filtered EXCEPT TABLE within)) AS different;
SET maintenance_work_mem = '1MB';
SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', 0.85, '{tenant}');
RESET maintenance_work_mem;
DELETE FROM person WHERE id > 10000;
-- no restriction
SELECT count(*) = (SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', 0.8)) AS same FROM bloom_duplicates('person', 'id', 'sig', 0.8, NULL);

-- two large groups, which are found through the index: the pairs of each side by itself
CREATE TABLE large AS SELECT i AS id, CASE WHEN i % 100 = 7 THEN NULL ELSE (i % 2)::text COLLATE "C" END AS tenant,
    bloom_signature(translate(left(md5((i / 4)::text), 14), '0123456789', 'ghijklmnop')) AS sig FROM generate_series(1, 106000) AS i;
CREATE INDEX ON large USING sigfile (sig);
CREATE UNIQUE INDEX ON large (id);
UPDATE large SET tenant = 'x' WHERE id % 1000 = 0;
WITH within AS (SELECT * FROM bloom_duplicates('large', 'id', 'sig', 0.9, '{tenant}')),
    filtered AS (SELECT d.* FROM bloom_duplicates('large', 'id', 'sig', 0.9) AS d JOIN large AS x ON x.id = a::int JOIN large AS y ON y.id = b::int
        WHERE x.tenant = y.tenant)
SELECT (SELECT count(*) FROM within) AS found, (SELECT count(*) FROM ((TABLE within EXCEPT ALL TABLE filtered) UNION ALL (TABLE filtered EXCEPT ALL TABLE within)) AS d) AS different;
SELECT count(*) - 2 * (SELECT count(*) FROM bloom_duplicates('large', 'id', 'sig', 0.9, '{tenant}')) = (SELECT count(tenant) FROM large) AS same
FROM bloom_linkage('large', 'id', 'sig', 'large', 'id', 'sig', 0.9, '{tenant}');
DROP TABLE large;

-- equal by type, and names that SQL quotes; domains, composites, partitions, views
CREATE DOMAIN unit AS numeric CHECK (VALUE > 0);
CREATE TYPE place AS (street text, number int);
CREATE TABLE client (key text, "Tenant, ID" text, "a""b" unit, at place, sig bloom) PARTITION BY LIST ("a""b");
CREATE TABLE client_1 PARTITION OF client FOR VALUES IN (1);
CREATE TABLE client_rest (sig bloom, at place, "a""b" unit, "Tenant, ID" text, key text);
ALTER TABLE client ATTACH PARTITION client_rest DEFAULT;
INSERT INTO client VALUES ('k1', 'north', 1, '(x,1)', bloom_signature('Otto Dix')), ('k2', 'north', 1.0, '(x,)', bloom_signature('Otto Dix')),
    ('k3', 'north', 2, '(x,)', bloom_signature('Otto Dix')), ('k4', 'south', 2, '(x,1)', bloom_signature('Otto Dix')),
    ('k5', 'north', 2.00, '(,)', bloom_signature('Otto Dix')), ('k6', NULL, 1, NULL, bloom_signature('Otto Dix'));
SELECT * FROM bloom_duplicates('client', 'key', 'sig', 0.8, '{"Tenant, ID"}') ORDER BY a, b;
SELECT * FROM bloom_duplicates('client', 'key', 'sig', 0.8, ARRAY['Tenant, ID', 'a"b']) ORDER BY a, b;
SELECT * FROM bloom_duplicates('client', 'key', 'sig', 0.8, '{"a\"b"}') ORDER BY a, b;
SELECT * FROM bloom_duplicates('client', 'key', 'sig', 0.8, within => '{at}') ORDER BY a, b;
CREATE VIEW some_clients AS SELECT key AS k, lower("Tenant, ID" COLLATE "C") AS t, sig AS s FROM client WHERE key <> 'k5';
SELECT * FROM bloom_duplicates('some_clients', 'k', 's', 0.8, '{t}') ORDER BY a, b;
-- keys that have no order, and that are null
CREATE TABLE odd (key json, tenant int, sig bloom);
INSERT INTO odd VALUES ('"b"', 1, bloom_signature('Otto Dix')), ('"a"', 1, bloom_signature('Otto Dix')), (NULL, 2, bloom_signature('Otto Dix')), ('1', 3, bloom_signature('Otto Dix'));
SELECT * FROM bloom_duplicates('odd', 'key', 'sig', 0.8, '{tenant}');
INSERT INTO odd VALUES ('2', 2, bloom_signature('Otto Dix'));
SELECT * FROM bloom_duplicates('odd', 'key', 'sig', 0.8, '{tenant}');
-- a key that comes twice, in other groups
CREATE TABLE twice (key int, tenant int, sig bloom);
INSERT INTO twice VALUES (1, 1, bloom_signature('Otto Dix')), (1, 2, bloom_signature('Paul Klee'));
SELECT * FROM bloom_duplicates('twice', 'key', 'sig', 0.8, '{tenant}');

-- linkage: columns of the same names in both; keys and the columns may be of different types
CREATE TABLE applicant (code text, tenant bigint, branch varchar, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
INSERT INTO applicant SELECT 'x' || i, i / 2, chr(97 + i % 3), name_of(i * 3) FROM generate_series(1, 500) AS i;
INSERT INTO applicant SELECT 'y' || i, 401, chr(97 + i % 3), name_of(i * 3) FROM generate_series(1, 300) AS i;
INSERT INTO applicant VALUES ('z', NULL, 'a', name_of(1)), (NULL, 9999, 'b', name_of(1));
WITH found AS (SELECT * FROM bloom_linkage('applicant', 'code', 'sig', 'person', 'id', 'sig', 0.7, '{tenant,branch}')),
    expected AS (SELECT a.code AS a, b.id::text AS b, bloom_sim(a.sig, b.sig) FROM applicant AS a JOIN person AS b
        ON bloom_sim(a.sig, b.sig) >= 0.7 AND a.tenant = b.tenant AND a.branch = b.branch)
SELECT (SELECT count(*) FROM found) AS found, (SELECT count(*) FROM ((TABLE found EXCEPT ALL TABLE expected) UNION ALL (TABLE expected EXCEPT ALL TABLE found)) AS d) AS different;
SELECT count(*) FROM bloom_linkage('person', 'id', 'sig', 'applicant', 'code', 'sig', 0.7, within => '{branch}');
DELETE FROM applicant WHERE code IS NULL;
WITH found AS (SELECT * FROM bloom_linkage('person', 'id', 'sig', 'applicant', 'code', 'sig', 0.7, within => '{branch}')),
    expected AS (SELECT b.id::text AS a, a.code AS b, bloom_sim(a.sig, b.sig) FROM applicant AS a JOIN person AS b
        ON bloom_sim(a.sig, b.sig) >= 0.7 AND a.branch = b.branch)
SELECT (SELECT count(*) FROM found) AS found, (SELECT count(*) FROM ((TABLE found EXCEPT ALL TABLE expected) UNION ALL (TABLE expected EXCEPT ALL TABLE found)) AS d) AS different;
INSERT INTO person SELECT i, 777, 'a', name_of(i) || left(md5(i::text), 6) FROM generate_series(20001, 26000) AS i;
INSERT INTO applicant SELECT 'w' || i, 777, 'a', name_of(i) || left(md5(i::text), 6) FROM generate_series(20001, 20100) AS i;
SELECT count(*), count(*) FILTER (WHERE substr(a, 2) = b) AS same FROM bloom_linkage('applicant', 'code', 'sig', 'person', 'id', 'sig', 0.9, '{tenant}') WHERE a LIKE 'w%';

-- as whom: the caller needs the columns, and policies hold
CREATE ROLE within_reader;
GRANT USAGE ON SCHEMA duplicates_within TO within_reader;
GRANT SELECT (id, sig) ON person TO within_reader;
SET ROLE within_reader;
SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', 0.9, '{tenant}');
RESET ROLE;
GRANT SELECT ON person TO within_reader;
ALTER TABLE person ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON person USING (tenant IN (401, 402));
SET ROLE within_reader;
SELECT count(*), count(DISTINCT tenant) FROM bloom_duplicates('person', 'id', 'sig', 0.9, '{tenant}') JOIN person ON id = a::int;
RESET ROLE;
DROP OWNED BY within_reader;
DROP ROLE within_reader;
-- errors
\set VERBOSITY verbose
SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.8, '{}');
SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.8, '{tenant,NULL}');
SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.8, '{tenant,mandant}');
SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.8, '{tenant,branch,tenant}');
SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.8, '{ctid}');
SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.8, '{sig}');
SELECT * FROM bloom_duplicates('odd', 'key', 'sig', 0.8, '{key}');
SELECT * FROM bloom_linkage('applicant', 'code', 'sig', 'client', 'key', 'sig', 0.8, '{tenant}');
SELECT * FROM bloom_linkage('applicant', 'code', 'sig', 'odd', 'key', 'sig', 0.8, '{branch}');
\set VERBOSITY default
INSERT INTO twice VALUES (3, 3, bloom_signature('Otto Dix', ngram => 2));
DELETE FROM twice WHERE key = 1 AND tenant = 2;
SELECT * FROM bloom_duplicates('twice', 'key', 'sig', 0.8, '{tenant}');
-- Groups of more than some thousand records are joined, with memory for a part of them.
SET maintenance_work_mem = '1MB';
CREATE TABLE many AS SELECT i AS id, i % 7 = 0 AS part, bloom_signature(md5((i / 2)::text)) AS sig FROM generate_series(0, 14999) AS i;
SELECT count(*), bool_and(a::int / 2 = b::int / 2), min(similarity) FROM bloom_duplicates('many', 'id', 'sig', 0.8, '{part}');
SELECT count(*) FROM generate_series(0, 14999, 2) AS i WHERE (i % 7 = 0) = ((i + 1) % 7 = 0);
RESET maintenance_work_mem;
-- without records
TRUNCATE person;
SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.8, '{tenant}');
SET client_min_messages = warning;
DROP SCHEMA duplicates_within CASCADE;
