-- bloom_guard over sampled bits: what it refuses, warns of, skips and flags is what a comparison of all rows finds, at every threshold.
SET client_min_messages = error;
CREATE SCHEMA guard_minhash;
SET search_path = guard_minhash, public;
CREATE TABLE review (key text, duplicate text, similarity float8, found_at timestamptz, PRIMARY KEY (key, duplicate));
-- Tokens of a message: most are of a group of five messages, and some its own; some messages have none, and some are NULL.
CREATE FUNCTION tokens_of(i int) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN i % 61 = 0 THEN '{}' WHEN i % 67 <> 0 THEN ARRAY(
        SELECT left(md5((CASE WHEN t <= i % 7 THEN i + 100000 ELSE i / 5 END)::text || t), 6) FROM generate_series(1, 20) AS t) END $$;
CREATE FUNCTION make(n int, method text = 'sigfile') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS message;
    EXECUTE format('CREATE TABLE message (id int PRIMARY KEY, tokens text[], bits minhash_bits(%s) GENERATED ALWAYS AS (minhash_bits(tokens, %1$s)) STORED)', n);
    IF method <> '' THEN
        EXECUTE format('CREATE INDEX message_bits ON message USING %s (bits)', method);
    END IF;
    TRUNCATE review;
END $$;
-- Rows for which another one was found, with the similarity of the most similar one; and what a comparison of all rows finds: how many differ.
-- Of rows entered one by one each is compared with those before it, of those of one statement with all.
CREATE FUNCTION compared(threshold float8, at_once boolean) RETURNS TABLE (flagged bigint, expected bigint, different bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY WITH flagged AS (SELECT id, max(similarity) FROM (SELECT key::int, similarity FROM review UNION ALL SELECT duplicate::int, similarity FROM review WHERE at_once) AS r (id, similarity) GROUP BY id),
        expected AS (SELECT a.id, max(minhash_sim(a.bits, b.bits))::float8 FROM message AS a JOIN message AS b ON b.id < a.id OR at_once AND b.id > a.id
            WHERE minhash_sim(a.bits, b.bits) >= threshold AND a.tokens <> '{}' AND b.tokens <> '{}' GROUP BY a.id)
    SELECT (SELECT count(*) FROM flagged), (SELECT count(*) FROM expected),
        (SELECT count(*) FROM (TABLE flagged EXCEPT TABLE expected) AS x) + (SELECT count(*) FROM (TABLE expected EXCEPT TABLE flagged) AS x);
END $$;
CREATE FUNCTION all_of(numbers int[], methods text[], thresholds float8[], to_id int, at_once boolean)
RETURNS TABLE (n int, method text, threshold float8, flagged bigint, expected bigint, different bigint) LANGUAGE plpgsql AS $$
BEGIN
    FOREACH n IN ARRAY numbers LOOP
        FOREACH method IN ARRAY methods LOOP
            FOREACH threshold IN ARRAY thresholds LOOP
                PERFORM make(n, method);
                PERFORM bloom_guard_create('message', 'bits', threshold, 'flag', 'review', 'guard_minhash.review');
                IF at_once THEN
                    INSERT INTO message SELECT i, tokens_of(i) FROM generate_series(1, to_id) AS i;
                ELSE
                    FOR i IN 1 .. to_id LOOP INSERT INTO message VALUES (i, tokens_of(i)); END LOOP;
                END IF;
                SELECT c.* INTO flagged, expected, different FROM compared(threshold, at_once) AS c;
                RETURN NEXT;
            END LOOP;
        END LOOP;
    END LOOP;
END $$;

-- row by row, with each kind of index and with none; all bits of a set may be 0, or all of them 1
SELECT * FROM all_of('{1,8,64,192}', '{sigfile,gist,""}', '{0,0.01,0.6,1}', 130, false) WHERE different <> 0 OR n IN (1, 192) AND method = 'sigfile';
-- many rows of one statement, of which most are not searched for by themselves
SELECT * FROM all_of('{8,192,300}', '{sigfile}', '{0,0.5,0.8,1}', 1000, true) WHERE different <> 0 OR threshold = 0.8;
SELECT make(192);
SELECT bloom_guard_create('message', 'bits', 0.8, 'flag', 'review', 'guard_minhash.review');
BEGIN;
INSERT INTO message SELECT i, tokens_of(CASE i WHEN 1400 THEN 13980 ELSE 10 * i END) FROM generate_series(1, 1500) AS i;
SELECT pg_stat_get_xact_numscans('message_bits'::regclass) < 300 AS few;
COMMIT;
SELECT * FROM compared(0.8, true);
-- partitions, and an UPDATE of all rows
DROP TABLE message;
CREATE TABLE message (id int PRIMARY KEY, tenant int, tokens text[], bits minhash_bits(192) GENERATED ALWAYS AS (minhash_bits(tokens, 192)) STORED) PARTITION BY RANGE (id);
CREATE TABLE message1 PARTITION OF message FOR VALUES FROM (1) TO (600);
CREATE TABLE message2 (tenant int, bits minhash_bits(192) GENERATED ALWAYS AS (minhash_bits(tokens, 192)) STORED, tokens text[], id int NOT NULL);
ALTER TABLE message ATTACH PARTITION message2 FOR VALUES FROM (600) TO (9999);
CREATE INDEX ON message USING sigfile (bits);
TRUNCATE review;
INSERT INTO message (id, tokens) SELECT i, tokens_of(i + 5000) FROM generate_series(1, 1200) AS i;
SELECT bloom_guard_create('message', 'bits', 0.8, 'flag', 'review', 'guard_minhash.review');
UPDATE message SET tokens = tokens_of(id);
SELECT * FROM compared(0.8, true);
TRUNCATE review;
UPDATE message SET id = id + 2000, tenant = 1;
SELECT count(*) FROM review;
DROP TABLE message;

-- what is told, and what happens
RESET client_min_messages;
CREATE TABLE message (id int PRIMARY KEY, tenant int, body text, bits minhash_bits(192) GENERATED ALWAYS AS (minhash_bits(ident_words(body), 192)) STORED);
CREATE INDEX message_bits ON message USING sigfile (bits);
SELECT bloom_guard_create('message', 'bits', 0.6, 'reject', 'keep', '0.4');
SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'message'::regclass;
INSERT INTO message VALUES (1, 1, 'you have won a prize of 1000 pounds, call 0900 123 now to claim your prize before friday');
INSERT INTO message VALUES (2, 1, 'you have won a prize of 2000 pounds, call 0900 123 now to claim your prize before friday');
INSERT INTO message VALUES (2, 1, 'shall we meet on friday after work? i can call you before'), (3, 1, ''), (4, 1, ''), (5, 1, NULL), (6, 1, NULL);
COPY message (id, body) FROM STDIN;
7	the train has stopped again
8	YOU have won a prize: 3000 pounds, call 0900 123 now to claim your prize before friday
\.
INSERT INTO message VALUES (2, 1, 'sorry') ON CONFLICT (id) DO UPDATE SET body = 'you have won a prize of 7 pounds, call 0900 123 now to claim your prize before friday';
-- as every UPDATE; an empty set may become anything, and nothing may become empty
UPDATE message SET tenant = 2 WHERE id = 1;
UPDATE message SET body = 'you have won a prize of 1000 pounds, call 0900 123 now to claim it before friday' WHERE id = 1;
UPDATE message SET body = 'the train has stopped again, sorry, i am late' WHERE id = 1;
UPDATE message SET body = '' WHERE id = 1;
UPDATE message SET body = 'sorry, the train has stopped again' WHERE id = 3;
SELECT id, left(body, 40) FROM message ORDER BY id;
DROP TRIGGER message_bits_guard ON message;
-- warn and skip; a message of one's own
SELECT bloom_guard_create('message', 'bits', 0.6, 'warn', 'message', 'seen before');
INSERT INTO message VALUES (10, 1, 'you have won a prize of 2000 pounds, call 0900 123 now to claim your prize before friday');
DROP TRIGGER message_bits_guard ON message;
SELECT bloom_guard_create('message', 'bits', 0.6, 'skip', 'keep', '0.4');
INSERT INTO message VALUES (11, 1, 'you have won a prize of 3000 pounds, call 0900 123 now to claim your prize before friday'), (12, 1, 'something else');
UPDATE message SET body = 'something else entirely, with other words' WHERE id = 2;
SELECT count(*) FROM message WHERE id > 10;
DROP TRIGGER message_bits_guard ON message;
-- within
SELECT bloom_guard_create('message', 'bits', 0.6, 'reject', 'within', 'tenant');
INSERT INTO message VALUES (13, 7, 'you have won a prize of 3000 pounds, call 0900 123 now to claim your prize before friday');
INSERT INTO message VALUES (14, 7, 'you have won a prize of 4000 pounds, call 0900 123 now to claim your prize before friday');
CREATE INDEX ON message USING sigfile (tenant, bits);
UPDATE message SET tenant = 7 WHERE id = 10;
INSERT INTO message VALUES (14, 7, 'you have won a prize of 4000 pounds, call 0900 123 now to claim your prize before friday');
DROP TRIGGER message_bits_guard ON message;

-- block lists, which must be of the same type and number of bits
CREATE TABLE list (id int PRIMARY KEY, body text, bits minhash_bits(192) GENERATED ALWAYS AS (minhash_bits(ident_words(body), 192)) STORED,
    fewer minhash_bits(64), family minhash_bits(192,7), any_bits minhash_bits, sig bloom);
CREATE DOMAIN sketch AS minhash_bits(64);
ALTER TABLE list ADD of_domain sketch;
INSERT INTO list (id, body) VALUES (1, 'you have won a prize'), (2, 'the train has stopped again');
CREATE INDEX ON list USING gist (bits);
SELECT bloom_guard_create('message', 'bits', 0.6, 'reject', 'blocklist', 'list');
INSERT INTO message VALUES (20, 1, 'you have won a price');
INSERT INTO message VALUES (20, 1, 'you have won a the prize');
INSERT INTO message VALUES (20, 1, 'we have stopped');
CREATE FUNCTION refused(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE state text; message text; detail text;
BEGIN
    EXECUTE statement;
    RETURN 'done';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
    RETURN state || ': ' || message || E'\n' || detail;
END $$;
\pset format unaligned
\pset tuples_only on
SELECT refused(format($$SELECT bloom_guard_create('message', 'bits', 0.6, 'reject', 'blocklist', 'list', 'blocklist_column', %L)$$, c))
FROM unnest('{fewer,family,of_domain,sig,body,nothing,any_bits}'::text[]) AS c;
SELECT refused($$SELECT bloom_guard_create('list', 'sig', 0.6, 'reject', 'blocklist', 'message', 'blocklist_column', 'bits')$$);
-- a list of any number says it when it has rows
INSERT INTO message VALUES (21, 1, 'we do meet');
UPDATE list SET body = 'we have stopped' WHERE id = 2;
UPDATE list SET any_bits = minhash_bits('{we}', 64) WHERE id = 1;
SELECT refused($$INSERT INTO message VALUES (22, 1, 'we have not stopped')$$);
SELECT refused($$CREATE TRIGGER fewer AFTER INSERT ON message FOR EACH ROW EXECUTE FUNCTION bloom_guard('bits', '0.6', 'reject', 'blocklist', 'list', 'blocklist_column', 'fewer')$$);
SELECT refused($$INSERT INTO message VALUES (22, 1, 'we have not stopped')$$);
DROP TRIGGER fewer ON message;
-- as a query
\pset format aligned
\pset tuples_only off
SELECT key, round(similarity::numeric, 3) AS similarity FROM minhash_blocklist(minhash_bits(ident_words('you have won the prize'), 192), 'list', 'bits', 0.3);
SELECT m.id, l.* FROM message AS m, minhash_blocklist(m.bits, 'list', 'bits', 1) AS l;
SELECT count(*) FROM minhash_blocklist(NULL, 'list', 'bits', 0.3);
SELECT * FROM minhash_blocklist(minhash_bits('{a}', 192), 'list', 'sig', 0.3);
SELECT * FROM minhash_blocklist(minhash_bits('{a}', 64), 'list', 'bits', 0.3);
SELECT * FROM minhash_blocklist(minhash_bits('{a}', 192), 'list', 'bits', 1.3);
SELECT * FROM minhash_blocklist(minhash_bits('{a}', 192), 'list', 'bits', NULL);
SELECT * FROM bloom_blocklist(bloom_signature('a'), 'list', 'bits', 0.3);
SELECT * FROM minhash_blocklist(minhash_bits('{a}', 192), 'review', 'similarity', 0.3);
DROP TABLE message, list, review;
DROP SCHEMA guard_minhash CASCADE;
