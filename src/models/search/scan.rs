//! All pairs of a small table are looked at.

use super::blocks::WantedPairs;
use crate::models::records::store::RowStore;
use pg::check_for_interrupts;
use pg::progress::{self, phases};

/// Tables with more pairs are searched.
const MOST_PAIRS: f64 = 25e6;

/// Pairs below this mean similarity, in hundredths, are never kept.
pub const LEAST: u32 = 30;

/// Whether all pairs are looked at. This does not depend on the memory, or the model would.
pub fn is_possible(all_pairs: f64) -> bool {
    all_pairs <= MOST_PAIRS
}

/// Gives the pairs whose fields have a mean similarity of at least `least` hundredths to `each`, with that similarity
/// in hundredths.
pub fn pairs(
    store: &mut RowStore,
    wanted: WantedPairs<'_>,
    least: u32,
    mut each: impl FnMut(u32, u32, u32),
) {
    let second = wanted.second;
    let left = second.unwrap_or(store.records);
    progress::phase(phases::COMPARING_ALL, None);
    store.each_two_chunks(|layout, x, y| {
        for a in x.records().start..x.records().end.min(left) {
            check_for_interrupts();
            progress::step();
            for b in y.records().start.max(second.unwrap_or(a + 1))..y.records().end {
                if !wanted.is_pair(a, b) {
                    continue;
                }
                if let Some(similarity) = layout.similarity(x.row(a), y.row(b), 1) {
                    // a similarity is a mean of quotients; what is meant to be 0.3 may be a little less
                    let hundredths = (similarity * 100.0 + 1e-9) as u32;
                    if hundredths >= least {
                        each(a, b, hundredths);
                    }
                }
            }
        }
    });
}
