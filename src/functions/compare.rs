//! Equality, order and hashing: what btree and hash need. None of these ever fails.

use std::cmp::Ordering;

use pg::{entry, ffi};
use types::Bloom;

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

#[entry]
fn bloom_hash(a: Bloom<'_>) -> i32 {
    ffi::hash(a.view().bytes()) as i32
}

#[entry]
fn bloom_hash_extended(a: Bloom<'_>, seed: i64) -> i64 {
    ffi::hash_extended(a.view().bytes(), seed as u64) as i64
}
