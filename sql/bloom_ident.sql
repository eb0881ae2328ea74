\echo Use "CREATE EXTENSION bloom_ident" to load this file. \quit

-- The schema may belong to somebody who has put operators, functions and types into it that look like those meant here, and what this script refers to is run
-- later by others. It runs with the search_path SCHEMA, pg_temp, so pg_catalog comes first, but a name is not all: an operator or a function whose arguments fit
-- better wins from anywhere. So what is in pg_catalog is named with it, in operator classes and wherever an expression is kept, and its arguments are cast to
-- exactly those that it is declared with. What the script creates cannot be named with the schema, for the extension is relocatable, which excludes @extschema@;
-- there the arguments decide: they are exactly those declared, and CREATE, without OR REPLACE or IF NOT EXISTS, fails where such an object is there already.

-- The type bloom and its input and output ----------------------------------------------------

CREATE TYPE bloom;

CREATE FUNCTION bloom_in(cstring, oid, integer) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_in_wrapper';
CREATE FUNCTION bloom_out(bloom) RETURNS cstring
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_out_wrapper';
CREATE FUNCTION bloom_recv(internal, oid, integer) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_recv_wrapper';
CREATE FUNCTION bloom_send(bloom) RETURNS bytea
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_send_wrapper';
CREATE FUNCTION bloom_typmod_in(cstring[]) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_typmod_in_wrapper';
CREATE FUNCTION bloom_typmod_out(integer) RETURNS cstring
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_typmod_out_wrapper';

CREATE FUNCTION bloom_typanalyze(internal) RETURNS boolean
    VOLATILE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_typanalyze_wrapper';

CREATE TYPE bloom (
    INPUT = bloom_in,
    OUTPUT = bloom_out,
    RECEIVE = bloom_recv,
    SEND = bloom_send,
    TYPMOD_IN = bloom_typmod_in,
    TYPMOD_OUT = bloom_typmod_out,
    ANALYZE = bloom_typanalyze,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = extended
);
COMMENT ON TYPE bloom IS 'Bloom-filter signature; bloom(k,p,q) fixes segments, bits of a segment and n-gram length, which is 0 for tokens; a fourth number is a rule set of normal forms other than 1';

CREATE DOMAIN bloom_score AS float8;
COMMENT ON DOMAIN bloom_score IS 'similarity of two signatures or sketches, from 0 to 1; estimates from minhash_bits go down to -1';

COMMENT ON FUNCTION bloom_in(cstring, oid, integer) IS 'input of type bloom';
COMMENT ON FUNCTION bloom_out(bloom) IS 'output of type bloom';
COMMENT ON FUNCTION bloom_recv(internal, oid, integer) IS 'binary input of type bloom';
COMMENT ON FUNCTION bloom_send(bloom) IS 'binary output of type bloom';
COMMENT ON FUNCTION bloom_typmod_in(cstring[]) IS 'reads a type modifier of bloom';
COMMENT ON FUNCTION bloom_typanalyze(internal) IS 'ANALYZE of types bloom and minhash_bits: ordinary statistics and a sample of values';
COMMENT ON FUNCTION bloom_typmod_out(integer) IS 'shows a type modifier of bloom';

-- Casts --------------------------------------------------------------------------------------

CREATE FUNCTION bloom_apply_typmod(bloom, integer, boolean) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_apply_typmod_wrapper';
COMMENT ON FUNCTION bloom_apply_typmod(bloom, integer, boolean) IS
    'enforces a type modifier of bloom';
CREATE CAST (bloom AS bloom) WITH FUNCTION bloom_apply_typmod(bloom, integer, boolean) AS IMPLICIT;
COMMENT ON CAST (bloom AS bloom) IS 'checks that the signature has the shape of the type modifier';

CREATE FUNCTION bloom_to_varbit(bloom) RETURNS bit varying
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_to_varbit_wrapper';
COMMENT ON FUNCTION bloom_to_varbit(bloom) IS
    'the bits of a signature, in order';
CREATE FUNCTION varbit_to_bloom(bit varying, integer, boolean) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'varbit_to_bloom_wrapper';
COMMENT ON FUNCTION varbit_to_bloom(bit varying, integer, boolean) IS
    'a signature from its bits; the type modifier names the shape';
CREATE FUNCTION bit_to_bloom(bit, integer, boolean) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'varbit_to_bloom_wrapper';
COMMENT ON FUNCTION bit_to_bloom(bit, integer, boolean) IS
    'a signature from its bits; the type modifier names the shape';
CREATE FUNCTION bytea_to_bloom(bytea) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bytea_to_bloom_wrapper';
COMMENT ON FUNCTION bytea_to_bloom(bytea) IS
    'a signature from its binary form';
CREATE FUNCTION bloom_to_jsonb(bloom) RETURNS jsonb
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_to_jsonb_wrapper';
COMMENT ON FUNCTION bloom_to_jsonb(bloom) IS
    'a signature as JSON: shape and positions of the set bits';
CREATE FUNCTION jsonb_to_bloom(jsonb) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'jsonb_to_bloom_wrapper';
COMMENT ON FUNCTION jsonb_to_bloom(jsonb) IS
    'a signature from its JSON form';
CREATE CAST (bloom AS bit varying) WITH FUNCTION bloom_to_varbit(bloom);
COMMENT ON CAST (bloom AS bit varying) IS 'the bits of the signature, from position 0 on';
CREATE CAST (bit varying AS bloom) WITH FUNCTION varbit_to_bloom(bit varying, integer, boolean);
COMMENT ON CAST (bit varying AS bloom) IS 'a signature of these bits, of the shape of the type modifier';
CREATE CAST (bit AS bloom) WITH FUNCTION bit_to_bloom(bit, integer, boolean);
COMMENT ON CAST (bit AS bloom) IS 'a signature of these bits, of the shape of the type modifier';
CREATE CAST (bloom AS bytea) WITH FUNCTION bloom_send(bloom);
COMMENT ON CAST (bloom AS bytea) IS 'the stored bytes of the signature, as its binary output has them';
CREATE CAST (bytea AS bloom) WITH FUNCTION bytea_to_bloom(bytea);
COMMENT ON CAST (bytea AS bloom) IS 'a signature of these stored bytes, which are checked';
CREATE CAST (bloom AS jsonb) WITH FUNCTION bloom_to_jsonb(bloom);
COMMENT ON CAST (bloom AS jsonb) IS 'the shape of the signature and the positions of its set bits';
CREATE CAST (jsonb AS bloom) WITH FUNCTION jsonb_to_bloom(jsonb);
COMMENT ON CAST (jsonb AS bloom) IS 'a signature of this shape with these positions set';

-- Equality and order -------------------------------------------------------------------------

CREATE FUNCTION bloom_lt(bloom, bloom) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_lt_wrapper';
COMMENT ON FUNCTION bloom_lt(bloom, bloom) IS
    'less than';
CREATE FUNCTION bloom_le(bloom, bloom) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_le_wrapper';
COMMENT ON FUNCTION bloom_le(bloom, bloom) IS
    'less than or equal';
CREATE FUNCTION bloom_eq(bloom, bloom) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_eq_wrapper';
COMMENT ON FUNCTION bloom_eq(bloom, bloom) IS
    'equal: same shape and same bits';
CREATE FUNCTION bloom_ne(bloom, bloom) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_ne_wrapper';
COMMENT ON FUNCTION bloom_ne(bloom, bloom) IS
    'not equal';
CREATE FUNCTION bloom_ge(bloom, bloom) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_ge_wrapper';
COMMENT ON FUNCTION bloom_ge(bloom, bloom) IS
    'greater than or equal';
CREATE FUNCTION bloom_gt(bloom, bloom) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_gt_wrapper';
COMMENT ON FUNCTION bloom_gt(bloom, bloom) IS
    'greater than';
CREATE FUNCTION bloom_cmp(bloom, bloom) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_cmp_wrapper';
COMMENT ON FUNCTION bloom_cmp(bloom, bloom) IS
    'order of signatures: by shape, then by bits';
CREATE FUNCTION bloom_hash(bloom) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_hash_wrapper';
COMMENT ON FUNCTION bloom_hash(bloom) IS
    'hash of a signature';
CREATE FUNCTION bloom_hash_extended(bloom, bigint) RETURNS bigint
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_hash_extended_wrapper';
COMMENT ON FUNCTION bloom_hash_extended(bloom, bigint) IS
    'hash of a signature, with a seed';

CREATE OPERATOR < (LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_lt,
    COMMUTATOR = >, NEGATOR = >=, RESTRICT = pg_catalog.scalarltsel, JOIN = pg_catalog.scalarltjoinsel);
CREATE OPERATOR <= (LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_le,
    COMMUTATOR = >=, NEGATOR = >, RESTRICT = pg_catalog.scalarlesel, JOIN = pg_catalog.scalarlejoinsel);
CREATE OPERATOR = (LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_eq,
    COMMUTATOR = =, NEGATOR = <>, RESTRICT = pg_catalog.eqsel, JOIN = pg_catalog.eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_ne,
    COMMUTATOR = <>, NEGATOR = =, RESTRICT = pg_catalog.neqsel, JOIN = pg_catalog.neqjoinsel);
CREATE OPERATOR >= (LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_ge,
    COMMUTATOR = <=, NEGATOR = <, RESTRICT = pg_catalog.scalargesel, JOIN = pg_catalog.scalargejoinsel);
CREATE OPERATOR > (LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_gt,
    COMMUTATOR = <, NEGATOR = <=, RESTRICT = pg_catalog.scalargtsel, JOIN = pg_catalog.scalargtjoinsel);

COMMENT ON OPERATOR < (bloom, bloom) IS 'less than';
COMMENT ON OPERATOR <= (bloom, bloom) IS 'less than or equal';
COMMENT ON OPERATOR = (bloom, bloom) IS 'equal: same shape and same bits';
COMMENT ON OPERATOR <> (bloom, bloom) IS 'not equal';
COMMENT ON OPERATOR >= (bloom, bloom) IS 'greater than or equal';
COMMENT ON OPERATOR > (bloom, bloom) IS 'greater than';

CREATE OPERATOR CLASS bloom_btree_ops DEFAULT FOR TYPE bloom USING btree AS
    OPERATOR 1 <,
    OPERATOR 2 <=,
    OPERATOR 3 =,
    OPERATOR 4 >=,
    OPERATOR 5 >,
    FUNCTION 1 bloom_cmp(bloom, bloom),
    FUNCTION 4 pg_catalog.btequalimage(oid);

CREATE OPERATOR CLASS bloom_hash_ops DEFAULT FOR TYPE bloom USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 bloom_hash(bloom),
    FUNCTION 2 bloom_hash_extended(bloom, bigint);

COMMENT ON OPERATOR CLASS bloom_btree_ops USING btree IS 'order of signatures: by shape, then by bits';
COMMENT ON OPERATOR CLASS bloom_hash_ops USING hash IS 'equality of signatures';
COMMENT ON OPERATOR FAMILY bloom_btree_ops USING btree IS 'order of signatures: by shape, then by bits';
COMMENT ON OPERATOR FAMILY bloom_hash_ops USING hash IS 'equality of signatures';

-- Identity text ------------------------------------------------------------------------------

CREATE FUNCTION ident_normalize(text text, filler boolean DEFAULT false, rules integer DEFAULT 1) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_normalize_wrapper';
COMMENT ON FUNCTION ident_normalize(text, boolean, integer) IS
    'normal form of a text: a to z and 0 to 9; with filler, _ between words';
CREATE FUNCTION ident_ngrams(
    text text, ngram integer DEFAULT 3, by_word boolean DEFAULT false, filler boolean DEFAULT false) RETURNS text[]
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_ngrams_wrapper';
COMMENT ON FUNCTION ident_ngrams(text, integer, boolean, boolean) IS
    'n-grams of a text, after normalising it; with filler, they reach over _ between words';
CREATE FUNCTION ident_ngram_index(ngram text) RETURNS bigint
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_ngram_index_wrapper';
COMMENT ON FUNCTION ident_ngram_index(text) IS
    'index of an n-gram: its symbols as digits of a number in bijective base 37';
CREATE FUNCTION ident_ngram_sim(
    a text, b text, ngram integer DEFAULT 3, by_word boolean DEFAULT false, filler boolean DEFAULT false) RETURNS float8
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_ngram_sim_wrapper';
COMMENT ON FUNCTION ident_ngram_sim(text, text, integer, boolean, boolean) IS
    'exact Jaccard similarity of the n-gram sets of two texts';
CREATE FUNCTION ident_edit_sim(a text, b text) RETURNS bloom_score
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_edit_sim_wrapper';
COMMENT ON FUNCTION ident_edit_sim(text, text) IS
    'Levenshtein similarity of two normal forms: 1 less the edits per symbol of the longer one';
CREATE FUNCTION ident_damerau(a text, b text) RETURNS bloom_score
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_damerau_wrapper';
COMMENT ON FUNCTION ident_damerau(text, text) IS
    'the same where two neighbours that have changed places are one edit (Damerau and Levenshtein)';
CREATE FUNCTION ident_jaro_winkler(a text, b text) RETURNS bloom_score
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_jaro_winkler_wrapper';
COMMENT ON FUNCTION ident_jaro_winkler(text, text) IS
    'Jaro-Winkler similarity of two normal forms';
-- By names of other databases, as they take texts, so without the prefix.
CREATE FUNCTION jaro_similarity(a text, b text) RETURNS float8
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'jaro_similarity_wrapper';
COMMENT ON FUNCTION jaro_similarity(text, text) IS
    'Jaro similarity of two texts as they are written, character by character, as in DuckDB';
CREATE FUNCTION jaro_winkler_similarity(a text, b text) RETURNS float8
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'jaro_winkler_similarity_wrapper';
COMMENT ON FUNCTION jaro_winkler_similarity(text, text) IS
    'Jaro-Winkler similarity of two texts as they are written, character by character, as in DuckDB';
CREATE FUNCTION damerau_levenshtein(a text, b text) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'damerau_levenshtein_wrapper';
COMMENT ON FUNCTION damerau_levenshtein(text, text) IS
    'edits that make one text of the other as they are written, two neighbours that change places being one, as in DuckDB';
CREATE FUNCTION ident_name_sim(
    a text, b text, version integer DEFAULT 1, words text[] DEFAULT '{}', weights float8[] DEFAULT '{}') RETURNS bloom_score
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'ident_name_sim_wrapper';
COMMENT ON FUNCTION ident_name_sim(text, text, integer, text[], float8[]) IS
    'similarity of two names of persons, companies or vessels, word by word in any order, by a version of the rules; frequent words may have weights below 1';
CREATE FUNCTION ident_name(name text, OUT titles text, OUT given text, OUT particles text, OUT surname text, OUT suffixes text, OUT nickname text,
    OUT born text)
    RETURNS record
    IMMUTABLE STRICT PARALLEL SAFE COST 50 LANGUAGE c AS 'MODULE_PATHNAME', 'ident_name_wrapper';
COMMENT ON FUNCTION ident_name(text) IS
    'the parts of a person''s name as they are written: titles, given names, particles, surname, suffixes, nickname, name at birth';
CREATE FUNCTION ident_name_forms(name text, version integer) RETURNS text[]
    IMMUTABLE STRICT PARALLEL SAFE COST 10 LANGUAGE c AS 'MODULE_PATHNAME', 'ident_name_forms_wrapper';
COMMENT ON FUNCTION ident_name_forms(text, integer) IS
    'full names that a given name may be a form of, and the name itself, in normal form, by a version of the compiled-in lists';
CREATE FUNCTION ident_expand(text text, language text, version integer) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_expand_wrapper';
COMMENT ON FUNCTION ident_expand(text, text, integer) IS
    'the words of a text in their normal form, abbreviations written out by this version of the dictionary of a language: de, en, es, fr or it';
CREATE FUNCTION ident_plain_words(text text) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_plain_words_wrapper';
COMMENT ON FUNCTION ident_plain_words(text) IS
    'the words of a text in their normal form, as entries of ident_abbreviations are looked up';
CREATE TABLE ident_abbreviations (
    language text NOT NULL CHECK (language OPERATOR(pg_catalog.=) ANY (ARRAY['de', 'en', 'es', 'fr', 'it']::pg_catalog.text[])),
    abbreviation text NOT NULL,
    words text NOT NULL,
    abbreviation_words text NOT NULL GENERATED ALWAYS AS (ident_plain_words(abbreviation)) STORED,
    written_out text NOT NULL GENERATED ALWAYS AS (ident_plain_words(words)) STORED,
    PRIMARY KEY (language, abbreviation_words),
    CONSTRAINT ident_abbreviations_length CHECK (
        pg_catalog.length(abbreviation_words) OPERATOR(pg_catalog.>=) 1 AND pg_catalog.length(abbreviation_words) OPERATOR(pg_catalog.<=) 200
        AND pg_catalog.length(written_out) OPERATOR(pg_catalog.>=) 1 AND pg_catalog.length(written_out) OPERATOR(pg_catalog.<=) 200),
    CONSTRAINT ident_abbreviations_words CHECK (
        pg_catalog.cardinality(pg_catalog.string_to_array(abbreviation_words, ' ')) OPERATOR(pg_catalog.<=) 8)
);
COMMENT ON TABLE ident_abbreviations IS
    'abbreviations of this database, which bloom_sign writes out before those that are compiled in';
SELECT pg_catalog.pg_extension_config_dump('ident_abbreviations', '');
GRANT SELECT ON ident_abbreviations TO PUBLIC;
-- The table stays with the superuser: triggers of another owner would run as whoever writes.
GRANT SELECT, INSERT, UPDATE, DELETE ON ident_abbreviations TO @extowner@ WITH GRANT OPTION;
-- Keyed signatures: secrets, and records that are encoded by them.
CREATE TABLE bloom_secrets (
    name name PRIMARY KEY,
    check_value text NOT NULL,
    created timestamptz NOT NULL
);
COMMENT ON TABLE bloom_secrets IS
    'names of secrets, and values by which two are told apart; a dump has these, and neither secrets nor rights to them';
SELECT pg_catalog.pg_extension_config_dump('bloom_secrets', '');
GRANT SELECT ON bloom_secrets TO PUBLIC;
-- For whoever restores a dump: no rights depend on what is there.
GRANT INSERT, DELETE ON bloom_secrets TO @extowner@;
CREATE TABLE bloom_secret_values (
    name name PRIMARY KEY,
    uses bigint NOT NULL,
    owner regrole NOT NULL,
    secret bytea NOT NULL
);
-- No copy of a secret in pg_statistic.
ALTER TABLE bloom_secret_values ALTER secret SET STATISTICS 0;
COMMENT ON TABLE bloom_secret_values IS
    'secrets, their owners, and how often they were used; read and written by functions only, and no dump has them';
CREATE TABLE bloom_secret_grants (
    name name NOT NULL,
    role regrole NOT NULL,
    PRIMARY KEY (name, role)
);
COMMENT ON TABLE bloom_secret_grants IS
    'roles that may encode by secrets of others; written by bloom_secret_grant and bloom_secret_revoke';
REVOKE ALL ON bloom_secret_values, bloom_secret_grants FROM PUBLIC;
-- Neither do pg_read_all_data and pg_write_all_data see a row: there are no policies, and functions ask for none.
ALTER TABLE bloom_secret_values ENABLE ROW LEVEL SECURITY;
ALTER TABLE bloom_secret_grants ENABLE ROW LEVEL SECURITY;
CREATE TABLE bloom_clk_ids (
    id text PRIMARY KEY,
    name text NOT NULL UNIQUE,
    length integer,
    registered timestamptz NOT NULL DEFAULT pg_catalog.now(),
    CONSTRAINT bloom_clk_ids_id CHECK (
        id OPERATOR(pg_catalog.~) '^[0-9a-f]{16}$' AND id OPERATOR(pg_catalog.<>) '0000000000000000'),
    CONSTRAINT bloom_clk_ids_length CHECK (length OPERATOR(pg_catalog.>=) 1)
);
COMMENT ON TABLE bloom_clk_ids IS
    'ids of keyed signatures that a linkage unit takes, under names of its own; tables of signatures may reference it';
SELECT pg_catalog.pg_extension_config_dump('bloom_clk_ids', '');
GRANT SELECT ON bloom_clk_ids TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE, REFERENCES ON bloom_clk_ids TO @extowner@ WITH GRANT OPTION;
CREATE FUNCTION bloom_secret_create(name name) RETURNS text
    VOLATILE STRICT PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_secret_create_wrapper';
COMMENT ON FUNCTION bloom_secret_create(name) IS
    'makes a secret of 32 random bytes, which the caller owns; gives its check value';
CREATE FUNCTION bloom_secret_import(name name, secret text) RETURNS text
    VOLATILE STRICT PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_secret_import_text_wrapper';
COMMENT ON FUNCTION bloom_secret_import(name, text) IS
    'brings a secret here, the bytes of a text in UTF-8; gives its check value';
CREATE FUNCTION bloom_secret_import(name name, secret bytea) RETURNS text
    VOLATILE STRICT PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_secret_import_bytes_wrapper';
COMMENT ON FUNCTION bloom_secret_import(name, bytea) IS
    'brings a secret here; gives its check value';
CREATE FUNCTION bloom_secret_import(name name, large_object oid) RETURNS text
    VOLATILE STRICT PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_secret_import_large_object_wrapper';
COMMENT ON FUNCTION bloom_secret_import(name, oid) IS
    'brings a secret here from a large object, which is removed, so that no statement has it; gives its check value';
CREATE FUNCTION bloom_secret_export(name name) RETURNS bytea
    STABLE STRICT PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_secret_export_wrapper';
COMMENT ON FUNCTION bloom_secret_export(name) IS
    'a secret, for its owner';
CREATE FUNCTION bloom_secret_drop(name name) RETURNS void
    VOLATILE STRICT PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_secret_drop_wrapper';
COMMENT ON FUNCTION bloom_secret_drop(name) IS
    'removes a secret, and the rights to it';
CREATE FUNCTION bloom_secret_grant(name name, role regrole) RETURNS void
    VOLATILE STRICT PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_secret_grant_wrapper';
COMMENT ON FUNCTION bloom_secret_grant(name, regrole) IS
    'lets a role encode by a secret, and so find out what others have encoded';
CREATE FUNCTION bloom_secret_revoke(name name, role regrole) RETURNS void
    VOLATILE STRICT PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_secret_revoke_wrapper';
COMMENT ON FUNCTION bloom_secret_revoke(name, regrole) IS
    'takes back what bloom_secret_grant has given';
CREATE FUNCTION bloom_clk(record jsonb, schema jsonb, secret name) RETURNS bloom
    STABLE STRICT PARALLEL UNSAFE COST 1000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_clk_wrapper';
COMMENT ON FUNCTION bloom_clk(jsonb, jsonb, name) IS
    'keyed signature of a record by a linkage schema of clkhash, bit for bit, and a secret';
CREATE FUNCTION bloom_clk(record jsonb, schema jsonb, secret name, hardening jsonb) RETURNS bloom
    STABLE STRICT PARALLEL UNSAFE COST 1000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_clk_wrapper';
COMMENT ON FUNCTION bloom_clk(jsonb, jsonb, name, jsonb) IS
    'the same, hardened against attacks by the frequencies of bits: salt, diffusion, balance';
CREATE FUNCTION bloom_clk_id(schema jsonb, secret name) RETURNS text
    STABLE STRICT PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_clk_id_wrapper';
COMMENT ON FUNCTION bloom_clk_id(jsonb, name) IS
    'id of the keyed signatures that a linkage schema and a secret give, the same on each server';
CREATE FUNCTION bloom_clk_id(schema jsonb, secret name, hardening jsonb) RETURNS text
    STABLE STRICT PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_clk_id_wrapper';
COMMENT ON FUNCTION bloom_clk_id(jsonb, name, jsonb) IS
    'the same of keyed signatures that are hardened';
CREATE FUNCTION bloom_id(signature bloom) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_id_wrapper';
COMMENT ON FUNCTION bloom_id(bloom) IS
    'id of a keyed signature, which secret and schema decide; NULL for one that is not keyed';
CREATE FUNCTION bloom_clk_column(
    rel regclass, signature name, schema jsonb, secret name, hardening jsonb DEFAULT '{}', fill boolean DEFAULT true) RETURNS name
    VOLATILE STRICT PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_clk_column_wrapper';
COMMENT ON FUNCTION bloom_clk_column(regclass, name, jsonb, name, jsonb, boolean) IS
    'adds a column of keyed signatures to a table, and a trigger that keeps it; gives the name of the trigger';
CREATE PROCEDURE bloom_clk_fill(rel regclass, signature name, pages integer DEFAULT 1000)
    LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_clk_fill_wrapper';
COMMENT ON PROCEDURE bloom_clk_fill(regclass, name, integer) IS
    'encodes the rows that have no signature of the id of their column, some pages of the table in a transaction';
CREATE FUNCTION bloom_clk_replace(rel regclass, signature name, replacement name) RETURNS void
    VOLATILE STRICT PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_clk_replace_wrapper';
COMMENT ON FUNCTION bloom_clk_replace(regclass, name, name) IS
    'drops a column of keyed signatures with its trigger, and gives its name to another one';
CREATE FUNCTION bloom_clk_keep() RETURNS trigger
    VOLATILE PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_clk_keep_wrapper';
COMMENT ON FUNCTION bloom_clk_keep() IS
    'trigger function that keeps a column of keyed signatures; triggers are made by bloom_clk_column';
CREATE FUNCTION bloom_clk_flip(signature bloom, probability float8) RETURNS bloom
    VOLATILE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_clk_flip_wrapper';
COMMENT ON FUNCTION bloom_clk_flip(bloom, float8) IS
    'a keyed signature of which each bit is flipped with a probability, by chance; it has another id';
CREATE FUNCTION bloom_audit_keyed(rel regclass, signature name, reference regclass)
    RETURNS TABLE (measure text, value float8, expected float8, advice text)
    STABLE STRICT PARALLEL UNSAFE ROWS 20 COST 10000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_audit_keyed_wrapper';
COMMENT ON FUNCTION bloom_audit_keyed(regclass, name, regclass) IS
    'what somebody without the secret reads from keyed signatures by a list of names, and what to do about it';
CREATE FUNCTION bloom_clk_base64(signature bloom) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_clk_base64_wrapper';
COMMENT ON FUNCTION bloom_clk_base64(bloom) IS
    'bits of a signature in base64, as clkhash and anonlink write them';
CREATE FUNCTION bloom_clk_from_base64(text text, id text, bits integer DEFAULT NULL) RETURNS bloom
    IMMUTABLE PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_clk_from_base64_wrapper';
COMMENT ON FUNCTION bloom_clk_from_base64(text, text, integer) IS
    'keyed signature of its base64 form and the id of its secret and schema; of eight bits a byte if nobody says otherwise';
CREATE FUNCTION ident_phonetic(text text, algorithm text) RETURNS text[]
    IMMUTABLE STRICT PARALLEL SAFE COST 100 LANGUAGE c AS 'MODULE_PATHNAME', 'ident_phonetic_wrapper';
COMMENT ON FUNCTION ident_phonetic(text, text) IS
    'codes of how the words of a text sound, word by word: cologne, soundex, metaphone, double_metaphone, daitch_mokotoff, nysiis, caverphone or beider_morse';
CREATE FUNCTION ident_date(date date) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_date_of_date_wrapper';
COMMENT ON FUNCTION ident_date(date) IS
    'a date as YYYYMMDD';
CREATE FUNCTION ident_date(date text, format text) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_date_of_text_wrapper';
COMMENT ON FUNCTION ident_date(text, text) IS
    'a date in the given format (YYYY, YY, MM, DD, Mon) as YYYYMMDD';
CREATE FUNCTION ident_date(date text, format text, VARIADIC more text[]) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_date_of_formats_wrapper';
COMMENT ON FUNCTION ident_date(text, text, VARIADIC text[]) IS
    'a date as YYYYMMDD, by the first of the formats that makes a date of it';
CREATE FUNCTION ident_date_or_null(date date) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_date_or_null_of_date_wrapper';
COMMENT ON FUNCTION ident_date_or_null(date) IS
    'a date as YYYYMMDD; NULL for infinity and outside the years 1 to 9999';
CREATE FUNCTION ident_date_or_null(date text, format text) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_date_or_null_of_text_wrapper';
COMMENT ON FUNCTION ident_date_or_null(text, text) IS
    'a date in the given format as YYYYMMDD; NULL if it is none';
CREATE FUNCTION ident_date_or_null(date text, format text, VARIADIC more text[]) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_date_or_null_of_formats_wrapper';
COMMENT ON FUNCTION ident_date_or_null(text, text, VARIADIC text[]) IS
    'a date as YYYYMMDD, by the first of the formats that makes a date of it; NULL if none does';
CREATE FUNCTION ident_date_text(date date) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_date_text_of_date_wrapper';
COMMENT ON FUNCTION ident_date_text(date) IS
    'a date as YYYYMMDD; empty for infinity and outside the years 1 to 9999';
CREATE FUNCTION ident_date_text(date text, format text) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_date_text_of_text_wrapper';
COMMENT ON FUNCTION ident_date_text(text, text) IS
    'a date in the given format as YYYYMMDD; of what cannot be, the digits';
CREATE FUNCTION ident_date_text(date text, format text, VARIADIC more text[]) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_date_text_of_formats_wrapper';
COMMENT ON FUNCTION ident_date_text(text, text, VARIADIC text[]) IS
    'a date as YYYYMMDD, by the first of the formats that makes a date of it; of what cannot be, the digits';
CREATE FUNCTION ident_date_plausibility(
    date text, format text, OUT plausible boolean, OUT part text, OUT detail text,
    OUT suggestion text)
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_date_plausibility_wrapper';
COMMENT ON FUNCTION ident_date_plausibility(text, text) IS
    'whether a date can be; if not, which part cannot, why, and what was probably meant';
CREATE FUNCTION ident_time(daytime time) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_time_of_time_wrapper';
COMMENT ON FUNCTION ident_time(time) IS
    'a time of day as HHMMSS, without fractions of a second';
CREATE FUNCTION ident_time(text text, format text) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_time_wrapper';
COMMENT ON FUNCTION ident_time(text, text) IS
    'a time of day in the given format (HH24, HH12, MI, SS, AM) as HHMMSS';
CREATE FUNCTION ident_time(text text, format text, VARIADIC more text[]) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_time_of_formats_wrapper';
COMMENT ON FUNCTION ident_time(text, text, VARIADIC text[]) IS
    'a time of day as HHMMSS, by the first of the formats that makes a time of it';
CREATE FUNCTION ident_time_or_null(daytime time) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_time_or_null_of_time_wrapper';
COMMENT ON FUNCTION ident_time_or_null(time) IS
    'a time of day as HHMMSS, without fractions of a second; NULL for 24:00:00';
CREATE FUNCTION ident_time_or_null(text text, format text) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_time_or_null_wrapper';
COMMENT ON FUNCTION ident_time_or_null(text, text) IS
    'a time of day in the given format as HHMMSS; NULL if it is none';
CREATE FUNCTION ident_time_or_null(text text, format text, VARIADIC more text[]) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_time_or_null_of_formats_wrapper';
COMMENT ON FUNCTION ident_time_or_null(text, text, VARIADIC text[]) IS
    'a time of day as HHMMSS, by the first of the formats that makes a time of it; NULL if none does';
CREATE FUNCTION ident_luhn(number text) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_luhn_wrapper';
COMMENT ON FUNCTION ident_luhn(text) IS
    'whether the digits of a card or identity number pass the Luhn test';

CREATE FUNCTION ident_phone(text text, region text) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE COST 40 LANGUAGE c AS 'MODULE_PATHNAME', 'ident_phone_wrapper';
COMMENT ON FUNCTION ident_phone(text, text) IS
    'digits of a telephone number by E.164, with country code and without +; an error for what is no valid number';
CREATE FUNCTION ident_phone_or_null(text text, region text) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE COST 40 LANGUAGE c AS 'MODULE_PATHNAME', 'ident_phone_or_null_wrapper';
COMMENT ON FUNCTION ident_phone_or_null(text, text) IS
    'digits of a telephone number by E.164, with country code and without +; NULL for what is no valid number';
CREATE FUNCTION ident_phone_extension(text text, region text) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE COST 40 LANGUAGE c AS 'MODULE_PATHNAME', 'ident_phone_extension_wrapper';
COMMENT ON FUNCTION ident_phone_extension(text, text) IS
    'extension that is written behind a valid telephone number; NULL if there is none';
CREATE FUNCTION ident_email(text text) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'ident_email_wrapper';
COMMENT ON FUNCTION ident_email(text) IS
    'one form of an e-mail address, the same for what reaches the same mailbox; an error for what is no address';
CREATE FUNCTION ident_email_or_null(text text) RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'ident_email_or_null_wrapper';
COMMENT ON FUNCTION ident_email_or_null(text) IS
    'one form of an e-mail address, the same for what reaches the same mailbox; NULL for what is no address';
CREATE FUNCTION ident_email_parts(
    text text, OUT local text, OUT tag text, OUT letters text, OUT digits text, OUT pattern text, OUT domain text,
    OUT registrable text, OUT free_provider boolean)
    IMMUTABLE STRICT PARALLEL SAFE COST 40 LANGUAGE c AS 'MODULE_PATHNAME', 'ident_email_parts_wrapper';
COMMENT ON FUNCTION ident_email_parts(text) IS
    'parts of an e-mail address, its registrable domain, and whether that of a free provider';
CREATE FUNCTION ident_address_parts(
    text text, OUT street text, OUT number text, OUT postcode text, OUT city text)
    RETURNS record
    IMMUTABLE STRICT PARALLEL SAFE COST 40 LANGUAGE c AS 'MODULE_PATHNAME', 'ident_address_parts_wrapper';
COMMENT ON FUNCTION ident_address_parts(text) IS
    'parts of a postal address of German, English, Spanish, French or Italian habit';
CREATE FUNCTION ident_encodings(kind text, value text) RETURNS text[]
    IMMUTABLE STRICT PARALLEL SAFE COST 40 LANGUAGE c AS 'MODULE_PATHNAME', 'ident_encodings_wrapper';
COMMENT ON FUNCTION ident_encodings(text, text) IS
    'encodings of an e-mail address, a name, a telephone number or a text, as tokens';
CREATE FUNCTION bloom_fingerprint() RETURNS text
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_fingerprint_wrapper';
COMMENT ON FUNCTION bloom_fingerprint() IS
    'versions of everything on which stored values depend; equal on two servers that compute the same';

-- Tokens -------------------------------------------------------------------------------------

CREATE FUNCTION ident_tokens(text text) RETURNS text[]
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_tokens_of_text_wrapper';
COMMENT ON FUNCTION ident_tokens(text) IS
    'tokens of a text: split at white space, without punctuation, in lower case; numbers keep sign and point';
CREATE FUNCTION ident_tokens(value jsonb, singular boolean DEFAULT true) RETURNS text[]
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_tokens_of_json_wrapper';
COMMENT ON FUNCTION ident_tokens(jsonb, boolean) IS
    'tokens of a JSON value: key_value, with keys in the singular';
CREATE FUNCTION ident_words(text text, uax29 boolean DEFAULT false) RETURNS text[]
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_words_wrapper';
COMMENT ON FUNCTION ident_words(text, boolean) IS
    'words of a text: runs of letters and digits, or words by Unicode''s UAX 29, in lower case';
CREATE FUNCTION ident_characters(text text) RETURNS text[]
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_characters_wrapper';
COMMENT ON FUNCTION ident_characters(text) IS
    'Chinese, Japanese and Korean characters of a text and each two neighbours; other scripts as words in their normal form';
CREATE FUNCTION ident_shingles(tokens text[], w integer) RETURNS text[]
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_shingles_wrapper';
COMMENT ON FUNCTION ident_shingles(text[], integer) IS
    'every w words that follow each other as one token; fewer are one token';
CREATE FUNCTION ident_sequence(steps text[]) RETURNS text[]
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_sequence_wrapper';
COMMENT ON FUNCTION ident_sequence(text[]) IS
    'steps with their places: step1_a, step2_b';
CREATE FUNCTION ident_windows(steps text[], w integer) RETURNS text[]
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_windows_wrapper';
COMMENT ON FUNCTION ident_windows(text[], integer) IS
    'every w steps that follow each other as one token: a>b>c; fewer are one token';
CREATE FUNCTION ident_multiset(tokens text[]) RETURNS text[]
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_multiset_wrapper';
COMMENT ON FUNCTION ident_multiset(text[]) IS
    'tokens with the numbers of their occurrences: milk#1, milk#2';
CREATE FUNCTION ident_token_sim(a text[], b text[]) RETURNS float8
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_token_sim_wrapper';
COMMENT ON FUNCTION ident_token_sim(text[], text[]) IS
    'exact Jaccard similarity of two sets of tokens';
CREATE FUNCTION ident_token_containment(a text[], b text[]) RETURNS float8
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'ident_token_containment_wrapper';
COMMENT ON FUNCTION ident_token_containment(text[], text[]) IS
    'share of the tokens of a that are in b';

-- Planning -----------------------------------------------------------------------------------

CREATE FUNCTION bloom_plan(
    max_chars integer DEFAULT 30, ngram integer DEFAULT 3, fpr float8 DEFAULT 0.01, OUT k integer,
    OUT p integer, OUT m integer, OUT n integer, OUT actual_fpr float8, OUT pattern_floor float8)
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_plan_wrapper';
COMMENT ON FUNCTION bloom_plan(integer, integer, float8) IS
    'shape of a signature for texts of max_chars symbols, or as many tokens with n-gram length 0, and a false-positive rate';
CREATE FUNCTION bloom_collision_rate(model text, p integer, n integer, k integer) RETURNS float8
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_collision_rate_wrapper';
COMMENT ON FUNCTION bloom_collision_rate(text, integer, integer, integer) IS
    'bit collision rate of n words in k segments of p bits, by model fpr, birthday or coll';
CREATE FUNCTION bloom_corrected_threshold(threshold float8, delta float8) RETURNS float8
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_corrected_threshold_wrapper';
COMMENT ON FUNCTION bloom_corrected_threshold(float8, float8) IS
    'threshold on bits for a threshold on n-grams, at collision rate delta';
CREATE FUNCTION bloom_superimposed_fpr(m integer, n integer, filters integer) RETURNS float8
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_superimposed_fpr_wrapper';
COMMENT ON FUNCTION bloom_superimposed_fpr(integer, integer, integer) IS
    'false-positive estimate of superimposed signatures of n words each';
CREATE FUNCTION bloom_jain_estimate(m integer, n integer, k float8, c integer) RETURNS float8
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_jain_estimate_wrapper';
COMMENT ON FUNCTION bloom_jain_estimate(integer, integer, float8, integer) IS
    'share of agreeing bits that agree by chance, of n words with c in common (Jain, Dahlin, Tewari 2005)';
CREATE FUNCTION bloom_expected_fpr(k integer, m bigint, n bigint, OUT fpr float8, OUT exact float8)
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_expected_fpr_wrapper';
COMMENT ON FUNCTION bloom_expected_fpr(integer, bigint, bigint) IS
    'false-positive rate of a filter of m bits with n words of k bits each: by the usual formula, and with exact powers';
CREATE FUNCTION bloom_optimal_k(m bigint, n bigint) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_optimal_k_wrapper';
COMMENT ON FUNCTION bloom_optimal_k(bigint, bigint) IS
    'number of bits a word that makes the false-positive rate of n words in m bits least: m/n times ln 2, rounded';
CREATE FUNCTION bloom_distinct_ngrams(m bigint, k integer) RETURNS numeric
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_distinct_ngrams_wrapper';
COMMENT ON FUNCTION bloom_distinct_ngrams(bigint, integer) IS
    'number of words that a filter without segments can tell apart: k of m bits';
CREATE FUNCTION bloom_segment_length(model text, n integer, k integer, delta float8) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_segment_length_wrapper';
COMMENT ON FUNCTION bloom_segment_length(text, integer, integer, float8) IS
    'least number of bits of a segment with which n words in k segments have a bit collision rate of delta at most';
CREATE FUNCTION bloom_omissions(k integer, m bigint, n bigint, OUT expected float8, OUT "any" float8)
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_omissions_wrapper';
COMMENT ON FUNCTION bloom_omissions(integer, bigint, bigint) IS
    'states that a search of n states omits which keeps them in a filter: their expected number, and the probability of any';
CREATE FUNCTION bloom_shapes(
    max_chars integer DEFAULT 30, ngram integer DEFAULT 3, OUT planned_chars integer, OUT fpr float8, OUT k integer, OUT p integer, OUT m integer,
    OUT actual_fpr float8, OUT bytes integer, OUT collision_rate float8, OUT bias float8, OUT deviation float8, OUT unrelated float8)
    RETURNS SETOF record
    IMMUTABLE STRICT PARALLEL SAFE ROWS 15 COST 100000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_shapes_wrapper';
COMMENT ON FUNCTION bloom_shapes(integer, integer) IS
    'shapes to choose from for texts of max_chars symbols, and how far the similarity of bits is from that of words, measured on made texts';

-- Signatures ---------------------------------------------------------------------------------

CREATE FUNCTION bloom_signature(
    text text, ngram integer DEFAULT 3, max_chars integer DEFAULT 30, fpr float8 DEFAULT 0.01,
    by_word boolean DEFAULT false, filler boolean DEFAULT false, rules integer DEFAULT 1) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_signature_wrapper';
COMMENT ON FUNCTION bloom_signature(text, integer, integer, float8, boolean, boolean, integer) IS
    'signature of a text, after normalising it; with filler, n-grams reach over _ between words';
CREATE FUNCTION bloom_signature(number numeric) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_signature_of_number_wrapper';
COMMENT ON FUNCTION bloom_signature(numeric) IS
    'an error that says how to sign a number: as a text, which has the zeros that it is written with';
CREATE FUNCTION bloom_sign(
    text text, language text, version integer, ngram integer DEFAULT 3, max_chars integer DEFAULT 30, fpr float8 DEFAULT 0.01,
    by_word boolean DEFAULT false, filler boolean DEFAULT false) RETURNS bloom
    STABLE STRICT PARALLEL SAFE COST 100 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_sign_wrapper';
COMMENT ON FUNCTION bloom_sign(text, text, integer, integer, integer, float8, boolean, boolean) IS
    'signature of a text with its abbreviations written out, those of ident_abbreviations first; for triggers';
CREATE FUNCTION bloom_signature_of_identity(
    kind text, value text, max_tokens integer DEFAULT 256, fpr float8 DEFAULT 0.5) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE COST 40 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_signature_of_identity_wrapper';
COMMENT ON FUNCTION bloom_signature_of_identity(text, text, integer, float8) IS
    'signature of several encodings of an e-mail address, a name, a telephone number or a text';
CREATE FUNCTION bloom_signature_of_fields(VARIADIC fields text[]) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_signature_of_fields_wrapper';
COMMENT ON FUNCTION bloom_signature_of_fields(VARIADIC text[]) IS
    'signature of a record: its fields, each by itself, superimposed; NULLs are skipped';
CREATE FUNCTION bloom_signature_of_fields(
    ngram integer, max_chars integer, fpr float8, VARIADIC fields text[]) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_signature_of_fields_shaped_wrapper';
COMMENT ON FUNCTION bloom_signature_of_fields(integer, integer, float8, VARIADIC text[]) IS
    'signature of a record, of the given shape';
CREATE FUNCTION bloom_signature_of_fields(
    ngram integer, max_chars integer, fpr float8, filler boolean, VARIADIC fields text[]) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_signature_of_fields_filled_wrapper';
COMMENT ON FUNCTION bloom_signature_of_fields(integer, integer, float8, boolean, VARIADIC text[]) IS
    'signature of a record, of the given shape; with filler, n-grams reach over _ between the words of a field';
CREATE FUNCTION bloom_signature_of_fields(
    ngram integer, max_chars integer, fpr float8, filler boolean, rules integer, VARIADIC fields text[]) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_signature_of_fields_by_rules_wrapper';
COMMENT ON FUNCTION bloom_signature_of_fields(integer, integer, float8, boolean, integer, VARIADIC text[]) IS
    'signature of a record, of the given shape, by a rule set of normal forms';
CREATE FUNCTION bloom_signature_of_tokens(
    tokens text[], max_tokens integer DEFAULT 32, fpr float8 DEFAULT 0.01) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_signature_of_tokens_wrapper';
COMMENT ON FUNCTION bloom_signature_of_tokens(text[], integer, float8) IS
    'signature of a set of tokens, each hashed as it is; NULLs are skipped';
CREATE FUNCTION bloom_signature_of_date(date text) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_signature_of_date_wrapper';
COMMENT ON FUNCTION bloom_signature_of_date(text) IS
    'signature of a date of eight digits, without its century: dates with an error in them have much in common, others little';
CREATE FUNCTION bloom_add(signature bloom, text text, by_word boolean DEFAULT false, filler boolean DEFAULT false) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_add_wrapper';
COMMENT ON FUNCTION bloom_add(bloom, text, boolean, boolean) IS
    'a signature with the n-grams of a text added';
CREATE FUNCTION bloom_contains(
    signature bloom, text text, by_word boolean DEFAULT false, filler boolean DEFAULT false) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_contains_wrapper';
COMMENT ON FUNCTION bloom_contains(bloom, text, boolean, boolean) IS
    'whether a signature may hold every n-gram of a text; false is certain if by_word and filler are those that it was made with';
CREATE FUNCTION bloom_add(signature bloom, tokens text[]) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_add_tokens_wrapper';
COMMENT ON FUNCTION bloom_add(bloom, text[]) IS
    'a signature of tokens with more of them added';
CREATE FUNCTION bloom_contains(signature bloom, tokens text[]) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_contains_tokens_wrapper';
COMMENT ON FUNCTION bloom_contains(bloom, text[]) IS
    'whether a signature of tokens may hold all of these; false is certain';
CREATE FUNCTION bloom_bits(signature bloom) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_bits_wrapper';
COMMENT ON FUNCTION bloom_bits(bloom) IS
    'number of set bits';
CREATE FUNCTION bloom_fill(signature bloom) RETURNS float8
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_fill_wrapper';
COMMENT ON FUNCTION bloom_fill(bloom) IS
    'share of set bits';
CREATE FUNCTION bloom_ngram_count(signature bloom) RETURNS float8
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_ngram_count_wrapper';
COMMENT ON FUNCTION bloom_ngram_count(bloom) IS
    'estimated number of distinct n-grams or tokens';
CREATE FUNCTION bloom_fpr(signature bloom) RETURNS float8
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_fpr_wrapper';
COMMENT ON FUNCTION bloom_fpr(bloom) IS
    'false-positive rate of the signature as it is filled';

-- Similarity ---------------------------------------------------------------------------------

-- Loads the library when a comparison is planned, which the planner then rewrites.
CREATE FUNCTION bloom_measure_support(internal) RETURNS internal
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_measure_support_wrapper';
COMMENT ON FUNCTION bloom_measure_support(internal) IS
    'planner support of bloom_sim, bloom_dice and ident_edit_within';
CREATE FUNCTION ident_edit_within(a text, b text, k integer) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE COST 10 SUPPORT bloom_measure_support LANGUAGE c AS 'MODULE_PATHNAME', 'ident_edit_within_wrapper';
COMMENT ON FUNCTION ident_edit_within(text, text, integer) IS
    'whether at most k symbols inserted, dropped or replaced make one normal form of the other; an index on the texts'' signatures answers it where k is at most 3';
CREATE FUNCTION bloom_edit_bound(
    text text, k integer, ngram integer DEFAULT 3, max_chars integer DEFAULT 30, fpr float8 DEFAULT 0.01) RETURNS float8
    IMMUTABLE STRICT PARALLEL SAFE COST 50 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_edit_bound_wrapper';
COMMENT ON FUNCTION bloom_edit_bound(text, integer, integer, integer, float8) IS
    'the least bloom_sim of the signature of a text with those of texts that are within k edits, 0 if there is none';
CREATE FUNCTION bloom_sim(a bloom, b bloom) RETURNS bloom_score
    IMMUTABLE STRICT PARALLEL SAFE SUPPORT bloom_measure_support LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_sim_wrapper';
COMMENT ON FUNCTION bloom_sim(bloom, bloom) IS
    'Jaccard similarity: common bits of all bits';
CREATE FUNCTION bloom_dice(a bloom, b bloom) RETURNS bloom_score
    IMMUTABLE STRICT PARALLEL SAFE SUPPORT bloom_measure_support LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_dice_wrapper';
COMMENT ON FUNCTION bloom_dice(bloom, bloom) IS
    'Dice similarity: common bits of the mean';
CREATE FUNCTION bloom_jaccard_of_dice(dice float8) RETURNS float8
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_jaccard_of_dice_wrapper';
COMMENT ON FUNCTION bloom_jaccard_of_dice(float8) IS
    'threshold of Jaccard similarity that the pairs of a Dice similarity reach, and no others';
CREATE FUNCTION bloom_overlap(a bloom, b bloom) RETURNS bloom_score
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_overlap_wrapper';
COMMENT ON FUNCTION bloom_overlap(bloom, bloom) IS
    'overlap: common bits of the smaller';
CREATE FUNCTION bloom_cosine(a bloom, b bloom) RETURNS bloom_score
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_cosine_wrapper';
COMMENT ON FUNCTION bloom_cosine(bloom, bloom) IS
    'cosine similarity: common bits of the geometric mean';
CREATE FUNCTION bloom_containment(a bloom, b bloom) RETURNS bloom_score
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_containment_wrapper';
COMMENT ON FUNCTION bloom_containment(bloom, bloom) IS
    'containment: share of the bits of a that are in b';
CREATE FUNCTION bloom_hamming(a bloom, b bloom) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_hamming_wrapper';
COMMENT ON FUNCTION bloom_hamming(bloom, bloom) IS
    'number of bits that differ';
CREATE FUNCTION bloom_sim_corrected(a bloom, b bloom, delta float8) RETURNS float8
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_sim_corrected_wrapper';
COMMENT ON FUNCTION bloom_sim_corrected(bloom, bloom, float8) IS
    'Jaccard similarity of n-grams, estimated from bits at collision rate delta';
CREATE FUNCTION bloom_profile_sim(a bloom[], b bloom[], weights float8[]) RETURNS bloom_score
    IMMUTABLE STRICT PARALLEL SAFE COST 10 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_profile_sim_wrapper';
COMMENT ON FUNCTION bloom_profile_sim(bloom[], bloom[], float8[]) IS
    'weighted similarity of two records; attributes missing on either side take no part';
CREATE FUNCTION bloom_profile_coverage(a bloom[], b bloom[], weights float8[]) RETURNS float8
    IMMUTABLE STRICT PARALLEL SAFE COST 5 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_profile_coverage_wrapper';
COMMENT ON FUNCTION bloom_profile_coverage(bloom[], bloom[], float8[]) IS
    'share of the weights whose attributes both records have';
CREATE FUNCTION bloom_similar(bloom, bloom) RETURNS boolean
    STABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_similar_wrapper';
COMMENT ON FUNCTION bloom_similar(bloom, bloom) IS
    'whether bloom_sim reaches bloom_ident.threshold';
CREATE FUNCTION bloom_distance(bloom, bloom) RETURNS float8
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_distance_wrapper';
COMMENT ON FUNCTION bloom_distance(bloom, bloom) IS
    'distance: 1 less bloom_sim';
CREATE FUNCTION bloom_covers(bloom, bloom) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_covers_wrapper';
COMMENT ON FUNCTION bloom_covers(bloom, bloom) IS
    'whether the left signature has every bit of the right';
CREATE FUNCTION bloom_covered_by(bloom, bloom) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_covered_by_wrapper';
COMMENT ON FUNCTION bloom_covered_by(bloom, bloom) IS
    'whether the right signature has every bit of the left';

-- Estimators of %, by the sample of signatures that ANALYZE keeps. Other shapes in it are similar to nothing.
CREATE FUNCTION bloom_match_sel(internal, oid, internal, integer) RETURNS float8
    STABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_match_sel_wrapper';
COMMENT ON FUNCTION bloom_match_sel(internal, oid, internal, integer) IS
    'restriction selectivity of % on signatures and sketches';
CREATE FUNCTION bloom_match_joinsel(internal, oid, internal, smallint, internal) RETURNS float8
    STABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_match_joinsel_wrapper';
COMMENT ON FUNCTION bloom_match_joinsel(internal, oid, internal, smallint, internal) IS
    'join selectivity of % on signatures and sketches';

-- The commutator has a name of its own, so that EXCLUDE refuses an operator that a setting governs.
CREATE OPERATOR % (LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_similar,
    COMMUTATOR = ~%, RESTRICT = bloom_match_sel, JOIN = bloom_match_joinsel);
CREATE OPERATOR ~% (LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_similar,
    COMMUTATOR = %, RESTRICT = bloom_match_sel, JOIN = bloom_match_joinsel);
CREATE OPERATOR <-> (LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_distance, COMMUTATOR = <->);
CREATE OPERATOR @> (LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_covers,
    COMMUTATOR = <@, RESTRICT = pg_catalog.contsel, JOIN = pg_catalog.contjoinsel);
CREATE OPERATOR <@ (LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_covered_by,
    COMMUTATOR = @>, RESTRICT = pg_catalog.contsel, JOIN = pg_catalog.contjoinsel);

COMMENT ON OPERATOR % (bloom, bloom) IS 'bloom_sim reaches bloom_ident.threshold';
COMMENT ON OPERATOR ~% (bloom, bloom) IS 'commutator of %';
COMMENT ON OPERATOR <-> (bloom, bloom) IS 'distance: 1 less bloom_sim';
COMMENT ON OPERATOR @> (bloom, bloom) IS 'has every bit of';
COMMENT ON OPERATOR <@ (bloom, bloom) IS 'has all its bits in';

-- Superimposing ------------------------------------------------------------------------------

CREATE FUNCTION bloom_or(bloom, bloom) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_or_wrapper';
COMMENT ON FUNCTION bloom_or(bloom, bloom) IS
    'union: bits of either';
CREATE FUNCTION bloom_and(bloom, bloom) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_and_wrapper';
COMMENT ON FUNCTION bloom_and(bloom, bloom) IS
    'intersection: bits of both';
CREATE FUNCTION bloom_union_step(bloom, bloom) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_union_step_wrapper';
COMMENT ON FUNCTION bloom_union_step(bloom, bloom) IS
    'state of bloom_union(bloom)';

CREATE OPERATOR | (LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_or, COMMUTATOR = |);
CREATE OPERATOR & (LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_and, COMMUTATOR = &);
COMMENT ON OPERATOR | (bloom, bloom) IS 'union: bits of either';
COMMENT ON OPERATOR & (bloom, bloom) IS 'intersection: bits of both';

CREATE AGGREGATE bloom_union(bloom) (
    SFUNC = bloom_union_step,
    STYPE = bloom,
    COMBINEFUNC = bloom_union_step,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE bloom_union(bloom) IS 'union of signatures: bits of any';

-- Counting filters ---------------------------------------------------------------------------

CREATE TYPE counting_bloom;

CREATE FUNCTION counting_bloom_in(cstring, oid, integer) RETURNS counting_bloom
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'counting_bloom_in_wrapper';
CREATE FUNCTION counting_bloom_out(counting_bloom) RETURNS cstring
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'counting_bloom_out_wrapper';
CREATE FUNCTION counting_bloom_recv(internal, oid, integer) RETURNS counting_bloom
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'counting_bloom_recv_wrapper';
CREATE FUNCTION counting_bloom_send(counting_bloom) RETURNS bytea
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'counting_bloom_send_wrapper';
CREATE FUNCTION counting_bloom_typmod_in(cstring[]) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'counting_bloom_typmod_in_wrapper';

CREATE TYPE counting_bloom (
    INPUT = counting_bloom_in,
    OUTPUT = counting_bloom_out,
    RECEIVE = counting_bloom_recv,
    SEND = counting_bloom_send,
    TYPMOD_IN = counting_bloom_typmod_in,
    TYPMOD_OUT = bloom_typmod_out,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = extended
);
COMMENT ON TYPE counting_bloom IS 'Bloom filter with counters, from which texts can be removed; counting_bloom(k,p,q) fixes the shape';
COMMENT ON FUNCTION counting_bloom_in(cstring, oid, integer) IS 'input of type counting_bloom';
COMMENT ON FUNCTION counting_bloom_out(counting_bloom) IS 'output of type counting_bloom';
COMMENT ON FUNCTION counting_bloom_recv(internal, oid, integer) IS 'binary input of type counting_bloom';
COMMENT ON FUNCTION counting_bloom_send(counting_bloom) IS 'binary output of type counting_bloom';
COMMENT ON FUNCTION counting_bloom_typmod_in(cstring[]) IS 'reads a type modifier of counting_bloom';

CREATE FUNCTION counting_bloom_apply_typmod(counting_bloom, integer, boolean) RETURNS counting_bloom
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'counting_bloom_apply_typmod_wrapper';
COMMENT ON FUNCTION counting_bloom_apply_typmod(counting_bloom, integer, boolean) IS
    'enforces a type modifier of counting_bloom';
CREATE FUNCTION counting_bloom_to_bloom(counting_bloom) RETURNS bloom
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'counting_bloom_to_bloom_wrapper';
COMMENT ON FUNCTION counting_bloom_to_bloom(counting_bloom) IS
    'the signature of what is in a counting filter';
CREATE FUNCTION bytea_to_counting_bloom(bytea) RETURNS counting_bloom
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bytea_to_counting_bloom_wrapper';
COMMENT ON FUNCTION bytea_to_counting_bloom(bytea) IS
    'a counting filter from its binary form';
CREATE CAST (counting_bloom AS counting_bloom) WITH FUNCTION counting_bloom_apply_typmod(counting_bloom, integer, boolean) AS IMPLICIT;
COMMENT ON CAST (counting_bloom AS counting_bloom) IS 'checks that the counting filter has the shape of the type modifier';
CREATE CAST (counting_bloom AS bloom) WITH FUNCTION counting_bloom_to_bloom(counting_bloom);
COMMENT ON CAST (counting_bloom AS bloom) IS 'the signature of what is in the counting filter';
CREATE CAST (counting_bloom AS bytea) WITH FUNCTION counting_bloom_send(counting_bloom);
COMMENT ON CAST (counting_bloom AS bytea) IS 'the stored bytes of the counting filter, as its binary output has them';
CREATE CAST (bytea AS counting_bloom) WITH FUNCTION bytea_to_counting_bloom(bytea);
COMMENT ON CAST (bytea AS counting_bloom) IS 'a counting filter of these stored bytes, which are checked';

CREATE FUNCTION counting_signature(
    text text, ngram integer DEFAULT 3, max_chars integer DEFAULT 30, fpr float8 DEFAULT 0.01,
    by_word boolean DEFAULT false, filler boolean DEFAULT false, rules integer DEFAULT 1) RETURNS counting_bloom
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'counting_signature_wrapper';
COMMENT ON FUNCTION counting_signature(text, integer, integer, float8, boolean, boolean, integer) IS
    'counting filter of a text, after normalising it';
CREATE FUNCTION counting_add(
    filter counting_bloom, text text, by_word boolean DEFAULT false, filler boolean DEFAULT false) RETURNS counting_bloom
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'counting_add_wrapper';
COMMENT ON FUNCTION counting_add(counting_bloom, text, boolean, boolean) IS
    'a counting filter with the n-grams of a text added';
CREATE FUNCTION counting_remove(
    filter counting_bloom, text text, by_word boolean DEFAULT false, filler boolean DEFAULT false) RETURNS counting_bloom
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'counting_remove_wrapper';
COMMENT ON FUNCTION counting_remove(counting_bloom, text, boolean, boolean) IS
    'a counting filter with a text removed that was added; an error if it cannot have been';
CREATE FUNCTION counting_contains(
    filter counting_bloom, text text, by_word boolean DEFAULT false, filler boolean DEFAULT false) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'counting_contains_wrapper';
COMMENT ON FUNCTION counting_contains(counting_bloom, text, boolean, boolean) IS
    'whether a counting filter may hold every n-gram of a text; false is certain if by_word and filler are those that it was made with';
CREATE FUNCTION counting_signature_of_tokens(
    tokens text[], max_tokens integer DEFAULT 32, fpr float8 DEFAULT 0.01) RETURNS counting_bloom
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'counting_signature_of_tokens_wrapper';
COMMENT ON FUNCTION counting_signature_of_tokens(text[], integer, float8) IS
    'counting filter of a set of tokens, each hashed as it is; NULLs are skipped';
CREATE FUNCTION counting_add(filter counting_bloom, tokens text[]) RETURNS counting_bloom
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'counting_add_tokens_wrapper';
COMMENT ON FUNCTION counting_add(counting_bloom, text[]) IS
    'a counting filter of tokens with each of these added once';
CREATE FUNCTION counting_remove(filter counting_bloom, tokens text[]) RETURNS counting_bloom
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'counting_remove_tokens_wrapper';
COMMENT ON FUNCTION counting_remove(counting_bloom, text[]) IS
    'a counting filter of tokens with each of these removed once; an error if they cannot have been added';
CREATE FUNCTION counting_contains(filter counting_bloom, tokens text[]) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'counting_contains_tokens_wrapper';
COMMENT ON FUNCTION counting_contains(counting_bloom, text[]) IS
    'whether a counting filter of tokens may hold all of these; false is certain';
CREATE FUNCTION counting_full(filter counting_bloom) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'counting_full_wrapper';
COMMENT ON FUNCTION counting_full(counting_bloom) IS
    'number of counters at their maximum, which stay there';
CREATE FUNCTION counting_merge(a counting_bloom, b counting_bloom) RETURNS counting_bloom
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'counting_merge_wrapper';
COMMENT ON FUNCTION counting_merge(counting_bloom, counting_bloom) IS
    'what is in either of two counting filters: the sums of their counters';
CREATE FUNCTION counting_merge_step(counting_bloom, counting_bloom) RETURNS counting_bloom
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'counting_merge_step_wrapper';
COMMENT ON FUNCTION counting_merge_step(counting_bloom, counting_bloom) IS
    'state of the aggregate counting_merge(counting_bloom)';

CREATE AGGREGATE counting_merge(counting_bloom) (
    SFUNC = counting_merge_step,
    STYPE = counting_bloom,
    COMBINEFUNC = counting_merge_step,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE counting_merge(counting_bloom) IS 'what is in any of the counting filters: the sums of their counters';

-- Queries: a signature and its threshold -----------------------------------------------------

CREATE TYPE bloom_query;

CREATE FUNCTION bloom_query_in(cstring) RETURNS bloom_query
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_query_in_wrapper';
CREATE FUNCTION bloom_query_out(bloom_query) RETURNS cstring
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_query_out_wrapper';
CREATE FUNCTION bloom_query_recv(internal) RETURNS bloom_query
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_query_recv_wrapper';
CREATE FUNCTION bloom_query_send(bloom_query) RETURNS bytea
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_query_send_wrapper';

CREATE TYPE bloom_query (
    INPUT = bloom_query_in,
    OUTPUT = bloom_query_out,
    RECEIVE = bloom_query_recv,
    SEND = bloom_query_send,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = extended
);
COMMENT ON TYPE bloom_query IS 'a signature and the similarity, threshold included, that it is searched with, and perhaps a text that rows have to be within some edits of';
COMMENT ON FUNCTION bloom_query_in(cstring) IS 'input of type bloom_query';
COMMENT ON FUNCTION bloom_query_out(bloom_query) IS 'output of type bloom_query';
COMMENT ON FUNCTION bloom_query_recv(internal) IS 'binary input of type bloom_query';
COMMENT ON FUNCTION bloom_query_send(bloom_query) IS 'binary output of type bloom_query';

CREATE FUNCTION bloom_query(signature bloom, threshold float8) RETURNS bloom_query
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_query_wrapper';
COMMENT ON FUNCTION bloom_query(bloom, float8) IS
    'a signature and the similarity that it is searched with';
CREATE FUNCTION bloom_query_at_least(bloom, float8) RETURNS bloom_query
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_query_at_least_wrapper';
COMMENT ON FUNCTION bloom_query_at_least(bloom, float8) IS
    'what bloom_sim(...) >= c searches; made by the planner';
CREATE FUNCTION bloom_query_above(bloom, float8) RETURNS bloom_query
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_query_above_wrapper';
COMMENT ON FUNCTION bloom_query_above(bloom, float8) IS
    'what bloom_sim(...) > c searches; made by the planner';
CREATE FUNCTION bloom_query_of_dice(bloom, float8) RETURNS bloom_query
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_query_of_dice_wrapper';
COMMENT ON FUNCTION bloom_query_of_dice(bloom, float8) IS
    'what comparisons of bloom_dice(...) search, and a little more; made by the planner';
CREATE FUNCTION bloom_query_edit(bloom, float8, text, integer) RETURNS bloom_query
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_query_edit_wrapper';
COMMENT ON FUNCTION bloom_query_edit(bloom, float8, text, integer) IS
    'query for what bloom_edit_possible finds, for the planner';
CREATE FUNCTION bloom_matches(bloom, bloom_query) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_matches_wrapper';
COMMENT ON FUNCTION bloom_matches(bloom, bloom_query) IS
    'whether bloom_sim reaches the threshold of the query';
CREATE FUNCTION bloom_query_matches(bloom_query, bloom) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_query_matches_wrapper';
COMMENT ON FUNCTION bloom_query_matches(bloom_query, bloom) IS
    'whether bloom_sim reaches the threshold of the query';
CREATE FUNCTION bloom_queries_match(bloom_query, bloom_query) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_queries_match_wrapper';
COMMENT ON FUNCTION bloom_queries_match(bloom_query, bloom_query) IS
    'whether bloom_sim reaches the larger of both thresholds';

CREATE OPERATOR % (LEFTARG = bloom, RIGHTARG = bloom_query, FUNCTION = bloom_matches,
    COMMUTATOR = %, RESTRICT = bloom_match_sel, JOIN = bloom_match_joinsel);
CREATE OPERATOR % (LEFTARG = bloom_query, RIGHTARG = bloom, FUNCTION = bloom_query_matches,
    COMMUTATOR = %, RESTRICT = bloom_match_sel, JOIN = bloom_match_joinsel);
CREATE OPERATOR % (LEFTARG = bloom_query, RIGHTARG = bloom_query, FUNCTION = bloom_queries_match,
    COMMUTATOR = %, RESTRICT = bloom_match_sel, JOIN = bloom_match_joinsel);
COMMENT ON OPERATOR % (bloom, bloom_query) IS 'bloom_sim reaches the threshold of the query, and bloom_edit_possible holds of its text, if it has one';
COMMENT ON OPERATOR % (bloom_query, bloom) IS 'bloom_sim reaches the threshold of the query, and bloom_edit_possible holds of its text, if it has one';
COMMENT ON OPERATOR % (bloom_query, bloom_query) IS 'bloom_sim reaches the larger of both thresholds, and bloom_edit_possible holds of the text of each, if it has one';

-- Similarity against a threshold, as the planner sees it -------------------------------------

CREATE FUNCTION bloom_sim_above_support(internal) RETURNS internal
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_sim_above_support_wrapper';
COMMENT ON FUNCTION bloom_sim_above_support(internal) IS
    'planner support of bloom_sim_above';
CREATE FUNCTION bloom_sim_at_least_support(internal) RETURNS internal
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_sim_at_least_support_wrapper';
COMMENT ON FUNCTION bloom_sim_at_least_support(internal) IS
    'planner support of bloom_sim_at_least';
CREATE FUNCTION bloom_dice_support(internal) RETURNS internal
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_dice_support_wrapper';
COMMENT ON FUNCTION bloom_dice_support(internal) IS
    'planner support of bloom_dice_above and bloom_dice_at_least';
CREATE FUNCTION bloom_sim_above(a bloom, b bloom, threshold float8) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE SUPPORT bloom_sim_above_support LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_sim_above_wrapper';
COMMENT ON FUNCTION bloom_sim_above(bloom, bloom, float8) IS
    'bloom_sim(a, b) > threshold, as an index answers it';
CREATE FUNCTION bloom_sim_at_least(a bloom, b bloom, threshold float8) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE SUPPORT bloom_sim_at_least_support LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_sim_at_least_wrapper';
COMMENT ON FUNCTION bloom_sim_at_least(bloom, bloom, float8) IS
    'bloom_sim(a, b) >= threshold, as an index answers it';
CREATE FUNCTION bloom_edit_possible_support(internal) RETURNS internal
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_edit_possible_support_wrapper';
COMMENT ON FUNCTION bloom_edit_possible_support(internal) IS
    'planner support of bloom_edit_possible';
CREATE FUNCTION bloom_edit_possible(a bloom, b bloom, bound float8, text text, k integer) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE COST 11 SUPPORT bloom_edit_possible_support LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_edit_possible_wrapper';
COMMENT ON FUNCTION bloom_edit_possible(bloom, bloom, float8, text, integer) IS
    'whether a may be the signature of what is within k edits of text, of which b is the signature and bound the least similarity, as an index answers it';
CREATE FUNCTION bloom_dice_above(a bloom, b bloom, threshold float8) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE SUPPORT bloom_dice_support LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_dice_above_wrapper';
COMMENT ON FUNCTION bloom_dice_above(bloom, bloom, float8) IS
    'bloom_dice(a, b) > threshold, as an index answers it';
CREATE FUNCTION bloom_dice_at_least(a bloom, b bloom, threshold float8) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE SUPPORT bloom_dice_support LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_dice_at_least_wrapper';
COMMENT ON FUNCTION bloom_dice_at_least(bloom, bloom, float8) IS
    'bloom_dice(a, b) >= threshold, as an index answers it';

-- GiST ---------------------------------------------------------------------------------------

CREATE TYPE bloom_gist_key;

CREATE FUNCTION bloom_gist_key_in(cstring) RETURNS bloom_gist_key
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_gist_key_in_wrapper';
CREATE FUNCTION bloom_gist_key_out(bloom_gist_key) RETURNS cstring
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_gist_key_out_wrapper';

CREATE TYPE bloom_gist_key (
    INPUT = bloom_gist_key_in,
    OUTPUT = bloom_gist_key_out,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = external
);
COMMENT ON TYPE bloom_gist_key IS 'key of a GiST index over signatures or sampled sketches';
COMMENT ON FUNCTION bloom_gist_key_in(cstring) IS 'refuses: such keys are made by the index alone';
COMMENT ON FUNCTION bloom_gist_key_out(bloom_gist_key) IS 'describes a key';

CREATE FUNCTION bloom_gist_consistent(internal, bloom, smallint, oid, internal) RETURNS boolean
    STABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_gist_consistent_wrapper';
COMMENT ON FUNCTION bloom_gist_consistent(internal, bloom, smallint, oid, internal) IS
    'GiST support';
CREATE FUNCTION bloom_query_gist_consistent(internal, bloom_query, smallint, oid, internal) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_query_gist_consistent_wrapper';
COMMENT ON FUNCTION bloom_query_gist_consistent(internal, bloom_query, smallint, oid, internal) IS
    'GiST support';
CREATE FUNCTION bloom_gist_distance(internal, bloom, smallint, oid, internal) RETURNS float8
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_gist_distance_wrapper';
COMMENT ON FUNCTION bloom_gist_distance(internal, bloom, smallint, oid, internal) IS
    'GiST support';
CREATE FUNCTION bloom_gist_compress(internal) RETURNS internal
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_gist_compress_wrapper';
COMMENT ON FUNCTION bloom_gist_compress(internal) IS
    'GiST support';
CREATE FUNCTION bloom_gist_fetch(internal) RETURNS internal
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_gist_fetch_wrapper';
COMMENT ON FUNCTION bloom_gist_fetch(internal) IS
    'GiST support';
CREATE FUNCTION bloom_gist_union(internal, internal) RETURNS bloom_gist_key
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_gist_union_wrapper';
COMMENT ON FUNCTION bloom_gist_union(internal, internal) IS
    'GiST support';
CREATE FUNCTION bloom_gist_penalty(internal, internal, internal) RETURNS internal
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_gist_penalty_wrapper';
COMMENT ON FUNCTION bloom_gist_penalty(internal, internal, internal) IS
    'GiST support';
CREATE FUNCTION bloom_gist_picksplit(internal, internal) RETURNS internal
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_gist_picksplit_wrapper';
COMMENT ON FUNCTION bloom_gist_picksplit(internal, internal) IS
    'GiST support';
CREATE FUNCTION bloom_gist_same(bloom_gist_key, bloom_gist_key, internal) RETURNS internal
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_gist_same_wrapper';
COMMENT ON FUNCTION bloom_gist_same(bloom_gist_key, bloom_gist_key, internal) IS
    'GiST support';
CREATE FUNCTION bloom_gist_sortsupport(internal) RETURNS void
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_gist_sortsupport_wrapper';
COMMENT ON FUNCTION bloom_gist_sortsupport(internal) IS
    'GiST support';

CREATE OPERATOR CLASS gist_bloom_ops DEFAULT FOR TYPE bloom USING gist AS
    OPERATOR 1 % (bloom, bloom),
    OPERATOR 2 % (bloom, bloom_query),
    OPERATOR 3 =,
    OPERATOR 4 @>,
    OPERATOR 5 <@,
    OPERATOR 6 <-> (bloom, bloom) FOR ORDER BY pg_catalog.float_ops,
    OPERATOR 7 ~% (bloom, bloom),
    FUNCTION 1 bloom_gist_consistent(internal, bloom, smallint, oid, internal),
    FUNCTION 2 bloom_gist_union(internal, internal),
    FUNCTION 3 bloom_gist_compress(internal),
    FUNCTION 5 bloom_gist_penalty(internal, internal, internal),
    FUNCTION 6 bloom_gist_picksplit(internal, internal),
    FUNCTION 7 bloom_gist_same(bloom_gist_key, bloom_gist_key, internal),
    FUNCTION 8 bloom_gist_distance(internal, bloom, smallint, oid, internal),
    FUNCTION 9 bloom_gist_fetch(internal),
    FUNCTION 11 bloom_gist_sortsupport(internal),
    STORAGE bloom_gist_key;

CREATE OPERATOR CLASS gist_bloom_query_ops DEFAULT FOR TYPE bloom_query USING gist AS
    OPERATOR 1 % (bloom_query, bloom_query),
    OPERATOR 2 % (bloom_query, bloom),
    FUNCTION 1 bloom_query_gist_consistent(internal, bloom_query, smallint, oid, internal),
    FUNCTION 2 bloom_gist_union(internal, internal),
    FUNCTION 3 bloom_gist_compress(internal),
    FUNCTION 5 bloom_gist_penalty(internal, internal, internal),
    FUNCTION 6 bloom_gist_picksplit(internal, internal),
    FUNCTION 7 bloom_gist_same(bloom_gist_key, bloom_gist_key, internal),
    FUNCTION 9 bloom_gist_fetch(internal),
    FUNCTION 11 bloom_gist_sortsupport(internal),
    STORAGE bloom_gist_key;

COMMENT ON OPERATOR CLASS gist_bloom_ops USING gist IS 'similarity, containment and nearest neighbours of signatures';
COMMENT ON OPERATOR CLASS gist_bloom_query_ops USING gist IS 'similarity of signatures by thresholds of their own, for exclusion constraints';
COMMENT ON OPERATOR FAMILY gist_bloom_ops USING gist IS 'similarity, containment and nearest neighbours of signatures';
COMMENT ON OPERATOR FAMILY gist_bloom_query_ops USING gist IS 'similarity of signatures by thresholds of their own, for exclusion constraints';

-- Access method sigfile ------------------------------------------------------------------------

CREATE FUNCTION sigfile_handler(internal) RETURNS index_am_handler
    STRICT LANGUAGE c AS 'MODULE_PATHNAME', 'sigfile_handler_wrapper';
COMMENT ON FUNCTION sigfile_handler(internal) IS 'handler of index access method sigfile';

CREATE ACCESS METHOD sigfile TYPE INDEX HANDLER sigfile_handler;
COMMENT ON ACCESS METHOD sigfile IS 'exact similarity search over signatures';

CREATE OPERATOR CLASS sigfile_bloom_ops DEFAULT FOR TYPE bloom USING sigfile AS
    OPERATOR 1 % (bloom, bloom),
    OPERATOR 2 % (bloom, bloom_query),
    OPERATOR 3 =,
    OPERATOR 4 @>,
    OPERATOR 5 <@,
    OPERATOR 6 <-> (bloom, bloom) FOR ORDER BY pg_catalog.float_ops,
    OPERATOR 9 ~% (bloom, bloom);

-- In the same family, since an index on bloom_query(sig, 0.85) serves searches of sig, too. Numbers of their
-- own: an exclusion check tells neither class nor types to the method.
CREATE OPERATOR CLASS sigfile_bloom_query_ops DEFAULT FOR TYPE bloom_query USING sigfile FAMILY sigfile_bloom_ops AS
    OPERATOR 7 % (bloom_query, bloom_query),
    OPERATOR 8 % (bloom_query, bloom);

COMMENT ON OPERATOR CLASS sigfile_bloom_ops USING sigfile IS 'similarity, containment and nearest neighbours of signatures';
COMMENT ON OPERATOR CLASS sigfile_bloom_query_ops USING sigfile IS 'similarity of signatures by thresholds of their own, for exclusion constraints';
COMMENT ON OPERATOR FAMILY sigfile_bloom_ops USING sigfile IS 'similarity, containment and nearest neighbours of signatures, with and without thresholds of their own';

-- Columns before the signature: equality, and the hash function that access method hash has for the type. Values of the types of a
-- family can be equal to each other, and then have the same hash.

CREATE OPERATOR FAMILY sigfile_integer_ops USING sigfile;
COMMENT ON OPERATOR FAMILY sigfile_integer_ops USING sigfile IS 'equality of integers, of any two sizes, before a signature';
CREATE OPERATOR CLASS sigfile_int2_ops DEFAULT FOR TYPE int2 USING sigfile FAMILY sigfile_integer_ops AS
    OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hashint2(int2);
COMMENT ON OPERATOR CLASS sigfile_int2_ops USING sigfile IS 'equality of int2, before a signature';
CREATE OPERATOR CLASS sigfile_int4_ops DEFAULT FOR TYPE int4 USING sigfile FAMILY sigfile_integer_ops AS
    OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hashint4(int4);
COMMENT ON OPERATOR CLASS sigfile_int4_ops USING sigfile IS 'equality of int4, before a signature';
CREATE OPERATOR CLASS sigfile_int8_ops DEFAULT FOR TYPE int8 USING sigfile FAMILY sigfile_integer_ops AS
    OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hashint8(int8);
COMMENT ON OPERATOR CLASS sigfile_int8_ops USING sigfile IS 'equality of int8, before a signature';
ALTER OPERATOR FAMILY sigfile_integer_ops USING sigfile ADD
    OPERATOR 1 pg_catalog.= (int2, int4),
    OPERATOR 1 pg_catalog.= (int2, int8),
    OPERATOR 1 pg_catalog.= (int4, int2),
    OPERATOR 1 pg_catalog.= (int4, int8),
    OPERATOR 1 pg_catalog.= (int8, int2),
    OPERATOR 1 pg_catalog.= (int8, int4);

CREATE OPERATOR FAMILY sigfile_float_ops USING sigfile;
COMMENT ON OPERATOR FAMILY sigfile_float_ops USING sigfile IS 'equality of floating-point numbers, of any two sizes, before a signature';
CREATE OPERATOR CLASS sigfile_float4_ops DEFAULT FOR TYPE float4 USING sigfile FAMILY sigfile_float_ops AS
    OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hashfloat4(float4);
COMMENT ON OPERATOR CLASS sigfile_float4_ops USING sigfile IS 'equality of float4, before a signature';
CREATE OPERATOR CLASS sigfile_float8_ops DEFAULT FOR TYPE float8 USING sigfile FAMILY sigfile_float_ops AS
    OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hashfloat8(float8);
COMMENT ON OPERATOR CLASS sigfile_float8_ops USING sigfile IS 'equality of float8, before a signature';
ALTER OPERATOR FAMILY sigfile_float_ops USING sigfile ADD
    OPERATOR 1 pg_catalog.= (float4, float8),
    OPERATOR 1 pg_catalog.= (float8, float4);

CREATE OPERATOR FAMILY sigfile_text_ops USING sigfile;
COMMENT ON OPERATOR FAMILY sigfile_text_ops USING sigfile IS 'equality of texts, and of a text and a name, before a signature';
CREATE OPERATOR CLASS sigfile_text_ops DEFAULT FOR TYPE text USING sigfile FAMILY sigfile_text_ops AS
    OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hashtext(text);
COMMENT ON OPERATOR CLASS sigfile_text_ops USING sigfile IS 'equality of text, before a signature';
CREATE OPERATOR CLASS sigfile_name_ops DEFAULT FOR TYPE name USING sigfile FAMILY sigfile_text_ops AS
    OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hashname(name);
COMMENT ON OPERATOR CLASS sigfile_name_ops USING sigfile IS 'equality of name, before a signature';
ALTER OPERATOR FAMILY sigfile_text_ops USING sigfile ADD
    OPERATOR 1 pg_catalog.= (text, name),
    OPERATOR 1 pg_catalog.= (name, text);

CREATE OPERATOR CLASS sigfile_aclitem_ops DEFAULT FOR TYPE aclitem USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hash_aclitem(aclitem);
COMMENT ON OPERATOR CLASS sigfile_aclitem_ops USING sigfile IS 'equality of aclitem, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_aclitem_ops USING sigfile IS 'equality of aclitem, before a signature';
CREATE OPERATOR CLASS sigfile_anyarray_ops DEFAULT FOR TYPE anyarray USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hash_array(anyarray);
COMMENT ON OPERATOR CLASS sigfile_anyarray_ops USING sigfile IS 'equality of anyarray, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_anyarray_ops USING sigfile IS 'equality of anyarray, before a signature';
CREATE OPERATOR CLASS sigfile_anyenum_ops DEFAULT FOR TYPE anyenum USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hashenum(anyenum);
COMMENT ON OPERATOR CLASS sigfile_anyenum_ops USING sigfile IS 'equality of anyenum, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_anyenum_ops USING sigfile IS 'equality of anyenum, before a signature';
CREATE OPERATOR CLASS sigfile_anymultirange_ops DEFAULT FOR TYPE anymultirange USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hash_multirange(anymultirange);
COMMENT ON OPERATOR CLASS sigfile_anymultirange_ops USING sigfile IS 'equality of anymultirange, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_anymultirange_ops USING sigfile IS 'equality of anymultirange, before a signature';
CREATE OPERATOR CLASS sigfile_anyrange_ops DEFAULT FOR TYPE anyrange USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hash_range(anyrange);
COMMENT ON OPERATOR CLASS sigfile_anyrange_ops USING sigfile IS 'equality of anyrange, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_anyrange_ops USING sigfile IS 'equality of anyrange, before a signature';
CREATE OPERATOR CLASS sigfile_bool_ops DEFAULT FOR TYPE bool USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hashchar("char");
COMMENT ON OPERATOR CLASS sigfile_bool_ops USING sigfile IS 'equality of bool, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_bool_ops USING sigfile IS 'equality of bool, before a signature';
CREATE OPERATOR CLASS sigfile_bpchar_ops DEFAULT FOR TYPE bpchar USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hashbpchar(bpchar);
COMMENT ON OPERATOR CLASS sigfile_bpchar_ops USING sigfile IS 'equality of bpchar, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_bpchar_ops USING sigfile IS 'equality of bpchar, before a signature';
CREATE OPERATOR CLASS sigfile_bytea_ops DEFAULT FOR TYPE bytea USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hashvarlena(internal);
COMMENT ON OPERATOR CLASS sigfile_bytea_ops USING sigfile IS 'equality of bytea, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_bytea_ops USING sigfile IS 'equality of bytea, before a signature';
CREATE OPERATOR CLASS sigfile_char_ops DEFAULT FOR TYPE "char" USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hashchar("char");
COMMENT ON OPERATOR CLASS sigfile_char_ops USING sigfile IS 'equality of "char", before a signature';
COMMENT ON OPERATOR FAMILY sigfile_char_ops USING sigfile IS 'equality of "char", before a signature';
CREATE OPERATOR CLASS sigfile_cid_ops DEFAULT FOR TYPE cid USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hashint4(int4);
COMMENT ON OPERATOR CLASS sigfile_cid_ops USING sigfile IS 'equality of cid, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_cid_ops USING sigfile IS 'equality of cid, before a signature';
CREATE OPERATOR CLASS sigfile_date_ops DEFAULT FOR TYPE date USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hashint4(int4);
COMMENT ON OPERATOR CLASS sigfile_date_ops USING sigfile IS 'equality of date, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_date_ops USING sigfile IS 'equality of date, before a signature';
CREATE OPERATOR CLASS sigfile_inet_ops DEFAULT FOR TYPE inet USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hashinet(inet);
COMMENT ON OPERATOR CLASS sigfile_inet_ops USING sigfile IS 'equality of inet, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_inet_ops USING sigfile IS 'equality of inet, before a signature';
CREATE OPERATOR CLASS sigfile_interval_ops DEFAULT FOR TYPE interval USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.interval_hash(interval);
COMMENT ON OPERATOR CLASS sigfile_interval_ops USING sigfile IS 'equality of interval, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_interval_ops USING sigfile IS 'equality of interval, before a signature';
CREATE OPERATOR CLASS sigfile_jsonb_ops DEFAULT FOR TYPE jsonb USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.jsonb_hash(jsonb);
COMMENT ON OPERATOR CLASS sigfile_jsonb_ops USING sigfile IS 'equality of jsonb, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_jsonb_ops USING sigfile IS 'equality of jsonb, before a signature';
CREATE OPERATOR CLASS sigfile_macaddr_ops DEFAULT FOR TYPE macaddr USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hashmacaddr(macaddr);
COMMENT ON OPERATOR CLASS sigfile_macaddr_ops USING sigfile IS 'equality of macaddr, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_macaddr_ops USING sigfile IS 'equality of macaddr, before a signature';
CREATE OPERATOR CLASS sigfile_macaddr8_ops DEFAULT FOR TYPE macaddr8 USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hashmacaddr8(macaddr8);
COMMENT ON OPERATOR CLASS sigfile_macaddr8_ops USING sigfile IS 'equality of macaddr8, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_macaddr8_ops USING sigfile IS 'equality of macaddr8, before a signature';
CREATE OPERATOR CLASS sigfile_numeric_ops DEFAULT FOR TYPE numeric USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hash_numeric(numeric);
COMMENT ON OPERATOR CLASS sigfile_numeric_ops USING sigfile IS 'equality of numeric, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_numeric_ops USING sigfile IS 'equality of numeric, before a signature';
CREATE OPERATOR CLASS sigfile_oid_ops DEFAULT FOR TYPE oid USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hashoid(oid);
COMMENT ON OPERATOR CLASS sigfile_oid_ops USING sigfile IS 'equality of oid, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_oid_ops USING sigfile IS 'equality of oid, before a signature';
CREATE OPERATOR CLASS sigfile_oidvector_ops DEFAULT FOR TYPE oidvector USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hashoidvector(oidvector);
COMMENT ON OPERATOR CLASS sigfile_oidvector_ops USING sigfile IS 'equality of oidvector, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_oidvector_ops USING sigfile IS 'equality of oidvector, before a signature';
CREATE OPERATOR CLASS sigfile_pg_lsn_ops DEFAULT FOR TYPE pg_lsn USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.pg_lsn_hash(pg_lsn);
COMMENT ON OPERATOR CLASS sigfile_pg_lsn_ops USING sigfile IS 'equality of pg_lsn, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_pg_lsn_ops USING sigfile IS 'equality of pg_lsn, before a signature';
CREATE OPERATOR CLASS sigfile_record_ops DEFAULT FOR TYPE record USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hash_record(record);
COMMENT ON OPERATOR CLASS sigfile_record_ops USING sigfile IS 'equality of record, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_record_ops USING sigfile IS 'equality of record, before a signature';
CREATE OPERATOR CLASS sigfile_tid_ops DEFAULT FOR TYPE tid USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hashtid(tid);
COMMENT ON OPERATOR CLASS sigfile_tid_ops USING sigfile IS 'equality of tid, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_tid_ops USING sigfile IS 'equality of tid, before a signature';
CREATE OPERATOR CLASS sigfile_time_ops DEFAULT FOR TYPE time USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.time_hash(time);
COMMENT ON OPERATOR CLASS sigfile_time_ops USING sigfile IS 'equality of time, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_time_ops USING sigfile IS 'equality of time, before a signature';
CREATE OPERATOR CLASS sigfile_timestamp_ops DEFAULT FOR TYPE timestamp USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.timestamp_hash(timestamp);
COMMENT ON OPERATOR CLASS sigfile_timestamp_ops USING sigfile IS 'equality of timestamp, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_timestamp_ops USING sigfile IS 'equality of timestamp, before a signature';
CREATE OPERATOR CLASS sigfile_timestamptz_ops DEFAULT FOR TYPE timestamptz USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.timestamp_hash(timestamp);
COMMENT ON OPERATOR CLASS sigfile_timestamptz_ops USING sigfile IS 'equality of timestamptz, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_timestamptz_ops USING sigfile IS 'equality of timestamptz, before a signature';
CREATE OPERATOR CLASS sigfile_timetz_ops DEFAULT FOR TYPE timetz USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.timetz_hash(timetz);
COMMENT ON OPERATOR CLASS sigfile_timetz_ops USING sigfile IS 'equality of timetz, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_timetz_ops USING sigfile IS 'equality of timetz, before a signature';
CREATE OPERATOR CLASS sigfile_uuid_ops DEFAULT FOR TYPE uuid USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.uuid_hash(uuid);
COMMENT ON OPERATOR CLASS sigfile_uuid_ops USING sigfile IS 'equality of uuid, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_uuid_ops USING sigfile IS 'equality of uuid, before a signature';
CREATE OPERATOR CLASS sigfile_xid_ops DEFAULT FOR TYPE xid USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hashint4(int4);
COMMENT ON OPERATOR CLASS sigfile_xid_ops USING sigfile IS 'equality of xid, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_xid_ops USING sigfile IS 'equality of xid, before a signature';
CREATE OPERATOR CLASS sigfile_xid8_ops DEFAULT FOR TYPE xid8 USING sigfile AS OPERATOR 1 pg_catalog.=, FUNCTION 1 pg_catalog.hashint8(int8);
COMMENT ON OPERATOR CLASS sigfile_xid8_ops USING sigfile IS 'equality of xid8, before a signature';
COMMENT ON OPERATOR FAMILY sigfile_xid8_ops USING sigfile IS 'equality of xid8, before a signature';

CREATE FUNCTION bloom_sigfile_stats(
    index regclass, OUT segments integer, OUT rows bigint, OUT dead_rows bigint, OUT tail_rows bigint,
    OUT null_rows bigint, OUT bytes bigint, OUT free_bytes bigint, OUT shape text,
    OUT chunk_bits integer[], OUT entropy float8) RETURNS record
    VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_sigfile_stats_wrapper';
COMMENT ON FUNCTION bloom_sigfile_stats(regclass) IS
    'what is in a sigfile index: segments, rows with a signature (dead ones, unsorted ones, and NULLs apart), size, bits of each chunk and entropy of the largest segment';
CREATE FUNCTION bloom_sigfile_merge(index regclass) RETURNS integer
    VOLATILE STRICT PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_sigfile_merge_wrapper';
COMMENT ON FUNCTION bloom_sigfile_merge(regclass) IS
    'merges all segments of a sigfile index and its unsorted rows; the number of segments left';
CREATE FUNCTION bloom_sigfile_check(index regclass) RETURNS bigint
    VOLATILE STRICT PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_sigfile_check_wrapper';
COMMENT ON FUNCTION bloom_sigfile_check(regclass) IS
    'checks the structure of a sigfile index, and that it has every row of its table; the number of rows';

-- Sketches of sets of tokens: MinHash ---------------------------------------------------------

CREATE TYPE minhash;
CREATE TYPE minhash_bits;
CREATE TYPE minhash_query;

CREATE FUNCTION minhash_in(cstring, oid, integer) RETURNS minhash
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_in_wrapper';
COMMENT ON FUNCTION minhash_in(cstring, oid, integer) IS
    'input of type minhash';
CREATE FUNCTION minhash_out(minhash) RETURNS cstring
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_out_wrapper';
COMMENT ON FUNCTION minhash_out(minhash) IS
    'output of type minhash';
CREATE FUNCTION minhash_recv(internal, oid, integer) RETURNS minhash
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_recv_wrapper';
COMMENT ON FUNCTION minhash_recv(internal, oid, integer) IS
    'binary input of type minhash';
CREATE FUNCTION minhash_send(minhash) RETURNS bytea
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_send_wrapper';
COMMENT ON FUNCTION minhash_send(minhash) IS
    'binary output of type minhash';
CREATE FUNCTION minhash_typmod_in(cstring[]) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_typmod_in_wrapper';
COMMENT ON FUNCTION minhash_typmod_in(cstring[]) IS
    'reads a type modifier of minhash';
CREATE FUNCTION minhash_typmod_out(integer) RETURNS cstring
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_typmod_out_wrapper';
COMMENT ON FUNCTION minhash_typmod_out(integer) IS
    'shows a type modifier of minhash';
CREATE TYPE minhash (
    INPUT = minhash_in,
    OUTPUT = minhash_out,
    RECEIVE = minhash_recv,
    SEND = minhash_send,
    TYPMOD_IN = minhash_typmod_in,
    TYPMOD_OUT = minhash_typmod_out,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = external
);
COMMENT ON TYPE minhash IS 'MinHash sketch of a set of tokens: n minima of 32 bits; minhash(n) or minhash(n,family) fixes number and hash family';
CREATE FUNCTION minhash_apply_typmod(minhash, integer, boolean) RETURNS minhash
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_apply_typmod_wrapper';
COMMENT ON FUNCTION minhash_apply_typmod(minhash, integer, boolean) IS
    'enforces a type modifier of minhash';
CREATE CAST (minhash AS minhash) WITH FUNCTION minhash_apply_typmod(minhash, integer, boolean) AS IMPLICIT;
COMMENT ON CAST (minhash AS minhash) IS 'checks that the sketch has the number and the hash family of the type modifier';

CREATE FUNCTION minhash_lt(minhash, minhash) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_lt_wrapper';
COMMENT ON FUNCTION minhash_lt(minhash, minhash) IS
    'less than';
CREATE FUNCTION minhash_le(minhash, minhash) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_le_wrapper';
COMMENT ON FUNCTION minhash_le(minhash, minhash) IS
    'less than or equal';
CREATE FUNCTION minhash_eq(minhash, minhash) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_eq_wrapper';
COMMENT ON FUNCTION minhash_eq(minhash, minhash) IS
    'equal: same number, family and minima';
CREATE FUNCTION minhash_ne(minhash, minhash) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_ne_wrapper';
COMMENT ON FUNCTION minhash_ne(minhash, minhash) IS
    'not equal';
CREATE FUNCTION minhash_ge(minhash, minhash) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_ge_wrapper';
COMMENT ON FUNCTION minhash_ge(minhash, minhash) IS
    'greater than or equal';
CREATE FUNCTION minhash_gt(minhash, minhash) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_gt_wrapper';
COMMENT ON FUNCTION minhash_gt(minhash, minhash) IS
    'greater than';
CREATE FUNCTION minhash_cmp(minhash, minhash) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_cmp_wrapper';
COMMENT ON FUNCTION minhash_cmp(minhash, minhash) IS
    'order of sketches: by number, family, empty sets first, then by bytes';
CREATE FUNCTION minhash_hash(minhash) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_hash_wrapper';
COMMENT ON FUNCTION minhash_hash(minhash) IS
    'hash of a sketch';
CREATE FUNCTION minhash_hash_extended(minhash, bigint) RETURNS bigint
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_hash_extended_wrapper';
COMMENT ON FUNCTION minhash_hash_extended(minhash, bigint) IS
    'hash of a sketch, with a seed';

CREATE OPERATOR < (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_lt,
    COMMUTATOR = >, NEGATOR = >=, RESTRICT = pg_catalog.scalarltsel, JOIN = pg_catalog.scalarltjoinsel);
CREATE OPERATOR <= (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_le,
    COMMUTATOR = >=, NEGATOR = >, RESTRICT = pg_catalog.scalarlesel, JOIN = pg_catalog.scalarlejoinsel);
CREATE OPERATOR = (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_eq,
    COMMUTATOR = =, NEGATOR = <>, RESTRICT = pg_catalog.eqsel, JOIN = pg_catalog.eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_ne,
    COMMUTATOR = <>, NEGATOR = =, RESTRICT = pg_catalog.neqsel, JOIN = pg_catalog.neqjoinsel);
CREATE OPERATOR >= (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_ge,
    COMMUTATOR = <=, NEGATOR = <, RESTRICT = pg_catalog.scalargesel, JOIN = pg_catalog.scalargejoinsel);
CREATE OPERATOR > (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_gt,
    COMMUTATOR = <, NEGATOR = <=, RESTRICT = pg_catalog.scalargtsel, JOIN = pg_catalog.scalargtjoinsel);
COMMENT ON OPERATOR < (minhash, minhash) IS 'less than';
COMMENT ON OPERATOR <= (minhash, minhash) IS 'less than or equal';
COMMENT ON OPERATOR = (minhash, minhash) IS 'equal: same number, family and minima';
COMMENT ON OPERATOR <> (minhash, minhash) IS 'not equal';
COMMENT ON OPERATOR >= (minhash, minhash) IS 'greater than or equal';
COMMENT ON OPERATOR > (minhash, minhash) IS 'greater than';

CREATE OPERATOR CLASS minhash_btree_ops DEFAULT FOR TYPE minhash USING btree AS
    OPERATOR 1 <,
    OPERATOR 2 <=,
    OPERATOR 3 =,
    OPERATOR 4 >=,
    OPERATOR 5 >,
    FUNCTION 1 minhash_cmp(minhash, minhash),
    FUNCTION 4 pg_catalog.btequalimage(oid);
CREATE OPERATOR CLASS minhash_hash_ops DEFAULT FOR TYPE minhash USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 minhash_hash(minhash),
    FUNCTION 2 minhash_hash_extended(minhash, bigint);
COMMENT ON OPERATOR CLASS minhash_btree_ops USING btree IS 'order of sketches: by number, family, empty sets first, then by bytes';
COMMENT ON OPERATOR CLASS minhash_hash_ops USING hash IS 'equality of sketches';
COMMENT ON OPERATOR FAMILY minhash_btree_ops USING btree IS 'order of sketches: by number, family, empty sets first, then by bytes';
COMMENT ON OPERATOR FAMILY minhash_hash_ops USING hash IS 'equality of sketches';

CREATE FUNCTION minhash_bits_in(cstring, oid, integer) RETURNS minhash_bits
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_bits_in_wrapper';
COMMENT ON FUNCTION minhash_bits_in(cstring, oid, integer) IS
    'input of type minhash_bits';
CREATE FUNCTION minhash_bits_out(minhash_bits) RETURNS cstring
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_bits_out_wrapper';
COMMENT ON FUNCTION minhash_bits_out(minhash_bits) IS
    'output of type minhash_bits';
CREATE FUNCTION minhash_bits_recv(internal, oid, integer) RETURNS minhash_bits
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_bits_recv_wrapper';
COMMENT ON FUNCTION minhash_bits_recv(internal, oid, integer) IS
    'binary input of type minhash_bits';
CREATE FUNCTION minhash_bits_send(minhash_bits) RETURNS bytea
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_bits_send_wrapper';
COMMENT ON FUNCTION minhash_bits_send(minhash_bits) IS
    'binary output of type minhash_bits';
CREATE FUNCTION minhash_bits_typmod_in(cstring[]) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_bits_typmod_in_wrapper';
COMMENT ON FUNCTION minhash_bits_typmod_in(cstring[]) IS
    'reads a type modifier of minhash_bits';
CREATE FUNCTION minhash_bits_typmod_out(integer) RETURNS cstring
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_typmod_out_wrapper';
COMMENT ON FUNCTION minhash_bits_typmod_out(integer) IS
    'shows a type modifier of minhash_bits';
CREATE TYPE minhash_bits (
    INPUT = minhash_bits_in,
    OUTPUT = minhash_bits_out,
    RECEIVE = minhash_bits_recv,
    SEND = minhash_bits_send,
    TYPMOD_IN = minhash_bits_typmod_in,
    TYPMOD_OUT = minhash_bits_typmod_out,
    ANALYZE = bloom_typanalyze,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = extended
);
COMMENT ON TYPE minhash_bits IS 'MinHash sketch of a set of tokens: the lowest bit of each of n minima; minhash_bits(n) or minhash_bits(n,family) fixes number and hash family';
CREATE FUNCTION minhash_bits_apply_typmod(minhash_bits, integer, boolean) RETURNS minhash_bits
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_bits_apply_typmod_wrapper';
COMMENT ON FUNCTION minhash_bits_apply_typmod(minhash_bits, integer, boolean) IS
    'enforces a type modifier of minhash_bits';
CREATE CAST (minhash_bits AS minhash_bits) WITH FUNCTION minhash_bits_apply_typmod(minhash_bits, integer, boolean) AS IMPLICIT;
COMMENT ON CAST (minhash_bits AS minhash_bits) IS 'checks that the sketch has the number and the hash family of the type modifier';

CREATE FUNCTION minhash_bits_lt(minhash_bits, minhash_bits) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_lt_wrapper';
COMMENT ON FUNCTION minhash_bits_lt(minhash_bits, minhash_bits) IS
    'less than';
CREATE FUNCTION minhash_bits_le(minhash_bits, minhash_bits) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_le_wrapper';
COMMENT ON FUNCTION minhash_bits_le(minhash_bits, minhash_bits) IS
    'less than or equal';
CREATE FUNCTION minhash_bits_eq(minhash_bits, minhash_bits) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_eq_wrapper';
COMMENT ON FUNCTION minhash_bits_eq(minhash_bits, minhash_bits) IS
    'equal: same number, family and bits';
CREATE FUNCTION minhash_bits_ne(minhash_bits, minhash_bits) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_ne_wrapper';
COMMENT ON FUNCTION minhash_bits_ne(minhash_bits, minhash_bits) IS
    'not equal';
CREATE FUNCTION minhash_bits_ge(minhash_bits, minhash_bits) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_ge_wrapper';
COMMENT ON FUNCTION minhash_bits_ge(minhash_bits, minhash_bits) IS
    'greater than or equal';
CREATE FUNCTION minhash_bits_gt(minhash_bits, minhash_bits) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_gt_wrapper';
COMMENT ON FUNCTION minhash_bits_gt(minhash_bits, minhash_bits) IS
    'greater than';
CREATE FUNCTION minhash_bits_cmp(minhash_bits, minhash_bits) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_cmp_wrapper';
COMMENT ON FUNCTION minhash_bits_cmp(minhash_bits, minhash_bits) IS
    'order of sketches: by number, family, empty sets first, then by bytes';
CREATE FUNCTION minhash_bits_hash(minhash_bits) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_hash_wrapper';
COMMENT ON FUNCTION minhash_bits_hash(minhash_bits) IS
    'hash of a sketch';
CREATE FUNCTION minhash_bits_hash_extended(minhash_bits, bigint) RETURNS bigint
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_hash_extended_wrapper';
COMMENT ON FUNCTION minhash_bits_hash_extended(minhash_bits, bigint) IS
    'hash of a sketch, with a seed';

CREATE OPERATOR < (LEFTARG = minhash_bits, RIGHTARG = minhash_bits, FUNCTION = minhash_bits_lt,
    COMMUTATOR = >, NEGATOR = >=, RESTRICT = pg_catalog.scalarltsel, JOIN = pg_catalog.scalarltjoinsel);
CREATE OPERATOR <= (LEFTARG = minhash_bits, RIGHTARG = minhash_bits, FUNCTION = minhash_bits_le,
    COMMUTATOR = >=, NEGATOR = >, RESTRICT = pg_catalog.scalarlesel, JOIN = pg_catalog.scalarlejoinsel);
CREATE OPERATOR = (LEFTARG = minhash_bits, RIGHTARG = minhash_bits, FUNCTION = minhash_bits_eq,
    COMMUTATOR = =, NEGATOR = <>, RESTRICT = pg_catalog.eqsel, JOIN = pg_catalog.eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (LEFTARG = minhash_bits, RIGHTARG = minhash_bits, FUNCTION = minhash_bits_ne,
    COMMUTATOR = <>, NEGATOR = =, RESTRICT = pg_catalog.neqsel, JOIN = pg_catalog.neqjoinsel);
CREATE OPERATOR >= (LEFTARG = minhash_bits, RIGHTARG = minhash_bits, FUNCTION = minhash_bits_ge,
    COMMUTATOR = <=, NEGATOR = <, RESTRICT = pg_catalog.scalargesel, JOIN = pg_catalog.scalargejoinsel);
CREATE OPERATOR > (LEFTARG = minhash_bits, RIGHTARG = minhash_bits, FUNCTION = minhash_bits_gt,
    COMMUTATOR = <, NEGATOR = <=, RESTRICT = pg_catalog.scalargtsel, JOIN = pg_catalog.scalargtjoinsel);
COMMENT ON OPERATOR < (minhash_bits, minhash_bits) IS 'less than';
COMMENT ON OPERATOR <= (minhash_bits, minhash_bits) IS 'less than or equal';
COMMENT ON OPERATOR = (minhash_bits, minhash_bits) IS 'equal: same number, family and bits';
COMMENT ON OPERATOR <> (minhash_bits, minhash_bits) IS 'not equal';
COMMENT ON OPERATOR >= (minhash_bits, minhash_bits) IS 'greater than or equal';
COMMENT ON OPERATOR > (minhash_bits, minhash_bits) IS 'greater than';

CREATE OPERATOR CLASS minhash_bits_btree_ops DEFAULT FOR TYPE minhash_bits USING btree AS
    OPERATOR 1 <,
    OPERATOR 2 <=,
    OPERATOR 3 =,
    OPERATOR 4 >=,
    OPERATOR 5 >,
    FUNCTION 1 minhash_bits_cmp(minhash_bits, minhash_bits),
    FUNCTION 4 pg_catalog.btequalimage(oid);
CREATE OPERATOR CLASS minhash_bits_hash_ops DEFAULT FOR TYPE minhash_bits USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 minhash_bits_hash(minhash_bits),
    FUNCTION 2 minhash_bits_hash_extended(minhash_bits, bigint);
COMMENT ON OPERATOR CLASS minhash_bits_btree_ops USING btree IS 'order of sketches: by number, family, empty sets first, then by bytes';
COMMENT ON OPERATOR CLASS minhash_bits_hash_ops USING hash IS 'equality of sketches';
COMMENT ON OPERATOR FAMILY minhash_bits_btree_ops USING btree IS 'order of sketches: by number, family, empty sets first, then by bytes';
COMMENT ON OPERATOR FAMILY minhash_bits_hash_ops USING hash IS 'equality of sketches';

CREATE FUNCTION minhash(tokens text[], n integer, family integer DEFAULT 0) RETURNS minhash
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_wrapper';
COMMENT ON FUNCTION minhash(text[], integer, integer) IS
    'sketch of a set of tokens by n minima; NULLs are skipped';
CREATE FUNCTION minhash_bits(tokens text[], n integer, family integer DEFAULT 0) RETURNS minhash_bits
    IMMUTABLE STRICT PARALLEL SAFE COST 20 LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_bits_wrapper';
COMMENT ON FUNCTION minhash_bits(text[], integer, integer) IS
    'sketch of a set of tokens by the lowest bits of n minima; NULLs are skipped';
CREATE FUNCTION minhash_bits(minima minhash) RETURNS minhash_bits
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_bits_of_minhash_wrapper';
COMMENT ON FUNCTION minhash_bits(minhash) IS
    'the lowest bits of the minima of a sketch';
CREATE CAST (minhash AS minhash_bits) WITH FUNCTION minhash_bits(minhash);
COMMENT ON CAST (minhash AS minhash_bits) IS 'the lowest bits of the minima';
CREATE FUNCTION minhash_union(a minhash, b minhash) RETURNS minhash
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_union_wrapper';
COMMENT ON FUNCTION minhash_union(minhash, minhash) IS
    'sketch of the union of both sets';
CREATE FUNCTION minhash_union_step(minhash, minhash) RETURNS minhash
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_union_step_wrapper';
COMMENT ON FUNCTION minhash_union_step(minhash, minhash) IS
    'state of minhash_union(minhash)';
CREATE AGGREGATE minhash_union(minhash) (
    SFUNC = minhash_union_step,
    STYPE = minhash,
    COMBINEFUNC = minhash_union_step,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE minhash_union(minhash) IS 'sketch of the union of all sets';

CREATE FUNCTION minhash_sim(a minhash, b minhash) RETURNS bloom_score
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_sim_of_minima_wrapper';
COMMENT ON FUNCTION minhash_sim(minhash, minhash) IS
    'estimated Jaccard similarity of two sets: share of equal minima; 0 with an empty set';
CREATE FUNCTION minhash_sim(a minhash_bits, b minhash_bits) RETURNS bloom_score
    IMMUTABLE STRICT PARALLEL SAFE SUPPORT bloom_measure_support LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_sim_wrapper';
COMMENT ON FUNCTION minhash_sim(minhash_bits, minhash_bits) IS
    'estimated Jaccard similarity of two sets: (2 * equal bits - n) / n, from -1 to 1; 0 with an empty set';
CREATE FUNCTION minhash_standard_error(similarity float8, n integer, bits boolean DEFAULT true) RETURNS float8
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_standard_error_wrapper';
COMMENT ON FUNCTION minhash_standard_error(float8, integer, boolean) IS
    'standard error of an estimate from n bits, or from n minima, at a similarity';
CREATE FUNCTION minhash_distance(minhash, minhash) RETURNS float8
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_distance_wrapper';
COMMENT ON FUNCTION minhash_distance(minhash, minhash) IS
    'distance: 1 less minhash_sim';
CREATE FUNCTION minhash_bits_distance(minhash_bits, minhash_bits) RETURNS float8
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_bits_distance_wrapper';
COMMENT ON FUNCTION minhash_bits_distance(minhash_bits, minhash_bits) IS
    'number of bits that differ; infinity with an empty set';
CREATE OPERATOR <-> (LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_distance, COMMUTATOR = <->);
CREATE OPERATOR <-> (LEFTARG = minhash_bits, RIGHTARG = minhash_bits, FUNCTION = minhash_bits_distance, COMMUTATOR = <->);
COMMENT ON OPERATOR <-> (minhash, minhash) IS 'distance: 1 less minhash_sim';
COMMENT ON OPERATOR <-> (minhash_bits, minhash_bits) IS 'number of bits that differ; infinity with an empty set';

CREATE FUNCTION minhash_query_in(cstring) RETURNS minhash_query
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_query_in_wrapper';
COMMENT ON FUNCTION minhash_query_in(cstring) IS
    'input of type minhash_query';
CREATE FUNCTION minhash_query_out(minhash_query) RETURNS cstring
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_query_out_wrapper';
COMMENT ON FUNCTION minhash_query_out(minhash_query) IS
    'output of type minhash_query';
CREATE FUNCTION minhash_query_recv(internal) RETURNS minhash_query
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_query_recv_wrapper';
COMMENT ON FUNCTION minhash_query_recv(internal) IS
    'binary input of type minhash_query';
CREATE FUNCTION minhash_query_send(minhash_query) RETURNS bytea
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_query_send_wrapper';
COMMENT ON FUNCTION minhash_query_send(minhash_query) IS
    'binary output of type minhash_query';
CREATE TYPE minhash_query (
    INPUT = minhash_query_in,
    OUTPUT = minhash_query_out,
    RECEIVE = minhash_query_recv,
    SEND = minhash_query_send,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = extended
);
COMMENT ON TYPE minhash_query IS 'bits of a sketch and the similarity, threshold included, that they are searched with';

CREATE FUNCTION minhash_query(bits minhash_bits, similarity float8) RETURNS minhash_query
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_query_wrapper';
COMMENT ON FUNCTION minhash_query(minhash_bits, float8) IS
    'bits of a sketch and the similarity that they are searched with';
CREATE FUNCTION minhash_query_at_least(minhash_bits, float8) RETURNS minhash_query
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_query_at_least_wrapper';
COMMENT ON FUNCTION minhash_query_at_least(minhash_bits, float8) IS
    'what minhash_sim(...) >= c searches; made by the planner';
CREATE FUNCTION minhash_query_above(minhash_bits, float8) RETURNS minhash_query
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_query_above_wrapper';
COMMENT ON FUNCTION minhash_query_above(minhash_bits, float8) IS
    'what minhash_sim(...) > c searches; made by the planner';
CREATE FUNCTION minhash_matches(minhash_bits, minhash_query) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_matches_wrapper';
COMMENT ON FUNCTION minhash_matches(minhash_bits, minhash_query) IS
    'whether minhash_sim reaches the threshold of the query';
CREATE FUNCTION minhash_query_matches(minhash_query, minhash_bits) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_query_matches_wrapper';
COMMENT ON FUNCTION minhash_query_matches(minhash_query, minhash_bits) IS
    'whether minhash_sim reaches the threshold of the query';
CREATE FUNCTION minhash_queries_match(minhash_query, minhash_query) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_queries_match_wrapper';
COMMENT ON FUNCTION minhash_queries_match(minhash_query, minhash_query) IS
    'whether minhash_sim reaches the larger of both thresholds';
CREATE OPERATOR % (LEFTARG = minhash_bits, RIGHTARG = minhash_query, FUNCTION = minhash_matches,
    COMMUTATOR = %, RESTRICT = bloom_match_sel, JOIN = bloom_match_joinsel);
COMMENT ON OPERATOR % (minhash_bits, minhash_query) IS 'minhash_sim reaches the threshold of the query';
CREATE OPERATOR % (LEFTARG = minhash_query, RIGHTARG = minhash_bits, FUNCTION = minhash_query_matches,
    COMMUTATOR = %, RESTRICT = bloom_match_sel, JOIN = bloom_match_joinsel);
COMMENT ON OPERATOR % (minhash_query, minhash_bits) IS 'minhash_sim reaches the threshold of the query';
CREATE OPERATOR % (LEFTARG = minhash_query, RIGHTARG = minhash_query, FUNCTION = minhash_queries_match,
    COMMUTATOR = %, RESTRICT = bloom_match_sel, JOIN = bloom_match_joinsel);
COMMENT ON OPERATOR % (minhash_query, minhash_query) IS 'minhash_sim reaches the larger of both thresholds';

CREATE FUNCTION minhash_sim_above_support(internal) RETURNS internal
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_sim_above_support_wrapper';
COMMENT ON FUNCTION minhash_sim_above_support(internal) IS
    'planner support of minhash_sim_above';
CREATE FUNCTION minhash_sim_above(a minhash_bits, b minhash_bits, threshold float8) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE SUPPORT minhash_sim_above_support LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_sim_above_wrapper';
COMMENT ON FUNCTION minhash_sim_above(minhash_bits, minhash_bits, float8) IS
    'minhash_sim(a, b) > threshold, as an index answers it';
CREATE FUNCTION minhash_sim_at_least_support(internal) RETURNS internal
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_sim_at_least_support_wrapper';
COMMENT ON FUNCTION minhash_sim_at_least_support(internal) IS
    'planner support of minhash_sim_at_least';
CREATE FUNCTION minhash_sim_at_least(a minhash_bits, b minhash_bits, threshold float8) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE SUPPORT minhash_sim_at_least_support LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_sim_at_least_wrapper';
COMMENT ON FUNCTION minhash_sim_at_least(minhash_bits, minhash_bits, float8) IS
    'minhash_sim(a, b) >= threshold, as an index answers it';

CREATE FUNCTION minhash_plan(rows bigint, similarity float8, recall float8 DEFAULT 0.99,
        OUT n integer, OUT threshold float8, OUT margin float8, OUT expected_recall float8, OUT chance float8, OUT bytes integer,
        OUT chunks integer, OUT probes float8, OUT scans boolean) RETURNS SETOF record
    IMMUTABLE STRICT PARALLEL SAFE ROWS 10 LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_plan_wrapper';
COMMENT ON FUNCTION minhash_plan(bigint, float8, float8) IS
    'how many sampled bits to keep: for each number the estimate to search for, what that finds, and what it costs an index of so many rows';

CREATE OPERATOR CLASS sigfile_minhash_bits_ops DEFAULT FOR TYPE minhash_bits USING sigfile AS
    OPERATOR 2 % (minhash_bits, minhash_query),
    OPERATOR 3 =,
    OPERATOR 6 <-> (minhash_bits, minhash_bits) FOR ORDER BY pg_catalog.float_ops;
-- In the same family, as those of signatures are.
CREATE OPERATOR CLASS sigfile_minhash_query_ops DEFAULT FOR TYPE minhash_query USING sigfile FAMILY sigfile_minhash_bits_ops AS
    OPERATOR 7 % (minhash_query, minhash_query),
    OPERATOR 8 % (minhash_query, minhash_bits);
COMMENT ON OPERATOR CLASS sigfile_minhash_bits_ops USING sigfile IS 'estimated similarity, equality and nearest neighbours of sampled sketches';
COMMENT ON OPERATOR CLASS sigfile_minhash_query_ops USING sigfile IS 'estimated similarity of sampled sketches by thresholds of their own, for exclusion constraints';
COMMENT ON OPERATOR FAMILY sigfile_minhash_bits_ops USING sigfile IS 'estimated similarity, equality and nearest neighbours of sampled sketches, with and without thresholds of their own';

CREATE FUNCTION minhash_gist_consistent(internal, minhash_bits, smallint, oid, internal) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_gist_consistent_wrapper';
COMMENT ON FUNCTION minhash_gist_consistent(internal, minhash_bits, smallint, oid, internal) IS
    'GiST support';
CREATE FUNCTION minhash_query_gist_consistent(internal, minhash_query, smallint, oid, internal) RETURNS boolean
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_query_gist_consistent_wrapper';
COMMENT ON FUNCTION minhash_query_gist_consistent(internal, minhash_query, smallint, oid, internal) IS
    'GiST support';
CREATE FUNCTION minhash_gist_distance(internal, minhash_bits, smallint, oid, internal) RETURNS float8
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_gist_distance_wrapper';
COMMENT ON FUNCTION minhash_gist_distance(internal, minhash_bits, smallint, oid, internal) IS
    'GiST support';
-- A function of its own, by which columns of sketches are told from columns of signatures.
CREATE FUNCTION minhash_gist_compress(internal) RETURNS internal
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_gist_compress_wrapper';
COMMENT ON FUNCTION minhash_gist_compress(internal) IS
    'GiST support';
CREATE OPERATOR CLASS gist_minhash_bits_ops DEFAULT FOR TYPE minhash_bits USING gist AS
    OPERATOR 2 % (minhash_bits, minhash_query),
    OPERATOR 3 =,
    OPERATOR 6 <-> (minhash_bits, minhash_bits) FOR ORDER BY pg_catalog.float_ops,
    FUNCTION 1 minhash_gist_consistent(internal, minhash_bits, smallint, oid, internal),
    FUNCTION 2 bloom_gist_union(internal, internal),
    FUNCTION 3 minhash_gist_compress(internal),
    FUNCTION 5 bloom_gist_penalty(internal, internal, internal),
    FUNCTION 6 bloom_gist_picksplit(internal, internal),
    FUNCTION 7 bloom_gist_same(bloom_gist_key, bloom_gist_key, internal),
    FUNCTION 8 minhash_gist_distance(internal, minhash_bits, smallint, oid, internal),
    FUNCTION 9 bloom_gist_fetch(internal),
    FUNCTION 11 bloom_gist_sortsupport(internal),
    STORAGE bloom_gist_key;
CREATE OPERATOR CLASS gist_minhash_query_ops DEFAULT FOR TYPE minhash_query USING gist AS
    OPERATOR 1 % (minhash_query, minhash_query),
    OPERATOR 2 % (minhash_query, minhash_bits),
    FUNCTION 1 minhash_query_gist_consistent(internal, minhash_query, smallint, oid, internal),
    FUNCTION 2 bloom_gist_union(internal, internal),
    FUNCTION 3 minhash_gist_compress(internal),
    FUNCTION 5 bloom_gist_penalty(internal, internal, internal),
    FUNCTION 6 bloom_gist_picksplit(internal, internal),
    FUNCTION 7 bloom_gist_same(bloom_gist_key, bloom_gist_key, internal),
    FUNCTION 9 bloom_gist_fetch(internal),
    FUNCTION 11 bloom_gist_sortsupport(internal),
    STORAGE bloom_gist_key;
COMMENT ON OPERATOR CLASS gist_minhash_bits_ops USING gist IS 'estimated similarity, equality and nearest neighbours of sampled sketches';
COMMENT ON OPERATOR CLASS gist_minhash_query_ops USING gist IS 'estimated similarity of sampled sketches by thresholds of their own, for exclusion constraints';
COMMENT ON OPERATOR FAMILY gist_minhash_bits_ops USING gist IS 'estimated similarity, equality and nearest neighbours of sampled sketches';
COMMENT ON OPERATOR FAMILY gist_minhash_query_ops USING gist IS 'estimated similarity of sampled sketches by thresholds of their own, for exclusion constraints';

-- Jobs over whole tables. They are not STRICT: no rows, for a NULL, would be taken for the answer.

CREATE FUNCTION bloom_duplicates(rel regclass, key name, signature name, threshold float8, within name[] DEFAULT NULL,
        verify name DEFAULT NULL, margin float8 DEFAULT NULL, decisions regclass DEFAULT NULL,
        new regclass DEFAULT NULL, OUT a text, OUT b text, OUT similarity float8) RETURNS SETOF record
    STABLE PARALLEL UNSAFE COST 1000000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_duplicates_wrapper';
COMMENT ON FUNCTION bloom_duplicates(regclass, name, name, float8, name[], name, float8, regclass, regclass) IS
    'all pairs of records whose signatures, or whose tokens in column verify, have a similarity of at least threshold, and that are equal in the columns within, by their keys, each pair once';

CREATE FUNCTION bloom_duplicates(rel regclass, key name, signatures name[], weights float8[], threshold float8,
        decisions regclass DEFAULT NULL, new regclass DEFAULT NULL, coverage float8 DEFAULT 0.5,
        OUT a text, OUT b text, OUT similarity float8) RETURNS SETOF record
    STABLE PARALLEL UNSAFE COST 1000000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_duplicates_of_profiles_wrapper';
COMMENT ON FUNCTION bloom_duplicates(regclass, name, name[], float8[], float8, regclass, regclass, float8) IS
    'all pairs of records whose weighted similarity over several signatures is at least threshold, and that both have signatures with a share of the weights of at least coverage, by their keys, each pair once';

CREATE FUNCTION bloom_pairs_refresh(pairs regclass, rel regclass, key name, signature name, threshold float8, changed regclass,
        within name[] DEFAULT NULL, verify name DEFAULT NULL, margin float8 DEFAULT NULL, OUT deleted bigint, OUT inserted bigint) RETURNS record
    VOLATILE PARALLEL UNSAFE COST 1000000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_pairs_refresh_wrapper';
COMMENT ON FUNCTION bloom_pairs_refresh(regclass, regclass, name, name, float8, regclass, name[], name, float8) IS
    'brings a table of pairs, as bloom_duplicates gives them, up to date: those of changed records are found anew, those of records that are no more there go; how many pairs were deleted and inserted';

CREATE FUNCTION bloom_pairs_estimate(rel regclass, signature name, threshold float8,
        OUT pairs float8, OUT seconds float8) RETURNS record
    STABLE PARALLEL UNSAFE COST 1000000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_pairs_estimate_wrapper';
COMMENT ON FUNCTION bloom_pairs_estimate(regclass, name, float8) IS
    'about how many pairs bloom_duplicates would find at a threshold, and how many seconds it would take';

CREATE FUNCTION bloom_nearest_names(rel regclass, key name, signature name, name_column name, text text, k integer DEFAULT 10,
        by_word boolean DEFAULT true, OUT key text, OUT name text, OUT similarity float8) RETURNS SETOF record
    STABLE PARALLEL UNSAFE ROWS 10 COST 10000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_nearest_names_wrapper';
COMMENT ON FUNCTION bloom_nearest_names(regclass, name, name, name, text, integer, boolean) IS
    'the k names of a relation that are nearest to a name: found by their signatures, then compared as names, nearest first';

CREATE FUNCTION bloom_linkage(a_rel regclass, a_key name, a_signature name, b_rel regclass, b_key name, b_signature name,
        threshold float8, within name[] DEFAULT NULL, verify name DEFAULT NULL, margin float8 DEFAULT NULL, one_to_one boolean DEFAULT false,
        decisions regclass DEFAULT NULL, OUT a text, OUT b text, OUT similarity float8) RETURNS SETOF record
    STABLE PARALLEL UNSAFE COST 1000000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_linkage_wrapper';
COMMENT ON FUNCTION bloom_linkage(regclass, name, name, regclass, name, name, float8, name[], name, float8, boolean, regclass) IS
    'all pairs of a record of one table and a record of another whose signatures, or whose tokens in column verify, have a similarity of at least threshold, and that are equal in the columns within, by their keys; one_to_one gives each record once, in the most similar pairs';

CREATE FUNCTION bloom_linkage(a_rel regclass, a_key name, a_signatures name[], b_rel regclass, b_key name, b_signatures name[],
        weights float8[], threshold float8, one_to_one boolean DEFAULT false, decisions regclass DEFAULT NULL,
        coverage float8 DEFAULT 0.5, OUT a text, OUT b text, OUT similarity float8) RETURNS SETOF record
    STABLE PARALLEL UNSAFE COST 1000000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_linkage_of_profiles_wrapper';
COMMENT ON FUNCTION bloom_linkage(regclass, name, name[], regclass, name, name[], float8[], float8, boolean, regclass, float8) IS
    'all pairs of a record of one table and a record of another whose weighted similarity over several signatures is at least threshold, and that both have signatures with a share of the weights of at least coverage, by their keys; one_to_one gives each record once, in the most similar pairs';

CREATE FUNCTION bloom_assign(pairs regclass, method text DEFAULT 'greedy', OUT a text, OUT b text, OUT similarity float8) RETURNS SETOF record
    STABLE PARALLEL UNSAFE COST 100000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_assign_wrapper';
COMMENT ON FUNCTION bloom_assign(regclass, text) IS
    'of the pairs of two tables, as bloom_linkage gives them, those that give each record one partner at the most; methods greedy: the most similar pair first, optimal: the greatest sum of similarities';

CREATE FUNCTION bloom_merge_plan(clusters regclass, rel regclass, key name, rules jsonb DEFAULT NULL, keep_by text DEFAULT NULL, redirect text[] DEFAULT NULL,
        OUT cluster text, OUT action text, OUT key text, OUT "column" text, OUT value text, OUT source text, OUT relation regclass, OUT reference text, OUT rows bigint) RETURNS SETOF record
    STABLE PARALLEL UNSAFE COST 100000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_merge_plan_wrapper';
COMMENT ON FUNCTION bloom_merge_plan(regclass, regclass, name, jsonb, text, text[]) IS
    'what bloom_merge would do: for each cluster the record to keep, the values it gets and where they come from, the references that are redirected, and rows that would collide';

CREATE FUNCTION bloom_merge(clusters regclass, rel regclass, key name, rules jsonb DEFAULT NULL, keep_by text DEFAULT NULL, on_collision text DEFAULT 'error', redirect text[] DEFAULT NULL,
        audit regclass DEFAULT NULL, OUT id bigint, OUT cluster text, OUT key text, OUT deleted bigint, OUT redirected bigint, OUT dropped bigint) RETURNS SETOF record
    VOLATILE PARALLEL UNSAFE COST 100000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_merge_wrapper';
COMMENT ON FUNCTION bloom_merge(regclass, regclass, name, jsonb, text, text, text[], regclass) IS
    'makes one record of each cluster: references are redirected to the record that is kept, the others are deleted, and it gets its values by rules; all of it is written to a table, by which bloom_unmerge takes it back';

CREATE FUNCTION bloom_unmerge(id bigint, audit regclass DEFAULT NULL) RETURNS bigint
    VOLATILE PARALLEL UNSAFE COST 10000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_unmerge_wrapper';
COMMENT ON FUNCTION bloom_unmerge(bigint, regclass) IS
    'takes one merge of bloom_merge back, unless something that it has changed was changed since; how many records are back';

CREATE FUNCTION bloom_merges_create(name text) RETURNS regclass
    VOLATILE STRICT PARALLEL UNSAFE COST 1000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_merges_create_wrapper';
COMMENT ON FUNCTION bloom_merges_create(text) IS
    'makes a table for what bloom_merge changes, which belongs to the caller';

CREATE FUNCTION bloom_clusters(rel regclass, key name, signature name, threshold float8, method text DEFAULT 'centre',
        verify name DEFAULT NULL, margin float8 DEFAULT NULL, decisions regclass DEFAULT NULL, on_conflict text DEFAULT 'error',
        max_size integer DEFAULT NULL, keep_by text DEFAULT NULL,
        OUT cluster bigint, OUT key text, OUT size integer, OUT similarity float8, OUT keep boolean) RETURNS SETOF record
    STABLE PARALLEL UNSAFE COST 1000000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_clusters_wrapper';
COMMENT ON FUNCTION bloom_clusters(regclass, name, name, float8, text, name, float8, regclass, text, integer, text) IS
    'clusters of records with similar signatures, or similar tokens in column verify: number, key, size, similarity with the record to keep, and which that is; methods components, centre, average';

CREATE FUNCTION bloom_clusters(pairs regclass, threshold float8, method text DEFAULT 'centre', decisions regclass DEFAULT NULL,
        on_conflict text DEFAULT 'error', max_size integer DEFAULT NULL, keep_by text DEFAULT NULL, rel regclass DEFAULT NULL, key name DEFAULT NULL,
        OUT cluster bigint, OUT key text, OUT size integer, OUT similarity float8, OUT keep boolean) RETURNS SETOF record
    STABLE PARALLEL UNSAFE COST 100000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_clusters_of_pairs_wrapper';
COMMENT ON FUNCTION bloom_clusters(regclass, float8, text, regclass, text, integer, text, regclass, name) IS
    'clusters of the records in a table of pairs, as bloom_duplicates gives them: columns a, b and similarity';

CREATE FUNCTION bloom_decisions_create(name text) RETURNS regclass
    VOLATILE PARALLEL UNSAFE COST 1000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_decisions_create_wrapper';
COMMENT ON FUNCTION bloom_decisions_create(text) IS
    'creates a table of decisions about pairs: a, b, decision (same, different, unsure), who, at, note, hash, id';

CREATE FUNCTION bloom_record_hash(rel regclass, key name, columns name[], OUT key text, OUT hash text) RETURNS SETOF record
    STABLE PARALLEL UNSAFE COST 100000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_record_hash_wrapper';
COMMENT ON FUNCTION bloom_record_hash(regclass, name, name[]) IS
    'the hash of each record over these columns; that of a pair is the hash of a, a blank, and the hash of b';

CREATE FUNCTION bloom_clusters_update(old regclass, pairs regclass, threshold float8 DEFAULT 0.0, method text DEFAULT 'centre',
        first_new bigint DEFAULT 1, decisions regclass DEFAULT NULL, on_conflict text DEFAULT 'error', max_size integer DEFAULT NULL,
        keep_by text DEFAULT NULL, rel regclass DEFAULT NULL, key name DEFAULT NULL,
        OUT cluster bigint, OUT key text, OUT size integer, OUT similarity float8, OUT keep boolean, OUT change text, OUT was bigint) RETURNS SETOF record
    STABLE PARALLEL UNSAFE COST 100000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_clusters_update_wrapper';
COMMENT ON FUNCTION bloom_clusters_update(regclass, regclass, float8, text, bigint, regclass, text, integer, text, regclass, name) IS
    'clusters of the records in a table of pairs, with the numbers that they had in another table of clusters: what has become of each (same, made, grown, shrunk, changed, merged, split), and in which cluster each record was; a new cluster has a number of first_new or more, and a greater one than all of old';

CREATE FUNCTION bloom_quality(pairs regclass, truth regclass,
        OUT found bigint, OUT true_pairs bigint, OUT correct bigint, OUT "precision" float8, OUT recall float8, OUT f1 float8,
        OUT b_cubed_precision float8, OUT b_cubed_recall float8, OUT b_cubed_f1 float8) RETURNS record
    STABLE PARALLEL UNSAFE COST 100000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_quality_wrapper';
COMMENT ON FUNCTION bloom_quality(regclass, regclass) IS
    'precision and recall of pairs and of clusters (B-cubed), where the truth is known; either table has columns a and b of pairs, or key and cluster of records';

CREATE FUNCTION bloom_threshold_sweep(pairs regclass, truth regclass, step float8 DEFAULT 0.01,
        OUT threshold float8, OUT found bigint, OUT correct bigint, OUT "precision" float8, OUT recall float8, OUT f1 float8)
    RETURNS SETOF record
    STABLE PARALLEL UNSAFE COST 100000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_threshold_sweep_wrapper';
COMMENT ON FUNCTION bloom_threshold_sweep(regclass, regclass, float8) IS
    'how many of the pairs every threshold would have found, and how many of them are true';

CREATE FUNCTION bloom_reliability(pairs regclass, truth regclass,
        OUT probability_from float8, OUT probability_to float8, OUT found bigint, OUT claimed float8, OUT correct bigint,
        OUT share float8, OUT share_low float8, OUT share_high float8)
    RETURNS SETOF record
    STABLE PARALLEL UNSAFE COST 100000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_reliability_wrapper';
COMMENT ON FUNCTION bloom_reliability(regclass, regclass) IS
    'by bands of probability: how many pairs there are, what is claimed of them on the average, and the share of them that is right, with its 95 % limits';

CREATE FUNCTION bloom_review_queue(pairs regclass, n integer, decisions regclass DEFAULT NULL,
        OUT a text, OUT b text, OUT probability float8, OUT alike bigint)
    RETURNS SETOF record
    STABLE PARALLEL UNSAFE COST 100000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_review_queue_wrapper';
COMMENT ON FUNCTION bloom_review_queue(regclass, integer, regclass) IS
    'n of the pairs that nobody has decided about, whose answers would tell most about the probabilities of all; alike is how many of them have the same probability';

CREATE FUNCTION bloom_report(rel regclass, key name, signature name, threshold float8, columns name[] DEFAULT NULL,
        truth regclass DEFAULT NULL, method text DEFAULT 'centre', title text DEFAULT NULL, format text DEFAULT 'html',
        verify name DEFAULT NULL, margin float8 DEFAULT NULL, decisions regclass DEFAULT NULL, search_from float8 DEFAULT NULL) RETURNS text
    STABLE PARALLEL UNSAFE COST 1000000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_report_wrapper';
COMMENT ON FUNCTION bloom_report(regclass, name, name, float8, name[], regclass, text, text, text, name, float8, regclass, float8) IS
    'the duplicates of a table on one page: similarities, clusters, pairs at the threshold, quality where the truth is known; formats html and text';

-- Match models

CREATE FUNCTION bloom_model_fit(rel regclass, key name, fields text[] DEFAULT NULL, personal name[] DEFAULT NULL,
        labels regclass DEFAULT NULL, options jsonb DEFAULT NULL) RETURNS jsonb
    STABLE PARALLEL UNSAFE COST 1000000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_model_fit_wrapper';
COMMENT ON FUNCTION bloom_model_fit(regclass, name, text[], name[], regclass, jsonb) IS
    'a match model, learned from the records of a table: how much agreement in each field says that two records are the same';

CREATE FUNCTION bloom_model_fit_linkage(a_rel regclass, a_key name, b_rel regclass, b_key name, fields text[] DEFAULT NULL,
        personal name[] DEFAULT NULL, labels regclass DEFAULT NULL, options jsonb DEFAULT NULL, one_to_one text DEFAULT 'none')
        RETURNS jsonb
    STABLE PARALLEL UNSAFE COST 1000000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_model_fit_linkage_wrapper';
COMMENT ON FUNCTION bloom_model_fit_linkage(regclass, name, regclass, name, text[], name[], regclass, jsonb, text) IS
    'a match model, learned from the pairs of a record of one table and a record of another; with one_to_one of things, whose pairs compete';

CREATE FUNCTION bloom_model_candidates(rel regclass, key name, model jsonb, options jsonb DEFAULT NULL,
        OUT search text, OUT pairs bigint, OUT matches float8, OUT recall float8, OUT cut_blocks bigint, OUT cut_pairs bigint,
        OUT runs boolean) RETURNS SETOF record
    STABLE PARALLEL UNSAFE COST 1000000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_model_candidates_wrapper';
COMMENT ON FUNCTION bloom_model_candidates(regclass, name, jsonb, jsonb) IS
    'the searches for pairs that a match model asks for: how many pairs they find, the matches that each adds, what blocks that are too large cut off, and which of them will run';

CREATE FUNCTION bloom_model_candidates_linkage(a_rel regclass, a_key name, b_rel regclass, b_key name, model jsonb,
        options jsonb DEFAULT NULL, OUT search text, OUT pairs bigint, OUT matches float8, OUT recall float8,
        OUT cut_blocks bigint, OUT cut_pairs bigint, OUT runs boolean) RETURNS SETOF record
    STABLE PARALLEL UNSAFE COST 1000000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_model_candidates_linkage_wrapper';
COMMENT ON FUNCTION bloom_model_candidates_linkage(regclass, name, regclass, name, jsonb, jsonb) IS
    'the same of the searches for pairs of a record of one table and a record of another';

CREATE FUNCTION bloom_model_duplicates(rel regclass, key name, model jsonb, min_probability float8 DEFAULT 0.5,
        options jsonb DEFAULT NULL, decisions regclass DEFAULT NULL, new regclass DEFAULT NULL,
        OUT a text, OUT b text, OUT probability float8, OUT bits float8) RETURNS SETOF record
    STABLE PARALLEL UNSAFE COST 1000000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_model_duplicates_wrapper';
COMMENT ON FUNCTION bloom_model_duplicates(regclass, name, jsonb, float8, jsonb, regclass, regclass) IS
    'all pairs of records that a match model takes for the same with at least this probability, by their keys, each pair once';

CREATE FUNCTION bloom_model_linkage(a_rel regclass, a_key name, b_rel regclass, b_key name, model jsonb,
        min_probability float8 DEFAULT 0.5, one_to_one boolean DEFAULT false, options jsonb DEFAULT NULL,
        decisions regclass DEFAULT NULL, OUT a text, OUT b text, OUT probability float8, OUT bits float8) RETURNS SETOF record
    STABLE PARALLEL UNSAFE COST 1000000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_model_linkage_wrapper';
COMMENT ON FUNCTION bloom_model_linkage(regclass, name, regclass, name, jsonb, float8, boolean, jsonb, regclass) IS
    'all pairs of a record of one table and a record of another that a match model takes for the same; one_to_one gives each record once';

CREATE FUNCTION bloom_model_summary(model jsonb) RETURNS TABLE (topic text, name text, text text)
    IMMUTABLE STRICT PARALLEL SAFE ROWS 40 COST 1000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_model_summary_wrapper';
COMMENT ON FUNCTION bloom_model_summary(jsonb) IS
    'a match model on one page: status, what is expected, warnings, fields, columns left out, searches and classes of pairs, in words';

CREATE FUNCTION bloom_model_levels(model jsonb)
    RETURNS TABLE (field text, level integer, meaning text, m float8, u float8, bits float8, pairs float8, weak boolean)
    IMMUTABLE STRICT PARALLEL SAFE ROWS 60 COST 1000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_model_levels_wrapper';
COMMENT ON FUNCTION bloom_model_levels(jsonb) IS
    'what each level of agreement says: share among matches (m), among random pairs (u), log2(m/u), matches of the fit behind it, weak if fewer than 10';

CREATE FUNCTION bloom_model_classes(model jsonb) RETURNS TABLE (class integer, meaning text, pairs float8)
    IMMUTABLE STRICT PARALLEL SAFE ROWS 10 COST 1000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_model_classes_wrapper';
COMMENT ON FUNCTION bloom_model_classes(jsonb) IS
    'the classes of pairs that a match model knows, in words: the matches, then families and others that agree without being matches';

CREATE FUNCTION bloom_model_check(model jsonb, rel regclass)
    RETURNS TABLE (field text, what text, fitted float8, now float8, bits float8, advice text)
    STABLE PARALLEL UNSAFE ROWS 100 COST 1000000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_model_check_wrapper';
COMMENT ON FUNCTION bloom_model_check(jsonb, regclass) IS
    'whether a table has moved away from a match model: records, filled shares, levels of random pairs and frequent values at the fit and now, by a sample, with what to do where a difference is more than chance and matters';

CREATE FUNCTION bloom_model_calibrate(model jsonb, decisions regclass, pairs regclass DEFAULT NULL) RETURNS jsonb
    STABLE PARALLEL UNSAFE COST 100000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_model_calibrate_wrapper';
COMMENT ON FUNCTION bloom_model_calibrate(jsonb, regclass, regclass) IS
    'a match model whose probabilities are corrected by decisions about pairs that it has found; without pairs, the relation of the decisions has their probabilities';

CREATE FUNCTION bloom_model_score(model jsonb, a jsonb, b jsonb, records bigint DEFAULT NULL, OUT bits float8, OUT probability float8)
    IMMUTABLE PARALLEL SAFE COST 100 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_model_score_wrapper';
COMMENT ON FUNCTION bloom_model_score(jsonb, jsonb, jsonb, bigint) IS
    'bits and probability of two records, JSON objects, in a table of so many records, by default as many as the model was fitted to; as bloom_model_duplicates has them, without decisions';

CREATE FUNCTION bloom_model_keys(model jsonb, record jsonb, records bigint DEFAULT NULL, side text DEFAULT 'both')
    RETURNS TABLE (search integer, key bigint)
    IMMUTABLE PARALLEL SAFE ROWS 30 COST 100 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_model_keys_wrapper';
COMMENT ON FUNCTION bloom_model_keys(jsonb, jsonb, bigint, text) IS
    'what a record, a JSON object, has in common with those that each search of the model brings together with it in a table of so many records; search is the number in the model''s member searches, from 0 on';

CREATE FUNCTION bloom_model_explain(model jsonb, a jsonb, b jsonb, pairs float8 DEFAULT NULL, records bigint DEFAULT NULL)
    RETURNS TABLE (field text, a text, b text, level text, bits float8)
    IMMUTABLE PARALLEL SAFE ROWS 10 COST 1000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_model_explain_wrapper';
COMMENT ON FUNCTION bloom_model_explain(jsonb, jsonb, jsonb, float8, bigint) IS
    'what each field adds to the bits of two records, JSON objects, and what is added besides; pairs is the number of all pairs of records, by default that of the fit, or records is given instead; matches per record stay';

CREATE FUNCTION bloom_report_pairs(pairs regclass, rel regclass, key name, columns name[] DEFAULT NULL, model jsonb DEFAULT NULL,
        truth regclass DEFAULT NULL, decisions regclass DEFAULT NULL) RETURNS text
    STABLE PARALLEL UNSAFE COST 1000000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_report_pairs_wrapper';
COMMENT ON FUNCTION bloom_report_pairs(regclass, regclass, name, name[], jsonb, regclass, regclass) IS
    'pairs that were found before, or those that alone hold entities of a register together, on one page of HTML, to be decided there: their probabilities or similarities, pairs near the cut, clusters, why by a match model, quality where the truth is known';

CREATE FUNCTION bloom_report_linkage(pairs regclass, a_rel regclass, a_key name, b_rel regclass, b_key name, columns name[] DEFAULT NULL,
        model jsonb DEFAULT NULL, truth regclass DEFAULT NULL, decisions regclass DEFAULT NULL) RETURNS text
    STABLE PARALLEL UNSAFE COST 1000000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_report_linkage_wrapper';
COMMENT ON FUNCTION bloom_report_linkage(regclass, regclass, name, regclass, name, name[], jsonb, regclass, regclass) IS
    'the same for pairs of a record of one table and a record of another';

-- Guard and block list

CREATE FUNCTION bloom_guard() RETURNS trigger
    VOLATILE PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_guard_wrapper';
COMMENT ON FUNCTION bloom_guard() IS
    'trigger that rejects, warns of, skips or flags rows that are too similar to one that is there: signature column, threshold, action, options';

CREATE FUNCTION bloom_guard_create(rel regclass, signature name, threshold float8, action text, VARIADIC options text[] DEFAULT '{}') RETURNS name
    VOLATILE PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_guard_create_wrapper';
COMMENT ON FUNCTION bloom_guard_create(regclass, name, float8, text, text[]) IS
    'creates a trigger bloom_guard on a table after checking its arguments: signature column, threshold, action, pairs of option and value; returns the name of the trigger';

CREATE FUNCTION bloom_blocklist(signature bloom, list regclass, list_signature name, threshold float8)
    RETURNS TABLE (key text, similarity float8)
    STABLE PARALLEL RESTRICTED ROWS 10 COST 1000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_blocklist_wrapper';
COMMENT ON FUNCTION bloom_blocklist(bloom, regclass, name, float8) IS
    'rows of a list that are similar to a signature, best first: primary key as text, similarity';

CREATE FUNCTION minhash_blocklist(bits minhash_bits, list regclass, list_bits name, threshold float8)
    RETURNS TABLE (key text, similarity float8)
    STABLE PARALLEL RESTRICTED ROWS 10 COST 1000 LANGUAGE c AS 'MODULE_PATHNAME', 'minhash_blocklist_wrapper';
COMMENT ON FUNCTION minhash_blocklist(minhash_bits, regclass, name, float8) IS
    'rows of a list whose sets of tokens are similar to a set, best first: primary key as text, estimate of the similarity';

CREATE FUNCTION bloom_guard_search(rel regclass, signature name, sought bloom, threshold float8, own text DEFAULT NULL)
    RETURNS TABLE (key text, similarity float8)
    VOLATILE PARALLEL UNSAFE ROWS 1 COST 1000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_guard_search_wrapper';
COMMENT ON FUNCTION bloom_guard_search(regclass, name, bloom, float8, text) IS
    'rows of a table that a guard would find similar, best first: also those of transactions that have not ended, for which it waits; not the one with this primary key';

-- How far jobs are

CREATE FUNCTION bloom_progress_info()
    RETURNS TABLE (pid integer, datid oid, relid oid, job text, phase text, done bigint, total bigint, started timestamptz, phase_started timestamptz)
    STABLE STRICT PARALLEL RESTRICTED ROWS 10 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_progress_info_wrapper';
COMMENT ON FUNCTION bloom_progress_info() IS
    'how far the jobs of all sessions are, for the view bloom_progress';

CREATE VIEW bloom_progress AS
    SELECT info.pid, info.datid, pg_database.datname, info.relid, info.job, info.phase, info.done, info.total, share, info.started, elapsed,
        CASE WHEN share OPERATOR(pg_catalog.>) 0::pg_catalog.float8
            THEN phase_elapsed OPERATOR(pg_catalog.*) ((1::pg_catalog.float8 OPERATOR(pg_catalog./) share) OPERATOR(pg_catalog.-) 1::pg_catalog.float8)
        END AS time_left
    FROM bloom_progress_info() AS info
        LEFT JOIN pg_catalog.pg_database ON pg_database.oid OPERATOR(pg_catalog.=) info.datid
        CROSS JOIN LATERAL (SELECT
            CASE WHEN info.total OPERATOR(pg_catalog.<>) 0::pg_catalog.int8
                THEN info.done::pg_catalog.float8 OPERATOR(pg_catalog./) info.total::pg_catalog.float8
            END,
            pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) info.started, pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) info.phase_started)
            AS derived (share, elapsed, phase_elapsed);
GRANT SELECT ON bloom_progress TO PUBLIC;
COMMENT ON VIEW bloom_progress IS
    'how far the jobs of all sessions are: phase, what is done of it, the time since the job began and that which the phase will still take; details of other roles'' jobs only with pg_read_all_stats';

-- Registers

CREATE FUNCTION bloom_register_keep() RETURNS trigger
    VOLATILE PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_register_keep_wrapper';
COMMENT ON FUNCTION bloom_register_keep() IS
    'trigger that keeps the keys of a register''s records, made by bloom_register_create';

CREATE FUNCTION bloom_register_create(model jsonb, rel regclass, key name, register name DEFAULT NULL, options jsonb DEFAULT '{}') RETURNS regclass
    VOLATILE PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_register_create_wrapper';
COMMENT ON FUNCTION bloom_register_create(jsonb, regclass, name, name, jsonb) IS
    'makes a register of a table''s records: a table with the model, the keys of all records beside it, and triggers that keep them; returns the register, which is called like the table with _register unless it is named';

CREATE FUNCTION bloom_register_drop(register regclass) RETURNS void
    VOLATILE PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_register_drop_wrapper';
COMMENT ON FUNCTION bloom_register_drop(regclass) IS
    'drops a register with its keys and its triggers; the records stay';

CREATE FUNCTION bloom_register_match(register regclass, record jsonb, min_probability float8 DEFAULT 0.5, "limit" integer DEFAULT 10, prefix boolean DEFAULT false)
    RETURNS TABLE (key text, probability float8, bits float8, search integer)
    STABLE PARALLEL RESTRICTED ROWS 3 COST 10000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_register_match_wrapper';
COMMENT ON FUNCTION bloom_register_match(regclass, jsonb, float8, integer, boolean) IS
    'the records of a register that are the same as one, a JSON object, by its model and searches, best first, with the first search that finds each; with prefix those whose names begin so; a record of the same key is left out';

CREATE FUNCTION bloom_register_match(register regclass, record text, min_probability float8 DEFAULT 0.5, "limit" integer DEFAULT 10, prefix boolean DEFAULT false)
    RETURNS TABLE (key text, probability float8, bits float8, search integer)
    STABLE PARALLEL RESTRICTED ROWS 3 COST 10000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_register_match_wrapper';
COMMENT ON FUNCTION bloom_register_match(regclass, text, float8, integer, boolean) IS
    'the same for a record whose JSON is given as text';

CREATE FUNCTION bloom_register_match(register regclass, record anyelement, min_probability float8 DEFAULT 0.5, "limit" integer DEFAULT 10, prefix boolean DEFAULT false)
    RETURNS TABLE (key text, probability float8, bits float8, search integer)
    STABLE PARALLEL RESTRICTED ROWS 3 COST 10000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_register_match_wrapper';
COMMENT ON FUNCTION bloom_register_match(regclass, anyelement, float8, integer, boolean) IS
    'the same for a row of a table, whose columns have the names of the model''s fields';

CREATE FUNCTION bloom_register_why(register regclass, a text, b text)
    RETURNS TABLE (reason text, a text, b text, finding text, bits float8)
    STABLE PARALLEL RESTRICTED ROWS 20 COST 10000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_register_why_wrapper';
COMMENT ON FUNCTION bloom_register_why(regclass, text, text) IS
    'what a register''s model says of two of its records, by their keys, and of each search whether it brings them together, or why not';

CREATE FUNCTION bloom_register_check(register regclass, repair boolean DEFAULT false)
    RETURNS TABLE (finding text, number bigint)
    VOLATILE PARALLEL UNSAFE ROWS 8 COST 100000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_register_check_wrapper';
COMMENT ON FUNCTION bloom_register_check(regclass, boolean) IS
    'compares what a register has with what a new one would have; with repair the keys are written anew, and closed blocks may open';

CREATE FUNCTION bloom_register_refit(register regclass, model jsonb DEFAULT NULL, apply boolean DEFAULT false, min_probability float8 DEFAULT 0.5, options jsonb DEFAULT '{}')
    RETURNS TABLE (change text, a text, b text, was float8, now float8)
    VOLATILE PARALLEL UNSAFE ROWS 50 COST 100000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_register_refit_wrapper';
COMMENT ON FUNCTION bloom_register_refit(regclass, jsonb, boolean, float8, jsonb) IS
    'what another model, or one that is fitted anew, changes in a register; with apply it is the register''s from then on';

CREATE FUNCTION bloom_register_guard(register regclass, min_probability float8, action text, VARIADIC options text[] DEFAULT '{}') RETURNS name
    VOLATILE PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_register_guard_wrapper';
COMMENT ON FUNCTION bloom_register_guard(regclass, float8, text, text[]) IS
    'creates a trigger bloom_guard on a register''s table that rejects, warns of, skips or flags rows that are probably the same as one that is there, by the register''s model; returns the name of the trigger';

CREATE FUNCTION bloom_entities_create(register regclass, entities name, min_probability float8 DEFAULT 0.5, method text DEFAULT 'centre', max_size integer DEFAULT NULL, decisions regclass DEFAULT NULL, notify boolean DEFAULT true) RETURNS regclass
    VOLATILE PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_entities_create_wrapper';
COMMENT ON FUNCTION bloom_entities_create(regclass, name, float8, text, integer, regclass, boolean) IS
    'makes a table with the entity of each record of a register, which the register''s triggers keep from then on, and a table of what becomes of entities beside it; returns the table';

CREATE FUNCTION bloom_entities_decide() RETURNS trigger
    VOLATILE PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_entities_decide_wrapper';
COMMENT ON FUNCTION bloom_entities_decide() IS
    'trigger that has entities follow decisions, made by bloom_entities_create';

CREATE FUNCTION bloom_entities_drop(register regclass, entities name) RETURNS void
    VOLATILE PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_entities_drop_wrapper';
COMMENT ON FUNCTION bloom_entities_drop(regclass, name) IS
    'drops the entities of a register, and what has become of them; register and records stay';

CREATE FUNCTION bloom_register_preview(register regclass, record jsonb)
    RETURNS TABLE (entities regclass, entity bigint, change text, size integer, others bigint[])
    STABLE PARALLEL RESTRICTED ROWS 2 COST 10000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_register_preview_wrapper';
COMMENT ON FUNCTION bloom_register_preview(regclass, jsonb) IS
    'what would become of the entities of a register if a record, a JSON object, were entered, or changed where the table has one of its key; nothing is written';

CREATE FUNCTION bloom_register_preview(register regclass, record text)
    RETURNS TABLE (entities regclass, entity bigint, change text, size integer, others bigint[])
    STABLE PARALLEL RESTRICTED ROWS 2 COST 10000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_register_preview_wrapper';
COMMENT ON FUNCTION bloom_register_preview(regclass, text) IS
    'the same for a record whose JSON is given as text';

CREATE FUNCTION bloom_register_preview(register regclass, record anyelement)
    RETURNS TABLE (entities regclass, entity bigint, change text, size integer, others bigint[])
    STABLE PARALLEL RESTRICTED ROWS 2 COST 10000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_register_preview_wrapper';
COMMENT ON FUNCTION bloom_register_preview(regclass, anyelement) IS
    'the same for a row of a table, whose columns have the names of the model''s fields';

CREATE FUNCTION bloom_entities_how(entities regclass, id bigint)
    RETURNS TABLE (step integer, a text, b text, probability float8, bits float8, search integer, alone boolean, size integer)
    STABLE PARALLEL RESTRICTED ROWS 5 COST 10000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_entities_how_wrapper';
COMMENT ON FUNCTION bloom_entities_how(regclass, bigint) IS
    'how the records of an entity have come together: the pairs that hold it together, the strongest first, but before them those that alone hold a part of it';

-- Where to begin

CREATE FUNCTION bloom_suggest(rel regclass) RETURNS TABLE (step integer, topic text, reason text, statement text)
    STABLE PARALLEL UNSAFE ROWS 20 COST 100000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_suggest_wrapper';
COMMENT ON FUNCTION bloom_suggest(regclass) IS
    'reads a sample of a relation, and proposes key, fields, signature, indexes, model or threshold, clusters and guard, with reasons, as statements';
CREATE FUNCTION bloom_suggest(a_rel regclass, b_rel regclass) RETURNS TABLE (step integer, topic text, reason text, statement text)
    STABLE PARALLEL UNSAFE ROWS 20 COST 100000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_suggest_linkage_wrapper';
COMMENT ON FUNCTION bloom_suggest(regclass, regclass) IS
    'reads a sample of two relations, and proposes keys, fields that both have, a view that renames, a model and the pairs between them, with reasons, as statements';

-- Versions

CREATE FUNCTION bloom_stale_indexes() RETURNS TABLE (index regclass, reason text, statement text)
    VOLATILE STRICT PARALLEL UNSAFE ROWS 1 COST 1000000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_stale_indexes_wrapper';
COMMENT ON FUNCTION bloom_stale_indexes() IS
    'indexes in a format that this version of the library does not read, and the statements that make them anew';

CREATE FUNCTION bloom_stale_columns(rel regclass, unchanged boolean DEFAULT false)
    RETURNS TABLE ("column" name, rules integer, newest integer, rows bigint, step integer, statement text)
    STABLE PARALLEL UNSAFE ROWS 4 COST 1000000 LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_stale_columns_wrapper';
COMMENT ON FUNCTION bloom_stale_columns(regclass, boolean) IS
    'generated columns of a table that the newest rule set of normal forms would compute otherwise, in how many rows, and the statements to move';

-- Says it if the schema is not on the search_path, and is no part of the extension.

CREATE FUNCTION bloom_ident_installed() RETURNS void
    VOLATILE STRICT PARALLEL UNSAFE LANGUAGE c AS 'MODULE_PATHNAME', 'bloom_ident_installed_wrapper';
SELECT bloom_ident_installed();
DROP FUNCTION bloom_ident_installed();
