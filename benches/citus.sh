#!/usr/bin/env bash
# bloom_citus_duplicates over a coordinator and CITUS_WORKERS workers (3) against bloom_duplicates on one node, with CITUS_ROWS generated people (200,000 and a
# million) at CITUS_THRESHOLDS (0.9 and 0.8) in CITUS_BUCKETS buckets (as many as the job takes by itself, and 3): seconds of processor time of all nodes, and
# the bytes that go between them, which the loopback device of a network namespace of their own counts. The index of one node is built in the same run. Then the pairs of
# a match model, of CITUS_MODELS people (200,000): bloom_citus_model_duplicates against bloom_model_duplicates, and a fit to a sample of a tenth against one to all.

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"
# shellcheck source=scripts/citus.sh
source "$ROOT/scripts/citus.sh"

citus_available || exit 0
if [[ -z ${CITUS_TCP:-} ]]; then
    if unshare -n true 2>/dev/null; then
        # The server of the other benchmarks stays where it is: sockets in the file system know no namespaces.
        CITUS_TCP=1 unshare -n "${BASH_SOURCE[0]}"
        exit
    fi
    say 'no network namespace can be made here, so bytes between nodes are not counted'
else
    ip link set lo up
fi
need_packages python3
citus_install
workers=${CITUS_WORKERS:-3}
names=(coordinator)
for ((i = 1; i <= workers; i++)); do names+=("worker$i"); done
export CITUS_CONF="shared_buffers = 256MB
maintenance_work_mem = 256MB
max_wal_size = 4GB
autovacuum = off
checkpoint_timeout = 1h
citus.max_adaptive_executor_pool_size = ${CITUS_POOL:-1}"
citus_start "$workers"
export PGOPTIONS='-c client_min_messages=warning'

# total: hundredths of a second of processor time of all nodes so far.
total() { cpu "${names[@]}" | awk '{ n += $1 } END { print n }'; }
# moved: bytes between the nodes so far.
moved() { [[ -z ${CITUS_TCP:-} ]] || sed -n 's/^ *lo: *\([0-9]*\).*/\1/p' /proc/net/dev; }

# grid ROWS THRESHOLD BUCKETS: the line of the table; the seconds of one node are in $alone.
grid() {
    local before after at stages=() bytes buckets=$3 pairs='' line
    sql -c 'DROP TABLE IF EXISTS found'
    buckets=$(sql -c "SELECT COALESCE($3, _bloom_citus_buckets(true, $1))")
    mapfile -t before < <(cpu "${names[@]}")
    bytes=$(moved)
    at=$(total)
    while read -r line; do
        case $line in
            *'bloom_ident_citus: the cells'*) stages+=($(($(total) - at))) && at=$(total) ;;
            *ERROR*) die "$line" ;;
            [0-9]*) pairs=$line ;;
        esac
    done < <(PGOPTIONS='' sql -c 'SET client_min_messages = debug1' -c "SELECT bloom_citus_duplicates('person', 'id', 'sig', $2, 'found', $buckets)" 2>&1)
    [[ $pairs == "$expected" ]] || die "the grid has $pairs pairs, and one node $expected"
    stages+=($(($(total) - at)))
    bytes=$(($(moved) - bytes))
    mapfile -t after < <(cpu "${names[@]}")
    printf '%s\n' "${after[@]}" | awk -v before="${before[*]}" -v stages="${stages[*]}" -v alone="$alone" -v bytes="$bytes" -v rows="$1" -v threshold="$2" -v buckets="$buckets" '
        { split(before, b, " "); used[NR] = $1 - b[NR]; all += used[NR]; if (NR > 1) { sum += used[NR]; if (used[NR] > most) most = used[NR] } }
        END { split(stages, s, " ")
            printf "| %d | %s | %d | %.1f | %.1f (%.1f; %.1f, %.1f, %.1f) | %.2f | %s | %.2f |\n", rows, threshold, buckets, alone / 100, all / 100, (used[1]) / 100, s[1] / 100, s[2] / 100, s[3] / 100,
                all / alone, (bytes > 0 ? sprintf("%.1f", bytes / rows / buckets) : "-"), most / (sum / (NR - 1)) }'
}

echo "a coordinator and $workers workers, ${CITUS_POOL:-1} connections to each"
echo '| rows | threshold | buckets | one node, CPU s, with its index | grid, CPU s of all nodes (the coordinator; fill, index, pairs) | ratio | bytes a row and bucket | busiest worker over the mean |'
echo '|---|---|---|---|---|---|---|---|'
for rows in ${CITUS_ROWS:-200000 1000000}; do
    file=$SCRATCH/people$rows.csv
    if [[ -n ${CITUS_PEOPLE:-} ]]; then cp "$CITUS_PEOPLE/people$rows.csv" "$file"; else python3 "$ROOT/tests/quality/people.py" "$rows" 1 >"$file"; fi
    chmod a+r "$file"
    fields='given_name text, surname text, dob text, street text, city text, postcode text, phone text, email text'
    sql -c 'DROP TABLE IF EXISTS plain, person' -c "CREATE TABLE raw (id text, entity text, $fields)" -c "\\copy raw FROM '$file' (FORMAT csv, HEADER)" \
        -c "CREATE TABLE plain AS SELECT substr(id, 2)::integer AS id, given_name, surname, dob, city, bloom_signature_of_fields(3, 60, 0.01, given_name, surname, dob, city) AS sig FROM raw" \
        -c 'DROP TABLE raw' -c 'CREATE TABLE person (LIKE plain)' -c "SELECT create_distributed_table('person', 'id')" -c 'INSERT INTO person TABLE plain' -c 'VACUUM ANALYZE plain' -c 'VACUUM ANALYZE person' -c CHECKPOINT >/dev/null
    at=$(total)
    sql -c 'CREATE INDEX ON plain USING sigfile (sig)'
    index=$(($(total) - at))
    for threshold in ${CITUS_THRESHOLDS:-0.9 0.8}; do
        at=$(total)
        expected=$(sql -c "CREATE TABLE truth AS SELECT * FROM bloom_duplicates('plain', 'id', 'sig', $threshold)" -c 'SELECT count(*) FROM truth' -c 'DROP TABLE truth')
        alone=$(($(total) - at + index))
        for buckets in ${CITUS_BUCKETS:-NULL 3}; do grid "$rows" "$threshold" "$buckets"; done
    done
    echo "the index of one node: $(awk -v i="$index" 'BEGIN { print i / 100 }') s of $rows rows"
done

fields=given_name,surname,dob,street,city,postcode,phone,email
echo
echo '| rows | searches | pairs | one node, CPU s | all nodes, CPU s (the coordinator; records, keys, blocks, records of blocks, pairs) | bytes a record | busiest worker over the mean | fit of one node, CPU s, F1 | fit to a tenth, CPU s of all nodes, F1 |'
echo '|---|---|---|---|---|---|---|---|---|'
for rows in ${CITUS_MODELS:-200000}; do
    file=$SCRATCH/people$rows.csv
    [[ -e $file ]] || python3 "$ROOT/tests/quality/people.py" "$rows" 1 >"$file"
    chmod a+r "$file"
    sql -c 'DROP TABLE IF EXISTS raw, plain, person, fitted, sampled CASCADE' -c "CREATE TABLE raw (id text, entity text, ${fields//,/ text, } text)" -c "\\copy raw FROM '$file' (FORMAT csv, HEADER)" \
        -c "CREATE TABLE plain AS SELECT substr(id, 2)::integer AS id, $fields FROM raw" -c 'CREATE VIEW known AS SELECT substr(id, 2) AS key, entity AS cluster FROM raw' \
        -c 'CREATE TABLE person (LIKE plain)' -c "SELECT create_distributed_table('person', 'id')" -c 'INSERT INTO person TABLE plain' -c 'VACUUM ANALYZE plain' -c 'VACUUM ANALYZE person' -c CHECKPOINT >/dev/null
    at=$(total)
    PGOPTIONS='-c client_min_messages=error' sql -c "CREATE TABLE fitted AS SELECT bloom_model_fit('plain', 'id', '{$fields}') AS model"
    fit=$(($(total) - at)) at=$(total)
    PGOPTIONS='-c client_min_messages=error' sql -c "CREATE TABLE sampled AS SELECT bloom_citus_model_fit('person', 'id', '{$fields}', sample => $((rows / 10))) AS model"
    sample=$(($(total) - at)) at=$(total)
    sql -c "CREATE TABLE truth AS SELECT d.* FROM fitted, bloom_model_duplicates('plain', 'id', model) AS d"
    alone=$(($(total) - at))
    mapfile -t before < <(cpu "${names[@]}")
    bytes=$(moved) stages=()
    at=$(total)
    while read -r line; do
        case $line in
            *'bloom_ident_citus: the'*) stages+=($(($(total) - at))) && at=$(total) ;;
            *ERROR*) die "$line" ;;
        esac
    done < <(PGOPTIONS='' sql -c 'SET client_min_messages = debug1' -c "SELECT bloom_citus_model_duplicates('person', 'id', model, 'found_by_model') FROM fitted" 2>&1)
    stages+=($(($(total) - at)))
    bytes=$(($(moved) - bytes))
    mapfile -t after < <(cpu "${names[@]}")
    wrong=$(sql -c 'CREATE TEMP TABLE f AS TABLE found_by_model' -c 'SELECT (SELECT count(*) FROM (SELECT a, b, probability, bits FROM f EXCEPT ALL SELECT a, b, probability, bits FROM truth) AS x) + (SELECT count(*) FROM (SELECT a, b, probability, bits FROM truth EXCEPT ALL SELECT a, b, probability, bits FROM f) AS x)')
    [[ $wrong == 0 ]] || die "$wrong pairs of the model are otherwise than on one node"
    f1() { PGOPTIONS='-c client_min_messages=error' sql -c "CREATE TEMP TABLE judged AS SELECT d.a, d.b, d.probability FROM $1, bloom_model_duplicates('plain', 'id', model) AS d" -c "SELECT round(f1::numeric, 4) FROM bloom_quality('judged', 'known')"; }
    printf '%s\n' "${after[@]}" | awk -v before="${before[*]}" -v stages="${stages[*]}" -v alone="$alone" -v bytes="$bytes" -v rows="$rows" -v fit="$fit" -v sample="$sample" \
        -v searches="$(sql -c "SELECT jsonb_array_length(model -> 'searches') FROM fitted")" -v pairs="$(sql -c 'SELECT count(*) FROM truth')" -v of_all="$(f1 fitted)" -v of_sample="$(f1 sampled)" '
        { split(before, b, " "); used[NR] = $1 - b[NR]; all += used[NR]; if (NR > 1) { sum += used[NR]; if (used[NR] > most) most = used[NR] } }
        END { split(stages, s, " ")
            printf "| %d | %d | %d | %.1f | %.1f (%.1f; %.1f, %.1f, %.1f, %.1f, %.1f) | %s | %.2f | %.1f, %s | %.1f, %s |\n", rows, searches, pairs, alone / 100, all / 100, used[1] / 100, s[1] / 100, s[2] / 100, s[3] / 100, s[4] / 100, s[5] / 100,
                (bytes > 0 ? sprintf("%.0f", bytes / rows) : "-"), most / (sum / (NR - 1)), fit / 100, of_all, sample / 100, of_sample }'
done
