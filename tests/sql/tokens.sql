-- Tokens of texts, JSON values, sequences and baskets; their exact similarity; their signatures.

-- Texts.
SELECT ident_tokens('The world is for you to get over with!') AS a, ident_tokens('Let''s take over the world!') AS b \gset
SELECT :'a'::text[], :'b'::text[], ident_token_sim(:'a', :'b') = 3 / 11.0::float8 AS three_of_eleven, ident_token_containment(:'a', :'b') = 3 / 9.0::float8 AS three_of_nine;
SELECT ident_tokens('Pay -3.50 € (or +1,200.5%), v1.5; 10-20 ...'), ident_tokens(''), ident_tokens(E' \t\n - '), ident_tokens(NULL::text);
SELECT ident_words('Let''s pay 3.50 €, e_mail!') AS runs, ident_words('Let''s pay 3.50 €, e_mail!', uax29 => true) AS uax29, ident_words('STRAẞE ΟΔΟΣ'), ident_words('');
SELECT ident_words(E'cafe\u0301') = ident_words('café') AS composed, ident_tokens(E'foot\u00adball');

-- JSON values.
SELECT ident_tokens('{"browser":"Mozilla Firefox","plugins":"Flash,Silverlight","zipcode":20121}'::jsonb);
SELECT t FROM unnest(ident_tokens('{"browser":"Google Chrome","plugins":"Flash,Java","likes":[123,124]}'::jsonb)) AS t ORDER BY t;
SELECT ident_tokens('{"plugins":[{"name":"Flash","versions":[1.0,1,2.50]},{"name":null}],"active":true,"lists":[[1],[[2]]]}'::jsonb);
SELECT ident_tokens('"Mozilla, Firefox"'::jsonb), ident_tokens('1.0'::jsonb), ident_tokens('-0.0'::jsonb), ident_tokens('true'::jsonb), ident_tokens('null'::jsonb), ident_tokens('{}'::jsonb), ident_tokens('[]'::jsonb);
SELECT ident_tokens('{"a":1.0}'::jsonb) = ident_tokens('{"a":1}'::jsonb) AS one, ident_tokens('{"a":[-1.50,1e3,12345678901234567890.10,0.0001]}'::jsonb);
SELECT key, ident_tokens(jsonb_build_object(key, 1)), ident_tokens(jsonb_build_object(key, 1), singular => false) AS as_it_is
FROM unnest('{status,address,categories,boxes,addresses,searches,hashes,analysis,plugins,os,Screen Sizes,user_names,--}'::text[]) AS key;
-- A key as deep as the server lets it.
SELECT cardinality(ident_tokens((repeat('[', 3000) || '1' || repeat(']', 3000))::jsonb)),
       ident_tokens((repeat('{"":', 3000) || '1' || repeat('}', 3000))::jsonb);

-- Lists.
SELECT ident_shingles('{the,world,is,for,you}', 3), ident_shingles('{hello,world}', 3), ident_shingles('{}', 3), ident_shingles('{a,b,NULL,c}', 2), ident_shingles('{a,b}', 1);
SELECT ident_sequence('{/home,/search,/item}'), ident_sequence('{a,NULL,b}'), ident_sequence('{}');
SELECT ident_windows('{home,search,item,cart}', 3), ident_windows('{home}', 3), ident_windows('{}', 2);
SELECT ident_multiset('{milk,bread,milk,NULL,milk}'), ident_multiset('{}');
-- Two litres against three: the lesser counts by the greater ones.
SELECT ident_token_sim(ident_multiset('{milk,milk,bread}'), ident_multiset('{milk,milk,milk}')) = 2 / 4.0::float8 AS of_multisets;
SELECT ident_token_sim('{a,b}', '{b,a,a}'), ident_token_sim('{}', '{}'), ident_token_sim('{a}', '{}'), ident_token_sim('{a,NULL}', '{a}'),
       ident_token_containment('{a,b}', '{b,c}'), ident_token_containment('{}', '{a}'), ident_token_sim('{""}', '{""}'), ident_token_sim(NULL, '{a}');
-- 10 common tokens of 32.
SELECT ident_token_sim(ARRAY(SELECT generate_series(1, 20)::text), ARRAY(SELECT generate_series(11, 32)::text)) = 10 / 32.0::float8 AS ten_of_32;
SELECT ident_shingles('{a}', 0);
SELECT ident_windows('{a}', -1);
SELECT ident_token_sim('{{a,b},{c,d}}', '{a}');
SELECT ident_multiset('{{a}}');

-- Signatures.
SELECT bloom_signature_of_tokens('{lets,take,over,the,world}') AS sig \gset
SELECT :'sig'::bloom, bloom_bits(:'sig'::bloom), :'sig'::bloom::jsonb - 'bits' AS json, :'sig'::bloom::bytea;
SELECT bloom_signature_of_tokens('{world,the,over,take,lets,lets,NULL}') = :'sig' AS of_the_set, bloom_bits(bloom_signature_of_tokens('{}')) AS empty;
SELECT * FROM bloom_plan(100, 0, 0.01);
SELECT k, p, n FROM bloom_plan(32, 0) UNION ALL SELECT k, p, n FROM bloom_plan(30, 3);
SELECT bloom_signature_of_tokens('{a}', 100, 0.05) AS of_one \gset
SELECT bloom_bits(:'of_one') AS k, bloom_contains(:'of_one', '{a}'::text[]), bloom_contains(:'of_one', '{a,b}'::text[]), bloom_contains(:'of_one', '{}'::text[]), bloom_contains(:'of_one', '{NULL}'::text[]);
SELECT bloom_add(:'of_one', '{b,c}'::text[]) = bloom_signature_of_tokens('{a,b,c}', 100, 0.05) AS added, bloom_ngram_count(bloom_add(:'of_one', '{b,c,d,e}'::text[])) BETWEEN 4 AND 6 AS counted;
SELECT bloom_signature_of_tokens('{a}', 0);
SELECT bloom_signature_of_tokens('{a}', 10001);
SELECT bloom_signature_of_tokens('{a}', 10000, 0.01);
SELECT bloom_signature_of_tokens('{a}', 32, 1);
SELECT bloom_signature_of_tokens('{{a}}');
SELECT bloom_signature('a', 0);

-- A signature of tokens takes no text, one of n-grams no tokens, and they never compare.
SELECT bloom_add(:'of_one', 'a');
SELECT bloom_contains(:'of_one', 'a');
SELECT bloom_add(bloom_signature('a'), '{a}'::text[]);
SELECT bloom_contains(bloom_signature('a'), '{a}'::text[]);
SELECT bloom_sim(:'sig', bloom_signature('a'));
SELECT :'sig'::bloom <-> :'of_one';
SELECT bloom_union(s) FROM (VALUES (:'sig'::bloom), (bloom_signature('a'))) AS v (s);
SELECT :'sig'::bloom % bloom_query(bloom_signature('a'), 0.5);
SELECT :'sig'::bloom = bloom_signature('a') AS equal, :'sig'::bloom < bloom_signature('a') AS before;

-- Forms: q = 0 says the family, which may be said, too.
SELECT '(2,5,0):1001'::bloom, '(2,5,0,hash=1):1001'::bloom, '{"k":2,"p":5,"q":0,"bits":[4,8]}'::jsonb::bloom, '{"k":2,"p":5,"q":0,"hash":1,"bits":[4,8]}'::jsonb::bloom,
       B'0000100010'::bloom(2,5,0), '(2,5,0):1001'::bloom::bytea::bloom, '0.5 (2,5,0):1001'::bloom_query;
SELECT '(2,5,0,hash=0):1001'::bloom;
SELECT '(2,5,3,hash=7):1001'::bloom;
SELECT '{"k":2,"p":5,"q":0,"hash":0,"bits":[]}'::jsonb::bloom;
SELECT '{"k":2,"p":5,"q":0,"hash":null,"bits":[]}'::jsonb::bloom;
SELECT '\x0102050000010000020000001001'::bytea::bloom;

-- A column of one shape; binary copies; what a generated column computes.
CREATE TABLE basket (id int PRIMARY KEY, tokens text[], sig bloom(7,43,0) GENERATED ALWAYS AS (bloom_signature_of_tokens(tokens)) STORED);
\d basket
INSERT INTO basket VALUES (0, NULL), (1, '{}'), (2, '{milk,bread,butter}');
SELECT id, sig FROM basket ORDER BY id;
CREATE TABLE other (sig bloom(7,43,0));
INSERT INTO other VALUES (bloom_signature('a'));
INSERT INTO other VALUES (:'of_one');
SELECT 'a'::text AS a, bloom_signature('a')::bloom(7,43,0);
\getenv abs_builddir PG_ABS_BUILDDIR
\set file :abs_builddir '/results/tokens.bin'
COPY (SELECT sig FROM basket WHERE sig IS NOT NULL) TO :'file' (FORMAT binary);
COPY other FROM :'file' (FORMAT binary);
SELECT count(*) AS copied FROM other JOIN basket USING (sig);
TRUNCATE basket;

-- Baskets of goods, some of which are copies with one thing changed: the same pairs by the table and by either index.
INSERT INTO basket SELECT i, array_agg('item' || hashint4(b * 31 + j) % 300 ORDER BY j) || CASE WHEN i <> b THEN ARRAY['extra' || i] END
FROM generate_series(1, 3000) AS i, LATERAL (SELECT i - i % 3 AS b) AS base, generate_series(1, 6 + hashint4(b) % 6 + 6) AS j GROUP BY i, b;
CREATE TEMP VIEW asked AS SELECT id, sig FROM basket WHERE id % 500 = 1;
CREATE FUNCTION found(OUT hits bigint, OUT nearest text, OUT above bigint, OUT containing bigint) LANGUAGE sql AS $$
    SELECT (SELECT count(*) FROM asked AS q, LATERAL (SELECT FROM basket AS b WHERE b.sig % bloom_query(q.sig, 0.7)) AS l),
           (SELECT string_agg(d, ' ' ORDER BY q.id) FROM asked AS q, LATERAL (SELECT string_agg(round(distance::numeric, 6)::text, ',') AS d FROM (SELECT b.sig <-> q.sig AS distance FROM basket AS b ORDER BY b.sig <-> q.sig LIMIT 3) AS n) AS l),
           (SELECT count(*) FROM asked AS q, LATERAL (SELECT FROM basket AS b WHERE bloom_sim(b.sig, q.sig) > 0.72) AS l),
           (SELECT count(*) FROM asked AS q, LATERAL (SELECT FROM basket AS b WHERE b.sig @> q.sig) AS l) $$;
CREATE TEMP TABLE by_table AS SELECT * FROM found();
SELECT hits > 10 AS hits, above BETWEEN 6 AND hits AS above, containing >= 6 AS containing FROM by_table;
CREATE INDEX basket_sig ON basket USING sigfile (sig);
VACUUM ANALYZE basket;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM basket WHERE bloom_sim(sig, bloom_signature_of_tokens('{item1,item2}')) > 0.72;
EXPLAIN (COSTS OFF) SELECT id FROM basket ORDER BY sig <-> bloom_signature_of_tokens('{item1,item2}') LIMIT 3;
SELECT found() = (SELECT t FROM by_table AS t) AS sigfile;
SELECT bloom_sigfile_check('basket_sig');
SELECT id FROM basket WHERE sig % bloom_query(bloom_signature('a'), 0.5);
INSERT INTO basket SELECT 10000 + i, ARRAY['a', 'b', i::text] FROM generate_series(1, 5) AS i;
SELECT id FROM basket WHERE sig % bloom_query(bloom_signature_of_tokens('{a,b,3}'), 0.9);
DELETE FROM basket WHERE id > 10000;
SET enable_seqscan = on;
-- The jobs, by the index and by the table.
CREATE TEMP TABLE pairs AS SELECT * FROM bloom_duplicates('basket', 'id', 'sig', 0.8);
DROP INDEX basket_sig;
SELECT count(*) > 900 AS many, count(*) = (SELECT count(*) FROM pairs) AS same FROM (SELECT * FROM pairs INTERSECT SELECT * FROM bloom_duplicates('basket', 'id', 'sig', 0.8)) AS i;
CREATE INDEX basket_gist ON basket USING gist (sig);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM basket WHERE bloom_sim(sig, bloom_signature_of_tokens('{item1,item2}')) > 0.72;
SELECT found() = (SELECT t FROM by_table AS t) AS gist;
SET enable_seqscan = on;
SELECT max(size) AS largest, count(*) > 900 AS clusters FROM (SELECT count(*) AS size FROM bloom_clusters('pairs', 0.8) GROUP BY cluster) AS c;
SELECT count(*) > 900 AS linked FROM bloom_linkage('basket', 'id', 'sig', 'basket', 'id', 'sig', 0.8);
SELECT (regexp_match(bloom_report('basket', 'id', 'sig', 0.8, format => 'text'), '[^\n]*pairs[^\n]*'))[1] AS reported;

-- Constraint and guard.
CREATE TABLE unique_basket (id int PRIMARY KEY, tokens text[], sig bloom GENERATED ALWAYS AS (bloom_signature_of_tokens(tokens)) STORED,
    EXCLUDE USING sigfile ((bloom_query(sig, 0.7)) WITH %));
INSERT INTO unique_basket VALUES (1, '{a,b,c,d,e,f,g,h}');
INSERT INTO unique_basket VALUES (2, '{a,b,c,d,e,f,g,h,i}');
INSERT INTO unique_basket VALUES (2, '{a,b,c,d,x,y,z}');
CREATE TABLE guarded (id int PRIMARY KEY, tokens text[], sig bloom GENERATED ALWAYS AS (bloom_signature_of_tokens(tokens)) STORED);
CREATE INDEX ON guarded USING sigfile (sig);
SELECT bloom_guard_create('guarded', 'sig', 0.7, 'reject');
INSERT INTO guarded VALUES (1, '{a,b,c,d,e,f,g,h}');
INSERT INTO guarded VALUES (2, '{a,b,c,d,e,f,g,h,i}');
INSERT INTO guarded VALUES (2, '{a,b,c,d,x,y,z}');
SELECT * FROM bloom_blocklist(bloom_signature_of_tokens('{a,b,c,d,e,f,g,i}'), 'guarded', 'sig', 0.6);

-- A long list: tens of thousands of tokens take milliseconds, not minutes.
SELECT cardinality(w), cardinality(ident_shingles(w, 3)), cardinality(ident_multiset(w)), bloom_fill(bloom_signature_of_tokens(w)) > 0.99 AS full, ident_token_sim(w, w)
FROM (SELECT ident_words(string_agg('word' || i % 9999, ' ')) AS w FROM generate_series(1, 50000) AS i) AS l;
DROP FUNCTION found;
DROP VIEW asked;
DROP TABLE basket, other, unique_basket, guarded;

-- Chinese, Japanese and Korean text: characters and their pairs.
SELECT t, ident_characters(t) FROM unnest('{高石早苗, 高石　早苗, 株式会社Sony, ｶﾞｰﾄﾞ, 김철수, 第3回, マイケル・ジャクソン, Müller O''Brien, 々, "", "・", NULL}'::text[]) AS t;
SELECT ident_characters(U&'\1100\1175\11B7'), ident_characters(U&'\845B\+0E0100'), ident_characters(U&'\+020000');
SELECT ident_token_sim(ident_characters('高石早苗'), ident_characters(b)) AS exact,
       round(bloom_sim(bloom_signature_of_tokens(ident_characters('高石早苗')), bloom_signature_of_tokens(ident_characters(b)))::numeric, 3) AS bits
FROM unnest('{高石早苗, 高市早苗, 高石早紀, 田中花子}'::text[]) AS b;
SELECT cardinality(ident_characters(repeat('高石早苗', 500000))), cardinality(ident_characters(repeat('x', 1000000))), cardinality(ident_characters(repeat('x ', 1000000)));
