//! `bloom_unmerge`: one merge is taken back.

use std::ffi::CString;

use bloom_ident_core::{Error, ErrorKind};
use pgrx::{pg_sys, IntoDatum, PgSqlErrorCode};

use super::audit::{hash, json, stored, with_exact_texts, Audit};
use super::child::primary_key;
use super::members::short;
use super::references::name_of;
use super::subject::{columns_of, refuse, text, Subject, TableColumn};
use crate::pg::catalog;
use crate::pg::catalog::operators;
use crate::pg::cursor::QueryRow;
use crate::pg::entry;
use crate::pg::error::raise;
use crate::pg::function::arguments::Arguments;
use crate::pg::relation;
use crate::pg::session::{Parameter, Session};
use crate::pg::sql::Sql;
use crate::pg::values::varlena::{NewValue, Varlena};

/// `(id bigint, audit regclass) RETURNS bigint`
#[entry]
fn bloom_unmerge(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let id = arguments.given(0).value() as i64;
    let audit = arguments
        .datum(1)
        .map(|oid| pg_sys::Oid::from(oid.value() as u32));
    let audit = Audit::of(audit, false);
    let session = Session::begin(false);
    let restored = with_exact_texts(|| run(id, &audit, &session));
    session.end();
    NewValue(pg_sys::Datum::from(restored))
}

/// A merge that is taken back.
struct Undo<'a> {
    id: i64,
    audit: &'a Audit,
    session: &'a Session,
    subject: Subject,
    /// The key of the record that was kept, for messages.
    kept: String,
}

/// Rows of one table that were redirected by one reference.
struct Redirected {
    table: RestoredTable,
    reference: CString,
    /// The columns that were changed.
    columns: Vec<CString>,
    own: bool,
}

/// A table in which rows are restored.
struct RestoredTable {
    oid: pg_sys::Oid,
    name: String,
    columns: Vec<TableColumn>,
    key: Vec<CString>,
}

fn text_of(row: QueryRow, i: usize) -> Option<Vec<u8>> {
    // SAFETY: a text of the query, which stays as long as the row.
    row.datum(i)
        .map(|text| unsafe { Varlena::of(text) }.bytes().to_vec())
}

fn parameter(id: i64) -> [Parameter; 1] {
    [(
        pg_sys::INT8OID,
        id.into_datum().unwrap_or(pg_sys::Datum::null()),
    )]
}

/// A value of an object of texts.
fn member(object: &str, name: &CString) -> Sql {
    Sql::new("(")
        .text(object)
        .text(" OPERATOR(pg_catalog.->>) ")
        .literal(name)
        .text("::pg_catalog.text)")
}

/// The same as a value of a column.
fn cast(object: &str, column: &TableColumn) -> Sql {
    Sql::new("CAST(")
        .sql(&member(object, &column.name))
        .text(" AS ")
        .exact_type(column.store.type_oid)
        .text(")")
}

fn run(id: i64, audit: &Audit, session: &Session) -> i64 {
    let undo = Undo::find(id, audit, session);
    undo.check_later();
    undo.lock();
    let redirected = undo.redirected();
    undo.check_record();
    for of in &redirected {
        undo.check_children(of);
    }
    undo.restore_record();
    let table = RestoredTable::of(undo.subject.oid, session);
    let restored = undo.insert(&table, "delete");
    undo.refresh(&table, "delete");
    for of in &redirected {
        undo.redirect_back(of);
    }
    for dropped in undo.tables("drop") {
        undo.insert(&dropped, "drop");
        undo.refresh(&dropped, "drop");
    }
    let done = Sql::new("UPDATE ")
        .sql(&audit.sql())
        .text(" SET unmerged = pg_catalog.now() WHERE id OPERATOR(pg_catalog.=) $1");
    session.run(&done, &parameter(id));
    restored
}

impl RestoredTable {
    fn of(oid: pg_sys::Oid, session: &Session) -> RestoredTable {
        catalog::check_exists(oid).unwrap_or_else(|message| message.raise());
        relation::lock(oid, pg_sys::RowExclusiveLock);
        catalog::check_exists(oid).unwrap_or_else(|message| message.raise());
        RestoredTable {
            oid,
            name: text(&catalog::name(oid)),
            columns: columns_of(oid),
            key: primary_key(oid, session),
        }
    }

    fn column(&self, name: &CString) -> &TableColumn {
        let found = self.columns.iter().find(|column| column.name == *name);
        found.unwrap_or_else(|| {
            refuse(
                PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
                format!(
                    "column \"{}\" of table \"{}\" does not exist any more",
                    text(name),
                    self.name
                ),
                "A merge cannot be taken back without the columns that it has changed.",
                "",
            )
        })
    }

    /// The condition that a row under an alias has the primary key of an object.
    fn key_is(&self, alias: &str, object: &str) -> Sql {
        let parts = self.key.iter().map(|name| self.column(name));
        parts.enumerate().fold(Sql::new(""), |sql, (i, column)| {
            // SAFETY: a catalog look-up of a type that exists.
            let base = unsafe { pg_sys::getBaseType(column.store.type_oid) };
            let equal = operators::of_order(base).map_or(pg_sys::InvalidOid, |(equal, _)| equal);
            let value = Sql::new("CAST(")
                .sql(&member(object, &column.name))
                .text(" AS ")
                .exact_type(base)
                .text(")");
            sql.text(if i > 0 { " AND " } else { "" })
                .text(alias)
                .text(".")
                .name(&column.name)
                .text(" ")
                .operator(equal)
                .text(" ")
                .sql(&value)
                .collate(column.store.collation)
        })
    }

    fn key_text(&self, alias: &str) -> Sql {
        let column = |sql: Sql, name: &CString| sql.text(alias).text(".").name(name);
        let sql = Sql::new("pg_catalog.format('%s', ");
        match &self.key[..] {
            [one] => column(sql, one).text(")"),
            several => sql.text("ROW(").list(several, column).text("))"),
        }
    }

    fn own_key(&self, alias: &str) -> Sql {
        json(alias, self.key.iter().map(CString::as_c_str))
    }
}

impl<'a> Undo<'a> {
    /// Errors: there is no such merge, or it was taken back already.
    fn find(id: i64, audit: &'a Audit, session: &'a Session) -> Undo<'a> {
        let query = Sql::new("SELECT a.relation, a.reference, a.key, a.unmerged IS NOT NULL FROM ")
            .sql(&audit.sql())
            .text(" AS a WHERE a.id OPERATOR(pg_catalog.=) $1 AND a.action OPERATOR(pg_catalog.=) 'keep' FOR UPDATE OF a");
        let mut found = None;
        session.each(
            &query,
            &parameter(id),
            |_| (),
            |(), row| {
                let oid = row.datum(0).map_or(0, |oid| oid.value() as u32);
                let is_undone = row.datum(3).is_some_and(|undone| undone.value() != 0);
                found = Some((
                    oid,
                    name_of(row, 1),
                    text_of(row, 2).unwrap_or_default(),
                    is_undone,
                ));
            },
        );
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

    fn refuse(&self, detail: &str, hint: &str) -> ! {
        refuse(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!("merge {} cannot be taken back", self.id),
            detail,
            hint,
        )
    }

    /// `audit AS alias`, and the condition that it is of this merge and says what was done.
    fn entries(&self, alias: &str, action: &str) -> (Sql, Sql) {
        let from = self.audit.sql().text(" AS ").text(alias);
        let condition = Sql::new(alias)
            .text(".id OPERATOR(pg_catalog.=) $1 AND ")
            .text(alias)
            .text(".action OPERATOR(pg_catalog.=) '")
            .text(action)
            .text("'");
        (from, condition)
    }

    fn number(&self, sql: &Sql) -> i64 {
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

    /// The record that was kept, as `r`, with its entry `a`.
    fn record(&self) -> Sql {
        let (from, condition) = self.entries("a", "keep");
        let key = Sql::new("CAST(a.key AS ")
            .exact_type(self.subject.key_type.type_oid)
            .text(")");
        let equals = self
            .subject
            .key_is("r", "")
            .sql(&key)
            .collate(self.subject.key_type.collation);
        Sql::new(" FROM ")
            .sql(&self.subject.from("r"))
            .text(", ")
            .sql(&from)
            .text(" WHERE ")
            .sql(&condition)
            .text(" AND ")
            .sql(&equals)
    }

    fn lock(&self) {
        let sql = Sql::new("SELECT pg_catalog.count(*) FROM (SELECT")
            .sql(&self.record())
            .text(" FOR UPDATE OF r) AS q");
        if self.number(&sql) == 0 {
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
        let sql = Sql::new("SELECT pg_catalog.count(*)")
            .sql(&self.record())
            .text(" AND ")
            .sql(&json("r", stored(&self.subject.columns)))
            .text(" OPERATOR(pg_catalog.@>) COALESCE(a.new, a.old)");
        if self.number(&sql) == 0 {
            self.refuse(
                &format!(
                    "Record \"{}\" of table \"{}\" has changed since.",
                    self.kept, self.subject.name
                ),
                "",
            );
        }
    }

    /// The tables of entries of a kind.
    fn tables(&self, action: &str) -> Vec<RestoredTable> {
        let (from, condition) = self.entries("a", action);
        let query = Sql::new("SELECT DISTINCT a.relation::pg_catalog.oid FROM ")
            .sql(&from)
            .text(" WHERE ")
            .sql(&condition)
            .text(" ORDER BY 1");
        let mut tables = Vec::new();
        self.session.each(
            &query,
            &parameter(self.id),
            |_| (),
            |(), row| {
                tables.push(pg_sys::Oid::from(
                    row.datum(0).map_or(0, |oid| oid.value() as u32),
                ));
            },
        );
        tables
            .into_iter()
            .map(|oid| RestoredTable::of(oid, self.session))
            .collect()
    }

    /// What was redirected, by table and reference.
    fn redirected(&self) -> Vec<Redirected> {
        let mut all = Vec::new();
        for table in self.tables("redirect") {
            let (from, condition) = self.entries("a", "redirect");
            let query = Sql::new("SELECT DISTINCT a.reference, k.name FROM ")
                .sql(&from)
                .text(" CROSS JOIN LATERAL pg_catalog.jsonb_object_keys(a.old) AS k (name) WHERE ")
                .sql(&condition)
                .text(&format!(
                    " AND a.relation OPERATOR(pg_catalog.=) {}::pg_catalog.oid ORDER BY 1, 2",
                    table.oid.to_u32()
                ));
            let mut of: Vec<(CString, Vec<CString>)> = Vec::new();
            self.session.each(
                &query,
                &parameter(self.id),
                |_| (),
                |(), row| {
                    let name = name_of(row, 0);
                    let column =
                        CString::new(text_of(row, 1).unwrap_or_default()).unwrap_or_default();
                    match of.last_mut() {
                        Some((last, columns)) if *last == name => columns.push(column),
                        _ => of.push((name, vec![column])),
                    }
                },
            );
            let own = self.subject.tree.contains(&table.oid);
            for (reference, columns) in of {
                let table = RestoredTable::of(table.oid, self.session);
                all.push(Redirected {
                    table,
                    reference,
                    columns,
                    own,
                });
            }
        }
        all
    }

    /// The entries of a reference under an alias.
    fn of(&self, of: &Redirected, alias: &str) -> (Sql, Sql) {
        let (from, condition) = self.entries(alias, "redirect");
        let condition = condition
            .text(&format!(
                " AND {alias}.relation OPERATOR(pg_catalog.=) {}::pg_catalog.oid AND {alias}.reference OPERATOR(pg_catalog.=) ",
                of.table.oid.to_u32()
            ))
            .literal(&of.reference);
        (from, condition)
    }

    /// The condition that a row that entry `e` is about was deleted by a merge, so that it is in the entry `d` of that.
    fn is_deleted(&self, of: &Redirected) -> Sql {
        Sql::new("d.relation OPERATOR(pg_catalog.=) e.relation AND d.action OPERATOR(pg_catalog.=) ANY ('{delete,drop}'::pg_catalog.text[]) AND d.unmerged IS NULL AND d.old OPERATOR(pg_catalog.@>) ")
            .sql(&picked("e.new", &of.table.key))
    }

    /// Locks the rows that were redirected.
    ///
    /// Errors: one of them has changed.
    fn check_children(&self, of: &Redirected) {
        let (from, condition) = self.of(of, "e");
        let rows = Sql::new("").only(of.table.oid).text(" AS c");
        let lock = Sql::new("SELECT pg_catalog.count(*) FROM (SELECT FROM ")
            .sql(&from)
            .text(" JOIN ")
            .sql(&rows)
            .text(" ON ")
            .sql(&of.table.key_is("c", "e.new"))
            .text(" WHERE ")
            .sql(&condition)
            .text(" ORDER BY ")
            .sql(&of.table.key_text("c"))
            .text(" COLLATE pg_catalog.\"C\" FOR UPDATE OF c) AS q");
        self.number(&lock);
        let mut changed = Sql::new("SELECT pg_catalog.count(*) FROM ")
            .sql(&from)
            .text(" WHERE ")
            .sql(&condition)
            .text(" AND NOT EXISTS (SELECT FROM ")
            .sql(&rows)
            .text(" WHERE ")
            .sql(&of.table.key_is("c", "e.new"))
            .text(" AND ")
            .sql(&hash("c"))
            .text(" OPERATOR(pg_catalog.=) e.hash)");
        changed = changed
            .text(" AND NOT EXISTS (SELECT FROM ")
            .sql(&self.audit.sql())
            .text(" AS d WHERE ")
            .sql(&self.is_deleted(of))
            .text(")");
        let changed = self.number(&changed);
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

    /// Gives the record that was kept its values of before.
    fn restore_record(&self) {
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
    fn insert(&self, table: &RestoredTable, action: &str) -> i64 {
        let (from, condition) = self.entries("a", action);
        let condition = condition.text(&format!(
            " AND a.relation OPERATOR(pg_catalog.=) {}::pg_catalog.oid",
            table.oid.to_u32()
        ));
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

    /// Entries of other merges about rows that are back now say how these are.
    fn refresh(&self, table: &RestoredTable, action: &str) {
        if table.key.is_empty() {
            return;
        }
        let (from, condition) = self.entries("d", action);
        let statement = Sql::new("UPDATE ")
            .sql(&self.audit.sql())
            .text(" AS e SET hash = q.hash, key = q.key FROM (SELECT o.entry, ")
            .sql(&hash("c"))
            .text(" AS hash, ")
            .sql(&table.key_text("c"))
            .text(" AS key FROM ")
            .sql(&from)
            .text(" JOIN ")
            .sql(&self.audit.sql())
            .text(" AS o ON o.relation OPERATOR(pg_catalog.=) d.relation AND o.action OPERATOR(pg_catalog.=) 'redirect' AND o.unmerged IS NULL AND d.old OPERATOR(pg_catalog.@>) ")
            .sql(&picked("o.new", &table.key))
            .text(" JOIN ")
            .only(table.oid)
            .text(" AS c ON ")
            .sql(&table.key_is("c", "o.new"))
            .text(" WHERE ")
            .sql(&condition)
            .text(") AS q WHERE q.entry OPERATOR(pg_catalog.=) e.entry");
        self.session.run(&statement, &parameter(self.id));
    }

    /// Redirects rows back, and what entries of other merges say of them.
    fn redirect_back(&self, of: &Redirected) {
        let table = &of.table;
        let (from, condition) = self.of(of, "e");
        let count = Sql::new("SELECT pg_catalog.count(*) FROM ")
            .sql(&from)
            .text(" WHERE ")
            .sql(&condition);
        let expected = self.number(&count);
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
            .text(" AND a.action OPERATOR(pg_catalog.=) 'redirect' AND a.key OPERATOR(pg_catalog.=) u.was AND a.entry OPERATOR(pg_catalog.<>) u.entry AND a.unmerged IS NULL) \
                SELECT pg_catalog.count(*) FROM u");
        let mut back = self.number(&changed);
        if back < expected {
            back += self.number(&self.deleted_back(of, &from, &condition));
        }
        if of.own {
            self.kept_back(of, &from, &condition);
        }
        if back < expected {
            self.refuse(
                &format!("Rows of table \"{}\" could not be redirected.", table.name),
                "A trigger, a rule or row-level security keeps them as they are.",
            );
        }
    }

    /// Rows that another merge has deleted are redirected where that has written them.
    fn deleted_back(&self, of: &Redirected, from: &Sql, condition: &Sql) -> Sql {
        Sql::new("WITH u AS (UPDATE ")
            .sql(&self.audit.sql())
            .text(" AS d SET old = d.old OPERATOR(pg_catalog.||) e.old FROM ")
            .sql(from)
            .text(" WHERE ")
            .sql(condition)
            .text(" AND d.id OPERATOR(pg_catalog.<>) $1 AND ")
            .sql(&self.is_deleted(of))
            .text(" RETURNING 1) SELECT pg_catalog.count(*) FROM u")
    }

    /// What other merges have written of records that they kept is redirected, too.
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
            .text(" WHERE ")
            .sql(condition)
            .text(" AND d.relation OPERATOR(pg_catalog.=) e.relation AND d.action OPERATOR(pg_catalog.=) 'keep' AND d.unmerged IS NULL AND d.id OPERATOR(pg_catalog.<>) $1 AND d.old OPERATOR(pg_catalog.@>) ")
            .sql(&picked("e.new", &of.table.key));
        self.session.run(&statement, &parameter(self.id));
    }
}

/// Some members of an object of texts.
fn picked(object: &str, names: &[CString]) -> Sql {
    Sql::new("pg_catalog.jsonb_object(ARRAY[")
        .list(names, |sql, name| {
            sql.literal(name).text(", ").sql(&member(object, name))
        })
        .text("]::pg_catalog.text[])")
}
