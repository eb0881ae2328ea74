-- Values computed by an independent program, through SQL.
\getenv abs_srcdir PG_ABS_SRCDIR
\set file :abs_srcdir '/data/golden.json'
CREATE TEMP TABLE golden AS SELECT key, value FROM jsonb_each(pg_read_file(:'file')::jsonb);
CREATE TEMP VIEW v AS SELECT key, e FROM golden, jsonb_array_elements(golden.value) AS e WHERE jsonb_typeof(golden.value) = 'array';
CREATE FUNCTION bits(s text, q int, k int, p int) RETURNS int[] LANGUAGE sql
    RETURN (SELECT COALESCE(array_agg(DISTINCT b ORDER BY b), '{}') FROM unnest(ident_ngrams(s, q)) AS w, ident_ngram_index(w) AS idx,
            generate_series(0, k - 1) AS j, CAST(j * p + (idx % p + j * (idx % (p - 2) + 1)) % p AS int) AS b);
CREATE FUNCTION list(jsonb) RETURNS text[] LANGUAGE sql RETURN (SELECT COALESCE(array_agg(t), '{}') FROM jsonb_array_elements_text($1) AS t);

SELECT count(*), bool_and(ident_ngram_index(word) = index::bigint) AS idx FROM golden, jsonb_each_text(value) AS i(word, index) WHERE key = 'idx';
SELECT count(*), bool_and(to_jsonb(ident_ngrams(e->>'s', (e->>'q')::int)) = e->'words') AS ngrams FROM v WHERE key = 'ngrams';
SELECT count(*), bool_and(ident_normalize(e->>'s') = e->>'out') AS normalize FROM v WHERE key = 'normalize';
SELECT count(*), bool_and(ident_luhn(e->>'s') = (e->>'valid')::boolean) AS luhn FROM v WHERE key = 'luhn';
-- A signature is built from its golden positions where no plan gives its shape.
SELECT count(*), bool_and(to_jsonb(bits(e->>'s', (e->>'q')::int, (e->>'k')::int, (e->>'p')::int)) = e->'bits') AS words,
       count(*) FILTER (WHERE e @> '{"q": 3, "k": 7, "p": 43}') AS default_shape,
       bool_and(bloom_signature(e->>'s')::jsonb->'bits' = e->'bits') FILTER (WHERE e @> '{"q": 3, "k": 7, "p": 43}') AS signature,
       bool_and((e - 's')::bloom::jsonb->'bits' = e->'bits') AS json
FROM v WHERE key = 'signature';
-- Counting filters, by their text form: a hexadecimal digit for each counter.
SELECT count(*), bool_and(merged::text = filter) AS merged, bool_and(added::text = filter) AS added
FROM v, LATERAL (SELECT format('(%s,%s,%s):', e->'k', e->'p', e->'q') || string_agg(to_hex(c::int), '' ORDER BY i) FROM jsonb_array_elements_text(e->'counters') WITH ORDINALITY AS a (c, i)) AS f (filter),
    LATERAL (SELECT format('(%s,%s,%s):', e->'k', e->'p', e->'q') || repeat('0', (e->>'k')::int * (e->>'p')::int)) AS n (none),
    LATERAL (SELECT counting_merge(counting_add(none::counting_bloom, t)) FROM jsonb_array_elements_text(e->'texts') AS t) AS m (merged),
    LATERAL (WITH RECURSIVE adding (i, f) AS (SELECT 0, none::counting_bloom UNION ALL SELECT i + 1, counting_add(f, e->'texts'->>i) FROM adding WHERE i < jsonb_array_length(e->'texts'))
        SELECT f FROM adding ORDER BY i DESC LIMIT 1) AS a (added)
WHERE key = 'counting';
SELECT count(*), bool_and(merged::text = filter) AS merged, bool_and(added::text = filter) AS added
FROM v, LATERAL (SELECT format('(%s,%s,0,hash=1):', e->'k', e->'p') || string_agg(to_hex(c::int), '' ORDER BY i) FROM jsonb_array_elements_text(e->'counters') WITH ORDINALITY AS a (c, i)) AS f (filter),
    LATERAL (SELECT format('(%s,%s,0):', e->'k', e->'p') || repeat('0', (e->>'k')::int * (e->>'p')::int)) AS n (none),
    LATERAL (SELECT counting_merge(counting_add(none::counting_bloom, ARRAY(SELECT jsonb_array_elements_text(t)))) FROM jsonb_array_elements(e->'sets') AS t) AS m (merged),
    LATERAL (WITH RECURSIVE adding (i, f) AS (SELECT 0, none::counting_bloom UNION ALL SELECT i + 1, counting_add(f, ARRAY(SELECT jsonb_array_elements_text(e->'sets'->i))) FROM adding WHERE i < jsonb_array_length(e->'sets'))
        SELECT f FROM adding ORDER BY i DESC LIMIT 1) AS a (added)
WHERE key = 'counting_tokens';
SELECT count(*), bool_and(ident_ngram_sim(e->>'a', e->>'b', (e->>'q')::int) = (e->>'words')::float8) AS words,
       bool_and(bloom_sim(bloom_signature(e->>'a'), bloom_signature(e->>'b')) = (e->>'bits')::float8) FILTER (WHERE e @> '{"q": 3, "k": 7, "p": 43}') AS bits
FROM v WHERE key = 'jaccard';
SELECT count(*), bool_and(bloom_sim(a, b) = (e->>'jaccard')::float8) AS jaccard, bool_and(bloom_dice(a, b) = (e->>'dice')::float8) AS dice,
       bool_and(bloom_overlap(a, b) = (e->>'overlap')::float8) AS overlap, bool_and(bloom_cosine(a, b) = (e->>'cosine')::float8) AS cosine,
       bool_and(bloom_containment(a, b) = (e->>'containment')::float8) AS containment, bool_and(bloom_hamming(a, b) = (e->>'hamming')::int) AS hamming
FROM v, bloom_signature(e->>'a') AS a, bloom_signature(e->>'b') AS b WHERE key = 'measures';
SELECT count(*), bool_and(bloom_fill(s) = (e->>'fill')::float8) AS fill, bool_and(abs(bloom_fpr(s) - (e->>'fpr')::float8) <= 1e-15) AS fpr,
       bool_and(abs(bloom_ngram_count(s) - (e->>'words')::float8) <= 1e-12) AS words
FROM v, bloom_signature(e->>'s') AS s WHERE key = 'estimates';
SELECT count(*), bool_and(p.k = (e->>'k')::int AND p.p = (e->>'p')::int AND p.m = (e->>'m')::int AND p.n = (e->>'n')::int) AS shape,
       bool_and(abs(actual_fpr - (e->>'actual_fpr')::float8) < 1e-15) AS fpr, bool_and(abs(pattern_floor - (e->>'pattern_floor')::float8) < 1e-15) AS floor
FROM v, bloom_plan((e->>'max_chars')::int, (e->>'q')::int, (e->>'fpr')::float8) AS p WHERE key = 'plan';
SELECT count(*), bool_and(abs(bloom_collision_rate(model, (e->>'p')::int, (e->>'n')::int, (e->>'k')::int) - (e->>model)::float8) < 1e-13) AS collision
FROM v, unnest('{fpr,birthday,coll}'::text[]) AS model WHERE key = 'collision';
SELECT count(*), bool_and(abs(bloom_corrected_threshold(1, (e->>'delta')::float8) - (e->>'factor')::float8) < 1e-15) AS corrected FROM v WHERE key = 'corrected';
SELECT count(*), bool_and(abs(bloom_superimposed_fpr((e->>'m')::int, (e->>'n')::int, (e->>'filters')::int) - (e->>'fpr')::float8) < 1e-15) AS superimposed
FROM v WHERE key = 'superimposed_fpr';
SELECT count(*), bool_and((e || '{"q": 0}') - '{tokens,max_tokens,fpr}'::text[] = s::jsonb - '{hash,rules,key}'::text[]) AS token_signature
FROM v, bloom_signature_of_tokens(list(e->'tokens'), (e->>'max_tokens')::int, (e->>'fpr')::float8) AS s WHERE key = 'token_signature';
SELECT count(*), bool_and(e->'bits' = s::jsonb->'bits') AS date_signature FROM v, bloom_signature_of_date(e->>'date') AS s WHERE key = 'date_signature';
SELECT count(*), bool_and(ident_token_sim(list(e->'a'), list(e->'b')) = (e->>'jaccard')::float8) AS jaccard,
       bool_and(ident_token_containment(list(e->'a'), list(e->'b')) = (e->>'containment')::float8) AS containment
FROM v WHERE key = 'token_sims';
SELECT count(*), bool_and(to_jsonb(ident_tokens(e->>'s')) = e->'tokens') AS tokens FROM v WHERE key = 'tokens';
SELECT count(*), bool_and(ARRAY(SELECT t COLLATE "C" FROM unnest(ident_tokens(e->'json')) AS t ORDER BY 1) = list(e->'tokens')) AS json_tokens FROM v WHERE key = 'json_tokens';
SELECT count(*), bool_and(ident_tokens(jsonb_build_object(e->>'key', 1)) = ARRAY[e->>'singular' || '_1']) AS singular FROM v WHERE key = 'singular';
SELECT count(*), bool_and(minhash(tokens, n, family)::text = format('(%s):%s', shape, e->>'minima')) AS minima,
       bool_and(minhash_bits(tokens, n, family)::text = format('(%s):%s', shape, e->>'sampled')) AS bits
FROM v, LATERAL (SELECT ARRAY(SELECT jsonb_array_elements_text(e->'tokens')) AS tokens, (e->>'n')::int AS n, (e->>'family')::int AS family,
                        concat_ws(',', e->>'n', NULLIF(e->>'family', '0')) AS shape) AS sketch
WHERE key = 'sketch';
SELECT count(*), bool_and(minhash_sim(minhash(a, n), minhash(b, n)) = (e->>'minima')::float8) AS minima,
       bool_and(minhash_sim(minhash_bits(a, n), minhash_bits(b, n)) = (e->>'bits')::float8) AS bits,
       bool_and(minhash_bits(a, n) <-> minhash_bits(b, n) = (e->>'differ')::float8) AS differ
FROM v, LATERAL (SELECT ARRAY(SELECT jsonb_array_elements_text(e->'a')) AS a, ARRAY(SELECT jsonb_array_elements_text(e->'b')) AS b, (e->>'n')::int AS n) AS sets
WHERE key = 'sketch_sim';
SELECT count(*), bool_and(abs(minhash_standard_error(s, n) - (e->>'bits')::float8) < 1e-15) AS bits, bool_and(abs(minhash_standard_error(s, n, false) - (e->>'minima')::float8) < 1e-15) AS minima
FROM v, LATERAL (SELECT (e->>'similarity')::float8 AS s, (e->>'n')::int AS n) AS sets WHERE key = 'sketch_error';
DROP FUNCTION bits;
DROP FUNCTION list;
