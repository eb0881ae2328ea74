//! Rows that a merge has deleted are inserted again.

use std::ffi::CString;

use super::restored::RestoredTable;
use super::{parameter, Redirected, Undo};
use crate::merging::changes::oid;
use crate::merging::references::foreign_keys;
use crate::merging::subject::text;
use crate::merging::texts::{exactly, value, values};
use pg::error::notice;
use pg::message::{sqlstate, Message};
use pg::session::KeptRows;
use pg::sql::Sql;
use pg::values::text::{in_message, readable};

/// Rows of entries, as bloom_unmerge_inserted and bloom_unmerge_entries, and the statement that inserts them.
struct Insertion<'a> {
    entries: KeptRows<'a>,
    _read: KeptRows<'a>,
    statement: Sql,
}

impl Insertion<'_> {
    fn sorted(&self) -> Sql {
        self.statement.clone().text(" ORDER BY v.entry")
    }
}

impl Undo<'_> {
    /// The rows of entries of a kind; `None` if there are none.
    fn insertion(&self, table: &RestoredTable, action: &str) -> Option<Insertion<'_>> {
        let entries = self.rows_of(table, action);
        let names = self.names(&Sql::new("SELECT DISTINCT k.name FROM bloom_unmerge_entries AS a CROSS JOIN LATERAL pg_catalog.jsonb_object_keys(a.old) AS k (name)"));
        if names.is_empty() {
            return None;
        }
        let columns = table.columns_named(&names);
        let read = Sql::new("SELECT a.entry, ")
            .list(columns.iter().enumerate(), |sql, (i, column)| {
                sql.sql(&value("v", column)).text(&format!(" AS x{i}"))
            })
            .text(" FROM bloom_unmerge_entries AS a CROSS JOIN LATERAL ")
            .sql(&values("a.old", "v", &columns));
        let read = exactly(|| self.session.keep(c"bloom_unmerge_inserted", &read, &[]));
        let statement = Sql::new("INSERT INTO ")
            .relation(table.oid)
            .text(" (")
            .names(names.iter().map(CString::as_c_str))
            .text(") OVERRIDING SYSTEM VALUE SELECT ")
            .list(0..names.len(), |sql, i| sql.text(&format!("v.x{i}")))
            .text(" FROM bloom_unmerge_inserted AS v");
        Some(Insertion {
            entries,
            _read: read,
            statement,
        })
    }

    /// Inserts the records that were deleted, and changes records that refer to them back, of which `own` tells.
    /// Returns how many were deleted.
    pub fn insert_records(&self, table: &RestoredTable, own: Option<&Redirected>) -> i64 {
        let steps = own.map(|of| self.write_back(of));
        let insertion = self.insertion(table, "delete");
        let mut together = None;
        let mut count = 0;
        if let Some(insertion) = &insertion {
            count = insertion.entries.rows();
            match self.session.attempt(&insertion.sorted(), &[]) {
                Ok(inserted) if inserted == count => (),
                Ok(_) => self.refuse_kept_out(table),
                // A record may be like one that this merge has redirected, as long as that is not changed back.
                Err(violation) if own.is_some() && violation.code() != sqlstate(b"23503") => {
                    together = Some((insertion.sorted(), violation));
                }
                Err(violation) => self.refuse_row(table, &violation, self.other(&violation, None)),
            }
        }
        if let (Some(of), Some(steps)) = (own, steps) {
            self.change_back(of, steps, together.as_ref());
        }
        if together.is_some() {
            let name = "bloom_unmerge_entries";
            let back = table.rows(self.session, name, "old", "entry", false);
            if back.rows() < count {
                self.refuse_kept_out(table);
            }
        }
        if insertion.is_some() && !table.key.is_empty() {
            self.check_referenced(table);
        }
        drop(insertion);
        self.refresh(table, "delete");
        count as i64
    }

    /// Errors: a record that is back refers to one that is gone, which a deferred key would tell when the transaction
    /// ends.
    fn check_referenced(&self, table: &RestoredTable) {
        let name = "bloom_unmerge_entries";
        let _rows = table.rows(self.session, name, "old", "entry", false);
        for reference in foreign_keys(&self.subject.tree, self.session) {
            if !reference.own {
                continue;
            }
            let columns = reference.pairs.iter().enumerate();
            let referenced = Sql::new("SELECT ").list(columns, |sql, (i, pair)| {
                let sql = sql.text("k.").name(&pair.referenced);
                sql.text(&format!(" AS o{i}"))
            });
            let mut missing = Sql::new("SELECT pg_catalog.min(s.tag) FROM bloom_unmerge_rows AS s WHERE NOT EXISTS (SELECT FROM (")
                .sql(&referenced)
                .text(" FROM ")
                .sql(&self.subject.from("k"))
                .text(") AS g WHERE ")
                .sql(&reference.refers("(s.c)", "g"))
                .text(")");
            for pair in &reference.pairs {
                missing = missing
                    .text(" AND (s.c).")
                    .name(&pair.child)
                    .text(" IS DISTINCT FROM NULL");
            }
            let missing = self.session.number(&missing, &[]);
            if missing != 0 {
                let key = text(&reference.name);
                let message = format!("record to which foreign key \"{key}\" refers is gone");
                let violation = Message::new(sqlstate(b"23503"), in_message(&message));
                self.refuse_row(table, &violation, self.other(&violation, Some(missing)));
            }
        }
    }

    fn refuse_kept_out(&self, table: &RestoredTable) -> ! {
        self.refuse(
            &format!("Rows of table \"{}\" could not be inserted.", table.name),
            "A trigger or a rule keeps them out.",
        )
    }

    /// Fails: a row cannot be there, because of another merge if there is a number.
    pub fn refuse_row(&self, table: &RestoredTable, violation: &Message, other: i64) -> ! {
        let [message, detail] = violation.said().map(readable);
        self.refuse(
            &format!(
                "A row of table \"{}\" cannot be inserted again: {message}. {detail}",
                table.name
            ),
            &match other {
                0 => "Change or delete what stands in its way, or insert what it refers to."
                    .to_owned(),
                other => format!("Take merge {other} back first."),
            },
        )
    }

    /// Inserts the rows that were dropped.
    pub fn insert_dropped(&self, table: &RestoredTable) {
        let Some(insertion) = self.insertion(table, "drop") else {
            return;
        };
        let inserted = match self.session.attempt(&insertion.sorted(), &[]) {
            Ok(inserted) => inserted,
            Err(_) => self.insert_each(table, &insertion.statement),
        };
        if inserted != insertion.entries.rows() {
            self.refuse_kept_out(table);
        }
    }

    /// Inserts rows that were dropped, one by one. One that cannot be there yet, since a merge that stands has changed
    /// it or what it is like, or has deleted what it refers to, comes back when that merge is taken back. Returns how
    /// many are inserted, or left to other merges.
    fn insert_each(&self, table: &RestoredTable, all: &Sql) -> u64 {
        let mut entries = Vec::new();
        let query = Sql::new("SELECT v.entry FROM bloom_unmerge_inserted AS v ORDER BY v.entry");
        self.session.each(&query, &[], |row| {
            entries.extend(row.datum(0).map(|entry| entry.value() as i64))
        });
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

    /// The first merge that stands and because of which a row of bloom_unmerge_entries cannot be there, or any of
    /// them; 0 if there is none.
    pub fn other(&self, violation: &Message, entry: Option<i64>) -> i64 {
        let is_missing = violation.code() == sqlstate(b"23503");
        let (of_entry, parameters) = match entry {
            Some(entry) => (
                "d.entry OPERATOR(pg_catalog.=) $1 AND ",
                &parameter(entry)[..],
            ),
            None => ("", &[][..]),
        };
        let of_values = |action: &str| {
            Sql::new("SELECT k.id FROM bloom_unmerge_entries AS d CROSS JOIN LATERAL pg_catalog.jsonb_each_text(d.old) AS v JOIN ")
                .sql(&self.audit.sql())
                .text(" AS k ON k.relation OPERATOR(pg_catalog.=) ")
                .text(&oid(self.subject.oid))
                .text(" AND k.key OPERATOR(pg_catalog.=) v.value WHERE ")
                .text(of_entry)
                .text("k.unmerged IS NULL AND k.action OPERATOR(pg_catalog.=) '")
                .text(action)
                .text("'")
        };
        let others = match is_missing {
            true => of_values("delete"),
            false => of_values("keep")
                .text(" UNION ALL SELECT e.id FROM bloom_unmerge_entries AS d JOIN ")
                .sql(&self.audit.sql())
                .text(" AS e ON e.gone OPERATOR(pg_catalog.=) d.entry WHERE ")
                .text(of_entry)
                .text("e.unmerged IS NULL AND e.action OPERATOR(pg_catalog.=) 'redirect'"),
        };
        let next = Sql::new("SELECT pg_catalog.min(o.id) FROM (")
            .sql(&others)
            .text(&format!(
                ") AS o WHERE o.id OPERATOR(pg_catalog.<>) {}",
                self.id
            ));
        self.session.number(&next, parameters)
    }

    /// Leaves a row that was dropped to another merge.
    ///
    /// Errors: there is none because of which it cannot be there.
    fn leave(&self, table: &RestoredTable, entry: i64, violation: &Message) -> u64 {
        let next = self.other(violation, Some(entry));
        if next == 0 {
            self.refuse_row(table, violation, 0);
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
