//! What a model says of a pair.

use super::fitted::MatchModel;
use super::pattern::Pattern;

/// What a model says of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Logarithm to base 2 of how many times more such pairs are matches than are not.
    pub bits: f64,
    /// The share of such pairs that are matches.
    pub probability: f64,
}

/// A model made ready for records of which there are so many.
pub struct Scorer<'m> {
    model: &'m MatchModel,
    /// Logarithm of the number of all pairs.
    all_pairs: f64,
    /// Logarithms of the levels' shares among random pairs, by field.
    random: Vec<[f64; super::values::LEVELS]>,
    /// Logarithms of the expected pairs of a class, and of the levels' shares.
    classes: Vec<(f64, Vec<[f64; super::values::LEVELS]>)>,
}

impl<'m> Scorer<'m> {
    /// For `records` records of both tables, which make `all_pairs` pairs.
    pub fn new(model: &'m MatchModel, records: f64, all_pairs: f64) -> Scorer<'m> {
        let logs = |shares: &super::mixture::Shares| shares.map(|share| share.max(1e-12).ln());
        let classes = model.classes.iter().map(|class| {
            let pairs = (class.pairs_per_record * records).max(1e-9).ln();
            (pairs, class.shares.iter().map(logs).collect())
        });
        Scorer {
            model,
            all_pairs: all_pairs.max(1.0).ln(),
            random: model.fields.iter().map(|field| logs(&field.u)).collect(),
            classes: classes.collect(),
        }
    }

    /// Scores a pattern.
    pub fn score(&self, pattern: Pattern) -> Score {
        let sum = |logs: &[[f64; super::values::LEVELS]]| -> f64 {
            let fields = logs.iter().enumerate();
            fields.map(|(k, logs)| logs[pattern.level(k)]).sum()
        };
        let random = self.all_pairs + sum(&self.random) + self.model.dependence.log(pattern);
        let of = |(pairs, logs): &(f64, Vec<_>)| pairs + sum(logs);
        let matches = of(&self.classes[0]);
        let others: Vec<f64> = self.classes[1..].iter().map(of).chain([random]).collect();
        let top = others.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let against = top + others.iter().map(|log| (log - top).exp()).sum::<f64>().ln();
        let log = matches - against;
        Score {
            bits: log / std::f64::consts::LN_2,
            probability: 1.0 / (1.0 + (-log).exp()),
        }
    }
}
