-- Which names are compared does not depend on the plan, though very many are equally far: short names against many equal given names.
CREATE TABLE p (id int PRIMARY KEY, name text, sig bloom(7,43,3) GENERATED ALWAYS AS (bloom_signature(name, by_word => true)::bloom(7,43,3)) STORED);
INSERT INTO p SELECT i, (string_to_array('Hans Anna Peter Maria Karl Erika Josef Eva', ' '))[i % 8 + 1] || ' ' || initcap(translate(left(md5(i::text), 7), '0123456789', 'ghijklmnop')) FROM generate_series(1, 100000) AS i;
-- of these, more are equally far than are compared
INSERT INTO p SELECT 100000 + i, 'Zoe' FROM generate_series(1, 3000) AS i;
CREATE FUNCTION nearest() RETURNS TABLE (wanted text, k int, place bigint, key text, name text, similarity float8) LANGUAGE sql STABLE AS $$
    SELECT w, k, n.* FROM unnest(ARRAY['Anna', 'Eva', 'Hans', 'Zoe', 'Zo', 'Anna Gho', '東京', '']) AS w, unnest(ARRAY[1, 10, 100]) AS k,
        LATERAL (SELECT row_number() OVER (), * FROM bloom_nearest_names('p', 'id', 'sig', 'name', w, k)) AS n $$;
CREATE FUNCTION nearest_plan() RETURNS text LANGUAGE plpgsql AS $$ DECLARE line text; BEGIN
    FOR line IN EXPLAIN (COSTS off) SELECT id FROM p ORDER BY sig <-> bloom_signature('Anna', by_word => true)::bloom(7,43,3) LIMIT 1051 LOOP
        IF line ~ 'Scan' THEN RETURN regexp_replace(line, '^.*->\s*', ''); END IF; END LOOP; END $$;
ANALYZE p;
SELECT nearest_plan();
CREATE TABLE by_sort AS SELECT * FROM nearest();
CREATE INDEX p_sigfile ON p USING sigfile (sig);
VACUUM ANALYZE p;
SELECT nearest_plan();
CREATE TABLE by_sigfile AS SELECT * FROM nearest();
DROP INDEX p_sigfile;
CREATE INDEX p_gist ON p USING gist (sig);
SELECT nearest_plan();
CREATE TABLE by_gist AS SELECT * FROM nearest();
SELECT count(*) FROM by_sort;
SELECT count(*) FROM (SELECT * FROM by_sort EXCEPT ALL SELECT * FROM by_sigfile) AS d;
SELECT count(*) FROM (SELECT * FROM by_sort EXCEPT ALL SELECT * FROM by_gist) AS d;
-- The order of the rows in the table is of no weight either.
CREATE TABLE q AS SELECT id, name, sig FROM p ORDER BY hashint4(id);
SELECT count(*) FROM by_sort AS s RIGHT JOIN LATERAL (SELECT row_number() OVER () AS place, * FROM bloom_nearest_names('q', 'id', 'sig', 'name', 'Zoe', 100)) AS n USING (place, key, similarity) WHERE s.wanted = 'Zoe' AND s.k = 100;
-- Of many that are equal, those with the least keys as text are given.
SELECT key, name, round(similarity::numeric, 3) AS similarity FROM bloom_nearest_names('p', 'id', 'sig', 'name', 'Zoe', 3);
DROP TABLE p, q, by_sort, by_sigfile, by_gist;
DROP FUNCTION nearest, nearest_plan;
