#!/usr/bin/env bash
# Registers, their guards and entities, whatever happens to the server: a standby that is promoted, logical replication, prepared transactions, pg_upgrade, and crashes.
# REGISTER_CRASHES says how often the server crashes in each of the ways (1).

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"
# shellcheck source=tests/register.sh
source "$(dirname "${BASH_SOURCE[0]}")/register.sh"

crashes=${REGISTER_CRASHES:-1}

# A standby answers as its primary does; when it is promoted, numbers of entities go on. Then it is a subscriber with a register of its own.
cluster_init register_one
cluster_conf register_one 'wal_level = logical' 'max_prepared_transactions = 5' 'checkpoint_timeout = 30s'
cluster_start register_one
cluster_use register_one
cluster_standby register_two
cluster_conf register_two 'wal_retrieve_retry_interval = 200ms'
cluster_start register_two
createdb registered
export PGDATABASE=registered
sql -f "$SCRATCH/fixture.sql" >/dev/null
sql -c "SELECT bloom_register_guard('person_register', 0.9, 'reject')" -c "INSERT INTO person SELECT id + 40000, surname, given || 'a', dob + 3000, 'Rom' FROM source WHERE id BETWEEN 300 AND 340" -c 'DELETE FROM person WHERE id % 11 = 0' >/dev/null
answers() {
    entities registered
    sql -c 'SELECT s.id, m.* FROM source AS s, bloom_register_match($$person_register$$, to_jsonb(s) - $$id$$, 0.5) AS m ORDER BY 1, 2' \
        -c "SELECT p.entities, p.change, p.size, p.others FROM bloom_register_preview('person_register', (SELECT to_jsonb(s) FROM source AS s WHERE id = 3)) AS p ORDER BY 1, 2"
}
before=$(answers)
cluster_caught_up register_one register_two
export PGDATABASE=registered
diff <(echo "$before") <(answers) || die 'the standby answers otherwise'
sql -c "SELECT refused(\$\$SELECT * FROM bloom_register_check('person_register')\$\$, '25006', 'during recovery')" \
    -c "SELECT refused(\$\$SELECT bloom_entities_create('person_register', 'x')\$\$, '25006', 'during recovery')" -c "SELECT refused(\$\$SELECT bloom_register_drop('person_register')\$\$, '25006', 'during recovery')" >/dev/null
as_server "$PGBIN/pg_ctl" promote -w -s -D "$(cluster_dir register_two)"
goes_on registered 'promoted'
told 'a standby, promoted'

cluster_use register_one
export PGDATABASE=registered
sql -c 'DROP TRIGGER person_id_guard ON person' -c 'CREATE PUBLICATION people FOR TABLE person'
cluster_use register_two
export PGDATABASE=registered
sql -c 'DROP TRIGGER person_id_guard ON person' -c "SELECT bloom_entities_create('person_register', 'heard', 0.5, 'average')" -c "SELECT bloom_register_guard('person_register', 0.9, 'flag', 'review', 'suspect')" -c 'TRUNCATE person' \
    -c "CREATE SUBSCRIPTION people CONNECTION 'host=$SCRATCH/register_one port=5432 user=postgres dbname=registered' PUBLICATION people" >/dev/null
on_one() { PGHOST=$SCRATCH/register_one sql "$@"; }
# Until the subscriber has what has been published.
applied() {
    local i state='SELECT count(*), md5(string_agg(p::text, $$ $$ ORDER BY id)) FROM person AS p' published
    published=$(on_one -c "$state")
    for ((i = 0; i < 300; i++)); do
        [[ $(sql -c "$state") != "$published" ]] || break
        sleep 0.1
    done
    ((i < 300)) || die "$1: the subscriber does not catch up: $(tail -n 5 "$SCRATCH/register_two/log")"
    sql -c "SELECT whole('subscriber: $1')" >/dev/null
}
applied 'first copy'
on_one -c 'INSERT INTO person SELECT id + 50000, given, surname, dob, city FROM source WHERE id < 120' -c 'UPDATE person SET id = id + 500000 WHERE id % 5 = 0' -c "UPDATE person SET surname = surname || 'x', dob = NULL WHERE id % 9 = 0" \
    -c 'DELETE FROM person WHERE id % 8 = 0' -c 'BEGIN' -c 'INSERT INTO person VALUES (77, $$Otto$$)' -c 'SAVEPOINT a' -c 'DELETE FROM person' -c 'ROLLBACK TO a' -c 'COMMIT'
applied 'changes'
[[ $(sql -c 'SELECT count(*) FROM suspect') == 0 ]] || die 'a guard fires where changes are applied'
on_one -c 'TRUNCATE person' -c 'INSERT INTO person SELECT * FROM source WHERE id < 100'
applied 'TRUNCATE'
sql -c 'ALTER TABLE person ENABLE ALWAYS TRIGGER person_id_guard'
on_one -c 'INSERT INTO person SELECT * FROM source WHERE id BETWEEN 10000 AND 10060'
applied 'a guard that flags'
[[ $(sql -c 'SELECT count(DISTINCT key) FROM suspect') == 60 ]] || die 'the guard of the subscriber has not seen all'
sql -c 'DROP TRIGGER person_id_guard ON person' -c "SELECT bloom_register_guard('person_register', 0.9, 'reject')" -c 'ALTER TABLE person ENABLE ALWAYS TRIGGER person_id_guard' >/dev/null
on_one -c 'INSERT INTO person SELECT id + 60000, given, surname, dob, city FROM source WHERE id = 7'
for ((i = 0; i < 300; i++)); do
    [[ $(sql -c 'SELECT apply_error_count > 0 FROM pg_stat_subscription_stats') != t ]] || break
    sleep 0.1
done
grep -q 'new row for relation "person" is probably the same' "$SCRATCH/register_two/log" || die 'the guard of the subscriber lets a duplicate in'
sql -c "SELECT whole('stopped by the guard')" -c 'DROP TRIGGER person_id_guard ON person' >/dev/null
applied 'after the guard'
sql -c 'DROP SUBSCRIPTION people'
on_one -c 'DROP PUBLICATION people'
cluster_stop register_two
told 'logical replication'

# What is prepared is kept through a crash, and others wait for it.
cluster_use register_one
export PGDATABASE=registered
sql -c 'TRUNCATE person' -c "SELECT bloom_register_guard('person_register', 0.9, 'reject')" -c 'INSERT INTO person SELECT * FROM source WHERE id BETWEEN 200 AND 400' -c 'BEGIN' -c "INSERT INTO person VALUES (1, 'Hugo', 'Einmalig', '1899-12-31', 'Graz')" \
    -c "INSERT INTO decision (a, b, decision) VALUES ('200', '201', 'same')" -c 'DELETE FROM person WHERE id = 202' -c "PREPARE TRANSACTION 'one'" >/dev/null
cluster_kill register_one
cluster_start register_one
for what in "INSERT INTO person VALUES (2, 'Hugo', 'Einmalich', '1899-12-31', 'Graz')" "INSERT INTO decision (a, b, decision) VALUES ('203', '204', 'same')"; do
    ! sql -c "SET lock_timeout = '200ms'" -c "$what" 2>"$SCRATCH/waits" || die "$what does not wait"
    grep -q 'lock timeout' "$SCRATCH/waits" || die "$(cat "$SCRATCH/waits")"
done
sql -c "INSERT INTO person VALUES (3, 'Kunigunde', 'Achtelfass', '1922-02-02', 'Graz')" -c "COMMIT PREPARED 'one'" -c "SELECT refused(\$\$INSERT INTO person VALUES (2, 'Hugo', 'Einmalich', '1899-12-31', 'Graz')\$\$, '23P85', 'probably the same')" \
    -c "SELECT whole('COMMIT PREPARED')" -c 'BEGIN' -c "INSERT INTO person VALUES (4, 'Wolf', 'Siebenschein', '1911-11-11', 'Graz')" -c 'DELETE FROM person WHERE id = 205' -c "PREPARE TRANSACTION 'two'" -c "ROLLBACK PREPARED 'two'" \
    -c "INSERT INTO person VALUES (5, 'Wolf', 'Siebenschein', '1911-11-11', 'Graz')" -c "SELECT whole('ROLLBACK PREPARED')" >/dev/null
[[ $(sql -c "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == 0 ]] || die 'locks are left'
# Who notifies cannot be prepared.
! sql -c "SELECT bloom_entities_create('person_register', 'heard', 0.5, 'centre')" -c 'BEGIN' -c "INSERT INTO person VALUES (6, 'Ida', 'Neuntoeter', '1933-03-03', 'Graz')" -c "PREPARE TRANSACTION 'three'" 2>"$SCRATCH/waits" >/dev/null || die 'a notification was prepared'
grep -q 'cannot PREPARE a transaction that has executed LISTEN, UNLISTEN, or NOTIFY' "$SCRATCH/waits" || die "$(cat "$SCRATCH/waits")"
sql -c "SELECT bloom_entities_drop('person_register', 'heard')" >/dev/null
told 'prepared transactions'

# pg_upgrade, into a cluster of the same release.
crashed=register_one
if [[ -x $PGBIN/pg_upgrade ]]; then
    sql -c 'DELETE FROM person WHERE id < 10'
    before=$(entities registered)
    cluster_init register_new
    cluster_stop register_one
    AS_SERVER_DIR=$SCRATCH/register_new as_server env -u PGHOST -u PGPORT -u PGDATABASE "$PGBIN/pg_upgrade" --link -U postgres -b "$PGBIN" -B "$PGBIN" -d "$(cluster_dir register_one)" -D "$(cluster_dir register_new)" \
        -s "$SCRATCH/register_new" >"$SCRATCH/upgrade.log" 2>&1 || die "$(tail -n 20 "$SCRATCH/upgrade.log")"
    crashed=register_new
    cluster_conf register_new 'wal_level = minimal' 'max_wal_senders = 0'
    cluster_start register_new
    cluster_use register_new
    export PGDATABASE=registered
    diff <(echo "$before") <(entities registered) || die 'pg_upgrade: entities have other numbers'
    goes_on registered 'pg_upgrade'
    told 'pg_upgrade'
fi
cluster_use $crashed
export PGDATABASE=registered

# The server is killed at work; with wal_level = minimal, what is written to a table of the same transaction is not in the WAL.
kill_and_start() {
    cluster_kill $crashed
    cluster_start $crashed
}
sql -c 'DROP TRIGGER person_id_guard ON person' -c 'TRUNCATE person' -c 'INSERT INTO person SELECT * FROM source' -c "INSERT INTO person SELECT 100000 + i, initcap(left(md5(i::text), 7)), initcap(substr(md5(i::text), 8, 8)), date '1900-01-01' + i * 7 % 36500, 'Rom' FROM generate_series(1, 1500) AS i"
makes() {
    case $1 in
        register) echo "SELECT bloom_register_create(model, 'person', 'id', 'other') FROM fitted" ;;
        refit) echo "SELECT count(*) FROM fitted, bloom_register_refit('person_register', jsonb_set(model, '{searches}', (model -> 'searches') - 0 || '{\"equal\": [\"surname\", \"city\"], \"most\": $((RANDOM % 1000 + 4)), \"pairs_per_record\": 1, \"matches_per_record\": 0.1}'), apply => true, options => '{\"sample\": 0}')" ;;
        entities) echo "SELECT bloom_entities_create('person_register', 'later', 0.3, 'average', notify => false)" ;;
        repair) echo "SELECT count(*) FROM bloom_register_check('person_register', repair => true)" ;;
    esac
}
# What was made is in the register, or nothing of it is there.
check_made() {
    sql -c "SELECT whole('$1')" -c "SELECT whole('$1: other', 'other') WHERE to_regclass('other') IS NOT NULL" \
        -c "SELECT 1 / (count(*) IN (0, 2))::int FROM pg_class WHERE relname IN ('other', 'other_keys')" -c "SELECT 1 / (count(*) IN (0, 2))::int FROM pg_class WHERE relname IN ('later', 'later_changes')" \
        -c "SELECT bloom_register_drop(r) FROM to_regclass('other') AS r WHERE r IS NOT NULL" -c "SELECT bloom_entities_drop('person_register', 'later') WHERE to_regclass('later') IS NOT NULL" >/dev/null
}
state() {
    entities registered
    sql -c 'SELECT md5(string_agg(k::text, $$ $$ ORDER BY key, id)), (SELECT md5(r::text) FROM person_register AS r) FROM person_register_keys AS k'
}
for what in register refit entities repair; do
    # a session that is killed while it works, which ends all others
    for ((i = 1; i <= crashes; i++)); do
        sql -c "SET application_name = 'maker'" -c "$(makes $what)" -c 'SELECT pg_sleep(600)' >/dev/null 2>&1 &
        made=$!
        pid=
        until [[ -n $pid ]]; do pid=$(sql -c "SELECT pid FROM pg_stat_activity WHERE application_name = 'maker' AND query !~ 'maker'"); done
        sleep "0.$(printf '%03d' $((RANDOM % 500)))"
        kill -KILL "$pid"
        wait $made || true
        for ((j = 0; j < 300; j++)); do
            ! sql -c 'SELECT 1' >/dev/null 2>&1 || break
            sleep 0.05
        done
        check_made "a session that was killed: $what"
    done
    # before the transaction ends, and as soon as it has
    before=$(state)
    sql -c "SET application_name = 'maker'" -c 'BEGIN' -c "$(makes $what)" -c 'DELETE FROM person WHERE id % 3 = 0' -c 'SELECT pg_sleep(600)' >/dev/null 2>&1 &
    made=$!
    until [[ $(sql -c "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'maker' AND query ~ 'sleep'") == 1 ]]; do sleep 0.02; done
    kill_and_start
    wait $made || true
    diff <(echo "$before") <(state) || die "$what: something is left of a transaction that was not committed"
    sql -c "$(makes $what)" -c 'INSERT INTO person SELECT id + 70000, given, surname, dob, city FROM source WHERE id % 50 = 0 ON CONFLICT DO NOTHING' >/dev/null
    kill_and_start
    check_made "committed: $what"
done
told 'crashes within what makes registers and entities'

# What a guard has let in, and a client was told to be committed, is there; nobody else has got past the guard. An unlogged table is empty afterwards, and so is its register.
sql -c 'TRUNCATE person' -c "SELECT bloom_register_guard('person_register', 0.9, 'reject')" -c 'CREATE UNLOGGED TABLE fleeting (LIKE person INCLUDING ALL)' -c "SELECT bloom_register_create(model, 'fleeting', 'id') FROM fitted" -c "SELECT bloom_entities_create('fleeting_register', 'flown', 0.5)" \
    -c 'INSERT INTO fleeting SELECT * FROM source' >/dev/null
write() {
    local session=$1 n=0 base
    while :; do
        base=$((n % 200 + 1)) n=$((n + 1))
        psql -XAtq -c "INSERT INTO person SELECT $session * 1000000 + $n, given, CASE WHEN $session = 1 THEN surname ELSE surname || 's' END, dob, 'Ulm' FROM source WHERE id = $base RETURNING id" 2>>"$SCRATCH/write.errors" || [[ -e $SCRATCH/write.go ]] || break
    done >"$SCRATCH/written.$session"
}
for ((i = 1; i <= crashes; i++)); do
    touch "$SCRATCH/write.go"
    write $((2 * i - 1)) &
    one=$!
    write $((2 * i)) &
    two=$!
    sleep "0.$((RANDOM % 5 + 5))"
    rm "$SCRATCH/write.go"
    kill_and_start
    wait $one $two || true
    cat "$SCRATCH"/written.$((2 * i - 1)) "$SCRATCH"/written.$((2 * i)) | sql -c 'CREATE TEMP TABLE told (id int)' -c '\copy told FROM STDIN' -c 'SELECT 1 / (count(*) = 0)::int FROM told WHERE id NOT IN (SELECT id FROM person)' >/dev/null || die 'what was committed is lost'
    sql -c "SELECT whole('guarded inserts')" -c "SELECT whole('unlogged', 'fleeting_register')" -c "SELECT refused('SELECT 1 / count(*) FROM person AS p, bloom_register_match(\$\$person_register\$\$, to_jsonb(p), 0.9) AS m', '22012', 'division')" \
        -c 'INSERT INTO fleeting SELECT * FROM source' -c "SELECT whole('unlogged, later', 'fleeting_register')" >/dev/null
done
told "crashes within guarded inserts, of which $(sql -c 'SELECT count(*) FROM person') were committed"
