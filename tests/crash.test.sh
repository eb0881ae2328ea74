#!/usr/bin/env bash
# The server is killed in the middle of inserts, updates and deletes: after recovery the index
# answers as the table does, and the constraint still holds.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

rounds=${CRASHES:-5}

ask() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

cluster_init crash
cluster_conf crash 'fsync = on'
cluster_conf crash 'checkpoint_timeout = 30s'
cluster_start crash
cluster_use crash
ask -c "CREATE EXTENSION bloom_ident;
    CREATE TABLE person (id int, sig bloom, CONSTRAINT no_duplicate EXCLUDE USING gist ((bloom_query(sig, 0.95)) WITH %));
    CREATE INDEX person_sig ON person USING gist (sig);
    INSERT INTO person SELECT i, bloom_signature(md5(i::text)) FROM generate_series(1, 3000) AS i ON CONFLICT DO NOTHING"

# Writes until the server dies.
write() {
    local session=$1 n=$((RANDOM * 100))
    while timeout 60 psql -Xq -c "
        INSERT INTO person SELECT i, bloom_signature(md5(i::text) || '$session') FROM generate_series($n, $n + 20) AS i ON CONFLICT DO NOTHING;
        UPDATE person SET sig = bloom_signature('u' || md5(id::text)) WHERE id % 997 = $n % 997;
        DELETE FROM person WHERE id % 499 = $n % 499" >/dev/null 2>&1; do
        n=$((n + 21))
    done
}

# Rows that table and index see differently, over thresholds and queries; and duplicates.
differences() {
    ask -c "SET plan_cache_mode = force_custom_plan" -c "
        DO \$\$
        DECLARE
            q record; t float8; by_index int[]; by_table int[]; wrong int := 0; line text; plan text;
            query text := 'SELECT array_agg(id ORDER BY id, sig) FROM person WHERE sig % bloom_query(\$1, \$2)';
        BEGIN
            FOR q IN SELECT sig FROM person ORDER BY md5(id::text || sig::text) LIMIT 20 LOOP
                FOREACH t IN ARRAY ARRAY[0, 0.3, 0.9, 1] LOOP
                    SET LOCAL enable_seqscan = off;
                    plan := '';
                    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query USING q.sig, t LOOP plan := plan || line || E'\\n'; END LOOP;
                    IF plan !~ 'Index Scan (using|on) person_sig' THEN RAISE EXCEPTION 'the index is not used: %', plan; END IF;
                    EXECUTE query INTO by_index USING q.sig, t;
                    SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_indexonlyscan = off;
                    EXECUTE query INTO by_table USING q.sig, t;
                    SET LOCAL enable_indexscan = on; SET LOCAL enable_bitmapscan = on; SET LOCAL enable_indexonlyscan = on;
                    wrong := wrong + (by_index IS DISTINCT FROM by_table)::int;
                END LOOP;
            END LOOP;
            IF wrong > 0 THEN RAISE EXCEPTION '% answers differ', wrong; END IF;
        END \$\$" -c "SELECT count(*) FROM person AS a JOIN person AS b ON a.ctid < b.ctid AND bloom_sim(a.sig, b.sig)::float8 + 0 >= 0.95"
}

for ((round = 1; round <= rounds; round++)); do
    write one &
    one=$!
    write two &
    two=$!
    sleep "0.$((RANDOM % 8 + 1))"
    ((round % 2)) || ask -c 'VACUUM person' >/dev/null 2>&1 &
    sleep "0.$((RANDOM % 8 + 1))"
    cluster_kill crash
    wait $one $two 2>/dev/null || true
    cluster_start crash
    [[ $(differences) == 0 ]] || die "after crash $round the index or the constraint is wrong"
done
say "$rounds crashes, $(ask -c 'SELECT count(*) FROM person') rows at the end"
