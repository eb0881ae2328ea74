//! Rows that a merge has deleted are inserted again.

use super::{parameter, Undo};
use crate::merging::references::{foreign_keys, oid};
use crate::merging::row_table::RowTable;
use crate::merging::subject::text;
use crate::merging::texts::{exactly, numbered, values};
use pg::error::{notice, sql_error};
use pg::message::{sqlstate, Message};
use pg::session::KeptRows;
use pg::sql;
use pg::sql::Sql;
use pg::values::text::readable;
use pgrx::PgSqlErrorCode;

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
    fn insertion(&self, table: &RowTable, action: &str) -> Option<Insertion<'_>> {
        let entries = self.rows_of(table, action);
        let names = self.names_in("bloom_unmerge_entries");
        if names.is_empty() {
            return None;
        }
        let columns = table.columns_named(&names);
        let (old, read) = (numbered("v", &columns), values("a.old", "v", &columns));
        let read =
            sql!("SELECT a.entry, {old} FROM bloom_unmerge_entries AS a CROSS JOIN LATERAL {read}");
        let read = exactly(|| self.session.keep(c"bloom_unmerge_inserted", &read, &[]));
        let values = Sql::join((0..names.len()).map(|i| sql!("v.x{i}")), ", ");
        let names = Sql::join(&names, ", ");
        let statement = sql!(
            "INSERT INTO {table.oid} ({names}) OVERRIDING SYSTEM VALUE SELECT {values} FROM bloom_unmerge_inserted AS v"
        );
        Some(Insertion {
            entries,
            _read: read,
            statement,
        })
    }

    /// Inserts the records that were deleted, and changes records that refer to them back, of which `own` tells.
    /// Returns how many were deleted.
    pub fn insert_records(&self, table: &RowTable, own: Option<&RowTable>) -> i64 {
        let steps = own.map(|own| self.write_back(own));
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
        if let (Some(own), Some(steps)) = (own, steps) {
            self.change_back(own, steps, together.as_ref());
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
    fn check_referenced(&self, table: &RowTable) {
        let name = "bloom_unmerge_entries";
        let _rows = table.rows(self.session, name, "old", "entry", false);
        for reference in foreign_keys(&self.subject.tree, self.session) {
            if !reference.own {
                continue;
            }
            let (values, records) = (reference.referenced("k"), self.subject.from("k"));
            let refers = reference.refers("(s.c)", "g");
            let pairs = reference.pairs.iter();
            let given = pairs.map(|pair| sql!(" AND (s.c).{pair.child} IS DISTINCT FROM NULL"));
            let given = Sql::join(given, "");
            let missing = sql!(
                "SELECT pg_catalog.min(s.tag) FROM bloom_unmerge_rows AS s WHERE NOT EXISTS (SELECT \
                FROM (SELECT {values} FROM {records}) AS g WHERE {refers}){given}"
            );
            let missing = self.session.number(&missing, &[]);
            if missing != 0 {
                let key = text(&reference.name);
                let message = format!("record to which foreign key \"{key}\" refers is gone");
                let code = PgSqlErrorCode::ERRCODE_FOREIGN_KEY_VIOLATION;
                let violation = Message::from(&sql_error(code, message));
                self.refuse_row(table, &violation, self.other(&violation, Some(missing)));
            }
        }
    }

    fn refuse_kept_out(&self, table: &RowTable) -> ! {
        self.refuse(
            &format!("Rows of table \"{}\" could not be inserted.", table.name),
            &format!(
                "A trigger or a rule keeps them out, as that of a guard does. ALTER TABLE \"{}\" DISABLE TRIGGER with its \
                 name, before this in the same transaction, lets them in.",
                table.name
            ),
        )
    }

    /// Fails: a row cannot be there, because of another merge if there is a number.
    pub fn refuse_row(&self, table: &RowTable, violation: &Message, other: i64) -> ! {
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
    pub fn insert_dropped(&self, table: &RowTable) {
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
    fn insert_each(&self, table: &RowTable, all: &Sql) -> u64 {
        let mut entries = Vec::new();
        let query = Sql::new("SELECT v.entry FROM bloom_unmerge_inserted AS v ORDER BY v.entry");
        (self.session).each(&query, &[], |row| entries.push(row.integer(0)));
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
        let (audit, records) = (self.audit.oid, oid(self.subject.oid));
        let of_values = |action: &str| {
            sql!(
                "SELECT k.id FROM bloom_unmerge_entries AS d CROSS JOIN LATERAL pg_catalog.jsonb_each_text(d.old) AS v \
                JOIN {audit} AS k ON k.relation OPERATOR(pg_catalog.=) {records} \
                AND k.key OPERATOR(pg_catalog.=) v.value \
                WHERE {of_entry}k.unmerged IS NULL AND k.action OPERATOR(pg_catalog.=) '{action}'"
            )
        };
        let others = match is_missing {
            true => of_values("delete"),
            false => {
                let kept = of_values("keep");
                sql!(
                    "{kept} UNION ALL SELECT e.id FROM bloom_unmerge_entries AS d \
                    JOIN {audit} AS e ON e.gone OPERATOR(pg_catalog.=) d.entry \
                    WHERE {of_entry}e.unmerged IS NULL AND e.action OPERATOR(pg_catalog.=) 'redirect'"
                )
            }
        };
        let id = self.id.to_string();
        let next = sql!(
            "SELECT pg_catalog.min(o.id) FROM ({others}) AS o WHERE o.id OPERATOR(pg_catalog.<>) {id}"
        );
        self.session.number(&next, parameters)
    }

    /// Leaves a row that was dropped to another merge.
    ///
    /// Errors: there is none because of which it cannot be there.
    fn leave(&self, table: &RowTable, entry: i64, violation: &Message) -> u64 {
        let next = self.other(violation, Some(entry));
        if next == 0 {
            self.refuse_row(table, violation, 0);
        }
        let (audit, id) = (self.audit.oid, next.to_string());
        let statement = sql!(
            "UPDATE {audit} AS d SET id = k.id, cluster = k.cluster FROM {audit} AS k \
            WHERE d.entry OPERATOR(pg_catalog.=) $1 AND k.id OPERATOR(pg_catalog.=) {id} \
            AND k.action OPERATOR(pg_catalog.=) 'keep'"
        );
        self.session.run(&statement, &parameter(entry));
        notice!(
            "a row of table \"{}\" that merge {} has dropped comes back when merge {next} is taken back",
            table.name,
            self.id
        );
        1
    }
}
