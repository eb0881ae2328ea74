//! NearestScan neighbours: the method never learns how many are wanted, so the threshold is lowered
//! step by step as long as searching is cheaper than looking at every row.

use std::cmp::Ordering;

use bloom_ident_core::sigfile::{Query, SignatureRow};
use pgrx::pg_sys;

use super::index_scan::{Hit, IndexScan};
use crate::pg::check_for_interrupts;
use crate::pg::error::OrRaise;

/// Order-by keys of a scan.
pub const MAX_KEYS: usize = 4;

#[derive(Clone, Copy)]
struct Neighbour {
    /// Similarities, the first to order by.
    similarities: [f64; MAX_KEYS],
    hit: Hit,
}

impl Neighbour {
    /// The nearest first; tids make the order total.
    fn order(&self, other: &Neighbour) -> Ordering {
        let pairs = other.similarities.iter().zip(&self.similarities);
        let by_keys = pairs.map(|(a, b)| a.total_cmp(b));
        let by_keys = by_keys.fold(Ordering::Equal, Ordering::then);
        by_keys.then(self.hit.tid.cmp(&other.hit.tid))
    }
}

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
    /// Rows that a pass may keep.
    cap: usize,
}

/// Similarities at which the search stops to look.
const GRID: [f64; 9] = [0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.5];

/// Nanoseconds: a first step is worth as much.
const FIRST: f64 = 30_000.0;

/// What each step may cost more than the one before.
const GROWTH: f64 = 4.0;

const FIRST_CAP: usize = 64;

impl NearestScan {
    /// `keys` are the signatures to be near to, at least one; thresholds do not matter.
    pub fn new(keys: Vec<Query>) -> NearestScan {
        NearestScan {
            keys,
            step: NearestStep::Search(1.0, FIRST / GROWTH),
            last: None,
            ready: Vec::new(),
            cap: FIRST_CAP,
        }
    }

    fn most() -> usize {
        // SAFETY: a setting of this process.
        let bytes = unsafe { pg_sys::work_mem } as usize * 1024;
        (bytes / size_of::<Neighbour>() / 2).max(FIRST_CAP)
    }

    /// The next row, with its distances.
    pub fn next(&mut self, scan: &mut IndexScan<'_>) -> Option<(Hit, [f64; MAX_KEYS])> {
        while self.ready.is_empty() {
            if !self.fill(scan) {
                return None;
            }
        }
        let entry = self.ready.pop()?;
        self.last = Some(entry);
        Some((entry.hit, entry.similarities.map(|s| 1.0 - s)))
    }

    /// One pass: keeps the nearest rows behind the last one returned. False at the end.
    fn fill(&mut self, scan: &mut IndexScan<'_>) -> bool {
        let threshold = match self.step {
            NearestStep::Done => return false,
            NearestStep::Scan => 0.0,
            NearestStep::Search(done, spent) => {
                let next = self.next_threshold(scan, done, spent);
                match next {
                    Some((t, cost)) => {
                        self.step = NearestStep::Search(t, cost);
                        t
                    }
                    None => {
                        self.step = NearestStep::Scan;
                        0.0
                    }
                }
            }
        };
        let overflow = self.pass(scan, threshold);
        if overflow {
            self.cap = (8 * self.cap).min(Self::most());
            // The same threshold is searched again for what did not fit.
            if let NearestStep::Search(_, cost) = self.step {
                self.step = NearestStep::Search(threshold.next_up(), cost / GROWTH);
            }
        } else if matches!(self.step, NearestStep::Scan) {
            self.step = NearestStep::Done;
        }
        true
    }

    /// The lowest similarity below `done` that costs little more than was spent.
    fn next_threshold(&self, scan: &IndexScan<'_>, done: f64, spent: f64) -> Option<(f64, f64)> {
        let cost = |t: f64| {
            let mut query = self.keys[0].clone();
            query.raise(t);
            scan.cost(&query)
        };
        let everything = cost(0.0);
        let mut found = None;
        for t in GRID.into_iter().filter(|&t| t < done) {
            let c = cost(t);
            // Near to what a scan costs it is better to scan at once.
            if c > everything / 4.0 || (found.is_some() && c > GROWTH * spent.max(FIRST / GROWTH)) {
                break;
            }
            found = Some((t, c));
        }
        found
    }

    /// True if rows were left out for lack of room.
    fn pass(&mut self, scan: &mut IndexScan<'_>, threshold: f64) -> bool {
        let mut query = self.keys[0].clone();
        query.raise(threshold);
        scan.restart(Some(query));
        let mut kept: Vec<Neighbour> = Vec::new();
        let mut overflow = false;
        let (keys, last, cap) = (&self.keys, &self.last, self.cap);
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
                        let failed = kept.try_reserve(more).is_err();
                        if failed {
                            Err(bloom_ident_core::Error::out_of_memory(
                                more * size_of::<Neighbour>(),
                            ))
                            .or_raise()
                        }
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

fn similarities(keys: &[Query], row: &SignatureRow<'_>) -> [f64; MAX_KEYS] {
    let mut similarities = [0.0; MAX_KEYS];
    for (to, key) in similarities.iter_mut().zip(keys) {
        let common = key.words().iter().zip(row.words);
        let common = common.map(|(a, b)| (a & b).count_ones()).sum();
        *to = key.similarity(row.popcount, common);
    }
    similarities
}
