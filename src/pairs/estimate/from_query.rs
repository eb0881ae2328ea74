//! Estimates by the pairs among some of the rows that a query gives.

use std::time::Instant;

use sigfile::Geometry;
use signature::similarity::{LeastCommon, Measure};

use crate::pairs::estimate::PairsEstimate;
use crate::pairs::join::bands::{join_bands, rows_of_a_piece};
use crate::pairs::join::sorted::{numbered_row, OneShape, Sorted};
use crate::pairs::join::{JoinSink, RowPair};
use crate::pairs::random::random;
use crate::pairs::records::Records;
use access::{RowSignature, RowSort};
use pg::budget::{reserve, Budget};
use pg::check_for_interrupts;
use pg::error::OrRaise;
use pg::progress::{self, phases};
use pg::session::{read, BATCH};
use pg::sql;

/// Rows of the sample, at most. Comparing all of them takes about a second, and finding the similar ones at 0.8 a part
/// of it.
const ROWS: usize = 40_000;

/// Some rows of all that were read, each as likely as any other (Algorithm R: J. S. Vitter: Random sampling with a
/// reservoir, 1985).
#[derive(Default)]
struct Reservoir {
    shape: OneShape,
    words: Vec<u64>,
    popcounts: Vec<u32>,
    all: u64,
}

impl Reservoir {
    /// Errors: a shape that others do not have; out of memory.
    fn add(&mut self, signature: &RowSignature, state: &mut u64, memory: usize) {
        let geometry = self.shape.layout(signature.tag);
        let most = (memory / (8 * geometry.stride + 4)).clamp(2, ROWS);
        self.all += 1;
        let at = match self.popcounts.len() {
            len if len < most => {
                reserve(&mut self.words, geometry.stride);
                reserve(&mut self.popcounts, 1);
                self.words.resize((len + 1) * geometry.stride, 0);
                self.popcounts.push(0);
                len
            }
            len => match random(state) % self.all {
                at if at < len as u64 => at as usize,
                _ => return,
            },
        };
        let to = at * geometry.stride..(at + 1) * geometry.stride;
        self.words[to].copy_from_slice(&signature.words);
        self.popcounts[at] = signature.popcount;
    }

    /// The share of rows that a row can be similar to, by their popcounts.
    fn reach(&self, measure: Measure, threshold: f64, state: &mut u64) -> f64 {
        const PAIRS: u32 = 2000;
        let least = LeastCommon::new(measure, measure.asked(threshold));
        let n = self.popcounts.len() as u64;
        let mut popcount = || self.popcounts[(random(state) % n) as usize];
        let near = (0..PAIRS).filter(|_| least.bits(popcount(), popcount()).is_some());
        near.count() as f64 / f64::from(PAIRS)
    }

    /// The first of the rows, in the order of their popcounts.
    fn sorted(&self, geometry: Geometry, rows: usize, memory: usize) -> Sorted {
        let mut sort = RowSort::new(geometry, memory);
        let all = self
            .words
            .chunks_exact(geometry.stride)
            .zip(&self.popcounts);
        for (i, (words, &popcount)) in all.take(rows).enumerate() {
            check_for_interrupts();
            let row = numbered_row(words, popcount, i as u64 + 1);
            sort.push(row).or_raise();
        }
        Sorted::new(sort.finish())
    }
}

/// Counts pairs, and notes who has one.
struct Counter {
    pairs: u64,
    paired: Vec<bool>,
}

impl JoinSink for Counter {
    fn pair(&mut self, pair: &RowPair) {
        check_for_interrupts();
        self.pairs += 1;
        for row in [pair.a, pair.b] {
            self.paired[row.row() as usize - 1] = true;
        }
    }

    fn progress(&mut self, _: u64, _: u64) {}
}

/// Reads all rows, as the search itself does, and finds the pairs of some of them.
///
/// Errors: what the query fails with; two shapes; out of memory.
pub fn estimate(records: &Records, threshold: f64) -> PairsEstimate {
    let memory = Budget::of_setting().bytes();
    let column = &records.key.name;
    let sql = sql!("SELECT {column} FROM {records.oid} WHERE {column} IS NOT NULL");
    let mut reservoir = Reservoir::default();
    let (mut state, started) = (1, Instant::now());
    let kind = records.signature_type();
    progress::phase(phases::READING, None);
    read(sql, &[], BATCH).each(|row| {
        if let Some(datum) = row.datum(0) {
            // SAFETY: the query selects a signature, which lives as long as the row.
            let signature = unsafe { kind.signature(datum) };
            reservoir.add(&signature, &mut state, memory / 4);
        }
    });
    let reading = started.elapsed().as_secs_f64();
    let (rows, all) = (reservoir.popcounts.len(), reservoir.all as f64);
    let counter = || Counter {
        pairs: 0,
        paired: vec![false; rows],
    };
    let mut found = counter();
    let mut seconds = reading;
    progress::phase(phases::SEARCHING_SAMPLE, None);
    if let Some(geometry) = reservoir.shape.geometry() {
        let join = |rows: usize, sink: &mut Counter| {
            let started = Instant::now();
            let sides = [Some(reservoir.sorted(geometry, rows, memory / 4)), None];
            join_bands(sides, false, &[], threshold, memory / 2, sink);
            started.elapsed().as_secs_f64()
        };
        let whole = join(rows, &mut found);
        let part = join(rows / 4, &mut counter()).max(1e-6);
        // The time grows by this power of the rows, up to as many as are joined at a time.
        let power = (whole / part).log(4.0).clamp(1.0, 2.0);
        let piece = f64::from(rows_of_a_piece(&geometry, memory / 2)).max(rows as f64);
        let (here, pieces) = (all.min(piece) / rows as f64, (all / piece).max(1.0));
        // Beyond that each row is searched for in more pieces, as far as popcounts allow, or all rows are compared.
        let reach = reservoir.reach(geometry.measure, threshold, &mut state);
        let searched = pieces * (1.0 + (pieces - 1.0) * reach / 2.0);
        let beyond = searched.powf(2.0 - power) * (pieces * pieces).powf(power - 1.0);
        seconds = 2.0 * reading + whole * here.powf(power) * beyond;
    }
    // Of one row or none there are no pairs.
    let share = |n: f64| (n * (n - 1.0)).max(1.0);
    PairsEstimate {
        pairs: found.pairs as f64 * share(all) / share(rows as f64),
        seconds,
        rows: rows as u64,
        all: reservoir.all,
        paired: found.paired.iter().filter(|&&paired| paired).count() as u64,
    }
}
