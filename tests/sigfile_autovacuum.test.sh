#!/usr/bin/env bash
# Autovacuum comes to its end while sessions enter rows one by one: no insert waits for it, so the server never cancels it.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

cluster_init sigfile_autovacuum
# It is slow enough for tails to fill many times meanwhile, and who waits for it has it canceled soon.
cluster_conf sigfile_autovacuum 'autovacuum_naptime = 1s' 'autovacuum_vacuum_cost_delay = 10ms' 'autovacuum_vacuum_cost_limit = 20' \
    'deadlock_timeout = 20ms' 'synchronous_commit = off' 'log_autovacuum_min_duration = 0'
cluster_start sigfile_autovacuum
cluster_use sigfile_autovacuum

ask() { timeout -k 5 120 psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

ask <<'SQL'
CREATE EXTENSION bloom_ident;
CREATE TABLE p (id int, sig bloom) WITH (autovacuum_enabled = off, autovacuum_vacuum_insert_threshold = -1);
INSERT INTO p SELECT i, bloom_signature(md5(i::text)) FROM generate_series(1, 40000) AS i;
CREATE INDEX p_sig ON p USING sigfile (sig) WITH (tail_limit = 64);
DELETE FROM p WHERE id % 3 = 0;
CREATE TABLE stop ();
CREATE FUNCTION vacuumed() RETURNS boolean LANGUAGE sql AS $$ SELECT autovacuum_count > 0 FROM pg_stat_user_tables WHERE relname = 'p' $$;
CREATE PROCEDURE enter(salt int) LANGUAGE plpgsql AS $$
DECLARE
    rows int := 0;
BEGIN
    WHILE to_regclass('stop') IS NOT NULL LOOP
        INSERT INTO p VALUES (-rows, bloom_signature(md5(salt || ' ' || rows)));
        COMMIT;
        rows := rows + 1;
    END LOOP;
    RAISE NOTICE 'entered %', rows;
END $$;
SQL

sessions=()
for salt in 1 2 3; do
    ask -c "CALL enter($salt)" >"$SCRATCH/sigfile_autovacuum/$salt.log" 2>&1 &
    sessions+=($!)
done
ask -c 'ALTER TABLE p SET (autovacuum_enabled = on, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100)'
for ((i = 0; i < 600; i++)); do [[ $(ask -c 'SELECT vacuumed()') != t ]] || break; sleep 0.1; done
ask -c 'DROP TABLE stop'
for session in "${sessions[@]}"; do wait "$session" || die "$(cat "$SCRATCH"/sigfile_autovacuum/?.log)"; done

log=$SCRATCH/sigfile_autovacuum/log
! grep -q 'canceling autovacuum task' "$log" || die "autovacuum was canceled: $(grep -A 3 'canceling autovacuum task' "$log" | head)"
[[ $(ask -c 'SELECT vacuumed()') == t ]] || die 'autovacuum did not come to its end within a minute'
entered=$(sed -n 's/.*entered //p' "$SCRATCH"/sigfile_autovacuum/?.log | awk "{n += \$1} END {print n}")
[[ $(ask -c "SELECT bloom_sigfile_check('p_sig')") == $(ask -c 'SELECT count(*) FROM p') ]] || die 'the index has not the rows of its table'
((entered > 2000)) || die "only $entered rows were entered meanwhile"
say "$entered rows entered while autovacuum ran for $(grep -A 30 'automatic vacuum of table .*public.p"' "$log" | sed -n 's/.*elapsed: //p' | head -n 1)"
