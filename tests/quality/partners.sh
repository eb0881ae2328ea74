#!/usr/bin/env bash
# tests/quality/partners.sh: what it gains to give each record one partner, in Markdown. Run by "make quality".
#
# Publications of DBLP and of ACM, linked by one signature of title, authors and year; F1 is that of the best threshold.

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/bench-env.sh"

data=$ROOT/tests/data/quality
export PGOPTIONS='-c jit=off -c client_min_messages=warning -c maintenance_work_mem=256MB'
createdb partners
export PGDATABASE=partners
for file in dblp acm dblp_acm; do gzip -dc "$data/$file.csv.gz" >"$SCRATCH/$file.csv"; done
psql -XAtq -F ' | ' -v ON_ERROR_STOP=1 <<SQL
CREATE EXTENSION bloom_ident;
CREATE TABLE dblp (id text PRIMARY KEY, title text, authors text, venue text, year text);
CREATE TABLE acm (LIKE dblp INCLUDING ALL);
CREATE TABLE truth (a text, b text);
\\copy dblp FROM '$SCRATCH/dblp.csv' (FORMAT csv, HEADER)
\\copy acm FROM '$SCRATCH/acm.csv' (FORMAT csv, HEADER)
\\copy truth FROM '$SCRATCH/dblp_acm.csv' (FORMAT csv, HEADER)
ALTER TABLE dblp ADD sig bloom GENERATED ALWAYS AS (bloom_signature(title || ' ' || coalesce(authors, '') || ' ' || year, ngram => 3, max_chars => 200)) STORED;
ALTER TABLE acm ADD sig bloom GENERATED ALWAYS AS (bloom_signature(title || ' ' || coalesce(authors, '') || ' ' || year, ngram => 3, max_chars => 200)) STORED;
CREATE TABLE link AS SELECT * FROM bloom_linkage('dblp', 'id', 'sig', 'acm', 'id', 'sig', 0.3);
CREATE TABLE greedy AS SELECT * FROM bloom_assign('link');
CREATE TABLE optimal AS SELECT * FROM bloom_assign('link', 'optimal');
CREATE FUNCTION best(pairs regclass, OUT f1 numeric, OUT threshold float8)
    RETURN (SELECT (round(s.f1::numeric, 4), s.threshold) FROM bloom_threshold_sweep(pairs, 'truth') AS s ORDER BY s.f1 DESC, s.threshold LIMIT 1);
\\qecho '| pairs | best F1 | at |'
\\qecho '|---|---|---|'
SELECT '| all', f1, threshold || ' |' FROM best('link')
UNION ALL SELECT '| greedy', f1, threshold || ' |' FROM best('greedy')
UNION ALL SELECT '| optimal', f1, threshold || ' |' FROM best('optimal');
SQL
dropdb partners
