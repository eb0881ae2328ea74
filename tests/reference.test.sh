#!/usr/bin/env bash
# docs/reference.md names everything that the extension contains, with the arguments that it has; and no document names a
# function that is not there.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

reference=$ROOT/docs/reference.md
sql() { psql -XAtq -v ON_ERROR_STOP=1 -d reference "$@"; }

dropdb --if-exists reference 2>/dev/null
createdb reference
sql -c 'CREATE EXTENSION bloom_ident' -c "
    CREATE VIEW member AS
    SELECT classid, objid FROM pg_depend
    WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
      AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bloom_ident')"

names=$(sql -c "
    SELECT proname FROM pg_proc JOIN member ON (classid, objid) = ('pg_proc'::regclass, pg_proc.oid)
    UNION SELECT typname FROM pg_type JOIN member ON (classid, objid) = ('pg_type'::regclass, pg_type.oid) WHERE typcategory <> 'A'
    UNION SELECT opcname FROM pg_opclass JOIN member ON (classid, objid) = ('pg_opclass'::regclass, pg_opclass.oid)
    UNION SELECT amname FROM pg_am JOIN member ON (classid, objid) = ('pg_am'::regclass, pg_am.oid)
    ORDER BY 1")
missing=$(while read -r name; do
    grep -qE "\b$name\b" "$reference" || echo "$name"
done <<<"$names")
[[ -z $missing ]] || die "docs/reference.md does not name: $missing"

operators=$(sql -c "SELECT DISTINCT oprname FROM pg_operator JOIN member ON (classid, objid) = ('pg_operator'::regclass, pg_operator.oid)")
# In a table of Markdown a bar is escaped. (Read as a whole, since a pipe fails where grep -q stops reading it early.)
code=$(grep -F '`' "$reference" | sed 's/\\|/|/g')
missing=$(while read -r name; do
    # Beside it stand blanks or the quotes of code.
    grep -qE "[ \`]$(sed 's/[|]/\\|/g' <<<"$name")[ \`]" <<<"$code" || echo "$name"
done <<<"$operators")
[[ -z $missing ]] || die "docs/reference.md does not name the operators: $missing"

# The functions whose arguments have names, as the reference writes them.
signatures=$(sql -c "
    SELECT proname || '(' || replace(replace(regexp_replace(regexp_replace(
               pg_get_function_arguments(pg_proc.oid), '(, )?OUT .*|\mIN ', '', 'g'), '::(text|name|regclass|jsonb|integer|bigint|boolean|double precision)(\[\])?', '', 'g'),
               ' DEFAULT ', ' = '), 'double precision', 'float8') || ')'
    FROM pg_proc JOIN member ON (classid, objid) = ('pg_proc'::regclass, pg_proc.oid)
    WHERE proargnames[1] <> '' ORDER BY 1")
missing=$(while read -r signature; do
    grep -qF "\`$signature\`" "$reference" || echo "$signature"
done <<<"$signatures")
[[ -z $missing ]] || die "docs/reference.md does not have:
$missing"
# And none that is not there. Those of bloom_ident_citus are seen where Citus is (tests/citus.test.sh). bloom_fingerprint and the trigger functions have no arguments, and those of aggregates have no names.
surplus=$(grep -oE '^\| `(bloom_|counting_|ident_|minhash)[a-z_]*\([^`]*\)`' "$reference" | sed 's/^| `//; s/`$//' |
    grep -vE '^bloom_(citus_[a-z_]+|clk_keep|entities_decide|fingerprint|guard|register_keep|union)\(|^counting_merge\(counting_bloom\)|^minhash_union\(minhash\)' | grep -vxF "$signatures" || true)
[[ -z $surplus ]] || die "docs/reference.md has what is not there:
$surplus"

names+=$'\n'$(sed -n 's/^CREATE FUNCTION \(bloom_citus_[a-z_]*\)(.*/\1/p' "$ROOT"/citus/*.sql)
unknown=$(grep -ohE '\b(bloom|counting|ident|minhash)_[a-z_]+\(' "$ROOT/README.md" "$ROOT"/docs/*.md | sort -u | sed 's/($//' |
    grep -vxF "$names" || true)
[[ -z $unknown ]] || die "the documents call functions that are not there: $unknown"
dropdb reference
