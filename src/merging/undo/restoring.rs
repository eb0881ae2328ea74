//! What a merge has changed is changed back.

use std::ffi::CString;

use super::restored::RestoredTable;
use super::{parameter, text_of, Redirected, Undo};
use crate::merging::audit::is_about;
use crate::merging::changes::oid;
use crate::merging::texts::{exactly, hash, json, key_is, row, stored, value, values};
use pg::message::{sqlstate, translated, Message};
use pg::session::KeptRows;
use pg::sql::Sql;
use pg::values::text::{in_message, readable};

/// The members of an object that are the primary key.
fn picked(object: &str, names: &[CString]) -> Sql {
    Sql::new("pg_catalog.jsonb_object(ARRAY[")
        .list(names, |sql, name| {
            sql.literal(name)
                .text(&format!(", {object} OPERATOR(pg_catalog.->>) "))
                .literal(name)
        })
        .text("]::pg_catalog.text[])")
}

impl Undo<'_> {
    /// Runs a statement that changes rows back. That they offend a constraint is told as a reason why the merge cannot
    /// be taken back; what triggers of users raise passes as it is.
    ///
    /// Errors: as those of `run`.
    fn told<T>(&self, table: &str, other: i64, run: impl FnOnce() -> T) -> T {
        translated(run, |violation| {
            let [message, detail] = violation.said().map(readable);
            let ours = format!("merge {} cannot be taken back", self.id);
            let detail =
                format!("Rows of table \"{table}\" cannot be changed back: {message}. {detail}");
            let hint = match other {
                0 => "Change or delete what stands in their way, or take later merges back first, if they were the reason.".to_owned(),
                other => format!("Take merge {other} back first."),
            };
            Message::new(sqlstate(b"55000"), in_message(&ours))
                .detail(in_message(&detail))
                .hint(in_message(&hint))
        })
    }

    /// The names of columns that a query gives.
    pub fn names(&self, query: &Sql) -> Vec<CString> {
        let mut names = Vec::new();
        self.session.each(query, &[], |row| {
            names.push(CString::new(text_of(row, 0).unwrap_or_default()).unwrap_or_default());
        });
        names
    }

    /// Gives the record that was kept its values of before.
    pub fn restore_record(&self) {
        let names = self.names(&Sql::new("SELECT k.key FROM bloom_unmerge_kept AS a CROSS JOIN LATERAL pg_catalog.jsonb_each(a.old) AS k \
            WHERE k.value OPERATOR(pg_catalog.<>) (a.new OPERATOR(pg_catalog.->) k.key)"));
        if names.is_empty() {
            return;
        }
        let table = RestoredTable::of(self.subject.oid, self.session);
        let columns = table.columns_named(&names);
        let read = Sql::new("SELECT ")
            .list(columns.iter().enumerate(), |sql, (i, column)| {
                sql.sql(&value("v", column)).text(&format!(" AS x{i}"))
            })
            .text(" FROM bloom_unmerge_kept AS a CROSS JOIN LATERAL ")
            .sql(&values("a.old", "v", &columns));
        let _read = exactly(|| self.session.keep(c"bloom_unmerge_values", &read, &[]));
        let statement = Sql::new("UPDATE ")
            .only(self.subject.oid)
            .text(" AS r SET ")
            .list(names.iter().enumerate(), |sql, (i, name)| {
                sql.name(name).text(&format!(" = v.x{i}"))
            })
            .text(" FROM bloom_unmerge_values AS v, bloom_unmerge_key AS k WHERE ")
            .sql(&self.key_is());
        let changed = self.told(&self.subject.name, 0, || self.session.run(&statement, &[]));
        if changed != 1 {
            self.refuse(
                &format!("Record \"{}\" could not be changed.", self.kept),
                "A trigger, a rule or row-level security keeps it as it is.",
            );
        }
    }

    /// The entries of a kind about a table: `entry`, `old`.
    pub fn rows_of(&self, table: &RestoredTable, action: &str) -> KeptRows<'_> {
        let (from, condition) = self.entries("a", action);
        let query = Sql::new("SELECT a.entry, a.old FROM ")
            .sql(&from)
            .text(" WHERE ")
            .sql(&condition)
            .text(" AND ")
            .sql(&is_about("a", table.oid))
            .text(" ORDER BY a.entry");
        let name = c"bloom_unmerge_entries";
        self.session.keep(name, &query, &parameter(self.id))
    }

    /// Entries about rows that are back, or have their values again, now say how these are.
    pub fn refresh(&self, table: &RestoredTable, action: &str) {
        if table.key.is_empty() {
            return;
        }
        let entries = self.rows_of(table, action);
        let rows = table.rows(self.session, "bloom_unmerge_entries", "old", "entry", false);
        let texts = Sql::new("SELECT s.tag, ")
            .sql(&table.key_text("(s.c)"))
            .text(" AS key, ")
            .sql(&table.own_key("(s.c)"))
            .text(" AS own, ")
            .sql(&hash("s.c"))
            .text(" AS hash FROM bloom_unmerge_rows AS s");
        let texts = exactly(|| self.session.keep(c"bloom_unmerge_texts", &texts, &[]));
        drop((entries, rows));
        // The index on `gone` is small, but only bounds that are known make the server look there first.
        let link = match action {
            "keep" => Sql::new("e.gone IS NULL AND e.relation OPERATOR(pg_catalog.=) ")
                .text(&oid(table.oid))
                .text(" AND e.key OPERATOR(pg_catalog.=) q.key"),
            _ => is_about("e", table.oid).text(
                " AND e.gone OPERATOR(pg_catalog.=) q.tag \
                AND e.gone OPERATOR(pg_catalog.>=) (SELECT pg_catalog.min(x.tag) FROM bloom_unmerge_texts AS x) \
                AND e.gone OPERATOR(pg_catalog.<=) (SELECT pg_catalog.max(x.tag) FROM bloom_unmerge_texts AS x)",
            ),
        };
        let statement = Sql::new("UPDATE ")
            .sql(&self.audit.sql())
            .text(" AS e SET hash = q.hash, key = q.key, gone = NULL, new = e.new OPERATOR(pg_catalog.||) q.own FROM bloom_unmerge_texts AS q \
                WHERE e.action OPERATOR(pg_catalog.=) 'redirect' AND e.unmerged IS NULL AND ")
            .sql(&link);
        self.session.run(&statement, &[]);
        drop(texts);
    }

    /// What the merge has changed of rows of a table, as the table bloom_unmerge_steps: the row by `key`, or by `gone`
    /// if another merge has deleted it; `old` and `made`, the values of columns before and after; `new`, with the row's
    /// primary key; `first`, the first entry. Where an entry of another merge has changed the same columns later,
    /// `heir` is the next such: it then says what they were before.
    fn steps(&self, of: &Redirected) -> KeptRows<'_> {
        let (from, condition) = self.of(of, "e");
        let others = |about: &str| {
            Sql::new("SELECT f.entry, f.id, f.old, f.new FROM ")
                .sql(&self.audit.sql())
                .text(" AS f WHERE f.action OPERATOR(pg_catalog.=) 'redirect' AND f.unmerged IS NULL AND ")
                .text(about)
        };
        let relation = oid(of.table.oid);
        let query = Sql::new("WITH r AS (SELECT DISTINCT e.gone, CASE WHEN e.gone IS NULL THEN e.key END AS key FROM ")
            .sql(&from)
            .text(" WHERE ")
            .sql(&condition)
            .text("), c AS (SELECT r.gone, r.key, f.entry, f.new, f.id OPERATOR(pg_catalog.=) $1 AS mine, k.key AS col, k.value AS old, f.new OPERATOR(pg_catalog.->) k.key AS made, \
                pg_catalog.count(*) FILTER (WHERE f.id OPERATOR(pg_catalog.<>) $1) OVER (PARTITION BY r.gone, r.key, k.key ORDER BY f.entry ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS part \
                FROM r CROSS JOIN LATERAL (")
            .sql(&others(&format!("r.gone IS NULL AND f.gone IS NULL AND f.relation OPERATOR(pg_catalog.=) {relation} AND f.key OPERATOR(pg_catalog.=) r.key")))
            .text(" UNION ALL ")
            .sql(&others("f.gone OPERATOR(pg_catalog.=) r.gone"))
            // Entries of this merge and the next one of another are a part.
            .text(") AS f CROSS JOIN LATERAL pg_catalog.jsonb_each(f.old) AS k), p AS (SELECT c.gone, c.key, c.col, pg_catalog.max(c.entry) FILTER (WHERE NOT c.mine) AS heir, (pg_catalog.array_agg(c.old ORDER BY c.entry))[1] AS old, \
                (pg_catalog.array_agg(c.made ORDER BY c.entry DESC) FILTER (WHERE c.mine))[1] AS made, pg_catalog.min(c.entry) AS first, (pg_catalog.array_agg(c.new ORDER BY c.entry DESC))[1] AS new \
                FROM c GROUP BY c.gone, c.key, c.col, c.part HAVING pg_catalog.bool_or(c.mine)) \
                SELECT p.gone, p.key, p.heir, pg_catalog.jsonb_object_agg(p.col, p.old) AS old, pg_catalog.jsonb_object_agg(p.col, p.made) AS made, pg_catalog.min(p.first) AS first, \
                (pg_catalog.array_agg(p.new))[1] AS new FROM p GROUP BY p.gone, p.key, p.heir");
        let name = c"bloom_unmerge_steps";
        self.session.keep(name, &query, &parameter(self.id))
    }

    /// Redirects rows back that are not there, where entries have written them, and what entries of other merges say of
    /// them. Returns the steps.
    pub fn write_back(&self, of: &Redirected) -> KeptRows<'_> {
        let table = &of.table;
        let steps = self.steps(of);
        let heirs = Sql::new("UPDATE ")
            .sql(&self.audit.sql())
            .text(" AS f SET old = f.old OPERATOR(pg_catalog.||) s.old FROM bloom_unmerge_steps AS s WHERE f.entry OPERATOR(pg_catalog.=) s.heir");
        self.session.run(&heirs, &[]);
        // Rows that another merge has deleted are redirected where that has written them.
        let gone = Sql::new("UPDATE ")
            .sql(&self.audit.sql())
            .text(" AS d SET old = d.old OPERATOR(pg_catalog.||) s.old FROM bloom_unmerge_steps AS s WHERE s.heir IS NULL AND d.entry OPERATOR(pg_catalog.=) s.gone AND d.unmerged IS NULL");
        let now = of.own.then(|| self.rows_now(table));
        if of.own {
            // As long as the rows are found by what is written of them.
            self.kept_back(of);
        }
        let expected = self.session.number(&Sql::new("SELECT pg_catalog.count(*) FROM bloom_unmerge_steps AS s WHERE s.heir IS NULL AND s.gone IS NOT NULL"), &[]);
        let is_gone = self.session.run(&gone, &[]) as i64;
        drop(now);
        if is_gone < expected {
            self.refuse_kept_as_they_are(table);
        }
        steps
    }

    fn refuse_kept_as_they_are(&self, table: &RestoredTable) -> ! {
        self.refuse(
            &format!("Rows of table \"{}\" could not be redirected.", table.name),
            "A trigger, a rule or row-level security keeps them as they are.",
        )
    }

    /// Redirects rows back, with what triggers changed besides. Records that cannot be inserted before these are
    /// changed, nor after, since rows refer to them, are inserted in the same statement: `together`, and why they could
    /// not before.
    pub fn change_back(
        &self,
        of: &Redirected,
        steps: KeptRows<'_>,
        together: Option<&(Sql, Box<Message>)>,
    ) {
        let table = &of.table;
        let now = of.own.then(|| self.rows_now(table));
        let last = match of.own {
            false => Sql::new("SELECT s.key, s.new, s.old FROM bloom_unmerge_steps AS s WHERE s.heir IS NULL AND s.gone IS NULL"),
            // A record that was kept by another merge may have got another value there since: then that merge has what
            // it was redirected to.
            true => Sql::new("SELECT q.* FROM (SELECT s.key, s.new, (SELECT pg_catalog.jsonb_object_agg(k.key, k.value) FROM pg_catalog.jsonb_each(s.old) AS k \
                WHERE (s.made OPERATOR(pg_catalog.->) k.key) OPERATOR(pg_catalog.=) (t.now OPERATOR(pg_catalog.->) k.key)) AS old \
                FROM bloom_unmerge_steps AS s JOIN bloom_unmerge_now AS t ON t.key OPERATOR(pg_catalog.=) s.key WHERE s.heir IS NULL AND s.gone IS NULL) AS q WHERE q.old IS NOT NULL"),
        };
        let last = self.session.keep(c"bloom_unmerge_last", &last, &[]);
        drop((now, steps));
        if self.set_back(table, together) < last.rows() {
            self.refuse_kept_as_they_are(table);
        }
    }

    /// The rows of the steps as they are, as the table bloom_unmerge_now: `key`, `now`.
    fn rows_now(&self, table: &RestoredTable) -> KeptRows<'_> {
        let places = Sql::new("SELECT s.key, (pg_catalog.array_agg(s.new))[1] AS new FROM bloom_unmerge_steps AS s WHERE s.gone IS NULL GROUP BY s.key");
        let _places = (self.session).keep(c"bloom_unmerge_places", &places, &[]);
        let _rows = table.rows(self.session, "bloom_unmerge_places", "new", "key", false);
        let now = Sql::new("SELECT s.tag AS key, ")
            .sql(&json("(s.c)", stored(&table.columns)))
            .text(" AS now FROM bloom_unmerge_rows AS s");
        exactly(|| self.session.keep(c"bloom_unmerge_now", &now, &[]))
    }

    /// Gives rows the values of bloom_unmerge_last. Returns how many.
    fn set_back(&self, table: &RestoredTable, together: Option<&(Sql, Box<Message>)>) -> u64 {
        let names = self.names(&Sql::new("SELECT DISTINCT k.name FROM bloom_unmerge_last AS a CROSS JOIN LATERAL pg_catalog.jsonb_object_keys(a.old) AS k (name)"));
        if names.is_empty() {
            if let Some((_, violation)) = together {
                self.refuse_row(table, violation, self.other(violation, None));
            }
            return 0;
        }
        let columns = table.columns_named(&names);
        let key = table.columns_named(&table.key);
        let mut read = Sql::new("SELECT a.key").sql(&table.key_values("p"));
        for (i, column) in columns.iter().enumerate() {
            read = read
                .text(", ")
                .sql(&value("v", column))
                .text(&format!(" AS x{i}, a.old OPERATOR(pg_catalog.?) "))
                .literal(&column.name)
                .text(&format!(" AS has{i}"));
        }
        let read = read
            .text(" FROM bloom_unmerge_last AS a CROSS JOIN LATERAL ")
            .sql(&values("a.new", "p", &key))
            .text(" CROSS JOIN LATERAL ")
            .sql(&values("a.old", "v", &columns));
        let read = exactly(|| self.session.keep(c"bloom_unmerge_values", &read, &[]));
        // The server changes rows first, and looks at foreign keys when all is done.
        let before = together.map_or(Sql::new(""), |(insertion, _)| {
            Sql::new("WITH i AS (").sql(insertion).text(") ")
        });
        let other = together.map_or(0, |(_, violation)| self.other(violation, None));
        let statement = before
            .text("UPDATE ")
            .only(table.oid)
            .text(" AS c SET ")
            .list(names.iter().enumerate(), |sql, (i, name)| {
                sql.name(name)
                    .text(&format!(" = CASE WHEN v.has{i} THEN v.x{i} ELSE c."))
                    .name(name)
                    .text(" END")
            })
            .text(" FROM bloom_unmerge_values AS v WHERE ")
            .sql(&table.key_is("c", "v"))
            .text(" RETURNING v.key AS was, ")
            .sql(&row("c", table.oid))
            .text(" AS given");
        let changed = self.told(&table.name, other, || {
            self.session.keep(c"bloom_unmerge_changed", &statement, &[])
        });
        drop(read);
        // As triggers after the change have left them.
        let now = Sql::new("SELECT u.was, COALESCE(")
            .sql(&row("c", table.oid))
            .text(", u.given) AS now FROM bloom_unmerge_changed AS u LEFT JOIN ")
            .only(table.oid)
            .text(" AS c ON ")
            .sql(&key_is("c", &table.columns, &table.key, |column| {
                Sql::new("(u.given).").name(&column.name)
            }));
        let _now = self.session.keep(c"bloom_unmerge_rows", &now, &[]);
        let texts = Sql::new("SELECT s.was, ")
            .sql(&table.key_text("(s.now)"))
            .text(" AS key, ")
            .sql(&table.own_key("(s.now)"))
            .text(" AS own, ")
            .sql(&hash("s.now"))
            .text(" AS hash FROM bloom_unmerge_rows AS s");
        let _texts = exactly(|| self.session.keep(c"bloom_unmerge_texts", &texts, &[]));
        let refresh = Sql::new("UPDATE ")
            .sql(&self.audit.sql())
            .text(" AS a SET key = u.key, new = a.new OPERATOR(pg_catalog.||) u.own, hash = u.hash FROM bloom_unmerge_texts AS u WHERE a.relation OPERATOR(pg_catalog.=) ")
            .text(&oid(table.oid))
            .text(" AND a.action OPERATOR(pg_catalog.=) 'redirect' AND a.key OPERATOR(pg_catalog.=) u.was AND a.gone IS NULL AND a.unmerged IS NULL");
        self.session.run(&refresh, &[]);
        changed.rows()
    }

    /// What other merges have written since of records that they kept is redirected, too.
    fn kept_back(&self, of: &Redirected) {
        for heir in ["IS NOT NULL", "IS NULL"] {
            let set = |side: &str| {
                Sql::new(&format!(
                    "{side} = d.{side} OPERATOR(pg_catalog.||) COALESCE((SELECT pg_catalog.jsonb_object_agg(o.key, o.value) FROM pg_catalog.jsonb_each(s.old) AS o \
                        WHERE (d.{side} OPERATOR(pg_catalog.->) o.key) OPERATOR(pg_catalog.=) (s.made OPERATOR(pg_catalog.->) o.key)), '{{}}')"
                ))
            };
            let statement = Sql::new("UPDATE ")
                .sql(&self.audit.sql())
                .text(" AS d SET ")
                .sql(&set("old"))
                .text(", ")
                .sql(&set("new"))
                .text(" FROM bloom_unmerge_steps AS s LEFT JOIN ")
                .sql(&self.audit.sql())
                // The key is one of the row's values, which the index on relation and key finds.
                .text(" AS g ON g.entry OPERATOR(pg_catalog.=) s.gone LEFT JOIN bloom_unmerge_now AS t ON t.key OPERATOR(pg_catalog.=) s.key \
                    CROSS JOIN LATERAL (SELECT DISTINCT v.value FROM pg_catalog.jsonb_each_text(COALESCE(g.old, t.now)) AS v WHERE v.value IS NOT NULL) AS k WHERE d.relation OPERATOR(pg_catalog.=) ")
                .text(&oid(of.table.oid))
                .text(&format!(" AND s.heir {heir} AND d.key OPERATOR(pg_catalog.=) k.value AND d.entry OPERATOR(pg_catalog.>) s.first \
                    AND d.action OPERATOR(pg_catalog.=) 'keep' AND d.unmerged IS NULL AND d.id OPERATOR(pg_catalog.<>) $1 AND d.old OPERATOR(pg_catalog.@>) "))
                .sql(&picked("s.new", &of.table.key));
            self.session.run(&statement, &parameter(self.id));
        }
    }
}
