//! Exact similarity of two sets of tokens.

use base::Result;
use pgrx::pg_sys;
use text::tokens::Overlap;

use pg::error::OrRaise;
use pg::{check_for_interrupts, entry};
use types::Tokens;

/// Of the first two arguments, which are `text[]`.
fn overlap(fcinfo: pg_sys::FunctionCallInfo) -> Overlap {
    let of = || -> Result<Overlap> {
        // SAFETY: declared as (text[], text[]), and STRICT.
        let (a, b) = unsafe { (Tokens::argument(fcinfo, 0)?, Tokens::argument(fcinfo, 1)?) };
        Overlap::of(&mut a.list()?, &mut b.list()?, check_for_interrupts)
    };
    of().or_raise()
}

/// `(a text[], b text[]) RETURNS float8`
#[entry]
fn ident_token_sim(fcinfo: pg_sys::FunctionCallInfo) -> f64 {
    overlap(fcinfo).jaccard()
}

/// `(a text[], b text[]) RETURNS float8`
#[entry]
fn ident_token_containment(fcinfo: pg_sys::FunctionCallInfo) -> f64 {
    overlap(fcinfo).containment()
}
