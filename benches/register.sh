#!/usr/bin/env bash
# A register at work: how long it takes to make one, how large it is, what one record and an insert cost, beside a B-tree look-up of the same row, the guard by
# similarity and a trigger with pg_trgm. Generated people (tests/quality/people.py, seed 1; seed 77 for those that are asked for and entered, each once) with eight fields, a fifth
# of them duplicates. BENCH_REGISTER says how many records, ROUNDS how many rounds the medians are of, SECONDS_EACH how long inserts are measured.

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

if ! command -v python3 >/dev/null; then
    say 'register: python3, which makes the people, is not there'
    exit
fi
dropdb --if-exists bench 2>/dev/null
createdb bench
export PGDATABASE=bench PGOPTIONS='-c jit=off -c client_min_messages=error -c maintenance_work_mem=256MB -c work_mem=64MB -c synchronous_commit=off'
fields='given_name,surname,dob,street,city,postcode,phone,email'
rows=${BENCH_REGISTER:-1000000} rounds=${ROUNDS:-3} each=${SECONDS_EACH:-10}
# seconds STATEMENT
seconds() {
    local begin=${EPOCHREALTIME/./}
    sql -c "$1" >/dev/null
    awk -v us=$((${EPOCHREALTIME/./} - begin)) 'BEGIN { printf "%.1f", us / 1e6 }'
}
median() { sort -n | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'; }

python3 "$ROOT/tests/quality/people.py" "$rows" 1 >"$SCRATCH/bench.csv"
python3 "$ROOT/tests/quality/people.py" 400000 77 >"$SCRATCH/fresh.csv"
sql -c 'CREATE EXTENSION bloom_ident' -c "CREATE TABLE person (id text PRIMARY KEY, entity text, ${fields//,/ text, } text)" -c "\\copy person FROM '$SCRATCH/bench.csv' (FORMAT csv, HEADER)" -c 'VACUUM ANALYZE person' \
    -c "CREATE TABLE fresh (n serial PRIMARY KEY, id text, entity text, ${fields//,/ text, } text)" -c "\\copy fresh (id, entity, $fields) FROM '$SCRATCH/fresh.csv' (FORMAT csv, HEADER)" -c 'ANALYZE fresh'
rm "$SCRATCH/bench.csv" "$SCRATCH/fresh.csv"
fit=$(seconds "CREATE TABLE fitted AS SELECT bloom_model_fit('person', 'id', '{$fields}', '{given_name,dob,email}') AS model")
build=$(seconds "SELECT bloom_register_create(model, 'person', 'id') FROM fitted")
sql -c 'VACUUM ANALYZE person_register_keys' -c CHECKPOINT
echo "$rows records, fitted in $fit s; the register made in $build s, $(sql -c "SELECT pg_total_relation_size('person_register_keys') / $rows || ' bytes a record, ' || round((SELECT count(*) FROM person_register_keys)::numeric / $rows, 1) || ' keys a record'")"

# milliseconds QUERY [ROUNDS]: p50 | p99 of 3,000 records, or so many; $1 is the record, $2 its id.
sql -c "CREATE FUNCTION timed(query text, rounds int, OUT p50 numeric, OUT p99 numeric) LANGUAGE plpgsql AS \$\$
    DECLARE f record; began timestamptz; took float8[];
    BEGIN
        FOR f IN SELECT to_jsonb(fresh) - 'id' - 'n' AS record, id FROM fresh WHERE n % 5 = 1 ORDER BY n LIMIT rounds LOOP
            began := clock_timestamp();
            EXECUTE query USING f.record, f.id;
            took := took || (extract(epoch FROM clock_timestamp() - began) * 1000)::float8;
        END LOOP;
        SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY t)::numeric, 3), round(percentile_cont(0.99) WITHIN GROUP (ORDER BY t)::numeric, 3) INTO p50, p99 FROM unnest(took) AS t;
    END \$\$"
milliseconds() { sql -F ' | ' -c "SELECT * FROM timed('$1', ${2:-3000})"; }
asked="SELECT count(*) FROM bloom_register_match(''person_register'', \$1)"
echo
echo '| one record | p50, ms | p99, ms |'
echo '|---|---|---|'
echo "| match, as after a start | $(milliseconds "$asked") |"
for ((i = 0; i < rounds; i++)); do milliseconds "$asked"; done | sort | awk -v n="$rounds" 'NR == int((n + 1) / 2) { print "| match | " $0 " |" }'
echo "| B-tree look-up of a row | $(milliseconds "SELECT count(*) FROM person WHERE id = (SELECT id FROM person WHERE id >= \$2 ORDER BY id LIMIT 1)") |"
# so many records from some place on, in one statement
of() { echo "SELECT count(*) FROM (SELECT to_jsonb(fresh) - ''id'' - ''n'' AS record FROM fresh WHERE n > abs(hashtext(\$2)) % 390000 ORDER BY n LIMIT $1) AS f, bloom_register_match(''person_register'', record) AS m"; }
echo "| one record by such a statement | $(milliseconds "$(of 1)" 1000) |"
echo "| 100 records | $(milliseconds "$(of 100)" 100) |"

# tps TABLE: rows a second, one a statement, prepared, each another person; the median.
sql -c 'CREATE SEQUENCE entered MAXVALUE 400000 CYCLE CACHE 100'
tps() {
    echo "INSERT INTO $1 (id, entity, $fields) SELECT 'x' || clock_timestamp(), entity, $fields FROM fresh WHERE n = (SELECT nextval('entered'))" >"$SCRATCH/insert.sql"
    for ((i = 0; i < rounds; i++)); do pgbench -n -M prepared -f "$SCRATCH/insert.sql" -T "$each" -c 1 bench 2>/dev/null | sed -n 's/^tps = \([0-9]*\).*/\1/p'; done | median
}
echo
echo '| inserts of one row | rows a second |'
echo '|---|---|'
sql -c 'CREATE TABLE plain (LIKE person INCLUDING ALL)' -c 'INSERT INTO plain TABLE person' -c 'VACUUM ANALYZE plain'
echo "| into the table alone | $(tps plain) |"
sql -c "DELETE FROM plain WHERE id LIKE 'x%'" -c 'VACUUM plain' -c 'ALTER SEQUENCE entered RESTART'
echo "| with the register | $(tps person) |"
sql -c "SELECT bloom_register_guard('person_register', 0.95, 'warn')" >/dev/null
echo "| with the register and its guard | $(tps person) |"
sql -c "DROP TRIGGER person_id_guard ON person" -c "DELETE FROM person WHERE id LIKE 'x%'"
entities=$(seconds "SELECT bloom_entities_create('person_register', 'person_entity')")
echo "| with the register and entities, made in $entities s | $(tps person) |"
sql -F ' ' -c "SELECT '| of these rows', count(*) FILTER (WHERE n > 1), 'have come to others |', count(*), '|' FROM (SELECT key, count(*) OVER (PARTITION BY entity) AS n FROM person_entity) AS e WHERE key LIKE 'x%'"
sql -c "ALTER TABLE plain ADD sig bloom GENERATED ALWAYS AS (bloom_signature(given_name || ' ' || surname || ' ' || dob)) STORED" -c 'CREATE INDEX ON plain USING sigfile (sig)' -c "SELECT bloom_guard_create('plain', 'sig', 0.85, 'warn')" >/dev/null
echo "| with the guard by similarity, 0.85 | $(tps plain) |"
if sql -c 'CREATE EXTENSION pg_trgm' 2>/dev/null; then
    sql -c 'CREATE TABLE trgm (LIKE person INCLUDING ALL)' -c 'INSERT INTO trgm TABLE person' -c "ALTER TABLE trgm ADD name text GENERATED ALWAYS AS (given_name || ' ' || surname || ' ' || dob) STORED" \
        -c 'CREATE INDEX ON trgm USING gin (name gin_trgm_ops)' -c "CREATE FUNCTION near() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN
            IF EXISTS (SELECT FROM trgm WHERE name % NEW.name AND id <> NEW.id) THEN RAISE WARNING 'near'; END IF; RETURN NULL; END \$\$" \
        -c 'CREATE TRIGGER near AFTER INSERT ON trgm FOR EACH ROW EXECUTE FUNCTION near()' -c "ALTER DATABASE bench SET pg_trgm.similarity_threshold = 0.7" -c 'VACUUM ANALYZE trgm'
    echo "| with a trigger that asks pg_trgm, 0.7 | $(tps trgm) |"
fi
dropdb bench
