
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
