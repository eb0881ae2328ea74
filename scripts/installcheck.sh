#!/usr/bin/env bash
# make installcheck [PG_CONFIG=path] [TESTS="a b"]: tests/sql against the extension as it is installed in a running server, which PGHOST, PGPORT and PGUSER (a superuser) name. They run
# in a database of their own, contrib_regression, by the pg_regress of that PostgreSQL.

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/common.sh
source "$here/common.sh"
# shellcheck source=scripts/postgres.sh
source "$here/postgres.sh"

check_pg_config
regress=$(dirname "$("$PG_CONFIG" --pgxs)")/../test/regress/pg_regress
[[ -x $regress ]] || die "no pg_regress beside $("$PG_CONFIG" --pgxs) (Debian: package postgresql-server-dev-$PG_MAJOR)"
read -ra tests <<<"${TESTS:-}"
# What a server has that nobody has set up for these tests: the others want roles, settings or files of a cluster of their own, as "make test" makes it.
((${#tests[@]} > 0)) || tests=(golden ngram signature tokens minhash query gist sigfile names clusters model merge)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
# Some tests have the server write a file there, which it does as another user.
mkdir -m 777 "$work/results"
cp -R "$ROOT"/tests/{sql,expected,data} "$work/"
chmod -R a+rX "$work"
cd "$work"
"$regress" --inputdir=. --outputdir=. --bindir="$("$PG_CONFIG" --bindir)" --encoding=UTF8 --no-locale --dbname=contrib_regression \
    --load-extension=bloom_ident "${tests[@]}" || {
    head -n 200 regression.diffs >&2
    die 'make installcheck: some tests differ (see above)'
}
