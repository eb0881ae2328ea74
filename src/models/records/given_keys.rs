//! Keys that are given with the records, such as `bloom_model_keys` has made of them, instead of those that searches would make.
//! Whoever spreads records over several places by their keys knows which blocks are to be compared in which of them.

use base::Error;
use linkage::model::keys::search_of;
use linkage::model::MatchModel;
use pgrx::pg_sys;

use crate::models::search::blocks::{Block, Found, WantedPairs};
use pg::check_for_interrupts;
use pg::error::{raise, OrRaise};
use pg::file::RecordSort;
use types::fixed_array;

/// The keys of records, each with the number of its search in the six last bits.
pub struct GivenKeys(RecordSort<2>);

impl GivenKeys {
    /// Sorting them takes `memory` bytes.
    pub fn new(memory: usize) -> GivenKeys {
        GivenKeys(RecordSort::new(memory))
    }

    /// The keys of a record: none for NULL.
    ///
    /// Errors: a key that is NULL; out of memory.
    ///
    /// # Safety
    /// `keys` is a `bigint[]`.
    pub unsafe fn push(&mut self, record: u32, keys: Option<pg_sys::Datum>) {
        let Some(keys) = keys else { return };
        // SAFETY: the caller's.
        let pushed = unsafe {
            fixed_array(keys, "key", |keys: &[u64]| {
                keys.iter()
                    .for_each(|&key| self.0.push([key, record.into()]));
                Ok(())
            })
        };
        pushed.or_raise();
    }

    /// Gives the pairs of each block to `each`, the lesser number first, with the number of the search that the key is of. Blocks
    /// that are too large for their search are left out.
    ///
    /// Errors: a key of a search that the model has not.
    pub fn pairs(
        self,
        model: &MatchModel,
        wanted: WantedPairs<'_>,
        mut each: impl FnMut(u32, u32, usize),
    ) {
        let most = |key: u64| {
            let planned = model.searches.get(search_of(key));
            let planned = planned.unwrap_or_else(|| {
                let error = Error::invalid(format!(
                    "key {} is of the search with number {}, and the match model has {}",
                    key as i64,
                    search_of(key),
                    model.searches.len()
                ));
                raise(
                    &error.hint("Put the number of the search into the six last bits of each key."),
                )
            });
            planned.search.most()
        };
        let (mut block, mut last, mut found) = (Block::default(), None, Found::default());
        let mut before = None;
        let mut finish = |block: &mut Block, key: Option<u64>| {
            if let Some(key) = key {
                let mut each = |a: u32, b: u32| each(a, b, search_of(key));
                block.finish(most(key), wanted, &mut found, &mut each);
            }
        };
        for (i, entry @ [key, record]) in self.0.finish().enumerate() {
            if i % 1024 == 0 {
                check_for_interrupts();
            }
            // A record may have a key several times.
            if before.replace(entry) == Some(entry) {
                continue;
            }
            if last != Some(key) {
                finish(&mut block, last);
                last = Some(key);
            }
            block.add(record as u32, most(key), wanted.second);
        }
        finish(&mut block, last);
    }
}
