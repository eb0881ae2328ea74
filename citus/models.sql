
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
