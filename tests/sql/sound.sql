-- How words sound.
SELECT algorithm, ident_phonetic('Katherine Schwarzenegger, Müller', algorithm)
FROM unnest('{cologne,soundex,metaphone,double_metaphone,daitch_mokotoff,nysiis,caverphone}'::text[]) AS algorithm;
SELECT text, ident_phonetic(text, 'cologne') AS cologne, ident_phonetic(text, 'soundex') AS soundex, ident_phonetic(text, 'beider_morse') AS beider_morse
FROM (VALUES ('Meier'), ('O''Brien'), ('Иванов'), ('김'), ('R2D2'), ('27'), (''), (' - '), (NULL)) AS v (text);
SELECT ident_phonetic('Meier', 'Cologne');
SELECT ident_phonetic('Meier', repeat('x', 1000));
SELECT ident_phonetic('Meier', NULL);
-- Long words, and many.
SELECT algorithm, cardinality(ident_phonetic(repeat('schwarzenegger', 100000), algorithm)) BETWEEN 1 AND 20 AS few, cardinality(ident_phonetic(repeat('Meier ', 2000), algorithm)) >= 2000 AS many
FROM unnest('{cologne,soundex,metaphone,double_metaphone,daitch_mokotoff,nysiis,caverphone,beider_morse}'::text[]) AS algorithm;
SET statement_timeout = 100;
SELECT count(*) FROM ident_phonetic(repeat('Schwarzenegger ', 1000000), 'beider_morse');
RESET statement_timeout;
