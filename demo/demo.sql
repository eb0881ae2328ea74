-- Duplicates in two registers of persons, found by match models and by one signature, and held against the truth; a spam campaign. Run by `make demo`;
-- data_dir names the directory with febrl3.csv and people.csv, report the file that the report goes to.
\set QUIET on
\pset pager off
\pset footer off
\pset null '-'
\set febrl_csv :data_dir '/febrl3.csv'
\set people_csv :data_dir '/people.csv'
SET client_min_messages = warning;
SET jit = off;

-- :begin and :end are before and after what is timed; :seconds is what it took.
\set begin 'SELECT clock_timestamp() AS began \\gset'
\set end 'SELECT round(extract(epoch FROM clock_timestamp() - :''began''::timestamptz)::numeric, 2) AS seconds \\gset'

\echo
\echo '== 1. A register: FEBRL 3, 5,000 records of 2,000 persons, with typing errors and gaps'
\echo

CREATE EXTENSION bloom_ident;
CREATE TABLE result (register text, by text, seconds numeric, found bigint, "of" bigint, correct bigint, precision numeric, recall numeric, f1 numeric);

\set ECHO queries
CREATE TABLE person (
    rec_id        text PRIMARY KEY,
    given_name    text,
    surname       text,
    street_number text,
    address_1     text,
    address_2     text,
    suburb        text,
    postcode      text,
    state         text,
    date_of_birth text,
    soc_sec_id    text,
    -- for the second way, and for the guard: the whole record in one signature, planned for 120 characters
    sig bloom GENERATED ALWAYS AS (bloom_signature_of_fields(3, 120, 0.01,
        given_name, surname, address_1, address_2, suburb, postcode,
        date_of_birth, soc_sec_id)) STORED,
    -- for searching: the name alone
    name_sig bloom GENERATED ALWAYS AS (bloom_signature(given_name || ' ' || surname)) STORED
);
\set ECHO none
CREATE TEMP TABLE loaded (rec_id text, cluster_id integer, given_name text, surname text, street_number text, address_1 text, address_2 text,
    suburb text, postcode text, state text, date_of_birth text, soc_sec_id text);
COPY loaded FROM :'febrl_csv' (FORMAT csv, HEADER);
-- What a model does not see: the same person, the same number.
CREATE TABLE truth AS SELECT rec_id AS key, cluster_id AS cluster FROM loaded;
ALTER TABLE loaded DROP cluster_id;
INSERT INTO person SELECT * FROM loaded;
ANALYZE person;

\echo '== 2. A match model learns from the records alone what agreement in each field says'
\echo
:begin
\set ECHO queries
CREATE TABLE model AS SELECT bloom_model_fit('person', 'rec_id') AS model;
CREATE TABLE pair AS SELECT pair.* FROM model, bloom_model_duplicates('person', 'rec_id', model) AS pair;
\set ECHO none
:end
INSERT INTO result SELECT 'FEBRL 3', 'match model, no threshold chosen', :seconds, found, true_pairs, correct, precision, recall, f1 FROM bloom_quality('pair', 'truth');

\set ECHO queries
SELECT model ->> 'status' AS status, round((model ->> 'matches_per_record')::numeric * 5000) AS "pairs expected",
       (SELECT count(*) FROM pair) AS found, (SELECT sum(n * (n - 1) / 2) FROM (SELECT count(*) AS n FROM truth GROUP BY cluster) AS person) AS "of true pairs"
FROM model;
\set ECHO none

\echo '== 3. The second way: one signature of the record, and a threshold that somebody has to choose'
\echo
:begin
\set ECHO queries
CREATE INDEX person_sig ON person USING sigfile (sig);
CREATE TABLE alike AS SELECT * FROM bloom_duplicates('person', 'rec_id', 'sig', 0.4);
\set ECHO none
:end
\set ECHO queries
SELECT threshold, found, correct, round(precision::numeric, 4) AS precision, round(recall::numeric, 4) AS recall, round(f1::numeric, 4) AS f1
FROM bloom_threshold_sweep('alike', 'truth', 0.1) WHERE threshold BETWEEN 0.39 AND 0.91;
\set ECHO none
INSERT INTO result SELECT 'FEBRL 3', 'similarity ' || round(threshold::numeric, 2) || ', the best threshold', :seconds, found, round(correct / recall), correct, precision, recall, f1
    FROM bloom_threshold_sweep('alike', 'truth', 0.01) ORDER BY f1 DESC LIMIT 1;

\echo '== 4. A harder register: 20,000 records of people with families, who share surname, address and telephone, move, marry, and are misspelt'
\echo
\set ECHO queries
CREATE TABLE people (
    id text PRIMARY KEY, given_name text, surname text, dob text, street text, city text, postcode text, phone text, email text,
    sig bloom GENERATED ALWAYS AS (bloom_signature_of_fields(3, 120, 0.01, given_name, surname, dob, street, city, postcode, phone, email)) STORED
);
\set ECHO none
CREATE TEMP TABLE loaded_people (id text, entity text, given_name text, surname text, dob text, street text, city text, postcode text, phone text, email text);
COPY loaded_people FROM :'people_csv' (FORMAT csv, HEADER);
CREATE TABLE people_truth AS SELECT id AS key, entity AS cluster FROM loaded_people;
ALTER TABLE loaded_people DROP entity;
INSERT INTO people SELECT * FROM loaded_people;
ANALYZE people;
:begin
\set ECHO queries
CREATE TABLE people_model AS SELECT bloom_model_fit('people', 'id') AS model;
CREATE TABLE people_pair AS SELECT pair.* FROM people_model, bloom_model_duplicates('people', 'id', model) AS pair;
\set ECHO none
:end
INSERT INTO result SELECT 'people with families', 'match model, no threshold chosen', :seconds, found, true_pairs, correct, precision, recall, f1 FROM bloom_quality('people_pair', 'people_truth');
:begin
CREATE INDEX people_sig ON people USING sigfile (sig);
CREATE TABLE people_alike AS SELECT * FROM bloom_duplicates('people', 'id', 'sig', 0.55);
:end
INSERT INTO result SELECT 'people with families', 'similarity ' || round(threshold::numeric, 2) || ', the best threshold', :seconds, found, round(correct / recall), correct, precision, recall, f1
    FROM bloom_threshold_sweep('people_alike', 'people_truth', 0.01) ORDER BY f1 DESC LIMIT 1;
\set ECHO queries
SELECT class, meaning, round(pairs) AS pairs FROM people_model, bloom_model_classes(model);
\set ECHO none

\echo 'Both registers, held against the truth. precision: share of the pairs found that are the same person; recall: share of the true pairs that were found;'
\echo 'F1: their harmonic mean. The best threshold is known only to those who know the truth; the model was given nothing.'
\echo
SELECT register, by, seconds, found, "of" AS "of true", round(precision, 4) AS precision, round(recall, 4) AS recall, round(f1, 4) AS "F1" FROM result;

\echo 'Who is more alike need not be the same: the most similar pairs that the model refuses, and the least similar of which it is sure'
\echo
CREATE VIEW shown AS SELECT id, concat_ws(' ', given_name, surname, dob, street, city, phone) AS record FROM people;
\pset columns 200
(SELECT round(similarity::numeric, 2) AS similarity, '-' AS probability, x.record AS a, y.record AS b
FROM people_alike LEFT JOIN people_pair USING (a, b) JOIN shown AS x ON x.id = a JOIN shown AS y ON y.id = b WHERE probability IS NULL ORDER BY people_alike.similarity DESC, a LIMIT 2)
UNION ALL
(SELECT round(similarity::numeric, 2), round(probability::numeric, 3)::text, x.record, y.record
FROM people_alike JOIN people_pair USING (a, b) JOIN shown AS x ON x.id = a JOIN shown AS y ON y.id = b WHERE probability > 0.99 ORDER BY people_alike.similarity, a LIMIT 2);

\echo '== 5. Why? What each field says of the first of these pairs, in bits: each doubles the odds'
\echo
SELECT a AS refused_a, b AS refused_b FROM people_alike LEFT JOIN people_pair USING (a, b) WHERE probability IS NULL ORDER BY similarity DESC, a LIMIT 1 \gset
\set ECHO queries
SELECT reason.field, reason.a, reason.b, reason.level, round(reason.bits::numeric, 1) AS bits
FROM people_model, people AS x, people AS y, bloom_model_explain(model, to_jsonb(x), to_jsonb(y)) AS reason WHERE x.id = :'refused_a' AND y.id = :'refused_b';
\set ECHO none

\echo '== 6. Clusters, and a report to read and to pass on, one HTML page'
\echo
\set ECHO queries
CREATE TABLE people_cluster AS SELECT * FROM bloom_clusters('people_pair', 0.5);
SELECT count(DISTINCT cluster) AS clusters, count(*) AS "records in them", max(size) AS "largest" FROM people_cluster;
SELECT bloom_report_pairs('people_pair', 'people', 'id', model => model, truth => 'people_truth') AS page FROM people_model
\gset
\set ECHO none
\echo '(The page goes to the file that is named at the end.)'
\echo
\pset tuples_only on
\pset format unaligned
\o :report
SELECT :'page';
\o
\pset format aligned
\pset tuples_only off

\echo '== 7. Somebody asks for "Mitchel Green": who may that be? The index answers the condition as it is written'
\echo
\set ECHO queries
CREATE INDEX person_name_sig ON person USING sigfile (name_sig);
ANALYZE person;
EXPLAIN (COSTS OFF) SELECT * FROM person WHERE bloom_sim(name_sig, bloom_signature('Mitchel Green')) > 0.8;

SELECT rec_id, given_name, surname, date_of_birth,
       round(bloom_sim(name_sig, bloom_signature('Mitchel Green'))::numeric, 3) AS score
FROM person
WHERE bloom_sim(name_sig, bloom_signature('Mitchel Green')) > 0.8
ORDER BY score DESC;

\set ECHO none

\echo '== 8. No new duplicates: a guard looks at each new record, also while others insert theirs'
\echo
\set ECHO queries
SELECT bloom_guard_create('person', 'sig', 0.6, 'reject');

\set ON_ERROR_STOP off
INSERT INTO person (rec_id, given_name, surname, address_1, suburb, postcode, date_of_birth, soc_sec_id)
SELECT 'new', given_name, upper(surname), address_1, suburb, postcode, date_of_birth, NULL FROM person WHERE rec_id = 'rec-1000-org';
\set ON_ERROR_STOP on
\set ECHO none

\echo
\echo '== 9. Which of 400 messages are one campaign? Each copy has another name, number, sum or a changed word; a sketch of 30 bytes stands for its words'
\echo
CREATE FUNCTION one_of(salt text, list text) RETURNS text LANGUAGE sql AS
    $$ SELECT (string_to_array(list, '|'))[1 + ('x' || left(md5(salt), 7))::bit(28)::integer % cardinality(string_to_array(list, '|'))] $$;
\set ECHO queries
CREATE TABLE message (id integer PRIMARY KEY, body text,
    bits minhash_bits(192) GENERATED ALWAYS AS (minhash_bits(ident_words(body), 192)) STORED);
\set ECHO none
INSERT INTO message
SELECT i, CASE
    WHEN i % 7 = 3 THEN format('%s %s, your mobile number has %s a prize of %s pounds in our weekly draw. To claim it call %s before %s, code %s. Only 10p a minute, over 18 only', one_of('a' || i, 'Congratulations|Dear|Hello|URGENT'),
        one_of('b' || i, 'Anna|Ben|customer|friend|Mia|Tom'), one_of('c' || i, 'won|been awarded|won'), one_of('d' || i, '500|900|1000|2000'), '0906 ' || i * 7919 % 100000, one_of('e' || i, 'Friday|Sunday|tonight'), i * 31 % 1000)
    WHEN i % 23 = 5 THEN format('Your parcel could not be delivered today because %s pence of postage are missing. Pay %s under parcel%s example to have it sent again %s', i * 13 % 90 + 10, one_of('f' || i, 'now|today|at once'), i * 7 % 50, one_of('g' || i, 'tomorrow|on Monday|this week'))
    WHEN i % 41 = 9 THEN format('Hi %s I have made %s this week from home with this new way to trade, only a few places are left, ask me and I send you the %s', one_of('h' || i, 'mate|dear|there'), one_of('i' || i, '300|450|800'), one_of('j' || i, 'link|details|file'))
    ELSE format('%s %s %s, %s. %s %s %s', one_of('k' || i, 'Sorry, I am late for the|Who brings the|Thanks for the|Did you see that|Shall we meet after the|I forgot my|Where is our|What about your|No time for a|Mum wants another|He has lost his|They sold the'),
        one_of('l' || i, 'old|red|little|new|broken|big|cold|last|good|second|heavy|funny'), one_of('m' || i, 'book|train|dinner|match|keys|report|cake|garden|film|station|bike|letter|meeting|dog|jacket|concert'),
        one_of('n' || i, 'see you at six|call me then|there is no hurry|let me know|Paul will wait|love from Eva|as we said|is that fine|it rains here|ask at work|maybe tomorrow|good night|have fun|how are things'),
        one_of('p' || i, 'By the way, Ben has sold my|You were right about his|Eva and I found this|Could you mend their|Nobody likes our|Please send me one more|Tom never paid for that|I would like to see her|We should buy some'),
        one_of('q' || i, 'blue|cheap|wooden|lovely|dirty|yellow|strange|French|wet|huge|empty|next'), one_of('r' || i, 'chair|phone|picture|ticket|coat|house|song|lamp|mirror|boat|window|sandwich|piano|present|suitcase|flowers')) END
FROM generate_series(1, 400) AS i;
\echo 'Some of them:'
SELECT id, left(body, 110) AS body FROM message WHERE id BETWEEN 3 AND 10 ORDER BY id;
\set ECHO queries
CREATE INDEX message_bits ON message USING sigfile (bits);
CREATE TABLE campaign AS SELECT * FROM bloom_clusters('message', 'id', 'bits', 0.6, 'components');
SELECT cluster AS campaign, size AS messages, left(body, 110) || ' …' AS "the one most like the others" FROM campaign JOIN message ON id = key::integer WHERE keep AND size > 5 ORDER BY size DESC;
\echo 'They were made as campaigns of 57, 16 and 9 messages; the other 318 are of none.'
\echo
\echo 'A new message comes. Is it one of these?'
SELECT cluster AS campaign, round(minhash_sim(bits, q)::numeric, 2) AS similarity, left(body, 80) || ' …' AS body
FROM minhash_bits(ident_words('Dear Kim, your mobile has won a prize of 700 pounds in our weekly draw! To claim call 0906 4711 before Monday, code 12'), 192) AS q, message JOIN campaign ON key::integer = id
WHERE minhash_sim(bits, q) > 0.4 ORDER BY similarity DESC, id LIMIT 3;
\set ECHO none

\echo
\echo 'To look around yourself: make demo KEEP=1 leaves this database up and says how to connect.'
\echo 'Then \\d people, \\df bloom_*, \\dx+ bloom_ident and the tables result, people_model, people_pair, people_cluster and campaign are there.'
