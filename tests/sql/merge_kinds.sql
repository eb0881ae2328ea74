-- Kinds of references, tables, keys and values, and what is refused.
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE TABLE cluster_of (cluster text, key text, keep boolean);
INSERT INTO cluster_of VALUES ('x', '1', true), ('x', '2', false);
-- what is no table of records
CREATE TABLE person (id int PRIMARY KEY, name text, doc json);
INSERT INTO person VALUES (1, 'a'), (2, 'b'), (3, 'c');
CREATE VIEW person_view AS SELECT * FROM person;
CREATE MATERIALIZED VIEW person_mat AS SELECT * FROM person;
CREATE TABLE heir () INHERITS (person);
SELECT * FROM bloom_merge_plan('cluster_of', 'person_view', 'id');
SELECT * FROM bloom_merge('cluster_of', 'person_mat', 'id');
SELECT * FROM bloom_merge('cluster_of', 'person', 'id');
DROP TABLE heir;
SELECT * FROM bloom_merge('cluster_of', 'person', 'doc');
SELECT * FROM bloom_merge('cluster_of', 'person', 'nothing');
SELECT * FROM bloom_merge('person', 'person', 'id');
-- clusters that cannot be
CREATE VIEW twice AS SELECT * FROM cluster_of UNION ALL SELECT 'y', '2', false UNION ALL SELECT 'y', '3', true;
SELECT * FROM bloom_merge('twice', 'person', 'id');
CREATE VIEW missing AS SELECT * FROM cluster_of UNION ALL SELECT 'y', '7', false;
SELECT * FROM bloom_merge_plan('missing', 'person', 'id');
CREATE VIEW unknown AS SELECT * FROM cluster_of UNION ALL SELECT 'y', NULL, false;
SELECT * FROM bloom_merge('unknown', 'person', 'id');
CREATE VIEW wrong AS SELECT * FROM cluster_of UNION ALL SELECT 'y', 'seven', false;
SELECT * FROM bloom_merge('wrong', 'person', 'id');
-- arguments
SELECT * FROM bloom_merge_plan('cluster_of', 'person', 'id', '{"id": "longest"}');
SELECT * FROM bloom_merge_plan('cluster_of', 'person', 'id', '{"nothing": "keep"}');
SELECT * FROM bloom_merge_plan('cluster_of', 'person', 'id', '{"name": "shortest"}');
SELECT * FROM bloom_merge_plan('cluster_of', 'person', 'id', '["name"]');
SELECT * FROM bloom_merge_plan('cluster_of', 'person', 'id', '{"name": {"newest": "nothing"}}');
SELECT * FROM bloom_merge_plan('cluster_of', 'person', 'id', '{"name": {"newest": "doc"}}');
SELECT * FROM bloom_merge_plan('cluster_of', 'person', 'id', '{"name": {"sql": "max(nothing)"}}');
SELECT * FROM bloom_merge_plan('cluster_of', 'person', 'id', '{"name": {"sql": "name"}}');
SELECT * FROM bloom_merge_plan('cluster_of', 'person', 'id', keep_by => 'nothing');
SELECT * FROM bloom_merge_plan('cluster_of', 'person', 'id', keep_by => ' ');
SELECT * FROM bloom_merge('cluster_of', 'person', 'id', on_collision => 'ignore');
SELECT * FROM bloom_merge('cluster_of', 'person', 'id', redirect => '{person}');
SELECT * FROM bloom_merge('cluster_of', 'person', 'id', redirect => '{person.nothing}');
SELECT * FROM bloom_merge('cluster_of', 'person', 'id', redirect => '{person_view.id}');
SELECT * FROM bloom_merge('cluster_of', 'person', 'id', redirect => '{nothing.id}');
SELECT * FROM bloom_merge('cluster_of', 'person', 'id', redirect => '{person.doc}');
SELECT * FROM bloom_merge('cluster_of', 'person', 'id', audit => 'person');
SELECT bloom_unmerge(1);
SELECT bloom_unmerge(NULL);
SELECT bloom_merges_create('a.b.c');
SELECT bloom_merges_create('"Odd Name"');
DROP TABLE "Odd Name";
-- children that cannot be redirected, each by itself
CREATE PROCEDURE refused(ddl text, redirect text[] DEFAULT NULL) LANGUAGE plpgsql AS $$
DECLARE message text; detail text;
BEGIN
    EXECUTE ddl;
    PERFORM * FROM bloom_merge('cluster_of', 'person', 'id', on_collision => 'drop', redirect => redirect);
    RAISE WARNING 'not refused: %', ddl;
    ROLLBACK;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
    RAISE WARNING '% | % | %', SQLSTATE, message, detail;
END $$;
CALL refused('CREATE TABLE child (person int REFERENCES person)');
CALL refused('CREATE TABLE child (id int PRIMARY KEY, raw int, person int GENERATED ALWAYS AS (raw) STORED REFERENCES person)');
CALL refused('CREATE TABLE child (person int PRIMARY KEY GENERATED ALWAYS AS IDENTITY REFERENCES person)');
CALL refused('ALTER TABLE person ADD u int UNIQUE; UPDATE person SET u = 5 WHERE id = 2; CREATE TABLE child (id int PRIMARY KEY, u int REFERENCES person (u)); INSERT INTO child VALUES (1, 5)');
CALL refused('CREATE TABLE child (person int PRIMARY KEY REFERENCES person); CREATE TABLE grandchild (id int PRIMARY KEY, child int REFERENCES child ON DELETE CASCADE);
    INSERT INTO child VALUES (1), (2); INSERT INTO grandchild VALUES (1, 2)');
CALL refused('CREATE TABLE child (person int PRIMARY KEY REFERENCES person); CREATE TABLE grandchild (id int PRIMARY KEY, child int REFERENCES child ON UPDATE SET NULL)');
CALL refused('CREATE TABLE child (id int PRIMARY KEY, person int REFERENCES person ON DELETE CASCADE); INSERT INTO child VALUES (1, 2);
    CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS ''BEGIN RETURN NULL; END''; CREATE TRIGGER skip BEFORE UPDATE ON child FOR EACH ROW EXECUTE FUNCTION skip()');
CALL refused('CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS ''BEGIN RETURN NULL; END''; CREATE TRIGGER skip BEFORE DELETE ON person FOR EACH ROW EXECUTE FUNCTION skip()');
CALL refused('CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS ''BEGIN RAISE EXCEPTION USING ERRCODE = ''''XY001'''', MESSAGE = ''''mine'''', DETAIL = ''''and this''''; END'';
    CREATE TRIGGER fails BEFORE DELETE ON person FOR EACH ROW EXECUTE FUNCTION fails()');
DROP PROCEDURE refused(text, text[]);
DROP TABLE person CASCADE;
DROP TABLE cluster_of CASCADE;

-- several columns, another key than the one given, partitions on both sides, names that must be quoted, a key of text, and values that must come back byte for byte
CREATE SCHEMA "Odd ""s";
CREATE DOMAIN "Odd ""s".points AS numeric(6,3);
CREATE TYPE "Odd ""s".mood AS ENUM ('good', 'bad');
CREATE TYPE "Odd ""s".pair AS (x int, y text);
CREATE TABLE "Odd ""s"."Per son" (tenant int, "No" int GENERATED ALWAYS AS IDENTITY, "key" text NOT NULL, "it's" text, f float8, f4 float4, n "Odd ""s".points, j json, jb jsonb, b bytea, a text[], aa int[][], m "Odd ""s".mood,
    c "Odd ""s".pair, r int4range, ts timestamptz, iv interval, ch char(5), vb varbit(7), x text, null_row "Odd ""s".pair, upper_key text GENERATED ALWAYS AS (upper("key")) STORED,
    PRIMARY KEY (tenant, "No"), UNIQUE (tenant, "key")) PARTITION BY LIST (tenant);
CREATE TABLE "Odd ""s".p1 PARTITION OF "Odd ""s"."Per son" FOR VALUES IN (1);
CREATE TABLE "Odd ""s".p2 PARTITION OF "Odd ""s"."Per son" DEFAULT;
INSERT INTO "Odd ""s"."Per son" VALUES (1, DEFAULT, 'k\''1', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (1, DEFAULT, 'k"2', 'it''s \ "q"', '-0', 0.1::float4, 1.5, '{"b":1, "a":  1.0, "a": 2}', '{"b": 1.00}', '\x00ff', '{"a b",NULL,"NULL",""}', '{{1,2},{3,4}}', 'bad', '(1,"a, ""b""")', '[1,5)', '2024-02-03 04:05:06.789+00',
        '1 mon -2 days 00:00:00.5', 'ab', '10101', '<a>&lt;</a>', '(,)'),
    (2, DEFAULT, 'other', NULL, 'NaN', 'infinity', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE "Odd ""s"."Chi ld" (tenant int, "id" int, person int, "key" text, PRIMARY KEY (tenant, id), FOREIGN KEY (tenant, person) REFERENCES "Odd ""s"."Per son" ON DELETE CASCADE,
    CONSTRAINT "by key's" FOREIGN KEY (tenant, "key") REFERENCES "Odd ""s"."Per son" (tenant, "key") DEFERRABLE INITIALLY DEFERRED) PARTITION BY HASH (tenant, id);
CREATE TABLE "Odd ""s".c1 PARTITION OF "Odd ""s"."Chi ld" FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE "Odd ""s".c2 PARTITION OF "Odd ""s"."Chi ld" FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO "Odd ""s"."Chi ld" SELECT 1, i, 1 + i % 2, CASE i % 3 WHEN 0 THEN 'k"2' WHEN 1 THEN 'k\''1' END FROM generate_series(1, 8) AS i;
CREATE TABLE "Odd ""s".clusters AS SELECT 1.5 AS cluster, "key" AS key, false AS keep FROM "Odd ""s"."Per son" WHERE tenant = 1;
CREATE TABLE before AS SELECT p::text AS contents FROM "Odd ""s"."Per son" AS p UNION ALL SELECT c::text FROM "Odd ""s"."Chi ld" AS c;
SET search_path = "Odd ""s", public;
CREATE FUNCTION "Odd ""s".hostile(text, text) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'ran'; END $$;
CREATE OPERATOR "Odd ""s".= (LEFTARG = text, RIGHTARG = text, FUNCTION = "Odd ""s".hostile);
SET search_path = "Odd ""s", public, pg_catalog;
SET datestyle = 'German, DMY';
SET intervalstyle = 'iso_8601';
SET extra_float_digits = -5;
SELECT public.bloom_merges_create('merges');
SELECT * FROM public.bloom_merge('clusters', '"Per son"', 'key', '{"it''s": {"sql": "max(\"it''s\") || ''!''"}}', 'oldest', audit => 'merges');
SELECT tenant, "No", "key", "it's", n, m, a FROM "Per son" ORDER BY 2;
SELECT tenant, id, person, "key" FROM "Chi ld" ORDER BY 2;
SELECT public.bloom_unmerge(1, 'merges');
RESET datestyle;
RESET intervalstyle;
RESET extra_float_digits;
RESET search_path;
SELECT * FROM before EXCEPT (SELECT p::text FROM "Odd ""s"."Per son" AS p UNION ALL SELECT c::text FROM "Odd ""s"."Chi ld" AS c);
SELECT count(*) FROM "Odd ""s"."Per son";
DROP TABLE before;
DROP SCHEMA "Odd ""s" CASCADE;

-- temporary tables; a guard and an exclusion constraint do not refuse the record because of those that go
CREATE TEMP TABLE club (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED, boss int REFERENCES club);
INSERT INTO club VALUES (1, 'Erika Mustermann'), (2, 'Erika Mustermann');
UPDATE club SET boss = 2 WHERE id = 1;
CREATE INDEX ON club USING sigfile (sig);
SELECT bloom_guard_create('club', 'sig', 0.8, 'reject');
CREATE TEMP TABLE club_cluster AS SELECT 1 AS cluster, id AS key, id = 1 AS keep FROM club;
CREATE TEMP TABLE club_merges AS SELECT;
DROP TABLE club_merges;
SELECT bloom_merges_create('pg_temp.club_merges');
SELECT * FROM bloom_merge('club_cluster', 'club', 'id', '{"name": {"sql": "max(name) || ''n''"}}', audit => 'club_merges');
SELECT id, name, boss FROM club;
-- it would refuse the one that comes back
SELECT bloom_unmerge(1, 'club_merges');
ALTER TABLE club DISABLE TRIGGER USER;
SELECT bloom_unmerge(1, 'club_merges');
SELECT id, name, boss FROM club ORDER BY id;
DROP TABLE club, club_cluster, club_merges;

-- an exclusion constraint, NULLs that are alike, an index over an expression, and one with a condition
CREATE TABLE person (id int PRIMARY KEY);
INSERT INTO person SELECT generate_series(1, 4);
CREATE TABLE cluster_of AS SELECT 1 AS cluster, 1 AS key UNION ALL SELECT 1, 2;
CREATE TABLE stay (id int PRIMARY KEY, person int REFERENCES person, span int4range, EXCLUDE USING gist (span WITH &&, int4range(person, person, '[]') WITH =));
INSERT INTO stay VALUES (1, 1, '[1,5)'), (2, 2, '[4,6)'), (3, 2, '[7,9)'), (4, 3, '[1,5)');
CREATE TABLE mail (id int PRIMARY KEY, person int REFERENCES person, kind text, gone bool);
CREATE UNIQUE INDEX mail_kind ON mail (person, lower(kind)) WHERE NOT gone;
CREATE UNIQUE INDEX mail_nulls ON mail (person, gone) NULLS NOT DISTINCT WHERE gone IS NULL;
INSERT INTO mail VALUES (1, 1, 'A', false), (2, 2, 'a', false), (3, 2, 'A', true), (4, 1, 'x', NULL), (5, 2, 'y', NULL), (6, 3, 'y', NULL), (7, 2, 'b', false);
SELECT action, key, source, relation, reference FROM bloom_merge_plan('cluster_of', 'person', 'id') WHERE action = 'collision' ORDER BY relation::text, reference, key;
SELECT cluster, key, deleted, redirected, dropped FROM bloom_merge('cluster_of', 'person', 'id', on_collision => 'drop');
SELECT * FROM stay ORDER BY id;
SELECT * FROM mail ORDER BY id;
-- changed since
UPDATE mail SET kind = 'c' WHERE id = 7;
SELECT bloom_unmerge(min(id)) FROM bloom_merges;
UPDATE mail SET kind = 'b' WHERE id = 7;
DELETE FROM stay WHERE id = 3;
SELECT bloom_unmerge(min(id)) FROM bloom_merges;
INSERT INTO stay VALUES (3, 1, '[7,9)');
ALTER TABLE person ADD note text;
UPDATE person SET note = 'changed';
SELECT bloom_unmerge(min(id)) FROM bloom_merges;
SELECT * FROM stay ORDER BY id;
DELETE FROM cluster_of;
DROP TABLE person, cluster_of, stay, mail, bloom_merges;
