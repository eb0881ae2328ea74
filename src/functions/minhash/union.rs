//! The sketch of a union of sets, from their sketches.

use pgrx::pg_sys;
use signature::sketch::MinimaView;

use pg::entry;
use pg::error::OrRaise;
use pg::values::varlena::{aggregate_state, NewValue};
use types::{Minhash, NewMinhash};

#[entry]
fn minhash_union(a: Minhash<'_>, b: Minhash<'_>) -> NewMinhash {
    NewMinhash::union(&a.view(), &b.view()).or_raise()
}

/// `(minhash, minhash) RETURNS minhash`
///
/// Transition and combine function of `minhash_union(minhash)`: the state is a sketch of its own whose minima sink in
/// place. Called otherwise it is the function of two.
#[entry]
fn minhash_union_step(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared as (minhash, minhash), and STRICT.
    let (state, value) = unsafe {
        let args = (*fcinfo).args.as_slice(2);
        (args[0].value, Minhash::from_raw(args[1].value))
    };
    // SAFETY: the state is the first argument of this call, and nothing else refers to it.
    let own = unsafe { aggregate_state(fcinfo, state) };
    if let Some(bytes) = own.filter(|bytes| MinimaView::stored(bytes).is_some()) {
        value.view().unite_into(bytes).or_raise();
        return NewValue(state);
    }
    // SAFETY: the state is a value of the type, and lives as long as the call.
    let state = unsafe { Minhash::from_raw(state) };
    NewValue(minhash_union(state, value).datum())
}
