-- Abbreviations of the database, which bloom_sign writes out in a trigger.
INSERT INTO ident_abbreviations VALUES ('de', 'Vers.-Ges.', 'Versicherungsgesellschaft'), ('de', 'AG', 'Arbeitsgemeinschaft'), ('de', 'str', 'str'), ('de', 'AG Nord', 'Verein');
SELECT * FROM ident_abbreviations ORDER BY 1, 2;
INSERT INTO ident_abbreviations VALUES ('de', 'a.g.', 'x');
INSERT INTO ident_abbreviations VALUES ('DE', 'x', 'x');
INSERT INTO ident_abbreviations VALUES ('de', '.', 'x');
INSERT INTO ident_abbreviations VALUES ('de', 'x', ' ');
INSERT INTO ident_abbreviations VALUES ('de', '1 2 3 4 5 6 7 8 9', 'x');
INSERT INTO ident_abbreviations VALUES ('de', NULL, 'x');
SELECT text, bloom_sign(text, 'de', 1) = bloom_signature(words) AS same
FROM (VALUES ('Nord Vers.-Ges. AG', 'nord versicherungsgesellschaft arbeitsgemeinschaft'), ('AG Nord', 'verein'), ('AG, Nord', 'arbeitsgemeinschaft nord'), ('Haupt Str. 5', 'haupt str 5'), ('Hauptstr. 5', 'hauptstrasse 5'), ('', ''), (NULL, NULL)) AS v(text, words);
SELECT bloom_sign('AG', 'en', 1) = bloom_signature('ag'), bloom_sign('AG', 'de', 1, ngram => 2, max_chars => 60) = bloom_signature('Arbeitsgemeinschaft', ngram => 2, max_chars => 60), bloom_sign(NULL, 'de', 1) IS NULL;
SELECT bloom_sign(repeat('a ', 100) || 'AG', 'de', 1) = bloom_signature(repeat('a ', 100) || 'arbeitsgemeinschaft');
SELECT bloom_sign('a', 'de', 2);
SELECT bloom_sign('a', 'xx', 1);
SELECT bloom_sign('a', 'de', 1, by_word => true, filler => true);
CREATE TABLE refused (name text, sig bloom GENERATED ALWAYS AS (bloom_sign(name, 'de', 1)) STORED);
CREATE TABLE company (name text, sig bloom);
CREATE FUNCTION sign() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.sig := bloom_sign(NEW.name, 'de', 1); RETURN NEW; END $$;
CREATE TRIGGER sign BEFORE INSERT OR UPDATE ON company FOR EACH ROW EXECUTE FUNCTION sign();
INSERT INTO company VALUES ('AG Nord'), (NULL) RETURNING name, sig = bloom_signature('verein') AS same;
DROP TABLE company;
DROP FUNCTION sign();
-- Only the owner of the extension writes; everybody reads, unless that is taken away.
CREATE ROLE reader;
SET ROLE reader;
INSERT INTO ident_abbreviations VALUES ('de', 'x', 'y');
SELECT bloom_sign('AG', 'de', 1) = bloom_signature('arbeitsgemeinschaft');
RESET ROLE;
REVOKE SELECT ON ident_abbreviations FROM PUBLIC;
SET ROLE reader;
SELECT bloom_sign('AG', 'de', 1);
RESET ROLE;
GRANT SELECT ON ident_abbreviations TO PUBLIC;
DROP ROLE reader;
-- The table beside the function is read, whatever the search_path is and wherever the extension moves.
CREATE SCHEMA elsewhere;
ALTER EXTENSION bloom_ident SET SCHEMA elsewhere;
CREATE TABLE ident_abbreviations (language text, abbreviation_words text, written_out text);
SELECT elsewhere.bloom_sign('AG', 'de', 1)::text = elsewhere.bloom_signature('arbeitsgemeinschaft')::text;
DROP TABLE ident_abbreviations;
ALTER EXTENSION bloom_ident SET SCHEMA public;
DROP SCHEMA elsewhere;
SELECT bloom_sign('AG', 'de', 1) = bloom_signature('arbeitsgemeinschaft');
DELETE FROM ident_abbreviations;
SELECT bloom_sign('AG', 'de', 1) = bloom_signature('aktiengesellschaft');
