//! Pairs of which each record is in one at the most.

use bloom_ident_core::model::Score;

use crate::pg::check_for_interrupts;
use crate::pg::file::RecordSort;

/// A pair of records and what a model says of it.
#[derive(Clone, Copy)]
pub struct FoundPair {
    pub a: u32,
    pub b: u32,
    pub score: Score,
}

/// Pairs that are being collected, in memory or in a temporary file.
pub struct Assignment {
    /// What falls as the bits rise; the pair; the probability.
    pairs: RecordSort<3>,
    /// Records of both relations.
    records: u32,
}

const SIGN: u64 = 1 << 63;

/// A number that is the less the greater another one is.
fn falling(number: f64) -> u64 {
    let bits = number.to_bits();
    match bits & SIGN {
        0 => !(bits | SIGN),
        _ => bits,
    }
}

/// The number that [`falling`] was given.
fn of_falling(key: u64) -> f64 {
    f64::from_bits(match key & SIGN {
        0 => !key & !SIGN,
        _ => key,
    })
}

impl Assignment {
    /// Takes about `memory` bytes, and a bit for each record at the end.
    pub fn new(records: u32, memory: usize) -> Assignment {
        Assignment {
            pairs: RecordSort::new(memory),
            records,
        }
    }

    /// One pair more.
    ///
    /// Errors: out of memory.
    pub fn push(&mut self, found: &FoundPair) {
        let FoundPair { a, b, score } = *found;
        self.pairs.push([
            falling(score.bits),
            u64::from(a) << 32 | u64::from(b),
            score.probability.to_bits(),
        ]);
    }

    /// Gives the pairs that are kept to `each`: each record once, by falling bits, and by the order of the keys where they are equal.
    pub fn finish(self, mut each: impl FnMut(&FoundPair)) {
        let mut taken = vec![0u64; (self.records as usize).div_ceil(64)];
        for [bits, pair, probability] in self.pairs.finish() {
            check_for_interrupts();
            let pair = [(pair >> 32) as u32, pair as u32];
            let is_taken = |record: u32| taken[record as usize / 64] >> (record % 64) & 1 == 1;
            if pair.into_iter().any(is_taken) {
                continue;
            }
            for record in pair {
                taken[record as usize / 64] |= 1 << (record % 64);
            }
            each(&FoundPair {
                a: pair[0],
                b: pair[1],
                score: Score {
                    bits: of_falling(bits),
                    probability: f64::from_bits(probability),
                },
            });
        }
    }
}
