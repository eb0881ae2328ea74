//! Nearest neighbours: the method never learns how many are wanted, so the threshold is lowered
//! step by step as long as searching is cheaper than looking at every row.

use std::cmp::Ordering;

use bloom_ident_core::sigfile::{Query, SignatureRow};
use pgrx::pg_sys;

use super::scan::{Hit, Walk};
use crate::pg::check_for_interrupts;
use crate::pg::error::OrRaise;

/// Order-by keys of a scan.
pub const MAX_KEYS: usize = 4;

#[derive(Clone, Copy)]
struct Entry {
    /// Similarities, the first to order by.
    similarities: [f64; MAX_KEYS],
    hit: Hit,
}

impl Entry {
    /// The nearest first; places make the order total.
    fn order(&self, other: &Entry) -> Ordering {
        let pairs = other.similarities.iter().zip(&self.similarities);
        let by_keys = pairs.map(|(a, b)| a.total_cmp(b));
        let by_keys = by_keys.fold(Ordering::Equal, Ordering::then);
        by_keys.then(self.hit.place.cmp(&other.hit.place))
    }
}

/// Where a step of the search stands.
enum Step {
    /// Down to this similarity by searching; what that cost.
    Search(f64, f64),
    /// All rows.
    Scan,
    Done,
}

pub struct Nearest {
    keys: Vec<Query>,
    step: Step,
    /// Everything up to here has been returned.
    last: Option<Entry>,
    /// Found, the nearest last.
    ready: Vec<Entry>,
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

impl Nearest {
    /// `keys` are the signatures to be near to, at least one; thresholds do not matter.
    pub fn new(keys: Vec<Query>) -> Nearest {
        Nearest {
            keys,
            step: Step::Search(1.0, FIRST / GROWTH),
            last: None,
            ready: Vec::new(),
            cap: FIRST_CAP,
        }
    }

    fn most() -> usize {
        // SAFETY: a setting.
        let bytes = unsafe { pg_sys::work_mem } as usize * 1024;
        (bytes / size_of::<Entry>() / 2).max(FIRST_CAP)
    }

    /// The next row, with its distances.
    pub fn next(&mut self, walk: &mut Walk) -> Option<(Hit, [f64; MAX_KEYS])> {
        while self.ready.is_empty() {
            if !self.fill(walk) {
                return None;
            }
        }
        let entry = self.ready.pop()?;
        self.last = Some(entry);
        Some((entry.hit, entry.similarities.map(|s| 1.0 - s)))
    }

    /// One pass: keeps the nearest rows behind the last one returned. False at the end.
    fn fill(&mut self, walk: &mut Walk) -> bool {
        let threshold = match self.step {
            Step::Done => return false,
            Step::Scan => 0.0,
            Step::Search(done, spent) => {
                let next = self.next_threshold(walk, done, spent);
                match next {
                    Some((t, cost)) => {
                        self.step = Step::Search(t, cost);
                        t
                    }
                    None => {
                        self.step = Step::Scan;
                        0.0
                    }
                }
            }
        };
        let overflow = self.pass(walk, threshold);
        if overflow {
            self.cap = (8 * self.cap).min(Self::most());
            // the same threshold again for what did not fit
            if let Step::Search(_, cost) = self.step {
                self.step = Step::Search(threshold.next_up(), cost / GROWTH);
            }
        } else if matches!(self.step, Step::Scan) {
            self.step = Step::Done;
        }
        true
    }

    /// The lowest similarity below `done` that costs little more than was spent.
    fn next_threshold(&self, walk: &Walk, done: f64, spent: f64) -> Option<(f64, f64)> {
        let cost = |t: f64| {
            let mut query = self.keys[0].clone();
            query.raise(t);
            walk.cost(&query)
        };
        let scan = cost(0.0);
        let mut found = None;
        for t in GRID.into_iter().filter(|&t| t < done) {
            let c = cost(t);
            // near to what a scan costs it is better to scan at once
            if c > scan / 4.0 || (found.is_some() && c > GROWTH * spent.max(FIRST / GROWTH)) {
                break;
            }
            found = Some((t, c));
        }
        found
    }

    /// True if rows were left out for lack of room.
    fn pass(&mut self, walk: &mut Walk, threshold: f64) -> bool {
        let mut query = self.keys[0].clone();
        query.raise(threshold);
        walk.restart(Some(query));
        let mut kept: Vec<Entry> = Vec::new();
        let mut overflow = false;
        let (keys, last, cap) = (&self.keys, &self.last, self.cap);
        let mut bound: Option<Entry> = None;
        loop {
            let more = walk.next(|page, i, hit| {
                let row = page.row(i);
                let entry = Entry {
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
                                more * size_of::<Entry>(),
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
                walk.raise(farthest.similarities[0].max(threshold));
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
