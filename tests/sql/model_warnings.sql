-- Match models: what speaks against a model, or against the data that it was fitted to, is a WARNING at the fit and a text in the model.
CREATE SCHEMA model_warnings;
SET search_path = model_warnings, public;
CREATE TABLE febrl (rec_id text, cluster_id int, given_name text, surname text, street_number text, address_1 text, address_2 text, suburb text, postcode text, state text, date_of_birth text, soc_sec_id text);
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/data/febrl3.csv'
COPY febrl FROM :'file' (FORMAT csv, HEADER);
CREATE TABLE people AS SELECT rec_id, given_name, surname, address_1, suburb, to_char(to_date(date_of_birth, 'YYYYMMDD'), 'YYYY-MM-DD') AS born, row_number() OVER (ORDER BY rec_id) AS n
    FROM febrl WHERE cluster_id < 450 AND date_of_birth ~ '^(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|1\d|2[0-8])$';
SELECT count(*) FROM people;
CREATE FUNCTION fields(model jsonb) RETURNS TABLE (field text) LANGUAGE sql AS $$
    SELECT concat_ws(' ', f ->> 'name', f ->> 'kind', f ->> 'reading', CASE WHEN (f ->> 'personal')::boolean THEN 'personal' END) FROM jsonb_array_elements(model -> 'fields') AS f $$;

-- Nothing speaks against this one.
CREATE VIEW plain AS SELECT rec_id, given_name, surname, address_1, suburb, born FROM people;
SELECT model ->> 'status' AS status, model -> 'warnings' AS warnings FROM bloom_model_fit('plain', 'rec_id') AS model;

-- A field of each record's own, in a table of few records, is left out; who names it is told. Texts of the model are those of the WARNING.
CREATE VIEW owned AS SELECT *, '030' || 5000000 + n * 7919 % 4000037 AS contact FROM people;
SELECT model -> 'left_out' AS left_out, model -> 'warnings' AS warnings FROM bloom_model_fit('owned', 'rec_id') AS model;
SELECT jsonb_pretty(model -> 'warnings') AS warnings FROM bloom_model_fit('owned', 'rec_id', '{given_name,surname,suburb,born,contact}') AS model;
-- Names, dates and addresses stay, and nothing is said of them, nor of a number that some records share.
CREATE VIEW different AS SELECT rec_id, 'Given' || n AS given_name, 'Name' || n AS surname, date '1900-01-01' + n::int AS joined, 'a' || n || '@mail.example' AS contact, suburb, n % 450 AS number FROM people;
SELECT fields(model) AS field FROM bloom_model_fit('different', 'rec_id') AS model;
SELECT model -> 'left_out' AS left_out, model -> 'warnings' AS warnings FROM bloom_model_fit('different', 'rec_id', '{given_name,surname,joined,contact,suburb,number}') AS model;
-- Below 200 records nothing is said of it.
CREATE VIEW owned_by_few AS SELECT * FROM owned WHERE n < 200;
SELECT fields(model) AS field FROM bloom_model_fit('owned_by_few', 'rec_id', '{given_name,surname,suburb,contact}') AS model;

-- A few dates in another format, and the reading that the hint names; a few that cannot be read; two in a thousand are of no account.
CREATE VIEW mixed AS SELECT rec_id, given_name, surname, suburb, CASE WHEN n % 300 = 1 THEN to_char(born::date, 'DD.MM.YYYY') ELSE born END AS born FROM people;
SELECT fields(model) AS field FROM bloom_model_fit('mixed', 'rec_id') AS model;
SELECT fields(model) AS field FROM bloom_model_fit('mixed', 'rec_id', '{given_name,surname,suburb,"born:date(YYYY-MM-DD|DD.MM.YYYY)"}') AS model;
CREATE VIEW unread AS SELECT rec_id, given_name, surname, suburb, CASE WHEN n % 300 = 1 THEN 'unknown' ELSE born END AS born FROM people;
SELECT jsonb_array_length(model -> 'warnings') AS warnings FROM bloom_model_fit('unread', 'rec_id') AS model;
CREATE VIEW hardly_mixed AS SELECT rec_id, given_name, surname, suburb, CASE WHEN n = 1 THEN '27.05.1964' ELSE born END AS born FROM people;
SELECT model -> 'warnings' AS warnings FROM bloom_model_fit('hardly_mixed', 'rec_id') AS model;
-- The same of telephones and of e-mail addresses.
CREATE VIEW contacts AS SELECT rec_id, given_name, surname, suburb, born,
    CASE WHEN n % 100 = 1 THEN '+49 40 ' ELSE '040 ' END || 2000000 + cluster_id * 37 AS phone, CASE WHEN n % 200 = 1 THEN 'Clerk <p' || cluster_id || '@web.example>' ELSE 'p' || cluster_id || '@web.example' END AS mail
    FROM people JOIN febrl USING (rec_id, given_name, surname, suburb);
SELECT fields(model) AS field FROM bloom_model_fit('contacts', 'rec_id') AS model;
SELECT fields(model) AS field FROM bloom_model_fit('contacts', 'rec_id', '{given_name,surname,suburb,born,"phone:phone(DE)","mail:text(mailbox)"}') AS model;
CREATE VIEW no_contacts AS SELECT rec_id, given_name, surname, suburb, born, CASE WHEN n % 100 = 1 THEN 'none' ELSE phone END AS phone, CASE WHEN n % 100 = 1 THEN 'none' ELSE mail END AS mail
    FROM contacts JOIN people USING (rec_id, given_name, surname, suburb, born);
SELECT fields(model) AS field FROM bloom_model_fit('no_contacts', 'rec_id', '{given_name,surname,suburb,born,phone:phone,mail:email}') AS model;

-- Columns whose names say nothing, though their values look like people; of other things nothing is said, and not if the personal fields are given.
CREATE VIEW unnamed AS SELECT rec_id, given_name AS c1, surname AS c2, address_1 AS c3, suburb AS c4, born AS c5 FROM people;
SELECT fields(model) AS field FROM bloom_model_fit('unnamed', 'rec_id') AS model;
SELECT model -> 'warnings' AS warnings FROM bloom_model_fit('unnamed', 'rec_id', personal => '{c1,c5}') AS model;
CREATE VIEW goods AS SELECT rec_id, given_name AS c1, surname AS c2, suburb AS c3, '2020-01-01'::date + n::int % 500 AS c4 FROM people;
SELECT model -> 'warnings' AS warnings FROM bloom_model_fit('goods', 'rec_id') AS model;

-- Values outrank names.
CREATE VIEW born_somewhere AS SELECT rec_id, given_name, surname, born AS date_of_birth, suburb AS birth_place, CASE n % 2 WHEN 0 THEN 'yes' ELSE 'no' END AS email_wanted, left(born, 4) AS birth_year FROM people;
SELECT fields(model) AS field FROM bloom_model_fit('born_somewhere', 'rec_id') AS model;

-- A relation without records is named.
CREATE VIEW nobody AS SELECT * FROM plain WHERE false;
SELECT bloom_model_fit('nobody', 'rec_id');
SELECT bloom_model_fit_linkage('plain', 'rec_id', 'nobody', 'rec_id');
SELECT bloom_model_fit_linkage('nobody', 'rec_id', 'plain', 'rec_id');

-- Two tables, of which one has duplicates of its own: more matches than the smaller one has records.
CREATE VIEW original AS SELECT * FROM plain WHERE rec_id LIKE '%-org';
CREATE VIEW copies AS SELECT * FROM plain WHERE rec_id NOT LIKE '%-org';
SELECT model -> 'warnings' AS warnings FROM bloom_model_fit_linkage('original', 'rec_id', 'copies', 'rec_id') AS model;

-- Searches that find too few: much is missing, and misspelt.
CREATE FUNCTION draw(salt text, i int, of int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT ('x' || left(md5(salt || i), 7))::bit(28)::int % of $$;
CREATE TABLE sparse AS
    SELECT copy || '-' || i AS id, CASE WHEN draw(copy || 'g', i, 9) > 2 THEN left(md5('g' || draw('given', i, 500)), 8) END AS given_name, CASE WHEN draw(copy || 's', i, 9) > 2 THEN left(md5('s' || draw('surname', i, 1700)), 10) END AS surname,
        CASE WHEN draw(copy || 'b', i, 9) > 3 THEN date '1930-01-01' + draw('born', i, 27000) END AS born, CASE WHEN draw(copy || 'c', i, 9) > 1 THEN left(md5('c' || draw('city', i, 200)), 9) END AS city
    FROM generate_series(1, 6500) AS i, (VALUES ('a'), ('b')) AS c (copy) WHERE copy = 'a' OR i % 4 = 0;
SELECT model ->> 'status' AS status, jsonb_array_length(model -> 'warnings') AS warnings FROM bloom_model_fit('sparse', 'id') AS model;
SET client_min_messages = warning;
DROP SCHEMA model_warnings CASCADE;
