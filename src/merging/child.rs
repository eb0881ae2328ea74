//! The tables that refer to records.

use std::ffi::CString;
use std::ops::Deref;

use base::Error;
use pgrx::{pg_sys, PgLogLevel, PgSqlErrorCode};

use super::collisions::image::tree_of;
use super::collisions::reach;
use super::named::named;
use super::references::{array, foreign_keys, oid, Reference};
use super::row_table::RowTable;
use super::subject::{check_own, text, Subject};
use pg::catalog::privileges::{
    current_user, has_policies_for, may_select, may_select_any, may_update,
};
use pg::error::{sql_error, Tell};
use pg::session::Session;
use pg::sql::{literal, Sql};
use pg::values::text::readable;
use pg::{catalog, relation, sql};

/// A table that refers to records, with all of its references.
pub struct Child {
    table: RowTable,
    pub references: Vec<Reference>,
    /// A rule stands instead of updates.
    ruled: bool,
}

impl Deref for Child {
    type Target = RowTable;

    fn deref(&self) -> &RowTable {
        &self.table
    }
}

/// The tables that refer to records, locked until the end of the transaction.
///
/// Errors: Citus keeps the rows of one.
pub fn children(
    subject: &Subject,
    session: &Session,
    redirect: &[String],
    lock_mode: u32,
) -> Vec<Child> {
    let mut children: Vec<Child> = Vec::new();
    let all = foreign_keys(&subject.tree, session).into_iter();
    for reference in all.chain(redirect.iter().map(|given| named(subject, given))) {
        let known = children.iter_mut().find(|c| c.oid == reference.child);
        if let Some(child) = known {
            // Two constraints may say the same; the stricter one counts.
            let mut others = child.references.iter_mut();
            match others.find(|other| other.is_like(&reference)) {
                Some(other) if reference.reaches_children() => *other = reference,
                Some(_) => (),
                None => child.references.push(reference),
            }
            continue;
        }
        let oid = reference.child;
        let name = text(&catalog::name(oid));
        check_own(
            oid,
            &format!("cannot redirect references of table \"{name}\""),
        );
        let user = current_user();
        let changed = reference.pairs.iter().map(|pair| &pair.child);
        // Nobody gets a lock that a statement of his own could not take; what is missing is told as an obstacle.
        let lock = match may_select_any(oid, user) {
            _ if may_update(oid, &numbers(oid, changed), user) => Some(lock_mode),
            true => Some(pg_sys::AccessShareLock),
            false => None,
        };
        if let Some(mode) = lock {
            relation::lock(oid, mode);
        }
        let instead = "r.is_instead AND r.ev_type OPERATOR(pg_catalog.=) '2'";
        children.push(Child {
            table: RowTable::new(oid, lock.is_some(), session),
            references: vec![reference],
            ruled: has_rule(oid, instead, session),
        });
    }
    for child in &mut children {
        // By a key of several columns, all of them get their values together.
        let several = |r: &Reference| std::cmp::Reverse(r.pairs.len());
        child.references.sort_by_key(several);
    }
    reach::ordered(children, session)
}

/// The numbers of columns of a table.
pub fn numbers<'a>(table: pg_sys::Oid, names: impl Iterator<Item = &'a CString>) -> Vec<i16> {
    names
        .filter_map(|name| catalog::column(table, name))
        .collect()
}

/// Whether a table has a rule `r` of a kind.
pub fn has_rule(table: pg_sys::Oid, kind: &str, session: &Session) -> bool {
    let table = oid(table);
    let query = sql!(
        "SELECT pg_catalog.count(*) FROM pg_catalog.pg_rewrite AS r \
        WHERE r.ev_enabled OPERATOR(pg_catalog.<>) 'D' AND {kind} AND r.ev_class OPERATOR(pg_catalog.=) {table}"
    );
    session.number(&query, &[]) > 0
}

impl Child {
    /// Whether it is the table of the records.
    pub fn is_own(&self) -> bool {
        self.references.iter().any(|reference| reference.own)
    }

    /// Why references of this table cannot be redirected.
    pub fn obstacles(&self, changes: bool) -> Vec<Error> {
        let user = current_user();
        let mut found = Vec::new();
        let mut add = |code, message: String, detail: String, hint: &str| {
            found.push(sql_error(code, message).detail(detail).hint(hint));
        };
        let kind = catalog::kind(self.oid);
        let cannot = format!("cannot redirect references of table \"{}\"", self.name);
        if ![pg_sys::RELKIND_RELATION, pg_sys::RELKIND_PARTITIONED_TABLE].contains(&kind) {
            add(
                PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
                format!("cannot redirect references of \"{}\"", self.name),
                "It is not a table.".to_owned(),
                "Name the columns of its tables.",
            );
        } else if self.key.is_empty() {
            add(
                PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                cannot.clone(),
                "It has no primary key, so its rows could not be found again.".to_owned(),
                "Add a primary key.",
            );
        }
        if self.ruled {
            add(
                PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
                cannot,
                "It has a rule ON UPDATE DO INSTEAD.".to_owned(),
                "Disable the rule in the same transaction.",
            );
        }
        let pairs = self.references.iter().flat_map(|r| &r.pairs);
        let changed = pairs.map(|pair| &pair.child);
        for name in changed.clone() {
            let column = self.columns.iter().find(|c| c.name == *name);
            if let Some(column) = column.filter(|c| c.generated || c.always) {
                add(
                    PgSqlErrorCode::ERRCODE_GENERATED_ALWAYS,
                    format!(
                        "cannot redirect references of column \"{}\" of table \"{}\"",
                        text(name),
                        self.name
                    ),
                    match column.generated {
                        true => "It is a generated column.".to_owned(),
                        false => "It is GENERATED ALWAYS AS IDENTITY.".to_owned(),
                    },
                    "",
                );
            }
        }
        let changed = numbers(self.oid, changed);
        let all = numbers(self.oid, self.columns.iter().map(|column| &column.name));
        let mut missing = Vec::new();
        if all.is_empty() || !may_select(self.oid, &all, user) {
            missing.push("SELECT");
        }
        if changes && !may_update(self.oid, &changed, user) {
            missing.push("UPDATE");
        }
        if !missing.is_empty() {
            add(
                PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("permission denied for table {}", self.name),
                format!(
                    "Its rows refer to records that go. To redirect them needs {} on it.",
                    missing.join(" and ")
                ),
                "",
            );
        }
        let reaching = self.references.iter().find(|r| r.reaches_children());
        if let Some(reference) = reaching.filter(|_| has_policies_for(self.oid, user)) {
            add(
                PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("row-level security may hide rows of table \"{}\"", self.name),
                format!(
                    "Foreign key \"{}\" would delete or change rows that the current user does not see.",
                    text(&reference.name)
                ),
                "Merge as a user to whom its policies do not apply.",
            );
        }
        found
    }
}

// What a merge tells those who call it, and is no reason to stop.

/// Tables of at most so many bytes are read as a whole in no time.
const SMALL: i64 = 64 * pg_sys::BLCKSZ as i64;

fn send(message: String, hint: String) {
    let code = PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION;
    let notice = sql_error(code, message).hint(hint);
    notice.send(PgLogLevel::NOTICE);
}

/// Tells which columns that refer to the records have no index: the table is read as a whole for each record that is
/// deleted.
pub fn missing_indexes(subject: &Subject, children: &[Child], session: &Session) {
    for child in children.iter().filter(|child| !child.columns.is_empty()) {
        // Texts are compared by what no index has.
        let by_value = |r: &&Reference| r.pairs.iter().all(|pair| pair.equal.is_some());
        for reference in child.references.iter().filter(by_value) {
            let columns = reference.pairs.iter().map(|pair| pair.child.as_c_str());
            let (tables, most) = (array(&tree_of(child)), SMALL.to_string());
            let names = Sql::join(columns.clone().map(literal), ", ");
            let query = sql!(
                "SELECT pg_catalog.count(*) FROM pg_catalog.pg_class AS k WHERE k.relkind OPERATOR(pg_catalog.=) 'r' \
                AND k.oid OPERATOR(pg_catalog.=) ANY ({tables}) \
                AND pg_catalog.pg_relation_size(k.oid) OPERATOR(pg_catalog.>) {most} AND NOT EXISTS (SELECT \
                FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_attribute AS a \
                ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid AND a.attnum OPERATOR(pg_catalog.=) i.indkey[0] \
                JOIN pg_catalog.pg_class AS x ON x.oid OPERATOR(pg_catalog.=) i.indexrelid \
                JOIN pg_catalog.pg_am AS m ON m.oid OPERATOR(pg_catalog.=) x.relam \
                WHERE i.indrelid OPERATOR(pg_catalog.=) k.oid AND i.indisvalid \
                AND m.amname OPERATOR(pg_catalog.=) ANY ('{{btree,hash}}'::pg_catalog.name[]) \
                AND (i.indpred IS NOT DISTINCT FROM NULL OR pg_catalog.pg_get_expr(i.indpred, i.indrelid) \
                OPERATOR(pg_catalog.=) pg_catalog.format('(%I IS NOT NULL)', a.attname)) \
                AND a.attname OPERATOR(pg_catalog.=) ANY (ARRAY[{names}]::pg_catalog.name[]))"
            );
            if session.number(&query, &[]) == 0 {
                continue;
            }
            let statement = Sql::join(columns.clone(), ", ");
            let statement = sql!("CREATE INDEX ON {child.oid} ({statement})");
            let names: Vec<String> = columns.map(text).collect();
            send(
                format!(
                    "table \"{}\" has no index on ({}), by which it refers to table \"{}\"",
                    child.name,
                    names.join(", "),
                    subject.name
                ),
                format!(
                    "Merges take less time with one: {}.",
                    readable(&statement.into_bytes())
                ),
            );
        }
    }
}

/// Tells which children may have rows that the current user does not see, and whose foreign keys would not let records
/// go.
pub fn hidden_rows(children: &[Child]) {
    let user = current_user();
    for child in children {
        let keeps = |r: &Reference| r.on_delete.is_some() && !r.reaches_children();
        if child.references.iter().any(keeps) && has_policies_for(child.oid, user) {
            send(
                format!("row-level security may hide rows of table \"{}\", and no record goes that one of them \
                    refers to", child.name),
                "Merge as a user to whom its policies do not apply.".to_owned(),
            );
        }
    }
}
