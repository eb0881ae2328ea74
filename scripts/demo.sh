#!/usr/bin/env bash
# make demo [KEEP=1]: demo/demo.sql in a scratch cluster.
# It is built to compile fast (QUICK=1).
# psql runs in a directory with the data, which the variable data_dir names; the script comes from
# standard input, so that notices carry no file and line.

QUICK=1
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

run_demo() {
    AS_SERVER_DIR=$SCRATCH/demo as_server "$PGBIN/psql" -X -q -d demo -v ON_ERROR_STOP=1 \
        -v "data_dir=$SCRATCH/demo" -v "report=$SCRATCH/demo/report.html" <"$ROOT/demo/demo.sql"
}

# Crates are downloaded, and those that need no PostgreSQL compiled, while apt works. What needs it fails, and is built afterwards.
begin_build() {
    PG_CONFIG=/usr/lib/postgresql/15/bin/pg_config PG_MAJOR=15
    if command -v cc >/dev/null && packages_present libc6-dev; then
        pg_cargo build -p bloom_ident --profile "$PROFILE" --keep-going
    else
        cargo fetch --manifest-path "$ROOT/Cargo.toml"
    fi 2>&1 | grep --line-buffered -E '^ *(Updating|Downloading|Compiling) ' || true
}

"$here/stop.sh" demo
need_cargo
if [[ -e $ROOT/target/$PROFILE/libbloom_ident.so ]]; then
    say 'the demonstration takes some twenty seconds, and longer if the source has changed'
else
    say 'the demonstration takes about two minutes on two cores, and a minute more if Debian packages have to be installed; crates are named as they are compiled'
fi
if [[ -z ${PG_CONFIG:-} && ${PG:-15} == 15 ]]; then
    mapfile -t packages < <(build_packages)
    if ! packages_present postgresql-15 postgresql-server-dev-15 "${packages[@]#*=}"; then
        begin_build &
        begun=$!
    fi
fi
# It makes the people of the second register.
need_packages python3
select_postgres
[[ -z ${begun:-} ]] || wait "$begun"
build_extension

scratch_cluster
# The server's user cannot read every checkout.
mkdir "$SCRATCH/demo"
cp "$ROOT/tests/data/febrl3.csv" "$SCRATCH/demo"
python3 "$ROOT/tests/quality/people.py" 20000 1 >"$SCRATCH/demo/people.csv"
chmod -R a+rX "$SCRATCH/demo"
# Where the report goes.
((EUID != 0)) || chown "$(server_user)" "$SCRATCH/demo"
createdb demo

say 'running demo/demo.sql'
status=0
run_demo || status=$?
((status == 0)) || warn 'demo/demo.sql failed (see above)'
if [[ -s $SCRATCH/demo/report.html ]]; then
    cp "$SCRATCH/demo/report.html" "$ROOT/target/demo-report.html"
fi

if [[ -n ${KEEP:-} && $KEEP != 0 ]]; then
    kept_keep demo
    say 'the cluster is still running. To connect:'
    printf '    %q -h %q -p %s -U postgres demo\n' "$PGBIN/psql" "$PGHOST" "$PGPORT"
    say 'to stop and remove it: make demo-stop'
fi
say "done after $SECONDS s"
((status == 0)) || exit "$status"
say "open this file: $ROOT/target/demo-report.html"
