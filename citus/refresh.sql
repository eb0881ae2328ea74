
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
