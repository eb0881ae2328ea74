# shellcheck shell=bash
# Sourced by run.sh and reliability.sh: the sets of data whose duplicates are known.
#
# Who sources it defines measure NAME KEY FIELDS PERSONAL PEER PEER_95, which is called for each set, with its records in the table one and, if
# there are two tables, two, and with the known pairs in the table truth. Then $of_things says whether they compete, and how.
#   QUALITY_SETS="febrl3 dblp_acm"  these sets only; "" for none
#   QUALITY_PEOPLE="20000"          sizes of the generated tables of people, "" for none
#   QUALITY_SEEDS="1 2 3 4 5"       their seeds; a million has the first only
#   QUALITY_MILLION=1               a million people as well
#   QUALITY_SPARSE="50000"          sizes of the generated registers in which much is missing, of the first seed only; "" for none
#   QUALITY_MISSING="0.1 0.25"      the shares of their values that are missing
#   QUALITY_EQUAL_ONLY=1            the searches for similar values are taken out of the models
#   QUALITY_PERSONAL=dob            the personal fields of people, "" for none
#   QUALITY_FORMATS="20000"         sizes of the generated tables of people that are written in many ways, of the first seed only; "" for none
#   QUALITY_OTHERS="20000"         sizes of the generated tables of people who live otherwise, of the same seeds; "" for none
#   QUALITY_KINDS="off"             every field is compared as text; or kinds for columns by name, such as "phone:text given_name:text"
#   QUALITY_SIGNED=plain            every field is a CLK of its own, and nothing else is known of it; or a hardening, such as '{"balance": true}'
#   QUALITY_STRATEGY='"bitsPerToken": 15', QUALITY_BITS=1024   how many bits they set, and have
#   QUALITY_FILES="a.csv"           more tables of people: CSV with the columns of tests/quality/people.py, id or rec_id and entity or entity_id
#   QUALITY_DATA=folder             where the packed sets are (default tests/data/quality)

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/bench-env.sh"

data=${QUALITY_DATA:-$ROOT/tests/data/quality}
persons='given_name,surname,street_number,address_1,address_2,suburb,postcode,state,date_of_birth,soc_sec_id'
strategy=${QUALITY_STRATEGY:-'"bitsPerToken": 15'}
people='given_name,surname,dob,street,city,postcode,phone,email'

export PGOPTIONS='-c jit=off -c client_min_messages=warning -c maintenance_work_mem=256MB -c work_mem=256MB'
sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

# load TABLE FILE: a CSV, packed or not, with a column of text for each of its own.
load() {
    local header column columns=()
    case $2 in
        *.gz) gzip -dc "$2" ;;
        *) cat "$2" ;;
    esac >"$SCRATCH/quality.csv"
    IFS=, read -r header <"$SCRATCH/quality.csv"
    header=${header%$'\r'}
    for column in ${header//,/ }; do columns+=("\"$column\" text"); done
    sql -c "CREATE TABLE $1 ($(IFS=,; echo "${columns[*]}"))" -c "\copy $1 FROM '$SCRATCH/quality.csv' (FORMAT csv, HEADER)"
    rm "$SCRATCH/quality.csv"
    sql -c "ANALYZE $1"
}

# kinds FIELDS: the fields with the kinds that are asked for.
kinds() {
    local field wish kind fields=()
    for field in ${1//,/ }; do
        kind=
        for wish in ${QUALITY_KINDS:-}; do
            [[ $wish != off ]] || kind=:text
            [[ $wish != "$field":* ]] || kind=:${wish#*:}
        done
        fields+=("$field$kind")
    done
    (IFS=,; echo "${fields[*]}")
}

# sign KEY FIELDS: the tables one and two have keyed signatures of these fields in their place, by a schema of one feature each: what has digits, of single
# characters with their places, and anything else of pairs of characters.
sign() {
    local table field tokens columns hardening=
    [[ -n ${QUALITY_SIGNED:-} ]] || return 0
    [[ $QUALITY_SIGNED == plain ]] || hardening=", '$QUALITY_SIGNED'"
    sql -c "SELECT bloom_secret_create('quality')" >/dev/null
    for table in one two; do
        [[ -n $(sql -c "SELECT to_regclass('$table')") ]] || continue
        columns=$1
        for field in ${2//,/ }; do
            tokens='"n": 2'
            case $field in
                dob | date_of_birth | postcode | street_number | soc_sec_id | phone) tokens='"n": 1, "positional": true' ;;
            esac
            columns+=", bloom_clk(to_jsonb(r) || jsonb_build_object('value', ident_normalize($field)), '{\"version\": 3,
                \"clkConfig\": {\"l\": ${QUALITY_BITS:-1024}, \"kdf\": {\"type\": \"HKDF\"}}, \"features\": [{\"identifier\": \"value\",
                \"format\": {\"type\": \"string\"}, \"hashing\": {\"comparison\": {\"type\": \"ngram\", $tokens},
                \"strategy\": {$strategy}, \"missingValue\": {\"sentinel\": \"\"}}}]}', 'quality'$hardening) AS $field"
        done
        sql -c "CREATE TABLE signed AS SELECT $columns FROM $table AS r" -c "DROP TABLE $table" -c "ALTER TABLE signed RENAME TO $table" -c "ANALYZE $table"
    done
}

# begin_set: an empty database for a set.
begin_set() {
    # No session may be in the one that is dropped.
    PGDATABASE=postgres sql -c 'DROP DATABASE IF EXISTS quality' -c 'CREATE DATABASE quality'
    export PGDATABASE=quality
    sql -c 'CREATE EXTENSION bloom_ident'
}

# by_entity COLUMN KEY: the known pairs are those of one value of a column.
by_entity() {
    if [[ -n $(sql -c "SELECT to_regclass('two')") ]]; then
        sql -c "CREATE TABLE truth AS SELECT x.$2 AS a, y.$2 AS b, true AS same FROM one AS x JOIN two AS y USING ($1)"
    else
        sql -c "CREATE TABLE truth AS SELECT x.$2 AS a, y.$2 AS b, true AS same
            FROM one AS x JOIN one AS y ON x.$1 = y.$1 AND x.$2 COLLATE \"C\" < y.$2 COLLATE \"C\""
    fi
    sql -c 'ANALYZE truth'
}

# by_pairs FILE: the known pairs are listed.
by_pairs() {
    load listed "$1"
    # shellcheck disable=SC2016
    sql -c "CREATE TABLE truth AS SELECT DISTINCT pair.*, true AS same FROM listed AS pair(a, b)" -c 'ANALYZE truth'
}

# set_of NAME
set_of() {
    begin_set
    case $1 in
        febrl3)
            load one "$ROOT/tests/data/febrl3.csv"
            by_entity cluster_id rec_id
            measure 'FEBRL 3' rec_id "$persons" given_name,date_of_birth,soc_sec_id .997 .992
            ;;
        febrl4)
            load one "$data/febrl4a.csv.gz"
            load two "$data/febrl4b.csv.gz"
            by_entity cluster_id rec_id
            measure 'FEBRL 4' rec_id "$persons" given_name,date_of_birth,soc_sec_id 1.000 .997
            ;;
        fake_1000)
            load one "$data/fake_1000.csv.gz"
            by_entity cluster unique_id
            measure 'fake_1000' unique_id first_name,surname,dob,city,email first_name,dob,email '' ''
            ;;
        restaurant)
            load one "$data/restaurant.csv.gz"
            by_entity cluster_id rec_id
            measure 'restaurant' rec_id name,address,city,cuisine '' '' ''
            ;;
        fodors_zagats)
            load one "$data/fodors.csv.gz"
            load two "$data/zagats.csv.gz"
            by_pairs "$data/fodors_zagats.csv.gz"
            measure 'Fodors/Zagats' id name,addr,city,phone,type '' '' ''
            ;;
        dblp_acm)
            load one "$data/dblp.csv.gz"
            load two "$data/acm.csv.gz"
            by_pairs "$data/dblp_acm.csv.gz"
            measure 'DBLP/ACM' id title,authors,venue,year '' .938 .912
            ;;
        # Things compete for their partners: the same sets, fitted so.
        fodors_zagats_both)
            load one "$data/fodors.csv.gz"
            load two "$data/zagats.csv.gz"
            by_pairs "$data/fodors_zagats.csv.gz"
            of_things='both' measure 'Fodors/Zagats, one_to_one both' id name,addr,city,phone,type '' '' ''
            ;;
        dblp_acm_both)
            load one "$data/dblp.csv.gz"
            load two "$data/acm.csv.gz"
            by_pairs "$data/dblp_acm.csv.gz"
            of_things='both' measure 'DBLP/ACM, one_to_one both' id title,authors,venue,year '' .938 .912
            ;;
        *) die "QUALITY_SETS: there is no set \"$1\"" ;;
    esac
}

# people_of NAME FILE [FIELDS PERSONAL]
people_of() {
    local key entity fields=${3:-$people} personal=${4-given_name,dob,email}
    begin_set
    load one "$2"
    key=$(head -n 1 "$2" | tr , '\n' | grep -xE 'id|rec_id')
    entity=$(head -n 1 "$2" | tr , '\n' | grep -xE 'entity|entity_id')
    by_entity "$entity" "$key"
    measure "$1" "$key" "$fields" "${QUALITY_PERSONAL-$personal}" '' ''
}

# generated SIZE SEED
generated() {
    python3 "$ROOT/tests/quality/people.py" "$1" "$2" >"$SCRATCH/people.csv"
    people_of "$1 people, seed $2" "$SCRATCH/people.csv"
    rm "$SCRATCH/people.csv"
}

# sparse SIZE SEED MISSING
sparse() {
    python3 "$ROOT/tests/quality/people.py" "$1" "$2" "$3" >"$SCRATCH/people.csv"
    people_of "$1 people, $3 missing, seed $2" "$SCRATCH/people.csv" given_name,surname,dob,street,city,postcode given_name,dob
    rm "$SCRATCH/people.csv"
}

# formats SIZE SEED
formats() {
    python3 "$ROOT/tests/quality/people.py" "$1" "$2" formats >"$SCRATCH/people.csv"
    people_of "$1 people, many formats, seed $2" "$SCRATCH/people.csv"
    rm "$SCRATCH/people.csv"
}

# others SIZE SEED
others() {
    python3 "$ROOT/tests/quality/people.py" "$1" "$2" others >"$SCRATCH/people.csv"
    people_of "$1 other people, seed $2" "$SCRATCH/people.csv"
    rm "$SCRATCH/people.csv"
}

# all_sets: calls measure for every set that is asked for.
all_sets() {
    local name size seed seeds missing file
    for name in ${QUALITY_SETS-febrl3 febrl4 fake_1000 restaurant fodors_zagats dblp_acm fodors_zagats_both dblp_acm_both}; do set_of "$name"; done
    read -ra seeds <<<"${QUALITY_SEEDS-1 2 3 4 5}"
    for size in ${QUALITY_PEOPLE-20000}; do
        for seed in "${seeds[@]}"; do generated "$size" "$seed"; done
    done
    for size in ${QUALITY_SPARSE-50000}; do
        for missing in ${QUALITY_MISSING:-0.1 0.25}; do sparse "$size" "${seeds[0]:-1}" "$missing"; done
    done
    for size in ${QUALITY_FORMATS-20000}; do formats "$size" "${seeds[0]:-1}"; done
    for size in ${QUALITY_OTHERS-20000}; do
        for seed in "${seeds[@]}"; do others "$size" "$seed"; done
    done
    [[ -z ${QUALITY_MILLION:-} ]] || generated 1000000 "${seeds[0]:-1}"
    for file in ${QUALITY_FILES:-}; do people_of "$(basename "$file" .csv)" "$file"; done
}
