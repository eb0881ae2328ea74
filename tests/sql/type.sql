-- The type bloom: text, binary, modifier, casts.
SELECT '(2,5,3):1f03'::bloom, ' ( 2, 5,3):1F03 '::bloom, '(2,5,3,rules=1,hash=0,key=0):1f03'::bloom, '(1,5,2):00'::bloom;
-- Golden bytes: the format does not move.
SELECT bloom_send(bloom_signature('a', 2, 1)), bloom_send(bloom_signature('Erika')) AS "Erika";
-- What is malformed.
SELECT 'x'::bloom;
SELECT ''::bloom;
SELECT '(2,5,3)'::bloom;
SELECT '(2,5):1f03'::bloom;
SELECT '(2,5,3,4):1f03'::bloom;
SELECT '(2,5,x):1f03'::bloom;
SELECT '(2,5,-3):1f03'::bloom;
SELECT '(2,5,99999999999999999999):1f03'::bloom;
SELECT '(2,5,3):1f0'::bloom;
SELECT '(2,5,3):1f0300'::bloom;
SELECT '(2,5,3):1g03'::bloom;
SELECT '(2,5,3):é03'::bloom;
SELECT '(2,5,3):1f04'::bloom;
SELECT '(0,5,3):'::bloom;
SELECT '(65,5,3):'::bloom;
SELECT '(2,4,3):00'::bloom;
SELECT '(2,9,3):000000'::bloom;
SELECT '(2,8209,3):00'::bloom;
SELECT '(2,5,1):1f03'::bloom;
SELECT '(2,5,3,rules=2):1f03'::bloom;
SELECT '(2,5,3,hash=1):1f03'::bloom;
SELECT '(2,5,3,key=7):1f03'::bloom;

-- Binary.
CREATE TEMP TABLE sigs (id int, sig bloom);
INSERT INTO sigs SELECT i, bloom_signature('name ' || i) FROM generate_series(1, 100) AS i;
INSERT INTO sigs VALUES (101, ''::text::bloom);
INSERT INTO sigs VALUES (101, NULL), (102, bloom_signature('')), (103, bloom_signature(repeat('long ', 1000), max_chars => 5900));
\getenv results PG_ABS_BUILDDIR
\set file :results '/results/bloom.copy'
COPY sigs TO :'file' (FORMAT binary);
CREATE TEMP TABLE copied (LIKE sigs);
COPY copied FROM :'file' (FORMAT binary);
SELECT count(*), bool_and(a.sig IS NOT DISTINCT FROM b.sig) AS same FROM sigs AS a JOIN copied AS b USING (id);
CREATE TEMP TABLE copied_wrong (id int, sig bloom(7,43,2));
COPY copied_wrong FROM :'file' (FORMAT binary);

-- Damaged bytes: recv and the cast from bytea check the same.
SELECT '\x0102050003010000070000001f03'::bytea::bloom;
SELECT '\x'::bytea::bloom;
SELECT '\x01020500030100000700'::bytea::bloom AS header;
SELECT '\x0302050003010000070000001f03'::bytea::bloom AS version;
SELECT '\x0100050003010000070000001f03'::bytea::bloom AS k;
SELECT '\x0102060003010000070000001f03'::bytea::bloom AS p;
SELECT '\x0102050001010000070000001f03'::bytea::bloom AS q;
SELECT '\x0102050003020000070000001f03'::bytea::bloom AS rules;
SELECT '\x0102050003010100070000001f03'::bytea::bloom AS family;
SELECT '\x0102050003010001070000001f03'::bytea::bloom AS key;
SELECT '\x0102050003010000080000001f03'::bytea::bloom AS count;
SELECT '\x0102050003010000070000001f'::bytea::bloom AS short;
SELECT '\x0102050003010000070000001f0300'::bytea::bloom AS long;
SELECT '\x0102050003010000080000001f07'::bytea::bloom AS padding;

-- Modifier.
CREATE TABLE fixed (id int, sig bloom(7,43,3));
\d fixed
INSERT INTO fixed VALUES (1, bloom_signature('Erika')), (2, NULL);
INSERT INTO fixed VALUES (3, bloom_signature('Erika', 2));
INSERT INTO fixed VALUES (3, '(2,5,3):1f03');
UPDATE fixed SET sig = bloom_signature('Erika', max_chars => 60);
COPY fixed FROM stdin;
3	(2,5,3):1f03
\.
SELECT id, bloom_bits(sig) FROM fixed;
SELECT format_type('bloom'::regtype, atttypmod) FROM pg_attribute WHERE attrelid = 'fixed'::regclass AND attname = 'sig';
ALTER TABLE fixed ALTER sig TYPE bloom(7,43,2);
ALTER TABLE fixed ALTER sig TYPE bloom;
SELECT '(2,5,3):1f03'::bloom(2,5,3), '(64,8191,8):'::bloom(64,8191,8) IS NULL;
SELECT '(2,5,3):1f03'::bloom(2,5,4);
CREATE TABLE wrong (sig bloom(7,43));
CREATE TABLE wrong (sig bloom(7,44,3));
CREATE TABLE wrong (sig bloom(65,43,3));
CREATE TABLE wrong (sig bloom(7,43,1));
CREATE TABLE wrong (sig bloom('a','b','c'));

DROP TABLE fixed;

-- Casts.
SELECT '(2,5,3):1f03'::bloom::bit varying, B'1111100011'::bloom(2,5,3), B'1111100011'::bit varying::bloom(2,5,3), '(2,5,3):1f03'::bloom::bytea;
SELECT '(2,5,3):1f03'::bloom::jsonb, '{"k": 2, "p": 5, "q": 3, "bits": [9, 0, 1, 2, 3, 4, 8]}'::jsonb::bloom;
SELECT count(*), bool_and(sig::bit varying::bloom(7,43,3) = sig) AS bits, bool_and(sig::bytea::bloom = sig) AS bytes,
       bool_and(sig::jsonb::bloom = sig) AS json, bool_and(sig::text::bloom = sig) AS text
FROM sigs WHERE id <= 100;
SELECT B'1111100011'::bloom;
SELECT B'111110001'::bloom(2,5,3);
SELECT '{"k": 2, "p": 5, "q": 3}'::jsonb::bloom;
SELECT '{"k": 2, "p": 5, "q": 3, "bits": [10]}'::jsonb::bloom;
SELECT '{"k": 2, "p": 5, "q": 3, "bits": [1, 1]}'::jsonb::bloom;
SELECT '{"k": 2, "p": 5, "q": 3, "bits": [-1]}'::jsonb::bloom;
SELECT '{"k": 2, "p": 5, "q": 3, "bits": [], "m": 10}'::jsonb::bloom;
SELECT '{"k": 2, "p": 6, "q": 3, "bits": []}'::jsonb::bloom;
SELECT '{"k": 2, "p": 5, "q": 3, "rules": 2, "bits": []}'::jsonb::bloom;
SELECT '[]'::jsonb::bloom;
SELECT '[2, 5, 3, 1, 0, 0, []]'::jsonb::bloom;
SELECT '{"k": 1e400}'::jsonb::bloom;
SELECT ('{"k": 2, "p": 5, "q": 3, "bits": ' || repeat('[', 200) || repeat(']', 200) || '}')::jsonb::bloom;
SELECT format_type('bloom'::regtype, 12);
SELECT jsonb_build_object('k', 2, 'p', 5, 'q', 3, 'bits', '[]'::jsonb, 'x', repeat('x', 40000000))::bloom;

-- Toasted values, compressed or out of line.
CREATE TABLE toasted (id int, sig bloom);
INSERT INTO toasted SELECT i, bloom_signature(repeat(md5(i::text), 100), max_chars => 5900) FROM generate_series(1, 5) AS i;
ALTER TABLE toasted ALTER sig SET STORAGE external;
INSERT INTO toasted SELECT i + 5, bloom_signature(repeat(md5(i::text), 100), max_chars => 5900) FROM generate_series(1, 5) AS i;
SELECT a.id, b.id, a.sig = b.sig AS equal, bloom_sim(a.sig, b.sig), bloom_cmp(a.sig, b.sig), bloom_hash(a.sig) = bloom_hash(b.sig) AS hash
FROM toasted AS a JOIN toasted AS b ON b.id = a.id + 5 ORDER BY 1;
SELECT count(DISTINCT sig), bloom_bits(bloom_union(sig)) = bloom_bits(bloom_union(sig) FILTER (WHERE id <= 5)) AS united FROM toasted;
DROP TABLE toasted;
