#!/usr/bin/env bash
# Another version of the library: parallel workers that load it while their leader has this one, and data of a newer one on disk. Each is refused
# by a clear error, whatever would be read.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

# An installation of its own, since its library is replaced. Files are replaced whole here, so links are copies enough.
stage=$SCRATCH/versions_stage
cp -al "$SCRATCH/stage" "$stage"
PGBIN=$stage${PGBIN#"$SCRATCH/stage"}
PATH=$PGBIN:$PATH
library=$("$PGBIN/pg_config" --pkglibdir)/bloom_ident.so
[[ $library == "$stage"/* ]] || die "the copied installation has its library at $library"

# From 18 on checksums are the default.
checksums=
((PG_MAJOR < 18)) || checksums=--no-data-checksums
cluster_init versions $checksums
cluster_conf versions 'max_parallel_workers_per_gather = 2' 'autovacuum = off'
cluster_start versions
cluster_use versions
ask() { timeout -k 5 60 psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

# Libraries to put in its place. The layout of what processes share is in the library's data: its version, and the sizes of three types, of
# which that of a table is 8,160 bytes. None is zero: what looks like it otherwise are other numbers of the library, which must stay.
layouts=$SCRATCH/versions_libraries
mkdir "$layouts"
cp "$library" "$layouts/same"
mapfile -t places < <(LC_ALL=C grep -obUaP '(?s)[^\0]\0\0\0[^\0]\0\0\0\xe0\x1f\0\0[^\0]\0\0\0' "$library" | cut -d: -f1)
((${#places[@]} > 0)) || die 'the layout that workers compare is not found in the library'
# patch FILE BYTE NUMBER: sets a byte.
patch() { printf '%b' "\\x$(printf %x "$3")" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }
for field in 0 4 8 12; do
    cp "$library" "$layouts/other_$field"
    for place in "${places[@]}"; do patch "$layouts/other_$field" $((place + field)) 127; done
done
# One that has no such function, as those before the layout was compared: the name is another one.
LC_ALL=C sed 's/bloom_join_worker/bloom_join_werker/g' "$library" >"$layouts/before"

# putting NAME: the command that puts a library in place. It does not write over one that a session has mapped.
putting() { printf 'cp %q %q && mv -f %q %q\n' "$layouts/$1" "$library.new" "$library.new" "$library"; }
put() { eval "$(putting "$1")"; }

# The extension of a version before this one, which is updated in the end.
released=$(basename "$(printf '%s\n' "$ROOT"/tests/released/*/ | sort -V | head -n 1)")
cp "$ROOT/tests/released/$released/bloom_ident--$released.sql" "$("$PGBIN/pg_config" --sharedir)/extension"
ask -c "CREATE EXTENSION bloom_ident VERSION '$released'"
ask <<'SQL'
CREATE TABLE person AS SELECT i AS id, bloom_signature(md5((i / 2)::text)) AS sig FROM generate_series(1, 20000) AS i;
CREATE INDEX ON person USING sigfile (sig);
SQL

# One session all the time, which has loaded the first library. Its workers load the one that is there when they start.
job="SELECT count(*) FROM bloom_duplicates('person', 'id', 'sig', 0.95);"
session() {
    local name
    echo "$job"
    for name; do
        printf '\\echo %s\n\\! %s\n%s\n' "$name" "$(putting "$name")" "$job"
    done
}
said=$(session same other_0 other_4 other_8 other_12 before same | timeout -k 5 60 psql -XAtq -v VERBOSITY=verbose 2>&1 | sed '/^\(LOCATION\|CONTEXT\): /d') ||
    die "the session ends: $said"
read -r version shared table pair < <(sed -nE 's/^DETAIL:  The leader shares data in layout ([0-9]+) \(([0-9]+), ([0-9]+) and ([0-9]+) bytes\).*/\1 \2 \3 \4/p' <<<"$said") ||
    die "workers with other layouts are not refused: $said"
leader="$version ($shared, $table and $pair bytes)"
# refused LAYOUT: the error of a worker that has it.
refused() {
    cat <<END
ERROR:  55000: parallel worker has loaded another version of bloom_ident than its leader
DETAIL:  The leader shares data in layout $leader, the worker reads layout $1.
HINT:  Reconnect, so that the session loads the installed library too.
END
}
# What of a size's number is left when its lowest byte is another one.
other() { echo $(($1 / 256 * 256 + 127)); }
diff - <(echo "$said") <<END || die 'another library in the workers (< expected, > said)'
9999
same
9999
other_0
$(refused "127 ($shared, $table and $pair bytes)")
other_4
$(refused "$version ($(other "$shared"), $table and $pair bytes)")
other_8
$(refused "$version ($shared, $(other "$table") and $pair bytes)")
other_12
$(refused "$version ($shared, $table and $(other "$pair") bytes)")
before
ERROR:  42883: could not find function "bloom_join_worker" in file "$library"
same
9999
END
# What the hint says.
put other_0
[[ $(ask -c "$job") == 9999 ]] || die 'a session that begins with the other library'
put same

# Sessions that have loaded the first library go on with it while others load the one that was put in its place: both write to the same index, and a guard of
# either sees the rows of the other. A function that came with the new one is not there for the old one, whose session says which file it wanted.
LC_ALL=C sed 's/bloom_bits_wrapper/bloom_bitz_wrapper/g' "$library" >"$layouts/without"
ask <<'SQL'
CREATE TABLE held (id int PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
CREATE INDEX held_i ON held USING sigfile (sig) WITH (tail_limit = 100);
CREATE TRIGGER guard AFTER INSERT ON held FOR EACH ROW EXECUTE FUNCTION bloom_guard('sig', '0.9', 'reject');
SQL
# turn NAME FIRST: rows from there on, and how many rows the index finds of them and of one of the other session.
turn() {
    printf "INSERT INTO held SELECT i, md5(i::text) FROM generate_series(%d, %d) AS i;\n" "$2" $(($2 + 299))
    printf "INSERT INTO held VALUES (0, md5('%d'));\n" "${3:-$2}"
    printf "SELECT '%s', array_agg(id ORDER BY id) FROM held WHERE sig %% bloom_query(bloom_signature(md5('%d')), 0.9);\n" "$1" "${3:-$2}"
}
put without
said=$({
    turn old 1
    printf '\\! %s\n' "$(putting other_0)"
    turn old 1001
    turn new 2001 1001 >"$layouts/new.sql"
    printf '\\! psql -XAtq -v VERBOSITY=terse -f %q 2>&1\n' "$layouts/new.sql"
    turn old 3001 2001
    echo "SELECT bloom_bits(sig) FROM held WHERE id = 1;"
    printf '\\! psql -XAtq -c %q\n' 'SELECT count(bloom_bits(sig)) FROM held WHERE id = 1'
    echo 'VACUUM held; SELECT bloom_sigfile_merge($$held_i$$) IS NULL, bloom_sigfile_check($$held_i$$);'
} | timeout -k 5 60 psql -XAtq -v VERBOSITY=terse 2>&1 | sed 's/^psql:[^:]*:[0-9]*: //') || die "the session ends: $said"
refused='ERROR:  new row for relation "held" is too similar to an existing row'
diff - <(echo "$said") <<END || die 'sessions with two libraries (< expected, > said)'
$refused
old|{1}
$refused
old|{1001}
$refused
new|{1001}
$refused
old|{2001}
ERROR:  could not find function "bloom_bits_wrapper" in file "$library"
1
f|1200
END
put same
! grep -E 'PANIC|TRAP|terminated by signal' "$SCRATCH/versions/log" || die 'a process crashed'

# What a newer version has left on disk: a signature in a table, one in a GiST index, the metapage of a sigfile index, and its signatures.
ask <<'SQL'
CREATE TABLE kept AS SELECT 1 AS id, '(2,5,3):1f03'::bloom AS sig;
CREATE TABLE leaf AS SELECT * FROM kept;
CREATE INDEX leaf_i ON leaf USING gist (sig);
CREATE TABLE meta AS SELECT * FROM kept;
CREATE INDEX meta_i ON meta USING sigfile (sig);
CREATE TABLE shape AS SELECT * FROM kept;
CREATE INDEX shape_i ON shape USING sigfile (sig);
CREATE TABLE first AS SELECT i AS id, bloom_signature(i::text) AS sig FROM generate_series(1, 3000) AS i;
CREATE INDEX first_i ON first USING sigfile (sig) WITH (tail_limit = 300);
CREATE TABLE alone AS SELECT * FROM kept;
ALTER TABLE alone ADD CONSTRAINT alone_i EXCLUDE USING sigfile ((bloom_query(sig, 1)) WITH %);
-- What keeps nobody from the others: an index that cannot be read, and pages that VACUUM has deleted.
CREATE TABLE broken AS SELECT * FROM kept;
CREATE INDEX broken_i ON broken USING sigfile (sig);
CREATE TABLE thinned AS SELECT i AS id, bloom_signature(md5(i::text)) AS sig FROM generate_series(1, 3000) AS i;
CREATE INDEX thinned_i ON thinned USING gist (sig);
DELETE FROM thinned WHERE id > 1;
SQL
said=$(ask -c 'VACUUM (VERBOSE) thinned' 2>&1)
[[ $said =~ 'index "thinned_i": '[^$'\n']*' '[1-9][0-9]*' newly deleted' ]] || die "VACUUM has deleted no page of a GiST index: $said"
left=$(ask -c "SELECT regexp_replace(encode(sig::bytea, 'hex'), '..', '\\x\&', 'g') FROM thinned")
file_of() { echo "$(cluster_dir versions)/$(ask -c "SELECT pg_relation_filepath('$1')")"; }
files=("$(file_of kept)" "$(file_of leaf_i)" "$(file_of meta_i)" "$(file_of shape_i)" "$(file_of first_i)" "$(file_of alone_i)" "$(file_of broken_i)" "$(file_of thinned_i)")
cluster_stop versions
# The first eight bytes of a signature of shape (2,5,3).
for file in "${files[@]:0:2}"; do
    place=$(LC_ALL=C grep -obUaP '\x01\x02\x05\0\x03\x01\0\0' "$file" | cut -d: -f1)
    [[ $place =~ ^[0-9]+$ ]] || die "the signature is at \"$place\" of $file"
    patch "$file" "$place" 3
done
# The content of a page begins at byte 40. The version is in its first word, the shape is its third one.
patch "${files[2]}" 44 3
patch "${files[3]}" 56 3
# A version of before the first release.
patch "${files[4]}" 44 1
patch "${files[5]}" 44 3
# Where its items end and its special space begins: nothing that a page can have.
for place in {12..17}; do patch "${files[6]}" "$place" 255; done
# On a leaf, among pages that are deleted.
mapfile -t places < <(LC_ALL=C grep -obUaP "$left" "${files[7]}" | cut -d: -f1)
for place in "${places[@]}"; do ((place < 8192)) || patch "${files[7]}" "$place" 3; done
cluster_start versions

# refuses STATE MESSAGE HINT STATEMENT...: what each fails with.
refuses() {
    local state=$1 message=$2 hint=$3 statement found
    shift 3
    for statement; do
        found=$(timeout -k 5 60 psql -XAtq -v VERBOSITY=verbose -c 'SET enable_seqscan = off' -c "$statement" 2>&1 | grep -E '^(ERROR|WARNING|DETAIL|HINT): ' | head -n 3) || true
        diff - <(echo "$found") <<END || die "$statement (< expected, > said)"
ERROR:  $state: $message in format version $((known + 1))
DETAIL:  A newer version of bloom_ident has stored it. This one reads format version $known.
HINT:  Install the version of bloom_ident that was used before$hint.
END
    done
}
# of signatures
known=2
rebuild=', or rebuild the index with REINDEX'
search="WHERE sig % bloom_query('(2,5,3):1f03', 0.5)"
refuses 0A000 'cannot read a value of type bloom' '' 'SELECT sig FROM kept' 'COPY kept TO STDOUT (FORMAT binary)' "SELECT id FROM kept $search"
refuses 55P85 'index "leaf_i" has signatures' "$rebuild" "SELECT id FROM leaf $search" "SELECT id FROM leaf ORDER BY sig <-> '(2,5,3):1f03'" "SELECT id FROM leaf WHERE sig = '(2,5,3):1f03'"
# The planner leaves an index out, which it says once in a session, of all such indexes; and so does the script that updates the extension.
warning="WARNING:  55P85: this version of bloom_ident does not read the format of indexes public.alone_i, public.first_i, public.leaf_i, public.meta_i, public.shape_i
DETAIL:  Searches go without them, or fail, and so do changes of their tables.
HINT:  Rebuild them by the statements that bloom_stale_indexes() gives, or install the version of bloom_ident that was used before."
# warns STATEMENT...: in one session.
warns() {
    local statements=()
    for statement; do statements+=(-c "$statement"); done
    diff <(echo "$warning") <(timeout -k 5 60 psql -XAtq -v VERBOSITY=verbose "${statements[@]}" 2>&1 | grep -E '^(ERROR|WARNING|DETAIL|HINT): ') || die "$* (< expected, > said)"
}
for name in meta shape; do
    warns "SELECT count(*) FROM $name $search" "SELECT count(*) FROM meta $search" "SELECT id FROM $name ORDER BY sig <-> '(2,5,3):1f03' LIMIT 1"
done
# A plan looks at the root of GiST indexes, the script at all pages.
warning=${warning/, public.shape_i/, public.shape_i, public.thinned_i}
warns 'ALTER EXTENSION bloom_ident UPDATE'
# Of the index at hand alone where no other one may be looked at, or no subtransaction begun.
ask -c 'CREATE ROLE reader' -c 'GRANT SELECT (id, sig) ON meta TO reader' -c "CREATE FUNCTION searched(text) RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS 'BEGIN RETURN (SELECT count(*) FROM meta ${search//\'/\'\'}); END'"
parallel="SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off"
for before in 'SET ROLE reader' "$parallel"; do
    what="SELECT count(*) FROM meta $search"
    [[ $before != "$parallel" ]] || what='SELECT max(searched(id::text)) FROM first WHERE id < 3'
    said=$(timeout -k 5 60 psql -XAtq -v VERBOSITY=verbose -c "$before" -c "$what" -c "$what" 2>&1 | grep -E '^(ERROR|WARNING|DETAIL|HINT): ' | sort -u) || true
    diff - <(echo "$said") <<'END' || die "$before: $what (< expected, > said)"
DETAIL:  A newer version of bloom_ident has stored it. This one reads format version 2.
HINT:  Install the version of bloom_ident that was used before, or rebuild the index with REINDEX.
WARNING:  55P85: index "meta_i" is in format version 3
END
done
for name in meta shape; do
    case $name in
        meta) message='index "meta_i" is' known=2 ;;
        shape) message='index "shape_i" has signatures' known=2 ;;
    esac
    refuses 55P85 "$message" "$rebuild" "INSERT INTO $name VALUES (2, '(2,5,3):1f03')" "VACUUM $name" \
        "SELECT bloom_sigfile_merge('${name}_i')" "SELECT bloom_sigfile_check('${name}_i')" "SELECT bloom_sigfile_stats('${name}_i')" "SELECT * FROM bloom_duplicates('$name', 'id', 'sig', 0.5)"
done
said=$(psql -XAtq -v VERBOSITY=verbose -c "INSERT INTO first VALUES (0, '(2,5,3):1f03')" 2>&1 | grep -v '^LOCATION') || true
diff - <(echo "$said") <<'END' || die 'an index that is too old'
ERROR:  55P85: index "first_i" is in format version 1
DETAIL:  An older version of bloom_ident has stored it. The oldest format version that this one reads is 2.
HINT:  Rebuild the index with REINDEX.
END
# Who may not look at an index is not told of it; one of another session is none of ours.
ask -c 'CREATE ROLE stranger' -c 'GRANT SELECT ON shape TO stranger'
diff - <(ask -F ' | ' -c 'SELECT * FROM bloom_stale_indexes()'; ask -c 'SET ROLE stranger' -c 'SELECT index FROM bloom_stale_indexes()') <<'END' || die 'the list of them'
alone_i | index "alone_i" is in format version 3. A newer version of bloom_ident has stored it. This one reads format version 2. | REINDEX INDEX public.alone_i
first_i | index "first_i" is in format version 1. An older version of bloom_ident has stored it. The oldest format version that this one reads is 2. | REINDEX INDEX CONCURRENTLY public.first_i
leaf_i | index "leaf_i" has signatures in format version 3. A newer version of bloom_ident has stored it. This one reads format version 2. | REINDEX INDEX CONCURRENTLY public.leaf_i
meta_i | index "meta_i" is in format version 3. A newer version of bloom_ident has stored it. This one reads format version 2. | REINDEX INDEX CONCURRENTLY public.meta_i
shape_i | index "shape_i" has signatures in format version 3. A newer version of bloom_ident has stored it. This one reads format version 2. | REINDEX INDEX CONCURRENTLY public.shape_i
thinned_i | index "thinned_i" has signatures in format version 3. A newer version of bloom_ident has stored it. This one reads format version 2. | REINDEX INDEX CONCURRENTLY public.thinned_i
shape_i
END
# Its statements, as they stand.
ask -c "SELECT statement || ';' FROM bloom_stale_indexes()" | ask
[[ -z $(ask -c 'SELECT FROM bloom_stale_indexes()') ]] || die 'REINDEX does not help'
for name in leaf meta shape; do
    [[ $(ask -c 'SET enable_seqscan = off' -c "SELECT id FROM $name $search") == 1 ]] || die "REINDEX of ${name}_i does not help"
done
[[ $(ask -c 'SET enable_seqscan = off' -c "SELECT id FROM first WHERE sig % bloom_query(bloom_signature('2999'), 1)") == 2999 && $(ask -c "SELECT bloom_sigfile_check('first_i')") == 3000 ]] ||
    die 'REINDEX of first_i does not help'

cluster_stop versions
rm -rf "$stage" "$layouts"
