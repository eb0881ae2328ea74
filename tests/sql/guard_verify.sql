-- bloom_guard, option verify: rows that may be similar are compared by their tokens, and what is told is the exact similarity.
SET client_min_messages = error;
CREATE SCHEMA guard_verify;
SET search_path = guard_verify, public;
CREATE TABLE review (key text, duplicate text, similarity float8, found_at timestamptz, PRIMARY KEY (key, duplicate));
CREATE FUNCTION tokens_of(i int) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN i % 61 = 0 THEN '{}' WHEN i % 67 <> 0 THEN ARRAY(
        SELECT left(md5((CASE WHEN t <= i % 7 THEN i + 100000 ELSE i / 5 END)::text || t), 6) FROM generate_series(1, 20) AS t) END $$;
CREATE FUNCTION sim_of(a bloom, b bloom) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT bloom_sim(a, b)';
CREATE FUNCTION sim_of(a minhash_bits, b minhash_bits) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT minhash_sim(a, b)';
-- Rows for which another one was found, with the similarity of the most similar one; and what a comparison of all rows finds whose estimate is high enough.
CREATE FUNCTION compared(threshold float8, asked float8, at_once boolean) RETURNS TABLE (flagged bigint, expected bigint, different bigint, missed bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY WITH flagged AS (SELECT r.id, max(similarity) FROM (SELECT key::int, similarity FROM review UNION ALL SELECT duplicate::int, similarity FROM review WHERE at_once) AS r (id, similarity) GROUP BY r.id),
        alike AS (SELECT a.id, ident_token_sim(a.tokens, b.tokens)::float8 AS similarity, sim_of(a.sig, b.sig) AS estimate FROM message AS a JOIN message AS b ON b.id < a.id OR at_once AND b.id > a.id
            WHERE a.tokens <> '{}' AND b.tokens <> '{}' AND ident_token_sim(a.tokens, b.tokens) >= threshold),
        expected AS (SELECT s.id, max(s.similarity) FROM alike AS s WHERE estimate >= asked GROUP BY s.id)
    SELECT (SELECT count(*) FROM flagged), (SELECT count(*) FROM expected),
        (SELECT count(*) FROM (TABLE flagged EXCEPT TABLE expected) AS x) + (SELECT count(*) FROM (TABLE expected EXCEPT TABLE flagged) AS x),
        (SELECT count(DISTINCT s.id) FROM alike AS s WHERE NOT EXISTS (SELECT FROM flagged AS f WHERE f.id = s.id));
END $$;
CREATE FUNCTION all_of(numbers int[], methods text[], thresholds float8[], margins text[], to_id int, at_once boolean)
RETURNS TABLE (n int, method text, threshold float8, margin text, flagged bigint, expected bigint, different bigint, missed bigint) LANGUAGE plpgsql AS $$
DECLARE
    asked float8;
    type text;
BEGIN
    FOREACH n IN ARRAY numbers LOOP
        FOREACH method IN ARRAY methods LOOP
            FOREACH threshold IN ARRAY thresholds LOOP
                FOREACH margin IN ARRAY margins LOOP
                    DROP TABLE IF EXISTS message;
                    TRUNCATE review;
                    type := CASE n WHEN 0 THEN 'bloom GENERATED ALWAYS AS (bloom_signature_of_tokens(tokens)) STORED'
                        ELSE format('minhash_bits(%s) GENERATED ALWAYS AS (minhash_bits(tokens, %1$s)) STORED', n) END;
                    EXECUTE format('CREATE TABLE message (id int PRIMARY KEY, tokens text[], sig %s)', type);
                    IF method <> '' THEN
                        EXECUTE format('CREATE INDEX message_sig ON message USING %s (sig)', method);
                    END IF;
                    IF margin = '' THEN
                        PERFORM bloom_guard_create('message', 'sig', threshold, 'flag', 'review', 'guard_verify.review', 'verify', 'tokens');
                        asked := CASE n WHEN 0 THEN threshold - 0.05 ELSE (SELECT p.threshold FROM minhash_plan(1000, greatest(threshold, 1e-9), 0.99) AS p WHERE p.n = all_of.n) END;
                    ELSE
                        PERFORM bloom_guard_create('message', 'sig', threshold, 'flag', 'review', 'guard_verify.review', 'verify', 'tokens', 'margin', margin);
                        asked := threshold - margin::float8;
                    END IF;
                    IF at_once THEN
                        INSERT INTO message SELECT i, tokens_of(i) FROM generate_series(1, to_id) AS i;
                    ELSE
                        FOR i IN 1 .. to_id LOOP INSERT INTO message VALUES (i, tokens_of(i)); END LOOP;
                    END IF;
                    SELECT c.* INTO flagged, expected, different, missed FROM compared(threshold, asked - 1e-12, at_once) AS c;
                    RETURN NEXT;
                END LOOP;
            END LOOP;
        END LOOP;
    END LOOP;
END $$;
-- row by row, with each kind of index and with none; 0 is for signatures
SELECT * FROM all_of('{0,64}', '{sigfile,gist,""}', '{0.1,0.5,1}', '{"",0.3,1}', 120, false) WHERE different <> 0 OR method = 'sigfile';
-- many rows of one statement
SELECT * FROM all_of('{0,192}', '{sigfile}', '{0.6,0.9}', '{"",0}', 600, true);
SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'message'::regclass;
DROP TABLE message;

-- what is told, and what happens; the tokens are a generated column, which is not there yet before a row is
RESET client_min_messages;
CREATE TABLE message (id int PRIMARY KEY, tenant int, body text, tokens text[] GENERATED ALWAYS AS (ident_words(body)) STORED,
    bits minhash_bits(64) GENERATED ALWAYS AS (minhash_bits(ident_words(body), 64)) STORED);
CREATE INDEX message_bits ON message USING sigfile (bits);
CREATE FUNCTION prize(what text, rest text = '') RETURNS text LANGUAGE sql AS $$ SELECT 'you have won a prize of ' || what || ' pounds, call 0900 123 now to claim your prize before friday' || rest $$;
SELECT bloom_guard_create('message', 'bits', 0.85, 'reject', 'verify', 'tokens', 'keep', '0.5');
INSERT INTO message VALUES (1, 1, prize('1000'));
INSERT INTO message VALUES (2, 1, prize('2000'));
INSERT INTO message VALUES (3, 1, prize('3000', ' and monday')), (4, 1, ''), (5, 1, ''), (6, 1, NULL), (7, 1, '?');
SELECT m.id, ident_token_sim(m.tokens, ident_words(prize('1000'))), minhash_sim(m.bits, minhash_bits(ident_words(prize('1000')), 64)) FROM message AS m WHERE id IN (1, 3);
UPDATE message SET body = prize('1000', ' or monday') WHERE id = 3;
UPDATE message SET body = 'the train has stopped again' WHERE id = 1;
UPDATE message SET body = '?' WHERE id = 1;
UPDATE message SET tenant = 2 WHERE id = 1;
UPDATE message SET body = 'the train has stopped again' WHERE id = 7;
DROP TRIGGER message_bits_guard ON message;
SELECT bloom_guard_create('message', 'bits', 0.7, 'warn', 'verify', 'tokens', 'message', 'seen before', 'margin', '0.4');
INSERT INTO message VALUES (10, 1, prize('1000'));
DROP TRIGGER message_bits_guard ON message;
SELECT bloom_guard_create('message', 'bits', 0.85, 'skip', 'verify', 'tokens', 'within', 'tenant', 'keep', '0.3');
INSERT INTO message VALUES (11, 1, prize('5000')), (12, 9, prize('6000')), (13, 9, prize('7000')), (14, 9, ''), (15, 9, ''), (16, NULL, prize('1000'));
UPDATE message SET tenant = 9 WHERE id = 10;
UPDATE message SET body = 'the train has stopped again' WHERE id = 10;
UPDATE message SET body = prize('8000') WHERE id = 10;
SELECT id, tenant, body FROM message WHERE id >= 10 ORDER BY id;
-- rows that move between partitions
DROP TABLE message;
CREATE TABLE message (id int, tokens text[], bits minhash_bits(64) GENERATED ALWAYS AS (minhash_bits(tokens, 64)) STORED) PARTITION BY RANGE (id);
CREATE TABLE message1 PARTITION OF message FOR VALUES FROM (0) TO (10);
CREATE TABLE message2 (bits minhash_bits(64) GENERATED ALWAYS AS (minhash_bits(tokens, 64)) STORED, id int, tokens text[]);
ALTER TABLE message ATTACH PARTITION message2 FOR VALUES FROM (10) TO (20);
CREATE INDEX ON message USING sigfile (bits);
SELECT bloom_guard_create('message', 'bits', 0.6, 'skip', 'verify', 'tokens');
INSERT INTO message VALUES (1, '{a,b,c,d}'), (11, '{a,b,c,d,e}'), (2, '{k,l,m,n}'), (12, '{a,b,c,z}');
UPDATE message SET id = id + 10, tokens = tokens || '{o}';
UPDATE message SET id = 3, tokens = '{a,b,c,d,e}' WHERE id = 12;
SELECT tableoid::regclass, id, tokens FROM message ORDER BY id;
DROP TABLE message;

-- Tokens that are changed without the signature, those that are NULL or empty, and long ones that are kept out of line.
CREATE TABLE message (id int PRIMARY KEY, tenant int, tokens text[], bits minhash_bits) WITH (fillfactor = 50);
ALTER TABLE message ALTER tokens SET STORAGE EXTERNAL;
CREATE INDEX message_bits ON message USING sigfile (bits);
SELECT bloom_guard_create('message', 'bits', 0.8, 'reject', 'verify', 'tokens');
INSERT INTO message SELECT i, 1, t, minhash_bits('{a,b,c,d}', 64) FROM (VALUES (1, '{a,b,c,d}'::text[]), (2, '{a,b,x,y}'), (3, '{}'), (4, '{}'), (5, NULL), (6, NULL), (7, '{NULL}'), (8, '{p,p,q,NULL,r}')) AS m (i, t);
UPDATE message SET tokens = '{d,c,b,a,a,e}' WHERE id = 2;
UPDATE message SET tokens = '{d,c,b,a,a}' WHERE id = 7;
UPDATE message SET tokens = '{r,q,p}' WHERE id IN (5, 6);
UPDATE message SET tokens = '{r,q,q}' WHERE id = 8;
UPDATE message SET tenant = 2;
UPDATE message SET tokens = '{{a,b}}' WHERE id = 3;
SELECT id, tenant, tokens FROM message ORDER BY id;
-- a trigger that fires for other columns does not see it
DROP TRIGGER message_bits_guard ON message;
CREATE TRIGGER guard AFTER INSERT OR UPDATE OF bits ON message FOR EACH ROW EXECUTE FUNCTION bloom_guard('bits', '0.8', 'reject', 'verify', 'tokens');
UPDATE message SET tokens = '{d,c,b,a}' WHERE id = 2;
UPDATE message SET bits = bits WHERE id = 2;
UPDATE message SET bits = bits, tokens = tokens || '{}' WHERE id = 2;
UPDATE message SET bits = bits, tokens = tokens || '{d}' WHERE id = 2;
DELETE FROM message;
INSERT INTO message SELECT i, 1, t, minhash_bits(t, 64) FROM (SELECT i, ARRAY(SELECT md5((j + i)::text) FROM generate_series(1, 2000) AS j) AS t FROM unnest('{1,5000}'::int[]) AS i) AS long;
INSERT INTO message SELECT i, 1, t, minhash_bits(t, 64) FROM (SELECT i, ARRAY(SELECT md5((j + i)::text) FROM generate_series(1, 2000) AS j) AS t FROM unnest('{100}'::int[]) AS i) AS long;
INSERT INTO message SELECT i, 1, t, minhash_bits(t, 64) FROM (SELECT i, ARRAY(SELECT md5((j + i)::text) FROM generate_series(1, 2000) AS j) AS t FROM unnest('{5400}'::int[]) AS i) AS long;
UPDATE message SET tenant = 3, bits = bits;
SELECT id, cardinality(tokens) FROM message ORDER BY id;
-- deferred: by the tokens that rows have in the end
DROP TRIGGER guard ON message;
DELETE FROM message;
CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON message DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION bloom_guard('bits', '0.8', 'reject', 'verify', 'tokens');
BEGIN;
INSERT INTO message SELECT i, 1, '{a,b,c,d}', minhash_bits('{a,b,c,d}', 64) FROM generate_series(1, 2) AS i;
UPDATE message SET tokens = '{x,y}' WHERE id = 1;
COMMIT;
BEGIN;
UPDATE message SET tokens = '{a,b,c,d}' WHERE id = 1;
UPDATE message SET tenant = 7 WHERE id = 1;
COMMIT;
SELECT id, tenant, tokens FROM message ORDER BY id;
DROP TRIGGER guard ON message;

-- block lists; a domain
CREATE DOMAIN words AS varchar[];
CREATE TABLE list (id int PRIMARY KEY, tokens words, bits minhash_bits(64) GENERATED ALWAYS AS (minhash_bits(tokens::text[], 64)) STORED);
CREATE INDEX ON list USING sigfile (bits);
INSERT INTO list VALUES (1, '{won,a,prize}'), (2, '{}'), (3, NULL);
SELECT bloom_guard_create('message', 'bits', 0.75, 'reject', 'verify', 'tokens', 'blocklist', 'list', 'margin', '0.5');
INSERT INTO message SELECT 10, 1, t, minhash_bits(t, 64) FROM (VALUES ('{won,a,prize,again}'::text[])) AS v (t);
INSERT INTO message SELECT 11, 1, t, minhash_bits(t, 64) FROM (VALUES ('{won,a,prize,again,today}'::text[])) AS v (t);
DROP TRIGGER message_bits_guard ON message;

-- what is wrong with the arguments
ALTER TABLE list ADD words text, ADD numbers int[], ADD names char(9)[], ADD other minhash_bits(64);
CREATE FUNCTION refused(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE state text; message text; detail text; hint text;
BEGIN
    EXECUTE statement;
    RETURN 'done';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(E'\n', state || ': ' || message, nullif(detail, ''), nullif(hint, ''));
END $$;
\pset format unaligned
\pset tuples_only on
SELECT refused(format('SELECT bloom_guard_create(''list'', ''bits'', 0.6, ''reject'', %s)', o)) FROM unnest(ARRAY[
    $$'margin', '0.1'$$, $$'verify', 'tokens', 'margin', 'much'$$, $$'verify', 'tokens', 'margin', '1.1'$$, $$'verify', 'tokens', 'margin', '-0.1'$$, $$'verify', 'tokens', 'margin', 'NaN'$$,
    $$'verify', 'tokens', 'verify', 'tokens'$$, $$'verify'$$, $$'verify', 'nothing'$$, $$'verify', 'ctid'$$, $$'verify', 'bits'$$, $$'verify', 'words'$$, $$'verify', 'numbers'$$, $$'verify', 'names'$$,
    $$'verify', 'words', 'blocklist', 'message'$$, $$'tokens', 'verify'$$]) AS o;
SELECT refused($$SELECT bloom_guard_create('message', 'bits', 0.6, 'reject', 'verify', 'tenant', 'blocklist', 'list')$$);
SELECT refused($$SELECT bloom_guard_create('list', 'bits', 0, 'reject', 'verify', 'tokens')$$);
ALTER TABLE message ADD words text[];
SELECT refused($$SELECT bloom_guard_create('message', 'bits', 0.6, 'reject', 'verify', 'words', 'blocklist', 'list')$$);
ALTER TABLE list DROP words;
SELECT refused($$SELECT bloom_guard_create('message', 'bits', 0.6, 'reject', 'verify', 'words', 'blocklist', 'list')$$);
-- the same when the trigger fires
CREATE FUNCTION fires(arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    EXECUTE 'CREATE TRIGGER guard AFTER INSERT ON message FOR EACH ROW EXECUTE FUNCTION bloom_guard(' || arguments || ')';
    result := refused('INSERT INTO message VALUES (99, 1, ''{a}'', minhash_bits(''{a}'', 64))');
    DROP TRIGGER guard ON message;
    RETURN result;
END $$;
SELECT fires(o) FROM unnest(ARRAY[$$'bits', '0.6', 'reject', 'margin', '0.1'$$, $$'bits', '0.6', 'reject', 'verify', 'nothing'$$, $$'bits', '0.6', 'reject', 'verify', 'tenant'$$,
    $$'bits', '0.6', 'reject', 'verify', 'words', 'blocklist', 'list'$$]) AS o;
SELECT bloom_guard_create('message', 'bits', 0.6, 'reject', 'verify', 'tokens');
ALTER TABLE message RENAME tokens TO token;
SELECT refused('INSERT INTO message VALUES (98, 1, ''{a}'', minhash_bits(''{a}'', 64))');
ALTER TABLE message RENAME token TO tokens;
ALTER TABLE message ALTER tokens TYPE char(9)[];
SELECT refused('INSERT INTO message VALUES (98, 1, ''{a}'', minhash_bits(''{a}'', 64))');
ALTER TABLE message ALTER tokens TYPE text[];
SELECT refused('INSERT INTO message VALUES (98, 1, ''{a}'', minhash_bits(''{a}'', 64))');

-- Whoever may not read the tokens of a row is not told of it; the list is read for the owner of the guarded table.
DELETE FROM message;
INSERT INTO message VALUES (1, 1, '{a,b,c}', minhash_bits('{a,b,c}', 64));
CREATE ROLE guard_verify_user;
CREATE ROLE guard_verify_owner;
GRANT USAGE, CREATE ON SCHEMA guard_verify TO guard_verify_user, guard_verify_owner;
GRANT INSERT, SELECT (id, bits) ON message TO guard_verify_user;
SET ROLE guard_verify_user;
SELECT refused('INSERT INTO message VALUES (2, 1, ''{a,b,c}'', minhash_bits(''{a,b,c}'', 64))');
RESET ROLE;
GRANT SELECT (tokens) ON message TO guard_verify_user;
SET ROLE guard_verify_user;
SELECT refused('INSERT INTO message VALUES (2, 1, ''{a,b,c}'', minhash_bits(''{a,b,c}'', 64))');
RESET ROLE;
DROP TRIGGER message_bits_guard ON message;
ALTER TABLE message OWNER TO guard_verify_owner;
GRANT SELECT (bits) ON list TO guard_verify_owner;
SELECT bloom_guard_create('message', 'bits', 0.7, 'reject', 'blocklist', 'list');
SELECT refused($$SELECT bloom_guard_create('message', 'bits', 0.7, 'reject', 'blocklist', 'list', 'verify', 'tokens')$$);
GRANT SELECT (tokens) ON list TO guard_verify_owner;
SELECT refused($$SELECT bloom_guard_create('message', 'bits', 0.7, 'reject', 'blocklist', 'list', 'verify', 'tokens')$$);
SET client_min_messages = error;
DROP SCHEMA guard_verify CASCADE;
DROP ROLE guard_verify_user, guard_verify_owner;
