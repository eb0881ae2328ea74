# shellcheck shell=bash
# Sourced by tests/docs.sh and tests/*.test.sh: a running scratch cluster
# "main" (superuser postgres) and the functions of cluster.sh for more. Under
# "make test" that cluster is there already; by hand this builds and starts one.

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/common.sh
source "$here/common.sh"
# shellcheck source=scripts/packages.sh
source "$here/packages.sh"
# shellcheck source=scripts/postgres.sh
source "$here/postgres.sh"
# shellcheck source=scripts/cargo.sh
source "$here/cargo.sh"
# shellcheck source=scripts/cluster.sh
source "$here/cluster.sh"

if [[ -z ${SCRATCH:-} ]]; then
    select_postgres
    build_extension
    # See test.sh.
    scratch_cluster 'autovacuum = off'
fi
cluster_use main
