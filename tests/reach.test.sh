#!/usr/bin/env bash
# How much of what is similar a search by sketches reaches, on generated messages: of 20 hash families each finds nearly all near-duplicates, next to
# nothing else, and what remains after the comparison of the tokens is right. That campaigns of mails are found.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

createdb reach
export PGDATABASE=reach PGOPTIONS='-c client_min_messages=warning'

ask() { timeout -k 5 120 psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

# is EXPECTED WHAT QUERY
is() {
    local found
    found=$(ask -c "$3")
    [[ $found == "$1" ]] || die "$2: $found instead of $1"
    echo "$2: ok"
}

# Messages of 20 to 60 words, of which two in three have up to five near-duplicates.
ask -c 'CREATE EXTENSION bloom_ident' -f "$ROOT/tests/data/campaigns.sql" -c "
    CREATE TABLE message AS
        SELECT i AS id, ident_shingles(ident_words(campaign_body(11, CASE WHEN i % 3 = 0 THEN i ELSE i / 6 END, i, 20, 60, CASE WHEN i % 2 = 0 THEN 0.03 ELSE 0 END)), 3) AS tokens
        FROM generate_series(1, 2400) AS i" \
    -f "$ROOT/tests/data/reach.sql"
is 't' 'several hundred near-duplicates' 'SELECT count(*) BETWEEN 300 AND 2000 FROM pair WHERE similarity < 1'
ask -c "SELECT format('recall %s on the average, %s at least; %s candidates a pair at most', round(avg(recall)::numeric, 4), round(min(recall)::numeric, 4), round(max(candidates::numeric / pairs), 3)) FROM reach"
is 't' 'recall over 20 families' 'SELECT count(*) = 20 AND avg(recall) >= 0.995 AND min(recall) >= 0.98 FROM reach'
is 't' 'candidates' 'SELECT max(candidates::float8 / pairs) <= 1.2 FROM reach'
is '0|0' 'after the comparison of tokens' 'SELECT sum(wrong), sum(pairs - missing - remaining) FROM reach'

# One series of campaigns, 2,940 of 4,000 mails. No mail of another sort is in a cluster.
ask -c 'CREATE TABLE mail AS SELECT id, campaign, minhash_bits(ident_words(campaign_body(5, text_number, id, 50, 100, 0.3)), 192) AS bits FROM campaign_plan(4000, 1)' \
    -c 'CREATE INDEX ON mail USING sigfile (bits)' -c "CREATE TABLE found AS SELECT * FROM bloom_clusters('mail', 'id', 'bits', 0.6, 'components')" \
    -c 'CREATE VIEW truth AS SELECT id AS key, campaign AS cluster FROM mail WHERE campaign IS NOT NULL'
is '250|2940|0' 'campaigns' 'SELECT count(DISTINCT campaign), count(campaign), (SELECT count(*) FROM found JOIN mail ON id = key::int WHERE campaign IS NULL) FROM mail'
ask -c "SELECT format('B-cubed F1 %s', round(b_cubed_f1::numeric, 4)) FROM bloom_quality('found', 'truth')"
is 't' 'clusters are campaigns' "SELECT b_cubed_f1 >= 0.98 FROM bloom_quality('found', 'truth')"
dropdb reach
