#!/usr/bin/env bash
# tests/entities.test.sh: entities are what bloom_clusters() makes of all pairs that the blocks have, in whatever order records come, and whoever enters them at the same
# time. Generated people (tests/quality/people.py). ENTITY_ROWS says how many (1200), ENTITY_ORDERS in how many orders they come (2), ENTITY_SECONDS how long six sessions
# enter, change and delete them and decide about them (6), and then two of them change the same two records.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

need_packages python3
rows=${ENTITY_ROWS:-1200} orders=${ENTITY_ORDERS:-2} seconds=${ENTITY_SECONDS:-6}
fields='given_name,surname,dob,street,city,postcode,phone,email'
dropdb --if-exists entities 2>/dev/null
createdb entities
export PGDATABASE=entities PGOPTIONS='-c client_min_messages=error -c jit=off'
sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

python3 "$ROOT/tests/quality/people.py" "$rows" 1 >"$SCRATCH/people.csv"
chmod a+r "$SCRATCH/people.csv"
sql -c 'CREATE EXTENSION bloom_ident' -c "CREATE TABLE source (id text PRIMARY KEY, entity text, ${fields//,/ text, } text)" -c "\\copy source FROM '$SCRATCH/people.csv' (FORMAT csv, HEADER)" \
    -c "CREATE TABLE fitted AS SELECT bloom_model_fit('source', 'id', '{$fields}', '{given_name,dob,email}') AS model" \
    -c "UPDATE fitted SET model = jsonb_set(model, '{searches}', (SELECT jsonb_agg(s || jsonb_build_object('most', least((s ->> 'most')::int, 6))) FROM jsonb_array_elements(model -> 'searches') AS s WHERE NOT s ? 'scan'))" \
    -c 'CREATE TABLE person (LIKE source INCLUDING ALL)' -c "SELECT bloom_decisions_create('decision')" \
    -c "SELECT bloom_register_create(model, 'person', 'id', options => '{\"records\": $rows}') FROM fitted" \
    -c "SELECT bloom_entities_create('person_register', 'centred', 0.5, 'centre')" -c "SELECT bloom_entities_create('person_register', 'connected', 0.5, 'components', decisions => 'decision')" \
    -c "SELECT bloom_entities_create('person_register', 'bounded', 0.3, 'average', 3, 'decision')" >/dev/null
sql <<'SQL'
CREATE VIEW decided AS SELECT * FROM decision AS d WHERE EXISTS (SELECT FROM person WHERE id = d.a) AND EXISTS (SELECT FROM person WHERE id = d.b);
-- How many records are in other entities than they would be.
CREATE FUNCTION otherwise() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE wrong bigint := 0; n bigint; e record;
BEGIN
    DROP TABLE IF EXISTS pairs;
    CREATE TABLE pairs AS SELECT p.a, p.b, s.probability FROM
        (SELECT DISTINCT k.id AS a, l.id AS b FROM person_register_keys AS k JOIN person_register_keys AS l ON k.key = l.key AND k.id < l.id) AS p
        JOIN person AS x ON x.id = p.a JOIN person AS y ON y.id = p.b, person_register AS r, bloom_model_score(r.model, to_jsonb(x), to_jsonb(y), r.records) AS s;
    FOR e IN SELECT * FROM (VALUES ('centred', 0.5, 'centre', NULL, NULL::regclass), ('connected', 0.5, 'components', NULL, 'decided'), ('bounded', 0.3, 'average', 3, 'decided')) AS v (name, least, method, size, decisions) LOOP
        EXECUTE format($q$WITH c AS (SELECT cluster, key FROM bloom_clusters('pairs'::regclass, $1, $2, max_size => $3, decisions => $4, on_conflict => 'newer')),
            fresh AS (SELECT p.id AS key, COALESCE(f.first, p.id) AS first FROM person AS p LEFT JOIN c ON c.key = p.id LEFT JOIN (SELECT cluster, min(key) AS first FROM c GROUP BY 1) AS f USING (cluster)),
            stored AS (SELECT e.key, f.first FROM %1$I AS e JOIN (SELECT entity, min(key) AS first FROM %1$I GROUP BY 1) AS f USING (entity))
            SELECT count(*) FROM fresh FULL JOIN stored USING (key) WHERE fresh.first IS DISTINCT FROM stored.first$q$, e.name) INTO n USING e.least, e.method, e.size, e.decisions;
        wrong := wrong + n;
    END LOOP;
    RETURN wrong + (SELECT sum(number) FROM bloom_register_check('person_register') WHERE finding LIKE 'keys %' OR finding LIKE 'records in other%');
END $$;
SQL
check() {
    local otherwise
    sql -c 'ANALYZE person, person_register_keys, centred, connected, bounded'
    otherwise=$(sql -c 'SELECT otherwise()')
    [[ $otherwise == 0 ]] || die "$1: $otherwise records or keys are otherwise than they would be"
    say "$1: $(sql -F ', ' -c "SELECT count(*) || ' records', count(DISTINCT entity) || ' entities' FROM connected")"
}

for ((i = 1; i <= orders; i++)); do
    sql -c 'TRUNCATE person' -c "INSERT INTO person SELECT * FROM source ORDER BY md5(id || '$i')" >/dev/null
    check "order $i"
done

# Sessions that come in each other's way. What PostgreSQL ends as a deadlock is repeated.
cat >"$SCRATCH/entities.sql" <<'SQL'
\set n random(1, 300)
\set m random(1, 300)
\set what random(1, 100)
\if :what <= 40
INSERT INTO person SELECT 'n' || :n, entity, given_name, surname, dob, street, city, postcode, phone, email FROM source ORDER BY id OFFSET :m LIMIT 1 ON CONFLICT (id) DO UPDATE SET surname = excluded.surname, phone = excluded.phone;
\elif :what <= 60
DELETE FROM person WHERE id = 'n' || :n;
\elif :what <= 75
UPDATE person SET dob = s.dob, street = s.street FROM (SELECT * FROM source ORDER BY id OFFSET :m LIMIT 1) AS s WHERE person.id = 'n' || :n;
\elif :what <= 82
INSERT INTO decision (a, b, decision) SELECT x.key, y.key, CASE WHEN :m < 150 THEN 'same' ELSE 'different' END FROM (SELECT key FROM connected ORDER BY key OFFSET :n LIMIT 1) AS x, (SELECT key FROM connected ORDER BY key OFFSET :n + 1 LIMIT 1) AS y;
\elif :what <= 84
DELETE FROM decision WHERE id % 20 = :n % 20;
\else
BEGIN;
INSERT INTO person SELECT 'n' || :n, entity, given_name, surname, dob, street, city, postcode, phone, email FROM source ORDER BY id OFFSET :m LIMIT 1 ON CONFLICT (id) DO NOTHING;
SAVEPOINT a;
UPDATE person SET phone = NULL WHERE id = 'n' || :m;
ROLLBACK TO a;
DELETE FROM person WHERE id = 'n' || :m;
COMMIT;
\endif
SQL
pgbench -n -f "$SCRATCH/entities.sql" -c 6 -j 2 -T "$seconds" --max-tries=100 entities >"$SCRATCH/entities.log" 2>&1 || die "$(cat "$SCRATCH/entities.log")"
failed=$(sed -n 's/^number of failed transactions: \([0-9]*\).*/\1/p' "$SCRATCH/entities.log")
[[ ${failed:-0} == 0 ]] || die "$failed transactions failed: $(cat "$SCRATCH/entities.log")"
check "six sessions, $(sed -n 's/^number of transactions actually processed: //p' "$SCRATCH/entities.log") transactions, $(sed -n 's/^total number of retries: //p' "$SCRATCH/entities.log") repeated"
[[ $(sql -c "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == 0 ]] || die 'locks are left'

# A record whose other columns change is there all the time, also for whoever looks it up at that moment, because another record of its entity changes.
sql -c 'ALTER TABLE person ADD note int' -c 'CREATE INDEX ON person (note)'
read -r one other < <(sql -F ' ' -c "SELECT p.a, p.b FROM pairs AS p JOIN connected AS x ON x.key = p.a JOIN connected AS y ON y.key = p.b WHERE x.entity = y.entity ORDER BY p.probability DESC LIMIT 1")
echo "UPDATE person SET note = COALESCE(note, 0) + 1 WHERE id = '$one'" >"$SCRATCH/note.sql"
echo "UPDATE person SET email = clock_timestamp()::text WHERE id = '$other'" >"$SCRATCH/other.sql"
sql -c "UPDATE person SET email = 'none' WHERE id = '$other'"
before=$(sql -c 'SELECT max(id) FROM connected_changes')
pgbench -n -f "$SCRATCH/note.sql" -c 1 -T "$seconds" entities >"$SCRATCH/note.log" 2>&1 &
pgbench -n -f "$SCRATCH/other.sql" -c 1 -T "$seconds" entities >"$SCRATCH/other.log" 2>&1 || die "$(cat "$SCRATCH/other.log")"
wait $! || die "$(cat "$SCRATCH/note.log")"
changed=$(sql -c "SELECT count(*) FROM connected_changes WHERE id > $before")
[[ $changed == 0 ]] || die "entities have changed $changed times, though no pair has come or gone"
check "a record beside one whose other columns change, $(sed -n 's/^number of transactions actually processed: //p' "$SCRATCH/other.log") and $(sed -n 's/^number of transactions actually processed: //p' "$SCRATCH/note.log") times"
dropdb entities
