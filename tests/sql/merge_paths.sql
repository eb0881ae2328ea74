-- Children whose rows refer to rows of other children, or to the records by several keys: they are redirected, or the reason is told before.
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE SCHEMA merge_paths;
SET search_path = merge_paths, public;
CREATE TABLE person (id int PRIMARY KEY, code text, UNIQUE (id, code));
INSERT INTO person VALUES (1, 'a'), (2, 'b'), (3, 'c');
CREATE TABLE clu AS SELECT 1 AS cluster, id AS key, id = 1 AS keep FROM person WHERE id <= 2;
-- What the plan says of the children, and what the merge makes of them; nothing of it stays.
CREATE PROCEDURE tried(ddl text, VARIADIC shown text[]) LANGUAGE plpgsql AS $$
DECLARE one text; message text; detail text; hint text;
BEGIN
    EXECUTE ddl;
    BEGIN
        FOR one IN SELECT q.line FROM (SELECT concat_ws(' ', p.action, p.key, p.source, p.relation, p.reference, p.value) AS line FROM bloom_merge_plan('clu', 'person', 'id') AS p
            WHERE p.action IN ('stop', 'collision')) AS q ORDER BY q.line COLLATE "C"
        LOOP
            RAISE WARNING 'plan: %', one;
        END LOOP;
        SELECT format('deleted %s, redirected %s, dropped %s', m.deleted, m.redirected, m.dropped) INTO one FROM bloom_merge('clu', 'person', 'id', on_collision => 'drop') AS m;
        SET CONSTRAINTS ALL IMMEDIATE;
        RAISE WARNING 'merge: %', one;
        FOREACH one IN ARRAY shown LOOP
            EXECUTE format('SELECT string_agg(t::text, '' '' ORDER BY t::text COLLATE "C") FROM %s AS t', one) INTO message;
            RAISE WARNING '%: %', one, message;
        END LOOP;
        SET CONSTRAINTS ALL DEFERRED;
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
-- by two paths, of which one is a key that follows changes: what it refers to comes first
CALL tried('CREATE TABLE m (person int REFERENCES person, club text, PRIMARY KEY (person, club)); INSERT INTO m VALUES (2, ''x'');
    CREATE TABLE g (id int PRIMARY KEY, person int REFERENCES person, club text, FOREIGN KEY (person, club) REFERENCES m ON UPDATE CASCADE); INSERT INTO g VALUES (1, 2, ''x'')', 'm', 'g');
-- the same, and the key does not follow: at once, and when the transaction ends
CALL tried('CREATE TABLE m (person int REFERENCES person, club text, PRIMARY KEY (person, club)); INSERT INTO m VALUES (2, ''x'');
    CREATE TABLE g (id int PRIMARY KEY, person int REFERENCES person, club text, FOREIGN KEY (person, club) REFERENCES m); INSERT INTO g VALUES (1, 2, ''x'')', 'm', 'g');
CALL tried('CREATE TABLE m (person int REFERENCES person, club text, PRIMARY KEY (person, club)); INSERT INTO m VALUES (2, ''x'');
    CREATE TABLE g (id int PRIMARY KEY, person int REFERENCES person, club text, FOREIGN KEY (person, club) REFERENCES m DEFERRABLE INITIALLY DEFERRED); INSERT INTO g VALUES (1, 2, ''x'')', 'm', 'g');
-- when the transaction ends, and nothing redirects what refers to it
CALL tried('CREATE TABLE m (person int REFERENCES person, club text, PRIMARY KEY (person, club)); INSERT INTO m VALUES (2, ''x'');
    CREATE TABLE g (id int PRIMARY KEY, person int, club text, FOREIGN KEY (person, club) REFERENCES m DEFERRABLE INITIALLY DEFERRED); INSERT INTO g VALUES (1, 2, ''x'')', 'm', 'g');
-- and nothing refers to what changes
CALL tried('CREATE TABLE m (person int REFERENCES person, club text, PRIMARY KEY (person, club)); INSERT INTO m VALUES (2, ''x''), (3, ''x'');
    CREATE TABLE g (id int PRIMARY KEY, person int, club text, FOREIGN KEY (person, club) REFERENCES m); INSERT INTO g VALUES (1, 3, ''x'')', 'm', 'g');
-- a row that would be dropped is referred to
CALL tried('CREATE TABLE m (person int REFERENCES person, club text UNIQUE, PRIMARY KEY (person)); INSERT INTO m VALUES (2, ''x''), (1, ''y'');
    CREATE TABLE g (id int PRIMARY KEY, club text REFERENCES m (club)); INSERT INTO g VALUES (1, ''x'')', 'm', 'g');
CALL tried('CREATE TABLE m (person int REFERENCES person, club text UNIQUE, PRIMARY KEY (person)); INSERT INTO m VALUES (2, ''x''), (1, ''y'');
    CREATE TABLE g (id int PRIMARY KEY, club text REFERENCES m (club) ON DELETE CASCADE); INSERT INTO g VALUES (1, ''x'')', 'm', 'g');
-- a key that would clear what refers to columns that change
CALL tried('CREATE TABLE m (person int PRIMARY KEY REFERENCES person); CREATE TABLE g (id int PRIMARY KEY, m int REFERENCES m ON UPDATE SET NULL)', 'm', 'g');
-- one column in two keys, one of them of all columns or none
CALL tried('CREATE TABLE v (id int PRIMARY KEY, person int, code text, CONSTRAINT a FOREIGN KEY (person) REFERENCES person, CONSTRAINT b FOREIGN KEY (person, code) REFERENCES person (id, code) MATCH FULL);
    INSERT INTO v VALUES (1, 2, ''b''), (2, 3, ''c'')', 'v');
-- columns that are narrower than what they refer to
CREATE TABLE wide (id bigint PRIMARY KEY, code text UNIQUE);
INSERT INTO wide VALUES (100000, 'long'), (2, 'ab');
CREATE TABLE clu_wide AS SELECT 1 AS cluster, id AS key, id > 2 AS keep FROM wide;
CREATE TABLE narrow (id int PRIMARY KEY, wide smallint REFERENCES wide UNIQUE);
INSERT INTO narrow VALUES (1, 2);
SELECT * FROM bloom_merge_plan('clu_wide', 'wide', 'id') WHERE relation IS NOT NULL;
SELECT * FROM bloom_merge('clu_wide', 'wide', 'id');
DROP TABLE narrow;
CREATE TABLE narrow (id int PRIMARY KEY, wide varchar(3) REFERENCES wide (code) UNIQUE);
INSERT INTO narrow VALUES (1, 'ab');
SELECT * FROM bloom_merge_plan('clu_wide', 'wide', 'id') WHERE relation IS NOT NULL;
SELECT * FROM bloom_merge('clu_wide', 'wide', 'id');
UPDATE wide SET code = 'abc' WHERE id > 2;
SELECT * FROM bloom_merge('clu_wide', 'wide', 'id');
SELECT * FROM narrow;
DROP TABLE narrow;
-- columns of a coarser type, or with a modifier, would get another value, which is that of another record
CREATE TABLE coarse (id int PRIMARY KEY, number numeric UNIQUE, real float8 UNIQUE, moment timestamp UNIQUE, code text UNIQUE);
INSERT INTO coarse VALUES (1, 1.04, 0.1, '2024-01-01 12:00', repeat('x', 70)), (2, 2, 2, '2024-01-02', 'b'), (3, 1, 0.1::real, '2024-01-01', repeat('x', 63)), (4, 1e30, 1e300, 'infinity', 'c');
CREATE TABLE clu_coarse AS SELECT 1 AS cluster, id AS key, id = 1 AS keep FROM coarse WHERE id < 3;
CREATE TABLE clu_large AS SELECT 1 AS cluster, id AS key, id = 4 AS keep FROM coarse WHERE id IN (2, 4);
CREATE PROCEDURE narrowed(type text, refers text) LANGUAGE plpgsql AS $$
DECLARE one record; clusters text; said text;
BEGIN
    EXECUTE format('CREATE TABLE narrow (id int PRIMARY KEY, c %s REFERENCES coarse (%I)); INSERT INTO narrow SELECT 1, %I FROM coarse WHERE id = 2', type, refers, refers);
    FOREACH clusters IN ARRAY ARRAY['clu_coarse', 'clu_large'] LOOP
        SELECT string_agg(p.action, ', ') INTO said FROM bloom_merge_plan(clusters::regclass, 'coarse', 'id', '{"*": "keep"}') AS p WHERE p.relation = 'narrow'::regclass;
        RAISE NOTICE '%, %: %', type, clusters, said;
        BEGIN
            PERFORM bloom_merge(clusters::regclass, 'coarse', 'id', '{"*": "keep"}');
            FOR one IN SELECT * FROM narrow LOOP RAISE NOTICE 'merged: %', one; END LOOP;
            RAISE EXCEPTION USING ERRCODE = 'XY003';
        EXCEPTION WHEN SQLSTATE 'XY003' THEN NULL;
            WHEN OTHERS THEN RAISE NOTICE '% %', SQLSTATE, SQLERRM;
        END;
    END LOOP;
    DROP TABLE narrow;
END $$;
SET client_min_messages = notice;
CALL narrowed('int', 'number');
CALL narrowed('bigint', 'number');
CALL narrowed('numeric(3,1)', 'number');
CALL narrowed('numeric', 'number');
CALL narrowed('bigint', 'real');
CALL narrowed('real', 'real');
CALL narrowed('date', 'moment');
CALL narrowed('timestamp(0)', 'moment');
CALL narrowed('name', 'code');
CALL narrowed('varchar(3)', 'code');
CALL narrowed('varchar', 'code');
-- a domain, and a column that is named, have modifiers, too
CREATE DOMAIN tight AS numeric(3,1) CHECK (VALUE > 1);
CALL narrowed('tight', 'number');
CREATE TABLE narrow (id int PRIMARY KEY, c varchar(2), d tight);
INSERT INTO narrow VALUES (1, '2', 2);
INSERT INTO coarse VALUES (100, 100, 100, '2024-03-01', 'd');
CREATE TABLE clu_named AS SELECT 1 AS cluster, id AS key, id = 100 AS keep FROM coarse WHERE id IN (2, 100);
SELECT action, value FROM bloom_merge_plan('clu_named', 'coarse', 'id', redirect => '{narrow.c}') WHERE relation IS NOT NULL;
SELECT * FROM bloom_merge('clu_named', 'coarse', 'id', redirect => '{narrow.c}');
DROP TABLE narrow;
CREATE TABLE narrow (id int PRIMARY KEY, c tight REFERENCES coarse (number));
INSERT INTO narrow VALUES (1, 2);
UPDATE coarse SET number = 0.5 WHERE id = 100;
SELECT * FROM bloom_merge('clu_named', 'coarse', 'id', '{"*": "keep"}');
SET client_min_messages = warning;
DROP TABLE narrow;
-- columns of other collations than what they refer to
CREATE TABLE spoken (id text COLLATE "C" PRIMARY KEY);
INSERT INTO spoken VALUES ('a'), ('b');
CREATE TABLE said (id int PRIMARY KEY, word text COLLATE "POSIX" REFERENCES spoken, other name COLLATE "POSIX", loud text COLLATE "POSIX" GENERATED ALWAYS AS (upper(word)) STORED UNIQUE);
INSERT INTO said VALUES (1, 'b', 'b');
CREATE TABLE clu_spoken AS SELECT 1 AS cluster, id AS key, id = 'a' AS keep FROM spoken;
SELECT action, key, value FROM bloom_merge_plan('clu_spoken', 'spoken', 'id') WHERE relation IS NOT NULL;
SELECT key, deleted, redirected FROM bloom_merge('clu_spoken', 'spoken', 'id');
SELECT * FROM said;
SELECT bloom_unmerge(max(id)) FROM bloom_merges;
SELECT * FROM said;
-- what nobody foresees is told by table and constraint; what triggers raise passes as it is
CALL tried('CREATE TABLE v (id int PRIMARY KEY, person int REFERENCES person, CHECK (person <> 1)); INSERT INTO v VALUES (1, 2)', 'v');
CALL tried('CREATE TABLE v (id int PRIMARY KEY, person int REFERENCES person); INSERT INTO v VALUES (1, 2); CREATE TABLE other (x int CONSTRAINT no_ones CHECK (x <> 1));
    CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS ''BEGIN INSERT INTO other VALUES (NEW.person); RETURN NEW; END''; CREATE TRIGGER noted BEFORE UPDATE ON v FOR EACH ROW EXECUTE FUNCTION noted()', 'v');
-- a row that row-level security hides, under a key that deletes nothing
DROP TABLE bloom_merges;
CREATE ROLE regress_merger;
GRANT USAGE ON SCHEMA merge_paths TO regress_merger;
GRANT CREATE ON SCHEMA merge_paths TO regress_merger;
CREATE TABLE v (id int PRIMARY KEY, person int REFERENCES person);
INSERT INTO v VALUES (1, 2), (2, 2);
ALTER TABLE v ENABLE ROW LEVEL SECURITY;
CREATE POLICY odd ON v USING (id % 2 = 1);
GRANT SELECT, UPDATE, DELETE ON person, v TO regress_merger;
GRANT SELECT ON clu TO regress_merger;
SET ROLE regress_merger;
SET client_min_messages = notice;
SELECT * FROM bloom_merge_plan('clu', 'person', 'id') WHERE relation IS NOT NULL;
SET client_min_messages = warning;
SELECT * FROM bloom_merge('clu', 'person', 'id');
RESET ROLE;
-- columns without an index: each once, a partitioned table once, none for small tables, and none with an index that serves
DROP TABLE v;
CREATE TABLE "Big t" (id int PRIMARY KEY, "a b" int REFERENCES person, c int REFERENCES person, d int REFERENCES person, small text);
CREATE INDEX ON "Big t" (c, d);
CREATE INDEX ON "Big t" (d) WHERE d IS NOT NULL;
INSERT INTO "Big t" SELECT i, 2, 2, 2, repeat('x', 500) FROM generate_series(1, 2000) AS i;
CREATE TABLE parts (id int PRIMARY KEY, p int REFERENCES person, filler text) PARTITION BY RANGE (id);
CREATE TABLE parts0 PARTITION OF parts FOR VALUES FROM (0) TO (1000);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (1000) TO (3000);
INSERT INTO parts SELECT i, 3, repeat('x', 800) FROM generate_series(1, 2000) AS i;
CREATE TABLE few (id int PRIMARY KEY, p int REFERENCES person);
SET client_min_messages = notice;
SELECT relation, rows FROM bloom_merge_plan('clu', 'person', 'id') WHERE relation IS NOT NULL;
CREATE INDEX ON parts0 (p);
CREATE INDEX ON parts1 (p, id);
SELECT deleted, redirected FROM bloom_merge('clu', 'person', 'id');
SET client_min_messages = warning;
DROP SCHEMA merge_paths CASCADE;
DROP ROLE regress_merger;
