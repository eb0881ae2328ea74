//! What a table must have, as far as the guard asks.

use std::ffi::CStr;

use pgrx::{pg_sys, PgSqlErrorCode};

use crate::objects::is_signature;
pub use crate::pg::catalog::*;
use crate::pg::message::{words, Message, Result};

/// Errors: there is no relation of this OID (42P01).
pub fn check_exists(relation: pg_sys::Oid) -> Result<()> {
    if kind(relation) != 0 {
        return Ok(());
    }
    let oid = relation.to_u32().to_string();
    Err(Message::of(
        PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE,
        words!("relation with OID ", oid, " does not exist"),
    ))
}

/// The number of a column of type `bloom`.
///
/// Errors: there is no such column (42703), or it is of another type (42804).
pub fn signature_column(relation: pg_sys::Oid, column_name: &CStr) -> Result<i16> {
    let Some(number) = column(relation, column_name) else {
        return Err(Message::of(
            PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
            words!(
                "column \"",
                column_name,
                "\" of relation \"",
                name(relation),
                "\" does not exist"
            ),
        ));
    };
    let of_type = column_type(relation, number);
    if !is_signature(of_type) {
        return Err(Message::of(
            PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
            words!(
                "column \"",
                column_name,
                "\" of relation \"",
                name(relation),
                "\" is of type ",
                type_name(of_type),
                ", not bloom"
            ),
        ));
    }
    Ok(number)
}
