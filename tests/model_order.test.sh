#!/usr/bin/env bash
# A model and its pairs are the same bit for bit whatever the order of the rows, the memory and the plan.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

cluster_init model_order
cluster_conf model_order 'autovacuum = off' 'max_worker_processes = 8' 'min_parallel_table_scan_size = 0' 'parallel_setup_cost = 0' \
    'parallel_tuple_cost = 0' 'maintenance_work_mem = 64MB' 'jit = off' 'max_wal_size = 4GB' 'client_min_messages = warning'
cluster_start model_order
cluster_use model_order

sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

sql <<'SQL'
CREATE EXTENSION bloom_ident;
-- Every fifth person is there once more, with an error. Of small tables all pairs are compared, of large ones those that keys find.
CREATE FUNCTION people(n int) RETURNS TABLE (id text, given_name text, surname text, born date, street text, city text, phone text) LANGUAGE sql AS $$
    WITH person AS (
        SELECT i, left(md5('g' || i::bigint * 7919 % 400), 7) AS given_name, left(md5('s' || i::bigint * 104729 % (n / 8)), 9) AS surname,
               date '1930-01-01' + (i::bigint * 15485863 % 27000)::int AS born, left(md5('t' || i * 31 % (n / 4)), 12) || ' ' || i % 90 AS street,
               left(md5('c' || i * 17 % 300), 8) AS city, CASE WHEN i % 3 > 0 THEN lpad((i::bigint * 32452843 % 9999991)::text, 8, '0') END AS phone
        FROM generate_series(1, n) AS i)
    SELECT 'a' || i, given_name, surname, born, street, city, phone FROM person
    UNION ALL
    SELECT 'b' || i, CASE WHEN i % 4 = 0 THEN overlay(given_name PLACING 'x' FROM 3 FOR 1) ELSE given_name END,
        CASE WHEN i % 3 = 0 THEN overlay(surname PLACING 'y' FROM 4 FOR 2) ELSE surname END, CASE WHEN i % 7 = 0 THEN born + 30 ELSE born END,
        CASE WHEN i % 2 = 0 THEN street ELSE left(md5('m' || i), 9) END, city, CASE WHEN i % 11 > 0 THEN phone END
    FROM person WHERE i % 5 = 0 $$;
CREATE TABLE small AS SELECT * FROM people(3000);
CREATE TABLE large AS SELECT * FROM people(25000);
-- Much is missing, and much misspelt: searches for similar values find pairs that those for equal ones miss.
CREATE FUNCTION sparse(value text, id text, salt text) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN md5(salt || id) < '4' THEN NULL WHEN id LIKE 'b%' AND md5(salt || id) < '9' THEN overlay(value PLACING 'z' FROM 5 FOR 1) ELSE value END $$;
CREATE TABLE sparse AS SELECT id, sparse(given_name, id, 'g') AS given_name, sparse(surname, id, 's') AS surname, sparse(born::text, id, 'b') AS born, sparse(street, id, 't') AS street, sparse(city, id, 'c') AS city
    FROM people(12000);
CREATE TABLE answer (name text, digest text);
-- What comes out, without the order of the pairs.
CREATE FUNCTION digest(rel regclass, fields text[] DEFAULT NULL, stored jsonb DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    model jsonb := coalesce(stored, bloom_model_fit(rel, 'id', fields));
    pairs text;
    found int;
BEGIN
    SELECT count(*), md5(string_agg(d::text, '|' ORDER BY a COLLATE "C", b COLLATE "C")) INTO found, pairs FROM bloom_model_duplicates(rel, 'id', model) AS d;
    RETURN (model ->> 'status') || ' ' || found || ' ' || md5(model::text) || ' ' || pairs;
END $$;
CREATE FUNCTION linked(a regclass, b regclass, one_to_one boolean, min_probability float8 DEFAULT 0.5) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    model jsonb := bloom_model_fit_linkage(a, 'id', b, 'id');
    pairs text;
    found int;
BEGIN
    SELECT count(*), md5(string_agg(d::text, '|' ORDER BY d.a COLLATE "C", d.b COLLATE "C")) INTO found, pairs
        FROM bloom_model_linkage(a, 'id', b, 'id', model, min_probability, one_to_one) AS d;
    RETURN (model ->> 'status') || ' ' || found || ' ' || md5(model::text) || ' ' || pairs;
END $$;
SQL

# same NAME EXPECTED SETTINGS QUERY
same() {
    local found
    found=$(sql -c "$3" -c "$4") || die "$1 failed"
    [[ $found == "$2" ]] || die "$1: $found, not $2"
    say "$1: the same"
}

for table in small large sparse; do
    expected=$(sql -c "SELECT digest('$table')")
    say "$table: $expected"
    [[ $expected == 'converged '[1-9][0-9][0-9]* ]] || die "$table: $expected"
    for memory in 1MB 1GB; do
        same "$table, $memory" "$expected" "SET maintenance_work_mem = '$memory'" "SELECT digest('$table')"
    done
    orders=3
    [[ $table != large ]] || orders=1
    for ((i = 1; i <= orders; i++)); do
        sql -c "CREATE TABLE ${table}_$i (LIKE $table); INSERT INTO ${table}_$i SELECT * FROM $table ORDER BY random(); ANALYZE ${table}_$i"
        same "$table, order $i" "$expected" 'SET max_parallel_workers_per_gather = 0' "SELECT digest('${table}_$i')"
    done
done
expected=$(sql -c "SELECT digest('small')")
sql -c 'CREATE UNIQUE INDEX ON small_1 (id COLLATE "C") INCLUDE (given_name, surname, born, street, city, phone)' -c 'VACUUM ANALYZE small_1'
same 'an index alone' "$expected" 'SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off' "SELECT digest('small_1')"
same 'workers' "$expected" 'SET max_parallel_workers_per_gather = 2; DO $do$ BEGIN PERFORM set_config(name, $q$on$q$, false) FROM pg_settings WHERE name IN ($q$force_parallel_mode$q$, $q$debug_parallel_query$q$); END $do$' "SELECT digest('small_2')"
sql -c 'CREATE TABLE parted (LIKE small) PARTITION BY HASH (id)' -c 'CREATE TABLE p0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0)' \
    -c 'CREATE TABLE p1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1)' -c 'INSERT INTO parted TABLE small_3'
same 'partitions' "$expected" 'SET enable_partitionwise_join = on' "SELECT digest('parted')"
same 'other settings' "$expected" "SET DateStyle = 'SQL, DMY'; SET TimeZone = 'Asia/Tokyo'; SET work_mem = '64kB'" "SELECT digest('small')"

# What is said of pairs comes in the order of the records, not in that of the files.
sql -c "CREATE TABLE label AS SELECT 'a' || i AS a, 'b' || i AS b, true AS same FROM generate_series(5, 1500, 5) AS i
        UNION ALL SELECT 'a' || i, 'a' || 3001 - i, false FROM generate_series(1, 1500, 7) AS i"
query="SELECT md5(bloom_model_fit('small', 'id', labels => 'label')::text)"
expected=$(sql -c "$query")
[[ $expected != "$(sql -c "SELECT md5(bloom_model_fit('small', 'id')::text)")" ]] || die 'labels change nothing'
same 'labels, 1MB' "$expected" "SET maintenance_work_mem = '1MB'" "$query"

searches=$(sql -c "SELECT count(*) FROM jsonb_array_elements(bloom_model_fit('sparse', 'id') -> 'searches') AS search WHERE search ? 'similar'")
((searches > 0)) || die 'sparse: no search for similar values'

sql -c "CREATE TABLE first AS SELECT * FROM small WHERE id LIKE 'a%'" -c "CREATE TABLE second AS SELECT * FROM small WHERE id LIKE 'b%'" \
    -c 'CREATE TABLE second_1 AS SELECT * FROM second ORDER BY random()'
for one_to_one in false true; do
    expected=$(sql -c "SELECT linked('first', 'second', $one_to_one)")
    [[ $expected == 'converged '[1-9][0-9][0-9]* ]] || die "linkage: $expected"
    same "linkage, 1MB, one to one $one_to_one" "$expected" "SET maintenance_work_mem = '1MB'" "SELECT linked('first', 'second', $one_to_one)"
    same "linkage, another order" "$expected" 'SET max_parallel_workers_per_gather = 2' "SELECT linked('first', 'second_1', $one_to_one)"
done
# all that are compared, which have no room in memory
expected=$(sql -c "SELECT linked('first', 'second', true, 0)")
[[ $expected == 'converged '[1-9][0-9][0-9]* ]] || die "linkage of all: $expected"
same 'linkage of all, 1MB, one to one' "$expected" "SET maintenance_work_mem = '1MB'" "SELECT linked('first', 'second', true, 0)"
# a stored model
sql -c "CREATE TABLE model AS SELECT bloom_model_fit('large', 'id') AS model"
query="SELECT digest('large', stored => model) FROM model"
expected=$(sql -c "$query")
same 'a stored model, 1MB' "$expected" "SET maintenance_work_mem = '1MB'" "$query"
