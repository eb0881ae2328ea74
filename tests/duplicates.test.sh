#!/usr/bin/env bash
# Whole-table jobs and the server around them: the memory that they take.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

createdb jobs
export PGDATABASE=jobs

ask() { timeout -k 5 120 psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

fail() { die "$*"; }

ask <<'SQL'
CREATE EXTENSION bloom_ident;
CREATE FUNCTION memory_kb(field text) RETURNS int LANGUAGE sql AS $$ SELECT substring(pg_read_file('/proc/self/status') FROM field || E':\\s+(\\d+) kB')::int $$;
CREATE TABLE nobody (id int, sig bloom);
SQL

# "a|b": what the query gives, and by how many kB the address space of the session grows at most beyond what a first call takes.
# $1 settings, $2 query
grows() {
    ask <<SQL
\\set QUIET on
$1;
SELECT count(*) AS none FROM bloom_duplicates('nobody', 'id', 'sig', 0.9) \\gset
SELECT memory_kb('VmSize') AS before \\gset
SELECT ($2), memory_kb('VmPeak') - :before;
SQL
}

# $1 what, $2 settings, $3 query, $4 its result, $5 the most kB
bounded() {
    local result
    result=$(grows "$2" "$3")
    [[ ${result%|*} == "$4" ]] || fail "$1: $result instead of $4"
    ((${result#*|} <= $5)) || fail "$1: ${result#*|} kB, more than $5"
    echo "$1: ${result#*|} kB"
}

# Wide signatures, of which a page holds one, in the least memory that may be set: what a job needs at least, and no more.
ask -c "CREATE TABLE wide AS SELECT i AS id, bloom_signature(md5((i / 2)::text), 3, 5500) AS sig FROM generate_series(1, 10000) AS i"
bounded 'wide signatures' "SET maintenance_work_mem = '1MB'" "SELECT count(*) FROM bloom_duplicates('wide', 'id', 'sig', 0.9)" 4999 12000

# Keys whose output leaves memory behind: compressed ones are copied by it.
ask -c "CREATE TABLE keyed AS SELECT convert_to(repeat('x', 20000) || i, 'UTF8') AS id, bloom_signature(md5((i / 2)::text)) AS sig FROM generate_series(1, 3000) AS i"
bounded 'long keys' "SET work_mem = '1MB'" "SELECT count(*) FROM (SELECT FROM bloom_duplicates('keyed', 'id', 'sig', 0.9) OFFSET 0) AS f" 1499 16000

# A thousand partitions: with rows in no segment, in small segments, and in both.
ask <<'SQL'
CREATE TABLE many (id int, sig bloom) PARTITION BY RANGE (id);
DO $$ BEGIN FOR i IN 0..999 LOOP EXECUTE format('CREATE TABLE many_%s PARTITION OF many FOR VALUES FROM (%s) TO (%s)', i, i * 30, i * 30 + 30); END LOOP; END $$;
CREATE INDEX ON many USING sigfile (sig);
INSERT INTO many SELECT i, bloom_signature(md5((i / 2)::text)) FROM generate_series(1, 29999) AS i;
SQL
partitions() {
    bounded "a thousand partitions, $1" "SET maintenance_work_mem = '4MB'; SET statement_timeout = '60s'; SELECT count(*) AS rows FROM many \\gset
" "SELECT count(*) FROM bloom_duplicates('many', 'id', 'sig', 0.9)" 14999 "$2"
}
partitions 'tails' 16000
ask -c 'REINDEX TABLE many'
partitions 'segments' 16000
ask -c "INSERT INTO many SELECT id, bloom_signature(id || ' Erika Mustermann ' || md5(id::text)) FROM many"
partitions 'both' 16000
