#!/usr/bin/env bash
# The SQL is written by hand: every function of the library is bound there, and every one bound exists, from whichever crate it is.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

wrappers() { grep -oE '[a-z0-9_]+_wrapper' | sed 's/^pg_finfo_//' | sort -u; }

library=$("$PGBIN/pg_config" --pkglibdir)/bloom_ident.so
# Declared by the tests that look into a session.
for_tests=$(sed -n '/^CREATE FUNCTION session_state/,/;$/p' "$ROOT/tests/sql/session_state.sql")
# The scripts drop the functions that they call in the end.
for_tests+=$(cat "$ROOT"/sql/*.sql | sed -n -e '/^CREATE FUNCTION bloom_ident_installed/,/;$/p' -e '/^CREATE FUNCTION bloom_ident_updated/,/;$/p' | sed 's/MODULE_PATHNAME/$libdir\/bloom_ident/')
# What a release had stays, and the scripts that update the extension may name functions that they drop again.
diff <(wrappers < <(cat "$ROOT"/sql/*.sql "$ROOT"/tests/released/*/symbols; echo "$for_tests")) <(grep -aoE 'pg_finfo_[a-z0-9_]+_wrapper' "$library" | wrappers) ||
    die 'sql/ and the library name different functions (< sql, > library)'
# The control file names the version that sql/ has, and Cargo.toml the same.
version=$(extension_version bloom_ident)
[[ $(extension_version bloom_ident_citus) == "$version" ]] || die "bloom_ident_citus has another version than $version"
grep -qx "version = \"$version\"" "$ROOT/Cargo.toml" || die "Cargo.toml has another version than $version"
sources=("$ROOT"/{pg,types,access}/src "$ROOT/src")
# Whatever the server calls is an #[entry], so that errors leave it complete. A function pointer to anything else, or a
# function under pgrx's guard, would change the errors of user code beneath it.
bare=$(grep -rnE '#\[(pgrx::)?(pg_guard|pg_extern)|pg_guard_ffi_boundary\(|check_for_interrupts!|pgrx::(error|ereport|notice|warning)!' "${sources[@]}" || true)
[[ -z $bare ]] || die "pgrx's guard where ours belongs:
$bare"
bare=$(find "${sources[@]}" -name '*.rs' -exec awk '
    FNR == 1 { entry = 0 }
    /#\[entry\]/ { entry = 1; next }
    /^ *#\[|^ *\/\// { next }
    /extern "C(-unwind)?" fn [a-z]/ && !entry { print FILENAME ":" FNR ": " $0 }
    { entry = 0 }' {} +)
[[ -z $bare ]] || die "called by the server without #[entry]:
$bare"

# The catalog says of each function what the Rust side says, which is in the library as lines of text: symbol | types of the Rust arguments | type of the result |
# what departs from IMMUTABLE, STRICT and PARALLEL SAFE | the declarations in its documentation. They come from #[entry].
dropdb --if-exists declared 2>/dev/null
createdb declared
grep -aoE 'sql function [a-z0-9_]+_wrapper\|.*' "$library" | sed 's/^sql function //' >"$SCRATCH/declared"
defaults=$(sed -nE "s/^pub const DEFAULT_([A-Z_]+): .* = (.*);/('\L\1', '\2')/p" "$ROOT/src/functions/default_shape.rs" | paste -sd,)
drifted=$(psql -XAtq -v ON_ERROR_STOP=1 -d declared <<SQL
CREATE EXTENSION bloom_ident;
$for_tests
CREATE TEMP TABLE rust (symbol text, arguments text, result text, properties text, declared text);
\copy rust FROM '$SCRATCH/declared' (DELIMITER '|', NULL 'none')
-- Which SQL types a Rust type stands for. Those that stand for any are in documented declarations.
CREATE TEMP TABLE type AS SELECT rust, unnest(sql)::regtype::oid AS oid FROM (VALUES
    ('AnyNumeric', '{numeric}'::text[]), ('AnySketch', '{minhash,minhash_bits}'), ('Bloom', '{bloom}'), ('BloomQuery', '{bloom_query}'),
    ('CStr', '{cstring}'), ('CString', '{cstring}'), ('Counting', '{counting_bloom}'), ('Date', '{date}'), ('Internal', '{internal}'),
    ('JsonB', '{jsonb}'), ('Minhash', '{minhash}'), ('MinhashBits', '{minhash_bits}'), ('MinhashQuery', '{minhash_query}'), ('NewBloom', '{bloom}'),
    ('NewCounting', '{counting_bloom}'), ('NewMinhash', '{minhash}'), ('NewMinhashBits', '{minhash_bits}'), ('NewMinhashQuery', '{minhash_query}'),
    ('NewQuery', '{bloom_query}'), ('Oid', '{oid,regclass}'), ('String', '{text}'), ('Text', '{text}'), ('TimeOfDay', '{time}'), ('Vec', '{bytea}'),
    ('[u8]', '{bytea}'), ('bool', '{boolean}'), ('f64', '{float8}'), ('i32', '{integer}'), ('i64', '{bigint}')) AS t (rust, sql);
CREATE TEMP TABLE catalog AS
SELECT oid, prosrc AS symbol, prorettype, proargtypes::oid[] AS types,
       concat_ws(',', CASE provolatile WHEN 's' THEN 'stable' WHEN 'v' THEN 'volatile' END, CASE WHEN NOT proisstrict THEN 'called_on_null' END,
                 CASE proparallel WHEN 'r' THEN 'parallel_restricted' WHEN 'u' THEN 'parallel_unsafe' END) AS properties,
       format('(%s) RETURNS %s', given, coalesce(CASE WHEN proretset THEN 'TABLE ' END || '(' || columns || ')', '(' || columns || ')', format_type(prorettype, NULL)))
           AS declaration
FROM pg_proc, LATERAL (
    SELECT string_agg(named, ', ' ORDER BY i) FILTER (WHERE is_given) AS given, string_agg(named, ', ' ORDER BY i) FILTER (WHERE NOT is_given) AS columns
    FROM unnest(coalesce(proallargtypes, proargtypes::oid[]), proargmodes, proargnames) WITH ORDINALITY AS argument (type, mode, name, i),
         coalesce(mode IN ('i', 'v'), true) AS is_given,
         concat_ws(' ', CASE mode WHEN 'v' THEN 'VARIADIC' END, quote_ident(nullif(name, '')), format_type(type, NULL)) AS named) AS arguments
WHERE probin LIKE '%bloom_ident%';
UPDATE catalog SET declaration = replace(replace(declaration, 'double precision', 'float8'), 'timestamp with time zone', 'timestamptz');
CREATE FUNCTION pg_temp.base(oid) RETURNS oid STABLE AS \$\$ SELECT coalesce(nullif(typbasetype, 0), oid) FROM pg_type WHERE oid = \$1 \$\$ LANGUAGE sql;

SELECT coalesce(symbol, '?'), 'is in ' || CASE WHEN oid IS NULL THEN 'the library' ELSE 'the catalog' END || ' only'
FROM catalog FULL JOIN rust USING (symbol) WHERE oid IS NULL OR rust.arguments IS NULL
UNION SELECT oid::regprocedure::text, format('is "%s" in the catalog, "%s" in Rust', catalog.properties, rust.properties)
FROM catalog JOIN rust USING (symbol) WHERE catalog.properties <> rust.properties
UNION SELECT oid::regprocedure::text, format('is %s in the catalog, %s in Rust', declaration, declared)
FROM catalog JOIN rust USING (symbol) WHERE declared <> '' AND declaration <> ALL (string_to_array(declared, ' or '))
UNION SELECT symbol, 'is nowhere declared as ' || one
FROM rust, unnest(string_to_array(declared, ' or ')) AS one WHERE NOT EXISTS (SELECT FROM catalog WHERE (symbol, declaration) = (rust.symbol, one))
UNION SELECT oid::regprocedure::text, format('argument %s is %s in Rust', i, argument)
FROM catalog JOIN rust USING (symbol), unnest(string_to_array(arguments, ',')) WITH ORDINALITY AS given (argument, i)
WHERE argument <> 'FunctionCallInfo' AND NOT EXISTS (SELECT FROM type WHERE (type.rust, type.oid) = (argument, pg_temp.base(types[i - 1])))
UNION SELECT oid::regprocedure::text, 'has other arguments than (' || arguments || ') in Rust'
FROM catalog JOIN rust USING (symbol)
WHERE arguments NOT LIKE '%FunctionCallInfo' AND cardinality(types) <> cardinality(string_to_array(arguments, ','))
UNION SELECT oid::regprocedure::text, format('gives %s in Rust', result)
FROM catalog JOIN rust USING (symbol)
WHERE result NOT IN ('NewValue', 'Datum') AND NOT EXISTS (SELECT FROM type WHERE (type.rust, type.oid) = (result, pg_temp.base(prorettype)))
-- The shape that is planned by default is the one that Rust knows.
UNION SELECT oid::regprocedure::text, format('has %s by default for %s, Rust has %s', theirs, argument.name, ours)
FROM catalog JOIN pg_proc USING (oid), unnest(proargnames) WITH ORDINALITY AS argument (name, i),
     pg_get_function_arg_default(oid, i::integer) AS theirs, (VALUES $defaults) AS rust (name, ours)
WHERE argument.name = rust.name AND 'max_chars' = ANY (proargnames) AND theirs <> ours;
SQL
)
[[ -z $drifted ]] || die "the catalog and the Rust side say different things (sql/, #[entry]):
$drifted"
dropdb declared
