#!/usr/bin/env bash
# Pages of sigfile indexes as storage can leave them, in a server without page checksums: bits, bytes, torn, blank and exchanged pages, noise.
# Searches, inserts, merges, VACUUM, checks and jobs then answer, or fail with a clear error: no crash, no hang, no memory beyond reason, no message from
# within. DAMAGES says how many pages are damaged. With DAMAGE_BITS=all bits of one small index are flipped instead: every one
# if DAMAGES is as many or more, else so many, evenly spread.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

damages=${DAMAGES:-2000}
bits=${DAMAGE_BITS:-random}
# Tables that are damaged at a time, and sessions that they are dealt to.
tables=500
[[ $bits == random ]] || tables=2000
sessions=2

ask() { timeout -k 5 120 psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

# From 18 on checksums are the default.
checksums=
((PG_MAJOR < 18)) || checksums=--no-data-checksums
cluster_init damage $checksums
cluster_conf damage 'autovacuum = off' 'shared_buffers = 32MB' 'max_locks_per_transaction = 512' 'max_wal_size = 1GB' 'full_page_writes = off' \
    'wal_level = minimal' 'max_wal_senders = 0' 'synchronous_commit = off' 'max_parallel_workers_per_gather = 0' 'jit = off'
cluster_start damage
cluster_use damage

ask -v tables="$tables" -v bits="$bits" <<'SQL'
CREATE EXTENSION bloom_ident;
CREATE TABLE base AS SELECT i AS id, CASE WHEN i % 40 > 0 THEN bloom_signature(left(md5((i / 3)::text), 14) || i % 3) END AS sig FROM generate_series(1, 2600) AS i;
-- The same of sketches, with some of sets that are empty.
CREATE TABLE base_of_bits AS SELECT i AS id, CASE WHEN i % 40 > 0 THEN minhash_bits(CASE WHEN i % 31 > 0 THEN ARRAY(SELECT md5((i / 3)::text || t) FROM generate_series(1, 8 + i % 3) AS t) ELSE '{}' END, 192) END AS sig FROM generate_series(1, 2600) AS i;
-- Of which type the signatures of a table are.
CREATE FUNCTION source(n int) RETURNS text LANGUAGE sql AS $$ SELECT CASE WHEN n % 11 IN (1, 4, 6, 9) THEN 'base_of_bits' ELSE 'base' END $$;
CREATE FUNCTION query(n int) RETURNS text LANGUAGE sql AS $$ SELECT CASE WHEN n % 11 IN (1, 4, 6, 9) THEN 'minhash_query' ELSE 'bloom_query' END $$;
CREATE FUNCTION asked_of(n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    asked text;
BEGIN
    EXECUTE format('SELECT sig FROM %s WHERE id = 1 + %s %% 39', source(n), n) INTO asked;
    RETURN asked;
END $$;
-- Indexes of every kind, some with a leading column: a tail, small segments and one with posting lists, rows without a signature, rows with thresholds, dead rows, lists of free blocks.
CREATE FUNCTION make(n int, bits text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    many int := CASE WHEN n % 9 = 4 THEN 2350 ELSE 150 + n % 40 END;
    key text := CASE WHEN n % 5 = 2 THEN '(id % 5), ' ELSE '' END || CASE WHEN n % 3 = 0 THEN format('(%s(sig, 0.8))', query(n)) ELSE 'sig' END;
BEGIN
    IF bits = 'all' THEN
        EXECUTE format('CREATE TABLE t%s AS SELECT * FROM base WHERE id <= 120', n);
        EXECUTE format('CREATE INDEX i%s ON t%s USING sigfile (sig) WITH (tail_limit = 64)', n, n);
        EXECUTE format('INSERT INTO t%s SELECT * FROM base WHERE id > 120 AND id < 150', n);
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE t%s AS SELECT * FROM %s WHERE id <= %s', n, source(n), many);
    EXECUTE format('CREATE INDEX i%s ON t%s USING sigfile (%s) WITH (tail_limit = 64)', n, n, key);
    EXECUTE format('INSERT INTO t%s SELECT id + 10000, sig FROM %s WHERE id %% 13 = 2 AND id <= 900', n, source(n));
    IF n % 2 = 0 THEN
        EXECUTE format('DELETE FROM t%s WHERE id %% 7 = 3', n);
        IF n % 9 <> 4 THEN PERFORM bloom_sigfile_merge(format('i%s', n)::regclass); END IF;
        EXECUTE format('INSERT INTO t%s SELECT id + 20000, sig FROM %s WHERE id %% 29 = 2 AND id <= 900', n, source(n));
    END IF;
END $$;
CREATE FUNCTION overwrite(index regclass, content bytea) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    file oid := lo_from_bytea(0, content);
BEGIN
    PERFORM lo_export(file, current_setting('data_directory') || '/' || pg_relation_filepath(index)), lo_unlink(file);
END $$;
-- Damages an index's file; says how.
CREATE FUNCTION spoil(n int, kind int, at bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    pages bytea := pg_read_binary_file(pg_relation_filepath(format('i%s', n)::regclass));
    blocks int := length(pages) / 8192;
    block int := floor(random() * blocks);
    byte int := 8192 * block + floor(random() * 8192);
    other int := 8192 * floor(random() * blocks)::int;
    noise bytea := (SELECT string_agg(sha512((n || '-' || i || random())::text::bytea), '') FROM generate_series(1, 128) AS i);
BEGIN
    pages := CASE kind
        WHEN 0 THEN set_bit(pages, at % (8 * length(pages)), 1 - get_bit(pages, at % (8 * length(pages))))
        WHEN 1 THEN set_byte(pages, byte, floor(random() * 256)::int)
        WHEN 2 THEN overlay(pages PLACING substr(pages, other + 4097, 4096) FROM 8192 * block + 4097)
        WHEN 3 THEN overlay(pages PLACING substr(pages, other + 1, 8192) FROM 8192 * block + 1)
        WHEN 4 THEN overlay(pages PLACING decode(repeat('00', CASE n % 2 WHEN 0 THEN 8192 ELSE 4096 END), 'hex') FROM 8192 * block + 1 + 4096 * (n % 2))
        WHEN 5 THEN overlay(pages PLACING substr(noise, 1, 8192 - 40) FROM 8192 * block + 1 + 40)
        ELSE overlay(pages PLACING substr(noise, 1, 8) FROM byte / 8 * 8 + 1) END;
    PERFORM overwrite(format('i%s', n)::regclass, substr(pages, 1, 8192 * blocks));
    RETURN format('kind %s, block %s, byte %s', kind, CASE WHEN kind = 0 THEN at % (8 * length(pages)) / 65536 ELSE block END, CASE WHEN kind = 0 THEN at % (8 * length(pages)) / 8 % 8192 ELSE byte % 8192 END);
END $$;
CREATE TABLE seen (n int, how text, doing text, state text, message text);
-- What a session says while it does something: nothing, or the error.
CREATE FUNCTION try(n int, how text, doing text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    state text := 'answer';
    message text;
    detail text;
BEGIN
    BEGIN
        EXECUTE doing;
    EXCEPTION WHEN OTHERS OR query_canceled OR assert_failure THEN
        GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
    END;
    INSERT INTO seen VALUES (n, how, doing, state, message || ' / ' || detail);
END $$;
-- Whether keys repeat is asked of the table, which is sound.
CREATE FUNCTION pairs(rel regclass) RETURNS bigint LANGUAGE sql SET enable_seqscan = on AS $$ SELECT count(*) FROM bloom_duplicates(rel, 'id', 'sig', 0.7) $$;
CREATE FUNCTION attack_one(n int, how text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    asked bloom := (SELECT sig FROM base WHERE id = 1 + n % 39);
    search text := CASE n % 2 WHEN 0 THEN 'SELECT count(id) FROM t%1$s WHERE sig %% bloom_query(%2$L, 0.2)' ELSE 'SELECT id FROM t%1$s ORDER BY sig <-> %2$L' END;
BEGIN
    PERFORM try(n, how, format(search, n, asked));
    PERFORM try(n, how, format(CASE n % 7
        WHEN 0 THEN 'SELECT bloom_sigfile_check(''i%1$s''::regclass)'
        WHEN 1 THEN 'SELECT pairs(''t%1$s'')'
        WHEN 2 THEN 'SELECT bloom_sigfile_stats(''i%1$s''::regclass)'
        WHEN 3 THEN 'INSERT INTO t%1$s SELECT id + 5000, sig FROM base WHERE id <= 130'
        WHEN 4 THEN 'SELECT count(sig) FROM t%1$s WHERE sig %% bloom_query(%2$L, 0.7)'
        ELSE 'SELECT bloom_sigfile_merge(''i%1$s''::regclass)' END, n, asked));
END $$;
CREATE FUNCTION attack(n int, how text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    condition text := CASE WHEN n % 3 = 0 THEN replace('query(sig, 0.8) % query(%L, %s)', 'query', query(n)) ELSE format('sig %% %s(%%L, %%s)', query(n)) END;
    asked text := asked_of(n);
    threshold float8;
BEGIN
    PERFORM set_config('enable_bitmapscan', (n % 2 = 0)::text, false), set_config('enable_indexscan', (n % 2 = 1)::text, false);
    FOREACH threshold IN ARRAY '{0.95,0.6,0.2}'::float8[] LOOP
        PERFORM try(n, how, format('SELECT count(id) FROM t%s WHERE ' || regexp_replace(condition, '% ([bm])', '%% \1'), n, asked, threshold));
    END LOOP;
    IF n % 5 = 2 THEN PERFORM try(n, how, format('SELECT count(id) FROM t%s WHERE id %% 5 = 3 AND ' || regexp_replace(condition, '% ([bm])', '%% \1'), n, asked, 0.6)); END IF;
    PERFORM set_config('enable_indexscan', 'on', false), set_config('enable_bitmapscan', 'off', false);
    IF n % 3 > 0 THEN
        PERFORM try(n, how, format('SELECT count(sig) FROM t%s WHERE sig %% %s(%L, 0.5)', n, query(n), asked));
        PERFORM try(n, how, format('SELECT id FROM t%s ORDER BY sig <-> %L LIMIT %s', n, asked, CASE n % 2 WHEN 0 THEN 3 ELSE 3000 END));
    END IF;
    IF n % 4 = 0 THEN PERFORM try(n, how, format('SELECT pairs(''t%s'')', n)); END IF;
    IF n % 4 = 1 THEN PERFORM try(n, how, format('SELECT bloom_sigfile_check(''i%s''::regclass)', n)); END IF;
    IF n % 4 = 2 THEN PERFORM try(n, how, format('SELECT bloom_sigfile_stats(''i%s''::regclass)', n)); END IF;
    PERFORM try(n, how, format('INSERT INTO t%s SELECT id + 5000, sig FROM %s WHERE id <= 130 + %s', n, source(n), n % 60));
    IF n % 4 <> 3 THEN PERFORM try(n, how, format('SELECT bloom_sigfile_merge(''i%s''::regclass)', n)); END IF;
END $$;
-- A segment of a thousand rows, and a small one that inserts will merge.
CREATE TABLE counted AS SELECT * FROM base WHERE id <= 1000 AND sig IS NOT NULL;
CREATE INDEX counted_i ON counted USING sigfile (sig);
INSERT INTO counted SELECT * FROM base WHERE id > 1000 AND id <= 1300;
CREATE TABLE merged AS SELECT * FROM base WHERE id <= 60 AND sig IS NOT NULL;
CREATE INDEX merged_i ON merged USING sigfile (sig) WITH (tail_limit = 64);
-- Entered row by row, until a merge has begun that has blocks to write to.
CREATE TABLE stepped AS SELECT i AS id, bloom_signature(left(md5((i / 3)::text), 14) || i % 3) AS sig FROM generate_series(1, 20000) AS i;
CREATE INDEX stepped_i ON stepped USING sigfile (sig) WITH (tail_limit = 64);
CREATE PROCEDURE enter_rows(first int, last int) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN first..last LOOP
        INSERT INTO stepped VALUES (i, bloom_signature(left(md5((i / 3)::text), 14) || i % 3));
        COMMIT;
    END LOOP;
END $$;
-- Where the number of the last block is that waits on the list of a merge: behind the page's header, in bytes; NULL if none does. What has been
-- written has something to be told of it.
CREATE FUNCTION waiting_block(index regclass) RETURNS int LANGUAGE sql AS $$
    WITH file AS MATERIALIZED (SELECT pg_read_binary_file(pg_relation_filepath(index)) AS p),
    list AS (SELECT p, 8192 * b AS page, get_byte(p, 8192 * b + 44) + 256 * get_byte(p, 8192 * b + 45) AS n FROM file, generate_series(0, length(p) / 8192 - 1) AS b WHERE get_byte(p, 8192 * b + 32) = 8)
    SELECT page + 40 + 8 * n FROM list WHERE n > 0 AND substr(p, page + 40 + 8 * n + 5, 4) = '\x00000000' ORDER BY page DESC LIMIT 1
$$;
SELECT make(n, :'bits') FROM generate_series(1, :tables) AS n \g /dev/null
VACUUM t1, t2, t3, t4, t5, t6, t7, t8;
CHECKPOINT;
SQL
cluster_stop damage
cp -R "$(cluster_dir damage)" "$SCRATCH/damage/sound"
((EUID != 0)) || chown -R "$(server_user)" "$SCRATCH/damage/sound"

# One flipped bit in the bit count of row 20 asked a merge for half a gigabyte and more. Capacity 162, five words a row.
spoil_count() {
    local at=$((8192 + 40 + 8 * (1 + 162 * 5) + 4 * 20 + 3))
    ask -c "SELECT overwrite('$1', set_byte(p, $at, get_byte(p, $at) # 8)) FROM pg_read_binary_file(pg_relation_filepath('$1')) AS p" >/dev/null
}

# refuses STATEMENT: it fails with what there is to say, and takes no memory.
refuses() {
    local said
    said=$(psql -XAtq -v VERBOSITY=verbose -c "$1" -c "SELECT 'HWM ' || substring(pg_read_file('/proc/self/status', 0, 8000) FROM 'VmHWM:\\s+(\\d+)')" 2>&1)
    [[ $said == *"ERROR:  XX002: index \"$2\" is damaged at block 1"*"DETAIL:  Row 20 has popcount 13421"*"HINT:  Rebuild the index with REINDEX."* ]] || die "$1: $said"
    said=${said##*HWM }
    ((said < 100000)) || die "$1 takes $said kB"
}

known_damage() {
    local said
    spoil_count counted_i
    spoil_count merged_i
    refuses "SELECT bloom_sigfile_merge('counted_i')" counted_i
    refuses "SELECT bloom_sigfile_merge('counted_i')" counted_i
    refuses "SELECT bloom_sigfile_check('counted_i')" counted_i
    refuses "SET enable_seqscan = off; SELECT count(*) FROM counted WHERE sig % bloom_query(bloom_signature('x'), 0)" counted_i
    refuses "SELECT count(*) FROM bloom_duplicates('counted', 'id', 'sig', 0.8)" counted_i
    [[ $(ask -c "SELECT pg_relation_size('counted_i') / 8192") -lt 20 ]] || die 'a merge that fails leaves pages'
    # inserts go on, with a warning when they would merge the page, and their rows are in the index
    said=$(ask -c "INSERT INTO merged SELECT id + 100, sig FROM base WHERE sig IS NOT NULL LIMIT 2000" 2>&1)
    [[ $said == *'WARNING:  index "merged_i" is damaged at block 1'* && $said != *ERROR* ]] || die "INSERT: $said"
    refuses "SELECT bloom_sigfile_merge('merged_i')" merged_i
    ask -c 'DELETE FROM merged WHERE id % 9 = 1'
    refuses 'VACUUM merged' merged_i
    ask -c 'REINDEX INDEX merged_i' -c 'REINDEX INDEX counted_i'
    [[ $(ask -c "SELECT bloom_sigfile_check('merged_i') = (SELECT count(*) FROM merged)") == t ]] || die 'REINDEX does not help'
}

# A list of a merge that names a page of a segment among those to be written: nothing is written to it, and the merge is given up.
known_list() {
    local said at='' last=20000
    while [[ -z $at ]]; do
        ((last < 40000)) || die 'no merge has blocks that wait'
        ask -c "CALL enter_rows($last + 1, $last + 16)" -c CHECKPOINT
        last=$((last + 16))
        at=$(ask -c "SELECT waiting_block('stepped_i')")
    done
    ask -c "SELECT overwrite('stepped_i', overlay(p PLACING '\\x01000000' FROM $at + 1)) FROM pg_read_binary_file(pg_relation_filepath('stepped_i')) AS p" >/dev/null
    # The server reads the file again.
    cluster_stop damage immediate
    cluster_start damage
    said=$(ask -c "CALL enter_rows($last + 1, $last + 3000)" 2>&1)
    [[ $said == *'WARNING:  index "stepped_i" is damaged at block 1'*'The block is used twice'* && $said != *ERROR* ]] || die "INSERT: $said"
    [[ $(ask -c "SELECT bloom_sigfile_check('stepped_i') = (SELECT count(*) FROM stepped)") == t ]] || die 'a damaged list of a merge costs more than the merge'
}

# attack SESSION: what one session does to its share of the tables. VACUUM comes last, by itself.
attack() {
    local n
    {
        echo "SET statement_timeout = '10s'; SET client_min_messages = error; SET enable_seqscan = off; SET maintenance_work_mem = '4MB';"
        echo "SELECT $attack(n, how) FROM damaged WHERE n % $sessions = $1 ORDER BY n \\g /dev/null"
        for ((n = $1 + 1; n <= tables; n += sessions)); do
            ((n % 3)) || echo "VACUUM t$n;"
        done
        echo "SELECT 'HWM ' || substring(pg_read_file('/proc/self/status', 0, 8000) FROM 'VmHWM:\\s+(\\d+)');"
    } | psql -XAtq -v VERBOSITY=verbose >"$SCRATCH/damage/out.$1" 2>"$SCRATCH/damage/err.$1" || true
}

# A panic of ours, or an error that nobody has thought of, in words and states.
case $bits in
    random) attack=attack kind='CASE WHEN n % 2 = 0 THEN 0 ELSE n / 2 % 7 END' ;;
    *) attack=attack_one kind=0 ;;
esac
words='panick|index out of|out of range for|overflow|called .(Option|Result)|slice|capacity|Box<|unreachable|internal error|assert|\.rs:'
done=0
declare -A states=()
most=0
for ((round = 0; done < damages; round++)); do
    ((round == 0)) || cluster_stop damage immediate
    rm -rf "$(cluster_dir damage)"
    cp -R "$SCRATCH/damage/sound" "$(cluster_dir damage)"
    ((EUID != 0)) || chown -R "$(server_user)" "$(cluster_dir damage)"
    cluster_start damage
    ((round > 0)) || {
        known_damage
        known_list
    }
    place='floor(random() * 1e9)'
    if [[ $bits != random ]]; then
        total=$(ask -c "SELECT 8 * pg_relation_size('i1')")
        ((damages <= total)) || damages=$total
        place="($done::bigint + n) * $total / $damages"
    fi
    ask -c "CREATE TABLE damaged AS SELECT n, spoil(n, $kind, ($place)::bigint) AS how FROM generate_series(1, $tables) AS n"
    pids=()
    for ((s = 0; s < sessions; s++)); do
        attack "$s" &
        pids+=($!)
    done
    wait "${pids[@]}"
    done=$((done + tables))
    if grep -E 'PANIC|TRAP|terminated by signal' "$SCRATCH/damage/log"; then die 'the server crashed'; fi
    bad=$(cat "$SCRATCH"/damage/err.* | grep -E 'ERROR|FATAL|connection' | grep -Ev 'ERROR:  (XX00[12]|55P85):' | head) || true
    [[ -z $bad ]] || die "VACUUM fails:"$'\n'"$bad"
    # a flipped bit can make the shape of the metapage another one that there is, whose distances the server compares with those of the rows, and a version a newer one
    bad=$(ask -c "SELECT n, how, doing, state, message FROM seen WHERE state NOT IN ('answer', 'XX001', 'XX002') AND NOT ((state IN ('22000', '55P85') OR message = 'index returned tuples in wrong order / ') AND how ~ 'block 0,') OR message ~ '$words' LIMIT 10")
    [[ -z $bad ]] || die "an error that says nothing of damage, or too much:"$'\n'"$bad"
    while IFS='|' read -r state n; do states[$state]=$((${states[$state]:-0} + n)); done < <(ask -c 'SELECT state, count(*) FROM seen GROUP BY 1')
    for ((s = 0; s < sessions; s++)); do
        used=$(sed -n 's/^HWM //p' "$SCRATCH/damage/out.$s")
        [[ $used =~ ^[0-9]+$ ]] || die "session $s has not come to its end: $(tail -n 3 "$SCRATCH/damage/err.$s")"
        ((used <= most)) || most=$used
    done
done
((most < 150000)) || die "a session has used $most kB of memory"
[[ ${states[XX002]:-0} -gt $((damages / 20)) && ${states[answer]:-0} -gt $((damages / 2)) ]] || die "damage is not noticed, or nothing else: ${states[XX002]:-0} errors, ${states[answer]:-0} answers"
say "$done damaged pages: ${states[answer]} answers, ${states[XX002]} errors of ours, ${states[XX001]:-0} of the server's; at most $((most / 1024)) MB"
