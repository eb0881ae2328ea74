-- Entities: which records of a register are one, kept by its triggers. What is kept is compared with what bloom_clusters makes of all pairs that the
-- blocks have.
CREATE SCHEMA entities;
SET client_min_messages = error;
SET search_path = entities, public;
CREATE TABLE source AS SELECT i AS id, given, surname, dob, city, phone FROM (
    SELECT i, (ARRAY['Anna','Otto','Maria','Jan','Eva','Karl','Lena','Paul','Ida','Emil'])[1 + (i * 7 + i / 13) % 10] AS given,
        (ARRAY['Kowalski','Berger','Steinbacher','Novak','Lindqvist','Moreau','Rossi','Jansen','Wagner','Petrov','Haas','Keller','Vogt'])[1 + (i * 11 + i / 7) % 13]
            || (ARRAY['','mann','son','s'])[1 + (i / 5) % 4] AS surname,
        date '1940-01-01' + (i * 7919) % 25000 AS dob, (ARRAY['Berlin','Bonn','Köln','Graz','Wien'])[1 + (i * 3) % 5] AS city,
        '030' || 1000000 + (i * 104729) % 8999999 AS phone
    FROM generate_series(1, 300) AS i) AS original;
INSERT INTO source SELECT id + 10000, given, overlay(surname PLACING 'x' FROM 3 FOR 1), dob, 'Linz', phone FROM source WHERE id <= 60;
INSERT INTO source SELECT id + 20000, surname, given, dob, city, NULL FROM source WHERE id BETWEEN 31 AND 90;
INSERT INTO source SELECT id + 30000, given, surname, NULL, city, phone FROM source WHERE id BETWEEN 51 AND 110;
CREATE TABLE person (LIKE source, PRIMARY KEY (id));
CREATE TABLE fitted AS SELECT jsonb_set(bloom_model_fit('source', 'id', '{given:name,surname:name,dob:date,city,phone:phone}', '{given,dob,phone}'),
    '{searches}', (SELECT jsonb_agg(to_jsonb(s) || '{"pairs_per_record": 1, "matches_per_record": 0.1}') FROM (VALUES
    ('{"equal": ["given", "surname"], "most": 12}'::jsonb), ('{"equal": ["dob"], "most": 3}'), ('{"equal": ["phone"], "most": 3}'),
    ('{"crosswise": ["city"], "most": 10}'), ('{"similar": ["surname", "dob"], "least": 55, "most": 6}')) AS v (s))) AS model;
INSERT INTO person SELECT * FROM source WHERE id % 3 <> 0;
SELECT bloom_register_create(model, 'person', 'id') FROM fitted;
SELECT bloom_entities_create('person_register', 'ent', 0.5, 'centre');
SELECT bloom_entities_create('person_register', 'ent_components', 0.5, 'components');
SELECT bloom_entities_create('person_register', 'ent_average', 0.3, 'average');
SELECT bloom_entities_create('person_register', 'ent_three', 0.2, 'components', 3);
SELECT bloom_entities_create('person_register', 'ent_two', 0.2, 'centre', 2);
SELECT bloom_decisions_create('decision');
CREATE VIEW decided AS SELECT * FROM decision AS d WHERE EXISTS (SELECT FROM person WHERE id::text = d.a) AND EXISTS (SELECT FROM person WHERE id::text = d.b);
SELECT bloom_entities_create('person_register', 'ent_decided', 0.3, 'components', decisions => 'decision');
SELECT bloom_entities_create('person_register', 'ent_judged', 0.3, 'centre', 5, 'decision');
SELECT bloom_entities_create('person_register', 'ent_mean', 0.3, 'average', 6, 'decision');
-- the partition of a run from scratch, over what the blocks have
CREATE FUNCTION fresh() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    DROP TABLE IF EXISTS pairs;
    CREATE TABLE pairs AS SELECT x.id::text AS a, y.id::text AS b, s.probability FROM
        (SELECT DISTINCT k.id AS a, l.id AS b FROM person_register_keys AS k JOIN person_register_keys AS l ON k.key = l.key AND k.id < l.id) AS p
        JOIN person AS x ON x.id = p.a JOIN person AS y ON y.id = p.b, person_register AS r, bloom_model_score(r.model, to_jsonb(x), to_jsonb(y), r.records) AS s;
END $$;
CREATE FUNCTION differs(entities regclass, lowest float8, method text, max_size int, decisions regclass) RETURNS TABLE (what text, n bigint) LANGUAGE plpgsql AS $$ BEGIN
    RETURN QUERY EXECUTE format($q$WITH c AS (SELECT cluster, key FROM bloom_clusters('pairs'::regclass, $1, $2, max_size => $3, decisions => $4, on_conflict => 'newer')),
        fresh AS (SELECT p.id::text AS key, COALESCE(min(c2.key), p.id::text) AS first FROM person AS p LEFT JOIN c ON c.key = p.id::text LEFT JOIN c AS c2 ON c2.cluster = c.cluster GROUP BY p.id),
        stored AS (SELECT e.key::text AS key, min(f.key::text) AS first FROM %1$s AS e JOIN %1$s AS f ON f.entity = e.entity GROUP BY e.key)
        SELECT 'records otherwise', count(*) FROM fresh FULL JOIN stored USING (key) WHERE fresh.first IS DISTINCT FROM stored.first$q$, entities) USING lowest, method, max_size, decisions;
END $$;
CREATE FUNCTION differ() RETURNS TABLE (entities text, n bigint) LANGUAGE plpgsql AS $$ BEGIN
    PERFORM fresh();
    RETURN QUERY SELECT v.e, d.n FROM (VALUES ('ent', 0.5, 'centre', NULL, NULL::regclass), ('ent_components', 0.5, 'components', NULL, NULL), ('ent_average', 0.3, 'average', NULL, NULL), ('ent_three', 0.2, 'components', 3, NULL), ('ent_two', 0.2, 'centre', 2, NULL), ('ent_decided', 0.3, 'components', NULL, 'decided'), ('ent_judged', 0.3, 'centre', 5, 'decided'), ('ent_mean', 0.3, 'average', 6, 'decided')) AS v (e, l, m, s, j), differs(v.e::regclass, v.l, v.m, v.s, v.j) AS d;
END $$;
SELECT * FROM differ();
-- Records that come, go and change; decisions; other keys.
INSERT INTO person SELECT * FROM source WHERE id % 3 = 0;
SELECT * FROM differ() WHERE n > 0;
INSERT INTO decision (a, b, decision) SELECT x.id::text, y.id::text, (ARRAY['same','different','unsure'])[1 + (x.id * 5 + y.id) % 3] FROM person AS x JOIN person AS y ON x.id < y.id AND (x.id * 31 + y.id * 17) % 397 = 0 AND y.id % 10000 - x.id % 10000 < 20;
SELECT decision, count(*) FROM decision GROUP BY 1 ORDER BY 1;
SELECT * FROM differ() WHERE n > 0;
DELETE FROM decision WHERE id % 3 = 0;
UPDATE decision SET decision = 'different' WHERE decision = 'same' AND id % 5 = 0;
SELECT * FROM differ() WHERE n > 0;
DELETE FROM person WHERE id % 7 = 0;
UPDATE person SET dob = dob + 1 WHERE id % 5 = 0;
SELECT * FROM differ() WHERE n > 0;
UPDATE person SET id = id + 100000 WHERE id % 5 = 1;
UPDATE person SET city = NULL, surname = 'Kowalski' WHERE id % 11 = 1;
SELECT * FROM differ() WHERE n > 0;
SELECT change, count(*) FROM ent_changes GROUP BY 1 ORDER BY 1;
-- Every entity came by a change, and none that has ended is there.
SELECT count(*) FROM ent_changes AS c WHERE change = 'ended' AND EXISTS (SELECT FROM ent AS e WHERE e.entity = c.entity);
SELECT count(*) FROM (SELECT DISTINCT ON (entity) entity, size, change FROM ent_changes ORDER BY entity, id DESC) AS c JOIN (SELECT entity, count(*) FROM ent GROUP BY 1) AS e USING (entity) WHERE c.size <> e.count;
-- A change that leaves the model's columns alone changes nothing.
ALTER TABLE person ADD note text;
SELECT count(*) AS before FROM ent_changes \gset
UPDATE person SET note = 'x';
SELECT count(*) - :before AS changes FROM ent_changes;
-- A preview says what an insert does.
CREATE FUNCTION foreseen(s source) RETURNS TABLE (before text, after text) LANGUAGE plpgsql AS $$
DECLARE last bigint := (SELECT max(id) FROM ent_changes); greatest bigint := (SELECT max(entity) FROM ent_changes);
BEGIN
    SELECT string_agg(format('%s %s %s %s', CASE WHEN p.change NOT IN ('made', 'split') THEN p.entity END, p.change, p.size, CASE WHEN p.change NOT IN ('ended', 'split') THEN p.others END), ', ' ORDER BY p.change, p.entity, p.size) INTO before
        FROM bloom_register_preview('person_register', to_jsonb(s)) AS p WHERE p.entities = 'ent'::regclass;
    INSERT INTO person VALUES (s.*) ON CONFLICT (id) DO UPDATE SET given = excluded.given, surname = excluded.surname, dob = excluded.dob, city = excluded.city, phone = excluded.phone;
    SELECT string_agg(format('%s %s %s %s', CASE WHEN c.change NOT IN ('made', 'split') THEN c.entity END, c.change, c.size, CASE WHEN c.change NOT IN ('ended', 'split') THEN ARRAY(SELECT o FROM unnest(c.others) AS o WHERE o <= greatest) END), ', ' ORDER BY c.change, c.entity, c.size) INTO after FROM ent_changes AS c WHERE c.id > last;
    RETURN NEXT;
END $$;
SELECT count(*), count(*) FILTER (WHERE before IS DISTINCT FROM after) AS otherwise, count(after) AS changed FROM source AS s, foreseen(s);
DELETE FROM person WHERE id % 2 = 0;
SELECT count(*), count(*) FILTER (WHERE before IS DISTINCT FROM after) AS otherwise, count(after) AS changed FROM (SELECT id + 50000, given, surname, dob, 'Ulm', phone FROM source) AS s (a, b, c, d, e, f), foreseen((a, b, c, d, e, f)::source);
SELECT entity IS NULL AS new, change, size, others FROM bloom_register_preview('person_register', '{"given": "Wolfhard", "surname": "Siebenschein"}'::text) WHERE entities = 'ent'::regclass;
-- So it does where people have decided about the record, be it there or not: nothing changes of records as they are.
BEGIN;
INSERT INTO decision (a, b, decision) SELECT min(key)::text, max(key)::text, v FROM ent CROSS JOIN unnest('{unsure,different}'::text[]) AS v GROUP BY entity, v HAVING count(*) > 1 AND min(key) % 2 = (v = 'unsure')::int;
SELECT count(DISTINCT p.id) > 20 AS many, count(v.change) AS changed FROM (SELECT a AS key FROM decision UNION SELECT b FROM decision) AS d JOIN person AS p ON p.id = d.key::int LEFT JOIN LATERAL bloom_register_preview('person_register', p) AS v ON true;
SELECT key AS one FROM ent_decided ORDER BY key LIMIT 1 \gset
INSERT INTO decision (a, b, decision) VALUES ('999999', :'one', 'same');
SELECT change, size > 1 AS more FROM bloom_register_preview('person_register', '{"id": 999999, "given": "Wolfhard", "surname": "Siebenschein"}'::jsonb) WHERE entities = 'ent_decided'::regclass;
ROLLBACK;
-- How the largest entity came together: one pair less than it has records, those that hold a part alone first.
SELECT entity AS large FROM ent GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1 \gset
SELECT count(*) = (SELECT count(*) - 1 FROM ent WHERE entity = :large) AS tree, bool_and(probability >= 0.5) AS strong, max(size) = count(*) + 1 AS whole, bool_or(alone) AS any_alone FROM bloom_entities_how('ent', :large);
SELECT array_agg(alone ORDER BY n) = array_agg(alone ORDER BY NOT alone) AS alone_first FROM (SELECT row_number() OVER () AS n, alone FROM bloom_entities_how('ent', :large)) AS h;
-- The queue asks about pairs that alone hold something together, those first that would do the most harm.
SELECT count(*) > 20 AS many, bool_and(q.probability = h.probability) AS same, count(*) FILTER (WHERE q.a IS NULL OR h.a IS NULL) AS missing FROM bloom_review_queue('ent', 100000) AS q FULL JOIN
    (SELECT h.* FROM (SELECT DISTINCT entity FROM ent) AS e, bloom_entities_how('ent', entity) AS h WHERE alone) AS h USING (a, b);
SELECT bool_and(harm <= before) AS falling FROM (SELECT (1 - probability) * alike AS harm, lag((1 - probability) * alike) OVER (ORDER BY n) AS before FROM bloom_review_queue('ent', 100) WITH ORDINALITY AS q (a, b, probability, alike, n)) AS q;
SELECT a AS one, b AS other FROM bloom_review_queue('ent', 1) \gset
INSERT INTO decision (a, b, decision) VALUES (:'other', :'one', 'same');
SELECT count(*) FROM bloom_review_queue('ent', 100000, 'decision') WHERE a = :'one' AND b = :'other';
CREATE FUNCTION pick(n int) RETURNS int LANGUAGE sql AS $$ SELECT floor(random() * n)::int $$;
CREATE FUNCTION operation() RETURNS void LANGUAGE plpgsql AS $$
DECLARE what int := pick(100); victim int; s source;
BEGIN
    SELECT id INTO victim FROM person OFFSET pick((SELECT count(*)::int FROM person)) LIMIT 1;
    IF what < 45 OR victim IS NULL THEN
        SELECT * INTO s FROM source OFFSET pick(480) LIMIT 1;
        IF pick(3) = 0 THEN s.surname := (SELECT surname FROM source OFFSET pick(480) LIMIT 1); END IF;
        IF pick(6) = 0 THEN s.dob := (SELECT dob FROM source OFFSET pick(480) LIMIT 1); END IF;
        IF pick(8) = 0 THEN s.given := NULL; END IF;
        s.id := s.id % 100 + 100 * pick(40);
        INSERT INTO person VALUES (s.*) ON CONFLICT (id) DO UPDATE SET given = excluded.given, surname = excluded.surname, phone = excluded.phone;
    ELSIF what < 65 THEN DELETE FROM person WHERE id = victim;
    ELSIF what < 75 THEN UPDATE person SET dob = (SELECT dob FROM source OFFSET pick(480) LIMIT 1) WHERE id = victim;
    ELSIF what < 82 THEN UPDATE person SET city = (SELECT city FROM source OFFSET pick(480) LIMIT 1), surname = (SELECT surname FROM source OFFSET pick(480) LIMIT 1) WHERE id = victim;
    ELSIF what < 88 THEN UPDATE person SET id = 5000 + pick(5000) WHERE id = victim AND NOT EXISTS (SELECT FROM person WHERE id > 5000);
    ELSIF what < 92 THEN UPDATE person SET phone = s2.phone FROM (SELECT phone FROM source OFFSET pick(480) LIMIT 1) AS s2 WHERE id % 10 = victim % 10;
    ELSIF what < 96 THEN INSERT INTO decision (a, b, decision) SELECT v.id::text, w.id::text, (ARRAY['same','different','unsure','different'])[1 + pick(4)] FROM (SELECT id FROM person OFFSET pick((SELECT count(*)::int FROM person)) LIMIT 1) AS v, (SELECT id FROM person OFFSET pick((SELECT count(*)::int FROM person)) LIMIT 1) AS w WHERE v.id <> w.id;
    ELSIF what < 97 THEN DELETE FROM decision WHERE id % 4 = pick(4);
    ELSIF what < 98 THEN DELETE FROM person WHERE id % 10 = victim % 10;
    ELSE
        BEGIN
            PERFORM operation(); PERFORM operation();
            RAISE 'back';
        EXCEPTION WHEN raise_exception THEN NULL;
        END;
    END IF;
EXCEPTION WHEN unique_violation THEN NULL;
END $$;
CREATE FUNCTION sequence(seed int, operations int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE wrong bigint;
BEGIN
    PERFORM setseed(seed / 10000.0);
    FOR i IN 1..operations LOOP PERFORM operation(); END LOOP;
    SELECT sum(n) + (SELECT sum(number) FROM bloom_register_check('person_register') WHERE finding LIKE 'keys %') INTO wrong FROM differ();
    RETURN wrong;
END $$;
-- TRUNCATE, then random sequences of 200 operations with savepoints and decisions; more with SERVER_CONF='test.sequences = 1000' make regress TESTS=entities.
TRUNCATE person;
SELECT count(*) FROM ent;
SELECT * FROM differ() WHERE n > 0;
DO $$ DECLARE wrong bigint; BEGIN
    FOR s IN 1..COALESCE(current_setting('test.sequences', true), '3')::int LOOP
        wrong := sequence(s, 200);
        IF wrong <> 0 THEN RAISE 'sequence % : % records or keys are otherwise', s, wrong; END IF;
        COMMIT;
    END LOOP;
END $$;
SELECT count(*) > 20 AS some FROM person;
TRUNCATE person;
INSERT INTO person SELECT * FROM source WHERE id < 20;
-- Bad input.
SELECT bloom_entities_create('person_register', 'ent');
SELECT bloom_entities_create('person_register', repeat('x', 60)::name);
SELECT bloom_entities_create('person_register', 'other', 1.5);
SELECT bloom_entities_create('person_register', 'other', 0.5, 'middle');
SELECT bloom_entities_create('person_register', 'other', 0.5, 'centre', 1);
SELECT bloom_entities_create('person_register', 'other', 0.5, 'centre', NULL, 'source');
SELECT bloom_entities_create('person', 'other');
SELECT bloom_entities_create(NULL, 'other');
SELECT bloom_entities_create('person_register', NULL);
SELECT bloom_entities_create('person_register', 'entities.other');
SELECT bloom_entities_drop('person_register', 'other');
SELECT * FROM bloom_entities_how('ent', -1);
SELECT * FROM bloom_entities_how('person', 1);
SELECT * FROM bloom_entities_how(0, 1);
-- What is not compared.
SET client_min_messages = notice;
SELECT count(*) FROM bloom_register_preview('person_register', '{"givenname": "Wolfhard", "surname": "Siebenschein", "dob": "11. Nov 1911"}'::jsonb);
SET client_min_messages = error;
SELECT * FROM bloom_register_preview('person_register', '[]'::jsonb);
SELECT * FROM bloom_register_preview('person_register', '{"id": "seven"}'::jsonb);
SELECT * FROM bloom_register_preview('person', '{}'::jsonb);
SELECT bloom_entities_decide();
TRUNCATE decision;
-- Triggers that are not as they were made.
CREATE TABLE mine (a int, b int);
CREATE TRIGGER x AFTER INSERT ON mine FOR EACH ROW EXECUTE FUNCTION bloom_entities_decide('person_register');
INSERT INTO mine VALUES (5, 6);
DROP TRIGGER x ON mine;
CREATE TRIGGER x AFTER INSERT ON mine FOR EACH STATEMENT EXECUTE FUNCTION bloom_entities_decide('person_register');
INSERT INTO mine VALUES (5, 6);
DROP TRIGGER x ON mine;
CREATE TRIGGER x AFTER INSERT ON mine FOR EACH ROW EXECUTE FUNCTION bloom_entities_decide('mine');
INSERT INTO mine VALUES (5, 6);
CREATE TRIGGER y BEFORE INSERT ON mine FOR EACH ROW EXECUTE FUNCTION bloom_entities_decide('person_register');
INSERT INTO mine VALUES (5, 6);
DROP TABLE mine;
BEGIN;
INSERT INTO person SELECT * FROM source WHERE id = 22;
ALTER TABLE ent_changes ADD note text, ADD note2 text, ADD note3 text;
INSERT INTO person SELECT * FROM source WHERE id = 20;
ROLLBACK;
BEGIN;
ALTER TABLE ent_changes ALTER entity TYPE text;
INSERT INTO person SELECT * FROM source WHERE id = 20;
ROLLBACK;
BEGIN;
CREATE TABLE refers (key int REFERENCES ent);
INSERT INTO person SELECT * FROM source WHERE id = 20;
ROLLBACK;
BEGIN;
ALTER TABLE ent_changes ADD CHECK (size < 3) NOT VALID;
INSERT INTO person SELECT * FROM source WHERE id = 20;
ROLLBACK;
BEGIN;
ALTER SEQUENCE ent_entity_seq RESTART 1;
ALTER SEQUENCE ent_changes_id_seq RESTART 1;
INSERT INTO person SELECT id + 60000, id::text, id::text, NULL, NULL, NULL FROM source WHERE id BETWEEN 20 AND 40;
SELECT max(n) AS alone FROM (SELECT key, count(*) OVER (PARTITION BY entity) AS n FROM ent) AS e WHERE key > 60000;
ROLLBACK;
BEGIN;
UPDATE person_register SET searches = '{0,NULL}';
INSERT INTO person SELECT * FROM source WHERE id = 20;
ROLLBACK;
BEGIN;
CREATE INDEX ON ent ((entity + 1));
INSERT INTO person SELECT * FROM source WHERE id = 20;
ROLLBACK;
BEGIN;
DROP TABLE ent_two;
INSERT INTO person SELECT * FROM source WHERE id = 20;
ROLLBACK;
BEGIN;
ALTER TABLE ent_two_changes RENAME TO elsewhere;
INSERT INTO person SELECT * FROM source WHERE id = 20;
ROLLBACK;
BEGIN;
ALTER TABLE ent_two ADD more text;
INSERT INTO person SELECT * FROM source WHERE id = 20;
ROLLBACK;
BEGIN;
DROP TABLE ent_two;
SELECT bloom_entities_drop('person_register', 'ent_two');
INSERT INTO person SELECT * FROM source WHERE id = 20;
ROLLBACK;
BEGIN;
UPDATE person_register SET entities = '7';
INSERT INTO person SELECT * FROM source WHERE id = 20;
ROLLBACK;
-- Whoever may write to the table or to the decisions needs no rights on entities, and nobody learns what they may not read.
CREATE ROLE entities_clerk;
GRANT USAGE ON SCHEMA entities TO entities_clerk;
GRANT INSERT, UPDATE, DELETE ON person TO entities_clerk;
GRANT SELECT (id) ON person TO entities_clerk;
GRANT INSERT ON decision TO entities_clerk;
SET ROLE entities_clerk;
INSERT INTO person (id, given, surname, dob) VALUES (900, 'Anna', 'Kowalski', '1950-01-01'), (901, 'Anna', 'Kowalski', '1950-01-01');
INSERT INTO decision (a, b, decision) VALUES ('900', '901', 'different');
UPDATE person SET surname = 'Siebenschein' WHERE id = 900;
DELETE FROM person WHERE id = 901;
SELECT * FROM ent;
SELECT * FROM ent_changes;
SELECT * FROM bloom_register_preview('person_register', '{}'::jsonb);
SELECT * FROM bloom_entities_how('ent', 1);
SELECT bloom_entities_create('person_register', 'other');
SELECT bloom_entities_drop('person_register', 'ent');
RESET ROLE;
SELECT * FROM differ() WHERE n > 0;
GRANT SELECT ON person TO entities_clerk;
ALTER TABLE person ENABLE ROW LEVEL SECURITY;
SET ROLE entities_clerk;
SELECT * FROM bloom_register_preview('person_register', '{}'::jsonb);
SELECT * FROM bloom_entities_how('ent', 1);
RESET ROLE;
ALTER TABLE person DISABLE ROW LEVEL SECURITY;
-- The guard of the register fires before or after.
SELECT bloom_register_guard('person_register', 0.9, 'reject', 'decisions', 'decision');
INSERT INTO person SELECT id + 70000, given, surname, dob, city, phone FROM source WHERE id = 7;
INSERT INTO person VALUES (70001, 'Rosalinde', 'Siebenschein', '1899-12-31');
UPDATE person SET dob = '1899-12-30' WHERE id = 70001;
SELECT * FROM differ() WHERE n > 0;
SELECT change, size FROM ent_changes WHERE key = 70001;
-- One that skips has the rows of a statement find each other, by whom entities are kept then.
DROP TRIGGER person_id_guard ON person;
SELECT bloom_register_guard('person_register', 0.9, 'skip');
INSERT INTO person SELECT id + 71000 + 1000 * n, given, surname, dob, city, phone FROM source, generate_series(1, 2) AS n WHERE id BETWEEN 41 AND 60;
INSERT INTO person SELECT 74000 + n, 'Adelgunde', 'Hinterleitner', date '1899-11-10' + n % 2, 'Graz' FROM generate_series(1, 6) AS n ON CONFLICT (id) DO UPDATE SET city = 'Ulm';
INSERT INTO person SELECT 74000 + n, 'Adelgunde', 'Hinterleitner', date '1899-12-10' + n % 2, 'Bonn' FROM generate_series(1, 6) AS n ON CONFLICT (id) DO UPDATE SET city = 'Ulm', dob = excluded.dob;
SELECT id, city, dob FROM person WHERE id BETWEEN 71000 AND 75000 AND surname = 'Hinterleitner' ORDER BY id;
SELECT count(*) FROM person WHERE id BETWEEN 71000 AND 74000;
SELECT * FROM differ() WHERE n > 0;
SELECT finding, number FROM bloom_register_check('person_register') WHERE finding LIKE 'keys %';
-- Mending the register opens blocks, and entities follow.
INSERT INTO person SELECT 80000 + i, 'Anna', 'Kowalski', date '1920-01-01' + i * 400 FROM generate_series(1, 14) AS i;
DELETE FROM person WHERE id BETWEEN 80003 AND 80014;
SELECT * FROM differ() WHERE n > 0;
SELECT finding, number > 0 AS some FROM bloom_register_check('person_register') WHERE finding LIKE 'blocks closed that%';
SELECT finding, number FROM bloom_register_check('person_register', repair => true) WHERE finding LIKE 'keys %';
SELECT * FROM differ() WHERE n > 0;
SELECT bloom_register_drop('person_register');
SELECT bloom_entities_drop('person_register', 'ent');
SELECT to_regclass('ent'), to_regclass('ent_changes'), jsonb_array_length(entities) FROM person_register;
INSERT INTO person SELECT * FROM source WHERE id = 21;
SELECT bloom_entities_drop('person_register', (e ->> 'entities')::name) FROM person_register, jsonb_array_elements(entities) AS e;
SELECT entities FROM person_register;
SELECT tgname FROM pg_trigger WHERE tgrelid = 'decision'::regclass AND NOT tgisinternal;
SELECT bloom_register_drop('person_register');
-- What was missed is found, and mended.
SELECT bloom_register_create(model, 'person', 'id') FROM fitted;
SELECT bloom_entities_create('person_register', 'mended', decisions => 'decision');
DROP TRIGGER person_id_guard ON person;
INSERT INTO person VALUES (95001, 'Rosamunde', 'Pilcher', '1924-09-22'), (95002, 'Rosamunde', 'Pilcher', '1924-09-22');
SELECT a, b FROM bloom_entities_how('mended', (SELECT entity FROM mended WHERE key = 95001)) \gset
ALTER TABLE decision DISABLE TRIGGER person_register_decide;
INSERT INTO decision (a, b, decision) VALUES (:'a', :'b', 'different');
SELECT * FROM bloom_register_check('person_register') WHERE finding LIKE '%entities%' OR finding LIKE '%decisions%';
SELECT finding FROM bloom_register_check('person_register', true) WHERE finding LIKE 'tables%';
SELECT * FROM bloom_register_check('person_register') WHERE finding LIKE '%entities%' OR finding LIKE '%decisions%';
SELECT tgenabled FROM pg_trigger WHERE tgname = 'person_register_decide';
SELECT bloom_entities_drop('person_register', 'mended');
-- Keys of other types, whose texts decisions have.
CREATE TABLE padded (id char(5) PRIMARY KEY, given text, surname text, dob date, city text, phone text);
INSERT INTO padded SELECT 'a' || id, given, surname, dob, city, phone FROM source WHERE id < 100;
SELECT bloom_register_create(model, 'padded', 'id') FROM fitted;
SELECT bloom_entities_create('padded_register', 'padded_entity', decisions => 'decision', notify => false);
INSERT INTO padded SELECT 'b' || id, given, surname, dob, city, phone FROM source WHERE id < 100;
SELECT count(*) > 80 AS some FROM padded_entity AS a JOIN padded_entity AS b USING (entity) WHERE a.key LIKE 'a%' AND substr(b.key, 1, 1) = 'b' AND rtrim(substr(a.key, 2)) = rtrim(substr(b.key, 2));
INSERT INTO decision (a, b, decision) VALUES ('a7', 'b7', 'different'), ('a8', 'b9', 'same');
SELECT a.key, b.key, a.entity = b.entity AS same FROM padded_entity AS a, padded_entity AS b WHERE (a.key, b.key) IN (('a7', 'b7'), ('a8', 'b9')) ORDER BY 1;
CREATE TABLE numbered (id numeric(10, 2) PRIMARY KEY, given text, surname text, dob date, city text, phone text);
SELECT bloom_register_create(model, 'numbered', 'id') FROM fitted;
SELECT bloom_entities_create('numbered_register', 'numbered_entity', decisions => 'decision');
INSERT INTO numbered SELECT id, given, surname, dob, city, phone FROM source WHERE id IN (1, 10001, 2);
UPDATE numbered SET id = 1.00 WHERE id = 1;
INSERT INTO decision (a, b, decision) VALUES ('1.00', '2.00', 'same');
DELETE FROM numbered WHERE id = 1;
SELECT array_agg(key ORDER BY key) FROM numbered_entity GROUP BY entity ORDER BY 1;
-- A decision whose text is no key of the type names no record.
CREATE TABLE daily (id date PRIMARY KEY, given text, surname text, dob date, city text, phone text);
CREATE TABLE spelled (id varchar(5) PRIMARY KEY, given text, surname text, dob date, city text, phone text);
CREATE TABLE unique_people (id uuid PRIMARY KEY, given text, surname text, dob date, city text, phone text);
SELECT bloom_register_create(model, t, 'id') FROM fitted, unnest('{daily,spelled,unique_people}'::regclass[]) AS t;
SELECT bloom_entities_create((t || '_register')::regclass, (t || '_entity')::name, decisions => 'decision') FROM unnest('{daily,spelled,unique_people}'::text[]) AS t;
CREATE FUNCTION uuid_of(i int) RETURNS uuid LANGUAGE sql AS $$ SELECT ('00000000-0000-0000-0000-' || lpad(i::text, 12, '0'))::uuid $$;
INSERT INTO decision (a, b, decision) VALUES ('2020-01-01', '2020-13-45', 'different'), ('2020-01-01', 'soon', 'same'), ('2020-01-02', '10000000-01-01', 'same'), ('2020-01-01', '2020-01-02', 'same'),
    ('a1', 'much too long', 'same'), ('a1', 'a2', 'same'), (uuid_of(1)::text, '{00000000-0000-000000000000-00000000}', 'same'), (uuid_of(1)::text, uuid_of(2)::text, 'same');
INSERT INTO daily SELECT date '2019-12-31' + id, given, surname, dob, city, phone FROM source WHERE id < 4;
INSERT INTO spelled SELECT 'a' || id, given, surname, dob, city, phone FROM source WHERE id < 4;
INSERT INTO unique_people SELECT uuid_of(id), given, surname, dob, city, phone FROM source WHERE id < 4;
SELECT array_agg(key ORDER BY key) FROM daily_entity GROUP BY entity ORDER BY 1;
SELECT array_agg(key ORDER BY key) FROM spelled_entity GROUP BY entity ORDER BY 1;
SELECT array_agg(key ORDER BY key) FROM unique_people_entity GROUP BY entity ORDER BY 1;
DELETE FROM decision WHERE a = '2020-01-01';
SELECT array_agg(key ORDER BY key) FROM daily_entity GROUP BY entity ORDER BY 1;
SELECT * FROM bloom_register_preview('daily_register', '{"id": "2020-13-45"}'::jsonb);
DROP SCHEMA entities CASCADE;
DROP ROLE entities_clerk;
