#!/usr/bin/env bash
# Statements over many rows need no memory for each of them: what the search for one row has taken is free before the next.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

if ! grep -qs '^VmPeak:' /proc/self/status; then
    say 'memory: nothing to measure it with on this system'
    exit
fi
rows=200000
createdb memory
export PGDATABASE=memory
export PGOPTIONS='-c client_min_messages=warning -c jit=off -c max_parallel_workers_per_gather=0 -c statement_timeout=60s'
ask() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
ask -c 'CREATE EXTENSION bloom_ident' -c "
    CREATE FUNCTION memory_kb(field text) RETURNS int LANGUAGE sql AS \$\$
        SELECT substring(pg_read_file('/proc/self/status') FROM field || E':\\\\s+(\\\\d+) kB')::int \$\$" -c "
    CREATE TABLE source AS SELECT i AS id, bloom_signature(left(md5(i::text), 12), 3, 12) AS sig FROM generate_series(1, $rows) AS i" -c "
    CREATE TABLE few AS SELECT * FROM source LIMIT 20" -c 'CREATE INDEX ON few USING sigfile (sig)' -c '
    CREATE TABLE person (id int PRIMARY KEY, sig bloom)' -c 'CREATE INDEX ON person USING sigfile (sig) WITH (tail_limit = 256)' -c "
    CREATE TRIGGER guard AFTER INSERT ON person FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '1', 'reject')" -c '
    CREATE TABLE copied (id int, sig bloom)' -c 'CREATE INDEX ON copied USING sigfile (sig)' -c '
    CREATE TABLE excluded (id int, sig bloom, EXCLUDE USING sigfile ((bloom_query(sig, 1)) WITH %) WITH (tail_limit = 256))' -c '
    VACUUM ANALYZE source, few' -c "\\copy source TO '$SCRATCH/memory.rows'"

# Kilobytes by which the process of a statement may grow, whatever it does with the rows. One kilobyte of each row would be
# six times as much.
limit=32768

# bounded NAME STATEMENT QUERY RESULT [LIMIT]: what QUERY says afterwards; it is small, and so it is asked in the same session. What the
# first search of a session takes does not count.
bounded() {
    local result
    result=$(ask <<SQL
SELECT count(*) AS none FROM few WHERE sig % (SELECT sig FROM few LIMIT 1) \\gset
SELECT memory_kb('VmSize') AS before \\gset
$2
SELECT ($3), memory_kb('VmPeak') - :before
SQL
    ) || die "$1 failed"
    [[ ${result%|*} == "$4" ]] || die "$1: $result, not $4"
    ((${result#*|} <= ${5:-$limit})) || die "$1: the process has grown by ${result#*|} kB"
    say "$1: ${result#*|} kB"
}

bounded 'EXCLUDE' 'INSERT INTO excluded SELECT * FROM source;' 'SELECT count(*) FROM excluded' $rows
ask -c 'ALTER TABLE excluded DROP CONSTRAINT excluded_bloom_query_excl'
bounded 'ADD CONSTRAINT' 'ALTER TABLE excluded ADD EXCLUDE USING sigfile ((bloom_query(sig, 1)) WITH %);' \
    "SELECT count(*) FROM pg_constraint WHERE contype = 'x'" 1
bounded 'guard' 'INSERT INTO person SELECT * FROM source;' 'SELECT count(*) FROM person' $rows
bounded 'COPY' "\\copy copied FROM '$SCRATCH/memory.rows'" 'SELECT count(*) FROM copied' $rows
# all rows by their distances, of which work_mem holds few: some pages of the index and of temporary files, and what a scan needs
bounded 'nearest, all of them' "SET work_mem = '64kB'; SET enable_seqscan = off; SET enable_sort = off;
    SELECT count(*) AS found FROM (SELECT id FROM copied ORDER BY sig <-> (SELECT sig FROM few LIMIT 1) OFFSET 0) AS f \\gset" 'SELECT :found' $rows 4096
# the one row that each search finds, by an index scan and by an index-only scan
for what in id:1000000 sig:300000; do
    query="FROM generate_series(1, ${what#*:}) AS n,
        LATERAL (SELECT ${what%:*} FROM few WHERE sig % bloom_query((SELECT s.sig FROM source AS s LIMIT 1), 1) AND n > 0 OFFSET 0) AS f"
    bounded "${what#*:} rescans for ${what%:*}" "
        SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_material = off; SET enable_memoize = off;
        EXPLAIN (COSTS OFF) SELECT count(f.${what%:*}) ${query//$'\n'/ } \\g $SCRATCH/memory.plan
        SELECT count(f.${what%:*}) AS found ${query//$'\n'/ } \\gset" 'SELECT :found' "${what#*:}"
    grep -q 'Index.* using few_sig_idx' "$SCRATCH/memory.plan" || die "another plan: $(cat "$SCRATCH/memory.plan")"
done

# Every record is new: by the index, and, as the keys are too many for the memory, by a query.
ask -c 'CREATE VIEW everybody AS SELECT id::text AS key FROM copied'
for memory in 16 2; do
    bounded "new records in $memory MB" "SET maintenance_work_mem = '${memory}MB';
        SELECT count(*) = (SELECT count(*) FROM copied AS a JOIN copied AS b ON a.sig = b.sig AND a.id < b.id) AS same FROM bloom_duplicates('copied', 'id', 'sig', 1, new => 'everybody') \\gset" \
        "SELECT :'same'" t 65536
done

# Two million candidates of which a thousand are pairs, and more tokens than memory holds: all signatures are equal.
ask -c "CREATE TABLE crowd AS SELECT i AS id, bloom_signature('the same') AS sig, ARRAY(SELECT md5((CASE WHEN t <= 150 THEN i / 2 ELSE -i END) || '-' || t)
    FROM generate_series(1, 200) AS t) AS tokens FROM generate_series(2, 2001) AS i"
bounded 'pairs by their tokens' "SET maintenance_work_mem = '1MB';
    CREATE TABLE verified AS SELECT * FROM bloom_duplicates('crowd', 'id', 'sig', 0.5, verify => 'tokens');" 'SELECT count(*) FROM verified WHERE similarity = 0.6' 1000 16384

# A model is fitted and used in maintenance_work_mem, and what all sessions need besides.
ask -c "CREATE TABLE record AS SELECT i AS id, left(md5('g' || i % 5000 * 7), 7) AS given_name, left(md5('s' || i % 100000 % 20011), 9) AS surname, date '1930-01-01' + i % 100000 % 25013 AS born,
    left(md5('t' || i % 100000 / 4 + i / 150000), 12) AS street, left(md5('c' || i % 100000 % 307), 8) AS city FROM generate_series(1, $rows) AS i"
bounded 'fit of a model' "SET maintenance_work_mem = '16MB'; CREATE TABLE model AS SELECT bloom_model_fit('record', 'id') AS model;" \
    "SELECT model ->> 'status' FROM model" converged 65536
bounded 'pairs of a model' "SET maintenance_work_mem = '16MB'; CREATE TABLE pair AS SELECT p.* FROM model, bloom_model_duplicates('record', 'id', model) AS p;" \
    'SELECT count(*) > 90000 FROM pair' t 65536

# So is a register, whatever the number of its keys.
ask -c 'CREATE TABLE registered AS TABLE record' -c 'ALTER TABLE registered ADD PRIMARY KEY (id)' -c "CREATE TABLE many_searches AS SELECT jsonb_set(model, '{searches}', (
    SELECT jsonb_agg(jsonb_build_object('equal', jsonb_build_array(a, b), 'most', 40, 'pairs_per_record', 1, 'matches_per_record', 0.1))
    FROM unnest('{given_name,surname,born,street,city}'::text[]) AS a, unnest('{given_name,surname,born,street,city}'::text[]) AS b WHERE a < b)) AS model FROM model"
bounded 'register' "SET maintenance_work_mem = '2MB'; SELECT count(bloom_register_create(model, 'registered', 'id')) AS made FROM many_searches \\gset" 'SELECT count(*) > 1500000 FROM registered_register_keys' t 12288

# Values of few kinds that are often missing: next to every pair has a pattern of its own.
ask -c "CREATE TABLE manifold AS SELECT i AS id, $(for field in {1..20}; do
    echo "CASE WHEN abs(hashint8extended(i, $field)) % 5 > 0 THEN substr('abcdefghij', 1 + abs(hashint8extended(i, -$field) % 4)::int, 3) END AS f$field,"
done) i / 4 AS house FROM generate_series(1, 10000) AS i"
bounded 'fit of many patterns' "SET maintenance_work_mem = '16MB'; CREATE TABLE manifold_model AS SELECT bloom_model_fit('manifold', 'id', '{$(printf 'f%s,' {1..20})house}') AS model;" \
    "SELECT model ->> 'records' FROM manifold_model" 10000
# Pairs that are assigned one to one are known only when all are.
ask -c "CREATE TABLE alike AS SELECT i AS id, left(md5('g' || i % 701), 7) AS given_name, date '1930-01-01' + i % 900 AS born, 'the same city' AS city
    FROM generate_series(1, 1500) AS i" -c 'CREATE VIEW alike_again AS SELECT * FROM alike' -c "CREATE TABLE alike_model AS
        SELECT jsonb_set(model, '{searches,0,scan}', '30') AS model FROM bloom_model_fit_linkage('alike', 'id', 'alike_again', 'id') AS model"
bounded 'pairs one to one' "SET maintenance_work_mem = '16MB'; CREATE TABLE alike_pair AS
        SELECT p.* FROM alike_model, bloom_model_linkage('alike', 'id', 'alike_again', 'id', model, 0, true, '{\"force\": true}') AS p;" \
    'SELECT count(*) FROM alike_pair' 1500

# An audit of keyed signatures takes maintenance_work_mem, and what all sessions need besides, however many, however wide, and however long the list.
ask -o /dev/null -c "SELECT bloom_secret_import('memory', sha256('memory'))" -c "
    CREATE TABLE names AS SELECT left(md5('g' || floor(500 * ((hashint4(i)::bigint & 1023) / 1024.0) ^ 2)), 7) AS given, left(md5('s' || floor(3000 * ((hashint4(-i)::bigint & 1023) / 1024.0) ^ 2)), 9) AS surname FROM generate_series(1, 60000) AS i" -c "
    CREATE FUNCTION clk(names, l int) RETURNS bloom STABLE LANGUAGE sql AS \$\$SELECT bloom_clk(to_jsonb(\$1), format('{\"version\": 3, \"clkConfig\": {\"l\": %s, \"kdf\": {\"type\": \"HKDF\"}}, \"features\": [
        {\"identifier\": \"given\", \"format\": {\"type\": \"string\"}, \"hashing\": {\"comparison\": {\"type\": \"ngram\", \"n\": 2}, \"strategy\": {\"bitsPerToken\": %s}, \"hash\": {\"type\": \"doubleHash\"}}},
        {\"identifier\": \"surname\", \"format\": {\"type\": \"string\"}, \"hashing\": {\"comparison\": {\"type\": \"ngram\", \"n\": 2}, \"strategy\": {\"bitsPerToken\": %s}, \"hash\": {\"type\": \"doubleHash\"}}}]}', l, l / 70, l / 70)::jsonb, 'memory')\$\$" -c "
    CREATE TABLE keyed AS SELECT clk(n, 1024) AS sig FROM names AS n" -c "
    CREATE TABLE wide_keyed AS SELECT clk(n, 65535) AS sig FROM (SELECT * FROM names LIMIT 1000) AS n" -c "
    CREATE TABLE long_names AS SELECT (SELECT string_agg(chr(19968 + (i::bigint * j * 7919 % 20000)::int), '') FROM generate_series(1, 100) AS j) AS name FROM generate_series(1, 20000) AS i"
for what in keyed:names:32 wide_keyed:names:96 keyed:long_names:96; do
    IFS=: read -r signatures list megabytes <<<"$what"
    bounded "audit of $signatures by $list in $megabytes MB" "SET maintenance_work_mem = '${megabytes}MB'; SET statement_timeout = '5min'; SELECT count(*) AS found FROM bloom_audit_keyed('$signatures', 'sig', '$list') \\gset" \
        'SELECT :found' 14 $((1024 * megabytes + 16384))
done

# A session that gets no more memory fails its statement, and nothing else: what is large is asked for, and for the rest there is a reserve.
if command -v prlimit >/dev/null; then
    ask -c "CREATE TABLE short AS SELECT * FROM record UNION ALL SELECT id + $rows, given_name || 'x', surname, born, street, city FROM record LIMIT 300000"
    sessions=$(ask -c "SELECT pg_postmaster_start_time(), sum(sessions_killed + sessions_fatal) FROM pg_stat_database")
    failed=0
    for job in "bloom_model_fit('short', 'id')" "bloom_model_duplicates('short', 'id', (SELECT model FROM model))" "bloom_report('source', 'id', 'sig', 0.5)" "bloom_audit_keyed('keyed', 'sig', 'names')"; do
        for megabytes in 1 4 10; do
            said=$({
                ask 2>&1 <<SQL
SET client_min_messages = error; SET max_parallel_maintenance_workers = 0;
SELECT count(*) AS none FROM few WHERE sig % (SELECT sig FROM few LIMIT 1) \\gset
SELECT pg_backend_pid() AS pid, memory_kb('VmSize') + 1024 * $megabytes AS kb \\gset
\\setenv LIMITED :pid
\\setenv LIMIT :kb
\\! $(((EUID == 0)) && echo "runuser -u $(server_user) --") prlimit --pid "\$LIMITED" --as="\$((LIMIT * 1024))"
SELECT count(f.*) FROM (SELECT $job) AS f;
SQL
            } || true)
            [[ $said != *'ERROR:  out of memory'* ]] || failed=$((failed + 1))
            grep -qE '^[0-9]+$|ERROR:  out of memory' <<<"$said" || die "$job with $megabytes MB more: $said"
        done
    done
    [[ $(ask -c "SELECT pg_postmaster_start_time(), sum(sessions_killed + sessions_fatal) FROM pg_stat_database") == "$sessions" ]] || die 'a session has ended by itself'
    ((failed > 6)) || die "only $failed jobs have got too little memory"
    say "$failed jobs have got too little memory, and said so"
fi

# The memory of a scan goes with the scan, and after an error with what it is in.
scans="SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'sigfile scan'"
found=$(ask 2>"$SCRATCH/memory.errors" <<SQL
SELECT sig FROM few WHERE id = 1 \\gset
SET enable_seqscan = off; SET enable_bitmapscan = off;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM few ORDER BY sig <-> :'sig';
MOVE 3 IN c;
$scans;
CLOSE c;
$scans;
SAVEPOINT s;
DECLARE c CURSOR FOR SELECT 1 / (id - 20) FROM few ORDER BY sig <-> :'sig';
MOVE 1 IN c;
$scans;
\\set ON_ERROR_STOP off
\\o /dev/null
MOVE ALL IN c;
\\o
ROLLBACK TO s;
$scans;
COMMIT;
SQL
)
grep -q 'division by zero' "$SCRATCH/memory.errors" || die "no error: $(cat "$SCRATCH/memory.errors")"
[[ $found == 1$'\n'0$'\n'1$'\n'0 ]] || die "scans in memory, open, closed, open, failed: ${found//$'\n'/ }"
