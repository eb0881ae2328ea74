#!/usr/bin/env bash
# One node and one large table: what its steps take of generated people (tests/quality/people.py, seed 1), a fifth of them duplicates: the index, searches, inserts, all
# pairs from 0.9 on, the fit and the pairs of a match model, the register. BENCH_LARGE says how many records (a million), BENCH_LARGE_MEMORY with which maintenance_work_mem
# (1GB). Of 10 million it takes some 14 GB of disk.

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

if ! command -v python3 >/dev/null; then
    say 'large: python3, which makes the people, is not there'
    exit
fi
dropdb --if-exists bench 2>/dev/null
createdb bench
memory=${BENCH_LARGE_MEMORY:-1GB} rows=${BENCH_LARGE:-1000000}
export PGDATABASE=bench PGOPTIONS="-c jit=off -c client_min_messages=error -c maintenance_work_mem=$memory"
columns='given_name,surname,dob,street,city,postcode,phone,email'
sql -c 'CREATE EXTENSION bloom_ident' -c "CREATE TABLE person (id text, entity text, ${columns//,/ text, } text)"

# step WHAT STATEMENT [RESULT]: a line of the table; RESULT is a query.
step() {
    local line
    line=$(usage sql -c "SELECT bloom_signature('warm')" -c "$2")
    echo "| $1 | $line | ${3:+$(sql -F ', ' -c "$3")} |"
}
size() { echo "SELECT pg_size_pretty(pg_total_relation_size('$1')) || ', ' || pg_total_relation_size('$1') / $rows || ' bytes a record'"; }
# quality TABLE
quality() { echo "SELECT found || ' pairs', 'right ' || round(precision::numeric, 3), 'of the duplicates ' || round(recall::numeric, 3), 'F1 ' || round(f1::numeric, 3) FROM bloom_quality('$1', 'truth')"; }
# timed: p50 and p99 in milliseconds of 300 searches of the index, and the mean number of rows.
sql -c "CREATE FUNCTION timed(threshold float8) RETURNS text LANGUAGE plpgsql AS \$\$
    DECLARE f record; began timestamptz; took float8[]; n bigint; rows bigint := 0;
    BEGIN
        FOR f IN SELECT sig FROM asked LOOP
            began := clock_timestamp();
            EXECUTE 'SELECT count(*) FROM person WHERE bloom_sim(sig, \$1) > ' || threshold INTO n USING f.sig;
            took := took || (extract(epoch FROM clock_timestamp() - began) * 1000)::float8;
            rows := rows + n;
        END LOOP;
        RETURN (SELECT format('p50 %s ms, p99 %s ms, %s rows', round(percentile_cont(0.5) WITHIN GROUP (ORDER BY t)::numeric, 2), round(percentile_cont(0.99) WITHIN GROUP (ORDER BY t)::numeric, 2), rows / 300) FROM unnest(took) AS t);
    END \$\$"

echo "$rows records, maintenance_work_mem $memory, $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg) at the beginning; processor time, memory and temporary files of all processes, shared_buffers apart"
echo '| step | s | CPU s | MB | files, MB | |'
echo '|---|---|---|---|---|---|'
sql -c '\copy person FROM PSTDIN (FORMAT csv, HEADER)' < <(python3 "$ROOT/tests/quality/people.py" "$rows" 1)
step 'a column of signatures' "ALTER TABLE person ADD sig bloom GENERATED ALWAYS AS (bloom_signature(coalesce(given_name, '') || ' ' || coalesce(surname, '') || ' ' || coalesce(dob, ''), 3, 60)) STORED" "$(size person)"
sql -c 'VACUUM ANALYZE person' -c 'CREATE VIEW truth AS SELECT id AS key, entity AS cluster FROM person' \
    -c 'CREATE TABLE asked AS SELECT sig FROM person TABLESAMPLE SYSTEM (1) REPEATABLE (1) LIMIT 300'
step 'index' 'CREATE INDEX person_sig ON person USING sigfile (sig)' "$(size person_sig)"
for threshold in 0.9 0.8 0.7; do
    step "300 searches, $threshold" "CREATE TABLE searched AS SELECT timed($threshold) AS said" 'SELECT said FROM searched'
    sql -c 'DROP TABLE searched'
done
sql -c "CREATE TABLE fresh AS SELECT 'n' || id AS id, entity, $columns FROM person TABLESAMPLE SYSTEM (1) REPEATABLE (2) LIMIT 10000"
step "$(sql -c 'SELECT count(*) FROM fresh') inserts, a transaction each" "DO \$\$ DECLARE f fresh; BEGIN FOR f IN TABLE fresh LOOP INSERT INTO person (id, entity, $columns) SELECT (f).*; COMMIT; END LOOP; END \$\$"
sql -c "DELETE FROM person WHERE id LIKE 'n%'" -c 'VACUUM person'
step 'pairs from 0.9 on' "CREATE TABLE alike AS SELECT * FROM bloom_duplicates('person', 'id', 'sig', 0.9)" "$(quality alike)"
step 'fit of a model' "CREATE TABLE fitted AS SELECT bloom_model_fit('person', 'id', '{$columns}', '{given_name,dob,email}') AS model"
step 'pairs of the model' "CREATE TABLE pair AS SELECT p.* FROM fitted, bloom_model_duplicates('person', 'id', model) AS p" "$(quality pair)"
step 'primary key' 'ALTER TABLE person ADD PRIMARY KEY (id)' "$(size person_pkey)"
step 'register' "SELECT bloom_register_create(model, 'person', 'id') FROM fitted" "$(size person_register_keys)"
echo "disk: $(sql -c "SELECT pg_size_pretty(pg_database_size('bench'))"), load $(cut -d' ' -f1 /proc/loadavg) at the end"
dropdb bench
