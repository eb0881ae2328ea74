\echo Use "CREATE EXTENSION bloom_ident_citus" to load this file. \quit

-- What the jobs of bloom_ident over the shards of Citus ask of tables, columns and workers, before anything is moved.

-- The schema of bloom_ident, which may be moved.
CREATE FUNCTION _bloom_citus_schema() RETURNS text STABLE LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension AS e JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
    WHERE e.extname OPERATOR(pg_catalog.=) 'bloom_ident'
$$;
COMMENT ON FUNCTION _bloom_citus_schema() IS 'the schema of bloom_ident, as SQL writes it';

CREATE FUNCTION _bloom_citus_check_table(rel regclass) RETURNS void STABLE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    info record;
BEGIN
    IF rel IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'argument "rel" must not be null';
    END IF;
    SELECT p.partmethod, p.repmodel, c.relkind, a.amname INTO info FROM pg_class AS c LEFT JOIN pg_dist_partition AS p ON p.logicalrelid = c.oid
        LEFT JOIN pg_am AS a ON a.oid = c.relam WHERE c.oid = rel;
    IF info.partmethod IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = '42809', MESSAGE = format('relation "%s" is not distributed', rel),
            HINT = 'Use the function of bloom_ident, which compares the rows of this node.';
    ELSIF info.partmethod <> 'h' THEN
        RAISE EXCEPTION USING ERRCODE = '42809', MESSAGE = format('relation "%s" is not distributed by the hash of a column', rel),
            DETAIL = 'All its rows are on one node.', HINT = 'Use the function of bloom_ident, which compares them there.';
    ELSIF info.relkind <> 'r' OR info.amname <> 'heap' THEN
        RAISE EXCEPTION USING ERRCODE = '0A000', MESSAGE = format('relation "%s" is not a plain table of heap', rel),
            HINT = 'Copy its rows into a distributed table.';
    END IF;
END
$$;
COMMENT ON FUNCTION _bloom_citus_check_table(regclass) IS 'an error if a table is not one that is distributed by hash';

-- A column as SQL writes it, with an error if there is none. A signature is of type bloom; others are of types of the server's own, or enums: casts and checks of
-- other types are code of those who have made them, and would run as whoever asks.
CREATE FUNCTION _bloom_citus_column(rel regclass, name name, is_signature boolean DEFAULT false) RETURNS text STABLE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    info record;
BEGIN
    SELECT a.attname, t.oid, t.typtype, format_type(a.atttypid, NULL) AS shown INTO info FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
        WHERE a.attrelid = rel AND a.attname = name AND a.attnum > 0 AND NOT a.attisdropped;
    IF info.attname IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = '42703', MESSAGE = format('column "%s" of relation "%s" does not exist', name, rel);
    ELSIF is_signature AND info.oid IS DISTINCT FROM to_regtype(@extschema@._bloom_citus_schema() || '.bloom')::oid THEN
        RAISE EXCEPTION USING ERRCODE = '42804', MESSAGE = format('column "%s" of relation "%s" is of type %s, not bloom', name, rel, info.shown);
    ELSIF NOT is_signature AND info.oid >= 16384 AND info.typtype <> 'e' THEN
        RAISE EXCEPTION USING ERRCODE = '0A000', MESSAGE = format('column "%s" of relation "%s" is of type %s', name, rel, info.shown),
            DETAIL = 'Keys and columns to compare within are of types of PostgreSQL itself, or enums, so that nobody''s casts run as somebody else.',
            HINT = 'Take a column of such a type.';
    END IF;
    RETURN quote_ident(name);
END
$$;
COMMENT ON FUNCTION _bloom_citus_column(regclass, name, boolean) IS 'a column as SQL writes it; an error if there is none, or of a type that cannot be';

-- Workers that lack the library, or have another one: they would give other answers.
CREATE FUNCTION _bloom_citus_check_workers() RETURNS void VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    schema text := @extschema@._bloom_citus_schema();
    own text;
    other record;
BEGIN
    EXECUTE format('SELECT %s.bloom_fingerprint()', schema) INTO own;
    SELECT * INTO other FROM run_command_on_workers(format('SELECT %s.bloom_fingerprint()', schema)) AS w WHERE NOT w.success OR w.result IS DISTINCT FROM own LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = '55000', MESSAGE = format('bloom_ident of node %s:%s is another one', other.nodename, other.nodeport),
            DETAIL = format('It says "%s", and this node "%s".', other.result, own), HINT = 'Install the same version on all nodes.';
    END IF;
END
$$;
COMMENT ON FUNCTION _bloom_citus_check_workers() IS 'an error if a worker lacks bloom_ident, or has another one';
