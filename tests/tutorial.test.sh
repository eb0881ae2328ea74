#!/usr/bin/env bash
# docs/tutorial.md, whose statements tests/docs.sh runs: its data are those that docs/data/register.py makes, and before the next day it has fewer than twenty
# statements, besides those that try the guard. Needs no server.

# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
# shellcheck source=scripts/packages.sh
source "$ROOT/scripts/packages.sh"

need_packages python3
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
python3 "$ROOT/docs/data/register.py" "$made"
for file in "$made"/*.csv; do
    diff -q "$file" "$ROOT/docs/data/$(basename "$file")" || die 'docs/data/ is not what docs/data/register.py makes'
done

# A statement ends with a semicolon, or is a line that begins with or ends in a command of psql.
statements=$(awk '
    /^That was the nineteenth/ { exit }
    /^```/ { sql = /^```sql/; next }
    sql && (/;$/ || /^\\/ || / \\g /) { n++ }
    END { print n }' "$ROOT/docs/tutorial.md")
[[ $statements == 19 ]] || die "the tutorial has $statements statements and says that they are nineteen"
