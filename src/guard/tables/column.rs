//! Signature columns, and the values of columns.

use std::ffi::CStr;

use pgrx::{pg_sys, PgSqlErrorCode};

use crate::objects::is_signature;
use crate::pg::catalog;
use crate::pg::message::{words, Message, OrMessage};

/// The number of a column of type `bloom`.
///
/// Errors: there is no such column (42703), or it is of another type (42804).
pub fn signature_column(relation: pg_sys::Oid, column: &CStr) -> OrMessage<i16> {
    let Some(number) = catalog::column(relation, column) else {
        return Err(undefined_column(relation, column));
    };
    let of_type = catalog::column_type(relation, number);
    if !is_signature(of_type) {
        return Err(wrong_type("relation", relation, column, of_type, c"bloom"));
    }
    Ok(number)
}

/// 42703.
#[cold]
pub fn undefined_column(relation: pg_sys::Oid, column: &CStr) -> Box<Message> {
    Message::of(
        PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
        words!(
            "column \"",
            column,
            "\" of relation \"",
            catalog::name(relation),
            "\" does not exist"
        ),
    )
}

/// Whether a column is a stored generated column.
///
/// Errors: it is virtual (0A000): it has no stored values that could be compared.
pub fn is_generated(table: pg_sys::Oid, column: i16) -> OrMessage<bool> {
    // SAFETY: a look-up in the catalogs by OID and number.
    match unsafe { pg_sys::get_attgenerated(table, column) } as u8 {
        b's' => Ok(true),
        b'v' => Err(Message::of(
            PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
            words!(
                "bloom_guard cannot check virtual generated column \"",
                catalog::column_name(table, column),
                "\""
            ),
        )
        .hint(words!("Make it STORED."))),
        _ => Ok(false),
    }
}

/// 42804 for a column of a relation, which the message calls `what`, that is of another type than it must be.
#[cold]
pub fn wrong_type(
    what: &str,
    relation: pg_sys::Oid,
    column: &CStr,
    is: pg_sys::Oid,
    wanted: &CStr,
) -> Box<Message> {
    Message::of(
        PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
        words!(
            "column \"",
            column,
            "\" of ",
            what,
            " \"",
            catalog::name(relation),
            "\" is of type ",
            catalog::type_name(is),
            ", not ",
            wanted
        ),
    )
}

/// The value of a column of a row, `None` for NULL.
///
/// # Safety
/// `slot` holds a row that has this column. The value is valid as long as the slot holds the row.
pub unsafe fn attribute(slot: *mut pg_sys::TupleTableSlot, column: i16) -> Option<pg_sys::Datum> {
    let mut null = false;
    // SAFETY: the slot holds a row that has this column, as the caller promises.
    let value = unsafe { pg_sys::slot_getattr(slot, column.into(), &mut null) };
    (!null).then_some(value)
}
