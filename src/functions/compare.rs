//! Equality, order and hashing: what btree and hash need. None of these ever fails.

use std::cmp::Ordering;

use crate::pg::entry;
use crate::types::Bloom;

fn order(a: &Bloom<'_>, b: &Bloom<'_>) -> Ordering {
    a.view().order(&b.view())
}

#[entry]
fn bloom_eq(a: Bloom<'_>, b: Bloom<'_>) -> bool {
    a.view() == b.view()
}

#[entry]
fn bloom_ne(a: Bloom<'_>, b: Bloom<'_>) -> bool {
    a.view() != b.view()
}

#[entry]
fn bloom_lt(a: Bloom<'_>, b: Bloom<'_>) -> bool {
    order(&a, &b).is_lt()
}

#[entry]
fn bloom_le(a: Bloom<'_>, b: Bloom<'_>) -> bool {
    order(&a, &b).is_le()
}

#[entry]
fn bloom_gt(a: Bloom<'_>, b: Bloom<'_>) -> bool {
    order(&a, &b).is_gt()
}

#[entry]
fn bloom_ge(a: Bloom<'_>, b: Bloom<'_>) -> bool {
    order(&a, &b).is_ge()
}

#[entry]
fn bloom_cmp(a: Bloom<'_>, b: Bloom<'_>) -> i32 {
    order(&a, &b) as i32
}

// The server's own hash functions: stable over versions, as hash partitioning needs. They raise
// no errors.
unsafe extern "C" {
    fn hash_bytes(key: *const u8, length: i32) -> u32;
    fn hash_bytes_extended(key: *const u8, length: i32, seed: u64) -> u64;
}

#[entry]
fn bloom_hash(a: Bloom<'_>) -> i32 {
    let view = a.view();
    // SAFETY: pointer and length of a slice.
    unsafe { hash_bytes(view.bytes().as_ptr(), view.bytes().len() as i32) as i32 }
}

#[entry]
fn bloom_hash_extended(a: Bloom<'_>, seed: i64) -> i64 {
    let view = a.view();
    // SAFETY: pointer and length of a slice.
    unsafe {
        hash_bytes_extended(
            view.bytes().as_ptr(),
            view.bytes().len() as i32,
            seed as u64,
        ) as i64
    }
}
