//! Pairs that are worth a look.

pub mod blocks;
pub mod candidates;
pub mod patterns;
pub mod scan;

use linkage::model::keys::{SearchKeys, SimilarKeys};
use linkage::model::Search;

use super::records::prepared::PreparedRecords;
use super::records::read::RecordSet;
use blocks::{pairs_of_blocks, Found, WantedPairs};
use pg::progress::{self, phases};

impl PreparedRecords {
    /// Gives the pairs that a search comes across to `each`, the lesser number first: all of them, or those of which a
    /// record is new. Of two relations, the first record is one of the first relation.
    ///
    /// Of what is similar these are pairs that have a key in common: most of those that [`Search::takes`], and others. A
    /// pair comes once for each key.
    pub fn search(
        &mut self,
        search: &Search,
        new: Option<&RecordSet>,
        memory: usize,
        mut each: impl FnMut(u32, u32),
    ) -> Found {
        let mut found = Found::default();
        let second = self.texts.second;
        let wanted = WantedPairs { second, new };
        if let Search::Scan { least } = search {
            scan::pairs(&mut self.store, wanted, *least, |a, b, _| each(a, b));
        }
        let most = search.most();
        match search.keys(self.store.swap()) {
            None => (),
            Some(SearchKeys::Equal(keys)) => {
                progress::phase(phases::SEARCHING_EQUAL, None);
                let is_large = self.large.of(search);
                let blocks = self.identities.blocks_by(&keys, is_large, memory);
                pairs_of_blocks(blocks, most, wanted, &mut found, &mut each);
            }
            Some(SearchKeys::Similar(keys)) => {
                progress::phase(phases::SEARCHING_SIMILAR, Some(SimilarKeys::MOST as u64));
                let all = self.texts.records;
                for number in 0..SimilarKeys::MOST {
                    progress::done(number as u64);
                    let blocks = self.sketches.blocks(&keys, number, all, memory);
                    pairs_of_blocks(blocks, most, wanted, &mut found, &mut each);
                }
            }
        }
        found
    }
}
