//! Text to signatures.

use bloom_ident_core::filter::Shape;
use bloom_ident_core::text::normalize;
use bloom_ident_core::{Error, ErrorKind};
use pgrx::pg_sys;

use super::planned_shape::planned_shape;
use crate::pg::error::OrRaise;
use crate::pg::values::text::Text;
use crate::pg::{check_for_interrupts, entry};
use crate::types::{Elements, NewBloom};

#[entry]
fn bloom_signature(
    text: Text<'_>,
    ngram: i32,
    max_chars: i32,
    fpr: f64,
    by_word: bool,
    filler: bool,
) -> NewBloom {
    signature(text.as_str(), ngram, max_chars, fpr, by_word, filler)
}

/// Errors: an argument is out of its range, or by_word and filler are used together.
pub fn signature(
    text: &str,
    ngram: i32,
    max_chars: i32,
    fpr: f64,
    by_word: bool,
    filler: bool,
) -> NewBloom {
    if by_word && filler {
        Err(Error::new(
            ErrorKind::InvalidParameter,
            "by_word and filler cannot be used together",
        )
        .detail("With by_word no n-gram reaches from one word to the next, so that there is nothing to fill."))
        .or_raise()
    }
    NewBloom::new(planned_shape(max_chars, ngram, fpr), |builder| {
        if filler {
            let normal = normalize(text, true, check_for_interrupts)?;
            builder.add_normal(&normal);
            return Ok(());
        }
        builder.add_text(text, by_word, check_for_interrupts)
    })
}

/// Each field normalised and padded by itself, all in one signature; NULL fields are skipped.
///
/// # Safety
/// `fields` is a non-null `text[]`.
unsafe fn of_fields(shape: Shape, fields: pg_sys::Datum) -> NewBloom {
    // SAFETY: the fields are a non-null `text[]`.
    let fields = unsafe { Elements::of(fields) }.or_raise();
    NewBloom::new(shape, |builder| {
        for field in fields.iter().flatten() {
            // SAFETY: an element of a text[], alive with the array.
            let text = unsafe { Text::from_raw(field) };
            builder.add_text(text.as_str(), false, check_for_interrupts)?;
        }
        Ok(())
    })
}

/// `(VARIADIC text[])`, of the shape that bloom_signature gives by default.
#[entry]
fn bloom_signature_of_fields(fcinfo: pg_sys::FunctionCallInfo) -> NewBloom {
    // SAFETY: one argument, STRICT.
    let fields = unsafe { (*fcinfo).args.as_slice(1)[0].value };
    // SAFETY: that argument is a text[].
    unsafe { of_fields(planned_shape(30, 3, 0.01), fields) }
}

/// `(ngram integer, max_chars integer, fpr float8, VARIADIC text[])`
#[entry]
fn bloom_signature_of_fields_shaped(
    ngram: i32,
    max_chars: i32,
    fpr: f64,
    fcinfo: pg_sys::FunctionCallInfo,
) -> NewBloom {
    // SAFETY: four arguments, STRICT.
    let fields = unsafe { (*fcinfo).args.as_slice(4)[3].value };
    // SAFETY: the fourth is a text[].
    unsafe { of_fields(planned_shape(max_chars, ngram, fpr), fields) }
}
