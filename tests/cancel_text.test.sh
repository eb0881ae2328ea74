#!/usr/bin/env bash
# Functions of text stop soon after a timeout, within one call with a long text as well; those that refuse long texts are through at once with the
# longest that they take. cancel.test.sh stops whatever runs long at random moments; here each function has its turn.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

# Milliseconds until the timeout, and those that may pass behind it, or that a call with the longest text may take.
timeout=100
most=${CANCEL_MOST:-150}

createdb cancel_text
export PGDATABASE=cancel_text PGOPTIONS='-c jit=off -c max_parallel_workers_per_gather=0'
psql -XAtq -v ON_ERROR_STOP=1 <<'SQL'
CREATE EXTENSION bloom_ident;
CREATE TABLE long (kind text, t text);
ALTER TABLE long ALTER t SET STORAGE EXTERNAL;
INSERT INTO long VALUES ('words', repeat('Müller Straße Schmidt, ', 1500000)), ('one word', repeat('schmitüx', 4000000)), ('Han', repeat('高石早苗', 3000000)),
    ('digits', repeat('1234567890', 3500000));
SQL

# Milliseconds of the backend: its processor time, which others on this machine do not lengthen, or else the time that goes by.
now="(SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 / 1000000)"
[[ $(psql -XAtq -c "SELECT $now > 0" 2>/dev/null) == t ]] || now='(extract(epoch FROM clock_timestamp()) * 1000)'

# took STATEMENT: how it ended, and its milliseconds.
took() {
    psql -XAtq -F ' ' -v ON_ERROR_STOP=0 2>&1 <<SQL | tail -n 2 | tr '\n' ' '
SET statement_timeout = $timeout;
SELECT $now AS begun \gset
SELECT count(v) FROM ($1) AS f (v);
\set ended :LAST_ERROR_SQLSTATE
\if :ERROR
\echo :ended
\else
\echo 00000
\endif
SET statement_timeout = 0;
SELECT ($now - :'begun')::integer;
SQL
}

# stops WHAT KIND CALL: a call with a long text, t, is canceled, refuses the text before, or is through.
stops() {
    local what=$1 kind=$2 call=$3 try result state ms
    for try in 1 2 3; do
        result=$(took "SELECT $call FROM long WHERE kind = '$kind'")
        read -r state ms <<<"$result"
        case $state in
            57014 | 54??? | 22??? | 00000) ((ms <= timeout + most)) && break ;;
            *) die "$what: ended with $state after $ms ms" ;;
        esac
        # others use this machine, too
        ((try < 3)) || die "$what: $ms ms until it stopped, with a timeout of $timeout ms"
    done
    printf '%5d ms, %s: %s\n' "$ms" "$(case $state in 57014) echo canceled ;; 00000) echo through ;; *) echo refused ;; esac)" "$what"
}

# quick WHAT CALL: a call with the longest that it takes is through at once.
quick() {
    local what=$1 call=$2 try result state ms
    for try in 1 2 3; do
        result=$(took "SELECT $call")
        read -r state ms <<<"$result"
        [[ $state == 00000 ]] || die "$what: ended with $state after $ms ms"
        ((ms <= most)) && break
        ((try < 3)) || die "$what: $ms ms"
    done
    printf '%5d ms, through: %s\n' "$ms" "$what"
}

for algorithm in cologne soundex metaphone double_metaphone daitch_mokotoff nysiis caverphone beider_morse; do
    stops "ident_phonetic, $algorithm" words "ident_phonetic(t, '$algorithm')"
done
for language in de en es fr it; do
    stops "ident_expand, $language" words "ident_expand(t, '$language', 1)"
done
stops 'ident_expand, one word' 'one word' "ident_expand(t, 'de', 1)"
stops ident_plain_words words 'ident_plain_words(t)'
stops 'ident_phonetic, one word' 'one word' "ident_phonetic(t, 'cologne')"
stops ident_characters Han 'ident_characters(t)'
stops 'ident_characters, words' words 'ident_characters(t)'
stops 'ident_edit_sim' words 'ident_edit_sim(t, t)'
stops 'ident_damerau' words 'ident_damerau(t, t)'
stops 'ident_jaro_winkler' words 'ident_jaro_winkler(t, t)'
for function in jaro_similarity jaro_winkler_similarity damerau_levenshtein; do
    stops "$function" words "$function(t, t)"
done
stops 'ident_name_sim' words 'ident_name_sim(t, t)'
for kind in words 'one word' Han digits; do
    stops "ident_name, $kind" "$kind" '(ident_name(t)).surname'
    stops "ident_name_forms, $kind" "$kind" 'ident_name_forms(t, 1)'
    stops "ident_address_parts, $kind" "$kind" '(ident_address_parts(t)).street'
    for of in email name phone text; do
        stops "ident_encodings, $of, $kind" "$kind" "ident_encodings('$of', t)"
    done
    stops "ident_phone, $kind" "$kind" "ident_phone(t, 'DE')"
    stops "ident_email_parts, $kind" "$kind" "(ident_email_parts(t || '@gmail.com')).local"
    stops "ident_date_text, $kind" "$kind" "ident_date_text(t, 'DD.MM.YYYY', 'YYYY-MM-DD')"
done

# At their limits.
for try in 1 2 3; do
    read -r state ms <<<"$(timeout=30 took "SELECT ident_damerau(repeat('ab1c', 2500), repeat('1cab2', 2000))")"
    [[ $state == 57014 ]] && ((ms <= 30 + most)) && break
    ((try < 3)) || die "ident_damerau of 10,000 symbols each: $state after $ms ms, with a timeout of 30 ms"
done
for try in 1 2 3; do
    read -r state ms <<<"$(timeout=30 took "SELECT damerau_levenshtein(repeat('äb1c', 2500), repeat('1cäb2', 2000))")"
    [[ $state == 57014 ]] && ((ms <= 30 + most)) && break
    ((try < 3)) || die "damerau_levenshtein of 10,000 characters each: $state after $ms ms, with a timeout of 30 ms"
done
quick 'jaro_similarity' "jaro_similarity(repeat('äb1', 3333), repeat('1bä', 3333))"
quick 'jaro_winkler_similarity' "jaro_winkler_similarity(repeat('äb1', 3333), repeat('1bä', 3333))"
quick 'ident_edit_sim' "ident_edit_sim(repeat('ab1', 3333), repeat('1ba', 3333))"
quick 'ident_jaro_winkler' "ident_jaro_winkler(repeat('ab1', 3333), repeat('1ba', 3333))"
quick 'ident_name' "ident_name(repeat('Graf ', 255) || 'Müller')"
quick 'ident_name_sim' "ident_name_sim(left(repeat('Müller Straße ', 9000), 60000), left(repeat('Straßer Mueller ', 9000), 60000))"
quick 'ident_phonetic, beider_morse' "ident_phonetic(repeat('schtzck', 9), 'beider_morse')"

dropdb cancel_text
