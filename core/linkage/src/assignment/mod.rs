//! Pairs of two sides of which each record is in one at the most: the partners of a one-to-one linkage.
//!
//! Records of each side are numbered from 0 in the order of their keys; equal numbers on both sides are different
//! records. No result depends on the order of the pairs.

mod optimal;
mod sparse;

pub use optimal::optimal;

/// A pair that may be kept: an edge of a graph between two sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightedPair {
    /// The record of one side.
    pub a: u32,
    /// The record of the other.
    pub b: u32,
    /// What is gained by keeping the pair, in units of the caller's. A pair that gains nothing is not kept.
    pub weight: i128,
    /// What the caller wants to have back with the pair.
    pub value: f64,
}
