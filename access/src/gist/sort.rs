//! Sorted build: neighbours in this order share a page.

use pgrx::pg_sys;

use super::key::IndexKey;
use pg::entry;
use pg::values::varlena::NewValue;

/// Compares two leaf keys.
#[entry]
unsafe extern "C-unwind" fn compare(
    a: pg_sys::Datum,
    b: pg_sys::Datum,
    _sort: pg_sys::SortSupport,
) -> i32 {
    // SAFETY: the sort passes leaf keys.
    unsafe { IndexKey::of(a).key().order(&IndexKey::of(b).key()) as i32 }
}

/// `(internal) RETURNS void`
#[entry]
fn bloom_gist_sortsupport(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared as sortsupport function.
    unsafe {
        let sort: pg_sys::SortSupport = (*fcinfo).args.as_slice(1)[0].value.cast_mut_ptr();
        (*sort).comparator = Some(compare);
    }
    NewValue(pg_sys::Datum::null())
}
