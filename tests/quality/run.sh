#!/usr/bin/env bash
# tests/quality/run.sh: one table, in Markdown, of how good the pairs of match models are. Run by "make quality". sets.sh says which sets
# there are, and what can be set.
#
# Each set is loaded as text, its model is fitted to it with its fields and personal fields and nothing else, and the pairs are compared with
# the duplicates that are known, which the model does not see.

# shellcheck source=tests/quality/sets.sh
source "$(dirname "${BASH_SOURCE[0]}")/sets.sh"

seconds() { awk -v us=$((${EPOCHREALTIME/./} - $1)) 'BEGIN { printf "%.2f", us / 1e6 }'; }

# measure NAME KEY FIELDS PERSONAL PEER PEER_95: a row of the result for the tables one and, if there are two, two, and the known pairs in truth.
measure() {
    local name=$1 key=$2 fields personal=$4 peer=$5 peer_95=$6 begin fit pairs suffix=duplicates link='' rel once='' together=''
    fields=$(kinds "$3")
    sign "$key" "$3"
    rel="'one', '$key'"
    if [[ -n $(sql -c "SELECT to_regclass('two')") ]]; then
        rel="'one', '$key', 'two', '$key'"
        suffix=linkage link=_linkage
    fi
    begin=${EPOCHREALTIME/./}
    sql -c "CREATE TABLE fitted AS SELECT bloom_model_fit${link}($rel, '{$fields}', '{$personal}'${of_things:+, one_to_one => '$of_things'}) AS model"
    fit=$(seconds "$begin")
    [[ -z ${QUALITY_EQUAL_ONLY:-} ]] || sql -c "UPDATE fitted SET model = jsonb_set(model, '{searches}',
        (SELECT coalesce(jsonb_agg(search ORDER BY n), '[]') FROM jsonb_array_elements(model->'searches') WITH ORDINALITY AS s (search, n)
            WHERE NOT search ?| '{similar,crosswise}'))"
    # A model that should not be used is used all the same, and its row says so.
    begin=${EPOCHREALTIME/./}
    sql -c "CREATE TABLE found AS SELECT * FROM bloom_model_$suffix($rel, (SELECT model FROM fitted), 0.5, options => '{\"force\": true}')"
    pairs=$(seconds "$begin")
    sql -c "CREATE TABLE candidate AS
        SELECT a, b, probability, bits, truth.same IS NOT NULL AS same
        FROM (SELECT CASE WHEN swap THEN b ELSE a END AS a, CASE WHEN swap THEN a ELSE b END AS b, probability, bits
            FROM (SELECT *, '$suffix' = 'duplicates' AND a COLLATE \"C\" > b COLLATE \"C\" AS swap
                FROM bloom_model_$suffix($rel, (SELECT model FROM fitted), 0, options => '{\"force\": true}')) AS pair) AS pair
        LEFT JOIN truth USING (a, b)"
    # The pairs of both calls must be the same.
    [[ $(sql -c 'SELECT count(*) FROM found') == $(sql -c 'SELECT count(*) FROM candidate WHERE probability >= 0.5') ]] ||
        die "$name: other pairs at 0.5 than at 0"
    if [[ $suffix == linkage ]]; then
        once=$(sql -c "SELECT round((2.0 * count(same) / (count(*) + (SELECT count(*) FROM truth))), 4)
            FROM bloom_model_linkage($rel, (SELECT model FROM fitted), 0.1, true, '{\"force\": true}') LEFT JOIN truth USING (a, b)")
    fi
    # Of one table, what its clusters make of the pairs: those that are taken apart, and those that two others imply.
    if [[ $suffix == duplicates ]]; then
        sql -c "CREATE TABLE together AS SELECT cluster, key FROM bloom_clusters('found', 0.5)"
        together=$(sql -c "SELECT round(2.0 * (SELECT count(*) FROM truth JOIN together AS x ON x.key = truth.a JOIN together AS y ON y.key = truth.b WHERE x.cluster = y.cluster)
            / ((SELECT count(*) FROM truth) + (SELECT sum(n * (n - 1) / 2) FROM (SELECT count(*) AS n FROM together GROUP BY cluster) AS size)), 4)")
    fi
    # Precision, recall and F1 at .5 and at .95, and the best F1 of all cuts.
    sql -F ' | ' -c "
        WITH known AS (SELECT count(*)::numeric AS pairs FROM truth),
        cut AS (SELECT at, count(*) AS found, count(*) FILTER (WHERE same) AS right FROM candidate, (VALUES (0.5), (0.95)) AS cut(at)
            WHERE probability >= at GROUP BY at),
        text AS (SELECT at, concat_ws(' / ', round(1.0 * \"right\" / found, 3), round(\"right\" / known.pairs, 3)) AS rates,
            round(2 * \"right\" / (found + known.pairs), 4) AS f1 FROM cut, known),
        step AS (SELECT bits, count(*) AS found, count(*) FILTER (WHERE same) AS right FROM candidate GROUP BY bits),
        falling AS (SELECT sum(found) OVER falling AS found, sum(\"right\") OVER falling AS right FROM step
            WINDOW falling AS (ORDER BY bits DESC))
        SELECT '| $name' || CASE model->>'status' WHEN 'converged' THEN '' ELSE ' (' || (model->>'status') || ')' END,
            (model->>'records')::bigint, known.pairs, round((model->>'matches_per_record')::numeric * (model->>'records')::numeric),
            (SELECT count(*) FROM candidate), (SELECT round(count(*) / known.pairs, 4) FROM candidate WHERE same),
            (SELECT rates FROM text WHERE at = 0.5), (SELECT f1 FROM text WHERE at = 0.5),
            (SELECT rates FROM text WHERE at = 0.95), (SELECT f1 FROM text WHERE at = 0.95),
            (SELECT round(max(2 * \"right\" / (found + known.pairs)), 4) FROM falling), '$once', '$together', '$peer', '$peer_95', '$fit', '$pairs |'
        FROM fitted, known"
}

echo '| set | records | duplicate pairs | expected | candidates | their recall | precision / recall at .5 | F1 at .5 | precision / recall at .95 | F1 at .95 | best F1 | F1 one to one at .1 | F1 of clusters at .5 | Splink, best F1 | Splink, F1 at .95 | fit, s | pairs, s |'
echo '|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|'
all_sets
