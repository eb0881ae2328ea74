
-- All pairs of signatures over all shards of a distributed table. Two rows may be in different shards, so rows are spread once more: over the cells of a grid.
-- Each row is in one of B buckets, by the hash of its key, and each two buckets, also one and the same, have a cell in common, which is one shard. Cells are
-- compared by the jobs of bloom_ident, each on the node that has it.

-- The pairs of a cell, which is a shard of each of two tables, or one of the first alone; by their own names, on the node that has them. It has the rights of
-- whoever asks, who can read no more by it than without it.
CREATE FUNCTION _bloom_citus_cell(schema text, rel_a text, rel_b text, threshold float8, within name[], verify name, margin float8, OUT a text, OUT b text, OUT similarity float8)
    RETURNS SETOF record STABLE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF rel_b IS NULL THEN
        RETURN QUERY EXECUTE format('SELECT d.a, d.b, d.similarity FROM %s.bloom_duplicates($1::regclass, ''key'', ''sig'', $2, within => $3, verify => $4, margin => $5) AS d', schema)
            USING rel_a, threshold, within, verify, margin;
    ELSE
        RETURN QUERY EXECUTE format('SELECT d.a, d.b, d.similarity FROM %s.bloom_linkage($1::regclass, ''key'', ''sig'', $2::regclass, ''key'', ''sig'', $3, within => $4, verify => $5, margin => $6) AS d', schema)
            USING rel_a, rel_b, threshold, within, verify, margin;
    END IF;
END
$$;
COMMENT ON FUNCTION _bloom_citus_cell(text, text, text, float8, name[], name, float8) IS 'the pairs of one cell of a grid, on the node that has it';

-- So many buckets that there are three cells or more for each core that may run them, so that the work is even; every bucket moves each row once.
CREATE FUNCTION _bloom_citus_buckets(is_of_one boolean) RETURNS integer VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    cores integer;
    most integer := current_setting('citus.max_adaptive_executor_pool_size');
BEGIN
    SELECT sum(least(most, greatest(w.result::integer, 1))) INTO cores FROM run_command_on_workers('SELECT setting FROM pg_settings WHERE name = ''max_parallel_workers''') AS w WHERE w.success;
    cores := COALESCE(cores, 1);
    -- B (B + 1) / 2 cells, or B * B.
    RETURN least(ceil(CASE WHEN is_of_one THEN (sqrt(1 + 24 * cores) - 1) / 2 ELSE sqrt(3 * cores) END), 24);
END
$$;
COMMENT ON FUNCTION _bloom_citus_buckets(boolean) IS 'buckets of a grid, for the cores of all workers';

-- What a job asks for, checked before anything is moved: the columns of a side, as SQL writes them.
CREATE FUNCTION _bloom_citus_side(rel regclass, key name, signature name, others name[], OUT schema text, OUT key_column text, OUT key_type text, OUT columns text)
    STABLE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM @extschema@._bloom_citus_check_table(rel);
    key_column := @extschema@._bloom_citus_column(rel, key);
    columns := format('%s AS key, %s AS sig', key_column, @extschema@._bloom_citus_column(rel, signature, true));
    SELECT columns || COALESCE(string_agg(', ' || @extschema@._bloom_citus_column(rel, c), ''), '') INTO columns FROM unnest(others) AS c WHERE c IS NOT NULL;
    SELECT quote_ident(n.nspname) INTO schema FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = rel;
    SELECT format_type(atttypid, atttypmod) INTO key_type FROM pg_attribute WHERE attrelid = rel AND attname = key;
END
$$;
COMMENT ON FUNCTION _bloom_citus_side(regclass, name, name, name[]) IS 'the columns of a table that a job reads; an error if there is none';

CREATE FUNCTION _bloom_citus_check_arguments(threshold float8, pairs text, buckets integer) RETURNS void STABLE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF threshold IS NULL OR NOT threshold > 0 OR threshold > 1 THEN
        RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('threshold = %s is out of range', COALESCE(threshold::text, 'NULL')), DETAIL = 'It is above 0 and at most 1.';
    ELSIF buckets NOT BETWEEN 1 AND 64 THEN
        RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('buckets = %s is out of range', buckets), DETAIL = 'It is from 1 to 64; NULL stands for as many as serve the workers.';
    ELSIF pairs IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'argument "pairs" must not be null';
    ELSIF to_regclass(pairs) IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = '42P07', MESSAGE = format('relation "%s" already exists', pairs), HINT = 'Give the pairs another name, or drop it.';
    END IF;
    PERFORM @extschema@._bloom_citus_check_workers();
END
$$;
COMMENT ON FUNCTION _bloom_citus_check_arguments(float8, text, integer) IS 'an error if a threshold, a number of buckets or the name of a table of pairs cannot be';

-- Makes a grid, fills it, and has its cells compared: of one table (b_rel is NULL) each two of its buckets, of two tables each bucket of one with each of the other.
CREATE FUNCTION _bloom_citus_run(schema text, pairs text, buckets integer, a_rel regclass, a_key text, a_columns text, b_rel regclass, b_key text, b_columns text, key_type text,
        threshold float8, within name[], verify name, margin float8) RETURNS bigint VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    is_of_one boolean := b_rel IS NULL;
    cells integer := CASE WHEN b_rel IS NULL THEN buckets * (buckets + 1) / 2 ELSE buckets * buckets END;
    grid text := '_bloom_citus_' || left(md5(random()::text || clock_timestamp()), 12);
    cell text := format('%s.%I', schema, grid || '_cell');
    side_a text := format('%s.%I', schema, grid || '_a');
    side_b text := format('%s.%I', schema, grid || '_b');
    keys integer[];
    of_bucket text[];
    n_pairs bigint;
BEGIN
    EXECUTE format('CREATE TABLE %s (cell integer, rel_a text, rel_b text)', cell);
    EXECUTE format('CREATE TABLE %s AS SELECT 0 AS cell, %s FROM %s WITH NO DATA', side_a, a_columns, a_rel);
    EXECUTE format('CREATE TABLE %s AS SELECT 0 AS cell, %s FROM %s WITH NO DATA', side_b, COALESCE(b_columns, a_columns), COALESCE(b_rel, a_rel));
    EXECUTE format('CREATE TABLE %s (a text NOT NULL, b text NOT NULL, similarity float8 NOT NULL)', pairs);
    PERFORM create_distributed_table(cell::regclass, 'cell', shard_count => cells, colocate_with => 'none');
    PERFORM create_distributed_table(t::regclass, 'cell', colocate_with => cell) FROM unnest(ARRAY[side_a, side_b]) AS t;
    PERFORM create_distributed_table(pairs::regclass, 'a', colocate_with => 'none');
    -- A value of column cell for each shard.
    SELECT array_agg(k.key ORDER BY s.shardminvalue::integer) INTO keys FROM pg_dist_shard AS s JOIN (
        SELECT get_shard_id_for_distribution_column(cell::regclass, n) AS shardid, min(n) AS key FROM generate_series(0, 100 * cells) AS n GROUP BY 1) AS k USING (shardid);
    IF cardinality(keys) IS DISTINCT FROM cells THEN
        RAISE EXCEPTION USING ERRCODE = 'XX000', MESSAGE = format('%s of %s cells have no value', cells - COALESCE(cardinality(keys), 0), cells);
    END IF;
    EXECUTE format('INSERT INTO %s SELECT * FROM unnest($1::integer[], $2::text[], $3::text[])', cell) USING keys,
        (SELECT array_agg(format('%s.%I', schema, grid || '_a_' || shardid) ORDER BY shardminvalue::integer) FROM pg_dist_shard WHERE logicalrelid = side_a::regclass),
        (SELECT array_agg(CASE WHEN NOT is_of_one OR n > buckets THEN format('%s.%I', schema, grid || '_b_' || shardid) END ORDER BY n) FROM (
            SELECT shardid, row_number() OVER (ORDER BY shardminvalue::integer) AS n FROM pg_dist_shard WHERE logicalrelid = side_b::regclass) AS s);
    FOR side IN 1..2 LOOP
        -- In which cells each bucket is, as the first one and as the second one. Cells of one bucket alone, which have half of the work, come first, so that they
        -- go round the nodes.
        SELECT array_agg(b.cells_of ORDER BY b.bucket) INTO of_bucket FROM (
            SELECT bucket, string_agg(keys[c.n]::text, ',' ORDER BY c.n) FILTER (WHERE CASE side WHEN 1 THEN bucket = c.i ELSE bucket = c.j AND NOT c.is_alone END) AS cells_of
            FROM generate_series(0, buckets - 1) AS bucket, (
                SELECT i, j, is_of_one AND i = j AS is_alone, row_number() OVER (ORDER BY NOT (is_of_one AND i = j), i, j) AS n
                FROM generate_series(0, buckets - 1) AS i, LATERAL generate_series(CASE WHEN is_of_one THEN i ELSE 0 END, buckets - 1) AS j) AS c GROUP BY bucket) AS b;
        EXECUTE format($q$INSERT INTO %s SELECT c::integer, %s FROM %s AS r, LATERAL pg_catalog.unnest(pg_catalog.string_to_array(
            (%L::text[])[1 + COALESCE((pg_catalog.hashtextextended(r.%s::text, 0) & 2147483647) %% %s, 0)], ',')) AS c$q$,
            CASE side WHEN 1 THEN side_a ELSE side_b END, CASE side WHEN 1 THEN a_columns ELSE COALESCE(b_columns, a_columns) END,
            CASE side WHEN 1 THEN a_rel ELSE COALESCE(b_rel, a_rel) END, of_bucket,
            CASE side WHEN 1 THEN a_key ELSE COALESCE(b_key, a_key) END, buckets);
    END LOOP;
    EXECUTE format($q$INSERT INTO %1$s SELECT CASE WHEN %2$s THEN d.a ELSE d.b END, CASE WHEN %2$s THEN d.b ELSE d.a END, d.similarity
        FROM %3$s AS c, LATERAL @extschema@._bloom_citus_cell(%4$L, c.rel_a, c.rel_b, %5$L, %6$L, %7$L, %8$L) AS d$q$,
        pairs, CASE WHEN is_of_one THEN format('d.a::%1$s <= d.b::%1$s', key_type) ELSE 'true' END, cell, @extschema@._bloom_citus_schema(), threshold, within, verify, margin);
    GET DIAGNOSTICS n_pairs = ROW_COUNT;
    EXECUTE format('DROP TABLE %s, %s, %s', cell, side_a, side_b);
    RETURN n_pairs;
END
$$;
COMMENT ON FUNCTION _bloom_citus_run(text, text, integer, regclass, text, text, regclass, text, text, text, float8, name[], name, float8) IS 'the job of a grid of cells';

CREATE FUNCTION bloom_citus_duplicates(rel regclass, key name, signature name, threshold float8, pairs name, buckets integer DEFAULT NULL,
        within name[] DEFAULT NULL, verify name DEFAULT NULL, margin float8 DEFAULT NULL) RETURNS bigint
    VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    side record;
    result text;
BEGIN
    SELECT * INTO side FROM @extschema@._bloom_citus_side(rel, key, signature, within || verify) AS s;
    result := format('%s.%I', side.schema, pairs);
    PERFORM @extschema@._bloom_citus_check_arguments(threshold, result, buckets);
    RETURN @extschema@._bloom_citus_run(side.schema, result, COALESCE(buckets, @extschema@._bloom_citus_buckets(true)), rel, side.key_column, side.columns, NULL, NULL, NULL, side.key_type,
        threshold, within, verify, margin);
END
$$;
COMMENT ON FUNCTION bloom_citus_duplicates(regclass, name, name, float8, name, integer, name[], name, float8) IS
    'all pairs of rows of a distributed table whose signatures are similar, as bloom_duplicates gives them, in a distributed table of this name';

CREATE FUNCTION bloom_citus_linkage(a_rel regclass, a_key name, a_signature name, b_rel regclass, b_key name, b_signature name, threshold float8, pairs name,
        buckets integer DEFAULT NULL, within name[] DEFAULT NULL, verify name DEFAULT NULL, margin float8 DEFAULT NULL) RETURNS bigint
    VOLATILE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    a record;
    b record;
    result text;
BEGIN
    SELECT * INTO a FROM @extschema@._bloom_citus_side(a_rel, a_key, a_signature, within || verify) AS s;
    SELECT * INTO b FROM @extschema@._bloom_citus_side(b_rel, b_key, b_signature, within || verify) AS s;
    result := format('%s.%I', a.schema, pairs);
    PERFORM @extschema@._bloom_citus_check_arguments(threshold, result, buckets);
    RETURN @extschema@._bloom_citus_run(a.schema, result, COALESCE(buckets, @extschema@._bloom_citus_buckets(false)), a_rel, a.key_column, a.columns, b_rel, b.key_column, b.columns, NULL,
        threshold, within, verify, margin);
END
$$;
COMMENT ON FUNCTION bloom_citus_linkage(regclass, name, name, regclass, name, name, float8, name, integer, name[], name, float8) IS
    'all pairs of a row of one distributed table and a row of another whose signatures are similar, as bloom_linkage gives them, in a distributed table of this name';
