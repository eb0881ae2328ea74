-- What a type must do in a database: order, grouping, joins, aggregates, generated columns.
CREATE TABLE person (
    id int PRIMARY KEY,
    given_name text,
    surname text,
    born date,
    sig bloom(7,43,3) GENERATED ALWAYS AS (bloom_signature(given_name || ' ' || surname)) STORED,
    record bloom GENERATED ALWAYS AS (bloom_signature_of_fields(3, 60, 0.01, given_name, surname, ident_date(born))) STORED
);
INSERT INTO person VALUES
    (1, 'Erika', 'Mustermann', '1964-05-27'), (2, 'Erica', 'Mustermann', '1964-05-27'), (3, 'Jörg', 'Müller', '1970-01-01'),
    (4, 'Joerg', 'Mueller', NULL), (5, NULL, 'Schmidt', '1999-12-31'), (6, '', '', NULL);
SELECT id, bloom_bits(sig), bloom_bits(record) FROM person ORDER BY id;
SELECT id, bloom_sim(sig, bloom_signature('Erika Mustermann')) FROM person
WHERE bloom_sim(sig, bloom_signature('Erika Mustermann')) > 0.8 ORDER BY 2 DESC;
SELECT id, sig <-> bloom_signature('Jörg Müller') AS distance FROM person ORDER BY 2, 1 LIMIT 3;
UPDATE person SET given_name = 'Erich' WHERE id = 2;
SELECT id, bloom_sim(sig, bloom_signature('Erich Mustermann')) FROM person WHERE id = 2;
SELECT a.id, b.id, round(bloom_sim(a.record, b.record)::numeric, 3) FROM person AS a JOIN person AS b ON a.id < b.id AND bloom_sim(a.record, b.record) > 0.3 ORDER BY 1, 2;

-- Grouping, distinctness and joins, by sorting and by hashing.
CREATE TABLE s AS SELECT i, bloom_signature('name' || i % 100, 2 + i % 2) AS sig FROM generate_series(1, 1000) AS i;
INSERT INTO s VALUES (1001, NULL), (1002, NULL);
ANALYZE s;
SET enable_hashagg = off;
SELECT count(*) FROM (SELECT DISTINCT sig FROM s) AS d;
SELECT n, count(*) FROM (SELECT sig, count(*) AS n FROM s GROUP BY sig) AS g GROUP BY n ORDER BY n;
RESET enable_hashagg;
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT sig, count(*) FROM s GROUP BY sig;
SELECT n, count(*) FROM (SELECT sig, count(*) AS n FROM s GROUP BY sig) AS g GROUP BY n ORDER BY n;
RESET enable_sort;
SET enable_hashjoin = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM s AS a JOIN s AS b USING (sig);
SELECT count(*) FROM s AS a JOIN s AS b USING (sig);
RESET enable_hashjoin;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM s AS a JOIN s AS b USING (sig);
SELECT count(*) FROM s AS a JOIN s AS b USING (sig);
RESET enable_mergejoin;
-- Order: shapes first, n-gram length last of the shape.
SELECT bool_and(ordered) FROM (SELECT (lag(sig) OVER w) <= sig AS ordered FROM s WINDOW w AS (ORDER BY sig)) AS o;
SELECT sig::bytea < lead(sig::bytea) OVER () AS x, left(sig::text, 8) AS shape FROM (SELECT DISTINCT ON (left(sig::text, 8)) sig FROM s WHERE sig IS NOT NULL ORDER BY left(sig::text, 8), sig) AS f ORDER BY sig;
CREATE INDEX s_btree ON s (sig);
CREATE INDEX s_hash ON s USING hash (sig);
SET enable_seqscan = off;
BEGIN;
DROP INDEX s_hash;
EXPLAIN (COSTS OFF) SELECT i FROM s WHERE sig = bloom_signature('name7', 3);
SELECT array_agg(i ORDER BY i) FROM s WHERE sig = bloom_signature('name7', 3);
ROLLBACK;
DROP INDEX s_btree;
EXPLAIN (COSTS OFF) SELECT i FROM s WHERE sig = bloom_signature('name7', 3);
SELECT array_agg(i ORDER BY i) FROM s WHERE sig = bloom_signature('name7', 3);
RESET enable_seqscan;
CREATE UNIQUE INDEX ON person (sig);
INSERT INTO person VALUES (7, 'erika', 'MUSTERMANN');
CREATE TABLE parts (sig bloom) PARTITION BY HASH (sig);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parts SELECT sig FROM s;
SELECT tableoid::regclass, count(*), count(DISTINCT sig) FROM parts GROUP BY 1 ORDER BY 1;

-- The aggregate: NULLs, no rows, groups, windows, parallel workers; the input is left alone.
SELECT bloom_union(sig) IS NULL AS none FROM s WHERE i > 1000;
SELECT bloom_union(sig) IS NULL AS none FROM s WHERE false;
SELECT bloom_union(sig) = (SELECT bloom_signature('Erika Mustermann') | bloom_signature('Jörg Müller')) FROM person WHERE id IN (1, 3);
CREATE TABLE before AS TABLE s;
SELECT i % 2 AS g, bloom_bits(bloom_union(sig)) FROM s WHERE i <= 1000 GROUP BY 1 ORDER BY 1;
SELECT i, bloom_bits(bloom_union(sig) OVER (ORDER BY i)) FROM s WHERE i % 2 = 0 AND i <= 10 ORDER BY i;
SELECT i, bloom_bits(bloom_union(sig) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)) FROM s WHERE i % 2 = 0 AND i <= 10 ORDER BY i;
SELECT count(*) FROM s JOIN before USING (i) WHERE s.sig IS DISTINCT FROM before.sig;
SELECT bloom_bits(bloom_union(sig)) AS serial FROM s WHERE i % 2 = 0 AND i <= 1000;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 1; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT bloom_bits(bloom_union(sig)) FROM s WHERE i % 2 = 0 AND i <= 1000;
SELECT bloom_bits(bloom_union(sig)) AS parallel FROM s WHERE i % 2 = 0 AND i <= 1000;
CREATE TABLE odd AS SELECT sig FROM s WHERE i % 2 = 1 AND i <= 1000;
EXPLAIN (COSTS OFF) SELECT sig FROM odd WHERE bloom_sim(sig, bloom_signature('name7', 3)) > 0.7;
SELECT count(*) FROM odd WHERE bloom_sim(sig, bloom_signature('name7', 3)) > 0.7;
RESET max_parallel_workers_per_gather;
-- Called outside an aggregate, its step changes nothing.
SELECT bloom_union_step(a, b) = (a | b) AS union, a = bloom_signature('Erika') AS untouched FROM bloom_signature('Erika') AS a, bloom_signature('Otto') AS b;
-- Statistics of another shape are no reason to fail.
CREATE TABLE reshaped AS SELECT bloom_signature('name' || i % 40) AS sig FROM generate_series(1, 1000) AS i;
ANALYZE reshaped;
TRUNCATE reshaped;
INSERT INTO reshaped SELECT bloom_signature('name' || i, max_chars => 60) FROM generate_series(1, 1000) AS i;
SELECT count(*) FROM reshaped WHERE sig % bloom_signature('name1', max_chars => 60);
SELECT count(*) FROM reshaped WHERE sig % bloom_query(bloom_signature('name1', max_chars => 60), 0.8);
DROP TABLE person, s, before, parts, odd, reshaped;
