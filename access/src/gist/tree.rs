//! How the tree grows: compress, union, penalty, picksplit, same, fetch.

use super::key::{inner, IndexKey};
use super::shape;
use pg::entry;
use pg::error::OrRaise;
use pg::values::varlena::NewValue;
use pgrx::pg_sys;
use sigfile::gist::{inner_size, split, TreeKey};

/// The keys of an entry vector from position `first` on.
///
/// # Safety
/// `vector` is what GiST passes to union and picksplit.
unsafe fn entries(vector: *mut pg_sys::GistEntryVector, first: usize) -> Vec<IndexKey> {
    // SAFETY: GiST has passed the vector; at most a page full of entries.
    unsafe {
        (*vector).vector.as_slice((*vector).n as usize)[first..]
            .iter()
            .map(|entry| IndexKey::of_entry(entry))
            .collect()
    }
}

/// `(internal) RETURNS internal`
///
/// A leaf key is stored as it is, detoasted.
///
/// Errors: another shape than the index has.
#[entry]
fn bloom_gist_compress(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared as compress function; a new entry lives as long as the current context.
    unsafe {
        let entry: *mut pg_sys::GISTENTRY = (*fcinfo).args.as_slice(1)[0].value.cast_mut_ptr();
        if (*entry).leafkey {
            let stored = IndexKey::of((*entry).key);
            inner_size(stored.key().shape()).or_raise();
            shape::check(fcinfo, entry, &stored.key());
            let plain = stored.keep();
            if plain != (*entry).key {
                let copy: *mut pg_sys::GISTENTRY =
                    pg_sys::palloc(size_of::<pg_sys::GISTENTRY>()).cast();
                *copy = *entry;
                (*copy).key = plain;
                return NewValue(pg_sys::Datum::from(copy));
            }
        }
        NewValue(pg_sys::Datum::from(entry))
    }
}

/// `(internal) RETURNS internal`
///
/// The leaf key is the signature.
#[entry]
fn bloom_gist_fetch(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared as fetch function.
    NewValue(unsafe { (*fcinfo).args.as_slice(1)[0].value })
}

/// `(internal, internal) RETURNS bloom_gist_key`
#[entry]
fn bloom_gist_union(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared as union function.
    unsafe {
        let args = (*fcinfo).args.as_slice(2);
        let keys = entries(args[0].value.cast_mut_ptr(), 0);
        let key = inner(keys.iter().map(IndexKey::key));
        *args[1].value.cast_mut_ptr::<i32>() = pgrx::varsize_any(key.cast_mut_ptr()) as i32;
        NewValue(key)
    }
}

/// `(internal, internal, internal) RETURNS internal`
#[entry]
fn bloom_gist_penalty(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared as penalty function.
    unsafe {
        let args = (*fcinfo).args.as_slice(3);
        let key = |i: usize| {
            let entry: *const pg_sys::GISTENTRY = args[i].value.cast_mut_ptr();
            IndexKey::of_entry(entry)
        };
        *args[2].value.cast_mut_ptr::<f32>() = key(0).key().penalty(&key(1).key());
        NewValue(args[2].value)
    }
}

/// `(internal, internal) RETURNS internal`
///
/// The first argument is an entry vector, the second a split vector. Entries count from 1.
#[entry]
fn bloom_gist_picksplit(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared as picksplit function; the split's lists are as long as GiST reads them.
    unsafe {
        let args = (*fcinfo).args.as_slice(2);
        let stored = entries(args[0].value.cast_mut_ptr(), 1);
        let keys: Vec<TreeKey<'_>> = stored.iter().map(IndexKey::key).collect();
        let right = split(&keys).or_raise();
        let side = |wanted: bool| {
            let chosen = (0..keys.len()).filter(|&i| right[i] == wanted);
            let offsets: *mut pg_sys::OffsetNumber =
                pg_sys::palloc(keys.len() * size_of::<pg_sys::OffsetNumber>()).cast();
            let mut n = 0;
            for i in chosen.clone() {
                *offsets.add(n) = i as pg_sys::OffsetNumber + 1;
                n += 1;
            }
            (offsets, n as i32, inner(chosen.map(|i| keys[i])))
        };
        let split: *mut pg_sys::GIST_SPLITVEC = args[1].value.cast_mut_ptr();
        ((*split).spl_left, (*split).spl_nleft, (*split).spl_ldatum) = side(false);
        ((*split).spl_right, (*split).spl_nright, (*split).spl_rdatum) = side(true);
        NewValue(args[1].value)
    }
}

/// `(bloom_gist_key, bloom_gist_key, internal) RETURNS internal`
#[entry]
fn bloom_gist_same(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared as same function, on two keys.
    unsafe {
        let args = (*fcinfo).args.as_slice(3);
        let (a, b) = (IndexKey::of(args[0].value), IndexKey::of(args[1].value));
        *args[2].value.cast_mut_ptr::<bool>() = a.bytes() == b.bytes();
        NewValue(args[2].value)
    }
}

// Sorted build: neighbours in this order share a page.

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
