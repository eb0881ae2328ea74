-- Keyed signatures: secrets, and records encoded by linkage schemas. tests/secrets.test.sh has what becomes of secrets elsewhere, core/clk/tests what clkhash gives for 10,164 records.
CREATE SCHEMA keyed;
SET search_path = keyed, public;
SET client_min_messages = error;
CREATE VIEW schemas AS SELECT '{"version": 1,
    "clkConfig": {"l": 1024, "k": 30, "kdf": {"type": "HKDF", "hash": "SHA256", "salt": "SCbL2zHNnmsckfzchsNkZY9XoHk96P/G5nUBrM7ybymlEFsMV6PAeDZCNp3rfNUPCtLDMOGQHG4pCQpfhiHCyA==", "info": "c2NoZW1hX2V4YW1wbGU=", "keySize": 64}, "hash": {"type": "doubleHash"}},
    "features": [
        {"identifier": "name", "format": {"type": "string", "encoding": "utf-8", "case": "upper"}, "hashing": {"ngram": 2, "weight": 2}},
        {"identifier": "id", "format": {"type": "string", "encoding": "ascii", "pattern": "[a-z][a-z][a-z]\\d\\d\\d"}, "hashing": {"ngram": 1, "positional": true}},
        {"identifier": "dob", "format": {"type": "date", "format": "%Y-%m-%d", "description": "When were ya born?"}, "hashing": {"ngram": 2, "positional": true, "weight": 0.5}},
        {"identifier": "gender", "format": {"type": "enum", "values": ["M", "F"]}, "hashing": {"ngram": 1, "positional": false}},
        {"identifier": "children", "format": {"type": "integer", "maximum": 20}, "hashing": {"ngram": 1, "positional": true}}]}'::jsonb AS regression,
    '{"version": 3, "clkConfig": {"l": 1024, "kdf": {"type": "HKDF"}}, "features": [
        {"identifier": "given", "format": {"type": "string"}, "hashing": {"comparison": {"type": "ngram", "n": 2}, "strategy": {"bitsPerFeature": 150}, "missingValue": {"sentinel": ""}}},
        {"identifier": "surname", "format": {"type": "string", "maxLength": 40}, "hashing": {"comparison": {"type": "ngram", "n": 2}, "strategy": {"bitsPerFeature": 150}, "missingValue": {"sentinel": ""}}},
        {"identifier": "dob", "format": {"type": "date", "format": "%Y-%m-%d"}, "hashing": {"comparison": {"type": "ngram", "n": 1, "positional": true}, "strategy": {"bitsPerFeature": 100}, "missingValue": {"sentinel": ""}}}]}'::jsonb AS people;
-- Secrets.
SELECT bloom_secret_import('chicken', 'chicken'), bloom_secret_import('same', 'chicken'::bytea);
SELECT bloom_secret_import('study', sha256('study'));
SELECT length(bloom_secret_create('made'));
SELECT bloom_secret_export('chicken'), length(bloom_secret_export('made')), count(*) FROM bloom_secrets WHERE created <= now();
SELECT bloom_secret_import('sent', lo_from_bytea(0, 'a secret that nobody has written down')), (SELECT count(*) FROM pg_largeobject_metadata);
SELECT bloom_secret_create('study');
SELECT bloom_secret_import('study', 'another one');
SELECT bloom_secret_create('');
SELECT bloom_secret_import('empty', '');
SELECT bloom_secret_import('long', repeat('x', 65537));
SELECT bloom_secret_import('none', 4294967295::oid);
SELECT bloom_secret_export('nobody');
SELECT bloom_secret_drop('nobody');
SELECT bloom_secret_create(NULL) IS NULL;
SET client_min_messages = warning;
SELECT bloom_secret_import('short', 'fifteen letters');
SELECT bloom_secret_import('hexadecimal', '\x00112233445566778899AABBCCDDEEFF'::bytea);
SELECT bloom_secret_import('random', decode(md5('sixteen') || md5('more'), 'hex'));
SET client_min_messages = error;
SELECT bloom_secret_drop(name) FROM unnest('{short,hexadecimal,random,sent,made}'::name[]) AS name;
-- As clkhash: its own test of regression.
SELECT bloom_clk_base64(bloom_clk('{"name": "KÉVIN", "id": "kev007", "dob": "1963-12-13", "gender": "M", "children": "1"}', regression, 'chicken'))
    = 'SU9+/O/Jzzi0sfzH8K2l3+qfhn8Ky3jVI21DVdH9j2fXE++JH8GcQGSeYxDZFxALCAT8CHwYJyQcRT3MhUQOFWcOf5fWdr6ofh6DYy8iv////weyunbMahfV9RMWkRwQmBL3fjreUVOCS9D9kAbQC2XgULidKCTHd9ZpbPJ91eE=',
    bloom_clk_base64(bloom_clk('{"name": "JOHN HOWARD, ESQ.", "id": "stv534", "dob": "1992-02-29", "gender": "M", "children": 16}', regression, 'same'))
    = 'Pfl1/d7/31/+9u9x9zv//76/83//0v1Xt/dX/3X/e79XP7vd+Xfkf//2/9Xb/7Fd73e9f/n0f/c7Vb99B/X29d8997Pz/vJ87X/X/vcX9vt1d+/+5bP1fvfevnfX8d/f/j0XPL7f999kc/28/3d4c7t/9b/+Pf411/f2+3z1d/s='
FROM schemas;
-- Ids are those of what decides the bits.
SELECT bloom_clk_id(people, 'chicken') = bloom_clk_id(people, 'same'), bloom_clk_id(people, 'chicken') = bloom_clk_id(people, 'study'), bloom_clk_id(people, 'chicken') = bloom_clk_id(regression, 'chicken'),
    bloom_clk_id(people, 'chicken') = bloom_clk_id(jsonb_set(people, '{features,1,identifier}', '"family"') #- '{features,1,format,maxLength}', 'chicken'), bloom_clk_id(people, 'chicken') = bloom_clk_id(jsonb_set(people, '{clkConfig,l}', '512'), 'chicken'),
    bloom_clk_id(people, 'chicken'), bloom_id(bloom_clk('{"given": null, "surname": "", "dob": ""}', people, 'chicken')), bloom_id(bloom_signature('x')) FROM schemas;
-- Records that cannot be encoded: what is wrong is said, and not the value.
SELECT bloom_clk('{"given": "Anna", "surname": "Berg"}', people, 'study') FROM schemas;
SELECT bloom_clk('{"given": "Anna", "surname": ["Berg"], "dob": ""}', people, 'study') FROM schemas;
SELECT bloom_clk('{"given": "Anna", "surname": "Berg", "dob": "13.12.1963"}', people, 'study') FROM schemas;
SELECT bloom_clk(jsonb_build_object('given', 'Anna', 'surname', repeat('x', 41), 'dob', ''), people, 'study') FROM schemas;
SELECT bloom_clk('{"name": "Kevin", "id": "kev007", "dob": "1963-12-13", "gender": "M", "children": "1"}', regression, 'study') FROM schemas;
SELECT bloom_clk('{"name": "KEVIN", "id": "kevin", "dob": "1963-12-13", "gender": "M", "children": "1"}', regression, 'study') FROM schemas;
SELECT bloom_clk('{"name": "KEVIN", "id": "kev007", "dob": "1963-12-13", "gender": "x", "children": "1"}', regression, 'study') FROM schemas;
SELECT bloom_clk('{"name": "KEVIN", "id": "kev007", "dob": "1963-12-13", "gender": "M", "children": "21"}', regression, 'study') FROM schemas;
SELECT bloom_clk('["Anna"]', people, 'study') FROM schemas;
SELECT bloom_clk('{}', '[]', 'study');
SELECT bloom_clk('{}', '{}', 'study');
SELECT bloom_clk(NULL, people, 'study') IS NULL, bloom_clk('{}', NULL, 'study') IS NULL, bloom_clk('{}', people, NULL) IS NULL FROM schemas;
SELECT bloom_clk('{}', people, 'nobody') FROM schemas;
-- Schemas that are none, or ask for what is not supported.
CREATE TABLE changed (n serial, path text[], value jsonb);
INSERT INTO changed (path, value) VALUES ('{version}', '4'), ('{version}', '"3"'), ('{clkConfig,l}', '1000'), ('{clkConfig,l}', '0'), ('{clkConfig,l}', '65536'), ('{clkConfig,l}', '1.5'), ('{clkConfig,kdf,type}', '"PBKDF2"'),
    ('{clkConfig,kdf,hash}', '"SHA1"'), ('{clkConfig,kdf,salt}', '"*"'), ('{clkConfig,kdf,keySize}', '65'), ('{clkConfig,kdf,keySize}', '5000'), ('{clkConfig,xor_folds}', '7'), ('{clkConfig,xorFolds}', '1'), ('{features}', '{}'),
    ('{features,0,format,type}', '"float"'), ('{features,0,format,encoding}', '"latin-1"'), ('{features,0,format,case}', '"title"'), ('{features,0,format,pattern}', '"(?=a)"'), ('{features,0,format,pattern}', '"a{,3}"'), ('{features,0,format,pattern}', '"\\bx"'),
    ('{features,0,format,pattern}', '"(?i)a"'), ('{features,0,format,pattern}', '"[a&&b]"'), ('{features,0,format,pattern}', '"(a"'), ('{features,0,format,length}', '3'), ('{features,2,format,format}', '"%c"'), ('{features,2,format,format}', '"%d%d"'),
    ('{features,2,format,format}', '"%Y%y"'), ('{features,2,format,format}', '"%"'), ('{features,0,hashing,hash}', '{"type": "sha"}'), ('{features,0,hashing,hash}', '{"type": "blakeHash", "prevent_singularity": true}'),
    ('{features,0,hashing,strategy}', '{"bitsPerToken": 1, "bitsPerFeature": 1}'), ('{features,0,hashing,strategy}', '{"bitsPerToken": 0}'), ('{features,0,hashing,strategy}', '{"k": 10}'), ('{features,0,hashing,comparison}', '{"type": "edit"}'),
    ('{features,0,hashing,comparison}', '{"type": "ngram"}'), ('{features,0,hashing,comparison}', '{"type": "numeric", "thresholdDistance": 0, "resolution": 1}'), ('{features,0,hashing,weight}', '1'),
    ('{features,0,format}', '{"type": "string", "encoding": "ascii"}'), ('{features,0,hashing,missingValue}', '{"replaceWith": "x"}');
CREATE FUNCTION refusal(schema jsonb, secret name DEFAULT 'study') RETURNS text LANGUAGE plpgsql AS $$
DECLARE message text; detail text; hint text;
BEGIN
    PERFORM bloom_clk_id(schema, secret);
    RETURN 'none';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' | ', SQLSTATE, message, nullif(detail, ''), nullif(hint, ''));
END $$;
SELECT n, refusal(jsonb_set(people, path, value)) FROM changed, schemas ORDER BY n;
-- Forms of a value.
CREATE TABLE person AS SELECT i AS id, initcap(left(word, 6)) AS given, initcap(substr(word, 7, 9)) AS surname, date '1940-01-01' + (i * 7919) % 25000 AS dob
    FROM (SELECT i, translate(md5('person ' || i), '0123456789', 'ghijklmnop') AS word FROM generate_series(1, 400) AS i) AS of_word;
INSERT INTO person SELECT id + 1000, given, overlay(surname PLACING 'x' FROM 3 FOR 1), dob FROM person WHERE id <= 40;
ALTER TABLE person ADD PRIMARY KEY (id), ADD sig bloom(clk, 1024);
UPDATE person AS p SET sig = bloom_clk(to_jsonb(p), people, 'study') FROM schemas;
SELECT bool_and(sig = sig::text::bloom), bool_and(sig = sig::jsonb::bloom), bool_and(sig = sig::bytea::bloom), bool_and(sig = bloom_clk_from_base64(bloom_clk_base64(sig), bloom_id(sig))), bool_and(length(sig::bytea) = 20 + 128),
    bool_and(bloom_hash(sig) = bloom_hash(sig::text::bloom)), count(DISTINCT sig) FROM person;
\d person
SELECT bloom_clk_from_base64('gAE=', '00000000000000ab')::text, bloom_clk_from_base64('gAA=', '00000000000000ab', 9)::text, bloom_clk_from_base64('gAA=', '00000000000000ab', 9)::jsonb;
SELECT bloom_clk_from_base64('gAE=', '00000000000000ab', 9);
SELECT bloom_clk_from_base64('gAE=', '00000000000000ab', 8);
SELECT bloom_clk_from_base64('g', '00000000000000ab');
SELECT bloom_clk_from_base64('gAE=', 'ab');
SELECT bloom_clk_from_base64('gAE=', '0000000000000000');
SELECT bloom_clk_from_base64('', '00000000000000ab');
SELECT bloom_clk_from_base64(NULL, '00000000000000ab') IS NULL, bloom_clk_from_base64('gAE=', NULL) IS NULL;
SELECT '(1,16,0,hash=2):0180'::bloom;
SELECT '(1,16,0,hash=2,id=0000000000000000):0180'::bloom;
SELECT '(2,16,0,hash=2,id=00000000000000ab):01800000'::bloom;
SELECT '(7,43,3,id=00000000000000ab):00'::bloom;
SELECT '(1,16,0,hash=2,id=AB):0180'::bloom;
SELECT '(1,5,3,hash=3,id=00000000000000ab):01'::bloom, '(1,5,0,hash=3,id=00000000000000ab):01'::bloom(keyed, 1, 5, 0);
SELECT '\x0201100000010200020000000000000000000000abcd'::bytea::bloom;
SELECT bloom_clk_from_base64('gAE=', '00000000000000ab')::bloom(clk, 24);
SELECT bloom_signature('x')::bloom(clk, 1024);
SELECT sig::bloom(7, 43, 3) FROM person LIMIT 1;
SELECT '(1,16,0,hash=2,id=00000000000000ab):0180'::bloom(clk);
SELECT B'01'::bloom(clk, 2);
SELECT NULL::bloom(clk, 70000);
-- What needs to know how bits are set.
SELECT bloom_add(sig, 'x') FROM person LIMIT 1;
SELECT bloom_contains(sig, 'x') FROM person LIMIT 1;
-- Other secrets and schemas do not compare.
SELECT bloom_sim(bloom_clk(to_jsonb(p), people, 'chicken'), sig) FROM person AS p, schemas WHERE id = 1;
SELECT bloom_sim(bloom_clk(to_jsonb(p), people, 'chicken'), bloom_clk(to_jsonb(p), people, 'same')) FROM person AS p, schemas WHERE id = 1;
SELECT bloom_sim(bloom_signature('x'), sig) FROM person WHERE id = 1;
-- Searches, joins and constraints by each index are those of the table.
CREATE FUNCTION answers() RETURNS TABLE (near bigint, dice bigint, nearest text, pairs bigint) LANGUAGE sql AS $$
    SELECT (SELECT count(*) FROM person AS a, person AS b WHERE a.id < 60 AND b.sig % bloom_query(a.sig, 0.6)), (SELECT count(*) FROM person AS a, person AS b WHERE a.id < 60 AND bloom_dice(b.sig, a.sig) >= 0.85),
        (SELECT string_agg(d::numeric(5, 4)::text, ' ') FROM (SELECT sig <-> (SELECT sig FROM person WHERE id = 7) AS d FROM person ORDER BY sig <-> (SELECT sig FROM person WHERE id = 7) LIMIT 5) AS n),
        (SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', 0.6)) $$;
SELECT * FROM answers();
CREATE INDEX by_sigfile ON person USING sigfile (sig);
ANALYZE person;
SET enable_seqscan = off;
SELECT * FROM answers();
INSERT INTO person (id, sig) SELECT 5000, bloom_clk('{"given": "Anna", "surname": "Berg", "dob": "1963-12-13"}', people, 'chicken') FROM schemas;
SELECT shape = '(1,1024,0,hash=2,id=' || (SELECT bloom_id(sig) FROM person LIMIT 1) || ')' FROM bloom_sigfile_stats('by_sigfile');
SELECT bloom_sigfile_check('by_sigfile');
DROP INDEX by_sigfile;
CREATE INDEX by_gist ON person USING gist (sig);
SELECT * FROM answers();
INSERT INTO person (id, sig) SELECT 5000, bloom_clk('{"given": "Anna", "surname": "Berg", "dob": "1963-12-13"}', people, 'chicken') FROM schemas;
DROP INDEX by_gist;
RESET enable_seqscan;
DELETE FROM person WHERE id > 1000;
ALTER TABLE person ADD CONSTRAINT once EXCLUDE USING sigfile ((bloom_query(sig, 0.6)) WITH %);
\set VERBOSITY terse
INSERT INTO person (id, sig) SELECT 5000, bloom_clk(to_jsonb(p) || '{"dob": "1999-12-31"}', people, 'study') FROM person AS p, schemas WHERE id = 1;
INSERT INTO person (id, sig) SELECT 5000, bloom_clk('{"given": "Hedwig", "surname": "Einmalig", "dob": "1899-12-31"}', people, 'study') FROM schemas;
ALTER TABLE person DROP CONSTRAINT once;
SELECT bloom_guard_create('person', 'sig', 0.6, 'reject');
INSERT INTO person (id, sig) SELECT 5001, bloom_clk('{"given": "Hedwick", "surname": "Einmalig", "dob": "1899-12-31"}', people, 'study') FROM schemas;
\set VERBOSITY default
-- Hardened ones: each has an id of its own.
CREATE FUNCTION hard(record jsonb, hardening jsonb) RETURNS bloom STABLE LANGUAGE sql AS $$ SELECT bloom_clk(record, people, 'study', hardening) FROM schemas $$;
CREATE TABLE hardened (name text, hardening jsonb);
INSERT INTO hardened VALUES ('none', '{}'), ('salt', '{"salt": ["dob"]}'), ('two', '{"salt": ["dob", "zip"]}'), ('diffusion', '{"diffusion": 8}'), ('more', '{"diffusion": 12}'), ('balance', '{"balance": true}'),
    ('all', '{"salt": ["dob"], "diffusion": 8, "balance": true}'), ('other', '{"salt": ["zip"]}');
SELECT count(DISTINCT bloom_clk_id(people, 'study', hardening)), bool_and(bloom_clk_id(people, 'study', hardening) = bloom_id(hard('{"given": "Anna", "surname": "Berg", "dob": "1963-12-13", "zip": "1010"}', hardening))),
    bool_or(bloom_clk_id(people, 'study', hardening) = bloom_clk_id(people, 'study')) FROM hardened, schemas;
SELECT hard('{"given": "Anna", "surname": "Berg", "dob": "1963-12-13"}', '{}') = bloom_clk('{"given": "Anna", "surname": "Berg", "dob": "1963-12-13"}', people, 'study') FROM schemas;
-- Likes stay alike; with another salt nothing of a name does; a balanced signature has half of its bits set.
SELECT name, bloom_bits(a) AS bits, length(a::bytea) - 20 AS bytes, round(bloom_dice(a, b)::numeric, 2) AS "typing error", round(bloom_dice(a, c)::numeric, 2) AS "another day", round(bloom_dice(a, d)::numeric, 2) AS "another name"
FROM hardened, LATERAL (SELECT hard(r, hardening) AS a, hard(r || '{"surname": "Bergh"}', hardening) AS b, hard(r || '{"dob": "1963-12-14"}', hardening) AS c, hard(r || '{"given": "Otto", "surname": "Kowalski"}', hardening) AS d
    FROM (SELECT '{"given": "Annamaria", "surname": "Berg", "dob": "1963-12-13", "zip": "1010"}'::jsonb) AS p (r)) AS s ORDER BY name;
SELECT hard('{"given": "Anna", "surname": "Berg", "dob": "1963-12-13"}', '{"salt": ["zip"]}');
SELECT hard('{"given": "Anna", "surname": "Berg", "dob": "1963-12-13"}', '{"salt": "dob"}');
SELECT hard('{"given": "Anna", "surname": "Berg", "dob": "1963-12-13"}', '{"diffusion": 1}');
SELECT hard('{"given": "Anna", "surname": "Berg", "dob": "1963-12-13"}', '{"pepper": 1}');
SELECT hard('{"given": "Anna", "surname": "Berg", "dob": "1963-12-13"}', '[]');
SELECT bloom_clk('{}', people, 'study', NULL) IS NULL FROM schemas;
-- A salt that is a feature is taken as that is hashed; without one there is no signature.
SELECT hard('{"given": "Anna", "surname": "Berg", "dob": ""}', '{"salt": ["dob"]}') IS NULL, hard('{"given": "Anna", "surname": "Berg", "dob": null, "zip": ""}', '{"salt": ["zip"]}') IS NULL,
    bloom_clk('{"given": "Anna", "surname": "Berg", "dob": "13.12.1963"}', jsonb_set(people, '{features,2,format,format}', '"%d.%m.%Y"'), 'study', '{"salt": ["dob"]}')
    = bloom_clk('{"given": "Anna", "surname": "Berg", "dob": "1963-12-13"}', people, 'study', '{"salt": ["dob"]}') FROM schemas;
-- Secrets of which one is the other with zeros, or the hash of the other, are told apart.
SELECT count(DISTINCT bloom_secret_import('s' || n, secret)) FROM (VALUES (1, repeat('x', 70)::bytea), (2, sha256(repeat('x', 70)::bytea)), (3, 'sixteen letters!'::bytea), (4, 'sixteen letters!\000'::bytea)) AS s (n, secret);
SELECT bloom_secret_drop(name) FROM unnest('{s1,s2,s3,s4}'::name[]) AS name;
-- What else needs to know how bits are set; and filters of few bits.
SELECT bloom_ngram_count(sig) FROM person LIMIT 1;
SELECT bloom_fpr(sig) FROM person LIMIT 1;
SELECT bloom_bits(bloom_clk_from_base64('gA==', '00000000000000ab', 1)), bloom_bits(bloom_clk_from_base64('wA==', '00000000000000ab', 2));
-- Bits that are flipped by chance.
SELECT bloom_id(f) = bloom_id(sig), bloom_id(f) = bloom_id(bloom_clk_flip(sig, 0.1)), bloom_id(f) = bloom_id(bloom_clk_flip(sig, 0.2)), f = bloom_clk_flip(sig, 0.1) FROM person, LATERAL (SELECT bloom_clk_flip(sig, 0.1) AS f) AS flipped WHERE id = 1;
SELECT avg((SELECT count(*) FROM generate_series(0, 1023) AS i WHERE get_bit(a, i) <> get_bit(b, i))) BETWEEN 92 AND 112 FROM (SELECT substring(sig::bytea FROM 21) AS a, substring(bloom_clk_flip(sig, 0.1)::bytea FROM 21) AS b FROM person WHERE id <= 60) AS p;
SELECT bloom_clk_flip(bloom_signature('x'), 0.1);
SELECT bloom_clk_flip(sig, 0) FROM person WHERE id = 1;
SELECT bloom_clk_flip(sig, 0.6) FROM person WHERE id = 1;
SELECT bloom_clk_flip(sig, 'NaN') FROM person WHERE id = 1;
-- A column that a trigger keeps, by the rights of who enters rows.
CREATE TABLE visitor (id serial PRIMARY KEY, name text, given text GENERATED ALWAYS AS (name) STORED, surname varchar(40), gone int, dob date, zip text);
ALTER TABLE visitor DROP gone;
INSERT INTO visitor (name, surname, dob) VALUES ('Anna', 'Berg', '1963-12-13'), (NULL, NULL, NULL);
SET datestyle = 'German';
SELECT bloom_clk_column('visitor', 'sig', people, 'study') FROM schemas;
INSERT INTO visitor (name, surname, dob) VALUES ('Otto', 'Kowal', '1970-01-02');
COPY visitor (name, surname, dob) FROM stdin (DELIMITER ',');
Zoë,Ng,1999-12-31
\.
INSERT INTO visitor (id, name, surname, dob) VALUES (1, 'x', 'y', '2000-01-01') ON CONFLICT (id) DO UPDATE SET surname = 'Bergh';
UPDATE visitor SET dob = '1970-01-03', sig = NULL WHERE id = 3;
MERGE INTO visitor AS v USING (VALUES (4, 'Zoé')) AS s (id, given) ON v.id = s.id WHEN MATCHED THEN UPDATE SET name = s.given;
SELECT id, surname, dob, sig IS NOT DISTINCT FROM bloom_clk(to_jsonb(v), people, 'study') AS "as encoded", bloom_bits(sig) FROM visitor AS v, schemas ORDER BY id;
INSERT INTO visitor (surname) VALUES (repeat('x', 41));
RESET datestyle;
SELECT bloom_clk_column('visitor', 'sig', people, 'study') FROM schemas;
SELECT bloom_clk_column('visitor', 'salted', people, 'study', '{"salt": ["zip"], "balance": true}') FROM schemas;
UPDATE visitor SET zip = '1010' WHERE id = 1;
SELECT bool_and(salted = bloom_clk(to_jsonb(v), people, 'study', '{"salt": ["zip"], "balance": true}')), count(DISTINCT bloom_id(sig) || bloom_id(salted)) FROM visitor AS v, schemas;
\d visitor
SELECT bloom_clk_column('visitor', 'other', regression, 'study') FROM schemas;
SELECT bloom_clk_column('visitor', 'other', people, 'study', '{"salt": ["town"]}') FROM schemas;
SELECT bloom_clk_column('visitor', 'other', people, 'nobody') FROM schemas;
SELECT bloom_clk_column('schemas', 'other', people, 'study') FROM schemas;
SELECT bloom_clk_column('visitor', 'zip', people, 'study') FROM schemas;
SELECT bloom_clk_column('visitor', 'other', people, NULL) IS NULL FROM schemas;
ALTER TABLE visitor RENAME sig TO signature;
INSERT INTO visitor (name) VALUES ('x');
ALTER TABLE visitor RENAME signature TO sig;
CREATE TRIGGER wrong AFTER INSERT ON visitor FOR EACH ROW EXECUTE FUNCTION bloom_clk_keep('sig', 'study', 'x', '{}');
INSERT INTO visitor (name) VALUES ('x');
DROP TRIGGER wrong ON visitor;
CREATE TRIGGER wrong BEFORE INSERT ON visitor FOR EACH ROW EXECUTE FUNCTION bloom_clk_keep('sig');
INSERT INTO visitor (name) VALUES ('x');
DROP TRIGGER wrong ON visitor;
CREATE TRIGGER wrong BEFORE INSERT ON visitor FOR EACH ROW EXECUTE FUNCTION bloom_clk_keep('sig', 'study', 'x', '{"version": 3');
INSERT INTO visitor (name) VALUES ('x');
DROP TRIGGER wrong ON visitor;
ALTER TABLE visitor ADD short bloom(clk, 512);
SELECT bloom_clk_column('visitor', 'short', people, 'study') FROM schemas;
SELECT bloom_clk_keep();
-- A partitioned table; rows that move are encoded anew.
CREATE TABLE parted (id int, surname text, given text, dob date) PARTITION BY LIST (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE TABLE parted_2 (dob date, given text, id int, surname text);
ALTER TABLE parted ATTACH PARTITION parted_2 DEFAULT;
SELECT bloom_clk_column('parted', 'sig', people, 'study') FROM schemas;
INSERT INTO parted VALUES (1, 'Berg', 'Anna', '1963-12-13'), (2, 'Kowal', 'Otto', '1970-01-02');
UPDATE parted SET id = 3 - id, given = given || 'x';
SELECT tableoid::regclass, id, given, sig = bloom_clk(to_jsonb(p), people, 'study') FROM parted AS p, schemas ORDER BY id;
-- Who may.
CREATE ROLE regress_keyed_owner;
CREATE ROLE regress_keyed_clerk;
CREATE ROLE regress_keyed_clerks ROLE regress_keyed_clerk;
GRANT USAGE ON SCHEMA keyed TO regress_keyed_owner, regress_keyed_clerk;
GRANT SELECT ON schemas TO regress_keyed_owner, regress_keyed_clerk;
SET ROLE regress_keyed_owner;
SELECT bloom_secret_create('mine');
RESET ROLE;
SELECT format('GRANT CREATE ON DATABASE %I TO regress_keyed_owner', current_database()) \gexec
SET ROLE regress_keyed_owner;
SELECT length(bloom_secret_create('mine'));
SELECT bloom_secret_export('study');
SELECT bloom_secret_drop('study');
SELECT bloom_secret_grant('study', 'regress_keyed_clerk');
SELECT * FROM bloom_secret_values;
SELECT * FROM bloom_secret_grants;
INSERT INTO bloom_secrets VALUES ('forged', 'x', now());
SELECT bloom_clk_id(people, 'study') FROM schemas;
SET ROLE regress_keyed_clerk;
SELECT bloom_clk_id(people, 'mine') FROM schemas;
SET ROLE regress_keyed_owner;
SELECT bloom_secret_grant('mine', 'regress_keyed_clerks'), bloom_secret_grant('mine', 'regress_keyed_clerks');
SET ROLE regress_keyed_clerk;
SELECT length(bloom_clk_id(people, 'mine')) FROM schemas;
SELECT bloom_secret_export('mine');
SELECT bloom_secret_revoke('mine', 'regress_keyed_clerks');
SET ROLE regress_keyed_owner;
SELECT bloom_secret_revoke('mine', 'regress_keyed_clerk');
SELECT bloom_secret_revoke('mine', 'regress_keyed_clerks');
SET ROLE regress_keyed_clerk;
SELECT bloom_clk_id(people, 'mine') FROM schemas;
RESET ROLE;
-- Of a row no more is looked at than the schema and the salt need: a value whose form in JSON is an error harms only if it is a member.
CREATE TYPE loud AS ENUM ('a', 'b');
CREATE FUNCTION loud_json(loud) RETURNS json LANGUAGE plpgsql AS $$ BEGIN RAISE 'loud % is read', $1; END $$;
CREATE CAST (loud AS json) WITH FUNCTION loud_json(loud);
CREATE TABLE beside (other loud, given text, surname text, dob date, twice loud GENERATED ALWAYS AS (other) STORED);
SELECT bloom_clk_column('beside', 'sig', people, 'study'), bloom_clk_column('beside', 'salted', people, 'study', '{"salt": ["dob"]}') FROM schemas;
INSERT INTO beside VALUES ('a', 'Anna', 'Berg', '1963-12-13'), ('b', 'Otto', NULL, NULL);
SELECT bool_and(sig = bloom_clk(record, people, 'study')), bool_and(salted IS NOT DISTINCT FROM bloom_clk(record, people, 'study', '{"salt": ["dob"]}'))
FROM beside, schemas, LATERAL (SELECT jsonb_build_object('given', given, 'surname', surname, 'dob', dob) AS record) AS r;
SELECT bloom_clk_column('beside', 'of_twice', people, 'study', '{"salt": ["twice"]}', fill => false) FROM schemas;
\set VERBOSITY terse
UPDATE beside SET given = 'Anne' WHERE other = 'a';
\set VERBOSITY default
DROP TABLE beside;
-- Numbers beyond all floats.
SELECT bloom_clk_id(jsonb_set(people, '{clkConfig,l}', '1e500'), 'study') FROM schemas;
SELECT bloom_clk_id(jsonb_set(people, '{version}', '-1e500'), 'study') FROM schemas;
SELECT bloom_clk_id(people, 'study', '{"diffusion": 1e500}') FROM schemas;
SELECT bloom_clk_id('{"bloom_ident": 1, "fpr": 1e500, "features": ["given"]}', 'study');
SELECT bloom_clk_id(people || '{"comment": 1e500}', 'study') = bloom_clk_id(people, 'study') AS passed_over FROM schemas;
-- A trigger lends nobody's rights: whoever enters rows needs one himself. With another secret of the name nothing is entered.
CREATE TABLE entry (given text, surname text, dob date);
ALTER TABLE entry OWNER TO regress_keyed_owner;
GRANT INSERT, TRIGGER ON entry TO regress_keyed_clerk;
SET ROLE regress_keyed_owner;
SELECT bloom_clk_column('entry', 'sig', people, 'mine') FROM schemas;
SET ROLE regress_keyed_clerk;
INSERT INTO entry VALUES ('Anna', 'Berg', '1963-12-13');
SET ROLE regress_keyed_owner;
SELECT bloom_secret_grant('mine', 'regress_keyed_clerk');
SET ROLE regress_keyed_clerk;
INSERT INTO entry VALUES ('Anna', 'Berg', '1963-12-13');
INSERT INTO entry VALUES ('Anna', 'Berg', '1963-12-13') RETURNING sig;
RESET ROLE;
SELECT count(*), count(sig), bool_and(bloom_id(sig) = bloom_clk_id(people, 'mine')) FROM entry, schemas;
BEGIN;
SELECT bloom_secret_drop('mine'), bloom_secret_import('mine', 'another one') IS NULL;
\set VERBOSITY terse
INSERT INTO entry VALUES ('Anna', 'Berg', '1963-12-13');
\set VERBOSITY default
ROLLBACK;
DROP TABLE entry;
SELECT bloom_secret_revoke('mine', 'regress_keyed_clerk');
-- Uses are counted, also those that are rolled back; never too few.
SELECT uses AS before FROM bloom_secret_values WHERE name = 'mine' \gset
BEGIN;
SELECT count(DISTINCT bloom_clk(to_jsonb(p), people, 'mine')) > 300 FROM person AS p, schemas WHERE id < 5000;
ROLLBACK;
SELECT uses - :before BETWEEN 400 - 64 AND 1500 FROM bloom_secret_values WHERE name = 'mine';
-- What a role was granted that has been dropped goes when the secret is granted to another one.
CREATE ROLE regress_keyed_gone;
CREATE ROLE regress_keyed_heir;
SELECT bloom_secret_grant('mine', 'regress_keyed_gone');
DROP ROLE regress_keyed_gone;
SELECT bloom_secret_grant('mine', 'regress_keyed_heir');
SELECT role FROM bloom_secret_grants WHERE name = 'mine' ORDER BY role::text;
SELECT bloom_secret_revoke('mine', 'regress_keyed_heir');
DROP ROLE regress_keyed_heir;
-- A secret that is made anew is another one.
SELECT bloom_clk_id(people, 'mine') AS id FROM schemas \gset
BEGIN;
SELECT bloom_secret_drop('mine'), bloom_secret_create('mine') IS NULL;
SELECT bloom_clk_id(people, 'mine') = :'id' FROM schemas;
ROLLBACK;
SELECT bloom_clk_id(people, 'mine') = :'id' FROM schemas;
CREATE TABLE seen (n serial, id text);
DO $$
DECLARE schema jsonb := (SELECT people FROM schemas);
BEGIN
    INSERT INTO seen (id) VALUES (bloom_clk_id(schema, 'mine'));
    BEGIN
        PERFORM bloom_secret_drop('mine'), bloom_secret_create('mine');
        INSERT INTO seen (id) VALUES (bloom_clk_id(schema, 'mine'));
        PERFORM bloom_secret_create('later');
        PERFORM bloom_clk_id(schema, 'later');
        RAISE 'all of this is rolled back, but %', bloom_clk_id(schema, 'mine') = (SELECT id FROM seen WHERE n = 2) USING ERRCODE = 'P0099';
    EXCEPTION WHEN SQLSTATE 'P0099' THEN RAISE INFO '%', SQLERRM;
    END;
    INSERT INTO seen (id) VALUES (bloom_clk_id(schema, 'mine'));
    BEGIN
        PERFORM bloom_clk_id(schema, 'later');
    EXCEPTION WHEN undefined_object THEN RAISE INFO '%', SQLERRM;
    END;
END $$;
SELECT n, id = :'id' FROM seen ORDER BY n;
-- One that a dump knows, and that is not there.
SELECT bloom_secret_export('mine') AS bytes \gset
DELETE FROM bloom_secret_values WHERE name = 'mine';
SELECT regexp_replace(refusal(people, 'mine'), '[0-9a-f]{16}', '…') FROM schemas;
\set VERBOSITY terse
SELECT bloom_secret_import('mine', 'not the one that it was');
\set VERBOSITY default
\set VERBOSITY terse
SELECT bloom_secret_grant('mine', 'regress_keyed_clerk');
\set VERBOSITY default
SET ROLE regress_keyed_clerk;
SELECT bloom_secret_drop('mine');
RESET ROLE;
SELECT length(bloom_secret_import('mine', :'bytes'::bytea));
SELECT bloom_clk_id(people, 'mine') = :'id' FROM schemas;
SELECT bloom_secret_drop('mine');
DROP OWNED BY regress_keyed_owner, regress_keyed_clerk;
DROP ROLE regress_keyed_clerks;
DROP ROLE regress_keyed_owner;
DROP ROLE regress_keyed_clerk;
SELECT bloom_secret_drop(name) FROM unnest('{chicken,same,study}'::name[]) AS name;
SELECT count(*) FROM bloom_secrets;
DROP SCHEMA keyed CASCADE;
