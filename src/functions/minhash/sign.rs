//! Tokens to sketches.

use pgrx::pg_sys;
use signature::sketch::{Signer, SketchShape};

use pg::entry;
use pg::error::OrRaise;
use types::{Minhash, NewMinhash, NewMinhashBits, Tokens};

/// Calls `with` with what has signed the tokens of an array; NULLs are skipped. A signer is too large to be handed out.
///
/// # Safety
/// `fcinfo` is that of a call with (text[], integer, integer), none of them NULL.
unsafe fn signed<T>(fcinfo: pg_sys::FunctionCallInfo, with: impl FnOnce(&mut Signer) -> T) -> T {
    // SAFETY: the call has these arguments.
    let (tokens, n, family) = unsafe {
        let args = (*fcinfo).args.as_slice(3);
        let number = |i: usize| args[i].value.value() as i32;
        (Tokens::argument(fcinfo, 0).or_raise(), number(1), number(2))
    };
    let mut signer = Signer::new(SketchShape::new(n.into(), family.into()).or_raise());
    let add = |token: &str| {
        signer.add(token);
        Ok(true)
    };
    tokens.all(add).or_raise();
    with(&mut signer)
}

/// `(tokens text[], n integer, family integer) RETURNS minhash`
#[entry]
fn minhash(fcinfo: pg_sys::FunctionCallInfo) -> NewMinhash {
    // SAFETY: declared with these arguments, and STRICT.
    unsafe { signed(fcinfo, NewMinhash::signed) }
}

/// `(tokens text[], n integer, family integer) RETURNS minhash_bits`
///
/// The same, keeping the lowest bits alone.
#[entry]
fn minhash_bits(fcinfo: pg_sys::FunctionCallInfo) -> NewMinhashBits {
    // SAFETY: declared with these arguments, and STRICT.
    unsafe { signed(fcinfo, NewMinhashBits::signed) }
}

#[entry]
fn minhash_bits_of_minhash(minima: Minhash<'_>) -> NewMinhashBits {
    NewMinhashBits::sampled(&minima.view())
}
