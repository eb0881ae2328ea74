//! The default shape, and the one that a text length and an error rate are planned to have.

use std::cell::Cell;

use base::Result;
use signature::filter::{self, FilterPlan, Shape};

use pg::error::OrRaise;

/// The shape of signatures of text if nobody says otherwise: `sql/` has the same defaults, which
/// `tests/symbols.test.sh` compares.
pub const DEFAULT_NGRAM: i32 = 3;
pub const DEFAULT_MAX_CHARS: i32 = 30;
pub const DEFAULT_FPR: f64 = 0.01;

/// What was asked for, and the shape.
type Planned = ((i32, i32, u64), Shape);

pg::session_state! {
    /// The last that was asked for, of texts and of tokens.
    static LAST: [Cell<Option<Planned>>; 2] = [const { Cell::new(None) }; 2];
    "planned shapes" by "arguments, the last of texts and of tokens" until "others are asked for";
}

/// The planned shape for texts of `max_chars` characters, in n-grams of `ngram` of them, at the error rate `fpr`. A
/// statement asks for the same one row after row, so the last is kept.
///
/// Errors: an argument is out of its range.
pub fn planned_shape(max_chars: i32, ngram: i32, fpr: f64) -> Shape {
    let plan = || filter::plan(max_chars.into(), ngram.into(), fpr);
    cached(0, (max_chars, ngram, fpr.to_bits()), plan)
}

/// The planned shape for sets of `max_tokens` tokens at the error rate `fpr`, which is kept in the same way.
///
/// Errors: an argument is out of its range.
pub fn planned_shape_of_tokens(max_tokens: i32, fpr: f64) -> Shape {
    let plan = || filter::plan_tokens(max_tokens.into(), fpr);
    cached(1, (max_tokens, 0, fpr.to_bits()), plan)
}

fn cached(of: usize, key: (i32, i32, u64), plan: impl FnOnce() -> Result<FilterPlan>) -> Shape {
    LAST.with(|last| match last[of].get() {
        Some((last, shape)) if last == key => shape,
        _ => {
            let shape = plan().or_raise().shape;
            last[of].set(Some((key, shape)));
            shape
        }
    })
}
