-- What "make compare" times: before each statement a line says what it is.
SET client_min_messages = error;
SET jit = off;
SET maintenance_work_mem = '64MB';
CREATE TEMP TABLE asked AS SELECT sig FROM person WHERE id % 500 = 7;
\timing on
\echo signatures of text
SELECT sum(pg_column_size(bloom_signature(concat_ws(' ', given_name, surname, suburb, date_of_birth)))) FROM person \g /dev/null
\echo similarities without an index
SELECT count(*) FROM few AS a, (SELECT sig FROM asked LIMIT 50) AS b WHERE bloom_sim(a.sig, b.sig) > 0.8 \g /dev/null
\echo searches at 0.8 by sigfile
SELECT sum(n) FROM asked, LATERAL (SELECT count(*) AS n FROM person WHERE bloom_sim(person.sig, asked.sig) > 0.8) AS f \g /dev/null
\echo index sigfile built
CREATE INDEX made ON person USING sigfile (sig);
\timing off
DROP INDEX made;
\timing on
\echo index gist built, 20,000
CREATE INDEX made ON few USING gist (sig);
\timing off
DROP INDEX made;
\timing on
\echo pairs at 0.85 by sigfile
SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', 0.85) \g /dev/null
\echo pairs at 0.85 without an index, 20,000
SELECT count(*) FROM bloom_duplicates('few', 'id', 'sig', 0.85) \g /dev/null
\echo pairs at 0.85 within a suburb
SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', 0.85, within => '{suburb}') \g /dev/null
\echo model fitted, 20,000
CREATE TEMP TABLE model AS SELECT bloom_model_fit('few', 'id', '{given_name,surname,suburb,date_of_birth}') AS model;
\echo pairs of the model, 20,000
CREATE TEMP TABLE pair AS SELECT p.* FROM model, bloom_model_duplicates('few', 'id', model) AS p;
\echo clusters of these pairs
SELECT count(*) FROM bloom_clusters('pair', 0.5) \g /dev/null
\echo report, 20,000
SELECT length(bloom_report('few', 'id', 'sig', 0.9, '{id,surname}')) \g /dev/null
\echo rows into a guarded table, 20,000 at once
INSERT INTO guarded SELECT * FROM few;
\timing off
TRUNCATE guarded;
\timing on
\echo rows into a guarded table, 2,000 one by one
DO $$ DECLARE r few; BEGIN FOR r IN SELECT * FROM few LIMIT 2000 LOOP INSERT INTO guarded SELECT r.*; END LOOP; END $$;
\timing off
TRUNCATE guarded;
