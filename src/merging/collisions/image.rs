//! The rows of a child as they will be when its references are redirected, columns included that the server computes.

use std::ffi::CString;

use pgrx::pg_sys;

use crate::merging::child::Child;
use crate::merging::references::{array, name_of, Reference};
use crate::merging::subject::{text, Subject};
use crate::merging::values::redirected;
use pg::catalog::{self, generated};
use pg::relation::{self, OpenRelation};
use pg::session::Session;
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
        while child
            .columns
            .iter()
            .any(|c| text(&c.name).starts_with(&prefix))
        {
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
                let name = column.name.clone();
                computed.push(Computed {
                    name,
                    expressions: Vec::new(),
                });
            }
        }
        changed.extend(computed.iter().map(|column| column.name.clone()));
        let query = Sql::new("SELECT d.adrelid, a.attname, pg_catalog.pg_get_expr(d.adbin, d.adrelid) FROM pg_catalog.pg_attrdef AS d \
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) d.adrelid AND a.attnum OPERATOR(pg_catalog.=) d.adnum \
            WHERE a.attgenerated OPERATOR(pg_catalog.<>) '' AND d.adrelid OPERATOR(pg_catalog.=) ANY (")
            .text(&array(&tree))
            .text(") ORDER BY d.adrelid");
        if !computed.is_empty() {
            session.each(&query, &[], |row| {
                let name = name_of(row, 1);
                let of_table = row.oid(0);
                let expression = row.bytes(2).map(|text| text.bytes().to_vec());
                let column = computed.iter_mut().find(|column| column.name == name);
                if let (Some(column), Some(expression)) = (column, expression) {
                    column.expressions.push((of_table, expression));
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
        let mut sql = Sql::new("(SELECT c.tableoid AS tableoid, c.ctid AS ctid, ")
            .sql(&child.key_text("c"))
            .text(&format!(" COLLATE pg_catalog.\"C\" AS {prefix}key, LEAST("))
            .list(0..child.references.len(), |sql, j| {
                sql.text(&format!("g{j}.no"))
            })
            .text(&format!(") AS {prefix}no"));
        for (j, reference) in child.references.iter().enumerate() {
            let columns = reference.pairs.iter().map(|pair| &pair.child);
            sql = sql
                .text(&format!(
                    ", g{j}.no AS {prefix}no{j}, pg_catalog.format('%s', ROW("
                ))
                .list(columns, |sql, name| sql.text("c.").name(name))
                .text(&format!(")) COLLATE pg_catalog.\"C\" AS {prefix}was{j}"));
        }
        let references: Vec<&Reference> = child.references.iter().collect();
        let is_computed = |name: &CString| self.computed.iter().any(|c| c.name == *name);
        for column in child.columns.iter().filter(|c| !is_computed(&c.name)) {
            let value = redirected("c", column, &references);
            sql = sql.text(", ").sql(&value).text(" AS ").name(&column.name);
        }
        sql = sql.text(" FROM ").only(child.oid).text(" AS c");
        for (j, reference) in child.references.iter().enumerate() {
            sql = reference.left_join(subject, sql, "c", j);
        }
        if child.references.iter().any(|reference| reference.own) {
            sql = sql
                .text(
                    " WHERE NOT EXISTS (SELECT FROM bloom_merge_members AS m WHERE NOT m.kept AND ",
                )
                .sql(&subject.key_is("c", "m.key"))
                .text(")");
        }
        if self.computed.is_empty() {
            return sql.text(")");
        }
        // The server's expressions name columns without their table.
        let mut all = Sql::new("(SELECT b.*");
        for column in &self.computed {
            all = all.text(", ");
            let whole = column.expressions.iter().find(|(of, _)| *of == child.oid);
            let whole = whole.map_or(&b"NULL"[..], |(_, expression)| expression);
            let mut others = { column.expressions.iter() }
                .filter(|(_, expression)| expression != whole)
                .peekable();
            let is_one = others.peek().is_none();
            all = all.text(if is_one { "(" } else { "(CASE b.tableoid" });
            for (of_table, expression) in others {
                all = all
                    .text(&format!(
                        " WHEN {}::pg_catalog.oid THEN (",
                        of_table.to_u32()
                    ))
                    .expression(expression)
                    .text(")");
            }
            all = all
                .text(if is_one { "" } else { " ELSE (" })
                .expression(whole)
                .text(if is_one { ") AS " } else { ") END) AS " })
                .name(&column.name);
        }
        all.text(" FROM ").sql(&sql).text(") AS b)")
    }
}
