//! The shape that a text length and an error rate are planned to have.

use std::cell::Cell;

use bloom_ident_core::filter::{self, Shape};

use crate::pg::error::OrRaise;

/// The planned shape for texts of `max_chars` characters, in n-grams of `ngram` of them, at the error rate `fpr`. A
/// statement asks for the same one row after row, so the last is kept.
///
/// Errors: an argument is out of its range.
pub fn planned_shape(max_chars: i32, ngram: i32, fpr: f64) -> Shape {
    type Last = Option<((i32, i32, u64), Shape)>;
    thread_local!(static LAST: Cell<Last> = const { Cell::new(None) });
    let key = (max_chars, ngram, fpr.to_bits());
    match LAST.get() {
        Some((last, shape)) if last == key => shape,
        _ => {
            let plan = filter::plan(max_chars.into(), ngram.into(), fpr).or_raise();
            LAST.set(Some((key, plan.shape)));
            plan.shape
        }
    }
}
