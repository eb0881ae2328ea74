//! Several signatures into one.

use pgrx::pg_sys;
use signature::filter::Builder;

use pg::entry;
use pg::error::OrRaise;
use pg::values::varlena::{aggregate_state, NewValue};
use types::{Bloom, NewBloom};

/// `|`
#[entry]
fn bloom_or(a: Bloom<'_>, b: Bloom<'_>) -> NewBloom {
    NewBloom::changed(&a.view(), |builder| builder.unite(&b.view()))
}

/// `&`
#[entry]
fn bloom_and(a: Bloom<'_>, b: Bloom<'_>) -> NewBloom {
    NewBloom::changed(&a.view(), |builder| builder.intersect(&b.view()))
}

/// `(bloom, bloom) RETURNS bloom`
///
/// Transition and combine function of `bloom_union(bloom)`: the state is a signature of its own
/// that grows in place. Called otherwise it is `|`.
#[entry]
fn bloom_union_step(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared as (bloom, bloom), and STRICT.
    let (state, value) = unsafe {
        let args = (*fcinfo).args.as_slice(2);
        (args[0].value, Bloom::from_raw(args[1].value))
    };
    // SAFETY: the state is the first argument of this call, and nothing else refers to it.
    let own = unsafe { aggregate_state(fcinfo, state) };
    if let Some(mut builder) = own.and_then(Builder::in_place) {
        builder.unite(&value.view()).or_raise();
        builder.finish();
        return NewValue(state);
    }
    // SAFETY: the state is a value of the type, and lives as long as the call.
    let state = unsafe { Bloom::from_raw(state) };
    NewValue(bloom_or(state, value).datum())
}
