#!/usr/bin/env bash
# tests/quality/missed.sh: one table, in Markdown, of the duplicates that the searches of match models do not find, and what they would bring if all
# pairs were compared. Run by "make quality". sets.sh says which sets there are, and what can be set.
#
# Each missed duplicate is judged by the model as it stands. Only right pairs are added, so the last column is rather too good.

# shellcheck source=tests/quality/sets.sh
source "$(dirname "${BASH_SOURCE[0]}")/sets.sh"

# measure NAME KEY FIELDS PERSONAL: a row of the result for the table one and the known pairs in truth. Of two tables there is none.
measure() {
    local name=$1 key=$2 fields personal=$4
    [[ -z $(sql -c "SELECT to_regclass('two')") ]] || return 0
    fields=$(kinds "$3")
    sql -c "CREATE TABLE fitted AS SELECT bloom_model_fit('one', '$key', '{$fields}', '{$personal}') AS model" -c "
        CREATE TABLE found AS SELECT least(a COLLATE \"C\", b) AS a, greatest(a COLLATE \"C\", b) AS b, probability
            FROM bloom_model_duplicates('one', '$key', (SELECT model FROM fitted), 0, options => '{\"force\": true}')" -c "
        CREATE TABLE missed AS SELECT sum(e.bits) AS bits FROM fitted, truth JOIN one AS x ON x.$key = truth.a JOIN one AS y ON y.$key = truth.b,
            LATERAL bloom_model_explain(model, to_jsonb(x), to_jsonb(y)) AS e
            WHERE NOT EXISTS (SELECT FROM found WHERE found.a = truth.a AND found.b = truth.b) GROUP BY truth.a, truth.b"
    sql -F ' | ' -c "
        WITH n AS (SELECT (SELECT count(*) FROM truth) AS known, (SELECT count(*) FROM missed) AS missed, (SELECT count(*) FROM missed WHERE bits >= 0) AS likely,
            (SELECT count(*) FROM found WHERE probability >= 0.5) AS pairs, (SELECT count(*) FROM found JOIN truth USING (a, b) WHERE probability >= 0.5) AS right)
        SELECT '| $name', known, missed, likely, round(2.0 * \"right\" / (pairs + known), 4), round(2.0 * (\"right\" + likely) / (pairs + likely + known), 4) || ' |' FROM n"
}

echo '| set | duplicate pairs | not found | of them at .5 | F1 at .5 | F1 at .5 with them |'
echo '|---|---|---|---|---|---|'
all_sets
