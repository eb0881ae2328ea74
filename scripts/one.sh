#!/usr/bin/env bash
# make regress TESTS="a b" [ACCEPT=1], make isolation TESTS="a b" [ACCEPT=1], make script TEST=a: the tests that are named, in a scratch cluster.
# Usage: scripts/one.sh regress|isolation|script NAME...

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/common.sh
source "$here/common.sh"
# shellcheck source=scripts/runs.sh
source "$here/runs.sh"

kind=$1
shift
case $kind in
    regress) dir=sql ext=sql usage='make regress TESTS="NAME..." [ACCEPT=1]' ;;
    isolation) dir=specs ext=spec usage='make isolation TESTS="NAME..." [ACCEPT=1]' ;;
    script) dir=. ext=test.sh usage='make script TEST=NAME' ;;
    *) die "unknown kind of test: $kind" ;;
esac
mapfile -t known < <(tests_of $dir $ext | sort)
(($# > 0)) || die "$usage. There are: ${known[*]}"
# Before anything is built.
for name; do
    [[ " ${known[*]} " == *" $name "* ]] || die "there is no $kind test \"$name\". There are: ${known[*]}"
done

# shellcheck source=scripts/cluster.sh
source "$here/cluster.sh"
# shellcheck source=scripts/kept.sh
source "$here/kept.sh"
# A cluster of "make dev" is for whoever asks for no other one. It is tried in a subshell, since one that does not run would leave its variables.
if [[ $kind != script && -z ${PG:-}${PG_CONFIG:-}${CASSERT:-}${QUICK:-} ]] && (kept_enter dev); then
    kept_enter dev
    WORK=1
    # shellcheck source=scripts/packages.sh
    source "$here/packages.sh"
    # shellcheck source=scripts/postgres.sh
    source "$here/postgres.sh"
    # shellcheck source=scripts/cargo.sh
    source "$here/cargo.sh"
    check_pg_config
    [[ $PG_CONFIG != *-asserts* ]] || export CARGO_TARGET_DIR=$ROOT/target/asserts
    build_extension
    place_extension "$SCRATCH/stage"
    library_is_loaded "$(built_library)" || die 'the server of "make dev" has not loaded the library that was built'
    say "the server has loaded $(built_library)"
else
    # shellcheck source=scripts/test-env.sh
    source "$here/test-env.sh"
fi

if [[ $kind == script ]]; then
    for name; do run_script "$name"; done
else
    copy_tests
    part "$kind: $*" run_regress "$kind" "$@"
fi
summary
