-- What bloom_guard says of triggers that it cannot serve: when they first fire.
CREATE TABLE person (id int PRIMARY KEY, name text, sig bloom);
CREATE TABLE bare (name text, sig bloom);
CREATE TABLE list (id int PRIMARY KEY, sig bloom);
CREATE TABLE review (key text, duplicate text, similarity float8, found_at timestamptz);
CREATE VIEW view AS SELECT * FROM person;
SET client_min_messages = error;
-- fires('arguments', 'timing', 'table'): what an insert says.
CREATE FUNCTION fires(args text, timing text = 'AFTER INSERT', relation text = 'person', rest text = 'FOR EACH ROW', act text = NULL)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE state text; message text; detail text; hint text;
BEGIN
    EXECUTE format('CREATE TRIGGER "my guard" %s ON %s %s EXECUTE FUNCTION bloom_guard(%s)', timing, relation, rest, args);
    EXECUTE coalesce(act, format('INSERT INTO %s (name, sig) VALUES (''x'', bloom_signature(''x''))', relation));
    -- takes the trigger back
    RAISE 'nothing to say';
EXCEPTION WHEN others THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(E'\n', state || ': ' || message, nullif(detail, ''), nullif(hint, ''));
END $$;
ALTER TABLE person ALTER id ADD GENERATED ALWAYS AS IDENTITY;
\pset format unaligned
\pset tuples_only
-- arguments
SELECT fires('');
SELECT fires($$'sig', '0.8'$$);
SELECT fires($$'sig', 'much', 'reject'$$);
SELECT fires($$'sig', '1.01', 'reject'$$);
SELECT fires($$'sig', 'NaN', 'reject'$$);
SELECT fires($$'sig', '-0', 'reject'$$);
SELECT fires($$'sig', ' 0.8 ', 'reject'$$);
SELECT fires($$'sig', '0.8', 'Reject'$$);
SELECT fires($$'sig', '0.8', 'reject', 'review'$$);
SELECT fires($$'sig', '0.8', 'reject', 'colour', 'red'$$);
SELECT fires($$'sig', '0.8', 'reject', 'message', 'a', 'message', 'b'$$);
SELECT fires($$'sig', '0.8', 'reject', 'review', 'review'$$);
SELECT fires($$'sig', '0.8', 'flag'$$);
SELECT fires($$'sig', '0.8', 'flag', 'review', 'review', 'message', 'x'$$);
SELECT fires($$'sig', '0.8', 'reject', 'blocklist_column', 'sig'$$);
-- columns
SELECT fires($$'signature', '0.8', 'reject'$$);
SELECT fires($$'SIG', '0.8', 'reject'$$);
SELECT fires($$'name', '0.8', 'reject'$$);
SELECT fires($$'ctid', '0.8', 'reject'$$);
-- other tables
SELECT fires($$'sig', '0.8', 'reject', 'blocklist', 'a.b.c'$$);
SELECT fires($$'sig', '0.8', 'reject', 'blocklist', 'a..b'$$);
SELECT fires($$'sig', '0.8', 'reject', 'blocklist', 'nowhere.list'$$);
SELECT fires($$'sig', '0.8', 'reject', 'blocklist', 'nothing'$$);
SELECT fires($$'sig', '0.8', 'reject', 'blocklist', 'view'$$);
SELECT fires($$'sig', '0.8', 'reject', 'blocklist', 'list', 'blocklist_column', 'name'$$);
SELECT fires($$'sig', '0.8', 'reject', 'blocklist', 'list', 'blocklist_column', 'id'$$);
SELECT fires($$'sig', '0.8', 'flag', 'review', 'nothing'$$);
SELECT fires($$'sig', '0.8', 'flag', 'review', 'view'$$);
SELECT fires($$'sig', '0.8', 'flag', 'review', 'list'$$);
ALTER TABLE review ALTER key TYPE varchar;
SELECT fires($$'sig', '0.8', 'flag', 'review', 'public.review'$$);
ALTER TABLE review ALTER key TYPE text, DROP similarity;
SELECT fires($$'sig', '0.8', 'flag', 'review', 'public.review'$$);
ALTER TABLE review ADD similarity float8;
SELECT fires($$'sig', '0.8', 'flag', 'review', 'public.review'$$);
SELECT fires($$'sig', '0.8', 'flag', 'review', '"public" . Review'$$);
-- no primary key
SELECT fires($$'sig', '0.8', 'flag', 'review', 'review'$$, relation => 'bare');
SELECT fires($$'sig', '0.8', 'flag', 'review', 'review', 'blocklist', 'bare'$$);
-- when it fires
SELECT fires($$'sig', '0.8', 'reject'$$, 'BEFORE INSERT');
SELECT fires($$'sig', '0.8', 'warn'$$, 'BEFORE INSERT');
SELECT fires($$'sig', '0.8', 'skip'$$, 'AFTER INSERT');
SELECT fires($$'sig', '0.8', 'reject'$$, rest => 'FOR EACH STATEMENT');
SELECT fires($$'sig', '0.8', 'reject'$$, 'INSTEAD OF INSERT', 'view');
INSERT INTO person (sig) VALUES (bloom_signature('y'));
SELECT fires($$'sig', '0.8', 'reject'$$, 'AFTER DELETE', act => 'DELETE FROM person');
SELECT fires($$'sig', '0.8', 'reject'$$, 'AFTER TRUNCATE', rest => '', act => 'TRUNCATE person');
SELECT bloom_guard();
-- the list has another shape
INSERT INTO list VALUES (1, bloom_signature('x', 2));
SELECT fires($$'sig', '0.8', 'reject', 'blocklist', 'list'$$);
CREATE INDEX ON list USING sigfile (sig);
SELECT fires($$'sig', '0.8', 'reject', 'blocklist', 'list'$$);
DROP INDEX list_sig_idx;
CREATE INDEX ON list USING gist (sig);
SELECT fires($$'sig', '0.8', 'reject', 'blocklist', 'list'$$);
DROP VIEW view;
DROP TABLE person, bare, list, review;
DROP FUNCTION fires;
