//! Pairs compete: a record has one partner at most, so what speaks for one of its pairs speaks against the others.
//! Where that holds on both sides, the records' messages to each other say how far each is free (belief propagation for
//! assignments; B. Huang, T. Jebara: Loopy Belief Propagation for Bipartite Maximum Weight b-Matching, 2007).

use super::OneToOne;

/// Pairs of lower odds, which most candidates are, speak against no other pair.
const LEAST_ODDS: f64 = 1e-9;

/// A pair that is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct CandidatePair {
    /// The number of the record of the first table, and of that of the second one, each from 0 on.
    pub records: [u32; 2],
    /// The number of its pattern.
    pub pattern: u32,
    /// How far each record is free for the other one, as far as its other pairs go.
    pub free: [f32; 2],
}

impl CandidatePair {
    /// A pair that no other one competes with yet.
    pub fn new(records: [u32; 2], pattern: u32) -> CandidatePair {
        CandidatePair {
            records,
            pattern,
            free: [1.0; 2],
        }
    }
}

/// The pairs, in the order of their records. They may be more than fit into memory, so they are changed from the first
/// to the last, as often as is needed.
pub trait CandidatePairs {
    /// Gives all of them to `each`, block by block, which may change how far records are free.
    fn each_block(&mut self, each: &mut dyn FnMut(&mut [CandidatePair]));
}

/// In their order, each once.
impl CandidatePairs for Vec<CandidatePair> {
    fn each_block(&mut self, each: &mut dyn FnMut(&mut [CandidatePair])) {
        each(self);
    }
}

/// What competes, by record.
pub struct Competition {
    one_to_one: OneToOne,
    /// For each record of both tables the odds of all its pairs, as far as the others are free.
    odds: [Vec<f64>; 2],
}

impl Competition {
    /// Between tables of so many records.
    pub fn new(one_to_one: OneToOne, records: [usize; 2]) -> Competition {
        Competition {
            one_to_one,
            odds: records.map(|n| vec![0.0; n]),
        }
    }

    /// Weighs the pairs against each other, where both sides compete so many times one after the other, and gives each
    /// one with its probability to `each`. `odds`: by pattern. `turn` is called every few milliseconds.
    pub fn weigh(
        &mut self,
        pairs: &mut dyn CandidatePairs,
        odds: &[f64],
        times: usize,
        mut turn: impl FnMut(),
        mut each: impl FnMut(&CandidatePair, f64),
    ) {
        self.add_up(pairs, odds, &mut turn);
        match self.one_to_one {
            OneToOne::Both => {
                for _ in 1..times {
                    each_pair(pairs, &mut turn, |pair| self.tell(pair, odds));
                    self.add_up(pairs, odds, &mut turn);
                }
                each_pair(pairs, &mut turn, |pair| {
                    self.tell(pair, odds);
                    let [a, b] = pair.free.map(f64::from);
                    let odds = odds[pair.pattern as usize] * a * b;
                    each(pair, odds / (1.0 + odds));
                });
            }
            side => {
                let side = usize::from(side == OneToOne::B);
                each_pair(pairs, &mut turn, |pair| {
                    let all = self.odds[side][pair.records[side] as usize];
                    each(pair, odds[pair.pattern as usize] / (1.0 + all));
                });
            }
        }
    }

    /// Adds up the odds of each record's pairs.
    fn add_up(&mut self, pairs: &mut dyn CandidatePairs, odds: &[f64], turn: impl FnMut()) {
        self.odds.iter_mut().for_each(|odds| odds.fill(0.0));
        each_pair(pairs, turn, |pair| {
            let odds = odds[pair.pattern as usize];
            if odds < LEAST_ODDS {
                return;
            }
            for side in 0..2 {
                let record = pair.records[side] as usize;
                self.odds[side][record] += odds * f64::from(pair.free[1 - side]);
            }
        });
    }

    /// Each record of a pair tells how far it is free. Half of what it told before stays, or two records would change
    /// their minds for ever.
    fn tell(&self, pair: &mut CandidatePair, odds: &[f64]) {
        let odds = odds[pair.pattern as usize];
        if odds < LEAST_ODDS {
            return;
        }
        let before = pair.free.map(f64::from);
        for side in 0..2 {
            let all = self.odds[side][pair.records[side] as usize];
            let others = (all - odds * before[1 - side]).max(0.0);
            pair.free[side] = (before[side] / (1.0 + others)).sqrt() as f32;
        }
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
            some.iter_mut().for_each(&mut each);
        }
    });
}
