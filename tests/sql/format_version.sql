-- Signatures and counting filters in a format that a newer version has stored: whoever reads one says so (0A000, with a hint), and does not call it damaged.
CREATE SCHEMA format_version;
SET search_path = format_version, public;
SET client_min_messages = error;

-- Values as a newer version would store them. No input path of this one takes such bytes; byteacat looks at none.
CREATE FUNCTION as_bloom(bytea, bytea) RETURNS bloom LANGUAGE internal IMMUTABLE STRICT AS 'byteacat';
CREATE FUNCTION as_query(bytea, bytea) RETURNS bloom_query LANGUAGE internal IMMUTABLE STRICT AS 'byteacat';
CREATE FUNCTION as_counting(bytea, bytea) RETURNS counting_bloom LANGUAGE internal IMMUTABLE STRICT AS 'byteacat';
CREATE TABLE newer (id int PRIMARY KEY, sig bloom, query bloom_query, filter counting_bloom);
INSERT INTO newer SELECT i, as_bloom('\x03', '\x02050003010000070000001f03'), as_query('\x03', '\x02050003010000070000001f03000000000000e03f'), as_counting('\x02', '\x020500030100000102000003') FROM generate_series(1, 2) AS i;

-- The error in full.
SELECT sig FROM newer;
SELECT query FROM newer;
SELECT filter FROM newer;

-- What a statement fails with.
CREATE FUNCTION refused(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    state text;
    message text;
    hint text;
BEGIN
    EXECUTE statement;
    RETURN 'not refused';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    RETURN concat(state, ' ', message, CASE WHEN hint <> '' THEN ', with a hint' END);
END $$;
-- Every function of the extension that takes a signature, a query or a counting filter: all say the same.
SELECT said, count(*) > 40 AS many, string_agg(call, E'\n' ORDER BY call) FILTER (WHERE said !~ '^0A000') AS calls
FROM (SELECT call, regexp_replace(refused(call), '(counting_)?bloom(_query)?', '…') AS said
    FROM pg_depend AS d JOIN pg_proc AS p ON p.oid = d.objid, LATERAL (
        SELECT format('SELECT %s(%s) FROM newer', proname, string_agg(CASE t::regtype::text
            WHEN 'bloom' THEN 'sig' WHEN 'bloom_query' THEN 'query' WHEN 'counting_bloom' THEN 'filter' WHEN 'bloom[]' THEN 'ARRAY[sig]'
            WHEN 'double precision' THEN '0.5' WHEN 'double precision[]' THEN '''{0.5}''::float8[]'
            WHEN 'text' THEN '''a''' WHEN 'text[]' THEN '''{a}''::text[]' WHEN 'boolean' THEN 'true' WHEN 'regclass' THEN '''newer''' WHEN 'name' THEN '''sig'''
            ELSE format('0::%s', t::regtype) END, ', ' ORDER BY n)) AS call FROM unnest(proargtypes::oid[]) WITH ORDINALITY AS a (t, n)) AS c
    WHERE d.refclassid = 'pg_extension'::regclass AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bloom_ident') AND d.classid = 'pg_proc'::regclass
        AND proargtypes::oid[] && '{bloom,bloom[],bloom_query,counting_bloom}'::regtype[]::oid[] AND NOT 'internal'::regtype = ANY (proargtypes::oid[])) AS f
GROUP BY 1;
-- Sketches, too.
CREATE FUNCTION as_minhash(bytea, bytea) RETURNS minhash LANGUAGE internal IMMUTABLE STRICT AS 'byteacat';
CREATE FUNCTION as_minhash_bits(bytea, bytea) RETURNS minhash_bits LANGUAGE internal IMMUTABLE STRICT AS 'byteacat';
CREATE FUNCTION as_minhash_query(bytea, bytea) RETURNS minhash_query LANGUAGE internal IMMUTABLE STRICT AS 'byteacat';
CREATE TABLE newer_sketch AS SELECT as_minhash('\x02', '\x000100000001020304') AS minima, as_minhash_bits('\x02', '\x00080000001f') AS bits,
    as_minhash_query('\x02', '\x00080000001f000000000000e03f') AS query FROM generate_series(1, 2);
SELECT said, count(*), string_agg(call, E'\n' ORDER BY call) FILTER (WHERE said !~ '^0A000') AS calls
FROM (SELECT call, refused(call) AS said
    FROM pg_depend AS d JOIN pg_proc AS p ON p.oid = d.objid, LATERAL (
        SELECT format('SELECT %s(%s) FROM newer_sketch', proname, string_agg(CASE t::regtype::text
            WHEN 'minhash' THEN 'minima' WHEN 'minhash_bits' THEN 'bits' WHEN 'minhash_query' THEN 'query'
            ELSE format('0::%s', t::regtype::text || CASE t WHEN 'boolean'::regtype THEN '::int::boolean' ELSE '' END) END, ', ' ORDER BY n)) AS call
        FROM unnest(proargtypes::oid[]) WITH ORDINALITY AS a (t, n)) AS c
    WHERE d.refclassid = 'pg_extension'::regclass AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bloom_ident') AND d.classid = 'pg_proc'::regclass
        AND proargtypes::oid[] && '{minhash,minhash_bits,minhash_query}'::regtype[]::oid[] AND NOT 'internal'::regtype = ANY (proargtypes::oid[])) AS f
GROUP BY 1 ORDER BY 1;

-- What sorts, reads a whole table or makes an index.
CREATE TABLE known (id int PRIMARY KEY, sig bloom);
INSERT INTO known SELECT i, bloom_signature(md5(i::text)) FROM generate_series(1, 3) AS i;
SELECT statement, refused(statement) FROM unnest(ARRAY[
    'SELECT * FROM newer ORDER BY sig', 'SELECT DISTINCT sig FROM newer', 'ANALYZE newer',
    'CREATE INDEX ON newer (sig)', 'CREATE INDEX ON newer USING hash (sig)',
    'CREATE INDEX ON newer USING sigfile (sig)', 'CREATE INDEX ON newer USING sigfile (query)',
    'CREATE INDEX ON newer USING gist (sig)', 'CREATE INDEX ON newer USING gist (query)',
    $$SELECT * FROM bloom_duplicates('newer', 'id', 'sig', 0.5)$$, $$SELECT * FROM bloom_linkage('newer', 'id', 'sig', 'known', 'id', 'sig', 0.5)$$,
    $$SELECT * FROM bloom_clusters('newer', 'id', 'sig', 0.5)$$, $$SELECT bloom_report('newer', 'id', 'sig', 0.5)$$,
    $$SELECT * FROM bloom_blocklist((SELECT sig FROM known LIMIT 1), 'newer', 'sig', 0.5)$$]) AS statement;

-- What puts such a row into an index or past a guard, and what searches with one.
CREATE FUNCTION refused_with(setup text, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text;
BEGIN
    EXECUTE setup;
    PERFORM set_config('enable_seqscan', 'off', true);
    said := refused(statement);
    -- Takes the setup back.
    RAISE SQLSTATE 'ABORT';
EXCEPTION WHEN SQLSTATE 'ABORT' THEN RETURN said;
END $$;
SELECT setup, statement, refused_with(setup, statement) FROM unnest(ARRAY[
    'CREATE INDEX ON known USING sigfile (sig)', 'CREATE INDEX ON known USING gist (sig)', $$SELECT bloom_guard_create('known', 'sig', 0.5, 'reject')$$]) AS setup, unnest(ARRAY[
    'INSERT INTO known SELECT id + 3, sig FROM newer', 'SELECT FROM known WHERE sig % (SELECT sig FROM newer LIMIT 1)', 'SELECT FROM known WHERE sig % (SELECT query FROM newer LIMIT 1)',
    'SELECT FROM known ORDER BY sig <-> (SELECT sig FROM newer LIMIT 1) LIMIT 1']) AS statement
WHERE setup ~ 'INDEX' OR statement ~ 'INSERT';

-- Bytes from outside: binary COPY, and the cast from bytea.
\getenv results PG_ABS_BUILDDIR
\set signature :results '/results/newer_signature.copy'
\set query :results '/results/newer_query.copy'
COPY (SELECT 1, '\x0302050003010000070000001f03'::bytea) TO :'signature' (FORMAT binary);
COPY (SELECT 1, '\x0302050003010000070000001f03000000000000e03f'::bytea) TO :'query' (FORMAT binary);
COPY newer (id, sig) FROM :'signature' (FORMAT binary);
SELECT refused(format('COPY newer (id, sig) FROM %L (FORMAT binary)', :'signature')) AS signature, refused(format('COPY newer (id, query) FROM %L (FORMAT binary)', :'query')) AS query,
    refused($$SELECT '\x0302050003010000070000001f03'::bytea::bloom$$) AS "cast", refused($$SELECT '\x7f02050003010000070000001f03'::bytea::bloom$$) AS last \gx

-- No version has the number 0 or the highest bit set: that is no newer one.
SELECT refused($$SELECT bloom_out(as_bloom('\x00', '\x02050003010000070000001f03'))$$) AS stored_0, refused($$SELECT bloom_out(as_bloom('\x81', '\x02050003010000070000001f03'))$$) AS stored_129,
    refused($$SELECT '\x0002050003010000070000001f03'::bytea::bloom$$) AS outside_0, refused($$SELECT '\x8102050003010000070000001f03'::bytea::bloom$$) AS outside_129 \gx
DROP SCHEMA format_version CASCADE;
