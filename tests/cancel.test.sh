#!/usr/bin/env bash
# Whatever runs long stops when it is told to: jobs, index builds and searches are canceled at random moments, by a cancel request,
# a timeout and the end of their session, with and without workers. How long they take to stop is measured; nothing may be left of
# them, and their session must go on. CANCEL_SECONDS says for how long.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

seconds=${CANCEL_SECONDS:-18}
# Milliseconds that the median and the slowest may take.
usual=100
most=1000

cluster_init cancel
cluster_conf cancel 'autovacuum = off' 'max_worker_processes = 16' 'max_parallel_workers = 16' 'min_parallel_table_scan_size = 0' \
    'maintenance_work_mem = 512MB' 'shared_buffers = 256MB' 'max_wal_size = 4GB' 'log_min_messages = fatal' 'jit = off' \
    'checkpoint_timeout = 1h' 'temp_file_limit = 4GB' 'max_parallel_maintenance_workers = 0'
cluster_start cancel
cluster_use cancel

sql() { timeout -k 5 120 psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

sql <<'SQL'
CREATE EXTENSION bloom_ident;
-- three records each are the same
CREATE TABLE plain AS SELECT i AS id, s AS sig, bloom_signature(md5((i / 5)::text)) AS other
    FROM generate_series(1, 40000) AS i, LATERAL (SELECT bloom_signature(md5((i / 3)::text)) OFFSET 0) AS l (s);
CREATE TABLE indexed AS SELECT id, sig FROM plain;
CREATE INDEX ON indexed USING sigfile (sig);
-- in a tail that is as long as can be
CREATE TABLE loose (LIKE indexed);
CREATE INDEX ON loose USING sigfile (sig) WITH (tail_limit = 65536);
INSERT INTO loose SELECT * FROM indexed;
-- twelve million pairs
CREATE TABLE crowded AS SELECT i AS id, s.sig FROM generate_series(1, 36000) AS i
    JOIN (SELECT n, bloom_signature(md5(n::text)) AS sig FROM generate_series(0, 51) AS n) AS s ON s.n = i % 52;
CREATE INDEX ON crowded USING sigfile (sig);
-- more than a million pairs, of which three records each have the same tokens
CREATE TABLE worded AS SELECT id, sig, ARRAY(SELECT md5(id / 156 || '-' || id % 52 || '-' || t) FROM generate_series(1, 40) AS t) AS tokens FROM crowded WHERE id <= 12000;
CREATE INDEX ON worded USING sigfile (sig);
CREATE TABLE small AS SELECT * FROM indexed WHERE id < 1000;
CREATE INDEX ON small USING sigfile (sig);
-- random ones, all different
CREATE TABLE large AS SELECT i AS id, bloom_signature(md5(i::text)) AS sig FROM generate_series(1, 150000) AS i;
CREATE INDEX large_index ON large USING sigfile (sig);
CREATE TABLE found AS SELECT a::text, (a + 1)::text AS b, 0.5::float8 AS similarity FROM generate_series(1, 100000) AS a;
CREATE VIEW new_keys AS SELECT id::text AS key FROM large WHERE id % 100 = 0;
CREATE VIEW many_new_keys AS SELECT id::text AS key FROM large WHERE id % 3 = 0;
CREATE TABLE dirty AS SELECT * FROM large;
CREATE INDEX dirty_index ON dirty USING sigfile (sig);
DELETE FROM dirty WHERE id % 2 = 0;
-- two segments and a tail
CREATE TABLE parts (LIKE large);
CREATE INDEX parts_index ON parts USING sigfile (sig) WITH (tail_limit = 65536);
INSERT INTO parts SELECT * FROM large;
CREATE TABLE pair AS SELECT * FROM (SELECT a, ((a * 7919::bigint + k * k * 31) % 300000)::int AS b, 0.5 + ((a + k) % 50) / 100.0::float8 AS similarity
    FROM generate_series(1, 300000) AS a, generate_series(1, 5) AS k) AS p WHERE a <> b;
CREATE TABLE label AS SELECT i AS key, i / 4 AS cluster FROM generate_series(0, 300000) AS i;
CREATE VIEW label_keys AS SELECT key::text, cluster FROM label;
CREATE TABLE member AS SELECT i AS id, md5((i / 2)::text) AS name FROM generate_series(0, 300000) AS i;
CREATE TABLE judged AS SELECT a, b, 'same' AS decision, now() AS at FROM pair WHERE a % 5 = 0;
-- half of the records are there twice
CREATE TABLE record AS SELECT i AS id, left(md5('g' || i % 5000 * 7), 7) AS given_name, left(md5('s' || i % 40000 % 9973), 9) AS surname, date '1930-01-01' + i % 40000 % 25013 AS born,
    left(md5('t' || i % 40000 / 4 + i / 60000), 12) AS street, left(md5('c' || i % 40000 % 307), 8) AS city FROM generate_series(1, 80000) AS i;
CREATE TABLE long_texts AS SELECT i AS id, 'n' || i AS name, (SELECT string_agg(md5(i || ' ' || j), ' ') FROM generate_series(1, 3000) AS j) AS body FROM generate_series(1, 300) AS i;
CREATE TABLE few_records AS SELECT * FROM record WHERE id % 40000 < 2000;
-- pairs of many patterns, for a fit with workers
CREATE TABLE varied AS SELECT i AS id, 'h' || i / 4 AS house, substr(v, 1, 3) AS f1, substr(v, 2, 3) AS f2, substr(w, 3, 3) AS f3, nullif(substr(w, 1, 3), 'ccc') AS f4, substr(x, 4, 3) AS f5, substr(x, 1, 3) AS f6
    FROM generate_series(1, 24000) AS i, LATERAL (SELECT translate(md5(i::text), '0123456789', 'abcdabcdab'), translate(md5(i || 'w'), '0123456789', 'ccccdefaab'),
        translate(md5(i || 'x'), '0123456789', 'dddabcaaab') OFFSET 0) AS l (v, w, x);
SET client_min_messages = error;
CREATE TABLE model AS SELECT bloom_model_fit('record', 'id') AS model;
SELECT bloom_secret_import('cancel', sha256('cancel')) AS id \gset
CREATE TABLE names AS SELECT left(md5('g' || floor(500 * ((hashint4(i)::bigint & 1023) / 1024.0) ^ 2)), 7) AS given, left(md5('s' || floor(3000 * ((hashint4(-i)::bigint & 1023) / 1024.0) ^ 2)), 9) AS surname FROM generate_series(1, 20000) AS i;
CREATE FUNCTION clk(names, l int) RETURNS bloom STABLE LANGUAGE sql AS $$SELECT bloom_clk(to_jsonb($1), format('{"version": 3, "clkConfig": {"l": %s, "kdf": {"type": "HKDF"}}, "features": [
    {"identifier": "given", "format": {"type": "string"}, "hashing": {"comparison": {"type": "ngram", "n": 2}, "strategy": {"bitsPerToken": %s}, "hash": {"type": "doubleHash"}}},
    {"identifier": "surname", "format": {"type": "string"}, "hashing": {"comparison": {"type": "ngram", "n": 2}, "strategy": {"bitsPerToken": %s}, "hash": {"type": "doubleHash"}}}]}', l, l / 70, l / 70)::jsonb, 'cancel')$$;
CREATE TABLE keyed AS SELECT clk(n, 1024) AS sig FROM names AS n;
CREATE TABLE wide_keyed AS SELECT clk(n, 65535) AS sig FROM (SELECT * FROM names LIMIT 2000) AS n;
CREATE TABLE long_names AS SELECT (SELECT string_agg(chr(19968 + (i::bigint * j * 7919 % 20000)::int), '') FROM generate_series(1, 100) AS j) AS name FROM generate_series(1, 16384) AS i;
CREATE TABLE filled (LIKE large);
CREATE INDEX ON filled USING sigfile (sig) WITH (tail_limit = 4096);

-- Waits until the session that calls itself `who` is at its statement, and `wait` milliseconds more; stops it. Returns how many
-- milliseconds that took until it had stopped; NULL if it was through too soon to be seen. Its workers are to be gone then.
CREATE PROCEDURE stop(who text, how text, wait float8, INOUT took float8 DEFAULT NULL) LANGUAGE plpgsql AS $$
DECLARE
    begun timestamptz;
    stopped timestamptz;
    now_at timestamptz;
    session int;
    victim record;
BEGIN
    FOR i IN 1 .. 1000 LOOP
        PERFORM pg_stat_clear_snapshot();
        SELECT pid, query_start INTO session, begun FROM pg_stat_activity
            WHERE application_name = who AND state = 'active' AND query LIKE '/* job */%' AND backend_type = 'client backend';
        EXIT WHEN session IS NOT NULL;
        PERFORM pg_sleep(0.001);
    END LOOP;
    IF session IS NULL THEN
        RETURN;
    END IF;
    IF how = 'timeout' THEN
        stopped := begun + wait * interval '1 ms';
    ELSE
        PERFORM pg_sleep(wait / 1000);
        PERFORM pg_stat_clear_snapshot();
        IF NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = session AND state = 'active' AND query_start = begun) THEN
            -- it is through; what would be stopped is its session's next statement
            RETURN;
        END IF;
        stopped := clock_timestamp();
        IF how = 'cancel' THEN
            PERFORM pg_cancel_backend(session);
        ELSE
            PERFORM pg_terminate_backend(session);
        END IF;
    END IF;
    LOOP
        now_at := clock_timestamp();
        PERFORM pg_stat_clear_snapshot();
        SELECT * INTO victim FROM pg_stat_activity WHERE pid = session;
        IF NOT FOUND THEN
            took := extract(epoch FROM now_at - stopped) * 1000;
            EXIT;
        ELSIF victim.state <> 'active' THEN
            took := extract(epoch FROM victim.state_change - stopped) * 1000;
            EXIT;
        ELSIF victim.query_start <> begun THEN
            took := extract(epoch FROM victim.query_start - stopped) * 1000;
            EXIT;
        END IF;
        PERFORM pg_sleep(0.002);
    END LOOP;
    IF EXISTS (SELECT FROM pg_stat_activity WHERE leader_pid = session) THEN
        RAISE 'workers are left of %', who;
    END IF;
END $$;
SQL

question="SELECT count(*) FROM bloom_duplicates('small', 'id', 'sig', 0.9)"
expected=$(sql -c "$question")

# Sessions that come and go would take half of the time: one of them stops all others.
coproc STOPPER { PGOPTIONS='-c client_min_messages=error' exec psql -XAtq 2>&1; }
stopper_pid=$!

declare -A job
parallel='SET max_parallel_workers_per_gather = 2'
alone='SET max_parallel_workers_per_gather = 0'
duplicates() { echo "SELECT count(*) FROM bloom_duplicates('$1', 'id', 'sig', $2)"; }
job[duplicates 0.3]="$alone|$(duplicates indexed 0.3)"
job[duplicates 0.6]="$alone|$(duplicates indexed 0.6)"
job[duplicates 0.3, workers]="$parallel|$(duplicates indexed 0.3)"
job[duplicates 0.5, workers]="$parallel|$(duplicates indexed 0.5)"
job[many duplicates]="$alone|$(duplicates crowded 0.9)"
job[many duplicates, workers]="$parallel|$(duplicates crowded 0.45)"
job[duplicates by tokens]="$alone|SELECT count(*) FROM bloom_duplicates('worded', 'id', 'sig', 0.9, verify => 'tokens')"
job[duplicates by tokens in little memory]="SET maintenance_work_mem = '1MB'|SELECT count(*) FROM bloom_duplicates('worded', 'id', 'sig', 0.9, verify => 'tokens')"
job[duplicates, not merged]="$alone|$(duplicates loose 0.3)"
job[duplicates without index]="$alone|$(duplicates plain 0.3)"
job[duplicates in little memory]="SET maintenance_work_mem = '1MB'|$(duplicates plain 0.4)"
job[linkage]="$alone|SELECT count(*) FROM bloom_linkage('indexed', 'id', 'sig', 'loose', 'id', 'sig', 0.3)"
job[linkage, workers]="$parallel|SELECT count(*) FROM bloom_linkage('indexed', 'id', 'sig', 'large', 'id', 'sig', 0.4)"
job[duplicates of new records]="$alone|SELECT count(*) FROM bloom_duplicates('large', 'id', 'sig', 0.5, new => 'new_keys')"
job[duplicates of new records together]="$alone|SELECT count(*) FROM bloom_duplicates('large', 'id', 'sig', 0.5, new => 'many_new_keys')"
job[duplicates of new records without an index]="$alone|SELECT count(*) FROM bloom_duplicates('plain', 'id', 'sig', 0.5, new => 'many_new_keys')"
job[linkage with one index]="$alone|SELECT count(*) FROM bloom_linkage('plain', 'id', 'sig', 'large', 'id', 'sig', 0.5)"
job[refresh]="$alone|SELECT * FROM bloom_pairs_refresh('found', 'large', 'id', 'sig', 0.5, 'new_keys')"
job[clusters update]="$alone|SELECT count(*) FROM bloom_clusters_update('label_keys', 'pair', 0.7)"
job[models of new records]="$alone|SELECT count(*) FROM bloom_model_duplicates('record', 'id', (SELECT model FROM model), new => 'new_keys')"
job[profiles]="$alone|SELECT count(*) FROM bloom_duplicates('plain', 'id', ARRAY['sig', 'other'], ARRAY[1, 2], 0.4)"
job[profiles in little memory]="SET maintenance_work_mem = '1MB'|SELECT count(*) FROM bloom_duplicates('plain', 'id', ARRAY['sig', 'other'], ARRAY[1, 2], 0.4)"
job[profiles by an index]="$parallel|SELECT count(*) FROM bloom_duplicates('large', 'id', ARRAY['sig'], ARRAY[1], 0.6)"
job[profiles of new records by an index]="$alone|SELECT count(*) FROM bloom_duplicates('large', 'id', ARRAY['sig'], ARRAY[1], 0.5, new => 'many_new_keys')"
for method in components centre average; do
    job[clusters, $method]="$alone|SELECT count(*) FROM bloom_clusters('pair', 0.6, '$method')"
done
job[clusters, the most complete kept]="$alone|SELECT count(*) FROM bloom_clusters('pair', 0.6, keep_by => 'most complete', rel => 'label', key => 'key')"
job[assignment]="$alone|SELECT count(*) FROM bloom_assign('pair')"
job[assignment, optimal]="$alone|SELECT count(*) FROM bloom_assign('pair', 'optimal')"
job[plan of a merge]="$alone|SELECT count(*) FROM bloom_merge_plan('label', 'member', 'id', '{\"name\": \"most frequent\"}')"
job[linkage, one to one]="$alone|SELECT count(*) FROM bloom_linkage('indexed', 'id', 'sig', 'loose', 'id', 'sig', 0.3, one_to_one => true)"
job[clusters of rows]="$parallel|SELECT count(*) FROM bloom_clusters('indexed', 'id', 'sig', 0.4)"
job[suggestion]="$alone|SELECT count(*) FROM bloom_suggest('record')"
job[quality]="$alone|SELECT bloom_quality('pair', 'label')"
job[sweep]="$alone|SELECT count(*) FROM bloom_threshold_sweep('pair', 'label', 0.00001)"
job[report]="$parallel|SELECT length(bloom_report('indexed', 'id', 'sig', 0.4))"
job[report of pairs]="$alone|SELECT length(bloom_report_pairs('pair', 'label', 'key', truth => 'label', decisions => 'judged'))"
job[report of a linkage]="$alone|SELECT length(bloom_report_linkage('pair', 'label', 'key', 'label', 'key', decisions => 'judged'))"
job[fit of a model]="$alone|SELECT bloom_model_fit('record', 'id')"
job[fit of a model in little memory]="SET maintenance_work_mem = '1MB'|SELECT bloom_model_fit('record', 'id')"
job[fit of a model, workers]="$parallel|SELECT bloom_model_fit('varied', 'id')"
job[fit of a model, all pairs]="$alone|SELECT bloom_model_fit('few_records', 'id')"
job[fit of a model, long texts]="$alone|SELECT bloom_model_fit('long_texts', 'id')"
job[pairs of a model]="$alone|SELECT count(*) FROM model, bloom_model_duplicates('record', 'id', model) AS p"
job[pairs of a model, all pairs]="$alone|SELECT count(*) FROM model, bloom_model_duplicates('few_records', 'id', jsonb_set(model, '{searches}', '[{\"scan\": 30, \"recall\": 1, \"pairs_per_record\": 1, \"matches_per_record\": 1}]')) AS p"
job[CREATE INDEX]="$alone|CREATE INDEX ON large USING sigfile (sig)"
job[CREATE INDEX in little memory]="SET maintenance_work_mem = '1MB'|CREATE INDEX ON large USING sigfile (sig)"
job[CREATE INDEX, gist]="$alone|CREATE INDEX ON large USING gist (sig)"
job[REINDEX]="$alone|REINDEX INDEX large_index"
job[VACUUM]="$alone|VACUUM (INDEX_CLEANUP ON) dirty"
job[merge]="$alone|SELECT bloom_sigfile_merge('parts_index')"
job[check]="$alone|SELECT bloom_sigfile_check('large_index')"
job[INSERT]="$alone|INSERT INTO filled SELECT * FROM large"
job[nearest]="$alone; SET enable_seqscan = off; SET enable_sort = off|SELECT count(*) FROM (SELECT id FROM large ORDER BY sig <-> bloom_signature('x') LIMIT 100000) AS l"
job[nearest in little memory]="$alone; SET work_mem = '64kB'; SET enable_seqscan = off; SET enable_sort = off|SELECT count(*) FROM (SELECT id FROM large ORDER BY sig <-> bloom_signature('x') OFFSET 0) AS l"
job[search by search]="$alone; SET enable_seqscan = off|SELECT count(*) FROM plain AS a JOIN indexed AS b ON b.sig % bloom_query(a.sig, 0.4)"
job[searches by GiST]="$alone; SET enable_seqscan = off|SELECT count(*) FROM plain AS a JOIN large AS b ON b.sig % bloom_query(a.sig, 0.1)"
job[ADD CONSTRAINT]="$alone|ALTER TABLE large ADD EXCLUDE USING sigfile ((bloom_query(sig, 0.9)) WITH %)"
job[ANALYZE]="$alone|ANALYZE large"
texts="(SELECT repeat('Erika Mustermann ', 500000)) AS l (t), generate_series(1, 200) AS i"
job[audit of keyed signatures]="$alone|SELECT count(*) FROM bloom_audit_keyed('keyed', 'sig', 'names')"
job[audit of wide keyed signatures]="$alone|SELECT count(*) FROM bloom_audit_keyed('wide_keyed', 'sig', 'names')"
job[audit by a long list]="$alone|SELECT count(*) FROM bloom_audit_keyed('keyed', 'sig', 'long_names')"
job[text]="$alone|SELECT count(bloom_signature(t || i)) FROM $texts"
job[tokens]="$alone|SELECT count(ident_token_sim(ident_shingles(ident_words(t || i), 3), ident_tokens(i || t))) FROM $texts"
job[tokens of JSON]="$alone|SELECT count(bloom_signature_of_tokens(ident_multiset(ident_tokens(to_jsonb(array_fill(t || i, ARRAY[2])))))) FROM $texts"
job[one long token]="$alone|SELECT count(ident_tokens(repeat('ü-x,', 20000000)) || ident_words(repeat('üx', 20000000)))"
job[characters]="$alone|SELECT count(ident_characters(repeat('高石早苗', 5000000) || i)) FROM generate_series(1, 200) AS i"
job[long dates]="$alone|SELECT count(ident_date_text(repeat('x', 100000000) || i, 'DD.MM.YYYY', 'YYYY-MM-DD')) FROM generate_series(1, 200) AS i"
job[words]="$alone|SELECT count(ident_ngram_sim(t || i, i || t)) FROM $texts"

# What there is to do again when it was not stopped in time.
declare -A again
again[VACUUM]='UPDATE dirty SET id = id WHERE id % 3 = 0'
again[merge]='INSERT INTO parts SELECT * FROM large LIMIT 40000'
again[INSERT]='TRUNCATE filled'

declare -A slowest tries
times=()
number=0

# try NAME HOW: milliseconds until it stopped, or nothing if it had ended before.
try() {
    local name=$1 how=$2 settings=${job[$1]%%|*} statement=${job[$1]#*|} wait timeout=0 who took session output answer
    number=$((number + 1))
    who="victim $number"
    # mostly soon, sometimes late: what comes first is not what takes longest
    wait=$((1 + RANDOM % (RANDOM % 4 ? 150 : 1200)))
    [[ $how != timeout ]] || timeout=$wait
    output=$SCRATCH/cancel/output
    # The question is put twice, since a statement can end between the last look at it and the request to cancel it.
    PGAPPNAME=$who psql -XAtq -v ON_ERROR_STOP=0 -c "$settings" -c "SET statement_timeout = $timeout" -c "/* job */ $statement" \
        -c 'RESET statement_timeout' -c "$question" -c "$question" >"$output" 2>&1 &
    session=$!
    echo "CALL stop('$who', '$how', $wait);" >&"${STOPPER[1]}"
    read -r -t 120 took <&"${STOPPER[0]}" || die "$name: did not stop within two minutes after a $how"
    wait $session || true
    answer=$(tail -n 1 "$output")
    case $how in
        terminate) grep -q 'terminating connection due to administrator command' "$output" || took= ;;
        *)
            [[ $answer == "$expected" ]] || die "$name: after a $how its session gave $(cat "$output")"
            grep -q "canceling statement due to" "$output" || took=
            ;;
    esac
    [[ $took != *[!0-9.-]* ]] || die "$name: $took"
    printf '%s' "${took%.*}"
}

ways=(cancel timeout terminate)
measure() {
    local name=$1 how=$2 took second
    took=$(try "$name" "$how")
    if [[ -z $took ]]; then
        [[ -z ${again[$name]:-} ]] || sql -c "${again[$name]}"
        return
    fi
    if ((took > most)); then
        # others use this machine, too: once may have been theirs
        second=$(try "$name" "$how")
        warn "$name: $took ms until it stopped after a $how, then ${second:-no} ms"
        took=${second:-$took}
        ((took <= most)) || failed="$name: $took ms until it stopped after a $how"
    fi
    times+=("$took")
    tries[$name]=$((${tries[$name]:-0} + 1))
    ((took <= ${slowest[$name]:--1})) || slowest[$name]=$took
}

failed=
begin=$SECONDS
while ((SECONDS - begin < seconds)); do
    # in another order each time: there may be time for a part of them only
    mapfile -t names < <(printf '%s\n' "${!job[@]}" | shuf)
    for name in "${names[@]}"; do
        measure "$name" "${ways[RANDOM % 3]}"
        [[ -z $failed ]] || die "$failed"
        ((SECONDS - begin < seconds)) || break
    done
done
echo '\q' >&"${STOPPER[1]}"
wait $stopper_pid || true

# Processes that have just ended are no longer there a moment later.
left="SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type IN ('client backend', 'parallel worker')"
for ((i = 0; i < 50; i++)); do [[ $(sql -c "$left") != 0 ]] || break; sleep 0.1; done
[[ $(sql -c "$left") == 0 ]] || die "left: $(sql -c 'SELECT backend_type, state, query FROM pg_stat_activity')"
files=$(sql -c 'SELECT string_agg(name, $$ $$) FROM pg_ls_tmpdir()')
[[ -z $files ]] || die "temporary files are left: $files"
[[ $(sql -c "SELECT bloom_sigfile_check('large_index')") == 150000 ]] || die 'large_index is damaged'
grep -E 'PANIC|was terminated by signal|TRAP' "$SCRATCH/cancel/log" && die 'a process has crashed'

((${#times[@]} > seconds / 2)) || die "only ${#times[@]} statements were stopped"
mapfile -t times < <(printf '%s\n' "${times[@]}" | sort -n)
n=${#times[@]}
mapfile -t names < <(printf '%s\n' "${!job[@]}" | sort)
for name in "${names[@]}"; do
    [[ -z ${tries[$name]:-} ]] || printf '%6d ms at most, %3d times: %s\n' "${slowest[$name]}" "${tries[$name]}" "$name"
done
say "$n statements stopped: median ${times[n / 2]} ms, 90 % within ${times[n * 9 / 10]} ms, at most ${times[n - 1]} ms"
((times[n / 2] <= usual)) || die "the median of ${times[n / 2]} ms is above $usual ms"
