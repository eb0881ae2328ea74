-- Postal addresses taken apart.
SELECT text, p.* FROM (VALUES (1, 'Hauptstr. 12a, 50667 Köln'), (2, '12 High St, London SW1A 1AA'), (3, '350 5th Ave Apt 4B, New York, NY 10118'), (4, 'C/ Mayor 5, 3º B, 28013 Madrid'),
    (5, '12 bis rue de Rivoli, 75001 Paris'), (6, 'Via Roma 10, 00184 Roma'), (7, E'Hauptstraße 12 a\nD-50667 Köln\nDeutschland'), (8, 'улица Ленина 5, Москва'), (9, ''), (10, NULL)) AS v(n, text), LATERAL ident_address_parts(text) AS p ORDER BY n;
SELECT ident_address_parts(NULL), ident_address_parts(' , '), (ident_address_parts(repeat('a', 50000))).number;
SELECT ident_address_parts(repeat('a ', 257));
-- It is immutable, so that generated columns take it.
CREATE TABLE address (text text, postcode text GENERATED ALWAYS AS ((ident_address_parts(text)).postcode) STORED);
INSERT INTO address VALUES ('Hauptstr. 5, 50667 Köln') RETURNING postcode;
DROP TABLE address;
SELECT ident_address_parts(repeat('(', 200000000));
