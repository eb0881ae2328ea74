#!/usr/bin/env bash
# A streaming standby answers as the primary does.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

ask() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

answers() {
    ask -c 'SET enable_seqscan = off; SET bloom_ident.threshold = 0.3' -c "
        SELECT array_agg(id ORDER BY id) FROM person WHERE sig % bloom_query(bloom_signature('name 77'), 0.3);
        SELECT array_agg(id ORDER BY id) FROM person WHERE sig % bloom_signature('name 1234');
        SELECT array_agg(id ORDER BY id) FROM person WHERE bloom_sim(sig, bloom_signature('changed 40')) > 0.9;
        SELECT array_agg(d) FROM (SELECT sig <-> bloom_signature('name 5') AS d FROM person ORDER BY sig <-> bloom_signature('name 5') LIMIT 20) AS n;
        SELECT count(*), bloom_bits(bloom_union(sig)) FROM person;
        SELECT count(*), md5(string_agg(c::text, ' ')) FROM bloom_clusters('person', 'id', 'sig', 0.9) AS c;
        SELECT md5(regexp_replace(bloom_report('person', 'id', 'sig', 0.9, format => 'text'), '[^\n]*\n$', ''))"
}

cluster_init primary
cluster_conf primary 'wal_level = replica'
cluster_start primary
cluster_use primary
ask -c "CREATE EXTENSION bloom_ident; CREATE TABLE person (id int, sig bloom); CREATE INDEX ON person USING gist (sig)"
cluster_prepare standby
as_server "$PGBIN/pg_basebackup" -h "$PGHOST" -p "$PGPORT" -U postgres -R -c fast -D "$(cluster_dir standby)"
cluster_start standby
ask -c "INSERT INTO person SELECT i, bloom_signature('name ' || i) FROM generate_series(1, 5000) AS i" \
    -c "UPDATE person SET sig = bloom_signature('changed ' || id) WHERE id % 20 = 0" -c "DELETE FROM person WHERE id % 7 = 0" -c 'VACUUM person' \
    -c "INSERT INTO person SELECT i, bloom_signature('late ' || i) FROM generate_series(5001, 6000) AS i"
position=$(ask -c 'SELECT pg_current_wal_lsn()')
primary=$(answers)
cluster_use standby
for ((i = 0; i < 300; i++)); do
    [[ $(ask -c "SELECT pg_last_wal_replay_lsn() >= '$position'") != t ]] || break
    sleep 0.1
done
[[ $(ask -c 'SELECT pg_is_in_recovery()') == t ]] || die 'the standby is none'
diff <(echo "$primary") <(answers) || die 'the standby answers differently'
[[ $(wc -l <<<"$primary") == 7 ]] || die "the primary's answers are incomplete"
