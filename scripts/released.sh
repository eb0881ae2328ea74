# shellcheck shell=bash
# Sourced by scripts/freeze.sh, which keeps what a release leaves behind, and by the tests that upgrade it. Needs common.sh and cluster.sh.

# A directory for each released version.
RELEASED=$ROOT/tests/released

# extension_version NAME: the version that CREATE EXTENSION makes.
extension_version() {
    local file=$ROOT/$1.control
    [[ -e $file ]] || file=$ROOT/citus/$1.control
    sed -n "s/^default_version = '\(.*\)'/\1/p" "$file"
}

# exported LIBRARY: the functions that the server finds by their names, a line each.
exported() {
    nm -D --defined-only "$1" | awk '$2 == "T" && $3 !~ /^(_init|_fini)$/ { print $3 }' | LC_ALL=C sort
}

# registrar [PSQL_ARGUMENT...]: as the owner of the database registry, who is no superuser.
registrar() {
    PGUSER=registrar psql -Xq -v ON_ERROR_STOP=1 -d registry "$@"
}

# released_fill FILE: a database registry, whose owner makes the extension and all that tests/released/objects.sql has. FILE has what was said.
released_fill() {
    psql -Xq -v ON_ERROR_STOP=1 -c 'CREATE ROLE registrar LOGIN' -c 'CREATE DATABASE registry OWNER registrar' -c 'ALTER DATABASE registry SET search_path = public, ext'
    psql -Xq -v ON_ERROR_STOP=1 -d registry -c 'GRANT CREATE ON SCHEMA public TO registrar'
    {
        registrar -c 'CREATE SCHEMA ext' -c 'CREATE EXTENSION bloom_ident SCHEMA ext'
        registrar -c 'CREATE TABLE source (rec_id text, cluster_id text, given text, surname text, street_number text, address_1 text, address_2 text, suburb text, postcode text, state text, dob text, soc_sec_id text)'
        registrar -c '\copy source FROM PSTDIN CSV' < <(sed -n 2,1501p "$ROOT/tests/data/febrl3.csv")
        registrar -f "$RELEASED/objects.sql"
    } >"$1" 2>&1 || {
        tail -n 20 "$1" >&2
        die 'the objects of a release cannot be made'
    }
}

# released_state DATABASE: what tests/released/state.sql asks.
released_state() {
    PGUSER=registrar psql -Xq -v ON_ERROR_STOP=1 -d "$1" -f "$RELEASED/state.sql" 2>&1
}
