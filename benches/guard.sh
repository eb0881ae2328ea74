#!/usr/bin/env bash
# Rows a second that bloom_guard checks: single rows into BENCH_ROWS (a million) names at 0.85, each in its own
# transaction, synchronous commit on, by one client and by two; and BENCH_MANY (50,000) rows by one statement.
# BENCH_WHAT=many does the latter alone.

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

rows=${BENCH_ROWS:-1000000}
rows=${rows##* }
seconds=${BENCH_SECONDS:-10}
more=400000
many=${BENCH_MANY:-50000}
# single, many, or both
what=${BENCH_WHAT:-both}

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

if [[ $what != many ]]; then
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
fi

# Many rows by one statement, BENCH_MANY of them, none of which is refused: names as above, 7 segments of 43 bits, by COPY; and texts of 44
# to 52 letters, 7 segments of 83 bits, by INSERT. With the least work_mem there is no room to search for them together. A constraint that
# takes more than a minute, or whose addition does, is left out.
if [[ $what != single ]]; then
    clear() { sql -c "DELETE FROM $1 WHERE id > $rows" -c "VACUUM $1"; }
    text_of() { echo "SELECT id, translate(left(md5(id::text) || md5((-id)::text), 44 + id % 9), '0123456789', 'ghijklmnop') FROM generate_series($1 + 1, $2) AS id"; }
    load() {
        case $1 in
            person) timed -c "\\copy person (id, name) FROM '$SCRATCH/guard.copy'" ;;
            long) timed -c "INSERT INTO long $(text_of "$rows" $((rows + many)))" ;;
        esac
    }
    # loaded TABLE [OPTIONS]: milliseconds, and the table as before
    loaded() {
        PGOPTIONS="$PGOPTIONS ${2:-}" load "$1"
        clear "$1"
    }
    # beside NAME TABLE THRESHOLD...
    beside() {
        local name=$1 table=$2 none together single exclude threshold
        shift 2
        for threshold; do
            sql -c "CREATE INDEX ${table}_near ON $table USING sigfile (sig)"
            none=$(loaded "$table")
            sql -c "CREATE TRIGGER guard AFTER INSERT OR UPDATE ON $table FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '$threshold', 'reject')"
            together=$(loaded "$table")
            single=$(loaded "$table" '-c work_mem=64kB')
            sql -c "DROP TRIGGER guard ON $table" -c "DROP INDEX ${table}_near"
            exclude='over a minute'
            if sql -c "SET statement_timeout = '1min'" -c "ALTER TABLE $table ADD CONSTRAINT near EXCLUDE USING sigfile ((bloom_query(sig, $threshold)) WITH %)" 2>/dev/null; then
                exclude=$(loaded "$table" '-c statement_timeout=1min' 2>/dev/null) || exclude='over a minute'
                sql -c "ALTER TABLE $table DROP CONSTRAINT near"
            else
                exclude='over a minute to add'
            fi
            echo "| $name at $threshold | $none | $together | $single | $exclude |"
        done
    }
    sql -c 'DROP INDEX IF EXISTS person_sig' -c 'DROP TRIGGER IF EXISTS guard ON person'
    sql -c "COPY (SELECT id, name FROM source WHERE id > $rows AND id <= $rows + $many) TO STDOUT" >"$SCRATCH/guard.copy"
    sql -c "CREATE TABLE long (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name, max_chars => 60)) STORED)" \
        -c "INSERT INTO long $(text_of 0 "$rows")" -c 'VACUUM ANALYZE long'
    echo "$many rows by one statement into $rows, milliseconds; work_mem $(sql -c 'SHOW work_mem'): no guard | guard | guard, row by row | EXCLUDE"
    beside names person 0.9 0.8
    beside texts long 0.85
fi
dropdb bench
