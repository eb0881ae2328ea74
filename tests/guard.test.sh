#!/usr/bin/env bash
# bloom_guard with many sessions at once: whatever they do, no two similar rows are there in the end; with every kind
# of index, savepoints, all isolation levels, and prepared transactions.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

seconds=${GUARD_SECONDS:-4}
sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

cluster_init guard
cluster_conf guard 'max_prepared_transactions = 10' 'statement_timeout = 60s'
cluster_start guard
cluster_use guard

sql -c 'CREATE EXTENSION bloom_ident' -c '
    CREATE TABLE outcome (outcome text);
    CREATE SEQUENCE ids' -c "
    -- one of 40 names of 20 letters, written in one of several ways
    CREATE FUNCTION some_name() RETURNS text LANGUAGE sql AS \$\$
        SELECT translate(left(md5(floor(random() * 40)::text), 20), '0123456789', 'ghijklmnop')
            || (ARRAY['', ' ', 'x', 'yx', '-'])[1 + floor(random() * 5)::int] \$\$;
    CREATE FUNCTION change(what text) RETURNS void LANGUAGE plpgsql AS \$\$
    BEGIN
        SET CONSTRAINTS ALL DEFERRED;
        EXECUTE what;
        SET CONSTRAINTS ALL IMMEDIATE;
        INSERT INTO outcome VALUES ('done');
    EXCEPTION
        WHEN SQLSTATE '23P85' THEN INSERT INTO outcome VALUES ('refused');
        WHEN deadlock_detected THEN INSERT INTO outcome VALUES ('deadlock');
        WHEN serialization_failure THEN INSERT INTO outcome VALUES ('serialization');
    END \$\$;"

cat >"$SCRATCH/guard/changes.sql" <<'SQL'
\set insert random(1, 3)
\set level random(1, 4)
\if :level = 1
BEGIN ISOLATION LEVEL REPEATABLE READ;
\elif :level = 2
BEGIN ISOLATION LEVEL SERIALIZABLE;
\else
BEGIN;
\endif
SELECT change('INSERT INTO person (id, name) VALUES (nextval(''ids''), some_name())');
\if :insert = 1
SELECT change('UPDATE person SET name = some_name() WHERE id = (SELECT id FROM person ORDER BY random() LIMIT 1)');
\elif :insert = 2
SELECT change('DELETE FROM person WHERE id = (SELECT id FROM person ORDER BY random() LIMIT 1)');
\else
SELECT change('INSERT INTO person (id, name) SELECT nextval(''ids''), some_name() ON CONFLICT DO NOTHING');
\endif
END;
SQL

# What pgbench has written: why a client has ended is above all the rest.
said() { grep -h 'ERROR\|error' "$SCRATCH/guard/pgbench.log" | head -n 5; tail -n 12 "$SCRATCH/guard/pgbench.log"; }
# run INDEX DEFINITION-OF-THE-TRIGGER
run() {
    local pairs
    sql -c 'DROP TABLE IF EXISTS person; TRUNCATE outcome' -c "
        CREATE TABLE person (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
        $1;
        $2 FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.7', 'reject')" >/dev/null 2>&1
    # with tries, for what serialization makes of a COMMIT
    PGOPTIONS='-c client_min_messages=error' pgbench -n -c 8 -j 2 -f "$SCRATCH/guard/changes.sql" -T "$seconds" \
        --max-tries=1000 postgres >"$SCRATCH/guard/pgbench.log" 2>&1 || die "$1: $(said)"
    pairs=$(sql -c 'SELECT count(*) FROM person AS a JOIN person AS b ON a.id < b.id AND bloom_sim(a.sig, b.sig) >= 0.7')
    [[ $pairs == 0 ]] || die "$1: $pairs pairs of similar rows got past the guard"
    [[ $(sql -c "SELECT count(*) > 20 AND count(*) FILTER (WHERE outcome = 'refused') > 20 FROM outcome") == t ]] ||
        die "$1: too little happened: $(sql -c 'SELECT outcome, count(*) FROM outcome GROUP BY 1'; said)"
    say "$3: $(sql -c "SELECT string_agg(n || ' ' || outcome, ', ' ORDER BY outcome) FROM (SELECT outcome, count(*) AS n FROM outcome GROUP BY 1) AS o")"
}
after='CREATE TRIGGER guard AFTER INSERT OR UPDATE ON person'
run 'CREATE INDEX ON person USING sigfile (sig) WITH (tail_limit = 64)' "$after" sigfile
run 'CREATE INDEX ON person USING gist (sig)' "$after" gist
run 'SELECT 1' "$after" 'no index'
run 'CREATE INDEX ON person USING sigfile (sig)' \
    'CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON person DEFERRABLE INITIALLY DEFERRED' deferred

# The same within tenants, to which rows also come from others, by an UPDATE that leaves the signature and its index entry alone.
cat >"$SCRATCH/guard/tenants.sql" <<'SQL'
\set what random(1, 4)
\set level random(1, 3)
\if :level = 1
BEGIN ISOLATION LEVEL REPEATABLE READ;
\else
BEGIN;
\endif
SELECT change('INSERT INTO person (id, tenant, name) VALUES (nextval(''ids''), nullif(floor(random() * 12)::int, 0), some_name())');
\if :what = 1
SELECT change('UPDATE person SET name = some_name() WHERE id = (SELECT id FROM person ORDER BY random() LIMIT 1)');
\elif :what = 2
SELECT change('DELETE FROM person WHERE id = (SELECT id FROM person ORDER BY random() LIMIT 1)');
\else
SELECT change('UPDATE person SET tenant = nullif(floor(random() * 12)::int, 0) WHERE id = (SELECT id FROM person ORDER BY random() LIMIT 1)');
\endif
END;
SQL
# run_within INDEX DEFINITION-OF-THE-TRIGGER DESCRIPTION
run_within() {
    local pairs log=$SCRATCH/guard/pgbench.log
    sql -c 'DROP TABLE IF EXISTS person; TRUNCATE outcome' -c "
        CREATE TABLE person (id int PRIMARY KEY, tenant int, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED) WITH (fillfactor = 50);
        $1;
        $2 FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.7', 'reject', 'within', 'tenant')" >/dev/null 2>&1
    PGOPTIONS='-c client_min_messages=error' pgbench -n -c 8 -j 2 -f "$SCRATCH/guard/tenants.sql" -T "$seconds" \
        --max-tries=1000 postgres >"$log" 2>&1 || die "$1: $(said)"
    pairs=$(sql -c 'SELECT count(*) FROM person AS a JOIN person AS b ON a.id < b.id AND a.tenant = b.tenant AND bloom_sim(a.sig, b.sig) >= 0.7')
    [[ $pairs == 0 ]] || die "$1: $pairs pairs of similar rows of one tenant got past the guard"
    pairs=$(sql -c 'SELECT count(*) FROM person AS a JOIN person AS b ON a.id < b.id AND bloom_sim(a.sig, b.sig) >= 0.7')
    ((pairs > 20)) || die "$1: no more than $pairs pairs of two tenants"
    [[ $(sql -c "SELECT count(*) > 20 AND count(*) FILTER (WHERE outcome = 'refused') > 20 FROM outcome") == t ]] ||
        die "$1: too little happened: $(sql -c 'SELECT outcome, count(*) FROM outcome GROUP BY 1'; said)"
    say "within tenants, $3: $(sql -c "SELECT string_agg(n || ' ' || outcome, ', ' ORDER BY outcome) FROM (SELECT outcome, count(*) AS n FROM outcome GROUP BY 1) AS o")"
}
run_within 'CREATE INDEX ON person USING sigfile (sig) WITH (tail_limit = 64)' "$after" sigfile
run_within 'SELECT 1' "$after" 'no index'
run_within 'CREATE INDEX ON person USING gist (sig)' \
    'CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON person DEFERRABLE INITIALLY DEFERRED' 'gist, deferred'
if [[ $(sql -c "SELECT count(*) FROM pg_available_extensions WHERE name = 'btree_gist'") == 1 ]]; then
    sql -c 'CREATE EXTENSION btree_gist'
    run_within 'CREATE INDEX ON person USING gist (tenant, sig)' "$after" 'gist of both columns'
else
    say 'no btree_gist here: an index of both columns is not tested'
fi

# Rows that are compared by their tokens, which an UPDATE changes in place: all of them have the same bits, and so may be similar.
cat >"$SCRATCH/guard/tokens.sql" <<'SQL'
\set what random(1, 4)
\set level random(1, 3)
\if :level = 1
BEGIN ISOLATION LEVEL REPEATABLE READ;
\else
BEGIN;
\endif
SELECT change('INSERT INTO person (id, tokens) VALUES (nextval(''ids''), some_tokens())');
\if :what = 1
SELECT change('UPDATE person SET tokens = some_tokens() WHERE id = (SELECT id FROM person ORDER BY random() LIMIT 1)');
\elif :what = 2
SELECT change('DELETE FROM person WHERE id = (SELECT id FROM person ORDER BY random() LIMIT 1)');
\else
SELECT change('UPDATE person SET note = note || ''x'' WHERE id = (SELECT id FROM person ORDER BY random() LIMIT 1)');
\endif
END;
SQL
sql -c "
    -- one of 40 sets, with a token more; long ones are stored out of line
    CREATE FUNCTION some_tokens() RETURNS text[] LANGUAGE sql AS \$\$
        SELECT array_agg(md5((c + t)::text)) FROM (SELECT floor(random() * 40)::int * 100000 AS c) AS s, LATERAL
            (SELECT t FROM generate_series(1, CASE c % 200000 WHEN 0 THEN 8 ELSE 80 END) AS t UNION ALL SELECT 100 + floor(random() * 100)::int) AS t \$\$"
# run_tokens INDEX DEFINITION-OF-THE-TRIGGER DESCRIPTION
run_tokens() {
    local pairs log=$SCRATCH/guard/pgbench.log
    sql -c 'DROP TABLE IF EXISTS person; TRUNCATE outcome' -c "
        CREATE TABLE person (id int PRIMARY KEY, note text DEFAULT '', tokens text[], sig minhash_bits(64) DEFAULT minhash_bits('{a}', 64)) WITH (fillfactor = 50);
        ALTER TABLE person ALTER tokens SET STORAGE EXTERNAL;
        $1;
        $2 FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.7', 'reject', 'verify', 'tokens')" >/dev/null 2>&1
    PGOPTIONS='-c client_min_messages=error' pgbench -n -c 8 -j 2 -f "$SCRATCH/guard/tokens.sql" -T "$seconds" \
        --max-tries=1000 postgres >"$log" 2>&1 || die "$1: $(said)"
    pairs=$(sql -c 'SELECT count(*) FROM person AS a JOIN person AS b ON a.id < b.id AND ident_token_sim(a.tokens, b.tokens) >= 0.7')
    [[ $pairs == 0 ]] || die "$1: $pairs pairs of similar tokens got past the guard"
    [[ $(sql -c "SELECT count(*) > 20 AND count(*) FILTER (WHERE outcome = 'refused') > 20 FROM outcome") == t ]] ||
        die "$1: too little happened: $(sql -c 'SELECT outcome, count(*) FROM outcome GROUP BY 1'; said)"
    say "by tokens, $3: $(sql -c "SELECT string_agg(n || ' ' || outcome, ', ' ORDER BY outcome) FROM (SELECT outcome, count(*) AS n FROM outcome GROUP BY 1) AS o")"
}
run_tokens 'CREATE INDEX ON person USING sigfile (sig) WITH (tail_limit = 64)' "$after" sigfile
run_tokens 'CREATE INDEX ON person USING gist (sig)' \
    'CREATE CONSTRAINT TRIGGER guard AFTER INSERT OR UPDATE ON person DEFERRABLE INITIALLY DEFERRED' 'gist, deferred'
run_tokens 'SELECT 1' "$after" 'no index'

# A row that moves in the table while others look for it, and is not checked since its signature stays the same, is found.
# move INDEX DESCRIPTION
move() {
    local rows log=$SCRATCH/guard/pgbench.log
    sql -c 'DROP TABLE IF EXISTS person' -c "
        CREATE TABLE person (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED, visits int);
        CREATE INDEX ON person (visits);
        $1;
        INSERT INTO person (id, name, visits) SELECT i, md5(i::text), 0 FROM generate_series(2, 3000) AS i;
        INSERT INTO person (id, name, visits) VALUES (1, 'Erika Mustermann', 0);
        $after FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.7', 'reject')" >/dev/null 2>&1
    echo 'UPDATE person SET visits = visits + 1 WHERE id = 1' >"$SCRATCH/guard/visit.sql"
    echo "SELECT change('INSERT INTO person (id, name) VALUES (nextval(''ids'') + 10000, ''Erika Mustermann'')')" >"$SCRATCH/guard/enter.sql"
    PGOPTIONS='-c client_min_messages=error' pgbench -n -c 4 -j 2 -f "$SCRATCH/guard/visit.sql" -f "$SCRATCH/guard/enter.sql" \
        -T "$seconds" postgres >"$log" 2>&1 || die "$1: $(said)"
    rows=$(sql -c "SELECT count(*) FROM person WHERE name = 'Erika Mustermann'")
    [[ $rows == 1 ]] || die "$1: $((rows - 1)) rows got past the guard while the row that they are similar to was updated"
    say "$2: no row got past one that is updated, in $(sql -c 'SELECT visits FROM person WHERE id = 1') updates"
}
move 'CREATE INDEX ON person USING sigfile (sig)' sigfile
move 'CREATE INDEX ON person USING gist (sig)' gist
move 'SELECT 1' 'no index'

# A prepared transaction keeps others waiting, no matter who has prepared it.
sql -c 'TRUNCATE person' -c 'CREATE INDEX ON person USING sigfile (sig)' -c 'DROP TRIGGER guard ON person' -c "$after FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.7', 'reject')"
insert() { sql -c "SET lock_timeout = '$1'; INSERT INTO person (id, name) VALUES ($2, 'Erika Mustermann')" 2>&1 | head -n 1; }
expect() { [[ $1 == "$2" ]] || die "expected \"$2\", got \"$1\""; }
refused='ERROR:  new row for relation "person" is too similar to an existing row'
sql -c "BEGIN; INSERT INTO person (id, name) VALUES (1, 'Erika Mustermann'); PREPARE TRANSACTION 'one'"
expect "$(insert 200ms 2)" 'ERROR:  canceling statement due to lock timeout'
expect "$(insert 0 3 & sleep 0.5; sql -c "COMMIT PREPARED 'one'"; wait)" "$refused"
sql -c 'TRUNCATE person'
sql -c "BEGIN; INSERT INTO person (id, name) VALUES (1, 'Erika Mustermann'); PREPARE TRANSACTION 'two'"
cluster_kill guard
cluster_start guard
expect "$(insert 200ms 3)" 'ERROR:  canceling statement due to lock timeout'
expect "$(insert 0 4 & sleep 0.5; sql -c "ROLLBACK PREPARED 'two'"; wait)" ''
expect "$(insert 0 5)" "$refused"
expect "$(sql -c 'SELECT id FROM person')" 4

# Whether a trigger fires where changes are replicated is for ALTER TABLE … ENABLE TRIGGER to say, as with others.
expect "$(sql -c "SET session_replication_role = replica; INSERT INTO person (id, name) VALUES (6, 'Erika Mustermann')" 2>&1)" ''
sql -c 'ALTER TABLE person ENABLE ALWAYS TRIGGER guard'
expect "$(sql -c "SET session_replication_role = replica; INSERT INTO person (id, name) VALUES (7, 'Erika Mustermann')" 2>&1 | head -n 1)" "$refused"

# A guard that is ENABLE ALWAYS works in the worker that applies changes, too: one that skips leaves rows out, one that refuses stops it. Both databases
# are in one server, so the slot has to be there before.
sql -c 'ALTER SYSTEM SET wal_level = logical'
cluster_stop guard
cluster_start guard
sql -c 'CREATE DATABASE there' -c 'CREATE TABLE applied (id int PRIMARY KEY, name text, sig bloom)' -c 'CREATE PUBLICATION sent FOR TABLE applied' \
    -c "SELECT FROM pg_create_logical_replication_slot('received', 'pgoutput')"
there() { PGDATABASE=there sql "$@"; }
there -c 'CREATE EXTENSION bloom_ident' -c 'CREATE TABLE applied (id int PRIMARY KEY, name text, sig bloom)' -c 'CREATE INDEX ON applied USING sigfile (sig)' \
    -c "CREATE TRIGGER guard BEFORE INSERT ON applied FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.7', 'skip')" -c 'ALTER TABLE applied ENABLE ALWAYS TRIGGER guard' \
    -c "CREATE SUBSCRIPTION received CONNECTION 'host=$PGHOST port=$PGPORT user=postgres dbname=postgres' PUBLICATION sent WITH (create_slot = false, copy_data = false)"
# applied IDS: waits until these rows are there
applied() {
    local i found
    for ((i = 0; i < 600; i++)); do
        found=$(there -c "SELECT string_agg(id::text, ' ' ORDER BY id) FROM applied")
        [[ $found != "$1" ]] || return 0
        sleep 0.1
    done
    die "applied: $found, not $1"
}
sql -c "INSERT INTO applied SELECT i, n, bloom_signature(n) FROM unnest('{Erika Mustermann,Erika Mustermann,Otto Normal}'::text[]) WITH ORDINALITY AS u (n, i)"
applied '1 3'
there -c 'DROP TRIGGER guard ON applied' -c "CREATE TRIGGER guard AFTER INSERT ON applied FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.7', 'reject')" -c 'ALTER TABLE applied ENABLE ALWAYS TRIGGER guard'
sql -c "INSERT INTO applied VALUES (4, 'Erika Mustermann', bloom_signature('Erika Mustermann'))" -c "INSERT INTO applied VALUES (5, 'Jean Martin', bloom_signature('Jean Martin'))"
refused_there() { grep -A 4 'relation "applied" is too similar' "$SCRATCH/guard/log" | grep -q 'CONTEXT:  processing remote data'; }
for ((i = 0; i < 600; i++)); do ! refused_there || break; sleep 0.1; done
refused_there || die 'the worker that applies changes was not refused'
applied '1 3'
there -c 'ALTER TABLE applied DISABLE TRIGGER guard'
applied '1 3 4 5'
there -c 'DROP SUBSCRIPTION received'

# A block list serves foreign tables, too.
if [[ $(sql -c "SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'") == 1 ]]; then
    sql -c 'CREATE EXTENSION postgres_fdw' -c "
        CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$PGHOST', port '$PGPORT', dbname 'postgres');
        CREATE USER MAPPING FOR postgres SERVER here OPTIONS (user 'postgres')" -c "
        CREATE TABLE remote (id int, sig bloom);
        CREATE FOREIGN TABLE guest (id int, sig bloom) SERVER here OPTIONS (table_name 'remote');
        CREATE TRIGGER blocked AFTER INSERT OR UPDATE ON guest FOR EACH ROW
            EXECUTE FUNCTION bloom_guard('sig', '0.7', 'reject', 'blocklist', 'person')" -c "
        INSERT INTO guest VALUES (1, bloom_signature('Paul Klee'))" -c '
        UPDATE guest SET id = 2'
    blocked='ERROR:  new row for relation "guest" is too similar to a row of block list "person"'
    for change in "INSERT INTO guest VALUES (3, bloom_signature('erika mustermann'))" "UPDATE guest SET sig = bloom_signature('erika mustermann')"; do
        expect "$(sql -c "$change" 2>&1 | head -n 1)" "$blocked"
    done
    sql -c 'DROP TRIGGER blocked ON guest' -c "
        CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON guest FOR EACH ROW
            EXECUTE FUNCTION bloom_guard('sig', '0.7', 'skip', 'blocklist', 'person')"
    sql -c "INSERT INTO guest VALUES (3, bloom_signature('erika mustermann')), (4, bloom_signature('Max Meier'))" \
        -c "UPDATE guest SET sig = bloom_signature('erika mustermann') WHERE id = 4" 2>/dev/null
    expect "$(sql -c "SELECT id, sig = bloom_signature('Max Meier') FROM guest ORDER BY id" | tr '\n' ' ')" '2|f 4|t '
    sql -c 'DROP TRIGGER guard ON guest' -c "
        CREATE TRIGGER guard AFTER INSERT ON guest FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.7', 'reject')"
    expect "$(sql -c "INSERT INTO guest VALUES (5, bloom_signature('x'))" 2>&1 | head -n 1)" 'ERROR:  cannot check against relation "guest"'
else
    say 'no postgres_fdw here: guards of foreign tables are not tested'
fi
