#!/usr/bin/env bash
# tests/citus_others.test.sh [--update]: what everything but the jobs over all shards does with tables of Citus: the table and the blocks of docs/nodes.md
# (--update writes their output into it). Of each kind of table the results are those of a plain copy, or there is an error that says why. Citus is built from
# the source that CITUS_SOURCE names, and nothing is tested without it.

# shellcheck source=tests/citus.sh
source "$(dirname "${BASH_SOURCE[0]}")/citus.sh"
# shellcheck source=tests/blocks.sh
source "$ROOT/tests/blocks.sh"

cd "$ROOT"
rows=${CITUS_ROWS:-300}
people "$rows"
citus_start 2

# The documents first, since the numbers of shards count from the first one on.
on_coordinator() { (PGOPTIONS='-c client_min_messages=warning -c jit=off' citus_use coordinator && psql -X); }
shown() { sed "s|$SCRATCH/||g"; }
if ((PG_MAJOR == 15)); then
    blocks_check docs/nodes.md coordinator -- centre north
    if [[ ${1:-} == --update ]]; then
        blocks_update docs/nodes.md
    elif ((blocks_wrong > 0)); then
        die "docs/nodes.md: $blocks_wrong blocks have another output"
    fi
    fetched=$(sql -c 'EXPLAIN (ANALYZE) SELECT id, sig FROM person WHERE sig IS NOT NULL ORDER BY id' | sed -n 's/.* from nodes: //p')
    grep -q "received from nodes: $fetched\"" docs/nodes.md || die "docs/nodes.md says something else than that $fetched are fetched"
    say 'docs/nodes.md says what happens'
fi

# A plain table and a copy of each kind that Citus knows. Results of a statement for the others are those for the plain one.
kinds=(dist ref single loc)
people_table plain
sql >/dev/null <<'SQL'
ALTER TABLE plain ADD n serial PRIMARY KEY, ADD name text GENERATED ALWAYS AS (given_name || ' ' || surname) STORED,
    ADD sig bloom GENERATED ALWAYS AS (bloom_signature(given_name || surname || dob)) STORED,
    ADD words text[] GENERATED ALWAYS AS (ident_words(given_name || ' ' || surname || ' ' || dob)) STORED,
    ADD sketch minhash GENERATED ALWAYS AS (minhash(ident_words(given_name || ' ' || surname || ' ' || dob), 192)) STORED,
    ADD bits minhash_bits GENERATED ALWAYS AS (minhash_bits(ident_words(given_name || ' ' || surname || ' ' || dob), 192)) STORED,
    ADD counted counting_bloom GENERATED ALWAYS AS (counting_signature(given_name || surname)) STORED;
CREATE TABLE pairs_plain AS SELECT * FROM bloom_duplicates('plain', 'n', 'sig', 0.6);
CREATE TABLE model AS SELECT bloom_model_fit('plain', 'n', '{given_name,surname,dob,street,city,postcode,phone,email}') AS m;
CREATE TABLE likely_plain AS SELECT p.* FROM model, bloom_model_duplicates('plain', 'n', m, 0.1) AS p;
CREATE TABLE new_plain AS SELECT n::text AS key FROM plain WHERE n % 10 = 0;
CREATE TABLE truth_plain AS SELECT n::text AS key, entity AS cluster FROM plain;
CREATE TABLE cluster_plain AS SELECT * FROM bloom_clusters('pairs_plain'::regclass, 0.8);
CREATE TABLE said_plain AS SELECT p.a, p.b, CASE WHEN x.entity = y.entity THEN 'same' ELSE 'different' END AS decision, now() AS at, x.entity = y.entity AS same, row_number() OVER () AS id
    FROM likely_plain AS p JOIN plain AS x ON x.n = p.a::int JOIN plain AS y ON y.n = p.b::int;
SELECT bloom_merges_create('log_plain');
SQL
for table in '':n pairs_:a likely_:a new_:key truth_:key cluster_:key said_:id log_:entry; do
    key=${table#*:} prefix=${table%:*}
    for kind in "${kinds[@]}"; do
        sql -c "CREATE TABLE $prefix$kind (LIKE ${prefix}plain INCLUDING ALL EXCLUDING DEFAULTS EXCLUDING IDENTITY)" >/dev/null
    done
    sql -c "SELECT create_distributed_table('${prefix}dist', '$key', colocate_with => 'none', shard_count => 3)" -c "SELECT create_reference_table('${prefix}ref')" \
        -c "SELECT create_distributed_table('${prefix}single', NULL)" -c "SELECT citus_add_local_table_to_metadata('${prefix}loc')" >/dev/null
    columns=$(sql -c "SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute WHERE attrelid = '${prefix}plain'::regclass AND attnum > 0 AND attgenerated = ''")
    for kind in "${kinds[@]}"; do sql -c "INSERT INTO $prefix$kind ($columns) SELECT $columns FROM ${prefix}plain"; done
done
for kind in plain "${kinds[@]}"; do
    sql -c "CREATE INDEX ${kind}_sig ON $kind USING sigfile (sig)" -c "CREATE INDEX ${kind}_bits ON $kind USING sigfile (bits)"
done
sql -c ANALYZE
[[ $(sql -c "SELECT count(*) FROM citus_tables WHERE table_name::text ~ '(dist|ref|single|loc)$'") == 32 ]] || die 'some tables are not those of Citus'

# each STATEMENTS on standard input, one a line: @1 and @2 are the kinds of table, plain ones as well, and not each two of them. The output is the same of all.
each() {
    local line first second statement result expected
    # One session for all, since each would connect to all shards.
    while read -r line; do
        for first in plain "${kinds[@]}"; do
            for second in plain "${kinds[@]}"; do
                if [[ $line == *@2* ]]; then
                    [[ $first == plain || $first == dist || $first == "$second" ]] || continue
                elif [[ $second != plain ]]; then
                    continue
                fi
                statement=${line//@1/$first}
                printf '\\echo == %s\nBEGIN;\n%s;\nROLLBACK;\n' "${statement//@2/$second}" "${statement//@2/$second}"
            done
        done
        printf '\\echo ===\n'
    done | psql -XAtq 2>&1 >"$SCRATCH/each.out"
    statement=
    expected=
    awk '
        function flush() { if (statement != "") print statement "\t" result; statement = ""; result = "" }
        /^===$/ { flush(); print; next }
        /^== / { flush(); statement = substr($0, 4); next }
        { result = result (result == "" ? "" : " / ") $0 }
    ' "$SCRATCH/each.out" >"$SCRATCH/each.lines"
    while IFS=$'\t' read -r statement result; do
        if [[ $statement == === ]]; then
            expected=
        elif [[ -z $expected ]]; then
            [[ -n $result && $result != *ERROR:* ]] || die "$statement: $result"
            expected=$result
        elif [[ $result != "$expected" ]]; then
            die "$statement:"$'\n'"$result"$'\n'"where a plain table gives"$'\n'"$expected"
        fi
    done <"$SCRATCH/each.lines"
}
d="md5(string_agg(r::text, ' ' ORDER BY r::text)), count(*)"
q="bloom_signature('Anna Schmidt 1964-03-01')"
b="minhash_bits(ident_words('anna schmidt'), 192)"
each <<SQL
SELECT $d FROM (SELECT n FROM @1 WHERE bloom_sim(sig, $q) > 0.15) AS r
SELECT $d FROM (SELECT n FROM @1 WHERE bloom_dice(sig, $q) >= 0.3) AS r
SELECT $d FROM (SELECT n FROM @1 WHERE sig % bloom_query($q, 0.2)) AS r
SELECT $d FROM (SELECT n FROM @1 WHERE sig = (SELECT sig FROM plain WHERE n = 5) OR sig @> (SELECT sig FROM plain WHERE n = 6)) AS r
SELECT $d FROM (SELECT n FROM @1 ORDER BY sig <-> $q, n LIMIT 7) AS r
SELECT $d FROM (SELECT n FROM @1 WHERE minhash_sim(bits, $b) > 0.1) AS r
SELECT $d FROM (SELECT n FROM @1 WHERE bits % minhash_query($b, 0.1)) AS r
SELECT $d FROM (SELECT n FROM @1 ORDER BY bits <-> $b, n LIMIT 7) AS r
SELECT $d FROM (SELECT n, sig::bytea, words, bits, sketch, counted::bytea FROM @1) AS r
SELECT $d FROM (SELECT left(city, 1), bloom_union(sig)::bytea, minhash_union(sketch), counting_merge(counted)::bytea FROM @1 GROUP BY 1) AS r
SELECT bloom_union(sig), minhash_union(sketch), counting_merge(counted) FROM @1
SELECT $d FROM (SELECT ident_phonetic(surname, 'cologne'), count(*) FROM @1 GROUP BY ident_phonetic(surname, 'cologne')) AS r
SELECT $d FROM (SELECT n FROM @1 WHERE ident_email_or_null(email) LIKE 'a%' OR ident_phone_or_null(phone, 'DE') LIKE '49%') AS r
SELECT $d FROM bloom_blocklist((SELECT sig FROM plain WHERE n = 5), '@1', 'sig', 0.3) AS r
SELECT $d FROM minhash_blocklist((SELECT bits FROM plain WHERE n = 5), '@1', 'bits', 0.3) AS r
SELECT $d FROM bloom_nearest_names('@1', 'n', 'sig', 'name', 'Anna Schmidt') AS r
SELECT $d FROM (SELECT a.n, b.n FROM plain AS a JOIN @1 AS b ON bloom_sim(a.sig, b.sig) > 0.8) AS r
SELECT $d FROM (SELECT a.n, b.n FROM ref AS a JOIN @1 AS b ON bloom_sim(a.sig, b.sig) > 0.8) AS r
SELECT $d FROM (SELECT a.n, b.n FROM @1 AS a JOIN @1 AS b ON a.n = b.n AND bloom_sim(a.sig, b.sig) > 0.8) AS r
SET citus.enable_repartition_joins = on; SELECT $d FROM (SELECT a.n, b.n FROM @1 AS a JOIN @1 AS b ON a.dob = b.dob AND bloom_sim(a.sig, b.sig) > 0.8) AS r
SELECT $d FROM bloom_duplicates('@1', 'n', 'sig', 0.8) AS r
SELECT $d FROM bloom_duplicates('@1', 'n', 'sig', 0.6, '{city}', verify => 'words', margin => 0.1) AS r
SELECT $d FROM bloom_duplicates('@1', 'n', 'bits', 0.6) AS r
SELECT $d FROM bloom_duplicates('@1', 'n', '{sig}', '{1}', 0.8) AS r
SELECT $d FROM bloom_duplicates('@1', 'n', 'sig', 0.8, new => 'new_@2', decisions => 'said_@2') AS r
SELECT $d FROM bloom_linkage('@1', 'n', 'sig', '@2', 'n', 'sig', 0.8, one_to_one => true) AS r
SELECT $d FROM bloom_clusters('@1', 'n', 'sig', 0.8) AS r
SELECT $d FROM bloom_clusters('@1', 'n', 'sig', 0.8, keep_by => 'newest by dob') AS r
SELECT $d FROM bloom_clusters('pairs_@1', 0.8, rel => '@2', key => 'n', keep_by => 'most complete', decisions => 'said_@1', on_conflict => 'newer') AS r
SELECT $d FROM bloom_clusters_update('cluster_@1', 'pairs_@2', 0.75) AS r
SELECT $d FROM bloom_assign('pairs_@1') AS r
SELECT $d FROM bloom_record_hash('@1', 'n', '{name,dob}') AS r
SELECT $d FROM bloom_quality('pairs_@1', 'truth_@2') AS r
SELECT $d FROM bloom_threshold_sweep('pairs_@1', 'truth_@2') AS r
SELECT $d FROM (SELECT probability_from, found, round(claimed::numeric, 9), correct FROM bloom_reliability('likely_@1', 'truth_@2')) AS r
SELECT $d FROM bloom_review_queue('likely_@1', 20, 'said_@2') AS r
DELETE FROM @2 WHERE n % 50 = 0; SELECT * FROM bloom_pairs_refresh('pairs_@1', '@2', 'n', 'sig', 0.7, 'new_@1'); SELECT $d FROM pairs_@1 AS r
SELECT $d FROM model, bloom_model_fit('@1', 'n', '{given_name,surname,dob,street,city,postcode,phone,email}', labels => 'said_@2') AS r
SELECT $d FROM model, bloom_model_candidates('@1', 'n', m) AS r
SELECT $d FROM model, bloom_model_duplicates('@1', 'n', m, new => 'new_@2') AS r
SELECT $d FROM model, bloom_model_calibrate(m, 'said_@1', 'likely_@2') AS r
SELECT $d FROM model, bloom_model_check(m, '@1') AS r
SELECT length(bloom_report('@1', 'n', 'sig', 0.8, title => 'all', truth => 'truth_@1', decisions => 'said_@1', format => 'text')) > 100
SELECT length(bloom_report_pairs('likely_@1', '@2', 'n', model => m)) > 10000 FROM model
SELECT length(bloom_report_linkage('likely_@1', '@1', 'n', '@2', 'n')) > 10000
SELECT count(*) > 5 FROM bloom_suggest('@1')
SELECT count(*) FROM bloom_merge('cluster_@1', 'plain', 'n')
SQL
say 'each kind of table gives what a plain one gives'
lines() { sort | uniq -c | sed 's/^ *//' | tr '\n' ';'; }
# is EXPECTED WHAT STATEMENT
is() {
    local found
    found=$(sql -c "$3" | lines)
    [[ $found == "$1" ]] || die "$2: $found, and not $1"
}
# Estimates of so few rows are exact, and nothing is proposed that is refused.
for kind in "${kinds[@]}"; do
    is '1 t;' "estimate of $kind" "SELECT pairs = (SELECT count(*) FROM bloom_duplicates('plain', 'n', 'sig', 0.7)) FROM bloom_pairs_estimate('$kind', 'sig', 0.7)"
    is '1 0;' "proposals for $kind" "SELECT count(*) FROM bloom_suggest('$kind') WHERE topic = 'guard'"
done
is '1 t;' 'a guard of a plain table is proposed' "SELECT count(*) > 0 FROM bloom_suggest('plain') WHERE topic = 'guard'"

# refused WHAT STATEMENT: an error 0A000 with a message that has WHAT, a detail and a hint.
refused() {
    local error
    error=$(psql -XAtq -v VERBOSITY=verbose -c "$2" 2>&1) && die "$2: no error: $error"
    grep -q "^ERROR:  0A000: .*$1" <<<"$error" || die "$2: $error"
    grep -q '^DETAIL:  Its rows are ' <<<"$error" || die "$2, without a detail: $error"
    grep -q '^HINT:' <<<"$error" || die "$2, without a hint: $error"
}
for kind in "${kinds[@]}"; do
    refused "cannot merge records of \"$kind\"" "SELECT * FROM bloom_merge('cluster_plain', '$kind', 'n')"
    refused "cannot merge records of \"$kind\"" "SELECT * FROM bloom_merge_plan('cluster_plain', '$kind', 'n')"
    refused "cannot redirect references of table \"pairs_$kind\"" "SELECT * FROM bloom_merge('cluster_plain', 'plain', 'n', redirect => '{pairs_$kind.a}')"
    refused "cannot write to table \"log_$kind\"" "SELECT * FROM bloom_merge('cluster_plain', 'plain', 'n', audit => 'log_$kind')"
    refused "cannot write to table \"log_$kind\"" "SELECT bloom_unmerge(1, 'log_$kind')"
    refused "cannot make a register of relation \"$kind\"" "SELECT bloom_register_create(m, '$kind', 'n') FROM model"
    for function in stats check merge; do refused "index \"${kind}_sig\" has no rows" "SELECT bloom_sigfile_$function('${kind}_sig')"; done
done
is '1 0;' 'what a refused merge has left' "SELECT count(*) FROM pg_class WHERE relname = 'bloom_merges'"
# Two distributed tables, and functions that read tables for each row of one, are Citus' own to refuse.
citus_refuses() {
    local error
    error=$(psql -XAtq -c "$2" 2>&1) && die "$2: no error: $error"
    [[ $error == *"$1"* ]] || die "$2: $error"
}
citus_refuses 'complex joins are only supported' 'SELECT count(*) FROM dist AS a JOIN dist AS b ON bloom_sim(a.sig, b.sig) > 0.8'
citus_refuses 'cannot execute a distributed query from a query on a shard' "SELECT count(*) FROM dist, bloom_blocklist(sig, 'ref', 'sig', 0.8)"
citus_refuses 'cannot push down this subquery' 'SELECT count(*) FROM plain AS a, LATERAL (SELECT n FROM dist ORDER BY sig <-> a.sig LIMIT 3) AS b'
# A register keeps a table from being distributed, and its entities follow no decisions that Citus keeps.
sql -c 'CREATE TABLE kept AS SELECT n, given_name, surname, dob, city FROM plain' -c 'ALTER TABLE kept ADD PRIMARY KEY (n)' \
    -c "SELECT bloom_register_create(bloom_model_fit('kept', 'n', '{given_name,surname,dob,city}'), 'kept', 'n')" >/dev/null
refused 'entities cannot follow the decisions of table "said_dist"' "SELECT bloom_entities_create('kept_register', 'kept_entity', decisions => 'said_dist')"
citus_refuses 'because it has triggers' "SELECT create_distributed_table('kept', 'n')"
citus_refuses 'does not exist' "SET citus.enable_unsafe_triggers = on; SELECT create_distributed_table('kept', 'n')"
is "1 $rows;" 'the register afterwards' "SELECT number FROM bloom_register_check('kept_register') WHERE finding = 'records'"
say 'what cannot be is refused, and changes nothing'

# Definitions and maintenance reach the shards, and the rows are searched by their indexes.
sql >/dev/null <<'SQL'
DELETE FROM dist WHERE n % 3 = 0;
VACUUM dist;
REINDEX INDEX dist_sig;
REINDEX TABLE CONCURRENTLY dist;
CREATE INDEX CONCURRENTLY dist_within ON dist USING sigfile (city, sig) WITH (tail_limit = 100);
CREATE INDEX dist_tree ON dist USING gist (sig);
CREATE INDEX dist_email ON dist (ident_email_or_null(email));
ALTER INDEX dist_sig SET (tail_limit = 1000);
ALTER TABLE dist ADD COLUMN other bloom(7,43,3) GENERATED ALWAYS AS (bloom_signature(street)) STORED;
ALTER TABLE dist ADD CONSTRAINT dist_has_bits CHECK (bloom_bits(other) >= 0);
ALTER TABLE dist RENAME COLUMN other TO second;
SQL
checked="SELECT sum(bloom_sigfile_check(c.oid)) = 3 * (SELECT count(*) FROM %1\$s) FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_am AS m ON m.oid = c.relam WHERE m.amname = 'sigfile' AND i.indrelid = '%1\$s'::regclass"
is '3 t;' 'indexes of shards' "SELECT result FROM run_command_on_shards('dist', \$\$$checked\$\$)"
is '3 t;' 'statistics of indexes of shards' "SELECT result FROM run_command_on_shards('dist', \$\$SELECT s.dead_rows = 0 AND s.rows + s.null_rows = (SELECT count(*) FROM %1\$s) FROM pg_index AS i, bloom_sigfile_stats(i.indexrelid) AS s WHERE i.indexrelid::regclass::text ~ '^dist_sig_' AND i.indrelid = '%1\$s'::regclass\$\$)"
is '1 t;' 'a new column' 'SELECT bool_and(second IS NOT DISTINCT FROM bloom_signature(street)) FROM dist'
searched="SELECT $d FROM (SELECT n FROM dist WHERE bloom_sim(sig, $q) > 0.1) AS r"
before=$(sql -c "$searched")
# Values go and come, in text and in binary form; signatures distribute rows.
sql >/dev/null <<'SQL'
CREATE TABLE back (n int, sig bloom, bits minhash_bits, sketch minhash, counted counting_bloom);
SELECT create_distributed_table('back', 'sig', shard_count => 4);
SQL
for format in text binary; do
    sql -c "COPY (SELECT n, sig, bits, sketch, counted FROM dist WHERE sig IS NOT NULL) TO STDOUT (FORMAT $format)" >"$SCRATCH/values"
    sql -c "COPY back FROM STDIN (FORMAT $format)" <"$SCRATCH/values"
done
is '1 0|t;' 'values that were copied' "SELECT count(*) FILTER (WHERE (b.sig, b.bits, b.sketch, b.counted::bytea) IS DISTINCT FROM (p.sig, p.bits, p.sketch, p.counted::bytea)), count(*) = 2 * count(DISTINCT b.n) FROM back AS b JOIN plain AS p USING (n)"
is '1 t;' 'a join by signatures' 'SELECT j.count = 2 * b.count FROM (SELECT count(*) FROM back AS a JOIN back AS b USING (sig) WHERE a.n = b.n) AS j, (SELECT count(*) FROM back) AS b'
# A dump has the rows of the shards, for a server without Citus.
sql -d postgres -c 'CREATE DATABASE dumped'
sql -d dumped -c 'CREATE EXTENSION bloom_ident'
pg_dump -t back -t dist | sql -d dumped >/dev/null
[[ $(sql -d dumped -c "$searched") == "$before" && $(sql -d dumped -c 'SELECT count(*) FROM back') == "$(sql -c 'SELECT count(*) FROM back')" ]] || die 'a dump gives something else'
# A shard goes to the other worker.
sql -c "SELECT citus_move_shard_placement(s.shardid, s.nodename, s.nodeport, o.nodename, o.nodeport, 'block_writes') FROM (SELECT * FROM citus_shards WHERE table_name = 'dist'::regclass ORDER BY shardid LIMIT 1) AS s
    JOIN pg_dist_node AS o ON o.groupid > 0 AND o.nodename <> s.nodename" >/dev/null
is '3 t;' 'indexes of shards after a move' "SELECT result FROM run_command_on_shards('dist', \$\$$checked\$\$)"
[[ $(sql -c "$searched") == "$before" ]] || die 'a search gives something else after a shard has moved'
# The same of a worker; row-level security; a view; partitions; and back to one node.
pairs="SELECT count(*), md5(string_agg(d::text, ' ' ORDER BY a, b)) FROM bloom_duplicates('dist', 'n', 'sig', 0.6, '{city}') AS d"
expected=$(sql -c "$pairs")
[[ $(citus_use worker1 && sql -c "$pairs") == "$expected" && $(citus_use worker1 && sql -c "$searched") == "$before" ]] || die 'a worker gives something else'
(citus_use worker1 && refused 'has no rows' "SELECT bloom_sigfile_check('dist_sig')" && refused 'cannot merge' "SELECT * FROM bloom_merge('cluster_ref', 'dist', 'n')")
sql -c 'CREATE ROLE clerk LOGIN' -c 'GRANT SELECT ON dist TO clerk' -c 'ALTER TABLE dist ENABLE ROW LEVEL SECURITY' -c 'CREATE POLICY few ON dist USING (n < 200)' \
    -c 'CREATE VIEW few AS SELECT * FROM dist WHERE n < 200' >/dev/null
refused 'has no rows' "SET ROLE clerk; SELECT bloom_sigfile_stats('dist_sig')"
[[ $(sql -c 'SET ROLE clerk' -c "$pairs") == "$(sql -c "${pairs/\'dist\'/\'few\'}")" ]] || die 'the policy of a role is not kept'
is '1 t;' 'records of a view that are kept' "SELECT count(*) > 0 FROM bloom_clusters('few', 'n', 'sig', 0.6, keep_by => 'newest by dob')"
sql >/dev/null <<'SQL'
ALTER TABLE dist DISABLE ROW LEVEL SECURITY;
CREATE TABLE event (n int, day date, sig bloom) PARTITION BY RANGE (day);
CREATE TABLE event_old PARTITION OF event FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
CREATE TABLE event_new PARTITION OF event FOR VALUES FROM ('2021-01-01') TO ('2022-01-01');
SELECT create_distributed_table('event', 'n', shard_count => 4);
CREATE INDEX event_sig ON event USING sigfile (sig);
INSERT INTO event SELECT n, '2020-01-01'::date + n, sig FROM dist;
SQL
refused 'index "event_old_sig_idx" has no rows' "SELECT bloom_sigfile_check('event_old_sig_idx')"
refused 'cannot merge records of "event"' "SELECT * FROM bloom_merge('cluster_plain', 'event', 'n')"
is '1 t;' 'pairs of partitions' "SELECT (SELECT count(*) FROM bloom_duplicates('event', 'n', 'sig', 0.6)) = (SELECT count(*) FROM bloom_duplicates('dist', 'n', 'sig', 0.6))"
sql -c 'DROP VIEW few' -c "SELECT undistribute_table('dist')" >/dev/null
[[ $(sql -c "$pairs") == "$expected" && $(sql -c "$searched") == "$before" ]] || die 'the table of one node gives something else'
is '1 t;' 'the index of the table of one node' "SELECT bloom_sigfile_check('dist_sig') = (SELECT count(*) FROM dist)"
sql -c "SELECT bloom_register_create(m, 'dist', 'n') FROM model" >/dev/null
say 'maintenance, copies, moves, partitions, and the way back'
