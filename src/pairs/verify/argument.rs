//! The arguments `verify` and `margin` of a job, and the column that they name.

use std::ffi::CString;

use base::{Error, ErrorKind};
use pgrx::{pg_sys, PgSqlErrorCode};
use sigfile::shape::margin;

use crate::pairs::records::RecordColumn;
use pg::catalog;
use pg::error::{raise, raise_as, OrRaise};
use pg::function::arguments::Arguments;
use pg::values::text::readable;

/// What a job is told of the exact comparison.
pub struct Verification {
    /// The column with the tokens.
    pub column: CString,
    /// By how much less similar candidates may be; `None` for as much as their signatures need.
    pub margin: Option<f64>,
}

/// The arguments `i`, a name, and `i` + 1, a float8; `None` if `verify` is NULL. `threshold` is that of the job.
///
/// Errors: a margin without a column, or outside 0…1; a threshold of 0 with a column (all 22023).
pub fn given(arguments: Arguments, i: usize, threshold: f64) -> Option<Verification> {
    let margin = arguments.datum(i + 1).map(|_| arguments.float8(i + 1));
    let Some(column) = arguments.datum(i).map(|_| arguments.name(i)) else {
        if margin.is_some() {
            raise(
                &Error::new(
                    ErrorKind::InvalidParameter,
                    "argument \"margin\" is given without argument \"verify\"",
                )
                .detail("Candidates are searched below the threshold where their tokens are compared.")
                .hint("Name the column of the tokens in argument \"verify\", or leave the margin out."),
            );
        }
        return None;
    };
    margin.into_iter().for_each(|m| margin::check(m).or_raise());
    if threshold == 0.0 {
        raise(
            &Error::new(
                ErrorKind::InvalidParameter,
                "threshold 0 is out of range with argument \"verify\"",
            )
            .detail("Any two records reach it, also those that have no token in common.")
            .hint("Give a threshold above 0, such as 0.01, to find pairs with tokens in common."),
        );
    }
    Some(Verification { column, margin })
}

/// The column with the tokens; `relation` is the name of its relation for messages.
///
/// Errors: no such column (42703); a type that is not an array of texts (42804).
pub fn column(oid: pg_sys::Oid, name: CString, relation: &str) -> RecordColumn {
    let column = RecordColumn::of(oid, name, relation);
    if !is_text_array(column.type_oid) {
        raise_as(
            PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
            &Error::new(
                ErrorKind::InvalidParameter,
                format!(
                    "column \"{}\" of relation \"{relation}\" is of type {}, not text[]",
                    readable(column.name.to_bytes()),
                    readable(catalog::type_name(column.type_oid).to_bytes())
                ),
            )
            .hint("Name the column of the tokens that the signatures were made of, such as one GENERATED ALWAYS AS (ident_words(...)) STORED, or a view that has one."),
        );
    }
    column
}

/// Whether values of a type are arrays of `text` or `varchar`, or of domains over them.
fn is_text_array(type_oid: pg_sys::Oid) -> bool {
    // SAFETY: catalog look-ups of a type that exists; what is no array has no element type.
    let element = unsafe { pg_sys::get_element_type(pg_sys::getBaseType(type_oid)) };
    if element == pg_sys::InvalidOid {
        return false;
    }
    // SAFETY: as above.
    let base = unsafe { pg_sys::getBaseType(element) };
    base == pg_sys::TEXTOID || base == pg_sys::VARCHAROID
}
