#!/usr/bin/env bash
# tests/quality/guard.sh: how many duplicates a guard stops as they come, by the model of a register and by similarity. One table, in Markdown. Of generated people
# (people.py) three quarters are in the table, and the others come one by one: some are people who are there, the others are new. Each guard has the threshold at
# which it refuses one new person in a thousand, which only those know who know the truth; the guard by similarity has the best of three signatures as well.
# QUALITY_GUARD says how many records (20000), QUALITY_GUARD_SEEDS which seeds (1 2 3). Run by "make quality".

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/bench-env.sh"

fields='given_name,surname,dob,street,city,postcode,phone,email'
rows=${QUALITY_GUARD:-20000}
signatures=("given_name || ' ' || surname" "given_name || ' ' || surname || ' ' || dob" "concat_ws(' ', given_name, surname, dob, street, city, postcode, phone, email)")

# at NAME COLUMN: of table arrived the share of the duplicates whose COLUMN is above what one new person in a thousand has, and that threshold.
at() {
    sql -F ' | ' -c "WITH new AS (SELECT $1 AS v FROM arrived WHERE NOT known ORDER BY 1 DESC NULLS LAST OFFSET (SELECT count(*) / 1000 FROM arrived WHERE NOT known) LIMIT 1)
        SELECT round(100.0 * count(*) FILTER (WHERE $1 > v) / count(*), 1), round(v::numeric, 4) FROM arrived, new WHERE known GROUP BY v"
}

echo '| people | in the table | come | of them known | similarity: stopped, % | above | by | model: stopped, % | above probability | model at .95: stopped, % | new ones refused, in a thousand |'
echo '|---|---|---|---|---|---|---|---|---|---|---|'
for kind in '' others; do
    for seed in ${QUALITY_GUARD_SEEDS:-1 2 3}; do
        dropdb --if-exists bench 2>/dev/null
        createdb bench
        export PGDATABASE=bench PGOPTIONS='-c jit=off -c client_min_messages=error -c maintenance_work_mem=256MB -c work_mem=64MB'
        python3 "$ROOT/tests/quality/people.py" "$rows" "$seed" ${kind:+"$kind"} >"$SCRATCH/people.csv"
        chmod a+r "$SCRATCH/people.csv"
        sql -c 'CREATE EXTENSION bloom_ident' -c "CREATE TABLE everybody (id text PRIMARY KEY, entity text, ${fields//,/ text, } text)" -c "\\copy everybody FROM '$SCRATCH/people.csv' (FORMAT csv, HEADER)" \
            -c "CREATE TABLE person AS SELECT * FROM everybody WHERE abs(hashtext(id)::bigint) % 4 > 0" -c 'ALTER TABLE person ADD PRIMARY KEY (id)' \
            -c "CREATE TABLE arrived AS SELECT a.*, EXISTS (SELECT FROM person AS p WHERE p.entity = a.entity) AS known FROM everybody AS a WHERE abs(hashtext(id)::bigint) % 4 = 0" \
            -c "SELECT bloom_register_create(bloom_model_fit('person', 'id', '{$fields}', '{given_name,dob,email}'), 'person', 'id')" \
            -c 'ALTER TABLE arrived ADD bits float8, ADD probability float8' \
            -c "UPDATE arrived AS a SET bits = m.bits, probability = m.probability FROM arrived AS b LEFT JOIN LATERAL bloom_register_match('person_register', to_jsonb(b) - 'id', 0, 1) AS m ON true WHERE b.id = a.id" >/dev/null
        best=(0 0 none)
        for signature in "${signatures[@]}"; do
            sql -c 'ALTER TABLE person DROP COLUMN IF EXISTS sig' -c 'ALTER TABLE arrived DROP COLUMN IF EXISTS similarity' -c 'ALTER TABLE person ADD sig bloom' -c 'ALTER TABLE arrived ADD similarity float8' \
                -c "UPDATE person SET sig = bloom_signature($signature)" \
                -c "UPDATE arrived AS a SET similarity = s.similarity FROM (SELECT x.id, max(bloom_sim(sig, asked)) AS similarity FROM (SELECT id, bloom_signature($signature) AS asked FROM arrived OFFSET 0) AS x, person GROUP BY x.id) AS s WHERE s.id = a.id"
            IFS=' |' read -r share above < <(at similarity)
            if awk "BEGIN { exit !($share > ${best[0]}) }"; then best=("$share" "$above" "${signature//|| \' \' || /}"); fi
        done
        IFS=' |' read -r share _ < <(at bits)
        sql -F ' | ' -c "WITH new AS (SELECT probability AS v FROM arrived WHERE NOT known ORDER BY bits DESC NULLS LAST OFFSET (SELECT count(*) / 1000 FROM arrived WHERE NOT known) LIMIT 1)
            SELECT '| ${kind:-people}, seed $seed', (SELECT count(*) FROM person), count(*), count(*) FILTER (WHERE known), '${best[0]}', '${best[1]}', \$\$${best[2]}\$\$, '$share', (SELECT round(v::numeric, 5) FROM new),
                round(100.0 * count(*) FILTER (WHERE known AND probability >= 0.95) / count(*) FILTER (WHERE known), 1), round(1000.0 * count(*) FILTER (WHERE NOT known AND probability >= 0.95) / count(*) FILTER (WHERE NOT known), 2) || ' |' FROM arrived"
    done
done
dropdb bench
