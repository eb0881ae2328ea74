-- Nothing goes that is not written to the table of merges, whatever triggers do.
SET client_min_messages = warning;
\set SHOW_CONTEXT never
\set VERBOSITY default
CREATE TABLE person (id int PRIMARY KEY, code text UNIQUE, parent int REFERENCES person ON DELETE CASCADE);
INSERT INTO person VALUES (1, 'a'), (2, 'b'), (3, 'c');
CREATE TABLE cluster_of AS SELECT 1 AS cluster, id AS key, id = 1 AS keep FROM person WHERE id < 3;
-- children by name: what fires when rows of the last one are redirected reaches those before it
CREATE TABLE a_log (id int PRIMARY KEY, person int DEFAULT 3, code text, what text);
INSERT INTO a_log VALUES (1, 1, 'a', 'precious');
CREATE TABLE visit (id int PRIMARY KEY, person int REFERENCES person);
INSERT INTO visit VALUES (1, 2);
CREATE FUNCTION moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE a_log SET person = old.person WHERE id = 1;
    INSERT INTO a_log VALUES (2, old.person, 'b', 'a visit was moved') ON CONFLICT DO NOTHING;
    RETURN new;
END $$;
CREATE TRIGGER moved AFTER UPDATE ON visit FOR EACH ROW EXECUTE FUNCTION moved();
SELECT bloom_merges_create('merges');
-- merges, shows what there is, and takes it back without the triggers
CREATE PROCEDURE try(what text, ddl text, on_collision text DEFAULT 'error') LANGUAGE plpgsql AS $$
DECLARE
    merged text; message text; detail text; hint text;
BEGIN
    EXECUTE ddl;
    SELECT m::text INTO merged FROM bloom_merge('cluster_of', 'person', 'id', on_collision => on_collision, audit => 'merges') AS m;
    RAISE WARNING '%: % %', what, (SELECT string_agg(a::text, ' ' ORDER BY a.id) FROM a_log AS a),
        (SELECT string_agg(format('%s %s %s', m.action, m.relation, m.key), ', ' ORDER BY entry) FROM merges AS m);
    SET LOCAL session_replication_role = replica;
    PERFORM bloom_unmerge(max(id), 'merges') FROM merges;
    RAISE WARNING 'back: %', (SELECT string_agg(a::text, ' ' ORDER BY a.id) FROM a_log AS a);
    RAISE SQLSTATE 'XY000';
EXCEPTION WHEN SQLSTATE 'XY000' THEN
WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RAISE WARNING '%: % | % | % | %', what, SQLSTATE, message, detail, hint;
END $$;
CALL try('cascade', 'ALTER TABLE a_log ADD FOREIGN KEY (person) REFERENCES person ON DELETE CASCADE');
CALL try('null', 'ALTER TABLE a_log ADD FOREIGN KEY (person) REFERENCES person ON DELETE SET NULL');
CALL try('default', 'ALTER TABLE a_log ADD FOREIGN KEY (person) REFERENCES person ON DELETE SET DEFAULT');
CALL try('no action', 'ALTER TABLE a_log ADD FOREIGN KEY (person) REFERENCES person');
CALL try('deferred', 'ALTER TABLE a_log ADD FOREIGN KEY (person) REFERENCES person ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED');
CALL try('by another key', 'ALTER TABLE a_log ADD FOREIGN KEY (code) REFERENCES person (code) ON DELETE CASCADE');
-- what is moved there collides
CALL try('collision', 'ALTER TABLE a_log ADD FOREIGN KEY (person) REFERENCES person ON DELETE CASCADE, ADD UNIQUE (person); UPDATE a_log SET person = 3; INSERT INTO a_log VALUES (5, 1)');
CALL try('collision dropped', 'ALTER TABLE a_log ADD FOREIGN KEY (person) REFERENCES person ON DELETE CASCADE, ADD UNIQUE (person); UPDATE a_log SET person = 3; INSERT INTO a_log VALUES (5, 1)', 'drop');
-- one that always points back
CALL try('pointed back', 'ALTER TABLE a_log ADD FOREIGN KEY (person) REFERENCES person ON DELETE CASCADE;
    CREATE FUNCTION back() RETURNS trigger LANGUAGE plpgsql AS ''BEGIN IF pg_trigger_depth() = 1 THEN UPDATE visit SET person = 2; END IF; RETURN new; END'';
    CREATE TRIGGER back AFTER UPDATE ON a_log FOR EACH ROW EXECUTE FUNCTION back()');
DROP TRIGGER moved ON visit;
-- a trigger before the deletion itself, by each kind of key
CREATE FUNCTION goes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE a_log SET person = old.id WHERE id = 1;
    INSERT INTO a_log VALUES (2, old.id, old.code, 'goes') ON CONFLICT DO NOTHING;
    RETURN old;
END $$;
CREATE TRIGGER goes BEFORE DELETE ON person FOR EACH ROW EXECUTE FUNCTION goes();
CALL try('cascade', 'ALTER TABLE a_log ADD FOREIGN KEY (person) REFERENCES person ON DELETE CASCADE');
CALL try('null', 'ALTER TABLE a_log ADD FOREIGN KEY (person) REFERENCES person ON DELETE SET NULL');
CALL try('default', 'ALTER TABLE a_log ADD FOREIGN KEY (person) REFERENCES person ON DELETE SET DEFAULT');
CALL try('no action', 'ALTER TABLE a_log ADD FOREIGN KEY (person) REFERENCES person');
CALL try('by another key', 'ALTER TABLE a_log ADD FOREIGN KEY (code) REFERENCES person (code) ON DELETE CASCADE');
CALL try('collision', 'ALTER TABLE a_log ADD FOREIGN KEY (person) REFERENCES person ON DELETE CASCADE, ADD UNIQUE (person); UPDATE a_log SET person = 3; INSERT INTO a_log VALUES (5, 1)', 'drop');
-- of the table itself
CALL try('itself', 'CREATE OR REPLACE FUNCTION goes() RETURNS trigger LANGUAGE plpgsql AS ''BEGIN UPDATE person SET parent = old.id WHERE id = 3; RETURN old; END''');
-- the trigger after it still sees its rows gone, and statements of triggers their rows
CALL try('after', 'DROP TRIGGER goes ON person;
    CREATE OR REPLACE FUNCTION goes() RETURNS trigger LANGUAGE plpgsql AS ''BEGIN INSERT INTO a_log SELECT 10 + count(*), 3, NULL, string_agg(o.id::text, '''','''') FROM gone AS o; RETURN NULL; END'';
    CREATE TRIGGER gone AFTER DELETE ON person REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION goes()');
SELECT * FROM person ORDER BY id;
SELECT * FROM a_log ORDER BY id;
DROP PROCEDURE try(text, text, text);
DROP TABLE person, cluster_of, a_log, visit, merges CASCADE;
DROP FUNCTION moved(), goes();
