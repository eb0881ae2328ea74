-- Records that refer to one another in a column that must be unique with another one.
CREATE EXTENSION IF NOT EXISTS bloom_ident;
CREATE SCHEMA merge_self;
SET search_path = merge_self, public;
SET client_min_messages = warning;
CREATE TABLE person (id int PRIMARY KEY, parent int REFERENCES person ON DELETE CASCADE, role text, UNIQUE (parent, role));
CREATE TABLE clu (cluster int, key int, keep boolean);
CREATE TABLE dump (at text, id int, parent int, role text);
CREATE PROCEDURE tried(records text, clusters text, rules jsonb DEFAULT '{"*": "keep"}') LANGUAGE plpgsql AS $$
DECLARE one record;
BEGIN
    DELETE FROM person;
    DELETE FROM clu;
    EXECUTE 'INSERT INTO person VALUES ' || records;
    EXECUTE 'INSERT INTO clu VALUES ' || clusters;
    INSERT INTO dump SELECT 'before', * FROM person;
    PERFORM bloom_merge('clu', 'person', 'id', rules);
    FOR one IN SELECT * FROM person ORDER BY id LOOP RAISE NOTICE '%', one; END LOOP;
    PERFORM bloom_unmerge(m.id) FROM (SELECT id FROM bloom_merges WHERE action = 'keep' AND unmerged IS NULL ORDER BY id DESC) AS m;
    SELECT count(*) AS n INTO one FROM ((TABLE person EXCEPT SELECT id, parent, role FROM dump) UNION ALL (SELECT id, parent, role FROM dump EXCEPT TABLE person)) AS q;
    RAISE NOTICE '% rows are not as they were', one.n;
    DELETE FROM dump;
END $$;
SELECT bloom_merges_create('bloom_merges');
SET client_min_messages = notice;
-- a record that is redirected is like one that goes
CALL tried('(4, NULL, ''x''), (1, 4, ''aide''), (5, NULL, ''x''), (6, 5, ''aide'')', '(1, 4, true), (1, 1, false), (1, 5, false)');
-- two that go are like each other when they are redirected, and like a third one
CALL tried('(4, NULL, ''x''), (2, NULL, ''x''), (5, 2, ''aide''), (1, 5, ''aide''), (6, 1, ''aide'')', '(1, 4, true), (1, 1, false), (1, 2, false), (1, 5, false)');
-- a chain: what refers to the record that goes is like this one
CALL tried('(4, NULL, ''x''), (7, 4, ''aide''), (6, 7, ''aide'')', '(1, 4, true), (1, 7, false)');
-- two clusters
CALL tried('(1, NULL, ''x''), (2, 1, ''aide''), (3, 2, ''aide''), (4, 3, ''aide''), (5, 4, ''aide'')', '(1, 1, true), (1, 2, false), (2, 3, true), (2, 4, false)');
-- the record that is kept gets a value that is another one's
CALL tried('(1, 4, NULL), (2, 4, ''aide''), (3, NULL, ''boss''), (4, NULL, ''boss''), (5, 4, ''boss'')', '(1, 1, true), (1, 3, false)', '{"*": "fill"}');
-- somebody has put a row in the place of one that comes back
CREATE FUNCTION back(no bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE m text; d text; h text;
BEGIN
    PERFORM bloom_unmerge(no);
    RETURN 'taken back';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS m = MESSAGE_TEXT, d = PG_EXCEPTION_DETAIL, h = PG_EXCEPTION_HINT;
    -- Numbers of merges have gaps.
    RETURN regexp_replace(concat_ws(E'\n', m, d, h), 'erge \d+', 'erge N', 'g');
END $$;
TRUNCATE person, clu;
INSERT INTO person VALUES (1, NULL, 'x'), (2, NULL, 'y');
INSERT INTO clu VALUES (1, 1, true), (1, 2, false);
SELECT key, deleted FROM bloom_merge('clu', 'person', 'id', '{"*": "keep"}');
INSERT INTO person VALUES (2, NULL, 'z');
SELECT back(max(id)) FROM bloom_merges;
-- what comes back refers to what a later merge has deleted, by a key that is looked at when the transaction ends, and by one that is not
TRUNCATE person, clu, bloom_merges;
INSERT INTO person VALUES (1, NULL, 'x'), (2, 3, 'y'), (3, NULL, 'x'), (4, NULL, 'x');
INSERT INTO clu VALUES (1, 1, true), (1, 2, false);
SELECT key, deleted FROM bloom_merge('clu', 'person', 'id', '{"*": "keep"}');
TRUNCATE clu;
INSERT INTO clu VALUES (1, 4, true), (1, 3, false);
SELECT key, deleted FROM bloom_merge('clu', 'person', 'id', '{"*": "keep"}');
SELECT back(min(id)) FROM bloom_merges;
ALTER TABLE person ALTER CONSTRAINT person_parent_fkey DEFERRABLE INITIALLY DEFERRED;
SELECT back(min(id)) FROM bloom_merges;
SELECT back(max(id)) FROM bloom_merges;
SELECT back(min(id)) FROM bloom_merges;
SELECT * FROM person ORDER BY id;
-- rules
TRUNCATE clu;
CREATE TABLE ruled (id int PRIMARY KEY, person int REFERENCES person UNIQUE);
INSERT INTO ruled VALUES (1, 1), (2, 2);
INSERT INTO clu VALUES (1, 1, true), (1, 2, false);
CREATE RULE instead AS ON UPDATE TO ruled DO INSTEAD NOTHING;
SELECT action, value FROM bloom_merge_plan('clu', 'person', 'id', '{"*": "keep"}') WHERE relation IS NOT NULL;
SELECT * FROM bloom_merge('clu', 'person', 'id', '{"*": "keep"}');
DROP RULE instead ON ruled;
CREATE RULE also AS ON DELETE TO ruled DO ALSO NOTIFY ruled;
SELECT * FROM bloom_merge('clu', 'person', 'id', '{"*": "keep"}', on_collision => 'drop');
-- a trigger writes what refers to a loser where the record that is kept has NULL
CREATE TABLE coded (id int PRIMARY KEY, code text UNIQUE);
CREATE TABLE visit (id int PRIMARY KEY, coded int REFERENCES coded);
CREATE TABLE noted (id int PRIMARY KEY, code text REFERENCES coded (code));
INSERT INTO coded VALUES (1, NULL), (2, 'two');
INSERT INTO visit VALUES (1, 2);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO noted VALUES (1, 'two'); RETURN NULL; END $$;
CREATE TRIGGER note AFTER UPDATE ON visit FOR EACH ROW EXECUTE FUNCTION note();
DELETE FROM clu;
INSERT INTO clu VALUES (1, 1, true), (1, 2, false);
SELECT * FROM bloom_merge('clu', 'coded', 'id', '{"*": "keep"}');
SET client_min_messages = warning;
DROP SCHEMA merge_self CASCADE;
