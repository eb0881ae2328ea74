//! How long a join takes, from some rows of some of its units.

use std::time::{Duration, Instant};

use crate::pairs::join::units::{JoinPlan, Worker};

/// Units that are looked at, at most, and rows of each.
const UNITS: u64 = 8;
const ROWS: u32 = 512;

/// Seconds of processor time that the units of a plan take, and those that each process takes by itself. Looks at some units, one
/// after the other until `limit` has gone by.
///
/// Errors: a damaged page; out of memory.
pub fn time(plan: &JoinPlan<'_>, limit: Duration) -> (f64, f64) {
    let (all, started) = (plan.units(), Instant::now());
    let (mut looked, mut searching, mut folded, mut folding) = (0u64, 0.0, 0u64, 0.0);
    let mut worker = Worker::new(plan);
    for n in 0..UNITS.min(all) {
        if n > 0 && started.elapsed() > limit {
            break;
        }
        // The middles of eight parts, far ones after each other, so that few of them stand for all.
        let part = if all <= UNITS { n } else { 5 * n % UNITS };
        let time = worker.time((2 * part + 1) * all / (2 * UNITS.min(all)), ROWS);
        looked += 1;
        searching += time.searching.as_secs_f64();
        if !time.folding.is_zero() {
            folded += 1;
            folding += time.folding.as_secs_f64();
        }
    }
    let mean = |sum: f64, n: u64| sum / n.max(1) as f64;
    let searching = mean(searching, looked) * all as f64;
    (searching, mean(folding, folded) * plan.foldings() as f64)
}
