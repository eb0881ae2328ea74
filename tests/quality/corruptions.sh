#!/usr/bin/env bash
# tests/quality/corruptions.sh: which function finds which kind of corruption, in Markdown. Run by "make quality".
#
# people.py --explain makes the people, each of them with a second record that has one corruption, which it names. Each measure of a field gets the
# threshold that so many of the random pairs of people whose values differ there pass; a yes or no has no threshold, and passes what it passes. The first
# table says of each kind which share of its pairs plain n-grams find, which means the default signature of the field, and which share the function finds
# that gains most over plain n-grams at the same rate of wrong pairs. One table a field has all its measures.
#   QUALITY_EXPLAINED=26000   records that are made, half of them corrupted
#   QUALITY_OTHERS=200000     random pairs of different people
#   QUALITY_RATE=0.0001       share of them that may pass

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/bench-env.sh"

others=${QUALITY_OTHERS:-200000}
rate=${QUALITY_RATE:-0.0001}
export PGOPTIONS='-c jit=off -c client_min_messages=warning'
sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

createdb corruptions
export PGDATABASE=corruptions
python3 "$ROOT/tests/quality/people.py" "${QUALITY_EXPLAINED:-26000}" 1 --explain >"$SCRATCH/explained.csv"
sql -v "others=$others" -v "rate=$rate" <<SQL
CREATE EXTENSION bloom_ident;
CREATE TABLE person (id text, entity text, given_name text, surname text, dob text, street text, city text, postcode text, phone text, email text, corruption text, field text);
\\copy person FROM '$SCRATCH/explained.csv' (FORMAT csv, HEADER, FORCE_NOT_NULL (given_name, surname, dob, street, city, postcode, phone, email))
CREATE FUNCTION value(person, field text) RETURNS text IMMUTABLE RETURN CASE field
    WHEN 'name' THEN \$1.given_name || ' ' || \$1.surname
    WHEN 'record' THEN concat_ws('|', \$1.given_name, \$1.surname, \$1.dob, \$1.street, \$1.city, \$1.postcode, \$1.phone, \$1.email)
    ELSE to_jsonb(\$1) ->> field END;
CREATE FUNCTION dated(text) RETURNS text IMMUTABLE RETURN ident_date_or_null(\$1, 'YYYY-MM-DD', 'DD.MM.YYYY', 'DD.MM.YY', 'DD. Mon YYYY');
CREATE FUNCTION parts(text) RETURNS text IMMUTABLE RETURN (SELECT concat_ws(' ', given, particles, surname) FROM ident_name(\$1));
CREATE FUNCTION dialled(text) RETURNS text IMMUTABLE RETURN ident_phone_or_null(\$1, 'DE');
CREATE FUNCTION mailbox(text) RETURNS text IMMUTABLE RETURN ident_email_or_null(\$1);
CREATE FUNCTION expanded(text) RETURNS text IMMUTABLE RETURN ident_expand(\$1, 'de', 1);
SQL
sql -v "others=$others" -v "rate=$rate" <<'SQL'
-- What is compared, of the values a and b. A name with ? is a yes or no.
CREATE TABLE measure (field text, name text, value text);
INSERT INTO measure
    SELECT field, name, value
    FROM (VALUES
        ('surname given_name name dob street phone email', 'plain n-grams', 'bloom_sim(bloom_signature(a), bloom_signature(b))'),
        ('record', 'plain n-grams', 'bloom_sim(bloom_signature(replace(a, ''|'', '' '')), bloom_signature(replace(b, ''|'', '' '')))'),
        ('surname given_name name street', 'ident_name_sim', 'ident_name_sim(a, b)'),
        ('surname given_name name street email', 'ident_damerau', 'ident_damerau(a, b)'),
        ('surname given_name name', 'ident_edit_sim', 'ident_edit_sim(a, b)'),
        ('surname given_name name', 'ident_jaro_winkler', 'ident_jaro_winkler(a, b)'),
        ('surname given_name name', 'bloom_signature_of_identity, name', 'bloom_sim(bloom_signature_of_identity(''name'', a), bloom_signature_of_identity(''name'', b))'),
        ('surname given_name name', 'ident_phonetic, cologne?', 'ident_phonetic(a, ''cologne'') = ident_phonetic(b, ''cologne'')'),
        ('surname given_name', 'ident_phonetic, double_metaphone?', 'ident_phonetic(a, ''double_metaphone'') && ident_phonetic(b, ''double_metaphone'')'),
        ('surname', 'ident_phonetic, daitch_mokotoff?', 'ident_phonetic(a, ''daitch_mokotoff'') && ident_phonetic(b, ''daitch_mokotoff'')'),
        ('given_name', 'ident_name_forms?', 'ident_name_forms(a, 1) && ident_name_forms(b, 1)'),
        ('name', 'bloom_signature, by_word', 'bloom_sim(bloom_signature(a, by_word => true), bloom_signature(b, by_word => true))'),
        ('name', 'n-grams of given name and surname by ident_name', 'bloom_sim(bloom_signature(parts(a)), bloom_signature(parts(b)))'),
        ('dob', 'bloom_signature_of_date of ident_date', 'bloom_sim(bloom_signature_of_date(dated(a)), bloom_signature_of_date(dated(b)))'),
        ('dob', 'ident_damerau of ident_date', 'ident_damerau(dated(a), dated(b))'),
        ('dob', 'ident_date?', 'dated(a) = dated(b)'),
        ('street', 'n-grams of ident_expand', 'bloom_sim(bloom_signature(expanded(a)), bloom_signature(expanded(b)))'),
        ('street', 'ident_damerau of ident_expand', 'ident_damerau(expanded(a), expanded(b))'),
        ('street', 'bloom_signature_of_identity, text, of ident_expand', 'bloom_sim(bloom_signature_of_identity(''text'', expanded(a)), bloom_signature_of_identity(''text'', expanded(b)))'),
        ('phone', 'ident_phone?', 'dialled(a) = dialled(b)'),
        ('phone', 'ident_damerau of ident_phone', 'ident_damerau(dialled(a), dialled(b))'),
        ('phone', 'bloom_signature_of_identity, phone', 'bloom_sim(bloom_signature_of_identity(''phone'', dialled(a)), bloom_signature_of_identity(''phone'', dialled(b)))'),
        ('email', 'ident_email?', 'mailbox(a) = mailbox(b)'),
        ('email', 'ident_email_parts, pattern?', '(ident_email_parts(mailbox(a))).pattern = (ident_email_parts(mailbox(b))).pattern'),
        ('email', 'bloom_signature_of_identity, email', 'bloom_sim(bloom_signature_of_identity(''email'', mailbox(a)), bloom_signature_of_identity(''email'', mailbox(b)))'),
        ('record', 'bloom_signature_of_fields', 'bloom_sim(bloom_signature_of_fields(VARIADIC string_to_array(a, ''|'')), bloom_signature_of_fields(VARIADIC string_to_array(b, ''|'')))'),
        ('record', 'bloom_signature_of_identity, text', 'bloom_sim(bloom_signature_of_identity(''text'', a, 512), bloom_signature_of_identity(''text'', b, 512))'),
        ('record', 'ident_name_sim', 'ident_name_sim(a, b)')) AS m (fields, name, value),
    string_to_table(fields, ' ') AS field;
CREATE TABLE pair AS
    SELECT c.field, c.corruption, value(o, c.field) AS a, value(c, c.field) AS b FROM person AS c JOIN person AS o USING (entity) WHERE c.corruption <> '' AND o.corruption IS NULL;
-- People whose values differ: how often two people have one name is no question of measures.
CREATE TABLE other AS
    WITH one AS MATERIALIZED (SELECT row_number() OVER (ORDER BY md5(entity)) - 1 AS n, person FROM person WHERE corruption IS NULL),
    drawn AS MATERIALIZED (
        SELECT i, x.person AS x, y.person AS y
        FROM (SELECT i, i % people AS x, (i + 1 + ('x' || left(md5(i::text), 7))::bit(28)::bigint % (people - 1)) % people AS y
            FROM generate_series(1, 2 * :others) AS i, (SELECT count(*) AS people FROM one) AS c) AS d
        JOIN one AS x ON x.n = d.x JOIN one AS y ON y.n = d.y)
    SELECT field, a, b
    FROM (SELECT field, a, b, row_number() OVER (PARTITION BY field ORDER BY i) AS n
        FROM (SELECT i, field, value(x, field) AS a, value(y, field) AS b FROM drawn, (SELECT DISTINCT field FROM measure) AS f) AS v
        WHERE ident_normalize(a) <> ident_normalize(b)) AS v
    WHERE n <= :others;
CREATE TABLE score (field text, name text, corruption text, value numeric);
-- The greatest values of pairs of different people.
CREATE TABLE wrong (field text, name text, n bigint, value numeric);
SELECT format($$INSERT INTO score SELECT %1$L, %2$L, corruption, round(coalesce((%3$s)%4$s::float8, 0)::numeric, 9) FROM pair WHERE field = %1$L;
        INSERT INTO wrong SELECT %1$L, %2$L, row_number() OVER (ORDER BY value DESC), value
            FROM (SELECT round(coalesce((%3$s)%4$s::float8, 0)::numeric, 9) AS value FROM other WHERE field = %1$L) AS v ORDER BY value DESC LIMIT %5$s$$,
    field, name, value, CASE WHEN name LIKE '%?' THEN '::integer' ELSE '' END, :others / 10)
FROM measure \gexec
CREATE INDEX ON wrong (field, name, n);
ANALYZE wrong;
-- What passes is above the first value that is one too many.
CREATE TABLE cut AS
    SELECT field, name, rates.rate, (SELECT value FROM wrong AS w WHERE (w.field, w.name, w.n) = (m.field, m.name, floor(rates.rate * :others) + 1)) AS above
    FROM measure AS m,
    LATERAL (SELECT :rate::numeric AS rate UNION SELECT greatest(:rate, count(*) / :others::numeric) FROM wrong AS w
        WHERE w.field = m.field AND w.value > 0 AND (w.name = m.name OR m.name = 'plain n-grams') AND w.name LIKE '%?' GROUP BY w.name) AS rates;
CREATE TABLE recall AS
    SELECT field, name, corruption, rate, above, avg((value > coalesce(above, 0))::integer) AS recall FROM score JOIN cut USING (field, name)
    WHERE name NOT LIKE '%?' OR rate = (SELECT max(rate) FROM cut AS c WHERE (c.field, c.name) = (score.field, score.name))
    GROUP BY field, name, corruption, rate, above;
CREATE TABLE kind AS SELECT corruption, field, min(substr(id, 2)::integer) AS place FROM person WHERE corruption <> '' GROUP BY corruption, field;
CREATE TABLE gain AS
    SELECT DISTINCT ON (corruption) m.field, corruption, m.name, m.rate, m.recall, p.recall AS plain, always.recall AS plain_always
    FROM recall AS m JOIN recall AS p USING (field, corruption, rate) JOIN recall AS always USING (field, corruption)
    WHERE m.name <> 'plain n-grams' AND p.name = 'plain n-grams' AND always.name = 'plain n-grams' AND always.rate = :rate AND (m.name LIKE '%?' OR m.rate = :rate)
    ORDER BY corruption, m.recall - p.recall DESC, m.name;
SQL
printf '\n| kind of corruption | in | plain n-grams | best function | its recall | wrong pairs in 10,000, at most | plain n-grams at that rate |\n|---|---|---|---|---|---|---|\n'
sql -F ' | ' -c "
    SELECT '| ' || corruption, field, round(plain_always, 3), rtrim(name, '?'), round(recall, 3), round(rate * 10000, 1), round(plain, 3) || ' |'
    FROM gain JOIN kind USING (corruption, field) ORDER BY place"
for field in $(sql -c 'SELECT field FROM kind GROUP BY field ORDER BY min(place)'); do
    sql -c "SELECT E'\n| ' || '$field' || ' | from | wrong pairs in 10,000, at most | ' || string_agg(corruption, ' | ' ORDER BY place) || E' |\n|---|---|---|' || repeat('---|', count(*)::integer) FROM kind WHERE field = '$field'"
    sql -F ' | ' -c "
        SELECT '| ' || rtrim(name, '?'), CASE WHEN name LIKE '%?' THEN '' ELSE round(above, 3)::text END, round(rate * 10000, 1), string_agg(round(recall, 3)::text, ' | ' ORDER BY place) || ' |'
        FROM recall JOIN kind USING (corruption, field) WHERE field = '$field' AND (name LIKE '%?' OR rate = $rate)
        GROUP BY name, above, rate ORDER BY name <> 'plain n-grams', name"
done
