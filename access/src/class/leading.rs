//! Columns before the signature, which a search can give values of: rows are kept by a hash of them, their key. The
//! operator class of such a column has the strategy number and the support function that one of access method hash has.

use pgrx::{pg_sys, PgSqlErrorCode};

use super::signature::key_columns;
use crate::page::SigfileIndex;
use pg::catalog;
use pg::error::{raise, sql_error};
use pg::ffi;

/// The strategy number of equality in the operator class of such a column.
pub const EQUAL: u16 = 1;

/// The number of its support function, which hashes a value to 32 bits.
pub const HASH: u16 = 1;

/// How many there can be.
const MOST: usize = 3;

/// How many columns the index has before the signature.
pub fn leading_columns(index: SigfileIndex<'_>) -> usize {
    // SAFETY: the relation is open.
    unsafe { key_columns(index.relation()) - 1 }
}

/// Puts the hash of a further value to those of the values before it.
fn combine(key: u32, hash: u32) -> u32 {
    // As the server combines hashes (common/hashfn.h).
    let mixed = hash
        .wrapping_add(0x9e37_79b9)
        .wrapping_add(key << 6)
        .wrapping_add(key >> 2);
    key ^ mixed
}

/// The key of rows whose values of the columns before the signature have these hashes, if there are such columns and
/// all hashes are known.
pub fn key_of(hashes: &[Option<u32>]) -> Option<u32> {
    let of_all = |key, hash: &Option<u32>| Some(combine(key, (*hash)?));
    let known = (!hashes.is_empty()).then_some(0);
    hashes.iter().try_fold(known?, of_all)
}

/// The hash of a value of a column before the signature, by the column's own operator class and collation. NULL has
/// one, too.
///
/// # Safety
/// `value` is of the type of column `i` of the index, unless it is `None`.
pub unsafe fn hash(index: SigfileIndex<'_>, i: usize, value: Option<pg_sys::Datum>) -> u32 {
    let Some(value) = value else {
        return 0;
    };
    // SAFETY: the index is open, and check() has found that the column's class has the function, which takes the value.
    unsafe {
        let function = pg_sys::index_getprocinfo(index.relation(), i as i16 + 1, HASH);
        let collation = *(*index.relation()).rd_indcollation.add(i);
        if let Some(hash) = hash_of_name((*function).fn_oid, collation, value) {
            return hash;
        }
        let result = ffi::FunctionCall1Coll(function, collation, value);
        result.value() as u32
    }
}

/// The same of a value of any type that the column's operator family has a function for: `None` if it has none. An
/// exclusion check leaves the type unset: then it is the column's own.
///
/// # Safety
/// `value` is of type `of_type`, or of the column's if that is unset.
pub unsafe fn hash_of_type(
    index: SigfileIndex<'_>,
    i: usize,
    of_type: pg_sys::Oid,
    value: pg_sys::Datum,
) -> Option<u32> {
    // SAFETY: the index is open; the function takes values of that type.
    unsafe {
        let relation = &*index.relation();
        if of_type == pg_sys::InvalidOid || of_type == *relation.rd_opcintype.add(i) {
            return Some(hash(index, i, Some(value)));
        }
        let function = hash_function(*relation.rd_opfamily.add(i), of_type)?;
        let collation = *relation.rd_indcollation.add(i);
        if let Some(hash) = hash_of_name(function, collation, value) {
            return Some(hash);
        }
        let result = ffi::OidFunctionCall1Coll(function, collation, value);
        Some(result.value() as u32)
    }
}

/// The hash function of a family for a type.
///
/// # Safety
/// In a transaction.
pub unsafe fn hash_function(family: pg_sys::Oid, of_type: pg_sys::Oid) -> Option<pg_sys::Oid> {
    // SAFETY: a look-up in the catalogs by OIDs, in a transaction.
    let found = unsafe { pg_sys::get_opfamily_proc(family, of_type, of_type, HASH as i16) };
    (found != pg_sys::InvalidOid).then_some(found)
}

/// The hash of a `name` as the text that it is, where the collation has different texts be equal: `hashname` does not
/// ask the collation, and equality does. Arrays of names have all the same. `None` for everything else.
///
/// # Safety
/// `value` is of the type that `function` hashes.
unsafe fn hash_of_name(
    function: pg_sys::Oid,
    collation: pg_sys::Oid,
    value: pg_sys::Datum,
) -> Option<u32> {
    let function = function.to_u32();
    let may_be_names = [pg_sys::F_HASHNAME, pg_sys::F_HASH_ARRAY].contains(&function);
    if !may_be_names || catalog::is_deterministic(collation) {
        return None;
    }
    if function == pg_sys::F_HASH_ARRAY {
        // SAFETY: it hashes arrays only; catalog look-ups by OID.
        let element = unsafe {
            let array = pg_sys::pg_detoast_datum(value.cast_mut_ptr());
            pg_sys::getBaseType((*array.cast::<pg_sys::ArrayType>()).elemtype)
        };
        return (element == pg_sys::NAMEOID).then_some(0);
    }
    // SAFETY: a name is a C string, of which the server makes a text; only this has it.
    unsafe {
        let text = pg_sys::cstring_to_text(value.cast_mut_ptr());
        let hash_text = pg_sys::Oid::from(pg_sys::F_HASHTEXT);
        let result = ffi::OidFunctionCall1Coll(hash_text, collation, text.into());
        pg_sys::pfree(text.cast());
        Some(result.value() as u32)
    }
}

/// The key of a row; 0 where the index has no columns before the signature.
///
/// # Safety
/// `values` and `nulls` are of a row, one for each column of the index.
pub unsafe fn key(
    index: SigfileIndex<'_>,
    values: *const pg_sys::Datum,
    nulls: *const bool,
) -> u32 {
    (0..leading_columns(index)).fold(0, |key, i| {
        // SAFETY: the caller has so many values, of the columns' types.
        let hash = unsafe {
            let value = (!*nulls.add(i)).then(|| *values.add(i));
            hash(index, i, value)
        };
        combine(key, hash)
    })
}

/// Looks at the columns of an index that is created.
///
/// Errors: a column behind the signature, no signature, or too many columns.
pub fn check(index: SigfileIndex<'_>) {
    // SAFETY: the relation is open, and has a class for each key column.
    let is_leading = |i: usize| unsafe {
        let relation = &*index.relation();
        hash_function(*relation.rd_opfamily.add(i), *relation.rd_opcintype.add(i)).is_some()
    };
    let leading = leading_columns(index);
    let fail = |code, message: String, hint: &str| {
        let error = sql_error(code, message);
        raise(&error.hint(hint))
    };
    if is_leading(leading) || (0..leading).any(|i| !is_leading(i)) {
        fail(
            PgSqlErrorCode::ERRCODE_INVALID_OBJECT_DEFINITION,
            format!(
                "index \"{}\" must have one signature, as its last column",
                index.name()
            ),
            "Put columns that are searched by equality before the signature, and create an index for each signature. A text \
             has one by an expression, as in USING sigfile (bloom_signature(name)).",
        );
    }
    if leading > MOST {
        fail(
            PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
            format!("sigfile index cannot have more than {MOST} columns before the signature"),
            "Leave out the columns that tell the fewest rows apart.",
        );
    }
}
