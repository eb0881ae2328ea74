//! Text to signatures.

use pgrx::pg_sys;
use signature::filter::Shape;
use text::ngram::Gaps;

use super::planned_shape::{planned_shape, DEFAULT_FPR, DEFAULT_MAX_CHARS, DEFAULT_NGRAM};
use pg::error::OrRaise;
use pg::values::text::Text;
use pg::{check_for_interrupts, entry};
use types::{Elements, NewBloom};

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
    let gaps = Gaps::of(by_word, filler).or_raise();
    NewBloom::new(planned_shape(max_chars, ngram, fpr), |builder| {
        builder.add_text(text, gaps, check_for_interrupts)
    })
}

/// Each field normalised and padded by itself, all in one signature; NULL fields are skipped.
///
/// # Safety
/// `fields` is a non-null `text[]`.
unsafe fn of_fields(shape: Shape, gaps: Gaps, fields: pg_sys::Datum) -> NewBloom {
    // SAFETY: the fields are a non-null `text[]`.
    let fields = unsafe { Elements::of(fields) }.or_raise();
    NewBloom::new(shape, |builder| {
        for field in fields.iter().flatten() {
            // SAFETY: an element of a text[], alive with the array.
            let text = unsafe { Text::from_raw(field) };
            builder.add_text(text.as_str(), gaps, check_for_interrupts)?;
        }
        Ok(())
    })
}

/// `(VARIADIC fields text[]) RETURNS bloom`
///
/// The signature has the shape that bloom_signature gives by default.
#[entry]
fn bloom_signature_of_fields(fcinfo: pg_sys::FunctionCallInfo) -> NewBloom {
    // SAFETY: one argument, STRICT.
    let fields = unsafe { (*fcinfo).args.as_slice(1)[0].value };
    // SAFETY: that argument is a text[].
    unsafe {
        let shape = planned_shape(DEFAULT_MAX_CHARS, DEFAULT_NGRAM, DEFAULT_FPR);
        of_fields(shape, Gaps::Closed, fields)
    }
}

/// `(ngram integer, max_chars integer, fpr float8, VARIADIC fields text[]) RETURNS bloom`
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
    unsafe { of_fields(planned_shape(max_chars, ngram, fpr), Gaps::Closed, fields) }
}

/// `(ngram integer, max_chars integer, fpr float8, filler boolean, VARIADIC fields text[]) RETURNS bloom`
#[entry]
fn bloom_signature_of_fields_filled(
    ngram: i32,
    max_chars: i32,
    fpr: f64,
    filler: bool,
    fcinfo: pg_sys::FunctionCallInfo,
) -> NewBloom {
    let gaps = Gaps::of(false, filler).or_raise();
    // SAFETY: five arguments, STRICT.
    let fields = unsafe { (*fcinfo).args.as_slice(5)[4].value };
    // SAFETY: the fifth is a text[].
    unsafe { of_fields(planned_shape(max_chars, ngram, fpr), gaps, fields) }
}
