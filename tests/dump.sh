# shellcheck shell=bash
# Sourced by the tests that carry a database somewhere else, by dump and restore or by pg_upgrade: a database with every kind of object that can depend
# on the extension, and what must be the same of it afterwards. Needs test-env.sh.

ask() { psql -XAtq -v ON_ERROR_STOP=1 -d "$1" -c "$2"; }

# What must be the same: shapes, bits, types, indexes, constraints, and that they still work.
state() {
    ask "$1" "SELECT id, name, sig, name_sig, profile, weights FROM person ORDER BY id"
    ask "$1" "SELECT * FROM counted ORDER BY id"
    ask "$1" "SELECT id, counting_remove(filter, 'name ' || id)::bloom = bloom_signature(''), counting_remove(tokens, ARRAY['name', id::text])::bloom = bloom_signature_of_tokens('{}') FROM counted WHERE filter IS NOT NULL ORDER BY id"
    ask "$1" "INSERT INTO counted (id, filter) VALUES (0, counting_signature('name', 2))" 2>&1 | head -n 1
    ask "$1" "SELECT id, minima, bits, query, bits % query FROM message ORDER BY id"
    ask "$1" "SELECT id FROM message WHERE bits = minhash_bits('{word,2}', 192) AND minhash_sim(bits, minhash_bits('{word,2}', 192)) >= 1"
    ask "$1" "INSERT INTO message (id, minima) VALUES (0, minhash('{word}', 65))" 2>&1 | head -n 1
    ask "$1" "SELECT attrelid::regclass, attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid IN ('person'::regclass, 'counted'::regclass, 'message'::regclass) AND attnum > 0 ORDER BY attrelid::regclass::text, attnum"
    ask "$1" "SELECT indexdef FROM pg_indexes WHERE tablename IN ('person', 'message') ORDER BY indexdef"
    ask "$1" "SELECT * FROM near ORDER BY 1, 2"
    ask "$1" "SELECT bloom_bits(bloom_union(sig)) FROM person"
    ask "$1" "SELECT id, sig, format_type(atttypid, atttypmod) FROM basket, pg_attribute WHERE attrelid = 'basket'::regclass AND attname = 'sig' ORDER BY id"
    ask "$1" "SELECT id FROM basket WHERE sig % bloom_query(bloom_signature_of_tokens('{a,b,7}'), 0.9)"
    ask "$1" "INSERT INTO basket (id, tokens) VALUES (0, '{a,b,7}')" 2>&1 | head -n 1
    ask "$1" "INSERT INTO person (id, sig) VALUES (0, bloom_signature('name 7'))" 2>&1 | head -n 1
    ask "$1" "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'guarded'::regclass ORDER BY tgname"
    ask "$1" "INSERT INTO guarded VALUES (4, bloom_signature('Erica Mustermann'))" 2>&1
    ask "$1" "INSERT INTO guarded VALUES (4, bloom_signature('Hans Wurst'))" 2>&1
    ask "$1" "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'message'::regclass"
    ask "$1" "SELECT *, bloom_sign('AG Nord', 'de', 1) FROM ident_abbreviations ORDER BY 1, 2"
    ask "$1" "INSERT INTO message (id, tokens) SELECT 53, array_agg('t' || i) FROM generate_series(1, 9) AS i" 2>&1
}

# What was decided and merged before the dump holds afterwards: decisions let a row in, and a merge can be taken back.
later() {
    ask "$1" "SELECT a, b, decision, who, hash FROM verdict ORDER BY at, a"
    ask "$1" "INSERT INTO twin VALUES (3, 'Erika Mustermann')" 2>&1 | head -n 1
    ask "$1" "INSERT INTO verdict (a, b, decision) VALUES ('1', '3', 'different'), ('2', '3', 'different'); INSERT INTO twin VALUES (3, 'Erika Mustermann')" 2>&1
    ask "$1" "SELECT id, action, relation, key, old, new, hash, gone FROM bloom_merges ORDER BY entry"
    ask "$1" "SELECT bloom_unmerge(1)"
    ask "$1" "SELECT m, v FROM merged AS m LEFT JOIN visit AS v ON v.merged = m.id ORDER BY m.id, v.id"
    ask "$1" "SELECT bloom_unmerge(1)" 2>&1 | head -n 1
    ask "$1" "SELECT id, key FROM bloom_merge('again', 'merged', 'id')"
}

# The database "dumped".
make_dumped() {
    createdb dumped
    ask dumped "CREATE SCHEMA ext; CREATE EXTENSION bloom_ident SCHEMA ext;
        ALTER DATABASE dumped SET search_path = public, ext"
    ask dumped "
        CREATE TABLE person (
            id int PRIMARY KEY, name text, sig bloom(7,43,3), weights float8[],
            name_sig bloom(7,43,3) GENERATED ALWAYS AS (bloom_signature(name)) STORED,
            profile bloom[],
            CHECK (bloom_bits(sig) < 300), CHECK (sig @> name_sig)
        );
        INSERT INTO person (id, name, sig, weights, profile)
            SELECT i, 'name ' || i, bloom_signature('name ' || i), '{1,2}', ARRAY[bloom_signature(i::text), NULL]
            FROM generate_series(1, 500) AS i;
        CREATE INDEX ON person (sig);
        CREATE INDEX ON person USING gist (sig);
        ALTER TABLE person ADD CONSTRAINT no_duplicate EXCLUDE USING gist ((bloom_query(sig, 0.99)) WITH %);
        CREATE INDEX ON person USING hash (name_sig);
        CREATE INDEX ON person (bloom_signature(lower(name), ngram => 2));
        CREATE INDEX ON person (id) WHERE bloom_sim(sig, '(7,43,3):$(printf '0%.0s' {1..76})') >= 0;
        CREATE TABLE basket (id int PRIMARY KEY, tokens text[], sig bloom(7,43,0) GENERATED ALWAYS AS (bloom_signature_of_tokens(tokens)) STORED,
            EXCLUDE USING sigfile ((bloom_query(sig, 0.9)) WITH %));
        INSERT INTO basket SELECT i, ARRAY['a', 'b', i::text] FROM generate_series(1, 9) AS i;
        CREATE TABLE counted (id int PRIMARY KEY, filter counting_bloom(7,43,3), tokens counting_bloom(7,43,0), other counting_bloom DEFAULT counting_signature('default'), CHECK (counting_full(filter) = 0));
        INSERT INTO counted SELECT i, counting_signature('name ' || i), counting_signature_of_tokens(ARRAY['name', i::text]) FROM generate_series(1, 20) AS i;
        INSERT INTO counted VALUES (21, NULL, NULL, NULL);
        CREATE TABLE message (
            id int PRIMARY KEY, tokens text[], minima minhash(64,7), bits minhash_bits(192) GENERATED ALWAYS AS (minhash_bits(tokens, 192)) STORED,
            query minhash_query
        );
        INSERT INTO message (id, tokens, minima, query)
            SELECT i, ARRAY['word', i::text], minhash(ARRAY[i::text], 64, 7), minhash_query(minhash_bits(ARRAY['word', '1'], 192), 0.5) FROM generate_series(1, 50) AS i;
        INSERT INTO message (id, tokens, minima, query) VALUES (51, '{}', minhash('{}', 64, 7), minhash_query_above(minhash_bits('{}', 192), -0.5)), (52, NULL, NULL, NULL);
        INSERT INTO message (id, tokens) SELECT 100, array_agg('t' || i) FROM generate_series(1, 10) AS i;
        CREATE TRIGGER guard AFTER INSERT OR UPDATE ON message FOR EACH ROW
            EXECUTE FUNCTION bloom_guard('bits', '0.9', 'reject', 'verify', 'tokens', 'margin', '0.15', 'message', 'seen before');
        CREATE INDEX ON message (bits);
        CREATE INDEX ON message USING hash (minima);
        CREATE INDEX ON message (id) WHERE minhash_sim(bits, minhash_bits('{word}', 192)) > 0.2;
        CREATE TABLE guarded (id int PRIMARY KEY, sig bloom);
        INSERT INTO guarded VALUES (1, bloom_signature('Erika Mustermann')), (2, bloom_signature('erika mustermann'));
        CREATE TABLE blocked (id int PRIMARY KEY, sig bloom);
        INSERT INTO blocked VALUES (3, bloom_signature('Hans Wurst'));
        CREATE INDEX ON guarded USING sigfile (sig);
        CREATE INDEX ON blocked USING gist (sig);
        CREATE TRIGGER guard AFTER INSERT ON guarded FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject');
        CREATE TRIGGER blocked AFTER INSERT ON guarded FOR EACH ROW
            EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject', 'blocklist', 'public.blocked', 'message', 'it''s listed');
        INSERT INTO ident_abbreviations VALUES ('de', 'A.G.', 'Arbeitsgemeinschaft'), ('es', 'Cía.', 'compañía');
        CREATE VIEW near AS SELECT a.id AS a, b.id AS b, bloom_sim(a.sig, b.sig) FROM person a JOIN person b ON a.id < b.id AND bloom_sim(a.sig, b.sig) > 0.9"

    ask dumped "SELECT bloom_decisions_create('verdict')" >/dev/null
    ask dumped "
        CREATE TABLE twin (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
        CREATE INDEX ON twin USING sigfile (sig);
        CREATE TRIGGER guard AFTER INSERT ON twin FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.8', 'reject', 'decisions', 'public.verdict');
        INSERT INTO twin VALUES (1, 'Erika Mustermann');
        INSERT INTO verdict (a, b, decision) VALUES ('1', '2', 'different');
        INSERT INTO twin VALUES (2, 'Erika Mustermann');
        CREATE TABLE merged (id int PRIMARY KEY, name text, weight float8, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
        INSERT INTO merged VALUES (1, 'Erika', 0.1), (2, 'Erika Mustermann', NULL), (3, 'Otto', 1e-9);
        CREATE TABLE visit (id int PRIMARY KEY, merged int REFERENCES merged);
        INSERT INTO visit VALUES (1, 1), (2, 2), (3, 3);
        CREATE TABLE again AS SELECT 1 AS cluster, id AS key FROM merged WHERE id <> 2"
    ask dumped "CREATE TABLE pair_cluster AS SELECT 1 AS cluster, id AS key FROM merged WHERE id < 3"
    ask dumped "SELECT bloom_merge('pair_cluster', 'merged', 'id', '{\"name\": \"longest\"}')" >/dev/null
}
