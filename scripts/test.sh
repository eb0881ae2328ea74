#!/usr/bin/env bash
# make test [PG=15|16|18 | PG_CONFIG=path]: every check and test.
# MAJOR_ONLY=1 leaves out what is the same for each major (format, core tests).

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

passed=0
failures=()

# Ends every run that got as far as testing; the last line is for programs.
summary() {
    ((${#failures[@]} == 0)) || printf 'FAILED: %s\n' "${failures[@]}"
    printf '%d passed, %d failed\n' "$passed" "${#failures[@]}"
    exit $((${#failures[@]} > 0))
}

# check NAME COMMAND...: counts only when it fails; cargo counts its own tests.
check() {
    local name=$1
    shift
    say "$name"
    "$@" || failures+=("$name")
}

need_rust_components() {
    local component
    for component in fmt clippy; do
        cargo "$component" --version >/dev/null 2>&1 && continue
        say "rustup: adding rustfmt and clippy"
        rustup component add rustfmt clippy ||
            die 'rustfmt and clippy are needed: rustup component add rustfmt clippy'
        return
    done
}

cargo_checks() {
    if [[ -z ${MAJOR_ONLY:-} ]]; then
        check 'cargo fmt' cargo fmt --manifest-path "$ROOT/Cargo.toml" --all --check
    fi
    # In release mode clippy shares its build scripts (bindgen!) with the build.
    check "cargo clippy, PostgreSQL $PG_MAJOR" \
        pg_cargo clippy --release --workspace --all-targets -- -D warnings
    if [[ -z ${MAJOR_ONLY:-} ]]; then
        # Unoptimised: compiling is what takes the time, and overflow is checked.
        check 'cargo test, core' \
            cargo test --manifest-path "$ROOT/Cargo.toml" -p bloom_ident_core
    fi
}

# The server's user cannot read every checkout, and pg_regress writes results
# beside its input: a copy in the scratch directory is for both.
copy_tests() {
    local name
    mkdir -p "$SCRATCH/regress/expected"
    for name in sql specs expected data; do
        [[ ! -d $ROOT/tests/$name ]] || cp -R "$ROOT/tests/$name" "$SCRATCH/regress"
    done
    chmod -R a+rX "$SCRATCH/regress"
    ((EUID != 0)) || chown -R "$(server_user)" "$SCRATCH/regress"
}

# run_regress PROGRAM KIND DIR EXT [OPTION...]: PROGRAM over all DIR/*.EXT, sorted.
run_regress() {
    local program=$1 kind=$2 dir=$3 ext=$4 output=$ROOT/target/regress/pg$PG_MAJOR/$2
    local file name log=$SCRATCH/$2.log tests=() failed=0 status=0
    shift 4
    for file in "$ROOT/tests/$dir"/*."$ext"; do
        [[ -e $file ]] || continue
        name=$(basename "$file" ".$ext")
        tests+=("$name")
        # pg_regress would give up at a test that has no expected output yet.
        compgen -G "$SCRATCH/regress/expected/$name*.out" >/dev/null ||
            : >"$SCRATCH/regress/expected/$name.out"
    done
    if ((${#tests[@]} == 0)); then
        return
    fi
    say "$kind: ${#tests[@]} test(s)"
    mkdir -p "$SCRATCH/regress/$kind"
    ((EUID != 0)) || chown "$(server_user)" "$SCRATCH/regress/$kind"
    # In its input directory: where "expected" is sought differs between majors otherwise.
    AS_SERVER_DIR=$SCRATCH/regress as_server "$program" --inputdir=. --outputdir="$kind" --bindir="$PGBIN" \
        --host="$PGHOST" --port="$PGPORT" --user="$PGUSER" --encoding=UTF8 \
        --dbname="$kind" "$@" "${tests[@]}" 2>&1 | tee "$log" || status=$?
    for name in "${tests[@]}"; do
        # PostgreSQL 15 prints "test NAME ... ok", later ones "ok 1 - NAME".
        if grep -Eq "^(test +$name +\.\.\. +ok|ok +[0-9]+ +[-+] +$name) " "$log"; then
            passed=$((passed + 1))
        else
            failures+=("$kind $name")
            failed=1
        fi
    done
    ((status == 0 || failed == 1)) || failures+=("$kind (exit status $status)")
    # Kept for whoever looks for the reason, or wants to copy from results/.
    rm -rf "$output"
    mkdir -p "$output"
    cp -R "$SCRATCH/regress/$kind/." "$output"
    if [[ -s $output/regression.diffs ]]; then
        head -n 500 "$output/regression.diffs"
        say "differences and results: ${output#"$ROOT"/}"
    fi
}

run_docs() {
    local i line log=$SCRATCH/docs.log status=0
    say 'docs: the statements of README.md and docs/'
    "$ROOT/tests/docs.sh" 2>&1 | tee "$log" || status=$?
    line=$(grep -E '^docs: [0-9]+ ok, [0-9]+ wrong$' "$log" | tail -n 1) || true
    if [[ ! $line =~ ^docs:\ ([0-9]+)\ ok,\ ([0-9]+)\ wrong$ ]]; then
        failures+=("docs (exit status $status)")
        return
    fi
    passed=$((passed + BASH_REMATCH[1]))
    for ((i = 0; i < BASH_REMATCH[2]; i++)); do failures+=('docs (see above)'); done
}

run_scripts() {
    local script
    for script in "$ROOT"/tests/*.test.sh; do
        [[ -x $script ]] || continue
        say "script: $(basename "$script")"
        if "$script"; then
            passed=$((passed + 1))
        else
            failures+=("script $(basename "$script")")
        fi
    done
}

select_postgres
need_build_packages
need_rust_components

cargo_checks
build_extension || {
    # Nothing to test.
    failures+=("build, PostgreSQL $PG_MAJOR")
    summary
}

say "scratch cluster, $("$PG_CONFIG" --version)"
scratch_open
stage_install
cluster_init main
cluster_start main
cluster_use main
copy_tests

run_regress "$PGXS_TEST/regress/pg_regress" regress sql sql --load-extension=bloom_ident
run_regress "$PGXS_TEST/isolation/pg_isolation_regress" isolation specs spec --load-extension=bloom_ident
run_docs
run_scripts
summary
