# shellcheck shell=bash
# Sourced by tests/citus*.test.sh: a server with Citus, built from the source that CITUS_SOURCE names, and what the tests compare by. The test ends here where there is none.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"
# shellcheck source=scripts/citus.sh
source "$ROOT/scripts/citus.sh"

citus_available || exit 0
citus_install
export PGOPTIONS='-c client_min_messages=error -c jit=off'
sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
# people ROWS [formats]: so many generated people in people.csv, which people_table makes a table of.
people() {
    need_packages python3
    python3 "$ROOT/tests/quality/people.py" "$1" 1 "${@:2}" >"$SCRATCH/people.csv"
    chmod a+r "$SCRATCH/people.csv"
}
fields='given_name,surname,dob,street,city,postcode,phone,email'
people_table() { sql -c "CREATE TABLE $1 (id text, entity text, ${fields//,/ text, } text)" -c "\\copy $1 FROM '$SCRATCH/people.csv' (FORMAT csv, HEADER)"; }
# same FOUND TRUTH WHAT [COLUMNS]: two tables, of pairs, have the same rows as often.
same() {
    local columns=${4:-a, b, similarity} wrong
    wrong=$(sql -c "CREATE TEMP TABLE f AS SELECT $columns FROM $1" -c "CREATE TEMP TABLE t AS SELECT $columns FROM $2" \
        -c 'SELECT (SELECT count(*) FROM (TABLE f EXCEPT ALL TABLE t) AS x) + (SELECT count(*) FROM (TABLE t EXCEPT ALL TABLE f) AS x)')
    [[ $wrong == 0 ]] || die "$3: $wrong rows are otherwise"
}
# refused SQLSTATE STATEMENT…: the last of them is refused with this, in one session.
refused() {
    local state wanted=$1 args=() statement
    shift
    for statement; do args+=(-c "$statement"); done
    state=$(psql -XAtq -v VERBOSITY=sqlstate "${args[@]}" 2>&1 | sed -n 's/^ERROR:  //p' | head -n 1) || true
    [[ $state == "$wanted" ]] || die "${*: -1}: ${state:-no error}, not $wanted"
}
# is WANTED STATEMENT
is() {
    local got
    got=$(sql -c "$2")
    [[ $got == "$1" ]] || die "$2: $got, not $1"
}
