-- A column before the signature whose collation takes different texts for equal, where the server has ICU.
SELECT count(*) > 10 AS there FROM pg_collation WHERE collprovider = 'i' \gset
\if :there
\else
\quit
\endif
CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE person (id int, tenant text COLLATE no_case, sig bloom, CONSTRAINT once EXCLUDE USING sigfile (tenant WITH =, (bloom_query(sig, 0.9)) WITH %));
INSERT INTO person SELECT i, CASE i % 3 WHEN 0 THEN 'North' WHEN 1 THEN 'NORTH' ELSE 'South' END, bloom_signature(md5(i::text)) FROM generate_series(1, 2000) AS i;
INSERT INTO person SELECT 0, 'north', bloom_signature(md5('300'));
CREATE INDEX person_tenant ON person USING sigfile (tenant, sig);
SELECT bloom_sigfile_check('person_tenant'), bloom_sigfile_check('once');
SET enable_seqscan = off; SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM person WHERE tenant = 'north' AND sig = bloom_signature(md5('301'));
SELECT id, tenant FROM person WHERE tenant = 'north' AND sig = bloom_signature(md5('301'));
SELECT count(*) FROM person WHERE tenant = 'NoRtH' AND sig % bloom_query(bloom_signature(md5('301')), 0);
-- By another collation the index does not serve the tenant.
EXPLAIN (COSTS OFF) SELECT id FROM person WHERE tenant = 'NORTH' COLLATE "C" AND sig = bloom_signature(md5('301'));
SELECT id FROM person WHERE tenant = 'NORTH' COLLATE "C" AND sig = bloom_signature(md5('301'));
DROP TABLE person;
DROP COLLATION no_case;
