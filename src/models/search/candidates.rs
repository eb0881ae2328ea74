//! Pairs that several searches have found, each once.

use linkage::model::MOST_SEARCHES;

use crate::models::records::store::{PairNumbers, RowStore};
use pg::file::{RecordSort, SortedRecords};
use pg::progress::{self, phases};
use signature::mix;

/// Bits of a search's number.
const SEARCH_BITS: u32 = 6;

// one number is left, under which a plan has all searches by equality
const _: () = assert!(MOST_SEARCHES < 1 << SEARCH_BITS);

/// Pairs with the searches that have found them. If they become too many, only a sample is kept: a pair is in it, or
/// not, whichever search finds it.
pub struct Candidates {
    sort: RecordSort<1>,
    numbers: PairNumbers,
    /// Kept are pairs whose hash has so many zeros at its end.
    zeros: u32,
    most: u64,
    kept: u64,
}

impl Candidates {
    /// Takes `memory` bytes; keeps a sample above `most`.
    pub fn new(store: &RowStore, memory: usize, most: u64) -> Candidates {
        Candidates {
            numbers: store.numbering(),
            sort: RecordSort::new(memory),
            zeros: 0,
            most,
            kept: 0,
        }
    }

    /// A pair that a search has found, the lesser record first.
    #[inline]
    pub fn push(&mut self, a: u32, b: u32, search: usize) {
        if !is_in(a, b, self.zeros) {
            return;
        }
        self.sort
            .push([self.numbers.number(a, b) << SEARCH_BITS | search as u64]);
        self.kept += 1;
        if self.kept > self.most {
            self.zeros += 1;
            self.kept /= 2;
        }
    }

    /// Pairs in the order of their numbers. They are what is compared next, and progress is shown by how many have
    /// come.
    pub fn finish_shown(self) -> Distinct {
        progress::phase(phases::COMPARING_PAIRS, Some(self.kept));
        self.finish()
    }

    /// Pairs in the order of their numbers.
    pub fn finish(self) -> Distinct {
        Distinct {
            sorted: self.sort.finish(),
            numbers: self.numbers,
            zeros: self.zeros,
            most: self.kept,
            next: None,
        }
    }
}

/// Whether a pair is in the sample. Its number would not do: it depends on the memory.
fn is_in(a: u32, b: u32, zeros: u32) -> bool {
    zeros == 0 || mix(u64::from(a) << 32 | u64::from(b)).trailing_zeros() >= zeros
}

/// Each pair once, with the searches that have found it, as bits.
pub struct Distinct {
    sorted: SortedRecords<1>,
    numbers: PairNumbers,
    zeros: u32,
    most: u64,
    next: Option<(u64, u64)>,
}

impl Distinct {
    /// How many pairs each of these stands for.
    pub fn weight(&self) -> f64 {
        f64::from(self.zeros).exp2()
    }

    /// About how many come at most: all, were each found by one search.
    pub fn most(&self) -> u64 {
        self.most
    }
}

impl Iterator for Distinct {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        loop {
            let Some([word]) = self.sorted.next() else {
                return self.next.take();
            };
            progress::step();
            let (pair, search) = (
                word >> SEARCH_BITS,
                1u64 << (word & ((1 << SEARCH_BITS) - 1)),
            );
            match &mut self.next {
                Some((last, searches)) if *last == pair => *searches |= search,
                next => {
                    let (a, b) = self.numbers.pair(pair);
                    if !is_in(a, b, self.zeros) {
                        continue;
                    }
                    let before = next.replace((pair, search));
                    if before.is_some() {
                        return before;
                    }
                }
            }
        }
    }
}
