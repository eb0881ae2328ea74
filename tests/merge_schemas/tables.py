"""Kinds of tables that refer to the records, and of references."""

from kinds import kind
from model import Column, Reference, Table, literal, quoted
from values import few, number, of

ACTIONS = ["NO ACTION", "RESTRICT", "CASCADE", "SET NULL", "SET DEFAULT"]
DEFERRING = ["", "DEFERRABLE", "DEFERRABLE INITIALLY DEFERRED"]


def child(s, rng, *names, count=8):
    """A table with row numbers, not yet with references."""
    table = Table(s.name, s.table_name(rng, *names), count=count)
    table.columns.append(Column("rid", "int", number, tail="NOT NULL"))
    s.tables.append(table)
    return table


def column_name(s, rng, table, plain):
    odd = ["bloom_merge_row", "bloom_merge_no", "bloom_merge_key", "Per son", 'quo"te', "c", "m", "g0", "no", "key", "old", "select", "o0", "n0", "place", "at", "it's", "ümlaut", "x0", "%s", "$1", "a.b"]
    name = rng.choice(odd) if s.odd_names and rng.random() < 0.7 else plain
    while table.has(name):
        name += "2"
    return name


def refer(s, rng, table, plain="person", to=None, tail="", **options):
    """A column that refers to the records by one column."""
    to = to or s.key
    column = Column(column_name(s, rng, table, plain), to.type, domain=to.name, tail=tail)
    table.columns.append(column)
    reference = Reference([column.name], s.subject, [to.name], **options)
    table.references.append(reference)
    return column


def plain(s, rng, table, name, type="text", values=None, tail=""):
    column = Column(column_name(s, rng, table, name), type, values or few("x", "y", "z"), tail=tail)
    table.columns.append(column)
    return column


@kind("odd names")
def odd_names(s, rng):
    s.odd_names = True


@kind("link", 3)
def link(s, rng):
    table = child(s, rng, "friend", "a_link", "zlink", count=12)
    a, b = refer(s, rng, table, "a", nulls=0), refer(s, rng, table, "b", nulls=0)
    if rng.random() < 0.7:
        table.key = [a.name, b.name]
    else:
        table.key = ["rid"]
        table.after.append(f"CREATE UNIQUE INDEX ON {{t}} ({quoted(a.name)}, {quoted(b.name)})")
    plain(s, rng, table, "note")


@kind("club", 4)
def club(s, rng):
    table = child(s, rng, "member_of", "aa_member", "z_member", count=10)
    person, name = refer(s, rng, table, nulls=0), plain(s, rng, table, "club")
    table.key = [person.name, name.name]
    s.club = (table, person, name)


@kind("grandchild", 3)
def grandchild(s, rng, two_paths=False):
    if not hasattr(s, "club"):
        club(s, rng)
    parent, person, name = s.club
    table = child(s, rng, "g", "a_g", "zz_g")
    own = Column(column_name(s, rng, table, "person"), s.key.type, domain=s.key.name)
    table.columns.append(own)
    other = plain(s, rng, table, "club")
    other.values = None
    table.references.append(Reference([own.name, other.name], parent, [person.name, name.name], on_update=rng.choice(["CASCADE", "CASCADE", "NO ACTION", "RESTRICT", "SET NULL"]),
                                      on_delete=rng.choice(["NO ACTION", "CASCADE", "SET NULL", "RESTRICT"]), deferring=rng.choice(DEFERRING)))
    if two_paths:
        table.references.append(Reference([own.name], s.subject, [s.key.name], on_delete=rng.choice(ACTIONS[:4]), deferring=rng.choice(DEFERRING)))
    table.key = ["rid"]


@kind("two paths", 3)
def two_paths(s, rng):
    grandchild(s, rng, True)


@kind("card", 2)
def card(s, rng):
    table = child(s, rng, "card", "a_card", count=5)
    person = refer(s, rng, table, nulls=0)
    table.key = [person.name]
    plain(s, rng, table, "note")
    s.card = (table, person)


@kind("card of card", 2)
def card_of_card(s, rng):
    if not hasattr(s, "card"):
        card(s, rng)
    parent, person = s.card
    table = child(s, rng, "stamp", "a_stamp")
    own = Column(column_name(s, rng, table, "card"), s.key.type, domain=s.key.name)
    table.columns.append(own)
    table.references.append(Reference([own.name], parent, [person.name], on_update=rng.choice(ACTIONS), on_delete=rng.choice(ACTIONS[:4]), deferring=rng.choice(DEFERRING)))
    table.key = ["rid"] if rng.random() < 0.7 else [own.name]


@kind("row of child", 2)
def row_of_child(s, rng):
    """A third table refers to the rows of a child, by what is not redirected."""
    parent = rng.choice(s.direct())
    if parent.partition_by:
        return False
    if parent.key != ["rid"]:
        parent.after.append("ALTER TABLE {t} ADD UNIQUE (rid)")
    table = child(s, rng, "item", "a_item")
    column = Column(column_name(s, rng, table, "of"), "int")
    table.columns.append(column)
    table.references.append(Reference([column.name], parent, ["rid"], on_delete=rng.choice(ACTIONS[:4]), deferring=rng.choice(DEFERRING)))
    table.key = ["rid"]


@kind("self", 3)
def self_reference(s, rng, unique=False):
    subject = s.subject
    column = Column(column_name(s, rng, subject, "parent"), s.key.type, domain=s.key.name)
    subject.columns.append(column)
    reference = Reference([column.name], subject, [s.key.name], on_delete=rng.choice(ACTIONS[:4]), deferring=rng.choice(DEFERRING))
    subject.references.append(reference)
    if unique:
        name = plain(s, rng, subject, "role", values=few("boss", "aide", "x"))
        subject.after.append(f"CREATE UNIQUE INDEX ON {{t}} ({quoted(column.name)}, {quoted(name.name)})")

    def late(rng):
        for row in subject.rows:
            if rng.random() < 0.5:
                to = rng.choice(subject.rows)
                yield f"UPDATE {subject.sql()} SET {quoted(column.name)} = {to[s.key.name]} WHERE {quoted(s.key.name)} = {row[s.key.name]}"

    subject.late.append(late)


@kind("self unique", 2)
def self_unique(s, rng):
    self_reference(s, rng, True)


@kind("by code", 3)
def by_code(s, rng):
    subject = s.subject
    if subject.partition_by:
        return False
    code = Column(column_name(s, rng, subject, "code"), "text", lambda rng, i: None if rng.random() < 0.2 else f"'c{i}'", domain=None)
    subject.columns.append(code)
    subject.after.append(f"ALTER TABLE {{t}} ADD UNIQUE ({quoted(code.name)})")
    table = child(s, rng, "badge", "a_badge", "z_badge")
    column = refer(s, rng, table, "code", to=code, on_delete=rng.choice(ACTIONS[:4]), on_update=rng.choice(ACTIONS[:3]))
    table.key = ["rid"] if rng.random() < 0.6 else [column.name]


@kind("composite", 3)
def composite(s, rng):
    subject = s.subject
    tenant = subject.column("tenant") if subject.has("tenant") else None
    if not tenant:
        if subject.partition_by:
            return False
        tenant = Column("tenant", "int", few("1"), tail="NOT NULL")
        subject.columns.append(tenant)
    subject.after.append(f"ALTER TABLE {{t}} ADD UNIQUE ({quoted('tenant')}, {quoted(s.key.name)})")
    table = child(s, rng, "booking", "a_booking")
    table.columns.append(Column("tenant", "int"))
    person = Column(column_name(s, rng, table, "person"), s.key.type, domain=s.key.name)
    table.columns.append(person)
    columns, referenced = ["tenant", person.name], ["tenant", s.key.name]
    if rng.random() < 0.3:
        columns.reverse()
        referenced.reverse()
    delete = rng.choice(ACTIONS[:4] + [f"SET NULL ({quoted(person.name)})", f"SET DEFAULT ({quoted(person.name)})"])
    table.references.append(Reference(columns, subject, referenced, match=rng.choice(["", "MATCH FULL"]), on_delete=delete, deferring=rng.choice(DEFERRING)))
    table.key = ["rid"]


@kind("narrow", 2)
def narrow(s, rng):
    narrower = {"bigint": ["int", "smallint"], "int": ["smallint", "bigint"], "text": ["varchar(12)"], "numeric": ["numeric(6)"]}.get(s.key.type)
    if not narrower:
        return False
    table = child(s, rng, "slim", "a_slim")
    column = refer(s, rng, table)
    column.type = rng.choice(narrower)
    table.key = ["rid"]
    if rng.random() < 0.5:
        name = plain(s, rng, table, "kind")
        table.after.append(f"CREATE UNIQUE INDEX ON {{t}} ({quoted(column.name)}, {quoted(name.name)})")


@kind("named", 2)
def named(s, rng):
    """No foreign key: the caller names the column."""
    table = child(s, rng, "log", "a_note")
    name = s.table_name(rng, "subject")
    column = Column("subject", rng.choice(["text", s.key.type]), domain=s.key.name)
    table.columns.append(column)
    column.values = lambda rng, i: None if rng.random() < 0.2 else rng.choice(s.subject.rows)[s.key.name] + ("::text" if column.type == "text" else "")
    table.key = ["rid"]
    s.redirect.append(f"{quoted(s.name)}.{quoted(table.name)}.subject")
    if rng.random() < 0.4:
        table.after.append("CREATE UNIQUE INDEX ON {t} (subject, (rid % 3))")


@kind("not valid", 1)
def not_valid(s, rng):
    table = child(s, rng, "old_note")
    column = refer(s, rng, table, nulls=0)
    reference = table.references.pop()
    reference.valid = False
    inner = "ALTER TABLE {t} ADD " + reference.sql()
    column.values = lambda rng, i: rng.choice(s.subject.rows)[s.key.name] if i else {"text": "'nobody'", "uuid": "'ffffffff-0000-0000-0000-000000000000'", "date": "'1900-01-01'"}.get(s.key.type, "999")
    table.late.append(lambda rng: [inner.replace("{t}", table.sql())])
    s.late_references = getattr(s, "late_references", []) + [(table, reference)]
    table.key = ["rid"]


@kind("twice", 1)
def twice(s, rng):
    """Two constraints that say the same, with other actions."""
    table = rng.choice(s.direct())
    reference = next(r for r in table.references if len(r.columns) == 1 and r.table is s.subject)
    table.references.append(Reference(reference.columns, reference.table, reference.referenced, on_delete=rng.choice(ACTIONS[:4]), deferring=rng.choice(DEFERRING)))


@kind("no key", 0.5)
def no_key(s, rng):
    table = child(s, rng, "heap")
    refer(s, rng, table)


@kind("actions", 5)
def actions(s, rng):
    for table in s.tables:
        for reference in table.references:
            if reference.table is s.subject and reference.on_delete == "NO ACTION":
                reference.on_delete, reference.on_update = rng.choice(ACTIONS), rng.choice(ACTIONS)


@kind("deferring", 4)
def deferring(s, rng):
    for table in s.tables:
        for reference in table.references:
            reference.deferring = rng.choice(DEFERRING)


@kind("inheritance", 1)
def inheritance(s, rng):
    """Rows of a table that inherits have a foreign key of their own."""
    candidates = [t for t in s.direct() if not t.partition_by and t.key == ["rid"] and len(t.references) == 1]
    if not candidates:
        return False
    parent = rng.choice(candidates)
    table = Table(s.name, s.table_name(rng, "heir", "a_heir"))
    table.columns = [Column(c.name, c.type, (lambda rng, i: str(i + 101)) if c.name == "rid" else c.values, c.domain, c.tail, c.computed) for c in parent.columns]
    reference = parent.references[0]
    table.references.append(Reference(reference.columns, reference.table, reference.referenced, on_delete=rng.choice(ACTIONS[:4])))
    table.key = ["rid"]
    table.inherit = parent
    table.late.append(lambda rng: [f"ALTER TABLE {table.sql()} INHERIT {parent.sql()}"])
    s.tables.append(table)
