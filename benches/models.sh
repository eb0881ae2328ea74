#!/usr/bin/env bash
# Match models: the fit and all pairs of generated people (tests/quality/people.py, seed 1) with eight fields, a fifth of them duplicates. BENCH_MODELS says how
# many records, BENCH_MODELS_WORKERS how many workers may help with the fit, BENCH_MODELS_MEMORY with which maintenance_work_mem.

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

if ! command -v python3 >/dev/null; then
    say 'models: python3, which makes the people, is not there'
    exit
fi
dropdb --if-exists bench 2>/dev/null
createdb bench
export PGDATABASE=bench PGOPTIONS='-c jit=off -c client_min_messages=warning'
fields='given_name,surname,dob,street,city,postcode,phone,email'
sql -c 'CREATE EXTENSION bloom_ident'

# Kilobytes of this session: field FIELD
field() { echo "substring(pg_read_file('/proc/self/status') FROM '$1:\\s+(\\d+) kB')"; }
# measured WORKERS STATEMENT: seconds, and megabytes by which the process has grown for it; shared memory was there before.
measured() {
    sql <<SQL | awk '/^Time:/ { s = $2 / 1000 } /^grown/ { mb = $2 / 1024 } END { printf "%.1f | %d MB", s, mb }'
SET maintenance_work_mem = '${BENCH_MODELS_MEMORY:-64MB}';
SET max_parallel_workers_per_gather = $1;
SELECT bloom_signature('warm') \\g /dev/null
SELECT $(field VmSize) AS before \\gset
\\timing on
$2;
\\timing off
SELECT 'grown ' || $(field VmPeak)::int - :before;
SQL
}

echo "no index, warm, maintenance_work_mem ${BENCH_MODELS_MEMORY:-64MB}, $(nproc) cores; the memory is the leader's, without what was shared before"
echo '| records | workers at most | fit, s | memory of it | pairs, s | memory of it | pairs | of them right | of the duplicates |'
echo '|---|---|---|---|---|---|---|---|---|'
for rows in ${BENCH_MODELS:-100000 1000000}; do
    python3 "$ROOT/tests/quality/people.py" "$rows" 1 >"$SCRATCH/bench.csv"
    sql -c 'DROP TABLE IF EXISTS person' -c "CREATE TABLE person (id text, entity text, ${fields//,/ text, } text)" \
        -c "\\copy person FROM '$SCRATCH/bench.csv' (FORMAT csv, HEADER)" -c 'VACUUM ANALYZE person' \
        -c 'CREATE OR REPLACE VIEW truth AS SELECT id AS key, entity AS cluster FROM person'
    rm "$SCRATCH/bench.csv"
    for workers in ${BENCH_MODELS_WORKERS:-0 2}; do
        sql -c 'DROP TABLE IF EXISTS model, pair'
        fit=$(measured "$workers" "CREATE TABLE model AS SELECT bloom_model_fit('person', 'id', '{$fields}', '{given_name,dob,email}') AS model")
        pairs=$(measured "$workers" "CREATE TABLE pair AS SELECT p.* FROM model, bloom_model_duplicates('person', 'id', model) AS p")
        echo "| $rows | $workers | $fit | $pairs | $(sql -F ' | ' -c "SET maintenance_work_mem = '1GB'" -c "SELECT found, round(precision::numeric, 3), round(recall::numeric, 3) FROM bloom_quality('pair', 'truth')") |"
    done
    sql -c 'DROP VIEW truth'
done
dropdb bench
