#!/usr/bin/env bash
# make build [PG=15|16|17|18 | PG_CONFIG=path]: release build of the extension.

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/common.sh
source "$here/common.sh"
# shellcheck source=scripts/packages.sh
source "$here/packages.sh"
# shellcheck source=scripts/postgres.sh
source "$here/postgres.sh"
# shellcheck source=scripts/cargo.sh
source "$here/cargo.sh"

select_postgres
build_extension
say "built $(built_library)"
