-- What a search for near-duplicates by sketches finds in a table message (id integer, tokens text[]) of the database in use.
-- The truth, table pair, is counted: of which pairs of messages the sets of tokens have a Jaccard similarity of 0.8 or more. Then, for each of 20
-- hash families, the pairs whose estimate by 192 bits is 0.7 or more are candidates, and those whose tokens have a similarity of 0.8 or more remain.
-- recall is that of the candidates for pairs below 1, since equal sets have equal sketches. missing: pairs that are no candidates. wrong: what
-- remains and is no pair, or has another similarity.
CREATE TABLE pair AS
    WITH token AS MATERIALIZED (SELECT DISTINCT id, t FROM message, unnest(tokens) AS t),
    size AS MATERIALIZED (SELECT id, count(*) AS n FROM token GROUP BY id),
    common AS (SELECT x.id AS a, y.id AS b, count(*) AS n FROM token AS x JOIN token AS y USING (t) WHERE x.id < y.id GROUP BY x.id, y.id)
    SELECT a, b, common.n::float8 / (x.n + y.n - common.n) AS similarity FROM common JOIN size AS x ON x.id = a JOIN size AS y ON y.id = b
    WHERE common.n::float8 / (x.n + y.n - common.n) >= 0.8;
CREATE TABLE reach (family int, recall float8, candidates bigint, pairs bigint, remaining bigint, missing bigint, wrong bigint);
CREATE PROCEDURE measure_reach(family int) LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS signed, candidate;
    CREATE TABLE signed AS SELECT id, minhash_bits(tokens, 192, family) AS bits FROM message;
    CREATE INDEX ON signed USING sigfile (bits);
    CREATE TABLE candidate AS
        SELECT least(d.a::int, d.b::int) AS a, greatest(d.a::int, d.b::int) AS b, ident_token_sim(x.tokens, y.tokens) AS similarity
        FROM bloom_duplicates('signed', 'id', 'bits', 0.7) AS d JOIN message AS x ON x.id = d.a::int JOIN message AS y ON y.id = d.b::int;
    INSERT INTO reach
    SELECT measure_reach.family, (count(*) FILTER (WHERE near AND pair.similarity < 1))::float8 / nullif(count(*) FILTER (WHERE pair.similarity < 1), 0),
        (SELECT count(*) FROM candidate), count(*), (SELECT count(*) FROM candidate WHERE similarity >= 0.8), count(*) FILTER (WHERE near IS NULL),
        (SELECT count(*) FROM candidate AS c WHERE similarity >= 0.8 AND NOT EXISTS (SELECT FROM pair WHERE pair.a = c.a AND pair.b = c.b AND pair.similarity = c.similarity))
    FROM pair LEFT JOIN (SELECT a, b, true AS near FROM candidate) AS c USING (a, b);
END $$;
SELECT format('CALL measure_reach(%s)', family) FROM generate_series(1, 20) AS family
\gexec
