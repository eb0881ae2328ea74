//! Pairs of records that are equal in some columns, such as that of the tenant: rows come from a query in the order of
//! these columns, so that those that are equal come one after the other, and each such group is joined by itself.

mod group;

use std::ffi::CString;

use pgrx::{pg_sys, PgSqlErrorCode};

use crate::pairs::keys::KeyOrder;
use crate::pairs::output::PairOutput;
use crate::pairs::records::{RecordColumn, Records, Relations};
use crate::pairs::unique::{self, Successive};
use group::RecordGroup;
use pg::catalog;
use pg::error::{raise, sql_error};
use pg::function::arguments::Arguments;
use pg::progress::{self, phases};
use pg::session::{read, QueryRow, BATCH};
use pg::sql;
use pg::sql::Sql;
use pg::values::text::readable;

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
    right.is_none_or(|right| kinds(right) == kinds(left)) && relations.each().all(has_few)
}

fn has_few(records: &Records) -> bool {
    let names = Sql::join(records.within.iter().map(|column| &column.name), ", ");
    let condition = condition(records);
    let sql = sql!(
        "SELECT pg_catalog.sum(n), pg_catalog.sum(n OPERATOR(pg_catalog.*) n) FROM \
         (SELECT pg_catalog.count(*)::pg_catalog.float8 AS n FROM {records.oid} AS r{condition} GROUP BY {names}) AS g"
    );
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
    let signature = &records.signatures[0].name;
    let has_signature = sql!(" WHERE r.{signature} IS NOT NULL");
    records.within.iter().fold(has_signature, |sql, column| {
        // IS NOT NULL of a row would ask for all of its columns.
        sql!("{sql} AND r.{column.name} IS DISTINCT FROM NULL")
    })
}

/// Finds the pairs of what the caller can read, of records that are equal in the columns `within` of the relations.
/// Both relations have as many of them. A record that has a NULL there is in no pair.
///
/// Errors: what the query fails with; two shapes; a key that is null, or that two records have; out of memory.
pub fn pairs(output: &mut PairOutput, relations: Relations<'_>, threshold: f64) {
    // Records with the same key may be of different groups, so that not all pairs of them are seen.
    relations.each().for_each(unique::check);
    let ordered = relations.right.is_none() && KeyOrder::find(&relations.left.key).is_some();
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
        let (key, signature) = (&records.key.name, &records.signatures[0].name);
        // Keys of two relations can be of different types.
        let key = match relations.right {
            None => sql!("r.{key}"),
            Some(_) => {
                sql!("CASE WHEN r.{key} IS NOT NULL THEN pg_catalog.format('%s', r.{key}) END")
            }
        };
        let (is_new, new) = match &records.new {
            Some(new) => ("n.key IS NOT NULL OR NULL", new.joined(&records.key, "key")),
            None => ("NULL::pg_catalog.bool", Sql::new("")),
        };
        let within = records
            .within
            .iter()
            .map(|column| sql!(", r.{column.name}"));
        let (within, condition) = (Sql::join(within, ""), condition(records));
        sql!(
            "SELECT {side}, {key}, r.{signature}, {is_new}{within} \
             FROM {records.oid} AS r{new}{condition}"
        )
    };
    let parts = relations.each().zip(["0", "1"]);
    let parts = Sql::join(
        parts.map(|(records, side)| part(side, records)),
        " UNION ALL ",
    );
    let places = relations.left.within.len();
    let numbers = (EQUAL..EQUAL + places).chain(ordered.then_some(KEY));
    let order = Sql::join(numbers.map(|i| i + 1), ", ");
    sql!("{parts} ORDER BY {order}")
}

/// The names that argument `i` gives, a name[]; `None` for NULL.
///
/// Errors: a NULL among them (22004), no names (22023), or one that comes twice (42701).
pub fn given(arguments: Arguments, i: usize) -> Option<Vec<CString>> {
    arguments.datum(i)?;
    let names = arguments.names(i);
    if names.is_empty() {
        raise(
            &sql_error(
                PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE,
                "argument \"within\" names no column",
            )
            .hint("Leave the argument out to compare all records with each other."),
        );
    }
    for (i, name) in names.iter().enumerate() {
        if names[..i].contains(name) {
            let name = readable(name.to_bytes());
            raise(&sql_error(
                PgSqlErrorCode::ERRCODE_DUPLICATE_COLUMN,
                format!("column \"{name}\" is named twice in argument \"within\""),
            ));
        }
    }
    Some(names)
}

/// A column of a relation, whose name is `relation` in messages.
///
/// Errors: no such column (42703); a signature of the records (42P10); a type without a default order (42883).
pub fn column(records: &Records, name: CString, relation: &str) -> RecordColumn {
    let column = RecordColumn::new(records.oid, name);
    let shown = readable(column.name.to_bytes());
    if records.signatures.iter().any(|s| s.name == column.name) {
        raise(&sql_error(PgSqlErrorCode::ERRCODE_INVALID_COLUMN_REFERENCE, format!(
                "argument \"within\" cannot name signature column \"{shown}\" of relation \"{relation}\""
            )),
        );
    }
    let flags = (pg_sys::TYPECACHE_LT_OPR | pg_sys::TYPECACHE_CMP_PROC) as i32;
    // SAFETY: a column of a locked relation has a type; entries of the type cache are never freed.
    let has_order = unsafe {
        let entry = pg_sys::lookup_type_cache(column.type_oid, flags);
        (*entry).lt_opr != pg_sys::InvalidOid && (*entry).cmp_proc != pg_sys::InvalidOid
    };
    if !has_order {
        let name = catalog::type_name(column.type_oid);
        raise(
            &sql_error(
                PgSqlErrorCode::ERRCODE_UNDEFINED_FUNCTION,
                format!(
                    "could not identify an ordering operator for type {}",
                    readable(name.to_bytes())
                ),
            )
            .detail(format!(
                "Argument \"within\" names column \"{shown}\" of relation \"{relation}\"."
            )),
        );
    }
    column
}
