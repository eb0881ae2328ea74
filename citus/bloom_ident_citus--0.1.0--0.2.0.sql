\echo Use "ALTER EXTENSION bloom_ident_citus UPDATE" to load this file. \quit

-- What nodes have is compared by the versions of the scripts, too, and an error names what differs.
DROP FUNCTION @extschema@._bloom_citus_check_workers();
CREATE FUNCTION @extschema@._bloom_citus_check_workers() RETURNS void VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    -- The versions of both scripts, and what the library computes by, a line each. The workers have search paths of their own.
    asked text := format('SELECT pg_catalog.concat_ws(pg_catalog.chr(10), (SELECT pg_catalog.string_agg(pg_catalog.concat_ws('' '', n.n, COALESCE(e.extversion, ''missing'')), pg_catalog.chr(10) ORDER BY n.n)
        FROM pg_catalog.unnest(''{bloom_ident,bloom_ident_citus}''::pg_catalog.name[]) AS n (n) LEFT JOIN pg_catalog.pg_extension AS e ON e.extname OPERATOR(pg_catalog.=) n.n), %s.bloom_fingerprint())',
        @extschema@._bloom_citus_schema());
    own text;
    other record;
    -- What only that node says, and what only this one.
    theirs text;
    ours text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_dist_local_group WHERE groupid = 0) THEN
        RAISE EXCEPTION USING ERRCODE = '0A000', MESSAGE = 'this node is not the coordinator', DETAIL = 'Only the coordinator makes distributed tables.',
            HINT = 'Connect to the coordinator.';
    END IF;
    EXECUTE asked INTO own;
    SELECT * INTO other FROM run_command_on_workers(asked) AS w WHERE NOT w.success OR w.result IS DISTINCT FROM own LIMIT 1;
    IF FOUND AND other.result ~ '^(failed to connect|failed to get connection)' THEN
        RAISE EXCEPTION USING ERRCODE = '08006', MESSAGE = format('node %s:%s cannot be reached', other.nodename, other.nodeport), DETAIL = other.result;
    ELSIF FOUND THEN
        SELECT string_agg(line, ', ' ORDER BY line COLLATE "C") FILTER (WHERE line <> ALL (string_to_array(own, E'\n'))), string_agg(line, ', ' ORDER BY line COLLATE "C") FILTER (WHERE line = ANY (string_to_array(own, E'\n'))) INTO theirs, ours FROM (
            (SELECT unnest(string_to_array(other.result, E'\n')) EXCEPT SELECT unnest(string_to_array(own, E'\n')))
            UNION ALL (SELECT unnest(string_to_array(own, E'\n')) EXCEPT SELECT unnest(string_to_array(other.result, E'\n')))) AS l (line);
        RAISE EXCEPTION USING ERRCODE = '55000', MESSAGE = format('node %s:%s has another version of bloom_ident', other.nodename, other.nodeport),
            DETAIL = CASE WHEN other.success THEN format('It says "%s", and this node "%s".', theirs, ours) ELSE format('It says "%s".', other.result) END,
            HINT = 'Install the same version on all nodes, and call ALTER EXTENSION bloom_ident UPDATE and ALTER EXTENSION bloom_ident_citus UPDATE on the coordinator.';
    END IF;
END
$$;
COMMENT ON FUNCTION @extschema@._bloom_citus_check_workers() IS 'an error if this node is a worker, or a worker lacks bloom_ident or has another one';
