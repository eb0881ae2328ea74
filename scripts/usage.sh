# shellcheck shell=bash
# Sourced by benches: what all processes of a server use, the workers of statements among them. Needs cluster.sh.

# ticks PID FIRST: two numbers of /proc/PID/stat behind the name of the process: its own time is at 12 and 13, that of its children which have ended at 14 and 15.
ticks() {
    local line numbers
    { read -r line <"/proc/$1/stat"; } 2>/dev/null || line=') 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0'
    read -ra numbers <<<"${line##*) }"
    ticks=$((numbers[$2 - 1] + numbers[$2]))
}
# cpu CLUSTER...: hundredths of a second of processor time of all processes of each of these clusters so far, a line each.
cpu() {
    local name pid child children ended sum ticks
    for name; do
        read -r pid <"$(cluster_dir "$name")/postmaster.pid"
        # A process that ends meanwhile would be counted twice, or not at all.
        ended=-1 ticks=0
        until ((ended == ticks)); do
            ticks "$pid" 14
            ended=$ticks sum=$ticks
            # There is no newline behind it.
            read -ra children <"/proc/$pid/task/$pid/children" || true
            for child in "${children[@]}"; do
                ticks "$child" 12
                sum=$((sum + ticks))
            done
            ticks "$pid" 14
        done
        echo "$sum"
    done
}
# use: kilobytes that all processes of the cluster main have at the moment for themselves, or share for a statement, and those of their temporary files. What
# they share for good, shared_buffers for the most, is in neither.
use() {
    local pid children dir
    dir=$(cluster_dir main)
    read -r pid <"$dir/postmaster.pid"
    read -ra children <"/proc/$pid/task/$pid/children" || true
    children=("${children[@]/#//proc/}")
    {
        awk '/^RssAnon:/ { n += $2 } END { print n + 0 }' "${children[@]/%//status}"
        grep -ho '/dev/shm/PostgreSQL[^ ]*' "${children[@]/%//maps}" | sort -u | xargs -r stat -c %b | awk '{ n += $1 } END { print n / 2 }'
        du -sk "$dir/base/pgsql_tmp"
    } 2>/dev/null | awk 'NF > 1 { files = $1; next } { memory += $1 } END { print memory + 0, files + 0 }'
}
# usage COMMAND...: seconds, seconds of processor time, and megabytes of memory and of temporary files at most, beyond what there was before; half a second apart.
# What the command writes goes to a file, out.
usage() {
    local begun before cpu pid most
    before=$(use)
    cpu=$(cpu main)
    begun=${EPOCHREALTIME/./}
    "$@" >"$SCRATCH/out" &
    pid=$!
    most=$(while kill -0 "$pid" 2>/dev/null; do use && sleep 0.5; done | awk -v before="$before" '
        BEGIN { split(before, b, " ") }
        { if ($1 > memory) memory = $1; if ($2 > files) files = $2 }
        END { printf "%d | %d", (memory > b[1] ? memory - b[1] : 0) / 1024, (files > b[2] ? files - b[2] : 0) / 1024 }')
    wait "$pid" || return 1
    awk -v us=$((${EPOCHREALTIME/./} - begun)) -v cpu=$(($(cpu main) - cpu)) -v most="$most" 'BEGIN { printf "%.1f | %.1f | %s", us / 1e6, cpu / 100, most }'
}
