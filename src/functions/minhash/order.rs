//! Equality, order and hashing of both types, which have one header: what btree and hash need. None of these ever
//! fails.

use std::cmp::Ordering;

use pg::{entry, ffi};
use types::AnySketch;

fn order(a: &AnySketch<'_>, b: &AnySketch<'_>) -> Ordering {
    a.view().order(&b.view())
}

#[entry]
fn minhash_eq(a: AnySketch<'_>, b: AnySketch<'_>) -> bool {
    a.view() == b.view()
}

#[entry]
fn minhash_ne(a: AnySketch<'_>, b: AnySketch<'_>) -> bool {
    a.view() != b.view()
}

#[entry]
fn minhash_lt(a: AnySketch<'_>, b: AnySketch<'_>) -> bool {
    order(&a, &b).is_lt()
}

#[entry]
fn minhash_le(a: AnySketch<'_>, b: AnySketch<'_>) -> bool {
    order(&a, &b).is_le()
}

#[entry]
fn minhash_gt(a: AnySketch<'_>, b: AnySketch<'_>) -> bool {
    order(&a, &b).is_gt()
}

#[entry]
fn minhash_ge(a: AnySketch<'_>, b: AnySketch<'_>) -> bool {
    order(&a, &b).is_ge()
}

#[entry]
fn minhash_cmp(a: AnySketch<'_>, b: AnySketch<'_>) -> i32 {
    order(&a, &b) as i32
}

#[entry]
fn minhash_hash(a: AnySketch<'_>) -> i32 {
    ffi::hash(a.view().bytes()) as i32
}

#[entry]
fn minhash_hash_extended(a: AnySketch<'_>, seed: i64) -> i64 {
    ffi::hash_extended(a.view().bytes(), seed as u64) as i64
}
