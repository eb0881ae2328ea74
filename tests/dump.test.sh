#!/usr/bin/env bash
# Dump and restore: every kind of object that can depend on the extension comes back as it was.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"
# shellcheck source=tests/dump.sh
source "$(dirname "${BASH_SOURCE[0]}")/dump.sh"

make_dumped

for format in plain custom; do
    dropdb --if-exists restored 2>/dev/null
    createdb restored
    ask restored 'ALTER DATABASE restored SET search_path = public, ext'
    if [[ $format == plain ]]; then
        pg_dump -d dumped | psql -Xq -v ON_ERROR_STOP=1 -d restored >/dev/null
    else
        pg_dump -Fc -d dumped | pg_restore --exit-on-error -d restored
    fi
    diff <(state dumped) <(state restored) || die "$format dump: the restored database differs"
    later restored >"$SCRATCH/later.$format" || true
done
later dumped >"$SCRATCH/later" || true
for format in plain custom; do
    diff "$SCRATCH/later" "$SCRATCH/later.$format" || die "$format dump: what was decided or merged before it differs"
done
grep -qx '1' "$SCRATCH/later" || die 'the merge was not taken back'
dropdb restored

# The extension goes: first it says what would go along, then that goes. Rows stay, and nothing is left that refers to what is gone.
rows() { ask dumped "$(ask dumped "SELECT string_agg(format('SELECT %L, count(*) FROM %s', relname, oid::regclass), ' UNION ALL ' ORDER BY relname) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace")"; }
before=$(rows)
said=$(ask dumped 'DROP EXTENSION bloom_ident' 2>&1) && die 'DROP EXTENSION takes along what uses it'
[[ $said == 'ERROR:  cannot drop extension bloom_ident because other objects depend on it'* ]] || die "DROP EXTENSION: $said"
for object in 'column sig of table person' 'column profile of table person' 'column name_sig of table person' 'index person_bloom_signature_idx' 'constraint no_duplicate on table person' \
    'column filter of table counted' 'column minima of table message' 'view near' 'trigger blocked on table guarded'; do
    grep -qE "(^DETAIL:  |^)$object depends on " <<<"$said" || die "DROP EXTENSION does not name $object: $said"
done
[[ $(rows) == "$before" ]] || die 'DROP EXTENSION that was refused has taken rows along'
ask dumped 'SET client_min_messages = warning; DROP EXTENSION bloom_ident CASCADE'
diff <(echo "$before") <(rows) || die 'DROP EXTENSION has taken rows along'
left=$(ask dumped "SELECT 'pg_depend', count(*) FROM pg_depend WHERE pg_describe_object(classid, objid, objsubid) IS NULL OR pg_describe_object(refclassid, refobjid, refobjsubid) IS NULL HAVING count(*) > 0
    UNION ALL SELECT 'pg_shdepend', count(*) FROM pg_shdepend WHERE dbid = (SELECT oid FROM pg_database WHERE datname = 'dumped') AND pg_describe_object(classid, objid, objsubid) IS NULL HAVING count(*) > 0
    UNION ALL SELECT 'pg_init_privs', count(*) FROM pg_init_privs WHERE pg_describe_object(classoid, objoid, objsubid) IS NULL HAVING count(*) > 0
    UNION ALL SELECT 'pg_description', count(*) FROM pg_description WHERE pg_describe_object(classoid, objoid, objsubid) IS NULL HAVING count(*) > 0
    UNION ALL SELECT 'pg_attribute', count(*) FROM pg_attribute WHERE NOT attisdropped AND NOT EXISTS (SELECT FROM pg_type AS t WHERE t.oid = atttypid) HAVING count(*) > 0
    UNION ALL SELECT 'pg_trigger', count(*) FROM pg_trigger WHERE NOT EXISTS (SELECT FROM pg_proc AS p WHERE p.oid = tgfoid) HAVING count(*) > 0
    UNION ALL SELECT 'indexes', count(*) FROM pg_class AS c WHERE relkind IN ('i', 'I') AND NOT EXISTS (SELECT FROM pg_am AS a WHERE a.oid = relam) HAVING count(*) > 0
    UNION ALL SELECT 'pg_am', count(*) FROM pg_am WHERE amname = 'sigfile' HAVING count(*) > 0
    UNION ALL SELECT 'pg_proc', count(*) FROM pg_proc WHERE probin LIKE '%bloom_ident%' HAVING count(*) > 0")
[[ -z $left ]] || die "DROP EXTENSION leaves: $left"
# What stays is a database like others, and the extension may come again.
createdb restored
pg_dump -d dumped | psql -Xq -v ON_ERROR_STOP=1 -d restored >/dev/null
ask dumped "CREATE EXTENSION bloom_ident SCHEMA ext; ALTER TABLE person ADD sig bloom(7,43,3) GENERATED ALWAYS AS (bloom_signature(name)) STORED; CREATE INDEX ON person USING sigfile (sig)"
[[ $(ask dumped "SELECT id FROM person WHERE sig = bloom_signature('name 7')") == 7 ]] || die 'the extension does not work where it was before'
dropdb dumped
dropdb restored

# The owner of a trusted installation, who is no superuser: abbreviations and the right to write them come back when the owner restores.
psql -Xq -c 'CREATE ROLE dump_owner LOGIN' -c 'CREATE ROLE dump_writer' -c 'CREATE ROLE dump_heir LOGIN' -c 'CREATE DATABASE owned OWNER dump_owner' -c 'CREATE DATABASE restored OWNER dump_owner'
PGUSER=dump_owner ask owned "CREATE EXTENSION bloom_ident;
    INSERT INTO ident_abbreviations (language, abbreviation, words) VALUES ('de', 'Tr.', 'Trachtenverein');
    SELECT bloom_secret_create('dumped');
    INSERT INTO bloom_clk_ids (id, name) VALUES ('00000000000000ab', 'ours');
    CREATE TABLE received (sig bloom, id text GENERATED ALWAYS AS (bloom_id(sig)) STORED REFERENCES bloom_clk_ids);
    INSERT INTO received VALUES (bloom_clk_from_base64('gAE=', '00000000000000ab'));
    GRANT SELECT, INSERT ON ident_abbreviations TO dump_writer" >/dev/null
PGUSER=dump_owner pg_dump -d owned | PGUSER=dump_owner psql -Xq -v ON_ERROR_STOP=1 -d restored >/dev/null
owned() { ask "$1" "SELECT * FROM ident_abbreviations; SELECT * FROM bloom_secrets; SELECT * FROM bloom_clk_ids; SELECT * FROM received; SELECT relname, unnest(relacl)::text FROM pg_class WHERE relname IN ('ident_abbreviations', 'bloom_secrets', 'bloom_clk_ids') ORDER BY 1, 2"; }
diff <(owned owned) <(owned restored) || die 'an owner who is no superuser does not get everything back'
PGUSER=dump_owner ask restored "INSERT INTO ident_abbreviations (language, abbreviation, words) VALUES ('de', 'x', 'y')"

# docs/installation.md#another-owner: the new one may write, dumps and restores as the old one did, and no dump names the old one, be it for pg_upgrade.
ask owned 'REASSIGN OWNED BY dump_owner TO dump_heir;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ident_abbreviations TO dump_heir WITH GRANT OPTION;
    GRANT SELECT, INSERT, UPDATE, DELETE, REFERENCES ON bloom_clk_ids TO dump_heir WITH GRANT OPTION;
    GRANT INSERT, DELETE ON bloom_secrets TO dump_heir;
    DROP OWNED BY dump_owner;
    UPDATE pg_init_privs SET initprivs = relacl FROM pg_class
    WHERE pg_class.oid = objoid AND classoid = $$pg_class$$::regclass AND objoid IN ($$ident_abbreviations$$::regclass, $$bloom_clk_ids$$::regclass, $$bloom_secrets$$::regclass)
        AND current_setting($$server_version_num$$)::integer < 170000'
# Dropping what one owns drops the extension.
dropdb restored
ask postgres 'CREATE DATABASE restored OWNER dump_owner'
PGUSER=dump_owner ask restored 'CREATE EXTENSION bloom_ident'
ask restored 'DROP OWNED BY dump_owner'
[[ $(ask restored "SELECT count(*) FROM pg_extension WHERE extname = 'bloom_ident'") == 0 ]] || die 'DROP OWNED leaves the extension'
dropdb restored
psql -Xq -v ON_ERROR_STOP=1 -c 'DROP ROLE dump_owner' -c 'CREATE DATABASE restored OWNER dump_heir'
[[ $(ask owned "SELECT extowner::regrole FROM pg_extension WHERE extname = 'bloom_ident'") == dump_heir ]] || die 'REASSIGN OWNED leaves the extension where it was'
PGUSER=dump_heir ask owned "INSERT INTO ident_abbreviations (language, abbreviation, words) VALUES ('de', 'x', 'y')"
PGUSER=dump_heir pg_dump -d owned | PGUSER=dump_heir psql -Xq -v ON_ERROR_STOP=1 -d restored >/dev/null
diff <(owned owned) <(owned restored) || die 'the new owner does not get everything back'
! pg_dump --binary-upgrade -d owned | grep -E '(TO|FROM) "[0-9]+"' || die 'a dump for pg_upgrade names a role that is gone'
dropdb owned
dropdb restored
psql -Xq -c 'DROP ROLE dump_heir' -c 'DROP ROLE dump_writer'
