# shellcheck shell=bash
# Sourced by the tests of access method sigfile that run many sessions: a table "person" with an index of a tiny
# tail, what writers do to it, and whether table and index agree. Needs test-env.sh.

# No statement of these tests takes so long: what does, hangs.
PATIENCE=${PATIENCE:-60}

# Where sessions leave their messages.
LOGS=$(mktemp -d "$SCRATCH/sigfile.XXXXXX")

ask() { timeout -k 5 "$PATIENCE" psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

# What is compared: bloom, or minhash_bits, for which the same statements are said in its words.
SIGFILE_TYPE=${SIGFILE_TYPE:-bloom}

in_words_of_type() {
    if [[ $SIGFILE_TYPE == bloom ]]; then
        cat
        return
    fi
    sed -e "s/bloom_query(bloom_signature(''x''), 0)/minhash_query_at_least(minhash_bits(''{x}'', 96), -1)/g" \
        -e 's/\<\(sig\|q\|RETURNS\) bloom\>/\1 minhash_bits/g' -e 's/bloom_query(/minhash_query(/g' -e 's/bloom_sim(/minhash_sim(/g' -e 's/bloom_hash(/minhash_bits_hash(/g' \
        -e "s/bloom_signature('')/minhash_bits('{}', 96)/g; s/bloom_signature(''x'')/minhash_bits(''{x}'', 96)/g" \
        -e "s/bloom_signature(left(md5((n % 5000)::text), 12) || ' ' || n % 7)/minhash_bits(CASE WHEN n % 31 > 0 THEN ARRAY(SELECT substr(md5((n % 5000)::text), 4 * t, 4) FROM generate_series(0, 7) AS t) || (n % 7)::text ELSE '{}' END, 96)/"
}

# Tables, indexes and functions in the current database.
sigfile_setup() {
    in_words_of_type <<'SQL' | ask
CREATE EXTENSION bloom_ident;
CREATE TABLE person (id bigserial, sig bloom) WITH (fillfactor = 70);
CREATE INDEX person_sig ON person USING sigfile (sig) WITH (tail_limit = 64);
CREATE INDEX person_id ON person (id);
CREATE TABLE once (id bigserial, sig bloom, CONSTRAINT no_duplicate EXCLUDE USING sigfile ((bloom_query(sig, 0.9)) WITH %) WITH (tail_limit = 64));
CREATE TABLE member (id bigserial, tenant int, sig bloom, CONSTRAINT once_a_tenant EXCLUDE USING sigfile (tenant WITH =, (bloom_query(sig, 0.9)) WITH %) WITH (tail_limit = 64));
CREATE UNLOGGED TABLE unlogged (sig bloom);
CREATE INDEX unlogged_sig ON unlogged USING sigfile (sig) WITH (tail_limit = 64);
CREATE FUNCTION name_of(n bigint) RETURNS bloom LANGUAGE sql AS $$ SELECT CASE WHEN random() > 0.05 THEN bloom_signature(left(md5((n % 5000)::text), 12) || ' ' || n % 7) END $$;
INSERT INTO person (sig) SELECT name_of(i) FROM generate_series(1, 6000) AS i;
INSERT INTO once (sig) SELECT name_of(i) FROM generate_series(1, 500) AS i ON CONFLICT DO NOTHING;
INSERT INTO member (tenant, sig) SELECT nullif(i % 7, 6), name_of(i) FROM generate_series(1, 1500) AS i ON CONFLICT DO NOTHING;

-- The plan of a query, if it does not read the table in the way that is wanted.
CREATE FUNCTION other_plan(way text, query text, q bloom) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    plan text := '';
    wanted text := CASE way WHEN 'table' THEN '\mSeq Scan on person' WHEN 'bitmap' THEN '\mBitmap Index Scan on person_(sig|other)'
        WHEN 'index' THEN '\mIndex Scan using person_(sig|other)' WHEN 'only' THEN '\mIndex Only Scan using person_(sig|other)' END;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query USING q LOOP
        plan := plan || line || E'\n';
    END LOOP;
    IF plan !~ wanted OR way = 'table' AND plan ~ 'Index' THEN RETURN format('%s is not read by %s: %s', query, way, plan); END IF;
    RETURN NULL;
END $$;
-- The first answer that differs between the table and its index, or is not read in the way that is wanted; in one snapshot where the
-- transaction has one.
CREATE FUNCTION difference() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    q bloom;
    condition text;
    way text;
    nearest boolean;
    query text;
    of_table text;
    of_index text;
    other text;
BEGIN
    FOR q IN (SELECT sig FROM person WHERE sig IS NOT NULL AND id % 50 = floor(random() * 50) LIMIT 2) UNION ALL SELECT bloom_signature('') LOOP
        FOREACH condition IN ARRAY ARRAY['sig % bloom_query($1, 0)', 'sig % bloom_query($1, 0.3)', 'sig % bloom_query($1, 0.85)', 'bloom_sim(sig, $1) >= 0.6', 'sig = $1', 'sig IS NULL',
                'ORDER BY sig <-> $1 LIMIT 40', 'ORDER BY sig <-> $1'] LOOP
            nearest := condition ~ '^ORDER';
            FOREACH way IN ARRAY ARRAY['table', 'index', 'bitmap', 'only'] LOOP
                CONTINUE WHEN nearest AND way = 'bitmap';
                query := CASE WHEN nearest THEN format('SELECT count(*) || '' '' || md5(string_agg(coalesce(d::text, ''none''), '' '')) FROM (SELECT sig <-> $1 AS d%s FROM person %s) AS f', CASE way WHEN 'index' THEN ', id' END, condition)
                    WHEN way = 'only' THEN 'SELECT count(*) || '' '' || coalesce(sum(bloom_hash(sig)::numeric), 0) || '' '' FROM person WHERE ' || condition
                    -- a sum, since an aggregate that wants its input in order would be served by the index on id
                    ELSE 'SELECT count(*) || '' '' || coalesce(sum(bloom_hash(sig)::numeric), 0) || '' '' || coalesce(sum(hashint8extended(id, 7)::numeric), 0) || ''.'' FROM person WHERE ' || condition END;
                PERFORM set_config('enable_seqscan', (way = 'table')::text, true), set_config('enable_bitmapscan', (way = 'bitmap')::text, true),
                    set_config('enable_indexscan', (way IN ('index', 'only'))::text, true), set_config('enable_indexonlyscan', (way = 'only')::text, true);
                other := other_plan(way, query, q);
                IF other IS NOT NULL THEN RETURN other; END IF;
                EXECUTE query INTO of_index USING q;
                IF way = 'table' THEN
                    of_table := of_index;
                ELSIF left(of_table, length(of_index)) <> of_index THEN
                    RETURN format('%s, %s, %s: %s in the table, %s by %s', condition, q, clock_timestamp(), of_table, of_index, way);
                END IF;
            END LOOP;
        END LOOP;
    END LOOP;
    PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_bitmapscan', 'on', true), set_config('enable_indexscan', 'on', true), set_config('enable_indexonlyscan', 'on', true);
    RETURN NULL;
END $$;
-- The same of searches within a tenant.
CREATE FUNCTION tenants_difference() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    condition text;
    q bloom := name_of((random() * 5000)::int);
    of_table text;
    of_index text;
BEGIN
    FOREACH condition IN ARRAY ARRAY['tenant = 3 AND sig % bloom_query($1, 0)', 'tenant = 4 AND sig % bloom_query($1, 0.5)', 'tenant IS NULL AND sig % bloom_query($1, 0.3)', 'tenant = 2 AND sig IS NULL', 'sig % bloom_query($1, 0.4)'] LOOP
        SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off;
        EXECUTE 'SELECT format(''%s %s'', count(*), sum(id)) FROM member WHERE ' || condition INTO of_table USING q;
        SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = on;
        EXECUTE 'SELECT format(''%s %s'', count(*), sum(id)) FROM member WHERE ' || condition INTO of_index USING q;
        IF of_table <> of_index THEN RETURN format('%s, %s: %s in the table, %s in the index', condition, q, of_table, of_index); END IF;
    END LOOP;
    SET LOCAL enable_seqscan = on; SET LOCAL enable_bitmapscan = on;
    RETURN NULL;
END $$;
-- Cursors that are read in part, and the rest of them later: they have the rows of the snapshot.
CREATE FUNCTION opened() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    name text;
    way text;
    query text;
    other text;
BEGIN
    SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;
    FOR name, way, query IN VALUES ('searched', 'index', 'SELECT id FROM person WHERE sig % bloom_query(bloom_signature(''x''), 0)'),
            ('nearest', 'index', 'SELECT id FROM person WHERE sig IS NOT NULL ORDER BY sig <-> bloom_signature(''x'')'),
            ('values_only', 'only', 'SELECT bloom_hash(sig)::bigint FROM person WHERE sig % bloom_query(bloom_signature(''x''), 0)') LOOP
        other := other_plan(way, query, NULL);
        IF other IS NOT NULL THEN RAISE '%', other; END IF;
        EXECUTE format('DECLARE %I CURSOR FOR %s', name, query);
    END LOOP;
    SET LOCAL enable_seqscan = on; SET LOCAL enable_bitmapscan = on;
END $$;
CREATE FUNCTION half_read() RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
    c refcursor;
    row bigint;
    rows bigint[] := '{}';
BEGIN
    FOREACH c IN ARRAY '{searched,nearest,values_only}'::text[] LOOP
        FOR i IN 1..2 LOOP
            FETCH c INTO row;
            rows := rows || row;
        END LOOP;
    END LOOP;
    RETURN rows;
END $$;
CREATE FUNCTION rest(before bigint[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    c refcursor;
    row bigint;
    rows bigint[];
    of_table text;
BEGIN
    FOREACH c IN ARRAY '{searched,nearest,values_only}'::text[] LOOP
        rows := CASE c::text WHEN 'searched' THEN before[1:2] WHEN 'nearest' THEN before[3:4] ELSE before[5:6] END;
        SELECT format('%s %s', count(*), md5(array_agg(v ORDER BY v)::text)) INTO of_table
        FROM (SELECT CASE c::text WHEN 'values_only' THEN bloom_hash(sig) ELSE id END AS v FROM person WHERE sig::text IS NOT NULL) AS f;
        LOOP
            FETCH c INTO row;
            EXIT WHEN NOT FOUND;
            rows := rows || row;
        END LOOP;
        IF (SELECT format('%s %s', count(*), md5(array_agg(id ORDER BY id)::text)) FROM unnest(rows) AS id) <> of_table THEN
            RETURN format('cursor %s has %s rows, the table %s', c, array_length(rows, 1), of_table);
        END IF;
    END LOOP;
    RETURN NULL;
END $$;
-- Whether a standby has seen the index rebuilt since the snapshot, while it waited for the lock: rows that are dead on the primary and that the
-- snapshot sees are not in the new one, of whatever method it is.
CREATE FUNCTION rebuilt() RETURNS boolean STABLE LANGUAGE sql AS $$
    SELECT pg_is_in_recovery() AND pg_relation_filenode(oid) <> relfilenode FROM pg_class WHERE oid = 'person_sig'::regclass
$$;
-- What is wrong with indexes, nothing if all is well. Not while others write: it counts rows.
CREATE FUNCTION wrong() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    index record;
    rows bigint;
BEGIN
    FOR index IN SELECT i.indexrelid::regclass AS name, i.indrelid::regclass AS "table" FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_am AS am ON am.oid = c.relam WHERE amname = 'sigfile' AND indisvalid AND (relpersistence = 'p' OR NOT pg_is_in_recovery()) LOOP
        EXECUTE format('SELECT count(*) FROM %s', index."table") INTO rows;
        IF bloom_sigfile_check(index.name) <> rows THEN RETURN NEXT format('%s has not %s rows', index.name, rows); END IF;
    END LOOP;
    RETURN QUERY SELECT d FROM difference() AS d WHERE d IS NOT NULL;
    RETURN QUERY SELECT d FROM tenants_difference() AS d WHERE d IS NOT NULL;
    RETURN QUERY SELECT format('%s and %s of a tenant are similar', a.id, b.id) FROM member AS a JOIN member AS b ON a.id < b.id AND a.tenant = b.tenant AND bloom_sim(a.sig, b.sig)::float8 + 0 >= 0.9;
    RETURN QUERY SELECT format('%s and %s are similar', a.id, b.id) FROM once AS a JOIN once AS b ON a.id < b.id AND bloom_sim(a.sig, b.sig)::float8 + 0 >= 0.9;
END $$;
SQL
}

# What one session does to the tables in a few statements; $1 is any number.
sigfile_writing() {
    local n=$1
    cat <<SQL
INSERT INTO person (sig) SELECT name_of(i) FROM generate_series($n, $n + 60) AS i;
UPDATE person SET sig = name_of($n + id) WHERE id % 211 = $n % 211;
DELETE FROM person WHERE id % 89 = $n % 89;
BEGIN; INSERT INTO person (sig) SELECT name_of(i) FROM generate_series($n, $n + 90) AS i; SAVEPOINT a; DELETE FROM person WHERE id % 3 = 0 AND id % 17 = $n % 17; ROLLBACK TO a; UPDATE person SET id = id WHERE id % 301 = $n % 301; ROLLBACK;
INSERT INTO once (sig) SELECT name_of(i) FROM generate_series($n, $n + 5) AS i ON CONFLICT DO NOTHING;
DELETE FROM once WHERE id % 61 = $n % 61;
INSERT INTO member (tenant, sig) SELECT nullif(i % 7, 6), name_of(i) FROM generate_series($n, $n + 40) AS i ON CONFLICT DO NOTHING;
UPDATE member SET tenant = 100 + id WHERE id % 97 = $n % 97 AND tenant IS NULL;
DELETE FROM member WHERE id % 41 = $n % 41;
INSERT INTO unlogged SELECT name_of(i) FROM generate_series($n, $n + 30) AS i;
SQL
}

# Adds rows, and removes none: nothing in the table makes a standby cancel a search.
sigfile_adding() { echo "INSERT INTO person (sig) SELECT name_of(i) FROM generate_series($1, $1 + 400) AS i; SELECT bloom_sigfile_merge('person_sig');"; }

# Merges and removes dead rows.
sigfile_merging() {
    case $(($1 % 3)) in
        0) echo 'VACUUM person; VACUUM once; VACUUM member;' ;;
        1) echo "SELECT bloom_sigfile_merge('person_sig'); SELECT bloom_sigfile_merge('no_duplicate'); SELECT bloom_sigfile_merge('once_a_tenant');" ;;
        2) echo "SELECT bloom_sigfile_check('person_sig'); SELECT bloom_sigfile_check('once_a_tenant'); SELECT * FROM bloom_sigfile_stats('no_duplicate');" ;;
    esac
}

# Rebuilds, but not concurrently: what a snapshot of a standby sees can be dead on the primary, and the new index, of whatever
# method, has only what is not.
sigfile_rebuilding() {
    if (($1 % 4 == 0)); then
        echo 'REINDEX INDEX person_sig;'
    else
        sigfile_merging "$1"
    fi
}

# Rebuilds in every way.
sigfile_maintaining() {
    case $(($1 % 6)) in
        0 | 3) echo 'VACUUM person; VACUUM once; VACUUM member;' ;;
        1) echo "SELECT bloom_sigfile_merge('person_sig'); SELECT bloom_sigfile_merge('no_duplicate');" ;;
        2) echo 'REINDEX INDEX person_sig;' ;;
        4) echo 'CREATE INDEX CONCURRENTLY person_other ON person USING sigfile (sig) WITH (tail_limit = 64); DROP INDEX CONCURRENTLY person_other;' ;;
        5) echo "SELECT bloom_sigfile_check('person_sig'); REINDEX INDEX CONCURRENTLY person_sig;" ;;
    esac
}

# Compares table and index in a snapshot that gets old, with cursors that do.
sigfile_searching() {
    cat <<SQL
\\set ON_ERROR_STOP on
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT opened() \\g /dev/null
SELECT half_read() AS half \\gset
SELECT pg_sleep(0.$(($1 % 6))) \\g /dev/null
SELECT coalesce(CASE WHEN rebuilt() THEN 'REBUILT: ' ELSE 'DIFFERENCE: ' END || rest(:'half'), 'AGREED');
SELECT coalesce(CASE WHEN rebuilt() THEN 'REBUILT: ' ELSE 'DIFFERENCE: ' END || difference(), 'AGREED');
SELECT 'DIFFERENCE: ' || tenants_difference();
COMMIT;
SQL
}

# sigfile_loop NAME FUNCTION: feeds what FUNCTION prints to psql until $LOGS/stop is there or the server is not. Messages go to
# $LOGS/NAME.err, where a hang is noted too.
sigfile_loop() {
    local name=$1 function=$2 status
    while [[ ! -e $LOGS/stop ]]; do
        status=0
        "$function" $((RANDOM * 7)) | timeout -k 5 "$PATIENCE" psql -XAtq >>"$LOGS/$name.out" 2>>"$LOGS/$name.err" || status=$?
        case $status in
            124 | 137) echo "HANG: no end after $PATIENCE s" >>"$LOGS/$name.err" && return ;;
            # the connection is lost, or the server
            2) ask -c 'SELECT 1' >/dev/null 2>&1 || return ;;
        esac
    done
}

# sigfile_start FUNCTION...: a loop for each, in the background; their process ids are in LOOPS.
sigfile_start() {
    local function
    rm -f "$LOGS/stop"
    LOOPS=()
    for function; do
        sigfile_loop "${#LOOPS[@]}" "$function" &
        LOOPS+=($!)
    done
}

sigfile_stop() {
    touch "$LOGS/stop"
    wait "${LOOPS[@]}" || true
}

# Fails with what sessions complained of or found, except what the caller allows (a pattern).
sigfile_complaints() {
    local allowed=$1 found
    found=$(cat "$LOGS"/*.err | grep -E 'ERROR|FATAL|PANIC|HANG|WARNING' | grep -Ev "$allowed" | sort | uniq -c | sort -rn | head -n 20) || true
    [[ -z $found ]] || die "sessions complain:"$'\n'"$found"
    found=$(cat "$LOGS"/*.out | grep DIFFERENCE | head -n 5) || true
    [[ -z $found ]] || die "sessions find:"$'\n'"$found"
}

# Fails if something is wrong now.
sigfile_verify() {
    local wrong
    wrong=$(ask -c 'SELECT * FROM wrong()' 2>&1) || wrong="failed: $wrong"
    [[ -z $wrong ]] || die "$1: $wrong"
}

# How often searches and tables agreed.
sigfile_searches() { cat "$LOGS"/*.out | grep -c '^AGREED$' || true; }
