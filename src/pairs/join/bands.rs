//! Joining rows that are sorted by popcount and may be in temporary files. They are joined in pieces, of which two fit
//! into memory at a time.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use sigfile::chunk::{MAX_CHUNKS, MIN_ROWS};
use sigfile::join::Folds;
use sigfile::posting::MAX_ROWS;
use sigfile::{Geometry, Segment};
use signature::similarity::LeastCommon;

use crate::pairs::join::pieces::JoinPiece;
use crate::pairs::join::sorted::Sorted;
use crate::pairs::join::units::{JoinPlan, Pairing, Worker, ALONE};
use crate::pairs::join::{JoinSink, TableNumber};

/// A join takes so much memory in any case: with pieces of a few rows it would never end.
const LEAST_MEMORY: usize = 4 << 20;

/// How many rows a piece can have. Two pieces and what is needed to make and to join them take `memory` bytes.
pub fn rows_of_a_piece(geometry: &Geometry, memory: usize) -> u32 {
    // The number of the first row of each popcount.
    let fixed = 2 * size_of::<u32>() * geometry.bits as usize;
    let page = 8 * geometry.page_words.div_ceil(geometry.capacity);
    // What is sorted, and the folds.
    let passing = 2 * size_of::<u64>() + Folds::ROW;
    // A posting takes four bytes and a little more.
    let postings = 5 * (geometry.stride * 64 / 16).min(MAX_CHUNKS);
    let memory = memory.max(LEAST_MEMORY) - fixed;
    let rows = memory / (2 * (page + postings) + passing);
    let without = memory / (2 * page + passing);
    let rows = rows.max(without.min(MIN_ROWS as usize - 1));
    rows.min(MAX_ROWS as usize) as u32
}

/// Cuts `rows` rows into bands of about the same size, at most `most` rows each. There is at least one band.
fn bands(rows: u32, most: u32) -> Vec<Range<u32>> {
    let n = rows.div_ceil(most).max(1);
    let size = rows.div_ceil(n).max(1);
    let at = |i: u32| i.saturating_mul(size).min(rows);
    (0..n).map(|i| at(i)..at(i + 1)).collect()
}

/// Counts the steps of a join. Progress is told in thousandths of a step.
struct Steps<'a, S> {
    done: u64,
    all: u64,
    sink: &'a mut S,
}

impl<S: JoinSink> Steps<'_, S> {
    fn run(&mut self, plan: &JoinPlan<'_>) {
        let next = AtomicU64::new(0);
        self.sink.progress(self.done * 1000, self.all * 1000);
        let mut worker = Worker::new(plan);
        while worker.turn(&next, &mut |pair| self.sink.pair(pair)) {
            let units = plan.units().max(1);
            let here = next.load(Ordering::Relaxed).min(units);
            let done = self.done * 1000 + 1000 * here / units;
            self.sink.progress(done, self.all * 1000);
        }
        self.done += 1;
    }
}

/// Joins sorted rows of both sides of a linkage, or of the first alone, band by band. Their rows are found as unlisted
/// ones. The segments are joined with the rows of the other side, too; without linkage they are of side 1. It takes
/// `memory` bytes.
///
/// Errors: a damaged page; out of memory.
pub fn join_bands(
    mut sides: [Option<Sorted>; 2],
    linkage: bool,
    segments: &[JoinPiece<'_>],
    threshold: f64,
    memory: usize,
    sink: &mut impl JoinSink,
) {
    let of_side = |rows: &Option<Sorted>| match rows {
        Some(rows) => bands(rows.rows(), rows_of_a_piece(rows.geometry(), memory)),
        None => Vec::new(),
    };
    let bands = [of_side(&sides[0]), of_side(&sides[1])];
    let (left, right) = (bands[0].len() as u64, bands[1].len() as u64);
    let pairs = if linkage {
        left * right
    } else {
        left * (left + 1) / 2
    };
    let mut steps = Steps {
        done: 0,
        all: pairs + left + right,
        sink,
    };
    for (side, bands_here) in bands.iter().enumerate() {
        for (i, band) in bands_here.iter().enumerate() {
            let rows = sides[side].as_mut().expect("it has bands");
            let table = (TableNumber::UNLISTED[side], side as u8);
            let first = rows.piece(table, band.clone(), memory / 4);
            let others = segments.iter().filter(|s| usize::from(s.side()) != side);
            let pieces = others.chain([&first]);
            let plan = JoinPlan::new(pieces, Pairing::Between, threshold, memory / 4, ALONE);
            steps.run(&plan);
            let rest: &[Range<u32>] = match (linkage, side) {
                (true, 0) => &bands[1],
                (true, _) => continue,
                (false, _) => {
                    let plan = JoinPlan::new([&first], Pairing::All, threshold, memory / 4, ALONE);
                    steps.run(&plan);
                    &bands_here[i + 1..]
                }
            };
            let other = usize::from(linkage);
            for band in rest {
                let rows = sides[other].as_mut().expect("it has bands");
                if has_no_similar(first.segment(), rows.popcounts(band), threshold) {
                    steps.done += 1;
                    continue;
                }
                let table = (TableNumber::UNLISTED[other], 1);
                let second = rows.piece(table, band.clone(), memory / 4);
                let pieces = [&first, &second];
                let plan = JoinPlan::new(pieces, Pairing::Between, threshold, memory / 4, ALONE);
                steps.run(&plan);
            }
        }
    }
}

/// Whether no row of a segment can be similar to a row with one of these popcounts (the least and the greatest): the
/// popcount bound, by which two signatures are at most as similar as the lesser popcount is to the greater.
fn has_no_similar(segment: &Segment, (least, greatest): (u32, u32), threshold: f64) -> bool {
    let last = segment.rows.saturating_sub(1);
    let own = (segment.popcount_of(0), segment.popcount_of(last));
    let measure = segment.geometry.measure;
    let common = LeastCommon::new(measure, measure.asked(threshold));
    let differ = |low: u32, high: u32| common.bits(low, high).is_none();
    own.1 < least && differ(own.1, least) || greatest < own.0 && differ(greatest, own.0)
}
