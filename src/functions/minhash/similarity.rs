//! Estimated similarity of two sets by their sketches.

use signature::sketch::{standard_error, SketchKind};

use pg::entry;
use pg::error::OrRaise;
use types::{Minhash, MinhashBits};

/// Of two of `minhash_bits`. The planner knows this one.
#[entry]
fn minhash_sim(a: MinhashBits<'_>, b: MinhashBits<'_>) -> f64 {
    a.view().similarity(&b.view()).or_raise()
}

#[entry]
fn minhash_sim_of_minima(a: Minhash<'_>, b: Minhash<'_>) -> f64 {
    a.view().similarity(&b.view()).or_raise()
}

/// `<->` of `minhash`
#[entry]
fn minhash_distance(a: Minhash<'_>, b: Minhash<'_>) -> f64 {
    1.0 - a.view().similarity(&b.view()).or_raise()
}

/// `<->` of `minhash_bits`
#[entry]
fn minhash_bits_distance(a: MinhashBits<'_>, b: MinhashBits<'_>) -> f64 {
    a.view().distance(&b.view()).or_raise()
}

#[entry]
fn minhash_standard_error(similarity: f64, n: i32, bits: bool) -> f64 {
    let kind = if bits {
        SketchKind::Bits
    } else {
        SketchKind::Minima
    };
    standard_error(similarity, n.into(), kind).or_raise()
}
