"""Kinds of indexes and constraints that do not take two rows alike, of generated columns, and of partitions."""

from kinds import kind
from model import Column, Reference, Table, literal, quoted
from tables import child, column_name, plain, refer
from values import few, number, of


def numeric(s):
    return s.key.type in ("int", "bigint", "smallint", "numeric")


def scaled(s, column, factor=10):
    """An expression of the reference that is another value."""
    return f"({quoted(column.name)} * {factor})" if numeric(s) else f"({quoted(column.name)}::text || 'k')" if s.key.type != "date" else f"({quoted(column.name)} + {factor})"


def generated(s, rng, table, column):
    """A stored column that follows the reference."""
    type = {"smallint": "int"}.get(s.key.type, s.key.type) if numeric(s) or s.key.type == "date" else "text"
    expression = scaled(s, column)
    made = Column(column_name(s, rng, table, "made"), type, computed=True, tail=f"GENERATED ALWAYS AS {expression} STORED")
    table.columns.append(made)
    return made


def middle(s, column_type=None):
    """A value among the keys, to compare with."""
    return {"text": "'k4'", "uuid": "'00000000-0000-0000-0000-000000000004'", "date": "'2024-01-04'"}.get(s.key.type, "4")


def unique(s, rng, deferrable=False):
    table = child(s, rng, "mail", "a_mail", "z_mail", count=10)
    table.key = ["rid"]
    return table, refer(s, rng, table), plain(s, rng, table, "kind", values=few("A", "a", "b"))


@kind("unique index", 3)
def unique_index(s, rng):
    table, person, other = unique(s, rng)
    p, k = quoted(person.name), quoted(other.name)
    table.after.append(rng.choice([
        f"CREATE UNIQUE INDEX ON {{t}} ({p}, {k})",
        f"CREATE UNIQUE INDEX ON {{t}} ({p}, lower({k}))",
        f"CREATE UNIQUE INDEX ON {{t}} ({p}, {k}) NULLS NOT DISTINCT",
        f"CREATE UNIQUE INDEX ON {{t}} ({p}) WHERE {k} <> 'b'",
        f"CREATE UNIQUE INDEX ON {{t}} ({k}) WHERE {p} = {middle(s)}",
        f"CREATE UNIQUE INDEX ON {{t}} ({k}, ({p}::text || 'x'))" if s.key.type != "date" else f"CREATE UNIQUE INDEX ON {{t}} ({k}, ({p} + 1))",
        f"CREATE UNIQUE INDEX ON {{t}} ({p}) INCLUDE ({k})",
        f"ALTER TABLE {{t}} ADD UNIQUE ({p}, {k}) DEFERRABLE INITIALLY DEFERRED",
        f"ALTER TABLE {{t}} ADD UNIQUE ({p}, {k}) DEFERRABLE",
    ]))


@kind("two indexes", 2)
def two_indexes(s, rng):
    table, person, other = unique(s, rng)
    third = plain(s, rng, table, "third")
    for column in (other, third):
        table.after.append(f"CREATE UNIQUE INDEX ON {{t}} ({quoted(person.name)}, {quoted(column.name)})")


@kind("exclusion", 2)
def exclusion(s, rng):
    table, person, other = unique(s, rng)
    span = plain(s, rng, table, "span", "int4range", of(["[1,5)", "[4,9)", "[8,12)", "empty"]))
    p, k = quoted(person.name), quoted(other.name)
    ways = [f"EXCLUDE USING btree ({p} WITH =, {k} WITH =)", f"EXCLUDE USING btree ({p} WITH =) WHERE ({k} = 'A')", f"EXCLUDE USING btree ({p} WITH =, {k} WITH =) DEFERRABLE INITIALLY DEFERRED"]
    if s.key.type in ("int", "smallint"):
        ways += [f"EXCLUDE USING gist ({quoted(span.name)} WITH &&, int4range({p}, {p}, '[]') WITH =)"] * 3
    table.after.append("ALTER TABLE {t} ADD " + rng.choice(ways))


@kind("generated", 5)
def of_generated(s, rng):
    table, person, other = unique(s, rng)
    made = generated(s, rng, table, person)
    g, p, k = quoted(made.name), quoted(person.name), quoted(other.name)
    limit = {"text": "'k4k'", "uuid": "'00000000-0000-0000-0000-000000000004k'", "date": "'2024-01-14'"}.get(s.key.type, "40")
    table.after.append(rng.choice([
        f"CREATE UNIQUE INDEX ON {{t}} ({g})",
        f"CREATE UNIQUE INDEX ON {{t}} ({g}, {k})",
        f"CREATE UNIQUE INDEX ON {{t}} ({p}) WHERE {g} > {limit}",
        f"CREATE UNIQUE INDEX ON {{t}} ({p}, {k}) WHERE {g} <= {limit}",
        f"CREATE UNIQUE INDEX ON {{t}} ({k}) WHERE {g} > {limit}",
        f"ALTER TABLE {{t}} ADD EXCLUDE USING btree ({g} WITH =, {k} WITH =)",
    ]))


@kind("generated key", 1)
def generated_key(s, rng):
    """What follows the reference is in the primary key."""
    table, person, other = unique(s, rng)
    made = generated(s, rng, table, person)
    table.references[0].nulls = 0
    table.key = [made.name, other.name]


@kind("generated of record", 2)
def generated_of_record(s, rng):
    subject = s.subject
    name = subject.column("name")
    subject.columns.append(Column("shout", "text", computed=True, tail=f"GENERATED ALWAYS AS (upper({quoted(name.name)})) STORED"))


@kind("identity", 2)
def identity(s, rng):
    always = rng.choice(["ALWAYS", "BY DEFAULT"])
    for table in rng.sample(s.tables, min(2, len(s.tables))):
        if not table.partition_by:
            table.columns.append(Column("counted", "int", lambda rng, i: str(i + 50), tail=f"GENERATED {always} AS IDENTITY"))


def partitions(s, rng, table, column, keyed):
    """Splits a table by a column, with a default partition where that can be."""
    p = quoted(column.name)
    ways = ["HASH", "LIST"] if keyed else ["HASH", "LIST", "RANGE"]
    way = rng.choice(ways)
    table.partition_by = f"PARTITION BY {way} ({p})"
    name = lambda i: f"{table.name}_p{i}"
    sql = lambda i: f"{quoted(table.schema)}.{quoted(name(i))}"
    if way == "HASH":
        modulus = rng.choice([1, 2, 3])
        for i in range(modulus):
            table.after.append(f"CREATE TABLE {sql(i)} PARTITION OF {{t}} FOR VALUES WITH (MODULUS {modulus}, REMAINDER {i})")
        return [sql(i) for i in range(modulus)]
    values = {"text": "'k2', 'k3'", "uuid": "'00000000-0000-0000-0000-000000000002', '00000000-0000-0000-0000-000000000003'", "date": "'2024-01-02', '2024-01-03'"}.get(s.key.type, "2, 3")
    if column.name != s.key.name and not column.domain:
        values = {"text": "'A', 'x'"}.get(column.type, "2, 3")
    if way == "LIST":
        bound = f"IN ({values})"
    else:
        bound = f"FROM ({values.split(', ')[0]}) TO (MAXVALUE)"
    table.after.append(f"CREATE TABLE {sql(0)} PARTITION OF {{t}} FOR VALUES {bound}")
    if rng.random() < 0.4 and not any(c.computed for c in table.columns):
        # The columns of a partition may come in another order.
        columns = list(table.columns)
        rng.shuffle(columns)
        listed = ", ".join(f"{quoted(c.name)} {c.type} {'NOT NULL' if c.name in table.key or 'NOT NULL' in c.tail else ''}" for c in columns)
        table.after.append(f"CREATE TABLE {sql(1)} (gone int, {listed})")
        table.after.append(f"ALTER TABLE {sql(1)} DROP gone")
        table.after.append(f"ALTER TABLE {{t}} ATTACH PARTITION {sql(1)} DEFAULT")
    else:
        table.after.append(f"CREATE TABLE {sql(1)} PARTITION OF {{t}} DEFAULT")
    return [sql(0), sql(1)]


@kind("partitioned", 3)
def partitioned(s, rng, by_person=False):
    table = child(s, rng, "part", "a_part", "z_part", count=10)
    person, other = refer(s, rng, table, nulls=0), plain(s, rng, table, "kind", values=few("A", "a", "x"))
    if by_person:
        table.key = [person.name, "rid"]
        column = person
    else:
        column = rng.choice([other, table.column("rid")])
        table.key = rng.choice([["rid", other.name], [other.name, person.name]]) if column is other else ["rid"]
    parts = partitions(s, rng, table, column, False)
    if rng.random() < 0.6:
        # A unique index of one partition alone.
        listed = rng.choice([quoted(person.name), f"{quoted(person.name)}, {quoted(other.name)}"])
        table.after.append(f"CREATE UNIQUE INDEX ON {rng.choice(parts)} ({listed})")


@kind("partitioned by reference", 2)
def partitioned_by_reference(s, rng):
    partitioned(s, rng, True)


@kind("index of heir", 1)
def index_of_heir(s, rng):
    heirs = [t for t in s.tables if hasattr(t, "inherit")]
    if not heirs:
        return False
    column = heirs[0].references[0].columns[0]
    heirs[0].after.append(f"CREATE UNIQUE INDEX ON {{t}} ({quoted(column)})")


@kind("dropped column", 1)
def dropped_column(s, rng):
    table = rng.choice(s.tables)
    if table.partition_by or any(getattr(other, "inherit", None) is table for other in s.tables):
        return False
    table.after.insert(0, "ALTER TABLE {t} ADD dropped_one int, ADD kept_one int DEFAULT 7")
    table.after.insert(1, "ALTER TABLE {t} DROP dropped_one")


@kind("partitioned records", 2)
def partitioned_records(s, rng):
    subject = s.subject
    if subject.partition_by or any("UNIQUE" in a or "INDEX" in a for a in subject.after):
        return False
    subject.after = [a for a in subject.after if "dropped_one" not in a]
    for table in s.tables:
        if any(r.table is subject and subject is table for r in table.references) and s.key.type == "uuid":
            return False
    partitions(s, rng, subject, s.key, True)
