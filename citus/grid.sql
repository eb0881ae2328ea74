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
