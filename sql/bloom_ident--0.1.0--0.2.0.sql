\echo Use "ALTER EXTENSION bloom_ident UPDATE" to load this file. \quit

-- What the head of bloom_ident.sql says of names holds here, too.

-- The argument "rules", the hard way, as PostgreSQL's own extensions have done it: what columns, indexes and views are made with cannot be dropped, and CREATE OR
-- REPLACE adds no argument. What is stored calls these functions with the arguments that were given, and the server puts in the defaults of the others when it
-- plans; so it goes on as before.

CREATE FUNCTION _with_rules_1(text text, filler boolean DEFAULT false, rules integer DEFAULT 1) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_normalize_wrapper';
CREATE FUNCTION _with_rules_2(
    text text, ngram integer DEFAULT 3, max_chars integer DEFAULT 30, fpr float8 DEFAULT 0.01,
    by_word boolean DEFAULT false, filler boolean DEFAULT false, rules integer DEFAULT 1) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_signature_wrapper';

-- Both sides are members of the extension: anybody who may create functions in its schema can have made others of these names. The functions are known by their
-- code, since their owner may have given them other names and schemas.
UPDATE pg_catalog.pg_proc AS p
SET pronargs = n.pronargs, pronargdefaults = n.pronargdefaults, proargtypes = n.proargtypes, proargnames = n.proargnames, proargdefaults = n.proargdefaults
FROM pg_catalog.pg_proc AS n, (VALUES
    ('ident_normalize_wrapper', 2::pg_catalog.int2, '_with_rules_1'),
    ('bloom_signature_wrapper', 6, '_with_rules_2'),
    ('counting_signature_wrapper', 6, '_with_rules_2')) AS v (code, arguments, pattern)
WHERE n.proname OPERATOR(pg_catalog.=) v.pattern::pg_catalog.name AND p.prosrc OPERATOR(pg_catalog.=) v.code
    AND p.pronargs OPERATOR(pg_catalog.=) v.arguments::pg_catalog.int2
    AND 2 OPERATOR(pg_catalog.=) (SELECT pg_catalog.count(*) FROM pg_catalog.pg_depend AS d JOIN pg_catalog.pg_extension AS e ON e.oid OPERATOR(pg_catalog.=) d.refobjid
        WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass AND (d.objid OPERATOR(pg_catalog.=) n.oid OR d.objid OPERATOR(pg_catalog.=) p.oid)
            AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass AND d.deptype OPERATOR(pg_catalog.=) 'e'
            AND e.extname OPERATOR(pg_catalog.=) 'bloom_ident'::pg_catalog.name);

DROP FUNCTION _with_rules_1(text, boolean, integer);
DROP FUNCTION _with_rules_2(text, integer, integer, float8, boolean, boolean, integer);

CREATE FUNCTION bloom_signature_of_fields(
    ngram integer, max_chars integer, fpr float8, filler boolean, rules integer, VARIADIC fields text[]) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_signature_of_fields_by_rules_wrapper';
COMMENT ON FUNCTION bloom_signature_of_fields(integer, integer, float8, boolean, integer, VARIADIC text[]) IS
    'signature of a record, of the given shape, by a rule set of normal forms';

COMMENT ON TYPE bloom IS 'Bloom-filter signature; bloom(k,p,q) fixes segments, bits of a segment and n-gram length, which is 0 for tokens; a fourth number is a rule set of normal forms other than 1';

-- Versions

CREATE FUNCTION bloom_stale_indexes() RETURNS TABLE (index regclass, reason text, statement text)
    VOLATILE STRICT PARALLEL UNSAFE ROWS 1 COST 1000000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_stale_indexes_wrapper';
COMMENT ON FUNCTION bloom_stale_indexes() IS
    'indexes in a format that this version of the library does not read, and the statements that make them anew';

CREATE FUNCTION bloom_stale_columns(rel regclass, unchanged boolean DEFAULT false)
    RETURNS TABLE ("column" name, rules integer, newest integer, rows bigint, step integer, statement text)
    STABLE PARALLEL UNSAFE ROWS 4 COST 1000000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_stale_columns_wrapper';
COMMENT ON FUNCTION bloom_stale_columns(regclass, boolean) IS
    'generated columns of a table that the newest rule set of normal forms would compute otherwise, in how many rows, and the statements to move';

-- Sessions read the expressions of indexes anew; and a warning of the indexes that have to be made anew.

CREATE FUNCTION bloom_ident_updated() RETURNS void
    VOLATILE STRICT PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_ident_updated_wrapper';
SELECT bloom_ident_updated();
DROP FUNCTION bloom_ident_updated();
