//! What a join keeps between one batch and the next.

use super::block::RowBlock;
use super::folds::Folds;
use crate::sigfile::query::Query;
use crate::sigfile::segment::Segment;

/// Searches one segment for many rows at a time. Values are looked up in their order, so that those of one posting page come
/// together: looked up row by row, most of the time would go by waiting for memory.
pub struct Joiner<'a> {
    pub(super) segment: &'a Segment,
    pub(super) folds: &'a Folds,
    pub(super) query: Query,
    /// For each row of the batch and each chunk: how many rows have the same value; the radius.
    pub(super) own: Vec<u32>,
    pub(super) radii: Vec<i8>,
    /// For the row being planned: what the next step of each chunk costs, the steps in their order.
    pub(super) next: Vec<f64>,
    pub(super) order: Vec<u16>,
    /// Values to look up, and for which row of the batch: value · 2^32 + row.
    pub(super) probes: Vec<u64>,
    pub(super) near: Vec<u32>,
    /// Row of the batch · 2^32 + row that may be similar to it.
    pub(super) candidates: Vec<u64>,
    /// What was found among some candidates.
    pub(super) hits: Vec<(usize, u64, f64)>,
    /// Rows of a batch whose candidates are collected together.
    pub(super) at_once: usize,
    /// From how many bits on, in which rows may differ, folds are of no use.
    pub(super) weak_from: u32,
    pub(super) block: RowBlock,
}

impl<'a> Joiner<'a> {
    /// Rows outside of `folds` are not found. Any threshold will do; NaN finds nothing.
    pub fn new(segment: &'a Segment, folds: &'a Folds, threshold: f64) -> Joiner<'a> {
        let geometry = &segment.geometry;
        Joiner {
            segment,
            folds,
            query: Query::new(geometry, &vec![0; geometry.stride], threshold),
            own: Vec::new(),
            radii: Vec::new(),
            next: Vec::new(),
            order: Vec::new(),
            probes: Vec::new(),
            near: Vec::new(),
            candidates: Vec::new(),
            hits: Vec::new(),
            at_once: usize::MAX >> 1,
            weak_from: folds.weak_from(),
            block: RowBlock::default(),
        }
    }
}
