#!/usr/bin/env bash
# tests/citus.test.sh: bloom_ident_citus over a coordinator and workers gives what bloom_ident gives of a copy of the table on one node. Citus is built from the source that
# CITUS_SOURCE names, and nothing is tested without it.

# shellcheck source=tests/citus.sh
source "$(dirname "${BASH_SOURCE[0]}")/citus.sh"

rows=${CITUS_ROWS:-3000}
people "$rows"

citus_start 1
people_table plain
sql -c "ALTER TABLE plain ADD n serial PRIMARY KEY, ADD sig bloom GENERATED ALWAYS AS (bloom_signature(given_name || surname || dob)) STORED"
for threshold in 0.95 0.9 0.8; do
    sql -c "CREATE TABLE truth_${threshold#0.} AS SELECT * FROM bloom_duplicates('plain', 'n', 'sig', $threshold)"
done
# spread: table person over all workers that there are.
spread() { sql -c 'DROP TABLE IF EXISTS person' -c 'CREATE TABLE person AS TABLE plain' -c "SELECT create_distributed_table('person', 'n')" >/dev/null; }
# found THRESHOLD BUCKETS
found() {
    sql -c 'DROP TABLE IF EXISTS found' -c "SELECT bloom_citus_duplicates('person', 'n', 'sig', $1, 'found', $2)" >/dev/null
    same found "truth_${1#0.}" "$workers workers, threshold $1, $2 buckets"
}
# A few rows, most of which are similar to another one, are compared in every grid from 1 to 6 buckets over 1 to 3 workers, and all rows in some of them. CITUS_FEW has more pairs of them.
few=${CITUS_FEW:-200}
sql -c "CREATE TABLE few_plain AS SELECT n, sig FROM plain WHERE n % 40 = 0 OR n::text IN (SELECT unnest(ARRAY[a, b]) FROM (SELECT a, b FROM truth_8 ORDER BY a, b LIMIT $few) AS p)"
for threshold in 0.95 0.9 0.8; do
    sql -c "CREATE TABLE few_${threshold#0.} AS SELECT * FROM bloom_duplicates('few_plain', 'n', 'sig', $threshold)"
done
[[ $(sql -c 'SELECT count(*) > 100 FROM few_95') == t ]] || die 'few of the few rows are similar'
# every_grid: one session asks for all of them, which keeps its connections to the workers.
every_grid() {
    local threshold buckets truth wrong
    sql -c 'DROP TABLE IF EXISTS few' -c 'CREATE TABLE few AS TABLE few_plain' -c "SELECT create_distributed_table('few', 'n')" >/dev/null
    wrong=$(for threshold in 0.95 0.9 0.8; do
        truth="SELECT a, b, similarity FROM few_${threshold#0.}"
        for buckets in 1 2 3 4 5 6; do
            printf '%s\n' "SELECT bloom_citus_duplicates('few', 'n', 'sig', $threshold, 'few_found', $buckets) \\g /dev/null" 'CREATE TEMP TABLE f AS SELECT a, b, similarity FROM few_found;' \
                "SELECT 'threshold $threshold, $buckets buckets: ' || count(*) || ' pairs are otherwise' FROM ((TABLE f EXCEPT ALL $truth) UNION ALL ($truth EXCEPT ALL TABLE f)) AS x HAVING count(*) > 0;" \
                'DROP TABLE f, few_found;'
        done
    done | sql) || die "a grid of few rows over $workers workers"
    [[ -z $wrong ]] || die "$workers workers: $wrong"
}
for workers in 1 2 3 4 5; do
    ((workers == 1)) || citus_add "$workers"
    ((workers > 3)) || every_grid
    case $workers in
        1) jobs='0.9,NULL' ;;
        2) jobs='0.95,2 0.8,4' ;;
        3) jobs='0.95,NULL 0.9,5 0.8,6' ;;
        4) continue ;;
        5) jobs='0.9,NULL 0.9,4' ;;
    esac
    spread
    for job in $jobs; do found "${job%,*}" "${job#*,}"; done
done
say "1 to 5 workers and 1 to 6 buckets: $(sql -c 'SELECT (SELECT count(*) FROM truth_95), (SELECT count(*) FROM truth_9), (SELECT count(*) FROM truth_8)' -F ', ') pairs from .95, .9 and .8 on; $(
    sql -c 'SELECT (SELECT count(*) FROM few_95), (SELECT count(*) FROM few_9), (SELECT count(*) FROM few_8)' -F ', ') of $(sql -c 'SELECT count(*) FROM few_plain') rows in every grid"

# Two tables; keys of other types, and columns with odd names, in another schema; missing signatures; many that are equal.
sql -c 'CREATE TABLE left_plain AS SELECT * FROM plain WHERE n % 2 = 0' -c 'CREATE TABLE right_plain AS SELECT * FROM plain WHERE n % 2 = 1' \
    -c 'CREATE TABLE left_side AS TABLE left_plain' -c 'CREATE TABLE right_side AS TABLE right_plain' -c "SELECT create_distributed_table('left_side', 'n'), create_distributed_table('right_side', 'id')" >/dev/null
for buckets in 1 3 NULL; do
    sql -c 'DROP TABLE IF EXISTS truth, found' -c "CREATE TABLE truth AS SELECT * FROM bloom_linkage('left_plain', 'id', 'sig', 'right_plain', 'n', 'sig', 0.8)" \
        -c "SELECT bloom_citus_linkage('left_side', 'id', 'sig', 'right_side', 'n', 'sig', 0.8, 'found', $buckets)" >/dev/null
    same found truth "linkage, $buckets buckets"
done
say "linkage: $(sql -c 'SELECT count(*) FROM truth') pairs"
sql >/dev/null <<'SQL'
CREATE SCHEMA "Odd ""schema""";
CREATE TABLE odd_plain AS SELECT md5(id)::uuid AS "Key, of it", city, CASE WHEN n % 7 > 0 THEN sig END AS "sig AS key, x" FROM plain;
INSERT INTO odd_plain SELECT md5('equal ' || i)::uuid, 'Bonn', bloom_signature('Erika Mustermann') FROM generate_series(1, 300) AS i;
CREATE TABLE "Odd ""schema"""."Person ""of"" a table whose name is as long as names can be: 63 b" AS TABLE odd_plain;
-- Citus waits for itself where the names of shards are cut off alike.
SET citus.multi_shard_modify_mode = 'sequential';
SELECT create_distributed_table('"Odd ""schema"""."Person ""of"" a table whose name is as long as names can be: 63 b"', 'Key, of it');
RESET citus.multi_shard_modify_mode;
SELECT bloom_citus_duplicates('"Odd ""schema"""."Person ""of"" a table whose name is as long as names can be: 63 b"', 'Key, of it', 'sig AS key, x', 0.9, 'Found "pairs"', 3, '{city}');
CREATE TABLE odd_truth AS SELECT * FROM bloom_duplicates('odd_plain', 'Key, of it', 'sig AS key, x', 0.9, '{city}');
SQL
same '"Odd ""schema"""."Found ""pairs"""' odd_truth 'odd names'
say "keys of type uuid, missing and equal signatures, within a city: $(sql -c 'SELECT count(*) FROM odd_truth') pairs"

# All signatures are equal, and the rows of a group are pairs.
equal=${CITUS_EQUAL:-20000}
sql -c "CREATE TABLE equal_plain AS SELECT n, n / 10 AS household, bloom_signature('Erika Mustermann') AS sig FROM generate_series(1, $equal) AS n" -c 'CREATE TABLE equal AS TABLE equal_plain' \
    -c "SELECT create_distributed_table('equal', 'n')" -c "SELECT bloom_citus_duplicates('equal', 'n', 'sig', 0.9, 'equal_pairs', 3, '{household}')" \
    -c "CREATE TABLE equal_truth AS SELECT * FROM bloom_duplicates('equal_plain', 'n', 'sig', 0.9, '{household}')" >/dev/null
same equal_pairs equal_truth "$equal equal rows within groups"
say "$equal equal rows in groups of ten: $(sql -c 'SELECT count(*) FROM equal_truth') pairs"

# The pairs are taken as they are.
sql -c "SELECT count(*) FROM bloom_clusters('found'::regclass, 0.8)" >/dev/null

# Keys of other types: their text and their order are those of the session that asks, and not those of the workers.
sql >/dev/null <<'SQL'
CREATE TABLE dated_plain AS SELECT date '1000-01-01' + n AS day, (n::text || '.50')::numeric AS number, CASE WHEN n % 5 > 0 THEN sig END AS sig, given_name AS cell FROM plain WHERE n <= 1000;
CREATE TABLE dated AS TABLE dated_plain;
SELECT create_distributed_table('dated', 'number');
SET DateStyle = 'German';
SELECT bloom_citus_duplicates('dated', 'day', 'sig', 0.8, 'days', 3, '{cell}');
CREATE TABLE days_truth AS SELECT * FROM bloom_duplicates('dated_plain', 'day', 'sig', 0.8, '{cell}');
SELECT bloom_citus_duplicates('dated', 'number', 'sig', 0.8, 'numbers', 2);
CREATE TABLE numbers_truth AS SELECT * FROM bloom_duplicates('dated_plain', 'number', 'sig', 0.8);
SELECT bloom_citus_linkage('dated', 'day', 'sig', 'dated', 'number', 'sig', 0.8, 'sides', 2);
CREATE TABLE sides_truth AS SELECT * FROM bloom_linkage('dated_plain', 'day', 'sig', 'dated_plain', 'number', 'sig', 0.8);
SQL
for of in days numbers sides; do same "$of" "${of}_truth" "keys of other types, $of"; done

# Sketches, and pairs by their tokens.
sql >/dev/null <<'SQL'
CREATE TABLE message_plain AS SELECT n, tokens, minhash_bits(tokens, 128) AS bits FROM (
    SELECT n, ARRAY[given_name, surname, street, city, postcode, email] AS tokens FROM plain WHERE n <= 1000 AND given_name || surname || street || city || postcode || email IS NOT NULL) AS p;
CREATE TABLE message AS TABLE message_plain;
SELECT create_distributed_table('message', 'n');
SELECT bloom_citus_duplicates('message', 'n', 'bits', 0.5, 'messages', 3, verify => 'tokens', margin => 0.2);
CREATE TABLE messages_truth AS SELECT * FROM bloom_duplicates('message_plain', 'n', 'bits', 0.5, verify => 'tokens', margin => 0.2);
SQL
same messages messages_truth 'tokens'
say "by their tokens: $(sql -c 'SELECT count(*) FROM messages_truth') pairs"

# What is decided: different pairs stay away, also those of linkages, and the others come again if a record has changed since.
sql >/dev/null <<'SQL'
SELECT bloom_decisions_create('decided');
INSERT INTO decided (a, b, decision, who, at) SELECT CASE WHEN i % 2 = 0 THEN a ELSE b END, CASE WHEN i % 2 = 0 THEN b ELSE a END, (ARRAY['same', 'different', 'unsure'])[1 + i % 3], 'me', now()
    FROM (SELECT *, row_number() OVER (ORDER BY a, b)::integer AS i FROM truth_8) AS t WHERE i <= 60;
INSERT INTO decided (a, b, decision, who, at) SELECT a, b, 'same', 'me', now() + interval '1 day' FROM decided WHERE decision = 'different' LIMIT 5;
INSERT INTO decided (a, b, decision, who, at) VALUES ('1', 'nobody', 'different', 'me', now());
SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.8, 'open', decisions => 'decided');
CREATE TABLE open_truth AS SELECT * FROM bloom_duplicates('plain', 'n', 'sig', 0.8, decisions => 'decided');
SQL
same open open_truth 'decisions'
[[ $(sql -c "SELECT (SELECT count(*) FROM open) < (SELECT count(*) FROM truth_8)") == t ]] || die 'decisions: nothing was left out'
# A decision that holds as long as both records are alike in some columns, about a table and about two.
sql >/dev/null <<'SQL'
SELECT bloom_decisions_create('hashed');
INSERT INTO hashed (a, b, decision, who, at, hash) SELECT t.a, t.b, 'different', 'me', now(), x.hash || ' ' || y.hash FROM truth_8 AS t
    JOIN bloom_record_hash('plain', 'n', '{city}') AS x ON x.key = t.a JOIN bloom_record_hash('plain', 'n', '{city}') AS y ON y.key = t.b;
SELECT bloom_decisions_create('of_two');
INSERT INTO of_two (a, b, decision, who, at) SELECT a, b, 'different', 'me', now() FROM truth WHERE b::integer % 3 = 0;
UPDATE plain SET city = 'elsewhere' WHERE n % 5 = 0;
UPDATE person SET city = 'elsewhere' WHERE n % 5 = 0;
SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.8, 'changed', decisions => 'hashed');
CREATE TABLE changed_truth AS SELECT * FROM bloom_duplicates('plain', 'n', 'sig', 0.8, decisions => 'hashed');
SELECT bloom_citus_linkage('left_side', 'id', 'sig', 'right_side', 'n', 'sig', 0.8, 'linked', 2, decisions => 'of_two');
CREATE TABLE linked_truth AS SELECT * FROM bloom_linkage('left_plain', 'id', 'sig', 'right_plain', 'n', 'sig', 0.8, decisions => 'of_two');
SQL
same changed changed_truth 'decisions about records that have changed'
same linked linked_truth 'decisions about two tables'
[[ $(sql -c 'SELECT (SELECT count(*) FROM changed) BETWEEN 1 AND (SELECT count(*) FROM truth_8) - 1') == t ]] || die 'decisions: all or none of the records have changed'
[[ $(sql -c 'SELECT (SELECT count(*) FROM linked) < (SELECT count(*) FROM truth)') == t ]] || die 'decisions about two tables: nothing was left out'
say "decisions leave out $(sql -c 'SELECT (SELECT count(*) FROM truth_8) - (SELECT count(*) FROM open)') pairs"

refused 42809 "SELECT bloom_citus_duplicates('plain', 'n', 'sig', 0.9, 'none')"
sql -c 'CREATE TABLE everywhere AS TABLE plain' -c "SELECT create_reference_table('everywhere')" >/dev/null
refused 42809 "SELECT bloom_citus_duplicates('everywhere', 'n', 'sig', 0.9, 'none')"
refused 42703 "SELECT bloom_citus_duplicates('person', 'number', 'sig', 0.9, 'none')"
refused 42804 "SELECT bloom_citus_duplicates('person', 'n', 'surname', 0.9, 'none')"
refused 42703 "SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.9, 'none', 2, '{town}')"
refused 22023 "SELECT bloom_citus_duplicates('person', 'n', 'sig', 90, 'none')"
refused 22023 "SELECT bloom_citus_duplicates('person', 'n', 'sig', NULL, 'none')"
refused 22023 "SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.9, 'none', 0)"
refused 22023 "SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.9, 'none', 65)"
refused 0A000 "SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.9, 'none', new => 'plain')"
refused 0A000 "SELECT bloom_citus_linkage('person', 'n', 'sig', 'person', 'n', 'sig', 0.9, 'none', one_to_one => true)"
refused 42809 "SELECT bloom_citus_linkage('person', 'n', 'sig', 'plain', 'n', 'sig', 0.9, 'none')"
refused 22004 "SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.9, NULL)"
refused 22004 "SELECT bloom_citus_duplicates(NULL, 'n', 'sig', 0.9, 'none')"
refused 42P07 "SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.9, 'found')"
refused 21000 "SELECT bloom_citus_duplicates('person', 'entity', 'sig', 0.9, 'none')"
# A key that comes twice, in any bucket, whatever is distributed by, also where one connection does the cells one after the other, and equal values that are written otherwise.
sql -c 'CREATE TABLE repeated (n integer, c integer, list numeric[], sig bloom)' -c "SELECT create_distributed_table('repeated', 'c')" -c "INSERT INTO repeated SELECT n, n, ARRAY[n], bloom_signature(md5(n::text)) FROM generate_series(1, 200) AS n" >/dev/null
for n in 1 2 3 4 5 6; do
    sql -c "INSERT INTO repeated VALUES ($n, 1000, ARRAY[$n.0], bloom_signature('x'))"
    for mode in sequential parallel; do
        refused 21000 "SET citus.multi_shard_modify_mode = $mode; SELECT bloom_citus_duplicates('repeated', 'n', 'sig', 0.9, 'none', 6)"
    done
    refused 21000 "SELECT bloom_citus_duplicates('repeated', 'list', 'sig', 0.9, 'none', $n)"
    refused 21000 "SELECT bloom_citus_linkage('repeated', 'n', 'sig', 'person', 'n', 'sig', 0.9, 'none', $n)"
    sql -c 'DELETE FROM repeated WHERE c = 1000'
done
# A name that Citus shortens for the shards; a job in a transaction that has written to the table.
sql -c BEGIN -c "UPDATE repeated SET sig = bloom_signature('Erika Mustermann') WHERE n < 3" -c "SELECT bloom_citus_duplicates('repeated', 'n', 'sig', 0.9, 'after')" -c COMMIT >/dev/null
[[ $(sql -c "SELECT bloom_citus_duplicates('repeated', 'list', 'sig', 0.9, repeat('p', 60)::name)" -c 'SELECT a, b FROM after') == $'1\n1|2' ]] || die 'a long name, or a job after an update'
# Errors of cells name what the user knows.
told=$(psql -XAtq -c "SELECT bloom_citus_duplicates('person', 'entity', 'sig', 0.9, 'none')" 2>&1) || true
grep -q 'HINT:  Name a column whose values are unique, instead of "entity".' <<<"$told" && ! grep -qE '^(ERROR|DETAIL|HINT):.*_bloom_citus_' <<<"$told" || die "an error of a cell: $told"
# A shard, a worker, a disk that are not as they should be, and a table that is not stored in rows.
sql -c 'CREATE TABLE narrow AS SELECT n, sig FROM plain WHERE n < 100' -c "SELECT create_distributed_table('narrow', 'n', shard_count => 3)" >/dev/null
shard=$(sql -c "SELECT format('%s %s', nodename, shard_name) FROM citus_shards WHERE table_name = 'narrow'::regclass ORDER BY shardid LIMIT 1")
citus_use "$(basename "${shard% *}")"
PGOPTIONS="$PGOPTIONS -c citus.enable_manual_changes_to_shards=on" sql -c "ALTER TABLE ${shard#* } DROP sig"
citus_use coordinator
refused 42703 "SELECT bloom_citus_duplicates('narrow', 'n', 'sig', 0.9, 'none')"
sql -c 'CREATE EXTENSION IF NOT EXISTS citus_columnar' -c 'CREATE TABLE columns_first (n integer, sig bloom) USING columnar' -c "SELECT create_distributed_table('columns_first', 'n')" >/dev/null
refused 0A000 "SELECT bloom_citus_duplicates('columns_first', 'n', 'sig', 0.9, 'none')"
citus_use worker2
sql -c 'SET citus.enable_ddl_propagation = off' -c 'DROP EXTENSION bloom_ident_citus'
citus_use coordinator
told=$(psql -XAtq -c "SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.9, 'none')" 2>&1) || true
[[ $told == *"node $(citus_host worker2):5432 has another version of bloom_ident"*"It says \"bloom_ident_citus missing\", and this node \"bloom_ident_citus "* ]] || die "a worker without the extension: $told"
citus_use worker2
sql -c 'SET citus.enable_ddl_propagation = off' -c 'CREATE EXTENSION bloom_ident_citus'
sql -c 'SET citus.enable_ddl_propagation = off' -c "CREATE OR REPLACE FUNCTION pg_catalog.citus_local_disk_space_stats(OUT available_disk_size bigint, OUT total_disk_size bigint) LANGUAGE sql AS 'SELECT 1000::bigint, 2000::bigint'"
citus_use coordinator
told=$(psql -XAtq -c "SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.9, 'none')" 2>&1) || true
grep -q "node $(citus_host worker2):5432 has too little space" <<<"$told" || die "a full disk: $told"
# Nobody's code runs as whoever asks: that of a domain, a type of somebody's own that is called like ours.
sql -c 'CREATE DOMAIN checked AS integer CHECK (VALUE > 0)' -c 'CREATE SCHEMA false_one' -c 'CREATE DOMAIN false_one.bloom AS public.bloom' \
    -c 'CREATE TABLE of_others AS SELECT n::checked AS n, n AS number, city, sig::false_one.bloom AS other, sig FROM plain LIMIT 9' -c "SELECT create_distributed_table('of_others', 'number')" >/dev/null
refused 0A000 "SELECT bloom_citus_duplicates('of_others', 'n', 'sig', 0.9, 'none')"
refused 0A000 "SELECT bloom_citus_duplicates('of_others', 'number', 'sig', 0.9, 'none', 2, '{city,n}')"
refused 42804 "SELECT bloom_citus_duplicates('of_others', 'number', 'other', 0.9, 'none')"
# Nor by casts of an enum, which its owner can make.
sql -c "CREATE TYPE shade AS ENUM ('1', '2', '3')" -c "CREATE FUNCTION spy(text) RETURNS shade LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''it ran''; END'" -c 'CREATE CAST (text AS shade) WITH FUNCTION spy(text)' \
    -c 'CREATE TABLE of_enum (n integer, k shade, sig bloom)' -c "SELECT create_distributed_table('of_enum', 'n')" -c "INSERT INTO of_enum VALUES (1, '1', bloom_signature('a')), (2, '2', bloom_signature('a'))" >/dev/null
refused 0A000 "SELECT bloom_citus_duplicates('of_enum', 'k', 'sig', 0.9, 'none')"
refused 0A000 "SELECT bloom_citus_model_duplicates('of_enum', 'k', '{}', 'none')"
refused 42602 "SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.9, 'public.none')"
refused 42703 "SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.9, 'none', decisions => 'plain')"
refused 42703 "SELECT bloom_citus_linkage('person', 'n', 'sig', 'person', 'n', 'sig', 0.9, 'none', decisions => 'plain')"
told=$(PGOPTIONS= psql -XAtq -c "SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.9, 'none', decisions => 'plain')" 2>&1) || true
[[ $told != *WARNING* && $told == *_bloom_citus_check_decisions* ]] || die "decisions are not looked at before: $told"
refused 0A000 "SELECT bloom_citus_pairs_refresh('of_enum', 'of_enum', 'k', 'sig', 0.9, 'plain')"
# The reference has the functions as they are declared, and each has a comment.
missing=$(sql -c "SELECT proname || '(' || replace(replace(regexp_replace(regexp_replace(pg_get_function_arguments(p.oid), ', OUT .*', ''), '::(text|name|regclass|integer|bigint|jsonb|double precision)(\[\])?', '', 'g'), ' DEFAULT ', ' = '), 'double precision', 'float8') || ')'
    FROM pg_proc AS p WHERE proname LIKE 'bloom\_citus\_%'" | while read -r signature; do grep -qF "\`$signature\`" "$ROOT/docs/reference.md" || echo "$signature"; done)
[[ -z $missing ]] || die "docs/reference.md does not have $missing"
[[ $(sql -c "SELECT count(*) FROM pg_proc WHERE proname LIKE '%bloom\_citus\_%' AND obj_description(oid, 'pg_proc') IS NULL") == 0 ]] || die 'a function has no comment'
