-- The report: what it says, and what it must not do.
CREATE SCHEMA "My ""Data";
CREATE TABLE "My ""Data"."Person's" ("Id" integer, "Given <name>" text, note text, born date, sig bloom GENERATED ALWAYS AS (bloom_signature("Given <name>")) STORED, more bloom[]);
INSERT INTO "My ""Data"."Person's" ("Id", "Given <name>", note, born) VALUES
    (1, 'Erika Mustermann', '<script>alert(1)</script>', '1964-08-12'), (2, 'Erica Mustermann', '" onload="x', NULL), (3, 'Erika Musterman', 'a & b', '1964-08-12'),
    (4, 'Jörg Müller', E'two\nlines\x1b[31m', '1971-03-02'), (5, 'Joerg Mueller', repeat('ä', 200) || 'END', '1971-03-02'), (6, 'Sean O''Brien', NULL, NULL), (7, NULL, NULL, NULL), (8, '', NULL, NULL);
CREATE FUNCTION report(VARIADIC text[]) RETURNS text LANGUAGE sql AS $$ SELECT bloom_report('"My ""Data"."Person''s"', 'Id', 'sig', 0.8, format => coalesce($1[1], 'html'), title => $1[2], search_from => 0.75) $$;

CREATE TABLE html AS SELECT report('html', 'Title </title><script>"&') AS page;
-- Structure, and nothing from elsewhere.
SELECT page ~ '^<!DOCTYPE html>\n<html lang="en">' AS doctype, page ~ '</html>\s*$' AS complete, page ~ 'prefers-color-scheme: dark' AS dark, page ~ '@media print' AS print,
       page ~ '<meta name="viewport"' AS viewport, page !~ '[^\x01-\x7f]' AS ascii FROM html;
SELECT regexp_replace(page, '<script.*?</script>', '', 'g') !~* '<script|<link|<img|<iframe|<object|<embed|<base|@import|url\(|https?:|javascript:| src=| href=| on[a-z]+=["a-z]' AS alone FROM html;
SELECT name, opened = closed AS balanced, opened > 0 AS some FROM html,
    unnest('{html,head,body,main,section,table,caption,tr,td,th,svg,g,figure,p,h1,h2,h3,div,span,mark,details,summary,pre,code,dl,dt,dd,title}'::text[]) AS name,
    LATERAL (SELECT count(*) FROM regexp_matches(page, '<' || name || '[ >]', 'g')) AS o (opened),
    LATERAL (SELECT count(*) FROM regexp_matches(page, '</' || name || '>', 'g')) AS c (closed)
ORDER BY balanced, name;
-- Every element ends where it should, attributes are quoted, and nothing else looks like a tag.
CREATE FUNCTION well_formed(page text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    tag CONSTANT text := '<(/?)([a-z][a-z0-9]*)((?:\s+[a-zA-Z0-9-]+="[^"<>]*")*)\s*(/?)>';
    body text := regexp_replace(regexp_replace(page, '<!DOCTYPE html>', ''), '<(style|script)[^>]*?>.*?</\1>', '', 'g');
    opened text[];
    found text[];
BEGIN
    FOR found IN SELECT regexp_matches(body, tag, 'g') LOOP
        IF found[1] = '/' THEN
            IF opened[cardinality(opened)] IS DISTINCT FROM found[2] THEN
                RAISE NOTICE '% ends in %', found[2], opened;
                RETURN false;
            END IF;
            opened := trim_array(opened, 1);
        ELSIF found[4] = '' AND found[2] NOT IN ('meta', 'br') THEN
            opened := opened || found[2];
        END IF;
    END LOOP;
    RETURN cardinality(opened) = 0 AND regexp_replace(body, tag, '', 'g') !~ '[<>]|&(?!#[0-9]+;)';
END $$;
-- It finds what is wrong.
SELECT page, well_formed(page) FROM (VALUES ('<p>a<br>b</p>'), ('<p>a'), ('<p><b>a</p></b>'), ('</p>'), ('<p a=b></p>'), ('<p>a < b</p>'), ('<p>&</p>')) AS v (page);
SELECT well_formed(page) FROM html;
-- Its script and its style may run by their hashes, and nothing else may; no element has a style of its own. Data are no script, and cannot end where they are.
CREATE FUNCTION secure(page text) RETURNS TABLE (scripts bigint, policy boolean, script boolean, style boolean, no_styles boolean, data boolean) LANGUAGE sql AS $$
    SELECT (SELECT count(*) FROM regexp_matches(page, '<script', 'g')), csp ~ '^default-src .none.; script-src .sha256-\S+.; style-src .sha256-\S+.; img-src data:; base-uri .none.; form-action .none.$',
        position(encode(sha256(convert_to(substring(page, '<script>(.*?)</script>'), 'UTF8')), 'base64') IN csp) > 0, position(encode(sha256(convert_to(substring(page, '<style>(.*?)</style>'), 'UTF8')), 'base64') IN csp) > 0,
        regexp_replace(page, '<script.*?</script>', '', 'g') !~ ' style=', substring(page, '<script type="application/json"[^>]*?>(.*?)</script>') ~ '^[ -~]+$' AND substring(page, '<script type="application/json"[^>]*?>(.*?)</script>') !~ '[<>&]'
    FROM substring(page, '<meta http-equiv="Content-Security-Policy" content="([^"]*)">') AS csp $$;
SELECT s.* FROM html, secure(page) AS s;
CREATE FUNCTION data(page text) RETURNS jsonb LANGUAGE sql AS $$ SELECT substring(page, '<script type="application/json"[^>]*?>(.*?)</script>')::jsonb $$;
-- Every id that is referred to is there once.
SELECT ref, count(*) FROM html, regexp_matches(page, 'aria-labelledby="([^"]*)"', 'g') AS m, unnest(string_to_array(m[1], ' ')) AS ref,
    regexp_matches(page, ' id="' || ref || '"', 'g') GROUP BY ref ORDER BY ref COLLATE "C";
-- Data are escaped, everywhere; names, too.
SELECT name, page ~ part AS found FROM html, (VALUES
    ('title', '<title>Title &#60;/title&#62;&#60;script&#62;&#34;&#38;</title>'), ('column', '<th scope="col">Given &#60;name&#62;</th>'),
    ('script', '&#60;script&#62;alert\(1\)&#60;/script&#62;'), ('quote', '&#34; onload=&#34;x'), ('amp', 'a &#38; b'), ('umlaut', 'J&#246;rg M&#252;ller'),
    ('control', 'two lines&#65533;\[31m'), ('cut', '(&#228;){80}\.\.\.'), ('null', '<span class="null">null</span>'),
    ('call', 'SELECT bloom_report\(&#39;&#34;My &#34;&#34;Data&#34;\.&#34;Person&#39;&#39;s&#34;&#39;, &#39;Id&#39;, &#39;sig&#39;, 0\.8,')) AS v (name, part);
SELECT page !~ 'END' AS shortened, page !~ '>sig</th>|>more</th>' AS no_signatures FROM html;
-- Differing characters are marked, against the record to keep.
SELECT m[1] AS marked FROM html, regexp_matches(page, '(Eri<mark>.</mark>a Mustermann|Musterman<span class="gap"[^>]*></span>)', 'g') AS m;

-- The plain form. Date, server and version change.
CREATE FUNCTION show(report text) RETURNS SETOF text LANGUAGE sql AS $$ SELECT regexp_replace(line, '^bloom_ident .*', 'bloom_ident ...') FROM regexp_split_to_table(report, '\n') AS line $$;
\pset format unaligned
\pset tuples_only on
SELECT show(report('text', 'My duplicates'));
-- With a truth, chosen columns and another method.
CREATE VIEW truth AS SELECT "Id" AS key, CASE WHEN "Id" <= 2 THEN 'Erika' WHEN "Id" IN (4, 5) THEN 'Joerg' ELSE 'nobody' || "Id" END AS cluster FROM "My ""Data"."Person's";
SELECT show(bloom_report('"My ""Data"."Person''s"', 'Id', 'sig', 0.75, '{born}', 'truth', 'components', format => 'text', search_from => 0.7));
\pset format aligned
\pset tuples_only off
CREATE TABLE with_truth AS SELECT bloom_report('"My ""Data"."Person''s"', 'Id', 'sig', 0.75, '{born}', 'truth') AS page;
SELECT well_formed(page), page ~ 'Precision is 0\.667, recall 1\.000, F1 0\.800' AS measured, page ~ '<polyline class="recall" points="[0-9., ]+"/>' AS curve,
       page !~ 'Given' AS chosen_columns, regexp_replace(page, '<script.*?</script>', '', 'g') !~* '<script|https?:' AS alone FROM with_truth;
-- Pairs as truth; records that the truth does not know.
CREATE VIEW true_pairs AS SELECT '1' AS a, '2' AS b UNION ALL SELECT '5', '4';
CREATE VIEW part AS SELECT * FROM truth WHERE key <> 3;
SELECT truth, m[1] FROM unnest('{truth,true_pairs,part}'::regclass[]) AS truth,
    regexp_matches(bloom_report('"My ""Data"."Person''s"', 'Id', 'sig', 0.75, '{}', truth), 'which has ([^<]*)') AS m;

-- The report's clusters are those of bloom_clusters, its numbers those of bloom_quality.
CREATE TABLE people AS SELECT i AS id, 'name' || i % 40 || repeat('x', i % 7) AS name, i % 40 AS who, bloom_signature('name' || i % 40 || repeat('x', i % 7)) AS sig FROM generate_series(1, 400) AS i;
CREATE VIEW who AS SELECT id AS key, who AS cluster FROM people;
CREATE TABLE pairs AS SELECT * FROM bloom_duplicates('people', 'id', 'sig', 0.8);
SELECT method, replace(m[1], ',', '')::int = (SELECT max(cluster) FROM bloom_clusters('people', 'id', 'sig', 0.8, method)) AS clusters,
       replace(m[2], ',', '')::int = (SELECT count(*) FROM bloom_clusters('people', 'id', 'sig', 0.8, method)) AS records
FROM unnest('{components,centre,average}'::text[]) AS method,
    regexp_matches(bloom_report('people', 'id', 'sig', 0.8, method => method), '<dt>Clusters</dt><dd><span class="n">([0-9,]+)</span><br><span class="quiet">of ([0-9,]+) records') AS m;
SELECT replace(m[1], ',', '')::int = q.found AS found, replace(m[2], ',', '')::int = q.correct AS correct, m[3]::numeric = round(q.precision::numeric, 3) AS precision,
       m[4]::numeric = round(q.recall::numeric, 3) AS recall
FROM bloom_quality('pairs', 'who') AS q, regexp_matches(bloom_report('people', 'id', 'sig', 0.8, truth => 'who'),
    'at 0.8, ([0-9,]+) pairs are found and ([0-9,]+) of them are true. Precision is ([0-9.]+), recall ([0-9.]+)') AS m;
-- The size is bounded, and the page says what is left out.
SELECT length(regexp_replace(page, '<script.*?</script>', '', 'g')) < 200000 AS small, page ~ '[0-9]+ more clusters are not shown' AS clusters FROM bloom_report('people', 'id', 'sig', 0.95) AS page;
SELECT length(regexp_replace(page, '<script.*?</script>', '', 'g')) < 200000 AS small, page ~ '<h3>Cluster 1</h3>[0-9]+ records, [0-9]+ of them not shown' AS records FROM bloom_report('people', 'id', 'sig', 0.3, method => 'components') AS page;
DO $$ BEGIN EXECUTE 'CREATE TABLE broad AS SELECT id, sig, ' || (SELECT string_agg('id AS c' || i, ', ') FROM generate_series(1, 30) AS i) || ' FROM people'; END $$;
SELECT page ~ '14 more columns are not shown' AS columns, page ~ '>c16</th>' AS shown, page ~ '>c17</th>' AS not_shown FROM bloom_report('broad', 'id', 'sig', 0.95) AS page;

-- Names and titles are data, too: nothing moves on the page, and the statements are those that make it.
CREATE TABLE U&"odd);\202E" (U&"k\0001ey" text, U&"x\2067y" text, sig bloom);
INSERT INTO U&"odd);\202E" SELECT U&'\200F\061C\FEFF' || i, U&'\2028\200B\FFFE' || i, bloom_signature('anna meier') FROM generate_series(1, 2) AS i;
CREATE TABLE odd_report AS SELECT format, bloom_report(U&'"odd);\202E"', U&'k\0001ey', 'sig', 0.8, format => format, title => U&'a\202E\000Ab''\\') AS page FROM unnest('{html,text}'::text[]) AS format;
SELECT format, page !~ '&#(1|8207|1564|65279|8232|8203|65534|8238|8295);' AS html, page !~ U&'[\0001\200F\061C\FEFF\2028\200B\FFFE\202E\2067]' AS text,
       position(E'\n' in substring(page, '^[^\n]*\n')) < 20 AS title, format = 'text' OR well_formed(page) AS well_formed FROM odd_report ORDER BY 1;
-- The statement on the page makes the page.
\pset format unaligned
\pset tuples_only on
SELECT substring(page, '(SELECT bloom_report.*?\);)\n\n') FROM odd_report WHERE format = 'text';
SELECT substring(page, '(SELECT bloom_report.*?\));\n\n') AS statement FROM odd_report WHERE format = 'text' \gset
SELECT show(page) FROM (:statement) AS made(page);
\pset format aligned
\pset tuples_only off
DROP TABLE odd_report, U&"odd);\202E";

-- As plain text a record that is too wide for a terminal goes on on further lines.
SELECT max(length(line)) FROM regexp_split_to_table(bloom_report('broad', 'id', 'sig', 0.95, format => 'text'), '\n') AS line WHERE line !~ 'bloom_';
CREATE TABLE long_values AS SELECT id, repeat('long ' || id || ' ', 100) AS a, repeat(U&'\6F22', 50) AS b, id AS c, repeat('d', 40) AS d, sig FROM people WHERE id IN (1, 41);
\pset format unaligned
\pset tuples_only on
SELECT show(substring(bloom_report('long_values', 'id', 'sig', 0.5, format => 'text'), 'Pairs nearest.*(?=\nHow)'));
\pset format aligned
\pset tuples_only off
DROP TABLE long_values;

-- Nothing to tell.
CREATE TABLE none (id integer, sig bloom);
SELECT well_formed(page), page ~ 'There are no clusters' AS says_so, page ~ '<span class="n">0</span>' AS zero FROM bloom_report('none', 'id', 'sig', 0.8) AS page;
INSERT INTO none SELECT i, bloom_signature(md5(i::text)) FROM generate_series(1, 3) AS i UNION ALL SELECT NULL, NULL;
SELECT well_formed(page), page ~ 'There are no clusters' AS says_so, page ~ '<span class="n">4</span><br><span class="quiet">3 with a signature' AS rows FROM bloom_report('none', 'id', 'sig', 0.8, truth => 'who') AS page;
SELECT threshold, well_formed(bloom_report('none', 'id', 'sig', threshold)), well_formed(bloom_report('people', 'id', 'sig', threshold)) FROM unnest('{0,0.005,0.855,0.999,1}'::float8[]) AS threshold;
SELECT bloom_report(NULL, 'id', 'sig', 0.8);
SELECT bloom_report('none', 'id', 'sig', NULL);
SELECT bloom_report('none', 'id', 'sig', 0.8, format => NULL);


-- Below the threshold it searches only where it is asked to, and it says so.
SELECT from_on, (regexp_match(page, 'each bar 0.01 wide.*?(What is less|To show)([^.]|\.\d)*'))[1] AS says, (SELECT min(m[1]) FROM regexp_matches(page, '<th scope="row" class="num">([01][.0-9]*)</th><td class="num">[0-9,]*</td><td>', 'g') AS m) AS least
FROM unnest('{NULL,0.7,0.8,0.805}'::float8[]) AS from_on, bloom_report('people', 'id', 'sig', 0.805, search_from => from_on) AS page;
SELECT bloom_report('none', 'id', 'sig', 0.8, search_from => 0.9);
SELECT bloom_report('none', 'id', 'sig', 0.8, search_from => -0.1);

-- The script counts all pairs at every threshold, whichever are shown.
SELECT count(*) AS thresholds, bool_and(pairs.n::int = (SELECT count(*) FROM pairs WHERE similarity >= at.t::float8)) AS pairs,
    bool_and(records.n::int = (SELECT count(DISTINCT k) FROM pairs, unnest(ARRAY[a, b]) AS k WHERE similarity >= at.t::float8)) AS records,
    bool_and(same.n::int = (SELECT count(*) FROM pairs JOIN who AS x ON x.key::text = a JOIN who AS y ON y.key::text = b WHERE similarity >= at.t::float8 AND x.cluster = y.cluster)) AS same
FROM (SELECT data(bloom_report('people', 'id', 'sig', 0.8, truth => 'who')) -> 'counts' AS c OFFSET 0) AS d, jsonb_array_elements_text(c -> 'at') WITH ORDINALITY AS at (t, i)
    JOIN jsonb_array_elements_text(c -> 'pairs') WITH ORDINALITY AS pairs (n, i) USING (i) JOIN jsonb_array_elements_text(c -> 'records') WITH ORDINALITY AS records (n, i) USING (i)
    JOIN jsonb_array_elements_text(c -> 'truth' -> 'same') WITH ORDINALITY AS same (n, i) USING (i);
-- Pairs to be decided, the same ones however often one asks, with what differs in normal form. Signatures are made of the name.
SELECT data(bloom_report('people', 'id', 'sig', 0.3)) -> 'pairs' = data(bloom_report('people', 'id', 'sig', 0.3)) -> 'pairs' AS same, jsonb_array_length(data(bloom_report('people', 'id', 'sig', 0.3)) -> 'pairs') AS shown,
    data(bloom_report('people', 'id', 'sig', 0.3)) -> 'total' AS total;
SELECT d -> 'columns' AS columns, p -> 'marks' AS marks, p -> 'alike' AS alike FROM data(bloom_report('"My ""Data"."Person''s"', 'Id', 'sig', 0.75)) AS d, jsonb_array_elements(d -> 'pairs') AS p;

-- What people have decided. The newest decision about a pair counts, either way round.
CREATE TABLE decided (a text, b text, decision text, at timestamptz);
INSERT INTO decided VALUES ('1', '2', 'different', '2026-01-01'), ('2', '1', 'same', '2026-01-02'), ('3', '1', 'unsure', '2026-01-01');
SELECT p ->> 'was' AS was, p -> 'stale' AS stale FROM jsonb_array_elements(data(bloom_report('"My ""Data"."Person''s"', 'Id', 'sig', 0.75, decisions => 'decided')) -> 'pairs') AS p;
SELECT well_formed(page), m[1] AS judged FROM bloom_report('"My ""Data"."Person''s"', 'Id', 'sig', 0.75, decisions => 'decided') AS page, regexp_matches(page, '<span class="quiet">(judged [^<]*)</span>', 'g') AS m;
SELECT m[1] AS judged FROM bloom_report('"My ""Data"."Person''s"', 'Id', 'sig', 0.75, decisions => 'decided', format => 'text') AS page, regexp_matches(page, 'duplicates, (judged \S*)', 'g') AS m;
SELECT bloom_report('none', 'id', 'sig', 0.8, decisions => 'none');
INSERT INTO decided VALUES ('1', '2', 'maybe', now());
SELECT bloom_report('none', 'id', 'sig', 0.8, decisions => 'decided');
UPDATE decided SET decision = NULL WHERE decision = 'maybe';
SELECT bloom_report('none', 'id', 'sig', 0.8, decisions => 'decided');
DROP TABLE decided;

-- Errors.
SELECT bloom_report('none', 'id', 'sig', 0.8, format => 'pdf');
SELECT bloom_report('none', 'id', 'sig', 0.8, method => 'single');
SELECT bloom_report('none', 'id', 'sig', 1.1);
SELECT bloom_report('none', 'id', 'sig', 0.8, columns => '{nobody}');
SELECT bloom_report('none', 'id', 'sig', 0.8, columns => '{NULL}');
SELECT bloom_report('none', 'id', 'sig', 0.8, truth => 'none');
SELECT bloom_report('none', 'id', 'id', 0.8);

-- A key that several records have.
CREATE TABLE twice (id integer, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
INSERT INTO twice VALUES (1, 'anna meier'), (1, 'otto huber'), (2, 'anna meier'), (3, 'anna meyer');
SELECT bloom_report('twice', 'id', 'sig', 0.8);
INSERT INTO twice VALUES (2, 'otto huber'), (3, 'otto huber');
SELECT bloom_report('twice', 'id', 'sig', 0.8, truth => 'who');
DROP TABLE twice;

-- Privileges and policies are those of the caller: a column that it may not read is not shown.
CREATE ROLE regress_report;
GRANT USAGE ON SCHEMA "My ""Data" TO regress_report;
SET ROLE regress_report;
SELECT report('html');
RESET ROLE;
GRANT SELECT ("Id", sig, born) ON "My ""Data"."Person's" TO regress_report;
SET ROLE regress_report;
SELECT page ~ '08-12' AS born, page ~ 'Mustermann|Given' AS name FROM report('html') AS page;
SELECT bloom_report('"My ""Data"."Person''s"', 'Id', 'sig', 0.8, '{note}');
SELECT bloom_report('"My ""Data"."Person''s"', 'Id', 'sig', 0.8, truth => 'truth');
RESET ROLE;
GRANT SELECT ON "My ""Data"."Person's" TO regress_report;
ALTER TABLE "My ""Data"."Person's" ENABLE ROW LEVEL SECURITY;
CREATE POLICY low ON "My ""Data"."Person's" USING ("Id" <= 2);
SET ROLE regress_report;
SELECT page ~ '<span class="n">2</span><br><span class="quiet">2 with a signature' AS two, page ~ 'Musterman<span|1971|M&#252;ller' AS others FROM report('html') AS page;
RESET ROLE;

-- What a schema before others on the search_path has is not called.
CREATE SCHEMA evil;
CREATE FUNCTION evil.bloom_duplicates(regclass, name, name, float8, OUT a text, OUT b text, OUT similarity float8) RETURNS SETOF record
    LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'attacked'; END $$;
CREATE FUNCTION evil.attack(anyelement, anyelement) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'attacked'; END $$;
CREATE OPERATOR evil.= (LEFTARG = anyelement, RIGHTARG = anyelement, FUNCTION = evil.attack);
CREATE OPERATOR evil.<> (LEFTARG = anyelement, RIGHTARG = anyelement, FUNCTION = evil.attack);
CREATE FUNCTION evil.count("any") RETURNS bigint LANGUAGE internal AS 'int8inc';
CREATE VIEW evil.people AS SELECT 1 / 0 AS id, NULL::bloom AS sig;
CREATE VIEW evil.who AS SELECT 1 / 0 AS key, 1 AS cluster;
SET search_path = evil, public, pg_catalog;
SELECT pg_catalog.length(public.bloom_report('public.people', 'id', 'sig', 0.8::float8, truth => 'public.who')) > 1000 AS made;
RESET search_path;
\set VERBOSITY terse
DROP SCHEMA evil, "My ""Data" CASCADE;
DROP VIEW who, true_pairs;
DROP TABLE people, broad, none, html, with_truth, pairs;
DROP FUNCTION report, well_formed, show, secure, data;
DROP ROLE regress_report;
