# shellcheck shell=bash
# Sourced by test.sh, which runs all tests, and by one.sh, which runs those that are named: how each kind is run, and the account of it.
# Needs common.sh, postgres.sh, cluster.sh and a running cluster "main".

passed=0
failures=()
# "SECONDS NAME" of every part.
parts=()

# part NAME COMMAND...: runs it and notes how long it took. Its exit status is COMMAND's.
part() {
    local name=$1 begun=$SECONDS status=0
    shift
    say "$name"
    "$@" || status=$?
    parts+=("$((SECONDS - begun)) $name")
    return "$status"
}

# What valgrind has written of the servers (see under_valgrind): kept in target/valgrind, and a failure for each server that it found something in.
valgrind_findings() {
    local log
    rm -rf "$ROOT/target/valgrind"
    for log in "$SCRATCH"/valgrind.*.log; do
        grep -q VALGRINDERROR-BEGIN "$log" || continue
        mkdir -p "$ROOT/target/valgrind"
        cp "$log" "$ROOT/target/valgrind"
        head -n 60 "$log"
        failures+=("valgrind: $(grep -c VALGRINDERROR-BEGIN "$log") findings in target/valgrind/$(basename "$log")")
    done
}

# Ends every run that got as far as testing: what failed, how long each part took, and a last line for programs.
summary() {
    local line log
    [[ -z ${VALGRIND:-} ]] || valgrind_findings
    if ((${#failures[@]} > 0)); then
        # Again, since others have written much after it: whoever is shown only the end of this sees why.
        for log in "$SCRATCH"/failed.*.log; do
            [[ ! -s $log ]] || { printf '==> the end of what %s has written:\n' "$(basename "$log" .log)" && tail -n 25 "$log"; }
        done
        printf 'FAILED: %s\n' "${failures[@]}"
        # A full disk fails tests in many ways, few of which say so.
        df -h "$ROOT/target" "${TMPDIR:-/tmp}"
    fi
    for line in "${parts[@]}"; do printf '%6d s  %s\n' "${line%% *}" "${line#* }"; done
    printf '%6d s  in all\n' "$SECONDS"
    printf '%d passed, %d failed\n' "$passed" "${#failures[@]}"
    exit $((${#failures[@]} > 0))
}

# limited COMMAND...: ends it with all that it has started after TIME_LIMIT seconds, so that what waits without an end fails by its name.
# At a terminal it runs without, even if its output goes to a file or on to tee: an interrupt would not reach it there.
limited() {
    if [[ -t 0 || -t 1 ]]; then
        "$@"
    else
        timeout -k 60 "${TIME_LIMIT:-1200}" "$@" || {
            local status=$?
            ((status != 124 && status != 137)) || warn "${1#"$ROOT"/} was ended after ${TIME_LIMIT:-1200} s"
            return "$status"
        }
    fi
}

# logged FILE COMMAND...: what it writes goes to FILE as well.
logged() {
    local log=$1
    shift
    "$@" 2>&1 | tee "$log"
}

# check NAME COMMAND...: counts only when it fails; cargo counts its own tests.
check() {
    part "$@" || failures+=("$1")
}

# The server's user cannot read every checkout, and pg_regress writes results
# beside its input: a copy in the scratch directory is for both.
copy_tests() {
    local name
    rm -rf "$SCRATCH/regress"
    mkdir -p "$SCRATCH/regress/expected"
    for name in sql specs expected data; do
        [[ ! -d $ROOT/tests/$name ]] || cp -R "$ROOT/tests/$name" "$SCRATCH/regress"
    done
    fill_templates
    chmod -R a+rX "$SCRATCH/regress"
    ((EUID != 0)) || chown -R "$(server_user)" "$SCRATCH/regress"
}

# The access methods that a template is filled in with.
METHODS=(gist sigfile)

# specs/NAME.spec.in with expected/NAME.spec.out is a test for each access method, which "@method@" stands for: NAME_gist, NAME_sigfile.
fill_templates() {
    local template name method
    for template in "$SCRATCH"/regress/specs/*.spec.in; do
        name=$(basename "$template" .spec.in)
        for method in "${METHODS[@]}"; do
            sed "s/@method@/$method/g" "$template" >"$SCRATCH/regress/specs/${name}_$method.spec"
            [[ ! -e $ROOT/tests/expected/$name.spec.out ]] ||
                sed "s/@method@/$method/g" "$ROOT/tests/expected/$name.spec.out" >"$SCRATCH/regress/expected/${name}_$method.out"
        done
    done
}

# tests_of DIR EXT: the names of all tests.
tests_of() {
    local file method
    for file in "$ROOT/tests/$1"/*."$2"; do basename "$file" ".$2"; done
    for file in "$ROOT/tests/$1"/*."$2.in"; do
        [[ ! -e $file ]] || for method in "${METHODS[@]}"; do echo "$(basename "$file" ".$2.in")_$method"; done
    done
}

# accept NAME RESULT: RESULT becomes the expected output of the test NAME.
accept() {
    local name=$1 result=$2 expected=tests/expected/$1.out
    # The output of a template is the same for each access method.
    [[ -e $ROOT/tests/sql/$name.sql || -e $ROOT/tests/specs/$name.spec || ! -e $ROOT/tests/specs/${name%_*}.spec.in ]] || expected=tests/expected/${name%_*}.spec.out
    if [[ ! -s $result ]]; then
        warn "$name has no output that could be accepted"
        return 1
    fi
    if compgen -G "$ROOT/tests/expected/${name}_[0-9].out" >/dev/null; then
        warn "$name has several expected outputs, one of which has to be chosen: cp ${result#"$ROOT"/} tests/expected/…"
        return 1
    fi
    cp "$result" "$ROOT/$expected"
    say "accepted: $expected (read the difference before you commit it)"
}

# run_regress KIND [NAME...]: tests of KIND, regress (tests/sql) or isolation (tests/specs); all of them if none is named. With
# ACCEPT=1 the output of those that fail becomes their expected output.
run_regress() {
    local kind=$1 output=$ROOT/target/regress/pg$PG_MAJOR/$1 log=$SCRATCH/$1.log
    local program dir ext name tests failed=0 status=0
    # Made by pg_regress, unless it is there: see run_regress_upgraded.
    local database=(--load-extension=bloom_ident)
    [[ -z ${REGRESS_EXISTING:-} ]] || database=(--use-existing)
    shift
    case $kind in
        regress) program=$PGXS_TEST/regress/pg_regress dir=sql ext=sql ;;
        isolation) program=$PGXS_TEST/isolation/pg_isolation_regress dir=specs ext=spec ;;
    esac
    tests=("$@")
    ((${#tests[@]} > 0)) || mapfile -t tests < <(tests_of "$dir" "$ext" | sort)
    for name in "${tests[@]}"; do
        [[ -e $SCRATCH/regress/$dir/$name.$ext ]] || die "there is no test tests/$dir/$name.$ext"
        # pg_regress would give up at a test that has no expected output yet.
        compgen -G "$SCRATCH/regress/expected/$name*.out" >/dev/null ||
            : >"$SCRATCH/regress/expected/$name.out"
    done
    mkdir -p "$SCRATCH/regress/$kind"
    ((EUID != 0)) || chown "$(server_user)" "$SCRATCH/regress/$kind"
    # In its input directory: where "expected" is sought differs between majors otherwise.
    AS_SERVER_DIR=$SCRATCH/regress as_server "$program" --inputdir=. --outputdir="$kind" --bindir="$PGBIN" \
        --host="$PGHOST" --port="$PGPORT" --user="$PGUSER" --encoding=UTF8 \
        --dbname="$kind" "${database[@]}" "${tests[@]}" 2>&1 | tee "$log" || status=$?
    # Kept for those who look for the reason.
    rm -rf "$output"
    mkdir -p "$output"
    cp -R "$SCRATCH/regress/$kind/." "$output"
    if [[ -s $output/regression.diffs ]]; then
        head -n 500 "$output/regression.diffs"
        say "differences and results: ${output#"$ROOT"/}"
        # For the summary.
        cp "$output/regression.diffs" "$SCRATCH/failed.$kind.log"
    fi
    for name in "${tests[@]}"; do
        # PostgreSQL 15 prints "test NAME ... ok", later ones "ok 1 - NAME".
        if grep -Eq "^(test +$name +\.\.\. +ok|ok +[0-9]+ +[-+] +$name) " "$log"; then
            passed=$((passed + 1))
            continue
        fi
        failed=1
        if [[ -n ${ACCEPT:-} && $ACCEPT != 0 ]] && accept "$name" "$output/results/$name.out"; then
            passed=$((passed + 1))
        else
            failures+=("$kind $name")
        fi
    done
    ((status == 0 || failed == 1)) || failures+=("$kind (exit status $status)")
}

# run_regress_upgraded VERSION: all tests of tests/sql, over a database that this version has left behind for this major, updated, with the extension where tests
# expect it and nothing else in it. tests/upgrade.test.sh shows that the extension is by definition what CREATE EXTENSION makes, so they are not run over that, too.
run_regress_upgraded() {
    released_unpack "$1" upgraded
    # Autovacuum is off in what was left behind, as in the cluster "main" (see test.sh).
    cluster_conf upgraded 'max_wal_size = 1GB'
    cluster_start upgraded
    cluster_use upgraded
    registrar -o /dev/null -c 'ALTER EXTENSION bloom_ident UPDATE'
    psql -Xq -v ON_ERROR_STOP=1 -o /dev/null <<'SQL' || die "the database that $1 has left behind cannot be cleared"
CREATE DATABASE regress TEMPLATE registry;
\c regress
SET client_min_messages = error;
SET search_path = ext, public;
SELECT bloom_secret_drop(name) FROM bloom_secrets;
DELETE FROM ident_abbreviations;
DROP SCHEMA public CASCADE;
CREATE SCHEMA public;
GRANT USAGE ON SCHEMA public TO PUBLIC;
ALTER SCHEMA public OWNER TO pg_database_owner;
COMMENT ON SCHEMA public IS 'standard public schema';
ALTER EXTENSION bloom_ident SET SCHEMA public;
DROP SCHEMA ext;
REASSIGN OWNED BY registrar TO postgres;
SQL
    REGRESS_EXISTING=1 run_regress regress
    cluster_stop upgraded
    cluster_use main
}

# run_script NAME: tests/NAME.test.sh.
run_script() {
    local script=$ROOT/tests/$1.test.sh log=$SCRATCH/failed.$1.log
    # One that is not executable fails, too.
    if part "script: $1" logged "$log" limited "$script"; then
        passed=$((passed + 1))
        rm -f "$log"
    else
        failures+=("script $1.test.sh")
    fi
}
