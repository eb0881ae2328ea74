//! Equality, order and hashing: what btree and hash need. None of these ever fails.

use pg::{entry, ffi};
use types::{AnySketch, Bloom};

// Of `bloom`.

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
    a.view().order(&b.view()).is_lt()
}

#[entry]
fn bloom_le(a: Bloom<'_>, b: Bloom<'_>) -> bool {
    a.view().order(&b.view()).is_le()
}

#[entry]
fn bloom_gt(a: Bloom<'_>, b: Bloom<'_>) -> bool {
    a.view().order(&b.view()).is_gt()
}

#[entry]
fn bloom_ge(a: Bloom<'_>, b: Bloom<'_>) -> bool {
    a.view().order(&b.view()).is_ge()
}

#[entry]
fn bloom_cmp(a: Bloom<'_>, b: Bloom<'_>) -> i32 {
    a.view().order(&b.view()) as i32
}

#[entry]
fn bloom_hash(a: Bloom<'_>) -> i32 {
    ffi::hash(a.view().bytes()) as i32
}

#[entry]
fn bloom_hash_extended(a: Bloom<'_>, seed: i64) -> i64 {
    ffi::hash_extended(a.view().bytes(), seed as u64) as i64
}

// Of `minhash` and `minhash_bits`, which have one header.

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
    a.view().order(&b.view()).is_lt()
}

#[entry]
fn minhash_le(a: AnySketch<'_>, b: AnySketch<'_>) -> bool {
    a.view().order(&b.view()).is_le()
}

#[entry]
fn minhash_gt(a: AnySketch<'_>, b: AnySketch<'_>) -> bool {
    a.view().order(&b.view()).is_gt()
}

#[entry]
fn minhash_ge(a: AnySketch<'_>, b: AnySketch<'_>) -> bool {
    a.view().order(&b.view()).is_ge()
}

#[entry]
fn minhash_cmp(a: AnySketch<'_>, b: AnySketch<'_>) -> i32 {
    a.view().order(&b.view()) as i32
}

#[entry]
fn minhash_hash(a: AnySketch<'_>) -> i32 {
    ffi::hash(a.view().bytes()) as i32
}

#[entry]
fn minhash_hash_extended(a: AnySketch<'_>, seed: i64) -> i64 {
    ffi::hash_extended(a.view().bytes(), seed as u64) as i64
}
