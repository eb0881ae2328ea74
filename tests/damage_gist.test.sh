#!/usr/bin/env bash
# Keys of GiST indexes with bits and bytes that are not as they were, in a server without page checksums. Searches, inserts and VACUUM then answer, or
# fail with a clear error: no crash and no message from within. DAMAGES says how many indexes are damaged, one key or several in each.
# Only keys are damaged: what PostgreSQL itself keeps on a page, it trusts.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

damages=${DAMAGES:-300}

ask() { timeout -k 5 300 psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

# From 18 on checksums are the default.
checksums=
((PG_MAJOR < 18)) || checksums=--no-data-checksums
cluster_init damage $checksums
cluster_conf damage 'autovacuum = off' 'max_locks_per_transaction = 512' 'full_page_writes = off' 'synchronous_commit = off' 'jit = off'
cluster_start damage
cluster_use damage

ask -v damages="$damages" <<'SQL'
CREATE EXTENSION bloom_ident;
CREATE TABLE base_0 AS SELECT i AS id, bloom_signature(left(md5((i / 3)::text), 14) || i % 3) AS sig FROM generate_series(1, 600) AS i;
-- With some of sets that are empty.
CREATE TABLE base_1 AS SELECT i AS id, minhash_bits(CASE WHEN i % 31 > 0 THEN ARRAY(SELECT md5((i / 3)::text || t) FROM generate_series(1, 8 + i % 3) AS t) ELSE '{}' END, 192) AS sig FROM generate_series(1, 600) AS i;
CREATE TABLE base_2 AS SELECT id, bloom_query(sig, 0.5 + id % 5 * 0.1) AS sig FROM base_0;
CREATE TABLE base_3 AS SELECT id, minhash_query(sig, 0.5 + id % 5 * 0.1) AS sig FROM base_1;
CREATE FUNCTION make(n int) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    EXECUTE format('CREATE TABLE t%s AS SELECT * FROM base_%s WHERE id <= 500', n, n % 4);
    EXECUTE format('CREATE INDEX i%s ON t%s USING gist (sig)', n, n);
    EXECUTE format('DELETE FROM t%s WHERE id %% 7 = 3', n);
END $$;
-- Damages keys of an index in its file; says how. An item is a header of 8 bytes and the key, which has a length of 1 byte or 4 in front.
CREATE FUNCTION spoil(n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    pages bytea := pg_read_binary_file(pg_relation_filepath(format('i%s', n)::regclass));
    page int;
    items int;
    item int;
    start int;
    size int;
    at int;
    how text := '';
    file oid;
BEGIN
    FOR i IN 1..CASE WHEN n % 3 = 0 THEN 20 ELSE 1 END LOOP
        -- the root half of the time
        page := 8192 * CASE WHEN random() < 0.5 THEN 0 ELSE floor(random() * (length(pages) / 8192)) END;
        items := (get_byte(pages, page + 12) + 256 * get_byte(pages, page + 13) - 24) / 4;
        CONTINUE WHEN items < 1;
        item := page + 24 + 4 * floor(random() * items)::int;
        start := page + get_byte(pages, item) + 256 * (get_byte(pages, item + 1) & 127) + 8;
        size := (get_byte(pages, item + 2) >> 1) + 128 * get_byte(pages, item + 3) - 8;
        -- as far as is in the key for sure, beginnings above all
        size := size - CASE get_byte(pages, start) & 1 WHEN 1 THEN 1 ELSE 4 END - 7;
        start := start + CASE get_byte(pages, start) & 1 WHEN 1 THEN 1 ELSE 4 END;
        at := start + floor(random() * CASE WHEN random() < 0.6 THEN least(size, 24) ELSE size END)::int;
        pages := CASE n % 7 WHEN 0 THEN set_byte(pages, at, floor(random() * 256)::int) ELSE set_bit(pages, 8 * at + n % 8, 1 - get_bit(pages, 8 * at + n % 8)) END;
        how := how || format('block %s, item %s, byte %s; ', page / 8192, (item - page - 24) / 4, at - start);
    END LOOP;
    file := lo_from_bytea(0, pages);
    PERFORM lo_export(file, current_setting('data_directory') || '/' || pg_relation_filepath(format('i%s', n)::regclass)), lo_unlink(file);
    RETURN how;
END $$;
CREATE TABLE seen (n int, how text, doing text, state text, message text);
CREATE FUNCTION try(n int, how text, doing text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    state text := 'answer';
    message text;
BEGIN
    BEGIN
        EXECUTE doing;
    EXCEPTION WHEN OTHERS OR query_canceled OR assert_failure THEN
        GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
    END;
    INSERT INTO seen VALUES (n, how, doing, state, message);
END $$;
CREATE FUNCTION attack(n int, how text) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off SET enable_sort = off AS $$
DECLARE
    asked text;
    operand text := (ARRAY['bloom_query(%L, %s)', 'minhash_query(%L, %s)', '%L::bloom', '%L::minhash_bits'])[n % 4 + 1];
BEGIN
    EXECUTE format('SELECT sig FROM base_%s WHERE id = %s', n % 2, 1 + n % 30) INTO asked;
    PERFORM try(n, how, format('SELECT count(id) FROM t%s WHERE sig %% ' || operand, n, asked, 0.9)), try(n, how, format('SELECT count(id) FROM t%s WHERE sig %% ' || operand, n, asked, 0.1));
    IF n % 4 < 2 THEN
        PERFORM try(n, how, format('SELECT id FROM t%s ORDER BY sig <-> %L', n, asked)), try(n, how, format('SELECT count(id) FROM t%s WHERE sig = %L', n, asked));
    END IF;
    PERFORM try(n, how, format('INSERT INTO t%s SELECT id + 1000, sig FROM base_%s', n, n % 4));
END $$;
SELECT make(n) FROM generate_series(1, :damages) AS n \g /dev/null
CHECKPOINT;
SQL
# The server reads the files again.
cluster_stop damage
cluster_start damage
ask -c "CREATE TABLE spoiled AS SELECT n, spoil(n) AS how FROM generate_series(1, $damages) AS n" -c 'SELECT count(attack(n, how)) FROM spoiled' >/dev/null
for ((n = 1; n <= damages; n++)); do echo "VACUUM t$n;"; done >"$SCRATCH/vacuum.sql"
# An error of one does not stop the others; a server that is gone does.
psql -XAtq -v VERBOSITY=verbose -f "$SCRATCH/vacuum.sql" >"$SCRATCH/vacuum.said" 2>&1
! grep -Ei 'panic|connection|XX000' "$SCRATCH/vacuum.said" || die 'VACUUM'

# 55P85 is a version that this one does not know. Distances that a damaged key gives may be such that the server itself says so.
ask -c "SELECT state, count(*), min(message) FROM seen GROUP BY 1 ORDER BY 1"
wrong=$(ask -c "SELECT * FROM seen WHERE state NOT IN ('answer', 'XX002', '55P85') AND message <> 'index returned tuples in wrong order' LIMIT 5")
[[ -z $wrong ]] || die "$wrong"
[[ $(ask -c "SELECT count(*) FROM seen") -gt $((3 * damages - 1)) ]] || die 'not all was tried'
[[ $(ask -c "SELECT count(*) > 10 FROM seen WHERE state = 'XX002'") == t ]] || die 'no damage was found'
! grep -E "PANIC|terminated by signal|panicked" "$SCRATCH/damage/log" || die 'the server crashed'
