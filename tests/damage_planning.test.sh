#!/usr/bin/env bash
# A damaged sigfile index is told of where it is planned with, and fails only what must use it: a statement that can be answered without
# it is answered.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
expect() { [[ $1 == "$2" ]] || die "expected \"$2\", got \"$1\""; }

# From 18 on checksums are the default.
checksums=
((PG_MAJOR < 18)) || checksums=--no-data-checksums
cluster_init planning $checksums
cluster_conf planning 'autovacuum = off'
cluster_start planning
cluster_use planning
sql -c 'CREATE EXTENSION bloom_ident' -c "
    CREATE TABLE person AS SELECT i AS id, bloom_signature('name ' || i) AS sig FROM generate_series(1, 5000) AS i;
    CREATE INDEX by_sig ON person USING sigfile (sig); ANALYZE person"
file=$(cluster_dir planning)/$(sql -c "SELECT pg_relation_filepath('by_sig')")
cp "$file" "$SCRATCH/whole"

# Of which the plan may know, as it knows the value, or not.
statements=("SELECT id FROM person WHERE sig % bloom_query(bloom_signature('name 77'), 0.9)"
    "SELECT id FROM person WHERE sig % (SELECT bloom_query(bloom_signature('name 77'), 0.9))"
    "SELECT id FROM person ORDER BY sig <-> bloom_signature('name 77') LIMIT 1")
without='SET enable_indexscan = off; SET enable_bitmapscan = off'

# damaged HOW COMMAND...: with the index's file changed by COMMAND.
damaged() {
    local how=$1 statement answer log=$SCRATCH/planning.answer
    shift
    cluster_stop planning
    cp "$SCRATCH/whole" "$file"
    "$@"
    cluster_start planning
    for statement in "${statements[@]}"; do
        answer=$(sql -c "$without" -c "$statement" 2>"$log") || die "$how: $statement: $(<"$log")"
        expect "$answer" 77
        grep -qE '^WARNING:  index "by_sig" (is damaged|has)' "$log" || die "$how: no warning: $statement: $(<"$log")"
        grep -q '^HINT:  Rebuild the index with REINDEX.$' "$log" || die "$how: no hint: $(<"$log")"
        # From 18 on whoever rules everything else out gets the index, whatever it costs.
        ((PG_MAJOR >= 18)) || expect "$(sql -c 'SET enable_seqscan = off; SET enable_sort = off' -c "$statement" 2>/dev/null)" 77
    done
    if sql -v VERBOSITY=verbose -c "INSERT INTO person VALUES (0, bloom_signature('name 0'))" 2>"$log"; then die "$how: no error"; fi
    grep -qE '^ERROR:  XX002: index "by_sig" (is damaged|has)' "$log" || die "$how: $(<"$log")"
    say "$how: planned without"
}
blank() { dd if=/dev/zero of="$file" bs=8192 seek="$1" count="$2" conv=notrunc status=none; }
blocks=$(($(stat -c %s "$file") / 8192))
damaged 'a blank metapage' blank 0 1
damaged 'blank pages behind it' blank 1 $((blocks - 1))
damaged 'a metapage alone' truncate --size=8192 "$file"
damaged 'an empty file' truncate --size=0 "$file"
