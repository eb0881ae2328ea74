#!/usr/bin/env bash
# Logical replication of the extension's types, as text and in binary: rows and indexes of the subscriber are what the publisher's are. Generated columns are
# computed there, or sent from 18 on. A constraint of the subscriber stops what the publisher lets in. Guards and registers: guard.test.sh, register_servers.test.sh.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

cluster_init publisher
cluster_conf publisher 'wal_level = logical' 'autovacuum = off'
cluster_start publisher
published() { PGHOST=$SCRATCH/publisher psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
ask() { psql -XAtq -v ON_ERROR_STOP=1 -d "$database" "$@"; }
address="host=$SCRATCH/publisher port=5432 user=postgres dbname=postgres"

tables="CREATE EXTENSION bloom_ident;
    CREATE TABLE stored (id int PRIMARY KEY, sig bloom, tokens bloom(7,43,0), bits minhash_bits(128), minima minhash(64,7), filter counting_bloom(7,43,3), query bloom_query, asked minhash_query, profile bloom[]);
    CREATE TABLE whole (id int, sig bloom, bits minhash_bits(128));
    ALTER TABLE whole REPLICA IDENTITY FULL;
    CREATE TABLE strict (id int PRIMARY KEY, sig bloom)"
indexes="CREATE INDEX stored_sigfile ON stored USING sigfile (sig) WITH (tail_limit = 300); CREATE INDEX stored_gist ON stored USING gist (sig);
    CREATE INDEX whole_sigfile ON whole USING sigfile (sig); CREATE INDEX whole_gist ON whole USING gist (sig);
    ALTER TABLE strict ADD CONSTRAINT unlike EXCLUDE USING sigfile ((bloom_query(sig, 0.9)) WITH %)"
generated='sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED'
published -c "$tables" -c "CREATE TABLE computed (id int PRIMARY KEY, name text, $generated)" -c 'CREATE PUBLICATION rows FOR TABLE stored, whole, strict, computed'
# fill FIRST LAST: rows of the publisher.
fill() {
    published -c "INSERT INTO stored SELECT i, bloom_signature('name ' || i), bloom_signature_of_tokens(ARRAY['a', i::text]), minhash_bits(ARRAY['a', i::text], 128), minhash(ARRAY[i::text], 64, 7), counting_signature('name ' || i),
            bloom_query(bloom_signature('name ' || i), 0.8), minhash_query(minhash_bits(ARRAY['a', i::text], 128), 0.5), ARRAY[bloom_signature(i::text), NULL] FROM generate_series($1, $2) AS i" \
        -c "INSERT INTO whole SELECT i, sig, bits FROM stored AS s (i) WHERE i BETWEEN $1 AND $2 AND i % 20 = 0" -c "INSERT INTO strict SELECT i, bloom_signature(md5(i::text)) FROM generate_series($1, $2, 20) AS i" \
        -c "INSERT INTO computed SELECT i, 'name ' || i FROM generate_series($1, $2) AS i"
}
fill 1 500
published -c 'INSERT INTO stored (id) VALUES (0)' -c 'INSERT INTO whole VALUES (0, NULL, NULL)'

state="SELECT count(*), md5(string_agg(s::text, ' ' ORDER BY id)) FROM stored AS s UNION ALL SELECT count(*), md5(string_agg(w::text, ' ' ORDER BY id)) FROM whole AS w
    UNION ALL SELECT count(*), md5(string_agg(s::text, ' ' ORDER BY id)) FROM strict AS s UNION ALL SELECT count(*), md5(string_agg(c::text, ' ' ORDER BY id)) FROM computed AS c"
# applied WHAT: until the subscriber has what the publisher has.
applied() {
    local i wanted
    wanted=$(published -c "$state")
    for ((i = 0; i < 300; i++)); do
        [[ $(ask -c "$state") != "$wanted" ]] || return 0
        sleep 0.1
    done
    die "$database, $1: the subscriber has $(ask -c "$state"), not $wanted: $(tail -n 5 "$SCRATCH/main/log")"
}
# sound: what the subscriber's indexes answer is what its tables say.
sound() {
    local search index
    [[ $(ask -c "SELECT bloom_sigfile_check('stored_sigfile') = count(sig), bloom_sigfile_check('whole_sigfile') = (SELECT count(sig) FROM whole) FROM stored") == 't|t' ]] || die "$database: the subscriber's index lacks rows"
    for index in sigfile gist; do
        for search in "sig % bloom_query(bloom_signature('name 77'), 0.6)" "sig = bloom_signature('changed 40')"; do
            ask -c "SET enable_seqscan = off; BEGIN; DROP INDEX stored_$([[ $index == gist ]] && echo sigfile || echo gist); EXPLAIN (COSTS OFF) SELECT id FROM stored WHERE $search;
                SELECT array_agg(id ORDER BY id) FROM stored WHERE $search; ROLLBACK" >"$SCRATCH/logical.answer"
            grep -qE "Scan (using|on) stored_$index" "$SCRATCH/logical.answer" || die "another plan: $(<"$SCRATCH/logical.answer")"
            [[ $(tail -n 1 "$SCRATCH/logical.answer") == "$(published -c "SELECT array_agg(id ORDER BY id) FROM stored WHERE $search")" ]] || die "$database, $index: $search: $(<"$SCRATCH/logical.answer")"
        done
    done
}

for kind in text binary; do
    database=by_$kind
    createdb "$database"
    ask -c "$tables" -c "$indexes" -c "CREATE TABLE computed (id int PRIMARY KEY, name text, $generated)" \
        -c "CREATE SUBSCRIPTION $database CONNECTION '$address' PUBLICATION rows WITH (binary = $([[ $kind == binary ]] && echo true || echo false))" 2>"$SCRATCH/logical.log" || die "$(<"$SCRATCH/logical.log")"
done
for database in by_text by_binary; do applied 'first copy'; done
fill 501 1000
published -c "UPDATE stored SET sig = bloom_signature('changed ' || id), filter = counting_signature('changed') WHERE id % 20 = 0" -c 'DELETE FROM stored WHERE id % 7 = 0' -c "UPDATE computed SET name = 'changed ' || id WHERE id % 3 = 0" \
    -c "UPDATE whole SET bits = NULL WHERE id % 40 = 0" -c "UPDATE whole SET sig = bloom_signature('changed ' || id) WHERE id % 100 = 0" -c 'DELETE FROM whole WHERE id % 60 = 0' -c "INSERT INTO stored SELECT -i, bloom_signature('changed 40') FROM generate_series(1, 3) AS i"
for database in by_text by_binary; do
    applied 'changes'
    sound
done

# What only the publisher lets in stops the subscriber, which says why, and goes on when it may.
database=by_text
published -c "INSERT INTO strict VALUES (5000, bloom_signature(md5('21')))"
message='conflicting key value violates exclusion constraint "unlike"'
for ((i = 0; i < 300; i++)); do
    [[ $(ask -c "SELECT apply_error_count > 0 FROM pg_stat_subscription_stats WHERE subname = 'by_text'") != t ]] || break
    sleep 0.1
done
grep -A 3 "ERROR:  $message" "$SCRATCH/main/log" | grep -q 'CONTEXT:  processing remote data.* for replication target relation "public.strict"' || die "the subscriber's constraint does not say what it stops: $(tail -n 5 "$SCRATCH/main/log")"
[[ $(ask -c 'SELECT count(*) FROM strict WHERE id = 5000') == 0 ]] || die 'the subscriber has what its constraint forbids'
for database in by_text by_binary; do
    ask -c 'DELETE FROM strict WHERE id = 21'
    published -c 'DELETE FROM strict WHERE id = 21'
    applied 'after the conflict'
done

# ends NAME...: subscriptions, and the databases of the same names.
ends() {
    for database; do
        ask -c 'SET client_min_messages = warning' -c "DROP SUBSCRIPTION $database"
        dropdb "$database"
    done
}
# The server has few workers for subscriptions.
ends by_text by_binary

# From 18 on a generated column may be sent.
if ((PG_MAJOR >= 18)); then
    published -c "CREATE PUBLICATION sent FOR TABLE computed WITH (publish_generated_columns = stored)"
    for kind in text binary; do
        database=sent_$kind
        createdb "$database"
        ask -c 'CREATE EXTENSION bloom_ident' -c 'CREATE TABLE computed (id int PRIMARY KEY, name text, sig bloom)' -c 'CREATE INDEX computed_sigfile ON computed USING sigfile (sig)' \
            -c "CREATE SUBSCRIPTION $database CONNECTION '$address' PUBLICATION sent WITH (binary = $([[ $kind == binary ]] && echo true || echo false))" 2>"$SCRATCH/logical.log" || die "$(<"$SCRATCH/logical.log")"
    done
    state="SELECT count(*), md5(string_agg(c::text, ' ' ORDER BY id)) FROM computed AS c"
    for database in sent_text sent_binary; do applied 'first copy'; done
    published -c "UPDATE computed SET name = 'sent ' || id WHERE id % 4 = 0" -c 'DELETE FROM computed WHERE id % 5 = 0'
    for database in sent_text sent_binary; do
        applied 'a generated column that is sent'
        [[ $(ask -c "SELECT bloom_sigfile_check('computed_sigfile') = count(sig) AND count(*) = count(sig) FROM computed") == t ]] || die 'a generated column does not arrive'
    done
    ends sent_text sent_binary
fi

cluster_stop publisher
