//! The type modifier `bloom(k,p,q)`: a column of one shape.
//!
//! Packed as (k−1) in 6 bits, p in 13, q in 4; −1 is none.

use std::ffi::CString;

use bloom_ident_core::filter::Shape;
use bloom_ident_core::{Error, ErrorKind, Result};
use pgrx::pg_sys;

use super::array::Elements;
use super::bloom::{Bloom, NewBloom};
use crate::pg::entry;
use crate::pg::error::OrRaise;

fn pack(shape: Shape) -> i32 {
    i32::from(shape.k() - 1) << 17 | i32::from(shape.p()) << 4 | i32::from(shape.ngram())
}

/// The shape that a modifier asks for; `None` for none.
pub fn shape(typmod: i32) -> Result<Option<Shape>> {
    if typmod < 0 {
        return Ok(None);
    }
    let typmod = i64::from(typmod);
    Shape::new((typmod >> 17) + 1, typmod >> 4 & 0x1fff, typmod & 15).map(Some)
}

/// Errors: a signature of another shape than the column's.
pub fn enforce(typmod: i32, is: Shape) -> Result<()> {
    match shape(typmod)? {
        Some(wanted) if wanted != is => Err(Error::new(
            ErrorKind::DataException,
            format!("signature has shape {is}, not {wanted}"),
        )
        .detail(format!("The column or cast is declared as bloom{wanted}."))
        .hint("Give bloom_signature() other arguments; bloom_plan(max_chars, ngram, fpr) shows the shape that they give.")),
        _ => Ok(()),
    }
}

/// `bloom(7,43,3)`, from an array of C strings.
#[entry]
fn bloom_typmod_in(fcinfo: pg_sys::FunctionCallInfo) -> i32 {
    // SAFETY: declared as taking one cstring[], and STRICT.
    let array = unsafe { (*fcinfo).args.as_slice(1)[0].value };
    // SAFETY: the array is that argument.
    let written = unsafe { Elements::of(array) }.or_raise().c_strings();
    let number = |i: usize| {
        let written = &written[i];
        written.trim().parse::<i64>().map_err(|_| {
            Error::new(
                ErrorKind::InvalidParameter,
                format!("invalid type modifier \"{written}\" for type bloom"),
            )
        })
    };
    let usage = "Write bloom(k,p,q): segments, bits of a segment, n-gram length, as bloom_plan() gives them.";
    if written.len() != 3 {
        Err(Error::new(
            ErrorKind::InvalidParameter,
            format!("type bloom takes 3 modifiers, not {}", written.len()),
        )
        .hint(usage))
        .or_raise()
    }
    let shape = || Shape::new(number(0)?, number(1)?, number(2)?);
    pack(shape().or_raise())
}

#[entry]
fn bloom_typmod_out(typmod: i32) -> CString {
    // a modifier that no declaration gives must not keep anybody from looking at its table
    let shown = match shape(typmod) {
        Ok(shape) => shape.map_or(String::new(), |s| s.to_string()),
        Err(_) => format!("({typmod})"),
    };
    CString::new(shown).expect("no zero byte")
}

/// The length coercion: the value itself, or an error.
#[entry]
fn bloom_apply_typmod(value: Bloom<'_>, typmod: i32, _explicit: bool) -> NewBloom {
    enforce(typmod, value.view().shape()).or_raise();
    value.into_result()
}
