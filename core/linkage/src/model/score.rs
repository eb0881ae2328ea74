//! What a model says of a pair.

use std::borrow::Borrow;
use std::f64::consts::LN_2;

use super::fitted::{Class, MatchModel};
use super::mixture::{ClassLogs, Shares};
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
pub struct Scorer<M> {
    model: M,
    random: ClassLogs,
    classes: Vec<ClassLogs>,
}

impl<M: Borrow<MatchModel>> Scorer<M> {
    /// For `records` records of both tables, which make `all_pairs` pairs.
    pub fn new(model: M, records: f64, all_pairs: f64) -> Scorer<M> {
        let of = model.borrow();
        let u: Vec<Shares> = of.fields.iter().map(|field| field.u).collect();
        let class = |class: &Class| ClassLogs::new(class.pairs_per_record * records, &class.shares);
        Scorer {
            random: ClassLogs::new(all_pairs.max(1.0), &u),
            classes: of.classes.iter().map(class).collect(),
            model,
        }
    }

    /// Scores a pattern.
    pub fn score(&self, pattern: Pattern) -> Score {
        let model = self.model.borrow();
        let random = self.random.log(pattern) + model.dependence.log(pattern);
        let of = |class: &ClassLogs| class.log(pattern);
        let matches = of(&self.classes[0]) + model.match_dependence.log(pattern);
        let others: Vec<f64> = self.classes[1..].iter().map(of).chain([random]).collect();
        let top = others.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let against = top + others.iter().map(|log| (log - top).exp()).sum::<f64>().ln();
        let bits = (matches - against) / LN_2;
        let bits = model
            .calibration
            .map_or(bits, |calibration| calibration.of(bits));
        Score {
            bits,
            probability: 1.0 / (1.0 + (-bits * LN_2).exp()),
        }
    }
}
