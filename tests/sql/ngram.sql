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
SELECT ident_ngram_sim('Mustermann, Erika', 'Erika Mustermann'), ident_ngram_sim('Mustermann, Erika', 'Erika Mustermann', by_word => true);
SELECT ident_ngram_sim(repeat('abc', 1000000), repeat('abc', 1000001)) > 0.5 AS similar;

SELECT ident_ngrams('a', 1);
SELECT ident_ngrams('a', 9);
SELECT ident_ngram_sim('a', 'b', 0);
SELECT ident_ngram_index('');
SELECT ident_ngram_index('123456789');
SELECT ident_ngram_index('Eri');
SELECT ident_ngram_index('ä__');
