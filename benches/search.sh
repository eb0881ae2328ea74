#!/usr/bin/env bash
# Similarity search over names: sigfile and gist_bloom_ops against the sequential scan and whatever peers the
# PostgreSQL in use has (pg_trgm; RDKit and pgvector on the same bits). BENCH_ROWS: sizes. Then the search in one
# tenant's rows of the last size.
# Milliseconds a prepared statement: medians over queries of the table, warm, one backend.
# pg_trgm's similarity is another measure, so that its rows are not the same; RDKit's and pgvector's are.

# The server's parameters look like the shell's.
# shellcheck disable=SC2016

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

has() { [[ $(sql -c "SELECT count(*) FROM pg_extension WHERE extname = '$1'") == 1 ]]; }
missing() { printf '| %-34s | cannot be created in this PostgreSQL\n' "$1"; }

dropdb --if-exists bench 2>/dev/null
createdb bench
export PGDATABASE=bench PGOPTIONS='-c max_parallel_workers_per_gather=0 -c jit=off -c client_min_messages=warning'
load_febrl
sql -c "
    CREATE FUNCTION median_ms(statement text) RETURNS numeric LANGUAGE plpgsql AS \$\$
    DECLARE
        q record; started timestamptz; times float8[] := '{}';
    BEGIN
        EXECUTE 'DEALLOCATE ALL';
        PERFORM set_config('plan_cache_mode', 'force_generic_plan', true);
        EXECUTE 'PREPARE q(bloom, text, int) AS ' || statement;
        FOR q IN SELECT * FROM asked ORDER BY id LOOP
            FOR i IN 1..4 LOOP
                started := clock_timestamp();
                EXECUTE format('EXECUTE q(%L, %L, %s)', q.sig, q.name, q.id);
                IF i > 1 THEN times := times || extract(epoch FROM clock_timestamp() - started)::float8 * 1000; END IF;
            END LOOP;
        END LOOP;
        RETURN (SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY t)::numeric, 3) FROM unnest(times) AS t);
    END \$\$"
# The script of RDKit before 4.5.1 gives two operators one commutator, which newer minor releases of PostgreSQL refuse. In the
# scratch copy the operators @= of molecules, which are not used here, become their own, as in later releases.
for script in "$SCRATCH/stage$("$PG_CONFIG" --sharedir)"/extension/rdkit--*.sql; do
    [[ ! -e $script ]] || sed -i "/^CREATE OPERATOR @= (/,/;/ { s/COMMUTATOR = '='/COMMUTATOR = '@='/; /NEGATOR/d }" "$script"
done
for peer in pg_trgm rdkit vector; do sql -c "CREATE EXTENSION $peer" || true; done

# build NAME INDEX_DDL: the first columns of a row.
build() {
    local started=${EPOCHREALTIME/./}
    [[ -z $2 ]] || sql -c "SET maintenance_work_mem = '256MB'; CREATE INDEX i ON $2"
    started=$(((${EPOCHREALTIME/./} - started) / 1000))
    printf '| %-34s | %8s | %6s |' "$1" "${2:+$started}" \
        "${2:+$(sql -c "SELECT pg_relation_size('i') / 1048576")}"
}

# cells SETTINGS SEARCH NEAREST INSERT: SEARCH has :t for the threshold.
cells() {
    local t
    for t in 0.9 0.8 0.7 0.6 0.5; do
        printf ' %8s |' "${2:+$(sql -c "${1//:t/$t}" -c "SELECT median_ms(\$s\$${2//:t/$t}\$s\$)" | tail -n 1)}"
    done
    printf ' %8s |' "${3:+$(sql -c "${1//:t/0.5}" -c "SELECT median_ms(\$s\$$3\$s\$)" | tail -n 1)}"
    printf ' %8s |\n' "${4:+$(sql -c "${1//:t/0.85}" -c "SELECT median_ms(\$s\$WITH found AS MATERIALIZED (${2//:t/0.85}) $4 FROM (SELECT count(*) FROM found) AS f\$s\$)" | tail -n 1)}"
    # queries must not find what was inserted for them
    sql -c 'DELETE FROM person WHERE id = 0' -c 'DROP INDEX IF EXISTS i' -c 'VACUUM person'
}

for rows in ${BENCH_ROWS:-100000 1000000}; do
    sql -c 'DROP TABLE IF EXISTS person, asked' -c "
        CREATE TABLE person AS SELECT row_number() OVER ()::int AS id, name, bloom_signature(name) AS sig FROM (
            SELECT g.given_name || ' ' || s.surname AS name
            FROM (SELECT given_name, row_number() OVER (ORDER BY rec_id) AS n FROM febrl WHERE given_name IS NOT NULL) AS g
            JOIN (SELECT surname, row_number() OVER (ORDER BY rec_id DESC) AS n FROM febrl WHERE surname IS NOT NULL) AS s
              ON (g.n * 7 + s.n) % greatest(1, 22000000 / $rows) = 0
            ORDER BY (g.n * 31 + s.n * 17) % 1009 LIMIT $rows) AS names" \
        -c "CREATE TABLE asked AS SELECT id, name, sig FROM person WHERE id % ($rows / 25) = 1" -c 'VACUUM ANALYZE'
    ! has rdkit || sql -c 'ALTER TABLE person ADD fp bfp' -c 'UPDATE person SET fp = bfp_from_binary_text(substring(sig::bytea FROM 13))' -c 'VACUUM FULL person'
    ! has vector || sql -c 'ALTER TABLE person ADD bits bit(301)' -c 'UPDATE person SET bits = sig::bit varying::bit(301)' -c 'VACUUM FULL person'
    sql -c 'VACUUM ANALYZE'
    echo "$(sql -c 'SELECT count(*) FROM person') names, signatures of 301 bits, PostgreSQL $(sql -c 'SHOW server_version')"
    echo '|                                    | build ms |     MB |      0.9 |      0.8 |      0.7 |      0.6 |      0.5 | nearest 10 | checked insert at 0.85 |'
    insert='INSERT INTO person (id, name, sig) SELECT 0, $2, $1'
    near='SELECT id FROM person ORDER BY sig <-> $1 LIMIT 10'
    build 'bloom_ident, sequential scan' ''
    cells 'SET enable_indexscan = off; SET enable_bitmapscan = off' 'SELECT id FROM person WHERE bloom_sim(sig, $1) >= :t' "$near" "$insert"
    build 'bloom_ident, sigfile' 'person USING sigfile (sig)'
    cells 'SET enable_seqscan = off' 'SELECT id FROM person WHERE bloom_sim(sig, $1) >= :t' "$near" "$insert"
    build 'bloom_ident, gist_bloom_ops' 'person USING gist (sig)'
    cells 'SET enable_seqscan = off' 'SELECT id FROM person WHERE sig % bloom_query($1, :t)' "$near" "$insert"
    if has rdkit; then
        build 'RDKit GiST, same bits' 'person USING gist (fp)'
        fp='bfp_from_binary_text(substring($1::bytea FROM 13))'
        cells 'SET enable_seqscan = off; SET rdkit.tanimoto_threshold = :t' "SELECT id FROM person WHERE fp % $fp" "SELECT id FROM person ORDER BY fp <%> $fp LIMIT 10" "${insert/, sig) SELECT 0, \$2, \$1/, sig, fp) SELECT 0, \$2, \$1, $fp}"
    else
        missing 'RDKit GiST, same bits'
    fi
    if has vector; then
        # in a subquery, so that it is converted once and not for each row
        bits='(SELECT $1::bit varying::bit(301))'
        build 'pgvector, sequential, same bits' ''
        cells 'SET enable_indexscan = off' "SELECT id FROM person WHERE bits <%> $bits <= 1 - :t" "SELECT id FROM person ORDER BY bits <%> $bits LIMIT 10" ''
        if [[ -n ${BENCH_HNSW:-} ]]; then
            build 'pgvector HNSW (approximate)' 'person USING hnsw (bits bit_jaccard_ops)'
            cells 'SET enable_seqscan = off' '' "SELECT id FROM person ORDER BY bits <%> $bits LIMIT 10" ''
        fi
    else
        missing 'pgvector, same bits'
    fi
    if has pg_trgm; then
        insert='INSERT INTO person (id, name) SELECT 0, $2'
        build 'pg_trgm GIN' 'person USING gin (name gin_trgm_ops)'
        cells 'SET enable_seqscan = off; SET pg_trgm.similarity_threshold = :t' 'SELECT id FROM person WHERE name % $2' '' "$insert"
        build 'pg_trgm GiST (siglen 64)' 'person USING gist (name gist_trgm_ops (siglen = 64))'
        cells 'SET enable_seqscan = off; SET pg_trgm.similarity_threshold = :t' 'SELECT id FROM person WHERE name % $2' 'SELECT id FROM person ORDER BY name <-> $2 LIMIT 10' "$insert"
    else
        missing 'pg_trgm'
    fi
done
# The nearest far down the list, of the last size: what does not fit into work_mem is sorted in temporary files.
echo 'nearest of the last size, ms: the index, and the table sorted'
sql -c 'CREATE INDEX i ON person USING sigfile (sig)'
# far SETTINGS LIMIT
far() {
    sql -c "SET enable_bitmapscan = off; $1" -c "SELECT median_ms(\$s\$SELECT count(*) FROM (SELECT id FROM person ORDER BY sig <-> \$1 LIMIT $2) AS f\$s\$)" | tail -n 1
}
for memory in 64kB 4MB; do
    for many in 10 1000 10000 $((rows * 3 / 10)); do
        echo "| work_mem = $memory, LIMIT $many | $(far "SET work_mem = '$memory'; SET enable_seqscan = off; SET enable_sort = off" "$many") | $(far "SET work_mem = '$memory'; SET enable_indexscan = off; SET enable_indexonlyscan = off" "$many") |"
    done
done
sql -c 'DROP INDEX i'
if [[ $(sql -c "SELECT count(*) FROM pg_available_extensions WHERE name = 'btree_gist'") == 1 ]]; then
    for column in fp bits; do sql -c "ALTER TABLE person DROP COLUMN IF EXISTS $column CASCADE"; done
    sql -c 'CREATE EXTENSION btree_gist' -c 'ALTER TABLE person ADD tenant int' -c 'UPDATE person SET tenant = abs(hashint4(id)) % 100' \
        -c 'VACUUM FULL person' -c 'VACUUM ANALYZE person'
    echo "one tenant of 100, searched at 0.8, ms"
    # tenant INDEX CONDITION
    tenant() {
        sql -c "CREATE INDEX i ON person USING $1"
        echo "| $1 | $(sql -c 'SET enable_seqscan = off' -c "SELECT median_ms(\$s\$SELECT id FROM person WHERE tenant = abs(hashint4(\$3)) % 100 AND $2\$s\$)") |"
        sql -c 'DROP INDEX i'
    }
    tenant 'sigfile (tenant, sig)' 'sig % bloom_query($1, 0.8)'
    tenant 'gist (tenant, sig)' 'sig % bloom_query($1, 0.8)'
    tenant 'btree (tenant)' 'bloom_sim(sig, $1) >= 0.8'
else
    echo 'btree_gist is not installed'
fi
dropdb bench
