#!/usr/bin/env bash
# tests/quality/names.sh: five tables, in Markdown, of how good measures of names are. Run by "make quality".
#
# The first says of each set of pairs how well a measure orders those that are the same before those that are not: average precision, and the
# recall at the threshold where the precision is .9, also with abbreviations written out, and for measures of rapidfuzz, over the normal forms. The one behind it has the average
# precision for each kind of difference. Then comes precision, recall and F1 at several thresholds, of all pairs together. The next
# says which share of the pairs that are the same, and that ident_name_sim finds at a threshold, a search by signatures finds. The last says how many of the other names of an entity are among the ten nearest to one of its names.
#   QUALITY_NAMES=folder   where name_pairs.csv.gz and name_lists.csv.gz are (default tests/data/quality)
#   QUALITY_QUERIES=300    names of each list that are searched for

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/bench-env.sh"

# shellcheck source=scripts/venv.sh
source "$ROOT/scripts/venv.sh"
need_venv quality

data=${QUALITY_NAMES:-$ROOT/tests/data/quality}
queries=${QUALITY_QUERIES:-300}
export PGOPTIONS='-c jit=off -c client_min_messages=warning'
sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

createdb names
export PGDATABASE=names
for set in pairs kinds lists; do
    file=$data/name_$set.csv.gz
    [[ -e $file ]] || file=$ROOT/tests/data/quality/name_$set.csv.gz
    gzip -dc "$file" >"$SCRATCH/name_$set.csv"
done
sql <<SQL
CREATE EXTENSION bloom_ident;
CREATE EXTENSION pg_trgm;
CREATE TABLE pair (n bigint GENERATED ALWAYS AS IDENTITY, set text, a text, b text, same boolean, kinds boolean NOT NULL DEFAULT false);
\\copy pair (set, a, b, same) FROM '$SCRATCH/name_pairs.csv' (FORMAT csv, HEADER)
ALTER TABLE pair ALTER kinds SET DEFAULT true;
\\copy pair (set, a, b, same) FROM '$SCRATCH/name_kinds.csv' (FORMAT csv, HEADER)
CREATE TABLE alias (id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY, list text, entity integer, name text,
    sig bloom GENERATED ALWAYS AS (bloom_signature(name, by_word => true)) STORED);
\\copy alias (list, entity, name) FROM '$SCRATCH/name_lists.csv' (FORMAT csv, HEADER)
CREATE TABLE score AS
    SELECT set, kinds, same, measure, round(value::numeric, 9) AS value, n
    FROM pair,
    LATERAL (VALUES
        (1, 'ident_name_sim', ident_name_sim(a, b)),
        (2, 'bloom_sim, by default', bloom_sim(bloom_signature(a), bloom_signature(b))),
        (3, 'bloom_sim, by_word', bloom_sim(bloom_signature(a, by_word => true), bloom_signature(b, by_word => true))),
        (4, 'ident_ngram_sim, 2, by_word', ident_ngram_sim(a, b, 2, true)),
        (5, 'pg_trgm similarity', similarity(a, b)),
        (6, 'pg_trgm word_similarity', greatest(word_similarity(a, b), word_similarity(b, a))),
        (7, 'ident_name_sim of ident_expand', ident_name_sim(ident_expand(a, 'en', 1), ident_expand(b, 'en', 1))),
        (8, 'bloom_sim, by default, of ident_expand', bloom_sim(bloom_signature(ident_expand(a, 'en', 1)), bloom_signature(ident_expand(b, 'en', 1))))) AS m (number, name, value),
    LATERAL (SELECT number || ' ' || name) AS l (measure);
\\copy (SELECT n, replace(ident_normalize(a, true), '_', ' '), replace(ident_normalize(b, true), '_', ' ') FROM pair) TO '$SCRATCH/normal.csv' (FORMAT csv)
SQL
"$venv/bin/python" - "$SCRATCH/normal.csv" >"$SCRATCH/rapidfuzz.csv" <<'PYTHON'
import csv
import sys

from rapidfuzz import fuzz
from rapidfuzz.distance import JaroWinkler

measures = [("token_sort_ratio", fuzz.token_sort_ratio), ("token_set_ratio", fuzz.token_set_ratio), ("WRatio", fuzz.WRatio), ("jaro_winkler", JaroWinkler.similarity)]
out = csv.writer(sys.stdout)
for n, a, b in csv.reader(open(sys.argv[1])):
    for number, (name, measure) in enumerate(measures):
        out.writerow([n, f"{chr(97 + number)} rapidfuzz {name}", measure(a, b) / (1 if name == "jaro_winkler" else 100)])
PYTHON
chmod a+r "$SCRATCH/rapidfuzz.csv"
sql <<SQL
CREATE TABLE other (n bigint, measure text, value float8);
\\copy other FROM '$SCRATCH/rapidfuzz.csv' (FORMAT csv)
INSERT INTO score SELECT set, kinds, same, measure, round(value::numeric, 9), n FROM other JOIN pair USING (n);
-- Pairs of one value come together.
CREATE TABLE cut AS
    SELECT set, kinds, measure, value, sum(right_ones) OVER up AS tp, sum(pairs) OVER up AS found, right_ones, sum(right_ones) OVER (PARTITION BY set, kinds, measure) AS known
    FROM (SELECT coalesce(set, 'all') AS set, kinds, measure, value, count(*) FILTER (WHERE same) AS right_ones, count(*) AS pairs
        FROM score GROUP BY GROUPING SETS ((set, kinds, measure, value), (kinds, measure, value))) AS g
    WINDOW up AS (PARTITION BY set, kinds, measure ORDER BY value DESC);
CREATE TABLE rate AS
    SELECT set, kinds, measure, round(sum(right_ones * tp / found / known), 3) AS ap, round(coalesce(max(tp / known) FILTER (WHERE tp / found >= 0.9), 0), 2) AS recall
    FROM cut GROUP BY set, kinds, measure;
SQL
sets=(persons scripts companies countries all)
printf '\n| measure |'; printf ' %s |' "${sets[@]}"; printf '\n|---|'; printf -- '---|%.0s' "${sets[@]}"; echo
sql -F ' | ' -c "
    SELECT '| ' || substr(measure, 3), string_agg(ap || ' / ' || recall, ' | ' ORDER BY array_position('{persons,scripts,companies,countries,all}', set)) || ' |'
    FROM rate WHERE NOT kinds GROUP BY measure ORDER BY measure"
printf '\n| kind | ident_name_sim | pg_trgm similarity | token_sort_ratio | token_set_ratio | WRatio | jaro_winkler |\n|---|---|---|---|---|---|---|\n'
sql -F ' | ' -c "
    SELECT '| ' || replace(set, '_', ' '), string_agg(ap::text, ' | ' ORDER BY measure) || ' |'
    FROM rate WHERE kinds AND (measure LIKE '1%' OR measure LIKE '5%' OR measure > 'a') GROUP BY set ORDER BY set = 'all', set"
printf '\n| measure | at | precision | recall | F1 |\n|---|---|---|---|---|\n'
sql -F ' | ' -c "
    SELECT '| ' || substr(measure, 3), at, coalesce(round(right_ones / nullif(found, 0), 3)::text, '–'), round(right_ones / known, 3), round(2 * right_ones / (found + known), 3) || ' |'
    FROM (SELECT measure, at, count(*) FILTER (WHERE same AND value >= at)::numeric AS right_ones, count(*) FILTER (WHERE value >= at)::numeric AS found,
            count(*) FILTER (WHERE same)::numeric AS known
        FROM score, unnest('{0.4,0.5,0.6,0.7,0.8,0.9}'::numeric[]) AS at WHERE NOT kinds AND measure < '7' GROUP BY measure, at) AS r
    ORDER BY measure, at"
printf '\n| pairs with ident_name_sim from | 0.2 | 0.3 | 0.4 | 0.5 |\n|---|---|---|---|---|\n'
sql -F ' | ' -c "
    SELECT '| ' || at, string_agg(found::text, ' | ' ORDER BY search) || ' |'
    FROM (SELECT at, search, round(avg((s.value >= search)::integer), 3) AS found
        FROM score AS t JOIN score AS s ON s.n = t.n AND s.measure LIKE '3%', unnest('{0.7,0.8,0.9}'::numeric[]) AS at, unnest('{0.2,0.3,0.4,0.5}'::numeric[]) AS search
        WHERE t.same AND NOT t.kinds AND t.measure LIKE '1%' AND t.value >= at GROUP BY at, search) AS f
    GROUP BY at ORDER BY at"
sql -v "queries=$queries" <<'SQL'
CREATE TABLE wanted AS
    SELECT * FROM (SELECT *, count(*) OVER (PARTITION BY list, entity) - 1 AS others, row_number() OVER (PARTITION BY list ORDER BY md5(name)) AS place
        FROM alias) AS a WHERE others > 0;
DELETE FROM wanted AS w USING (SELECT id, row_number() OVER (PARTITION BY list ORDER BY place) AS n FROM wanted) AS o WHERE o.id = w.id AND o.n > :queries;
SELECT format('CREATE TABLE %I AS SELECT * FROM alias WHERE list = %L; CREATE INDEX ON %1$I USING sigfile (sig); ANALYZE %1$I', 'list_' || list, list)
FROM (SELECT DISTINCT list FROM alias) AS l \gexec
SQL
printf '\n| list | names | pg_trgm | bloom_nearest_names |\n|---|---|---|---|\n'
for list in $(sql -c 'SELECT DISTINCT list FROM alias ORDER BY 1'); do
    sql -F ' | ' -c "
        WITH trgm AS (SELECT avg((SELECT count(*) FROM (SELECT entity FROM list_$list AS l WHERE l.id <> w.id ORDER BY l.name <-> w.name, l.id LIMIT 10) AS n
                WHERE n.entity = w.entity) / least(others, 10)::numeric) AS recall FROM wanted AS w WHERE list = '$list'),
        near AS (SELECT avg((SELECT count(*) FROM (SELECT key::integer AS id FROM bloom_nearest_names('list_$list', 'id', 'sig', 'name', w.name, 11) WHERE key <> w.id::text LIMIT 10) AS n
                JOIN list_$list AS l USING (id) WHERE l.entity = w.entity) / least(others, 10)::numeric) AS recall FROM wanted AS w WHERE list = '$list')
        SELECT '| $list', (SELECT count(*) FROM list_$list), round(trgm.recall, 3), round(near.recall, 3) || ' |' FROM trgm, near"
done
