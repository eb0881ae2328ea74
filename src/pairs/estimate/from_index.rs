//! Estimates by some rows that are searched for through the indexes.

use std::time::{Duration, Instant};

use pgrx::pg_sys;

use crate::pairs::estimate::sample::{count_similar, sample_row, SampleRow};
use crate::pairs::estimate::timing::time;
use crate::pairs::estimate::PairsEstimate;
use crate::pairs::join::bands::rows_of_a_piece;
use crate::pairs::join::parallel::{self, Job};
use crate::pairs::join::pieces::JoinPiece;
use crate::pairs::join::units::{JoinPlan, Pairing, ALONE};
use crate::pairs::join::unlisted::{unlisted, Origins};
use crate::pairs::join::TableNumber;
use crate::pairs::keys::Keys;
use crate::pairs::random::random;
use crate::pairs::records::{Records, Relations};
use crate::pairs::table::IndexedTables;
use pg::budget::Budget;
use pg::check_for_interrupts;
use pg::memory::Scratch;
use pg::progress::{self, phases};
use sigfile::costs::PAIR;

/// Rows that are searched for in any case, and those besides where that is quick.
const FIRST: u64 = 300;
const MORE: u64 = 700;

/// The time that searching for rows, and timing parts of the search, should take about, each.
const LIMIT: Duration = Duration::from_millis(500);

/// Errors: damaged indexes; out of memory.
pub fn estimate(records: &Records, tables: &IndexedTables, threshold: f64) -> PairsEstimate {
    let memory = Budget::of_setting().bytes();
    tables.begin();
    let started = Instant::now();
    let (sorted, origins) = unlisted(tables.of_side(0), memory / 4).unzip();
    let indexed = parallel::pieces(&tables.list, None);
    // Unlisted rows that do not fit into memory are joined in bands. Here some of them stand for all.
    let unlisted = sorted.map(|mut sorted| {
        let most = rows_of_a_piece(sorted.geometry(), memory / 2);
        let every = sorted.rows().div_ceil(most).max(1);
        let rows = (0..sorted.rows()).step_by(every as usize);
        (
            sorted.piece((TableNumber::UNLISTED[0], 0), rows, memory / 4),
            every,
        )
    });
    let making = started.elapsed().as_secs_f64();
    let whole = indexed.iter().map(|piece| (piece, 1));
    let thinned = unlisted.iter().map(|(piece, every)| (piece, *every));
    let parts: Vec<SampledPiece<'_>> = whole.chain(thinned).collect();
    let all: u64 = parts.iter().map(rows_of).sum();

    let mut sample = RowSample::default();
    progress::phase(phases::SEARCHING_SAMPLE, Some(FIRST + MORE));
    sample.add(&parts, FIRST, threshold, memory / 2);
    if sample.took * (MORE as u32) < LIMIT * FIRST as u32 && all > FIRST {
        sample.add(&parts, MORE, threshold, memory / 2);
    }
    let RowSample { rows, asked, .. } = &sample;
    let similar: u64 = rows.iter().map(|row| row.similar).sum();
    let pairs = all as f64 * similar as f64 / (*asked).max(1) as f64 / 2.0;

    let job = Job {
        tables,
        threshold,
        memory,
    };
    let (plan, _, workers) = job.plan(&indexed);
    progress::phase(phases::TIMING, None);
    let (searching, folding) = time(&plan, LIMIT);
    let origins = Origins([origins, None]);
    let a_pair = time_a_pair(records, tables, rows, origins).unwrap_or(PAIR / 1e9);
    let processes = processes(workers) as f64;
    // The leader alone writes the pairs, while the others search.
    let writing = pairs * a_pair;
    let mut seconds = making + folding + ((searching + writing) / processes).max(writing);
    if let Some((piece, every)) = &unlisted {
        // The leader joins these by itself: with each other, and with the segments.
        let within = JoinPlan::new([piece], Pairing::All, threshold, memory / 4, ALONE);
        let segments = parallel::pieces(&tables.list, Some(0));
        let segments = segments.iter().chain([piece]);
        let between = JoinPlan::new(segments, Pairing::Between, threshold, memory / 4, ALONE);
        let sum = |(searching, folding)| searching + folding;
        let every = f64::from(*every);
        seconds += sum(time(&within, LIMIT / 4)) * every * every;
        seconds += sum(time(&between, LIMIT / 4)) * every;
    }
    PairsEstimate {
        pairs,
        seconds,
        rows: *asked,
        all,
        paired: rows.iter().filter(|row| row.similar > 0).count() as u64,
    }
}

/// Some rows of a join, and for how many rows each of them stands.
type SampledPiece<'a> = (&'a JoinPiece<'a>, u32);

/// The rows that they stand for.
fn rows_of((piece, every): &SampledPiece<'_>) -> u64 {
    u64::from(piece.segment().present()) * u64::from(*every)
}

/// Rows that were searched for.
#[derive(Default)]
struct RowSample {
    /// Those that are not dead.
    rows: Vec<SampleRow>,
    asked: u64,
    took: Duration,
}

impl RowSample {
    /// Searches for so many rows more: one of each of so many stretches of all rows, which are in the order of their
    /// popcounts, so that no stretch is left out.
    fn add(&mut self, parts: &[SampledPiece<'_>], n: u64, threshold: f64, memory: usize) {
        let started = Instant::now();
        let all: u64 = parts.iter().map(rows_of).sum();
        let n = n.min(all);
        let mut state = n;
        let mut rows = Vec::new();
        for stretch in 0..n {
            check_for_interrupts();
            progress::done(self.asked + stretch);
            let (from, to) = (stretch * all / n, (stretch + 1) * all / n);
            let mut number = from + random(&mut state) % (to - from).max(1);
            for part in parts {
                if number < rows_of(part) {
                    rows.extend(sample_row(part.0, number as u32 / part.1));
                    break;
                }
                number -= rows_of(part);
            }
        }
        for &(piece, every) in parts {
            count_similar(piece, &mut rows, threshold, every, memory);
        }
        self.rows.extend(rows);
        self.asked += n;
        self.took += started.elapsed();
    }
}

/// Processes that will search at the same time.
fn processes(workers: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // SAFETY: these are settings.
    let most = unsafe { pg_sys::max_parallel_workers.min(pg_sys::max_worker_processes) };
    (1 + workers.min(most.max(0) as usize)).min(cores)
}

/// Seconds that it takes to fetch the rows of a pair, as those that were found say; `None` if none was found.
fn time_a_pair(
    records: &Records,
    tables: &IndexedTables,
    rows: &[SampleRow],
    mut origins: Origins,
) -> Option<f64> {
    let mut keys = Keys::new(tables, Relations::one(records), None);
    let mut scratch = Scratch::new(c"pair of records");
    let (mut n, started) = (0u32, Instant::now());
    for row in rows {
        let Some(other) = row.other else { continue };
        check_for_interrupts();
        let (a, b) = (origins.locate(row.row), origins.locate(other));
        scratch.with(|| keys.pair(a, b, 1.0).is_some());
        n += 1;
    }
    (n > 0).then(|| started.elapsed().as_secs_f64() / f64::from(n))
}
