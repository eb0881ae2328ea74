-- Where the server has ICU: new records are named by keys that a collation takes for equal.
SELECT count(*) > 10 AS there FROM pg_collation WHERE collprovider = 'i' \gset
\if :there
\else
\quit
\endif
SET client_min_messages = warning;
CREATE SCHEMA new_collation;
SET search_path = new_collation, public;
CREATE FUNCTION name_of(i int) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$ SELECT translate(left(md5((i / 4)::text), 12), '0123456789', 'ghijklmnop') || repeat('x', i % 4) $$;
CREATE TABLE of_kind (key text);
CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE cased AS SELECT ('Key' || i) COLLATE caseless AS id, bloom_signature(name_of(i)) AS sig FROM generate_series(1, 40) AS i;
INSERT INTO of_kind SELECT 'KEY' || i FROM generate_series(1, 10) AS i;
SELECT count(*) FROM bloom_duplicates('cased', 'id', 'sig', 0.6, new => 'of_kind');
CREATE INDEX ON cased USING sigfile (sig);
SELECT count(*) FROM bloom_duplicates('cased', 'id', 'sig', 0.6, new => 'of_kind');
-- A register finds records by their keys as they are written.
CREATE TABLE client (id text NOT NULL, name text, born date);
CREATE UNIQUE INDEX ON client (id COLLATE caseless);
INSERT INTO client SELECT 'k' || i, md5('name ' || i % 90), date '1940-01-01' + i % 90 * 100 FROM generate_series(1, 120) AS i;
SELECT bloom_register_create(bloom_model_fit('client', 'id', '{name,born}', '{}'), 'client', 'id');
ALTER TABLE client ADD PRIMARY KEY (id);
SELECT bloom_register_create(bloom_model_fit('client', 'id', '{name,born}', '{}'), 'client', 'id');
DROP SCHEMA new_collation CASCADE;
