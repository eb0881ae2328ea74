#!/usr/bin/env bash
# What functions of identity text cost, in microseconds a call above length() of the same text: 200,000 rows, one backend, warm, processor
# time. The medians of seven runs.

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

rows=200000
runs=7

dropdb --if-exists bench 2>/dev/null
createdb bench
export PGDATABASE=bench PGOPTIONS='-c max_parallel_workers_per_gather=0 -c jit=off -c client_min_messages=warning'
load_febrl
cp "$ROOT/tests/data/characters.tsv" "$SCRATCH/characters.tsv"
chmod a+r "$SCRATCH/characters.tsv"
sql -c 'CREATE TABLE example (name text, tokens text)' -c "COPY example FROM '$SCRATCH/characters.tsv'" -c "
    CREATE TABLE few AS SELECT row_number() OVER () - 1 AS n, name FROM example WHERE char_length(replace(name, ' ', '')) < 5" -c "
    CREATE TABLE text AS SELECT to_char(born, 'DD.MM.YYYY') AS date, to_char(born, 'YYYYMMDD') AS digits, to_char(born, 'DD. FMMonth YYYY') AS words,
            to_char(born + i * interval '17 seconds', 'HH24:MI:SS') AS time, (SELECT name FROM few WHERE n = i % (SELECT count(*) FROM few)) AS name, 'Müller-Lüdenscheidt ' || i AS latin
        FROM generate_series(1, $rows) AS i, LATERAL (SELECT date '1930-01-01' + i * 7919 % 29000) AS b (born)" -c 'VACUUM ANALYZE text'

# processor EXPRESSION: microseconds a row, the median of all runs
processor() {
    local ticks="(SELECT split_part(s, ' ', 14)::int + split_part(s, ' ', 15)::int FROM pg_read_file('/proc/' || pg_backend_pid() || '/stat') AS s)"
    for ((i = 0; i < runs; i++)); do
        # five times, since a tick is long
        sql -F ' ' -c 'SELECT count(*) FROM text' -c "SELECT $ticks" -c "SELECT count($1) FROM text, generate_series(1, 5)" -c "SELECT $ticks" |
            awk -v hertz="$(getconf CLK_TCK)" -v calls="$((5 * rows))" 'NR == 2 { before = $1 } NR == 4 { printf "%.4f\n", ($1 - before) / hertz * 1e6 / calls }'
    done | sort -n | sed -n "$((runs / 2 + 1))p"
}

date=$(processor 'length(date)')
echo "| expression | µs |"
echo '|---|---|'
# Without {} so that the shell leaves the quotes alone.
while read -r expression; do
    awk -v what="$expression" -v us="$(processor "$expression")" -v base="$date" 'BEGIN { printf "| `%s` | %.2f |\n", what, us - base }'
done <<'EXPRESSIONS'
ident_date(date, 'DD.MM.YYYY')
ident_date(date, 'YYYY-MM-DD', 'DD.MM.YYYY')
ident_date(date, 'YYYY-MM-DD', 'MM/DD/YYYY', 'DDth Month YYYY', 'DD.MM.YYYY')
ident_date(words, 'DD. Month YYYY')
ident_date_or_null(date, 'YYYY-MM-DD')
ident_date_text(date, 'YYYY-MM-DD')
ident_time(time, 'HH24:MI:SS')
bloom_signature_of_date(digits)
bloom_signature(digits, ngram => 2)
ident_normalize(latin)
ident_normalize(name)
ident_characters(name)
bloom_signature_of_tokens(ident_characters(name))
bloom_signature(name)
EXPRESSIONS
dropdb bench
