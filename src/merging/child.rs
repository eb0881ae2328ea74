//! The tables that refer to records.

use base::Error;
use pg::error::sql_error;
use std::ffi::CString;
use std::ops::Deref;

use pgrx::{pg_sys, PgSqlErrorCode};

use super::collisions::reach;
use super::named::named;
use super::references::{foreign_keys, oid, Reference};
use super::row_table::RowTable;
use super::subject::{text, Subject};
use pg::catalog;
use pg::catalog::privileges::{
    current_user, has_policies_for, may_select, may_select_any, may_update,
};
use pg::relation;
use pg::session::Session;
use pg::sql;

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
