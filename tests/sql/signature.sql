-- Signatures: planning, building, membership, estimates.
SELECT * FROM bloom_plan();
SELECT max_chars, ngram, fpr, p.* FROM (VALUES (30, 2, 0.01), (60, 3, 0.01), (8, 2, 0.01), (30, 3, 0.001), (30, 3, 0.1), (1, 2, 0.9), (1, 2, 0.01), (5900, 8, 0.01)) AS v(max_chars, ngram, fpr),
    LATERAL bloom_plan(max_chars, ngram, fpr) AS p;
SELECT (bloom_plan(ngram => 2)).k;
SELECT bloom_plan(0);
SELECT bloom_plan(10001);
SELECT bloom_plan(30, 1);
SELECT bloom_plan(30, 9);
SELECT bloom_plan(30, 3, 0);
SELECT bloom_plan(30, 3, 1);
SELECT bloom_plan(30, 3, 'NaN');
SELECT bloom_plan(30, 3, 1e-30);
SELECT bloom_plan(10000);
SELECT bloom_plan(NULL);

SELECT bloom_signature('Erika'), bloom_signature(NULL), bloom_bits(bloom_signature('')), bloom_bits(bloom_signature('!?'));
SELECT bloom_signature('Müller') = bloom_signature('mueller') AS umlaut, bloom_signature('O''Brien') = bloom_signature('obrien') AS apostrophe;
SELECT bloom_signature('Mustermann, Erika', by_word => true) = bloom_signature('erika mustermann', by_word => true) AS any_order,
       bloom_signature('Mustermann, Erika') = bloom_signature('erika mustermann') AS one_run;
SELECT bloom_bits(bloom_signature(repeat('0123456789abcdefghijklmnopqrstuvwxyz', 30000)));
SELECT bloom_signature('x', 1);
SELECT bloom_signature('x', 3, 0);
SELECT bloom_signature('x', 3, 30, 0);
SELECT bloom_signature('x', 3, 10000, 0.01);

SELECT bloom_signature_of_fields('Erika', NULL, 'Mustermann') = bloom_signature_of_fields('Mustermann', 'Erika', '') AS fields,
       bloom_signature_of_fields('Erika', NULL, 'Mustermann') = (bloom_signature('Erika') | bloom_signature('Mustermann')) AS superimposed,
       bloom_bits(bloom_signature_of_fields(NULL)), bloom_signature_of_fields(VARIADIC NULL) IS NULL AS no_array,
       bloom_bits(bloom_signature_of_fields(VARIADIC '{}'));
SELECT bloom_signature_of_fields(2, 60, 0.01, 'Erika', NULL, 'Mustermann') = (bloom_signature('Erika', 2, 60) | bloom_signature('Mustermann', 2, 60)) AS shaped;
SELECT bloom_signature_of_fields(VARIADIC '{{a,b},{c,d}}');
SELECT bloom_signature_of_fields(2, 60, 7, 'Erika');

SELECT bloom_contains(s, 'erika'), bloom_contains(s, 'Erika Mustermann'), bloom_contains(s, ''), bloom_contains(s, 'Otto'), bloom_contains(s, NULL)
FROM bloom_signature('Erika Mustermann') AS s;
SELECT bloom_contains(s, 'erika', by_word => true), bloom_contains(s, 'Mustermann erika', true), bloom_contains(s, 'Otto', true)
FROM bloom_signature('Erika Mustermann', by_word => true) AS s;
SELECT bloom_add(bloom_signature('Erika'), 'Mustermann') = bloom_signature_of_fields('Erika', 'Mustermann') AS added,
       bloom_add(bloom_signature('Erika'), '') = bloom_signature('Erika') AS nothing,
       bloom_add(bloom_signature(''), 'Erika Mustermann', by_word => true) = bloom_signature('Erika Mustermann', by_word => true) AS by_word;
-- A text that is in a signature is found there, with filler, too.
SELECT text, bool_and(bloom_contains(bloom_signature(text, filler => true), text, filler => true)) AS contained,
       bool_and(bloom_add(bloom_signature(''), text, filler => true) = bloom_signature(text, filler => true)) AS added
FROM unnest('{Erika Mustermann, "Dr. O''Brien-Müller", " a  b ", x, "", "!?"}'::text[]) AS text GROUP BY text ORDER BY text COLLATE "C";
SELECT bloom_contains(s, 'Erika Mustermann') AS closed, bloom_contains(s, 'ErikaMustermann', filler => true) AS joined, bloom_contains(s, 'Erika Mustermann', false, true) AS filled
FROM bloom_signature('Erika Mustermann', filler => true) AS s;
SELECT bloom_contains(bloom_signature('a'), 'a', by_word => true, filler => true);
SELECT bloom_add(bloom_signature('a'), 'a', true, true);
SELECT bloom_signature_of_fields(3, 30, 0.01, true, 'Anna Lena', NULL, 'Li Wu') = (bloom_signature('Anna Lena', filler => true) | bloom_signature('Li Wu', filler => true)) AS filled,
       bloom_signature_of_fields(3, 30, 0.01, false, 'Anna Lena') = bloom_signature_of_fields(3, 30, 0.01, 'Anna Lena') AS closed,
       bloom_signature_of_fields(3, 30, 0.01, filler => true, VARIADIC fields => '{Li Wu}') = bloom_signature('Li Wu', filler => true) AS named,
       bloom_signature_of_fields(3, 30, 0.01, 'true', 'x') = bloom_signature_of_fields(3, 30, 0.01, 'true'::text, 'x') AS text_first;
-- A word has one of p(p-2) patterns of bits only: these two share theirs, so that one answers for the other.
SELECT ident_ngram_index('aab') % (5 * 3) AS aab, ident_ngram_index('apb') % (5 * 3) AS apb;

SELECT name, bloom_bits(s), bloom_fill(s), bloom_fpr(s), bloom_ngram_count(s) FROM unnest('{"",a,li,erika,mustermann}'::text[]) AS name, bloom_signature(name) AS s;
SELECT bloom_ngram_count(bloom_signature(repeat('0123456789abcdefghijklmnopqrstuvwxyz', 100), 8)), bloom_ngram_count(B'1111111111'::bloom(2,5,3));

SELECT model, bloom_collision_rate(model, 48, 30, 3) FROM unnest('{fpr,birthday,coll}'::text[]) AS model;
SELECT bloom_collision_rate('birthday', 5, 6, 1), bloom_collision_rate('birthday', 2147483647, 2147483647, 1);
SELECT bloom_collision_rate('poisson', 48, 30, 3);
SELECT bloom_collision_rate('fpr', 0, 30, 3);
SELECT bloom_collision_rate('fpr', 48, 0, 3);
SELECT bloom_collision_rate('fpr', 48, 30, -1);
SELECT bloom_superimposed_fpr(301, 32, 1), bloom_superimposed_fpr(301, 32, 2);
SELECT bloom_superimposed_fpr(301, 0, 2);
SELECT r, round(bloom_jain_estimate(r * 1000, 1000, r * ln(2), 0)::numeric, 4) FROM unnest('{1,2,4,8,10,11}'::int[]) AS r;
SELECT bloom_jain_estimate(2147483647, 1, 1e-9, 0) BETWEEN 0 AND 1 AS tiny;
SELECT bloom_jain_estimate(301, 32, 7, 33);
SELECT bloom_jain_estimate(301, 32, 0, 3);
SELECT bloom_jain_estimate(0, 32, 7, 3);
