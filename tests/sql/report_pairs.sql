-- The report of pairs that were found before: what it says, and what it must not do.
CREATE SCHEMA report_pairs;
SET search_path = report_pairs, public;
-- A match model made by hand.
CREATE TABLE models (model jsonb);
INSERT INTO models SELECT jsonb_build_object('bloom_ident_model', 1, 'library', '0.1.0', 'rules', 1, 'status', 'converged', 'linkage', false, 'records', 1000, 'pairs', 499500,
    'matches_per_record', 0.2, 'duplicates_per_1000', 200, 'rounds', 9, 'fields', jsonb_agg(jsonb_build_object('name', name, 'kind', kind, 'segment', 23, 'personal', true, 'filled', 0.9, 'bits', 9,
        'm', '[0.3, 0.15, 0.1, 0.05, 0.1, 0.07, 0.05, 0.04, 0.02, 0.02, 0, 0.1]'::jsonb, 'u', '[0.0001, 0.0004, 0.001, 0.002, 0.0015, 0.002, 0.003, 0.01, 0.08, 0.76, 0, 0.14]'::jsonb,
        'rare_level', 0, 'frequent', '{}'::jsonb) ORDER BY i),
    'swap', NULL, 'together', '[]'::jsonb, 'classes', '[{"differ": ["dob"], "pairs_per_record": 0.5, "levels": {
        "Given <name>": [0.3, 0.15, 0.1, 0.05, 0.1, 0.07, 0.05, 0.04, 0.02, 0.02, 0, 0.1],
        "surname": [0.3, 0.15, 0.1, 0.05, 0.1, 0.07, 0.05, 0.04, 0.02, 0.02, 0, 0.1]}}]'::jsonb, 'searches', '[]'::jsonb, 'left_out', '{}'::jsonb)
FROM (VALUES (1, 'Given <name>', 'name'), (2, 'surname', 'name'), (3, 'dob', 'date')) AS f (i, name, kind);
CREATE TABLE person (id integer, "Given <name>" text, surname text, dob date, note text);
INSERT INTO person VALUES (1, 'Anna', 'Kowalski', '1990-01-02', '<script>alert(1)</script>'), (2, 'Anna', 'Kowalsky', '1990-02-01', '" onload="x'), (3, 'Anne', 'Kowalski', '1990-01-02', NULL),
    (4, 'Otto', '<b>Huber</b>', '1950-05-05', NULL), (5, 'Otto', '<b>Hubert</b>', '1950-05-05', NULL), (6, 'Jens', '<b>Huber</b>', NULL, 'a & b');
CREATE TABLE found (a text, b text, probability float8, bits float8);
INSERT INTO found VALUES ('1', '2', 0.93, 4), ('1', '3', 0.99, 7), ('2', '3', 0.52, 0.1), ('4', '5', 1, 20), ('4', '6', 0.31, -1), ('5', '6', 0.12, -3), ('7', '8', 0.6, 1);
CREATE FUNCTION page(columns name[] DEFAULT NULL, model boolean DEFAULT true, truth regclass DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    SELECT bloom_report_pairs('found', 'person', 'id', columns, CASE WHEN $2 THEN (SELECT m.model FROM models AS m) END, truth) $$;
CREATE VIEW one_missing AS SELECT * FROM found WHERE a = '1' UNION ALL SELECT '1', '9', 0.7, 2;
CREATE TABLE pages AS SELECT model, page(model => model) AS page FROM unnest('{true,false}'::boolean[]) AS model;

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
SELECT model, well_formed(page), page ~ '^<!DOCTYPE html>' AS doctype, page !~ '[^\x01-\x7f]' AS ascii,
       regexp_replace(page, '<script.*?</script>', '', 'g') !~* '<script|<link|<img|<iframe|<object|<embed|<base|@import|url\(|https?:|javascript:| src=| href=| on[a-z]+=["a-z]' AS alone FROM pages;
SELECT model, ref, count(*) FROM pages, regexp_matches(page, 'aria-labelledby="([^"]*)"', 'g') AS m, unnest(string_to_array(m[1], ' ')) AS ref,
    regexp_matches(page, ' id="' || ref || '"', 'g') GROUP BY model, ref HAVING count(*) <> 1;

-- The numbers.
CREATE FUNCTION words(page text) RETURNS text LANGUAGE sql AS $$ SELECT regexp_replace(regexp_replace(page, '<[^>]*>', ' ', 'g'), '\s+', ' ', 'g') $$;
SELECT words(m[1]) FROM pages, regexp_matches(page, '<dl class="key">(.*)</dl>') AS m WHERE model;
SELECT m[1] AS bin, m[2] AS pairs, m[3] AS side FROM pages,
    regexp_matches(page, '<tr><th scope="row" class="num">([01][.0-9]*)</th><td class="num">([1-9]\d*)</td><td>(\w+)</td>', 'g') AS m WHERE model;
-- The pairs near the cut, from above to below, and the clusters. Records 7 and 8 are in no table.
SELECT words(m[1]) FROM pages, regexp_matches(page, '<tbody class="pair">(.*?)</tbody>', 'g') AS m WHERE NOT model;
SELECT words(m[1]) FROM pages, regexp_matches(page, '<div class="group">(.*?)</div>', 'g') AS m WHERE NOT model;
SELECT model, page ~ 'Of 2 records shown on this page there are no values' AS missing, page ~ 'What the model says' AS chart, page ~ 'class="why"' AS why FROM pages;

-- The statement can be run: the model is a variable of psql, which the page explains.
SELECT model, s[1] AS statement, page ~ 'There <code>:.model.</code> is a variable' AS explained FROM pages, regexp_matches(page, '<pre><code>(.*?)</code></pre>') AS s;
SELECT words(substring(bloom_report_pairs('one_missing', 'person', 'id'), 'Of 1 record.*?values\.')) AS one;

-- Why. The sum is that of the pair: what the model does not account for has a row of its own.
SELECT words(t[1]) AS why FROM pages, LATERAL (SELECT substring(page, '<tbody class="pair">.*?</section>') AS near) AS n,
    regexp_matches(near, '<table class="why">(.*?)</table>', 'g') AS t WHERE model;
-- Of a pair with the probability that the model gives it, there is no such row, and the sum is that of bloom_model_explain.
CREATE TABLE explained AS SELECT x.id::text AS a, y.id::text AS b, 1 / (1 + 2 ^ -sum(e.bits)) AS probability, sum(e.bits) AS bits
    FROM models AS o, person AS x, person AS y, LATERAL bloom_model_explain(o.model, to_jsonb(x), to_jsonb(y)) AS e WHERE x.id < y.id GROUP BY x.id, y.id;
SELECT DISTINCT ON (e.bits, e.a, e.b) e.a, e.b, e.bits::numeric(6,1), t[2] AS sum, t[1] AS pair, t[3] AS probability, m[1] AS sum_below, m[2] AS probability_below
FROM models, bloom_report_pairs('explained', 'person', 'id', model => model) AS page, regexp_matches(page, '<tbody class="pair">\s*?<tr><td class="num" rowspan="2">([0-9.]+)<.*?<th scope="row">sum</th>.*?<td class="num">([^<]*)</td><td>probability ([0-9.]+)<', 'g') AS t
    JOIN explained AS e ON abs(e.bits - t[2]::float8) <= 0.05 LEFT JOIN regexp_matches(page, 'Why: (\S+) bits, probability ([0-9.]+)</summary>', 'g') AS m ON m[1] = t[2]
WHERE page !~ 'found elsewhere' ORDER BY e.bits, e.a, e.b;
-- What a calibration adds has its name, for the script, too.
SELECT page ~ '"words":\[[^]]*"answers of people"' AS named, page ~ '<th scope="row">answers of people</th>' AS added FROM models, bloom_report_pairs('found', 'person', 'id', model => model || '{"calibration": {"slope": 0.5, "shift": 1, "answers": 70}}') AS page;
-- Pairs by similarity have no probability but that of the model.
CREATE VIEW of_similarity AS SELECT a, b, 0.5 AS similarity FROM explained WHERE (a, b) = ('1', '2');
SELECT t[1] AS similarity, t[2] AS sum, t[3] AS probability FROM models, bloom_report_pairs('of_similarity', 'person', 'id', model => model) AS page, regexp_matches(page, '<tbody class="pair">\s*?<tr><td class="num" rowspan="2">([0-9.]+)<.*?<th scope="row">sum</th>.*?<td class="num">([^<]*)</td><td>probability ([0-9.]+)<', 'g') AS t;
-- Bars to the right are for, to the left against; each begins where the one above it ends.
SELECT m[1] AS field, m[2] AS zero, m[3] AS class, m[4] AS x, m[5] AS width FROM pages, LATERAL (SELECT substring(page, '<table class="why">.*?</table>') AS why) AS w,
    regexp_matches(why, '<th scope="row">([^<]*)</th><td><svg[^>]*><line class="axis" x1="([^"]*)"[^>]*><rect class="(\w+)" x="([^"]*)" y="2" width="([^"]*)"', 'g') AS m WHERE model;
-- Every level of every field is in the chart, or, if no match has it, in the one that is folded.
SELECT rate, fold, count(*), count(*) = (SELECT count(*) FROM bloom_model_levels(m) AS l WHERE (round(l.pairs) = 0) = fold) AS levels
FROM models, unnest('{0.2,0.02}'::float8[]) AS rate, LATERAL (SELECT model || jsonb_build_object('matches_per_record', rate) AS m) AS o, bloom_report_pairs('found', 'person', 'id', model => m) AS page, unnest('{false,true}'::boolean[]) AS fold,
    regexp_matches(substring(page, CASE WHEN fold THEN '<details>\s*?<summary>\d+? levels? that no match has.*?</details>' ELSE '<caption>Bits by field and level.*?</table>' END), '<rect', 'g') GROUP BY rate, fold, m ORDER BY rate, fold;
-- A page of a review queue says so: all of it is worth a look.
CREATE VIEW asked AS SELECT * FROM bloom_review_queue('found', 3);
SELECT pairs, page ~ '"asked":true' AS asked FROM (VALUES ('found'), ('asked')) AS v (pairs), bloom_report_pairs(pairs::regclass, 'person', 'id') AS page;

-- Data are escaped, everywhere; names, too.
SELECT name, page ~ part AS found FROM pages, (VALUES ('script', '&#60;script&#62;alert\(1\)&#60;/script&#62;'), ('quote', '&#34; onload=&#34;x'), ('column', '<th scope="col">Given &#60;name&#62;</th>'),
    ('field', '<th scope="row">Given &#60;name&#62;</th>'), ('value', '&#60;b&#62;Huber'), ('amp', 'a &#38; b')) AS v (name, part) WHERE model;

-- Chosen columns and a truth.
CREATE TABLE truth AS SELECT id AS key, CASE WHEN id <= 3 THEN 'anna' ELSE 'huber' || id END AS cluster FROM person;
SELECT well_formed(page), page !~ 'Kowalski|"note"|>note<' AS chosen, words(m[1]) FROM page('{dob}', truth => 'truth') AS page, regexp_matches(page, '<h2 id="quality">.*?<p>(.*?)</p>') AS m;
-- A pair that comes twice, either way round, counts once.
INSERT INTO found VALUES ('2', '1', 0.9, 4), ('1', '2', 0.93, 4);
SELECT page ~ '<dt>Pairs</dt><dd><span class="n">7</span><br><span class="quiet">of 8 records' AS same FROM page() AS page;
-- By similarity all pairs are taken.
CREATE VIEW by_similarity AS SELECT a, b, probability AS similarity FROM found;
SELECT well_formed(page), page ~ 'The least similar pairs' AS least, words(m[1]) FROM bloom_report_pairs('by_similarity', 'person', 'id') AS page, regexp_matches(page, '<dl class="key">(.*)</dl>') AS m;
-- Nothing to tell.
CREATE TABLE none (a text, b text, probability float8);
SELECT well_formed(page), page ~ 'There are no clusters' AS says_so FROM models, bloom_report_pairs('none', 'person', 'id', model => model) AS page;
CREATE VIEW none_similar AS SELECT a, b, probability AS similarity FROM none;
SELECT well_formed(page) FROM bloom_report_pairs('none_similar', 'person', 'id', '{}') AS page;

-- NULL.
SELECT bloom_report_pairs(NULL, 'person', 'id');
SELECT bloom_report_pairs('found', NULL, 'id');
SELECT bloom_report_pairs('found', 'person', NULL);
SELECT well_formed(bloom_report_pairs('found', 'person', 'id', NULL, NULL, NULL));
-- Errors.
CREATE TABLE no_value (a text, b text);
SELECT bloom_report_pairs('no_value', 'person', 'id');
SELECT bloom_report_pairs('found', 'person', 'nobody');
SELECT bloom_report_pairs('found', 'person', 'id', '{nobody}');
SELECT bloom_report_pairs('found', 'truth', 'key', model => model) FROM models;
SELECT bloom_report_pairs('found', 'person', 'id', model => '{}');
SELECT bloom_report_pairs('found', 'person', 'id', truth => 'person');
INSERT INTO none VALUES ('1', '2', 1.5);
SELECT bloom_report_pairs('none', 'person', 'id');
UPDATE none SET probability = NULL;
SELECT bloom_report_pairs('none', 'person', 'id');
UPDATE none SET (b, probability) = ('1', 0.5);
SELECT bloom_report_pairs('none', 'person', 'id');
INSERT INTO person VALUES (1, 'Another');
SELECT page();
DELETE FROM person WHERE "Given <name>" = 'Another';

-- Privileges and policies are those of the caller.
CREATE ROLE regress_report_pairs;
GRANT USAGE ON SCHEMA report_pairs TO regress_report_pairs;
GRANT SELECT ON found, models TO regress_report_pairs;
GRANT SELECT (id, dob) ON person TO regress_report_pairs;
SET ROLE regress_report_pairs;
SELECT page !~ 'Kowalski' AS hidden, page ~ '1990-01-02|01-02-1990' AS dob FROM page(model => false) AS page;
\set VERBOSITY terse
SELECT page();
\set VERBOSITY default
RESET ROLE;
GRANT SELECT ON person TO regress_report_pairs;
ALTER TABLE person ENABLE ROW LEVEL SECURITY;
CREATE POLICY low ON person USING (id <= 3);
SET ROLE regress_report_pairs;
SELECT page ~ 'Kowalski' AS low, page !~ 'Huber' AS high FROM page() AS page;
RESET ROLE;
DROP OWNED BY regress_report_pairs;
DROP ROLE regress_report_pairs;
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA report_pairs CASCADE;
