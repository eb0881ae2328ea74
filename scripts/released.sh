# shellcheck shell=bash
# Sourced by scripts/freeze.sh, which keeps what a release leaves behind, and by the tests that upgrade it. Needs common.sh and cluster.sh.

# A directory for each released version.
RELEASED=$ROOT/tests/released

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

# released_catalog DATABASE [EXTENSION]: what the extension is there, by definition.
released_catalog() {
    psql -Xq -v ON_ERROR_STOP=1 -v extension="${2:-bloom_ident}" -d "$1" -f "$RELEASED/catalog.sql"
}

# released_later DATABASE: what is done by tests/released/later.sql, and what comes of it. Some of it fails, as it ought to.
released_later() {
    PGUSER=registrar psql -Xq -d "$1" -f "$RELEASED/later.sql" 2>&1
}

# released_unpack VERSION NAME: the data directory that the version has left behind for this major, as a cluster that can be started.
released_unpack() {
    cluster_prepare "$2"
    as_server mkdir -m 700 "$(cluster_dir "$2")"
    xz -dc "$RELEASED/$1/$PG_MAJOR.tar.xz" | as_server tar -C "$(cluster_dir "$2")" -xf -
    [[ -z ${SERVER_CONF:-} ]] || cluster_conf "$2" "$SERVER_CONF"
}
