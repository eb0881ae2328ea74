#!/usr/bin/env bash
# The page of a report in a browser without a window: what people do on it, and what it must not do.
# REPORT_SHOTS=folder keeps its screenshots.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

need_packages chromium chromium-driver python3-selenium

dir=$SCRATCH/report_page
mkdir -p "$dir/shots"
cp "$ROOT"/tests/report_page/*.py "$dir"
chmod -R a+rX "$dir"
((EUID != 0)) || chown -R "$(server_user)" "$dir"
cp "$ROOT/tests/data/febrl3.csv" "$ROOT/docs/data/register.csv" "$dir"
chmod a+r "$dir"/*.csv

createdb report_page
export PGDATABASE=report_page
psql -XAtq -v ON_ERROR_STOP=1 -v csv="$dir/febrl3.csv" -v register="$dir/register.csv" -f "$ROOT/tests/report_page/tables.sql"
# page FILE SQL: what the statement gives, as psql -o writes it
page() { psql -XAtq -v ON_ERROR_STOP=1 -o "$SCRATCH/page" -c "$2" && install -m 644 "$SCRATCH/page" "$dir/$1.html"; }
page table "SELECT bloom_report('person', 'rec_id', 'sig', 0.6, truth => 'truth', decisions => 'decided', search_from => 0.4, title => 'Duplicate persons')"
page model "SELECT bloom_report_pairs('found', 'person', 'rec_id', model => model, truth => 'truth') FROM model"
page entities "SELECT bloom_report_pairs('kept_entity', 'kept', 'rec_id')"
page many "SELECT bloom_report_pairs('many', 'person', 'rec_id', '{given_name,surname,address_1,suburb,date_of_birth,soc_sec_id}')"
page register "SELECT bloom_report_pairs('reader_pair', 'register', 'number', '{given_name,surname,born,street,town,phone}', model => model) FROM reader_model"
page queue "SELECT bloom_report_pairs('asked', 'person', 'rec_id', model => model) FROM model"
page linkage "SELECT bloom_report_linkage('link', 'original', 'rec_id', 'copy', 'rec_id', decisions => 'linked_decisions')"
page changed "SELECT bloom_report('changed', 'rec_id', 'sig', 0.6, decisions => 'changed_decision')"
page degrees "SELECT bloom_report_pairs('degrees', 'degree', 'key')"
page odd "SELECT bloom_report_pairs('odd_pairs', 'odd', 'key')"
page two_halves "SELECT bloom_report_pairs('halves', 'odd', 'key')"

# Browsers are given a home of their own. They are run as the server's user, who is not root, side by side: they mostly wait.
running=()
for module in test_page test_meant test_clicks; do
    AS_SERVER_DIR=$dir as_server env HOME="$dir" TMPDIR="$dir" PYTHONDONTWRITEBYTECODE=1 timeout 900 /usr/bin/python3 -m unittest -q $module &
    running+=($!)
done
for pid in "${running[@]}"; do wait "$pid" || failed=1; done
[[ -z ${REPORT_SHOTS:-} ]] || cp "$dir"/shots/*.png "$REPORT_SHOTS"
[[ -z ${failed:-} ]] || die 'the page is not as it should be (see above)'

# What was exported is read back, by either way, whatever the settings of the session are.
read_back() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
for file in odd table linkage; do
    [[ -s $dir/$file.csv && -s $dir/$file.sql ]] || die "nothing was exported of $file"
    read_back -c 'TRUNCATE decisions' -c "\\copy decisions (a, b, decision, at, hash) FROM '$dir/$file.csv' WITH (FORMAT csv, HEADER)"
    by_csv=$(read_back -c 'SELECT a, b, decision, at, hash FROM decisions ORDER BY a COLLATE "C", b COLLATE "C"')
    for setting in on off; do
        read_back -c 'TRUNCATE decisions' -c "SET standard_conforming_strings = $setting" -c 'SET escape_string_warning = off' \
            -c "SET client_encoding = LATIN1" -f "$dir/$file.sql"
        [[ $(read_back -c 'SELECT a, b, decision, at, hash FROM decisions ORDER BY a COLLATE "C", b COLLATE "C"') == "$by_csv" ]] ||
            die "$file: INSERT with standard_conforming_strings = $setting gave other decisions than CSV"
    done
done
# With the hashes of the records as they are, none of them has changed.
read_back -c 'TRUNCATE decisions' -f "$dir/table.sql"
[[ $(read_back -c "SELECT count(*) FROM decisions AS d JOIN bloom_record_hash('person', 'rec_id', '{given_name,surname,address_1,suburb,date_of_birth,soc_sec_id,note}') AS a ON a.key = d.a
    JOIN bloom_record_hash('person', 'rec_id', '{given_name,surname,address_1,suburb,date_of_birth,soc_sec_id,note}') AS b ON b.key = d.b WHERE d.hash = a.hash || ' ' || b.hash") == 7 ]] ||
    die 'the hashes are not those of bloom_record_hash'
# What is decided on the page of entities changes them: of the two pairs one parts an entity, and one is held by the decision from then on.
by_key() { read_back -c "SELECT count(DISTINCT entity) FROM kept_entity WHERE key IN (SELECT unnest(ARRAY[a, b]) FROM decisions WHERE decision = '$1')"; }
read_back -c 'TRUNCATE decisions' -c "\copy decisions (a, b, decision, at, hash) FROM '$dir/entities.csv' WITH (FORMAT csv, HEADER)"
[[ $(by_key different) == 1 && $(by_key same) == 1 ]] || die 'the pairs on the page of entities were not in one entity'
read_back -f "$dir/entities.sql"
[[ $(by_key different) == 2 && $(by_key same) == 1 ]] || die 'what was decided on the page of entities has not changed them'
[[ $(read_back -c "SELECT count(*) FROM bloom_review_queue('kept_entity', 5000) JOIN decisions USING (a, b)") == 0 ]] ||
    die 'what was decided on the page of entities is asked again'
# All keys of the odd table came through.
read_back -c 'TRUNCATE decisions' -f "$dir/odd.sql"
[[ $(read_back -c 'SELECT count(*) FROM decisions JOIN odd_pairs USING (a, b)') == "$(read_back -c 'SELECT count(*) FROM odd_pairs')" ]] ||
    die 'a key of the odd table did not come back'
