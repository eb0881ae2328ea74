-- What messages say where people stumble: the name that was perhaps meant, how a view renames, percent, numbers, the search_path.
SET client_min_messages = warning;
CREATE SCHEMA hints;
SET search_path = hints, public;
\set VERBOSITY default
\set SHOW_CONTEXT never
CREATE TABLE person AS SELECT n AS number, (ARRAY['Anna','Ben','Clara','David','Eva','Felix'])[1 + n % 6] AS given, 'Meier' || n % 83 AS surname,
    date '1950-01-01' + n * 37 % 20000 AS born FROM generate_series(1, 300) AS n;
INSERT INTO person SELECT number + 300, given, surname, born FROM person WHERE number % 6 = 0;
ALTER TABLE person ADD PRIMARY KEY (number), ADD sig bloom GENERATED ALWAYS AS (bloom_signature(given || ' ' || surname)) STORED;
CREATE TABLE fitted AS SELECT bloom_model_fit('person', 'number', personal => '{given,born}') AS model;
CREATE TABLE pair AS SELECT * FROM bloom_duplicates('person', 'number', 'sig', 0.95);
CREATE TABLE cluster AS SELECT * FROM bloom_clusters('pair', 0.95);

-- columns and keys, as the server itself finds the closest
SELECT * FROM bloom_duplicates('person', 'numer', 'sig', 0.9);
SELECT * FROM bloom_duplicates('person', 'number', 'sgi', 0.9);
SELECT * FROM bloom_duplicates('person', 'number', 'sig', 0.9, within => '{surnam}');
SELECT * FROM bloom_model_duplicates('person', 'id', (SELECT model FROM fitted));
SELECT bloom_guard_create('person', 'signature', 0.9, 'warn');
SELECT bloom_guard_create('person', 'sigg', 0.9, 'warn');
SELECT * FROM bloom_merge_plan('cluster', 'person', 'nummber');
SELECT bloom_report_pairs('pair', 'person', 'number', columns => '{givn}');
SELECT * FROM bloom_record_hash('person', 'number', '{birn}');
SELECT * FROM bloom_pairs_estimate('person', 'sg', 0.9);
SELECT bloom_register_create(model, 'person', 'nubmer', 'live') FROM fitted;
SELECT * FROM bloom_nearest_names('person', 'number', 'sig', 'surnam', 'Meier7');
SELECT * FROM bloom_duplicates('person', 'NUMBER', 'SIG', 0.9);
-- a text where signatures are wanted
SELECT bloom_guard_create('person', 'given', 0.9, 'warn');
CREATE INDEX ON person USING sigfile (given);
SELECT bloom_signature('Anna', 60);
-- which record is kept
SELECT * FROM bloom_clusters('person', 'number', 'sig', 0.9, keep_by => 'newst');
SELECT * FROM bloom_clusters('person', 'number', 'sig', 0.9, keep_by => 'most compleet');
SELECT * FROM bloom_clusters('person', 'number', 'sig', 0.9, keep_by => 'oldest by birn');
-- a record that is no JSON
SELECT bloom_register_create(model, 'person', 'number', 'live') FROM fitted;
SELECT * FROM bloom_register_match('live', 'Anna Meier');
SELECT count(*) >= 0 AS found FROM bloom_register_match('live', ' {"given": "Anna", "surname": "Meier7"}');
SELECT bloom_register_drop('live');

-- fields, and their kinds
SELECT bloom_model_fit('person', 'number', '{given,surnam}');
SELECT bloom_model_fit('person', 'number', '{given:nam,surname}');
SELECT bloom_model_fit('person', 'number', '{given,surname}', options => '{"recrds": 1000}');

-- actions, options, words
SELECT bloom_guard_create('person', 'sig', 0.9, 'rejct');
SELECT bloom_guard_create('person', 'sig', 0.9, 'flag', 'revew', 'review');
SELECT count(*) FROM fitted, bloom_model_duplicates('person', 'number', model, options => '{"pair_limt": 1000}');
SELECT bloom_register_create(model, 'person', 'number', 'live', '{"record": 1000}') FROM fitted;
SELECT * FROM bloom_clusters('pair', 0.9, 'component');
SELECT * FROM bloom_assign('pair', 'optimall');
SELECT ident_phonetic('Meier', 'kologne');
SELECT bloom_signature_of_identity('emial', 'anna@example.org');
SELECT * FROM bloom_merge_plan('cluster', 'person', 'number', rules => '{"given": "longst"}');
SELECT * FROM bloom_merge_plan('cluster', 'person', 'number', rules => '{"givn": "longest"}');
SELECT bloom_segment_length('brithday', 30, 10, 0.5);
SELECT bloom_model_fit_linkage('person', 'number', 'person', 'number', one_to_one => 'bothh');

-- a table that lacks the columns of the model, or calls them differently
CREATE TABLE applicant AS SELECT number AS id, given AS first_name, surname, born AS date_of_birth FROM person;
ALTER TABLE applicant ADD PRIMARY KEY (id);
SELECT count(*) FROM fitted, bloom_model_duplicates('applicant', 'id', model);
SELECT bloom_register_create(model, 'applicant', 'id', 'live') FROM fitted;
SELECT * FROM fitted, bloom_model_check(model, 'applicant');
ALTER TABLE applicant RENAME first_name TO "Given";
ALTER TABLE applicant DROP surname;
SELECT count(*) FROM fitted, bloom_model_duplicates('applicant', 'id', model);
-- the view that it proposes does it
CREATE VIEW applicant_named AS SELECT *, "Given" AS given, NULL::text AS surname, date_of_birth AS born FROM hints.applicant;
SELECT count(*) FROM fitted, bloom_model_duplicates('applicant_named', 'id', model, 0, '{"force": true}');

-- the name of the column instead of what it holds
SELECT * FROM bloom_model_duplicates('person', 'number', 'model');
SELECT * FROM bloom_model_duplicates('person', 'number', '"model"');

-- percent
SELECT * FROM bloom_duplicates('person', 'number', 'sig', 80);
SELECT * FROM bloom_duplicates('person', 'number', 'sig', 99.9);
SELECT * FROM bloom_duplicates('person', 'number', 'sig', 101);
SELECT * FROM bloom_duplicates('person', 'number', 'sig', -0.5);
SELECT * FROM bloom_pairs_estimate('person', 'sig', 85);
SELECT count(*) FROM person WHERE sig % bloom_query(bloom_signature('Anna Meier7'), 80);
SELECT count(*) FROM person WHERE bloom_sim(sig, bloom_signature('Anna Meier7')) > 80;
SELECT count(*) FROM person WHERE 85.5 <= bloom_dice(sig, bloom_signature('Anna Meier7'));
SELECT count(*) FROM person WHERE bloom_sim(sig, bloom_signature('Anna Meier7')) > 1;
SELECT * FROM bloom_clusters('pair', 90);
SELECT bloom_guard_create('person', 'sig', 90, 'warn');
SELECT count(*) FROM fitted, bloom_model_duplicates('person', 'number', model, 95);
SELECT count(*) FROM fitted, bloom_model_duplicates('person', 'number', model, -1);
SELECT * FROM bloom_threshold_sweep('pair', 'pair', 5);
SELECT * FROM minhash_plan(1000000, 80);
SELECT bloom_signature('Anna', fpr => 5);
SELECT ident_name_sim('Hotel Anna', 'Hotel Eva', words => '{hotel}', weights => '{20}');
SET bloom_ident.threshold = 80;
SET bloom_ident.threshold = 1.5;
SET bloom_ident.threshold = 101;
SHOW bloom_ident.threshold;

-- numbers, which have no zeros in front
SELECT bloom_signature(12345);
SELECT bloom_signature(12345.0);
SELECT bloom_signature(1234567890123456789012345678901234567890123456789);
SELECT bloom_signature('12345') = bloom_signature(12345::text) AS same, bloom_signature(NULL) IS NULL AS none;
PREPARE unknown AS SELECT bloom_signature($1) = bloom_signature('12345'::text) AS same;
EXECUTE unknown('12345');

-- a schema that is not on the search_path
\set database :DBNAME
CREATE DATABASE hints_elsewhere;
\c hints_elsewhere
CREATE SCHEMA "de dup";
CREATE EXTENSION bloom_ident SCHEMA "de dup";
DROP EXTENSION bloom_ident;
ALTER DATABASE hints_elsewhere SET search_path = "$user", public, "de dup";
\c hints_elsewhere
CREATE EXTENSION bloom_ident SCHEMA "de dup";
DROP EXTENSION bloom_ident;
ALTER DATABASE hints_elsewhere SET search_path = '';
\c hints_elsewhere
CREATE EXTENSION bloom_ident SCHEMA "de dup";
\c :database
DROP DATABASE hints_elsewhere;
SET client_min_messages = warning;
DROP SCHEMA hints CASCADE;
