#!/usr/bin/env bash
# make test-all [MAJORS="15 18 16 17"]: make test for each of the majors, two of them side by side, since most tests keep one processor busy. Continuous
# integration takes the oldest and the newest one. What does not depend on the major runs once: cargo's checks beside the first one, the scripts beside the
# second one, so that both take about as long. The oldest one is a server that checks its assertions.

set -uo pipefail
cd "$(dirname "$0")/.." || exit

read -ra majors <<<"${MAJORS:-15 18 16 17}"
# What the tests call may read a variable of that name as well.
unset MAJORS
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# run INDEX: make test for that one of the majors. Its output goes to a file, and its exit status.
run() {
    local pg=${majors[$1]} settings=()
    case $1 in
        0) ((${#majors[@]} == 1)) || settings+=(MAJOR_ONLY=scripts) ;;
        1) settings+=(MAJOR_ONLY=cargo) ;;
        *) settings+=(MAJOR_ONLY=1) ;;
    esac
    [[ $pg != 15 ]] || settings+=(CASSERT=1)
    # pg_upgrade is tested from that one, which is built by then.
    [[ $pg == 15 || " ${majors[*]} " != *' 15 '* ]] || settings+=(UPGRADE_FROM=15)
    {
        printf '\n==> make test PG=%s %s\n' "$pg" "${settings[*]}"
        env "${settings[@]}" make --no-print-directory test PG="$pg"
        echo $? >"$logs/$pg.status"
    } >"$logs/$pg" 2>&1
}

# One after the other takes what comes next; the first two are as they are ordered.
work() {
    local i
    for ((i = $1; i < ${#majors[@]}; i += 2)); do run "$i"; done
}
work 1 &
other=$!
work 0 &
first=$!
# What the first one says is shown as it comes: whoever waits sees that something happens. The rest is shown at the end.
touch "$logs/${majors[0]}"
tail -n +1 -f --pid "$first" "$logs/${majors[0]}" &
shown=$!
wait "$first" "$shown" "$other"
for pg in "${majors[@]:1}"; do cat "$logs/$pg"; done

printf '\n==> finished after %s s\n' "$SECONDS"
status=0
for pg in "${majors[@]}"; do
    line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$logs/$pg" | tail -n 1)
    if [[ $(cat "$logs/$pg.status" 2>/dev/null) != 0 ]]; then
        status=1
        line="FAILED${line:+, $line}"
    fi
    printf 'PostgreSQL %s: %s\n' "$pg" "$line"
done
exit "$status"
