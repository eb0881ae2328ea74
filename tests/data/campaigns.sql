-- Mails of spam campaigns, made by a seed: the same arguments give the same mails, on every machine and version of the server.
-- Words are drawn by Zipf's law from 50,000, so that frequent words are in most mails. A campaign is a text, and each of its mails a copy of it
-- of whose words a share is replaced, followed by a further word, or moved. Used by tests, documents and benchmarks.

-- A number from 0 to 1, without 1, for each i; salt tells apart what is drawn for one i.
CREATE FUNCTION campaign_draw(i bigint, salt bigint) RETURNS float8 IMMUTABLE PARALLEL SAFE LANGUAGE sql AS
    $$ SELECT (hashint8extended(i, salt) & 1073741823) / 1073741824.0::float8 $$;

-- The rank of a word for a draw: r with probability 1 / (11.397 r), r from 1 to 50,000. The sum of 1 / r up to R is nearly ln(R + 0.5) + 0.5772.
CREATE FUNCTION campaign_rank(draw float8) RETURNS int IMMUTABLE PARALLEL SAFE LANGUAGE sql AS
    $$ SELECT greatest(1, ceil(exp(draw * 11.3970039::float8 - 0.5772157::float8) - 0.5::float8))::int $$;

-- A word has a syllable for each two digits of its rank.
CREATE FUNCTION campaign_syllable(hundredths int) RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT substr('babebibobucacecicocudadedidodufafefifofugagegigoguhahehihohujajejijojukakekikokulalelilolumamemimomunaneninonu'
        'papepipopuqaqeqiqoqurarerirorusasesisosutatetitotuvavevivovuwawewiwowuxaxexixoxuzazezizozu', hundredths * 2 + 1, 2)
$$;
CREATE FUNCTION campaign_word(rank int) RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT CASE WHEN rank < 100 THEN campaign_syllable(rank) WHEN rank < 10000 THEN campaign_syllable(rank / 100) || campaign_syllable(rank % 100)
        ELSE campaign_syllable(rank / 10000) || campaign_syllable(rank / 100 % 100) || campaign_syllable(rank % 100) END
$$;

-- The mail number copy of a text: from shortest to longest words, of which a share from 0 to changed, drawn for each copy, is changed in one of
-- three ways. Texts have at most 1,000 words.
CREATE FUNCTION campaign_body(seed bigint, text_number bigint, copy bigint, shortest int, longest int, changed float8)
RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT string_agg(CASE change WHEN 1 THEN campaign_word(new) WHEN 2 THEN campaign_word(old) || ' ' || campaign_word(new) ELSE campaign_word(old) END, ' '
            ORDER BY CASE change WHEN 3 THEN campaign_draw(copy * 1000 + place, seed * 8 + 1) * words ELSE place END)
    FROM (SELECT words, place, campaign_rank(campaign_draw(text_number * 1000 + place, seed * 8)) AS old,
              CASE WHEN campaign_draw(copy * 1000 + place, seed * 8 + 4) < share THEN 1 + floor(campaign_draw(copy * 1000 + place, seed * 8 + 5) * 3)::int ELSE 0 END AS change,
              campaign_rank(campaign_draw(copy * 1000 + place, seed * 8 + 6)) AS new
          FROM (SELECT shortest + floor(campaign_draw(text_number, seed * 8 + 2) * (longest - shortest + 1))::int AS words,
                    campaign_draw(copy, seed * 8 + 3) * changed AS share OFFSET 0) AS drawn,
               generate_series(1, words) AS place OFFSET 0) AS word
$$;

-- Which mail is of which campaign: in each series there are 250 campaigns, of which number i has max(2, 500 / i) mails, 2,940 in all. The other
-- mails are of no campaign and have a text each. Mails come in no order.
CREATE FUNCTION campaign_plan(mails int, series int) RETURNS TABLE (id int, campaign int, text_number int) IMMUTABLE LANGUAGE sql AS $$
    SELECT row_number() OVER (ORDER BY campaign_draw(n, 0), n)::int, campaign, coalesce(campaign, series * 250 + n)
    FROM (SELECT row_number() OVER (ORDER BY (s - 1) * 250 + i)::int AS n, (s - 1) * 250 + i AS campaign
          FROM generate_series(1, series) AS s, generate_series(1, 250) AS i, generate_series(1, greatest(2, 500 / i))
          UNION ALL SELECT n, NULL FROM generate_series(series * 2940 + 1, mails) AS n) AS numbered
$$;
