-- What an extension is, by definition: each row of each catalog that it has, whatever the catalog's columns are, with names in place of numbers; comments,
-- privileges, dependencies. Two databases have the same extension if this says the same: see tests/upgrade.test.sh. Takes psql's variable "extension".
\set QUIET on
\pset format unaligned
\pset tuples_only
-- Names with their schemas, whoever asks.
SET search_path = pg_catalog, pg_temp;

-- The name of an object, without the numbers that the server makes up.
CREATE FUNCTION pg_temp.named(class oid, object oid, part int) RETURNS text LANGUAGE sql AS $$
    SELECT regexp_replace(type || ' ' || identity, '(pg_toast_|ConstraintTrigger_[a-z]_)\d+', '\1', 'g') FROM pg_identify_object(class, object, part)
$$;

-- A row of a catalog as text: what refers to another catalog by its name, expressions as SQL, and nothing of files and statistics.
CREATE FUNCTION pg_temp.row_of(class regclass, number oid, selected text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    parts text[];
BEGIN
    SELECT array_agg(format('%L, ', attname) || CASE
        WHEN atttypid = 'pg_node_tree'::regtype AND attname = 'prosqlbody' THEN 'pg_get_function_sqlbody(oid)'
        WHEN atttypid = 'pg_node_tree'::regtype THEN format('pg_get_expr(%I, %s)', attname, coalesce((SELECT quote_ident(r.attname) FROM pg_attribute AS r
            WHERE r.attrelid = class AND r.attname IN ('adrelid', 'conrelid', 'polrelid', 'indrelid', 'tgrelid', 'ev_class')), '0'))
        WHEN pktable IS NULL THEN quote_ident(attname) || '::text'
        WHEN is_array THEN format('(SELECT string_agg(pg_temp.named(%s, o, 0), '', '' ORDER BY n) FROM unnest(%I::oid[]) WITH ORDINALITY AS u (o, n))', pktable::oid, attname)
        ELSE format('CASE WHEN %1$I <> 0 THEN pg_temp.named(%2$s, %1$I, 0) END', attname, pktable::oid)
    END ORDER BY attname COLLATE "C") INTO parts FROM pg_attribute
    LEFT JOIN pg_get_catalog_foreign_keys() AS k ON k.fktable = attrelid AND k.fkcols = ARRAY[attname::text] AND k.pkcols = '{oid}'
    WHERE attrelid = class AND attnum > 0 AND NOT attisdropped
        AND attname NOT IN ('oid', 'relfilenode', 'relpages', 'reltuples', 'relallvisible', 'relallfrozen', 'relfrozenxid', 'relminmxid', 'objoid', 'ev_action');
    RETURN QUERY EXECUTE format('SELECT jsonb_strip_nulls(jsonb_build_object(%s))::text FROM %s WHERE %s', array_to_string(parts, ', '), class, format(selected, number));
END $$;

CREATE TEMP TABLE object AS
WITH RECURSIVE member (class, number) AS (
    SELECT 'pg_extension'::regclass::oid, oid FROM pg_extension WHERE extname = :'extension'
    UNION
    SELECT d.classid, d.objid FROM member AS m JOIN pg_depend AS d ON (d.refclassid, d.refobjid) = (m.class, m.number)
        AND (d.deptype IN ('e', 'i') OR d.deptype = 'a' AND m.class <> 'pg_extension'::regclass AND d.classid NOT IN ('pg_extension'::regclass))
) SELECT class, number, pg_temp.named(class, number, 0) AS name FROM member;

-- Numbers that the server makes up, and versions of columns, which some builds of it note.
SELECT replace(regexp_replace(regexp_replace(line, 'pg_toast_[0-9]+', 'pg_toast_', 'g'), '"attoptions": "\{pg_attver=[0-9]+\}", ', ''), E'\n', ' ') FROM (
SELECT name || ': ' || r AS line FROM object, pg_temp.row_of(class, number, 'oid = %s') AS r
UNION ALL SELECT name || ' column: ' || r FROM object, pg_temp.row_of('pg_attribute', number, 'attrelid = %s') AS r WHERE class = 'pg_class'::regclass
UNION ALL SELECT name || ' index: ' || r || pg_get_indexdef(number) FROM object, pg_temp.row_of('pg_index', number, 'indexrelid = %s') AS r WHERE class = 'pg_class'::regclass
UNION ALL SELECT name || ' sequence: ' || r FROM object, pg_temp.row_of('pg_sequence', number, 'seqrelid = %s') AS r WHERE class = 'pg_class'::regclass
UNION ALL SELECT name || ' rule: ' || pg_get_ruledef(number) FROM object WHERE class = 'pg_rewrite'::regclass
UNION ALL SELECT name || ' comment on part ' || objsubid || ': ' || description FROM object JOIN pg_description ON (classoid, objoid) = (class, number)
UNION ALL SELECT name || ' first privileges: ' || privtype::text || ' ' || initprivs::text FROM object JOIN pg_init_privs ON (classoid, objoid) = (class, number)
UNION ALL SELECT name || ' part ' || objsubid || ' depends by ' || deptype::text || ' on ' || pg_temp.named(refclassid, refobjid, refobjsubid)
    FROM object JOIN pg_depend ON (classid, objid) = (class, number)
UNION ALL SELECT name || ' dumps: ' || relation::regclass || ' ' || condition FROM object JOIN pg_extension ON oid = number, unnest(extconfig, extcondition) AS u (relation, condition) WHERE class = 'pg_extension'::regclass
) AS lines ORDER BY line COLLATE "C";
