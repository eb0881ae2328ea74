#!/usr/bin/env bash
# Rows a second that bloom_guard checks: single rows into BENCH_ROWS (a million) names at 0.85, each in its own
# transaction, synchronous commit on, by one client and by two; and many rows by one statement.

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

rows=${BENCH_ROWS:-1000000}
rows=${rows##* }
seconds=${BENCH_SECONDS:-10}
more=400000

timed() {
    local started=${EPOCHREALTIME/./}
    sql "$@" >/dev/null
    echo $(((${EPOCHREALTIME/./} - started) / 1000))
}
# per_second CLIENTS: new names, so that none is refused
per_second() {
    pgbench -n -M prepared -c "$1" -j "$1" -f "$SCRATCH/guard.sql" -T "$seconds" bench 2>"$SCRATCH/guard.err" |
        sed -n 's/^tps = \([0-9]*\).*/\1/p'
    if grep -q ERROR "$SCRATCH/guard.err"; then
        head -n 5 "$SCRATCH/guard.err" >&2
        return 1
    fi
}
# Both, from the same state of the table.
row() {
    local name=$1 one two
    one=$(per_second 1)
    two=$(per_second 2)
    echo "| $name | $one | $two |"
    sql -c "DELETE FROM person WHERE id > $rows" -c 'VACUUM person' -c "SELECT setval('next', $rows)" >/dev/null
}
guard() {
    sql -c 'DROP TRIGGER IF EXISTS guard ON person' \
        -c "CREATE TRIGGER guard $1 INSERT OR UPDATE ON person FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.85', $2)"
}

dropdb --if-exists bench 2>/dev/null
createdb bench
export PGDATABASE=bench PGOPTIONS='-c client_min_messages=error -c maintenance_work_mem=256MB'
sql -c 'CREATE EXTENSION bloom_ident' -c "
    -- texts of 12 to 20 letters, no two of them alike
    CREATE TABLE source AS
        SELECT id, translate(left(md5(id::text), 12 + id % 9), '0123456789', 'ghijklmnop') AS name
        FROM generate_series(1, $rows + $more) AS id" -c "
    CREATE UNIQUE INDEX ON source (id);
    CREATE SEQUENCE next START $rows;
    CREATE TABLE review (key text, duplicate text, similarity float8, found_at timestamptz, PRIMARY KEY (key, duplicate));
    CREATE TABLE person (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
    INSERT INTO person SELECT id, name FROM source WHERE id <= $rows" -c "SELECT nextval('next')" -c 'VACUUM ANALYZE' >/dev/null
echo 'INSERT INTO person (id, name) SELECT id, name FROM source WHERE id = (SELECT nextval('"'next'"'));' >"$SCRATCH/guard.sql"

echo "single rows a second into $rows names, one client / two clients"
row 'neither index nor guard'
sql -c 'CREATE INDEX person_sig ON person USING sigfile (sig)'
row 'sigfile index, no guard'
for action in "reject" "warn" "flag"; do
    options="'$action'"
    [[ $action != flag ]] || options="'flag', 'review', 'public.review'"
    guard AFTER "$options"
    row "sigfile index, bloom_guard $action at 0.85"
done
guard BEFORE "'skip'"
row 'sigfile index, bloom_guard skip at 0.85'

# The same by hand: a trigger that asks pg_trgm's index, which the planner must be talked into for EXISTS. Two sessions at once can both get in.
if [[ $(sql -c "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_trgm'") == 1 ]]; then
    sql -c 'DROP TRIGGER guard ON person' -c 'DROP INDEX person_sig' -c 'CREATE EXTENSION pg_trgm' \
        -c 'CREATE INDEX person_name ON person USING gin (name gin_trgm_ops)' -c 'ALTER DATABASE bench SET pg_trgm.similarity_threshold = 0.85' \
        -c 'ALTER DATABASE bench SET enable_seqscan = off' -c "
        CREATE FUNCTION by_hand() RETURNS trigger LANGUAGE plpgsql AS \$\$
        BEGIN
            IF EXISTS (SELECT FROM person WHERE name % NEW.name AND id <> NEW.id) THEN
                RAISE EXCEPTION 'duplicate';
            END IF;
            RETURN NEW;
        END \$\$" -c 'CREATE TRIGGER by_hand AFTER INSERT ON person FOR EACH ROW EXECUTE FUNCTION by_hand()' -c 'VACUUM ANALYZE person'
    row 'pg_trgm GIN, a PL/pgSQL trigger at 0.85 (not safe against two sessions)'
    sql -c 'DROP TRIGGER by_hand ON person' -c 'DROP INDEX person_name' -c 'ALTER DATABASE bench RESET ALL' -c 'CREATE INDEX person_sig ON person USING sigfile (sig)'
    guard AFTER "'reject'"
else
    echo 'pg_trgm is not installed'
fi

# Many rows by one statement, 50,000 of them, none of which is refused: names as above, 7 segments of 43 bits, by COPY; and texts of 44 to
# 52 letters, 7 segments of 83 bits, by INSERT.
clear() { sql -c "DELETE FROM $1 WHERE id > $rows" -c "VACUUM $1"; }
names() { timed -c "\\copy person (id, name) FROM '$SCRATCH/guard.copy'"; clear person; }
texts() { timed -c "INSERT INTO long $(text_of "$rows" $((rows + 50000)))"; clear long; }
text_of() { echo "SELECT id, translate(left(md5(id::text) || md5((-id)::text), 44 + id % 9), '0123456789', 'ghijklmnop') FROM generate_series($1 + 1, $2) AS id"; }
# guarded NAME TABLE THRESHOLD...
guarded() {
    local run=$1 table=$2 threshold
    shift 2
    sql -c "DROP TRIGGER IF EXISTS guard ON $table"
    echo "| $run, without a guard | $($run) |"
    for threshold; do
        sql -c "CREATE TRIGGER guard AFTER INSERT OR UPDATE ON $table FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '$threshold', 'reject')"
        echo "| $run, bloom_guard reject at $threshold | $($run) |"
        sql -c "DROP TRIGGER guard ON $table"
    done
}
sql -c "COPY (SELECT id, name FROM source WHERE id > $rows AND id <= $rows + 50000) TO STDOUT" >"$SCRATCH/guard.copy"
echo "50,000 rows by one statement into $rows, milliseconds; work_mem $(sql -c 'SHOW work_mem')"
guarded names person 0.9 0.85 0.8
sql -c 'DROP INDEX person_sig' -c 'ALTER TABLE person ADD CONSTRAINT near EXCLUDE USING sigfile ((bloom_query(sig, 0.9)) WITH %)'
echo "| names, EXCLUDE at 0.9 | $(names) |"
sql -c "CREATE TABLE long (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name, max_chars => 60)) STORED)" \
    -c "INSERT INTO long $(text_of 0 "$rows")" -c 'CREATE INDEX ON long USING sigfile (sig)' -c 'VACUUM ANALYZE long'
guarded texts long 0.85
dropdb bench
