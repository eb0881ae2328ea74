#!/usr/bin/env bash
# Match models: the fit and all pairs of generated people (tests/quality/people.py, seed 1) with eight fields, a fifth of them duplicates; what all processes use for
# it. BENCH_MODELS says how many records, BENCH_MODELS_WORKERS how many workers may help with the fit, BENCH_MODELS_MEMORY with which maintenance_work_mem. With
# BENCH_MODELS_CANDIDATES=N the pairs that are compared are counted, too: those of one record of N, whatever their probability. All of them, N = 1, take more disk than all
# the rest.

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
memory=${BENCH_MODELS_MEMORY:-64MB}
sql -c 'CREATE EXTENSION bloom_ident'

echo "no index, warm, maintenance_work_mem $memory, $(nproc) cores; memory and temporary files of all processes, shared_buffers apart"
echo '| records | workers at most | fit, s | CPU s | MB | files, MB | pairs, s | CPU s | MB | files, MB | pairs | of them right | of the duplicates | F1 | load |'
echo '|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|'
candidates=()
drawn=${BENCH_MODELS_CANDIDATES:-0}
for rows in ${BENCH_MODELS:-100000 1000000}; do
    sql -c 'DROP TABLE IF EXISTS person' -c "CREATE TABLE person (id text, entity text, ${fields//,/ text, } text)" \
        -c '\copy person FROM PSTDIN (FORMAT csv, HEADER)' -c 'VACUUM ANALYZE person' \
        -c 'CREATE OR REPLACE VIEW truth AS SELECT id AS key, entity AS cluster FROM person' < <(python3 "$ROOT/tests/quality/people.py" "$rows" 1)
    first=
    for workers in ${BENCH_MODELS_WORKERS:-0 2}; do
        sql -c 'DROP TABLE IF EXISTS model, pair'
        asked=(sql -c "SET maintenance_work_mem = '$memory'" -c "SET max_parallel_workers_per_gather = $workers" -c "SELECT bloom_signature('warm')")
        fit=$(usage "${asked[@]}" -c "CREATE TABLE model AS SELECT bloom_model_fit('person', 'id', '{$fields}', '{given_name,dob,email}') AS model")
        pairs=$(usage "${asked[@]}" -c "CREATE TABLE pair AS SELECT p.* FROM model, bloom_model_duplicates('person', 'id', model) AS p")
        # Of 50 million people that asks for more than 4 GB.
        quality=$(sql -F ' | ' -c "SET maintenance_work_mem = '12GB'" -c "SELECT found, round(precision::numeric, 3), round(recall::numeric, 3), round(f1::numeric, 3) FROM bloom_quality('pair', 'truth')")
        echo "| $rows | $workers | $fit | $pairs | $quality | $(cut -d' ' -f1 /proc/loadavg) |"
        # Whatever the number of workers.
        made=$(sql -c 'SELECT model FROM model' -c 'SELECT count(*), sum(hashtextextended(pair::text, 0)) FROM pair')
        [[ $made == "${first:=$made}" ]] || die "$rows records: other pairs with $workers workers"
    done
    if ((drawn > 0)); then
        sql -c "SET maintenance_work_mem = '$memory'" -c "CREATE TABLE drawn AS SELECT id AS key FROM person WHERE hashtextextended(id, 0) % $drawn = 0" \
            -c "CREATE TABLE candidate AS SELECT a, b FROM model, bloom_model_duplicates('person', 'id', model, 0, new => 'drawn')" -c 'ANALYZE drawn, candidate'
        # A pair of two drawn records stands for half as many.
        candidates+=("$(sql -c "SELECT format('$rows records: about %s candidates, recall %s, by the %s pairs of %s records',
                round($drawn / 2.0 * sum((x.key IS NOT NULL)::int + (y.key IS NOT NULL)::int)),
                round(count(*) FILTER (WHERE p.entity = q.entity) / (SELECT sum(d * (n - d) + d * (d - 1) / 2)
                    FROM (SELECT count(*) AS n, count(key) AS d FROM person LEFT JOIN drawn ON key = id GROUP BY entity) AS e), 4), count(*), (SELECT count(*) FROM drawn))
            FROM candidate JOIN person AS p ON p.id = a JOIN person AS q ON q.id = b LEFT JOIN drawn AS x ON x.key = a LEFT JOIN drawn AS y ON y.key = b" -c 'DROP TABLE drawn, candidate')")
    fi
    sql -c 'DROP VIEW truth'
done
for line in "${candidates[@]}"; do echo "$line"; done
dropdb bench
