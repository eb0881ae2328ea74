#!/usr/bin/env bash
# Eight sessions write to sigfile indexes, search them, and vacuum and merge them: nothing fails, hangs, is missing or found
# twice. CONCURRENCY_SECONDS says how long.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"
# shellcheck source=tests/sigfile.sh
source "$(dirname "${BASH_SOURCE[0]}")/sigfile.sh"

cluster_init sigfile_concurrency
cluster_conf sigfile_concurrency 'autovacuum_naptime = 1s' 'shared_buffers = 4MB'
cluster_start sigfile_concurrency
cluster_use sigfile_concurrency
sigfile_setup
sigfile_start sigfile_writing sigfile_writing sigfile_writing sigfile_merging sigfile_merging sigfile_searching sigfile_searching sigfile_searching
sleep "${CONCURRENCY_SECONDS:-8}"
sigfile_stop
# two sessions may wait for each other's new rows in a constraint, or delete the same ones in another order
sigfile_complaints 'deadlock detected'
sigfile_verify 'afterwards'
searches=$(sigfile_searches)
((searches > 5)) || die "only $searches comparisons"
say "$searches comparisons of table and index in ${CONCURRENCY_SECONDS:-8} s"
