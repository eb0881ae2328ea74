-- What the pages are made of.
SET client_min_messages = warning;
CREATE EXTENSION bloom_ident;
CREATE TABLE raw (rec_id text, cluster_id int, given_name text, surname text, street_number text, address_1 text, address_2 text, suburb text, postcode text, state text, date_of_birth text, soc_sec_id text);
\set copy 'COPY raw FROM ' :'csv' ' (FORMAT csv, HEADER)'
:copy;
CREATE TABLE person (rec_id text PRIMARY KEY, given_name text, surname text, address_1 text, suburb text, date_of_birth text, soc_sec_id text, note text,
    sig bloom GENERATED ALWAYS AS (bloom_signature(given_name || ' ' || surname || ' ' || suburb)) STORED);
INSERT INTO person SELECT rec_id, initcap(given_name), initcap(surname), address_1, initcap(suburb), date_of_birth, soc_sec_id, NULL FROM raw;
CREATE VIEW truth AS SELECT rec_id AS key, cluster_id AS cluster FROM raw;
CREATE TABLE decided (a text, b text, decision text, at timestamptz);
INSERT INTO decided SELECT a, b, CASE WHEN x.cluster_id = y.cluster_id THEN 'same' ELSE 'different' END, '2026-01-01'
    FROM bloom_duplicates('person', 'rec_id', 'sig', 0.9) JOIN raw AS x ON x.rec_id = a JOIN raw AS y ON y.rec_id = b ORDER BY a, b LIMIT 40;
-- a model, and the pairs that it finds
CREATE TABLE model AS SELECT bloom_model_fit('person', 'rec_id', '{given_name,surname,address_1,suburb,date_of_birth:date(YYYYMMDD),soc_sec_id}') AS model;
CREATE TABLE found AS SELECT p.* FROM model, bloom_model_duplicates('person', 'rec_id', model, 0.01) AS p;
-- those of them that people are asked about
CREATE TABLE asked AS SELECT * FROM bloom_review_queue('found', 40);
-- the register of the tutorial, with its families
CREATE TABLE register (number integer PRIMARY KEY, given_name text, surname text, born text, street text, postcode text, town text, phone text, email text);
\set copy 'COPY register FROM ' :'register' ' (FORMAT csv, HEADER)'
:copy;
CREATE TABLE reader_model AS SELECT bloom_model_fit('register', 'number') AS model;
CREATE TABLE reader_pair AS SELECT p.* FROM reader_model, bloom_model_duplicates('register', 'number', model) AS p;
-- entities that are kept
CREATE TABLE kept (LIKE person INCLUDING INDEXES);
INSERT INTO kept SELECT rec_id, given_name, surname, address_1, suburb, date_of_birth, soc_sec_id, note FROM person;
SELECT bloom_register_create(bloom_model_fit('kept', 'rec_id', '{given_name,surname,address_1,suburb,date_of_birth:date(YYYYMMDD)}'), 'kept', 'rec_id') \g /dev/null
SELECT bloom_decisions_create('kept_decision') \g /dev/null
SELECT bloom_entities_create('kept_register', 'kept_entity', decisions => 'kept_decision') \g /dev/null
-- more pairs than a page shows
CREATE TABLE many AS SELECT a, b, similarity FROM bloom_duplicates('person', 'rec_id', 'sig', 0.45);
CREATE TABLE original AS SELECT rec_id, given_name, surname, suburb, postcode FROM raw WHERE rec_id LIKE '%-org' AND cluster_id % 5 = 0;
CREATE TABLE copy AS SELECT rec_id, given_name, surname, suburb, state FROM raw WHERE rec_id NOT LIKE '%-org' AND cluster_id % 5 = 0;
CREATE TABLE link AS SELECT o.rec_id AS a, c.rec_id AS b, ident_name_sim(o.given_name || ' ' || o.surname, c.given_name || ' ' || c.surname)::float8 AS similarity
    FROM original AS o JOIN raw AS x USING (rec_id) JOIN raw AS y USING (cluster_id) JOIN copy AS c ON c.rec_id = y.rec_id WHERE o.given_name IS NOT NULL AND o.surname IS NOT NULL AND c.given_name IS NOT NULL AND c.surname IS NOT NULL LIMIT 300;
CREATE TABLE linked_decisions (LIKE decided);
-- pairs that were decided, and records of some of them that have changed since
CREATE TABLE changed (LIKE person INCLUDING ALL);
INSERT INTO changed SELECT rec_id, given_name, surname, address_1, suburb, date_of_birth, soc_sec_id, note FROM person;
CREATE TABLE changed_decision AS SELECT a, b, 'same' AS decision, timestamptz '2026-01-01' AS at, x.hash || ' ' || y.hash AS hash FROM bloom_duplicates('changed', 'rec_id', 'sig', 0.9)
    JOIN bloom_record_hash('changed', 'rec_id', '{date_of_birth}') AS x ON x.key = a JOIN bloom_record_hash('changed', 'rec_id', '{date_of_birth}') AS y ON y.key = b;
UPDATE changed SET date_of_birth = '19000101' WHERE rec_id IN (SELECT a FROM changed_decision ORDER BY a LIMIT 40);
-- how much values differ, also where the page does not show it; each pair is that of a letter, and two of the records are gone
CREATE TABLE degree (key text PRIMARY KEY, name text, body text);
INSERT INTO degree SELECT pair || side, CASE WHEN side = 1 THEN name ELSE coalesce(other, name) END, CASE WHEN side = 1 THEN coalesce(first, body) ELSE coalesce(second, body) END
    FROM (SELECT string_agg('wort' || n, ' ') AS body, string_agg('wort' || n, ' ') FILTER (WHERE n < 130) AS short FROM generate_series(100, 230) AS n) AS b,
    LATERAL (VALUES ('equal_a', 'Erika', NULL, NULL, NULL), ('equal_b', 'Otto', NULL, NULL, NULL),
        ('near_a', 'Mustermann-Lichtenberg', 'Mustermann-Lichtenberk', NULL, NULL), ('near_b', 'Schwarzkopf-Blumenthal', 'Schwarzkopf-Blumenthax', NULL, NULL),
        ('far_a', 'Mustermann', 'Maier', NULL, NULL), ('far_b', 'Hohenlohe', 'Hull', NULL, NULL),
        ('gone_a', 'Erika', NULL, NULL, NULL), ('gone_b', 'Otto', NULL, NULL, NULL),
        ('behind_a', 'Erika', NULL, short, replace(short, 'wort125', 'anders')), ('behind_b', 'Otto', NULL, NULL, replace(body, 'wort225', 'anders')),
        ('moved_a', 'Erika', NULL, 'Alpha ' || short, short || ' Alpha')) AS p (pair, name, other, first, second), generate_series(1, 2) AS side;
CREATE TABLE degrees AS SELECT key AS a, regexp_replace(key, '1$', '2') AS b, 0.9 AS similarity FROM degree WHERE key LIKE '%1';
DELETE FROM degree WHERE key LIKE 'gone%2';
-- keys and values that would do harm if they were taken for anything else
CREATE TABLE odd (key text PRIMARY KEY, name text, other text);
INSERT INTO odd VALUES (U&'</script><script>alert(1)</script>', 'Anna <b>Meier</b>', U&'\2028'), ('"quoted", and ''so''', 'Anna &lt;b>Maier', NULL), (U&'two\2028lines', 'Otto', NULL), ('=1+1', 'Otta', NULL),
    ('back\slash\', 'Eva', NULL), (E'\\''; DROP TABLE odd; --', 'Ewa', NULL), ('', 'empty', NULL), (U&'\+01F600\00FC', 'emoty', NULL), (E'new\nline', 'Jan', NULL), ('__proto__', 'Jana', NULL), ('-- ]]> <!-- <script', 'X', NULL), ('${alert(1)}', 'Y', NULL);
CREATE TABLE odd_pairs AS SELECT min(key COLLATE "C") AS a, max(key COLLATE "C") AS b, 0.5 + n / 20.0 AS similarity FROM (SELECT key, (row_number() OVER (ORDER BY key COLLATE "C") - 1) / 2 AS n FROM odd) AS o GROUP BY n;
-- two groups of records, which one pair links
CREATE TABLE halves AS SELECT k[i] AS a, k[j] AS b, CASE WHEN i = 4 AND j = 5 THEN 0.62 ELSE 0.9 - (i + j) / 100.0 END AS similarity
    FROM (SELECT array_agg(key ORDER BY key COLLATE "C") AS k FROM odd) AS o, generate_series(1, 9) AS i, generate_series(1, 9) AS j WHERE i < j AND (j <= 4 OR i >= 5 OR (i = 4 AND j = 5));
CREATE TABLE decisions (a text NOT NULL, b text NOT NULL, decision text NOT NULL, at timestamptz NOT NULL, hash text);
