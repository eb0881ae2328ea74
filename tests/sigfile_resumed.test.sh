#!/usr/bin/env bash
# A crash between two records of the write-ahead log. The list of a merge's pages goes on on another page, and the merge has not been told of it: it goes on. Pages were replaced, and from when on they can be used again has not been written: that is made good.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

# From 18 on checksums are the default. What is written to a page here has none.
checksums=
((PG_MAJOR < 18)) || checksums=--no-data-checksums
cluster_init resumed $checksums
cluster_conf resumed 'autovacuum = off' 'max_wal_size = 2GB'
cluster_start resumed
cluster_use resumed
sql -c 'CREATE EXTENSION bloom_ident' -c "
    CREATE TABLE person (id int, sig bloom);
    CREATE INDEX by_sig ON person USING sigfile (sig) WITH (tail_limit = 4096);
    INSERT INTO person SELECT i, bloom_signature(md5(i::text)) FROM generate_series(1, 60000) AS i"

file=$(cluster_dir resumed)/$(sql -c "SELECT pg_relation_filepath('by_sig')")
# number BLOCK BYTE: four bytes of a page's content, as docs/format.md numbers them: behind the header and the stamp, 40 bytes.
number() { od -An -tu4 -j $((8192 * $1 + 40 + $2)) -N 4 "$file" | tr -d ' '; }
# list: first and last block of the list of the first merge in progress, and how many blocks it names; or nothing. The page of merges is of kind 7.
list() {
    local block
    sql -c CHECKPOINT
    for ((block = 1; block < $(stat -c %s "$file") / 8192; block++)); do
        [[ $(od -An -tu2 -j $((8192 * block + 32)) -N 2 "$file" | tr -d ' ') == 7 ]] || continue
        (($(number "$block" 0) > 0)) || return 0
        echo "$(number "$block" 32) $(number "$block" 36) $(number "$block" 40)"
        return
    done
}

# A merge that was stopped after its list was begun, and before it was as long as a page holds.
listed=0
for ((tries = 0; tries < 50; tries++)); do
    sql -c "SET statement_timeout = '$((20 + 5 * tries))ms'" -c "SELECT bloom_sigfile_merge('by_sig')" >/dev/null 2>&1 || true
    read -r first last listed < <(list) || listed=0
    ((listed == 0)) || break
    sql -c "INSERT INTO person SELECT i, bloom_signature(md5(i::text)) FROM generate_series(1, 3000) AS i"
done
((listed > 0 && listed < 1018 && first == last)) || die "no merge was stopped half-way: $listed blocks on its list"
rows=$(sql -c 'SELECT count(*) FROM person')

# As the log leaves it when the next record is lost: the page is full, and another one is named behind it.
cluster_stop resumed
word() { printf %b "\\x$(printf %x $(($1 & 255)))\\x$(printf %x $(($1 >> 8)))\\0\\0" | dd of="$file" bs=1 seek=$((8192 * first + 40 + $2)) conv=notrunc status=none; }
word $((first + 1)) 0
word 1018 4
cluster_start resumed

[[ $(sql -c "SELECT bloom_sigfile_check('by_sig')") == "$rows" ]] || die 'the check does not see all rows'
sql -c 'INSERT INTO person SELECT i, bloom_signature(md5(i::text)) FROM generate_series(1, 20000) AS i' -c 'VACUUM person' -c "SELECT bloom_sigfile_merge('by_sig')" >/dev/null
[[ $(sql -c "SELECT bloom_sigfile_check('by_sig')") == $((rows + 20000)) ]] || die 'the check does not see all rows once the merge has ended'
[[ -z $(list) ]] || die "a merge is left: $(list)"
say "a merge with $listed blocks on its list went on"

# Free lists are at word 200 of the metapage, 16 bytes each, and begin with their horizon. unknown: how many have none.
unknown() {
    local i n=0
    sql -c CHECKPOINT
    for ((i = 0; i < $(number 0 36); i++)); do
        (($(number 0 $((1600 + 16 * i))) != 0xFFFFFFFF || $(number 0 $((1604 + 16 * i))) != 0xFFFFFFFF)) || n=$((n + 1))
    done
    echo "$n"
}
# overwrite: all of them.
overwrite() {
    local i
    sql -c CHECKPOINT
    lists=$(number 0 36)
    ((lists > 0)) || die 'there is no free list'
    cluster_stop resumed
    for ((i = 0; i < lists; i++)); do
        printf '\xff\xff\xff\xff\xff\xff\xff\xff' | dd of="$file" bs=1 seek=$((40 + 1600 + 16 * i)) conv=notrunc status=none
    done
    cluster_start resumed
    [[ $(unknown) == "$lists" ]] || die 'the horizons were not overwritten'
}
overwrite
blocks=$(stat -c %s "$file")
# By transactions of their own, so that what the lists have is past their horizon when the next one comes.
for ((i = 0; i < 20; i++)); do
    sql -c 'INSERT INTO person SELECT i, bloom_signature(md5(i::text)) FROM generate_series(1, 1000) AS i'
done
[[ $(unknown) == 0 ]] || die 'a list is left without a horizon'
[[ $(sql -c "SELECT bloom_sigfile_check('by_sig')") == $((rows + 40000)) ]] || die 'the check does not see all rows after their pages were used again'
# While an old snapshot keeps the blocks of the lists, these rows take 260 others.
grown=$((($(stat -c %s "$file") - blocks) / 8192))
((grown < 150)) || die "the file has $grown more blocks: those of the lists were not used again"
say "$lists lists without a horizon have one; the file had $((blocks / 8192)) blocks and has $grown more"

# VACUUM does not wait until blocks are needed: by the first one there are enough in stock.
sql -c 'VACUUM person' -c 'DELETE FROM person WHERE id % 4 = 0' -c 'VACUUM person'
rows=$(sql -c 'SELECT count(*) FROM person')
overwrite
sql -c 'VACUUM person'
[[ $(unknown) == 0 ]] || die 'VACUUM leaves lists without a horizon'
[[ $(sql -c "SELECT bloom_sigfile_check('by_sig')") == "$rows" ]] || die 'the check does not see all rows after VACUUM'
say "$lists lists have a horizon after VACUUM"
