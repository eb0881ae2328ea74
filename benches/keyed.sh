#!/usr/bin/env bash
# Keyed signatures of generated people with FEBRL's fields, by the schema of tests/quality/febrl.linkage.json (1,024 bits): records encoded by one backend in a second of
# processor time, and clkhash beside it on the same records, whose CLKs must be the same; searches at a Dice similarity of 0.9 and 0.8 in a million by sigfile
# and GiST, by hardening, milliseconds of prepared statements, warm: the median, and after the stroke the mean of processor time (/proc/self/schedstat), which other
# programs disturb less; all pairs of two registers at 0.85, and anonlink beside it on the same
# bits, one thread each, seconds of processor time, whose pairs must be the same. clkhash and anonlink come by pip.
# BENCH_KEYED_PARTS="encode search link": what is measured. BENCH_ENCODED: records that are encoded; BENCH_KEYED: those that are searched; BENCH_LINKED: those of each register; BENCH_PEERS=: no peers.

# The server's parameters look like the shell's.
# shellcheck disable=SC2016

# shellcheck source=scripts/bench-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/bench-env.sh"
# shellcheck source=scripts/peers.sh
source "$ROOT/scripts/peers.sh"
PEERS=("${KEYED_PEERS[@]}")

parts=" ${BENCH_KEYED_PARTS:-encode search link} "
encoded=${BENCH_ENCODED:-100000} rows=${BENCH_KEYED:-1000000} linked=${BENCH_LINKED:-100000}
secret=$(printf 'bench' | sha256sum | cut -d ' ' -f 1)
dropdb --if-exists bench 2>/dev/null
createdb bench
# One process for each statement.
export PGDATABASE=bench PGOPTIONS='-c jit=off -c client_min_messages=error -c maintenance_work_mem=1GB -c max_parallel_workers=0'
load_febrl
load_words
sql -v "schema=$(<"$ROOT/tests/quality/febrl.linkage.json")" -v "secret=$secret" <<'SQL'
SELECT bloom_secret_import('bench', decode(:'secret', 'hex')) \g /dev/null
CREATE TABLE linkage AS SELECT hash, replace(:'schema', 'blakeHash', hash)::jsonb AS schema FROM (VALUES ('blakeHash'), ('doubleHash')) AS h (hash);
CREATE TABLE address AS SELECT row_number() OVER (ORDER BY rec_id) - 1 AS n, address_1, address_2, postcode, state FROM febrl WHERE address_1 || postcode || state IS NOT NULL;
CREATE UNIQUE INDEX ON address (n);
ANALYZE;
SQL
addresses=$(sql -c 'SELECT count(*) FROM address')
# at SALT COLUMN: as pick, of the table address
at() { echo "(SELECT $2 FROM address WHERE n = abs(hashint8(person * 16 + $1)) % $addresses)"; }
fields='given_name, surname, street_number, address_1, address_2, suburb, postcode, state, date_of_birth'
# people TABLE FIRST COUNT [PERSON]: records with numbers from FIRST on. Every fifth is a copy of one of the four before, with errors; or each is the one of PERSON.
people() {
    sql -c "
        CREATE TABLE $1 AS
        SELECT i AS id, $(broken 1 given_name) AS given_name, $(broken 2 surname) AS surname, street_number, $(broken 5 address_1) AS address_1,
            $(broken 6 address_2) AS address_2, $(broken 4 suburb) AS suburb, postcode, state, $(broken 3 date_of_birth) AS date_of_birth
        FROM (SELECT i, person, $(pick 1 given_name) AS given_name, $(pick 2 surname) AS surname, (abs(hashint8(person)) % 120)::text AS street_number,
                $(at 5 address_1) AS address_1, $(at 6 address_2) AS address_2, $(pick 4 suburb) AS suburb, $(at 7 postcode) AS postcode,
                $(at 7 state) AS state, $(born 3) AS date_of_birth
            FROM (SELECT i, ${4:-CASE WHEN i % 5 = 0 THEN i - 1 - abs(hashint8(i)) % 4 ELSE i END} AS person FROM generate_series($2, $2 + $3 - 1) AS i) AS n) AS p" \
        -c "VACUUM ANALYZE $1"
}
# seconds STATEMENT: of processor time (/proc/self/schedstat), which other programs disturb less than they do a clock: the median of three
seconds() {
    local busy="SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 / 1e9" from to
    for _ in 1 2 3; do
        # Of what the statement gives, nothing is needed.
        { read -r from && read -r to; } < <(sql -c "$busy" -c '\o /dev/null' -c "$1" -c '\o' -c "$busy")
        echo "$from $to"
    done | awk '{ print $2 - $1 }' | sort -g | sed -n 2p
}
rate() { awk -v n="$1" -v s="$2" 'BEGIN { printf "%d", int(n / s / 100 + 0.5) * 100 }'; }

encode_part() {
    echo "$encoded records, one backend, medians of three, PostgreSQL $(sql -c 'SHOW server_version'): records a second of processor time"
    echo '| | blakeHash | doubleHash |'
    echo '|---|---|---|'
    people person 1 "$encoded"
    sql -c "CREATE TABLE record AS SELECT to_jsonb(p) AS record FROM (SELECT $fields FROM person) AS p" -c 'VACUUM ANALYZE record'
    # encoding NAME STATEMENT: a row; the statement has HASH for the hash
    encoding() { echo "| $1 | $(rate "$encoded" "$(seconds "${2//HASH/blakeHash}")") | $(rate "$encoded" "$(seconds "${2//HASH/doubleHash}")") |"; }
    all="(SELECT $fields FROM person OFFSET 0) AS p"
    echo "| \`to_jsonb\` alone | $(rate "$encoded" "$(seconds "SELECT count(to_jsonb(p)) FROM $all")") | |"
    encoding '`bloom_clk(to_jsonb(…))`' "SELECT count(bloom_clk(to_jsonb(p), schema, 'bench')) FROM $all, linkage WHERE hash = 'HASH'"
    encoding '`bloom_clk` of a `jsonb` that is stored' "SELECT count(bloom_clk(record, schema, 'bench')) FROM record, linkage WHERE hash = 'HASH'"
    for hardening in '{"salt": ["date_of_birth"]}' '{"diffusion": 8}' '{"balance": true}'; do
        encoding "the same, \`$hardening\`" "SELECT count(bloom_clk(record, schema, 'bench', '$hardening')) FROM record, linkage WHERE hash = 'HASH'"
    done
    # What a trigger adds to an INSERT.
    sql -c "CREATE TABLE plain AS SELECT $fields FROM person LIMIT 0"
    for hash in blakeHash doubleHash; do
        sql -c "CREATE TABLE kept_$hash (LIKE plain)" -c "SELECT bloom_clk_column('kept_$hash', 'sig', schema, 'bench') FROM linkage WHERE hash = '$hash'" >/dev/null
    done
    echo "| \`INSERT … SELECT\` without a signature | $(rate "$encoded" "$(seconds "INSERT INTO plain SELECT $fields FROM person")") | |"
    encoding 'the same, with a column of `bloom_clk_column`' "INSERT INTO kept_HASH SELECT $fields FROM person"
    if [[ -n ${BENCH_PEERS-1} ]] && peers_ready; then
        few=$((encoded < 20000 ? encoded : 20000)) cells=
        sql -c "\\copy (SELECT $fields FROM person WHERE id <= $few ORDER BY id) TO '$SCRATCH/records.csv' (FORMAT csv, HEADER)"
        for hash in blakeHash doubleHash; do
            # clkhash wants a column for each feature, so those that are ignored are left out.
            sql -c "SELECT jsonb_set(schema, '{features}', (SELECT jsonb_agg(f ORDER BY n) FROM jsonb_array_elements(schema -> 'features') WITH ORDINALITY AS f (f, n) WHERE NOT f ? 'ignored')) FROM linkage WHERE hash = '$hash'" >"$SCRATCH/schema.json"
            taken=$(peers_python "$ROOT/benches/keyed.py" encode "$SCRATCH/records.csv" "$SCRATCH/schema.json" "$secret" "$SCRATCH/clks.$hash")
            sql -c "SELECT bloom_clk_base64(bloom_clk(to_jsonb(p), schema, 'bench')) FROM (SELECT $fields FROM person WHERE id <= $few ORDER BY id) AS p,
                LATERAL (SELECT jsonb_set(schema, '{features}', (SELECT jsonb_agg(f ORDER BY n) FROM jsonb_array_elements(schema -> 'features') WITH ORDINALITY AS f (f, n) WHERE NOT f ? 'ignored')) AS schema FROM linkage WHERE hash = '$hash' OFFSET 0) AS s" |
                cmp - "$SCRATCH/clks.$hash" || die "clkhash's CLKs by $hash are others"
            cells+=" $(rate "$few" "$taken") |"
        done
        echo "| ${PEERS[1]}, one process, $few of the same records, the same bits |$cells"
    fi
}

search_part() {
    people million 1 "$rows"
    # Each fifth record is another one's copy, so these are the ones behind.
    people asked $((rows + 1)) 20 "(i - $rows) * ($rows / 100 * 4) + 1"
    sql -c "CREATE FUNCTION cpu_ms() RETURNS float8 LANGUAGE sql VOLATILE AS \$\$ SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 / 1000000 \$\$" -c "
        CREATE FUNCTION median_ms(statement text) RETURNS text LANGUAGE plpgsql AS \$\$
        DECLARE
            q record; line text; plan text := ''; started timestamptz; busy float8 := 0; times float8[] := '{}'; n bigint; found bigint := 0;
        BEGIN
            EXECUTE 'DEALLOCATE ALL';
            PERFORM set_config('plan_cache_mode', 'force_generic_plan', true);
            EXECUTE 'PREPARE q(bloom) AS ' || statement;
            FOR i IN 0..5 LOOP
                IF i = 1 THEN busy := cpu_ms(); END IF;
                FOR q IN SELECT sig FROM question ORDER BY id LOOP
                    started := clock_timestamp();
                    EXECUTE format('EXECUTE q(%L)', q.sig) INTO n;
                    IF i > 0 THEN times := times || extract(epoch FROM clock_timestamp() - started)::float8 * 1000; ELSE found := found + n; END IF;
                END LOOP;
            END LOOP;
            busy := (cpu_ms() - busy) / cardinality(times);
            FOR line IN EXECUTE format('EXPLAIN EXECUTE q(%L)', q.sig) LOOP plan := plan || line; END LOOP;
            IF plan NOT LIKE '%Index%' THEN RAISE 'no index is used: %', plan; END IF;
            RETURN (SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY t)::numeric, 3) || ' / ' || round(busy::numeric, 2) || ' (' || round(found / (SELECT count(*) FROM question)::numeric, 1) || ')' FROM unnest(times) AS t);
        END \$\$"
    echo
    echo "a search among $rows, for 20 records and for 20 copies of them with errors, ms: median / processor time (rows found)"
    echo '| signature | bits | bits set | index | built, s | MB | the records at 0.9 | at 0.8 | the copies at 0.9 | at 0.8 |'
    echo '|---|---|---|---|---|---|---|---|---|---|'
    # searched NAME HASH HARDENING METHOD…
    searched() {
        local name=$1 clk="bloom_clk(to_jsonb(p), schema, 'bench'${3:+, '$3'})" hash=$2 method built questions t cells
        shift 3
        sql -c 'DROP TABLE IF EXISTS person' -c "CREATE TABLE person AS SELECT id, $clk AS sig FROM million AS p, linkage WHERE hash = '$hash'" -c 'VACUUM ANALYZE person'
        for method; do
            built=${EPOCHREALTIME/./} cells=
            sql -c "CREATE INDEX i ON person USING $method (sig)"
            built=$(((${EPOCHREALTIME/./} - built) / 1000))
            for questions in "million AS p WHERE id % ($rows / 100 * 4) = 1 AND id > 1 ORDER BY id LIMIT 20" 'asked AS p'; do
                sql -c 'DROP TABLE IF EXISTS question' -c "CREATE TABLE question AS SELECT id, $clk AS sig FROM (SELECT p.* FROM $questions) AS p, linkage WHERE hash = '$hash'" -c 'DELETE FROM question WHERE sig IS NULL'
                for t in 0.9 0.8; do
                    # It reads most of a GiST index at any.
                    [[ $method == sigfile || $t == 0.9 ]] || { cells+=' |' && continue; }
                    cells+=" $(sql -c 'SET enable_seqscan = off' -c "SELECT median_ms(\$s\$SELECT count(*) FROM person WHERE bloom_dice(sig, \$1) >= $t\$s\$)") |"
                done
            done
            sql -F ' | ' -c "SELECT '| $name', round(avg(bloom_bits(sig) / bloom_fill(sig))), round(avg(bloom_bits(sig))), '$method', round($built / 1000.0, 1), pg_relation_size('i') / 1048576 || ' |$cells' FROM person WHERE id <= 10000"
            sql -c 'DROP INDEX i'
        done
    }
    searched blakeHash blakeHash '' sigfile gist
    searched doubleHash doubleHash '' sigfile
    searched 'salt' blakeHash '{"salt": ["date_of_birth"]}' sigfile
    searched 'diffusion 2' blakeHash '{"diffusion": 2}' sigfile
    searched 'diffusion 8' blakeHash '{"diffusion": 8}' sigfile
    searched 'salt and diffusion 2' blakeHash '{"salt": ["date_of_birth"], "diffusion": 2}' sigfile gist
    searched balanced blakeHash '{"balance": true}' sigfile gist
    sql -c 'DROP TABLE million, person'
}

link_part() {

    # The second register has copies of half of the first one, and others.
    echo
    echo "all pairs of $linked and $linked at a Dice similarity of 0.85, one thread"
    echo '| hash | by | index built, s of processor time | pairs found, s of processor time | pairs |'
    echo '|---|---|---|---|---|'
    people one 1 "$linked"
    people two $((linked + 1)) "$linked" "CASE WHEN i % 2 = 0 THEN i - $linked ELSE i END"
    for hash in blakeHash doubleHash; do
        for register in one two; do
            sql -c "CREATE TABLE ${register}_clk AS SELECT id, bloom_clk(to_jsonb(p), schema, 'bench') AS sig FROM $register AS p, linkage WHERE hash = '$hash'" -c "VACUUM ANALYZE ${register}_clk"
        done
        built=$(seconds "DROP INDEX IF EXISTS one_i, two_i; CREATE INDEX one_i ON one_clk USING sigfile (sig); CREATE INDEX two_i ON two_clk USING sigfile (sig)")
        # Jaccard is d / (2 - d); what rounding may lose is asked for besides.
        ours=$(seconds "DROP TABLE IF EXISTS pair; CREATE TABLE pair AS SELECT l.a, l.b FROM bloom_linkage('one_clk', 'id', 'sig', 'two_clk', 'id', 'sig', 0.85 / (2 - 0.85) - 1e-9) AS l WHERE 2 * similarity / (1 + similarity) >= 0.85 - 1e-12")
        echo "| $hash | bloom_linkage | $built | $ours | $(sql -c 'SELECT count(*) FROM pair') |"
        if [[ -n ${BENCH_PEERS-1} ]] && peers_ready; then
            for register in one two; do sql -c "SELECT bloom_clk_base64(sig) FROM ${register}_clk ORDER BY id" >"$SCRATCH/$register.clks"; done
            theirs=$(peers_python "$ROOT/benches/keyed.py" link "$SCRATCH/one.clks" "$SCRATCH/two.clks" 0.85 "$SCRATCH/pairs.tsv")
            sql -c 'CREATE TEMP TABLE other (a bigint, b bigint)' -c "\\copy other FROM '$SCRATCH/pairs.tsv'" \
                -c "SELECT '| $hash | ${PEERS[0]} | | $theirs | ' || count(*) || ' |' FROM other" \
                -c "SELECT '| $hash | times as long | | ' || round($theirs / $ours, 1) || ' | ' || count(*) || ' differ |' FROM
                    (SELECT a, b FROM other FULL JOIN (SELECT a::bigint AS a, b::bigint - $linked AS b FROM pair) AS pair USING (a, b) WHERE pair.a IS NULL OR other.a IS NULL) AS d"
        fi
        sql -c 'DROP TABLE one_clk, two_clk, pair'
    done
}

for part in encode search link; do
    [[ $parts != *" $part "* ]] || "${part}_part"
done
dropdb bench
