-- Identity text: normal form, dates, check digits.
SELECT s, ident_normalize(s), ident_normalize(s, filler => true)
FROM (VALUES
    ('Müller-Lüdenscheidt'), ('Weiß'), ('Citroën'), ('Muñoz Ñúñez'), ('Ångström'), ('Þórður'),
    ('O''Brien'), ('O’Brien'), ('Đặng'), ('Łukasz'), ('STRAẞE'), ('Œuvre æsir'), ('Søren'), ('ﬁsh'), ('ＡＢＣ１'),
    ('27. Mai 1964'), ('Mª del Pilar'), ('_a_'), ('a_b'), ('Μαρία'), ('Иванов'), ('Юлия'), ('김철수'), ('张伟'),
    ('٣٤'), ('½ Ⅷ ①')) AS v(s);

-- Composed or not: the same.
SELECT ident_normalize(U&'Mu\0308ller'), ident_normalize(U&'Mu\0308\0323ller'), ident_normalize(U&'\0439') = ident_normalize(U&'\0438\0306') AS short_i;
-- Empty, blank, control characters, right to left, format characters, emoji.
SELECT ident_normalize(''), ident_normalize(' '), ident_normalize(NULL), ident_normalize(E'a\tb\x01\x7f', true);
SELECT ident_normalize('محمد'), ident_normalize(U&'\202Eabc\202C'), ident_normalize(U&'a\200Db\00ADc', true), ident_normalize('a😀b👩‍👧c', true);
-- Nothing of letters only becomes nothing.
SELECT ident_normalize('ع'), ident_normalize('😀');
-- Long text.
SELECT length(ident_normalize(repeat('Ää', 5000000))), md5(ident_normalize(repeat('Ää', 5000000))) = md5(repeat('aeae', 5000000)) AS right;
SELECT length(ident_normalize(repeat(U&'\0308', 1000000) || 'u' || repeat(U&'\0308', 1000000)));

SELECT ident_date(date '1964-05-27'), ident_date(date '0001-01-01'), ident_date(date '9999-12-31'), ident_date(NULL::date);
SELECT ident_date(date 'infinity');
SELECT ident_date(date '-infinity');
SELECT ident_date(date '0001-01-01 BC');
SELECT ident_date(date '10000-01-01');
SELECT ident_date('27.05.1964', 'DD.MM.YYYY'), ident_date('7.5.1964', 'dd.mm.yyyy'), ident_date('1964-05-27', 'YYYY-MM-DD'),
       ident_date('27. Mai 1964', 'DD. Month YYYY'), ident_date('', 'DD.MM.YYYY') = '' AS empty, ident_date(NULL, 'DD.MM.YYYY') AS null;
SELECT ident_date('32.05.1964', 'DD.MM.YYYY');
SELECT ident_date('27.13.1964', 'DD.MM.YYYY');
SELECT ident_date('29.02.1900', 'DD.MM.YYYY');
SELECT ident_date('27.05.64', 'DD.MM.YYYY');
SELECT ident_date('yesterday', 'DD.MM.YYYY');
SELECT ident_date('27.05.1964', 'DD.MM');
SELECT ident_date('27.05.64', 'DD.MM.YYY');
SELECT ident_date('27.05.1964', repeat('.', 1000000));
SELECT ident_date(repeat('27.05.1964', 1000000), 'DD.MM.YYYY');
SELECT d, p.* FROM (VALUES ('27.05.1964'), ('32.05.1964'), ('05.27.1964'), ('30.21.1964'), ('31.04.2000'), ('00.01.2000'), ('01.01.0000'), ('nonsense'), (''), (NULL)) AS v(d),
    LATERAL ident_date_plausibility(d, 'DD.MM.YYYY') AS p;

-- Several formats, in order of preference. With one format it is the function of before.
SELECT d, ident_date(d, 'DD.MM.YYYY', 'YYYY-MM-DD', 'DDth Month YYYY', 'DD/MM/YY', 'MM/DD/YY') FROM unnest('{27.05.1964, 1964-05-27, 27. Mai 1964, 1er févr. 2001, 05/06/64, 05/27/29, ""}'::text[]) AS d;
SELECT n, ident_date('27 ' || n || ' 1964', 'DD Month YYYY') FROM unnest('{Mai, MAY, mayo, mai, maggio, maja, mei, Jänner, mrt., août, września, styczeń, dic, luglio}'::text[]) AS n;
SELECT y, ident_date('27.05.' || y, 'DD.MM.YY') FROM unnest('{29, 30, 99, 00}'::text[]) AS y;
SELECT ident_date('27/05/1964', 'DD.MM.YYYY', VARIADIC '{NULL, DD/MM/YYYY}'), ident_date('27.05.1964', 'DD.MM.YYYY', VARIADIC '{}'::text[]),
       ident_date('27.05.1964', 'DD.MM.YYYY', VARIADIC NULL::text[]) AS none, ident_date('27.05.1964', NULL, 'DD.MM.YYYY') AS no_first, ident_date(NULL, 'DD.MM.YYYY', 'DD/MM/YYYY') AS no_date;
SELECT ident_date('27/05/1964', 'DD.MM.YYYY', 'YYYY-MM-DD');
SELECT ident_date('31/02/1964', 'DD.MM.YYYY', 'DD/MM/YYYY');
SELECT ident_date('27 jui 1964', 'DD Mon YYYY');
SELECT ident_date('27.05.1964', 'DD.MM.YYYY', 'DD.MM');
SELECT ident_date('27.05.1964', 'DD.MM.YYYY', VARIADIC '{{DD.MM.YYYY},{DD.MM.YYYY}}');
SELECT ident_date(repeat('27 x', 1000000), 'DD.MM.YYYY', 'DD Month YYYY');
-- No error over data: NULL, or the digits of what is impossible.
SELECT d, ident_date_or_null(d, 'YYYY-MM-DD') AS one, ident_date_or_null(d, 'YYYY-MM-DD', 'DD.MM.YYYY') AS or_null,
       ident_date_text(d, 'YYYY-MM-DD') AS text_one, ident_date_text(d, 'YYYY-MM-DD', 'DD.MM.YYYY') AS text
FROM unnest('{1964-05-27, 1964-86-27, 27.05.1964, 31.02.1964, 00.00.1964, 1964, 1964-05-27 20:15, 27/5/64, unknown, " ", "", NULL}'::text[]) AS d;
SELECT ident_date_or_null('x', 'DD.MM');
SELECT ident_date_text('x', 'DD.MM.YYYY', 'DD.MM');
SELECT d, ident_date_or_null(d), ident_date_text(d) FROM unnest('{1964-05-27, infinity, -infinity, 0044-03-15 BC, 10000-01-01, NULL}'::date[]) AS d;
SELECT length(ident_date_text(repeat('x', 10000000) || '1964', 'DD.MM.YYYY'));
-- An ALTER TABLE over bad dates.
CREATE TABLE dated (raw text);
INSERT INTO dated VALUES ('27.05.1964'), ('27.86.1964'), ('?'), (NULL);
ALTER TABLE dated ADD birth text GENERATED ALWAYS AS (ident_date_text(raw, 'DD.MM.YYYY', 'DD.MM.YY')) STORED,
    ADD sig bloom GENERATED ALWAYS AS (bloom_signature_of_date(ident_date_text(raw, 'DD.MM.YYYY', 'DD.MM.YY'))) STORED,
    ADD before text GENERATED ALWAYS AS (ident_date_or_null(raw, 'DD.MM.YYYY')) STORED;
SELECT raw, birth, before, bloom_bits(sig) FROM dated;
DROP TABLE dated;

-- Times.
SELECT t, f, ident_time(t, f) FROM (VALUES ('20:15', 'HH24:MI'), ('8:15:07 pm', 'HH:MI:SS AM'), ('12:00 a.m.', 'HH12:MI AM'), ('12:00PM', 'HH:MIPM'), ('201507', 'HHMISS'), ('20:15:07.25', 'HH24:MI:SS.FF'), ('20h15', 'HH"h"MI'), (' ', 'HH:MI'), (NULL, 'HH:MI'), ('20:15', NULL)) AS v(t, f);
SELECT ident_time('25:00', 'HH24:MI');
SELECT ident_time('13:00 pm', 'HH:MI AM');
SELECT ident_time('8:15', 'HH:MI AM');
SELECT ident_time('8:15', 'HH:MM');
SELECT ident_time('8:15', 'HH24:MI AM');
SELECT ident_time('8:15', 'HH12:MI');
SELECT t, ident_time_or_null(t, 'HH24:MI') FROM unnest('{20:15, 25:00, noon, "", NULL}'::text[]) AS t;

-- In several formats, and of a time; also by constants without a type.
SELECT t, ident_time_or_null(t, 'HH24:MI', 'HH12:MI AM', 'HHMI') FROM unnest('{20:15, 8:15 pm, 2015, 8.15, 2515, " ", NULL}'::text[]) AS t;
SELECT ident_time('8:15 pm', 'HH24:MI', 'HH12:MI AM'), ident_time('20:15', 'HH24:MI', VARIADIC '{}'), ident_time('20:15', 'HH24:MI', VARIADIC '{NULL}'), ident_time('20:15', 'HH24:MI', VARIADIC NULL) AS null;
SELECT ident_time('8.15', 'HH24:MI', 'HH12:MI AM');
SELECT ident_time('25:15', 'HH24:MI', 'HH12:MI AM');
SELECT ident_time_or_null('8.15', 'HH24:MI', 'HH:MM');
SELECT ident_time('20:15'), ident_time('20:15:07.9'), ident_time(time '00:00'), ident_time(NULL), ident_time_or_null('20:15'), ident_time_or_null(time '24:00') AS none, ident_time_or_null(NULL) AS null;
SELECT ident_time(time '24:00');
SELECT ident_time('8:15 Uhr');
SELECT ident_date('1964-05-27'), ident_date_or_null('1964-05-27'), ident_date_text('1964-05-27');

-- Signatures of dates.
SELECT bloom_signature_of_date(NULL) AS null, bloom_signature_of_date('19640527') AS signature;
SELECT d, round(bloom_sim(bloom_signature_of_date('19640527'), bloom_signature_of_date(d))::numeric, 3)
FROM unnest('{19640527, 1964-05-27, 20640527, 19640528, 19642705, 19645027, 19650527, 19648627, 19640500, 19640000, 19711203, 640527, "", unknown}'::text[]) AS d;
SELECT bloom_sim(bloom_signature_of_date('19640527'), bloom_signature('19640527'));
SELECT bloom_signature_of_tokens('{a}') % bloom_query(bloom_signature_of_date('19640527'), 0.2);
-- What is written in another order would be another date.
SELECT bloom_signature_of_date('27.05.1964');
SELECT bloom_signature_of_date('1964-05-27 12:00');
SELECT bloom_sim(bloom_signature_of_date('1964-05-27'), bloom_signature_of_date('19640527')) AS same, bloom_bits(bloom_signature_of_date(ident_date_text('27.86.1964', 'DD.MM.YYYY'))) AS impossible;
-- It is that of its tokens: every two of the digits 640527, with their places, and the same with 460527, the digits of each part in order.
SELECT bloom_signature_of_date('19640527') = bloom_add(bloom_signature_of_date(''), array_agg(DISTINCT i::text || substr(d, i, 1) || j || substr(d, j, 1)))
FROM unnest('{640527, 460527}'::text[]) AS d, generate_series(1, 6) AS i, generate_series(i + 1, 6) AS j;

SELECT s, ident_luhn(s) FROM (VALUES ('4111111111111111'), ('4111111111111112'), ('79927398713'), ('4111 1111-1111 1111'), ('0'), (''), ('4111x'), (NULL)) AS v(s);
