#!/usr/bin/env bash
# Spam campaigns among generated mails (tests/data/campaigns.sql) by sketches of their words: how good the clusters are and how long signing,
# the index and the clusters take; by shingles, too; the same by datasketch and rensa, whose packages pip loads; searches by pg_trgm.
# BENCH_CAMPAIGNS: numbers of mails, such as "85500 855000"; the first is that of the table of tokens and of the peers. BENCH_SEEDS: seeds of the
# mails. BENCH_SHINGLES= leaves out the table of tokens, BENCH_PEERS= the peers.

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"
# shellcheck source=scripts/peers.sh
source "$ROOT/scripts/peers.sh"

read -ra sizes <<<"${BENCH_CAMPAIGNS:-85500}"
read -ra seeds <<<"${BENCH_SEEDS:-1}"

export PGOPTIONS='-c jit=off -c client_min_messages=warning -c maintenance_work_mem=2GB -c max_parallel_workers_per_gather=2'
# made MAILS SEED: table mail of a new database bench, half of them in campaigns, and the truth of these
made() {
    PGDATABASE=postgres sql -c 'DROP DATABASE IF EXISTS bench' -c 'CREATE DATABASE bench'
    export PGDATABASE=bench
    sql -c 'CREATE EXTENSION bloom_ident' -f "$ROOT/tests/data/campaigns.sql" -c "CREATE TABLE plan AS SELECT * FROM campaign_plan($1, $1 / 5880)" -c 'ANALYZE plan' \
        -c 'SET parallel_setup_cost = 0' -c 'SET parallel_tuple_cost = 0' -c 'SET min_parallel_table_scan_size = 0' \
        -c "CREATE TABLE mail AS SELECT id, campaign, campaign_body($2, text_number, id, 50, 300, 0.3) AS body FROM plan" -c 'VACUUM ANALYZE mail' \
        -c 'CREATE VIEW truth AS SELECT id AS key, campaign AS cluster FROM mail WHERE campaign IS NOT NULL' -c 'CHECKPOINT'
}
# seconds COMMAND…: runs it and sets took
seconds() {
    local started=${EPOCHREALTIME/./}
    "$@"
    took=$(awk -v us=$((${EPOCHREALTIME/./} - started)) 'BEGIN { printf "%.1f", us / 1e6 }')
}
# sign TOKENS N: table signed, timed as signing and indexing
sign() {
    sql -c 'DROP TABLE IF EXISTS signed' -c CHECKPOINT
    seconds sql -c 'SET parallel_setup_cost = 0' -c 'SET parallel_tuple_cost = 0' -c "CREATE TABLE signed AS SELECT id, minhash_bits($1, $2) AS bits$3 FROM mail"
    signing=$took
    seconds sql -c 'CREATE INDEX ON signed USING sigfile (bits)' -c 'ANALYZE signed'
    indexing=$took
}
# cluster THRESHOLD METHOD [MORE]: table found, timed as clustering
cluster() {
    sql -c 'DROP TABLE IF EXISTS found' -c CHECKPOINT
    seconds sql -c "CREATE TABLE found AS SELECT * FROM bloom_clusters('signed', 'id', 'bits', $1, '$2'${3:-})"
}
# B-cubed of the mails of campaigns, and how many others were found with some mail
quality() {
    sql -F ' | ' -c "SELECT round(b_cubed_precision::numeric, 4), round(b_cubed_recall::numeric, 4), round(b_cubed_f1::numeric, 4),
        (SELECT count(*) FROM (SELECT key, count(*) OVER (PARTITION BY cluster) AS size FROM found) AS f JOIN mail ON id = key::int WHERE size > 1 AND campaign IS NULL)
        FROM bloom_quality('found', 'truth')"
}
sum() { awk "BEGIN { print $1 + $2 + $3 }"; }
tokens=('ident_words(body)' 'ident_shingles(ident_words(body), 2)' 'ident_shingles(ident_words(body), 3)')

echo 'B-cubed is of the mails of campaigns. Others found: mails of no campaign in some cluster. Seconds: at most two workers besides the leader.'
echo '| mails | seed | searched at | method | sign, s | index, s | clusters, s | together, s | precision | recall | F1 | others found |'
echo '|---|---|---|---|---|---|---|---|---|---|---|---|'
for mails in "${sizes[@]}"; do
    for seed in "${seeds[@]}"; do
        made "$mails" "$seed"
        sign "${tokens[0]}" 192 ''
        for by in '0.7 components' '0.7 centre' '0.6 components' '0.6 centre'; do
            read -r t method <<<"$by"
            cluster "$t" "$method"
            echo "| $mails | $seed | $t | $method | $signing | $indexing | $took | $(sum "$signing" "$indexing" "$took") | $(quality) |"
        done
        sign "${tokens[0]}" 192 ', ident_words(body) AS tokens'
        cluster 0.7 components ", verify => 'tokens'"
        echo "| $mails | $seed | 0.7, verified | components | $signing | $indexing | $took | $(sum "$signing" "$indexing" "$took") | $(quality) |"
    done
done

[[ -n ${BENCH_SHINGLES-1}${BENCH_PEERS-1} ]] || exit 0
made "${sizes[0]}" "${seeds[0]}"
if [[ -n ${BENCH_SHINGLES-1} ]]; then
    echo "similarity of two mails of a campaign, and clusters of ${sizes[0]} mails by centre from sketches of 512 bits; shingles need low thresholds, which nobody knows beforehand"
    echo '| tokens | lowest hundredth | median | of mails of no campaign, highest hundredth | threshold | precision | recall | F1 | others found |'
    echo '|---|---|---|---|---|---|---|---|---|'
    for w in 1 2 3; do
        similarity=$(sql -F ' | ' -c "WITH within AS (
                SELECT percentile_cont(ARRAY[0.01, 0.5]) WITHIN GROUP (ORDER BY ident_token_sim(ident_shingles(ident_words(a.body), $w), ident_shingles(ident_words(b.body), $w))) AS p
                FROM mail AS a JOIN mail AS b ON a.campaign = b.campaign AND a.id < b.id WHERE campaign_draw(a.id * 10000000::bigint + b.id, 1) < 300.0 / ${sizes[0]}),
            apart AS (
                SELECT percentile_cont(0.99) WITHIN GROUP (ORDER BY ident_token_sim(ident_shingles(ident_words(a.body), $w), ident_shingles(ident_words(b.body), $w))) AS p
                FROM mail AS a JOIN mail AS b ON b.id = a.id + 1 WHERE a.campaign IS NULL AND b.campaign IS NULL AND a.id < 50000)
            SELECT round(within.p[1]::numeric, 2), round(within.p[2]::numeric, 2), round(apart.p::numeric, 2) FROM within, apart")
        sign "${tokens[w - 1]}" 512 ''
        case $w in 1) thresholds='0.7 0.6' ;; 2) thresholds='0.7 0.3 0.25' ;; 3) thresholds='0.7 0.3 0.2' ;; esac
        for t in $thresholds; do
            cluster "$t" centre
            echo "| shingles of $w | $similarity | $t | $(quality) |"
        done
    done
fi

[[ -n ${BENCH_PEERS-1} ]] || exit 0
sql -F $'\t' -c 'SELECT id, body FROM mail' >"$SCRATCH/mails.tsv"
if peers_ready; then
    echo "peers: 128 permutations, one thread, components of the pairs whose estimate is 0.7 or more"
    echo '| | sign, s | index and search, s | precision | recall | F1 | others found |'
    echo '|---|---|---|---|---|---|---|'
    peers_python "$ROOT/benches/peers.py" pairs "$SCRATCH/mails.tsv" 0.7 "$SCRATCH/clusters.tsv" >"$SCRATCH/peers.tsv"
    sql -c 'CREATE TABLE by_peer (library text, cluster int, key int)' -c "\copy by_peer FROM '$SCRATCH/clusters.tsv'"
    while IFS=$'\t' read -r library signing took; do
        sql -c 'DROP TABLE IF EXISTS found' -c "CREATE TABLE found AS SELECT cluster, key FROM by_peer WHERE library = '${library% *}'"
        echo "| $library | $signing | $took | $(quality) |"
    done <"$SCRATCH/peers.tsv"
fi
if [[ $(sql -c "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_trgm'") == 1 ]]; then
    sql -c 'CREATE EXTENSION pg_trgm'
    seconds sql -c 'CREATE INDEX ON mail USING gin (body gin_trgm_ops)' -c 'ANALYZE mail'
    indexing=$took
    # one search for each of 30 mails; a join of all would be as many as there are mails
    seconds sql -c 'SET enable_seqscan = off' -c 'SET pg_trgm.similarity_threshold = 0.7' \
        -c 'SELECT count(*) FROM (SELECT body FROM mail WHERE campaign IS NOT NULL ORDER BY id LIMIT 30) AS asked, LATERAL (SELECT id FROM mail WHERE mail.body % asked.body OFFSET 0) AS f' >"$SCRATCH/trgm"
    echo "pg_trgm GIN: index in $indexing s; 30 mails searched at 0.7 in $took s, so all in $(awk -v s="$took" -v n="${sizes[0]}" 'BEGIN { printf "%.0f", s * n / 30 / 60 }') minutes"
fi
PGDATABASE=postgres sql -c 'DROP DATABASE bench'
