//! Pairs that are worth a look.

pub mod blocks;
pub mod candidates;
pub mod patterns;
pub mod scan;

use linkage::model::values::sketch::{parts_at_once, PARTS};
use linkage::model::Search;

use super::records::prepared::PreparedRecords;
use super::records::read::RecordSet;
use blocks::{pairs_of_blocks, Found, WantedPairs};
use pg::progress::{self, phases};

impl PreparedRecords {
    /// Gives the pairs that a search comes across to `each`, the lesser number first: all of them, or those of which a
    /// record is new. Of two relations, the first record is one of the first relation.
    ///
    /// Of what is similar these are pairs that have a part of their sketches in common: most of those that
    /// [`Search::takes`], and others. A pair comes once for each part.
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
        match search {
            Search::Scan { least } => {
                scan::pairs(&mut self.store, wanted, *least, |a, b, _| each(a, b));
            }
            Search::Equal { fields, most } => {
                progress::phase(phases::SEARCHING_EQUAL, None);
                let swap = self.store.swap();
                let blocks = match swap.filter(|[a, b]| *fields == [*a.min(b), *a.max(b)]) {
                    Some(_) => self.identities.blocks_in_any_order(fields, memory),
                    None => self.identities.blocks(fields, false, memory),
                };
                pairs_of_blocks(blocks, *most, wanted, &mut found, &mut each);
            }
            Search::Crosswise { fields, most } => {
                progress::phase(phases::SEARCHING_EQUAL, None);
                if let Some(names) = self.store.swap() {
                    let blocks = self.identities.blocks_of_either(names, fields, memory);
                    pairs_of_blocks(blocks, *most, wanted, &mut found, &mut each);
                }
            }
            Search::Similar {
                fields,
                least,
                most,
            } => {
                progress::phase(phases::SEARCHING_SIMILAR, Some(PARTS as u64));
                for number in 0..PARTS {
                    progress::done(number as u64);
                    let at_once = parts_at_once(*least);
                    let blocks = self.sketches.blocks(fields, number, at_once, memory);
                    pairs_of_blocks(blocks, *most, wanted, &mut found, &mut each);
                }
            }
        }
        found
    }
}
