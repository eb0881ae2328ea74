#!/usr/bin/env bash
# A server that was started with RUST_BACKTRACE=1 reports errors as any other does: without a stack of Rust's in the detail.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

cluster_init backtrace
RUST_BACKTRACE=1 cluster_start backtrace
cluster_use backtrace

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
! grep -qE 'stack backtrace|\.rs:[0-9]+' "$SCRATCH/backtrace/log" || die 'a stack trace is in the log'
