-- tables of merges that others have made, or changed
SET client_min_messages = warning;
CREATE ROLE mallory;
CREATE TABLE trusted (id int PRIMARY KEY, n text, t timestamptz, b bytea, m money);
INSERT INTO trusted VALUES (1, 'a', '2001-05-04 10:00Z', '\x00', '1'), (2, 'b', '2001-05-04 11:00Z', '\x00ff', '1000.5');
CREATE TABLE trusting (id int PRIMARY KEY, person int REFERENCES trusted, t timestamptz, b bytea);
INSERT INTO trusting VALUES (1, 2, '2001-05-04 12:00Z', '\x00ff');
CREATE TABLE together AS SELECT 1 AS cluster, i AS key FROM generate_series(1, 2) AS i;
-- a superuser does not write to another's table that happens to have the name: its triggers would run with all rights
GRANT CREATE ON SCHEMA public TO mallory;
SET ROLE mallory;
SELECT bloom_merges_create('bloom_merges');
RESET ROLE;
SELECT * FROM bloom_merge('together', 'trusted', 'id');
SELECT bloom_unmerge(1);
DROP TABLE bloom_merges;
-- a merge is taken back in a session that writes values in other ways
SELECT bloom_merges_create('merges_kept');
SET timezone = 'UTC';
SELECT deleted, redirected, dropped FROM bloom_merge('together', 'trusted', 'id', audit => 'merges_kept');
BEGIN;
SET LOCAL timezone = 'Europe/Berlin';
SET LOCAL bytea_output = 'escape';
SELECT bloom_unmerge(1, 'merges_kept') > 0 AS restored;
SET LOCAL timezone = 'UTC';
SET LOCAL bytea_output = 'hex';
SELECT id, n, t = timestamptz '2001-05-04 09:00Z' + id * interval '1 hour' AS t, b FROM trusted ORDER BY id;
SELECT * FROM trusting;
ROLLBACK;
-- a row without its reference, and a column of another type
UPDATE merges_kept SET reference = NULL;
SELECT bloom_unmerge(1, 'merges_kept');
ALTER TABLE merges_kept ALTER reference TYPE bigint USING 66;
SELECT bloom_unmerge(1, 'merges_kept');
RESET timezone;
DROP TABLE trusting, trusted, together, merges_kept;
REVOKE CREATE ON SCHEMA public FROM mallory;
DROP ROLE mallory;
RESET client_min_messages;
