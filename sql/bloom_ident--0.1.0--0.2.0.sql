\echo Use "ALTER EXTENSION bloom_ident UPDATE" to load this file. \quit

-- What the head of bloom_ident.sql says of names holds here, too.

-- Versions

CREATE FUNCTION bloom_stale_indexes() RETURNS TABLE (index regclass, reason text, statement text)
    VOLATILE STRICT PARALLEL UNSAFE ROWS 1 COST 1000000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_stale_indexes_wrapper';
COMMENT ON FUNCTION bloom_stale_indexes() IS
    'indexes in a format that this version of the library does not read, and the statements that make them anew';

-- Warns of the indexes that have to be made anew.

CREATE FUNCTION bloom_stale_warning() RETURNS void
    VOLATILE STRICT PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_stale_warning_wrapper';
SELECT bloom_stale_warning();
DROP FUNCTION bloom_stale_warning();
