-- Duplicates in a register of persons, found and held against the truth. Run by `make demo`;
-- data_dir names the directory with febrl3.csv, report the file that the report goes to.
\set QUIET on
\pset pager off
\pset footer off
\pset null '-'
\set csv :data_dir '/febrl3.csv'
SET client_min_messages = warning;
SET jit = off;

\echo
\echo '== 1. A register: FEBRL 3, 5,000 records of 2,000 persons, with typing errors and gaps'
\echo

CREATE EXTENSION bloom_ident;

\set ECHO queries
CREATE TABLE person (
    id            integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    rec_id        text,
    cluster_id    integer,          -- the truth: the same person, the same number
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
    -- the whole record in one signature, planned for 120 characters
    sig bloom GENERATED ALWAYS AS (bloom_signature_of_fields(3, 120, 0.01,
        given_name, surname, address_1, address_2, suburb, postcode,
        date_of_birth, soc_sec_id)) STORED,
    -- the name alone, for searching
    name_sig bloom GENERATED ALWAYS AS (bloom_signature(given_name || ' ' || surname)) STORED
);
\set ECHO none

SELECT clock_timestamp() AS started \gset
COPY person (rec_id, cluster_id, given_name, surname, street_number, address_1, address_2,
             suburb, postcode, state, date_of_birth, soc_sec_id)
    FROM :'csv' (FORMAT csv, HEADER);
ANALYZE person;
SELECT round(extract(epoch FROM clock_timestamp() - :'started'::timestamptz)::numeric, 2) AS seconds \gset
SELECT count(*) AS records,
       count(DISTINCT cluster_id) AS persons,
       (SELECT sum(n * (n - 1) / 2) FROM (SELECT count(*) AS n FROM person GROUP BY cluster_id) c)
           AS "true pairs",
       :seconds AS "seconds to load and sign"
FROM person;

\set ECHO queries
CREATE INDEX person_sig ON person USING sigfile (sig);
\set ECHO none

\echo
\echo '== 2. All pairs of records that are at all alike, each once: 12.5 million comparisons, most of them spared'
\echo
SELECT clock_timestamp() AS started \gset
\set ECHO queries
CREATE TABLE pair AS SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.4);
\set ECHO none
SELECT count(*) AS "pairs of 0.4 and more", round(extract(epoch FROM clock_timestamp() - :'started'::timestamptz)::numeric, 2) AS seconds FROM pair;

\echo '== 3. Which threshold? Held against the truth, every one of them in one pass over the pairs'
\echo
\echo 'precision: share of the pairs found that are the same person; recall: share of the true'
\echo 'pairs that were found; F1: their harmonic mean.'
\echo
CREATE TABLE truth AS SELECT id AS key, cluster_id AS cluster FROM person;
\set ECHO queries
SELECT threshold, found, correct, round(precision::numeric, 4) AS precision, round(recall::numeric, 4) AS recall, round(f1::numeric, 4) AS f1
FROM bloom_threshold_sweep('pair', 'truth', 0.05) WHERE threshold BETWEEN 0.39 AND 0.91;
\set ECHO none

\echo '== 4. Clusters: each member is similar enough to the record that stands for it'
\echo
\set ECHO queries
CREATE TABLE cluster AS SELECT * FROM bloom_clusters('pair', 0.48);
\set ECHO none
SELECT count(DISTINCT cluster) AS clusters, count(*) AS "records in them", max(size) AS "largest" FROM cluster;
\set ECHO queries
SELECT found, correct, round(precision::numeric, 4) AS precision, round(recall::numeric, 4) AS recall, round(f1::numeric, 4) AS f1,
       round(b_cubed_f1::numeric, 4) AS "B-cubed F1" FROM bloom_quality('cluster', 'truth');

SELECT c.keep, round(c.similarity::numeric, 3) AS similarity, p.given_name, p.surname, p.date_of_birth, p.suburb
FROM cluster AS c JOIN person AS p ON p.id = c.key::integer WHERE c.cluster = 1 ORDER BY c.keep DESC, c.similarity DESC, p.id;
\set ECHO none

\echo '== 5. Somebody asks for "Mitchel Green": who may that be? The index answers the condition as it is written'
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

\echo '== 6. No new duplicates: a guard looks at each new record, also while others insert theirs'
\echo
\set ECHO queries
CREATE TRIGGER no_duplicates AFTER INSERT OR UPDATE ON person FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.6', 'reject');

\set ON_ERROR_STOP off
INSERT INTO person (given_name, surname, address_1, suburb, postcode, date_of_birth, soc_sec_id)
SELECT given_name, upper(surname), address_1, suburb, postcode, date_of_birth, NULL FROM person WHERE id = 8;
\set ON_ERROR_STOP on
\set ECHO none

\echo
\echo '== 7. A report to read and to pass on, one HTML page'
\echo
\set ECHO queries
SELECT bloom_report('person', 'id', 'sig', 0.48, '{given_name,surname,date_of_birth,address_1,suburb,postcode,soc_sec_id}', 'truth',
    title => 'Duplicates in FEBRL 3') AS page
\gset
\set ECHO none
\pset tuples_only on
\pset format unaligned
\o :report
SELECT :'page';
\o
\pset format aligned
\pset tuples_only off

\echo
\echo 'To look around yourself: make demo KEEP=1 leaves this database up and says how to connect.'
\echo 'Then \\d person, \\df bloom_*, \\dx+ bloom_ident and the tables pair, cluster and truth are there.'
