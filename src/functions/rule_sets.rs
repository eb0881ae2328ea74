//! The argument `rules` of functions that normalise texts. It came with version 0.2.0, which updates the extension without making
//! these functions anew: a session that holds this library can meet them as 0.1.0 declared them, without it.

use pg::error::OrRaise;
use pgrx::pg_sys;
use text::Rules;

/// The rule set in argument `i`, from 0, an integer; the first one where the function is declared without it.
///
/// Errors: this version does not have it.
///
/// # Safety
/// `fcinfo` is that of a running call; argument `i`, if there is one, is an integer, and not NULL.
pub unsafe fn rules_argument(fcinfo: pg_sys::FunctionCallInfo, i: usize) -> Rules {
    // SAFETY: the record has as many arguments as it says.
    let given = unsafe {
        let arguments = (*fcinfo).args.as_slice((*fcinfo).nargs as usize);
        arguments
            .get(i)
            .map(|argument| argument.value.value() as i32)
    };
    match given {
        None => Rules::FIRST,
        Some(number) => Rules::of(number.into()).or_raise(),
    }
}
