//! Pairs of two sides of which each record is in one at the most: the best pair first, then the best of what is left.

use crate::pairs::dictionary::{positions, KeyDictionary};
use pg::budget::Budget;
use pg::check_for_interrupts;
use pg::file::{RecordSort, SpillVec};
use pg::progress;

/// Pairs by the numbers of their records, in memory or in a temporary file.
pub struct BestFirst {
    /// What falls as either measure rises; the pair.
    pairs: RecordSort<3>,
    /// The same of those that come first.
    judged: RecordSort<3>,
}

const SIGN: u64 = 1 << 63;

/// Of the bits of a number what is the less the greater the number is, and its bits of that.
fn falling(bits: u64) -> u64 {
    match bits & SIGN {
        0 => !(bits | SIGN),
        _ => bits,
    }
}

impl BestFirst {
    /// Takes about `memory` bytes, and a bit for each record at the end.
    pub fn new(memory: usize) -> BestFirst {
        BestFirst {
            pairs: RecordSort::new(memory / 2),
            judged: RecordSort::new(memory / 2),
        }
    }

    /// One pair more. Of two pairs the one with the greater first measure is better, and of equal ones that with the
    /// greater second.
    ///
    /// Errors: out of memory.
    pub fn push(&mut self, pair: [u32; 2], measures: [f64; 2]) {
        self.pairs.push(BestFirst::record(pair, measures));
    }

    /// One pair more that is better than all that are not judged.
    ///
    /// Errors: out of memory.
    pub fn push_judged(&mut self, pair: [u32; 2], measures: [f64; 2]) {
        self.judged.push(BestFirst::record(pair, measures));
    }

    fn record([a, b]: [u32; 2], [first, second]: [f64; 2]) -> [u64; 3] {
        let pair = u64::from(a) << 32 | u64::from(b);
        [falling(first.to_bits()), falling(second.to_bits()), pair]
    }

    /// Gives the pairs that are kept to `each`, the best first, and by the numbers of their records where they are
    /// equal. `records` says how many there are on either side.
    pub fn finish(self, records: [usize; 2], mut each: impl FnMut([u32; 2], [f64; 2])) {
        let mut taken = records.map(|n| vec![0u64; n.div_ceil(64)]);
        for [first, second, pair] in self.judged.finish().chain(self.pairs.finish()) {
            check_for_interrupts();
            progress::step();
            let pair = [(pair >> 32) as u32, pair as u32];
            let at = |record: u32| (record as usize / 64, 1 << (record % 64));
            let is_taken = |side: usize| {
                let (word, bit) = at(pair[side]);
                taken[side][word] & bit != 0
            };
            if is_taken(0) || is_taken(1) {
                continue;
            }
            for side in 0..2 {
                let (word, bit) = at(pair[side]);
                taken[side][word] |= bit;
            }
            let measures = [first, second].map(|key| f64::from_bits(falling(key)));
            each(pair, measures);
        }
    }
}

/// Pairs by the keys of their records, which are texts in the database's encoding. Equal keys on both sides are
/// different records. The keys are in memory, the pairs in a temporary file.
pub struct KeyedPairs {
    keys: [KeyDictionary; 2],
    /// The numbers of both keys, and both measures.
    pairs: SpillVec<[u64; 3]>,
    budget: Budget,
}

impl KeyedPairs {
    /// Takes `maintenance_work_mem`.
    pub fn new() -> KeyedPairs {
        KeyedPairs {
            keys: [KeyDictionary::new(), KeyDictionary::new()],
            pairs: SpillVec::new(0),
            budget: Budget::of_setting(),
        }
    }

    /// One pair more, with measures as [`BestFirst::push`] takes them.
    ///
    /// Errors: keys that do not fit into maintenance_work_mem; out of memory.
    pub fn push(&mut self, keys: [&[u8]; 2], measures: [f64; 2]) {
        let [a, b] = [0, 1].map(|side| self.keys[side].number(keys[side]));
        let pair = u64::from(a) << 32 | u64::from(b);
        let [first, second] = measures.map(f64::to_bits);
        self.pairs.push([pair, first, second]);
        self.check(0, 0);
    }

    /// Errors: keys, `a_pair` bytes for each pair and `a_record` for each record are more than maintenance_work_mem.
    fn check(&self, a_pair: usize, a_record: usize) {
        let (pairs, records) = (self.len(), self.records());
        let keys: usize = self.keys.iter().map(KeyDictionary::memory).sum();
        // their order and positions
        let needed = keys + pairs * a_pair + records * (8 + a_record);
        self.budget
            .check(needed, || format!("{pairs} pairs of {records} records"));
    }

    fn len(&self) -> usize {
        self.pairs.len() as usize
    }

    fn records(&self) -> usize {
        self.keys.iter().map(KeyDictionary::len).sum()
    }

    /// The pairs by the places of their records in the order of the keys of their side, for which there must be room:
    /// `a_pair` bytes for each and `a_record` for each record.
    ///
    /// Errors: more than maintenance_work_mem.
    pub fn ordered(
        mut self,
        a_pair: usize,
        a_record: usize,
        mut each: impl FnMut([u32; 2], [f64; 2]),
    ) -> OrderedKeys {
        const AT_ONCE: usize = 256;
        self.check(a_pair, a_record);
        let order = [0, 1].map(|side| self.keys[side].sorted());
        let position = [0, 1].map(|side| positions(&order[side], self.keys[side].len()));
        self.pairs.each(AT_ONCE, |_, some| {
            for &[pair, first, second] in some {
                let pair = [pair >> 32, pair & u64::from(u32::MAX)];
                let pair = [0, 1].map(|side| position[side][pair[side] as usize]);
                each(pair, [first, second].map(f64::from_bits));
            }
        });
        OrderedKeys {
            keys: self.keys,
            order,
        }
    }

    /// Gives the pairs that are kept to `each`, the best first, and by the bytes of their keys where they are equal.
    ///
    /// Errors: more than maintenance_work_mem; out of memory.
    pub fn best_first(self, mut each: impl FnMut([&[u8]; 2], [f64; 2])) {
        let mut pairs = BestFirst::new(self.budget.bytes() / 4);
        let keys = self.ordered(0, 0, |pair, measures| pairs.push(pair, measures));
        pairs.finish(keys.records(), |pair, measures| {
            each(keys.pair(pair), measures)
        });
    }
}

/// The keys of both sides.
pub struct OrderedKeys {
    keys: [KeyDictionary; 2],
    order: [Vec<u32>; 2],
}

impl OrderedKeys {
    /// How many records either side has.
    pub fn records(&self) -> [usize; 2] {
        [0, 1].map(|side| self.order[side].len())
    }

    /// The keys of a pair, by their places in the order of their sides.
    pub fn pair(&self, pair: [u32; 2]) -> [&[u8]; 2] {
        [0, 1].map(|side| self.keys[side].key(self.order[side][pair[side] as usize]))
    }
}
