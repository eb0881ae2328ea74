//! What a model of things has learned, in words.

use super::fitted::{Thing, ThingsModel};
use super::missing::Mask;
use crate::model::describe::{bits_of, WEAK};
use crate::model::values::equal_level;
use crate::model::values::things::{meaning, BOTH_MISSING, ONE_MISSING, PRESENT};
use crate::model::ClassFacts;

/// What a level of a field says, or what pairs lack.
#[derive(Clone, Debug, PartialEq)]
pub struct ThingFacts {
    /// The number of the field and its level; `None` where it is about all fields.
    pub level: Option<(usize, usize)>,
    /// In words.
    pub meaning: String,
    /// Its share among matches; of a level of values, among those that have the value on both sides.
    pub m: f64,
    /// Its share among random pairs; `None` of what is missing, which is counted in the tables at hand.
    pub u: Option<f64>,
    /// Expected matches of the fit that have it.
    pub pairs: f64,
}

impl ThingFacts {
    /// What it adds to a pair's bits, before pairs compete.
    pub fn bits(&self) -> Option<f64> {
        self.u.map(|u| bits_of(self.m, u))
    }

    /// Whether few matches are behind it.
    pub fn is_weak(&self) -> bool {
        self.pairs < WEAK
    }
}

impl ThingsModel {
    /// Every level that can occur, by field, and behind them what matches lack in all fields together.
    pub fn levels(&self) -> Vec<ThingFacts> {
        let fields = self.fields.iter().zip(&self.masks.states).enumerate();
        let levels = fields.flat_map(|(k, (field, states))| self.levels_of(k, field, states));
        let masks = self
            .masks
            .matches
            .iter()
            .map(|&(mask, matches)| ThingFacts {
                level: None,
                meaning: self.mask_meaning(mask),
                m: matches / self.masks.all.max(1e-9),
                u: None,
                pairs: matches,
            });
        levels.chain(masks).collect()
    }

    fn levels_of(&self, k: usize, field: &Thing, states: &[f64; 3]) -> Vec<ThingFacts> {
        let [a, b] = self.records;
        let rarest = equal_level(1.0 / (field.filled * (a + b)).max(2.0));
        let both_there = states[0] * self.matches();
        let present = (usize::from(rarest)..PRESENT).filter_map(|level| {
            Some(ThingFacts {
                level: Some((k, level)),
                meaning: meaning(field.layout.kind(), field.layout.reading(), level)?.to_owned(),
                m: field.m[level],
                u: Some(field.u[level]),
                pairs: field.m[level] * both_there,
            })
        });
        let missing = [
            (ONE_MISSING, "missing on one side"),
            (BOTH_MISSING, "missing on both sides"),
        ];
        let missing = missing.into_iter().zip(&states[1..]);
        let missing = missing.map(|((level, meaning), &share)| ThingFacts {
            level: Some((k, level)),
            meaning: meaning.to_owned(),
            m: share,
            u: None,
            pairs: share * self.matches(),
        });
        present.chain(missing).collect()
    }

    /// The matches, and the other pairs.
    pub fn class_facts(&self) -> [ClassFacts; 2] {
        let [a, b] = self.records;
        let name = |k: usize| self.fields[k].name.as_str();
        let edges = self.dependence.edges.iter();
        let together: Vec<String> = edges
            .filter(|edge| edge.says_something())
            .map(|edge| edge.fields.map(name).join(" with "))
            .collect();
        let others = match &together[..] {
            [] => "all others".to_owned(),
            _ => format!(
                "all others, in which fields go together: {}",
                together.join(", ")
            ),
        };
        let class = |class, meaning, pairs: f64| ClassFacts {
            class,
            meaning,
            pairs: pairs.max(0.0),
        };
        let matches = self.matches();
        [
            class(0, "matches".to_owned(), matches),
            class(1, others, a * b - matches),
        ]
    }

    /// What a pair lacks, as half a sentence.
    fn mask_meaning(&self, mask: Mask) -> String {
        let sides = [(mask.one, "on one side"), (mask.both, "on both sides")];
        let parts = sides
            .into_iter()
            .filter(|of| of.0 != 0)
            .map(|(bits, side)| {
                let fields = self.fields.iter().enumerate();
                let lacking = fields.filter(|(k, _)| bits >> k & 1 == 1);
                let names: Vec<&str> = lacking.map(|(_, field)| field.name.as_str()).collect();
                format!("{} {side}", names.join(", "))
            });
        let parts: Vec<String> = parts.collect();
        match parts.is_empty() {
            true => "nothing is missing".to_owned(),
            false => format!("missing: {}", parts.join("; ")),
        }
    }
}
