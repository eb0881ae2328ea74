//! Pairs of records that are equal in some columns, such as that of the tenant: rows come from a query in the order of
//! these columns, so that those that are equal come one after the other, and each such group is joined by itself.

mod columns;
mod group;

use pgrx::pg_sys;

use crate::pairs::output::PairOutput;
use crate::pairs::records::{RecordColumn, Records, Relations};
use crate::pairs::unique::{self, Successive};
use group::RecordGroup;
use pg::progress::{self, phases};
use pg::session::{read, QueryRow};
use pg::sql::Sql;

pub use columns::{column, given};

/// Rows fetched at a time.
const BATCH: i64 = 1000;

/// The columns of the query: the side of the record, 0 or 1, its key, its signature, and, for new records where only
/// these are searched for, what is not NULL; behind them those that must be equal.
const SIDE: usize = 0;
const KEY: usize = 1;
const SIGNATURE: usize = 2;
const NEW: usize = 3;
const EQUAL: usize = 4;

/// Groups are few if two records are of the same with at least this probability.
const SAME: f64 = 0.25;

/// And if as many records are in the group of a record, on the average.
const MANY: f64 = 50_000.0;

/// Whether the records are in a few large groups, so that to join all of them by indexes, with workers, is quicker than
/// to join each group by itself.
///
/// Errors: as a query of the caller's.
pub fn are_few(relations: Relations<'_>) -> bool {
    let (left, right) = (relations.left, relations.right);
    let kinds = |records: &Records| -> Vec<_> {
        let within = records.within.iter();
        within.map(|c| (c.type_oid, c.collation)).collect()
    };
    right.is_none_or(|right| kinds(right) == kinds(left))
        && [Some(left), right].into_iter().flatten().all(has_few)
}

fn has_few(records: &Records) -> bool {
    let names = || records.within.iter().map(|column| column.name.as_c_str());
    let sql = Sql::new("SELECT pg_catalog.sum(n), pg_catalog.sum(n OPERATOR(pg_catalog.*) n) FROM (SELECT pg_catalog.count(*)::pg_catalog.float8 AS n FROM ")
        .relation(records.oid)
        .text(" AS r")
        .sql(&condition(records))
        .text(" GROUP BY ")
        .names(names())
        .text(") AS g");
    let mut is_few = false;
    read(sql, &[], 1).each(|row| {
        let number = |i| f64::from_bits(row.integer(i) as u64);
        let (all, squares) = (number(0), number(1));
        is_few = squares >= SAME * all * all && squares >= MANY * all;
    });
    is_few
}

/// The records, which are called r, with a signature and without a NULL in the columns that must be equal.
fn condition(records: &Records) -> Sql {
    let mut sql = Sql::new(" WHERE r.")
        .name(&records.signatures[0].name)
        .text(" IS NOT NULL");
    for column in &records.within {
        // IS NOT NULL of a row would ask for all of its columns.
        sql = sql
            .text(" AND r.")
            .name(&column.name)
            .text(" IS DISTINCT FROM NULL");
    }
    sql
}

/// Finds the pairs of what the caller can read, of records that are equal in the columns `within` of the relations.
/// Both relations have as many of them. A record that has a NULL there is in no pair.
///
/// Errors: what the query fails with; two shapes; a key that is null, or that two records have; out of memory.
pub fn pairs(output: &mut PairOutput, relations: Relations<'_>, threshold: f64) {
    // Records with the same key may be of different groups, so that not all pairs of them are seen.
    unique::check(relations.left);
    relations.right.into_iter().for_each(unique::check);
    let ordered = relations.right.is_none() && unique::has_order(&relations.left.key);
    progress::phase(phases::READING_GROUPS, None);
    // Its files outlive the cursor, so it comes before.
    let mut group = RecordGroup::new(output, relations, ordered, threshold);
    let cursor = read(query(relations, ordered), &[], BATCH);
    let mut key_text = cursor.output(KEY);
    let mut last: Vec<Successive> = (0..relations.left.within.len())
        .map(|i| cursor.column(EQUAL + i))
        .map(|(type_oid, collation)| {
            let column = RecordColumn {
                name: c"".to_owned(),
                type_oid,
                collation,
            };
            Successive::new(&column).expect("the query puts them into their order")
        })
        .collect();
    let kind = relations.left.signature_type();
    if let Some(new) = &relations.left.new {
        new.check();
    }
    cursor.each(|row| {
        let mut is_same = true;
        for (last, i) in last.iter_mut().zip(EQUAL..) {
            is_same &= last.is_again(value(row, i));
        }
        if !is_same {
            group.end();
        }
        let side = value(row, SIDE).value();
        let is_new = row.datum(NEW).is_some();
        // SAFETY: the query selects a signature, which lives as long as the row.
        let signature = unsafe { kind.signature(value(row, SIGNATURE)) };
        match row.datum(KEY) {
            Some(key) => key_text.show(key, |key| group.add(side, Some(key), &signature, is_new)),
            None => group.add(side, None, &signature, is_new),
        }
    });
    group.end();
}

/// A value of a column that the query leaves no NULL in.
fn value(row: QueryRow<'_>, i: usize) -> pg_sys::Datum {
    row.datum(i)
        .expect("the query leaves out records with a NULL")
}

/// Selects all records with a signature and without a NULL in the columns that must be equal, in the order of these,
/// and then of the keys if `ordered`.
fn query(relations: Relations<'_>, ordered: bool) -> Sql {
    let part = |side: &str, records: &Records| {
        // Keys of two relations can be of different types.
        let key = match relations.right {
            None => Sql::new("r.").name(&records.key.name),
            Some(_) => Sql::new("CASE WHEN r.")
                .name(&records.key.name)
                .text(" IS NOT NULL THEN pg_catalog.format('%s', r.")
                .name(&records.key.name)
                .text(") END"),
        };
        let mut sql = Sql::new("SELECT ")
            .text(side)
            .text(", ")
            .sql(&key)
            .text(", r.")
            .name(&records.signatures[0].name)
            .text(match records.new {
                Some(_) => ", n.key IS NOT NULL OR NULL",
                None => ", NULL::pg_catalog.bool",
            });
        for column in &records.within {
            sql = sql.text(", r.").name(&column.name);
        }
        sql = sql.text(" FROM ").relation(records.oid).text(" AS r");
        if let Some(new) = &records.new {
            sql = sql.sql(&new.joined(&records.key, "key"));
        }
        sql.sql(&condition(records))
    };
    let mut sql = part("0", relations.left);
    if let Some(right) = relations.right {
        sql = sql.text(" UNION ALL ").sql(&part("1", right));
    }
    let places = relations.left.within.len();
    let numbers = (EQUAL..EQUAL + places).chain(ordered.then_some(KEY));
    sql.text(" ORDER BY ")
        .list(numbers, |sql, i| sql.text(&(i + 1).to_string()))
}
