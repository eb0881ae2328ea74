\echo Use "CREATE EXTENSION bloom_ident_citus" to load this file. \quit

-- What the jobs of bloom_ident over the shards of Citus ask of tables, columns and workers, before anything is moved.

-- The schema of bloom_ident, which may be moved.
CREATE FUNCTION _bloom_citus_schema() RETURNS text STABLE LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension AS e JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
    WHERE e.extname OPERATOR(pg_catalog.=) 'bloom_ident'
$$;
COMMENT ON FUNCTION _bloom_citus_schema() IS 'the schema of bloom_ident, as SQL writes it';

CREATE FUNCTION _bloom_citus_check_table(rel regclass, is_guarded boolean DEFAULT false) RETURNS void STABLE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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
            HINT = format('Use %s for tables of one node.', CASE WHEN is_guarded THEN 'bloom_guard_create(), which is'
                ELSE 'bloom_duplicates(), bloom_linkage(), bloom_model_fit(), bloom_model_duplicates(), bloom_pairs_refresh() or bloom_guard_create(), which are' END);
    ELSIF info.partmethod <> 'h' THEN
        RAISE EXCEPTION USING ERRCODE = '42809', MESSAGE = format('relation "%s" is not distributed by the hash of a column', rel),
            DETAIL = 'All its rows are on one node.', HINT = CASE WHEN is_guarded THEN 'Use an exclusion constraint, by ALTER TABLE … ADD CONSTRAINT … EXCLUDE USING sigfile ((bloom_query(…)) WITH %).'
                ELSE 'Use the function of bloom_ident, which compares them there.' END;
    ELSIF info.relkind <> 'r' OR info.amname <> 'heap' THEN
        RAISE EXCEPTION USING ERRCODE = '0A000', MESSAGE = format('relation "%s" is not a plain table of heap', rel),
            HINT = 'Copy its rows into a distributed table.';
    END IF;
END
$$;
COMMENT ON FUNCTION _bloom_citus_check_table(regclass, boolean) IS 'an error if a table is not one that is distributed by hash';

-- A column as SQL writes it, with an error if there is none. A signature is of type bloom; others are of types of the server's own, or enums: casts and checks of
-- other types are code of those who have made them, and would run as whoever asks.
CREATE FUNCTION _bloom_citus_column(rel regclass, name name, is_signature boolean DEFAULT false) RETURNS text STABLE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    info record;
BEGIN
    IF name IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'the name of a column must not be null';
    END IF;
    SELECT a.attname, t.oid, t.typtype, format_type(a.atttypid, NULL) AS shown INTO info FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
        WHERE a.attrelid = rel AND a.attname = name AND a.attnum > 0 AND NOT a.attisdropped;
    IF info.attname IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = '42703', MESSAGE = format('column "%s" of relation "%s" does not exist', name, rel);
    ELSIF is_signature AND info.oid IS DISTINCT FROM to_regtype(@extschema@._bloom_citus_schema() || '.bloom')::oid THEN
        RAISE EXCEPTION USING ERRCODE = '42804', MESSAGE = format('column "%s" of relation "%s" is of type %s, not bloom', name, rel, info.shown);
    ELSIF NOT is_signature AND info.oid >= 16384 AND info.typtype <> 'e' THEN
        RAISE EXCEPTION USING ERRCODE = '0A000', MESSAGE = format('column "%s" of relation "%s" is of type %s', name, rel, info.shown),
            DETAIL = 'Keys are of types of PostgreSQL itself, and columns to compare of those or enums, so that nobody''s casts run as somebody else.',
            HINT = 'Take a column of such a type.';
    END IF;
    RETURN quote_ident(name);
END
$$;
COMMENT ON FUNCTION _bloom_citus_column(regclass, name, boolean) IS 'a column as SQL writes it; an error if there is none, or of a type that cannot be';

-- A node that cannot begin a job, and workers that lack an extension, or have another one: they would give other answers.
CREATE FUNCTION _bloom_citus_check_workers() RETURNS void VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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

-- A dot in the name of a table that is made is one between a schema and a name, to whoever has written it.
CREATE FUNCTION _bloom_citus_check_name(argument text, name name, schema text) RETURNS void STABLE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF strpos(name, '.') > 0 THEN
        RAISE EXCEPTION USING ERRCODE = '42602', MESSAGE = format('argument "%s" has a dot in it: "%s"', argument, name),
            DETAIL = format('The table is made in schema %s, where the table that it is about is.', schema), HINT = 'Give a name without schema and without dots.';
    END IF;
END
$$;
COMMENT ON FUNCTION _bloom_citus_check_name(text, name, text) IS 'an error if the name of a table to be made has a dot';

-- The name of a table that a job makes, as SQL writes it.
CREATE FUNCTION _bloom_citus_result(rel regclass, name name) RETURNS text STABLE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    schema text := (SELECT n.nspname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = rel);
    result text := format('%I.%I', schema, name);
BEGIN
    IF name IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'argument "pairs" must not be null';
    END IF;
    PERFORM @extschema@._bloom_citus_check_name('pairs', name, schema);
    IF to_regclass(result) IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = '42P07', MESSAGE = format('relation "%s" already exists', name), HINT = 'Give the pairs another name, or drop it.';
    END IF;
    RETURN result;
END
$$;
COMMENT ON FUNCTION _bloom_citus_result(regclass, name) IS 'the name of a table of pairs; an error if it is there';

-- The order of a key, by which the lesser one of two comes first, as a cast of its text, and for a row "r" its hash, which equal keys have in common, and what is equal of them. An error if it is of an enum:
-- whoever owns that may have made casts between it and text, and they would run as whoever asks.
CREATE FUNCTION _bloom_citus_key(rel regclass, key name, OUT cast_of_key text, OUT hash_of_key text, OUT compared_key text) STABLE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    key_type record;
BEGIN
    SELECT t.oid, format_type(t.oid, a.atttypmod) AS shown, t.typtype IN ('r', 'm') OR t.typname = 'varchar' OR t.typcategory = 'A' OR EXISTS (
            SELECT FROM pg_opclass AS o JOIN pg_am AS m ON m.oid = o.opcmethod WHERE m.amname = 'btree' AND o.opcdefault AND o.opcintype = t.oid) AS has_order,
            CASE WHEN t.typtype = 'r' THEN 'hash_range' WHEN t.typtype = 'm' THEN 'hash_multirange'
                WHEN t.typcategory = 'A' AND EXISTS (SELECT FROM pg_opclass AS o JOIN pg_am AS m ON m.oid = o.opcmethod WHERE m.amname = 'hash' AND o.opcdefault AND o.opcintype = t.typelem) THEN 'hash_array' END AS hash,
            (SELECT format(' COLLATE %I.%I', n.nspname, c.collname) FROM pg_collation AS c JOIN pg_namespace AS n ON n.oid = c.collnamespace WHERE c.oid = a.attcollation) AS collation
        INTO key_type FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid WHERE a.attrelid = rel AND a.attname = key;
    IF key_type.oid >= 16384 THEN
        RAISE EXCEPTION USING ERRCODE = '0A000', MESSAGE = format('key "%s" of relation "%s" is of type %s', key, rel, key_type.shown),
            DETAIL = 'A key becomes a text and comes back from it, by casts that the owner of the type could have made.', HINT = 'Take a key of a type of PostgreSQL itself.';
    END IF;
    cast_of_key := CASE WHEN key_type.has_order THEN format('::%s%s', key_type.shown, key_type.collation) ELSE '::text COLLATE "C"' END;
    SELECT format('pg_catalog.%I(r.%I)', f.proname, key) INTO hash_of_key FROM pg_opclass AS o JOIN pg_am AS m ON m.oid = o.opcmethod
        JOIN pg_amproc AS p ON p.amprocfamily = o.opcfamily AND p.amproclefttype = o.opcintype AND p.amprocrighttype = o.opcintype AND p.amprocnum = 1
        JOIN pg_proc AS f ON f.oid = p.amproc WHERE m.amname = 'hash' AND o.opcdefault AND o.opcintype = key_type.oid AND f.proargtypes[0] = key_type.oid;
    -- Values that are equal may have other texts.
    hash_of_key := COALESCE(hash_of_key, CASE WHEN key_type.hash IS NOT NULL THEN format('pg_catalog.%I(r.%I)', key_type.hash, key) END);
    compared_key := CASE WHEN key_type.has_order THEN format('r.%I', key) ELSE format('CASE WHEN r.%1$I IS NOT NULL THEN pg_catalog.format(''%%s'', r.%1$I) END', key) END;
    hash_of_key := COALESCE(hash_of_key, format('pg_catalog.hashtext(r.%I::text)', key));
END
$$;
COMMENT ON FUNCTION _bloom_citus_key(regclass, name) IS 'the order and the hash of a key, as SQL';

-- What a table of decisions is, the job of one node says of a table without rows.
CREATE FUNCTION _bloom_citus_check_decisions(decisions regclass) RETURNS void VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own text := @extschema@._bloom_citus_schema();
    empty text := '_bloom_citus_' || left(md5(random()::text || clock_timestamp()), 12);
BEGIN
    IF decisions IS NOT NULL THEN
        EXECUTE format('CREATE TEMP TABLE %I (key text, signature %s.bloom) ON COMMIT DROP', empty, own);
        EXECUTE format('SELECT FROM %s.bloom_duplicates($1, ''key'', ''signature'', 1, decisions => $2)', own) USING ('pg_temp.' || empty)::regclass, decisions;
        EXECUTE format('DROP TABLE pg_temp.%I', empty);
    END IF;
END
$$;
COMMENT ON FUNCTION _bloom_citus_check_decisions(regclass) IS 'an error if a table of decisions is none';

-- A value of the distribution column, an integer, for each shard of a table, in the order of the shards' ranges.
CREATE FUNCTION _bloom_citus_values(rel regclass) RETURNS integer[] VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    cells integer := (SELECT count(*) FROM pg_dist_shard WHERE logicalrelid = rel);
    keys integer[];
BEGIN
    SELECT array_agg(k.key ORDER BY s.shardminvalue::integer) INTO keys FROM pg_dist_shard AS s JOIN (
        SELECT get_shard_id_for_distribution_column(rel, n) AS shardid, min(n) AS key FROM generate_series(0, 100 * cells) AS n GROUP BY 1) AS k USING (shardid);
    IF cardinality(keys) IS DISTINCT FROM cells THEN
        RAISE EXCEPTION USING ERRCODE = 'XX000', MESSAGE = format('%s of %s cells have no value', cells - COALESCE(cardinality(keys), 0), cells);
    END IF;
    RETURN keys;
END
$$;
COMMENT ON FUNCTION _bloom_citus_values(regclass) IS 'a value of the distribution column for each shard';

-- The shards of a table by their own names, in the order of their ranges.
CREATE FUNCTION _bloom_citus_shards(rel regclass) RETURNS text[] STABLE LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT array_agg(format('%I.%I', n.nspname, c.relname || '_' || s.shardid) ORDER BY s.shardminvalue::integer)
    FROM pg_dist_shard AS s JOIN pg_class AS c ON c.oid = s.logicalrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE s.logicalrelid = rel
$$;
COMMENT ON FUNCTION _bloom_citus_shards(regclass) IS 'the shards of a table by their own names';

-- A table of pairs, distributed by their first key. It is made before anything else, and, if its name is a long one, not by several connections: Citus shortens the names of its
-- shards, locks what it has shortened, and would wait for itself. The setting lasts as long as the transaction, since Citus does not go back to several connections.
CREATE FUNCTION _bloom_citus_create_pairs(pairs text, columns text) RETURNS void VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('CREATE TABLE %s (a text NOT NULL, b text NOT NULL, %s)', pairs, columns);
    IF (SELECT octet_length(relname) FROM pg_class WHERE oid = pairs::regclass) > 40 THEN
        PERFORM set_config('citus.multi_shard_modify_mode', 'sequential', true);
    END IF;
    PERFORM create_distributed_table(pairs::regclass, 'a', colocate_with => 'none');
END
$$;
COMMENT ON FUNCTION _bloom_citus_create_pairs(text, text) IS 'makes a distributed table of pairs';

-- What the texts of keys depend on, as the session has it, which workers do not know, and the same for the rest of a function that has a SET of each of them.
CREATE FUNCTION _bloom_citus_settings() RETURNS jsonb STABLE LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT jsonb_object_agg(s, current_setting(s)) FROM unnest('{DateStyle,IntervalStyle,TimeZone,bytea_output,extra_float_digits}'::text[]) AS s
$$;
COMMENT ON FUNCTION _bloom_citus_settings() IS 'what the texts of keys depend on';

CREATE FUNCTION _bloom_citus_set(settings jsonb) RETURNS void VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM set_config(s.key, s.value, true) FROM jsonb_each_text(settings) AS s WHERE s.key IN ('DateStyle', 'IntervalStyle', 'TimeZone', 'bytea_output', 'extra_float_digits');
END
$$;
COMMENT ON FUNCTION _bloom_citus_set(jsonb) IS 'sets what the texts of keys depend on';
