//! Columns in which rows must be equal to be compared, such as that of the tenant.

use base::{Error, Result};
use pg::error::sql_error;
use std::ffi::{CStr, CString};

use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::{
    ERRCODE_DUPLICATE_COLUMN, ERRCODE_INVALID_COLUMN_REFERENCE, ERRCODE_UNDEFINED_FUNCTION,
};

use crate::guard::tables::{check_stored, column_number, wrong_type};
use pg::catalog;
use pg::ffi;
use pg::message::words;
use pg::row::Row;

/// Columns of one table; none if all rows are compared.
#[derive(Default)]
pub struct WithinColumns {
    columns: Vec<WithinColumn>,
}

/// A column, and what its values are compared as.
struct WithinColumn {
    number: i16,
    of_type: pg_sys::Oid,
    collation: pg_sys::Oid,
}

impl WithinColumns {
    /// The columns of a locked table that have these names; `signature` is the number of its signature column.
    ///
    /// Errors: there is no such column (42703), it is the signature column or a system column (42P10), it is named
    /// twice (42701), it is virtual (0A000), or its type has no default equality operator (42883).
    pub fn new(table: pg_sys::Oid, names: &[CString], signature: i16) -> Result<WithinColumns> {
        let mut columns: Vec<WithinColumn> = Vec::new();
        for name in names {
            let number = number_of(table, name)?;
            if number == signature {
                return Err(not_within("signature column", table, name));
            }
            if columns.iter().any(|column| column.number == number) {
                return Err(sql_error(
                    ERRCODE_DUPLICATE_COLUMN,
                    words!("column \"{name}\" is named twice in option \"within\" of bloom_guard"),
                ));
            }
            let (mut of_type, mut typmod) = (pg_sys::InvalidOid, 0);
            let mut collation = pg_sys::InvalidOid;
            let (t, m, c) = (&mut of_type, &mut typmod, &mut collation);
            // SAFETY: the column exists, and three variables are given for its properties.
            unsafe { pg_sys::get_atttypetypmodcoll(table, number, t, m, c) };
            check_stored(table, number)?;
            let column = WithinColumn {
                number,
                of_type,
                collation,
            };
            if column.equality() == pg_sys::InvalidOid {
                let of_type = catalog::type_name(of_type);
                return Err(sql_error(
                    ERRCODE_UNDEFINED_FUNCTION,
                    words!("could not identify an equality operator for type {of_type}"),
                )
                .detail(words!(
                    "Option \"within\" of bloom_guard names column \"{name}\" of relation \"{table}\"."
                )));
            }
            columns.push(column);
        }
        Ok(WithinColumns { columns })
    }

    /// The columns of the same names in another table, or in a partition. Values are compared as those of this one.
    ///
    /// Errors: a column is not there (42703), is of another type (42804), or virtual (0A000).
    pub fn in_table(&self, table: pg_sys::Oid, names: &[CString]) -> Result<WithinColumns> {
        let column = |(column, name): (&WithinColumn, &CString)| {
            let number = number_of(table, name)?;
            let of_type = catalog::column_type(table, number);
            // SAFETY: look-ups in the catalogs of types that exist.
            let [ours, theirs] =
                [column.of_type, of_type].map(|t| unsafe { pg_sys::getBaseType(t) });
            if ours != theirs {
                let wanted = catalog::type_name(column.of_type);
                return Err(wrong_type("relation", table, name, of_type, &wanted));
            }
            check_stored(table, number)?;
            Ok(WithinColumn { number, ..*column })
        };
        let columns = self.columns.iter().zip(names).map(column);
        Ok(WithinColumns {
            columns: columns.collect::<Result<_>>()?,
        })
    }

    /// Whether all rows are compared.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The numbers of the columns.
    pub fn numbers(&self) -> impl Iterator<Item = i16> + '_ {
        self.columns.iter().map(|column| column.number)
    }

    /// The place of the column with this number in the list, the default equality operator of its type, and its
    /// collation.
    pub fn equality(&self, number: i16) -> Option<(usize, pg_sys::Oid, pg_sys::Oid)> {
        let place = self.columns.iter().position(|c| c.number == number)?;
        let column = &self.columns[place];
        Some((place, column.equality(), column.collation))
    }

    /// The values of a row of the table; `None` if one of them is NULL, so that no row is equal. They are valid as long
    /// as the row.
    pub fn values(&self, row: &Row) -> Option<Vec<pg_sys::Datum>> {
        self.numbers().map(|number| row.get(number)).collect()
    }

    /// Whether a row of the table has these values. What the comparisons allocate stays in the current memory context.
    ///
    /// # Safety
    /// The values are of the types of the columns.
    pub unsafe fn is_equal(&self, row: &Row, values: &[pg_sys::Datum]) -> bool {
        self.columns.iter().zip(values).all(|(column, &value)| {
            row.get(column.number).is_some_and(|other| {
                // SAFETY: the function of the type compares its values.
                unsafe {
                    let equal = &raw mut (*column.entry()).eq_opr_finfo;
                    ffi::FunctionCall2Coll(equal, column.collation, value, other).value() != 0
                }
            })
        })
    }

    /// A number that is the same for rows of the table that are equal; `None` if no row is equal to this one. What is
    /// allocated stays in the current memory context.
    pub fn hash(&self, row: &Row) -> Option<u64> {
        let mut all = 0_u64;
        for column in &self.columns {
            let value = row.get(column.number)?;
            // SAFETY: the function of the type hashes its values, if there is one that equal values share.
            let one = unsafe {
                let hash = &raw mut (*column.entry()).hash_extended_proc_finfo;
                let function = (*hash).fn_oid;
                // The one of names does not ask the collation, and equality does; an array may be of names.
                let of_bytes = [pg_sys::F_HASHNAMEEXTENDED, pg_sys::F_HASH_ARRAY_EXTENDED];
                let is_of_bytes = of_bytes.contains(&function.to_u32());
                let is_alike = is_of_bytes && !catalog::is_deterministic(column.collation);
                if function == pg_sys::InvalidOid || is_alike {
                    continue;
                }
                let seed = pg_sys::Datum::from(0_i64);
                ffi::FunctionCall2Coll(hash, column.collation, value, seed).value() as u64
            };
            // as hash_combine64 of the server
            all ^= one
                .wrapping_add(0x49a0_f4dd_15e5_a8e3)
                .wrapping_add(all << 54)
                .wrapping_add(all >> 7);
        }
        Some(all)
    }
}

impl WithinColumn {
    /// What the server knows of the type, with its equality and its hash function.
    fn entry(&self) -> *mut pg_sys::TypeCacheEntry {
        let flags = pg_sys::TYPECACHE_EQ_OPR_FINFO | pg_sys::TYPECACHE_HASH_EXTENDED_PROC_FINFO;
        // SAFETY: a column of a locked table has a type; entries of the type cache are never freed.
        unsafe { pg_sys::lookup_type_cache(self.of_type, flags as i32) }
    }

    /// The default equality operator of the type; invalid if there is none.
    fn equality(&self) -> pg_sys::Oid {
        // SAFETY: entries of the type cache are never freed.
        unsafe { (*self.entry()).eq_opr }
    }
}

/// The number of a column that is not one of the system's.
///
/// Errors: there is none (42703), or it is a system column (42P10).
fn number_of(table: pg_sys::Oid, name: &CStr) -> Result<i16> {
    // SAFETY: a look-up in the catalogs by OID and by a C string.
    if unsafe { pg_sys::get_attnum(table, name.as_ptr()) } < 0 {
        return Err(not_within("system column", table, name));
    }
    column_number(table, name)
}

fn not_within(what: &str, table: pg_sys::Oid, name: &CStr) -> Error {
    sql_error(
        ERRCODE_INVALID_COLUMN_REFERENCE,
        words!(
            "option \"within\" of bloom_guard cannot name {what} \"{name}\" of relation \"{table}\""
        ),
    )
}
