//! Nearest neighbours: the method never learns how many are wanted, so the threshold is lowered
//! step by step as long as searching is cheaper than looking at every row. Of what a step finds the nearest are kept.
//! If thousands do not suffice, those behind them are sorted in stages, in temporary files if need be.

use super::index_scan::{Hit, IndexScan};
use base::memory::reserve;
use pg::check_for_interrupts;
use pg::error::OrRaise;
use pg::file::{RecordSort, SortedRecords};
use pg::memory::within;
use pg::tid::Tid;
use pgrx::pg_sys;
use sigfile::costs::FIRST_NEAREST;
use sigfile::{Query, SignatureRow};
use std::cmp::Ordering;

/// Where a step of the search stands.
enum NearestStep {
    /// Down to this similarity by searching; what that cost.
    Search(f64, f64),
    /// All rows.
    Scan,
    Done,
}

/// A search for the nearest rows, in the order of their distances.
pub struct NearestScan {
    keys: Vec<Query>,
    step: NearestStep,
    /// Everything up to here has been returned.
    last: Option<Neighbour>,
    /// Found, the nearest last.
    ready: Vec<Neighbour>,
    /// Rows that the next pass may keep; none if those behind are to be counted.
    cap: Option<usize>,
    /// How to go on where more is found than can be kept.
    stages: Option<Stages>,
    /// What was sorted comes after `ready`.
    sorted: Option<SortedRows>,
    /// Where the sort's files are described: it lasts as long as the scan.
    context: pg_sys::MemoryContext,
}

/// Similarities at which the search stops to look.
const GRID: [f64; 9] = [0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.5];

/// What each step may cost more than the one before.
const GROWTH: f64 = 4.0;

/// Rows that the first pass keeps, the second, and each further one, as far as memory allows. Those behind them are
/// counted by their similarity and sorted in stages, of which the first has so many times as many rows.
const FIRST_CAP: usize = 64;
const SECOND_CAP: usize = 4096;
const LAST_CAP: usize = 32_768;
const MORE: usize = 8;

impl NearestScan {
    /// `keys` are the signatures to be near to, at least one; thresholds do not matter.
    ///
    /// # Safety
    /// `context` is a memory context that lasts as long as this.
    pub unsafe fn new(keys: Vec<Query>, context: pg_sys::MemoryContext) -> NearestScan {
        NearestScan {
            keys,
            step: NearestStep::Search(1.0, FIRST_NEAREST / GROWTH),
            last: None,
            ready: Vec::new(),
            cap: Some(FIRST_CAP),
            stages: None,
            sorted: None,
            context,
        }
    }

    /// Bytes that rows may take.
    fn memory() -> usize {
        // SAFETY: a setting of this process.
        unsafe { pg_sys::work_mem as usize * 1024 }
    }

    /// Rows that a pass may keep at most.
    fn most() -> usize {
        let fit = Self::memory() / size_of::<Neighbour>() / 2;
        fit.clamp(FIRST_CAP, LAST_CAP)
    }

    /// Drops all but the files, after an error: the server has closed them.
    pub fn abandon(self) {
        match self.sorted {
            Some(SortedRows::One(records)) => records.abandon(),
            Some(SortedRows::Many(records)) => records.abandon(),
            None => (),
        }
    }

    /// The next row, with its distances.
    pub fn next(&mut self, scan: &mut IndexScan<'_>) -> Option<(Hit, [f64; MAX_KEYS])> {
        let entry = loop {
            let next = self.ready.pop();
            if let Some(entry) = next.or_else(|| self.sorted.as_mut()?.next()) {
                break entry;
            }
            self.sorted = None;
            if !self.fill(scan) {
                return None;
            }
        };
        self.last = Some(entry);
        let measure = self.keys[0].measure();
        Some((entry.hit, entry.similarities.map(|s| measure.distance(s))))
    }

    /// One pass: keeps the nearest rows behind the last one returned. False at the end.
    fn fill(&mut self, scan: &mut IndexScan<'_>) -> bool {
        let threshold = match self.step {
            NearestStep::Done => return false,
            NearestStep::Scan => 0.0,
            NearestStep::Search(done, spent) => {
                let next = self.next_threshold(scan, done, spent);
                self.step =
                    next.map_or(NearestStep::Scan, |(t, cost)| NearestStep::Search(t, cost));
                next.map_or(0.0, |(t, _)| t)
            }
        };
        let Some(cap) = self.cap else {
            let stages = self.stages.take();
            let mut stages = stages.unwrap_or_else(|| self.count(scan, threshold));
            let (to, last) = stages.next(threshold);
            self.sorted = Some(self.sort(scan, to));
            if !last {
                self.stages = Some(stages);
                self.again(threshold);
            } else if matches!(self.step, NearestStep::Scan) {
                self.step = NearestStep::Done;
            }
            return true;
        };
        if self.pass(scan, threshold, cap) {
            let most = Self::most();
            self.cap = match cap {
                cap if cap >= most => None,
                FIRST_CAP => Some(SECOND_CAP.min(most)),
                _ => Some(most),
            };
            self.again(threshold);
        } else if matches!(self.step, NearestStep::Scan) {
            self.step = NearestStep::Done;
        }
        true
    }

    /// The next step searches with the same threshold again, for what was left out.
    fn again(&mut self, threshold: f64) {
        if let NearestStep::Search(_, cost) = self.step {
            self.step = NearestStep::Search(threshold.next_up(), cost / GROWTH);
        }
    }

    /// The query of the first key.
    fn query(&self, threshold: f64) -> Query {
        let mut query = self.keys[0].clone();
        query.raise(threshold);
        query
    }

    /// Counts all rows by their similarity.
    fn count(&self, scan: &mut IndexScan<'_>, threshold: f64) -> Stages {
        scan.restart(Some(self.query(threshold)));
        let mut stages = Stages::new(MORE * Self::most());
        let keys = &self.keys[..1];
        while scan.next(|page, i, _| stages.count(similarities(keys, &page.row(i))[0])) {}
        stages
    }

    /// The lowest similarity below `done` that costs little more than was spent.
    fn next_threshold(&self, scan: &IndexScan<'_>, done: f64, spent: f64) -> Option<(f64, f64)> {
        let cost = |t: f64| scan.cost(&self.query(t));
        let everything = cost(0.0);
        let mut found = None;
        for t in GRID.into_iter().filter(|&t| t < done) {
            let c = cost(t);
            // Near to what a scan costs it is better to scan at once.
            if c > everything / 4.0
                || (found.is_some() && c > GROWTH * spent.max(FIRST_NEAREST / GROWTH))
            {
                break;
            }
            found = Some((t, c));
        }
        found
    }

    /// Sorts all rows behind the last one returned.
    fn sort(&self, scan: &mut IndexScan<'_>, threshold: f64) -> SortedRows {
        let sort = || match self.keys.len() {
            1 => SortedRows::One(self.sort_records(scan, threshold)),
            _ => SortedRows::Many(self.sort_records(scan, threshold)),
        };
        // SAFETY: the context lasts as long as this, as new() was promised.
        unsafe { within(self.context, sort) }
    }

    fn sort_records<const N: usize>(
        &self,
        scan: &mut IndexScan<'_>,
        threshold: f64,
    ) -> SortedRecords<N> {
        scan.restart(Some(self.query(threshold)));
        let mut sort = RecordSort::<N>::new(Self::memory());
        let (keys, last) = (&self.keys, &self.last);
        // the records of a page: what is written may not be while the page is locked
        let mut page_records = Vec::new();
        while scan.next(|page, i, hit| {
            let entry = Neighbour {
                similarities: similarities(keys, &page.row(i)),
                hit,
            };
            if !last.as_ref().is_some_and(|l| entry.order(l).is_le()) {
                page_records.push(entry.record());
            }
        }) {
            page_records.drain(..).for_each(|record| sort.push(record));
        }
        sort.finish()
    }

    /// True if rows were left out for lack of room.
    fn pass(&mut self, scan: &mut IndexScan<'_>, threshold: f64, cap: usize) -> bool {
        scan.restart(Some(self.query(threshold)));
        let mut kept: Vec<Neighbour> = Vec::new();
        let mut overflow = false;
        let (keys, last) = (&self.keys, &self.last);
        let mut bound: Option<Neighbour> = None;
        loop {
            let more = scan.next(|page, i, hit| {
                let row = page.row(i);
                let entry = Neighbour {
                    similarities: similarities(keys, &row),
                    hit,
                };
                let returned = last.as_ref().is_some_and(|l| entry.order(l).is_le());
                let far = bound.as_ref().is_some_and(|b| entry.order(b).is_gt());
                if !returned && !far {
                    if kept.len() == kept.capacity() {
                        let more = kept.len().clamp(64, 1 << 16);
                        reserve(&mut kept, more).or_raise();
                    }
                    kept.push(entry);
                }
                overflow |= far && !returned;
            });
            if kept.len() >= 2 * cap {
                kept.select_nth_unstable_by(cap - 1, |a, b| {
                    check_for_interrupts();
                    a.order(b)
                });
                kept.truncate(cap);
                overflow = true;
                let farthest = kept[cap - 1];
                bound = Some(farthest);
                scan.raise(farthest.similarities[0].max(threshold));
            }
            if !more {
                break;
            }
        }
        kept.sort_unstable_by(|a, b| {
            check_for_interrupts();
            b.order(a)
        });
        self.ready = kept;
        overflow
    }
}

// Rows on their way into the order of their distances.

/// Order-by keys of a scan.
pub const MAX_KEYS: usize = 4;

/// A row, and how near it is.
#[derive(Clone, Copy)]
pub struct Neighbour {
    /// Similarities, the first to order by.
    pub similarities: [f64; MAX_KEYS],
    pub hit: Hit,
}

impl Neighbour {
    /// The nearest first; tids make the order total.
    pub fn order(&self, other: &Neighbour) -> Ordering {
        let pairs = other.similarities.iter().zip(&self.similarities);
        let by_keys = pairs.map(|(a, b)| a.total_cmp(b));
        let by_keys = by_keys.fold(Ordering::Equal, Ordering::then);
        by_keys.then(self.hit.tid.cmp(&other.hit.tid))
    }

    /// Numbers that have the same order.
    pub fn record<const N: usize>(&self) -> [u64; N] {
        let mut record = [0; N];
        let keys = N - REST;
        for (to, similarity) in record.iter_mut().zip(&self.similarities[..keys]) {
            // none is negative, so that the greater ones have the greater bits
            *to = !similarity.to_bits();
        }
        record[keys] = self.hit.tid.stored();
        record[keys + 1] = u64::from(self.hit.source) << 32 | u64::from(self.hit.row);
        record
    }

    fn of_record(record: &[u64]) -> Neighbour {
        let (keys, rest) = record.split_at(record.len() - REST);
        let mut similarities = [0.0; MAX_KEYS];
        for (to, key) in similarities.iter_mut().zip(keys) {
            *to = f64::from_bits(!key);
        }
        Neighbour {
            similarities,
            hit: Hit {
                tid: Tid::of_stored(rest[0]),
                source: (rest[1] >> 32) as u32,
                row: rest[1] as u32,
            },
        }
    }
}

/// Numbers of a record that is sorted, beside those of the keys: the tid, and where the row is in the index.
const REST: usize = 2;

/// Bytes of such a record, by one key.
pub const SORTED_ROW: f64 = (8 * (1 + REST)) as f64;

/// Rows that were sorted, by one key or by up to [`MAX_KEYS`].
pub enum SortedRows {
    One(SortedRecords<{ 1 + REST }>),
    Many(SortedRecords<{ MAX_KEYS + REST }>),
}

impl SortedRows {
    /// The next one.
    pub fn next(&mut self) -> Option<Neighbour> {
        match self {
            SortedRows::One(records) => records.next().map(|r| Neighbour::of_record(&r)),
            SortedRows::Many(records) => records.next().map(|r| Neighbour::of_record(&r)),
        }
    }
}

/// Similarities are counted in so many steps, a power of two so that they have exact bounds.
const STEPS: usize = 1024;

/// How many times as many rows each stage sorts as the one before.
const STAGE_GROWTH: u64 = 8;

/// Rows that are sorted in stages, as many more each time as a reader has read already.
pub struct Stages {
    /// How many rows are similar by so many steps and less than one more.
    counts: Vec<u32>,
    /// Rows of so many steps and more have been returned, or are `sorted`.
    from: usize,
    /// Rows of the next stage.
    wanted: u64,
}

impl Stages {
    /// Nothing counted yet.
    pub fn new(wanted: usize) -> Stages {
        Stages {
            counts: vec![0; STEPS + 1],
            from: STEPS + 1,
            wanted: wanted as u64,
        }
    }

    /// Counts a row.
    pub fn count(&mut self, similarity: f64) {
        self.counts[(similarity * STEPS as f64) as usize] += 1;
    }

    /// The similarity down to which the next stage goes, and whether it is the last one above `threshold`.
    pub fn next(&mut self, threshold: f64) -> (f64, bool) {
        let least = (threshold * STEPS as f64) as usize;
        let mut rows = 0;
        while self.from > least && rows < self.wanted {
            self.from -= 1;
            rows += u64::from(self.counts[self.from]);
        }
        self.wanted = self.wanted.saturating_mul(STAGE_GROWTH);
        let last = self.from <= least;
        let to = self.from as f64 / STEPS as f64;
        (if last { threshold } else { to }, last)
    }
}

/// How near a row is to the keys' signatures, whose thresholds are 0.
pub fn similarities(keys: &[Query], row: &SignatureRow<'_>) -> [f64; MAX_KEYS] {
    let mut similarities = [0.0; MAX_KEYS];
    for (to, key) in similarities.iter_mut().zip(keys) {
        // at threshold 0 every row is one
        let common = key.hit(row.words, row.popcount).unwrap_or(0);
        *to = key.similarity(row.popcount, common);
    }
    similarities
}
