//! `bloom_unmerge`: one merge is taken back.

mod inserting;
mod restored;
mod restoring;

use base::{Error, ErrorKind};
use pgrx::{pg_sys, IntoDatum, PgSqlErrorCode};

use crate::merging::audit::{is_about, Audit};
use crate::merging::members::short;
use crate::merging::references::name_of;
use crate::merging::subject::{refuse, text, Subject};
use crate::merging::texts::{self, exactly, hash, json, stored, value, values};
use pg::catalog;
use pg::entry;
use pg::error::raise;
use pg::function::arguments::Arguments;
use pg::session::QueryRow;
use pg::session::{not_during_recovery, KeptRows, Parameter, Session};
use pg::sql::Sql;
use pg::values::varlena::NewValue;
use restored::RestoredTable;

/// `(id bigint, audit regclass) RETURNS bigint`
#[entry(volatile, called_on_null, parallel_unsafe)]
fn bloom_unmerge(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    not_during_recovery(c"bloom_unmerge()");
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let id = arguments.given(0).value() as i64;
    let audit = arguments
        .datum(1)
        .map(|oid| pg_sys::Oid::from(oid.value() as u32));
    let audit = Audit::of(audit, false);
    let session = Session::begin(false);
    let restored = run(id, &audit, &session);
    NewValue(pg_sys::Datum::from(restored))
}

/// A merge that is taken back.
pub struct Undo<'a> {
    pub id: i64,
    pub audit: &'a Audit,
    pub session: &'a Session,
    pub subject: Subject,
    /// The key of the record that was kept, for messages.
    pub kept: String,
}

/// A table whose rows were redirected.
pub struct Redirected {
    pub table: RestoredTable,
    /// It is that of the records.
    pub own: bool,
}

pub fn text_of(row: QueryRow<'_>, i: usize) -> Option<Vec<u8>> {
    row.bytes(i).map(|text| text.bytes().to_vec())
}

pub fn parameter(id: i64) -> [Parameter; 1] {
    [(
        pg_sys::INT8OID,
        id.into_datum().unwrap_or(pg_sys::Datum::null()),
    )]
}

fn run(id: i64, audit: &Audit, session: &Session) -> i64 {
    let undo = Undo::find(id, audit, session);
    undo.check_later();
    let _record = undo.record();
    let _key = undo.key();
    undo.lock();
    let redirected: Vec<Redirected> = undo
        .tables("redirect")
        .into_iter()
        .map(|table| {
            let own = undo.subject.tree.contains(&table.oid);
            Redirected { table, own }
        })
        .collect();
    undo.check_record();
    for of in &redirected {
        undo.check_children(of);
    }
    undo.restore_record();
    let table = RestoredTable::of(undo.subject.oid, session);
    undo.refresh(&table, "keep");
    let (own, others): (Vec<_>, Vec<_>) = redirected.iter().partition(|of| of.own);
    let restored = undo.insert_records(&table, own.first().copied());
    for of in others {
        let steps = undo.write_back(of);
        undo.change_back(of, steps, None);
    }
    for dropped in undo.tables("drop") {
        undo.insert_dropped(&dropped);
        undo.refresh(&dropped, "drop");
    }
    let done = Sql::new("UPDATE ")
        .sql(&audit.sql())
        .text(" SET unmerged = pg_catalog.now() WHERE id OPERATOR(pg_catalog.=) $1");
    session.run(&done, &parameter(id));
    restored
}

impl<'a> Undo<'a> {
    /// Errors: there is no such merge, or it was taken back already.
    fn find(id: i64, audit: &'a Audit, session: &'a Session) -> Undo<'a> {
        let query = Sql::new("SELECT a.relation, COALESCE(a.reference, ''), a.key, a.unmerged IS NOT NULL FROM ")
            .sql(&audit.sql())
            .text(" AS a WHERE a.id OPERATOR(pg_catalog.=) $1 AND a.action OPERATOR(pg_catalog.=) 'keep' FOR UPDATE OF a");
        let mut found = None;
        session.each(&query, &parameter(id), |row| {
            let oid = row.datum(0).map_or(0, |oid| oid.value() as u32);
            let is_undone = row.is_true(3);
            found = Some((
                oid,
                name_of(row, 1),
                text_of(row, 2).unwrap_or_default(),
                is_undone,
            ));
        });
        let Some((oid, key, kept, is_undone)) = found else {
            raise(&Error::new(
                ErrorKind::InvalidParameter,
                format!(
                    "there is no merge {id} in table \"{}\"",
                    text(&catalog::name(audit.oid))
                ),
            ))
        };
        if is_undone {
            refuse(
                PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("merge {id} was taken back already"),
                "",
                "",
            );
        }
        let oid = pg_sys::Oid::from(oid);
        catalog::check_exists(oid).unwrap_or_else(|message| message.raise());
        Undo {
            id,
            audit,
            session,
            subject: Subject::new(oid, key, pg_sys::RowExclusiveLock),
            kept: short(&kept),
        }
    }

    pub fn refuse(&self, detail: &str, hint: &str) -> ! {
        refuse(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!("merge {} cannot be taken back", self.id),
            detail,
            hint,
        )
    }

    /// `audit AS alias`, and the condition that it is of this merge and says what was done.
    pub fn entries(&self, alias: &str, action: &str) -> (Sql, Sql) {
        let from = self.audit.sql().text(" AS ").text(alias);
        let condition = Sql::new(alias)
            .text(".id OPERATOR(pg_catalog.=) $1 AND ")
            .text(alias)
            .text(".action OPERATOR(pg_catalog.=) '")
            .text(action)
            .text("'");
        (from, condition)
    }

    pub fn number(&self, sql: &Sql) -> i64 {
        self.session.number(sql, &parameter(self.id))
    }

    /// Errors: the record that was kept was merged again.
    fn check_later(&self) {
        let (from, condition) = self.entries("a", "keep");
        let later = Sql::new("SELECT pg_catalog.min(b.id) FROM ")
            .sql(&from)
            .text(" JOIN ")
            .sql(&self.audit.sql())
            .text(" AS b ON b.relation OPERATOR(pg_catalog.=) a.relation AND b.key OPERATOR(pg_catalog.=) a.key AND b.id OPERATOR(pg_catalog.>) a.id AND b.unmerged IS NULL \
                AND b.action OPERATOR(pg_catalog.=) ANY ('{keep,delete}'::pg_catalog.text[]) WHERE ")
            .sql(&condition);
        let later = self.number(&later);
        if later != 0 {
            self.refuse(
                &format!("Merge {later} has merged record \"{}\" again.", self.kept),
                "Take that one back first.",
            );
        }
    }

    /// What is written of the record that was kept, as the table bloom_unmerge_kept: `old`, `new`, and `key` as an
    /// object.
    fn record(&self) -> KeptRows<'_> {
        let (from, condition) = self.entries("a", "keep");
        let query = Sql::new("SELECT a.old, a.new, pg_catalog.jsonb_object(ARRAY[")
            .literal(self.subject.key_name())
            .text(", a.key]) AS key FROM ")
            .sql(&from)
            .text(" WHERE ")
            .sql(&condition);
        self.session
            .keep(c"bloom_unmerge_kept", &query, &parameter(self.id))
    }

    /// Its key, as the table bloom_unmerge_key: `key`.
    fn key(&self) -> KeptRows<'_> {
        let column = &self.subject.columns[self.subject.key];
        let query = Sql::new("SELECT ")
            .sql(&value("v", column))
            .text(" AS key FROM bloom_unmerge_kept AS a CROSS JOIN LATERAL ")
            .sql(&values("a.key", "v", &[column]));
        exactly(|| self.session.keep(c"bloom_unmerge_key", &query, &[]))
    }

    /// The record, as `r`.
    fn found(&self) -> Sql {
        Sql::new(" FROM ")
            .sql(&self.subject.from("r"))
            .text(" JOIN bloom_unmerge_key AS k ON ")
            .sql(&self.key_is())
    }

    pub fn key_is(&self) -> Sql {
        let key = self.subject.key_is("r", "k.key");
        key.collate(self.subject.key_type.collation)
    }

    fn lock(&self) {
        let sql = Sql::new("SELECT pg_catalog.count(*) FROM (SELECT")
            .sql(&self.found())
            .text(" FOR UPDATE OF r) AS q");
        if self.session.number(&sql, &[]) == 0 {
            self.refuse(
                &format!(
                    "Record \"{}\" is not in table \"{}\" any more.",
                    self.kept, self.subject.name
                ),
                "",
            );
        }
    }

    /// Errors: the record that was kept has changed.
    fn check_record(&self) {
        let row = Sql::new("SELECT ")
            .sql(&texts::row("r", self.subject.oid))
            .text(" AS c")
            .sql(&self.found());
        let _row = self.session.keep(c"bloom_unmerge_rows", &row, &[]);
        let sql = Sql::new("SELECT pg_catalog.string_agg(n.key, ', ' ORDER BY n.key COLLATE pg_catalog.\"C\") FROM (SELECT ")
            .sql(&json("(s.c)", stored(&self.subject.columns)))
            .text(" AS now, COALESCE(a.new, a.old) AS written FROM bloom_unmerge_rows AS s, bloom_unmerge_kept AS a) AS q CROSS JOIN LATERAL pg_catalog.jsonb_each(q.written) AS n (key, value) \
                WHERE n.value OPERATOR(pg_catalog.<>) COALESCE(q.now OPERATOR(pg_catalog.->) n.key, 'null')");
        let mut changed = None;
        exactly(|| {
            self.session
                .each(&sql, &[], |row| changed = text_of(row, 0))
        });
        if let Some(changed) = changed {
            let later = self.redirected_later();
            if later != 0 {
                self.refuse(
                    &format!(
                        "Merge {later} has redirected record \"{}\" since.",
                        self.kept
                    ),
                    "Take that one back first.",
                );
            }
            self.refuse(
                &format!(
                    "Record \"{}\" of table \"{}\" has changed since: {}.",
                    self.kept,
                    self.subject.name,
                    short(&changed)
                ),
                "Give these columns the values that they had after the merge, which are in column \"new\" of the table of merges, or \"old\" where that is NULL. If a trigger changes the record after each update, disable it meanwhile.",
            );
        }
    }

    /// The last merge that has redirected the record, which is in bloom_unmerge_rows, since this one; 0 if there is
    /// none.
    fn redirected_later(&self) -> i64 {
        let table = RestoredTable::of(self.subject.oid, self.session);
        if table.key.is_empty() {
            return 0;
        }
        let key = Sql::new("SELECT ")
            .sql(&table.key_text("(s.c)"))
            .text(" AS key FROM bloom_unmerge_rows AS s");
        let _key = exactly(|| self.session.keep(c"bloom_unmerge_texts", &key, &[]));
        let (from, condition) = self.entries("a", "keep");
        let later = Sql::new("SELECT pg_catalog.max(f.id) FROM bloom_unmerge_texts AS t, ")
            .sql(&from)
            .text(", ")
            .sql(&self.audit.sql())
            .text(" AS f WHERE ")
            .sql(&condition)
            .text(" AND f.relation OPERATOR(pg_catalog.=) a.relation AND f.key OPERATOR(pg_catalog.=) t.key AND f.action OPERATOR(pg_catalog.=) 'redirect' \
                AND f.unmerged IS NULL AND f.gone IS NULL AND f.id OPERATOR(pg_catalog.<>) a.id AND f.entry OPERATOR(pg_catalog.>) a.entry");
        self.number(&later)
    }

    /// The tables of entries of a kind.
    pub fn tables(&self, action: &str) -> Vec<RestoredTable> {
        let (from, condition) = self.entries("a", action);
        let query = Sql::new("SELECT DISTINCT a.relation::pg_catalog.oid FROM ")
            .sql(&from)
            .text(" WHERE ")
            .sql(&condition)
            .text(" ORDER BY 1");
        let mut tables = Vec::new();
        self.session.each(&query, &parameter(self.id), |row| {
            tables.push(row.oid(0));
        });
        tables
            .into_iter()
            .map(|oid| RestoredTable::of(oid, self.session))
            .collect()
    }

    /// The entries of rows of a table that were redirected, under an alias.
    pub fn of(&self, of: &Redirected, alias: &str) -> (Sql, Sql) {
        let (from, condition) = self.entries(alias, "redirect");
        let condition = condition.text(" AND ").sql(&is_about(alias, of.table.oid));
        (from, condition)
    }

    /// Locks the rows that were redirected.
    ///
    /// Errors: one of them has changed.
    fn check_children(&self, of: &Redirected) {
        let (from, condition) = self.of(of, "e");
        let entries = Sql::new("SELECT e.entry, e.new, e.hash, e.gone FROM ")
            .sql(&from)
            .text(" WHERE ")
            .sql(&condition);
        let _entries = self
            .session
            .keep(c"bloom_unmerge_entries", &entries, &parameter(self.id));
        let _rows = of
            .table
            .rows(self.session, "bloom_unmerge_entries", "new", "entry", true);
        let now = Sql::new("SELECT s.tag, ")
            .sql(&hash("s.c"))
            .text(" AS hash FROM bloom_unmerge_rows AS s");
        let _now = exactly(|| self.session.keep(c"bloom_unmerge_texts", &now, &[]));
        let changed = Sql::new("SELECT pg_catalog.count(*) FROM bloom_unmerge_entries AS e WHERE NOT EXISTS (SELECT FROM bloom_unmerge_texts AS t \
            WHERE t.tag OPERATOR(pg_catalog.=) e.entry AND t.hash OPERATOR(pg_catalog.=) e.hash AND e.gone IS NULL) AND NOT EXISTS (SELECT FROM ")
            .sql(&self.audit.sql())
            .text(" AS d WHERE d.entry OPERATOR(pg_catalog.=) e.gone AND d.unmerged IS NULL)");
        let changed = self.session.number(&changed, &[]);
        if changed > 0 {
            self.refuse(
                &format!(
                    "Rows of table \"{}\" that were redirected have changed or gone since: {changed}.",
                    of.table.name
                ),
                "Take later merges back first, if they were the reason.",
            );
        }
    }
}
