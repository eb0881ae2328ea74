//! What a merge has changed is changed back.

use std::ffi::CString;

use super::restored::{cast, picked, RestoredTable};
use super::{parameter, text_of, Redirected, Undo};
use crate::merging::audit::{hash, is_about, json, stored};
use crate::pg::sql::Sql;

impl Undo<'_> {
    /// Gives the record that was kept its values of before.
    pub fn restore_record(&self) {
        let (from, condition) = self.entries("a", "keep");
        let query = Sql::new("SELECT k.key FROM ")
            .sql(&from)
            .text(" CROSS JOIN LATERAL pg_catalog.jsonb_each_text(a.old) AS k JOIN LATERAL pg_catalog.jsonb_each_text(a.new) AS n ON n.key OPERATOR(pg_catalog.=) k.key \
                WHERE n.value IS NOT NULL AND (k.value IS NULL OR k.value COLLATE pg_catalog.\"C\" OPERATOR(pg_catalog.<>) n.value) AND ")
            .sql(&condition)
            .text(" OR k.value IS NOT NULL AND n.value IS NULL AND ")
            .sql(&condition);
        let mut names = Vec::new();
        self.session.each(
            &query,
            &parameter(self.id),
            |_| (),
            |(), row| {
                names.push(CString::new(text_of(row, 0).unwrap_or_default()).unwrap_or_default());
            },
        );
        if names.is_empty() {
            return;
        }
        let table = RestoredTable::of(self.subject.oid, self.session);
        let key = Sql::new("CAST(a.key AS ")
            .exact_type(self.subject.key_type.type_oid)
            .text(")");
        let statement = Sql::new("UPDATE ")
            .only(self.subject.oid)
            .text(" AS r SET ")
            .list(&names, |sql, name| {
                let column = table.column(name);
                sql.name(name).text(" = ").sql(&cast("a.old", column))
            })
            .text(" FROM ")
            .sql(&from)
            .text(" WHERE ")
            .sql(&condition)
            .text(" AND ")
            .sql(&self.subject.key_is("r", ""))
            .sql(&key)
            .collate(self.subject.key_type.collation);
        if self.session.run(&statement, &parameter(self.id)) != 1 {
            self.refuse(
                &format!("Record \"{}\" could not be changed.", self.kept),
                "A trigger, a rule or row-level security keeps it as it is.",
            );
        }
    }

    /// Inserts the rows of entries of a kind. Returns how many they are.
    pub fn insert(&self, table: &RestoredTable, action: &str) -> i64 {
        let (from, condition) = self.entries("a", action);
        let condition = condition.text(" AND ").sql(&is_about("a", table.oid));
        let query = Sql::new("SELECT DISTINCT k.name FROM ")
            .sql(&from)
            .text(" CROSS JOIN LATERAL pg_catalog.jsonb_object_keys(a.old) AS k (name) WHERE ")
            .sql(&condition);
        let mut names = Vec::new();
        self.session.each(
            &query,
            &parameter(self.id),
            |_| (),
            |(), row| {
                names.push(CString::new(text_of(row, 0).unwrap_or_default()).unwrap_or_default());
            },
        );
        if names.is_empty() {
            return 0;
        }
        let count = Sql::new("SELECT pg_catalog.count(*) FROM ")
            .sql(&from)
            .text(" WHERE ")
            .sql(&condition);
        let expected = self.number(&count);
        let statement = Sql::new("INSERT INTO ")
            .relation(table.oid)
            .text(" (")
            .names(names.iter().map(CString::as_c_str))
            .text(") OVERRIDING SYSTEM VALUE SELECT ")
            .list(&names, |sql, name| {
                sql.sql(&cast("a.old", table.column(name)))
            })
            .text(" FROM ")
            .sql(&from)
            .text(" WHERE ")
            .sql(&condition)
            .text(" ORDER BY a.entry");
        if self.session.run(&statement, &parameter(self.id)) as i64 != expected {
            self.refuse(
                &format!("Rows of table \"{}\" could not be inserted.", table.name),
                "A trigger or a rule keeps them out.",
            );
        }
        expected
    }

    /// Entries about rows that are back, or have their values again, now say how these are.
    pub fn refresh(&self, table: &RestoredTable, action: &str) {
        if table.key.is_empty() {
            return;
        }
        let (from, condition) = self.entries("d", action);
        // An entry `o` and the one of the row, `d`. The index on `gone` is small, but only bounds that are known make the server look there first.
        let link = match action {
            "keep" => Sql::new("o.gone IS NULL AND o.relation OPERATOR(pg_catalog.=) d.relation AND o.key OPERATOR(pg_catalog.=) ")
                .sql(&table.key_text("c")),
            _ => {
                let (of, written) = self.entries("x", action);
                let bound = |which: &str| {
                    Sql::new(&format!("(SELECT pg_catalog.{which}(x.entry) FROM "))
                        .sql(&of)
                        .text(" WHERE ")
                        .sql(&written)
                        .text(")")
                };
                Sql::new("pg_catalog.oideq(o.relation, d.relation) AND o.gone OPERATOR(pg_catalog.=) d.entry AND o.gone OPERATOR(pg_catalog.>=) ")
                    .sql(&bound("min"))
                    .text(" AND o.gone OPERATOR(pg_catalog.<=) ")
                    .sql(&bound("max"))
            }
        };
        let statement = Sql::new("UPDATE ")
            .sql(&self.audit.sql())
            .text(" AS e SET hash = q.hash, key = q.key, gone = NULL, new = e.new OPERATOR(pg_catalog.||) q.own FROM (SELECT o.entry, ")
            .sql(&hash("c"))
            .text(" AS hash, ")
            .sql(&table.key_text("c"))
            .text(" AS key, ")
            .sql(&table.own_key("c"))
            .text(" AS own FROM ")
            .sql(&from)
            .text(" JOIN ")
            .only(table.oid)
            .text(" AS c ON ")
            .sql(&table.key_is("c", "d.old"))
            .text(" JOIN ")
            .sql(&self.audit.sql())
            .text(" AS o ON o.action OPERATOR(pg_catalog.=) 'redirect' AND o.unmerged IS NULL AND ")
            .sql(&link)
            .text(" WHERE ")
            .sql(&condition)
            .text(" AND ")
            .sql(&is_about("d", table.oid))
            .text(") AS q WHERE q.entry OPERATOR(pg_catalog.=) e.entry");
        self.session.run(&statement, &parameter(self.id));
    }

    /// Redirects rows back, and what entries of other merges say of them.
    pub fn redirect_back(&self, of: &Redirected) {
        let table = &of.table;
        let (from, condition) = self.of(of, "e");
        let count = Sql::new("SELECT pg_catalog.count(*) FROM ")
            .sql(&from)
            .text(" WHERE ")
            .sql(&condition);
        let mut expected = self.number(&count);
        // A record that was kept by another merge may have got another value there since: then that merge has what it was redirected to.
        let is_redirected = json("c", of.columns.iter().map(CString::as_c_str))
            .text(" OPERATOR(pg_catalog.@>) ")
            .sql(&picked("e.new", &of.columns));
        if of.own {
            let other = Sql::new("SELECT pg_catalog.count(*) FROM ")
                .sql(&from)
                .text(" JOIN ")
                .only(table.oid)
                .text(" AS c ON ")
                .sql(&table.key_is("c", "e.new"))
                .text(" WHERE ")
                .sql(&condition)
                .text(" AND e.gone IS NULL AND NOT ")
                .sql(&is_redirected);
            expected -= self.number(&other);
        }
        if of.own {
            // As long as the rows are found by what is written of them.
            self.kept_back(of, &from, &condition);
        }
        let relation = format!("{}::pg_catalog.oid", table.oid.to_u32());
        let changed = Sql::new("WITH u AS (UPDATE ")
            .only(table.oid)
            .text(" AS c SET ")
            .list(&of.columns, |sql, name| {
                sql.name(name).text(" = ").sql(&cast("e.old", table.column(name)))
            })
            .text(" FROM ")
            .sql(&from)
            .text(" WHERE ")
            .sql(&condition)
            .text(" AND ")
            .sql(&table.key_is("c", "e.new"))
            .text(" AND e.gone IS NULL AND ")
            .sql(&is_redirected)
            .text(" RETURNING e.entry, e.key AS was, ")
            .sql(&table.key_text("c"))
            .text(" AS key, ")
            .sql(&table.own_key("c"))
            .text(" AS own, ")
            .sql(&hash("c"))
            .text(" AS hash), x AS (UPDATE ")
            .sql(&self.audit.sql())
            .text(" AS a SET key = u.key, new = a.new OPERATOR(pg_catalog.||) u.own, hash = u.hash FROM u WHERE a.relation OPERATOR(pg_catalog.=) ")
            .text(&relation)
            .text(" AND a.action OPERATOR(pg_catalog.=) 'redirect' AND a.key OPERATOR(pg_catalog.=) u.was AND a.entry OPERATOR(pg_catalog.<>) u.entry AND a.gone IS NULL AND a.unmerged IS NULL) \
                SELECT pg_catalog.count(*) FROM u");
        let mut back = self.number(&changed);
        if back < expected {
            back += self.number(&self.deleted_back(&from, &condition));
        }
        if back < expected {
            self.refuse(
                &format!("Rows of table \"{}\" could not be redirected.", table.name),
                "A trigger, a rule or row-level security keeps them as they are.",
            );
        }
    }

    /// Rows that another merge has deleted are redirected where that has written them.
    fn deleted_back(&self, from: &Sql, condition: &Sql) -> Sql {
        Sql::new("WITH u AS (UPDATE ")
            .sql(&self.audit.sql())
            .text(" AS d SET old = d.old OPERATOR(pg_catalog.||) e.old FROM ")
            .sql(from)
            .text(" WHERE ")
            .sql(condition)
            .text(" AND d.id OPERATOR(pg_catalog.<>) $1 AND ")
            .text("d.entry OPERATOR(pg_catalog.=) e.gone AND d.unmerged IS NULL")
            .text(" RETURNING 1) SELECT pg_catalog.count(*) FROM u")
    }

    /// What other merges have written since of records that they kept is redirected, too.
    fn kept_back(&self, of: &Redirected, from: &Sql, condition: &Sql) {
        let was = picked("e.new", &of.columns);
        let set = |side: &str| {
            Sql::new(&format!(
                "{side} = CASE WHEN d.{side} OPERATOR(pg_catalog.@>) "
            ))
            .sql(&was)
            .text(&format!(
                " THEN d.{side} OPERATOR(pg_catalog.||) e.old ELSE d.{side} END"
            ))
        };
        let statement = Sql::new("UPDATE ")
            .sql(&self.audit.sql())
            .text(" AS d SET ")
            .sql(&set("old"))
            .text(", ")
            .sql(&set("new"))
            .text(" FROM ")
            .sql(from)
            .text(" LEFT JOIN ")
            .sql(&self.audit.sql())
            .text(" AS g ON g.entry OPERATOR(pg_catalog.=) e.gone LEFT JOIN ")
            .only(of.table.oid)
            .text(" AS c ON e.gone IS NULL AND ")
            .sql(&of.table.key_is("c", "e.new"))
            // The key is one of the row's values, which the index on relation and key finds.
            .text(" CROSS JOIN LATERAL (SELECT DISTINCT v.value FROM pg_catalog.jsonb_each_text(COALESCE(g.old, ")
            .sql(&json("c", stored(&of.table.columns)))
            .text(")) AS v WHERE v.value IS NOT NULL) AS k WHERE ")
            .sql(condition)
            .text(" AND d.relation OPERATOR(pg_catalog.=) e.relation AND d.key OPERATOR(pg_catalog.=) k.value AND d.entry OPERATOR(pg_catalog.>) e.entry \
                AND d.action OPERATOR(pg_catalog.=) 'keep' AND d.unmerged IS NULL AND d.id OPERATOR(pg_catalog.<>) $1 AND d.old OPERATOR(pg_catalog.@>) ")
            .sql(&picked("e.new", &of.table.key));
        self.session.run(&statement, &parameter(self.id));
    }
}
