-- A GiST index over sampled sketches finds what the table has, at every threshold; minhash_sigfile.sql has the same of sigfile.
CREATE TABLE message (id int, bits minhash_bits(64));
INSERT INTO message SELECT i, CASE WHEN i % 53 <> 0 THEN minhash_bits(CASE i % 41 WHEN 0 THEN '{}' ELSE
        ARRAY(SELECT md5((CASE WHEN t <= 3 * (i % 7) THEN i ELSE i / 40 END)::text || t) FROM generate_series(1, 20) AS t) END, 64) END
    FROM generate_series(1, 6000) AS i;
CREATE INDEX message_bits ON message USING gist (bits);
INSERT INTO message SELECT id + 6000, bits FROM message WHERE id % 9 = 1;
VACUUM ANALYZE message;
-- the first answer that differs, or that the index has not given, of all thresholds that there are and those beside them
CREATE FUNCTION differences(n int) RETURNS TABLE (threshold float8, asked int, of_table bigint, of_index bigint) LANGUAGE plpgsql AS $$
DECLARE
    q minhash_bits;
    wanted text;
    line text;
    used boolean;
BEGIN
    FOR asked, q IN SELECT id, bits FROM message WHERE bits IS NOT NULL AND (id % n = 7 OR id IN (41, 82)) ORDER BY id LOOP
        FOR i IN 0..64 LOOP
            FOREACH threshold IN ARRAY ARRAY[i / 32.0 - 1, i / 32.0 - 1 + 1e-12, i / 32.0 - 1 - 1e-12] LOOP
                CONTINUE WHEN i % 5 <> asked % 5 AND i <> 32;
                PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('enable_indexonlyscan', 'off', true);
                EXECUTE 'SELECT count(*), md5(string_agg(id::text, '' '' ORDER BY id)) FROM message WHERE minhash_sim(bits, $1) >= $2' INTO of_table, wanted USING q, threshold;
                PERFORM set_config('enable_seqscan', 'off', true), set_config(CASE WHEN i % 2 = 0 THEN 'enable_indexscan' ELSE 'enable_bitmapscan' END, 'on', true);
                EXECUTE 'SELECT count(*) FILTER (WHERE $3 IS NOT DISTINCT FROM h) * n FROM (SELECT count(*) AS n, md5(string_agg(id::text, '' '' ORDER BY id)) AS h FROM message WHERE bits % minhash_query_at_least($1, $2)) AS s GROUP BY n'
                    INTO of_index USING q, threshold, wanted;
                used := false;
                FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) SELECT id FROM message WHERE bits % minhash_query_at_least($1, $2)' USING q, threshold LOOP
                    used := used OR line ~ 'message_bits';
                END LOOP;
                IF NOT used OR of_index <> of_table THEN RETURN NEXT; END IF;
            END LOOP;
        END LOOP;
    END LOOP;
END $$;
SELECT * FROM differences(997) LIMIT 5;
-- and when it was built row by row, with rows gone
CREATE TABLE kept AS TABLE message;
TRUNCATE message;
INSERT INTO message SELECT * FROM kept ORDER BY md5(id::text);
DELETE FROM message WHERE id % 10 = 3;
SELECT * FROM differences(1997) LIMIT 5;
VACUUM ANALYZE message;
TRUNCATE message;
INSERT INTO message TABLE kept;
DROP TABLE kept;
VACUUM ANALYZE message;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM message WHERE minhash_sim(bits, minhash_bits('{a,b}', 64)) > 0.95;
EXPLAIN (COSTS OFF) SELECT id FROM message WHERE 0.95 <= minhash_sim(bits, minhash_bits('{a,b}', 64));
EXPLAIN (COSTS OFF) SELECT id FROM message WHERE bits = minhash_bits('{a,b}', 64);
EXPLAIN (COSTS OFF) SELECT bits FROM message ORDER BY bits <-> minhash_bits('{a,b}', 64) LIMIT 3;
-- equality: the empty set equals itself only
SELECT count(*), bool_and(id % 6000 % 41 = 0 OR id IN (12000)) FROM message WHERE bits = minhash_bits('{}', 64);
SELECT count(*) FROM message WHERE bits = (SELECT bits FROM message WHERE id = 8);
SELECT count(*) FROM message WHERE bits IS NULL;
-- an index-only scan gives back what was stored
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT sum(minhash_bits_hash(bits)::numeric) FROM message WHERE bits % minhash_query(minhash_bits('{a}', 64), 0);
SELECT sum(minhash_bits_hash(bits)::numeric) AS only FROM message WHERE bits % minhash_query(minhash_bits('{a}', 64), 0) \gset
SELECT sum(minhash_bits_hash(bits)::numeric) AS nearest FROM (SELECT bits FROM message WHERE bits IS NOT NULL ORDER BY bits <-> minhash_bits('{a}', 64)) AS s \gset
SET enable_seqscan = on; SET enable_indexonlyscan = off;
SELECT sum(minhash_bits_hash(bits)::numeric) FILTER (WHERE bits % minhash_query(minhash_bits('{a}', 64), 0)) = :only AS only, sum(minhash_bits_hash(bits)::numeric) = :nearest AS nearest FROM message;
-- nearest neighbours: by the bits that differ, empty sets last, then what is NULL
CREATE FUNCTION nearest(q minhash_bits, by_index boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    found text;
BEGIN
    PERFORM set_config('enable_seqscan', (NOT by_index)::text, true), set_config('enable_sort', (NOT by_index)::text, true), set_config('enable_indexscan', by_index::text, true);
    EXECUTE 'SELECT string_agg(d::text, '' '') FROM (SELECT bits <-> $1 AS d FROM message ORDER BY bits <-> $1, 1 OFFSET 0) AS s' INTO found USING q;
    RETURN md5(found);
END $$;
SELECT id, nearest(bits, true) = nearest(bits, false) AS same FROM message WHERE id IN (7, 8, 41, 999) ORDER BY id;
RESET ALL;
-- constraints: by a threshold of the constraint's own
CREATE TABLE once (id int, bits minhash_bits, CONSTRAINT once_only EXCLUDE USING gist ((minhash_query(bits, 0.6)) WITH %));
INSERT INTO once SELECT id, bits FROM message WHERE id <= 40 AND id % 7 = 1 AND bits IS NOT NULL ON CONFLICT DO NOTHING;
SELECT count(*) FROM once;
INSERT INTO once SELECT 1, bits FROM message WHERE id = 1;
INSERT INTO once SELECT 41, minhash_bits('{}', 64) FROM generate_series(1, 3);
SELECT count(*) FROM once;
-- another number, another family
INSERT INTO message VALUES (0, minhash_bits('{a}', 64, 3));
INSERT INTO once VALUES (0, minhash_bits('{a}', 65));
SELECT count(*) FROM message WHERE bits % minhash_query(minhash_bits('{a}', 65), 0.5);
-- beside signatures, of which it is told apart
CREATE TABLE both_kinds (sig bloom, bits minhash_bits);
CREATE INDEX ON both_kinds USING gist (sig, bits);
INSERT INTO both_kinds SELECT NULL, bits FROM message LIMIT 10;
INSERT INTO both_kinds SELECT bloom_signature(i::text), CASE WHEN i % 3 > 0 THEN minhash_bits(ARRAY[i::text], 64) END FROM generate_series(1, 1000) AS i;
INSERT INTO both_kinds VALUES (NULL, minhash_bits('{a}', 64, 3));
INSERT INTO both_kinds VALUES (bloom_signature('a', 2), NULL);
SET enable_seqscan = off;
SELECT count(*), min(bits <-> minhash_bits('{7}', 64)) FROM both_kinds WHERE sig = bloom_signature('7') AND bits % minhash_query(minhash_bits('{7}', 64), 0.9);
RESET enable_seqscan;
SELECT amvalidate(oid), opcname FROM pg_opclass WHERE opcname LIKE 'gist_minhash%' ORDER BY 2;
DROP TABLE message, once, both_kinds;
DROP FUNCTION differences, nearest;
