#!/usr/bin/env bash
# From each released version to this one. What it has left behind (tests/released) works with this library, before ALTER EXTENSION UPDATE and after it; the
# extension is then by definition what CREATE EXTENSION makes; old decisions, constraints, guards and merges hold. Where the version has no data directory for
# this major, its dump is restored. In the end upgrades are spoilt on purpose, and each is found.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"
# shellcheck source=scripts/released.sh
source "$ROOT/scripts/released.sh"

# What was released never changes.
(cd "$RELEASED" && sha256sum --check --quiet --strict SHA256SUMS) || die 'what was released has changed'
[[ $(cd "$RELEASED" && find . -mindepth 2 -type f -printf '%P\n' | sort) == "$(cut -d' ' -f3 "$RELEASED/SHA256SUMS")" ]] || die 'tests/released/SHA256SUMS names other files than there are'

library=$("$PGBIN/pg_config" --pkglibdir)/bloom_ident.so
# kept_symbols LIBRARY: fails if one is gone that a released script, or a process that runs a released library, asks for.
kept_symbols() {
    local gone
    gone=$(comm -23 <(sort -u "$RELEASED"/*/symbols) <(exported "$1" | sort))
    [[ -z $gone ]] || { echo "the library lacks what a release had: $gone" && return 1; }
}
kept_symbols "$library" || die 'a symbol that was released is gone'

# What the objects say when this version has made them, and what is done with them afterwards.
cluster_init upgrade_new --locale=C
cluster_start upgrade_new
cluster_use upgrade_new
released_fill "$SCRATCH/upgrade.filled"
released_state registry >"$SCRATCH/upgrade.state"
released_catalog registry >"$SCRATCH/upgrade.catalog"
released_later registry >"$SCRATCH/upgrade.later"
cluster_stop upgrade_new

# Done by the owner of the database, who is no superuser, and under a path that leads elsewhere first.
cat >"$SCRATCH/upgrade.sql" <<'SQL'
SET client_min_messages = warning;
CREATE SCHEMA lure;
CREATE FUNCTION lure.lower(text) RETURNS text LANGUAGE sql AS $$ SELECT 1 / 0 $$;
CREATE TABLE lure.pg_proc ();
CREATE TABLE lure.ident_abbreviations ();
SET search_path = lure, public, ext, pg_catalog;
ALTER EXTENSION bloom_ident UPDATE;
DROP SCHEMA lure CASCADE;
SQL

# same WHAT FILE FILE
same() { diff "$2" "$3" >"$SCRATCH/upgrade.diff" || { head -n 30 "$SCRATCH/upgrade.diff" >&2 && die "$version: $1 (< expected, > said)"; }; }

# check_upgraded: the database registry, which has the version's objects, is like one of this version.
check_upgraded() {
    released_state registry >"$SCRATCH/upgrade.now"
    same 'the state after the upgrade' "$kept/state.out" "$SCRATCH/upgrade.now"
    released_catalog registry >"$SCRATCH/upgrade.now"
    same 'the catalogs after the upgrade' "$SCRATCH/upgrade.catalog" "$SCRATCH/upgrade.now"
    # Servers that are built from source here have no amcheck.
    if psql -Xqc 'CREATE EXTENSION amcheck' -d registry 2>/dev/null; then
        psql -XAtq -v ON_ERROR_STOP=1 -d registry -c "SELECT bt_index_check(i.indexrelid, true) FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid WHERE c.relam = 403 AND c.relkind = 'i' AND c.relpersistence = 'p'" >/dev/null
    fi
    released_later registry >"$SCRATCH/upgrade.now"
    same 'what is done after the upgrade' "$SCRATCH/upgrade.later" "$SCRATCH/upgrade.now"
}

cluster_init upgrade_dumps --locale=C
cluster_start upgrade_dumps
for kept in "$RELEASED"/*/; do
    kept=${kept%/}
    version=$(basename "$kept")
    same 'objects of this version say something else' "$kept/state.out" "$SCRATCH/upgrade.state"
    if [[ -e $kept/$PG_MAJOR.tar.xz ]]; then
        released_unpack "$version" "upgrade_$version"
        cluster_start "upgrade_$version"
        cluster_use "upgrade_$version"
        # The new library under the old scripts.
        released_state registry >"$SCRATCH/upgrade.now"
        same 'the state before the upgrade' "$kept/state.out" "$SCRATCH/upgrade.now"
        # A session that has read the expressions of indexes before, and a plan of its own, goes on.
        search="EXPLAIN (COSTS OFF) SELECT id FROM person WHERE bloom_signature(lower(suburb), ngram => 2) = bloom_signature('milton', ngram => 2);"
        registrar -At <<SQL >"$SCRATCH/upgrade.now" 2>&1 || true
SET enable_seqscan = off;
PREPARE entering AS INSERT INTO person (id, given, surname) VALUES (\$1, 'brooke', 'simpson') RETURNING bloom_sim(sig, bloom_signature('brooke simpson')), normal;
BEGIN; EXECUTE entering(900001); ROLLBACK;
$search
\\! psql -Xq -v ON_ERROR_STOP=1 -d registry -f "$SCRATCH/upgrade.sql"
$search
BEGIN; EXECUTE entering(900001); ROLLBACK;
SELECT bloom_signature('Zoë', rules => 2) = bloom_signature('zoe', rules => 2);
SQL
        diff - "$SCRATCH/upgrade.now" <<'END' || die "$version: a session over the upgrade (< expected, > said)"
1|simpson
Bitmap Heap Scan on person
  Recheck Cond: (bloom_signature(lower(suburb), 2, 30, '0.01'::double precision, false, false) = '(7,41,2):0044800012a00005210848000000400308840014600000ca028000105480043460000000'::bloom)
  ->  Bitmap Index Scan on person_expression_btree
        Index Cond: (bloom_signature(lower(suburb), 2, 30, '0.01'::double precision, false, false) = '(7,41,2):0044800012a00005210848000000400308840014600000ca028000105480043460000000'::bloom)
Bitmap Heap Scan on person
  Recheck Cond: (bloom_signature(lower(suburb), 2, 30, '0.01'::double precision, false, false, 1) = '(7,41,2):0044800012a00005210848000000400308840014600000ca028000105480043460000000'::bloom)
  ->  Bitmap Index Scan on person_expression_btree
        Index Cond: (bloom_signature(lower(suburb), 2, 30, '0.01'::double precision, false, false, 1) = '(7,41,2):0044800012a00005210848000000400308840014600000ca028000105480043460000000'::bloom)
1|simpson
t
END
        check_upgraded
        cluster_stop "upgrade_$version"
    fi
    # A dump, of this major or the newest one before it.
    for ((major = PG_MAJOR; major >= 15; major--)); do [[ ! -e $kept/$major.sql.xz ]] || break; done
    cluster_use upgrade_dumps
    psql -Xq -v ON_ERROR_STOP=1 -c 'CREATE ROLE registrar LOGIN' -c 'CREATE DATABASE registry OWNER registrar TEMPLATE template0 LOCALE "C"' -c 'ALTER DATABASE registry SET search_path = public, ext'
    xz -dc "$kept/$major.sql.xz" | registrar >/dev/null 2>"$SCRATCH/upgrade.restored" || die "$version: the dump of $major is not restored: $(cat "$SCRATCH/upgrade.restored")"
    # Secrets are in no dump.
    registrar -o /dev/null -c 'SET client_min_messages = error' -c "SELECT bloom_secret_import('known', 'a secret that everybody knows')"
    check_upgraded
    psql -Xq -c 'DROP DATABASE registry' -c 'DROP ROLE registrar'
done

cluster_use upgrade_dumps
# A spoilt upgrade: is it found? The oldest release has all scripts to go through.
version=$(basename "$(printf '%s\n' "$RELEASED"/*/ | sort -V | head -n 1)")
scripts=$("$PGBIN/pg_config" --sharedir)/extension
mapfile -t steps < <(cd "$scripts" && printf '%s\n' bloom_ident--*--*.sql | sort -V)
psql -Xq -c 'CREATE ROLE registrar LOGIN'
# Functions with the names of those that the scripts make for a while, by anybody who may create some in the schema: what they say, such as a default
# that runs as whoever calls, is to be nowhere afterwards.
cat >"$SCRATCH/upgrade.lures" <<'SQL'
CREATE FUNCTION ext.lure() RETURNS integer LANGUAGE sql AS 'SELECT 1 / 0';
CREATE FUNCTION ext._with_rules_1(text boolean, filler boolean DEFAULT false, rules integer DEFAULT ext.lure()) RETURNS text LANGUAGE sql AS 'SELECT NULL';
CREATE FUNCTION ext._with_rules_2(text boolean, rules integer DEFAULT ext.lure()) RETURNS text LANGUAGE sql AS 'SELECT NULL';
SQL
moved='FUNCTION ext.counting_signature(text, integer, integer, float8, boolean, boolean'
# upgraded_catalog: of CREATE EXTENSION of that version and ALTER EXTENSION UPDATE. Meanwhile a function has another name.
upgraded_catalog() {
    psql -Xq -c 'DROP DATABASE IF EXISTS registry' -c 'CREATE DATABASE registry OWNER registrar' -c 'ALTER DATABASE registry SET search_path = public, ext' 2>/dev/null
    registrar -o /dev/null -c 'CREATE SCHEMA ext' -f "$SCRATCH/upgrade.lures" -c "CREATE EXTENSION bloom_ident SCHEMA ext VERSION '$version'" >&2
    psql -Xq -v ON_ERROR_STOP=1 -d registry -c "ALTER $moved) RENAME TO other"
    registrar -o /dev/null -c 'ALTER EXTENSION bloom_ident UPDATE' >&2
    psql -Xq -v ON_ERROR_STOP=1 -d registry -c "ALTER ${moved/counting_signature/other}, integer) RENAME TO counting_signature"
    released_catalog registry
}
cp "$RELEASED/$version/bloom_ident--$version.sql" "$scripts"
upgraded_catalog >"$SCRATCH/upgrade.now"
same 'the catalogs of an upgrade by scripts alone' "$SCRATCH/upgrade.catalog" "$SCRATCH/upgrade.now"
# spoil WHAT SCRIPT SED_SCRIPT: with a script changed so the catalogs must differ.
spoil() {
    local script=$scripts/$2
    cp "$script" "$SCRATCH/upgrade.script"
    sed -E "$3" "$SCRATCH/upgrade.script" >"$script"
    ! cmp -s "$script" "$SCRATCH/upgrade.script" || die "nothing is spoilt by: $1"
    upgraded_catalog >"$SCRATCH/upgrade.now" 2>"$SCRATCH/upgrade.said" || die "$1: $(cat "$SCRATCH/upgrade.said")"
    cp "$SCRATCH/upgrade.script" "$script"
    ! cmp -s "$SCRATCH/upgrade.catalog" "$SCRATCH/upgrade.now" || die "this was not found: $1"
}
last=${steps[-1]}
spoil 'a forgotten function' "$last" '/^CREATE FUNCTION bloom_stale_indexes\(/,/;$/d; /^COMMENT ON FUNCTION bloom_stale_indexes\(/,/;$/d'
spoil 'a lost comment' "$last" '/^COMMENT ON FUNCTION bloom_stale_indexes\(/,/;$/d'
spoil 'another cost' "$last" 's/ROWS 1 COST 1000000/ROWS 1 COST 1000/'
spoil 'another volatility' "$last" 's/^( *)VOLATILE STRICT PARALLEL UNSAFE ROWS 1/\1STABLE STRICT PARALLEL UNSAFE ROWS 1/'
# Defaults are those of the released script, which the upgrade does not touch.
spoil 'another default' "bloom_ident--$version.sql" 's/max_chars integer DEFAULT 30,/max_chars integer DEFAULT 31,/'
spoil 'a privilege' "bloom_ident--$version.sql" 's/^GRANT SELECT ON ident_abbreviations TO PUBLIC;//; s/(pg_extension_config_dump\(.ident_abbreviations., .)/\1WHERE true/'
spoil 'an operator that estimates otherwise' "bloom_ident--$version.sql" 's/RESTRICT = bloom_match_sel, JOIN = bloom_match_joinsel/RESTRICT = contsel, JOIN = contjoinsel/'
rm "$scripts/bloom_ident--$version.sql"
LC_ALL=C sed 's/bloom_duplicates_wrapper/bloom_duplicates_wrappen/g' "$library" >"$SCRATCH/upgrade.so"
! kept_symbols "$SCRATCH/upgrade.so" >/dev/null || die 'this was not found: a dropped symbol'
psql -Xq -c 'DROP DATABASE registry' -c 'DROP ROLE registrar'
cluster_stop upgrade_dumps
