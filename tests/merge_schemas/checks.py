"""What must be true of a merge and of what is taken back, from what was in the tables: nothing here knows how it is done."""

import re

import output


class Failure:
    """`check` names what was found wrong; `where` is the merge."""

    def __init__(self, check, where, text):
        self.check, self.where, self.text = check, where, text

    def __str__(self):
        return f"{self.check}, merge {self.where}: {self.text}"


class Moment:
    """The rows of all tables at a moment."""

    def __init__(self, text):
        self.tables = {}
        self.twice = []
        for line in output.objects(text):
            rows = self.tables.setdefault(line["table"], {})
            if line["rid"] in rows:
                self.twice.append((line["table"], line["rid"]))
            rows[line["rid"]] = dict(line["row"], **{"its partition": line["leaf"]})

    def rows(self, table):
        return self.tables.get(table.name, {})


def judge(schema, text):
    """All failures of a run."""
    found = output.sections(text)
    by_name = dict(found)
    failures = []
    setup = [e for n, t in found if n in ("setup", "dump 0") or n.split()[0] in ("clusters", "brute", "needless", "map", "end") for e in output.errors(t)]
    known = [e for n, t in found if n.startswith("map") for e in output.errors(t)]
    for error in setup:
        if error not in known and not any(str(error) == str(k) for k in known):
            failures.append(Failure("generator", "-", str(error)))
    if "end" not in by_name:
        failures.append(Failure("crash", "-", text[-600:]))
        return failures
    if failures:
        return failures
    state = Moment(by_name["dump 0"])
    untouched = state
    merged = False
    for n in range(1, schema.merges + 1):
        after = Moment(by_name[f"dump {n}"])
        done = Merge(schema, n, by_name, state, after)
        failures += done.failures()
        merged |= done.done
        state = after
    if merged:
        failures += undone(schema, found, untouched, Moment(by_name["dump end"]))
    return failures


class Merge:
    """One statement of a merge."""

    def __init__(self, schema, n, by_name, before, after):
        self.schema, self.n, self.before, self.after = schema, n, before, after
        get = lambda name: by_name.get(f"{name} {n}", "")
        self.plan, self.plan_errors = output.objects(get("plan")), output.errors(get("plan"))
        self.results, self.errors = output.objects(get("merge")), output.errors(get("merge"))
        self.audit = output.objects(get("audit"))
        brute = output.objects(get("brute"))
        self.brute = brute[0] if brute else None
        needless = output.objects(get("needless"))
        self.needless = needless[0] if needless else {}
        self.members = {}
        for row in output.objects(get("clusters")):
            self.members.setdefault(row["cluster"], []).append(row["key"])
        self.done = not self.errors
        self.found = []

    def fail(self, check, text):
        self.found.append(Failure(check, self.n, text))

    def failures(self):
        for error in self.plan_errors:
            if not error.is_own():
                self.fail("raw error of the plan", str(error))
        if self.errors:
            self.refused(self.errors[0])
        else:
            self.compare()
        self.collisions()
        return self.found

    def stops(self):
        return [r for r in self.plan if r["action"] == "stop"]

    def refused(self, error):
        if error.is_of_trigger():
            if not (self.schema.raises or error.code == "23503"):
                self.fail("error of a trigger", str(error))
            return
        if not error.is_own():
            self.fail("raw error", str(error))
            return
        if self.plan_errors or self.stops() or self.schema.keeps_back and any(x in error.message for x in ("not all rows", "however often", "cannot be redirected")):
            return
        # What a rule of values makes of a record that is kept may be like another record.
        if 'of table "person" cannot be changed' in error.message:
            return
        if "would collide" in error.message and self.schema.on_collision == "error" and any(r["action"] == "collision" for r in self.plan):
            return
        self.fail("refused without a stop in the plan", str(error))

    def collisions(self):
        """Whether rows collide was tried out before."""
        if self.plan_errors or self.stops() or self.brute is None or self.brute["failed"]:
            return
        planned = {r["relation"] for r in self.plan if r["action"] == "collision"}
        refused = self.brute["refused"]
        if planned and not refused:
            self.fail("planned collision that is none", f"{planned}")
        if refused and not planned:
            self.fail("collision that is not planned", f"{refused}")
        for table, rids in self.needless.items():
            if rids and self.done:
                dropped = sum(e["action"] == "drop" for e in self.audit)
                # A row that is like one that is dropped itself.
                self.fail("dropped without need" if dropped == 1 or not refused.get(table) else "dropped because of a dropped one", f"{table}: {rids}, tried out: {refused}")

    def mapped(self):
        """Of each domain, the values that become others; and the keys that go."""
        subject, key = self.schema.subject, self.schema.key.name
        by_key = {row[key]: row for row in self.before.rows(subject).values()}
        kept = {r["cluster"]: r["key"] for r in self.results}
        losers = {k: kept[c] for c, members in self.members.items() if c in kept for k in members if k != kept[c]}
        domains = {c.domain for t in self.schema.tables for c in t.columns if c.domain} | {key}
        maps = {d: {by_key[l][d]: by_key[k][d] for l, k in losers.items() if by_key[l][d] is not None} for d in domains}
        return maps, losers, set(kept.values())

    def compare(self):
        maps, losers, kept = self.mapped()
        schema = self.schema
        expected = sum(len(m) > 1 for m in self.members.values())
        if expected != len(self.results):
            self.fail("clusters", f"{expected} of several records, {len(self.results)} results")
        written = {}
        for entry in self.audit:
            if entry["action"] in ("drop", "delete"):
                # A partition's name begins with that of its table.
                written.setdefault((entry["action"], (entry["old"] or {}).get("rid")), []).append(entry)
        for table in schema.tables:
            referring = table.referring()
            after = self.after.rows(table)
            for rid, row in self.before.rows(table).items():
                is_loser = table is schema.subject and row[schema.key.name] in losers
                now = after.get(rid)
                if is_loser and now is not None:
                    self.fail("not deleted", f"{table.name} {rid}")
                elif now is None:
                    entries = [e for e in written.get(("delete" if is_loser else "drop", rid), []) if e["relation"].startswith(table.name) or table.name.startswith(e["relation"])]
                    if not entries:
                        self.fail("lost", f"{table.name} {row}")
                    else:
                        self.content(table, row, entries[0]["old"], referring, maps)
                else:
                    self.row(table, row, now, referring, maps, kept)
            for rid in after.keys() - self.before.rows(table).keys():
                if not table.grows and table.name != "witness":
                    self.fail("row from nowhere", f"{table.name} {after[rid]}")
            for rid, row in after.items():
                for column, domain in referring.items():
                    if row[column] in maps[domain] and row[column] != maps[domain][row[column]] and not any(not r.valid for r in table.references):
                        self.fail("reference to a record that went", f"{table.name} {rid}: {column} = {row[column]}")
        for rid, row in self.after.tables.get("witness", {}).items():
            rows = self.after.tables.get(row["name"], {})
            if rid not in rows and not written.get(("drop", rid)):
                self.fail("lost row of a trigger", f"{row['name']} {rid}")
        self.foreign_keys()

    def content(self, table, row, old, referring, maps):
        """The row as it was is in the table of merges."""
        for column in table.columns:
            if column.computed or column.name in table.touched:
                continue
            value, was = old.get(column.name), row[column.name]
            if column.name in referring and value in (was, maps[referring[column.name]].get(was)):
                continue
            if column.type == "regproc" and value:
                # It is written with its arguments.
                value = value.partition("(")[0]
            if value != was:
                self.fail("wrong in the table of merges", f"{table.name}.{column.name}: {value!r}, was {was!r}")

    def row(self, table, was, now, referring, maps, kept):
        is_kept = table is self.schema.subject and was[self.schema.key.name] in kept
        for column in table.columns:
            name = column.name
            if column.computed or name in table.touched or name in ("updated_at", "changes"):
                continue
            expected = was[name]
            # The rules decide its values, references among them.
            if is_kept:
                continue
            if name in referring:
                expected = maps[referring[name]].get(expected, expected)
            if now[name] != expected:
                self.fail("wrong reference" if name in referring else "changed", f"{table.name} {was['rid']}: {name} = {now[name]!r}, not {expected!r}")

    def foreign_keys(self):
        for table in self.schema.tables:
            for reference in table.references:
                def tuples(moment):
                    return {tuple(r[c] for c in reference.referenced) for r in moment.rows(reference.table).values()}

                have, had = tuples(self.after), tuples(self.before)
                for rid, row in self.after.rows(table).items():
                    value = tuple(row[c] for c in reference.columns)
                    was = self.before.rows(table).get(rid)
                    if None in value or was and tuple(was[c] for c in reference.columns) not in had:
                        continue
                    if value not in have:
                        self.fail("foreign key", f"{table.name} {rid}: {reference.columns} = {value}")


def undone(schema, found, before, after):
    failures = []
    last, pending = False, "-"
    for name, text in found:
        if name == "last":
            last = True
        if name.startswith("undo "):
            pending = name.split()[1]
        for error in output.errors(text) if name.startswith("undo ") or name == "last" else []:
            if not error.is_own():
                if not error.is_of_trigger():
                    failures.append(Failure("raw error when taken back" if last else "raw error when taken back early", pending, str(error)))
            elif last:
                failures.append(Failure("not taken back", pending, str(error)))
            elif not re.search(r"[Mm]erge \d", error.detail + error.hint):
                failures.append(Failure("order without a number", pending, str(error)))
    if any(f.check.endswith("taken back") for f in failures):
        return failures
    for table in schema.tables:
        rows, now = before.rows(table), after.rows(table)
        for rid in rows.keys() | now.keys():
            if rid not in now:
                failures.append(Failure("not back", "all", f"{table.name} {rows[rid]}"))
            elif rid not in rows:
                if not table.grows:
                    failures.append(Failure("too much is back", "all", f"{table.name} {now[rid]}"))
            else:
                other = {c: (now[rid].get(c), v) for c, v in rows[rid].items() if now[rid].get(c) != v and c not in table.touched}
                for column, (value, was) in other.items():
                    failures.append(Failure("not the same", "all", f"{table.name} {rid}: {column} = {value!r}, was {was!r}"))
    return failures
