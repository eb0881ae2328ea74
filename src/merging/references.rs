//! What points to the records: foreign keys, and columns that the caller names.

use std::ffi::{CStr, CString};

use bloom_ident_core::{Error, ErrorKind};
use pgrx::{pg_sys, PgSqlErrorCode};

use super::subject::{columns_of, refuse, text, Subject, TableColumn};
use crate::pairs::records::lock;
use crate::pg::catalog;
use crate::pg::catalog::privileges::{current_user, has_policies_for, may, may_select};
use crate::pg::cursor::QueryRow;
use crate::pg::error::{raise_as, shown};
use crate::pg::relation;
use crate::pg::session::Session;
use crate::pg::sql::Sql;
use crate::pg::values::text::to_database;

/// A referencing column, and the one that it refers to.
pub struct Pair {
    pub child: CString,
    pub referenced: CString,
    /// The operator of the referenced and the referencing value; `None` compares and sets texts.
    equal: Option<(CString, CString)>,
}

/// What points to records of the table.
pub struct Reference {
    pub child: pg_sys::Oid,
    /// The constraint, or the column that was named.
    pub name: CString,
    pub pairs: Vec<Pair>,
    /// A foreign key, and what it does when a row is deleted: as pg_constraint says it.
    pub on_delete: Option<u8>,
    /// The child is the table itself.
    pub own: bool,
}

impl Reference {
    /// Whether the server would delete or change children of a row that is deleted.
    pub fn reaches_children(&self) -> bool {
        self.on_delete
            .is_some_and(|action| b"cnd".contains(&action))
    }

    /// A subquery of the losers: `no`, `id`, `cluster`, `key` (of the loser), for each pair the old and new value `o1`, `n1` ...
    pub fn map(&self, subject: &Subject) -> Sql {
        let mut sql = Sql::new("(SELECT m.no, m.id, m.cluster, m.key, m.keep");
        for (i, pair) in self.pairs.iter().enumerate() {
            let value = |alias: &str| match pair.equal {
                Some(_) => Sql::new(alias).text(".").name(&pair.referenced),
                None => Sql::new("pg_catalog.format('%s', ")
                    .text(alias)
                    .text(".")
                    .name(&pair.referenced)
                    .text(")"),
            };
            sql = sql
                .text(", ")
                .sql(&value("l"))
                .text(&format!(" AS o{i}, "))
                .sql(&value("s"))
                .text(&format!(" AS n{i}"));
        }
        sql.text(" FROM bloom_merge_members AS m JOIN ")
            .sql(&subject.from("l"))
            .text(" ON ")
            .sql(&subject.key_is("l", "m.key"))
            .text(" JOIN ")
            .sql(&subject.from("s"))
            .text(" ON ")
            .sql(&subject.key_is("s", "m.keep"))
            .text(" WHERE NOT m.kept)")
    }

    /// The condition that a row of the child under an alias refers to a row of the map under another.
    pub fn refers(&self, child: &str, map: &str) -> Sql {
        let mut sql = Sql::new("");
        for (i, pair) in self.pairs.iter().enumerate() {
            let old = format!("{}{map}.o{i} ", if i > 0 { " AND " } else { "" });
            sql = sql.text(&old);
            sql = match &pair.equal {
                Some((schema, name)) => sql
                    .text("OPERATOR(")
                    .name(schema)
                    .text(".")
                    .text(&name.to_string_lossy())
                    .text(") ")
                    .text(child)
                    .text(".")
                    .name(&pair.child),
                None => sql
                    .text(
                        "COLLATE pg_catalog.\"C\" OPERATOR(pg_catalog.=) pg_catalog.format('%s', ",
                    )
                    .text(child)
                    .text(".")
                    .name(&pair.child)
                    .text(")"),
            };
        }
        sql
    }

    /// A query of how many rows refer to each loser: `no`, `cluster`, `key`, their number, whether the record that is kept has NULL where they would refer to, and its key. Rows that
    /// go themselves do not count.
    pub fn counts(&self, subject: &Subject) -> Sql {
        let mut nulls = Sql::new("false");
        for i in 0..self.pairs.len() {
            nulls = nulls.text(&format!(" OR g.n{i} IS NOT DISTINCT FROM NULL"));
        }
        let sql =
            Sql::new("SELECT g.no, g.cluster, g.key, pg_catalog.count(*), pg_catalog.bool_or(")
                .sql(&nulls)
                .text("), g.keep FROM ")
                .sql(&self.map(subject))
                .text(" AS g JOIN ")
                .sql(&self.from("c"))
                .text(" ON ")
                .sql(&self.refers("c", "g"));
        self.without_losers(subject, sql, " WHERE ")
            .text(" GROUP BY g.no, g.cluster, g.key, g.keep ORDER BY g.no, g.key")
    }

    /// Leaves out rows `c` of the table itself that go.
    pub fn without_losers(&self, subject: &Subject, sql: Sql, and: &str) -> Sql {
        match self.own {
            false => sql,
            true => sql
                .text(and)
                .text("NOT EXISTS (SELECT FROM bloom_merge_members AS w WHERE NOT w.kept AND ")
                .sql(&subject.key_is("c", "w.key"))
                .text(")"),
        }
    }

    /// `FROM`-item of the child under an alias.
    pub fn from(&self, alias: &str) -> Sql {
        Sql::new("").only(self.child).text(" AS ").text(alias)
    }
}

/// A table that refers to records, with all of its references.
pub struct Child {
    pub oid: pg_sys::Oid,
    /// For messages.
    pub name: String,
    pub columns: Vec<TableColumn>,
    /// The columns of its primary key; none if it has none.
    pub key: Vec<CString>,
    pub references: Vec<Reference>,
}

/// Something because of which nothing is merged.
pub struct Obstacle {
    pub child: pg_sys::Oid,
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

fn name_of(row: QueryRow, i: usize) -> CString {
    let value = row.datum(i).unwrap_or(pg_sys::Datum::null());
    // SAFETY: a name of the catalogs, which stays as long as the row.
    unsafe { CStr::from_ptr(value.cast_mut_ptr()) }.to_owned()
}

fn oid_of(row: QueryRow, i: usize) -> pg_sys::Oid {
    pg_sys::Oid::from(row.datum(i).map_or(0, |oid| oid.value() as u32))
}

/// The foreign keys that point to the table or its partitions, each once: of those that partitions have because of their parents, only the parents'.
fn foreign_keys(subject: &Subject, session: &Session) -> Vec<Reference> {
    let tree: Vec<String> = subject
        .tree
        .iter()
        .map(|t| t.to_u32().to_string())
        .collect();
    let query = Sql::new("WITH RECURSIVE up (oid, parent) AS (SELECT c.oid, c.conparentid FROM pg_catalog.pg_constraint AS c WHERE c.contype OPERATOR(pg_catalog.=) 'f' AND c.confrelid OPERATOR(pg_catalog.=) ANY ('{")
        .text(&tree.join(","))
        .text("}'::pg_catalog.oid[]) UNION ALL SELECT c.oid, c.conparentid FROM up JOIN pg_catalog.pg_constraint AS c ON c.oid OPERATOR(pg_catalog.=) up.parent) \
            SELECT c.oid, c.conname, c.conrelid, c.confdeltype, a.attname, b.attname, o.oprname, n.nspname \
            FROM (SELECT DISTINCT up.oid FROM up WHERE up.parent OPERATOR(pg_catalog.=) 0::pg_catalog.oid) AS u \
            JOIN pg_catalog.pg_constraint AS c ON c.oid OPERATOR(pg_catalog.=) u.oid \
            JOIN pg_catalog.pg_class AS k ON k.oid OPERATOR(pg_catalog.=) c.conrelid JOIN pg_catalog.pg_namespace AS s ON s.oid OPERATOR(pg_catalog.=) k.relnamespace \
            CROSS JOIN LATERAL ROWS FROM (pg_catalog.unnest(c.conkey), pg_catalog.unnest(c.confkey), pg_catalog.unnest(c.conpfeqop)) WITH ORDINALITY AS p (child, referenced, operator, i) \
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) c.conrelid AND a.attnum OPERATOR(pg_catalog.=) p.child \
            JOIN pg_catalog.pg_attribute AS b ON b.attrelid OPERATOR(pg_catalog.=) c.confrelid AND b.attnum OPERATOR(pg_catalog.=) p.referenced \
            JOIN pg_catalog.pg_operator AS o ON o.oid OPERATOR(pg_catalog.=) p.operator JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) o.oprnamespace \
            ORDER BY s.nspname, k.relname, c.conname, c.oid, p.i");
    let (mut found, mut last) = (Vec::<Reference>::new(), pg_sys::InvalidOid);
    session.each(
        &query,
        &[],
        |_| (),
        |(), row| {
            let pair = Pair {
                child: name_of(row, 4),
                referenced: name_of(row, 5),
                equal: Some((name_of(row, 7), name_of(row, 6))),
            };
            if oid_of(row, 0) != last {
                last = oid_of(row, 0);
                let child = oid_of(row, 2);
                found.push(Reference {
                    child,
                    name: name_of(row, 1),
                    pairs: Vec::new(),
                    on_delete: row.datum(3).map(|action| action.value() as u8),
                    own: subject.tree.contains(&child),
                });
            }
            if let Some(reference) = found.last_mut() {
                reference.pairs.push(pair);
            }
        },
    );
    found
}

/// A column that the caller names, as `table.column` or `schema.table.column`.
///
/// Errors: no such table or column; it is of another type than the key, and no text.
fn named(subject: &Subject, given: &str) -> Reference {
    let invalid = |message: String| -> ! {
        raise_as(
            PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE,
            &Error::new(ErrorKind::InvalidParameter, message)
                .hint("Name a column that holds keys as table.column or schema.table.column."),
        )
    };
    let c = CString::new(to_database(given))
        .unwrap_or_else(|_| invalid("name of a column has a zero byte".to_owned()));
    // SAFETY: the server reads names from a text, and finds the table of all but the last. Without a lock: that comes next, when it is known that the caller may read it.
    let (oid, column) = unsafe {
        let text = pg_sys::cstring_to_text(c.as_ptr());
        let parts = pg_sys::textToQualifiedNameList(text);
        let count = (*parts).length;
        if !(2..=3).contains(&count) {
            invalid(format!(
                "\"{}\" does not name a column of a table",
                shown(given)
            ));
        }
        let last = pg_sys::list_nth(parts, count - 1).cast::<pg_sys::Node>();
        let column = CStr::from_ptr(string_of(last)).to_owned();
        let of_table = pg_sys::list_truncate(parts, count - 1);
        let range = pg_sys::makeRangeVarFromNameList(of_table);
        let none = pg_sys::NoLock as pg_sys::LOCKMODE;
        let oid = pg_sys::RangeVarGetRelidExtended(range, none, 0, None, std::ptr::null_mut());
        (oid, column)
    };
    let name = lock(oid);
    let columns = columns_of(oid);
    let Some(found) = columns.iter().find(|c| c.name == column) else {
        refuse(
            PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
            format!(
                "column \"{}\" of relation \"{name}\" does not exist",
                text(&column)
            ),
            "",
            "",
        )
    };
    // SAFETY: a catalog look-up of a type that exists.
    let base = unsafe { pg_sys::getBaseType(found.store.type_oid) };
    let equal = match base == subject.key_type.type_oid {
        true => Some(catalog::operators::named(subject.equal)),
        false if found.is_text() && base != pg_sys::BPCHAROID => None,
        false => refuse(
            PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
            format!(
                "column \"{}\" of relation \"{name}\" is of type {}",
                text(&column),
                text(&catalog::type_name(base))
            ),
            &format!(
                "The keys are of type {}.",
                text(&catalog::type_name(subject.key_type.type_oid))
            ),
            "A column that holds keys is of their type, or a text.",
        ),
    };
    Reference {
        child: oid,
        name: column.clone(),
        pairs: vec![Pair {
            child: column,
            referenced: subject.key_name().to_owned(),
            equal,
        }],
        on_delete: None,
        own: subject.tree.contains(&oid),
    }
}

/// The string of a node that the server has made of a name.
///
/// # Safety
/// `node` is a String.
unsafe fn string_of(node: *mut pg_sys::Node) -> *mut std::ffi::c_char {
    // SAFETY: the caller's.
    unsafe { (*node.cast::<pg_sys::String>()).sval }
}

/// The tables that refer to records, locked until the end of the transaction.
pub fn children(
    subject: &Subject,
    session: &Session,
    redirect: &[String],
    lock_mode: u32,
) -> Vec<Child> {
    let mut children: Vec<Child> = Vec::new();
    let all = foreign_keys(subject, session).into_iter();
    for reference in all.chain(redirect.iter().map(|given| named(subject, given))) {
        let known = children
            .iter_mut()
            .find(|child| child.oid == reference.child);
        if let Some(child) = known {
            let is_same = |other: &Reference| {
                other.pairs.len() == reference.pairs.len()
                    && other
                        .pairs
                        .iter()
                        .zip(&reference.pairs)
                        .all(|(a, b)| a.child == b.child && a.referenced == b.referenced)
            };
            // Two constraints may say the same; the stricter one counts.
            match child.references.iter_mut().find(|other| is_same(other)) {
                Some(other) if reference.reaches_children() => *other = reference,
                Some(_) => (),
                None => child.references.push(reference),
            }
            continue;
        }
        let oid = reference.child;
        let user = current_user();
        // Who may not even read the table gets no lock on it; what is missing is told as an obstacle.
        if may_select(oid, &[], user) || may(oid, pg_sys::ACL_UPDATE, user) {
            relation::lock(oid, lock_mode);
        }
        children.push(Child {
            oid,
            name: text(&catalog::name(oid)),
            columns: columns_of(oid),
            key: primary_key(oid, session),
            references: vec![reference],
        });
    }
    children
}

/// The columns of a table's primary key.
pub fn primary_key(oid: pg_sys::Oid, session: &Session) -> Vec<CString> {
    let query = Sql::new("SELECT a.attname FROM pg_catalog.pg_index AS i CROSS JOIN LATERAL pg_catalog.unnest(i.indkey) WITH ORDINALITY AS k (number, place) \
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid AND a.attnum OPERATOR(pg_catalog.=) k.number \
        WHERE i.indisprimary AND k.place OPERATOR(pg_catalog.<=) i.indnkeyatts AND i.indrelid OPERATOR(pg_catalog.=) ")
        .text(&oid.to_u32().to_string())
        .text("::pg_catalog.oid ORDER BY k.place");
    let mut key = Vec::new();
    session.each(&query, &[], |_| (), |(), row| key.push(name_of(row, 0)));
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
                child: self.oid,
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
        if !may_select(self.oid, &all, user) {
            missing.push("SELECT");
        }
        if changes && !catalog::privileges::may_update(self.oid, &changed, user) {
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
