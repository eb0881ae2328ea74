-- Collisions of rows that are redirected, as the server would compute them; and references that reach further than one table.
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE SCHEMA merge_collisions;
SET search_path = merge_collisions, public;
CREATE TABLE person (id int PRIMARY KEY, name text);
INSERT INTO person VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd');
CREATE TABLE clu AS SELECT 1 AS cluster, id AS key, id = 1 AS keep FROM person WHERE id <= 3;
-- What the plan says of a child, and what the merge makes of it; nothing of it stays.
CREATE PROCEDURE tried(ddl text, VARIADIC shown text[]) LANGUAGE plpgsql AS $$
DECLARE one text; message text; detail text; hint text;
BEGIN
    EXECUTE ddl;
    FOR one IN SELECT q.line FROM (SELECT concat_ws(' ', p.action, p.key, p.source, p.relation, p.reference, p.value) AS line FROM bloom_merge_plan('clu', 'person', 'id') AS p
        WHERE p.action IN ('stop', 'collision')) AS q ORDER BY q.line COLLATE "C"
    LOOP
        RAISE WARNING 'plan: %', one;
    END LOOP;
    BEGIN
        SELECT format('deleted %s, redirected %s, dropped %s', m.deleted, m.redirected, m.dropped) INTO one FROM bloom_merge('clu', 'person', 'id', on_collision => 'drop') AS m;
        SET CONSTRAINTS ALL IMMEDIATE;
        RAISE WARNING 'merge: %', one;
        FOREACH one IN ARRAY shown LOOP
            EXECUTE format('SELECT string_agg(t::text, '' '' ORDER BY t::text COLLATE "C") FROM %s AS t', one) INTO message;
            RAISE WARNING '%: %', one, message;
        END LOOP;
        PERFORM bloom_unmerge(id) FROM (SELECT id FROM bloom_merges WHERE action = 'keep') AS m;
        FOREACH one IN ARRAY shown LOOP
            EXECUTE format('SELECT string_agg(t::text, '' '' ORDER BY t::text COLLATE "C") FROM %s AS t', one) INTO message;
            RAISE WARNING 'taken back, %: %', one, message;
        END LOOP;
    EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
        RAISE WARNING '% | % | % | %', SQLSTATE, message, detail, hint;
    END;
    ROLLBACK;
END $$;
-- a predicate over a generated column: no row collides
CALL tried('CREATE TABLE v (id int PRIMARY KEY, p int REFERENCES person, pp int GENERATED ALWAYS AS (p * 10) STORED, x text); CREATE UNIQUE INDEX ON v (p) WHERE pp > 15;
    INSERT INTO v (id, p, x) VALUES (2, 2, ''x''), (3, 3, ''y'')', 'v');
-- a generated column, and an expression over one
CALL tried('CREATE TABLE v (id int PRIMARY KEY, p int REFERENCES person, pp int GENERATED ALWAYS AS (p * 10) STORED UNIQUE, x text); INSERT INTO v (id, p, x) VALUES (2, 2, ''x''), (3, 3, ''y'')', 'v');
CALL tried('CREATE TABLE v (id int PRIMARY KEY, p int REFERENCES person, "P p" int GENERATED ALWAYS AS (abs(p)) STORED, x text); CREATE UNIQUE INDEX ON v ((-"P p"), x);
    INSERT INTO v (id, p, x) VALUES (1, 1, ''x''), (2, 2, ''x''), (3, 3, ''y'')', 'v');
-- indexes of partitions: the row stays where it is, it comes into another partition, it leaves the one with the index
CALL tried('CREATE TABLE v (id int PRIMARY KEY, p int REFERENCES person, x text) PARTITION BY RANGE (id); CREATE TABLE v0 PARTITION OF v FOR VALUES FROM (0) TO (10);
    CREATE TABLE v1 PARTITION OF v FOR VALUES FROM (10) TO (20); CREATE UNIQUE INDEX ON v0 (p); INSERT INTO v VALUES (2, 2, ''x''), (3, 3, ''y''), (12, 2, ''x''), (13, 3, ''y'')', 'v');
CALL tried('CREATE TABLE v (id int, p int REFERENCES person, x text, PRIMARY KEY (id, p)) PARTITION BY LIST (p); CREATE TABLE v1 PARTITION OF v FOR VALUES IN (1);
    CREATE TABLE v0 PARTITION OF v DEFAULT; CREATE UNIQUE INDEX ON v1 (x); INSERT INTO v VALUES (1, 1, ''x''), (2, 2, ''x''), (3, 3, ''y'')', 'v1', 'v0');
CALL tried('CREATE TABLE v (id int, p int REFERENCES person, x text, PRIMARY KEY (id, p)) PARTITION BY LIST (p); CREATE TABLE v1 PARTITION OF v FOR VALUES IN (1);
    CREATE TABLE v0 PARTITION OF v DEFAULT; CREATE UNIQUE INDEX ON v0 (x); INSERT INTO v VALUES (1, 1, ''x''), (2, 2, ''x''), (3, 3, ''y'')', 'v1', 'v0');
-- an index of the whole that is not valid, since one partition lacks its part
CALL tried('CREATE TABLE v (id int PRIMARY KEY, p int REFERENCES person, x text) PARTITION BY RANGE (id); CREATE TABLE v0 PARTITION OF v FOR VALUES FROM (0) TO (10);
    CREATE TABLE v1 PARTITION OF v FOR VALUES FROM (10) TO (20); CREATE UNIQUE INDEX whole ON ONLY v (id, (p IS NULL)); CREATE UNIQUE INDEX part ON v0 (p);
    INSERT INTO v VALUES (2, 2, ''x''), (3, 3, ''y''), (12, 2, ''x''), (13, 3, ''y'')', 'v');
-- a row that is like one that goes itself stays: several indexes, and an exclusion constraint
CALL tried('CREATE TABLE v (id int PRIMARY KEY, p int REFERENCES person, x text, y text, UNIQUE (p, x), UNIQUE (p, y)); INSERT INTO v VALUES (1, 1, ''x'', ''1''), (2, 2, ''x'', ''2''), (3, 3, ''z'', ''2'')', 'v');
CALL tried('CREATE TABLE v (id int PRIMARY KEY, p int REFERENCES person, during int4range, EXCLUDE USING gist (int4range(p, p, ''[]'') WITH =, during WITH &&));
    INSERT INTO v VALUES (1, 1, ''[1,5)''), (2, 2, ''[4,9)''), (3, 3, ''[8,12)'')', 'v');
-- an index over whole rows
CALL tried('CREATE TABLE v (id int PRIMARY KEY, p int REFERENCES person); CREATE FUNCTION of_row(v) RETURNS int IMMUTABLE LANGUAGE sql AS ''SELECT $1.p''; CREATE UNIQUE INDEX whole ON v (of_row(v));
    INSERT INTO v VALUES (2, 2)', 'v');
-- columns that are called as ours are
CALL tried('CREATE TABLE v (bloom_merge_key int PRIMARY KEY, bloom_merge_row int REFERENCES person, bloom_merge_no int, bloom_merge_table int, UNIQUE (bloom_merge_row, bloom_merge_no));
    INSERT INTO v VALUES (1, 1, 1), (2, 2, 1), (3, 3, 2)', 'v');
-- records are not dropped, be they in no cluster or kept
CALL tried('ALTER TABLE person ADD boss int UNIQUE REFERENCES person; INSERT INTO person VALUES (5, ''e'', 2), (6, ''f'', 1)', 'person');
CALL tried('ALTER TABLE person ADD boss int UNIQUE REFERENCES person; UPDATE person SET boss = 2 WHERE id = 1; INSERT INTO person VALUES (6, ''f'', 1)', 'person');
-- a key that refers to one partition does not mean the same value in another one: row 1 stays, row 2 is redirected, and row 3 cannot be
CREATE TABLE human (id int PRIMARY KEY, code int) PARTITION BY RANGE (id);
CREATE TABLE human0 PARTITION OF human FOR VALUES FROM (0) TO (10);
CREATE TABLE human1 PARTITION OF human FOR VALUES FROM (10) TO (20);
ALTER TABLE human0 ADD UNIQUE (code);
ALTER TABLE human1 ADD UNIQUE (code);
INSERT INTO human VALUES (1, 71), (2, 72), (3, 73), (11, 71), (12, 72), (13, 73);
CREATE TABLE of_human0 (id int PRIMARY KEY, code int REFERENCES human0 (code));
INSERT INTO of_human0 VALUES (1, 71), (2, 72);
CREATE TABLE clu_human AS SELECT * FROM (VALUES (1, 13, true), (1, 11, false), (2, 3, true), (2, 2, false)) AS c (cluster, key, keep);
SELECT * FROM bloom_merge_plan('clu_human', 'human', 'id') WHERE relation IS NOT NULL;
SELECT * FROM bloom_merge('clu_human', 'human', 'id');
SELECT * FROM of_human0 ORDER BY id;
INSERT INTO of_human0 VALUES (3, 73);
CREATE TABLE clu_elsewhere AS SELECT * FROM (VALUES (1, 13, true), (1, 3, false)) AS c (cluster, key, keep);
SELECT * FROM bloom_merge_plan('clu_elsewhere', 'human', 'id') WHERE relation IS NOT NULL;
SELECT * FROM bloom_merge('clu_elsewhere', 'human', 'id');
DROP SCHEMA merge_collisions CASCADE;
