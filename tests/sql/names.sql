-- Similarity of names.
SELECT a, b, round(ident_name_sim(a, b)::numeric, 4) AS sim, ident_name_sim(a, b) = ident_name_sim(b, a) AS symmetric
FROM (VALUES
    ('Erika Mustermann', 'Mustermann, Erika'), ('Erika Mustermann', 'Erika Anna Mustermann'), ('Erika Mustermann', 'E. Mustermann'), ('Siemens AG', 'SiemensAG'),
    ('Siemens AG', 'Volkswagen AG'), ('Иван Иванов', 'Ivanov Ivan'), ('O''Brien', 'OBrien'), ('高石早苗', '高市早苗'), ('a', 'b'), ('', ''), ('a', ''), (' -', '.'),
    ('😀', '😀'), (NULL, 'a'), ('a', NULL)) AS v (a, b);
SELECT pg_typeof(ident_name_sim('a', 'a')), ident_name_sim(repeat('ab ', 1000000), repeat('ab ', 1000000)), round(ident_name_sim(repeat('ab', 1000000), repeat('ba', 1000000))::numeric, 4) AS long;
