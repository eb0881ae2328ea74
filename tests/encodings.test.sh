#!/usr/bin/env bash
# The same text gives the same normal form in a database of any encoding, or a clear error.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

# ask DATABASE SQL: its answer, or its message.
ask() { PGCLIENTENCODING=${CLIENT:-UTF8} psql -XAtq -d "$1" -c "$2" 2>&1; }

# expect WHAT WANTED GOT
expect() {
    [[ $3 == "$2" ]] || die "$1: wanted '$2', got '$3'"
}

for encoding in LATIN1 WIN1252 EUC_JP SQL_ASCII; do
    createdb -T template0 -E "$encoding" --locale=C "in_$encoding"
    ask "in_$encoding" 'CREATE EXTENSION bloom_ident'
done

createdb -T template0 -E UTF8 --locale=C in_UTF8
ask in_UTF8 'CREATE EXTENSION bloom_ident'
token_signature=$(ask in_UTF8 "SELECT bloom_signature_of_tokens('{müller}')")
for encoding in LATIN1 WIN1252; do
    expect "$encoding" mueller_weiss_citroeen "$(ask "in_$encoding" "SELECT ident_normalize('Müller Weiß Citroën', true)")"
    # A stored signature is the same everywhere.
    expect "$encoding signature" "$(ask in_SQL_ASCII "SELECT bloom_signature('Mueller')")" \
        "$(ask "in_$encoding" "SELECT bloom_signature('Müller')")"
    expect "$encoding column" t "$(ask "in_$encoding" "CREATE TABLE p (n text, s bloom GENERATED ALWAYS AS (bloom_signature(n)) STORED);
        INSERT INTO p VALUES (repeat('Jörg ', 1000)); SELECT bloom_contains(s, n) AND s = bloom_signature(repeat('joerg', 1000)) FROM p")"
    # So are tokens, and their signatures.
    expect "$encoding tokens" 'müller,straße|müller#1|t' "$(ask "in_$encoding" "SELECT array_to_string(ident_tokens('MÜLLER, Straße!'), ','),
        (ident_multiset(ident_words('Müller')))[1], (ident_tokens('{\"Ü\": \"Ä\"}'::jsonb))[1] = 'ü_ä'")"
    expect "$encoding signature of tokens" "$token_signature" "$(ask "in_$encoding" "SELECT bloom_signature_of_tokens('{müller}')")"
    # So is a counting filter, of texts and of tokens.
    expect "$encoding counting filter" "$(ask in_SQL_ASCII "SELECT counting_signature('Mueller')")" \
        "$(ask "in_$encoding" "SELECT counting_signature('Müller')")"
    expect "$encoding counting filter of tokens" "$(ask in_EUC_JP "SELECT counting_signature_of_tokens('{Å}', 1)")" \
        "$(ask "in_$encoding" "SELECT counting_remove(counting_signature_of_tokens('{Å,ü}', 1), '{ü}'::text[])")"
    # So is a sketch of tokens.
    expect "$encoding sketch" '(32):1d7e8810' "$(ask "in_$encoding" "SELECT minhash_bits('{Müller}', 32)")"
    # A message may quote what was typed.
    expect "$encoding message" 'ERROR:  character "ü" is not in the n-gram alphabet' \
        "$(ask "in_$encoding" "SELECT ident_ngram_index('ü')" | head -n 1)"
    expect "$encoding input" 'ERROR:  invalid input syntax for type bloom: "U+FFFD"' \
        "$(ask "in_$encoding" "SELECT bloom_signature('x') UNION SELECT 'ü'::text::bloom" | head -n 1)"
done
# Messages and statements name what there is as it is called; what an encoding does not have is not in its names.
for encoding in LATIN1 SQL_ASCII; do
    ask "in_$encoding" 'CREATE TABLE named ("größe" int PRIMARY KEY, "schlüssel" bloom, "bits" minhash_bits);
        INSERT INTO named VALUES (1, bloom_signature('"'x'"'), NULL); CREATE INDEX "grün" ON named USING sigfile ("schlüssel"); CREATE INDEX "grüner" ON named USING gist ("schlüssel")'
    for index in grün grüner; do
        expect "$encoding hint" "\"$index\"" "$(ask "in_$encoding" "INSERT INTO named VALUES (2, bloom_signature('x', max_chars => 99))" | grep -oE '"grün(er)?"')"
        ask "in_$encoding" "DROP INDEX \"$index\""
    done
    expect "$encoding type" 'ERROR:  cannot compare column "schlüssel" of type bloom with column "bits" of type minhash_bits' \
        "$(ask "in_$encoding" "SELECT * FROM bloom_linkage('named', 'größe', 'schlüssel', 'named', 'größe', 'bits', 0.5)" | head -n 1)"
done
ask in_LATIN1 'CREATE TABLE suggested ("größe" int PRIMARY KEY, "straße" text); INSERT INTO suggested SELECT i, '"'name ' || i FROM generate_series(1, 500) AS i"
expect suggest t "$(ask in_LATIN1 "SELECT bool_or(reason LIKE '%\"größe\"%') FROM bloom_suggest('suggested')")"
for encoding in LATIN1 EUC_JP; do
    letter=$([[ $encoding == LATIN1 ]] && echo ü || echo あ)
    expect "$encoding detail" "2 digits of the day are expected at \"$letter\"." \
        "$(ask "in_$encoding" "SELECT (ident_date_plausibility('$letter', 'DD.MM.YYYY')).detail")"
done
expect EUC_JP tanaka "$(ask in_EUC_JP "SELECT ident_normalize('たなか')")"
expect 'EUC_JP sketch' '(32):841da05f' "$(ask in_EUC_JP "SELECT minhash_bits('{たなか}', 32)")"
expect 'SQL_ASCII, ASCII text' mueller "$(ask in_SQL_ASCII "SELECT ident_normalize('Mueller')")"
expect 'SQL_ASCII, other text' 'ERROR:  cannot normalise non-ASCII text in a database with encoding SQL_ASCII' \
    "$(CLIENT=SQL_ASCII ask in_SQL_ASCII "SELECT ident_normalize('Müller')" | head -n 1)"
expect 'SQL_ASCII, tokens' 'a#1,b#1|1' "$(ask in_SQL_ASCII "SELECT array_to_string(ident_multiset(ident_words('A b')), ','), ident_token_sim('{a}', '{a}')")"

# What is known of names, addresses, dates and sound: in UTF8, and the same in each encoding that can say it.
identity() {
    cat <<SQL
SELECT ident_damerau('$1', 'Mueler Georg'), ident_edit_sim('$1', 'Muler'), ident_jaro_winkler('$1', 'Muler'), ident_name_sim('$1', 'Georg Mueler');
SELECT jaro_similarity('$1', 'Jorg Muller'), jaro_winkler_similarity('$1', 'Jorg Muller'), damerau_levenshtein('$1', 'Jorg Mulelr');
SELECT ident_name('Dr. $1'), ident_name_forms('$1', 1), ident_plain_words('$1 & Co.'), ident_characters('$1 x');
SELECT l, ident_expand('$1 str. 5 GmbH', l, 1) FROM unnest('{de,en,es,fr,it}'::text[]) AS l;
SELECT a, ident_phonetic('$1', a) FROM unnest('{cologne,soundex,metaphone,double_metaphone,daitch_mokotoff,nysiis,caverphone,beider_morse}'::text[]) AS a;
SELECT ident_address_parts('$1 5, 20095 $1'), ident_date('1. $2 1964', 'DD. Mon YYYY'), ident_date_text('$1 1964', 'DD. Mon YYYY', 'YYYY-MM-DD');
SELECT ident_phone('040/422838-4625', 'DE'), ident_phone_extension('040/422838 ext. 25', 'DE'), ident_phone_or_null('$1', 'DE');
SELECT ident_email('$1 <$4@web.de>'), ident_email_or_null('$1'), ident_email_parts('$4@$3');
SELECT k, ident_encodings(k, v), bloom_signature_of_identity(k, v)
FROM (VALUES ('name', '$1'), ('text', '$1'), ('email', '$4@web.de'), ('phone', '494042283846')) AS v (k, v);
SQL
}
# same ENCODING CLIENT ARGUMENTS...: both databases give the same.
same() {
    local encoding=$1 client=$2
    shift 2
    wanted=$(ask in_UTF8 "$(identity "$@")") || die "UTF8, identity of $1: $wanted"
    expect "$encoding, identity of $1" "$wanted" "$(CLIENT=$client ask "in_$encoding" "$(identity "$@")")"
}
for encoding in LATIN1 WIN1252; do
    same "$encoding" UTF8 'Jörg Müller-Weiß' März müller.de müller
    same "$encoding" UTF8 'José Núñez' août nuñez.es 'jose.nunez+x'
done
same EUC_JP UTF8 '田中 たなか' Mai 田中.jp tanaka
same EUC_JP UTF8 'Jörg Müller' März müller.de tanaka
for call in "ident_name('Müller')" "ident_name_sim('Müller', 'x')" "ident_expand('Müller', 'de', 1)" "ident_phonetic('Müller', 'cologne')" "ident_characters('Müller')" \
    "ident_encodings('name', 'Müller')" "ident_address_parts('Müllerweg 5')" "ident_email('a@müller.de')" "ident_damerau('Müller', 'x')"; do
    expect "SQL_ASCII, $call" 'ERROR:  cannot normalise non-ASCII text in a database with encoding SQL_ASCII' "$(CLIENT=SQL_ASCII ask in_SQL_ASCII "SELECT $call" | head -n 1)"
done
# An international domain is told in ASCII, which each encoding has.
for encoding in LATIN1 EUC_JP; do
    expect "$encoding, domain" 'x@xn--mller-kva.de|x@xn--80ak6aa92e.com' "$(ask "in_$encoding" "SELECT ident_email('x@müller.de'), ident_email('x@xn--80ak6aa92e.com')")"
done
same SQL_ASCII SQL_ASCII 'Joerg Mueller' May mueller.de 'joerg.mueller7'

# Keys that are named in messages, and titles of reports, which need not be known characters.
for encoding in LATIN1 WIN1252 EUC_JP SQL_ASCII; do
    case $encoding in
    EUC_JP) letter=あ title=あ message=あ ;;
    SQL_ASCII) letter=$'\xff' title=$'\xef\xbf\xbd' message=$title ;;
    *) letter=ü title=ü message=ü ;;
    esac
    client=$([[ $encoding != SQL_ASCII ]] && echo UTF8 || echo SQL_ASCII)
    CLIENT=$client ask "in_$encoding" "CREATE TABLE twice AS SELECT '$letter' AS k, bloom_signature('x') AS sig FROM generate_series(1, 2)"
    expect "$encoding key" "ERROR:  more than one record has the key \"$message\"" \
        "$(ask "in_$encoding" "SELECT * FROM bloom_clusters('twice', 'k', 'sig', 0.5)" | head -n 1)"
    ask "in_$encoding" 'TRUNCATE twice'
    expect "$encoding title" "$title" "$(CLIENT=$client ask "in_$encoding" \
        "SELECT split_part(bloom_report('twice', 'k', 'sig', 0.5, title => '$letter', format => 'text'), chr(10), 1)")"
done

# Names of fields and values of a match model.
shares='[0.5, 0, 0, 0, 0.1, 0.1, 0.1, 0.1, 0, 0.1, 0, 0]'
for encoding in LATIN1 WIN1252 EUC_JP; do
    letter=$([[ $encoding == EUC_JP ]] && echo あ || echo ü)
    model="{\"bloom_ident_model\": 1, \"rules\": 1, \"status\": \"converged\", \"linkage\": false, \"records\": 10, \"pairs\": 45, \"rounds\": 1,
        \"matches_per_record\": 0.1, \"swap\": null, \"together\": [], \"classes\": [], \"searches\": [], \"left_out\": {}, \"fields\": [
        {\"name\": \"$letter\", \"kind\": \"text\", \"segment\": 23, \"personal\": false, \"filled\": 1, \"bits\": 9, \"m\": $shares, \"u\": $shares,
        \"rare_level\": 0, \"frequent\": {}}]}"
    expect "$encoding model" "$letter|x${letter}x|X${letter}X|equal, a value of fewer than 1 in 8192 records|0" \
        "$(ask "in_$encoding" "SELECT * FROM bloom_model_explain('$model', '{\"$letter\": \"x${letter}x\"}', '{\"$letter\": \"X${letter}X\"}') LIMIT 1")"
    expect "$encoding model's error" "ERROR:  invalid match model: swap[1] is \"$([[ $encoding == EUC_JP ]] && echo あ || echo ü)\"" \
        "$(ask "in_$encoding" "SELECT bloom_model_levels('${model/null/[\"$letter\", \"$letter\"]}')" | head -n 1)"
done

for encoding in LATIN1 WIN1252 EUC_JP SQL_ASCII UTF8; do dropdb "in_$encoding"; done
