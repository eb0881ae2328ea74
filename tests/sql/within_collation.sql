-- Where the server has ICU: within compares texts by their collations.
SELECT count(*) > 10 AS there FROM pg_collation WHERE collprovider = 'i' \gset
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
-- names: equal by the collation, though their bytes differ
CREATE TABLE named (id int, tenant name COLLATE no_case, code text COLLATE no_case, sig bloom);
INSERT INTO named SELECT i, t, t, bloom_signature('Erika Mustermann ' || i) FROM generate_series(1, 300) AS i, concat(CASE WHEN i % 2 = 0 THEN 'T' ELSE 't' END, i % 3) AS t;
CREATE INDEX named_tenant ON named USING sigfile (tenant, sig);
CREATE INDEX named_code ON named USING sigfile (code, sig);
SET enable_seqscan = off;
SELECT count(*) FROM named WHERE tenant = 'T1' COLLATE no_case AND sig IS NOT NULL;
SELECT count(*) FROM named WHERE tenant = 'T1'::text COLLATE no_case AND sig IS NOT NULL;
SELECT count(*) FROM named WHERE code = 'T1' AND sig IS NOT NULL;
SELECT count(*) FROM named WHERE code = 'T1'::name COLLATE no_case AND sig IS NOT NULL;
SET enable_seqscan = on;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT count(*) FROM named WHERE tenant = 'T1' COLLATE no_case AND sig IS NOT NULL;
SELECT count(*) FROM named WHERE code = 'T1'::name COLLATE no_case AND sig IS NOT NULL;
RESET ALL;
SET client_min_messages = warning;
SET search_path = within_collation, public;
CREATE TABLE once (tenant name COLLATE no_case, sig bloom, CONSTRAINT once_each EXCLUDE USING sigfile (tenant WITH =, (bloom_query(sig, 0.8)) WITH %));
INSERT INTO once VALUES ('a', bloom_signature('Otto'));
INSERT INTO once VALUES ('A', bloom_signature('Otto'));
DROP INDEX named_tenant, named_code;
CREATE INDEX ON named USING sigfile (sig);
SELECT bloom_guard_create('named', 'sig', 0.99, 'reject', 'within', 'tenant');
INSERT INTO named SELECT 1000 + i, 'X' || i, 'x', bloom_signature('Lucas ' || i) FROM generate_series(100, 500) AS i;
INSERT INTO named SELECT 2000 + i, 'x' || i, 'x', bloom_signature(CASE i WHEN 400 THEN 'Lucas ' ELSE 'Hans ' END || i) FROM generate_series(100, 500) AS i;
-- arrays of them
CREATE TABLE listed (id int, tenants name[] COLLATE no_case, sig bloom);
INSERT INTO listed SELECT i, ARRAY[t, 'x'], bloom_signature('Erika Mustermann ' || i) FROM generate_series(1, 300) AS i, concat(CASE WHEN i % 2 = 0 THEN 'T' ELSE 't' END, i % 3) AS t;
CREATE INDEX listed_tenants ON listed USING sigfile (tenants, sig);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM listed WHERE tenants = '{T1,X}'::name[] COLLATE no_case AND sig IS NOT NULL;
SELECT count(*) FROM listed WHERE tenants = '{T1,X}'::name[] COLLATE no_case AND sig IS NOT NULL;
RESET enable_seqscan;
SELECT bloom_guard_create('listed', 'sig', 0.99, 'reject', 'within', 'tenants');
INSERT INTO listed SELECT 1000 + i, ARRAY['X' || i], bloom_signature('Lucas ' || i) FROM generate_series(100, 500) AS i;
INSERT INTO listed SELECT 2000 + i, ARRAY['x' || i], bloom_signature(CASE i WHEN 400 THEN 'Lucas ' ELSE 'Hans ' END || i) FROM generate_series(100, 500) AS i;
DROP SCHEMA within_collation CASCADE;
