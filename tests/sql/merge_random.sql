-- Random merges, taken back in random order: the database is the same again. A merge that others were built on is refused until these are taken back.
SET client_min_messages = error;
CREATE TABLE person (id int PRIMARY KEY, code text UNIQUE, name text, score float8, parent int REFERENCES person, other int REFERENCES person (id) ON DELETE SET NULL);
CREATE UNIQUE INDEX ON person (parent, name);
CREATE TABLE visit (id int PRIMARY KEY, person int NOT NULL REFERENCES person ON DELETE CASCADE, code text REFERENCES person (code) DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE card (code text PRIMARY KEY REFERENCES person (code), note text);
CREATE TABLE friend (a int REFERENCES person ON DELETE CASCADE, b int REFERENCES person ON DELETE CASCADE, since date, PRIMARY KEY (a, b));
CREATE TABLE part (k int, person int REFERENCES person, PRIMARY KEY (k, person)) PARTITION BY LIST (k);
CREATE TABLE part1 PARTITION OF part FOR VALUES IN (1);
CREATE TABLE part2 PARTITION OF part DEFAULT;
CREATE TABLE cluster_of (cluster int, key text);
SELECT bloom_merges_create('merges');
CREATE FUNCTION state() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(t, E'\n' ORDER BY t COLLATE "C") FROM (SELECT 'person' || p FROM person p UNION ALL SELECT 'visit' || v FROM visit v UNION ALL SELECT 'card' || c FROM card c
        UNION ALL SELECT 'friend' || f FROM friend f UNION ALL SELECT 'part' || p FROM part p) AS s (t) $$;
CREATE PROCEDURE fill() LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE merges, visit, card, friend, part, person;
    INSERT INTO person SELECT i, CASE WHEN random() < 0.9 THEN 'c' || i END, CASE WHEN random() < 0.7 THEN 'n' || (random() * 3)::int END, CASE WHEN random() < 0.5 THEN random() * 10 - 5 END
        FROM generate_series(1, 12) AS i;
    UPDATE person SET other = (SELECT q.id FROM person AS q ORDER BY random(), person.id LIMIT 1) WHERE random() < 0.4;
    UPDATE person SET parent = (SELECT q.id FROM person AS q WHERE q.id < person.id ORDER BY random(), person.name LIMIT 1), name = 'm' || id WHERE random() < 0.5;
    INSERT INTO visit SELECT i, 1 + (random() * 11)::int, CASE WHEN random() < 0.5 THEN (SELECT code FROM person WHERE code IS NOT NULL ORDER BY random(), i LIMIT 1) END FROM generate_series(1, 12) AS i;
    INSERT INTO card SELECT code, id FROM person WHERE code IS NOT NULL AND random() < 0.5;
    INSERT INTO friend SELECT 1 + (random() * 11)::int, 1 + (random() * 11)::int, '2020-01-01' FROM generate_series(1, 14) ON CONFLICT DO NOTHING;
    INSERT INTO part SELECT 1 + (random() * 2)::int, 1 + (random() * 11)::int FROM generate_series(1, 10) ON CONFLICT DO NOTHING;
END $$;
CREATE TABLE outcome (what text, n bigint DEFAULT 0);
INSERT INTO outcome SELECT unnest('{merged,refused,undone,refused undo,same,different,left,broken}'::text[]);
CREATE PROCEDURE one_round() LANGUAGE plpgsql AS $$
DECLARE
    before text; after text; m record; progress bool; message text; again bool;
BEGIN
    CALL fill();
    SET CONSTRAINTS ALL IMMEDIATE;
    before := state();
    FOR i IN 1 .. 1 + (random() * 2)::int LOOP
        DELETE FROM cluster_of;
        INSERT INTO cluster_of SELECT 1 + (random() * 3)::int, id FROM person WHERE random() < 0.6;
        BEGIN
            PERFORM * FROM bloom_merge('cluster_of', 'person', 'id', CASE WHEN random() < 0.3 THEN '{"name": "keep", "score": {"sql": "sum(score)"}}'::jsonb WHEN random() < 0.3 THEN '{"*": "longest"}' END,
                CASE WHEN random() < 0.5 THEN 'oldest' ELSE 'most complete' END, 'drop', audit => 'merges');
            SET CONSTRAINTS ALL IMMEDIATE;
            UPDATE outcome SET n = n + 1 WHERE what = 'merged';
        EXCEPTION WHEN foreign_key_violation OR unique_violation THEN
            UPDATE outcome SET n = n + 1 WHERE what = 'refused';
        END;
    END LOOP;
    UPDATE outcome SET n = n + 1 WHERE what = 'broken' AND EXISTS (SELECT FROM visit LEFT JOIN person ON person.id = visit.person WHERE person.id IS NULL);
    LOOP
        progress := false; again := false;
        FOR m IN SELECT id FROM merges WHERE action = 'keep' AND unmerged IS NULL ORDER BY random() LOOP
            BEGIN
                PERFORM bloom_unmerge(m.id, 'merges');
                SET CONSTRAINTS ALL IMMEDIATE;
                UPDATE outcome SET n = n + 1 WHERE what = 'undone';
                progress := true;
            EXCEPTION WHEN foreign_key_violation OR unique_violation OR object_not_in_prerequisite_state THEN
                UPDATE outcome SET n = n + 1 WHERE what = 'refused undo';
                GET STACKED DIAGNOSTICS message = PG_EXCEPTION_DETAIL;
                again := true;
            END;
        END LOOP;
        EXIT WHEN NOT again OR NOT progress;
    END LOOP;
    IF EXISTS (SELECT FROM merges WHERE unmerged IS NULL) THEN
        RAISE WARNING 'merges are left: %', message;
        UPDATE outcome SET n = n + 1 WHERE what = 'left';
    END IF;
    after := state();
    UPDATE outcome SET n = n + 1 WHERE what = CASE WHEN before = after THEN 'same' ELSE 'different' END;
    IF before <> after THEN
        RAISE WARNING E'before\n%\nafter\n%\nmerges\n%', before, after, (SELECT string_agg(g::text, E'\n' ORDER BY entry) FROM merges AS g);
    END IF;
END $$;
-- Each major has rounds of its own.
SELECT setseed(0.25 + current_setting('server_version_num')::int / 10000 / 100.0);
DO $$ BEGIN FOR i IN 1 .. 60 LOOP CALL one_round(); COMMIT; END LOOP; END $$;
SELECT what, n FROM outcome WHERE what IN ('different', 'left', 'broken') ORDER BY 1;
SELECT what, n > 50 AS many FROM outcome WHERE what IN ('merged', 'undone', 'same') ORDER BY 1;
DROP TABLE person, visit, card, friend, part, cluster_of, merges, outcome;
DROP FUNCTION state();
DROP PROCEDURE fill(), one_round();
