//! What a join keeps between one batch and the next.

use std::time::Duration;

use super::block::RowBlock;
use super::candidates::Candidate;
use super::folds::Folds;
use super::table::TableProbe;
use crate::query::Query;
use crate::segment::Segment;

/// Searches one segment for many rows at a time. Where many rows are, their values are looked up in tables that
/// are made of the segment's rows. Few are looked up in the posting pages, in their order, so that those of one page come
/// together: looked up row by row, most of the time would go by waiting for memory.
pub struct Joiner<'a> {
    pub(super) segment: &'a Segment,
    pub(super) folds: &'a Folds,
    pub(super) query: Query,
    /// For each row of the batch and each chunk: the radius, −1 to leave it out.
    pub(super) radii: Vec<i8>,
    /// For the row being planned and each chunk: how many rows have the same value, if they are many.
    pub(super) frequent: Vec<Option<u32>>,
    /// For the row being planned: what the next step of each chunk costs, the steps in their order.
    pub(super) next: Vec<f64>,
    pub(super) order: Vec<u16>,
    /// Values to look up, and for which row of the batch: value · 2^32 + row.
    pub(super) probes: Vec<u64>,
    pub(super) near: Vec<u32>,
    pub(super) candidates: Vec<Candidate>,
    /// What was found among some candidates: row of the batch, row, tid, similarity.
    pub(super) hits: Vec<(usize, u32, u64, f64)>,
    pub(super) tables: TableProbe,
    /// From how many bits on, in which rows may differ, folds are of no use.
    pub(super) weak_from: u32,
    pub(super) block: RowBlock,
    /// Whether values are looked up in tables, where that is not left to the costs.
    pub(super) forced: Option<bool>,
    /// How many rows each row of a batch stands for.
    pub(super) weight: f64,
    /// How long it has taken to choose between tables and pages, and to make tables.
    pub(super) once: Duration,
}

impl<'a> Joiner<'a> {
    /// Rows outside of `folds` are not found. Any threshold will do; NaN finds nothing.
    ///
    /// # Panics
    /// If rows have keys: they are not in the order of their popcounts then.
    pub fn new(segment: &'a Segment, folds: &'a Folds, threshold: f64) -> Joiner<'a> {
        let geometry = &segment.geometry;
        assert!(!geometry.keys, "rows with keys are joined key by key");
        Joiner {
            segment,
            folds,
            query: Query::new(geometry, &vec![0; geometry.stride], threshold),
            radii: Vec::new(),
            frequent: Vec::new(),
            next: Vec::new(),
            order: Vec::new(),
            probes: Vec::new(),
            near: Vec::new(),
            candidates: Vec::new(),
            hits: Vec::new(),
            tables: TableProbe::default(),
            weak_from: folds.weak_from(),
            block: RowBlock::default(),
            forced: None,
            weight: 1.0,
            once: Duration::ZERO,
        }
    }

    /// Has a batch searched as if each row of it were so many.
    pub fn stand_for(&mut self, rows: f64) {
        self.weight = rows;
    }

    /// The part of the time of all searches that does not depend on how many rows were searched for.
    pub fn once(&self) -> Duration {
        self.once
    }

    /// Has values looked up in tables in memory, or in the posting pages, whatever is quicker. For tests.
    pub fn force(&mut self, in_tables: bool) {
        self.forced = Some(in_tables);
    }
}
