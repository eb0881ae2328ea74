//! `bloom_unmerge`: one merge is taken back.

mod inserting;
mod restoring;

use base::Error;
use pg::error::{raise, sql_error, OrRaise};
use pgrx::{pg_sys, IntoDatum, PgSqlErrorCode};

use crate::merging::audit::{is_about, Audit};
use crate::merging::members::short;
use crate::merging::references::{name_of, text_of};
use crate::merging::row_table::RowTable;
use crate::merging::subject::{text, Subject};
use crate::merging::texts::{self, exactly, hash, json, stored, value, values};
use pg::catalog;
use pg::entry;
use pg::function::arguments::Arguments;
use pg::session::{not_during_recovery, KeptRows, Parameter, Session};
use pg::sql;
use pg::sql::{literal, Sql};
use pg::values::varlena::NewValue;

/// `(id bigint, audit regclass) RETURNS bigint`
#[entry(volatile, called_on_null, parallel_unsafe)]
fn bloom_unmerge(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    not_during_recovery(c"bloom_unmerge()");
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let id = arguments.given(0).value() as i64;
    let audit = Audit::new(arguments.datum(1).map(|_| arguments.oid(1)), false);
    let session = Session::begin(false);
    NewValue(pg_sys::Datum::from(run(id, &audit, &session)))
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
    let redirected = undo.tables("redirect");
    undo.check_record();
    for table in &redirected {
        undo.check_children(table);
    }
    undo.restore_record();
    let table = RowTable::restored(undo.subject.oid, session);
    undo.refresh(&table, "keep");
    let is_own = |table: &&RowTable| undo.is_own(table);
    let (own, others): (Vec<_>, Vec<_>) = redirected.iter().partition(is_own);
    let restored = undo.insert_records(&table, own.first().copied());
    for table in others {
        let steps = undo.write_back(table);
        undo.change_back(table, steps, None);
    }
    for dropped in undo.tables("drop") {
        undo.insert_dropped(&dropped);
        undo.refresh(&dropped, "drop");
    }
    let done = sql!(
        "UPDATE {audit.oid} SET unmerged = pg_catalog.now() WHERE id OPERATOR(pg_catalog.=) $1"
    );
    session.run(&done, &parameter(id));
    restored
}

impl<'a> Undo<'a> {
    /// Errors: there is no such merge, or it was taken back already.
    fn find(id: i64, audit: &'a Audit, session: &'a Session) -> Undo<'a> {
        let query = sql!(
            "SELECT a.relation, COALESCE(a.reference, ''), a.key, a.unmerged IS NOT NULL FROM {audit.oid} AS a \
            WHERE a.id OPERATOR(pg_catalog.=) $1 AND a.action OPERATOR(pg_catalog.=) 'keep' FOR UPDATE OF a"
        );
        let mut found = None;
        session.each(&query, &parameter(id), |row| {
            let kept = text_of(row, 2).unwrap_or_default();
            found = Some((row.oid(0), name_of(row, 1), kept, row.is_true(3)));
        });
        let Some((oid, key, kept, is_undone)) = found else {
            let table = text(&catalog::name(audit.oid));
            let message = format!("there is no merge {id} in table \"{table}\"");
            raise(&Error::invalid(message))
        };
        if is_undone {
            raise(&sql_error(
                PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("merge {id} was taken back already"),
            ));
        }
        catalog::check_exists(oid).or_raise();
        Undo {
            id,
            audit,
            session,
            subject: Subject::new(oid, key, pg_sys::RowExclusiveLock),
            kept: short(&kept),
        }
    }

    pub fn refuse(&self, detail: &str, hint: &str) -> ! {
        raise(
            &sql_error(
                PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("merge {} cannot be taken back", self.id),
            )
            .detail(detail)
            .hint(hint),
        )
    }

    /// The condition that an entry under an alias is of this merge and says what was done.
    pub fn is_entry(&self, alias: &str, action: &str) -> Sql {
        sql!("{alias}.id OPERATOR(pg_catalog.=) $1 AND {alias}.action OPERATOR(pg_catalog.=) '{action}'")
    }

    /// Whether a table is that of the records.
    pub fn is_own(&self, table: &RowTable) -> bool {
        self.subject.tree.contains(&table.oid)
    }

    pub fn number(&self, sql: &Sql) -> i64 {
        self.session.number(sql, &parameter(self.id))
    }

    /// Errors: the record that was kept was merged again.
    fn check_later(&self) {
        let (audit, is_entry) = (self.audit.oid, self.is_entry("a", "keep"));
        let later = sql!(
            "SELECT pg_catalog.min(b.id) FROM {audit} AS a JOIN {audit} AS b \
            ON b.relation OPERATOR(pg_catalog.=) a.relation AND b.key OPERATOR(pg_catalog.=) a.key \
            AND b.id OPERATOR(pg_catalog.>) a.id AND b.unmerged IS NULL \
            AND b.action OPERATOR(pg_catalog.=) ANY ('{{keep,delete}}'::pg_catalog.text[]) WHERE {is_entry}"
        );
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
        let (name, is_entry) = (literal(self.subject.key_name()), self.is_entry("a", "keep"));
        let query = sql!(
            "SELECT a.old, a.new, pg_catalog.jsonb_object(ARRAY[{name}, a.key]) AS key \
            FROM {self.audit.oid} AS a WHERE {is_entry}"
        );
        self.session
            .keep(c"bloom_unmerge_kept", &query, &parameter(self.id))
    }

    /// Its key, as the table bloom_unmerge_key: `key`.
    fn key(&self) -> KeptRows<'_> {
        let column = &self.subject.columns[self.subject.key];
        let (key, read) = (value("v", column), values("a.key", "v", &[column]));
        let query =
            sql!("SELECT {key} AS key FROM bloom_unmerge_kept AS a CROSS JOIN LATERAL {read}");
        exactly(|| self.session.keep(c"bloom_unmerge_key", &query, &[]))
    }

    /// The record, as `r`.
    fn found(&self) -> Sql {
        let (record, is_it) = (self.subject.from("r"), self.key_is());
        sql!(" FROM {record} JOIN bloom_unmerge_key AS k ON {is_it}")
    }

    pub fn key_is(&self) -> Sql {
        let key = self.subject.key_is("r", "k.key");
        key.collate(self.subject.key_type.collation)
    }

    fn lock(&self) {
        let found = self.found();
        let sql = sql!("SELECT pg_catalog.count(*) FROM (SELECT{found} FOR UPDATE OF r) AS q");
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
        let (row, found) = (texts::row("r", self.subject.oid), self.found());
        let row = sql!("SELECT {row} AS c{found}");
        let _row = self.session.keep(c"bloom_unmerge_rows", &row, &[]);
        let now = json("(s.c)", stored(&self.subject.columns));
        let sql = sql!(
            "SELECT pg_catalog.string_agg(n.key, ', ' ORDER BY n.key COLLATE pg_catalog.\"C\") \
            FROM (SELECT {now} AS now, COALESCE(a.new, a.old) AS written \
            FROM bloom_unmerge_rows AS s, bloom_unmerge_kept AS a) AS q \
            CROSS JOIN LATERAL pg_catalog.jsonb_each(q.written) AS n (key, value) \
            WHERE n.value OPERATOR(pg_catalog.<>) COALESCE(q.now OPERATOR(pg_catalog.->) n.key, 'null')"
        );
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
                "Give these columns the values that they had after the merge, which are in column \"new\" of the \
                 table of merges, or \"old\" where that is NULL. If a trigger changes the record after each update, \
                 disable it meanwhile.",
            );
        }
    }

    /// The last merge that has redirected the record, which is in bloom_unmerge_rows, since this one; 0 if there is
    /// none.
    fn redirected_later(&self) -> i64 {
        let table = RowTable::restored(self.subject.oid, self.session);
        if table.key.is_empty() {
            return 0;
        }
        let key = table.key_text("(s.c)");
        let key = sql!("SELECT {key} AS key FROM bloom_unmerge_rows AS s");
        let _key = exactly(|| self.session.keep(c"bloom_unmerge_texts", &key, &[]));
        let (audit, is_entry) = (self.audit.oid, self.is_entry("a", "keep"));
        let later = sql!(
            "SELECT pg_catalog.max(f.id) FROM bloom_unmerge_texts AS t, {audit} AS a, {audit} AS f \
            WHERE {is_entry} AND f.relation OPERATOR(pg_catalog.=) a.relation \
            AND f.key OPERATOR(pg_catalog.=) t.key AND f.action OPERATOR(pg_catalog.=) 'redirect' \
            AND f.unmerged IS NULL AND f.gone IS NULL AND f.id OPERATOR(pg_catalog.<>) a.id \
            AND f.entry OPERATOR(pg_catalog.>) a.entry"
        );
        self.number(&later)
    }

    /// The tables of entries of a kind.
    pub fn tables(&self, action: &str) -> Vec<RowTable> {
        let is_entry = self.is_entry("a", action);
        let query = sql!(
            "SELECT DISTINCT a.relation::pg_catalog.oid FROM {self.audit.oid} AS a WHERE {is_entry} ORDER BY 1"
        );
        let mut tables = Vec::new();
        self.session
            .each(&query, &parameter(self.id), |row| tables.push(row.oid(0)));
        let tables = tables.into_iter();
        tables
            .map(|oid| RowTable::restored(oid, self.session))
            .collect()
    }

    /// The condition that an entry under an alias is about a row of a table that was redirected.
    pub fn is_redirected(&self, table: &RowTable, alias: &str) -> Sql {
        let (is_entry, is_about) = (self.is_entry(alias, "redirect"), is_about(alias, table.oid));
        sql!("{is_entry} AND {is_about}")
    }

    /// Locks the rows that were redirected.
    ///
    /// Errors: one of them has changed.
    fn check_children(&self, table: &RowTable) {
        let (audit, is_redirected) = (self.audit.oid, self.is_redirected(table, "e"));
        let entries =
            sql!("SELECT e.entry, e.new, e.hash, e.gone FROM {audit} AS e WHERE {is_redirected}");
        let name = c"bloom_unmerge_entries";
        let _entries = self.session.keep(name, &entries, &parameter(self.id));
        let _rows = table.rows(self.session, "bloom_unmerge_entries", "new", "entry", true);
        let hash = hash("s.c");
        let now = sql!("SELECT s.tag, {hash} AS hash FROM bloom_unmerge_rows AS s");
        let _now = exactly(|| self.session.keep(c"bloom_unmerge_texts", &now, &[]));
        let changed = sql!(
            "SELECT pg_catalog.count(*) FROM bloom_unmerge_entries AS e WHERE NOT EXISTS (SELECT \
            FROM bloom_unmerge_texts AS t WHERE t.tag OPERATOR(pg_catalog.=) e.entry \
            AND t.hash OPERATOR(pg_catalog.=) e.hash AND e.gone IS NULL) AND NOT EXISTS (SELECT \
            FROM {audit} AS d WHERE d.entry OPERATOR(pg_catalog.=) e.gone AND d.unmerged IS NULL)"
        );
        let changed = self.session.number(&changed, &[]);
        if changed > 0 {
            self.refuse(
                &format!(
                    "Rows of table \"{}\" that were redirected have changed or gone since: {changed}.",
                    table.name
                ),
                "Take later merges back first, if they were the reason.",
            );
        }
    }
}
