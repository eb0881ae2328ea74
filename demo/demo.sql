-- Duplicates in a register of persons, found and held against the truth. Run by `make demo`;
-- data_dir names the directory with febrl3.csv.
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
    -- one signature an attribute; NULL where the attribute is missing
    profile bloom[] GENERATED ALWAYS AS (ARRAY[
        bloom_signature(given_name),
        bloom_signature(surname),
        bloom_signature(street_number, ngram => 2, max_chars => 8),
        bloom_signature(address_1),
        bloom_signature(address_2),
        bloom_signature(suburb),
        bloom_signature(postcode, ngram => 2, max_chars => 8),
        bloom_signature(state, ngram => 2, max_chars => 8),
        bloom_signature(date_of_birth, ngram => 2, max_chars => 8),
        bloom_signature(soc_sec_id, ngram => 2, max_chars => 8)]) STORED,
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

\echo '== 2. Every record against every other: 12.5 million comparisons, twice'
\echo

CREATE TABLE pair (method text, a integer, b integer, similarity float8);
CREATE TABLE run (method text, threshold float8, seconds numeric);

SET client_min_messages = notice;
\set ECHO queries
-- By the weighted profile: attributes missing on either side take no part.
DO $$
DECLARE
    weights CONSTANT float8[] := ARRAY[2, 2, 0.5, 1.5, 1, 1.5, 1, 0.25, 3, 3];
    started CONSTANT timestamptz := clock_timestamp();
    found bigint := 0;
    n bigint;
BEGIN
    FOR part IN 0..4 LOOP
        INSERT INTO pair
            SELECT 'profile', a.id, b.id, bloom_profile_sim(a.profile, b.profile, weights)
            FROM person a JOIN person b
              ON a.id < b.id AND bloom_profile_sim(a.profile, b.profile, weights) >= 0.55
            WHERE a.id % 5 = part;
        GET DIAGNOSTICS n = ROW_COUNT;
        found := found + n;
        RAISE NOTICE '% million pairs compared, % found', (part + 1) * 2.5, found;
    END LOOP;
    INSERT INTO run VALUES ('profile', 0.55, extract(epoch FROM clock_timestamp() - started));
END $$;

-- By the one signature of the whole record.
DO $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    found bigint;
BEGIN
    INSERT INTO pair
        SELECT 'record signature', a.id, b.id, bloom_sim(a.sig, b.sig)
        FROM person a JOIN person b
          ON a.id < b.id AND bloom_sim(a.sig, b.sig) >= 0.48;
    GET DIAGNOSTICS found = ROW_COUNT;
    RAISE NOTICE '12.5 million pairs compared, % found', found;
    INSERT INTO run VALUES ('record signature', 0.48, extract(epoch FROM clock_timestamp() - started));
END $$;
\set ECHO none
SET client_min_messages = warning;

\echo
\echo '== 3. Held against the truth'
\echo
\echo 'precision: share of the pairs found that are the same person; recall: share of the true'
\echo 'pairs that were found; F1: their harmonic mean.'
\echo
WITH truth AS (
    SELECT sum(n * (n - 1) / 2) AS pairs
    FROM (SELECT count(*) AS n FROM person GROUP BY cluster_id) c
), found AS (
    SELECT method, count(*) AS pairs, count(*) FILTER (WHERE a.cluster_id = b.cluster_id) AS right_ones
    FROM pair JOIN person a ON a.id = pair.a JOIN person b ON b.id = pair.b
    GROUP BY method
)
SELECT method, threshold, found.pairs AS "pairs found", right_ones AS "of them right",
       round(right_ones::numeric / found.pairs, 4) AS precision,
       round(right_ones / truth.pairs, 4) AS recall,
       round(2 * right_ones / (found.pairs + truth.pairs), 4) AS "F1",
       round(seconds, 1) AS seconds
FROM found JOIN run USING (method), truth
ORDER BY method;

\echo '== 4. Ten of the pairs, from the surest to the least sure'
\echo
WITH found AS (
    SELECT a, b, similarity, percent_rank() OVER (ORDER BY similarity DESC, a, b) AS rank
    FROM pair WHERE method = 'profile' AND similarity < 1
), chosen AS (
    SELECT DISTINCT ON (floor(rank * 9)) * FROM found ORDER BY floor(rank * 9), rank
)
SELECT round(similarity::numeric, 3) AS score,
       concat_ws(' ', x.given_name, x.surname, x.date_of_birth, x.suburb) AS record,
       concat_ws(' ', y.given_name, y.surname, y.date_of_birth, y.suburb) AS "and its duplicate",
       CASE WHEN x.cluster_id = y.cluster_id THEN 'yes' ELSE 'NO' END AS "same person"
FROM chosen JOIN person x ON x.id = a JOIN person y ON y.id = b
ORDER BY similarity DESC;

\echo '== 5. Somebody asks for "Mitchel Green": who may that be?'
\echo
\set ECHO queries
SELECT rec_id, given_name, surname, date_of_birth,
       round(bloom_sim(name_sig, bloom_signature('Mitchel Green'))::numeric, 3) AS score
FROM person
WHERE bloom_sim(name_sig, bloom_signature('Mitchel Green')) > 0.8
ORDER BY score DESC;
\set ECHO none

\echo 'To look around yourself: make demo KEEP=1 leaves this database up and says how to connect.'
\echo 'Then \\d person, \\df bloom_*, \\dx+ bloom_ident and the tables pair and run are there.'
