#!/usr/bin/env bash
# The size of a sigfile index stays within twice that of a fresh one, of the most rows that were there at once, whatever is done
# to the table again and again; an old snapshot adds no more than three times the bytes of the rows entered meanwhile, and none once
# it is gone. What a killed load has taken comes back by a few VACUUMs, whatever stands above it. ROUNDS says how often.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

rounds=${ROUNDS:-20}

# No other test's transaction may keep pages from being used again.
cluster_init sigfile_space
cluster_conf sigfile_space 'autovacuum = off' 'synchronous_commit = off'
cluster_start sigfile_space
cluster_use sigfile_space

ask() { timeout -k 5 300 psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
# size INDEX: in kB
size() { ask -c "SELECT pg_relation_size('$1') / 1024"; }
# fresh ROWS: the size of an index that is built over so many rows, in kB
fresh() {
    ask -c "CREATE TABLE f AS SELECT * FROM source LIMIT $1" -c 'CREATE INDEX f_sig ON f USING sigfile (sig)'
    size f_sig
    ask -c 'DROP TABLE f'
}
sound() { ask -c "SELECT bloom_sigfile_check('$1')" >/dev/null; }
# within WHAT SIZE LIMIT
within() { (($2 <= $3)) || die "$1: $2 kB, more than $3"; }

ask <<'SQL'
CREATE EXTENSION bloom_ident;
CREATE TABLE source AS SELECT i AS id, bloom_signature(md5(i::text)) AS sig FROM generate_series(1, 40000) AS i;
SQL

say 'a fifth of the rows is updated'
ask -c 'CREATE TABLE u (id int, sig bloom, visits int DEFAULT 0)' -c 'INSERT INTO u SELECT id, sig FROM source LIMIT 5000' \
    -c 'CREATE INDEX u_sig ON u USING sigfile (sig)' -c 'CREATE INDEX ON u (visits)'
limit=$((2 * $(fresh 6000)))
for ((round = 1; round <= rounds; round++)); do
    ask -c "UPDATE u SET visits = visits + 1 WHERE id % 5 = $round % 5" -c 'VACUUM u'
    within "round $round" "$(size u_sig)" $limit
done
sound u_sig

say 'all rows are deleted and loaded again'
ask -c 'CREATE TABLE l (id int, sig bloom)' -c 'CREATE INDEX l_sig ON l USING sigfile (sig)'
limit=$((2 * $(fresh 40000)))
for ((round = 1; round <= rounds; round++)); do
    ask -c 'INSERT INTO l SELECT * FROM source'
    within "load $round" "$(size l_sig)" $limit
    ask -c 'DELETE FROM l' -c 'VACUUM l'
done
sound l_sig
# What the first VACUUM has freed, the second one cuts off.
ask -c 'CREATE TABLE after ()' -c 'INSERT INTO l SELECT * FROM source LIMIT 1' -c 'DELETE FROM l' -c 'VACUUM l'
ask -c 'INSERT INTO l SELECT * FROM source LIMIT 1' -c 'DELETE FROM l' -c 'VACUUM l'
within 'an index without rows' "$(size l_sig)" $((limit / 8))

say 'rows come one by one, and half of them go'
ask -c 'CREATE TABLE o (id int, sig bloom)' -c 'CREATE INDEX o_sig ON o USING sigfile (sig)'
for ((round = 1; round <= rounds; round += 5)); do
    # Each row is a transaction, as with autocommit.
    ask -c "DO \$\$ DECLARE r record; BEGIN FOR r IN SELECT * FROM source LIMIT 20000 LOOP INSERT INTO o VALUES (r.id, r.sig); COMMIT; END LOOP; END \$\$"
    most=$(ask -c 'SELECT count(*) FROM o')
    within "$most rows" "$(size o_sig)" $((2 * $(fresh "$most")))
    ask -c 'DELETE FROM o WHERE id % 2 = 0' -c 'VACUUM o'
    within "round $round" "$(size o_sig)" $((2 * $(fresh "$most")))
    ask -c 'DELETE FROM o' -c 'VACUUM o'
done
sound o_sig

say 'sessions are killed while they load and merge'
ask -c 'CREATE TABLE k (id int, sig bloom)' -c 'INSERT INTO k SELECT * FROM source' -c 'CREATE INDEX k_sig ON k USING sigfile (sig)'
for what in 'INSERT INTO k SELECT s.* FROM generate_series(1, 20), source AS s' "INSERT INTO k SELECT * FROM source LIMIT 8000; SELECT bloom_sigfile_merge('k_sig')"; do
    before=$(size k_sig)
    PGAPPNAME=victim psql -XAtq -c "$what" >/dev/null 2>&1 &
    # It has grown, or is done.
    for ((wait = 0; wait < 200 && $(size k_sig) < before + 20000; wait++)); do kill -0 $! 2>/dev/null || break; done
    victim=$(ask -c "SELECT pid FROM pg_stat_activity WHERE application_name = 'victim'")
    [[ -z $victim ]] || kill -KILL "$victim"
    wait $! || true
    for ((wait = 0; wait < 600; wait++)); do
        ! ask -c 'SELECT 1' >/dev/null 2>&1 || break
        sleep 0.1
    done
done
most=$(size k_sig)
((most > 20000)) || die "the load that was killed has left no more than $most kB"
ask -c 'CREATE INDEX k_fresh ON k USING sigfile (sig)'
limit=$((5 * $(size k_fresh) / 2 + 512))
ask -c 'DROP INDEX k_fresh'
# Pages are free to all when a transaction has begun after they were, and cut off by the VACUUM after that.
for round in 1 2 3 4 5; do ask -c 'VACUUM k' -c 'INSERT INTO k SELECT * FROM source LIMIT 1'; done
within "five VACUUMs after $most kB" "$(size k_sig)" $limit
sound k_sig
# A merge leaves some for the next rows.
for round in 1 2; do ask -c "SELECT bloom_sigfile_merge('k_sig')" -c 'INSERT INTO k SELECT * FROM source LIMIT 1' >/dev/null; done
before=$(size k_sig)
for round in 1 2 3; do ask -c "SELECT bloom_sigfile_merge('k_sig')" -c 'INSERT INTO k SELECT * FROM source LIMIT 1' >/dev/null; done
within 'merges of one row each' "$(size k_sig)" "$before"

say 'a snapshot is held'
ask -c 'CREATE TABLE h (id int, sig bloom, visits int DEFAULT 0)' -c 'INSERT INTO h SELECT id, sig FROM source LIMIT 20000' \
    -c 'CREATE INDEX h_sig ON h USING sigfile (sig)' -c 'CREATE INDEX ON h (visits)'
ask -c "UPDATE h SET visits = visits + 1 WHERE id % 5 = 0" -c 'VACUUM h'
exec {held}> >(psql -XAtq >/dev/null)
echo 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM h;' >&"$held"
until [[ $(ask -c "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'") == 1 ]]; do sleep 0.1; done
before=$(size h_sig)
entered=0
row=$(($(fresh 40000) * 1024 / 40000))
# Each of them makes the table longer, which VACUUM reads.
held_rounds=$((rounds < 250 ? rounds : 250))
for ((round = 1; round <= held_rounds; round++)); do
    ask -c "UPDATE h SET visits = visits + 1 WHERE id % 5 = $round % 5" -c 'VACUUM h'
    entered=$((entered + 4000))
    within "round $round with an old snapshot" "$(size h_sig)" $((before + 3 * entered * row / 1024))
done
echo 'COMMIT;' >&"$held"
exec {held}>&-
until [[ $(ask -c "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in%'") == 0 ]]; do sleep 0.1; done
for round in 1 2; do ask -c "UPDATE h SET visits = visits + 1 WHERE id % 5 = $round" -c 'VACUUM (PARALLEL 0) h'; done
after=$(size h_sig)
for ((round = 1; round <= rounds; round++)); do
    ask -c "UPDATE h SET visits = visits + 1 WHERE id % 5 = $round % 5" -c 'VACUUM (PARALLEL 0) h'
    within "round $round after it" "$(size h_sig)" "$after"
done
sound h_sig
say "with an old snapshot $before kB grew to $after, which was enough from then on"
