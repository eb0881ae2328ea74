//! Rows of a child that could not all be redirected, since a unique index or an exclusion constraint would have two of them alike.

use std::ffi::{CStr, CString};

use pgrx::pg_sys;

use super::child::Child;
use super::references::Reference;
use super::subject::Subject;
use super::values::redirected;
use crate::pg::cursor::QueryRow;
use crate::pg::session::Session;
use crate::pg::sql::Sql;
use crate::pg::values::varlena::Varlena;

/// A column of an index, as it is compared.
struct IndexColumn {
    /// As the server writes it: a name or an expression.
    expression: Vec<u8>,
    operator: (CString, CString),
    collation: pg_sys::Oid,
}

/// An index that does not take two rows alike.
pub struct Uniqueness {
    /// The index, and so the constraint, if it is one.
    pub name: CString,
    compared: Vec<IndexColumn>,
    predicate: Option<Vec<u8>>,
    /// Two NULLs are alike.
    nulls_alike: bool,
}

fn bytes(row: QueryRow, i: usize) -> Option<Vec<u8>> {
    // SAFETY: a text of the query, which stays as long as the row.
    row.datum(i)
        .map(|text| unsafe { Varlena::of(text) }.bytes().to_vec())
}

fn name(row: QueryRow, i: usize) -> CString {
    row.datum(i).map_or(c"?".to_owned(), |name| {
        // SAFETY: a name of the catalogs, which stays as long as the row.
        unsafe { CStr::from_ptr(name.cast_mut_ptr()) }.to_owned()
    })
}

/// The indexes of a child that redirecting its references may offend.
pub fn of_child(child: &Child, session: &Session) -> Vec<Uniqueness> {
    let query = Sql::new("SELECT i.indexrelid, x.relname, pg_catalog.pg_get_indexdef(i.indexrelid, p.place::pg_catalog.int4, false), o.oprname, n.nspname, \
        COALESCE(p.ordered_by, 0::pg_catalog.oid), pg_catalog.pg_get_expr(i.indpred, i.indrelid), i.indnullsnotdistinct, a.attname \
        FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS x ON x.oid OPERATOR(pg_catalog.=) i.indexrelid \
        LEFT JOIN pg_catalog.pg_constraint AS c ON c.conindid OPERATOR(pg_catalog.=) i.indexrelid AND c.contype OPERATOR(pg_catalog.=) ANY ('{p,u,x}'::\"char\"[]) \
        CROSS JOIN LATERAL ROWS FROM (pg_catalog.unnest(i.indkey), pg_catalog.unnest(i.indclass), pg_catalog.unnest(i.indcollation), pg_catalog.unnest(c.conexclop)) \
            WITH ORDINALITY AS p (number, class, ordered_by, excluded, place) \
        JOIN pg_catalog.pg_opclass AS k ON k.oid OPERATOR(pg_catalog.=) p.class \
        LEFT JOIN pg_catalog.pg_amop AS m ON m.amopfamily OPERATOR(pg_catalog.=) k.opcfamily AND m.amoplefttype OPERATOR(pg_catalog.=) k.opcintype \
            AND m.amoprighttype OPERATOR(pg_catalog.=) k.opcintype AND m.amopstrategy OPERATOR(pg_catalog.=) 3 AND p.excluded IS NULL \
        JOIN pg_catalog.pg_operator AS o ON o.oid OPERATOR(pg_catalog.=) COALESCE(p.excluded, m.amopopr) JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) o.oprnamespace \
        LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid AND a.attnum OPERATOR(pg_catalog.=) p.number \
        WHERE (i.indisunique OR i.indisexclusion) AND i.indislive AND i.indrelid OPERATOR(pg_catalog.=) ")
        .text(&child.oid.to_u32().to_string())
        .text("::pg_catalog.oid ORDER BY x.relname, i.indexrelid, p.place");
    let mut found: Vec<(Uniqueness, bool)> = Vec::new();
    let mut last = 0;
    session.each(
        &query,
        &[],
        |_| (),
        |(), row| {
            let index = row.datum(0).map_or(0, |oid| oid.value() as u32);
            if index != last {
                last = index;
                let predicate = bytes(row, 6);
                let touched = predicate.is_some();
                let uniqueness = Uniqueness {
                    name: name(row, 1),
                    compared: Vec::new(),
                    predicate,
                    nulls_alike: row.datum(7).is_some_and(|alike| alike.value() != 0),
                };
                found.push((uniqueness, touched));
            }
            let Some((uniqueness, touched)) = found.last_mut() else {
                return;
            };
            // An expression has no column.
            let column = row.datum(8).map(|_| name(row, 8));
            let mut changed = child.references.iter().flat_map(|r| &r.pairs);
            *touched |= column.is_none_or(|column| changed.any(|pair| pair.child == column));
            uniqueness.compared.push(IndexColumn {
                expression: bytes(row, 2).unwrap_or_default(),
                operator: (name(row, 4), name(row, 3)),
                collation: pg_sys::Oid::from(row.datum(5).map_or(0, |oid| oid.value() as u32)),
            });
        },
    );
    let touched = found.into_iter().filter(|(_, touched)| *touched);
    touched.map(|(uniqueness, _)| uniqueness).collect()
}

/// The rows of a child as they will be, under their own names, with the least number of a cluster because of which they change.
fn image(child: &Child, subject: &Subject) -> Sql {
    let mut sql = Sql::new("(SELECT c.tableoid AS bloom_merge_table, c.ctid AS bloom_merge_row, ")
        .sql(&child.key_text("c"))
        .text(" COLLATE pg_catalog.\"C\" AS bloom_merge_key, LEAST(")
        .list(0..child.references.len(), |sql, j| {
            sql.text(&format!("g{j}.no"))
        })
        .text(") AS bloom_merge_no");
    for (j, reference) in child.references.iter().enumerate() {
        let columns = reference.pairs.iter().map(|pair| &pair.child);
        sql = sql
            .text(&format!(
                ", g{j}.no AS bloom_merge_no{j}, pg_catalog.format('%s', ROW("
            ))
            .list(columns, |sql, name| sql.text("c.").name(name))
            .text(&format!(
                ")) COLLATE pg_catalog.\"C\" AS bloom_merge_was{j}"
            ));
    }
    let references: Vec<&Reference> = child.references.iter().collect();
    for column in &child.columns {
        let value = redirected("c", column, &references);
        sql = sql.text(", ").sql(&value).text(" AS ").name(&column.name);
    }
    sql = sql.text(" FROM ").only(child.oid).text(" AS c");
    for (j, reference) in child.references.iter().enumerate() {
        let map = format!("g{j}");
        sql = sql
            .text(" LEFT JOIN ")
            .sql(&reference.map(subject))
            .text(&format!(" AS {map} ON "))
            .sql(&reference.refers("c", &map));
    }
    if child.references.iter().any(|reference| reference.own) {
        sql = sql
            .text(" WHERE NOT EXISTS (SELECT FROM bloom_merge_members AS m WHERE NOT m.kept AND ")
            .sql(&subject.key_is("c", "m.key"))
            .text(")");
    }
    sql.text(")")
}

impl Uniqueness {
    /// A query of the rows that would have to go: `no`, `place` (tableoid), `at` (ctid), `gone` and `stays`, the primary keys of the row and of the one that it is like.
    /// The number is the least of the clusters without which the two would not be alike, so that the row can come back when that one is taken back.
    /// A row that refers to the record that is kept stays; of those that are redirected, the one with the least key as text.
    pub fn query(&self, child: &Child, subject: &Subject) -> Sql {
        let mut keyed = Sql::new(
            "(SELECT i.bloom_merge_table, i.bloom_merge_row, i.bloom_merge_key, i.bloom_merge_no",
        );
        let mut cause = Sql::new("");
        for j in 0..child.references.len() {
            keyed = keyed.text(&format!(", i.bloom_merge_no{j}, i.bloom_merge_was{j}"));
            cause = cause.text(&format!(
                "CASE WHEN a.bloom_merge_was{j} OPERATOR(pg_catalog.<>) b.bloom_merge_was{j} THEN COALESCE(a.bloom_merge_no{j}, b.bloom_merge_no{j}) END, "
            ));
        }
        for (n, compared) in self.compared.iter().enumerate() {
            keyed = keyed
                .text(", (")
                .expression(&compared.expression)
                .text(&format!(") AS x{n}"));
        }
        keyed = keyed
            .text(" FROM ")
            .sql(&image(child, subject))
            .text(" AS i");
        if let Some(predicate) = &self.predicate {
            keyed = keyed.text(" WHERE ").expression(predicate);
        }
        keyed = keyed.text(")");
        let mut sql = Sql::new("SELECT COALESCE(LEAST(")
            .sql(&cause)
            .text("NULL), a.bloom_merge_no) AS no, a.bloom_merge_table AS place, a.bloom_merge_row AS at, a.bloom_merge_key AS gone, b.bloom_merge_key AS stays FROM ")
            .sql(&keyed)
            .text(" AS a JOIN ")
            .sql(&keyed)
            .text(" AS b ON ");
        for (n, compared) in self.compared.iter().enumerate() {
            let (schema, operator) = &compared.operator;
            sql = sql
                .text(if n > 0 { " AND (a." } else { "(a." })
                .text(&format!("x{n}"))
                .collate(compared.collation)
                .text(" OPERATOR(")
                .name(schema)
                .text(".")
                .text(&operator.to_string_lossy())
                .text(&format!(") b.x{n}"));
            if self.nulls_alike {
                sql = sql.text(&format!(
                    " OR a.x{n} IS NOT DISTINCT FROM NULL AND b.x{n} IS NOT DISTINCT FROM NULL"
                ));
            }
            sql = sql.text(")");
        }
        sql.text(" AND a.bloom_merge_key OPERATOR(pg_catalog.<>) b.bloom_merge_key WHERE a.bloom_merge_no IS DISTINCT FROM NULL \
            AND (b.bloom_merge_no IS NOT DISTINCT FROM NULL OR b.bloom_merge_key OPERATOR(pg_catalog.<) a.bloom_merge_key)")
    }
}
