#!/usr/bin/env bash
# tests/citus_guard.test.sh: a guard over all shards lets no two similar rows in, by whatever way, from many sessions and nodes at once, also when a worker ends in the
# midst of a commit. Citus is built from the source that CITUS_SOURCE names, and nothing is tested without it.

# shellcheck source=tests/citus.sh
source "$(dirname "${BASH_SOURCE[0]}")/citus.sh"

pairs=${CITUS_GUARD_PAIRS:-600}
in_person='SELECT count(*) FROM person'

citus_start 3
sql >/dev/null <<'SQL'
CREATE TABLE person (id bigint PRIMARY KEY, name text, note text DEFAULT 'none', sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
SELECT create_distributed_table('person', 'id', shard_count => 12);
CREATE INDEX person_sig ON person USING sigfile (sig);
CREATE ROLE app LOGIN;
GRANT SELECT, DELETE ON person TO app;
GRANT UPDATE (note) ON person TO app;
SELECT bloom_citus_guard_create('person', 'sig', 0.75, 'reject');
GRANT INSERT, SELECT ON person_entry TO app;
SQL

# Each way to write, by a role that has only the entry: what is similar is refused with all of its statement, and nothing of it is in.
export PGUSER=app
sql -c "INSERT INTO person_entry (id, name) VALUES (1, 'Erika Mustermann'), (2, 'Jörg Müller'), (3, NULL), (4, NULL), (5, ''), (6, '')"
is 6 "$in_person"
[[ $(sql -c "INSERT INTO person_entry (id, name) VALUES (7, 'Sean Connery') RETURNING id, note, sig IS NOT NULL") == '7|none|t' ]] || die 'RETURNING is otherwise'
refused 23P85 "INSERT INTO person_entry (id, name) VALUES (8, 'Erica Mustermann')"
refused 23P85 "INSERT INTO person_entry (id, name) VALUES (8, 'Roger Moore'), (9, 'Roger Moore')"
refused 23P85 "INSERT INTO person_entry (id, name) SELECT id + 100, name FROM person WHERE id < 3"
refused 23P85 BEGIN "INSERT INTO person_entry (id, name) VALUES (8, 'Roger Moore')" "INSERT INTO person_entry (id, name) VALUES (9, 'Roger Moore')"
refused 23P85 "PREPARE enter (bigint, text) AS INSERT INTO person_entry (id, name) VALUES (\$1, \$2)" "EXECUTE enter (8, 'Erica Mustermann')"
# As often as it takes to have a plan for all parameters, here and in the trigger.
often=(-c BEGIN -c "PREPARE enter (bigint, text) AS INSERT INTO person_entry (id, name) VALUES (\$1, \$2)" -c "$(printf "EXECUTE enter (%s, md5('%s'));" {11..17}{,})")
sql "${often[@]}" -c ROLLBACK
[[ $(sql "${often[@]}" -c "EXECUTE enter (18, 'Erica Mustermann')" 2>&1) == *'too similar'* ]] || die 'a statement that was prepared is not refused when it has run often'
refused 23P85 "DO 'BEGIN INSERT INTO person_entry (id, name) VALUES (8, ''Erica Mustermann''); END'"
refused 23P85 "WITH new AS (INSERT INTO person_entry (id, name) VALUES (8, 'Erica Mustermann') RETURNING id) SELECT * FROM new"
refused 23P85 "INSERT INTO person_entry (id, name) VALUES (8, 'Erica Mustermann') ON CONFLICT DO NOTHING"
refused 42P10 "INSERT INTO person_entry (id, name) VALUES (8, 'Erica Mustermann') ON CONFLICT (id) DO NOTHING"
refused 23P85 "MERGE INTO person_entry AS e USING (VALUES (8, 'Erica Mustermann')) AS v (id, name) ON e.id = v.id WHEN NOT MATCHED THEN INSERT (id, name) VALUES (v.id, v.name)"
[[ $(sql -c "\\copy person_entry (id, name) FROM PROGRAM 'printf \"8\\tRoger Moore\\n9\\tErica Mustermann\\n\"'" 2>&1) == *'too similar'* ]] || die 'COPY is not refused'
refused 23505 "INSERT INTO person_entry (id, name) VALUES (1, 'Timothy Dalton')"
# The isolation makes no difference: the search sees what is there, and not what the transaction sees.
for level in 'REPEATABLE READ' SERIALIZABLE; do
    refused 23P85 "BEGIN ISOLATION LEVEL $level" "$in_person" "INSERT INTO person_entry (id, name) VALUES (8, 'Erica Mustermann')"
done
sql -c "DO 'BEGIN INSERT INTO person_entry (id, name) VALUES (8, ''Erica Mustermann''); EXCEPTION WHEN integrity_constraint_violation THEN NULL; END'"
# The shards on this node or a setting of the session must not take its rows out of the transaction.
refused 23P85 'SET citus.function_opens_transaction_block = off' "INSERT INTO person_entry (id, name) VALUES (8, 'Roger Moore'), (9, 'Roger Moore')"
refused 23P85 'SET citus.enable_local_execution = off' "INSERT INTO person_entry (id, name) VALUES (8, 'Roger Moore'), (9, 'Roger Moore')"
refused 23P85 'SET citus.force_max_query_parallelization = on' 'SET plan_cache_mode = force_generic_plan' BEGIN "INSERT INTO person_entry (id, name) VALUES (8, 'Roger Moore')" "INSERT INTO person_entry (id, name) VALUES (9, 'Roger Moore')"
is 7 "$in_person"
# The other ways are closed to it; that of the owner is not.
shard=$(sql -c "SELECT shard_name('person'::regclass, get_shard_id_for_distribution_column('person', 8))")
for way in "INSERT INTO person (id, name) VALUES (8, 'Erica Mustermann')" "INSERT INTO person (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = 'Jörg Müller'" \
    "UPDATE person SET name = 'Jörg Müller' WHERE id = 1" "COPY person (id, name) FROM PROGRAM 'true'" "TRUNCATE person" "SELECT * FROM person_entry_turn" \
    "INSERT INTO person_entry_turn VALUES (bloom_signature('x'))" "INSERT INTO person_entry_shards VALUES (0, 'x')" "DELETE FROM person_entry_shards WHERE key = 1" \
    "SELECT person_entry_enter(NULL, NULL)" "CREATE TEMP TABLE own (LIKE person); CREATE TRIGGER t AFTER INSERT ON own FOR EACH ROW EXECUTE FUNCTION person_entry_guard()" \
    "ALTER TABLE person_entry DISABLE TRIGGER ALL" "SELECT bloom_citus_guard_drop('person_entry')"; do
    refused 42501 "$way"
done
sql -c "UPDATE person SET note = 'seen' WHERE id = 1" -c 'DELETE FROM person WHERE id = 7'
sql -c "INSERT INTO person_entry (id, name) VALUES (7, 'Sean Connery')"
# Who may not read the table does not learn who is there.
said=$(psql -XAtq -U postgres -c 'REVOKE SELECT ON person FROM app' -c 'SET ROLE app' -c "INSERT INTO person_entry (id, name) VALUES (8, 'Erica Mustermann')" 2>&1) || true
[[ $said == *'are not shown'* && $said != *'(1)'* ]] || die "a role without SELECT is told: $said"
export PGUSER=postgres
sql -c 'GRANT SELECT ON person TO app'
for name in worker1 worker2 worker3; do
    citus_use "$name"
    refused 42P01 "INSERT INTO person_entry (id, name) VALUES (8, 'Erica Mustermann')"
    if [[ $(sql -c "SELECT to_regclass('$shard') IS NOT NULL") == t ]]; then PGUSER=app refused 42501 "INSERT INTO $shard (id, name) VALUES (8, 'Erica Mustermann')"; fi
done
citus_use coordinator
# The owner and superusers may go round it.
sql -c "INSERT INTO person (id, name) VALUES (8, 'Erica Mustermann')" -c 'DELETE FROM person WHERE id = 8'
# Who may write to the table as well is told of when the guard is created, and so are policies.
said=$(PGOPTIONS= sql -c BEGIN -c 'GRANT UPDATE (name) ON person TO app' -c 'ALTER TABLE person ENABLE ROW LEVEL SECURITY' -c "SELECT bloom_citus_guard_create('person', 'sig', 0.75, 'reject', 'another')" -c ROLLBACK 2>&1)
[[ $said == *'go round its guard: app'*'policies of relation "person" say nothing'* ]] || die "the guard is created without a warning: $said"
say 'each way is guarded or closed'

# The same person from many sessions at once: of each pair one is in, and who is refused has a partner. From the coordinator and a worker, on which the guard has been created as well.
citus_use worker1
sql -c "SELECT bloom_citus_guard_create('person', 'sig', 0.75, 'reject')" >/dev/null
citus_use coordinator
for where in 'coordinator coordinator coordinator coordinator coordinator coordinator' 'coordinator coordinator worker1 worker1 worker1 coordinator'; do
    sql -c 'DELETE FROM person'
    i=0
    processes=()
    for name in $where; do
        i=$((i + 1))
        citus_use "$name"
        # Each session enters both of each pair, or two others in one transaction, which is on two workers then.
        sql -c "SELECT CASE WHEN pair % 7 = 0 AND s = 0 THEN 'BEGIN;' ELSE '' END || format('INSERT INTO person_entry (id, name) VALUES (%s, %L);', pair * 100 + $i * 10 + s, md5((pair + CASE WHEN pair % 7 = 0 THEN 10000 * s ELSE 0 END)::text) || CASE WHEN ($i + s) % 2 = 0 THEN '' ELSE 'a' END)
                || CASE WHEN pair % 7 = 0 AND s = 1 THEN 'COMMIT;' ELSE '' END
            FROM generate_series(1, $pairs / 6) AS pair, generate_series(0, 1) AS s ORDER BY pair, s" >"$SCRATCH/session$i.sql"
        psql -XAtq -v VERBOSITY=sqlstate -f "$SCRATCH/session$i.sql" >"$SCRATCH/session$i.log" 2>&1 &
        processes+=($!)
    done
    for process in "${processes[@]}"; do wait "$process" || true; done
    citus_use coordinator
    sql -c 'DROP TABLE IF EXISTS plain' -c 'CREATE TABLE plain AS SELECT id, name, sig FROM person'
    is 0 "SELECT count(*) FROM bloom_duplicates('plain', 'id', 'sig', 0.75)"
    states=$(grep -ho 'ERROR:  .*' "$SCRATCH"/session?.log | sort | uniq -c | tr -s '\n ' ' ')
    say "$where:$states"
    [[ ! $states =~ ERROR:\ +(0A000|XX000|42|55) ]] || die "unexpected errors"
    # Who was refused had a partner: one of each is in.
    is 0 "SELECT count(*) FROM generate_series(1, $pairs / 6) AS pair WHERE NOT EXISTS (SELECT FROM plain WHERE id / 100 = pair)"
    is 0 'SELECT count(*) FROM person_entry'
done

# A worker ends after it has prepared and before it commits. The row is there, and nobody sees it, until Citus recovers it; whoever enters a similar one waits for that.
sql -c 'DELETE FROM person' -c 'ALTER SYSTEM SET citus.recover_2pc_interval = -1' -c 'SELECT pg_reload_conf()' >/dev/null
two=$(sql -c "SELECT string_agg(id::text, ' ') FROM (SELECT min(id) AS id FROM generate_series(1, 100) AS id JOIN pg_dist_placement AS p ON p.shardid = get_shard_id_for_distribution_column('person', id) GROUP BY p.groupid ORDER BY p.groupid LIMIT 2) AS x")
read -r first second <<<"$two"
node=$(sql -c "SELECT n.nodename FROM pg_dist_placement AS p JOIN pg_dist_node AS n USING (groupid) WHERE p.shardid = get_shard_id_for_distribution_column('person', $second)")
victim=$(basename "$node")
# The coordinator's own commit waits for a standby that there is not, so that the worker can end between PREPARE TRANSACTION and COMMIT PREPARED.
sql -c "ALTER SYSTEM SET synchronous_commit = 'local'" -c "ALTER SYSTEM SET synchronous_standby_names = 'nobody'" -c 'SELECT pg_reload_conf()' >/dev/null
sql -c 'SET synchronous_commit = on' -c 'SET application_name = committing' -c BEGIN \
    -c "INSERT INTO person_entry (id, name) VALUES ($first, 'Erika Mustermann'), ($second, 'Jörg Müller')" -c COMMIT >"$SCRATCH/committing.log" 2>&1 &
committing=$!
waits="SELECT count(*) FROM pg_stat_activity WHERE application_name = 'committing' AND wait_event = 'SyncRep'"
for ((i = 0; i < 300; i++)); do
    [[ $(sql -c "$waits") != 1 ]] || break
    sleep 0.1
done
is 1 "$waits"
cluster_kill "$victim"
sql -c "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'committing'" >/dev/null
wait "$committing" || die "the commit has failed: $(cat "$SCRATCH/committing.log")"
# Nothing is entered as long as a worker is down, since nobody knows what is there.
[[ $(sql -c "INSERT INTO person_entry (id, name) VALUES (900, 'Timothy Dalton')" 2>&1) == *ERROR* ]] || die 'a row is entered while a worker is down'
cluster_start "$victim"
citus_use "$victim"
is 1 'SELECT count(*) FROM pg_prepared_xacts'
citus_use coordinator
is 1 "$in_person"
refused 57014 "SET statement_timeout = '2s'" "INSERT INTO person_entry (id, name) VALUES (901, 'Joerg Müller')"
refused 23P85 "INSERT INTO person_entry (id, name) VALUES (902, 'Erica Mustermann')"
sql -c "INSERT INTO person_entry (id, name) VALUES (903, 'Timothy Dalton')"
sql -c "INSERT INTO person_entry (id, name) VALUES (904, 'Joerg Müller')" >"$SCRATCH/waiting.log" 2>&1 &
waiting=$!
sleep 1
sql -c 'SELECT recover_prepared_transactions()' >/dev/null
wait "$waiting" && die 'a row similar to one that was prepared is in'
[[ $(cat "$SCRATCH/waiting.log") == *"($second) is"* ]] || die "who has waited is told: $(cat "$SCRATCH/waiting.log")"
is 3 "$in_person"
sql -c 'ALTER SYSTEM RESET synchronous_standby_names' -c 'ALTER SYSTEM RESET synchronous_commit' -c 'SELECT pg_reload_conf()' >/dev/null
say 'a worker that ends within a commit leaves no gap'

# A row is deleted and entered anew, by the owner in one transaction; Citus does not let another role do so.
sql -c BEGIN -c 'DELETE FROM person WHERE id = 903' -c "INSERT INTO person_entry (id, name) VALUES (906, 'Timothy Daltons')" -c COMMIT
is 3 "$in_person"
PGUSER=app refused 25001 BEGIN 'DELETE FROM person WHERE id = 906' "INSERT INTO person_entry (id, name) VALUES (906, 'Timothy Dalton')"

# A guard that is no longer on the coordinator lets nobody in by another node.
sql -c "SELECT bloom_citus_guard_drop('person_entry')" >/dev/null
citus_use worker1
refused 55000 "INSERT INTO person_entry (id, name) VALUES (905, 'Roger Moore')"
sql -c "SELECT bloom_citus_guard_drop('person_entry')" >/dev/null
citus_use coordinator

# Other actions; a key of two columns; names with quotes; serial numbers; a column that is added, one that is renamed, shards that move and change.
sql >/dev/null <<'SQL'
CREATE SCHEMA "My ""things""";
CREATE TABLE "My ""things"""."Thing of $guard$ %s" ("Key, 1" text, "key 2" serial, "na""me" text NOT NULL, n integer GENERATED ALWAYS AS IDENTITY, f bigint DEFAULT 7, _own text, key text, "The sig" bloom GENERATED ALWAYS AS (bloom_signature("na""me")) STORED,
    PRIMARY KEY ("Key, 1", "key 2"));
SELECT create_distributed_table('"My ""things"""."Thing of $guard$ %s"', 'Key, 1', shard_count => 5);
SELECT bloom_citus_guard_create('"My ""things"""."Thing of $guard$ %s"', 'The sig', 0.75, 'skip', 'Enter ''%I'' here');
SQL
thing='"My ""things"""."Thing of $guard$ %s"'
enter="INSERT INTO \"My \"\"things\"\"\".\"Enter '%I' here\" (\"Key, 1\", \"na\"\"me\") VALUES"
sql -c "$enter ('a', 'Erika Mustermann'), ('b,c', 'Jörg Müller'), ('b', 'Erica Mustermann'), (E'\\'\"\\\\', 'Sean Connery')"
is '3|3|3|{1,2,4}' "SELECT count(*), count(DISTINCT n), sum(CASE WHEN f = 7 THEN 1 END), array_agg(\"key 2\" ORDER BY \"key 2\") FROM $thing"
said=$(PGOPTIONS= sql -c "$enter ('d', 'Joerg Müller')" 2>&1)
[[ $said == *'is skipped: too similar'*'key (Key, 1, key 2)=("b,c",2)'* ]] || die "a row that is skipped: $said"
sql -c "ALTER TABLE $thing ADD COLUMN added text DEFAULT 'x'" -c "$enter ('e', 'Roger Moore'), ('f', 'Roger Moore')"
is 4 "SELECT count(*) FROM $thing WHERE added = 'x'"
sql >/dev/null <<SQL
SELECT bloom_citus_guard_drop('"My ""things"""."Enter ''%I'' here"');
SELECT bloom_citus_guard_create('$thing', 'The sig', 0.75, 'warn', 'Enter ''%I'' here');
SQL
said=$(PGOPTIONS= sql -c "$enter ('g', 'Roger Moore')" 2>&1)
[[ $said == *WARNING*'too similar'*'is 1.0000'* ]] || die "a row that is warned of: $said"
is 5 "SELECT count(*) FROM $thing"
shard=$(sql -c "SELECT min(shardid) FROM pg_dist_shard WHERE logicalrelid = '$thing'::regclass")
from=$(sql -c "SELECT nodename FROM pg_dist_shard_placement WHERE shardid = $shard")
to=$(sql -c "SELECT nodename FROM pg_dist_node WHERE groupid > 0 AND nodename <> '$from' ORDER BY 1 LIMIT 1")
sql -c "SELECT citus_move_shard_placement($shard, '$from', 5432, '$to', 5432, 'block_writes')" >/dev/null
said=$(for name in 'Erika Mustermann' 'Jörg Müller' 'Sean Connery' 'Roger Moore'; do PGOPTIONS= sql -c "BEGIN" -c "$enter ('h', '$name')" -c ROLLBACK 2>&1; done | grep -c 'too similar')
[[ $said == 4 ]] || die "after a shard has moved $said of 4 are found"
sql -c "ALTER TABLE $thing RENAME _own TO other"
refused 42703 "$enter ('h', 'Timothy Dalton')"
sql -c "ALTER TABLE $thing RENAME other TO _own" -c "SELECT citus_split_shard_by_split_points($shard, ARRAY[(SELECT ((shardminvalue::bigint + shardmaxvalue::bigint) / 2)::text FROM pg_dist_shard WHERE shardid = $shard)],
    ARRAY[(SELECT nodeid FROM pg_dist_node WHERE nodename = '$to'), (SELECT nodeid FROM pg_dist_node WHERE nodename = '$from')]::int[], 'block_writes')" >/dev/null
refused 55000 "$enter ('h', 'Timothy Dalton')"
say 'other actions, names and shards that change'

# A second guard of the table is created with a warning: each compares with all rows, by its own threshold and action. What was dropped, renamed or moved is said to who enters a
# row, with what to do, and the guard can be dropped by what is left of it.
sql >/dev/null <<'SQL'
CREATE SCHEMA elsewhere;
CREATE TABLE thing (id integer PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
SELECT create_distributed_table('thing', 'id');
CREATE INDEX ON thing USING sigfile (sig);
SELECT bloom_citus_guard_create('thing', 'sig', 0.75, 'reject');
SQL
# told WANTED STATEMENT…: what psql prints has this
told() {
    local wanted=$1 said args=() statement
    shift
    for statement; do args+=(-c "$statement"); done
    said=$(PGOPTIONS= psql -XAtq "${args[@]}" 2>&1) || true
    # shellcheck disable=SC2053
    [[ $said == $wanted ]] || die "${*: -1}: $said"
}
told "*WARNING:*has another guard, by which rows are entered through public.thing_entry*" "SELECT bloom_citus_guard_create('thing', 'sig', 0.9, 'reject', 'sure')"
sql -c "INSERT INTO thing_entry VALUES (1, 'Erika Mustermann')" -c "INSERT INTO sure VALUES (2, 'Erica Mustermann')" -c "INSERT INTO thing_entry VALUES (3, 'Roger Moore')"
refused 23P85 "INSERT INTO sure VALUES (4, 'Roger Moore')"
refused 23P85 "INSERT INTO thing_entry VALUES (4, 'Erica Musterman')"
told '*CONTEXT:  PL/pgSQL function public.thing_entry_guard() line 16 at RAISE' "INSERT INTO thing_entry VALUES (4, 'Erica Mustermann')"
sql -c "SELECT bloom_citus_guard_drop('sure')" >/dev/null
left_of_thing() { is '' "SELECT string_agg(name, ',') FROM (SELECT relname FROM pg_class UNION ALL SELECT proname FROM pg_proc) AS x (name) WHERE name ~ '^(thing|sure)_'  AND name !~ '^thing_(pkey|sig_idx)'"; }
# lost CHANGE ENTRY BACK: a change is told to who enters a row, and the guard is dropped by that entry
lost() {
    sql -c "$1"
    refused 55000 "INSERT INTO $2 VALUES (5, 'Timothy Dalton')"
    told "*does not find public.thing*HINT:*bloom_citus_guard_drop('*$2')*" "INSERT INTO $2 VALUES (5, 'Timothy Dalton')"
    is 3 "SELECT count(*) FROM ${4:-thing}"
    sql -c "SELECT bloom_citus_guard_drop('$2')" -c "$3" >/dev/null
    left_of_thing
    sql -c "SELECT bloom_citus_guard_create('thing', 'sig', 0.75, 'reject')" >/dev/null
}
lost 'ALTER TABLE thing RENAME TO other' thing_entry 'ALTER TABLE other RENAME TO thing' other
lost 'ALTER TABLE thing SET SCHEMA elsewhere' thing_entry 'ALTER TABLE elsewhere.thing SET SCHEMA public' elsewhere.thing
lost 'ALTER TABLE thing_entry RENAME TO renamed' renamed 'SELECT 1'
lost 'ALTER TABLE thing_entry SET SCHEMA elsewhere' elsewhere.thing_entry 'SELECT 1'
lost 'DROP TABLE thing_entry_turn' thing_entry 'SELECT 1'
lost 'DROP TABLE thing_entry_shards' thing_entry 'SELECT 1'
for left in turn shards; do
    sql -c 'DROP TABLE thing_entry CASCADE'
    told "*\"public.thing_entry_turn\" already exists*bloom_citus_guard_drop('public.thing_entry_turn')*" "SELECT bloom_citus_guard_create('thing', 'sig', 0.75, 'reject')"
    sql -c "SELECT bloom_citus_guard_drop('thing_entry_$left')" >/dev/null
    left_of_thing
    sql -c "SELECT bloom_citus_guard_create('thing', 'sig', 0.75, 'reject')" >/dev/null
done
sql -c 'DROP TABLE thing'
refused 55000 "INSERT INTO thing_entry VALUES (5, 'Timothy Dalton')"
sql -c "SELECT bloom_citus_guard_drop('thing_entry')" >/dev/null
left_of_thing
# A trigger of somebody else's with such a name is no guard.
sql -c 'CREATE TABLE spare (id integer)' -c "CREATE FUNCTION spare_guard() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN NULL; END'" \
    -c 'CREATE TRIGGER spare_guard AFTER INSERT ON spare FOR EACH ROW EXECUTE FUNCTION spare_guard()'
refused 42809 "SELECT bloom_citus_guard_drop('spare')"
# One that looks like a guard's takes nothing of somebody else's with it; a guard is found in a schema that has another name now.
sql -c 'CREATE ROLE stranger LOGIN' -c 'GRANT CREATE ON SCHEMA public TO stranger' -c 'CREATE TABLE payroll_shards (salary integer)' -c 'SET ROLE stranger' \
    -c "CREATE FUNCTION public.payroll_guard() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; /* public.payroll_enter(NEW, NEW.ctid) */ END'" -c 'CREATE TABLE strange (a integer)' \
    -c 'CREATE TRIGGER payroll_guard AFTER INSERT ON strange FOR EACH ROW EXECUTE FUNCTION payroll_guard()' -c 'RESET ROLE' -c "SELECT bloom_citus_guard_drop('strange')" >/dev/null
is payroll_shards "SELECT to_regclass('payroll_shards')"
sql -c 'CREATE SCHEMA s1' -c 'CREATE TABLE s1.thing (id integer PRIMARY KEY, sig bloom)' -c "SELECT create_distributed_table('s1.thing', 'id')" -c "SELECT bloom_citus_guard_create('s1.thing', 'sig', 0.8, 'reject')" -c 'ALTER SCHEMA s1 RENAME TO s2' >/dev/null
refused 55000 "INSERT INTO s2.thing_entry VALUES (1, bloom_signature('Erika Mustermann'))"
sql -c "SELECT bloom_citus_guard_drop('s2.thing_entry')" >/dev/null
is thing "SELECT string_agg(relname, ',') FROM pg_class WHERE relnamespace = 's2'::regnamespace AND relkind = 'r'"
say 'two guards, and what is left of one'

# What cannot be is refused, and leaves nothing.
sql >/dev/null <<'SQL'
CREATE TABLE local_one AS TABLE person;
CREATE TABLE everywhere (id integer PRIMARY KEY, sig bloom);
SELECT create_reference_table('everywhere');
CREATE TABLE keyless (id integer, sig bloom);
SELECT create_distributed_table('keyless', 'id');
SQL
refused 42809 "SELECT bloom_citus_guard_create('local_one', 'sig', 0.75, 'reject')"
told '*HINT:  Use bloom_guard_create(), *' "SELECT bloom_citus_guard_create('local_one', 'sig', 0.75, 'reject')"
refused 42809 "SELECT bloom_citus_guard_create('everywhere', 'sig', 0.75, 'reject')"
told '*HINT:  Use an exclusion constraint, *' "SELECT bloom_citus_guard_create('everywhere', 'sig', 0.75, 'reject')"
told '*bloom_guard cannot check against*HINT:*EXCLUDE USING sigfile*' "SELECT bloom_guard_create('everywhere', 'sig', 0.75, 'reject')"
told '*bloom_guard_search cannot search table "person"*DETAIL:  Its rows are in shards of Citus*HINT:*bloom_blocklist()*' "SELECT bloom_guard_search('person', 'sig', bloom_signature('x'), 0.75, NULL)"
sql -c 'ALTER TABLE everywhere ADD CONSTRAINT near EXCLUDE USING sigfile ((bloom_query(sig, 0.75)) WITH %)' -c "INSERT INTO everywhere VALUES (1, bloom_signature('Erika Mustermann'))"
refused 23P01 "INSERT INTO everywhere VALUES (2, bloom_signature('Erica Mustermann'))"
refused 42602 "SELECT bloom_citus_guard_create('person', 'sig', 0.75, 'reject', 'other.entry')"
refused 42704 "SELECT bloom_citus_guard_create('keyless', 'sig', 0.75, 'reject')"
refused 42703 "SELECT bloom_citus_guard_create('person', 'signature', 0.75, 'reject')"
refused 42804 "SELECT bloom_citus_guard_create('person', 'name', 0.75, 'reject')"
refused 22023 "SELECT bloom_citus_guard_create('person', 'sig', 75, 'reject')"
refused 22023 "SELECT bloom_citus_guard_create('person', 'sig', 'NaN', 'reject')"
refused 22023 "SELECT bloom_citus_guard_create('person', 'sig', NULL, 'reject')"
refused 22023 "SELECT bloom_citus_guard_create('person', 'sig', 0.75, 'flag')"
refused 22004 "SELECT bloom_citus_guard_create(NULL, 'sig', 0.75, 'reject')"
refused 42622 "SELECT bloom_citus_guard_create('person', 'sig', 0.75, 'reject', repeat('x', 60)::name)"
refused 42P07 "SELECT bloom_citus_guard_create('person', 'sig', 0.75, 'reject', 'local_one')"
refused 42501 'SET ROLE app' "SELECT bloom_citus_guard_create('person', 'sig', 0.75, 'reject')"
refused 42809 "SELECT bloom_citus_guard_drop('person')"
citus_use worker2
refused 55000 "SELECT bloom_citus_guard_create('person', 'sig', 0.75, 'reject')"
citus_use coordinator
# Nobody's code runs with the rights of the owner.
sql >/dev/null <<'SQL'
CREATE ROLE other LOGIN;
CREATE ROLE silent;
GRANT CREATE ON SCHEMA public TO other, silent, app;
CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
ALTER DOMAIN positive OWNER TO other;
CREATE FUNCTION doubled(integer) RETURNS integer IMMUTABLE LANGUAGE sql AS 'SELECT 2 * $1';
ALTER FUNCTION doubled(integer) OWNER TO other;
CREATE TABLE of_domain (id integer PRIMARY KEY, n positive, sig bloom);
CREATE TABLE of_function (id integer PRIMARY KEY, n integer GENERATED ALWAYS AS (doubled(id)) STORED, sig bloom);
CREATE TABLE of_check (id integer PRIMARY KEY CHECK (doubled(id) > 0), sig bloom);
CREATE TABLE forced (id integer PRIMARY KEY, sig bloom);
CREATE TABLE of_silent (id integer PRIMARY KEY, sig bloom);
ALTER TABLE forced ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SELECT create_distributed_table(t, 'id') FROM unnest('{of_domain,of_function,of_check,forced,of_silent}'::regclass[]) AS t;
ALTER TABLE of_silent OWNER TO silent;
CREATE FUNCTION near(integer, integer) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT $1 < $2';
ALTER FUNCTION near(integer, integer) OWNER TO postgres;
CREATE OPERATOR ~~< (LEFTARG = integer, RIGHTARG = integer, FUNCTION = near);
ALTER OPERATOR ~~< (integer, integer) OWNER TO other;
SELECT run_command_on_workers('CREATE OPERATOR ~~< (LEFTARG = integer, RIGHTARG = integer, FUNCTION = near)');
CREATE TABLE of_operator (id integer PRIMARY KEY CHECK (id ~~< 1000), sig bloom);
CREATE TABLE of_type (id integer PRIMARY KEY CHECK (id::positive > 0), sig bloom);
CREATE TYPE shade AS ENUM ('1', '2', '3');
ALTER TYPE shade OWNER TO other;
SET ROLE other;
CREATE FUNCTION as_shade(text) RETURNS shade LANGUAGE sql IMMUTABLE AS 'SELECT ''1''::shade';
CREATE CAST (text AS shade) WITH FUNCTION as_shade(text);
RESET ROLE;
CREATE TABLE of_enum (id shade PRIMARY KEY, sig bloom);
CREATE TABLE of_bool (id boolean PRIMARY KEY, sig bloom);
SELECT create_distributed_table(t, 'id') FROM unnest('{of_operator,of_type,of_enum,of_bool}'::regclass[]) AS t;
SQL
for table in of_domain of_function of_check of_operator of_type of_enum of_bool forced; do refused 0A000 "SELECT bloom_citus_guard_create('$table', 'sig', 0.75, 'reject')"; done
refused 55000 "SELECT bloom_citus_guard_create('of_silent', 'sig', 0.75, 'reject')"
is 0 "SELECT count(*) FROM pg_class WHERE relname LIKE '%\_entry%'"
# An owner who is no superuser.
sql >/dev/null <<'SQL'
SET ROLE app;
CREATE TABLE of_app (id integer PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
SELECT create_distributed_table('of_app', 'id');
SELECT bloom_citus_guard_create('of_app', 'sig', 0.75, 'reject');
GRANT INSERT ON of_app_entry TO other;
SET ROLE other;
INSERT INTO of_app_entry VALUES (1, 'Erika Mustermann');
SQL
refused 23P85 'SET ROLE other' "INSERT INTO of_app_entry VALUES (2, 'Erika Mustermann')"
refused 42501 'SET ROLE other' "INSERT INTO of_app VALUES (2, 'Erika Mustermann')"
sql -c 'SET ROLE app' -c "SELECT bloom_citus_guard_drop('of_app_entry')" >/dev/null
is 0 "SELECT count(*) FROM pg_class WHERE relname LIKE 'of_app\_entry%'"
say 'what cannot be is refused'

# A row's types and strings mean on the workers what they mean here, whatever whoever enters it has set there for the transaction.
sql >/dev/null <<'SQL'
CREATE TABLE of_owner (id integer PRIMARY KEY, name text, note text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
SELECT create_distributed_table('of_owner', 'id');
SELECT bloom_citus_guard_create('of_owner', 'sig', 0.75, 'reject');
GRANT INSERT ON of_owner_entry TO other;
CREATE SCHEMA trap AUTHORIZATION other;
GRANT USAGE ON SCHEMA trap TO PUBLIC;
SET ROLE other;
CREATE FUNCTION trap.runs(pg_catalog.text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''runs as %'', current_user; END';
CREATE DOMAIN trap.text AS pg_catalog.text CHECK (trap.runs(VALUE));
RESET ROLE;
SQL
set='SET citus.propagate_set_commands ='
sql -c 'SET ROLE other' -c "$set local" -c BEGIN -c 'SET LOCAL search_path = trap, pg_catalog, public' -c "INSERT INTO public.of_owner_entry VALUES (1, 'Erika Mustermann', 'a')" -c COMMIT
sql -c 'SET ROLE other' -c "$set local" -c BEGIN -c 'SET LOCAL standard_conforming_strings = off' -c "$set none" -c 'SET LOCAL standard_conforming_strings = on' \
    -c "INSERT INTO of_owner_entry VALUES (2, 'Sean Connery', '\\''::text), (3, ''Sean Connery'', ''b'') --')" -c COMMIT
sql -c 'SET ROLE other' -c 'SET standard_conforming_strings = off' -c "INSERT INTO of_owner_entry VALUES (4, 'Roger Moore', 'a\\\\b')"
is "1 a,2 \\'::text), (3, 'Sean Connery', 'b') --,4 a\\b" "SELECT string_agg(id || ' ' || note, ',' ORDER BY id) FROM of_owner"
# Citus takes any type of this name for that of PostgreSQL when it distributes a table by a text.
sql -c 'DROP SCHEMA trap CASCADE'
# The rights of who has owned a table are not those of who owns it now.
for table in of_owner of_owner_entry_turn of_owner_entry_shards; do
    sql -c "ALTER TABLE $table OWNER TO other"
    refused 55000 "INSERT INTO of_owner_entry VALUES (5, 'Timothy Dalton')"
    sql -c "ALTER TABLE $table OWNER TO postgres"
done
sql -c "INSERT INTO of_owner_entry VALUES (5, 'Timothy Dalton')" -c "SELECT bloom_citus_guard_drop('of_owner_entry')" >/dev/null
# A key of characters, a column with the name of a parameter, an entry whose other tables have the longest names.
sql -c 'CREATE TABLE of_chars (id char(4) PRIMARY KEY, name text, _entered text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED)' -c "SELECT create_distributed_table('of_chars', 'id')" \
    -c "SELECT bloom_citus_guard_create('of_chars', 'sig', 0.75, 'reject', repeat('e', 56)::name)" >/dev/null
entry=$(printf 'e%.0s' {1..56})
sql -c "INSERT INTO $entry VALUES ('a', 'Erika Mustermann', 'b')"
refused 23P85 "INSERT INTO $entry VALUES ('b', 'Erica Mustermann')"
is 0 "SELECT count(*) FROM $entry"
say 'nothing runs with the rights of an owner that is not the owner'"'"'s'

# Where the rows of a tenant are in one shard, its own guard and its own constraint hold for all of them.
sql >/dev/null <<'SQL'
CREATE TABLE member (tenant integer, id integer, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED, PRIMARY KEY (tenant, id));
CREATE TABLE single (tenant integer, id integer, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED, PRIMARY KEY (tenant, id));
SELECT create_distributed_table('member', 'tenant'), create_distributed_table('single', 'tenant');
CREATE INDEX ON member USING sigfile (sig);
ALTER TABLE single ADD CONSTRAINT single_near EXCLUDE USING sigfile (tenant WITH =, (bloom_query(sig, 0.75)) WITH %);
SQL
refused 55000 "SELECT bloom_guard_create('member', 'sig', 0.75, 'reject', 'within', 'tenant')"
unsafe='SET citus.enable_unsafe_triggers = on'
refused 0A000 "$unsafe" "SELECT bloom_guard_create('member', 'sig', 0.75, 'reject')"
refused 0A000 "$unsafe" "SELECT bloom_guard_create('member', 'sig', 0.75, 'reject', 'within', 'name')"
refused 0A000 "$unsafe" "SELECT bloom_guard_create('member', 'sig', 0.75, 'reject', 'within', 'tenant', 'blocklist', 'local_one')"
said=$(psql -XAtq -c "SELECT bloom_guard_create('member', 'sig', 0.75, 'reject')" 2>&1) || true
[[ $said == *within*bloom_citus_guard_create* ]] || die "the hint does not say what there is: $said"
sql -c "$unsafe" -c "SELECT bloom_guard_create('member', 'sig', 0.75, 'reject', 'within', 'tenant')" >/dev/null
for table in member single; do
    wrong=23P85
    [[ $table == member ]] || wrong=23P01
    sql -c "INSERT INTO $table SELECT tenant, 1, 'Erika Mustermann' FROM generate_series(1, 30) AS tenant"
    refused $wrong "INSERT INTO $table VALUES (3, 2, 'Erica Mustermann')"
    # What Citus copies to the shards has its own SQLSTATE, whatever the error is.
    refused XX000 "INSERT INTO $table SELECT tenant, 2, 'Jörg Müller' FROM generate_series(1, 30) AS tenant UNION ALL VALUES (9, 3, 'Erica Mustermann')"
    refused $wrong "UPDATE $table SET name = 'Erica Mustermann' WHERE tenant = 4; INSERT INTO $table VALUES (4, 2, 'Erika Mustermann')"
    is 30 "SELECT count(*) FROM $table"
done
say 'guards and constraints of a tenant'
