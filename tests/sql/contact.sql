-- Telephone numbers.
SELECT t, r, ident_phone_or_null(t, r), ident_phone_extension(t, r) AS extension
FROM (VALUES ('040/422838-4625', 'DE'), ('+49 (0)40 4228384625', 'us'), ('1-800-FLOWERS', 'US'), ('(650) 253-0000 x123', 'us'), ('٠٤٠٤٢٢٨٣٨٤٦٢٥', 'DE'),
    ('02 1234 5678', 'IT'), ('', 'DE'), (' ', 'DE'), ('Erika', 'DE'), ('110', 'DE'), (';phone-context=+49tel:5', 'DE'), (NULL, 'DE'), ('040 4228384625', NULL)) AS v(t, r);
SELECT ident_phone('040/422838-4625', 'DE'), ident_phone(NULL, 'DE');
SELECT ident_phone('', 'DE');
SELECT ident_phone('422838', 'DE');
SELECT ident_phone('+999 1234567', 'DE');
SELECT ident_phone(repeat('0', 1000000), 'DE');
SELECT ident_phone('040/422838-4625', 'Germany');
-- A region that is not known stops nothing but the numbers that need one.
SELECT t, r, ident_phone_or_null(t, r), ident_phone_extension(t, r) AS extension
FROM unnest('{040/422838-4625, +49 40 4228384625, +1 650 253 0000 x123}'::text[]) AS t, unnest('{"", UK, XX, " de ", NULL}'::text[]) AS r;
SELECT ident_phone('+49 40 4228384625', ''), ident_phone('+49 40 4228384625', ' ');
SELECT ident_phone('040/422838-4625', '');
SELECT ident_phone('+49 40 4228384625', 'UK');
CREATE TABLE calls (number text, region text);
INSERT INTO calls VALUES ('040 4228384625', 'DE'), ('040 4228384625', 'UK'), ('+44 20 7946 0018', 'UK'), ('+49 40 4228384625', '');
ALTER TABLE calls ADD form text GENERATED ALWAYS AS (ident_phone_or_null(number, region)) STORED;
SELECT * FROM calls;
DROP TABLE calls;
-- Digits behind a slash.
SELECT t, ident_phone_or_null(t, 'DE') FROM unnest('{040/4228384625, 040 4228384625 / 22, 030 901820 / 901821, +49 40 4228384625/22, 0049/40/4228384625}'::text[]) AS t;
SELECT ident_phone('040 4228384625 / 22', 'DE');

-- E-mail addresses.
SELECT e, ident_email_or_null(e)
FROM (VALUES ('Erika.Mustermann+x@GMail.com'), ('"Erika, M." <erika.mustermann@googlemail.com>'), ('e@x.de (Erika (private))'), (' e @ x.de. '), ('e+x@x.de'), ('a.b+t@outlook.de'),
    ('base-key@yahoo.com'), ('base+key@yahoo.com'), ('base-key@yahoo.co.jp'), ('a.b-c_d+t@proton.me'), ('a+t@fastmail.com'), ('a+t@icloud.com'), ('+t@gmail.com'), ('"erika"@x.de'), ('"two words"@x.de'), ('"a@b"@x.de'),
    ('KÄTHE@MÜLLER.DE'), ('käthe@xn--mller-kva.de'), (U&'ka\0308the@mu\0308ller.de'), ('иван@пример.рф'), ('用户@例え。jp'),
    (''), (' '), ('e'), ('@x.de'), ('e@'), ('e@@x.de'), ('e@x.de, f@x.de'), ('e@localhost'), ('e@[192.0.2.1]'), ('e@1.2.3.4'), ('.e@x.de'), ('e.@x.de'), ('e..f@x.de'), ('e f@x.de'), ('e@x y.de'),
    ('e@-x.de'), ('e@x_y.de'), ('e@xn--a.de'), ('"e@x.de'), ('e@x.de (E'), ('E <e@x.de'), ('e@x.de>'), (NULL)) AS v(e);
-- Marks that cannot be seen are shown as < and >.
SELECT translate(e, U&'\200f\200b', '<>') AS e, ident_email_or_null(e) FROM unnest(ARRAY['mailto:e@x.de', 'E <mailto:e@x.de?subject=a>', 'mailto:e%2B@x.de', 'a.b.@docomo.ne.jp', 'a..b@ezweb.ne.jp', 'a..b@x.ne.jp', '.a@docomo.ne.jp', 'e@x.de;', 'e@x.de , ',
    'ｅ＠ｘ．ｄｅ', U&'\200fe@x.de\200b', U&'e\200b@x.de', 'e @x.de']) AS e;
SELECT ident_email('Erika <e@x.de>'), ident_email(NULL);
SELECT ident_email('');
SELECT ident_email('e@@x.de');
SELECT ident_email(repeat('e', 1000000) || '@x.de');
SELECT ident_email_parts('e');
SELECT p.* FROM (VALUES ('alex_lastname32@yahoo.com'), ('alex_lastname746@yahoo.co.uk'), ('E.M.+shop@googlemail.com'), ('info@müller.co.uk'), ('x@foo.github.io'), ('x@co.uk'), (NULL)) AS v(e), LATERAL ident_email_parts(e) AS p;

-- Several encodings.
SELECT ident_encodings('email', 'alex_lastname32@yahoo.com');
SELECT ident_encodings('name', 'Mustermann, Erika'), ident_encodings('text', 'Weg 5'), ident_encodings('phone', '4940123'), ident_encodings('email', '12@qq.com');
SELECT round(bloom_sim(bloom_signature_of_identity('email', 'alex_lastname32@yahoo.com'), bloom_signature_of_identity('email', 'alex_lastname746@yahoo.co.uk'))::numeric, 3) AS pattern,
       round(bloom_sim(bloom_signature_of_identity('email', 'alex_lastname32@yahoo.com'), bloom_signature_of_identity('email', 'erika.mustermann@yahoo.com'))::numeric, 3) AS unrelated,
       bloom_sim(bloom_signature_of_identity('name', 'Erika Mustermann'), bloom_signature_of_identity('name', 'Mustermann, Erika')) AS turned;
SELECT bloom_bits(bloom_signature_of_identity('name', '')) AS none, bloom_signature_of_identity('email', NULL) AS null;
SELECT bloom_signature_of_identity('iban', 'x');
SELECT bloom_signature_of_identity('email', 'x');
SELECT bloom_signature_of_identity('phone', '+49 40');
SELECT bloom_signature_of_identity('phone', '12');
SELECT bloom_bits(bloom_signature_of_identity('text', repeat('abc ', 100000), 256)) AS bits;

-- Words apart, or not.
SELECT bloom_sim(bloom_signature('ab c'), bloom_signature('abc')) AS plain, round(bloom_sim(bloom_signature('ab c', filler => true), bloom_signature('abc', filler => true))::numeric, 3) AS filler,
       bloom_signature('ab-c', filler => true) = bloom_signature('ab c', filler => true) AS same, bloom_signature('abc', filler => true) = bloom_signature('abc') AS one_word;
SELECT bloom_signature('ab c', by_word => true, filler => true);

SELECT line FROM regexp_split_to_table(bloom_fingerprint(), E'\n') AS line;
