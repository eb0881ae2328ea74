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
