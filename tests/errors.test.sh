#!/usr/bin/env bash
# What an error says to the client and to the log: the same as without the extension in between, to the last field, and no
# stack of Rust's, though the server was started with RUST_BACKTRACE=1.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

cluster_init errors
RUST_BACKTRACE=1 cluster_start errors
cluster_use errors

output=$(psql -X -q -v VERBOSITY=verbose 2>&1 <<'SQL'
CREATE EXTENSION bloom_ident;
CREATE TABLE person AS SELECT i AS id, bloom_signature(md5((i / 3)::text)) AS sig FROM generate_series(1, 40000) i;
CREATE INDEX ON person USING sigfile (sig);
SET max_parallel_workers_per_gather = 0;
SET statement_timeout = '300ms';
SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', 0.3);
RESET statement_timeout;
SELECT bloom_plan(0, 2, 0.01);
SELECT 'rubbish'::bloom;
SELECT * FROM bloom_clusters('person', 0.5);
SELECT count(*) FROM bloom_duplicates('nowhere', 'id', 'sig', 0.3);
CREATE FUNCTION fails() RETURNS bloom LANGUAGE plpgsql AS $$ BEGIN RAISE 'mine' USING ERRCODE = 'AB123'; END $$;
CREATE VIEW failing AS SELECT 1 AS id, fails() AS sig;
SELECT count(*) FROM bloom_duplicates('failing', 'id', 'sig', 0.3);
SQL
)
for state in 57014 22023 22P02 42703 42P01 AB123; do
    grep -q "^\(psql:[^ ]* \)\?ERROR:  $state: " <<<"$output" || die "no error $state:
$output"
done
# A frame of a stack trace begins with its number.
! grep -qE '^ *[0-9]+: |stack backtrace|[a-z_]+::[a-z_]+|\.rs:' <<<"$output" || die "a stack trace reached the client:
$output"
! grep -qE 'stack backtrace|\.rs:[0-9]+' "$SCRATCH/errors/log" || die 'a stack trace is in the log'

# Each view fails as its expression does, in every field that is sent: SQLSTATE, location in the server's source, position
# in a query of the server's own, names of objects.
psql -X -q <<'SQL'
CREATE TABLE small (i int CONSTRAINT "only small" CHECK (i < 10));
CREATE FUNCTION raises() RETURNS bloom LANGUAGE plpgsql AS $$
BEGIN
    RAISE 'mine' USING ERRCODE = 'AB123', DETAIL = 'd', HINT = 'h', SCHEMA = 's', TABLE = 't', COLUMN = 'c', DATATYPE = 'y', CONSTRAINT = 'o';
END $$;
CREATE FUNCTION parses() RETURNS bloom LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'SELECT nothing FROM small'; END $$;
CREATE FUNCTION checks() RETURNS bloom LANGUAGE plpgsql AS $$ BEGIN INSERT INTO small VALUES (11); END $$;
CREATE FUNCTION divides() RETURNS bloom LANGUAGE sql AS $$ SELECT bloom_signature((1 / (count(*) - count(*)))::text) FROM small $$;
CREATE FUNCTION reads() RETURNS bloom LANGUAGE sql AS $$ SELECT pg_read_file('/nowhere')::bloom $$;
SQL
for function in raises parses checks divides reads; do
    psql -X -q -c "CREATE VIEW ${function}_view AS SELECT 1 AS id, $function() AS sig"
    direct=$(psql -X -v VERBOSITY=verbose -c "SELECT id FROM (SELECT * FROM ${function}_view OFFSET 0) v WHERE sig IS NOT NULL" 2>&1) && die "$function() does not fail"
    through=$(psql -X -v VERBOSITY=verbose -c "SELECT a FROM bloom_duplicates('${function}_view', 'id', 'sig', 0.5)" 2>&1) && die "$function() does not fail beneath a job"
    diff <(echo "$direct") <(echo "$through") || die "$function() fails in another way beneath a job (> is that)"
done
