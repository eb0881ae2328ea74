"""Kinds of what is beside tables: triggers, types and casts of users, settings of the session, rules of a merge."""

from kinds import kind
from model import Column, Table, literal, quoted
from tables import child, column_name, plain, refer
from values import TYPES, few, of


def trigger(s, table, name, when, body, declare="", row=True):
    """A trigger of the schema; `body` is PL/pgSQL."""
    function = f"{s.prefix()}.{quoted('f_' + name)}"
    s.triggers.append(f"CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS $body$ {declare} BEGIN {body} END $body$;")
    each = "FOR EACH ROW" if row else "FOR EACH STATEMENT"
    s.triggers.append(f"CREATE TRIGGER {quoted('t_' + name)} {when.replace('{t}', table.sql())} {each} EXECUTE FUNCTION {function}();")


def reference_of(s, table):
    return next(r.columns[0] for r in table.references if len(r.columns) == 1 and r.table is s.subject)


def journal(s, rng, name):
    """A table that refers to the records, to which triggers write; what they have written is in the witness, which nothing changes."""
    table = Table(s.name, name)
    table.columns.append(Column("rid", "int", lambda rng, i: str(i + 1), tail="NOT NULL"))
    column = refer(s, rng, table, on_delete=rng.choice(["CASCADE", "SET NULL", "NO ACTION", "CASCADE"]))
    plain(s, rng, table, "what")
    table.key = ["rid"]
    table.grows = True
    table.count = 3
    s.tables.append(table)
    s.before.append(f"CREATE SEQUENCE {s.prefix()}.{quoted(name + '_number')} START 100000;")
    return table, column


def note(s, table, column, what):
    number = literal(f"{s.prefix()}.{quoted(table.name + '_number')}")
    # One row of both: what a trigger has written must be there afterwards.
    return (f"INSERT INTO {table.sql()} (rid, {quoted(column.name)}) VALUES (nextval({number}), {what});"
            f"INSERT INTO {s.prefix()}.witness (rid, name) VALUES (currval({number}), {literal(table.name)});")


@kind("trigger writes elsewhere", 4)
def writes_elsewhere(s, rng):
    """A row of another child, often one that was redirected already, refers to a record that goes."""
    sources = s.direct()
    source = rng.choice(sources)
    table, column = journal(s, rng, rng.choice(["a_log", "a_log", "zz_log"]))
    old = f"OLD.{quoted(reference_of(s, source))}"
    s.witness = True
    trigger(s, source, "elsewhere", "AFTER UPDATE ON {t}", f"IF {old} IS NOT NULL THEN {note(s, table, column, old)} END IF; RETURN NULL;")


@kind("trigger redirects elsewhere", 3)
def redirects_elsewhere(s, rng):
    source = rng.choice(s.direct())
    table, column = journal(s, rng, rng.choice(["a_seen", "zz_seen"]))
    table.touched.add(column.name)
    old = f"OLD.{quoted(reference_of(s, source))}"
    trigger(s, source, "redirects", "AFTER UPDATE ON {t}", f"UPDATE {table.sql()} SET {quoted(column.name)} = {old} WHERE rid = 1; RETURN NULL;")


@kind("trigger on delete writes", 2)
def on_delete_writes(s, rng):
    """Where a record goes, or a row is dropped, something is noted that refers to it: the row itself may be gone."""
    source = rng.choice(s.direct())
    table, column = journal(s, rng, "gone_log")
    old = f"OLD.{quoted(reference_of(s, source))}"
    s.witness = True
    trigger(s, source, "on_delete", rng.choice(["BEFORE", "AFTER"]) + " DELETE ON {t}", f"IF {old} IS NOT NULL THEN {note(s, table, column, old)} END IF; RETURN OLD;")


@kind("trigger of statement", 1)
def of_statement(s, rng):
    source = rng.choice([t for t in s.direct()])
    table, column = journal(s, rng, "a_sum")
    person = quoted(reference_of(s, source))
    number = literal(f"{s.prefix()}.{quoted('a_sum_number')}")
    trigger(s, source, "statement", "AFTER UPDATE ON {t} REFERENCING OLD TABLE AS was",
            f"INSERT INTO {table.sql()} (rid, {quoted(column.name)}) SELECT nextval({number}), min(w.{person}::text)::{s.key.type} FROM was AS w HAVING count(*) > 0; RETURN NULL;", row=False)


@kind("updated at", 4)
def updated_at(s, rng):
    """A column that each update changes."""
    for table in rng.sample(s.tables, min(len(s.tables), rng.choice([1, 2]))):
        if table.has("updated_at"):
            continue
        table.columns.append(Column("updated_at", "timestamptz", few("2001-01-01 00:00:00+00", "2002-02-02 00:00:00+00")))
        trigger(s, table, "updated_" + table.name, "BEFORE UPDATE ON {t}", f"NEW.updated_at := {rng.choice(['now()', 'clock_timestamp()'])}; RETURN NEW;")


@kind("trigger counts", 2)
def counts(s, rng):
    table = rng.choice(s.direct())
    table.columns.append(Column("changes", "int", few("0")))
    trigger(s, table, "counts", "BEFORE UPDATE ON {t}", "NEW.changes := NEW.changes + 1; RETURN NEW;")


@kind("trigger keeps back", 1)
def keeps_back(s, rng):
    table = rng.choice(s.tables)
    s.keeps_back = True
    trigger(s, table, "keeps", rng.choice(["BEFORE UPDATE", "BEFORE DELETE", "BEFORE UPDATE OR DELETE"]) + " ON {t}", "IF OLD.rid % 3 = 1 THEN RETURN NULL; END IF; IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW;")


@kind("trigger raises", 1)
def raises(s, rng):
    table = rng.choice(s.tables)
    s.raises = True
    trigger(s, table, "raises", rng.choice(["BEFORE", "AFTER"]) + " UPDATE OR DELETE ON {t}", "IF OLD.rid = 3 THEN RAISE EXCEPTION USING ERRCODE = 'XY001', MESSAGE = 'raised by a trigger'; END IF; IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW;")


@kind("trigger undoes", 1)
def undoes(s, rng):
    """A trigger puts the reference back."""
    table = rng.choice(s.direct())
    s.keeps_back = True
    column = quoted(reference_of(s, table))
    trigger(s, table, "undoes", "BEFORE UPDATE ON {t}", f"IF OLD.rid % 3 = 1 THEN NEW.{column} := OLD.{column}; END IF; RETURN NEW;")


@kind("types", 5)
def types(s, rng):
    """Values of types whose texts are not plain."""
    names = sorted(TYPES)
    for table in rng.sample(s.tables, min(len(s.tables), 2)) + [s.subject]:
        for _ in range(rng.choice([1, 2, 4])):
            type = rng.choice(names)
            plain(s, rng, table, "v_" + "".join(c for c in type if c.isalpha()), type, of(TYPES[type]))


@kind("xml", 1)
def xml(s, rng):
    if "xml" not in s.capabilities:
        return False
    for table in [s.subject, rng.choice(s.children())]:
        plain(s, rng, table, "doc", "xml", of(["<a>&lt;</a>", "text <b/>", "<!DOCTYPE a><a/>"]))


@kind("regclass", 2)
def regclass(s, rng):
    """Two tables of one name: the search_path decides which is meant."""
    other = quoted(s.name + "_other")
    s.before += [f"CREATE SCHEMA {other};"] + [f"CREATE TABLE {x}.twin (rid int); CREATE TYPE {x}.twins AS ENUM ('a'); CREATE FUNCTION {x}.twin_f() RETURNS int LANGUAGE sql AS 'SELECT 1';" for x in (s.prefix(), other)]
    for table in [s.subject, rng.choice(s.children())]:
        plain(s, rng, table, "r", "regclass", of([f"{x}.twin" for x in (s.prefix(), other)]))
        plain(s, rng, table, "p", "regprocedure", of([f"{x}.twin_f()" for x in (s.prefix(), other)]))
        plain(s, rng, table, "rr", "regtype[]", of(["{%s.twins,NULL}" % s.prefix().replace('"', "")]))
    s.settings_merge.append(f"SET search_path = {s.prefix()}, public")
    s.settings_unmerge.append(f"SET search_path = {other}, public")


SETTINGS = {
    "array_nulls": ["on", "off"],
    "datestyle": ["'ISO, YMD'", "'German, DMY'", "'SQL, MDY'", "'Postgres, DMY'"],
    "intervalstyle": ["postgres", "sql_standard", "iso_8601", "postgres_verbose"],
    "timezone": ["'UTC'", "'Europe/Berlin'", "'America/New_York'", "'<+03>-03'"],
    "extra_float_digits": ["-15", "0", "3"],
    "bytea_output": ["hex", "escape"],
    "xmloption": ["content", "document"],
    "quote_all_identifiers": ["on", "off"],
    "lc_monetary": ["'C'", "'C.UTF-8'"],
    "standard_conforming_strings": ["on", "off"],
    "transform_null_equals": ["on", "off"],
    "xmlbinary": ["hex", "base64"],
    "default_transaction_isolation": ["'read committed'", "'repeatable read'", "serializable"],
    "plan_cache_mode": ["force_generic_plan", "force_custom_plan"],
    "search_path": ["pg_catalog", "'no such schema'", "public", "''"],
    "check_function_bodies": ["on", "off"],
    "work_mem": ["'64kB'"],
    "enable_hashjoin": ["on", "off"],
    "enable_nestloop": ["on", "off"],
    "default_text_search_config": ["simple", "'pg_catalog.german'"],
}


@kind("settings", 6)
def settings(s, rng):
    for name in rng.sample(sorted(SETTINGS), 6):
        for of_when in (s.settings_merge, s.settings_unmerge):
            if rng.random() < 0.7 and not any(x.startswith(f"SET {name} ") for x in of_when):
                of_when.append(f"SET {name} = {rng.choice(SETTINGS[name])}")


@kind("settings for values", 4)
def settings_for_values(s, rng):
    """Values whose texts depend on settings, and these settings."""
    pairs = [("text[]", "array_nulls"), ("int[]", "array_nulls"), ("interval", "intervalstyle"), ("date", "datestyle"), ("timestamptz", "timezone"), ("float8", "extra_float_digits"), ("bytea", "bytea_output"),
             ("timestamptz[]", "timezone"), ("interval[]", "intervalstyle"), ("money", "lc_monetary")]
    for type, name in rng.sample(pairs, 3):
        for table in (s.subject, rng.choice(s.children())):
            plain(s, rng, table, "w_" + "".join(c for c in type if c.isalpha()), type, of(TYPES[type], 0.1))
        for of_when in (s.settings_merge, s.settings_unmerge):
            if not any(x.startswith(f"SET {name} ") for x in of_when):
                of_when.append(f"SET {name} = {rng.choice(SETTINGS[name])}")


@kind("casts", 4)
def casts(s, rng):
    """Casts of users between text and their types, which are no mirror of each other."""
    x = s.prefix()
    way = rng.choice(["", "AS ASSIGNMENT", "AS IMPLICIT"])
    s.before.append(f"CREATE TYPE {x}.mood AS ENUM ('good', 'bad', 'ugly');")
    s.before.append(f"CREATE TYPE {x}.pair AS (x int, y text);")
    s.before.append(f"CREATE DOMAIN {x}.points AS numeric(6,2);")
    if rng.random() < 0.8:
        s.before.append(f"CREATE FUNCTION {x}.to_mood(text) RETURNS {x}.mood LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN 'good'; END $$;")
        s.before.append(f"CREATE CAST (text AS {x}.mood) WITH FUNCTION {x}.to_mood(text) {way};")
    if rng.random() < 0.6:
        s.before.append(f"CREATE FUNCTION {x}.to_text({x}.mood) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN 'bad'; END $$;")
        s.before.append(f"CREATE CAST ({x}.mood AS text) WITH FUNCTION {x}.to_text({x}.mood) {way};")
    if rng.random() < 0.6:
        s.before.append(f"CREATE FUNCTION {x}.to_pair(text) RETURNS {x}.pair LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN ROW(7, 'cast'::text); END $$;")
        s.before.append(f"CREATE CAST (text AS {x}.pair) WITH FUNCTION {x}.to_pair(text) {way};")
    for table in [s.subject, rng.choice(s.children())]:
        plain(s, rng, table, "mood", f"{x}.mood", of(["good", "bad", "ugly"]))
        plain(s, rng, table, "pair", f"{x}.pair", of(["(1,a)", "(,)", '(2,"b, c")']))
        plain(s, rng, table, "points", f"{x}.points", of(["1.5", "-0.25"]))
        plain(s, rng, table, "moods", f"{x}.mood[]", of(["{good,NULL}", "{bad}"]))


@kind("collation", 1)
def collation(s, rng):
    """Texts that are equal though they differ."""
    if "icu" not in s.capabilities:
        return False
    x = s.prefix()
    s.before.append(f"CREATE COLLATION {x}.loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);")
    table = child(s, rng, "word", count=10)
    person = refer(s, rng, table)
    word = plain(s, rng, table, "word", "text", few("a", "A", "b"), tail=f"COLLATE {x}.loose")
    table.key = ["rid"]
    table.after.append(f"CREATE UNIQUE INDEX ON {{t}} ({quoted(person.name)}, {quoted(word.name)})")


@kind("rules", 4)
def rules(s, rng):
    s.rules = rng.choice([
        '{"*": "keep", "rid": "keep"}', '{"*": "longest", "rid": "keep"}', '{"*": "most frequent", "rid": "keep"}', '{"name": {"sql": "max(name)"}}', '{"name": {"sql": "string_agg(name, \'+\')"}}',
        '{"name": "most complete"}', '{"name": {"oldest": "rid"}}', '{"name": {"priority": {"column": "city", "order": ["Köln", "Bonn"]}}}'])


@kind("keep by", 3)
def keep_by(s, rng):
    s.keep_by = rng.choice(["most complete", "oldest", "newest", "newest by name", "rid", "oldest by rid"])


@kind("drop", 8)
def drop(s, rng):
    s.on_collision = "drop"
