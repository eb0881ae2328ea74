"""What a random schema is made of, and how it is written as SQL."""

from dataclasses import dataclass, field


def quoted(name):
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text):
    """A text as SQL writes it."""
    if text is None:
        return "NULL"
    return ("E'" if "\\" in text else "'") + text.replace("\\", "\\\\").replace("'", "''") + "'"


@dataclass
class Column:
    """`values(rng, i)` gives the SQL of a value. `domain` is the column of the records whose values it has."""

    name: str
    type: str
    values: object = None
    domain: str = None
    tail: str = ""
    computed: bool = False


@dataclass
class Reference:
    columns: list
    table: object
    referenced: list
    on_delete: str = "NO ACTION"
    on_update: str = "NO ACTION"
    match: str = ""
    deferring: str = ""
    valid: bool = True
    nulls: float = 0.15

    def sql(self):
        listed = [", ".join(map(quoted, names)) for names in (self.columns, self.referenced)]
        valid = "" if self.valid else " NOT VALID"
        return (
            f"FOREIGN KEY ({listed[0]}) REFERENCES {self.table.sql()} ({listed[1]}) {self.match} "
            f"ON DELETE {self.on_delete} ON UPDATE {self.on_update} {self.deferring}{valid}"
        )


@dataclass
class Table:
    schema: str
    name: str
    columns: list = field(default_factory=list)
    key: list = field(default_factory=list)
    references: list = field(default_factory=list)
    partition_by: str = ""
    # Statements after CREATE TABLE, with "{t}" for its name.
    after: list = field(default_factory=list)
    # Statements after its rows.
    late: list = field(default_factory=list)
    rows: list = field(default_factory=list)
    count: int = 8
    # Columns that triggers write, whose values nothing can bring back.
    touched: set = field(default_factory=set)
    # Triggers add rows.
    grows: bool = False

    def sql(self):
        return f"{quoted(self.schema)}.{quoted(self.name)}"

    def column(self, name):
        return next(c for c in self.columns if c.name == name)

    def has(self, name):
        return any(c.name == name for c in self.columns)

    def referring(self):
        return {c.name: c.domain for c in self.columns if c.domain}

    def create(self):
        if hasattr(self, "inherit"):
            own = {c.name for c in self.columns}
            self.columns += [c for c in self.inherit.columns if c.name not in own]
        parts = [f"{quoted(c.name)} {c.type} {c.tail}".strip() for c in self.columns]
        if self.key:
            parts.append("PRIMARY KEY (" + ", ".join(map(quoted, self.key)) + ")")
        yield f"CREATE TABLE {self.sql()} ({', '.join(parts)}) {self.partition_by};".replace(") ;", ");")
        for statement in self.after:
            yield statement.replace("{t}", self.sql()) + ";"
        for reference in self.references:
            yield f"ALTER TABLE {self.sql()} ADD {reference.sql()};"

    def fill(self, rng):
        """Makes its rows. What they refer to has its rows already."""
        for i in range(self.count):
            row = {}
            for reference in sorted(self.references, key=lambda r: -len(r.columns)):
                if reference.table is self or all(c in row for c in reference.columns):
                    continue
                rows = reference.table.rows
                chosen = rng.choice(rows) if rows else {}
                known = [c for c in reference.columns if c in row]
                if known:
                    pairs = list(zip(reference.columns, reference.referenced))
                    like = [r for r in rows if all(r.get(p) == row[c] for c, p in pairs if c in row)]
                    chosen = rng.choice(like) if like else {}
                null = rng.random() < reference.nulls
                for child, parent in zip(reference.columns, reference.referenced):
                    is_key = child in self.key or "NOT NULL" in self.column(child).tail
                    if child not in row:
                        row[child] = None if null and not is_key else chosen.get(parent)
            for column in self.columns:
                if column.name not in row and not column.computed and column.values:
                    row[column.name] = column.values(rng, i)
            self.rows.append(row)

    def inserts(self):
        for row in self.rows:
            names = ", ".join(map(quoted, row))
            values = ", ".join("NULL" if v is None else v for v in row.values())
            yield f"INSERT INTO {self.sql()} ({names}) OVERRIDING SYSTEM VALUE VALUES ({values})"


@dataclass
class Schema:
    seed: int
    name: str
    rng: object
    subject: Table = None
    key: Column = None
    tables: list = field(default_factory=list)
    # Before the tables: types, functions, other schemas.
    before: list = field(default_factory=list)
    # After all tables have their rows: triggers.
    triggers: list = field(default_factory=list)
    settings_merge: list = field(default_factory=list)
    settings_unmerge: list = field(default_factory=list)
    redirect: list = field(default_factory=list)
    kinds: list = field(default_factory=list)
    odd_names: bool = False
    # Triggers keep rows back, or raise errors: such refusals are no failures.
    keeps_back: bool = False
    raises: bool = False
    capabilities: frozenset = frozenset()

    def prefix(self):
        return quoted(self.name)

    def children(self):
        return [t for t in self.tables if t is not self.subject]

    def direct(self):
        """Tables with a reference to the records by one column, not the records' own."""
        return [t for t in self.children() if any(len(r.columns) == 1 and r.table is self.subject for r in t.references)]

    def table_name(self, rng, *plain):
        used = {t.name for t in self.tables}
        pool = list(plain) if not self.odd_names else [p + o for p in plain for o in (" s", 'q"', "Up", "é", "it's")]
        free = [p for p in pool if p not in used]
        name = rng.choice(free) if free else f"{plain[0]}{len(used)}"
        return name
