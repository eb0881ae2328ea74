-- Abbreviations written out.
SELECT language, text, ident_expand(text, language, 1)
FROM (VALUES ('de', 'Hauptstr. 5, 10115 Berlin'), ('de', 'Kurt-Schumacher-Str. 1'), ('de', 'Meier G.m.b.H. & Co. KG'), ('de', 'St. Gallen'), ('en', 'St. James St., London'), ('en', '12 Oak St Apt 4'),
    ('es', 'C/Mayor 3'), ('es', 'Mª. del Pilar'), ('fr', '12, bd St-Michel'), ('it', 'F.lli Rossi S.p.A.'), ('de', ''), ('de', NULL), (NULL, 'a')) AS v (language, text);
SELECT ident_expand('a', 'de', 2);
SELECT ident_expand('a', 'DE', 1);
SELECT ident_expand('a', repeat('x', 1000), 1);
SELECT ident_expand('a', 'de', NULL);
SELECT length(ident_expand(repeat('Hauptstr. ', 100000), 'de', 1)), length(ident_expand(repeat('a', 1000000) || 'str', 'de', 1));
-- It is immutable, so that generated columns take it.
CREATE TABLE address (street text, sig bloom GENERATED ALWAYS AS (bloom_signature(ident_expand(street, 'de', 1))) STORED);
INSERT INTO address VALUES ('Hauptstr. 5'), ('Hauptstraße 5');
SELECT count(DISTINCT sig) FROM address;
DROP TABLE address;
SELECT length(ident_expand(repeat('Hauptstr. ', 100000), 'de', 1)), ident_expand(repeat('Hauptstr. ', 200000), 'de', 1);
