#!/usr/bin/env bash
# tests/citus.test.sh: bloom_ident_citus over a coordinator and workers gives what bloom_ident gives of a copy of the table on one node. Citus is built from the source that
# CITUS_SOURCE names, and nothing is tested without it.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"
# shellcheck source=scripts/citus.sh
source "$ROOT/scripts/citus.sh"

citus_available || exit 0
need_packages python3
citus_install
rows=${CITUS_ROWS:-3000}
python3 "$ROOT/tests/quality/people.py" "$rows" 1 >"$SCRATCH/people.csv"
chmod a+r "$SCRATCH/people.csv"
export PGOPTIONS='-c client_min_messages=error -c jit=off'
sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
fields='given_name,surname,dob,street,city,postcode,phone,email'

# same PAIRS LOCAL WHAT: two tables of pairs have the same rows, none of them twice.
same() {
    local wrong
    wrong=$(sql -c "CREATE TEMP TABLE f AS SELECT a, b, similarity FROM $1" -c "SELECT (SELECT count(*) FROM (TABLE f EXCEPT ALL SELECT a, b, similarity FROM $2) AS x) + (SELECT count(*) FROM (SELECT a, b, similarity FROM $2 EXCEPT ALL TABLE f) AS x)")
    [[ $wrong == 0 ]] || die "$3: $wrong pairs are otherwise"
}

citus_start 2
sql -c "CREATE TABLE plain (id text, entity text, ${fields//,/ text, } text)" -c "\\copy plain FROM '$SCRATCH/people.csv' (FORMAT csv, HEADER)" \
    -c "ALTER TABLE plain ADD n serial PRIMARY KEY, ADD sig bloom GENERATED ALWAYS AS (bloom_signature(given_name || surname || dob)) STORED" \
    -c 'CREATE TABLE person AS TABLE plain' -c "SELECT create_distributed_table('person', 'n')" >/dev/null
for threshold in 0.95 0.9 0.8; do
    sql -c "DROP TABLE IF EXISTS truth" -c "CREATE TABLE truth AS SELECT * FROM bloom_duplicates('plain', 'n', 'sig', $threshold)"
    for buckets in 1 2 3 6 NULL; do
        sql -c 'DROP TABLE IF EXISTS found' -c "SELECT bloom_citus_duplicates('person', 'n', 'sig', $threshold, 'found', $buckets)" >/dev/null
        same found truth "threshold $threshold, $buckets buckets"
    done
    say "threshold $threshold: $(sql -c 'SELECT count(*) FROM truth') pairs"
done

# Two tables; keys of other types, and columns with odd names, in another schema; missing signatures; many that are equal.
sql -c 'CREATE TABLE left_plain AS SELECT * FROM plain WHERE n % 2 = 0' -c 'CREATE TABLE right_plain AS SELECT * FROM plain WHERE n % 2 = 1' \
    -c 'CREATE TABLE left_side AS TABLE left_plain' -c 'CREATE TABLE right_side AS TABLE right_plain' -c "SELECT create_distributed_table('left_side', 'n'), create_distributed_table('right_side', 'id')" >/dev/null
for buckets in 1 3 NULL; do
    sql -c 'DROP TABLE IF EXISTS truth, found' -c "CREATE TABLE truth AS SELECT * FROM bloom_linkage('left_plain', 'id', 'sig', 'right_plain', 'n', 'sig', 0.8)" \
        -c "SELECT bloom_citus_linkage('left_side', 'id', 'sig', 'right_side', 'n', 'sig', 0.8, 'found', $buckets)" >/dev/null
    same found truth "linkage, $buckets buckets"
done
say "linkage: $(sql -c 'SELECT count(*) FROM truth') pairs"
sql >/dev/null <<'SQL'
CREATE SCHEMA "Odd ""schema""";
CREATE TABLE odd_plain AS SELECT md5(id)::uuid AS "Key, of it", city, CASE WHEN n % 7 > 0 THEN sig END AS "sig AS key, x" FROM plain;
INSERT INTO odd_plain SELECT md5('equal ' || i)::uuid, 'Bonn', bloom_signature('Erika Mustermann') FROM generate_series(1, 300) AS i;
CREATE TABLE "Odd ""schema"""."Person ""of"" a table whose name is as long as names can be: 63 b" AS TABLE odd_plain;
-- Citus waits for itself where the names of shards are cut off alike.
SET citus.multi_shard_modify_mode = 'sequential';
SELECT create_distributed_table('"Odd ""schema"""."Person ""of"" a table whose name is as long as names can be: 63 b"', 'Key, of it');
RESET citus.multi_shard_modify_mode;
SELECT bloom_citus_duplicates('"Odd ""schema"""."Person ""of"" a table whose name is as long as names can be: 63 b"', 'Key, of it', 'sig AS key, x', 0.9, 'Found "pairs"', 3, '{city}');
CREATE TABLE odd_truth AS SELECT * FROM bloom_duplicates('odd_plain', 'Key, of it', 'sig AS key, x', 0.9, '{city}');
SQL
same '"Odd ""schema"""."Found ""pairs"""' odd_truth 'odd names'
say "keys of type uuid, missing and equal signatures, within a city: $(sql -c 'SELECT count(*) FROM odd_truth') pairs"

# The pairs are taken as they are.
sql -c "SELECT count(*) FROM bloom_clusters('found'::regclass, 0.8)" >/dev/null

# refused SQLSTATE STATEMENT
refused() {
    local state
    state=$(psql -XAtq -v VERBOSITY=sqlstate -c "$2" 2>&1 | sed -n 's/^ERROR:  //p' | head -n 1) || true
    [[ $state == "$1" ]] || die "$2: $state, not $1"
}
refused 42809 "SELECT bloom_citus_duplicates('plain', 'n', 'sig', 0.9, 'none')"
sql -c 'CREATE TABLE everywhere AS TABLE plain' -c "SELECT create_reference_table('everywhere')" >/dev/null
refused 42809 "SELECT bloom_citus_duplicates('everywhere', 'n', 'sig', 0.9, 'none')"
refused 42703 "SELECT bloom_citus_duplicates('person', 'number', 'sig', 0.9, 'none')"
refused 42804 "SELECT bloom_citus_duplicates('person', 'n', 'surname', 0.9, 'none')"
refused 42703 "SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.9, 'none', 2, '{town}')"
refused 22023 "SELECT bloom_citus_duplicates('person', 'n', 'sig', 90, 'none')"
refused 22023 "SELECT bloom_citus_duplicates('person', 'n', 'sig', NULL, 'none')"
refused 22023 "SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.9, 'none', 0)"
refused 22004 "SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.9, NULL)"
refused 22004 "SELECT bloom_citus_duplicates(NULL, 'n', 'sig', 0.9, 'none')"
refused 42P07 "SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.9, 'found')"
refused 21000 "SELECT bloom_citus_duplicates('person', 'entity', 'sig', 0.9, 'none')"
# Nobody's code runs as whoever asks: that of a domain, a type of somebody's own that is called like ours.
sql -c 'CREATE DOMAIN checked AS integer CHECK (VALUE > 0)' -c 'CREATE SCHEMA false_one' -c 'CREATE DOMAIN false_one.bloom AS public.bloom' \
    -c 'CREATE TABLE of_others AS SELECT n::checked AS n, n AS number, city, sig::false_one.bloom AS other, sig FROM plain LIMIT 9' -c "SELECT create_distributed_table('of_others', 'number')" >/dev/null
refused 0A000 "SELECT bloom_citus_duplicates('of_others', 'n', 'sig', 0.9, 'none')"
refused 0A000 "SELECT bloom_citus_duplicates('of_others', 'number', 'sig', 0.9, 'none', 2, '{city,n}')"
refused 42804 "SELECT bloom_citus_duplicates('of_others', 'number', 'other', 0.9, 'none')"
# Whoever may not read the table learns nothing, and nothing stays of what has failed, or was taken back.
sql -c 'CREATE ROLE stranger LOGIN' -c 'GRANT CREATE ON SCHEMA public TO stranger'
refused 42501 "SET ROLE stranger; SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.9, 'none')"
sql -c 'BEGIN' -c "SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.9, 'none', 2)" -c ROLLBACK >/dev/null
refused 57014 "SET statement_timeout = 300; SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.3, 'none', 2)"
left=$(for node in coordinator worker1 worker2; do
    citus_use "$node"
    sql -c "SELECT relname FROM pg_class WHERE relname ~ '^(_bloom_citus|none)'"
done)
[[ -z $left ]] || die "tables are left: $left"
citus_use coordinator
say 'what cannot be is refused, and leaves nothing'

# The reference has the functions as they are declared, and each has a comment.
missing=$(sql -c "SELECT proname || '(' || replace(replace(regexp_replace(regexp_replace(pg_get_function_arguments(p.oid), ', OUT .*', ''), '::(text|name|regclass|integer|bigint|jsonb|double precision)(\[\])?', '', 'g'), ' DEFAULT ', ' = '), 'double precision', 'float8') || ')'
    FROM pg_proc AS p WHERE proname LIKE 'bloom\_citus\_%'" | while read -r signature; do grep -qF "\`$signature\`" "$ROOT/docs/reference.md" || echo "$signature"; done)
[[ -z $missing ]] || die "docs/reference.md does not have $missing"
[[ $(sql -c "SELECT count(*) FROM pg_proc WHERE proname LIKE '%bloom\_citus\_%' AND obj_description(oid, 'pg_proc') IS NULL") == 0 ]] || die 'a function has no comment'
