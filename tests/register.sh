# shellcheck shell=bash
# Sourced by the tests of registers: a table of people with a register and entities, and whether these are what they would be if they were made anew. Needs test-env.sh.

export PGOPTIONS='-c client_min_messages=error -c jit=off'
sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
begun=$SECONDS
told() {
    say "$1 ($((SECONDS - begun)) s)"
    begun=$SECONDS
}

# A table of people with a register, two tables of entities, and decisions.
cat >"$SCRATCH/fixture.sql" <<'SQL'
CREATE EXTENSION bloom_ident;
CREATE TABLE source AS SELECT i AS id, initcap(left(word, 6)) AS given, initcap(substr(word, 7, 9)) AS surname, date '1940-01-01' + (i * 7919) % 25000 AS dob,
    (ARRAY['Berlin','Bonn','Köln','Graz','Wien'])[1 + (i * 3) % 5] AS city
    FROM (SELECT i, translate(md5('person ' || i), '0123456789', 'ghijklmnop') AS word FROM generate_series(1, 600) AS i) AS of_word;
INSERT INTO source SELECT id + 10000, given, overlay(surname PLACING 'x' FROM 3 FOR 1), dob, 'Linz' FROM source WHERE id <= 60;
INSERT INTO source SELECT id + 20000, given, surname, dob, city FROM source WHERE id BETWEEN 41 AND 120;
INSERT INTO source SELECT id + 30000, given, surname, dob + 1, 'Linz' FROM source WHERE id BETWEEN 101 AND 150;
CREATE TABLE fitted AS SELECT bloom_model_fit('source', 'id', '{given:name,surname:name,dob:date,city}', '{given,dob}') AS model;
-- A search by all that the city is part of, so that its values matter.
UPDATE fitted SET model = jsonb_set(model, '{searches}', model -> 'searches' || '{"equal": ["city", "dob"], "most": 4, "pairs_per_record": 1, "matches_per_record": 0.1}');
CREATE TABLE person (LIKE source, PRIMARY KEY (id));
INSERT INTO person SELECT * FROM source WHERE id % 3 > 0;
SELECT bloom_decisions_create('decision');
SELECT bloom_register_create(model, 'person', 'id') FROM fitted;
SELECT bloom_entities_create('person_register', 'centred', 0.5, 'centre', notify => false);
SELECT bloom_entities_create('person_register', 'joined', 0.4, 'components', decisions => 'decision', notify => false);
INSERT INTO decision (a, b, decision) VALUES ('1', '2', 'same'), ('41', '20041', 'different');
CREATE TABLE suspect (key text, duplicate text, similarity float8, found_at timestamptz, PRIMARY KEY (key, duplicate));
-- Errors: the register is not as a new one would be, or entities are not what bloom_clusters() makes of all pairs that its blocks have.
CREATE FUNCTION whole(what text, register text DEFAULT 'person_register') RETURNS void LANGUAGE plpgsql AS $$
DECLARE wrong text; e record; n bigint; people text; r record;
BEGIN
    SELECT string_agg(number || ' ' || finding, ', ') INTO wrong FROM bloom_register_check(register::regclass) WHERE number <> 0
        AND finding IN ('keys missing', 'keys of no record', 'blocks open that are too large', 'records in other entities than now', 'tables of decisions without triggers');
    IF wrong IS NOT NULL THEN RAISE '%: %', what, wrong; END IF;
    EXECUTE format('SELECT relation, keys, entities FROM %s', register) INTO r;
    IF r.entities = '[]' THEN RETURN; END IF;
    people := r.relation::text;
    DROP TABLE IF EXISTS pairs, present;
    EXECUTE format('CREATE TEMP TABLE present AS SELECT id::text AS key FROM ONLY %s', people);
    EXECUTE format('CREATE TEMP TABLE pairs AS SELECT p.a::text AS a, p.b::text AS b, s.probability FROM
        (SELECT DISTINCT k.id AS a, l.id AS b FROM %1$s AS k JOIN %1$s AS l ON k.key = l.key AND k.id < l.id) AS p
        JOIN ONLY %2$s AS x ON x.id = p.a JOIN ONLY %2$s AS y ON y.id = p.b, %3$s AS r, bloom_model_score(r.model, to_jsonb(x), to_jsonb(y), r.records) AS s', r.keys, people, register);
    CREATE OR REPLACE TEMP VIEW decided AS SELECT * FROM decision AS d WHERE EXISTS (SELECT FROM present WHERE key = d.a) AND EXISTS (SELECT FROM present WHERE key = d.b);
    FOR e IN SELECT * FROM jsonb_to_recordset(r.entities) AS e (entities text, min_probability float8, method text, decisions text) LOOP
        EXECUTE format($q$WITH c AS (SELECT cluster, key FROM bloom_clusters('pairs'::regclass, $1, $2, decisions => $3, on_conflict => 'newer')),
            fresh AS (SELECT p.key, COALESCE(f.first, p.key) AS first FROM present AS p LEFT JOIN c USING (key) LEFT JOIN (SELECT cluster, min(key) AS first FROM c GROUP BY 1) AS f USING (cluster)),
            stored AS (SELECT e.key::text AS key, f.first FROM %1$s AS e JOIN (SELECT entity, min(key::text) AS first FROM %1$s GROUP BY 1) AS f USING (entity))
            SELECT count(*) FROM fresh FULL JOIN stored USING (key) WHERE fresh.first IS DISTINCT FROM stored.first$q$, e.entities)
            INTO n USING e.min_probability, e.method, CASE WHEN e.decisions IS NOT NULL THEN 'decided'::regclass END;
        IF n <> 0 THEN RAISE '%: % records are in other entities of "%" than bloom_clusters() makes', what, n, e.entities; END IF;
    END LOOP;
    DROP VIEW decided;
    DROP TABLE pairs, present;
END $$;
-- Errors: a statement does not fail, or otherwise.
CREATE FUNCTION refused(statement text, state text, says text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE is_refused boolean := false;
BEGIN
    BEGIN
        EXECUTE statement;
    EXCEPTION WHEN OTHERS THEN
        IF SQLSTATE <> state OR SQLERRM !~ says THEN RAISE '%: % %, not % %', statement, SQLSTATE, SQLERRM, state, says; END IF;
        is_refused := true;
    END;
    IF NOT is_refused THEN RAISE '% is not refused', statement; END IF;
END $$;
SQL

# Which record is in which entity, and how many changes there were.
entities() {
    sql -d "$1" -c 'SELECT key, entity FROM centred ORDER BY 1' -c 'SELECT key, entity FROM joined ORDER BY 1' -c 'SELECT count(*), max(id) FROM centred_changes' -c 'SELECT count(*), max(id) FROM joined_changes'
}

# Numbers of entities go on, and the guard is there.
goes_on() {
    sql -d "$1" >/dev/null <<SQL
SELECT whole('$2');
SELECT max(entity) AS last FROM centred \\gset
INSERT INTO person VALUES (990001, 'Hugo', 'Einmalig', '1899-12-31', 'Graz');
SELECT 1 / (entity > :last)::int FROM centred WHERE key = 990001;
SELECT refused(\$\$INSERT INTO person VALUES (990002, 'Hugo', 'Einmalich', '1899-12-31', 'Graz')\$\$, '23P85', 'probably the same');
INSERT INTO decision (a, b, decision) VALUES ('990001', '205', 'same');
SELECT whole('$2, later');
SQL
}
