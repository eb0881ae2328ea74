//! Tokens to signatures, and which tokens a signature may hold.

use base::Result;
use pgrx::pg_sys;
use signature::filter::{contains_token, Builder};

use crate::functions::planned_shape::planned_shape_of_tokens;
use pg::entry;
use pg::error::OrRaise;
use types::{Bloom, NewBloom, Tokens};

fn add(tokens: &Tokens<'_>, to: &mut Builder<'_>) -> Result<()> {
    tokens.all(|token| to.add_token(token).map(|()| true))?;
    Ok(())
}

/// `(tokens text[], max_tokens integer, fpr float8) RETURNS bloom`
#[entry]
fn bloom_signature_of_tokens(fcinfo: pg_sys::FunctionCallInfo) -> NewBloom {
    // SAFETY: declared as this, and STRICT.
    let (tokens, max_tokens, fpr) = unsafe {
        let args = (*fcinfo).args.as_slice(3);
        (
            Tokens::argument(fcinfo, 0).or_raise(),
            args[1].value.value() as i32,
            f64::from_bits(args[2].value.value() as u64),
        )
    };
    NewBloom::new(planned_shape_of_tokens(max_tokens, fpr), |builder| {
        add(&tokens, builder)
    })
}

/// `(signature bloom, tokens text[]) RETURNS bloom`
#[entry]
fn bloom_add_tokens(signature: Bloom<'_>, fcinfo: pg_sys::FunctionCallInfo) -> NewBloom {
    let view = signature.view();
    view.shape().check_of_tokens().or_raise();
    // SAFETY: declared as this, and STRICT.
    let tokens = unsafe { Tokens::argument(fcinfo, 1) }.or_raise();
    NewBloom::changed(&view, |builder| add(&tokens, builder))
}

/// `(signature bloom, tokens text[]) RETURNS boolean`
#[entry]
fn bloom_contains_tokens(signature: Bloom<'_>, fcinfo: pg_sys::FunctionCallInfo) -> bool {
    let view = signature.view();
    view.shape().check_of_tokens().or_raise();
    // SAFETY: declared as this, and STRICT.
    let tokens = unsafe { Tokens::argument(fcinfo, 1) }.or_raise();
    tokens.all(|token| contains_token(&view, token)).or_raise()
}
