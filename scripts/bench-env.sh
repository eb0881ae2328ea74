# shellcheck shell=bash
# Sourced by benches/*.sh: as test-env.sh, with a server that is set up for measuring. BENCH_WAL=2GB leaves more of the disk to what is measured.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/test-env.sh"
# shellcheck source=scripts/usage.sh
source "$ROOT/scripts/usage.sh"

if [[ $(psql -XAtc 'SHOW fsync') == off ]]; then
    cluster_conf main 'fsync = on' 'jit = on' 'shared_buffers = 2GB' "max_wal_size = ${BENCH_WAL:-16GB}" 'checkpoint_timeout = 1h' \
        'autovacuum = off' 'effective_cache_size = 8GB'
    cluster_stop main
    cluster_start main
fi

sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

# load_febrl: the extension, and FEBRL 3 as table febrl, in the database in use.
load_febrl() {
    cp "$ROOT/tests/data/febrl3.csv" "$SCRATCH/bench.csv"
    chmod a+r "$SCRATCH/bench.csv"
    sql -c 'CREATE EXTENSION bloom_ident' -c "
        CREATE TABLE febrl (rec_id text, cluster_id int, given_name text, surname text, street_number text, address_1 text,
            address_2 text, suburb text, postcode text, state text, date_of_birth text, soc_sec_id text)" \
        -c "COPY febrl FROM '$SCRATCH/bench.csv' (FORMAT csv, HEADER)"
}

# load_words: table word, of which pick takes the columns of persons.
load_words() {
    sql -c "
        CREATE TABLE word AS
            SELECT row_number() OVER (ORDER BY rec_id) - 1 AS n, given_name, surname, suburb FROM febrl
            WHERE given_name || surname || suburb IS NOT NULL" -c 'CREATE UNIQUE INDEX ON word (n)'
    words=$(sql -c 'SELECT count(*) FROM word')
}
# pick SALT COLUMN: the row of word for column number SALT of the person of record i
pick() { echo "(SELECT $2 FROM word WHERE n = abs(hashint8(person * 16 + $1)) % $words)"; }
# born SALT: a date of birth of the person of record i
born() { echo "to_char(date '1930-01-01' + abs(hashint8(person * 16 + $1)) % 29000, 'YYYYMMDD')"; }
# broken SALT TEXT: one in three misses a letter, has one twice, or two swapped; one in twelve is missing
broken() {
    echo "CASE WHEN i <= person THEN $2 ELSE CASE abs(hashint8(i * 16 + $1)) % 12
        WHEN 0 THEN overlay($2 PLACING '' FROM 2 + abs(hashint8(i)) % 4 FOR 1)
        WHEN 1 THEN overlay($2 PLACING substr($2, 2, 1) FROM 3 FOR 0)
        WHEN 2 THEN overlay($2 PLACING substr($2, 4, 1) || substr($2, 3, 1) FROM 3 FOR 2)
        WHEN 3 THEN overlay($2 PLACING 'e' FROM 4 FOR 1)
        WHEN 4 THEN NULL ELSE $2 END END"
}
