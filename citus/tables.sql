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

-- A node that cannot begin a job, and workers that lack an extension, or have another one: they would give other answers.
CREATE FUNCTION _bloom_citus_check_workers() RETURNS void VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asked text := format('SELECT %s.bloom_fingerprint() || '', bloom_ident_citus '' || COALESCE((SELECT extversion FROM pg_extension WHERE extname = ''bloom_ident_citus''), ''missing'')',
        @extschema@._bloom_citus_schema());
    own text;
    other record;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_dist_local_group WHERE groupid = 0) THEN
        RAISE EXCEPTION USING ERRCODE = '0A000', MESSAGE = 'this node is not the coordinator', DETAIL = 'Only the coordinator makes distributed tables.',
            HINT = 'Connect to the coordinator.';
    END IF;
    EXECUTE asked INTO own;
    SELECT * INTO other FROM run_command_on_workers(asked) AS w WHERE NOT w.success OR w.result IS DISTINCT FROM own LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = '55000', MESSAGE = format('bloom_ident of node %s:%s is another one', other.nodename, other.nodeport),
            DETAIL = format('It says "%s", and this node "%s".', other.result, own), HINT = 'Install the same version on all nodes.';
    END IF;
END
$$;
COMMENT ON FUNCTION _bloom_citus_check_workers() IS 'an error if this node is a worker, or a worker lacks bloom_ident or has another one';

-- Somebody may have changed a shard by its own name.
CREATE FUNCTION _bloom_citus_check_shards(rel regclass, columns name[]) RETURNS void VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    other record;
BEGIN
    -- The name of the shard is put in where %s is.
    SELECT r.*, n.nodename, n.nodeport INTO other FROM run_command_on_shards(rel, (SELECT 'SELECT count(*) FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid WHERE a.attrelid = ''%s''::regclass AND a.attnum > 0 AND (a.attname, t.typname) IN ('
            || string_agg(replace(format('(%L, %L)', a.attname, t.typname), '%', '%%'), ', ') || ')'
            FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid WHERE a.attrelid = rel AND a.attname = ANY (columns))) AS r
        JOIN pg_dist_placement AS p USING (shardid) JOIN pg_dist_node AS n USING (groupid)
        WHERE NOT r.success OR r.result <> (SELECT count(DISTINCT c) FROM unnest(columns) AS c)::text LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = '42703', MESSAGE = format('shard %s of relation "%s" has other columns', other.shardid, rel),
            DETAIL = format('It is on node %s:%s, and says "%s" to the columns %s.', other.nodename, other.nodeport, other.result, array_to_string(columns, ', ')),
            HINT = 'Change columns of the distributed table, and not of its shards.';
    END IF;
END
$$;
COMMENT ON FUNCTION _bloom_citus_check_shards(regclass, name[]) IS 'an error if a shard has not the columns of its table';

-- What a job writes is spread evenly, and stays until its end.
CREATE FUNCTION _bloom_citus_check_disk(needed bigint) RETURNS void VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    other record;
BEGIN
    SELECT w.*, needed / count(*) OVER () AS part INTO other FROM run_command_on_workers('SELECT available_disk_size FROM citus_local_disk_space_stats()') AS w
        ORDER BY CASE WHEN w.success THEN w.result::bigint END NULLS LAST LIMIT 1;
    IF other.success AND other.result::bigint < other.part THEN
        RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = format('node %s:%s has too little space on its disk for the grid', other.nodename, other.nodeport),
            DETAIL = format('About %s are needed there, and %s are free.', pg_size_pretty(other.part), pg_size_pretty(other.result::bigint)),
            HINT = 'Free space, or take fewer buckets.';
    END IF;
END
$$;
COMMENT ON FUNCTION _bloom_citus_check_disk(bigint) IS 'an error if a worker has not the space for its part of so many bytes';

-- The name of a table that a job makes, as SQL writes it.
CREATE FUNCTION _bloom_citus_result(schema text, name name) RETURNS text STABLE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    result text := format('%s.%I', schema, name);
BEGIN
    IF name IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'argument "pairs" must not be null';
    ELSIF to_regclass(result) IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = '42P07', MESSAGE = format('relation "%s" already exists', name), HINT = 'Give the pairs another name, or drop it.';
    END IF;
    RETURN result;
END
$$;
COMMENT ON FUNCTION _bloom_citus_result(text, name) IS 'the name of a table of pairs; an error if it is there';
