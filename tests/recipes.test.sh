#!/usr/bin/env bash
# tests/recipes.test.sh [--update] [PAGE...]: the code of docs/psycopg.md, sqlalchemy.md, django.md, wide-columns.md, front-desk.md and nightly-job.md, run as it stands there, against a database
# of each page's. The packages of tests/recipes/requirements.txt come from the package index of Python, once, into target/recipes.

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

failed=0
for page in "${pages[@]}"; do
    name=$(basename "$page" .md)
    work=$SCRATCH/recipe_$name
    without=
    if [[ $name == nightly-job ]]; then with_pg_cron; else cluster_use main; fi
    mkdir "$work"
    ln -s "$ROOT/docs" "$work"
    database=${name//-/_}
    dropdb --if-exists "$database" 2>/dev/null
    createdb "$database"
    # Settings of the caller's Python and Django must not count.
    env -u PYTHONPATH -u PYTHONHOME -u DJANGO_SETTINGS_MODULE PATH="$venv/bin:$PATH" PYTHONDONTWRITEBYTECODE=1 HOME="$work" RECIPES_WITHOUT="$without" \
        PGDATABASE="$database" timeout 120 "$venv/bin/python" "$ROOT/tests/recipes/run.py" "${update[@]}" "$(realpath "$page")" "$work" || failed=1
    dropdb --force "$database"
    rm -rf "$work"
done
((failed == 0)) || die 'a recipe does not do what its page says (see above)'
