//! Pairs compete: a record has one partner at most, so what speaks for one of its pairs speaks against the others.
//! Where that holds on both sides, the records' messages to each other say how far each is free (belief propagation for
//! assignments; B. Huang, T. Jebara: Loopy Belief Propagation for Bipartite Maximum Weight b-Matching, 2007).

use base::memory::filled;
use base::Result;

use super::OneToOne;

/// Pairs of lower odds, which most candidates are, speak against no other pair: a million of them in one record would
/// not change a probability by a millionth.
const LEAST_ODDS: f32 = 1e-12;

/// Words of a pair.
pub const PAIR_WORDS: usize = 5;

/// A pair that is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CandidatePair {
    /// The number of the record of the first table, and of that of the second one, each from 0 on.
    pub records: [u32; 2],
    /// How many times more often a pair of its pattern is a match than not, if it had no competitors.
    pub odds: f32,
    /// How far each record is free for the other one, as far as its other pairs go.
    pub free: [f32; 2],
}

impl CandidatePair {
    /// A pair that no other one competes with yet.
    pub fn new(records: [u32; 2]) -> CandidatePair {
        CandidatePair {
            records,
            odds: 0.0,
            free: [1.0; 2],
        }
    }

    /// As words, in which it may lie in a file.
    #[inline]
    pub fn words(self) -> [u32; PAIR_WORDS] {
        let ([a, b], [free_a, free_b]) = (self.records, self.free);
        [
            a,
            b,
            self.odds.to_bits(),
            free_a.to_bits(),
            free_b.to_bits(),
        ]
    }

    /// Of words that it has been written as.
    #[inline]
    pub fn of_words([a, b, odds, free_a, free_b]: [u32; PAIR_WORDS]) -> CandidatePair {
        CandidatePair {
            records: [a, b],
            odds: f32::from_bits(odds),
            free: [f32::from_bits(free_a), f32::from_bits(free_b)],
        }
    }
}

/// The pairs, in the order of their patterns, and of their records where these are equal. They may be more than fit into
/// memory, so they are changed from the first to the last, as often as is needed.
pub trait CandidatePairs {
    /// Gives all of them to `each`, block by block, which may change how far records are free.
    fn each_block(&mut self, each: &mut dyn FnMut(&mut [[u32; PAIR_WORDS]]));
}

/// In their order, each once.
impl CandidatePairs for Vec<[u32; PAIR_WORDS]> {
    fn each_block(&mut self, each: &mut dyn FnMut(&mut [[u32; PAIR_WORDS]])) {
        each(self);
    }
}

/// What is asked and told of each pair in its turn.
pub trait Weighed {
    /// The odds of a pair that has no competitors.
    fn odds(&mut self, pair: &CandidatePair) -> f64;

    /// The probability of a pair.
    fn weighed(&mut self, pair: &CandidatePair, probability: f64);
}

/// For each record of both tables the odds of all its pairs, as far as the others are free.
type Sums = [Vec<f64>; 2];

/// What competes, by record.
pub struct Competition {
    one_to_one: OneToOne,
    /// Pairs of lower odds speak against no other.
    least: f32,
    sums: Sums,
    /// Those of the next turn.
    next: Sums,
}

impl Competition {
    /// Bytes for each record.
    pub const RECORD_BYTES: usize = 2 * size_of::<f64>();

    /// Between tables of so many records.
    ///
    /// Errors: out of memory.
    pub fn new(one_to_one: OneToOne, [a, b]: [usize; 2]) -> Result<Competition> {
        let sums = || Ok([filled(a, 0.0)?, filled(b, 0.0)?]);
        Ok(Competition {
            one_to_one,
            least: LEAST_ODDS,
            sums: sums()?,
            next: sums()?,
        })
    }

    /// Weighs the pairs against each other, where both sides compete so many times one after the other. `turn` is
    /// called every few milliseconds.
    pub fn weigh(
        &mut self,
        pairs: &mut dyn CandidatePairs,
        times: usize,
        mut turn: impl FnMut(),
        of: &mut impl Weighed,
    ) {
        let clear = |sums: &mut Sums| sums.iter_mut().for_each(|sums| sums.fill(0.0));
        clear(&mut self.sums);
        each_pair(pairs, &mut turn, |pair| {
            pair.odds = of.odds(pair) as f32;
            if pair.odds >= self.least {
                add(&mut self.sums, pair);
            }
        });
        if self.one_to_one != OneToOne::Both {
            return each_pair(pairs, &mut turn, |pair| {
                of.weighed(pair, self.probability(pair));
            });
        }
        for _ in 1..times {
            clear(&mut self.next);
            each_pair(pairs, &mut turn, |pair| {
                if pair.odds >= self.least {
                    tell(&self.sums, pair);
                    add(&mut self.next, pair);
                }
            });
            std::mem::swap(&mut self.sums, &mut self.next);
        }
        each_pair(pairs, &mut turn, |pair| {
            if pair.odds >= self.least {
                tell(&self.sums, pair);
            }
            of.weighed(pair, self.probability(pair));
        });
    }

    /// The probability of a pair that has been weighed.
    #[inline]
    pub fn probability(&self, pair: &CandidatePair) -> f64 {
        let odds = f64::from(pair.odds);
        match self.one_to_one {
            OneToOne::Both => {
                let odds = odds * f64::from(pair.free[0]) * f64::from(pair.free[1]);
                odds / (1.0 + odds)
            }
            side => {
                let side = usize::from(side == OneToOne::B);
                odds / (1.0 + self.sums[side][pair.records[side] as usize]).max(odds)
            }
        }
    }
}

/// Adds the odds of a pair to those of its records.
#[inline]
fn add(sums: &mut Sums, pair: &CandidatePair) {
    for side in 0..2 {
        sums[side][pair.records[side] as usize] +=
            f64::from(pair.odds) * f64::from(pair.free[1 - side]);
    }
}

/// Each record of a pair tells how far it is free. Half of what it told before stays, or two records would change their
/// minds for ever.
#[inline]
fn tell(sums: &Sums, pair: &mut CandidatePair) {
    let odds = f64::from(pair.odds);
    let before = [f64::from(pair.free[0]), f64::from(pair.free[1])];
    for side in 0..2 {
        let all = sums[side][pair.records[side] as usize];
        let others = (all - odds * before[1 - side]).max(0.0);
        pair.free[side] = (before[side] / (1.0 + others)).sqrt() as f32;
    }
}

/// Gives each pair to `each`.
pub(super) fn each_pair(
    pairs: &mut dyn CandidatePairs,
    mut turn: impl FnMut(),
    mut each: impl FnMut(&mut CandidatePair),
) {
    pairs.each_block(&mut |block| {
        for some in block.chunks_mut(4096) {
            turn();
            for words in some {
                let mut pair = CandidatePair::of_words(*words);
                each(&mut pair);
                *words = pair.words();
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives pairs these odds, and collects their probabilities.
    struct Given<'o>(std::iter::Cycle<std::slice::Iter<'o, f64>>, Vec<f64>);

    impl Weighed for Given<'_> {
        fn odds(&mut self, _: &CandidatePair) -> f64 {
            *self.0.next().unwrap()
        }

        fn weighed(&mut self, _: &CandidatePair, probability: f64) {
            self.1.push(probability);
        }
    }

    /// Pairs that are left out in between change nothing that anybody sees.
    #[test]
    fn low_odds_speak_against_nobody() {
        const RECORDS: u32 = 40;
        let odds: Vec<f64> = (0..RECORDS * RECORDS)
            .map(|i| f64::from(i.wrapping_mul(2_654_435_761) >> 20) / 4096.0)
            .map(|share| 10f64.powf(40.0 * share - 35.0))
            .collect();
        let pair = |i: u32| CandidatePair::new([i / RECORDS, i % RECORDS]).words();
        for one_to_one in OneToOne::ALL {
            let weigh = |least: f32| {
                let mut pairs: Vec<_> = (0..RECORDS * RECORDS).map(pair).collect();
                let mut competition = Competition::new(one_to_one, [RECORDS as usize; 2]).unwrap();
                competition.least = least;
                let mut given = Given(odds.iter().cycle(), Vec::new());
                competition.weigh(&mut pairs, 20, || (), &mut given);
                given.1
            };
            let (all, most) = (weigh(0.0), weigh(LEAST_ODDS));
            assert!(all.iter().zip(&most).all(|(x, y)| (x - y).abs() < 1e-6));
            assert!(all.iter().any(|p| *p > 0.4) && odds.iter().any(|o| *o < 1e-13));
        }
    }
}
