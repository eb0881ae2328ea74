-- What the file of each schema calls. It knows nothing of how bloom_merge works: rows are known by column "rid", which nothing redirects, and by the map from records that go to those that are kept.
-- Temporary tables are not there yet.
SET check_function_bodies = off;
CREATE SCHEMA harness;

-- Statements that put rows in; a row that its table does not take is left out.
CREATE PROCEDURE harness.fill(statements text[]) LANGUAGE plpgsql AS $$
DECLARE one text;
BEGIN
    FOREACH one IN ARRAY statements LOOP
        BEGIN
            EXECUTE one;
            SET CONSTRAINTS ALL IMMEDIATE;
            SET CONSTRAINTS ALL DEFERRED;
        EXCEPTION WHEN integrity_constraint_violation THEN
            NULL;
        END;
    END LOOP;
END $$;

-- A temporary table, since sessions run beside each other: the rows of a moment.
CREATE PROCEDURE harness.begin() LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE harness_state (moment text, name text, rid text, leaf text, contents jsonb);
    CREATE INDEX ON harness_state (moment, name, rid);
    CREATE TEMP TABLE harness_map (moment text, cluster text, domain text, old text, new text);
END $$;

-- The columns of a table that the server does not compute, or all.
CREATE FUNCTION harness.columns(of regclass, computed boolean) RETURNS text[] LANGUAGE sql AS $$
    SELECT pg_catalog.array_agg(a.attname::text ORDER BY a.attnum) FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = of AND a.attnum > 0 AND NOT a.attisdropped AND (computed OR a.attgenerated = '')
$$;

-- All rows of a schema's tables, each value as text in settings that are always the same; the table of merges and that of clusters do not count.
CREATE FUNCTION harness.dump(of_schema text, at_moment text) RETURNS SETOF text LANGUAGE plpgsql
    SET datestyle = 'ISO' SET intervalstyle = 'postgres' SET extra_float_digits = 3 SET bytea_output = 'hex' SET timezone = 'UTC' SET search_path = pg_catalog SET lc_monetary = 'C'
    SET xmlbinary = 'base64' SET quote_all_identifiers = off SET enable_indexscan = off SET enable_bitmapscan = off SET enable_indexonlyscan = off SET row_security = off
AS $$
DECLARE
    one record;
    pairs text;
BEGIN
    DELETE FROM pg_temp.harness_state WHERE moment = at_moment;
    FOR one IN SELECT c.oid::regclass AS leaf, c.relname, (SELECT r.relname FROM pg_partition_ancestors(c.oid) AS p (oid) JOIN pg_class AS r ON r.oid = p.oid AND NOT r.relispartition) AS root
        FROM pg_class AS c WHERE c.relnamespace = of_schema::regnamespace AND c.relkind = 'r' AND c.relname !~ '^(merges|clusters)' ORDER BY c.relname COLLATE "C"
    LOOP
        SELECT string_agg(format('%L, CASE WHEN t.%I IS DISTINCT FROM NULL THEN format(''%%s'', t.%I) END', a, a, a), ', ') INTO pairs FROM unnest(harness.columns(one.leaf, true)) AS a;
        EXECUTE format('INSERT INTO pg_temp.harness_state SELECT %L, %L, t.rid::text, %L, jsonb_object(ARRAY[%s]::text[]) FROM ONLY %s AS t', at_moment, COALESCE(one.root, one.relname), one.relname, pairs, one.leaf);
    END LOOP;
    RETURN QUERY SELECT jsonb_build_object('table', s.name, 'rid', s.rid, 'leaf', s.leaf, 'row', s.contents)::text FROM pg_temp.harness_state AS s WHERE s.moment = at_moment
        ORDER BY s.name COLLATE "C", s.rid COLLATE "C", s.contents::text COLLATE "C";
END $$;

-- Which value of which column of the records becomes which: by the records that a plan keeps and deletes. domains are columns of the records that others refer to.
CREATE PROCEDURE harness.map(at_moment text, keyed text, domains text[], of_table text, plan text) LANGUAGE plpgsql AS $$
DECLARE domain text;
BEGIN
    FOREACH domain IN ARRAY domains LOOP
        EXECUTE format('INSERT INTO pg_temp.harness_map SELECT %1$L, d.cluster, %2$L, l.contents ->> %2$L, k.contents ->> %2$L
            FROM (SELECT * FROM %3$s) AS d JOIN (SELECT * FROM %3$s) AS w ON w.cluster = d.cluster AND w.action = ''keep'' AND d.action = ''delete''
            JOIN pg_temp.harness_state AS l ON l.moment = %1$L AND l.name = %4$L AND l.contents ->> %5$L = d.key
            JOIN pg_temp.harness_state AS k ON k.moment = %1$L AND k.name = %4$L AND k.contents ->> %5$L = w.key WHERE l.contents ->> %2$L IS NOT NULL', at_moment, domain, plan, of_table, keyed);
    END LOOP;
END $$;

-- A row as it is when all that it refers to is kept. referring: an object of columns and domains.
CREATE FUNCTION harness.redirected(at_moment text, contents jsonb, referring jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT contents || COALESCE((SELECT jsonb_object_agg(r.key, m.new) FROM jsonb_each_text(referring) AS r JOIN pg_temp.harness_map AS m
        ON m.moment = at_moment AND m.domain = r.value AND m.old = contents ->> r.key), '{}')
$$;

-- Tries to put rows of a moment into their table as they are when they are redirected; says of each whether the table takes it.
CREATE PROCEDURE harness.attempt(of_schema text, at_moment text, of_table text, referring jsonb, rids text[], INOUT refused text[], INOUT failed text[])
    LANGUAGE plpgsql AS $$
DECLARE
    one record;
    named text := format('%I.%I', of_schema, of_table);
    columns text;
    message text;
BEGIN
    SELECT string_agg(format('%I', a), ', ') INTO columns FROM unnest(harness.columns(named::regclass, false)) AS a;
    -- What is unique may be checked by a trigger, which does not fire for a replica.
    FOR one IN SELECT t.tgrelid::regclass AS place, t.tgname FROM pg_trigger AS t WHERE t.tgfoid = 'unique_key_recheck'::regproc AND t.tgenabled <> 'A'
        AND (t.tgrelid = named::regclass OR t.tgrelid IN (SELECT p.relid FROM pg_partition_tree(named) AS p)) LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', one.place, one.tgname);
    END LOOP;
    FOR one IN SELECT s.rid, s.leaf, harness.redirected(at_moment, s.contents, referring) AS contents FROM pg_temp.harness_state AS s
        WHERE s.moment = at_moment AND s.name = of_table AND s.rid = ANY (rids) ORDER BY s.rid COLLATE "C"
    LOOP
        BEGIN
            SET CONSTRAINTS ALL IMMEDIATE;
            EXECUTE format('INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM jsonb_populate_record(NULL::%s, $1) AS t', named, columns, columns, named) USING one.contents;
        EXCEPTION
            WHEN unique_violation OR exclusion_violation THEN
                refused := refused || one.rid;
            WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
                failed := failed || format('%s: %s %s', one.rid, SQLSTATE, message);
        END;
    END LOOP;
END $$;

-- Whether any row would collide: the records that go are taken out, all rows that refer to them, too, and these are put back one by one as they will be. Nothing is left of it.
-- Tables: of each its columns that refer. Without triggers and foreign keys.
CREATE FUNCTION harness.collisions(of_schema text, at_moment text, subject text, keyed text, tables jsonb) RETURNS text LANGUAGE plpgsql
    SET datestyle = 'ISO' SET intervalstyle = 'postgres' SET extra_float_digits = 3 SET bytea_output = 'hex' SET timezone = 'UTC' SET search_path = pg_catalog SET xmloption = content SET array_nulls = on
    SET session_replication_role = replica SET lc_monetary = 'C'
AS $$
DECLARE
    one record;
    taken jsonb := '{}';
    rids text[];
    refused text[];
    failed text[];
    result jsonb := '{"refused": {}, "failed": {}}';
BEGIN
    EXECUTE format('DELETE FROM %I.%I AS t WHERE EXISTS (SELECT FROM pg_temp.harness_map AS m WHERE m.moment = %L AND m.domain = %L AND m.old = format(''%%s'', t.%I))', of_schema, subject, at_moment, keyed, keyed);
    FOR one IN SELECT t.key, t.value FROM jsonb_each(tables) AS t LOOP
        SELECT array_agg(s.rid) INTO rids FROM pg_temp.harness_state AS s WHERE s.moment = at_moment AND s.name = one.key AND harness.redirected(at_moment, s.contents, one.value) <> s.contents
            AND NOT (one.key = subject AND EXISTS (SELECT FROM pg_temp.harness_map AS m WHERE m.moment = at_moment AND m.domain = keyed AND m.old = s.contents ->> keyed));
        CONTINUE WHEN rids IS NULL;
        taken := taken || jsonb_build_object(one.key, rids);
        EXECUTE format('DELETE FROM ONLY %I.%I WHERE rid::text = ANY ($1)', of_schema, one.key) USING rids;
        EXECUTE format('DELETE FROM %I.%I WHERE rid::text = ANY ($1) AND EXISTS (SELECT FROM pg_partition_tree(%L) AS p WHERE p.relid = tableoid)', of_schema, one.key, format('%I.%I', of_schema, one.key)) USING rids;
    END LOOP;
    FOR one IN SELECT t.key, t.value FROM jsonb_each(taken) AS t LOOP
        refused := '{}';
        failed := '{}';
        rids := ARRAY(SELECT jsonb_array_elements_text(one.value));
        CALL harness.attempt(of_schema, at_moment, one.key, tables -> one.key, rids, refused, failed);
        IF refused <> '{}' THEN result := jsonb_set(result, ARRAY['refused', one.key], to_jsonb(refused)); END IF;
        IF failed <> '{}' THEN result := jsonb_set(result, ARRAY['failed', one.key], to_jsonb(failed)); END IF;
    END LOOP;
    RAISE EXCEPTION USING ERRCODE = 'XY002', MESSAGE = result::text;
EXCEPTION WHEN SQLSTATE 'XY002' THEN
    RETURN SQLERRM;
END $$;

-- Of the rows that were dropped, those that their table would have taken as they would be now: they collide with nothing.
CREATE FUNCTION harness.needless(of_schema text, at_moment text, tables jsonb, dropped jsonb) RETURNS text LANGUAGE plpgsql
    SET datestyle = 'ISO' SET intervalstyle = 'postgres' SET extra_float_digits = 3 SET bytea_output = 'hex' SET timezone = 'UTC' SET search_path = pg_catalog SET xmloption = content SET array_nulls = on
    SET session_replication_role = replica SET lc_monetary = 'C'
AS $$
DECLARE
    one record;
    refused text[];
    failed text[];
    result jsonb := '{}';
BEGIN
    FOR one IN SELECT d.key, array_agg(r.rid) AS rids FROM jsonb_each(dropped) AS d, jsonb_array_elements_text(d.value) AS r (rid) GROUP BY d.key LOOP
        refused := '{}';
        failed := '{}';
        CALL harness.attempt(of_schema, at_moment, one.key, COALESCE(tables -> one.key, '{}'), one.rids, refused, failed);
        result := result || jsonb_build_object(one.key, ARRAY(SELECT unnest(one.rids) EXCEPT SELECT unnest(refused) EXCEPT SELECT split_part(unnest(failed), ':', 1)));
    END LOOP;
    RAISE EXCEPTION USING ERRCODE = 'XY002', MESSAGE = result::text;
EXCEPTION WHEN SQLSTATE 'XY002' THEN
    RETURN SQLERRM;
END $$;

-- The rows that an entry of the table of merges says were dropped, by table.
CREATE FUNCTION harness.dropped(of_schema text, since bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE result jsonb;
BEGIN
    EXECUTE format('SELECT COALESCE(jsonb_object_agg(q.name, q.rids), ''{}'') FROM (SELECT COALESCE((SELECT r.relname FROM pg_partition_ancestors(c.oid) AS p (oid) JOIN pg_class AS r ON r.oid = p.oid AND NOT r.relispartition), c.relname) AS name,
        jsonb_agg(m.old ->> ''rid'') AS rids FROM %I.merges AS m JOIN pg_class AS c ON c.oid = m.relation WHERE m.action = ''drop'' AND m.entry > $1 GROUP BY 1) AS q', of_schema) INTO result USING since;
    RETURN result;
END $$;
