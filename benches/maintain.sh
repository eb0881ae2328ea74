#!/usr/bin/env bash
# What an index costs those who insert: names into a growing table, and single rows into BENCH_ROWS (a million)
# checked by an exclusion constraint, by one client and by two, synchronous commit on; against
# pg_trgm's GIN, and a trigger that searches it. Then the time to add a constraint to as many rows as BENCH_GIST says.

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

rows=${BENCH_ROWS:-1000000}
rows=${rows##* }
seconds=${BENCH_SECONDS:-10}
more=400000

timed() {
    local started=${EPOCHREALTIME/./}
    sql "$@"
    echo $(((${EPOCHREALTIME/./} - started) / 1000))
}
# per_second CLIENTS: new names, each once, so that none is left out by the check
per_second() {
    pgbench -n -M prepared -c "$1" -j "$1" -f "$SCRATCH/checked.sql" -T "$seconds" bench 2>/dev/null | sed -n 's/^tps = \([0-9]*\).*/\1/p'
}
# row WHAT: both, from the same state of the table
row() {
    sql -c "DELETE FROM person WHERE id > $rows" -c 'VACUUM person' -c "SELECT setval('next', $rows)" >/dev/null
    echo "| $1 | $(per_second 1) | $(per_second 2) |"
}

dropdb --if-exists bench 2>/dev/null
createdb bench
export PGDATABASE=bench PGOPTIONS='-c client_min_messages=warning -c maintenance_work_mem=256MB'
sql -c 'CREATE EXTENSION bloom_ident' -c "
    -- texts of 12 to 20 letters, no two of them alike
    CREATE TABLE source AS
        SELECT id, name, bloom_signature(name) AS sig FROM (
            SELECT id, translate(left(md5(id::text), 12 + id % 9), '0123456789', 'ghijklmnop') AS name
            FROM generate_series(1, $rows + $more) AS id) AS names" -c "CREATE SEQUENCE next START $rows" -c 'VACUUM ANALYZE source'
has_trgm=$(sql -c "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_trgm'")
[[ $has_trgm == 0 ]] || sql -c 'CREATE EXTENSION pg_trgm'

insert="INSERT INTO person SELECT * FROM source WHERE id <= $rows"
sql -c 'CREATE TABLE person (LIKE source)'
plain=$(timed -c "$insert")
echo "inserting $rows rows in one statement, $plain ms without an index"
grow() {
    sql -c 'DROP TABLE person' -c 'CREATE TABLE person (LIKE source)' -c "CREATE INDEX ON person USING $2"
    echo "| $1 | $(timed -c "$insert") ms |"
}
grow 'sigfile' 'sigfile (sig)'
[[ $has_trgm == 0 ]] || grow 'pg_trgm GIN, fastupdate' 'gin (name gin_trgm_ops)'

echo 'INSERT INTO person SELECT * FROM source WHERE id = (SELECT nextval('"'next'"')) ON CONFLICT DO NOTHING;' >"$SCRATCH/checked.sql"
sql -c 'CREATE UNIQUE INDEX ON source (id)' -c 'DROP TABLE person' -c "CREATE TABLE person AS SELECT * FROM source WHERE id <= $rows"
echo 'rows a second, each in its own transaction, one client / two clients'
row 'without any check'
sql -c "DELETE FROM person WHERE id > $rows" -c 'VACUUM FULL person'
took=$(timed -c "ALTER TABLE person ADD EXCLUDE USING sigfile ((bloom_query(sig, 0.85)) WITH %)")
row "EXCLUDE USING sigfile at 0.85 (added in $took ms)"
if [[ $has_trgm != 0 ]]; then
    sql -c 'DROP TABLE person' -c "CREATE TABLE person AS SELECT * FROM source WHERE id <= $rows" \
        -c 'CREATE INDEX ON person USING gin (name gin_trgm_ops)' -c 'VACUUM ANALYZE person' \
        -c "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \$\$
            BEGIN
                IF EXISTS (SELECT FROM person WHERE name % NEW.name) THEN RETURN NULL; END IF;
                RETURN NEW;
            END \$\$" \
        -c 'CREATE TRIGGER refuse BEFORE INSERT ON person FOR EACH ROW EXECUTE FUNCTION refuse()' \
        -c 'ALTER DATABASE bench SET pg_trgm.similarity_threshold = 0.85' -c 'ALTER DATABASE bench SET enable_seqscan = off'
    row "trigger that searches pg_trgm's GIN at 0.85 (two sessions can pass it at once)"
fi

# random texts of 32 letters
sql -c 'DROP TABLE person' -c "
    CREATE TABLE person AS SELECT id, bloom_signature(translate(md5(id::text), '0123456789', 'ghijklmnop')) AS sig FROM generate_series(1, 100000) AS id"
for some in ${BENCH_GIST-5000 20000 50000}; do
    sql -c "CREATE TABLE few AS SELECT * FROM person WHERE id <= $some" -c 'VACUUM ANALYZE few'
    for method in sigfile gist; do
        echo "| EXCLUDE USING $method at 0.8, added to $some rows of 32 letters | $(timed -c "ALTER TABLE few ADD CONSTRAINT c EXCLUDE USING $method ((bloom_query(sig, 0.8)) WITH %)") ms |"
        sql -c 'ALTER TABLE few DROP CONSTRAINT c'
    done
    sql -c 'DROP TABLE few'
done
dropdb bench
