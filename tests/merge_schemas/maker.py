"""Makes a schema of a seed, and the SQL file that merges its records and takes the merges back."""

import json
import random

import behaviour  # noqa: F401
import kinds
import tables
import uniqueness  # noqa: F401
from model import Column, Reference, Schema, Table, literal, quoted
from values import few, number

KEYS = {
    "int": lambda i: str(i),
    "bigint": lambda i: str(i),
    "smallint": lambda i: str(i),
    "numeric": lambda i: str(i),
    "text": lambda i: f"'k{i}'",
    "uuid": lambda i: f"'00000000-0000-0000-0000-{i:012x}'",
    "date": lambda i: f"'2024-01-{i:02d}'",
}


def make(seed, names=None, capabilities=frozenset()):
    """The schema of a seed; with the kinds that are named, in place of its own."""
    rng = random.Random(f"schema {seed}")
    s = Schema(seed, f"s{seed}", rng, capabilities=capabilities)
    s.rules, s.keep_by, s.on_collision, s.witness = None, None, "error", False
    type = rng.choices(list(KEYS), [6, 3, 1, 1, 3, 2, 1])[0]
    records = rng.choice([5, 6, 8, 10])
    subject = Table(s.name, "person", count=records)
    s.key = Column("id", type, lambda _, i: KEYS[type](i + 1), tail="NOT NULL")
    subject.columns = [
        s.key, Column("rid", "int", number, tail="NOT NULL"), Column("name", "text", few("Erika", "Otto", "", "Jörg")),
        Column("city", "text", lambda rng, i: None if rng.random() < 0.5 else literal(rng.choice(["Köln", "Bonn"])))]
    subject.key = ["id"]
    s.subject = subject
    s.tables.append(subject)
    s.own_kinds = kinds.chosen(rng) if names is None else names
    s.merges = rng.choice([1, 1, 2, 3])
    s.salt = rng.randrange(1000)
    s.decided = rng.random() < 0.6
    if "odd names" in s.own_kinds:
        s.odd_names = True
    plain_child = tables.child(s, rng, "visit", "v", "m")
    tables.refer(s, rng, plain_child)
    tables.plain(s, rng, plain_child, "day")
    plain_child.key = ["rid"]
    kinds.apply(s, s.own_kinds)
    if s.key.type == "date":
        # Keys are compared as texts here.
        s.settings_merge = [x for x in s.settings_merge if "datestyle" not in x]
    rows = random.Random(f"rows {seed}")
    for table in s.tables:
        table.fill(rows)
    s.late = [statement for table in s.tables for late in table.late for statement in late(rows)]
    for table, reference in getattr(s, "late_references", []):
        table.references.append(reference)
    return s


def calls(s, n):
    """The arguments of a merge."""
    arguments = [f"{literal(s.prefix() + '.clusters' + str(n))}", literal(s.subject.sql()), literal(s.key.name)]
    if s.rules:
        arguments.append(f"rules => {literal(s.rules)}")
    if s.keep_by:
        arguments.append(f"keep_by => {literal(s.keep_by)}")
    if s.redirect:
        arguments.append("redirect => ARRAY[" + ", ".join(map(literal, s.redirect)) + "]")
    return ", ".join(arguments)


def script(s):
    """The lines of the SQL file. "@" begins what the checks read."""
    x = s.prefix()
    audit = literal(x + ".merges")
    referring = json.dumps({t.name: t.referring() for t in s.tables if t.referring()})
    domains = "ARRAY[" + ", ".join(sorted({literal(c.domain) for t in s.tables for c in t.columns if c.domain} | {literal(s.key.name)})) + "]"
    yield f"-- seed {s.seed}: {', '.join(s.kinds)}"
    yield "\\set QUIET on\n\\set VERBOSITY verbose\n\\set SHOW_CONTEXT always\n\\pset format unaligned\n\\pset tuples_only on\nSET client_min_messages = error;"
    yield f"\\echo @setup\nCREATE SCHEMA {x};\nCALL harness.begin();"
    yield from s.before
    if s.witness:
        yield f"CREATE TABLE {x}.witness (rid int, name text);"
    for table in s.tables:
        yield from table.create()
    for table in s.tables:
        rows = ", ".join(map(literal, table.inserts()))
        if rows:
            yield f"CALL harness.fill(ARRAY[{rows}]);"
    if s.late:
        yield f"CALL harness.fill(ARRAY[{', '.join(map(literal, s.late))}]);"
    yield from s.triggers
    yield f"SELECT FROM public.bloom_merges_create({audit}) \\g /dev/null"
    yield f"\\echo @dump 0\nSELECT harness.dump({literal(s.name)}, '0');"
    for n in range(1, s.merges + 1):
        was = str(n - 1)
        keep = ", row_number() OVER (PARTITION BY q.cluster ORDER BY q.h) = 1 AS keep" if s.decided else ""
        yield f"\\echo @clusters {n}"
        yield (f"CREATE TABLE {x}.clusters{n} AS SELECT q.cluster, q.key{keep} FROM (SELECT h % 3 AS cluster, k AS key, h FROM (SELECT {quoted(s.key.name)} AS k, "
               f"abs(hashtext({quoted(s.key.name)}::text || '{s.salt} {n}')::bigint) AS h FROM {s.subject.sql()}) AS p WHERE h / 7 % 10 < 7) AS q;")
        yield f"SELECT jsonb_build_object('cluster', cluster::text, 'key', key::text) FROM {x}.clusters{n};"
        yield from (setting + ";" for setting in s.settings_merge)
        yield f"\\echo @plan {n}\nCREATE TEMP TABLE plan_{n} AS SELECT * FROM public.bloom_merge_plan({calls(s, n)});"
        yield f"SELECT to_jsonb(p) FROM plan_{n} AS p WHERE p.action <> 'value';"
        yield f"\\echo @map {n}\nCALL harness.map('{was}', {literal(s.key.name)}, {domains}, {literal(s.subject.name)}, 'pg_temp.plan_{n}');"
        yield f"\\echo @brute {n}\nSELECT harness.collisions({literal(s.name)}, '{was}', {literal(s.subject.name)}, {literal(s.key.name)}, {literal(referring)});"
        yield f"SELECT COALESCE(max(entry), 0) AS entry FROM {x}.merges \\gset"
        yield f"\\echo @merge {n}\nSELECT to_jsonb(m) FROM public.bloom_merge({calls(s, n)}, on_collision => {literal(s.on_collision)}, audit => {audit}) AS m;"
        yield f"\\echo @audit {n}\nSELECT jsonb_build_object('id', m.id, 'action', m.action, 'relation', c.relname, 'key', m.key, 'old', m.old) FROM {x}.merges AS m JOIN pg_catalog.pg_class AS c ON c.oid = m.relation WHERE m.entry > :entry ORDER BY m.entry;"
        yield f"\\echo @needless {n}\nSELECT harness.needless({literal(s.name)}, '{was}', {literal(referring)}, harness.dropped({literal(s.name)}, :entry));"
        yield f"\\echo @dump {n}\nSELECT harness.dump({literal(s.name)}, '{n}');"
        yield from (f"RESET {setting.split()[1]};" for setting in s.settings_merge)
    yield "\\echo @unmerge"
    yield from (f"ALTER TABLE {t.sql()} DISABLE TRIGGER USER;" for t in s.tables)
    yield from (setting + ";" for setting in s.settings_unmerge)
    undo = f"SELECT format('SELECT ''@undo '' || %s AS id', m.id), format('SELECT public.bloom_unmerge(%s, %L) AS restored', m.id, {audit}) FROM {x}.merges AS m WHERE m.action = 'keep' AND m.unmerged IS NULL ORDER BY"
    yield f"{undo} pg_catalog.md5(m.id::pg_catalog.text || '{s.salt}') \\gexec"
    yield f"\\echo @last\n{undo} m.id DESC \\gexec"
    yield f"RESET ALL;\n\\echo @dump end\nSELECT harness.dump({literal(s.name)}, 'end');"
    yield f"\\echo @end\nSET client_min_messages = error;\nDROP SCHEMA {x} CASCADE;\nDROP SCHEMA IF EXISTS {quoted(s.name + '_other')} CASCADE;"
