//! Several signatures into one.

use pgrx::pg_sys;
use signature::filter::Builder;

use pg::entry;
use pg::error::OrRaise;
use pg::values::varlena::{is_plain, NewValue};
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
    let plain: *mut pg_sys::varlena = state.cast_mut_ptr();
    // SAFETY: fcinfo is that of this call; in an aggregate the state belongs to it, and may be
    // written where it is stored plain. It never overlaps the other argument.
    unsafe {
        let in_aggregate = pg_sys::AggCheckCallContext(fcinfo, std::ptr::null_mut()) != 0;
        if in_aggregate && is_plain(plain) {
            let bytes = std::slice::from_raw_parts_mut(
                pgrx::vardata_any(plain).cast_mut().cast::<u8>(),
                pgrx::varsize_any_exhdr(plain),
            );
            if let Some(mut builder) = Builder::in_place(bytes) {
                builder.unite(&value.view()).or_raise();
                builder.finish();
                return NewValue(state);
            }
        }
        NewValue(bloom_or(Bloom::from_raw(state), value).datum())
    }
}
