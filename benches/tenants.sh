#!/usr/bin/env bash
# A search within a tenant, in a table of many tenants with an index on (tenant, sig), against the same search in a table of that
# tenant's rows alone; and the same index by GiST, where btree_gist is installed. BENCH_ROWS: rows. BENCH_TENANTS: tenants.
# Microseconds of processor time a search (/proc/self/schedstat), of a prepared statement, warm, one backend: the least of several
# rounds, in which the ways take turns.

# The server's parameters look like the shell's.
# shellcheck disable=SC2016

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"

rows=${BENCH_ROWS:-1000000} tenants=${BENCH_TENANTS:-1000} rounds=${BENCH_ROUNDS:-5}
rows=${rows##* }
dropdb --if-exists bench 2>/dev/null
createdb bench
export PGDATABASE=bench PGOPTIONS='-c max_parallel_workers_per_gather=0 -c jit=off -c client_min_messages=warning -c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_bitmapscan=off'
load_febrl
sql -c "
    CREATE TABLE person AS SELECT id, (abs(hashint8(id)) % $tenants)::int AS tenant, bloom_signature(name) AS sig FROM (
        SELECT row_number() OVER () AS id, g.given_name || ' ' || s.surname AS name
        FROM (SELECT given_name, row_number() OVER (ORDER BY rec_id) AS n FROM febrl WHERE given_name IS NOT NULL) AS g
        JOIN (SELECT surname, row_number() OVER (ORDER BY rec_id DESC) AS n FROM febrl WHERE surname IS NOT NULL) AS s
          ON (g.n * 7 + s.n) % greatest(1, 22000000 / $rows) = 0
        ORDER BY (g.n * 31 + s.n * 17) % 1009 LIMIT $rows) AS names" -c "
    CREATE FUNCTION cpu_us() RETURNS float8 LANGUAGE sql VOLATILE AS \$\$ SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 / 1000 \$\$" -c "
    CREATE TABLE asked AS SELECT id, tenant, sig FROM (SELECT *, row_number() OVER (PARTITION BY tenant ORDER BY id) AS n FROM person WHERE tenant IN (3, 14, 15, 92, 65)) AS f WHERE n <= 20"
# search NAME FROM-AND-WHERE: a function that searches for every signature that is asked for.
search() {
    sql -c "CREATE OR REPLACE FUNCTION $1(t float8, of_tenant int) RETURNS bigint LANGUAGE plpgsql AS \$\$
        DECLARE q record; n bigint; found bigint := 0;
        BEGIN
            FOR q IN SELECT * FROM asked WHERE tenant = of_tenant LOOP
                SELECT count(*) FROM $2 INTO n;
                found := found + n;
            END LOOP;
            RETURN found;
        END \$\$"
}
sql -c "CREATE INDEX person_tenant ON person USING sigfile (tenant, sig)" -c 'VACUUM ANALYZE person'
search within_many "person WHERE tenant = q.tenant AND sig % bloom_query(q.sig, t)"
for tenant in 3 14 15 92 65; do
    sql -c "CREATE TABLE person_$tenant AS SELECT * FROM person WHERE tenant = $tenant" -c "CREATE INDEX ON person_$tenant USING sigfile (sig)" -c "VACUUM ANALYZE person_$tenant"
    search "alone_$tenant" "person_$tenant WHERE sig % bloom_query(q.sig, t)"
done
ways=(within alone)
sql -c "CREATE FUNCTION within(t float8, of_tenant int) RETURNS bigint LANGUAGE sql AS 'SELECT within_many(t, of_tenant)'" -c "
    CREATE FUNCTION alone(t float8, of_tenant int) RETURNS bigint LANGUAGE plpgsql AS \$\$ DECLARE n bigint; BEGIN EXECUTE format('SELECT alone_%s(\$1, \$2)', of_tenant) USING t, of_tenant INTO n; RETURN n; END \$\$"
if [[ $(sql -c "SELECT count(*) FROM pg_available_extensions WHERE name = 'btree_gist'") == 1 ]]; then
    sql -c 'CREATE EXTENSION btree_gist' -c 'CREATE TABLE copied AS TABLE person' -c 'CREATE INDEX ON copied USING gist (tenant, sig)' -c 'VACUUM ANALYZE copied'
    search gist "copied WHERE tenant = q.tenant AND sig % bloom_query(q.sig, t)"
    ways+=(gist)
fi
echo "$(sql -c 'SELECT count(*) FROM person') names of $(sql -c 'SELECT count(DISTINCT tenant) FROM person') tenants, PostgreSQL $(sql -c 'SHOW server_version')"
echo "index: $(sql -c "SELECT pg_relation_size('person_tenant') / 1048576") MB"
printf '| µs of processor time | %s | times as much |\n' "$(printf '%s | ' "${ways[@]}" | sed 's/ | $//')"
for t in 0.9 0.8 0.6; do
    sql -c "
        CREATE TEMP TABLE times (way text, us float8, found bigint);
        DO \$\$
        DECLARE way text; tenant int; started float8; n bigint; found bigint;
        BEGIN
            FOR round IN 0..$rounds LOOP
                FOREACH way IN ARRAY '{$(IFS=,; echo "${ways[*]}")}'::text[] LOOP
                    started := cpu_us();
                    found := 0;
                    FOR i IN 1..10 LOOP
                        FOREACH tenant IN ARRAY '{3,14,15,92,65}'::int[] LOOP
                            EXECUTE format('SELECT %I(\$1, \$2)', way) USING $t::float8, tenant INTO n;
                            found := found + n;
                        END LOOP;
                    END LOOP;
                    IF round > 0 THEN INSERT INTO times VALUES (way, (cpu_us() - started) / 1000, found); END IF;
                END LOOP;
            END LOOP;
            IF (SELECT count(DISTINCT f.found) FROM times AS f) <> 1 THEN RAISE 'the ways find different rows'; END IF;
        END \$\$;
        SELECT format('| %s | %s | %s |', '$t', string_agg(round(us::numeric, 1)::text, ' | ' ORDER BY array_position('{$(IFS=,; echo "${ways[*]}")}', way)),
            round((min(us) FILTER (WHERE way = 'within') / min(us) FILTER (WHERE way = 'alone'))::numeric, 2))
        FROM (SELECT way, min(us) AS us FROM times GROUP BY 1) AS f;"
done
dropdb bench
