//! All pairs of a small table are looked at.

use bloom_ident_core::model::{MatchModel, Search};

use crate::models::records::store::RowStore;
use crate::pg::check_for_interrupts;

/// Tables with more pairs are searched.
const MOST_PAIRS: f64 = 25e6;

/// Pairs below this mean similarity, in hundredths, are never kept.
pub const LEAST: u32 = 30;

/// Whether all pairs are looked at.
pub fn is_possible(store: &RowStore, all_pairs: f64) -> bool {
    store.is_in_memory() && all_pairs <= MOST_PAIRS
}

/// The least mean similarity of the pairs that a model asks for, in hundredths, if it was fitted to a small table.
pub fn least_of(model: &MatchModel) -> Option<u32> {
    model
        .searches
        .iter()
        .find_map(|planned| match planned.search {
            Search::Scan { least } => Some(least),
            Search::Equal { .. } => None,
        })
}

/// Gives the pairs whose fields have a mean similarity of at least `least` hundredths to `each`, with that similarity in hundredths.
pub fn pairs(
    store: &RowStore,
    second: Option<u32>,
    least: u32,
    mut each: impl FnMut(u32, u32, u32),
) {
    let layout = store.layout();
    let (left, right) = (second.unwrap_or(store.records), second);
    for a in 0..left {
        check_for_interrupts();
        let x = store.row(a);
        for b in right.unwrap_or(a + 1)..store.records {
            if let Some(similarity) = layout.similarity(x, store.row(b), 1) {
                // a similarity is a mean of quotients; what is meant to be 0.3 may be a little less
                let hundredths = (similarity * 100.0 + 1e-9) as u32;
                if hundredths >= least {
                    each(a, b, hundredths);
                }
            }
        }
    }
}
