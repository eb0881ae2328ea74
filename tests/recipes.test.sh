#!/usr/bin/env bash
# tests/recipes.test.sh [--update] [PAGE...]: the code of docs/psycopg.md, node.md, jvm.md and the other pages that are marked as run by it, as it stands there, against a database
# of each page's. The packages of tests/recipes/requirements.txt and package-lock.json come from the package indexes of Python and npm, once, into target/recipes, those of Java from Debian.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"
# shellcheck source=scripts/venv.sh
source "$ROOT/scripts/venv.sh"

update=()
if [[ ${1:-} == --update ]]; then
    update=(--update)
    shift
fi
pages=("$@")
((${#pages[@]} > 0)) || mapfile -t pages < <(grep -lxF '<!-- run by tests/recipes.test.sh -->' "$ROOT"/docs/*.md)
((${#pages[@]} > 0)) || die 'no page is marked as run by this test'

need_venv recipes
PATH=$venv/bin:$PATH

# pg_cron is there for Debian's PostgreSQL, and has to be loaded at the start of a server: one of its own.
without=
with_pg_cron() {
    local file
    if [[ $("$PG_CONFIG" --bindir) != "/usr/lib/postgresql/$PG_MAJOR/bin" ]]; then
        say "pg_cron is no part of this PostgreSQL: what docs/nightly-job.md says of it is tested with Debian's"
        without='By pg_cron'
        return
    fi
    need_packages "postgresql-$PG_MAJOR-cron"
    for file in "$("$PG_CONFIG" --pkglibdir)/pg_cron.so" "$("$PG_CONFIG" --sharedir)"/extension/pg_cron*; do
        cp "$file" "$SCRATCH/stage$file"
    done
    cluster_init cron
    cluster_conf cron "shared_preload_libraries = 'pg_cron'" "cron.database_name = 'nightly_job'" 'cron.use_background_workers = on'
    cluster_start cron
    cluster_use cron
}

# JDBC knows no sockets of files. Whoever reaches an address of this machine must not reach a superuser by it, so that one asks for a password.
with_address() {
    if [[ -z ${CLUSTER_ADDRESS[address]:-} ]]; then
        CLUSTER_ADDRESS[address]=127.0.$((BASHPID / 250 % 250)).$((BASHPID % 250 + 1))
        password=$(head -c 16 /dev/urandom | base32)
        cluster_init address --auth-host=scram-sha-256
        cluster_start address
        PGHOST=$SCRATCH/address PGPORT=5432 PGUSER=postgres psql -Xq -d postgres -c "ALTER ROLE postgres PASSWORD '$password'"
    fi
    cluster_use address
    export PGHOST=${CLUSTER_ADDRESS[address]} PGPASSWORD=$password
}

# What a page's blocks need besides Python.
need_language() {
    if grep -q '^```js$' "$1"; then
        need_node_modules recipes
        ln -s "$modules" "$2"
    fi
    if grep -q '^```java$' "$1"; then
        need_packages 'openjdk-17-jre-headless=openjdk-[0-9]*-jre-headless' ecj libpostgresql-jdbc-java libhibernate3-java libjavassist-java
        CLASSPATH=$(printf '/usr/share/java/%s.jar:' postgresql hibernate-core hibernate-entitymanager geronimo-jpa_2.0_spec geronimo-jta-1.2-spec hibernate-commons-annotations dom4j antlr commons-collections3 javassist slf4j-api slf4j-nop)
        export CLASSPATH
    fi
}

failed=0
splink=$ROOT/docs/coming-from-splink.md
if [[ ! -e $("$PG_CONFIG" --sharedir)/extension/fuzzystrmatch.control ]]; then
    say "fuzzystrmatch is no part of this PostgreSQL: $(basename "$splink") is tested with others"
    mapfile -t pages < <(printf '%s\n' "${pages[@]}" | grep -vxF "$splink")
fi
for page in "${pages[@]}"; do
    name=$(basename "$page" .md)
    work=$SCRATCH/recipe_$name
    without=
    # The page before may have had a cluster of its own.
    cluster_use main
    case $name in
        nightly-job) with_pg_cron ;;
        jvm) with_address ;;
    esac
    mkdir "$work"
    ln -s "$ROOT/docs" "$work"
    need_language "$page" "$work"
    database=${name//-/_}
    dropdb --if-exists --no-password "$database" 2>/dev/null
    createdb --no-password "$database"
    # Settings of the caller's Python and Django must not count.
    env -u PYTHONPATH -u PYTHONHOME -u DJANGO_SETTINGS_MODULE PYTHONDONTWRITEBYTECODE=1 HOME="$work" RECIPES_WITHOUT="$without" NPM_CONFIG_UPDATE_NOTIFIER=false \
        PGDATABASE="$database" timeout 120 "$venv/bin/python" "$ROOT/tests/recipes/run.py" "${update[@]}" "$(realpath "$page")" "$work" || failed=1
    dropdb --force --no-password "$database"
    rm -rf "$work"
    unset PGPASSWORD
done
((failed == 0)) || die 'a recipe does not do what its page says (see above)'
