-- CREATE EXTENSION as a database's owner, into a schema that is full of traps: nothing of what the extension leaves behind refers to one of them, and none
-- of them runs, above all not as those who use the extension later.
\set ON_ERROR_STOP 1
CREATE ROLE bloom_ident_owner;
DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO bloom_ident_owner', current_database()); END $$;
DROP EXTENSION bloom_ident;
CREATE SCHEMA hostile AUTHORIZATION bloom_ident_owner;
SET ROLE bloom_ident_owner;

-- Operators of these names for every two types, polymorphic ones, and functions that shadow those of the script, as they are and with arguments that are near to
-- what the script gives them.
DO $$
DECLARE
    types text[] := '{int2,int4,int8,float4,float8,numeric,text,varchar,bpchar,name,"\"char\"",bool,oid,regclass,date,time,timestamp,timestamptz,interval,"text[]","name[]",anyelement,anyarray,anycompatible}';
    l text; r text; op text; called record;
BEGIN
    CREATE FUNCTION hostile.spring() RETURNS bool LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''a trap runs as %'', current_user; END';
    FOREACH l IN ARRAY types LOOP
        EXECUTE format('CREATE FUNCTION hostile.trap(%1$s) RETURNS bool LANGUAGE plpgsql AS ''BEGIN RETURN hostile.spring(); END''', l);
        FOREACH r IN ARRAY types LOOP
            EXECUTE format('CREATE FUNCTION hostile.trap(%s, %s) RETURNS bool LANGUAGE plpgsql AS ''BEGIN RETURN hostile.spring(); END''', l, r);
            FOREACH op IN ARRAY '{=,<>,<,<=,>,>=,+,-,*,/,%}'::text[] LOOP
                EXECUTE format('CREATE OPERATOR hostile.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = hostile.trap)', op, l, r);
            END LOOP;
        END LOOP;
    END LOOP;
    FOR called IN SELECT * FROM (VALUES ('length', 1), ('cardinality', 1), ('clock_timestamp', 0), ('string_to_array', 2), ('nullif', 2), ('pg_extension_config_dump', 2)) AS called (name, arguments)
    LOOP
        IF called.arguments = 0 THEN
            EXECUTE format('CREATE FUNCTION hostile.%I() RETURNS timestamptz LANGUAGE plpgsql AS ''BEGIN PERFORM hostile.spring(); END''', called.name);
        END IF;
        FOREACH l IN ARRAY types LOOP
            IF called.arguments = 1 THEN
                EXECUTE format('CREATE FUNCTION hostile.%I(%s) RETURNS int4 LANGUAGE plpgsql AS ''BEGIN PERFORM hostile.spring(); END''', called.name, l);
            ELSIF called.arguments = 2 THEN
                FOREACH r IN ARRAY types LOOP
                    EXECUTE format('CREATE FUNCTION hostile.%I(%s, %s) RETURNS text[] LANGUAGE plpgsql AS ''BEGIN PERFORM hostile.spring(); END''', called.name, l, r);
                END LOOP;
            END IF;
        END LOOP;
    END LOOP;
    -- The functions that serve an operator or an operator class, with the very arguments of the real ones where these can be had.
    FOR called IN SELECT DISTINCT proname AS name, pg_get_function_identity_arguments(oid) AS arguments, prorettype::regtype AS result FROM pg_proc
        WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~ '(sel|^hash.*|_hash|btequalimage)$' AND NOT 'internal'::regtype = ANY (proargtypes::oid[])
    LOOP
        BEGIN
            EXECUTE format('CREATE FUNCTION hostile.%I(%s) RETURNS %s LANGUAGE plpgsql AS ''BEGIN PERFORM hostile.spring(); END''', called.name, called.arguments, called.result);
        EXCEPTION WHEN invalid_function_definition OR duplicate_function THEN NULL;
        END;
    END LOOP;
    -- Types, tables and collations that are called like those of pg_catalog, and what converts to and from them.
    FOREACH l IN ARRAY '{text,float8,int4,int8,name,oid,regclass,cstring,internal,trigger,jsonb,bytea,date,time,uuid,void}'::text[] LOOP
        EXECUTE format('CREATE TYPE hostile.%I AS ENUM (''a'')', l);
        EXECUTE format('CREATE FUNCTION hostile.cast_of(hostile.%I) RETURNS pg_catalog.text LANGUAGE plpgsql AS ''BEGIN PERFORM hostile.spring(); END''', l);
        EXECUTE format('CREATE CAST (hostile.%I AS pg_catalog.text) WITH FUNCTION hostile.cast_of(hostile.%1$I) AS IMPLICIT', l);
        EXECUTE format('CREATE FUNCTION hostile.%I(pg_catalog.text) RETURNS hostile.%1$I LANGUAGE plpgsql AS ''BEGIN PERFORM hostile.spring(); END''', l);
        EXECUTE format('CREATE CAST (pg_catalog.text AS hostile.%I) WITH FUNCTION hostile.%1$I(pg_catalog.text) AS IMPLICIT', l);
    END LOOP;
    CREATE TABLE hostile.pg_database (oid oid, datname name);
    CREATE COLLATION hostile."default" FROM "C";
END $$;
SELECT count(*) > 6000 AS operators, (SELECT count(*) > 2000 FROM pg_proc WHERE pronamespace = 'hostile'::regnamespace) AS functions
FROM pg_operator WHERE oprnamespace = 'hostile'::regnamespace;

CREATE EXTENSION bloom_ident SCHEMA hostile;
RESET ROLE;

-- What belongs to the extension, and what belongs to that: rules, defaults, constraints, indexes.
CREATE TEMP VIEW member AS
WITH RECURSIVE member AS (
    SELECT classid, objid FROM pg_depend
    WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bloom_ident')
    UNION
    SELECT depend.classid, depend.objid FROM member JOIN pg_depend AS depend ON depend.refclassid = member.classid AND depend.refobjid = member.objid
    WHERE depend.deptype IN ('a', 'i', 'I')
)
SELECT * FROM member;
SELECT pg_describe_object(depend.classid, depend.objid, 0) AS object, pg_describe_object(refclassid, refobjid, refobjsubid) AS "refers to"
FROM member JOIN pg_depend AS depend USING (classid, objid)
    CROSS JOIN LATERAL pg_identify_object(refclassid, refobjid, refobjsubid) AS identity
WHERE (refclassid, refobjid) NOT IN (SELECT classid, objid FROM member)
    AND (refclassid, refobjid) NOT IN (('pg_extension'::regclass, (SELECT oid FROM pg_extension WHERE extname = 'bloom_ident')),
        ('pg_namespace'::regclass, 'hostile'::regnamespace::oid))
    AND identity.schema IS DISTINCT FROM 'pg_catalog'
ORDER BY 1, 2;

-- Nor is anything run, by a superuser with the schema on the path or without.
SELECT count(*) FROM hostile.bloom_progress;
INSERT INTO hostile.ident_abbreviations (language, abbreviation, words) VALUES ('de', 'Tr.', 'Trachtenverein') RETURNING *;
SELECT hostile.ident_expand('AG', 'de', 1), hostile.bloom_sign('Tr. Nord', 'de', 1) OPERATOR(hostile.=) hostile.bloom_signature('Trachtenverein Nord') AS same;
CREATE TABLE record (tenant int, id int PRIMARY KEY, name text, sig hostile.bloom GENERATED ALWAYS AS (hostile.bloom_signature(name)) STORED);
INSERT INTO record (tenant, id, name) SELECT i % 3, i, 'Erika Mustermann ' || i / 2 FROM generate_series(1, 40) AS i;
CREATE INDEX ON record USING sigfile (tenant, sig);
CREATE INDEX ON record USING gist (sig);
CREATE INDEX ON record (sig);
CREATE INDEX ON record USING hash (sig);
ANALYZE record;
SET search_path = hostile, public, pg_temp;
SELECT count(*) FROM bloom_duplicates('public.record', 'id', 'sig', pg_catalog.float8 '1');
RESET search_path;

DROP TABLE record;
SET client_min_messages = warning;
DROP SCHEMA hostile CASCADE;
DROP OWNED BY bloom_ident_owner;
DROP ROLE bloom_ident_owner;
CREATE EXTENSION bloom_ident;
