//! Rows that a merge has deleted are inserted again.

use std::ffi::CString;

use super::restored::RestoredTable;
use super::{parameter, Undo};
use crate::merging::changes::oid;
use crate::merging::texts::{exactly, value, values};
use crate::pg::error::notice;
use crate::pg::message::{sqlstate, Message};
use crate::pg::sql::Sql;
use crate::pg::values::text::readable;

impl Undo<'_> {
    /// Inserts the rows of entries of a kind. Returns how many they are.
    pub fn insert(&self, table: &RestoredTable, action: &str) -> i64 {
        let entries = self.rows_of(table, action);
        let names = self.names(&Sql::new("SELECT DISTINCT k.name FROM bloom_unmerge_entries AS a CROSS JOIN LATERAL pg_catalog.jsonb_object_keys(a.old) AS k (name)"));
        if names.is_empty() {
            return 0;
        }
        let columns = table.columns_named(&names);
        let read = Sql::new("SELECT a.entry, ")
            .list(columns.iter().enumerate(), |sql, (i, column)| {
                sql.sql(&value("v", column)).text(&format!(" AS x{i}"))
            })
            .text(" FROM bloom_unmerge_entries AS a CROSS JOIN LATERAL ")
            .sql(&values("a.old", "v", &columns));
        let _read = exactly(|| self.session.keep(c"bloom_unmerge_values", &read, &[]));
        let all = Sql::new("INSERT INTO ")
            .relation(table.oid)
            .text(" (")
            .names(names.iter().map(CString::as_c_str))
            .text(") OVERRIDING SYSTEM VALUE SELECT ")
            .list(0..names.len(), |sql, i| sql.text(&format!("v.x{i}")))
            .text(" FROM bloom_unmerge_values AS v");
        let sorted = all.clone().text(" ORDER BY v.entry");
        let inserted = match action {
            "drop" => match self.session.attempt(&sorted, &[]) {
                Ok(inserted) => inserted,
                Err(_) => self.insert_each(table, &all),
            },
            _ => self.session.run(&sorted, &[]),
        };
        if inserted != entries.rows() {
            self.refuse(
                &format!("Rows of table \"{}\" could not be inserted.", table.name),
                "A trigger or a rule keeps them out.",
            );
        }
        entries.rows() as i64
    }

    /// Inserts rows that were dropped, one by one. One that cannot be there yet, since a merge that stands has changed it or what it is like, or has deleted what it refers to, comes back when that merge is taken back.
    /// Returns how many are inserted, or left to other merges.
    fn insert_each(&self, table: &RestoredTable, all: &Sql) -> u64 {
        let mut entries = Vec::new();
        let query = Sql::new("SELECT v.entry FROM bloom_unmerge_values AS v ORDER BY v.entry");
        self.session.each(
            &query,
            &[],
            |_| (),
            |(), row| entries.extend(row.datum(0).map(|entry| entry.value() as i64)),
        );
        let one = all.clone().text(" WHERE v.entry OPERATOR(pg_catalog.=) $1");
        let mut done = 0;
        for entry in entries {
            done += match self.session.attempt(&one, &parameter(entry)) {
                Ok(inserted) => inserted,
                Err(violation) => self.leave(table, entry, &violation),
            };
        }
        done
    }

    /// Leaves a row that was dropped to another merge.
    ///
    /// Errors: there is none because of which it cannot be there.
    fn leave(&self, table: &RestoredTable, entry: i64, violation: &Message) -> u64 {
        let is_missing = violation.code() == sqlstate(b"23503");
        let of_values = |action: &str| {
            Sql::new("SELECT k.id FROM bloom_unmerge_entries AS d CROSS JOIN LATERAL pg_catalog.jsonb_each_text(d.old) AS v JOIN ")
                .sql(&self.audit.sql())
                .text(" AS k ON k.relation OPERATOR(pg_catalog.=) ")
                .text(&oid(self.subject.oid))
                .text(" AND k.key OPERATOR(pg_catalog.=) v.value WHERE d.entry OPERATOR(pg_catalog.=) $1 AND k.unmerged IS NULL AND k.action OPERATOR(pg_catalog.=) '")
                .text(action)
                .text("'")
        };
        let others = match is_missing {
            true => of_values("delete"),
            false => of_values("keep").text(" UNION ALL SELECT e.id FROM ").sql(&self.audit.sql()).text(
                " AS e WHERE e.gone OPERATOR(pg_catalog.=) $1 AND e.unmerged IS NULL AND e.action OPERATOR(pg_catalog.=) 'redirect'",
            ),
        };
        let next = Sql::new("SELECT pg_catalog.min(o.id) FROM (")
            .sql(&others)
            .text(&format!(
                ") AS o WHERE o.id OPERATOR(pg_catalog.<>) {}",
                self.id
            ));
        let next = self.session.number(&next, &parameter(entry));
        if next == 0 {
            let [message, detail] = violation.said().map(readable);
            self.refuse(
                &format!(
                    "A row of table \"{}\" cannot be inserted again: {message}. {detail}",
                    table.name
                ),
                "Change or delete what stands in its way, or insert what it refers to.",
            );
        }
        let statement = Sql::new("UPDATE ")
            .sql(&self.audit.sql())
            .text(" AS d SET id = k.id, cluster = k.cluster FROM ")
            .sql(&self.audit.sql())
            .text(&format!(" AS k WHERE d.entry OPERATOR(pg_catalog.=) $1 AND k.id OPERATOR(pg_catalog.=) {next} AND k.action OPERATOR(pg_catalog.=) 'keep'"));
        self.session.run(&statement, &parameter(entry));
        notice!(
            "a row of table \"{}\" that merge {} has dropped comes back when merge {next} is taken back",
            table.name,
            self.id
        );
        1
    }
}
