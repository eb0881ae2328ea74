#!/usr/bin/env bash
# What a row costs that is entered into a table of Citus with a guard over all its shards: CPU of all nodes, three workers and twelve shards. BENCH_CITUS_GUARD says how many
# rows the table has, and BENCH_CITUS_ENTERED how many are entered, each in a transaction of its own and then a hundred in each statement. Citus is built from the
# source that CITUS_SOURCE names.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"
# shellcheck source=scripts/citus.sh
source "$ROOT/scripts/citus.sh"
# shellcheck source=scripts/usage.sh
source "$ROOT/scripts/usage.sh"

citus_available || exit 0
need_packages python3
rows=${BENCH_CITUS_GUARD:-200000}
entered=${BENCH_CITUS_ENTERED:-1000}
export PGOPTIONS='-c client_min_messages=error -c jit=off'
sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

# spent: CPU of all servers since they were started, in hundredths of a second
spent() { cpu coordinator worker1 worker2 worker3 | awk '{ n += $1 } END { print n }'; }

# measured WHAT FILE: CPU of the statements in a file, which enter the rows of table entered
measured() {
    local before after entered
    entered=$(sql -c 'SELECT count(*) FROM entered')
    before=$(spent)
    psql -XAtq -f "$2" >"$SCRATCH/out" 2>&1 || true
    after=$(spent)
    printf '%s: %s rows, %s refused, %s ms of CPU a row\n' "$1" "$entered" "$(grep -c 'ERROR' "$SCRATCH/out" || true)" \
        "$(awk -v t=$((after - before)) -v n="$entered" 'BEGIN { printf "%.2f", 10 * t / n }')"
}

citus_install
citus_start 3
python3 "$ROOT/tests/quality/people.py" "$((rows + entered))" 1 | tail -n +2 >"$SCRATCH/people.csv"
fields='given_name,surname,dob,street,city,postcode,phone,email'
sql >/dev/null <<SQL
CREATE TABLE given (record text, entity text, ${fields//,/ text, } text);
\\copy given FROM '$SCRATCH/people.csv' (FORMAT csv)
CREATE TABLE numbered AS SELECT row_number() OVER () AS id, given_name || ' ' || surname || ' ' || dob || ' ' || city AS name FROM given;
CREATE TABLE person (id bigint PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name, 3, 60, 0.01)) STORED);
SELECT create_distributed_table('person', 'id', shard_count => 12);
INSERT INTO person (id, name) SELECT id, name FROM numbered WHERE id <= $rows;
CREATE INDEX person_sig ON person USING sigfile (sig);
VACUUM ANALYZE person;
SELECT bloom_citus_guard_create('person', 'sig', 0.9, 'reject');
SQL
# statements TABLE ROWS: so many rows in each statement
statements() {
    sql -c "SELECT format('INSERT INTO $1 (id, name) VALUES %s;', string_agg(format('(%s, %L)', id, name), ', ' ORDER BY id))
        FROM (SELECT *, row_number() OVER (ORDER BY id) - 1 AS n FROM entered) AS e GROUP BY n / $2 ORDER BY min(id)" >"$SCRATCH/statements.sql"
}
# First all of them, some of whom are there already, and then those who are not.
sql -c "CREATE TABLE entered AS SELECT * FROM numbered WHERE id > $rows"
statements person_entry 1
measured 'with a guard, some of them refused' "$SCRATCH/statements.sql"
sql -c "CREATE TABLE there AS SELECT id FROM person WHERE id > $rows" -c 'DELETE FROM entered WHERE id NOT IN (SELECT id FROM there)' -c "DELETE FROM person WHERE id > $rows"
for each in 1 100; do
    for table in person person_entry; do
        statements "$table" "$each"
        measured "$table, $each in each statement" "$SCRATCH/statements.sql"
        sql -c "DELETE FROM person WHERE id > $rows" -c 'VACUUM person'
    done
done
