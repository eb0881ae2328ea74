#!/usr/bin/env bash
# Registers, their guards and entities, whatever happens to their tables: changes of tables and owners, dumps, large statements, and many sessions that enter the same people
# at once, under a guard that rejects. REGISTER_ROWS says how many rows a large statement has (6000), RACE_CLIENTS and RACE_TRANSACTIONS how many sessions enter how many people (6, 1500), half of them with entities.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"
# shellcheck source=tests/register.sh
source "$(dirname "${BASH_SOURCE[0]}")/register.sh"

rows=${REGISTER_ROWS:-6000} clients=${RACE_CLIENTS:-6} transactions=${RACE_TRANSACTIONS:-1500}

dropdb --if-exists registered
createdb registered
sql -d registered -f "$SCRATCH/fixture.sql" >/dev/null
sql -d registered -c "SELECT whole('as made')" >/dev/null
createdb -T registered changed
told 'a register, with entities'

# Each block is rolled back.
sql -d changed >/dev/null <<'SQL' || die 'changes of tables'
-- A partition, whose table has other columns: rows that come by it, that move, that go; MERGE; and a guard.
BEGIN;
CREATE TABLE everybody (gone int, city text, id int NOT NULL, dob date, surname text, given text) PARTITION BY RANGE (id);
ALTER TABLE everybody DROP gone;
ALTER TABLE everybody ATTACH PARTITION person FOR VALUES FROM (0) TO (1000000);
CREATE TABLE elsewhere PARTITION OF everybody FOR VALUES FROM (1000000) TO (3000000);
INSERT INTO everybody (id, given, surname, dob, city) SELECT id + 100000, given, surname, dob, city FROM source WHERE id < 60;
SELECT whole('INSERT by the partitioned table');
UPDATE everybody SET id = id + 1000000 WHERE id % 2 = 0;
SELECT whole('UPDATE to another partition');
UPDATE everybody SET id = id - 1000000 WHERE id > 1000000 AND id % 3 = 0;
SELECT whole('UPDATE from another partition');
MERGE INTO everybody AS e USING (SELECT id + 100020 AS id, surname, given, dob, city FROM source WHERE id < 60) AS s ON e.id = s.id
    WHEN MATCHED AND s.id % 4 = 1 THEN DELETE WHEN MATCHED THEN UPDATE SET surname = s.surname, dob = s.dob
    WHEN NOT MATCHED THEN INSERT (id, given, surname, dob, city) VALUES (s.id, s.given, s.surname, s.dob, s.city);
SELECT whole('MERGE by the partitioned table');
SELECT bloom_register_guard('person_register', 0.9, 'reject');
SELECT refused($$INSERT INTO everybody (id, given, surname, dob, city) SELECT 700000, given, surname, dob, 'Ulm' FROM person WHERE id = 205$$, '23P85', 'probably the same');
SELECT refused($$INSERT INTO everybody (id, given, surname, dob, city) SELECT 2000000, given, surname, dob, 'Ulm' FROM person WHERE id = 205; UPDATE everybody SET id = 700000 WHERE id = 2000000$$, '23P85', 'probably the same');
ALTER TABLE everybody DETACH PARTITION person;
DROP TRIGGER person_id_guard ON person;
INSERT INTO person SELECT id + 300000, given, surname, dob, city FROM source WHERE id < 60;
SELECT whole('DETACH PARTITION');
ALTER TABLE everybody ATTACH PARTITION person FOR VALUES FROM (0) TO (1000000);
TRUNCATE everybody;
SELECT whole('TRUNCATE of the partitioned table');
SELECT refused($$INSERT INTO person SELECT 1 / count(*) FROM joined$$, '22012', 'division');
SELECT refused($$SELECT bloom_register_create(model, 'everybody', 'id') FROM fitted$$, '42809', 'cannot make a register');
ROLLBACK;
-- A table that inherits from it: its rows are not of the register, be it by the key of another one.
BEGIN;
CREATE TABLE child () INHERITS (person);
INSERT INTO child SELECT id, given, 'Anders', dob, city FROM source WHERE id < 60;
UPDATE person SET surname = surname || 'x' WHERE id % 5 = 0;
DELETE FROM person WHERE id % 7 = 0;
SELECT whole('a table inherits from it');
TRUNCATE ONLY person;
SELECT whole('TRUNCATE ONLY');
ROLLBACK;
BEGIN;
CREATE TABLE parent (LIKE person);
ALTER TABLE person INHERIT parent;
UPDATE parent SET surname = surname || 'x' WHERE id % 5 = 0;
DELETE FROM parent WHERE id % 7 = 0;
SELECT whole('it inherits from a table');
TRUNCATE parent;
SELECT whole('TRUNCATE of the table that it inherits from');
ROLLBACK;
-- The key: two rows that change places, and an index that lets rows have the same for a while.
BEGIN;
UPDATE person SET id = -id;
UPDATE person SET id = 5 - id WHERE id IN (1, 4, -1, -4);
SELECT whole('UPDATE of the key');
ALTER TABLE person DROP CONSTRAINT person_pkey, ADD PRIMARY KEY (id) DEFERRABLE INITIALLY DEFERRED;
SELECT refused('INSERT INTO person VALUES (999999)', '42P16', 'column "id" of table "person" is not unique');
ROLLBACK;
-- Owners: all at once, or nobody writes.
BEGIN;
CREATE ROLE register_first;
CREATE ROLE register_second;
GRANT USAGE, CREATE ON SCHEMA public TO register_first, register_second;
ALTER TABLE person OWNER TO register_first;
SELECT refused('INSERT INTO person VALUES (999999)', '42P17', 'another owner');
SELECT refused($$SELECT * FROM bloom_register_check('person_register', true)$$, '42P17', 'another owner');
SELECT format('ALTER TABLE %s OWNER TO register_first', n) FROM unnest('{person_register,person_register_keys,centred,centred_changes,joined,joined_changes,decision}'::text[]) AS n \gexec
INSERT INTO person VALUES (999999, 'Otto', 'Eigner');
REASSIGN OWNED BY register_first TO register_second;
INSERT INTO person VALUES (999998, 'Otto', 'Eigner');
INSERT INTO decision (a, b, decision) VALUES ('999998', '999999', 'same');
SELECT whole('REASSIGN OWNED');
SET ROLE register_second;
INSERT INTO person VALUES (999997, 'Otto', 'Eigner');
TRUNCATE person;
RESET ROLE;
SELECT whole('TRUNCATE by the new owner');
DROP OWNED BY register_second;
SELECT refused('SELECT 1 / count(*) FROM pg_class WHERE relname ~ ''^(person|centred|joined|decision)''', '22012', 'division');
ROLLBACK;
-- Tables that are dropped, in whatever order.
BEGIN;
DROP TABLE person_register_keys;
SELECT refused('INSERT INTO person VALUES (999999)', '42P17', 'are not as they were made');
SELECT bloom_entities_drop('person_register', 'centred'), bloom_entities_drop('person_register', 'joined'), bloom_register_drop('person_register');
INSERT INTO person VALUES (999999);
ROLLBACK;
BEGIN;
DROP TABLE joined;
SELECT refused('INSERT INTO person VALUES (999999)', '42P01', 'table "joined" of the entities of register "person_register" does not exist');
SELECT bloom_entities_drop('person_register', 'joined');
INSERT INTO person VALUES (999999);
INSERT INTO decision (a, b, decision) VALUES ('3', '4', 'same');
SELECT whole('after a table of entities was dropped');
ROLLBACK;
BEGIN;
DROP TABLE decision;
SELECT refused('INSERT INTO person VALUES (999999)', '42P01', 'table "decision" of the entities of register "person_register" does not exist');
ROLLBACK;
BEGIN;
DROP TABLE person;
SELECT bloom_entities_drop('person_register', 'centred'), bloom_entities_drop('person_register', 'joined'), bloom_register_drop('person_register');
INSERT INTO decision (a, b, decision) VALUES ('3', '4', 'same');
ROLLBACK;
BEGIN;
ALTER TABLE person ALTER id TYPE bigint;
SELECT refused('INSERT INTO person VALUES (999999)', '42804', 'is of type bigint');
SELECT bloom_entities_drop('person_register', 'centred'), bloom_entities_drop('person_register', 'joined'), bloom_register_drop('person_register');
INSERT INTO person VALUES (999999);
ROLLBACK;
-- Rows may have come without the register: nothing is answered, and a guard lets nobody in, until it is mended.
BEGIN;
SELECT bloom_register_guard('person_register', 0.9, 'reject');
ALTER TABLE person DISABLE TRIGGER person_register_row;
SELECT refused('INSERT INTO person VALUES (999998) ON CONFLICT DO NOTHING', '42P17', 'is disabled');
ROLLBACK;
BEGIN;
SELECT bloom_register_guard('person_register', 0.9, 'reject');
ALTER TABLE person DISABLE TRIGGER USER;
INSERT INTO person VALUES (999999, 'Wolf', 'Siebenschein', '1911-11-11', 'Graz');
ALTER TABLE person ENABLE TRIGGER USER;
SELECT refused($$INSERT INTO person VALUES (999998, 'Wolf', 'Siebenschein', '1911-11-11', 'Graz')$$, '42P17', 'was disabled');
SELECT refused($$SELECT * FROM bloom_register_match('person_register', '{"surname": "Siebenschein"}')$$, '42P17', 'was disabled');
SELECT refused($$SELECT * FROM bloom_register_preview('person_register', '{"surname": "Siebenschein"}'::jsonb)$$, '42P17', 'was disabled');
SELECT count(*) FROM bloom_register_check('person_register', true);
SELECT whole('mended');
SELECT refused($$INSERT INTO person VALUES (999998, 'Wolf', 'Siebenschein', '1911-11-11', 'Graz')$$, '23P85', 'probably the same');
ROLLBACK;
BEGIN;
ALTER TABLE person DISABLE TRIGGER person_register_truncate;
TRUNCATE person;
SELECT refused($$SELECT * FROM bloom_register_match('person_register', '{"surname": "Siebenschein"}')$$, '42P17', 'is disabled');
SELECT count(*) FROM bloom_register_check('person_register', true);
INSERT INTO person SELECT * FROM source;
TRUNCATE person;
SELECT whole('TRUNCATE after its trigger was disabled');
ROLLBACK;
-- The extension goes and comes again.
BEGIN;
DROP EXTENSION bloom_ident CASCADE;
INSERT INTO person SELECT id + 900000, given, surname, dob, city FROM source WHERE id < 9;
CREATE EXTENSION bloom_ident;
SELECT refused($$SELECT * FROM bloom_register_match('person_register', '{"surname": "Siebenschein"}')$$, '42P17', 'is missing');
SELECT count(*) FROM bloom_register_check('person_register', true);
INSERT INTO person SELECT id + 800000, given, surname, dob, city FROM source WHERE id < 9;
INSERT INTO decision (a, b, decision) VALUES ('4', '5', 'same');
SELECT whole('the extension was made anew');
ROLLBACK;
-- Values that change without an UPDATE: repair knows.
BEGIN;
CREATE TYPE town AS ENUM ('Berlin', 'Bonn', 'Köln', 'Graz', 'Wien', 'Linz');
CREATE TABLE in_town AS SELECT id, given, surname, dob, city::town FROM source;
ALTER TABLE in_town ADD PRIMARY KEY (id);
SELECT bloom_register_create(model, 'in_town', 'id') FROM fitted;
ALTER TYPE town RENAME VALUE 'Wien' TO 'Vienna';
SELECT refused($$SELECT whole('an enum', 'in_town_register')$$, 'P0001', 'keys missing');
SELECT count(*) FROM bloom_register_check('in_town_register', true);
UPDATE in_town SET city = 'Vienna' WHERE id < 60;
SELECT whole('a value of an enum was renamed', 'in_town_register');
ROLLBACK;
-- A table that is logged no longer, and again.
BEGIN;
SELECT bloom_register_guard('person_register', 0.9, 'reject');
ALTER TABLE person SET UNLOGGED;
SELECT refused($$SELECT * FROM bloom_register_match('person_register', '{"surname": "Siebenschein"}')$$, '42P17', 'is logged, and table "person" is unlogged');
SELECT refused('INSERT INTO person SELECT 999999, given, surname, dob, city FROM source WHERE id = 7', '42P17', 'is logged, and table "person" is unlogged');
SELECT count(*) FROM bloom_register_check('person_register', true);
SELECT refused('SELECT 1 / count(*) FROM pg_class WHERE relname ~ ''^(person_register_keys|centred|joined)'' AND relpersistence = ''p''', '22012', 'division');
INSERT INTO person VALUES (999999, 'Wolf', 'Siebenschein', '1911-11-11', 'Graz');
SELECT whole('SET UNLOGGED');
ALTER TABLE person SET LOGGED;
SELECT refused($$SELECT * FROM bloom_register_match('person_register', '{"surname": "Siebenschein"}')$$, '42P17', 'is unlogged, and table "person" is logged');
SELECT count(*) FROM bloom_register_check('person_register', true);
SELECT refused('SELECT 1 / count(*) FROM pg_class WHERE relname ~ ''^(person_register_keys|centred|joined)'' AND relpersistence <> ''p''', '22012', 'division');
SELECT whole('SET LOGGED');
ROLLBACK;
SELECT whole('all was rolled back');
SQL
dropdb changed
told 'changes of tables'

# Dumps: whole ones come back as they were, also by several processes; of data alone, either nothing comes that the register does not have, or it is to be mended.
createdb -T registered dumped
sql -d dumped -c "SELECT bloom_register_guard('person_register', 0.9, 'reject')" -c 'INSERT INTO person SELECT * FROM source WHERE id IN (300, 303)' >/dev/null
fresh() {
    dropdb --if-exists restored
    createdb restored
}
before=$(entities dumped)
for how in plain parallel; do
    fresh
    if [[ $how == plain ]]; then
        pg_dump -d dumped | sql -d restored >/dev/null
    else
        rm -rf "$SCRATCH/dump"
        pg_dump -Fd -j 4 -d dumped -f "$SCRATCH/dump"
        pg_restore -j 4 --exit-on-error -d restored "$SCRATCH/dump"
    fi
    diff <(echo "$before") <(entities restored) || die "$how dump: entities have other numbers"
    goes_on restored "$how dump"
done
pg_dump --data-only -Fc -d dumped -f "$SCRATCH/dump.data"
fresh
pg_dump --schema-only -d dumped | sql -d restored >/dev/null
! pg_restore --data-only --exit-on-error -d restored "$SCRATCH/dump.data" 2>"$SCRATCH/dump.errors" || die 'data are restored before those of the register'
grep -q 'register "person_register" has no row' "$SCRATCH/dump.errors" || die "$(cat "$SCRATCH/dump.errors")"
fresh
pg_dump --schema-only -d dumped | sql -d restored >/dev/null
pg_restore --data-only --disable-triggers --exit-on-error -d restored "$SCRATCH/dump.data"
diff <(echo "$before") <(entities restored) || die 'dump of data: entities have other numbers'
sql -d restored -c "SELECT refused(\$\$SELECT * FROM bloom_register_match('person_register', '{\"surname\": \"x\"}')\$\$, '42P17', 'was disabled')" \
    -c "SELECT refused('INSERT INTO person VALUES (990003)', '42P17', 'was disabled')" -c "SELECT count(*) FROM bloom_register_check('person_register', repair => true)" >/dev/null
diff <(echo "$before") <(entities restored) || die 'dump of data, mended: entities have other numbers'
goes_on restored 'dump of data'
# The keys are not there twice, whoever restores the register first, so that the triggers make them.
fresh
sql -d dumped -c "SELECT bloom_entities_drop('person_register', name) FROM unnest('{centred,joined}'::name[]) AS name" -c 'DROP TRIGGER person_id_guard ON person' >/dev/null
pg_dump --data-only -Fc -d dumped -f "$SCRATCH/dump.data"
pg_dump --schema-only -d dumped | sql -d restored >/dev/null
for table in person_register person; do pg_restore --data-only --exit-on-error -t "$table" -d restored "$SCRATCH/dump.data"; done
! pg_restore --data-only --exit-on-error -t person_register_keys -d restored "$SCRATCH/dump.data" 2>"$SCRATCH/dump.errors" || die 'keys are restored twice'
grep -q 'duplicate key value violates unique constraint' "$SCRATCH/dump.errors" || die "$(cat "$SCRATCH/dump.errors")"
sql -d restored -c "SELECT whole('data in another order')" >/dev/null
dropdb restored
dropdb dumped
told 'dumps'

# One statement of many rows: locks and memory do not grow with them.
createdb -T registered large
status="pg_read_file('/proc/self/status')"
grep -qs '^VmPeak:' /proc/self/status || status=NULL
sql -d large -c "SELECT bloom_register_guard('person_register', 0.9, 'flag', 'review', 'suspect')" -c "
    CREATE FUNCTION memory_kb(field text) RETURNS int LANGUAGE sql AS \$\$ SELECT substring($status FROM field || ':\\s+(\\d+) kB')::int \$\$" -c "
    CREATE VIEW many AS SELECT i + 1000000 AS id, initcap(left(word, 6)) AS given, overlay(initcap(substr(word, 7, 9)) PLACING CASE WHEN i % 20 = 0 THEN 'x' ELSE 'o' END FROM 3 FOR 1) AS surname,
        date '1940-01-01' + (p * 7919) % 25000 AS dob, 'City ' || p % 997 AS city
        FROM (SELECT i, p, translate(md5('many ' || p), '0123456789', 'ghijklmnop') AS word FROM (SELECT i, i - (i % 20 = 0)::int AS p FROM generate_series(1, $rows + 500) AS i) AS n) AS w" \
    -c 'CREATE UNLOGGED TABLE coming AS TABLE many' >/dev/null
IFS='|' read -r grown locks flagged < <(sql -d large <<'SQL'
INSERT INTO person SELECT * FROM coming WHERE id <= 1000500;
SELECT COALESCE(memory_kb('VmSize'), 0) AS before, count(*) AS suspects FROM suspect \gset
BEGIN;
INSERT INTO person SELECT * FROM coming WHERE id > 1000500;
SELECT COALESCE(memory_kb('VmPeak') - :before, 0), (SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid()), (SELECT count(*) - :suspects FROM suspect);
COMMIT;
SQL
)
told "a statement of $rows rows: the process has grown by $grown kB, has $locks locks, and $flagged suspects"
((flagged * 20 >= rows)) || die 'the guard has not seen all'
((locks <= 100)) || die 'there are too many locks'
# The server itself remembers for each row which triggers are to fire, in some 30 bytes.
((grown <= 8192 + rows / 16)) || die 'the process has grown with the rows'
sql -d large -c "SELECT whole('a large statement')" >/dev/null
dropdb large
told 'whole'

# Many sessions enter the same people, by other names and keys, and change and delete them; meanwhile indexes are made anew, and the table changes.
createdb -T registered race
sql -d race >/dev/null <<'SQL'
ALTER DATABASE race SET deadlock_timeout = '100ms';
TRUNCATE person;
SELECT bloom_entities_drop('person_register', 'centred'), bloom_entities_drop('person_register', 'joined');
SELECT bloom_register_guard('person_register', 0.9, 'reject');
CREATE UNLOGGED TABLE outcome (outcome text);
-- Whom the sessions enter: the next eight who ask get the same person, or the one before, so that they come at the same time; and nobody is entered again later.
CREATE SEQUENCE turn;
CREATE FUNCTION variant(back int, how int, OUT given text, OUT surname text, OUT dob date, OUT city text) LANGUAGE plpgsql AS $$
DECLARE person int := greatest(nextval('turn') / 8 - back, 0); word text := translate(md5('race ' || person), '0123456789', 'ghijklmnop');
BEGIN
    given := initcap(left(word, 6));
    surname := initcap(substr(word, 7, 9));
    CASE how WHEN 2 THEN surname := surname || 's'; WHEN 3 THEN SELECT surname, given INTO given, surname; WHEN 4 THEN surname := overlay(surname PLACING 'y' FROM 4 FOR 1); ELSE NULL; END CASE;
    dob := date '1940-01-01' + person * 7919 % 25000 + (how = 5)::int;
    city := CASE how WHEN 1 THEN 'Bonn' ELSE 'Ulm' END;
END $$;
-- A deadlock ends the transaction, which pgbench repeats; nothing else but these may be raised.
CREATE FUNCTION attempt(statement text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    INSERT INTO outcome VALUES ('done');
EXCEPTION WHEN SQLSTATE '23P85' THEN INSERT INTO outcome VALUES ('refused');
    WHEN unique_violation THEN INSERT INTO outcome VALUES ('taken');
END $$;
CREATE FUNCTION enter(id int, back int, how int) RETURNS void LANGUAGE sql AS $$ SELECT attempt(format('INSERT INTO person SELECT %s, v.* FROM variant(%s, %s) AS v', id, back, how)) $$;
SQL
cat >"$SCRATCH/race.sql" <<'SQL'
\set back random(0, 2)
\set id random(1, 2000)
\set second random(1, 2000)
\set how random(1, 5)
\set what random(1, 100)
\if :what <= 30
SELECT enter(:id, 0, :how);
\elif :what <= 55
BEGIN;
SELECT enter(:id, 0, :how);
\sleep 2 ms
SELECT enter(:second, :back, 6 - :how);
COMMIT;
\elif :what <= 70
BEGIN;
SAVEPOINT a;
SELECT enter(:id, 0, :how);
\sleep 1 ms
ROLLBACK TO a;
SELECT enter(:second, :back, 6 - :how);
SAVEPOINT b;
SELECT enter(:id, 0, :how);
RELEASE b;
\sleep 1 ms
COMMIT;
\elif :what <= 75
BEGIN;
SELECT enter(:id, 0, :how);
DELETE FROM person WHERE id = :second;
\sleep 1 ms
ROLLBACK;
\elif :what <= 78
DELETE FROM person WHERE id % 100 = :id % 100;
\elif :what <= 88
SELECT attempt(format('UPDATE person SET (given, surname, dob, city) = (SELECT v.* FROM variant(%s, %s) AS v) WHERE id = (SELECT id FROM person WHERE id >= %s ORDER BY id LIMIT 1)', :back, :how, :id));
\elif :what <= 93
SELECT attempt(format('UPDATE person SET id = %s WHERE id = (SELECT id FROM person WHERE id >= %s ORDER BY id LIMIT 1)', :second, :id));
\else
SELECT attempt(format('INSERT INTO person SELECT %s, v.* FROM variant(%s, %s) AS v ON CONFLICT (id) DO UPDATE SET surname = excluded.surname, dob = excluded.dob', :id, :back, :how));
\endif
SQL
# What the owner does meanwhile. A deadlock is repeated by the loop.
disturb() {
    local statement
    while [[ ! -e $SCRATCH/race.done ]]; do
        for statement in 'REINDEX TABLE CONCURRENTLY person_register_keys' 'ALTER TABLE person ADD note text' 'VACUUM FULL person_register_keys' 'VACUUM FULL person' \
            'ALTER TABLE person DROP note' 'REINDEX TABLE CONCURRENTLY person' 'VACUUM person_register_keys' "SELECT whole('meanwhile')"; do
            sql -d race -c "$statement" >/dev/null || true
            sleep 0.1
        done
    done 2>"$SCRATCH/race.errors"
}
race() {
    local disturbed status=0 failed left
    sql -d race -c 'TRUNCATE outcome'
    rm -f "$SCRATCH/race.done"
    disturb &
    disturbed=$!
    pgbench -n -f "$SCRATCH/race.sql" -c "$clients" -j 2 -t $((transactions / 2 / clients)) --max-tries=1000 race >"$SCRATCH/race.log" 2>&1 || status=$?
    touch "$SCRATCH/race.done"
    wait $disturbed
    ((status == 0)) || die "$(tail -n 20 "$SCRATCH/race.log")"
    failed=$(sed -n 's/^number of failed transactions: \([0-9]*\).*/\1/p' "$SCRATCH/race.log")
    [[ ${failed:-0} == 0 ]] || die "$failed transactions failed: $(cat "$SCRATCH/race.log")"
    ! grep ERROR "$SCRATCH/race.errors" | grep -v 'deadlock detected' || die 'what the owner did meanwhile failed'
    left=$(sql -d race -c 'SELECT count(*) FROM person AS p, bloom_register_match($$person_register$$, to_jsonb(p), 0.9, NULL)' -c '
        SELECT count(*) FROM (SELECT DISTINCT k.id AS a, l.id AS b FROM person_register_keys AS k JOIN person_register_keys AS l ON k.key = l.key AND k.id < l.id
            WHERE NOT EXISTS (SELECT FROM person_register_keys AS c WHERE c.key = k.key AND c.id IS NULL)) AS p
        JOIN person AS x ON x.id = p.a JOIN person AS y ON y.id = p.b, person_register AS r, bloom_model_score(r.model, to_jsonb(x), to_jsonb(y), r.records) AS s WHERE s.probability >= 0.9')
    [[ $left == $'0\n0' ]] || die "pairs got past the guard: ${left//$'\n'/, }"
    sql -d race -c "SELECT whole('race $1')" >/dev/null
    [[ $(sql -d race -c "SELECT count(*) FILTER (WHERE outcome = 'done') * 40 > $transactions AND count(*) FILTER (WHERE outcome = 'refused') * 40 > $transactions FROM outcome") == t ]] || die 'too little happened'
    [[ $(sql -d race -c "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == 0 ]] || die 'locks are left'
    told "race $1: $(sql -d race -c "SELECT string_agg(n || ' ' || outcome, ', ' ORDER BY outcome) FROM (SELECT outcome, count(*) AS n FROM outcome GROUP BY 1) AS o"), $(sed -n 's/^total number of retries: //p' "$SCRATCH/race.log") repeated, $(sql -d race -c 'SELECT count(*) FROM person') left"
}
# Entities make whoever joins them wait, so the guard alone comes first.
race 'without entities'
sql -d race -c "SELECT bloom_entities_create('person_register', 'centred', 0.5, 'centre', notify => false)" -c "SELECT bloom_entities_create('person_register', 'joined', 0.4, 'components', decisions => 'decision')" >/dev/null
race 'with entities'
dropdb race
dropdb registered
