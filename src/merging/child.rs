//! The tables that refer to records.

use std::ffi::CString;

use pgrx::{pg_sys, PgSqlErrorCode};

use super::collisions::reach;
use super::named::named;
use super::references::{foreign_keys, name_of, Reference};
use super::subject::{columns_of, refuse, text, Subject, TableColumn};
use pg::catalog;
use pg::catalog::privileges::{
    current_user, has_policies_for, may_select, may_select_any, may_update,
};
use pg::relation;
use pg::session::Session;
use pg::sql::Sql;

/// A table that refers to records, with all of its references.
pub struct Child {
    pub oid: pg_sys::Oid,
    /// For messages.
    pub name: String,
    /// None if the current user may not even read the table.
    pub columns: Vec<TableColumn>,
    /// The columns of its primary key; none if it has none.
    pub key: Vec<CString>,
    pub references: Vec<Reference>,
    /// A rule stands instead of updates.
    ruled: bool,
}

/// Something because of which nothing is merged.
pub struct Obstacle {
    pub code: PgSqlErrorCode,
    pub message: String,
    pub detail: String,
    pub hint: String,
}

impl Obstacle {
    /// Fails the statement.
    pub fn raise(&self) -> ! {
        refuse(self.code, self.message.clone(), &self.detail, &self.hint)
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
        let known = children
            .iter_mut()
            .find(|child| child.oid == reference.child);
        if let Some(child) = known {
            // Two constraints may say the same; the stricter one counts.
            match child
                .references
                .iter_mut()
                .find(|other| other.is_like(&reference))
            {
                Some(other) if reference.reaches_children() => *other = reference,
                Some(_) => (),
                None => child.references.push(reference),
            }
            continue;
        }
        let oid = reference.child;
        let user = current_user();
        let changed = reference.pairs.iter();
        let changed: Vec<i16> = changed
            .filter_map(|pair| catalog::column(oid, &pair.child))
            .collect();
        // Nobody gets a lock that a statement of his own could not take; what is missing is told as an obstacle.
        let lock = match may_select_any(oid, user) {
            _ if may_update(oid, &changed, user) => Some(lock_mode),
            true => Some(pg_sys::AccessShareLock),
            false => None,
        };
        if let Some(mode) = lock {
            relation::lock(oid, mode);
        }
        children.push(Child {
            oid,
            name: text(&catalog::name(oid)),
            columns: lock.map_or_else(Vec::new, |_| columns_of(oid)),
            key: primary_key(oid, session),
            references: vec![reference],
            ruled: has_rule(
                oid,
                "r.is_instead AND r.ev_type OPERATOR(pg_catalog.=) '2'",
                session,
            ),
        });
    }
    for child in &mut children {
        // By a key of several columns, all of them get their values together.
        let several = |r: &Reference| std::cmp::Reverse(r.pairs.len());
        child.references.sort_by_key(several);
    }
    reach::ordered(children, session)
}

/// Whether a table has a rule `r` of a kind.
pub fn has_rule(oid: pg_sys::Oid, kind: &str, session: &Session) -> bool {
    let query = Sql::new("SELECT pg_catalog.count(*) FROM pg_catalog.pg_rewrite AS r WHERE r.ev_enabled OPERATOR(pg_catalog.<>) 'D' AND ")
        .text(kind)
        .text(" AND r.ev_class OPERATOR(pg_catalog.=) ")
        .text(&oid.to_u32().to_string())
        .text("::pg_catalog.oid");
    session.number(&query, &[]) > 0
}

/// The columns of a table's primary key.
pub fn primary_key(oid: pg_sys::Oid, session: &Session) -> Vec<CString> {
    let query = Sql::new("SELECT a.attname FROM pg_catalog.pg_index AS i CROSS JOIN LATERAL pg_catalog.unnest(i.indkey) WITH ORDINALITY AS k (number, place) \
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid AND a.attnum OPERATOR(pg_catalog.=) k.number \
        WHERE i.indisprimary AND k.place OPERATOR(pg_catalog.<=) i.indnkeyatts AND i.indrelid OPERATOR(pg_catalog.=) ")
        .text(&oid.to_u32().to_string())
        .text("::pg_catalog.oid ORDER BY k.place");
    let mut key = Vec::new();
    session.each(&query, &[], |row| key.push(name_of(row, 0)));
    key
}

impl Child {
    /// The text form of a row's primary key under an alias.
    pub fn key_text(&self, alias: &str) -> Sql {
        let column = |sql: Sql, name: &CString| sql.text(alias).text(".").name(name);
        let sql = Sql::new("pg_catalog.format('%s', ");
        match &self.key[..] {
            [one] => column(sql, one).text(")"),
            several => sql.text("ROW(").list(several, column).text("))"),
        }
    }

    /// Why references of this table cannot be redirected.
    pub fn obstacles(&self, changes: bool) -> Vec<Obstacle> {
        let user = current_user();
        let mut found = Vec::new();
        let mut add = |code, message: String, detail: String, hint: &str| {
            found.push(Obstacle {
                code,
                message,
                detail,
                hint: hint.to_owned(),
            });
        };
        let kind = catalog::kind(self.oid);
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
                format!("cannot redirect references of table \"{}\"", self.name),
                "It has no primary key, so its rows could not be found again.".to_owned(),
                "Add a primary key.",
            );
        }
        if self.ruled {
            add(
                PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
                format!("cannot redirect references of table \"{}\"", self.name),
                "It has a rule ON UPDATE DO INSTEAD.".to_owned(),
                "Disable the rule in the same transaction.",
            );
        }
        let columns = self
            .references
            .iter()
            .flat_map(|r| &r.pairs)
            .map(|p| &p.child);
        for name in columns {
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
        let numbers = |names: &mut dyn Iterator<Item = &CString>| -> Vec<i16> {
            names.filter_map(|n| catalog::column(self.oid, n)).collect()
        };
        let changed = numbers(
            &mut self
                .references
                .iter()
                .flat_map(|r| &r.pairs)
                .map(|p| &p.child),
        );
        let all: Vec<i16> = numbers(&mut self.columns.iter().map(|c| &c.name));
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
