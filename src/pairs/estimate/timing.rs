//! How long a join takes, from some rows of some of its units.

use std::time::{Duration, Instant};

use crate::pairs::join::units::{JoinPlan, Worker};

/// Units that are looked at, at most.
const UNITS: u64 = 8;

/// Rows of a unit that are searched for: so many where that takes long, and more where it is quick, since rows of one
/// unit share pages.
const ROWS: (u32, u32) = (1024, 16384);

/// What a unit should take about.
const QUICK: Duration = Duration::from_millis(50);

/// Seconds of processor time that the units of a plan take, and those that each process takes by itself. Looks at some
/// units, one after the other until `limit` has gone by.
///
/// Errors: a damaged page; out of memory.
pub fn time(plan: &JoinPlan<'_>, limit: Duration) -> (f64, f64) {
    let (all, looked) = (plan.units(), UNITS.min(plan.units()));
    // The middles of equal parts, far ones after each other, so that few of them stand for all.
    let middle = |n: u64| {
        let part = if looked == UNITS { 5 * n % UNITS } else { n };
        (2 * part + 1) * all / (2 * looked)
    };
    let (mut times, mut worker, mut rows) = (Vec::new(), Worker::new(plan), ROWS.0);
    if all > 0 {
        // The first time a part of the index is read it takes longer, which is not counted.
        let first = worker.time(middle(0), rows);
        let fit = QUICK.as_secs_f64() / first.took.as_secs_f64().max(1e-6);
        rows = ((f64::from(rows) * fit) as u32).clamp(ROWS.0, ROWS.1);
        times.push(first);
    }
    let started = Instant::now();
    for n in 0..looked {
        if n > 0 && started.elapsed() > limit {
            break;
        }
        times.push(worker.time(middle(n), rows));
    }
    let folding = times.iter().map(|time| time.folding.as_secs_f64());
    let folding: Vec<f64> = folding.filter(|&time| time > 0.0).collect();
    let searching = times.iter().skip(1);
    let searching: Vec<f64> = searching.map(|time| time.searching.as_secs_f64()).collect();
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len().max(1) as f64;
    (
        mean(&searching) * all as f64,
        mean(&folding) * plan.foldings() as f64,
    )
}
