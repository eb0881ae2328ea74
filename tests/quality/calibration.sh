#!/usr/bin/env bash
# tests/quality/calibration.sh: what some answers of people are worth. One table, in Markdown: for every set of one table of sets.sh, how far the
# probabilities are from what is right before and after ANSWERS answers to pairs that bloom_review_queue() chooses, on pairs that nobody was
# asked about, on the average of DRAWS draws; and F1 at .5 of the calibrated model, and of a fit that takes the answers as labels. For a draw, nine in ten of the pairs are taken, and
# the answers are the truth.
#   ANSWERS=100 DRAWS=50 REFITS=5   and what sets.sh says

# shellcheck source=tests/quality/sets.sh
source "$(dirname "${BASH_SOURCE[0]}")/sets.sh"

answers=${ANSWERS:-100} draws=${DRAWS:-50} refits=${REFITS:-5}

# The distance of what is claimed from what is right, on the average of the bands with thirty pairs or more, and on that of the pairs.
distance="avg(abs(claimed - share)), sum(found * abs(claimed - share)) / sum(found) FROM bloom_reliability('left_over', 'truth_of_all') WHERE found >= 30 AND probability_from >= 0.1"

measure() {
    local name=$1 key=$2 fields personal=$4 draw model
    if [[ -n $(sql -c "SELECT to_regclass('two')") ]]; then return; fi
    fields=$(kinds "$3")
    model="bloom_model_fit('one', '$key', '{$fields}', '{$personal}'"
    sql -c "CREATE TABLE fitted AS SELECT $model) AS model" \
        -c "CREATE TABLE known AS SELECT pair.*, coalesce(same, false) AS same FROM bloom_model_duplicates('one', '$key', (SELECT model FROM fitted), 0.1, options => '{\"force\": true}') AS pair
            LEFT JOIN truth ON (least(pair.a COLLATE \"C\", pair.b), greatest(pair.a COLLATE \"C\", pair.b)) = (truth.a, truth.b)" \
        -c "CREATE VIEW truth_of_all AS SELECT a, b, CASE WHEN same THEN 'same' ELSE 'different' END AS decision, now() AS at FROM known" \
        -c 'CREATE VIEW truth_pairs AS SELECT a, b FROM truth' \
        -c "CREATE TABLE result (draw integer, refit boolean, before float8, before_pairs float8, after float8, after_pairs float8, corrected float8, f1 float8)"
    # Nobody is asked about pairs that the model is sure of.
    (($(sql -c "SELECT count(*) FROM known WHERE probability < 0.999") >= answers)) || return 0
    for ((draw = 1; draw <= draws; draw++)); do
        sql <<SQL
DROP TABLE IF EXISTS drawn, answered, calibrated, left_over, corrected;
CREATE TABLE drawn AS SELECT * FROM known WHERE hashtextextended(a || ' ' || b, $draw) % 10 <> 0;
CREATE TABLE answered AS SELECT a, b, CASE WHEN same THEN 'same' ELSE 'different' END AS decision, now() AS at, same
    FROM bloom_review_queue('drawn', $answers) JOIN known USING (a, b);
CREATE TABLE calibrated AS SELECT (c->>'slope')::float8 AS slope, (c->>'shift')::float8 AS shift
    FROM fitted, LATERAL (SELECT bloom_model_calibrate(model, 'answered', 'drawn')->'calibration' AS c) AS c;
CREATE TABLE left_over AS SELECT a, b, bits, probability FROM known WHERE (a, b) NOT IN (SELECT a, b FROM answered);
INSERT INTO result (draw, before, before_pairs) SELECT $draw, $distance;
UPDATE left_over SET probability = 1 / (1 + 2 ^ greatest(-1000, least(1000, -(slope * bits + shift)))) FROM calibrated;
UPDATE result SET (after, after_pairs) = (SELECT $distance) WHERE draw = $draw;
CREATE TABLE corrected AS SELECT a, b FROM known, calibrated WHERE slope * bits + shift >= 0;
UPDATE result SET corrected = (SELECT q.f1 FROM bloom_quality('corrected', 'truth_pairs') AS q) WHERE draw = $draw;
SQL
        if ((draw <= refits)); then
            sql -c "DROP TABLE IF EXISTS refitted" \
                -c "CREATE TABLE refitted AS SELECT a, b FROM bloom_model_duplicates('one', '$key', $model, labels => 'answered'), options => '{\"force\": true}')" \
                -c "UPDATE result SET f1 = (SELECT q.f1 FROM bloom_quality('refitted', 'truth_pairs') AS q) WHERE draw = $draw"
        fi
    done
    sql -c "CREATE TABLE at_half AS SELECT a, b FROM known WHERE probability >= 0.5"
    sql -F ' | ' -c "SELECT '| $name', (SELECT round(f1::numeric, 4) FROM bloom_quality('at_half', 'truth_pairs')), round(avg(corrected)::numeric, 4), round(avg(f1)::numeric, 4),
        round(avg(before)::numeric, 3), round(avg(after)::numeric, 3), round(avg(before_pairs)::numeric, 3), round(avg(after_pairs)::numeric, 3) || ' |' FROM result"
}

echo "| set | F1 at .5 | calibrated | fitted with labels | distance of bands before | after | of pairs before | after |"
echo '|---|---|---|---|---|---|---|---|'
all_sets
