-- Similarity of names.
SELECT a, b, round(ident_name_sim(a, b)::numeric, 4) AS sim, ident_name_sim(a, b) = ident_name_sim(b, a) AS symmetric
FROM (VALUES
    ('Erika Mustermann', 'Mustermann, Erika'), ('Erika Mustermann', 'Erika Anna Mustermann'), ('Erika Mustermann', 'E. Mustermann'), ('Siemens AG', 'SiemensAG'),
    ('Siemens AG', 'Volkswagen AG'), ('Иван Иванов', 'Ivanov Ivan'), ('O''Brien', 'OBrien'), ('高石早苗', '高市早苗'), ('a', 'b'), ('', ''), ('a', ''), (' -', '.'),
    ('😀', '😀'), (NULL, 'a'), ('a', NULL)) AS v (a, b);
SELECT pg_typeof(ident_name_sim('a', 'a')), ident_name_sim(repeat('ab ', 1000000), repeat('ab ', 1000000)), round(ident_name_sim(repeat('ab', 1000000), repeat('ba', 1000000))::numeric, 4) AS long;
-- What it knows of words: legal forms, titles, particles, initials, short forms, transliterations, numbers, generations.
SELECT a, b, round(ident_name_sim(a, b)::numeric, 4) AS sim
FROM (VALUES
    ('Müller GmbH & Co. KG', 'MUELLER Gesellschaft mit beschränkter Haftung'), ('ООО Ромашка', 'Romashka L.L.C.'), ('IBM Corp.', 'International Business Machines'), ('Deutsche Bank', 'Deutsche Banque'),
    ('M/V Ocean Star II', 'OCEANSTAR 2'), ('Ocean Star 1', 'Ocean Star 2'), ('Ocean Star', 'Ocean Star 2'), ('Robert Kennedy Jr.', 'Robert Kennedy Sr.'), ('Robert Kennedy', 'Robert Kennedy Jr.'),
    ('Dr. Ludwig van Beethoven', 'BEETHOVEN, Ludwig'), ('JR Smith', 'John Robert Smith'), ('Bill Clinton', 'William Jefferson Clinton'), ('Abd al-Rahman Yasin', 'YASIN, Abdurrahman'),
    ('Khrushchev', 'Chruschtschow'), ('Ivan Ivanovich Petrov', 'Petrow, Iwan'), ('George Bush', 'Jeb Bush')) AS v (a, b);
-- Versions, and weights of frequent words.
SELECT ident_name_sim('Erika Mustermann', 'Erica Mustermann', 1) = ident_name_sim('Erika Mustermann', 'Erica Mustermann') AS default_is_1;
SELECT ident_name_sim('a', 'b', 2);
SELECT round(ident_name_sim('Hotel Astoria', 'Hotel Viktoria')::numeric, 4) AS plain, round(ident_name_sim('Hotel Astoria', 'Hotel Viktoria', words => '{HOTEL,Motel}', weights => '{.2,.2}')::numeric, 4) AS hotel_is_frequent,
    round(ident_name_sim('Café Astoria', 'Hotel Astoria', words => '{hotel,café}', weights => '{.2,.2}')::numeric, 4) AS both;
SELECT ident_name_sim('a', 'b', words => '{hotel}');
SELECT ident_name_sim('a', 'b', words => '{hotel}', weights => '{0}');
SELECT ident_name_sim('a', 'b', words => '{hotel}', weights => '{NaN}');
SELECT ident_name_sim('a', 'b', words => '{hotel}', weights => '{NULL}');
-- So small that their sum would be 0.
SELECT ident_name_sim('a', 'b', words => '{a,b}', weights => '{4.9e-324,4.9e-324}');
SELECT round(ident_name_sim('Hotel Astoria', 'Hotel Viktoria', words => '{hotel,astoria,viktoria}', weights => '{1e-6,1e-6,1e-6}')::numeric, 4) AS least;
SELECT ident_name_sim('a', 'b', words => '{{hotel},{inn}}', weights => '{1,1}');
SELECT ident_name_sim('a', 'b', words => array_fill('hotel'::text, '{10001}'), weights => array_fill(.5::float8, '{10001}'));
SELECT ident_name_sim('a', 'b', words => NULL) IS NULL AS strict, ident_name_sim('Hotel Astoria', 'Hotel Viktoria', words => '{NULL,hotel}', weights => '{.9,.2}') = ident_name_sim('Hotel Astoria', 'Hotel Viktoria', words => '{hotel}', weights => '{.2}') AS nulls_are_left_out;
SELECT ident_name_sim('a', 'b', words => '{NULL,hotel}', weights => '{.5}');
-- Alif is an a, and the long vowel of Kana nothing; what is called U627 and U30FC is neither.
SELECT ident_name_sim('U627', 'A') < 1 AS u627, ident_name_sim('U30FC', 'U30FC') AS u30fc, ident_name_sim('ا', 'A') AS alif;
-- Parts of a name.
SELECT name, p.* FROM unnest(ARRAY['Prof. Dr. Erika Mustermann', 'Goethe, Johann Wolfgang von', 'Karl-Theodor Freiherr von und zu Guttenberg', 'Steffi Graf', 'Martin Luther King, Jr.',
    'William H. Gates III', 'William "Bill" Gates', 'Jan van der Berg', 'Charles de la Tour', 'Usama bin Laden', 'Bashar al-Assad', 'Gabriel García Márquez', 'DUPONT Jean', '毛泽东', '高市早苗',
    'ジョン・スミス', '김철수', 'Kim Jong-un', 'Dr.', '', ' ,']) WITH ORDINALITY AS n (name, i), ident_name(name) AS p ORDER BY i;
SELECT (ident_name(NULL)).surname, (ident_name('Erika Mustermann')).*;
SELECT ident_name(repeat('ab ', 300));
SELECT length((ident_name(repeat('ab', 5000000))).surname);
-- Forms of given names.
SELECT name, ident_name_forms(name, 1) FROM unnest(ARRAY['Bill', 'William', 'Pepa', 'Josefa', 'Sascha', 'Alexander', 'Саша', 'Xqzt', '', NULL]) AS name;
SELECT ident_name_forms('Bill', 1) && ident_name_forms('William', 1) AS forms, ident_name_forms('Pepa', 1) && ident_name_forms('Josefa', 1) AS forms, ident_name_forms('Bill', 1) && ident_name_forms('Erika', 1) AS none;
SELECT ident_name_forms('Bill', NULL);
SELECT ident_name_forms('Bill', 2);
-- What takes long can be canceled.
SET statement_timeout = '50ms';
SELECT ident_name_sim(t, t) FROM repeat('Erika Mustermann ', 4000000) AS t;
SELECT ident_name(t) FROM repeat('Müller', 10000000) AS t;
RESET statement_timeout;
-- Long words and marks that nothing closes take no time to speak of.
SET statement_timeout = '5s';
SELECT length((ident_name('Wang ' || repeat('a', 65000))).given) AS given, length((ident_name('Wang ' || repeat('a', 65000))).surname) AS surname;
SELECT ident_name(repeat('(', 60000));
SELECT ident_name(repeat('a', 10000000));
SELECT ident_name_forms(repeat('a', 10000000), 1);
RESET statement_timeout;
-- what else a field of names holds
SELECT name, p.titles, p.given, p.particles, p.surname, p.suffixes, p.nickname, p.born
FROM unnest('{"Anna Müller geb. Schmidt","Müller, Anna (geb. Schmidt)","King Charles III","Papst Benedikt XVI.","Hans & Anna Müller","Müller GmbH","Anne-Marie ''t Hart","محمد بن سلمان","Sun Yat-sen"}'::text[]) WITH ORDINALITY AS n (name, i), ident_name(name) AS p ORDER BY i;
