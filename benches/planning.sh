#!/usr/bin/env bash
# What planning costs: a look-up by key, similarity searches, prepared statements, and joins over 100 partitions. BENCH_ROWS: rows of
# the table and of all partitions together.
# Milliseconds of planning as EXPLAIN (SUMMARY) says: of the first statement of its kind in a session, and the median of those that follow, each for
# another signature of the table. One backend, warm buffers.

# The server's parameters look like the shell's.
# shellcheck disable=SC2016

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

rows=${BENCH_ROWS:-1000000}
dropdb --if-exists bench 2>/dev/null
createdb bench
export PGDATABASE=bench PGOPTIONS='-c max_parallel_workers_per_gather=0 -c jit=off -c client_min_messages=warning'
load_febrl
sql -c "
    CREATE FUNCTION planning_ms(statement text) RETURNS float8 LANGUAGE plpgsql AS \$\$
    DECLARE
        plan json;
    BEGIN
        EXECUTE 'EXPLAIN (SUMMARY, FORMAT json) ' || statement INTO plan;
        RETURN plan->0->>'Planning Time';
    END \$\$" \
    -c "CREATE FUNCTION estimated_rows(statement text) RETURNS float8 LANGUAGE plpgsql AS \$\$
    DECLARE
        plan json;
    BEGIN
        EXECUTE 'EXPLAIN (FORMAT json) ' || statement INTO plan;
        RETURN plan->0->'Plan'->>'Plan Rows';
    END \$\$" \
    -c "
    CREATE TABLE person AS SELECT row_number() OVER ()::int AS id, name, bloom_signature(name) AS sig FROM (
        SELECT g.given_name || ' ' || s.surname AS name
        FROM (SELECT given_name, row_number() OVER (ORDER BY rec_id) AS n FROM febrl WHERE given_name IS NOT NULL) AS g
        JOIN (SELECT surname, row_number() OVER (ORDER BY rec_id DESC) AS n FROM febrl WHERE surname IS NOT NULL) AS s
          ON (g.n * 7 + s.n) % greatest(1, 22000000 / $rows) = 0
        ORDER BY (g.n * 31 + s.n * 17) % 1009 LIMIT $rows) AS names" \
    -c 'ALTER TABLE person ADD PRIMARY KEY (id)' -c 'CREATE INDEX ON person USING sigfile (sig)' \
    -c "CREATE TABLE asked AS SELECT id, sig FROM person WHERE id % ($rows / 2000) = 1" \
    -c 'CREATE TABLE part (id int, sig bloom) PARTITION BY HASH (id)' \
    -c "DO \$\$ BEGIN FOR i IN 0..99 LOOP EXECUTE format('CREATE TABLE part%s PARTITION OF part FOR VALUES WITH (MODULUS 100, REMAINDER %s)', i, i); END LOOP; END \$\$" \
    -c 'INSERT INTO part SELECT id, sig FROM person' -c 'CREATE INDEX ON part USING sigfile (sig)' -c 'VACUUM ANALYZE' \
    -c 'SELECT count(*) FROM person WHERE sig IS NOT NULL' >/dev/null

# cell BEFORE STATEMENT [QUERIES]: two columns; BEFORE is said once in the session, $1 is a signature and $2 a key.
cell() {
    sql -c "$1" -c "
        WITH q AS MATERIALIZED (SELECT id, planning_ms(replace(replace(\$s\$$2\$s\$, '\$1', quote_literal(sig) || '::bloom'), '\$2', id::text)) AS t
                                FROM (SELECT * FROM asked ORDER BY id LIMIT ${3:-2000}) AS a)
        SELECT format('%8s | %8s |', round(min(t) FILTER (WHERE id = (SELECT min(id) FROM q))::numeric, 3),
                      round(percentile_cont(0.5) WITHIN GROUP (ORDER BY t) FILTER (WHERE id > (SELECT min(id) FROM q))::numeric, 3)) FROM q" | tail -n 1
}
# line NAME BEFORE STATEMENT [QUERIES]
line() { printf '| %-58s | %s\n' "$1" "$(cell "$2" "$3" "${4:-}")"; }

echo "$(sql -c 'SELECT count(*) FROM person') names, signatures of 301 bits, PostgreSQL $(sql -c 'SHOW server_version')"
echo '| planning, ms                                               |    first |     then |'
line 'id = 1' '' 'SELECT id FROM person WHERE id = $2'
line 'sig % bloom_query(…, 0.9)' '' 'SELECT id FROM person WHERE sig % bloom_query($1, 0.9)'
line 'bloom_sim(sig, …) >= 0.9' '' 'SELECT id FROM person WHERE bloom_sim(sig, $1) >= 0.9'
line 'bloom_sim(sig, …) >= 0.5' '' 'SELECT id FROM person WHERE bloom_sim(sig, $1) >= 0.5'
line 'ORDER BY sig <-> … LIMIT 10' '' 'SELECT id FROM person ORDER BY sig <-> $1 LIMIT 10'
prepare='PREPARE q(bloom) AS SELECT id FROM person WHERE sig % bloom_query($1, 0.9)'
for mode in force_custom_plan force_generic_plan auto; do
    line "prepared, sig % bloom_query(\$1, 0.9), $mode" "SET plan_cache_mode = $mode; $prepare" 'EXECUTE q($1)'
done
line '100 partitions, sig % bloom_query(…, 0.9)' '' 'SELECT id FROM part WHERE sig % bloom_query($1, 0.9)' 30
line 'join of 2,000 rows with 100 partitions, bloom_sim >= 0.9' '' 'SELECT count(*) FROM asked JOIN part ON bloom_sim(part.sig, asked.sig) >= 0.9' 30
line 'join of a row with 100 partitions, bloom_sim >= 0.9' '' 'SELECT count(*) FROM asked JOIN part ON bloom_sim(part.sig, asked.sig) >= 0.9 WHERE asked.id = $2' 30
line 'rows that have a match in 100 partitions, bloom_sim >= 0.9' '' 'SELECT count(*) FROM asked WHERE EXISTS (SELECT FROM part WHERE bloom_sim(part.sig, asked.sig) >= 0.9)' 30

# What the posting lists of the query's own values cost, and what they are for.
sql -c "
    CREATE TABLE clustered AS SELECT i, bloom_signature('common name ' || md5((i % 40)::text)) AS sig FROM generate_series(1, 26 * 40) AS i
        UNION ALL SELECT i, bloom_signature(md5(i::text)) FROM generate_series(26 * 40 + 1, $rows) AS i" \
    -c 'TRUNCATE asked' -c 'INSERT INTO asked SELECT i, sig FROM clustered WHERE i <= 40' -c 'VACUUM ANALYZE'
# clustered NAME
clustered() {
    line "$1" '' 'SELECT i FROM clustered WHERE sig % bloom_query($1, 0.9)'
    echo "estimated rows, of 26 that are equal in $rows: $(sql -c "SELECT string_agg(DISTINCT estimated_rows(format('SELECT i FROM clustered WHERE sig %% bloom_query(%L::bloom, 0.9)', sig))::text, ', ') FROM asked")"
}
clustered 'one of 26 that are equal, no index'
sql -c 'CREATE INDEX ON clustered USING sigfile (sig)'
clustered 'one of 26 that are equal, sigfile'
dropdb bench
