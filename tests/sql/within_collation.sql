-- Where the server has ICU: within compares texts by their collations.
SELECT count(*) > 0 AS there FROM pg_collation WHERE collprovider = 'i' \gset
\if :there
\else
\quit
\endif
SET client_min_messages = warning;
CREATE SCHEMA within_collation;
SET search_path = within_collation, public;
CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE client (id int PRIMARY KEY, tenant text COLLATE no_case, exact text, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
CREATE INDEX ON client USING sigfile (sig);
SELECT bloom_guard_create('client', 'sig', 0.8, 'reject', 'within', 'tenant');
INSERT INTO client VALUES (1, 'North', 'A', 'Erika Mustermann'), (2, 'south', 'A', 'Erika Mustermann');
INSERT INTO client VALUES (3, 'NORTH', 'a', 'Erika Mustermann');
UPDATE client SET tenant = 'nORTH' WHERE id = 2;
-- it is the same tenant, so the row is not checked, and does not change places
UPDATE client SET tenant = 'nORTH' WHERE id = 1;
-- rows that are searched for together, by hashes
INSERT INTO client SELECT i, 'T' || i, 'a', 'Hans Wurst' FROM generate_series(100, 500) AS i;
INSERT INTO client SELECT 1000 + i, 't' || i, 'a', CASE i WHEN 400 THEN 'Hans Wurst' ELSE 'Lucas ' || i END FROM generate_series(100, 500) AS i;
ALTER TABLE client DISABLE TRIGGER USER;
INSERT INTO client VALUES (3, 'NORTH', 'a', 'Erika Mustermann'), (4, 'north', 'A', 'Erica Mustermann');
SELECT * FROM bloom_duplicates('client', 'id', 'sig', 0.7, '{tenant}') ORDER BY a, b;
SELECT * FROM bloom_duplicates('client', 'id', 'sig', 0.7, '{tenant,exact}') ORDER BY a, b;
DROP SCHEMA within_collation CASCADE;
