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
    IF FOUND AND other.result ~ '^(failed to connect|failed to get connection)' THEN
        RAISE EXCEPTION USING ERRCODE = '08006', MESSAGE = format('node %s:%s cannot be reached', other.nodename, other.nodeport), DETAIL = other.result;
    ELSIF FOUND THEN
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
-- All pairs of signatures over all shards of a distributed table. Two rows may be in different shards, so rows are spread once more: over the cells of a grid.
-- Each row is in one of B buckets, by the hash of its key, and each two buckets have a cell in common, which is one shard. In B of the cells one of the buckets is
-- compared with itself, too. Cells are compared by the jobs of bloom_ident, each on the node that has it.

-- The pairs of a cell, on the node that has it: of a row of each of two tables, which are shards, by their own names, and of two rows of one of them, if that is
-- asked for. It has the rights of whoever asks, who can read no more by it than without it. Keys become text in the way of the session that asks, whose settings
-- workers do not know. Errors name the tables of the job, and not those of the cell.
CREATE FUNCTION _bloom_citus_cell(rel_a text, rel_b text, of_a boolean, of_b boolean, checks boolean, job jsonb, OUT a text, OUT b text, OUT similarity float8)
    RETURNS SETOF record STABLE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    SET DateStyle = 'ISO' SET IntervalStyle = 'postgres' SET TimeZone = 'UTC' SET bytea_output = 'hex' SET extra_float_digits = 1 SET bloom_ident.check_keys = on AS $$
DECLARE
    schema text := @extschema@._bloom_citus_schema();
    threshold float8 := job ->> 'threshold';
    within name[] := CASE WHEN jsonb_typeof(job -> 'within') = 'array' THEN ARRAY(SELECT jsonb_array_elements_text(job -> 'within')) END;
    verify name := job ->> 'verify';
    margin float8 := job ->> 'margin';
    own text := format('SELECT d.a, d.b, d.similarity FROM %s.bloom_duplicates($1::regclass, $2, $3, $4, within => $5, verify => $6, margin => $7) AS d', schema);
    -- Of one table, the lesser key comes first.
    shown text := CASE WHEN job ->> 'order' IS NULL THEN 'd.a, d.b'
        ELSE replace('CASE WHEN d.a@ <= d.b@ THEN d.a ELSE d.b END, CASE WHEN d.a@ <= d.b@ THEN d.b ELSE d.a END', '@', job ->> 'order') END;
    code text;
    message text;
    detail text;
    hint text;
    texts text[];
BEGIN
    PERFORM @extschema@._bloom_citus_set(job -> 'settings');
    IF (job ->> 'is_alone')::boolean THEN
        -- Other cells have the other cores. It holds for the rest of the transaction on this worker.
        PERFORM set_config('max_parallel_workers_per_gather', '0', true);
    END IF;
    IF of_a THEN
        RETURN QUERY EXECUTE own USING rel_a, (job ->> 'a_key')::name, (job ->> 'a_sig')::name, threshold, within, verify, margin;
    END IF;
    IF of_b THEN
        RETURN QUERY EXECUTE own USING rel_b, (job ->> 'b_key')::name, (job ->> 'b_sig')::name, threshold, within, verify, margin;
    END IF;
    IF rel_b IS NOT NULL THEN
        -- Each bucket's keys are checked in one cell or some, and not in all.
        PERFORM set_config('bloom_ident.check_keys', checks::text, true);
        RETURN QUERY EXECUTE format('SELECT %s, d.similarity FROM %s.bloom_linkage($1::regclass, $2, $3, $4::regclass, $5, $6, $7, within => $8, verify => $9, margin => $10) AS d',
                shown, schema)
            USING rel_a, (job ->> 'a_key')::name, (job ->> 'a_sig')::name, rel_b, (job ->> 'b_key')::name, (job ->> 'b_sig')::name, threshold, within, verify, margin;
    END IF;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    texts := ARRAY[message, detail, hint];
    FOR i IN 1..3 LOOP
        texts[i] := replace(replace(texts[i], COALESCE((parse_ident(rel_a, false))[2], ''), COALESCE(job ->> 'a_rel', '')), COALESCE((parse_ident(rel_b, false))[2], ''), COALESCE(job ->> 'b_rel', ''));
    END LOOP;
    IF texts = ARRAY[message, detail, hint] THEN
        RAISE;
    END IF;
    RAISE EXCEPTION USING ERRCODE = code, MESSAGE = texts[1], DETAIL = COALESCE(NULLIF(texts[2], ''), 'A cell of the grid has found that.'),
        HINT = COALESCE(NULLIF(texts[3], ''), 'Call the function of bloom_ident with a copy of these rows to see more.');
END
$$;
COMMENT ON FUNCTION _bloom_citus_cell(text, text, boolean, boolean, boolean, jsonb) IS 'the pairs of one cell of a grid, on the node that has it';

-- The cells of a grid of one table or of two: which buckets meet, and which of them are compared with themselves there. These cells have more work, and come
-- first, so that they go round the nodes.
CREATE FUNCTION _bloom_citus_cells(buckets integer, is_of_one boolean, OUT n integer, OUT i integer, OUT j integer, OUT of_a boolean, OUT of_b boolean)
    RETURNS SETOF record IMMUTABLE LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT row_number() OVER (ORDER BY NOT c.of_a, c.i, c.j), c.* FROM (
        SELECT i, (i + 1) % buckets, true, buckets = 2 FROM generate_series(0, buckets - 1) AS i WHERE is_of_one AND buckets > 1 AND (buckets > 2 OR i = 0)
        UNION ALL SELECT i, j, false, false FROM generate_series(0, buckets - 1) AS i, generate_series(0, buckets - 1) AS j
            WHERE CASE WHEN is_of_one THEN j > i + 1 AND (j + 1) % buckets <> i ELSE true END
        UNION ALL SELECT 0, NULL, true, false WHERE is_of_one AND buckets = 1) AS c (i, j, of_a, of_b)
$$;
COMMENT ON FUNCTION _bloom_citus_cells(integer, boolean) IS 'the cells of a grid: which buckets meet';

-- Each further bucket has every row moved once more, and compared in smaller cells, at more cost a row: so the least number with which the work is even, where no
-- core has 15 % more than the mean, or there are three cells for each. Where buckets are small, which is when moving a row costs what comparing it does, a cell for
-- each core is enough.
CREATE FUNCTION _bloom_citus_buckets(is_of_one boolean, n_rows bigint) RETURNS integer VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    most integer := current_setting('citus.max_adaptive_executor_pool_size');
    cores integer;
    cells integer;
    busiest float8;
BEGIN
    -- Of how many cores a worker has, it says so much.
    SELECT COALESCE(sum(least(most, greatest(w.result::integer, 1))), 1) INTO cores
        FROM run_command_on_workers('SELECT setting FROM pg_settings WHERE name = ''max_parallel_workers''') AS w WHERE w.success;
    FOR buckets IN 1..63 LOOP
        -- To compare two buckets is twice the work of one with itself. The first core has the most.
        SELECT count(*), sum(CASE WHEN c.j IS NULL THEN 1 ELSE 2 + c.of_a::integer + c.of_b::integer END) FILTER (WHERE c.n % cores = 1 % cores) INTO cells, busiest
            FROM @extschema@._bloom_citus_cells(buckets, is_of_one) AS c;
        CONTINUE WHEN cells < cores;
        IF cells >= 3 * cores OR n_rows / (buckets + 1) < 100000 OR busiest <= 1.15 * buckets * buckets * (CASE WHEN is_of_one THEN 1 ELSE 2 END) / cores THEN
            RETURN buckets;
        END IF;
    END LOOP;
    RETURN 64;
END
$$;
COMMENT ON FUNCTION _bloom_citus_buckets(boolean, bigint) IS 'buckets of a grid, for the cores of all workers';

-- A side of a job, checked before anything is moved: its columns as SQL writes them, and how its rows are told apart.
CREATE FUNCTION _bloom_citus_side(rel regclass, key name, signature name, others name[], OUT schema text, OUT columns text, OUT cast_of_key text, OUT hash_of_key text,
        OUT n_rows bigint, OUT bytes float8) STABLE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    names name[];
    part text := '';
BEGIN
    PERFORM @extschema@._bloom_citus_check_table(rel);
    PERFORM @extschema@._bloom_citus_column(rel, key);
    IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = rel AND attname = signature AND NOT attisdropped
            AND atttypid = to_regtype(@extschema@._bloom_citus_schema() || '.minhash_bits')::oid) THEN
        PERFORM @extschema@._bloom_citus_column(rel, signature, true);
    END IF;
    PERFORM @extschema@._bloom_citus_column(rel, c) FROM unnest(others) AS c WHERE c IS NOT NULL;
    names := ARRAY[key, signature] || ARRAY(SELECT DISTINCT c FROM unnest(others) AS c WHERE c IS NOT NULL AND c NOT IN (key, signature));
    SELECT string_agg('r.' || quote_ident(c), ', ' ORDER BY n) INTO columns FROM unnest(names) WITH ORDINALITY AS u (c, n);
    PERFORM @extschema@._bloom_citus_check_shards(rel, names);
    SELECT quote_ident(n.nspname) INTO schema FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = rel;
    SELECT k.cast_of_key, k.hash_of_key INTO cast_of_key, hash_of_key FROM @extschema@._bloom_citus_key(rel, key) AS k;
    -- About how many rows there are: of a large table from one page in a hundred. Whoever may not read them is refused here.
    BEGIN
        IF citus_relation_size(rel) > 256 << 20 THEN
            part := ' TABLESAMPLE SYSTEM (1)';
        END IF;
    EXCEPTION WHEN active_sql_transaction THEN
        -- Citus does not say so in a transaction that has written to the table.
        NULL;
    END;
    EXECUTE format('SELECT count(*) * %1$s, COALESCE(avg(%2$s), 0) * count(*) * %1$s FROM %3$s AS r%4$s', CASE part WHEN '' THEN 1 ELSE 100 END,
        (SELECT string_agg(format('COALESCE(pg_column_size(r.%I), 0)', c), ' + ') FROM unnest(names) AS c), rel, part) INTO n_rows, bytes;
END
$$;
COMMENT ON FUNCTION _bloom_citus_side(regclass, name, name, name[]) IS 'the columns of a table that a job reads; an error if there is none';

CREATE FUNCTION _bloom_citus_check_arguments(threshold float8, buckets integer) RETURNS void VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF threshold IS NULL OR NOT threshold > 0 OR threshold > 1 THEN
        RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('threshold = %s is out of range', COALESCE(threshold::text, 'NULL')), DETAIL = 'It is above 0 and at most 1.';
    ELSIF buckets NOT BETWEEN 1 AND 64 THEN
        RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('buckets = %s is out of range', buckets), DETAIL = 'It is from 1 to 64; NULL stands for as many as serve the workers.';
    END IF;
    PERFORM @extschema@._bloom_citus_check_workers();
END
$$;
COMMENT ON FUNCTION _bloom_citus_check_arguments(float8, integer) IS 'an error if a threshold or a number of buckets cannot be, or a worker cannot take part';

-- Makes a grid, fills it, and has its cells compared: of one table (b_rel is NULL) each two of its buckets, of two tables each bucket of one with each of the other.
-- The job is what cells are told; the sides are what _bloom_citus_side says of the tables.
CREATE FUNCTION _bloom_citus_run(job jsonb, pairs text, given integer, a_rel regclass, a record, b_rel regclass, b record) RETURNS bigint
    VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    is_of_one boolean := b_rel IS NULL;
    n_rows bigint := a.n_rows + CASE WHEN b_rel IS NULL THEN 0 ELSE b.n_rows END;
    bytes float8 := a.bytes + CASE WHEN b_rel IS NULL THEN 0 ELSE b.bytes END;
    enough integer := @extschema@._bloom_citus_buckets(b_rel IS NULL, n_rows);
    buckets integer := COALESCE(given, enough);
    -- Rows of most groups are compared without an index.
    has_indexes boolean := jsonb_typeof(job -> 'within') = 'null';
    grid text := '_bloom_citus_' || left(md5(random()::text || clock_timestamp()), 12);
    cell text := format('%s.%I', a.schema, grid || '_cell');
    sides text[] := ARRAY[format('%s.%I', a.schema, grid || '_a'), format('%s.%I', a.schema, grid || '_b')];
    -- No column of the tables is called so.
    place text := 'cell';
    cells integer;
    keys integer[];
    of_bucket text;
    only_cell text;
    has_one boolean;
    bucket text;
    n_pairs bigint;
BEGIN
    SELECT count(*) INTO cells FROM @extschema@._bloom_citus_cells(buckets, is_of_one);
    -- With fewer cells than cores the jobs of cells may take parallel workers.
    job := job || jsonb_build_object('is_alone', buckets >= enough);
    -- A row goes to so many cells: as bytes to a file of its node and to one of the cell's, to the table there, and to its index.
    PERFORM @extschema@._bloom_citus_check_disk((CASE WHEN NOT is_of_one THEN buckets WHEN buckets < 3 THEN 1 ELSE buckets - 1 END * (4 * bytes + 90 * n_rows))::bigint);
    WHILE EXISTS (SELECT FROM pg_attribute WHERE attrelid IN (a_rel, b_rel) AND attname = place) LOOP
        place := '_' || place;
    END LOOP;
    EXECUTE format('CREATE UNLOGGED TABLE %s (cell integer, rel_a text, rel_b text, of_a boolean, of_b boolean, checks boolean)', cell);
    EXECUTE format('CREATE UNLOGGED TABLE %s AS SELECT 0 AS %I, %s FROM %s AS r WITH NO DATA', sides[1], place, a.columns, a_rel);
    EXECUTE format('CREATE UNLOGGED TABLE %s AS SELECT 0 AS %I, %s FROM %s AS r WITH NO DATA', sides[2], place, b.columns, COALESCE(b_rel, a_rel));
    PERFORM create_distributed_table(cell::regclass, 'cell', shard_count => cells, colocate_with => 'none');
    PERFORM create_distributed_table(t::regclass, place, colocate_with => cell) FROM unnest(sides) AS t;
    keys := @extschema@._bloom_citus_values(cell::regclass);
    EXECUTE format('INSERT INTO %s SELECT * FROM unnest($1::integer[], $2::text[], $3::text[], $4::boolean[], $5::boolean[], $6::boolean[])', cell) USING keys,
        @extschema@._bloom_citus_shards(sides[1]::regclass), (SELECT array_agg(CASE WHEN c.j IS NOT NULL THEN s.name END ORDER BY s.n)
            FROM unnest(@extschema@._bloom_citus_shards(sides[2]::regclass)) WITH ORDINALITY AS s (name, n) JOIN @extschema@._bloom_citus_cells(buckets, is_of_one) AS c USING (n)),
        (SELECT array_agg(c.of_a ORDER BY c.n) FROM @extschema@._bloom_citus_cells(buckets, is_of_one) AS c),
        (SELECT array_agg(c.of_b ORDER BY c.n) FROM @extschema@._bloom_citus_cells(buckets, is_of_one) AS c),
        (SELECT array_agg(NOT is_of_one AND 0 IN (c.i, c.j) ORDER BY c.n) FROM @extschema@._bloom_citus_cells(buckets, is_of_one) AS c);
    FOR side IN 1..2 LOOP
        SELECT string_agg(format(' WHEN %s THEN %L::integer[]', u.bucket, u.cells_of), '' ORDER BY u.bucket), string_agg(format(' WHEN %s THEN %s', u.bucket, u.cells_of[1]), '' ORDER BY u.bucket),
                count(*) = buckets AND max(cardinality(u.cells_of)) = 1 INTO of_bucket, only_cell, has_one FROM (
            SELECT CASE side WHEN 1 THEN c.i ELSE c.j END AS bucket, array_agg(keys[c.n] ORDER BY c.n) AS cells_of
            FROM @extschema@._bloom_citus_cells(buckets, is_of_one) AS c GROUP BY 1) AS u WHERE u.bucket IS NOT NULL;
        CONTINUE WHEN of_bucket IS NULL;
        bucket := format('COALESCE((%s & 2147483647) %% %s, 0)', CASE side WHEN 1 THEN a.hash_of_key ELSE b.hash_of_key END, buckets);
        EXECUTE format('INSERT INTO %s SELECT %s, %s FROM %s AS r%s WHERE r.%I IS NOT NULL', sides[side], CASE WHEN has_one THEN format('CASE %s%s END', bucket, only_cell) ELSE format('u.%I', place) END,
            CASE side WHEN 1 THEN a.columns ELSE b.columns END, CASE side WHEN 1 THEN a_rel ELSE COALESCE(b_rel, a_rel) END,
            CASE WHEN NOT has_one THEN format(', LATERAL pg_catalog.unnest(CASE %s%s END) AS u (%I)', bucket, of_bucket, place) END, job ->> CASE side WHEN 1 THEN 'a_sig' ELSE 'b_sig' END);
    END LOOP;
    RAISE DEBUG 'bloom_ident_citus: the cells are filled';
    IF has_indexes THEN
        EXECUTE format('CREATE INDEX ON %s USING sigfile (%I)', sides[1], job ->> 'a_sig');
        EXECUTE format('CREATE INDEX ON %s USING sigfile (%I)', sides[2], job ->> 'b_sig');
    END IF;
    RAISE DEBUG 'bloom_ident_citus: the cells have their indexes';
    EXECUTE format('INSERT INTO %s SELECT d.* FROM %s AS c, LATERAL @extschema@._bloom_citus_cell(c.rel_a, c.rel_b, c.of_a, c.of_b, c.checks, %L) AS d', pairs, cell, job);
    GET DIAGNOSTICS n_pairs = ROW_COUNT;
    RAISE DEBUG 'bloom_ident_citus: the cells are compared';
    EXECUTE format('DROP TABLE %s, %s, %s', cell, sides[1], sides[2]);
    RETURN n_pairs;
END
$$;
COMMENT ON FUNCTION _bloom_citus_run(jsonb, text, integer, regclass, record, regclass, record) IS 'the job of a grid of cells';

-- Takes away the pairs that are judged different or unsure, as the jobs of bloom_ident do: these say, of the records that anything is decided about, which of
-- their pairs stay. They read the records from the table itself, since a decision may depend on columns that the grid does not have.
CREATE FUNCTION _bloom_citus_judge(job jsonb, pairs text, decisions regclass, a_rel regclass, b_rel regclass) RETURNS bigint
    VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET citus.enable_ddl_propagation = off AS $$
DECLARE
    schema text := @extschema@._bloom_citus_schema();
    is_of_one boolean := b_rel IS NULL;
    names text[] := ARRAY['_bloom_citus_' || left(md5(random()::text || clock_timestamp()), 12)];
    within name[] := CASE WHEN jsonb_typeof(job -> 'within') = 'array' THEN ARRAY(SELECT jsonb_array_elements_text(job -> 'within')) END;
    judged text;
    call text;
    gone bigint;
BEGIN
    names := ARRAY[names[1] || '_a', names[1] || '_b', names[1]];
    EXECUTE format('CREATE TEMPORARY VIEW %I AS SELECT r.* FROM %s AS r WHERE r.%I::text IN (SELECT d.a::text FROM %s AS d%s)', names[1], a_rel, job ->> 'a_key', decisions,
        CASE WHEN is_of_one THEN format(' UNION SELECT d.b::text FROM %s AS d', decisions) ELSE '' END);
    IF is_of_one THEN
        judged := format('SELECT d.a::text, d.b::text FROM %1$s AS d UNION SELECT d.b::text, d.a::text FROM %1$s AS d', decisions);
        call := format('%s.bloom_duplicates($1, $2, $3, $4, within => $5, verify => $6, margin => $7, decisions => $8)', schema);
    ELSE
        EXECUTE format('CREATE TEMPORARY VIEW %I AS SELECT r.* FROM %s AS r WHERE r.%I::text IN (SELECT d.b::text FROM %s AS d)', names[2], b_rel, job ->> 'b_key', decisions);
        judged := format('SELECT d.a::text, d.b::text FROM %s AS d', decisions);
        call := format('%s.bloom_linkage($1, $2, $3, $9, $10, $11, $4, within => $5, verify => $6, margin => $7, decisions => $8)', schema);
    END IF;
    EXECUTE format('CREATE TEMPORARY TABLE %I AS %s EXCEPT SELECT p.a, p.b FROM %s AS p', names[3], judged, call)
        USING to_regclass('pg_temp.' || names[1]), (job ->> 'a_key')::name, (job ->> 'a_sig')::name, (job ->> 'threshold')::float8, within, job ->> 'verify',
            (job ->> 'margin')::float8, decisions, to_regclass('pg_temp.' || names[2]), (job ->> 'b_key')::name, (job ->> 'b_sig')::name;
    EXECUTE format('DELETE FROM %s AS p WHERE (p.a, p.b) IN (SELECT d.a, d.b FROM pg_temp.%I AS d)', pairs, names[3]);
    GET DIAGNOSTICS gone = ROW_COUNT;
    EXECUTE format('DROP TABLE %I', names[3]);
    EXECUTE format('DROP VIEW %I%s', names[1], CASE WHEN is_of_one THEN '' ELSE format(', %I', names[2]) END);
    RETURN gone;
END
$$;
COMMENT ON FUNCTION _bloom_citus_judge(jsonb, text, regclass, regclass, regclass) IS 'takes away the pairs that are judged different or unsure';

-- What cells are told.
CREATE FUNCTION _bloom_citus_job(threshold float8, within name[], verify name, margin float8, a_rel regclass, a_key name, a_sig name, b_rel regclass, b_key name, b_sig name,
        cast_of_key text) RETURNS jsonb STABLE LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT jsonb_build_object('threshold', threshold, 'within', within, 'verify', verify, 'margin', margin, 'a_rel', a_rel::text, 'a_key', a_key, 'a_sig', a_sig,
        'b_rel', b_rel::text, 'b_key', b_key, 'b_sig', b_sig, 'order', cast_of_key,
        'settings', @extschema@._bloom_citus_settings())
$$;
COMMENT ON FUNCTION _bloom_citus_job(float8, name[], name, float8, regclass, name, name, regclass, name, name, text) IS 'what the cells of a grid are told of their job';

CREATE FUNCTION _bloom_citus_refuse(job text, option text, hint text) RETURNS void IMMUTABLE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = '0A000', MESSAGE = format('%s has no option "%s"', job, option), HINT = hint;
END
$$;
COMMENT ON FUNCTION _bloom_citus_refuse(text, text, text) IS 'an error: an option that a job over all shards does not have';

CREATE FUNCTION bloom_citus_duplicates(rel regclass, key name, signature name, threshold float8, pairs name, buckets integer DEFAULT NULL,
        within name[] DEFAULT NULL, verify name DEFAULT NULL, margin float8 DEFAULT NULL, decisions regclass DEFAULT NULL, new regclass DEFAULT NULL) RETURNS bigint
    VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    side record;
    job jsonb;
    result text;
    n_pairs bigint;
BEGIN
    IF new IS NOT NULL THEN
        PERFORM @extschema@._bloom_citus_refuse('bloom_citus_duplicates', 'new', 'Make a reference table of the new rows, and join it by bloom_sim: that takes the index of every shard.');
    END IF;
    PERFORM @extschema@._bloom_citus_check_arguments(threshold, buckets);
    PERFORM @extschema@._bloom_citus_check_table(rel);
    result := @extschema@._bloom_citus_result(rel, pairs);
    PERFORM @extschema@._bloom_citus_check_decisions(decisions);
    PERFORM @extschema@._bloom_citus_create_pairs(result, 'similarity float8 NOT NULL');
    SELECT * INTO side FROM @extschema@._bloom_citus_side(rel, key, signature, within || verify) AS s;
    job := @extschema@._bloom_citus_job(threshold, within, verify, margin, rel, key, signature, rel, key, signature, side.cast_of_key);
    n_pairs := @extschema@._bloom_citus_run(job, result, buckets, rel, side, NULL, side);
    IF decisions IS NOT NULL THEN
        n_pairs := n_pairs - @extschema@._bloom_citus_judge(job, result, decisions, rel, NULL);
    END IF;
    RETURN n_pairs;
END
$$;
COMMENT ON FUNCTION bloom_citus_duplicates(regclass, name, name, float8, name, integer, name[], name, float8, regclass, regclass) IS
    'all pairs of rows of a distributed table whose signatures are similar, as bloom_duplicates gives them, in a distributed table of this name';

CREATE FUNCTION bloom_citus_linkage(a_rel regclass, a_key name, a_signature name, b_rel regclass, b_key name, b_signature name, threshold float8, pairs name,
        buckets integer DEFAULT NULL, within name[] DEFAULT NULL, verify name DEFAULT NULL, margin float8 DEFAULT NULL, one_to_one boolean DEFAULT false,
        decisions regclass DEFAULT NULL) RETURNS bigint
    VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    a record;
    b record;
    job jsonb;
    result text;
    n_pairs bigint;
BEGIN
    IF one_to_one THEN
        PERFORM @extschema@._bloom_citus_refuse('bloom_citus_linkage', 'one_to_one', 'Take all pairs, and call bloom_assign with the table of them.');
    END IF;
    PERFORM @extschema@._bloom_citus_check_arguments(threshold, buckets);
    PERFORM @extschema@._bloom_citus_check_table(t) FROM unnest(ARRAY[a_rel, b_rel]) AS t;
    result := @extschema@._bloom_citus_result(a_rel, pairs);
    PERFORM @extschema@._bloom_citus_check_decisions(decisions);
    PERFORM @extschema@._bloom_citus_create_pairs(result, 'similarity float8 NOT NULL');
    SELECT * INTO a FROM @extschema@._bloom_citus_side(a_rel, a_key, a_signature, within || verify) AS s;
    SELECT * INTO b FROM @extschema@._bloom_citus_side(b_rel, b_key, b_signature, within || verify) AS s;
    job := @extschema@._bloom_citus_job(threshold, within, verify, margin, a_rel, a_key, a_signature, b_rel, b_key, b_signature, NULL);
    n_pairs := @extschema@._bloom_citus_run(job, result, buckets, a_rel, a, b_rel, b);
    IF decisions IS NOT NULL THEN
        n_pairs := n_pairs - @extschema@._bloom_citus_judge(job, result, decisions, a_rel, b_rel);
    END IF;
    RETURN n_pairs;
END
$$;
COMMENT ON FUNCTION bloom_citus_linkage(regclass, name, name, regclass, name, name, float8, name, integer, name[], name, float8, boolean, regclass) IS
    'all pairs of a row of one distributed table and a row of another whose signatures are similar, as bloom_linkage gives them, in a distributed table of this name';

-- A table of pairs is brought up to date: the records that have changed are sent to all nodes, where the index of every shard finds what is similar.

CREATE FUNCTION bloom_citus_pairs_refresh(pairs regclass, rel regclass, key name, signature name, threshold float8, changed regclass, within name[] DEFAULT NULL,
        verify name DEFAULT NULL, margin float8 DEFAULT NULL, OUT deleted bigint, OUT inserted bigint) VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    own text := @extschema@._bloom_citus_schema();
    job text := '_bloom_citus_' || left(md5(random()::text || clock_timestamp()), 12);
    key_column text;
    key_type text;
    sig_column text;
    others text;
    equal text;
    wrong text;
    gone bigint;
    has_null boolean;
    columns text;
BEGIN
    PERFORM @extschema@._bloom_citus_check_table(rel);
    IF pairs IS NULL OR changed IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = format('argument "%s" must not be null', CASE WHEN pairs IS NULL THEN 'pairs' ELSE 'changed' END);
    ELSIF threshold IS NULL OR NOT threshold > 0 OR threshold > 1 THEN
        RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('threshold = %s is out of range', COALESCE(threshold::text, 'NULL')), DETAIL = 'It is above 0 and at most 1.';
    END IF;
    PERFORM @extschema@._bloom_citus_check_table(pairs);
    key_column := @extschema@._bloom_citus_column(rel, key);
    PERFORM @extschema@._bloom_citus_key(rel, key);
    sig_column := @extschema@._bloom_citus_column(rel, signature, true);
    SELECT string_agg(format(', r.%s AS bloom_within_%s', @extschema@._bloom_citus_column(rel, c), i), '' ORDER BY i), string_agg(format(' AND r.%I = n.bloom_within_%s', c, i), '' ORDER BY i) INTO others, equal
        FROM unnest(within) WITH ORDINALITY AS c (c, i) WHERE c IS NOT NULL;
    SELECT format_type(atttypid, atttypmod) INTO key_type FROM pg_attribute WHERE attrelid = rel AND attname = key;
    SELECT c INTO wrong FROM unnest('{a,b,similarity}'::text[]) AS c WHERE NOT EXISTS (SELECT FROM pg_attribute AS t WHERE t.attrelid = pairs AND t.attname = c AND NOT t.attisdropped
        AND t.atttypid = CASE c WHEN 'similarity' THEN 'float8'::regtype ELSE 'text'::regtype END) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = '42703', MESSAGE = format('column "%s" of relation "%s" does not exist, or is of another type', wrong, pairs),
            HINT = 'Give a table that bloom_citus_duplicates() has made.';
    ELSIF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = changed AND attname = 'key' AND atttypid IN ('text'::regtype, 'varchar'::regtype) AND NOT attisdropped) THEN
        RAISE EXCEPTION USING ERRCODE = '42703', MESSAGE = format('relation "%s" does not have the column key of type text', changed),
            HINT = 'Give a table or view with the keys of the records, such as CREATE VIEW ... AS SELECT id::text AS key FROM ...';
    END IF;
    IF verify IS NOT NULL OR margin IS NOT NULL THEN
        SELECT string_agg(DISTINCT 'r.' || @extschema@._bloom_citus_column(rel, c), ', ') INTO columns FROM unnest(ARRAY[verify] || within) AS c WHERE c NOT IN (key, signature);
        columns := concat_ws(', ', 'r.' || key_column, 'r.' || sig_column, columns);
        EXECUTE format('CREATE TEMP TABLE %s_t ON COMMIT DROP AS SELECT %s FROM %s AS r WITH NO DATA', job, columns, rel);
        -- What the margin is, the job of one node says of a table without rows.
        IF verify IS NOT NULL AND (SELECT atttypid <> ALL ('{text[],varchar[]}'::regtype[]) FROM pg_attribute WHERE attrelid = rel AND attname = verify) THEN
            RAISE EXCEPTION USING ERRCODE = '42804', MESSAGE = format('column "%s" of relation "%s" is not of type text[]', verify, rel), HINT = 'Name the column of the tokens that the signatures were made of.';
        END IF;
        EXECUTE format('SELECT FROM %s.bloom_duplicates($1, $2, $3, $4, $5, $6, $7)', own) USING (job || '_t')::regclass, key, signature, threshold, within, verify, margin;
    END IF;
    PERFORM @extschema@._bloom_citus_check_workers();
    EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', pairs);

    -- The keys that have changed, and those of pairs whose records are no more there, or have no signature: as values of the key, of which no text is that of something else.
    EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE key IS NULL)', changed) INTO has_null;
    IF has_null THEN
        RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = format('key of relation "%s" is null', changed), HINT = 'Use a view that leaves out those that are null.';
    END IF;
    EXECUTE format('CREATE TEMP TABLE %s_c ON COMMIT DROP AS SELECT r.%s AS key FROM %s AS r WITH NO DATA', job, key_column, rel);
    EXECUTE format('CREATE TEMP TABLE %1$s_p ON COMMIT DROP AS SELECT NULL::text AS shown, key FROM pg_temp.%1$s_c WITH NO DATA', job);
    EXECUTE format('INSERT INTO pg_temp.%s_c SELECT DISTINCT key::%s FROM %s', job, key_type, changed);
    EXECUTE format('INSERT INTO pg_temp.%s_p SELECT k, k::%s FROM (SELECT a AS k FROM %s UNION SELECT b FROM %3$s) AS p', job, key_type, pairs);
    EXECUTE format('CREATE TEMP TABLE %1$s_e ON COMMIT DROP AS SELECT p.key FROM %2$s AS r JOIN pg_temp.%1$s_p AS p ON p.key = r.%3$s WHERE r.%4$s IS NOT NULL', job, rel, key_column, sig_column);
    EXECUTE format('CREATE TEMP TABLE %1$s_g ON COMMIT DROP AS SELECT p.shown AS key FROM pg_temp.%1$s_p AS p WHERE p.key IN (SELECT key FROM pg_temp.%1$s_c) OR NOT EXISTS (SELECT FROM pg_temp.%1$s_e AS e WHERE e.key = p.key)', job);
    EXECUTE format('CREATE TEMP TABLE %1$s_n ON COMMIT DROP AS SELECT r.%3$s AS bloom_key, r.%4$s AS bloom_sig %5$s FROM %2$s AS r JOIN pg_temp.%1$s_c AS c ON c.key = r.%3$s
        WHERE r.%4$s IS NOT NULL', job, rel, key_column, sig_column, others);
    EXECUTE format('SELECT format(''%%s'', key) FROM (SELECT key FROM pg_temp.%1$s_e UNION ALL SELECT bloom_key FROM pg_temp.%1$s_n WHERE bloom_key NOT IN (SELECT key FROM pg_temp.%1$s_e)) AS k GROUP BY key HAVING count(*) > 1 LIMIT 1', job) INTO wrong;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = '21000', MESSAGE = format('more than one record has the key "%s"', wrong), HINT = format('Name a key column that is unique, instead of "%s".', key);
    END IF;
    EXECUTE format('DELETE FROM %s AS p WHERE p.a IN (SELECT key FROM pg_temp.%s_g)', pairs, job);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    EXECUTE format('DELETE FROM %s AS p WHERE p.b IN (SELECT key FROM pg_temp.%s_g)', pairs, job);
    GET DIAGNOSTICS gone = ROW_COUNT;
    deleted := deleted + gone;

    IF verify IS NULL THEN
        -- Keys become text here, as this session writes them.
        EXECUTE format($q$CREATE TEMP TABLE %7$s_f ON COMMIT DROP AS SELECT r.%3$s AS a, n.bloom_key AS b, %6$s.bloom_sim(r.%4$s, n.bloom_sig) AS similarity
            FROM %1$s AS r JOIN pg_temp.%7$s_n AS n ON %6$s.bloom_sim_at_least(r.%4$s, n.bloom_sig, %8$L) AND r.%3$s <> n.bloom_key %5$s$q$,
            rel, pairs, key_column, sig_column, equal, own, job, threshold);
        EXECUTE format($q$INSERT INTO %1$s (a, b, similarity) SELECT DISTINCT format('%%s', CASE WHEN a < b THEN a ELSE b END), format('%%s', CASE WHEN a < b THEN b ELSE a END), similarity
            FROM pg_temp.%2$s_f$q$, pairs, job);
    ELSE
        -- The records whose signatures are so similar that their tokens may be come here, and are compared by the job of one node. It looks for as much below the threshold, and
        -- this looks a trifle farther.
        EXECUTE format('INSERT INTO pg_temp.%1$s_t SELECT %2$s FROM %3$s AS r JOIN pg_temp.%1$s_c AS c ON c.key = r.%4$s WHERE r.%5$s IS NOT NULL', job, columns, rel, key_column, sig_column);
        EXECUTE format('INSERT INTO pg_temp.%1$s_t SELECT DISTINCT ON (r.%4$s) %2$s FROM %3$s AS r JOIN pg_temp.%1$s_n AS n ON %6$s.bloom_sim_at_least(r.%5$s, n.bloom_sig, %7$L) %8$s
            WHERE r.%4$s NOT IN (SELECT key FROM pg_temp.%1$s_c)', job, columns, rel, key_column, sig_column, own, greatest(threshold - COALESCE(margin, 0.05) - 1e-9, 0), equal);
        EXECUTE format('CREATE TEMP TABLE %1$s_k ON COMMIT DROP AS SELECT format(''%%s'', key) AS key FROM pg_temp.%1$s_c', job);
        EXECUTE format('INSERT INTO %s (a, b, similarity) SELECT a, b, similarity FROM %s.bloom_duplicates($1, $2, $3, $4, $5, $6, $7, new => $8)', pairs, own)
            USING (job || '_t')::regclass, key, signature, threshold, within, verify, margin, (job || '_k')::regclass;
    END IF;
    GET DIAGNOSTICS inserted = ROW_COUNT;
    EXECUTE format('DROP TABLE pg_temp.%1$s_c, pg_temp.%1$s_p, pg_temp.%1$s_e, pg_temp.%1$s_g, pg_temp.%1$s_n, ' || CASE WHEN verify IS NOT NULL THEN 'pg_temp.%1$s_t, pg_temp.%1$s_k' ELSE 'pg_temp.%1$s_f' END, job);
END
$$;
COMMENT ON FUNCTION bloom_citus_pairs_refresh(regclass, regclass, name, name, float8, regclass, name[], name, float8) IS
    'brings a distributed table of pairs up to date: deletes those of records that have changed or are gone, and finds those of the changed records by the index of every shard';

-- Match models over all shards of a distributed table. The records are copied into cells, by the hash of their key, and the keys that the model's searches give them go to the
-- cell of each key, where the blocks are: those that are neither too small nor too large are told to the cells of their records. From there each record goes to the cells of
-- its blocks, once to each, and there bloom_model_duplicates compares it with the others, by the keys that are given. A cell is a shard of each of the job's tables, all on one
-- node, where functions take them by their own names. Keys travel many to a row, which takes a third of the time that rows of their own would. Citus writes strings as
-- standard_conforming_strings of this session has them, which the workers do not know, so the functions turn it on.

-- The texts of columns as models compare them, whatever the settings of the session that reads them are: SQL, for a row "r".
CREATE FUNCTION _bloom_citus_model_texts(rel regclass, fields text[]) RETURNS text STABLE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    field text;
    type_oid oid;
    texts text[];
BEGIN
    FOREACH field IN ARRAY fields LOOP
        PERFORM @extschema@._bloom_citus_column(rel, field);
        SELECT atttypid INTO type_oid FROM pg_attribute WHERE attrelid = rel AND attname = field;
        texts := texts || format(CASE
            WHEN type_oid IN ('date'::regtype, 'timestamp'::regtype) THEN '(pg_catalog.to_json(r.%1$I) #>> ''{}'')'
            WHEN type_oid = 'timestamptz'::regtype THEN '(pg_catalog.to_json(pg_catalog.timezone(''00:00''::interval, r.%1$I)) #>> ''{}'')'
            WHEN type_oid IN ('float4'::regtype, 'float8'::regtype) THEN 'r.%1$I::text::numeric::text'
            WHEN type_oid < 16384 THEN 'r.%1$I::text'
            ELSE 'CASE WHEN r.%1$I IS NOT NULL THEN pg_catalog.format(''%%s'', r.%1$I) END' END, field);
    END LOOP;
    RETURN format('ARRAY[%s]::text[]', array_to_string(texts, ', '));
END
$$;
COMMENT ON FUNCTION _bloom_citus_model_texts(regclass, text[]) IS 'the texts of the fields of a model, as SQL';

-- The number of a record in its cell, as SQL, for a row "r" of the cell: its block, and its place in that in eleven bits. One is an integer up to a million blocks.
CREATE FUNCTION _bloom_citus_record() RETURNS text IMMUTABLE LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT '(((''x'' || substr(encode(tidsend(r.ctid), ''hex''), 1, 8))::bit(32)::integer << 11) | (''x'' || substr(encode(tidsend(r.ctid), ''hex''), 9))::bit(16)::integer)'
$$;
COMMENT ON FUNCTION _bloom_citus_record() IS 'the number of a record in its cell, as SQL';

-- The number of the cell that a key goes to, as SQL. The last bits of a key are its search.
CREATE FUNCTION _bloom_citus_cell_of_key(key text, cells integer) RETURNS text IMMUTABLE LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('(1 + ((%s >> 6) & 2147483647) %% %s)', key, cells)
$$;
COMMENT ON FUNCTION _bloom_citus_cell_of_key(text, integer) IS 'the number of the cell of a key, as SQL';

-- Three hash tables at once take as much memory as a job may.
CREATE FUNCTION _bloom_citus_memory() RETURNS text STABLE LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT greatest(pg_size_bytes(current_setting('maintenance_work_mem')) / 1024 / 6, 64) || 'kB'
$$;
COMMENT ON FUNCTION _bloom_citus_memory() IS 'work_mem of a query that is part of a job';

-- The keys of the records of a cell, with the number of their search in the six last bits, each for the cell that it goes to. So many pages at a time are read that the
-- memory stays the same, however many records there are.
CREATE FUNCTION _bloom_citus_model_keys(schema text, model jsonb, records bigint, number integer, rel text, fields text[], cells integer[],
        OUT cell integer, OUT source integer, OUT keys bigint[], OUT of_records integer[]) RETURNS SETOF record STABLE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    pages bigint := pg_relation_size(rel::regclass) / current_setting('block_size')::integer;
BEGIN
    IF pages > 1 << 20 THEN
        RAISE EXCEPTION USING ERRCODE = '54000', MESSAGE = format('the records of one of %s cells take %s', cardinality(cells), pg_size_pretty(pg_relation_size(rel::regclass))),
            DETAIL = format('They may take %s.', pg_size_pretty(current_setting('block_size')::bigint << 20)), HINT = 'Distribute the table over more shards.';
    END IF;
    FOR page IN 0..pages - 1 BY 128 LOOP
        RETURN QUERY EXECUTE format($q$SELECT $3[k.cell], $7, array_agg(k.key), array_agg(k.record) FROM (
            SELECT (k.key & -64) | k.search AS key, %s AS cell, r.record
            FROM (SELECT %s AS record, jsonb_object($4, r.texts) AS object FROM %s AS r WHERE r.ctid >= $5 AND r.ctid < $6 OFFSET 0) AS r,
                LATERAL %s.bloom_model_keys($1, r.object, $2) AS k) AS k GROUP BY k.cell$q$,
            @extschema@._bloom_citus_cell_of_key('k.key', cardinality(cells)), @extschema@._bloom_citus_record(), rel, schema)
            USING model, records, cells, fields, format('(%s,0)', page)::tid, format('(%s,0)', page + 128)::tid, number;
    END LOOP;
END
$$;
COMMENT ON FUNCTION _bloom_citus_model_keys(text, jsonb, bigint, integer, text, text[], integer[]) IS 'the keys of the records of a cell, for the cells that they go to';

-- The keys of a cell that records are compared by, for the cells of the records: those of no fewer than two, and no more than a block of their search may have. Blocks of the
-- same records have the same print, others have another one but for a case in 2^64.
CREATE FUNCTION _bloom_citus_model_blocks(rel text, most integer[], cells integer[], OUT cell integer, OUT keys bigint[], OUT prints bigint[], OUT of_records integer[])
    RETURNS SETOF record STABLE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_nestloop = off SET work_mem = '4MB' AS $$
BEGIN
    -- It lasts as long as the function.
    PERFORM set_config('work_mem', @extschema@._bloom_citus_memory(), true);
    RETURN QUERY EXECUTE format($q$WITH entry AS NOT MATERIALIZED (SELECT source, unnest(keys) AS key, unnest(of_records) AS record FROM %s),
            block AS (SELECT key, bit_xor(hashint8extended(record, source)) AS print FROM entry GROUP BY key
                HAVING count(*) > 1 AND count(*) <= ($1)[1 + (key & 63)])
        SELECT ($2)[1 + source], array_agg(key), array_agg(print), array_agg(record) FROM entry JOIN block USING (key) GROUP BY source, record >> 18$q$, rel) USING most, cells;
END
$$;
COMMENT ON FUNCTION _bloom_citus_model_blocks(text, integer[], integer[]) IS 'the keys of the blocks of a cell, for the cells of their records';

-- The records of a cell with their keys, for the cells of these. Of blocks with the same records the one with the least key is enough, unless each search has to be known.
CREATE FUNCTION _bloom_citus_model_records(of_keys text, of_records text, cells integer[], settings jsonb, each_search boolean, OUT cell integer, OUT id text, OUT keys bigint[], OUT texts text[])
    RETURNS SETOF record STABLE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_nestloop = off SET work_mem = '4MB'
    SET DateStyle = 'ISO' SET IntervalStyle = 'postgres' SET TimeZone = 'UTC' SET bytea_output = 'hex' SET extra_float_digits = 1 AS $$
BEGIN
    -- It lasts as long as the function.
    PERFORM set_config('work_mem', @extschema@._bloom_citus_memory(), true);
    PERFORM @extschema@._bloom_citus_set(settings);
    RETURN QUERY EXECUTE format($q$WITH entry AS (SELECT unnest(keys) AS key, unnest(prints) AS print, unnest(of_records) AS record FROM %s),
            block AS (SELECT record, min(key) AS key FROM entry GROUP BY record, print%s),
            copy AS (SELECT record, %s AS cell, array_agg(key) AS keys FROM block GROUP BY 1, 2)
        SELECT ($1)[copy.cell], format('%%s', r.id), copy.keys, r.texts FROM copy JOIN (SELECT %s AS record, r.id, r.texts FROM %s AS r) AS r USING (record)$q$,
        of_keys, CASE WHEN each_search THEN ', key' ELSE '' END, @extschema@._bloom_citus_cell_of_key('key', cardinality(cells)), @extschema@._bloom_citus_record(), of_records) USING cells;
END
$$;
COMMENT ON FUNCTION _bloom_citus_model_records(text, text, integer[], jsonb, boolean) IS 'the records of a cell, for the cells of their keys';

-- The pairs of a cell, the lesser key first.
CREATE FUNCTION _bloom_citus_model_pairs(schema text, model jsonb, rel text, id name, cast_of_key text, settings jsonb, min_probability float8, options jsonb,
        OUT a text, OUT b text, OUT probability float8, OUT bits float8) RETURNS SETOF record STABLE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    SET DateStyle = 'ISO' SET IntervalStyle = 'postgres' SET TimeZone = 'UTC' SET bytea_output = 'hex' SET extra_float_digits = 1 AS $$
BEGIN
    PERFORM @extschema@._bloom_citus_set(settings);
    RETURN QUERY EXECUTE format($q$SELECT CASE WHEN a%1$s <= b%1$s THEN a ELSE b END, CASE WHEN a%1$s <= b%1$s THEN b ELSE a END, probability, bits
        FROM %2$s.bloom_model_duplicates($1, $2, $3, $4, options => $5)$q$, cast_of_key, schema) USING rel::regclass, id, model, min_probability, options;
END
$$;
COMMENT ON FUNCTION _bloom_citus_model_pairs(text, jsonb, text, name, text, jsonb, float8, jsonb) IS 'the pairs of a cell that a model takes for matches';

CREATE FUNCTION bloom_citus_model_duplicates(rel regclass, key name, model jsonb, pairs name, min_probability float8 DEFAULT 0.5, options jsonb DEFAULT NULL) RETURNS bigint
    VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
#variable_conflict use_column
DECLARE
    own text := @extschema@._bloom_citus_schema();
    job text := '_bloom_citus_' || left(md5(random()::text || clock_timestamp()), 12);
    at text;
    result text;
    key_column text;
    of_key record;
    fields text[];
    texts text;
    n_cells integer := (SELECT count(*) FROM pg_dist_shard WHERE logicalrelid = rel);
    cells integer[];
    n_records bigint;
    n_pairs bigint;
    most_pairs float8;
    runs boolean[];
    searches jsonb;
    most integer[];
    suffix text;
    own_columns text[] := '{_cell,_id,_keys}';
    copies text;
    found text;
    bad record;
    candidates numeric;
BEGIN
    PERFORM @extschema@._bloom_citus_check_table(rel);
    key_column := @extschema@._bloom_citus_column(rel, key);
    SELECT quote_ident(n.nspname) INTO at FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = rel;
    SELECT * INTO of_key FROM @extschema@._bloom_citus_key(rel, key);
    result := @extschema@._bloom_citus_result(rel, pairs);
    PERFORM @extschema@._bloom_citus_check_workers();
    PERFORM @extschema@._bloom_citus_create_pairs(result, 'probability float8 NOT NULL, bits float8 NOT NULL');
    -- Fields that the table lacks, by its own name.
    PERFORM @extschema@._bloom_citus_column(rel, f ->> 'name') FROM jsonb_array_elements(CASE jsonb_typeof(model -> 'fields') WHEN 'array' THEN model -> 'fields' ELSE '[]' END) AS f WHERE f ->> 'name' IS NOT NULL;
    EXECUTE format('SELECT count(*) FROM %s', rel) INTO n_records;
    options := COALESCE(options, '{}') || jsonb_build_object('records', greatest(n_records, 2));
    -- What the model, the options and the least probability are, and which searches are left out, the job of one node says of a table without rows.
    EXECUTE format('CREATE TABLE %s.%I AS SELECT * FROM %s WITH NO DATA', at, job, rel);
    EXECUTE format('SELECT FROM %s.bloom_model_duplicates($1, $2, $3, $4, options => $5)', own) USING format('%s.%I', at, job)::regclass, key, model, min_probability, options;
    EXECUTE format('SELECT array_agg(runs ORDER BY n) FROM %s.bloom_model_candidates($1, $2, $3, $4) WITH ORDINALITY AS c (search, pairs, matches, recall, cut_blocks, cut_pairs, runs, n)', own)
        INTO runs USING format('%s.%I', at, job)::regclass, key, model, options;
    EXECUTE format('DROP TABLE %s.%I', at, job);
    IF n_records < 2 OR model ->> 'status' <> 'converged' AND NOT COALESCE((options ->> 'force')::boolean, false) THEN
        RETURN 0;
    ELSIF n_records::float8 * (n_records - 1) / 2 <= 25e6 THEN
        -- So few records are scanned as a whole, perhaps.
        EXECUTE format('INSERT INTO %s SELECT a, b, probability, bits FROM %s.bloom_model_duplicates($1, $2, $3, $4, options => $5)', result, own) USING rel, key, model, min_probability, options;
        GET DIAGNOSTICS n_pairs = ROW_COUNT;
        RETURN n_pairs;
    END IF;
    SELECT jsonb_agg(s ORDER BY n), array_agg((s ->> 'most')::integer ORDER BY n) INTO searches, most FROM jsonb_array_elements(model -> 'searches') WITH ORDINALITY AS s (s, n)
        WHERE runs[n] AND s ? 'most';
    IF searches IS NULL AND jsonb_path_exists(model, '$.searches[*].most') THEN
        -- They are left out, which has been said.
        RETURN 0;
    ELSIF searches IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('no search of the match model has keys for %s records', n_records),
            DETAIL = 'Pairs of a distributed table are found by the keys that records have in common; a scan has none.', HINT = 'Fit a model to these records, by bloom_citus_model_fit().';
    END IF;
    -- All that are left are done.
    model := jsonb_set(model || '{"warnings": [], "left_out": {}}', '{searches}', (SELECT jsonb_agg(s || '{"pairs_per_record": 0}' ORDER BY n) FROM jsonb_array_elements(searches) WITH ORDINALITY AS s (s, n)));
    most_pairs := COALESCE((options ->> 'pair_limit')::float8, greatest(5.0 * n_records, 8e6));
    SELECT array_agg(f ->> 'name' ORDER BY n) INTO fields FROM jsonb_array_elements(model -> 'fields') WITH ORDINALITY AS f (f, n);
    texts := @extschema@._bloom_citus_model_texts(rel, fields);
    PERFORM @extschema@._bloom_citus_check_shards(rel, key || fields::name[]);

    job := format('%s.%s', at, job);
    WHILE own_columns && fields LOOP
        own_columns := ARRAY(SELECT '_' || c FROM unnest(own_columns) WITH ORDINALITY AS u (c, n) ORDER BY n);
    END LOOP;
    EXECUTE format('CREATE UNLOGGED TABLE %s_c (cell integer, number integer, r text, k text, b text, s text, model jsonb)', job);
    EXECUTE format('CREATE UNLOGGED TABLE %s_r AS SELECT 0 AS cell, %s AS id, NULL::text[] AS texts FROM %s AS r WITH NO DATA', job, of_key.compared_key, rel);
    EXECUTE format('CREATE UNLOGGED TABLE %s_k (cell integer, source integer, keys bigint[], of_records integer[])', job);
    EXECUTE format('CREATE UNLOGGED TABLE %s_b (cell integer, keys bigint[], prints bigint[], of_records integer[])', job);
    EXECUTE format('CREATE UNLOGGED TABLE %s_s (%I integer, %I text COLLATE "C", %I bigint[], %s)', job, own_columns[1], own_columns[2], own_columns[3],
        (SELECT string_agg(format('%I text', f), ', ' ORDER BY n) FROM unnest(fields) WITH ORDINALITY AS u (f, n)));
    EXECUTE format('CREATE UNLOGGED TABLE %s_p (LIKE %s)', job, result);
    EXECUTE format('ALTER TABLE %s_k ALTER keys SET STORAGE EXTERNAL, ALTER of_records SET STORAGE EXTERNAL', job);
    EXECUTE format('ALTER TABLE %s_b ALTER keys SET STORAGE EXTERNAL, ALTER prints SET STORAGE EXTERNAL, ALTER of_records SET STORAGE EXTERNAL', job);
    PERFORM create_distributed_table((job || '_c')::regclass, 'cell', shard_count => n_cells, colocate_with => 'none');
    FOREACH suffix IN ARRAY '{r,k,b}'::text[] LOOP
        PERFORM create_distributed_table(format('%s_%s', job, suffix)::regclass, 'cell', colocate_with => job || '_c');
    END LOOP;
    PERFORM create_distributed_table((job || '_s')::regclass, own_columns[1], colocate_with => job || '_c');
    PERFORM create_distributed_table((job || '_p')::regclass, 'a', colocate_with => result);
    cells := @extschema@._bloom_citus_values((job || '_c')::regclass);
    EXECUTE format('INSERT INTO %s_c SELECT ($1)[n], n - 1, r, k, b, s, $2 FROM ROWS FROM (unnest($3), unnest($4), unnest($5), unnest($6)) WITH ORDINALITY AS s (r, k, b, s, n)', job) USING cells, model,
        @extschema@._bloom_citus_shards((job || '_r')::regclass), @extschema@._bloom_citus_shards((job || '_k')::regclass),
        @extschema@._bloom_citus_shards((job || '_b')::regclass), @extschema@._bloom_citus_shards((job || '_s')::regclass);

    EXECUTE format('INSERT INTO %s_r SELECT (%L::integer[])[1 + COALESCE((%s & 2147483647) %% %s, 0)], %s, %s FROM %s AS r',
        job, cells, of_key.hash_of_key, n_cells, of_key.compared_key, texts, rel);
    RAISE DEBUG 'bloom_ident_citus: the records are in their cells';
    EXECUTE format('SELECT id IS NULL AS is_null, format(''%%s'', id) AS id FROM (SELECT id FROM %s_r GROUP BY cell, id HAVING count(*) > 1 OR id IS NULL) AS r ORDER BY 1 DESC LIMIT 1', job) INTO bad;
    IF bad.is_null THEN
        RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'key of a record is null',
            HINT = format('Name a key column that is not null, instead of "%s".', key);
    ELSIF NOT bad.is_null THEN
        RAISE EXCEPTION USING ERRCODE = '21000', MESSAGE = format('more than one record has the key "%s"', bad.id),
            HINT = format('Name a key column that is unique, instead of "%s".', key);
    END IF;
    EXECUTE format('INSERT INTO %s_k SELECT d.cell, d.source, d.keys, d.of_records FROM %1$s_c AS c, LATERAL @extschema@._bloom_citus_model_keys(%2$L, c.model, %3$L, c.number, c.r, %4$L, %5$L) AS d',
        job, own, n_records, fields, cells);
    RAISE DEBUG 'bloom_ident_citus: the keys are in their cells';
    EXECUTE format('INSERT INTO %s_b SELECT d.cell, d.keys, d.prints, d.of_records FROM %1$s_c AS c, LATERAL @extschema@._bloom_citus_model_blocks(c.k, %2$L, %3$L) AS d', job, most, cells);
    RAISE DEBUG 'bloom_ident_citus: the cells of records know their blocks';
    copies := format('INSERT INTO %s_s SELECT d.cell, d.id, d.keys, %s FROM %1$s_c AS c, LATERAL @extschema@._bloom_citus_model_records(c.b, c.r, %3$L, %4$L, ', job,
        (SELECT string_agg(format('d.texts[%s]', n), ', ' ORDER BY n) FROM generate_subscripts(fields, 1) AS n), cells, @extschema@._bloom_citus_settings());
    EXECUTE copies || 'false) AS d';
    RAISE DEBUG 'bloom_ident_citus: the records are in the cells of their blocks';
    options := options || jsonb_build_object('keys', own_columns[3], 'pair_limit', 1::bigint << 53);
    found := format('INSERT INTO %s_p SELECT d.a, d.b, d.probability, d.bits FROM %1$s_c AS c, LATERAL @extschema@._bloom_citus_model_pairs(%2$L, c.model, c.s, %3$L, %4$L, %5$L, ',
        job, own, own_columns[2], of_key.cast_of_key, @extschema@._bloom_citus_settings());
    -- No more count than the blocks have, so they are counted only where these have too many: each pair once, in whichever blocks it is, and by all that the searches say.
    EXECUTE format('SELECT COALESCE(sum(n * (n - 1) / 2), 0) FROM (SELECT %1$I, key, count(*) AS n FROM (SELECT %1$I, unnest(%2$I) AS key FROM %3$s_s) AS k GROUP BY 1, 2) AS b', own_columns[1], own_columns[3], job)
        INTO candidates;
    IF candidates > most_pairs THEN
        EXECUTE format('TRUNCATE %s_s', job);
        EXECUTE copies || 'true) AS d';
        EXECUTE found || format('0, %L) AS d', options || '{"counted": true}');
        EXECUTE format('SELECT count(*) FROM (SELECT DISTINCT a, b FROM %s_p) AS p', job) INTO candidates;
        IF candidates > most_pairs THEN
            RAISE EXCEPTION USING ERRCODE = '54000', MESSAGE = format('the searches find more than %s pairs', most_pairs), DETAIL = format('They find %s.', candidates),
                HINT = 'Raise the option pair_limit, or fit the model to these records.';
        END IF;
        EXECUTE format('TRUNCATE %s_p', job);
    END IF;
    EXECUTE found || format('%L, %L) AS d', min_probability, options);
    -- A pair comes from each cell in which both its records are.
    EXECUTE format('INSERT INTO %s SELECT DISTINCT a, b, probability, bits FROM %s_p', result, job);
    GET DIAGNOSTICS n_pairs = ROW_COUNT;
    EXECUTE format('DROP TABLE %s_c, %1$s_r, %1$s_k, %1$s_b, %1$s_s, %1$s_p', job);
    RETURN n_pairs;
END
$$;
COMMENT ON FUNCTION bloom_citus_model_duplicates(regclass, name, jsonb, name, float8, jsonb) IS
    'the pairs of records of a distributed table that a match model takes for matches, as bloom_model_duplicates gives them, in a distributed table of this name';

-- The fit of a model to more records than one node is to have. It is made of a sample, and of all records that have something in common with one of it: pairs of two records
-- of a sample are too few to learn from, and their blocks too small to judge searches by.

-- A model that has nothing but what keys are made by, and these searches.
CREATE FUNCTION _bloom_citus_model_of_keys(model jsonb, searches jsonb) RETURNS jsonb IMMUTABLE LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT model || jsonb_build_object('warnings', '[]'::jsonb, 'left_out', '{}'::jsonb, 'searches', searches,
        'fields', (SELECT jsonb_agg(f || '{"frequent": {}}' ORDER BY n) FROM jsonb_array_elements(model -> 'fields') WITH ORDINALITY AS x (f, n)))
$$;
COMMENT ON FUNCTION _bloom_citus_model_of_keys(jsonb, jsonb) IS 'a model that has nothing but what keys are made by, and these searches';

CREATE FUNCTION bloom_citus_model_fit(rel regclass, key name, fields text[] DEFAULT NULL, personal name[] DEFAULT NULL, labels regclass DEFAULT NULL, sample bigint DEFAULT NULL)
    RETURNS jsonb
    VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
#variable_conflict use_column
DECLARE
    own text := @extschema@._bloom_citus_schema();
    told text := current_setting('client_min_messages');
    job text := 'pg_temp._bloom_citus_' || left(md5(random()::text || clock_timestamp()), 12);
    key_column text;
    n_records bigint;
    model jsonb;
    searches jsonb;
    cheap jsonb;
    of_keys jsonb;
    names text[];
    texts text;
    columns text;
    left_out jsonb;
BEGIN
    PERFORM @extschema@._bloom_citus_check_table(rel);
    key_column := @extschema@._bloom_citus_column(rel, key);
    PERFORM @extschema@._bloom_citus_check_workers();
    IF sample < 5000 THEN
        RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('sample = %s is out of range', sample), DETAIL = 'It is 5000 or more; NULL stands for all of a million records, and for 50000 of more.';
    END IF;
    EXECUTE format('SELECT count(*) FROM %s', rel) INTO n_records;
    sample := COALESCE(sample, CASE WHEN n_records > 1000000 THEN 50000 ELSE n_records END);
    -- Where no fields are given, columns of the types of users are left out, as _bloom_citus_column would refuse them.
    SELECT string_agg(format('r.%I', a.attname), ', ' ORDER BY a.attnum) FILTER (WHERE can),
            COALESCE(jsonb_object_agg(a.attname, format('values of type %s of a distributed table are not compared', format_type(a.atttypid, NULL))) FILTER (WHERE NOT can), '{}') INTO columns, left_out
        FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid, LATERAL (SELECT fields IS NOT NULL OR t.oid < 16384 OR t.typtype = 'e') AS x (can)
        WHERE a.attrelid = rel AND a.attnum > 0 AND NOT a.attisdropped;
    IF n_records <= sample THEN
        IF left_out <> '{}' THEN
            EXECUTE format('CREATE TEMP TABLE %s_s ON COMMIT DROP AS SELECT %s FROM %s AS r', split_part(job, '.', 2), columns, rel);
        END IF;
        EXECUTE format('SELECT %s.bloom_model_fit($1, $2, $3, $4, $5)', own) INTO model USING CASE left_out WHEN '{}' THEN rel ELSE (job || '_s')::regclass END, key, fields, personal, labels;
        IF left_out <> '{}' THEN
            EXECUTE format('DROP TABLE %s_s', job);
        END IF;
        PERFORM @extschema@._bloom_citus_column(rel, f ->> 'name') FROM jsonb_array_elements(model -> 'fields') AS f;
        RETURN jsonb_set(model, '{left_out}', left_out || (model -> 'left_out'));
    ELSIF labels IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = '0A000', MESSAGE = 'a fit to a sample takes no labels', DETAIL = format('There are %s records, and the sample has %s.', n_records, sample),
            HINT = 'Leave them out, or have all records fetched by a larger sample.';
    END IF;

    -- What the fields are, the sample says by itself.
    EXECUTE format('CREATE TEMP TABLE %s_s ON COMMIT DROP AS SELECT %s FROM %s AS r WHERE (hashtextextended(format(''%%s'', r.%s), 0) & 9223372036854775807) %% %s < %s',
        split_part(job, '.', 2), columns, rel, key_column, n_records, sample);
    PERFORM set_config('client_min_messages', 'error', true);
    EXECUTE format('SELECT %s.bloom_model_fit($1, $2, $3, $4, options => $5)', own) INTO model USING (job || '_s')::regclass, key, fields, personal, jsonb_build_object('records', n_records);
    PERFORM set_config('client_min_messages', told, true);
    model := jsonb_set(model, '{left_out}', left_out || (model -> 'left_out'));
    left_out := model -> 'left_out';
    SELECT array_agg(f ->> 'name' ORDER BY n) INTO names FROM jsonb_array_elements(model -> 'fields') WITH ORDINALITY AS x (f, n);
    texts := @extschema@._bloom_citus_model_texts(rel, names);

    -- All searches by equality of a field or two, of the ten that tell most, and those of them that bring few pairs, as far as the sample says.
    SELECT jsonb_agg(jsonb_build_object('equal', s.fields, 'most', s.most, 'pairs_per_record', 0, 'matches_per_record', 0)) INTO searches FROM (
        WITH f AS (SELECT f ->> 'name' AS name, n FROM jsonb_array_elements(model -> 'fields') WITH ORDINALITY AS x (f, n)
            ORDER BY (f ->> 'bits')::float8 * (f ->> 'filled')::float8 DESC, n LIMIT 10)
        SELECT jsonb_build_array(name) AS fields, 5 AS most FROM f UNION ALL SELECT jsonb_build_array(f.name, g.name), 40 FROM f JOIN f AS g ON f.n < g.n) AS s;
    of_keys := @extschema@._bloom_citus_model_of_keys(model, searches);
    EXECUTE format($q$SELECT jsonb_agg(s ORDER BY pairs, n) FROM (
            SELECT s, n, pairs, sum(pairs) OVER (ORDER BY pairs, n) AS with_others FROM (
                SELECT search, sum(of_key * (of_key - 1) / 2) * (%1$s::float8 / %2$s) * (%1$s::float8 / %2$s) / %1$s AS pairs FROM (
                    SELECT k.search, k.key, count(*) AS of_key FROM %3$s_s AS r, LATERAL %4$s.bloom_model_keys($1, jsonb_object($2, %5$s), $4) AS k GROUP BY k.search, k.key) AS k
                WHERE of_key <= greatest(2, ($3 -> search ->> 'most')::integer * %2$s::float8 / %1$s) GROUP BY search) AS p
                JOIN jsonb_array_elements($3) WITH ORDINALITY AS s (s, n) ON s.n = p.search + 1) AS p
        WHERE with_others <= 25$q$, n_records, sample, job, own, texts) INTO cheap USING of_keys, names, searches, n_records;
    IF cheap IS NULL THEN
        RETURN model;
    END IF;

    -- The keys of the sample that others have, too, and whoever has one of these.
    of_keys := @extschema@._bloom_citus_model_of_keys(model, cheap);
    EXECUTE format('CREATE TEMP TABLE %1$s_k ON COMMIT DROP AS SELECT DISTINCT (k.key & -64) | k.search AS key, k.search, (%5$L::jsonb -> k.search ->> ''most'')::integer AS most
        FROM pg_temp.%1$s_s AS r, LATERAL %2$s.bloom_model_keys($1, jsonb_object($2, %3$s), %4$s) AS k', split_part(job, '.', 2), own, texts, n_records, cheap) USING of_keys, names;
    -- Outer joins, and conditions that the planner does not take for those of inner ones, since it might begin with every record and every key of the sample, and look for the record's own then.
    EXECUTE format('CREATE TEMP TABLE %1$s_w ON COMMIT DROP AS SELECT w.key, count(*) > w.most AS is_large FROM %6$s AS r CROSS JOIN LATERAL %2$s.bloom_model_keys(%4$L, jsonb_object(%5$L, %3$s), %7$s) AS k
            LEFT JOIN pg_temp.%1$s_k AS w ON w.key = (k.key & -64) | k.search WHERE COALESCE(w.most, 0) > 0 GROUP BY w.key, w.most HAVING count(*) > 1', split_part(job, '.', 2), own, texts, of_keys, names, rel, n_records);
    EXECUTE format('CREATE TEMP TABLE %1$s_n ON COMMIT DROP AS SELECT DISTINCT r.%8$s AS key FROM %6$s AS r CROSS JOIN LATERAL %2$s.bloom_model_keys(%4$L, jsonb_object(%5$L, %3$s), %7$s) AS k
            LEFT JOIN pg_temp.%1$s_w AS w ON w.key = (k.key & -64) | k.search WHERE NOT COALESCE(w.is_large, true)', split_part(job, '.', 2), own, texts, of_keys, names, rel, n_records, key_column);
    EXECUTE format('INSERT INTO %1$s_n SELECT r.%2$s FROM %1$s_s AS r EXCEPT SELECT key FROM %1$s_n', job, key_column);
    SELECT string_agg(format('r.%I', c), ', ' ORDER BY c) INTO columns FROM (SELECT DISTINCT c FROM unnest(names || key::text) AS c) AS c;
    EXECUTE format('CREATE TEMP TABLE %1$s_t ON COMMIT DROP AS SELECT %3$s FROM %2$s AS r JOIN pg_temp.%1$s_n AS n ON n.key = r.%4$s', split_part(job, '.', 2), rel, columns, key_column);
    EXECUTE format('CREATE TEMP TABLE %1$s_l ON COMMIT DROP AS SELECT key FROM pg_temp.%1$s_w WHERE is_large', split_part(job, '.', 2));
    EXECUTE format('CREATE TEMP TABLE %1$s_d ON COMMIT DROP AS SELECT format(''%%s'', r.%2$s) AS key FROM pg_temp.%1$s_s AS r', split_part(job, '.', 2), key_column);
    SELECT array_agg(format('%s:%s%s', f ->> 'name', f ->> 'kind', '(' || (f ->> 'reading') || ')') ORDER BY n),
        array_agg((f ->> 'name')::name ORDER BY n) FILTER (WHERE (f ->> 'personal')::boolean) INTO fields, personal FROM jsonb_array_elements(model -> 'fields') WITH ORDINALITY AS x (f, n);
    searches := model -> 'searches';
    EXECUTE format('SELECT %s.bloom_model_fit($1, $2, $3, COALESCE($4, ''{}''), options => $5)', own) INTO model
        USING (job || '_t')::regclass, key, fields, personal, jsonb_build_object('records', n_records, 'sample', job || '_d', 'searches', cheap, 'large', job || '_l');
    -- Of searches whose blocks are not all there, the sample by itself has said what they bring.
    SELECT jsonb_agg(s ORDER BY part, n) INTO searches FROM (
        SELECT s, n, 1 AS part FROM jsonb_array_elements(model -> 'searches') WITH ORDINALITY AS x (s, n) WHERE NOT s ? 'equal' OR EXISTS (SELECT FROM jsonb_array_elements(cheap) AS c WHERE c -> 'equal' = s -> 'equal' AND c -> 'most' = s -> 'most')
        UNION ALL SELECT s, n, 2 FROM jsonb_array_elements(searches) WITH ORDINALITY AS x (s, n) WHERE s ? 'equal' AND NOT EXISTS (SELECT FROM jsonb_array_elements(cheap) AS c WHERE c -> 'equal' = s -> 'equal' AND c -> 'most' = s -> 'most')
        LIMIT 60) AS s;
    EXECUTE format('DROP TABLE %1$s_s, %1$s_k, %1$s_w, %1$s_n, %1$s_t, %1$s_l, %1$s_d', job);
    RETURN jsonb_set(model, '{searches}', searches) || jsonb_build_object('left_out', left_out);
END
$$;
COMMENT ON FUNCTION bloom_citus_model_fit(regclass, name, text[], name[], regclass, bigint) IS
    'a match model, learned from the records of a distributed table: from all, or from a sample and what has something in common with it';

-- A guard over all shards of a distributed table. Rows are entered through a table that is always empty, the entry: its trigger puts a row where it belongs, and then
-- asks every shard for similar ones, by the search of bloom_guard, which sees rows that are not committed and waits for their transactions, also for prepared ones.
-- So of two similar rows the one whose search begins later finds the other, on whatever nodes they were entered. So that two sessions of one node do not both wait
-- for each other, each first has its turn: an exclusion constraint of signatures that are being entered, on a table that no row stays in either.
-- A table of one row for each shard, in the same place, is what a query goes through to reach all shards at once, in the transaction of the row.

-- What the trigger runs with the rights of the table's owner: code of the table that belongs to neither the owner nor a superuser would run as somebody else.
CREATE FUNCTION _bloom_citus_check_code(rel regclass, owner oid) RETURNS void STABLE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    other record;
    trusted oid[] := ARRAY(SELECT oid FROM pg_roles WHERE rolsuper OR oid = owner);
BEGIN
    SELECT a.attname, format_type(t.oid, NULL) AS shown INTO other FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
        WHERE a.attrelid = rel AND a.attnum > 0 AND NOT a.attisdropped AND t.typtype <> 'e' AND t.typowner <> ALL (trusted) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = '0A000', MESSAGE = format('column "%s" of relation "%s" is of type %s, which is somebody else''s', other.attname, rel, other.shown),
            DETAIL = 'A guard enters rows with the rights of the table''s owner, and nobody else''s checks are to run with them.', HINT = 'Give the type to the table''s owner, or take one of PostgreSQL.';
    END IF;
    SELECT pg_describe_object(d.refclassid, d.refobjid, 0) AS shown INTO other FROM pg_depend AS d
        WHERE (d.refclassid = 'pg_proc'::regclass AND EXISTS (SELECT FROM pg_proc WHERE oid = d.refobjid AND proowner <> ALL (trusted))
                OR d.refclassid = 'pg_operator'::regclass AND EXISTS (SELECT FROM pg_operator WHERE oid = d.refobjid AND oprowner <> ALL (trusted))
                OR d.refclassid = 'pg_type'::regclass AND EXISTS (SELECT FROM pg_type WHERE oid = d.refobjid AND typtype <> 'e' AND typowner <> ALL (trusted))) AND (
            d.classid = 'pg_attrdef'::regclass AND d.objid IN (SELECT oid FROM pg_attrdef WHERE adrelid = rel)
            OR d.classid = 'pg_constraint'::regclass AND d.objid IN (SELECT oid FROM pg_constraint WHERE conrelid = rel)
            OR d.classid = 'pg_trigger'::regclass AND d.objid IN (SELECT oid FROM pg_trigger WHERE tgrelid = rel)
            OR d.classid = 'pg_class'::regclass AND d.objid IN (SELECT indexrelid FROM pg_index WHERE indrelid = rel)) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = '0A000', MESSAGE = format('relation "%s" uses %s, which is somebody else''s', rel, other.shown),
            DETAIL = 'A guard enters rows with the rights of the table''s owner, and nobody else''s functions are to run with them.', HINT = 'Give it to the table''s owner.';
    END IF;
END
$$;
COMMENT ON FUNCTION _bloom_citus_check_code(regclass, oid) IS 'an error if entering a row of a table would run functions that belong to neither its owner nor a superuser';

-- A table with a row for each shard of another, in the same place, by which a query reaches all of them.
CREATE FUNCTION _bloom_citus_shard_table(rel regclass, name text) RETURNS void VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    key record;
    made text;
    shards bigint[] := ARRAY(SELECT shardid FROM pg_dist_shard WHERE logicalrelid = rel ORDER BY shardid);
    found_keys text[];
BEGIN
    SELECT a.attname, t.typcategory, t.oid AS type, format_type(t.oid, NULL) AS shown, a.attcollation INTO key
        FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid WHERE a.attrelid = rel AND a.attname = column_to_column_name(rel, (SELECT partkey FROM pg_dist_partition WHERE logicalrelid = rel));
    PERFORM @extschema@._bloom_citus_column(rel, key.attname);
    -- An enum's owner may make casts from text; without its length, character has one byte.
    key.shown := CASE WHEN key.type = 'bpchar'::regtype THEN 'bpchar' ELSE key.shown END;
    made := CASE WHEN key.type = 'uuid'::regtype THEN 'md5(n::text)' WHEN key.typcategory = 'D' THEN '(date ''2000-01-01'' + n)::text' ELSE 'n::text' END;
    IF key.type < 16384 THEN
        BEGIN
            EXECUTE format('SELECT array_agg(k.value ORDER BY k.shardid) FROM (SELECT get_shard_id_for_distribution_column($1, v.value::%s) AS shardid, min(v.value) AS value
                FROM (SELECT %s AS value FROM generate_series(1, 100 + 40 * cardinality($2)) AS n) AS v GROUP BY 1) AS k', key.shown, made) INTO found_keys USING rel, shards;
        EXCEPTION WHEN data_exception THEN
            NULL;
        END;
    END IF;
    IF cardinality(found_keys) IS DISTINCT FROM cardinality(shards) THEN
        RAISE EXCEPTION USING ERRCODE = '0A000', MESSAGE = format('no value of type %s is known for each shard of relation "%s"', key.shown, rel),
            HINT = 'Distribute the table by a column of an integer type, text or uuid.';
    END IF;
    EXECUTE format('CREATE TABLE %s (key %s%s PRIMARY KEY, shard text NOT NULL)', name, key.shown,
        (SELECT format(' COLLATE %I.%I', n.nspname, c.collname) FROM pg_collation AS c JOIN pg_namespace AS n ON n.oid = c.collnamespace WHERE c.oid = key.attcollation));
    PERFORM create_distributed_table(name::regclass, 'key', colocate_with => rel::text);
    EXECUTE format('INSERT INTO %s SELECT k::%s, s FROM unnest($1::text[], $2::text[]) AS u (k, s)', name, key.shown) USING found_keys,
        (SELECT array_agg(format('%I.%I', n.nspname, s.parts[cardinality(s.parts)]) ORDER BY u.id) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace,
            unnest(shards) AS u (id), LATERAL parse_ident(shard_name(rel, u.id)) AS s (parts) WHERE c.oid = rel);
END
$$;
COMMENT ON FUNCTION _bloom_citus_shard_table(regclass, text) IS 'makes a table with a row for each shard of another, in the same place';

CREATE TYPE bloom_citus_similar AS (key text, similarity float8);
COMMENT ON TYPE bloom_citus_similar IS 'a row of bloom_guard_search, which comes from a shard as text: that takes less to plan than a set of rows';

-- The function of one table that puts a row where it belongs, and says what is wrong with it: the statements are fixed, so that their plans are kept. It runs with the rights
-- of the table's owner, since whoever enters rows has none on the table, or could go round the guard; it runs nothing but the checks and generated columns of the table, which
-- are the owner's. What a row has without being told, defaults, is the entry's, and runs as whoever enters it. Who the row is similar to is told only to those who may read the table.
CREATE FUNCTION _bloom_citus_guard_body(rel regclass, signature name, threshold float8, action text, entry text, turn text, shards text) RETURNS text STABLE LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    of_table record;
    of_key record;
    said jsonb;
BEGIN
    SELECT c.relname, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS names, string_agg(format('NEW.%I', a.attname), ', ' ORDER BY a.attnum) AS new INTO of_table
        FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid WHERE c.oid = rel AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' GROUP BY c.relname;
    SELECT CASE count(*) WHEN 1 THEN min(format('NEW.%I', a.attname)) ELSE format('ROW(%s)', string_agg(format('NEW.%I', a.attname), ', ' ORDER BY k.n)) END || '::text' AS text,
        string_agg(a.attname, ', ' ORDER BY k.n) AS names, string_agg(format('t.%1$I = NEW.%1$I', a.attname), ' AND ' ORDER BY k.n) AS is_new, count(*) AS n INTO of_key
        FROM pg_index AS i, unnest(i.indkey[0:i.indnkeyatts - 1]) WITH ORDINALITY AS k (attnum, n) JOIN pg_attribute AS a ON a.attnum = k.attnum
        WHERE i.indrelid = rel AND i.indisprimary AND a.attrelid = rel;
    said := jsonb_build_object('own', @extschema@._bloom_citus_schema(), 'rel', rel, 'entry', entry, 'turn', turn, 'shards', shards, 'columns', of_table.names, 'new_columns', of_table.new,
        'signature', quote_ident(signature), 'signature_name', quote_literal(signature), 'threshold', threshold, 'new_key', of_key.text,
        'rel_oid', format('%L::regclass', rel), 'shards_known', format('%L::bigint[]', ARRAY(SELECT shardid FROM pg_dist_shard WHERE logicalrelid = rel ORDER BY shardid)),
        'tables', format('%L::regclass, %L::regclass, %L::regclass, %L::regclass', rel, entry, turn, shards), 'relation', quote_literal(format('relation "%s"', of_table.relname)),
        'turn_is_used', quote_literal(format('relation "%s" is not empty', turn)), 'key_is', quote_literal(format('key (%s)=%s', of_key.names, CASE of_key.n WHEN 1 THEN '(' ELSE '' END)),
        'key_ends', quote_literal(CASE of_key.n WHEN 1 THEN ')' ELSE '' END),
        'skip', CASE action WHEN 'skip' THEN format('DELETE FROM %s AS t WHERE %s;', rel, of_key.is_new) ELSE '' END);
    -- What is between braces is put in, all at once.
    RETURN (SELECT string_agg(CASE WHEN n % 2 = 1 THEN piece ELSE said ->> piece END, '' ORDER BY n) FROM regexp_split_to_table($body$
#variable_conflict use_column
DECLARE
    _place tid;
    _own text := {new_key};
    _signature text;
    _other record;
    _similar @extschema@.bloom_citus_similar;
    _keys text[];
    _similarities float8[];
    _says text;
BEGIN
    IF EXISTS (SELECT FROM pg_class AS c WHERE c.oid IN ({tables}) AND pg_get_userbyid(c.relowner) <> current_user) THEN
        RAISE EXCEPTION USING ERRCODE = '55000', MESSAGE = {relation} || ', or a table of its guard, does not belong to the owner of the guard''s functions',
            DETAIL = 'The guard enters rows with the rights of that owner, and nobody else''s checks and triggers are to run with them.',
            HINT = 'Drop the guard by bloom_citus_guard_drop, and create it again.';
    END IF;
    IF {shards_known} IS DISTINCT FROM ARRAY(SELECT s.shardid FROM pg_dist_shard AS s WHERE s.logicalrelid = {rel_oid} ORDER BY s.shardid) THEN
        RAISE EXCEPTION USING ERRCODE = '55000', MESSAGE = {relation} || ' has other shards than its guard knows',
            HINT = 'Drop the guard by bloom_citus_guard_drop, and create it again.';
    END IF;
    IF NEW.{signature} IS NOT NULL THEN
        INSERT INTO {turn} AS t VALUES (NEW.{signature}) ON CONFLICT DO NOTHING RETURNING t.ctid INTO _place;
        IF _place IS NULL THEN
            RAISE EXCEPTION USING ERRCODE = '55000', MESSAGE = {turn_is_used}, HINT = 'Nothing but the guard writes to it: empty it.';
        END IF;
        DELETE FROM {turn} AS t WHERE t.ctid = _place;
    END IF;
    INSERT INTO {rel} ({columns}) OVERRIDING SYSTEM VALUE VALUES ({new_columns}) RETURNING {signature}::text INTO _signature;
    IF _signature IS DISTINCT FROM NEW.{signature}::text THEN
        RAISE EXCEPTION USING ERRCODE = '55000', MESSAGE = {relation} || ' makes another signature than its guard',
            HINT = 'Drop the guard by bloom_citus_guard_drop, and create it again.';
    END IF;
    IF NEW.{signature} IS NOT NULL THEN
        FOR _other IN SELECT {own}.bloom_guard_search(s.shard::regclass, {signature_name}, NEW.{signature}, {threshold}::float8, _own)::text AS found FROM {shards} AS s LOOP
            _similar := _other.found;
            _keys := _keys || _similar.key;
            _similarities := _similarities || _similar.similarity;
        END LOOP;
    END IF;
    DELETE FROM {entry} AS e WHERE e.ctid = $2;
    IF _keys IS NULL THEN
        RETURN NULL;
    END IF;
    {skip}
    SELECT string_agg({key_is} || u.key || {key_ends} || ' is ' || round(u.similarity::numeric, 4), ', to ' ORDER BY u.similarity DESC, u.key COLLATE "C") INTO _says
        FROM (SELECT v.key, v.similarity FROM unnest(_keys, _similarities) AS v (key, similarity) WHERE v.key IS NOT NULL ORDER BY v.similarity DESC, v.key COLLATE "C" LIMIT 5) AS u;
    RETURN CASE WHEN NOT has_table_privilege(COALESCE(NULLIF(current_setting('role'), 'none'), session_user), {rel_oid}, 'SELECT') OR (SELECT c.relrowsecurity FROM pg_class AS c WHERE c.oid = {rel_oid})
            THEN 'The similar rows are not shown, since the current user may not read them.'
        WHEN _says IS NULL THEN 'A transaction in progress has entered a similar row, and waits for this one.'
        ELSE 'Similarity to ' || _says || CASE WHEN cardinality(_keys) > 5 THEN '; more are similar.' ELSE '.' END END;
END
$body$, '[{}]') WITH ORDINALITY AS p (piece, n));
END
$$;
COMMENT ON FUNCTION _bloom_citus_guard_body(regclass, name, float8, text, text, text, text) IS 'the body of the function that enters a row of a guard';

CREATE FUNCTION bloom_citus_guard_create(rel regclass, signature name, threshold float8, action text, entry name DEFAULT NULL) RETURNS regclass
    VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on SET citus.use_citus_managed_tables = off AS $$
DECLARE
    info record;
    column_info record;
    is_coordinator boolean := (SELECT groupid = 0 FROM pg_dist_local_group);
    made text;
    turn text;
    shards text;
    checks text;
    enters text;
    propagates text := current_setting('citus.enable_ddl_propagation');
    others text;
    left_over text;
    mode text;
BEGIN
    PERFORM @extschema@._bloom_citus_check_table(rel, true);
    PERFORM @extschema@._bloom_citus_column(rel, signature, true);
    IF threshold IS NULL OR NOT threshold > 0 OR threshold > 1 THEN
        RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('threshold = %s is out of range', COALESCE(threshold::text, 'NULL')), DETAIL = 'It is above 0 and at most 1.';
    ELSIF action IS NULL OR action NOT IN ('reject', 'warn', 'skip') THEN
        RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('action "%s" is not known', COALESCE(action, 'NULL')), DETAIL = 'It is reject, warn or skip.';
    END IF;
    SELECT c.relname, c.relowner, c.relrowsecurity, c.relforcerowsecurity, n.nspname, r.rolname, r.rolcanlogin INTO info
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_roles AS r ON r.oid = c.relowner WHERE c.oid = rel;
    IF NOT pg_has_role(info.relowner, 'USAGE') THEN
        RAISE EXCEPTION USING ERRCODE = '42501', MESSAGE = format('must be owner of table %s', info.relname);
    ELSIF NOT info.rolcanlogin THEN
        RAISE EXCEPTION USING ERRCODE = '55000', MESSAGE = format('role "%s", which owns relation "%s", is not permitted to log in', info.rolname, info.relname),
            DETAIL = 'The guard enters rows as that role, and Citus logs in to the workers for it.', HINT = 'Give the table to a role that may log in.';
    ELSIF info.relforcerowsecurity THEN
        RAISE EXCEPTION USING ERRCODE = '0A000', MESSAGE = format('row-level security of relation "%s" is forced upon its owner', info.relname),
            DETAIL = 'The guard must find all rows.', HINT = 'ALTER TABLE … NO FORCE ROW LEVEL SECURITY.';
    ELSIF NOT EXISTS (SELECT FROM pg_index WHERE indrelid = rel AND indisprimary) THEN
        RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('relation "%s" has no primary key', info.relname), DETAIL = 'The guard names rows by their primary keys.', HINT = 'Add a primary key.';
    END IF;
    -- A row does not find itself, by the text of its key: that must be the same on all nodes, whatever their settings for dates, numbers and bytes.
    SELECT a.attname, format_type(a.atttypid, NULL) AS shown INTO column_info FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = rel AND a.attnum = ANY (i.indkey[0:i.indnkeyatts - 1]) JOIN pg_type AS t ON t.oid = a.atttypid
        WHERE i.indrelid = rel AND i.indisprimary AND t.typtype <> 'e' AND t.oid <> ALL ('{int2,int4,int8,numeric,text,varchar,bpchar,name,uuid,bool,oid}'::regtype[]);
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = '0A000', MESSAGE = format('column "%s" of the primary key of relation "%s" is of type %s', column_info.attname, info.relname, column_info.shown),
            DETAIL = 'The guard names rows by their primary keys, of types whose text is the same with all settings.', HINT = 'Take a primary key of an integer type, numeric, text or uuid.';
    END IF;
    PERFORM @extschema@._bloom_citus_check_code(rel, info.relowner);
    PERFORM @extschema@._bloom_citus_check_name('entry', entry, info.nspname);
    entry := COALESCE(entry, info.relname || '_entry');
    IF octet_length(entry) > 56 THEN
        RAISE EXCEPTION USING ERRCODE = '42622', MESSAGE = format('"%s" is too long for the name of an entry', entry), DETAIL = 'What belongs to it has longer names yet.',
            HINT = 'Give the entry a name of at most 56 bytes.';
    END IF;
    made := format('%I.%I', info.nspname, entry);
    turn := format('%I.%I', info.nspname, entry || '_turn');
    shards := format('%I.%I', info.nspname, entry || '_shards');
    checks := format('%I.%I', info.nspname, entry || '_guard');
    enters := format('%I.%I', info.nspname, entry || '_enter');
    left_over := (SELECT t FROM unnest(ARRAY[made, turn, CASE WHEN is_coordinator THEN shards END]) WITH ORDINALITY AS u (t, n) WHERE to_regclass(t) IS NOT NULL ORDER BY n LIMIT 1);
    IF left_over IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = '42P07', MESSAGE = format('relation "%s" already exists', left_over), DETAIL = 'If it belongs to a guard, that is there already, or has been dropped in part.',
            HINT = format('Drop the guard, by SELECT bloom_citus_guard_drop(%L), or give the entry another name.', left_over);
    END IF;
    IF NOT EXISTS (SELECT FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_am AS m ON m.oid = c.relam JOIN pg_attribute AS a ON a.attrelid = rel AND a.attnum = ANY (i.indkey)
            WHERE i.indrelid = rel AND m.amname = 'sigfile' AND a.attname = signature AND i.indpred IS NULL) THEN
        RAISE WARNING USING ERRCODE = '01000', MESSAGE = format('relation "%s" has no sigfile index on column "%s"', info.relname, signature), DETAIL = 'For each row that is entered the guard reads all rows.',
            HINT = format('CREATE INDEX ON %s USING sigfile (%I);', rel, signature);
    END IF;
    -- Not by several connections: a table with a long name would wait for itself, since Citus shortens the names of its shards, and locks what it has shortened.
    IF is_coordinator THEN
        PERFORM @extschema@._bloom_citus_check_workers();
        mode := current_setting('citus.multi_shard_modify_mode');
        PERFORM set_config('citus.multi_shard_modify_mode', CASE WHEN octet_length(entry) > 40 THEN 'sequential' ELSE mode END, true);
        PERFORM @extschema@._bloom_citus_shard_table(rel, shards);
        PERFORM set_config('citus.multi_shard_modify_mode', mode, true);
        EXECUTE format('ALTER TABLE %s OWNER TO %I', shards, info.rolname);
    ELSIF NOT EXISTS (SELECT FROM pg_dist_partition AS s, pg_dist_partition AS r WHERE s.logicalrelid = to_regclass(shards) AND r.logicalrelid = rel AND s.colocationid = r.colocationid) THEN
        RAISE EXCEPTION USING ERRCODE = '55000', MESSAGE = format('relation "%s" has no guard on the coordinator', info.relname),
            DETAIL = format('There is no table %s.', shards), HINT = 'Create the guard there first, with the same entry, and then here.';
    END IF;
    -- What follows is of this node alone.
    PERFORM set_config('citus.enable_ddl_propagation', 'off', true);
    EXECUTE format('CREATE UNLOGGED TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING GENERATED) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)', made, rel);
    FOR column_info IN SELECT a.attname, pg_get_serial_sequence(rel::text, a.attname) AS sequence FROM pg_attribute AS a WHERE a.attrelid = rel AND a.attidentity <> '' AND NOT a.attisdropped LOOP
        EXECUTE format('ALTER TABLE %s ALTER %I SET DEFAULT nextval(%L)', made, column_info.attname, column_info.sequence);
    END LOOP;
    EXECUTE format('CREATE UNLOGGED TABLE %1$s (signature %2$s.bloom NOT NULL, EXCLUDE USING sigfile ((%2$s.bloom_query(signature, %3$L::pg_catalog.float8)) WITH OPERATOR(%2$s.%%))) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)',
        turn, @extschema@._bloom_citus_schema(), threshold);
    -- Citus begins no transaction on the workers for what a trigger does, but for what a function that is called from a query does, which an assignment is not; so there are
    -- two of them. With one connection to each worker no second one is made for the search, which would cost more than the search.
    EXECUTE format('CREATE FUNCTION %s(new %s, _entered tid) RETURNS text VOLATILE LANGUAGE plpgsql AS %L', enters, made,
        @extschema@._bloom_citus_guard_body(rel, signature, threshold, action, made, turn, shards));
    -- The statements that Citus sends name types without their schemas, and have strings as they are written with standard_conforming_strings = on. Whoever enters rows can
    -- have changed both on the workers, within the transaction, by SET LOCAL and citus.propagate_set_commands, also for the connections of the owner, and what they would
    -- mean then runs with the owner's rights. So both are set once more there, by the same setting of Citus, which sends nothing outside of transactions of several statements.
    EXECUTE format('CREATE FUNCTION %s() RETURNS trigger VOLATILE SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
        SET citus.function_opens_transaction_block = on SET citus.propagate_set_commands = local SET citus.max_adaptive_executor_pool_size = 1 SET plan_cache_mode = auto AS %L',
        checks, format($body$
DECLARE
    gone text := (SELECT string_agg(t, ', ') FROM unnest(%L::text[]) AS u (t) WHERE to_regclass(t) IS NULL);
    similar_to text;
BEGIN
    IF gone IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = '55000', MESSAGE = format('the guard of relation "%%s" does not find %%s', %2$L, gone),
            DETAIL = 'It knows its tables by their names. This one was dropped, renamed or moved to another schema.',
            HINT = format('Call bloom_citus_guard_drop(%%L), and create the guard again.', TG_RELID::regclass);
    END IF;
    SET LOCAL standard_conforming_strings = on;
    SET LOCAL search_path TO DEFAULT;
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    SELECT %3$s(NEW, NEW.ctid) INTO similar_to;
    IF similar_to IS NOT NULL THEN
        RAISE %4$s USING ERRCODE = %5$L, MESSAGE = %6$L, DETAIL = similar_to, %7$sSCHEMA = %8$L, TABLE = %2$L, CONSTRAINT = %9$L;
    END IF;
    RETURN NULL;
END
$body$, ARRAY[rel::text, made, turn, shards], info.relname, enters,
        CASE action WHEN 'reject' THEN 'EXCEPTION' WHEN 'warn' THEN 'WARNING' ELSE 'NOTICE' END, CASE action WHEN 'skip' THEN '00000' WHEN 'warn' THEN '01000' ELSE '23P85' END,
        format('new row for relation "%s" is %stoo similar to an existing row', info.relname, CASE action WHEN 'skip' THEN 'skipped: ' ELSE '' END),
        CASE action WHEN 'reject' THEN 'HINT = ''Use the existing row; if they are different, create the guard again with a higher threshold.'', ' ELSE '' END, info.nspname, entry || '_guard'));
    EXECUTE format('REVOKE ALL ON FUNCTION %s(), %s FROM PUBLIC', checks, enters);
    EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON %s FOR EACH ROW EXECUTE FUNCTION %s(%L)', entry || '_guard', made, checks, rel);
    EXECUTE format('ALTER TABLE %s OWNER TO %I', made, info.rolname);
    EXECUTE format('ALTER TABLE %s OWNER TO %I', turn, info.rolname);
    EXECUTE format('ALTER FUNCTION %s() OWNER TO %I', checks, info.rolname);
    EXECUTE format('ALTER FUNCTION %s OWNER TO %I', enters, info.rolname);
    PERFORM set_config('citus.enable_ddl_propagation', propagates, true);
    SELECT string_agg(DISTINCT COALESCE(r.rolname, 'PUBLIC'), ', ') INTO others FROM (
            SELECT c.relacl AS acl FROM pg_class AS c WHERE c.oid = rel
            UNION ALL SELECT a.attacl FROM pg_attribute AS a WHERE a.attrelid = rel AND NOT a.attisdropped AND (a.attname = signature OR a.attnum IN (
                SELECT d.refobjsubid FROM pg_depend AS d JOIN pg_attrdef AS e ON d.objid = e.oid JOIN pg_attribute AS s ON s.attrelid = e.adrelid AND s.attnum = e.adnum
                WHERE d.classid = 'pg_attrdef'::regclass AND d.refobjid = rel AND e.adrelid = rel AND s.attname = signature))) AS t,
            aclexplode(t.acl) AS x LEFT JOIN pg_roles AS r ON r.oid = x.grantee
        WHERE x.privilege_type IN ('INSERT', 'UPDATE') AND x.grantee <> info.relowner;
    IF others IS NOT NULL THEN
        RAISE WARNING USING ERRCODE = '01000', MESSAGE = format('roles that may write to relation "%s" itself go round its guard: %s', info.relname, others),
            HINT = format('REVOKE INSERT, UPDATE ON %s FROM them, and grant INSERT on %s, and UPDATE of columns of which no signature is made.', rel, made);
    END IF;
    SELECT string_agg(t.tgrelid::regclass::text, ', ' ORDER BY t.tgrelid::regclass::text) INTO others FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = t.tgfoid
        WHERE p.proname = t.tgname AND p.proname LIKE '%\_guard' AND t.tgargs = convert_to(rel::text, getdatabaseencoding()) || '\x00' AND t.tgrelid <> made::regclass;
    IF others IS NOT NULL THEN
        RAISE WARNING USING ERRCODE = '01000', MESSAGE = format('relation "%s" has another guard, by which rows are entered through %s', info.relname, others),
            DETAIL = 'A row is compared with all rows, whatever they were entered through, but only by the guard that it is entered through: by its column, its threshold and its action.',
            HINT = 'Grant INSERT on the entry that is to hold, and on the other one only to roles that may go round it.';
    END IF;
    IF info.relrowsecurity THEN
        RAISE WARNING USING ERRCODE = '01000', MESSAGE = format('policies of relation "%s" say nothing of rows that are entered by its guard', info.relname),
            HINT = format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, and create policies FOR INSERT there.', made);
    END IF;
    RETURN made::regclass;
END
$$;
COMMENT ON FUNCTION bloom_citus_guard_create(regclass, name, float8, text, name) IS
    'makes a table through which rows are entered into a distributed table, unless they are too similar to one of any shard';

CREATE FUNCTION bloom_citus_guard_drop(entry regclass) RETURNS void VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    guard record;
    propagates text := current_setting('citus.enable_ddl_propagation');
BEGIN
    IF entry IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'argument "entry" must not be null';
    END IF;
    -- A guard is known by the function of its trigger, which keeps its name when a table is renamed or moved. Of one without entry other tables may be there. Somebody else may have made
    -- a function like that, so that of the table's owner comes first, and other tables are dropped if they are of the function's owner.
    SELECT p.oid::regprocedure AS checks, p.proowner AS owner, t.tgrelid::regclass AS entry, g.enters, g.turn, g.shards INTO guard
        FROM pg_class AS c, pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace LEFT JOIN pg_trigger AS t ON t.tgfoid = p.oid AND t.tgname = p.proname, left(p.proname, -6) AS name,
            LATERAL (SELECT format('%I.%I', n.nspname, name || '_enter') AS enters, format('%I.%I', n.nspname, name || '_turn') AS turn, format('%I.%I', n.nspname, name || '_shards') AS shards) AS g
        WHERE c.oid = entry AND p.prorettype = 'trigger'::regtype AND p.pronargs = 0 AND p.proname LIKE '%\_guard' AND strpos(p.prosrc, format('.%I(NEW, NEW.ctid)', name || '_enter')) > 0
            AND (t.tgrelid = entry OR c.relnamespace = n.oid AND c.relname IN (name || '_turn', name || '_shards') AND c.relowner = p.proowner)
        ORDER BY p.proowner = c.relowner DESC, t.tgrelid = entry DESC, p.oid LIMIT 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = '42809', MESSAGE = format('relation "%s" is not the entry of a guard', entry), DETAIL = 'It has no such trigger.',
            HINT = 'Name the table that bloom_citus_guard_create has made, or, if that was dropped, the one with the same name and _turn or _shards after it.';
    END IF;
    PERFORM set_config('citus.enable_ddl_propagation', 'off', true);
    IF guard.entry IS NOT NULL THEN
        EXECUTE format('DROP FUNCTION IF EXISTS %s(%s, tid)', guard.enters, guard.entry);
        EXECUTE format('DROP TABLE %s', guard.entry);
    END IF;
    EXECUTE format('DROP FUNCTION %s', guard.checks);
    IF (SELECT relowner = guard.owner FROM pg_class WHERE oid = to_regclass(guard.turn)) THEN
        EXECUTE format('DROP TABLE %s', guard.turn);
    ELSE
        RAISE NOTICE 'the guard has no table %', guard.turn;
    END IF;
    PERFORM set_config('citus.enable_ddl_propagation', propagates, true);
    IF NOT (SELECT groupid = 0 FROM pg_dist_local_group) THEN
        RETURN;
    ELSIF (SELECT relowner = guard.owner FROM pg_class WHERE oid = to_regclass(guard.shards)) THEN
        EXECUTE format('DROP TABLE %s', guard.shards);
    ELSE
        RAISE NOTICE 'the guard has no table %', guard.shards;
    END IF;
END
$$;
COMMENT ON FUNCTION bloom_citus_guard_drop(regclass) IS 'drops what bloom_citus_guard_create has made on this node, by the table through which rows are entered';
