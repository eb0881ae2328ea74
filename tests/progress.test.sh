#!/usr/bin/env bash
# Others see how far a job is: its phases, and shares that rise. Nothing is left of it when it ends, whichever way, nor is what another command shows
# of itself lost to it.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

createdb progress
export PGDATABASE=progress

ask() { timeout -k 5 120 psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

ask <<'SQL'
CREATE EXTENSION bloom_ident;
CREATE TABLE plain AS SELECT i AS id, bloom_signature(md5((i / 3)::text)) AS sig, ARRAY[md5((i / 3)::text), md5(i::text)] AS tokens FROM generate_series(1, 40000) AS i;
ANALYZE plain;
CREATE TABLE indexed AS SELECT * FROM plain;
CREATE INDEX ON indexed USING sigfile (sig);
ANALYZE indexed;
CREATE TABLE crowded AS SELECT i AS id, s.sig, ARRAY[md5(i::text), md5((i / 2)::text)] AS tokens FROM generate_series(1, 10000) AS i
    JOIN (SELECT n, bloom_signature(md5(n::text)) AS sig FROM generate_series(0, 24) AS n) AS s ON s.n = i % 25;
CREATE INDEX ON crowded USING sigfile (sig);
ANALYZE crowded;
CREATE TABLE pair AS SELECT a, ((a * 7919::bigint + k * k * 31) % 300000)::int AS b, 0.5 + ((a + k) % 50) / 100.0::float8 AS similarity
    FROM generate_series(1, 300000) AS a, generate_series(1, 3) AS k WHERE a <> (a * 7919::bigint + k * k * 31) % 300000;
CREATE TABLE record AS SELECT i AS id, left(md5('g' || i % 5000 * 7), 7) AS given_name, left(md5('s' || i % 20000 % 9973), 9) AS surname, date '1930-01-01' + i % 20000 % 25013 AS born,
    left(md5('c' || i % 20000 % 307), 8) AS city FROM generate_series(1, 40000) AS i;
ANALYZE record;

-- What is seen of the session that calls itself `who`, from the begin of its statement to its end.
CREATE TABLE seen (who text, at bigserial, job text, phase text, done bigint, total bigint, share float8, elapsed interval, time_left interval, relid oid, datname name);
CREATE PROCEDURE watch(of text) LANGUAGE plpgsql AS $$
DECLARE
    session int;
    active boolean;
    was_there boolean := false;
BEGIN
    FOR i IN 1 .. 20000 LOOP
        PERFORM pg_stat_clear_snapshot();
        SELECT pid, state = 'active' INTO session, active FROM pg_stat_activity
            WHERE application_name = of AND query LIKE '/* job */%' AND backend_type = 'client backend';
        was_there := was_there OR session IS NOT NULL;
        IF active THEN
            INSERT INTO seen (who, job, phase, done, total, share, elapsed, time_left, relid, datname)
                SELECT of, job, phase, done, total, share, elapsed, time_left, relid, datname FROM bloom_progress WHERE pid = session;
        ELSIF was_there THEN
            RETURN;
        END IF;
        PERFORM pg_sleep(0.001);
    END LOOP;
    RAISE 'nobody has seen %', of;
END $$;
SQL

# see NAME QUERY [SETTING]: runs a query in a session of this name, which stays until it has been watched.
see() {
    coproc SESSION { PGAPPNAME=$1 exec psql -XAtq -v ON_ERROR_STOP=1 2>&1; }
    local in=${SESSION[1]} out=${SESSION[0]} pid=$SESSION_PID
    printf '%s\n' "SET client_min_messages = warning; SET maintenance_work_mem = '512MB'; ${3:-};" "/* job */ SELECT $2 \\gset" >&"$in"
    ask -c "CALL watch('$1')"
    printf '%s\n' '\q' >&"$in" 2>/dev/null || true
    wait "$pid" || die "$1 failed"
    [[ $(ask -c 'SELECT count(*) FROM bloom_progress') == 0 ]] || die "$1: something is left"
}

# phases NAME JOB PHASE...: they were seen, in this order, and nothing fell within one.
phases() {
    local name=$1 job=$2 phase found
    shift 2
    found=$(ask -c "SELECT phase FROM seen WHERE who = '$name' AND job = '$job' GROUP BY phase ORDER BY min(at)")
    echo "$name: ${found//$'\n'/, }"
    for phase in "$@"; do
        grep -qxF "$phase" <<<"$found" || die "$name: \"$phase\" was not seen"
        found=$(sed "0,/^$phase\$/d" <<<"$found")
    done
    [[ $(ask -c "SELECT count(*) FROM (SELECT done, total, share, lag(done) OVER w AS before, elapsed, lag(elapsed) OVER w AS earlier FROM seen WHERE who = '$name'
        WINDOW w AS (PARTITION BY phase, total ORDER BY at)) AS s WHERE done < before OR share NOT BETWEEN 0 AND 1 OR elapsed < earlier") == 0 ]] || die "$name: something fell"
}

# rose NAME PHASE: the share of a phase that was seen often rose, and the time that was left fell.
rose() {
    [[ $(ask -c "SELECT count(DISTINCT share) > 5 AND max(share) > min(share) + 0.2 AND count(time_left) > 3 FROM seen WHERE who = '$1' AND phase = '$2'") == t ]] \
        || die "$1: \"$2\" did not rise: $(ask -c "SELECT DISTINCT share FROM seen WHERE who = '$1' AND phase = '$2' ORDER BY 1" | tr '\n' ' ')"
}

see duplicates "count(*) FROM bloom_duplicates('plain', 'id', 'sig', 0.5)"
phases duplicates bloom_duplicates 'reading records' 'comparing signatures'
see workers "count(*) FROM bloom_duplicates('indexed', 'id', 'sig', 0.45)" 'SET min_parallel_table_scan_size = 0'
phases workers bloom_duplicates 'searching the index'
see tokens "count(*) FROM bloom_duplicates('crowded', 'id', 'sig', 0.9, verify => 'tokens')"
phases tokens bloom_duplicates 'searching the index' 'reading tokens' 'comparing tokens'
rose tokens 'comparing tokens'
see linkage "count(*) FROM bloom_linkage('plain', 'id', 'sig', 'plain', 'id', 'sig', 0.5, one_to_one => true)"
phases linkage bloom_linkage 'reading records' 'comparing signatures' 'assigning partners'
see clusters "count(*) FROM bloom_clusters('pair', 0.6)"
phases clusters bloom_clusters 'reading pairs' 'grouping records' 'writing rows'
rose clusters 'reading pairs'
rose clusters 'writing rows'
see assign "count(*) FROM bloom_assign('pair', 'optimal')"
phases assign bloom_assign 'reading pairs' 'assigning partners'
see report "length(bloom_report('indexed', 'id', 'sig', 0.6))"
phases report bloom_report 'searching the index'
see estimate "count(*) FROM bloom_pairs_estimate('plain', 'sig', 0.45)"
phases estimate bloom_pairs_estimate 'searching for a sample'
see fit "bloom_model_fit('record', 'id') AS model"
phases fit bloom_model_fit 'reading records' 'preparing records' 'comparing pairs'
rose fit 'comparing pairs'
ask -c 'CREATE TABLE model AS SELECT bloom_model_fit($$record$$, $$id$$) AS model'
see pairs "count(*) FROM model, bloom_model_duplicates('record', 'id', model)"
phases pairs bloom_model_duplicates 'reading records'
[[ $(ask -c "SELECT DISTINCT relid::regclass, datname FROM seen WHERE who = 'fit'") == 'record|progress' ]] || die 'another relation or database'

# A job stops at places where a lock is held: in the middle of reading a view, after a command of its own that the server shows.
ask <<'SQL'
CREATE FUNCTION pause(at int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_advisory_lock(at);
    PERFORM pg_advisory_unlock(at);
    RETURN true;
END $$;
CREATE FUNCTION nested() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
    CREATE TEMP TABLE IF NOT EXISTS mine AS SELECT 1 AS i;
    CREATE INDEX ON mine (i);
    PERFORM count(*) FROM bloom_duplicates('plain', 'id', 'sig', 0.9);
    BEGIN
        PERFORM 1 / 0;
    EXCEPTION WHEN division_by_zero THEN
    END;
    RETURN true;
END $$;
CREATE VIEW slow AS SELECT id, sig FROM plain WHERE CASE id WHEN 1500 THEN pause(1) WHEN 2500 THEN nested() WHEN 3500 THEN pause(2) WHEN 4500 THEN 1 / (id - 4500) = 0 ELSE true END;
ALTER TABLE plain ADD PRIMARY KEY (id);
CREATE ROLE somebody LOGIN;
GRANT SELECT ON slow, plain TO somebody;
CREATE ROLE nobody_else;
CREATE ROLE statistician;
GRANT pg_read_all_stats TO statistician;
GRANT CREATE, TEMP ON DATABASE progress TO somebody;
SQL
coproc LOCKS { exec psql -XAtq -v ON_ERROR_STOP=1; }
tell() { printf '%s\n' "$1" >&"${LOCKS[1]}"; }
tell 'SELECT pg_advisory_lock(1); SELECT pg_advisory_lock(2);'
read -r <&"${LOCKS[0]}"
read -r <&"${LOCKS[0]}"

# paused AT: waits until the job does.
paused() {
    local i
    for ((i = 0; i < 400; i++)); do
        [[ $(ask -c "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = $1") == 1 ]] && return
        sleep 0.05
    done
    die "nothing waits at $1"
}
# shown QUERY-OPTIONS...: what the view says, and what the server's own say.
shown() {
    ask "$@" -c "SELECT datname, relid::regclass, job, phase, done, pid > 0 AS pid, coalesce(round(total::numeric, -4), -1), elapsed > '0' AS elapsed FROM bloom_progress"
    ask "$@" -c 'SELECT command FROM pg_stat_progress_create_index UNION ALL SELECT command FROM pg_stat_progress_copy'
}
is() { [[ $2 == "$3" ]] || die "$1: $2 instead of $3"; }

job="SELECT count(*) FROM bloom_duplicates('slow', 'id', 'sig', 0.9)"
export PGOPTIONS='-c enable_sort=off -c enable_seqscan=off'
psql -XAtq -U somebody -c "$job" >"$SCRATCH/progress.out" 2>&1 &
session=$!
paused 1
is 'reading' "$(shown)" 'progress|slow|bloom_duplicates|reading records|1000|t|20000|t'
is 'another role' "$(shown -c 'SET ROLE nobody_else')" 'progress|||||t|-1|'
is 'the same role' "$(shown -c 'SET ROLE somebody')" 'progress|slow|bloom_duplicates|reading records|1000|t|20000|t'
is 'who may read all' "$(shown -c 'SET ROLE statistician')" 'progress|slow|bloom_duplicates|reading records|1000|t|20000|t'
tell 'SELECT pg_advisory_unlock(1);'
paused 2
is 'after a nested command' "$(shown)" 'progress|slow|bloom_duplicates|reading records|3000|t|20000|t'
tell 'SELECT pg_advisory_unlock(2);'
wait "$session" && die 'there was no error'
grep -q 'division by zero' "$SCRATCH/progress.out" || die "no error: $(cat "$SCRATCH/progress.out")"
is 'after an error' "$(shown)" ''
unset PGOPTIONS

# A cancel, and a COPY around the job, which the server goes on to show.
tell 'SELECT pg_advisory_lock(1);'
read -r <&"${LOCKS[0]}"
read -r <&"${LOCKS[0]}"
read -r <&"${LOCKS[0]}"
psql -XAtq -c "$job" >"$SCRATCH/progress.out" 2>&1 &
session=$!
paused 1
is 'before a cancel' "$(ask -c 'SELECT job FROM bloom_progress')" bloom_duplicates
ask -c 'SELECT pg_cancel_backend(pid) FROM bloom_progress' >/dev/null
wait "$session" && die 'it was not canceled'
is 'after a cancel' "$(shown)" ''
tell 'SELECT pg_advisory_unlock(1); SELECT pg_advisory_lock(2);'
read -r <&"${LOCKS[0]}"
read -r <&"${LOCKS[0]}"
psql -XAtq -c "COPY (SELECT a, pause(2) FROM (SELECT a FROM bloom_duplicates('plain', 'id', 'sig', 0.9) OFFSET 0) AS f) TO STDOUT" >"$SCRATCH/progress.out" 2>&1 &
session=$!
paused 2
is 'within COPY' "$(shown)" 'COPY TO'
tell 'SELECT pg_advisory_unlock(2);'
wait "$session"
is 'after COPY' "$(shown)" ''

# A session that does not track its activities shows nothing, and does its work.
is 'untracked' "$(ask -c "SET track_activities = off" -c "SELECT count(*) > 0 FROM bloom_duplicates('plain', 'id', 'sig', 0.9)")" t
