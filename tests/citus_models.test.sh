#!/usr/bin/env bash
# tests/citus_models.test.sh: match models over the shards of Citus find the pairs that they find on one node, with the same bits; a fit to a sample finds nearly as many; tables of
# pairs are brought up to date. Nothing is tested where CITUS_SOURCE names no source of Citus.

# shellcheck source=tests/citus.sh
source "$(dirname "${BASH_SOURCE[0]}")/citus.sh"

# Tables of less than 7,072 records are scanned.
rows=${CITUS_ROWS:-8000}
people "$rows" formats

pairs='a, b, probability, bits'

citus_start 2
people_table plain
sql -c "ALTER TABLE plain ADD n serial PRIMARY KEY, ADD seen timestamptz, ADD height float8, ADD entered date" \
    -c "UPDATE plain SET seen = timestamptz '2026-01-31 23:30+01' + n % 700 * interval '1 hour', height = 150 + sqrt(n % 500), entered = date '1990-01-01' + n % 5000, email = nullif(email, '')" \
    -c 'CREATE TABLE person AS TABLE plain' -c "SELECT create_distributed_table('person', 'n')" >/dev/null
sql -c "CREATE TABLE fit_one AS SELECT bloom_model_fit('plain', 'n', '{$fields}', '{given_name,dob,phone,email}') AS model" -c 'CREATE TABLE model AS TABLE fit_one' \
    -c "CREATE TABLE truth AS SELECT d.* FROM model, bloom_model_duplicates('plain', 'n', model) AS d" \
    -c "SELECT bloom_citus_model_duplicates('person', 'n', model, 'found') FROM model" >/dev/null
same found truth 'pairs of a model' "$pairs"
say "pairs of a model: $(sql -c 'SELECT count(*) FROM truth')"
[[ $(sql -c "SELECT count(*) FROM pg_dist_partition WHERE logicalrelid = 'found'::regclass AND partmethod = 'h'") == 1 ]] || die 'the pairs are not distributed'
# Searches of all kinds; keys that are texts, in an order of their own; columns that are written otherwise in other sessions.
sql -c "UPDATE model SET model = jsonb_set(model, '{searches}', (SELECT jsonb_agg(s || '{\"pairs_per_record\": 1, \"matches_per_record\": 0.1}') FROM (VALUES ('{\"equal\": [\"surname\", \"dob\"], \"most\": 40}'::jsonb),
        ('{\"equal\": [\"given_name\"], \"most\": 5}'), ('{\"crosswise\": [\"city\"], \"most\": 40}'), ('{\"similar\": [\"surname\", \"dob\"], \"least\": 55, \"most\": 20}')) AS v (s)))" \
    -c "ALTER TABLE plain ADD code text COLLATE \"C\"" -c "UPDATE plain SET code = CASE n % 2 WHEN 0 THEN 'x' ELSE 'X' END || n" \
    -c 'CREATE SCHEMA "Other"' -c 'CREATE TABLE "Other"."Person" AS TABLE plain' -c "SELECT create_distributed_table('\"Other\".\"Person\"', 'entity')" \
    -c 'CREATE TABLE truth2 AS SELECT d.* FROM model, bloom_model_duplicates('"'plain', 'code'"', model, 0.2) AS d' \
    -c "SELECT bloom_citus_model_duplicates('\"Other\".\"Person\"', 'code', model, 'Found', 0.2) FROM model" >/dev/null
same '"Other"."Found"' truth2 'searches of all kinds' "$pairs"
say "searches of all kinds: $(sql -c 'SELECT count(*) FROM truth2')"
sql -c "CREATE TABLE model3 AS SELECT bloom_model_fit('plain', 'n', '{surname:name,dob:date,seen:day,height:number,entered:date,email}', '{}') AS model" \
    -c "UPDATE model3 SET model = jsonb_set(model, '{searches}', (SELECT jsonb_agg(s || '{\"pairs_per_record\": 1, \"matches_per_record\": 0.1}') FROM (VALUES ('{\"equal\": [\"surname\", \"dob\"], \"most\": 40}'::jsonb),
        ('{\"equal\": [\"seen\", \"height\"], \"most\": 40}'), ('{\"equal\": [\"entered\", \"surname\"], \"most\": 40}')) AS v (s)))" \
    -c "CREATE TABLE truth3 AS SELECT d.* FROM model3, bloom_model_duplicates('plain', 'n', model, 0, '{\"force\": true}') AS d" \
    -c "SET timezone = 'Asia/Tokyo'" -c "SET datestyle = 'SQL, DMY'" -c "SELECT bloom_citus_model_duplicates('person', 'n', model, 'found3', 0, '{\"force\": true}') FROM model3" >/dev/null
same found3 truth3 'times, dates and numbers' "$pairs"
say "times, dates and numbers: $(sql -c 'SELECT count(*) FROM truth3')"
# Many keys of a record, of which some blocks have the same records and others nearly the same, in as many cells as there are shards.
sql -c "CREATE TABLE model7 AS SELECT jsonb_set(model, '{searches}', (SELECT jsonb_agg(s || '{\"pairs_per_record\": 0, \"matches_per_record\": 0.1}') FROM (VALUES ('{\"equal\": [\"surname\", \"dob\"], \"most\": 40}'::jsonb),
        ('{\"equal\": [\"given_name\"], \"most\": 5}'), ('{\"crosswise\": [\"city\"], \"most\": 40}'), ('{\"similar\": [\"surname\", \"dob\"], \"least\": 55, \"most\": 20}'), ('{\"similar\": [\"surname\"], \"least\": 55, \"most\": 20}'),
        ('{\"similar\": [\"given_name\", \"surname\"], \"least\": 30, \"most\": 40}')) AS v (s))) AS model FROM fit_one" \
    -c "CREATE TABLE truth7 AS SELECT d.* FROM model7, bloom_model_duplicates('plain', 'n', model, 0) AS d" -c "SELECT bloom_citus_model_duplicates('person', 'n', model, 'found7', 0) FROM model7" >/dev/null
same found7 truth7 'many keys' "$pairs"
say "many keys: $(sql -c 'SELECT count(*) FROM truth7')"
# Keys that other sessions write otherwise.
sql -c "SET datestyle = 'SQL, DMY'" -c "ALTER TABLE plain ADD born date" -c "UPDATE plain SET born = date '2020-01-01' + n" -c 'CREATE TABLE person_born AS TABLE plain' -c "SELECT create_distributed_table('person_born', 'n')" \
    -c "CREATE TABLE truth8 AS SELECT d.* FROM fit_one, bloom_model_duplicates('plain', 'born', model) AS d" -c "SELECT bloom_citus_model_duplicates('person_born', 'born', model, 'found8') FROM fit_one" >/dev/null
same found8 truth8 'dates as keys' "$pairs"
[[ $(sql -c "SELECT count(*) FROM found8 WHERE a ~ '^../../....\$'") -gt 1000 ]] || die 'dates are written in another style'
# Few records, which are scanned.
sql -c 'CREATE TABLE few AS SELECT * FROM plain WHERE n <= 700' -c 'CREATE TABLE few_plain AS TABLE few' -c "SELECT create_distributed_table('few', 'n')" \
    -c "CREATE TABLE truth4 AS SELECT d.* FROM model, bloom_model_duplicates('few_plain', 'n', model) AS d" -c "SELECT bloom_citus_model_duplicates('few', 'n', model, 'found4') FROM model" >/dev/null
same found4 truth4 'few records' "$pairs"

# A fit to all is that of one node, and one to a sample finds nearly as much.
f1() { sql -c "CREATE TEMP TABLE judged AS SELECT a, b, probability FROM bloom_model_duplicates('plain', 'n', (SELECT model FROM $1), 0.5, '{\"force\": true}')" -c 'SELECT f1 FROM bloom_quality('"'judged', 'known'"')'; }
sql -c 'CREATE VIEW known AS SELECT n::text AS key, entity AS cluster FROM plain' \
    -c "CREATE TABLE fit_all AS SELECT bloom_citus_model_fit('person', 'n', '{$fields}', '{given_name,dob,phone,email}') AS model" \
    -c "CREATE TABLE fit_sample AS SELECT bloom_citus_model_fit('person', 'n', '{$fields}', '{given_name,dob,phone,email}', sample => 5000) AS model" >/dev/null
[[ $(sql -c 'SELECT (SELECT model FROM fit_one) = (SELECT model FROM fit_all)') == t ]] || die 'a fit to all shards is another one'
[[ $(sql -c "SELECT model ->> 'records' FROM fit_sample") == "$rows" ]] || die 'a fit to a sample is not one of all records'
of_all=$(f1 fit_all) of_sample=$(f1 fit_sample)
awk -v a="$of_all" -v b="$of_sample" 'BEGIN { exit !(b > a - 0.02) }' || die "F1 of a sample is $of_sample, of all $of_all"
say "F1 $of_all of all, $of_sample of a sample"

# Columns of the types of users are left out, and said to be, with those that no fit compares.
sql -c 'CREATE DOMAIN word AS text' -c "CREATE TABLE with_domain AS SELECT n, surname, dob, email, given_name::word AS given, interval '1 day' * n AS days FROM plain" -c "SELECT create_distributed_table('with_domain', 'n')" >/dev/null
[[ $(sql -c "SELECT string_agg(k, ',' ORDER BY k) FROM jsonb_object_keys(bloom_citus_model_fit('with_domain', 'n', personal => '{dob}', sample => 5000) -> 'left_out') AS k WHERE k IN ('given', 'days')") == days,given ]] ||
    die 'columns that a fit to a sample leaves out are not said'
# Names with backslashes, written as standard_conforming_strings = off has them; names of which Citus shortens those of the shards.
sql -c 'ALTER TABLE plain RENAME surname TO "sur\name"' -c 'ALTER TABLE person RENAME surname TO "sur\name"' \
    -c "CREATE TABLE model6 AS SELECT jsonb_set(bloom_model_fit('plain', 'n', ARRAY['sur\name', 'dob', 'email'], '{}'), '{searches}', jsonb_build_array(jsonb_build_object('equal', ARRAY['sur\name', 'dob'], 'most', 40, 'pairs_per_record', 1, 'matches_per_record', 0.1))) AS model" \
    -c "CREATE TABLE truth6 AS SELECT d.* FROM model6, bloom_model_duplicates('plain', 'n', model, 0, '{\"force\": true}') AS d" \
    -c 'SET standard_conforming_strings = off' -c "SELECT bloom_citus_model_duplicates('person', 'n', model, repeat('p', 60)::name, 0, '{\"force\": true}') FROM model6" >/dev/null
same "$(printf 'p%.0s' {1..60})" truth6 'names with backslashes' "$pairs"
sql -c 'ALTER TABLE plain RENAME "sur\name" TO surname' -c 'ALTER TABLE person RENAME "sur\name" TO surname'

# A table of pairs is brought up to date.
sql -c 'CREATE TABLE one AS SELECT n, city, bloom_signature(given_name || surname || dob) AS sig FROM plain WHERE n <= 3000' -c 'CREATE TABLE several AS TABLE one' -c "SELECT create_distributed_table('several', 'n')" \
    -c 'CREATE INDEX ON several USING sigfile (sig)' -c "SELECT bloom_citus_duplicates('several', 'n', 'sig', 0.7, 'kept')" -c 'CREATE TABLE changed (key text)' >/dev/null
# refresh N: what has changed is changed in both tables, and the pairs are those of a job from the beginning.
refresh() {
    sql -c "SELECT bloom_citus_pairs_refresh('kept', 'several', 'n', 'sig', 0.7, 'changed'${2:-})" -c 'DROP TABLE IF EXISTS truth5' -c "CREATE TABLE truth5 AS SELECT * FROM bloom_duplicates('one', 'n', 'sig', 0.7${2:-})" >/dev/null
    same kept truth5 "refresh $1" 'a, b, similarity'
}
both() { for t in one several; do sql -c "${1//TABLE/$t}"; done; }
refresh 'of nothing'
both 'DELETE FROM TABLE WHERE n % 50 = 0'
both "INSERT INTO TABLE SELECT n, city, bloom_signature(given_name || surname || dob) FROM plain WHERE n BETWEEN 3001 AND 3400"
sql -c "INSERT INTO changed SELECT n::text FROM plain WHERE n BETWEEN 3001 AND 3400"
refresh 'of new ones'
both 'UPDATE TABLE SET sig = NULL WHERE n % 60 = 1'
sql -c "TRUNCATE changed" -c "INSERT INTO changed SELECT n::text FROM plain WHERE n % 60 IN (1, 2)"
both "UPDATE TABLE SET sig = bloom_signature('Erika Mustermann') WHERE n % 60 = 2"
refresh 'of others'
sql -c 'DROP TABLE kept' -c "SELECT bloom_citus_duplicates('several', 'n', 'sig', 0.7, 'kept', within => '{city}')" >/dev/null
both "UPDATE TABLE SET sig = bloom_signature('Max Mustermann') WHERE n % 60 = 2"
refresh 'within a city' ", within => '{city}'"
# Columns with the names of those that are sent to the nodes.
for t in one several; do sql -c "ALTER TABLE $t RENAME city TO bloom_sig"; done
refresh 'within a column of another name' ", within => '{bloom_sig}'"
# Keys are written as the session does, also those that were found later.
sql -c "SET datestyle = 'SQL, DMY'" -c "CREATE TABLE one_born AS SELECT n, date '2020-01-01' + n AS born, bloom_signature('x' || n % 40) AS sig FROM generate_series(1, 200) AS n" -c 'CREATE TABLE several_born AS TABLE one_born' \
    -c "SELECT create_distributed_table('several_born', 'n')" -c "SELECT bloom_citus_duplicates('several_born', 'born', 'sig', 0.9, 'kept_born')" -c 'CREATE TABLE changed_born AS SELECT born::text AS key FROM one_born WHERE n <= 20' \
    -c "SELECT bloom_citus_pairs_refresh('kept_born', 'several_born', 'born', 'sig', 0.9, 'changed_born')" -c "SELECT bloom_citus_pairs_refresh('kept_born', 'several_born', 'born', 'sig', 0.9, 'changed_born')" \
    -c "CREATE TABLE truth_born AS SELECT * FROM bloom_duplicates('one_born', 'born', 'sig', 0.9)" >/dev/null
same kept_born truth_born 'a refresh of dates'
# By their tokens, of which some are missing, with a margin and without one, and where all pairs are candidates.
for t in one several; do sql -c "ALTER TABLE $t ADD tokens text[]"; done
both "UPDATE TABLE AS t SET tokens = CASE WHEN p.n % 40 <> 0 THEN regexp_split_to_array(p.given_name || p.surname || p.dob, '') END FROM plain AS p WHERE p.n = t.n"
for way in ", margin => 0.3" "" ", within => '{bloom_sig}', margin => 1"; do
    way=", verify => 'tokens'$way"
    sql -c 'DROP TABLE kept' -c "SELECT bloom_citus_duplicates('several', 'n', 'sig', 0.7, 'kept'$way)" >/dev/null
    both "UPDATE TABLE SET sig = CASE WHEN n % 60 > 3 THEN bloom_signature((n % 50)::text || 'x') END, tokens = regexp_split_to_array((n % 50)::text || 'y', '') WHERE n % 60 BETWEEN 2 AND 6"
    both 'DELETE FROM TABLE WHERE n % 60 = 7'
    sql -c "TRUNCATE changed" -c "INSERT INTO changed SELECT n::text FROM plain WHERE n % 60 BETWEEN 2 AND 6"
    refresh "$way" "$way"
    both "UPDATE TABLE AS t SET sig = bloom_signature(p.given_name || p.surname || p.dob), tokens = regexp_split_to_array(p.given_name || p.surname || p.dob, '') FROM plain AS p WHERE p.n = t.n AND t.n % 60 BETWEEN 2 AND 6"
    refresh "back$way" "$way"
done
say "pairs that are kept: $(sql -c 'SELECT count(*) FROM kept')"

sql -c "CREATE TABLE bad_keys AS SELECT 'x' AS key" -c 'CREATE TABLE null_keys (key text)' -c 'INSERT INTO null_keys VALUES (NULL)' \
    -c 'CREATE TABLE twice AS SELECT n, sig FROM one UNION ALL SELECT n, sig FROM one' -c "SELECT create_distributed_table('twice', 'n')" >/dev/null
refused 42809 "SELECT bloom_citus_model_duplicates('plain', 'n', model, 'none') FROM model"
refused 42P07 "SELECT bloom_citus_model_duplicates('person', 'n', model, 'found') FROM model"
refused 42703 "SELECT bloom_citus_model_duplicates('person', 'number', model, 'none') FROM model"
refused 42703 "SELECT bloom_citus_model_duplicates('few', 'n', replace(model::text, '\"city\"', '\"town\"')::jsonb, 'none') FROM model"
refused 21000 "SELECT bloom_citus_model_duplicates('person', 'surname', model, 'none') FROM model"
refused 22023 "SELECT bloom_citus_model_duplicates('person', 'n', model, 'none', 2) FROM model"
refused 22023 "SELECT bloom_citus_model_duplicates('person', 'n', model, 'none', options => '{\"no_option\": 1}') FROM model"
refused 22023 "SELECT bloom_citus_model_duplicates('person', 'n', '{}', 'none')"
refused 22023 "SELECT bloom_citus_model_duplicates('person', 'n', jsonb_set(model, '{searches}', '[{\"scan\": 30, \"pairs_per_record\": 1, \"matches_per_record\": 1}]'), 'none') FROM model"
limited="jsonb_set(model, '{searches}', '[{\"equal\": [\"surname\", \"dob\"], \"most\": 40, \"pairs_per_record\": 0, \"matches_per_record\": 0}]'), "
refused 54000 "SELECT bloom_model_duplicates('plain', 'n', ${limited}0.5, '{\"pair_limit\": 10}') FROM model"
refused 54000 "SELECT bloom_citus_model_duplicates('person', 'n', ${limited}'none', options => '{\"pair_limit\": 10}') FROM model"
refused 22004 "UPDATE person SET entered = NULL WHERE n = 1; SELECT bloom_citus_model_duplicates('person', 'entered', model, 'none') FROM model"
# A column of a type of somebody's is not compared, whether all records are read or not.
sql -c 'CREATE DOMAIN family AS text' -c 'CREATE TABLE of_families AS SELECT n, given_name, surname::family AS surname, dob FROM plain' -c "SELECT create_distributed_table('of_families', 'n')" >/dev/null
[[ $(sql -c "SELECT model -> 'fields' @? '\$[*] ? (@.name == \"surname\")' AS is_there, model #>> '{left_out,surname}' FROM bloom_citus_model_fit('of_families', 'n') AS model") == 'f|values of type public.family of a distributed table are not compared' ]] || die 'a column of a domain'
refused 0A000 "SELECT bloom_citus_model_fit('of_families', 'n', '{given_name,surname}')"
refused 22023 "SELECT bloom_citus_model_fit('person', 'n', sample => 10)"
refused 42809 "SELECT bloom_citus_model_fit('plain', 'n')"
refused 0A000 "SELECT bloom_citus_model_fit('person', 'n', labels => 'known', sample => 5000)"
# Another column, another table, keys that are none: as bloom_pairs_refresh, and nothing is deleted.
refused 42703 "SELECT bloom_citus_pairs_refresh('found', 'several', 'n', 'sig', 0.7, 'changed')"
refused 21000 "SELECT bloom_citus_pairs_refresh('kept', 'twice', 'n', 'sig', 0.7, 'changed')"
refused 22P02 "SELECT bloom_citus_pairs_refresh('kept', 'several', 'n', 'sig', 0.7, 'bad_keys')"
refused 22004 "SELECT bloom_citus_pairs_refresh('kept', 'several', 'n', 'sig', 0.7, 'null_keys')"
refused 42703 "SELECT bloom_citus_pairs_refresh('kept', 'several', 'n', 'sig', 0.7, 'model')"
refused 22004 "SELECT bloom_citus_pairs_refresh(NULL, 'several', 'n', 'sig', 0.7, 'changed')"
refused 22004 "SELECT bloom_citus_model_duplicates('person', 'n', model, NULL) FROM model"
refused 42809 "SELECT bloom_citus_pairs_refresh('kept', 'one', 'n', 'sig', 0.7, 'changed')"
refused 42804 "SELECT bloom_citus_pairs_refresh('kept', 'several', 'n', 'sig', 0.7, 'changed', verify => 'bloom_sig')"
refused 42703 "SELECT bloom_citus_pairs_refresh('kept', 'several', 'n', 'sig', 0.7, 'changed', verify => 'words')"
refused 22023 "SELECT bloom_citus_pairs_refresh('kept', 'several', 'n', 'sig', 0.7, 'changed', margin => 0.1)"
refused 22023 "SELECT bloom_citus_pairs_refresh('kept', 'several', 'n', 'sig', 0.7, 'changed', verify => 'tokens', margin => 2)"
sql -c 'CREATE ROLE stranger LOGIN' -c 'GRANT ALL ON SCHEMA public TO stranger' -c 'GRANT SELECT ON model TO stranger'
refused 42501 "SET ROLE stranger; SELECT bloom_citus_model_duplicates('person', 'n', model, 'none') FROM model"
refused 42501 "SET ROLE stranger; SELECT bloom_citus_model_fit('person', 'n')"
refused 42501 "SET ROLE stranger; SELECT bloom_citus_pairs_refresh('kept', 'several', 'n', 'sig', 0.7, 'changed')"
refused 57014 "SET statement_timeout = 400; SELECT bloom_citus_model_duplicates('person', 'n', model, 'none') FROM model"
left=$(for node in coordinator worker1 worker2; do
    citus_use "$node"
    sql -c "SELECT relname FROM pg_class WHERE relname ~ '^(_bloom_citus|none)'"
done)
[[ -z $left ]] || die "tables are left: $left"
say 'what cannot be is refused, and leaves nothing'
