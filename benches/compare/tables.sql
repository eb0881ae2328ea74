-- The tables of "make compare": records of four words and a number, one in five a copy of another with a letter missing.
CREATE TABLE person AS
    SELECT i AS id, given_name, surname, suburb, date_of_birth,
        bloom_signature(concat_ws(' ', given_name, surname, suburb, date_of_birth)) AS sig
    FROM (
        SELECT i, a.given_name, CASE WHEN i = n THEN b.surname ELSE overlay(b.surname PLACING '' FROM 2 FOR 1) END AS surname,
            c.suburb, d.date_of_birth
        FROM (SELECT i, CASE WHEN i % 5 = 0 THEN i - 1 ELSE i END AS n FROM generate_series(1, :rows) AS i) AS r
        CROSS JOIN (SELECT count(*) AS words FROM febrl) AS w
        JOIN (SELECT row_number() OVER (ORDER BY rec_id) - 1 AS k, * FROM febrl) AS a ON a.k = abs(hashint8(n * 4)) % words
        JOIN (SELECT row_number() OVER (ORDER BY rec_id) - 1 AS k, * FROM febrl) AS b ON b.k = abs(hashint8(n * 4 + 1)) % words
        JOIN (SELECT row_number() OVER (ORDER BY rec_id) - 1 AS k, * FROM febrl) AS c ON c.k = abs(hashint8(n * 4 + 2)) % words
        JOIN (SELECT row_number() OVER (ORDER BY rec_id) - 1 AS k, * FROM febrl) AS d ON d.k = abs(hashint8(n * 4 + 3)) % words) AS p;
ALTER TABLE person ADD PRIMARY KEY (id);
CREATE INDEX person_sig ON person USING sigfile (sig);
CREATE TABLE few AS SELECT * FROM person WHERE id <= 20000;
ALTER TABLE few ADD PRIMARY KEY (id);
CREATE TABLE guarded (LIKE few INCLUDING ALL);
CREATE INDEX ON guarded USING sigfile (sig);
CREATE TRIGGER guard AFTER INSERT ON guarded FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.9', 'warn');
VACUUM ANALYZE;
