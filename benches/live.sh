#!/usr/bin/env bash
# A match model at work: what a score and the keys of a record cost, by where the model comes from. Generated people (tests/quality/people.py, seed 1)
# with eight fields, a fifth of them duplicates; the model is fitted to them. BENCH_LIVE says how many records, ROUNDS how many rounds the medians are of.

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

if ! command -v python3 >/dev/null; then
    say 'live: python3, which makes the people, is not there'
    exit
fi
dropdb --if-exists bench 2>/dev/null
createdb bench
export PGDATABASE=bench PGOPTIONS='-c jit=off -c client_min_messages=warning -c max_parallel_workers_per_gather=0'
fields='given_name,surname,dob,street,city,postcode,phone,email'
rows=${BENCH_LIVE:-20000} rounds=${ROUNDS:-5}
python3 "$ROOT/tests/quality/people.py" "$rows" 1 >"$SCRATCH/bench.csv"
sql -c 'CREATE EXTENSION bloom_ident' -c "CREATE TABLE person (id text, entity text, ${fields//,/ text, } text)" -c "\\copy person FROM '$SCRATCH/bench.csv' (FORMAT csv, HEADER)" \
    -c "CREATE TABLE fitted AS SELECT bloom_model_fit('person', 'id', '{$fields}', '{given_name,dob,email}') AS model" \
    -c "CREATE TABLE record AS SELECT id, to_jsonb(person) - 'entity' AS record FROM person" -c 'CREATE INDEX ON record (id); ANALYZE record' \
    -c "CREATE TABLE pair AS SELECT x.record AS a, y.record AS b FROM fitted, bloom_model_duplicates('person', 'id', model, 0) AS p JOIN record AS x ON x.id = p.a JOIN record AS y ON y.id = p.b" \
    -c "CREATE TABLE match AS SELECT x.record AS a, y.record AS b FROM fitted, bloom_model_duplicates('person', 'id', model, 0.5) AS p JOIN record AS x ON x.id = p.a JOIN record AS y ON y.id = p.b" \
    -c 'VACUUM ANALYZE pair' -c 'VACUUM ANALYZE match' 2>&1 | grep -v -E '^(WARNING|DETAIL|HINT)' || true
rm "$SCRATCH/bench.csv"
sql -c "SELECT 'The model has ' || length(model::text) / 1024 || ' kB as JSON, ' || pg_column_size(model) / 1024 || ' kB stored, ' || jsonb_array_length(model -> 'searches') || ' searches.' FROM fitted"

# microseconds OF_TABLE STATEMENT [BEFORE]: of each row of a table, without what reading them costs; the median of the rounds.
microseconds() {
    local i n reading
    n=$(sql -c "SELECT count(*) FROM $1")
    reading="SELECT count(a), count(b) FROM $1"
    [[ $1 != record ]] || reading="SELECT count(record) FROM record"
    {
        echo "SELECT model AS m FROM fitted \\gset"
        echo "$3"
        echo "$2 \\g /dev/null"
        echo '\timing on'
        for ((i = 0; i < rounds; i++)); do
            echo "$reading \\g /dev/null"
            echo "$2 \\g /dev/null"
        done
    } | sql | awk -v n="$n" '/^Time:/ { if (++i % 2) before = $2; else print 1000 * ($2 - before) / n }' | sort -n | awk '{ t[NR] = $1 } END { printf "%.2f", t[int((NR + 1) / 2)] }'
}

score="(bloom_model_score(%s, a, b)).bits"
in_pairs() { printf "SELECT max(${score})" "$1"; }
keys_of() { printf 'SELECT count(key) FROM %s record, LATERAL bloom_model_keys(%s, record) AS k' "$2" "$1"; }
echo '| model | score of a pair that is compared, µs | of a match, µs | keys of a record, µs |'
echo '|---|---|---|---|'
row() {
    local from=$3
    echo "| $1 | $(microseconds pair "$(in_pairs "$2") FROM ${from}pair" "${4:-}") | $(microseconds match "$(in_pairs "$2") FROM ${from}match" "${4:-}") | $(microseconds record "$(keys_of "$2" "$from")" "${4:-}") |"
}
row 'a constant' ":'m'::jsonb" ''
row 'one joined row' model 'fitted, '
row 'a subquery' '(SELECT model FROM fitted)' ''
# A parameter: a prepared statement with a generic plan.
parameter() {
    microseconds "$1" "EXECUTE s(:'m')" "SET plan_cache_mode = force_generic_plan; PREPARE s(jsonb) AS $2;"
}
echo "| a parameter | $(parameter pair "$(in_pairs '$1') FROM pair") | $(parameter match "$(in_pairs '$1') FROM match") | $(parameter record "$(keys_of '$1' '')") |"
dropdb bench

# The register, with a cluster of its own.
[[ ${BENCH_REGISTER:-} == 0 ]] || "$ROOT/benches/register.sh"
