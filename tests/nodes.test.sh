#!/usr/bin/env bash
# tests/nodes.test.sh [--update]: docs/nodes.md, and what it says of postgres_fdw.
#
# The first line of each sql block of docs/nodes.md names the server that it is run on; each is a session of its own. The text block after
# it is the output. --update writes the real output into the document. Blocks of another kind (those of Citus) are not run.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

document=$ROOT/docs/nodes.md
if [[ ! -e $("$PGBIN/pg_config" --sharedir)/extension/postgres_fdw.control ]]; then
    say "skipped: this PostgreSQL $PG_MAJOR has no postgres_fdw"
    exit
fi

cluster_init north
cluster_start north
psql -XAtqc 'CREATE DATABASE nodes'
(cluster_use north && psql -XAtqc 'CREATE DATABASE register')

# How often a job reports its progress depends on time.
export PGOPTIONS='-c client_min_messages=warning'
on_centre() { psql -X -d nodes "$@"; }
on_north() { (cluster_use north && psql -X -d register "$@"); }
work=$(mktemp -d "$SCRATCH/nodes.XXXXXX")

# Block N of the document becomes $work/N.sql and the text after it $work/N.text.
awk -v work="$work" '
    /^```/ && fence { close(out); fence = ""; next }
    fence == "sql" || fence == "text" { print >out; next }
    fence { next }
    /^```sql$/ { fence = "sql"; n++; out = work "/" n ".sql"; printf "" >out; next }
    /^```text$/ { fence = "text"; out = work "/" n ".text"; printf "" >out; next }
    /^```/ { fence = "other" }
' "$document"

blocks=$(find "$work" -name '*.sql' | wc -l)
((blocks > 0)) || die 'docs/nodes.md has no statements'
wrong=0
for ((n = 1; n <= blocks; n++)); do
    [[ -e $work/$n.text ]] || die "block $n of docs/nodes.md has no output: $(cat "$work/$n.sql")"
    server=$(sed -n '1s/^-- on \(centre\|north\)$/\1/p' "$work/$n.sql")
    [[ -n $server ]] || die "block $n of docs/nodes.md does not say where it is run: $(cat "$work/$n.sql")"
    # The other server is at a socket here. From standard input, so that messages come without file and line.
    sed "s|host 'north.example'|host '$SCRATCH/north'|" "$work/$n.sql" |
        "on_$server" 2>&1 | sed -e 's/[[:blank:]]*$//' | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' >"$work/$n.out"
    if [[ ${1:-} != --update ]] && ! diff -u --label "docs/nodes.md, block $n" "$work/$n.text" --label output "$work/$n.out"; then
        wrong=$((wrong + 1))
    fi
done
if [[ ${1:-} == --update ]]; then
    awk -v work="$work" '
        /^```/ && fence { if (fence == "text") { while ((getline line <out) > 0) print line; close(out) } print; fence = ""; next }
        fence == "text" { next }
        { print }
        fence { next }
        /^```sql$/ { fence = "sql"; n++; next }
        /^```text$/ { fence = "text"; out = work "/" n ".out"; next }
        /^```/ { fence = "other" }
    ' "$document" >"$work/updated"
    cat "$work/updated" >"$document"
    say 'docs/nodes.md: output updated; look at the difference before you commit it'
fi
((wrong == 0)) || die "docs/nodes.md: $wrong blocks of $blocks have another output"

# What is sent gives what the same query gives on the server that holds the rows, and is answered from its index.
quiet='-XAtq -v ON_ERROR_STOP=1'
scans() {
    # shellcheck disable=SC2086
    on_north $quiet -c "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'person_sig'"
}
same() { # WHAT sent|stays QUERY
    local here there before after plan
    plan=$(on_centre $quiet -c "EXPLAIN (VERBOSE, COSTS OFF) $3")
    case $2 in
        sent) ! grep -Eq '^ *(Filter|Join Filter|Sort Key):' <<<"$plan" || die "$1 is not sent:"$'\n'"$plan" ;;
        stays) grep -Eq '^ *(Filter|Join Filter|Sort Key):' <<<"$plan" || die "$1 is sent:"$'\n'"$plan" ;;
    esac
    before=$(scans)
    here=$(on_centre $quiet -c "$3")
    there=$(on_north $quiet -c "SET enable_indexscan = off; SET enable_bitmapscan = off" -c "$3")
    [[ -n $here && $here == "$there" ]] || die "$1:"$'\n'"$here"$'\n'"where north itself gives:"$'\n'"$there"
    for ((i = 0; i < 50; i++)); do
        after=$(scans)
        [[ $2 == stays || $after -gt $before ]] && break
        sleep 0.1
    done
    if [[ $2 == sent ]] && ((after <= before)); then
        die "$1: north did not use its index"
    fi
}
signature="bloom_signature('Erika Mustermann')"
for threshold in 0.9 0.8 0.6; do
    same "bloom_sim > $threshold" sent "SELECT array_agg(id ORDER BY id) FROM person WHERE bloom_sim(sig, $signature) > $threshold"
    same "bloom_sim >= $threshold" sent "SELECT array_agg(id ORDER BY id) FROM person WHERE $threshold <= bloom_sim(sig, $signature)"
    same "bloom_dice > $threshold" sent "SELECT array_agg(id ORDER BY id) FROM person WHERE bloom_dice(sig, $signature) > $threshold"
    same "% bloom_query, $threshold" sent "SELECT array_agg(id ORDER BY id) FROM person WHERE sig % bloom_query($signature, $threshold)"
done
same 'nearest' sent "SELECT id FROM person ORDER BY sig <-> $signature LIMIT 2"
same '=' sent "SELECT id FROM person WHERE sig = $signature"
same '@>' sent "SELECT id FROM person WHERE sig @> $signature"
same '% of two signatures' stays "SELECT array_agg(id ORDER BY id) FROM person WHERE sig % $signature"
psql -XAtqc 'DROP DATABASE nodes'
