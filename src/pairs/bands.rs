//! Joining rows that are sorted by bit count, and may be in temporary files: in pieces, of which two fit into memory.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use bloom_ident_core::sigfile::chunk::{MAX_CHUNKS, MIN_ROWS};
use bloom_ident_core::sigfile::join::Folds;
use bloom_ident_core::sigfile::posting::MAX_ROWS;
use bloom_ident_core::sigfile::{Geometry, Segment};
use bloom_ident_core::similarity::least_common;

use crate::pairs::join::{Match, Pairing, Work, Worker};
use crate::pairs::pieces::Piece;
use crate::pairs::sorted::Sorted;

/// Memory of a join in any case: pieces of a few rows would take for ever.
const LEAST_MEMORY: usize = 4 << 20;

/// How many rows a piece can have, so that two of them and what is needed to make and to join them take `memory` bytes.
fn rows_of_a_piece(geometry: &Geometry, memory: usize) -> u32 {
    // the first row of each bit count
    let fixed = 2 * size_of::<u32>() * geometry.bits as usize;
    let page = 8 * geometry.page_words.div_ceil(geometry.capacity);
    // what is sorted, and folded
    let passing = 2 * size_of::<u64>() + Folds::ROW;
    // a posting takes four bytes and a little more
    let postings = 5 * (geometry.stride * 64 / 16).min(MAX_CHUNKS);
    let memory = memory.max(LEAST_MEMORY) - fixed;
    let rows = memory / (2 * (page + postings) + passing);
    let without = memory / (2 * page + passing);
    let rows = rows.max(without.min(MIN_ROWS as usize - 1));
    rows.min(MAX_ROWS as usize) as u32
}

/// Numbers of some of `rows` rows, at most `most`: at least one of them, all alike.
fn bands(rows: u32, most: u32) -> Vec<Range<u32>> {
    let n = rows.div_ceil(most).max(1);
    let size = rows.div_ceil(n).max(1);
    let at = |i: u32| i.saturating_mul(size).min(rows);
    (0..n).map(|i| at(i)..at(i + 1)).collect()
}

pub struct Bands<'a> {
    /// Both of linkage, or the first alone.
    pub sides: [Option<Sorted>; 2],
    /// The numbers that their rows have as those of a table.
    pub tables: [u16; 2],
    pub linkage: bool,
    /// Joined with the rows of the other side, too; without linkage they are of side 1.
    pub segments: &'a [Piece],
    pub threshold: f64,
    /// Bytes.
    pub memory: usize,
}

/// A step of all that there are, done in thousandths.
struct Steps<P> {
    done: u64,
    all: u64,
    progress: P,
}

impl<P: FnMut(u64, u64)> Steps<P> {
    fn run(&mut self, work: &Work<'_>, each: &mut impl FnMut(&Match)) {
        let next = AtomicU64::new(0);
        let mut worker = Worker::new(work);
        while worker.turn(&next, each) {
            let units = work.units().max(1);
            let here = next.load(Ordering::Relaxed).min(units);
            (self.progress)(self.done * 1000 + 1000 * here / units, self.all * 1000);
        }
        self.done += 1;
    }
}

impl Bands<'_> {
    /// Passes on what is found, and to `progress` what is done, and all.
    pub fn join(self, mut each: impl FnMut(&Match), progress: impl FnMut(u64, u64)) {
        let Bands {
            mut sides,
            tables,
            linkage,
            segments,
            threshold,
            memory,
        } = self;
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
            progress,
        };
        for (side, bands_here) in bands.iter().enumerate() {
            for (i, band) in bands_here.iter().enumerate() {
                let rows = sides[side].as_mut().expect("it has bands");
                let first = rows.piece((tables[side], side as u8), band.clone(), memory / 4);
                let others = segments.iter().filter(|s| usize::from(s.side()) != side);
                let pieces = others.chain([&first]);
                let work = Work::new(pieces, Pairing::Between, threshold, memory / 4);
                steps.run(&work, &mut each);
                let rest: &[Range<u32>] = match (linkage, side) {
                    (true, 0) => &bands[1],
                    (true, _) => continue,
                    (false, _) => {
                        let work = Work::new([&first], Pairing::All, threshold, memory / 4);
                        steps.run(&work, &mut each);
                        &bands_here[i + 1..]
                    }
                };
                let other = usize::from(linkage);
                for band in rest {
                    let rows = sides[other].as_mut().expect("it has bands");
                    if is_apart(first.segment(), rows.counts(band), threshold) {
                        steps.done += 1;
                        continue;
                    }
                    let table = (tables[other], 1);
                    let second = rows.piece(table, band.clone(), memory / 4);
                    let pieces = [&first, &second];
                    let work = Work::new(pieces, Pairing::Between, threshold, memory / 4);
                    steps.run(&work, &mut each);
                }
            }
        }
    }
}

/// Whether no row of a segment is similar to one of these bit counts.
fn is_apart(segment: &Segment, counts: (u32, u32), threshold: f64) -> bool {
    let last = segment.rows.saturating_sub(1);
    let own = (segment.popcount_of(0), segment.popcount_of(last));
    let apart = |low: u32, high: u32| least_common(low, high, threshold).is_none();
    own.1 < counts.0 && apart(own.1, counts.0) || counts.1 < own.0 && apart(counts.1, own.0)
}
