#!/usr/bin/env bash
# VACUUM merges while others enter rows and seal tails themselves. It sleeps between what it looks at and what it does, so that what it has chosen to merge has
# often been merged by then: nothing fails, and no row is missing or found twice. COMPACTION_SECONDS says how long.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

cluster_init compaction
cluster_conf compaction 'autovacuum = off' 'max_wal_size = 2GB'
cluster_start compaction
cluster_use compaction
sql -c 'CREATE EXTENSION bloom_ident' -c "
    CREATE TABLE person (id serial, sig bloom);
    CREATE INDEX by_sig ON person USING sigfile (sig) WITH (tail_limit = 64);
    CREATE PROCEDURE enter(seconds float8) LANGUAGE plpgsql AS \$\$
    DECLARE until timestamptz := clock_timestamp() + seconds * interval '1 s';
    BEGIN
        WHILE clock_timestamp() < until LOOP
            FOR i IN 1..10 LOOP INSERT INTO person (sig) VALUES (bloom_signature(md5(random()::text))); END LOOP;
            COMMIT;
            PERFORM pg_sleep(0.002);
        END LOOP;
    END \$\$;
    INSERT INTO person (sig) SELECT bloom_signature(md5(i::text)) FROM generate_series(1, 3000) AS i"

seconds=${COMPACTION_SECONDS:-8}
writing=()
for i in 1 2; do
    sql -c "CALL enter($seconds)" 2>"$SCRATCH/writing.$i" &
    writing+=($!)
done
vacuums=0
until [[ -z $(jobs -r) ]]; do
    sql -c "SET vacuum_cost_delay = '1ms'" -c 'SET vacuum_cost_limit = 1' -c 'DELETE FROM person WHERE id < (SELECT max(id) - 1000 FROM person)' -c 'VACUUM person' || die 'VACUUM fails beside inserts (see above)'
    vacuums=$((vacuums + 1))
done
for i in 1 2; do wait "${writing[i - 1]}" || die "an insert fails beside VACUUM: $(<"$SCRATCH/writing.$i")"; done
checked=$(sql -c "SELECT bloom_sigfile_check('by_sig')")
# By the index each row is found once. A bitmap would hide that it is there twice.
read -r rows found twice < <(sql -F ' ' -c 'SET enable_seqscan = off' -c 'SET enable_bitmapscan = off' -c "SELECT count(*), count(f.n), count(*) FILTER (WHERE f.n > 1)
    FROM person AS p, LATERAL (SELECT nullif(count(*) FILTER (WHERE q.id = p.id), 0) AS n FROM person AS q WHERE q.sig = p.sig) AS f")
((rows >= 1000 && found == rows && twice == 0 && checked == rows)) || die "of $rows rows the index has $found, $twice of them more than once; the check has seen $checked"
say "$rows rows, $vacuums times VACUUM"
