#!/usr/bin/env bash
# What no compiler says of the source: the rooms of the extension import from rooms below them, C symbols are declared in one file, and a long file says why it is.

# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
cd "$ROOT"

# From bottom to top. Rooms of one line do not import from one another.
floors=('monitor functions planner' 'keyed pairs' 'models' 'clusters suggest versions' 'register' 'report guard merging' 'lib')
declare -A floor
for i in "${!floors[@]}"; do for room in ${floors[i]}; do floor[$room]=$i; done; done
found=$(for path in src/*; do
    room=$(basename "$path" .rs)
    [[ -n ${floor[$room]:-} ]] || echo "$path is on no floor of tests/rooms.test.sh"
    # "use crate::{a::b, c::d}" comes as one line, whatever its layout.
    find "$path" -name '*.rs' -exec cat {} + | tr '\n' ' ' | grep -oE 'crate::(\{[^;]*|[a-z_]+)' | grep -oE '(crate::|[{,] *)[a-z_]+' | grep -oE '[a-z_]+$' | sort -u | while read -r other; do
        [[ $other != "$room" && -n ${floor[$other]:-} && $((floor[$other])) -ge $((floor[$room])) ]] && echo "$path: imports from src/$other, which is not below it"
    done
done
# Not asked of git, which a source archive does not have.
sources=$(find access core fuzz macros pg src tests types benches -name '*.rs' -not -path '*/target/*')
xargs grep -lE '^ *(unsafe )?extern "C(-unwind)?" \{' <<<"$sources" | grep -vx pg/src/ffi.rs | sed 's/$/: C symbols are declared in pg\/src\/ffi.rs only/'
grep -rlE '#\[(cfg\()?test' {pg,types,access,macros}/src src | sed 's/$/: "cargo test" does not compile it; what is tested without a server belongs to core\//'
grep -rln 'thread_local!' {pg,types,access}/src src | grep -vx pg/src/session_state.rs | sed 's/$/: what a session keeps is declared by session_state! (pg\/src\/session_state.rs)/'
while read -r file; do
    (($(wc -l <"$file") <= 600)) || grep -qE '^//! .*[Ll]ong, since ' "$file" || echo "$file: more than 600 lines, and no sentence \"Long, since ...\" at its top"
done <<<"$sources") || true
[[ -z $found ]] || die "the house is out of order:
$found"
