//! The rows of a child as they will be when its references are redirected, columns included that the server computes.

use std::ffi::CString;

use pgrx::pg_sys;

use crate::merging::child::Child;
use crate::merging::references::{
    array, left_joins, name_of, oid, text_of, without_losers, Reference,
};
use crate::merging::subject::{text, Subject};
use crate::merging::values::redirected;
use pg::catalog::{self, generated};
use pg::relation::{self, OpenRelation};
use pg::session::Session;
use pg::sql;
use pg::sql::Sql;

/// A generated column that changes, since it is computed from one that is redirected.
struct Computed {
    name: CString,
    /// As the server writes it, for each table that has rows; partitions may compute it in their own way.
    expressions: Vec<(pg_sys::Oid, Vec<u8>)>,
}

/// How the rows of a child will be.
pub struct Image {
    /// The child and its partitions.
    pub tree: Vec<pg_sys::Oid>,
    /// What the names of our columns begin with; no column of the child does.
    pub prefix: String,
    /// All columns that change.
    pub changed: Vec<CString>,
    computed: Vec<Computed>,
}

/// The child with its partitions. Rows of tables that inherit from a child are no references.
pub fn tree_of(child: &Child) -> Vec<pg_sys::Oid> {
    match catalog::kind(child.oid) {
        // SAFETY: the child is locked.
        pg_sys::RELKIND_PARTITIONED_TABLE => unsafe {
            relation::with_inheritors(child.oid, pg_sys::AccessShareLock)
        },
        _ => vec![child.oid],
    }
}

impl Image {
    /// What redirecting its references makes of a locked child.
    pub fn new(child: &Child, session: &Session) -> Image {
        let tree = tree_of(child);
        let references = child.references.iter().flat_map(|r| &r.pairs);
        let mut changed: Vec<CString> = references.map(|pair| pair.child.clone()).collect();
        let mut prefix = "bloom_merge_".to_owned();
        let taken = |prefix: &str| {
            child
                .columns
                .iter()
                .any(|c| text(&c.name).starts_with(prefix))
        };
        while taken(&prefix) {
            prefix.push('_');
        }
        let mut computed = Vec::new();
        for column in child.columns.iter().filter(|column| column.generated) {
            let is_computed = tree.iter().any(|&table| {
                let open = OpenRelation::locked_table(table);
                let number = catalog::column(table, &column.name).unwrap_or(0);
                let mut sources = generated::sources(&open, number).into_iter();
                sources.any(|i| changed.contains(&catalog::column_name(table, i)))
            });
            if is_computed {
                computed.push(Computed {
                    name: column.name.clone(),
                    expressions: Vec::new(),
                });
            }
        }
        changed.extend(computed.iter().map(|column| column.name.clone()));
        let tables = array(&tree);
        let query = sql!(
            "SELECT d.adrelid, a.attname, pg_catalog.pg_get_expr(d.adbin, d.adrelid) FROM pg_catalog.pg_attrdef AS d \
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) d.adrelid \
            AND a.attnum OPERATOR(pg_catalog.=) d.adnum \
            WHERE a.attgenerated OPERATOR(pg_catalog.<>) '' AND d.adrelid OPERATOR(pg_catalog.=) ANY ({tables}) \
            ORDER BY d.adrelid"
        );
        if !computed.is_empty() {
            session.each(&query, &[], |row| {
                let name = name_of(row, 1);
                let column = computed.iter_mut().find(|column| column.name == name);
                if let (Some(column), Some(expression)) = (column, text_of(row, 2)) {
                    column.expressions.push((row.oid(0), expression));
                }
            });
        }
        Image {
            tree,
            prefix,
            changed,
            computed,
        }
    }

    /// The rows under their own names and those of ours: `tableoid` and `ctid` of each row as it is, which no column
    /// can be called, and after the prefix `key` (of the child), `no` (the least number of a cluster because of which
    /// it changes), and of each reference its `no0` ... and what it referred to, `was0` ...
    pub fn sql(&self, child: &Child, subject: &Subject) -> Sql {
        let prefix = &self.prefix;
        let references: Vec<&Reference> = child.references.iter().collect();
        let numbers = (0..references.len()).map(|j| sql!("g{j}.no"));
        let (key, numbers) = (child.key_text("c"), Sql::join(numbers, ", "));
        let mut columns =
            sql!("{key} COLLATE pg_catalog.\"C\" AS {prefix}key, LEAST({numbers}) AS {prefix}no");
        for (j, reference) in references.iter().enumerate() {
            let was = reference.pairs.iter().map(|pair| sql!("c.{pair.child}"));
            let was = Sql::join(was, ", ");
            columns = sql!(
                "{columns}, g{j}.no AS {prefix}no{j}, \
                pg_catalog.format('%s', ROW({was})) COLLATE pg_catalog.\"C\" AS {prefix}was{j}"
            );
        }
        let is_computed = |name: &CString| self.computed.iter().any(|c| c.name == *name);
        for column in child.columns.iter().filter(|c| !is_computed(&c.name)) {
            let value = redirected("c", column, &references);
            columns = sql!("{columns}, {value} AS {column.name}");
        }
        let (only, joins) = (child.only(), left_joins(&references, subject, "c"));
        let staying = match child.is_own() {
            true => without_losers(subject),
            false => Sql::new(""),
        };
        let rows = sql!(
            "(SELECT c.tableoid AS tableoid, c.ctid AS ctid, {columns} FROM {only} AS c{joins}{staying})"
        );
        if self.computed.is_empty() {
            return rows;
        }
        // The server's expressions name columns without their table.
        let computed = self.computed.iter().map(|column| {
            let whole = column.expressions.iter().find(|(of, _)| *of == child.oid);
            let whole = whole.map_or(&b"NULL"[..], |(_, expression)| expression);
            let others = column.expressions.iter().filter(|(_, of)| of != whole);
            let others = others.map(|(of_table, expression)| {
                let (of_table, value) = (oid(*of_table), Sql::new("").expression(expression));
                sql!(" WHEN {of_table} THEN ({value})")
            });
            let others: Vec<Sql> = others.collect();
            let whole = Sql::new("").expression(whole);
            if others.is_empty() {
                return sql!(", ({whole}) AS {column.name}");
            }
            let others = Sql::join(others, "");
            sql!(", (CASE b.tableoid{others} ELSE ({whole}) END) AS {column.name}")
        });
        let computed = Sql::join(computed, "");
        sql!("(SELECT b.*{computed} FROM {rows} AS b)")
    }
}
