-- Another secret for a column of keyed signatures: two ids side by side, rows that are encoded in batches, and the new column in the place of the old one; ids that a linkage unit takes.
CREATE SCHEMA rotation;
SET search_path = rotation, public;
CREATE VIEW linkage AS SELECT '{"version": 3, "clkConfig": {"l": 512, "kdf": {"type": "HKDF"}}, "features": [
    {"identifier": "name", "format": {"type": "string"}, "hashing": {"comparison": {"type": "ngram", "n": 2}, "strategy": {"bitsPerFeature": 150}, "missingValue": {"sentinel": ""}}}]}'::jsonb AS schema;
SELECT count(bloom_secret_import(name, name || ', of which all ids are the same')) FROM unnest('{rotation_2026,rotation_2027}'::name[]) AS name;
CREATE TABLE person (id int, name text, zip text) PARTITION BY RANGE (id);
CREATE TABLE person_a PARTITION OF person FOR VALUES FROM (0) TO (3000);
CREATE TABLE person_b PARTITION OF person FOR VALUES FROM (3000) TO (10000);
INSERT INTO person SELECT i, 'name ' || i, i % 7 FROM generate_series(1, 4000) AS i;
-- Filled at once, and in batches.
SELECT bloom_clk_column('person', 'sig', schema, 'rotation_2026') FROM linkage;
SELECT bloom_clk_column('person', 'next', schema, 'rotation_2027', fill => false) FROM linkage;
CREATE INDEX ON person USING sigfile (sig);
UPDATE person SET zip = 'x' WHERE id = 7;
SELECT count(sig), count(next), count(DISTINCT bloom_id(sig)) FROM person;
SELECT bloom_clk_replace('person', 'sig', 'next');
CALL bloom_clk_fill('person', 'next', 3);
SELECT bool_and(sig = bloom_clk(to_jsonb(p), schema, 'rotation_2026')), bool_and(next = bloom_clk(to_jsonb(p), schema, 'rotation_2027')) FROM person AS p, linkage;
CALL bloom_clk_fill('person', 'next');
-- It commits each batch: what a batch has encoded stays, if a later one fails.
CREATE TABLE stopped (id int, name text);
INSERT INTO stopped SELECT i, CASE WHEN i = 1900 THEN repeat('x', 100) ELSE 'name ' || i END FROM generate_series(1, 2000) AS i;
SELECT bloom_clk_column('stopped', 'sig', jsonb_set(schema, '{features,0,format,maxLength}', '50'), 'rotation_2026', fill => false) FROM linkage;
CALL bloom_clk_fill('stopped', 'sig', 1);
SELECT count(sig) > 1000, max(id) FILTER (WHERE sig IS NOT NULL) < 1900 FROM stopped;
DELETE FROM stopped WHERE id = 1900;
CALL bloom_clk_fill(pages => 1, signature => 'sig', rel => 'stopped');
SELECT count(*) = count(sig) FROM stopped;
-- Where it cannot commit, and what is wrong.
BEGIN;
CALL bloom_clk_fill('person', 'next');
ROLLBACK;
CREATE PROCEDURE whole() LANGUAGE plpgsql AS $$ BEGIN CALL bloom_clk_fill('stopped', 'sig'); END $$;
CALL whole();
CREATE FUNCTION part() RETURNS void LANGUAGE plpgsql AS $$ BEGIN CALL bloom_clk_fill('stopped', 'sig'); END $$;
SELECT part();
CALL bloom_clk_fill('person', 'zip');
CALL bloom_clk_fill('person', 'next', 0);
CALL bloom_clk_fill('person', NULL);
CALL bloom_clk_fill('linkage', 'schema');
CALL bloom_clk_fill(0, 'sig');
SELECT bloom_clk_replace('person', 'zip', 'next');
SELECT bloom_clk_replace('person', 'sig', 'zip');
SELECT bloom_clk_replace('person', 'sig', 'sig');
-- The new one has the old one's name, its own index, and goes on.
CREATE INDEX ON person USING sigfile (next);
CREATE VIEW seen AS SELECT id, sig FROM person;
\set VERBOSITY terse
SELECT bloom_clk_replace('person', 'sig', 'next');
\set VERBOSITY default
DROP VIEW seen;
SELECT bloom_clk_replace('person', 'sig', 'next');
SELECT bloom_secret_drop('rotation_2026');
INSERT INTO person VALUES (4001, 'name 4001', '1010');
SELECT bool_and(sig = bloom_clk(to_jsonb(p), schema, 'rotation_2027')), count(*) FROM person AS p, linkage;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'person'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum;
SELECT tgrelid::regclass, tgname, split_part(encode(tgargs, 'escape'), '\000', 1) AS "column" FROM pg_trigger WHERE tgrelid IN ('person'::regclass, 'person_a'::regclass) ORDER BY 1, 2;
SELECT count(*) FROM pg_index WHERE indrelid = 'person'::regclass;
-- Not the rights of others.
CREATE ROLE regress_rotation;
GRANT USAGE ON SCHEMA rotation TO regress_rotation;
GRANT SELECT ON ALL TABLES IN SCHEMA rotation TO regress_rotation;
SET ROLE regress_rotation;
CALL bloom_clk_fill('person', 'sig');
SELECT bloom_clk_replace('person', 'sig', 'sig');
RESET ROLE;
-- A path that has another operator does not lead astray.
CREATE FUNCTION never(text, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'a foreign operator is called'; END $$;
CREATE OPERATOR rotation.= (LEFTARG = text, RIGHTARG = text, FUNCTION = never);
SET search_path = rotation, public, pg_catalog;
CALL bloom_clk_fill('person', 'sig');
DROP OPERATOR rotation.= (text, text);
RESET search_path;
SET search_path = rotation, public;
-- With a salt a row may have no signature.
SELECT bloom_clk_column('person', 'salted', schema, 'rotation_2027', '{"salt": ["zip"]}') FROM linkage;
UPDATE person SET zip = NULL WHERE id = 5;
SELECT count(*) - count(salted) FROM person;
-- One that has its salt waits, and is not taken for one that lacks it.
ALTER TABLE person DISABLE TRIGGER USER;
UPDATE person SET salted = NULL WHERE id = 6;
ALTER TABLE person ENABLE TRIGGER USER;
SELECT bloom_clk_replace('person', 'sig', 'salted');
CALL bloom_clk_fill('person', 'salted');
GRANT SELECT (sig) ON person TO PUBLIC;
GRANT SELECT (sig), UPDATE (sig) ON person TO regress_rotation WITH GRANT OPTION;
SELECT bloom_clk_replace('person', 'sig', 'salted');
-- Who might read the old one may read the new one.
SELECT CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS grantee, privilege_type, is_grantable
FROM pg_attribute, aclexplode(attacl) WHERE attrelid = 'person'::regclass AND attname = 'sig' ORDER BY 1, 2;
-- An empty hardening is none. A column that is there must have the type.
CREATE TABLE plain (name text, short bloom(clk,256), other text, late bloom(clk,512));
SELECT bloom_clk_column('plain', 'short', schema, 'rotation_2027') FROM linkage;
SELECT bloom_clk_column('plain', 'other', schema, 'rotation_2027') FROM linkage;
SELECT bloom_clk_column('plain', 'late', schema, 'rotation_2027', '{}') FROM linkage;
SELECT tgnargs FROM pg_trigger WHERE tgrelid = 'plain'::regclass;
-- The server may read triggers anew while they are looked at: one with assertions does whenever it can.
SELECT set_config('debug_discard_caches', least(max_val::int, 1)::text, false) AS discards FROM pg_settings WHERE name = 'debug_discard_caches' \gset
CALL bloom_clk_fill('plain', 'late');
RESET debug_discard_caches;
-- What a session remembers of a secret is not used for another one, whatever check value somebody has written to its name.
SELECT bloom_secret_create('rotation_again') AS check_value \gset
SELECT bloom_clk_id(schema, 'rotation_again') AS id FROM linkage \gset
SELECT bloom_secret_drop('rotation_again');
SELECT length(bloom_secret_create('rotation_again'));
DELETE FROM bloom_secrets WHERE name = 'rotation_again';
INSERT INTO bloom_secrets VALUES ('rotation_again', :'check_value', now());
SELECT bloom_clk_id(schema, 'rotation_again') <> :'id' AS is_of_the_new_one FROM linkage;
SELECT bloom_secret_drop('rotation_again');
-- What fires later is not in the signature.
CREATE FUNCTION upper_name() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.name := upper(NEW.name); RETURN NEW; END $$;
CREATE TRIGGER upper_name BEFORE INSERT ON plain FOR EACH ROW EXECUTE FUNCTION upper_name();
SELECT bloom_clk_column('plain', 'sig', schema, 'rotation_2027') FROM linkage;
-- Policies that hide rows from their owner, triggers that do not fire, and children, whose triggers are their own.
CREATE TABLE hidden (id int, name text);
INSERT INTO hidden SELECT i, 'name ' || i FROM generate_series(1, 10) AS i;
GRANT CREATE ON SCHEMA rotation TO regress_rotation;
ALTER TABLE hidden OWNER TO regress_rotation;
SELECT bloom_secret_grant('rotation_2027', 'regress_rotation');
GRANT SELECT ON linkage TO regress_rotation;
SET ROLE regress_rotation;
SELECT bloom_clk_column('hidden', 'sig', schema, 'rotation_2027'), bloom_clk_column('hidden', 'next', schema, 'rotation_2027', fill => false) FROM linkage;
CREATE POLICY visible ON hidden USING (id <= 5);
ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;
ALTER TABLE hidden FORCE ROW LEVEL SECURITY;
\set VERBOSITY terse
CALL bloom_clk_fill('hidden', 'next');
SELECT bloom_clk_replace('hidden', 'sig', 'next');
\set VERBOSITY default
ALTER TABLE hidden NO FORCE ROW LEVEL SECURITY;
ALTER TABLE hidden DISABLE TRIGGER hidden_next_clk;
CALL bloom_clk_fill('hidden', 'next');
ALTER TABLE hidden ENABLE REPLICA TRIGGER hidden_next_clk;
CALL bloom_clk_fill('hidden', 'next');
ALTER TABLE hidden ENABLE ALWAYS TRIGGER hidden_next_clk;
CALL bloom_clk_fill('hidden', 'next');
SELECT bloom_clk_replace('hidden', 'sig', 'next');
SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = 'hidden'::regclass;
CREATE TABLE child () INHERITS (hidden);
SELECT bloom_clk_column('hidden', 'other', schema, 'rotation_2027') FROM linkage;
CALL bloom_clk_fill('hidden', 'sig');
RESET ROLE;
-- The signature of a row does not depend on the session's settings.
CREATE TABLE seen_at (name timestamptz, part float8, sig_no int);
INSERT INTO seen_at VALUES ('2026-11-27 12:00:00+00', 0.1::float8 + 0.2, 1);
SELECT bloom_clk_column('seen_at', 'sig', jsonb_set(schema, '{features,1}', jsonb_set(schema #> '{features,0}', '{identifier}', '"part"')), 'rotation_2027') FROM linkage;
SET timezone = 'Asia/Tokyo';
SET extra_float_digits = 0;
INSERT INTO seen_at VALUES ('2026-11-27 12:00:00+00', 0.1::float8 + 0.2, 2);
RESET timezone;
RESET extra_float_digits;
SELECT count(DISTINCT sig) FROM seen_at;
-- A salt that the schema hashes as a date is another one than the text that stands there, and has another id.
SELECT bloom_clk_id(s, 'rotation_2027', '{"salt": ["born"]}') <> bloom_clk_id(jsonb_set(s, '{features,1,identifier}', '"dob"'), 'rotation_2027', '{"salt": ["born"]}')
FROM linkage, LATERAL (SELECT jsonb_set(schema, '{features,1}', jsonb_set(schema #> '{features,0}', '{identifier}', '"born"') || '{"format": {"type": "date", "format": "%Y-%m-%d"}}') AS s) AS dated;
-- Names that are cut; transactions that only read; roles that are none.
CREATE TABLE a_register_with_a_name_that_is_as_long_as_names_may_be (name text, a_column_of_signatures_by_the_first_secret text);
SELECT bloom_clk_column('a_register_with_a_name_that_is_as_long_as_names_may_be', 'signatures_by_the_first_of_all_secrets', schema, 'rotation_2027'),
    bloom_clk_column('a_register_with_a_name_that_is_as_long_as_names_may_be', 'signatures_by_the_first_of_all_columns', schema, 'rotation_2027') FROM linkage;
SELECT bloom_clk_column('a_register_with_a_name_that_is_as_long_as_names_may_be', 'signatures_by_the_first_of_all_columns', schema, 'rotation_2027') FROM linkage;
BEGIN READ ONLY;
SELECT bloom_secret_create('rotation_read_only');
ROLLBACK;
SELECT bloom_secret_grant('rotation_2027', 99999);
-- Ids that a linkage unit takes: a foreign key to them.
INSERT INTO bloom_clk_ids (id, name, length) SELECT bloom_clk_id(schema, 'rotation_2027'), 'study of 2027', 512 FROM linkage;
CREATE TABLE received (id int, sig bloom(clk,512), clk_id text GENERATED ALWAYS AS (bloom_id(sig)) STORED NOT NULL REFERENCES bloom_clk_ids);
INSERT INTO received SELECT 1, bloom_clk_from_base64(bloom_clk_base64(late), (SELECT id FROM bloom_clk_ids WHERE name = 'study of 2027')) FROM (SELECT bloom_clk('{"name": "Anna"}', schema, 'rotation_2027') AS late FROM linkage) AS s;
\set VERBOSITY terse
INSERT INTO received VALUES (2, bloom_clk_from_base64(repeat('A', 86) || '==', '00000000000000ab'));
INSERT INTO bloom_clk_ids (id, name) VALUES ('00000000000000AB', 'upper case');
INSERT INTO bloom_clk_ids (id, name) VALUES ('0000000000000000', 'none');
SET ROLE regress_rotation;
INSERT INTO bloom_clk_ids (id, name) VALUES ('00000000000000ab', 'x');
SELECT name, length FROM bloom_clk_ids;
RESET ROLE;
\set VERBOSITY default
DROP TABLE received;
DELETE FROM bloom_clk_ids;
DROP OWNED BY regress_rotation CASCADE;
DROP ROLE regress_rotation;
SELECT bloom_secret_drop('rotation_2027');
SET client_min_messages = warning;
DROP SCHEMA rotation CASCADE;
