#!/usr/bin/env bash
# make test [PG=15|16|17|18 | PG_CONFIG=path]: every check and test.
# MAJOR_ONLY=1 leaves out what is the same for each major: format, clippy, core tests, and the scripts of ONCE_ENOUGH. Two runs share that between them:
# MAJOR_ONLY=scripts leaves out those scripts, the documents and clippy, and MAJOR_ONLY=cargo all of it but those; see ONCE_BESIDE_CARGO.
# PROPTEST_RNG_SEED=n: other inputs for properties and fuzz targets.

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
# shellcheck source=scripts/runs.sh
source "$here/runs.sh"
# shellcheck source=scripts/released.sh
source "$here/released.sh"

# Scripts that look at the sources, at the report's page in a browser, or at what is computed, which is the same for each major; and those that do
# with another type what the script of the same name without "bits" does. The regress tests look at that page, and at numbers, for each major.
ONCE_ENOUGH=' licences links memory model_order page_guards pgspot reach release report_page rooms sigfile_concurrency_bits sigfile_crash_bits sigfile_standby_bits '
# The same, but run beside cargo's checks: the PostgreSQL 16 and 18 that are downloaded have no fuzzystrmatch, which one of the pages needs.
ONCE_BESIDE_CARGO=' recipes '

need_rust_components() {
    local component
    for component in fmt clippy; do
        cargo "$component" --version >/dev/null 2>&1 && continue
        say "rustup: adding rustfmt and clippy"
        alone rustup component add rustfmt clippy ||
            die 'rustfmt and clippy are needed: rustup component add rustfmt clippy'
        return
    done
}

check_dependencies() (
    cd "$ROOT" && cargo deny check licenses bans sources || exit
    # These are fetched from the network, which may not be there.
    if cargo deny fetch db >/dev/null 2>&1; then
        cargo deny check advisories
    else
        warn 'the database of advisories cannot be fetched: not checked'
    fi
)

cargo_checks() {
    # Clippy looks at one major, and the build compiles what differs: what the compiler warns of fails it. The tests have the same flags, so that what the
    # build needs is compiled once.
    [[ ${MAJOR_ONLY:-cargo} == cargo ]] || build_flags='-D warnings'
    if [[ ${MAJOR_ONLY:-scripts} == scripts ]]; then
        check 'cargo fmt' cargo fmt --manifest-path "$ROOT/Cargo.toml" --all --check
        # It takes minutes to compile: only where it is installed.
        if cargo deny --version >/dev/null 2>&1; then
            check 'cargo deny' check_dependencies
        fi
    fi
    # In the profile of the build clippy shares its build scripts (bindgen!) with it, and with the script page_guards what the compiler knows of other crates.
    if [[ ${MAJOR_ONLY:-cargo} == cargo ]]; then
        check "cargo clippy, PostgreSQL $PG_MAJOR" \
            pg_cargo clippy --profile "$PROFILE" --workspace --all-targets -- -D warnings
    fi
    # Overflow is checked. With CASSERT=1 in the profile of the build, which does that as well, so that what the build needs is compiled once. Each
    # fuzz target takes FUZZ_SECONDS, 1 if not told.
    if [[ ${MAJOR_ONLY:-scripts} == scripts ]]; then
        check 'cargo test' strict cargo test --manifest-path "$ROOT/Cargo.toml" ${CASSERT:+--profile "$PROFILE"}
    fi
}

# strict COMMAND...: the compiler's warnings are errors if build_flags says so. The scripts compile other things, of which less is expected.
strict() {
    [[ -z ${build_flags:-} ]] || local -x RUSTFLAGS="${RUSTFLAGS:-} $build_flags"
    "$@"
}

run_docs() {
    local i line log=$SCRATCH/docs.log status=0
    "$ROOT/tests/docs.sh" 2>&1 | tee "$log" || status=$?
    line=$(grep -E '^docs: [0-9]+ ok, [0-9]+ wrong$' "$log" | tail -n 1) || true
    if [[ ! $line =~ ^docs:\ ([0-9]+)\ ok,\ ([0-9]+)\ wrong$ ]]; then
        failures+=("docs (exit status $status)")
        return
    fi
    passed=$((passed + BASH_REMATCH[1]))
    for ((i = 0; i < BASH_REMATCH[2]; i++)); do failures+=('docs (see above)'); done
}

# Fixed, so that nobody's run fails by a chance that another one does not have; make torture looks at random inputs.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-1}

select_postgres
need_build_packages
need_rust_components

cargo_checks
part "build, PostgreSQL $PG_MAJOR" strict build_extension || {
    # Nothing to test.
    failures+=("build, PostgreSQL $PG_MAJOR")
    summary
}

# While autovacuum analyzes one table, VACUUM leaves dead rows of all others: what tests print of plans and pages would depend on it. It has a test of its own.
scratch_cluster 'autovacuum = off'
copy_tests

# Over what the oldest release has left behind, where there is that for this major.
oldest=$(basename "$(printf '%s\n' "$RELEASED"/*/ | sort -V | head -n 1)")
if [[ -e $RELEASED/$oldest/$PG_MAJOR.tar.xz ]]; then
    part "regress: tests/sql, over a database of $oldest that was updated" run_regress_upgraded "$oldest"
else
    part 'regress: tests/sql' run_regress regress
fi
part 'isolation: tests/specs' run_regress isolation
[[ ${MAJOR_ONLY:-} == scripts ]] || part 'docs: the statements of README.md and docs/' run_docs
for script in "$ROOT"/tests/*.test.sh; do
    name=$(basename "$script" .test.sh)
    [[ ${MAJOR_ONLY:-cargo} != cargo && $ONCE_ENOUGH == *" $name "* ]] || [[ ${MAJOR_ONLY:-scripts} != scripts && $ONCE_BESIDE_CARGO == *" $name "* ]] || run_script "$name"
done
summary
