-- bloom_audit_keyed: what an attacker reads. core/audit/tests measures the attacks on ten thousand records.
CREATE SCHEMA audit_keyed;
SET search_path = audit_keyed, public;
SET client_min_messages = error;
SELECT bloom_secret_import('audit', sha256('audit'));
CREATE TABLE names AS SELECT given, surname, a.n AS a, b.n AS b FROM
    unnest('{anna,erika,johannes,maria,peter,thomas,susanne,michael,andreas,karin,klaus,petra,wolfgang,sabine,juergen,monika,stefan,renate,walter,ingrid,dieter,ursula,heinz,christa}'::text[]) WITH ORDINALITY AS a (given, n),
    unnest('{mueller,schmidt,schneider,fischer,weber,meyer,wagner,becker,schulz,hoffmann,koch,bauer,richter,klein,wolf,schroeder,neumann,schwarz,zimmermann,braun,krueger,hofmann,hartmann,lange,werner,krause,lehmann,kowalski,nowak,yilmaz}'::text[]) WITH ORDINALITY AS b (surname, n);
CREATE FUNCTION schema() RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$SELECT '{"version": 3, "clkConfig": {"l": 1024, "kdf": {"type": "HKDF"}}, "features": [
    {"identifier": "given", "format": {"type": "string"}, "hashing": {"comparison": {"type": "ngram", "n": 2}, "strategy": {"bitsPerToken": 15}}},
    {"identifier": "surname", "format": {"type": "string"}, "hashing": {"comparison": {"type": "ngram", "n": 2}, "strategy": {"bitsPerToken": 15}}}]}'::jsonb$$;
-- A name comes the more often the farther it is at the front, by a hash: 4,000 people.
CREATE TABLE person AS SELECT i AS id, given, surname, (date '1930-01-01' + i * 7)::text AS born FROM generate_series(1, 4000) AS i, names
    WHERE a = 1 + floor(24 * ((hashint4(i)::bigint & 1023) / 1024.0) ^ 1.7) AND b = 1 + floor(30 * ((hashint4(-i)::bigint & 1023) / 1024.0) ^ 1.7);
CREATE VIEW known AS SELECT given, surname, count(*) AS count FROM person WHERE id % 5 <> 0 GROUP BY 1, 2;
ALTER TABLE person ADD plain bloom, ADD salted bloom;
UPDATE person AS p SET plain = bloom_clk(to_jsonb(p), schema(), 'audit'), salted = bloom_clk(to_jsonb(p), schema(), 'audit', '{"salt": ["born"], "diffusion": 8}');
SELECT measure, CASE WHEN measure ~ 'read by|^share' THEN round(value::numeric, 1) END AS value, value > 1.5 * expected AS is_more, advice FROM bloom_audit_keyed('person', 'plain', 'known');
SELECT measure, CASE WHEN measure ~ 'read by|^share' THEN round(value::numeric, 1) END AS value, value > 1.5 * expected AS is_more, advice FROM bloom_audit_keyed('person', 'salted', 'known');
-- A list of names, of one field and without numbers; few records; none.
CREATE VIEW few AS SELECT * FROM person WHERE id <= 3;
CREATE TABLE surnames AS SELECT DISTINCT surname::varchar(20) AS name, 1.5 AS other FROM names;
SELECT measure, value FROM bloom_audit_keyed('few', 'plain', 'surnames') WHERE measure ~ 'records$';
SELECT measure, round(value::numeric, 2) AS value, round(expected::numeric, 2) AS expected, advice FROM bloom_audit_keyed('few', 'plain', 'few');
CREATE VIEW none AS SELECT NULL::text AS given, NULL::bloom AS plain;
SELECT * FROM bloom_audit_keyed('none', 'plain', 'known');
SELECT measure, value FROM bloom_audit_keyed('few', 'plain', 'none') WHERE measure ~ 'records$|tokens';
SELECT count(*) FROM bloom_audit_keyed(NULL, 'plain', 'known');
-- What is no column of keyed signatures, or no reference.
SELECT bloom_audit_keyed('person', 'nothing', 'known');
SELECT bloom_audit_keyed('person', 'given', 'known');
SELECT bloom_audit_keyed(0, 'plain', 'known');
CREATE SEQUENCE sequence;
SELECT bloom_audit_keyed('person', 'plain', 'sequence');
CREATE TABLE numbers (count int);
SELECT bloom_audit_keyed('person', 'plain', 'numbers');
CREATE TABLE often AS SELECT 'Anna' AS given, 1e500 AS count;
SELECT bloom_audit_keyed('person', 'plain', 'often');
UPDATE often SET count = 'NaN';
SELECT bloom_audit_keyed('person', 'plain', 'often');
UPDATE often SET count = 1e-500;
SELECT count(*) > 0 FROM bloom_audit_keyed('person', 'plain', 'often');
CREATE TABLE mixed AS SELECT plain AS sig FROM few UNION ALL SELECT salted FROM few;
SELECT bloom_audit_keyed('mixed', 'sig', 'known');
CREATE TABLE unkeyed AS SELECT bloom_signature(given) AS sig FROM few;
SELECT bloom_audit_keyed('unkeyed', 'sig', 'known');
-- NULLs, empty and other texts, and names that come again are taken as they are; signatures that are missing are left out.
CREATE TABLE odd AS SELECT CASE id % 4 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'Zoë 高石 ' || chr(128512) ELSE given END AS given, CASE WHEN id % 7 > 0 THEN surname END AS surname,
    CASE WHEN id % 2 = 0 THEN plain END AS plain FROM person WHERE id <= 3000;
SELECT measure, value FROM bloom_audit_keyed('odd', 'plain', 'odd') WHERE measure ~ 'records$';
CREATE VIEW counted AS SELECT given, n AS count FROM person, (VALUES (1.0::numeric), (NULL), (0), (-3)) AS v (n) WHERE id <= 100;
SELECT measure, value FROM bloom_audit_keyed('few', 'plain', 'counted') WHERE measure ~ 'records$';
CREATE VIEW nothing AS SELECT ''::text AS given, NULL::text AS surname FROM generate_series(1, 50);
SELECT measure, value FROM bloom_audit_keyed('few', 'plain', 'nothing') WHERE measure ~ 'records|tokens';
CREATE TABLE empty (LIKE person);
SELECT * FROM bloom_audit_keyed('empty', 'plain', 'known');
SELECT measure, value FROM bloom_audit_keyed('few', 'plain', 'empty') WHERE measure ~ 'records$';
-- A view and a partitioned table are read as the table is.
CREATE VIEW seen AS SELECT plain AS "Sig nature" FROM person;
CREATE TABLE parted (id int, plain bloom) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (2000);
CREATE TABLE parted_2 PARTITION OF parted DEFAULT;
INSERT INTO parted SELECT id, plain FROM person ORDER BY id;
SELECT count(*) FROM bloom_audit_keyed('person', 'plain', 'known') AS t JOIN bloom_audit_keyed('seen', 'Sig nature', 'known') AS v USING (measure) WHERE abs(t.value - v.value) < 1e-6;
SELECT measure, round(value::numeric, 1) AS value FROM bloom_audit_keyed('parted', 'plain', 'known') WHERE measure ~ 'records';
-- The own family is read by its n-grams; of words there is nothing that tells them apart.
CREATE FUNCTION own(ngram int) RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$SELECT jsonb_build_object('bloom_ident', 1, 'ngram', ngram, 'max_chars', 40, 'features', '{given,surname}'::text[])$$;
CREATE TABLE own AS SELECT id, bloom_clk(to_jsonb(p), own(2), 'audit')::bloom(keyed,7,53,2) AS sig, bloom_clk(to_jsonb(p), own(2), 'audit', '{"salt": ["born"], "diffusion": 4}') AS salted, bloom_clk(to_jsonb(p), own(0), 'audit') AS words FROM person AS p;
SELECT measure, round(value::numeric, 1) AS value FROM bloom_audit_keyed('own', 'sig', 'known') WHERE measure ~ 'read by pattern';
SELECT measure, round(value::numeric, 1) AS value FROM bloom_audit_keyed('own', 'salted', 'known') WHERE measure ~ 'read by';
SELECT bloom_audit_keyed('own', 'words', 'known');
-- What there is no memory for is not looked at, or it is said.
SET maintenance_work_mem = '7MB';
SELECT value < 4000 AND value > 500 AS fewer FROM bloom_audit_keyed('person', 'plain', 'known') WHERE measure = 'records';
SET maintenance_work_mem = '1MB';
SELECT bloom_audit_keyed('person', 'plain', 'known');
CREATE VIEW long AS SELECT repeat(md5(i::text), 3) AS name FROM generate_series(1, 5000) AS i;
SELECT bloom_audit_keyed('few', 'plain', 'long');
RESET maintenance_work_mem;
-- Both are read as the caller.
CREATE ROLE audit_reader;
GRANT USAGE ON SCHEMA audit_keyed TO audit_reader;
GRANT SELECT ON known TO audit_reader;
GRANT SELECT (salted) ON person TO audit_reader;
SET ROLE audit_reader;
SELECT bloom_audit_keyed('person', 'plain', 'known');
SELECT bloom_audit_keyed('person', 'salted', 'surnames');
SELECT count(*) > 10 FROM bloom_audit_keyed('person', 'salted', 'known');
RESET ROLE;
-- Of rows that a policy hides nothing is said.
ALTER TABLE person ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON person TO audit_reader USING (id <= 10);
GRANT SELECT ON person TO audit_reader;
SET ROLE audit_reader;
SELECT value FROM bloom_audit_keyed('person', 'salted', 'known') WHERE measure = 'records';
SET row_security = off;
SELECT bloom_audit_keyed('person', 'salted', 'known');
RESET row_security;
RESET ROLE;
SELECT bloom_secret_drop('audit');
DROP SCHEMA audit_keyed CASCADE;
DROP OWNED BY audit_reader;
DROP ROLE audit_reader;
