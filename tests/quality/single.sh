#!/usr/bin/env bash
# tests/quality/single.sh: whether single records find what the batch finds. One table, in Markdown: for every set of one table of sets.sh the pairs of
# records that have a key of bloom_model_keys() in common, in blocks as large as their search allows, with bloom_model_score(), beside those of
# bloom_model_duplicates() by the same searches, without a scan, and beside what bloom_register_match() gives for each record; and what the scan of a
# small table finds besides. It fails if one pair differs, or one bit of a probability. Run by "make quality".

# shellcheck source=tests/quality/sets.sh
source "$(dirname "${BASH_SOURCE[0]}")/sets.sh"

measure() {
    local name=$1 key=$2 fields personal=$4 wrong wrong_of_register
    if [[ -n $(sql -c "SELECT to_regclass('two')") ]]; then return; fi
    fields=$(kinds "$3")
    sql -c "CREATE TABLE fitted AS SELECT bloom_model_fit('one', '$key', '{$fields}', '{$personal}') AS model" \
        -c "CREATE TABLE scanned AS SELECT a, b FROM bloom_model_duplicates('one', '$key', (SELECT model FROM fitted), 0.5, options => '{\"force\": true}')" \
        -c "UPDATE fitted SET model = jsonb_set(model, '{searches}',
            (SELECT coalesce(jsonb_agg(search ORDER BY n), '[]') FROM jsonb_array_elements(model->'searches') WITH ORDINALITY AS s (search, n) WHERE NOT search ? 'scan'))" \
        -c "CREATE TABLE batch AS SELECT a, b, probability, bits FROM bloom_model_duplicates('one', '$key', (SELECT model FROM fitted), 0.5, options => '{\"force\": true}')" \
        -c "CREATE TABLE record AS SELECT \"$key\"::text AS id, to_jsonb(one) AS record FROM one" \
        -c "CREATE TABLE keys AS SELECT id, k.search, k.key FROM fitted, record, bloom_model_keys(model, record, (SELECT count(*) FROM record)) AS k" \
        -c 'CREATE INDEX ON record (id)' -c 'CREATE INDEX ON keys (search, key)' -c 'ANALYZE record' -c 'ANALYZE keys' \
        -c "CREATE TABLE allowed AS SELECT n - 1 AS search, (s ->> 'most')::int AS most FROM fitted, jsonb_array_elements(model -> 'searches') WITH ORDINALITY AS s (s, n)" \
        -c "CREATE TABLE pair AS WITH block AS (SELECT search, key FROM keys JOIN allowed USING (search) GROUP BY search, key, most HAVING count(*) BETWEEN 2 AND most)
            SELECT DISTINCT x.id AS a, y.id AS b FROM block JOIN keys AS x USING (search, key) JOIN keys AS y USING (search, key) WHERE x.id COLLATE \"C\" < y.id COLLATE \"C\"" \
        -c "CREATE TABLE single AS SELECT a, b, score.probability, score.bits FROM fitted, pair JOIN record AS x ON x.id = a JOIN record AS y ON y.id = b,
            LATERAL bloom_model_score(model, x.record, y.record, (SELECT count(*) FROM record)) AS score WHERE score.probability >= 0.5"
    wrong=$(sql -c "SELECT count(*) FROM (SELECT least(a COLLATE \"C\", b COLLATE \"C\") AS a, greatest(a COLLATE \"C\", b COLLATE \"C\") AS b, probability, bits FROM batch) AS batch
        FULL JOIN single USING (a, b, probability, bits) WHERE batch.a IS NULL OR single.a IS NULL")
    # Each pair from either side.
    sql -c 'CREATE TABLE live AS TABLE one' -c "ALTER TABLE live ADD UNIQUE (\"$key\")" -c "SELECT bloom_register_create(model, 'live', '$key') FROM fitted" >/dev/null
    wrong_of_register=$(sql -c "SELECT count(*) FROM (SELECT a, b, probability, bits FROM batch UNION ALL SELECT b, a, probability, bits FROM batch) AS batch
        FULL JOIN (SELECT live.\"$key\"::text AS a, m.key AS b, m.probability, m.bits FROM live, bloom_register_match('live_register', to_jsonb(live), 0.5, NULL) AS m) AS found
        USING (a, b, probability, bits) WHERE batch.a IS NULL OR found.a IS NULL")
    sql -F ' | ' -c "SELECT '| $name', (SELECT count(*) FROM record), (SELECT count(DISTINCT search) FROM keys), (SELECT round(1.0 * count(*) / (SELECT count(*) FROM record), 1) FROM keys),
        (SELECT count(*) FROM pair), (SELECT count(*) FROM batch), $wrong, $wrong_of_register, (SELECT count(*) FROM (SELECT least(a COLLATE \"C\", b COLLATE \"C\"), greatest(a COLLATE \"C\", b COLLATE \"C\") FROM scanned EXCEPT SELECT a, b FROM single) AS s) || ' |'"
    ((wrong == 0 && wrong_of_register == 0)) || failed=1
}

failed=0
echo '| set | records | searches with keys | keys a record | pairs with a key in common | of them at .5 | other ones of the batch | of the register | found by the scan alone |'
echo '|---|---|---|---|---|---|---|---|---|'
all_sets
((failed == 0)) || die 'single records find other pairs than the batch'
