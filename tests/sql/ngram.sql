-- n-grams and their indices.
SELECT ident_ngrams('Erika'), ident_ngrams('Erika', 2), ident_ngrams('a'), ident_ngrams(''), ident_ngrams('!'), ident_ngrams(NULL);
SELECT ident_ngrams('anna', 2), ident_ngrams('Mustermann, Erika', by_word => true), ident_ngrams('O''Brien', by_word => true);
SELECT ident_ngrams('abc', 8), array_length(ident_ngrams(repeat('ab', 500000)), 1);
SELECT w, ident_ngram_index(w) FROM unnest('{__e,_er,eri,rik,ika,ka_,a__,abc,mno,999,zz9_,99999999,a}'::text[]) AS w;
-- The array is an array like any other.
SELECT w, i FROM unnest(ident_ngrams('Li')) WITH ORDINALITY AS u(w, i);
SELECT ident_ngrams('Li') || 'x'::text, ident_ngrams('Li') = ARRAY['__l', '_li', 'li_', 'i__'] AS equal, (ident_ngrams('Li'))[2:3];
CREATE TEMP TABLE stored AS SELECT ident_ngrams('Erika Mustermann') AS w;
SELECT w, array_dims(w) FROM stored;

SELECT ident_ngram_sim('Erika', 'Erica', 3), ident_ngram_sim('Müller', 'mueller'), ident_ngram_sim('', ''), ident_ngram_sim('a', ''), ident_ngram_sim('a', NULL);
SELECT ident_ngrams(' Li  Wu', filler => true), ident_ngrams('O''Brien', 2, filler => true), ident_ngrams(' . ', filler => true);
SELECT ident_ngram_sim('Anna Lena', 'Annalena'), ident_ngram_sim('Anna Lena', 'Annalena', filler => true), ident_ngram_sim('Anna-Lena', 'Anna Lena', filler => true);
SELECT ident_ngrams('a', by_word => true, filler => true);
SELECT ident_ngram_sim('a', 'a', 3, true, true);
SELECT ident_ngram_sim('Mustermann, Erika', 'Erika Mustermann'), ident_ngram_sim('Mustermann, Erika', 'Erika Mustermann', by_word => true);
SELECT ident_ngram_sim(repeat('abc', 1000000), repeat('abc', 1000001)) > 0.5 AS similar;

SELECT ident_ngrams('a', 1);
SELECT ident_ngrams('a', 9);
SELECT ident_ngram_sim('a', 'b', 0);
SELECT ident_ngram_index('');
SELECT ident_ngram_index('123456789');
SELECT ident_ngram_index('Eri');
SELECT ident_ngram_index('ä__');

-- Long loops can be interrupted.
SET statement_timeout = '100ms';
SELECT length(ident_normalize(repeat('ab cd', 40000000)));
SELECT length(ident_normalize(repeat(U&'\0308', 40000000)));
SELECT bloom_signature(repeat(' .', 100000000));
SELECT ident_ngram_sim(repeat('abcde', 40000000), 'a');
SELECT bloom_contains(bloom_signature('a'), repeat('abcde', 40000000));
RESET statement_timeout;
