//! Columns that a guard reads: whether they are there, and of the types that they must be of.

use base::{Error, Result};
use pg::error::sql_error;
use std::ffi::CStr;

use pgrx::{pg_sys, PgSqlErrorCode};

use access::SignatureType;
use pg::catalog;
use pg::message::words;
use types::objects::{is_bits, is_signature};

/// A column of signatures.
#[derive(Clone, Copy)]
pub struct SignatureColumn {
    pub number: i16,
    pub of_type: SignatureType,
}

/// The column of type `bloom` or `minhash_bits` that has this name.
///
/// Errors: there is no such column (42703), or it is of another type (42804).
pub fn signature_column(relation: pg_sys::Oid, column: &CStr) -> Result<SignatureColumn> {
    either(relation, column, c"bloom or minhash_bits", |_| true)
}

/// The column of signatures of one type that has this name.
///
/// Errors: as for [`signature_column`].
pub fn signature_column_of(
    relation: pg_sys::Oid,
    column: &CStr,
    of_type: SignatureType,
) -> Result<SignatureColumn> {
    let wanted = match of_type {
        SignatureType::Filter => c"bloom",
        SignatureType::Bits => c"minhash_bits",
    };
    either(relation, column, wanted, |found| found == of_type)
}

/// Errors: there is no such column (42703), or it is of another type than `is_wanted` asks for and `wanted` says
/// (42804).
fn either(
    relation: pg_sys::Oid,
    column: &CStr,
    wanted: &CStr,
    is_wanted: impl FnOnce(SignatureType) -> bool,
) -> Result<SignatureColumn> {
    let Some(number) = catalog::column(relation, column) else {
        return Err(undefined_column(relation, column));
    };
    let found = catalog::column_type(relation, number);
    let of_type = match (is_signature(found), is_bits(found)) {
        (true, _) => Some(SignatureType::Filter),
        (_, true) => Some(SignatureType::Bits),
        _ => None,
    };
    match of_type {
        Some(of_type) if is_wanted(of_type) => Ok(SignatureColumn { number, of_type }),
        _ => Err(wrong_type("relation", relation, column, found, wanted)),
    }
}

/// Whether signatures of two columns can be compared, as far as their types say. The sizes of filters are compared when
/// there are rows.
///
/// Errors: they are of two types, or sampled bits of two numbers or hash families (42804).
pub fn check_comparable(
    (table, column): (pg_sys::Oid, SignatureColumn),
    (other, of_other): (pg_sys::Oid, SignatureColumn),
) -> Result<()> {
    let [(ours, modifier), (theirs, of_theirs)] =
        [(table, column), (other, of_other)].map(|(t, c)| catalog::base_type(t, c.number));
    let is_bits = column.of_type == SignatureType::Bits;
    let are_of_one_size = modifier == of_theirs || modifier < 0 || of_theirs < 0;
    if column.of_type == of_other.of_type && (are_of_one_size || !is_bits) {
        return Ok(());
    }
    Err(sql_error(
        PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
        words!(
            "column \"{}\" of relation \"{}\" is of type {}, and column \"{}\" of \
                relation \"{}\" of type {}",
            catalog::column_name(other, of_other.number),
            catalog::name(other),
            catalog::modified_type(theirs, of_theirs),
            catalog::column_name(table, column.number),
            catalog::name(table),
            catalog::modified_type(ours, modifier)
        ),
    )
    .detail(
        "bloom_guard compares signatures of one type, and sampled bits of one \
                number and hash family.",
    ))
}

/// 42703.
#[cold]
pub fn undefined_column(relation: pg_sys::Oid, column: &CStr) -> Error {
    sql_error(
        PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
        words!(
            "column \"{}\" of relation \"{}\" does not exist",
            column,
            catalog::name(relation)
        ),
    )
}

/// Errors: the column is a virtual generated one (0A000), which has no stored values that could be compared.
pub fn check_stored(table: pg_sys::Oid, column: i16) -> Result<()> {
    // SAFETY: a look-up in the catalogs by OID and number.
    if unsafe { pg_sys::get_attgenerated(table, column) } as u8 != b'v' {
        return Ok(());
    }
    let name = catalog::column_name(table, column);
    Err(sql_error(
        PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
        words!(
            "bloom_guard cannot check virtual generated column \"{}\"",
            name
        ),
    )
    .hint("Make it STORED."))
}

/// 42804 for a column of a relation, which the message calls `what`, that is of another type than it must be.
#[cold]
pub fn wrong_type(
    what: &str,
    relation: pg_sys::Oid,
    column: &CStr,
    is: pg_sys::Oid,
    wanted: &CStr,
) -> Error {
    sql_error(
        PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
        words!(
            "column \"{}\" of {} \"{}\" is of type {}, not {}",
            column,
            what,
            catalog::name(relation),
            catalog::type_name(is),
            wanted
        ),
    )
}
