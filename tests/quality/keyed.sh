#!/usr/bin/env bash
# tests/quality/keyed.sh: how good the pairs of keyed signatures are, by hash, hardening and secret, in Markdown. Run by "make quality".
#
# Schemas are febrl.linkage.json and people.linkage.json: 1,024 bits, of which each field sets eight for each bit of the Shannon entropy of its
# values, so that somewhat less than half of the filter is set; words are compared by bigrams, numbers by the places of their digits. No known
# pair was used for them. Secrets are made of numbers, so that the results are the same on every run, apart from BLIP, which flips bits by chance.
#   QUALITY_SECRETS="1 2 3 4 5"              the secrets
#   QUALITY_KEYED="febrl4 febrl3 people"     the sets

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/bench-env.sh"

data=$ROOT/tests/data/quality
read -ra secrets <<<"${QUALITY_SECRETS:-1 2 3 4 5}"
export PGOPTIONS='-c jit=off -c client_min_messages=error -c maintenance_work_mem=256MB'
sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

# load TABLE FILE COLUMNS: a CSV.
load() {
    case $2 in
        *.gz) gzip -dc "$2" ;;
        *) cat "$2" ;;
    esac >"$SCRATCH/keyed.csv"
    sql -c "CREATE TABLE $1 (${3//,/ text,} text)" -c "\\copy $1 FROM '$SCRATCH/keyed.csv' (FORMAT csv, HEADER)" -c "ANALYZE $1"
}

# begin_set NAME: its tables are one and, if there are two, two; their columns key and entity, and those that the schema names.
begin_set() {
    local febrl=key,entity,given_name,surname,street_number,address_1,address_2,suburb,postcode,state,date_of_birth,soc_sec_id
    PGDATABASE=postgres sql -c 'DROP DATABASE IF EXISTS keyed WITH (FORCE)' -c 'CREATE DATABASE keyed'
    export PGDATABASE=keyed
    sql -c 'CREATE EXTENSION bloom_ident' -c "SELECT bloom_secret_import('secret ' || n, sha256(('quality ' || n)::bytea)) FROM generate_series(1, 9) AS n" >/dev/null
    case $1 in
        febrl3) load one "$ROOT/tests/data/febrl3.csv" $febrl ;;
        febrl4)
            load one "$data/febrl4a.csv.gz" $febrl
            load two "$data/febrl4b.csv.gz" $febrl
            ;;
        people)
            python3 "$ROOT/tests/quality/people.py" 5000 1 >"$SCRATCH/people.csv"
            load one "$SCRATCH/people.csv" key,entity,given_name,surname,dob,street,city,postcode,phone,email
            ;;
        *) die "QUALITY_KEYED: there is no set \"$1\"" ;;
    esac
    sql -v "schema=$(<"$ROOT/tests/quality/${1//[0-9]/}.linkage.json")" <<<"CREATE TABLE linkage AS SELECT :'schema'::jsonb AS schema"
    two=two
    [[ $1 == febrl4 ]] || two=one
    sql -c "CREATE TABLE truth AS SELECT x.key AS a, y.key AS b, true AS same FROM one AS x JOIN $two AS y USING (entity) WHERE '$two' = 'two' OR x.key COLLATE \"C\" < y.key COLLATE \"C\"" \
        -c 'ALTER TABLE truth ADD PRIMARY KEY (a, b)' \
        -c 'CREATE TABLE result (secret integer, f1 float8, at float8, once float8, once_at float8, fixed float8, fixed_once float8, bits float8)'
}

# pairs LEAST SIGNATURE…: those of which one of the signatures, expressions over a record, has a Dice similarity of LEAST.
pairs() {
    local least=$1 signature of
    sql -c 'DROP TABLE IF EXISTS link, x, y' -c 'CREATE TABLE link (a text, b text, similarity float8)'
    shift
    for signature; do
        sql -c 'DROP TABLE IF EXISTS x, y' -c "CREATE TABLE x AS SELECT key, $signature AS sig FROM one AS r, linkage" -c 'CREATE INDEX ON x USING sigfile (sig)'
        of="bloom_duplicates('x', 'key', 'sig', $least / (2 - $least))"
        if [[ $two == two ]]; then
            sql -c "CREATE TABLE y AS SELECT key, $signature AS sig FROM two AS r, linkage" -c 'CREATE INDEX ON y USING sigfile (sig)'
            of="bloom_linkage('x', 'key', 'sig', 'y', 'key', 'sig', $least / (2 - $least))"
        fi
        sql -c "INSERT INTO link SELECT CASE WHEN swap THEN b ELSE a END, CASE WHEN swap THEN a ELSE b END, 2 * similarity / (1 + similarity)
            FROM (SELECT *, '$two' = 'one' AND a COLLATE \"C\" > b COLLATE \"C\" AS swap FROM $of) AS pair"
    done
    sql -c 'CREATE TABLE best AS SELECT a, b, max(similarity) AS similarity FROM link GROUP BY a, b' -c 'DROP TABLE link' -c 'ALTER TABLE best RENAME TO link' -c 'ANALYZE link'
}

# score SECRET FIXED FIXED_ONCE: F1 of the pairs, of which $least is the least similarity, at the best threshold and at a fixed one; of two tables also one to one.
score() {
    sql -c 'DROP TABLE IF EXISTS once' -c "CREATE TABLE once AS SELECT * FROM link WHERE false"
    [[ $two == one ]] || sql -c "INSERT INTO once SELECT * FROM bloom_assign('link')"
    sql -c "
        INSERT INTO result
        WITH known AS (SELECT count(*)::float8 AS pairs FROM truth),
        step AS (SELECT once, similarity, count(*) AS found, count(same) AS right
            FROM (SELECT false AS once, * FROM link UNION ALL SELECT true, * FROM once) AS pair LEFT JOIN truth USING (a, b) GROUP BY once, similarity),
        falling AS (SELECT once, similarity, 2 * sum(\"right\") OVER falling / (sum(found) OVER falling + known.pairs) AS f1 FROM step, known
            WINDOW falling AS (PARTITION BY once ORDER BY similarity DESC)),
        best AS (SELECT DISTINCT ON (once) * FROM falling ORDER BY once, f1 DESC, similarity DESC),
        fixed AS (SELECT DISTINCT ON (once) * FROM falling WHERE similarity >= CASE WHEN once THEN $3 ELSE $2 END AND $2 >= $least ORDER BY once, similarity)
        SELECT $1, best.f1, best.similarity, o.f1, o.similarity, fixed.f1, f.f1, (SELECT avg(bloom_bits(sig)) FROM x)
        FROM best LEFT JOIN fixed USING (once) LEFT JOIN best AS o ON o.once LEFT JOIN fixed AS f ON f.once WHERE NOT best.once"
}

# row SET WHAT FIXED FIXED_ONCE: the scores that were made since the last one.
row() {
    sql -F ' | ' -v "what=$2" -c "
        SELECT '| $1 | $2', round(avg(bits)), round(avg(f1)::numeric, 4), concat_ws(' to ', round(min(f1)::numeric, 4), round(nullif(max(f1), min(f1))::numeric, 4)), round(avg(at)::numeric, 3),
            CASE WHEN min(fixed) IS NULL THEN '' ELSE '$3' END, coalesce(round(min(fixed)::numeric, 4)::text, ''), coalesce(round(avg(once)::numeric, 4)::text, ''), coalesce(round(avg(once_at)::numeric, 3)::text, ''), CASE WHEN max(once) IS NULL THEN '' ELSE '$4' END, coalesce(round(min(fixed_once)::numeric, 4)::text, '') || ' |'
        FROM result" -c 'TRUNCATE result'
}

# keyed SET WHAT FIXED FIXED_ONCE LEAST HASH FLIP HARDENING…: a row over the secrets that $with has; FLIP is the probability of BLIP, or empty.
keyed() {
    local set=$1 what=$2 fixed=$3 fixed_once=$4 least=$5 hash=$6 flip=$7 secret hardening one signatures
    shift 7
    for secret in "${with[@]}"; do
        signatures=()
        for hardening; do
            one="bloom_clk(to_jsonb(r), replace(schema::text, 'blakeHash', '$hash')::jsonb, 'secret $secret'${hardening:+, '$hardening'})"
            signatures+=("${flip:+bloom_clk_flip(}$one${flip:+, $flip)}")
        done
        pairs "$least" "${signatures[@]}"
        score "$secret" "$fixed" "$fixed_once"
    done
    row "$set" "$what" "$fixed" "$fixed_once"
}

# set_of NAME TITLE FIELDS SALT SECOND…: its rows. The salt is the first one; each second one is another signature, and either may find a pair.
# The fixed thresholds are those of docs/keyed.md, which are the same for all sets.
set_of() {
    # Pairs below it are too many, and none of their thresholds is the best: people of a family are as alike.
    local near=0.57 least
    [[ $1 != people ]] || near=0.72
    local set=$2 fields=$3 salt=$4 hash second with=("${secrets[@]}") clk=blakeHash
    begin_set "$1"
    shift 4
    # 7 segments of 149 bits, which is 1,043.
    least=$near
    pairs "$least" "bloom_signature_of_fields(2, 108, 0.01, $fields)"
    score 0 0.72 0.65
    row "$set" 'unkeyed, of fields' 0.72 0.65
    for hash in blakeHash doubleHash; do keyed "$set" "$hash" 0.68 0.63 $near $hash '' ''; done
    keyed "$set" "salt $salt or $1" 0.65 0.62 0.57 $clk '' "{\"salt\": [\"$salt\"]}" "{\"salt\": [\"$1\"]}"
    # Of what else there is, one secret says enough.
    with=("${secrets[0]}")
    for hash in blakeHash doubleHash; do keyed "$set" "salt $salt, $hash" 0.65 0.62 0.57 $hash '' "{\"salt\": [\"$salt\"]}"; done
    for second in "${@:2}"; do
        keyed "$set" "salt $salt or ${second//\", \"/ and }" 0.65 0.62 0.57 $clk '' "{\"salt\": [\"$salt\"]}" "{\"salt\": [\"$second\"]}"
    done
    keyed "$set" 'diffusion 2' 0.61 0.57 0.545 $clk '' '{"diffusion": 2}'
    keyed "$set" 'diffusion 3' 0.59 0.57 0.545 $clk '' '{"diffusion": 3}'
    keyed "$set" 'diffusion 4' 0.59 0.57 0.545 $clk '' '{"diffusion": 4}'
    keyed "$set" 'diffusion 8' 0.58 0.57 0.545 $clk '' '{"diffusion": 8}'
    keyed "$set" "salt $salt or $1, diffusion 2" 0.6 0.57 0.545 $clk '' "{\"salt\": [\"$salt\"], \"diffusion\": 2}" "{\"salt\": [\"$1\"], \"diffusion\": 2}"
    keyed "$set" "salt $salt or $1, diffusion 3" 0.59 0.57 0.545 $clk '' "{\"salt\": [\"$salt\"], \"diffusion\": 3}" "{\"salt\": [\"$1\"], \"diffusion\": 3}"
    keyed "$set" balanced 0.71 0.67 $near $clk '' '{"balance": true}'
    keyed "$set" 'BLIP at 0.02' 0.66 0.61 $near $clk 0.02 ''
    keyed "$set" 'BLIP at 0.05' 0.65 0.61 $near $clk 0.05 ''
}

echo '| set | signature | bits set | best F1 of pairs | least to greatest | at Dice | fixed at | F1 there, least | best F1 one to one | at Dice | fixed at | F1 there, least |'
echo '|---|---|---|---|---|---|---|---|---|---|---|---|'
for name in ${QUALITY_KEYED-febrl4 febrl3 people}; do
    persons='given_name, surname, street_number, address_1, address_2, suburb, postcode, state, date_of_birth'
    case $name in
        febrl4) set_of febrl4 'FEBRL 4' "$persons" date_of_birth soc_sec_id postcode 'postcode", "street_number' ;;
        febrl3) set_of febrl3 'FEBRL 3' "$persons" date_of_birth soc_sec_id postcode ;;
        *) set_of people '5000 people, seed 1' 'given_name, surname, dob, street, city, postcode, phone, email' dob email postcode ;;
    esac
done
