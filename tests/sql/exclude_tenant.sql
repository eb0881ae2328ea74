-- With btree_gist, where it is installed: a constraint per tenant, an index over two columns.
SELECT count(*) > 0 AS there FROM pg_available_extensions WHERE name = 'btree_gist' \gset
\if :there
\else
\quit
\endif
-- Per tenant, and with the ids in the message.
CREATE EXTENSION btree_gist;
CREATE TABLE customer (id int, tenant int, sig bloom,
    EXCLUDE USING gist (tenant WITH =, (bloom_query(sig, 0.85)) WITH %, id WITH <>));
INSERT INTO customer VALUES (1, 1, bloom_signature('Erika Mustermann')), (2, 2, bloom_signature('Erika Mustermann'));
INSERT INTO customer VALUES (3, 2, bloom_signature('erika mustermann'));
INSERT INTO customer SELECT 100 + i, i % 10, bloom_signature(md5(i::text)) FROM generate_series(1, 2000) AS i;
CREATE INDEX both_columns ON customer USING gist (tenant, sig);
ANALYZE customer;
SET enable_seqscan = off; SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM customer WHERE tenant = 2 AND bloom_sim(sig, bloom_signature('Erika Mustermann')) > 0.5;
SELECT id FROM customer WHERE tenant = 2 AND bloom_sim(sig, bloom_signature('Erika Mustermann')) > 0.5;
DROP TABLE customer;
DROP EXTENSION btree_gist;
