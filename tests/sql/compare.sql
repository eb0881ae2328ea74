-- Similarity of two texts, symbol by symbol.
SELECT a, b, ident_edit_sim(a, b), ident_damerau(a, b), ident_jaro_winkler(a, b)
FROM (VALUES
    ('Martha', 'Marhta'), ('Dwayne', 'Duane'), ('Dixon', 'Dicksonx'), ('kitten', 'sitting'), ('ca', 'abc'), ('Müller', 'MUELLER'), ('Иванов', 'Ivanow'),
    ('O''Brien', 'OBrien'), ('a', 'b'), ('', ''), ('a', ''), (' -', '.'), ('😀', '😀'), ('高石早苗', '高市早苗'), (NULL, 'a'), ('a', NULL)) AS v (a, b);
SELECT pg_typeof(ident_edit_sim('a', 'a')), pg_typeof(ident_damerau('a', 'a')), pg_typeof(ident_jaro_winkler('a', 'a'));
-- As long as can be, and longer.
SELECT ident_edit_sim(repeat('ab', 5000), repeat('ba', 5000)), ident_damerau(repeat('ab', 5000), repeat('ba', 5000)), ident_jaro_winkler(repeat('ab', 5000), repeat('ba', 5000));
SELECT ident_edit_sim(repeat('a', 10001), 'a');
SELECT ident_damerau('a', repeat('ä', 500001));
SELECT ident_jaro_winkler(repeat('a', 1000000), repeat('b', 1000000));

-- As they are written, character by character.
SELECT a, b, jaro_similarity(a, b), jaro_winkler_similarity(a, b), damerau_levenshtein(a, b)
FROM (VALUES
    ('MARTHA', 'MARHTA'), ('Martha', 'MARTHA'), ('Müller', 'Mueller'), ('Müller', 'Muller'), ('ca', 'abc'), ('O''Brien', 'OBrien'), ('高石早苗', '高市早苗'),
    ('e', U&'e\0301'), ('a', ' a'), ('', ''), ('a', ''), (NULL, 'a'), ('a', NULL)) AS v (a, b);
SELECT pg_typeof(jaro_similarity('a', 'a')), pg_typeof(jaro_winkler_similarity('a', 'a')), pg_typeof(damerau_levenshtein('a', 'a'));
SELECT jaro_similarity(repeat('ab', 500), repeat('bä', 500)), jaro_winkler_similarity(repeat('ab', 500), repeat('bä', 500)), damerau_levenshtein(repeat('ab', 500), repeat('bä', 500));
SELECT jaro_similarity(repeat('a', 10001), 'a');
SELECT jaro_winkler_similarity('a', repeat('ä', 500001));
SELECT damerau_levenshtein(repeat('a', 1000000), repeat('b', 1000000));
