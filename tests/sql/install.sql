-- The extension as the DBA sees it.
DROP EXTENSION bloom_ident;
CREATE EXTENSION bloom_ident;

-- Every operator class is valid.
SELECT amname, opcname, amvalidate(opclass.oid)
FROM pg_opclass AS opclass JOIN pg_am AS am ON am.oid = opcmethod
WHERE opcintype IN ('bloom'::regtype, 'bloom_query'::regtype, 'minhash'::regtype, 'minhash_bits'::regtype, 'minhash_query'::regtype)
ORDER BY 1, 2;

-- What \dx+ shows, except for array types and the row types of tables and views, which versions before 16 leave out.
CREATE TEMP VIEW members AS
SELECT classid, objid, objsubid, pg_describe_object(classid, objid, objsubid) AS object
FROM pg_depend
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
  AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bloom_ident')
  AND objid NOT IN (SELECT oid FROM pg_type WHERE typcategory = 'A' OR typrelid IN (SELECT oid FROM pg_class WHERE relkind IN ('r', 'v')));
-- A function is IMMUTABLE, STRICT and PARALLEL SAFE, if nothing else is said behind it: one that a setting governs, or a job. An aggregate is never STRICT.
\pset format unaligned
SELECT concat_ws(' ', object, CASE provolatile WHEN 's' THEN 'STABLE' WHEN 'v' THEN 'VOLATILE' END,
                 CASE WHEN NOT proisstrict AND prokind = 'f' THEN 'CALLED ON NULL INPUT' END,
                 CASE proparallel WHEN 'r' THEN 'PARALLEL RESTRICTED' WHEN 'u' THEN 'PARALLEL UNSAFE' END) AS object
FROM members LEFT JOIN pg_proc ON classid = 'pg_proc'::regclass AND objid = pg_proc.oid
ORDER BY members.object COLLATE "C";
\pset format aligned

-- Everything has a comment.
SELECT object AS "without a comment" FROM members
WHERE obj_description(objid, classid::regclass::name) IS NULL
ORDER BY 1;
DROP VIEW members;

-- Relocatable.
CREATE SCHEMA elsewhere;
ALTER EXTENSION bloom_ident SET SCHEMA elsewhere;
SELECT elsewhere.bloom_sim(elsewhere.bloom_signature('Erika'), elsewhere.bloom_signature('Erica'));
ALTER EXTENSION bloom_ident SET SCHEMA public;
DROP SCHEMA elsewhere;

-- Trusted: the owner of a database may create it.
CREATE ROLE bloom_ident_owner;
DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO bloom_ident_owner', current_database()); END $$;
CREATE SCHEMA owned AUTHORIZATION bloom_ident_owner;
DROP EXTENSION bloom_ident;
SET ROLE bloom_ident_owner;
CREATE EXTENSION bloom_ident SCHEMA owned;
SELECT owned.ident_normalize('Müller');
-- Abbreviations are the owner's to write, and to let others write. The table is not: a trigger on it would run as whoever writes.
INSERT INTO owned.ident_abbreviations (language, abbreviation, words) VALUES ('de', 'Tr.', 'Trachtenverein'), ('de', 'x', 'y');
UPDATE owned.ident_abbreviations SET words = 'Trachtenvereinigung' WHERE abbreviation = 'Tr.';
DELETE FROM owned.ident_abbreviations WHERE abbreviation = 'x' RETURNING written_out;
GRANT SELECT, INSERT, UPDATE, DELETE ON owned.ident_abbreviations TO PUBLIC;
CREATE TRIGGER trap BEFORE INSERT ON owned.ident_abbreviations FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
ALTER TABLE owned.ident_abbreviations ADD CHECK (length(words) > 0);
TRUNCATE owned.ident_abbreviations;
SELECT owned.bloom_sign('Tr. Nord', 'de', 1) OPERATOR(owned.=) owned.bloom_signature('Trachtenvereinigung Nord') AS same;
DROP EXTENSION bloom_ident;
RESET ROLE;
DROP SCHEMA owned;
DO $$ BEGIN EXECUTE format('REVOKE CREATE ON DATABASE %I FROM bloom_ident_owner', current_database()); END $$;
DROP ROLE bloom_ident_owner;
CREATE EXTENSION bloom_ident;

-- The setting.
SHOW bloom_ident.threshold;
SET bloom_ident.threshold = 1.01;
SET bloom_ident.threshold = -0.01;
SET bloom_ident.thresholt = 0.5;
