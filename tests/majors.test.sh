#!/usr/bin/env bash
# pg_upgrade from each older major that is there, one after another, up to this one: files of indexes are carried over, and what they answer is the same.
# A major is there if its PostgreSQL is, and a build of the extension for it that is not older than its sources. UPGRADE_FROM=15 says which one has to be.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"
# shellcheck source=tests/dump.sh
source "$(dirname "${BASH_SOURCE[0]}")/dump.sh"

# older MAJOR: what PostgreSQL and which kind of build there is for it; the newest library of those that are up to date.
older() {
    local kind config library newest=
    for kind in asserts '' quick; do
        config=$(present_postgres "$1" "$kind") || continue
        library=$ROOT/target/pg$1${kind:+-$kind}/bloom_ident.so
        [[ -e $library && -z $(cd "$ROOT" && find Cargo.lock core macros pg types access src sql -newer "$library" -not -type d -print -quit) ]] || continue
        [[ -z $newest || $library -nt $newest ]] || continue
        newest=$library
        printf -v found '%s %s' "$config" "${kind:-release}"
    done
    [[ -n $newest ]]
}

# The copies of installations: this major's is there.
declare -A bin=([$PG_MAJOR]=$PGBIN)
majors=()
for major in $(seq 15 $((PG_MAJOR - 1))); do
    found=
    # Another run in the same tree may be about to build it.
    for ((i = 0; i < 900; i++)); do
        ! older "$major" && [[ ${UPGRADE_FROM:-} == "$major" ]] || break
        ((i > 0)) || say "waiting for a build for PostgreSQL $major"
        sleep 1
    done
    if [[ -n $found ]]; then
        read -r config PROFILE <<<"$found"
        majors+=("$major")
        bin[$major]=$(PG_CONFIG=$config PG_MAJOR=$major PROFILE=$PROFILE SCRATCH=$SCRATCH/upgrade_$major; unset VALGRIND; stage_install >&2; echo "$PGBIN")
    elif [[ ${UPGRADE_FROM:-} == "$major" ]]; then
        die "there is no build for PostgreSQL $major, which the upgrade is to begin with"
    else
        warn "SKIPPED: pg_upgrade from $major, which is not there, or not up to date: make build PG=$major QUICK=1"
    fi
done
if ((${#majors[@]} == 0)); then
    warn 'SKIPPED: pg_upgrade is not tested, since there is no older major'
    exit
fi

# upgrade_cluster MAJOR: an empty one.
upgrade_cluster() {
    local checksums=
    PGBIN=${bin[$1]}
    (($1 < 18)) || checksums=--no-data-checksums
    cluster_init "upgrade$1" $checksums
    cluster_conf "upgrade$1" 'autovacuum = off'
}
upgrade_start() {
    PGBIN=${bin[$1]}
    cluster_start "upgrade$1"
    cluster_use "upgrade$1"
}

# Indexes with segments, tails, dead rows and several columns.
make_searched() {
    ask dumped "
        CREATE TABLE searched (id int PRIMARY KEY, tenant int, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED, bits minhash_bits(128));
        CREATE INDEX searched_sigfile ON searched USING sigfile (sig) WITH (tail_limit = 500);
        CREATE INDEX searched_gist ON searched USING gist (sig);
        CREATE INDEX searched_bits ON searched USING sigfile (bits);
        CREATE INDEX searched_minhash ON searched USING gist (bits);
        CREATE INDEX searched_tenant ON searched USING sigfile (tenant, sig);
        INSERT INTO searched (id, tenant, name, bits) SELECT i, i % 7, 'name ' || i % 3000, minhash_bits(ARRAY['a', 'b', (i % 50)::text], 128) FROM generate_series(1, 6000) AS i;
        UPDATE searched SET name = 'changed ' || id WHERE id % 20 = 0;
        DELETE FROM searched WHERE id % 11 = 0"
    ask dumped 'VACUUM searched'
    ask dumped "INSERT INTO searched (id, tenant, name, bits) SELECT i, i % 7, 'late ' || i, minhash_bits(ARRAY['a', i::text], 128) FROM generate_series(6001, 6300) AS i"
}
searches=(
    "sigfile sig % bloom_query(bloom_signature('name 77'), 0.6)"
    "sigfile sig = bloom_signature('late 6007')"
    "gist sig % bloom_query(bloom_signature('changed 40'), 0.6)"
    "bits bits % minhash_query(minhash_bits('{a,b,7}', 128), 0.9)"
    "minhash bits % minhash_query(minhash_bits('{a,b,7}', 128), 0.9)"
    "tenant tenant = 3 AND sig % bloom_query(bloom_signature('name 77'), 0.6)"
)
# answers: of each search by its index, whether it is what the table says, and how many there are.
answers() {
    local search index condition by_index by_table
    for search in "${searches[@]}"; do
        read -r index condition <<<"$search"
        by_index=$(ask dumped "SET enable_seqscan = off; BEGIN;
            DO \$\$ DECLARE i regclass; BEGIN FOR i IN SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 'searched'::regclass AND indexrelid <> 'searched_$index'::regclass AND NOT indisprimary LOOP
                EXECUTE 'DROP INDEX ' || i; END LOOP; END \$\$;
            EXPLAIN (COSTS OFF) SELECT id FROM searched WHERE $condition; SELECT array_agg(id ORDER BY id) FROM searched WHERE $condition; ROLLBACK")
        grep -qE "Scan (using|on) searched_$index( |$)" <<<"$by_index" || die "another plan for $search: $by_index"
        by_table=$(ask dumped "SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off; SELECT array_agg(id ORDER BY id) FROM searched WHERE $condition")
        [[ $by_table == '{'* && $(tail -n 1 <<<"$by_index") == "$by_table" ]] || die "$search: $by_index"$'\n'"not $by_table"
        echo "$search: $by_table"
    done
}
# sound: each index of sigfile, and of B-trees where amcheck is there.
sound() {
    ask dumped "SELECT c.oid::regclass, bloom_sigfile_check(c.oid::regclass) FROM pg_class AS c JOIN pg_am AS a ON a.oid = relam WHERE amname = 'sigfile' ORDER BY c.oid::regclass::text"
    [[ $(ask dumped "SELECT count(*) FROM pg_available_extensions WHERE name = 'amcheck'") == 1 ]] || return 0
    # The next major may be without.
    ask dumped "BEGIN; CREATE EXTENSION amcheck;
        SELECT count(bt_index_check(c.oid::regclass, true)::text) FROM pg_class AS c JOIN pg_am AS a ON a.oid = relam WHERE amname = 'btree' AND relnamespace = 'public'::regnamespace AND relpersistence = 'p';
        ROLLBACK" >/dev/null
}

oldest=${majors[0]}
upgrade_cluster "$oldest"
upgrade_start "$oldest"
make_dumped
make_searched
before=$(state dumped; answers)
checked=$(sound)
cluster_stop "upgrade$oldest"
from=$oldest
for major in "${majors[@]:1}" "$PG_MAJOR"; do
    upgrade_cluster "$major"
    AS_SERVER_DIR=$SCRATCH/upgrade$major as_server env -u PGHOST -u PGPORT -u PGDATABASE -u PGUSER "$PGBIN/pg_upgrade" -U postgres -b "${bin[$from]}" -B "$PGBIN" \
        -d "$(cluster_dir "upgrade$from")" -D "$(cluster_dir "upgrade$major")" -s "$SCRATCH/upgrade$major" >"$SCRATCH/upgrade.log" 2>&1 || die "pg_upgrade from $from to $major: $(tail -n 40 "$SCRATCH/upgrade.log")"
    upgrade_start "$major"
    ask dumped 'ANALYZE'
    after=$(state dumped; answers)
    diff <(echo "$before") <(echo "$after") || die "pg_upgrade from $from to $major: < before, > after"
    after=$(sound)
    diff <(echo "$checked") <(echo "$after") || die "pg_upgrade from $from to $major: indexes are not as they were"
    cluster_stop "upgrade$major"
    say "pg_upgrade from $from to $major: all is as it was"
    from=$major
done

# It goes on: what was carried over is written to, and decisions and merges hold. The old cluster, which pg_upgrade has copied, says what is expected.
upgrade_start "$oldest"
later dumped >"$SCRATCH/later" || true
grep -qx '1' "$SCRATCH/later" || die 'the merge was not taken back'
cluster_stop "upgrade$oldest"
upgrade_start "$PG_MAJOR"
later dumped >"$SCRATCH/later.upgraded" || true
diff "$SCRATCH/later" "$SCRATCH/later.upgraded" || die 'what was decided or merged before pg_upgrade differs'
ask dumped "INSERT INTO searched (id, tenant, name, bits) SELECT i, i % 7, 'name ' || i % 3000, minhash_bits(ARRAY['a', 'b', (i % 50)::text], 128) FROM generate_series(7001, 9000) AS i; DELETE FROM searched WHERE id % 13 = 0"
ask dumped 'VACUUM searched'
ask dumped "SELECT bloom_sigfile_merge('searched_sigfile')" >/dev/null
answers >/dev/null
[[ $(ask dumped "SELECT bloom_sigfile_check('searched_sigfile') = count(*) FROM searched") == t ]] || die 'the index that was carried over lacks rows'
sound >/dev/null
cluster_stop "upgrade$PG_MAJOR"
