#!/usr/bin/env bash
# The day after of docs/tutorial.md: how long its statements take, from the file of 1,000 records to the merge. All before them is run first.

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

dropdb --if-exists bench 2>/dev/null
createdb bench
export PGDATABASE=bench PGOPTIONS='-c client_min_messages=error'
mkdir "$SCRATCH/tutorial"
ln -s "$ROOT/docs" "$SCRATCH/tutorial"
cd "$SCRATCH/tutorial"

# The statements of the page, with a line where the next day begins and ends.
awk '
    /^## The next day/ { print "\\echo next day" }
    /^Nothing is asked twice/ { exit }
    /^```/ { sql = /^```sql/; next }
    sql
' "$ROOT/docs/tutorial.md" >statements.sql

echo 'statement of the next day | s'
echo '---|---'
psql -XAtq -c '\timing on' -f statements.sql | awk '
    /^next day$/ { begun = 1; next }
    begun && /^Time:/ { printf "%d | %.3f\n", ++n, $2 / 1000; all += $2 }
    END { printf "all | %.3f\n", all / 1000 }'
cd /
dropdb bench
