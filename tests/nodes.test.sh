#!/usr/bin/env bash
# tests/nodes.test.sh [--update]: docs/nodes.md, and what it says of postgres_fdw.
#
# Its blocks are run as tests/blocks.sh says; --update writes the real output into the document. Those of Citus are run by tests/citus_others.test.sh.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

# shellcheck source=tests/blocks.sh
source "$ROOT/tests/blocks.sh"
cd "$ROOT"
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
# The other server is at a socket here.
asked() { sed "s|host 'north.example'|host '$SCRATCH/north'|"; }
blocks_check docs/nodes.md centre north -- coordinator worker1 worker2
if [[ ${1:-} == --update ]]; then
    blocks_update docs/nodes.md
elif ((blocks_wrong > 0)); then
    die "docs/nodes.md: $blocks_wrong blocks have another output"
fi

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
