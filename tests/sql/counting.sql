-- Counting filters: texts in and out again.
SELECT counting_signature('a', 2, 1), counting_signature(NULL) IS NULL AS "null", counting_add(NULL, 'Erika') IS NULL AND counting_remove(NULL, 'Erika') IS NULL AND counting_contains(NULL, 'Erika') IS NULL AS of_null;
-- A counter for each bit, a hexadecimal digit for each counter, from the first to the last.
SELECT '(2,5,3):0102000003'::counting_bloom, ' ( 2, 5,3):0A0f00000B '::counting_bloom, '(2,5,3,rules=1,hash=0,key=0):0102000003'::counting_bloom,
    '(1,5,2):00001'::counting_bloom::bytea, '(1,5,2):00001'::counting_bloom::bytea::counting_bloom;
-- The cast is the signature.
SELECT bool_and(counting_signature(name, ngram, chars, fpr, by_word)::bloom = bloom_signature(name, ngram, chars, fpr, by_word)) AS same, count(*)
FROM unnest('{Erika Mustermann,anna anna anna,"",x,Müller-Lüdenscheidt,Иванов,0123456789}'::text[]) AS name, generate_series(2, 8) AS ngram,
    unnest('{1,30,400}'::int[]) AS chars, unnest('{0.5,0.01,0.0001}'::float8[]) AS fpr, unnest('{t,f}'::boolean[]) AS by_word;
SELECT counting_signature('Erika', max_chars => 8)::bloom(7,13,3), counting_signature('Erika')::bloom(7,43,2);

-- Adding and removing.
SELECT counting_remove(f, 'Erika')::text = empty::text AS gone, counting_contains(f, 'Erika') AS erika, counting_contains(f, 'Erika Muster') AS muster,
    counting_contains(f, '') AS nothing, counting_add(f, '')::text = f::text AS add_nothing, counting_remove(f, ' ,; ')::text = f::text AS remove_nothing
FROM counting_signature('') AS empty, counting_add(empty, 'Erika') AS f;
-- A repeated n-gram counts once in a text, and once in each text.
SELECT counting_signature('anna anna', 2, 4)::text AS twice_in_one, counting_add(counting_signature('anna', 2, 4), 'anna')::text AS in_two;
SELECT counting_remove(counting_remove(counting_add(counting_signature('anna'), 'anna'), 'anna'), 'anna')::bloom = bloom_signature('') AS empty;
SELECT counting_signature('anna, anna, anna', by_word => true)::text = counting_signature('anna')::text AS words;
-- by_word, as it was added.
SELECT counting_remove(f, 'Mustermann; ERIKA', true)::bloom = bloom_signature('') AS gone, counting_contains(f, 'Erika', by_word => true) AS erika
FROM counting_signature('Erika Mustermann', by_word => true) AS f;
SELECT counting_remove(counting_signature('Erika Mustermann', by_word => true), 'Erika Mustermann');
SELECT counting_remove(counting_signature('Erika Mustermann'), 'Erika Mustermann', by_word => true);
-- And filler.
SELECT counting_signature('Erika Mustermann', filler => true)::bloom = bloom_signature('Erika Mustermann', filler => true) AS same,
       counting_contains(f, 'Erika Mustermann', filler => true) AS filled, counting_contains(f, 'Li Wu') AS closed,
       counting_remove(f, 'Li Wu', filler => true)::bloom = bloom_signature('Erika Mustermann', filler => true) AS removed
FROM counting_add(counting_signature('Erika Mustermann', filler => true), 'Li Wu', filler => true) AS f;
SELECT counting_remove(counting_signature('Li Wu', filler => true), 'Li Wu');
SELECT counting_add(counting_signature('a'), 'a', by_word => true, filler => true);
-- What was not added.
SELECT counting_remove(counting_signature('Erika'), 'Erica');
SELECT counting_remove(counting_signature(''), 'Erica');
-- Two n-grams of a text may take from one counter: all that the text takes is compared, and not n-gram by n-gram.
SELECT f, counting_contains(f, 'ab'), counting_remove(counting_add(f, 'ab'), 'ab')::text = f::text AS there_and_back FROM CAST('(1,5,2):11111' AS counting_bloom) AS f;
SELECT counting_add('(1,5,2):00000', 'ab');
SELECT counting_remove('(1,5,2):11111', 'ab');
DO $$
DECLARE
    f counting_bloom := '(1,5,2):11111';
BEGIN
    f := counting_remove(f, 'ab');
EXCEPTION WHEN data_exception THEN
    RAISE NOTICE 'still %', f;
END $$;

-- Full counters stay, and do not refuse.
CREATE FUNCTION added(times int, name text) RETURNS counting_bloom LANGUAGE plpgsql AS $$
DECLARE
    f counting_bloom := counting_signature('', 2, 1);
BEGIN
    FOR i IN 1 .. times LOOP f := counting_add(f, name); END LOOP;
    RETURN f;
END $$;
CREATE FUNCTION removed(f counting_bloom, times int, name text) RETURNS counting_bloom LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. times LOOP f := counting_remove(f, name); END LOOP;
    RETURN f;
END $$;
SELECT times, f, counting_full(f) AS "full", removed(f, 14, 'a') AS removed FROM unnest('{14,15,16,40}'::int[]) AS times, added(times, 'a') AS f;
SELECT removed(added(14, 'a'), 15, 'a');
-- One that holds 15 because 15 texts are in it is full, too.
SELECT counting_full('(1,5,2):0efff'), counting_full('(1,7,2):f00000e'), counting_full('(1,5,2):00000');
SELECT counting_remove('(1,5,2):fffff', 'a'), counting_remove('(1,5,2):fffff', repeat('abcdefghij', 1000));

-- Merging: sums, up to the maximum.
SELECT counting_merge('(1,5,2):01279', '(1,5,2):0127f'), counting_merge('(1,5,2):78fe1', '(1,5,2):87f10'),
    counting_merge(counting_signature('Erika'), counting_signature('Max'))::text = counting_add(counting_signature('Erika'), 'Max')::text AS is_adding;
SELECT counting_merge(counting_signature('Erika'), counting_signature('Erika', ngram => 2));
SELECT counting_merge(counting_signature('Erika', max_chars => 60), counting_signature('Erika'));
SELECT counting_merge(counting_signature('Erika'), NULL) IS NULL AS "null";
-- The aggregate.
CREATE TABLE listed (id int PRIMARY KEY, name text, f counting_bloom(7,43,3));
INSERT INTO listed SELECT i, 'name ' || i, counting_signature('name ' || i) FROM generate_series(1, 12) AS i;
INSERT INTO listed VALUES (13, NULL, NULL);
SELECT counting_merge(f)::bloom = bloom_union(bloom_signature(name)) AS signature, counting_merge(f) FILTER (WHERE id < 0) IS NULL AS of_none,
    counting_merge(f) FILTER (WHERE id = 13) IS NULL AS of_null, counting_full(counting_merge(f)) AS "full" FROM listed;
SELECT count(DISTINCT f::text) AS values_changed, bool_and(f::text = counting_signature(name)::text) AS same FROM listed WHERE id <= 12;
SELECT id, counting_full(counting_merge(f) OVER (ORDER BY id)) AS "full", counting_merge(f) OVER (ORDER BY id ROWS 1 PRECEDING)::bloom = bloom_union(bloom_signature(name)) OVER (ORDER BY id ROWS 1 PRECEDING) AS window
FROM listed WHERE id <= 4 ORDER BY id;
SELECT counting_merge(f) FROM (SELECT counting_signature('a') UNION ALL SELECT counting_signature('a', ngram => 2)) AS two (f);
-- In parallel.
CREATE TABLE many AS SELECT counting_signature(md5(i::text), max_chars => 400) AS f, md5(i::text) AS name FROM generate_series(1, 20) AS i;
INSERT INTO many SELECT f, name FROM many, generate_series(1, 49);
ALTER TABLE many SET (parallel_workers = 2);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS off) SELECT counting_merge(f) FROM many;
SELECT counting_merge(f)::bloom = bloom_union(bloom_signature(name, max_chars => 400)) AS signature, counting_full(counting_merge(f)) > 0 AS "full" FROM many;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
-- What was added can be removed from it.
SELECT removed.f::bloom = bloom_union(bloom_signature(name)) FILTER (WHERE id <> 5) AS without_5
FROM listed, LATERAL (SELECT counting_remove((SELECT counting_merge(f) FROM listed), 'name 5')) AS removed (f) GROUP BY removed.f::text, removed.f::bloom;

-- Tokens: each once in a set, as it is.
SELECT counting_signature_of_tokens('{a,b}', 1), counting_signature_of_tokens('{b,NULL,a,b,a}', 1)::text = counting_signature_of_tokens('{a,b}', 1)::text AS set,
    counting_signature_of_tokens('{}', 1), counting_signature_of_tokens('{NULL}', 1)::text = counting_signature_of_tokens('{}', 1)::text AS of_null, counting_signature_of_tokens(NULL, 1) IS NULL AS "null";
SELECT bool_and(counting_signature_of_tokens(tokens, most, fpr)::bloom = bloom_signature_of_tokens(tokens, most, fpr)) AS same, count(*)
FROM unnest('{"","a","a b b","Müller die der die","Иванов x y z 1 2 3"}'::text[]) AS words, LATERAL (SELECT string_to_array(words, ' ')) AS s (tokens),
    unnest('{1,32,400}'::int[]) AS most, unnest('{0.5,0.01}'::float8[]) AS fpr;
SELECT counting_signature_of_tokens('{a}')::text = counting_signature_of_tokens('{a}', max_tokens => 32, fpr => 0.01)::text AS defaults;
SELECT counting_contains(f, '{a,c}'::text[]) AS a_c, counting_contains(f, '{a,NULL}'::text[]) AS a, counting_contains(f, '{A}'::text[]) AS "A", counting_contains(f, '{}'::text[]) AS none,
    counting_remove(f, '{c,a}'::text[])::text = counting_signature_of_tokens('{b}')::text AS b, counting_remove(f, '{}'::text[])::text = f::text AS same,
    counting_remove(counting_add(f, '{a,d,d}'::text[]), '{d,d,a}'::text[])::text = f::text AS back, counting_add(f, NULL::text[]) IS NULL AS "null"
FROM counting_signature_of_tokens('{a,b,c}') AS f;
SELECT counting_remove(counting_signature_of_tokens('{a,b}'), '{a,c}'::text[]);
SELECT counting_remove(counting_remove(counting_signature_of_tokens('{a,a}'), ARRAY['a']), ARRAY['a']);
-- Two tokens may share counters, of which more than one would be taken.
SELECT counting_contains('(1,5,0):11111', '{a,b,c,d,e,f}'::text[]);
SELECT counting_remove('(1,5,0):11111', '{a,b,c,d,e,f}'::text[]);
SELECT counting_full(counting_add('(1,5,0):eeeee', '{a,b,c,d,e,f}'::text[])), counting_remove('(1,5,0):fffff', '{a,b,c,d,e,f}'::text[]);
-- Texts and tokens do not mix.
SELECT counting_add(counting_signature('a'), '{a}'::text[]);
SELECT counting_remove(counting_signature('a'), '{a}'::text[]);
SELECT counting_contains(counting_signature('a'), '{}'::text[]);
SELECT counting_add(counting_signature_of_tokens('{a}'), 'a');
SELECT counting_remove(counting_signature_of_tokens('{a}'), 'a');
SELECT counting_contains(counting_signature_of_tokens('{a}'), 'a', by_word => true);
SELECT counting_merge('(1,5,0):12345', '(1,5,2):12345');
SELECT counting_merge('(1,5,0):12345', '(1,5,0,hash=1):abcde');
SELECT '(1,5,2,hash=1):12345'::counting_bloom;
SELECT counting_add(counting_signature_of_tokens('{a}'), '{{a,b},{c,d}}'::text[]);
SELECT counting_signature_of_tokens('{a}', 0), counting_signature_of_tokens('{a}', 10001);
SELECT counting_signature_of_tokens('{a}', 10000);
-- A modifier of tokens.
CREATE TABLE tokens (f counting_bloom(1,5,0));
INSERT INTO tokens VALUES ('(1,5,0):12345');
INSERT INTO tokens VALUES ('(1,5,2):12345');
INSERT INTO tokens VALUES (counting_signature_of_tokens('{a}'));
SELECT f, f::bloom, format_type('counting_bloom'::regtype, (SELECT atttypmod FROM pg_attribute WHERE attrelid = 'tokens'::regclass AND attname = 'f')) FROM tokens;
DROP TABLE tokens;
-- An array of many, most of them again and again.
SELECT counting_contains(counting_signature_of_tokens(array_agg((i % 100)::text), 100), '{0,1,99}'::text[]) AS held,
    counting_signature_of_tokens(array_agg((i % 100)::text), 100)::text = counting_signature_of_tokens(array_agg((i % 100)::text) FILTER (WHERE i <= 100), 100)::text AS set
FROM generate_series(1, 200000) AS i;

-- Modifier.
\d listed
INSERT INTO listed VALUES (14, 'x', counting_signature('x', 2));
INSERT INTO listed VALUES (14, 'x', '(2,5,3):0102000003');
UPDATE listed SET f = counting_signature(name, max_chars => 60);
ALTER TABLE listed ALTER f TYPE counting_bloom(7,43,2);
SELECT '(2,5,3):0102000003'::counting_bloom(2,5,3), '(2,5,3):0102000003'::counting_bloom(2,5,4);
SELECT format_type('counting_bloom'::regtype, atttypmod) FROM pg_attribute WHERE attrelid = 'listed'::regclass AND attname = 'f';
CREATE TABLE wrong (f counting_bloom(7,43));
CREATE TABLE wrong (f counting_bloom(7,44,3));
CREATE TABLE wrong (f counting_bloom(7,43,1));
CREATE TABLE wrong (f counting_bloom('a','b','c'));

-- What is malformed.
SELECT 'x'::counting_bloom;
SELECT ''::counting_bloom;
SELECT '(2,5,3)'::counting_bloom;
SELECT '(2,5):0102000003'::counting_bloom;
SELECT '(2,5,3,4):0102000003'::counting_bloom;
SELECT '(2,5,x):0102000003'::counting_bloom;
SELECT '(2,5,3):010200000'::counting_bloom;
SELECT '(2,5,3):01020000030'::counting_bloom;
SELECT '(2,5,3):010200000g'::counting_bloom;
SELECT '(2,5,3):01020000é'::counting_bloom;
SELECT '(0,5,3):'::counting_bloom;
SELECT '(2,9,3):0'::counting_bloom;
SELECT '(2,5,9):0102000003'::counting_bloom;
SELECT '(2,5,3,rules=2):0102000003'::counting_bloom;
SELECT '(2,5,3,key=7):0102000003'::counting_bloom;
SELECT counting_signature('x', 1), counting_signature('x', max_chars => 0);
SELECT counting_signature('x', fpr => 1);

-- Binary.
\getenv results PG_ABS_BUILDDIR
\set file :results '/results/counting.copy'
INSERT INTO listed VALUES (14, '', counting_signature(''));
COPY listed TO :'file' (FORMAT binary);
CREATE TEMP TABLE copied (LIKE listed);
COPY copied FROM :'file' (FORMAT binary);
SELECT count(*), bool_and(a.f::text IS NOT DISTINCT FROM b.f::text) AS same FROM listed AS a JOIN copied AS b USING (id);
CREATE TEMP TABLE copied_wrong (id int, name text, f counting_bloom(7,43,2));
COPY copied_wrong FROM :'file' (FORMAT binary);
-- Damaged bytes: recv and the cast from bytea check the same.
CREATE TEMP TABLE damaged (bytes bytea, what text);
INSERT INTO damaged VALUES ('\x', 'nothing'), ('\x01020500030100', 'header'), ('\x02020500030100001020300000', 'version'), ('\x00020500030100001020300000', 'version 0'),
    ('\x01000500030100001020300000', 'k'), ('\x01020600030100001020300000', 'p'), ('\x01020500010100001020300000', 'q'), ('\x01020500030000001020300000', 'rules'),
    ('\x01020500030109001020300000', 'family'), ('\x01020500030100011020300000', 'key'), ('\x010205000301000010203000', 'short'), ('\x0102050003010000102030000000', 'long'),
    ('\x0101050003010000102030', 'padding');
CREATE FUNCTION refused(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    state text;
    message text;
    detail text;
BEGIN
    EXECUTE statement;
    RETURN 'not refused';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
    RETURN concat(state, ' ', message, '. ', detail);
END $$;
SELECT what, refused(format('SELECT %L::bytea::counting_bloom', bytes)) AS refused FROM damaged;
CREATE TEMP TABLE received (f counting_bloom);
\set file :results '/results/counting_damaged.copy'
CREATE FUNCTION received(bytes bytea, file text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('COPY (SELECT %L::bytea) TO %L (FORMAT binary)', bytes, file);
    RETURN refused(format('COPY received FROM %L (FORMAT binary)', file));
END $$;
SELECT bool_and(received(bytes, :'file') = refused(format('SELECT %L::bytea::counting_bloom', bytes))) AS same, count(*) FROM damaged;

-- Toasted values, compressed or out of line.
CREATE TABLE toasted (id int, f counting_bloom);
INSERT INTO toasted SELECT i, counting_signature(repeat(md5(i::text), 100), max_chars => 5900) FROM generate_series(1, 3) AS i;
ALTER TABLE toasted ALTER f SET STORAGE external;
INSERT INTO toasted SELECT i + 3, counting_signature(repeat(md5(i::text), 100), max_chars => 5900) FROM generate_series(1, 3) AS i;
SELECT a.id, b.id, a.f::text = b.f::text AS equal, counting_merge(a.f, b.f)::bloom = a.f::bloom AS merged, counting_remove(a.f, repeat(md5(a.id::text), 100))::bloom = counting_signature('', max_chars => 5900)::bloom AS removed
FROM toasted AS a JOIN toasted AS b ON b.id = a.id + 3 ORDER BY 1;
SELECT counting_full(counting_merge(f)) FROM toasted;
UPDATE toasted SET f = counting_add(f, 'Erika') WHERE id IN (1, 4);
SELECT bool_and(counting_contains(f, 'Erika')) AS added, bool_or(counting_contains(f, 'Erica')) AS not_added FROM toasted WHERE id IN (1, 4);

-- A newer version has stored it.
CREATE FUNCTION as_counting(bytea, bytea) RETURNS counting_bloom LANGUAGE internal IMMUTABLE STRICT AS 'byteacat';
SELECT counting_full(as_counting('\x02', '\x020500030100001020300000'));
SELECT counting_full(as_counting('\x81', '\x020500030100001020300000'));
DROP TABLE listed, many, toasted;
DROP FUNCTION as_counting, received, refused, removed, added;
