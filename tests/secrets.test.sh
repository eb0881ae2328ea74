#!/usr/bin/env bash
# What becomes of secrets: they are in no log, statement, plan, message, statistics or dump, whatever the server logs; a database that was restored says which one
# is missing; a standby does not encode; uses are counted while many sessions encode; and no path or temporary table leads elsewhere.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

ask() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

cluster_init secrets
cluster_conf secrets 'wal_level = replica' "log_statement = 'all'" 'log_min_duration_statement = 0' 'log_parameter_max_length = -1' 'log_parameter_max_length_on_error = -1' \
    'log_min_messages = debug1' 'log_error_verbosity = verbose' 'debug_print_plan = on' 'debug_print_parse = on' 'debug_print_rewritten = on' 'wal_consistency_checking = all' 'track_activity_query_size = 32768'
libraries=()
for library in auto_explain pg_stat_statements; do
    [[ ! -e $("$PGBIN/pg_config" --pkglibdir)/$library.so ]] || libraries+=("$library")
done
if ((${#libraries[@]} == 2)); then
    cluster_conf secrets "shared_preload_libraries = 'auto_explain, pg_stat_statements'" 'auto_explain.log_min_duration = 0' 'auto_explain.log_analyze = on' 'auto_explain.log_verbose = on' \
        'auto_explain.log_nested_statements = on' 'pg_stat_statements.track = all'
fi
cluster_start secrets
cluster_use secrets
createdb register
export PGDATABASE=register
ask -c 'CREATE EXTENSION bloom_ident'

schema='{"version": 3, "clkConfig": {"l": 512, "kdf": {"type": "HKDF"}}, "features": [{"identifier": "name", "format": {"type": "string"}, "hashing": {"comparison": {"type": "ngram", "n": 2}, "strategy": {"bitsPerFeature": 120}}}]}'
ask -c "CREATE FUNCTION schema() RETURNS jsonb IMMUTABLE LANGUAGE sql AS \$\$ SELECT '$schema'::jsonb \$\$"

# Two secrets: one that is made, and one that comes as a large object. How they look is known here only.
ask -c "SELECT bloom_secret_create('made')" >"$SCRATCH/secrets.check"
# Without the bytes that end lines, across which grep finds nothing.
LC_ALL=C tr -d '\n\0' </dev/urandom 2>/dev/null | head -c 32 >"$SCRATCH/sent.secret" || true
[[ $(wc -c <"$SCRATCH/sent.secret") == 32 ]] || die 'no random bytes'
# bring DATABASE NAME FILE: a secret from a file, by a large object.
bring() { printf "\\\\lo_import '%s'\nSELECT bloom_secret_import('%s', :LASTOID);\n" "$3" "$2" | psql -XAtq -v ON_ERROR_STOP=1 -d "$1"; }
bring register sent "$SCRATCH/sent.secret" >/dev/null
[[ $(ask -c 'SELECT count(*) FROM pg_largeobject_metadata') == 0 ]] || die 'the large object is left'
# What is looked at is what is there before a secret is exported here.
said=$SCRATCH/secrets.said
work() {
    ask -c "CREATE TABLE person AS SELECT i AS id, md5(i::text) AS name, bloom_clk(jsonb_build_object('name', md5(i::text)), schema(), 'sent') AS sig FROM generate_series(1, 2000) AS i" \
        -c 'CREATE INDEX ON person USING sigfile (sig)' -c 'ANALYZE' -c "SELECT bloom_clk_id(schema(), 'made')"
    ask -c "EXPLAIN (VERBOSE, ANALYZE) SELECT bloom_clk('{\"name\": \"x\"}', schema(), 'sent') FROM person WHERE sig % bloom_query(bloom_clk('{\"name\": \"x\"}', schema(), 'sent'), 0.5)"
    ask -c "PREPARE p (text) AS SELECT bloom_clk(jsonb_build_object('name', \$1), schema(), 'made')" -c "EXECUTE p ('Erika')" -c "EXPLAIN (VERBOSE) EXECUTE p ('Erika')"
    ask -c "DO \$\$ BEGIN PERFORM bloom_clk('{\"name\": \"x\"}', schema(), 'sent'); RAISE NOTICE '%', bloom_clk('{\"name\": \"x\"}', schema(), 'made'); END \$\$"
    # Errors, of all kinds, with all that the server knows.
    psql -X -v VERBOSITY=verbose -c "SELECT bloom_clk('{\"name\": [1]}', schema(), 'sent')" -c "SELECT bloom_clk('{}', schema(), 'sent')" -c "SELECT bloom_secret_create('made')" -c "SELECT bloom_secret_import('made', 'x')" \
        -c "SELECT bloom_clk('{\"name\": \"x\"}', schema() - 'version', 'sent')" -c "SELECT 1 / (bloom_bits(bloom_clk('{\"name\": \"x\"}', schema(), 'sent')) * 0)" -c 'INSERT INTO bloom_secret_values SELECT name, uses, owner, NULL FROM bloom_secret_values' || true
    ask -c 'TABLE bloom_secrets' -c 'TABLE pg_stat_activity' -c 'SELECT * FROM pg_stats' -c 'SELECT * FROM pg_statistic' -c 'TABLE pg_prepared_statements' -c 'TABLE pg_cursors'
    if ((${#libraries[@]} == 2)); then ask -c 'CREATE EXTENSION pg_stat_statements' -c 'TABLE pg_stat_statements'; fi
    pg_dump -d register
    pg_dump -d register --inserts
    pg_dumpall
}
work >"$said" 2>&1
pg_dump -Fc -d register -f "$SCRATCH/secrets.dump" && pg_restore -f - "$SCRATCH/secrets.dump" >>"$said"
cp "$SCRATCH/secrets/log" "$SCRATCH/secrets.log"
# A secret in each form in which somebody could write it.
forms() {
    local hex
    hex=$(od -An -tx1 -v "$1" | tr -d ' \n')
    printf '%s\n' "$hex" "${hex^^}" "$(base64 -w 0 "$1")"
}
psql -XAtq -c "SELECT encode(bloom_secret_export('made'), 'base64')" | base64 -d >"$SCRATCH/made.secret"
[[ $(wc -c <"$SCRATCH/made.secret") == 32 && $(head -n 1 "$SCRATCH/secrets.check") =~ ^[0-9a-f]{16}$ ]] || die 'a secret that is made has not 32 bytes'
cmp -s "$SCRATCH/sent.secret" <(psql -XAtq -c "SELECT encode(bloom_secret_export('sent'), 'base64')" | base64 -d) || die 'another secret came out than in'
grep -q 'bloom_clk' "$SCRATCH/secrets.log" || die 'the log has no statements'
grep -q 'Index Only Scan' "$said" && grep -q 'COPY public.person' "$said" && grep -q 'null value in column' "$said" || die "not all was done that was to be looked at: $(head -n 20 "$said")"
for secret in made sent; do
    for file in "$said" "$SCRATCH/secrets.log"; do
        while read -r form; do ! grep -qF -- "$form" "$file" || die "secret \"$secret\" is in $file"; done < <(forms "$SCRATCH/$secret.secret")
        ! LC_ALL=C grep -qaP "$(od -An -tx1 -v "$SCRATCH/$secret.secret" | tr -d '\n' | sed 's/ /\\x/g')" "$file" || die "secret \"$secret\" is in $file, byte by byte"
    done
done
say 'secrets are in no log, statement, plan, message, statistics or dump'

# Where it is said that they are.
cluster_stop secrets
LC_ALL=C grep -rlaP "$(od -An -tx1 -v "$SCRATCH/sent.secret" | tr -d '\n' | sed 's/ /\\x/g')" "$(cluster_dir secrets)" >"$SCRATCH/secrets.files" || true
grep -q '/base/' "$SCRATCH/secrets.files" && grep -q '/pg_wal/' "$SCRATCH/secrets.files" || die "the secret is in $(<"$SCRATCH/secrets.files")"
cluster_start secrets
cluster_use secrets
export PGDATABASE=register

# Restored: the signatures are there, the secrets are not.
createdb restored
pg_restore --exit-on-error -d restored "$SCRATCH/secrets.dump"
failed() { psql -XAtq -d "$1" -c "$2" 2>&1 | tr '\n' ' ' || true; }
[[ $(psql -XAtq -d restored -c 'TABLE bloom_secret_values' -c 'TABLE bloom_secret_grants') == '' ]] || die 'a dump has secrets'
check=$(ask -c "SELECT check_value FROM bloom_secrets WHERE name = 'sent'")
[[ $(failed restored "SELECT bloom_clk('{\"name\": \"x\"}', schema(), 'sent')") == *'secret "sent" is not in this database'*"Its check value is $check."* ]] || die 'it is not said which secret is missing'
! bring restored sent "$SCRATCH/made.secret" >/dev/null 2>&1 || die 'another secret is taken for the one that is missing'
bring restored sent "$SCRATCH/sent.secret" >/dev/null
[[ $(psql -XAtq -d restored -c "SELECT bool_and(sig = bloom_clk(jsonb_build_object('name', name), schema(), 'sent')) FROM person") == t ]] || die 'the restored secret gives other signatures'
# Whoever owns a database may dump it and restore it.
ask -c 'CREATE ROLE owner LOGIN CREATEDB' -c 'CREATE DATABASE owned OWNER owner'
PGUSER=owner psql -XAtq -v ON_ERROR_STOP=1 -d owned -c 'CREATE EXTENSION bloom_ident' -c "SELECT length(bloom_secret_create('own'))" >/dev/null
PGUSER=owner pg_dump -d owned >"$SCRATCH/secrets.owned"
PGUSER=owner createdb again
PGUSER=owner psql -XAtq -v ON_ERROR_STOP=1 -d again -f "$SCRATCH/secrets.owned" >/dev/null 2>"$SCRATCH/secrets.errors" || die "an owner cannot restore: $(<"$SCRATCH/secrets.errors")"
[[ $(PGUSER=owner psql -XAtq -d again -c 'SELECT name FROM bloom_secrets') == own ]] || die 'an owner does not restore the names of secrets'
[[ $(PGUSER=owner psql -XAtq -d again -c 'TABLE bloom_secret_values' 2>&1) == *'permission denied'* ]] || die 'the owner of a database reads secrets'
say 'a restored database says which secrets are missing'

# Default privileges that let others read what a superuser makes.
createdb lax
psql -XAtq -v ON_ERROR_STOP=1 -d lax -c 'ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO owner' -c 'CREATE EXTENSION bloom_ident'
[[ $(failed lax "SELECT bloom_secret_create('x')") == *'others than its owner have privileges on table'* ]] || die 'a secret is made where others may read it'
psql -XAtq -v ON_ERROR_STOP=1 -d lax -c 'REVOKE ALL ON bloom_secret_values, bloom_secret_grants FROM owner' -c "SELECT bloom_secret_create('x')" >/dev/null

# Whoever may read and write all data.
ask -c 'CREATE ROLE reader LOGIN IN ROLE pg_read_all_data, pg_write_all_data' -c "SELECT bloom_secret_grant('sent', 'owner')" >/dev/null
[[ $(PGUSER=reader psql -XAtq -c 'TABLE bloom_secret_values' -c 'TABLE bloom_secret_grants' 2>&1) == '' ]] || die 'pg_read_all_data reads secrets'
[[ $(PGUSER=reader failed register "INSERT INTO bloom_secret_grants VALUES ('sent', 'reader')") == *'row-level security'* ]] || die 'pg_write_all_data grants itself secrets'
[[ $(PGUSER=reader failed register "UPDATE bloom_secret_values SET owner = 'reader'; SELECT bloom_clk_id(schema(), 'sent')") == *'permission denied for secret'* ]] || die 'pg_write_all_data takes secrets'

# Whatever the search_path is, and whoever makes tables and functions of the same names.
ask >/dev/null <<'SQL'
CREATE ROLE intruder;
CREATE SCHEMA other AUTHORIZATION intruder;
CREATE SCHEMA moved;
SET ROLE intruder;
CREATE TEMP TABLE bloom_secrets AS SELECT 'sent'::name AS name, ''::text AS check_value, now() AS created;
CREATE TEMP TABLE bloom_secret_grants AS SELECT 'sent'::name AS name, 'intruder'::regrole AS role;
CREATE TEMP TABLE bloom_secret_values AS SELECT 'sent'::name AS name, 0::bigint AS uses, 'intruder'::regrole AS owner, 'known'::bytea AS secret;
CREATE TABLE other.bloom_secret_values AS TABLE bloom_secret_values;
CREATE FUNCTION other.nameeq(name, name) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE OPERATOR other.= (LEFTARG = name, RIGHTARG = name, FUNCTION = other.nameeq);
SET search_path = pg_temp, other, public, pg_catalog;
DO $$ BEGIN
    PERFORM public.bloom_clk('{"name": "x"}', public.schema(), 'sent');
    RAISE 'an intruder encodes';
EXCEPTION WHEN insufficient_privilege THEN NULL;
END $$;
RESET ROLE;
DO $$ BEGIN
    IF public.bloom_clk('{"name": "x"}', public.schema(), 'sent') IS DISTINCT FROM (SELECT public.bloom_clk('{"name": "x"}', public.schema(), 'sent')) THEN RAISE 'another secret'; END IF;
END $$;
CREATE TABLE public.before AS SELECT public.bloom_clk_id(public.schema(), 'sent') AS id;
ALTER EXTENSION bloom_ident SET SCHEMA moved;
DO $$ BEGIN
    IF moved.bloom_clk_id(public.schema(), 'sent') <> (SELECT id FROM public.before) THEN RAISE 'another secret in another schema'; END IF;
END $$;
ALTER EXTENSION bloom_ident SET SCHEMA public;
SQL
say 'no path and no temporary table leads elsewhere'

# Many sessions: the number is never lower than the uses, while the table is rewritten, and whatever is rolled back.
uses() { ask -c "SELECT uses FROM bloom_secret_values WHERE name = 'sent'"; }
cat >"$SCRATCH/secrets.pgbench" <<'SQL'
\set n random(1, 100)
BEGIN;
SELECT count(bloom_clk(jsonb_build_object('name', i::text), schema(), 'sent')) FROM generate_series(1, :n) AS i;
SELECT 1 / (:n % 3);
COMMIT;
SQL
before=$(uses)
while [[ ! -e $SCRATCH/secrets.done ]]; do
    ask -c 'VACUUM FULL bloom_secret_values' -c 'REINDEX TABLE bloom_secret_values' || true
    sleep 0.1
done >/dev/null 2>&1 &
rewriting=$!
pgbench -n -c 6 -j 2 -t 60 -f <(sed '/SELECT 1/d; s/COMMIT/ROLLBACK/; s/random(1, 100)/100/' "$SCRATCH/secrets.pgbench") register >"$SCRATCH/secrets.bench" 2>&1 || die "$(tail -n 5 "$SCRATCH/secrets.bench")"
touch "$SCRATCH/secrets.done"
wait $rewriting
counted=$(($(uses) - before))
((counted >= 36000 && counted <= 36000 + 6 * 16384)) || die "36000 uses are counted as $counted"
say "36000 uses of six sessions, all rolled back, are counted as $counted"

# The log tells of uses where that is set, by a superuser only.
[[ $(PGUSER=owner failed register "SELECT bloom_signature('x'); SET bloom_ident.log_secrets = on") == *'permission denied'* ]] || die 'everybody may set whether uses are logged'
lines=$(wc -l <"$SCRATCH/secrets/log")
ask -c 'SET bloom_ident.log_secrets = on' -c "SELECT bloom_bits(bloom_clk('{\"name\": \"x\"}', schema(), 'sent')) > 0" >/dev/null
tail -n +"$lines" "$SCRATCH/secrets/log" | grep -q 'secret "sent" is used by role "postgres"' || die 'the use of a secret is not logged'

# A standby has the secrets, and does not encode.
cluster_standby secrets_standby
cluster_start secrets_standby
cluster_caught_up secrets secrets_standby
export PGDATABASE=register
[[ $(failed register "SELECT bloom_clk('{\"name\": \"x\"}', schema(), 'sent')") == *'during recovery'* ]] || die 'a standby encodes'
[[ $(ask -c "SELECT count(*) FROM person WHERE sig % bloom_query((SELECT sig FROM person WHERE id = 7), 1)") == 1 ]] || die 'a standby does not search'
[[ $(ask -c "SELECT uses FROM bloom_secret_values WHERE name = 'sent'") -ge 36000 ]] || die 'the number of uses is not replayed'
cluster_stop secrets_standby
cluster_use secrets
cluster_stop secrets
