//! Pairs of records that are equal in some fields.

use linkage::model::{MatchModel, PlannedSearch, Search};

use super::scan;
use super::wanted::WantedPairs;
use crate::models::records::identities::{Blocks, Identities};
use pg::check_for_interrupts;
use pg::progress::{self, phases};

/// What a search has found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    /// Pairs, each as often as it comes.
    pub pairs: u64,
    /// Blocks that are too large, and left out.
    pub cut_blocks: u64,
    /// Pairs in them.
    pub cut_pairs: u64,
}

/// Which of the model's searches are done, of `records` records that make `all_pairs` pairs, so that no more than
/// `most` pairs are compared. What a search brings was counted without what those before it bring: once one is left
/// out, so are those behind it. A scan finds all.
pub fn chosen(model: &MatchModel, records: f64, all_pairs: f64, most: f64) -> Vec<bool> {
    let (mut expected, mut is_done) = (0.0, false);
    let mut is_chosen = |planned: &PlannedSearch| {
        let with = expected + planned.pairs_per_record * records;
        let is_scan = matches!(planned.search, Search::Scan { .. });
        if is_done || is_scan && !scan::is_possible(all_pairs) {
            return false;
        }
        let fits = with <= most;
        // a scan that is too large leaves the work to the others
        is_done = fits == is_scan;
        if fits {
            expected = with;
        }
        fits
    };
    model.searches.iter().map(&mut is_chosen).collect()
}

/// Gives the pairs of records that are equal in `fields` to `each`, the lesser number first, block by block. Blocks of
/// more than `most` records are left out. Of two relations, the first record is one of the first relation and the
/// second one of the second.
pub fn pairs<'w>(
    identities: &mut Identities,
    fields: &[usize],
    most: u32,
    wanted: impl Into<WantedPairs<'w>>,
    memory: usize,
    mut each: impl FnMut(u32, u32),
) -> Found {
    let mut found = Found::default();
    progress::phase(phases::SEARCHING_EQUAL, None);
    let blocks = identities.blocks(fields, false, memory);
    pairs_of_blocks(blocks, most, wanted.into(), &mut found, &mut each);
    found
}

/// Gives the pairs of each block to `each`, as [`pairs`] does, and adds to `found` what was found.
pub fn pairs_of_blocks(
    blocks: Blocks,
    most: u32,
    wanted: WantedPairs<'_>,
    found: &mut Found,
    each: &mut impl FnMut(u32, u32),
) {
    let mut block = Block::default();
    for entry in blocks {
        if entry.is_first {
            block.finish(most, wanted, found, each);
        }
        block.add(entry.record, most, wanted.second);
    }
    block.finish(most, wanted, found, each);
}

#[derive(Default)]
struct Block {
    /// The first records, no more than may be.
    records: Vec<u32>,
    /// How many there are of the first relation and of the second.
    sizes: [u64; 2],
}

impl Block {
    fn add(&mut self, record: u32, most: u32, second: Option<u32>) {
        self.sizes[usize::from(second.is_some_and(|second| record >= second))] += 1;
        if self.records.len() <= most as usize {
            self.records.push(record);
        }
    }

    fn finish(
        &mut self,
        most: u32,
        wanted: WantedPairs<'_>,
        found: &mut Found,
        each: &mut impl FnMut(u32, u32),
    ) {
        let [a, b] = self.sizes;
        let second = wanted.second;
        let pairs = match second {
            None => a * a.saturating_sub(1) / 2,
            Some(_) => a * b,
        };
        if pairs > 0 && a + b > u64::from(most) {
            found.cut_blocks += 1;
            found.cut_pairs += pairs;
        } else if pairs > 0 && wanted.is_any(&self.records) {
            found.pairs += pairs;
            // the records of a block come in their order
            let (left, right) = match second {
                None => (&self.records[..], None),
                Some(second) => {
                    let (a, b) = self
                        .records
                        .split_at(self.records.partition_point(|&r| r < second));
                    (a, Some(b))
                }
            };
            for (i, &x) in left.iter().enumerate() {
                check_for_interrupts();
                let others = right.unwrap_or(&left[i + 1..]).iter();
                for &y in others.filter(|&&y| wanted.is_pair(x, y)) {
                    each(x, y);
                }
            }
        }
        self.records.clear();
        self.sizes = [0; 2];
    }
}
