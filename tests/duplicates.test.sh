#!/usr/bin/env bash
# Whole-table jobs and the server around them: the memory that they take, encodings, workers that are stopped, writers at the same
# time, a standby.

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
DO $$ BEGIN FOR i IN 0..999 LOOP EXECUTE format('CREATE TABLE many_%s PARTITION OF many FOR VALUES FROM (%s) TO (%s)', i, i * 60, i * 60 + 60); END LOOP; END $$;
CREATE INDEX ON many USING sigfile (sig);
INSERT INTO many SELECT i / 30 * 60 + i % 30, bloom_signature(md5((i / 2)::text)) FROM generate_series(1, 29999) AS i;
SQL
partitions() {
    bounded "a thousand partitions, $1" "SET maintenance_work_mem = '4MB'; SET statement_timeout = '60s'; SELECT count(*) AS rows FROM many \\gset
" "SELECT count(*) FROM bloom_duplicates('many', 'id', 'sig', 0.9)" 14999 44000
}
partitions tails
ask -c 'REINDEX TABLE many'
partitions segments
ask -c "INSERT INTO many SELECT id + 30, bloom_signature(id || ' Erika Mustermann ' || md5(id::text)) FROM many"
partitions both

# Names and keys beyond ASCII in a database that is not UTF-8.
createdb -E LATIN1 -T template0 --locale=C jobs_latin1
latin1() { PGDATABASE=jobs_latin1 PGCLIENTENCODING=UTF8 ask "$@"; }
latin1 <<'SQL'
CREATE EXTENSION bloom_ident;
CREATE SCHEMA "Schöma";
CREATE TABLE "Schöma"."Täble" ("Schlüssel" text, "Ünterschrift" bloom);
INSERT INTO "Schöma"."Täble" SELECT n, bloom_signature(n) FROM unnest('{Jürgen Müller,Jürgen Mülller,Zoë Çelik,Zoé Çelik}'::text[]) AS n;
SQL
pairs="bloom_duplicates('\"Schöma\".\"Täble\"', 'Schlüssel', 'Ünterschrift', 0.5)"
wanted=$'Jürgen Müller|Jürgen Mülller\nZoé Çelik|Zoë Çelik'
for index in '' 'CREATE INDEX ON "Schöma"."Täble" USING sigfile ("Ünterschrift")'; do
    latin1 -c "$index"
    [[ $(latin1 -c "SELECT a, b FROM $pairs ORDER BY 1") == "$wanted" ]] || fail "LATIN1: $(latin1 -c "SELECT a, b FROM $pairs ORDER BY 1")"
done
message=$(latin1 -c "SELECT * FROM ${pairs/Schlüssel/Schlössel}" 2>&1 || true)
[[ $message == *$'column "Schlössel" of relation "Täble" does not exist\nHINT:  Perhaps you meant the column "Schlüssel".' ]] || fail "LATIN1: $message"

# A key that is not stored.
if ((PG_MAJOR >= 18)); then
    ask <<'SQL'
CREATE TABLE computed (id int, key text GENERATED ALWAYS AS ('k' || id) VIRTUAL, sig bloom);
INSERT INTO computed (id, sig) SELECT i, bloom_signature('Erika') FROM generate_series(1, 2) AS i;
CREATE INDEX ON computed USING sigfile (sig);
SQL
    [[ $(ask -c "SELECT a, b FROM bloom_duplicates('computed', 'key', 'sig', 1)") == 'k1|k2' ]] || fail 'virtual key'
fi

# A job that is canceled, or whose session is terminated, ends at once with all that it has: workers and files.
ask <<'SQL'
CREATE TABLE person (id bigserial, sig bloom);
INSERT INTO person (sig) SELECT bloom_signature(md5((i / 2)::text) || md5(i::text), max_chars => 60) FROM generate_series(1, 200000) AS i;
CREATE INDEX person_sig ON person USING sigfile (sig);
SQL
sessions() { ask -c "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker' OR application_name = 'job'"; }
stopped() {
    local how=$1 query=$2 i job
    PGAPPNAME=job psql -XAtqc "SELECT count(*) FROM $query" >/dev/null 2>&1 &
    job=$!
    for ((i = 0; i < 100; i++)); do
        [[ $(ask -c "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker' OR application_name = 'job'") == 0 ]] || break
        sleep 0.05
    done
    sleep 0.7
    [[ $(sessions) != 0 ]] || fail "$how: $query has ended by itself"
    ask -c "SELECT $how(pid) FROM pg_stat_activity WHERE application_name = 'job' AND backend_type = 'client backend'" >/dev/null
    for ((i = 0; i < 40; i++)); do
        [[ $(sessions) != 0 ]] || break
        sleep 0.05
    done
    [[ $(sessions) == 0 ]] || fail "$how: $query goes on"
    wait "$job" 2>/dev/null || true
    [[ $(ask -c "SELECT count(*) FROM pg_ls_tmpdir()") == 0 ]] || fail "$how: $query leaves temporary files"
}
for how in pg_cancel_backend pg_terminate_backend; do
    stopped "$how" "bloom_duplicates('person', 'id', 'sig', 0.5)"
    stopped "$how" "bloom_duplicates('person', 'id', '{sig}', '{1}', 0.5)"
done
message=$(ask -c "SET temp_file_limit = '1MB'; SET maintenance_work_mem = '1MB'; SELECT count(*) FROM bloom_duplicates('person', 'id', '{sig}', '{1}', 0.9)" 2>&1 || true)
[[ $message == *'temporary file size exceeds '*temp_file_limit*'(1024kB)' ]] || fail "temp_file_limit: $message"
[[ $(ask -c "SELECT count(*) FROM pg_ls_tmpdir()") == 0 ]] || fail 'temp_file_limit: files are left'

# While others write, merge and vacuum, and on a standby while its primary does: in one snapshot the pairs by the index are those
# of a query of the table.
cluster_init jobs_primary
cluster_conf jobs_primary 'wal_level = replica' 'autovacuum = off' 'shared_buffers = 16MB' 'wal_keep_size = 512MB' 'wal_consistency_checking = all'
cluster_start jobs_primary
cluster_use jobs_primary
ask <<'SQL'
CREATE EXTENSION bloom_ident;
CREATE FUNCTION name_of(n bigint) RETURNS bloom LANGUAGE sql AS $$ SELECT bloom_signature(md5((n / 2)::text) || ' ' || n % 7, max_chars => 40) $$;
CREATE TABLE person (id bigserial, sig bloom);
INSERT INTO person (sig) SELECT name_of(i) FROM generate_series(1, 8000) AS i;
CREATE INDEX person_sig ON person USING sigfile (sig) WITH (tail_limit = 200);
CREATE UNLOGGED TABLE unlogged (id int, sig bloom);
CREATE INDEX ON unlogged USING sigfile (sig);
SQL
cluster_standby jobs_standby
cluster_conf jobs_standby 'hot_standby_feedback = on'
cluster_start jobs_standby
compare="BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SELECT count(*) || ' ' || sum(hashtextextended(a || ' ' || b, 0)::numeric) FROM bloom_duplicates('person', 'id', 'sig', 0.8);
SELECT count(*) || ' ' || sum(hashtextextended(a || ' ' || b, 0)::numeric) FROM bloom_duplicates('person', 'id', '{sig}', '{1}', 0.8);
COMMIT"
checked=(0 0)
# $1 number, $2 cluster
check_pairs() {
    local both
    cluster_use "$2"
    both=$(ask -c "$compare") || fail "$2: $both"
    [[ ${both%%$'\n'*} == "${both##*$'\n'}" ]] || fail "$2: $both"
    checked[$1]=$((checked[$1] + 1))
}
writing() {
    cluster_use jobs_primary
    while [[ ! -e $SCRATCH/jobs_stop ]]; do
        ask -c "INSERT INTO person (sig) SELECT name_of((random() * 10000)::int) FROM generate_series(1, 150)" \
            -c "DELETE FROM person WHERE id % 40 = (random() * 40)::int" -c "UPDATE person SET id = id WHERE id % 50 = (random() * 50)::int" \
            -c "VACUUM person" -c "SELECT bloom_sigfile_merge('person_sig')" >/dev/null
    done
}
writing &
writer=$!
for ((end = SECONDS + 8; SECONDS < end; )); do
    check_pairs 0 jobs_primary
    check_pairs 1 jobs_standby
done
touch "$SCRATCH/jobs_stop"
wait "$writer" || fail 'a writer has failed'
echo "${checked[0]} jobs beside writers, ${checked[1]} on a standby"
cluster_use jobs_standby
message=$(ask -c "SELECT * FROM bloom_duplicates('unlogged', 'id', 'sig', 0.9)" 2>&1 || true)
[[ $message == *'cannot access temporary or unlogged relations during recovery' ]] || fail "unlogged: $message"
