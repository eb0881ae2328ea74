#!/usr/bin/env bash
# tests/quality/reliability.sh: whether probabilities are ones. One table, in Markdown: for every set of sets.sh and every band of claimed
# probability, how many pairs a model puts into it, what it claims of them on the average, and how many of them are right, with the limits of
# Wilson's interval of 95 %. Seeds of people of one size are pooled besides. Run by "make quality".

# shellcheck source=tests/quality/sets.sh
source "$(dirname "${BASH_SOURCE[0]}")/sets.sh"

bands=$SCRATCH/bands.csv
: >"$bands"

# measure NAME KEY FIELDS PERSONAL: the pairs of each band, and as band 0 what the model expects and what is true, to a file.
measure() {
    local name=$1 key=$2 fields personal=$4 suffix=duplicates link='' rel
    fields=$(kinds "$3")
    rel="'one', '$key'"
    if [[ -n $(sql -c "SELECT to_regclass('two')") ]]; then
        rel="'one', '$key', 'two', '$key'"
        suffix=linkage link=_linkage
    fi
    sql -c "CREATE TABLE fitted AS SELECT bloom_model_fit${link}($rel, '{$fields}', '{$personal}'${of_things:+, one_to_one => '$of_things'}) AS model"
    {
        sql -F '|' -c "
            SELECT '$name', width_bucket(probability, '{0.1,0.5,0.8,0.95,0.99,0.999,0.9999}'::float8[]) AS band, count(*), sum(probability), count(same)
            FROM (SELECT CASE WHEN swap THEN b ELSE a END AS a, CASE WHEN swap THEN a ELSE b END AS b, probability
                FROM (SELECT *, '$suffix' = 'duplicates' AND a COLLATE \"C\" > b COLLATE \"C\" AS swap
                    FROM bloom_model_$suffix($rel, (SELECT model FROM fitted), 0.1, options => '{\"force\": true}')) AS pair) AS pair
            LEFT JOIN truth USING (a, b)
            GROUP BY band ORDER BY band"
        sql -F '|' -c "SELECT '$name', 0, 1, (model->>'matches_per_record')::float8 * (model->>'records')::float8, (SELECT count(*) FROM truth) FROM fitted"
    } >>"$bands"
}
all_sets

python3 - "$bands" <<'EOF'
import math
import re
import sys

BANDS = ['', '.1 to .5', '.5 to .8', '.8 to .95', '.95 to .99', '.99 to .999', '.999 to .9999', '.9999 to 1']


def wilson(right, n, z=1.959964):
    share = right / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return f'{max(0, middle - half):.3f} to {min(1, middle + half):.3f}'


sets, parts = {}, {}
for line in open(sys.argv[1]):
    name, band, pairs, claimed, right = line.rstrip('\n').split('|')
    pooled = re.sub(r', seed \d+$', ', all seeds', name)
    parts.setdefault(pooled, set()).add(name)
    for of in {name, pooled}:
        sums = sets.setdefault(of, {}).setdefault(int(band), [0, 0.0, 0])
        for i, number in enumerate((int(pairs), float(claimed), int(right))):
            sums[i] += number
print('| set | claimed | pairs | claimed on the average | right | 95 % limits |')
print('|---|---|---|---|---|---|')
for name in sorted(sets, key=lambda name: name in parts and len(parts[name]) > 1):
    if name in parts and name not in parts[name] and len(parts[name]) < 2:
        continue
    for band in range(1, 8):
        pairs, claimed, right = sets[name].get(band, (0, 0, 0))
        if pairs:
            print(f'| {name} | {BANDS[band]} | {pairs} | {claimed / pairs:.4f} | {right / pairs:.4f} | {wilson(right, pairs)} |')
    _, expected, true = sets[name][0]
    print(f'| {name} | all together | | {expected:.0f} expected | {true} known | |')
EOF
