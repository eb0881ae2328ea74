#!/usr/bin/env bash
# make dev [PG=15|16|17|18 | PG_CONFIG=path] [CASSERT=1]: a cluster that stays up, over a build that compiles what has changed and no more. Until
# "make dev-stop", make regress and make isolation take it: they build, put the library into it, and prove that the server has loaded it.

WORK=1
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
# shellcheck source=scripts/kept.sh
source "$here/kept.sh"

# In a process of its own: what is known of the old cluster is not to choose the PostgreSQL of the new one.
"$here/stop.sh" dev
select_postgres
build_extension
scratch_cluster
kept_keep dev
say 'the cluster stays up. To connect:'
printf '    %q -h %q -p %s -U postgres\n' "$PGBIN/psql" "$PGHOST" "$PGPORT"
