//! Pairs of records that are in the same block.

use crate::models::records::identities::Blocks;
use crate::models::records::read::RecordSet;
use pg::check_for_interrupts;

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

/// Which pairs are wanted: those of two relations or of one, all of them or those with a new record.
#[derive(Clone, Copy)]
pub struct WantedPairs<'a> {
    /// The first record of the second relation, if there are two.
    pub second: Option<u32>,
    /// The records of which each pair has one at least, if not all pairs are wanted.
    pub new: Option<&'a RecordSet>,
}

impl WantedPairs<'_> {
    /// Whether any pair of these records is.
    pub fn is_any(self, records: &[u32]) -> bool {
        self.new
            .is_none_or(|new| records.iter().any(|&record| new.has(record)))
    }

    /// Whether a pair is, whose records are of the relations that they have to be of.
    #[inline]
    pub fn is_pair(self, a: u32, b: u32) -> bool {
        self.new.is_none_or(|new| new.has(a) || new.has(b))
    }
}

/// Gives the pairs of each block to `each`, the lesser number first, and adds to `found` what was found. Blocks of more
/// than `most` records are left out. Of two relations, the first record of a pair is one of the first relation.
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

/// The records of a block that is being read.
#[derive(Default)]
pub struct Block {
    /// The first records, no more than may be.
    records: Vec<u32>,
    /// How many there are of the first relation and of the second.
    sizes: [u64; 2],
}

impl Block {
    /// The next record, of blocks of at most so many. `second`: the first record of the second relation, if there are two.
    pub fn add(&mut self, record: u32, most: u32, second: Option<u32>) {
        self.sizes[usize::from(second.is_some_and(|second| record >= second))] += 1;
        if self.records.len() <= most as usize {
            self.records.push(record);
        }
    }

    /// Gives the pairs of the block, as [`pairs_of_blocks`] does. The next record is one of another block.
    pub fn finish(
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
                // a record may be in a block twice
                for &y in others.filter(|&&y| x < y && wanted.is_pair(x, y)) {
                    each(x, y);
                }
            }
        }
        self.records.clear();
        self.sizes = [0; 2];
    }
}
