//! A key names one record: pairs of records that have the same one would say nothing.

use bloom_ident_core::{Error, ErrorKind};
use pgrx::{pg_sys, PgList, PgSqlErrorCode};

use crate::pairs::keys::KeyType;
use crate::pairs::relation::{is_older, Column, Records};
use crate::pg::cursor::{Cursor, Sql};
use crate::pg::error::raise_as;
use crate::pg::ffi;
use crate::pg::function::rows::Scratch;
use crate::types::readable;

/// Fails the statement, since keys of records are not unique.
pub fn not_unique(message: String, records: &Records) -> ! {
    raise_as(
        PgSqlErrorCode::ERRCODE_CARDINALITY_VIOLATION,
        &Error::new(ErrorKind::DataException, message).hint(format!(
            "Name a column whose values are unique, instead of \"{}\".",
            readable(records.key.name.to_bytes())
        )),
    );
}

/// The same, for a key as text.
pub fn repeated(key: &[u8], records: &Records) -> ! {
    not_unique(
        format!("more than one record has the key \"{}\"", readable(key)),
        records,
    )
}

/// By a unique index on the key if there is one, else by a query as the caller, who has the same snapshot.
///
/// Errors: two records with signatures have the same key.
pub fn check(records: &Records) {
    // SAFETY: locked since construction.
    if unsafe { has_unique_index(records.oid, &records.key) } {
        return;
    }
    let cursor = Cursor::open(query(records), &[], 1);
    let mut output = cursor.output(0);
    cursor.each(|row| {
        if let Some(key) = row.datum(0) {
            output.show(key, |key| repeated(key, records));
        }
    });
}

/// A key that occurs more than once, the least one where there is an order.
fn query(records: &Records) -> Sql {
    let key = |sql: Sql| {
        let sql = sql.name(&records.key.name);
        // what cannot be compared is its text
        if has_equality(&records.key) {
            sql
        } else {
            sql.text("::pg_catalog.text")
        }
    };
    let mut sql = key(Sql::new("SELECT "))
        .text(" FROM ")
        .relation(records.oid)
        .text(" WHERE ")
        .name(&records.key.name)
        .text(" IS NOT NULL AND (");
    for (i, signature) in records.signatures.iter().enumerate() {
        sql = sql.text(if i > 0 { " OR " } else { "" });
        sql = sql.name(&signature.name).text(" IS NOT NULL");
    }
    sql = sql.text(") GROUP BY 1 HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1");
    if KeyType::new(&records.key).is_ordered() || !has_equality(&records.key) {
        sql = sql.text(" ORDER BY 1");
    }
    sql.text(" LIMIT 1")
}

/// As GROUP BY needs it.
fn has_equality(column: &Column) -> bool {
    let flags = pg_sys::TYPECACHE_EQ_OPR as i32;
    // SAFETY: a type that exists; entries of the type cache stay.
    unsafe { (*pg_sys::lookup_type_cache(column.type_oid, flags)).eq_opr != pg_sys::InvalidOid }
}

/// Whether an index lets no key occur twice among all rows, not even for the time being, nor among those that a snapshot from
/// before it was made sees.
///
/// SAFETY: `oid` is a relation with this column, and locked.
unsafe fn has_unique_index(oid: pg_sys::Oid, key: &Column) -> bool {
    // SAFETY: as promised by the caller; indexes are locked while they are looked at.
    unsafe {
        let kind = pg_sys::get_rel_relkind(oid) as u8;
        let number = pg_sys::get_attnum(oid, key.name.as_ptr());
        let indexed = matches!(
            kind,
            pg_sys::RELKIND_RELATION | pg_sys::RELKIND_MATVIEW | pg_sys::RELKIND_PARTITIONED_TABLE
        );
        // indexes of a table say nothing about those that inherit from it
        if !indexed || kind == pg_sys::RELKIND_RELATION && ffi::has_subclass(oid) {
            return false;
        }
        let table = ffi::table_open(oid, pg_sys::NoLock as i32);
        let list = PgList::<pg_sys::Oid>::from_pg(pg_sys::RelationGetIndexList(table));
        let found = list.iter_oid().any(|index| {
            let lock = pg_sys::AccessShareLock as i32;
            let index = ffi::index_open(index, lock);
            let form = &*(*index).rd_index;
            let unique = form.indisunique
                && form.indimmediate
                && form.indisvalid
                && form.indisready
                && form.indislive
                && form.indnkeyatts == 1
                && form.indkey.values.as_slice(1)[0] == number
                && ffi::RelationGetIndexPredicate(index).is_null()
                && is_older(index);
            pg_sys::index_close(index, lock);
            unique
        });
        pg_sys::table_close(table, pg_sys::NoLock as i32);
        found
    }
}

/// Looks at keys that come in their order.
pub struct Successive {
    order: KeyType,
    last: Option<pg_sys::Datum>,
    by_value: bool,
    length: i16,
    scratch: Scratch,
}

impl Successive {
    /// `None` for a type without an order.
    pub fn new(key: &Column) -> Option<Successive> {
        let order = KeyType::new(key);
        let (mut length, mut by_value) = (0, false);
        // SAFETY: a type that exists.
        unsafe { pg_sys::get_typlenbyval(key.type_oid, &mut length, &mut by_value) };
        order.is_ordered().then(|| Successive {
            order,
            last: None,
            by_value,
            length,
            scratch: Scratch::new(c"comparison of keys"),
        })
    }

    /// Whether it is the same as the one before.
    pub fn is_again(&mut self, key: pg_sys::Datum) -> bool {
        let (order, last) = (&self.order, self.last);
        let again = last.is_some_and(|last| self.scratch.with(|| order.is_same(last, key)));
        // SAFETY: a value of the type, and a copy of one.
        unsafe {
            let copy = ffi::datumCopy(key, self.by_value, self.length.into());
            if let (Some(last), false) = (self.last.replace(copy), self.by_value) {
                pg_sys::pfree(last.cast_mut_ptr());
            }
        }
        again
    }
}
