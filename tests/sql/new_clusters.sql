-- bloom_clusters_update: clusters that keep the numbers of an earlier run.
SET client_min_messages = warning;
CREATE SCHEMA new_clusters;
SET search_path = new_clusters, public;
CREATE FUNCTION raised(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE state text; message text; hint text; n bigint;
BEGIN
    EXECUTE 'SELECT count(*) FROM (' || query || ') AS q' INTO n;
    RETURN n || ' rows';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' | ', state, message, nullif(hint, ''));
END $$;
CREATE TABLE pairs (a text, b text, similarity float8);
CREATE TABLE old (key text, cluster bigint);
-- pairs of neighbours in each word are similar
CREATE PROCEDURE set_pairs(VARIADIC words text[]) LANGUAGE sql AS $$
    TRUNCATE pairs;
    INSERT INTO pairs SELECT substr(w, i, 1), substr(w, i + 1, 1), 0.9 FROM unnest(words) AS w, generate_series(1, length(w) - 1) AS i;
$$;
CREATE PROCEDURE set_old(VARIADIC words text[]) LANGUAGE sql AS $$
    TRUNCATE old;
    INSERT INTO old SELECT substr(w, i, 1), n * 10 FROM unnest(words) WITH ORDINALITY AS w (w, n), generate_series(1, length(w)) AS i;
$$;
CREATE FUNCTION shown() RETURNS TABLE (cluster bigint, keys text, change text, was bigint[]) LANGUAGE sql AS $$
    SELECT cluster, string_agg(key, '' ORDER BY key), min(change), array_agg(DISTINCT was) FROM bloom_clusters_update('old', 'pairs', 0.8, 'components') GROUP BY 1 ORDER BY 1 $$;
-- all columns, and what may become of a cluster
CALL set_old('abc', 'de', 'fghi', 'jkl', 'mn', 'op', 'qrst', 'uv');
CALL set_pairs('abc1', 'ed', 'fg', 'hi', 'jk', 'mnop', 'qrs2', 'xyz');
SELECT * FROM bloom_clusters_update('old', 'pairs', 0.8, 'components') ORDER BY cluster, key;
SELECT * FROM shown();
-- those that are no more
SELECT DISTINCT cluster FROM old EXCEPT SELECT cluster FROM shown() ORDER BY 1;
-- an old number stays with the largest overlap, of equal ones with that of the least key
CALL set_old('abcdefg');
CALL set_pairs('ab', 'cde', 'fg');
SELECT * FROM shown();
CALL set_pairs('ag', 'bc', 'de');
SELECT * FROM shown();
CALL set_old('mn', 'ab', 'cde');
CALL set_pairs('mnab');
SELECT * FROM shown();
CALL set_pairs('mnabcde');
SELECT * FROM shown();
-- one that is taken leaves its number to the next
CALL set_old('abcd', 'efghi');
CALL set_pairs('abcefghi', 'dx');
SELECT * FROM shown();
-- numbers of new clusters
CALL set_old('ab');
CALL set_pairs('cd', 'ef');
SELECT f, array_agg(DISTINCT cluster ORDER BY cluster) FROM unnest('{1,100,-5}'::bigint[]) AS f, bloom_clusters_update('old', 'pairs', 0.8, first_new => f) GROUP BY 1 ORDER BY 1;
TRUNCATE old;
SELECT * FROM bloom_clusters_update('old', 'pairs', 0.8) ORDER BY cluster, key;
INSERT INTO old VALUES ('a', 9223372036854775806);
SELECT raised($$SELECT * FROM bloom_clusters_update('old', 'pairs', 0.8)$$);
UPDATE old SET cluster = -7, key = 'c';
SELECT * FROM bloom_clusters_update('old', 'pairs', 0.8, first_new => -9) ORDER BY cluster, key;
-- what comes out goes in: nothing changes
CREATE TABLE now AS SELECT * FROM bloom_clusters_update('old', 'pairs', 0.8);
SELECT DISTINCT change FROM bloom_clusters_update('now', 'pairs', 0.8);
SELECT count(*) FROM ((SELECT cluster, key, size, similarity, keep, cluster FROM now EXCEPT ALL SELECT cluster, key, size, similarity, keep, was FROM bloom_clusters_update('now', 'pairs', 0.8))) AS d;
DROP TABLE now;
-- 1,000 shuffles of the pairs and of the numbers, by each method: the clusters are those of a fresh run over all pairs, and neither order nor numbering matters
CREATE FUNCTION shuffles(n int) RETURNS TABLE (method text, runs bigint, other_clusters bigint, other_numbers bigint, kept bigint) LANGUAGE plpgsql AS $$
DECLARE m text; fresh text; updated text; numbers text; again text; methods text[] := '{components,centre,average}';
BEGIN
    CREATE TEMP TABLE result (method text, same boolean, same_numbers boolean, kept boolean);
    FOR i IN 1 .. n LOOP
        m := methods[1 + i % 3];
        TRUNCATE pairs, old;
        INSERT INTO pairs SELECT DISTINCT ON (least(x, y), greatest(x, y)) x, y, s FROM (SELECT (random() * 25)::int::text AS x, (random() * 25)::int::text AS y, 0.6 + (random() * 8)::int * 0.05 AS s FROM generate_series(1, 25)) AS r WHERE x <> y;
        INSERT INTO old SELECT (random() * 25)::int::text, (random() * 6)::int + 100 FROM generate_series(1, 30) ON CONFLICT DO NOTHING;
        SELECT string_agg(keys, ' ' ORDER BY keys) INTO fresh FROM (SELECT string_agg(format('%s/%s/%s/%s', key, size, similarity, keep), ',' ORDER BY key) AS keys FROM bloom_clusters('pairs', 0.8, m) GROUP BY cluster) AS c;
        SELECT string_agg(keys, ' ' ORDER BY keys), string_agg(format('%s:%s:%s', cluster, change, keys), ' ' ORDER BY keys) INTO updated, numbers
            FROM (SELECT cluster, change, string_agg(format('%s/%s/%s/%s', key, size, similarity, keep), ',' ORDER BY key) AS keys FROM bloom_clusters_update('old', 'pairs', 0.8, m) GROUP BY cluster, change) AS c;
        -- the rows in another order, a and b in either
        CREATE TEMP TABLE mixed AS SELECT CASE WHEN swap THEN b ELSE a END AS a, CASE WHEN swap THEN a ELSE b END AS b, similarity FROM (SELECT *, random() < 0.5 AS swap FROM pairs) AS p ORDER BY random();
        CREATE TEMP TABLE mixed_old AS SELECT * FROM old ORDER BY random();
        SELECT string_agg(format('%s:%s:%s', cluster, change, keys), ' ' ORDER BY keys) INTO again
            FROM (SELECT cluster, change, string_agg(format('%s/%s/%s/%s', key, size, similarity, keep), ',' ORDER BY key) AS keys FROM bloom_clusters_update('mixed_old', 'mixed', 0.8, m) GROUP BY cluster, change) AS c;
        DROP TABLE mixed, mixed_old;
        INSERT INTO result VALUES (m, fresh IS NOT DISTINCT FROM updated, numbers IS NOT DISTINCT FROM again, numbers ~ '(^| )10\d:');
    END LOOP;
    RETURN QUERY SELECT r.method, count(*), count(*) FILTER (WHERE NOT r.same), count(*) FILTER (WHERE NOT r.same_numbers), count(*) FILTER (WHERE r.kept) FROM result AS r GROUP BY 1 ORDER BY 1;
END $$;
CREATE UNIQUE INDEX ON old (key);
SELECT method, runs, other_clusters, other_numbers, kept > runs / 2 AS most_keep_some FROM shuffles(1000);
-- night by night: refreshed pairs and updated clusters are those of a fresh run
CREATE FUNCTION name_of(i int) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$ SELECT translate(left(md5((i / 4)::text), 12), '0123456789', 'ghijklmnop') || repeat('x', i % 4) $$;
CREATE TABLE person (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
CREATE INDEX ON person USING sigfile (sig);
CREATE TABLE changed (key text);
TRUNCATE pairs;
CREATE TABLE clusters AS SELECT * FROM bloom_clusters('pairs', 0.7, 'components') WHERE false;
CREATE FUNCTION nights(n int) RETURNS TABLE (nights int, other_clusters bigint, changes text[]) LANGUAGE plpgsql AS $$
DECLARE wrong bigint := 0; seen text[] := '{}';
BEGIN
    FOR night IN 1 .. n LOOP
        TRUNCATE changed;
        INSERT INTO changed SELECT DISTINCT (1 + random() * 300)::int::text FROM generate_series(1, 40);
        DELETE FROM person WHERE id IN (SELECT key::int FROM changed) AND random() < 0.4;
        INSERT INTO person SELECT key::int, name_of((random() * 150)::int) FROM changed WHERE random() < 0.8 ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name;
        PERFORM bloom_pairs_refresh('pairs', 'person', 'id', 'sig', 0.7, 'changed');
        CREATE TABLE later AS SELECT * FROM bloom_clusters_update('clusters', 'pairs', 0.7, 'components');
        SELECT array_agg(DISTINCT c) INTO seen FROM (SELECT unnest(seen) UNION SELECT change FROM later) AS x (c);
        wrong := wrong + (SELECT count(*) FROM (SELECT array_agg(key ORDER BY key) FROM later GROUP BY cluster
            EXCEPT SELECT array_agg(key ORDER BY key) FROM bloom_clusters('person', 'id', 'sig', 0.7, 'components') GROUP BY cluster) AS x)
            + (SELECT count(*) FROM (SELECT array_agg(key ORDER BY key) FROM bloom_clusters('person', 'id', 'sig', 0.7, 'components') GROUP BY cluster EXCEPT SELECT array_agg(key ORDER BY key) FROM later GROUP BY cluster) AS x);
        DROP TABLE clusters;
        ALTER TABLE later RENAME TO clusters;
    END LOOP;
    RETURN QUERY SELECT n, wrong, seen;
END $$;
SELECT * FROM nights(60);
-- probabilities of a match model; a table with other columns; a view
CALL set_old('ab');
CALL set_pairs('abc');
CREATE VIEW of_model AS SELECT a, b, similarity AS probability, 3.0::float8 AS bits FROM pairs;
CREATE VIEW small_numbers AS SELECT cluster::smallint, key::varchar, 1 AS more FROM old;
SELECT * FROM bloom_clusters_update('small_numbers', 'of_model', 0.5) ORDER BY key;
-- bad input
CREATE VIEW no_cluster AS SELECT key FROM old;
CREATE VIEW no_number AS SELECT key, cluster::text FROM old;
CREATE VIEW null_key AS SELECT * FROM old UNION ALL SELECT NULL, 1;
CREATE VIEW null_cluster AS SELECT * FROM old UNION ALL SELECT 'x', NULL;
CREATE VIEW twice AS SELECT * FROM old UNION ALL SELECT 'a', 20;
SELECT o, raised(format('SELECT * FROM bloom_clusters_update(%L, ''pairs'', 0.8)', o)) FROM unnest('{no_cluster,no_number,null_key,null_cluster,twice,old_key_idx,pairs}'::text[]) AS o;
SELECT raised($$SELECT * FROM bloom_clusters_update('old', 'old', 0.8)$$);
SELECT raised($$SELECT * FROM bloom_clusters_update('old', 'pairs', 1.8)$$);
SELECT raised($$SELECT * FROM bloom_clusters_update('old', 'pairs', 0.8, 'best')$$);
SELECT i, raised(format('SELECT * FROM bloom_clusters_update(%s)', (SELECT string_agg(CASE WHEN k = i THEN 'NULL' ELSE a END, ', ' ORDER BY k)
    FROM unnest('{''old'',''pairs'',0.8,''centre'',1}'::text[]) WITH ORDINALITY AS u (a, k)))) FROM generate_series(0, 5) AS i;
-- memory
CREATE TABLE many AS SELECT md5(i::text) AS key, i AS cluster FROM generate_series(1, 40000) AS i;
SET maintenance_work_mem = '1MB';
SELECT regexp_replace(raised($$SELECT * FROM bloom_clusters_update('many', 'pairs', 0.8)$$), '\d+ kB', '… kB');
RESET maintenance_work_mem;
-- as the caller
CREATE ROLE new_clusters_reader;
GRANT USAGE ON SCHEMA new_clusters TO new_clusters_reader;
GRANT SELECT ON pairs TO new_clusters_reader;
SET ROLE new_clusters_reader;
SELECT raised($$SELECT * FROM bloom_clusters_update('old', 'pairs', 0.8)$$);
RESET ROLE;
GRANT SELECT ON old TO new_clusters_reader;
ALTER TABLE old ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON old FOR SELECT USING (key = 'b');
SET ROLE new_clusters_reader;
SELECT * FROM bloom_clusters_update('old', 'pairs', 0.8) ORDER BY key;
RESET ROLE;
DROP SCHEMA new_clusters CASCADE;
DROP ROLE new_clusters_reader;
