#!/usr/bin/env bash
# Random schemas whose records are merged and taken apart again, judged by what is in their tables: 40 fixed seeds; 500 random ones if TORTURE is set; those of MERGE_SEEDS="1 2" if that is set.
# Each is one SQL file, which is left in target/merge_schemas. MERGE_SHRINK=1 looks for the fewest kinds of features with which a seed fails.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

need_packages python3
python=$(command -v /usr/bin/python3 || command -v python3)
here=$ROOT/tests/merge_schemas
if [[ -n ${MERGE_SEEDS:-} ]]; then
    read -ra seeds <<<"${MERGE_SEEDS//$'\n'/ }"
elif [[ -n ${TORTURE:-} ]]; then
    mapfile -t seeds < <(shuf -i 1-1000000000 -n 500)
else
    mapfile -t seeds < <(grep -oE '^[0-9]+' "$here/seeds.txt")
fi
createdb merge_schemas
export PGDATABASE=merge_schemas
psql -Xq -v ON_ERROR_STOP=1 -c 'CREATE EXTENSION bloom_ident' -f "$here/harness.sql"
"$python" -B "$here/run.py" ${MERGE_SHRINK:+--shrink} "$ROOT/target/merge_schemas" "${seeds[@]}" || die 'merges of random schemas failed (see above)'
dropdb --force merge_schemas
