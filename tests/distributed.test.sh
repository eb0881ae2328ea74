#!/usr/bin/env bash
# Tables whose rows are elsewhere: jobs read what a query reads, and guards refuse. A module made here stands in for an
# extension that distributes tables: queries of a shell get the rows of another table by a custom scan.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

need_headers
mkdir -p "$SCRATCH/distributed"
"${CC:-cc}" -shared -fPIC -Wall -Werror=implicit-function-declaration -I"$("$PG_CONFIG" --includedir-server)" \
    -o "$SCRATCH/distributed/elsewhere.so" "$ROOT/tests/distributed/elsewhere.c"
chmod -R a+rX "$SCRATCH/distributed"

psql -XAtqc 'CREATE DATABASE distributed'
ask() { PGOPTIONS='-c client_min_messages=warning' psql -XAtq -v ON_ERROR_STOP=1 -d distributed "$@"; }
ask <<'SQL'
CREATE EXTENSION bloom_ident;
CREATE TABLE rows (id int PRIMARY KEY, name text, sig bloom, other bloom);
INSERT INTO rows SELECT i, 'name ' || i / 2, bloom_signature(md5((i / 2)::text)), bloom_signature(md5((i / 2)::text))
    FROM generate_series(2, 401) i;
CREATE TABLE shell (LIKE rows INCLUDING ALL);
CREATE INDEX ON shell USING sigfile (sig);
CREATE INDEX ON rows USING sigfile (sig);
CREATE TABLE plain (id int PRIMARY KEY, sig bloom);
INSERT INTO plain SELECT id, sig FROM rows;
CREATE INDEX ON plain USING sigfile (sig);
-- a partition that is a shell
CREATE TABLE part (id int, name text, sig bloom, other bloom) PARTITION BY RANGE (id);
CREATE TABLE part_here PARTITION OF part FOR VALUES FROM (1000) TO (2000);
INSERT INTO part SELECT i, 'name ' || i, bloom_signature(md5((i - 1000)::text)), NULL FROM generate_series(1001, 1200) i;
CREATE TABLE found AS SELECT a, b, similarity FROM bloom_duplicates('rows', 'id', 'sig', 0.9);
CREATE TABLE truth AS SELECT id AS key, id / 2 AS cluster FROM rows;
SQL

elsewhere() {
    ask -c "LOAD '$SCRATCH/distributed/elsewhere.so'" -c "SET elsewhere.shell = '${shell:-shell}'" \
        -c "SET elsewhere.rows = 'rows'" "$@"
}
same() {
    [[ $2 == "$3" ]] || die "$1:"$'\n'"$2"$'\n'"where this is expected:"$'\n'"$3"
}

# the stand-in is one: rows by a query, and none in the storage
same 'rows of the shell' "$(elsewhere -c 'SELECT count(*), count(DISTINCT sig) FROM shell WHERE id > 3')" "398|199"
same 'rows in its storage' "$(ask -c 'SELECT count(*) FROM shell')" 0
same 'reading by index' "$(elsewhere -c 'SET enable_seqscan = off' -c 'SELECT count(*) FROM shell WHERE sig IS NOT NULL')" 400

# every job gives what it gives of the rows themselves
jobs() {
    cat <<SQL
SELECT md5(string_agg(p::text, ' ' ORDER BY a, b)), count(*) FROM bloom_duplicates('$1', 'id', 'sig', 0.9) AS p;
SELECT md5(string_agg(p::text, ' ' ORDER BY a, b)), count(*) FROM bloom_duplicates('$1', 'id', '{sig,other}', '{1,2}', 0.9) AS p;
SELECT md5(string_agg(p::text, ' ' ORDER BY a, b)), count(*) FROM bloom_linkage('$1', 'id', 'sig', 'plain', 'id', 'sig', 0.9) AS p;
SELECT md5(string_agg(p::text, ' ' ORDER BY a, b)), count(*) FROM bloom_linkage('plain', 'id', 'sig', '$1', 'id', 'sig', 0.9) AS p;
SELECT md5(string_agg(c::text, ' ' ORDER BY cluster, key)), count(*) FROM bloom_clusters('$1', 'id', 'sig', 0.9) AS c;
SELECT key, similarity FROM bloom_blocklist(bloom_signature(md5('7')), '$1', 'sig', 0.9);
SELECT md5(replace(regexp_replace(bloom_report('$1', 'id', 'sig', 0.9, truth => 'truth', title => 'all', format => 'text'), '[^\n]*\n$', ''), 'public.$1', ''))
SQL
}
expected=$(ask -c "$(jobs rows)")
[[ $(head -n 1 <<<"$expected") == *'|200' ]] || die "pairs of the rows: $expected"
same 'jobs over the shell' "$(elsewhere -c "$(jobs shell)")" "$expected"
for view in "bloom_clusters('shell_found', 0.9)" "bloom_quality('shell_found', 'truth')" "bloom_threshold_sweep('shell_found', 'truth')"; do
    ask -c 'DROP TABLE IF EXISTS shell_found' -c 'CREATE TABLE shell_found (LIKE found)'
    call="SELECT md5(string_agg(f::text, ' ')) FROM ${view} AS f"
    same "$view" "$(ask -c "LOAD '$SCRATCH/distributed/elsewhere.so'" -c "SET elsewhere.shell = 'shell_found'" \
        -c "SET elsewhere.rows = 'found'" -c "$call")" "$(ask -c "${call/shell_found/found}")"
done

# one partition elsewhere, and one here: both are read
ask -c "CREATE TABLE part_away PARTITION OF part FOR VALUES FROM (1) TO (1000)" -c 'CREATE INDEX ON part USING sigfile (sig)'
pairs="SELECT count(*) FROM bloom_duplicates('part', 'id', 'sig', 0.9)"
same 'pairs of partitions' "$(shell=part_away elsewhere -c "$pairs")" 600
same 'pairs of the partition that is here' "$(ask -c "$pairs")" 0
# children of a parent likewise
ask -c 'CREATE TABLE parent (LIKE rows)' -c 'CREATE TABLE child () INHERITS (parent)' -c 'CREATE TABLE away () INHERITS (parent)' \
    -c 'INSERT INTO parent SELECT * FROM rows WHERE id = 2' -c 'INSERT INTO child SELECT * FROM rows WHERE id = 3' \
    -c 'CREATE INDEX ON parent USING sigfile (sig)' -c 'CREATE INDEX ON child USING sigfile (sig)' -c 'CREATE INDEX ON away USING sigfile (sig)'
same 'pairs of parent and child' "$(ask -c "SELECT a, b FROM bloom_duplicates('parent', 'id', 'sig', 0.9)")" '2|3'

# guards refuse: what they would look in is empty
guard() { # TABLE ARGUMENTS
    ask -c "DROP TRIGGER IF EXISTS guard ON $1" \
        -c "CREATE TRIGGER guard AFTER INSERT ON $1 FOR EACH ROW EXECUTE FUNCTION bloom_guard($2)"
}
refused() { # TABLE WHAT
    local error
    error=$(shell=$3 elsewhere -v VERBOSITY=verbose -c "INSERT INTO $1 (id, sig) VALUES (1999, bloom_signature('somebody'))" 2>&1) &&
        die "$2: the row was taken"
    grep -q "ERROR:  0A000: bloom_guard cannot check against table \"$4\"" <<<"$error" || die "$2: $error"
    grep -q '^DETAIL: .*not in its own storage' <<<"$error" || die "$2, without a detail: $error"
    grep -q '^HINT:' <<<"$error" || die "$2, without a hint: $error"
}
guard shell "'sig', '0.9', 'reject'"
refused shell 'guard of a shell' shell shell
ask -c 'ALTER TABLE plain ENABLE ROW LEVEL SECURITY'
guard plain "'sig', '0.9', 'warn', 'blocklist', 'shell'"
refused plain 'shell as a block list' shell shell
guard part "'sig', '0.9', 'reject'"
refused part 'guard of a partition elsewhere' part_away part
# a guard that is asked for is refused at once
ask -c 'DROP TRIGGER guard ON shell'
error=$(elsewhere -v VERBOSITY=verbose -c "SELECT bloom_guard_create('shell', 'sig', 0.9, 'reject')" 2>&1) && die 'a guard of a shell was created'
grep -q 'ERROR:  0A000: bloom_guard cannot check against table "shell"' <<<"$error" || die "bloom_guard_create: $error"
# without the module they are ordinary tables, and what a policy hides does not make them others
ask -c "INSERT INTO plain VALUES (5000, bloom_signature('somebody'))" -c 'DELETE FROM plain WHERE id = 5000' \
    -c "CREATE POLICY none ON plain USING (false)" -c 'ALTER TABLE plain FORCE ROW LEVEL SECURITY'
ask -c "CREATE ROLE distributed_clerk" -c 'GRANT SELECT, INSERT ON plain TO distributed_clerk' -c 'CREATE POLICY enter ON plain FOR INSERT WITH CHECK (true)'
guard plain "'sig', '0.9', 'reject'"
error=$(ask -c 'SET ROLE distributed_clerk' -c "INSERT INTO plain SELECT 5001, bloom_signature(md5('7'))" 2>&1) && die 'a near-duplicate was taken'
grep -q 'too similar to an existing row' <<<"$error" || die "guard under row-level security: $error"

# access methods: one that has the routines of heap is heap, another is read by queries
ask <<SQL
CREATE ACCESS METHOD alias TYPE TABLE HANDLER heap_tableam_handler;
CREATE FUNCTION other_handler(internal) RETURNS table_am_handler LANGUAGE c AS '$SCRATCH/distributed/elsewhere.so';
CREATE ACCESS METHOD other TYPE TABLE HANDLER other_handler;
CREATE TABLE of_alias (LIKE rows INCLUDING INDEXES) USING alias;
CREATE TABLE of_other (LIKE rows INCLUDING INDEXES) USING other;
INSERT INTO of_alias SELECT * FROM rows;
INSERT INTO of_other SELECT * FROM rows;
CREATE TABLE list_guarded (id int, sig bloom);
SQL
same 'jobs over an access method like heap' "$(ask -c "$(jobs of_alias)")" "$expected"
same 'jobs over another access method' "$(ask -c "$(jobs of_other)")" "$expected"
scans() { ask -c "SELECT idx_scan FROM pg_stat_user_indexes WHERE relname = '$1' AND indexrelname ~ 'sig'"; }
for _ in {1..50}; do
    [[ $(scans of_alias) -lt 5 ]] || break
    sleep 0.1
done
# duplicates, linkage twice, clusters and a report ask the index; the other one's is used by the block list alone
(($(scans of_alias) >= 5)) || die "the index of a table like heap was read $(scans of_alias) times"
(($(scans of_other) <= 1)) || die "the index of another access method was read $(scans of_other) times"
guard of_alias "'sig', '0.9', 'reject'"
error=$(ask -c "INSERT INTO of_alias (id, sig) VALUES (5000, bloom_signature(md5('7')))" 2>&1) && die 'a near-duplicate was taken'
grep -q 'too similar to an existing row' <<<"$error" || die "guard of a table like heap: $error"
guard of_other "'sig', '0.9', 'reject'"
guard list_guarded "'sig', '0.9', 'reject', 'blocklist', 'of_other'"
for table in of_other list_guarded; do
    error=$(ask -v VERBOSITY=verbose -c "INSERT INTO $table (id, sig) VALUES (5000, bloom_signature('somebody'))" 2>&1) && die "$table: the row was taken"
    grep -q 'ERROR:  0A000: bloom_guard cannot check against table "of_other"' <<<"$error" || die "$table: $error"
    grep -q '^DETAIL: .*access method "other"' <<<"$error" || die "$table, without a detail: $error"
    grep -q '^HINT:' <<<"$error" || die "$table, without a hint: $error"
done
ask -d postgres -c 'DROP DATABASE distributed' -c 'DROP ROLE distributed_clerk'
