#!/usr/bin/env bash
# All pairs of data with few distinct values: 100,000 records as in duplicates.sh, none of them copies, whose given name, surname
# and town are each one of so many values, by one process. Processor time, since other programs may run beside it.

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

rows=100000
runs=3

dropdb --if-exists bench 2>/dev/null
createdb bench
export PGDATABASE=bench PGOPTIONS='-c max_parallel_workers_per_gather=0 -c jit=off -c client_min_messages=warning'
load_febrl
load_words
sql -c 'ALTER TABLE word RENAME TO every_word'

# processor THRESHOLD: seconds, the least of all runs, and pairs
processor() {
    local ticks="(SELECT split_part(s, ' ', 14)::int + split_part(s, ' ', 15)::int FROM pg_read_file('/proc/' || pg_backend_pid() || '/stat') AS s)"
    for ((i = 0; i < runs; i++)); do
        sql -F ' ' -c "SELECT $ticks AS before" -c "SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', $1)" -c "SELECT $ticks AS after" |
            awk -v hertz="$(getconf CLK_TCK)" 'NR == 1 { before = $1 } NR == 2 { pairs = $1 } NR == 3 { printf "%.2f %d\n", ($1 - before) / hertz, pairs }'
    done | sort -n | head -n 1
}

echo "processor time in s for all pairs of $rows records; the least of $runs runs"
echo '| distinct values | threshold | s | ratio | pairs |'
echo '|---|---|---|---|---|'
declare -A first
for values in all 200 50 20 10; do
    sql -c 'DROP TABLE IF EXISTS word, person'
    if [[ $values == all ]]; then
        sql -c 'CREATE TABLE word AS SELECT * FROM every_word'
        name="$words rows of FEBRL 3"
    else
        # column NAME: so many of its values, the first by a hash
        column() { echo "(SELECT $1, row_number() OVER (ORDER BY md5($1)) - 1 AS n FROM (SELECT DISTINCT $1 FROM every_word) AS v LIMIT $values)"; }
        sql -c "CREATE TABLE word AS SELECT * FROM $(column given_name) AS a JOIN $(column surname) AS b USING (n) JOIN $(column suburb) AS c USING (n)"
        name=$values
    fi
    words=$(sql -c 'CREATE UNIQUE INDEX ON word (n)' -c 'SELECT count(*) FROM word')
    sql -c "
        CREATE TABLE person AS
        SELECT person AS id, bloom_signature(concat_ws(' ', $(pick 1 given_name), $(pick 2 surname), $(born 3), $(pick 4 suburb)), 3, 60) AS sig
        FROM generate_series(1, $rows) AS person" -c 'ALTER TABLE person ADD PRIMARY KEY (id)' \
        -c 'CREATE INDEX ON person USING sigfile (sig)' -c 'VACUUM ANALYZE person'
    for t in 0.9 0.85 0.8; do
        read -r seconds pairs < <(processor "$t")
        : "${first[$t]:=$seconds}"
        echo "| $name | $t | $seconds | $(awk -v a="$seconds" -v b="${first[$t]}" 'BEGIN { printf "%.1f", a / b }') | $pairs |"
    done
done
dropdb bench
