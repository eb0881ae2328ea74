//! Why a pair has its bits: what every field adds, and what is added besides.

use std::f64::consts::LN_2;

use super::describe::bits_of;
use super::values::meaning;
use super::{MatchModel, Pattern, ReadyModel};

/// Where bits of a pair come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A field of this number.
    Field(usize),
    /// Fields that go together, by chance or in matches.
    Together,
    /// How many of all pairs are matches.
    Prior,
    /// What pairs of other classes take, and the number of the class that takes most.
    Others(Option<usize>),
    /// What answers of people have shown.
    Calibration,
}

impl Reason {
    /// What it is called in a table.
    pub fn name(self, model: &MatchModel) -> &str {
        match self {
            Reason::Field(k) => &model.fields[k].name,
            Reason::Together => "(fields that go together)",
            Reason::Prior => "(prior)",
            Reason::Others(_) => "(other classes)",
            Reason::Calibration => "(calibration)",
        }
    }
}

/// What a reason adds.
#[derive(Clone, Debug, PartialEq)]
pub struct Addend {
    /// The reason.
    pub reason: Reason,
    /// In words, where there is something to say: the level of a field, for instance.
    pub words: Option<String>,
    /// The bits: positive ones speak for a match.
    pub bits: f64,
}

impl ReadyModel {
    /// What adds to the bits of a pattern: each field, and behind them [`Reason::Together`], [`Reason::Prior`] and
    /// [`Reason::Others`], and [`Reason::Calibration`] of a model that has one. The sum is what [`Scorer`](super::Scorer) gives for so many records and pairs.
    pub fn explain(&self, pattern: Pattern, records: f64, all_pairs: f64) -> Vec<Addend> {
        let model = self.model();
        let mut all = Vec::with_capacity(model.fields.len() + 3);
        for (k, field) in model.fields.iter().enumerate() {
            let level = pattern.level(k);
            all.push(Addend {
                reason: Reason::Field(k),
                words: Some(meaning(field.layout.kind(), field.layout.reading(), level).to_owned()),
                bits: bits_of(model.classes[0].shares[k][level], field.u[level]),
            });
        }
        all.push(Addend {
            reason: Reason::Together,
            words: self.together(pattern),
            bits: (model.match_dependence.log(pattern) - model.dependence.log(pattern)) / LN_2,
        });
        let pairs = |class: usize| (model.classes[class].pairs_per_record * records).max(1e-9);
        let all_pairs = all_pairs.max(1.0);
        let one_in = all_pairs / pairs(0);
        all.push(Addend {
            reason: Reason::Prior,
            words: Some(format!("one match in {} pairs", rounded(one_in))),
            bits: -one_in.log2(),
        });
        // of each other class the pairs of this pattern, as times those of random pairs
        let ratio = |class: usize| {
            let shares = model.classes[class]
                .shares
                .iter()
                .zip(&model.fields)
                .enumerate();
            let bits = shares.map(|(k, (shares, field))| {
                let level = pattern.level(k);
                bits_of(shares[level], field.u[level])
            });
            pairs(class).log2() - all_pairs.log2() + bits.sum::<f64>()
                - model.dependence.log(pattern) / LN_2
        };
        let ratios: Vec<f64> = (1..model.classes.len()).map(ratio).collect();
        let top = ratios.iter().copied().fold(0.0, f64::max);
        let sum: f64 = ratios.iter().map(|bits| (bits - top).exp2()).sum();
        let greatest = (0..ratios.len()).max_by(|&i, &j| ratios[i].total_cmp(&ratios[j]));
        let greatest = greatest.map(|i| i + 1);
        all.push(Addend {
            reason: Reason::Others(greatest),
            words: greatest.map(|class| model.class_meaning(&model.classes[class])),
            bits: 0.0 - top - ((0.0 - top).exp2() + sum).log2(),
        });
        if let Some(calibration) = &model.calibration {
            let bits: f64 = all.iter().map(|addend| addend.bits).sum();
            all.push(Addend {
                reason: Reason::Calibration,
                words: Some(format!("learned from {} answers", calibration.answers)),
                bits: calibration.of(bits) - bits,
            });
        }
        all
    }

    /// The fields whose agreement is told by another one's.
    fn together(&self, pattern: Pattern) -> Option<String> {
        let name = |k: usize| self.model().fields[k].name.as_str();
        let (by_chance, in_matches) = (&self.model().dependence, &self.model().match_dependence);
        let edges = by_chance.edges.iter().chain(&in_matches.edges);
        let told = edges.filter(|edge| {
            let [a, b] = edge.fields.map(|k| pattern.level(k));
            edge.logs
                .get(a)
                .and_then(|row| row.get(b))
                .is_some_and(|&log| log != 0.0)
        });
        let told =
            told.map(|edge| format!("{} with {}", name(edge.fields[0]), name(edge.fields[1])));
        // an edge may be in both
        let told: Vec<String> = told.fold(Vec::new(), |mut told, words| {
            if !told.contains(&words) {
                told.push(words);
            }
            told
        });
        (!told.is_empty()).then(|| told.join(", "))
    }
}

/// A number of pairs as people say it.
fn rounded(value: f64) -> String {
    match value {
        value if value < 10.0 => format!("{value:.1}"),
        value if value < 1e15 => format!("{value:.0}"),
        _ => base::error::number(value),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::tests::people;
    use crate::model::values::LEVELS;
    use crate::model::{Calibration, Scorer};

    const CALIBRATION: Calibration = Calibration {
        slope: 0.75,
        shift: -1.5,
        answers: 40,
    };

    proptest! {
        #[test]
        fn the_sum_is_the_score(
            levels in proptest::collection::vec(0..LEVELS as u8, 5),
            pairs in proptest::option::of(1.0..1e15f64),
            linkage: bool,
            calibrated: bool,
        ) {
            let mut model = people();
            model.linkage = linkage;
            model.calibration = calibrated.then_some(CALIBRATION);
            let mut pattern = Pattern::default();
            for (k, &level) in levels.iter().enumerate() {
                pattern.set(k, level);
            }
            let explainer = ReadyModel::new(model);
            let (records, all_pairs) = explainer.records(pairs).unwrap();
            let parts = explainer.explain(pattern, records, all_pairs);
            let sum: f64 = parts.iter().map(|part| part.bits).sum();
            let score = Scorer::new(explainer.model().clone(), records, all_pairs).score(pattern);
            prop_assert!((sum - score.bits).abs() < 1e-9, "{} {}", sum, score.bits);
            prop_assert!(parts[7].bits <= 0.0);
        }
    }

    #[test]
    fn a_pair_is_explained() {
        let explainer = ReadyModel::new(people());
        let record =
            |texts: [&'static str; 5]| texts.map(|text| Some(text).filter(|text| !text.is_empty()));
        let a = record(["Anna", "Kowalski", "1990-01-02", "Berlin", ""]);
        let b = record(["anna", "Kowalsky", "1990-02-01", "BERLIN", "030 1234567"]);
        let pattern = explainer.pattern(&a, &b).unwrap();
        let (records, all_pairs) = explainer.records(None).unwrap();
        let parts = explainer.explain(pattern, records, all_pairs);
        let words: Vec<_> = parts
            .iter()
            .map(|part| {
                let name = part.reason.name(explainer.model());
                (name, part.words.as_deref().unwrap_or(""))
            })
            .collect();
        assert_eq!(
            words,
            [
                ("given_name", "equal, a value of 1 in 128 records or more"),
                ("surname", "similar, 0.55 or more"),
                ("dob", "day and month swapped"),
                ("city", "equal, a value of 1 in 128 records or more"),
                ("phone", "missing on either side"),
                ("(fields that go together)", "city with surname"),
                ("(prior)", "one match in 32256 pairs"),
                (
                    "(other classes)",
                    "differ in dob, city, phone, agree in given_name and surname"
                ),
            ]
        );
        // names that have changed places
        let a = record(["Kowalski", "Anna", "", "", "030 1234567"]);
        let b = record(["Anna", "Kowalsky", "", "Berlin", "0301234567"]);
        let pattern = explainer.pattern(&a, &b).unwrap();
        let parts = explainer.explain(pattern, records, all_pairs);
        assert_eq!(
            parts[0].words.as_deref(),
            Some("has changed places with another name")
        );
        assert!((parts[0].bits - 1000f64.log2()).abs() < 1e-9);
        assert_eq!(parts[1].bits, 0.0);
        assert_eq!(
            parts[4].words.as_deref(),
            Some("equal, a value of fewer than 1 in 8192 records")
        );
        let a = record(["", "", "", "Berlin", "030 1234567"]);
        let pattern = explainer.pattern(&a, &a).unwrap();
        let parts = explainer.explain(pattern, records, all_pairs);
        assert_eq!(parts[5].words.as_deref(), Some("phone with city"));
        assert!(parts[5].bits < 0.0);
    }
}
