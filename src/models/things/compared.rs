//! The candidates with their patterns: in memory, or in files where they have no room there.

use base::range::counted;
use base::{Error, ErrorKind};
use linkage::model::things::{CandidatePair, CandidatePairs, PAIR_WORDS};
use linkage::model::Pattern;

use crate::models::fit_records::FitRecords;
use crate::models::search::candidates::Distinct;
use crate::models::search::patterns::{PatternCounting, PatternTable};
use pg::check_for_interrupts;
use pg::error::raise;
use pg::file::{RecordSort, SpillVec};

/// Pairs at a time.
const BLOCK: usize = 4096;

/// What has been compared.
pub struct ComparedPairs {
    pub pairs: PairFile,
    /// The patterns of the pairs, in their order.
    pub patterns: PatternTable,
    /// The bits of the sums of the similarities of the pairs' fields.
    pub similarities: SpillVec<u64>,
    /// The patterns of other pairs, which search 1 alone has found.
    pub others: PatternTable,
}

impl ComparedPairs {
    /// Compares pairs of which search 0 has found the candidates. The records are not looked at again. Takes a quarter
    /// of `memory` at first, and half of it at the end.
    ///
    /// Errors: more candidates than `most`.
    pub fn new(
        candidates: Distinct,
        records: &mut FitRecords,
        most: u64,
        memory: usize,
    ) -> ComparedPairs {
        let store = &mut records.prepared.store;
        let second = records.prepared.texts.second.unwrap_or(0);
        store.expect(candidates.most());
        let mut sort = RecordSort::new(memory / 8);
        let mut others = PatternCounting::new(memory / 8);
        let mut found = 0;
        for (i, (number, searches)) in candidates.enumerate() {
            if i % 256 == 0 {
                check_for_interrupts();
            }
            found += searches & 1;
            if found > most {
                continue;
            }
            store.with_pair(number, |layout, [a, b], [x, y]| {
                let (pattern, similarity) = layout.agreement(x, y);
                if searches & 1 == 0 {
                    return others.add(pattern, 0, 1);
                }
                let pair = u64::from(a) << 32 | u64::from(b - second);
                let [high, low] = [(pattern.0 >> 64) as u64, pattern.0 as u64];
                sort.push([high, low, pair, similarity.to_bits()]);
            });
        }
        check_limit(found, most);
        store.clear();
        let mut of = ComparedPairs {
            pairs: PairFile(SpillVec::new(memory / 2)),
            patterns: PatternTable::new(memory / 16),
            similarities: SpillVec::new(0),
            others: others.finish(memory / 16),
        };
        for (i, [high, low, pair, similarity]) in sort.finish().enumerate() {
            if i % BLOCK == 0 {
                check_for_interrupts();
            }
            let pattern = Pattern(u128::from(high) << 64 | u128::from(low));
            of.patterns.add(pattern, 0, 1);
            let pair = CandidatePair::new([(pair >> 32) as u32, pair as u32]);
            of.pairs.0.push(pair.words());
            of.similarities.push(similarity);
        }
        of
    }
}

/// Errors: more candidates than the limit.
fn check_limit(found: u64, most: u64) {
    if found > most {
        raise(
            &Error::new(
                ErrorKind::LimitExceeded,
                format!("the searches find more than {most} pairs"),
            )
            .detail(format!(
                "Of each record the nearest ones of the other table are looked at, which makes {}.",
                counted(found, "pair", "pairs")
            ))
            .hint("Raise the option pair_limit, or compare fewer fields: each field of texts brings more pairs."),
        )
    }
}

/// Pairs in the order of their patterns.
pub struct PairFile(SpillVec<[u32; PAIR_WORDS]>);

impl CandidatePairs for PairFile {
    fn each_block(&mut self, each: &mut dyn FnMut(&mut [[u32; PAIR_WORDS]])) {
        self.0.change(BLOCK, |_, pairs| each(pairs));
    }
}
