//! How many pairs and records each threshold finds, and how many of them are right.

use linkage::clusters::Sweep;
use serde::Serialize;

use pg::budget::push;
use pg::check_for_interrupts;
use pg::error::OrRaise;

/// Steps of the threshold from 0 to 1.
const STEPS: u32 = 1000;

/// Counts over all pairs.
pub struct CountsAt {
    at: Vec<f64>,
    pairs: Sweep,
    /// Held against the truth, and against what was decided.
    known: [Sweep; 2],
    /// The greatest similarity that each record has in a pair, below 0 if there is none.
    best: Vec<f64>,
}

/// What every threshold finds. All numbers are over all pairs, and not over those that are shown.
#[derive(Default, Serialize)]
pub struct Counts {
    /// The thresholds, ascending.
    pub at: Vec<f64>,
    pub pairs: Vec<u64>,
    /// Records that are in a pair.
    pub records: Vec<u64>,
    pub truth: Option<Rated>,
    pub decided: Option<Rated>,
}

/// How many of the pairs are right.
#[derive(Serialize)]
pub struct Rated {
    pub name: String,
    /// All pairs that are the same, found or not.
    pub total: u64,
    /// Pairs of which it is known, by threshold.
    pub known: Vec<u64>,
    pub same: Vec<u64>,
}

impl CountsAt {
    /// From `searched` on, in steps of 0.001, and at the threshold itself.
    pub fn new(threshold: f64, searched: f64) -> CountsAt {
        let grid = (0..=STEPS).map(|i| f64::from(i) / f64::from(STEPS));
        let mut at: Vec<f64> = grid.chain([threshold, searched]).collect();
        at.retain(|&t| t >= searched);
        at.sort_by(f64::total_cmp);
        at.dedup();
        let sweep = || Sweep::new(&at).or_raise();
        CountsAt {
            pairs: sweep(),
            known: [sweep(), sweep()],
            at,
            best: Vec::new(),
        }
    }

    /// Takes a pair. What is known of it is by the truth, and by what was decided.
    pub fn take(&mut self, numbers: [u32; 2], value: f64, known: [Option<bool>; 2]) {
        self.pairs.add(value, false);
        for (sweep, is_same) in self.known.iter_mut().zip(known) {
            if let Some(is_same) = is_same {
                sweep.add(value, is_same);
            }
        }
        for number in numbers {
            while self.best.len() <= number as usize {
                push(&mut self.best, -1.0);
            }
            let best = &mut self.best[number as usize];
            *best = best.max(value);
        }
    }

    /// The counts, where a truth and decisions have these names and so many pairs that are the same.
    ///
    /// Errors: out of memory.
    pub fn counts(&self, totals: [Option<(String, u64)>; 2]) -> Counts {
        let mut records = Sweep::new(&self.at).or_raise();
        for best in self.best.iter().filter(|&&best| best >= 0.0) {
            check_for_interrupts();
            records.add(*best, false);
        }
        let found = |sweep: &Sweep| {
            let steps = sweep.steps(u64::MAX).or_raise();
            let found = steps.iter().map(|step| step.counts.found);
            let both = steps.iter().map(|step| step.counts.both);
            (found.collect::<Vec<_>>(), both.collect::<Vec<_>>())
        };
        let [truth, decided] = [0, 1].map(|i| {
            let (name, total) = totals[i].clone()?;
            let (known, same) = found(&self.known[i]);
            Some(Rated {
                name,
                total,
                known,
                same,
            })
        });
        Counts {
            at: self.at.clone(),
            pairs: found(&self.pairs).0,
            records: found(&records).0,
            truth,
            decided,
        }
    }
}
