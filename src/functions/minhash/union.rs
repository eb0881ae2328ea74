//! The sketch of a union of sets, from their sketches.

use pgrx::pg_sys;
use signature::sketch::MinimaView;

use pg::entry;
use pg::error::OrRaise;
use pg::values::varlena::{is_plain, NewValue};
use types::{Minhash, NewMinhash};

#[entry]
fn minhash_union(a: Minhash<'_>, b: Minhash<'_>) -> NewMinhash {
    NewMinhash::of_union(&a.view(), &b.view()).or_raise()
}

/// `(minhash, minhash) RETURNS minhash`
///
/// Transition and combine function of `minhash_union(minhash)`: the state is a sketch of its own whose minima sink in place. Called
/// otherwise it is the function of two.
#[entry]
fn minhash_union_step(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared as (minhash, minhash), and STRICT.
    let (state, value) = unsafe {
        let args = (*fcinfo).args.as_slice(2);
        (args[0].value, Minhash::from_raw(args[1].value))
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
            if MinimaView::stored(bytes).is_some() {
                value.view().unite_into(bytes).or_raise();
                return NewValue(state);
            }
        }
        NewValue(minhash_union(Minhash::from_raw(state), value).datum())
    }
}
