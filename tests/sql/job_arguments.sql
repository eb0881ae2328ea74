-- Jobs refuse what would give no answer, or a wrong one: NULL for an argument, and a key that several records have.
CREATE TABLE a (id int, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
INSERT INTO a VALUES (1, 'anna meier'), (2, 'anna maier'), (3, 'otto huber');
CREATE TABLE pairs AS SELECT * FROM bloom_duplicates('a', 'id', 'sig', 0.3);
CREATE TABLE truth AS SELECT id AS key, id / 3 AS cluster FROM a;
CREATE VIEW truth_keys AS SELECT key::text, cluster FROM truth;
CREATE VIEW some_keys AS SELECT id::text AS key FROM a WHERE id = 2;
CREATE FUNCTION raised(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE state text; message text; hint text; n bigint;
BEGIN
    EXECUTE 'SELECT count(*) FROM (' || query || ') AS q' INTO n;
    RETURN n || ' rows';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' | ', state, message, nullif(hint, ''));
END $$;

-- NULL for each argument of each job that has no default
CREATE TABLE job (call text, arguments text[]);
INSERT INTO job VALUES
    ('bloom_duplicates', '{"''a''::regclass",''id''::name,''sig''::name,0.3::float8}'),
    ('bloom_duplicates', '{"''a''::regclass",''id''::name,"ARRAY[''sig'']::name[]","ARRAY[1]::float8[]",0.3::float8}'),
    ('bloom_linkage', '{"''a''::regclass",''id''::name,''sig''::name,"''a''::regclass",''id''::name,''sig''::name,0.3::float8}'),
    ('bloom_linkage', '{"''a''::regclass",''id''::name,"ARRAY[''sig'']::name[]","''a''::regclass",''id''::name,"ARRAY[''sig'']::name[]","ARRAY[1]::float8[]",0.3::float8}'),
    ('bloom_clusters', '{"''a''::regclass",''id''::name,''sig''::name,0.3::float8,''centre''::text}'),
    ('bloom_clusters', '{"''pairs''::regclass",0.3::float8,''centre''::text}'),
    ('bloom_suggest', '{"''a''::regclass"}'),
    ('bloom_assign', '{"''pairs''::regclass",''optimal''::text}'),
    ('bloom_pairs_refresh', '{"''pairs''::regclass","''a''::regclass",''id''::name,''sig''::name,0.3::float8,"''some_keys''::regclass"}'),
    ('bloom_clusters_update', '{"''truth_keys''::regclass","''pairs''::regclass",0.3::float8,''centre''::text,1::bigint}'),
    ('bloom_merge_plan', '{"''merged''::regclass","''list''::regclass",''id''::name}'),
    ('bloom_merge', '{"''merged''::regclass","''list''::regclass",''id''::name,NULL::jsonb,NULL::text,''error''::text}'),
    ('bloom_unmerge', '{1::bigint}'),
    ('bloom_quality', '{"''pairs''::regclass","''truth''::regclass"}'),
    ('bloom_threshold_sweep', '{"''pairs''::regclass","''truth''::regclass",0.1::float8}'),
    ('bloom_report', '{"''a''::regclass",''id''::name,''sig''::name,0.3::float8,NULL::name[],NULL::regclass,''centre''::text,NULL::text,''text''::text}'),
    ('bloom_report_pairs', '{"''pairs''::regclass","''a''::regclass",''id''::name}'),
    ('bloom_report_linkage', '{"''pairs''::regclass","''a''::regclass",''id''::name,"''a''::regclass",''id''::name}'),
    ('bloom_blocklist', '{"(SELECT sig FROM a WHERE id = 1)","''list''::regclass",''sig''::name,0.3::float8}'),
    ('minhash_blocklist', '{"(SELECT bits FROM list WHERE id = 1)","''list''::regclass",''bits''::name,0.3::float8}');
CREATE TABLE list (id int PRIMARY KEY, sig bloom, bits minhash_bits(64));
INSERT INTO list SELECT id, sig, minhash_bits(ident_words(name), 64) FROM a;
CREATE VIEW merged AS SELECT * FROM truth WHERE key = 1;
SELECT call, i, raised(format('SELECT * FROM %s(%s)', call, (
    SELECT string_agg(CASE WHEN k = i THEN 'NULL::' || regexp_replace(a, '.*::|.* FROM .*', '') || CASE WHEN a LIKE '(%' THEN (CASE call WHEN 'bloom_blocklist' THEN 'bloom' ELSE 'minhash_bits' END) ELSE '' END ELSE a END, ', ' ORDER BY k)
    FROM unnest(arguments) WITH ORDINALITY AS u(a, k))))
FROM job, generate_series(0, cardinality(arguments)) AS i ORDER BY call, arguments, i;
-- literals without a type
SELECT q, raised('SELECT * FROM ' || q) FROM unnest(ARRAY[$$bloom_merge_plan('merged', 'list', 'id', '{}', 'oldest', '{}')$$, $$bloom_merge('merged', 'list', 'id', '{}', 'oldest', 'drop', '{}', 'bloom_merges')$$,
    $$bloom_unmerge('1', 'bloom_merges')$$]) AS q;
-- a row of an outer query may well have no signature
SELECT p.id, count(l.key) FROM (SELECT id, sig FROM a UNION SELECT 9, NULL) AS p LEFT JOIN bloom_blocklist(p.sig, 'list', 'sig', 0.3) AS l ON true GROUP BY p.id ORDER BY 1;

-- bare literals, as people write them
SELECT raised($$SELECT * FROM bloom_duplicates('a', 'id', 'sig', 0.3, new => 'some_keys')$$), raised($$SELECT * FROM bloom_duplicates('a', 'id', '{sig}', '{1}', 0.3, new => 'some_keys')$$),
    raised($$SELECT * FROM bloom_duplicates('a', 'id', 'sig', 0.3, '{name}', new => 'some_keys')$$), raised($$SELECT * FROM bloom_pairs_refresh('pairs', 'a', 'id', 'sig', 0.3, 'some_keys')$$),
    raised($$SELECT * FROM bloom_pairs_refresh('pairs', 'a', 'id', 'sig', 0.3, 'some_keys', NULL, NULL, NULL)$$), raised($$SELECT * FROM bloom_clusters_update('truth_keys', 'pairs', 0.3)$$);
SELECT q, raised('SELECT * FROM ' || q) FROM unnest(ARRAY[$$bloom_clusters('a', 'id', 'sig', 0.3, 'centre', NULL, NULL, NULL, 'error', 5, 'oldest')$$, $$bloom_clusters('pairs', 0.3, 'centre', NULL, 'error', 5, 'oldest', 'a', 'id')$$,
    $$bloom_clusters('pairs', 0.3, keep_by => 'oldest', rel => 'a', key => 'id')$$, $$bloom_clusters('pairs', '0.3')$$, $$bloom_clusters_update('truth_keys', 'pairs', 0.3, 'centre', 1, NULL, 'error', 5, 'oldest', 'a', 'id')$$]) WITH ORDINALITY AS q (q, i) ORDER BY i;
SELECT q, raised('SELECT * FROM ' || q) FROM unnest(ARRAY[$$bloom_duplicates('a', 'id', '{sig,sig}', '{1,1}', 0.3, NULL, 'some_keys', 0.5)$$, $$bloom_duplicates('a', 'id', '{sig}', '{1}', 0.3, NULL, NULL, 0.5)$$, $$bloom_duplicates('a', 'id', '{sig}', '{1}', 0.3, coverage => NULL)$$,
    $$bloom_linkage('a', 'id', '{sig}', 'a', 'id', '{sig}', '{1}', 0.3, 'true', NULL, 1)$$, $$bloom_linkage('a', 'id', '{sig}', 'a', 'id', '{sig}', '{1}', 0.3, false, NULL, 0)$$, $$bloom_linkage('a', 'id', '{sig}', 'a', 'id', '{sig}', '{1}', 0.3, coverage => NULL)$$]) AS q;

-- those that have one: tokens are compared only where a column of them is named, and a margin alone says nothing
ALTER TABLE a ADD tokens text[] GENERATED ALWAYS AS (string_to_array(name, ' ')) STORED;
SELECT call, given, raised(format('SELECT * FROM %s', replace(call, '?', given)))
    FROM unnest('{"bloom_duplicates(''a'', ''id'', ''sig'', 0.3, NULL, ?)","bloom_linkage(''a'', ''id'', ''sig'', ''a'', ''id'', ''sig'', 0.3, NULL, ?)","bloom_clusters(''a'', ''id'', ''sig'', 0.3, ''centre'', ?)",
        "bloom_report(''a'', ''id'', ''sig'', 0.3, NULL, NULL, ''centre'', NULL, ''text'', ?)","bloom_report(''a'', ''id'', ''sig'', 0.3, NULL, NULL, ''centre'', NULL, ''text'', ?, NULL, NULL)"}'::text[]) AS call, unnest('{"NULL, NULL","''tokens'', NULL","''tokens'', 0.1","NULL, 0.1"}'::text[]) AS given ORDER BY call COLLATE "C", given COLLATE "C";

-- pairs that were found before, with all arguments as they come
CREATE TABLE decided (a text, b text, decision text, at timestamptz);
SELECT raised('SELECT ' || call) FROM unnest('{"bloom_report_pairs(''pairs'', ''a'', ''id'')","bloom_report_pairs(''pairs'', ''a'', ''id'', NULL, NULL, NULL, NULL)","bloom_report_pairs(''pairs'', ''a'', ''id'', ''{name}'', NULL, ''truth'', ''decided'')",
    "bloom_report_linkage(''pairs'', ''a'', ''id'', ''a'', ''id'')","bloom_report_linkage(''pairs'', ''a'', ''id'', ''a'', ''id'', NULL, NULL, NULL, NULL)","bloom_report_linkage(''pairs'', ''a'', ''id'', ''a'', ''id'', ''{name}'', NULL, ''pairs'', ''decided'')",
    "bloom_report(''a'', ''id'', ''sig'', 0.3, ''{name}'', ''truth'', ''centre'', ''title'', ''html'', NULL, NULL, ''decided'', 0.2)"}'::text[]) AS call;
DROP TABLE decided;

-- a key that two records have, whether or not both are found
CREATE FUNCTION all_jobs(rel text, key text DEFAULT 'id') RETURNS TABLE (job text, result text) LANGUAGE sql AS $$
    SELECT regexp_replace(call, '[(].*', ''), raised('SELECT * FROM ' || call) FROM unnest(ARRAY[
        format('bloom_duplicates(%L, %L, ''sig'', 0.3)', rel, key),
        format('bloom_duplicates(%L, %L, ''{sig,sig}'', ''{1,2}'', 0.3)', rel, key),
        format('bloom_linkage(%L, %L, ''sig'', ''a'', ''id'', ''sig'', 0.3)', rel, key),
        format('bloom_linkage(''a'', ''id'', ''sig'', %L, %L, ''sig'', 0.3)', rel, key),
        format('bloom_linkage(''a'', ''id'', ''{sig}'', %L, %L, ''{sig}'', ''{1}'', 0.3)', rel, key),
        format('bloom_clusters(%L, %L, ''sig'', 0.3)', rel, key),
        format('bloom_report(%L, %L, ''sig'', 0.3, format => ''text'')', rel, key)]) AS call $$;
CREATE TABLE b (id int, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
INSERT INTO b SELECT id, name FROM a;
SELECT * FROM all_jobs('b');
-- the two are similar
INSERT INTO b VALUES (1, 'anna meier');
SELECT * FROM all_jobs('b');
SELECT raised($$SELECT * FROM bloom_duplicates('b', 'id', 'sig', 1)$$);
-- by the index
CREATE INDEX b_sig ON b USING sigfile (sig);
SELECT * FROM all_jobs('b');
-- they are not, and no pair would have told
UPDATE b SET name = 'somebody else' WHERE ctid = (SELECT max(ctid) FROM b WHERE id = 1);
SELECT * FROM all_jobs('b');
-- the session says that they are unique
SET bloom_ident.check_keys = off;
SELECT count(*) FROM bloom_duplicates('b', 'id', 'sig', 1);
RESET bloom_ident.check_keys;
SELECT raised($$SELECT * FROM bloom_duplicates('b', 'id', 'sig', 0.99)$$);
DROP INDEX b_sig;
SELECT raised($$SELECT * FROM bloom_duplicates('b', 'id', 'sig', 0.99)$$);
CREATE VIEW b_view AS SELECT * FROM b;
SELECT raised($$SELECT * FROM bloom_duplicates('b_view', 'id', 'sig', 0.99)$$);
-- a record without a signature takes no part, nor does one without a key that is in no pair
CREATE INDEX b_sig ON b USING sigfile (sig);
UPDATE b SET name = NULL WHERE name = 'somebody else';
INSERT INTO b VALUES (NULL, 'nobody like this'), (NULL, 'entirely different');
SELECT * FROM all_jobs('b');
-- a unique index tells; one that does not hold for all rows at all times does not
DELETE FROM b WHERE name IS NULL OR id IS NULL;
CREATE UNIQUE INDEX b_partial ON b (id) WHERE id > 1;
INSERT INTO b VALUES (1, 'x y z');
SELECT raised($$SELECT * FROM bloom_duplicates('b', 'id', 'sig', 0.3)$$);
DELETE FROM b WHERE name = 'x y z';
DROP INDEX b_partial;
ALTER TABLE b ADD CONSTRAINT b_key UNIQUE (id) DEFERRABLE INITIALLY DEFERRED;
BEGIN;
INSERT INTO b VALUES (1, 'x y z');
SELECT raised($$SELECT * FROM bloom_duplicates('b', 'id', 'sig', 0.3)$$);
ROLLBACK;
ALTER TABLE b DROP CONSTRAINT b_key, ADD PRIMARY KEY (id);
SELECT raised($$SELECT * FROM bloom_duplicates('b', 'id', 'sig', 0.3)$$);
CREATE TABLE b_child () INHERITS (b);
CREATE INDEX ON b_child USING sigfile (sig);
INSERT INTO b_child (id, name) VALUES (1, 'x y z');
SELECT raised($$SELECT * FROM bloom_duplicates('b', 'id', 'sig', 0.3)$$);
-- partitions, of which each has its own keys
CREATE TABLE p (id int, part int, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED) PARTITION BY LIST (part);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2);
CREATE UNIQUE INDEX ON p1 (id);
CREATE UNIQUE INDEX ON p2 (id);
CREATE INDEX ON p USING sigfile (sig);
INSERT INTO p SELECT id, 1, name FROM a UNION ALL SELECT 3, 2, 'anna meier';
SELECT * FROM all_jobs('p');
SELECT raised($$SELECT * FROM bloom_duplicates('p1', 'id', 'sig', 0.3)$$);
-- keys of other types: by value, and without equality by text
CREATE TABLE kinds (t text COLLATE "C", n numeric, j json, x xid, point point, sig bloom);
INSERT INTO kinds SELECT 'key ' || i, i, json_build_object('a', i), i::text::xid, point(i, i), bloom_signature(md5((i / 2)::text)) FROM generate_series(2, 5) i;
SELECT k, raised(format('SELECT * FROM bloom_duplicates(''kinds'', %L, ''sig'', 0.9)', k)) FROM unnest('{t,n,j,x,point}'::text[]) k;
INSERT INTO kinds SELECT t, n, j, x, point, bloom_signature('someone') FROM kinds WHERE n = 4;
SELECT k, raised(format('SELECT * FROM bloom_duplicates(''kinds'', %L, ''sig'', 0.9)', k)) FROM unnest('{t,n,j,x,point}'::text[]) k;
CREATE INDEX ON kinds USING sigfile (sig);
SELECT k, raised(format('SELECT * FROM bloom_duplicates(''kinds'', %L, ''sig'', 0.9)', k)) FROM unnest('{t,n,j,x,point}'::text[]) k;
-- different values with the same text
CREATE TABLE floats AS SELECT 0.1::float8 + i * 1e-17::float8 * 4 AS id, bloom_signature('same') AS sig FROM generate_series(0, 1) i;
SET extra_float_digits = 0;
SELECT count(DISTINCT id), raised($$SELECT * FROM bloom_duplicates('floats', 'id', 'sig', 0.9)$$) FROM floats;
CREATE INDEX ON floats USING sigfile (sig);
SELECT raised($$SELECT * FROM bloom_duplicates('floats', 'id', 'sig', 0.9)$$);
RESET extra_float_digits;
-- tables of pairs and of labels
CREATE VIEW odd_pairs AS SELECT * FROM pairs UNION ALL SELECT '3', '3', 1;
CREATE VIEW odd_truth AS SELECT * FROM truth UNION ALL SELECT 3, 1;
SELECT q, raised('SELECT * FROM ' || q) FROM unnest(ARRAY[
    $$bloom_clusters('odd_pairs', 0.3)$$, $$bloom_quality('odd_pairs', 'truth')$$, $$bloom_quality('truth', 'odd_pairs')$$, $$bloom_quality('pairs', 'odd_truth')$$,
    $$bloom_quality('odd_truth', 'truth')$$, $$bloom_threshold_sweep('odd_pairs', 'truth')$$, $$bloom_threshold_sweep('pairs', 'odd_truth')$$,
    $$bloom_threshold_sweep('pairs', 'odd_pairs')$$, $$bloom_report('a', 'id', 'sig', 0.3, truth => 'odd_truth')$$, $$bloom_report('a', 'id', 'sig', 0.3, truth => 'odd_pairs')$$]) AS q;
DROP TABLE a, pairs, truth, job, list, b, p, kinds, floats, bloom_merges CASCADE;
DROP FUNCTION all_jobs(text, text);
DROP FUNCTION raised(text);
