-- What a database of tests/released/objects.sql says: the same before and after an upgrade, and with any version of the library.
\pset format unaligned
\pset tuples_only
\echo == types, definitions
SELECT attrelid::regclass, attname, format_type(atttypid, atttypmod), pg_get_expr(adbin, adrelid) FROM pg_attribute LEFT JOIN pg_attrdef ON (adrelid, adnum) = (attrelid, attnum)
    WHERE attnum > 0 AND NOT attisdropped AND attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'm', 'v')) ORDER BY attrelid::regclass::text COLLATE "C", attnum;
SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexdef COLLATE "C";
SELECT conrelid::regclass, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype IN ('c', 'x') ORDER BY conrelid::regclass::text COLLATE "C", 2;
SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal AND tgparentid = 0 ORDER BY tgrelid::regclass::text COLLATE "C", tgname;
\echo == values
SELECT md5(string_agg(p::text, '|' ORDER BY id)), count(*) FROM person AS p;
SELECT md5(string_agg(b::text, '|' ORDER BY id)), count(*) FROM basket AS b;
SELECT md5(string_agg(s::text, '|' ORDER BY id)), count(*) FROM several AS s;
SELECT md5(string_agg(p::text, '|' ORDER BY id)), count(*) FROM parted AS p;
SELECT md5(string_agg(k::text, '|' ORDER BY id)), count(*) FROM keyed AS k;
-- The same values made anew: an expression that exists never changes its result.
SELECT count(*) FROM person WHERE sig IS DISTINCT FROM bloom_signature(given || ' ' || surname) OR pair IS DISTINCT FROM bloom_signature(surname, ngram => 2, max_chars => 20) OR normal IS DISTINCT FROM ident_normalize(surname);
SELECT count(*) FROM basket WHERE sig IS DISTINCT FROM bloom_signature_of_tokens(items) OR minima IS DISTINCT FROM minhash(items, 64, 7) OR bits IS DISTINCT FROM minhash_bits(items, 192);
SELECT count(*) FROM keyed, scheme WHERE sig IS DISTINCT FROM bloom_clk(jsonb_build_object('given', given, 'surname', surname), own, 'known');
SELECT count(*), md5(string_agg(a || ' ' || b || ' ' || similarity, '|' ORDER BY a, b)) FROM near;
SELECT count(*), sum(a), sum(b) FROM nearest;
SELECT l.id, round(bloom_sim(l.sig, p.sig)::numeric, 4) FROM person AS p, like_name(p.given || ' ' || p.surname) AS l WHERE p.id = 100 ORDER BY 2 DESC, 1 LIMIT 5;
\echo == searches by index
SET enable_seqscan = off;
SELECT count(*), sum(b.id) FROM person AS a, person AS b WHERE a.id % 20 = 0 AND b.sig % bloom_query(a.sig, 0.6);
SELECT count(*), sum(b.id) FROM person AS a, person AS b WHERE a.id % 20 = 0 AND b.postcode = a.postcode AND b.sig % bloom_query(a.sig, 0.3);
SELECT count(*), sum(b.id) FROM person AS a, person AS b WHERE a.id = 100 AND bloom_sim(bloom_signature(b.surname, by_word => true), bloom_signature(a.surname, by_word => true)) >= 0.5;
SELECT count(*), sum(id) FROM person WHERE sig = (SELECT sig FROM person WHERE id = 100);
SELECT count(*), sum(id) FROM person WHERE sig > (SELECT sig FROM person WHERE id = 100);
SELECT string_agg(id::text, ' ') FROM (SELECT id FROM person ORDER BY sig <-> (SELECT sig FROM person WHERE id = 100), id LIMIT 3) AS n;
SELECT count(*), sum(b.id) FROM basket AS a, basket AS b WHERE a.id % 10 = 0 AND b.bits % minhash_query(a.bits, 0.6);
SELECT count(*), sum(b.id) FROM basket AS a, basket AS b WHERE a.id % 10 = 0 AND b.sig % bloom_query(a.sig, 0.6);
SELECT count(*), sum(id) FROM parted WHERE sig % bloom_query(bloom_signature(md5('50')), 0.9);
SELECT count(*), sum(b.id) FROM keyed AS a, keyed AS b WHERE a.id % 7 = 0 AND b.sig % bloom_query(a.sig, 0.5);
RESET enable_seqscan;
\echo == indexes
SELECT indexrelid::regclass, bloom_sigfile_check(indexrelid) FROM pg_index JOIN pg_class ON oid = indexrelid JOIN pg_am ON pg_am.oid = relam WHERE amname = 'sigfile' AND relkind = 'i' AND relnamespace = 'public'::regnamespace ORDER BY indexrelid::regclass::text COLLATE "C";
\echo == jobs
SELECT count(*), md5(string_agg(a || ' ' || b || ' ' || similarity, '|' ORDER BY a, b)) FROM bloom_duplicates('person', 'id', 'sig', 0.7);
SELECT count(*) FROM (SELECT a, b, round(bits::numeric, 6) FROM fitted, bloom_model_duplicates('client', 'id', model) EXCEPT SELECT a, b, round(bits::numeric, 6) FROM by_model) AS other;
SELECT * FROM bloom_register_check('client_register');
SELECT key, round(probability::numeric, 4) FROM bloom_register_match('client_register', (SELECT to_jsonb(c) - 'id' FROM client AS c WHERE id = 100)) ORDER BY 2 DESC, 1;
SELECT count(DISTINCT entity), count(*) FROM client_entity;
SELECT a, b, decision, who, at AT TIME ZONE 'UTC' FROM verdict ORDER BY at;
SELECT key, duplicate, round(similarity::numeric, 4) FROM patient_review ORDER BY 1, 2;
SELECT id, name, weight, day FROM twin ORDER BY id;
SELECT * FROM visit ORDER BY id;
SELECT id, action, relation, key, old, new, hash, gone FROM merges ORDER BY entry;
SELECT language, abbreviation, words, bloom_sign(abbreviation || ' Nord', language, 1)::text FROM ident_abbreviations ORDER BY 1, 2;
