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
dropdb in_UTF8
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
    expect "$encoding message" 'ERROR:  character "U+00FC" is not in the n-gram alphabet' \
        "$(ask "in_$encoding" "SELECT ident_ngram_index('ü')" | head -n 1)"
    expect "$encoding input" 'ERROR:  invalid input syntax for type bloom: "U+FFFD"' \
        "$(ask "in_$encoding" "SELECT bloom_signature('x') UNION SELECT 'ü'::text::bloom" | head -n 1)"
done
for encoding in LATIN1 EUC_JP; do
    expect "$encoding detail" '2 digits of the day are expected at "U+' \
        "$(ask "in_$encoding" "SELECT left((ident_date_plausibility('$([[ $encoding == LATIN1 ]] && echo ü || echo あ)', 'DD.MM.YYYY')).detail, 39)")"
done
expect EUC_JP tanaka "$(ask in_EUC_JP "SELECT ident_normalize('たなか')")"
expect 'EUC_JP sketch' '(32):841da05f' "$(ask in_EUC_JP "SELECT minhash_bits('{たなか}', 32)")"
expect 'SQL_ASCII, ASCII text' mueller "$(ask in_SQL_ASCII "SELECT ident_normalize('Mueller')")"
expect 'SQL_ASCII, other text' 'ERROR:  cannot normalise non-ASCII text in a database with encoding SQL_ASCII' \
    "$(CLIENT=SQL_ASCII ask in_SQL_ASCII "SELECT ident_normalize('Müller')" | head -n 1)"
expect 'SQL_ASCII, tokens' 'a#1,b#1|1' "$(ask in_SQL_ASCII "SELECT array_to_string(ident_multiset(ident_words('A b')), ','), ident_token_sim('{a}', '{a}')")"

# Keys that are named in messages, and titles of reports, which need not be known characters.
for encoding in LATIN1 WIN1252 EUC_JP SQL_ASCII; do
    case $encoding in
    EUC_JP) letter=あ title=あ message='U+3042' ;;
    SQL_ASCII) letter=$'\xff' title=$'\xef\xbf\xbd' message='U+FFFD' ;;
    *) letter=ü title=ü message='U+00FC' ;;
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
    expect "$encoding model's error" "ERROR:  invalid match model: swap[1] is \"U+$([[ $encoding == EUC_JP ]] && echo 3042 || echo 00FC)\"" \
        "$(ask "in_$encoding" "SELECT bloom_model_levels('${model/null/[\"$letter\", \"$letter\"]}')" | head -n 1)"
done

for encoding in LATIN1 WIN1252 EUC_JP SQL_ASCII; do dropdb "in_$encoding"; done
